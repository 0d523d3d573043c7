/*
 * The vault: taking files.
 *
 * A file is read in segments of whole lines. For some of the lines of a segment, the hooks, the
 * database knows the frame that has them; such a frame is put on the shelf, and then every line of
 * the segment is looked for on the shelf and compared byte by byte. So a session that shares its
 * lines with another finds nearly all of them, though only one in eight is remembered, and no hash
 * has to be trusted. A line that is not found is set beside the one that stood in its place: of one
 * that was changed, only what is between the common ends is new.
 */
#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <xxhash.h>

#include "archive/vault-room.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "os/file.h"
#include "os/path.h"
#include "os/unpack.h"

enum {
	SEGMENT = 1024 * 1024, /* read at a time */
	PART_MAX = 256 * 1024 * 1024, /* bytes of a file that one recipe is about */
	PART_EXTENTS = RECIPE_EXTENTS_MAX - 4 * (SEGMENT / LINE_MIN), /* … with one segment more */
	TABLE = 1 << 16, /* lines on the shelf that can be found by their hash */
	ENDS = 4096, /* bytes of each end that tell whether a file only grew */
	WAITING_MAX = 256, /* files that wait for a frame */
	VERSIONS_TRIED = 4, /* kept files of one path that a changed file may go on with */
};

/* A line, or a piece of a long one. */
struct piece {
	uint32_t offset, n; /* in the segment */
	uint64_t hash;
	bool own;
	/* What stands on the shelf: the same bytes when there are n of them, else a line that is
	 * like it; size 0: neither. */
	uint64_t frame;
	uint32_t at, size;
};

/* Where a line stands on the shelf; a newer one takes the place of one with the same slot. */
struct known {
	uint64_t hash;
	uint64_t frame;
	uint32_t offset;
};

/* A recipe that waits until the last of its frames is written. */
struct waiting {
	struct recipe recipe;
	char *texts[5]; /* that the recipe borrows */
	struct stat st;
	char *seen; /* the path that st is of; NULL: nobody's business */
};

struct taker {
	struct vault *v;
	struct shelf shelf;
	struct known *table;
	struct codec *codec;
	struct str frame; /* lines that gather */
	uint64_t frame_id; /* 0: none yet */
	struct str encoded, recipe_raw;
	VEC(struct waiting) waiting;
	char *segment;
	VEC(struct piece) pieces;
	VEC(uint64_t) wanted; /* frames that may have lines of the segment */
	XXH3_state_t *hash;
};

/* ---- lines ---- */

uint64_t line_hash(struct sv line)
{
	return XXH3_64bits(line.p, line.n);
}

bool line_is_hook(uint64_t hash, size_t n)
{
	return n >= LINE_MIN && (hash % HOOK_EVERY == 0 || n >= HOOK_ALWAYS);
}

int lines_each(struct sv raw, line_fn fn, void *data)
{
	int r = 0;

	for (size_t at = 0; at < raw.n && r == 0;) {
		const char *end = memchr(raw.p + at, '\n', raw.n - at);
		size_t n = end ? (size_t)(end - raw.p) + 1 - at : raw.n - at;
		if (n >= LINE_MIN)
			r = fn(data, line_hash(sv_make(raw.p + at, n)), at, n);
		at += n;
	}
	return r;
}

/* ---- life ---- */

struct taker *taker_new(struct vault *v)
{
	struct taker *t = xcalloc(1, sizeof(*t));

	assert(v->lock >= 0);
	t->v = v;
	shelf_init(&t->shelf, v);
	t->table = xcalloc(TABLE, sizeof(*t->table));
	t->codec = codec_new();
	t->frame = t->encoded = t->recipe_raw = (struct str)STR_INIT;
	t->segment = xmalloc(SEGMENT);
	t->hash = XXH3_createState();
	return t;
}

static void waiting_release(struct waiting *w)
{
	recipe_release(&w->recipe);
	for (size_t i = 0; i < ARRAY_LEN(w->texts); i++)
		free(w->texts[i]);
	free(w->seen);
}

