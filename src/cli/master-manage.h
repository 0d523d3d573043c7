/*
 * The part of "faden master" that does not run a pair: which runs there are, which one is meant,
 * and making one out of others.
 */
#pragma once

#include "cli/app.h"
#include "master/run.h"

/* Options, as they were given. */
struct master_manage {
	bool list, clean, dry_run, diff, stat, merge, unrelated, save_to_cloud, from_cloud;
	int64_t older_ms;
	const char *session_file, *import, *replay, *with_model;
	long long fork_at; /* negative: not given */
	/* … those that running one has too */
	const char *session, *name;
	bool resume, force, json;
};

/* ERR_INPUT: another run of the folder than `except` (NULL: any) is called so, and a name that two
 * have names neither. NULL is fine. */
int manage_check_name(
	const char *dir, const char *name, const char *except, struct err *reterr) MUST_USE;

/* Whether this is all that was asked for. */
bool manages_only(const struct master_manage *m, int argc);
/* Does it; argv are the words. */
int manage_runs(struct app *app, const char *dir, const struct master_manage *m, int argc,
	char **argv, struct err *reterr) MUST_USE;

/* A run that goes on from this one with another agent in both roles, up to its last round; told as
 * those that manage_runs() makes. name may be NULL. */
int manage_port(struct app *app, const char *path, const char *to, const char *name, bool json,
	struct err *reterr) MUST_USE;

/* A run whose file was just brought to this folder goes on here, with sessions of its own where
 * those of its agents are not here or are another run's. */
int manage_here(struct app *app, const char *dir, const char *path, struct err *reterr) MUST_USE;

/* Opens the run that is meant: a file, by id, name or a part of them, or the latest; and tells what
 * was found in it. */
int manage_open(struct app *app, const char *dir, const struct master_manage *m, unsigned flags,
	struct master_run **ret, struct err *reterr) MUST_USE;
/* With --fork-at-round: *run becomes a fork of it, with sessions of its own. */
int manage_fork(struct app *app, const char *dir, const struct master_manage *m,
	struct master_run **run, struct err *reterr) MUST_USE;
/* Sessions of the agents that are not on this machine are written back, and those that somebody
 * else went on in, or that the run this is a copy of has too, are copied as far as the run knows
 * them; that is told. was: the folder that the run was in (NULL: not known). */
int manage_sessions(struct app *app, const char *dir, const char *was, struct master_run *run,
	struct err *reterr) MUST_USE;
