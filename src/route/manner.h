/*
 * How a sentence is said, whatever it is about: does it begin something, does it lean on what was
 * said just before, or does it name something from earlier? A small model over the turns of phrase
 * in it, with all words masked that are not common to every subject.
 */
#pragma once

#include "route/text.h"

enum manner { MANNER_NEW, MANNER_LEANS, MANNER_NAMES, MANNER_COUNT };

/* It begins with an order: "please explain …". */
bool manner_orders(const struct text *t);

/* Logarithms of the three chances, none below -6. */
void manner_read(const struct text *t, double ret[static MANNER_COUNT]);

/* What the model looks at, for who trains it: each turn of phrase once or more, with its value.
 * `form` says whether a word is not masked. */
void manner_grams(const struct text *t, bool (*form)(const void *data, struct sv word),
	const void *form_data, void (*fn)(void *data, struct sv gram, double value), void *data);
