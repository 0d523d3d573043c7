/*
 * A run of the pair, as data. It is a list of steps, each on disk before the next thing happens;
 * its state is what the steps add up to, and nothing else is remembered. So whatever is done next
 * follows from the state alone, and a run that was killed goes the same way as one that was not.
 *
 * Steps only have the fields below: that is the list of what is ever written of a run. What was
 * set for the agents (keys, tokens, headers, their environment) has no place in it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "agent/agent.h"
#include "base/err.h"
#include "base/str.h"
#include "base/uuid.h"
#include "json/scan.h"

enum master_role { MASTER_INSTRUCTOR, MASTER_WORKER, MASTER_ROLES };
enum { MASTER_UNLIMITED = -1 };
const char *master_role_name(enum master_role role);

/* What the user wants of a run. Strings are owned; NULL: not set. */
struct master_config {
	char *agent[MASTER_ROLES];
	char *model[MASTER_ROLES]; /* NULL: the agent's choice */
	char *dir; /* work folder, resolved */
	char *permission; /* the worker's, as the settings spell it; NULL: the agent's default */
	int64_t max_rounds; /* or MASTER_UNLIMITED */
	bool thinking;
	double max_budget_usd; /* 0: none, as for all that follow */
	int64_t max_wall_ms;
	int64_t stall; /* so many times the same: no progress */
	char *check; /* command that looks at the result */
	int64_t check_max; /* how often its failure goes back to the instructor */
	int64_t worker_timeout_ms; /* silence of the worker */
};
#define MASTER_CONFIG_INIT                     \
	{                                      \
		.max_rounds = MASTER_UNLIMITED \
	}
#define AUTO_MASTER_CONFIG CLEANUP(master_config_release) struct master_config
void master_config_release(struct master_config *c);
void master_config_copy(struct master_config *to, const struct master_config *from);

/* kind, name on disk */
/* clang-format off */
#define MASTER_STEP_LIST(X) \
	X(MASTER_STEP_CONFIG,  "config")  /* config: it holds from here on; the first step of a run */ \
	X(MASTER_STEP_ORIGIN,  "origin")  /* text, round, begin: it comes from that run, at that round */ \
	X(MASTER_STEP_NAME,    "name")    /* text: what the run is called; empty: nothing */ \
	X(MASTER_STEP_SAY,     "say")     /* text: the user's words for the instructor */ \
	X(MASTER_STEP_ROUNDS,  "rounds")  /* rounds: so many remain; round: the current one, of a run that came from elsewhere */ \
	X(MASTER_STEP_SESSION, "session") /* role, agent, conversation, session, begin, text: another session from here on, with this system prompt */ \
	X(MASTER_STEP_ASK,     "ask")     /* role, round, prompt_id, model, text: it is about to be sent this */ \
	X(MASTER_STEP_ANSWER,  "answer")  /* role, prompt_id, fail, why, denied, usage, duration_ms, text: what came back */ \
	X(MASTER_STEP_SPENT,   "spent")   /* role, prompt_id, usage, duration_ms: an attempt that came to no answer took this */ \
	X(MASTER_STEP_DECIDED, "decided") /* act, system_prompt, model, timeout_ms, text: what the instructor's answer means */ \
	X(MASTER_STEP_CHECK,   "check")   /* status, text: the result was looked at; end of the output */ \
	X(MASTER_STEP_STOP,    "stop")    /* stop, why: the run has stopped */

/* How a session of a role comes about. */
#define MASTER_BEGIN_LIST(X) \
	X(MASTER_BEGIN_FIRST,   "first") \
	X(MASTER_BEGIN_FRESH,   "fresh")        /* the instructor wanted another worker */ \
	X(MASTER_BEGIN_TOLD,    "told")         /* the same one, its id became known */ \
	X(MASTER_BEGIN_TRIMMED, "trimmed")      /* the same history, shorter */ \
	X(MASTER_BEGIN_ROLLED,  "rolled")       /* a new one that knows of the old */ \
	X(MASTER_BEGIN_WRITTEN, "written-back") /* made from what the run knows of it */ \
	X(MASTER_BEGIN_FORKED,  "forked") \
	X(MASTER_BEGIN_MERGED,  "merged")       /* a run that goes on from two */ \
	X(MASTER_BEGIN_PORTED,  "ported")       /* made of another agent's */

#define MASTER_ACT_LIST(X) \
	X(MASTER_ACT_NONE,    "none") \
	X(MASTER_ACT_FRESH,   "call-worker")  /* a worker with system_prompt and the instruction `text` */ \
	X(MASTER_ACT_GO_ON,   "tell-worker")  /* `text` to the worker there is */ \
	X(MASTER_ACT_DONE,    "done") \
	X(MASTER_ACT_CORRECT, "correct")      /* none of these: the instructor is told, `text` says what */

#define MASTER_STOP_LIST(X) \
	X(MASTER_STOP_NONE,        "none") \
	X(MASTER_STOP_DONE,        "done") \
	X(MASTER_STOP_ROUNDS,      "no-rounds") \
	X(MASTER_STOP_BUDGET,      "budget") \
	X(MASTER_STOP_TIME,        "time") \
	X(MASTER_STOP_STALLED,     "no-progress") \
	X(MASTER_STOP_CORRECTIONS, "corrections") /* no decision after three corrections */ \
	X(MASTER_STOP_CHECK,       "check-failed") \
	X(MASTER_STOP_USER,        "user") \
	X(MASTER_STOP_FAILED,      "failed")
