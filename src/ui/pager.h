/*
 * Long output through a pager, when the output is a terminal and a pager can be started; otherwise
 * straight to the output. Either way the caller writes to pager_term() and need not know.
 *
 * While the pager runs, Ctrl-C is its own business: SIGINT, SIGQUIT and SIGPIPE are blocked in the
 * calling thread. One thread opens and closes.
 *
 * A user who quits the pager early is no error: the rest of the output is dropped, and
 * pager_term()->broken says so, for callers that have much left to do.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>

#include "base/err.h"
#include "os/proc.h"
#include "ui/term.h"

struct pager_opts {
	const char *command; /* the value of PAGER: a shell command. NULL: the default, less, quits
			      * when all fits one screen. "" and "cat": no pager */
	const char *path; /* the value of PATH */
	const char *const *envp; /* the program's environment */
};

struct pager {
	struct term *screen;
	struct term pipe;
	struct proc proc;
	struct term_mode mode; /* the screen's, for a pager that dies */
	sigset_t mask; /* the caller's, while the pager runs */
	bool running;
};

/* Never fails: without a pager, output goes to `screen`. */
void pager_open(struct pager *p, struct term *screen, const struct pager_opts *opts);
struct term *pager_term(struct pager *p);
/* Writes the rest and waits until the user leaves the pager. */
int pager_close(struct pager *p, struct err *reterr) MUST_USE;
