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

/* The place that is open at top, id 0 when there is none, and what it is known by. */
struct known_place {
	int64_t id, config_ns;
	struct strv marks;
};

static void known_place_release(struct known_place *p)
{
	strv_release(&p->marks);
}

static int load_place(
	struct store *store, const char *top, struct known_place *ret, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = SQL_PREPARE(&q, store, reterr,
		"SELECT p.id, m.mark, p.config_ns FROM place p LEFT JOIN place_mark m ON m.place = "
		"p.id"
		" WHERE p.top = ? AND p.until_ms = ?",
		SQL_T(top), SQL_I(INT64_MAX));

	while (r >= 0 && (r = sql_step(&q, reterr)) > 0) {
		const char *mark = sql_get_text(&q, 1);
		ret->id = sql_get_int(&q, 0);
		ret->config_ns = sql_get_int(&q, 2);
		if (mark)
			strv_add(&ret->marks, mark);
	}
	return r;
}

static int write_place(struct store *store, const char *top, int64_t id, bool another,
	const struct repo *repo, const struct strv *missing, struct err *reterr)
{
	int r = 0;
	const int64_t born_ms = repo->born_ms;

	if (another)
		r = SQL_RUN(store, reterr, "UPDATE place SET until_ms = ? WHERE id = ?",
			SQL_I(born_ms), SQL_I(id));
	if (r >= 0 && (another || id == 0))
		r = SQL_RUN(store, reterr,
			"INSERT OR IGNORE INTO place (top, since_ms, until_ms) VALUES (?, ?, ?)",
			SQL_T(top), SQL_I(another ? born_ms : 0), SQL_I(INT64_MAX));
	if (r >= 0)
		r = SQL_RUN(store, reterr,
			"UPDATE place SET config_ns = ? WHERE top = ? AND until_ms = ?",
			SQL_I(repo->config_ns), SQL_T(top), SQL_I(INT64_MAX));
	for (size_t i = 0; r >= 0 && i < missing->n; i++)
		r = SQL_RUN(store, reterr,
			"INSERT OR IGNORE INTO place_mark (mark, place)"
			" SELECT ?1, id FROM place WHERE top = ?2 AND until_ms = ?3",
			SQL_T(missing->v[i]), SQL_T(top), SQL_I(INT64_MAX));
	return r;
}

/* Nothing is written when nothing is new. What it is known by is `marks`; of another work tree than
 * the repo's own nobody knows when it was made, repo is empty but for the settings. */
static int note_place(struct store *store, const char *top, const struct strv *marks,
	const struct repo *repo, struct err *reterr)
{
	CLEANUP(known_place_release) struct known_place known = { .marks = STRV_INIT };
	AUTO_STRV missing = STRV_INIT;
	int r = load_place(store, top, &known, reterr);

	if (r < 0)
		return r;
	for (size_t i = 0; i < marks->n; i++)
		if (!has(&known.marks, marks->v[i]))
			strv_add(&missing, marks->v[i]);
	bool another = is_another(&known.marks, marks, repo->born_ms);
	if (known.id != 0 && missing.n == 0 && known.config_ns == repo->config_ns)
		return 0;
	r = store_begin(store, reterr);
	if (r < 0)
		return r;
	r = write_place(store, top, known.id, another, repo, &missing, reterr);
	return store_end(store, r, reterr);
}

/* The work tree that dir lies in, and those that its repository has beside it. */
static int note_repo(struct store *store, const char *dir, struct err *reterr)
{
	AUTO_REPO repo = REPO_INIT;
	AUTO_STRV marks = STRV_INIT;

	if (!repo_read(dir, &repo))
		return 0;
	all_marks(&repo, &marks);
	int r = note_place(store, repo.top, &marks, &repo, reterr);
	const struct repo beside = { .config_ns = repo.config_ns };
	for (size_t i = 0; r >= 0 && i < repo.trees.n; i++)
		r = note_place(store, repo.trees.v[i], &repo.marks, &beside, reterr);
	return r;
}

