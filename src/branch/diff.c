#include "branch/diff.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
	CELLS_MAX = 4 * 1024 * 1024, /* of the table that two lists are compared by */
	LIST_MAX = UINT16_MAX, /* what a cell counts to */
};

/* ---- lists ---- */

/* The middle of two lists, where neither their beginnings nor their ends are the same. */
static void match_middle(
	const uint64_t *a, size_t n, const uint64_t *b, size_t m, size_t from, diff_matches *ret)
{
	if (n == 0 || m == 0 || n > LIST_MAX || m > LIST_MAX || (n + 1) * (m + 1) > CELLS_MAX)
		return;
	AUTO_FREE uint16_t *cells = xcalloc((n + 1) * (m + 1), sizeof(*cells));
#define CELL(i, k) cells[(i) * (m + 1) + (k)]
	for (size_t i = n; i-- > 0;)
		for (size_t k = m; k-- > 0;) {
			uint16_t down = CELL(i + 1, k), right = CELL(i, k + 1);
			CELL(i, k) = a[i] == b[k] ? (uint16_t)(CELL(i + 1, k + 1) + 1)
				: down > right	  ? down
						  : right;
		}
	for (size_t i = 0, k = 0; i < n && k < m;) {
		if (a[i] == b[k]) {
			vec_push(ret, (struct diff_match){ from + i, from + k });
			i++;
			k++;
		} else if (CELL(i + 1, k) >= CELL(i, k + 1)) {
			i++;
		} else {
			k++;
		}
	}
#undef CELL
}

void diff_lists(const uint64_t *a, size_t n_a, const uint64_t *b, size_t n_b, diff_matches *ret)
{
	size_t head = 0, tail = 0;

	for (; head < n_a && head < n_b && a[head] == b[head]; head++)
		vec_push(ret, (struct diff_match){ head, head });
	while (tail < n_a - head && tail < n_b - head && a[n_a - 1 - tail] == b[n_b - 1 - tail])
		tail++;
	if (head < n_a && head < n_b)
		match_middle(a + head, n_a - head - tail, b + head, n_b - head - tail, head, ret);
	for (size_t i = tail; i > 0; i--)
		vec_push(ret, (struct diff_match){ n_a - i, n_b - i });
}

/* ---- sides ---- */

static void add_once(struct strv *to, const char *name)
{
	for (size_t i = 0; i < to->n; i++)
		if (strcmp(to->v[i], name) == 0)
			return;
	strv_add(to, name);
}

static void count_turn(struct diff_side *side, const struct turn_view *turn)
{
	if (turn->left)
		return;
	side->turns++;
	side->calls += turn->calls;
	side->failed += turn->failed;
	side->model_calls += turn->model_calls;
	side->commands += turn->commands;
	side->usage.input += turn->usage.input;
	side->usage.cache_read += turn->usage.cache_read;
	side->usage.cache_write += turn->usage.cache_write;
	side->usage.output += turn->usage.output;
	for (size_t i = 0; i < turn->files.n; i++)
		add_once(&side->files, turn->files.v[i]);
}

static void count_sides(struct session_diff *d)
{
	for (size_t s = 0; s < DIFF_SIDES; s++)
		for (size_t i = d->common; i < d->of[s].v.n; i++)
			count_turn(&d->side[s], &d->of[s].v.v[i]);
	const struct strv *other = &d->side[DIFF_B].files;
	for (size_t i = 0; i < d->side[DIFF_A].files.n; i++)
		for (size_t k = 0; k < other->n; k++)
			if (strcmp(d->side[DIFF_A].files.v[i], other->v[k]) == 0)
				strv_add(&d->both, other->v[k]);
}

/* ---- turns ---- */

static uint64_t *prompts_of(const struct turn_views *t, size_t from)
{
	uint64_t *said = xcalloc(t->v.n - from + 1, sizeof(*said));

	for (size_t i = from; i < t->v.n; i++)
		said[i - from] = t->v.v[i].said;
	return said;
}

static void push_alone(struct session_diff *d, size_t side, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		struct diff_turn turn = { { DIFF_NONE, DIFF_NONE }, false };
		turn.at[side] = i;
		vec_push(&d->rest, turn);
	}
}

static void align(struct session_diff *d)
{
	const struct turn_views *a = &d->of[DIFF_A], *b = &d->of[DIFF_B];
	AUTO_FREE uint64_t *said_a = prompts_of(a, d->common);
	AUTO_FREE uint64_t *said_b = prompts_of(b, d->common);
	diff_matches matches = VEC_INIT;
	size_t at[DIFF_SIDES] = { d->common, d->common };

	diff_lists(said_a, a->v.n - d->common, said_b, b->v.n - d->common, &matches);
	d->equal = true;
	vec_each (&matches, m) {
		size_t i = m->a + d->common, k = m->b + d->common;
		push_alone(d, DIFF_A, at[DIFF_A], i);
		push_alone(d, DIFF_B, at[DIFF_B], k);
		struct diff_turn turn = { { i, k }, turn_view_same(&a->v.v[i], &b->v.v[k]) };
		vec_push(&d->rest, turn);
		at[DIFF_A] = i + 1;
		at[DIFF_B] = k + 1;
	}
	push_alone(d, DIFF_A, at[DIFF_A], a->v.n);
	push_alone(d, DIFF_B, at[DIFF_B], b->v.n);
	vec_release(&matches);
	vec_each (&d->rest, turn)
		d->equal = d->equal && turn->same;
}

void session_diff_release(struct session_diff *d)
{
	for (size_t s = 0; s < DIFF_SIDES; s++) {
		turn_views_release(&d->of[s]);
		strv_release(&d->side[s].files);
	}
	vec_release(&d->rest);
	strv_release(&d->both);
}

int session_diff_read(const struct diff_input inputs[static DIFF_SIDES], struct session_diff *ret,
	struct err *reterr)
{
	for (size_t s = 0; s < DIFF_SIDES; s++) {
		int r = turn_views_read(inputs[s].session->path, inputs[s].session->format,
			inputs[s].home, 0, &ret->of[s], reterr);
		if (r < 0)
			return r;
	}
	ret->common = turn_views_common(&ret->of[DIFF_A], &ret->of[DIFF_B]);
	align(ret);
	count_sides(ret);
	return 0;
}

/* ---- where they come from ---- */

int session_ancestor(struct store *store, const struct transcript_home *homes, size_t n_homes,
	const struct session_row *a, const struct session_row *b, struct lineage *ret_a,
	const struct lineage_node **ret_node, struct err *reterr)
{
	AUTO_LINEAGE other = LINEAGE_INIT;
	int r = lineage_chain(store, homes, n_homes, a, ret_a, reterr);

	if (r >= 0)
		r = lineage_chain(store, homes, n_homes, b, &other, reterr);
	if (r < 0)
		return r;
	*ret_node = NULL;
	for (size_t i = ret_a->nodes.n; i-- > 0 && !*ret_node;)
		for (size_t k = 0; k < other.nodes.n && !*ret_node; k++)
			if (strcmp(ret_a->nodes.v[i].id, other.nodes.v[k].id) == 0 &&
				strcmp(ret_a->nodes.v[i].agent, other.nodes.v[k].agent) == 0)
				*ret_node = &ret_a->nodes.v[i];
	return 0;
}
