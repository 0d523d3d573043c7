#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "master/compare.h"
#include "os/test-temp.h"

static const struct clock noon = { .fixed = true, .fixed_ms = 1750000000000 };

static void play(struct master_run *run, int round, const char *text)
{
	for (int k = 0; k < 2; k++) {
		struct master_step s = MASTER_STEP_INIT(k ? MASTER_STEP_ANSWER : MASTER_STEP_ASK);
		AUTO_FREE char *said = xasprintf("%s\n  %s %d", text, k ? "answer" : "do", round);
		s.role = MASTER_WORKER;
		s.round = round;
		s.text = sv_of(said);
		s.model = SV("opus");
		s.usage.output = 10;
		s.usage.cost_usd = 0.5;
		assert_int_equal(master_step(run, &s, NULL), 0);
	}
}

static void test_two_ways(void **state)
{
	AUTO_MASTER_CONFIG c = MASTER_CONFIG_INIT;
	CLEANUP(master_rounds_release) struct master_rounds a = { .v = VEC_INIT };
	CLEANUP(master_rounds_release) struct master_rounds b = { .v = VEC_INIT };
	struct master_run *one, *two;
	AUTO_STR text = STR_INIT;

	assert_int_equal(master_create(*state, &c, "one", 0, &noon, &one, NULL), 0);
	for (int i = 1; i <= 2; i++)
		play(one, i, "both");
	assert_int_equal(master_fork(one, *state, 2, "two", &two, NULL), 0);
	play(one, 3, "first");
	play(two, 3, "second");
	play(two, 4, "second");
	assert_int_equal(master_rounds_read(one, &a, NULL), 0);
	assert_int_equal(master_rounds_read(two, &b, NULL), 0);
	assert_int_equal(a.v.n, 3);
	assert_int_equal(b.v.n, 4);
	assert_int_equal(master_rounds_common(&a, &b), 2);
	assert_string_equal(b.v.v[3].instruction, "second do 4");
	assert_string_equal(b.v.v[3].answer, "second answer 4");
	assert_string_equal(b.v.v[3].model, "opus");
	assert_int_equal(b.v.v[3].tokens_out, 10);
	assert_int_equal(master_conclusions(one, two, 2, &text, NULL), 0);
	assert_non_null(strstr(text.buf, "(\"two\")"));
	assert_non_null(strstr(text.buf, "second\n  answer 3"));
	assert_non_null(strstr(text.buf, "Round 4 there"));
	assert_null(strstr(text.buf, "both"));
	assert_int_equal(master_conclusions(one, two, 4, &text, NULL), ERR_NOTFOUND);
	assert_int_equal(master_close(one, NULL), 0);
	assert_int_equal(master_close(two, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_two_ways, temp_set_up, temp_tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
