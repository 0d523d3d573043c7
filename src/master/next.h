/*
 * What a run does next, from its state alone: whoever goes on with it after a crash comes to the
 * same.
 */
#pragma once

#include "master/state.h"

enum next_kind {
	NEXT_NOTHING, /* it has stopped, or there is no task yet */
	NEXT_SETTLE, /* role: a prompt was about to be sent, and what became of it is not known */
	NEXT_INSTRUCTOR, /* is asked: words_for_instructor() */
	NEXT_DECIDE, /* what the instructor's answer means */
	NEXT_WORKER, /* gets the instruction that was decided on */
	NEXT_CHECK, /* the result is looked at */
	NEXT_STOP /* stop, why */
};

struct next {
	enum next_kind kind;
	enum master_role role;
	bool fresh; /* WORKER: in a session of its own */
	enum master_stop stop;
	char why[ERR_MSG_MAX];
};

enum { NEXT_CORRECTIONS = 3 };

struct next master_next(const struct master_state *s);
