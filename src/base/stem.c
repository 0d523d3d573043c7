#include "base/stem.h"

#include <limits.h>

#ifdef FADEN_SNOWBALL_DIRECT
/*
 * The library's own interface chooses among all its languages by name, so that all of them are
 * linked in: a third of the program's start was spent on relocating their tables. These are the
 * entry points beneath it; the build has tried them and compared (meson.build).
 */
struct SN_env {
	unsigned char *p;
	int c;
	int l;
};
int SN_set_current(struct SN_env *z, int size, const unsigned char *s);

#define LANGUAGES(X) X(EN, english) X(DE, german) X(FR, french) X(ES, spanish)
#define X(id, name)                                    \
	struct SN_env *name##_UTF_8_create_env(void);  \
	void name##_UTF_8_close_env(struct SN_env *z); \
	int name##_UTF_8_stem(struct SN_env *z);
LANGUAGES(X)
#undef X

static const struct {
	struct SN_env *(*create)(void);
	void (*close)(struct SN_env *z);
	int (*stem)(struct SN_env *z);
} languages[LANG_COUNT] = {
#define X(id, name) \
	[LANG_##id] = { name##_UTF_8_create_env, name##_UTF_8_close_env, name##_UTF_8_stem },
	LANGUAGES(X)
#undef X
};

static void *create(enum lang_id lang)
{
	return languages[lang].create ? languages[lang].create() : NULL;
}

static void destroy(enum lang_id lang, void *env)
{
	if (env)
		languages[lang].close(env);
}

static struct sv run(enum lang_id lang, void *env, struct sv word)
{
	struct SN_env *z = env;

	if (SN_set_current(z, (int)word.n, (const unsigned char *)word.p) != 0)
		return word;
	z->c = 0;
	return languages[lang].stem(z) < 0 ? word : sv_make((const char *)z->p, (size_t)z->l);
}
#else
#include <libstemmer.h>

static void *create(enum lang_id lang)
{
	static const char *const names[LANG_COUNT] = { [LANG_EN] = "english",
		[LANG_DE] = "german",
		[LANG_FR] = "french",
		[LANG_ES] = "spanish" };

	return names[lang] ? sb_stemmer_new(names[lang], NULL) : NULL;
}

static void destroy(enum lang_id lang, void *env)
{
	(void)lang;
	sb_stemmer_delete(env);
}

static struct sv run(enum lang_id lang, void *env, struct sv word)
{
	const sb_symbol *stem = sb_stemmer_stem(env, (const sb_symbol *)word.p, (int)word.n);

	(void)lang;
	return stem ? sv_make((const char *)stem, (size_t)sb_stemmer_length(env)) : word;
}
#endif

void stemmers_release(struct stemmers *st)
{
	for (size_t l = 0; l < LANG_COUNT; l++) {
		destroy((enum lang_id)l, st->by_lang[l]);
		st->by_lang[l] = NULL;
	}
}

struct sv stem_of(struct stemmers *st, enum lang_id lang, struct sv word)
{
	if (!st->by_lang[lang])
		st->by_lang[lang] = create(lang);
	if (!st->by_lang[lang] || word.n == 0 || word.n > INT_MAX)
		return word;
	return run(lang, st->by_lang[lang], word);
}
