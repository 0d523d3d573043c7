#include "store/catalogue.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/path.h"
#include "os/unpack.h"
#include "store/catalogue-row.h"
#include "store/journal.h"

enum { PLACES_MAX = 200 }; /* of a project that are asked about */

/* ---- rows ---- */

void session_row_release(struct session_row *row)
{
	session_info_release(&row->info);
	free(row->agent);
	free(row->own_name);
	*row = (struct session_row)SESSION_ROW_INIT;
}

const char *session_row_name(const struct session_row *row)
{
	return row->own_name[0] ? row->own_name : row->info.name;
}

const char *session_title(const struct session_row *row)
{
	const char *name = session_row_name(row);

	return name[0] ? name : row->info.prompt[0] ? row->info.prompt : row->info.id;
}

void row_init(struct session_row *row, const struct transcript_home *home, const char *path)
{
	*row = (struct session_row){ .agent = xstrdup(home->agent), .own_name = xstrdup("") };
	session_info_init(&row->info, home->format, path);
}

/* Both orders are those of ROW_SELECT. */

void row_load(struct sql *q, struct session_row *row)
{
	struct session_info *info = &row->info;
	char **texts[] = { &info->name, &info->cwd, &info->branch, &info->model, &info->root,
		&info->parent_id, &info->parent_path, &info->prompt };
	int c = 0;

	*row = (struct session_row)SESSION_ROW_INIT;
	info->path = sql_dup_text(q, c++);
	row->agent = sql_dup_text(q, c++);
	info->id = sql_dup_text(q, c++);
	info->mark.offset = (uint64_t)sql_get_int(q, c++);
	info->mark.anchor = (uint64_t)sql_get_int(q, c++);
	info->mark.tail = (uint32_t)sql_get_int(q, c++);
	info->mark.flags = (uint32_t)sql_get_int(q, c++);
	info->format = transcript_format_numbered(sql_get_int(q, c++));
	info->flags = (uint32_t)sql_get_int(q, c++);
	int64_t relation = sql_get_int(q, c++);
	info->turns = sql_get_int(q, c++);
	info->first_ms = sql_get_int(q, c++);
	info->last_ms = sql_get_int(q, c++);
	row->active_ms = sql_get_int(q, c++);
	info->window = sql_get_int(q, c++);
	info->usage.input = sql_get_int(q, c++);
	info->usage.cache_read = sql_get_int(q, c++);
	info->usage.cache_write = sql_get_int(q, c++);
	info->usage.output = sql_get_int(q, c++);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		*texts[i] = sql_dup_text(q, c++);
	info->size = sql_get_int(q, c++);
	row->gone = sql_get_int(q, c++) != 0;
	row->own_name = sql_dup_text(q, c);
	/* What a later faden may have written. */
	if (!info->format)
		info->format = transcript_format_unknown();
	if (relation >= 0 && relation < SESSION_RELATIONS)
		info->relation = (enum session_relation)relation;
}

int row_save_prepare(struct sql *save, struct store *store, struct err *reterr)
{
	return sql_prepare(save, store,
		"INSERT OR REPLACE INTO session (path, agent, id, offset, anchor, tail_turns,"
		" mark_flags, format, flags, relation, turns, first_ms, last_ms, active_ms,"
		" context_window, tokens_in, tokens_cache_read, tokens_cache_write, tokens_out,"
		" name, cwd, branch, model, root, parent_id, parent_path, prompt, size, gone, dev,"
		" ino, mtime_ns, ctime_ns) VALUES "
		"(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,"
		"?,?,?,?,?)",
		reterr);
}

int row_save(struct sql *save, const struct session_row *row, const struct file_stat *stat,
	struct err *reterr)
{
	const struct session_info *info = &row->info;
	const int64_t numbers[] = { (int64_t)info->mark.offset, (int64_t)info->mark.anchor,
		info->mark.tail, info->mark.flags, transcript_format_number(info->format),
		info->flags, info->relation, info->turns, info->first_ms, info->last_ms,
		row->active_ms, info->window, info->usage.input, info->usage.cache_read,
		info->usage.cache_write, info->usage.output };
	const char *const texts[] = { info->name, info->cwd, info->branch, info->model, info->root,
		info->parent_id, info->parent_path, info->prompt };
	const int64_t last[] = { (int64_t)stat->size, row->gone, (int64_t)stat->dev,
		(int64_t)stat->ino, stat->mtime_ns, stat->ctime_ns };

