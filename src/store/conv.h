/*
 * Conversations. A conversation is ours: it has our id and lives as long as the store; the ids of
 * the agent's sessions belong to it. Which one goes on in a folder ("current") is stored at once.
 *
 * One writer: whoever runs a turn holds the conversation by a lease (process identity and a
 * heartbeat). A lease whose process is gone is taken over at once; one from another host when its
 * heartbeat is older than CONV_LEASE_MS.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "base/uuid.h"
#include "os/proc.h"
#include "store/store.h"

enum conv_status { CONV_IDLE, CONV_ACTIVE, CONV_ERRORED };
enum conv_task { CONV_EDIT, CONV_PLAN };
enum {
	CONV_LEASE_MS = 120000, /* a heartbeat older than this is dead, on another host */
	CONV_BEAT_MS = 20000, /* how often a holder beats */
	CONV_PREFIX_MIN = 4, /* characters of an id that may stand for it */
	CONV_NAME_MAX = 200, /* bytes of a name */
	CONV_TITLE_MAX = 80, /* bytes of a title */
};

struct conv {
	char id[UUID_TEXT];
	int64_t seq;
	char *name; /* given here or in the agent; NULL: none */
	char *title; /* first words of the first prompt; NULL before it */
	char *dir;
	char *project;
	char *agent;
	char *session; /* agent's session id to resume; NULL: none yet */
	enum conv_status status;
	enum conv_task task;
	int64_t created_ms;
	int64_t active_ms; /* wall time of the last activity, here or in the agent itself */
	int64_t age_ms; /* milliseconds since then by the age clock; never negative */
	int64_t turns;
	bool used_elsewhere; /* that was in the agent itself, since the last turn here */
	bool before_reset; /* its folder was reset after its last turn */
	bool deleted; /* by the user, and its session is not back since */
	struct proc_id owner; /* pid 0: nobody */
	int64_t beat_ms; /* wall time of its last sign of life */
};
#define CONV_INIT            \
	{                    \
		.name = NULL \
	}
#define AUTO_CONV CLEANUP(conv_release) struct conv
void conv_release(struct conv *c);

/* What to call it: its name, else its title, else its id; what session_title() says of its session,
 * cut to the length of a title. Valid as long as c. */
const char *conv_label(const struct conv *c);
/* The title that a first prompt makes, as one scrubbed line. Appends. */
void conv_title_of(struct sv prompt, struct str *out);

struct conv_new {
	const char *dir;
	const char *project; /* NULL: dir */
	const char *agent;
	enum conv_task task;
	bool aside; /* part of something else: it does not become current in its folder */
};
/* Makes a conversation, held by self, and unless aside makes it current in its folder. */
int conv_create(struct store *store, const struct conv_new *what, const struct proc_id *self,
	const struct clock *clock, struct conv *ret, struct err *reterr) MUST_USE;
int conv_get(struct store *store, const char *id, const struct clock *clock, struct conv *ret,
	struct err *reterr) MUST_USE;
/* By the beginning of its id, of CONV_PREFIX_MIN digits or more. ERR_NOTFOUND, ERR_AMBIGUOUS. */
int conv_by_prefix(struct store *store, const char *prefix, const struct clock *clock,
	struct conv *ret, struct err *reterr) MUST_USE;
/* By the agent's session id. */
int conv_by_session(struct store *store, const char *agent, const char *session,
	const struct clock *clock, struct conv *ret, struct err *reterr) MUST_USE;
/* The conversation that goes on in dir; one that was deleted does not. ERR_NOTFOUND: none, the next
 * turn is fresh. */
int conv_current(struct store *store, const char *dir, const struct clock *clock, struct conv *ret,
	struct err *reterr) MUST_USE;
/* The one that was active last in dir, reset or not. */
int conv_last(struct store *store, const char *dir, const struct clock *clock, struct conv *ret,
	struct err *reterr) MUST_USE;
int conv_set_current(struct store *store, const char *dir, const char *id,
	const struct clock *clock, struct err *reterr) MUST_USE;
/* Conversations active since then (wall clock), most recent first, at most max. */
typedef int (*conv_each_fn)(void *data, const struct conv *c);
int conv_each(struct store *store, int64_t since_ms, int64_t max, const struct clock *clock,
	conv_each_fn fn, void *data, struct err *reterr) MUST_USE;
/* It belongs to another folder from now on. */
int conv_move(struct store *store, const char *id, const char *dir, const char *project,
	struct err *reterr) MUST_USE;
/* The conversations of a project, most recent first, at most max. */
int conv_in_project(struct store *store, const char *project, int64_t max,
	const struct clock *clock, conv_each_fn fn, void *data, struct err *reterr) MUST_USE;
