/*
 * Shared by the files of the pair; not for others.
 */
#pragma once

#include "master/check.h"
#include "master/decision.h"
#include "master/pair.h"

enum {
	PAIR_TRIES = 3, /* of an agent that fails, in a row */
	PAIR_LIMIT_MS = 60 * 1000, /* until a limit is tried again whose end is not told */
};

/* One role's agent, as it is set now; another setting is another host. */
struct pair_side {
	struct turn_host *host; /* NULL: none yet */
	struct agent_opts agents[AGENTS_MAX];
	char *system_prompt, *model;
	int64_t timeout_ms;
	double may_spend; /* what its agent was allowed, less what it took; 0: no limit */
	int shortened; /* since its last answer */
};

/* The instructor's words as they come; an object is held back until it is known what it is. */
struct pair_words {
	struct str held;
	bool holds; /* from the beginning of a line that may begin it */
	bool inside; /* in a line that is passed on */
	size_t breaks; /* line breaks that wait for what follows */
};

struct pair {
	struct pair_opts opts;
	pair_sink_fn sink;
	void *data;
	struct pair_side sides[MASTER_ROLES];
	struct loop_source *timer; /* what comes next */
	struct loop_source *deadline; /* of the wall time */
	struct turn *turn; /* NULL: none runs */
	enum master_role role; /* whose it is */
	enum turn_news fate; /* of the prompt that was interrupted; NEWS_COUNT: not known yet */
	struct str found; /* its answer */
	bool settles; /* the turn only runs to learn that */
	struct pair_words words;
	struct check check;
	int tries; /* failures in a row */
	int64_t wait_until_ms; /* wall time */
	const char *wait_for; /* a constant */
	bool interrupted; /* what runs is stopped: it was asked for */
	bool paused;
	bool leaves;
	bool late; /* the wall time is over */
	bool compact; /* before the next prompts */
	bool over;
};

static inline const struct master_state *pair_state(const struct pair *p)
{
	return master_state(p->opts.run);
}
static inline const struct master_side *pair_side_state(const struct pair *p, enum master_role role)
{
	return &pair_state(p)->side[role];
}

/* pair.c */
void pair_tell(struct pair *p, const struct pair_event *ev);
void pair_note(struct pair *p, const char *fmt, ...) PRINTF(2, 3);
/* What comes next, after the calls that are under way. */
void pair_next(struct pair *p);
/* Ends with an error, or with the run's reason. */
void pair_end(struct pair *p, const struct err *err);
int pair_stop(struct pair *p, enum master_stop stop, const char *why, struct err *reterr) MUST_USE;
/* The prompt as a step, then it is sent. */
int pair_ask(struct pair *p, enum master_role role, struct sv text, bool go_on,
	struct err *reterr) MUST_USE;
/* What an attempt took that comes to no answer: it counts all the same. */
int pair_spent(struct pair *p, const struct turn_outcome *out, struct err *reterr) MUST_USE;
int pair_answered(struct pair *p, enum master_role role, enum agent_fail fail, struct sv text,
	const char *why, const struct turn_outcome *out, struct err *reterr) MUST_USE;

/* pair-turn.c */
/* A conversation for the role from here on. */
int pair_session(struct pair *p, enum master_role role, enum master_begin begin,
	struct err *reterr) MUST_USE;
/* The same history under another id. */
int pair_goes_on_in(struct pair *p, enum master_role role, enum master_begin begin,
	const char *conversation, const char *session, struct err *reterr) MUST_USE;
int pair_send(struct pair *p, enum master_role role, struct err *reterr) MUST_USE;
/* Of the prompt that is open. */
int pair_settle(struct pair *p, enum master_role role, struct err *reterr) MUST_USE;
void pair_side_release(struct pair_side *side);

/* shorten.c: the role's session becomes a shorter one: cut where texts are long, or else begun anew
 * with what is known of it. ERR_NOTFOUND: there is nothing to shorten. */
int pair_shorten(struct pair *p, enum master_role role, bool anew, struct err *reterr) MUST_USE;