	sql_reset(save);
	sql_text(save, info->path);
	sql_text(save, row->agent);
	sql_text(save, info->id);
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		sql_int(save, numbers[i]);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		sql_text(save, texts[i]);
	for (size_t i = 0; i < ARRAY_LEN(last); i++)
		sql_int(save, last[i]);
	return sql_run(save, reterr);
}

int row_scan(struct session_row *row, bool subagent, struct file_stat *ret_stat, struct err *reterr)
{
	struct stat st;
	const char *path = row->info.path;
	struct stat plain;
	AUTO_CLOSE int fd = unpack_open(path, &st, reterr);

	if (fd < 0)
		return fd;
	if (fstat(fd, &plain) < 0)
		return err_errno(reterr, errno, "stat %s", path);
	/* What was blanked is gone, and known as it was. */
	if (row->info.turns > 0 && (plain.st_size == 0 || transcript_is_silent(path)))
		return err_set(reterr, ERR_NOTFOUND, "%s has nothing any more", path);
	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	int r = transcript_scan(fd, (uint64_t)plain.st_size, &row->info, reterr);
	if (r < 0) {
		err_prefix(reterr, "%s", path);
		return r;
	}
	if (subagent) {
		struct sv id = transcript_subagent_of(row->info.format, sv_of(path));
		row->info.flags |= SESSION_SUBAGENT;
		if (!row->info.parent_id[0] && id.n > 0) {
			free(row->info.parent_id);
			row->info.parent_id = xmemdup0(id.p, id.n);
		}
	}
	*ret_stat = (struct file_stat){
		.dev = st.st_dev,
		.ino = st.st_ino,
		.size = (uint64_t)st.st_size,
		.mtime_ns = file_mtime_ns(&st),
		.ctime_ns = file_ctime_ns(&st),
	};
	row->gone = false;
	row->active_ms = row->info.last_ms > 0 ? row->info.last_ms : ret_stat->mtime_ns / 1000000;
	return 0;
}

/* ---- one file ---- */

int catalogue_by_path(
	struct store *store, const char *path, struct session_row *ret, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, store, ROW_SELECT "WHERE s.path = ?", reterr);

	if (r < 0)
		return r;
	sql_text(&q, path);
	r = sql_step(&q, reterr);
	if (r < 0)
		return r;
	if (r == 0)
		return err_set(reterr, ERR_NOTFOUND, "%s: not in the catalogue", path);
	row_load(&q, ret);
	return 0;
}

/* As the agent keeps it beside its sessions. */
static void take_name(struct session_row *row, const struct transcript_home *home)
{
	AUTO_MAP ids = MAP_INIT;
	AUTO_STRV names = STRV_INIT;
	uint64_t at;

	if (transcript_names(home, &ids, &names, NULL) < 0 ||
		!map_get(&ids, sv_of(row->info.id), &at))
		return;
	free(row->info.name);
	row->info.name = xstrdup(names.v[at]);
}

int catalogue_take(struct store *store, const struct transcript_home *home, const char *path,
	struct session_row *ret, struct err *reterr)
{
	struct file_stat stat;
	AUTO_SQL save = SQL_INIT;
	AUTO_SESSION_ROW row = SESSION_ROW_INIT;
	int r = catalogue_by_path(store, path, &row, NULL);

	if (r == ERR_NOTFOUND)
		row_init(&row, home, path);
	else if (r < 0)
		return err_set(reterr, r, "store: cannot be read");
	bool subagent = row.info.flags & SESSION_SUBAGENT ||
		transcript_subagent_of(home->format, sv_of(path)).n > 0;
	bool known = r >= 0;
	r = row_scan(&row, subagent, &stat, reterr);
	/* Later changes of that file are taken when all is brought up to date. */
	if (r >= 0 && !known)
		take_name(&row, home);
	if (r >= 0)
		r = row_save_prepare(&save, store, reterr);
	if (r >= 0)
		r = row_save(&save, &row, &stat, reterr);
	/* While its folder is there: who comes after a move cannot tell what it was. */
	if (r >= 0 && row.info.cwd[0])
		r = project_note_first(store, row.info.cwd, reterr);
	if (r < 0)
		return r;
	*ret = row;
	row = (struct session_row)SESSION_ROW_INIT;
	return 0;
}