void taker_free(struct taker *t)
{
	if (!t)
		return;
	shelf_release(&t->shelf);
	codec_free(t->codec);
	str_release(&t->frame);
	str_release(&t->encoded);
	str_release(&t->recipe_raw);
	vec_each (&t->waiting, w)
		waiting_release(w);
	vec_release(&t->waiting);
	vec_release(&t->pieces);
	vec_release(&t->wanted);
	(void)XXH3_freeState(t->hash);
	free(t->table);
	free(t->segment);
	free(t);
}

/* ---- out ---- */

static uint64_t new_id(struct vault *v)
{
	(void)pthread_mutex_lock(&v->mutex);
	uint64_t id = v->next_id++;
	(void)pthread_mutex_unlock(&v->mutex);
	return id;
}

static int see(struct vault *v, const char *path, const struct stat *st, const char *key,
	struct err *reterr)
{
	int r = vault_begin(v, reterr);

	return r < 0
		? r
		: SQL_RUN(v->db, reterr,
			  "INSERT OR REPLACE INTO seen (path, dev, ino, size, mtime_ns,"
			  " ctime_ns, key)"
			  " VALUES (?, ?, ?, ?, ?, ?, ?)",
			  SQL_T(path), SQL_I(st->st_dev), SQL_I(st->st_ino), SQL_I(st->st_size),
			  SQL_I(file_mtime_ns(st)), SQL_I(file_ctime_ns(st)), SQL_T(key));
}

struct hooking {
	struct vault *v;
	uint64_t frame;
	struct err *reterr;
};

static int put_line(void *data, uint64_t hash, size_t offset, size_t n)
{
	struct hooking *h = data;

	(void)offset;
	return line_is_hook(hash, n) ? vault_put_hook(h->v, hash, h->frame, h->reterr) : 0;
}

static int put_waiting(struct taker *t, const struct waiting *w, struct err *reterr)
{
	struct vault *v = t->v;
	struct frame f;

	str_clear(&t->recipe_raw);
	recipe_encode(&w->recipe, &t->recipe_raw);
	struct sv raw = str_sv(&t->recipe_raw);
	str_clear(&t->encoded);
	frame_encode(t->codec, FRAME_RECIPE, v->next_id++, raw, &t->encoded);
	bool made = frame_head(str_sv(&t->encoded), &f);
	assert(made);
	int r = vault_put(v, &f, str_sv(&t->encoded), reterr);
	if (r == 0)
		r = vault_put_recipe(v, &w->recipe, raw, f.id, reterr);
	if (r == 0 && w->seen)
		r = see(v, w->seen, &w->st, w->texts[0], reterr);
	return r;
}

int taker_finish(struct taker *t, struct err *reterr)
{
	struct vault *v = t->v;
	struct hooking h = { v, t->frame_id, reterr };
	struct frame f = { .id = 0 };
	int r = 0;

	str_clear(&t->encoded);
	if (t->frame.len > 0) {
		frame_encode(t->codec, FRAME_LINES, t->frame_id, str_sv(&t->frame), &t->encoded);
		bool made = frame_head(str_sv(&t->encoded), &f);
		assert(made);
	}
	(void)pthread_mutex_lock(&v->mutex);
	if (t->frame.len > 0)
		r = vault_put(v, &f, str_sv(&t->encoded), reterr);
	if (r == 0 && t->frame.len > 0)
		r = lines_each(str_sv(&t->frame), put_line, &h);
	for (size_t i = 0; i < t->waiting.n && r == 0; i++)
		r = put_waiting(t, &t->waiting.v[i], reterr);
	if (r == 0 && v->unsynced >= COMMIT_BYTES)
		r = vault_commit_held(v, reterr);
	v->failed |= r < 0;
	(void)pthread_mutex_unlock(&v->mutex);
	vec_each (&t->waiting, w)
		waiting_release(w);
	t->waiting.n = 0;
	str_clear(&t->frame);
	t->frame_id = 0;
	return r;
}

/* ---- a segment ---- */

struct filing {
	struct taker *t;
	uint64_t frame;
};

static int file_line(void *data, uint64_t hash, size_t offset, size_t n)
{
	struct filing *f = data;

	(void)n;
	f->t->table[hash % TABLE] = (struct known){ hash, f->frame, (uint32_t)offset };
	return 0;
}

