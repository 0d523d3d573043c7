#include <inttypes.h>
#include <stdio.h>
#include <xxhash.h>

#include "base/clock.h"
#include "base/mem.h"
#include "master/snapshot.h"
#include "json/write.h"

/* The last member of a line: the sum of all bytes before it. */
#define CHECK_HEAD ",\"check\":\""
enum { CHECK_DIGITS = 16, CHECK_BYTES = sizeof(CHECK_HEAD) - 1 + CHECK_DIGITS + 2 };
#define UNLIMITED "unlimited"

/* ---- out ---- */

static void put_text(struct jw *w, const char *key, struct sv text)
{
	if (text.n)
		jw_put_string(w, key, text);
}

/* Words of a program that failed, not of the conversation. */
static void put_redacted(struct jw *w, const char *key, struct sv text)
{
	AUTO_STR out = STR_INIT;

	master_redact(text, &out);
	jw_put_string(w, key, str_sv(&out));
}

static void put_count(struct jw *w, const char *key, int64_t v)
{
	if (v > 0)
		jw_put_i64(w, key, v);
}

void master_put_rounds(struct jw *w, const char *key, int64_t rounds)
{
	if (rounds == MASTER_UNLIMITED)
		jw_put_cstr(w, key, UNLIMITED);
	else
		jw_put_i64(w, key, rounds);
}

void master_put_config(struct jw *w, const struct master_config *c)
{
	jw_object(w);
	jw_put_cstr(w, "instructorModel", c->model[MASTER_INSTRUCTOR]);
	jw_put_cstr(w, "workerModel", c->model[MASTER_WORKER]);
	master_put_rounds(w, "maxRounds", c->max_rounds);
	jw_put_bool(w, "useThinking", c->thinking);
	jw_put_cstr(w, "workDir", c->dir);
	jw_put_cstr(w, "instructorAgent", c->agent[MASTER_INSTRUCTOR]);
	jw_put_cstr(w, "workerAgent", c->agent[MASTER_WORKER]);
	put_text(w, "permission", sv_of(c->permission));
	if (c->max_budget_usd > 0)
		jw_put_double(w, "maxBudgetUsd", c->max_budget_usd);
	put_count(w, "maxWallMs", c->max_wall_ms);
	put_count(w, "stall", c->stall);
	put_text(w, "check", sv_of(c->check));
	put_count(w, "checkMax", c->check_max);
	put_count(w, "workerTimeoutMs", c->worker_timeout_ms);
	jw_end(w);
}

static void put_usage(struct jw *w, const struct agent_usage *u)
{
	put_count(w, "inputTokens", u->input);
	put_count(w, "cacheReadTokens", u->cache_read);
	put_count(w, "cacheWriteTokens", u->cache_write);
	put_count(w, "outputTokens", u->output);
	if (u->cost_usd > 0)
		jw_put_double(w, "costUsd", u->cost_usd);
}

static void put_fields(struct jw *w, const struct master_step *s)
{
	static const char *const speaker[] = {
		[MASTER_STEP_SESSION] = "system",
		[MASTER_STEP_ASK] = "user",
		[MASTER_STEP_ANSWER] = "assistant",
		[MASTER_STEP_STOP] = NULL,
	};

	if (speaker[s->kind] || s->kind == MASTER_STEP_SPENT)
		jw_put_cstr(w, "of", master_role_name(s->role));
	if (speaker[s->kind])
		jw_put_cstr(w, "role", speaker[s->kind]);
	switch (s->kind) {
	case MASTER_STEP_CONFIG:
		jw_key(w, "config");
		master_put_config(w, s->config);
		return;
	case MASTER_STEP_ROUNDS:
		master_put_rounds(w, "remaining", s->rounds);
		put_count(w, "round", s->round);
		return;
	case MASTER_STEP_SESSION:
		jw_put_cstr(w, "begin", master_begin_name(s->begin));
		put_text(w, "agent", s->agent);
		put_text(w, "conversation", s->conversation);
		put_text(w, "session", s->session);
		break;
	case MASTER_STEP_ASK:
		jw_put_i64(w, "round", s->round);
		put_text(w, "promptId", s->prompt_id);
		put_text(w, "model", s->model);
		break;
	case MASTER_STEP_ANSWER:
		put_text(w, "promptId", s->prompt_id);
		if (s->fail != AGENT_OK)
			jw_put_cstr(w, "fail", agent_fail_name(s->fail));
		if (s->why.n)
			put_redacted(w, "why", s->why);
		if (s->denied.n)
			put_redacted(w, "denied", s->denied);
		put_usage(w, &s->usage);
		put_count(w, "durationMs", s->duration_ms);
		break;
	case MASTER_STEP_SPENT:
		put_text(w, "promptId", s->prompt_id);
		put_usage(w, &s->usage);
		put_count(w, "durationMs", s->duration_ms);
		return;
	case MASTER_STEP_DECIDED:
		jw_put_cstr(w, "act", master_act_name(s->act));
		put_text(w, "systemPrompt", s->system_prompt);
		put_text(w, "model", s->model);
		put_count(w, "timeoutMs", s->timeout_ms);
		break;
	case MASTER_STEP_ORIGIN:
		jw_put_cstr(w, "begin", master_begin_name(s->begin));
		jw_put_i64(w, "round", s->round);
		break;
	case MASTER_STEP_CHECK:
		jw_put_i64(w, "status", s->status);
		put_redacted(w, "content", s->text);
		return;
	case MASTER_STEP_STOP:
		jw_put_cstr(w, "stop", master_stop_name(s->stop));
		if (s->why.n)
			put_redacted(w, "why", s->why);
		return;
	case MASTER_STEP_NAME:
	case MASTER_STEP_SAY:
	case MASTER_STEP_COUNT:
		break;
	}
	jw_put_string(w, "content", s->text.p ? s->text : SV(""));
}

