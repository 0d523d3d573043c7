/*
 * What a sentence may go on with: the project's recent conversations, those anywhere that share a
 * word with it or whose name it says, and the sessions of the agents' own that no conversation has
 * (assist/member.h): of this project, and anywhere by their names.
 */
#pragma once

#include "assist/decide.h"

/* Of a candidate's keyword: less than this is a word in common, no name. */
#define CANDIDATE_NAMED 0.5

/* Lets the router choose among them; current is what goes on in the folder, may be empty. Fills
 * convs, candidates and open of *d. What was begun by mistake, and holds nothing that was not said
 * elsewhere since, is none of them unless `strays`. */
int candidates_ask(const struct decide_opts *o, struct sv text, const struct conv *current,
	bool strays, struct decision *d, struct route_decision *ret, struct err *reterr) MUST_USE;

/* ret is the choice for the text among those of d, and leads to another folder: when what the text
 * says that it goes back to is the subject of one conversation of this folder alone, and not of
 * that one, ret is changed to the one here. Not for a name that was given (d->called). */
int candidates_here_first(const struct decide_opts *o, struct sv text, const struct conv *current,
	const struct decision *d, struct route_decision *ret, struct err *reterr) MUST_USE;

/*
 * What has gone on in this folder since c, the one that goes on there (may be empty), in an agent
 * itself: then *c is replaced by it, and empty when that was deleted. open is that which would be,
 * were it not open there right now; else empty.
 */
int candidates_newest(const struct decide_opts *o, struct conv *c, struct conv *open,
	struct err *reterr) MUST_USE;

/* It is older than what went on here last and was deleted: it does not go on in its place. */
bool candidate_over(const struct decide_opts *o, const struct conv *c);

/* Somebody sits at what has it open in the agent, of the process in c->owner: a server that was
 * left alone lets go by itself. */
bool candidate_attended(const struct decide_opts *o, const struct conv *c);

/* A turn of it runs in a process that lives, or the agent itself has it open. */
bool candidate_runs(const struct conv *c);
