/*
 * The chain made whole. A parent is the nearest entry before with that uuid; one that comes later
 * is taken when there is none before. An entry that leads nowhere follows the one before it, as the
 * agent itself would guess.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "strategy/repair-claude.h"

/* Open addressing over facts, counted from 1. */
struct index {
	uint32_t *slots;
	size_t mask;
};

static struct index index_new(const struct facts *f)
{
	size_t cap = 16;
	while (cap < f->v.n * 2)
		cap *= 2;
	return (struct index){ xcalloc(cap, sizeof(uint32_t)), cap - 1 };
}

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

/* An entry that lost its uuid to a later one. */
struct renamed {
	uint64_t key; /* as it was */
	uint32_t fact; /* from 1 */
};

struct linker {
	struct repair *r;
	struct facts *f;
	struct index ids;
	VEC(struct pending) pending;
	VEC(struct pending) rootless; /* without any parent in mid-file */
	VEC(struct renamed) renamed;
	VEC(uint32_t) way; /* entries of the walk under way, from 1 */
	uint32_t before; /* last entry of the main chain, from 1 */
	uint32_t *befores; /* what it was for each; of copies only the latest */
};

static void found(struct linker *l, enum repair_cause cause, const struct fact *fact)
{
	finding_add(&l->r->report.findings[cause], fact->line);
}

static void follow(struct fact *fact, uint32_t to)
{
	fact->link = to;
	fact->flags |= FACT_PARENT;
}

static void relink(struct linker *l, struct fact *fact, enum repair_cause cause, uint32_t to)
{
	found(l, cause, fact);
	follow(fact, to);
}

/* ---- uuids ---- */

/* Answers are written again when they grow; that is no collision. */
static bool is_copy(const struct fact *a, const struct fact *b)
{
	return !((a->flags ^ b->flags) & FACT_CHAINED) &&
		(a->print == b->print || (a->message && a->message == b->message));
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
	vec_push(&l->renamed, (struct renamed){ fact_key(other->id), *slot });
	*slot = self;
	other->id = facts_new_id();
	other->flags |= FACT_UUID;
}

static int by_key(const void *a, const void *b)
{
	const struct renamed *x = a, *y = b;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->fact > y->fact) - (x->fact < y->fact);
}

