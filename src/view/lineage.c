#include "view/lineage.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "ui/format.h"
#include "view/json.h"
#include "view/session.h"

enum { TITLE_COLUMNS = 48, TITLE_LEAST = 12, GAP = 2 };
/* For a title with the mark behind it, before any other column. */
enum { TITLE_WANTED = 32 };

/* ---- columns ---- */

enum column { COL_AGENT, COL_WHEN, COL_TURNS, COL_SAVED, COLUMNS };

/* One line before its title. */
struct row {
	struct str branch; /* with the relation */
	struct sv id;
	struct str columns[COLUMNS];
};

struct view {
	struct term *t;
	const struct lineage *l;
	struct row *rows;
	size_t left; /* columns of branch and id */
	size_t widths[COLUMNS];
};

/* ---- branches ---- */

/* True when a later node has the same parent, so that the line goes on past this one. */
static bool has_next(const struct lineage *l, size_t i)
{
	const struct lineage_node *n = &l->nodes.v[i];

	for (size_t k = i + 1; k < l->nodes.n && l->nodes.v[k].depth >= n->depth; k++)
		if (l->nodes.v[k].parent == n->parent)
			return true;
	return false;
}

/* A long line of descent must not run out of the screen. */
enum { INDENT_LEVELS_MAX = 20, INDENT_SHARE = 8 };

static void add_branch(const struct view *v, struct str *out, const bool *goes_on, size_t i)
{
	unsigned depth = v->l->nodes.v[i].depth;
	bool ascii = v->t->ascii;
	size_t fit = v->t->tty ? v->t->cols / INDENT_SHARE : INDENT_LEVELS_MAX;

	if (depth == 0)
		return;
	if (depth > INDENT_LEVELS_MAX || depth > fit) {
		str_addf(out, ascii ? "%u> " : "%u› ", depth);
		return;
	}
	for (unsigned d = 1; d < depth; d++)
		str_adds(out, !goes_on[d] ? "   " : ascii ? "|  " : "│  ");
	if (goes_on[depth])
		str_adds(out, ascii ? "|- " : "├─ ");
	else
		str_adds(out, ascii ? "`- " : "└─ ");
}

static void fill_row(struct row *r, const struct lineage_node *n, bool tty)
{
	char when[CLOCK_TEXT_MAX], count[SIZE_TEXT_MAX];
	const char *relation = session_relation_name(n->relation);

	if (relation[0])
		str_adds(&r->branch, relation);
	if (n->turn > 0)
		str_addf(&r->branch, " at %lld", (long long)n->turn);
	if (n->other_id[0]) {
		str_adds(&r->branch, " with ");
		utf8_scrub_line(&r->branch, session_short_id(n->other_id));
	}
	if (relation[0])
		str_adds(&r->branch, "  ");
	r->id = tty ? session_short_id(n->id) : sv_of(n->id);
	if (r->id.n == 0)
		r->id = SV("?");
	str_adds(&r->columns[COL_AGENT], n->agent);
	if (n->made_ms) {
		clock_format_local(n->made_ms, when);
		str_adds(&r->columns[COL_WHEN], when);
	}
	if (n->state != LINEAGE_MISSING)
		str_addf(&r->columns[COL_TURNS], "%lld turn%s", (long long)n->turns,
			n->turns == 1 ? "" : "s");
	if (n->saved >= 0) {
		size_format_count(n->saved, count);
		str_addf(&r->columns[COL_SAVED], "%s tokens less", count);
	}
}

static void fill_rows(struct view *v)
{
	bool goes_on[INDENT_LEVELS_MAX + 1] = { false };

	for (size_t i = 0; i < v->l->nodes.n; i++) {
		const struct lineage_node *n = &v->l->nodes.v[i];
		struct row *r = &v->rows[i];
		r->branch = (struct str)STR_INIT;
		for (size_t c = 0; c < COLUMNS; c++)
			r->columns[c] = (struct str)STR_INIT;
		if (n->depth <= INDENT_LEVELS_MAX)
			goes_on[n->depth] = has_next(v->l, i);
		add_branch(v, &r->branch, goes_on, i);
		fill_row(r, n, v->t->tty);
		size_t left = utf8_width(str_sv(&r->branch)) + utf8_width(r->id);
		v->left = left > v->left ? left : v->left;
		for (size_t c = 0; c < COLUMNS; c++) {
			size_t width = utf8_width(str_sv(&r->columns[c]));
			v->widths[c] = width > v->widths[c] ? width : v->widths[c];
		}
	}
}

