/*
 * The agents' hooks: what Claude Code and Codex say on standard input when a prompt is sent, a
 * session starts or a context is to be compacted, and what it is answered.
 *
 * A prompt that is none of ours is the usual case, and must cost next to nothing: hook_word() on
 * the parsed input is all it needs.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"

enum {
	HOOK_INPUT_MAX = 16 * 1024 * 1024, /* bytes of standard input that are looked at */
	HOOK_REST_MAX = 16 * 1024, /* bytes of what follows one of our words */
	HOOK_PATH_MAX = 4096,
};

enum hook_word {
	HOOK_NONE, /* a prompt for the agent */
	HOOK_RESUME,
	HOOK_CONTINUE,
	HOOK_HANDOFF,
	HOOK_TRIM,
	HOOK_ADVISE,
	HOOK_LINEAGE,
};

/* Values of the input, as they stand in it; missing ones are empty. */
struct hook_input {
	struct sv json;
	struct sv event; /* "UserPromptSubmit"; these three hold no escapes */
	struct sv session; /* a session id as the agents make them, else empty */
	struct sv source; /* SessionStart: "startup", "resume", "clear", "compact" */
	struct sv raw_prompt, raw_path, raw_cwd; /* with quotes */
};

/* ERR_INPUT when the text is no JSON object. ret points into json. */
int hook_parse(struct sv json, struct hook_input *ret, struct err *reterr) MUST_USE;

/* Which of our words a text begins with, any case, as a whole word right behind '>'; *ret_rest is
 * what follows it, without blanks around it. */
enum hook_word hook_word_of(struct sv text, struct sv *ret_rest);
/* Which of our words the prompt begins with, by the same rule. *rest (appended; may be NULL) is
 * what follows it. */
enum hook_word hook_word(const struct hook_input *input, struct str *rest);
const char *hook_word_name(enum hook_word word); /* "resume" */

/* Absolute paths, decoded; false when there is none or it cannot be one. */
bool hook_transcript(const struct hook_input *input, struct str *out);
bool hook_cwd(const struct hook_input *input, struct str *out);

/* ---- answers; each one line of JSON ---- */

/* The prompt does not go to the model; the user sees the reason. */
void hook_block(struct str *out, struct sv reason);
/* Text that the model is given beside the conversation. */
void hook_context(struct str *out, const char *event, struct sv text);
