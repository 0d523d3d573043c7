#include "route/lang.h"

#include "base/attr.h"
#include "base/utf8.h"
#include "route/hurried.h"
#include "route/wordtable.h"

/* ---- words ---- */

const struct word_row *wordtable_find(struct sv key)
{
	for (size_t at = word_slot(key); word_index[at]; at = (at + 1) % WORD_INDEX_SIZE) {
		const struct word_row *row = &word_rows[word_index[at] - 1];
		if (row->n == key.n && memcmp(&word_pool[row->at], key.p, key.n) == 0)
			return row;
	}
	return NULL;
}

static const char *const codes[LANG_COUNT] = {
	[LANG_EN] = "en", [LANG_DE] = "de", [LANG_FR] = "fr", [LANG_ES] = "es", [LANG_ZH] = "zh"
};

const char *lang_name(enum lang_id lang)
{
	return codes[lang];
}

static const char *const class_names[] = {
#define X(id, name) [LANG_##id] = name,
	LANG_CLASSES(X)
#undef X
};

bool lang_class_parse(struct sv name, enum lang_class *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(class_names); i++) {
		if (sv_is(name, class_names[i])) {
			*ret = (enum lang_class)i;
			return true;
		}
	}
	return false;
}

void lang_class_list(struct str *out)
{
	for (size_t i = 0; i < ARRAY_LEN(class_names); i++)
		str_addf(out, "%s%s", i ? ", " : "", class_names[i]);
}

/* The classes, and whether longer phrases begin so. */
static lang_mask look_up(const struct lexicon *lex, enum lang_id lang, struct sv phrase)
{
	const struct word_row *row = lex->own_words ? wordtable_find(phrase) : NULL;
	uint64_t more = 0;

	if (lex->extra[lang].n > 0)
		(void)map_get(&lex->extra[lang], phrase, &more);
	return (row ? word_masks[lang][row->masks[lang]] : 0) | more;
}

static void add_phrase(struct map *words, struct sv phrase, lang_mask mask)
{
	*map_ref(words, phrase) |= mask;
	for (size_t i = 1; i < phrase.n; i++)
		if (phrase.p[i] == ' ')
			*map_ref(words, sv_head(phrase, i)) |= WORD_BEGINS_PHRASE;
}

/* Never over a word of its own: si is not sí. */
static void add_hurried(struct lexicon *lex, enum lang_id lang, struct sv phrase, lang_mask mask)
{
	enum { LONGEST = 200 };

	if (lang != LANG_FR && lang != LANG_ES)
		return;
	for (size_t i = 0; i < HURRY_COUNT; i++) {
		char buf[LONGEST];
		size_t n;
		if (hurried((enum hurry)i, phrase, buf, sizeof(buf), &n) &&
			!look_up(lex, lang, sv_make(buf, n)))
			add_phrase(&lex->extra[lang], sv_make(buf, n), mask);
	}
}

static void add_extra(struct lexicon *lex, const struct lang_extra *extra)
{
	enum lang_class cls;
	bool known = false;

	if (!lang_class_parse(extra->cls, &cls))
		return;
	for (size_t l = 0; l < LANG_COUNT; l++)
		known |= sv_is(extra->language, codes[l]);
	for (size_t l = 0; l < LANG_COUNT; l++) {
		struct sv list = extra->words, word;
		bool meant = !known || sv_is(extra->language, codes[l]);
		while (meant && sv_split(&list, '|', &word)) {
			AUTO_STR folded = STR_INIT;
			if (sv_trim(word).n == 0)
				continue;
			utf8_normalise(&folded, sv_trim(word), true);
			add_phrase(&lex->extra[l], str_sv(&folded), (lang_mask)1 << cls);
			add_hurried(lex, (enum lang_id)l, str_sv(&folded), (lang_mask)1 << cls);
		}
	}
}

