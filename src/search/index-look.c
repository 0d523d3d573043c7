/*
 * What the index does not have yet: what is known, what is there, what differs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/attr.h"
#include "base/mem.h"
#include "os/file.h"
#include "os/path.h"
#include "os/pool.h"
#include "os/unpack.h"
#include "search/index-room.h"
#include "store/catalogue.h"

/* The sources of sessions whose home was moved are those of the place where it is now. */
static int follow_homes(struct update *u, struct err *reterr)
{
	CLEANUP(moved_rows_release) struct moved_rows moved = { .all = VEC_INIT };
	VEC(uint32_t) known = VEC_INIT;
	int r = moved_rows(u->m.db, "source", u->homes, u->n_homes, &moved, reterr);

	if (r < 0 || moved.all.n == 0)
		return r;
	r = manifest_begin(&u->m, reterr);
	if (r < 0)
		return r;
	vec_each (&moved.all, row) {
		uint32_t id = (uint32_t)row->id;
		r = r < 0 ? r : manifest_move(&u->m, id, row->was, row->now, reterr);
		/* What has been read there since is the newer one. */
		if (r == 0)
			vec_push(&known, id);
	}
	r = manifest_end(&u->m, r, reterr);
	if (r >= 0)
		r = manifest_forget(&u->m, known.v, known.n, reterr);
	vec_release(&known);
	return r;
}

static int load_known(
	struct update *u, const char *where, const struct sql_value *value, struct err *reterr)
{
	AUTO_FREE char *text = xasprintf("SELECT id, path, dev, ino, size, mtime_ns, gone,"
					 " own <> '', max(size, offset), ctime_ns FROM source %s",
		where);
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare_values(&q, u->m.db, text, value, value != NULL, reterr);

	while (r >= 0 && (r = sql_step(&q, reterr)) > 0) {
		const char *path = sql_get_text(&q, 1);
		/* Made anew, none is as it is known. Until it is read again it still counts. */
		bool anew = u->opts.rebuild;
		const struct known_source k = {
			.id = (uint32_t)sql_get_int(&q, 0),
			.path = xstrdup(path),
			.dev = (uint64_t)sql_get_int(&q, 2),
			.ino = anew ? 0 : (uint64_t)sql_get_int(&q, 3),
			.size = anew ? 0 : (uint64_t)sql_get_int(&q, 4),
			.bytes = anew ? 0 : (uint64_t)sql_get_int(&q, 8),
			.mtime_ns = anew ? 0 : sql_get_int(&q, 5),
			.ctime_ns = anew ? 0 : sql_get_int(&q, 9),
			.gone = sql_get_int(&q, 6) != 0,
		};
		uint64_t at;
		u->named |= sql_get_int(&q, 7) != 0;
		unpack_doubt_note(&u->doubt, sql_get_int(&q, 5));
		/* Each message would count twice. */
		if (map_get(&u->paths, unpack_plain(sv_of(path)), &at)) {
			vec_push(&u->twice, u->known.v[at].id);
			free(u->known.v[at].path);
			u->known.v[at] = k;
		} else {
			(void)map_put(&u->paths, unpack_plain(sv_of(path)), u->known.n);
			vec_push(&u->known, k);
		}
	}
	return r;
}

/* One that is not known yet, compressed or not. */
static int load_path(struct update *u, const char *path, struct err *reterr)
{
	struct sv plain = unpack_plain(sv_of(path));
	uint64_t at;

	return map_get(&u->paths, plain, &at)
		? 0
		: load_known(u, MANIFEST_OF_PATH, &SQL_S(plain), reterr);
}

static bool is_there(const char *path)
{
	AUTO_FREE char *where = unpack_where(path);

	return where != NULL;
}