void master_step_write(const struct master_step *step, struct str *line)
{
	struct jw w = JW_INIT(line);
	char at[CLOCK_TEXT_MAX];
	size_t from = line->len;

	clock_format_iso(step->at_ms, at);
	jw_object(&w);
	jw_put_i64(&w, "n", step->n);
	jw_put_cstr(&w, "at", at);
	jw_put_cstr(&w, "kind", master_step_name(step->kind));
	put_fields(&w, step);
	jw_end(&w);
	str_cut(line, line->len - 1);
	str_addf(line, CHECK_HEAD "%016" PRIx64 "\"}",
		(uint64_t)XXH3_64bits(line->buf + from, line->len - from));
}

/* ---- in ---- */

enum key {
	/* texts, in the order of struct master_step_hold */
	K_CONTENT,
	K_AGENT,
	K_CONVERSATION,
	K_SESSION,
	K_PROMPT_ID,
	K_MODEL,
	K_WHY,
	K_SYSTEM_PROMPT,
	K_AT,
	K_FAIL,
	K_DENIED,
	K_N,
	K_KIND,
	K_OF,
	K_BEGIN,
	K_ROUND,
	K_INPUT,
	K_CACHE_READ,
	K_CACHE_WRITE,
	K_OUTPUT,
	K_COST,
	K_DURATION,
	K_ACT,
	K_TIMEOUT,
	K_STATUS,
	K_REMAINING,
	K_STOP,
	K_CONFIG,
	KEYS
};
_Static_assert((int)K_N == (int)MASTER_STEP_TEXTS, "a text for each of the first keys");

static const struct scan_key step_keys[KEYS] = {
	[K_CONTENT] = SCAN_KEY("content", SCAN_TOP),
	[K_AGENT] = SCAN_KEY("agent", SCAN_TOP),
	[K_CONVERSATION] = SCAN_KEY("conversation", SCAN_TOP),
	[K_SESSION] = SCAN_KEY("session", SCAN_TOP),
	[K_PROMPT_ID] = SCAN_KEY("promptId", SCAN_TOP),
	[K_MODEL] = SCAN_KEY("model", SCAN_TOP),
	[K_WHY] = SCAN_KEY("why", SCAN_TOP),
	[K_SYSTEM_PROMPT] = SCAN_KEY("systemPrompt", SCAN_TOP),
	[K_AT] = SCAN_KEY("at", SCAN_TOP),
	[K_FAIL] = SCAN_KEY("fail", SCAN_TOP),
	[K_DENIED] = SCAN_KEY("denied", SCAN_TOP),
	[K_N] = SCAN_KEY("n", SCAN_TOP),
	[K_KIND] = SCAN_KEY("kind", SCAN_TOP),
	[K_OF] = SCAN_KEY("of", SCAN_TOP),
	[K_BEGIN] = SCAN_KEY("begin", SCAN_TOP),
	[K_ROUND] = SCAN_KEY("round", SCAN_TOP),
	[K_INPUT] = SCAN_KEY("inputTokens", SCAN_TOP),
	[K_CACHE_READ] = SCAN_KEY("cacheReadTokens", SCAN_TOP),
	[K_CACHE_WRITE] = SCAN_KEY("cacheWriteTokens", SCAN_TOP),
	[K_OUTPUT] = SCAN_KEY("outputTokens", SCAN_TOP),
	[K_COST] = SCAN_KEY("costUsd", SCAN_TOP),
	[K_DURATION] = SCAN_KEY("durationMs", SCAN_TOP),
	[K_ACT] = SCAN_KEY("act", SCAN_TOP),
	[K_TIMEOUT] = SCAN_KEY("timeoutMs", SCAN_TOP),
	[K_STATUS] = SCAN_KEY("status", SCAN_TOP),
	[K_REMAINING] = SCAN_KEY("remaining", SCAN_TOP),
	[K_STOP] = SCAN_KEY("stop", SCAN_TOP),
	[K_CONFIG] = SCAN_KEY("config", SCAN_TOP),
};

