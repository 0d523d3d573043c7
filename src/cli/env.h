/*
 * The environment. env.c is the only file of the program that reads it.
 */
#pragma once

#include <stddef.h>

#include "cli/app.h"

/* Set for the commands that a talk runs. */
#define ENV_TALKING "FADEN_TALKING"

/* The value, or NULL when it is unset or empty. */
const char *env_get(const char *name);
/* XDG folders, agents' homes, PATH. */
int env_paths(struct app_paths *ret, struct err *reterr) MUST_USE;
/* FADEN_CLOCK: an ISO time or milliseconds since 1970 stop the clock there. */
int env_clock(struct clock *ret, struct err *reterr) MUST_USE;
/* The user's pager: NULL when not set, "" when none is wanted. */
const char *env_pager(void);
/* The whole environment. */
const char *const *env_all(void);
/* "de", "en", … from LC_ALL, LC_MESSAGES, LANG; "en" when they say nothing. */
const char *env_language(char out[static 3]);
/* Can a line be erased on this terminal? */
bool env_shows_lines(bool terminal);
/* Sets the locale of characters, for the line editor; what is typed is UTF-8 in any case. Called by
 * the commands that need it, since it opens files. True when UTF-8 may be shown as well. */
bool env_use_locale(void);
