/*
 * The agent's settings file with and without our hooks. Works on its text: every byte that is not
 * ours stays as it is.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"

enum { HOOK_SETTINGS_MAX = 4 * 1024 * 1024, HOOK_TIMEOUT_S = 60 };

/* The events that faden answers, and the command word of each. */
struct hook_event {
	const char *event; /* "UserPromptSubmit" */
	const char *verb; /* "user-prompt-submit" */
};
extern const struct hook_event hook_events[];
extern const size_t hook_events_n;

enum hook_state {
	HOOK_ABSENT,
	HOOK_OTHER, /* there, but it runs another faden */
	HOOK_INSTALLED,
};
const char *hook_state_name(enum hook_state state); /* "absent", "other", "installed" */

/*
 * Appends the text with our hook for every event, or without any. Ours is a command that is exactly
 * what install writes, for this program or another faden; returns how many events change
 * (0: out holds the same text). ERR_INPUT names the line of what is not JSON, or the member that
 * is not what the agent expects; out is then as before. An empty text counts as {}.
 */
int hook_settings_install(
	struct sv text, const char *program, struct str *out, struct err *reterr) MUST_USE;
int hook_settings_remove(
	struct sv text, const char *program, struct str *out, struct err *reterr) MUST_USE;
/* Adds the commands of the user's own that have to do with our hook for the event, which are never
 * touched. */
void hook_settings_own(
	struct sv text, const struct hook_event *event, const char *program, struct strv *ret);
/* states has hook_events_n of them. */
int hook_settings_look(
	struct sv text, const char *program, enum hook_state *states, struct err *reterr) MUST_USE;
