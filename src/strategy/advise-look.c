/*
 * Lines taken apart: which texts they hold, and what a trim would save of each.
 */
#include "strategy/advise-run.h"
#include "strategy/placeholder.h"

enum { THRESHOLD_SMALL = 500, THRESHOLD_LARGE = 1000, STRINGS_DEPTH = 8 };

static struct advise_fact *push(struct advise_chunk *c, enum advise_what what)
{
	vec_push(&c->facts,
		(struct advise_fact){ .what = what, .record = c->records, .line = c->lines });
	return &c->facts.v[c->facts.n - 1];
}

static struct advise_fact *push_text(struct advise_chunk *c, enum advise_kind kind, uint64_t bytes)
{
	struct advise_fact *f = push(c, FACT_PIECE);

	f->kind = kind;
	f->bytes = bytes;
	return f;
}

/* ---- what a trim would save ---- */

static void add_saving(struct advise_chunk *c, struct advise_fact *f, size_t chars, size_t bytes)
{
	struct placeholder p = {
		.kind = f->kind == ADVISE_RESULTS ? PLACEHOLDER_RESULT : PLACEHOLDER_INPUT,
		.length = chars,
	};

	str_clear(&c->text);
	placeholder_text(&p, &c->text);
	size_t instead = c->text.len + 2;
	if (instead >= bytes)
		return;
	if (chars >= THRESHOLD_SMALL)
		f->saved[SAVING_500] += bytes - instead;
	if (chars >= THRESHOLD_LARGE)
		f->saved[SAVING_1000] += bytes - instead;
}

static void measure_string(struct advise_chunk *c, struct advise_fact *f, struct jval val)
{
	struct sv inner = scan_inner(val);

	if (inner.n >= THRESHOLD_SMALL && !placeholder_is(inner))
		add_saving(c, f, text_chars(inner), val.raw.n);
}

/* Every string inside, as trim goes through what tools are given. */
static void measure_strings(
	struct advise_chunk *c, struct advise_fact *f, struct jval val, int depth)
{
	struct scan_iter it = scan_iter(val);
	struct jval item;

	if (val.type == J_STRING)
		measure_string(c, f, val);
	if ((val.type != J_OBJECT && val.type != J_ARRAY) || depth > STRINGS_DEPTH ||
		val.raw.n < THRESHOLD_SMALL)
		return;
	while (scan_next(&it, NULL, &item) > 0)
		measure_strings(c, f, item, depth + 1);
}

/* ---- results ---- */

/* A list of blocks: texts by their bytes, pictures by their number. Several texts alone are
 * replaced together. */
static void push_blocks(struct advise_chunk *c, struct advise_fact *f, struct jval list)
{
	struct scan_iter it = scan_iter(list);
	struct jval block, text = { .type = J_NONE };
	size_t n = 0, chars = 0;
	bool plain = true;

	while (scan_next(&it, NULL, &block) > 0) {
		struct jval val = line_member(block, "text");
		if (val.type != J_STRING) {
			f->images++;
			plain = false;
			continue;
		}
		text = val;
		n++;
		f->bytes += val.raw.n;
		chars += text_chars(scan_inner(val));
		plain = plain && !placeholder_is(scan_inner(val));
	}
	if (n > 1 && plain)
		add_saving(c, f, chars, list.raw.n);
	else if (n == 1)
		measure_string(c, f, text);
}

static void push_result(struct advise_chunk *c, struct sv id, struct jval content)
{
	struct advise_fact *f = push_text(c, ADVISE_RESULTS, 0);

	f->id = id;
	if (content.type == J_ARRAY) {
		push_blocks(c, f, content);
	} else {
		f->bytes = content.raw.n;
		measure_string(c, f, content);
	}
}

static void push_use(struct advise_chunk *c, struct sv id, struct sv name)
{
	struct advise_fact *f = push(c, FACT_USE);

	f->id = id;
	f->name = name;
}

/* ---- Claude Code ---- */

static int64_t cache_life(struct jval usage)
{
	struct jval made = line_member(usage, "cache_creation");
	int64_t n = 0;

	if (scan_i64(line_member(made, "ephemeral_1h_input_tokens"), &n) && n > 0)
		return ADVISE_CACHE_LONG_MS;
	if (scan_i64(line_member(made, "ephemeral_5m_input_tokens"), &n) && n > 0)
		return ADVISE_CACHE_SHORT_MS;
	return 0;
}

