#include "strategy/advise.h"

#include <string.h>

#include "transcript/test-session.h"

#define NAME "claude/projects/-work-demo/aaaaaaaa-0000-4000-8000-000000000001.jsonl"
#define CODEX_NAME "codex/rollout-2026-03-01T10-00-00-aaaaaaaa-0000-4000-8000-000000000001.jsonl"

static char *repeat(char c, size_t n)
{
	char *text = xmalloc(n + 1);

	memset(text, c, n);
	text[n] = '\0';
	return text;
}

/* An answer whose call took in `context` tokens. */
static void call(struct str *t, const char *uuid, const char *parent, const char *message,
	int context, const char *content)
{
	claude_head(t, "assistant", uuid, parent);
	str_addf(t,
		",\"message\":{\"id\":\"%s\",\"role\":\"assistant\",\"model\":\"claude-x-1\","
		"\"content\":%s,\"usage\":{\"input_tokens\":%d,\"output_tokens\":0}}}\n",
		message, content, context);
}

static void boundary(struct str *t, const char *uuid)
{
	claude_head(t, "system", uuid, NULL);
	str_adds(t, ",\"subtype\":\"compact_boundary\",\"content\":\"compacted\"}\n");
}

static void advise_at(struct sv bytes, const struct transcript_format *format, int64_t window,
	int64_t age_ms, struct advice *ret)
{
	char *folder = temp_folder();
	AUTO_FREE char *path =
		session_write(folder, format == TRANSCRIPT_CODEX ? CODEX_NAME : NAME, bytes);
	const struct clock clock = { true, (int64_t)T0_S * 1000 + age_ms };
	const struct advise_opts opts = {
		.path = path,
		.format = format,
		.window = window,
		.clock = &clock,
	};
	struct err err = ERR_INIT;

	if (advise_session(&opts, ret, &err) < 0)
		fail_msg("%s", err.msg);
	temp_remove(folder);
}

static void advise(const struct str *t, int64_t window, struct advice *ret)
{
	advise_at(str_sv(t), TRANSCRIPT_CLAUDE, window, 0, ret);
}

/* ---- what counts ---- */

/* What a compaction kept of before counts, though no call was made with it: by the agent's own
 * figure where it wrote one, else by its bytes. */
static void test_kept_by_compaction(void **state UNUSED)
{
	for (int told = 0; told < 2; told++) {
		AUTO_STR t = STR_INIT;
		AUTO_ADVICE a = ADVICE_INIT;
		AUTO_FREE char *big = repeat('a', 37000);
		claude_user(&t, "u1", NULL, "before");
		call(&t, "a1", "u1", "m1", 1000, TEXT("done"));
		claude_user(&t, "u2", "a1", big);
		claude_head(&t, "system", "c1", NULL);
		str_addf(&t,
			",\"subtype\":\"compact_boundary\",\"content\":\"compacted\","
			"\"compactMetadata\":{\"preTokens\":9000,%s\"preservedMessages\":{"
			"\"anchorUuid\":\"u3\",\"uuids\":[\"u2\"]}}}\n",
			told ? "\"postTokens\":8000," : "");
		claude_user(&t, "u3", "c1", "summary");
		advise(&t, 10000, &a);
		assert_true(a.compacted);
		assert_int_equal(a.context.sure, SURE_ASSUMED);
		assert_in_range(a.context.tokens, told ? 8000 : 10000, told ? 8000 : 10010);
		assert_in_range(
			a.kinds[ADVISE_PROMPTS].tokens, a.context.tokens - 10, a.context.tokens);
		assert_int_not_equal(a.advised, ADVISE_NOTHING);
		assert_false(a.scaled);
	}
}

