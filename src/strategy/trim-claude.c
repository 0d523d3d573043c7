/*
 * Lines of Claude Code: results, inputs, answers, pictures.
 */
#include "strategy/trim-run.h"

/* ---- looking ---- */

static void feed_call(struct trim_part *part, const struct jval *vals)
{
	struct sv model = scan_inner(vals[CLAUDE_MSG_MODEL]);

	if (vals[CLAUDE_MSG_USAGE].type != J_OBJECT || sv_is(model, "<synthetic>"))
		return;
	trim_push_fact(part,
		(struct trim_fact){
			.what = FEED_CALL,
			.model = model,
			.id = scan_inner(vals[CLAUDE_MSG_ID]),
			.usage = tokens_usage(TRANSCRIPT_CLAUDE, vals[CLAUDE_MSG_USAGE]),
		});
}

static void feed_blocks(struct trim_part *part, const struct rewrite_line *line, bool answer)
{
	enum trim_feed what = answer ? FEED_ANSWER : FEED_REST;

	for (size_t i = 0; i < line->n_blocks; i++) {
		const struct line_block *b = &line->blocks[i];
		if (b->type == BLOCK_IS_TEXT)
			trim_push_text(part, what, b->vals[BLOCK_TEXT].raw.n);
		else if (b->type == BLOCK_IS_USE)
			trim_push_text(part, what, b->vals[BLOCK_INPUT].raw.n);
		else if (b->type == BLOCK_IS_RESULT)
			trim_push_content(part, what, b->vals[BLOCK_CONTENT]);
		else if (b->type == BLOCK_IS_IMAGE)
			trim_push_text(part, FEED_ODD, 0);
	}
}

static void feed_line(struct trim_part *part, const struct rewrite_line *line)
{
	const struct jval *vals = line->vals;
	enum claude_line kind = claude_line_of(vals);

	if (scan_true(vals[CLAUDE_SIDE]))
		return;
	if (kind == CLAUDE_LINE_SYSTEM) {
		if (scan_string_eq(vals[CLAUDE_SUBTYPE], SV("compact_boundary")))
			trim_push_break(part);
	} else if (kind == CLAUDE_LINE_ATTACHMENT) {
		trim_push_text(part, FEED_REST, vals[CLAUDE_ATTACHMENT].raw.n);
	} else if (kind == CLAUDE_LINE_USER || kind == CLAUDE_LINE_ASSISTANT) {
		bool answer = kind == CLAUDE_LINE_ASSISTANT;
		feed_call(part, vals);
		if (vals[CLAUDE_MSG_CONTENT].type == J_STRING)
			trim_push_text(part, answer ? FEED_ANSWER : FEED_REST,
				vals[CLAUDE_MSG_CONTENT].raw.n);
		feed_blocks(part, line, answer);
	}
}

/* An answer with a text long enough counts among the first or last N. */
static bool is_candidate(const struct trim_run *run, const struct rewrite_line *line)
{
	if (claude_line_of(line->vals) != CLAUDE_LINE_ASSISTANT)
		return false;
	for (size_t i = 0; i < line->n_blocks; i++)
		if (line->blocks[i].type == BLOCK_IS_TEXT &&
			trim_is_long(run, line->blocks[i].vals[BLOCK_TEXT]))
			return true;
	return false;
}

void claude_look(const struct trim_run *run, struct trim_part *part, struct rewrite_line *line)
{
	feed_line(part, line);
	part->candidates += is_candidate(run, line);
	for (size_t i = 0; i < line->n_blocks; i++) {
		const struct line_block *b = &line->blocks[i];
		if (b->type == BLOCK_IS_USE)
			vec_push(&part->uses,
				(struct trim_use){ scan_inner(b->vals[BLOCK_ID]),
					scan_inner(b->vals[BLOCK_NAME]) });
		else if (b->type == BLOCK_IS_RESULT)
			trim_push_want(run, part, b->vals[BLOCK_USE_ID], b->vals[BLOCK_CONTENT]);
	}
}

/* ---- trimming ---- */

static bool trim_result(struct trim_at *at, const struct line_block *b)
{
	const struct trim_want *want = trim_next_want(at);
	const struct trim_piece piece = {
		.holder = { .kind = PLACEHOLDER_RESULT, .name = sv_of(want->name) },
		.count = &at->part->results,
		.sent = true,
		.repeated = want->repeated,
	};
	struct jval content = b->vals[BLOCK_CONTENT];

	if (!want->selected)
		return false;
	if (content.type == J_STRING)
		(void)trim_string(at, &piece, content);
	else if (content.type == J_ARRAY)
		trim_blocks(at, &piece, content, "text");
	return true;
}

static void trim_input(struct trim_at *at, const struct line_block *b)
{
	struct trim_piece piece = {
		.holder = { .kind = PLACEHOLDER_INPUT, .name = scan_inner(b->vals[BLOCK_NAME]) },
		.count = &at->part->inputs,
		.sent = true,
	};

	if (at->run->opts->keep_inputs || !trim_selected(at->run, piece.holder.name))
		return;
	trim_strings_in(at, &piece, b->vals[BLOCK_INPUT], 0);
}

static void trim_answer(struct trim_at *at, const struct line_block *b)
{
	const struct trim_piece piece = {
		.holder = { .kind = PLACEHOLDER_ANSWER, .name = SV("Claude") },
		.count = &at->part->answers,
		.sent = true,
	};

	(void)trim_string(at, &piece, b->vals[BLOCK_TEXT]);
}

/* What the agent shows on its screen stands a second time in the line. */
static void drop_display(struct trim_at *at)
{
	struct jval copy = at->line->vals[CLAUDE_TOOL_RESULT], whole;

	if (at->line->noted || copy.raw.n < (size_t)at->run->opts->threshold ||
		scan_text(at->line->text, &whole) < 0 ||
		edit_remove(at->edit, whole, SV("toolUseResult")) <= 0)
		return;
	at->part->copies.n++;
	at->part->copies.bytes += copy.raw.n;
}

static void trim_block_of(struct trim_at *at, const struct line_block *b, bool answer)
{
	if (b->type == BLOCK_IS_USE) {
		trim_input(at, b);
	} else if (b->type == BLOCK_IS_TEXT && answer) {
		trim_answer(at, b);
	} else if (b->type == BLOCK_IS_IMAGE) {
		trim_image(at, b->block, b->vals[BLOCK_SOURCE], "text");
	}
}

void claude_trim(struct trim_at *at)
{
	const struct rewrite_line *line = at->line;
	bool answer = at->run->opts->assistant != 0 && is_candidate(at->run, line) &&
		trim_takes_answer(at);
	bool selected = false;

	if (line->neutral)
		return;
	for (size_t i = 0; i < line->n_blocks; i++) {
		const struct line_block *b = &line->blocks[i];
		if (b->type == BLOCK_IS_RESULT)
			selected |= trim_result(at, b);
		else
			trim_block_of(at, b, answer);
	}
	if (selected && at->run->opts->display)
		drop_display(at);
}
