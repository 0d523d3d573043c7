/*
 * The brief as text, within its size, and back: a session that began with the text of an earlier
 * brief goes on from what that said.
 */
#include <assert.h>
#include <ctype.h>
#include <limits.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "strategy/brief-impl.h"
#include "ui/format.h"

/* Marks around the words of a fact. */
#define MARK_BEFORE " (from before)"
#define MARK_PAST " (succeeded since)"
#define MARK_TIMES " times)" /* behind " (" and a number with commas */
#define MARK_MORE "and " /* before a number and … */
#define MARK_EARLIER " earlier"
#define END_EXIT "exit " /* before a number and ": " */
#define END_FAILED "failed: "
#define END_STOPPED "stopped: "
#define END_UNKNOWN "no exit status: "

enum {
	KEPT_MIN = 3, /* facts a section keeps as long as another has more */
	SHORT_MAX =
		120, /* bytes that what was asked for in between is cut to when room is scarce */
	LINEAGE_WITHIN = 4096, /* bytes of a message in which the block must begin */
};

static const char *heading(enum brief_kind kind)
{
	static const char *const names[BRIEF_KINDS] = {
		[BRIEF_FIRST] = "Task",
		[BRIEF_BETWEEN] = "Task",
		[BRIEF_TASK] = "Task",
		[BRIEF_SINCE] = "Task",
		[BRIEF_OPEN] = "Unfinished",
		[BRIEF_DECISION] = "Decisions",
		[BRIEF_CHANGED] = "Files changed",
		[BRIEF_READ] = "Files read",
		[BRIEF_COMMAND] = "Commands",
		[BRIEF_ERROR] = "Errors",
		[BRIEF_ANSWER] = "Last answer",
	};

	assert(kind < BRIEF_KINDS);
	return names[kind];
}

/* The beginning of an item. */
static const char *prefix(enum brief_kind kind)
{
	if (kind == BRIEF_FIRST)
		return "At first: ";
	if (kind == BRIEF_TASK)
		return "As last stated: ";
	if (kind == BRIEF_BETWEEN)
		return "Asked for in between: ";
	return kind == BRIEF_SINCE ? "Said since: " : "";
}

/* ---- to text ---- */

struct render {
	const struct brief *b;
	struct str *lines; /* one a fact */
	bool *gone;
	size_t left[BRIEF_KINDS];
	size_t dropped[BRIEF_KINDS];
	size_t bytes;
};

/* At most max bytes of its text. */
static void add_line(const struct brief_fact *fact, size_t max, struct str *out)
{
	struct sv text = utf8_cut(sv_of(fact->text), max);
	bool command = fact->kind == BRIEF_COMMAND;
	char times[SIZE_TEXT_MAX];

	str_addf(out, "- %s", prefix(fact->kind));
	if (fact->end == BRIEF_EXIT)
		str_addf(out, END_EXIT "%d: ", fact->status);
	else if (fact->end == BRIEF_FAILED && command)
		str_adds(out, END_FAILED);
	else if (fact->end == BRIEF_STOPPED)
		str_adds(out, END_STOPPED);
	else if (command)
		str_adds(out, END_UNKNOWN);
	/* Further lines stand below the first one of their item. */
	for (size_t i = 0; i < text.n; i++) {
		str_addc(out, text.p[i]);
		if (text.p[i] == '\n')
			str_adds(out, "  ");
	}
	if (fact->cut || fact->text[text.n])
		str_adds(out, BRIEF_CUT);
	size_format_count(fact->times, times);
	if (fact->times > 1)
		str_addf(out, " (%s" MARK_TIMES, times);
	if (fact->past)
		str_adds(out, MARK_PAST);
	if (fact->before)
		str_adds(out, MARK_BEFORE);
	if (fact->ref[0])
		str_addf(out, " [%s]\n", fact->ref);
	else
		str_addf(out, " [line %llu]\n", (unsigned long long)fact->place.line);
}

/* Takes the oldest fact of a kind out. */
static bool drop_one(struct render *r, enum brief_kind kind, size_t keep)
{
	if (r->left[kind] <= keep)
		return false;
	for (size_t i = 0; i < r->b->facts.n; i++) {
		if (r->gone[i] || r->b->facts.v[i].kind != kind)
			continue;
		r->gone[i] = true;
		r->bytes -= r->lines[i].len;
		r->left[kind]--;
		r->dropped[kind]++;
		return true;
	}
	return false;
}

