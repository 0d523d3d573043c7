#include "route/token.h"

#include <utf8proc.h>

#include "base/utf8.h"
#include "route/unicode.h"

/* ---- languages, classes and phrases of words that are cut ---- */

/* German words that English has too: they do not prove that German is spoken. */
static const char false_friends[] =
	"also|am|an|arm|art|bad|bin|brief|die|dies|fast|fell|gift|halt|hat|hell|in|kind|links|list|"
	"man|mine|not|rat|rot|so|tag|war|was|wand|test|plan|lag|her|end|log|stand|stop|name|text|"
	"code|note";

/* The language that alone writes such letters; LANG_COUNT when there is none. */
static enum lang_id letters_of(struct sv w)
{
	static const struct {
		uint16_t cp;
		enum lang_id lang;
	} letters[] = { { 0xe4, LANG_DE }, { 0xf6, LANG_DE }, { 0xe8, LANG_FR }, { 0xea, LANG_FR },
		{ 0xe7, LANG_FR }, { 0xe0, LANG_FR }, { 0xf9, LANG_FR }, { 0x153, LANG_FR },
		{ 0xf1, LANG_ES }, { 0xe1, LANG_ES }, { 0xed, LANG_ES }, { 0xf3, LANG_ES },
		{ 0xfa, LANG_ES } };

	while (w.n > 0) {
		uint32_t cp;
		w = sv_from(w, utf8_decode(w, &cp));
		for (size_t i = 0; cp >= 0x80 && i < ARRAY_LEN(letters); i++)
			if (letters[i].cp == cp)
				return letters[i].lang;
	}
	return LANG_COUNT;
}

/* Words that many languages share say nothing about which one is spoken. */
static void vote(const struct token_list *t, const struct lexicon *lex, unsigned votes[LANG_COUNT])
{
	for (size_t i = 0; i < t->v.n; i++) {
		const struct token *k = &t->v.v[i];
		if (k->flags & TOKEN_QUOTED)
			continue;
		struct sv w = token_word(t, k);
		bool known[LANG_COUNT];
		unsigned languages = 0;
		lexicon_languages(lex, w, known);
		for (size_t l = 0; l < LANG_COUNT; l++)
			languages += known[l];
		languages += languages == 1 && known[LANG_DE] && sv_among(w, false_friends);
		for (size_t l = 0; l < LANG_COUNT; l++)
			if (known[l])
				votes[l] += languages == 1 ? 3 : 1;
		votes[LANG_ZH] += k->flags & TOKEN_HAN ? 3 : 0;
		enum lang_id by_letters = letters_of(w);
		if (by_letters < LANG_COUNT)
			votes[by_letters] += 2;
	}
}

static void choose_languages(struct token_list *t, const struct lexicon *lex)
{
	unsigned votes[LANG_COUNT] = { 0 };

	vote(t, lex, votes);
	size_t best = 0, next = LANG_COUNT;
	for (size_t l = 1; l < LANG_COUNT; l++)
		if (votes[l] > votes[best])
			best = l;
	for (size_t l = 0; l < LANG_COUNT; l++) {
		/* German and English are mixed all the time; other pairs need more than a word that
		 * happens to exist in both. */
		bool often = best <= LANG_DE && l <= LANG_DE;
		bool spoken = often ? votes[l] >= 3 : votes[l] >= 6 && 2 * votes[l] >= votes[best];
		if (l != best && spoken && (next == LANG_COUNT || votes[l] > votes[next]))
			next = l;
	}
	t->lang = (enum lang_id)best;
	t->lang_sure = votes[best] >= 3;
	for (size_t l = 0; l < LANG_COUNT; l++)
		t->lang_sure &= l == best || votes[l] < votes[best];
	t->second = (enum lang_id)(next == LANG_COUNT ? best : next);
}

