/*
 * The user's command that looks at the result, on the loop: its status and the end of what it
 * prints.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"
#include "os/loop.h"
#include "os/proc.h"

enum { CHECK_KEPT = 8 * 1024 /* bytes of its output */ };

struct check {
	struct loop *loop;
	struct proc proc;
	struct loop_source *out, *end;
	struct str tail;
	void (*done)(void *data, int status, struct sv tail); /* status as a shell tells it */
	void *data;
};
#define CHECK_INIT                                  \
	{                                           \
		.proc = PROC_INIT, .tail = STR_INIT \
	}
int check_start(struct check *c, struct loop *loop, const char *command, const char *dir,
	const char *const *envp, struct err *reterr) MUST_USE;
static inline bool check_runs(const struct check *c)
{
	return c->proc.pid != 0;
}
/* Kills it; done does not come. Harmless when none runs. */
void check_stop(struct check *c);