int catalogue_take_gone(struct store *store, const struct transcript_home *home, const char *path,
	int copy, struct session_row *ret, struct err *reterr)
{
	struct sv parent = transcript_subagent_of(home->format, sv_of(path));
	struct file_stat stat = { .dev = 0 };
	AUTO_SQL save = SQL_INIT;
	AUTO_SESSION_ROW row = SESSION_ROW_INIT;
	struct stat st;

	if (fstat(copy, &st) < 0)
		return err_errno(reterr, errno, "stat the copy of %s", path);
	row_init(&row, home, path);
	int r = transcript_scan(copy, (uint64_t)st.st_size, &row.info, reterr);
	if (r < 0)
		return r;
	if (parent.n > 0) {
		row.info.flags |= SESSION_SUBAGENT;
		free(row.info.parent_id);
		row.info.parent_id = xmemdup0(parent.p, parent.n);
	}
	take_name(&row, home);
	stat.size = (uint64_t)st.st_size;
	row.gone = true;
	row.active_ms = row.info.last_ms;
	r = row_save_prepare(&save, store, reterr);
	if (r >= 0)
		r = row_save(&save, &row, &stat, reterr);
	if (r < 0)
		return r;
	*ret = row;
	row = (struct session_row)SESSION_ROW_INIT;
	return 0;
}

/* ---- questions ---- */

char *like_pattern(const char *text, bool at_start)
{
	AUTO_STR out = STR_INIT;

	if (strlen(text) > LIKE_TEXT_MAX)
		return NULL;
	if (!at_start)
		str_addc(&out, '%');
	for (const char *p = text; *p; p++) {
		if (*p == '%' || *p == '_' || *p == '\\')
			str_addc(&out, '\\');
		str_addc(&out, *p);
	}
	str_addc(&out, '%');
	return str_detach(&out);
}

static int give_rows(struct sql *q, catalogue_fn fn, void *data, struct err *reterr)
{
	int r;

	while ((r = sql_step(q, reterr)) > 0) {
		AUTO_SESSION_ROW row = SESSION_ROW_INIT;
		row_load(q, &row);
		r = fn(data, &row);
		if (r != 0)
			return r;
	}
	return r;
}

/* Begun in dir, or below it. */
static void add_folder(
	const struct catalogue_query *c, const char *dir, struct str *text, struct strv *bound)
{
	AUTO_FREE char *slash = xasprintf("%s/", strcmp(dir, "/") == 0 ? "" : dir);

	str_adds(text, c->below ? "(s.cwd = ? OR s.cwd LIKE ? ESCAPE '\\')" : "s.cwd = ?");
	strv_add(bound, dir);
	if (c->below)
		strv_take(bound, like_pattern(slash, true));
}

static void add_where(const struct catalogue_query *c, struct str *text, struct strv *bound)
{
	static const char *const before[] = {
		[CATALOGUE_HERE] = " AND (",
		[CATALOGUE_KIN] = " AND NOT (",
		[CATALOGUE_ELSEWHERE] = " AND NOT (",
		[CATALOGUE_PROJECT] = " AND (",
	};

	str_adds(text, before[c->where]);
	add_folder(c, c->dir, text, bound);
	if (c->where == CATALOGUE_KIN)
		str_adds(text, ") AND (0");
	size_t n = c->project && c->where != CATALOGUE_HERE ? c->project->places.n : 0;
	for (size_t i = 0; i < n && i < PLACES_MAX; i++) {
		const struct project_place *place = &c->project->places.v[i];
		str_addf(text, " OR s.first_ms >= %lld AND s.first_ms < %lld AND ",
			(long long)place->since_ms, (long long)place->until_ms);
		add_folder(c, place->dir, text, bound);
	}
	str_adds(text, ")");
}

