/*
 * A run of the pair as a person sees it: who speaks, in which round, what the worker is told; on a
 * terminal with a status line, keys and questions for permission, elsewhere plain lines.
 */
#pragma once

#include "cli/app.h"
#include "cli/permit.h"
#include "master/pair.h"
#include "ui/markdown.h"
#include "ui/status.h"

struct master_screen {
	struct app *app;
	struct loop *loop;
	struct pair *pair; /* set before it begins */
	const struct master_run *run;
	const char *again; /* the command that goes on with it; borrowed */
	bool keys; /* somebody is at a terminal and sees it */
	struct front front; /* only its loop */
	struct term term;
	struct term_mode mode;
	struct markdown markdown;
	struct status status;
	struct permit permit;
	struct loop_source *tick, *pause;
	int64_t began_ms;
	enum master_role role; /* who speaks */
	bool begun; /* something is shown */
	bool spoke; /* since its heading */
	bool interrupts; /* Escape was pressed: what runs is being stopped */
	bool paused;
	struct err lost; /* why the terminal takes nothing more; code 0: it does */
};

int master_screen_open(struct master_screen *s, struct app *app, struct loop *loop,
	const struct master_run *run, struct err *reterr) MUST_USE;
void master_screen_event(struct master_screen *s, const struct pair_event *ev);
/* A line of ours. */
void master_screen_say(struct master_screen *s, const char *line);
/* It is about to end: Ctrl-C was heard. */
void master_screen_leaves(struct master_screen *s);
void master_screen_close(struct master_screen *s);
