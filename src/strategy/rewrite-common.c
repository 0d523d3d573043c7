/*
 * What every rewrite changes: ids, recorded usage, marks of API errors, and the note about where
 * the session comes from.
 */
#include <string.h>

#include "strategy/known.h"
#include "strategy/rewrite-run.h"

/* Stands for the words of an API error. Not empty: an empty text would be dropped, and with it the
 * answer that the chain leads through. */
#define ERROR_CONTENT "[{\"type\":\"text\",\"text\":\"[API error in parent session - removed]\"}]"

enum { USAGE_DEPTH = 8 };

static void replace_id(const struct run *run, struct jval val, struct edit *e)
{
	if (val.type == J_STRING)
		edit_string(e, val, sv_of(run->result->id));
}

static void replace_own_id(const struct run *run, struct jval val, struct edit *e)
{
	if (scan_string_eq(val, run->parent_id))
		replace_id(run, val, e);
}

/* Numbers to 0, down to a depth that no usage has. */
static void zero_numbers(struct edit *e, struct jval val, int depth)
{
	struct scan_iter it = scan_iter(val);
	struct jval item;

	if (val.type != J_OBJECT && val.type != J_ARRAY)
		return;
	while (scan_next(&it, NULL, &item) > 0) {
		if (item.type == J_NUMBER && !sv_is(item.raw, "0"))
			edit_replace(e, item.raw, SV("0"));
		else if (depth < USAGE_DEPTH)
			zero_numbers(e, item, depth + 1);
	}
}

/* ---- Claude Code ---- */

static bool is_api_error(const struct jval *vals)
{
	return scan_true(vals[CLAUDE_API_ERROR]) ||
		scan_string_eq(vals[CLAUDE_ERROR], SV("invalid_request"));
}

/*
 * The agent refuses to go on behind such an answer, and dropping the line would break the chain.
 * Its model must be a real one: the next call takes the last model of the file.
 */
static void neutralise(struct rewrite_line *line, const char *model, struct edit *e)
{
	const struct jval *vals = line->vals;

	if (scan_true(vals[CLAUDE_API_ERROR]))
		edit_value(e, vals[CLAUDE_API_ERROR], SV("false"));
	if (vals[CLAUDE_ERROR].type == J_STRING)
		edit_value(e, vals[CLAUDE_ERROR], SV("null"));
	if (claude_line_of(vals) != CLAUDE_LINE_ASSISTANT ||
		vals[CLAUDE_MSG_CONTENT].type == J_NONE)
		return;
	edit_value(e, vals[CLAUDE_MSG_CONTENT], SV(ERROR_CONTENT));
	if (model[0] && scan_string_eq(vals[CLAUDE_MSG_MODEL], SV("<synthetic>")))
		edit_string(e, vals[CLAUDE_MSG_MODEL], sv_of(model));
	line->neutral = true;
}

static void edit_claude(
	const struct run *run, struct rewrite_line *line, const char *model, struct edit *e)
{
	unsigned changes = run->opts->changes;

	if (changes & REWRITE_ID && !run->opts->in_place)
		replace_id(run, line->vals[CLAUDE_SESSION], e);
	if (changes & REWRITE_USAGE)
		zero_numbers(e, line->vals[CLAUDE_MSG_USAGE], 0);
	if (changes & REWRITE_ERRORS && is_api_error(line->vals))
		neutralise(line, model, e);
}

/* ---- Codex ---- */

/* The window's size stays: it is the model's. */
static void zero_codex_usage(const struct jval *vals, struct edit *e)
{
	struct jval info = vals[CODEX_P_INFO], payload = vals[CODEX_PAYLOAD];

	if (codex_line_of(vals) == CODEX_LINE_EVENT && info.type == J_OBJECT) {
		zero_numbers(e, line_member(info, "total_token_usage"), 0);
		zero_numbers(e, line_member(info, "last_token_usage"), 0);
	} else if (scan_string_eq(vals[CODEX_TYPE], SV("token_usage_record"))) {
		zero_numbers(e, vals[CODEX_P_USAGE], 0);
		zero_numbers(e, line_member(payload, "turn_token_usage"), 0);
		zero_numbers(e, line_member(payload, "thread_token_usage"), 0);
	}
}

static void edit_codex(const struct run *run, const struct rewrite_line *line, struct edit *e)
{
	const struct jval *vals = line->vals;
	unsigned changes = run->opts->changes;

	if (changes & REWRITE_ID && !run->opts->in_place) {
		/* Headers of ancestors, which a fork repeats, keep their ids. */
		if (codex_line_of(vals) == CODEX_LINE_META)
			replace_own_id(run, vals[CODEX_P_ID], e);
		replace_own_id(run, vals[CODEX_P_SESSION], e);
		replace_own_id(run, vals[CODEX_P_THREAD], e);
	}
	if (changes & REWRITE_USAGE)
		zero_codex_usage(vals, e);
}

void common_edit(
	const struct run *run, struct rewrite_line *line, const char *model, struct edit *e)
{
	if (run->opts->format == TRANSCRIPT_CODEX)
		edit_codex(run, line, e);
	else
		edit_claude(run, line, model, e);
}

/* ---- the note ---- */

bool common_takes_note(const struct run *run, const struct rewrite_line *line)
{
	if (!line->object || line->oversize)
		return false;
	return run->opts->format != TRANSCRIPT_CODEX ||
		codex_line_of(line->vals) == CODEX_LINE_META;
}

static const char *const note_keys[] = { "trim_metadata", "continue_metadata", SESSION_NOTE_KEY,
	KNOWN_NOTE_KEY };

/* Takes all notes out of obj; with `mark` that of our key is put there. A session that stays the
 * same one keeps what tells where it comes from. */
static bool set_notes(const struct run *run, struct jval obj, bool mark, struct edit *e)
{
	struct edit_member changes[ARRAY_LEN(note_keys)];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(note_keys); i++) {
		bool same = strcmp(note_keys[i], run->opts->note_key) == 0, ours = mark && same;
		if (run->opts->in_place && !same)
			continue;
		changes[n++] = (struct edit_member){
			.key = sv_of(note_keys[i]),
			.json = ours ? sv_of(run->mark) : (struct sv){ NULL, 0 },
			.absent = ours ? EDIT_LAST : EDIT_SKIP,
		};
	}
	return edit_members(e, obj, changes, n) >= 0;
}

bool common_mark(const struct run *run, const struct rewrite_line *line, struct edit *e)
{
	struct jval whole;
	bool codex = run->opts->format == TRANSCRIPT_CODEX;

	if (scan_text(line->text, &whole) < 0)
		return false;
	if (!codex || line->vals[CODEX_PAYLOAD].raw.p == whole.raw.p)
		return set_notes(run, whole, true, e);
	return set_notes(run, whole, false, e) &&
		set_notes(run, line->vals[CODEX_PAYLOAD], true, e);
}
