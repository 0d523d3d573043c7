/*
 * Where the conversation goes on: the last words, or what a note names.
 */
#include "base/mem.h"
#include "strategy/repair-claude.h"

static uint32_t last_words(const struct facts *f)
{
	for (size_t i = f->v.n; i-- > 0;)
		if (f->v.v[i].flags & FACT_SPOKEN && !(f->v.v[i].flags & (FACT_SIDE | FACT_GONE)))
			return (uint32_t)i + 1;
	return 0;
}

#define ELSEWHERE UINT32_MAX

/* How many entries lead to each from the one whose depth is set; what is known already is not
 * walked again. */
static void measure(const struct facts *f, uint32_t *depth, uint32_t from)
{
	uint32_t n = 0, at = from;
	for (; !depth[at]; at = f->v.v[at - 1].link)
		n++;
	uint32_t known = depth[at];
	for (at = from; !depth[at]; at = f->v.v[at - 1].link)
		depth[at] = known == ELSEWHERE ? ELSEWHERE : known + n--;
}

/* Where a file goes on in which entries come before those they follow: at the end of the longest
 * way from its last words. */
static uint32_t deepest(const struct facts *f, uint32_t last)
{
	AUTO_FREE uint32_t *depth = xcalloc(f->v.n + 1, sizeof(*depth));
	uint32_t best = last;
	depth[0] = ELSEWHERE;
	depth[last] = 1;
	for (uint32_t at = 1; at <= f->v.n; at++) {
		const struct fact *fact = &f->v.v[at - 1];
		if (fact->flags & (FACT_SIDE | FACT_GONE) || !(fact->flags & FACT_SPOKEN) ||
			!(fact->flags & FACT_LATEST))
			continue;
		measure(f, depth, at);
		if (depth[at] != ELSEWHERE && depth[at] >= depth[best])
			best = at;
	}
	return best;
}

/* Whether an entry that stands before it follows it. */
static bool is_followed(const struct facts *f, uint32_t at)
{
	for (uint32_t i = 0; i + 1 < at; i++)
		if (f->v.v[i].link == at && f->v.v[i].flags & FACT_LATEST &&
			!(f->v.v[i].flags & (FACT_SIDE | FACT_GONE)))
			return true;
	return false;
}

static void find_leaf(struct repair *r)
{
	const struct facts *f = &r->facts;
	uint32_t last = last_words(f);
	r->leaf = is_followed(f, last) ? deepest(f, last) : last;
	r->repeat_leaf = r->leaf != last;
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
static bool is_choice(const struct facts *f, const struct fact *note, uint32_t named)
{
	const struct fact *entry = &f->v.v[named - 1];
	return !(note->flags & FACT_UNSEEN) && (entry->link || entry->flags & FACT_CHAINED);
}

/* A note that names another branch wins; it is right when it came after the last words, and stale
 * when it came before them. */
static void check_note(struct repair *r, const struct claude_ids *ids)
{
	struct facts *f = &r->facts;
	struct fact *note = last_note(f);
	uint32_t named = note ? claude_ids_at(ids, note->parent) : 0;
	if (!named || f->v.v[named - 1].flags & (FACT_SIDE | FACT_GONE) ||
		!leads_elsewhere(f, r->leaf, named))
		return;
	if (note > &f->v.v[last_words(f) - 1] && is_choice(f, note, named)) {
		r->leaf = named;
		r->repeat_leaf = false;
		return;
	}
	finding_add(&r->report.findings[REPAIR_STALE_LEAF], note->line);
	note->link = r->leaf;
	note->flags |= FACT_NOTE;
	if (is_choice(f, note, named))
		r->stale_note = (uint32_t)(note - f->v.v) + 1;
}

void claude_leaf(struct repair *r, const struct claude_ids *ids)
{
	find_leaf(r);
	check_note(r, ids);
	if (r->repeat_leaf)
		finding_add(
			&r->report.findings[REPAIR_WRONG_ORDER], r->facts.v.v[r->leaf - 1].line);
}
