/*
 * Lines of Codex: results in all their shapes, arguments, answers; in lines of their own, in the
 * history that a compaction put in place, and the copies in event lines.
 */
#include "strategy/trim-run.h"

/* An item of the conversation, alone on its line or one of a compacted history. */
struct codex_item {
	struct jval type, role, name, call, content, arguments, input, output;
};

static struct codex_item item_of_line(const struct jval *vals)
{
	return (struct codex_item){
		.type = vals[CODEX_P_TYPE],
		.role = vals[CODEX_P_ROLE],
		.name = vals[CODEX_P_NAME],
		.call = vals[CODEX_P_CALL],
		.content = vals[CODEX_P_CONTENT],
		.arguments = vals[CODEX_P_ARGUMENTS],
		.input = vals[CODEX_P_INPUT],
		.output = vals[CODEX_P_OUTPUT],
	};
}

static struct codex_item item_of(struct jval obj)
{
	return (struct codex_item){
		.type = line_member(obj, "type"),
		.role = line_member(obj, "role"),
		.name = line_member(obj, "name"),
		.call = line_member(obj, "call_id"),
		.content = line_member(obj, "content"),
		.arguments = line_member(obj, "arguments"),
		.input = line_member(obj, "input"),
		.output = line_member(obj, "output"),
	};
}

enum kind { KIND_OTHER, KIND_MESSAGE, KIND_CALL, KIND_RESULT };

static enum kind kind_of(const struct codex_item *item)
{
	struct sv type = scan_inner(item->type);

	if (sv_is(type, "message"))
		return KIND_MESSAGE;
	if (sv_is(type, "function_call") || sv_is(type, "custom_tool_call"))
		return KIND_CALL;
	return sv_ends(type, SV("call_output")) ? KIND_RESULT : KIND_OTHER;
}

static bool is_answer(const struct codex_item *item)
{
	return kind_of(item) == KIND_MESSAGE && scan_string_eq(item->role, SV("assistant"));
}

/* The copy of a result in an event line, with the call it belongs to. */
static struct jval event_call(const struct jval *vals)
{
	return vals[CODEX_P_ITEM].type == J_OBJECT ? line_member(vals[CODEX_P_ITEM], "id")
						   : vals[CODEX_P_CALL];
}

static bool event_has_output(const struct jval *vals)
{
	return event_call(vals).type == J_STRING;
}

/* ---- looking ---- */

static void feed_item(struct trim_part *part, const struct codex_item *item)
{
	switch (kind_of(item)) {
	case KIND_MESSAGE:
		trim_push_content(part, is_answer(item) ? FEED_EARLY : FEED_REST, item->content);
		break;
	case KIND_CALL:
		trim_push_text(part, FEED_EARLY, item->arguments.raw.n + item->input.raw.n);
		break;
	case KIND_RESULT:
		trim_push_content(part, FEED_REST, item->output);
		break;
	case KIND_OTHER:
		break;
	}
}

static void feed_event(struct trim_part *part, const struct jval *vals)
{
	struct jval usage = line_member(vals[CODEX_P_INFO], "last_token_usage");

	if (usage.type == J_OBJECT)
		trim_push_fact(part,
			(struct trim_fact){ .what = FEED_CALL,
				.usage = tokens_usage(TRANSCRIPT_CODEX, usage) });
}

static bool has_long_text(const struct trim_run *run, const struct codex_item *item)
{
	struct scan_iter it = scan_iter(item->content);
	struct jval block;

	while (item->content.type == J_ARRAY && scan_next(&it, NULL, &block) > 0)
		if (trim_is_long(run, line_member(block, "text")))
			return true;
	return false;
}

static bool is_candidate(const struct trim_run *run, const struct codex_item *item)
{
	return is_answer(item) && has_long_text(run, item);
}

static void look_item(
	const struct trim_run *run, struct trim_part *part, const struct codex_item *item)
{
	enum kind kind = kind_of(item);

	part->candidates += is_candidate(run, item);
	if (kind == KIND_CALL)
		vec_push(&part->uses,
			(struct trim_use){ scan_inner(item->call), scan_inner(item->name) });
	else if (kind == KIND_RESULT)
		trim_push_want(run, part, item->call, item->output);
}

static void look_history(
	const struct trim_run *run, struct trim_part *part, const struct jval *vals)
{
	struct jval history = vals[CODEX_P_HISTORY], obj;
	struct scan_iter it = scan_iter(history);

	trim_push_break(part);
	trim_push_text(part, FEED_REST,
		history.type == J_ARRAY ? history.raw.n : vals[CODEX_P_MESSAGE].raw.n);
	while (history.type == J_ARRAY && scan_next(&it, NULL, &obj) > 0) {
		const struct codex_item item = item_of(obj);
		look_item(run, part, &item);
	}
}

void codex_look(const struct trim_run *run, struct trim_part *part, struct rewrite_line *line)
{
	const struct jval *vals = line->vals;
	const struct codex_item item = item_of_line(vals);

	switch (codex_line_of(vals)) {
	case CODEX_LINE_ITEM:
		feed_item(part, &item);
		look_item(run, part, &item);
		break;
	case CODEX_LINE_COMPACTED:
		look_history(run, part, vals);
		break;
	case CODEX_LINE_EVENT:
		feed_event(part, vals);
		if (event_has_output(vals))
			trim_push_want(
				run, part, event_call(vals), (struct jval){ .type = J_NONE });
		break;
	case CODEX_LINE_CONTEXT:
		trim_push_fact(part,
			(struct trim_fact){
				.what = FEED_MODEL, .model = scan_inner(vals[CODEX_P_MODEL]) });
		break;
	case CODEX_LINE_META:
	case CODEX_LINE_OTHER:
		break;
	}
}

