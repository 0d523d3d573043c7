#include "search/word.h"

#include <assert.h>
#include <utf8proc.h>

#include "base/utf8.h"

enum {
	BLOB_MIN = 64, /* bytes of base64 that are taken for such */
	SUSPECT_MIN = 16, /* shorter words are not looked at for that */
	LATIN = 0xC3, /* begins a character of U+00C0 to U+00FF … */
	SHARP_S = 0x9F, /* … of which this is ß, and capitals are before it */
	FORM_MIN = 3,
	FORM_MAX = 32, /* bytes of words that have forms: longer ones are names of things */
};

/* What a byte or character is in a word. */
enum {
	C_LOWER = 1, /* letters that are no capitals, of any script */
	C_UPPER = 2,
	C_DIGIT = 4,
	C_MARK = 8, /* goes on a word but begins none */
	C_WORD = C_LOWER | C_UPPER | C_DIGIT | C_MARK,
	C_JOIN = 16, /* between two parts of an identifier */
	C_BLOB = 32, /* of base64, beside letters and digits */
	C_PAIRS = 64, /* of a script without blanks */
};

/* clang-format off */
#define L C_LOWER
#define U C_UPPER
#define D C_DIGIT
#define B C_BLOB
static const uint8_t ascii[256] = {
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, B, 0, C_JOIN | B, C_JOIN, B,
	D, D, D, D, D, D, D, D, D, D, 0, 0, 0, B, 0, 0,
	0, U, U, U, U, U, U, U, U, U, U, U, U, U, U, U,
	U, U, U, U, U, U, U, U, U, U, U, 0, 0, 0, 0, C_JOIN | B,
	0, L, L, L, L, L, L, L, L, L, L, L, L, L, L, L,
	L, L, L, L, L, L, L, L, L, L, L, 0, 0, 0, 0, 0,
};
#undef L
#undef U
#undef D
#undef B
/* clang-format on */

/* Han, kana, Hangul, Thai, Lao, Burmese, Khmer: written without blanks, or with blanks that do not
 * part what is looked for. */
static bool in_pairs(uint32_t cp)
{
	static const struct {
		uint32_t from, to;
	} scripts[] = {
		{ 0x0E01, 0x0EFF },
		{ 0x1000, 0x109F },
		{ 0x1780, 0x17FF },
		{ 0x3005, 0x3007 },
		{ 0x3041, 0x30FF },
		{ 0x3105, 0x312F },
		{ 0x31F0, 0x31FF },
		{ 0x3400, 0x9FFF },
		{ 0xAC00, 0xD7AF },
		{ 0xF900, 0xFAFF },
		{ 0xFF66, 0xFF9F },
		{ 0x20000, 0x3FFFF },
	};

	for (size_t i = 0; i < ARRAY_LEN(scripts) && cp >= scripts[i].from; i++)
		if (cp <= scripts[i].to)
			return true;
	return false;
}

static unsigned class_of(uint32_t cp)
{
	enum { SOFT_HYPHEN = 0xAD, NON_JOINER = 0x200C, JOINER = 0x200D, CATEGORIES = 30 };
	static const uint8_t classes[CATEGORIES] = {
		[UTF8PROC_CATEGORY_LU] = C_UPPER,
		[UTF8PROC_CATEGORY_LT] = C_UPPER,
		[UTF8PROC_CATEGORY_LL] = C_LOWER,
		[UTF8PROC_CATEGORY_LM] = C_LOWER,
		[UTF8PROC_CATEGORY_LO] = C_LOWER,
		[UTF8PROC_CATEGORY_MN] = C_MARK,
		[UTF8PROC_CATEGORY_MC] = C_MARK,
		[UTF8PROC_CATEGORY_ME] = C_MARK,
		[UTF8PROC_CATEGORY_ND] = C_DIGIT,
		[UTF8PROC_CATEGORY_NL] = C_DIGIT,
		[UTF8PROC_CATEGORY_NO] = C_DIGIT,
	};
	unsigned class = classes[utf8proc_category((utf8proc_int32_t)cp)];

	if (cp == SOFT_HYPHEN || cp == NON_JOINER || cp == JOINER)
		return C_MARK;
	return class && class != C_MARK && in_pairs(cp) ? C_PAIRS : class;
}

