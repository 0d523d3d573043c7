/*
 * What is wrong with a session of Claude Code, and an entry of it mended. The chain of parents is
 * made whole first: every entry gets the one it follows. Then the rules of resuming are asked what
 * would be sent, and what is sent is checked.
 *
 * Of an entry's copies the latest counts, as the agent reads it. A parent is the nearest entry
 * before with that uuid; one that comes later is taken when there is none before. What leads
 * nowhere, or in a circle, follows the nearest entry before it that does not lead back to it, much
 * as the agent itself would guess; where there is none it is a beginning. So no circle is left, and
 * whoever reads the mended file finds nothing to do.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "strategy/repair-run.h"
#include "transcript/ids.h"
#include "transcript/tokens.h"
#include "json/write.h"

enum {
	PRINT_SAMPLE = 240,
	ID_MAX = 256, /* bytes; an entry with a longer one gets another, since ids are kept */
};

/* ---- ids ---- */

/* The id an entry has once it is mended, as it stands in the file. Copies share theirs. */
static void put_id(const struct repair *rep, uint32_t at, struct str *out)
{
	const struct fact *fact = &rep->facts.v.v[at - 1];

	if (fact->flags & FACT_UUID)
		str_addf(out, "%.28s%08x", rep->own_id,
			(unsigned)(fact->flags & FACT_COPY ? fact->link : at));
	else
		str_adds(out, rep->facts.ids.buf + fact->id);
}

/* Its key; 0 none. */
static uint64_t mended_key(const struct repair *rep, uint32_t at)
{
	AUTO_STR id = STR_INIT;

	if (at == 0 || !(rep->facts.v.v[at - 1].flags & FACT_UUID))
		return at ? rep->facts.v.v[at - 1].key : 0;
	put_id(rep, at, &id);
	return fact_hash(&rep->facts, str_sv(&id));
}

/* ---- one entry to a fact ---- */

static bool has_text(struct jval val)
{
	return val.type == J_STRING && scan_inner(val).n > 0;
}

static uint32_t flags_of(const struct jval *vals)
{
	static const uint32_t kinds[] = {
		[CLAUDE_LINE_OTHER] = 0,
		[CLAUDE_LINE_USER] = FACT_USER,
		[CLAUDE_LINE_ASSISTANT] = FACT_ASSISTANT,
		[CLAUDE_LINE_ATTACHMENT] = FACT_ATTACHMENT,
		[CLAUDE_LINE_SYSTEM] = FACT_SYSTEM,
	};
	uint32_t flags = kinds[claude_line_of(vals)];
	enum jtype content = vals[CLAUDE_MSG_CONTENT].type;

	if (flags & FACT_SPOKEN && content != J_STRING && content != J_ARRAY)
		flags |= FACT_GONE | FACT_DROP;
	if (flags & FACT_SPOKEN && !has_text(vals[CLAUDE_TIME]))
		flags |= FACT_NO_TIME;
	if (flags & FACT_ASSISTANT && !(flags & FACT_GONE)) {
		flags |= content == J_STRING ? FACT_STRING : 0;
		flags |= has_text(vals[CLAUDE_MSG_MODEL]) ? 0 : FACT_NO_MODEL;
		flags |= has_text(vals[CLAUDE_MSG_ID]) ? 0 : FACT_NO_MESSAGE_ID;
	}
	if (scan_true(vals[CLAUDE_SIDE]))
		flags |= FACT_SIDE;
	if (flags & FACT_SYSTEM
			? scan_string_eq(vals[CLAUDE_SUBTYPE], SV("compact_boundary"))
			: scan_true(vals[CLAUDE_SUMMARY]) && vals[CLAUDE_PARENT].type != J_STRING)
		flags |= FACT_BOUNDARY;
	return flags;
}

