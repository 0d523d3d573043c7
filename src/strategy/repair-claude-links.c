/*
 * The chain made whole. Of an entry's copies the latest counts, as the agent reads it. A parent is
 * the nearest entry before with that uuid; one that comes later is taken when there is none before.
 * What leads nowhere, or in a circle, follows the nearest entry before it that does not lead back
 * to it, much as the agent itself would guess; where there is none it is a beginning. So no circle
 * is left, and whoever reads the mended file finds nothing to do.
 */
#include "base/mem.h"
#include "strategy/repair-claude.h"

/* Whether an entry has a parent that it can follow, and why not. */
enum lost {
	KNOWN,
	NO_PARENT,
	PARENT_GONE,
	DANGLING,
	TO_SIDE,
	IN_CIRCLE,
	NO_UUID,
};

struct linker {
	struct repair *r;
	struct facts *f;
	struct claude_ids ids;
	unsigned char *lost; /* enum lost of each, counted from 1 like all facts here */
	uint32_t *befores; /* the nearest that counts before each */
};

static uint32_t number_of(const struct linker *l, const struct fact *fact)
{
	return (uint32_t)(fact - l->f->v.v) + 1;
}

static struct fact *fact_at(const struct linker *l, uint32_t at)
{
	return &l->f->v.v[at - 1];
}

/* One of the main chain that is in the file. */
static bool is_main(const struct fact *fact)
{
	return fact->id.a && !(fact->flags & (FACT_SIDE | FACT_GONE));
}

/* One that the agent reads: of copies only the last. */
static bool counts(const struct fact *fact)
{
	return is_main(fact) && fact->flags & FACT_LATEST;
}

/* The agent goes no further there, whatever its parent is. */
static bool is_compaction(const struct fact *fact)
{
	return fact->flags & FACT_BOUNDARY && fact->flags & FACT_SYSTEM;
}

/* ---- in the order of the file ---- */

/* The entry of the main chain with that uuid so far. */
static uint32_t parent_so_far(const struct linker *l, const struct fact *fact)
{
	uint32_t to = fact->parent ? claude_ids_at(&l->ids, fact->parent) : 0;
	return to && is_main(fact_at(l, to)) ? to : 0;
}

/* What follows an entry that goes: its parent, unless that cannot be followed itself. Past what the
 * agent does not read either it goes to the entry before, and so do we: else less were reached. */
static uint32_t link_past(const struct linker *l, const struct fact *gone)
{
	bool known = gone->parent && !(gone->flags & FACT_UNSEEN);
	uint32_t to = known ? claude_ids_at(&l->ids, gone->parent) : 0;
	uint32_t flags = to ? fact_at(l, to)->flags : 0;
	if (flags & FACT_GONE)
		to = fact_at(l, to)->link;
	return flags & FACT_SIDE ? 0 : to;
}

static void take_entry(struct linker *l, struct fact *fact)
{
	bool gone = fact->flags & FACT_GONE;
	if (fact->flags & FACT_SIDE) {
		claude_ids_enter_side(&l->ids, fact);
		return;
	}
	if (!fact->id.a && (gone || !(fact->flags & FACT_CHAINED)))
		return;
	if (gone) {
		fact->link = link_past(l, fact);
	} else if (!fact->id.a) {
		fact->id = facts_new_id();
		fact->flags |= FACT_UUID;
		l->lost[number_of(l, fact)] = NO_UUID;
	} else {
		fact->link = parent_so_far(l, fact);
	}
	claude_ids_enter(&l->ids, fact);
}

/* ---- the links of each, once all uuids are known ---- */

static uint32_t latest_of(const struct linker *l, uint32_t at)
{
	return at ? claude_ids_at(&l->ids, fact_key(fact_at(l, at)->id)) : 0;
}

static enum lost link_ahead(struct linker *l, struct fact *fact)
{
	uint32_t to = claude_ids_at(&l->ids, fact->parent);
	uint32_t flags = to ? fact_at(l, to)->flags : 0;
	if (flags & FACT_GONE)
		fact->link = latest_of(l, fact_at(l, to)->link);
	else if (!(flags & FACT_SIDE))
		fact->link = to;
	if (fact->link)
		return KNOWN;
	return flags & FACT_GONE ? PARENT_GONE : flags & FACT_SIDE ? TO_SIDE : DANGLING;
}

static enum lost link_entry(struct linker *l, struct fact *fact)
{
	if (is_compaction(fact))
		fact->link = 0;
	if (is_compaction(fact) || (!fact->parent && fact->flags & FACT_BOUNDARY))
		return KNOWN;
	if (!fact->parent)
		return NO_PARENT;
	if (!fact->link)
		return link_ahead(l, fact);
	fact->link = latest_of(l, fact->link);
	return KNOWN;
}

static void link_entries(struct linker *l)
{
	uint32_t before = 0;
	vec_each (&l->f->v, fact) {
		uint32_t self = number_of(l, fact);
		if (!is_main(fact))
			continue;
		l->befores[self] = before;
		if (l->lost[self] != NO_UUID)
			l->lost[self] = (unsigned char)link_entry(l, fact);
		if (!counts(fact))
			continue;
		if (fact->link)
			fact_at(l, fact->link)->flags |= FACT_LEADS;
		if (fact->flags & FACT_CHAINED)
			before = self;
	}
}