/* Of everything that was asked for a beginning stays, as long as there is room for that. */
static void shorten(struct render *r, size_t max)
{
	for (size_t i = 0; i < r->b->facts.n && r->bytes > max; i++) {
		if (r->gone[i] || r->b->facts.v[i].kind != BRIEF_BETWEEN)
			continue;
		r->bytes -= r->lines[i].len;
		str_clear(&r->lines[i]);
		add_line(&r->b->facts.v[i], SHORT_MAX, &r->lines[i]);
		r->bytes += r->lines[i].len;
	}
}

/* What can be missed most goes first. */
static void fit(struct render *r, size_t max)
{
	static const enum brief_kind order[] = { BRIEF_READ, BRIEF_ERROR, BRIEF_COMMAND,
		BRIEF_CHANGED, BRIEF_DECISION, BRIEF_SINCE, BRIEF_BETWEEN, BRIEF_OPEN };

	for (size_t keep = KEPT_MIN;; keep = 0) {
		for (size_t i = 0; i < ARRAY_LEN(order); i++) {
			if (order[i] == BRIEF_DECISION)
				shorten(r, max);
			while (r->bytes > max && drop_one(r, order[i], keep))
				;
		}
		if (keep == 0)
			break;
	}
	while (r->bytes > max && (drop_one(r, BRIEF_ANSWER, 0) || drop_one(r, BRIEF_FIRST, 0)))
		;
}

static void end_section(const struct render *r, enum brief_kind kind, struct str *out)
{
	if (kind != BRIEF_KINDS && r->left[kind] > 0 && r->b->more[kind] + r->dropped[kind] > 0)
		str_addf(out, "- " MARK_MORE "%zu" MARK_EARLIER "\n",
			r->b->more[kind] + r->dropped[kind]);
}

void brief_render(const struct brief *b, size_t max, struct str *out)
{
	struct render r = { .b = b };
	size_t n = b->facts.n;
	const char *last = NULL;
	enum brief_kind kind = BRIEF_KINDS;

	r.lines = xcalloc(n + 1, sizeof(*r.lines));
	r.gone = xcalloc(n + 1, sizeof(*r.gone));
	for (size_t i = 0; i < n; i++) {
		r.lines[i] = (struct str)STR_INIT;
		add_line(&b->facts.v[i], SIZE_MAX, &r.lines[i]);
		r.bytes += r.lines[i].len;
		r.left[b->facts.v[i].kind]++;
	}
	fit(&r, max);
	for (size_t i = 0; i < n; i++) {
		if (r.gone[i])
			continue;
		if (b->facts.v[i].kind != kind)
			end_section(&r, kind, out);
		kind = b->facts.v[i].kind;
		if (!last || strcmp(heading(kind), last) != 0)
			str_addf(out, "%s## %s\n", last ? "\n" : "", heading(kind));
		last = heading(kind);
		str_add(out, str_sv(&r.lines[i]));
	}
	end_section(&r, kind, out);
	for (size_t i = 0; i < n; i++)
		str_release(&r.lines[i]);
	free(r.lines);
	free(r.gone);
}

void brief_explain(const struct brief *b, const char *path, struct str *out)
{
	size_t refs = 0;

	vec_each (&b->facts, fact)
		refs += fact->ref[0] != '\0';
	if (refs > 0)
		str_adds(out,
			" Behind each stands a reference in brackets: `faden recall REF` in a "
			"shell prints the original.");
	if (refs < b->facts.n) {
		str_adds(out, " [line N] is a line of ");
		utf8_scrub_line(out, sv_of(path));
		str_addc(out, '.');
	}
}

/* ---- and back ---- */

bool brief_is_rollover(struct sv text)
{
	size_t at;
	struct sv head = sv_head(text, LINEAGE_WITHIN);

	return sv_find(head, SV(BRIEF_LINEAGE_BEGIN "\n"), &at) &&
		(at == 0 || text.p[at - 1] == '\n') &&
		sv_find(text, SV("\n" BRIEF_LINEAGE_END "\n"), NULL);
}

static bool cut_front(struct sv *s, const char *front)
{
	struct sv f = sv_of(front);

	if (!sv_starts(*s, f))
		return false;
	*s = sv_from(*s, f.n);
	return true;
}

static bool cut_end(struct sv *s, const char *end)
{
	struct sv e = sv_of(end);

	if (!sv_ends(*s, e))
		return false;
	s->n -= e.n;
	return true;
}

