/*
 * Makes the assistant for a command: who answers, where, with which words; from settings, options
 * and what is installed.
 */
#pragma once

#include "assist/assist.h"
#include "cli/app.h"
#include "cli/routing.h"

struct assistant_opts {
	const char *agent; /* --agent; NULL: by settings, memory, question, else rehearsal */
	const char *agent_by; /* what else names it, for messages; NULL: --agent */
	const char *model; /* --model; NULL: by settings */
	bool may_ask; /* on a terminal: offer the installed agents once */
	bool keep_alive; /* many turns are to come */
	bool one_shot; /* a single sentence: it is routed unless that is turned off */
	bool commands; /* recognise spoken and typed commands */
	struct assist_ui ui;
};

enum { ASSISTANT_HOMES = 3 };

struct assistant {
	struct app *app;
	struct assist_ui ui; /* the front end's */
	struct assist *assist;
	struct loop *loop;
	struct utterances *rules;
	struct router *router;
	struct routing_tasks tasks;
	enum agent_kind kind;
	bool forced; /* asked for by name */
	bool by_default; /* nothing was configured, chosen or installed: rehearsal */
	enum text_language language;
	char *dir;
	char *project;
	/* What the agents' options borrow. */
	char *programs[AGENT_KINDS];
	char *rehearsal_home;
	char *system_prompt;
	struct transcript_home homes[ASSISTANT_HOMES];
	struct agent_opts agents[AGENT_KINDS];
};

int assistant_open(struct app *app, const struct assistant_opts *opts, struct assistant *a,
	struct err *reterr) MUST_USE;
/* assist_say(), with desktop notices where they are wanted. */
int assistant_say(struct assistant *a, const struct assist_request *req, struct assist_outcome *out,
	struct err *reterr) MUST_USE;
void assistant_close(struct assistant *a); /* harmless on a zeroed one */

/* The folder that conversations belong to: ai.working_directory, else where we are. Resolved,
 * owned by the caller. */
int assistant_dir(struct app *app, char **ret, struct err *reterr) MUST_USE;
enum text_language assistant_language(const struct app *app);
/* Our own homes of transcripts, pointing into app and rehearsal_home. */
void assistant_homes(
	const struct app *app, const char *rehearsal_home, struct transcript_home *homes);
char *assistant_rehearsal_home(const struct app *app);

/* One line that says what the rehearsal agent is and how to get a real one; NULL when it is not the
 * one who answers in c, was chosen, or has been introduced before. */
const char *assistant_hint(const struct assistant *a, const struct conv *c);

/* Why a turn failed, with the agent's name in front unless the message begins with it. */
void assistant_explain(const struct assist_outcome *out, struct str *ret);
/* Why the agent tries again and when, for the event AGENT_EV_RETRY. */
void assistant_retry(const struct agent_event *ev, struct str *ret);
/* That a turn was cancelled, and what was done by then, in the user's language. */
void assistant_cancelled(
	const struct assistant *a, const struct assist_outcome *out, struct str *ret);
/* Exit status for what became of a sentence. */
int assistant_status(const struct assist_outcome *out);
