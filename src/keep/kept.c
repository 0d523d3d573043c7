#include "keep/kept.h"

#include <errno.h>
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

void kept_vec_release(kept_vec *all)
{
	vec_each (all, one)
		kept_release(one);
	vec_release(all);
}

struct comparing {
	kept_vec *torn;
	struct map places; /* path → 1 + its place in torn; 0: it is not there */
	struct map changed; /* path → bytes that it had before it was changed in place */
};

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
	/* What lies there compressed says nothing by its size. */
	if (lstat(file->path, &st) < 0 || !S_ISREG(st.st_mode) ||
		(uint64_t)st.st_size >= file->size)
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
	struct comparing c = { .torn = ret };
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
			"%s is not what the archive has of it; it stays, try again", path);
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

void kept_pruned_release(struct kept_pruned *p)
{
	vec_each (&p->old, old)
		kept_release(&old->kept);
	vec_release(&p->old);
	p->old.n = 0;
}

struct planning {
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
	if (path_exists(file->path) && !file->frozen) {
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
	struct planning planning = { .plan = &plan };
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
		old->only = !path_exists(old->kept.path) &&
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
		r = vault_sweep(v, &plan->freed, reterr);
	if (r == 0)
		r = vault_figures(v, &figures, reterr);
	if (r == 0)
		plan->over = limits->max_bytes > 0 && figures.stored > limits->max_bytes
			? figures.stored - limits->max_bytes
			: 0;
	return r;
}