static void test_only_after_compaction(void **state UNUSED)
{
	AUTO_STR t = STR_INIT;
	AUTO_ADVICE a = ADVICE_INIT;
	AUTO_FREE char *old = repeat('o', 4000);
	AUTO_FREE char *new = repeat('n', 1500);

	claude_user(&t, "u1", NULL, "before");
	call(&t, "a1", "u1", "m1", 1000, TOOL_USE("t1"));
	claude_result(&t, "r1", "a1", "t1", old);
	boundary(&t, "c1");
	claude_user(&t, "u2", "c1", "after");
	call(&t, "a2", "u2", "m2", 300, TOOL_USE("t2"));
	claude_result(&t, "r2", "a2", "t2", new);
	call(&t, "a3", "r2", "m3", 900, TEXT("done"));
	advise(&t, 1000, &a);
	assert_true(a.compacted && !a.empty);
	assert_int_equal(a.context.tokens, 900);
	assert_int_equal(a.context.sure, SURE_EXACT);
	assert_int_equal(a.percent, 90);
	assert_int_equal(a.kinds[ADVISE_RESULTS].n, 1);
	assert_int_equal(a.kinds[ADVISE_RESULTS].bytes, 1502);
	assert_int_equal(a.kinds[ADVISE_PROMPTS].bytes, strlen("\"after\""));
	assert_int_equal(a.kinds[ADVISE_ANSWERS].bytes, strlen("\"done\""));
	assert_int_equal(a.kinds[ADVISE_CALLS].bytes, strlen("{}"));
	/* From 300 to 900 tokens by "{}" and 1502 bytes: 1504 / 600 bytes a token. */
	assert_int_equal(a.ratio.sure, SURE_FITTED);
	assert_float_equal(a.ratio.bytes, 1504.0 / 600, 0.001);
	assert_int_equal(a.kinds[ADVISE_RESULTS].tokens, 599);
	assert_int_equal(a.tools.n, 1);
	assert_string_equal(a.tools.v[0].name, "Bash");
	assert_int_equal(a.top[0].line, 7);
	assert_string_equal(a.top[0].tool, "Bash");
	assert_int_equal(a.top[0].tokens.sure, SURE_DIFFERENCED);
	assert_int_equal(a.top[0].tokens.tokens, 600);
	assert_int_equal(a.top[1].tokens.sure, SURE_FITTED);
	assert_int_equal(a.advised, ADVISE_TRIM_1000);
}

/* What came between two calls is told apart only when it was one text. */
static void test_texts_are_fitted_to_recorded_tokens(void **state UNUSED)
{
	AUTO_STR t = STR_INIT;
	AUTO_ADVICE a = ADVICE_INIT;
	AUTO_FREE char *long_text = repeat('a', 4000);
	AUTO_FREE char *text = repeat('b', 3000);
	AUTO_FREE char *image = repeat('c', 2000);

	claude_user(&t, "u1", NULL, "begin");
	call(&t, "a1", "u1", "m1", 100, TOOL_USE("t1"));
	claude_result(&t, "r1", "a1", "t1", long_text);
	claude_user(&t, "u2", "r1", "and more");
	call(&t, "a2", "u2", "m2", 1100, TOOL_USE("t2"));
	claude_result(&t, "r2", "a2", "t2", text);
	call(&t, "a3", "r2", "m3", 1900, "[{\"type\":\"thinking\",\"thinking\":\"hm\"}]");
	claude_user(&t, "u3", "a3", image);
	call(&t, "a4", "u3", "m4", 2400, TEXT("done"));
	advise(&t, 200000, &a);
	assert_int_equal(a.top[0].line, 3);
	assert_int_equal(a.top[0].tokens.sure, SURE_FITTED);
	assert_int_equal(a.top[1].line, 6);
	assert_int_equal(a.top[1].tokens.sure, SURE_DIFFERENCED);
	assert_int_equal(a.top[1].tokens.tokens, 800);
	assert_int_equal(a.top[2].line, 8);
	assert_int_equal(a.top[2].tokens.sure, SURE_FITTED);
}

static void test_usage_counts_once(void **state UNUSED)
{
	AUTO_STR t = STR_INIT;
	AUTO_ADVICE a = ADVICE_INIT;

	claude_user(&t, "u1", NULL, "hello");
	call(&t, "a1", "u1", "m1", 700, TEXT("one"));
	call(&t, "a2", "a1", "m1", 700, TEXT("two"));
	call(&t, "a3", "a2", "m1", 700, TEXT("three"));
	advise(&t, 0, &a);
	assert_int_equal(a.context.tokens, 700);
	assert_int_equal(a.context.sure, SURE_EXACT);
	assert_int_equal(a.window.tokens, 200000);
	assert_int_equal(a.window.sure, SURE_ASSUMED);
	assert_int_equal(a.kinds[ADVISE_ANSWERS].n, 3);
	int64_t sum = 0;
	for (size_t i = 0; i < ADVISE_KIND_COUNT; i++)
		sum += a.kinds[i].tokens;
	assert_int_equal(sum, 700);
	assert_int_equal(a.advised, ADVISE_NOTHING);
}

