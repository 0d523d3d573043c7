#include "view/advice.h"

#include <ctype.h>
#include <inttypes.h>

#include "base/mem.h"
#include "base/shell.h"
#include "base/utf8.h"
#include "ui/format.h"
#include "ui/wrap.h"
#include "view/json.h"

enum {
	COLUMNS_MIN = 60,
	PROSE_MIN = 40, /* narrower terminals break lines themselves */
	COLUMNS_MAX = 80,
	NAME_COLUMNS = 20,
	BAR_COLUMNS = 20, /* at most; narrow terminals have less for it */
	ROW_COLUMNS = 50, /* what stands around a bar */
	WHOLE_COLUMNS = 60,
	TOOLS_SHOWN = 8,
};

/* ---- words ---- */

/* What to run for it, NULL when nothing; caller frees. */
static char *command_of(enum advise_strategy strategy, const char *id)
{
	static const char *const words[] = {
		[ADVISE_TRIM_500] = "trim",
		[ADVISE_TRIM_1000] = "trim -l 1000",
		[ADVISE_SMART_TRIM] = "smart-trim",
		[ADVISE_ROLLOVER] = "rollover",
		[ADVISE_COMPACT] = NULL,
		[ADVISE_NOTHING] = NULL,
	};
	AUTO_STR word = STR_INIT;

	shell_operand(&word, id);
	return words[strategy] ? xasprintf("faden %s %s", words[strategy], word.buf) : NULL;
}

static const char *why(const struct advice *a)
{
	switch (a->advised) {
	case ADVISE_TRIM_500:
		return "much of it is long tool results, most of middling length";
	case ADVISE_TRIM_1000:
		return "much of it is long tool results";
	case ADVISE_SMART_TRIM:
		return "what fills it is mixed, so somebody has to choose";
	case ADVISE_ROLLOVER:
		return a->restart ? "a fresh start is wanted"
				  : "neither trim nor smart-trim would bring it below";
	case ADVISE_COMPACT:
	case ADVISE_NOTHING:
	default:
		return "";
	}
}

/* Why the advice is what it is, and when it does not help enough, that; without a full stop. */
static void add_reason(const struct advice *a, struct str *out)
{
	if (a->empty) {
		str_adds(out, "nothing in it would be sent to a model");
		return;
	}
	if (a->advised == ADVISE_NOTHING) {
		str_addf(out, "the context is below %d %% of the window", ADVISE_FULL_PERCENT);
		return;
	}
	str_addf(out, "the context is at %d %% or more of the window; %s", ADVISE_FULL_PERCENT,
		why(a));
	if (!a->plans[a->advised].below)
		str_addf(out,
			"; even so it would not come below %d %%, since what the agent itself "
			"puts in is so much of it",
			ADVISE_FULL_PERCENT);
}

/* ---- lines ---- */

static size_t width(const struct term *t)
{
	size_t most = t->cols < COLUMNS_MAX ? t->cols : COLUMNS_MAX;

	return most > COLUMNS_MIN ? most : COLUMNS_MIN;
}

/* A sentence of ours, no wider than the tables. */
static void put_text(struct term *t, const char *text)
{
	struct wrap w;
	size_t cols = t->cols;

	if (cols > COLUMNS_MAX)
		t->cols = COLUMNS_MAX;
	else if (cols < PROSE_MIN)
		t->cols = PROSE_MIN;
	wrap_init(&w, t);
	wrap_begin(&w, SV("  "), SV("  "), 0);
	wrap_add(&w, sv_of(text), 0);
	wrap_end(&w);
	wrap_release(&w);
	t->cols = cols;
}

/* ---- bars ---- */

static void put_bar(struct term *t, int64_t part, int64_t whole, int columns)
{
	int full = 0;

	if (whole > 0 && part > 0)
		full = (int)((double)part / (double)whole * columns + 0.5);
	if (full > columns)
		full = columns;
	for (int i = 0; i < columns; i++)
		term_puts(t, i < full ? (t->ascii ? "#" : "█") : (t->ascii ? "." : "░"));
}

/* Foreign or not: one line, as wide as the column. */
static void put_name(struct term *t, const char *name)
{
	AUTO_STR clean = STR_INIT;
	AUTO_STR fit = STR_INIT;

	utf8_scrub_line(&clean, sv_of(name));
	utf8_fit(&fit, str_sv(&clean), NAME_COLUMNS);
	term_putf(t, "  %s", fit.buf);
	for (size_t i = utf8_width(str_sv(&fit)); i < NAME_COLUMNS; i++)
		term_puts(t, " ");
}