/* The class of the character at `at`, and its bytes. */
static inline unsigned class_at(struct sv text, size_t at, size_t *ret_n)
{
	unsigned char c = (unsigned char)text.p[at];
	uint32_t cp;

	*ret_n = 1;
	if (c < 0x80)
		return ascii[c];
	/* Western letters, without looking them up: À to Þ, ß to ÿ, but for × and ÷. */
	if (c == LATIN && at + 1 < text.n && (text.p[at + 1] & 0xC0) == 0x80) {
		unsigned char low = (unsigned char)text.p[at + 1];
		*ret_n = 2;
		return low == 0x97 || low == 0xB7 ? 0 : low < SHARP_S ? C_UPPER : C_LOWER;
	}
	*ret_n = utf8_decode(sv_from(text, at), &cp);
	return class_of(cp);
}

/* Where the letters and digits that begin at `at` end, joints between them included. Most words are
 * small ASCII letters and nothing else: *ret_plain, and none of that has to be looked at again. */
static size_t identifier_end(struct sv text, size_t at, bool *ret_plain)
{
	const unsigned char *p = (const unsigned char *)text.p;
	unsigned seen = 0;
	size_t n, after;

	for (; at < text.n && (ascii[p[at]] & C_WORD); at++)
		seen |= ascii[p[at]];
	bool joint = at < text.n && (ascii[p[at]] & C_JOIN) && at + 1 < text.n &&
		(p[at + 1] >= 0x80 || (ascii[p[at + 1]] & C_WORD));
	*ret_plain = !joint && !(seen & C_UPPER) && (at == text.n || p[at] < 0x80);
	if (*ret_plain)
		return at;
	for (;;) {
		while (at < text.n && (class_at(text, at, &n) & C_WORD))
			at += n;
		if (at + 1 >= text.n || !(class_at(text, at, &n) & C_JOIN) ||
			!(class_at(text, at + 1, &after) & (C_WORD & ~(unsigned)C_MARK)))
			return at;
		at++;
	}
}

static size_t pairs_end(struct sv text, size_t at)
{
	size_t n;

	while (at < text.n && (class_at(text, at, &n) & (C_PAIRS | C_MARK)))
		at += n;
	return at;
}

/* Two letters in lower case follow: a capital before them begins a word, also after another one
 * (HTTPServer; but IDs are one). */
static bool lower_follow(struct sv text, size_t at, size_t end)
{
	size_t n;

	for (int i = 0; i < 2; i++, at += n)
		if (at >= end || !(class_at(text, at, &n) & (C_LOWER | C_MARK)))
			return false;
	return true;
}

/* The end of the part of an identifier that begins at `at`. */
static size_t part_end(struct sv text, size_t at, size_t end)
{
	unsigned before = 0;
	size_t n;

	for (size_t i = at; i < end; i += n) {
		unsigned class = class_at(text, i, &n);
		if (class & C_JOIN)
			return i;
		if (class & C_MARK)
			continue;
		if ((class & C_UPPER) && before &&
			((before & C_LOWER) || lower_follow(text, i + n, end)))
			return i;
		before = class;
	}
	return end;
}

/* The end of base64 that begins at `at`, or `at` itself. Its letters are in both cases and have
 * digits among them; a path of the same length has not. */
static size_t blob_end(struct word_walk *w)
{
	size_t at = w->at, upper = 0, digits = 0;

	if (at < w->looked)
		return at;
	for (; at < w->text.n && (unsigned char)w->text.p[at] < 0x80; at++) {
		unsigned class = ascii[(unsigned char)w->text.p[at]];
		if (!(class & (C_WORD | C_BLOB)))
			break;
		upper += (class & C_UPPER) != 0;
		digits += (class & C_DIGIT) != 0;
	}
	size_t n = at - w->at;
	w->looked = at;
	return n >= BLOB_MIN && upper * 5 >= n && digits * 20 >= n ? at : w->at;
}

