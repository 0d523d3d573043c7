/*
 * The chain made whole. A parent is the nearest entry before with that uuid; one that comes later
 * is taken when there is none before. An entry that leads nowhere follows the one before it, as the
 * agent itself would guess.
 */
#include <string.h>

#include "base/mem.h"
#include "strategy/repair-claude.h"

/* Open addressing over facts, counted from 1. */
struct index {
	uint32_t *slots;
	size_t mask;
};

static void index_free(struct index *x)
{
	free(x->slots);
}

static uint32_t *index_slot(const struct index *x, const struct facts *f, uint64_t key)
{
	size_t at = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & x->mask;
	while (x->slots[at] && fact_key(f->v.v[x->slots[at] - 1].id) != key)
		at = (at + 1) & x->mask;
	return &x->slots[at];
}

/* An entry whose parent is not before it, and the entry that is. */
struct pending {
	uint32_t fact, before; /* both from 1 */
};

struct linker {
	struct repair *r;
	struct facts *f;
	struct index ids;
	VEC(struct pending) pending;
	VEC(struct pending) rootless; /* without any parent in mid-file */
	VEC(uint32_t) way; /* entries of the walk under way, from 1 */
	uint32_t before; /* last entry of the main chain, from 1 */
};

static void found(struct linker *l, enum repair_cause cause, const struct fact *fact)
{
	finding_add(&l->r->report.findings[cause], fact->line);
}

static void relink(struct linker *l, struct fact *fact, enum repair_cause cause, uint32_t to)
{
	found(l, cause, fact);
	fact->link = to;
	fact->flags |= FACT_PARENT;
}

/* ---- uuids ---- */

/* Answers are written again when they grow; that is no collision. */
static bool is_copy(const struct fact *a, const struct fact *b)
{
	return a->print == b->print || (a->message && a->message == b->message);
}

static void enter(struct linker *l, struct fact *fact)
{
	uint32_t *slot = index_slot(&l->ids, l->f, fact_key(fact->id));
	struct fact *other = *slot ? &l->f->v.v[*slot - 1] : NULL;
	uint32_t self = (uint32_t)(fact - l->f->v.v) + 1;
	fact->flags |= FACT_LATEST;
	if (other && fact->flags & FACT_GONE)
		return;
	if (!other || other->flags & (FACT_GONE | FACT_SIDE)) {
		*slot = self;
		return;
	}
	if (is_copy(other, fact)) {
		found(l, REPAIR_COPIES, fact);
		other->flags &= ~(uint32_t)FACT_LATEST;
		*slot = self;
		return;
	}
	/* The latest keeps the uuid: the table is keyed by it, so it is replaced before the other's
	 * id changes. */
	found(l, REPAIR_DUPLICATE_UUID, fact);
	*slot = self;
	other->id = facts_new_id();
	other->flags |= FACT_UUID;
}

/* ---- parents ---- */

static void link_known(struct linker *l, struct fact *fact, uint32_t to)
{
	const struct fact *parent = &l->f->v.v[to - 1];
	if (parent->flags & FACT_GONE) {
		fact->link = parent->link;
		fact->flags |= FACT_PARENT;
	} else if (parent->flags & FACT_SIDE) {
		relink(l, fact, REPAIR_SIDE_PARENT, l->before);
	} else {
		fact->link = to;
	}
}

static void link_entry(struct linker *l, struct fact *fact)
{
	bool begins = fact->flags & FACT_BOUNDARY || !(fact->flags & FACT_CHAINED) || !l->before;
	uint32_t self = (uint32_t)(fact - l->f->v.v) + 1;
	if (!fact->parent) {
		if (!begins && !*index_slot(&l->ids, l->f, fact_key(fact->id)))
			vec_push(&l->rootless, (struct pending){ self, l->before });
		return;
	}
	uint32_t slot = *index_slot(&l->ids, l->f, fact->parent);
	if (slot)
		link_known(l, fact, slot);
	else
		vec_push(&l->pending, (struct pending){ self, l->before });
}

