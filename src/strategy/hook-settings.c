#include "strategy/hook-settings.h"

#include "base/mem.h"
#include "base/shell.h"
#include "base/str.h"
#include "os/path.h"
#include "json/edit.h"
#include "json/scan.h"
#include "json/write.h"

const struct hook_event hook_events[] = {
	{ "UserPromptSubmit", "user-prompt-submit" },
	{ "SessionStart", "session-start" },
	{ "PreCompact", "pre-compact" },
	{ "Stop", "stop" },
	{ "SessionEnd", "session-end" },
};
const size_t hook_events_n = ARRAY_LEN(hook_events);

enum { REMOVALS_MAX = 1000 };

/* What follows the program. Every form that install has ever written must be known as ours. */
#define COMMAND_REST " hook %s || exit 0"

const char *hook_state_name(enum hook_state state)
{
	static const char *const names[] = {
		[HOOK_ABSENT] = "absent", [HOOK_OTHER] = "other", [HOOK_INSTALLED] = "installed"
	};

	return names[state];
}

/* What the event runs. A faden that fails or is gone never holds the user's prompt back. */
static void add_command(struct str *out, const char *program, const struct hook_event *event)
{
	shell_word(out, program);
	str_addf(out, COMMAND_REST, event->verb);
}

/* ---- reading ---- */

static size_t line_of(struct sv text, size_t at)
{
	size_t line = 1;

	for (size_t i = 0; i < at && i < text.n; i++)
		line += text.p[i] == '\n';
	return line;
}

static struct sv without_mark(struct sv text)
{
	return sv_starts(text, SV("\xef\xbb\xbf")) ? sv_from(text, 3) : text;
}

/* The settings as an object; an empty text has none. */
static int read_top(struct sv text, struct jval *ret, struct err *reterr)
{
	size_t at = 0;
	struct sv body = without_mark(text);

	*ret = (struct jval){ .type = J_NONE };
	if (sv_trim(body).n == 0)
		return 0;
	if (scan_check(body, &at) < 0)
		return err_set(reterr, ERR_INPUT,
			"line %zu is not valid JSON (which has no comments and no comma before a "
			"closing bracket)",
			line_of(body, at));
	if (scan_text(body, ret) < 0 || ret->type != J_OBJECT)
		return err_set(reterr, ERR_INPUT, "line 1: the settings are no object");
	return 0;
}

/* The member `key` of obj, which must be of that type when it is there; J_NONE when it is not. */
static int read_member(struct sv text, struct jval obj, const char *key, enum jtype type,
	struct jval *ret, struct err *reterr)
{
	*ret = (struct jval){ .type = J_NONE };
	if (obj.type != J_OBJECT || scan_get(obj, sv_of(key), ret) <= 0)
		return 0;
	if (ret->type == type)
		return 0;
	return err_set(reterr, ERR_INPUT, "line %zu: \"%s\" is not %s",
		line_of(text, (size_t)(ret->raw.p - text.p)), key,
		type == J_ARRAY ? "a list" : "an object");
}

struct place {
	struct jval top, hooks, list; /* J_NONE from the first that is missing on */
};

static int find_list(
	struct sv text, const struct hook_event *event, struct place *ret, struct err *reterr)
{
	int r = read_top(text, &ret->top, reterr);

	if (r >= 0)
		r = read_member(text, ret->top, "hooks", J_OBJECT, &ret->hooks, reterr);
	if (r >= 0)
		r = read_member(text, ret->hooks, event->event, J_ARRAY, &ret->list, reterr);
	return r;
}

/* The end of the first word of a command, when it is a path quoted as shell_word() does it: '…'
 * with '\'' for a quote, or $'…' with escapes. 0 when it is not. */
