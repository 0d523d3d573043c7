#include "route/sentence.h"

#include <assert.h>

#include "base/mem.h"
#include "route/reading.h"

void sentence_release(struct sentence *s)
{
	free(s->words);
	s->words = NULL;
	tokens_release(&s->tokens);
}

/* Classes that make a word no candidate for the subject. */
static const lang_mask function_words = LANG_BIT(ART) | LANG_BIT(INDEF) | LANG_BIT(PREP) |
	LANG_BIT(CONJ) | LANG_BIT(AND) | LANG_BIT(PRON) | LANG_BIT(WEAKPRON) | LANG_BIT(DEM) |
	LANG_BIT(THERE) | LANG_BIT(SELF) | LANG_BIT(YOU) | LANG_BIT(AUX) | LANG_BIT(WH) |
	LANG_BIT(FILL) | LANG_BIT(FUNC) | LANG_BIT(ASSENT) | LANG_BIT(DENY) | LANG_BIT(START) |
	LANG_BIT(STEP) | LANG_BIT(ANYWHERE) | LANG_BIT(TOO) | LANG_BIT(STILL) | LANG_BIT(RETURN) |
	LANG_BIT(FRESH) | LANG_BIT(ASIDE) | LANG_BIT(DONE) | LANG_BIT(EXPLETIVE) | LANG_BIT(ONE) |
	LANG_BIT(PAST);
static const lang_mask openers =
	LANG_BIT(ART) | LANG_BIT(INDEF) | LANG_BIT(DEM) | LANG_BIT(SELF) | LANG_BIT(YOU);
static const lang_mask quality_words =
	LANG_BIT(ADJ) | LANG_BIT(COMP) | LANG_BIT(NUM) | LANG_BIT(TIME) | LANG_BIT(UNDO);
static const lang_mask noun_words = LANG_BIT(NOUN) | LANG_BIT(RESULT) | LANG_BIT(HERE);

/* Phrases of these classes mean something wherever they stand; the words in them do not. */
static const lang_mask marker_phrases = LANG_BIT(FILL) | LANG_BIT(FUNC) | LANG_BIT(ANYWHERE) |
	LANG_BIT(TOO) | LANG_BIT(STILL) | LANG_BIT(FRESH) | LANG_BIT(ASIDE) | LANG_BIT(DONE) |
	LANG_BIT(EXPLETIVE) | LANG_BIT(ONE) | LANG_BIT(PAST) | LANG_BIT(AUX) | LANG_BIT(WH);

/* Whether token i is in a marker and not, say, in "unit tests". */
static bool inside_marker(const struct sentence *s, size_t i)
{
	for (size_t back = 0; back < LANG_PHRASE_MAX && back <= i; back++) {
		const struct token *k = at(s, i - back);
		if (k->phrase_n > back && k->phrase_n > 1)
			return (k->phrase & marker_phrases) != 0;
	}
	return false;
}

/* ---- opening ---- */

static bool content_follows(const struct sentence *s, size_t i)
{
	const struct token *k = peek(s, i), *next = peek(s, i + 1);
	bool verb = next && !next->before && (next->cls & openers); /* okay, kick the … */

	return k && !k->before && !(k->cls & (function_words | LANG_BIT(VERB))) && !verb;
}

/* "new topic: …" begins something; "a new topic page" does not. */
static bool fresh_at(const struct sentence *s, size_t i)
{
	const struct token *k = at(s, i);

	return (k->phrase & LANG_BIT(FRESH)) && !content_follows(s, i + k->phrase_n);
}

/* "no, the other" answers; "no tests found" and "läuft der Import" do not. */
static bool reply_at(const struct sentence *s, size_t i)
{
	const struct token *k = at(s, i), *next = peek(s, i + k->phrase_n);

	if ((k->cls & LANG_BIT(VERB)) && k->phrase_n == 1 && next && !next->before &&
		(next->cls & LANG_BIT(ART)))
		return false;
	return (k->phrase & (LANG_BIT(ASSENT) | LANG_BIT(DENY))) &&
		!content_follows(s, i + k->phrase_n);
}

