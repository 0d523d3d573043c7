#include "route/lang.h"

#include "base/mem.h"
#include "base/utf8.h"

static const struct lang_table *const tables[LANG_COUNT] = {
	[LANG_EN] = &lang_en,
	[LANG_DE] = &lang_de,
	[LANG_FR] = &lang_fr,
	[LANG_ES] = &lang_es,
	[LANG_ZH] = &lang_zh,
};

static const char *const class_names[] = {
#define X(id, name) [LANG_##id] = name,
	LANG_CLASSES(X)
#undef X
};

/* Beyond the classes: longer phrases begin with this one. */
static const lang_mask begins_phrase = (lang_mask)1 << 63;
_Static_assert(LANG_CLASS_COUNT < 63, "one bit a class and one for phrases");

const struct lang_table *lang_table(enum lang_id id)
{
	return tables[id];
}

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

static void add_phrase(struct wordmap *words, struct sv phrase, lang_mask mask)
{
	*wordmap_ref(words, phrase) |= mask;
	for (size_t i = 1; i < phrase.n; i++)
		if (phrase.p[i] == ' ')
			*wordmap_ref(words, sv_head(phrase, i)) |= begins_phrase;
}

/* A folded copy that lives as long as the lexicon. */
static struct sv keep(struct lexicon *lex, struct sv word)
{
	strv_addsv(&lex->owned, word);
	return sv_of(lex->owned.v[lex->owned.n - 1]);
}

static struct sv keep_folded(struct lexicon *lex, struct sv word)
{
	AUTO_STR folded = STR_INIT;
	utf8_normalise(&folded, word, true);
	return keep(lex, str_sv(&folded));
}

/* The tables are written folded but for the sharp s, which German readers expect to see. */
static void add_table_words(
	struct lexicon *lex, enum lang_id lang, enum lang_class cls, struct sv list)
{
	struct sv word;
	size_t unused;
	while (sv_split(&list, '|', &word)) {
		if (lang == LANG_DE && sv_find(word, SV("ß"), &unused))
			word = keep_folded(lex, word);
		add_phrase(&lex->words[lang], word, (lang_mask)1 << cls);
	}
}

static void add_extra(struct lexicon *lex, const struct lang_extra *extra)
{
	enum lang_class cls;
	if (!lang_class_parse(extra->cls, &cls))
		return;
	for (size_t l = 0; l < LANG_COUNT; l++) {
		struct sv list = extra->words, word;
		while (sv_is(extra->language, tables[l]->code) && sv_split(&list, '|', &word))
			if (sv_trim(word).n > 0)
				add_phrase(&lex->words[l], keep_folded(lex, sv_trim(word)),
					(lang_mask)1 << cls);
	}
}

/* The letter under the accents of French and Spanish; 0 for any other code point. */
static char plain_letter(uint32_t cp)
{
	static const struct {
		uint16_t cp;
		char plain;
	} letters[] = { { 0xe0, 'a' }, { 0xe1, 'a' }, { 0xe2, 'a' }, { 0xe7, 'c' }, { 0xe8, 'e' },
		{ 0xe9, 'e' }, { 0xea, 'e' }, { 0xeb, 'e' }, { 0xed, 'i' }, { 0xee, 'i' },
		{ 0xef, 'i' }, { 0xf1, 'n' }, { 0xf3, 'o' }, { 0xf4, 'o' }, { 0xf9, 'u' },
		{ 0xfa, 'u' }, { 0xfb, 'u' }, { 0xfc, 'u' } };
	for (size_t i = 0; i < ARRAY_LEN(letters); i++)
		if (letters[i].cp == cp)
			return letters[i].plain;
	return 0;
}

/* As hurried people type it, and with hanging pronouns cut off as the tokeniser does. False when
 * that changes nothing. */
static bool hurried(struct str *out, struct sv word, bool keep_hyphens)
{
	size_t from = word.n;
	str_clear(out);
	bool changed = false;
	while (word.n > 0) {
		uint32_t cp;
		word = sv_from(word, utf8_decode(word, &cp));
		char plain = keep_hyphens ? plain_letter(cp) : cp == '-' ? ' ' : 0;
		changed |= plain != 0;
		utf8_add(out, plain ? (uint32_t)plain : cp);
	}
	return changed && from > 0;
}

static bool may_hurry(struct sv word)
{
	for (size_t i = 0; i < word.n; i++)
		if (word.p[i] == '-' || (unsigned char)word.p[i] >= 0x80)
			return true;
	return false;
}

/* Never over a word of its own: si is not sí. */
static void add_hurried(struct lexicon *lex, enum lang_id lang)
{
	struct wordmap *words = &lex->words[lang];
	size_t n = words->cap;
	struct wordmap_slot *all = xcalloc(n, sizeof(*all));
	memcpy(all, words->slots, n * sizeof(*all));
	AUTO_STR variant = STR_INIT;
	for (size_t i = 0; i < 2 * n; i++) {
		const struct wordmap_slot *slot = &all[i / 2];
		if (slot->key.p && slot->value != begins_phrase && may_hurry(slot->key) &&
			hurried(&variant, slot->key, i % 2) &&
			!wordmap_get(words, str_sv(&variant)))
			add_phrase(
				words, keep(lex, str_sv(&variant)), slot->value & ~begins_phrase);
	}
	free(all);
}

void lexicon_init(struct lexicon *lex, const struct lang_extra *extra, size_t n_extra)
{
	static const size_t expected[LANG_COUNT] = { 2000, 2300, 1300, 1300, 800 };
	*lex = (struct lexicon){ .owned = STRV_INIT };
	for (size_t l = 0; l < LANG_COUNT; l++) {
		wordmap_init(&lex->words[l], expected[l]);
		for (size_t c = 0; c < LANG_CLASS_COUNT; c++)
			if (tables[l]->words[c])
				add_table_words(lex, (enum lang_id)l, (enum lang_class)c,
					sv_of(tables[l]->words[c]));
	}
	for (size_t i = 0; i < n_extra; i++)
		add_extra(lex, &extra[i]);
	add_hurried(lex, LANG_FR);
	add_hurried(lex, LANG_ES);
}

void lexicon_release(struct lexicon *lex)
{
	for (size_t l = 0; l < LANG_COUNT; l++)
		wordmap_release(&lex->words[l]);
	strv_release(&lex->owned);
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
	return wordmap_get(&lex->words[lang], phrase) & ~begins_phrase;
}

bool lexicon_goes_on(const struct lexicon *lex, enum lang_id lang, struct sv phrase)
{
	return (wordmap_get(&lex->words[lang], phrase) & begins_phrase) != 0;
}