static size_t quoted_word(struct sv text)
{
	bool escapes = sv_starts(text, SV("$'"));
	size_t at = escapes ? 2 : 1;

	if (!sv_starts(text, escapes ? SV("$'/") : SV("'/")))
		return 0;
	while (at < text.n) {
		if (escapes && text.p[at] == '\\')
			at += 2;
		else if (!escapes && sv_starts(sv_from(text, at), SV("'\\''")))
			at += 4;
		else if (text.p[at++] == '\'')
			return at;
	}
	return 0;
}

/* Exactly what install writes for this event, whichever faden it names. Whatever else runs one is
 * the user's own. */
static bool is_ours(struct sv command, const struct hook_event *event, const char *program)
{
	AUTO_STR ours = STR_INIT;
	AUTO_STR rest = STR_INIT;
	size_t end = quoted_word(command);

	add_command(&ours, program, event);
	if (sv_eq(command, str_sv(&ours)))
		return true;
	str_addf(&rest, COMMAND_REST, event->verb);
	struct sv path = end > 0 ? sv_head(command, end - 1) : SV("");
	return sv_eq(sv_from(command, end), str_sv(&rest)) &&
		sv_starts(path_base(path), SV("faden"));
}

/* Whether a command that is not ours has to do with faden's hook for the event. */
static bool is_like_ours(struct sv command, const struct hook_event *event)
{
	AUTO_STR words = STR_INIT;

	str_addf(&words, "hook %s", event->verb);
	return sv_find(command, SV("faden"), NULL) && sv_find(command, str_sv(&words), NULL);
}

/* One hook: its group in the list, itself in the group, its command. */
struct found {
	struct jval group, inner, entry, command;
};

/* Whether there is one of ours; with `own`, all that are like ours and are not go there instead. */
static bool look_in_group(struct jval group, const struct hook_event *event, const char *program,
	struct strv *own, struct found *ret)
{
	struct jval entry;

	if (scan_get(group, SV("hooks"), &ret->inner) <= 0 || ret->inner.type != J_ARRAY)
		return false;
	struct scan_iter it = scan_iter(ret->inner);
	while (scan_next(&it, NULL, &entry) > 0) {
		AUTO_STR text = STR_INIT;
		if (scan_get(entry, SV("command"), &ret->command) <= 0 ||
			!scan_string(ret->command, &text))
			continue;
		bool ours = is_ours(str_sv(&text), event, program);
		if (own && !ours && is_like_ours(str_sv(&text), event))
			strv_addsv(own, str_sv(&text));
		if (!own && ours) {
			ret->group = group;
			ret->entry = entry;
			return true;
		}
	}
	return false;
}

/* The first hook of ours, or all that are like one and are not. */
static bool find_hook(struct jval list, const struct hook_event *event, const char *program,
	struct strv *own, struct found *ret)
{
	struct jval group;
	struct scan_iter it = scan_iter(list);

	while (list.type == J_ARRAY && scan_next(&it, NULL, &group) > 0)
		if (look_in_group(group, event, program, own, ret))
			return true;
	return false;
}

/* ---- installing ---- */

static void add_group(struct str *out, const char *command, const char *indent)
{
	str_addf(out, "{\n%s  \"hooks\": [\n%s    {\n", indent, indent);
	str_addf(out, "%s      \"type\": \"command\",\n%s      \"command\": ", indent, indent);
	json_quote(out, sv_of(command));
	str_addf(out, ",\n%s      \"timeout\": %d\n%s    }\n%s  ]\n%s}", indent, HOOK_TIMEOUT_S,
		indent, indent, indent);
}

static void append_to_list(struct edit *e, struct jval list, struct sv item)
{
	struct jval last = { .type = J_NONE }, each;
	AUTO_STR text = STR_INIT;
	struct scan_iter it = scan_iter(list);

	while (scan_next(&it, NULL, &each) > 0)
		last = each;
	bool empty = last.type == J_NONE;
	const char *at = empty ? list.raw.p + 1 : last.raw.p + last.raw.n;
	str_adds(&text, empty ? "\n      " : ",\n      ");
	str_add(&text, item);
	if (empty)
		str_adds(&text, "\n    ");
	edit_replace(e, sv_make(at, 0), str_sv(&text));
}

