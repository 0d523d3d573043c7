/*
 * What tools were asked to do, and how that ended.
 */
#include <limits.h>
#include <string.h>
#include <strings.h>

#include "archive/archive.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "strategy/brief-impl.h"

enum {
	CALLS_MAX = 256, /* calls whose results are awaited at a time */
	COMMAND_MAX = 4096, /* bytes by which commands are told apart */
	FILES_OF_CALL_MAX = 64,
	EXIT_LINES = 8, /* of a result that may tell the exit status */
	WHAT_COLUMNS = 80, /* of a command or file, where an error names it */
};

/* ---- calls ---- */

static const struct tool {
	const char *name;
	enum call_kind kind;
	const char *key; /* of the argument; NULL: the whole text */
} tools[] = {
	{ "Bash", CALL_COMMAND, "command" },
	{ "Write", CALL_WRITE, "file_path" },
	{ "Edit", CALL_WRITE, "file_path" },
	{ "MultiEdit", CALL_WRITE, "file_path" },
	{ "NotebookEdit", CALL_WRITE, "notebook_path" },
	{ "Read", CALL_READ, "file_path" },
	{ "TodoWrite", CALL_PLAN, "todos" },
	{ "exec_command", CALL_COMMAND, "cmd" },
	{ "shell", CALL_COMMAND, "command" },
	{ "shell_command", CALL_COMMAND, "command" },
	{ "container.exec", CALL_COMMAND, "cmd" },
	{ "local_shell_call", CALL_COMMAND, "command" },
	{ "apply_patch", CALL_PATCH, "input" },
	{ "update_plan", CALL_PLAN, "plan" },
};

static const struct tool *find_tool(struct sv name)
{
	for (size_t i = 0; i < ARRAY_LEN(tools); i++)
		if (sv_is(name, tools[i].name))
			return &tools[i];
	return NULL;
}

void brief_call_release(struct brief_call *call)
{
	free(call->id);
	free(call->tool);
	strv_release(&call->what);
}

/* A string, or the words of an array joined by blanks. */
static bool add_words(struct jval val, struct str *out)
{
	struct jval word;

	if (val.type != J_ARRAY)
		return scan_string(val, out);
	struct scan_iter it = scan_iter(val);
	while (scan_next(&it, NULL, &word) > 0) {
		if (out->len > 0)
			str_addc(out, ' ');
		(void)scan_string(word, out);
	}
	return out->len > 0;
}

/* The files that a patch names, as in "*** Update File: x". */
static void add_patched(struct sv patch, struct strv *out)
{
	static const struct sv marks[] = {
		{ "*** Add File: ", 14 },
		{ "*** Update File: ", 17 },
		{ "*** Delete File: ", 17 },
		{ "*** Move to: ", 13 },
	};
	struct sv line;

	while (out->n < FILES_OF_CALL_MAX && sv_split(&patch, '\n', &line))
		for (size_t i = 0; i < ARRAY_LEN(marks); i++)
			if (sv_starts(line, marks[i]))
				strv_addsv(out, sv_trim(sv_from(line, marks[i].n)));
}

/* ---- plans ---- */

/* The last plan counts; its steps that are not done are open. */
static void take_plan(struct brief_collect *c, const struct item *item, struct jval steps)
{
	struct jval step, text, status;
	struct scan_iter it = scan_iter(steps);

	brief_ring_clear(&c->plan);
	brief_ring_clear(&c->carried);
	while (steps.type == J_ARRAY && scan_next(&it, NULL, &step) > 0) {
		AUTO_STR words = STR_INIT;
		if (scan_get(step, SV("content"), &text) <= 0 &&
			scan_get(step, SV("step"), &text) <= 0)
			continue;
		if (!scan_string(text, &words))
			continue;
		if (scan_get(step, SV("status"), &status) <= 0)
			status.type = J_NONE;
		if (scan_string_eq(status, SV("completed")) || scan_string_eq(status, SV("done")) ||
			scan_string_eq(status, SV("cancelled"))) {
			brief_done(c, str_sv(&words));
			continue;
		}
		if (scan_string_eq(status, SV("in_progress")))
			str_adds(&words, " (begun)");
		brief_ring_push(&c->plan,
			brief_fact_new(BRIEF_OPEN, str_sv(&words), BRIEF_TEXT_MAX, false,
				brief_place_of(item)));
	}
}

