#include "route/seed.h"

#include <math.h>
#include <stdio.h>

static const int64_t strong_recency_ms = 180000;
static const double half_life_s = 600.0;
static const double boost = 0.85;

/* What of the command is the same for every candidate. */
struct seed_command {
	struct map words;
	bool continuation;
	int64_t now_ms;
};

static double jaccard(const struct map *a, const struct map *b)
{
	if (a->n == 0 || b->n == 0)
		return 0.0;
	size_t both = 0, at = 0;
	struct sv word;
	uint64_t unused;
	while (map_next(a, &at, &word, &unused))
		both += map_get(b, word, &unused);
	return (double)both / (double)(a->n + b->n - both);
}

static void add_reason(struct str *reasons, const char *text)
{
	if (reasons->len > 0)
		str_adds(reasons, "; ");
	str_adds(reasons, text);
}

static void add_figure(struct str *reasons, const char *name, double value)
{
	if (reasons->len > 0)
		str_adds(reasons, "; ");
	str_addf(reasons, "%s=%.2f", name, value);
}

static void set_reason(char out[static ROUTE_REASON_MAX], const char *text)
{
	(void)snprintf(out, ROUTE_REASON_MAX, "%s", text);
}

static void score(const struct route_opts *opts, const struct seed_command *cmd,
	const struct route_conv *conv, struct route_candidate *c)
{
	AUTO_STR reasons = STR_INIT;
	AUTO_MAP topic = MAP_INIT;
	for (size_t i = 0; i < conv->n_commands; i++)
		seed_keywords(&topic, conv->commands[i]);
	c->keyword = jaccard(&cmd->words, &topic);
	if (c->keyword > 0)
		add_figure(&reasons, "keyword overlap", c->keyword);

	int64_t age_ms = cmd->now_ms - conv->last_ms;
	bool recent = age_ms <= strong_recency_ms;
	if (recent) {
		c->recency = 1.0;
		add_reason(&reasons, "very recent");
	} else {
		double beyond_s = (double)age_ms / 1000.0 - (double)strong_recency_ms / 1000.0;
		c->recency = pow(0.5, beyond_s / half_life_s);
		add_figure(&reasons, "recency", c->recency);
	}
	c->continuation = cmd->continuation ? 1.0 : 0.0;
	if (cmd->continuation)
		add_reason(&reasons, "continuation signal");

	/* In this order and in double: the threshold is met or missed by the last bit. */
	c->score = c->keyword * opts->weights.keyword + c->recency * opts->weights.recency +
		c->continuation * opts->weights.continuation;
	if (cmd->continuation && recent) {
		c->score = c->score > boost ? c->score : boost;
		add_reason(&reasons, "strong continuation match");
	}
	set_reason(c->reason, reasons.buf);
}

static bool routable(const struct route_opts *opts, const struct route_conv *conv, int64_t now_ms)
{
	return conv->status == ROUTE_IDLE && conv->last_ms > now_ms - opts->expiry_ms;
}

/* The shortest spelling that reads back as the same number, as the threshold is shown. */
static void format_shortest(char *out, size_t size, double value)
{
	for (int digits = 1; digits <= 17; digits++) {
		(void)snprintf(out, size, "%.*g", digits, value);
		if (strtod(out, NULL) >= value && strtod(out, NULL) <= value)
			return;
	}
}

static void conclude(const struct route_opts *opts, const struct route_candidate *best,
	struct route_decision *ret)
{
	if (best->index == ROUTE_NONE) {
		ret->confidence = 1.0;
		set_reason(ret->reason, "No active conversations to resume");
	} else if (best->score >= opts->threshold) {
		ret->action = ROUTE_RESUME;
		ret->index = best->index;
		ret->confidence = best->score;
		set_reason(ret->reason, best->reason);
	} else {
		char threshold[32];
		format_shortest(threshold, sizeof(threshold), opts->threshold);
		ret->confidence = 1.0 - best->score;
		(void)snprintf(ret->reason, sizeof(ret->reason),
			"Best match score %.2f below threshold %s", best->score, threshold);
	}
}

void seed_decide(const struct route_opts *opts, const struct route_query *query,
	const struct route_conv *convs, size_t n, struct route_candidate *candidates,
	struct route_decision *ret)
{
	struct seed_command cmd = { .words = MAP_INIT, .now_ms = query->now_ms };
	seed_keywords(&cmd.words, query->text);
	cmd.continuation = seed_continuation(query->text);

	*ret = (struct route_decision){ .index = ROUTE_NONE, .blocked = ROUTE_NONE };
	struct route_candidate best = { .index = ROUTE_NONE };
	for (size_t i = 0; i < n; i++) {
		struct route_candidate c = { .index = i,
			.routable = routable(opts, &convs[i], query->now_ms) };
		if (c.routable)
			score(opts, &cmd, &convs[i], &c);
		if (c.routable && (best.index == ROUTE_NONE || c.score > best.score))
			best = c;
		if (candidates)
			candidates[i] = c;
	}
	conclude(opts, &best, ret);
	map_release(&cmd.words);
}
