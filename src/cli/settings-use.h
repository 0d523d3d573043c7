/*
 * Settings as the rooms below want them.
 */
#pragma once

#include "assist/utterance.h"
#include "config/settings.h"

enum { SYSTEM_PROMPT_MAX = 256 * 1024 }; /* bytes of ai.system_prompt_path */

/* What is a command and what is not. */
int settings_utterances(
	const struct settings *s, struct utterances **ret, struct err *reterr) MUST_USE;

/* The keywords of a kind of command. */
const struct keywords *settings_keywords(const struct settings *s, enum utterance_kind kind);

/* The agent's system prompt, appended to out. Reads ai.system_prompt_path. */
int settings_system_prompt(
	const struct settings *s, bool voice, struct str *out, struct err *reterr) MUST_USE;

/* "de" or "en" for faden's own texts: the setting, else the locale. */
const char *settings_language(const struct settings *s);
