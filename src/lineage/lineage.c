#include "lineage/lineage.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "os/path.h"
#include "transcript/note.h"
#include "json/scan.h"

const char *lineage_state_name(enum lineage_state state)
{
	static const char *const names[] = {
		[LINEAGE_HERE] = "here",
		[LINEAGE_MOVED] = "moved",
		[LINEAGE_GONE] = "gone",
		[LINEAGE_MISSING] = "missing",
	};

	return names[state];
}

/* ---- nodes ---- */

static void node_release(struct lineage_node *n)
{
	free(n->id);
	free(n->path);
	free(n->named);
	free(n->agent);
	free(n->title);
	free(n->parent_id);
	free(n->parent_path);
	free(n->root);
	free(n->other_id);
}

void lineage_release(struct lineage *l)
{
	vec_each (&l->nodes, n)
		node_release(n);
	vec_release(&l->nodes);
	*l = (struct lineage)LINEAGE_INIT;
}

struct lineage_node lineage_node_of(const struct session_row *row)
{
	return (struct lineage_node){
		.id = xstrdup(row->info.id),
		.path = xstrdup(row->info.path),
		.named = xstrdup(""),
		.agent = xstrdup(row->agent),
		.title = xstrdup(session_title(row)),
		.parent_id = xstrdup(row->info.parent_id),
		.parent_path = xstrdup(row->info.parent_path),
		.root = xstrdup(row->info.root),
		.other_id = xstrdup(""),
		.relation = row->info.relation,
		.state = !row->gone	? LINEAGE_HERE
			: row->agent[0] ? LINEAGE_GONE
					: LINEAGE_MISSING,
		.first_ms = row->info.first_ms,
		.made_ms = row->info.first_ms,
		.saved = -1,
		.active_ms = row->active_ms,
		.turns = row->info.turns,
		.parent = LINEAGE_NONE,
	};
}

/* A parent of which only its child knows. */
static struct lineage_node node_of_child(const struct lineage_node *child)
{
	return (struct lineage_node){
		.id = xstrdup(child->parent_id),
		.path = xstrdup(child->parent_path),
		.named = xstrdup(""),
		.agent = xstrdup(""),
		.title = xstrdup(""),
		.parent_id = xstrdup(""),
		.parent_path = xstrdup(""),
		.root = xstrdup(""),
		.other_id = xstrdup(""),
		.state = LINEAGE_MISSING,
		.saved = -1,
		.parent = LINEAGE_NONE,
	};
}

void lineage_take_note(struct lineage_node *n)
{
	static const char *const keys[] = { SESSION_NOTE_KEY, "continue_metadata",
		"trim_metadata" };
	static const char *const times[] = { "trimmed_at", "continued_at", "repaired_at",
		"created_at" };
	AUTO_STR text = STR_INIT;
	struct jval note, val;
	size_t key;
	int64_t ms = 0, saved;

	if (n->relation == SESSION_ROOT || n->state == LINEAGE_GONE ||
		n->state == LINEAGE_MISSING ||
		!session_note_find(n->path, keys, ARRAY_LEN(keys), &text, &note, &key))
		return;
	for (size_t i = 0; i < ARRAY_LEN(times) && ms <= 0; i++) {
		AUTO_STR time = STR_INIT;
		if (scan_get(note, sv_of(times[i]), &val) > 0 && scan_string(val, &time) &&
			clock_parse_iso(str_sv(&time), &ms) && ms > 0)
			n->made_ms = ms;
	}
	if (scan_get(note, SV("turn"), &val) > 0 && scan_i64(val, &saved) && saved > 0)
		n->turn = saved;
	AUTO_STR other = STR_INIT;
	if (scan_get(note, SV("other_id"), &val) > 0 && scan_string(val, &other)) {
		free(n->other_id);
		n->other_id = str_detach(&other);
	}
	if (scan_path(note, "stats.tokens_saved", &val) > 0 && scan_i64(val, &saved) && saved >= 0)
		n->saved = saved;
}

static bool has_parent(const struct lineage_node *n)
{
	return n->parent_id[0] || n->parent_path[0];
}

/* What tells nodes apart: the file, or the id when no file is known. */
static struct sv node_key(const struct lineage_node *n)
{
	return sv_of(n->path[0] ? n->path : n->id);
}

/* ---- a parent ---- */

struct trace {
	struct store *store;
	const struct transcript_home *homes;
	size_t n_homes;
	struct map seen; /* keys of nodes */
	struct map ids; /* of nodes */
};

static void trace_release(struct trace *t)
{
	map_release(&t->seen);
	map_release(&t->ids);
}

