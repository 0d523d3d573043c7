#include "master/family.h"

#include "base/mem.h"

static enum session_relation relation_of(const struct master_state *s)
{
	if (!s->origin)
		return SESSION_ROOT;
	return s->origin_how == MASTER_BEGIN_MERGED    ? SESSION_MERGED
		: s->origin_how == MASTER_BEGIN_PORTED ? SESSION_PORTED
						       : SESSION_FORKED;
}

static const struct master_row *row_of(const struct master_list *list, const char *id)
{
	vec_each (&list->rows, row)
		if (id && strcmp(row->state.id, id) == 0)
			return row;
	return NULL;
}

static char *agents_of(const struct master_config *c)
{
	const char *i = c->agent[MASTER_INSTRUCTOR] ? c->agent[MASTER_INSTRUCTOR] : "";
	const char *w = c->agent[MASTER_WORKER] ? c->agent[MASTER_WORKER] : "";

	return strcmp(i, w) == 0 ? xstrdup(i) : xasprintf("%s+%s", i, w);
}

/* row NULL: only its child knows of it. */
static size_t add_node(
	struct lineage *l, const struct master_row *row, const char *id, size_t parent)
{
	const struct master_state *s = row ? &row->state : NULL;
	struct lineage_node n = {
		.id = xstrdup(id),
		.path = xstrdup(row ? row->path : ""),
		.named = xstrdup(""),
		.agent = s ? agents_of(&s->config) : xstrdup(""),
		.title = xstrdup(s && s->name	       ? s->name
				: s && s->task.len > 0 ? s->task.buf
						       : id),
		.parent_id = xstrdup(s && s->origin ? s->origin : ""),
		.parent_path = xstrdup(parent != LINEAGE_NONE ? l->nodes.v[parent].path : ""),
		.relation = s ? relation_of(s) : SESSION_ROOT,
		.state = s ? LINEAGE_HERE : LINEAGE_MISSING,
		.first_ms = s ? s->created_ms : 0,
		.active_ms = s ? s->updated_ms : 0,
		.made_ms = s && !s->origin ? s->created_ms : 0,
		.saved = -1,
		.turns = s ? s->round : 0,
		.turn = s && s->origin ? s->origin_round : 0,
		.other_id = xstrdup(s && s->origin_other ? s->origin_other : ""),
		.parent = parent,
		.depth = parent != LINEAGE_NONE ? l->nodes.v[parent].depth + 1 : 0,
		.root = xstrdup(""),
	};

	vec_push(&l->nodes, n);
	return l->nodes.n - 1;
}

static bool has_node(const struct lineage *l, const char *id)
{
	vec_each (&l->nodes, n)
		if (strcmp(n->id, id) == 0)
			return true;
	return false;
}

/* ---- replays ---- */

struct replays {
	struct strv workers; /* its own sessions, not those that it was forked with */
	struct lineage *l;
	size_t of;
};

static int take_worker(void *data, const struct master_step *step, struct err *reterr)
{
	struct replays *r = data;

	(void)reterr;
	if (step->kind == MASTER_STEP_ORIGIN)
		strv_release(&r->workers);
	if (step->kind == MASTER_STEP_SESSION && step->role == MASTER_WORKER &&
		step->session.n > 0 &&
		(r->workers.n == 0 || !sv_is(step->session, r->workers.v[r->workers.n - 1])))
		strv_addsv(&r->workers, step->session);
	return 0;
}

static int add_replay(void *data, const struct session_row *row)
{
	struct replays *r = data;
	const struct lineage_node *of = &r->l->nodes.v[r->of];

	if (row->info.relation != SESSION_REPLAYED || has_node(r->l, row->info.id) ||
		r->l->nodes.n >= LINEAGE_NODES_MAX)
		return 0;
	struct lineage_node n = lineage_node_of(row);
	n.parent = r->of;
	n.depth = of->depth + 1;
	if (!row->gone)
		lineage_take_note(&n);
	vec_push(&r->l->nodes, n);
	return 0;
}

static void add_replays(
	struct store *store, const struct master_row *row, struct lineage *l, size_t of)
{
	struct replays replays = { .workers = STRV_INIT, .l = l, .of = of };
	struct master_run *run = NULL;

	if (!store || !row ||
		master_open_file(row->path, MASTER_LOOK | MASTER_FORCE, NULL, &run, NULL) < 0)
		return;
	if (master_steps(run, take_worker, &replays, NULL) == 0)
		for (size_t i = 0; i < replays.workers.n; i++) {
			struct session_info parent = { .path = (char[]){ "" },
				.id = replays.workers.v[i] };
			(void)!catalogue_children(store, &parent, add_replay, &replays, NULL);
		}
	(void)master_close(run, NULL);
	strv_release(&replays.workers);
}

/* The latest come first in the list; children are told in the order in which they were made. */
static void add_children(
	struct store *store, struct lineage *l, const struct master_list *list, size_t of)
{
	add_replays(store, row_of(list, l->nodes.v[of].id), l, of);
	for (size_t i = list->rows.n; i-- > 0 && l->nodes.n < LINEAGE_NODES_MAX;) {
		const struct master_row *row = &list->rows.v[i];
		if (!row->state.origin || strcmp(row->state.origin, l->nodes.v[of].id) != 0 ||
			has_node(l, row->state.id))
			continue;
		add_children(store, l, list, add_node(l, row, row->state.id, of));
	}
	l->cut |= l->nodes.n >= LINEAGE_NODES_MAX;
}

void master_family(struct store *store, const struct master_list *list,
	const struct master_row *focus, bool chain, struct lineage *ret)
{
	VEC(const struct master_row *) way = VEC_INIT;
	const struct master_row *row = focus;
	const char *first = NULL; /* one that is not there */
	size_t at = LINEAGE_NONE;

	/* Files that somebody made may lead in a circle. */
	while (row && way.n <= list->rows.n) {
		vec_push(&way, row);
		const struct master_row *up = row_of(list, row->state.origin);
		first = up ? NULL : row->state.origin;
		row = up;
	}
	if (first)
		at = add_node(ret, NULL, first, LINEAGE_NONE);
	for (size_t i = way.n; chain && i-- > 0;)
		at = add_node(ret, way.v[i], way.v[i]->state.id, at);
	if (!chain) {
		if (!first)
			at = add_node(
				ret, way.v[way.n - 1], way.v[way.n - 1]->state.id, LINEAGE_NONE);
		add_children(store, ret, list, at);
	}
	for (size_t i = 0; i < ret->nodes.n; i++)
		if (strcmp(ret->nodes.v[i].id, focus->state.id) == 0)
			ret->focus = i;
	vec_release(&way);
}