/* Those of the numbers that exist, in their order. */
int conv_by_seqs(struct store *store, const int64_t *seqs, size_t n, const struct clock *clock,
	conv_each_fn fn, void *data, struct err *reterr) MUST_USE;
/* A copy with strings of its own. */
void conv_copy(struct conv *to, const struct conv *from);
/* A conversation for a session made elsewhere (by the agent itself), not held by anybody. */
int conv_adopt(struct store *store, const struct conv_new *what, const char *session,
	const struct clock *clock, struct conv *ret, struct err *reterr) MUST_USE;

/* The next turn in dir is fresh. Any number of times, also before the first conversation. */
int conv_reset(struct store *store, const char *dir, const struct clock *clock,
	struct err *reterr) MUST_USE;
/* The next turn goes on with dir's current conversation, unrouted. */
int conv_pin(struct store *store, const char *dir, struct err *reterr) MUST_USE;
/* True when the user has just asked for dir's current conversation: the next turn is not routed. */
bool conv_pinned(struct store *store, const char *dir);
/* conv_set_current() by a command, without a turn: until the next one it counts as what ran last
 * there.
 */
int conv_place(struct store *store, const char *dir, const char *id, const struct clock *clock,
	struct err *reterr) MUST_USE;
bool conv_placed(struct store *store, const char *dir, const char *id);
/* Wall time of dir's last reset that was not undone; 0: none. What an agent did before it by itself
 * is from before the reset too. */
int64_t conv_reset_ms(struct store *store, const char *dir);
/* The conversation that the last reset ended. ERR_NOTFOUND: none. */
int conv_before_reset(struct store *store, const char *dir, const struct clock *clock,
	struct conv *ret, struct err *reterr) MUST_USE;
/* Takes the last reset back: what went on before it does again, and what an agent did by itself
 * before it counts again, back to the reset before. ERR_NOTFOUND when there is none. */
int conv_reset_undo(struct store *store, const char *dir, const struct clock *clock,
	struct err *reterr) MUST_USE;

/* Takes the lease. ERR_BUSY names the holder. */
int conv_take(struct store *store, const char *id, const struct proc_id *self,
	const struct clock *clock, struct err *reterr) MUST_USE;
/* ERR_BUSY, which says by whom, and by which command where that can be seen. */
int conv_busy(const struct conv *c, struct err *reterr);
int conv_beat(struct store *store, const char *id, const struct proc_id *self,
	const struct clock *clock, struct err *reterr) MUST_USE;
/* Gives the lease back with the status the conversation has from now on. */
int conv_give(struct store *store, const char *id, const struct proc_id *self,
	enum conv_status status, const struct clock *clock, struct err *reterr) MUST_USE;

/* … as if it had never been taken: that was no activity of it. */
int conv_untake(struct store *store, const char *id, const struct proc_id *self,
	struct err *reterr) MUST_USE;
/* The conversations of dir (NULL: of all folders) whose last turn has no end, most recent first:
 * one that runs, or that was interrupted. */
int conv_unfinished(struct store *store, const char *dir, const struct clock *clock,
	conv_each_fn fn, void *data, struct err *reterr) MUST_USE;

/* The user has deleted the session that it would go on with: it is over, unless that comes back. */
/* The path is where its file was; while there is another one of that id, it goes on with that. To
 * be called while the catalogue still has it as one that is there. */
int conv_deleted(struct store *store, const char *agent, const char *session, const char *path,
	const struct clock *clock, struct err *reterr) MUST_USE;
/* The same of one that is about to be forgotten: of what went on in its folder only the time is
 * kept. */
int conv_forgotten(
	struct store *store, const char *session, const char *path, struct err *reterr) MUST_USE;
/* When the latest session was active that went on in dir, or might have, and was deleted; 0: none
 * was. *ret_session (may be NULL) is set to its id, unless that is forgotten; caller frees. */
int64_t conv_over(struct store *store, const char *dir, char **ret_session);
/* It is back. */
int conv_restored(struct store *store, const char *session, struct err *reterr) MUST_USE;
int conv_rename(struct store *store, const char *id, const char *name, struct err *reterr) MUST_USE;
/* It begins anew with this prompt. */
int conv_retitle(
	struct store *store, struct conv *c, struct sv prompt, struct err *reterr) MUST_USE;
int conv_set_task(
	struct store *store, const char *id, enum conv_task task, struct err *reterr) MUST_USE;
/* The agent's session id that later turns resume; kept in the conversation's list of ids. */
int conv_set_session(struct store *store, const char *id, const char *agent, const char *session,
	const struct clock *clock, struct err *reterr) MUST_USE;
