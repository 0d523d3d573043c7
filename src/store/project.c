#include "store/project.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "os/path.h"
#include "os/repo.h"
#include "store/sql.h"

void project_release(struct project *p)
{
	free(p->top);
	free(p->main);
	vec_each (&p->places, place) {
		free(place->top);
		free(place->dir);
	}
	vec_release(&p->places);
	*p = (struct project)PROJECT_INIT;
}

static bool has(const struct strv *marks, const char *mark)
{
	for (size_t i = 0; i < marks->n; i++)
		if (strcmp(marks->v[i], mark) == 0)
			return true;
	return false;
}

static void all_marks(const struct repo *repo, struct strv *out)
{
	for (size_t i = 0; i < repo->marks.n; i++)
		strv_add(out, repo->marks.v[i]);
	for (size_t i = 0; i < repo->own.n; i++)
		strv_add(out, repo->own.v[i]);
}

/* Whether what lies there now is not what was known. Without a time of birth nothing tells a new
 * repository from a new remote of the old one. */
static bool is_another(const struct strv *known, const struct strv *marks, int64_t born_ms)
{
	for (size_t i = 0; i < marks->n; i++)
		if (has(known, marks->v[i]))
			return false;
	return known->n > 0 && marks->n > 0 && born_ms > 0;
}

/* ---- noting ---- */

/* The place that is open at top, 0 when there is none, and what it is known by. */
static int load_place(struct store *store, const char *top, int64_t *ret_id, struct strv *marks,
	struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = SQL_PREPARE(&q, store, reterr,
		"SELECT p.id, m.mark FROM place p LEFT JOIN place_mark m ON m.place = p.id"
		" WHERE p.top = ? AND p.until_ms = ?",
		SQL_T(top), SQL_I(INT64_MAX));

	*ret_id = 0;
	while (r >= 0 && (r = sql_step(&q, reterr)) > 0) {
		const char *mark = sql_get_text(&q, 1);
		*ret_id = sql_get_int(&q, 0);
		if (mark)
			strv_add(marks, mark);
	}
	return r;
}

static int write_place(struct store *store, const char *top, int64_t id, bool another,
	int64_t born_ms, const struct strv *missing, struct err *reterr)
{
	int r = 0;

	if (another)
		r = SQL_RUN(store, reterr, "UPDATE place SET until_ms = ? WHERE id = ?",
			SQL_I(born_ms), SQL_I(id));
	if (r >= 0 && (another || id == 0))
		r = SQL_RUN(store, reterr,
			"INSERT OR IGNORE INTO place (top, since_ms, until_ms) VALUES (?, ?, ?)",
			SQL_T(top), SQL_I(another ? born_ms : 0), SQL_I(INT64_MAX));
	for (size_t i = 0; r >= 0 && i < missing->n; i++)
		r = SQL_RUN(store, reterr,
			"INSERT OR IGNORE INTO place_mark (mark, place)"
			" SELECT ?1, id FROM place WHERE top = ?2 AND until_ms = ?3",
			SQL_T(missing->v[i]), SQL_T(top), SQL_I(INT64_MAX));
	return r;
}

/* Nothing is written when nothing is new. */
static int note_place(struct store *store, const char *top, const struct strv *marks,
	int64_t born_ms, struct err *reterr)
{
	AUTO_STRV known = STRV_INIT;
	AUTO_STRV missing = STRV_INIT;
	int64_t id;
	int r = load_place(store, top, &id, &known, reterr);

	if (r < 0)
		return r;
	for (size_t i = 0; i < marks->n; i++)
		if (!has(&known, marks->v[i]))
			strv_add(&missing, marks->v[i]);
	bool another = is_another(&known, marks, born_ms);
	if (id != 0 && missing.n == 0)
		return 0;
	r = store_begin(store, reterr);
	if (r < 0)
		return r;
	r = write_place(store, top, id, another, born_ms, &missing, reterr);
	return store_end(store, r, reterr);
}

int project_note(struct store *store, const char *dir, struct err *reterr)
{
	AUTO_REPO repo = REPO_INIT;
	AUTO_STRV marks = STRV_INIT;
	int r = 0;

	if (repo_read(dir, &repo)) {
		all_marks(&repo, &marks);
		r = note_place(store, repo.top, &marks, repo.born_ms, reterr);
	}
	for (size_t i = 0; r >= 0 && i < repo.trees.n; i++)
		r = note_place(store, repo.trees.v[i], &repo.marks, 0, reterr);
	return r < 0 ? r
		     : SQL_RUN(store, reterr, "INSERT OR IGNORE INTO folder (dir) VALUES (?)",
			       SQL_T(dir));
}

bool project_noted(struct store *store)
{
	AUTO_SQL q = SQL_INIT;

	return sql_prepare(&q, store,
		       "SELECT 1 WHERE NOT EXISTS (SELECT 1 FROM folder) AND EXISTS (SELECT 1 FROM"
		       " session WHERE cwd <> '')",
		       NULL) < 0 ||
		sql_step(&q, NULL) <= 0;
}

int project_note_sessions(struct store *store, struct err *reterr)
{
	AUTO_STRV dirs = STRV_INIT;
	AUTO_SQL q = SQL_INIT;
	int r = SQL_PREPARE(&q, store, reterr,
		"SELECT DISTINCT cwd FROM session WHERE cwd <> '' AND NOT EXISTS"
		" (SELECT 1 FROM folder WHERE dir = cwd) LIMIT ?",
		SQL_I(PROJECT_NOTE_MAX));

	while (r >= 0 && (r = sql_step(&q, reterr)) > 0)
		strv_add(&dirs, sql_get_text(&q, 0));
	sql_release(&q);
	if (r < 0 || dirs.n == 0)
		return r;
	r = store_begin(store, reterr);
	if (r < 0)
		return r;
	for (size_t i = 0; r >= 0 && i < dirs.n; i++)
		r = project_note(store, dirs.v[i], reterr);
	return store_end(store, r, reterr);
}