/* German "also" is a filler: it is one when the next word is German. */
static bool german_also(const struct sentence *s, size_t i, const struct lexicon *lex)
{
	const struct token *next = peek(s, i + 1);

	if (!sv_is(token_word(&s->tokens, at(s, i)), "also"))
		return false;
	if (s->tokens.lang != LANG_DE && s->tokens.second != LANG_DE)
		return false;
	struct sv word = next ? token_word(&s->tokens, next) : SV("");
	bool german = lexicon_get(lex, LANG_DE, word), english = lexicon_get(lex, LANG_EN, word);
	return german == english ? s->tokens.lang == LANG_DE : german;
}

/* English "now playing widget", "then and now slider": no step, the next word is part of a name. */
static bool attribute_at(const struct sentence *s, size_t i)
{
	const struct token *next = peek(s, i + 1), *after = peek(s, i + 2);

	return s->tokens.lang == LANG_EN && next && !next->before && !next->cls &&
		!(next->flags & TOKEN_IDENT) && after && !after->before && !after->cls &&
		!(after->flags & TOKEN_IDENT);
}

/* "… and remember the choice": a program is to store it, nobody is asked. */
static bool stores(const struct sentence *s, size_t i)
{
	return i > 0 && sv_is(token_word(&s->tokens, at(s, i)), "remember");
}

static void read_opening(struct sentence *s, const struct lexicon *lex, struct opening *o)
{
	size_t i = 0;

	while (i < s->tokens.v.n) {
		const struct token *k = at(s, i);
		lang_mask m = k->phrase;
		if (k->flags & TOKEN_QUOTED)
			break;
		if (fresh_at(s, i))
			s->fresh = true;
		else if ((m & LANG_BIT(RETURN)) && !stores(s, i)) {
			s->returning = true;
			s->continues = (m & LANG_BIT(STEP)) != 0;
		} else if (german_also(s, i, lex))
			;
		else if (reply_at(s, i))
			*(m & LANG_BIT(DENY) ? &o->deny : &o->assent) = true;
		else if (m & LANG_BIT(START))
			o->start = true;
		else if ((m & LANG_BIT(STEP)) && !(k->phrase_n == 1 && attribute_at(s, i)))
			o->step = true;
		else if (!(m & (LANG_BIT(FILL) | LANG_BIT(ASIDE))))
			break;
		i += k->phrase_n;
		if (s->returning)
			break;
	}
	s->body = i;
}

/* ---- words and their roles ---- */

struct reader {
	uint16_t chunk;
	bool fresh_chunk; /* the next content word begins a new one */
	bool after_preposition;
	bool complement;
	bool subordinate; /* behind that, when, weil */
	bool condition; /* inside "when X happens, …": not what is asked for */
	bool focus_seen; /* a name or a pronoun has had the focus */
	enum word_definite definite;
	uint16_t focus_chunk;
};

/* "die soll um vier uhr laufen", written small: an auxiliary, or the infinitive that ends its
 * clause.
 */
static bool german_verb_here(const struct sentence *s, size_t i)
{
	const struct token *next = peek(s, i + 1);

	if (at(s, i)->cls & LANG_BIT(AUX))
		return true;
	if ((next && !next->before) || !sv_ends(token_word(&s->tokens, at(s, i)), SV("en")))
		return false;
	for (size_t j = i; j > s->body; j--)
		if (at(s, j - 1)->cls & LANG_BIT(AUX))
			return true;
	return false;
}

/* "the landlord answered" */
static bool english_past(const struct sentence *s, size_t i)
{
	return s->tokens.lang == LANG_EN && sv_ends(token_word(&s->tokens, at(s, i)), SV("ed"));
}

