#include "search/manifest.h"

#include <dirent.h>
#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/path.h"
#include "store/health.h"

#define DATABASE "index.db"
#define BLAME "damaged"

static const char *const steps[] = {
	"CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;"
	"CREATE TABLE source ("
	" id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE, agent TEXT NOT NULL,"
	" format INTEGER NOT NULL, session TEXT NOT NULL, subagent INTEGER NOT NULL,"
	" cwd TEXT NOT NULL, branch TEXT NOT NULL, name TEXT NOT NULL, own TEXT NOT NULL,"
	" dev INTEGER NOT NULL, ino INTEGER NOT NULL, size INTEGER NOT NULL,"
	" mtime_ns INTEGER NOT NULL, offset INTEGER NOT NULL, anchor INTEGER NOT NULL,"
	" generation INTEGER NOT NULL, gone INTEGER NOT NULL);"
	"CREATE INDEX source_session ON source (session);"
	"CREATE TABLE segment (id INTEGER PRIMARY KEY, dead BLOB NOT NULL);",
	"CREATE TABLE spilled (source INTEGER NOT NULL, path TEXT NOT NULL, size INTEGER NOT NULL,"
	" mtime_ns INTEGER NOT NULL, PRIMARY KEY (source, path)) WITHOUT ROWID;",
	"ALTER TABLE source ADD COLUMN ctime_ns INTEGER NOT NULL DEFAULT 0;",
};
static const struct schema schema = {
	.application_id = 0x66646e69, /* "fdni" */
	.version = ARRAY_LEN(steps),
	.steps = steps,
	.summed = true,
};

/* ---- rows ---- */

void index_source_release(struct index_source *s)
{
	free(s->path);
	free(s->agent);
	free(s->session);
	free(s->cwd);
	free(s->branch);
	free(s->name);
	*s = (struct index_source){ .id = 0 };
}

void source_row_release(struct source_row *row)
{
	index_source_release(&row->source);
	free(row->own);
	row->own = NULL;
}

static char *column(struct sql *q, int i)
{
	char *text = sql_dup_text(q, i);

	return text ? text : xstrdup("");
}

int manifest_sources(struct store *db, const char *where, const struct sql_value *values, size_t n,
	source_fn fn, void *data, struct err *reterr)
{
	AUTO_FREE char *text = xasprintf(
		"SELECT id, path, agent, format, session, subagent, cwd, branch, name, own, dev,"
		" ino, size, mtime_ns, offset, anchor, generation, gone, ctime_ns FROM source %s",
		where);
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare_values(&q, db, text, values, n, reterr);

	while (r >= 0 && (r = sql_step(&q, reterr)) > 0) {
		CLEANUP(source_row_release)
		struct source_row row = {
			.source = {
				.id = (uint32_t)sql_get_int(&q, 0),
				.path = column(&q, 1),
				.agent = column(&q, 2),
				.format = transcript_format_numbered(sql_get_int(&q, 3)),
				.session = column(&q, 4),
				.subagent = sql_get_int(&q, 5) != 0,
				.cwd = column(&q, 6),
				.branch = column(&q, 7),
				.name = column(&q, 8),
				.size = (uint64_t)sql_get_int(&q, 12),
				.offset = (uint64_t)sql_get_int(&q, 14),
				.gone = sql_get_int(&q, 17) != 0,
			},
			.own = column(&q, 9),
			.dev = (uint64_t)sql_get_int(&q, 10),
			.ino = (uint64_t)sql_get_int(&q, 11),
			.mtime_ns = sql_get_int(&q, 13),
			.ctime_ns = sql_get_int(&q, 18),
			.anchor = (uint64_t)sql_get_int(&q, 15),
			.generation = (uint32_t)sql_get_int(&q, 16),
		};
		if (!row.source.format)
			row.source.format = transcript_format_unknown();
		r = fn(data, &row);
		if (r != 0)
			return r;
	}
	return r;
}