int catalogue_query(struct store *store, const struct catalogue_query *query, catalogue_fn fn,
	void *data, struct err *reterr)
{
	static const char *const orders[] = {
		[CATALOGUE_RECENT] = "s.active_ms DESC",
		[CATALOGUE_SIZE] = "s.size DESC",
		[CATALOGUE_TURNS] = "s.turns DESC",
		[CATALOGUE_NAME] = ("IFNULL(n.name, s.name) = '', IFNULL(n.name, s.name)"
				    " COLLATE NOCASE, s.active_ms DESC"),
	};
	const struct catalogue_query *c = query;
	AUTO_STR text = STR_INIT;
	AUTO_STRV bound = STRV_INIT; /* what goes into its places, in this order */
	AUTO_SQL q = SQL_INIT;

	str_adds(&text, ROW_SELECT "WHERE 1");
	if (!c->gone)
		str_adds(&text, " AND s.gone = 0");
	if (!c->subagents)
		str_addf(&text, " AND s.flags & %u = 0",
			(unsigned)(SESSION_SUBAGENT | SESSION_HELPER));
	if (!c->empty)
		str_adds(&text, " AND s.turns > 0");
	if (c->dir)
		add_where(c, &text, &bound);
	if (c->agent) {
		str_adds(&text, " AND s.agent = ?");
		strv_add(&bound, c->agent);
	}
	if (c->id) {
		str_adds(&text, " AND s.id = ?");
		strv_add(&bound, c->id);
	}
	if (c->root) {
		str_adds(&text, " AND s.root = ?");
		strv_add(&bound, c->root);
	}
	if (c->since_ms)
		str_addf(&text, " AND s.active_ms >= %lld", (long long)c->since_ms);
	if (c->text) {
		str_adds(&text,
			" AND (IFNULL(n.name, s.name) LIKE ? ESCAPE '\\' OR"
			" s.prompt LIKE ? ESCAPE '\\' OR s.id LIKE ? ESCAPE '\\')");
		for (int i = 0; i < 3; i++)
			strv_take(&bound, like_pattern(c->text, false));
	}
	str_addf(&text, " ORDER BY %s, s.path", orders[c->order]);
	if (c->limit > 0)
		str_addf(&text, " LIMIT %lld", (long long)c->limit);
	int r = sql_prepare(&q, store, text.buf, reterr);
	if (r < 0)
		return r;
	for (size_t i = 0; i < bound.n; i++)
		sql_text(&q, bound.v[i]);
	return give_rows(&q, fn, data, reterr);
}

static int give_paths(struct sql *q, struct strv *paths, struct err *reterr)
{
	int r;

	while ((r = sql_step(q, reterr)) > 0)
		strv_add(paths, sql_get_text(q, 0));
	return r;
}

int catalogue_recent(struct store *store, int (*fn)(void *data, const char *path), void *data,
	struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, store,
		"SELECT path FROM session WHERE gone = 0 ORDER BY active_ms DESC", reterr);

	while (r >= 0 && (r = sql_step(&q, reterr)) > 0)
		if ((r = fn(data, sql_get_text(&q, 0))) != 0)
			break;
	return r;
}

int catalogue_changed(struct store *store, int64_t since_ns, struct strv *paths, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = SQL_PREPARE(&q, store, reterr,
		"SELECT path FROM session WHERE (mtime_ns >= ?1 OR ctime_ns >= ?1) AND gone = 0",
		SQL_I(since_ns));

	return r < 0 ? r : give_paths(&q, paths, reterr);
}

int catalogue_children(struct store *store, const struct session_info *parent, catalogue_fn fn,
	void *data, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, store,
		ROW_SELECT "WHERE s.path <> ?1 AND (s.parent_path = ?1 AND ?1 <> '' OR"
			   " s.parent_id = ?2 AND s.parent_id <> '') ORDER BY s.first_ms, s.path",
		reterr);

	if (r < 0)
		return r;
	sql_text(&q, parent->path);
	sql_text(&q, parent->id);
	return give_rows(&q, fn, data, reterr);
}

/* What goes on in the place of its parent. */
#define DESCENDS "relation IN (1, 2, 5, 6, 7)"

