/*
 * The family as a graph in Graphviz's language.
 */
#include "base/utf8.h"
#include "lineage/lineage.h"

enum { LABEL_COLUMNS = 40, ID_COLUMNS = 13 };

/* One line of a label, within its quotes. */
static void add_label(struct str *out, struct sv text, size_t columns)
{
	AUTO_STR clean = STR_INIT;
	AUTO_STR fit = STR_INIT;

	utf8_scrub_line(&clean, text);
	utf8_fit(&fit, str_sv(&clean), columns);
	for (size_t i = 0; i < fit.len; i++) {
		if (fit.buf[i] == '"' || fit.buf[i] == '\\')
			str_addc(out, '\\');
		str_addc(out, fit.buf[i]);
	}
}

static void add_node(struct str *out, const struct lineage *l, size_t i)
{
	const struct lineage_node *n = &l->nodes.v[i];

	str_addf(out, "\tn%zu [label=\"", i);
	add_label(out, sv_of(n->id[0] ? n->id : n->path), ID_COLUMNS);
	if (n->title[0] && strcmp(n->title, n->id) != 0) {
		str_adds(out, "\\n");
		add_label(out, sv_of(n->title), LABEL_COLUMNS);
	}
	str_addf(out, "\\n%s%s%s", n->agent, n->state == LINEAGE_HERE ? "" : " ",
		n->state == LINEAGE_HERE ? "" : lineage_state_name(n->state));
	str_addf(out, "\"%s%s];\n", i == l->focus ? ", penwidth=2, peripheries=2" : "",
		n->state == LINEAGE_GONE || n->state == LINEAGE_MISSING ? ", style=dashed" : "");
}

static void add_edge(struct str *out, const struct lineage *l, size_t i)
{
	const struct lineage_node *n = &l->nodes.v[i];

	if (n->parent != LINEAGE_NONE)
		str_addf(out, "\tn%zu -> n%zu [label=\"%s\"];\n", n->parent, i,
			lineage_relation_name(n));
	if (n->circle)
		str_addf(out, "\tn%zu -> n%zu [style=dotted, label=\"circle\"];\n", i, i);
}

void lineage_dot(const struct lineage *l, struct str *out)
{
	str_adds(out, "digraph lineage {\n\tnode [shape=box, fontname=\"sans-serif\"];\n");
	for (size_t i = 0; i < l->nodes.n; i++)
		add_node(out, l, i);
	for (size_t i = 0; i < l->nodes.n; i++)
		add_edge(out, l, i);
	str_adds(out, "}\n");
}
