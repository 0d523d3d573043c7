#include "strategy/brief.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "strategy/brief-impl.h"

enum {
	TASK_WORDS_MIN = 5, /* fewer than this are a go-ahead, not a task */
	SINCE_MAX = 5,
	ERRORS_MAX = 10,
	READ_MAX = 15,
	COMMANDS_MAX = 20,
	OPEN_MAX = 12, /* open points that answers tell */
	OPEN_TURNS = 3, /* prompts after which such a one is no longer believed */
};

const char *brief_kind_name(enum brief_kind kind)
{
	static const char *const names[BRIEF_KINDS] = {
		[BRIEF_FIRST] = "first_task",
		[BRIEF_BETWEEN] = "said_between",
		[BRIEF_TASK] = "task",
		[BRIEF_SINCE] = "said_since",
		[BRIEF_OPEN] = "unfinished",
		[BRIEF_DECISION] = "decision",
		[BRIEF_CHANGED] = "file_changed",
		[BRIEF_READ] = "file_read",
		[BRIEF_COMMAND] = "command",
		[BRIEF_ERROR] = "error",
		[BRIEF_ANSWER] = "last_answer",
	};

	return names[kind];
}

/* ---- facts ---- */

void brief_fact_clear(struct brief_fact *fact)
{
	free(fact->text);
	*fact = (struct brief_fact){ .text = NULL };
}

void brief_release(struct brief *b)
{
	vec_each (&b->facts, fact)
		brief_fact_clear(fact);
	vec_release(&b->facts);
	free(b->summary);
	*b = (struct brief)BRIEF_INIT;
}

struct brief_fact brief_fact_new(
	enum brief_kind kind, struct sv text, size_t max, bool lines, struct brief_place place)
{
	AUTO_STR clean = STR_INIT;
	/* Scrubbing can only be about as long as what it is given. */
	struct sv head = utf8_cut(sv_trim(text), max * 2);

	if (lines)
		utf8_scrub(&clean, head);
	else
		utf8_scrub_line(&clean, head);
	struct sv cut = utf8_cut(sv_trim(str_sv(&clean)), max);
	return (struct brief_fact){
		.kind = kind,
		.text = xmemdup0(cut.p, cut.n),
		.cut = head.n < sv_trim(text).n || cut.n < sv_trim(str_sv(&clean)).n,
		.times = 1,
		.place = place,
	};
}

static void ring_remove(struct brief_ring *ring, size_t at)
{
	brief_fact_clear(&ring->facts.v[at]);
	ring->facts.n--;
	memmove(ring->facts.v + at, ring->facts.v + at + 1,
		(ring->facts.n - at) * sizeof(*ring->facts.v));
}

void brief_ring_push(struct brief_ring *ring, struct brief_fact fact)
{
	if (ring->facts.n == BRIEF_FACTS_MAX) {
		ring_remove(ring, 0);
		ring->lost++;
	}
	vec_push(&ring->facts, fact);
}

static struct sv without_stop(const char *text)
{
	struct sv s = sv_of(text);

	while (s.n > 0 && s.p[s.n - 1] == '.')
		s.n--;
	return s;
}

/* The same words, but for case and a full stop, and the same end. */
static bool same_fact(const struct brief_fact *a, const struct brief_fact *b)
{
	struct sv x = without_stop(a->text), y = without_stop(b->text);

	return x.n == y.n && a->end == b->end && a->status == b->status &&
		strncasecmp(x.p, y.p, x.n) == 0;
}

void brief_ring_renew(struct brief_ring *ring, struct brief_fact fact)
{
	for (size_t i = ring->facts.n; i-- > 0;) {
		if (!same_fact(&ring->facts.v[i], &fact))
			continue;
		if (fact.kind == BRIEF_ERROR)
			fact.times += ring->facts.v[i].times;
		ring_remove(ring, i);
	}
	brief_ring_push(ring, fact);
}

void brief_ring_clear(struct brief_ring *ring)
{
	vec_each (&ring->facts, fact)
		brief_fact_clear(fact);
	vec_release(&ring->facts);
	ring->lost = 0;
}