int project_note(struct store *store, const char *dir, struct err *reterr)
{
	int r = note_repo(store, dir, reterr);

	return r < 0 ? r
		     : SQL_RUN(store, reterr, "INSERT OR IGNORE INTO folder (dir) VALUES (?)",
			       SQL_T(dir));
}

int project_note_first(struct store *store, const char *dir, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = SQL_PREPARE(&q, store, reterr, "SELECT 1 FROM folder WHERE dir = ?", SQL_T(dir));

	if (r >= 0)
		r = sql_step(&q, reterr);
	return r == 0 ? project_note(store, dir, reterr) : r < 0 ? r : 0;
}

int project_note_changed(struct store *store, struct err *reterr)
{
	AUTO_STRV tops = STRV_INIT;
	AUTO_SQL q = SQL_INIT;
	int r = SQL_PREPARE(&q, store, reterr,
		"SELECT top, config_ns FROM place WHERE until_ms = ?", SQL_I(INT64_MAX));

	while (r >= 0 && (r = sql_step(&q, reterr)) > 0) {
		const char *top = sql_get_text(&q, 0);
		int64_t now_ns = repo_config_ns(top);
		if (now_ns > 0 && now_ns != sql_get_int(&q, 1))
			strv_add(&tops, top);
	}
	sql_release(&q);
	for (size_t i = 0; r >= 0 && i < tops.n; i++)
		r = note_repo(store, tops.v[i], reterr);
	return r;
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

/* What is kept under the name of a folder. */
#define FOLLOW_PREF(kind)                                                               \
	"UPDATE OR IGNORE pref SET key = '" kind "' || ?2 || substr(key, length('" kind \
	"' || ?1) + 1) WHERE key = '" kind "' || ?1 OR key > '" kind                    \
	"' || ?1 || '/' AND key < '" kind "' || ?1 || '0'"

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
		"UPDATE step SET dir = ?2 || substr(dir, length(?1) + 1)"
		" WHERE dir = ?1 OR dir > ?1 || '/' AND dir < ?1 || '0'",
		FOLLOW_PREF("reset:"),
		FOLLOW_PREF("over:"),
		"UPDATE said SET dir = ?2 || substr(dir, length(?1) + 1)"
		" WHERE dir = ?1 OR dir > ?1 || '/' AND dir < ?1 || '0'",
		"UPDATE said SET project = ?2 || substr(project, length(?1) + 1)"
		" WHERE project = ?1 OR project > ?1 || '/' AND project < ?1 || '0'",
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
		" AND p.top <> ?2 AND (EXISTS (SELECT 1 FROM conversation WHERE dir = p.top OR"
		" dir > p.top || '/' AND dir < p.top || '0') OR EXISTS (SELECT 1 FROM current WHERE"
		" dir = p.top OR dir > p.top || '/' AND dir < p.top || '0'))",
		SQL_T(repo.own.v[0]), SQL_T(repo.top));
	while (r >= 0 && (r = sql_step(&q, reterr)) > 0)
		strv_add(&from, sql_get_text(&q, 0));
	sql_release(&q);
	for (size_t i = 0; r >= 0 && i < from.n; i++)
		if (!path_exists(from.v[i]))
			r = follow(store, from.v[i], repo.top, reterr);
	/* It may be moved again before anything else is begun here. */
	return r < 0 || from.n == 0 ? r : note_repo(store, dir, reterr);
}

/* ---- finding ---- */

static int add_places(struct store *store, const struct strv *marks, struct sv rel,
	struct project *p, struct err *reterr)
{
	AUTO_STR text = STR_INIT;
	AUTO_SQL q = SQL_INIT;
	bool remote = false;

