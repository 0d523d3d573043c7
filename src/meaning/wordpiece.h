/*
 * Text as the numbers that a network of BERT's family was trained on: folded, taken apart at blanks
 * and punctuation, and each word into the longest pieces that its vocabulary has.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct wordpiece;
/* json: the tokenizer.json of such a model, which is not needed afterwards. ERR_INPUT when it is
 * none. */
int wordpiece_new(struct sv json, struct wordpiece **ret, struct err *reterr) MUST_USE;
void wordpiece_free(struct wordpiece *w); /* NULL is fine */

/* Any bytes. Fills at most max (2 at least), beginning and end included; returns how many. */
size_t wordpiece_split(const struct wordpiece *w, struct sv text, int64_t *ids, size_t max);
