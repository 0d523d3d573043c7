/*
 * The conversation loops behind plain `faden`: at a terminal, and line by line on a pipe.
 */
#pragma once

#include "cli/front.h"

struct talk_opts {
	bool new_session;
	const char *in; /* a session; NULL: what goes on here */
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
	TALK_ENTER, /* another conversation */
	TALK_RUN, /* one of our commands */
	TALK_MISTYPED, /* nearly one of ours: it is not sent */
	TALK_UNKNOWN, /* looks like one of ours and is none: it goes to the agent, which is said */
};
extern const char *const talk_help[]; /* lines, until NULL */

/* What a whole line is; *args (appended) are the words of the command for TALK_RUN, the word that
 * may have been meant for TALK_MISTYPED, and the name, if any, for TALK_ENTER. */
enum talk_word talk_word_of(struct sv text, struct strv *args);
/* Does what TALK_CLEAR, TALK_UNDO, TALK_ENTER or TALK_COMPACT says, and appends what is said about
 * it, as about TALK_MISTYPED and TALK_UNKNOWN. */
int talk_answer(const struct front *f, enum talk_word word, const struct strv *args,
	struct str *said, struct err *reterr) MUST_USE;
/* The talk is in the conversation of this session from now on; *ret is that, *said (appended) what
 * there is to say of it. agent: that must be its agent; NULL: any. */
int talk_enter(const struct front *f, const char *session, const char *agent, struct conv *ret,
	struct str *said, struct err *reterr) MUST_USE;
/* Runs one of our commands on the same streams, and waits for it. */
int talk_run(const struct app *app, const struct strv *args, struct err *reterr) MUST_USE;