/* ---- lines ---- */

/* Blanks are owed, so that no line ends with them. */
static void put_cell(struct term *t, struct sv text, size_t width, size_t *owed)
{
	if (text.n > 0) {
		term_putf(t, "%*s", (int)*owed, "");
		term_put(t, text);
		*owed = 0;
	}
	*owed += width - utf8_width(text) + GAP;
}

/* What does not fit ends with dots. */
static void add_fit(const struct term *t, struct str *out, struct sv text, size_t columns)
{
	AUTO_STR clean = STR_INIT;
	AUTO_STR fit = STR_INIT;

	utf8_scrub_line(&clean, text);
	bool cut = t->ascii && utf8_width(str_sv(&clean)) > columns && columns > 3;
	utf8_fit(&fit, str_sv(&clean), cut ? columns - 2 : columns);
	if (cut && sv_ends(str_sv(&fit), SV("…")))
		str_cut(&fit, fit.len - SV("…").n);
	str_add(out, str_sv(&fit));
	if (cut)
		str_adds(out, "...");
}

/* What is not as it should be, in words. */
static void add_trouble(struct str *note, const struct lineage_node *n)
{
	if (n->state == LINEAGE_MOVED)
		str_addf(note, "  [moved here from %s]", n->named);
	else if (n->state == LINEAGE_GONE)
		str_addf(note, "  [its file is gone: %s]", n->path);
	else if (n->state == LINEAGE_MISSING)
		str_addf(note, "  [missing%s%s]", n->path[0] ? ": " : "", n->path);
	if (n->guessed)
		str_adds(note, "  [by its beginning]");
	if (n->circle)
		str_adds(note, "  [a circle: its parent is one of its own descendants]");
}

/* Columns for the title: what mark and trouble leave, and some of theirs when that is little. */
static size_t title_room(size_t room, size_t taken, size_t trouble)
{
	size_t left = taken < room ? room - taken : 0;
	size_t most = left > trouble + TITLE_LEAST ? left - trouble : TITLE_LEAST;

	most = most < left ? most : left;
	return most < TITLE_COLUMNS ? most : TITLE_COLUMNS;
}

/* Title, mark and trouble in the columns that are left of the line; on a pipe there is no end. */
static void put_rest(const struct view *v, size_t i, size_t used, size_t owed)
{
	const struct lineage_node *n = &v->l->nodes.v[i];
	struct sv mark = i == v->l->focus ? SV("  <- this session") : SV("");
	AUTO_STR title = STR_INIT;
	AUTO_STR trouble = STR_INIT;
	AUTO_STR fit = STR_INIT;
	size_t room = v->t->tty ? v->t->cols : SIZE_MAX / 2;

	if (used + mark.n > room)
		mark = sv_head(mark, SV("  <-").n);
	size_t taken = used + mark.n;
	add_trouble(&trouble, n);
	/* What has no other title is called by its id, which stands there already. */
	add_fit(v->t, &title, sv_of(strcmp(n->title, n->id) == 0 ? "" : n->title),
		title_room(room, taken + owed, utf8_width(str_sv(&trouble))));
	if (title.len > 0) {
		term_putf(v->t, "%*s", (int)owed, "");
		term_styled(v->t, STYLE_BOLD, str_sv(&title));
		taken += owed + utf8_width(str_sv(&title));
	}
	term_styled(v->t, STYLE_USER, mark);
	add_fit(v->t, &fit, str_sv(&trouble), taken < room ? room - taken : 0);
	term_styled(v->t, STYLE_WARNING, str_sv(&fit));
}

static void put_line(const struct view *v, size_t i)
{
	const struct row *r = &v->rows[i];
	size_t owed = v->left - utf8_width(str_sv(&r->branch)) - utf8_width(r->id) + GAP;
	size_t used = v->left + GAP;

	term_put(v->t, str_sv(&r->branch));
	term_styled(v->t, STYLE_CODE, r->id);
	for (size_t c = 0; c < COLUMNS; c++)
		if (v->widths[c] > 0) {
			put_cell(v->t, str_sv(&r->columns[c]), v->widths[c], &owed);
			used += v->widths[c] + GAP;
		}
	put_rest(v, i, used - owed, owed);
	term_newline(v->t);
}