static void put_row(
	struct term *t, const struct advice *a, const char *name, int64_t tokens, uint64_t bytes)
{
	char count[SIZE_TEXT_MAX], size[SIZE_TEXT_MAX] = "";
	double whole = a->context.tokens > 0 ? (double)a->context.tokens : 1;

	size_format_count(tokens, count);
	if (bytes > 0)
		size_format(bytes, size);
	put_name(t, name);
	term_puts(t, " ");
	int bar = (int)width(t) - ROW_COLUMNS;
	put_bar(t, tokens, a->context.tokens, bar < BAR_COLUMNS ? bar : BAR_COLUMNS);
	term_putf(t, " %9s %4.0f %% %8s", count, (double)tokens * 100 / whole, size);
	term_newline(t);
}

static void put_title(struct term *t, const char *title)
{
	term_newline(t);
	term_styled(t, STYLE_BOLD, sv_of(title));
	term_newline(t);
}

/* ---- sections ---- */

static void put_session(struct term *t, const struct advise_subject *s)
{
	term_puts(t, "Session ");
	term_text_line(t, sv_of(s->id));
	term_putf(t, "  %s", s->agent);
}

static void put_whole(struct term *t, const struct advise_subject *s, const struct advice *a)
{
	char used[SIZE_TEXT_MAX], window[SIZE_TEXT_MAX];
	AUTO_STR model = STR_INIT;

	size_format_count(a->context.tokens, used);
	size_format_count(a->window.tokens, window);
	utf8_scrub_line(&model, sv_of(a->model));
	put_session(t, s);
	if (model.len > 0)
		term_putf(t, "\nModel   %s", model.buf);
	term_putf(t, "\nContext %s tokens (%s), %d %% of %s (%s)\n  [", used,
		sure_name(a->context.sure), a->percent, window,
		a->window.sure == SURE_EXACT ? "told" : "assumed");
	int bar = (int)width(t) - 4;
	put_bar(t, a->context.tokens, a->window.tokens, bar < WHOLE_COLUMNS ? bar : WHOLE_COLUMNS);
	term_puts(t, "]\n");
}

static void put_kinds(struct term *t, const struct advice *a)
{
	put_title(t, a->compacted ? "What fills it, since the last compaction" : "What fills it");
	for (size_t i = 0; i < ADVISE_KIND_COUNT; i++)
		if (a->kinds[i].n > 0)
			put_row(t, a, advise_kind_title((enum advise_kind)i), a->kinds[i].tokens,
				a->kinds[i].bytes);
	if (a->scaled)
		put_text(t,
			"The file holds more than the agent sent: it leaves out old results "
			"itself. The parts are made to fit (assumed).");
	else
		term_putf(t, "  Tokens of parts are %s, %.1f bytes each.\n",
			sure_name(a->ratio.sure), a->ratio.bytes);
}

static void put_tools(struct term *t, const struct advice *a)
{
	if (a->tools.n == 0)
		return;
	put_title(t, "By tool, calls and results");
	for (size_t i = 0; i < a->tools.n && i < TOOLS_SHOWN; i++) {
		const struct advise_tool *tool = &a->tools.v[i];
		put_row(t, a, tool->name, tool->calls.tokens + tool->results.tokens,
			tool->calls.bytes + tool->results.bytes);
	}
	if (a->tools.n > TOOLS_SHOWN)
		term_putf(t, "  and %zu more (--json has all)\n", a->tools.n - TOOLS_SHOWN);
}

static void put_top(struct term *t, const struct advice *a)
{
	if (a->top[0].line == 0)
		return;
	put_title(t, "Largest texts (=: by difference)");
	for (size_t i = 0; i < ADVISE_TOP && a->top[i].line > 0; i++) {
		const struct advise_item *item = &a->top[i];
		bool differenced = item->tokens.sure == SURE_DIFFERENCED;
		char count[SIZE_TEXT_MAX + 1] = "=", size[SIZE_TEXT_MAX];
		size_format_count(item->tokens.tokens, count + differenced);
		size_format(item->bytes, size);
		put_name(t, item->tool ? item->tool : advise_kind_title(item->kind));
		term_putf(t, " line %-7" PRIu64 " %-6s %9s %7s\n", item->line,
			item->tool && item->kind == ADVISE_CALLS ? "call"
				: item->tool			 ? "result"
								 : "",
			count, size);
	}
}