/* The next one after it that lost the same uuid: its own latest copy. */
static const struct renamed *next_renamed(const struct linker *l, struct renamed from)
{
	size_t low = 0, high = l->renamed.n;
	while (low < high) {
		size_t mid = (low + high) / 2;
		if (by_key(&l->renamed.v[mid], &from) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low < l->renamed.n && l->renamed.v[low].key == from.key ? &l->renamed.v[low] : NULL;
}

/* Copies of an entry that lost its uuid to a later one get the new one too. */
static void rename_copies(struct linker *l)
{
	vec_sort(&l->renamed, by_key);
	vec_each (&l->f->v, fact) {
		if (!fact->id.a || fact->flags & (FACT_LATEST | FACT_GONE | FACT_SIDE))
			continue;
		const struct renamed self = { fact_key(fact->id),
			(uint32_t)(fact - l->f->v.v) + 1 };
		const struct renamed *copy = next_renamed(l, self);
		if (!copy)
			continue;
		fact->id = l->f->v.v[copy->fact - 1].id;
		fact->flags |= FACT_UUID;
	}
}

/* ---- parents ---- */

static void lead(struct linker *l, struct fact *fact, uint32_t to)
{
	l->f->v.v[to - 1].flags |= FACT_LEADS;
	fact->link = to;
}

static void link_known(struct linker *l, struct fact *fact, uint32_t to)
{
	const struct fact *parent = &l->f->v.v[to - 1];
	uint32_t self = (uint32_t)(fact - l->f->v.v) + 1;
	if (parent->flags & FACT_GONE) /* unless it stands there once more, whole */
		vec_push(&l->pending,
			(struct pending){ self, parent->link ? parent->link : l->before });
	else if (parent->flags & FACT_SIDE)
		relink(l, fact, REPAIR_SIDE_PARENT, l->before);
	else
		lead(l, fact, to);
}

/* Where it stood before, else 0: that tells where it belongs. */
static uint32_t copy_of(const struct linker *l, const struct fact *fact)
{
	uint32_t slot = *index_slot(&l->ids, l->f, fact_key(fact->id));
	const struct fact *other = slot ? &l->f->v.v[slot - 1] : NULL;
	bool copy = other && !(other->flags & (FACT_GONE | FACT_SIDE)) && is_copy(other, fact);
	return copy ? slot : 0;
}

static void link_entry(struct linker *l, struct fact *fact)
{
	bool begins = fact->flags & FACT_BOUNDARY || !l->before;
	uint32_t self = (uint32_t)(fact - l->f->v.v) + 1;
	if (!fact->parent) {
		uint32_t copy = copy_of(l, fact);
		if (!begins)
			vec_push(&l->rootless, (struct pending){ self, copy ? copy : l->before });
		return;
	}
	uint32_t slot = *index_slot(&l->ids, l->f, fact->parent);
	if (slot)
		link_known(l, fact, slot);
	else
		vec_push(&l->pending, (struct pending){ self, l->before });
}

/* What follows an entry that goes: its parent, unless that cannot be followed itself. Past what the
 * agent does not read either it goes to the entry before, and so do we: else less were reached. */
static uint32_t link_past(const struct linker *l, const struct fact *gone)
{
	bool known = gone->parent && !(gone->flags & FACT_UNSEEN);
	uint32_t slot = known ? *index_slot(&l->ids, l->f, gone->parent) : 0;
	uint32_t flags = slot ? l->f->v.v[slot - 1].flags : 0;
	if (flags & FACT_GONE)
		slot = l->f->v.v[slot - 1].link;
	return flags & FACT_SIDE ? 0 : slot;
}

/* A sub-agent's entry must not stand in for one of the main chain: the agent reads the last. */
static void enter_side(struct linker *l, struct fact *fact)
{
	uint32_t slot = fact->id.a ? *index_slot(&l->ids, l->f, fact_key(fact->id)) : 0;
	uint32_t other = slot ? l->f->v.v[slot - 1].flags : FACT_GONE;
	if (fact->id.a && other & FACT_GONE) {
		enter(l, fact);
	} else if (slot && !(other & FACT_SIDE)) {
		found(l, REPAIR_DUPLICATE_UUID, fact);
		fact->id = facts_new_id();
		fact->flags |= FACT_UUID;
	}
}

static void take_entry(struct linker *l, struct fact *fact)
{
	bool gone = fact->flags & FACT_GONE;
	if (fact->flags & FACT_SIDE) {
		enter_side(l, fact);
		return;
	}
	if (!fact->id.a && (gone || !(fact->flags & FACT_CHAINED)))
		return;
	if (gone) {
		fact->link = link_past(l, fact);
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
		uint32_t parent = slot ? l->f->v.v[slot - 1].flags : 0;
		if (parent & FACT_GONE)
			follow(fact, p->before);
		else if (parent & FACT_SIDE)
			relink(l, fact, REPAIR_SIDE_PARENT, p->before);
		else if (slot)
			lead(l, fact, slot);
		else
			relink(l, fact, p->before ? REPAIR_DANGLING_PARENT : REPAIR_LOST_BEGINNING,
				p->before);
	}
}

/* Where the way from an entry ends; ways that were gone become shorter. */
static uint32_t end_of(uint32_t *up, uint32_t at)
{
	for (; up[at]; at = up[at])
		if (up[up[at]])
			up[at] = up[up[at]];
	return at;
}

/* Follows what stands before it. In a file that runs backwards that leads to the entry itself: it
 * is the first one then. */
static void link_rootless(struct linker *l)
{
	AUTO_FREE uint32_t *up = xcalloc(l->f->v.n + 1, sizeof(*up));
	for (size_t i = 0; i < l->f->v.n; i++)
		up[i + 1] = l->f->v.v[i].link;
	vec_each (&l->rootless, p) {
		struct fact *fact = &l->f->v.v[p->fact - 1];
		/* What is no part of a conversation need not follow anything, unless it is
		 * followed. */
		if (!(fact->flags & (FACT_CHAINED | FACT_LEADS)))
			continue;
		const struct fact *before = &l->f->v.v[p->before - 1];
		bool copy = fact_key(before->id) == fact_key(fact->id);
		uint32_t to = copy ? before->link : l->befores[p->fact];
		if (!to || end_of(up, to) == p->fact)
			continue;
		relink(l, fact, REPAIR_NULL_PARENT, to);
		up[p->fact] = to;
	}
}

/* As the agent reads it: of an entry's copies the latest is followed. */
static void link_latest(struct linker *l)
{
	uint32_t before = 0;
	vec_each (&l->f->v, fact) {
		uint32_t self = (uint32_t)(fact - l->f->v.v) + 1;
		const struct fact *to = fact->link ? &l->f->v.v[fact->link - 1] : NULL;
		if (to && !(to->flags & (FACT_LATEST | FACT_UUID)))
			fact->link = *index_slot(&l->ids, l->f, fact_key(to->id));
		l->befores[self] = before;
		if (fact->flags & FACT_CHAINED && fact->flags & FACT_LATEST &&
			!(fact->flags & (FACT_GONE | FACT_SIDE)))
			before = self;
	}
}

/* ---- circles: each has a link to an entry that comes later ---- */

static uint32_t before_of(const struct linker *l, uint32_t fact)
{
	return l->befores[fact];
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

enum { NEW, ON_WAY, OPENED, DONE };

/* Follows the links over what is new; returns where that ends. */
static uint32_t go_on(struct linker *l, unsigned char *state, uint32_t at)
{
	for (; at && state[at] == NEW; at = link_of(l, at)) {
		state[at] = ON_WAY;
		vec_push(&l->way, at);
	}
	return at;
}

static void set_states(
	const struct linker *l, unsigned char *state, size_t from, unsigned char value)
{
	for (size_t i = from; i < l->way.n; i++)
		state[l->way.v[i]] = value;
}

/*
 * From an entry on; those before it were walked already, so what stands before it leads to no
 * circle. What stands before an opened circle may lead into the next one, or
 * back to what leads here: then its beginning, or else its end, follows what stands before its
 * beginning.
 */
static void walk(struct linker *l, unsigned char *state, uint32_t from)
{
	uint32_t at = go_on(l, state, from), first = 0;
	size_t walked = 0;
	while (at && state[at] == ON_WAY) {
		first = open_circle(l, at);
		set_states(l, state, walked, OPENED);
		walked = l->way.n;
		at = go_on(l, state, link_of(l, first));
	}
	if (at && state[at] == OPENED)
		follow(&l->f->v.v[(at == from ? from : first) - 1], before_of(l, from));
	set_states(l, state, 0, DONE);
	l->way.n = 0;
}

static void open_circles(struct linker *l)
{
	AUTO_FREE unsigned char *state = xcalloc(l->f->v.n + 1, 1);
	for (uint32_t at = 1; at <= l->f->v.n; at++)
		walk(l, state, at);
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
		if (fact->flags & (FACT_SIDE | FACT_GONE) || !(fact->flags & FACT_SPOKEN) ||
			!(fact->flags & FACT_LATEST))
			continue;
		measure(f, depth, at);
		best = depth[at] >= depth[best] ? at : best;
	}
	return best;
}

static void find_leaf(struct linker *l)
{
	uint32_t last = last_words(l->f);
	bool followed = false;
	vec_each (&l->pending, p)
		followed |= link_of(l, p->fact) == last && last > p->fact;
	uint32_t leaf = followed ? deepest(l->f) : last;
	bool same = leaf && fact_key(l->f->v.v[leaf - 1].id) == fact_key(l->f->v.v[last - 1].id);
	l->r->leaf = same ? last : leaf;
	l->r->repeat_leaf = l->r->leaf != last;
}

/* ---- the note about the leaf ---- */

/* As the agent sees it: it goes to another branch that a note names, unless the last words come
 * after a compaction and what it names comes before. */
static bool leads_elsewhere(const struct facts *f, uint32_t leaf, uint32_t named)
{
	enum { COMPACTION = FACT_BOUNDARY | FACT_SYSTEM };
	uint32_t at = leaf;
	while (at && at != named && (f->v.v[at - 1].flags & COMPACTION) != COMPACTION)
		at = f->v.v[at - 1].link;
	return at < named;
}

static struct fact *last_note(struct facts *f)
{
	for (size_t i = f->v.n; i-- > 0;)
		if (f->v.v[i].flags & FACT_LEAF)
			return &f->v.v[i];
	return NULL;
}

/* Whether the agent went there: it read the note, and what that names leads to anything. */
static bool is_choice(const struct linker *l, const struct fact *note, uint32_t named)
{
	const struct fact *entry = &l->f->v.v[named - 1];
	return !(note->flags & FACT_UNSEEN) && (entry->link || entry->flags & FACT_CHAINED);
}

/* A note that names another branch wins; it is right when it came after the last words, and stale
 * when it came before them. */
static void check_note(struct linker *l)
{
	struct fact *note = last_note(l->f);
	uint32_t slot = note ? *index_slot(&l->ids, l->f, note->parent) : 0;
	if (!slot || l->f->v.v[slot - 1].flags & (FACT_SIDE | FACT_GONE) ||
		!leads_elsewhere(l->f, l->r->leaf, slot))
		return;
	if (note > &l->f->v.v[last_words(l->f) - 1] && is_choice(l, note, slot)) {
		l->r->leaf = slot;
		l->r->repeat_leaf = false;
		return;
	}
	found(l, REPAIR_STALE_LEAF, note);
	note->link = l->r->leaf;
	note->flags |= FACT_NOTE;
	if (is_choice(l, note, slot))
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

/* An entry cannot follow its own copy: their uuid is one. */
static void pass_copies(struct facts *f)
{
	vec_each (&f->v, fact) {
		const struct fact *to = fact->link ? &f->v.v[fact->link - 1] : NULL;
		if (to && to != fact && fact_key(to->id) == fact_key(fact->id))
			follow(fact, to->link);
	}
}

/* Whoever follows an entry that got another uuid must name that one. */
static void name_parents(struct facts *f)
{
	vec_each (&f->v, fact)
		if (fact->link && f->v.v[fact->link - 1].flags & FACT_UUID)
			fact->flags |= FACT_PARENT;
}

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
	if (pair)
		vec_push(&r->pairs, (struct fact_pair){ to, pair->call, pair->id });
}

/* What becomes of an entry's tools becomes of those of its copies: they would differ otherwise. */
void claude_copies(struct repair *r)
{
	enum { TOOLS = FACT_CALL | FACT_RESULT | FACT_TOOL_ID };
	struct facts *f = &r->facts;
	struct index ids = index_new(f);
	size_t pairs = r->pairs.n;
	vec_each (&f->v, fact)
		if (fact->flags & TOOLS)
			*index_slot(&ids, f, fact_key(fact->id)) = (uint32_t)(fact - f->v.v) + 1;
	vec_each (&f->v, fact) {
		uint32_t slot = fact->id.a ? *index_slot(&ids, f, fact_key(fact->id)) : 0;
		if (!slot || !is_copy(&f->v.v[slot - 1], fact))
			continue;
		fact->flags |= f->v.v[slot - 1].flags & TOOLS;
		if (fact->flags & FACT_TOOL_ID)
			copy_pair(r, pairs, slot - 1, (uint32_t)(fact - f->v.v));
	}
	vec_sort(&r->pairs, by_result);
	index_free(&ids);
}

void claude_links(struct repair *r)
{
	AUTO_FREE uint32_t *befores = xcalloc(r->facts.v.n + 1, sizeof(*befores));
	struct linker l = {
		.r = r, .f = &r->facts, .ids = index_new(&r->facts), .befores = befores
	};
	vec_each (&r->facts.v, fact)
		take_entry(&l, fact);
	rename_copies(&l);
	link_pending(&l);
	link_latest(&l);
	open_circles(&l);
	link_rootless(&l);
	pass_copies(&r->facts);
	find_leaf(&l);
	check_note(&l);
	if (r->repeat_leaf)
		finding_add(
			&r->report.findings[REPAIR_WRONG_ORDER], r->facts.v.v[r->leaf - 1].line);
	check_kept(&l);
	name_parents(&r->facts);
	vec_release(&l.pending);
	vec_release(&l.rootless);
	vec_release(&l.renamed);
	vec_release(&l.way);
	index_free(&l.ids);
}
