/*
 * Calls and results of tools that lack each other. Only what is sent counts: calls on branches that
 * were left, or before a compaction, are nobody's loss.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "strategy/repair-facts.h"

/* Codex notes things while a call runs, but not many. */
enum { RUNNING_LINES = 8 };

struct tool_set {
	VEC(struct fact_tool) v; /* sorted by id */
};

static int by_id(const void *a, const void *b)
{
	uint64_t x = ((const struct fact_tool *)a)->id, y = ((const struct fact_tool *)b)->id;
	return (x > y) - (x < y);
}

static bool has(const struct tool_set *set, const struct fact_tool *tool)
{
	return set->v.n > 0 && bsearch(tool, set->v.v, set->v.n, sizeof(set->v.v[0]), by_id);
}

/* Those of one kind that are sent. */
static struct tool_set all_sent(const struct facts *f,
	bool (*sent)(const void *data, uint32_t fact), const void *data, bool result)
{
	struct tool_set set = { VEC_INIT };
	vec_each (&f->tools, tool)
		if (tool->result == result && sent(data, tool->fact))
			vec_push(&set.v, *tool);
	return set;
}

static void sort(struct tool_set *set)
{
	vec_sort(&set->v, by_id);
}

/* Leaves those that have no counterpart, in the order of the file. */
static void keep_alone(struct tool_set *set, const struct tool_set *others)
{
	size_t n = 0;
	for (size_t i = 0; i < set->v.n; i++)
		if (!has(others, &set->v.v[i]))
			set->v.v[n++] = set->v.v[i];
	set->v.n = n;
}

static int by_fact(const void *a, const void *b)
{
	uint32_t x = ((const struct fact_tool *)a)->fact, y = ((const struct fact_tool *)b)->fact;
	return (x > y) - (x < y);
}

/* The only lonely call of an entry. */
static struct fact_tool *only_call(struct tool_set *calls, uint32_t fact)
{
	const struct fact_tool key = { .fact = fact };
	if (calls->v.n == 0)
		return NULL;
	struct fact_tool *call = bsearch(&key, calls->v.v, calls->v.n, sizeof(key), by_fact);
	const struct fact_tool *end = calls->v.v + calls->v.n;
	if (!call || (call > calls->v.v && call[-1].fact == fact) ||
		(call + 1 < end && call[1].fact == fact))
		return NULL;
	return call;
}

/* A lonely result that hangs on a lonely call is its answer under a wrong id. */
static bool pair_up(struct repair *r, struct tool_set *calls, const struct fact_tool *result)
{
	struct fact *fact = &r->facts.v.v[result->fact];
	bool linked = r->format == TRANSCRIPT_CLAUDE && fact->link;
	struct fact_tool *call = linked ? only_call(calls, fact->link - 1) : NULL;
	if (!call || call->id == 0)
		return false;
	vec_push(&r->pairs, (struct fact_pair){ result->fact, call->fact, call->id });
	call->id = 0;
	fact->flags |= FACT_TOOL_ID;
	finding_add(&r->report.findings[REPAIR_TOOL_ID], fact->line);
	return true;
}

static void tell(struct repair *r, const struct fact_tool *tool, bool result)
{
	struct fact *fact = &r->facts.v.v[tool->fact];
	fact->flags |= result ? FACT_RESULT : FACT_CALL;
	vec_push(&r->alone, tool->id);
	finding_add(
		&r->report.findings[result ? REPAIR_RESULT_ALONE : REPAIR_CALL_ALONE], fact->line);
}

static bool is_running(const struct repair *r, const struct fact_tool *call)
{
	const struct facts *f = &r->facts;
	if (!r->in_use)
		return false;
	if (r->format == TRANSCRIPT_CODEX)
		return call->fact + RUNNING_LINES > f->v.n;
	return f->v.v[call->fact].message == f->v.v[r->leaf - 1].message;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

bool tool_is_alone(const struct repair *r, struct sv id)
{
	uint64_t hash = fact_hash(id);
	return r->alone.n > 0 &&
		bsearch(&hash, r->alone.v, r->alone.n, sizeof(hash), by_number) != NULL;
}

void plan_tools(struct repair *r, bool (*sent)(const void *data, uint32_t fact), const void *data)
{
	struct tool_set calls = all_sent(&r->facts, sent, data, false);
	struct tool_set results = all_sent(&r->facts, sent, data, true);
	struct tool_set lone_calls = all_sent(&r->facts, sent, data, false);
	struct tool_set lone_results = all_sent(&r->facts, sent, data, true);
	sort(&calls);
	sort(&results);
	keep_alone(&lone_calls, &results);
	keep_alone(&lone_results, &calls);
	vec_each (&lone_results.v, result)
		if (!pair_up(r, &lone_calls, result))
			tell(r, result, true);
	vec_each (&lone_calls.v, call)
		if (call->id != 0 && !is_running(r, call))
			tell(r, call, false);
	vec_sort(&r->alone, by_number);
	vec_release(&calls.v);
	vec_release(&results.v);
	vec_release(&lone_calls.v);
	vec_release(&lone_results.v);
}

bool has_results_twice(const struct facts *f)
{
	struct tool_set results = { VEC_INIT };
	bool twice = false;
	vec_each (&f->tools, tool)
		if (tool->result)
			vec_push(&results.v, *tool);
	sort(&results);
	for (size_t i = 1; i < results.v.n; i++)
		twice |= results.v.v[i].id == results.v.v[i - 1].id;
	vec_release(&results.v);
	return twice;
}