static void put_cache(struct term *t, const struct advice *a)
{
	char ago[CLOCK_TEXT_MAX], count[SIZE_TEXT_MAX];
	AUTO_STR text = STR_INIT;

	if (a->cache == ADVISE_CACHE_NONE)
		return;
	clock_format_ago(a->age_ms, ago);
	size_format_count(a->context.tokens, count);
	put_title(t, "Prompt cache");
	str_addf(&text, "Last call %s: ", ago);
	if (a->cache == ADVISE_CACHE_WARM)
		str_addf(&text, "still warm. A resume as it is reads %s tokens from it.", count);
	else if (a->cache == ADVISE_CACHE_MAYBE)
		str_addf(&text,
			"gone unless it was made for an hour. A resume as it is may have to cache "
			"%s tokens again.",
			count);
	else
		str_addf(&text, "gone. A resume as it is has to cache %s tokens again.", count);
	put_text(t, text.buf);
}

static void put_plans(struct term *t, const struct advice *a)
{
	/* As one would type it, without the session. */
	static const char *const titles[] = {
		[ADVISE_TRIM_500] = "trim -l 500",
		[ADVISE_TRIM_1000] = "trim -l 1000",
		[ADVISE_SMART_TRIM] = "smart-trim",
		[ADVISE_ROLLOVER] = "rollover",
		[ADVISE_COMPACT] = "/compact",
	};

	put_title(t, "What would help    saves            leaves    reads   caches");
	for (size_t i = 0; i < ADVISE_STRATEGY_COUNT; i++) {
		const struct advise_plan *p = &a->plans[i];
		char saved[SIZE_TEXT_MAX], left[SIZE_TEXT_MAX], read[SIZE_TEXT_MAX] = "-";
		char cached[SIZE_TEXT_MAX];
		size_format_count(p->saved.tokens, saved);
		size_format_count(p->left, left);
		size_format_count(p->cached, cached);
		if (p->cost > 0)
			size_format_count(p->cost, read);
		term_putf(t, "%c %-12s %9s %-7s %9s %8s %8s\n", i == a->advised ? '*' : ' ',
			titles[i], saved, sure_name(p->saved.sure), left, read, cached);
	}
	put_text(t,
		"All in tokens. Reads: what a model must read to do it. Caches: what the next "
		"call has to cache anew, since the cache does not know the changed history.");
	if (a->cache == ADVISE_CACHE_WARM)
		put_text(t,
			"While the cache is warm, the next call costs least with the session as it "
			"is.");
}

static void put_advice(struct term *t, const struct advise_subject *s, const struct advice *a)
{
	AUTO_STR text = STR_INIT;
	AUTO_FREE char *command = command_of(a->advised, s->id);

	put_title(t, "Advice");
	if (a->advised == ADVISE_NOTHING)
		str_adds(&text, "Nothing needs to be done: ");
	add_reason(a, &text);
	text.buf[0] = (char)toupper((unsigned char)text.buf[0]);
	str_addc(&text, command ? ':' : '.');
	put_text(t, text.buf);
	if (command)
		term_putf(t, "  %s\n", command);
}

static void put_damage(struct term *t, const struct advise_subject *s)
{
	AUTO_STR text = STR_INIT;

	if (s->damage)
		damage_text(s->damage, s->id, &text);
	if (text.len > 0)
		term_putf(t, "Damaged %s\n", text.buf);
}

void view_advice(struct term *t, const struct advise_subject *subject, const struct advice *a)
{
	if (a->empty) {
		put_session(t, subject);
		term_puts(t,
			"\nEmpty: nothing in it would be sent to a model. "
			"Nothing needs to be done.\n");
		put_damage(t, subject);
		return;
	}
	put_whole(t, subject, a);
	put_damage(t, subject);
	put_kinds(t, a);
	put_tools(t, a);
	put_top(t, a);
	put_cache(t, a);
	put_plans(t, a);
	put_advice(t, subject, a);
}

/* ---- for programs ---- */

