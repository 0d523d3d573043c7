#include "cli/lineage-view.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "cli/session-view.h"
#include "ui/size.h"

enum { TITLE_COLUMNS = 48 };

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
enum { INDENT_LEVELS_MAX = 20 };

static void add_branch(struct str *out, const struct lineage *l, const bool *goes_on, size_t i)
{
	unsigned depth = l->nodes.v[i].depth;
	if (depth == 0)
		return;
	if (depth > INDENT_LEVELS_MAX) {
		str_addf(out, "%u› ", depth);
		return;
	}
	for (unsigned d = 1; d < depth; d++)
		str_adds(out, goes_on[d] ? "│  " : "   ");
	str_adds(out, goes_on[depth] ? "├─ " : "└─ ");
}

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

static void fill_row(struct row *r, const struct lineage_node *n, bool tty)
{
	char when[CLOCK_TEXT_MAX], count[SIZE_TEXT_MAX];
	const char *relation = lineage_relation_name(n);
	if (relation[0])
		str_addf(&r->branch, "%s  ", relation);
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

static void measure(struct view *v, const struct row *r)
{
	size_t left = utf8_width(str_sv(&r->branch)) + utf8_width(r->id);
	v->left = left > v->left ? left : v->left;
	for (size_t c = 0; c < COLUMNS; c++) {
		size_t width = utf8_width(str_sv(&r->columns[c]));
		v->widths[c] = width > v->widths[c] ? width : v->widths[c];
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
		add_branch(&r->branch, v->l, goes_on, i);
		fill_row(r, n, v->t->tty);
		measure(v, r);
	}
}

static void release_rows(struct view *v)
{
	for (size_t i = 0; i < v->l->nodes.n; i++) {
		str_release(&v->rows[i].branch);
		for (size_t c = 0; c < COLUMNS; c++)
			str_release(&v->rows[i].columns[c]);
	}
	free(v->rows);
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
	*owed += width - utf8_width(text) + 2;
}

static void put_what(const struct view *v, size_t i, size_t owed)
{
	const struct row *r = &v->rows[i];
	AUTO_STR clean = STR_INIT;
	AUTO_STR title = STR_INIT;
	for (size_t c = 0; c < COLUMNS; c++)
		if (v->widths[c] > 0)
			put_cell(v->t, str_sv(&r->columns[c]), v->widths[c], &owed);
	utf8_scrub_line(&clean, sv_of(v->l->nodes.v[i].title));
	utf8_fit(&title, str_sv(&clean), TITLE_COLUMNS);
	if (title.len > 0) {
		term_putf(v->t, "%*s", (int)owed, "");
		term_styled(v->t, STYLE_BOLD, str_sv(&title));
	}
}

/* What is not as it should be, in words. */
static void put_trouble(struct term *t, const struct lineage_node *n)
{
	AUTO_STR note = STR_INIT;
	if (n->state == LINEAGE_MOVED)
		str_addf(&note, "  [moved here from %s]", n->named);
	else if (n->state == LINEAGE_GONE)
		str_addf(&note, "  [its file is gone: %s]", n->path);
	else if (n->state == LINEAGE_MISSING)
		str_addf(&note, "  [missing%s%s]", n->path[0] ? ": " : "", n->path);
	if (n->guessed)
		str_adds(&note, "  [by its beginning]");
	if (n->circle)
		str_adds(&note, "  [a circle: its parent is one of its own descendants]");
	if (note.len > 0)
		term_styled(t, STYLE_WARNING, str_sv(&note));
}

static void put_node(const struct view *v, size_t i)
{
	const struct row *r = &v->rows[i];
	size_t width = utf8_width(str_sv(&r->branch)) + utf8_width(r->id);
	term_put(v->t, str_sv(&r->branch));
	term_styled(v->t, STYLE_CODE, r->id);
	put_what(v, i, v->left - width + 2);
	if (i == v->l->focus)
		term_styled(v->t, STYLE_USER, SV("  <- this session"));
	put_trouble(v->t, &v->l->nodes.v[i]);
	term_newline(v->t);
}

void lineage_view(struct term *t, const struct lineage *l)
{
	struct view v = { .t = t, .l = l, .rows = xcalloc(l->nodes.n + 1, sizeof(*v.rows)) };
	fill_rows(&v);
	for (size_t i = 0; i < l->nodes.n; i++)
		put_node(&v, i);
	release_rows(&v);
	if (l->cut)
		term_putf(t, "(there are more than %d)\n", LINEAGE_NODES_MAX);
}
