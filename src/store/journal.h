/*
 * The journal: what was asked of agents and what became of it. Steps are added, each on
 * disk before the next thing happens, and each may have a parent: what a turn's later steps say is
 * about their parent, and the turns of a longer run are its children. So a run of many turns is
 * one story, and a crash leaves a turn without an end, which the next one looks into. What a step
 * says is not changed: only whose it is (a wait that another process takes over, a project that
 * was moved). Steps go with what is forgotten, and the last ids may come again then; of questions
 * and of waits that are over the words go.
 */
#pragma once

#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "base/uuid.h"
#include "os/proc.h"
#include "store/store.h"

enum journal_kind {
	JOURNAL_TURN, /* the intent: written before the agent sees the prompt */
	JOURNAL_SESSION, /* the agent's id for its turn became known, or another one */
	JOURNAL_END,
	JOURNAL_TOLD, /* the user knows that it was interrupted and that its agent works on */
	JOURNAL_WAIT /* a prompt whose turn cannot begin yet */
};

/* How a turn stands: by its last end, TURN_INTENT without one. */
enum turn_state {
	TURN_INTENT, /* on disk, the agent has not seen it for sure */
	TURN_ANSWERED,
	TURN_FAILED,
	TURN_CANCELLED,
	TURN_LOST, /* its agent or its faden was gone before the prompt arrived */
	TURN_UNANSWERED, /* interrupted by a crash; it arrived, no answer is recorded */
	TURN_NOT_KNOWN /* interrupted by a crash; whether it arrived nobody can tell */
};

/* A turn with all that its steps say. */
struct turn_record {
	int64_t id;
	int64_t parent; /* 0: stands for itself */
	char conversation[UUID_TEXT]; /* empty: a question that belongs to none */
	char *agent;
	char *session; /* NULL: not known */
	bool blind; /* … though the agent may have had the prompt */
	struct str prompt;
	char *prompt_id; /* our id of the prompt, for agents that keep one; NULL: none */
	char *transcript; /* NULL: not known before the turn */
	int64_t before_size;
	int64_t started_ms;
	enum turn_state state;
	int64_t ended_ms;
	char *fail; /* NULL: it did not */
};
#define TURN_RECORD_INIT           \
	{                          \
		.prompt = STR_INIT \
	}
#define AUTO_TURN_RECORD CLEANUP(turn_record_release) struct turn_record
void turn_record_release(struct turn_record *t);

/* Writes the intent durably; ret_id is its step. Counts the turn in its conversation. */
int journal_turn(struct store *store, const struct turn_record *t, const struct clock *clock,
	int64_t *ret_id, struct err *reterr) MUST_USE;
/* Empty: the turn began anew, and its session is not known yet. JOURNAL_BLIND: nor will it be
 * before the agent has the prompt. */
#define JOURNAL_BLIND "?"
int journal_session(struct store *store, int64_t turn, const char *session,
	const struct clock *clock, struct err *reterr) MUST_USE;
int journal_end(struct store *store, int64_t turn, enum turn_state state, const char *fail,
	const struct clock *clock, struct err *reterr) MUST_USE;

int journal_told(
	struct store *store, int64_t turn, const struct clock *clock, struct err *reterr) MUST_USE;
bool journal_was_told(struct store *store, int64_t turn);

/*
 * A prompt that waits for its turn in dir, durably: conversation (which need not exist yet), agent
 * and prompt count. Its wait is over with journal_end(): TURN_CANCELLED when it has become a turn
 * or was given up, TURN_LOST when its process is gone.
 */
int journal_wait(struct store *store, const struct turn_record *t, const char *dir,
	const struct proc_id *self, const struct clock *clock, int64_t *ret_id,
	struct err *reterr) MUST_USE;
/* One whose process is gone while it waited there; from now on it waits for self to tell it.
 * ERR_NOTFOUND: none. */
int journal_take_wait(struct store *store, const char *dir, const struct proc_id *self,
	struct turn_record *ret, struct err *reterr) MUST_USE;

/*
 * The newest turn, or wait for one, that was lost (TURN_LOST) and not sent again since: of the
 * conversation, and with a dir what waited there for none yet; or (conversation NULL) of all whose
 * folder is dir. words: of them, one that says just this; empty: any. ERR_NOTFOUND: none.
 */
int journal_lost(struct store *store, const char *conversation, const char *dir, struct sv words,
	struct turn_record *ret, struct err *reterr) MUST_USE;
/* This turn, or wait for one. ERR_NOTFOUND: it was forgotten. */
int journal_get(
	struct store *store, int64_t turn, struct turn_record *ret, struct err *reterr) MUST_USE;
/* Whether anything was interrupted in dir after this one was begun, and has reached its agent, may
 * have, or still may. */
bool journal_interrupted_since(struct store *store, const char *dir, int64_t turn);
/* Whether a later turn in dir that was not lost says just the same. */
bool journal_said_since(struct store *store, const char *dir, const struct turn_record *turn);
/* Whether it was: a turn has this one as parent. */
bool journal_was_sent_again(struct store *store, int64_t turn);
/* The conversation's last turn. ERR_NOTFOUND: none yet. */
int journal_last(struct store *store, const char *conversation, struct turn_record *ret,
	struct err *reterr) MUST_USE;
/* The conversation's last turn whose prompt begins with these bytes. ERR_NOTFOUND: none. */
int journal_said(struct store *store, const char *conversation, struct sv begins,
	struct turn_record *ret, struct err *reterr) MUST_USE;
/* What the user said in it, oldest first, at most the newest max. Appends to *out. */
int journal_prompts(struct store *store, const char *conversation, int64_t max, struct strv *out,
	struct err *reterr) MUST_USE;
/* Every prompt that it has, of turns and of waits. */
int journal_each_prompt(struct store *store, void (*fn)(void *data, struct sv prompt), void *data,
	struct err *reterr) MUST_USE;
