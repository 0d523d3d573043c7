#include "strategy/hook.h"

#include <strings.h>

#include "base/uuid.h"
#include "json/scan.h"
#include "json/write.h"

enum { K_EVENT, K_SESSION, K_SOURCE, K_PROMPT, K_PATH, K_CWD, K_COUNT };

static const struct scan_key keys[K_COUNT] = {
	[K_EVENT] = SCAN_KEY("hook_event_name", SCAN_TOP),
	[K_SESSION] = SCAN_KEY("session_id", SCAN_TOP),
	[K_SOURCE] = SCAN_KEY("source", SCAN_TOP),
	[K_PROMPT] = SCAN_KEY("prompt", SCAN_TOP),
	[K_PATH] = SCAN_KEY("transcript_path", SCAN_TOP),
	[K_CWD] = SCAN_KEY("cwd", SCAN_TOP),
};

static struct sv raw_string(struct jval val)
{
	return val.type == J_STRING ? val.raw : SV("");
}

int hook_parse(struct sv json, struct hook_input *ret, struct err *reterr)
{
	struct jval top, vals[K_COUNT];

	if (scan_text(json, &top) < 0 || top.type != J_OBJECT ||
		scan_keys(json, keys, K_COUNT, vals) < 0)
		return err_set(reterr, ERR_INPUT, "standard input is no JSON object");
	struct sv session = scan_inner(vals[K_SESSION]);
	*ret = (struct hook_input){
		.json = json,
		.event = scan_inner(vals[K_EVENT]),
		/* It becomes part of file names and of commands that people paste. */
		.session = uuid_valid(session) ? session : SV(""),
		.source = scan_inner(vals[K_SOURCE]),
		.raw_prompt = raw_string(vals[K_PROMPT]),
		.raw_path = raw_string(vals[K_PATH]),
		.raw_cwd = raw_string(vals[K_CWD]),
	};
	return 0;
}

/* ---- words ---- */

static const char *const words[] = {
	[HOOK_NONE] = "",
	[HOOK_RESUME] = "resume",
	[HOOK_CONTINUE] = "continue",
	[HOOK_HANDOFF] = "handoff",
	[HOOK_TRIM] = "trim",
	[HOOK_ADVISE] = "advise",
	[HOOK_LINEAGE] = "lineage",
};

const char *hook_word_name(enum hook_word word)
{
	return words[word];
}

static enum hook_word find_word(struct sv text)
{
	for (size_t i = HOOK_NONE + 1; i < ARRAY_LEN(words); i++)
		if (text.n == strlen(words[i]) && strncasecmp(text.p, words[i], text.n) == 0)
			return (enum hook_word)i;
	/* What it is called everywhere else. */
	bool rolls = text.n == strlen("rollover") && strncasecmp(text.p, "rollover", text.n) == 0;
	return rolls ? HOOK_CONTINUE : HOOK_NONE;
}

/* Whether a prompt, as it stands in the JSON, can begin with '>' at all. */
static bool may_be_ours(struct sv raw)
{
	size_t i = 1;

	while (i < raw.n && raw.p[i] == ' ')
		i++;
	return i < raw.n && (raw.p[i] == '>' || raw.p[i] == '\\');
}

enum hook_word hook_word_of(struct sv text, struct sv *ret_rest)
{
	size_t n = 1;

	text = sv_trim(text);
	if (text.n == 0 || text.p[0] != '>')
		return HOOK_NONE;
	while (n < text.n && !memchr(" \t\r\n", text.p[n], 4))
		n++;
	*ret_rest = sv_trim(sv_from(text, n));
	return find_word(sv_make(text.p + 1, n - 1));
}

enum hook_word hook_word(const struct hook_input *input, struct str *rest)
{
	AUTO_STR prompt = STR_INIT;

	/* Room for the whole when it is one of ours, and not for a megabyte that is none. */
	str_init_max(&prompt, HOOK_REST_MAX);
	if (!may_be_ours(input->raw_prompt) ||
		!scan_string((struct jval){ input->raw_prompt, J_STRING }, &prompt))
		return HOOK_NONE;
	struct sv behind;
	enum hook_word word = hook_word_of(str_sv(&prompt), &behind);
	if (word != HOOK_NONE && rest)
		str_add(rest, behind);
	return word;
}

static bool absolute(struct sv raw, struct str *out)
{
	AUTO_STR path = STR_INIT;

	str_init_max(&path, HOOK_PATH_MAX);
	if (!scan_string((struct jval){ raw, J_STRING }, &path) || path.len == 0 ||
		path.buf[0] != '/' || memchr(path.buf, '\0', path.len))
		return false;
	str_add(out, str_sv(&path));
	return true;
}

bool hook_transcript(const struct hook_input *input, struct str *out)
{
	return absolute(input->raw_path, out);
}

bool hook_cwd(const struct hook_input *input, struct str *out)
{
	return absolute(input->raw_cwd, out);
}

/* ---- answers ---- */

void hook_block(struct str *out, struct sv reason)
{
	struct jw w = JW_INIT(out);

	jw_object(&w);
	jw_put_cstr(&w, "decision", "block");
	jw_put_string(&w, "reason", reason);
	jw_end(&w);
	str_addc(out, '\n');
}

void hook_context(struct str *out, const char *event, struct sv text)
{
	struct jw w = JW_INIT(out);

	jw_object(&w);
	jw_key(&w, "hookSpecificOutput");
	jw_object(&w);
	jw_put_cstr(&w, "hookEventName", event);
	jw_put_string(&w, "additionalContext", text);
	jw_end(&w);
	jw_end(&w);
	str_addc(out, '\n');
}