void master_step_hold_init(struct master_step_hold *hold)
{
	*hold = (struct master_step_hold){ .config = MASTER_CONFIG_INIT };
	scan_table_init(&hold->table, step_keys, KEYS);
	for (size_t i = 0; i < MASTER_STEP_TEXTS; i++)
		hold->texts[i] = (struct str)STR_INIT;
}

void master_step_hold_release(struct master_step_hold *hold)
{
	for (size_t i = 0; i < MASTER_STEP_TEXTS; i++)
		str_release(&hold->texts[i]);
	master_config_release(&hold->config);
}

static char *get_text(struct jval val)
{
	AUTO_STR text = STR_INIT;

	/* What C ends at a NUL is no path, name or command anybody meant. */
	if (!scan_string(val, &text) || text.len == 0 || memchr(text.buf, '\0', text.len))
		return NULL;
	return str_detach(&text);
}

/* 0 when it is missing, negative or out of range. */
static int64_t get_count(struct jval val)
{
	int64_t n = 0;

	return scan_i64(val, &n) && n > 0 ? n : 0;
}

/* Unlimited was null where a run was written by a program that had only numbers for it. */
int64_t master_get_rounds(struct jval val)
{
	int64_t n;

	return scan_i64(val, &n) && n >= 0 ? n : MASTER_UNLIMITED;
}

void master_get_config(struct jval val, struct master_config *c)
{
	enum {
		C_MODEL_I,
		C_MODEL_W,
		C_ROUNDS,
		C_THINKING,
		C_DIR,
		C_AGENT_I,
		C_AGENT_W,
		C_PERMISSION,
		C_BUDGET,
		C_WALL,
		C_STALL,
		C_CHECK,
		C_CHECK_MAX,
		C_TIMEOUT,
		C_KEYS
	};
	static const struct scan_key keys[C_KEYS] = {
		[C_MODEL_I] = SCAN_KEY("instructorModel", SCAN_TOP),
		[C_MODEL_W] = SCAN_KEY("workerModel", SCAN_TOP),
		[C_ROUNDS] = SCAN_KEY("maxRounds", SCAN_TOP),
		[C_THINKING] = SCAN_KEY("useThinking", SCAN_TOP),
		[C_DIR] = SCAN_KEY("workDir", SCAN_TOP),
		[C_AGENT_I] = SCAN_KEY("instructorAgent", SCAN_TOP),
		[C_AGENT_W] = SCAN_KEY("workerAgent", SCAN_TOP),
		[C_PERMISSION] = SCAN_KEY("permission", SCAN_TOP),
		[C_BUDGET] = SCAN_KEY("maxBudgetUsd", SCAN_TOP),
		[C_WALL] = SCAN_KEY("maxWallMs", SCAN_TOP),
		[C_STALL] = SCAN_KEY("stall", SCAN_TOP),
		[C_CHECK] = SCAN_KEY("check", SCAN_TOP),
		[C_CHECK_MAX] = SCAN_KEY("checkMax", SCAN_TOP),
		[C_TIMEOUT] = SCAN_KEY("workerTimeoutMs", SCAN_TOP),
	};
	struct jval v[C_KEYS];

	master_config_release(c);
	if (scan_keys(val.raw, keys, C_KEYS, v) < 0)
		return;
	c->model[MASTER_INSTRUCTOR] = get_text(v[C_MODEL_I]);
	c->model[MASTER_WORKER] = get_text(v[C_MODEL_W]);
	c->max_rounds = master_get_rounds(v[C_ROUNDS]);
	c->thinking = scan_true(v[C_THINKING]);
	c->dir = get_text(v[C_DIR]);
	c->agent[MASTER_INSTRUCTOR] = get_text(v[C_AGENT_I]);
	c->agent[MASTER_WORKER] = get_text(v[C_AGENT_W]);
	c->permission = get_text(v[C_PERMISSION]);
	if (!scan_double(v[C_BUDGET], &c->max_budget_usd) || c->max_budget_usd < 0)
		c->max_budget_usd = 0;
	c->max_wall_ms = get_count(v[C_WALL]);
	c->stall = get_count(v[C_STALL]);
	c->check = get_text(v[C_CHECK]);
	c->check_max = get_count(v[C_CHECK_MAX]);
	c->worker_timeout_ms = get_count(v[C_TIMEOUT]);
}