/* ---- from call to result ---- */

static void fill_call(struct brief_call *call, const struct tool *tool, struct sv text)
{
	struct jval args, val;
	AUTO_STR words = STR_INIT;

	if (scan_text(text, &args) == 0 && scan_get(args, sv_of(tool->key), &val) > 0)
		(void)add_words(val, &words);
	else if (tool->kind == CALL_PATCH)
		str_add(&words, text);
	if (tool->kind == CALL_PATCH || sv_find(str_sv(&words), SV("*** Begin Patch"), NULL)) {
		call->kind = CALL_PATCH;
		add_patched(str_sv(&words), &call->what);
	} else if (words.len > 0) {
		strv_addsv(&call->what, sv_head(str_sv(&words), COMMAND_MAX));
	}
}

bool brief_files_changed(struct sv name, struct sv input, struct strv *out)
{
	const struct tool *tool = find_tool(name);
	struct brief_call call = { .what = STRV_INIT };

	if (!tool || tool->kind == CALL_PLAN || tool->kind == CALL_READ)
		return false;
	call.kind = tool->kind;
	fill_call(&call, tool, input);
	if (call.kind == CALL_WRITE || call.kind == CALL_PATCH)
		for (size_t i = 0; i < call.what.n; i++)
			strv_add(out, call.what.v[i]);
	strv_release(&call.what);
	return call.kind == CALL_COMMAND;
}

bool brief_command(struct sv name, struct sv input, struct str *out)
{
	const struct tool *tool = find_tool(name);
	struct jval args, val;

	return tool && tool->kind == CALL_COMMAND && scan_text(input, &args) == 0 &&
		scan_get(args, sv_of(tool->key), &val) > 0 && val.type == J_STRING &&
		scan_string(val, out);
}

void brief_take_call(struct brief_collect *c, const struct item *item)
{
	const struct tool *tool = find_tool(item->tool);
	struct brief_call call = {
		.id = xmemdup0(item->tool_id.n ? item->tool_id.p : "", item->tool_id.n),
		.tool = xmemdup0(item->tool.n ? item->tool.p : "", item->tool.n),
		.kind = tool ? tool->kind : CALL_OTHER,
		.what = STRV_INIT,
		.place = brief_place_of(item),
	};
	struct jval args, steps;

	if (tool && tool->kind == CALL_PLAN && scan_text(str_sv(&c->text), &args) == 0 &&
		scan_get(args, sv_of(tool->key), &steps) > 0)
		take_plan(c, item, steps);
	else if (tool)
		fill_call(&call, tool, str_sv(&c->text));
	if (c->calls.n == CALLS_MAX) {
		brief_call_release(&c->calls.v[0]);
		memmove(c->calls.v, c->calls.v + 1, (--c->calls.n) * sizeof(*c->calls.v));
	}
	vec_push(&c->calls, call);
}

struct brief_known *brief_know(struct brief_set *set, struct sv text)
{
	uint64_t at;

	if (map_get(&set->index, text, &at))
		return &set->all.v[at];
	if (set->all.n == BRIEF_KNOWN_MAX) {
		set->lost++;
		return NULL;
	}
	(void)map_put(&set->index, text, set->all.n);
	vec_push(&set->all, (struct brief_known){ .text = xmemdup0(text.p, text.n) });
	return &set->all.v[set->all.n - 1];
}

struct ending {
	enum brief_end end;
	int status;
};

/* The number right behind `mark` in the line. */
static bool status_after(struct sv line, struct sv mark, int *ret)
{
	size_t at;
	long long number;

	if (!sv_find(line, mark, &at))
		return false;
	struct sv rest = sv_trim(sv_from(line, at + mark.n));
	size_t n = 0;
	while (n < rest.n && (rest.p[n] == '-' || (rest.p[n] >= '0' && rest.p[n] <= '9')))
		n++;
	if (!sv_parse_i64(sv_head(rest, n), &number) || number < INT_MIN || number > INT_MAX)
		return false;
	*ret = (int)number;
	return true;
}