/* ---- circles ---- */

/* The first entry of the circle leads nowhere instead. */
static void open_circle(struct linker *l, uint32_t on)
{
	uint32_t first = on;
	for (uint32_t at = fact_at(l, on)->link; at != on; at = fact_at(l, at)->link)
		first = at < first ? at : first;
	fact_at(l, first)->link = 0;
	l->lost[first] = IN_CIRCLE;
}

static void open_circles(struct linker *l)
{
	AUTO_FREE uint32_t *walk = xcalloc(l->f->v.n + 1, sizeof(*walk));
	for (uint32_t from = 1; from <= l->f->v.n; from++) {
		uint32_t at = counts(fact_at(l, from)) ? from : 0;
		for (; at && !walk[at]; at = fact_at(l, at)->link)
			walk[at] = from;
		if (at && walk[at] == from)
			open_circle(l, at);
	}
}

/* ---- what is lost ---- */

/* Where the way from an entry ends; ways that were gone become shorter. */
static uint32_t end_of(uint32_t *up, uint32_t at)
{
	for (; up[at]; at = up[at])
		if (up[up[at]])
			up[at] = up[up[at]];
	return at;
}

static void tell(struct linker *l, const struct fact *fact, enum lost why)
{
	const enum repair_cause causes[] = {
		[NO_PARENT] = REPAIR_NULL_PARENT,
		[DANGLING] = fact->link ? REPAIR_DANGLING_PARENT : REPAIR_LOST_BEGINNING,
		[TO_SIDE] = REPAIR_SIDE_PARENT,
		[IN_CIRCLE] = REPAIR_CYCLE,
		[NO_UUID] = REPAIR_NO_UUID,
	};
	/* That it is gone was told already; to begin is no fault. */
	if (why != PARENT_GONE && (why != NO_PARENT || fact->link))
		finding_add(&l->r->report.findings[causes[why]], fact->line);
}

/* What is passed over leads here for good, so nobody looks at it again. */
static uint32_t nearest_other(struct linker *l, uint32_t *up, uint32_t self)
{
	uint32_t to = l->befores[self];
	while (to && end_of(up, to) == self)
		to = l->befores[to];
	for (uint32_t at = self, next; at != to; at = next) {
		next = l->befores[at];
		l->befores[at] = to;
	}
	return to;
}

static void join_lost(struct linker *l)
{
	AUTO_FREE uint32_t *up = xcalloc(l->f->v.n + 1, sizeof(*up));
	for (uint32_t i = 1; i <= l->f->v.n; i++)
		up[i] = fact_at(l, i)->link;
	vec_each (&l->f->v, fact) {
		uint32_t self = number_of(l, fact);
		enum lost why = (enum lost)l->lost[self];
		/* What is no part of a conversation need not follow anything, unless it is
		 * followed. */
		bool part = fact->flags & (FACT_CHAINED | FACT_LEADS) || why != NO_PARENT;
		if (why == KNOWN || !counts(fact) || !part)
			continue;
		fact->link = is_compaction(fact) ? 0 : nearest_other(l, up, self);
		up[self] = fact->link;
		tell(l, fact, why);
	}
}

/* ---- the plan ---- */

static void plan_parents(struct linker *l)
{
	vec_each (&l->f->v, fact) {
		if (!is_main(fact))
			continue;
		if (!counts(fact)) {
			fact->link = latest_of(l, number_of(l, fact));
			continue;
		}
		uint64_t parent = fact->link ? fact_key(fact_at(l, fact->link)->id) : 0;
		if (parent != fact->parent && !is_compaction(fact))
			fact->flags |= FACT_PARENT;
	}
}

/* What the last compaction kept must be there. */
static void check_kept(struct linker *l)
{
	const struct facts *f = l->f;
	if (f->kept.n == 0)
		return;
	const struct fact_kept *end = f->kept.v + f->kept.n;
	for (const struct fact_kept *kept = f->kept.v; kept < end; kept++)
		if (kept->must && kept->fact == end[-1].fact && !claude_ids_at(&l->ids, kept->id))
			finding_add(&l->r->report.findings[REPAIR_KEPT_MISSING],
				f->v.v[kept->fact].line);
}

void claude_links(struct repair *r)
{
	size_t n = r->facts.v.n + 1;
	AUTO_FREE unsigned char *lost = xcalloc(n, sizeof(*lost));
	AUTO_FREE uint32_t *befores = xcalloc(n, sizeof(*befores));
	struct linker l = { .r = r, .f = &r->facts, .lost = lost, .befores = befores };
	claude_ids_init(&l.ids, r);
	vec_each (&r->facts.v, fact)
		take_entry(&l, fact);
	claude_ids_rename_copies(&l.ids);
	link_entries(&l);
	open_circles(&l);
	join_lost(&l);
	plan_parents(&l);
	claude_leaf(r, &l.ids);
	check_kept(&l);
	claude_ids_release(&l.ids);
}
