/*
 * Dates as people say them, in English and German: "in March", "last Tuesday", "vor zwei Wochen",
 * "on 5 May 2023", "gestern", "2026-01-31". Of 03/04/2026 nobody knows the month: with slashes a
 * day before its year is one only when it can be read in no other way (31/01/2026, 05/05/2026).
 * Local time, relative to a given clock.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

/* From the first millisecond up to, but not including, the last. */
struct when {
	int64_t from_ms, to_ms;
};

enum {
	WHEN_YEARS = 10, /* a day or month without a year is that of each of so many years */
	WHENS_MAX = 32,
};
struct whens {
	struct when v[WHENS_MAX];
	size_t n;
};

/* All dates in a text, as far as there is room for them. A word that may mean something else, as
 * "may" and "march" do, counts only where it must be a month. */
void when_find(struct sv text, int64_t now_ms, struct whens *ret);
/* The whole text is one date, or a span before now (2h, 3d, 1w); of several years the latest that
 * has begun. */
bool when_parse(struct sv text, int64_t now_ms, struct when *ret);
/* Appends the text with a blank for each of its dates that stands by itself, not in a name or a
 * path; but for "last year" and "two years ago", which are said of many years in the same words. */
void when_without(struct sv text, int64_t now_ms, struct str *out);
/* One date and beside it only words that ask for what was done: "what did we do last week?" */
bool when_alone(struct sv text, int64_t now_ms, struct when *ret);
/* How well a time from first to last meets one of the dates: 1 when they touch, less the further
 * apart. What happened is spoken of afterwards rather than before; a whole year says little. */
double when_meets(const struct whens *dates, int64_t first_ms, int64_t last_ms);
