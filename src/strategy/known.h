/*
 * What is known of the context of a session that was made from another one.
 *
 * A strategy sets the recorded tokens of its copy to 0, since the agents judge by them how full the
 * context is, and with them goes what only they told: how much the agent's own prompt and tools
 * take, and how large a context the model took. So the note in the copy says how much was left, how
 * sure that is, up to which line that goes, and the bytes that a token takes. It holds until an
 * agent records anew.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "transcript/tokens.h"
#include "json/write.h"

/* Of a session that stays the same one: a note of its own, beside that of where it comes from. */
#define KNOWN_NOTE_KEY "faden_context"

struct known {
	struct figure left;
	double bytes_per_token; /* 0: not known */
	int64_t base, most; /* tokens_base() and tokens.most; 0: not known */
	int64_t window; /* as the agent told, where no line of the copy does; 0: not known */
	uint64_t lines; /* of the file that `left` is about; later ones come on top */
	bool taken; /* tokens were told, or there is nothing to tell */
};

/* Members for a note that known_read() will find, in an object of its own or in "stats". */
void known_put(struct jw *w, const struct known *known);
/* Reads the note of the file at path; without one, nothing is known and `taken` is set. */
void known_read(const char *path, struct known *ret);
/* Puts what it says into the note of a copy that has the same context, as "stats". */
void known_carry(struct jw *w, const char *path);
/* To be called before what stands on the line (from 0) is fed, and with UINT64_MAX at the end. */
void known_tell(struct known *known, struct tokens *t, uint64_t line);

/* What a copy is to know of a session that was read as a whole. */
struct known known_of(const struct tokens *t, struct figure left, uint64_t lines);
/* What is left of `before`, and how sure. */
struct figure known_left(struct figure before, struct figure saved);
