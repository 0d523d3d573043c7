/*
 * The conversation loops behind plain `faden`: at a terminal, and line by line on a pipe.
 */
#pragma once

#include "cli/front.h"

struct talk_opts {
	bool new_session;
	const char *agent;
	const char *model;
	const char *permission;
};

/* Both return an exit status or a negative error. */
int talk_at_terminal(struct app *app, const struct talk_opts *opts, struct err *reterr);
int talk_by_lines(struct app *app, const struct talk_opts *opts, struct err *reterr);

/* ---- what is for faden itself (talk-words.c) ---- */

enum talk_word {
	TALK_AGENT, /* none of ours */
	TALK_LEAVE,
	TALK_HELP,
	TALK_CLEAR, /* a reset */
	TALK_UNDO,
	TALK_COMPACT,
	TALK_RUN, /* one of our commands */
	TALK_MISTYPED, /* nearly one of ours: it is not sent */
	TALK_UNKNOWN, /* looks like one of ours and is none: it goes to the agent, which is said */
};
extern const char *const talk_help[]; /* lines, until NULL */

/* What a whole line is; *args (appended) are the words of the command for TALK_RUN, and the word
 * that may have been meant for TALK_MISTYPED. */
enum talk_word talk_word_of(struct sv text, struct strv *args);
/* Does what TALK_CLEAR, TALK_UNDO or TALK_COMPACT says, and appends what is said about it, as about
 * TALK_MISTYPED and TALK_UNKNOWN. */
int talk_answer(const struct front *f, enum talk_word word, const struct strv *args,
	struct str *said, struct err *reterr) MUST_USE;
/* Runs one of our commands on the same streams, and waits for it. */
int talk_run(const struct app *app, const struct strv *args, struct err *reterr) MUST_USE;
