#include "search/query.h"

#include <stdlib.h>
#include <string.h>

#include "agent/agents.h"
#include "base/attr.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "os/path.h"
#include "search/vocabulary.h"
#include "search/when.h"

/* ---- one thing that was typed ---- */

struct token {
	struct sv text; /* without sign, field, quotes and star */
	struct sv field; /* its name; empty: none */
	char sign; /* '+', '-' or 0 */
	bool quoted;
	bool star;
	size_t from;
};

static const char *const field_names[] = { "agent", "dir", "branch", "tool", "file", "role",
	"after", "before" };

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

/* What stands in quotes at `at`; a quote without another is none. */
static bool take_quoted(struct sv typed, size_t *at, struct sv *ret)
{
	if (*at >= typed.n || typed.p[*at] != '"')
		return false;
	const char *from = typed.p + *at + 1, *end = memchr(from, '"', typed.n - *at - 1);
	if (!end)
		return false;
	*ret = sv_make(from, (size_t)(end - from));
	*at = (size_t)(end - typed.p) + 1;
	return true;
}

static struct sv take_plain(struct sv typed, size_t *at)
{
	size_t from = *at;

	while (*at < typed.n && !is_blank(typed.p[*at]))
		++*at;
	return sv_make(typed.p + from, *at - from);
}

/* A field is one only with its value directly behind it. */
static struct sv field_at(struct sv typed, size_t at)
{
	for (size_t i = 0; i < ARRAY_LEN(field_names); i++) {
		struct sv name = sv_of(field_names[i]), rest = sv_from(typed, at);
		if (sv_starts(rest, name) && rest.n > name.n + 1 && rest.p[name.n] == ':' &&
			!is_blank(rest.p[name.n + 1]))
			return name;
	}
	return (struct sv){ NULL, 0 };
}

/* What would do behind a field that stands alone; NULL if it may be a word. These are hardly ever
 * words of a message that was pasted, "file:" and "tool:" are. */
static const char *missing_value(struct sv text)
{
	static const struct {
		const char *field, *example;
	} never[] = {
		{ "agent:", "NAME" },
		{ "after:", "2026-01-31" },
		{ "before:", "2026-01-31" },
		{ "branch:", "main" },
		{ "dir:", "~/src" },
	};

	for (size_t i = 0; i < ARRAY_LEN(never); i++)
		if (sv_is(text, never[i].field))
			return never[i].example;
	return NULL;
}

static bool next_token(struct sv typed, size_t *at, struct token *ret)
{
	while (*at < typed.n && is_blank(typed.p[*at]))
		++*at;
	if (*at == typed.n)
		return false;
	*ret = (struct token){ .from = *at };
	char c = typed.p[*at], next = *at + 1 < typed.n ? typed.p[*at + 1] : '\0';
	/* --dry-run and a lone dash are words. */
	if ((c == '+' || c == '-') && next && !is_blank(next) && next != c) {
		ret->sign = c;
		++*at;
	}
	ret->field = field_at(typed, *at);
	*at += ret->field.n > 0 ? ret->field.n + 1 : 0;
	ret->quoted = take_quoted(typed, at, &ret->text);
	if (ret->quoted)
		return true;
	ret->text = take_plain(typed, at);
	if (!ret->field.n && ret->text.n > 1 && sv_ends(ret->text, SV("*"))) {
		ret->text.n--;
		ret->star = true;
	}
	return true;
}

/* ---- fields ---- */

static int add_filter(
	struct query *q, enum query_field field, const struct token *t, struct sv value)
{
	struct query_filter filter = { .field = field, .negated = t->sign == '-' };

	filter.value = xmemdup0(value.p, value.n);
	vec_push(&q->filters, filter);
	return 0;
}

static int field_agent(struct query *q, const struct token *t, struct err *reterr)
{
	AUTO_STR all = STR_INIT;
	const struct agent_def *agent = agent_named(t->text);

	if (agent && agent_keeps_sessions(agent))
		return add_filter(q, QUERY_AGENT, t, sv_of(agent->name));
	agents_list(&all, agent_keeps_sessions, " and ");
	return err_set(reterr, ERR_USAGE, "agent:%.*s: there are sessions of %s", SV_ARG(t->text),
		all.buf);
}