/* Size, beginning and end are enough to tell entries with one uuid apart. */
static uint32_t print_of(const struct facts *f, const struct jval *vals)
{
	struct jval val = vals[CLAUDE_MESSAGE].type != J_NONE ? vals[CLAUDE_MESSAGE]
		: vals[CLAUDE_ATTACHMENT].type != J_NONE      ? vals[CLAUDE_ATTACHMENT]
							      : vals[CLAUDE_CONTENT_TOP];
	struct sv head = sv_head(val.raw, PRINT_SAMPLE);
	struct sv tail = sv_from(val.raw, val.raw.n - head.n);
	uint64_t h = fact_hash(f, head) ^ fact_hash(f, tail) << 1 ^ val.raw.n;

	return (uint32_t)(h >> 32 ^ h);
}

static void take_tools(struct facts *f, const struct line *line)
{
	struct claude_tools tools = { .line = line };
	struct sv id;
	bool result;

	while (claude_tool_next(&tools, &id, &result))
		vec_push(&f->tools,
			(struct fact_tool){ fact_hash(f, id), (uint32_t)f->v.n - 1, result });
}

static void take_kept(struct facts *f, struct jval uuids)
{
	struct scan_iter it = scan_iter(uuids);
	struct jval id;

	while (uuids.type == J_ARRAY && scan_next(&it, NULL, &id) > 0)
		vec_push(&f->kept,
			(struct fact_kept){ fact_hash(f, scan_inner(id)), (uint32_t)f->v.n - 1 });
}

/* What the last answer says about the session. */
static void take_answer(struct facts *f, const struct jval *vals)
{
	struct jval usage = vals[CLAUDE_MSG_USAGE];

	f->last = scan_true(vals[CLAUDE_API_ERROR]) ? FACT_ANSWER_FAILED : FACT_ANSWER_FINE;
	if (scan_string_eq(vals[CLAUDE_ERROR], SV("invalid_request")))
		f->last = FACT_ANSWER_REFUSED;
	if (scan_string_eq(vals[CLAUDE_MSG_MODEL], SV("<synthetic>")))
		return;
	fact_text(f->model, vals[CLAUDE_MSG_MODEL]);
	const struct usage taken = tokens_usage(TRANSCRIPT_CLAUDE, usage);
	int64_t context = usage_context(&taken);
	f->context = context > 0 ? context : f->context;
}

static void claude_take(struct facts *f, const struct entry *entry)
{
	const struct jval *vals = entry->line->vals;
	struct jval session = vals[CLAUDE_SESSION];
	struct fact fact = entry->fact;
	struct sv id = scan_inner(vals[CLAUDE_UUID]);

	if (id.n > ID_MAX)
		id.n = 0;
	fact.flags |= flags_of(vals);
	fact.print = print_of(f, vals);
	fact.key = fact_hash(f, id);
	fact.parent = fact_hash(f, scan_inner(vals[CLAUDE_PARENT]));
	fact.message = fact_hash(f, scan_inner(vals[CLAUDE_MSG_ID]));
	if (fact.key) {
		fact.id = (uint32_t)f->ids.len;
		str_add(&f->ids, sv_make(id.p, id.n));
		str_addc(&f->ids, '\0');
	}
	/* An entry that lost its uuid is none: it gets another. */
	if (!fact.key && !(fact.flags & FACT_CHAINED) && vals[CLAUDE_LEAF].type == J_STRING) {
		fact.flags |= FACT_NOTE;
		fact.parent = fact_hash(f, scan_inner(vals[CLAUDE_LEAF]));
	}
	vec_push(&f->v, fact);
	if (session.type == J_STRING)
		*(scan_string_eq(session, entry->file_id) ? &f->own_ids : &f->other_ids) += 1;
	take_tools(f, entry->line);
	if (fact.flags & FACT_BOUNDARY && fact.flags & FACT_SYSTEM) {
		struct jval kept = line_member(vals[CLAUDE_COMPACT], "preservedMessages");
		take_kept(f, line_member(kept, "uuids"));
		take_kept(f, line_member(kept, "allUuids"));
	}
	if (!f->time[0])
		fact_text(f->time, vals[CLAUDE_TIME]);
	if (fact.flags & FACT_ASSISTANT && !(fact.flags & FACT_SIDE))
		take_answer(f, vals);
}

