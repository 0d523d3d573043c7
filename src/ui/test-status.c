#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "ui/status.h"

static void test_below_text(void **state)
{
	(void)state;
	struct term t;
	struct status s;

	term_init_capture(&t, 60, 10, false);
	status_init(&s, &t);
	status_set_names(&s, SV("rehearsal"), SV("first talk"));
	status_set_state(&s, STATUS_THINKING, SV(""));
	term_puts(&t, "Hello");
	status_show(&s);
	assert_string_equal(
		t.buf.buf, "Hello\033D\033M\0337\r\n⠋ thinking · rehearsal · first talk\0338");
	assert_int_equal(t.col, 5);
	str_clear(&t.buf);
	status_hide(&s);
	status_hide(&s);
	term_puts(&t, " you");
	status_show(&s);
	assert_string_equal(
		t.buf.buf, "\033[J you\033D\033M\0337\r\n⠋ thinking · rehearsal · first talk\0338");
	assert_int_equal(t.col, 9);
	status_release(&s);
	term_release(&t);
}

static void test_at_line_start(void **state)
{
	(void)state;
	struct term t;
	struct status s;

	term_init_capture(&t, 60, 10, true);
	t.ascii = true;
	status_init(&s, &t);
	status_set_names(&s, SV("claude"), SV(""));
	status_set_state(&s, STATUS_TOOL, SV("Bash\033[2J\n"));
	status_set_bypass(&s, true);
	status_show(&s);
	status_tick(&s, 61500);
	assert_string_equal(t.buf.buf,
		"\033[33m| Bash - !permissions off - claude\033[0m\r"
		"\033[J\033[33m/ Bash - 1:01 min - !permissions off - claude\033[0m\r");
	status_release(&s);
	term_release(&t);
}

/* Whoever is waited for looks for it: it does not move. */
static void test_a_question_waits(void **state)
{
	(void)state;
	struct term t;
	struct status s;

	term_init_capture(&t, 60, 10, false);
	status_init(&s, &t);
	status_set_names(&s, SV("claude"), SV(""));
	status_set_state(&s, STATUS_ASKING, SV(""));
	status_show(&s);
	status_tick(&s, 2000);
	assert_string_equal(t.buf.buf,
		"? waiting for your answer · claude\r"
		"\033[J? waiting for your answer · 2 s · claude\r");
	status_release(&s);
	term_release(&t);
}

static void test_fits_the_width(void **state)
{
	(void)state;
	struct term t;
	struct status s;

	term_init_capture(&t, 24, 10, false);
	status_init(&s, &t);
	status_set_names(&s, SV("rehearsal"), SV("a name that is far too long"));
	status_set_state(&s, STATUS_ANSWERING, SV(""));
	status_show(&s);
	struct sv line = str_sv(&t.buf);
	assert_int_equal(line.p[line.n - 1], '\r');
	assert_int_equal(utf8_width(sv_head(line, line.n - 1)), 23);
	status_release(&s);
	term_release(&t);
}

static void test_nothing_on_a_pipe(void **state)
{
	(void)state;
	struct term t;
	struct status s;

	term_init_capture(&t, 0, 0, false);
	status_init(&s, &t);
	status_show(&s);
	status_tick(&s, 5000);
	status_hide(&s);
	assert_string_equal(t.buf.buf, "");
	status_release(&s);
	term_release(&t);
}

static void test_keeps_the_style_of_the_answer(void **state)
{
	(void)state;
	struct term t;
	struct status s;

	term_init_capture(&t, 60, 10, true);
	status_init(&s, &t);
	term_style(&t, STYLE_BOLD);
	term_puts(&t, "loud");
	status_show(&s);
	assert_int_equal(t.style, STYLE_BOLD);
	status_release(&s);
	term_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_below_text),
		cmocka_unit_test(test_at_line_start),
		cmocka_unit_test(test_a_question_waits),
		cmocka_unit_test(test_fits_the_width),
		cmocka_unit_test(test_nothing_on_a_pipe),
		cmocka_unit_test(test_keeps_the_style_of_the_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