/* ~ and . are what they are in a shell; a path is without a slash at its end. */
static int field_dir(struct query *q, const struct token *t, const struct query_context *context)
{
	AUTO_STR path = STR_INIT;
	struct sv value = t->text;
	const char *base = NULL;

	if (sv_is(value, "~") || sv_starts(value, SV("~/")))
		base = context->home;
	else if (sv_is(value, ".") || sv_starts(value, SV("./")))
		base = context->cwd;
	if (base) {
		str_adds(&path, base);
		str_add(&path, sv_from(value, 1));
	} else {
		str_add(&path, value);
	}
	while (path.len > 1 && path.buf[path.len - 1] == '/')
		str_cut(&path, path.len - 1);
	return add_filter(q, QUERY_DIR, t, str_sv(&path));
}

static int field_role(struct query *q, const struct token *t, struct err *reterr)
{
	static const struct {
		const char *name;
		unsigned roles;
	} roles[] = {
		{ "user", 1u << DOC_USER },
		{ "assistant", 1u << DOC_ASSISTANT },
		{ "thinking", 1u << DOC_THINKING },
		{ "call", 1u << DOC_CALL },
		{ "result", 1u << DOC_RESULT },
		{ "tool", 1u << DOC_CALL | 1u << DOC_RESULT },
		{ "title", 1u << DOC_SESSION },
	};
	struct suggest near = SUGGEST_INIT(t->text);

	for (size_t i = 0; i < ARRAY_LEN(roles); i++) {
		if (sv_is(t->text, roles[i].name)) {
			*(t->sign == '-' ? &q->not_roles : &q->roles) |= roles[i].roles;
			return 0;
		}
		suggest_offer(&near, roles[i].name);
	}
	return err_set(reterr, ERR_USAGE,
		"role:%.*s: not one of user, assistant, thinking, call, result, tool and "
		"title%s%s%s",
		SV_ARG(t->text), SUGGEST_ARG(near.best));
}

static int field_time(struct query *q, const struct token *t, const struct query_context *context,
	struct err *reterr)
{
	bool after = sv_is(t->field, "after");
	struct when when;

	if (t->sign == '-')
		return err_set(reterr, ERR_USAGE, "-%.*s:%.*s: write %s:%.*s instead",
			SV_ARG(t->field), SV_ARG(t->text), after ? "before" : "after",
			SV_ARG(t->text));
	if (!when_parse(t->text, context->now_ms, &when))
		return err_set(reterr, ERR_USAGE,
			"%.*s:%.*s: no date; write 2026-01-31, 2026-01, march, yesterday, \"last "
			"week\", or a span before now as 3d or 2w",
			SV_ARG(t->field), SV_ARG(t->text));
	*(after ? &q->after_ms : &q->before_ms) = when.from_ms;
	return 0;
}

/* ---- parts ---- */

static void add_term(struct query_part *part, struct sv text, uint32_t offset)
{
	vec_push(&part->terms,
		(struct query_term){ .text = xmemdup0(text.p, text.n), .offset = offset });
}

static void part_release(struct query_part *part)
{
	vec_each (&part->terms, term)
		free(term->text);
	vec_release(&part->terms);
}

static int add_part(struct query *q, struct query_part *part, struct err *reterr)
{
	bool exact = part->demand != QUERY_RANKS || part->group;

	if (part->terms.n == 0)
		return 0;
	if (q->parts.n < QUERY_PARTS_MAX) {
		vec_push(&q->parts, *part);
		*part = (struct query_part){ .exact = false };
		return 1;
	}
	q->passed++;
	return exact ? err_set(reterr, ERR_USAGE, "more than %d words and phrases in one search",
			       QUERY_PARTS_MAX)
		     : 0;
}

static int field_term(struct query *q, const struct token *t, enum term_field field, unsigned group,
	struct err *reterr)
{
	CLEANUP(part_release)
	struct query_part part = { .exact = true, .from = t->from, .group = group };
	AUTO_STR term = STR_INIT;

	part.demand = t->sign == '-' ? QUERY_NOT : QUERY_MUST;
	term_of_field(&term, field, t->text);
	add_term(&part, str_sv(&term), 0);
	int r = add_part(q, &part, reterr);
	return r < 0 ? r : 0;
}

