#include "view/diff.h"

#include <inttypes.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "ui/format.h"
#include "ui/wrap.h"
#include "view/branch.h"
#include "view/item.h"
#include "view/json.h"
#include "view/report.h"
#include "view/session.h"

enum {
	CONTEXT = 2, /* lines that are the same, shown around those that are not */
	GIST_COLUMNS = 400, /* of a call */
	TEXT_MAX = 1024 * 1024, /* bytes of one turn that are compared */
	FILES_SHOWN = 12,
};

static const struct {
	const char *mark, *name;
	unsigned style;
} sides[DIFF_SIDES] = { { "-", "A", STYLE_RED }, { "+", "B", STYLE_GREEN } };

/* ---- what a turn says ---- */

/* Answers as they are, calls on a line each; the words of the user are told apart. */
static int add_item(void *data, const struct item *item, struct err *reterr UNUSED)
{
	struct str *out = data;
	AUTO_STR text = STR_INIT;

	if (out->len > TEXT_MAX)
		return 0;
	if (item->kind == ITEM_ASSISTANT) {
		transcript_text(item, &text);
		if (transcript_is_filler(str_sv(&text)))
			return 0;
		str_add(out, sv_head(sv_trim(str_sv(&text)), TEXT_MAX));
		str_addc(out, '\n');
	} else if (item->kind == ITEM_TOOL_CALL) {
		AUTO_STR line = STR_INIT;
		view_call_gist(item, &text);
		utf8_scrub_line(&line, str_sv(&text));
		str_addf(out, "[%.*s] ", SV_ARG(item->tool));
		utf8_fit(out, str_sv(&line), GIST_COLUMNS);
		str_addc(out, '\n');
	} else if (item->kind == ITEM_TOOL_RESULT && item->flags & ITEM_FAILED) {
		str_adds(out, "(failed)\n");
	}
	return 0;
}

static int add_prompt(void *data, const struct item *item, struct err *reterr UNUSED)
{
	struct str *out = data;

	if (item->flags & ITEM_PROMPT && out->len == 0)
		transcript_text(item, out);
	return 0;
}

/* ---- lines ---- */

struct lines {
	VEC(struct sv) v;
	VEC(uint64_t) hashes;
};

static void split(struct lines *l, struct sv text)
{
	struct sv line;

	while (sv_split(&text, '\n', &line)) {
		vec_push(&l->v, line);
		vec_push(&l->hashes, hash_bytes(1, line));
	}
	/* What a last newline ends is not followed by another line. */
	if (l->v.n > 0 && l->v.v[l->v.n - 1].n == 0) {
		l->v.n--;
		l->hashes.n--;
	}
}

static void lines_release(struct lines *l)
{
	vec_release(&l->v);
	vec_release(&l->hashes);
}

static void put_line(struct term *t, const char *mark, unsigned style, struct sv line)
{
	AUTO_STR clean = STR_INIT;
	AUTO_STR first = STR_INIT;
	struct wrap w;
	size_t cols = t->cols;

	utf8_scrub_line(&clean, line);
	str_addf(&first, "  %s ", mark);
	if (!t->tty)
		t->cols = TERM_MAX_COLS;
	wrap_init(&w, t);
	wrap_begin(&w, str_sv(&first), str_sv(&first), style);
	wrap_add(&w, str_sv(&clean), style);
	wrap_end(&w);
	wrap_release(&w);
	t->cols = cols;
}

static void put_all(struct term *t, size_t side, struct sv text)
{
	struct lines l = { .v = VEC_INIT };

	split(&l, text);
	vec_each (&l.v, line)
		put_line(t, sides[side].mark, sides[side].style, *line);
	lines_release(&l);
}

/* A run of lines that both have: its ends are shown, where something differs beside them. */
static void put_same(
	struct term *t, const struct lines *l, size_t from, size_t to, bool first, bool last)
{
	size_t head = first ? 0 : CONTEXT, tail = last ? 0 : CONTEXT;

	for (size_t i = from; i < to; i++) {
		if (i - from < head || to - i <= tail) {
			put_line(t, " ", STYLE_NOTICE, l->v.v[i]);
		} else if (i - from == head) {
			term_style(t, STYLE_NOTICE);
			term_putf(t, "    (%zu lines are the same)", to - from - head - tail);
			term_style(t, STYLE_PLAIN);
			term_newline(t);
		}
	}
}