/* Codex gives {"output":…,"metadata":{"exit_code":N}} in some versions. */
static bool status_in_json(struct sv text, int *ret)
{
	struct jval doc, code;
	int64_t number;

	if (text.n == 0 || text.p[0] != '{' || scan_text(text, &doc) < 0 ||
		scan_path(doc, "metadata.exit_code", &code) <= 0 || !scan_i64(code, &number))
		return false;
	*ret = (int)number;
	return true;
}

static bool status_in_words(struct sv text, int *ret)
{
	static const struct sv marks[] = {
		{ "Process exited with code", 24 },
		{ "Exit code:", 10 },
		{ "Exit code", 9 },
	};
	struct sv line;

	for (size_t i = 0; i < EXIT_LINES && sv_split(&text, '\n', &line); i++) {
		if (sv_starts(line, SV("Output:")))
			return false;
		for (size_t k = 0; k < ARRAY_LEN(marks); k++)
			if (sv_starts(line, marks[k]) && status_after(line, marks[k], ret))
				return true;
	}
	return false;
}

static bool was_stopped(struct sv text)
{
	struct sv head = sv_head(text, 400);

	return sv_find(head, SV("aborted by user"), NULL) ||
		sv_find(head, SV("The user doesn't want to proceed"), NULL) ||
		sv_find(head, SV("Request interrupted by user"), NULL);
}

static struct ending ending_of(
	const struct brief_collect *c, const struct item *item, enum call_kind kind)
{
	struct sv text = str_sv(&c->text);
	struct ending e = { BRIEF_NO_END, 0 };
	bool failed = item->flags & ITEM_FAILED;

	if ((failed || c->format == TRANSCRIPT_CODEX) && was_stopped(text))
		return (struct ending){ BRIEF_STOPPED, 0 };
	if ((failed || c->format == TRANSCRIPT_CODEX) &&
		(status_in_json(text, &e.status) || status_in_words(text, &e.status)))
		e.end = BRIEF_EXIT;
	else if (failed)
		e.end = BRIEF_FAILED;
	else if (c->format == TRANSCRIPT_CLAUDE && kind == CALL_COMMAND)
		e.end = BRIEF_EXIT;
	return e;
}

static bool is_bad(const struct ending *e)
{
	return e->end == BRIEF_FAILED || (e->end == BRIEF_EXIT && e->status != 0);
}

/* A command without a status may still run. */
static bool is_good(const struct ending *e, enum call_kind kind)
{
	return e->end == BRIEF_EXIT ? e->status == 0
				    : e->end == BRIEF_NO_END && kind != CALL_COMMAND;
}

/* ---- what an error says ---- */

/* The output without what the agents write above it: its end is told already. */
static struct sv without_head(struct sv text)
{
	struct sv rest = text, line;

	for (size_t i = 0; i < EXIT_LINES && sv_split(&rest, '\n', &line); i++)
		if (sv_is(sv_trim(line), "Output:"))
			return rest;
	rest = text;
	if (sv_starts(text, SV("Exit code")) && sv_split(&rest, '\n', &line))
		return rest;
	return text;
}

static bool is_telling(struct sv line)
{
	static const char *const words[] = { "error", "fatal", "failed", "exception", "panic",
		"denied", "not found", "no such", "cannot" };

	line = sv_head(line, BRIEF_TEXT_MAX);
	for (size_t k = 0; k < ARRAY_LEN(words); k++)
		for (size_t i = 0, n = strlen(words[k]); i + n <= line.n; i++)
			if (strncasecmp(line.p + i, words[k], n) == 0)
				return true;
	return false;
}

/* The first line that speaks of trouble, else the last: programs end with what stopped them. */
static struct sv telling_line(struct sv text)
{
	struct sv line, last = SV("");

	while (sv_split(&text, '\n', &line)) {
		line = sv_trim(line);
		if (is_telling(line))
			return line;
		last = line.n > 0 ? line : last;
	}
	return last;
}