struct brief_place brief_place_of(const struct item *item)
{
	struct brief_place place = { .line = item->line, .type = item->text.type };
	const struct sv record = item->object.raw, value = item->text.raw;
	bool alone = item->size >= record.n && item->size <= record.n + 2;

	/* Several records on a line, or blanks before one: only the line is known for sure. */
	if (!alone || value.n == 0 || value.p < record.p || value.p >= record.p + record.n)
		return place;
	place.offset = item->offset + (uint64_t)(value.p - record.p);
	place.size = value.n;
	return place;
}

/* ---- decisions and open points that a text itself calls so ---- */

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

static void take_line(struct marks *m, struct sv line)
{
	/* Words of a programmer, which in capitals need no colon. */
	static const char *const bare[] = { "TODO ", "FIXME " };
	bool item, heading, done;
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
		return;
	}
	done = starts_ci(text, "[x] ", 4);
	if (item && (done || sv_starts(text, SV("[ ] ")))) {
		m->fn(m->data, done ? BRIEF_MARK_DONE : BRIEF_MARK_OPEN, sv_trim(sv_from(text, 4)));
		return;
	}
	if (item && m->list) {
		m->fn(m->data, m->mark, strip_emphasis(text));
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(bare) && !heading; i++)
		if (sv_starts(text, sv_of(bare[i]))) {
			m->fn(m->data, BRIEF_MARK_OPEN, sv_trim(sv_from(text, strlen(bare[i]))));
			return;
		}
	m->list = false;
	give(m, NULL, text);
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

/* ---- words ---- */

static bool is_task(struct sv text)
{
	size_t words = 0;
	bool inside = false;

	for (size_t i = 0; i < text.n && words < TASK_WORDS_MIN; i++) {
		bool blank = memchr(" \t\r\n", text.p[i], 4) != NULL;
		words += !blank && !inside;
		inside = !blank;
	}
	/* Scripts without blanks count by their bytes. */
	return words >= TASK_WORDS_MIN || text.n >= 60;
}

void brief_done(struct brief_collect *c, struct sv text)
{
	struct brief_ring *rings[] = { &c->open, &c->next, &c->carried };
	struct brief_fact done = brief_fact_new(
		BRIEF_OPEN, text, BRIEF_TEXT_MAX, false, (struct brief_place){ .line = 0 });

	for (size_t r = 0; r < ARRAY_LEN(rings); r++)
		for (size_t i = rings[r]->facts.n; i-- > 0;)
			if (same_fact(&rings[r]->facts.v[i], &done))
				ring_remove(rings[r], i);
	brief_fact_clear(&done);
}

struct marking {
	struct brief_collect *c;
	struct brief_place place;
	bool answer; /* of the agent; what the user calls open is the agent's next work */
};

static void on_mark(void *data, enum brief_mark mark, struct sv line)
{
	struct marking *m = data;
	struct brief_collect *c = m->c;
	bool decision = mark == BRIEF_MARK_DECISION;

	if (mark == BRIEF_MARK_DONE) {
		if (m->answer)
			brief_done(c, line);
		return;
	}
	struct brief_fact fact = brief_fact_new(
		decision ? BRIEF_DECISION : BRIEF_OPEN, line, BRIEF_TEXT_MAX, false, m->place);
	fact.turn = c->turns;
	brief_ring_renew(decision			       ? &c->decisions
			: m->answer && mark == BRIEF_MARK_OPEN ? &c->open
							       : &c->next,
		fact);
}

