#include "agent/claude-usage.h"

#include "agent/value.h"

static int64_t count_of(struct jval obj, const char *key)
{
	int64_t n;

	/* Sums of what is added up from one line must not overflow. */
	return scan_i64(value_member(obj, key), &n) && n > 0 && n < INT64_MAX / 1024 ? n : 0;
}

static double cost_of(struct jval obj, const char *key)
{
	double cost;

	return scan_double(value_member(obj, key), &cost) && cost > 0 ? cost : 0;
}

/* Sums an object of models. False when it is none. */
static bool sum_models(struct jval models, struct agent_usage *sum)
{
	struct scan_iter it = scan_iter(models);
	struct jval model;

	enum { MODELS_MAX = 64 };

	*sum = (struct agent_usage){ 0 };
	if (models.type != J_OBJECT)
		return false;
	for (int i = 0; i < MODELS_MAX && scan_next(&it, NULL, &model) > 0; i++) {
		sum->input += count_of(model, "inputTokens");
		sum->cache_read += count_of(model, "cacheReadInputTokens");
		sum->cache_write += count_of(model, "cacheCreationInputTokens");
		sum->output += count_of(model, "outputTokens");
		sum->cost_usd += cost_of(model, "costUSD");
	}
	return true;
}

/* A count that went down was begun anew. */
static int64_t since(int64_t now, int64_t before)
{
	return now >= before ? now - before : now;
}

static struct agent_usage difference(
	const struct agent_usage *now, const struct agent_usage *before)
{
	return (struct agent_usage){
		.input = since(now->input, before->input),
		.cache_read = since(now->cache_read, before->cache_read),
		.cache_write = since(now->cache_write, before->cache_write),
		.output = since(now->output, before->output),
		.cost_usd = now->cost_usd >= before->cost_usd ? now->cost_usd - before->cost_usd
							      : now->cost_usd,
	};
}

/* No count by model: the result's own sums, which are of the turn, and the cost, which is not. */
static struct agent_usage plain_usage(struct jval result, const struct agent_usage *before)
{
	struct agent_usage none = AGENT_USAGE_NONE;
	struct jval usage = value_member(result, "usage");

	if (usage.type != J_OBJECT)
		return none;
	struct agent_usage now = { .cost_usd = cost_of(result, "total_cost_usd") };
	return (struct agent_usage){
		.input = count_of(usage, "input_tokens"),
		.cache_read = count_of(usage, "cache_read_input_tokens"),
		.cache_write = count_of(usage, "cache_creation_input_tokens"),
		.output = count_of(usage, "output_tokens"),
		.cost_usd = difference(&now, before).cost_usd,
	};
}

struct agent_usage claude_usage(struct jval result, struct agent_usage *total)
{
	struct agent_usage now, turn;
	bool counted = sum_models(value_member(result, "modelUsage"), &now);

	if (!sum_models(value_member(result, "model_usage_since_last_result"), &turn))
		turn = counted ? difference(&now, total) : plain_usage(result, total);
	if (counted)
		*total = now;
	return turn;
}