/* False when the node is there already. */
static bool note_seen(struct trace *t, const struct lineage_node *n)
{
	if (!map_put(&t->seen, node_key(n), 0))
		return false;
	if (n->id[0])
		(void)map_put(&t->ids, sv_of(n->id), 0);
	return true;
}

static int on_candidate(void *data, const struct session_row *row)
{
	struct lineage_node *best = data;

	if (best->id && (best->state == LINEAGE_HERE || row->gone))
		return 0;
	if (best->id)
		node_release(best);
	*best = lineage_node_of(row);
	return 0;
}

/* By id: a file that is there goes before one that is remembered. best->id stays NULL when the
 * catalogue knows none. */
static int find_by_id(
	const struct trace *t, const char *id, struct lineage_node *best, struct err *reterr)
{
	const struct catalogue_query query = {
		.id = id, .gone = true, .empty = true, .subagents = true
	};

	return id[0] ? catalogue_query(t->store, &query, on_candidate, best, reterr) : 0;
}

/* A file that the catalogue has not seen, or whose row is older than it. */
static bool find_by_path(const struct trace *t, const char *path, struct lineage_node *ret)
{
	AUTO_SESSION_ROW row = SESSION_ROW_INIT;

	if (path[0] != '/' || !path_exists(path) ||
		catalogue_resolve(t->store, t->homes, t->n_homes, path, &row, NULL, NULL) < 0)
		return false;
	*ret = lineage_node_of(&row);
	return true;
}

/* By the names of the files alone. */
static bool find_by_name(const struct trace *t, const char *id, struct lineage_node *ret)
{
	for (size_t i = 0; i < t->n_homes && uuid_valid(sv_of(id)); i++) {
		AUTO_FREE char *path = NULL;
		if (transcript_find(&t->homes[i], sv_of(id), &path, NULL) >= 0 && path &&
			find_by_path(t, path, ret))
			return true;
	}
	return false;
}

/* Wherever a session of this id is now; ret->id stays NULL when nobody knows it. */
static int look_for(
	const struct trace *t, const char *id, struct lineage_node *ret, struct err *reterr)
{
	struct lineage_node found;
	int r = find_by_id(t, id, ret, reterr);

	if (r < 0)
		return r;
	if (ret->id && ret->state == LINEAGE_HERE && path_exists(ret->path))
		return 0;
	if (!find_by_name(t, id, &found)) {
		ret->state = LINEAGE_GONE;
		return 0;
	}
	if (ret->id)
		node_release(ret);
	*ret = found;
	return 0;
}

static int find_parent(const struct trace *t, const struct lineage_node *child,
	struct lineage_node *ret, struct err *reterr)
{
	struct lineage_node found = { .id = NULL };
	const char *path = child->parent_path;

	if (find_by_path(t, path, ret))
		return 0;
	struct sv named = sv_of(child->parent_id);
	if (named.n == 0)
		(void)transcript_format_of_name(sv_of(path), &named);
	AUTO_FREE char *id = xmemdup0(named.p, named.n);
	int r = look_for(t, id, &found, reterr);
	if (r < 0)
		return r;
	*ret = found.id ? found : node_of_child(child);
	if (ret->state == LINEAGE_HERE && path[0]) {
		ret->state = LINEAGE_MOVED;
		free(ret->named);
		ret->named = xstrdup(path);
	}
	return 0;
}

/* ---- forks that do not say so ---- */

struct kin {
	const struct lineage_node *of;
	struct lineage_node oldest; /* id NULL: none */
};

static bool is_kin(const struct lineage_node *of, const struct session_row *row)
{
	return strcmp(of->path, row->info.path) != 0 && !row->info.parent_id[0] &&
		!row->info.parent_path[0] && transcript_forks_silently(row->info.format);
}

static int on_kin(void *data, const struct session_row *row)
{
	struct kin *k = data;
	int64_t known = k->oldest.id ? k->oldest.first_ms : k->of->first_ms;

	if (!is_kin(k->of, row) || row->info.first_ms >= known)
		return 0;
	if (k->oldest.id)
		node_release(&k->oldest);
	k->oldest = lineage_node_of(row);
	return 0;
}

static int each_kin(const struct trace *t, const struct lineage_node *of, catalogue_fn fn,
	void *data, struct err *reterr)
{
	const struct catalogue_query query = { .root = of->root, .empty = true };

	if (!of->root[0] || has_parent(of) || of->first_ms == 0)
		return 0;
	return catalogue_query(t->store, &query, fn, data, reterr);
}

/* 1 and the session that this one was forked from, 0 when none is known. */
static int find_origin(const struct trace *t, struct lineage_node *fork, struct lineage_node *ret,
	struct err *reterr)
{
	struct kin k = { .of = fork };
	int r = each_kin(t, fork, on_kin, &k, reterr);