static lang_mask look_up(const struct lexicon *lex, enum lang_id lang, struct sv w)
{
	lang_mask m = lexicon_get(lex, lang, w);
	const char *mark = m ? NULL : memchr(w.p, '\'', w.n);

	if (!mark)
		return m;
	size_t at = (size_t)(mark - w.p);
	AUTO_STR joined = STR_INIT; /* don't → dont */
	str_add(&joined, sv_head(w, at));
	str_add(&joined, sv_from(w, at + 1));
	m = lexicon_get(lex, lang, str_sv(&joined));
	return m ? m : lexicon_get(lex, lang, sv_head(w, at)); /* what's → what */
}

/* teh, adn, udn: two letters swapped in one of the words that every sentence has. */
static lang_mask swapped(const struct token_list *t, const struct lexicon *lex, struct sv w)
{
	enum { SHORTEST = 3, LONGEST = 5 };
	const lang_mask small = LANG_BIT(ART) | LANG_BIT(INDEF) | LANG_BIT(PREP) | LANG_BIT(AND) |
		LANG_BIT(AUX) | LANG_BIT(DEM) | LANG_BIT(PRON) | LANG_BIT(WEAKPRON);
	char buf[LONGEST];

	if (w.n < SHORTEST || w.n > LONGEST)
		return 0;
	for (size_t i = 0; i + 1 < w.n; i++) {
		memcpy(buf, w.p, w.n);
		buf[i] = w.p[i + 1];
		buf[i + 1] = w.p[i];
		lang_mask m = lexicon_get(lex, t->lang, sv_make(buf, w.n));
		if (m & small)
			return m;
	}
	return 0;
}

static bool goes_on(const struct token_list *t, const struct lexicon *lex, struct sv phrase)
{
	return lexicon_goes_on(lex, t->lang, phrase) || lexicon_goes_on(lex, t->second, phrase);
}

/* The longest phrase from token i on; commas may stand inside, full stops not. */
static void find_phrase(struct token_list *t, const struct lexicon *lex, size_t i)
{
	struct token *k = &t->v.v[i];

	k->phrase = k->cls;
	k->phrase_n = 1;
	struct sv first = token_word(t, k);
	if (!goes_on(t, lex, first))
		return;
	AUTO_STR phrase = STR_INIT;
	str_add(&phrase, first);
	for (size_t j = i + 1; j < t->v.n && j < i + LANG_PHRASE_MAX; j++) {
		const struct token *next = &t->v.v[j];
		if (next->before == '.' || ((next->flags ^ k->flags) & TOKEN_QUOTED))
			break;
		str_addc(&phrase, ' ');
		str_add(&phrase, token_word(t, next));
		lang_mask m = lexicon_get(lex, t->lang, str_sv(&phrase));
		m = m ? m : lexicon_get(lex, t->second, str_sv(&phrase));
		if (m) {
			k->phrase = m;
			k->phrase_n = (uint8_t)(j - i + 1);
		}
		if (!goes_on(t, lex, str_sv(&phrase)))
			break;
	}
}

static bool is_number(struct sv w)
{
	size_t digits = 0, letters = 0;

	for (size_t i = 0; i < w.n; i++) {
		bool digit = w.p[i] >= '0' && w.p[i] <= '9';
		digits += digit;
		letters += !digit && w.p[i] != '.' && w.p[i] != ',';
	}
	return digits > 0 && letters <= 2 && w.p[0] >= '0' && w.p[0] <= '9';
}