/* Puts a member last into an object, on a line of its own. */
static void append_member(
	struct edit *e, struct jval obj, const char *key, struct sv value, const char *indent)
{
	struct jval last = { .type = J_NONE }, each;
	AUTO_STR text = STR_INIT;
	struct scan_iter it = scan_iter(obj);

	while (scan_next(&it, NULL, &each) > 0)
		last = each;
	bool empty = last.type == J_NONE;
	const char *at = empty ? obj.raw.p + 1 : last.raw.p + last.raw.n;
	str_addf(&text, "%s\n%s  ", empty ? "" : ",", indent);
	json_quote(&text, sv_of(key));
	str_adds(&text, ": ");
	str_add(&text, value);
	/* what stands behind the last member is the closing bracket's own line, if it has one */
	if (empty || memchr(at, '\n', (size_t)(obj.raw.p + obj.raw.n - at)) == NULL)
		str_addf(&text, "\n%s", indent);
	edit_replace(e, sv_make(at, 0), str_sv(&text));
}

static void add_list(struct str *out, const char *command)
{
	str_adds(out, "[\n      ");
	add_group(out, command, "      ");
	str_adds(out, "\n    ]");
}

static void install_new(struct edit *e, const struct place *place, const struct hook_event *event,
	const char *command)
{
	AUTO_STR value = STR_INIT;
	AUTO_STR hooks = STR_INIT;

	if (place->list.type == J_ARRAY) {
		add_group(&value, command, "      ");
		append_to_list(e, place->list, str_sv(&value));
		return;
	}
	add_list(&value, command);
	if (place->hooks.type == J_OBJECT) {
		append_member(e, place->hooks, event->event, str_sv(&value), "  ");
		return;
	}
	str_adds(&hooks, "{\n    ");
	json_quote(&hooks, sv_of(event->event));
	str_addf(&hooks, ": %s\n  }", value.buf);
	append_member(e, place->top, "hooks", str_sv(&hooks), "");
}

/* One event into *text; 1 when it changed. */
static int install_event(
	struct str *text, const struct hook_event *event, const char *program, struct err *reterr)
{
	struct place place;
	struct found ours;
	AUTO_STR command = STR_INIT;
	AUTO_STR out = STR_INIT;
	int r = find_list(str_sv(text), event, &place, reterr);

	if (r < 0)
		return r;
	add_command(&command, program, event);
	CLEANUP(edit_release) struct edit e = EDIT_INIT(str_sv(text));
	if (!find_hook(place.list, event, program, NULL, &ours))
		install_new(&e, &place, event, command.buf);
	else if (scan_string_eq(ours.command, str_sv(&command)))
		return 0;
	else
		edit_string(&e, ours.command, str_sv(&command));
	if (edit_apply(&e, &out) < 0)
		return err_set(reterr, ERR_BUG, "the edits of the settings overlap");
	str_clear(text);
	str_add(text, str_sv(&out));
	return 1;
}

int hook_settings_install(struct sv text, const char *program, struct str *out, struct err *reterr)
{
	AUTO_STR work = STR_INIT;
	int changed = 0;

	str_add(&work, sv_trim(without_mark(text)).n == 0 ? SV("{}\n") : text);
	for (size_t i = 0; i < hook_events_n; i++) {
		int r = install_event(&work, &hook_events[i], program, reterr);
		if (r < 0)
			return r;
		changed += r;
	}
	str_add(out, changed ? str_sv(&work) : text);
	return changed;
}

/* ---- removing ---- */

