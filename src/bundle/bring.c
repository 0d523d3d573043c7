#include "bundle/bring.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>

#include "base/mem.h"
#include "master/run.h"
#include "os/file.h"
#include "os/path.h"
#include "os/unpack.h"
#include "store/catalogue.h"
#include "strategy/known.h"
#include "strategy/rewrite.h"

enum { SUM_TEXT = 33 };
static const struct sv ending = { ".jsonl", 6 };

void bring_init(struct bring *b, const struct bring_opts *opts)
{
	*b = (struct bring){ .opts = *opts };
}

void bring_release(struct bring *b)
{
	vec_each (&b->sessions, s) {
		free(s->path);
		free(s->folder);
		free(s->rival);
	}
	vec_release(&b->sessions);
	vec_release(&b->files);
	vec_release(&b->sums);
	pack_reader_free(b->reader);
}

const struct bundle_manifest *bring_manifest(const struct bring *b)
{
	return b->reader ? pack_manifest(b->reader) : NULL;
}

static const struct bundle_manifest *manifest_of(const struct bring *b)
{
	return pack_manifest(b->reader);
}

/* ---- where everything belongs ---- */

static const struct transcript_home *home_of(const struct bring *b, const char *agent)
{
	for (size_t i = 0; i < b->opts.n_homes; i++)
		if (strcmp(b->opts.homes[i].agent, agent) == 0)
			return &b->opts.homes[i];
	return NULL;
}

static char *folder_of(const char *path)
{
	struct sv plain = unpack_plain(sv_of(path));

	return xmemdup0(plain.p, sv_ends(plain, ending) ? plain.n - ending.n : plain.n);
}

/* A run lies in the folder of its work. */
static int find_run(struct bring *b, const struct bundle_session *s, struct err *reterr)
{
	const char *dir = b->opts.here ? b->opts.here : s->dir;
	struct bring_session now = { .state = BRING_NEW };

	if (dir[0] != '/' || !path_exists(dir))
		return err_set(reterr, ERR_INPUT,
			"the folder of run %s is not here (%s); --here puts it into this one",
			s->id, dir);
	now.path = path_join(dir, manifest_of(b)->files.v[s->first].place);
	now.folder = xstrdup(now.path);
	(void)snprintf(now.id, sizeof(now.id), "%s", s->id);
	vec_push(&b->sessions, now);
	return 0;
}

/* The session's own file where it is already, wherever that is, else where it belongs. */
static int find_place(struct bring *b, const struct bundle_session *s, struct err *reterr)
{
	const struct transcript_home *home = home_of(b, s->agent);
	const char *place = manifest_of(b)->files.v[s->first].place;
	struct bring_session now = { .state = BRING_NEW, .home = home };

	if (s->run)
		return find_run(b, s, reterr);
	if (!home)
		return err_set(reterr, ERR_INPUT,
			"session %s is of the agent '%s', which this faden does not know", s->id,
			s->agent);
	if (!transcript_is_place(home, place) ||
		!sv_eq(transcript_path_id(home->format, unpack_plain(path_base(sv_of(place)))),
			sv_of(s->id)))
		return err_set(reterr, ERR_INPUT, "session %s: %s keeps none at %s", s->id,
			s->agent, place);
	int r = transcript_find(home, sv_of(s->id), &now.path, reterr);
	if (r < 0)
		return r;
	if (!now.path)
		now.path = path_join(home->root, place);
	now.folder = folder_of(now.path);
	(void)snprintf(now.id, sizeof(now.id), "%s", s->id);
	vec_push(&b->sessions, now);
	return 0;
}

/* Where a file of a session lies; what is beside it goes along with the session. */
static char *path_of(const struct bring *b, size_t session, size_t file)
{
	const struct bundle_session *s = &manifest_of(b)->sessions.v[session];
	const struct bring_session *now = &b->sessions.v[session];
	const struct bundle_file *files = manifest_of(b)->files.v;

	if (file == s->first)
		return xstrdup(now->path);
	AUTO_FREE char *beside = folder_of(files[s->first].place);
	return xasprintf("%s%s", now->folder, files[file].place + strlen(beside));
}

