/*
 * A run of the pair on disk, below a folder (MASTER_FOLDER of the work folder):
 *
 *	sessions/session-ID.json     the run as one JSON object (master/snapshot.h)
 *	sessions/session-ID.journal  the steps since, one a line; gone when the run is closed
 *	sessions/session-ID.lock     who runs it
 *	sessions/current.json        {"sessionId": …}: the one that was run last
 *	.gitignore                   everything
 *
 * A step is on disk when master_step() returns 0. The journal is folded into the snapshot when the
 * run is closed, and when it has become larger than that: so the cost of a step does not grow with
 * the history. A crash at any point leaves the old state or the new one.
 */
#pragma once

#include "base/clock.h"
#include "master/state.h"

#define MASTER_FOLDER ".claude-master"

struct master_run;

enum master_flags {
	MASTER_NO_AUTO_SAVE = 1 << 0, /* steps are kept in memory until master_save() or _close() */
	/* Nothing is changed: no lock is taken, so that it may run meanwhile, and no step added.
	 * Only for runs in our own form. */
	MASTER_LOOK = 1 << 2,
	MASTER_FORCE = 1 << 1, /* take a newer version, and what is left of a damaged journal */
};

/* What was found when it was opened, to be told. */
enum master_found {
	MASTER_FOUND_TORN =
		1 << 0, /* the last step was cut off by a crash: it had not been saved */
	MASTER_FOUND_CRASH = 1 << 1, /* it was not closed */
	MASTER_FOUND_CLOCK_BACK = 1 << 2, /* the clock is behind the last step's */
	MASTER_FOUND_NEWER = 1 << 3, /* forced: a newer faden wrote it */
	MASTER_FOUND_DAMAGED = 1 << 4, /* forced: steps are missing, the rest is set aside */
	MASTER_FOUND_OLDER = 1 << 5, /* it was in an older form; the file as it was has ".old" at
					its end */
	MASTER_FOUND_EDITED = 1 << 6, /* the same, but somebody had changed a file of ours */
	MASTER_FOUND_LOST = 1 << 7, /* some of it could not be understood and was left there */
	MASTER_FOUND_KEYS = 1 << 8, /* it held keys or tokens, which were not taken over */
	MASTER_FOUND_OTHER_ID = 1 << 9, /* its own id was taken already */
};

/* The forms that a run can have on disk. */
enum master_form {
	MASTER_FORM_OURS,
	MASTER_FORM_EDITED, /* ours, changed by hand */
	MASTER_FORM_FIRST, /* one object of the first design */
	MASTER_FORM_RECORDS, /* claude-master's: a record a line */
};

/* A new run with its first step, the configuration; current from here on. name may be NULL. */
int master_create(const char *root, const struct master_config *config, const char *name,
	unsigned flags, const struct clock *clock, struct master_run **ret,
	struct err *reterr) MUST_USE;
/*
 * id NULL: the one that was run last. Becomes current. ERR_NOTFOUND; ERR_BUSY with the process that
 * has it; ERR_NEWER; ERR_INPUT when it is damaged.
 */
int master_open(const char *root, const char *id, unsigned flags, const struct clock *clock,
	struct master_run **ret, struct err *reterr) MUST_USE;
/* The run in a file that lies anywhere; its journal and its lock lie beside it. */
int master_open_file(const char *path, unsigned flags, const struct clock *clock,
	struct master_run **ret, struct err *reterr) MUST_USE;
/*
 * A new run made of one in another form, which stays as it is: a session file of claude-master, or
 * any that master_open_file() takes. With its own id if that is free. What there is to tell is in
 * master_found().
 */
int master_import(const char *root, const char *path, const struct clock *clock,
	struct master_run **ret, struct err *reterr) MUST_USE;
/*
 * A new run with the steps of another up to the end of a round, named, and current. The agents'
 * sessions are those of the first run: who goes on gives it others. ERR_NOTFOUND: there was no such
 * round.
 */
int master_fork(struct master_run *from, const char *root, int64_t round, const char *name,
	struct master_run **ret, struct err *reterr) MUST_USE;
/* Numbers it, makes it durable, folds it in. On failure state and file are as before. */
int master_step(
	struct master_run *run, const struct master_step *step, struct err *reterr) MUST_USE;
/* What is in memory only with MASTER_NO_AUTO_SAVE is on disk afterwards. */
int master_save(struct master_run *run, struct err *reterr) MUST_USE;
/* Saves, folds the journal in and gives the run free, also when that failed: then the journal is
 * still there and nothing is lost. NULL is fine. */
int master_close(struct master_run *run, struct err *reterr);

const struct master_state *master_state(const struct master_run *run);
unsigned master_found(const struct master_run *run);
const char *master_path(const struct master_run *run); /* of the snapshot */
/* What was kept beside a file of a run as it was, by when: "PATH.old", "PATH.old.2" …; ending is
 * "old" or, of a journal, "damaged". Owned by the caller. */
char *master_beside(const char *path, const char *ending, unsigned i);

/* Every step in order. fn ends it by another value than 0, which is then the result. */
typedef int (*master_step_fn)(void *data, const struct master_step *step, struct err *reterr);
int master_steps(
	struct master_run *run, master_step_fn fn, void *data, struct err *reterr) MUST_USE;
