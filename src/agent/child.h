/*
 * An agent's process on an event loop: input is written as fast as it is taken, both outputs are
 * always read, the end of what it says on standard error is kept for messages. Private to the
 * room.
 *
 * Tools that an agent runs often have a session of their own and outlive it when it is killed.
 * Every process that descends from a child carries a mark of the child in its environment, so
 * that those can be found after they have lost their parent. The mark names us as well: after a
 * crash the next one finds the agent that we left behind, however short it has been running.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "base/uuid.h"
#include "os/loop.h"
#include "os/proc.h"

enum {
	CHILD_ERRORS_KEPT = 4096, /* bytes of standard error */
	CHILD_MARK_MAX = 96,
	CHILD_READ = 64 * 1024, /* bytes of one read() */
	CHILD_DRAIN_MAX = 4 * 1024 * 1024, /* bytes taken after the end: others may hold the pipe */
};

struct child;
struct child_ops {
	/* A piece of standard output. Must not release or restart the child. */
	void (*out)(void *data, struct sv bytes);
	/* The process has ended and all it wrote has been passed on; status is as from waitpid().
	 * The child may be started again here. */
	void (*ended)(void *data, int status);
};

struct child {
	struct loop *loop;
	const struct child_ops *ops;
	void *data;
	struct proc proc;
	int reader; /* the other end of its input, ours to look at when it has ended; -1: none */
	struct loop_source *in_source, *out_source, *err_source, *end_source;
	struct loop_source *leave_timer; /* the next step of child_leave() */
	int64_t leave_ms;
	bool leaves; /* nobody listens any more */
	bool forced; /* … and it did not go by itself */
	struct str input;
	size_t input_at;
	bool close_input;
	uint64_t queued; /* bytes of input in all, and how many of them are in its pipe or read */
	uint64_t written;
	uint64_t unread; /* left in the pipe at its end */
	struct str errors;
	char mark[CHILD_MARK_MAX]; /* PID.START.UUID: whose child it is, and which one */
};

void child_init(struct child *c, struct loop *loop, const struct child_ops *ops, void *data);
/* Kills what runs. Leaves it ready for child_start(). */
void child_release(struct child *c);

/* envp is not NULL and does not hold the mark. */
int child_start(struct child *c, const char *const *argv, const struct strv *env, const char *cwd,
	struct err *reterr) MUST_USE;
bool child_running(const struct child *c);
/* Queues input; with `last`, the child reads the end of the file behind it. */
void child_write(struct child *c, struct sv data, bool last);
/* Whether it can have read the first n bytes of its input (c->queued: all of it). */
bool child_took(const struct child *c, uint64_t n);
/* To the child's group. */
void child_signal(const struct child *c, int sig);
/* KILL to the child and everything below it. It ends as usual, by ops->ended. */
void child_kill(struct child *c);
/* KILL to what the last child has left behind; call after its end. Returns how many there were. */
size_t child_sweep(const struct child *c);
/* Begins to end it: end of input, TERM after half of `ms`, KILL to the tree after all of it. What
 * it still says is not passed on; its end comes by ops->ended. */
void child_leave(struct child *c, int64_t ms);
/*
 * Ends it here and now, without a call to ops: end of input (with `busy` an interrupt as well),
 * then TERM, then KILL to the tree; waits half of `ms` each. With `see_off`, for who ends right
 * after, one that is not busy and takes longer than people notice is left to a process that does
 * the same with more patience.
 */
void child_end(struct child *c, bool busy, int64_t ms, bool see_off);
/* The last line it wrote to standard error that says something, scrubbed; empty when none. */
void child_last_error(const struct child *c, struct str *out);

/* ---- what another of us keeps ---- */

/* Asks who hears it to end the agents that only wait for their next turn, since somebody else wants
 * a session of theirs. It is one that nobody is harmed by who does not listen. */
enum { CHILD_LET_GO = SIGURG };
/* Whether this process started it, or one that it came from. */
bool child_is_ours(pid_t pid);
/* Who of us, another than this process, started it and is still there; 0: nobody. */
pid_t child_keeper(pid_t pid);
/* Asks them to let go of it; nothing when there is nobody. */
void child_ask_keeper(pid_t pid);
/* How long that may take, with an agent that does not want to end. */
enum { CHILD_LET_GO_MS = 10000 };

/* ---- what a process that is gone has left behind ---- */

/* The agent that `owner`, who is gone, had started and that still runs; 0: none. Not the tools that
 * it started in turn. */
pid_t child_left_by(const struct proc_id *owner);
/* Whether the process was started by one of us who is gone. */
bool child_is_orphan(pid_t pid);
/* A signal to the group of an orphan; nothing when it is none (any more). */
void child_signal_orphan(pid_t pid, int sig);
