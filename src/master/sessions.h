/*
 * The agents' sessions of a run: whether they are here, and how they come to be. A run knows what
 * was said to its agents and what they answered; where their own session is not there, as on
 * another machine or after it was deleted, one is made of that, which the agent resumes.
 */
#pragma once

#include "branch/native.h"
#include "branch/port.h"
#include "master/run.h"
#include "store/store.h"
#include "transcript/home.h"

/* All borrowed. */
struct master_place {
	struct store *store; /* gets a conversation for each session that is made */
	const struct transcript_home *homes;
	size_t n_homes;
	const char *dir; /* of the work here, resolved */
	const struct clock *clock;
};

enum master_session {
	MASTER_SESSION_NONE, /* nothing was said in it yet, or its agent keeps none */
	MASTER_SESSION_HERE,
	MASTER_SESSION_MOVED_ON, /* somebody else said something there since */
	MASTER_SESSION_GONE
};
/* *ret_more: how many turns of somebody else are behind the last one of the run's. */
int master_session_look(struct master_run *run, enum master_role role,
	const struct master_place *place, enum master_session *ret, uint64_t *ret_more,
	struct err *reterr) MUST_USE;

/*
 * Makes a session of what was said since the role's session was begun anew, and has the run go on
 * in it. Only what was answered goes in: a prompt without an answer is written down as failed,
 * since nobody can tell any more what became of it. ERR_INPUT: sessions of that agent cannot be
 * written.
 */
int master_session_write(struct master_run *run, enum master_role role,
	const struct master_place *place, struct native_report *ret, struct err *reterr) MUST_USE;

/* Of a run that was forked: the role's session as one of another agent, up to what the run knows of
 * it (branch/port.h). The run goes on in it; that its configuration names that agent is the
 * caller's. */
int master_session_port(struct master_run *run, enum master_role role,
	const struct master_place *place, const char *to, struct port_report *ret,
	struct err *reterr) MUST_USE;

/* For a run that was forked or copied, or whose session has moved on: a copy of the role's session
 * up to what the run knows of it; where that cannot be found there, one that is written.
 * *ret_written tells which. */
int master_session_fork(struct master_run *run, enum master_role role,
	const struct master_place *place, bool *ret_written, struct err *reterr) MUST_USE;
