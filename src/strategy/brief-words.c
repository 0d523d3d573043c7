/*
 * Decisions and open points that a text itself calls so.
 */
#include <ctype.h>
#include <strings.h>

#include "strategy/brief.h"

static const struct label {
	const char *word; /* lower case */
	enum brief_kind kind;
} labels[] = {
	{ "decision", BRIEF_DECISION },
	{ "decisions", BRIEF_DECISION },
	{ "decided", BRIEF_DECISION },
	{ "agreed", BRIEF_DECISION },
	{ "entscheidung", BRIEF_DECISION },
	{ "entscheidungen", BRIEF_DECISION },
	{ "entschieden", BRIEF_DECISION },
	{ "beschluss", BRIEF_DECISION },
	{ "vereinbart", BRIEF_DECISION },
	{ "todo", BRIEF_OPEN },
	{ "to do", BRIEF_OPEN },
	{ "still to do", BRIEF_OPEN },
	{ "left to do", BRIEF_OPEN },
	{ "next", BRIEF_OPEN },
	{ "next step", BRIEF_OPEN },
	{ "next steps", BRIEF_OPEN },
	{ "remaining", BRIEF_OPEN },
	{ "open points", BRIEF_OPEN },
	{ "open questions", BRIEF_OPEN },
	{ "unfinished", BRIEF_OPEN },
	{ "not done", BRIEF_OPEN },
	{ "offen", BRIEF_OPEN },
	{ "noch offen", BRIEF_OPEN },
	{ "offene punkte", BRIEF_OPEN },
	{ "noch zu tun", BRIEF_OPEN },
	{ "als nächstes", BRIEF_OPEN },
	{ "nächste schritte", BRIEF_OPEN },
};

struct marks {
	brief_mark_fn fn;
	void *data;
	bool code; /* inside a fenced block */
	bool list; /* below a heading of `kind` */
	enum brief_kind kind;
};

static bool starts_ci(struct sv s, const char *word, size_t n)
{
	return s.n >= n && strncasecmp(s.p, word, n) == 0;
}

/* List marks, heading marks, quotes and emphasis off the front. */
static struct sv strip_front(struct sv s, bool *ret_item, bool *ret_heading)
{
	s = sv_trim(s);
	*ret_item = *ret_heading = false;
	while (s.n > 0 && s.p[0] == '>')
		s = sv_trim(sv_from(s, 1));
	while (s.n > 0 && s.p[0] == '#') {
		*ret_heading = true;
		s = sv_from(s, 1);
	}
	s = sv_trim(s);
	size_t digits = 0;
	while (digits < s.n && digits < 3 && isdigit((unsigned char)s.p[digits]))
		digits++;
	if (digits > 0 && digits + 1 < s.n && (s.p[digits] == '.' || s.p[digits] == ')') &&
		s.p[digits + 1] == ' ') {
		*ret_item = true;
		s = sv_from(s, digits + 2);
	} else if (s.n > 1 && memchr("-*+", s.p[0], 3) && s.p[1] == ' ') {
		*ret_item = true;
		s = sv_from(s, 2);
	}
	return sv_trim(s);
}

static struct sv strip_emphasis(struct sv s)
{
	while (s.n > 0 && (s.p[0] == '*' || s.p[0] == '_'))
		s = sv_from(s, 1);
	while (s.n > 0 && (s.p[s.n - 1] == '*' || s.p[s.n - 1] == '_'))
		s.n--;
	return sv_trim(s);
}

/* The label a line begins with, NULL for none; *rest is what follows it and its colon. A heading
 * needs no colon. */
static const struct label *find_label(struct sv line, bool heading, struct sv *rest)
{
	while (line.n > 0 && (line.p[0] == '*' || line.p[0] == '_'))
		line = sv_from(line, 1);
	for (size_t i = 0; i < ARRAY_LEN(labels); i++) {
		size_t n = strlen(labels[i].word);
		if (!starts_ci(line, labels[i].word, n))
			continue;
		struct sv tail = sv_from(line, n);
		while (tail.n > 0 && (tail.p[0] == '*' || tail.p[0] == '_'))
			tail = sv_from(tail, 1);
		if (tail.n > 0 && tail.p[0] == ':') {
			*rest = strip_emphasis(sv_trim(sv_from(tail, 1)));
			return &labels[i];
		}
		if (heading && tail.n == 0) {
			*rest = tail;
			return &labels[i];
		}
	}
	return NULL;
}

