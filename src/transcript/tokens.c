#include "transcript/tokens.h"

#include <string.h>

#include "transcript/adapter.h"

enum {
	STEP_TOKENS_MIN = 20, /* smaller differences are mostly what every call adds around */
	FIT_TOKENS_MIN = 500, /* a fit from less than this is no better than what is usual */
};
static const double ratio_min = 0.8, ratio_max = 16; /* bytes a token that text can have */
static const double ratio_older = 3.7, ratio_newer = 2.8;
static const double fit_slack = 1.1; /* a fit may be off by as much before it counts */

const char *sure_name(enum sure sure)
{
	static const char *const names[] = {
		[SURE_EXACT] = "exact",
		[SURE_DIFFERENCED] = "differenced",
		[SURE_FITTED] = "fitted",
		[SURE_ASSUMED] = "assumed",
	};

	return names[sure];
}

/* ---- models by name ---- */

/* The number at the beginning of *rest, at most two digits (dates are longer); -1 when none is. */
static int small_number(struct sv *rest)
{
	size_t n = 0;
	int value = 0;

	while (n < rest->n && rest->p[n] >= '0' && rest->p[n] <= '9') {
		value = value * 10 + (rest->p[n] - '0');
		if (++n > 2)
			return -1;
	}
	*rest = sv_from(*rest, n);
	return n ? value : -1;
}

/* Version of "claude-<family>-<major>[-<minor>]…" as major * 100 + minor; -1 for other names. */
static int family_version(struct sv model, struct sv family)
{
	size_t at;

	if (!sv_find(model, family, &at))
		return -1;
	struct sv rest = sv_from(model, at + family.n);
	int major = small_number(&rest);
	if (major < 0)
		return -1;
	rest = sv_from(rest, 1);
	int minor = small_number(&rest);
	return major * 100 + (minor < 0 ? 0 : minor);
}

double tokens_assumed_ratio(struct sv model)
{
	bool newer = family_version(model, SV("opus-")) >= 407 ||
		family_version(model, SV("sonnet-")) >= 500 ||
		family_version(model, SV("haiku-")) >= 500;

	return newer ? ratio_newer : ratio_older;
}

int64_t tokens_window(struct sv model)
{
	size_t at;

	if (!sv_starts(model, SV("claude")))
		return 0;
	return sv_find(model, SV("[1m]"), &at) ? 1000000 : 200000;
}

/* ---- what is fed ---- */

/* An answer behind results is one to them: they were sent with that call. */
static void add_early(struct tokens *t, uint64_t bytes)
{
	if (t->next_tail > 0) {
		t->tail += t->next_answer + t->next_tail;
		t->next_answer = t->next_tail = 0;
	}
	t->next_answer += bytes;
}

void tokens_text(struct tokens *t, enum token_text what, uint64_t bytes)
{
	t->bytes += bytes;
	if (what == TOKEN_ANSWER)
		t->answer += bytes;
	else if (what == TOKEN_ANSWER_EARLY)
		add_early(t, bytes);
	else if (t->next_answer > 0)
		t->next_tail += bytes;
	else
		t->tail += bytes;
}

void tokens_odd(struct tokens *t)
{
	t->odd = true;
	t->images++;
}

static size_t find_model(struct tokens *t, struct sv name)
{
	struct sv cut = sv_head(name, TOKEN_MODEL_NAME - 1);

	for (size_t i = 0; i < t->n_models; i++)
		if (sv_is(cut, t->models[i].name))
			return i;
	if (t->n_models == TOKEN_MODELS_MAX)
		return TOKEN_MODELS_MAX - 1;
	struct token_model *m = &t->models[t->n_models];
	*m = (struct token_model){ .samples = 0 };
	if (cut.n > 0)
		memcpy(m->name, cut.p, cut.n);
	return t->n_models++;
}

bool tokens_plausible(uint64_t bytes, int64_t tokens)
{
	if (tokens < STEP_TOKENS_MIN || bytes == 0)
		return false;
	double ratio = (double)bytes / (double)tokens;
	return ratio >= ratio_min && ratio <= ratio_max;
}

/* The step from the last call to one with `context`, when it tells bytes a token. */
static void take_step(struct tokens *t, int64_t context, uint64_t bytes)
{
	int64_t step = context - t->context;
	struct token_model *m = &t->models[t->current];

	if (t->context == 0 || t->odd || !tokens_plausible(bytes, step))
		return;
	m->bytes += bytes;
	m->tokens += step;
	m->samples++;
}

void tokens_set_model(struct tokens *t, struct sv model)
{
	size_t index = find_model(t, model);

	if (index != t->current) {
		t->odd = true;
		t->most = 0;
	}
	t->current = index;
}

void tokens_call(struct tokens *t, struct sv model, struct sv message_id, const struct usage *usage)
{
	int64_t context = usage_context(usage);
	uint64_t id = link_hash(message_id);

	if (context <= 0) {
		if (model.n > 0)
			tokens_set_model(t, model);
		return;
	}
	if (t->told)
		t->told = false;
	else if (id != 0 ? id == t->last_message : context == t->context) {
		t->output = usage->output > t->output ? usage->output : t->output;
		return;
	}
	if (model.n > 0 || t->n_models == 0)
		tokens_set_model(t, model);
	take_step(t, context, t->answer + t->tail);
	if (t->first == 0 && !t->odd && !t->partial) {
		t->first = context;
		t->first_bytes = t->bytes - t->next_answer - t->next_tail;
		t->first_images = t->images;
	}
	t->most = context > t->most ? context : t->most;
	t->least = t->least == 0 || context < t->least ? context : t->least;
	t->last_message = id;
	t->context = context;
	t->output = usage->output;
	t->answer = t->next_answer;
	t->tail = t->next_tail;
	t->next_answer = t->next_tail = 0;
	t->odd = false;
}