/* The frames that have one of the segment's hooks. */
static int look_up_hooks(struct taker *t, struct err *reterr)
{
	struct vault *v = t->v;
	AUTO_SQL q = SQL_INIT;

	t->wanted.n = 0;
	(void)pthread_mutex_lock(&v->mutex);
	int r = sql_prepare(&q, v->db, "SELECT frame FROM hook WHERE hash = ?", reterr);
	for (size_t i = 0; i < t->pieces.n && r == 0; i++) {
		const struct piece *p = &t->pieces.v[i];
		const struct known *k = &t->table[p->hash % TABLE];
		if (!line_is_hook(p->hash, p->n) ||
			(k->hash == p->hash && shelf_find(&t->shelf, k->frame)))
			continue;
		sql_reset(&q);
		sql_int(&q, (int64_t)p->hash);
		r = sql_step(&q, reterr);
		if (r > 0) {
			vec_push(&t->wanted, (uint64_t)sql_get_int(&q, 0));
			r = 0;
		}
	}
	sql_release(&q);
	(void)pthread_mutex_unlock(&v->mutex);
	return r;
}

/* Puts them on the shelf. One that is damaged is as good as none: what it had is written again. */
static int fetch(struct taker *t, struct err *reterr)
{
	int r = look_up_hooks(t, reterr);

	vec_each (&t->wanted, frame) {
		struct filing f = { t, *frame };
		struct shelf_slot *slot;
		if (r == 0 && !shelf_find(&t->shelf, *frame) &&
			shelf_get(&t->shelf, *frame, &slot, NULL) == 0)
			(void)lines_each(str_sv(&slot->raw), file_line, &f);
	}
	return r;
}

/* Whether the bytes stand at a place on the shelf. */
static bool stands(struct taker *t, uint64_t frame, uint32_t offset, struct sv bytes)
{
	const struct shelf_slot *slot = shelf_find(&t->shelf, frame);

	return slot && offset <= slot->raw.len && bytes.n <= slot->raw.len - offset &&
		memcmp(slot->raw.buf + offset, bytes.p, bytes.n) == 0;
}

/* Where the line stands already: behind the one before it, or where its hash leads. */
static void find_line(struct taker *t, struct piece *p, const struct piece *before)
{
	struct sv bytes = sv_make(t->segment + p->offset, p->n);
	const struct known *k = &t->table[p->hash % TABLE];

	if (before && before->size == before->n &&
		stands(t, before->frame, before->at + before->n, bytes)) {
		p->frame = before->frame;
		p->at = before->at + before->n;
	} else if (p->n >= LINE_MIN && k->hash == p->hash &&
		stands(t, k->frame, k->offset, bytes)) {
		p->frame = k->frame;
		p->at = k->offset;
	} else {
		return;
	}
	p->size = p->n;
}

/*
 * What two lines have in common at their ends: a trimmed session has most of its lines with a few
 * bytes changed. An id that was taken out is not cut apart.
 */
struct ends {
	uint32_t head, tail;
};

static struct ends common_ends(const char *a, uint32_t n, const char *b, uint32_t m)
{
	uint32_t most = n < m ? n : m;
	struct ends e = { 0, 0 };

	while (e.head < most && a[e.head] == b[e.head])
		e.head++;
	while (e.tail < most - e.head && a[n - 1 - e.tail] == b[m - 1 - e.tail])
		e.tail++;
	while (e.head > 0 && e.head < n && a[e.head - 1] == '\0')
		e.head--;
	while (e.tail > 0 && e.tail < n && a[n - e.tail] == '\0')
		e.tail--;
	return e;
}

/* Sets the line beside one on the shelf, if they have much in common. */
static bool set_beside(struct taker *t, struct piece *p, uint64_t frame, uint32_t at, uint32_t size)
{
	const struct shelf_slot *slot = shelf_find(&t->shelf, frame);

	if (!slot || !p->own || p->n < LINE_MIN)
		return false;
	struct ends e = common_ends(t->segment + p->offset, p->n, slot->raw.buf + at, size);
	if (e.head + e.tail < LINE_MIN || e.head + e.tail < p->n / 2)
		return false;
	p->frame = frame;
	p->at = at;
	p->size = size;
	return true;
}