	if (r < 0 || !k.oldest.id)
		return r;
	fork->relation = SESSION_FORKED;
	fork->guessed = true;
	*ret = k.oldest;
	return 1;
}

/* ---- up ---- */

/* Nodes from the focus to its first ancestor, in that order. */
static int climb(
	struct trace *t, const struct session_row *focus, struct lineage *chain, struct err *reterr)
{
	vec_push(&chain->nodes, lineage_node_of(focus));
	lineage_take_note(&chain->nodes.v[0]);
	(void)note_seen(t, &chain->nodes.v[0]);
	for (;;) {
		struct lineage_node *last = &chain->nodes.v[chain->nodes.n - 1];
		struct lineage_node parent;
		int r = has_parent(last) ? find_parent(t, last, &parent, reterr)
					 : find_origin(t, last, &parent, reterr);
		if (r < 0 || (r == 0 && !has_parent(last)))
			return r;
		bool fresh = note_seen(t, &parent);
		last->circle = !fresh;
		chain->cut = chain->nodes.n == LINEAGE_NODES_MAX;
		if (!fresh || chain->cut) {
			node_release(&parent);
			return 0;
		}
		lineage_take_note(&parent);
		vec_push(&chain->nodes, parent);
	}
}

static void reverse(struct lineage *l)
{
	size_t n = l->nodes.n;

	for (size_t i = 0; i < n / 2; i++) {
		struct lineage_node kept = l->nodes.v[i];
		l->nodes.v[i] = l->nodes.v[n - 1 - i];
		l->nodes.v[n - 1 - i] = kept;
	}
	for (size_t i = 0; i < n; i++) {
		l->nodes.v[i].parent = i ? i - 1 : LINEAGE_NONE;
		l->nodes.v[i].depth = (unsigned)i;
	}
	l->focus = n - 1;
}

/* Work that went on with another agent, whether its note says so or not. */
static void mark_ported(struct lineage *l)
{
	vec_each (&l->nodes, n) {
		if (n->relation != SESSION_CONTINUED || n->parent == LINEAGE_NONE)
			continue;
		const char *agent = l->nodes.v[n->parent].agent;
		if (agent[0] && n->agent[0] && strcmp(agent, n->agent) != 0)
			n->relation = SESSION_PORTED;
	}
}

int lineage_chain(struct store *store, const struct transcript_home *homes, size_t n_homes,
	const struct session_row *focus, struct lineage *ret, struct err *reterr)
{
	struct lineage chain = LINEAGE_INIT;
	struct trace t = { store, homes, n_homes, MAP_INIT, MAP_INIT };
	int r = climb(&t, focus, &chain, reterr);

	trace_release(&t);
	if (r < 0) {
		lineage_release(&chain);
		return r;
	}
	reverse(&chain);
	mark_ported(&chain);
	*ret = chain;
	return 0;
}

/* ---- down ---- */

struct family {
	struct trace t;
	struct lineage chain; /* nodes move from here into the result */
	size_t next; /* of the chain: the first that is not yet in the result */
	VEC(struct lineage_node) todo; /* a stack */
	struct lineage *out;
};

static int on_live(void *data, const struct session_row *row UNUSED)
{
	*(bool *)data = true;
	return 1;
}

/* A file that was moved leaves its old row behind: the session is where it is now. */
static bool left_behind(const struct family *f, const struct session_row *row)
{
	const struct catalogue_query live = {
		.id = row->info.id, .empty = true, .subagents = true, .limit = 1
	};
	uint64_t at;
	bool found = false;

	if (!row->gone || !row->info.id[0])
		return false;
	if (map_get(&f->t.ids, sv_of(row->info.id), &at))
		return true;
	return catalogue_query(f->t.store, &live, on_live, &found, NULL) >= 0 && found;
}

static int on_child(void *data, const struct session_row *row)
{
	struct family *f = data;

	if ((row->info.flags & SESSION_SUBAGENT) || left_behind(f, row))
		return 0;
	struct lineage_node child = lineage_node_of(row);
	if (!note_seen(&f->t, &child)) {
		node_release(&child);
		return 0;
	}
	lineage_take_note(&child);
	vec_push(&f->todo, child);
	return 0;
}

/* Forks hang on the oldest: only that one has no older kin. */
static int on_fork(void *data, const struct session_row *row)
{
	struct family *f = data;
	const struct lineage_node *n = &f->out->nodes.v[f->out->nodes.n - 1];
	size_t before = f->todo.n;

	if (!is_kin(n, row) || row->info.first_ms <= n->first_ms || n->guessed)
		return 0;
	int r = on_child(f, row);
	if (f->todo.n > before) {
		f->todo.v[before].relation = SESSION_FORKED;
		f->todo.v[before].guessed = true;
	}
	return r;
}

