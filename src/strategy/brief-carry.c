/*
 * A brief of a session that began with one: what the earlier brief said goes on.
 */
#include <ctype.h>
#include <limits.h>
#include <string.h>

#include "base/mem.h"
#include "strategy/brief-impl.h"

enum {
	LINEAGE_WITHIN = 4096, /* bytes of a message in which the block must begin */
};

bool brief_is_rollover(struct sv text)
{
	size_t at;
	struct sv head = sv_head(text, LINEAGE_WITHIN);
	return sv_find(head, SV(BRIEF_LINEAGE_BEGIN "\n"), &at) &&
		(at == 0 || text.p[at - 1] == '\n') &&
		sv_find(text, SV("\n" BRIEF_LINEAGE_END "\n"), NULL);
}

/* One item of a section: its first line without the mark, and the lines below it. */
struct carried {
	struct str text;
	enum brief_kind kind;
	char ref[BRIEF_REF];
	bool cut, past;
	uint32_t times;
	enum brief_end end;
	int status;
};

/* Takes " [0123456789abcdef]" off the end. References of other kinds mean nothing any more. */
static void split_ref(struct carried *item)
{
	struct sv s = str_sv(&item->text);
	size_t open = s.n;
	item->ref[0] = '\0';
	if (s.n == 0 || s.p[s.n - 1] != ']')
		return;
	while (open > 0 && s.p[open - 1] != '[')
		open--;
	if (open < 2 || s.p[open - 2] != ' ')
		return;
	struct sv ref = sv_make(s.p + open, s.n - open - 1);
	bool hex = ref.n == BRIEF_REF - 1;
	for (size_t i = 0; i < ref.n; i++)
		hex = hex && isxdigit((unsigned char)ref.p[i]);
	if (hex)
		memcpy(item->ref, ref.p, ref.n);
	item->ref[hex ? ref.n : 0] = '\0';
	str_cut(&item->text, open - 2);
}

static bool cut_end(struct carried *item, struct sv end)
{
	if (!sv_ends(str_sv(&item->text), end))
		return false;
	str_cut(&item->text, item->text.len - end.n);
	return true;
}

/* Takes " (1,234 times)" off the end. */
static void split_times(struct carried *item)
{
	struct sv s = str_sv(&item->text);
	uint64_t times = 0;
	item->times = 1;
	if (!sv_ends(s, SV(BRIEF_TIMES)))
		return;
	size_t end = s.n - strlen(BRIEF_TIMES), open = end;
	while (open > 0 && s.p[open - 1] != '(')
		open--;
	if (open < 2 || s.p[open - 2] != ' ' || open == end || end - open > 12)
		return;
	for (size_t i = open; i < end; i++) {
		if (s.p[i] != ',' && !isdigit((unsigned char)s.p[i]))
			return;
		times = s.p[i] == ',' ? times : times * 10 + (uint64_t)(s.p[i] - '0');
	}
	item->times = times > 0 && times <= UINT32_MAX ? (uint32_t)times : 1;
	str_cut(&item->text, open - 2);
}

static void cut_front(struct carried *item, size_t n)
{
	AUTO_STR rest = STR_INIT;
	str_add(&rest, sv_from(str_sv(&item->text), n));
	str_clear(&item->text);
	str_add(&item->text, str_sv(&rest));
}

