#include "cli/permit.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static void on_room(void *data, bool asks)
{
	*(bool *)data = asks;
}

static void on_cancel(void *data)
{
	(void)data;
	fail_msg("nobody cancelled");
}

static const struct permit_ops ops = { .enter = on_room, .leave = on_room, .cancel = on_cancel };

/* A key that comes after the only question is over is no answer: it is left for whoever reads
 * next. */
static void test_a_question_is_over(void **state)
{
	const struct agent_ask first = { .id = "1", .always = true, .scope = SV("x") };
	const struct agent_ask second = { .id = "2" };
	const struct agent_event events[] = {
		{ .type = AGENT_EV_ASK, .tool = SV("Bash"), .text = SV("ls"), .ask = &first },
		{ .type = AGENT_EV_ASK, .tool = SV("Write"), .text = SV("a"), .ask = &second },
		{ .type = AGENT_EV_ASK_OVER, .ask = &first },
		{ .type = AGENT_EV_ASK_OVER, .ask = &second },
	};
	struct front front = { .loop = loop_new() };
	bool asks = false;
	struct permit permit;
	struct term term;
	int typed[2], shown[2];

	(void)state;
	assert_int_equal(pipe(typed), 0);
	assert_int_equal(pipe(shown), 0);
	term_init(&term, &(struct term_opts){ .fd = shown[1] });
	permit_init(&permit, &front, &term, typed[0], &ops, &asks);
	for (size_t i = 0; i < ARRAY_LEN(events); i++) {
		permit_event(&permit, &events[i]);
		assert_int_equal(asks, i < ARRAY_LEN(events) - 1);
	}
	assert_int_equal(usleep(2000 * KEYS_LOOK_MS), 0);
	assert_int_equal(write(typed[1], "y", 1), 1);
	assert_int_equal(loop_step(front.loop, 0, NULL), 0);
	assert_int_equal(permit.asked.n, 0);
	assert_int_equal(poll(&(struct pollfd){ .fd = typed[0], .events = POLLIN }, 1, 0), 1);
	permit_release(&permit);
	term_release(&term);
	loop_free(front.loop);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(close(typed[i]), 0);
		assert_int_equal(close(shown[i]), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_question_is_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