static void put_changes(struct term *t, struct sv text_a, struct sv text_b)
{
	struct lines l[DIFF_SIDES] = { { .v = VEC_INIT }, { .v = VEC_INIT } };
	diff_matches same = VEC_INIT;
	size_t at[DIFF_SIDES] = { 0, 0 };

	split(&l[DIFF_A], text_a);
	split(&l[DIFF_B], text_b);
	diff_lists(l[0].hashes.v, l[0].hashes.n, l[1].hashes.v, l[1].hashes.n, &same);
	for (size_t i = 0; i <= same.n;) {
		size_t to[DIFF_SIDES] = { l[0].v.n, l[1].v.n }, run = i;
		if (i < same.n) {
			to[0] = same.v[i].a;
			to[1] = same.v[i].b;
		}
		for (size_t s = 0; s < DIFF_SIDES; s++)
			for (; at[s] < to[s]; at[s]++)
				put_line(t, sides[s].mark, sides[s].style, l[s].v.v[at[s]]);
		while (run < same.n && same.v[run].a == to[0] + (run - i) &&
			same.v[run].b == to[1] + (run - i))
			run++;
		if (run > i)
			put_same(t, &l[0], to[0], to[0] + (run - i), to[0] == 0 && to[1] == 0,
				to[0] + (run - i) == l[0].v.n && to[1] + (run - i) == l[1].v.n);
		at[0] += run - i;
		at[1] += run - i;
		i = run > i ? run : i + 1;
	}
	vec_release(&same);
	lines_release(&l[0]);
	lines_release(&l[1]);
}

/* ---- one turn ---- */

static void put_tokens(struct term *t, const struct turn_view *turn)
{
	char in[SIZE_TEXT_MAX], out[SIZE_TEXT_MAX];

	if (turn->model_calls == 0)
		return;
	size_format_count(usage_context(&turn->usage), in);
	size_format_count(turn->usage.output, out);
	term_putf(t, ", %s tokens in, %s out", in, out);
}

static void put_heading(struct term *t, const char *what, const struct turn_view *a,
	const struct turn_view *b, const char *head)
{
	AUTO_STR line = STR_INIT;
	const struct turn_view *one = a ? a : b;

	term_newline(t);
	term_style(t, STYLE_BOLD);
	if (a && b && a->number != b->number)
		term_putf(t, "Turn %" PRIu64 " of A, %" PRIu64 " of B", a->number, b->number);
	else
		term_putf(t, "Turn %" PRIu64 "%s", one->number, what);
	term_style(t, STYLE_PLAIN);
	if (!(a && b))
		put_tokens(t, one);
	if (one->left)
		term_puts(t, ", on a way that was left");
	term_newline(t);
	utf8_fit(&line, sv_of(head), t->tty && t->cols > 12 ? t->cols - 6 : TURN_HEAD_MAX);
	term_puts(t, "  > ");
	term_text_line(t, str_sv(&line));
	term_newline(t);
}

static int put_turn(struct term *t, const struct session_diff *d, const struct diff_turn *pair,
	struct err *reterr)
{
	const struct turn_view *turns[DIFF_SIDES] = { NULL, NULL };
	struct str texts[DIFF_SIDES] = { STR_INIT, STR_INIT };
	int r = 0;

	for (size_t s = 0; r >= 0 && s < DIFF_SIDES; s++) {
		if (pair->at[s] == DIFF_NONE)
			continue;
		turns[s] = &d->of[s].v.v[pair->at[s]];
		r = turn_view_items(&d->of[s], turns[s], add_item, &texts[s], reterr);
	}
	if (r >= 0 && turns[0] && turns[1]) {
		put_heading(t, "", turns[0], turns[1], turns[0]->head);
		put_changes(t, str_sv(&texts[0]), str_sv(&texts[1]));
		for (size_t s = 0; s < DIFF_SIDES; s++) {
			term_putf(t, "    %s: %u call%s", sides[s].name, turns[s]->calls,
				turns[s]->calls == 1 ? "" : "s");
			put_tokens(t, turns[s]);
			term_newline(t);
		}
	} else if (r >= 0) {
		size_t s = turns[DIFF_A] ? DIFF_A : DIFF_B;
		AUTO_FREE char *what = xasprintf(" of %s alone", sides[s].name);
		put_heading(t, what, turns[DIFF_A], turns[DIFF_B], turns[s]->head);
		put_all(t, s, str_sv(&texts[s]));
	}
	str_release(&texts[0]);
	str_release(&texts[1]);
	return r;
}

