#include "ui/test-pty.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/loop.h"
#include "ui/editor.h"

struct fixture {
	struct test_pty pty;
	struct term term;
	struct loop *loop;
	struct editor *editor;
	editor_complete_fn complete;
	char folder[64];
	char history[96];
	struct sv keys;
};

static void open_editor(struct fixture *f, size_t history_max)
{
	struct err err = ERR_INIT;
	struct editor_opts opts = {
		.in_fd = f->pty.slave,
		.term = &f->term,
		.loop = f->loop,
		.term_name = "xterm",
		.history_path = f->history,
		.history_max = history_max,
		.complete = f->complete,
	};

	editor_free(f->editor);
	assert_int_equal(editor_new(&opts, &f->editor, &err), 0);
}

static void complete(void *data, struct sv word, struct strv *ret_words)
{
	static const char *const known[] = { "alpha", "alpine", "beta" };

	(void)data;
	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (sv_starts(sv_of(known[i]), word))
			strv_add(ret_words, known[i]);
}

static int set_up_with(void **state, editor_complete_fn fn)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	f->complete = fn;
	assert_non_null(setlocale(LC_CTYPE, "C.UTF-8"));
	test_pty_open(&f->pty);
	term_init(&f->term, &(struct term_opts){ .fd = f->pty.slave, .term_name = "xterm" });
	f->loop = loop_new();
	(void)snprintf(f->folder, sizeof(f->folder), "/tmp/faden-editor-XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	(void)snprintf(f->history, sizeof(f->history), "%s/history", f->folder);
	open_editor(f, 0);
	*state = f;
	return 0;
}

static int set_up(void **state)
{
	return set_up_with(state, NULL);
}

static int set_up_completing(void **state)
{
	return set_up_with(state, complete);
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	editor_free(f->editor);
	loop_free(f->loop);
	(void)unlink(f->history);
	(void)rmdir(f->folder);
	term_release(&f->term);
	test_pty_close(&f->pty);
	free(f);
	return 0;
}

/* By now the editor waits, so the terminal is in its edit mode. */
static void press(void *data)
{
	struct fixture *f = data;

	assert_int_equal(write(f->pty.master, f->keys.p, f->keys.n), (ssize_t)f->keys.n);
}

static int type(struct fixture *f, const char *keys, struct str *text)
{
	struct err err = ERR_INIT;
	AUTO_STR screen = STR_INIT;

	f->keys = sv_of(keys);
	(void)loop_add_timer(f->loop, 0, press, f);
	int r = editor_read(f->editor, "> ", STYLE_USER, text, &err);
	test_pty_drain(&f->pty, &screen);
	assert_non_null(strstr(screen.buf, "> "));
	return r;
}

static void check(struct fixture *f, const char *keys, const char *want)
{
	AUTO_STR text = STR_INIT;

	assert_int_equal(type(f, keys, &text), EDITOR_LINE);
	assert_string_equal(text.buf, want);
}

static void test_lines(void **state)
{
	struct fixture *f = *state;

	check(f, "hello\r", "hello");
	check(f, "\r", "");
	check(f, "wörld 日本 🎉\n", "wörld 日本 🎉");
	check(f, "abc\001X\005Y\r", "XabcY");
	check(f, "abc\033[D\033[D\177Z\r", "Zbc");
	check(f, "one \\\rtwo\r", "one \ntwo");
	check(f, "not \\x\r", "not \\x");
}

static void test_paste(void **state)
{
	struct fixture *f = *state;

	check(f, "a \033[200~x\ry\r\nz\r\033[201~ b\r", "a x\ny\nz b");
	check(f, "\033[200~evil\033]0;t\a\033[2J\tend\033[201~\r", "evil\tend");
	check(f, "\033[200~1\r2\r3\r4\r5\r6\033[201~!\r", "1\n2\n3\n4\n5\n6!");
	check(f, "[pasted 6 lines, 1]\r", "[pasted 6 lines, 1]");
}