#define UNCLAIMED                                                                            \
	"s.gone = 0 AND s.turns > 0 AND s.flags & 11 = 0"                                    \
	" AND NOT EXISTS (SELECT 1 FROM agent_session a WHERE a.agent = s.agent AND"         \
	" a.id = s.id)"                                                                      \
	" AND NOT EXISTS (SELECT 1 FROM session k WHERE k.parent_id = s.id AND"              \
	" k.parent_id <> '' AND k.gone = 0 AND k.flags & 9 = 0 AND k." DESCENDS              \
	" AND k.active_ms >= s.active_ms)"                                                   \
	" AND NOT EXISTS (SELECT 1 FROM agent_session a JOIN session p ON p.id = a.id WHERE" \
	" s." DESCENDS " AND a.agent = s.agent AND a.id = s.parent_id AND"                   \
	" p.active_ms >= s.active_ms)"
_Static_assert((SESSION_SUBAGENT | SESSION_HELPER) == 9 && SESSION_EXEC == 2 &&
		SESSION_TRIMMED == 1 && SESSION_CONTINUED == 2 && SESSION_REPAIRED == 5 &&
		SESSION_SMART_TRIMMED == 6 && SESSION_MOVED == 7,
	"UNCLAIMED and DESCENDS name flags and relations by value");

int catalogue_unclaimed(struct store *store, const struct catalogue_unclaimed *query,
	catalogue_fn fn, void *data, struct err *reterr)
{
	/* Folders below one can be those of every session: only the newest of all are looked at. */
	const char *text = query->dir ? ROW_SELECT "WHERE s.cwd = ?1 AND " UNCLAIMED
						   " ORDER BY s.active_ms DESC LIMIT ?2"
		: query->below ? ROW_SELECT
		"WHERE s.rowid IN (SELECT rowid FROM session ORDER BY active_ms DESC LIMIT 300)"
		" AND (s.cwd = ?1 OR s.cwd > ?1 || '/' AND s.cwd < ?1 || '0') AND " UNCLAIMED
		" ORDER BY s.active_ms DESC LIMIT ?2"
			       : ROW_SELECT "WHERE s.name <> '' AND"
					    " instr(lower(?1), lower(s.name)) AND " UNCLAIMED
					    " ORDER BY s.active_ms DESC LIMIT ?2";
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, store, text, reterr);

	if (r < 0)
		return r;
	sql_text(&q, query->dir ? query->dir : query->below ? query->below : query->text);
	sql_int(&q, query->limit);
	return give_rows(&q, fn, data, reterr);
}

/* Where the line of copies that it is of begins, and how many lie between. */
static char *line_of(struct store *store, const char *id, int64_t *ret_depth)
{
	AUTO_SQL q = SQL_INIT;
	int r = SQL_PREPARE(&q, store, NULL,
		"WITH RECURSIVE up(id, n) AS (SELECT ?1, 0 UNION ALL SELECT s.parent_id, n + 1"
		" FROM up JOIN session s ON s.id = up.id WHERE s.parent_id <> ''"
		" AND s.parent_id <> s.id AND s." DESCENDS " AND n < 100)"
		" SELECT id, n FROM up ORDER BY n DESC LIMIT 1",
		SQL_T(id));

	*ret_depth = 0;
	if (r < 0 || sql_step(&q, NULL) <= 0)
		return xstrdup(id);
	*ret_depth = sql_get_int(&q, 1);
	return sql_dup_text(&q, 0);
}

int catalogue_thread(struct store *store, struct catalogue_used a, struct catalogue_used b)
{
	int64_t deep_a, deep_b;
	AUTO_FREE char *line_a = line_of(store, a.id, &deep_a);
	AUTO_FREE char *line_b = line_of(store, b.id, &deep_b);

	if (strcmp(line_a, line_b) != 0 || strcmp(a.id, b.id) == 0)
		return 0;
	if (a.active_ms != b.active_ms)
		return a.active_ms > b.active_ms ? 1 : -1;
	return deep_a > deep_b ? 1 : -1;
}

