/*
 * The tools that ran in a turn, for whoever stops it and wants to know what was done. Private to
 * the room.
 */
#pragma once

#include "base/str.h"

enum { DEEDS_MAX = 6, DEEDS_NAME_MAX = 24 };

struct deeds {
	struct {
		char name[DEEDS_NAME_MAX];
		unsigned times;
	} tool[DEEDS_MAX];
	unsigned kinds; /* in `tool` */
	unsigned others; /* calls of tools beyond those */
};

void deeds_add(struct deeds *d, struct sv tool);
/* "Bash, Write ×3 +2"; nothing when there are none. */
void deeds_print(struct str *out, const struct deeds *d);
