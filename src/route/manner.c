#include "route/manner.h"

#include <math.h>
#include <stdio.h>

#include "route/phrase.h"
#include "route/tables.h"

_Static_assert((int)LEAN_KINDS == (int)MANNER_COUNT, "one weight a manner");

enum { LONGEST = 3, TOKENS_MAX = 64, GRAM_MAX = 256 };

static bool is_form(const void *data, struct sv word)
{
	(void)data;
	return known_as(word, KNOWN_FORM);
}

bool manner_orders(const struct text *t)
{
	for (size_t i = 0; i < t->tokens.n; i++)
		if (!t->tokens.v[i].mark && !phrase_at(t, i, PHRASE_ORDER_OPENS))
			return known_as(text_token_sv(t, &t->tokens.v[i]), KNOWN_ORDER);
	return false;
}

static struct sv masked(const struct text *t, const struct text_token *k,
	bool (*form)(const void *data, struct sv word), const void *form_data)
{
	struct sv word = text_token_sv(t, k);

	if (k->mark || form(form_data, word))
		return word;
	if (word.p[0] >= '0' && word.p[0] <= '9')
		return SV("#");
	return known_as(word, KNOWN_ORDER) ? SV("V") : SV("X");
}

void manner_grams(const struct text *t, bool (*form)(const void *data, struct sv word),
	const void *form_data, void (*fn)(void *data, struct sv gram, double value), void *data)
{
	struct sv tokens[TOKENS_MAX + 2];
	size_t n = 0, words = 0;
	AUTO_STR gram = STR_INIT;
	double sum = 0, most = 0;
	char name[32];

	tokens[n++] = SV("^");
	for (size_t i = 0; i < t->tokens.n && i < TOKENS_MAX; i++)
		tokens[n++] = masked(t, &t->tokens.v[i], form, form_data);
	tokens[n++] = SV("$");
	for (size_t len = 1; len <= LONGEST; len++) {
		for (size_t i = 0; i + len <= n; i++) {
			bool all_masked = true;
			str_clear(&gram);
			for (size_t j = i; j < i + len; j++) {
				all_masked &= sv_is(tokens[j], "X");
				if (j > i)
					str_addc(&gram, ' ');
				str_add(&gram, tokens[j]);
			}
			if (!all_masked && gram.len < GRAM_MAX)
				fn(data, str_sv(&gram), 1);
		}
	}
	for (size_t i = 0; i < 2 && i + 2 < n; i++) {
		str_clear(&gram);
		str_addf(&gram, "@%zu ", i);
		str_add(&gram, tokens[i + 1]);
		fn(data, str_sv(&gram), 1);
	}
	for (size_t i = 0; i < t->words.n; i++) {
		const struct text_word *w = &t->words.v[i];
		if (w->flags & WORD_JOINED)
			continue;
		words++;
		sum += (double)w->rarity;
		most = fmax(most, (double)w->rarity);
	}
	fn(data, SV("=length"), log1p((double)t->n_words));
	fn(data, SV("=words"), log1p((double)words));
	fn(data, SV("=rarity"), sum / 3);
	fn(data, SV("=rarest"), most);
	(void)snprintf(name, sizeof(name), "=words %zu", words < 6 ? words : 6);
	fn(data, sv_of(name), 1);
	(void)snprintf(name, sizeof(name), "=length %zu", t->n_words < 12 ? t->n_words : 12);
	fn(data, sv_of(name), 1);
	if (t->identifiers)
		fn(data, SV("=identifiers"), 1);
	if (t->question)
		fn(data, SV("=question"), 1);
	if (manner_orders(t))
		fn(data, SV("=order"), 1);
	if (t->quotes)
		fn(data, SV("=quotes"), 1);
	fn(data, SV("=always"), 1);
}

struct sums {
	double v[MANNER_COUNT];
	uint32_t seen[4 * TOKENS_MAX];
	size_t n;
};

static void add_gram(void *data, struct sv gram, double value)
{
	struct sums *s = data;
	uint32_t h = table_hash(gram);

	/* A turn that is said twice counts once. */
	for (size_t i = 0; i < s->n; i++)
		if (s->seen[i] == h)
			return;
	if (s->n < sizeof(s->seen) / sizeof(s->seen[0]))
		s->seen[s->n++] = h;
	for (uint32_t i = table_place(h, known_grams_slots); known_grams[i].hash; i++)
		if (known_grams[i].hash == h) {
			for (size_t k = 0; k < MANNER_COUNT; k++)
				s->v[k] += value * known_grams[i].weight[k] / 1024;
			return;
		}
}

void manner_read(const struct text *t, double ret[static MANNER_COUNT])
{
	const double least = -6;
	struct sums s = { .n = 0 };
	double top, all = 0;

	manner_grams(t, is_form, NULL, add_gram, &s);
	top = fmax(s.v[0], fmax(s.v[1], s.v[2]));
	for (size_t k = 0; k < MANNER_COUNT; k++)
		all += exp(s.v[k] - top);
	for (size_t k = 0; k < MANNER_COUNT; k++)
		ret[k] = fmax(least, s.v[k] - top - log(all));
}
