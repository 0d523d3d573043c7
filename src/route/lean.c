#include "route/reading.h"

#include <stdio.h>

/* ---- whether a word that opens a noun phrase has its noun: "that loop", or "that" alone ---- */

static bool german_small_verb(const struct sentence *s, size_t i)
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

static bool determiner_stands_alone(const struct sentence *s, size_t i)
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

/* ---- the signs, and what they add up to ---- */

/* How sure each sign is, alone. */
static const double sure_marker = 0.8; /* also, while you're at it */
static const double sure_step = 0.76; /* now, then */
static const double sure_reply = 0.8; /* a short yes or no */
static const double sure_reply_long = 0.4; /* one in front of a whole request */
static const double sure_pronoun = 0.8;
static const double sure_weak_pronoun = 0.77;
static const double sure_demonstrative = 0.77; /* that loop */
static const double sure_there = 0.77;
static const double sure_undo = 0.85;
static const double sure_very_short = 0.7;
static const double sure_fragment = 0.76;
static const double sure_short_question = 0.45;
static const double sure_done = 0.5; /* did you */
static const double sure_done_by_you = 0.72; /* and little is named */
static const double sure_done_question = 0.45;
static const double sure_result_question = 0.7;
static const double sure_too = 0.3;
static const double sure_too_last = 0.45; /* at the end */
static const double sure_too_command = 0.7; /* füg noch …, add … as well */
static const double sure_still = 0.15;
static const double sure_comparative = 0.4;
static const double sure_then = 0.75; /* … then, at the end */
static const double sure_ordinal = 0.45; /* the second screen */
static const double sure_adjust = 0.72; /* mention the flag */
static const double sure_result = 0.72; /* write the fix */
static const double sure_ordinal_noun = 0.72; /* the second paragraph */

struct leaning {
	struct sentence *s;
	double stands; /* product of (1 - sign) */
	double best;
};

static void sign(
	struct leaning *l, double sure, bool plain, const char *what, const struct token *k)
{
	l->stands *= 1.0 - sure;
	l->s->lean_explicit |= plain;
	if (sure <= l->best)
		return;
	l->best = sure;
	struct sv word = k ? k->raw : SV("");
	(void)snprintf(l->s->why, sizeof(l->s->why), k ? "%s '%.*s'" : "%s", what,
		word.n > 24 ? 24 : (int)word.n, word.n ? word.p : "");
}

static bool clause_begins(const struct sentence *s, size_t i)
{
	const struct token *k = at(s, i);
	bool request = k->phrase_n > 1 && (k->phrase & LANG_BIT(FILL)); /* … can you … */

	return k->before || request || (k->cls & (LANG_BIT(CONJ) | LANG_BIT(AND)));
}

/* "a test that proves it": what proves is not what is proved. */
static bool relative_head(const struct sentence *s, size_t i)
{
	const struct token *next = peek(s, i + 1);
	struct sv w = next ? token_word(&s->tokens, next) : SV("");

	return sv_among(w, "that|which|who");
}

/* A thing named earlier in the sentence, in another clause: the pronoun means that. Without
 * punctuation, a subject pronoun right behind a thing opens the clause itself. */
static bool antecedent_inside(const struct sentence *s, size_t pronoun)
{
	const struct token *next = peek(s, pronoun + 1);
	bool subject = next && !next->before &&
		(s->words[pronoun + 1].kind != WORD_NONE || (next->cls & LANG_BIT(AUX)));
	bool boundary = false;

	for (size_t i = pronoun + 1; i-- > s->body;) {
		if (i < pronoun &&
			((boundary && thing(s, i) && (subject || !relative_head(s, i))) ||
				(subject && i + 1 == pronoun && i > s->body && content(s, i))))
			return true;
		boundary |= i > s->body && (i == pronoun ? at(s, i)->before : clause_begins(s, i));
	}
	return false;
}

static bool thing_before(const struct sentence *s, size_t i)
{
	for (size_t j = s->body; j < i; j++)
		if (thing(s, j))
			return true;
	return false;
}

/* "the player forgets its position": an owner named before it, in whatever clause. */
static bool owned_inside(const struct sentence *s, size_t i)
{
	struct sv w = token_word(&s->tokens, at(s, i));

	return (sv_is(w, "its") || sv_is(w, "their")) && thing_before(s, i);
}