/* ---- the chain ---- */

struct linker {
	struct repair *rep;
	struct facts *f;
	struct ids ids;
	uint32_t *up; /* ways that are settled; longer steps where they were gone before */
	uint32_t *befores; /* the nearest entry before each that may be followed */
};

static struct fact *fact_at(const struct facts *f, uint32_t at)
{
	return &f->v.v[at - 1];
}

/* One of the main chain that the agent reads, once all is mended: of copies only the last. */
static bool counts(const struct fact *fact)
{
	return fact->flags & FACT_LATEST && !(fact->flags & (FACT_SIDE | FACT_GONE));
}

/* The agent goes no further there, whatever its parent is. */
static bool is_compaction(const struct fact *fact)
{
	return fact->flags & FACT_BOUNDARY && fact->flags & FACT_SYSTEM;
}

/* The entry of the main chain that has the key so far. */
static uint32_t main_of(const struct linker *l, uint64_t key)
{
	uint32_t at = key ? *ids_slot(&l->ids, key) : 0;

	return at && !(fact_at(l->f, at)->flags & FACT_SIDE) ? at : 0;
}

/* Answers are written again when they grow; that is no collision. */
static bool is_copy(const struct fact *a, const struct fact *b)
{
	return !((a->flags ^ b->flags) & FACT_CHAINED) &&
		(a->print == b->print || (a->message && a->message == b->message));
}

/* Puts the next entry in. Of different ones with one uuid the last keeps it, as the agent reads
 * that; a sub-agent's must not stand in for one of the main chain. */
static void enter(struct linker *l, struct fact *fact, uint32_t self)
{
	struct repair_finding *all = l->rep->report.findings;
	bool side = fact->flags & FACT_SIDE;

	if (fact->flags & FACT_GONE || (!fact->key && (side || !(fact->flags & FACT_CHAINED))))
		return;
	/* Most parents stand right before, where no table need be asked. */
	if (self > 1 && fact->parent && fact[-1].key == fact->parent && !side && counts(fact - 1))
		fact->link = self - 1;
	else
		fact->link = side ? 0 : main_of(l, fact->parent);
	if (!fact->key) {
		found(all, REPAIR_SHAPE, REPAIR_LOSS, fact->line);
		fact->flags |= FACT_LATEST | FACT_UUID;
		return;
	}
	uint32_t *slot = ids_slot(&l->ids, fact->key);
	struct fact *other = main_of(l, fact->key) ? fact_at(l->f, *slot) : NULL;
	if (other && side) {
		found(all, REPAIR_SHAPE, REPAIR_LOSS, fact->line);
		fact->flags |= FACT_LATEST | FACT_UUID;
		return;
	}
	if (other && is_copy(other, fact)) {
		found(all, REPAIR_COPIES, REPAIR_NOTE, fact->line);
		other->flags &= ~(uint32_t)FACT_LATEST;
		other->link = self;
	} else if (other) {
		found(all, REPAIR_SHAPE, REPAIR_LOSS, fact->line);
		other->flags |= FACT_UUID;
	}
	fact->flags |= FACT_LATEST;
	*slot = self;
}

/* What becomes of an entry's id and message becomes of those of its copies: they would be different
 * entries otherwise. From the last on, so that each copy finds the latest at once. */
static void mend_copies(struct facts *f)
{
	for (uint32_t at = (uint32_t)f->v.n; at > 0; at--) {
		struct fact *fact = fact_at(f, at);
		if (!fact->link || fact->flags & (FACT_LATEST | FACT_SIDE | FACT_GONE))
			continue;
		const struct fact *next = fact_at(f, fact->link);
		fact->link = next->flags & FACT_LATEST ? fact->link : next->link;
		const struct fact *latest = fact_at(f, fact->link);
		fact->flags |= FACT_COPY | (latest->flags & FACT_UUID);
		if (fact->flags & FACT_NO_MESSAGE_ID)
			fact->message = latest->message;
	}
}