static void tokens_classify(struct token_list *t, const struct lexicon *lex)
{
	choose_languages(t, lex);
	for (size_t i = 0; i < t->v.n; i++) {
		struct token *k = &t->v.v[i];
		struct sv w = token_word(t, k);
		bool both = t->second != t->lang;
		k->cls = look_up(lex, t->lang, w);
		if (!k->cls && both)
			k->cls = look_up(lex, t->second, w);
		if (!k->cls)
			k->cls = lexicon_inflected(lex, t->lang, w);
		if (!k->cls && both)
			k->cls = lexicon_inflected(lex, t->second, w);
		if (!k->cls && is_number(w))
			k->cls = LANG_BIT(NUM);
		if (!k->cls && !(k->flags & (TOKEN_UPPER | TOKEN_IDENT | TOKEN_QUOTED)))
			k->cls = swapped(t, lex, w);
		t->mixed_case |= i > 0 && (k->flags & TOKEN_UPPER) && !k->before;
	}
	for (size_t i = 0; i < t->v.n; i++) {
		find_phrase(t, lex, i);
		for (size_t j = 1; j < t->v.v[i].phrase_n; j++)
			t->v.v[i + j].flags |= TOKEN_IN_PHRASE;
	}
}

/* ---- cutting ---- */

void tokens_release(struct token_list *t)
{
	vec_release(&t->v);
	str_release(&t->words);
}

/* Everything the cutting loop carries along. */
struct cutter {
	struct token_list *t;
	const struct lexicon *lex;
	struct sv rest;
	const char *quote_end; /* inside a quotation that ends here; NULL outside */
	char before;
};

static bool is_han(uint32_t cp)
{
	return (cp >= 0x3400 && cp <= 0x9fff) || (cp >= 0x3040 && cp <= 0x30ff) ||
		(cp >= 0xf900 && cp <= 0xfaff) || (cp >= 0x20000 && cp <= 0x3134f);
}

static bool is_word(uint32_t cp)
{
	if (cp < 0x80)
		return (cp | 0x20) - 'a' < 26 || cp - '0' < 10 || cp == '_';
	utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)cp);
	return unicode_word(cp) || c == UTF8PROC_CATEGORY_MN || c == UTF8PROC_CATEGORY_MC;
}

static bool is_apostrophe(uint32_t cp)
{
	return cp == '\'' || cp == 0x2019 || cp == 0x2018 || cp == 0x2bc || cp == 0xb4 ||
		cp == 0xff07 || cp == 0x2032;
}

static bool is_hyphen(uint32_t cp)
{
	return cp == '-' || cp == 0x2010 || cp == 0x2011 || cp == 0xad || cp == 0xff0d;
}

/* The mark that ends a quotation begun by cp; 0 when cp begins none. */
static uint32_t closing_quote(uint32_t cp)
{
	static const struct {
		uint16_t open, close;
	} pairs[] = { { '"', '"' }, { '`', '`' }, { 0x201c, 0x201d }, { 0x201e, 0x201c },
		{ 0x201d, 0x201d }, { 0xab, 0xbb }, { 0xbb, 0xab }, { 0x2039, 0x203a },
		{ 0x300c, 0x300d }, { 0x300e, 0x300f }, { 0xff02, 0xff02 }, { 0x201a, 0x2018 },
		{ '\'', '\'' }, { 0x2018, 0x2019 } };

	for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
		if (pairs[i].open == cp)
			return pairs[i].close;
	return 0;
}

/* Where the quotation begun just before s ends, or NULL. A single mark counts as the end only
 * when no letter follows, so that "it's" inside does not end it. */
static const char *find_quote_end(struct sv s, uint32_t close)
{
	while (s.n > 0) {
		uint32_t cp, next = ' ';
		size_t step = utf8_decode(s, &cp);
		struct sv after = sv_from(s, step);
		if (after.n > 0)
			utf8_decode(after, &next);
		if (cp == close && !(is_apostrophe(cp) && is_word(next)))
			return s.p;
		s = after;
	}
	return NULL;
}

static char punctuation(uint32_t cp)
{
	switch (cp) {
	case ',':
	case 0xff0c:
	case 0x3001:
	case 0x2013:
	case 0x2014:
	case '(':
	case ')':
		return ',';
	case '.':
	case ':':
	case ';':
	case '!':
	case '\n':
	case 0x2026:
	case 0x3002:
	case 0xff1a:
	case 0xff1b:
	case 0xff01:
		return '.';
	case '?':
	case 0xff1f:
		return '?';
	default:
		return 0;
	}
}

