#include "base/utf8.h"
#include "route/token.h"

/* German words that English has too: they do not prove that German is spoken. */
static bool is_false_friend(struct sv w)
{
	static const char *const words[] = { "also", "am", "an", "arm", "art", "bad", "bin",
		"brief", "die", "dies", "fast", "fell", "gift", "halt", "hat", "hell", "in", "kind",
		"links", "list", "man", "mine", "not", "rat", "rot", "so", "tag", "war", "was",
		"wand", "test", "plan", "lag", "her", "end", "log", "stand", "stop", "name", "text",
		"code", "note" };
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (sv_is(w, words[i]))
			return true;
	return false;
}

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
static void vote(const struct tokens *t, const struct lexicon *lex, unsigned votes[LANG_COUNT])
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
		languages += languages == 1 && known[LANG_DE] && is_false_friend(w);
		for (size_t l = 0; l < LANG_COUNT; l++)
			if (known[l])
				votes[l] += languages == 1 ? 3 : 1;
		votes[LANG_ZH] += k->flags & TOKEN_HAN ? 3 : 0;
		enum lang_id by_letters = letters_of(w);
		if (by_letters < LANG_COUNT)
			votes[by_letters] += 2;
	}
}

/* German and English are mixed all the time; other pairs need more than a word that happens to
 * exist in both. */
static bool speaks_also(const unsigned votes[LANG_COUNT], size_t main, size_t other)
{
	bool often = main <= LANG_DE && other <= LANG_DE;
	return often ? votes[other] >= 3 : votes[other] >= 6 && 2 * votes[other] >= votes[main];
}

static void choose_languages(struct tokens *t, const struct lexicon *lex)
{
	unsigned votes[LANG_COUNT] = { 0 };
	vote(t, lex, votes);
	size_t best = 0, next = LANG_COUNT;
	for (size_t l = 1; l < LANG_COUNT; l++)
		if (votes[l] > votes[best])
			best = l;
	for (size_t l = 0; l < LANG_COUNT; l++)
		if (l != best && speaks_also(votes, best, l) &&
			(next == LANG_COUNT || votes[l] > votes[next]))
			next = l;
	t->lang = (enum lang_id)best;
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

static lang_mask look_up_both(const struct tokens *t, const struct lexicon *lex, struct sv w)
{
	lang_mask m = look_up(lex, t->lang, w);
	return m || t->second == t->lang ? m : look_up(lex, t->second, w);
}

/* teh, adn, udn: two letters swapped in one of the words that every sentence has. */
static lang_mask swapped(const struct tokens *t, const struct lexicon *lex, struct sv w)
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

static lang_mask look_up_word(const struct tokens *t, const struct lexicon *lex, struct sv w)
{
	lang_mask m = look_up_both(t, lex, w);
	m = m ? m : lexicon_inflected(lex, t->lang, w);
	return m || t->second == t->lang ? m : lexicon_inflected(lex, t->second, w);
}

static bool goes_on(const struct tokens *t, const struct lexicon *lex, struct sv phrase)
{
	return lexicon_goes_on(lex, t->lang, phrase) || lexicon_goes_on(lex, t->second, phrase);
}

/* The longest phrase from token i on; commas may stand inside, full stops not. */
static void find_phrase(struct tokens *t, const struct lexicon *lex, size_t i)
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

static void mark_phrases(struct tokens *t, const struct lexicon *lex)
{
	for (size_t i = 0; i < t->v.n; i++) {
		find_phrase(t, lex, i);
		for (size_t j = 1; j < t->v.v[i].phrase_n; j++)
			t->v.v[i + j].flags |= TOKEN_IN_PHRASE;
	}
}

void tokens_classify(struct tokens *t, const struct lexicon *lex)
{
	choose_languages(t, lex);
	for (size_t i = 0; i < t->v.n; i++) {
		struct token *k = &t->v.v[i];
		k->cls = look_up_word(t, lex, token_word(t, k));
		if (!k->cls && is_number(token_word(t, k)))
			k->cls = LANG_BIT(NUM);
		if (!k->cls && !(k->flags & (TOKEN_UPPER | TOKEN_IDENT | TOKEN_QUOTED)))
			k->cls = swapped(t, lex, token_word(t, k));
		t->mixed_case |= i > 0 && (k->flags & TOKEN_UPPER) && !k->before;
	}
	mark_phrases(t, lex);
}