static void test_side_chain_and_old_branch(void **state UNUSED)
{
	AUTO_STR t = STR_INIT;
	AUTO_ADVICE a = ADVICE_INIT;

	claude_user(&t, "u1", NULL, "hello");
	call(&t, "a1", "u1", "m1", 100, TEXT("left branch"));
	str_adds(&t,
		"{\"parentUuid\":\"a1\",\"isSidechain\":true,\"type\":\"assistant\",\"uuid\":"
		"\"s1\",\"timestamp\":\"" T0 "\",\"message\":{\"id\":\"ms\",\"role\":"
		"\"assistant\",\"model\":\"claude-x-1\",\"content\":[{\"type\":\"text\",\"text\":"
		"\"side\"}],\"usage\":{\"input_tokens\":99999,\"output_tokens\":1}}}\n");
	claude_user(&t, "u2", "u1", "again");
	call(&t, "a2", "u2", "m2", 120, TEXT("right"));
	advise(&t, 0, &a);
	assert_int_equal(a.context.tokens, 120);
	assert_int_equal(a.kinds[ADVISE_ANSWERS].n, 1);
	assert_int_equal(a.kinds[ADVISE_ANSWERS].bytes, strlen("\"right\""));
	assert_int_equal(a.kinds[ADVISE_PROMPTS].n, 2);
}

static void blocks(struct str *t, size_t n)
{
	for (size_t i = 0; i < n; i++)
		str_adds(t, "{\"type\":\"text\",\"text\":\"x\"},");
	str_adds(t, "{\"type\":\"text\",\"text\":\"y\"}");
}

/* However many blocks there are, none is left out. */
static void test_many_blocks(void **state UNUSED)
{
	AUTO_STR t = STR_INIT;
	AUTO_STR list = STR_INIT;
	AUTO_ADVICE a = ADVICE_INIT;
	AUTO_ADVICE more = ADVICE_INIT;

	claude_user(&t, "u1", NULL, "one");
	call(&t, "a1", "u1", "m1", 300, TOOL_USE("t1"));
	claude_head(&t, "user", "r1", "a1");
	str_adds(&t,
		",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\","
		"\"tool_use_id\":\"t1\",\"content\":[");
	blocks(&t, 20 * 1000 - 1);
	str_adds(&t, "]},");
	blocks(&t, 20 * 1000 - 1);
	str_adds(&t, "]}}\n");
	advise(&t, 1000, &a);
	assert_int_equal(a.kinds[ADVISE_RESULTS].bytes, 20 * 1000 * 3);
	assert_int_equal(a.kinds[ADVISE_PROMPTS].bytes, strlen("\"one\"") + 20 * 1000 * 3);

	/* Beyond what is kept of a line, a list is one text. */
	str_clear(&t);
	blocks(&list, SCAN_ROWS_MAX);
	claude_user(&t, "u1", NULL, "one");
	claude_head(&t, "user", "u2", "u1");
	str_addf(&t, ",\"message\":{\"role\":\"user\",\"content\":[%s]}}\n", list.buf);
	advise(&t, 1000, &more);
	assert_int_equal(more.kinds[ADVISE_PROMPTS].bytes, strlen("\"one\"") + list.len + 2);
}

static void test_agent_sent_less(void **state UNUSED)
{
	AUTO_STR t = STR_INIT;
	AUTO_ADVICE a = ADVICE_INIT;
	AUTO_FREE char *text = repeat('r', 37000);

	claude_user(&t, "u1", NULL, "go");
	call(&t, "a1", "u1", "m1", 100, TOOL_USE("t1"));
	claude_result(&t, "r1", "a1", "t1", text);
	call(&t, "a2", "r1", "m2", 500, TEXT("done"));
	advise(&t, 0, &a);
	assert_true(a.scaled);
	assert_int_equal(a.context.tokens, 500);
	assert_in_range(a.kinds[ADVISE_RESULTS].tokens, 498, 500);
	assert_int_equal(a.ratio.sure, SURE_ASSUMED);
	assert_in_range(a.plans[ADVISE_TRIM_500].saved.tokens, 490, 500);
}