static void test_other_ends(void **state)
{
	struct fixture *f = *state;
	AUTO_STR text = STR_INIT;
	struct termios before, after;

	assert_int_equal(tcgetattr(f->pty.slave, &before), 0);
	assert_int_equal(type(f, "half\003", &text), EDITOR_DROPPED);
	assert_string_equal(text.buf, "");
	assert_int_equal(type(f, "\003", &text), EDITOR_INTERRUPTED);
	assert_int_equal(type(f, "\004", &text), EDITOR_EOF);
	assert_int_equal(tcgetattr(f->pty.slave, &after), 0);
	assert_int_equal(before.c_lflag, after.c_lflag);
	assert_int_equal(before.c_iflag, after.c_iflag);
	assert_int_equal(before.c_oflag, after.c_oflag);
}

static void cancel(void *data)
{
	editor_cancel(((struct fixture *)data)->editor);
}

static void test_cancel_keeps_what_was_typed(void **state)
{
	struct fixture *f = *state;
	AUTO_STR text = STR_INIT;

	(void)loop_add_timer(f->loop, 100, cancel, f);
	assert_int_equal(type(f, "unsent", &text), EDITOR_CANCELLED);
	check(f, " text\r", "unsent text");
	check(f, "b\t\r", "b"); /* this one has nothing to complete with */
}

static void notice(void *data)
{
	struct fixture *f = data;

	editor_hide(f->editor);
	term_puts(&f->term, "NOTICE\n");
	editor_show(f->editor);
	f->keys = SV("\r");
	press(f);
}

static void test_notice_above_the_prompt(void **state)
{
	struct fixture *f = *state;
	AUTO_STR text = STR_INIT;
	AUTO_STR screen = STR_INIT;
	struct err err = ERR_INIT;

	f->keys = SV("abc");
	(void)loop_add_timer(f->loop, 0, press, f);
	(void)loop_add_timer(f->loop, 100, notice, f);
	assert_int_equal(editor_read(f->editor, "> ", STYLE_PLAIN, &text, &err), EDITOR_LINE);
	assert_string_equal(text.buf, "abc");
	test_pty_drain(&f->pty, &screen);
	const char *at = strstr(screen.buf, "\r\033[JNOTICE\r\n");
	assert_non_null(at);
	assert_non_null(strstr(at, "> abc"));
}

static void remember(struct fixture *f, const char *text)
{
	struct err err = ERR_INIT;

	assert_int_equal(editor_remember(f->editor, sv_of(text), &err), 0);
}