bool catalogue_superseded(struct store *store, const char *agent, const char *id)
{
	AUTO_SQL q = SQL_INIT;

	return SQL_PREPARE(&q, store, NULL,
		       "SELECT 1 FROM session k JOIN session p ON p.id = k.parent_id"
		       " JOIN agent_session a ON a.agent = k.agent AND a.id = k.id"
		       " WHERE p.agent = ?1 AND k.parent_id = ?2 AND k.parent_id <> ''"
		       " AND k." DESCENDS " AND NOT k.gone"
		       " AND k.active_ms >= p.active_ms LIMIT 1",
		       SQL_T(agent), SQL_T(id)) == 0 &&
		sql_step(&q, NULL) > 0;
}

int catalogue_ancestors(struct store *store, const char *id, struct strv *out, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = SQL_PREPARE(&q, store, reterr,
		"WITH RECURSIVE up(id, n) AS (SELECT ?1, 0 UNION ALL SELECT s.parent_id, n + 1"
		" FROM up JOIN session s ON s.id = up.id WHERE s.parent_id <> ''"
		" AND s.parent_id <> s.id AND n < 100)"
		" SELECT DISTINCT id FROM up WHERE n > 0 AND id <> ?1",
		SQL_T(id));

	while (r >= 0 && (r = sql_step(&q, reterr)) > 0)
		strv_add(out, sql_get_text(&q, 0));
	return r;
}

int catalogue_names(struct store *store,
	int (*fn)(void *data, const char *agent, const char *id, const char *name), void *data,
	struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, store, "SELECT agent, id, name FROM session_name", reterr);

	while (r >= 0 && (r = sql_step(&q, reterr)) > 0) {
		r = fn(data, sql_get_text(&q, 0), sql_get_text(&q, 1), sql_get_text(&q, 2));
		if (r != 0)
			return r;
	}
	return r;
}

int catalogue_rename(struct store *store, const char *agent, const char *id, const char *name,
	struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, store,
		name[0] ? "INSERT OR REPLACE INTO session_name (agent, id, name) VALUES (?, ?, ?)"
			: "DELETE FROM session_name WHERE agent = ? AND id = ?",
		reterr);

	if (r < 0)
		return r;
	sql_text(&q, agent);
	sql_text(&q, id);
	if (name[0])
		sql_text(&q, name);
	return sql_run(&q, reterr);
}

/* ---- forgetting ---- */

/* Words that stand outside of its conversation: the last sentences of its folders and those that
 * could have gone there, questions that were asked aside, waits that are over, and those there for
 * a conversation that never was. Nobody reads the questions and such waits. */
static int forget_asides(
	struct store *store, const char *agent, const char *id, size_t *rows, struct err *reterr)
{
#define CONVERSATIONS                                                                           \
	"(SELECT c.id, c.dir FROM agent_session a JOIN conversation c ON c.id = a.conversation" \
	" WHERE a.agent = ?1 AND a.id = ?2)"
#define FOLDERS                                                              \
	"(SELECT dir FROM " CONVERSATIONS " UNION SELECT cwd FROM session s" \
	" WHERE s.agent = ?1 AND s.id = ?2)"
	static const char *const steps[] = {
		"DELETE FROM said WHERE dir IN " FOLDERS " OR instr(note, ?2) OR EXISTS"
		" (SELECT 1 FROM " CONVERSATIONS " c WHERE instr(note, c.id))",
		"UPDATE step SET prompt = '' WHERE prompt <> '' AND"
		" (kind = 0 AND conversation IS NULL OR kind = 4 AND EXISTS"
		" (SELECT 1 FROM step e WHERE e.parent = step.id AND (e.kind = 0 OR e.state <> 4"
		" OR step.conversation IS NULL AND step.dir IN " FOLDERS ")))",
	};
	_Static_assert(JOURNAL_TURN == 0 && JOURNAL_WAIT == 4 && TURN_LOST == 4,
		"kinds of steps and states of turns are named by value");
	int r = 0;

	for (size_t i = 0; i < ARRAY_LEN(steps) && r == 0; i++) {
		r = SQL_RUN(store, reterr, steps[i], SQL_T(agent), SQL_T(id));
		*rows += (size_t)sql_changes(store);
	}
	return r;
#undef CONVERSATIONS
#undef FOLDERS
}