/* The session that a file is of, no earlier than `from`: they come in order. */
static size_t session_of(const struct bring *b, size_t file, size_t from)
{
	const struct bundle_manifest *m = manifest_of(b);

	while (from < m->sessions.n &&
		file >= m->sessions.v[from].first + m->sessions.v[from].files)
		from++;
	assert(from < m->sessions.n);
	return from;
}

/* ---- the first reading ---- */

struct looking {
	struct bring *b;
	size_t session;
	int fd; /* what is there already; -1: nothing, or it differs */
	struct str there; /* reused */
	enum bring_file state;
};

/* A file that says it is a session of an agent and is one of another, or none. */
static int look_inside(const struct bring_session *s, struct sv head, bool whole, const char *place,
	struct err *reterr)
{
	const struct transcript_format *format = NULL;
	AUTO_CLOSE int fd = memfd_create("faden", MFD_CLOEXEC);

	if (!s->home || fd < 0 || unpack_is(sv_of(place)) || file_write_all(fd, head, NULL) < 0)
		return 0;
	AUTO_FREE char *path = xasprintf("/proc/self/fd/%d", fd);
	int r = transcript_probe(path, &format, NULL);
	if ((r < 0 && whole) || (r >= 0 && format != s->home->format))
		return err_set(reterr, ERR_INPUT, "%s is no session of %s", place, s->home->agent);
	return 0;
}

static int begin_compare(struct looking *l, size_t file, struct err *reterr)
{
	l->session = session_of(l->b, file, l->session);
	AUTO_FREE char *path = path_of(l->b, l->session, file);
	l->state = BRING_FILE_NEW;
	l->fd = unpack_is(sv_of(path)) && !unpack_is(sv_of(manifest_of(l->b)->files.v[file].place))
		? unpack_open(path, NULL, reterr)
		: file_open(path, NULL, reterr);
	if (l->fd >= 0)
		l->state = BRING_FILE_SAME;
	else if (l->fd != -ENOENT && l->fd != -ENOTDIR)
		return l->fd;
	return 0;
}

static void compare(struct looking *l, uint64_t offset, struct sv bytes)
{
	size_t have = 0;

	str_clear(&l->there);
	bool room = str_reserve(&l->there, bytes.n);
	while (room && have < bytes.n) {
		ssize_t n =
			pread(l->fd, l->there.buf + have, bytes.n - have, (off_t)(offset + have));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		have += (size_t)n;
	}
	if (have < bytes.n || memcmp(l->there.buf, bytes.p, bytes.n) != 0)
		l->state = BRING_FILE_OTHER;
}

static int look_at(void *data, size_t file, uint64_t offset, struct sv bytes, struct err *reterr)
{
	struct looking *l = data;
	const struct bundle_file *f = &manifest_of(l->b)->files.v[file];
	struct stat st;
	int r = 0;

	if (offset == 0)
		r = begin_compare(l, file, reterr);
	if (r >= 0 && offset == 0 && bytes.n > 0 &&
		file == manifest_of(l->b)->sessions.v[l->session].first)
		r = look_inside(
			&l->b->sessions.v[l->session], bytes, bytes.n == f->size, f->place, reterr);
	if (r < 0)
		return r;
	if (l->state == BRING_FILE_SAME)
		compare(l, offset, bytes);
	if (bytes.n > 0)
		return 0;
	if (l->state == BRING_FILE_SAME && fstat(l->fd, &st) == 0 && (uint64_t)st.st_size > f->size)
		l->state = BRING_FILE_MORE;
	if (l->fd >= 0)
		(void)close(l->fd);
	l->fd = -1;
	vec_push(&l->b->files, l->state);
	return 0;
}

/* ---- what is to be done ---- */

