/*
 * Utterances against lists of phrases, word by word: folded, whatever the punctuation, the white
 * space and the apostrophes.
 */
#pragma once

#include "route/token.h"

/* Words of an utterance without classes. Release with tokens_release(). */
void phrase_read(struct tokens *t, struct sv text);
/* Number of words of the longest phrase of the list ('|' between them) that stands at word i. */
size_t phrase_at(const struct tokens *t, size_t i, const char *list);
/* The text from word i to the end, without closing punctuation. */
struct sv phrase_rest(const struct tokens *t, size_t i);