static void take_entry(struct linker *l, struct fact *fact)
{
	bool gone = fact->flags & FACT_GONE;
	if (fact->flags & FACT_SIDE) {
		if (fact->id.a && !*index_slot(&l->ids, l->f, fact_key(fact->id)))
			enter(l, fact);
		return;
	}
	if (!fact->id.a && (gone || !(fact->flags & FACT_CHAINED)))
		return;
	if (gone) {
		uint32_t slot = fact->parent ? *index_slot(&l->ids, l->f, fact->parent) : 0;
		fact->link = slot ? slot : l->before;
	} else if (!fact->id.a) {
		fact->id = facts_new_id();
		fact->flags |= FACT_UUID;
		relink(l, fact, REPAIR_NO_UUID, l->before);
	} else {
		link_entry(l, fact);
	}
	enter(l, fact);
	if (!gone && fact->flags & FACT_CHAINED)
		l->before = (uint32_t)(fact - l->f->v.v) + 1;
}

static void link_pending(struct linker *l)
{
	vec_each (&l->pending, p) {
		struct fact *fact = &l->f->v.v[p->fact - 1];
		uint32_t slot = *index_slot(&l->ids, l->f, fact->parent);
		const struct fact *parent = slot ? &l->f->v.v[slot - 1] : NULL;
		if (parent && !(parent->flags & (FACT_SIDE | FACT_GONE)))
			fact->link = slot;
		else if (!p->before)
			relink(l, fact, REPAIR_LOST_BEGINNING, 0);
		else
			relink(l, fact, REPAIR_DANGLING_PARENT, p->before);
	}
}

/* In a file that runs backwards the root comes after those that follow it. */
static void link_rootless(struct linker *l)
{
	AUTO_FREE unsigned char *followed = xcalloc(l->f->v.n + 1, 1);
	vec_each (&l->pending, p)
		followed[l->f->v.v[p->fact - 1].link] = 1;
	vec_each (&l->rootless, p)
		if (!followed[p->fact])
			relink(l, &l->f->v.v[p->fact - 1], REPAIR_NULL_PARENT, p->before);
}

/* ---- circles: each has a link to an entry that comes later ---- */

static uint32_t before_of(const struct linker *l, uint32_t fact)
{
	size_t low = 0, high = l->pending.n;
	while (low < high) {
		size_t mid = (low + high) / 2;
		if (l->pending.v[mid].fact < fact)
			low = mid + 1;
		else
			high = mid;
	}
	return low < l->pending.n && l->pending.v[low].fact == fact ? l->pending.v[low].before : 0;
}

static uint32_t link_of(const struct linker *l, uint32_t at)
{
	return l->f->v.v[at - 1].link;
}

/* The first entry of the circle follows the one before it; returns it. */
static uint32_t open_circle(struct linker *l, uint32_t on)
{
	uint32_t first = on;
	for (uint32_t at = link_of(l, on); at != on; at = link_of(l, at))
		first = at < first ? at : first;
	relink(l, &l->f->v.v[first - 1], REPAIR_CYCLE, before_of(l, first));
	return first;
}

enum { NEW, ON_WAY, DONE };

/* Follows the links over what is new; returns where that ends. */
static uint32_t go_on(struct linker *l, unsigned char *state, uint32_t at)
{
	for (; at && state[at] == NEW; at = link_of(l, at)) {
		state[at] = ON_WAY;
		vec_push(&l->way, at);
	}
	return at;
}

/* From an entry on that follows a later one; those before it were walked already, so what stands
 * before it leads to no circle. */
static void walk(struct linker *l, unsigned char *state, uint32_t from)
{
	uint32_t at = go_on(l, state, from);
	if (at && state[at] == ON_WAY) {
		uint32_t first = open_circle(l, at);
		at = go_on(l, state, link_of(l, first));
		if (at && state[at] == ON_WAY) /* what stands before it leads to it */
			l->f->v.v[first - 1].link = before_of(l, from);
	}
	vec_each (&l->way, on)
		state[*on] = DONE;
	l->way.n = 0;
}

static void open_circles(struct linker *l)
{
	AUTO_FREE unsigned char *state = xcalloc(l->f->v.n + 1, 1);
	vec_each (&l->pending, p)
		walk(l, state, p->fact);
}

/* ---- the end ---- */

static uint32_t last_words(const struct facts *f)
{
	for (size_t i = f->v.n; i-- > 0;)
		if (f->v.v[i].flags & FACT_SPOKEN && !(f->v.v[i].flags & (FACT_SIDE | FACT_GONE)))
			return (uint32_t)i + 1;
	return 0;
}

/* How many entries lead to each; what is known already is not walked again. */
static void measure(const struct facts *f, uint32_t *depth, uint32_t from)
{
	uint32_t n = 0;
	for (uint32_t at = from; at && !depth[at]; at = f->v.v[at - 1].link)
		n++;
	uint32_t at = from;
	for (uint32_t i = 0; i < n; i++)
		at = f->v.v[at - 1].link;
	n += at ? depth[at] : 0;
	for (at = from; at && !depth[at]; at = f->v.v[at - 1].link)
		depth[at] = n--;
}

