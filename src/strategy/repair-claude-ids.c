/*
 * Who has which uuid. Different entries of one uuid are told apart: the latest keeps it, as the
 * agent reads that one; copies of an entry share theirs.
 */
#include <stdlib.h>

#include "base/map.h"
#include "base/mem.h"
#include "strategy/repair-claude.h"

void claude_ids_init(struct claude_ids *x, struct repair *r)
{
	size_t cap = 16;
	while (cap < r->facts.v.n * 2)
		cap *= 2;
	*x = (struct claude_ids){ r, xcalloc(cap, sizeof(uint32_t)), cap - 1, hash_seed() | 1,
		VEC_INIT };
}

void claude_ids_release(struct claude_ids *x)
{
	free(x->slots);
	vec_release(&x->renamed);
}

static uint32_t *slot_of(const struct claude_ids *x, uint64_t key)
{
	const struct facts *f = &x->r->facts;
	size_t at = (size_t)(key * x->by >> 32) & x->mask;
	while (x->slots[at] && fact_key(f->v.v[x->slots[at] - 1].id) != key)
		at = (at + 1) & x->mask;
	return &x->slots[at];
}

uint32_t claude_ids_at(const struct claude_ids *x, uint64_t key)
{
	return *slot_of(x, key);
}

static void found(struct claude_ids *x, enum repair_cause cause, const struct fact *fact)
{
	finding_add(&x->r->report.findings[cause], fact->line);
}

static struct fact *fact_at(const struct claude_ids *x, uint32_t at)
{
	return &x->r->facts.v.v[at - 1];
}

/* Answers are written again when they grow; that is no collision. */
static bool is_copy(const struct fact *a, const struct fact *b)
{
	return !((a->flags ^ b->flags) & FACT_CHAINED) &&
		(a->print == b->print || (a->message && a->message == b->message));
}

void claude_ids_enter(struct claude_ids *x, struct fact *fact)
{
	uint32_t *slot = slot_of(x, fact_key(fact->id));
	struct fact *other = *slot ? fact_at(x, *slot) : NULL;
	uint32_t self = (uint32_t)(fact - x->r->facts.v.v) + 1;
	fact->flags |= FACT_LATEST;
	if (other && fact->flags & FACT_GONE)
		return;
	if (!other || other->flags & (FACT_GONE | FACT_SIDE)) {
		*slot = self;
		return;
	}
	if (is_copy(other, fact)) {
		found(x, REPAIR_COPIES, fact);
		other->flags &= ~(uint32_t)FACT_LATEST;
		*slot = self;
		return;
	}
	/* The table is keyed by it: the place is taken before the other's id changes. */
	found(x, REPAIR_DUPLICATE_UUID, fact);
	vec_push(&x->renamed, (struct claude_renamed){ fact_key(other->id), *slot });
	*slot = self;
	other->id = facts_new_id();
	other->flags |= FACT_UUID;
}

static int by_key(const void *a, const void *b)
{
	const struct claude_renamed *x = a, *y = b;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->fact > y->fact) - (x->fact < y->fact);
}

/* The next one after it that lost the same uuid: its own latest copy. */
static const struct claude_renamed *next_renamed(
	const struct claude_ids *x, struct claude_renamed from)
{
	size_t low = 0, high = x->renamed.n;
	while (low < high) {
		size_t mid = (low + high) / 2;
		if (by_key(&x->renamed.v[mid], &from) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low < x->renamed.n && x->renamed.v[low].key == from.key ? &x->renamed.v[low] : NULL;
}

/* Copies of an entry that lost its uuid to a later one get the new one too. */
void claude_ids_rename_copies(struct claude_ids *x)
{
	vec_each (&x->renamed, lost)
		*slot_of(x, fact_key(fact_at(x, lost->fact)->id)) = lost->fact;
	vec_sort(&x->renamed, by_key);
	vec_each (&x->r->facts.v, fact) {
		if (!fact->id.a || fact->flags & (FACT_LATEST | FACT_GONE | FACT_SIDE))
			continue;
		const struct claude_renamed self = { fact_key(fact->id),
			(uint32_t)(fact - x->r->facts.v.v) + 1 };
		const struct claude_renamed *copy = next_renamed(x, self);
		if (!copy)
			continue;
		fact->id = fact_at(x, copy->fact)->id;
		fact->flags |= FACT_UUID;
	}
}

/* A sub-agent's entry must not stand in for one of the main chain: the agent reads the last. */
void claude_ids_enter_side(struct claude_ids *x, struct fact *fact)
{
	uint32_t slot = fact->id.a ? *slot_of(x, fact_key(fact->id)) : 0;
	uint32_t other = slot ? fact_at(x, slot)->flags : FACT_GONE;
	if (fact->id.a && other & FACT_GONE) {
		claude_ids_enter(x, fact);
	} else if (slot && !(other & FACT_SIDE)) {
		found(x, REPAIR_DUPLICATE_UUID, fact);
		fact->id = facts_new_id();
		fact->flags |= FACT_UUID;
	}
}

/* ---- tools ---- */

static int by_result(const void *a, const void *b)
{
	uint32_t x = ((const struct fact_pair *)a)->result,
		 y = ((const struct fact_pair *)b)->result;
	return (x > y) - (x < y);
}

static void copy_pair(struct repair *r, size_t pairs, uint32_t from, uint32_t to)
{
	const struct fact_pair key = { .result = from };
	const struct fact_pair *pair =
		from == to ? NULL : bsearch(&key, r->pairs.v, pairs, sizeof(key), by_result);
	if (!pair)
		return;
	/* It may move while the list grows. */
	struct fact_pair copy = *pair;
	copy.result = to;
	vec_push(&r->pairs, copy);
}

/* What becomes of an entry's tools becomes of those of its copies: they would differ otherwise. */
void claude_copies(struct repair *r)
{
	enum { TOOLS = FACT_CALL | FACT_RESULT | FACT_TOOL_ID };
	struct facts *f = &r->facts;
	struct claude_ids ids;
	size_t pairs = r->pairs.n;
	claude_ids_init(&ids, r);
	vec_each (&f->v, fact)
		if (fact->flags & TOOLS)
			*slot_of(&ids, fact_key(fact->id)) = (uint32_t)(fact - f->v.v) + 1;
	vec_each (&f->v, fact) {
		uint32_t slot = fact->id.a ? *slot_of(&ids, fact_key(fact->id)) : 0;
		if (!slot || !is_copy(&f->v.v[slot - 1], fact))
			continue;
		fact->flags |= f->v.v[slot - 1].flags & TOOLS;
		if (fact->flags & FACT_TOOL_ID)
			copy_pair(r, pairs, slot - 1, (uint32_t)(fact - f->v.v));
	}
	vec_sort(&r->pairs, by_result);
	claude_ids_release(&ids);
}
