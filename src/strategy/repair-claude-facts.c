/*
 * One entry of Claude Code's to a fact.
 */
#include <string.h>

#include "base/mem.h"
#include "strategy/repair-facts.h"

enum { PRINT_SAMPLE = 512 };

static struct jval member(struct jval obj, const char *key)
{
	struct jval val;
	if (scan_get(obj, sv_of(key), &val) <= 0)
		return (struct jval){ .type = J_NONE };
	return val;
}

/* Size, beginning and end are enough to tell entries with one uuid apart. */
static uint32_t print_of(const struct jval *vals)
{
	struct jval val = vals[CLAUDE_MESSAGE].type != J_NONE ? vals[CLAUDE_MESSAGE]
		: vals[CLAUDE_ATTACHMENT].type != J_NONE      ? vals[CLAUDE_ATTACHMENT]
							      : vals[CLAUDE_CONTENT_TOP];
	struct sv raw = val.raw;
	uint64_t h = fact_hash(sv_head(raw, PRINT_SAMPLE)) ^ raw.n * UINT64_C(0x9e3779b97f4a7c15);
	if (raw.n > PRINT_SAMPLE)
		h ^= fact_hash(sv_from(raw, raw.n - PRINT_SAMPLE)) << 1;
	return (uint32_t)(h >> 32 ^ h);
}

static uint32_t kind_of(const struct jval *vals)
{
	switch (claude_line_of(vals)) {
	case CLAUDE_LINE_USER:
		return FACT_USER;
	case CLAUDE_LINE_ASSISTANT:
		return FACT_ASSISTANT;
	case CLAUDE_LINE_ATTACHMENT:
		return FACT_ATTACHMENT;
	case CLAUDE_LINE_SYSTEM:
		return FACT_SYSTEM;
	case CLAUDE_LINE_OTHER:
	default:
		return 0;
	}
}

static bool has_text(struct jval val)
{
	return val.type == J_STRING && scan_inner(val).n > 0;
}

static uint32_t wrong_in_answer(const struct jval *vals)
{
	uint32_t flags = 0;
	if (vals[CLAUDE_MSG_CONTENT].type == J_STRING)
		flags |= FACT_STRING;
	else if (vals[CLAUDE_MSG_CONTENT].type != J_ARRAY)
		return FACT_BAD_MESSAGE;
	if (!has_text(vals[CLAUDE_MSG_MODEL]))
		flags |= FACT_NO_MODEL;
	if (!has_text(vals[CLAUDE_MSG_ID]))
		flags |= FACT_NO_MESSAGE_ID;
	return flags;
}

static uint32_t wrong_in(uint32_t kind, const struct jval *vals)
{
	uint32_t flags = 0;
	if (kind & FACT_SPOKEN && !has_text(vals[CLAUDE_TIME]))
		flags |= FACT_NO_TIME;
	if (kind & FACT_ASSISTANT)
		flags |= wrong_in_answer(vals);
	if (kind & FACT_USER && vals[CLAUDE_MSG_CONTENT].type != J_STRING &&
		vals[CLAUDE_MSG_CONTENT].type != J_ARRAY)
		flags |= FACT_BAD_MESSAGE;
	return flags;
}

static bool is_boundary(uint32_t kind, const struct jval *vals)
{
	if (kind & FACT_SYSTEM)
		return scan_string_eq(vals[CLAUDE_SUBTYPE], SV("compact_boundary"));
	return scan_true(vals[CLAUDE_SUMMARY]) && vals[CLAUDE_PARENT].type != J_STRING;
}

static void take_ids(struct facts *f, struct fact *fact, const struct jval *vals)
{
	bool plain;
	struct sv text = scan_inner(vals[CLAUDE_UUID]);
	fact->id = fact_id(text, &plain);
	if (!plain)
		facts_name(f, fact->id, text);
	fact->parent = fact_key(fact_id(scan_inner(vals[CLAUDE_PARENT]), &plain));
	/* An entry that lost its uuid is none: it gets another. */
	if (!fact->id.a && !(fact->flags & FACT_CHAINED) && vals[CLAUDE_LEAF].type == J_STRING) {
		fact->flags |= FACT_LEAF;
		fact->parent = fact_key(fact_id(scan_inner(vals[CLAUDE_LEAF]), &plain));
	}
	fact->message = fact_hash(scan_inner(vals[CLAUDE_MSG_ID]));
}