/* Takes " [0123456789abcdef]" off the end. References of other kinds mean nothing any more. */
static void cut_ref(struct sv *s, char ret[static BRIEF_REF])
{
	size_t open = s->n;

	if (s->n == 0 || s->p[s->n - 1] != ']')
		return;
	while (open > 0 && s->p[open - 1] != '[')
		open--;
	if (open < 2 || s->p[open - 2] != ' ')
		return;
	struct sv ref = sv_make(s->p + open, s->n - open - 1);
	bool hex = ref.n == BRIEF_REF - 1;
	for (size_t i = 0; i < ref.n; i++)
		hex = hex && isxdigit((unsigned char)ref.p[i]);
	if (hex)
		memcpy(ret, ref.p, ref.n);
	s->n = open - 2;
}

/* Takes " (1,234 times)" off the end. */
static uint32_t cut_times(struct sv *s)
{
	struct sv rest = *s;
	uint64_t times = 0;

	if (!cut_end(&rest, MARK_TIMES))
		return 1;
	size_t open = rest.n;
	while (open > 0 && rest.p[open - 1] != '(')
		open--;
	if (open < 2 || rest.p[open - 2] != ' ' || open == rest.n || rest.n - open > 12)
		return 1;
	for (size_t i = open; i < rest.n; i++) {
		if (rest.p[i] != ',' && !isdigit((unsigned char)rest.p[i]))
			return 1;
		times = rest.p[i] == ',' ? times : times * 10 + (uint64_t)(rest.p[i] - '0');
	}
	s->n = open - 2;
	return times > 0 && times <= UINT32_MAX ? (uint32_t)times : 1;
}

/* Takes "exit 2: " and its like off the front. */
static void cut_ending(struct sv *s, struct brief_fact *fact)
{
	struct sv rest = *s;
	long long status;
	size_t at;

	if (cut_front(&rest, END_EXIT) && sv_find(rest, SV(": "), &at) &&
		sv_parse_i64(sv_head(rest, at), &status) && status >= INT_MIN &&
		status <= INT_MAX) {
		fact->end = BRIEF_EXIT;
		fact->status = (int)status;
		*s = sv_from(rest, at + 2);
	} else if (cut_front(s, END_FAILED)) {
		fact->end = BRIEF_FAILED;
	} else if (cut_front(s, END_STOPPED)) {
		fact->end = BRIEF_STOPPED;
	} else {
		(void)cut_front(s, END_UNKNOWN);
	}
}

/* An item of a section without the marks that brief_render() puts around its words; a kind of
 * BRIEF_KINDS when it is none of ours. The text of the result is borrowed: *ret_text. */
static struct brief_fact read_item(enum brief_kind section, struct sv s, struct sv *ret_text)
{
	static const enum brief_kind tasks[] = { BRIEF_FIRST, BRIEF_BETWEEN, BRIEF_TASK,
		BRIEF_SINCE };
	struct brief_fact fact = { .kind = section, .times = 1 };
	bool ends = section == BRIEF_COMMAND || section == BRIEF_ERROR;

	cut_ref(&s, fact.ref);
	(void)cut_end(&s, MARK_BEFORE);
	fact.past = section == BRIEF_ERROR && cut_end(&s, MARK_PAST);
	if (ends || section == BRIEF_CHANGED || section == BRIEF_READ)
		fact.times = cut_times(&s);
	fact.cut = cut_end(&s, BRIEF_CUT);
	if (ends)
		cut_ending(&s, &fact);
	if (section == BRIEF_TASK) {
		fact.kind = BRIEF_KINDS;
		for (size_t i = 0; i < ARRAY_LEN(tasks) && fact.kind == BRIEF_KINDS; i++)
			if (cut_front(&s, prefix(tasks[i])))
				fact.kind = tasks[i];
	}
	*ret_text = s;
	return fact;
}

static struct brief_fact own_fact(
	const struct brief_fact *item, struct sv text, struct brief_place place)
{
	enum brief_kind kind = item->kind;
	bool lines = kind == BRIEF_TASK || kind == BRIEF_FIRST || kind == BRIEF_ANSWER;
	struct brief_fact fact = brief_fact_new(kind, text,
		lines				? BRIEF_TASK_MAX
			: kind == BRIEF_BETWEEN ? BRIEF_BETWEEN_MAX
						: BRIEF_TEXT_MAX,
		lines, place);

	fact.cut = fact.cut || item->cut;
	fact.before = kind == BRIEF_OPEN || kind == BRIEF_ERROR || kind == BRIEF_ANSWER;
	fact.past = item->past;
	fact.times = item->times;
	fact.end = item->end;
	fact.status = item->status;
	memcpy(fact.ref, item->ref, sizeof(fact.ref));
	return fact;
}

