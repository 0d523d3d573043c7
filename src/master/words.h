/*
 * What the two agents are told: who they are, and what is said to them in the name of the run. An
 * agent sees these words and no others of ours.
 */
#pragma once

#include "master/state.h"

enum { WORDS_ANSWER_MAX = 200 * 1024 /* bytes of a worker's answer for the instructor */ };

/* The system prompt of a role: `base` is the user's own (NULL: none), `given` what the instructor
 * wants the worker to know. */
void words_system(enum master_role role, const char *base, struct sv given, struct str *out);

/* The JSON schema of an instructor's decision. With `whole`, for who answers by the object alone:
 * it has the words for people as well, and every member. */
const char *words_schema(bool whole);

/* What the instructor is sent next, by what happened last: the user's words, the worker's answer or
 * its failure, the failed check, a correction. */
void words_for_instructor(const struct master_state *s, struct str *out);
/* What the user said since the instructor was sent something, if anything: behind what it is sent.
 */
void words_add_said(const struct master_state *s, struct str *out);
/* To who was interrupted and has its prompt: nothing is to be done twice. */
void words_go_on(struct str *out);
/* … and to who may have it, which nobody can tell: with the prompt. */
void words_unsure(struct sv prompt, struct str *out);
