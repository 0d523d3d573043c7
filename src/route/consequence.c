#include "route/consequence.h"

#include "route/reading.h"

bool sentence_asks_about_past(const struct sentence *s)
{
	static const char *const past[] = { "was", "were", "did", "wurde", "wurden", "hat", "haben",
		"fue", "fueron", "été" };
	const struct token *first = peek(s, s->body);
	if (!first || !(first->cls & LANG_BIT(WH)) || s->names > 2)
		return false;
	for (size_t i = s->body + 1; i < s->tokens.v.n; i++)
		for (size_t p = 0; p < ARRAY_LEN(past); p++)
			if (sv_is(token_word(&s->tokens, at(s, i)), past[p]))
				return true;
	return false;
}

bool sentence_asks_about_result(const struct sentence *s)
{
	const struct token *first = peek(s, s->body);
	if (!first || s->returning || !(first->cls & (LANG_BIT(WH) | LANG_BIT(AUX))))
		return false;
	for (size_t i = s->body; i < s->tokens.v.n; i++) {
		if (!thing(s, i))
			continue;
		return (at(s, i)->cls & LANG_BIT(RESULT)) && s->words[i].head &&
			s->words[i].definite == WORD_DEFINITE && i > 0 &&
			(at(s, i - 1)->cls & LANG_BIT(ART));
	}
	return false;
}

bool sentence_ends_with_then(const struct sentence *s)
{
	if (s->tokens.v.n < 2)
		return false;
	const struct token *last = at(s, s->tokens.v.n - 1);
	struct sv w = token_word(&s->tokens, last);
	return !(last->flags & TOKEN_QUOTED) && (sv_is(w, "then") || sv_is(w, "dann")) &&
		s->names <= 2;
}

bool sentence_opens_with_ordinal(const struct sentence *s)
{
	const struct token *k = peek(s, s->body), *next = peek(s, s->body + 1);
	return k && next && (k->cls & LANG_BIT(ART)) && !next->before &&
		(next->cls & LANG_BIT(NUM)) && thing(s, s->body + 2) && s->names <= 2;
}

bool sentence_asks_whether(const struct sentence *s)
{
	static const char *const past[] = { "did", "was", "were", "has", "hat", "haben", "wurde",
		"wurden" };
	const struct token *k = peek(s, s->body), *next = peek(s, s->body + 1);
	if (!k || !next || !(next->cls & LANG_BIT(ART)) || s->names > 2)
		return false;
	for (size_t p = 0; p < ARRAY_LEN(past); p++)
		if (sv_is(token_word(&s->tokens, k), past[p]))
			return true;
	return false;
}

bool sentence_object_missing(const struct sentence *s)
{
	const struct token *first = peek(s, s->body);
	size_t last = s->tokens.v.n - 1;
	bool prepared = false;
	if (s->tokens.lang != LANG_DE || !first || !(first->cls & LANG_BIT(PREP)) ||
		!content(s, last) || thing(s, last) || s->words[last].kind == WORD_QUALITY ||
		!sv_ends(token_word(&s->tokens, at(s, last)), SV("en")))
		return false;
	for (size_t i = s->body; i < last; i++) {
		if (at(s, i)->before || (thing(s, i) && !prepared))
			return false;
		prepared = (at(s, i)->cls & LANG_BIT(PREP)) ||
			(prepared && !(at(s, i)->cls & (LANG_BIT(AUX) | LANG_BIT(SELF))));
	}
	return true;
}