/* A file or a command. */
static void keep_known(struct brief_collect *c, const struct brief_fact *item, struct sv text,
	struct brief_place place)
{
	bool command = item->kind == BRIEF_COMMAND;
	struct brief_known *k = brief_know(command ? &c->commands : &c->files, text);

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

static void keep_one(struct brief_fact *slot, struct brief_fact fact)
{
	brief_fact_clear(slot);
	*slot = fact;
}

static void keep_item(
	struct brief_collect *c, enum brief_kind section, struct sv words, struct brief_place place)
{
	struct sv text, number = words;
	long long more;

	if (words.n == 0 || section == BRIEF_KINDS)
		return;
	/* "and 12 earlier" stands for facts that were left out. */
	if (cut_front(&number, MARK_MORE) && cut_end(&number, MARK_EARLIER) &&
		sv_parse_i64(number, &more) && more >= 0) {
		c->earlier[section != BRIEF_TASK ? section
				: c->task.text	 ? BRIEF_SINCE
						 : BRIEF_BETWEEN] += (size_t)more;
		return;
	}
	const struct brief_fact item = read_item(section, words, &text);
	switch (item.kind) {
	case BRIEF_FIRST:
		keep_one(&c->first, own_fact(&item, text, place));
		break;
	case BRIEF_TASK:
		keep_one(&c->task, own_fact(&item, text, place));
		break;
	case BRIEF_ANSWER:
		keep_one(&c->answer, own_fact(&item, text, place));
		break;
	case BRIEF_BETWEEN:
		brief_ring_push(&c->between, own_fact(&item, text, place));
		break;
	case BRIEF_SINCE:
		brief_ring_push(&c->since, own_fact(&item, text, place));
		break;
	case BRIEF_OPEN:
		/* told anew as long as it holds */
		if (sv_is(text, BRIEF_UNANSWERED))
			c->asked = true;
		else
			brief_ring_push(&c->carried, own_fact(&item, text, place));
		break;
	case BRIEF_DECISION:
		brief_ring_renew(&c->decisions, own_fact(&item, text, place));
		break;
	case BRIEF_ERROR:
		brief_ring_renew(&c->errors, own_fact(&item, text, place));
		break;
	case BRIEF_CHANGED:
	case BRIEF_READ:
	case BRIEF_COMMAND:
		keep_known(c, &item, text, place);
		break;
	case BRIEF_KINDS:
		break;
	}
}

/* Whether the line is a heading; *ret is then the section it begins, BRIEF_KINDS for none of ours.
 */
static bool is_heading(struct sv line, bool *inside, enum brief_kind *ret)
{
	static const enum brief_kind kinds[] = { BRIEF_TASK, BRIEF_OPEN, BRIEF_DECISION,
		BRIEF_CHANGED, BRIEF_READ, BRIEF_COMMAND, BRIEF_ERROR, BRIEF_ANSWER };
	bool top = sv_starts(line, SV("# "));

	if (!top && !sv_starts(line, SV("## ")))
		return false;
	*ret = BRIEF_KINDS;
	if (top)
		*inside = sv_is(line, BRIEF_STANDS);
	for (size_t i = 0; i < ARRAY_LEN(kinds) && *inside && !top; i++)
		if (sv_is(sv_from(line, 3), heading(kinds[i])))
			*ret = kinds[i];
	return true;
}

static void take_sections(struct brief_collect *c, struct sv text, struct brief_place place)
{
	AUTO_STR item = STR_INIT;
	enum brief_kind kind = BRIEF_KINDS, next;
	bool inside = false;
	struct sv line;

	while (sv_split(&text, '\n', &line)) {
		next = kind;
		if (is_heading(line, &inside, &next) || sv_starts(line, SV("- "))) {
			keep_item(c, kind, str_sv(&item), place);
			str_clear(&item);
			kind = next;
		}
		if (sv_starts(line, SV("- "))) {
			str_add(&item, sv_from(line, 2));
		} else if (item.len > 0 && sv_starts(line, SV("  "))) {
			str_addc(&item, '\n');
			str_add(&item, sv_from(line, 2));
		}
	}
	keep_item(c, kind, str_sv(&item), place);
}

/* Cuts off what stands under a heading, the last one of the text. */
static bool split_heading(struct sv *text, struct sv title, struct sv *ret)
{
	size_t at;

	if (!sv_find(*text, title, &at))
		return false;
	*ret = sv_trim(sv_from(*text, at + title.n));
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
	brief_task(c, words, place);
	c->turns++;
	c->asked = true;
}
