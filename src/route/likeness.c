#include "route/topic.h"

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

/* pars+er, convert+or: who does it. */
static bool makes_doer(struct sv tail)
{
	return sv_is(tail, "er") || sv_is(tail, "or") || sv_is(tail, "eur");
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
	if (n == shorter && makes_doer(sv_from(a.n > b.n ? a : b, n)))
		return 0.9;
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
static double pair_likeness(const struct term *a, struct sv ka, const struct term *b, struct sv kb)
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

static bool same_thing(const struct term *a, const struct term *b)
{
	return a->meaning != 0 && a->meaning == b->meaning;
}

double term_likeness(const struct route_topic *at, const struct term *a,
	const struct route_topic *bt, const struct term *b)
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
