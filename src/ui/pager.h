/*
 * Long output through a pager on a terminal.
 *
 * While the pager runs, Ctrl-C is its own business: SIGINT, SIGQUIT and SIGPIPE are blocked in the
 * calling thread, and what came of them is forgotten at the end. A user who leaves the pager early
 * makes writes fail with EPIPE, which is no error for anybody. One thread opens and closes.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>

#include "base/attr.h"
#include "os/proc.h"
#include "ui/term.h"

struct pager_opts {
	const char *command; /* the value of PAGER: a shell command. NULL: the default, less, which
			      * leaves by itself when all fits one screen. "", "cat": no pager */
	bool stays; /* less does not leave by itself, nor leaves the text on the screen */
	const char *path; /* the value of PATH */
	const char *const *envp; /* the program's environment */
	int out_fd; /* the terminal */
	const char *term_name; /* the value of TERM; NULL, "" and "dumb": no pager */
};

struct pager {
	struct proc proc;
	struct term_mode mode; /* for a pager that dies without tidying up */
	sigset_t mask; /* the caller's */
	bool running;
};
#define PAGER_INIT                                        \
	{                                                 \
		.proc = PROC_INIT, .mode = TERM_MODE_INIT \
	}

/* True when the pager runs: *ret_fd (blocking) takes the text, and is the caller's to close before
 * pager_close(). False when none is wanted or none can be started: write to the terminal. */
bool pager_open(struct pager *p, const struct pager_opts *opts, int *ret_fd) MUST_USE;
/* Waits until the user leaves the pager. Harmless when none runs. */
void pager_close(struct pager *p);
