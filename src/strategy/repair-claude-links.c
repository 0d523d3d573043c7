/*
 * The chain made whole. A parent is the nearest entry before with that uuid; one that comes later
 * is taken when there is none before. An entry that leads nowhere follows the one before it, as the
 * agent itself would guess.
 */
#include "base/mem.h"
#include "strategy/repair-claude.h"

/* An entry whose parent is not before it, and the entry that is. */
struct pending {
	uint32_t fact, before; /* both from 1 */
};

struct linker {
	struct repair *r;
	struct facts *f;
	struct claude_ids ids;
	VEC(struct pending) pending;
	VEC(struct pending) rootless; /* without any parent in mid-file */
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

static void link_entry(struct linker *l, struct fact *fact)
{
	bool begins = fact->flags & FACT_BOUNDARY || !l->before;
	uint32_t self = (uint32_t)(fact - l->f->v.v) + 1;
	if (!fact->parent) {
		uint32_t copy = claude_ids_copy(&l->ids, fact);
		if (!begins)
			vec_push(&l->rootless, (struct pending){ self, copy ? copy : l->before });
		return;
	}
	uint32_t slot = claude_ids_at(&l->ids, fact->parent);
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
	uint32_t slot = known ? claude_ids_at(&l->ids, gone->parent) : 0;
	uint32_t flags = slot ? l->f->v.v[slot - 1].flags : 0;
	if (flags & FACT_GONE)
		slot = l->f->v.v[slot - 1].link;
	return flags & FACT_SIDE ? 0 : slot;
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
		relink(l, fact, REPAIR_NO_UUID, l->before);
	} else {
		link_entry(l, fact);
	}
	claude_ids_enter(&l->ids, fact);
	if (!gone && fact->flags & FACT_CHAINED)
		l->before = (uint32_t)(fact - l->f->v.v) + 1;
}

static void link_pending(struct linker *l)
{
	vec_each (&l->pending, p) {
		struct fact *fact = &l->f->v.v[p->fact - 1];
		uint32_t slot = claude_ids_at(&l->ids, fact->parent);
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
			fact->link = claude_ids_at(&l->ids, fact_key(to->id));
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

/* What the last compaction kept must be there. */
static void check_kept(struct linker *l)
{
	const struct facts *f = l->f;
	if (f->kept.n == 0)
		return;
	const struct fact_kept *end = f->kept.v + f->kept.n;
	for (const struct fact_kept *kept = f->kept.v; kept < end; kept++)
		if (kept->must && kept->fact == end[-1].fact && !claude_ids_at(&l->ids, kept->id))
			found(l, REPAIR_KEPT_MISSING, &f->v.v[kept->fact]);
}

static bool is_followed_before(const struct linker *l, uint32_t fact)
{
	vec_each (&l->pending, p)
		if (link_of(l, p->fact) == fact && fact > p->fact)
			return true;
	return false;
}

void claude_links(struct repair *r)
{
	AUTO_FREE uint32_t *befores = xcalloc(r->facts.v.n + 1, sizeof(*befores));
	struct linker l = { .r = r, .f = &r->facts, .befores = befores };
	claude_ids_init(&l.ids, r);
	vec_each (&r->facts.v, fact)
		take_entry(&l, fact);
	claude_ids_rename_copies(&l.ids);
	link_pending(&l);
	link_latest(&l);
	open_circles(&l);
	link_rootless(&l);
	pass_copies(&r->facts);
	claude_leaf(r, &l.ids, is_followed_before(&l, claude_last_words(&r->facts)));
	check_kept(&l);
	name_parents(&r->facts);
	vec_release(&l.pending);
	vec_release(&l.rootless);
	vec_release(&l.way);
	claude_ids_release(&l.ids);
}
