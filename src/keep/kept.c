#include "keep/kept.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "os/path.h"
#include "os/unpack.h"
#include "store/conv.h"

void kept_release(struct kept *kept)
{
	free(kept->session);
	free(kept->path);
	*kept = (struct kept)KEPT_INIT;
}

static void kept_set(struct kept *kept, const struct archive_file *file)
{
	kept_release(kept);
	(void)snprintf(kept->key, sizeof(kept->key), "%s", file->key);
	kept->session = xstrdup(file->session);
	kept->path = xstrdup(file->path);
	kept->size = file->size;
}

/* ---- which one ---- */

struct looking {
	const struct keeper *k;
	const char *spec;
	bool by_key; /* it is a key or its end, else the beginning of an id */
	struct kept *kept;
	bool several;
};

/* The end of a key tells it from others well enough: it is what lists show. */
static bool is_key(struct sv key, struct sv spec)
{
	return sv_eq(key, spec) ||
		(spec.n == ARCHIVE_KEY_END && key.n > spec.n && sv_ends(key, spec) &&
			key.p[key.n - spec.n - 1] == '.');
}

static int on_looked(void *data, const struct archive_file *file)
{
	struct looking *l = data;

	if (l->by_key ? !is_key(sv_of(file->key), sv_of(l->spec))
		      : !sv_starts(sv_of(file->session), sv_of(l->spec)) ||
				keeper_beside(l->k, file->path) || file->superseded ||
				sv_ends(sv_of(file->path), SV(UNPACK_SUFFIX UNPACK_DAMAGED)))
		return 0;
	if (l->kept->session && strcmp(l->kept->session, file->session) != 0)
		l->several = true;
	kept_set(l->kept, file);
	return 0;
}

static int look(const struct keeper *k, struct looking *l, struct err *reterr)
{
	const struct archive archive = keeper_archive(k);
	int r = archive_each(
		&archive, &(struct archive_query){ .key = NULL }, on_looked, l, reterr);

	if (r < 0)
		return r;
	if (l->several && !l->by_key)
		return err_set(
			reterr, ERR_AMBIGUOUS, "the archive has several sessions '%s…'", l->spec);
	return l->kept->key[0] ? 0 : ERR_NOTFOUND;
}

int kept_by_key(const struct keeper *k, const char *spec, struct kept *ret, struct err *reterr)
{
	return look(
		k, &(struct looking){ .k = k, .spec = spec, .by_key = true, .kept = ret }, reterr);
}

int kept_by_id(const struct keeper *k, const char *spec, struct kept *ret, struct err *reterr)
{
	if (strlen(spec) < CATALOGUE_FRAGMENT_MIN)
		return ERR_NOTFOUND;
	return look(k, &(struct looking){ .k = k, .spec = spec, .kept = ret }, reterr);
}

int kept_of_session(const struct keeper *k, const struct session_info *session, struct kept *ret,
	struct err *reterr)
{
	const struct archive archive = keeper_archive(k);
	AUTO_FREE char *name = xasprintf("%s.jsonl", session->id);
	char key[ARCHIVE_KEY_MAX];
	int r = archive_find(&archive, session->path[0] ? session->path : name, key, reterr);

	return r < 0 ? r : kept_by_key(k, key, ret, reterr);
}

/* ---- many ---- */

/* The largest file of each path, or every one. */
struct gathering {
	VEC(struct kept) files;
	struct map places; /* path → index in files, unless versions */
	bool versions;
	const char *below; /* only what lay in this folder; NULL: all */
	const struct keeper *k;
	struct vault *v; /* NULL: not needed yet, or there is none */
};

static void gathering_release(struct gathering *g)
{
	vec_each (&g->files, one)
		kept_release(one);
	vec_release(&g->files);
	map_release(&g->places);
	vault_close(g->v);
}

/* Whether it is the rather of two: one that was blanked never is, else the later, unless it is
 * smaller. */
static bool is_rather(struct gathering *g, const struct archive_file *file, const struct kept *last)
{
	const struct archive archive = keeper_archive(g->k);

	if (keeper_beside(g->k, file->path))
		return true;
	if (!g->v && vault_open(archive.dir, 0, archive.clock, NULL, &g->v, NULL) < 0)
		g->v = NULL;
	bool blank = archive_is_blank(&archive, g->v, file->key);
	return blank == archive_is_blank(&archive, g->v, last->key) ? file->size >= last->size
								    : !blank;
}

