#include "route/text.h"

#include <utf8proc.h>

#include "base/mem.h"
#include "base/unicode.h"
#include "base/utf8.h"
#include "route/tables.h"

void text_release(struct text *t)
{
	str_release(&t->pool);
	vec_release(&t->tokens);
	vec_release(&t->words);
}

/* ---- characters ---- */

/* Scripts that put no blanks between words. */
static bool is_cjk(uint32_t cp)
{
	return (cp >= 0x2e80 && cp <= 0x9fff) || (cp >= 0xac00 && cp <= 0xd7af) ||
		(cp >= 0xf900 && cp <= 0xfaff) || (cp >= 0x20000 && cp <= 0x3ffff);
}

static bool is_letter(uint32_t cp)
{
	return unicode_word(cp) && cp != '_' && !is_cjk(cp);
}

/* Holds an identifier or a compound together when letters stand on both sides. */
static bool is_joint(uint32_t cp)
{
	return cp == '.' || cp == '_' || cp == '/' || cp == '\'' || cp == '-' || cp == 0x2019;
}

static bool is_quote(uint32_t cp)
{
	return cp == '"' || cp == 0xab || cp == 0xbb || (cp >= 0x201c && cp <= 0x201f);
}

/* Of punctuation what says how a sentence is meant, full width as usual. */
static char mark_of(uint32_t cp)
{
	static const struct {
		uint32_t cp;
		char mark;
	} marks[] = { { '?', '?' }, { 0xff1f, '?' }, { '!', '!' }, { 0xff01, '!' }, { ':', ':' },
		{ 0xff1a, ':' }, { ',', ',' }, { 0xff0c, ',' }, { 0x3001, ',' } };

	for (size_t i = 0; i < ARRAY_LEN(marks); i++)
		if (cp == marks[i].cp)
			return marks[i].mark;
	return is_quote(cp) ? '"' : 0;
}

/* Appends the word folded and without marks on its letters. */
static void add_plain(struct str *out, struct sv word)
{
	utf8proc_uint8_t *plain = NULL;
	bool ascii = true;

	for (size_t i = 0; i < word.n; i++)
		ascii &= (unsigned char)word.p[i] < 0x80;
	utf8proc_ssize_t n = ascii
		? -1
		: utf8proc_map((const utf8proc_uint8_t *)word.p, (utf8proc_ssize_t)word.n, &plain,
			  UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_STRIPMARK |
				  UTF8PROC_CASEFOLD);
	if (n >= 0)
		str_add(out, sv_make((const char *)plain, (size_t)n));
	else
		utf8_normalise(out, word, true);
	free(plain);
}

/* ---- tokens ---- */

struct reader {
	struct text *t;
	const char *begin; /* of the text */
	struct stemmers *stemmers; /* NULL: only tokens are wanted */
	struct str folded;
	bool apart, quoted;
};

static void add_token(struct reader *r, struct sv folded, struct sv written, bool mark)
{
	struct text *t = r->t;
	size_t from = (size_t)(written.p - r->begin);

	vec_push(&t->tokens,
		(struct text_token){ .at = (uint32_t)t->pool.len,
			.from = (uint32_t)from,
			.to = (uint32_t)(from + written.n),
			.n = (uint16_t)(folded.n < UINT16_MAX ? folded.n : UINT16_MAX),
			.mark = mark,
			.apart = r->apart,
			.quoted = r->quoted });
	str_add(&t->pool, sv_head(folded, UINT16_MAX));
	t->n_words += !mark;
	r->apart &= mark;
	const struct known_word *known = known_find(folded);
	for (size_t l = 0; known && l < LANG_COUNT; l++)
		if ((known->flags >> l & 1) && t->langs[l] < UINT8_MAX)
			t->langs[l]++;
}

static void add_word(struct reader *r, struct sv written, unsigned flags)
{
	enum { LANGS = TEXT_STEMS };
	static const enum lang_id stem_langs[LANGS] = { LANG_EN, LANG_DE };
	struct text *t = r->t;
	struct text_word w = { .at = (uint32_t)t->pool.len, .flags = (uint8_t)flags, .rarity = 1 };

	if (t->words.n == TEXT_WORDS_MAX)
		return;
	add_plain(&t->pool, written);
	str_cut(&t->pool, w.at + utf8_cut(sv_from(str_sv(&t->pool), w.at), TEXT_WORD_MAX).n);
	w.n = (uint8_t)(t->pool.len - w.at);
	struct sv plain = sv_from(str_sv(&t->pool), w.at);
	w.hash = table_hash(plain);
	vec_each (&t->words, old) {
		if (old->hash == w.hash && old->n == w.n) {
			old->flags &= (uint8_t)(w.flags | ~(unsigned)WORD_JOINED);
			str_cut(&t->pool, w.at);
			return;
		}
	}
	const struct known_word *known = known_find(plain);
	if (known && (known->flags & KNOWN_RARITY))
		w.rarity = (float)known->rarity / 255;
	w.meaning = known ? known->meaning : 0;
	str_clear(&r->folded);
	utf8_normalise(&r->folded, sv_head(written, TEXT_WORD_MAX), true);
	for (size_t i = 0; i < LANGS && !(flags & WORD_CJK); i++)
		w.stems[i] = table_hash(stem_of(r->stemmers, stem_langs[i], str_sv(&r->folded)));
	t->token_of[t->words.n] = (uint16_t)(t->tokens.n - 1);
	vec_push(&t->words, w);
}