/* The import, der Build: a verb used as a noun. German writes it with a capital. */
static bool noun_position(const struct sentence *s, size_t i)
{
	const struct token *k = at(s, i), *next = peek(s, i + 1);

	if (i == s->body && s->returning)
		return true;
	if (i == s->body || k->before)
		return false;
	if (s->tokens.lang == LANG_DE && s->tokens.mixed_case)
		return k->flags & TOKEN_UPPER;
	if (s->tokens.lang == LANG_DE && german_verb_here(s, i))
		return false;
	if (next && !next->before && (next->cls & (LANG_BIT(SELF) | LANG_BIT(YOU))))
		return false; /* "die nehmen wir" */
	lang_mask prev = at(s, i - 1)->cls;
	if (!prev) /* "CSV export", but "the crawler imports the pages" */
		return (k->cls & (LANG_BIT(DEED) | noun_words)) && !english_past(s, i) &&
			!(next && !next->before && (next->cls & openers));
	if ((prev & noun_words) && !(k->cls & (LANG_BIT(DEED) | noun_words)))
		return false; /* "the file includes" */
	return (prev &
		       (LANG_BIT(ART) | LANG_BIT(INDEF) | LANG_BIT(PREP) | LANG_BIT(ADJ) |
			       LANG_BIT(DEM) | LANG_BIT(NUM) | noun_words)) &&
		!sv_is(token_word(&s->tokens, at(s, i - 1)), "to");
}

/* "write release notes": two verbs cannot follow each other, the second is part of a name. */
static bool object_attribute(const struct sentence *s, size_t i)
{
	const struct token *k = at(s, i), *next = peek(s, i + 1);

	return i > s->body && !k->before && s->words[i - 1].kind == WORD_VERB && next &&
		!next->before && (!next->cls || (next->cls & noun_words));
}

/* "merging tickets loses …": a gerund with its object; "autosave is …": no command either. */
static bool opens_as_subject(const struct sentence *s, size_t i)
{
	const struct token *next = peek(s, i + 1);

	if (next && !next->before && (next->cls & LANG_BIT(AUX)) && !(next->cls & LANG_BIT(VERB)))
		return true;
	return s->tokens.lang == LANG_EN && sv_ends(token_word(&s->tokens, at(s, i)), SV("ing")) &&
		next && !(next->cls & (openers | LANG_BIT(PRON)));
}

/* English: "the opening" is a thing, "the saved position" has a quality. */
static enum word_kind participle(const struct sentence *s, size_t i, enum word_kind otherwise)
{
	struct sv w = token_word(&s->tokens, at(s, i));

	if (at(s, i)->cls & noun_words)
		return otherwise;
	if (s->tokens.lang == LANG_DE && s->tokens.mixed_case)
		return WORD_NAME; /* die Anzeigen */
	if (s->tokens.lang != LANG_EN)
		return otherwise;
	return sv_ends(w, SV("ing")) ? WORD_NAME : sv_ends(w, SV("ed")) ? WORD_QUALITY : otherwise;
}

/* An unknown word that opens the sentence in front of an article is what is to be done. */
static bool unknown_verb(const struct sentence *s, size_t i)
{
	const struct token *k = at(s, i), *next = peek(s, i + 1);

	return (i == s->body || k->before == ',' || k->before == '.') && next && !next->before &&
		!(k->flags & (TOKEN_IDENT | TOKEN_HAN)) &&
		(next->cls & (openers | LANG_BIT(WEAKPRON) | LANG_BIT(PRON)));
}

