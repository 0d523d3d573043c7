/*
 * Advice about a session: a page of text, or one object.
 */
#pragma once

#include "strategy/advise.h"
#include "strategy/damage.h"
#include "ui/term.h"
#include "json/write.h"

struct advise_subject {
	const char *id, *path, *agent;
	const struct damage *damage; /* NULL: not looked at */
};

/* At most 80 columns wide, and from 60 on as wide as the terminal; bars are of plain characters
 * where the terminal has no others. */
void view_advice(struct term *t, const struct advise_subject *subject, const struct advice *a);
/* One object. */
void view_json_advice(struct jw *w, const struct advise_subject *subject, const struct advice *a);