/* Nothing but words that say yes to what was proposed. */
static bool is_go_ahead(struct sv text)
{
	static const char words[] =
		" ahead alright bitte continue danke do fine genau go good great gut it ja "
		"klar los mach nice ok okay on passt perfect please proceed super sure thank "
		"thanks that this weiter ya yeah yep yes you ";
	AUTO_STR folded = STR_INIT;

	utf8_normalise(&folded, text, true);
	for (struct sv rest = str_sv(&folded); rest.n > 0;) {
		AUTO_STR word = STR_INIT;
		size_t n = 0;
		str_addc(&word, ' ');
		while (n < rest.n && !memchr(" \t\n,.!;:-", rest.p[n], 10))
			str_addc(&word, rest.p[n++]);
		str_addc(&word, ' ');
		if (n > 0 && !strstr(words, word.buf))
			return false;
		rest = sv_from(rest, n > 0 ? n : 1);
	}
	return true;
}

static void keep_asked(struct brief_collect *c, const struct brief_fact *asked)
{
	struct brief_fact fact = brief_fact_new(
		BRIEF_BETWEEN, sv_of(asked->text), BRIEF_BETWEEN_MAX, false, asked->place);

	fact.cut = fact.cut || asked->cut;
	memcpy(fact.ref, asked->ref, sizeof(fact.ref));
	brief_ring_renew(&c->between, fact);
}

void brief_task(struct brief_collect *c, struct sv words, struct brief_place place)
{
	if (c->task.text && !c->first.text) {
		c->first = c->task;
		c->first.kind = BRIEF_FIRST;
	} else if (c->task.text) {
		keep_asked(c, &c->task);
		brief_fact_clear(&c->task);
	}
	vec_each (&c->since.facts, fact)
		if (!is_go_ahead(sv_of(fact->text)))
			keep_asked(c, fact);
	brief_ring_clear(&c->since);
	c->task = brief_fact_new(BRIEF_TASK, words, BRIEF_TASK_MAX, true, place);
	/* What is said again stands there as last stated. */
	struct brief_fact again =
		brief_fact_new(BRIEF_BETWEEN, words, BRIEF_BETWEEN_MAX, false, place);
	for (size_t i = c->between.facts.n; i-- > 0;)
		if (same_fact(&c->between.facts.v[i], &again))
			ring_remove(&c->between, i);
	brief_fact_clear(&again);
}

static void take_prompt(struct brief_collect *c, const struct item *item)
{
	struct sv text = sv_trim(str_sv(&c->text));
	struct marking m = { c, brief_place_of(item), false };

	if (text.n == 0)
		return;
	if (brief_is_rollover(text)) {
		brief_take_rollover(c, item);
		return;
	}
	c->turns++;
	c->asked = true;
	/* The user has seen what the answer before called next; other open points stay for a while.
	 */
	brief_ring_clear(&c->next);
	for (size_t i = c->open.facts.n; i-- > 0;)
		if (c->turns - c->open.facts.v[i].turn > OPEN_TURNS)
			ring_remove(&c->open, i);
	brief_marks(text, on_mark, &m);
	if (c->task.text && !is_task(text)) {
		brief_ring_push(&c->since,
			brief_fact_new(BRIEF_SINCE, text, BRIEF_TEXT_MAX, false, m.place));
		return;
	}
	brief_task(c, text, m.place);
}

static void take_answer(struct brief_collect *c, const struct item *item)
{
	struct sv text = sv_trim(str_sv(&c->text));
	struct marking m = { c, brief_place_of(item), true };

	if (text.n == 0 || sv_is(text, BRIEF_OWN_ANSWER))
		return;
	if (item->flags & (ITEM_FAILED | ITEM_SYNTHETIC)) {
		if (item->flags & ITEM_FAILED)
			brief_ring_renew(&c->errors,
				brief_fact_new(BRIEF_ERROR, text, BRIEF_TEXT_MAX, false, m.place));
		return;
	}
	c->asked = false;
	brief_marks(text, on_mark, &m);
	brief_fact_clear(&c->answer);
	c->answer = brief_fact_new(BRIEF_ANSWER, text, BRIEF_TASK_MAX, true, m.place);
}