/* "the saved position survives an update": an unknown word between a noun and an article. */
static bool verb_between(const struct sentence *s, size_t i)
{
	const struct token *next = peek(s, i + 1);

	if (i <= s->body || s->tokens.lang == LANG_DE || at(s, i)->before || !next ||
		next->before || (at(s, i)->flags & (TOKEN_UPPER | TOKEN_IDENT | TOKEN_HAN)))
		return false;
	enum word_kind before = s->words[i - 1].kind;
	bool fresh = (next->cls & LANG_BIT(INDEF)) && next->word_n <= 3; /* not "every day" */
	bool third = s->tokens.lang == LANG_EN && /* "log compression eats too much" */
		sv_ends(token_word(&s->tokens, at(s, i)), SV("s")) &&
		(next->cls & (LANG_BIT(TOO) | LANG_BIT(FUNC))) && !(next->cls & LANG_BIT(PREP));
	return (before == WORD_NAME || before == WORD_NOUN) &&
		(fresh || third || (next->cls & (LANG_BIT(ART) | LANG_BIT(DEM) | LANG_BIT(SELF))));
}

/* "the cited sources": an unknown participle in front of a noun. */
static bool english_participle(const struct sentence *s, size_t i)
{
	struct sv w = token_word(&s->tokens, at(s, i));
	const struct token *next = peek(s, i + 1);

	return s->tokens.lang == LANG_EN && w.n > 4 && sv_ends(w, SV("ed")) && i > s->body &&
		(at(s, i - 1)->cls & (LANG_BIT(ART) | LANG_BIT(INDEF) | LANG_BIT(SELF))) && next &&
		!next->before && !(next->cls & function_words);
}

/* quickly, lentement, rápidamente */
static bool is_adverb(const struct sentence *s, size_t i)
{
	static const char *const endings[LANG_COUNT] = {
		[LANG_EN] = "ly", [LANG_FR] = "ement", [LANG_ES] = "mente"
	};
	const char *end = endings[s->tokens.lang];
	struct sv w = token_word(&s->tokens, at(s, i));

	return end && w.n > 5 && sv_ends(w, sv_of(end));
}

/* home page, unit tests, look into: common things of several words. */
static bool inside_phrase(const struct sentence *s, size_t i, lang_mask classes)
{
	for (size_t back = 0; back < LANG_PHRASE_MAX && back <= i; back++) {
		const struct token *k = at(s, i - back);
		if (k->phrase_n > back && k->phrase_n > 1)
			return (k->phrase & classes) != 0;
	}
	return false;
}

/* Endings that make German adjectives: französische, nächtlich, lesbar. */
static bool german_adjective(const struct sentence *s, size_t i)
{
	static const char *const inflected[] = { "e", "en", "er", "es", "em" };
	static const char *const made[] = { "isch", "lich", "ig", "bar", "sam", "los", "haft",
		"iert", "ierend" };
	struct sv w = token_word(&s->tokens, at(s, i));

	if (s->tokens.lang != LANG_DE || (at(s, i)->flags & (TOKEN_UPPER | TOKEN_IDENT)))
		return false;
	for (size_t e = 0; e < ARRAY_LEN(inflected); e++) {
		if (sv_ends(w, sv_of(inflected[e]))) {
			w.n -= strlen(inflected[e]);
			break;
		}
	}
	for (size_t m = 0; m < ARRAY_LEN(made); m++)
		if (w.n > strlen(made[m]) + 2 && sv_ends(w, sv_of(made[m])))
			return true;
	return false;
}

/* "a Continue Watching row": English has capitals inside a sentence for names only. */
static bool english_title(const struct sentence *s, size_t i)
{
	const struct token *k = at(s, i);

	return s->tokens.lang == LANG_EN && i > s->body && !k->before && (k->flags & TOKEN_UPPER) &&
		!(k->cls & function_words) &&
		!(at(s, 0)->flags & TOKEN_UPPER && s->tokens.v.n > 1 &&
			at(s, 1)->flags & TOKEN_UPPER);
}

/* Words that only change what is there are verbs where they open the sentence: order, label. */
static bool is_verb(const struct sentence *s, size_t i)
{
	lang_mask cls = at(s, i)->cls;
	bool other = cls & (noun_words | quality_words | function_words);

	return (cls & (LANG_BIT(VERB) | LANG_BIT(DEED))) ||
		((cls & LANG_BIT(ADJUST)) && (i == s->body || !other));
}

