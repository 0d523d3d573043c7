/*
 * Why an agent tries again, in plain words. Private to the room.
 */
#pragma once

#include <stdint.h>

#include "base/str.h"

/* From Claude Code's name for the error (may be empty) and the HTTP status (0: no answer came). */
void retry_words_claude(struct str *out, struct sv name, int64_t status);
/* From Codex' own line: "Reconnecting... 1/5 (why)". */
void retry_words_codex(struct str *out, struct sv line);
