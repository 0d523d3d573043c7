/*
 * What trim, smart-trim, rollover and repair say about the session they made out of another, the
 * same of all four; and what each of them says besides.
 */
#pragma once

#include <stdbool.h>

#include "base/str.h"
#include "store/catalogue.h"
#include "strategy/damage.h"
#include "strategy/repair.h"
#include "strategy/rollover.h"
#include "strategy/smart.h"
#include "strategy/trim.h"
#include "transcript/tokens.h"
#include "ui/term.h"
#include "json/write.h"

/* A session that was, or would be, made out of another, or changed in its place. */
struct made {
	/* borrowed */
	const struct session_row *parent; /* with in_place the session itself */
	enum session_relation relation;
	const char *id, *path; /* NULL: nothing was written */
	const char *agent; /* whose session it is */
	const struct figure *before, *saved, *left; /* of its context; NULL: not known */
	const struct damage *damage; /* NULL: not looked for */
	bool dry, in_place;
	uint64_t late; /* bytes that others added while it was replaced */

	/* owned: made_release() */
	char *backup; /* the key of what the session was before, in the archive; NULL: none */
	char *dir; /* where its work is; NULL: not known */
	char *conversation; /* of ours that goes on with it; NULL: none */
	bool current; /* it has taken its parent's place in its folder … */
	char *name; /* … and this name, given here; NULL: there was none */
	struct strv resume; /* the agent's own command for it; empty: none */
	char *place; /* where the file has to be for the agent to find it; NULL: not known */
	bool unseen; /* the agent does not look where the file lies */
	bool by_dir; /* the agent finds it only from dir */
	bool talking; /* said in a talk: what is current goes on there by itself */
};
void made_release(struct made *m);

/* Which session it is, where it lies, what it comes from and what was saved. When dry, no more than
 * what would be saved; subject is what would ("It", "Trimming …"). */
void view_made(struct term *t, const struct made *m, const char *home, const char *subject);
/* The commands that go on with it; cwd is where we are, NULL when that is gone. */
void view_next(struct term *t, const struct made *m, const char *cwd);
/* Members; err is why there is none, or NULL. */
void view_put_made(struct jw *w, const struct made *m, const struct err *err);

/* "  results  3, 12 kB less" and so on, and the sizes. */
void view_trimmed(struct term *t, const struct trim_report *r);
void view_put_trimmed(struct jw *w, const struct trim_report *r);

/* What the agent chose, each with its reason and its summary. */
void view_chosen(struct term *t, const struct smart_digest *d, const struct smart_answer *a);
void view_put_chosen(struct jw *w, const struct smart_digest *d, const struct smart_answer *a);

/* The facts that the new session begins with. */
void view_put_brief(struct jw *w, const struct brief *b);

/* How much of a session a resume reaches, and every cause why it is not all. */
void view_diagnosis(struct term *t, const struct repair_report *report);
/* NULL is null. */
void view_put_diagnosis(struct jw *w, const char *key, const struct repair_report *report);
/* Words of ours, broken between words on a terminal and continued at `indent`. */
void view_sentence(struct term *t, struct sv indent, const char *text);
/* The same after a label of eight columns. */
void view_labelled(struct term *t, const char *label, const char *text);