/* "mach die Ecken rund": no assent here, and no third person either. */
static bool orders(const struct sentence *s, size_t i)
{
	const lang_mask other = function_words & ~(LANG_BIT(ASSENT) | LANG_BIT(DENY));

	return i == s->body && !(at(s, i)->cls & other) &&
		!sv_ends(token_word(&s->tokens, at(s, i)), SV("t"));
}

static enum word_kind kind_of(const struct sentence *s, size_t i)
{
	const struct token *k = at(s, i);

	if (i < s->body || inside_marker(s, i))
		return WORD_NONE;
	if (inside_phrase(s, i, LANG_BIT(NOUN) | LANG_BIT(RESULT)))
		return WORD_NOUN;
	if (inside_phrase(s, i, LANG_BIT(VERB))) /* speed up */
		return k->flags & TOKEN_IN_PHRASE ? WORD_NONE : WORD_VERB;
	if (!k->cls) {
		if (german_adjective(s, i) || is_adverb(s, i) || english_participle(s, i))
			return WORD_QUALITY;
		bool small = s->tokens.lang == LANG_DE && s->tokens.mixed_case &&
			!(k->flags & (TOKEN_UPPER | TOKEN_IDENT));
		return unknown_verb(s, i) || small || verb_between(s, i) ? WORD_ACT : WORD_NAME;
	}
	if (is_verb(s, i)) {
		bool deed = !(k->cls & LANG_BIT(VERB)) || (k->cls & LANG_BIT(DEED));
		if (deed && i == s->body && opens_as_subject(s, i))
			return WORD_NAME;
		if ((deed && object_attribute(s, i)) || english_title(s, i))
			return WORD_NAME;
		if (!noun_position(s, i))
			return (k->cls & function_words) && !orders(s, i) ? WORD_NONE
				: deed					  ? WORD_DEED
									  : WORD_VERB;
		return participle(s, i, deed ? WORD_NAME : WORD_NOUN);
	}
	if (k->cls & noun_words)
		return WORD_NOUN;
	if (k->cls & function_words)
		return WORD_NONE;
	return k->cls & quality_words ? WORD_QUALITY : WORD_NONE;
}

/* "the list of members", "die Liste der Mitglieder": one thing, named by two nouns. */
static bool opens_complement(const struct sentence *s, size_t i)
{
	struct sv w = token_word(&s->tokens, at(s, i));
	enum word_kind before = i > 0 ? s->words[i - 1].kind : WORD_NONE;

	if ((before != WORD_NAME && before != WORD_NOUN) || at(s, i)->before)
		return false;
	bool german = s->tokens.lang == LANG_DE && (sv_is(w, "der") || sv_is(w, "des"));
	bool romance = (s->tokens.lang == LANG_FR || s->tokens.lang == LANG_ES) &&
		sv_among(w, "de|du|des|del|d");
	return german || romance || sv_is(w, "of");
}

/* das, that: before another function word it is no article. */
static bool lone_pointer(const struct sentence *s, size_t i)
{
	const struct token *k = at(s, i), *next = peek(s, i + 1);

	return (k->cls & (LANG_BIT(WEAKPRON) | LANG_BIT(DEM))) && !(k->cls & LANG_BIT(CONJ)) &&
		next && !next->before && (next->cls & function_words) &&
		!(next->cls & (LANG_BIT(VERB) | noun_words | quality_words));
}

/* Article and preposition in one. */
static bool holds_article(struct sv word)
{
	return sv_among(word, "am|ans|aufs|beim|fürs|hinters|im|ins|übers|ums|vom|vors|zum|zur");
}

