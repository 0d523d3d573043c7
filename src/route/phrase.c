#include "route/phrase.h"

#include "base/utf8.h"

void phrase_read(struct tokens *t, struct sv text)
{
	static const struct lexicon none; /* only the words are wanted */
	tokens_read(t, text, &none);
}

/* Without a lexicon a run of Chinese is not cut: its beginning decides. */
static bool same_word(const struct tokens *t, const struct token *k, struct sv word)
{
	struct sv own = token_word(t, k);
	return k->flags & TOKEN_HAN ? sv_starts(own, word) : sv_eq(own, word);
}

static size_t match_words(const struct tokens *t, size_t i, struct sv phrase)
{
	size_t n = 0;
	struct sv word;
	AUTO_STR folded = STR_INIT;
	while (sv_split(&phrase, ' ', &word)) {
		str_clear(&folded);
		utf8_normalise(&folded, word, true);
		if (i + n >= t->v.n || !same_word(t, &t->v.v[i + n], str_sv(&folded)))
			return 0;
		n++;
	}
	return n;
}

size_t phrase_at(const struct tokens *t, size_t i, const char *list)
{
	size_t best = 0;
	struct sv rest = sv_of(list), phrase;
	while (sv_split(&rest, '|', &phrase)) {
		size_t n = match_words(t, i, phrase);
		best = n > best ? n : best;
	}
	return best;
}

struct sv phrase_rest(const struct tokens *t, size_t i)
{
	if (i >= t->v.n)
		return SV("");
	const struct token *last = &t->v.v[t->v.n - 1];
	const char *from = t->v.v[i].raw.p;
	return sv_make(from, (size_t)(last->raw.p + last->raw.n - from));
}