/* clang-format on */

#define X(name, text) name,
enum master_step_kind { MASTER_STEP_LIST(X) MASTER_STEP_COUNT };
enum master_begin { MASTER_BEGIN_LIST(X) MASTER_BEGIN_COUNT };
enum master_act { MASTER_ACT_LIST(X) MASTER_ACT_COUNT };
enum master_stop { MASTER_STOP_LIST(X) MASTER_STOP_COUNT };
#undef X
const char *master_step_name(enum master_step_kind kind);
const char *master_begin_name(enum master_begin begin);
const char *master_act_name(enum master_act act);
const char *master_stop_name(enum master_stop stop);

/* One step; which fields a kind has is said above. Everything is borrowed. */
struct master_step {
	enum master_step_kind kind;
	int64_t n; /* its number from 1 on; given by master_step() */
	int64_t at_ms; /* wall time; given by master_step() */
	struct sv line; /* as it stands on disk, when it was read from there */
	const struct master_config *config;
	struct sv text;
	enum master_role role;
	enum master_begin begin;
	struct sv agent, conversation, session; /* empty: not known (yet) */
	/* A round is one instruction to the worker: an ASK of the worker with a higher round than
	 * the current one begins it and takes one of those that remain. */
	int64_t round;
	struct sv prompt_id;
	struct sv model;
	enum agent_fail fail;
	struct sv why; /* in words, for a person */
	struct sv denied; /* calls of tools that were not allowed, one a line */
	struct agent_usage usage;
	int64_t duration_ms;
	enum master_act act;
	struct sv system_prompt;
	int64_t timeout_ms; /* of the worker from here on; 0: as before */
	int64_t status; /* exit status of the check */
	int64_t rounds; /* or MASTER_UNLIMITED */
	enum master_stop stop;
};
#define MASTER_STEP_INIT(what)                            \
	{                                                 \
		.kind = (what), .usage = AGENT_USAGE_NONE \
	}

/* One of the two. What is newer than what is told by the numbers of the steps; 0: never yet. */
struct master_side {
	char *agent; /* who answers in this session */
	char *conversation; /* ours; NULL: none yet */
	char *session; /* the agent's; NULL: none yet */
	struct str system_prompt;
	enum master_begin begin;
	int64_t session_n;
	struct {
		int64_t n, at_ms, round;
		char prompt_id[UUID_TEXT];
		char *model;
		struct str text;
	} ask;
	struct {
		int64_t n;
		enum agent_fail fail;
		struct str text, why, denied;
	} answer;
	int64_t same_asks, same_answers; /* how many in a row are the same, this one counted */
	int64_t messages; /* prompts and answers so far, in all its sessions */
};
/* A prompt was about to be sent, and no answer is written down. */
static inline bool master_is_open(const struct master_side *side)
{
	return side->ask.n > side->answer.n;
}

struct master_state {
	char id[UUID_TEXT];
	char *name; /* NULL: none */
	char *origin; /* id of the run it comes from; NULL: none */
	int64_t origin_round;
	enum master_begin origin_how;
	char *origin_other; /* merged: whose conclusions it has as well; NULL: none */
	int64_t created_ms, updated_ms;
	int64_t steps; /* how many: the number of the last one */
	enum master_step_kind last; /* its kind */
	struct master_config config;
	int64_t round; /* 0 before the first instruction */
	int64_t remaining; /* or MASTER_UNLIMITED */
	struct master_side side[MASTER_ROLES];
	struct str task; /* the first words of the user */
	struct str instruction; /* the last one that the worker got; not that it should go on */
	/* What the user said that the instructor has not been sent yet, a paragraph each; its next
	 * prompt carries it. */
	struct str said;
	int64_t said_n;
	struct {
		int64_t n;
		enum master_act act;
		struct str text, system_prompt;
		char *model;
	} decided;
	int64_t worker_timeout_ms; /* as configured, or as the instructor set it */
	int64_t corrections; /* in a row */
	struct {
		int64_t n, status,
			failed; /* failed: how often so far since the user's last words */
		struct str text;
	} check;
	struct {
		int64_t n;
		enum master_stop stop; /* NONE again with the next step */
		struct str why;
	} stopped;
	int64_t tokens_in, tokens_out; /* cached ones counted as read */
	double cost_usd;
	int64_t worked_ms; /* time the agents took */
	int64_t ran_ms; /* time the run took, over all its starts; not while it was stopped */
};
void master_state_init(struct master_state *s);
void master_state_release(struct master_state *s);
/* The next step, whose n is one more than the last. */
void master_fold(struct master_state *s, const struct master_step *step);

/*
 * A step as one line of JSON with its check sum, and back. Unknown members are passed over, a kind
 * that is not known is ERR_NEWER. Slices of the step live as long as line and *hold.
 */
void master_step_write(const struct master_step *step, struct str *line);
enum { MASTER_STEP_TEXTS = 11 };
struct master_step_hold {
	struct scan_table table;
	struct str texts[MASTER_STEP_TEXTS]; /* those that had to be decoded */
	struct master_config config;
};
void master_step_hold_init(struct master_step_hold *hold);
void master_step_hold_release(struct master_step_hold *hold);
/* With `check`, a line whose check sum is missing or wrong is ERR_INPUT. */
int master_step_read(struct sv line, bool check, struct master_step_hold *hold,
	struct master_step *ret, struct err *reterr) MUST_USE;