/* What was kept before a session was changed in place is not what
 * it was last; what lies beside sessions is written anew, and the last of it counts. */
static int on_gather(void *data, const struct archive_file *file)
{
	struct gathering *g = data;
	struct kept one = KEPT_INIT;
	uint64_t at;

	if (!g->versions && (file->frozen || (file->superseded && !keeper_there(g->k, file->path))))
		return 0;
	if (!g->versions && map_get(&g->places, sv_of(file->path), &at)) {
		if (is_rather(g, file, &g->files.v[at]))
			kept_set(&g->files.v[at], file);
		return 0;
	}
	(void)map_put(&g->places, sv_of(file->path), g->files.n);
	kept_set(&one, file);
	vec_push(&g->files, one);
	return 0;
}

static int gather(struct gathering *g, struct err *reterr)
{
	const struct archive archive = keeper_archive(g->k);
	const struct archive_query query = { .below = g->below };

	return archive_each(&archive, &query, on_gather, g, reterr);
}

void kept_vec_release(kept_vec *all)
{
	vec_each (all, one)
		kept_release(one);
	vec_release(all);
}

struct comparing {
	const struct keeper *k;
	bool one; /* session is looked at, not all */
	kept_vec *torn;
	struct map places; /* path → 1 + its place in torn; 0: it is not there */
	struct map changed; /* path → bytes that it had before it was changed in place */
};

/* Whether what lies there compressed cannot be unpacked. Of many that is tried only where it is not
 * what it was when it could. */
