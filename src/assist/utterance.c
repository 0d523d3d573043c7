#include "assist/utterance.h"

#include <stdio.h>

#include <utf8proc.h>

#include "base/utf8.h"
#include "base/vec.h"

struct rule {
	enum utterance_kind kind;
	char *text; /* as configured */
	char *lang;
	char *normal; /* as words */
	char *bare; /* without filler words, NULL when nothing else is in it */
	char *folded; /* for `contains` */
};

struct utterances {
	bool contains;
	VEC(struct rule) rules; /* in order of precedence */
	struct strv fillers; /* normalised phrases, the name's among them */
	struct strv names; /* normalised forms of the name, with and without a greeting */
};

const char *utterance_kind_name(enum utterance_kind kind)
{
	static const char *const names[] = {
#define X(id, name) [id] = name,
		UTTERANCE_LIST(X)
#undef X
	};
	return names[kind];
}

/* ---- text forms ---- */

/* Length of the phrase's match at the start of words, a blank behind it included; 0: none. */
static size_t match_phrase(struct sv words, const char *phrase)
{
	struct sv p = sv_of(phrase);
	if (!sv_starts(words, p))
		return 0;
	if (words.n == p.n)
		return p.n;
	return words.p[p.n] == ' ' ? p.n + 1 : 0;
}

static size_t match_filler(const struct utterances *u, struct sv words)
{
	size_t longest = 0;
	for (size_t i = 0; i < u->fillers.n; i++) {
		size_t n = match_phrase(words, u->fillers.v[i]);
		if (n > longest)
			longest = n;
	}
	return longest;
}

/* Appends the words without the fillers among them. */
static void add_bare(const struct utterances *u, struct str *out, struct sv words)
{
	while (words.n > 0) {
		size_t filler = match_filler(u, words);
		if (filler > 0) {
			words = sv_from(words, filler);
			continue;
		}
		struct sv word;
		(void)sv_split(&words, ' ', &word);
		if (out->len > 0)
			str_addc(out, ' ');
		str_add(out, word);
	}
}

/* Composed, case-folded, white space collapsed, everything else kept. */
static void add_folded(struct str *out, struct sv text)
{
	AUTO_STR folded = STR_INIT;
	utf8_normalise(&folded, text, true);
	bool blank = false, first = true;
	for (struct sv rest = str_sv(&folded); rest.n > 0;) {
		uint32_t cp;
		size_t n = utf8_decode(rest, &cp);
		bool space = (cp >= '\t' && cp <= '\r') ||
			utf8proc_category((utf8proc_int32_t)cp) == UTF8PROC_CATEGORY_ZS;
		if (!space) {
			if (blank && !first)
				str_addc(out, ' ');
			str_add(out, sv_head(rest, n));
			first = false;
		}
		blank = space;
		rest = sv_from(rest, n);
	}
}

/* Is there anything but white space, punctuation and invisible characters? */
static bool says_something(struct sv text)
{
	while (text.n > 0) {
		uint32_t cp;
		size_t n = utf8_decode(text, &cp);
		utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)cp);
		bool punctuation = c >= UTF8PROC_CATEGORY_PC && c <= UTF8PROC_CATEGORY_PO;
		bool blank = c >= UTF8PROC_CATEGORY_ZS && c <= UTF8PROC_CATEGORY_ZP;
		bool control = c == UTF8PROC_CATEGORY_CC || c == UTF8PROC_CATEGORY_CF;
		if (!punctuation && !blank && !control)
			return true;
		text = sv_from(text, n);
	}
	return false;
}

/* ---- compiling ---- */

static char *normalised(struct sv text)
{
	struct str out = STR_INIT;
	keywords_normalise(&out, text);
	return str_detach(&out);
}

static void add_rule(
	struct utterances *u, enum utterance_kind kind, const char *lang, const char *text)
{
	struct str bare = STR_INIT, folded = STR_INIT;
	struct rule r = { .kind = kind, .text = xstrdup(text), .lang = xstrdup(lang) };
	r.normal = normalised(sv_of(text));
	add_bare(u, &bare, sv_of(r.normal));
	if (bare.len > 0)
		r.bare = str_detach(&bare);
	add_folded(&folded, sv_of(text));
	r.folded = str_detach(&folded);
	str_release(&bare);
	vec_push(&u->rules, r);
}

static const char *default_words(enum utterance_kind kind)
{
	static const char *const defaults[UTTERANCE_COMMANDS] = {
		[UTTERANCE_CANCEL] = KEYWORDS_CANCEL,
		[UTTERANCE_RESET] = KEYWORDS_RESET,
		[UTTERANCE_RESTART] = KEYWORDS_RESTART,
		[UTTERANCE_UNDO] = KEYWORDS_UNDO,
	};
	return defaults[kind];
}

static int add_rules(struct utterances *u, enum utterance_kind kind, const struct keywords *given,
	struct err *reterr)
{
	AUTO_KEYWORDS own = KEYWORDS_INIT;
	if (!given) {
		int r = keywords_parse(&own, sv_of(default_words(kind)), reterr);
		if (r < 0)
			return r;
		given = &own;
	}
	for (size_t i = 0; i < given->texts.n; i++)
		add_rule(u, kind, given->langs.v[i], given->texts.v[i]);
	return 0;
}

static int add_fillers(struct utterances *u, const struct keywords *given, struct err *reterr)
{
	AUTO_KEYWORDS own = KEYWORDS_INIT;
	if (!given) {
		int r = keywords_parse(&own, SV(KEYWORDS_FILLER), reterr);
		if (r < 0)
			return r;
		given = &own;
	}
	for (size_t i = 0; i < given->texts.n; i++)
		strv_take(&u->fillers, normalised(sv_of(given->texts.v[i])));
	return 0;
}

