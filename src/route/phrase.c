#include "route/phrase.h"

#include "base/utf8.h"
#include "route/tables.h"

void phrase_read(struct text *t, struct sv bytes)
{
	size_t n = 0;

	text_read(t, bytes, NULL);
	for (size_t i = 0; i < t->tokens.n; i++)
		if (!t->tokens.v[i].mark)
			t->tokens.v[n++] = t->tokens.v[i];
	t->tokens.n = n;
}

static bool in_list(struct sv phrase, enum phrase_list list)
{
	uint32_t h = table_hash(phrase);

	for (uint32_t i = h & known_phrases_mask; known_phrases[i].hash;
		i = (i + 1) & known_phrases_mask)
		if (known_phrases[i].hash == h)
			return known_phrases[i].lists >> list & 1;
	return false;
}

size_t phrase_at(const struct text *t, size_t i, enum phrase_list list)
{
	AUTO_STR phrase = STR_INIT;
	size_t best = 0;

	for (size_t n = 0; n < PHRASE_WORDS_MAX && i + n < t->tokens.n; n++) {
		if (n > 0)
			str_addc(&phrase, ' ');
		str_add(&phrase, text_token_sv(t, &t->tokens.v[i + n]));
		if (in_list(str_sv(&phrase), list))
			best = n + 1;
	}
	return best;
}

static size_t same_words(const struct text *t, size_t i, struct sv phrase)
{
	struct text p = TEXT_INIT;
	size_t n = 0;

	phrase_read(&p, phrase);
	while (n < p.tokens.n && i + n < t->tokens.n &&
		sv_eq(text_token_sv(t, &t->tokens.v[i + n]), text_token_sv(&p, &p.tokens.v[n])))
		n++;
	size_t found = n == p.tokens.n ? n : 0;
	text_release(&p);
	return found;
}

size_t phrase_among(const struct text *t, size_t i, const char *more)
{
	size_t best = 0;
	struct sv rest = sv_of(more), phrase;

	while (more && sv_split(&rest, '|', &phrase)) {
		size_t n = same_words(t, i, phrase);
		best = n > best ? n : best;
	}
	return best;
}

struct sv phrase_rest(const struct text *t, size_t i, struct sv bytes)
{
	if (i >= t->tokens.n)
		return SV("");
	size_t from = t->tokens.v[i].from;
	return sv_make(bytes.p + from, t->tokens.v[t->tokens.n - 1].to - from);
}

/* ---- words of the configuration ---- */

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
