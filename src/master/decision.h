/*
 * What an instructor's answer means: one object says what the worker is to do, or the text ends
 * with DONE. Anything else is to be corrected, and the message says how.
 *
 *	{"act": "start", "system_prompt": "…", "instruction": "…"}     a fresh worker
 *	{"act": "tell", "message": "…"}                                the same one goes on
 *	{"act": "done"}                                                as DONE
 *
 * With "model" that instruction runs on another model, with "worker_timeout_s" the worker has so
 * long for each turn from then on; "say" has words for people, where none stand before the object.
 * That may stand in a fence; of several the last counts.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum decision_act {
	DECISION_NONE, /* the answer says neither: `wrong` */
	DECISION_START,
	DECISION_TELL,
	DECISION_DONE
};

enum {
	DECISION_BYTES_MAX = 4 * 1024 * 1024, /* of an answer; its end counts */
	DECISION_TIMEOUT_MAX_S = 7 * 24 * 3600,
	DECISION_MODEL_MAX = 100, /* bytes of a model's name */
};

struct pair_decision {
	enum decision_act act;
	char *system_prompt; /* START; NULL: none */
	char *text; /* START, TELL: for the worker */
	char *model; /* NULL: as before the run */
	int64_t timeout_ms; /* 0: not said */
	char *say; /* words for people that stand in the object; NULL: none */
	size_t begins; /* of the answer: where the object or its fence begins, its length else */
	char wrong[160]; /* NONE: what is missing, for the instructor */
};
#define PAIR_DECISION_INIT           \
	{                            \
		.act = DECISION_NONE \
	}
#define AUTO_PAIR_DECISION CLEANUP(pair_decision_release) struct pair_decision
void pair_decision_release(struct pair_decision *d);

void pair_decision_read(struct sv answer, struct pair_decision *ret);
/* Of the answer that was read: what is meant for people. Appends. */
void pair_decision_words(struct sv answer, const struct pair_decision *d, struct str *out);
/* The last line that is neither empty nor a fence is DONE: bare, emphasised or a heading, with
 * nothing behind it but full stops, exclamation marks and a tick. */
bool decision_is_done(struct sv text);
