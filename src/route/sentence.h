/*
 * What a sentence does: how it opens, what it is about, and how much it leans on something said
 * before. Rules of language over word classes; no conversation is known here.
 */
#pragma once

#include "route/token.h"

/* What kind of word a token is here. */
enum word_kind {
	WORD_NONE, /* says nothing about the subject */
	WORD_NAME, /* what sentences are about: anything the lexicon does not know */
	WORD_ACT, /* an unknown verb, or in German an uncapitalised unknown word */
	WORD_DEED, /* work with a name of its own, as an action: sort, import */
	WORD_NOUN, /* a thing every project has */
	WORD_VERB, /* an action everybody asks for */
	WORD_QUALITY, /* adjective, number, time */
};

/* What part it plays. */
enum word_role {
	ROLE_FOCUS, /* the first thing named: subject, object, or what "in the X" opens with */
	ROLE_OTHER,
	ROLE_ASIDE, /* behind a preposition, after the focus */
	ROLE_BACKGROUND, /* in a clause that only says when or why */
};

enum word_definite { WORD_BARE, WORD_DEFINITE, WORD_INDEFINITE, WORD_POINTED };

struct word {
	enum word_kind kind;
	enum word_role role;
	enum word_definite definite;
	uint16_t chunk; /* words of one noun phrase share it */
	bool head; /* last of its chunk */
	bool complement; /* of a noun phrase that goes on: "… of X", "… der X" */
};

enum { SENTENCE_WHY_MAX = 80 };

struct sentence {
	struct token_list tokens;
	struct word *words; /* one a token */
	size_t body; /* first token after fillers, replies and markers */
	size_t names; /* WORD_NAME tokens outside quotations */
	size_t acts; /* WORD_ACT tokens */
	size_t nouns; /* WORD_NOUN tokens that are not mere results; a new one counts twice */
	bool fresh; /* the user says that something new begins */
	bool returning; /* what follows names an earlier subject */
	bool continues; /* that with the same work: go on with the next page */
	bool fronted; /* opens with the place it is about: in the filter, … */
	bool imperative; /* opens with a verb */
	bool presupposes; /* still, again, too: something was there before */
	bool persists; /* still, again: it was so before */
	bool points; /* to a thing by "that X" */
	bool waits; /* for something to end: when that is done */
	bool past; /* points to an earlier session */
	double lean; /* 0 stands for itself, 1 cannot be understood alone */
	bool lean_explicit; /* by a marker, a pronoun or an answer, not only by being short */
	char why[SENTENCE_WHY_MAX]; /* the strongest sign, for people */
};

#define SENTENCE_INIT                 \
	{                             \
		.tokens = TOKENS_INIT \
	}

/* Reads text (any bytes, cut at ROUTE_TEXT_MAX by the caller). *s is empty before. */
void sentence_read(struct sentence *s, struct sv text, const struct lexicon *lex);
/* The same without how much it leans: for what a conversation is about that is not asked. */
void sentence_read_subject(struct sentence *s, struct sv text, const struct lexicon *lex);
void sentence_release(struct sentence *s);