/* Lines between two that were found are likely those that stood there, changed: those behind the
 * first, and where its frame ends, those before the second. */
static void fill_gap(struct taker *t, size_t first, size_t last)
{
	struct piece *v = t->pieces.v;
	const struct shelf_slot *slot;

	if (first > 0 && (slot = shelf_find(&t->shelf, v[first - 1].frame))) {
		uint32_t at = v[first - 1].at + v[first - 1].size;
		while (first < last && at < slot->raw.len) {
			const char *line = slot->raw.buf + at;
			const char *end = memchr(line, '\n', slot->raw.len - at);
			uint32_t n = (uint32_t)(end ? end + 1 - line
						    : slot->raw.buf + slot->raw.len - line);
			if (!set_beside(t, &v[first], slot->id, at, n) && v[first].n >= LINE_MIN)
				break;
			first++;
			at += n;
		}
	}
	if (last < t->pieces.n && (slot = shelf_find(&t->shelf, v[last].frame))) {
		uint32_t at = v[last].at;
		while (last > first && at > 0) {
			const char *line = slot->raw.buf;
			const char *before = at > 1 ? memrchr(line, '\n', at - 1) : NULL;
			uint32_t from = before ? (uint32_t)(before + 1 - line) : 0;
			if (!set_beside(t, &v[last - 1], slot->id, from, at - from) &&
				v[last - 1].n >= LINE_MIN)
				break;
			last--;
			at = from;
		}
	}
}

static void find_lines(struct taker *t)
{
	size_t gap = 0;

	for (size_t i = 0; i < t->pieces.n; i++)
		find_line(t, &t->pieces.v[i], i > 0 ? &t->pieces.v[i - 1] : NULL);
	for (size_t i = 0; i <= t->pieces.n; i++) {
		if (i < t->pieces.n && t->pieces.v[i].size == 0)
			continue;
		if (i > gap)
			fill_gap(t, gap, i);
		gap = i + 1;
	}
}

/* The recipe must not be written before the frame is: the caller looks to that. */
static int add_bytes(struct taker *t, struct recipe *recipe, const struct piece *p, uint32_t from,
	uint32_t n, struct err *reterr)
{
	int r = n > 0 && t->frame.len + n > FRAME_FILL ? taker_finish(t, reterr) : 0;

	if (n == 0)
		return 0;
	if (t->frame_id == 0)
		t->frame_id = new_id(t->v);
	recipe_add(recipe, (struct extent){ t->frame_id, (uint32_t)t->frame.len, n, p->own });
	str_add(&t->frame, sv_make(t->segment + p->offset + from, n));
	return r;
}

/* Cuts the segment into lines; what is left of one that goes on is not taken yet. Returns how many
 * bytes were. */
static size_t cut(struct taker *t, size_t n, bool last, struct sv own)
{
	size_t at = 0;

	t->pieces.n = 0;
	while (at < n) {
		const char *end = memchr(t->segment + at, '\n', n - at);
		size_t size = end ? (size_t)(end - t->segment) + 1 - at : n - at;
		if (size > FRAME_FILL)
			size = FRAME_FILL;
		else if (!end && !last)
			break;
		struct piece p = { .offset = (uint32_t)at, .n = (uint32_t)size };
		(void)XXH3_128bits_update(t->hash, t->segment + at, size);
		p.own = own_take_out(t->segment + at, size, own);
		p.hash = line_hash(sv_make(t->segment + at, size));
		vec_push(&t->pieces, p);
		at += size;
	}
	return at;
}

static int place(struct taker *t, struct recipe *recipe, const struct piece *p, struct err *reterr)
{
	const struct shelf_slot *slot = p->size > 0 ? shelf_find(&t->shelf, p->frame) : NULL;

	recipe->size += p->n;
	if (!slot)
		return add_bytes(t, recipe, p, 0, p->n, reterr);
	if (p->size == p->n && stands(t, p->frame, p->at, sv_make(t->segment + p->offset, p->n))) {
		recipe_add(recipe, (struct extent){ p->frame, p->at, p->n, p->own });
		return 0;
	}
	struct ends e = common_ends(t->segment + p->offset, p->n, slot->raw.buf + p->at, p->size);
	if (e.head > 0)
		recipe_add(recipe, (struct extent){ p->frame, p->at, e.head, true });
	int r = add_bytes(t, recipe, p, e.head, p->n - e.head - e.tail, reterr);
	if (r == 0 && e.tail > 0)
		recipe_add(recipe,
			(struct extent){ p->frame, p->at + p->size - e.tail, e.tail, true });
	return r;
}

