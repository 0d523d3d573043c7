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

/* As written, without accents, and with hanging pronouns cut off as the tokeniser does. */
static void add_variants(struct map *words, struct str *word, lang_mask bit)
{
	AUTO_STR plain = STR_INIT;
	strip_accents(&plain, str_sv(word));
	*map_ref(words, str_sv(&plain)) |= bit;
	for (size_t i = 0; i < word->len; i++)
		if (word->buf[i] == '-')
			word->buf[i] = ' ';
	*map_ref(words, str_sv(word)) |= bit;
}

static void add_words(struct map *words, enum lang_id lang, enum lang_class cls, struct sv list)
{
	AUTO_STR folded = STR_INIT;
	lang_mask bit = (lang_mask)1 << cls;
	struct sv word;
	while (sv_split(&list, '|', &word)) {
		str_clear(&folded);
		utf8_normalise(&folded, sv_trim(word), true);
		if (folded.len == 0)
			continue;
		*map_ref(words, str_sv(&folded)) |= bit;
		if (lang == LANG_FR || lang == LANG_ES)
			add_variants(words, &folded, bit);
	}
}

static void add_extra(struct lexicon *lex, const struct lang_extra *extra)
{
	enum lang_class cls;
	if (!lang_class_parse(extra->cls, &cls))
		return;
	for (size_t l = 0; l < LANG_COUNT; l++)
		if (sv_is(extra->language, tables[l]->code))
			add_words(&lex->words[l], (enum lang_id)l, cls, extra->words);
}

void lexicon_init(struct lexicon *lex, const struct lang_extra *extra, size_t n_extra)
{
	*lex = (struct lexicon){ .words = { MAP_INIT } };
	for (size_t l = 0; l < LANG_COUNT; l++)
		for (size_t c = 0; c < LANG_CLASS_COUNT; c++)
			if (tables[l]->words[c])
				add_words(&lex->words[l], (enum lang_id)l, (enum lang_class)c,
					sv_of(tables[l]->words[c]));
	for (size_t i = 0; i < n_extra; i++)
		add_extra(lex, &extra[i]);
}

void lexicon_release(struct lexicon *lex)
{
	for (size_t l = 0; l < LANG_COUNT; l++)
		map_release(&lex->words[l]);
}

lang_mask lexicon_get(const struct lexicon *lex, enum lang_id lang, struct sv phrase)
{
	uint64_t mask = 0;
	return map_get(&lex->words[lang], phrase, &mask) ? mask : 0;
}
