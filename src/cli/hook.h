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

/*
 * hook-backup.c: what an agent's settings file was before each change, in the data folder. The last
 * BACKUPS_MAX of a file are kept, and beyond them the last one without hooks of ours.
 */
enum { BACKUPS_MAX = 10 };
/* The caller frees *ret, the path of the copy. A text that the last one has already is not kept
 * twice. */
int hook_backup_keep(
	struct app *app, const char *path, struct sv text, char **ret, struct err *reterr) MUST_USE;
/* The last one that fn accepts, in *out. */
bool hook_backup_find(struct app *app, const char *path, bool (*fn)(void *data, struct sv text),
	void *data, struct str *out);
