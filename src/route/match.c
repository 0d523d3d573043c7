#include "route/match.h"

#include <math.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "route/topic.h"

/* ---- how alike two terms are ---- */

enum { SKELETON_MAX = 16 };

static size_t common_prefix(struct sv a, struct sv b)
{
	size_t n = 0;

	while (n < a.n && n < b.n && a.p[n] == b.p[n])
		n++;
	return n;
}

/* One insertion, deletion, substitution or swap apart. */
static bool one_slip(struct sv a, struct sv b)
{
	if (a.n > b.n) {
		struct sv swap = a;
		a = b;
		b = swap;
	}
	size_t from = common_prefix(a, b), ra = a.n, rb = b.n;
	while (ra > from && rb > from && a.p[ra - 1] == b.p[rb - 1]) {
		ra--;
		rb--;
	}
	bool swapped = ra - from == 2 && rb - from == 2 && a.p[from] == b.p[from + 1] &&
		a.p[from + 1] == b.p[from];
	return b.n - a.n <= 1 && ((ra - from <= 1 && rb - from <= 1) || swapped);
}

/* Forms and derivations that stemming leaves apart: Validierung and validiert, crawl and crawler.
 */
static double form_likeness(struct sv a, struct sv b)
{
	enum {
		SHORTEST = 4,
		COMPOUND_SHORTEST = 5,
		TELLING = 9, /* letters of a part that says much alone */
		SLIP_SHORTEST = 5,
		TAIL_MAX = 4,
		ENDING_MAX = 2
	};
	size_t shorter = a.n < b.n ? a.n : b.n, longer = a.n < b.n ? b.n : a.n;

	if (shorter < SHORTEST)
		return 0;
	size_t n = common_prefix(a, b);
	if (n == shorter) {
		struct sv tail = sv_from(a.n > b.n ? a : b, n);
		if (sv_is(tail, "er") || sv_is(tail, "or") || sv_is(tail, "eur"))
			return 0.9; /* pars+er, convert+or: who does it */
	}
	if (n == shorter && longer - n <= TAIL_MAX)
		return n <= SHORTEST ? 0.5 : longer - n <= ENDING_MAX ? 0.95 : 0.8;
	if (n > SHORTEST && shorter - n <= 2 && longer - n <= TAIL_MAX)
		return 0.7;
	if (shorter >= SLIP_SHORTEST && one_slip(a, b))
		return 0.7;
	if (shorter >= COMPOUND_SHORTEST && n == shorter)
		return shorter >= TELLING ? 0.65 : 0.5;
	struct sv small = a.n < b.n ? a : b, large = a.n < b.n ? b : a;
	if (shorter < COMPOUND_SHORTEST || !sv_ends(large, small))
		return 0;
	return shorter >= TELLING ? 0.7 : 0.55;
}

/* Sauerteigbrot, Brot: short words end long ones, and what is left is a word too. */
static double tail_likeness(struct sv a, struct sv b)
{
	enum { SHORTEST = 4, REST = 4 };
	struct sv small = a.n < b.n ? a : b, large = a.n < b.n ? b : a;

	return small.n >= SHORTEST && large.n >= small.n + REST && sv_ends(large, small) ? 0.55 : 0;
}

/* The consonants a recogniser hears, as classes: shed yule and schedule are S T L. */
static size_t skeleton(struct sv w, char out[static SKELETON_MAX])
{
	static const char classes[] = "_P_T_FK__KKLMN_PKRSTTFFK_S"; /* a to z; '_' is not heard */
	size_t n = 0;

	for (size_t i = 0; i < w.n && n < SKELETON_MAX; i++) {
		char c = w.p[i];
		if (c < 'a' || c > 'z')
			continue;
		bool hiss = c == 'c' && i + 1 < w.n && w.p[i + 1] == 'h';
		char cls = hiss ? 'S' : classes[c - 'a'];
		if (c == 'c' && !hiss)
			cls = 'K';
		if (cls != '_' && (n == 0 || out[n - 1] != cls))
			out[n++] = cls;
	}
	return n;
}

static bool sounds_alike(struct sv a, struct sv b)
{
	enum { ENOUGH = 3 };

	if (a.n <= 5 || b.n <= 5 || a.p[0] != b.p[0])
		return false;
	char sa[SKELETON_MAX], sb[SKELETON_MAX];
	size_t na = skeleton(a, sa), nb = skeleton(b, sb);
	return na >= ENOUGH && na == nb && memcmp(sa, sb, na) == 0;
}

/* The words themselves are compared already: only what joins them counts. */
static double pair_likeness(
	const struct topic_term *a, struct sv ka, const struct topic_term *b, struct sv kb)
{
	if (sv_eq(ka, kb))
		return 0;
	if (a->pair && a->pair == b->pair)
		return 0.8;
	return ka.n > 7 && (one_slip(ka, kb) || sounds_alike(ka, kb)) ? 0.7 : 0;
}

static bool is_han(struct sv key)
{
	return key.n > 0 && (unsigned char)key.p[0] >= 0xe3;
}

