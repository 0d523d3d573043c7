/*
 * The assistant with ears and a mouth: one machine that says what comes next. It hears of
 * everything by calls (somebody called, a recording, its text, a typed line, the agent's events,
 * the end of a sound) and acts by its ops alone; so it runs on any loop, and a test plays all the
 * others.
 *
 *	called, ding → recorded, sound → text → command or agent (beeps) → spoken, sentence by
 *	sentence → ready sound → listening
 *
 * One queue for what is spoken and what is typed, in the order in which it came; what was typed is
 * answered on the screen only. Being called, or told to stop, while it works or speaks ends both.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "assist/assistant.h"
#include "audio/sounds.h"
#include "config/settings.h"
#include "listen/endpoint.h"
#include "voice/player.h"

/* clang-format off */
#define LISTENER_STATES(X) \
	X(LISTENER_LISTENING,  "listening") \
	X(LISTENER_RECORDING,  "recording") \
	X(LISTENER_PROCESSING, "processing") \
	X(LISTENER_SPEAKING,   "speaking") \
	X(LISTENER_ASKING,     "asking") \
	X(LISTENER_ERROR,      "error") \
	X(LISTENER_TYPING,     "typing")
/* clang-format on */
enum listener_state {
#define X(id, name) id,
	LISTENER_STATES(X)
#undef X
};
const char *listener_state_name(enum listener_state state);

enum listener_source { LISTENER_VOICE, LISTENER_KEYBOARD };
enum listener_end { LISTENER_FINISHED /* the sound is at its end */, LISTENER_RESTART };

/* What the ears are to do from now on. */
struct hearing {
	bool busy; /* it works or speaks: a call is heard, and a short word by itself */
	bool speaks; /* our own voice is in the room */
	bool names_us; /* … and says our name: a call is not believed */
	uint8_t in_vain; /* counts the pauses it made for who wanted nothing of it */
	/* Of sound without a speed of its own: */
	bool waits; /* it goes on at the speed of time */
	bool holds; /* it stands still: what was recorded is being recognised, or faden restarts */
};

/* All but end are called from within our own functions; any may be NULL but those marked. */
struct listener_ops {
	/* Ears. */
	void (*hear)(void *data, const struct hearing *how);
	void (*record)(void *data); /* now, without a call; one that is under way ends */
	void (*discard)(void *data); /* what is being recorded: nothing more is told of it */
	/* Recogniser: listener_recognised() ends it. Takes the samples. */
	void (*recognise)(void *data, uint64_t id, struct endpoint_recording *recording); /* ! */
	/* Mouth: each item ends with listener_heard_us(). */
	uint64_t (*sound)(void *data, enum sound sound);
	uint64_t (*say)(void *data, struct sv sentence, const char *language);
	void (*hush)(void *data);
	void (*hold)(void *data, bool hold); /* a pause, and its end */
	/* Assistant: listener_done() ends it. The text lives until then. */
	void (*ask)(void *data, struct sv text); /* ! */
	void (*cancel)(void *data); /* ! */
	void (*permit)(void *data, const char *ask, enum agent_answer answer); /* ! */
	/* What is shown. */
	void (*state)(void *data, enum listener_state state);
	void (*said)(void *data, enum listener_source source, struct sv text);
	/* It was too long, and what of it was heard is not sent. */
	void (*unsent)(void *data, struct sv text);
	void (*reply)(void *data, const char *text); /* words of our own, spoken or not */
	void (*notice)(void *data, const char *line);
	void (*failed)(void *data, const char *line);
	/* From the loop, when all is said. */
	void (*end)(void *data, enum listener_end how); /* ! */
};

/* Borrowed for its life. */
struct listener_opts {
	struct loop *loop;
	const struct settings *settings;
	const struct utterances *rules;
	enum text_language language; /* until somebody is heard in another */
	bool language_open; /* nobody chose it */
	bool answers; /* somebody at a terminal can answer questions for permission too */
	bool open; /* whoever speaks is meant, without a call */
	bool by_key; /* … or listener_push() stands for it */
	const struct listener_ops *ops;
	void *data;
};

struct listener;
struct listener *listener_new(const struct listener_opts *opts);
void listener_free(
	struct listener *l); /* NULL is fine; what still comes must not be told any more */
enum listener_state listener_state(const struct listener *l);
/* This is a restart: that it is ready again can be heard. */
void listener_back(struct listener *l);

/* ---- ears ---- */
void listener_called(struct listener *l); /* a recording has begun with it */
void listener_began(struct listener *l); /* … without a call: somebody speaks */
void listener_recorded(struct listener *l, struct endpoint_recording *recording); /* takes it */
void listener_nothing(struct listener *l); /* nobody spoke */
/* Somebody speaks while it does: it is quiet until that is overheard, or let go. */
void listener_interrupted(struct listener *l);
void listener_let_go(struct listener *l);
/* A few words while it was busy: only what stops it counts. Takes them. */
void listener_overheard(struct listener *l, struct endpoint_recording *recording);
void listener_sound_ended(struct listener *l); /* of a file: no more comes */
/* A key in place of the call; and again: what was said is complete. */
void listener_push(struct listener *l);

/* ---- recogniser, mouth ---- */
/* language: "de", "en" …, empty when it is not known. r negative: err says why. */
void listener_recognised(struct listener *l, uint64_t id, int r, struct sv text,
	const char *language, const struct err *err);
void listener_heard_us(struct listener *l, const struct player_event *event);

/* ---- keyboard ---- */
void listener_typing(struct listener *l, bool typing);
void listener_typed(struct listener *l, struct sv text);
/* Stops what runs and what is said, and what is being recorded is not sent; false: there was
 * nothing of it. */
bool listener_stop(struct listener *l);

/* ---- assistant ---- */
void listener_event(struct listener *l, const struct agent_event *ev);
void listener_done(struct listener *l, const struct assistant_outcome *out);
/* It was answered elsewhere (a key). */
void listener_permitted(struct listener *l, const char *ask);
