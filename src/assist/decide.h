/*
 * What will be done with a sentence: one decision, without any effect but that what was found out
 * about texts is kept. `faden route` shows it,
 * the assistant acts on it; so the one tells what the other does.
 *
 * In this order: a command of ours; a correction of what was done with the sentence before; the
 * conversation that was asked for; the one that the user has just named for what comes next; the
 * router's choice among what it may go on with (assist/candidates.h); or, where nothing is routed,
 * what went on in this folder last.
 */
#pragma once

#include "assist/member.h"
#include "assist/resolve.h"
#include "assist/tasktype.h"
#include "assist/texts.h"
#include "assist/utterance.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/vec.h"
#include "route/route.h"
#include "store/conv.h"
#include "store/journal.h"
#include "store/project.h"
#include "store/store.h"
#include "transcript/home.h"

/* Where a talk is. It stays there, whatever goes on in its folder meanwhile. */
struct talk_place {
	char *place; /* (assist/record.h) empty: a conversation that it will begin; NULL: where its
			folder is */
	char folder[UUID_TEXT]; /* what went on in the folder at the last look; empty: nothing */
	bool apart; /* that is another one, and was told */
	bool named; /* the user named it in this talk */
	bool rights_told; /* that what was allowed for this folder does not hold there */
};

/* What an agent said about where a sentence belongs (assist/judge.h). */
enum judge_end {
	JUDGE_UNASKED,
	JUDGE_CHOSE,
	JUDGE_ELSE, /* it answered, but with none of the choices */
	JUDGE_FAILED, /* no answer: it failed, or took too long */
	JUDGE_CANCELLED
};
struct judgement {
	enum judge_end end;
	const char *agent; /* who was asked, a constant */
	char *place; /* JUDGE_CHOSE: where it belongs (assist/record.h); empty: to a new one */
	char why[ERR_MSG_MAX]; /* JUDGE_FAILED */
	double cost_usd; /* negative: not told */
	int64_t duration_ms;
};

/* Borrowed. */
struct decide_opts {
	struct store *store;
	const struct clock *clock;
	const char *dir; /* resolved; conversations belong to it */
	const char *project; /* git root, or dir */
	/* The session of processes that the sentence comes from; NULL: not known. */
	const struct proc_id *terminal;
	int64_t until; /* what was told after this one (store/said.h) is not yet there; 0: all is */
	const struct project *kin; /* its places that are gone; NULL: none */
	const char *agent; /* conversations of another agent do not go on; NULL: any does */
	struct router *router; /* learns from every turn; NULL: none */
	bool routes; /* and decides; else the folder's last conversation goes on */
	bool tasks; /* a turn that plans runs in the agent's plan mode */
	const struct route_task_words *task_words; /* of the configuration; may be NULL */
	const char *chosen; /* who answers by the user's choice, now or earlier; NULL: nobody was */
	const struct utterances *rules; /* what is a command of ours; NULL: nothing is */
	bool no_commands; /* … they only tell in which language one is said: it is for the agent */
	/* Of the agents that can answer here: sessions of their own count too. None: they do not.
	 */
	const struct transcript_home *homes;
	size_t n_homes;
	bool newest; /* what goes on in the folder is what went on there last, in an agent too */
	bool greets; /* and has been told when the talk began */
	const struct resolve_opts *where; /* to see what agents have deleted; NULL: nowhere */
	double close; /* a choice is close when it is ahead of the next best by less than this, or
			 unlikely; 0: none is */
	const struct judgement
		*judged; /* counts where the choice is close; NULL: nobody was asked */
	/* The mode that was given for this once, where it allows more than the settings do; NULL:
	 * none
	 */
	const char *rights;
	const struct talk_place *talk; /* where nothing is routed; NULL: a single sentence */
	enum text_language language;
	bool language_open; /* nobody chose it: what is said may choose another */
	int64_t expiry_ms; /* a conversation older than this does not go on by itself; 0: never old
			    */
};

/* Whether a conversation goes on with this agent: not when another was asked for, and not with the
 * one that only rehearses once a real one was chosen. */
bool decide_goes_on(const struct decide_opts *o, const struct conv *c);

enum request_mode {
	REQUEST_GO_ON, /* where the decision says */
	REQUEST_NEW, /* in a fresh conversation */
	REQUEST_IN /* in the one given */
};
struct request {
	struct sv text;
	enum request_mode mode;
	const char *conversation; /* REQUEST_IN; empty: none yet for the session */
	const struct session_row *session;
	const struct turn_record *again; /* … the text is that of this turn, which was lost */
};
/* A turn that was lost, said again where it belongs. Borrows it. */
struct request request_again(const struct turn_record *lost);

enum decision_by {
	BY_COMMAND,
	BY_CORRECTION,
	BY_REQUEST, /* the mode says it */
	BY_PIN, /* named by the user for what comes next */
	BY_ROUTER,
	BY_JUDGE, /* an agent was asked */
	BY_FOLDER
};
const char *decision_by_name(enum decision_by by); /* "command", "correction" … */

