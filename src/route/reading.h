/*
 * Looking at the words of a sentence that has been read; for the files that judge it.
 */
#pragma once

#include <assert.h>

#include "route/sentence.h"

static inline const struct token *at(const struct sentence *s, size_t i)
{
	assert(i < s->tokens.v.n);
	return &s->tokens.v.v[i];
}

/* NULL behind the end. */
static inline const struct token *peek(const struct sentence *s, size_t i)
{
	return i < s->tokens.v.n ? &s->tokens.v.v[i] : NULL;
}

/* It says something about the subject. */
static inline bool content(const struct sentence *s, size_t i)
{
	return i < s->tokens.v.n && s->words[i].kind != WORD_NONE;
}

static inline bool thing(const struct sentence *s, size_t i)
{
	return i < s->tokens.v.n &&
		(s->words[i].kind == WORD_NAME || s->words[i].kind == WORD_NOUN);
}

/* ---- how much a sentence leans on something said before (lean.c) ---- */

/* How it opens. */
struct opening {
	bool assent, deny; /* answers a question */
	bool start; /* also, und, außerdem */
	bool step; /* now, dann */
};

/* Fills lean, lean_explicit and why. Everything else in *s has been read. */
void lean_read(struct sentence *s, const struct opening *o);

/*
 * ---- sentences that only follow from something said or done (consequence.c): questions about it,
 * choices in it, and commands that leave out what they act on ----
 */

/* "how many rows were imported": nobody else would know. */
bool sentence_asks_about_past(const struct sentence *s);
/* "did the spills go down": whether something known has happened. */
bool sentence_asks_whether(const struct sentence *s);
/* "is the bug in the queue or in the fetcher": the bug, the cause, the plan were found here. */
bool sentence_asks_about_result(const struct sentence *s);
/* "flip the sprite then". */
bool sentence_ends_with_then(const struct sentence *s);
/* "the second screen …": one of several that are known; the thing is the third word. */
bool sentence_opens_with_ordinal(const struct sentence *s);
/* "als Patch rausschreiben", "nach Datum sortieren": what to is known. */
bool sentence_object_missing(const struct sentence *s);
/* "mention the flag first", "add a trend line", "make the date bold": a change of something that is
 * not named, so it is there already. */
bool sentence_adjusts(const struct sentence *s);
/* "write the fix", "start with step one": work with what was found or planned before. */
bool sentence_uses_result(const struct sentence *s);
/* "is there an upper bound?", "give me an example in Go": of what is not said. */
bool sentence_asks_for_part(const struct sentence *s);
/* "what happens with empty rows": in what was made. */
bool sentence_asks_what_happens(const struct sentence *s);
/* "how does memory look now": after what was done. */
bool sentence_asks_about_now(const struct sentence *s);
/* "would more partitions help": against what was said before. */
bool sentence_asks_for_help(const struct sentence *s);
/* "Tantivy sounds good": ends with an assent to something in it. */
bool sentence_ends_with_assent(const struct sentence *s);
/* "the import drops a row", "does the import keep the order": how a thing is, not what is to be
 * made ("the import should …", "how do I import …"). */
bool sentence_reports(const struct sentence *s);
