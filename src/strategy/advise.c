/*
 * What fills a context: texts are gathered line by line, those that a resume would send are summed
 * up, and from the sums comes what they mean: window, fill, cache, strategies, advice.
 */
#include "strategy/advise.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "strategy/cut.h"
#include "strategy/known.h"
#include "strategy/rewrite.h"
#include "strategy/smart.h"

enum { SAVING_500, SAVING_1000, SAVINGS };

enum advise_what {
	FACT_PIECE, /* a text */
	FACT_CALL, /* the model answered, or is to */
	FACT_BREAK,
};

/* One thing of a line, in the order of the file. Slices point into the chunk. */
struct advise_fact {
	enum advise_what what;
	enum advise_kind kind;
	uint32_t record, line; /* within the chunk, from 0 */
	uint32_t images;
	uint64_t bytes;
	uint64_t saved[SAVINGS]; /* by a placeholder without the tool's name */
	struct sv id, name; /* of the tool's call; a result has no name */
	size_t call; /* index of calls */
	int64_t left; /* by a break; 0: not told */
};
struct advise_call {
	bool called;
	struct sv model, message, time;
	struct usage usage;
	int64_t window, cache_life_ms; /* 0: not told */
};

struct advise_chunk {
	VEC(struct advise_fact) facts;
	VEC(struct advise_call) calls;
	uint32_t records, lines;
	struct str text; /* for use and use again */
};

/* A text, kept until the live chain is known: as small as can be, there are millions. */
struct advise_piece {
	uint32_t record, line;
	uint32_t bytes;
	uint32_t saved[SAVINGS];
	uint32_t tokens; /* by difference; 0: not known */
	uint16_t tool; /* index + 1; 0 none */
	uint8_t kind;
	uint8_t images;
};

/* What came since the last call beside its answer. */
struct advise_gap {
	size_t texts;
	size_t piece; /* the last of them */
	bool odd; /* something whose share in the next context is not known */
};

struct advise_run {
	const struct advise_opts *opts;
	struct advice *advice;
	struct tokens tokens;
	struct known told;
	struct idmap calls; /* id of a call → index of its tool */
	struct map known; /* name → index */
	VEC(struct advise_piece) pieces;
	struct advise_gap gap, next_gap; /* the latter behind an answer whose usage is to come */
	uint32_t records, lines;
	int64_t window; /* as told; 0: not */
};

struct advise_sums {
	uint64_t saved[SAVINGS]; /* bytes on the live chain */
	uint64_t sent; /* of all texts there */
	uint64_t smart; /* of those that smart-trim may choose from */
};

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
	vec_release(&c->calls);
	str_release(&c->text);
	free(c);
}

/* ---- what a trim would save ---- */

enum { THRESHOLD_SMALL = 500, THRESHOLD_LARGE = 1000 };

struct measuring {
	struct advise_chunk *chunk;
	struct advise_fact *fact;
};

static void add_saving(void *data, const struct cut *cut)
{
	const struct measuring *m = data;
	struct advise_fact *f = m->fact;
	struct str *text = &m->chunk->text;
	struct placeholder p = {
		.kind = f->kind == ADVISE_RESULTS ? PLACEHOLDER_RESULT : PLACEHOLDER_INPUT,
		.length = cut->chars,
	};

	if (cut->what == CUT_PICTURE)
		return;
	str_clear(text);
	placeholder_text(&p, text);
	size_t instead = text->len + 2;
	if (instead >= cut->span.n)
		return;
	f->saved[SAVING_500] += cut->span.n - instead;
	if (cut->chars >= THRESHOLD_LARGE)
		f->saved[SAVING_1000] += cut->span.n - instead;
}

/* ---- taking lines apart ---- */

static struct advise_fact *push(struct advise_chunk *c, enum advise_what what)
{
	vec_push(&c->facts,
		(struct advise_fact){ .what = what, .record = c->records, .line = c->lines });
	return &c->facts.v[c->facts.n - 1];
}