int index_known(const char *dir, int (*fn)(void *data, const struct transcript_file *file),
	void *data, struct err *reterr)
{
	AUTO_FREE char *path = path_join(dir, DATABASE);
	AUTO_STORE *db = NULL;
	AUTO_SQL q = SQL_INIT;
	int r = store_open_as(&schema, path, STORE_READONLY, NULL, &db, reterr);

	if (r >= 0)
		r = sql_prepare(&q, db,
			"SELECT path, dev, ino, size, mtime_ns, subagent, ctime_ns FROM source"
			" WHERE gone = 0",
			reterr);
	while (r >= 0 && (r = sql_step(&q, reterr)) > 0) {
		const struct transcript_file file = { .path = sql_get_text(&q, 0),
			.dev = (uint64_t)sql_get_int(&q, 1),
			.ino = (uint64_t)sql_get_int(&q, 2),
			.size = (uint64_t)sql_get_int(&q, 3),
			.mtime_ns = sql_get_int(&q, 4),
			.ctime_ns = sql_get_int(&q, 6),
			.subagent = sql_get_int(&q, 5) != 0 };
		r = fn(data, &file);
		if (r != 0)
			break;
	}
	return r;
}

int manifest_save_source(struct manifest *m, const struct source_row *row, struct err *reterr)
{
	const struct index_source *s = &row->source;

	return SQL_RUN(m->db, reterr,
		"INSERT OR REPLACE INTO source (id, path, agent, format, session, subagent, cwd,"
		" branch, name, own, dev, ino, size, mtime_ns, offset, anchor, generation, gone,"
		" ctime_ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		SQL_I(s->id), SQL_T(s->path), SQL_T(s->agent),
		SQL_I(transcript_format_number(s->format)), SQL_T(s->session), SQL_I(s->subagent),
		SQL_T(s->cwd), SQL_T(s->branch), SQL_T(s->name), SQL_T(row->own), SQL_I(row->dev),
		SQL_I(row->ino), SQL_I(s->size), SQL_I(row->mtime_ns), SQL_I(s->offset),
		SQL_I(row->anchor), SQL_I(row->generation), SQL_I(s->gone), SQL_I(row->ctime_ns));
}

int manifest_save_spilled(struct manifest *m, uint32_t source, bool anew, const struct spilled *v,
	size_t n, struct err *reterr)
{
	int r = anew ? SQL_RUN(m->db, reterr, "DELETE FROM spilled WHERE source = ?", SQL_I(source))
		     : 0;

	for (size_t i = 0; i < n && r >= 0; i++)
		r = SQL_RUN(m->db, reterr,
			"INSERT OR REPLACE INTO spilled (source, path, size, mtime_ns)"
			" VALUES (?, ?, ?, ?)",
			SQL_I(source), SQL_T(v[i].path), SQL_I(v[i].size), SQL_I(v[i].mtime_ns));
	return r;
}

int manifest_move(
	struct manifest *m, uint32_t source, const char *was, const char *now, struct err *reterr)
{
	size_t tail = 0, a = strlen(was), b = strlen(now);
	int r = SQL_RUN(m->db, reterr, "UPDATE OR IGNORE source SET path = ? WHERE id = ?",
		SQL_T(now), SQL_I(source));

	if (r < 0 || sql_changes(m->db) == 0)
		return r;
	/* How the paths begin, as far as they differ, is how those beside them do. */
	while (tail < a && tail < b && was[a - tail - 1] == now[b - tail - 1])
		tail++;
	AUTO_FREE char *before = xmemdup0(was, a - tail);
	AUTO_FREE char *after = xmemdup0(now, b - tail);
	r = SQL_RUN(m->db, reterr,
		"UPDATE OR IGNORE spilled SET path = ?2 || substr(path, length(?1) + 1)"
		" WHERE source = ?3 AND substr(path, 1, length(?1)) = ?1",
		SQL_T(before), SQL_T(after), SQL_I(source));
	return r < 0 ? r : 1;
}

