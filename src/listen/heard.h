/*
 * What a recogniser of speech made of it, and what was meant: the call in front, invented phrases
 * and misheard words go, and a command that was nearly understood is one. All of it by whole words;
 * a command only as the whole of what was said, so that "Lade das Preset" never resets anything.
 */
#pragma once

#include <stdbool.h>

#include "assist/utterance.h"
#include "config/settings.h"

struct heard_rules;
/* Both are borrowed. */
struct heard_rules *heard_new(const struct settings *s, const struct utterances *rules);
void heard_free(struct heard_rules *h); /* NULL is fine */

/* Appends what was meant; false: nothing. with_call: the recording began with the call, or with
 * what was said before it. */
bool heard_meant(
	const struct heard_rules *h, struct sv transcript, bool with_call, struct str *out);

enum heard_answer { HEARD_UNCLEAR, HEARD_YES, HEARD_ALWAYS, HEARD_NO };
/* To a question for permission, of what heard_meant() gave. */
enum heard_answer heard_answer(const struct heard_rules *h, struct sv text);
/* An answer stands somewhere in what we say: heard from our own mouth it would be one. */
bool heard_has_answer(const struct heard_rules *h, struct sv text);
/* What we say has our own name in it: it would be heard as a call. */
bool heard_names_us(const struct heard_rules *h, struct sv text);