/* Function words steer what comes after them. */
static void steer(const struct sentence *s, struct reader *r, size_t i)
{
	const struct token *k = at(s, i);
	lang_mask c = k->cls;

	if ((c & LANG_BIT(CONJ)) && i > s->body && !(c & (LANG_BIT(PREP) | LANG_BIT(START))))
		r->subordinate = true;
	if ((c & LANG_BIT(PRON)) || lone_pointer(s, i)) /* "hide it from customers" is about it */
		r->focus_seen = true;
	r->complement = opens_complement(s, i) || (r->complement && (c & openers));
	r->fresh_chunk = !r->complement;
	if (c & LANG_BIT(PREP))
		r->after_preposition = true;
	else if (!(c & (openers | LANG_BIT(WEAKPRON))))
		r->after_preposition = false;
	if ((c & LANG_BIT(DEM)) && !(c & LANG_BIT(CONJ)))
		r->definite = WORD_POINTED;
	else if (c & (LANG_BIT(ART) | LANG_BIT(DEM) | LANG_BIT(SELF) | LANG_BIT(YOU)))
		r->definite = WORD_DEFINITE;
	else if (c & LANG_BIT(INDEF))
		r->definite = WORD_INDEFINITE;
	else
		r->definite = WORD_BARE;
	if (s->tokens.lang == LANG_DE && holds_article(token_word(&s->tokens, k)))
		r->definite = WORD_DEFINITE;
}

/* An unknown small word of German is an adjective in a noun phrase, or the verb that ends it: an
 * adjective there has an ending and a noun behind it. */
static bool german_finite(const struct sentence *s, size_t i)
{
	const struct token *next = peek(s, i + 1);
	struct sv w = token_word(&s->tokens, at(s, i));

	return sv_ends(w, SV("t")) || !next || next->before || (next->cls & function_words);
}

static void place(struct sentence *s, struct reader *r, size_t i)
{
	struct word *w = &s->words[i];

	if (r->fresh_chunk || at(s, i)->before) {
		r->chunk++;
		r->fresh_chunk = false;
	}
	w->chunk = r->chunk;
	w->definite = r->definite;
	w->complement = r->complement;
	bool name = w->kind == WORD_NAME;
	if (r->condition) {
		w->role = ROLE_BACKGROUND;
		return;
	}
	if (name && !r->focus_seen) {
		r->focus_seen = true;
		r->focus_chunk = r->chunk;
	}
	bool verb = w->kind == WORD_ACT;
	if (verb && (s->tokens.lang != LANG_DE || german_finite(s, i))) {
		w->chunk = ++r->chunk;
		w->complement = r->complement = r->after_preposition = false;
		r->fresh_chunk = true;
		r->definite = WORD_BARE;
	}
	/* "with the old tables, …": what a sentence opens with is what it is about */
	bool fronted = r->chunk == 1 && (at(s, s->body)->cls & LANG_BIT(PREP));
	bool focus = r->focus_seen ? r->chunk == r->focus_chunk : !r->after_preposition || fronted;
	bool background = r->subordinate && r->focus_seen;
	w->role = focus		       ? ROLE_FOCUS
		: verb		       ? ROLE_OTHER
		: background	       ? ROLE_BACKGROUND
		: r->after_preposition ? ROLE_ASIDE
				       : ROLE_OTHER;
}

static void mark_heads(struct sentence *s)
{
	for (size_t i = 0; i < s->tokens.v.n; i++) {
		bool content = s->words[i].kind != WORD_NONE;
		bool last = i + 1 == s->tokens.v.n || s->words[i + 1].kind == WORD_NONE ||
			s->words[i + 1].chunk != s->words[i].chunk;
		s->words[i].head = content && last && !s->words[i].complement;
	}
}

/* when …, wenn …: with a comma that ends the clause. */
static bool opens_condition(const struct sentence *s, size_t i)
{
	if (!(at(s, i)->cls & LANG_BIT(CONJ)) || (at(s, i)->cls & LANG_BIT(DEM)))
		return false;
	for (size_t j = i + 2; j < s->tokens.v.n; j++)
		if (at(s, j)->before == ',')
			return true;
	return false;
}

