/*
 * Claude Code's chain: from the last thing said along the parents. The chain is a tree where
 * tools ran at the same time: each result hangs on its own call, and only one of them is an
 * ancestor of what follows, so the others are found through message and tool ids.
 */
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "transcript/adapter.h"
#include "transcript/ids.h"

/* The latest record of an id wins. */
static struct ids index_ids(const struct links *links)
{
	struct ids x = ids_new(&links->v, id);

	for (size_t i = 0; i < links->v.n; i++) {
		if (!links->v.v[i].id)
			continue;
		uint32_t *slot = ids_slot(&x, links->v.v[i].id);
		x.twice |= *slot != 0;
		*slot = (uint32_t)i + 1;
	}
	return x;
}

static bool find_leaf(const struct links *links, size_t *ret)
{
	for (size_t i = links->v.n; i-- > 0;)
		if (links->v.v[i].flags & LINK_SPOKEN) {
			*ret = i;
			return true;
		}
	return false;
}

/* The chained records before each one that the walk has not taken yet, found through hops over
 * runs of taken ones that grow as they are used: a file of nothing but broken parents must not
 * cost the square of its length. hop[i] is 1-based like i, at most i; i itself: not looked at. */
struct walk {
	const struct links *links;
	const struct ids *ids;
	unsigned char *state;
	uint32_t *hop; /* NULL until the first broken parent */
	bool disordered; /* a parent stands behind its child */
	bool keeps_way;
	VEC(uint32_t) way; /* the records that were taken, from the leaf on */
};

/* Lines that stand twice count once. */
static bool is_latest(const struct links *links, const struct ids *ids, size_t at)
{
	return *ids_slot(ids, links->v.v[at].id) == at + 1;
}

static bool is_free(const struct walk *w, size_t at)
{
	const struct link *link = &w->links->v.v[at];

	return link->id && !(link->flags & LINK_SIDE) && !w->state[at] &&
		is_latest(w->links, w->ids, at);
}

/* For a parent that leads nowhere. */
static bool find_before(struct walk *w, size_t at, size_t *ret)
{
	size_t n = w->links->v.n;

	if (!w->hop) {
		w->hop = xcalloc(n + 1, sizeof(uint32_t));
		for (size_t i = 0; i <= n; i++)
			w->hop[i] = (uint32_t)i;
	}
	size_t i = at;
	while (i > 0 && !is_free(w, i - 1)) {
		size_t next = w->hop[i] == i ? i - 1 : w->hop[i];
		w->hop[i] = w->hop[next];
		i = next;
	}
	*ret = i - 1;
	return i > 0;
}

static void walk_on(struct walk *w, size_t at, struct transcript_live *live)
{
	for (;;) {
		const struct link *link = &w->links->v.v[at];
		w->state[at] = 1;
		if (w->keeps_way)
			vec_push(&w->way, (uint32_t)at);
		if (link->flags & LINK_BOUNDARY) {
			live->compacted = true;
			live->compaction = at;
			return;
		}
		if (!link->parent)
			return;
		/* Most parents stand right before, where no table need be asked. */
		bool before = at > 0 && link[-1].id == link->parent && !w->ids->twice;
		uint32_t slot = before ? (uint32_t)at : *ids_slot(w->ids, link->parent);
		if (slot && !w->state[slot - 1]) {
			w->disordered |= slot > at;
			at = slot - 1;
			continue;
		}
		live->healed++;
		if (!find_before(w, at, &at))
			return;
	}
}

/* True when the records do not stand in the order of the chain. */
static bool walk_from(const struct links *links, unsigned char *state, const struct ids *ids,
	size_t at, struct transcript_live *live)
{
	struct walk w = { .links = links, .ids = ids, .state = state };

	walk_on(&w, at, live);
	free(w.hop);
	return w.disordered;
}

/* Marks each record of the chain with the number of the pass over the file that meets it in its
 * place: a new one begins wherever the chain goes back in the file. */