enum decision_what {
	DECIDED_COMMAND, /* heard */
	DECIDED_REPLY, /* nothing is done, `reply` is all that comes of it */
	DECIDED_SWITCH, /* what comes next goes to `conv` */
	DECIDED_TURN /* `prompt` is said in `conv` */
};

struct decision {
	enum decision_what what;
	enum decision_by by;
	enum utterance_kind heard; /* UTTERANCE_AGENT unless DECIDED_COMMAND */
	enum text_language language; /* that the user is answered in */
	bool called; /* the sentence says a name that was given */
	size_t namesakes; /* … that so many others have too */
	char namesake[UUID_TEXT]; /* the newest of them: a conversation or session */
	bool waits; /* `conv` runs right now, and what is said means nothing anywhere else */
	bool held; /* … that is in its agent itself */
	bool own_rights; /* it has those of the settings: what was given is for this folder */
	struct conv conv; /* without an id: one of the agent's own (assist/member.h), or new */
	struct str prompt; /* what is said: the sentence, or what a correction says again */
	enum conv_task task;
	struct str notice; /* what the user is told about it; may be empty */
	struct str reply; /* our own answer; may be empty */
	bool elsewhere; /* told that it goes elsewhere than the last one did */
	bool told; /* the notice says where it goes, whether that is news or not */
	bool answers; /* told who answers there, now or the last time: another than was chosen */
	bool doubtful; /* it may be a correction, and is for the agent: what one is of stays */
	bool offered; /* told how it is corrected, or it is a correction: what comes may be one */
	char folder[UUID_TEXT]; /* what goes on in the folder; empty: nothing */
	bool apart; /* that is another one than the talk's, and stays so */
	double confidence; /* 0 to 1 */
	bool close; /* another was nearly as likely, or all that are left out together likelier */
	double ahead, fresh; /* as the router says (route_decision) */
	size_t next; /* of convs: the router's second choice; ROUTE_NONE: new, or none */
	bool by_meaning; /* what the texts mean has been weighed, not their words alone */
	char reason[ROUTE_REASON_MAX];
	struct conv heir_of; /* new, because this one failed; without an id: none */
	int64_t noted, noted_ms; /* what is noted of it (store/said.h), since when; 0: nothing yet
				  */
	struct strv places; /* where it could go, as a record has them (assist/record.h) */
	size_t at; /* which of them it goes to */
	unsigned said; /* of a correction: a bit for each where the sentence was said before */
	char other[UUID_TEXT]; /* the next of them: a conversation or session; may be empty */
	char wrong[UUID_TEXT]; /* a correction to remember: `misplaced` did not belong here */
	struct str misplaced;

	struct conv open; /* gone on with, were it not open in its agent; without a session: none */
	bool open_alone; /* of nothing else the notice tells */

	/* What the router looked at; empty when it was not asked. */
	VEC(struct conv) convs;
	struct route_candidate *candidates; /* one each */
};
void decision_init(struct decision *d); /* nothing is done */
void decision_release(struct decision *d);

/* The router decided, and there was something else: d->next, or a new one. */
bool decision_has_next(const struct decision *d);
/* c, of d->convs, is where it goes. */
bool decision_goes_to(const struct decision *d, const struct conv *c);

/* The language that somebody is answered in who says this; empty: nothing was said yet. */
enum text_language decide_language(const struct decide_opts *o, struct sv text);

/* Brings what is known of the agents' own sessions up to date, as far as it concerns this folder,
 * or all of it where text goes back to something, which may be anywhere: before a decision, outside
 * of a transaction. A failure means that the decision knows less. */
int decide_refresh(const struct decide_opts *o, struct sv text, struct err *reterr) MUST_USE;
/* Empty text is ERR_USAGE. Looks at the store as it is: who acts on the decision does both in one
 * transaction (store_begin()), so that no two sentences get the same conversation. */
int decide(const struct decide_opts *opts, const struct request *req, struct decision *d,
	struct err *reterr) MUST_USE;

/* Takes resets back until something goes on here again, one of the agent's own too: the last one,
 * or several in a row. The next sentence goes there. 1: it went on already. ERR_NOTFOUND: nothing
 * does, and no reset is left. */
int decide_undo(const struct decide_opts *o, struct conv *ret, struct err *reterr) MUST_USE;

/* What goes on here, where nothing is routed; empty: nothing. *notice (appended): what went on here
 * and does not, and why. */
int decide_here(const struct decide_opts *o, struct conv *ret, struct str *notice,
	struct err *reterr) MUST_USE;

/* ---- for the other files of a decision ---- */

/* What went on in the folder last and was deleted; ERR_NOTFOUND: nothing was, or it is back. */
int decide_deleted(const struct decide_opts *o, struct conv *ret, struct err *reterr) MUST_USE;

/* What goes on in the folder, and with `newest` also in an agent itself; empty: nothing. */
int decide_current(const struct decide_opts *o, struct conv *ret, struct err *reterr) MUST_USE;
int decide_find_here(const struct decide_opts *o, struct conv *ret, struct err *reterr) MUST_USE;
void decision_reason(struct decision *d, const char *reason);
