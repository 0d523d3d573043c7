/*
 * What is wrong with a rollout of Codex. Its history is not a chain but the order of the file, so
 * what matters is that the file begins with its session_meta, that lines can be read, that the
 * numbers hold, and that calls and outputs are pairs.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "os/path.h"
#include "strategy/repair-facts.h"

static struct jval member(struct jval obj, const char *key)
{
	struct jval val;
	if (scan_get(obj, sv_of(key), &val) <= 0)
		return (struct jval){ .type = J_NONE };
	return val;
}

/* ---- one entry ---- */

static uint64_t ordinal_of(struct jval val)
{
	int64_t n;
	if (val.type == J_NONE)
		return ORDINAL_NONE;
	return val.type == J_NUMBER && scan_i64(val, &n) && n >= 0 ? (uint64_t)n : ORDINAL_BAD;
}

/* Lines of the first year have no outer object, and no numbers. */
static bool is_bare(const struct jval *vals)
{
	return vals[CODEX_TYPE].raw.p == vals[CODEX_P_TYPE].raw.p;
}

static uint32_t flags_of(const struct jval *vals, enum codex_line line)
{
	static const uint32_t kinds[] = {
		[CODEX_LINE_OTHER] = 0,
		[CODEX_LINE_META] = FACT_META,
		[CODEX_LINE_ITEM] = FACT_USER,
		[CODEX_LINE_CONTEXT] = 0,
		[CODEX_LINE_EVENT] = 0,
		[CODEX_LINE_COMPACTED] = FACT_BOUNDARY | FACT_USER,
	};
	uint32_t flags = kinds[line];
	bool record = vals[CODEX_PAYLOAD].type == J_OBJECT && vals[CODEX_TYPE].type == J_STRING;
	if (!is_bare(vals) && record) {
		flags |= FACT_RECORD;
		if (vals[CODEX_TIME].type != J_STRING || scan_inner(vals[CODEX_TIME]).n == 0)
			flags |= FACT_NO_TIME;
	}
	return flags;
}

static void take_tool(struct facts *f, const struct jval *vals)
{
	struct sv type = scan_inner(vals[CODEX_P_TYPE]);
	bool result = sv_ends(type, SV("_call_output"));
	if (vals[CODEX_P_CALL].type != J_STRING || (!result && !sv_ends(type, SV("_call"))))
		return;
	vec_push(&f->tools,
		(struct fact_tool){
			fact_hash(scan_inner(vals[CODEX_P_CALL])), (uint32_t)f->v.n - 1, result });
}

static void take_meta(struct facts *f, const struct jval *vals, struct sv file_id)
{
	struct jval meta = vals[CODEX_PAYLOAD];
	*(scan_string_eq(vals[CODEX_P_ID], file_id) ? &f->own_ids : &f->other_ids) += 1;
	if (f->own_ids + f->other_ids > 1)
		return;
	f->paginated = scan_string_eq(member(meta, "history_mode"), SV("paginated"));
	f->based = member(meta, "history_base").type == J_OBJECT;
}

/* Texts that are needed where a header or a time is missing. */
static void keep_texts(struct facts *f, const struct jval *vals, enum codex_line line)
{
	struct sv time = scan_inner(vals[CODEX_TIME]);
	struct jval cwd = member(vals[CODEX_PAYLOAD], "cwd");
	if (time.n > 0 && time.n < FACT_TEXT_MAX) {
		memcpy(f->time, time.p, time.n);
		f->time[time.n] = '\0';
		if (!f->first_time[0])
			memcpy(f->first_time, f->time, FACT_TEXT_MAX);
	}
	if (!f->cwd && line == CODEX_LINE_CONTEXT && cwd.type == J_STRING)
		f->cwd = xmemdup0(scan_inner(cwd).p, scan_inner(cwd).n);
}

void codex_fact(struct facts *f, const struct entry *entry)
{
	const struct jval *vals = entry->vals;
	struct fact fact = entry->fact;
	enum codex_line line = codex_line_of(vals);
	const struct chain_codex record = codex_chain_record(vals, line);
	fact.message = ordinal_of(vals[CODEX_ORDINAL]);
	fact.flags |= flags_of(vals, line);
	/* What is no record has no number that anybody reads. */
	if (fact.message == ORDINAL_BAD && !(fact.flags & FACT_RECORD))
		fact.message = ORDINAL_NONE;
	if (fact.message == ORDINAL_BAD || fact.flags & (FACT_NO_TIME | FACT_NOT_UTF8))
		fact.flags |= FACT_UNSEEN;
	vec_push(&f->v, fact);
	chain_add_codex(f->chain, &record, entry->chain_size);
	if (fact.flags & FACT_UNSEEN)
		chain_unseen(f->chain);
	take_tool(f, vals);
	if (line == CODEX_LINE_META)
		take_meta(f, vals, entry->file_id);
	if (fact.flags & FACT_NO_TIME) {
		vec_push(&f->times, (struct fact_time){ .fact = (uint32_t)f->v.n - 1 });
		memcpy(f->times.v[f->times.n - 1].text, f->time, FACT_TEXT_MAX);
	}
	keep_texts(f, vals, line);
}

