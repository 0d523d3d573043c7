#include "route/determiner.h"

#include "route/reading.h"

bool german_small_verb(const struct sentence *s, size_t i)
{
	const struct token *k = peek(s, i), *after = peek(s, i + 1);
	if (!k || s->tokens.lang != LANG_DE || k->cls || (k->flags & TOKEN_UPPER) ||
		content(s, i + 1))
		return false;
	struct sv w = token_word(&s->tokens, k);
	bool ending = sv_ends(w, SV("t")) || sv_ends(w, SV("n"));
	bool person = after && (after->cls & (LANG_BIT(SELF) | LANG_BIT(YOU)));
	bool perfect = false;
	for (size_t j = 0; j < i; j++)
		perfect |= (at(s, j)->cls & LANG_BIT(AUX)) != 0;
	return ending && (person || (perfect && !after));
}

/* "kann man den dabei abschalten": whoever writes capitals writes nouns with them, and none follows
 * in this clause. */
static bool german_noun_missing(const struct sentence *s, size_t i)
{
	if (s->tokens.lang != LANG_DE || !(at(s, 0)->flags & TOKEN_UPPER))
		return false;
	for (size_t j = i + 1; j < s->tokens.v.n && !at(s, j)->before; j++)
		if (at(s, j)->flags & (TOKEN_UPPER | TOKEN_IDENT | TOKEN_QUOTED))
			return false;
	return true;
}

/* "in der ganzen App": a word without a meaning of its own between article and noun. */
static bool german_attribute(const struct sentence *s, size_t i)
{
	struct sv w = token_word(&s->tokens, at(s, i));
	const struct token *noun = peek(s, i + 1);
	return s->tokens.lang == LANG_DE && noun && !noun->before && thing(s, i + 1) &&
		(noun->flags & TOKEN_UPPER) && (at(s, i)->cls & LANG_BIT(FUNC)) &&
		(sv_ends(w, SV("e")) || sv_ends(w, SV("en")));
}

bool determiner_stands_alone(const struct sentence *s, size_t i)
{
	const struct token *next = peek(s, i + 1);
	if (!next || next->before)
		return true;
	if ((next->flags & TOKEN_QUOTED) || next->word_n == 1) /* "die i ban prüfung" */
		return false;
	enum word_kind kind = s->words[i + 1].kind;
	if (kind == WORD_QUALITY) { /* "mach das rot", but "die rote Linie" */
		const struct token *after = peek(s, i + 2);
		return !after || after->before || !content(s, i + 2);
	}
	if (kind == WORD_NONE && german_attribute(s, i + 1))
		return false;
	return kind == WORD_NONE || kind == WORD_VERB || german_small_verb(s, i + 1) ||
		german_noun_missing(s, i);
}
