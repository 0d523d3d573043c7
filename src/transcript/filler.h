/*
 * What Claude Code writes into a transcript where the model said nothing, so that questions and
 * answers alternate. It is no answer of anybody.
 */
#pragma once

#include "base/str.h"

static inline bool transcript_is_filler(struct sv text)
{
	return sv_is(sv_trim(text), "No response requested.");
}
