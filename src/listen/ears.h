/*
 * The ears: a thread of their own that hears every sample there is, knows when somebody calls or
 * speaks, and cuts out what was said (listen/endpoint.h). It tells on the loop's thread.
 *
 * A microphone that is not there, or is lost, is said once and tried again every second. Sound from
 * a file has no speed: it is read as fast as it can be heard, at the speed of time while something
 * is waited for, and not at all until what it told of has been taken in; so a file always gives the
 * same talk.
 */
#pragma once

#include "audio/audio.h"
#include "config/settings.h"
#include "listen/endpoint.h"
#include "listen/listener.h"
#include "os/loop.h"
#include "voice/vad.h"
#include "voice/wake.h"

/* None may be NULL. */
struct ears_ops {
	void (*called)(void *data); /* a recording has begun */
	void (*began)(void *data); /* the same without a call: `open` */
	void (*recorded)(void *data, struct endpoint_recording *recording); /* takes it */
	void (*paused)(void *data, struct endpoint_recording *recording); /* takes it */
	void (*nothing)(void *data); /* nobody spoke */
	/* While it speaks: somebody else does, since so many samples. What becomes of it is
	 * overheard, or nothing: it was no short word. */
	void (*interrupted)(void *data, size_t since);
	void (*overheard)(void *data, struct endpoint_recording *recording); /* takes it */
	void (*let_go)(void *data);
	void (*lost)(void *data, const struct err *err); /* once, until it is found */
	void (*found)(void *data, const char *name); /* there it is, or is again */
	void (*ended)(void *data); /* of a file */
};

struct ears_opts {
	struct loop *loop;
	const struct settings *settings;
	struct audio_opts in;
	uint64_t skip; /* samples of a file that were heard before */
	struct wake *wake; /* NULL: nobody can call; becomes the ears' */
	struct vad *vad; /* becomes the ears' */
	bool open; /* whoever speaks is meant */
	bool pauses; /* are told, with what was said so far */
	/* How loud our own voice was in the last half second; from the ears' thread. */
	double (*loudness)(void *data);
	const struct ears_ops *ops;
	void *data;
};

struct ears;
int ears_new(const struct ears_opts *opts, struct ears **ret, struct err *reterr) MUST_USE;
void ears_free(struct ears *e); /* nothing is told any more; NULL is fine */
void ears_hear(struct ears *e, const struct hearing *how);
/* A recording begins now, or, when one is under way, ends now. */
void ears_record(struct ears *e);
/* What is being recorded is not wanted: nothing more is told of it, also not what is said on to its
 * end where nobody has to call. */
void ears_discard(struct ears *e);
/* Samples until what is being recorded is as long as it may be; SIZE_MAX: nothing is. */
size_t ears_left(struct ears *e);
/* Samples heard, those that were skipped included. */
uint64_t ears_heard(struct ears *e);
