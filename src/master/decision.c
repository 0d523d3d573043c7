#include "master/decision.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "json/scan.h"

enum { OPENINGS_MAX = 64 }; /* lines that may begin the object; the last ones are tried */

void pair_decision_release(struct pair_decision *d)
{
	free(d->system_prompt);
	free(d->text);
	free(d->model);
	free(d->say);
	*d = (struct pair_decision)PAIR_DECISION_INIT;
}

/* ---- DONE ---- */

static bool is_fence(struct sv line)
{
	return sv_starts(line, SV("```")) || sv_starts(line, SV("~~~"));
}

/* The last line that says something; before it is what is left in *text. */
static struct sv last_line(struct sv text)
{
	while (text.n > 0) {
		size_t at = text.n;
		while (at > 0 && text.p[at - 1] != '\n')
			at--;
		struct sv line = sv_trim(sv_from(text, at));
		if (line.n > 0 && !is_fence(line))
			return line;
		text = sv_head(text, at ? at - 1 : 0);
	}
	return text;
}

/* Full stops, exclamation marks and ticks with blanks between them. */
static bool is_flourish(struct sv s)
{
	static const struct sv signs[] = { { ".", 1 }, { "!", 1 }, { " ", 1 }, { "\t", 1 },
		{ "✅", 3 }, { "✓", 3 }, { "✔", 3 }, { "☑", 3 }, { "\xef\xb8\x8f", 3 } };

	while (s.n > 0) {
		size_t i = 0;
		while (i < sizeof(signs) / sizeof(*signs) && !sv_starts(s, signs[i]))
			i++;
		if (i == sizeof(signs) / sizeof(*signs))
			return false;
		s = sv_from(s, signs[i].n);
	}
	return true;
}

bool decision_is_done(struct sv text)
{
	struct sv line = last_line(text);
	size_t marks = 0, heading = 0;

	while (heading < line.n && line.p[heading] == '#')
		heading++;
	if (heading > 0 && (heading > 6 || heading == line.n || line.p[heading] != ' '))
		return false;
	line = sv_trim(sv_from(line, heading));
	while (marks < line.n && (line.p[marks] == '*' || line.p[marks] == '_'))
		marks++;
	struct sv rest = sv_from(line, marks);
	if (!sv_starts(rest, SV("DONE")))
		return false;
	rest = sv_from(rest, 4);
	/* The emphasis closes as it opened, before or behind a full stop. */
	size_t inside = 0;
	while (marks > 0 && inside < rest.n && rest.p[inside] != line.p[0])
		inside++;
	if (!is_flourish(sv_head(rest, inside)))
		return false;
	rest = sv_from(rest, inside);
	for (size_t i = 0; i < marks; i++)
		if (rest.n <= i || rest.p[i] != line.p[marks - 1 - i])
			return false;
	return is_flourish(sv_from(rest, marks));
}

/* ---- the object ---- */

enum { K_ACT, K_SYSTEM_PROMPT, K_INSTRUCTION, K_MESSAGE, K_MODEL, K_TIMEOUT, K_SAY, K_COUNT };
static const struct scan_key keys[K_COUNT] = {
	[K_ACT] = SCAN_KEY("act", SCAN_TOP),
	[K_SYSTEM_PROMPT] = SCAN_KEY("system_prompt", SCAN_TOP),
	[K_INSTRUCTION] = SCAN_KEY("instruction", SCAN_TOP),
	[K_MESSAGE] = SCAN_KEY("message", SCAN_TOP),
	[K_MODEL] = SCAN_KEY("model", SCAN_TOP),
	[K_TIMEOUT] = SCAN_KEY("worker_timeout_s", SCAN_TOP),
	[K_SAY] = SCAN_KEY("say", SCAN_TOP),
};

/* The last object that has an "act", wherever a line begins with it. */
static bool find_object(struct sv text, struct jval vals[K_COUNT], size_t *ret_at)
{
	size_t openings[OPENINGS_MAX], n = 0, end = 0, fence = text.n;
	bool found = false, in_fence = false, newline = true;

	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];
		if (newline && c == '{')
			openings[n++ % OPENINGS_MAX] = i;
		newline = c == '\n' || (newline && (c == ' ' || c == '\t' || c == '\r'));
	}
	for (size_t i = n > OPENINGS_MAX ? n - OPENINGS_MAX : 0; i < n; i++) {
		size_t at = openings[i % OPENINGS_MAX];
		struct sv rest = sv_from(text, at);
		struct jval object, got[K_COUNT];
		if (at < end || scan_value(&rest, &object) <= 0)
			continue;
		if (scan_keys(object.raw, keys, K_COUNT, got) < 0 || got[K_ACT].type == J_NONE)
			continue;
		end = at + object.raw.n;
		memcpy(vals, got, sizeof(got));
		*ret_at = at;
		found = true;
	}
	/* The fence around it belongs to it. */
	for (size_t i = 0, line = 0; found && i <= *ret_at; i++)
		if (i == *ret_at || text.p[i] == '\n') {
			if (is_fence(sv_trim(sv_make(text.p + line, i - line)))) {
				in_fence = !in_fence;
				fence = line;
			}
			line = i + 1;
		}
	if (in_fence)
		*ret_at = fence;
	return found;
}