static int place_pieces(struct taker *t, struct recipe *recipe, struct err *reterr)
{
	int r = fetch(t, reterr);

	if (r == 0)
		find_lines(t);
	for (size_t i = 0; i < t->pieces.n && r == 0; i++)
		r = place(t, recipe, &t->pieces.v[i], reterr);
	return r;
}

/* ---- a file ---- */

/* What is known of the file before it is read. */
struct before {
	char key[VAULT_KEY_MAX]; /* the kept file that it goes on with; "": none */
	uint64_t size; /* of that */
	bool version; /* there is another of the path */
	bool held; /* all of it is kept */
};

/* `seen` is where st stands for the file that it has all of; NULL: not all yet, or nobody asks. */
static void wait_for(struct taker *t, const struct vault_source *source, const char *key,
	struct recipe *recipe, const struct stat *st, const char *seen)
{
	struct waiting w = { .recipe = *recipe, .st = *st };
	const char *const texts[] = { key, source->agent, source->session, source->path,
		recipe->own.n ? source->own : "" };
	struct sv *const fields[] = { &w.recipe.key, &w.recipe.agent, &w.recipe.session,
		&w.recipe.path, &w.recipe.own };

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		w.texts[i] = xstrdup(texts[i]);
		*fields[i] = sv_of(w.texts[i]);
	}
	w.recipe.taken_ms = clock_wall_ms(t->v->clock);
	w.recipe.mtime_ns = file_mtime_ns(st);
	w.recipe.flags = source->frozen ? RECIPE_FROZEN : 0;
	XXH128_hash_t hash = XXH3_128bits_digest(t->hash);
	w.recipe.hash[0] = hash.low64;
	w.recipe.hash[1] = hash.high64;
	if (seen)
		w.seen = xstrdup(seen);
	vec_push(&t->waiting, w);
	*recipe = (struct recipe){ .start = recipe->start + recipe->size, .own = recipe->own };
	(void)XXH3_128bits_reset(t->hash);
}

/* From `start` up to what was there when it was opened: what comes meanwhile is for the next time.
 */
static int take_rest(struct taker *t, const struct vault_source *source, const char *key, int fd,
	const struct stat *st, uint64_t size, uint64_t start, const char *seen, struct err *reterr)
{
	CLEANUP(recipe_release) struct recipe recipe = { .start = start };
	uint64_t at = start, end = size;
	size_t have = 0;
	int r = 0;

	if (source->own && strlen(source->own) == OWN_ID)
		recipe.own = sv_of(source->own);
	(void)XXH3_128bits_reset(t->hash);
	while (r == 0 && (at < end || have > 0)) {
		size_t want = end - at < SEGMENT - have ? (size_t)(end - at) : SEGMENT - have;
		ssize_t n = want ? pread(fd, t->segment + have, want, (off_t)at) : 0;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_errno(reterr, errno, "read %s", source->path);
		/* It was cut meanwhile. */
		if (n == 0)
			end = at;
		at += (uint64_t)n;
		have += (size_t)n;
		if (have < SEGMENT && at < end)
			continue;
		size_t done = cut(t, have, at >= end, recipe.own);
		r = place_pieces(t, &recipe, reterr);
		memmove(t->segment, t->segment + done, have - done);
		have -= done;
		if (r == 0 && at < end &&
			(recipe.size >= PART_MAX || recipe.extents.n > PART_EXTENTS))
			wait_for(t, source, key, &recipe, st, NULL);
	}
	if (r == 0 && recipe.size > 0) {
		struct stat as_read = *st;
		if (at < size || (uint64_t)st->st_size == size)
			as_read.st_size = (off_t)at;
		wait_for(t, source, key, &recipe, &as_read, seen);
	}
	return r;
}