/* "it would be better to …": the clause is what it stands for. */
static bool clause_named(const struct sentence *s, size_t i)
{
	for (; i < s->tokens.v.n; i++)
		if (sv_among(token_word(&s->tokens, at(s, i)), "to|if|when|that|zu|wenn|dass"))
			return true;
	return false;
}

static bool in_expletive(const struct sentence *s, size_t i)
{
	for (size_t back = 0; back < LANG_PHRASE_MAX && back <= i; back++) {
		const struct token *k = at(s, i - back);
		if (k->phrase_n <= back)
			continue;
		if (k->phrase & LANG_BIT(EXPLETIVE)) {
			const struct token *next = peek(s, i - back + k->phrase_n);
			if (next && (next->cls & LANG_BIT(COMP)) && !clause_named(s, i))
				return false; /* it would be nicer with … */
			bool es = sv_is(token_word(&s->tokens, k), "es"); /* es soll … annehmen */
			return s->names > 0 || s->nouns > (es ? 1 : 0);
		}
		if (k->phrase_n > 1 && (k->phrase & LANG_BIT(FUNC))) /* is there */
			return true;
	}
	return false;
}

/* "what would it cost to move our mail": it stands for what comes after "to". */
static bool stands_for_clause(const struct sentence *s, size_t i)
{
	enum { REACH = 4 };

	if (!sv_is(token_word(&s->tokens, at(s, i)), "it") || i == 0 || s->names == 0 ||
		!(at(s, i - 1)->cls & LANG_BIT(AUX)))
		return false;
	for (size_t j = i + 2; j + 1 < s->tokens.v.n && j <= i + REACH; j++) {
		struct sv before = token_word(&s->tokens, at(s, j - 1));
		if (sv_is(token_word(&s->tokens, at(s, j)), "to") && !sv_is(before, "need") &&
			!sv_is(before, "have") && !sv_is(before, "want"))
			return !(at(s, j + 1)->cls & LANG_BIT(ART));
	}
	return false;
}

/* Anything but particles before the clause ends: "which package drags that in" has none. */
static bool clause_follows(const struct sentence *s, size_t i)
{
	for (; i < s->tokens.v.n && !at(s, i)->before; i++)
		if (!(at(s, i)->cls & (LANG_BIT(PREP) | LANG_BIT(FILL) | LANG_BIT(TOO))))
			return true;
	return false;
}

/* "that" joins a clause to a noun or a verb far more often than it points. */
static bool that_joins(const struct sentence *s, size_t i)
{
	const struct token *k = at(s, i), *next = peek(s, i + 1);

	if (!(k->cls & LANG_BIT(CONJ)) || i <= s->body || !clause_follows(s, i + 1))
		return false;
	if (thing(s, i - 1) || (s->words[i - 1].kind == WORD_ACT && i - 1 > s->body))
		return true;
	lang_mask clause =
		LANG_BIT(ART) | LANG_BIT(INDEF) | LANG_BIT(SELF) | LANG_BIT(YOU) | LANG_BIT(PRON);
	return next && !next->before && (next->cls & clause) &&
		(s->words[i - 1].kind == WORD_VERB || s->words[i - 1].kind == WORD_ACT);
}

/* "translate this sentence: …": what it points to follows. */
static bool shown_here(const struct sentence *s, size_t i)
{
	size_t j = i + 1;

	while (j < s->tokens.v.n && at(s, j)->before != '.')
		j++;
	return j < s->tokens.v.n && thing_before(s, j) && s->imperative &&
		!sv_is(token_word(&s->tokens, at(s, i)), "that");
}

/* "wie heißt dieser Befehl für runde Ecken": the name is sought, and what it is for is said. */
static bool described(const struct sentence *s, size_t i)
{
	const struct token *first = peek(s, s->body);

	if (!first || !(first->cls & LANG_BIT(WH)))
		return false;
	for (size_t j = i + 2; j + 1 < s->tokens.v.n; j++)
		if (thing(s, j - 1) && (at(s, j)->cls & LANG_BIT(PREP)) && s->names >= 2)
			return true;
	return false;
}

static void read_demonstrative(struct leaning *l, size_t i)
{
	const struct sentence *s = l->s;
	const struct token *k = at(s, i);

	if (that_joins(s, i) || antecedent_inside(s, i) || described(s, i))
		return;
	if (determiner_stands_alone(s, i))
		sign(l, sure_pronoun, true, "pronoun", k);
	else if ((at(s, i + 1)->cls & (LANG_BIT(HERE) | LANG_BIT(TIME))) || shown_here(s, i))
		return;
	else
		sign(l, sure_demonstrative, true, "points back with", k);
	l->s->points |= !determiner_stands_alone(s, i);
}

