/*
 * Decisions and open points that a text itself calls so.
 */
#include <ctype.h>
#include <strings.h>

#include "strategy/brief.h"

static const struct label {
	const char *word; /* lower case */
	enum brief_mark mark;
} labels[] = {
	{ "decision", BRIEF_MARK_DECISION },
	{ "decisions", BRIEF_MARK_DECISION },
	{ "decided", BRIEF_MARK_DECISION },
	{ "agreed", BRIEF_MARK_DECISION },
	{ "entscheidung", BRIEF_MARK_DECISION },
	{ "entscheidungen", BRIEF_MARK_DECISION },
	{ "entschieden", BRIEF_MARK_DECISION },
	{ "beschluss", BRIEF_MARK_DECISION },
	{ "vereinbart", BRIEF_MARK_DECISION },
	{ "todo", BRIEF_MARK_OPEN },
	{ "todos", BRIEF_MARK_OPEN },
	{ "fixme", BRIEF_MARK_OPEN },
	{ "to do", BRIEF_MARK_OPEN },
	{ "still to do", BRIEF_MARK_OPEN },
	{ "left to do", BRIEF_MARK_OPEN },
	{ "remaining", BRIEF_MARK_OPEN },
	{ "remaining work", BRIEF_MARK_OPEN },
	{ "remaining tasks", BRIEF_MARK_OPEN },
	{ "remaining steps", BRIEF_MARK_OPEN },
	{ "pending", BRIEF_MARK_OPEN },
	{ "outstanding", BRIEF_MARK_OPEN },
	{ "still open", BRIEF_MARK_OPEN },
	{ "open points", BRIEF_MARK_OPEN },
	{ "open items", BRIEF_MARK_OPEN },
	{ "open tasks", BRIEF_MARK_OPEN },
	{ "open questions", BRIEF_MARK_OPEN },
	{ "unfinished", BRIEF_MARK_OPEN },
	{ "not done", BRIEF_MARK_OPEN },
	{ "not yet done", BRIEF_MARK_OPEN },
	{ "offen", BRIEF_MARK_OPEN },
	{ "noch offen", BRIEF_MARK_OPEN },
	{ "offene punkte", BRIEF_MARK_OPEN },
	{ "offene aufgaben", BRIEF_MARK_OPEN },
	{ "offene fragen", BRIEF_MARK_OPEN },
	{ "zu tun", BRIEF_MARK_OPEN },
	{ "noch zu tun", BRIEF_MARK_OPEN },
	{ "zu erledigen", BRIEF_MARK_OPEN },
	{ "noch zu erledigen", BRIEF_MARK_OPEN },
	{ "unerledigt", BRIEF_MARK_OPEN },
	{ "nicht erledigt", BRIEF_MARK_OPEN },
	{ "ausstehend", BRIEF_MARK_OPEN },
	{ "noch ausstehend", BRIEF_MARK_OPEN },
	{ "es fehlt noch", BRIEF_MARK_OPEN },
	{ "next", BRIEF_MARK_NEXT },
	{ "next step", BRIEF_MARK_NEXT },
	{ "next steps", BRIEF_MARK_NEXT },
	{ "als nächstes", BRIEF_MARK_NEXT },
	{ "nächster schritt", BRIEF_MARK_NEXT },
	{ "nächste schritte", BRIEF_MARK_NEXT },
};

/* Words of a programmer, which in capitals need no colon. */
static const char *const bare[] = { "TODO ", "FIXME " };

struct marks {
	brief_mark_fn fn;
	void *data;
	bool code; /* inside a fenced block */
	bool list; /* below a heading of `mark` */
	enum brief_mark mark;
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
static bool stands_apart(struct sv line, size_t at, enum brief_mark mark)
{
	size_t before = at;
	if (!isupper((unsigned char)line.p[at]))
		return false;
	while (before > 0 && memchr("*_ \t(", line.p[before - 1], 5))
		before--;
	if (before == at || before == 0)
		return false;
	return mark == BRIEF_MARK_DECISION || memchr(".!?", line.p[before - 1], 3) != NULL;
}

/* The first label inside the line; *ret_at is where it begins, *rest what follows its colon. */
static const struct label *find_inner(struct sv line, size_t *ret_at, struct sv *rest)
{
	for (size_t i = 1; i + 1 < line.n; i++) {
		if (line.p[i] != ':' || !memchr(" *_", line.p[i + 1], 3))
			continue;
		const struct label *label = label_before(sv_head(line, i), ret_at);
		if (label && stands_apart(line, *ret_at, label->mark)) {
			*rest = sv_trim(sv_from(line, i + 1));
			return label;
		}
	}
	return NULL;
}

/* Gives what the label before the text says, if there was one, and what labels further on say. */
static void give(struct marks *m, const struct label *before, struct sv text)
{
	size_t at;
	struct sv rest;
	for (;;) {
		const struct label *label = find_inner(text, &at, &rest);
		struct sv own = strip_emphasis(label ? sv_trim(sv_head(text, at)) : text);
		if (before && own.n > 0)
			m->fn(m->data, before->mark, own);
		if (!label)
			return;
		before = label;
		text = rest;
	}
}

static bool find_box(struct sv line, enum brief_mark *ret, struct sv *rest)
{
	bool done = starts_ci(line, "[x] ", 4);
	if (!done && !sv_starts(line, SV("[ ] ")))
		return false;
	*ret = done ? BRIEF_MARK_DONE : BRIEF_MARK_OPEN;
	*rest = sv_trim(sv_from(line, 4));
	return true;
}

static bool find_bare(struct sv line, struct sv *rest)
{
	for (size_t i = 0; i < ARRAY_LEN(bare); i++)
		if (sv_starts(line, sv_of(bare[i]))) {
			*rest = sv_trim(sv_from(line, strlen(bare[i])));
			return true;
		}
	return false;
}

static void take_line(struct marks *m, struct sv line)
{
	bool item, heading;
	enum brief_mark box;
	struct sv rest;
	struct sv text = strip_front(line, &item, &heading);
	if (text.n == 0)
		return;
	const struct label *label = find_label(text, heading, &rest);
	if (label) {
		m->list = rest.n == 0;
		m->mark = label->mark;
		if (rest.n > 0)
			give(m, label, rest);
	} else if (item && find_box(text, &box, &rest)) {
		m->fn(m->data, box, rest);
	} else if (item && m->list) {
		m->fn(m->data, m->mark, strip_emphasis(text));
	} else if (!heading && find_bare(text, &rest)) {
		m->fn(m->data, BRIEF_MARK_OPEN, rest);
	} else {
		m->list = false;
		give(m, NULL, text);
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