int manifest_mark_gone(struct manifest *m, uint32_t source, struct err *reterr)
{
	return SQL_RUN(m->db, reterr, "UPDATE source SET gone = 1 WHERE id = ?", SQL_I(source));
}

int manifest_get(struct store *db, const char *key, int64_t *ret, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = SQL_PREPARE(&q, db, reterr, "SELECT value FROM meta WHERE key = ?", SQL_T(key));

	*ret = 0;
	if (r >= 0)
		r = sql_step(&q, reterr);
	if (r > 0)
		*ret = sql_get_int(&q, 0);
	return r < 0 ? r : 0;
}

int manifest_set(struct manifest *m, const char *key, int64_t value, struct err *reterr)
{
	return SQL_RUN(m->db, reterr, "INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)",
		SQL_T(key), SQL_I(value));
}

int64_t manifest_names_mark(const struct stat *st)
{
	/* A mark may be any number: of one from the end of time the sum starts again. */
	return (int64_t)((uint64_t)file_mtime_ns(st) + (uint64_t)st->st_size);
}

int manifest_names(struct store *db, const char *agent, int64_t *ret, struct err *reterr)
{
	AUTO_FREE char *key = xasprintf("names:%s", agent);

	return manifest_get(db, key, ret, reterr);
}

int manifest_set_names(struct manifest *m, const char *agent, int64_t mark, struct err *reterr)
{
	AUTO_FREE char *key = xasprintf("names:%s", agent);

	return manifest_set(m, key, mark, reterr);
}

int64_t manifest_state(struct store *db)
{
	AUTO_SQL q = SQL_INIT;

	return sql_prepare(&q, db, "PRAGMA data_version", NULL) >= 0 && sql_step(&q, NULL) > 0
		? sql_get_int(&q, 0)
		: -1;
}

/* ---- segments ---- */

char *manifest_path(const struct manifest *m, uint32_t segment)
{
	return xasprintf("%s/%08x" SEGMENT_SUFFIX, m->dir, segment);
}

static void segment_row_release(struct segment_row *row)
{
	segment_close(row->seg);
	str_release(&row->dead);
}

static void drop_segments(struct manifest *m)
{
	vec_each (&m->segments, row)
		segment_row_release(row);
	m->segments.n = 0;
}

void segment_row_kill(struct segment_row *row, uint32_t run)
{
	while (row->dead.len <= run / 8)
		str_addc(&row->dead, 0);
	row->dead.buf[run / 8] = (char)((unsigned char)row->dead.buf[run / 8] | 1u << run % 8);
	row->changed = true;
	segment_set_dead(row->seg, str_sv(&row->dead));
}

static int forget_one(struct manifest *m, uint32_t source, struct err *reterr)
{
	vec_each (&m->segments, row)
		for (uint32_t i = 0; i < segment_runs(row->seg); i++)
			if (segment_run_at(row->seg, i)->source == source)
				segment_row_kill(row, i);
	int r = SQL_RUN(m->db, reterr, "DELETE FROM source WHERE id = ?", SQL_I(source));
	return r < 0 ? r : manifest_save_spilled(m, source, true, NULL, 0, reterr);
}

int manifest_save_dead(struct manifest *m, struct err *reterr)
{
	int r = 0;

	vec_each (&m->segments, row) {
		AUTO_SQL q = SQL_INIT;
		if (r < 0 || !row->changed)
			continue;
		r = sql_prepare(&q, m->db, "UPDATE segment SET dead = ? WHERE id = ?", reterr);
		if (r < 0)
			return r;
		sql_blob(&q, str_sv(&row->dead));
		sql_int(&q, row->id);
		r = sql_run(&q, reterr);
		row->changed = false;
	}
	return r;
}

int manifest_forget(struct manifest *m, const uint32_t *sources, size_t n, struct err *reterr)
{
	int r = n > 0 ? manifest_begin(m, reterr) : 0;

	if (r < 0 || n == 0)
		return r;
	for (size_t i = 0; r >= 0 && i < n; i++)
		r = forget_one(m, sources[i], reterr);
	if (r >= 0)
		r = manifest_save_dead(m, reterr);
	return manifest_end(m, r, reterr);
}