static int take_field(struct query *q, const struct token *t, unsigned group,
	const struct query_context *context, struct err *reterr)
{
	if (t->text.n == 0)
		return err_set(
			reterr, ERR_USAGE, "%.*s:\"\": nothing in the quotes", SV_ARG(t->field));
	switch (t->field.p[0]) {
	case 'b':
		return t->field.p[1] == 'r' ? add_filter(q, QUERY_BRANCH, t, t->text)
					    : field_time(q, t, context, reterr);
	case 'd':
		return field_dir(q, t, context);
	case 't':
		return field_term(q, t, TERM_TOOL, group, reterr);
	case 'f':
		return field_term(q, t, TERM_FILE, group, reterr);
	case 'r':
		return field_role(q, t, reterr);
	default:
		return sv_is(t->field, "agent") ? field_agent(q, t, reterr)
						: field_time(q, t, context, reterr);
	}
}

/* A character of a script without blanks stands in the index with the one after it. */
static bool is_lone(struct sv word)
{
	enum { FIRST = 0x2E80 };
	uint32_t cp;

	return word.n > 1 && utf8_decode(word, &cp) == word.n && cp >= FIRST;
}

/* All words of the token as one part: a phrase, also an identifier that must be there. */
static int take_exact(struct query *q, const struct token *t, unsigned group, struct err *reterr)
{
	CLEANUP(part_release)
	struct query_part part = { .exact = true, .from = t->from, .group = group };
	struct word_walk walk;
	struct word_at word;

	part.demand = t->sign == '-' ? QUERY_NOT : QUERY_MUST;
	words_begin(&walk, t->text);
	while (words_next(&walk, &word))
		if (word.kind != WORD_WHOLE && word.kind != WORD_LAST) {
			add_term(&part, word.text, word.position);
			part.prefix = is_lone(word.text);
		}
	part.prefix |= t->star;
	int r = add_part(q, &part, reterr);
	return r < 0 ? r : 0;
}

/* The beginning of a word, or of an identifier. */
static int take_prefix(struct query *q, const struct token *t, struct err *reterr)
{
	CLEANUP(part_release)
	struct query_part part = { .exact = true, .prefix = true, .from = t->from };
	struct word_walk walk;
	struct word_at word;

	words_begin(&walk, t->text);
	if (!words_next(&walk, &word))
		return 0;
	if (utf8_length(word.text) < QUERY_PREFIX_MIN && !is_lone(word.text))
		return err_set(reterr, ERR_USAGE,
			"%.*s*: too short; at least %d letters stand before the star",
			SV_ARG(t->text), QUERY_PREFIX_MIN);
	add_term(&part, word.text, 0);
	int r = add_part(q, &part, reterr);
	return r < 0 ? r : 0;
}

static bool known_word(const struct query *q, struct sv text)
{
	vec_each (&q->parts, part)
		if (part->demand == QUERY_RANKS && !part->prefix &&
			sv_is(text, part->terms.v[0].text))
			return true;
	return false;
}

/* Each of its words ranks for itself, identifiers as a whole and by their parts. */
static void take_words(struct query *q, const struct token *t)
{
	struct word_walk walk;
	struct word_at word;

	str_addf(&q->words, "%s%.*s", q->words.len > 0 ? " " : "", SV_ARG(t->text));
	words_begin(&walk, t->text);
	while (words_next(&walk, &word)) {
		CLEANUP(part_release)
		struct query_part part = { .prefix = is_lone(word.text),
			.weak = vocabulary_weak(word.text),
			.from = t->from + word.from };
		if (word.kind == WORD_LAST || known_word(q, word.text))
			continue;
		add_term(&part, word.text, 0);
		(void)add_part(q, &part, NULL);
	}
}

/* ---- all of it ---- */

static bool is_or(const struct token *t)
{
	return !t->quoted && !t->sign && !t->field.n && sv_is(t->text, "OR") && !t->star;
}

static bool or_follows(struct sv typed, size_t at)
{
	struct token next, after;

	return next_token(typed, &at, &next) && is_or(&next) && next_token(typed, &at, &after);
}