static int by_made(const void *a, const void *b)
{
	const struct lineage_node *x = a, *y = b;

	if (x->made_ms != y->made_ms)
		return x->made_ms < y->made_ms ? -1 : 1;
	return strcmp(x->path, y->path);
}

static void reverse_todo(struct family *f, size_t from)
{
	for (size_t a = from, b = f->todo.n; a + 1 < b; a++, b--) {
		struct lineage_node kept = f->todo.v[a];
		f->todo.v[a] = f->todo.v[b - 1];
		f->todo.v[b - 1] = kept;
	}
}

static int on_former(void *data, const struct session_row *row)
{
	if (row->gone)
		strv_add(data, row->info.path);
	return 0;
}

/* Those that name the session by its id or its place, or by a place where it once was. */
static int find_children(struct family *f, const struct lineage_node *n, struct err *reterr)
{
	const struct session_info self = { .path = n->path, .id = n->id };
	const struct catalogue_query query = {
		.id = n->id, .gone = true, .empty = true, .subagents = true
	};
	AUTO_STRV former = STRV_INIT;
	int r = catalogue_children(f->t.store, &self, on_child, f, reterr);

	if (r >= 0 && n->id[0])
		r = catalogue_query(f->t.store, &query, on_former, &former, reterr);
	for (size_t i = 0; r >= 0 && i < former.n; i++) {
		const struct session_info then = { .path = former.v[i], .id = n->id };
		r = catalogue_children(f->t.store, &then, on_child, f, reterr);
	}
	return r;
}

/* Puts the children of the node that was placed last on the stack, the oldest on top. The one on
 * the way to the focus comes from the chain: its file may lie outside of every home. */
static int push_children(struct family *f, bool on_chain, struct err *reterr)
{
	size_t at = f->out->nodes.n - 1, from = f->todo.n, others;

	if (on_chain && f->next < f->chain.nodes.n) {
		vec_push(&f->todo, f->chain.nodes.v[f->next]);
		f->next++;
	}
	others = f->todo.n;
	int r = find_children(f, &f->out->nodes.v[at], reterr);
	if (r >= 0)
		r = each_kin(&f->t, &f->out->nodes.v[at], on_fork, f, reterr);
	for (size_t i = from; i < f->todo.n; i++) {
		f->todo.v[i].parent = at;
		f->todo.v[i].depth = f->out->nodes.v[at].depth + 1;
	}
	if (f->todo.n > others)
		qsort(f->todo.v + others, f->todo.n - others, sizeof(*f->todo.v), by_made);
	reverse_todo(f, from);
	return r < 0 ? r : 0;
}

static int descend(struct family *f, struct err *reterr)
{
	int r = 0;
	size_t chained = f->chain.nodes.n;

	vec_push(&f->todo, f->chain.nodes.v[f->next++]);
	for (size_t on_way = 0; r >= 0 && f->todo.n > 0;) {
		if (f->out->nodes.n == LINEAGE_NODES_MAX) {
			f->out->cut = true;
			return 0;
		}
		/* The chain's nodes come off the stack before anything else that hangs on them. */
		bool on_chain = on_way < chained && f->out->nodes.n == on_way;
		vec_push(&f->out->nodes, f->todo.v[--f->todo.n]);
		if (on_chain)
			f->out->focus = on_way++;
		r = push_children(f, on_chain, reterr);
	}
	return r;
}

static void family_release(struct family *f)
{
	vec_each (&f->todo, n)
		node_release(n);
	vec_release(&f->todo);
	for (size_t i = f->next; i < f->chain.nodes.n; i++)
		node_release(&f->chain.nodes.v[i]);
	vec_release(&f->chain.nodes);
	trace_release(&f->t);
}

int lineage_trace(struct store *store, const struct transcript_home *homes, size_t n_homes,
	const struct session_row *focus, struct lineage *ret, struct err *reterr)
{
	struct lineage out = LINEAGE_INIT;
	struct family f = { .t = { store, homes, n_homes, MAP_INIT, MAP_INIT }, .out = &out };
	int r = climb(&f.t, focus, &f.chain, reterr);

	reverse(&f.chain);
	out.cut = f.chain.cut;
	if (r >= 0)
		r = descend(&f, reterr);
	family_release(&f);
	if (r < 0) {
		lineage_release(&out);
		return r;
	}
	mark_ported(&out);
	*ret = out;
	return 0;
}

/* ---- as a graph ---- */

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
			session_relation_name(n->relation));
	for (size_t k = 0; n->other_id[0] && k < l->nodes.n; k++)
		if (k != i && strcmp(l->nodes.v[k].id, n->other_id) == 0)
			str_addf(out, "\tn%zu -> n%zu [style=dashed, label=\"merged\"];\n", k, i);
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
