/*
 * The brief as text, within its size.
 */
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "strategy/brief-impl.h"
#include "ui/size.h"

enum { KEPT_MIN = 3 }; /* facts a section keeps as long as another has more */

struct render {
	const struct brief *b;
	struct str *lines; /* one a fact */
	bool *gone;
	size_t left[BRIEF_KINDS];
	size_t dropped[BRIEF_KINDS];
	size_t bytes;
};

const char *brief_heading(enum brief_kind kind)
{
	static const char *const names[BRIEF_KINDS] = {
		[BRIEF_FIRST] = "Task",
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
	return names[kind];
}

const char *brief_prefix(enum brief_kind kind)
{
	if (kind == BRIEF_FIRST)
		return "At first: ";
	if (kind == BRIEF_TASK)
		return "As last stated: ";
	return kind == BRIEF_SINCE ? "Said since: " : "";
}

static void add_end(struct str *out, const struct brief_fact *fact)
{
	if (fact->end == BRIEF_EXIT)
		str_addf(out, BRIEF_END_EXIT "%d: ", fact->status);
	else if (fact->end == BRIEF_FAILED && fact->kind == BRIEF_COMMAND)
		str_adds(out, BRIEF_END_FAILED);
	else if (fact->end == BRIEF_STOPPED)
		str_adds(out, BRIEF_END_STOPPED);
	else if (fact->kind == BRIEF_COMMAND)
		str_adds(out, BRIEF_END_UNKNOWN);
}

static void add_ref(const struct brief_fact *fact, struct str *out)
{
	if (fact->ref[0])
		str_addf(out, " [%s]\n", fact->ref);
	else
		str_addf(out, " [line %llu]\n", (unsigned long long)fact->place.line);
}

/* Further lines stand below the first one of their item. */
static void add_text(struct str *out, const char *text)
{
	for (const char *p = text; *p; p++) {
		str_addc(out, *p);
		if (*p == '\n')
			str_adds(out, "  ");
	}
}

static void add_line(const struct brief_fact *fact, struct str *out)
{
	str_adds(out, "- ");
	str_adds(out, brief_prefix(fact->kind));
	add_end(out, fact);
	add_text(out, fact->text);
	if (fact->cut)
		str_adds(out, BRIEF_CUT);
	if (fact->times > 1) {
		char times[SIZE_TEXT_MAX];
		size_format_count(fact->times, times);
		str_addf(out, " (%s" BRIEF_TIMES, times);
	}
	if (fact->past)
		str_adds(out, BRIEF_PAST);
	if (fact->before)
		str_adds(out, BRIEF_BEFORE);
	add_ref(fact, out);
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

/* What can be missed most goes first. */
static void fit(struct render *r, size_t max)
{
	static const enum brief_kind order[] = { BRIEF_READ, BRIEF_ERROR, BRIEF_COMMAND,
		BRIEF_CHANGED, BRIEF_DECISION, BRIEF_SINCE, BRIEF_OPEN };
	for (size_t keep = KEPT_MIN;; keep = 0) {
		for (size_t i = 0; i < ARRAY_LEN(order); i++)
			while (r->bytes > max && drop_one(r, order[i], keep))
				;
		if (keep == 0)
			break;
	}
	while (r->bytes > max && (drop_one(r, BRIEF_ANSWER, 0) || drop_one(r, BRIEF_FIRST, 0)))
		;
}

static void add_section_end(const struct render *r, enum brief_kind kind, struct str *out)
{
	size_t more = r->b->more[kind] + r->dropped[kind];
	if (more > 0 && r->left[kind] > 0)
		str_addf(out, "- " BRIEF_MORE "%zu" BRIEF_EARLIER "\n", more);
}

static void join(const struct render *r, struct str *out)
{
	const char *last = NULL;
	enum brief_kind kind = BRIEF_KINDS;
	for (size_t i = 0; i < r->b->facts.n; i++) {
		const struct brief_fact *fact = &r->b->facts.v[i];
		if (r->gone[i])
			continue;
		if (kind != BRIEF_KINDS && fact->kind != kind)
			add_section_end(r, kind, out);
		kind = fact->kind;
		if (!last || strcmp(brief_heading(kind), last) != 0)
			str_addf(out, "%s## %s\n", last ? "\n" : "", brief_heading(kind));
		last = brief_heading(kind);
		str_add(out, str_sv(&r->lines[i]));
	}
	if (kind != BRIEF_KINDS)
		add_section_end(r, kind, out);
}

void brief_render(const struct brief *b, size_t max, struct str *out)
{
	struct render r = { .b = b };
	size_t n = b->facts.n;
	r.lines = xcalloc(n + 1, sizeof(*r.lines));
	r.gone = xcalloc(n + 1, sizeof(*r.gone));
	for (size_t i = 0; i < n; i++) {
		r.lines[i] = (struct str)STR_INIT;
		add_line(&b->facts.v[i], &r.lines[i]);
		r.bytes += r.lines[i].len;
		r.left[b->facts.v[i].kind]++;
	}
	fit(&r, max);
	join(&r, out);
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