/* Where the way from an entry ends. */
static uint32_t end_of(uint32_t *up, uint32_t at)
{
	for (; up[at]; at = up[at])
		if (up[up[at]])
			up[at] = up[up[at]];
	return at;
}

/* The nearest entry before that does not lead back; what is passed over leads there for good, so
 * nobody looks at it again. */
static uint32_t nearest_other(struct linker *l, uint32_t self)
{
	uint32_t to = l->befores[self];

	while (to && end_of(l->up, to) == self)
		to = l->befores[to];
	for (uint32_t at = self, next; at != to; at = next) {
		next = l->befores[at];
		l->befores[at] = to;
	}
	return to;
}

/* Parents that come before lead in no circle; the others are settled by settle(). */
static void link_before(struct linker *l)
{
	uint32_t before = 0, self = 0;

	vec_each (&l->f->v, fact) {
		self++;
		if (!counts(fact))
			continue;
		if (is_compaction(fact))
			fact->link = 0;
		else if (!fact->link)
			fact->link = main_of(l, fact->parent);
		if (fact->link && !(fact_at(l->f, fact->link)->flags & FACT_LATEST))
			fact->link = fact_at(l->f, fact->link)->link;
		if (fact->link)
			fact_at(l->f, fact->link)->flags |= FACT_LEADS;
		l->up[self] = fact->link < self ? fact->link : 0;
		l->befores[self] = before;
		if (fact->flags & FACT_CHAINED)
			before = self;
	}
}

static void settle(struct linker *l)
{
	struct repair_finding *all = l->rep->report.findings;
	uint32_t self = 0;

	vec_each (&l->f->v, fact) {
		self++;
		if (!counts(fact) || is_compaction(fact) || l->up[self] ||
			(fact->link && end_of(l->up, fact->link) != self)) {
			l->up[self] = counts(fact) ? fact->link : 0;
			continue;
		}
		/* What is no part of a conversation need not follow anything, unless it is
		 * followed. */
		if (!fact->parent &&
			(fact->flags & FACT_BOUNDARY ||
				!(fact->flags & (FACT_CHAINED | FACT_LEADS))))
			continue;
		bool circle = fact->link != 0, side = !circle && *ids_slot(&l->ids, fact->parent);
		fact->link = l->up[self] = nearest_other(l, self);
		if (circle || side)
			found(all, REPAIR_SHAPE, side ? REPAIR_LOSS : REPAIR_MINOR, fact->line);
		else if (fact->parent)
			found(all, REPAIR_DANGLING_PARENT, REPAIR_MINOR, fact->line);
		else if (fact->link) /* to begin is no fault */
			found(all, REPAIR_NULL_PARENT, REPAIR_LOSS, fact->line);
	}
}

/* ---- the leaf ---- */

/* The end of the longest way that leads to the last words, where entries come before those they
 * follow; what is known of a way already is not walked again. */
static uint32_t deepest(const struct facts *f, uint32_t last)
{
	const uint32_t elsewhere = UINT32_MAX;
	AUTO_FREE uint32_t *depth = xcalloc(f->v.n + 1, sizeof(*depth));
	uint32_t best = last;

	depth[0] = elsewhere;
	depth[last] = 1;
	for (uint32_t from = 1; from <= f->v.n; from++) {
		const struct fact *fact = fact_at(f, from);
		uint32_t n = 0, at = from;
		if (!counts(fact) || !(fact->flags & FACT_SPOKEN))
			continue;
		for (; !depth[at]; at = fact_at(f, at)->link)
			n++;
		uint32_t known = depth[at];
		for (at = from; !depth[at]; at = fact_at(f, at)->link)
			depth[at] = known == elsewhere ? elsewhere : known + n--;
		if (depth[from] != elsewhere && depth[from] >= depth[best])
			best = from;
	}
	return best;
}