static int open_segment(struct manifest *m, uint32_t id, struct sv dead, struct err *reterr)
{
	AUTO_FREE char *path = manifest_path(m, id);
	struct segment_row row = { .id = id, .dead = STR_INIT };
	int r = segment_open(path, &row.seg, reterr);

	if (r < 0)
		return r;
	str_add(&row.dead, dead);
	if (dead.n)
		segment_set_dead(row.seg, dead);
	vec_push(&m->segments, row);
	return 0;
}

int manifest_add_segment(struct manifest *m, uint32_t id, struct err *reterr)
{
	int r = SQL_RUN(m->db, reterr, "INSERT INTO segment (id, dead) VALUES (?, x'')", SQL_I(id));

	/* No number comes twice: who reads an older state must not find another segment by it. */
	if (r >= 0)
		r = manifest_set(m, "segment", m->next_segment - 1, reterr);
	return r < 0 ? r : open_segment(m, id, SV(""), reterr);
}

static int load_segments(struct manifest *m, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, m->db, "SELECT id, dead FROM segment ORDER BY id", reterr);

	drop_segments(m);
	while (r >= 0 && (r = sql_step(&q, reterr)) > 0)
		r = open_segment(m, (uint32_t)sql_get_int(&q, 0), sql_get_blob(&q, 1), reterr);
	return r;
}

/* ---- opening ---- */

void manifest_release(struct manifest *m)
{
	drop_segments(m);
	vec_release(&m->segments);
	store_close(m->db);
	m->db = NULL;
	if (m->lock >= 0)
		(void)close(m->lock);
	m->lock = -1;
	free(m->dir);
	m->dir = NULL;
}

int manifest_begin(struct manifest *m, struct err *reterr)
{
	return store_begin(m->db, reterr);
}

int manifest_end(struct manifest *m, int result, struct err *reterr)
{
	return store_end(m->db, result, reterr);
}

/* The byte that says that there are sums may be what has flipped. */
static int check_summed(const struct manifest *m, struct err *reterr)
{
	return store_is_summed(m->db)
		? 0
		: err_set(reterr, SEGMENT_DAMAGED,
			  "index %s: damaged (" DATABASE " has no check sums any more)", m->dir);
}

static int check_version(struct manifest *m, struct err *reterr)
{
	int64_t version;
	int r = manifest_get(m->db, "version", &version, reterr);

	if (r >= 0 && version != INDEX_VERSION)
		r = err_set(reterr, ERR_NOTFOUND, "index %s: not made yet by this version of faden",
			m->dir);
	return r < 0 ? r : check_summed(m, reterr);
}

/* A database that cannot be opened is damaged only when it is: a full disk is no reason to throw it
 * away. */
static bool database_is_bad(struct manifest *m, int r)
{
	AUTO_FREE char *path = path_join(m->dir, DATABASE);
	AUTO_STR words = STR_INIT;

	if (r != ERR_STORE)
		return false;
	store_close(m->db);
	m->db = NULL;
	enum store_health health = store_try(path, &words);
	return health == STORE_DAMAGED || health == STORE_EMPTY;
}

bool index_is_bad(const char *dir, struct err *ret_why)
{
	AUTO_FREE char *path = path_join(dir, DATABASE);
	AUTO_STR words = STR_INIT;
	enum store_health health = store_try(path, &words);
	bool bad = health == STORE_DAMAGED || health == STORE_EMPTY;

	if (bad)
		(void)err_set(ret_why, SEGMENT_DAMAGED,
			"index %s: damaged (" DATABASE " cannot be read)", dir);
	return bad;
}

/* What a reader found damaged. */
static bool read_blame(const struct manifest *m, struct str *out)
{
	AUTO_FREE char *path = path_join(m->dir, BLAME);

	return file_read(path, ERR_MSG_MAX, out, NULL) >= 0;
}

