/*
 * From what a person calls a session to the session.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "os/path.h"
#include "os/unpack.h"
#include "store/catalogue-row.h"

void catalogue_matches_release(struct catalogue_matches *matches)
{
	vec_each (&matches->rows, row)
		session_row_release(row);
	vec_release(&matches->rows);
	matches->more = false;
}

struct resolve {
	struct store *store;
	const struct transcript_home *homes;
	size_t n_homes;
	const char *spec;
	struct session_row *ret;
	struct catalogue_matches *matches;
	bool gone; /* of those whose file is nowhere, not of those that are there */
};

static void take_row(struct session_row *ret, struct session_row *row)
{
	*ret = *row;
	*row = (struct session_row)SESSION_ROW_INIT;
}

/* ---- a path ---- */

/* A file outside all homes is read for this once and not remembered. */
static int read_stray(const struct resolve *w, const char *path, struct err *reterr)
{
	const struct transcript_format *format;
	struct file_stat stat;
	int r = transcript_probe(path, &format, reterr);

	if (r < 0)
		return r;
	struct transcript_home home = { .agent = "", .format = format, .root = "" };
	for (size_t i = 0; i < w->n_homes && !home.agent[0]; i++)
		if (w->homes[i].format == format)
			home.agent = w->homes[i].agent;
	AUTO_SESSION_ROW row = SESSION_ROW_INIT;
	row_init(&row, &home, path);
	r = row_scan(&row, false, &stat, reterr);
	if (r >= 0)
		take_row(w->ret, &row);
	return r;
}

static int resolve_path(const struct resolve *w, struct err *reterr)
{
	AUTO_FREE char *path = NULL;
	const struct transcript_home *home = NULL;
	int r = transcript_locate(w->homes, w->n_homes, w->spec, &path, &home, reterr);

	if (r == -ENOENT || r == -ENOTDIR)
		return err_set(reterr, ERR_NOTFOUND, "%s: no such file", w->spec);
	if (r < 0)
		return r;
	if (!home || transcript_path_id(home->format, sv_of(path)).n == 0)
		return read_stray(w, path, reterr);
	return catalogue_take(w->store, home, path, w->ret, reterr);
}

/* ---- tiers of likeness, asked of the catalogue ---- */

/* What is bound: the text itself, or a LIKE pattern that begins with it or holds it. */
enum likeness { IS, BEGINS, HOLDS };

#define VISIBLE "s.flags & 9 = 0 AND "
enum { TIER_ID, TIER_NAME, TIER_PART = 4, TIERS };
static const struct tier {
	const char *where;
	enum likeness likeness;
	bool fragment; /* of an id: needs some length */
} tiers[TIERS] = {
	[TIER_ID] = { "s.id = ?1 COLLATE NOCASE", IS, false },
	[TIER_NAME] = { VISIBLE "IFNULL(n.name, s.name) = ?1 COLLATE NOCASE AND ?1 <> ''", IS,
		false },
	{ VISIBLE "s.id LIKE ?1 ESCAPE '\\'", BEGINS, true },
	{ VISIBLE "s.id LIKE ?1 ESCAPE '\\'", HOLDS, true },
	[TIER_PART] = { VISIBLE "IFNULL(n.name, s.name) LIKE ?1 ESCAPE '\\'", HOLDS, false },
};
_Static_assert((SESSION_SUBAGENT | SESSION_HELPER) == 9, "VISIBLE names the flags by value");

static bool is_fragment(struct sv text)
{
	for (size_t i = 0; i < text.n; i++)
		if (!strchr("0123456789abcdefABCDEF-", text.p[i]))
			return false;
	return text.n >= CATALOGUE_FRAGMENT_MIN;
}

static void bind_spec(struct sql *q, const char *spec, enum likeness likeness)
{
	AUTO_FREE char *like =
		likeness == IS ? xstrdup(spec) : like_pattern(spec, likeness == BEGINS);

	sql_text(q, like);
}

#define IS_HERE "s.gone = 0"
/* The last of several rows of one id, when none of them is there. */
#define IS_GONE                                                                               \
	"NOT EXISTS (SELECT 1 FROM session o WHERE o.id = s.id AND (o.gone = 0 OR"            \
	" o.active_ms > s.active_ms OR o.active_ms = s.active_ms AND o.rowid > s.rowid)) AND" \
	" s.gone = 1"

