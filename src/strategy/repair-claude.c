/*
 * What is wrong with a session of Claude Code, and what is to be done: first the chain is made
 * whole (every entry gets the one it follows), then the rules of resuming are asked what would be
 * sent, and what is sent is checked.
 */
#include <string.h>

#include "base/mem.h"
#include "strategy/repair-claude.h"
#include "transcript/tokens.h"

/* ---- single entries ---- */

static void found(struct repair *r, enum repair_cause cause, const struct fact *fact)
{
	finding_add(&r->report.findings[cause], fact ? fact->line : 0);
}

static void check_entry(struct repair *r, struct fact *fact)
{
	static const struct {
		uint32_t bit;
		enum repair_cause cause;
	} causes[] = {
		{ FACT_NO_TIME, REPAIR_NO_TIME },
		{ FACT_NO_MODEL, REPAIR_NO_MODEL },
		{ FACT_NO_MESSAGE_ID, REPAIR_NO_MESSAGE_ID },
		{ FACT_STRING, REPAIR_STRING_CONTENT },
		{ FACT_BAD_MESSAGE, REPAIR_BAD_MESSAGE },
	};
	for (size_t i = 0; i < ARRAY_LEN(causes); i++)
		if (fact->flags & causes[i].bit)
			found(r, causes[i].cause, fact);
	if (fact->flags & FACT_BAD_MESSAGE)
		fact->flags |= FACT_GONE | FACT_DROP;
}

/* A file of its own for a sub-agent is all side chain and fine; a session is not. */
static void check_side(struct repair *r)
{
	size_t main = 0, side = 0;
	vec_each (&r->facts.v, fact)
		if (fact->flags & FACT_SPOKEN && !(fact->flags & FACT_GONE))
			*(fact->flags & FACT_SIDE ? &side : &main) += 1;
	if (main > 0 || side == 0) {
		r->report.side = side;
		return;
	}
	bool session = uuid_valid(sv_of(r->file_id));
	vec_each (&r->facts.v, fact) {
		if (!(fact->flags & FACT_SIDE))
			continue;
		fact->flags &= ~(uint32_t)FACT_SIDE;
		fact->flags |= FACT_MAIN;
		if (session)
			found(r, REPAIR_ALL_SIDE, fact);
	}
	r->sub_agent = !session;
}

/* The entry it follows; NULL for a copy that does not count. */
static const struct fact *followed(const struct facts *f, const struct fact *fact)
{
	const struct fact *to = fact->link ? &f->v.v[fact->link - 1] : NULL;
	return to && fact_key(to->id) != fact_key(fact->id) ? to : NULL;
}

/* Answers that were one keep one id: they follow each other with nothing between. */
static void name_answers(struct repair *r)
{
	struct facts *f = &r->facts;
	vec_each (&f->v, fact) {
		if (!(fact->flags & FACT_NO_MESSAGE_ID))
			continue;
		const struct fact *before = followed(f, fact);
		bool same = before && before < fact && before->flags & FACT_NO_MESSAGE_ID;
		fact->message = same ? before->message : fact_key(fact->id) | 1;
	}
	vec_each (&f->v, fact)
		if (fact->flags & FACT_NO_MESSAGE_ID && fact->link && !followed(f, fact))
			fact->message = f->v.v[fact->link - 1].message;
}

/* ---- what would be sent ---- */

struct text_val {
	char buf[32];
};

static struct jval hex(struct text_val *t, uint64_t key)
{
	int n = snprintf(t->buf, sizeof(t->buf), "\"%llx\"", (unsigned long long)key);
	return (struct jval){ sv_make(t->buf, key ? (size_t)n : 0), key ? J_STRING : J_NULL };
}

static struct jval word(const char *quoted)
{
	return (struct jval){ sv_of(quoted), J_STRING };
}

static struct jval type_of(uint32_t flags)
{
	if (flags & FACT_USER)
		return word("\"user\"");
	if (flags & FACT_ASSISTANT)
		return word("\"assistant\"");
	return word(flags & FACT_ATTACHMENT ? "\"attachment\"" : "\"system\"");
}

/* As it would stand in compactMetadata. */
static struct jval kept_json(const struct facts *f, size_t fact, size_t *at, struct str *out)
{
	const char *comma = "";
	str_clear(out);
	str_adds(out, "{\"preservedMessages\":{\"uuids\":[");
	while (*at < f->kept.n && f->kept.v[*at].fact < fact)
		(*at)++;
	for (; *at < f->kept.n && f->kept.v[*at].fact == fact; (*at)++, comma = ",")
		str_addf(out, "%s\"%llx\"", comma, (unsigned long long)f->kept.v[*at].id);
	str_adds(out, "]}}");
	return (struct jval){ str_sv(out), J_OBJECT };
}

struct mended_chain {
	struct chain *chain;
	size_t tool, kept; /* next of each list */
	struct str json;
};

