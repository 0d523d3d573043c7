#include "strategy/advise.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "strategy/advise-run.h"
#include "strategy/smart.h"

enum { TOOL_NAME_MAX = 80 };

const char *advise_kind_name(enum advise_kind kind)
{
	static const char *const names[] = {
#define X(id, name, title) [id] = (name),
		ADVISE_KINDS(X)
#undef X
	};
	return names[kind];
}

const char *advise_kind_title(enum advise_kind kind)
{
	static const char *const titles[] = {
#define X(id, name, title) [id] = (title),
		ADVISE_KINDS(X)
#undef X
	};
	return titles[kind];
}

const char *advise_strategy_name(enum advise_strategy strategy)
{
	static const char *const names[] = {
#define X(id, name) [id] = (name),
		ADVISE_STRATEGIES(X)
#undef X
			[ADVISE_NOTHING] = "nothing",
	};
	return names[strategy];
}

const char *advise_cache_name(enum advise_cache cache)
{
	static const char *const names[] = {
		[ADVISE_CACHE_NONE] = "none",
		[ADVISE_CACHE_WARM] = "warm",
		[ADVISE_CACHE_MAYBE] = "maybe",
		[ADVISE_CACHE_COLD] = "cold",
	};
	return names[cache];
}

void advice_release(struct advice *a)
{
	vec_each (&a->tools, tool)
		free(tool->name);
	vec_release(&a->tools);
}

/* ---- a chunk's life ---- */

static void *chunk_new(void *data UNUSED)
{
	struct advise_chunk *c = xcalloc(1, sizeof(*c));

	c->text = (struct str)STR_INIT;
	return c;
}

static void chunk_free(void *data UNUSED, void *chunk)
{
	struct advise_chunk *c = chunk;

	vec_release(&c->facts);
	str_release(&c->text);
	free(c);
}

static int on_read(void *data, void *chunk, struct rewrite_line *line, struct err *reterr UNUSED)
{
	const struct advise_run *run = data;
	struct advise_chunk *c = chunk;

	if (line->object && run->opts->format == TRANSCRIPT_CODEX)
		advise_codex(c, line);
	else if (line->object)
		advise_claude(c, line);
	c->records += (uint32_t)line->records;
	c->lines++;
	return 0;
}

/* ---- folding ---- */

/* Index of the tool by its name. */
static uint64_t tool_index(struct advise_run *run, struct sv name)
{
	struct advice *a = run->advice;
	uint64_t index;
	struct sv cut = sv_head(name, TOOL_NAME_MAX);

	if (map_get(&run->known, cut, &index))
		return index;
	if (a->tools.n < ADVISE_TOOLS_MAX)
		vec_push(&a->tools, (struct advise_tool){ .name = xmemdup0(cut.p, cut.n) });
	(void)map_put(&run->known, cut, a->tools.n - 1);
	return a->tools.n - 1;
}

static uint32_t small(uint64_t n)
{
	return n < UINT32_MAX ? (uint32_t)n : UINT32_MAX;
}

/* What came behind an answer whose usage never came counts for the next one. */
static void join_gaps(struct advise_run *run)
{
	run->gap.texts += run->next_gap.texts;
	run->gap.piece = run->next_gap.piece;
	run->gap.odd |= run->next_gap.odd;
	run->next_gap = (struct advise_gap){ .texts = 0 };
}

static void feed_piece(struct advise_run *run, const struct advise_fact *f)
{
	bool codex = run->opts->format == TRANSCRIPT_CODEX;
	enum token_text what = TOKEN_REST;

	for (uint32_t i = 0; i < f->images; i++)
		tokens_odd(&run->tokens);
	if (f->kind == ADVISE_THINKING)
		return;
	if (f->kind == ADVISE_ANSWERS || f->kind == ADVISE_CALLS)
		what = codex ? TOKEN_ANSWER_EARLY : TOKEN_ANSWER;
	if (what == TOKEN_ANSWER_EARLY && run->tokens.next_tail > 0)
		join_gaps(run);
	tokens_text(&run->tokens, what, f->bytes);
}

/* Thoughts may or may not be sent again, pictures do not go by bytes. */
static void widen_gap(struct advise_run *run, const struct advise_fact *f)
{
	struct advise_gap *gap = run->tokens.next_answer > 0 ? &run->next_gap : &run->gap;

	gap->odd = gap->odd || f->kind == ADVISE_THINKING || f->images > 0;
	if (f->kind == ADVISE_ANSWERS || f->kind == ADVISE_CALLS)
		return;
	gap->texts++;
	gap->piece = run->pieces.n - 1;
}

