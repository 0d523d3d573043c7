/*
 * A correction of what was done with the sentence before it: "no, the other one". What an utterance
 * says of that is in assist/correct.h, what it is about in assist/record.h; here is what is done,
 * and what the corrections that were made say about the next sentence.
 */
#pragma once

#include "assist/decide.h"
#include "assist/record.h"

/* 1 when the sentence is a correction, and *d what is done; 0 when it is for the agent. */
int redirect_decide(const struct decide_opts *o, struct sv text, struct decision *d,
	struct err *reterr) MUST_USE;

/* Such a text was corrected before: then d->conv is where it belongs. */
int redirect_recall(const struct decide_opts *o, struct sv text, struct decision *d,
	struct err *reterr) MUST_USE;

/* Writes down what is done with a sentence here, for a correction of it: when that is told, and
 * once more what came of it. */
enum {
	NOTE_SAID = 1, /* it may have reached the agent */
	NOTE_ACTED = 2, /* it is not to be said again elsewhere */
	NOTE_ASKED = 4, /* the answer ends with a question */
	NOTE_REFUSED = 8, /* nothing was sent, which was told */
	NOTE_DONE = 16 /* the agent used a tool */
};
int decision_note(const struct decide_opts *opts, struct decision *d, const char *conversation,
	unsigned flags, struct err *reterr) MUST_USE;

/* One more place where it could go, unless that is known; takes it. */
void decision_add_place(struct decision *d, char *place);
/* From where the sentence before went, round to where it could have gone as well. */
void decision_add_round(struct decision *d, const struct record *rec);
