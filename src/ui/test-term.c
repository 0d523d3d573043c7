#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "ui/term.h"

static void test_styles_vanish_without_colour(void **state)
{
	(void)state;
	struct term t;

	term_init_capture(&t, 40, 10, false);
	term_styled(&t, STYLE_ERROR, SV("no"));
	assert_string_equal(t.buf.buf, "no");
	assert_int_equal(t.col, 2);
	term_release(&t);
}

static void test_styles_are_changed_not_repeated(void **state)
{
	(void)state;
	struct term t;

	term_init_capture(&t, 40, 10, true);
	term_style(&t, STYLE_ERROR);
	term_puts(&t, "a");
	term_style(&t, STYLE_ERROR);
	term_style(&t, STYLE_DIM);
	term_puts(&t, "b");
	term_style(&t, STYLE_PLAIN);
	assert_string_equal(t.buf.buf, "\033[1;31ma\033[0;2mb\033[0m");
	assert_int_equal(t.col, 2);
	term_release(&t);
}

static void test_column_is_known(void **state)
{
	(void)state;
	struct term t;

	term_init_capture(&t, 10, 10, false);
	term_puts(&t, "123\n12345");
	assert_int_equal(t.col, 5);
	term_puts(&t, "67890");
	assert_int_equal(t.col, 10);
	term_puts(&t, "x");
	assert_int_equal(t.col, 1);
	term_puts(&t, "\n日本");
	assert_int_equal(t.col, 4);
	term_fresh_line(&t);
	term_fresh_line(&t);
	assert_int_equal(t.col, 0);
	assert_string_equal(t.buf.buf, "123\n1234567890x\n日本\n");
	term_release(&t);
}

static void test_foreign_text(void **state)
{
	(void)state;
	struct term t;
	struct sv hostile = SV("a\033]0;title\ab\033[2Jc\td\xc2\x9b");

	term_init_capture(&t, 40, 10, true);
	term_put(&t, hostile);
	assert_string_equal(t.buf.buf, "abc\td\xef\xbf\xbd");
	str_clear(&t.buf);
	term_putf(&t, "%s\n", "\033[2Jx\u202ey");
	assert_string_equal(t.buf.buf, "x\xef\xbf\xbdy\n");
	str_clear(&t.buf);
	term_text_line(&t, SV("x\n\ty"));
	assert_string_equal(t.buf.buf, "x y");
	term_release(&t);

	term_init_capture(&t, 0, 0, false);
	term_put(&t, hostile);
	assert_string_equal(t.buf.buf, "abc\td\xef\xbf\xbd");
	term_release(&t);
}

static void test_pipe_is_no_terminal(void **state)
{
	(void)state;
	int ends[2];
	char got[16] = "";
	struct term t;
	struct err err = ERR_INIT;

	assert_int_equal(pipe(ends), 0);
	term_init(&t, &(struct term_opts){ .fd = ends[1], .term_name = "xterm" });
	assert_false(t.tty);
	assert_false(t.colour);
	assert_false(t.cursor);
	assert_false(term_resize(&t));
	term_puts(&t, "hello");
	assert_int_equal(term_flush(&t, &err), 0);
	assert_int_equal(read(ends[0], got, sizeof(got)), 5);
	assert_string_equal(got, "hello");
	(void)close(ends[1]);
	term_puts(&t, "more");
	assert_int_equal(term_flush(&t, &err), -9);
	assert_string_equal(err.msg, "write to the terminal or pipe: Bad file descriptor");
	(void)close(ends[0]);
	term_release(&t);
}

static void test_colour_choice(void **state)
{
	(void)state;
	int ends[2];
	struct term t;

	assert_int_equal(pipe(ends), 0);
	term_init(&t,
		&(struct term_opts){
			.fd = ends[1], .colour = TERM_COLOUR_ALWAYS, .no_color = true });
	assert_true(t.colour);
	assert_false(t.cursor);
	term_release(&t);
	struct term_mode mode = TERM_MODE_INIT;
	assert_false(term_mode_save(&mode, ends[0]));
	term_mode_quiet(&mode);
	term_mode_restore(&mode);
	(void)close(ends[0]);
	(void)close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_styles_vanish_without_colour),
		cmocka_unit_test(test_styles_are_changed_not_repeated),
		cmocka_unit_test(test_column_is_known),
		cmocka_unit_test(test_foreign_text),
		cmocka_unit_test(test_pipe_is_no_terminal),
		cmocka_unit_test(test_colour_choice),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