/* Tools of the entry that was put in last, for the chain too when it does not know them. */
static void take_tools(struct facts *f, struct jval content, bool chain)
{
	struct jval block;
	struct scan_iter it = scan_iter(content);
	while (content.type == J_ARRAY && scan_next(&it, NULL, &block) > 0) {
		struct jval id = member(block, "tool_use_id");
		bool result = id.type == J_STRING;
		if (!result && scan_string_eq(member(block, "type"), SV("tool_use")))
			id = member(block, "id");
		if (id.type != J_STRING)
			continue;
		if (chain)
			chain_tool(f->chain, scan_inner(id), result);
		vec_push(&f->tools,
			(struct fact_tool){
				fact_hash(scan_inner(id)), (uint32_t)f->v.n - 1, result });
	}
}

static void take_kept(struct facts *f, struct jval uuids, bool must)
{
	struct jval id;
	bool plain;
	struct scan_iter it = scan_iter(uuids);
	while (uuids.type == J_ARRAY && scan_next(&it, NULL, &id) > 0)
		vec_push(&f->kept,
			(struct fact_kept){ fact_key(fact_id(scan_inner(id), &plain)),
				(uint32_t)f->v.n - 1, must });
}

static void chain_entry(struct facts *f, const struct jval *vals, uint64_t size)
{
	const struct chain_claude record = {
		.type = vals[CLAUDE_TYPE],
		.subtype = vals[CLAUDE_SUBTYPE],
		.uuid = vals[CLAUDE_UUID],
		.parent = vals[CLAUDE_PARENT],
		.side = vals[CLAUDE_SIDE],
		.message_id = vals[CLAUDE_MSG_ID],
		.compact = vals[CLAUDE_COMPACT],
		.leaf = vals[CLAUDE_LEAF],
	};
	chain_add_claude(f->chain, &record, size);
}

static void keep_text(char to[static FACT_TEXT_MAX], struct jval val)
{
	struct sv text = scan_inner(val);
	if (text.n == 0 || text.n >= FACT_TEXT_MAX || memchr(text.p, '\\', text.n))
		return;
	memcpy(to, text.p, text.n);
	to[text.n] = '\0';
}

static int64_t number(struct jval obj, const char *key)
{
	int64_t n;
	return scan_i64(member(obj, key), &n) && n > 0 && n < INT64_MAX / 4 ? n : 0;
}

/* What the last answer says about the session. */
static void take_answer(struct facts *f, const struct jval *vals)
{
	struct jval usage = vals[CLAUDE_MSG_USAGE];
	bool synthetic = scan_string_eq(vals[CLAUDE_MSG_MODEL], SV("<synthetic>"));
	f->last = scan_true(vals[CLAUDE_API_ERROR]) ? FACT_ANSWER_FAILED : FACT_ANSWER_FINE;
	if (scan_string_eq(vals[CLAUDE_ERROR], SV("invalid_request")))
		f->last = FACT_ANSWER_REFUSED;
	if (synthetic)
		return;
	keep_text(f->model, vals[CLAUDE_MSG_MODEL]);
	int64_t context = number(usage, "input_tokens") +
		number(usage, "cache_creation_input_tokens") +
		number(usage, "cache_read_input_tokens");
	f->context = context > 0 ? context : f->context;
}

static void take_session(struct facts *f, struct jval session, struct sv file_id)
{
	if (session.type != J_STRING)
		return;
	if (scan_string_eq(session, file_id))
		f->own_ids++;
	else
		f->other_ids++;
}

void claude_fact(struct facts *f, const struct entry *entry)
{
	const struct jval *vals = entry->vals;
	struct fact fact = entry->fact;
	uint32_t kind = kind_of(vals);
	fact.flags |= kind | wrong_in(kind, vals);
	fact.flags |= scan_true(vals[CLAUDE_SIDE]) ? FACT_SIDE : 0;
	fact.flags |= is_boundary(kind, vals) ? FACT_BOUNDARY : 0;
	fact.print = print_of(vals);
	take_ids(f, &fact, vals);
	vec_push(&f->v, fact);
	take_session(f, vals[CLAUDE_SESSION], entry->file_id);
	if (entry->chain_size > 0)
		chain_entry(f, vals, entry->chain_size);
	take_tools(f, vals[CLAUDE_MSG_CONTENT], entry->chain_size > 0);
	if (fact.flags & FACT_BOUNDARY) {
		struct jval kept = member(vals[CLAUDE_COMPACT], "preservedMessages");
		take_kept(f, member(kept, "uuids"), true);
		take_kept(f, member(kept, "allUuids"), false);
	}
	if (fact.flags & FACT_NO_TIME) {
		vec_push(&f->times, (struct fact_time){ .fact = (uint32_t)f->v.n - 1 });
		memcpy(f->times.v[f->times.n - 1].text, f->time, FACT_TEXT_MAX);
	}
	keep_text(f->time, vals[CLAUDE_TIME]);
	if (kind & FACT_ASSISTANT && !(fact.flags & FACT_SIDE))
		take_answer(f, vals);
}