static bool is_stop(struct reader *r, struct sv written)
{
	str_clear(&r->folded);
	utf8_normalise(&r->folded, written, true);
	return known_as(str_sv(&r->folded), KNOWN_STOP);
}

/* A part of a token that may say what the text is about. Of two letters only what is written as an
 * abbreviation, DB or UI, or has a digit. */
static void add_part(struct reader *r, struct sv part, unsigned flags)
{
	size_t n = utf8_length(part);
	bool small = false, digit = false;

	for (size_t i = 0; i < part.n; i++) {
		small |= part.p[i] >= 'a' && part.p[i] <= 'z';
		digit |= part.p[i] >= '0' && part.p[i] <= '9';
	}
	if (n < 2 || (n == 2 && small && !digit) || is_stop(r, part))
		return;
	add_word(r, part, flags);
}

/* The parts of "parseRetryLimit", "src/lib.rs" or "feuchte-sensor". */
static void add_parts(struct reader *r, struct sv token)
{
	size_t from = 0, joints = 0, humps = 0, digits = 0, letters = 0;
	uint32_t before = 0;

	for (size_t i = 0, n; i < token.n; i += n) {
		uint32_t cp;
		n = utf8_decode(sv_from(token, i), &cp);
		joints += cp == '.' || cp == '_' || cp == '/';
		humps += before >= 'a' && before <= 'z' && cp >= 'A' && cp <= 'Z';
		digits += cp >= '0' && cp <= '9';
		letters += is_letter(cp) && !(cp >= '0' && cp <= '9');
		before = cp;
	}
	bool identifier = joints + humps > 0 || (digits > 0 && letters > 0);
	unsigned flags = identifier ? WORD_IDENT : 0;
	r->t->identifiers |= identifier;
	before = 0;
	for (size_t i = 0, n; i <= token.n; i += n) {
		uint32_t cp = 0;
		n = i < token.n ? utf8_decode(sv_from(token, i), &cp) : 1;
		bool hump = before >= 'a' && before <= 'z' && cp >= 'A' && cp <= 'Z';
		if (i == token.n || is_joint(cp) || hump) {
			add_part(r, sv_make(token.p + from, i - from), flags);
			from = i + (hump || i == token.n ? 0 : n);
		}
		before = cp;
	}
	if (identifier && joints + humps > 0)
		add_word(r, token, WORD_IDENT);
}

/* Characters are tokens, neighbours are words. */
static void read_cjk(struct reader *r, struct sv run)
{
	struct sv last = { NULL, 0 };

	for (size_t i = 0, n; i < run.n; i += n) {
		uint32_t cp;
		n = utf8_decode(sv_from(run, i), &cp);
		struct sv one = sv_make(run.p + i, n);
		add_token(r, one, one, false);
		struct sv two = sv_make(last.p, last.n + n);
		if (r->stemmers && last.p && !is_stop(r, two) &&
			!(is_stop(r, one) && is_stop(r, last)))
			add_word(r, two, WORD_CJK);
		last = one;
	}
}

static void read_word(struct reader *r, struct sv token)
{
	AUTO_STR folded = STR_INIT;

	utf8_normalise(&folded, token, true);
	for (size_t i = 0; i + 2 < folded.len; i++) /* ’ is an apostrophe here */
		if (memcmp(folded.buf + i, "\xe2\x80\x99", 3) == 0) {
			folded.buf[i] = '\'';
			memmove(folded.buf + i + 1, folded.buf + i + 3, folded.len - i - 3);
			str_cut(&folded, folded.len - 2);
		}
	add_token(r, str_sv(&folded), token, false);
	if (r->stemmers)
		add_parts(r, token);
}