/* ---- following ---- */

static int follow(struct store *store, const char *from, const char *to, struct err *reterr)
{
	static const char *const steps[] = {
		"UPDATE conversation SET dir = ?2 || substr(dir, length(?1) + 1)"
		" WHERE dir = ?1 OR dir > ?1 || '/' AND dir < ?1 || '0'",
		"UPDATE conversation SET project = ?2 || substr(project, length(?1) + 1)"
		" WHERE project = ?1 OR project > ?1 || '/' AND project < ?1 || '0'",
		/* What has been begun here since then stays. */
		"UPDATE OR IGNORE current SET dir = ?2 || substr(dir, length(?1) + 1)"
		" WHERE dir = ?1 OR dir > ?1 || '/' AND dir < ?1 || '0'",
	};
	int r = store_begin(store, reterr);

	if (r < 0)
		return r;
	for (size_t i = 0; r >= 0 && i < ARRAY_LEN(steps); i++)
		r = SQL_RUN(store, reterr, steps[i], SQL_T(from), SQL_T(to));
	return store_end(store, r, reterr);
}

int project_follow(struct store *store, const char *dir, struct err *reterr)
{
	AUTO_REPO repo = REPO_INIT;
	AUTO_STRV from = STRV_INIT;
	AUTO_SQL q = SQL_INIT;
	int r = 0;

	if (!repo_read(dir, &repo) || repo.own.n == 0)
		return 0;
	r = SQL_PREPARE(&q, store, reterr,
		"SELECT p.top FROM place_mark m JOIN place p ON p.id = m.place WHERE m.mark = ?1"
		" AND p.top <> ?2 AND EXISTS (SELECT 1 FROM conversation WHERE dir = p.top OR"
		" dir > p.top || '/' AND dir < p.top || '0')",
		SQL_T(repo.own.v[0]), SQL_T(repo.top));
	while (r >= 0 && (r = sql_step(&q, reterr)) > 0)
		strv_add(&from, sql_get_text(&q, 0));
	sql_release(&q);
	for (size_t i = 0; r >= 0 && i < from.n; i++)
		if (!path_exists(from.v[i]))
			r = follow(store, from.v[i], repo.top, reterr);
	return r;
}

/* ---- finding ---- */

static int add_places(struct store *store, const struct strv *marks, struct sv rel,
	struct project *p, struct err *reterr)
{
	AUTO_STR text = STR_INIT;
	AUTO_SQL q = SQL_INIT;

	str_adds(&text,
		"SELECT DISTINCT p.top, p.since_ms, p.until_ms FROM place_mark m"
		" JOIN place p ON p.id = m.place WHERE m.mark IN (");
	for (size_t i = 0; i < marks->n; i++)
		str_adds(&text, i ? ", ?" : "?");
	str_adds(&text, ") ORDER BY p.id");
	int r = sql_prepare(&q, store, text.buf, reterr);
	for (size_t i = 0; r >= 0 && i < marks->n; i++)
		sql_text(&q, marks->v[i]);
	while (r >= 0 && (r = sql_step(&q, reterr)) > 0) {
		const char *top = sql_get_text(&q, 0);
		if (strcmp(top, p->top) == 0)
			continue;
		vec_push(&p->places,
			(struct project_place){
				.top = xstrdup(top),
				.dir = xasprintf("%s%.*s",
					strcmp(top, "/") == 0 && rel.n > 0 ? "" : top, SV_ARG(rel)),
				.since_ms = sql_get_int(&q, 1),
				.until_ms = sql_get_int(&q, 2),
			});
	}
	return r;
}

void project_keep_gone(struct project *p)
{
	size_t n = 0;

	vec_each (&p->places, place) {
		if (!path_exists(place->top)) {
			p->places.v[n++] = *place;
			continue;
		}
		free(place->top);
		free(place->dir);
	}
	p->places.n = n;
}

int project_find(struct store *store, const char *dir, struct project *ret, struct err *reterr)
{
	AUTO_PROJECT p = PROJECT_INIT;
	AUTO_REPO repo = REPO_INIT;
	AUTO_STRV known = STRV_INIT;
	AUTO_STRV marks = STRV_INIT;
	struct sv rel = SV("");
	int64_t id;

	if (repo_read(dir, &repo)) {
		all_marks(&repo, &marks);
		rel = sv_from(sv_of(dir), strcmp(repo.top, "/") == 0 ? 0 : strlen(repo.top));
	}
	p.top = repo.top ? TAKE_PTR(repo.top) : xstrdup(dir);
	p.main = repo.main ? TAKE_PTR(repo.main) : xstrdup(dir);
	int r = load_place(store, p.top, &id, &known, reterr);
	/* It may have been known by more than it shows now. */
	if (!is_another(&known, &marks, repo.born_ms))
		for (size_t i = 0; i < known.n; i++)
			strv_add(&marks, known.v[i]);
	if (r >= 0)
		r = add_places(store, &marks, rel, &p, reterr);
	if (r < 0)
		return r;
	*ret = p;
	p = (struct project)PROJECT_INIT;
	return 0;
}