static void add_name(struct utterances *u, const char *name)
{
	static const char *const greetings[] = { "hey", "ok", "okay" };
	char *normal = name ? normalised(sv_of(name)) : NULL;
	if (normal && *normal) {
		strv_add(&u->fillers, normal);
		strv_add(&u->names, normal);
		for (size_t i = 0; i < ARRAY_LEN(greetings); i++)
			strv_addf(&u->names, "%s %s", greetings[i], normal);
	}
	free(normal);
}

int utterances_new(const struct utterance_opts *opts, struct utterances **ret, struct err *reterr)
{
	struct utterances *u = xcalloc(1, sizeof(*u));
	u->contains = opts->contains;
	add_name(u, opts->name);
	for (size_t i = 0; opts->also && i < opts->also->n; i++)
		add_name(u, opts->also->v[i]);
	int r = add_fillers(u, opts->filler, reterr);
	for (int kind = 0; r == 0 && kind < UTTERANCE_COMMANDS; kind++)
		r = add_rules(u, (enum utterance_kind)kind, opts->keywords[kind], reterr);
	if (r < 0) {
		utterances_free(u);
		return r;
	}
	*ret = u;
	return 0;
}

void utterances_free(struct utterances *u)
{
	if (!u)
		return;
	vec_each (&u->rules, r) {
		free(r->text);
		free(r->lang);
		free(r->normal);
		free(r->bare);
		free(r->folded);
	}
	vec_release(&u->rules);
	strv_release(&u->fillers);
	strv_release(&u->names);
	free(u);
}

/* ---- judging ---- */

static void PRINTF(3, 4)
	decide(struct utterance *ret, enum utterance_kind kind, const char *fmt, ...)
{
	*ret = (struct utterance){ .kind = kind };
	va_list ap;
	va_start(ap, fmt);
	(void)vsnprintf(ret->reason, sizeof(ret->reason), fmt, ap);
	va_end(ap);
}

static void decide_rule(struct utterance *ret, const struct rule *r, const char *how)
{
	decide(ret, r->kind, "%s the %s keyword '%s'", how, utterance_kind_name(r->kind), r->text);
	ret->keyword = r->text;
	ret->lang = r->lang;
}

/* A keyword may be a filler word itself, so the words as said count too. */
static const struct rule *find_whole(const struct utterances *u, struct sv words, struct sv bare)
{
	vec_each (&u->rules, r) {
		if (sv_is(words, r->normal) || (r->bare && sv_is(bare, r->bare)))
			return r;
	}
	return NULL;
}

static const struct rule *find_inside(const struct utterances *u, struct sv folded)
{
	vec_each (&u->rules, r) {
		/* Undoing a reset must not be taken for one: it is said as a whole only. */
		if (r->kind != UTTERANCE_UNDO && sv_find(folded, sv_of(r->folded), NULL))
			return r;
	}
	return NULL;
}

static bool is_name(const struct utterances *u, struct sv words)
{
	for (size_t i = 0; i < u->names.n; i++) {
		if (sv_is(words, u->names.v[i]))
			return true;
	}
	return false;
}

static void judge_whole(const struct utterances *u, struct sv text, struct utterance *ret)
{
	AUTO_STR words = STR_INIT;
	AUTO_STR bare = STR_INIT;
	keywords_normalise(&words, text);
	add_bare(u, &bare, str_sv(&words));
	const struct rule *r = find_whole(u, str_sv(&words), str_sv(&bare));
	if (r && (!u->contains || r->kind == UTTERANCE_UNDO))
		decide_rule(ret, r, "the whole utterance is");
	else if (is_name(u, str_sv(&words)))
		decide(ret, UTTERANCE_IGNORED, "only the assistant's name was said");
	else
		decide(ret, UTTERANCE_AGENT, "no keyword is the whole utterance");
}

/* Says in the reason which keyword is in the text without deciding it. */
static void explain_agent(const struct utterances *u, struct sv text, struct utterance *ret)
{
	AUTO_STR words = STR_INIT;
	keywords_normalise(&words, text);
	const struct rule *r = find_inside(u, str_sv(&words));
	if (r)
		decide(ret, UTTERANCE_AGENT, "'%s' (%s) is only a part of it", r->text,
			utterance_kind_name(r->kind));
}

static void judge_contains(const struct utterances *u, struct sv text, struct utterance *ret)
{
	AUTO_STR folded = STR_INIT;
	add_folded(&folded, text);
	const struct rule *r = find_inside(u, str_sv(&folded));
	if (r)
		decide_rule(ret, r, "the utterance contains");
	else
		decide(ret, UTTERANCE_AGENT, "no keyword is in it");
}

void utterance_judge(const struct utterances *u, struct sv text, struct utterance *ret)
{
	text = sv_trim(text);
	if (!says_something(text)) {
		decide(ret, UTTERANCE_IGNORED, "nothing but punctuation and white space");
		return;
	}
	decide(ret, UTTERANCE_AGENT, "too long for a command");
	if (text.n <= UTTERANCE_BYTES_MAX) {
		judge_whole(u, text, ret);
		if (ret->kind == UTTERANCE_AGENT && !u->contains)
			explain_agent(u, text, ret);
	}
	if (ret->kind == UTTERANCE_AGENT && u->contains)
		judge_contains(u, text, ret);
}