/* ---- within a line ---- */

/* The label that ends right before a colon, NULL for none; *ret_at is where it begins. */
static const struct label *label_before(struct sv head, size_t *ret_at)
{
	while (head.n > 0 && (head.p[head.n - 1] == '*' || head.p[head.n - 1] == '_'))
		head.n--;
	const struct label *best = NULL;
	for (size_t i = 0; i < ARRAY_LEN(labels); i++) {
		size_t n = strlen(labels[i].word);
		/* of "next step" and "step" the longer one is meant */
		if (n > head.n || (best && strlen(best->word) > n) ||
			!starts_ci(sv_from(head, head.n - n), labels[i].word, n))
			continue;
		best = &labels[i];
		*ret_at = head.n - n;
	}
	return best;
}

/* In running text a label is a word with a capital; an open point begins a sentence, since "next"
 * and "todo" are words of every day. */
static bool stands_apart(struct sv line, size_t at, enum brief_kind kind)
{
	size_t before = at;
	if (!isupper((unsigned char)line.p[at]))
		return false;
	while (before > 0 && memchr("*_ \t(", line.p[before - 1], 5))
		before--;
	if (before == at || before == 0)
		return false;
	return kind == BRIEF_DECISION || memchr(".!?", line.p[before - 1], 3) != NULL;
}

/* The first label inside the line; *ret_at is where it begins, *rest what follows its colon. */
static const struct label *find_inner(struct sv line, size_t *ret_at, struct sv *rest)
{
	for (size_t i = 1; i + 1 < line.n; i++) {
		if (line.p[i] != ':' || !memchr(" *_", line.p[i + 1], 3))
			continue;
		const struct label *label = label_before(sv_head(line, i), ret_at);
		if (label && stands_apart(line, *ret_at, label->kind)) {
			*rest = sv_trim(sv_from(line, i + 1));
			return label;
		}
	}
	return NULL;
}

/* Gives what a label says, and what labels further on in it say. */
static void give(struct marks *m, enum brief_kind kind, struct sv text)
{
	size_t at;
	struct sv rest;
	for (;;) {
		const struct label *label = find_inner(text, &at, &rest);
		struct sv own = strip_emphasis(label ? sv_trim(sv_head(text, at)) : text);
		if (kind != BRIEF_KINDS && own.n > 0)
			m->fn(m->data, kind, own);
		if (!label)
			return;
		kind = label->kind;
		text = rest;
	}
}

static bool find_box(struct sv line, struct sv *rest)
{
	if (!sv_starts(line, SV("[ ] ")))
		return false;
	*rest = sv_trim(sv_from(line, 4));
	return true;
}

static void take_line(struct marks *m, struct sv line)
{
	bool item, heading;
	struct sv rest;
	struct sv text = strip_front(line, &item, &heading);
	if (text.n == 0)
		return;
	const struct label *label = find_label(text, heading, &rest);
	if (label) {
		m->list = rest.n == 0;
		m->kind = label->kind;
		if (rest.n > 0)
			give(m, label->kind, rest);
	} else if (item && find_box(text, &rest)) {
		m->fn(m->data, BRIEF_OPEN, rest);
	} else if (item && m->list) {
		if (!starts_ci(text, "[x] ", 4))
			m->fn(m->data, m->kind, strip_emphasis(text));
	} else {
		m->list = false;
		give(m, BRIEF_KINDS, text);
	}
}

void brief_marks(struct sv text, brief_mark_fn fn, void *data)
{
	struct marks m = { .fn = fn, .data = data };
	struct sv line;
	while (sv_split(&text, '\n', &line)) {
		if (sv_starts(sv_trim(line), SV("```"))) {
			m.code = !m.code;
			continue;
		}
		if (!m.code)
			take_line(&m, line);
	}
}
