#include "route/lang.h"

#include <utf8proc.h>

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

/* "también" without its accent, as hurried people type it; German umlauts are letters of their
 * own and stay. */
static void strip_accents(struct str *out, struct sv word)
{
	AUTO_STR zero = STR_INIT;
	str_add(&zero, word);
	utf8proc_uint8_t *plain = NULL;
	utf8proc_option_t how = UTF8PROC_DECOMPOSE | UTF8PROC_STRIPMARK | UTF8PROC_NULLTERM;
	if (utf8proc_map((const utf8proc_uint8_t *)zero.buf, 0, &plain, how) >= 0)
		str_adds(out, (const char *)plain);
	free(plain);
}

static void add_words(struct map *words, enum lang_class cls, struct sv list)
{
	AUTO_STR folded = STR_INIT;
	struct sv word;
	while (sv_split(&list, '|', &word)) {
		str_clear(&folded);
		utf8_normalise(&folded, sv_trim(word), true);
		if (folded.len > 0)
			*map_ref(words, str_sv(&folded)) |= (lang_mask)1 << cls;
	}
}

static void add_missing(struct map *words, struct sv word, lang_mask mask)
{
	uint64_t known;
	if (!map_get(words, word, &known))
		map_put(words, word, mask);
}

/* Without accents, and with hanging pronouns cut off as the tokeniser does; never over a word of
 * its own (si is not sí). */
static void add_variants(struct map *words)
{
	struct map all = MAP_INIT;
	struct sv word;
	uint64_t mask;
	for (size_t at = 0; map_next(words, &at, &word, &mask);)
		map_put(&all, word, mask);
	AUTO_STR variant = STR_INIT;
	for (size_t at = 0; map_next(&all, &at, &word, &mask);) {
		str_clear(&variant);
		strip_accents(&variant, word);
		add_missing(words, str_sv(&variant), mask);
		str_clear(&variant);
		str_add(&variant, word);
		for (size_t i = 0; i < variant.len; i++)
			if (variant.buf[i] == '-')
				variant.buf[i] = ' ';
		add_missing(words, str_sv(&variant), mask);
	}
	map_release(&all);
}

static void add_extra(struct lexicon *lex, const struct lang_extra *extra)
{
	enum lang_class cls;
	if (!lang_class_parse(extra->cls, &cls))
		return;
	for (size_t l = 0; l < LANG_COUNT; l++)
		if (sv_is(extra->language, tables[l]->code))
			add_words(&lex->words[l], cls, extra->words);
}

void lexicon_init(struct lexicon *lex, const struct lang_extra *extra, size_t n_extra)
{
	*lex = (struct lexicon){ .words = { MAP_INIT } };
	for (size_t l = 0; l < LANG_COUNT; l++)
		for (size_t c = 0; c < LANG_CLASS_COUNT; c++)
			if (tables[l]->words[c])
				add_words(&lex->words[l], (enum lang_class)c,
					sv_of(tables[l]->words[c]));
	for (size_t i = 0; i < n_extra; i++)
		add_extra(lex, &extra[i]);
	add_variants(&lex->words[LANG_FR]);
	add_variants(&lex->words[LANG_ES]);
}

void lexicon_release(struct lexicon *lex)
{
	for (size_t l = 0; l < LANG_COUNT; l++)
		map_release(&lex->words[l]);
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
	uint64_t mask = 0;
	return map_get(&lex->words[lang], phrase, &mask) ? mask : 0;
}
