/*
 * An agent's questions for permission, put to the user on a terminal: one at a time, answered with
 * a key. Whoever has the screen makes room first.
 */
#pragma once

#include "cli/front.h"
#include "ui/keys.h"
#include "ui/term.h"

struct permit_ops {
	const char *span; /* how long "always" holds: this turn, talk … */
	/* The terminal is ours: at the beginning of a line. `asks`: a question stays on it. */
	void (*enter)(void *data, bool asks);
	void (*leave)(void *data, bool asks);
	void (*cancel)(void *data); /* the turn */
	/* NULL: by assistant_answer() */
	void (*answer)(void *data, const char *id, enum agent_answer answer);
};

struct permit_question {
	char *id, *tool, *about, *scope;
	bool always;
};

struct permit {
	struct front *front;
	struct term *term;
	const struct permit_ops *ops;
	void *data;
	struct keys keys; /* keys.ahead: typed, but not as an answer */
	VEC(struct permit_question) asked; /* the first one is shown */
	bool shown;
};

/* Keys are read from fd. All but the keys is borrowed. */
void permit_init(struct permit *p, struct front *front, struct term *term, int fd,
	const struct permit_ops *ops, void *data);
void permit_release(struct permit *p);
/* AGENT_EV_ASK, _ASK_OVER and _DONE; others are passed over. */
void permit_event(struct permit *p, const struct agent_event *ev);
/* Something else was on the screen: what is asked is shown once more. */
void permit_again(struct permit *p);
/* The turn is cancelled: nothing more is asked. */
void permit_drop(struct permit *p);