static void sum_text(const struct pack_sum *sum, char out[static SUM_TEXT])
{
	(void)snprintf(out, SUM_TEXT, "%016llx%016llx", (unsigned long long)sum->high,
		(unsigned long long)sum->low);
}

/* Of a copy: the same for the same bytes, so that it is found again, also when only a part of it
 * came. In the form of a random one. */
static void copy_id(const char *id, const struct pack_sum *sum, char out[static UUID_TEXT])
{
	AUTO_STR from = STR_INIT;
	char text[SUM_TEXT];

	sum_text(sum, text);
	str_addf(&from, "%s %s", id, text);
	XXH128_hash_t hash = XXH3_128bits(from.buf, from.len);
	uint64_t high = (hash.high64 & ~UINT64_C(0xf000)) | UINT64_C(0x4000);
	uint64_t low = (hash.low64 & ~(UINT64_C(3) << 62)) | UINT64_C(2) << 62;
	(void)snprintf(out, UUID_TEXT, "%08llx-%04llx-%04llx-%04llx-%012llx",
		(unsigned long long)(high >> 32), (unsigned long long)(high >> 16 & 0xffff),
		(unsigned long long)(high & 0xffff), (unsigned long long)(low >> 48),
		(unsigned long long)(low & UINT64_C(0xffffffffffff)));
}

static int decide(struct bring *b, size_t i, struct err *reterr)
{
	const struct bundle_session *s = &manifest_of(b)->sessions.v[i];
	struct bring_session *now = &b->sessions.v[i];
	size_t count[BRING_FILE_OTHER + 1] = { 0 };

	for (size_t f = s->first; f < s->first + s->files; f++)
		count[b->files.v[f]]++;
	if (count[BRING_FILE_OTHER] == 0) {
		now->state = count[BRING_FILE_NEW] == 0		 ? BRING_THERE
			: b->files.v[s->first] == BRING_FILE_NEW ? BRING_NEW
								 : BRING_PARTLY;
		return 0;
	}
	if (s->run) {
		now->state = BRING_OTHER;
		now->rival = xstrdup(now->path);
		return 0;
	}
	now->rival = TAKE_PTR(now->path);
	copy_id(s->id, &b->sums.v[s->first], now->id);
	int r = transcript_find(now->home, sv_of(now->id), &now->path, reterr);
	now->state = now->path ? BRING_THERE : BRING_OTHER;
	free(now->folder);
	struct sv parent = path_parent(sv_of(now->rival));
	now->folder = xasprintf("%.*s/%s", SV_ARG(parent), now->id);
	if (!now->path)
		now->path = xasprintf("%s.jsonl", now->folder);
	return r;
}

int bring_look(struct bring *b, struct err *reterr)
{
	struct looking l = { .b = b, .fd = -1, .there = STR_INIT };
	struct pack_source source;
	int r = b->opts.open(b->opts.data, &source, reterr);

	if (r >= 0)
		r = pack_open(source, &b->reader, reterr);
	for (size_t i = 0; r >= 0 && i < manifest_of(b)->sessions.n; i++)
		r = find_place(b, &manifest_of(b)->sessions.v[i], reterr);
	if (r >= 0)
		r = pack_read(b->reader, NULL, look_at, &l, &b->sums, reterr);
	if (l.fd >= 0)
		(void)close(l.fd);
	str_release(&l.there);
	for (size_t i = 0; r >= 0 && i < b->sessions.n; i++)
		r = decide(b, i, reterr);
	return r;
}

/* ---- the second reading ---- */

struct writing {
	struct bring *b;
	size_t session;
	struct file_new own, beside; /* the session itself waits for what lies beside it */
	char *staged; /* OTHER: where the session is until it is rewritten */
	struct strv made; /* of the session in hand, to be taken back when it fails */
};

static void free_reader(struct pack_reader **r)
{
	pack_reader_free(*r);
}

static void take_back(struct writing *w)
{
	for (size_t i = 0; i < w->made.n; i++)
		(void)unlink(w->made.v[i]);
	strv_release(&w->made);
	if (w->staged)
		(void)unlink(w->staged);
	free(w->staged);
	w->staged = NULL;
}

