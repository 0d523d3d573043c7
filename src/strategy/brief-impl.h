/*
 * What the files of the brief share while they read a session.
 */
#pragma once

#include "base/map.h"
#include "strategy/brief.h"

#define BRIEF_CUT "…" /* behind a text that was cut */
/* An open point that the end of a session makes by itself. */
#define BRIEF_UNANSWERED "the last prompt has no answer"

/* A file or a command, told apart by its text. */
struct brief_known {
	char *text;
	uint32_t times;
	uint32_t changes; /* files only */
	uint64_t last; /* number of the item that spoke of it last */
	enum brief_end end;
	int status;
	struct brief_place place;
	char ref[BRIEF_REF];
	bool cut, before; /* as in brief_fact */
};

struct brief_set {
	VEC(struct brief_known) all;
	struct map index; /* text → index */
	size_t lost; /* not taken, since BRIEF_KNOWN_MAX were there */
};

enum call_kind { CALL_OTHER, CALL_COMMAND, CALL_WRITE, CALL_READ, CALL_PATCH, CALL_PLAN };

/* A tool call whose result is still to come. */
struct brief_call {
	char *id;
	enum call_kind kind;
	struct strv what; /* the command, or the files */
	char *tool;
	struct brief_place place;
};

struct brief_ring {
	VEC(struct brief_fact) facts; /* at most BRIEF_FACTS_MAX, the oldest goes */
	size_t lost;
};

struct brief_collect {
	const struct transcript_format *format;
	uint64_t count; /* items so far */
	struct brief_set files, commands;
	VEC(struct brief_call) calls;
	struct brief_ring errors, decisions, plan;
	struct brief_ring open; /* said to be so in answers, not long ago */
	struct brief_ring next; /* … or in the last words only */
	struct brief_ring carried; /* open points of the brief that the session began with */
	size_t earlier[BRIEF_KINDS]; /* facts that brief left out already */
	struct brief_fact first, task, answer; /* text NULL: none yet */
	struct brief_ring between; /* asked for after the first task, before the last */
	struct brief_ring since;
	bool asked; /* the last prompt has no answer yet */
	int64_t turns;
	char *summary; /* of the message that the session began with */
	struct str text; /* of the current item */
};

/* A fact from foreign text: scrubbed, cut at max bytes, on one line unless `lines`. */
struct brief_fact brief_fact_new(
	enum brief_kind kind, struct sv text, size_t max, bool lines, struct brief_place place);
void brief_fact_clear(struct brief_fact *fact);
void brief_ring_push(struct brief_ring *ring, struct brief_fact fact); /* takes it */
/* The same, but what says the same goes; errors count how often. */
void brief_ring_renew(struct brief_ring *ring, struct brief_fact fact);
void brief_ring_clear(struct brief_ring *ring);
/* A new task; the first one ever stays beside it, and what was asked for since then too. */
void brief_task(struct brief_collect *c, struct sv words, struct brief_place place);
/* What was said to be open is done, in these words. */
void brief_done(struct brief_collect *c, struct sv text);
void brief_call_release(struct brief_call *call);

/* brief-tools.c: calls and results; c->text holds the item's text. */
void brief_take_call(struct brief_collect *c, const struct item *item);
void brief_take_result(struct brief_collect *c, const struct item *item);
/* The file or command of that text, made when it is new; NULL beyond BRIEF_KNOWN_MAX. */
struct brief_known *brief_know(struct brief_set *set, struct sv text);

/* brief-text.c: whether c->text is the message of a rollover, and what it brings. */
bool brief_is_rollover(struct sv text);
void brief_take_rollover(struct brief_collect *c, const struct item *item);