/* ---- all ---- */

static void put_session(struct term *t, const struct diff_view *v, size_t s)
{
	const struct session_row *row = v->rows[s];
	AUTO_STR title = STR_INIT;
	AUTO_STR fit = STR_INIT;
	struct sv id = t->tty ? session_short_id(row->info.id) : sv_of(row->info.id);

	utf8_scrub_line(&title, sv_of(session_title(row)));
	utf8_fit(&fit, str_sv(&title), t->tty && t->cols > 60 ? t->cols - 44 : 36);
	term_styled(t, sides[s].style, sv_of(sides[s].mark));
	term_putf(t, " %s  %-9s %.*s  ", sides[s].name, row->agent, SV_ARG(id));
	term_text_line(t, str_sv(&fit));
	size_t n = v->diff->of[s].v.n;
	term_putf(t, "  (%zu turn%s)", n, n == 1 ? "" : "s");
	term_newline(t);
}

static void put_origin(struct term *t, const struct diff_view *v)
{
	const struct merge_view both = {
		.diff = v->diff, .ancestor = v->ancestor, .rows = { v->rows[0], v->rows[1] }
	};
	AUTO_STR line = STR_INIT;

	view_parting(&both, &line);
	view_sentence(t, SV(""), line.buf);
}

static void put_files(struct term *t, const char *label, const struct strv *files)
{
	AUTO_STR line = STR_INIT;
	AUTO_STR clean = STR_INIT;

	if (files->n == 0)
		return;
	for (size_t i = 0; i < files->n && i < FILES_SHOWN; i++)
		str_addf(&line, "%s%s", i ? ", " : "", files->v[i]);
	if (files->n > FILES_SHOWN)
		str_addf(&line, " and %zu more", files->n - FILES_SHOWN);
	utf8_scrub_line(&clean, str_sv(&line));
	view_labelled(t, label, clean.buf);
}

static void put_figures(struct term *t, const struct diff_view *v)
{
	const struct session_diff *d = v->diff;

	term_newline(t);
	for (size_t s = 0; s < DIFF_SIDES; s++) {
		const struct diff_side *side = &d->side[s];
		char in[SIZE_TEXT_MAX], out[SIZE_TEXT_MAX];
		AUTO_STR line = STR_INIT;
		size_format_count(usage_context(&side->usage), in);
		size_format_count(side->usage.output, out);
		str_addf(&line,
			"%" PRIu64 " turn%s, %" PRIu64 " call%s of tools, %" PRIu64 " failed",
			side->turns, side->turns == 1 ? "" : "s", side->calls,
			side->calls == 1 ? "" : "s", side->failed);
		if (side->model_calls > 0)
			str_addf(&line, "; %s tokens in, %s out", in, out);
		AUTO_FREE char *label = xasprintf("%s %s", sides[s].mark, sides[s].name);
		view_labelled(t, label, line.buf);
		put_files(t, "files", &side->files);
	}
	if (d->both.n > 0)
		put_files(t, "! both", &d->both);
	AUTO_STR shell = STR_INIT;
	view_commands(&shell, (uint64_t[]){ d->side[DIFF_A].commands, d->side[DIFF_B].commands },
		(const char *[]){ "in A", "in B" });
	if (shell.len > 0)
		view_labelled(t, "shell", shell.buf);
}

int view_diff(struct term *t, const struct diff_view *v, struct err *reterr)
{
	const struct session_diff *d = v->diff;
	size_t same = 0;
	int r = 0;

	for (size_t s = 0; s < DIFF_SIDES; s++)
		put_session(t, v, s);
	put_origin(t, v);
	if (d->equal) {
		view_sentence(t, SV(""), "Nothing differs.");
		return 0;
	}
	for (size_t i = 0; !v->stat && r >= 0 && i <= d->rest.n; i++) {
		if (i < d->rest.n && d->rest.v[i].same) {
			same++;
			continue;
		}
		if (same > 0)
			term_putf(
				t, "\n(%zu turn%s the same)\n", same, same == 1 ? " is" : "s are");
		same = 0;
		if (i < d->rest.n)
			r = put_turn(t, d, &d->rest.v[i], reterr);
	}
	if (r >= 0)
		put_figures(t, v);
	return r;
}