int manifest_read(struct manifest *m, const char *dir, struct err *reterr)
{
	enum { TRIES = 20 };
	AUTO_FREE char *path = path_join(dir, DATABASE);
	AUTO_STR blame = STR_INIT;
	int r = -ENOENT;

	m->dir = xstrdup(dir);
	if (!path_exists(path))
		return err_set(reterr, ERR_NOTFOUND, "there is no index yet in %s", dir);
	if (read_blame(m, &blame))
		return err_set(reterr, SEGMENT_DAMAGED, "%s", blame.buf);
	r = store_open_as(&schema, path, STORE_READONLY, NULL, &m->db, reterr);
	/* Whoever makes it may have died in the middle of it, which only a writer can mend. */
	if (r == ERR_STORE)
		r = store_open_as(&schema, path, 0, NULL, &m->db, reterr);
	if (r >= 0)
		r = check_version(m, reterr);
	/* Before the segments are: what was compared until then, they have. */
	if (r >= 0)
		r = manifest_get(m->db, "checked_ms", &m->checked_ms, reterr);
	if (r < 0)
		return r == ERR_NEWER ? ERR_NOTFOUND : database_is_bad(m, r) ? SEGMENT_DAMAGED : r;
	/* A segment that was merged away between the two looks is not missing: look again. */
	r = -ENOENT;
	for (int i = 0; i < TRIES && r == -ENOENT; i++) {
		m->state = manifest_state(m->db);
		r = load_segments(m, reterr);
	}
	if (r == -ENOENT)
		r = err_set(
			reterr, SEGMENT_DAMAGED, "index %s: damaged (a segment is missing)", dir);
	return r;
}

/* Everything of the folder that is of the index; with `keep`, but not its segments and database. */
static int clean_folder(struct manifest *m, bool keep, struct err *reterr)
{
	DIR *dir = opendir(m->dir);
	const struct dirent *entry;

	if (!dir)
		return err_errno(reterr, errno, "folder %s", m->dir);
	while ((entry = readdir(dir))) {
		struct sv name = sv_of(entry->d_name);
		bool remove =
			sv_starts(name, SV(".faden-")) || (!keep && sv_starts(name, SV(DATABASE)));
		if (sv_ends(name, SV(SEGMENT_SUFFIX))) {
			uint32_t id = (uint32_t)strtoul(entry->d_name, NULL, 16);
			remove = true;
			vec_each (&m->segments, row)
				remove = remove && !(keep && row->id == id);
		}
		if (remove)
			(void)unlinkat(dirfd(dir), entry->d_name, 0);
	}
	(void)closedir(dir);
	return 0;
}

static int next_id(struct manifest *m, const char *query, uint32_t *ret, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, m->db, query, reterr);

	if (r >= 0)
		r = sql_step(&q, reterr);
	if (r > 0)
		*ret = (uint32_t)sql_get_int(&q, 0) + 1;
	return r < 0 ? r : 0;
}

static int open_database(struct manifest *m, struct err *reterr)
{
	AUTO_FREE char *path = path_join(m->dir, DATABASE);
	int r = store_open_as(&schema, path, 0, NULL, &m->db, reterr);

	/* What is lost with the power is read again: nobody waits for the disk. */
	return r < 0 ? r : sql_exec(m->db, "PRAGMA synchronous = NORMAL", reterr);
}

/* As new. A database that works is emptied instead of removed: whoever reads has it open. One
 * without check sums, as older versions made it, would stay so. */
static int make_anew(struct manifest *m, struct err *reterr)
{
	int r = m->db && store_is_summed(m->db) ? store_begin(m->db, NULL) : ERR_STORE;

	drop_segments(m);
	if (r >= 0) {
		r = sql_exec(m->db,
			"DELETE FROM source; DELETE FROM spilled; DELETE FROM segment; DELETE FROM "
			"meta WHERE key <> "
			"'segment'",
			NULL);
		if (r >= 0)
			r = manifest_set(m, "version", INDEX_VERSION, NULL);
		r = store_end(m->db, r, NULL);
	}
	if (r >= 0)
		return clean_folder(m, true, reterr);
	store_close(m->db);
	m->db = NULL;
	r = clean_folder(m, false, reterr);
	if (r >= 0)
		r = open_database(m, reterr);
	return r < 0 ? r : manifest_set(m, "version", INDEX_VERSION, reterr);
}