static int ask_tier(const struct resolve *w, const struct tier *tier,
	struct catalogue_matches *found, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	AUTO_FREE char *text =
		xasprintf(ROW_SELECT "WHERE %s AND %s ORDER BY s.active_ms DESC LIMIT %d",
			w->gone ? IS_GONE : IS_HERE, tier->where, CATALOGUE_CANDIDATES_MAX + 1);
	int r = sql_prepare(&q, w->store, text, reterr);

	if (r < 0)
		return r;
	bind_spec(&q, w->spec, tier->likeness);
	while ((r = sql_step(&q, reterr)) > 0) {
		if (found->rows.n == CATALOGUE_CANDIDATES_MAX) {
			found->more = true;
			break;
		}
		struct session_row row;
		row_load(&q, &row);
		vec_push(&found->rows, row);
	}
	return r < 0 ? r : 0;
}

static int refuse_ambiguous(
	const struct resolve *w, struct catalogue_matches *found, struct err *reterr)
{
	enum { SHOWN = 3 };
	AUTO_STR some = STR_INIT;

	bool one_id = true;

	vec_each (&found->rows, row)
		one_id &= strcmp(row->info.id, found->rows.v[0].info.id) == 0;
	for (size_t i = 0; i < found->rows.n && i < SHOWN; i++) {
		const struct session_row *row = &found->rows.v[i];
		const char *name = session_row_name(row);
		if (one_id) {
			str_addf(&some, "%s%s", i ? ", " : "", row->info.path);
			continue;
		}
		str_addf(&some, "%s%s%s%s%s", i ? ", " : "", row->info.id, name[0] ? " (" : "",
			name, name[0] ? ")" : "");
	}
	int r = err_set(reterr, ERR_AMBIGUOUS, "'%s' fits %s%zu sessions%s: %s%s", w->spec,
		found->more ? "more than " : "", found->rows.n,
		one_id ? " of one id, name one by its path" : "", some.buf,
		found->rows.n > SHOWN ? ", …" : "");
	if (w->matches) {
		catalogue_matches_release(w->matches);
		*w->matches = *found;
		*found = (struct catalogue_matches){ .more = false };
	}
	return r;
}

static void drop_row(struct catalogue_matches *found, size_t i)
{
	session_row_release(&found->rows.v[i]);
	found->rows.n--;
	memmove(&found->rows.v[i], &found->rows.v[i + 1],
		(found->rows.n - i) * sizeof(*found->rows.v));
}

/* A file that was moved or compressed since is not a second session. */
static void drop_vanished(struct catalogue_matches *found)
{
	for (size_t i = 0; i < found->rows.n;)
		if (path_exists(found->rows.v[i].info.path))
			i++;
		else
			drop_row(found, i);
}

/* A name that the agent gave goes into every copy: it means what goes on of the thread. */
static void keep_threads(const struct resolve *w, struct catalogue_matches *found)
{
	for (size_t i = 0; i < found->rows.n;) {
		const struct session_row *row = &found->rows.v[i];
		bool goes_on = true;
		vec_each (&found->rows, other)
			goes_on = goes_on &&
				catalogue_thread(w->store,
					(struct catalogue_used){ row->info.id, row->active_ms },
					(struct catalogue_used){
						other->info.id, other->active_ms }) >= 0;
		if (goes_on) {
			i++;
			continue;
		}
		drop_row(found, i);
	}
}

/* 1 when a tier decided, 0 when none fits. */
static int ask_tiers(const struct resolve *w, size_t first, size_t end, struct err *reterr)
{
	bool fragment = is_fragment(sv_of(w->spec));

	for (size_t i = first; i < end; i++) {
		if (tiers[i].fragment && !fragment)
			continue;
		CLEANUP(catalogue_matches_release)
		struct catalogue_matches found = { .more = false };
		int r = ask_tier(w, &tiers[i], &found, reterr);
		if (r < 0)
			return r;
		if (found.rows.n > 1 && !w->gone)
			drop_vanished(&found);
		if (found.rows.n > 1 && (i == TIER_NAME || i == TIER_PART))
			keep_threads(w, &found);
		if (found.rows.n > 1)
			return refuse_ambiguous(w, &found, reterr);
		if (found.rows.n == 1) {
			take_row(w->ret, &found.rows.v[0]);
			return 1;
		}
	}
	return 0;
}

/* ---- a full id ---- */

/* By file names alone: a session that the catalogue has not seen yet. */
static int find_by_name(const struct resolve *w, struct err *reterr)
{
	for (size_t i = 0; i < w->n_homes; i++) {
		AUTO_FREE char *path = NULL;
		bool several = false;
		int r = transcript_find_only(&w->homes[i], sv_of(w->spec), &path, &several, reterr);
		if (r < 0)
			return r;
		if (several)
			return 0;
		if (!path)
			continue;
		r = catalogue_take(w->store, &w->homes[i], path, w->ret, reterr);
		/* One that was blanked is not there. */
		if (r == ERR_NOTFOUND)
			continue;
		return r < 0 ? r : 1;
	}
	return 0;
}