static void take_piece(struct advise_run *run, const struct advise_fact *f)
{
	struct advise_piece p = {
		.record = run->records + f->record,
		.line = run->lines + f->line + 1,
		.bytes = small(f->bytes),
		.kind = (uint8_t)f->kind,
		.images = (uint8_t)(f->images < UINT8_MAX ? f->images : UINT8_MAX),
	};
	uint32_t index;
	uint64_t name = 0;

	feed_piece(run, f);
	if (f->kind == ADVISE_CALLS || f->kind == ADVISE_RESULTS) {
		if (!idmap_get(&run->calls, f->id, &index))
			index = (uint32_t)tool_index(run, SV("Unknown"));
		p.tool = (uint16_t)(index + 1);
		name = strlen(run->advice->tools.v[index].name);
	}
	for (size_t i = 0; i < SAVINGS; i++)
		p.saved[i] = small(f->saved[i] > name ? f->saved[i] - name : 0);
	vec_push(&run->pieces, p);
	widen_gap(run, f);
}

/* A next call took in `step` more than the last one and its answer. */
static void close_gap(struct advise_run *run, int64_t step)
{
	struct advise_gap gap = run->gap;

	run->gap = run->next_gap;
	run->next_gap = (struct advise_gap){ .texts = 0 };
	if (gap.texts != 1 || gap.odd)
		return;
	struct advise_piece *p = &run->pieces.v[gap.piece];
	if (tokens_plausible(p->bytes, step))
		p->tokens = small((uint64_t)step);
}

static void feed_call(struct advise_run *run, const struct advise_fact *f)
{
	struct tokens *t = &run->tokens;
	int64_t context = t->context, known = t->context + t->output;
	uint64_t message = t->last_message;
	size_t model = t->current;
	bool odd = t->odd;

	tokens_call(t, f->name, f->id, &f->usage);
	if (t->context == context && t->last_message == message)
		return; /* the same call once more */
	run->gap.odd |= context == 0 || odd || t->current != model;
	close_gap(run, t->context - known);
}

static void take_call(struct advise_run *run, const struct advise_fact *f)
{
	int64_t ms;

	if (f->window > 0)
		run->window = f->window;
	if (usage_context(&f->usage) <= 0)
		return;
	feed_call(run, f);
	if (f->cache_life_ms > 0)
		run->advice->cache_life_ms = f->cache_life_ms;
	if (clock_parse_iso(f->time, &ms))
		run->advice->called_ms = ms;
}

static void take_model(struct advise_run *run, struct sv model)
{
	if (model.n > 0 && !sv_is(model, tokens_model(&run->tokens)))
		tokens_set_model(&run->tokens, model);
}

static void take_break(struct advise_run *run)
{
	tokens_break(&run->tokens);
	/* Codex keeps nothing of before; Claude Code may. */
	if (run->opts->format == TRANSCRIPT_CODEX)
		run->pieces.n = 0;
	run->gap = run->next_gap = (struct advise_gap){ .texts = 0 };
}

static int on_fold(void *data, void *chunk, struct err *reterr UNUSED)
{
	struct advise_run *run = data;
	const struct advise_chunk *c = chunk;

	vec_each (&c->facts, f) {
		known_tell(&run->told, &run->tokens, (uint64_t)run->lines + f->line);
		switch (f->what) {
		case FACT_PIECE:
			take_piece(run, f);
			break;
		case FACT_USE:
			if (f->id.n > 0)
				idmap_put(&run->calls, f->id, (uint32_t)tool_index(run, f->name));
			break;
		case FACT_CALL:
			take_model(run, f->name);
			take_call(run, f);
			break;
		case FACT_MODEL:
			take_model(run, f->name);
			break;
		case FACT_BREAK:
			take_break(run);
			break;
		}
	}
	run->records += c->records;
	run->lines += c->lines;
	return 0;
}

/* ---- the sum ---- */

static void add_part(struct advise_part *to, const struct advise_piece *p)
{
	to->n++;
	to->bytes += p->bytes;
}

static void keep_top(struct advice *a, const struct advise_piece *p)
{
	size_t at = ADVISE_TOP;

	while (at > 0 && (a->top[at - 1].line == 0 || a->top[at - 1].bytes < p->bytes))
		at--;
	if (at == ADVISE_TOP || p->bytes == 0)
		return;
	memmove(&a->top[at + 1], &a->top[at], (ADVISE_TOP - at - 1) * sizeof(a->top[0]));
	a->top[at] = (struct advise_item){
		.line = p->line,
		.kind = (enum advise_kind)p->kind,
		.tool = p->tool ? a->tools.v[p->tool - 1].name : NULL,
		.bytes = p->bytes,
		.tokens = { p->tokens, SURE_DIFFERENCED },
	};
}