/* Whether what is there can be gone on with; if not, why. */
static int look(
	struct manifest *m, enum index_anew *ret, char *why, size_t why_n, struct err *reterr)
{
	AUTO_STR said = STR_INIT;
	struct err err = ERR_INIT;
	int64_t version = 0;
	int r = open_database(m, &err);

	*ret = INDEX_KEPT;
	if (r >= 0)
		r = manifest_get(m->db, "version", &version, &err);
	if (r == ERR_NEWER || (r >= 0 && version != INDEX_VERSION)) {
		*ret = version == 0 && r >= 0 ? INDEX_NEW : INDEX_OTHER_VERSION;
		return 0;
	}
	bool bad = r < 0 && database_is_bad(m, r);
	if (r >= 0) {
		r = check_summed(m, &err);
		if (r >= 0)
			r = load_segments(m, &err);
		if (r >= 0 && read_blame(m, &said)) {
			/* One that is damaged itself would stay so when it is emptied. */
			if (!database_is_bad(m, ERR_STORE) && open_database(m, NULL) < 0)
				m->db = NULL;
			r = err_set(&err, SEGMENT_DAMAGED, "%s", said.buf);
		}
		bad = r == SEGMENT_DAMAGED || r == -ENOENT || (r < 0 && database_is_bad(m, r));
	}
	if (bad) {
		*ret = INDEX_WAS_DAMAGED;
		if (r != SEGMENT_DAMAGED)
			(void)err_set(&err, SEGMENT_DAMAGED, "index %s: damaged (%s)", m->dir,
				r == -ENOENT ? "a segment is missing" : DATABASE " cannot be read");
		(void)snprintf(why, why_n, "%.*s", (int)why_n - 1, err.msg);
		return 0;
	}
	if (r < 0 && reterr)
		*reterr = err;
	return r;
}

int manifest_write(struct manifest *m, const char *dir, const struct lock_wait *wait,
	enum index_anew *ret_anew, char *why, size_t why_n, struct err *reterr)
{
	AUTO_FREE char *lock = path_join(dir, "lock");
	AUTO_FREE char *blame = path_join(dir, BLAME);
	int r = file_mkdirs(dir, reterr);

	m->dir = xstrdup(dir);
	if (r >= 0)
		r = file_lock(lock, wait, &m->lock, reterr);
	if (r < 0)
		return r;
	enum index_anew anew;
	r = look(m, &anew, why, why_n, reterr);
	if (r < 0)
		return r;
	r = anew == INDEX_KEPT ? clean_folder(m, true, reterr) : make_anew(m, reterr);
	if (r >= 0)
		(void)unlink(blame);
	if (r >= 0)
		r = next_id(m, "SELECT IFNULL((SELECT value FROM meta WHERE key = 'segment'), 0)",
			&m->next_segment, reterr);
	if (r >= 0)
		r = next_id(m, "SELECT IFNULL(MAX(id), 0) FROM source", &m->next_source, reterr);
	if (r >= 0)
		*ret_anew = anew;
	return r;
}

void index_blame(const char *dir, const struct err *why)
{
	AUTO_FREE char *path = path_join(dir, BLAME);

	/* The first word of it will do. Where this cannot be written no index can be made anew
	 * either. */
	if (path_exists(path) || file_append(path, sv_of(why->msg), false, NULL) < 0)
		return;
}

/* ---- merging ---- */

enum {
	MERGE_FAN = 8, /* so many of about one size become one */
	DEAD_SHARE = 5, /* or when a fifth of the documents is dead */
	SMALLEST = 64 * 1024, /* bytes that are not told apart */
};
#define MERGE_MAX (UINT64_C(1) << 30) /* bytes of segments that are not merged further */