/* A picture takes its share of the context beside the texts and the agent's own prompt. */
static void test_image_first(void **state UNUSED)
{
	static const struct {
		int context;
		bool scaled;
		int64_t results, base;
	} cases[] = {
		{ 5000, false, 3400, 100 }, /* 37002 bytes in 3400 tokens */
		{ 2000, true, 500, 0 }, /* no such bytes: they take what there is */
	};
	AUTO_FREE char *text = repeat('r', 37000);

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_STR t = STR_INIT;
		AUTO_ADVICE a = ADVICE_INIT;
		claude_head(&t, "user", "u1", NULL);
		str_adds(&t,
			",\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"image\","
			"\"source\":{\"type\":\"base64\",\"data\":\"eA==\"}}]}}\n");
		call(&t, "a1", "u1", "m1", 1600, TOOL_USE("t1"));
		claude_result(&t, "r1", "a1", "t1", text);
		call(&t, "a2", "r1", "m2", cases[i].context, TEXT("done"));
		advise(&t, 0, &a);
		assert_int_equal(a.scaled, cases[i].scaled);
		assert_int_equal(a.kinds[ADVISE_IMAGES].tokens, TOKENS_IMAGE);
		assert_in_range(
			a.kinds[ADVISE_RESULTS].tokens, cases[i].results - 5, cases[i].results);
		assert_in_range(a.kinds[ADVISE_BASE].tokens, cases[i].base, cases[i].base + 5);
	}
}

static void test_no_usage_is_assumed(void **state UNUSED)
{
	AUTO_STR t = STR_INIT;
	AUTO_ADVICE a = ADVICE_INIT;
	AUTO_FREE char *words = repeat('w', 3698);

	claude_user(&t, "u1", NULL, words);
	advise(&t, 0, &a);
	assert_int_equal(a.context.sure, SURE_ASSUMED);
	assert_int_equal(a.context.tokens, 1000); /* 3700 bytes at 3.7 */
	assert_int_equal(a.cache, ADVISE_CACHE_NONE);
	assert_string_equal(a.model, "");
}

static void test_empty_session_needs_nothing(void **state UNUSED)
{
	AUTO_ADVICE a = ADVICE_INIT;

	advise_at(SV(""), TRANSCRIPT_CLAUDE, 0, 0, &a);
	assert_true(a.empty);
	assert_int_equal(a.context.tokens, 0);
	assert_int_equal(a.advised, ADVISE_NOTHING);
}

/* ---- what is advised ---- */

/* n answers of that many bytes, at that many tokens in the end. */
static void talk(struct str *t, size_t bytes, int context)
{
	AUTO_FREE char *text = repeat('x', bytes);
	AUTO_FREE char *blocks = xasprintf("[{\"type\":\"text\",\"text\":\"%s\"}]", text);

	claude_user(t, "u1", NULL, "go");
	call(t, "a1", "u1", "m1", 1000, blocks);
	claude_user(t, "u2", "a1", "on");
	/* Recent ones stay with smart-trim. */
	for (int i = 2; i < 12; i++) {
		AUTO_FREE char *id = xasprintf("u%d", i + 1), *parent = xasprintf("u%d", i);
		claude_user(t, id, parent, "on");
	}
	call(t, "a2", "u12", "m2", context, TEXT("done"));
}

static void test_edge_of_full(void **state UNUSED)
{
	static const struct {
		int context;
		enum advise_strategy advised;
	} cases[] = { { 7900, ADVISE_NOTHING }, { 8000, ADVISE_SMART_TRIM } };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_STR t = STR_INIT;
		AUTO_ADVICE a = ADVICE_INIT;
		talk(&t, 20000, cases[i].context);
		advise(&t, 10000, &a);
		assert_int_equal(a.advised, cases[i].advised);
		assert_int_equal(a.plans[ADVISE_TRIM_500].saved.tokens, 0);
	}
}

