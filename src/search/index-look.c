/*
 * What the index does not have yet: what is known, what is there, what differs.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/attr.h"
#include "base/mem.h"
#include "os/path.h"
#include "os/pool.h"
#include "os/unpack.h"
#include "search/index-room.h"
#include "store/catalogue.h"

static int load_known(
	struct update *u, const char *where, const struct sql_value *value, struct err *reterr)
{
	AUTO_FREE char *text = xasprintf(
		"SELECT id, path, dev, ino, size, mtime_ns, gone, own <> '' FROM source %s", where);
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare_values(&q, u->m.db, text, value, value != NULL, reterr);

	while (r >= 0 && (r = sql_step(&q, reterr)) > 0) {
		const char *path = sql_get_text(&q, 1);
		(void)map_put(&u->paths, unpack_plain(sv_of(path)), u->known.n);
		vec_push(&u->known,
			(struct known_source){
				.id = (uint32_t)sql_get_int(&q, 0),
				.path = xstrdup(path),
				.dev = (uint64_t)sql_get_int(&q, 2),
				.ino = (uint64_t)sql_get_int(&q, 3),
				.size = (uint64_t)sql_get_int(&q, 4),
				.mtime_ns = sql_get_int(&q, 5),
				.gone = sql_get_int(&q, 6) != 0,
			});
		u->named |= sql_get_int(&q, 7) != 0;
	}
	return r;
}

static bool is_same(const struct known_source *k, const struct transcript_file *file)
{
	return !k->gone && k->dev == file->dev && k->ino == file->ino && k->size == file->size &&
		k->mtime_ns == file->mtime_ns;
}

static int found_file(void *data, const struct transcript_file *file)
{
	struct update *u = data;
	struct known_source *k = NULL;
	uint64_t at;

	u->stats.files++;
	if (map_get(&u->paths, unpack_plain(sv_of(file->path)), &at)) {
		k = &u->known.v[at];
		if (k->seen)
			return 0; /* both forms of one file for a moment: one is enough */
		k->seen = true;
		if (is_same(k, file))
			return 0;
	}
	if (k)
		k->queued = true;
	vec_push(&u->todo,
		(struct todo){
			.path = xstrdup(file->path),
			.home = u->walking,
			.known = k ? (size_t)at + 1 : 0,
			.size = file->size,
			.mtime_ns = file->mtime_ns,
			.subagent = file->subagent,
		});
	return 0;
}

static void on_trouble(void *data, const struct err *err)
{
	struct update *u = data;

	u->home_trouble[u->walking - u->homes] = true;
	u->stats.troubles++;
	if (u->opts.trouble)
		u->opts.trouble(u->opts.data, err);
}

static int look_at_paths(struct update *u, struct err *reterr)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < u->opts.n_paths; i++) {
		const char *path = u->opts.paths[i];
		struct stat st;
		u->walking = transcript_home_of(u->homes, u->n_homes, path);
		if (!u->walking)
			continue;
		r = load_known(u, "WHERE path = ?", &SQL_T(path), reterr);
		if (r < 0 || stat(path, &st) < 0 || !S_ISREG(st.st_mode))
			continue;
		struct sv parent = transcript_subagent_of(u->walking->format, sv_of(path));
		r = found_file(u,
			&(struct transcript_file){
				.path = path,
				.dev = st.st_dev,
				.ino = st.st_ino,
				.size = (uint64_t)st.st_size,
				.mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 +
					st.st_mtim.tv_nsec,
				.subagent = parent.n > 0,
			});
	}
	return r;
}

/* One part of the folders, looked at by one of several threads: what is not as it was known, and
 * what could not be looked at. */
struct there {
	const struct transcript_home *home;
	struct transcript_file file;
	char *path; /* that of file */
};
struct trouble_there {
	const struct transcript_home *home;
	struct err err;
};
struct part {
	struct update *u;
	const struct transcript_home *walking;
	size_t same; /* files that are as they were */
	VEC(struct there) files;
	VEC(struct trouble_there) troubles;
};