/* "wie geht das mit X": what it means comes after it. */
static bool cataphoric(const struct sentence *s, size_t i)
{
	do
		i++;
	while (i < s->tokens.v.n && (at(s, i)->cls & LANG_BIT(FILL)));
	return i < s->tokens.v.n && sv_is(token_word(&s->tokens, at(s, i)), "mit");
}

/* "wie weit ist es von Kassel nach Bremen": names of its own, and es for nothing. */
static bool empty_subject(const struct sentence *s, size_t i)
{
	const struct token *first = peek(s, s->body);

	return sv_is(token_word(&s->tokens, at(s, i)), "es") && s->names >= 2 && first &&
		(first->cls & LANG_BIT(WH));
}

/* "eine französische wäre auch gut": the noun was said before. */
static bool noun_left_out(const struct sentence *s, size_t i)
{
	const struct token *k = at(s, i), *next = peek(s, i + 1), *after = peek(s, i + 2);

	return s->tokens.lang == LANG_DE && (k->cls & LANG_BIT(INDEF)) && next && !next->before &&
		s->words[i + 1].kind == WORD_QUALITY && !(next->cls & LANG_BIT(NUM)) &&
		(!after || after->before || (after->cls & (LANG_BIT(AUX) | LANG_BIT(TOO))));
}

/* the three biggest, das größte */
static bool is_superlative(const struct sentence *s, const struct token *k)
{
	enum { SHORTEST = 5 };
	struct sv w = token_word(&s->tokens, k);

	if (k->word_n < SHORTEST || (k->flags & TOKEN_UPPER))
		return false;
	return s->tokens.lang == LANG_DE
		? sv_ends(w, SV("ßte")) || sv_ends(w, SV("ßten")) || sv_ends(w, SV("sste")) ||
			sv_ends(w, SV("ssten")) || sv_ends(w, SV("ste")) || sv_ends(w, SV("sten"))
		: sv_ends(w, SV("est"));
}

static bool superlative_alone(const struct sentence *s, size_t i)
{
	if (s->tokens.lang > LANG_DE || !(at(s, i)->cls & LANG_BIT(ART)))
		return false;
	const struct token *k = peek(s, ++i);
	k = k && (k->cls & LANG_BIT(NUM)) ? peek(s, ++i) : k;
	const struct token *next = peek(s, i + 1);
	return k && is_superlative(s, k) &&
		(!next || next->before || (next->cls & (LANG_BIT(PREP) | LANG_BIT(AUX))));
}

/* es, sie, das, la: articles, empty subjects or pronouns. */
static void read_weak_pronoun(struct leaning *l, size_t i)
{
	const struct sentence *s = l->s;
	const struct token *k = at(s, i);
	bool article = k->cls & LANG_BIT(ART);
	bool relative = article && i > s->body && !k->before && thing(s, i - 1);

	if ((article && !determiner_stands_alone(s, i)) || relative || cataphoric(s, i))
		return;
	if (empty_subject(s, i))
		return;
	if ((k->cls & LANG_BIT(AUX)) && (i + 1 >= s->tokens.v.n || !content(s, i + 1)))
		return;
	if (antecedent_inside(s, i) || ((k->flags & TOKEN_UPPER) && i > s->body && !k->before))
		return;
	if ((k->cls & LANG_BIT(PREP)) && i + 1 < s->tokens.v.n)
		return; /* en */
	bool possessive = !article && content(s, i + 1) && s->words[i + 1].kind != WORD_VERB &&
		!at(s, i + 1)->before;
	sign(l, possessive ? 0.5 : sure_weak_pronoun, true, "pronoun", k);
}

/* A content word that is no verb. */
static bool noun_follows(const struct sentence *s, size_t i)
{
	return content(s, i) && s->words[i].kind != WORD_VERB && s->words[i].kind != WORD_DEED &&
		!german_small_verb(s, i);
}

