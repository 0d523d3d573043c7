
#include "route/reading.h"

bool sentence_asks_about_past(const struct sentence *s)
{
	const struct token *first = peek(s, s->body);

	if (!first || !(first->cls & LANG_BIT(WH)) || s->names > 2)
		return false;
	for (size_t i = s->body + 1; i < s->tokens.v.n; i++)
		if (sv_among(token_word(&s->tokens, at(s, i)),
			    "was|were|did|wurde|wurden|hat|haben|fue|fueron|été"))
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
	const struct token *k = peek(s, s->body), *next = peek(s, s->body + 1);

	if (!k || !next || !(next->cls & LANG_BIT(ART)) || s->names > 2)
		return false;
	return sv_among(token_word(&s->tokens, k), "did|was|were|has|hat|haben|wurde|wurden");
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

/* Words of the body, and what among them stands for itself. */
struct load {
	size_t words;
	size_t prepositions;
	bool fresh; /* a new thing */
	bool placed; /* the place of the change is named */
	bool exact; /* an identifier or a quotation */
};

/* "im Impressum", "zur Preview-Seite": a name behind a preposition. */
static bool names_place(const struct sentence *s, size_t i)
{
	if (s->words[i].kind != WORD_NAME || s->words[i].complement || i <= s->body)
		return false;
	bool article = at(s, i - 1)->cls & (LANG_BIT(ART) | LANG_BIT(SELF) | LANG_BIT(YOU));
	size_t before = article && i > s->body + 1 ? i - 2 : i - 1;
	return (at(s, before)->cls & LANG_BIT(PREP)) != 0;
}

static struct load weigh(const struct sentence *s)
{
	struct load l = { 0 };

	for (size_t i = s->body; i < s->tokens.v.n; i++) {
		const struct token *k = at(s, i);
		l.words += !(k->cls & LANG_BIT(FILL));
		l.prepositions += (k->cls & LANG_BIT(PREP)) && i + 1 < s->tokens.v.n;
		l.fresh |= thing(s, i) && s->words[i].role == ROLE_FOCUS &&
			!(k->cls & (LANG_BIT(TIME) | LANG_BIT(NUM))) &&
			s->words[i].definite == WORD_INDEFINITE;
		l.placed |= names_place(s, i);
		l.exact |= (k->flags & (TOKEN_IDENT | TOKEN_QUOTED)) != 0;
	}
	return l;
}

/* "make the pickup date mandatory": a known thing gets a quality. */
static bool makes_known_thing(const struct sentence *s)
{
	struct sv w = token_word(&s->tokens, at(s, s->body));
	const struct token *next = peek(s, s->body + 1);

	enum { WORDS = 6 }; /* "make the editor save every ten seconds" says more */
	return (sv_is(w, "make") || sv_is(w, "mach")) && next && (next->cls & LANG_BIT(ART)) &&
		s->tokens.v.n - s->body <= WORDS;
}

/* Empty when it is quoted. */
static struct sv last_word(const struct sentence *s)
{
	const struct token *last = at(s, s->tokens.v.n - 1);

	return last->flags & TOKEN_QUOTED ? SV("") : token_word(&s->tokens, last);
}

/* "stell den alten Filter wieder her", "put the sidebar back" */
static bool restores(const struct sentence *s)
{
	const struct token *last = at(s, s->tokens.v.n - 1);
	const struct token *before = s->tokens.v.n > 1 ? last - 1 : last;
	bool german = s->tokens.lang == LANG_DE &&
		sv_is(token_word(&s->tokens, before), "wieder") && (last->cls & LANG_BIT(FUNC));

	return german || sv_is(last_word(s), "back");
}

/* "skip links are missing", "Teile der Liste fehlen": a statement that opens with such a word. */
static bool states(const struct sentence *s)
{
	bool german = s->tokens.lang == LANG_DE;

	for (size_t i = s->body + 1; i < s->tokens.v.n; i++) {
		const struct token *k = at(s, i);
		struct sv w = token_word(&s->tokens, k);
		if (k->before || (k->cls & (LANG_BIT(CONJ) | LANG_BIT(WH))))
			return false;
		bool finite = sv_ends(w, german ? SV("t") : SV("s")) || sv_is(w, "fehlen");
		if ((k->cls & LANG_BIT(AUX)) ||
			((k->cls & LANG_BIT(VERB)) && finite && !(k->cls & LANG_BIT(NOUN))))
			return true;
	}
	return false;
}

bool sentence_adjusts(const struct sentence *s)
{
	enum { WORDS = 7, WORDS_TWO_NAMES = 5, WORDS_FRESH = 5 };
	const struct token *first = peek(s, s->body);

	if (!first || !s->imperative || states(s))
		return false;
	bool phrase = first->phrase_n > 1 && (first->phrase & LANG_BIT(ADJUST));
	bool word = first->phrase_n == 1 &&
		((first->cls & LANG_BIT(ADJUST)) || makes_known_thing(s) || restores(s));
	if (!phrase && !word)
		return false;
	struct load l = weigh(s);
	if (l.exact || (l.placed && s->names > 1) || s->names > 2 ||
		l.words > (s->names > 1 ? WORDS_TWO_NAMES : WORDS))
		return false;
	return !l.fresh || (l.prepositions == 0 && l.words <= WORDS_FRESH);
}

/* step two, Punkt 3, Phase eins */
static bool numbered_part(const struct sentence *s, size_t i)
{
	const struct token *next = peek(s, i + 1);

	if (!next || next->before || !(next->cls & LANG_BIT(NUM)))
		return false;
	return sv_among(token_word(&s->tokens, at(s, i)),
		"step|steps|point|points|phase|item|items|milestone|schritt|schritte|punkt|"
		"punkte|etappe|étape|paso|punto");
}

bool sentence_uses_result(const struct sentence *s)
{
	enum { NAMES = 4 };

	for (size_t i = s->body; i < s->tokens.v.n; i++)
		if (!(at(s, i)->flags & TOKEN_QUOTED) && numbered_part(s, i))
			return s->names <= NAMES;
	size_t i = s->body + 1;
	if (peek(s, i) && (at(s, i)->cls & LANG_BIT(FUNC)) && !(at(s, i)->cls & LANG_BIT(ART)))
		i++; /* write down the options */
	const struct token *result = peek(s, i + 1), *next = peek(s, i + 2);
	if (!s->imperative || !result || !(at(s, i)->cls & LANG_BIT(ART)) ||
		!(result->cls & LANG_BIT(RESULT)) || s->names > 1)
		return false;
	return !next || next->before || (next->cls & (LANG_BIT(AND) | LANG_BIT(FUNC))) ||
		sv_is(token_word(&s->tokens, next), "before");
}

/* there is, gibt es */
static bool asks_whether_there_is(const struct sentence *s)
{
	enum { WORDS = 5, NAMES = 2 };
	const struct token *first = peek(s, s->body);
	struct load l = weigh(s);

	return first && first->phrase_n > 1 &&
		(first->phrase & (LANG_BIT(FUNC) | LANG_BIT(EXPLETIVE))) && s->names <= NAMES &&
		l.prepositions == 0 && l.words <= WORDS && !l.exact;
}

/* "a list of all ports", "un informe de ventas" */
static bool says_of_what(const struct sentence *s, size_t i)
{
	const struct token *k = peek(s, i);

	if (!k)
		return false;
	return sv_among(token_word(&s->tokens, k),
		       "of|for|about|on|für|von|vom|über|zu|zum|zur|der|des|de|du|del|sur|pour|"
		       "sobre|para") ||
		k->before || (k->cls & (LANG_BIT(CONJ) | LANG_BIT(WH)));
}

bool sentence_asks_for_part(const struct sentence *s)
{
	enum { WORDS = 8, NAMES = 2 };

	if (asks_whether_there_is(s))
		return true;
	struct load l = weigh(s);
	const struct token *first = peek(s, s->body);
	bool wish = first && (first->cls & LANG_BIT(INDEF)); /* an example would be nice */
	if ((!s->imperative && !wish) || s->names > NAMES || l.words > WORDS || l.exact)
		return false;
	for (size_t i = s->body + 1; i < s->tokens.v.n; i++) {
		if (!thing(s, i))
			continue;
		return (at(s, i)->cls & LANG_BIT(RESULT)) && s->words[i].head &&
			!says_of_what(s, i + 1) && s->words[i].definite == WORD_INDEFINITE;
	}
	return false;
}

bool sentence_asks_what_happens(const struct sentence *s)
{
	const struct token *first = peek(s, s->body), *second = peek(s, s->body + 1);

	if (!first || !second || !(first->cls & LANG_BIT(WH)) || s->names > 1)
		return false;
	return sv_among(token_word(&s->tokens, second), "happens|passiert|geschieht|pasa");
}

bool sentence_asks_about_now(const struct sentence *s)
{
	const struct token *first = peek(s, s->body), *last = at(s, s->tokens.v.n - 1);

	if (!first || first == last || !(first->cls & (LANG_BIT(WH) | LANG_BIT(AUX))) ||
		s->names > 1)
		return false;
	return sv_among(last_word(s), "now|jetzt|inzwischen|mittlerweile");
}

bool sentence_asks_for_help(const struct sentence *s)
{
	const struct token *first = peek(s, s->body);

	if (!first || !(first->cls & LANG_BIT(AUX)))
		return false;
	return sv_among(
		last_word(s), "help|helfen|suffice|reichen|genügen|enough|matter|aider|ayudar");
}

bool sentence_ends_with_assent(const struct sentence *s)
{
	enum { WORDS = 5 };
	size_t n = s->tokens.v.n;

	if (n - s->body > WORDS)
		return false;
	if (n - s->body > 2 && sv_is(token_word(&s->tokens, at(s, n - 1)), "is") &&
		sv_is(token_word(&s->tokens, at(s, n - 2)), "it"))
		return true; /* token bucket it is */
	for (size_t i = s->body + 1; i < s->tokens.v.n; i++) {
		const struct token *k = at(s, i);
		if ((k->phrase & LANG_BIT(ASSENT)) && k->phrase_n > 1 && last_word(s).n > 0 &&
			i + k->phrase_n == s->tokens.v.n)
			return true;
	}
	return false;
}

bool sentence_reports(const struct sentence *s)
{
	const struct token *first = peek(s, s->body);

	if (!first || s->imperative || (first->cls & LANG_BIT(WH)))
		return false;
	for (size_t i = s->body; i < s->tokens.v.n; i++)
		if (sv_among(token_word(&s->tokens, at(s, i)),
			    "should|must|need|needs|want|wants|soll|sollen|sollte|sollten|"
			    "muss|müssen|braucht|brauchen|brauche|bräuchte|möchte|will|doit|"
			    "doivent|debe|deben"))
			return false;
	return true;
}