/* The row may be older than its file, or the file may be gone since. */
static int bring_up_to_date(const struct resolve *w, struct err *reterr)
{
	const struct transcript_home *home =
		transcript_home_with(w->homes, w->n_homes, w->ret->info.path);
	struct session_row fresh = SESSION_ROW_INIT;

	if (!home)
		return 1;
	int r = catalogue_take(w->store, home, w->ret->info.path, &fresh, reterr);
	if (r == -ENOENT || r == ERR_NOTFOUND)
		return 0;
	if (r < 0)
		return r;
	session_row_release(w->ret);
	*w->ret = fresh;
	return 1;
}

static int resolve_id(const struct resolve *w, struct err *reterr)
{
	int r = ask_tiers(w, TIER_ID, TIER_NAME, reterr);

	if (r > 0) {
		r = bring_up_to_date(w, reterr);
		if (r <= 0)
			session_row_release(w->ret);
	}
	return r == 0 ? find_by_name(w, reterr) : r;
}

int catalogue_by_name(struct store *store, const char *name, struct session_row *ret,
	struct catalogue_matches *matches, struct err *reterr)
{
	const struct resolve w = { store, NULL, 0, name, ret, matches, false };
	int r = ask_tiers(&w, TIER_NAME, TIER_NAME + 1, reterr);

	return r < 0	? r
		: r > 0 ? 0
			: err_set(reterr, ERR_NOTFOUND, "no session is called '%s'", name);
}

static bool is_path(const char *spec)
{
	return strchr(spec, '/') || sv_ends(unpack_plain(sv_of(spec)), SV(".jsonl"));
}

int catalogue_resolve(struct store *store, const struct transcript_home *homes, size_t n_homes,
	const char *spec, struct session_row *ret, struct catalogue_matches *matches,
	struct err *reterr)
{
	const struct resolve w = { store, homes, n_homes, spec, ret, matches, false };

	if (spec[0] == '\0')
		return err_set(reterr, ERR_NOTFOUND, "no session has an empty name");
	bool path = is_path(spec);
	int r = path ? catalogue_by_name(store, spec, ret, matches, reterr) : 0;
	if (path && r == ERR_NOTFOUND)
		r = resolve_path(&w, reterr);
	if (path && r != ERR_NOTFOUND)
		return r;
	r = uuid_valid(sv_of(spec)) ? resolve_id(&w, reterr) : 0;
	if (r == 0) {
		r = catalogue_refresh(store, homes, n_homes, NULL, NULL, reterr);
		if (r >= 0)
			r = ask_tiers(&w, TIER_ID, TIERS, reterr);
	}
	if (r == 0 && path)
		return err_set(reterr, ERR_NOTFOUND,
			"%s: no such file, and no session is called so", spec);
	if (r == 0 && strlen(spec) < CATALOGUE_FRAGMENT_MIN)
		return err_set(reterr, ERR_NOTFOUND,
			"no session is called '%s', and a part of an id has %d characters or more",
			spec, CATALOGUE_FRAGMENT_MIN);
	if (r == 0)
		return err_set(reterr, ERR_NOTFOUND, "no session is called '%s'", spec);
	return r < 0 ? r : 0;
}

/* ---- one that is gone ---- */

/* What its children say: 1, or 0 when it has none. */
static int ask_children(const struct resolve *w, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, w->store,
		"SELECT parent_path FROM session s WHERE s.parent_id = ?1 OR"
		" s.parent_path LIKE '%' || ?1 || '.jsonl'"
		" ORDER BY s.parent_path = '', s.first_ms LIMIT 1",
		reterr);

	if (r < 0)
		return r;
	sql_text(&q, w->spec);
	r = sql_step(&q, reterr);
	if (r <= 0)
		return r;
	const struct transcript_home nobody = { .agent = "",
		.format = transcript_format_unknown() };
	row_init(w->ret, &nobody, sql_get_text(&q, 0));
	free(w->ret->info.id);
	w->ret->info.id = xstrdup(w->spec);
	w->ret->gone = true;
	return 1;
}

int catalogue_resolve_gone(
	struct store *store, const char *spec, struct session_row *ret, struct err *reterr)
{
	const struct resolve w = { store, NULL, 0, spec, ret, NULL, true };
	int r = ask_tiers(&w, TIER_ID, TIERS, reterr);

	if (r == 0 && uuid_valid(sv_of(spec)))
		r = ask_children(&w, reterr);
	if (r == 0)
		return err_set(
			reterr, ERR_NOTFOUND, "no session that is gone is called '%s'", spec);
	return r < 0 ? r : 0;
}