/* As the agent sees it: it goes to another branch that a note names, unless the last words come
 * after a compaction and what it names comes before. */
static bool leads_elsewhere(const struct facts *f, uint32_t from, uint32_t named)
{
	uint32_t at = from;

	while (at && at != named && !is_compaction(fact_at(f, at)))
		at = fact_at(f, at)->link;
	return at < named;
}

/* Where the conversation goes on: at its last words, or where a note behind them says. A note from
 * before them is stale. */
static void find_leaf(struct linker *l)
{
	struct repair *rep = l->rep;
	const struct facts *f = l->f;
	uint32_t last = 0, note = 0, named = 0, goes, self = 0;

	vec_each (&f->v, fact) {
		self++;
		if (fact->flags & FACT_SPOKEN && !(fact->flags & (FACT_SIDE | FACT_GONE)))
			last = self;
		if (fact->flags & FACT_NOTE)
			note = self;
	}
	rep->leaf = deepest(f, last);
	if (note)
		named = main_of(l, fact_at(f, note)->parent);
	goes = named && leads_elsewhere(f, last, named) ? named : last;
	/* It was chosen when the agent read the note, and what that names leads to anything. */
	if (note > last && named && !(fact_at(f, note)->flags & FACT_UNSEEN) &&
		(fact_at(f, named)->link || fact_at(f, named)->flags & FACT_CHAINED) &&
		leads_elsewhere(f, rep->leaf, named))
		rep->leaf = named;
	/* Where a note would not help, the agent's way is the only one. */
	if (rep->leaf != goes && rep->leaf != last && !leads_elsewhere(f, last, rep->leaf))
		rep->leaf = goes;
	rep->note_leaf = rep->leaf != goes;
	if (rep->note_leaf && goes == named)
		found(rep->report.findings, REPAIR_STALE_LEAF, REPAIR_LOSS, fact_at(f, note)->line);
	else if (rep->note_leaf)
		found(rep->report.findings, REPAIR_WRONG_ORDER, REPAIR_LOSS,
			fact_at(f, rep->leaf)->line);
}

/* ---- the plan ---- */

/* Sets fact.link of every entry, plans for those whose parent it is not, and finds the leaf. */
static void link_entries(struct repair *rep)
{
	struct facts *f = &rep->facts;
	size_t n = f->v.n + 1;
	AUTO_FREE uint32_t *up = xcalloc(n, sizeof(*up));
	AUTO_FREE uint32_t *befores = xcalloc(n, sizeof(*befores));
	CLEANUP(ids_release) struct ids ids = ids_new(&f->v, key);
	struct linker l = { rep, f, ids, up, befores };
	uint32_t self = 0;

	vec_each (&f->v, fact)
		enter(&l, fact, ++self);
	mend_copies(f);
	link_before(&l);
	settle(&l);
	vec_each (&f->v, fact)
		if (counts(fact) && !is_compaction(fact) &&
			mended_key(rep, fact->link) != fact->parent)
			fact->flags |= FACT_PARENT;
	find_leaf(&l);
}

/* Answers that were one keep one id: they follow each other with nothing between. */
static void name_answers(struct repair *rep)
{
	struct facts *f = &rep->facts;
	uint32_t self = 0;

	vec_each (&f->v, fact) {
		self++;
		if (!(fact->flags & FACT_NO_MESSAGE_ID) || !counts(fact))
			continue;
		const struct fact *before = fact->link ? fact_at(f, fact->link) : NULL;
		bool same = before && before < fact && before->flags & FACT_NO_MESSAGE_ID;
		fact->message = same ? before->message : mended_key(rep, self) | 1;
	}
}

