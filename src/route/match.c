#include "route/match.h"

#include <math.h>

#include "base/mem.h"
#include "base/utf8.h"

static const double same_enough = 0.75; /* likeness that counts as the same word */
static const double shortened_likeness = 0.8; /* Gitarrenspuren, die Spuren */
static const double clash_factor = 0.4; /* login screen, transfer screen */
static const double narrowed_factor = 0.8; /* the screen of something else */
static const double attribute_factor = 0.7; /* the rental, the rental calendar */
static const double modifier_factor = 0.5; /* GPX converter, GPX parser */
static const double noun_modifier_factor = 0.8; /* release, release notes */
static const double beside_factor = 0.75; /* what the text is about is unknown there */
static const double project_factor = 0.6;
static const double object_factor = 0.75; /* a command may do something else with the same thing */
static const double identifier_bonus = 1.8;
static const double at_hand_bonus = 1.3; /* "the logo is …", and a logo was just mentioned */
static const double at_hand_enough = 0.75; /* but it does not win over another */
static const double covered_bonus = 1.15; /* every name is known there */

double *match_rarity(
	const struct route_topic *topic, const struct route_topic *const *others, size_t n)
{
	double *rarity = xcalloc(topic->terms.n + 1, sizeof(*rarity));
	for (size_t i = 0; i < topic->terms.n; i++) {
		const struct term *q = &topic->terms.v[i];
		size_t having = 0;
		for (size_t o = 0; o < n; o++) {
			bool has = false;
			for (size_t j = 0; j < others[o]->terms.n && !has; j++)
				has = term_likeness(topic, q, others[o], &others[o]->terms.v[j]) >=
					same_enough;
			having += has;
		}
		rarity[i] = having > 1 ? 1.0 / sqrt((double)having) : 1.0;
	}
	return rarity;
}

struct found {
	const struct term *term; /* of the conversation; NULL: none */
	double likeness;
	double value;
};

/* What is left of a compound behind its first part, without the joint. */
static struct sv behind(struct sv key, size_t first)
{
	static const char *const joints[] = { "en", "es", "er", "s", "n", "e" };
	struct sv rest = sv_from(key, first);
	for (size_t i = 0; i < ARRAY_LEN(joints); i++)
		if (sv_starts(rest, sv_of(joints[i])) && rest.n > strlen(joints[i]) + 3)
			return sv_from(rest, strlen(joints[i]));
	return rest;
}

static bool is_part(const struct term *m)
{
	enum { SHORTEST = 4 };
	return !(m->flags & TERM_PAIR) && m->stem_n >= SHORTEST;
}

/* synchronisation, synchronisier: long words that begin alike. */
static bool same_root(struct sv a, struct sv b)
{
	enum { ROOT = 7, TAIL = 5 };
	size_t n = 0;
	while (n < a.n && n < b.n && a.p[n] == b.p[n])
		n++;
	return n >= ROOT && a.n - n <= TAIL && b.n - n <= TAIL;
}

/* Archivsuche, where "Suche" and "Archiv" were said: both parts, each by its own weight. */
static double compound_value(
	const struct route_topic *topic, const struct term *q, const struct route_topic *conv)
{
	enum { SHORTEST = 9, ENDING = 3 };
	struct sv key = term_stem(topic, q); /* stems have no umlauts, so neither has the whole */
	double best = 0;
	if (!is_part(q) || key.n < SHORTEST || (q->flags & TERM_IDENT))
		return 0;
	for (size_t i = 0; i < conv->terms.n; i++) {
		const struct term *a = &conv->terms.v[i];
		struct sv first = term_stem(conv, a);
		if (!is_part(a) || first.n + 4 > key.n || !sv_starts(key, first))
			continue;
		struct sv plain = sv_from(key, first.n), rest = behind(key, first.n);
		for (size_t j = 0; j < conv->terms.n; j++) {
			const struct term *b = &conv->terms.v[j];
			struct sv second = term_stem(conv, b);
			bool fits = (sv_starts(rest, second) && rest.n <= second.n + ENDING) ||
				(sv_starts(plain, second) && plain.n <= second.n + ENDING) ||
				same_root(plain, second);
			double more = (double)fmaxf(a->weight, b->weight);
			double value = ((double)(a->weight + b->weight) / 2 + more) / 2;
			if (is_part(b) && fits && value > best)
				best = value;
		}
	}
	return best;
}

/* "die Spuren klingen dumpf", where Gitarrenspuren were said: the head alone, as known. */
static bool is_shortened(const struct match_text *text, const struct term *q,
	const struct route_topic *conv, const struct term *c)
{
	const unsigned german = TERM_GERMAN | TERM_HEAD;
	struct sv small = term_stem(text->topic, q), large = term_stem(conv, c);
	return (q->flags & TERM_DEFINITE) && (q->flags & c->flags & german) == german &&
		!((q->flags | c->flags) & TERM_PAIR) && large.n > small.n && sv_ends(large, small);
}