static int begin_file(struct writing *w, size_t file, bool own, struct err *reterr)
{
	struct bring *b = w->b;
	const struct bring_session *s = &b->sessions.v[w->session];
	AUTO_FREE char *path = path_of(b, w->session, file);

	if (own && s->state == BRING_OTHER) {
		struct sv base = path_base(sv_of(manifest_of(b)->files.v[file].place));
		free(path);
		path = xasprintf("%s/%.*s", b->opts.stage, SV_ARG(base));
		w->staged = xstrdup(path);
		(void)unlink(path);
	}
	AUTO_FREE char *folder = path_folder(path);
	int r = file_mkdirs(folder, reterr);
	if (r >= 0)
		r = file_new_open_unnamed(own ? &w->own : &w->beside, path, 0600, reterr);
	return r;
}

static void copy_note(void *data, struct jw *w)
{
	const struct writing *x = data;
	const struct bring *b = x->b;
	const struct bundle_session *s = &manifest_of(b)->sessions.v[x->session];
	char now[CLOCK_TEXT_MAX], sum[SUM_TEXT];

	clock_format_iso(clock_wall_ms(b->opts.clock), now);
	sum_text(&b->sums.v[s->first], sum);
	jw_put_cstr(w, "relation", session_relation_name(SESSION_FORKED));
	jw_put_cstr(w, "parent_id", s->id);
	jw_put_cstr(w, "parent_file", b->sessions.v[x->session].rival);
	jw_put_cstr(w, "imported_at", now);
	jw_put_cstr(w, "imported_sum", sum);
	known_carry(w, x->staged);
}

/* The file appears. It may do so and fail all the same, when the folder cannot be synced. */
static int commit(struct writing *w, struct file_new *file, struct err *reterr)
{
	if (!file->path)
		return 0;
	int r = file_new_commit_excl(file, reterr);
	if (r != -EEXIST)
		strv_add(&w->made, file->path);
	file_new_release(file);
	*file = (struct file_new)FILE_NEW_INIT;
	return r;
}

/* The folder of runs that a file of one lies in. Caller frees. */
static char *runs_of(const char *path)
{
	struct sv root = path_parent(path_parent(sv_of(path)));

	return xmemdup0(root.p, root.n);
}

/* Of a run whose id is taken. */
static int copy_run(struct writing *w, struct bring_session *s, struct err *reterr)
{
	AUTO_FREE char *root = runs_of(s->rival);
	struct master_run *run = NULL;
	int r = master_import(root, w->staged, w->b->opts.clock, &run, reterr);

	if (r < 0)
		return r;
	free(s->path);
	s->path = xstrdup(master_path(run));
	(void)snprintf(s->id, sizeof(s->id), "%s", master_state(run)->id);
	(void)unlink(w->staged);
	return master_close(run, reterr);
}

/* The session appears, with another id where its own is taken. */
static int finish_session(struct writing *w, struct err *reterr)
{
	static const struct rewrite_ops ops = { .note = copy_note };
	struct bring_session *s = &w->b->sessions.v[w->session];
	int r = commit(w, &w->own, reterr);

	if (r >= 0 && s->state == BRING_OTHER && !s->home) {
		r = copy_run(w, s, reterr);
	} else if (r >= 0 && s->state == BRING_OTHER) {
		CLEANUP(rewrite_result_release)
		struct rewrite_result copy = REWRITE_RESULT_INIT;
		AUTO_FREE char *folder = path_folder(s->rival);
		const struct rewrite_opts how = { .path = w->staged,
			.format = s->home->format,
			.changes = REWRITE_ID,
			.note_key = SESSION_NOTE_KEY,
			.id = s->id,
			.out_dir = folder,
			.clock = w->b->opts.clock };
		r = rewrite_session(&how, &ops, w, &copy, reterr);
		if (r >= 0) {
			free(s->path);
			s->path = xstrdup(copy.path);
			(void)unlink(w->staged);
		}
	}
	if (r < 0)
		return r;
	s->written = true;
	strv_release(&w->made);
	free(w->staged);
	w->staged = NULL;
	return 0;
}

