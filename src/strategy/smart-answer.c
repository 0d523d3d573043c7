/*
 * The agent's answer, which is anybody's: read, checked, and refused piece by piece.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "strategy/smart.h"
#include "json/scan.h"

enum { WHAT_MAX = 60, CANDIDATES_MAX = 200 };

void smart_answer_release(struct smart_answer *a)
{
	vec_each (&a->choices, c) {
		free(c->reason);
		free(c->summary);
	}
	vec_release(&a->choices);
	vec_each (&a->refusals, r)
		free(r->what);
	vec_release(&a->refusals);
	*a = (struct smart_answer)SMART_ANSWER_INIT;
}

/* ---- where the JSON is ---- */

static bool is_list(struct jval val, struct jval *ret)
{
	struct jval item;

	*ret = val;
	if (val.type == J_OBJECT && scan_get(val, SV("trim"), ret) <= 0)
		return false;
	if (ret->type != J_ARRAY)
		return false;
	/* A list of something else, as prose may hold: not ours. */
	struct scan_iter it = scan_iter(*ret);
	int r = scan_next(&it, NULL, &item);
	return r == 0 ? val.type == J_OBJECT : r > 0 && item.type == J_OBJECT;
}

/* A whole text, or the first value in it that is the answer: in a fenced block, among words. */
static bool find_list(struct sv text, struct jval *ret)
{
	struct jval val;

	text = sv_trim(text);
	if (scan_check(text, NULL) == 0 && scan_text(text, &val) == 0)
		return is_list(val, ret);
	for (size_t at = 0, tries = 0; at < text.n && tries < CANDIDATES_MAX; at++) {
		struct sv rest = sv_from(text, at);
		if (text.p[at] != '{' && text.p[at] != '[')
			continue;
		tries++;
		if (scan_value(&rest, &val) <= 0 || scan_check(val.raw, NULL) < 0)
			continue;
		if (is_list(val, ret))
			return true;
	}
	return false;
}

/* ---- one piece ---- */

struct reading {
	const struct smart_digest *d;
	struct smart_answer *out;
	bool *taken; /* one an entry */
};

static void refuse(struct reading *r, struct jval what, const char *why)
{
	AUTO_STR text = STR_INIT;

	r->out->refused++;
	if (r->out->refusals.n == SMART_REFUSALS_MAX)
		return;
	utf8_scrub_line(&text, utf8_cut(what.raw, WHAT_MAX));
	vec_push(
		&r->out->refusals, (struct smart_refusal){ .what = str_detach(&text), .why = why });
}

static bool clean_text(struct jval val, size_t max, struct str *out)
{
	AUTO_STR text = STR_INIT;

	if (!scan_string(val, &text))
		return false;
	AUTO_STR clean = STR_INIT;
	utf8_scrub(&clean, utf8_cut(sv_trim(str_sv(&text)), max));
	str_add(out, sv_trim(str_sv(&clean)));
	return true;
}

static const char *check_number(struct reading *r, struct jval number, size_t *ret)
{
	int64_t n;

	if (!scan_i64(number, &n))
		return "it has no number";
	if (n < 1 || (uint64_t)n > r->d->entries.n)
		return "there is no such number";
	*ret = (size_t)n - 1;
	if (r->d->entries.v[*ret].keep != SMART_FREE)
		return smart_keep_why(r->d->entries.v[*ret].keep);
	return r->taken[*ret] ? "it was named before" : NULL;
}

static void take_piece(struct reading *r, struct jval piece)
{
	struct jval number = { .type = J_NONE }, reason = number, summary = number;
	AUTO_STR why = STR_INIT;
	AUTO_STR text = STR_INIT;
	size_t entry;

	if (piece.type != J_OBJECT) {
		refuse(r, piece, "it is no object");
		return;
	}
	if (scan_get(piece, SV("number"), &number) < 0 ||
		scan_get(piece, SV("reason"), &reason) < 0 ||
		scan_get(piece, SV("summary"), &summary) < 0) {
		refuse(r, piece, "it is broken JSON");
		return;
	}
	const char *wrong = check_number(r, number, &entry);
	if (wrong) {
		refuse(r, number.type == J_NONE ? piece : number, wrong);
		return;
	}
	(void)clean_text(reason, SMART_REASON_MAX, &why);
	if (!clean_text(summary, SMART_SUMMARY_MAX, &text) || text.len == 0) {
		refuse(r, number, "it has no summary");
		return;
	}
	r->taken[entry] = true;
	vec_push(&r->out->choices,
		(struct smart_choice){ entry, str_detach(&why), str_detach(&text) });
}

static int by_entry(const void *a, const void *b)
{
	const struct smart_choice *x = a, *y = b;

	return x->entry < y->entry ? -1 : x->entry > y->entry;
}

int smart_read_answer(
	const struct smart_digest *d, struct sv text, struct smart_answer *ret, struct err *reterr)
{
	struct jval list, piece;
	struct smart_answer out = SMART_ANSWER_INIT;

	if (text.n > SMART_ANSWER_MAX)
		return err_set(
			reterr, ERR_LIMIT, "the answer is longer than %d bytes", SMART_ANSWER_MAX);
	if (!find_list(text, &list)) {
		AUTO_STR head = STR_INIT;
		utf8_scrub_line(&head, utf8_cut(sv_trim(text), WHAT_MAX));
		return err_set(reterr, ERR_INPUT, "the answer is not the JSON asked for: \"%s\"",
			head.buf);
	}
	AUTO_FREE bool *taken = xcalloc(d->entries.n + 1, sizeof(*taken));
	struct reading r = { d, &out, taken };
	struct scan_iter it = scan_iter(list);
	while (scan_next(&it, NULL, &piece) > 0)
		take_piece(&r, piece);
	vec_sort(&out.choices, by_entry);
	*ret = out;
	return 0;
}