/* "in the VCF filter, take …" */
static bool opens_with_place(const struct sentence *s)
{
	enum { REACH = 6 };
	const struct token *k = peek(s, s->body), *next = peek(s, s->body + 1);

	if (!k || !next || !(k->cls & LANG_BIT(PREP)) || !(next->cls & LANG_BIT(ART)))
		return false;
	for (size_t i = s->body + 2; i < s->tokens.v.n && i < s->body + REACH; i++)
		if (at(s, i)->before == ',')
			return true;
	return false;
}

static void read_words(struct sentence *s)
{
	struct reader r = { .fresh_chunk = true };

	for (size_t i = 0; i < s->tokens.v.n; i++) {
		const struct token *k = at(s, i);
		enum word_kind kind = kind_of(s, i);
		s->words[i].kind = kind;
		r.condition =
			i == s->body ? opens_condition(s, i) : r.condition && k->before != ',';
		r.subordinate &= !k->before;
		if (k->before) {
			r.after_preposition = r.complement = false;
			r.definite = WORD_BARE;
		}
		if (kind == WORD_NONE || kind == WORD_VERB || kind == WORD_DEED) {
			steer(s, &r, i);
		} else {
			place(s, &r, i);
			bool quoted = k->flags & TOKEN_QUOTED;
			s->names += kind == WORD_NAME && !quoted;
			s->acts += kind == WORD_ACT && !quoted;
			if (kind == WORD_NOUN && !quoted && !(k->cls & LANG_BIT(RESULT)))
				s->nouns += s->words[i].definite == WORD_INDEFINITE ? 2 : 1;
		}
	}
	mark_heads(s);
	s->fronted = opens_with_place(s);
	const struct token *first = peek(s, s->body);
	enum word_kind opens = first ? s->words[s->body].kind : WORD_NONE;
	s->imperative = !s->tokens.question && !s->returning &&
		(opens == WORD_VERB || opens == WORD_DEED ||
			(opens == WORD_ACT && unknown_verb(s, s->body)));
}

/* Classes that count wherever they stand. */
static void read_signs(struct sentence *s)
{
	for (size_t i = 0; i < s->tokens.v.n; i++) {
		const struct token *k = at(s, i);
		if (k->flags & TOKEN_QUOTED)
			continue;
		s->presupposes |= (k->phrase & (LANG_BIT(STILL) | LANG_BIT(TOO))) != 0;
		s->persists |= (k->phrase & LANG_BIT(STILL)) &&
			!(k->phrase & (LANG_BIT(STEP) | LANG_BIT(INDEF)));
		s->past |= (k->phrase & LANG_BIT(PAST)) != 0;
		s->waits |= (k->phrase & LANG_BIT(WAIT)) != 0;
		bool alone = (i == 0 || k->before) && (k->phrase & LANG_BIT(FRESH));
		const struct token *end = at(s, i + k->phrase_n - 1);
		s->fresh |= alone && k->phrase_n > 1 && (end->after || !peek(s, i + k->phrase_n));
	}
}

/* Everything but leaning. */
static void read_all(
	struct sentence *s, struct sv text, const struct lexicon *lex, struct opening *o)
{
	tokens_read(&s->tokens, text, lex);
	s->words = xcalloc(s->tokens.v.n + 1, sizeof(*s->words));
	read_opening(s, lex, o);
	read_words(s);
	read_signs(s);
}

void sentence_read(struct sentence *s, struct sv text, const struct lexicon *lex)
{
	struct opening o = { 0 };

	read_all(s, text, lex, &o);
	lean_read(s, &o);
}

void sentence_read_subject(struct sentence *s, struct sv text, const struct lexicon *lex)
{
	struct opening o = { 0 };

	read_all(s, text, lex, &o);
}
