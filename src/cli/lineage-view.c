#include "cli/lineage-view.h"

#include "base/utf8.h"
#include "cli/session-view.h"

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

static void put_branch(struct term *t, const struct lineage *l, const bool *goes_on, size_t i)
{
	unsigned depth = l->nodes.v[i].depth;
	if (depth == 0)
		return;
	if (depth > INDENT_LEVELS_MAX) {
		term_putf(t, "%u› ", depth);
		return;
	}
	for (unsigned d = 1; d < depth; d++)
		term_puts(t, goes_on[d] ? "│  " : "   ");
	term_puts(t, goes_on[depth] ? "├─ " : "└─ ");
}

static void put_what(struct term *t, const struct lineage_node *n)
{
	char when[CLOCK_TEXT_MAX];
	AUTO_STR clean = STR_INIT;
	AUTO_STR title = STR_INIT;
	if (n->agent[0])
		term_putf(t, "  %s", n->agent);
	if (n->first_ms) {
		clock_format_local(n->first_ms, when);
		term_putf(t, "  %s", when);
	}
	if (n->state != LINEAGE_MISSING)
		term_putf(t, "  %lld turn%s", (long long)n->turns, n->turns == 1 ? "" : "s");
	utf8_scrub_line(&clean, sv_of(n->title));
	utf8_fit(&title, str_sv(&clean), TITLE_COLUMNS);
	if (title.len > 0) {
		term_puts(t, "  ");
		term_styled(t, STYLE_BOLD, str_sv(&title));
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

static void put_node(struct term *t, const struct lineage *l, const bool *goes_on, size_t i)
{
	const struct lineage_node *n = &l->nodes.v[i];
	const char *relation = session_relation_name(n->relation);
	struct sv id = t->tty ? session_short_id(n->id) : sv_of(n->id);
	put_branch(t, l, goes_on, i);
	if (relation[0])
		term_putf(t, "%s  ", relation);
	term_styled(t, STYLE_CODE, id.n > 0 ? id : SV("?"));
	put_what(t, n);
	if (i == l->focus)
		term_styled(t, STYLE_USER, SV("  <- this session"));
	put_trouble(t, n);
	term_newline(t);
}

void lineage_view(struct term *t, const struct lineage *l)
{
	bool goes_on[INDENT_LEVELS_MAX + 1] = { false };
	for (size_t i = 0; i < l->nodes.n; i++) {
		unsigned depth = l->nodes.v[i].depth;
		if (depth <= INDENT_LEVELS_MAX)
			goes_on[depth] = has_next(l, i);
		put_node(t, l, goes_on, i);
	}
	if (l->cut)
		term_putf(t, "(there are more than %d)\n", LINEAGE_NODES_MAX);
}