/* ---- the whole ---- */

static void found(struct repair *r, enum repair_cause cause, const struct fact *fact)
{
	finding_add(&r->report.findings[cause], fact ? fact->line : 0);
}

/* rollout-2026-01-31T12-00-00-<uuid>.jsonl */
static bool is_canonical(const struct repair *r)
{
	static const char pattern[] = "rollout-dddd-dd-ddTdd-dd-dd-";
	struct sv base = path_base(sv_of(r->path));
	if (!r->file_id[0] || base.n != sizeof(pattern) - 1 + UUID_TEXT - 1 + 6)
		return false;
	for (size_t i = 0; i < sizeof(pattern) - 1; i++) {
		bool digit = base.p[i] >= '0' && base.p[i] <= '9';
		if (pattern[i] == 'd' && i >= sizeof("rollout-") - 1 ? !digit
								     : base.p[i] != pattern[i])
			return false;
	}
	return true;
}

/* Lines before the header that are no records go; otherwise a header is put first. */
static void check_meta(struct repair *r)
{
	struct facts *f = &r->facts;
	size_t i = 0;
	while (i < f->v.n && !(f->v.v[i].flags & (FACT_META | FACT_RECORD)))
		i++;
	bool begins = i < f->v.n && f->v.v[i].flags & FACT_META;
	bool first = f->v.n > 0 && f->v.v[0].flags & FACT_META;
	if (!begins || !first)
		found(r, REPAIR_NO_META, f->v.n > 0 ? &f->v.v[0] : NULL);
	for (size_t k = 0; begins && k < i; k++)
		f->v.v[k].flags |= FACT_DROP;
	r->new_meta = !begins;
	if (f->own_ids > 0 || f->other_ids == 0 || !begins || !r->file_id[0])
		return;
	found(r, REPAIR_META_ID, &f->v.v[i]);
}

/* Only the last number keeps the agent from going on, but none should be odd. */
static void check_ordinals(struct repair *r)
{
	struct facts *f = &r->facts;
	uint64_t next = ORDINAL_NONE;
	const struct fact *last = NULL;
	vec_each (&f->v, fact) {
		bool counts = fact->flags & FACT_RECORD && f->paginated;
		bool known = counts && next != ORDINAL_NONE && fact->message < ORDINAL_BAD;
		if (fact->message == ORDINAL_BAD || (counts && fact->message == ORDINAL_NONE) ||
			(known && fact->message < next))
			found(r, REPAIR_ORDINALS, fact);
		else if (known && fact->message > next)
			found(r, REPAIR_ORDINAL_GAP, fact);
		if (!counts)
			continue;
		if (fact->message < ORDINAL_BAD)
			next = fact->message + 1;
		last = fact;
	}
	r->no_last_ordinal = last && last->message >= ORDINAL_BAD;
	r->renumber = r->report.findings[REPAIR_ORDINALS].count > 0;
}

/* The numbers that the entries get; those of a fork go on from its parent's. */
static void number(struct repair *r)
{
	struct facts *f = &r->facts;
	uint64_t start = f->v.n > 0 && f->v.v[0].message < ORDINAL_BAD ? f->v.v[0].message : 0;
	uint32_t n = r->new_meta ? 1 : 0;
	vec_each (&f->v, fact)
		if (fact->flags & FACT_RECORD && !(fact->flags & (FACT_DROP | FACT_GONE)))
			fact->link = n++;
	r->first_ordinal = r->new_meta && start > 0 ? start - 1 : start;
}

static bool has_items(const struct facts *f)
{
	vec_each (&f->v, fact)
		if (fact->flags & FACT_USER)
			return true;
	return false;
}

struct sent {
	const struct facts *f;
	struct transcript_live live; /* once all is mended */
};

static bool is_sent(const void *data, uint32_t fact)
{
	const struct sent *sent = data;
	return transcript_is_live(&sent->live, fact) && !(sent->f->v.v[fact].flags & FACT_DROP);
}

static void count(struct repair *r, const struct sent *sent)
{
	for (uint32_t i = 0; i < r->facts.v.n; i++)
		r->report.entries += is_sent(sent, i);
	r->report.reachable = r->live.live;
	if (!has_items(&r->facts) && !r->facts.based)
		found(r, REPAIR_EMPTY, NULL);
}

int codex_plan(struct repair *r, struct err *reterr)
{
	struct facts *f = &r->facts;
	struct sent sent = { .f = f };
	chain_see_all(f->chain);
	int rc = chain_live(f->chain, &sent.live, reterr);
	if (rc < 0)
		return rc;
	vec_each (&f->v, fact) {
		if (fact->flags & FACT_NO_TIME)
			found(r, REPAIR_NO_TIME, fact);
		if (fact->flags & FACT_NOT_UTF8)
			fact->flags |= FACT_LINE;
	}
	check_meta(r);
	check_ordinals(r);
	number(r);
	count(r, &sent);
	/* The base of a fork may hold the call to a result. */
	if (!f->based)
		plan_tools(r, is_sent, &sent);
	if (!is_canonical(r))
		found(r, REPAIR_FILE_NAME, NULL);
	transcript_live_release(&sent.live);
	return 0;
}
