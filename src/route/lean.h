/*
 * How much a sentence leans on something said before: the signs, and what they add up to.
 */
#pragma once

#include "route/sentence.h"

/* How it opens. */
struct opening {
	bool assent, deny; /* answers a question */
	bool start; /* also, und, außerdem */
	bool step; /* now, dann */
};

/* Fills lean, lean_explicit and why. Everything else in *s has been read. */
void lean_read(struct sentence *s, const struct opening *o);
