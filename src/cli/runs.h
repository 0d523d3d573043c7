/*
 * Runs of the pair (faden-master(1)) where a SESSION is named: what is no session may be a run of
 * this folder, and what can be done with a session is done with the run then.
 */
#pragma once

#include "cli/app.h"
#include "master/list.h"

struct run_named {
	struct master_list list; /* of its folder */
	const struct master_row *row;
};
#define RUN_NAMED_INIT                    \
	{                                 \
		.list = MASTER_LIST_INIT, \
	}
#define AUTO_RUN_NAMED CLEANUP(run_named_release) struct run_named
void run_named_release(struct run_named *run);

/* The run that has this id or name, or a part of one, or lies at this path; of another folder only
 * by its id or its whole name. r is what looking for a session came to: only what none was found
 * for can be a run. NULL names none. */
bool run_find(struct app *app, int r, const char *spec, struct run_named *ret);
/* The same of two. One of them alone is an error, which takes the place of *reterr: then negative.
 * 1: both are, and *paths has their files; 0: none is. */
int run_find_two(
	struct app *app, int r, char **specs, struct strv *paths, struct err *reterr) MUST_USE;

/* A run of another folder than `here`, by its id, the beginning of that, or its name; of several
 * none. The store knows where there are some. */
bool run_find_elsewhere(struct app *app, const char *here, const char *spec, struct run_named *ret);
/* The folders that have some, those that were active last first. */
void run_folders(struct app *app, const char *except, struct strv *out);
/* Whether the run in this file is worked on in a folder that it does not lie in. */
bool run_works_elsewhere(const struct master_state *s, const char *path);
/* Appends the command that goes on with the run in this file, where it was worked on last, to be
 * pasted here; with `id` it names
 * the run also where it is the latest of its folder. */
void run_again(
	struct app *app, const struct master_state *s, const char *path, bool id, struct str *out);

/* As if 'faden master' had been called with these words, NULL at the end, in the folder of the run
 * in this file, with --name (NULL: none) and --json. */
int run_master_words(struct app *app, const char *path, const char *const *words, const char *name,
	bool json, struct err *reterr) MUST_USE;

/* The worker's session of a run, whose instructions are what was said in it. ERR_NOTFOUND: none. */
int run_worker_session(
	struct app *app, const struct run_named *run, char **ret, struct err *reterr) MUST_USE;