static unsigned size_class(const struct segment_row *row)
{
	unsigned class = 0;

	for (uint64_t n = segment_size(row->seg) / SMALLEST; n > 0; n /= MERGE_FAN)
		class ++;
	return class;
}

static uint64_t dead_docs(const struct segment_row *row)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < segment_runs(row->seg); i++)
		if (segment_dead(row->seg, i))
			n += segment_run_at(row->seg, i)->n_docs;
	return n;
}

/* Makes one of those that are chosen (a byte each), and lets go of them. */
static int merge_chosen(struct manifest *m, const bool *chosen, struct err *reterr)
{
	AUTO_FREE struct segment **segs = xcalloc(m->segments.n + 1, sizeof(*segs));
	uint32_t id = m->next_segment++, docs = 0;
	AUTO_FREE char *path = manifest_path(m, id);
	size_t n = 0, left = 0;

	for (size_t i = 0; i < m->segments.n; i++)
		if (chosen[i])
			segs[n++] = m->segments.v[i].seg;
	int r = segment_merge(segs, n, path, &docs, reterr);
	size_t had = m->segments.n;
	if (r >= 0)
		r = manifest_begin(m, reterr);
	if (r < 0)
		return r;
	for (size_t i = 0; r >= 0 && i < had; i++)
		if (chosen[i])
			r = SQL_RUN(m->db, reterr, "DELETE FROM segment WHERE id = ?",
				SQL_I(m->segments.v[i].id));
	if (r >= 0 && docs > 0)
		r = manifest_add_segment(m, id, reterr);
	r = manifest_end(m, r, reterr);
	if (r < 0) {
		(void)unlink(path);
		return r;
	}
	for (size_t i = 0; i < m->segments.n; i++) {
		if (i >= had || !chosen[i]) {
			m->segments.v[left++] = m->segments.v[i];
			continue;
		}
		AUTO_FREE char *old = manifest_path(m, m->segments.v[i].id);
		segment_row_release(&m->segments.v[i]);
		(void)unlink(old);
	}
	m->segments.n = left;
	return 0;
}

/* A class of sizes with enough segments, else one with too many dead. */
static bool choose(const struct manifest *m, uint64_t most, bool *chosen)
{
	for (unsigned class = 0; class < 64; class ++) {
		size_t n = 0;
		uint64_t bytes = 0;
		for (size_t i = 0; i < m->segments.n; i++) {
			uint64_t size = segment_size(m->segments.v[i].seg);
			chosen[i] = size_class(&m->segments.v[i]) == class &&
				bytes + size <= (most ? most : MERGE_MAX);
			n += chosen[i];
			bytes += chosen[i] ? size : 0;
		}
		if (n >= MERGE_FAN)
			return true;
	}
	memset(chosen, 0, m->segments.n * sizeof(*chosen));
	for (size_t i = 0; i < m->segments.n; i++) {
		const struct segment_row *row = &m->segments.v[i];
		chosen[i] = (!most || segment_size(row->seg) <= most) &&
			dead_docs(row) * DEAD_SHARE > segment_docs(row->seg);
		if (chosen[i])
			return true;
	}
	return false;
}

int manifest_merge(struct manifest *m, uint64_t most, struct err *reterr)
{
	int r = 0;

	while (r >= 0) {
		AUTO_FREE bool *chosen = xcalloc(m->segments.n + 1, sizeof(*chosen));
		if (!choose(m, most, chosen))
			break;
		r = merge_chosen(m, chosen, reterr);
	}
	return r;
}

int manifest_purge(struct manifest *m, struct err *reterr)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < m->segments.n; i++) {
		AUTO_FREE bool *chosen = xcalloc(m->segments.n + 1, sizeof(*chosen));
		chosen[i] = dead_docs(&m->segments.v[i]) > 0;
		if (chosen[i]) {
			r = merge_chosen(m, chosen, reterr);
			i = (size_t)-1; /* from the start: they have moved */
		}
	}
	return r;
}
