/*
 * Child processes and the identity of processes.
 *
 * A child starts in its own process group (so that a whole tree can be signalled), with default
 * signal dispositions and an empty mask, with no inherited descriptors but 0, 1 and 2. A program
 * that cannot be executed is an error of proc_spawn(), not a child that exits 127.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"

enum {
	PROC_NULL = -1, /* /dev/null */
	PROC_PIPE = -2, /* a pipe; our end is in struct proc, non-blocking, close-on-exec */
	PROC_INHERIT = -3, /* ours */
};

struct proc_opts {
	/* argv[0] is the file to execute, found by the caller; a relative one is meant from cwd. */
	const char *const *argv;
	const char *const *envp; /* its environment, never NULL: ours is not looked at */
	const char *cwd; /* NULL: ours */
	int in, out, err; /* a descriptor, or one of PROC_NULL, PROC_PIPE, PROC_INHERIT */
	bool same_group; /* stay in our group (to share the terminal) */
};

struct proc {
	pid_t pid; /* 0: none */
	int pidfd; /* readable when the child has ended */
	int in; /* our ends of the pipes, -1 when there is none */
	int out;
	int err;
	bool grouped;
};
#define PROC_INIT                                           \
	{                                                   \
		.pidfd = -1, .in = -1, .out = -1, .err = -1 \
	}

/* On failure *p is PROC_INIT. Descriptors given in opts stay the caller's. */
int proc_spawn(struct proc *p, const struct proc_opts *opts, struct err *reterr) MUST_USE;
/* True when the child has ended; *ret_status (may be NULL) is then as from waitpid(), and p->pid
 * is 0 from there on. Never waits for others. */
bool proc_reap(struct proc *p, bool wait, int *ret_status);
/* A signal to the child's whole group (or the child alone with same_group). */
void proc_signal(const struct proc *p, int sig);
/* Writes to the child's input what the pipe takes now: bytes written (0: it is full, wait for
 * POLLOUT), or -errno; -EPIPE when the child does not read any more. Never raises SIGPIPE. */
ssize_t proc_write(const struct proc *p, struct sv data) MUST_USE;
/* Closes our end of the child's input: it reads the end of the file. Harmless when closed. */
void proc_close_in(struct proc *p);
/* Every living descendant of pid by /proc, also those that left the group or the session, and
 * the members of the group that pid leads even when their parent has ended. Without pid itself.
 * The caller frees *ret_pids (NULL when there is none). */
void proc_descendants(pid_t pid, pid_t **ret_pids, size_t *ret_n);
/* The arguments a process was started with, each ended by a NUL. False when it is gone, a zombie or
 * of the kernel. */
bool proc_arguments(pid_t pid, struct str *out);
/* Of arguments or environment that are read; the kernel allows less on common systems. */
enum { PROC_WORDS_MAX = 4 * 1024 * 1024 };
/* A variable of the environment that a process was started with, appended. 0 when it has none of
 * that name; -1 when that cannot be known (another user's process, or gone). */
int proc_variable(pid_t pid, const char *name, struct str *out) MUST_USE;
/* The variable that every process has which an agent of ours is, or has started. */
#define PROC_MARK "FADEN_RUN"
/* The first process that fn accepts by its arguments, 0 when there is none. */
pid_t proc_find(bool (*fn)(void *data, pid_t pid, struct sv arguments), void *data);
/* The command of a faden, appended: of the words that it was started with only a name, nothing that
 * was typed. */
void proc_command(pid_t pid, struct str *out);
/* Who that is, for messages, appended: "NAME (process PID)", of a faden with its command. */
void proc_describe(pid_t pid, struct str *out);
/* How much a process has worked (time on processors, in clock ticks), and whether it is stopped.
 * False when it is gone. */
bool proc_work(pid_t pid, uint64_t *ret_ticks, bool *ret_stopped);
/* Who holds the flock() of this file; 0 when that cannot be seen from here. */
struct stat;
pid_t proc_locker_of(const struct stat *file);
/* Another process that has this file open for writing, 0 when none is seen: those of other users
 * are not, nor what is only mapped. "NAME (process PID)" is appended to *out (may be NULL). */
pid_t proc_writer_of(const struct stat *file, struct str *out);
/* KILL to the group and to every descendant that was alive when asked; all are stopped first, so
 * that none can fork away. Does nothing once the child has been reaped. */
void proc_kill_tree(const struct proc *p);
/* Closes the pipes; kills the tree and reaps unless proc_reap() has said that the child ended:
 * what a child leaves running on purpose is then left alone. Leaves PROC_INIT. */
void proc_release(struct proc *p);
/* Exit status for messages: "exit status 3", "killed by signal 9". */
void proc_describe_status(int status, char *out, size_t size);

/*
 * Runs to the end of the child with input from `in`, output collected up to max bytes each (NULL:
 * thrown away); opts->in, out and err are not looked at. For small helpers: versions, clipboard,
 * dot. The tree is killed at the deadline (milliseconds, 0: none), which is -ETIMEDOUT, and when it
 * writes more than max: ERR_LIMIT.
 */
int proc_run(const struct proc_opts *opts, struct sv in, int64_t timeout_ms, size_t max,
	struct str *out, struct str *errout, int *ret_status, struct err *reterr) MUST_USE;

enum { PROC_BOOT_MAX = 37 };
/* What boot of the machine this is; empty when unknown. */
void proc_boot(char ret[static PROC_BOOT_MAX]);

/* Identity that survives pid reuse and reboot. */
struct proc_id {
	pid_t pid;
	uint64_t start; /* start time in clock ticks since boot, from /proc/PID/stat field 22 */
	char boot[PROC_BOOT_MAX]; /* as proc_boot() says */
	char host[65];
};
int proc_id_self(struct proc_id *ret, struct err *reterr) MUST_USE;
/* The session of processes that we belong to, which is the terminal where there is one: who began
 * it, also when that is gone, or outside of what can be seen (pid 0). */
void proc_id_session(struct proc_id *ret);
/* Start time of a process, 0 when there is none or it is a zombie. */
uint64_t proc_start_time(pid_t pid);
enum proc_alive { PROC_GONE, PROC_ALIVE, PROC_ELSEWHERE /* another host: cannot be known */ };
enum proc_alive proc_id_check(const struct proc_id *id);