/* ---- trimming ---- */

/* {"output":…,"metadata":…} as text: only the output goes. */
static void trim_wrapped(struct trim_at *at, struct trim_piece *piece, struct jval inner)
{
	(void)trim_string(at, piece, line_member(inner, "output"));
}

static bool is_wrapped(struct jval output)
{
	AUTO_STR text = STR_INIT;
	struct jval inner;

	return sv_starts(scan_inner(output), SV("{\\\"output\\\"")) && scan_string(output, &text) &&
		scan_text(str_sv(&text), &inner) == 0 &&
		line_member(inner, "output").type == J_STRING;
}

static void trim_result(struct trim_at *at, const struct codex_item *item)
{
	const struct trim_want *want = trim_next_want(at);
	struct trim_piece piece = {
		.holder = { .kind = PLACEHOLDER_RESULT, .name = sv_of(want->name) },
		.count = &at->part->results,
		.sent = true,
		.repeated = want->repeated,
	};
	struct jval output = item->output;

	if (!want->selected)
		return;
	if (output.type == J_ARRAY)
		trim_blocks(at, &piece, output, "input_text");
	else if (output.type == J_OBJECT)
		(void)trim_string(at, &piece, line_member(output, "content"));
	else if (is_wrapped(output))
		(void)trim_inside(at, &piece, output, trim_wrapped);
	else
		(void)trim_string(at, &piece, output);
}

static void trim_arguments(struct trim_at *at, struct trim_piece *piece, struct jval inner)
{
	trim_strings_in(at, piece, inner, 0);
}

static void trim_call(struct trim_at *at, const struct codex_item *item)
{
	struct trim_piece piece = {
		.holder = { .kind = PLACEHOLDER_INPUT, .name = scan_inner(item->name) },
		.count = &at->part->inputs,
		.sent = true,
	};

	if (at->run->opts->keep_inputs || !trim_selected(at->run, piece.holder.name))
		return;
	(void)trim_string(at, &piece, item->input);
	if (item->arguments.raw.n >= (size_t)at->run->opts->threshold)
		(void)trim_inside(at, &piece, item->arguments, trim_arguments);
}

static void trim_message(struct trim_at *at, const struct codex_item *item)
{
	const struct trim_piece piece = {
		.holder = { .kind = PLACEHOLDER_ANSWER, .name = SV("Codex") },
		.count = &at->part->answers,
		.sent = true,
	};
	bool answer = at->run->opts->assistant != 0 && is_candidate(at->run, item) &&
		trim_takes_answer(at);
	struct scan_iter it = scan_iter(item->content);
	struct jval block;

	while (item->content.type == J_ARRAY && scan_next(&it, NULL, &block) > 0) {
		if (answer)
			(void)trim_string(at, &piece, line_member(block, "text"));
		else
			trim_image(at, block, line_member(block, "image_url"), "input_text");
	}
}

static void trim_item(struct trim_at *at, const struct codex_item *item)
{
	switch (kind_of(item)) {
	case KIND_MESSAGE:
		trim_message(at, item);
		break;
	case KIND_CALL:
		trim_call(at, item);
		break;
	case KIND_RESULT:
		trim_result(at, item);
		break;
	case KIND_OTHER:
		break;
	}
}

static void trim_event(struct trim_at *at)
{
	static const char *const members[] = { "aggregated_output", "formatted_output", "stdout",
		"stderr" };
	const struct jval *vals = at->line->vals;
	struct jval from =
		vals[CODEX_P_ITEM].type == J_OBJECT ? vals[CODEX_P_ITEM] : vals[CODEX_PAYLOAD];

	if (!event_has_output(vals))
		return;
	const struct trim_want *want = trim_next_want(at);
	const struct trim_piece piece = {
		.holder = { .kind = PLACEHOLDER_RESULT, .name = sv_of(want->name) },
		.count = &at->part->copies,
	};
	for (size_t i = 0; want->selected && i < ARRAY_LEN(members); i++)
		(void)trim_string(at, &piece, line_member(from, members[i]));
}

void codex_trim(struct trim_at *at)
{
	const struct jval *vals = at->line->vals;
	const struct codex_item item = item_of_line(vals);
	struct scan_iter it = scan_iter(vals[CODEX_P_HISTORY]);
	struct jval obj;

	switch (codex_line_of(vals)) {
	case CODEX_LINE_ITEM:
		trim_item(at, &item);
		break;
	case CODEX_LINE_COMPACTED:
		while (vals[CODEX_P_HISTORY].type == J_ARRAY && scan_next(&it, NULL, &obj) > 0) {
			const struct codex_item part = item_of(obj);
			trim_item(at, &part);
		}
		break;
	case CODEX_LINE_EVENT:
		trim_event(at);
		break;
	case CODEX_LINE_CONTEXT:
	case CODEX_LINE_META:
	case CODEX_LINE_OTHER:
		break;
	}
}