/* What a resume would send: one bit a fact. */
static int claude_live(
	const struct repair *rep, bool mended, struct transcript_live *ret, struct err *reterr)
{
	const struct facts *f = &rep->facts;
	struct chain *chain = chain_new(rep->format);
	size_t tool = 0, kept = 0;

	for (uint32_t i = 0; i < f->v.n; i++) {
		const struct fact *fact = &f->v.v[i];
		struct chain_entry entry = { .flags = 0 };
		bool side = fact->flags & FACT_SIDE;
		bool in = mended ? mended_key(rep, i + 1) && !(fact->flags & FACT_GONE)
				 : fact->key && !(fact->flags & FACT_UNSEEN);
		if (in) {
			bool relinked = mended && counts(fact) && !is_compaction(fact);
			entry = (struct chain_entry){
				.id = mended ? mended_key(rep, i + 1) : fact->key,
				.parent = relinked ? mended_key(rep, fact->link) : fact->parent,
				.message = fact->message,
				.size = fact->size,
			};
			if (side)
				entry.flags = CHAIN_SIDE | CHAIN_SENT;
			else if (fact->flags & FACT_SPOKEN)
				entry.flags = CHAIN_SPOKEN | CHAIN_SENT;
			else if (fact->flags & FACT_ATTACHMENT)
				entry.flags = CHAIN_SENT;
			else if (is_compaction(fact))
				entry.flags = CHAIN_BOUNDARY;
			if (!side && fact->flags & FACT_ASSISTANT)
				entry.flags |= CHAIN_ASSISTANT;
		}
		chain_add_entry(chain, &entry);
		for (; tool < f->tools.n && f->tools.v[tool].fact == i; tool++)
			if (in && !side)
				chain_add_tool(chain, f->tools.v[tool].id, f->tools.v[tool].result);
		for (; kept < f->kept.n && f->kept.v[kept].fact == i; kept++)
			if (in && !side)
				chain_add_kept(chain, f->kept.v[kept].id);
		if (fact->flags & FACT_NOTE && (mended || !(fact->flags & FACT_UNSEEN)))
			chain_add_note(chain, fact->parent);
	}
	if (mended && rep->note_leaf)
		chain_add_note(chain, mended_key(rep, rep->leaf));
	int r = chain_live(chain, ret, reterr);
	chain_free(chain);
	return r;
}

static void claude_check(struct repair *rep)
{
	struct repair_finding *all = rep->report.findings;
	size_t spoken = 0, timeless = 0, main = 0;

	vec_each (&rep->facts.v, fact) {
		spoken += (fact->flags & FACT_SPOKEN) != 0;
		timeless += (fact->flags & FACT_NO_TIME) != 0;
		if (fact->flags & (FACT_DROP | FACT_STRING | FACT_NO_MODEL))
			found(all, REPAIR_SHAPE, REPAIR_BLOCK, fact->line);
		else if (fact->flags & FACT_NO_MESSAGE_ID)
			found(all, REPAIR_SHAPE, REPAIR_LOSS, fact->line);
		if (fact->flags & FACT_SPOKEN && !(fact->flags & FACT_GONE))
			*(fact->flags & FACT_SIDE ? &rep->report.side : &main) += 1;
	}
	/* The agent looks for any time to find the session by. */
	vec_each (&rep->facts.v, fact)
		if (fact->flags & FACT_NO_TIME)
			found(all, REPAIR_SHAPE, timeless < spoken ? REPAIR_MINOR : REPAIR_BLOCK,
				fact->line);
	if (main + rep->report.side == 0)
		found(all, REPAIR_EMPTY, REPAIR_BLOCK, 0);
	if (main > 0 || rep->report.side == 0)
		return;
	/* A file of its own for a sub-agent is all side chain and fine; a session is not. */
	rep->sub_agent = !uuid_valid(sv_of(rep->file_id));
	rep->report.side = 0;
	vec_each (&rep->facts.v, fact) {
		if (!(fact->flags & FACT_SIDE))
			continue;
		fact->flags &= ~(uint32_t)FACT_SIDE;
		fact->flags |= FACT_MAIN;
		if (!rep->sub_agent)
			found(all, REPAIR_SHAPE, REPAIR_BLOCK, fact->line);
	}
}