/* "feuchte sensor" for who later writes "Feuchtesensor". */
static void add_joined(struct reader *r)
{
	enum { SHORTEST = 6 };
	struct text *t = r->t;
	AUTO_STR both = STR_INIT;

	for (size_t i = 0; i + 1 < t->tokens.n; i++) {
		if (t->tokens.v[i].mark || t->tokens.v[i + 1].mark)
			continue;
		struct sv a = text_token_sv(t, &t->tokens.v[i]);
		struct sv b = text_token_sv(t, &t->tokens.v[i + 1]);
		uint32_t cp;
		(void)utf8_decode(a, &cp);
		if (a.n + b.n < SHORTEST || is_cjk(cp) || (is_stop(r, a) && is_stop(r, b)))
			continue;
		str_clear(&both);
		str_add(&both, a);
		str_add(&both, b);
		add_word(r, str_sv(&both), WORD_JOINED);
	}
}

void text_read(struct text *t, struct sv bytes, struct stemmers *stemmers)
{
	struct reader r = { .t = t, .begin = bytes.p, .stemmers = stemmers, .folded = STR_INIT };
	char last = 0;

	for (size_t i = 0, n; i < bytes.n; i += n) {
		uint32_t cp, next = 0;
		n = utf8_decode(sv_from(bytes, i), &cp);
		size_t end = i + n;
		if (is_cjk(cp)) {
			for (size_t m; end < bytes.n; end += m) {
				m = utf8_decode(sv_from(bytes, end), &next);
				if (!is_cjk(next))
					break;
			}
			read_cjk(&r, sv_make(bytes.p + i, end - i));
		} else if (is_letter(cp)) {
			for (size_t m, k; end < bytes.n; end += m) {
				uint32_t after = 0;
				m = utf8_decode(sv_from(bytes, end), &next);
				k = m;
				if (end + m < bytes.n)
					k += utf8_decode(sv_from(bytes, end + m), &after);
				if (is_joint(next) && is_letter(after))
					m = k;
				else if (!is_letter(next))
					break;
			}
			read_word(&r, sv_make(bytes.p + i, end - i));
		} else {
			char mark = mark_of(cp);
			r.apart |= !unicode_space(cp);
			if (is_quote(cp)) {
				t->quotes = true;
				r.quoted = !r.quoted;
			}
			if (mark)
				add_token(&r, sv_make(&mark, 1), sv_make(bytes.p + i, n), true);
			last = unicode_space(cp) ? last : mark;
			continue;
		}
		last = 0;
		n = end - i;
	}
	t->question = last == '?';
	if (stemmers)
		add_joined(&r);
	str_release(&r.folded);
}

/* ---- likeness ---- */

/* The share of threes of characters that two words have in common, beginnings and ends marked. */
static double dice(struct sv a, struct sv b)
{
	uint32_t seen[TEXT_WORD_MAX + 2];
	size_t shared = 0;

	for (size_t i = 0; i < a.n; i++)
		seen[i] = text_gram(a, i);
	for (size_t i = 0; i < b.n; i++)
		for (size_t j = 0; j < a.n; j++)
			if (seen[j] == text_gram(b, i)) {
				seen[j] = 0;
				shared++;
				break;
			}
	return 2.0 * (double)shared / (double)(a.n + b.n);
}

double word_sameness(const struct text_word *wa, const struct text_word *wb)
{
	const double same_stem = 0.95, joined = 0.9, same_meaning = 0.85;

	if (wa->hash == wb->hash)
		return (wa->flags | wb->flags) & WORD_JOINED ? joined : 1;
	if ((wa->flags | wb->flags) & (WORD_JOINED | WORD_CJK))
		return 0;
	for (size_t i = 0; i < TEXT_STEMS; i++)
		if (wa->stems[i] == wb->stems[i])
			return same_stem;
	return wa->meaning && wa->meaning == wb->meaning ? same_meaning : 0;
}

double word_likeness(
	const struct text_word *wa, struct sv a, const struct text_word *wb, struct sv b)
{
	enum { LEAST = 4, PART = 5, END = 4 };
	const double within = 0.8, least = 0.5;

	if (((wa->flags | wb->flags) & (WORD_JOINED | WORD_CJK)) || a.n < LEAST || b.n < LEAST)
		return 0;
	size_t at, prefix = 0, longer = a.n > b.n ? a.n : b.n;
	if ((a.n >= PART && sv_find(b, a, &at)) || (b.n >= PART && sv_find(a, b, &at)) ||
		(a.n >= END && sv_ends(b, a)) || (b.n >= END && sv_ends(a, b)))
		return within;
	while (prefix < a.n && prefix < b.n && a.p[prefix] == b.p[prefix])
		prefix++;
	double alike = dice(a, b);
	double begins = prefix >= LEAST ? (double)prefix / (double)longer : 0;
	if (begins > alike)
		alike = begins;
	return alike >= least ? alike : 0;
}
