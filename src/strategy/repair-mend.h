/*
 * One entry mended: the plan of its fact as splices. Private to repair.
 */
#pragma once

#include "strategy/repair-facts.h"
#include "json/edit.h"

/* What mending an entry needs beyond its fact. Read only while lines are written. */
struct mender {
	const struct repair *r;
	struct strv call_ids; /* of r->pairs, by their order */
	const char *session; /* id that every entry gets; NULL: as they have it */
	bool side; /* a sub-agent's file stays one; a copy of it gets the name of a session */
	char now[CLOCK_TEXT_MAX];
};

/* Reads what the plan refers to in other lines. */
int mender_init(struct mender *m, const struct repair *r, const struct clock *clock,
	struct err *reterr) MUST_USE;
void mender_release(struct mender *m);

/* An entry to mend: its text, its members, the splices that are made. */
struct mending {
	const struct fact *fact;
	struct jval object;
	const struct jval *vals;
	struct edit *edit;
	bool neutral; /* its content is replaced already */
	bool id; /* the session's id is set already */
};
void claude_mend(const struct mender *m, const struct mending *entry);
void codex_mend(const struct mender *m, const struct mending *entry);

/* The line that a rollout without header must begin with. */
void codex_new_meta(const struct mender *m, struct str *out);
/* The time of the entry before, else any. */
void mend_time(const struct mender *m, const struct mending *entry, struct jval val);

/* A member set to raw JSON, put first when it is not there. */
void mend_member(const struct mending *entry, struct jval object, struct jval val, const char *key,
	struct sv json);
void mend_text(const struct mending *entry, struct jval object, struct jval val, const char *key,
	struct sv text);