/* the other, both, ones; "the second option" chooses among what was said. */
static void read_one(struct leaning *l, size_t i, const struct token *k)
{
	const struct sentence *s = l->s;
	const lang_mask noun_opens =
		LANG_BIT(ART) | LANG_BIT(SELF) | LANG_BIT(YOU) | LANG_BIT(INDEF) | LANG_BIT(DEM);
	size_t end = i + k->phrase_n;
	const struct token *next = peek(s, end);
	struct sv w = next ? token_word(&s->tokens, next) : SV("");
	bool of = sv_among(w, "of|von|de");
	struct sv own = token_word(&s->tokens, at(s, end - 1));
	bool one = sv_is(own, "one") || sv_is(own, "ones"); /* the one by Miller */
	bool narrowed = !one && next && (next->cls & LANG_BIT(PREP)) && peek(s, end + 1);
	bool alone = !next || next->before ||
		(!noun_follows(s, end) && !of && !narrowed && !(next->cls & noun_opens));
	bool choice = next && k->phrase_n > 1 && (next->cls & LANG_BIT(RESULT)) && s->names == 0;
	size_t start = i; /* of its own noun phrase: the three noisy ones */

	while (start > s->body && content(s, start - 1))
		start--;
	bool contrast = thing_before(s, start) && !(k->phrase & LANG_BIT(INDEF));
	if ((alone || choice) && !antecedent_inside(s, i) && !contrast)
		sign(l, sure_pronoun, true, "stands for something said before:", k);
}

/* Spanish hangs pronouns on the verb: hazlo, pruébala. */
static bool spanish_clitic(const struct sentence *s, size_t i)
{
	static const char *const ends[] = { "lo", "la", "los", "las", "le", "les" };
	const struct token *k = at(s, i);
	struct sv w = token_word(&s->tokens, k);

	if (s->tokens.lang != LANG_ES || (i != s->body && !k->before) ||
		(k->cls & ~LANG_BIT(ASSENT)))
		return false;
	for (size_t e = 0; e < ARRAY_LEN(ends); e++)
		if (w.n > 4 && sv_ends(w, sv_of(ends[e])))
			return true;
	return false;
}

static bool hanging_pronoun(const struct sentence *s, size_t i)
{
	const struct token *k = at(s, i);
	struct sv w = token_word(&s->tokens, k);
	bool german =
		s->tokens.lang == LANG_DE && sv_ends(w, SV("'s")) && s->words[i].kind == WORD_VERB;
	bool french = (k->flags & TOKEN_CLITIC) && !(k->cls & (LANG_BIT(YOU) | LANG_BIT(SELF))) &&
		!sv_is(w, "il") && !sv_is(w, "ce") && !sv_is(w, "t");

	return german || french || spanish_clitic(s, i);
}

static void read_pointer(struct leaning *l, size_t i)
{
	const struct sentence *s = l->s;
	const struct token *k = at(s, i);

	if ((k->flags & TOKEN_QUOTED) || in_expletive(s, i) || stands_for_clause(s, i))
		return;
	if (hanging_pronoun(s, i)) {
		if (!antecedent_inside(s, i))
			sign(l, sure_pronoun, true, "pronoun", k);
	} else if (superlative_alone(s, i)) {
		sign(l, sure_weak_pronoun, true, "leaves the noun out:", k);
	} else if (k->phrase & LANG_BIT(ONE)) {
		read_one(l, i, k);
	} else if (k->cls & LANG_BIT(PRON)) {
		if (!antecedent_inside(s, i) && !owned_inside(s, i))
			sign(l, sure_pronoun, true, "pronoun", k);
	} else if (noun_left_out(s, i)) {
		sign(l, sure_weak_pronoun, true, "leaves the noun out:", k);
	} else if (k->cls & LANG_BIT(DEM)) {
		read_demonstrative(l, i);
	} else if (k->cls & LANG_BIT(WEAKPRON)) {
		read_weak_pronoun(l, i);
	} else if ((k->phrase & LANG_BIT(THERE)) && !(k->phrase & LANG_BIT(FUNC))) {
		if (!antecedent_inside(s, i))
			sign(l, sure_there, true, "points back with", k);
	}
}

/* "larger than one megabyte" says what it compares with. */
static bool compared(const struct sentence *s, size_t i)
{
	const struct token *next = peek(s, i);
	struct sv w = next ? token_word(&s->tokens, next) : SV("");

	return sv_among(w, "than|als|que");
}

/* "undo and redo for the editor", "how break and continue work": the word as a thing, in a sentence
 * that names what it is about. */
static bool mentioned(const struct sentence *s, size_t i)
{
	const struct token *k = at(s, i);

	return k->phrase_n == 1 && i > s->body && !k->before && s->names > 0 &&
		(at(s, i - 1)->cls & LANG_BIT(AND)) != 0;
}

/* "Tschechisch brauchen wir auch noch": one thing, no more. */
static bool small_statement(const struct sentence *s)
{
	enum { WORDS = 6 };

	return s->names <= 1 && !s->tokens.question && s->tokens.v.n - s->body <= WORDS;
}