static int see_file(void *data, const struct transcript_file *file)
{
	struct part *p = data;
	uint64_t at;

	if (map_get(&p->u->paths, unpack_plain(sv_of(file->path)), &at) &&
		is_same(&p->u->known.v[at], file)) {
		/* Nobody else writes to this one: a file is in one part only. */
		p->u->known.v[at].seen = true;
		p->same++;
		return 0;
	}
	struct there there = { p->walking, *file, xstrdup(file->path) };
	there.file.path = there.path;
	vec_push(&p->files, there);
	return 0;
}

static void see_trouble(void *data, const struct err *err)
{
	struct part *p = data;

	vec_push(&p->troubles, (struct trouble_there){ p->walking, *err });
}

enum { PARTS = 4 };

static int look_in_part(void *data, size_t i, unsigned worker UNUSED, struct err *reterr)
{
	struct part *p = (struct part *)data + i;
	int r = 0;

	for (size_t k = 0; r >= 0 && k < p->u->n_homes; k++) {
		p->walking = &p->u->homes[k];
		r = transcript_walk_part(
			p->walking, (unsigned)i, PARTS, see_file, see_trouble, p, reterr);
	}
	return r;
}

/* Most of the time goes to the system, which is asked about every file: on several threads. */
static int look_everywhere(struct update *u, struct err *reterr)
{
	struct part parts[PARTS] = { { .u = u }, { .u = u }, { .u = u }, { .u = u } };
	int r = load_known(u, "", NULL, reterr);

	if (r >= 0)
		r = pool_each(0, PARTS, look_in_part, parts, reterr);
	for (size_t i = 0; i < PARTS; i++) {
		struct part *p = &parts[i];
		u->stats.files += p->same;
		vec_each (&p->troubles, trouble) {
			bool told = false;
			/* Every part has trouble with a folder that all others are in. */
			for (size_t k = 0; k < i; k++)
				vec_each (&parts[k].troubles, other)
					told |= strcmp(other->err.msg, trouble->err.msg) == 0;
			u->walking = trouble->home;
			if (!told)
				on_trouble(u, &trouble->err);
		}
		vec_each (&p->files, there) {
			u->walking = there->home;
			if (r >= 0)
				r = found_file(u, &there->file);
			free(there->path);
		}
		vec_release(&p->files);
	}
	for (size_t i = 0; i < PARTS; i++)
		vec_release(&parts[i].troubles);
	return r;
}

/* Names that change no file of a session: given here, or kept by an agent beside its sessions. */
struct names {
	struct map ids; /* "agent\nid" → index in texts */
	struct strv texts;
};

static int on_name(void *data, const char *agent, const char *id, const char *name)
{
	struct names *n = data;
	AUTO_FREE char *key = xasprintf("%s\n%s", agent, id);

	(void)map_put(&n->ids, sv_of(key), n->texts.n);
	strv_add(&n->texts, name);
	return 0;
}

static const char *name_of(const struct names *n, const char *agent, const char *id)
{
	AUTO_FREE char *key = xasprintf("%s\n%s", agent, id);
	uint64_t at;

	return map_get(&n->ids, sv_of(key), &at) ? n->texts.v[at] : NULL;
}

static void names_release(struct names *n)
{
	map_release(&n->ids);
	strv_release(&n->texts);
}

/* The agents' names where their file has changed since all sources had them; what it is like now
 * goes to the mark. */
