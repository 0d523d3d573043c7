/*
 * The hook command in parts: what our words do, and the agent's settings file.
 */
#pragma once

#include "cli/app.h"
#include "strategy/hook.h"

/* hook-words.c: does what the word says and appends what the user is to read. What goes wrong is
 * told there too, and logged. */
void hook_answer(struct app *app, const struct hook_input *input, enum hook_word word,
	struct sv rest, struct str *out);

/* hook-install.c */
struct hook_options {
	const char *agent; /* NULL: the first that has hooks */
	bool project;
	bool json;
};
int hook_install(struct app *app, const struct hook_options *opts, struct err *reterr) MUST_USE;
int hook_remove(struct app *app, const struct hook_options *opts, struct err *reterr) MUST_USE;
/* 1 when one of the hooks is missing. */
int hook_status(struct app *app, const struct hook_options *opts, struct err *reterr) MUST_USE;