void tokens_known(struct tokens *t, const struct tokens_told *told)
{
	tokens_break(t);
	t->context = told->context.tokens > 0 ? told->context.tokens : 0;
	t->told = t->context > 0;
	t->told_sure = told->context.sure > SURE_FITTED ? told->context.sure : SURE_FITTED;
	t->odd = t->partial = true;
	if (told->bytes_per_token >= ratio_min && told->bytes_per_token <= ratio_max)
		t->told_ratio = told->bytes_per_token;
	t->told_base = told->base;
	t->most = told->most > t->most ? told->most : t->most;
}

void tokens_break(struct tokens *t)
{
	t->told = false;
	t->context = t->output = 0;
	t->last_message = 0;
	t->answer = t->tail = t->bytes = t->images = 0;
	t->left = 0;
	t->next_answer = t->next_tail = 0;
	t->odd = t->partial = false;
}

void tokens_compacted(struct tokens *t, int64_t left)
{
	tokens_break(t);
	t->left = left;
}

void tokens_sent(struct tokens *t, uint64_t bytes)
{
	if (t->context == 0 && t->left == 0)
		t->bytes = bytes;
}

static enum token_text text_of(const struct transcript_format *format, enum item_kind kind)
{
	if (kind != ITEM_ASSISTANT && kind != ITEM_TOOL_CALL)
		return TOKEN_REST;
	return format->usage_follows ? TOKEN_ANSWER_EARLY : TOKEN_ANSWER;
}

void tokens_item(struct tokens *t, const struct transcript_format *format, const struct item *item)
{
	if (item->flags & (ITEM_SIDECHAIN | ITEM_BROKEN))
		return;
	if (item->kind == ITEM_COMPACTION)
		tokens_compacted(t, item->left);
	if (item->flags & ITEM_USAGE && !(item->flags & ITEM_SYNTHETIC))
		tokens_call(t, item->model, item->message_id, &item->usage);
	else if (format->usage_follows && item->model.n > 0)
		tokens_set_model(t, item->model);
	if (item->flags & ITEM_IMAGE)
		tokens_odd(t);
	else if (item->kind != ITEM_META && item->kind != ITEM_THINKING)
		tokens_text(t, text_of(format, item->kind), item->text.raw.n);
}

struct usage tokens_usage(const struct transcript_format *format, struct jval usage)
{
	return format->usage(usage);
}

/* ---- what comes out ---- */

const char *tokens_model(const struct tokens *t)
{
	return t->n_models ? t->models[t->current].name : "";
}

struct token_ratio tokens_ratio(const struct tokens *t)
{
	const struct token_model *m = t->n_models ? &t->models[t->current] : NULL;

	if (m && m->tokens >= FIT_TOKENS_MIN)
		return (struct token_ratio){ (double)m->bytes / (double)m->tokens, SURE_FITTED,
			m->samples };
	if (t->told_ratio > 0)
		return (struct token_ratio){ t->told_ratio, SURE_FITTED, 0 };
	return (struct token_ratio){ tokens_assumed_ratio(sv_of(tokens_model(t))), SURE_ASSUMED,
		0 };
}

int64_t tokens_base(const struct tokens *t)
{
	const struct token_ratio ratio = tokens_ratio(t);

	if (t->told_base > 0)
		return t->told_base;
	if (ratio.samples == 0)
		return 0;
	int64_t base = t->first - tokens_of(&ratio, t->first_bytes).tokens -
		(int64_t)t->first_images * TOKENS_IMAGE;
	base = base < t->least ? base : t->least;
	return base > 0 ? base : 0;
}

bool tokens_have_room(const struct tokens *t, int64_t tokens)
{
	int64_t context = tokens_context(t).tokens;
	double room = (double)(context - tokens_base(t));

	return tokens <= context && (double)tokens <= room * fit_slack;
}

struct token_ratio tokens_sent_ratio(const struct tokens *t, uint64_t bytes)
{
	struct token_ratio ratio = tokens_ratio(t);
	int64_t room = tokens_context(t).tokens - tokens_base(t);

	if (t->context > 0 && room > 0 && !tokens_have_room(t, tokens_of(&ratio, bytes).tokens))
		ratio = (struct token_ratio){ (double)bytes / (double)room, SURE_ASSUMED, 0 };
	return ratio;
}

struct figure tokens_saved(const struct tokens *t, uint64_t gone, uint64_t sent, int64_t images)
{
	const struct token_ratio ratio = tokens_sent_ratio(t, sent);
	int64_t most = tokens_context(t).tokens - tokens_base(t);
	struct figure saved = tokens_of(&ratio, gone);

	if (images > 0) {
		saved.tokens += images * TOKENS_IMAGE;
		saved.sure = SURE_ASSUMED;
	}
	/* No more than there is. */
	if (saved.tokens > most)
		saved.tokens = most > 0 ? most : 0;
	return saved;
}

struct figure tokens_context(const struct tokens *t)
{
	const struct token_ratio ratio = tokens_ratio(t);

	if (t->context == 0) {
		struct figure all = tokens_of(&ratio, t->bytes);
		/* The agent's own count has the texts that it kept of before. */
		return all.tokens < t->left ? (struct figure){ t->left, SURE_ASSUMED } : all;
	}
	uint64_t rest = t->tail + t->next_answer + t->next_tail;
	struct figure f = { t->context + t->output, t->told ? t->told_sure : SURE_EXACT };
	if (rest > 0) {
		struct figure more = tokens_of(&ratio, rest);
		f.tokens += more.tokens;
		f.sure = more.sure > f.sure ? more.sure : f.sure;
	}
	return f;
}