/* Where a file goes on in which entries come before those they follow. */
static uint32_t deepest(const struct facts *f)
{
	AUTO_FREE uint32_t *depth = xcalloc(f->v.n + 1, sizeof(*depth));
	uint32_t best = 0;
	for (uint32_t at = 1; at <= f->v.n; at++) {
		const struct fact *fact = &f->v.v[at - 1];
		if (fact->flags & (FACT_SIDE | FACT_GONE) || !(fact->flags & FACT_SPOKEN))
			continue;
		measure(f, depth, at);
		best = depth[at] > depth[best] ? at : best;
	}
	return best;
}

static void find_leaf(struct linker *l)
{
	uint32_t last = last_words(l->f);
	bool followed = false;
	vec_each (&l->pending, p)
		followed |= l->f->v.v[p->fact - 1].link == last;
	l->r->leaf = followed ? deepest(l->f) : last;
	l->r->repeat_leaf = l->r->leaf != last;
}

/* ---- the note about the leaf ---- */

static bool leads_to(const struct facts *f, uint32_t from, uint32_t to)
{
	uint32_t at = from;
	while (at && at != to && !(f->v.v[at - 1].flags & FACT_BOUNDARY))
		at = f->v.v[at - 1].link;
	return at == to;
}

static struct fact *last_note(struct facts *f)
{
	for (size_t i = f->v.n; i-- > 0;)
		if (f->v.v[i].flags & FACT_LEAF)
			return &f->v.v[i];
	return NULL;
}

static bool compacted_since(const struct facts *f, uint32_t entry)
{
	for (size_t i = entry; i < f->v.n; i++)
		if (f->v.v[i].flags & FACT_BOUNDARY && !(f->v.v[i].flags & FACT_SIDE))
			return true;
	return false;
}

/* A note that names another branch wins; it is right when it came after the last words, and stale
 * when it came before them. */
static void check_note(struct linker *l)
{
	struct fact *note = last_note(l->f);
	uint32_t slot = note ? *index_slot(&l->ids, l->f, note->parent) : 0;
	if (!slot || l->f->v.v[slot - 1].flags & (FACT_SIDE | FACT_GONE) ||
		compacted_since(l->f, slot) || leads_to(l->f, l->r->leaf, slot))
		return;
	if (note > &l->f->v.v[last_words(l->f) - 1]) {
		l->r->leaf = slot;
		l->r->repeat_leaf = false;
		return;
	}
	found(l, REPAIR_STALE_LEAF, note);
	note->link = l->r->leaf;
	note->flags |= FACT_NOTE;
	l->r->stale_note = (uint32_t)(note - l->f->v.v) + 1;
}

/* What the last compaction kept must be there. */
static void check_kept(struct linker *l)
{
	const struct facts *f = l->f;
	if (f->kept.n == 0)
		return;
	const struct fact_kept *end = f->kept.v + f->kept.n;
	for (const struct fact_kept *kept = f->kept.v; kept < end; kept++)
		if (kept->must && kept->fact == end[-1].fact && !*index_slot(&l->ids, f, kept->id))
			found(l, REPAIR_KEPT_MISSING, &f->v.v[kept->fact]);
}

/* Whoever follows an entry that got another uuid must name that one. */
static void name_parents(struct facts *f)
{
	vec_each (&f->v, fact)
		if (fact->link && f->v.v[fact->link - 1].flags & FACT_UUID)
			fact->flags |= FACT_PARENT;
}

void claude_links(struct repair *r)
{
	struct linker l = { .r = r, .f = &r->facts };
	size_t cap = 16;
	while (cap < r->facts.v.n * 2)
		cap *= 2;
	l.ids = (struct index){ xcalloc(cap, sizeof(uint32_t)), cap - 1 };
	vec_each (&r->facts.v, fact)
		take_entry(&l, fact);
	link_pending(&l);
	link_rootless(&l);
	open_circles(&l);
	find_leaf(&l);
	check_note(&l);
	if (r->repeat_leaf)
		finding_add(
			&r->report.findings[REPAIR_WRONG_ORDER], r->facts.v.v[r->leaf - 1].line);
	check_kept(&l);
	name_parents(&r->facts);
	vec_release(&l.pending);
	vec_release(&l.rootless);
	vec_release(&l.way);
	index_free(&l.ids);
}
