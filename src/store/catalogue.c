#include "store/catalogue.h"

#include <string.h>

#include "base/mem.h"
#include "store/catalogue-row.h"

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

static int save_one(struct store *store, const struct session_row *row,
	const struct file_stat *stat, struct err *reterr)
{
	AUTO_SQL save = SQL_INIT;
	int r = row_save_prepare(&save, store, reterr);

	return r < 0 ? r : row_save(&save, row, stat, reterr);
}

int catalogue_take(struct store *store, const struct transcript_home *home, const char *path,
	struct session_row *ret, struct err *reterr)
{
	struct file_stat stat;
	AUTO_SESSION_ROW row = SESSION_ROW_INIT;
	int r = catalogue_by_path(store, path, &row, NULL);

	if (r == ERR_NOTFOUND)
		row_init(&row, home, path);
	else if (r < 0)
		return err_set(reterr, r, "store: cannot be read");
	bool subagent = row.info.flags & SESSION_SUBAGENT;
	r = row_scan(&row, subagent, &stat, reterr);
	if (r >= 0)
		r = save_one(store, &row, &stat, reterr);
	if (r < 0)
		return r;
	*ret = row;
	row = (struct session_row)SESSION_ROW_INIT;
	return 0;
}

/* ---- questions ---- */

/* LIKE pattern for text anywhere, its own wildcards made plain. */
static char *pattern(const char *text, bool at_start)
{
	AUTO_STR out = STR_INIT;

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

static void add_conditions(struct str *sql, const struct catalogue_query *c)
{
	str_adds(sql, "WHERE 1");
	if (!c->gone)
		str_adds(sql, " AND s.gone = 0");
	if (!c->subagents)
		str_addf(sql, " AND s.flags & %u = 0",
			(unsigned)(SESSION_SUBAGENT | SESSION_HELPER));
	if (!c->empty)
		str_adds(sql, " AND s.turns > 0");
	const char *not = c->elsewhere ? "NOT " : "";
	if (c->dir && c->below)
		str_addf(sql, " AND %s(s.cwd = ? OR s.cwd LIKE ? ESCAPE '\\')", not );
	else if (c->dir)
		str_addf(sql, " AND %s(s.cwd = ?)", not );
	if (c->agent)
		str_adds(sql, " AND s.agent = ?");
	if (c->id)
		str_adds(sql, " AND s.id = ?");
	if (c->root)
		str_adds(sql, " AND s.root = ?");
	if (c->since_ms)
		str_adds(sql, " AND s.active_ms >= ?");
	if (c->text)
		str_adds(sql,
			" AND (IFNULL(n.name, s.name) LIKE ? ESCAPE '\\' OR"
			" s.prompt LIKE ? ESCAPE '\\' OR s.id LIKE ? ESCAPE '\\')");
}

static void add_order(struct str *sql, const struct catalogue_query *c)
{
	static const char *const orders[] = {
		[CATALOGUE_RECENT] = "s.active_ms DESC",
		[CATALOGUE_SIZE] = "s.size DESC",
		[CATALOGUE_TURNS] = "s.turns DESC",
		[CATALOGUE_NAME] = ("IFNULL(n.name, s.name) = '', IFNULL(n.name, s.name)"
				    " COLLATE NOCASE, s.active_ms DESC"),
	};

	str_addf(sql, " ORDER BY %s, s.path", orders[c->order]);
	if (c->limit > 0)
		str_adds(sql, " LIMIT ?");
}

static void bind_conditions(struct sql *q, const struct catalogue_query *c)
{
	if (c->dir)
		sql_text(q, c->dir);
	if (c->dir && c->below) {
		AUTO_FREE char *slash = xasprintf("%s/", strcmp(c->dir, "/") == 0 ? "" : c->dir);
		AUTO_FREE char *like = pattern(slash, true);
		sql_text(q, like);
	}
	if (c->agent)
		sql_text(q, c->agent);
	if (c->id)
		sql_text(q, c->id);
	if (c->root)
		sql_text(q, c->root);
	if (c->since_ms)
		sql_int(q, c->since_ms);
	if (c->text) {
		AUTO_FREE char *like = pattern(c->text, false);
		for (int i = 0; i < 3; i++)
			sql_text(q, like);
	}
	if (c->limit > 0)
		sql_int(q, c->limit);
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

int catalogue_query(struct store *store, const struct catalogue_query *query, catalogue_fn fn,
	void *data, struct err *reterr)
{
	AUTO_STR text = STR_INIT;
	AUTO_SQL q = SQL_INIT;

	str_adds(&text, ROW_SELECT);
	add_conditions(&text, query);
	add_order(&text, query);
	int r = sql_prepare(&q, store, text.buf, reterr);
	if (r < 0)
		return r;
	bind_conditions(&q, query);
	return give_rows(&q, fn, data, reterr);
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
