#include "strategy/brief.h"

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

/* The user has seen what the answer before called next; other open points stay for a while. */
static void age_open(struct brief_collect *c)
{
	brief_ring_clear(&c->next);
	for (size_t i = c->open.facts.n; i-- > 0;)
		if (c->turns - c->open.facts.v[i].turn > OPEN_TURNS)
			ring_remove(&c->open, i);
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
	age_open(c);
	brief_marks(text, on_mark, &m);
	if (c->task.text && !is_task(text)) {
		brief_ring_push(&c->since,
			brief_fact_new(BRIEF_SINCE, text, BRIEF_TEXT_MAX, false, m.place));
		return;
	}
	brief_ring_clear(&c->since);
	if (c->task.text && !c->first.text) {
		c->first = c->task;
		c->first.kind = BRIEF_FIRST;
	} else {
		brief_fact_clear(&c->task);
	}
	c->task = brief_fact_new(BRIEF_TASK, text, BRIEF_TASK_MAX, true, m.place);
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
	brief_ring_clear(&c->since);
	brief_fact_clear(&c->first);
	brief_fact_clear(&c->task);
	brief_fact_clear(&c->answer);
	free(c->summary);
	str_release(&c->text);
}

/* What was taken back does not count; before a compaction one cannot tell any more. */
static bool counts(const struct transcript_live *live, const struct item *item)
{
	return transcript_is_live(live, item->record) ||
		(live->compacted && item->record < live->compaction);
}

static int read_items(struct brief_collect *c, const char *path, const struct transcript_live *live,
	struct err *reterr)
{
	struct transcript_reader *r = NULL;
	struct item item;
	int rc = transcript_open(path, c->format, NULL, &r, reterr);
	while (rc >= 0 && (rc = transcript_next(r, &item, reterr)) > 0)
		if (counts(live, &item))
			take_item(c, &item);
	transcript_close(r);
	return rc;
}

int brief_make(
	const char *path, enum transcript_format format, struct brief *ret, struct err *reterr)
{
	struct transcript_live live = { .bits = NULL };
	CLEANUP(collect_release)
	struct brief_collect c = { .format = format, .text = STR_INIT };
	struct brief out = BRIEF_INIT;
	int rc = transcript_live(path, format, &live, reterr);
	if (rc >= 0)
		rc = read_items(&c, path, &live, reterr);
	transcript_live_release(&live);
	if (rc < 0)
		return rc;
	give_all(&c, &out);
	out.summary = TAKE_PTR(c.summary);
	*ret = out;
	return 0;
}
