/*
 * From what was gathered to what it means: window, fill, cache, strategies, advice.
 */
#include <string.h>

#include "strategy/advise-run.h"
#include "strategy/smart.h"

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
	a->scaled = !t->told;
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

void advise_judge(const struct advise_run *run, const struct advise_sums *sums)
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
