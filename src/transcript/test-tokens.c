#include "transcript/test-session.h"

#include "transcript/tokens.h"

static struct usage used(int64_t context, int64_t output)
{
	return (struct usage){ .input = 3, .cache_read = context - 3, .output = output };
}

static void test_no_text_is_no_tokens(void **state UNUSED)
{
	const struct tokens t = TOKENS_INIT;
	struct figure f = tokens_context(&t);

	assert_int_equal(f.tokens, 0);
	assert_int_equal(f.sure, SURE_ASSUMED);
	assert_string_equal(tokens_model(&t), "");
	assert_int_equal(tokens_ratio(&t).samples, 0);
}

static void test_newer_models_are_known(void **state UNUSED)
{
	static const struct {
		const char *model;
		bool newer;
	} cases[] = {
		{ "claude-opus-4-8", true },
		{ "claude-opus-4-7", true },
		{ "claude-opus-4-6", false },
		{ "claude-opus-4-20250514", false },
		{ "claude-opus-5", true },
		{ "claude-sonnet-4-5-20250929", false },
		{ "claude-sonnet-5", true },
		{ "claude-haiku-4-5", false },
		{ "gpt-5", false },
		{ "", false },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		double ratio = tokens_assumed_ratio(sv_of(cases[i].model));
		assert_int_equal(ratio < 3, cases[i].newer);
	}
	assert_int_equal(tokens_window(SV("claude-opus-4-8")), 200000);
	assert_int_equal(tokens_window(SV("claude-opus-4-8[1m]")), 1000000);
	assert_int_equal(tokens_window(SV("other")), 0);
}

static void call(struct tokens *t, const char *id, int64_t context, int64_t output)
{
	const struct usage u = used(context, output);

	tokens_call(t, SV("model-a"), sv_of(id), &u);
}

/* 4 bytes a token: what is added between calls tells. */
static void test_texts_are_fitted_to_calls(void **state UNUSED)
{
	struct tokens t = TOKENS_INIT;

	tokens_text(&t, TOKEN_REST, 400);
	call(&t, "m1", 10000, 50);
	call(&t, "m1", 10000, 80); /* another record of the same answer */
	tokens_text(&t, TOKEN_ANSWER, 320);
	assert_int_equal(tokens_context(&t).tokens, 10080);
	assert_int_equal(tokens_context(&t).sure, SURE_EXACT);
	tokens_text(&t, TOKEN_REST, 4000);
	struct figure f = tokens_context(&t);
	assert_int_equal(f.sure, SURE_ASSUMED);
	call(&t, "m2", 10000 + 80 + 1000, 10);
	struct token_ratio ratio = tokens_ratio(&t);
	assert_int_equal(ratio.sure, SURE_FITTED);
	assert_int_equal(ratio.samples, 1);
	assert_int_equal(tokens_of(&ratio, 4000).tokens, 1000);
	tokens_text(&t, TOKEN_ANSWER, 40);
	tokens_text(&t, TOKEN_REST, 400);
	f = tokens_context(&t);
	assert_int_equal(f.tokens, 11080 + 10 + 100);
	assert_int_equal(f.sure, SURE_FITTED);
}

static void test_odd_steps_are_dropped(void **state UNUSED)
{
	struct tokens t = TOKENS_INIT;

	call(&t, "m1", 10000, 50);
	tokens_text(&t, TOKEN_REST, 40000);
	call(&t, "m2", 9000, 50); /* less than before */
	tokens_text(&t, TOKEN_REST, 100);
	call(&t, "m3", 50000, 50); /* far too much for its bytes */
	tokens_odd(&t);
	tokens_text(&t, TOKEN_REST, 4000);
	call(&t, "m4", 51000, 50); /* with a picture */
	tokens_text(&t, TOKEN_REST, 4000);
	tokens_break(&t);
	call(&t, "m5", 52000, 50); /* after a compaction */
	tokens_text(&t, TOKEN_REST, 4000);
	const struct usage u = used(53000, 50);
	tokens_call(&t, SV("model-b"), SV("m6"), &u); /* another model */
	const struct usage none = { .output = 0 };
	tokens_call(&t, SV("model-b"), SV("m7"), &none);
	assert_int_equal(tokens_ratio(&t).samples, 0);
	assert_string_equal(tokens_model(&t), "model-b");
}