/* Whether both ends of the kept file stand in the file: 1 or 0. */
static int ends_fit(struct vault *v, const char *key, uint64_t size, int fd, struct err *reterr)
{
	AUTO_STR kept = STR_INIT;
	char there[ENDS];
	uint64_t n = size < ENDS ? size : ENDS;
	uint64_t places[] = { 0, size - n };

	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		str_clear(&kept);
		int r = vault_read(v, key, places[i], n, &kept, reterr);
		if (r < 0)
			return r == ERR_INPUT ? 0 : r;
		if (kept.len != n || pread(fd, there, n, (off_t)places[i]) != (ssize_t)n ||
			memcmp(there, kept.buf, n) != 0)
			return 0;
	}
	return 1;
}

/*
 * Whether the file goes on with a kept one: 1 or 0. Agents only append, so the ends tell as long as
 * it is the file that was seen last and has grown. Anything else is compared as a whole.
 */
static int goes_on(struct taker *t, const char *key, uint64_t size, int fd, uint64_t there,
	bool same_file, struct err *reterr)
{
	if (there > size && same_file)
		return ends_fit(t->v, key, size, fd, reterr);
	return vault_begins(t->v, key, there < size ? there : size, fd, reterr);
}

struct seen {
	bool same; /* nothing has happened to it */
	bool same_file; /* … but that it may have grown */
	char key[VAULT_KEY_MAX];
};

static int look_up_seen(struct vault *v, const char *path, const struct stat *st, struct seen *ret,
	struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = SQL_PREPARE(&q, v->db, reterr,
		"SELECT dev, ino, size, mtime_ns, key, ctime_ns FROM seen WHERE path = ?",
		SQL_T(path));

	*ret = (struct seen){ .same = false };
	if (r == 0)
		r = sql_step(&q, reterr);
	if (r <= 0)
		return r;
	ret->same_file = sql_get_int(&q, 0) == (int64_t)st->st_dev &&
		sql_get_int(&q, 1) == (int64_t)st->st_ino;
	ret->same = ret->same_file && sql_get_int(&q, 2) == st->st_size &&
		sql_get_int(&q, 3) == file_mtime_ns(st) && sql_get_int(&q, 5) == file_ctime_ns(st);
	(void)snprintf(ret->key, sizeof(ret->key), "%s", sql_get_text(&q, 4));
	return 0;
}

/* The kept files that it may go on with, the newest first. */
struct candidates {
	char keys[VERSIONS_TRIED][VAULT_KEY_MAX];
	uint64_t sizes[VERSIONS_TRIED];
	size_t n;
};

static int find_candidates(struct vault *v, const struct vault_source *source,
	struct candidates *ret, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = source->key
		? SQL_PREPARE(&q, v->db, reterr, "SELECT key, size FROM file WHERE key = ?",
			  SQL_T(source->key))
		: SQL_PREPARE(&q, v->db, reterr,
			  "SELECT key, size FROM file WHERE path = ? AND flags & ? = 0"
			  " ORDER BY seq DESC LIMIT ?",
			  SQL_T(source->path), SQL_I(RECIPE_FROZEN), SQL_I(VERSIONS_TRIED));

	ret->n = 0;
	while (r == 0 && (r = sql_step(&q, reterr)) > 0) {
		(void)snprintf(ret->keys[ret->n], VAULT_KEY_MAX, "%s", sql_get_text(&q, 0));
		ret->sizes[ret->n++] = (uint64_t)sql_get_int(&q, 1);
		r = 0;
	}
	return r;
}

static int look_before(struct taker *t, const struct vault_source *source, int fd, uint64_t size,
	const struct seen *seen, struct before *ret, struct err *reterr)
{
	struct vault *v = t->v;
	struct candidates c;

	*ret = (struct before){ .size = 0 };
	(void)pthread_mutex_lock(&v->mutex);
	int r = find_candidates(v, source, &c, reterr);
	(void)pthread_mutex_unlock(&v->mutex);
	ret->version = c.n > 0;
	for (size_t i = 0; i < c.n && r == 0; i++) {
		bool same_file = seen->same_file && strcmp(seen->key, c.keys[i]) == 0;
		r = goes_on(t, c.keys[i], c.sizes[i], fd, size, same_file, reterr);
		if (r <= 0)
			continue;
		memcpy(ret->key, c.keys[i], sizeof(ret->key));
		ret->size = c.sizes[i];
		ret->held = size <= c.sizes[i];
		return 0;
	}
	return r;
}