static void test_nothing_less_than_rollover(void **state UNUSED)
{
	AUTO_STR t = STR_INIT;
	AUTO_ADVICE a = ADVICE_INIT;
	AUTO_FREE char *words = repeat('w', 40000);

	claude_user(&t, "u1", NULL, words); /* prompts are not taken out */
	call(&t, "a1", "u1", "m1", 9500, TEXT("short"));
	advise(&t, 10000, &a);
	assert_int_equal(a.advised, ADVISE_ROLLOVER);
}

static void test_cache_cools_with_age(void **state UNUSED)
{
	static const struct {
		int64_t age_ms;
		enum advise_cache cache;
		int64_t recached;
	} cases[] = {
		{ 0, ADVISE_CACHE_WARM, 0 },
		{ ADVISE_CACHE_SHORT_MS - 1, ADVISE_CACHE_WARM, 0 },
		{ ADVISE_CACHE_SHORT_MS, ADVISE_CACHE_MAYBE, 700 },
		{ ADVISE_CACHE_LONG_MS, ADVISE_CACHE_COLD, 700 },
		{ -1000, ADVISE_CACHE_WARM, 0 },
	};
	AUTO_STR t = STR_INIT;

	claude_user(&t, "u1", NULL, "hello");
	call(&t, "a1", "u1", "m1", 700, TEXT("one"));
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_ADVICE a = ADVICE_INIT;
		advise_at(str_sv(&t), TRANSCRIPT_CLAUDE, 0, cases[i].age_ms, &a);
		assert_int_equal(a.cache, cases[i].cache);
		assert_int_equal(a.recached, cases[i].recached);
	}
}

/* ---- Codex ---- */

static void test_codex_is_advised_on(void **state UNUSED)
{
	AUTO_STR t = STR_INIT;
	AUTO_STR out = STR_INIT;
	AUTO_ADVICE a = ADVICE_INIT;
	AUTO_FREE char *text = repeat('r', 2000);

	codex_line(&t, "session_meta", "{\"id\":\"aaaaaaaa-0000-4000-8000-000000000001\"}");
	codex_line(&t, "turn_context", "{\"model\":\"model-b\"}");
	codex_message(&t, "user", "look");
	codex_line(&t, "response_item",
		"{\"type\":\"function_call\",\"name\":\"shell\",\"arguments\":\"{}\","
		"\"call_id\":\"c1\"}");
	str_addf(&out, "{\"type\":\"function_call_output\",\"call_id\":\"c1\",\"output\":\"%s\"}",
		text);
	codex_line(&t, "response_item", out.buf);
	codex_message(&t, "assistant", "seen");
	codex_line(&t, "event_msg",
		"{\"type\":\"token_count\",\"info\":{\"last_token_usage\":{\"input_tokens\":850,"
		"\"cached_input_tokens\":0,\"output_tokens\":0},\"model_context_window\":1000}}");
	advise_at(str_sv(&t), TRANSCRIPT_CODEX, 0, 0, &a);
	assert_int_equal(a.window.tokens, 1000);
	assert_int_equal(a.window.sure, SURE_EXACT);
	assert_int_equal(a.context.tokens, 850);
	assert_string_equal(a.model, "model-b");
	assert_int_equal(a.kinds[ADVISE_RESULTS].bytes, 2002);
	assert_string_equal(a.tools.v[0].name, "shell");
	assert_int_equal(a.top[0].line, 5);
	assert_int_equal(a.advised, ADVISE_TRIM_1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kept_by_compaction),
		cmocka_unit_test(test_only_after_compaction),
		cmocka_unit_test(test_texts_are_fitted_to_recorded_tokens),
		cmocka_unit_test(test_usage_counts_once),
		cmocka_unit_test(test_side_chain_and_old_branch),
		cmocka_unit_test(test_many_blocks),
		cmocka_unit_test(test_agent_sent_less),
		cmocka_unit_test(test_image_first),
		cmocka_unit_test(test_no_usage_is_assumed),
		cmocka_unit_test(test_empty_session_needs_nothing),
		cmocka_unit_test(test_edge_of_full),
		cmocka_unit_test(test_nothing_less_than_rollover),
		cmocka_unit_test(test_cache_cools_with_age),
		cmocka_unit_test(test_codex_is_advised_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
