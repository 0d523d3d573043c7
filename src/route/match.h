/*
 * How far the subject of a text is the subject of a conversation.
 */
#pragma once

#include "route/topic.h"

enum { MATCH_WORD_MAX = 40 };

struct match {
	double strength; /* 0 none; about 1 when one thing that both are about is the same */
	size_t names; /* of the text */
	size_t names_known; /* names of the text that are known there */
	char word[MATCH_WORD_MAX]; /* the best shared word, for people */
};

struct match_text {
	const struct route_topic *topic; /* made with TOPIC_QUERY */
	bool imperative;
	bool at_hand; /* the conversation is the one that ran last: what it named is known */
	bool leans; /* on something said before, so a new thing in it proves nothing */
	struct sv project_name; /* what everything here is about says little */
	double *rarity; /* one a term: 1 when few of the conversations have it */
};

/* rarity of each term of topic over n conversations; the caller frees. */
double *match_rarity(
	const struct route_topic *topic, const struct route_topic *const *others, size_t n);

struct match match_topics(const struct match_text *text, const struct route_topic *conv);