static void note_punctuation(struct cutter *c, uint32_t cp)
{
	char mark = punctuation(cp);

	if (!mark)
		return;
	if (c->before != '.' && c->before != '?')
		c->before = mark;
	if (c->t->v.n > 0) {
		struct token *last = &c->t->v.v[c->t->v.n - 1];
		if (!last->after || last->after == ',')
			last->after = mark;
	}
}

/* Most words are plain ASCII; they need no tables. */
static void fold(struct str *out, struct sv raw)
{
	for (size_t i = 0; i < raw.n; i++) {
		if ((unsigned char)raw.p[i] >= 0x80) {
			utf8_normalise(out, raw, true);
			return;
		}
	}
	for (size_t i = 0; i < raw.n; i++) {
		char c = raw.p[i];
		str_addc(out, c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c);
	}
}

static struct token *push(struct cutter *c, struct sv raw, uint8_t flags)
{
	struct token k = { .raw = raw,
		.flags = flags,
		.before = c->before == '?' ? '.' : c->before,
		.word_at = (uint32_t)c->t->words.len };

	fold(&c->t->words, raw);
	k.word_n = (uint32_t)(c->t->words.len - k.word_at);
	if (c->quote_end && raw.p < c->quote_end)
		k.flags |= TOKEN_QUOTED;
	c->before = 0;
	vec_push(&c->t->v, k);
	return &c->t->v.v[c->t->v.n - 1];
}

/* ---- Chinese ---- */

enum { HAN_WORD_MAX = 6 }; /* characters in the longest lexicon word tried */

static size_t han_length(struct sv s, size_t chars)
{
	size_t at = 0;

	for (size_t i = 0; i < chars && at < s.n; i++) {
		uint32_t cp;
		at += utf8_decode(sv_from(s, at), &cp);
	}
	return at;
}

/* Single characters of these classes are parts of words: 天 of 天气. */
static const lang_mask han_parts = LANG_BIT(TIME) | LANG_BIT(HERE) | LANG_BIT(NUM) | LANG_BIT(ADJ) |
	LANG_BIT(NOUN) | LANG_BIT(COMP);

/* Bytes of the longest lexicon word at the front; 0 when there is none. */
static size_t han_known(const struct lexicon *lex, struct sv s)
{
	for (size_t chars = HAN_WORD_MAX; chars > 0; chars--) {
		size_t n = han_length(s, chars);
		lang_mask m = lexicon_get(lex, LANG_ZH, sv_head(s, n));
		if (m && (chars > 1 || (m & ~han_parts)))
			return n;
	}
	return 0;
}

/* A single character cuts a word off only when it is hardly ever part of one. */
static bool han_cuts(struct sv word)
{
	enum { CHAR = 3 };
	size_t unused;

	return word.n > CHAR ||
		sv_find(SV("的了吗呢吧嘛呀啦把我你您它他她这那是在和与或也很太都就不没被让对从"),
			word, &unused);
}

/* 验证 and 验证码: a known word of two characters with one unknown behind it is another word. */
static bool han_goes_on(const struct lexicon *lex, struct sv run, size_t known)
{
	enum { CHAR = 3 };
	const lang_mask open = LANG_BIT(VERB) | LANG_BIT(NOUN) | LANG_BIT(DEED);

	if (known != 2 * (size_t)CHAR || !(lexicon_get(lex, LANG_ZH, sv_head(run, known)) & open))
		return false;
	struct sv rest = sv_from(run, known);
	if (rest.n < CHAR || han_known(lex, rest) > 0)
		return false;
	rest = sv_from(rest, han_length(rest, 1));
	return rest.n == 0 || han_known(lex, rest) > 0;
}