void lexicon_init(struct lexicon *lex, const struct lang_extra *extra, size_t n_extra)
{
	*lex = (struct lexicon){ .own_words = true };
	for (size_t i = 0; i < n_extra; i++)
		add_extra(lex, &extra[i]);
}

void lexicon_release(struct lexicon *lex)
{
	for (size_t l = 0; l < LANG_COUNT; l++)
		map_release(&lex->extra[l]);
}

/* Endings that leave nouns, adjectives and verbs what they are. */
static const char *const endings[LANG_COUNT][8] = {
	[LANG_EN] = { "s", "es", "ing", "ed", "d" },
	[LANG_DE] = { "n", "en", "e", "s", "es", "er", "em", "t" },
	[LANG_FR] = { "s", "e", "es", "x", "r", "nt" },
	[LANG_ES] = { "s", "es", "r", "n" },
};

lang_mask lexicon_inflected(const struct lexicon *lex, enum lang_id lang, struct sv word)
{
	enum { SHORTEST = 3 };
	const lang_mask open = LANG_BIT(VERB) | LANG_BIT(DEED) | LANG_BIT(NOUN) | LANG_BIT(RESULT) |
		LANG_BIT(ADJ) | LANG_BIT(COMP) | LANG_BIT(TIME) | LANG_BIT(NUM);

	for (size_t i = 0; i < ARRAY_LEN(endings[lang]) && endings[lang][i]; i++) {
		struct sv end = sv_of(endings[lang][i]);
		if (word.n < end.n + SHORTEST || !sv_ends(word, end))
			continue;
		lang_mask m = lexicon_get(lex, lang, sv_head(word, word.n - end.n)) & open;
		if (m)
			return m;
	}
	return 0;
}

lang_mask lexicon_get(const struct lexicon *lex, enum lang_id lang, struct sv phrase)
{
	return look_up(lex, lang, phrase) & ~WORD_BEGINS_PHRASE;
}

bool lexicon_goes_on(const struct lexicon *lex, enum lang_id lang, struct sv phrase)
{
	return (look_up(lex, lang, phrase) & WORD_BEGINS_PHRASE) != 0;
}

void lexicon_languages(const struct lexicon *lex, struct sv word, bool ret[static LANG_COUNT])
{
	const struct word_row *row = lex->own_words ? wordtable_find(word) : NULL;

	for (size_t l = 0; l < LANG_COUNT; l++) {
		uint64_t unused;
		ret[l] = (row && row->masks[l]) ||
			(lex->extra[l].n > 0 && map_get(&lex->extra[l], word, &unused));
	}
}

/* ---- concepts ---- */

unsigned concept_of(struct sv word)
{
	static const char *const plurals[] = { "", "s", "n", "en", "e", "es" };

	for (size_t i = 0; i < ARRAY_LEN(plurals); i++) {
		struct sv end = sv_of(plurals[i]);
		if (word.n <= end.n + 2 || !sv_ends(word, end))
			continue;
		const struct word_row *row = wordtable_find(sv_head(word, word.n - end.n));
		unsigned number = row ? row->meaning & ~(unsigned)WORD_BEGINS_CONCEPT : 0;
		if (number)
			return number;
	}
	return 0;
}

bool concept_begins(struct sv word)
{
	const struct word_row *row = wordtable_find(word);

	return row && (row->meaning & WORD_BEGINS_CONCEPT);
}

/* Einstellungs+seite: both parts must be known, the first may carry a joint (s, n, en, es). */
bool concept_split(struct sv word, unsigned *ret_first, unsigned *ret_second)
{
	enum { SHORTEST = 3 };

	for (size_t at = word.n; at-- > SHORTEST;) {
		if (((unsigned char)word.p[at] & 0xc0) == 0x80 || word.n - at < SHORTEST)
			continue;
		*ret_first = concept_of(sv_head(word, at));
		*ret_second = *ret_first ? concept_of(sv_from(word, at)) : 0;
		if (*ret_second)
			return true;
	}
	return false;
}