static bool is_same(const struct known_source *k, const struct transcript_file *file)
{
	return !k->gone && k->dev == file->dev && k->ino == file->ino && k->size == file->size &&
		k->mtime_ns == file->mtime_ns && k->ctime_ns == file->ctime_ns;
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
		/* An agent that has nothing left of it but a few lines is not where it is. */
		k->seen = is_same(k, file) || !transcript_fell_silent(file->path, k->bytes);
		if (!k->seen || is_same(k, file))
			return 0;
		k->queued = true;
		/* What has not grown may be another one anywhere, not only at its end. */
		k->anew = !k->gone && k->mtime_ns != 0 && k->size == file->size;
	} else if (!map_put(&u->met, unpack_plain(sv_of(file->path)), 1)) {
		return 0;
	}
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
	u->blind = true;
	u->stats.troubles++;
	if (u->opts.trouble)
		u->opts.trouble(u->opts.data, err);
}

static int look_at_paths(struct update *u, struct err *reterr)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < u->opts.n_paths; i++) {
		struct stat st;
		u->walking = transcript_home_of(u->homes, u->n_homes, u->opts.paths[i]);
		if (!u->walking)
			continue;
		r = load_path(u, u->opts.paths[i], reterr);
		AUTO_FREE char *path = r < 0 ? NULL : unpack_where(u->opts.paths[i]);
		if (!path || stat(path, &st) < 0 || !S_ISREG(st.st_mode))
			continue;
		struct sv parent = transcript_subagent_of(u->walking->format, sv_of(path));
		r = found_file(u,
			&(struct transcript_file){
				.path = path,
				.dev = st.st_dev,
				.ino = st.st_ino,
				.size = (uint64_t)st.st_size,
				.mtime_ns = file_mtime_ns(&st),
				.ctime_ns = file_ctime_ns(&st),
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
		is_same(&p->u->known.v[at], file) &&
		!unpack_doubt_blank(&p->u->doubt, file->path, file->mtime_ns)) {
		/* Nobody else writes to this one: a file is in one part only. */
		p->u->known.v[at].seen = true;
		p->same++;
		return 0;
	}
	/* It has nothing to be found; what it had before it was blanked is gone. */
	if (unpack_blank(file->path))
		return 0;
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

/* Results that lie beside a session and are not what they were, or have come since. What is gone
 * stays as it was read. */
static int look_beside(struct update *u, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, u->m.db,
		u->opts.paths ? "SELECT path, size, mtime_ns FROM spilled WHERE source = ?"
			      : "SELECT p.path, p.size, p.mtime_ns, s.path FROM spilled p"
				" JOIN source s ON s.id = p.source WHERE NOT s.gone",
		reterr);

	for (size_t i = 0; r >= 0 && i < (u->opts.paths ? u->known.n : 1); i++) {
		uint64_t at = i;
		sql_reset(&q);
		if (u->opts.paths)
			sql_int(&q, u->known.v[i].id);
		while ((r = sql_step(&q, reterr)) > 0) {
			struct stat st;
			AUTO_CLOSE int fd = spilled_open(sql_get_text(&q, 0), &st);
			if (fd < 0 ||
				(st.st_size == sql_get_int(&q, 1) &&
					file_mtime_ns(&st) == sql_get_int(&q, 2)) ||
				(!u->opts.paths &&
					!map_get(&u->paths,
						unpack_plain(sv_of(sql_get_text(&q, 3))), &at)))
				continue;
			struct known_source *k = &u->known.v[at];
			const struct transcript_home *home =
				transcript_home_of(u->homes, u->n_homes, k->path);
			k->anew = k->seen && home;
			if (!k->anew || k->queued)
				continue;
			k->queued = true;
			vec_push(&u->todo,
				(struct todo){ .path = xstrdup(k->path),
					.home = home,
					.known = (size_t)at + 1,
					.size = k->size,
					.mtime_ns = k->mtime_ns });
		}
	}
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
		AUTO_MAP ids = MAP_INIT;
		AUTO_STRV texts = STRV_INIT;
		int64_t known = 0;
		struct stat st;
		struct sv id;
		uint64_t at;
		size_t walk = 0;
		if (!path || stat(path, &st) < 0)
			continue;
		u->names_mark[i] = manifest_names_mark(&st);
		r = manifest_names(u->m.db, u->homes[i].agent, &known, reterr);
		/* One that cannot be read is trouble of the catalogue's. */
		if (r < 0 || known == u->names_mark[i] ||
			transcript_names(&u->homes[i], &ids, &texts, NULL) < 0)
			continue;
		u->names_new[i] = true;
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

	if (!loaded && u->opts.paths && load_path(u, path, NULL) >= 0 &&
		map_get(&u->paths, unpack_plain(sv_of(path)), ret_at)) {
		/* One that is gone is found to be so by who looks at all. */
		u->known.v[*ret_at].gone |= !is_there(path);
		u->known.v[*ret_at].seen = true;
		return !u->known.v[*ret_at].gone;
	}
	return loaded && u->known.v[*ret_at].seen;
}

static void queue_named(struct update *u, const char *path)
{
	const struct transcript_home *home = transcript_home_of(u->homes, u->n_homes, path);
	uint64_t at;

	if (!home || !find_known(u, path, &at) || u->known.v[at].queued)
		return;
	u->known.v[at].queued = true;
	vec_push(&u->todo,
		(struct todo){
			.path = xstrdup(path),
			.home = home,
			.known = (size_t)at + 1,
			.mtime_ns = u->known.v[at].mtime_ns,
		});
}

/* The sources of sessions that do not have the name in this column; with `above`, which go before
 * these, not those that have one there. */
static int look_for_names(struct update *u, const struct names *names, const char *column,
	const struct names *above, struct err *reterr)
{
	AUTO_FREE char *text = xasprintf("SELECT path FROM source WHERE session = ? AND agent = ? "
					 "AND NOT subagent AND %s <> ?",
		column);
	size_t walk = 0;
	struct sv key, agent;
	uint64_t at, over;
	int r = 0;

	while (r >= 0 && map_next(&names->ids, &walk, &key, &at)) {
		AUTO_SQL q = SQL_INIT;
		struct sv id = key;
		if (!sv_split(&id, '\n', &agent) || (above && map_get(&above->ids, key, &over)))
			continue;
		r = SQL_PREPARE(&q, u->m.db, reterr, text, SQL_S(id), SQL_S(agent),
			SQL_T(names->texts.v[at]));
		while (r >= 0 && (r = sql_step(&q, reterr)) > 0)
			queue_named(u, sql_get_text(&q, 0));
	}
	return r;
}

/* Sources that have such a name; and that had one, where all are looked at. */
static int look_at_names(struct update *u, struct err *reterr)
{
	CLEANUP(names_release) struct names own = { .texts = STRV_INIT };
	CLEANUP(names_release) struct names theirs = { .texts = STRV_INIT };
	AUTO_SQL q = SQL_INIT;
	int r = catalogue_names(u->store, on_name, &own, reterr);

	if (r >= 0)
		r = load_agents_names(u, &theirs, reterr);
	if (r >= 0)
		r = look_for_names(u, &own, "own", NULL, reterr);
	if (r >= 0)
		r = look_for_names(u, &theirs, "name", &own, reterr);
	if (r < 0 || u->opts.paths || !u->named)
		return r;
	r = sql_prepare(&q, u->m.db,
		"SELECT path, agent || char(10) || session FROM source WHERE own <> ''"
		" AND NOT subagent",
		reterr);
	while (r >= 0 && (r = sql_step(&q, reterr)) > 0) {
		uint64_t at;
		if (!map_get(&own.ids, sv_of(sql_get_text(&q, 1)), &at))
			queue_named(u, sql_get_text(&q, 0));
	}
	return r;
}

/* ---- sessions that only the archive has ---- */

/* Of those that are gone, the largest that is kept of each. */
struct kept_sources {
	struct update *u;
	struct map places; /* plain path → index in u->todo */
	struct map asked; /* the plain paths that are looked at; empty: all */
	struct map there; /* plain path → index in u->todo, of those to be read from their files */
};

static void kept_sources_release(struct kept_sources *k)
{
	map_release(&k->places);
	map_release(&k->asked);
	map_release(&k->there);
}

/* The largest copy is read in place of the file. */
static void take_kept(struct todo *t, const struct archive_file *file)
{
	if (t->kept && file->size < t->size)
		return;
	t->size = file->size;
	free(t->kept);
	t->kept = xstrdup(file->key);
}

static int on_kept(void *data, const struct archive_file *file)
{
	struct kept_sources *s = data;
	struct update *u = s->u;
	struct sv plain = unpack_plain(sv_of(file->path));
	const struct transcript_home *home = transcript_home_of(u->homes, u->n_homes, file->path);
	struct known_source *k = NULL;
	uint64_t at;

	AUTO_FREE char *of = home ? transcript_beside_of(home, file->path) : NULL;

	if (!home || of || file->superseded || u->home_trouble[home - u->homes] ||
		(transcript_path_id(home->format, plain).n == 0 &&
			transcript_subagent_of(home->format, plain).n == 0) ||
		(u->opts.paths && !map_get(&s->asked, plain, &at)))
		return 0;
	if (map_get(&s->there, plain, &at)) {
		struct todo *t = &u->todo.v[at];
		/* Of one that may not be read that is what there is. */
		if (access(t->path, R_OK) < 0 && errno == EACCES)
			take_kept(t, file);
		else
			t->shorter |= !file->frozen && t->size < file->size;
		return 0;
	}
	if (map_get(&s->places, plain, &at)) {
		take_kept(&u->todo.v[at], file);
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
	u->stats.files++;
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

/* Nothing of it has to be looked at when all of it was, and it is what it was then; little, when
 * nothing has vanished since. */
static int look_at_kept(struct update *u, struct err *reterr)
{
	/* Others see what was taken when all of a run is committed; more is only looked at again.
	 */
	enum { LATE_MS = 10 * 60 * 1000 };
	CLEANUP(kept_sources_release) struct kept_sources s = { .u = u };
	const struct archive *archive = u->opts.archive;
	struct archive_query query = { .key = NULL };
	int64_t known = 0, identity = 0, checked_ms = 0;
	bool vanished = false;

	if (!archive)
		return 0;
	vec_each (&u->known, k)
		vanished |= !k->seen && !k->gone;
	for (size_t i = 0; u->opts.paths && i < u->opts.n_paths; i++)
		if (!is_there(u->opts.paths[i]))
			(void)map_put(&s.asked, unpack_plain(sv_of(u->opts.paths[i])), 1);
	int64_t mark = archive_mark(archive);
	int r = manifest_get(u->m.db, "archive", &known, reterr);
	if (r < 0 ||
		(u->opts.paths ? s.asked.n == 0 : mark == known && !vanished && !u->opts.rebuild)) {
		u->kept_mark = known;
		return r;
	}
	u->kept_identity = archive_identity(archive);
	r = manifest_get(u->m.db, "archive_identity", &identity, reterr);
	if (r >= 0)
		r = manifest_get(u->m.db, "checked_ms", &checked_ms, reterr);
	if (r < 0)
		return r;
	if (known && identity == u->kept_identity && !vanished && !u->opts.paths &&
		!u->opts.rebuild && checked_ms > LATE_MS)
		query.since_ms = checked_ms - LATE_MS;
	for (size_t i = 0; i < u->todo.n; i++)
		(void)map_put(&s.there, unpack_plain(sv_of(u->todo.v[i].path)), i);
	struct err err = ERR_INIT;
	r = archive_each(archive, &query, on_kept, &s, &err);
	if (r < 0) {
		/* What is there is indexed all the same. It is no trouble of the store's. */
		u->blind = true;
		err.code = ERR_INPUT;
		err_prefix(&err, "what only the archive has");
		if (u->opts.trouble)
			u->opts.trouble(u->opts.data, &err);
		return 0;
	}
	/* To look at it may change the mark as well. */
	if (archive_mark(archive) == mark)
		u->kept_mark = mark;
	return 0;
}

/* ---- sessions of which the archive has more than there is ---- */

/* The largest copy of a file that is perhaps torn. */
struct copy {
	size_t todo;
	char key[ARCHIVE_KEY_MAX];
	uint64_t size;
	uint64_t changed; /* bytes that it had before it was changed in place */
};
struct copies {
	struct map places; /* path → index in all */
	VEC(struct copy) all;
};

static void copies_release(struct copies *c)
{
	map_release(&c->places);
	vec_release(&c->all);
}

static int on_copy(void *data, const struct archive_file *file)
{
	struct copies *c = data;
	uint64_t at;

	if (!map_get(&c->places, unpack_plain(sv_of(file->path)), &at))
		return 0;
	struct copy *copy = &c->all.v[at];
	if (file->frozen) {
		copy->changed = file->size > copy->changed ? file->size : copy->changed;
	} else if (file->size >= copy->size && strlen(file->key) < sizeof(copy->key)) {
		copy->size = file->size;
		memcpy(copy->key, file->key, strlen(file->key) + 1);
	}
	return 0;
}

/* What is a beginning of its copy is read from that. What has no words left is gone, and read from
 * it as such. One that was written to since it was torn is another session now. */
static void take_copy(struct update *u, const struct copy *copy)
{
	struct todo *t = &u->todo.v[copy->todo];
	struct stat st;
	AUTO_CLOSE int fd = -1, of = -1;

	if (copy->size <= copy->changed)
		return;
	fd = file_open(t->path, &st, NULL);
	if (fd < 0 || (uint64_t)st.st_size >= copy->size ||
		archive_open(u->opts.archive, copy->key, &of, NULL, NULL) < 0)
		return;
	bool silent = transcript_fell_silent(t->path, copy->size);
	if (!silent && !file_same(fd, of, 0, (uint64_t)st.st_size))
		return;
	t->size = copy->size;
	t->kept = xstrdup(copy->key);
	if (silent)
		return;
	t->torn = xmalloc(sizeof(*t->torn));
	*t->torn = st;
}

/* Nobody is asked while no file is shorter than it was. */
static void look_at_torn(struct update *u)
{
	CLEANUP(copies_release) struct copies c = { .places = MAP_INIT };

	for (size_t i = 0; u->opts.archive && i < u->todo.n; i++) {
		const struct todo *t = &u->todo.v[i];
		const struct known_source *k = t->known ? &u->known.v[t->known - 1] : NULL;
		/* Nobody has looked at one that is read for its name: it is as it was. */
		uint64_t size = k && t->size == 0 ? k->size : t->size;
		/* Of what is compressed the size says nothing. */
		if (t->kept || unpack_is(sv_of(t->path)) || !(t->shorter || (k && size < k->bytes)))
			continue;
		(void)map_put(&c.places, sv_of(t->path), c.all.n);
		vec_push(&c.all, (struct copy){ .todo = i });
	}
	/* Where the archive cannot be read, what is left of them counts. */
	if (c.all.n == 0 ||
		archive_each(u->opts.archive, &(struct archive_query){ .key = NULL }, on_copy, &c,
			NULL) < 0)
		return;
	vec_each (&c.all, copy)
		take_copy(u, copy);
}

int index_mark_named(struct update *u, struct err *reterr)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < u->n_homes; i++)
		if (u->names_new[i])
			r = manifest_set_names(&u->m, u->homes[i].agent, u->names_mark[i], reterr);
	return r;
}

int index_mark_checked(struct update *u, int64_t started_ms, struct err *reterr)
{
	int r = manifest_set(&u->m, "checked_ms", started_ms, reterr);

	if (r >= 0 && u->kept_mark)
		r = manifest_set(&u->m, "archive", u->kept_mark, reterr);
	if (r >= 0 && u->kept_mark && u->kept_identity)
		r = manifest_set(&u->m, "archive_identity", u->kept_identity, reterr);
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
		char key[ARCHIVE_KEY_MAX];
		u->stats.gone++;
		u->stats.lost += !u->opts.archive ||
			archive_find(u->opts.archive, k->path, key, NULL) == ERR_NOTFOUND;
	}
	return begun ? manifest_end(&u->m, r, reterr) : r;
}

int index_look(struct update *u, struct err *reterr)
{
	int r = follow_homes(u, reterr);

	if (r >= 0)
		r = u->opts.paths ? look_at_paths(u, reterr) : look_everywhere(u, reterr);
	if (r >= 0)
		r = manifest_forget(&u->m, u->twice.v, u->twice.n, reterr);
	if (r >= 0)
		r = look_at_kept(u, reterr);
	if (r >= 0)
		r = look_beside(u, reterr);
	if (r >= 0)
		r = look_at_names(u, reterr);
	if (r >= 0)
		look_at_torn(u);
	return r < 0 ? r : mark_gone(u, reterr);
}