static void cut_han(struct cutter *c, struct sv run)
{
	size_t start = 0, at = 0;

	while (at < run.n) {
		size_t known = han_known(c->lex, sv_from(run, at));
		if (han_goes_on(c->lex, sv_from(run, at), known)) {
			at += known;
			continue;
		}
		if (known == 0 || (at > start && !han_cuts(sv_make(run.p + at, known)))) {
			at += han_length(sv_from(run, at), 1);
			continue;
		}
		if (at > start)
			push(c, sv_make(run.p + start, at - start), TOKEN_HAN);
		push(c, sv_make(run.p + at, known), TOKEN_HAN);
		at += known;
		start = at;
	}
	if (at > start)
		push(c, sv_make(run.p + start, at - start), TOKEN_HAN);
}

/* ---- words ---- */

/* Length of the word at the front of s, which begins with a word character. */
static size_t word_length(struct sv s)
{
	size_t at = 0;

	while (at < s.n) {
		uint32_t cp, next = ' ';
		size_t step = utf8_decode(sv_from(s, at), &cp);
		struct sv after = sv_from(s, at + step);
		if (after.n > 0)
			utf8_decode(after, &next);
		bool plus = (cp == '+' || cp == '#') && at > 0;
		bool inside = is_word(cp) && !is_han(cp);
		/* a.b a/b a-b a'b */
		bool joins =
			cp == '.' || cp == '/' || cp == '@' || is_hyphen(cp) || is_apostrophe(cp);
		if (!inside && !plus && !(joins && is_word(next) && !is_han(next)))
			break;
		at += step;
	}
	return at;
}

static bool is_upper(uint32_t cp)
{
	return cp < 0x80 ? cp - 'A' < 26 : utf8proc_isupper((utf8proc_int32_t)cp);
}

/* snake_case, a path, a file with an extension, or a capital after a small letter. */
static bool looks_like_identifier(struct sv w)
{
	bool small = false;

	for (size_t at = 0; at < w.n;) {
		uint32_t cp;
		at += utf8_decode(sv_from(w, at), &cp);
		if (cp == '_' || cp == '/' || cp == '@' || cp == '.' || (small && is_upper(cp)))
			return true;
		small = cp < 0x80 ? cp - 'a' < 26 : utf8proc_islower((utf8proc_int32_t)cp);
	}
	return false;
}

/* Bytes before the first apostrophe and its own length. */
static bool find_apostrophe(struct sv w, size_t *ret_at, size_t *ret_n)
{
	for (size_t at = 0; at < w.n;) {
		uint32_t cp;
		size_t step = utf8_decode(sv_from(w, at), &cp);
		if (is_apostrophe(cp)) {
			*ret_at = at;
			*ret_n = step;
			return true;
		}
		at += step;
	}
	return false;
}

static uint8_t word_flags(struct sv w)
{
	uint32_t first;

	utf8_decode(w, &first);
	return (uint8_t)((is_upper(first) ? TOKEN_UPPER : 0) |
		(looks_like_identifier(w) ? TOKEN_IDENT : 0));
}

/* Typographic apostrophes and hyphens become the plain ones of the tables. */
static void plain_marks(struct token_list *t, struct token *k)
{
	struct sv w = token_word(t, k);
	bool ascii = true;

	for (size_t i = 0; i < w.n; i++)
		ascii &= (unsigned char)w.p[i] < 0x80;
	if (ascii)
		return;
	AUTO_STR plain = STR_INIT;
	while (w.n > 0) {
		uint32_t cp;
		w = sv_from(w, utf8_decode(w, &cp));
		utf8_add(&plain, is_apostrophe(cp) ? '\'' : is_hyphen(cp) ? '-' : cp);
	}
	str_cut(&t->words, k->word_at);
	str_add(&t->words, str_sv(&plain));
	k->word_n = (uint32_t)plain.len;
}