/* Takes "exit 2: " and its like off the front. */
static void split_end(struct carried *item)
{
	static const struct words {
		struct sv text;
		enum brief_end end;
	} words[] = {
		{ { BRIEF_END_FAILED, sizeof(BRIEF_END_FAILED) - 1 }, BRIEF_FAILED },
		{ { BRIEF_END_STOPPED, sizeof(BRIEF_END_STOPPED) - 1 }, BRIEF_STOPPED },
		{ { BRIEF_END_UNKNOWN, sizeof(BRIEF_END_UNKNOWN) - 1 }, BRIEF_NO_END },
	};
	struct sv s = str_sv(&item->text);
	size_t exit_words = strlen(BRIEF_END_EXIT), at;
	long long status;
	if (sv_starts(s, SV(BRIEF_END_EXIT)) && sv_find(s, SV(": "), &at) &&
		sv_parse_i64(sv_make(s.p + exit_words, at - exit_words), &status) &&
		status >= INT_MIN && status <= INT_MAX) {
		item->end = BRIEF_EXIT;
		item->status = (int)status;
		cut_front(item, at + 2);
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (sv_starts(s, words[i].text)) {
			item->end = words[i].end;
			cut_front(item, words[i].text.n);
			return;
		}
}

/* Takes the marks off that brief-render.c put around the text. */
static void split_marks(struct carried *item)
{
	bool counted = item->kind == BRIEF_CHANGED || item->kind == BRIEF_READ ||
		item->kind == BRIEF_COMMAND || item->kind == BRIEF_ERROR;
	split_ref(item);
	(void)cut_end(item, SV(BRIEF_BEFORE));
	item->past = item->kind == BRIEF_ERROR && cut_end(item, SV(BRIEF_PAST));
	item->times = 1;
	if (counted)
		split_times(item);
	item->cut = cut_end(item, SV(BRIEF_CUT));
	item->end = BRIEF_NO_END;
	item->status = 0;
	if (item->kind == BRIEF_COMMAND || item->kind == BRIEF_ERROR)
		split_end(item);
	if (item->kind != BRIEF_TASK)
		return;
	static const enum brief_kind words[] = { BRIEF_FIRST, BRIEF_TASK, BRIEF_SINCE };
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (sv_starts(str_sv(&item->text), sv_of(brief_prefix(words[i])))) {
			item->kind = words[i];
			cut_front(item, strlen(brief_prefix(words[i])));
			return;
		}
	item->kind = BRIEF_KINDS;
}

static struct brief_fact fact_of(const struct carried *item, struct brief_place place)
{
	enum brief_kind kind = item->kind;
	bool lines = kind == BRIEF_TASK || kind == BRIEF_FIRST || kind == BRIEF_ANSWER;
	struct brief_fact fact = brief_fact_new(
		kind, str_sv(&item->text), lines ? BRIEF_TASK_MAX : BRIEF_TEXT_MAX, lines, place);
	fact.cut = fact.cut || item->cut;
	fact.before = kind == BRIEF_OPEN || kind == BRIEF_ERROR || kind == BRIEF_ANSWER;
	fact.past = item->past;
	fact.times = item->times;
	fact.end = item->end;
	fact.status = item->status;
	memcpy(fact.ref, item->ref, sizeof(fact.ref));
	return fact;
}

static void keep_known(
	struct brief_collect *c, const struct carried *item, struct brief_place place)
{
	bool command = item->kind == BRIEF_COMMAND;
	struct brief_known *k = brief_know(command ? &c->commands : &c->files, str_sv(&item->text));
	if (!k)
		return;
	k->times += item->times;
	k->changes += item->kind == BRIEF_CHANGED ? item->times : 0;
	k->last = ++c->count;
	k->end = item->end;
	k->status = item->status;
	k->place = place;
	k->cut = item->cut;
	k->before = command;
	memcpy(k->ref, item->ref, sizeof(k->ref));
}

static void keep_one(struct brief_fact *slot, const struct carried *item, struct brief_place place)
{
	brief_fact_clear(slot);
	*slot = fact_of(item, place);
}

static void keep(struct brief_collect *c, const struct carried *item, struct brief_place place)
{
	switch (item->kind) {
	case BRIEF_FIRST:
		keep_one(&c->first, item, place);
		break;
	case BRIEF_TASK:
		keep_one(&c->task, item, place);
		break;
	case BRIEF_ANSWER:
		keep_one(&c->answer, item, place);
		break;
	case BRIEF_SINCE:
		brief_ring_push(&c->since, fact_of(item, place));
		break;
	case BRIEF_OPEN:
		/* told anew as long as it holds */
		if (sv_is(str_sv(&item->text), BRIEF_UNANSWERED))
			c->asked = true;
		else
			brief_ring_push(&c->carried, fact_of(item, place));
		break;
	case BRIEF_DECISION:
		brief_ring_renew(&c->decisions, fact_of(item, place));
		break;
	case BRIEF_ERROR:
		brief_ring_renew(&c->errors, fact_of(item, place));
		break;
	case BRIEF_CHANGED:
	case BRIEF_READ:
	case BRIEF_COMMAND:
		keep_known(c, item, place);
		break;
	case BRIEF_KINDS:
		break;
	}
}

/* "and 12 earlier", which stands for facts that were left out. */
static bool is_more(struct sv text, size_t *ret)
{
	long long n;
	if (!sv_starts(text, SV(BRIEF_MORE)) || !sv_ends(text, SV(BRIEF_EARLIER)) ||
		text.n < strlen(BRIEF_MORE BRIEF_EARLIER) ||
		!sv_parse_i64(sv_make(text.p + strlen(BRIEF_MORE),
				      text.n - strlen(BRIEF_MORE BRIEF_EARLIER)),
			&n) ||
		n < 0)
		return false;
	*ret = (size_t)n;
	return true;
}

/* True for every heading; *ret is the section it begins, BRIEF_KINDS when it is none of the brief.
 */
static bool kind_of_heading(struct sv line, bool *inside, enum brief_kind *ret)
{
	static const enum brief_kind kinds[] = { BRIEF_TASK, BRIEF_OPEN, BRIEF_DECISION,
		BRIEF_CHANGED, BRIEF_READ, BRIEF_COMMAND, BRIEF_ERROR, BRIEF_ANSWER };
	*ret = BRIEF_KINDS;
	if (!sv_starts(line, SV("## "))) {
		bool heading = sv_starts(line, SV("# "));
		*inside = heading ? sv_is(line, BRIEF_STANDS) : *inside;
		return heading;
	}
	for (size_t i = 0; i < ARRAY_LEN(kinds) && *inside; i++)
		if (sv_is(sv_from(line, 3), brief_heading(kinds[i])))
			*ret = kinds[i];
	return true;
}

static void end_item(struct brief_collect *c, struct carried *item, enum brief_kind kind,
	struct brief_place place)
{
	size_t more;
	if (item->text.len > 0 && kind != BRIEF_KINDS) {
		item->kind = kind;
		if (is_more(str_sv(&item->text), &more)) {
			c->earlier[kind] += more;
		} else {
			split_marks(item);
			keep(c, item, place);
		}
	}
	str_clear(&item->text);
}

static void take_sections(struct brief_collect *c, struct sv text, struct brief_place place)
{
	struct carried item = { .text = STR_INIT };
	enum brief_kind kind = BRIEF_KINDS, next;
	bool inside = false;
	struct sv line;
	while (sv_split(&text, '\n', &line)) {
		if (kind_of_heading(line, &inside, &next)) {
			end_item(c, &item, kind, place);
			kind = next;
		} else if (sv_starts(line, SV("- "))) {
			end_item(c, &item, kind, place);
			str_add(&item.text, sv_from(line, 2));
		} else if (item.text.len > 0 && sv_starts(line, SV("  "))) {
			str_addc(&item.text, '\n');
			str_add(&item.text, sv_from(line, 2));
		}
	}
	end_item(c, &item, kind, place);
	str_release(&item.text);
}

/* Cuts off what stands under a heading, the last one of the text. */
static bool split_heading(struct sv *text, struct sv heading, struct sv *ret)
{
	size_t at;
	if (!sv_find(*text, heading, &at))
		return false;
	*ret = sv_trim(sv_from(*text, at + heading.n));
	*text = sv_head(*text, at);
	return true;
}

void brief_take_rollover(struct brief_collect *c, const struct item *item)
{
	struct sv text = str_sv(&c->text), words, summary;
	struct brief_place place = brief_place_of(item);
	bool wish = split_heading(&text, SV("\n" BRIEF_WISH "\n"), &words);
	if (split_heading(&text, SV("\n" BRIEF_SUMMARY "\n"), &summary) ||
		split_heading(&text, SV("\n" BRIEF_SUMMARY_BEFORE "\n"), &summary)) {
		free(c->summary);
		c->summary = xmemdup0(summary.p, summary.n);
	}
	take_sections(c, text, place);
	if (!wish)
		return;
	brief_ring_clear(&c->since);
	if (c->task.text && !c->first.text) {
		c->first = c->task;
		c->first.kind = BRIEF_FIRST;
	} else {
		brief_fact_clear(&c->task);
	}
	c->task = brief_fact_new(BRIEF_TASK, words, BRIEF_TASK_MAX, true, place);
	c->turns++;
	c->asked = true;
}