static bool is_damaged(const struct comparing *c, const char *path)
{
	AUTO_FREE char *packed = xasprintf("%s" UNPACK_SUFFIX, path);
	AUTO_SESSION_ROW row = SESSION_ROW_INIT;
	struct stat st;

	if (stat(packed, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
		return false;
	bool known = !c->one && catalogue_by_path(c->k->store, packed, &row, NULL) >= 0 &&
		!row.gone && row.info.size == st.st_size;
	return !known && unpack_damaged(packed);
}

static int on_compare(void *data, const struct archive_file *file)
{
	struct comparing *c = data;
	uint64_t *place = map_ref(&c->places, sv_of(file->path));
	struct kept one = KEPT_INIT;
	struct stat st;

	if (file->frozen) {
		uint64_t *bytes = map_ref(&c->changed, sv_of(file->path));
		*bytes = file->size > *bytes ? file->size : *bytes;
		return 0;
	}
	/* What lies there compressed says nothing by its size, but may be damaged. */
	bool shorter = stat(file->path, &st) == 0
		? S_ISREG(st.st_mode) && (uint64_t)st.st_size < file->size
		: is_damaged(c, file->path);
	if (!shorter || keeper_beside(c->k, file->path))
		return 0;
	if (*place == 0) {
		vec_push(c->torn, one);
		*place = c->torn->n;
	}
	if (file->size >= c->torn->v[*place - 1].size)
		kept_set(&c->torn->v[*place - 1], file);
	return 0;
}

int kept_torn(const struct keeper *k, const char *session, kept_vec *ret, struct err *reterr)
{
	const struct archive archive = keeper_archive(k);
	struct comparing c = { .k = k, .one = session != NULL, .torn = ret };
	size_t n = 0;
	uint64_t bytes;
	int r = archive_each(
		&archive, &(struct archive_query){ .session = session }, on_compare, &c, reterr);

	/* One that was changed in place when it had all of that is as it should be. */
	vec_each (ret, one) {
		if (map_get(&c.changed, sv_of(one->path), &bytes) && bytes >= one->size)
			kept_release(one);
		else
			ret->v[n++] = *one;
	}
	ret->n = n;
	map_release(&c.places);
	map_release(&c.changed);
	return r < 0 ? r : 0;
}

int kept_write_all(const struct keeper *k, const char *folder, unsigned flags,
	struct kept_written *ret, struct err *reterr)
{
	const struct archive archive = keeper_archive(k);
	CLEANUP(gathering_release)
	struct gathering g = { .versions = folder != NULL, .k = k };
	int r = gather(&g, reterr);

	*ret = (struct kept_written){ .written = 0 };
	if (r < 0)
		return r;
	vec_each (&g.files, one) {
		AUTO_FREE char *name = xasprintf("%s.jsonl", one->key);
		AUTO_FREE char *path = folder ? path_join(folder, name) : xstrdup(one->path);
		uint64_t lost = 0;
		struct err err = ERR_INIT;
		r = (folder ? path_exists(path) : keeper_there(k, path))
			? 1
			: archive_restore(&archive, one->key, path,
				  flags & KEPT_PARTIAL ? &lost : NULL, &err);
		ret->written += r == 0;
		ret->there += r > 0;
		ret->failed += r < 0;
		if (r < 0 && k->trouble) {
			err_prefix(&err, "%s", one->key);
			k->trouble(k->data, &err);
		}
	}
	return 0;
}

/* ---- a store that was lost ---- */

/* Of which archive, for which homes. */
static char *learned_of(const struct keeper *k, const struct archive *archive)
{
	AUTO_STR text = STR_INIT;

	str_addf(&text, "%lld", (long long)archive_identity(archive));
	for (size_t i = 0; i < k->n_homes; i++)
		str_addf(&text, " %s", k->homes[i].root);
	return str_detach(&text);
}

/* Some of them, unpacked: that takes long, and others wait for the store only while rows are
 * written. */
struct lesson {
	const struct keeper *k;
	struct archive archive;
	struct {
		const struct kept *one;
		int fd;
	} all[16];
	size_t n;
	uint64_t bytes;
};

static void lesson_clear(struct lesson *l)
{
	while (l->n > 0)
		(void)close(l->all[--l->n].fd);
	l->bytes = 0;
}

/* One that cannot be read is left out, a store that cannot be written ends it. */
static int left_out(
	const struct keeper *k, const struct kept *one, int r, struct err *err, struct err *reterr)
{
	if (r >= 0)
		return 0;
	err_prefix(err, "%s", one->path);
	if (err->code != ERR_STORE && err->code != ERR_BUSY) {
		if (k->trouble)
			k->trouble(k->data, err);
		return 0;
	}
	if (reterr)
		*reterr = *err;
	return r;
}

static int lesson_save(struct lesson *l, struct err *reterr)
{
	const struct keeper *k = l->k;
	int r = l->n > 0 ? store_begin(k->store, reterr) : 0;

	if (r < 0 || l->n == 0)
		return r;
	for (size_t i = 0; i < l->n && r >= 0; i++) {
		const struct kept *one = l->all[i].one;
		AUTO_SESSION_ROW row = SESSION_ROW_INIT;
		struct err err = ERR_INIT;
		r = catalogue_take_gone(k->store,
			transcript_home_of(k->homes, k->n_homes, one->path), one->path,
			l->all[i].fd, &row, &err);
		r = left_out(k, one, r, &err, reterr);
	}
	lesson_clear(l);
	return store_end(k->store, r, reterr);
}

static bool is_known(const struct keeper *k, const struct kept *one)
{
	AUTO_FREE char *packed = xasprintf("%s" UNPACK_SUFFIX, one->path);
	AUTO_SESSION_ROW row = SESSION_ROW_INIT;

	return !transcript_home_of(k->homes, k->n_homes, one->path) ||
		keeper_beside(k, one->path) || keeper_there(k, one->path) ||
		sv_ends(sv_of(one->path), SV(UNPACK_DAMAGED)) ||
		catalogue_by_path(k->store, one->path, &row, NULL) >= 0 ||
		catalogue_by_path(k->store, packed, &row, NULL) >= 0;
}

static int learn_one(struct lesson *l, const struct kept *one, struct err *reterr)
{
	enum { BYTES = 64 * 1024 * 1024 };
	struct err err = ERR_INIT;
	uint64_t lost;

	if (is_known(l->k, one))
		return 0;
	int r = archive_open(&l->archive, one->key, &l->all[l->n].fd, &lost, &err);
	if (r < 0)
		return left_out(l->k, one, r, &err, reterr);
	l->all[l->n++].one = one;
	l->bytes += one->size;
	return l->n == ARRAY_LEN(l->all) || l->bytes >= BYTES ? lesson_save(l, reterr) : 0;
}

int kept_learn(const struct keeper *k, struct err *reterr)
{
	static const char key[] = "archive.learned";
	CLEANUP(lesson_clear) struct lesson l = { .k = k, .archive = keeper_archive(k) };
	AUTO_FREE char *now = learned_of(k, &l.archive);
	AUTO_FREE char *known = NULL;
	CLEANUP(gathering_release) struct gathering g = { .k = k };

	if (archive_identity(&l.archive) == 0 ||
		(store_pref_get(k->store, key, &known, NULL) >= 0 && strcmp(known, now) == 0))
		return 0;
	int r = gather(&g, reterr);
	/* What is wrong with the archive is nothing against the store. */
	if (r < 0 && reterr)
		reterr->code = ERR_INPUT;
	if (r < 0)
		return ERR_INPUT;
	vec_each (&g.files, one) {
		/* The next time goes on from here. */
		if (k->cancelled && k->cancelled(k->data))
			return lesson_save(&l, reterr);
		r = learn_one(&l, one, reterr);
		if (r < 0)
			return r;
	}
	r = lesson_save(&l, reterr);
	return r < 0 ? r : store_pref_set(k->store, key, now, reterr);
}

/* ---- removing ---- */

/* Folders that have nothing in them but such folders. */
static void remove_empty_in(int parent, const char *name, unsigned depth)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
	const struct dirent *entry;

	while (dir && depth > 0 && (entry = readdir(dir)))
		if (entry->d_type == DT_DIR && strcmp(entry->d_name, ".") != 0 &&
			strcmp(entry->d_name, "..") != 0)
			remove_empty_in(dirfd(dir), entry->d_name, depth - 1);
	if (dir)
		(void)closedir(dir);
	else if (fd >= 0)
		(void)close(fd);
	/* The one that has something stays. */
	(void)unlinkat(parent, name, AT_REMOVEDIR);
}

void kept_remove_folder(const struct transcript_format *format, const char *path)
{
	AUTO_FREE char *folder = transcript_folder(format, path);

	if (folder)
		remove_empty_in(AT_FDCWD, folder, BESIDE_DEPTH);
}

int kept_remove(const char *path, struct err *reterr)
{
	return unlink(path) < 0 && errno != ENOENT ? err_errno(reterr, errno, "remove %s", path)
						   : 0;
}

/* ---- one, with what belongs to it ---- */

static int take(struct vault *v, const struct vault_source *source, struct vault_taken *ret,
	struct err *reterr)
{
	struct taker *taker = taker_new(v);
	int r = taker_take(taker, source, ret, reterr);

	if (r >= 0)
		r = taker_finish(taker, reterr);
	if (r >= 0)
		r = vault_commit(v, reterr);
	taker_free(taker);
	return r;
}

/* What lies where it was goes to the archive, and from there. */
static int set_aside(const struct keeper *k, const struct kept *kept,
	char ret_key[static ARCHIVE_KEY_MAX], struct err *reterr)
{
	AUTO_FREE char *where = unpack_where(kept->path);
	const char *there = where ? where : kept->path;
	AUTO_FREE char *as_is = xasprintf("%s" UNPACK_DAMAGED, there);
	AUTO_FREE char *real = NULL;
	const struct transcript_home *home = transcript_home_of(k->homes, k->n_homes, kept->path);
	bool damaged = unpack_damaged(there);
	const struct vault_source source = {
		.path = damaged ? as_is : there,
		.from = damaged ? there : NULL,
		.agent = home ? home->agent : "",
		.session = kept->session,
		.own = damaged ? NULL : kept->session,
		.frozen = damaged,
	};
	struct vault_taken taken;
	AUTO_VAULT *v = NULL;
	int r = keeper_vault(k, VAULT_CHECK, &v, reterr);

	if (r < 0)
		return r;
	/* All of it is compared, whatever its times say. */
	r = vault_forget_path(v, there, reterr);
	if (r >= 0)
		r = take(v, &source, &taken, reterr);
	if (r >= 0)
		(void)snprintf(ret_key, ARCHIVE_KEY_MAX, "%s", taken.key);
	/* A link stays, and what comes back lies where it leads. */
	if (r >= 0)
		r = path_real(there, &real, reterr);
	if (r >= 0)
		r = archive_holds(v, there, reterr);
	if (r == 0)
		return err_set(reterr, ERR_INPUT,
			"%s is not what the archive has of it; it stays, try again", there);
	return r < 0 ? r : kept_remove(real, reterr);
}

static int restore_one(const struct keeper *k, const struct kept *kept, unsigned flags, kept_fn fn,
	void *data, struct err *reterr)
{
	const struct archive archive = keeper_archive(k);
	struct kept_back back = { .kept = kept };
	uint64_t *may_lose = flags & KEPT_PARTIAL ? &back.lost : NULL;
	char key[ARCHIVE_KEY_MAX] = "";
	int r = archive_restore(&archive, kept->key, kept->path, may_lose, reterr);

	if (r == -EEXIST && flags & KEPT_REPLACE) {
		r = set_aside(k, kept, key, reterr);
		if (r >= 0)
			r = archive_restore(&archive, kept->key, kept->path, may_lose, reterr);
	}
	back.written = r == 0;
	back.aside = key[0] && strcmp(key, kept->key) != 0 ? key : NULL;
	if (r >= 0)
		fn(data, &back);
	return r;
}

/* What came back is what the file was last, for archive and catalogue, though they saw another one
 * there before. Nothing but that is noted: what cannot be is found by whoever looks next. */
static void note_back(const struct keeper *k, const struct kept *kept, unsigned flags)
{
	const struct transcript_home *home = transcript_home_of(k->homes, k->n_homes, kept->path);
	AUTO_FREE char *packed = xasprintf("%s" UNPACK_SUFFIX, kept->path);
	const struct vault_source source = {
		.path = kept->path,
		.key = kept->key,
		.agent = home ? home->agent : "",
		.session = kept->session,
		.most = 1, /* it is compared with what is kept, and not taken */
	};
	AUTO_SESSION_ROW row = SESSION_ROW_INIT;
	struct vault_taken taken;
	AUTO_VAULT *v = NULL;

	if (home)
		(void)!catalogue_take(k->store, home, kept->path, &row, NULL);
	/* Nobody waits for a long run only to have this noted; who replaces has waited already. */
	const struct lock_wait *wait = flags & KEPT_REPLACE ? &k->wait : NULL;
	if (vault_open_after(k->archive_dir, VAULT_WRITE, wait, k->clock, k->log, &v, NULL) < 0)
		return;
	if (path_exists(packed) || vault_forget_path(v, packed, NULL) >= 0)
		(void)!take(v, &source, &taken, NULL);
}

int kept_restore(const struct keeper *k, const struct kept *kept, unsigned flags, kept_fn fn,
	void *data, struct err *reterr)
{
	const struct transcript_home *home = transcript_home_of(k->homes, k->n_homes, kept->path);
	bool session = home && transcript_path_id(home->format, sv_of(kept->path)).n > 0 &&
		transcript_subagent_of(home->format, sv_of(kept->path)).n == 0;
	AUTO_FREE char *folder = session ? transcript_folder(home->format, kept->path) : NULL;
	CLEANUP(gathering_release) struct gathering g = { .below = folder, .k = k };

	if (!kept->path[0])
		return err_set(reterr, ERR_INPUT,
			"where the session lay is not known: 'faden archive export %s'", kept->key);
	int r = restore_one(k, kept, flags, fn, data, reterr);
	if (r == 0)
		note_back(k, kept, flags);
	AUTO_FREE char *there = r == -EEXIST ? unpack_where(kept->path) : NULL;
	if (there && unpack_damaged(there))
		return err_set(reterr, ERR_DENIED,
			"%s is damaged, and the archive has the session: 'faden archive restore "
			"--replace %s' puts that in its place, and the file into the archive",
			there, kept->key);
	if (r == -EEXIST)
		return err_set(reterr, ERR_DENIED,
			"%s is there and has other bytes; it stays (--replace takes it to the "
			"archive first, export writes elsewhere)",
			kept->path);
	if (r >= 0 && folder)
		r = gather(&g, reterr);
	for (size_t i = 0; i < g.files.n && r >= 0; i++) {
		/* One that is there is what somebody has done since. */
		if (!keeper_there(k, g.files.v[i].path))
			r = restore_one(k, &g.files.v[i], flags, fn, data, reterr);
	}
	return r < 0 ? r : conv_restored(k->store, kept->session, reterr);
}

/* ---- letting go of the oldest ---- */

void kept_pruned_release(struct kept_pruned *p)
{
	vec_each (&p->old, old)
		kept_release(&old->kept);
	vec_release(&p->old);
	p->old.n = 0;
}

struct planning {
	const struct keeper *k;
	struct kept_pruned *plan;
	struct map staying; /* path → files of it that stay */
};

/* What is there in the agent's folder is a mirror of it: it would be taken again at once. */
static int add_old(void *data, const struct vault_file *file)
{
	struct planning *p = data;
	const struct archive_file kept = {
		.key = file->key, .session = file->session, .path = file->path, .size = file->size
	};
	struct kept_old old = { .kept = KEPT_INIT, .last_ms = file->last_ms };

	++*map_ref(&p->staying, sv_of(file->path));
	if (keeper_there(p->k, file->path) && !file->frozen) {
		p->plan->there++;
		return 0;
	}
	kept_set(&old.kept, &kept);
	vec_push(&p->plan->old, old);
	return 0;
}

static int by_age(const void *a, const void *b)
{
	const struct kept_old *x = a, *y = b;

	return (x->last_ms > y->last_ms) - (x->last_ms < y->last_ms);
}

int kept_prune_plan(const struct keeper *k, struct vault *v, const struct kept_limits *limits,
	struct kept_pruned *ret, struct err *reterr)
{
	const struct archive archive = keeper_archive(k);
	int64_t before = clock_wall_ms(k->clock) - limits->older_ms;
	struct kept_pruned plan = KEPT_PRUNED_INIT;
	struct planning planning = { .k = k, .plan = &plan };
	struct vault_figures figures;
	size_t n = 0;
	int r = vault_figures(v, &figures, reterr);

	if (r == 0)
		r = vault_each(v, &(struct vault_query){ .key = NULL }, add_old, &planning, reterr);
	vec_sort(&plan.old, by_age);
	/* What a file takes in packs that it shares with others is its share of them. */
	double share = r == 0 && figures.bytes ? (double)figures.stored / (double)figures.bytes : 0;
	double left = r == 0 ? (double)figures.stored : 0;
	vec_each (&plan.old, old) {
		struct kept_old one = *old;
		bool goes = r == 0 &&
			((limits->older_ms > 0 && one.last_ms < before) ||
				(limits->max_bytes > 0 && left > (double)limits->max_bytes));
		if (goes) {
			r = archive_is_referred(&archive, one.kept.key, reterr);
			plan.referred += r > 0;
			goes = r == 0;
			r = r > 0 ? 0 : r;
		}
		if (!goes) {
			kept_release(&one.kept);
			continue;
		}
		--*map_ref(&planning.staying, sv_of(one.kept.path));
		plan.bytes += one.kept.size;
		left -= share * (double)one.kept.size;
		plan.old.v[n++] = one;
	}
	plan.files = plan.old.n = n;
	vec_each (&plan.old, old)
		old->only = !keeper_there(k, old->kept.path) &&
			*map_ref(&planning.staying, sv_of(old->kept.path)) == 0;
	if (limits->max_bytes > 0 && left > (double)limits->max_bytes)
		plan.over = (uint64_t)left - limits->max_bytes;
	map_release(&planning.staying);
	if (r < 0)
		kept_pruned_release(&plan);
	else
		*ret = plan;
	return r;
}

int kept_prune(const struct keeper *k, struct vault *v, const struct kept_limits *limits,
	struct kept_pruned *plan, struct err *reterr)
{
	const struct archive archive = keeper_archive(k);
	struct vault_figures figures;
	int r = 0;

	vec_each (&plan->old, old)
		if (r == 0)
			r = archive_forget(&archive, v, old->kept.key, reterr);
	/* Also what one who was killed has left. */
	if (r == 0)
		r = keeper_sweep(k, v, &plan->freed, reterr);
	if (r == 0)
		r = vault_figures(v, &figures, reterr);
	if (r == 0)
		plan->over = limits->max_bytes > 0 && figures.stored > limits->max_bytes
			? figures.stored - limits->max_bytes
			: 0;
	return r;
}
