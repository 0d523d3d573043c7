#include "keep/kept.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
		      : !sv_starts(sv_of(file->session), sv_of(l->spec)))
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
	return look(k, &(struct looking){ .spec = spec, .by_key = true, .kept = ret }, reterr);
}

int kept_by_id(const struct keeper *k, const char *spec, struct kept *ret, struct err *reterr)
{
	if (strlen(spec) < CATALOGUE_FRAGMENT_MIN)
		return ERR_NOTFOUND;
	return look(k, &(struct looking){ .spec = spec, .kept = ret }, reterr);
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
	bool versions;
	const char *session; /* only what its sub-agents did, below this folder; NULL: all */
	struct sv folder;
	const struct keeper *k;
};

static void gathering_release(struct gathering *g)
{
	vec_each (&g->files, one)
		kept_release(one);
	vec_release(&g->files);
}

static bool is_of_subagent(const struct gathering *g, const char *path)
{
	const struct transcript_home *home = transcript_home_of(g->k->homes, g->k->n_homes, path);

	return home && path_within(sv_of(path), g->folder) &&
		sv_is(transcript_subagent_of(home->format, sv_of(path)), g->session);
}

/* Files of one path come together. What was kept before a session was changed in place is not what
 * it was last. */
static int on_gather(void *data, const struct archive_file *file)
{
	struct gathering *g = data;
	struct kept *last = g->files.n ? &g->files.v[g->files.n - 1] : NULL;
	struct kept one = KEPT_INIT;

	if ((!g->versions && file->frozen) || (g->session && !is_of_subagent(g, file->path)))
		return 0;
	if (!g->versions && last && strcmp(last->path, file->path) == 0) {
		if (file->size >= last->size)
			kept_set(last, file);
		return 0;
	}
	kept_set(&one, file);
	vec_push(&g->files, one);
	return 0;
}