/* Codex records usage after the answer's text, and repeats it. */
static void test_late_usage(void **state UNUSED)
{
	struct tokens t = TOKENS_INIT;

	tokens_set_model(&t, SV("m"));
	const struct usage first = used(5000, 100), second = used(5000 + 100 + 1000, 7);
	tokens_text(&t, TOKEN_ANSWER_EARLY, 400);
	tokens_call(&t, SV(""), SV(""), &first);
	tokens_call(&t, SV(""), SV(""), &first);
	tokens_text(&t, TOKEN_REST, 4000);
	tokens_text(&t, TOKEN_ANSWER_EARLY, 28);
	tokens_call(&t, SV(""), SV(""), &second);
	struct token_ratio ratio = tokens_ratio(&t);
	assert_int_equal(ratio.samples, 1);
	assert_int_equal(tokens_of(&ratio, 4400).tokens, 1100);
	assert_int_equal(tokens_context(&t).tokens, 6107);
	assert_int_equal(tokens_context(&t).sure, SURE_EXACT);
}

/* Codex tells the usage of a call behind the results of the tools it called: they come on top. */
static void test_usage_behind_results(void **state UNUSED)
{
	struct tokens t = TOKENS_INIT;
	const struct usage first = used(5000, 0), second = used(6100, 0);

	tokens_text(&t, TOKEN_ANSWER_EARLY, 400);
	tokens_text(&t, TOKEN_REST, 4000);
	tokens_call(&t, SV(""), SV(""), &first);
	assert_in_range(tokens_context(&t).tokens, 6000, 6200);
	tokens_text(&t, TOKEN_ANSWER_EARLY, 40);
	tokens_call(&t, SV(""), SV(""), &second);
	struct token_ratio ratio = tokens_ratio(&t);
	assert_int_equal(ratio.samples, 1);
	assert_int_equal(tokens_of(&ratio, 4400).tokens, 1100);
	assert_int_equal(tokens_context(&t).tokens, 6100);
	assert_int_equal(tokens_context(&t).sure, SURE_EXACT);
	/* without its usage, an answer and what it led to were sent with the next */
	tokens_text(&t, TOKEN_ANSWER_EARLY, 400);
	tokens_text(&t, TOKEN_REST, 4000);
	tokens_text(&t, TOKEN_ANSWER_EARLY, 4);
	const struct usage third = used(7210, 0);
	tokens_call(&t, SV(""), SV(""), &third);
	assert_int_equal(tokens_context(&t).tokens, 7210);
	assert_int_equal(tokens_context(&t).sure, SURE_EXACT);
}

/* Known from elsewhere: it counts until the next call, and no difference is taken from it. */
static void test_told_context_counts(void **state UNUSED)
{
	struct tokens t = TOKENS_INIT;
	const struct usage none = { .output = 0 };

	tokens_call(&t, SV("model-a"), SV("m1"), &none);
	tokens_text(&t, TOKEN_ANSWER, 4000);
	assert_string_equal(tokens_model(&t), "model-a");
	tokens_known(&t,
		&(struct tokens_told){ .context = { 21800, SURE_EXACT }, .bytes_per_token = 4 });
	assert_int_equal(tokens_context(&t).tokens, 21800);
	assert_int_equal(tokens_context(&t).sure, SURE_FITTED);
	tokens_text(&t, TOKEN_REST, 400);
	assert_int_equal(tokens_context(&t).tokens, 21900);
	assert_int_equal(tokens_context(&t).sure, SURE_FITTED);
	call(&t, "m2", 30000, 5);
	assert_int_equal(tokens_context(&t).tokens, 30005);
	assert_int_equal(tokens_context(&t).sure, SURE_EXACT);
	assert_int_equal(tokens_ratio(&t).samples, 0);
	assert_int_equal(tokens_ratio(&t).sure, SURE_FITTED);
	tokens_known(&t,
		&(struct tokens_told){ .context = { 100, SURE_ASSUMED }, .bytes_per_token = 0 });
	assert_int_equal(tokens_context(&t).sure, SURE_ASSUMED);
}

