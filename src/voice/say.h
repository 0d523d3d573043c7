/*
 * One sentence in words that an engine reads right. A part of speakable.
 */
#pragma once

#include <stdbool.h>

#include "voice/speakable.h"

/* In the text of a sentence: something that is not read out. */
enum { SAY_CODE = '\x01', SAY_LINK = '\x02', SAY_TABLE = '\x03' };

/* The language by its words; unknown when they do not tell. */
enum speakable_language say_language(struct sv sentence);
/* Appends what is said of it; nothing when there is no letter or digit in it. */
void say_sentence(struct str *out, struct sv sentence, enum speakable_language language);
/* What a full stop behind this word means: it ends no sentence; it may end one; or it does. */
enum say_stop { SAY_NEVER_ENDS, SAY_MAY_END, SAY_ENDS };
enum say_stop say_stop_after(struct sv word);