static int gather(struct gathering *g, struct err *reterr)
{
	const struct archive archive = keeper_archive(g->k);

	return archive_each(&archive, &(struct archive_query){ .key = NULL }, on_gather, g, reterr);
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
		r = path_exists(path) ? 1
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

/* ---- removing ---- */

/* The folder of a session's sub-agents, and the one it is in, as far as nothing else is there. */
static void remove_empty_folders(const char *path)
{
	enum { LEVELS = 2 };
	struct sv folder = path_parent(sv_of(path));

	if (!sv_is(path_base(folder), "subagents"))
		return;
	for (int i = 0; i < LEVELS; i++) {
		AUTO_FREE char *name = xmemdup0(folder.p, folder.n);
		if (rmdir(name) < 0)
			return;
		folder = path_parent(folder);
	}
}

int kept_remove(struct vault *v, const char *path, struct err *reterr)
{
	int r = v ? archive_holds(v, path, reterr) : 1;

	if (r == 0)
		return err_set(reterr, ERR_INPUT,
			"%s has changed while it was archived; it stays, try again", path);
	if (r > 0 && unlink(path) < 0 && errno != ENOENT)
		return err_errno(reterr, errno, "remove %s", path);
	if (r > 0)
		remove_empty_folders(path);
	return r < 0 ? r : 0;
}

/* ---- one, with what belongs to it ---- */

/* What lies where it was goes to the archive, and from there. */
static int set_aside(const struct keeper *k, const struct kept *kept, struct err *reterr)
{
	const struct vault_source source = {
		.path = kept->path, .agent = "", .session = kept->session, .own = kept->session
	};
	struct vault_taken taken;
	AUTO_VAULT *v = NULL;
	int r = keeper_vault(k, VAULT_CHECK, &v, reterr);

	if (r < 0)
		return r;
	struct taker *taker = taker_new(v);
	r = taker_take(taker, &source, &taken, reterr);
	if (r >= 0)
		r = taker_finish(taker, reterr);
	if (r >= 0)
		r = vault_commit(v, reterr);
	taker_free(taker);
	return r < 0 ? r : kept_remove(v, kept->path, reterr);
}

static int restore_one(const struct keeper *k, const struct kept *kept, unsigned flags, kept_fn fn,
	void *data, struct err *reterr)
{
	const struct archive archive = keeper_archive(k);
	uint64_t lost = 0;
	uint64_t *may_lose = flags & KEPT_PARTIAL ? &lost : NULL;
	int r = archive_restore(&archive, kept->key, kept->path, may_lose, reterr);

	if (r == -EEXIST && flags & KEPT_REPLACE) {
		r = set_aside(k, kept, reterr);
		if (r >= 0)
			r = archive_restore(&archive, kept->key, kept->path, may_lose, reterr);
	}
	if (r >= 0)
		fn(data, kept, r == 0, lost);
	return r;
}

int kept_restore(const struct keeper *k, const struct kept *kept, unsigned flags, kept_fn fn,
	void *data, struct err *reterr)
{
	struct sv plain = unpack_plain(sv_of(kept->path));
	CLEANUP(gathering_release)
	struct gathering g = { .session = kept->session,
		.folder = sv_ends(plain, SV(".jsonl")) ? sv_head(plain, plain.n - 6) : plain,
		.k = k };

	if (!kept->path[0])
		return err_set(reterr, ERR_INPUT,
			"where the session lay is not known: 'faden archive export %s'", kept->key);
	int r = restore_one(k, kept, flags, fn, data, reterr);
	if (r == -EEXIST)
		return err_set(reterr, ERR_DENIED,
			"%s is there and has other bytes; it stays (--replace takes it to the "
			"archive first, export writes elsewhere)",
			kept->path);
	if (r >= 0)
		r = gather(&g, reterr);
	for (size_t i = 0; i < g.files.n && r >= 0; i++) {
		/* One that is there is what somebody has done since. */
		if (!path_exists(g.files.v[i].path))
			r = restore_one(k, &g.files.v[i], flags, fn, data, reterr);
	}
	return r < 0 ? r : conv_restored(k->store, kept->session, reterr);
}

/* ---- letting go of the oldest ---- */

struct old {
	char key[ARCHIVE_KEY_MAX];
	uint64_t size;
	int64_t last_ms;
};
typedef VEC(struct old) old_vec;

/* What is there in the agent's folder is a mirror of it: it would be taken again at once. */
static int add_old(void *data, const struct vault_file *file)
{
	old_vec *all = data;
	struct old old = { .size = file->size, .last_ms = file->last_ms };

	(void)snprintf(old.key, sizeof(old.key), "%s", file->key);
	if (!path_exists(file->path) || file->frozen)
		vec_push(all, old);
	return 0;
}

static int by_age(const void *a, const void *b)
{
	const struct old *x = a, *y = b;

	return (x->last_ms > y->last_ms) - (x->last_ms < y->last_ms);
}

int kept_prune(const struct keeper *k, struct vault *v, const struct kept_limits *limits, bool dry,
	struct kept_pruned *ret, struct err *reterr)
{
	const struct archive archive = keeper_archive(k);
	int64_t before = clock_wall_ms(k->clock) - limits->older_ms;
	struct vault_figures figures;
	old_vec all = VEC_INIT;
	int r = vault_figures(v, &figures, reterr);

	*ret = (struct kept_pruned){ .dry = dry };
	if (r == 0)
		r = vault_each(v, &(struct vault_query){ .key = NULL }, add_old, &all, reterr);
	vec_sort(&all, by_age);
	/* What a file takes in packs that it shares with others is its share of them. */
	double share = figures.bytes ? (double)figures.stored / (double)figures.bytes : 0;
	double left = (double)figures.stored;
	vec_each (&all, old) {
		bool goes = (limits->older_ms > 0 && old->last_ms < before) ||
			(limits->max_bytes > 0 && left > (double)limits->max_bytes);
		if (r < 0 || !goes)
			continue;
		r = archive_is_referred(&archive, old->key, reterr);
		if (r > 0) {
			ret->referred++;
			r = 0;
			continue;
		}
		ret->files++;
		ret->bytes += old->size;
		left -= share * (double)old->size;
		if (r == 0 && !dry)
			r = archive_forget(&archive, v, old->key, reterr);
	}
	vec_release(&all);
	if (r == 0 && !dry && ret->files > 0)
		r = vault_sweep(v, 0, &ret->freed, reterr);
	return r;
}