static struct found find_best(
	const struct match_text *text, size_t i, const struct route_topic *conv)
{
	struct found best = { 0 };
	const struct term *q = &text->topic->terms.v[i];
	for (size_t j = 0; j < conv->terms.n; j++) {
		const struct term *c = &conv->terms.v[j];
		double like = term_likeness(text->topic, q, conv, c);
		if (like > 0 && like < shortened_likeness && is_shortened(text, q, conv, c))
			like = shortened_likeness;
		double value = like * (double)c->weight;
		if (value > best.value)
			best = (struct found){ c, like, value };
	}
	double both = compound_value(text->topic, q, conv);
	if (both > best.value) {
		best.value = both;
		best.likeness = 1;
	}
	best.value *= (double)q->weight * text->rarity[i];
	if (best.term && (q->flags & best.term->flags & TERM_IDENT) && best.likeness >= 1)
		best.value *= identifier_bonus;
	return best;
}

/* A word of the same noun phrase with one of these flags that the other side does not know. */
static bool has_stranger(const struct route_topic *a, const struct term *of,
	const struct route_topic *b, unsigned flags)
{
	for (size_t i = 0; i < a->terms.n; i++) {
		const struct term *m = &a->terms.v[i];
		size_t unused;
		if (sv_find(term_key(a, of), term_key(a, m), &unused))
			continue; /* a word of the phrase itself */
		if (m == of || m->chunk != of->chunk || m->group == of->group ||
			!(m->flags & flags) || !(m->flags & TERM_WHOLE))
			continue;
		bool known = false;
		for (size_t j = 0; j < b->terms.n && !known; j++)
			known = term_likeness(a, m, b, &b->terms.v[j]) >= 0.5;
		if (!known)
			return true;
	}
	return false;
}

/* "login screen" and "transfer screen" share a word and are two things. */
static double phrase_factor(const struct match_text *text, const struct term *q,
	const struct route_topic *conv, const struct term *c)
{
	if (((q->flags | c->flags) & TERM_PAIR) || !(q->flags & TERM_WHOLE))
		return 1;
	bool here = has_stranger(text->topic, q, conv, TERM_NAME);
	bool there = has_stranger(conv, c, text->topic, TERM_NAME);
	if (!(q->flags & TERM_HEAD)) {
		bool of_noun = !here && has_stranger(text->topic, q, conv, TERM_HEAD);
		return here && there ? clash_factor
			: here	     ? modifier_factor
			: of_noun    ? noun_modifier_factor
				     : 1;
	}
	if (here && there)
		return clash_factor;
	bool only_modifier = there && !(c->flags & TERM_HEAD);
	return here ? narrowed_factor : only_modifier ? attribute_factor : 1;
}

static double term_value(
	const struct match_text *text, size_t i, const struct route_topic *conv, struct found *ret)
{
	const struct term *q = &text->topic->terms.v[i];
	*ret = find_best(text, i, conv);
	double value = ret->value;
	if (ret->term)
		value *= phrase_factor(text, q, conv, ret->term);
	if (sv_eq(term_key(text->topic, q), text->project_name))
		value *= project_factor;
	if (text->imperative && (q->flags & TERM_FOCUS))
		value *= object_factor;
	else if (!text->imperative && text->at_hand && (q->flags & TERM_DEFINITE) &&
		ret->likeness >= same_enough && value < at_hand_enough)
		value = fmin(value * at_hand_bonus, at_hand_enough);
	return value;
}

struct tally {
	struct match m;
	double whole, parts; /* of the group being read */
	double best; /* value of m.word */
	double beside; /* strength of what is not in the focus */
	size_t focus, focus_known;
};

static void close_group(struct tally *t, bool focus)
{
	double value = t->whole > t->parts ? t->whole : t->parts;
	t->m.strength += value;
	t->beside += focus ? 0 : value;
	t->whole = t->parts = 0;
}

static void note_word(struct tally *t, struct sv key, double value)
{
	if (value <= t->best)
		return;
	t->best = value;
	struct sv cut = utf8_cut(key, sizeof(t->m.word) - 1);
	memcpy(t->m.word, cut.p, cut.n);
	t->m.word[cut.n] = '\0';
}

static void count_names(struct tally *t, const struct term *q, double likeness)
{
	if (!(q->flags & TERM_NAME) || !(q->flags & TERM_WHOLE))
		return;
	t->m.names++;
	t->m.names_known += likeness >= same_enough;
	t->focus += (q->flags & TERM_FOCUS) != 0;
	t->focus_known += (q->flags & TERM_FOCUS) && likeness >= 0.5;
}

struct match match_topics(const struct match_text *text, const struct route_topic *conv)
{
	struct tally t = { .best = 0 };
	uint16_t group = 0;
	bool focus = false;
	for (size_t i = 0; i < text->topic->terms.n; i++) {
		const struct term *q = &text->topic->terms.v[i];
		if (q->group != group)
			close_group(&t, focus);
		group = q->group;
		focus = q->flags & (TERM_FOCUS | TERM_IDENT);
		struct found f;
		double value = term_value(text, i, conv, &f);
		if (q->flags & TERM_WHOLE)
			t.whole = value;
		else
			t.parts += value;
		note_word(&t, term_key(text->topic, q), value);
		count_names(&t, q, f.likeness);
	}
	close_group(&t, focus);
	if (!text->leans && t.focus > 0 && t.focus_known == 0)
		t.m.strength -= (1 - beside_factor) * t.beside;
	if (t.m.names > 0 && t.m.names_known == t.m.names)
		t.m.strength *= covered_bonus;
	return t.m;
}
