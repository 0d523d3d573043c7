/*
 * The words of the user of a session, said again one by one, to the same agent or another, with
 * another model: the answers are a session of their own, a child of the first. It runs on the
 * caller's loop, by turns like any other (turn/turn.h), and ends with exactly one done.
 *
 * With `from`, the turns before it are taken as they were: forked, or ported to the other agent.
 */
#pragma once

#include "branch/turns.h"
#include "store/catalogue.h"
#include "turn/turn.h"

/* All borrowed until the replay is freed. */
struct replay_opts {
	struct turn_host *host;
	struct loop *loop; /* of the host */
	struct store *store;
	const struct clock *clock;
	const struct session_row *parent;
	const struct transcript_home *from_home; /* of its agent */
	const struct turn_views *turns; /* of it */
	const char *agent; /* who answers */
	const struct transcript_home *home; /* of that one */
	const char *dir; /* of the work, resolved */
	const char *project; /* NULL: dir */
	uint64_t from; /* the first turn that is said again, from 1 */
};

struct replay_report {
	char *session; /* of the answers; NULL: none is known */
	char *path; /* its file; NULL: not found */
	char conversation[UUID_TEXT]; /* of ours that it belongs to; "": none */
	uint64_t wanted, said, answered; /* turns */
	struct agent_usage usage; /* of all of them, as far as told */
	int64_t duration_ms;
	bool cancelled;
	enum agent_fail fail; /* why it ended early */
	char message[ERR_MSG_MAX];
};

struct replay_sink {
	void *data;
	/* The turn of the parent with this number, of so many, is said again. */
	void (*turn)(void *data, const struct turn_view *turn, uint64_t nth, uint64_t of);
	void (*event)(void *data, const struct agent_event *ev); /* may be NULL */
	void (*answered)(void *data, const struct turn_outcome *out);
	/* err->code < 0: a failure of ours; the report says how far it came. Valid until it is
	 * freed. */
	void (*done)(void *data, const struct replay_report *report, const struct err *err);
};

struct replay;
/* Makes the beginning of the child where `from` asks for one; the rest runs on the loop. */
int replay_begin(const struct replay_opts *opts, const struct replay_sink *sink,
	struct replay **ret, struct err *reterr) MUST_USE;
/* No more turns; the one that runs is stopped, harder each time. */
void replay_cancel(struct replay *r);
void replay_free(struct replay *r); /* NULL is fine; after done */

/* How many turns would be said again: those on a way that was left are not. */
uint64_t replay_count(const struct turn_views *turns, uint64_t from);
/* Whether tools were called in the turns before. */
bool replay_has_calls(const struct turn_views *turns, uint64_t from);

/* Once the agents have ended: the session says where it comes from. */
int replay_note(const struct replay_report *report, const struct session_info *parent,
	const struct transcript_format *format, const struct clock *clock,
	struct err *reterr) MUST_USE;