static void take_item(struct brief_collect *c, const struct item *item)
{
	c->count++;
	str_clear(&c->text);
	if (item->flags & (ITEM_SIDECHAIN | ITEM_BROKEN | ITEM_REPLACEMENT))
		return;
	if (item->kind == ITEM_USER && item->flags & ITEM_PROMPT) {
		transcript_text(item, &c->text);
		take_prompt(c, item);
	} else if (item->kind == ITEM_ASSISTANT) {
		transcript_text(item, &c->text);
		take_answer(c, item);
	} else if (item->kind == ITEM_TOOL_CALL) {
		transcript_text(item, &c->text);
		brief_take_call(c, item);
	} else if (item->kind == ITEM_TOOL_RESULT) {
		transcript_text(item, &c->text);
		brief_take_result(c, item);
	}
}

/* ---- the whole ---- */

static int by_last(const void *a, const void *b)
{
	const struct brief_known *x = a, *y = b;

	return x->last < y->last ? -1 : x->last > y->last;
}

/* The latest `max`; files are those that were changed, or those that were not. */
static void give_known(struct brief *out, struct brief_set *set, enum brief_kind kind, size_t max)
{
	size_t total = 0;
	bool files = kind != BRIEF_COMMAND;

	vec_each (&set->all, k)
		total += !files || (k->changes > 0) == (kind == BRIEF_CHANGED);
	size_t skip = total > max ? total - max : 0;
	out->more[kind] += skip + set->lost;
	vec_each (&set->all, k) {
		if (files && (k->changes > 0) != (kind == BRIEF_CHANGED))
			continue;
		if (skip > 0) {
			skip--;
			continue;
		}
		struct brief_fact fact =
			brief_fact_new(kind, sv_of(k->text), BRIEF_TEXT_MAX, false, k->place);
		fact.times = kind == BRIEF_CHANGED ? k->changes : k->times;
		fact.cut = fact.cut || k->cut;
		fact.before = k->before;
		fact.end = k->end;
		fact.status = k->status;
		memcpy(fact.ref, k->ref, sizeof(fact.ref));
		vec_push(&out->facts, fact);
	}
}

static void give_fact(struct brief *out, struct brief_fact *fact)
{
	if (fact->text)
		vec_push(&out->facts, *fact);
	*fact = (struct brief_fact){ .text = NULL };
}

static void give_ring(struct brief *out, enum brief_kind kind, struct brief_ring *ring, size_t max)
{
	size_t skip = ring->facts.n > max ? ring->facts.n - max : 0;

	out->more[kind] += ring->lost + skip;
	for (size_t i = 0; i < ring->facts.n; i++)
		if (i < skip)
			brief_fact_clear(&ring->facts.v[i]);
		else
			give_fact(out, &ring->facts.v[i]);
	ring->facts.n = 0;
}

/* Open points, each once: what the session says itself goes before what it began with. */
static void give_open(struct brief *out, struct brief_ring *ring, size_t max)
{
	size_t known = out->facts.n;

	give_ring(out, BRIEF_OPEN, ring, max);
	for (size_t i = known; i < out->facts.n;) {
		bool twice = false;
		for (size_t k = 0; k < i && !twice; k++)
			twice = out->facts.v[k].kind == BRIEF_OPEN &&
				same_fact(&out->facts.v[k], &out->facts.v[i]);
		if (!twice) {
			i++;
			continue;
		}
		brief_fact_clear(&out->facts.v[i]);
		out->facts.n--;
		memmove(out->facts.v + i, out->facts.v + i + 1,
			(out->facts.n - i) * sizeof(*out->facts.v));
	}
}

/* What the end of the session leaves open by itself. */
static void give_dangling(struct brief_collect *c, struct brief *out)
{
	vec_each (&c->calls, call) {
		AUTO_STR text = STR_INIT;
		str_addf(&text, "%s was called and has no result%s%s", call->tool,
			call->what.n ? ": " : "", call->what.n ? call->what.v[0] : "");
		struct brief_fact fact = brief_fact_new(
			BRIEF_OPEN, str_sv(&text), BRIEF_TEXT_MAX, false, call->place);
		give_fact(out, &fact);
	}
	if (c->asked && c->task.text) {
		const struct brief_ring *since = &c->since;
		struct brief_place place =
			since->facts.n ? since->facts.v[since->facts.n - 1].place : c->task.place;
		struct brief_fact fact = brief_fact_new(
			BRIEF_OPEN, SV(BRIEF_UNANSWERED), BRIEF_TEXT_MAX, false, place);
		give_fact(out, &fact);
	}
}