static bool same_thing(const struct topic_term *a, const struct topic_term *b)
{
	return a->meaning != 0 && a->meaning == b->meaning;
}

/* 0 to 1. */
static double term_likeness(const struct route_topic *at, const struct topic_term *a,
	const struct route_topic *bt, const struct topic_term *b)
{
	struct sv ka = term_key(at, a), kb = term_key(bt, b);

	if (is_han(ka) || is_han(kb)) /* every character counts */
		return sv_eq(ka, kb) ? 1 : same_thing(a, b) ? 0.85 : 0;
	if ((a->flags & b->flags) & TERM_PAIR)
		return pair_likeness(a, ka, b, kb);
	if (sv_eq(ka, kb) || sv_eq(term_stem(at, a), term_stem(bt, b)))
		return 1;
	if (a->pair && a->pair == b->pair)
		return 0.95;
	if (same_thing(a, b))
		return 0.85;
	if (memchr(ka.p, ' ', ka.n) || memchr(kb.p, ' ', kb.n))
		return 0; /* release, release notes */
	if ((a->flags | b->flags) & TERM_PAIR)
		return (one_slip(ka, kb) && ka.n > 6) || sounds_alike(ka, kb) ? 0.8 : 0;
	double like = form_likeness(term_stem(at, a), term_stem(bt, b));
	bool german = a->flags & b->flags & TERM_GERMAN;
	return like > 0 || !german ? like : tail_likeness(term_stem(at, a), term_stem(bt, b));
}

/* ---- how far the subject is the same ---- */

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
		const struct topic_term *q = &topic->terms.v[i];
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
	const struct topic_term *term; /* of the conversation; NULL: none */
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

static bool is_part(const struct topic_term *m)
{
	enum { SHORTEST = 4 };

	return !(m->flags & TERM_PAIR) && m->stem_n >= SHORTEST;
}

/* synchronisation, synchronisier: long words that begin alike. */
static bool same_root(struct sv a, struct sv b)
{
	enum { ROOT = 7, TAIL = 5 };
	size_t n = common_prefix(a, b);

	return n >= ROOT && a.n - n <= TAIL && b.n - n <= TAIL;
}

/* Archivsuche, where "Suche" and "Archiv" were said: both parts, each by its own weight. */
static double compound_value(
	const struct route_topic *topic, const struct topic_term *q, const struct route_topic *conv)
{
	enum { SHORTEST = 9, ENDING = 3 };
	struct sv key = term_stem(topic, q); /* stems have no umlauts, so neither has the whole */
	double best = 0;

	if (!is_part(q) || key.n < SHORTEST || (q->flags & TERM_IDENT))
		return 0;
	for (size_t i = 0; i < conv->terms.n; i++) {
		const struct topic_term *a = &conv->terms.v[i];
		struct sv first = term_stem(conv, a);
		if (!is_part(a) || first.n + 4 > key.n || !sv_starts(key, first))
			continue;
		struct sv plain = sv_from(key, first.n), rest = behind(key, first.n);
		for (size_t j = 0; j < conv->terms.n; j++) {
			const struct topic_term *b = &conv->terms.v[j];
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
static bool is_shortened(const struct match_text *text, const struct topic_term *q,
	const struct route_topic *conv, const struct topic_term *c)
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
	const struct topic_term *q = &text->topic->terms.v[i];

	for (size_t j = 0; j < conv->terms.n; j++) {
		const struct topic_term *c = &conv->terms.v[j];
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
static bool has_stranger(const struct route_topic *a, const struct topic_term *of,
	const struct route_topic *b, unsigned flags)
{
	for (size_t i = 0; i < a->terms.n; i++) {
		const struct topic_term *m = &a->terms.v[i];
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
static double phrase_factor(const struct match_text *text, const struct topic_term *q,
	const struct route_topic *conv, const struct topic_term *c)
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
	const struct topic_term *q = &text->topic->terms.v[i];

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

struct match match_topics(const struct match_text *text, const struct route_topic *conv)
{
	struct tally t = { .best = 0 };
	uint16_t group = 0;
	bool focus = false;

	for (size_t i = 0; i < text->topic->terms.n; i++) {
		const struct topic_term *q = &text->topic->terms.v[i];
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
		if (value > t.best) {
			struct sv cut = utf8_cut(term_key(text->topic, q), sizeof(t.m.word) - 1);
			memcpy(t.m.word, cut.p, cut.n);
			t.m.word[cut.n] = '\0';
			t.best = value;
		}
		if (!(q->flags & TERM_NAME) || !(q->flags & TERM_WHOLE))
			continue;
		t.m.names++;
		t.m.names_known += f.likeness >= same_enough;
		t.focus += (q->flags & TERM_FOCUS) != 0;
		t.focus_known += (q->flags & TERM_FOCUS) && f.likeness >= 0.5;
	}
	close_group(&t, focus);
	if (!text->leans && t.focus > 0 && t.focus_known == 0)
		t.m.strength -= (1 - beside_factor) * t.beside;
	if (t.m.names > 0 && t.m.names_known == t.m.names)
		t.m.strength *= covered_bonus;
	return t.m;
}
