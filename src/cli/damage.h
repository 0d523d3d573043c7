/*
 * One line about damage, for commands that work with a session and do not mend it.
 */
#pragma once

#include <stddef.h>

#include "cli/app.h"
#include "store/catalogue.h"
#include "json/write.h"

/* Larger sessions are not looked at: it would double the time. */
enum { DAMAGE_SIZE_MOST = 64 * 1024 * 1024 };

struct damage {
	const char *level; /* as of repair; NULL: none that matters, or not looked at */
	const char *cause; /* the first of that level */
	size_t reachable, entries;
};

/* Only what keeps part of the history from the model counts, or the session from being resumed. */
struct damage damage_of(struct app *app, const struct session_row *row);
/* "only 8 of 21 entries are reached: faden repair ID"; nothing when there is none. */
void damage_text(const struct damage *d, const char *id, struct str *out);
/* The same as a warning on standard error. */
void damage_warn(struct app *app, const struct damage *d, const char *id);
/* Member "damage": level, cause, reachable, entries; or null. */
void damage_json(struct jw *w, const struct damage *d);