static void add_mended(struct mended_chain *m, const struct facts *f, size_t at)
{
	const struct fact *fact = &f->v.v[at];
	struct text_val uuid, parent, message;
	struct chain_claude record = { .type = { .type = J_NONE } };
	bool in = !(fact->flags & (FACT_GONE | FACT_SIDE)) && fact->id.a;
	if (in) {
		record = (struct chain_claude){
			.type = type_of(fact->flags),
			.uuid = hex(&uuid, fact_key(fact->id)),
			.parent =
				hex(&parent, fact->link ? fact_key(f->v.v[fact->link - 1].id) : 0),
			.message_id = hex(&message, fact->message),
		};
		if (fact->flags & FACT_BOUNDARY && fact->flags & FACT_SYSTEM) {
			record.subtype = word("\"compact_boundary\"");
			record.compact = kept_json(f, at, &m->kept, &m->json);
		}
	}
	chain_add_claude(m->chain, &record, 0);
	for (; m->tool < f->tools.n && f->tools.v[m->tool].fact <= at; m->tool++) {
		const struct fact_tool *tool = &f->tools.v[m->tool];
		char id[32];
		int n = snprintf(id, sizeof(id), "%llx", (unsigned long long)tool->id);
		if (in && tool->fact == at)
			chain_tool(m->chain, sv_make(id, (size_t)n), tool->result);
	}
}

static void note_leaf(struct mended_chain *m, const struct fact *leaf)
{
	struct text_val uuid;
	const struct chain_claude record = { .leaf = hex(&uuid, fact_key(leaf->id)) };
	chain_add_claude(m->chain, &record, 0);
}

/* What a resume of the mended session would send: one bit a fact. */
static int ask_rules(struct repair *r, struct transcript_live *ret, struct err *reterr)
{
	struct mended_chain m = { .chain = chain_new(TRANSCRIPT_CLAUDE), .json = STR_INIT };
	for (size_t i = 0; i < r->facts.v.n; i++)
		add_mended(&m, &r->facts, i);
	m.tool = 0;
	if (r->repeat_leaf)
		add_mended(&m, &r->facts, r->leaf - 1);
	note_leaf(&m, &r->facts.v.v[r->leaf - 1]);
	int rc = chain_live(m.chain, ret, reterr);
	chain_free(m.chain);
	str_release(&m.json);
	return rc;
}

/* ---- the whole ---- */

static void check_last(struct repair *r)
{
	/* Below these no window is full, and text takes at least two bytes a token. */
	enum { OVERHEAD = 60000, SMALL_WINDOW = 200000 };
	const struct facts *f = &r->facts;
	int64_t window = tokens_window(sv_of(f->model));
	if (f->last >= FACT_ANSWER_FAILED)
		found(r, REPAIR_ERROR_MARK, NULL);
	window = window > 0 ? window : SMALL_WINDOW;
	if (f->context >= window / 5 * 4 &&
		f->context > OVERHEAD + (int64_t)(r->live.live_bytes / 2))
		found(r, REPAIR_STALE_USAGE, NULL);
	if (uuid_valid(sv_of(r->file_id)) && f->own_ids == 0 && f->other_ids > 0)
		found(r, REPAIR_SESSION_ID, NULL);
}

/* What was written after a note that leads elsewhere is not reached. */
static size_t count_before(const struct transcript_live *mended, uint32_t note)
{
	size_t n = 0;
	for (uint32_t i = 0; i < note; i++)
		n += transcript_is_live(mended, i);
	return n;
}

static void count_others(struct repair *r, const struct transcript_live *mended)
{
	size_t main = 0;
	vec_each (&r->facts.v, fact)
		if (fact->flags & (FACT_SPOKEN | FACT_ATTACHMENT) &&
			!(fact->flags & (FACT_SIDE | FACT_GONE)) && fact->flags & FACT_LATEST)
			main++;
	r->report.entries = mended->live;
	r->report.others = main > mended->live ? main - mended->live : 0;
	r->report.reachable = r->sub_agent ? mended->live : r->live.live;
	if (r->stale_note > 0)
		r->report.reachable = count_before(mended, r->stale_note);
}

static bool has_words(const struct facts *f)
{
	vec_each (&f->v, fact)
		if (fact->flags & FACT_SPOKEN && !(fact->flags & FACT_GONE))
			return true;
	return false;
}

struct sent {
	const struct repair *r;
	const struct transcript_live *mended;
};

/* Of an entry that is repeated at the end, the repetition counts. */
static bool is_live(const void *data, uint32_t fact)
{
	const struct sent *sent = data;
	bool repeated = sent->r->repeat_leaf && fact + 1 == sent->r->leaf;
	return transcript_is_live(sent->mended, repeated ? sent->r->facts.v.n : fact);
}

int claude_plan(struct repair *r, struct err *reterr)
{
	struct transcript_live mended;
	/* A second one is made of what is found. */
	chain_free(TAKE_PTR(r->facts.chain));
	vec_each (&r->facts.v, fact) {
		check_entry(r, fact);
		r->spoken += fact->flags & FACT_SPOKEN ? 1 : 0;
	}
	check_last(r);
	if (!has_words(&r->facts)) {
		found(r, REPAIR_EMPTY, NULL);
		return 0;
	}
	check_side(r);
	claude_links(r);
	name_answers(r);
	int rc = ask_rules(r, &mended, reterr);
	if (rc < 0)
		return rc;
	count_others(r, &mended);
	r->compacted = mended.compacted;
	const struct sent sent = { r, &mended };
	plan_tools(r, is_live, &sent);
	claude_copies(r);
	transcript_live_release(&mended);
	return 0;
}