static int write_part(void *data, size_t file, uint64_t offset, struct sv bytes, struct err *reterr)
{
	struct writing *w = data;
	const struct bring *b = w->b;
	int r = 0;

	if (offset == 0)
		w->session = session_of(b, file, w->session);
	const struct bundle_session *s = &manifest_of(b)->sessions.v[w->session];
	const struct bring_session *now = &b->sessions.v[w->session];
	bool own = file == s->first, last = file + 1 == s->first + s->files;
	bool wanted = now->state == BRING_OTHER ||
		(now->state != BRING_THERE && b->files.v[file] == BRING_FILE_NEW);
	/* Beside a copy whose import was cut short. */
	if (wanted && !own && now->state == BRING_OTHER) {
		AUTO_FREE char *path = path_of(b, w->session, file);
		wanted = w->beside.path || !path_exists(path);
	}
	struct file_new *to = own ? &w->own : &w->beside;
	if (wanted && offset == 0)
		r = begin_file(w, file, own, reterr);
	if (r >= 0 && wanted && bytes.n > 0)
		r = file_new_write(to, bytes, reterr);
	if (r < 0 || bytes.n > 0)
		return r;
	if (wanted && !own)
		r = commit(w, to, reterr);
	if (r >= 0 && last && now->state != BRING_THERE)
		r = finish_session(w, reterr);
	return r;
}

int bring_write(struct bring *b, struct err *reterr)
{
	struct writing w = {
		.b = b, .own = FILE_NEW_INIT, .beside = FILE_NEW_INIT, .made = STRV_INIT
	};
	CLEANUP(free_reader) struct pack_reader *reader = NULL;
	struct pack_source source;
	int r = b->opts.open(b->opts.data, &source, reterr);

	if (r >= 0)
		r = pack_open(source, &reader, reterr);
	/* Places and sums are those of the first reading: another bundle has others. */
	if (r >= 0 && pack_manifest(reader)->files.n != manifest_of(b)->files.n)
		r = err_set(reterr, ERR_INPUT, "it has changed meanwhile");
	if (r >= 0)
		r = pack_read(reader, &b->sums, write_part, &w, NULL, reterr);
	if (r < 0)
		take_back(&w);
	file_new_release(&w.own);
	file_new_release(&w.beside);
	strv_release(&w.made);
	free(w.staged);
	return r;
}

static int make_current(const struct bring *b, const struct bring_session *s, struct err *reterr)
{
	AUTO_FREE char *root = runs_of(s->path);
	AUTO_FREE char *ignore = path_join(root, ".gitignore");
	struct master_run *run = NULL;
	int r = path_exists(ignore) ? 0 : file_replace(ignore, SV("*\n"), 0600, reterr);

	if (r >= 0)
		r = master_open(root, s->id, 0, b->opts.clock, &run, reterr);
	return r < 0 ? r : master_close(run, reterr);
}

int bring_register(struct bring *b, size_t session, struct session_row *ret, struct err *reterr)
{
	const struct bundle_session *s = &manifest_of(b)->sessions.v[session];
	const struct bring_session *now = &b->sessions.v[session];

	if (s->run)
		return now->state == BRING_THERE ? 0 : make_current(b, now, reterr);
	int r = catalogue_take(b->opts.store, now->home, now->path, ret, reterr);

	/* A name that it has here stays. */
	if (r < 0 || !s->name[0] || strcmp(session_row_name(ret), s->name) == 0 ||
		(now->state == BRING_THERE && session_row_name(ret)[0]))
		return r;
	r = catalogue_rename(b->opts.store, s->agent, ret->info.id, s->name, reterr);
	if (r >= 0) {
		free(ret->own_name);
		ret->own_name = xstrdup(s->name);
	}
	return r;
}