static void push_word(struct cutter *c, struct sv w)
{
	size_t at, n;

	/* French drops vowels before the apostrophe: l'application is two words. */
	while (find_apostrophe(w, &at, &n) &&
		sv_among(sv_head(w, at),
			"l|d|j|n|s|c|m|t|qu|jusqu|lorsqu|puisqu|aujourd|L|D|J|N|S|C|M|T|Qu")) {
		push(c, sv_head(w, at), word_flags(w));
		w = sv_from(w, at + n);
	}
	/* French hangs pronouns on the verb: rends-la, vas-y, reste-t-il. */
	const char *hyphen = memrchr(w.p, '-', w.n);
	if (!hyphen ||
		!sv_among(sv_from(w, (size_t)(hyphen - w.p) + 1),
			"le|la|les|y|en|lui|leur|moi|toi|tu|il|elle|ils|elles|ce|nous|vous")) {
		plain_marks(c->t, push(c, w, word_flags(w)));
		return;
	}
	struct sv part;
	for (bool first = true; sv_split(&w, '-', &part); first = false)
		if (part.n > 0)
			push(c, part, first ? word_flags(part) : TOKEN_CLITIC);
}

static void cut_one(struct cutter *c)
{
	uint32_t cp;
	size_t step = utf8_decode(c->rest, &cp);

	if (c->quote_end && c->rest.p >= c->quote_end) {
		c->quote_end = NULL;
		c->rest = sv_from(c->rest, step);
		return;
	}
	size_t n = 0;
	if (is_han(cp)) {
		while (n < c->rest.n && is_han(cp)) {
			n += step;
			if (n < c->rest.n)
				step = utf8_decode(sv_from(c->rest, n), &cp);
		}
		cut_han(c, sv_head(c->rest, n));
	} else if (is_word(cp) && (n = word_length(c->rest)) > 0) {
		push_word(c, sv_head(c->rest, n));
	} else {
		n = step;
		uint32_t close = c->quote_end ? 0 : closing_quote(cp);
		if (close)
			c->quote_end = find_quote_end(sv_from(c->rest, step), close);
		else
			note_punctuation(c, cp);
	}
	c->rest = sv_from(c->rest, n);
}

void tokens_read(struct token_list *t, struct sv text, const struct lexicon *lex)
{
	struct cutter c = { .t = t, .lex = lex, .rest = text };

	while (c.rest.n > 0)
		cut_one(&c);
	tokens_classify(t, lex);
	t->question = t->v.n > 0 && t->v.v[t->v.n - 1].after == '?';
}

/* ---- lists of phrases ---- */

void phrase_read(struct token_list *t, struct sv text)
{
	static const struct lexicon none; /* only the words are wanted */

	tokens_read(t, text, &none);
}

static size_t match_words(const struct token_list *t, size_t i, struct sv phrase)
{
	size_t n = 0;
	struct sv word;
	AUTO_STR folded = STR_INIT;

	while (sv_split(&phrase, ' ', &word)) {
		str_clear(&folded);
		utf8_normalise(&folded, word, true);
		if (i + n >= t->v.n)
			return 0;
		/* Without a lexicon a run of Chinese is not cut: its beginning decides. */
		const struct token *k = &t->v.v[i + n];
		struct sv own = token_word(t, k);
		if (k->flags & TOKEN_HAN ? !sv_starts(own, str_sv(&folded))
					 : !sv_eq(own, str_sv(&folded)))
			return 0;
		n++;
	}
	return n;
}

size_t phrase_at(const struct token_list *t, size_t i, const char *list)
{
	size_t best = 0;
	struct sv rest = sv_of(list), phrase;

	while (sv_split(&rest, '|', &phrase)) {
		size_t n = match_words(t, i, phrase);
		best = n > best ? n : best;
	}
	return best;
}

struct sv phrase_rest(const struct token_list *t, size_t i)
{
	if (i >= t->v.n)
		return SV("");
	const struct token *last = &t->v.v[t->v.n - 1];
	const char *from = t->v.v[i].raw.p;
	return sv_make(from, (size_t)(last->raw.p + last->raw.n - from));
}