/* One that is the same everywhere does not tell one session from another. */
static bool one_agent(const struct view *v)
{
	for (size_t i = 1; i < v->l->nodes.n; i++)
		if (strcmp(v->l->nodes.v[i].agent, v->l->nodes.v[0].agent) != 0)
			return false;
	return true;
}

/* Columns that leave no room for the titles are left out, what is missed least first. */
static void fit_columns(struct view *v)
{
	bool one = one_agent(v);
	const enum column order[] = { COL_TURNS, COL_SAVED, one ? COL_AGENT : COL_WHEN,
		one ? COL_WHEN : COL_AGENT };
	size_t total = v->left + GAP + TITLE_WANTED;

	for (size_t c = 0; c < COLUMNS; c++)
		total += v->widths[c] ? v->widths[c] + GAP : 0;
	for (size_t i = 0; v->t->tty && i < ARRAY_LEN(order) && total > v->t->cols; i++) {
		total -= v->widths[order[i]] ? v->widths[order[i]] + GAP : 0;
		v->widths[order[i]] = 0;
	}
}

void view_lineage(struct term *t, const struct lineage *l)
{
	struct view v = { .t = t, .l = l, .rows = xcalloc(l->nodes.n + 1, sizeof(*v.rows)) };

	fill_rows(&v);
	fit_columns(&v);
	for (size_t i = 0; i < l->nodes.n; i++)
		put_line(&v, i);
	for (size_t i = 0; i < l->nodes.n; i++) {
		str_release(&v.rows[i].branch);
		for (size_t c = 0; c < COLUMNS; c++)
			str_release(&v.rows[i].columns[c]);
	}
	free(v.rows);
	if (l->cut)
		term_putf(t, "(there are more than %d)\n", LINEAGE_NODES_MAX);
}

/* ---- for programs ---- */

static void put_node(struct jw *w, const struct lineage *l, size_t i)
{
	const struct lineage_node *n = &l->nodes.v[i];
	/* A fork that is known by its beginning alone does not name its parent. */
	const struct lineage_node *from =
		n->guessed && n->parent != LINEAGE_NONE ? &l->nodes.v[n->parent] : NULL;

	jw_object(w);
	view_put_text(w, "session_id", n->id);
	view_put_text(w, "path", n->path);
	view_put_text(w, "agent", n->agent);
	view_put_text(w, "title", n->title);
	view_put_parent(w, from ? from->id : n->parent_id, from ? from->path : n->parent_path,
		session_relation_name(n->relation));
	view_put_count(w, "turn", n->turn, n->turn > 0);
	view_put_text(w, "other_id", n->other_id);
	jw_put_cstr(w, "state", lineage_state_name(n->state));
	view_put_text(w, "moved_from", n->named);
	jw_put_bool(w, "guessed", n->guessed);
	jw_put_bool(w, "circle", n->circle);
	view_put_time(w, "made_at", n->made_ms);
	view_put_time(w, "active_at", n->active_ms);
	view_put_count(w, "saved_tokens", n->saved, n->saved >= 0);
	jw_put_i64(w, "turns", n->turns);
	jw_put_i64(w, "depth", n->depth);
	jw_put_bool(w, "this", i == l->focus);
	jw_end(w);
}

void view_json_lineage(struct jw *w, const struct lineage *l, const char *kept)
{
	AUTO_FREE size_t *way = xcalloc(l->nodes.v[l->focus].depth + 1, sizeof(*way));
	size_t n = 0;

	jw_object(w);
	view_put_text(w, "session_id", l->nodes.v[l->focus].id);
	view_put_text(w, "root_id", l->nodes.v[0].id);
	jw_key(w, "chain");
	jw_array(w);
	for (size_t i = l->focus; i != LINEAGE_NONE; i = l->nodes.v[i].parent)
		way[n++] = i;
	while (n-- > 0)
		jw_string(w, sv_of(l->nodes.v[way[n]].id));
	jw_end(w);
	jw_put_bool(w, "cut", l->cut);
	jw_put_cstr(w, "archive_key", kept);
	jw_key(w, "sessions");
	jw_array(w);
	for (size_t i = 0; i < l->nodes.n; i++)
		put_node(w, l, i);
	jw_end(w);
	jw_end(w);
}