/* did you, hast du */
static bool says_you(const struct sentence *s, size_t i)
{
	for (size_t end = i + at(s, i)->phrase_n; i < end; i++)
		if (at(s, i)->cls & LANG_BIT(YOU))
			return true;
	return false;
}

static void read_marker(struct leaning *l, size_t i)
{
	const struct sentence *s = l->s;
	const struct token *k = at(s, i);

	if (k->flags & TOKEN_QUOTED)
		return;
	size_t end = i + k->phrase_n;
	bool last = end >= s->tokens.v.n || at(s, end - 1)->after;
	bool noun = content(s, end) && !at(s, end)->before && s->words[end].kind != WORD_VERB;
	bool attribute = i > 0 && (at(s, i - 1)->cls & (LANG_BIT(INDEF) | LANG_BIT(ART))) &&
		k->phrase_n == 1;
	if ((k->phrase & LANG_BIT(ANYWHERE)) && !attribute && !(noun && k->phrase_n == 1) &&
		!mentioned(s, i))
		sign(l, sure_marker, true, "continues with", k);
	else if ((k->phrase & LANG_BIT(UNDO)) && !attribute && !noun && s->names == 0)
		sign(l, sure_undo, true, "takes back:", k);
	else if (k->phrase & LANG_BIT(DONE))
		sign(l, s->names <= 1 && says_you(s, i) ? sure_done_by_you : sure_done, true,
			"asks about work done:", k);
	else if ((k->phrase & LANG_BIT(TOO)) && (last || !sv_is(token_word(&s->tokens, k), "too")))
		sign(l,
			s->imperative || (last && small_statement(s)) ? sure_too_command
				: last				      ? sure_too_last
								      : sure_too,
			false, "adds with", k);
	else if (k->phrase & LANG_BIT(STILL))
		sign(l, sure_still, false, "presupposes with", k);
	else if ((k->phrase & LANG_BIT(COMP)) && s->names <= 2 && !compared(s, end))
		sign(l, s->names == 0 ? sure_comparative + 0.2 : sure_comparative - 0.15, false,
			"compares with", k);
}

/* Unknown words of German may be adverbs; verbs end in t or en. */
static bool looks_like_verb(const struct sentence *s, size_t i)
{
	struct sv w = token_word(&s->tokens, at(s, i));

	return s->tokens.lang != LANG_DE || sv_ends(w, SV("t")) || sv_ends(w, SV("en"));
}

static bool has_verb(const struct sentence *s)
{
	for (size_t i = 0; i < s->tokens.v.n; i++)
		if ((at(s, i)->cls & (LANG_BIT(AUX) | LANG_BIT(VERB) | LANG_BIT(DEED))) ||
			(s->words[i].kind == WORD_ACT && looks_like_verb(s, i)))
			return true;
	return false;
}

/* Chinese is not written in words: two characters are about one. */
static size_t size_in_words(const struct token *k)
{
	enum { WORD_BYTES = 6 };

	return k->flags & TOKEN_HAN ? (k->raw.n + WORD_BYTES - 1) / WORD_BYTES : 1;
}

/* Few words rely on what is known: "verify the checksum", "any leftovers". */
static bool is_very_short(const struct sentence *s)
{
	enum { ANY = 3, WITHOUT_VERB = 4, WITH_KNOWN_THING = 5 };
	size_t words = 0;
	bool definite = false;

	for (size_t i = s->body; i < s->tokens.v.n; i++) {
		if ((at(s, i)->flags & TOKEN_QUOTED) ||
			((at(s, i)->flags & TOKEN_IDENT) && s->tokens.v.n - s->body > 1))
			return false;
		words += at(s, i)->cls & LANG_BIT(FILL) ? 0 : size_in_words(at(s, i));
		definite |= s->words[i].kind == WORD_NAME && s->words[i].definite == WORD_DEFINITE;
	}
	if (s->body < s->tokens.v.n && (at(s, s->body)->cls & LANG_BIT(WH)) && s->names > 0 &&
		!definite)
		return false; /* what is X: any X */
	/* "explain monads", "check disk usage": short, but whole. */
	if (s->imperative && s->names > 0 && !definite)
		return false;
	/* A verb with a meaning of its own makes a whole request of three words. */
	if (s->imperative && s->words[s->body].kind != WORD_VERB)
		return false;
	return (words <= ANY && s->names <= 1) || (words <= WITHOUT_VERB && !has_verb(s)) ||
		(words <= WITH_KNOWN_THING && s->imperative && definite && s->names <= 1);
}