static void check_last(struct repair *rep, uint64_t live_bytes)
{
	/* Below these no window is full, and text takes at least two bytes a token. */
	enum { OVERHEAD = 60000, SMALL_WINDOW = 200000 };
	const struct facts *f = &rep->facts;
	struct repair_finding *all = rep->report.findings;
	int64_t window = tokens_window(sv_of(f->model));

	window = window > 0 ? window : SMALL_WINDOW;
	/* After errors that another try may pass the agent goes on. */
	if (f->last >= FACT_ANSWER_FAILED)
		found(all, REPAIR_ERROR_MARK,
			f->last == FACT_ANSWER_FAILED ? REPAIR_NOTE : REPAIR_MINOR, 0);
	if (f->context >= window / 5 * 4 && f->context > OVERHEAD + (int64_t)(live_bytes / 2))
		found(all, REPAIR_STALE_USAGE, REPAIR_MINOR, 0);
	if (uuid_valid(sv_of(rep->file_id)) && f->own_ids == 0 && f->other_ids > 0)
		found(all, REPAIR_SESSION_ID, REPAIR_MINOR, 0);
}

/* Part of the answer that is being given. */
static bool claude_running(const struct repair *rep, uint32_t call)
{
	return rep->facts.v.v[call].message == fact_at(&rep->facts, rep->leaf)->message;
}

static void claude_plan(struct repair *rep, const struct transcript_live *now)
{
	uuid_new(rep->own_id);
	check_last(rep, now->live_bytes);
	link_entries(rep);
	name_answers(rep);
	mend_copies(&rep->facts);
	vec_each (&rep->facts.v, fact)
		rep->report.others += counts(fact) && fact->flags & (FACT_SPOKEN | FACT_ATTACHMENT);
}

/* ---- mending ---- */

static void tell_call(const struct mending *entry, struct jval block)
{
	AUTO_STR json = STR_INIT;

	str_adds(&json, "{\"type\":\"text\",\"text\":\"[no result was recorded for this call of ");
	str_add(&json, scan_inner(line_member(block, "name")));
	str_adds(&json, "] ");
	json_escape(&json, line_member(block, "input").raw);
	str_adds(&json, "\"}");
	edit_value(entry->edit, block, str_sv(&json));
}

static void tell_result(const struct mending *entry, struct jval block)
{
	AUTO_STR json = STR_INIT;
	struct jval content = line_member(block, "content"), item;
	struct scan_iter it = scan_iter(content);

	str_adds(&json, "{\"type\":\"text\",\"text\":\"[result of a tool whose call is lost]");
	if (content.type == J_STRING) {
		str_adds(&json, "\\n");
		str_add(&json, scan_inner(content));
	}
	str_adds(&json, "\"}");
	/* The blocks of a result are blocks of a message just as well. */
	while (content.type == J_ARRAY && scan_next(&it, NULL, &item) > 0) {
		str_addc(&json, ',');
		str_add(&json, item.raw);
	}
	edit_value(entry->edit, block, str_sv(&json));
}

static void mend_tools(const struct mender *m, const struct mending *entry)
{
	uint32_t flags = entry->fact->flags;
	struct jval content = entry->vals[CLAUDE_MSG_CONTENT], block;
	struct scan_iter it = scan_iter(content);

	while (content.type == J_ARRAY && scan_next(&it, NULL, &block) > 0) {
		struct jval use = line_member(block, "tool_use_id");
		struct jval id = line_member(block, "id");
		if (use.type == J_STRING) {
			if (flags & FACT_RESULT && tool_is_alone(m->rep, use))
				tell_result(entry, block);
		} else if (flags & FACT_CALL && tool_is_alone(m->rep, id) &&
			scan_string_eq(line_member(block, "type"), SV("tool_use"))) {
			tell_call(entry, block);
		}
	}
}