/* One that could not be unpacked is kept under a name that says so, with the bytes that it has. */
static int open_source(const struct vault_source *source, const char *from, struct stat *ret_st,
	struct err *reterr)
{
	return sv_ends(sv_of(source->path), SV(UNPACK_SUFFIX UNPACK_DAMAGED))
		? file_open(from, ret_st, reterr)
		: unpack_open(from, ret_st, reterr);
}

/* ---- what is damaged of it ---- */

/* Whether the file has the very bytes that the recipe was about. */
static bool has_part(struct taker *t, const struct recipe *recipe, int fd)
{
	uint64_t at = recipe->start, end = recipe->start + recipe->size;

	(void)XXH3_128bits_reset(t->hash);
	while (at < end) {
		size_t want = end - at < SEGMENT ? (size_t)(end - at) : SEGMENT;
		ssize_t n = pread(fd, t->segment, want, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		(void)XXH3_128bits_update(t->hash, t->segment, (size_t)n);
		at += (uint64_t)n;
	}
	XXH128_hash_t hash = XXH3_128bits_digest(t->hash);
	return hash.low64 == recipe->hash[0] && hash.high64 == recipe->hash[1];
}

/* Takes the part once more, under the same key: its recipe counts in place of the damaged one. */
static int take_part(struct taker *t, const struct recipe *old, int fd, struct err *reterr)
{
	const struct sv texts[] = { old->key, old->agent, old->session, old->path, old->own };
	char *copies[ARRAY_LEN(texts)];
	struct stat st = { .st_size = 0 };

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		copies[i] = xmemdup0(texts[i].p, texts[i].n);
	const struct vault_source source = { .agent = copies[1],
		.session = copies[2],
		.path = copies[3],
		.own = copies[4],
		.frozen = old->flags & RECIPE_FROZEN };
	st.st_mtim.tv_sec = old->mtime_ns / 1000000000;
	st.st_mtim.tv_nsec = old->mtime_ns % 1000000000;
	int r = take_rest(
		t, &source, copies[0], fd, &st, old->start + old->size, old->start, NULL, reterr);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		free(copies[i]);
	return r;
}

/* Takes again what is damaged of the kept files that lay here, as far as the file still has it. */
static int mend(struct taker *t, const struct vault_source *source, const char *from,
	struct vault_taken *ret, struct err *reterr)
{
	struct vault *v = t->v;
	struct strv recipes = STRV_INIT; /* as bytes: with their lengths beside */
	VEC(size_t) sizes = VEC_INIT;
	AUTO_SQL q = SQL_INIT;
	AUTO_CLOSE int fd = -1;

	(void)pthread_mutex_lock(&v->mutex);
	int r = SQL_PREPARE(&q, v->db, reterr,
		"SELECT recipe FROM part WHERE file IN"
		" (SELECT seq FROM file WHERE path = ? OR key = ?)",
		SQL_T(source->path), SQL_T(source->key));
	while (r == 0 && (r = sql_step(&q, reterr)) > 0) {
		struct sv blob = sql_get_blob(&q, 0);
		strv_take(&recipes, xmemdup0(blob.p, blob.n));
		vec_push(&sizes, blob.n);
		r = 0;
	}
	sql_release(&q);
	(void)pthread_mutex_unlock(&v->mutex);
	for (size_t i = 0; i < recipes.n && r == 0; i++) {
		CLEANUP(recipe_release) struct recipe recipe = RECIPE_INIT;
		r = recipe_decode(sv_make(recipes.v[i], sizes.v[i]), &recipe, reterr);
		(void)pthread_mutex_lock(&v->mutex);
		if (r == 0)
			r = recipe_damaged(v, &recipe, reterr);
		(void)pthread_mutex_unlock(&v->mutex);
		if (r <= 0)
			continue;
		if (fd < 0)
			fd = open_source(source, from, NULL, reterr);
		/* One that was blanked has nothing of it. */
		r = fd < 0 && fd != ERR_NOTFOUND ? fd : 0;
		if (fd >= 0 && has_part(t, &recipe, fd)) {
			r = take_part(t, &recipe, fd, reterr);
			ret->mended = true;
			ret->read += recipe.size;
		}
	}
	strv_release(&recipes);
	vec_release(&sizes);
	/* What goes on with it must find it whole. */
	return r == 0 && ret->mended ? taker_finish(t, reterr) : r;
}

void vault_key_make(struct sv name, char key[static VAULT_KEY_MAX])
{
	enum { NAME = VAULT_KEY_MAX - VAULT_KEY_END - 2 };
	char salt[UUID_TEXT];
	size_t n = 0;

	for (; n < name.n && n < NAME; n++) {
		char c = name.p[n];
		bool fine = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-';
		key[n] = fine ? c : '-';
	}
	uuid_new(salt);
	(void)snprintf(key + n, VAULT_KEY_MAX - n, "%s%.*s", n ? "." : "", VAULT_KEY_END, salt);
}

int taker_take(struct taker *t, const struct vault_source *given, struct vault_taken *ret,
	struct err *reterr)
{
	/* What is kept of a compressed file is plain: it goes on with what it was before. */
	struct sv name = unpack_plain(sv_of(given->path));
	AUTO_FREE char *path = xmemdup0(name.p, name.n);
	const char *from = given->from ? given->from : given->path;
	const char *seen_path = given->from ? NULL : given->path;
	struct vault_source source = *given;
	struct vault *v = t->v;
	struct seen seen = { .same = false };
	struct before before;
	struct stat st, plain;
	int r = 0;

	source.path = path;
	*ret = (struct vault_taken){ .took = VAULT_HELD };
	if (stat(from, &st) < 0)
		return err_errno(reterr, errno, "stat %s", from);
	(void)pthread_mutex_lock(&v->mutex);
	bool damaged = v->damaged > 0;
	if (seen_path)
		r = look_up_seen(v, seen_path, &st, &seen, reterr);
	(void)pthread_mutex_unlock(&v->mutex);
	if (r == 0 && damaged)
		r = mend(t, &source, from, ret, reterr);
	ret->size = (uint64_t)st.st_size;
	if (r == 0 && seen.same) {
		ret->took = VAULT_SAME;
		memcpy(ret->key, seen.key, sizeof(ret->key));
		return 0;
	}
	AUTO_CLOSE int fd = r < 0 ? r : open_source(&source, from, &st, reterr);
	/* What was blanked is not a version of it. */
	if (r == 0 && fd == ERR_NOTFOUND)
		return 0;
	if (fd < 0)
		return fd;
	if (fstat(fd, &plain) < 0)
		return err_errno(reterr, errno, "stat %s", from);
	uint64_t size = ret->size = (uint64_t)plain.st_size;
	r = look_before(t, &source, fd, size, &seen, &before, reterr);
	if (r < 0)
		return r;
	if (before.held || size == 0) {
		memcpy(ret->key, before.key, sizeof(ret->key));
		(void)pthread_mutex_lock(&v->mutex);
		r = seen_path ? see(v, seen_path, &st, before.key, reterr) : 0;
		(void)pthread_mutex_unlock(&v->mutex);
		return r;
	}
	if ((source.most > 0 && size - before.size > source.most) ||
		(source.key && before.version && !before.key[0])) {
		ret->took = VAULT_REFUSED;
		return 0;
	}
	ret->took = before.key[0] ? VAULT_GREW : before.version ? VAULT_VERSION : VAULT_NEW;
	if (before.key[0])
		memcpy(ret->key, before.key, sizeof(ret->key));
	else if (source.key)
		(void)snprintf(ret->key, sizeof(ret->key), "%s", source.key);
	else
		vault_key_make(sv_of(source.session), ret->key);
	ret->read += size - before.size;
	r = take_rest(t, &source, ret->key, fd, &st, size, before.size, seen_path, reterr);
	if (r < 0)
		err_prefix(reterr, "%s", from);
	/* Recipes of small files gather with their lines, but not without end. */
	return r == 0 && t->waiting.n >= WAITING_MAX ? taker_finish(t, reterr) : r;
}