static int on_read(void *data, void *chunk, struct rewrite_line *line, struct err *reterr UNUSED)
{
	static const enum advise_kind kinds[] = {
		[PIECE_PROMPT] = ADVISE_PROMPTS,
		[PIECE_NOTICE] = ADVISE_NOTICES,
		[PIECE_SUMMARY] = ADVISE_SUMMARY,
		[PIECE_ANSWER] = ADVISE_ANSWERS,
		[PIECE_THINKING] = ADVISE_THINKING,
		[PIECE_CALL] = ADVISE_CALLS,
		[PIECE_RESULT] = ADVISE_RESULTS,
		[PIECE_PICTURE] = ADVISE_IMAGES,
	};
	const struct advise_run *run = data;
	const char *text_type = line_text_type(run->opts->format);
	const struct line_look *look = line->look;
	struct advise_chunk *c = chunk;

	if (look && look->breaks)
		push(c, FACT_BREAK)->left = look->left;
	if (look && (look->called || look->model.n > 0)) {
		push(c, FACT_CALL)->call = c->calls.n;
		vec_push(&c->calls,
			(struct advise_call){ look->called, look->model, look->message, look->time,
				look->usage, look->window, look->cache_life_ms });
	}
	for (size_t i = 0; look && i < look->pieces.n; i++) {
		const struct line_piece *piece = &look->pieces.v[i];
		if (!piece->counts)
			continue;
		struct advise_fact *f = push(c, FACT_PIECE);
		f->kind = kinds[piece->kind];
		f->bytes = piece->bytes;
		f->images = piece->images;
		f->id = piece->id;
		f->name = piece->name;
		if (piece->kind == PIECE_CALL || piece->kind == PIECE_RESULT)
			cut_each(piece, text_type, THRESHOLD_SMALL, add_saving,
				&(struct measuring){ c, f });
	}
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

static void feed_piece(struct advise_run *run, const struct advise_fact *f)
{
	enum token_text what = TOKEN_REST;

	for (uint32_t i = 0; i < f->images; i++)
		tokens_odd(&run->tokens);
	if (f->kind == ADVISE_THINKING || f->kind == ADVISE_IMAGES)
		return;
	if (f->kind == ADVISE_ANSWERS || f->kind == ADVISE_CALLS)
		what = line_usage_follows(run->opts->format) ? TOKEN_ANSWER_EARLY : TOKEN_ANSWER;
	/* What came behind an answer whose usage never came counts for the next one. */
	if (what == TOKEN_ANSWER_EARLY && run->tokens.next_tail > 0) {
		run->gap.texts += run->next_gap.texts;
		run->gap.piece = run->next_gap.piece;
		run->gap.odd |= run->next_gap.odd;
		run->next_gap = (struct advise_gap){ .texts = 0 };
	}
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
	if (f->kind == ADVISE_CALLS && f->id.n > 0)
		idmap_put(&run->calls, f->id, (uint32_t)tool_index(run, f->name));
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

static void feed_call(struct advise_run *run, const struct advise_call *f)
{
	struct tokens *t = &run->tokens;
	int64_t context = t->context, known = t->context + t->output;
	uint64_t message = t->last_message;
	size_t model = t->current;
	bool odd = t->odd;

	tokens_call(t, f->model, f->message, &f->usage);
	if (t->context == context && t->last_message == message)
		return; /* the same call once more */
	run->gap.odd |= context == 0 || odd || t->current != model;
	close_gap(run, t->context - known);
}

static void take_call(struct advise_run *run, const struct advise_call *f)
{
	int64_t ms;

	if (f->model.n > 0 && !sv_is(f->model, tokens_model(&run->tokens)))
		tokens_set_model(&run->tokens, f->model);
	if (f->window > 0)
		run->window = f->window;
	if (!f->called || usage_context(&f->usage) <= 0)
		return;
	feed_call(run, f);
	if (f->cache_life_ms > 0)
		run->advice->cache_life_ms = f->cache_life_ms;
	if (clock_parse_iso(f->time, &ms))
		run->advice->called_ms = ms;
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
		case FACT_CALL:
			take_call(run, &c->calls.v[f->call]);
			break;
		case FACT_BREAK:
			tokens_compacted(&run->tokens, f->left);
			run->gap = run->next_gap = (struct advise_gap){ .texts = 0 };
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
		bool may_go = (p->kind == ADVISE_RESULTS || p->kind == ADVISE_ANSWERS) &&
			p->bytes >= usual.min_chars;
		if (recent++ >= usual.keep_recent && may_go)
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

enum {
	WINDOW_USUAL = 200000,
	WINDOW_LARGE = 1000000,
	BRIEF_TOKENS = 3000, /* of a rollover: lineage and the facts it extracts */
	SUMMARY_TOKENS = 5000, /* of an agent's own compaction, when none was made before */
	DIGEST_ENTRY_BYTES = 560, /* of a text in the digest of smart-trim, at most */
	SMART_SHARE = 2, /* of the texts that may go, one in so many does, as a rule */
	TRIM_SHARE_PERCENT = 25, /* of the context in long results: they are what fills it */
};

/* ---- how full ---- */

/* The user's word, the session's, else by name; a context that does not fit proves the name wrong.
 */
static struct figure window_of(const struct advise_run *run)
{
	const struct advice *a = run->advice;

	if (run->opts->window > 0)
		return (struct figure){ run->opts->window, SURE_EXACT };
	int64_t told = run->window > 0 ? run->window : run->told.window;
	if (told > 0)
		return (struct figure){ told, SURE_EXACT };
	int64_t window = tokens_window(sv_of(a->model));
	if (window == 0)
		window = WINDOW_USUAL;
	if (run->tokens.most > window)
		window = WINDOW_LARGE;
	return (struct figure){ window, SURE_ASSUMED };
}

static void count_part(const struct advice *a, struct advise_part *part)
{
	part->tokens = tokens_of(&a->ratio, part->bytes).tokens;
}

/* All but the thoughts, which the agents may or may not send again. */
static int64_t count_kinds(struct advice *a)
{
	int64_t sum = 0;

	for (size_t i = 0; i < ADVISE_BASE; i++) {
		count_part(a, &a->kinds[i]);
		if (i == ADVISE_IMAGES)
			a->kinds[i].tokens = a->kinds[i].n * TOKENS_IMAGE;
		if (i != ADVISE_THINKING)
			sum += a->kinds[i].tokens;
	}
	return sum;
}

/* Beside the texts there are images, and together they may still be too much. */
static void fit_into_context(struct advice *a, const struct tokens *t)
{
	int64_t sum = count_kinds(a), images = a->kinds[ADVISE_IMAGES].tokens;
	int64_t room = a->context.tokens - tokens_base(t) - images;

	if (tokens_have_room(t, sum) || room <= 0)
		return;
	a->scaled = !t->told && t->context > 0;
	a->ratio.bytes *= (double)(sum - images) / (double)room;
	a->ratio.sure = SURE_ASSUMED;
}

/* Thoughts take what room the rest leaves. */
static int64_t count_thoughts(struct advice *a, const struct tokens *t, int64_t sum)
{
	struct advise_part *thoughts = &a->kinds[ADVISE_THINKING];
	int64_t room = a->context.tokens - tokens_base(t) - sum;

	if (!tokens_have_room(t, sum + thoughts->tokens))
		thoughts->tokens = room > 0 ? room : 0;
	return sum + thoughts->tokens;
}

static void count_parts(struct advice *a, const struct tokens *t)
{
	fit_into_context(a, t);
	int64_t sum = count_thoughts(a, t, count_kinds(a));
	if (a->context.tokens > sum && t->context > 0)
		a->kinds[ADVISE_BASE] = (struct advise_part){ 1, 0, a->context.tokens - sum };
	vec_each (&a->tools, tool) {
		count_part(a, &tool->calls);
		count_part(a, &tool->results);
	}
	/* What a text took when it came may since have been left out. */
	for (size_t i = 0; i < ADVISE_TOP; i++)
		if (a->top[i].tokens.tokens == 0 || a->scaled)
			a->top[i].tokens = tokens_of(&a->ratio, a->top[i].bytes);
}

static int percent_of(int64_t tokens, int64_t window)
{
	double share = (double)tokens * 100 / (double)window;

	return share < 100000 ? (int)(share + 0.5) : 100000;
}

/* ---- the cache ---- */

static void judge_cache(const struct advise_run *run)
{
	struct advice *a = run->advice;

	a->cache_told = a->cache_life_ms > 0;
	if (a->called_ms == 0)
		return;
	int64_t now = clock_wall_ms(run->opts->clock);
	a->age_ms = now > a->called_ms ? now - a->called_ms : 0;
	if (a->age_ms < ADVISE_CACHE_SHORT_MS || (a->cache_told && a->age_ms < a->cache_life_ms))
		a->cache = ADVISE_CACHE_WARM;
	else if (!a->cache_told && a->age_ms < ADVISE_CACHE_LONG_MS)
		a->cache = ADVISE_CACHE_MAYBE;
	else
		a->cache = ADVISE_CACHE_COLD;
	a->recached = a->cache == ADVISE_CACHE_WARM ? 0 : a->context.tokens;
}

/* ---- strategies ---- */

static bool is_full(const struct advice *a, int64_t tokens)
{
	return percent_of(tokens, a->window.tokens) >= ADVISE_FULL_PERCENT;
}

static void plan(struct advice *a, enum advise_strategy strategy, struct figure saved, int64_t cost)
{
	int64_t most = a->context.tokens;

	if (saved.tokens > most)
		saved.tokens = most;
	if (saved.tokens < 0)
		saved.tokens = 0;
	int64_t left = most - saved.tokens;
	a->plans[strategy] = (struct advise_plan){ .saved = saved,
		.left = left,
		.cost = cost,
		.cached = left,
		.below = !is_full(a, left) };
}

static struct figure assumed(int64_t tokens)
{
	return (struct figure){ tokens, SURE_ASSUMED };
}

static void plan_smart(struct advice *a, const struct advise_sums *sums, const struct tokens *t)
{
	const struct token_ratio plain = tokens_ratio(t);
	const struct advise_part *results = &a->kinds[ADVISE_RESULTS];
	const struct advise_part *answers = &a->kinds[ADVISE_ANSWERS];
	int64_t texts = results->n + answers->n + a->kinds[ADVISE_PROMPTS].n;
	int64_t digest = texts * DIGEST_ENTRY_BYTES;
	uint64_t all = results->bytes + answers->bytes + a->kinds[ADVISE_PROMPTS].bytes;

	if (digest > SMART_DIGEST_MAX)
		digest = SMART_DIGEST_MAX;
	if ((uint64_t)digest > all)
		digest = (int64_t)all;
	struct figure most = tokens_saved(t, sums->smart, sums->sent, 0);
	plan(a, ADVISE_SMART_TRIM, assumed(most.tokens / SMART_SHARE),
		tokens_of(&plain, (uint64_t)digest).tokens);
}

/* What goes when all is replaced by a text of that many tokens. */
static int64_t all_but(const struct advice *a, int64_t kept)
{
	return a->context.tokens - a->kinds[ADVISE_BASE].tokens - kept;
}

static void plan_all(struct advice *a, const struct advise_sums *sums, const struct tokens *t)
{
	const struct advise_part *before = &a->kinds[ADVISE_SUMMARY];
	int64_t summary = before->n > 0 ? before->tokens : SUMMARY_TOKENS;

	plan(a, ADVISE_TRIM_500, tokens_saved(t, sums->saved[SAVING_500], sums->sent, 0), 0);
	plan(a, ADVISE_TRIM_1000, tokens_saved(t, sums->saved[SAVING_1000], sums->sent, 0), 0);
	plan_smart(a, sums, t);
	plan(a, ADVISE_ROLLOVER, assumed(all_but(a, BRIEF_TOKENS)), 0);
	plan(a, ADVISE_COMPACT, assumed(all_but(a, summary)), a->context.tokens);
}

/* ---- the advice ---- */

/* Long results are much of the context, and without them it is no longer full. */
static bool trim_helps(const struct advice *a, enum advise_strategy trim)
{
	const struct advise_plan *p = &a->plans[trim];

	return p->below && percent_of(p->saved.tokens, a->context.tokens) >= TRIM_SHARE_PERCENT;
}

static enum advise_strategy decide(const struct advice *a)
{
	if (!is_full(a, a->context.tokens))
		return ADVISE_NOTHING;
	if (a->restart)
		return ADVISE_ROLLOVER;
	if (trim_helps(a, ADVISE_TRIM_1000))
		return ADVISE_TRIM_1000;
	if (trim_helps(a, ADVISE_TRIM_500))
		return ADVISE_TRIM_500;
	return a->plans[ADVISE_SMART_TRIM].below ? ADVISE_SMART_TRIM : ADVISE_ROLLOVER;
}

static void judge(const struct advise_run *run, const struct advise_sums *sums)
{
	struct advice *a = run->advice;
	const char *model = tokens_model(&run->tokens);

	memcpy(a->model, model, strlen(model) + 1);
	a->ratio = tokens_sent_ratio(&run->tokens, sums->sent);
	a->scaled = a->ratio.bytes != tokens_ratio(&run->tokens).bytes && !run->tokens.told;
	if (!a->empty)
		a->context = tokens_context(&run->tokens);
	else
		a->context.sure = SURE_ASSUMED;
	a->most = run->tokens.most;
	a->window = window_of(run);
	a->percent = percent_of(a->context.tokens, a->window.tokens);
	count_parts(a, &run->tokens);
	judge_cache(run);
	plan_all(a, sums, &run->tokens);
	a->restart = run->opts->restart;
	a->advised = decide(a);
}

/* ---- the whole ---- */

static int on_done(void *data, const struct transcript_live *live, struct err *reterr UNUSED)
{
	struct advise_run *run = data;
	struct advice *a = run->advice;
	struct advise_sums sums = { .saved = { 0 } };

	known_tell(&run->told, &run->tokens, UINT64_MAX);
	vec_each (&run->pieces, p)
		if (transcript_is_live(live, p->record))
			add_piece(a, &sums, p);
	tokens_sent(&run->tokens, sums.sent);
	sums.smart = sum_smart(run, live);
	sort_tools(a);
	a->records = live->records;
	a->live = live->live;
	a->compacted = live->compacted;
	a->empty = live->live == 0;
	a->base = live->base_id && live->base_id[0];
	judge(run, &sums);
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
	advice.passed = file.passed;
	if (r < 0)
		advice_release(&advice);
	else
		*ret = advice;
	return r;
}