static void push_call(struct advise_chunk *c, const struct jval *vals)
{
	struct sv model = scan_inner(vals[CLAUDE_MSG_MODEL]);

	if (vals[CLAUDE_MSG_USAGE].type != J_OBJECT || sv_is(model, "<synthetic>"))
		return;
	struct advise_fact *f = push(c, FACT_CALL);
	f->name = model;
	f->id = scan_inner(vals[CLAUDE_MSG_ID]);
	f->usage = tokens_usage(TRANSCRIPT_CLAUDE, vals[CLAUDE_MSG_USAGE]);
	f->time = scan_inner(vals[CLAUDE_TIME]);
	f->cache_life_ms = cache_life(vals[CLAUDE_MSG_USAGE]);
}

static void push_block(struct advise_chunk *c, const struct line_block *b, enum advise_kind plain)
{
	struct advise_fact *f;
	struct jval thought;

	switch (b->type) {
	case BLOCK_IS_TEXT:
		(void)push_text(c, plain, b->vals[BLOCK_TEXT].raw.n);
		break;
	case BLOCK_IS_USE:
		push_use(c, scan_inner(b->vals[BLOCK_ID]), scan_inner(b->vals[BLOCK_NAME]));
		f = push_text(c, ADVISE_CALLS, b->vals[BLOCK_INPUT].raw.n);
		f->id = scan_inner(b->vals[BLOCK_ID]);
		measure_strings(c, f, b->vals[BLOCK_INPUT], 0);
		break;
	case BLOCK_IS_RESULT:
		push_result(c, scan_inner(b->vals[BLOCK_USE_ID]), b->vals[BLOCK_CONTENT]);
		break;
	case BLOCK_IS_IMAGE:
		push_text(c, ADVISE_IMAGES, 0)->images = 1;
		break;
	case BLOCK_OTHER:
	default:
		thought = line_member(b->block, "thinking");
		if (thought.type == J_STRING)
			(void)push_text(c, ADVISE_THINKING, thought.raw.n);
		break;
	}
}

/* Whose words the plain texts of a line are. */
static enum advise_kind plain_kind(const struct rewrite_line *line, enum claude_line type)
{
	const struct jval *vals = line->vals;
	struct jval text = vals[CLAUDE_MSG_CONTENT];

	if (type == CLAUDE_LINE_ASSISTANT)
		return ADVISE_ANSWERS;
	if (scan_true(vals[CLAUDE_SUMMARY]))
		return ADVISE_SUMMARY;
	if (text.type == J_ARRAY && line->n_blocks > 0)
		text = line->blocks[0].vals[BLOCK_TEXT];
	bool put_in = scan_true(vals[CLAUDE_META]) ||
		(text.type == J_STRING && transcript_injected(TRANSCRIPT_CLAUDE, scan_inner(text)));
	return put_in ? ADVISE_NOTICES : ADVISE_PROMPTS;
}

void advise_claude(struct advise_chunk *c, const struct rewrite_line *line)
{
	const struct jval *vals = line->vals;
	enum claude_line type = claude_line_of(vals);

	if (scan_true(vals[CLAUDE_SIDE]))
		return;
	if (type == CLAUDE_LINE_SYSTEM) {
		if (scan_string_eq(vals[CLAUDE_SUBTYPE], SV("compact_boundary")))
			(void)push(c, FACT_BREAK);
	} else if (type == CLAUDE_LINE_ATTACHMENT) {
		(void)push_text(c, ADVISE_NOTICES, vals[CLAUDE_ATTACHMENT].raw.n);
	} else if (type == CLAUDE_LINE_USER || type == CLAUDE_LINE_ASSISTANT) {
		enum advise_kind plain = plain_kind(line, type);
		push_call(c, vals);
		if (vals[CLAUDE_MSG_CONTENT].type == J_STRING)
			(void)push_text(c, plain, vals[CLAUDE_MSG_CONTENT].raw.n);
		for (size_t i = 0; i < line->n_blocks; i++)
			push_block(c, &line->blocks[i], plain);
	}
}

/* ---- Codex ---- */

static struct sv first_text(struct jval content)
{
	struct scan_iter it = scan_iter(content);
	struct jval block;

	if (content.type == J_ARRAY && scan_next(&it, NULL, &block) > 0)
		return scan_inner(line_member(block, "text"));
	return scan_inner(content);
}

