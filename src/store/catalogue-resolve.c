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

static const struct transcript_home *home_of_path(const struct resolve *r, const char *path)
{
	for (size_t i = 0; i < r->n_homes; i++) {
		AUTO_FREE char *root = NULL;
		if (path_within(sv_of(path), sv_of(r->homes[i].root)) ||
			(path_real(r->homes[i].root, &root, NULL) >= 0 &&
				path_within(sv_of(path), sv_of(root))))
			return &r->homes[i];
	}
	return NULL;
}

/* A file outside all homes is read for this once and not remembered. */
static int read_stray(const struct resolve *r, const char *path, struct err *reterr)
{
	const struct transcript_format *format;
	struct file_stat stat;
	int rc = transcript_probe(path, &format, reterr);
	if (rc < 0)
		return rc;
	const struct transcript_home home = {
		.agent = transcript_format_name(format), .format = format, .root = ""
	};
	AUTO_SESSION_ROW row = SESSION_ROW_INIT;
	row_init(&row, &home, path);
	rc = row_scan(&row, false, &stat, reterr);
	if (rc >= 0)
		take_row(r->ret, &row);
	return rc;
}

static int resolve_path(const struct resolve *r, struct err *reterr)
{
	AUTO_FREE char *real = NULL;
	int rc = path_real(r->spec, &real, reterr);
	if (rc == -ENOENT || rc == -ENOTDIR)
		return err_set(reterr, ERR_NOTFOUND, "%s: no such file", r->spec);
	if (rc < 0)
		return rc;
	const struct transcript_home *home = home_of_path(r, real);
	if (!home || transcript_path_id(home->format, sv_of(real)).n == 0)
		return read_stray(r, real, reterr);
	return catalogue_take(r->store, home, real, r->ret, reterr);
}

/* ---- tiers of likeness, asked of the catalogue ---- */

/* What is bound: the text itself, or a LIKE pattern that begins with it or holds it. */
enum likeness { IS, BEGINS, HOLDS };

#define VISIBLE "s.flags & 9 = 0 AND "
static const struct tier {
	const char *where;
	enum likeness likeness;
	bool fragment; /* of an id: needs some length */
} tiers[] = {
	{ "s.id = ?1 COLLATE NOCASE", IS, false },
	{ VISIBLE "IFNULL(n.name, s.name) = ?1 COLLATE NOCASE AND ?1 <> ''", IS, false },
	{ VISIBLE "s.id LIKE ?1 ESCAPE '\\'", BEGINS, true },
	{ VISIBLE "s.id LIKE ?1 ESCAPE '\\'", HOLDS, true },
	{ VISIBLE "IFNULL(n.name, s.name) LIKE ?1 ESCAPE '\\'", HOLDS, false },
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
	AUTO_STR like = STR_INIT;
	if (likeness == IS) {
		sql_text(q, spec);
		return;
	}
	str_adds(&like, likeness == HOLDS ? "%" : "");
	for (const char *p = spec; *p; p++) {
		if (*p == '%' || *p == '_' || *p == '\\')
			str_addc(&like, '\\');
		str_addc(&like, *p);
	}
	str_addc(&like, '%');
	sql_text(q, like.buf);
}

#define IS_HERE "s.gone = 0"
/* The last of several rows of one id, when none of them is there. */
#define IS_GONE                                                                               \
	"NOT EXISTS (SELECT 1 FROM session o WHERE o.id = s.id AND (o.gone = 0 OR"            \
	" o.active_ms > s.active_ms OR o.active_ms = s.active_ms AND o.rowid > s.rowid)) AND" \
	" s.gone = 1"

static int ask_tier(const struct resolve *r, const struct tier *tier,
	struct catalogue_matches *found, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	AUTO_FREE char *text =
		xasprintf(ROW_SELECT "WHERE %s AND %s ORDER BY s.active_ms DESC LIMIT %d",
			r->gone ? IS_GONE : IS_HERE, tier->where, CATALOGUE_CANDIDATES_MAX + 1);
	int rc = sql_prepare(&q, r->store, text, reterr);
	if (rc < 0)
		return rc;
	bind_spec(&q, r->spec, tier->likeness);
	while ((rc = sql_step(&q, reterr)) > 0) {
		if (found->rows.n == CATALOGUE_CANDIDATES_MAX) {
			found->more = true;
			break;
		}
		struct session_row row;
		row_load(&q, &row);
		vec_push(&found->rows, row);
	}
	return rc < 0 ? rc : 0;
}

static int refuse_ambiguous(
	const struct resolve *r, struct catalogue_matches *found, struct err *reterr)
{
	enum { SHOWN = 3 };
	AUTO_STR some = STR_INIT;
	for (size_t i = 0; i < found->rows.n && i < SHOWN; i++) {
		const struct session_row *row = &found->rows.v[i];
		const char *name = session_row_name(row);
		str_addf(&some, "%s%s%s%s%s", i ? ", " : "", row->info.id, name[0] ? " (" : "",
			name, name[0] ? ")" : "");
	}
	int rc = err_set(reterr, ERR_AMBIGUOUS, "'%s' fits %s%zu sessions: %s%s", r->spec,
		found->more ? "more than " : "", found->rows.n, some.buf,
		found->rows.n > SHOWN ? ", …" : "");
	if (r->matches) {
		catalogue_matches_release(r->matches);
		*r->matches = *found;
		*found = (struct catalogue_matches){ .more = false };
	}
	return rc;
}