static int load_agents_names(struct update *u, struct names *ret, struct err *reterr)
{
	int r = catalogue_refresh_names(u->store, u->homes, u->n_homes, reterr);

	for (size_t i = 0; r >= 0 && i < u->n_homes; i++) {
		AUTO_FREE char *path = transcript_names_file(&u->homes[i]);
		AUTO_FREE char *key = xasprintf("names:%s", u->homes[i].agent);
		AUTO_MAP ids = MAP_INIT;
		AUTO_STRV texts = STRV_INIT;
		int64_t known = 0;
		struct stat st;
		struct sv id;
		uint64_t at;
		size_t walk = 0;
		if (!path || stat(path, &st) < 0)
			continue;
		u->names_mark[i] =
			(int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec + st.st_size;
		r = manifest_get(u->m.db, key, &known, reterr);
		/* One that cannot be read is trouble of the catalogue's. */
		if (r < 0 || known == u->names_mark[i] ||
			transcript_names(&u->homes[i], &ids, &texts, NULL) < 0)
			continue;
		while (map_next(&ids, &walk, &id, &at)) {
			AUTO_FREE char *text = xmemdup0(id.p, id.n);
			(void)on_name(ret, u->homes[i].agent, text, texts.v[at]);
		}
	}
	return r;
}

/* A source whose file is there. Where only some files are looked at, others are loaded now. */
static bool find_known(struct update *u, const char *path, uint64_t *ret_at)
{
	bool loaded = map_get(&u->paths, unpack_plain(sv_of(path)), ret_at);

	if (!loaded && u->opts.paths && load_known(u, "WHERE path = ?", &SQL_T(path), NULL) >= 0 &&
		map_get(&u->paths, unpack_plain(sv_of(path)), ret_at)) {
		/* One that is gone is found to be so by who looks at all. */
		u->known.v[*ret_at].gone |= !path_exists(path);
		u->known.v[*ret_at].seen = true;
		return !u->known.v[*ret_at].gone;
	}
	return loaded && u->known.v[*ret_at].seen;
}

/* Sources that have such a name, or had one. */
static int look_at_names(struct update *u, struct err *reterr)
{
	CLEANUP(names_release) struct names own = { .texts = STRV_INIT };
	CLEANUP(names_release) struct names theirs = { .texts = STRV_INIT };
	AUTO_SQL q = SQL_INIT;
	int r = catalogue_names(u->store, on_name, &own, reterr);

	if (r >= 0)
		r = load_agents_names(u, &theirs, reterr);
	/* Of all that is known none was named: nobody needs to be asked. */
	if (r >= 0 && !own.ids.n && !theirs.ids.n && !u->opts.paths && !u->named)
		return 0;
	if (r >= 0)
		r = sql_prepare(&q, u->m.db,
			own.ids.n || theirs.ids.n ? "SELECT path, agent, session, own, name FROM "
						    "source WHERE NOT subagent"
						  : "SELECT path, agent, session, own, name FROM "
						    "source WHERE own <> ''",
			reterr);
	while (r >= 0 && (r = sql_step(&q, reterr)) > 0) {
		const char *path = sql_get_text(&q, 0), *agent = sql_get_text(&q, 1);
		const char *id = sql_get_text(&q, 2), *has = sql_get_text(&q, 3);
		const char *given = name_of(&own, agent, id);
		const char *name = given ? NULL : name_of(&theirs, agent, id);
		const struct transcript_home *home = transcript_home_of(u->homes, u->n_homes, path);
		uint64_t at;
		if ((strcmp(given ? given : "", has) == 0 &&
			    (!name || strcmp(name, sql_get_text(&q, 4)) == 0)) ||
			!home || !find_known(u, path, &at) || u->known.v[at].queued)
			continue;
		u->known.v[at].queued = true;
		vec_push(&u->todo,
			(struct todo){
				.path = xstrdup(path),
				.home = home,
				.known = (size_t)at + 1,
				.mtime_ns = u->known.v[at].mtime_ns,
			});
	}
	return r;
}

/* ---- sessions that only the archive has ---- */

/* Of those that are gone, the largest that is kept of each. */
struct kept_sources {
	struct update *u;
	struct map places; /* plain path → index in u->todo */
	struct map asked; /* the plain paths that are looked at; empty: all */
};

static void kept_sources_release(struct kept_sources *k)
{
	map_release(&k->places);
	map_release(&k->asked);
}

static bool is_there(const char *path)
{
	AUTO_FREE char *packed = xasprintf("%s%s", path, UNPACK_SUFFIX);

	return path_exists(path) || path_exists(packed);
}

static int on_kept(void *data, const struct archive_file *file)
{
	struct kept_sources *s = data;
	struct update *u = s->u;
	struct sv plain = unpack_plain(sv_of(file->path));
	const struct transcript_home *home = transcript_home_of(u->homes, u->n_homes, file->path);
	struct known_source *k = NULL;
	uint64_t at;

	if (!home || u->home_trouble[home - u->homes] ||
		(transcript_path_id(home->format, plain).n == 0 &&
			transcript_subagent_of(home->format, plain).n == 0) ||
		(u->opts.paths && !map_get(&s->asked, plain, &at)))
		return 0;
	if (map_get(&s->places, plain, &at)) {
		struct todo *t = &u->todo.v[at];
		if (file->size >= t->size) {
			t->size = file->size;
			free(t->kept);
			t->kept = xstrdup(file->key);
		}
		return 0;
	}
	if (map_get(&u->paths, plain, &at))
		k = &u->known.v[at];
	/* Of one that is known there is no more to read, unless its end was not. */
	if (k ? k->seen || (file->size <= k->size && k->mtime_ns != 0) : is_there(file->path))
		return 0;
	if (k)
		k->queued = true;
	(void)map_put(&s->places, plain, u->todo.n);
	vec_push(&u->todo,
		(struct todo){
			.path = xstrdup(k ? k->path : file->path),
			.home = home,
			.known = k ? (size_t)at + 1 : 0,
			.size = file->size,
			.mtime_ns = file->kept_ms * 1000000,
			.subagent = transcript_subagent_of(home->format, plain).n > 0,
			.kept = xstrdup(file->key),
		});
	return 0;
}

/* Nothing of it has to be looked at when all of it was, and it is what it was then. */
static int look_at_kept(struct update *u, struct err *reterr)
{
	CLEANUP(kept_sources_release) struct kept_sources s = { .u = u };
	const struct archive *archive = u->opts.archive;
	int64_t known = 0;
	bool vanished = false;

	if (!archive)
		return 0;
	vec_each (&u->known, k)
		vanished |= !k->seen && !k->gone;
	for (size_t i = 0; u->opts.paths && i < u->opts.n_paths; i++)
		if (!path_exists(u->opts.paths[i]))
			(void)map_put(&s.asked, unpack_plain(sv_of(u->opts.paths[i])), 1);
	int64_t mark = archive_mark(archive);
	int r = manifest_get(u->m.db, "archive", &known, reterr);
	if (r < 0 || (u->opts.paths ? s.asked.n == 0 : mark == known && !vanished)) {
		u->kept_mark = known;
		return r;
	}
	r = archive_each(archive, &(struct archive_query){ .key = NULL }, on_kept, &s, reterr);
	/* To look at it may change the mark as well. */
	if (archive_mark(archive) == mark)
		u->kept_mark = mark;
	return r;
}

int index_mark_checked(struct update *u, int64_t started_ms, struct err *reterr)
{
	int r = manifest_set(&u->m, "checked_ms", started_ms, reterr);

	if (r >= 0 && u->kept_mark)
		r = manifest_set(&u->m, "archive", u->kept_mark, reterr);

	for (size_t i = 0; r >= 0 && i < u->n_homes; i++) {
		AUTO_FREE char *key = xasprintf("names:%s", u->homes[i].agent);
		if (u->names_mark[i])
			r = manifest_set(&u->m, key, u->names_mark[i], reterr);
	}
	return r;
}

static int mark_gone(struct update *u, struct err *reterr)
{
	bool begun = false;
	int r = 0;

	vec_each (&u->known, k) {
		const struct transcript_home *home = k->seen || k->gone
			? NULL
			: transcript_home_of(u->homes, u->n_homes, k->path);
		if (r < 0 || !home || u->home_trouble[home - u->homes])
			continue;
		if (!begun)
			r = manifest_begin(&u->m, reterr);
		begun = r >= 0;
		if (r >= 0)
			r = manifest_mark_gone(&u->m, k->id, reterr);
		u->stats.gone++;
	}
	return begun ? manifest_end(&u->m, r, reterr) : r;
}

int index_look(struct update *u, struct err *reterr)
{
	int r = u->opts.paths ? look_at_paths(u, reterr) : look_everywhere(u, reterr);

	if (r >= 0)
		r = look_at_kept(u, reterr);
	if (r >= 0)
		r = look_at_names(u, reterr);
	return r < 0 ? r : mark_gone(u, reterr);
}