static char *take_text(struct jval val, size_t max)
{
	AUTO_STR text = STR_INIT;

	if (!scan_string(val, &text))
		return NULL;
	struct sv words = sv_trim(str_sv(&text));
	return words.n == 0 || words.n > max || memchr(words.p, '\0', words.n)
		? NULL
		: xmemdup0(words.p, words.n);
}

static void wrong(struct pair_decision *d, const char *what)
{
	size_t begins = d->begins;

	pair_decision_release(d);
	d->begins = begins;
	(void)snprintf(d->wrong, sizeof(d->wrong), "%s", what);
}

void pair_decision_read(struct sv answer, struct pair_decision *ret)
{
	size_t skipped = answer.n > DECISION_BYTES_MAX ? answer.n - DECISION_BYTES_MAX : 0;
	struct sv text = sv_from(answer, skipped);
	bool done = decision_is_done(text);
	struct jval vals[K_COUNT];
	int64_t seconds = 0;
	size_t at = text.n;

	*ret = (struct pair_decision)PAIR_DECISION_INIT;
	bool found = find_object(text, vals, &at);
	ret->begins = skipped + at;
	if (!found && done) {
		ret->act = DECISION_DONE;
		return;
	}
	if (!found) {
		wrong(ret, "it has neither an object with \"act\" nor DONE as its last line");
		return;
	}
	ret->act = scan_string_eq(vals[K_ACT], SV("start")) ? DECISION_START
		: scan_string_eq(vals[K_ACT], SV("tell"))   ? DECISION_TELL
		: scan_string_eq(vals[K_ACT], SV("done"))   ? DECISION_DONE
							    : DECISION_NONE;
	ret->system_prompt = ret->act == DECISION_START
		? take_text(vals[K_SYSTEM_PROMPT], DECISION_BYTES_MAX)
		: NULL;
	/* Either name will do: which of them is meant is beyond doubt. */
	ret->text = take_text(
		vals[ret->act == DECISION_TELL ? K_MESSAGE : K_INSTRUCTION], DECISION_BYTES_MAX);
	if (!ret->text)
		ret->text = take_text(vals[ret->act == DECISION_TELL ? K_INSTRUCTION : K_MESSAGE],
			DECISION_BYTES_MAX);
	ret->model = take_text(vals[K_MODEL], DECISION_MODEL_MAX);
	bool timed = vals[K_TIMEOUT].type != J_NONE && vals[K_TIMEOUT].type != J_NULL;
	if (timed &&
		(!scan_i64(vals[K_TIMEOUT], &seconds) || seconds < 1 ||
			seconds > DECISION_TIMEOUT_MAX_S))
		wrong(ret, "\"worker_timeout_s\" is no whole number of seconds up to a week");
	else if (ret->act == DECISION_NONE)
		wrong(ret, "\"act\" is none of start, tell and done");
	else if (ret->act != DECISION_DONE && done)
		wrong(ret,
			"it gives the worker something to do and says DONE; it must be one of "
			"them");
	else if (ret->act != DECISION_DONE && !ret->text)
		wrong(ret,
			ret->act == DECISION_START ? "\"start\" needs an \"instruction\""
						   : "\"tell\" needs a \"message\"");
	else if (vals[K_MODEL].type == J_STRING && !ret->model && scan_inner(vals[K_MODEL]).n > 0)
		wrong(ret, "\"model\" is no name of a model");
	ret->timeout_ms = ret->act == DECISION_NONE ? 0 : seconds * 1000;
	ret->say = take_text(vals[K_SAY], DECISION_BYTES_MAX);
}

void pair_decision_words(struct sv answer, const struct pair_decision *d, struct str *out)
{
	struct sv before = sv_trim(sv_head(answer, d->begins));

	str_add(out, before);
	if (d->say)
		str_addf(out, "%s%s", before.n ? "\n\n" : "", d->say);
}