/* What was told of lies in the context too, but its texts were never seen: no base comes of it. */
static void test_known_without_base(void **state UNUSED)
{
	struct tokens t = TOKENS_INIT;

	tokens_known(&t, &(struct tokens_told){ .context = { 50000, SURE_FITTED } });
	tokens_text(&t, TOKEN_REST, 400);
	call(&t, "m1", 50100, 10);
	for (int i = 0; i < 5; i++) {
		AUTO_FREE char *id = xasprintf("n%d", i);
		tokens_text(&t, TOKEN_REST, 4000);
		call(&t, id, 51100 + i * 1000, 10);
	}
	assert_int_equal(tokens_ratio(&t).samples, 5);
	assert_int_equal(tokens_base(&t), 0);
	/* After a compaction all of it is seen again. */
	tokens_break(&t);
	tokens_text(&t, TOKEN_REST, 4000);
	call(&t, "m2", 11000, 10);
	assert_int_equal(tokens_base(&t), 10000);
}

static void test_items_are_counted(void **state)
{
	AUTO_STR text = STR_INIT;
	struct tokens t = TOKENS_INIT;
	struct transcript_reader *r = NULL;
	struct item item;

	claude_user(&text, "u1", NULL, "a question");
	claude_answer(&text, "a1", "u1", "m1", TEXT("an answer"));
	claude_answer(&text, "a2", "a1", "m1", TOOL_USE("t1"));
	AUTO_FREE char *path = session_write(*state, "p/s.jsonl", str_sv(&text));
	assert_int_equal(transcript_open(path, TRANSCRIPT_CLAUDE, NULL, &r, NULL), 0);
	while (transcript_next(r, &item, NULL) > 0)
		tokens_item(&t, TRANSCRIPT_CLAUDE, &item);
	transcript_close(r);
	assert_int_equal(tokens_context(&t).tokens, 327 + 5);
	assert_int_equal(tokens_context(&t).sure, SURE_EXACT);
	assert_string_equal(tokens_model(&t), "model-a");
}

static void test_many_models(void **state UNUSED)
{
	struct tokens t = TOKENS_INIT;

	for (int i = 0; i < TOKEN_MODELS_MAX * 2; i++) {
		AUTO_STR name = STR_INIT;
		str_addf(&name, "model-%d", i);
		for (int k = 0; k < TOKEN_MODEL_NAME; k++)
			str_addc(&name, 'x');
		tokens_set_model(&t, str_sv(&name));
	}
	assert_int_equal(t.n_models, TOKEN_MODELS_MAX);
}

static int set_up(void **state)
{
	*state = temp_folder();
	return 0;
}

static int tear_down(void **state)
{
	temp_remove(*state);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_text_is_no_tokens),
		cmocka_unit_test(test_newer_models_are_known),
		cmocka_unit_test(test_texts_are_fitted_to_calls),
		cmocka_unit_test(test_odd_steps_are_dropped),
		cmocka_unit_test(test_late_usage),
		cmocka_unit_test(test_usage_behind_results),
		cmocka_unit_test(test_told_context_counts),
		cmocka_unit_test(test_known_without_base),
		cmocka_unit_test(test_many_models),
		cmocka_unit_test_setup_teardown(test_items_are_counted, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