static bool check_fits(struct sv line)
{
	char want[CHECK_BYTES + 1];

	if (line.n <= CHECK_BYTES)
		return false;
	(void)snprintf(want, sizeof(want), CHECK_HEAD "%016" PRIx64 "\"}",
		(uint64_t)XXH3_64bits(line.p, line.n - CHECK_BYTES));
	return sv_eq(sv_from(line, line.n - CHECK_BYTES), sv_make(want, CHECK_BYTES));
}

/* The index of the name in a list, or count: not known. */
static int index_of(struct jval val, const char *(*name)(int), int count)
{
	int i = 0;

	while (i < count && !scan_string_eq(val, sv_of(name(i))))
		i++;
	return i;
}

#define NAME_OF(fn, type)                 \
	static const char *fn##_at(int i) \
	{                                 \
		return fn((type)i);       \
	}
NAME_OF(master_step_name, enum master_step_kind)
NAME_OF(master_begin_name, enum master_begin)
NAME_OF(master_act_name, enum master_act)
NAME_OF(master_stop_name, enum master_stop)

int master_step_read(struct sv line, bool check, struct master_step_hold *hold,
	struct master_step *ret, struct err *reterr)
{
	struct master_step s = MASTER_STEP_INIT(MASTER_STEP_CONFIG);
	struct jval v[KEYS];
	struct sv text[MASTER_STEP_TEXTS];

	if (check && !check_fits(line))
		return err_set(reterr, ERR_INPUT, "a step does not have the check sum it should");
	if (scan_table_read(&hold->table, line, v, NULL) < 0)
		return err_set(reterr, ERR_INPUT, "a step is no JSON object");
	for (size_t i = 0; i < MASTER_STEP_TEXTS; i++)
		text[i] = scan_string_view(v[i], &hold->texts[i]);

	int kind = index_of(v[K_KIND], master_step_name_at, MASTER_STEP_COUNT);
	int begin = index_of(v[K_BEGIN], master_begin_name_at, MASTER_BEGIN_COUNT);
	int act = index_of(v[K_ACT], master_act_name_at, MASTER_ACT_COUNT);
	int stop = index_of(v[K_STOP], master_stop_name_at, MASTER_STOP_COUNT);
	if (kind == MASTER_STEP_COUNT)
		return err_set(reterr, v[K_KIND].type == J_STRING ? ERR_NEWER : ERR_INPUT,
			"a step is of no known kind");
	if (((kind == MASTER_STEP_SESSION || kind == MASTER_STEP_ORIGIN) &&
		    begin == MASTER_BEGIN_COUNT) ||
		(kind == MASTER_STEP_DECIDED && act == MASTER_ACT_COUNT) ||
		(kind == MASTER_STEP_STOP && stop == MASTER_STOP_COUNT))
		return err_set(reterr, ERR_NEWER, "a step says something that is not known");
	if (!scan_i64(v[K_N], &s.n) || s.n < 1 || !clock_parse_iso(text[K_AT], &s.at_ms) ||
		s.at_ms < 0)
		return err_set(reterr, ERR_INPUT, "a step has no number or no time");

	s.line = line;
	s.kind = (enum master_step_kind)kind;
	s.role = scan_string_eq(v[K_OF], SV("worker")) ? MASTER_WORKER : MASTER_INSTRUCTOR;
	s.begin = (enum master_begin)(begin % MASTER_BEGIN_COUNT);
	s.act = (enum master_act)(act % MASTER_ACT_COUNT);
	s.stop = (enum master_stop)(stop % MASTER_STOP_COUNT);
	s.text = text[K_CONTENT];
	s.agent = text[K_AGENT];
	s.conversation = text[K_CONVERSATION];
	s.session = text[K_SESSION];
	s.prompt_id = text[K_PROMPT_ID];
	s.model = text[K_MODEL];
	s.why = text[K_WHY];
	s.denied = text[K_DENIED];
	s.system_prompt = text[K_SYSTEM_PROMPT];
	if (v[K_FAIL].type != J_NONE && !agent_fail_parse(text[K_FAIL], &s.fail))
		s.fail = AGENT_FAILED;
	s.round = get_count(v[K_ROUND]);
	(void)scan_i64(v[K_INPUT], &s.usage.input);
	(void)scan_i64(v[K_CACHE_READ], &s.usage.cache_read);
	(void)scan_i64(v[K_CACHE_WRITE], &s.usage.cache_write);
	(void)scan_i64(v[K_OUTPUT], &s.usage.output);
	(void)scan_double(v[K_COST], &s.usage.cost_usd);
	s.duration_ms = get_count(v[K_DURATION]);
	s.timeout_ms = get_count(v[K_TIMEOUT]);
	(void)scan_i64(v[K_STATUS], &s.status);
	s.rounds = master_get_rounds(v[K_REMAINING]);
	if (s.kind == MASTER_STEP_CONFIG) {
		master_get_config(v[K_CONFIG], &hold->config);
		s.config = &hold->config;
	}
	*ret = s;
	return 0;
}