static void add_piece(struct advice *a, struct advise_sums *sums, const struct advise_piece *p)
{
	if (p->kind != ADVISE_IMAGES)
		add_part(&a->kinds[p->kind], p);
	if (p->kind == ADVISE_CALLS)
		add_part(&a->tools.v[p->tool - 1].calls, p);
	else if (p->kind == ADVISE_RESULTS)
		add_part(&a->tools.v[p->tool - 1].results, p);
	a->kinds[ADVISE_IMAGES].n += p->images;
	for (size_t i = 0; i < SAVINGS; i++)
		sums->saved[i] += p->saved[i];
	/* Whether thoughts are sent again is not known, and nothing takes them out. */
	if (p->kind == ADVISE_THINKING)
		return;
	sums->sent += p->bytes;
	keep_top(a, p);
}

/* Whether smart-trim would let its agent choose this text, were it not recent. */
static bool may_go(const struct advise_piece *p)
{
	const struct smart_opts usual = SMART_OPTS_INIT;

	return (p->kind == ADVISE_RESULTS || p->kind == ADVISE_ANSWERS) &&
		p->bytes >= usual.min_chars;
}

/* What goes by the last texts, which stay, counts from the end. */
static uint64_t sum_smart(const struct advise_run *run, const struct transcript_live *live)
{
	const struct smart_opts usual = SMART_OPTS_INIT;
	int64_t recent = 0;
	uint64_t sum = 0;

	for (size_t i = run->pieces.n; i > 0; i--) {
		const struct advise_piece *p = &run->pieces.v[i - 1];
		if (!transcript_is_live(live, p->record) || p->kind == ADVISE_THINKING)
			continue;
		if (recent++ >= usual.keep_recent && may_go(p))
			sum += p->bytes;
	}
	return sum;
}

static int by_bytes(const void *a, const void *b)
{
	const struct advise_tool *x = a, *y = b;
	uint64_t m = x->calls.bytes + x->results.bytes, n = y->calls.bytes + y->results.bytes;

	return m != n ? (m < n) - (m > n) : strcmp(x->name, y->name);
}

/* Largest first, without those that hold nothing. Names do not move. */
static void sort_tools(struct advice *a)
{
	size_t n = 0;

	vec_each (&a->tools, tool) {
		if (tool->calls.n + tool->results.n == 0)
			free(tool->name);
		else
			a->tools.v[n++] = *tool;
	}
	a->tools.n = n;
	if (n > 0)
		qsort(a->tools.v, n, sizeof(a->tools.v[0]), by_bytes);
}

static int on_done(void *data, const struct transcript_live *live, struct err *reterr UNUSED)
{
	struct advise_run *run = data;
	struct advice *a = run->advice;
	struct advise_sums sums = { .saved = { 0 } };

	known_tell(&run->told, &run->tokens, UINT64_MAX);
	vec_each (&run->pieces, p)
		if (transcript_is_live(live, p->record))
			add_piece(a, &sums, p);
	sums.smart = sum_smart(run, live);
	sort_tools(a);
	a->records = live->records;
	a->live = live->live;
	a->compacted = live->compacted;
	a->empty = live->live == 0;
	a->base = live->base_id && live->base_id[0];
	advise_judge(run, &sums);
	return 0;
}

static void run_release(struct advise_run *run)
{
	idmap_release(&run->calls);
	map_release(&run->known);
	vec_release(&run->pieces);
}

int advise_session(const struct advise_opts *opts, struct advice *ret, struct err *reterr)
{
	static const struct rewrite_ops ops = {
		.chunk_new = chunk_new,
		.chunk_free = chunk_free,
		.read = on_read,
		.fold = on_fold,
		.done = on_done,
	};
	const struct rewrite_opts how = {
		.path = opts->path,
		.format = opts->format,
		.changes = REWRITE_ALL,
		.dry = true,
		.live = true,
		.threads = opts->threads,
		.clock = opts->clock,
	};
	struct advice advice = ADVICE_INIT;
	CLEANUP(run_release)
	struct advise_run run = { .opts = opts, .advice = &advice, .tokens = TOKENS_INIT };
	struct rewrite_result file = REWRITE_RESULT_INIT;

	known_read(opts->path, &run.told);
	int r = rewrite_session(&how, &ops, &run, &file, reterr);
	rewrite_result_release(&file);
	if (r < 0)
		advice_release(&advice);
	else
		*ret = advice;
	return r;
}