static void json_part(struct jw *w, const char *key, const struct advise_part *p)
{
	jw_key(w, key);
	jw_object(w);
	jw_put_i64(w, "count", p->n);
	jw_put_i64(w, "size_bytes", (int64_t)p->bytes);
	jw_put_i64(w, "tokens", p->tokens);
	jw_end(w);
}

static void json_strategy(
	struct jw *w, const char *id, const struct advice *a, enum advise_strategy strategy)
{
	const struct advise_plan *p = &a->plans[strategy];
	AUTO_FREE char *command = command_of(strategy, id);

	jw_object(w);
	jw_put_cstr(w, "name", advise_strategy_name(strategy));
	jw_put_cstr(w, "command", command);
	view_put_figure(w, "saved", &p->saved);
	jw_put_i64(w, "left_tokens", p->left);
	jw_put_i64(w, "cost_tokens", p->cost);
	jw_put_i64(w, "cached_tokens", p->cached);
	jw_put_bool(w, "below", p->below);
	jw_end(w);
}

void view_json_advice(struct jw *w, const struct advise_subject *s, const struct advice *a)
{
	AUTO_STR reason = STR_INIT;
	AUTO_FREE char *command = command_of(a->advised, s->id);

	jw_object(w);
	jw_put_cstr(w, "session_id", s->id);
	jw_put_cstr(w, "path", s->path);
	jw_put_cstr(w, "agent", s->agent);
	view_put_text(w, "model", a->model);
	jw_put_bool(w, "empty", a->empty);
	jw_put_bool(w, "compacted", a->compacted);
	jw_put_bool(w, "base_elsewhere", a->base);
	jw_put_i64(w, "records", (int64_t)a->records);
	jw_put_i64(w, "live_records", (int64_t)a->live);
	view_put_damage(w, s->damage);
	view_put_figure(w, "context", &a->context);
	view_put_figure(w, "window", &a->window);
	jw_put_i64(w, "percent", a->percent);
	jw_put_double(w, "bytes_per_token", a->ratio.bytes);
	jw_put_cstr(w, "parts_sure", sure_name(a->ratio.sure));
	jw_put_bool(w, "parts_scaled", a->scaled);
	jw_key(w, "kinds");
	jw_object(w);
	for (size_t i = 0; i < ADVISE_KIND_COUNT; i++)
		json_part(w, advise_kind_name((enum advise_kind)i), &a->kinds[i]);
	jw_end(w);
	jw_key(w, "tools");
	jw_array(w);
	vec_each (&a->tools, tool) {
		jw_object(w);
		jw_put_cstr(w, "name", tool->name);
		json_part(w, "calls", &tool->calls);
		json_part(w, "results", &tool->results);
		jw_end(w);
	}
	jw_end(w);
	jw_key(w, "top");
	jw_array(w);
	for (const struct advise_item *top = a->top; top < a->top + ADVISE_TOP && top->line > 0;
		top++) {
		jw_object(w);
		jw_put_i64(w, "line", (int64_t)top->line);
		jw_put_cstr(w, "kind", advise_kind_name(top->kind));
		jw_put_cstr(w, "tool", top->tool);
		jw_put_i64(w, "size_bytes", (int64_t)top->bytes);
		jw_put_i64(w, "tokens", top->tokens.tokens);
		jw_put_cstr(w, "sure", sure_name(top->tokens.sure));
		jw_end(w);
	}
	jw_end(w);
	jw_key(w, "cache");
	jw_object(w);
	jw_put_cstr(w, "state", advise_cache_name(a->cache));
	view_put_time(w, "called_at", a->called_ms);
	jw_put_i64(w, "age_ms", a->age_ms);
	view_put_count(w, "lifetime_ms", a->cache_life_ms, a->cache_told);
	jw_put_i64(w, "recached_tokens", a->recached);
	jw_end(w);
	jw_key(w, "strategies");
	jw_array(w);
	for (size_t i = 0; i < ADVISE_STRATEGY_COUNT; i++)
		json_strategy(w, s->id, a, (enum advise_strategy)i);
	jw_end(w);
	add_reason(a, &reason);
	jw_key(w, "advice");
	jw_object(w);
	jw_put_cstr(w, "strategy", advise_strategy_name(a->advised));
	jw_put_cstr(w, "reason", reason.buf);
	jw_put_cstr(w, "command", command);
	jw_end(w);
	jw_end(w);
}
