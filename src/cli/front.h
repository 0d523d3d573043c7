/*
 * What the commands that talk to an agent share.
 */
#pragma once

#include "assist/kit.h"
#include "cli/app.h"
#include "store/catalogue.h"

/* The surroundings of this process as the kit takes them; who is to answer is the caller's. */
struct kit_opts front_kit_opts(const struct app *app);

/* Bytes that are NUL or not UTF-8 become U+FFFD; a note on app->err says how many. */
void front_replace_bytes(const struct app *app, struct str *text);
/* Words from the command line, and behind them what is on standard input, a pipe or a file. "-" as
 * the last word, or `wait`, says that it is to be waited for. ERR_LIMIT; *out has FRONT_TEXT_MAX.
 * Bytes that are no text are replaced. */
enum { FRONT_TEXT_MAX = 16 * 1024 * 1024 };
int front_read_text(struct app *app, int argc, char **argv, bool wait, struct str *out,
	struct err *reterr) MUST_USE;

/* ---- talking ---- */

extern const char *const front_permissions[]; /* words for --permission-mode */
#define OPT_PERMISSION(type, field)                                                        \
	OPT_WORD(0, "permission-mode", type, field, "MODE", front_permissions,             \
		"what the agent may do without asking: default, accept-edits, plan (only " \
		"reads) or bypass (everything)")

struct front {
	struct app *app;
	struct loop *loop;
	struct kit kit;
	struct assistant *assistant;
	struct assistant_ui ui;
	bool speaking; /* a paragraph of the answer is open */
	struct strv held; /* notices that wait for its end */
	bool resends;
	void (*runs)(void *data, bool begins);
};

struct front_opts {
	const char *agent; /* --agent; NULL: whoever is chosen */
	const char *model; /* --model */
	const char *permission; /* --permission-mode */
	bool answers; /* ui answers AGENT_EV_ASK, by assistant_answer() */
	bool single; /* one sentence from the command line, no conversation */
	bool see_off; /* single: somebody waits for the shell's prompt behind it */
	bool waits; /* nobody could say it again: a conversation in use is waited for */
	bool may_ask; /* offer the installed agents when none was chosen yet */
	bool resends; /* front_recover() may send again what was lost */
	bool voice; /* spoken to and read aloud */
	/* A notice never comes within a paragraph: ui ends the one it is in at AGENT_EV_BREAK,
	 * _TOOL_BEGIN, _ASK and _DONE. AGENT_EV_NOTICE comes as a notice, and so do the words of
	 * AGENT_EV_RETRY. */
	struct assistant_ui ui;
	/* Around the loop of every front_say(), also those of front_recover(); may be NULL; data is
	 * that of ui. */
	void (*runs)(void *data, bool begins);
	/* SIGINT, SIGTERM and SIGHUP; data is that of ui. */
	loop_signal_fn signal;
};
int front_open(struct front *f, struct app *app, const struct front_opts *opts,
	struct err *reterr) MUST_USE;
void front_close(struct front *f); /* harmless after a failed front_open() */

/* A turn begins: a desktop notice where one is wanted. True with a line about who answers. */
bool front_begin(const struct front *f, const struct conv *c, struct str *ret_hint);
/* Says it and runs the loop until it is done; *ret_out is valid until the next sentence. A failure
 * of ours is returned, with *ret_out as far as it came, else NULL. */
int front_say(struct front *f, const struct request *req, const struct assistant_outcome **ret_out,
	struct err *reterr) MUST_USE;
/* For who runs the loop and calls assistant_say() itself: a desktop notice of how it ended. */
void front_said(const struct front *f, const struct assistant_outcome *out);
/*
 * Tells what was interrupted in this folder, and sends again what did not reach its agent: by
 * itself or, where one can be asked at this terminal, with the user's word (ai.resend). `running`
 * and `next` as in assistant_recover(). Call it before the first sentence. What cannot be sent
 * again is a notice, no failure; ERR_CANCELLED: the user stopped it, and nothing should follow by
 * itself.
 */
int front_recover(
	struct front *f, enum turn_running running, struct sv next, struct err *reterr) MUST_USE;
/* One line that says why the agent failed. */
void front_failure(FILE *to, const struct turn_outcome *out);
/* Exit status for what became of a sentence. */
int front_status(const struct assistant_outcome *out);

/* Starts the program anew with its arguments, but for those that are for one start only, in that
 * conversation (NULL: what goes on) and with one more variable (NULL: none) in its environment.
 * Only returns on failure. */
int front_restart(
	struct app *app, const char *in, const char *variable, struct err *reterr) MUST_USE;

/* ---- asking ---- */

/* Puts a close choice to whom the settings name, and waits for it; SIGINT and SIGTERM cancel. What
 * is not to be asked leaves *ret as it is. The caller frees its place. */
int front_judge(struct kit *kit, const struct decide_opts *how, struct sv text,
	const struct decision *d, struct judgement *ret, struct err *reterr) MUST_USE;

/*
 * A question about a session to the agent of that name; NULL: the one that is configured, else the
 * session's own. It has no tools and keeps nothing; SIGINT and SIGTERM cancel it. On a terminal,
 * app->err says who is asked. *ret_agent (may be NULL) is the agent's name, a constant.
 */
int front_question(struct app *app, const char *agent, const struct session_row *about,
	const char *schema, struct sv prompt, struct str *answer, const char **ret_agent,
	struct err *reterr) MUST_USE;