static void test_history(void **state)
{
	struct fixture *f = *state;
	AUTO_STR file = STR_INIT;
	struct stat st;

	remember(f, "first");
	remember(f, "two\nlines \\n");
	remember(f, "two\nlines \\n");
	remember(f, " secret");
	remember(f, "");
	assert_int_equal(file_read(f->history, 1024, &file, NULL), 0);
	assert_string_equal(file.buf, "first\ntwo\\nlines \\\\n\n");
	assert_int_equal(stat(f->history, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	check(f, "\020\r", "two\nlines \\n");
	open_editor(f, 0);
	check(f, "\020\020\r", "first");
	check(f, "\033[A\r", "two\nlines \\n");
	check(f, "\022fir\r", "first");
}

static bool is_first(void *data, struct sv entry)
{
	*(size_t *)data += 1;
	return sv_eq(entry, SV("two\nlines \\n")) || sv_is(entry, "first");
}

/* What is not to stay goes from the file, and nothing else changes there. */
static void test_history_is_forgotten(void **state)
{
	struct fixture *f = *state;
	AUTO_STR file = STR_INIT;
	size_t seen = 0, gone = 7;

	assert_int_equal(editor_forget("/nowhere/history", is_first, &seen, &gone, NULL), 0);
	assert_int_equal(gone, 0);
	assert_int_equal(unlink(f->history), 0);
	remember(f, "first");
	remember(f, "two");
	remember(f, "two\nlines \\n");
	remember(f, "third");
	assert_int_equal(editor_forget(f->history, is_first, &seen, &gone, NULL), 0);
	assert_int_equal(seen, 4);
	assert_int_equal(gone, 2);
	assert_int_equal(file_read(f->history, 1024, &file, NULL), 0);
	assert_string_equal(file.buf, "first\ntwo\\nlines \\\\n\n");
}

static void test_history_file_of_anybody(void **state)
{
	struct fixture *f = *state;
	AUTO_STR file = STR_INIT;
	struct err err = ERR_INIT;
	const struct sv text = SV("1\n2\n3\n4\n5\n6\n7\n\xff\033[2J\\x\nlast\n");

	assert_int_equal(file_replace(f->history, text, 0600, &err), 0);
	open_editor(f, 3);
	assert_int_equal(file_read(f->history, 1024, &file, NULL), 0);
	assert_string_equal(file.buf, "7\n\xff\033[2J\\x\nlast\n");
	check(f, "\020\r", "last");
	check(f, "\020\020\r", "\xef\xbf\xbdx");
	check(f, "\020\020\020\020\020\r", "7");
}

/* Few large pastes make it large; the last of them are kept. */
static void test_history_too_large(void **state)
{
	struct fixture *f = *state;
	AUTO_STR file = STR_INIT;

	for (int i = 0; i < 17; i++) {
		str_addf(&file, "%d ", i);
		size_t n = file.len;
		(void)str_reserve(&file, 1 << 20);
		memset(file.buf + n, 'x', 1 << 20);
		file.len = n + (1 << 20);
		str_addc(&file, '\n');
	}
	str_adds(&file, "last\n");
	assert_int_equal(file_replace(f->history, str_sv(&file), 0600, NULL), 0);
	open_editor(f, 0);
	check(f, "\020\r", "last");
	assert_int_equal(file_read(f->history, EDITOR_HISTORY_FILE_MAX, &file, NULL), 0);
	assert_true(sv_starts(str_sv(&file), SV("2 x")));
	assert_true(sv_ends(str_sv(&file), SV("x\nlast\n")));
}

static void test_completion(void **state)
{
	struct fixture *f = *state;

	check(f, "x b\tc\r", "x beta c");
	check(f, "al\tha\t!\r", "alpha !");
	check(f, "al\t\th\r", "alph");
	check(f, "zz\t\r", "zz");
}

static void test_half_a_character(void **state)
{
	struct fixture *f = *state;
	AUTO_STR text = STR_INIT;

	check(f, "a\xc3x\xe2\x82!\r", "a\xef\xbf\xbdx\xef\xbf\xbd!");
	assert_int_equal(type(f, "\xe9\003", &text), EDITOR_DROPPED);
}

/* Keys that somebody else has read come before those of the terminal, as if typed. */
static void test_typed_before(void **state)
{
	struct fixture *f = *state;
	AUTO_STR text = STR_INIT;

	editor_type(f->editor, SV("hällo \177, w"));
	check(f, "orld\r", "hällo, world");
	editor_type(f->editor, SV("one\ntw"));
	assert_int_equal(editor_read(f->editor, "> ", STYLE_USER, &text, NULL), EDITOR_LINE);
	assert_string_equal(text.buf, "one");
	check(f, "o\r", "two");
	/* A pasted block too, of which the rest comes now. */
	editor_type(f->editor, SV("see \033[200~one\rtw"));
	check(f, "o\r\tthree\033[201~ now\r", "see one\ntwo\n\tthree now");
	editor_type(f->editor, SV("\004"));
	assert_int_equal(editor_read(f->editor, "> ", STYLE_USER, &text, NULL), EDITOR_EOF);
}

static void test_dumb_terminal(void **state)
{
	struct fixture *f = *state;
	struct fixture dumb = { .pty = f->pty, .loop = f->loop };
	struct editor_opts opts = {
		.in_fd = f->pty.slave, .term = &dumb.term, .loop = f->loop, .term_name = "dumb"
	};
	AUTO_STR text = STR_INIT;
	struct err err = ERR_INIT;

	term_init(&dumb.term, &(struct term_opts){ .fd = f->pty.slave, .term_name = "dumb" });
	assert_int_equal(editor_new(&opts, &dumb.editor, &err), 0);
	check(&dumb, "hällo\n", "hällo");
	check(&dumb, "one \\\ntwo\n", "one \ntwo");
	editor_type(dumb.editor, SV("typed "));
	check(&dumb, "before\n", "typed before");
	assert_int_equal(editor_remember(dumb.editor, SV("x"), &err), 0);
	(void)loop_add_timer(dumb.loop, 50, cancel, &dumb);
	assert_int_equal(type(&dumb, "", &text), EDITOR_CANCELLED);
	assert_int_equal(type(&dumb, "\004", &text), EDITOR_EOF);
	editor_free(dumb.editor);
	term_release(&dumb.term);
}

/* Large enough to be noticed when room is made for it, small enough to do no harm. */
enum { VAST_COLS = 20000, VAST_ROWS = 5000 };

static void set_size(const struct fixture *f, unsigned short cols, unsigned short rows)
{
	const struct winsize size = { .ws_row = rows, .ws_col = cols };

	assert_int_equal(ioctl(f->pty.slave, TIOCSWINSZ, &size), 0);
}

static long peak_kb(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	return usage.ru_maxrss;
}

/* While a line is edited. */
static void grow(void *data)
{
	struct fixture *f = data;

	set_size(f, VAST_COLS, VAST_ROWS);
	editor_resize(f->editor);
}

/* Nothing is kept for each place of a screen that cannot be. */
static void test_terminal_larger_than_any(void **state)
{
	enum { COLS = 2048, ROWS = EDITOR_CELLS_MAX / COLS, MOST_KB = 100 * 1024 };
	struct fixture *f = *state;
	long before = peak_kb();

	set_size(f, COLS, ROWS);
	open_editor(f, 0);
	check(f, "ab\002c\r", "acb"); /* Ctrl-B goes back */
	set_size(f, VAST_COLS, VAST_ROWS);
	editor_resize(f->editor);
	check(f, "ab\002c\n", "ab\002c");
	set_size(f, 40, 24);
	editor_resize(f->editor);
	check(f, "ab\002c\r", "acb");

	(void)loop_add_timer(f->loop, 0, grow, f);
	check(f, "ab\002c\r", "acb");

	set_size(f, COLS, ROWS + 1);
	open_editor(f, 0);
	check(f, "ab\002c\n", "ab\002c");
	set_size(f, VAST_COLS, VAST_ROWS);
	open_editor(f, 0);
	check(f, "ab\002c\n", "ab\002c");
	editor_resize(f->editor);
	check(f, "again\n", "again");
	assert_true(peak_kb() - before < MOST_KB);
}

static void test_needs_a_terminal(void **state)
{
	(void)state;
	struct term t;
	struct editor *e = NULL;
	struct err err = ERR_INIT;

	term_init_capture(&t, 0, 0, false);
	assert_int_equal(
		editor_new(&(struct editor_opts){ .in_fd = -1, .term = &t }, &e, &err), ERR_USAGE);
	assert_null(e);
	term_release(&t);
}

#ifdef __SANITIZE_ADDRESS__
/* The terminal description that libedit asks ncurses for is never given back. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
	return "leak:_nc_\nleak:copy_termtype\n";
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_paste),
		cmocka_unit_test(test_other_ends),
		cmocka_unit_test_setup_teardown(
			test_cancel_keeps_what_was_typed, set_up, tear_down),
		cmocka_unit_test(test_notice_above_the_prompt),
		cmocka_unit_test(test_history),
		cmocka_unit_test(test_history_is_forgotten),
		cmocka_unit_test(test_history_file_of_anybody),
		cmocka_unit_test(test_history_too_large),
		cmocka_unit_test(test_completion),
		cmocka_unit_test(test_half_a_character),
		cmocka_unit_test(test_typed_before),
		cmocka_unit_test(test_dumb_terminal),
		cmocka_unit_test_setup_teardown(test_terminal_larger_than_any, set_up, tear_down),
		cmocka_unit_test(test_needs_a_terminal),
	};

	/* One editor for most of them: the terminal library never gives back all of what it takes
	 * for the fifth. */
	return cmocka_run_group_tests(tests, set_up_completing, tear_down);
}