static int take_token(struct query *q, const struct token *t, unsigned group,
	const struct query_context *context, struct err *reterr)
{
	if (t->field.n > 0)
		return take_field(q, t, group, context, reterr);
	if (t->quoted || t->sign || group)
		return take_exact(q, t, group, reterr);
	if (t->star)
		return take_prefix(q, t, reterr);
	take_words(q, t);
	return 0;
}

static bool has_word(struct sv text, const char *want)
{
	struct word_walk walk;
	struct word_at word;

	words_begin(&walk, text);
	while (words_next(&walk, &word))
		if (sv_is(word.text, want))
			return true;
	return false;
}

/* The words of a date say when, not what: beside others they do not rank. */
static void weaken_dates(struct query *q, const struct query_context *context)
{
	uint64_t dated = 0;
	bool others = false;
	AUTO_STR rest = STR_INIT;

	when_without(str_sv(&q->words), context->now_ms, &rest);
	if (sv_eq(str_sv(&rest), str_sv(&q->words)))
		return;
	for (size_t i = 0; i < q->parts.n; i++) {
		const struct query_part *part = &q->parts.v[i];
		if (part->demand == QUERY_RANKS && !part->group && !part->prefix && !part->weak &&
			!has_word(str_sv(&rest), part->terms.v[0].text))
			dated |= UINT64_C(1) << i;
		else
			others |= part->demand != QUERY_NOT && !part->weak;
	}
	for (size_t i = 0; others && i < q->parts.n; i++)
		q->parts.v[i].weak |= dated >> i & 1;
}

/* Of a date alone nobody looks for its words: what is from then is meant. */
static void take_date(struct query *q, const struct query_context *context)
{
	struct when when;

	vec_each (&q->parts, part)
		if (part->demand != QUERY_RANKS || part->prefix)
			return;
	if (q->after_ms || q->before_ms || !when_alone(str_sv(&q->words), context->now_ms, &when))
		return;
	vec_each (&q->parts, part)
		part_release(part);
	q->parts.n = 0;
	str_clear(&q->words);
	q->after_ms = when.from_ms;
	q->before_ms = when.to_ms;
	q->dated = true;
}

/* The parts of an address mean nothing one by one; alone it is looked for as it is. */
static bool is_lone_address(struct sv typed, const struct token *t)
{
	size_t words = 0, at;
	struct token other;

	if (t->star || t->field.n > 0 || !sv_find(t->text, SV("://"), &at) || at == 0)
		return false;
	for (at = 0; next_token(typed, &at, &other);)
		words += other.field.n == 0;
	return words == 1;
}

int query_parse(
	struct sv typed, const struct query_context *context, struct query *ret, struct err *reterr)
{
	struct query q = QUERY_INIT;
	unsigned group = 0, groups = 0; /* of the parts that an OR joins */
	struct token t;
	int r = 0;

	typed = utf8_cut(typed, QUERY_TEXT_MAX);
	for (size_t at = 0; r >= 0 && next_token(typed, &at, &t);) {
		bool follows = or_follows(typed, at);
		if (is_or(&t) && group)
			continue;
		if (!group && follows)
			group = ++groups;
		const char *example = t.quoted || t.field.n ? NULL : missing_value(t.text);
		if (example) {
			r = err_set(reterr, ERR_USAGE,
				"%.*s has no value; it follows without a blank: %.*s%s",
				SV_ARG(t.text), SV_ARG(t.text), example);
			break;
		}
		t.quoted |= is_lone_address(typed, &t);
		/* What must not be there is nothing to choose. */
		r = take_token(&q, &t, t.sign == '-' ? 0 : group, context, reterr);
		if (!follows)
			group = 0;
	}
	if (r < 0) {
		query_release(&q);
		return r;
	}
	take_date(&q, context);
	weaken_dates(&q, context);
	*ret = q;
	return 0;
}

bool query_empty(const struct query *q)
{
	vec_each (&q->parts, part)
		if (part->demand != QUERY_NOT)
			return false;
	return q->filters.n == 0 && !q->roles && !q->not_roles && !q->after_ms && !q->before_ms;
}

void query_release(struct query *q)
{
	vec_each (&q->parts, part)
		part_release(part);
	vec_release(&q->parts);
	vec_each (&q->filters, filter)
		free(filter->value);
	vec_release(&q->filters);
	str_release(&q->words);
}