/* Folds up to max bytes into buf; 0 when the result has no room. */
static size_t fold(struct sv raw, char *buf, size_t max)
{
	enum { EXPANSION = 4 }; /* of a character of two bytes, decomposed and folded */
	utf8proc_int32_t cps[WORD_MAX * EXPANSION + 1];
	utf8proc_option_t options =
		UTF8PROC_STABLE | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE;
	size_t i = 0, out = 0;

	/* ASCII and western letters, which nothing composes with as long as they are alone. */
	for (; i < raw.n && out + 1 < max; i++) {
		unsigned char c = (unsigned char)raw.p[i];
		unsigned char low = i + 1 < raw.n ? (unsigned char)raw.p[i + 1] : 0;
		if (c < 0x80) {
			buf[out++] = (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
		} else if (c == LATIN && low == SHARP_S) {
			buf[out++] = 's';
			buf[out++] = 's';
			i++;
		} else if (c == LATIN && (low & 0xC0) == 0x80) {
			buf[out++] = (char)LATIN;
			buf[out++] = (char)(low < SHARP_S && low != 0x97 ? low + 32 : low);
			i++;
		} else {
			break;
		}
	}
	if (i == raw.n)
		return out;
	if (raw.n > WORD_MAX)
		return 0;
	utf8proc_ssize_t n = utf8proc_decompose((const utf8proc_uint8_t *)raw.p,
		(utf8proc_ssize_t)raw.n, cps, WORD_MAX * EXPANSION, options);
	if (n <= 0 || n > WORD_MAX * EXPANSION)
		return 0;
	/* In place: a code point has room for four bytes, and one more is there for the NUL. */
	n = utf8proc_reencode(cps, n, options);
	if (n <= 0 || (size_t)n > max)
		return 0;
	memcpy(buf, cps, (size_t)n);
	return (size_t)n;
}

void words_begin(struct word_walk *w, struct sv text)
{
	w->text = text;
	w->at = w->end = w->looked = 0;
	w->position = 0;
	w->pairs = w->many = w->plain = false;
}

/* A word of the bytes from `at` on; false when it is too long. */
static bool take(struct word_walk *w, size_t size, enum word_kind kind, struct word_at *ret)
{
	if (size > WORD_MAX)
		return false;
	size_t n = fold(sv_make(w->text.p + w->at, size), w->buf, WORD_MAX);

	*ret = (struct word_at){
		.text = sv_make(w->buf, n),
		.position = w->position,
		.kind = kind,
		.from = w->at,
		.size = size,
	};
	return n > 0;
}

/* The next of a run without blanks. */
static bool next_pair(struct word_walk *w, struct word_at *ret)
{
	size_t first, second = 0;

	(void)class_at(w->text, w->at, &first);
	/* Marks stay with the character before them. */
	while (w->at + first < w->end && (class_at(w->text, w->at + first, &second) & C_MARK))
		first += second;
	size_t next = w->at + first;
	size_t to = next;
	while (to < w->end) {
		unsigned class = class_at(w->text, to, &second);
		if (to > next && !(class & C_MARK))
			break;
		to += second;
	}
	bool got = take(w, to - w->at,
		to > next	  ? WORD_PAIR
			: w->many ? WORD_LAST
				  : WORD_PLAIN,
		ret);
	w->many = true;
	w->at = next;
	w->position++;
	return got;
}

static bool next_part(struct word_walk *w, struct word_at *ret)
{
	size_t n;

	if (w->plain) {
		size_t from = w->at, size = w->end - w->at;
		uint32_t position = w->position++;
		w->at = w->end;
		if (size > WORD_MAX)
			return false;
		memcpy(w->buf, w->text.p + from, size);
		*ret = (struct word_at){ .text = sv_make(w->buf, size),
			.position = position,
			.kind = WORD_PLAIN,
			.from = from,
			.size = size };
		return true;
	}
	while (w->at < w->end && (class_at(w->text, w->at, &n) & C_JOIN))
		w->at++;
	if (w->at == w->end)
		return false;
	size_t end = part_end(w->text, w->at, w->end);
	bool got = take(w, end - w->at, w->many ? WORD_PART : WORD_PLAIN, ret);
	w->at = end;
	w->position++;
	return got;
}

/* Goes to the next identifier or run; false at the end of the text. */
static bool find_run(struct word_walk *w)
{
	for (size_t n; w->at < w->text.n; w->at += n) {
		unsigned class = class_at(w->text, w->at, &n);
		w->pairs = (class & C_PAIRS) != 0;
		w->many = w->plain = false;
		if (w->pairs) {
			w->end = pairs_end(w->text, w->at);
			return true;
		}
		if (!(class & (C_WORD & ~(unsigned)C_MARK)))
			continue;
		w->end = identifier_end(w->text, w->at, &w->plain);
		size_t blob = w->end - w->at >= SUSPECT_MIN ? blob_end(w) : w->at;
		if (blob == w->at)
			return true;
		w->at = blob;
		n = 0;
	}
	return false;
}

bool words_next(struct word_walk *w, struct word_at *ret)
{
	for (;;) {
		if (w->at >= w->end) {
			if (!find_run(w))
				return false;
			if (!w->pairs && !w->plain && part_end(w->text, w->at, w->end) < w->end) {
				w->many = true;
				if (take(w, w->end - w->at, WORD_WHOLE, ret))
					return true;
			}
		}
		if (w->pairs ? next_pair(w, ret) : next_part(w, ret))
			return true;
	}
}

void term_of_field(struct str *out, enum term_field field, struct sv value)
{
	AUTO_STR folded = STR_INIT;

	utf8_normalise(&folded, value, true);
	size_t from = folded.len > TERM_MAX - 1 ? folded.len - (TERM_MAX - 1) : 0;
	while (from < folded.len && ((unsigned char)folded.buf[from] & 0xC0) == 0x80)
		from++;
	str_addc(out, (char)field);
	str_add(out, sv_from(str_sv(&folded), from));
}

struct sv term_of_pair(struct sv first, struct sv second, char buf[static PAIR_TERM_MAX])
{
	assert(first.n <= WORD_MAX && second.n <= WORD_MAX);
	buf[0] = TERM_PAIR;
	memcpy(buf + 1, first.p, first.n);
	buf[1 + first.n] = ' ';
	memcpy(buf + 2 + first.n, second.p, second.n);
	return sv_make(buf, first.n + second.n + 2);
}

/* ---- word forms ---- */

void word_forms_release(struct word_forms *f)
{
	stemmers_release(&f->stemmers);
}

static bool of_letters(struct sv word)
{
	size_t n;

	for (size_t i = 0; i < word.n; i += n)
		if (!(class_at(word, i, &n) & (C_LOWER | C_UPPER | C_MARK)))
			return false;
	return true;
}

struct sv word_form(struct word_forms *f, enum word_form form, struct sv word)
{
	struct sv none = { NULL, 0 };
	char *buf = f->buf[form];

	if (word.n < FORM_MIN || word.n > FORM_MAX || !of_letters(word))
		return none;
	if (form != FORM_UNMARKED) {
		struct sv stem =
			stem_of(&f->stemmers, form == FORM_ENGLISH ? LANG_EN : LANG_DE, word);
		if (stem.n > WORD_MAX)
			return none;
		memcpy(buf, stem.p, stem.n);
		return sv_make(buf, stem.n);
	}
	utf8proc_int32_t cps[FORM_MAX * 2 + 1];
	utf8proc_option_t options = UTF8PROC_STABLE | UTF8PROC_DECOMPOSE | UTF8PROC_STRIPMARK;
	utf8proc_ssize_t n = utf8proc_decompose((const utf8proc_uint8_t *)word.p,
		(utf8proc_ssize_t)word.n, cps, FORM_MAX * 2, options);
	if (n <= 0 || n > FORM_MAX * 2)
		return none;
	n = utf8proc_reencode(cps, n, UTF8PROC_STABLE | UTF8PROC_COMPOSE);
	if (n <= 0 || n > WORD_MAX)
		return none;
	memcpy(buf, cps, (size_t)n);
	return sv_make(buf, (size_t)n);
}