/* 1 when a tier decided, 0 when none fits. */
static int ask_tiers(const struct resolve *r, size_t n_tiers, struct err *reterr)
{
	bool fragment = is_fragment(sv_of(r->spec));
	for (size_t i = 0; i < n_tiers; i++) {
		if (tiers[i].fragment && !fragment)
			continue;
		CLEANUP(catalogue_matches_release)
		struct catalogue_matches found = { .more = false };
		int rc = ask_tier(r, &tiers[i], &found, reterr);
		if (rc < 0)
			return rc;
		if (found.rows.n > 1)
			return refuse_ambiguous(r, &found, reterr);
		if (found.rows.n == 1) {
			take_row(r->ret, &found.rows.v[0]);
			return 1;
		}
	}
	return 0;
}

/* ---- a full id ---- */

/* By file names alone: a session that the catalogue has not seen yet. */
static int find_by_name(const struct resolve *r, struct err *reterr)
{
	for (size_t i = 0; i < r->n_homes; i++) {
		AUTO_FREE char *path = NULL;
		int rc = transcript_find(&r->homes[i], sv_of(r->spec), &path, reterr);
		if (rc < 0)
			return rc;
		if (!path)
			continue;
		rc = catalogue_take(r->store, &r->homes[i], path, r->ret, reterr);
		return rc < 0 ? rc : 1;
	}
	return 0;
}

/* The row may be older than its file, or the file may be gone since. */
static int bring_up_to_date(const struct resolve *r, struct err *reterr)
{
	const struct transcript_home *home = home_of_path(r, r->ret->info.path);
	struct session_row fresh = SESSION_ROW_INIT;
	if (!home)
		return 1;
	int rc = catalogue_take(r->store, home, r->ret->info.path, &fresh, reterr);
	if (rc == -ENOENT)
		return 0;
	if (rc < 0)
		return rc;
	session_row_release(r->ret);
	*r->ret = fresh;
	return 1;
}

static int resolve_id(const struct resolve *r, struct err *reterr)
{
	int rc = ask_tiers(r, 1, reterr);
	if (rc > 0) {
		rc = bring_up_to_date(r, reterr);
		if (rc <= 0)
			session_row_release(r->ret);
	}
	return rc == 0 ? find_by_name(r, reterr) : rc;
}

static bool is_path(const char *spec)
{
	return strchr(spec, '/') || sv_ends(sv_of(spec), SV(".jsonl"));
}

int catalogue_resolve(struct store *store, const struct transcript_home *homes, size_t n_homes,
	const char *spec, struct session_row *ret, struct catalogue_matches *matches,
	struct err *reterr)
{
	const struct resolve r = { store, homes, n_homes, spec, ret, matches, false };
	if (spec[0] == '\0')
		return err_set(reterr, ERR_NOTFOUND, "no session has an empty name");
	if (is_path(spec))
		return resolve_path(&r, reterr);
	int rc = uuid_valid(sv_of(spec)) ? resolve_id(&r, reterr) : 0;
	if (rc == 0) {
		rc = catalogue_refresh(store, homes, n_homes, NULL, NULL, reterr);
		if (rc >= 0)
			rc = ask_tiers(&r, ARRAY_LEN(tiers), reterr);
	}
	if (rc == 0 && strlen(spec) < CATALOGUE_FRAGMENT_MIN)
		return err_set(reterr, ERR_NOTFOUND,
			"no session is called '%s', and a part of an id has %d characters or more",
			spec, CATALOGUE_FRAGMENT_MIN);
	if (rc == 0)
		return err_set(reterr, ERR_NOTFOUND, "no session is called '%s'", spec);
	return rc < 0 ? rc : 0;
}

/* ---- one that is gone ---- */

/* What its children say: 1, or 0 when it has none. */
static int ask_children(const struct resolve *r, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int rc = sql_prepare(&q, r->store,
		"SELECT parent_path FROM session s WHERE s.parent_id = ?1 OR"
		" s.parent_path LIKE '%' || ?1 || '.jsonl'"
		" ORDER BY s.parent_path = '', s.first_ms LIMIT 1",
		reterr);
	if (rc < 0)
		return rc;
	sql_text(&q, r->spec);
	rc = sql_step(&q, reterr);
	if (rc <= 0)
		return rc;
	const struct transcript_home nobody = { .agent = "",
		.format = transcript_format_unknown() };
	row_init(r->ret, &nobody, sql_get_text(&q, 0));
	free(r->ret->info.id);
	r->ret->info.id = xstrdup(r->spec);
	r->ret->gone = true;
	return 1;
}

int catalogue_resolve_gone(
	struct store *store, const char *spec, struct session_row *ret, struct err *reterr)
{
	const struct resolve r = { store, NULL, 0, spec, ret, NULL, true };
	int rc = ask_tiers(&r, ARRAY_LEN(tiers), reterr);
	if (rc == 0 && uuid_valid(sv_of(spec)))
		rc = ask_children(&r, reterr);
	if (rc == 0)
		return err_set(
			reterr, ERR_NOTFOUND, "no session that is gone is called '%s'", spec);
	return rc < 0 ? rc : 0;
}