/* Takes one element out of a list together with its comma. */
static void remove_from_list(struct edit *e, struct jval list, struct jval item)
{
	struct jval each;
	const char *before = NULL, *after = NULL;
	bool passed = false;
	struct scan_iter it = scan_iter(list);

	while (!after && scan_next(&it, NULL, &each) > 0) {
		if (each.raw.p == item.raw.p)
			passed = true;
		else if (passed)
			after = each.raw.p;
		else
			before = each.raw.p + each.raw.n;
	}
	const char *from = item.raw.p, *to = item.raw.p + item.raw.n;
	if (before)
		from = before;
	else if (after)
		to = after;
	else {
		from = list.raw.p + 1;
		to = list.raw.p + list.raw.n - 1;
	}
	edit_replace(e, sv_make(from, (size_t)(to - from)), SV(""));
}

static size_t count(struct jval list)
{
	struct jval each;
	size_t n = 0;
	struct scan_iter it = scan_iter(list);

	while (scan_next(&it, NULL, &each) > 0)
		n++;
	return n;
}

/* What would be left empty by it goes as well. */
static int remove_found(struct edit *e, const struct place *place, const struct hook_event *event,
	const struct found *ours)
{
	if (count(ours->inner) > 1) {
		remove_from_list(e, ours->inner, ours->entry);
		return 0;
	}
	if (count(place->list) > 1) {
		remove_from_list(e, place->list, ours->group);
		return 0;
	}
	if (count(place->hooks) > 1)
		return edit_remove(e, place->hooks, sv_of(event->event));
	if (count(place->top) > 1)
		return edit_remove(e, place->top, SV("hooks"));
	edit_replace(e, sv_make(place->top.raw.p + 1, place->top.raw.n - 2), SV(""));
	return 0;
}

/* One hook out of *text; 1 when there was one. */
static int remove_one(
	struct str *text, const struct hook_event *event, const char *program, struct err *reterr)
{
	struct place place;
	struct found ours;
	AUTO_STR out = STR_INIT;
	int r = find_list(str_sv(text), event, &place, reterr);

	if (r < 0)
		return r;
	if (!find_hook(place.list, event, program, NULL, &ours))
		return 0;
	CLEANUP(edit_release) struct edit e = EDIT_INIT(str_sv(text));
	if (remove_found(&e, &place, event, &ours) < 0 || edit_apply(&e, &out) < 0)
		return err_set(reterr, ERR_BUG, "the edits of the settings overlap");
	str_clear(text);
	str_add(text, str_sv(&out));
	return 1;
}

int hook_settings_remove(struct sv text, const char *program, struct str *out, struct err *reterr)
{
	AUTO_STR work = STR_INIT;
	int changed = 0;

	str_add(&work, text);
	for (size_t i = 0; i < hook_events_n; i++) {
		int r, removed = 0;
		while ((r = remove_one(&work, &hook_events[i], program, reterr)) > 0 &&
			removed < REMOVALS_MAX)
			removed++;
		if (r < 0)
			return r;
		changed += removed > 0;
	}
	str_add(out, str_sv(&work));
	return changed;
}

int hook_settings_look(
	struct sv text, const char *program, enum hook_state *states, struct err *reterr)
{
	for (size_t i = 0; i < hook_events_n; i++) {
		struct place place;
		struct found ours;
		AUTO_STR command = STR_INIT;
		int r = find_list(text, &hook_events[i], &place, reterr);
		if (r < 0)
			return r;
		add_command(&command, program, &hook_events[i]);
		states[i] = !find_hook(place.list, &hook_events[i], program, NULL, &ours)
			? HOOK_ABSENT
			: scan_string_eq(ours.command, str_sv(&command)) ? HOOK_INSTALLED
									 : HOOK_OTHER;
	}
	return 0;
}

void hook_settings_own(
	struct sv text, const struct hook_event *event, const char *program, struct strv *ret)
{
	struct place place;
	struct found found;

	if (find_list(text, event, &place, NULL) == 0)
		(void)find_hook(place.list, event, program, ret, &found);
}
