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

static bool in_list(uint32_t h, enum phrase_list list)
{
	for (uint32_t i = table_place(h, known_phrases_slots); known_phrases[i].hash; i++)
		if (known_phrases[i].hash == h)
			return known_phrases[i].lists >> list & 1;
	return false;
}

size_t phrase_at(const struct text *t, size_t i, enum phrase_list list)
{
	uint32_t h = TABLE_HASH_BEGIN;
	size_t best = 0;

	for (size_t n = 0; n < PHRASE_WORDS_MAX && i + n < t->tokens.n; n++) {
		h = table_hash_add(h, n > 0 ? SV(" ") : SV(""));
		h = table_hash_add(h, text_token_sv(t, &t->tokens.v[i + n]));
		if (in_list(table_hash_end(h), list))
			best = n + 1;
	}
	return best;
}

bool phrase_ends_at(const struct text *t, size_t i, enum phrase_list list)
{
	for (size_t n = 1; n <= i && n < PHRASE_WORDS_MAX; n++)
		if (phrase_at(t, i - n, list) == n)
			return true;
	return false;
}

bool phrase_in(const struct text *t, enum phrase_list list)
{
	for (size_t i = 0; i < t->tokens.n; i++)
		if (phrase_at(t, i, list))
			return true;
	return false;
}

size_t phrase_among(const struct text *t, size_t i, const char *more)
{
	size_t best = 0;
	struct sv rest = sv_of(more), phrase;

	while (more && sv_split(&rest, '|', &phrase)) {
		struct text p = TEXT_INIT;
		size_t n = 0;
		phrase_read(&p, phrase);
		while (n < p.tokens.n && i + n < t->tokens.n &&
			sv_eq(text_token_sv(t, &t->tokens.v[i + n]),
				text_token_sv(&p, &p.tokens.v[n])))
			n++;
		best = n == p.tokens.n && n > best ? n : best;
		text_release(&p);
	}
	return best;
}

size_t phrase_skip_opening(const struct text *t)
{
	size_t from = 0;

	for (size_t n; (n = phrase_at(t, from, PHRASE_ORDER_OPENS)) > 0;)
		from += n;
	return from;
}

bool phrase_is_whole(const struct text *t, size_t from, enum phrase_list list)
{
	size_t n = phrase_at(t, from, list);

	if (n == 0)
		return false;
	n += phrase_at(t, from + n, PHRASE_CORRECT_POLITE);
	return from + n == t->tokens.n;
}

bool phrase_only_goes_on(const struct text *t)
{
	return phrase_is_whole(t, 0, PHRASE_GO_ON) ||
		phrase_is_whole(t, phrase_skip_opening(t), PHRASE_GO_ON);
}
