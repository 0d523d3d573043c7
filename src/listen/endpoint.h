/*
 * Where what was said begins and ends. Fed with every sample there is, it keeps the last seconds,
 * so that the first syllable is not lost, and cuts a recording out of them. Time is counted in
 * samples and nowhere else: the same sound gives the same recording, however it was cut into
 * pieces.
 *
 *	"hey jarvis, what time is it"		in one breath: the call is a part of the recording
 *	"hey jarvis" … "what time is it"	from shortly before the second part on
 *
 * It ends after so much silence behind the last speech; at the greatest length when somebody speaks
 * there, or speaks on within that silence; or, when nobody speaks for a while, without a recording.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	ENDPOINT_RATE = 16000,
	ENDPOINT_FRAME = 512, /* samples that are judged at a time */
	ENDPOINT_BEFORE = ENDPOINT_RATE * 3 / 10, /* kept in front of the first speech */
	/* Speech that ends so soon after the call is the end of the call. */
	ENDPOINT_TAIL = ENDPOINT_RATE * 4 / 10,
	ENDPOINT_BREATH = ENDPOINT_RATE * 3 / 10, /* a longer pause is one: no longer one breath */
	ENDPOINT_CALL = ENDPOINT_RATE * 2, /* a call is not longer */
};

struct endpoint_opts {
	/* Probability of speech in a frame of ENDPOINT_FRAME samples. */
	float (*judge)(void *data, const int16_t *frame);
	void *data;
	double threshold; /* from which it is speech */
	size_t silence; /* samples of it that end a recording */
	size_t longest; /* samples of a recording, at most */
	size_t least; /* samples of speech; with less there is no recording */
	size_t patience; /* samples in which somebody must begin to speak */
	/* Samples of silence after which a pause is told: perhaps that was all. 0: it is not; nor
	 * where less silence than that ends the recording. */
	size_t pause;
};

enum endpoint_event {
	ENDPOINT_NONE,
	ENDPOINT_BEGAN, /* after endpoint_open(): somebody speaks */
	ENDPOINT_PAUSED, /* what was said so far can be had: endpoint_copy() */
	ENDPOINT_SAID, /* a recording is there: endpoint_take() */
	ENDPOINT_NOTHING, /* nobody spoke */
};

struct endpoint;
struct endpoint *endpoint_new(const struct endpoint_opts *opts);
void endpoint_free(struct endpoint *e); /* NULL is fine */

/* A recording begins here, right after a call, or because somebody pressed a key. */
void endpoint_begin(struct endpoint *e, bool called);
/* A recording begins with the next speech; `silence` and `least` as in the options, for this one.
 */
void endpoint_open(struct endpoint *e, size_t silence, size_t least);
/* What is being recorded begins here instead: all but the last `keep` samples was something else.
 */
void endpoint_cut(struct endpoint *e, size_t keep);
bool endpoint_records(const struct endpoint *e);
/* Samples until the greatest length; SIZE_MAX while nothing is recorded. */
size_t endpoint_left(const struct endpoint *e);
/* Samples since somebody spoke last. */
uint64_t endpoint_silence(const struct endpoint *e);
/* Nothing is recorded (any more); the last seconds are kept all the same. */
void endpoint_close(struct endpoint *e);
/* The recording ends here: no more will come. What endpoint_feed() would have said of it. */
enum endpoint_event endpoint_end(struct endpoint *e);

/* Takes samples until all are used or something happened: how many; the rest is for another call.
 */
size_t endpoint_feed(
	struct endpoint *e, const int16_t *samples, size_t n, enum endpoint_event *ret_event);

struct endpoint_recording {
	int16_t *samples; /* the caller frees */
	size_t n;
	size_t speech; /* samples of speech in it, the call not counted */
	bool with_call; /* it begins with the call, or with what was said before */
	bool cut; /* the greatest length ended it, and somebody spoke on */
	bool as_paused; /* nobody spoke since the last ENDPOINT_PAUSED: that copy has it all */
};
/* Of a recording that goes on. */
struct endpoint_recording endpoint_copy(const struct endpoint *e);
/* Once after ENDPOINT_SAID. */
struct endpoint_recording endpoint_take(struct endpoint *e);
/* Samples fed so far. */
uint64_t endpoint_now(const struct endpoint *e);
