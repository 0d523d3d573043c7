/*
 * The mouth: sounds and sentences are said one after the other, in the order in which they came,
 * while the caller's loop goes on. The next sentence is made while the one before is heard. Each
 * item begins and ends exactly once on the loop's thread, also when it fails or is stopped (an item
 * that was never heard only ends).
 *
 * The loudspeaker is opened for the first item, and given back after some seconds of silence. One
 * that is lost is opened again, for what is left of the item; an item that finds none ends with the
 * error, and the next one tries again.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "audio/audio.h"
#include "audio/sounds.h"
#include "os/loop.h"
#include "voice/tts.h"

struct player;

enum player_event_kind {
	PLAYER_BEGINS, /* its first sample goes to the device: it is heard within 100 ms */
	PLAYER_ENDS, /* it has been heard to its end (r 0), or will not be (r negative) */
};
struct player_event {
	enum player_event_kind kind;
	uint64_t id;
	bool spoken; /* a sentence; else a sound */
	/* Of an end: 0; ERR_CANCELLED after player_stop(); -ENODEV and the like when there is no
	 * loudspeaker; ERR_NOTFOUND, -ETIMEDOUT, ERR_AGENT … when the engine failed. */
	int r;
	const struct err *err; /* message when r is negative, with the remedy; valid for the call */
	bool idle; /* of an end: nothing is left to be said */
};
/* On the loop's thread, never from within a call of ours but player_free(). It may say, stop, and
 * free the player. */
typedef void (*player_fn)(void *data, const struct player_event *event);

struct player_opts {
	const struct audio_opts *out; /* rate 0: PLAYER_RATE */
	/* The engine, which becomes the player's on success; NULL: sentences end with ERR_NOTFOUND,
	 * sounds are heard. */
	struct tts *tts;
	bool mute; /* nothing is opened nor made; items begin and end at once */
};
enum { PLAYER_RATE = 24000 };

/* opts is copied, with what it points to. The loop has something to wait for as long as the player
 * lives, and must outlive it. Nothing is opened yet. */
int player_new(struct loop *loop, const struct player_opts *opts, player_fn fn, void *data,
	struct player **ret, struct err *reterr) MUST_USE;
/* Silence at once; the end of each item that has not been told is told (ERR_CANCELLED) before it
 * returns. A file has all that was said until then. On the loop's thread; NULL is fine. */
void player_free(struct player *p);

/* Queue an item and return at once: its id, above all before. On the loop's thread. */
uint64_t player_sound(struct player *p, enum sound sound);
uint64_t player_say(struct player *p, struct sv sentence, const char *language);
/* Silence: within 100 ms nothing is heard of what was queued before; each ends with ERR_CANCELLED.
 * What is queued after the call is said. */
void player_stop(struct player *p);
/* A pause, and its end: within 100 ms nothing is heard, and what was queued is said on afterwards
 * from where it was. A stop does not end it. */
void player_hold(struct player *p, bool hold);
/* Something is queued, or heard, or its end not told yet. */
bool player_busy(const struct player *p);
/* Samples handed to the device so far, at the rate of opts->out. */
uint64_t player_heard(struct player *p);
/* How loud the loudest 20 ms were of the last half second, as the root of their mean square; 0: it
 * was quiet. From any thread. */
double player_loudness(struct player *p);
