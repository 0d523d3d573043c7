#include "assist/utterance.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <utf8proc.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "base/vec.h"

struct rule {
	enum utterance_kind kind;
	const char *text; /* as configured */
	const char *lang;
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

enum setting_id utterance_setting(enum utterance_kind command)
{
	static const enum setting_id ids[UTTERANCE_COMMANDS] = {
		[UTTERANCE_CANCEL] = SETTING_ID_commands_cancel,
		[UTTERANCE_RESET] = SETTING_ID_commands_reset,
		[UTTERANCE_RESTART] = SETTING_ID_commands_restart,
		[UTTERANCE_UNDO] = SETTING_ID_commands_undo,
	};

	return ids[command];
}

const struct keywords *utterance_keywords(const struct settings *s, enum utterance_kind command)
{
	return settings_value(s, utterance_setting(command));
}

/* ---- text forms ---- */

/* Length of the longest filler at the start of words, a blank behind it included; 0: none. */
static size_t match_filler(const struct utterances *u, struct sv words)
{
	size_t longest = 0;

	for (size_t i = 0; i < u->fillers.n; i++) {
		struct sv filler = sv_of(u->fillers.v[i]);
		if (!sv_starts(words, filler) || (words.n > filler.n && words.p[filler.n] != ' '))
			continue;
		size_t n = filler.n + (words.n > filler.n);
		if (n > longest)
			longest = n;
	}
	return longest;
}

/* Appends the words without the fillers among them. */
static void add_bare(const struct utterances *u, struct str *out, struct sv words)
{
	struct sv word;

	while (words.n > 0) {
		size_t filler = match_filler(u, words);
		if (filler > 0) {
			words = sv_from(words, filler);
			continue;
		}
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

static void add_name(struct utterances *u, const char *name)
{
	static const char *const greetings[] = { "hey", "ok", "okay" };
	AUTO_FREE char *normal = normalised(sv_of(name));

	if (!*normal)
		return;
	strv_add(&u->fillers, normal);
	strv_add(&u->names, normal);
	for (size_t i = 0; i < ARRAY_LEN(greetings); i++)
		strv_addf(&u->names, "%s %s", greetings[i], normal);
}

struct utterances *utterances_new(const struct settings *s)
{
	struct utterances *u = xcalloc(1, sizeof(*u));

	u->contains = strcmp(s->commands_match, "contains") == 0;
	add_name(u, s->assistant_name);
	for (size_t i = 0; i < s->assistant_also_called.n; i++)
		add_name(u, s->assistant_also_called.v[i]);
	for (size_t i = 0; i < s->commands_filler.texts.n; i++)
		strv_take(&u->fillers, normalised(sv_of(s->commands_filler.texts.v[i])));
	for (enum utterance_kind kind = 0; kind < UTTERANCE_COMMANDS; kind++) {
		const struct keywords *k = utterance_keywords(s, kind);
		for (size_t i = 0; i < k->texts.n; i++) {
			struct rule r = {
				.kind = kind, .text = k->texts.v[i], .lang = k->langs.v[i]
			};
			struct str bare = STR_INIT, folded = STR_INIT;
			r.normal = normalised(sv_of(r.text));
			add_bare(u, &bare, sv_of(r.normal));
			r.bare = bare.len > 0 ? str_detach(&bare) : NULL;
			add_folded(&folded, sv_of(r.text));
			r.folded = str_detach(&folded);
			vec_push(&u->rules, r);
		}
	}
	return u;
}

void utterances_free(struct utterances *u)
{
	if (!u)
		return;
	vec_each (&u->rules, r) {
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
	va_list ap;

	*ret = (struct utterance){ .kind = kind };
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

static const struct rule *find_inside(const struct utterances *u, struct sv folded)
{
	vec_each (&u->rules, r) {
		/* Undoing a reset must not be taken for one: it is said as a whole only. */
		if (r->kind != UTTERANCE_UNDO && sv_find(folded, sv_of(r->folded), NULL))
			return r;
	}
	return NULL;
}

static void judge_whole(const struct utterances *u, struct sv text, struct utterance *ret)
{
	const struct rule *found = NULL;
	bool is_name = false, shared = false;
	AUTO_STR words = STR_INIT;
	AUTO_STR bare = STR_INIT;

	keywords_normalise(&words, text);
	add_bare(u, &bare, str_sv(&words));
	vec_each (&u->rules, r) {
		/* A keyword may be a filler word itself, so the words as said count too. */
		if (strcmp(words.buf, r->normal) != 0 &&
			!(r->bare && strcmp(bare.buf, r->bare) == 0))
			continue;
		found = found ? found : r;
		shared |= r->kind == found->kind && strcmp(r->lang, found->lang) != 0;
	}
	for (size_t i = 0; i < u->names.n; i++)
		is_name |= strcmp(words.buf, u->names.v[i]) == 0;
	if (found && (!u->contains || found->kind == UTTERANCE_UNDO)) {
		decide_rule(ret, found, "the whole utterance is");
		ret->lang = shared ? "" : ret->lang;
		return;
	}
	if (is_name) {
		decide(ret, UTTERANCE_IGNORED, "only the assistant's name was said");
		return;
	}
	decide(ret, UTTERANCE_AGENT, "no keyword is the whole utterance");
	/* The reason says which keyword is in the text without deciding it. */
	found = u->contains ? NULL : find_inside(u, str_sv(&words));
	if (found)
		decide(ret, UTTERANCE_AGENT, "'%s' (%s) is only a part of it", found->text,
			utterance_kind_name(found->kind));
}

void utterance_judge(const struct utterances *u, struct sv text, struct utterance *ret)
{
	text = sv_trim(text);
	if (!says_something(text)) {
		decide(ret, UTTERANCE_IGNORED, "nothing but punctuation and white space");
		return;
	}
	decide(ret, UTTERANCE_AGENT, "too long for a command");
	if (text.n <= UTTERANCE_BYTES_MAX)
		judge_whole(u, text, ret);
	if (ret->kind == UTTERANCE_AGENT && u->contains) {
		AUTO_STR folded = STR_INIT;
		add_folded(&folded, text);
		const struct rule *r = find_inside(u, str_sv(&folded));
		if (r)
			decide_rule(ret, r, "the utterance contains");
		else
			decide(ret, UTTERANCE_AGENT, "no keyword is in it");
	}
}