/* What only follows from something: a question about it, a choice in it. */
static void read_consequence(struct leaning *l)
{
	const struct sentence *s = l->s;

	if (sentence_ends_with_then(s))
		sign(l, sure_then, true, "follows from something", NULL);
	if (sentence_object_missing(s))
		sign(l, sure_fragment, false, "leaves out the object", NULL);
	if (sentence_opens_with_ordinal(s))
		sign(l, s->words[s->body + 2].kind == WORD_NOUN ? sure_ordinal_noun : sure_ordinal,
			false, "chooses among known things", NULL);
	if (sentence_adjusts(s))
		sign(l, sure_adjust, false, "changes something known", NULL);
	if (sentence_uses_result(s))
		sign(l, sure_result, false, "goes on with a result", NULL);
	if (sentence_asks_for_part(s))
		sign(l, sure_result, false, "asks for a part of something", NULL);
	if (sentence_asks_what_happens(s) || sentence_asks_about_now(s))
		sign(l, sure_result, false, "asks what became of it", NULL);
	if (sentence_asks_for_help(s))
		sign(l, sure_result, false, "asks what would help", NULL);
	if (sentence_ends_with_assent(s))
		sign(l, sure_reply, true, "agrees", NULL);
	if (sentence_asks_about_result(s))
		sign(l, sure_result_question, true, "asks about a result", NULL);
	if (sentence_asks_about_past(s) || sentence_asks_whether(s))
		sign(l, sure_done_question, false, "asks what happened", NULL);
}

/* What is left when signs are taken off: is it a whole request? */
static void read_completeness(struct leaning *l)
{
	struct sentence *s = l->s;
	const struct token *first = peek(s, s->body);
	bool quoted = false;

	for (size_t i = 0; i < s->tokens.v.n; i++)
		quoted |= (at(s, i)->flags & TOKEN_QUOTED) != 0;
	if (s->names == 0 && !quoted) {
		static const double by_nouns[] = { 0.85, 0.68, 0.4, 0.2 };
		size_t n = s->nouns + s->acts < 3 ? s->nouns + s->acts : 3;
		sign(l, by_nouns[n], n == 0, "names nothing of its own", NULL);
	}
	read_consequence(l);
	if (is_very_short(s))
		sign(l, sure_very_short, false, "is very short", NULL);
	enum { FRAGMENT_WORDS = 7, SHORT_QUESTION = 4 };
	const struct token *second = peek(s, s->body + 1); /* "à quoi sert …" asks */
	if (first && (first->cls & LANG_BIT(WH)) && s->names <= 1 &&
		s->tokens.v.n - s->body <= SHORT_QUESTION)
		sign(l, sure_short_question, false, "is a short question", NULL);
	if (first && s->tokens.v.n - s->body <= FRAGMENT_WORDS && s->names <= 3 && !has_verb(s) &&
		(first->cls & (LANG_BIT(PREP) | LANG_BIT(COMP))) && !s->returning &&
		!(second && (second->cls & LANG_BIT(WH))))
		sign(l, sure_fragment, false, "is no whole sentence", NULL);
}

/* A new thing is named: "also gut, schreib eine Einladung". */
static bool brings_name(const struct sentence *s)
{
	for (size_t i = s->body; i < s->tokens.v.n; i++)
		if (s->words[i].kind == WORD_NAME && s->words[i].definite == WORD_INDEFINITE)
			return true;
	return false;
}

void lean_read(struct sentence *s, const struct opening *o)
{
	struct leaning l = { .s = s, .stands = 1.0 };
	const struct token *first = peek(s, 0);

	if (!first)
		return;
	if (o->start)
		sign(&l, sure_marker, true, "continues with", first);
	else if (o->step)
		sign(&l, sure_step, true, "goes on with", first);
	if (o->assent || o->deny) {
		bool small = s->names == 0 || (s->names == 1 && !brings_name(s));
		double sure = small || o->deny ? sure_reply : sure_reply_long;
		sign(&l, sure, true, "answers", first);
	}
	for (size_t i = s->body; i < s->tokens.v.n; i++) {
		read_pointer(&l, i);
		if (!(at(s, i)->flags & TOKEN_IN_PHRASE))
			read_marker(&l, i);
	}
	read_completeness(&l);
	s->lean = 1.0 - l.stands;
}