static void push_message(struct advise_chunk *c, const struct jval *vals)
{
	struct jval content = vals[CODEX_P_CONTENT];
	enum advise_kind kind = ADVISE_NOTICES;

	if (scan_string_eq(vals[CODEX_P_ROLE], SV("assistant")))
		kind = ADVISE_ANSWERS;
	else if (scan_string_eq(vals[CODEX_P_ROLE], SV("user")) &&
		!transcript_injected(TRANSCRIPT_CODEX, first_text(content)))
		kind = ADVISE_PROMPTS;
	struct advise_fact *f = push_text(c, kind, 0);
	struct scan_iter it = scan_iter(content);
	struct jval block;
	if (content.type != J_ARRAY)
		f->bytes = content.raw.n;
	while (content.type == J_ARRAY && scan_next(&it, NULL, &block) > 0) {
		struct jval text = line_member(block, "text");
		f->bytes += text.type == J_STRING ? text.raw.n : 0;
		f->images += text.type != J_STRING;
	}
}

/* Arguments are JSON inside a string: what trim takes out are the strings in that. */
static void push_codex_call(struct advise_chunk *c, const struct jval *vals)
{
	struct jval given = vals[CODEX_P_ARGUMENTS].type == J_STRING ? vals[CODEX_P_ARGUMENTS]
								     : vals[CODEX_P_INPUT];
	struct sv name = scan_inner(vals[CODEX_P_NAME]);
	struct jval inner;
	AUTO_STR text = STR_INIT;

	push_use(c, scan_inner(vals[CODEX_P_CALL]), name.n ? name : scan_inner(vals[CODEX_P_TYPE]));
	struct advise_fact *f = push_text(c, ADVISE_CALLS, given.raw.n);
	f->id = scan_inner(vals[CODEX_P_CALL]);
	if (given.raw.n < THRESHOLD_SMALL)
		return;
	if (sv_starts(scan_inner(given), SV("{")) && scan_string(given, &text) &&
		scan_text(str_sv(&text), &inner) >= 0)
		measure_strings(c, f, inner, 0);
	else
		measure_string(c, f, given);
}

static void push_item(struct advise_chunk *c, const struct jval *vals)
{
	struct sv type = scan_inner(vals[CODEX_P_TYPE]);

	if (sv_is(type, "message"))
		push_message(c, vals);
	else if (sv_is(type, "reasoning"))
		(void)push_text(
			c, ADVISE_THINKING, line_member(vals[CODEX_PAYLOAD], "summary").raw.n);
	else if (sv_ends(type, SV("_output")))
		push_result(c, scan_inner(vals[CODEX_P_CALL]), vals[CODEX_P_OUTPUT]);
	else if (sv_ends(type, SV("_call")))
		push_codex_call(c, vals);
}

static void push_event(struct advise_chunk *c, const struct jval *vals)
{
	struct jval usage = line_member(vals[CODEX_P_INFO], "last_token_usage");
	int64_t window = 0;

	if (usage.type != J_OBJECT)
		return;
	struct advise_fact *f = push(c, FACT_CALL);
	f->usage = tokens_usage(TRANSCRIPT_CODEX, usage);
	f->time = scan_inner(vals[CODEX_TIME]);
	if (scan_i64(line_member(vals[CODEX_P_INFO], "model_context_window"), &window) &&
		window > 0)
		f->window = window;
}

/* What stands for the history so far: the items put in place, else the summary alone. */
static void push_compacted(struct advise_chunk *c, const struct jval *vals)
{
	struct jval history = vals[CODEX_P_HISTORY];

	(void)push(c, FACT_BREAK);
	(void)push_text(c, ADVISE_SUMMARY,
		history.type == J_ARRAY ? history.raw.n : vals[CODEX_P_MESSAGE].raw.n);
}

void advise_codex(struct advise_chunk *c, const struct rewrite_line *line)
{
	const struct jval *vals = line->vals;

	switch (codex_line_of(vals)) {
	case CODEX_LINE_ITEM:
		push_item(c, vals);
		break;
	case CODEX_LINE_CONTEXT:
		if (vals[CODEX_P_MODEL].type == J_STRING)
			push(c, FACT_MODEL)->name = scan_inner(vals[CODEX_P_MODEL]);
		break;
	case CODEX_LINE_EVENT:
		push_event(c, vals);
		break;
	case CODEX_LINE_COMPACTED:
		push_compacted(c, vals);
		break;
	case CODEX_LINE_META:
	case CODEX_LINE_OTHER:
	default:
		break;
	}
}
