/*
 * Whose voice is heard while ours is in the room: how loud we are heard is learned from what we
 * say, and only speech that is clearly louder than that is somebody else's. With headphones, or
 * where the system takes our voice out, that is anybody's; beside a loudspeaker it is a raised one.
 * While it is learned somebody may speak already: where most of what is heard while we speak is no
 * speech, what is speech is not ours. And a word is told to be speech only when it has begun: what
 * stands in front of somebody else's is not ours either.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct echo {
	double most; /* loudness at which we were heard, as a part of that at which we spoke */
	double other; /* the same of whom we took for somebody else last */
	double most_speech; /* the same as most, of frames of speech, until it is learned whose */
	unsigned learned, spoken; /* frames of our own voice without and with speech in them */
	bool known;
	double fresh[8]; /* of the last frames without speech, which are not learned from yet */
	unsigned n_fresh;
	unsigned run; /* frames of somebody else's */
};

enum {
	ECHO_LEARN = 50, /* frames of 32 ms until we are known */
	ECHO_QUIET = 25, /* … when so many had no speech in them, and far fewer had */
	ECHO_RUN = 3, /* frames of somebody else until that is believed */
};

/*
 * A frame of what is heard while we speak. heard: how loud it is; ours: how loud we were in the
 * last half second, 0 when we were not. True once when somebody else has begun to speak.
 */
bool echo_hears(struct echo *e, double heard, double ours, bool speech);
/* Whom it took for somebody else was nobody: from now on that loud is ours. */
void echo_mistaken(struct echo *e);
/* Of samples, as the root of their mean square. */
double echo_loudness(const int16_t *samples, size_t n);