static void number_passes(const struct links *links, unsigned char *state, const struct ids *ids,
	size_t leaf, struct transcript_live *live)
{
	struct walk w = { .links = links, .ids = ids, .state = state, .keeps_way = true };
	unsigned char pass = 1;

	memset(state, 0, links->v.n);
	live->healed = 0;
	walk_on(&w, leaf, live);
	for (size_t i = w.way.n; i-- > 0;) {
		if (i + 1 < w.way.n && w.way.v[i] < w.way.v[i + 1] && pass < LIVE_PASSES_MAX)
			pass++;
		state[w.way.v[i]] = pass;
	}
	live->passes = pass;
	free(w.hop);
	vec_release(&w.way);
}

/* The note about the leaf wins where it names another branch than that of the last words, unless
 * what it names was compacted. */
static bool find_noted(const struct links *links, const struct ids *ids, const unsigned char *state,
	const struct transcript_live *live, size_t *ret)
{
	uint32_t slot = links->noted ? *ids_slot(ids, links->noted) : 0;

	if (!slot || state[slot - 1] || links->v.v[slot - 1].flags & LINK_SIDE ||
		(live->compacted && slot - 1 < live->compaction))
		return false;
	*ret = slot - 1;
	return true;
}

static void add_kept(const struct links *links, const struct ids *ids, unsigned char *state,
	const struct transcript_live *live)
{
	for (size_t i = 0; i < links->kept.n; i++) {
		const struct link_kept *kept = &links->kept.v[i];
		if (!live->compacted || kept->record != live->compaction || !kept->id)
			continue;
		uint32_t slot = *ids_slot(ids, kept->id);
		if (slot)
			state[slot - 1] = 1;
	}
}

/* The other records of answers that are part of the chain. */
static void add_answers(const struct links *links, const struct ids *ids, unsigned char *state)
{
	size_t n = links->v.n;
	CLEANUP(ids_release)
	struct ids messages = ids_new(&links->v, message);

	for (size_t i = 0; i < n; i++) {
		const struct link *link = &links->v.v[i];
		if (state[i] && link->flags & LINK_ASSISTANT && link->message)
			*ids_slot(&messages, link->message) = (uint32_t)i + 1;
	}
	for (size_t i = 0; i < n; i++) {
		const struct link *link = &links->v.v[i];
		if (state[i] || !(link->flags & LINK_ASSISTANT) || !link->message)
			continue;
		uint32_t of = *ids_slot(&messages, link->message);
		if (of && is_latest(links, ids, i))
			state[i] = state[of - 1];
	}
}

/* Results of live calls that have none on the chain yet. */
static void add_results(const struct links *links, const struct ids *ids, unsigned char *state)
{
	const struct link_tool *all = links->tools.v;
	size_t n = links->tools.n;
	CLEANUP(ids_release) struct ids calls = ids_new(&links->tools, tool);
	CLEANUP(ids_release) struct ids answered = ids_new(&links->tools, tool);

	for (size_t i = 0; i < n; i++)
		if (state[all[i].record] && links->v.v[all[i].record].flags & LINK_SENT)
			*ids_slot(all[i].result ? &answered : &calls, all[i].tool) =
				(uint32_t)i + 1;
	for (size_t i = 0; i < n; i++) {
		const struct link_tool *t = &all[i];
		uint32_t call = *ids_slot(&calls, t->tool);
		if (t->result && !state[t->record] && call && !*ids_slot(&answered, t->tool) &&
			is_latest(links, ids, t->record))
			state[t->record] = state[all[call - 1].record];
	}
}

void live_claude(const struct links *links, unsigned char *state, struct transcript_live *live)
{
	size_t leaf;

	if (!find_leaf(links, &leaf))
		return;
	CLEANUP(ids_release) struct ids ids = index_ids(links);
	bool disordered = walk_from(links, state, &ids, leaf, live);
	if (find_noted(links, &ids, state, live, &leaf)) {
		memset(state, 0, links->v.n);
		live->healed = 0;
		live->compacted = false;
		disordered = walk_from(links, state, &ids, leaf, live);
	}
	if (disordered)
		number_passes(links, state, &ids, leaf, live);
	add_kept(links, &ids, state, live);
	add_answers(links, &ids, state);
	add_results(links, &ids, state);
}