static void give_all(struct brief_collect *c, struct brief *out)
{
	struct brief open = BRIEF_INIT;

	vec_sort(&c->files.all, by_last);
	vec_sort(&c->commands.all, by_last);
	give_dangling(c, &open);
	out->turns = c->turns;
	memcpy(out->more, c->earlier, sizeof(out->more));
	give_fact(out, &c->first);
	give_ring(out, BRIEF_BETWEEN, &c->between, BRIEF_FACTS_MAX);
	give_fact(out, &c->task);
	give_ring(out, BRIEF_SINCE, &c->since, SINCE_MAX);
	give_open(out, &c->plan, BRIEF_FACTS_MAX);
	give_open(out, &c->open, OPEN_MAX);
	give_open(out, &c->next, BRIEF_FACTS_MAX);
	give_open(out, &c->carried, BRIEF_FACTS_MAX);
	vec_each (&open.facts, fact)
		give_fact(out, fact);
	vec_release(&open.facts);
	give_ring(out, BRIEF_DECISION, &c->decisions, BRIEF_FACTS_MAX);
	give_known(out, &c->files, BRIEF_CHANGED, BRIEF_FACTS_MAX);
	give_known(out, &c->files, BRIEF_READ, READ_MAX);
	give_known(out, &c->commands, BRIEF_COMMAND, COMMANDS_MAX);
	give_ring(out, BRIEF_ERROR, &c->errors, ERRORS_MAX);
	give_fact(out, &c->answer);
}

static void set_release(struct brief_set *set)
{
	vec_each (&set->all, k)
		free(k->text);
	vec_release(&set->all);
	map_release(&set->index);
}

static void collect_release(struct brief_collect *c)
{
	set_release(&c->files);
	set_release(&c->commands);
	vec_each (&c->calls, call)
		brief_call_release(call);
	vec_release(&c->calls);
	brief_ring_clear(&c->errors);
	brief_ring_clear(&c->decisions);
	brief_ring_clear(&c->open);
	brief_ring_clear(&c->next);
	brief_ring_clear(&c->plan);
	brief_ring_clear(&c->carried);
	brief_ring_clear(&c->between);
	brief_ring_clear(&c->since);
	brief_fact_clear(&c->first);
	brief_fact_clear(&c->task);
	brief_fact_clear(&c->answer);
	free(c->summary);
	str_release(&c->text);
}

int brief_make(const char *path, const struct transcript_format *format, struct brief *ret,
	struct err *reterr)
{
	struct transcript_live live = { .bits = NULL };
	CLEANUP(collect_release)
	struct brief_collect c = { .format = format, .text = STR_INIT };
	struct brief out = BRIEF_INIT;
	struct transcript_reader *reader = NULL;
	struct item item;

	int r = transcript_live(path, format, &live, reterr);
	for (unsigned pass = 1; r >= 0 && pass <= transcript_passes(&live); pass++) {
		r = transcript_open(path, format, NULL, &reader, reterr);
		while (r >= 0 && (r = transcript_next(reader, &item, reterr)) > 0) {
			if (pass == 1 && (item.flags & ITEM_OVERSIZE))
				passed_add(&out.passed, item.line);
			/* What was taken back does not count; before a compaction one cannot tell
			 * any more. */
			if (transcript_in_pass(&live, item.record, pass) &&
				(transcript_is_live(&live, item.record) ||
					(live.compacted && item.record < live.compaction)))
				take_item(&c, &item);
		}
		transcript_close(TAKE_PTR(reader));
	}
	transcript_live_release(&live);
	if (r < 0)
		return r;
	give_all(&c, &out);
	out.summary = TAKE_PTR(c.summary);
	*ret = out;
	return 0;
}
