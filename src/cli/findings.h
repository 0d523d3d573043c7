/*
 * What is wrong with a configuration: one line each, with the place.
 */
#pragma once

#include <stdio.h>

#include "base/str.h"
#include "base/vec.h"
#include "json/write.h"

struct config_finding {
	unsigned line; /* in the file, from 1; 0: not in it (the environment, the whole) */
	char *text; /* without the place */
};

struct findings {
	VEC(struct config_finding) all;
};
#define FINDINGS_INIT           \
	{                       \
		.all = VEC_INIT \
	}

void findings_add(struct findings *f, unsigned line, const char *fmt, ...) PRINTF(3, 4);
void findings_release(struct findings *f);
/* "FILE:LINE: text", scrubbed; what stands in no line has no place. */
void config_finding_print(struct str *out, const struct config_finding *f, const char *file);
/* [{"line":…,"message":…}, …]; line is null where there is none. */
void findings_json(struct jw *w, const struct findings *f);