/* ---- JSON ---- */

static void json_usage(struct jw *w, const struct usage *u, bool known)
{
	view_put_count(w, "input_tokens", u->input, known);
	view_put_count(w, "cache_read_tokens", u->cache_read, known);
	view_put_count(w, "cache_write_tokens", u->cache_write, known);
	view_put_count(w, "output_tokens", u->output, known);
	/* No agent writes down what a turn has cost. */
	jw_put_cstr(w, "cost_usd", NULL);
}

static int json_turn(
	struct jw *w, const char *key, const struct turn_views *of, size_t at, struct err *reterr)
{
	AUTO_STR text = STR_INIT;
	AUTO_STR prompt = STR_INIT;

	jw_key(w, key);
	if (at == DIFF_NONE) {
		jw_null(w);
		return 0;
	}
	const struct turn_view *turn = &of->v.v[at];
	int r = turn_view_items(of, turn, add_item, &text, reterr);
	if (r >= 0)
		r = turn_view_items(of, turn, add_prompt, &prompt, reterr);
	jw_object(w);
	jw_put_i64(w, "turn", (int64_t)turn->number);
	jw_put_string(w, "prompt", str_sv(&prompt));
	jw_put_string(w, "text", str_sv(&text));
	jw_put_bool(w, "left", turn->left);
	jw_put_i64(w, "calls", turn->calls);
	jw_put_i64(w, "failed_calls", turn->failed);
	view_put_strings(w, "files", &turn->files);
	jw_put_i64(w, "shell_commands", turn->commands);
	view_put_time(w, "began_at", turn->first_ms);
	view_put_time(w, "ended_at", turn->last_ms);
	json_usage(w, &turn->usage, turn->model_calls > 0);
	jw_end(w);
	return r;
}

static void json_side(struct jw *w, const struct diff_view *v, size_t s)
{
	static const char *const keys[DIFF_SIDES] = { "a", "b" };
	const struct session_info *info = &v->rows[s]->info;
	const struct diff_side *side = &v->diff->side[s];

	jw_key(w, keys[s]);
	jw_object(w);
	jw_put_cstr(w, "session_id", info->id);
	jw_put_cstr(w, "agent", v->rows[s]->agent);
	jw_put_cstr(w, "title", session_title(v->rows[s]));
	jw_put_cstr(w, "path", info->path);
	jw_put_i64(w, "turns", (int64_t)v->diff->of[s].v.n);
	jw_put_i64(w, "own_turns", (int64_t)side->turns);
	jw_put_i64(w, "calls", (int64_t)side->calls);
	jw_put_i64(w, "failed_calls", (int64_t)side->failed);
	view_put_strings(w, "files", &side->files);
	jw_put_i64(w, "shell_commands", (int64_t)side->commands);
	json_usage(w, &side->usage, side->model_calls > 0);
	jw_end(w);
}

int view_json_diff(struct jw *w, const struct diff_view *v, struct err *reterr)
{
	const struct session_diff *d = v->diff;
	const struct lineage_node *n = v->ancestor;
	int r = 0;

	jw_object(w);
	json_side(w, v, DIFF_A);
	json_side(w, v, DIFF_B);
	jw_put_bool(w, "equal", d->equal);
	jw_put_i64(w, "common_turns", (int64_t)d->common);
	view_put_text(w, "ancestor_id", n ? n->id : NULL);
	view_put_strings(w, "files_of_both", &d->both);
	jw_key(w, "turns");
	jw_array(w);
	for (size_t i = 0; !v->stat && r >= 0 && i < d->rest.n; i++) {
		const struct diff_turn *pair = &d->rest.v[i];
		jw_object(w);
		jw_put_bool(w, "same", pair->same);
		r = json_turn(w, "a", &d->of[DIFF_A], pair->at[DIFF_A], reterr);
		if (r >= 0)
			r = json_turn(w, "b", &d->of[DIFF_B], pair->at[DIFF_B], reterr);
		jw_end(w);
	}
	jw_end(w);
	jw_end(w);
	return r;
}