/* As above, from the text of a result in any of its forms. */
static void add_telling(struct sv text, struct str *out)
{
	struct jval doc, output;
	AUTO_STR inner = STR_INIT;
	int status;

	if (status_in_json(text, &status) && scan_text(text, &doc) == 0 &&
		scan_get(doc, SV("output"), &output) > 0 && scan_string(output, &inner))
		text = str_sv(&inner);
	struct sv words = telling_line(without_head(text));
	str_add(out, words.n ? words : SV("failed without a word"));
}

/* "Bash (make)"; only the tool where nothing tells what it was to do. */
static void add_call(struct str *out, const struct brief_call *call)
{
	AUTO_STR line = STR_INIT;

	str_adds(out, call->tool);
	if (call->what.n == 0)
		return;
	str_adds(out, " (");
	utf8_scrub_line(&line, utf8_cut(sv_of(call->what.v[0]), BRIEF_TEXT_MAX));
	utf8_fit(out, str_sv(&line), WHAT_COLUMNS);
	str_adds(out, ")");
}

static uint64_t about(const struct brief_call *call)
{
	AUTO_STR key = STR_INIT;

	if (call->what.n == 0)
		return 0;
	str_addf(&key, "%s\n%s", call->tool, call->what.v[0]);
	return recall_hash(str_sv(&key)).low | 1;
}

static void take_error(struct brief_collect *c, const struct item *item,
	const struct brief_call *call, const struct ending *e)
{
	AUTO_STR text = STR_INIT;

	add_call(&text, call);
	str_adds(&text, ": ");
	add_telling(str_sv(&c->text), &text);
	struct brief_fact fact = brief_fact_new(
		BRIEF_ERROR, str_sv(&text), BRIEF_TEXT_MAX, false, brief_place_of(item));
	fact.end = e->end;
	fact.status = e->status;
	fact.about = about(call);
	brief_ring_renew(&c->errors, fact);
}

/* What went well is no error any more. One from before is known by its words, if they are whole. */
static void pass_errors(struct brief_collect *c, const struct brief_call *call)
{
	AUTO_STR words = STR_INIT;

	if (c->errors.facts.n == 0 || call->what.n == 0)
		return;
	uint64_t same = about(call);
	add_call(&words, call);
	bool whole = !sv_ends(str_sv(&words), SV(BRIEF_CUT ")"));
	str_adds(&words, ": ");
	vec_each (&c->errors.facts, error)
		if (error->about ? error->about == same
				 : whole && sv_starts(sv_of(error->text), str_sv(&words)))
			error->past = true;
}

static void take_known(struct brief_collect *c, const struct brief_call *call,
	const struct ending *e, struct brief_place result)
{
	bool command = call->kind == CALL_COMMAND;

	for (size_t i = 0; i < call->what.n; i++) {
		struct brief_set *set = command ? &c->commands : &c->files;
		struct brief_known *k = brief_know(set, sv_of(call->what.v[i]));
		if (!k)
			continue;
		k->times++;
		k->ref[0] = '\0';
		k->cut = k->before = false;
		k->last = c->count;
		k->end = e->end;
		k->status = e->status;
		if (call->kind != CALL_READ && !command)
			k->changes++;
		/* a command's output, but a file's change, is what one wants to see again */
		if (command)
			k->place = result;
		else if (call->kind != CALL_READ || k->changes == 0)
			k->place = call->kind == CALL_READ ? result : call->place;
	}
}

void brief_take_result(struct brief_collect *c, const struct item *item)
{
	for (size_t i = c->calls.n; i-- > 0;) {
		struct brief_call call = c->calls.v[i];
		if (!sv_eq(sv_of(call.id), item->tool_id))
			continue;
		struct ending e = ending_of(c, item, call.kind);
		if (is_bad(&e))
			take_error(c, item, &call, &e);
		else if (is_good(&e, call.kind))
			pass_errors(c, &call);
		if (call.kind == CALL_COMMAND || !is_bad(&e))
			take_known(c, &call, &e, brief_place_of(item));
		brief_call_release(&call);
		memmove(c->calls.v + i, c->calls.v + i + 1,
			(c->calls.n - i - 1) * sizeof(*c->calls.v));
		c->calls.n--;
		return;
	}
}