/* What was said in a conversation with this session. One that has others as well goes on with them,
 * and what it is about is learned anew from what is left; one that has none goes. */
static int forget_conversation(
	struct store *store, const char *agent, const char *id, size_t *rows, struct err *reterr)
{
#define OF "WITH f (conversation, session, whole) AS (VALUES (?1, ?2, ?3)) "
#define TURNS                                                                          \
	"(SELECT s.id FROM step s, f WHERE s.conversation = f.conversation AND (whole" \
	" OR s.session = f.session))"
	static const char *const steps[] = {
		/* Until now it may be its later steps that say so. */
		OF "UPDATE step SET session = ?2 WHERE id IN (SELECT t.id FROM turn t, f WHERE"
		   " t.conversation = f.conversation AND t.session = f.session)",
		OF "DELETE FROM step WHERE parent IN " TURNS " AND kind <> 0",
		OF "UPDATE step SET parent = NULL WHERE parent IN " TURNS,
		OF "DELETE FROM step WHERE id IN " TURNS,
		OF "DELETE FROM topic WHERE seq = (SELECT seq FROM conversation WHERE id = ?1)",
		OF "DELETE FROM term WHERE seq = (SELECT seq FROM conversation WHERE id = ?1)",
		OF "DELETE FROM correction WHERE ?1 IN (wrong, \"right\")",
		OF "UPDATE conversation SET title = NULL WHERE id = ?1",
		OF "UPDATE current SET conversation = NULL WHERE conversation = ?1 AND ?3",
		OF "UPDATE current SET previous = NULL WHERE previous = ?1 AND ?3",
		OF "DELETE FROM agent_session WHERE conversation = ?1 AND ?3",
		OF "DELETE FROM conversation WHERE id = ?1 AND ?3",
	};
	AUTO_SQL q = SQL_INIT;
	int r = SQL_PREPARE(&q, store, reterr,
		"SELECT conversation, NOT EXISTS (SELECT 1 FROM agent_session b WHERE"
		" b.conversation = a.conversation AND b.id <> a.id)"
		" FROM agent_session a WHERE agent = ? AND id = ?",
		SQL_T(agent), SQL_T(id));

	if (r == 0)
		r = sql_step(&q, reterr);
	if (r <= 0)
		return r;
	AUTO_FREE char *conversation = sql_dup_text(&q, 0);
	int64_t whole = sql_get_int(&q, 1);
	sql_release(&q);
	r = 0;
	for (size_t i = 0; i < ARRAY_LEN(steps) && r == 0; i++) {
		r = SQL_RUN(store, reterr, steps[i], SQL_T(conversation), SQL_T(id), SQL_I(whole));
		*rows += (size_t)sql_changes(store);
	}
	return r;
#undef OF
#undef TURNS
}

int catalogue_forget(struct store *store, const char *agent, const char *id,
	const char *const *paths, size_t n, size_t *rows, struct err *reterr)
{
	int r = store_begin(store, reterr);

	if (r < 0)
		return r;
	r = forget_asides(store, agent, id, rows, reterr);
	for (size_t i = 0; i < n && r == 0; i++) {
		r = SQL_RUN(store, reterr, "DELETE FROM session WHERE path = ?", SQL_T(paths[i]));
		*rows += (size_t)sql_changes(store);
	}
	AUTO_SQL q = SQL_INIT;
	if (r == 0)
		r = SQL_PREPARE(&q, store, reterr,
			"SELECT 1 FROM session WHERE agent = ? AND id = ?", SQL_T(agent),
			SQL_T(id));
	if (r == 0)
		r = sql_step(&q, reterr);
	sql_release(&q);
	if (r > 0)
		return store_end(store, 0, reterr);
	if (r == 0)
		r = SQL_RUN(store, reterr, "DELETE FROM session_name WHERE agent = ? AND id = ?",
			SQL_T(agent), SQL_T(id));
	*rows += (size_t)sql_changes(store);
	if (r == 0)
		r = forget_conversation(store, agent, id, rows, reterr);
	if (r == 0)
		r = SQL_RUN(store, reterr, "DELETE FROM agent_session WHERE agent = ? AND id = ?",
			SQL_T(agent), SQL_T(id));
	return store_end(store, r, reterr);
}