	str_adds(&text,
		"SELECT p.top, p.since_ms, p.until_ms FROM place_mark m"
		" JOIN place p ON p.id = m.place WHERE m.mark IN (");
	for (size_t i = 0; i < marks->n; i++) {
		str_adds(&text, i ? ", ?" : "?");
		remote |= sv_starts(sv_of(marks->v[i]), SV("remote:")) &&
			!sv_starts(sv_of(marks->v[i]), SV("remote:/"));
	}
	str_adds(&text, ") GROUP BY p.id");
	/* What began alike and is fetched from elsewhere has become something else; a path on this
	 * machine is no elsewhere. */
	if (remote)
		str_adds(&text,
			" HAVING max(m.mark NOT LIKE 'root:%') OR NOT EXISTS (SELECT 1 FROM"
			" place_mark r WHERE r.place = p.id AND r.mark LIKE 'remote:%' AND"
			" r.mark NOT LIKE 'remote:/%')");
	str_adds(&text, " ORDER BY p.id");
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
	CLEANUP(known_place_release) struct known_place known = { .marks = STRV_INIT };
	AUTO_STRV marks = STRV_INIT;
	struct sv rel = SV("");

	if (repo_read(dir, &repo)) {
		all_marks(&repo, &marks);
		rel = sv_from(sv_of(dir), strcmp(repo.top, "/") == 0 ? 0 : strlen(repo.top));
	}
	p.top = repo.top ? TAKE_PTR(repo.top) : xstrdup(dir);
	p.main = repo.main ? TAKE_PTR(repo.main) : xstrdup(dir);
	int r = load_place(store, p.top, &known, reterr);
	/* It may have been known by more than it shows now. */
	if (!is_another(&known.marks, &marks, repo.born_ms))
		for (size_t i = 0; i < known.marks.n; i++)
			strv_add(&marks, known.marks.v[i]);
	if (r >= 0)
		r = add_places(store, &marks, rel, &p, reterr);
	if (r < 0)
		return r;
	*ret = p;
	p = (struct project)PROJECT_INIT;
	return 0;
}

/* ---- what is gone ---- */

/* The innermost top that is known and holds dir; NULL when there is none. Caller frees. */
static char *top_of(struct store *store, const char *dir)
{
	AUTO_SQL q = SQL_INIT;

	if (SQL_PREPARE(&q, store, NULL,
		    "SELECT top FROM place WHERE ?1 = top OR substr(?1, 1, length(top) + 1) = top "
		    "|| '/'"
		    " ORDER BY length(top) DESC LIMIT 1",
		    SQL_T(dir)) < 0 ||
		sql_step(&q, NULL) <= 0)
		return NULL;
	return xstrdup(sql_get_text(&q, 0));
}

bool project_lay_at(struct store *store, const struct project *p, const char *dir)
{
	AUTO_FREE char *top = path_exists(dir) ? NULL : top_of(store, dir);

	if (!top || strcmp(top, p->top) == 0)
		return top != NULL;
	vec_each (&p->places, place)
		if (strcmp(top, place->top) == 0)
			return !path_exists(top);
	return false;
}

char *project_brought(const struct project *p, const char *dir, int64_t when_ms)
{
	vec_each (&p->places, place) {
		if (!path_within(sv_of(dir), sv_of(place->top)) || when_ms < place->since_ms ||
			when_ms >= place->until_ms || path_exists(place->top))
			continue;
		AUTO_FREE char *now = xasprintf("%s%s", p->top, dir + strlen(place->top));
		if (path_exists(now))
			return TAKE_PTR(now);
	}
	return NULL;
}

/* Whether the place is one of the project still, as its marks say now. */
static bool is_there(const char *top, const struct strv *known)
{
	AUTO_REPO repo = REPO_INIT;
	AUTO_STRV marks = STRV_INIT;

	if (!repo_read(top, &repo) || strcmp(repo.top, top) != 0)
		return false;
	all_marks(&repo, &marks);
	for (size_t i = 0; i < marks.n; i++)
		if (has(known, marks.v[i]))
			return true;
	return false;
}

char *project_now(struct store *store, const char *dir)
{
	AUTO_PROJECT p = { .top = top_of(store, dir), .places = VEC_INIT };
	CLEANUP(known_place_release) struct known_place known = { .marks = STRV_INIT };

	if (!p.top || load_place(store, p.top, &known, NULL) < 0 ||
		add_places(store, &known.marks, sv_from(sv_of(dir), strlen(p.top)), &p, NULL) < 0)
		return NULL;
	vec_each (&p.places, place)
		if (is_there(place->top, &known.marks))
			return xstrdup(path_exists(place->dir) ? place->dir : place->top);
	return NULL;
}