static void mend_id(const struct mender *m, const struct mending *entry, struct jval val,
	const char *key, uint32_t at)
{
	AUTO_STR json = STR_INIT;

	str_addc(&json, '"');
	if (at)
		put_id(m->rep, at, &json);
	str_addc(&json, '"');
	mend_member(entry, entry->object, val, key, at ? str_sv(&json) : SV("null"));
}

static void claude_mend(const struct mender *m, const struct mending *entry)
{
	const struct repair *rep = m->rep;
	const struct jval *vals = entry->vals;
	uint32_t flags = entry->fact->flags, at = (uint32_t)(entry->fact - rep->facts.v.v) + 1;
	AUTO_STR json = STR_INIT;

	if (flags & FACT_PARENT)
		mend_id(m, entry, vals[CLAUDE_PARENT], "parentUuid", entry->fact->link);
	if (flags & FACT_UUID)
		mend_id(m, entry, vals[CLAUDE_UUID], "uuid", at);
	if (flags & FACT_MAIN && !m->side)
		mend_member(entry, entry->object, vals[CLAUDE_SIDE], "isSidechain", SV("false"));
	if (flags & FACT_NO_TIME)
		mend_time(m, entry, vals[CLAUDE_TIME]);
	if (flags & FACT_NO_MODEL) /* any name will do; the next answer brings its own */
		mend_text(entry, vals[CLAUDE_MESSAGE], vals[CLAUDE_MSG_MODEL], "model",
			sv_of(rep->facts.model[0] ? rep->facts.model : "unknown"));
	if (flags & FACT_NO_MESSAGE_ID) {
		str_clear(&json);
		str_addf(&json, "msg_%016llx", (unsigned long long)entry->fact->message);
		mend_text(entry, vals[CLAUDE_MESSAGE], vals[CLAUDE_MSG_ID], "id", str_sv(&json));
	}
	if (flags & FACT_STRING && !entry->neutral) {
		str_clear(&json);
		str_adds(&json, "[{\"type\":\"text\",\"text\":");
		str_add(&json, vals[CLAUDE_MSG_CONTENT].raw);
		str_adds(&json, "}]");
		edit_value(entry->edit, vals[CLAUDE_MSG_CONTENT], str_sv(&json));
	}
	if (flags & FACT_TOOLS && !entry->neutral)
		mend_tools(m, entry);
	if (m->session && !entry->id && vals[CLAUDE_SESSION].type == J_STRING)
		edit_string(entry->edit, vals[CLAUDE_SESSION], sv_of(m->session));
}

/* The note that the agent itself leaves about where it goes on. */
static void claude_frame(const struct mender *m, struct str *head UNUSED, struct str *tail)
{
	const struct repair *rep = m->rep;
	AUTO_STR id = STR_INIT;
	struct jw w = JW_INIT(tail);

	if (!rep->note_leaf)
		return;
	str_addc(&id, '"');
	put_id(rep, rep->leaf, &id);
	jw_object(&w);
	jw_put_cstr(&w, "type", "last-prompt");
	jw_key(&w, "leafUuid");
	str_addc(&id, '"');
	jw_raw(&w, str_sv(&id));
	jw_put_cstr(&w, "sessionId", m->session ? m->session : rep->file_id);
	jw_end(&w);
	str_addc(tail, '\n');
}

const struct repair_rules repair_claude = {
	.format = TRANSCRIPT_CLAUDE,
	.reads_first = true,
	.null_line = REPAIR_BLOCK, /* at which it stops */
	.take = claude_take,
	.check = claude_check,
	.live = claude_live,
	.plan = claude_plan,
	.running = claude_running,
	.mend = claude_mend,
	.frame = claude_frame,
};
