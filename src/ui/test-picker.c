/*
 * The picker at a terminal of its own: a child runs it, the test types and looks at what is
 * written. What the screen looks like then is for tests/tty/picker.sh.
 */
#include "test-pty.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>

#include "base/mem.h"
#include "os/loop.h"
#include "ui/input.h"
#include "ui/picker.h"
#include "ui/wrap.h"

/* ---- the child ---- */

enum { LEFT = 100, FAILED = 101, ROWS = 40 };

/* Rows "row 0" to "row 39"; a word fits those whose text has it. */
struct rows {
	size_t chosen;
};

static int find(void *data, struct sv words, const struct worker *worker, struct picker_found *ret,
	struct err *reterr)
{
	size_t *rows = xcalloc(ROWS, sizeof(*rows)), at;

	(void)data;
	/* A search that would never end, unless it is overtaken. */
	while ((sv_is(words, "slow") || sv_is(words, "seen")) && !worker_cancelled(worker))
		(void)nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	if (worker_cancelled(worker) || sv_is(words, "broken")) {
		free(rows);
		return worker_cancelled(worker) ? err_set(reterr, ERR_CANCELLED, "overtaken")
						: err_set(reterr, ERR_INPUT, "it is broken");
	}
	*ret = (struct picker_found){ .rows = rows, .total = ROWS };
	for (size_t i = 0; i < ROWS; i++) {
		AUTO_FREE char *text = xasprintf("row %zu", i);
		if (sv_find(sv_of(text), words, &at))
			rows[ret->n++] = i;
	}
	return 0;
}

/* One row for the word "seen", before a search that would never end; nothing for others. */
static int glance(void *data, struct sv words, const struct worker *worker,
	struct picker_found *ret, struct err *reterr)
{
	size_t *rows = xcalloc(1, sizeof(*rows));

	(void)data;
	(void)worker;
	(void)reterr;
	rows[0] = 27;
	*ret = (struct picker_found){ .rows = rows, .n = sv_is(words, "seen"), .total = ROWS };
	return 0;
}

static void release(void *data, struct picker_found *found)
{
	(void)data;
	free(found->rows);
}

static void put_row(void *data, const struct picker_found *found, size_t row, struct str *cells)
{
	(void)data;
	str_addf(&cells[0], "row %zu \033]0;hostile\a", ((const size_t *)found->rows)[row]);
}

static int preview(void *data, const struct picker_found *found, size_t row,
	const struct worker *worker, struct term *t, struct picker_view *ret, struct err *reterr)
{
	size_t number = ((const size_t *)found->rows)[row];

	(void)data;
	while (number == 13 && !worker_cancelled(worker))
		(void)nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	if (number == 14) /* one that does not hear of being overtaken */
		(void)nanosleep(&(struct timespec){ .tv_nsec = 300000000 }, NULL);
	else if (worker_cancelled(worker))
		return err_set(reterr, ERR_CANCELLED, "overtaken");
	term_putf(t, "head of %zu\n", number);
	for (size_t i = 0; i < 50; i++)
		term_putf(t, "line %zu of %zu\n", i, number);
	*ret = (struct picker_view){ .fixed = 1, .at = PICKER_END };
	return 0;
}

static bool act_choose(void *data, struct picker *p, const struct picker_found *found, size_t row)
{
	struct rows *f = data;

	(void)p;
	f->chosen = ((const size_t *)found->rows)[row];
	return true;
}

static bool act_say(void *data, struct picker *p, const struct picker_found *found, size_t row)
{
	(void)data;
	(void)found;
	(void)row;
	picker_say(p, "it was said");
	return false;
}

static int run(int fd)
{
	static const struct picker_source source = { glance, find, release, put_row, preview };
	static const struct picker_column columns[] = { { .marked = true } };
	static const struct picker_key keys[] = {
		{ KEY_ENTER, "Enter", "choose", "choose it", act_choose },
		{ KEY_CTRL | 'y', "^Y", "say", "say it", act_say },
	};
	const struct term_opts screen = { .fd = fd, .term_name = "xterm" };
	struct rows f = { .chosen = FAILED };
	struct loop *loop = loop_new();
	struct term term;

	term_init(&term, &screen);
	struct picker *p = picker_new(&(struct picker_opts){ .loop = loop,
					      .term = &term,
					      .in_fd = fd,
					      .question = "Which?",
					      .columns = columns,
					      .n_columns = ARRAY_LEN(columns),
					      .source = &source,
					      .source_data = NULL,
					      .keys = keys,
					      .n_keys = ARRAY_LEN(keys),
					      .data = &f },
		NULL);
	int r = p ? picker_run(p, NULL) : -1;
	picker_free(p);
	loop_free(loop);
	term_release(&term);
	return r < 0 ? FAILED : r == 0 ? LEFT : (int)f.chosen;
}

/* ---- the test ---- */

struct rig {
	struct test_pty pty;
	pid_t child;
	struct termios before;
	struct str out;
};

static int set_up(void **state)
{
	struct rig *rig = xcalloc(1, sizeof(*rig));

	test_pty_open(&rig->pty);
	rig->out = (struct str)STR_INIT;
	assert_int_equal(tcgetattr(rig->pty.slave, &rig->before), 0);
	rig->child = fork();
	assert_true(rig->child >= 0);
	if (rig->child == 0) {
		(void)setsid();
		(void)ioctl(rig->pty.slave, TIOCSCTTY, 0);
		(void)close(rig->pty.master);
		int slave = rig->pty.slave;
		free(rig);
		_exit(run(slave));
	}
	*state = rig;
	return 0;
}

static int tear_down(void **state)
{
	struct rig *rig = *state;

	if (rig->child > 0) {
		(void)kill(rig->child, SIGKILL);
		(void)waitpid(rig->child, NULL, 0);
	}
	test_pty_close(&rig->pty);
	str_release(&rig->out);
	free(rig);
	return 0;
}

static void await(struct rig *rig, const char *text)
{
	for (int i = 0; i < 200 && !strstr(rig->out.buf, text); i++)
		test_pty_drain(&rig->pty, &rig->out);
	if (!strstr(rig->out.buf, text))
		fail_msg("never seen: %s", text);
}

/* Types, and waits for what must be written after it. */
static void type(struct rig *rig, const char *keys, const char *then)
{
	str_clear(&rig->out);
	assert_int_equal(write(rig->pty.master, keys, strlen(keys)), (ssize_t)strlen(keys));
	if (then)
		await(rig, then);
}

static int finish(struct rig *rig)
{
	struct termios now;
	int status;

	await(rig, "\033[?1049l");
	assert_int_equal(waitpid(rig->child, &status, 0), rig->child);
	rig->child = 0;
	assert_int_equal(tcgetattr(rig->pty.slave, &now), 0);
	assert_int_equal(now.c_lflag, rig->before.c_lflag);
	assert_int_equal(now.c_iflag, rig->before.c_iflag);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void test_the_first_is_chosen(void **state)
{
	struct rig *rig = *state;

	await(rig, "\033[?1049h");
	await(rig, "head of 0");
	assert_non_null(strstr(rig->out.buf, "line 49 of 0")); /* the end is in sight */
	assert_null(strstr(rig->out.buf, "hostile"));
	assert_non_null(strstr(rig->out.buf, "40/40"));
	type(rig, "\r", NULL);
	assert_int_equal(finish(rig), 0);
}

static void test_what_is_typed_is_listed(void **state)
{
	struct rig *rig = *state;

	await(rig, "head of 0");
	type(rig, "3", "13/40");
	type(rig, "7", "1/40");
	await(rig, "head of 37");
	type(rig, "\r", NULL);
	assert_int_equal(finish(rig), 37);
}

static void test_the_cursor_moves(void **state)
{
	struct rig *rig = *state;

	await(rig, "head of 0");
	type(rig, "\033[B\016\n", "head of 3");
	type(rig, "\020", "head of 2");
	type(rig, "\033[F", "head of 39");
	type(rig, "\033[A", "head of 38");
	type(rig, "\033[B\033[B", "head of 39");
	type(rig, "\033[5~", "head of 30");
	type(rig, "\033[H", "head of 0");
	/* The list has ten rows: a page is nine. */
	type(rig, "\033[6~", "head of 9");
	type(rig, "\r", NULL);
	assert_int_equal(finish(rig), 9);
}

static void test_the_preview_scrolls(void **state)
{
	struct rig *rig = *state;

	await(rig, "line 49 of 0");
	assert_null(strstr(rig->out.buf, "line 40 of 0"));
	type(rig, "\033[1;2A", "line 40 of 0");
	assert_null(strstr(rig->out.buf, "line 49 of 0"));
	type(rig, "\033[1;2B", "line 49 of 0");
	assert_null(strstr(rig->out.buf, "head of 0")); /* it never moved */
}

static void test_it_is_left(void **state)
{
	struct rig *rig = *state;

	await(rig, "head of 0");
	type(rig, "\033", NULL);
	assert_int_equal(finish(rig), LEFT);
}

static void test_a_key_in_pieces_is_no_escape(void **state)
{
	struct rig *rig = *state;

	await(rig, "head of 0");
	type(rig, "\033", NULL);
	type(rig, "[B", "head of 1");
	type(rig, "\003", NULL);
	assert_int_equal(finish(rig), LEFT);
}

static void test_what_is_pasted_chooses_nothing(void **state)
{
	struct rig *rig = *state;

	await(rig, "head of 0");
	type(rig, "\033[200~w\r3\r\003\033[201~", "0/40");
	type(rig, "\027\027", "40/40");
	type(rig, "\033[200~w 3\033[201~", "11/40");
	type(rig, "\r", NULL);
	assert_int_equal(finish(rig), 3);
}

static void test_typing_does_not_wait_for_the_search(void **state)
{
	struct rig *rig = *state;

	await(rig, "head of 0");
	type(rig, "slow", "slow");
	await(rig, "/40…"); /* it takes long: that is shown */
	type(rig, "\025", "40/40");
	type(rig, "12", "1/40");
	type(rig, "\r", NULL);
	assert_int_equal(finish(rig), 12);
}

/* What fits at a glance is listed before the search has ended, and is no answer of it: a choice
 * waits. */
static void test_what_fits_at_a_glance_comes_first(void **state)
{
	struct rig *rig = *state;

	await(rig, "head of 0");
	type(rig, "seen", "1/40");
	await(rig, "head of 27");
	type(rig, "\r", NULL);
	type(rig, "\025", "40/40");
	type(rig, "12", "1/40");
	type(rig, "\r", NULL);
	assert_int_equal(finish(rig), 12);
}

/* Who types fast means what was typed, not what happens to be listed still. */
static void test_a_choice_waits_for_the_search(void **state)
{
	struct rig *rig = *state;

	await(rig, "head of 0");
	type(rig, "37\r", NULL);
	assert_int_equal(finish(rig), 37);
}

static void test_moves_wait_for_the_search(void **state)
{
	struct rig *rig = *state;

	await(rig, "head of 0");
	type(rig, "3\033[B\033[B\r", NULL);
	assert_int_equal(finish(rig), 23);
}

static void test_what_waits_is_dropped_by_other_words(void **state)
{
	struct rig *rig = *state;

	await(rig, "head of 0");
	type(rig, "slow\r", "slow");
	await(rig, "/40…");
	type(rig, "\025", "40/40");
	type(rig, "broken\r", "it is broken");
	type(rig, "\0251", "13/40");
	type(rig, "\003", NULL);
	assert_int_equal(finish(rig), LEFT);
}

static void test_moving_does_not_wait_for_the_preview(void **state)
{
	struct rig *rig = *state;

	await(rig, "head of 0");
	type(rig, "13", "1/40");
	type(rig,
		"\025"
		"5",
		"head of 5");
	type(rig, "\033[H\033[F\r", NULL);
	assert_int_equal(finish(rig), 35);
}

static void test_what_is_no_longer_listed_is_not_shown(void **state)
{
	struct rig *rig = *state;

	await(rig, "head of 0");
	/* Its preview is still being made when nothing fits any more. */
	type(rig, "14", "1/40");
	type(rig, "x", "nothing fits");
	/* When that of another row is there, the thread has told of the first. */
	type(rig,
		"\025"
		"5",
		"head of 5");
	assert_null(strstr(rig->out.buf, "head of 14"));
}

static void test_nothing_is_written_when_nothing_changed(void **state)
{
	struct rig *rig = *state;

	await(rig, "head of 0");
	await(rig, "40/40");
	test_pty_drain(&rig->pty, &rig->out);
	type(rig, "\033[99~\033[A\033[H", NULL);
	test_pty_drain(&rig->pty, &rig->out);
	assert_string_equal(rig->out.buf, "");
	type(rig, "x", "nothing fits");
	assert_null(strstr(rig->out.buf, "Which?")); /* only the lines that are others */
	type(rig, "\r", NULL); /* there is nothing to choose */
	test_pty_drain(&rig->pty, &rig->out);
	assert_string_equal(rig->out.buf, "");
}

static void test_what_is_said_goes_with_the_next_key(void **state)
{
	struct rig *rig = *state;

	await(rig, "head of 0");
	type(rig, "\031", "it was said");
	type(rig, "\033[B", "Enter choose");
	type(rig, "broken", "it is broken");
	type(rig, "\025?", "these keys");
	type(rig, "x", "head of 0");
	type(rig, "\033OP", "say it");
}

static void test_another_size(void **state)
{
	const struct winsize wide = { .ws_row = 24, .ws_col = 130 };
	const struct winsize tiny = { .ws_row = 2, .ws_col = 9 };
	struct rig *rig = *state;

	await(rig, "head of 0");
	str_clear(&rig->out);
	assert_int_equal(ioctl(rig->pty.master, TIOCSWINSZ, &wide), 0);
	await(rig, "\033[66G");
	await(rig, "line 49 of 0");
	str_clear(&rig->out);
	assert_int_equal(ioctl(rig->pty.master, TIOCSWINSZ, &tiny), 0);
	await(rig, "row 0");
	type(rig, "\033[B", "row 1");
	type(rig, "\r", NULL);
	assert_int_equal(finish(rig), 1);
}

static void test_killed(void **state)
{
	struct rig *rig = *state;
	struct termios now;

	await(rig, "head of 0");
	assert_int_equal(tcgetattr(rig->pty.slave, &now), 0);
	assert_true(!(now.c_lflag & ICANON));
	str_clear(&rig->out);
	assert_int_equal(kill(rig->child, SIGKILL), 0);
	await(rig, "\033[?1049l");
	for (int i = 0; i < 200; i++) { /* the mode comes right after it */
		assert_int_equal(tcgetattr(rig->pty.slave, &now), 0);
		if (now.c_lflag == rig->before.c_lflag)
			break;
		(void)nanosleep(&(struct timespec){ .tv_nsec = 10000000 }, NULL);
	}
	assert_int_equal(finish(rig), 128 + SIGKILL);
}

/* ---- lines of a preview ---- */

static void test_fold(void **state)
{
	AUTO_STRV lines = STRV_INIT;

	(void)state;
	assert_int_equal(wrap_fold(SV("abcdef\n\n\033[1mxy日本z\033[0m!\n"), 5, 5, &lines), 1);
	assert_int_equal(lines.n, 5);
	assert_string_equal(lines.v[0], "abcde");
	assert_string_equal(lines.v[1], "f");
	assert_string_equal(lines.v[2], "");
	assert_string_equal(lines.v[3], "\033[1mxy日\033[m");
	assert_string_equal(lines.v[4], "\033[1m本z\033[0m!");
	strv_release(&lines);
	assert_int_equal(wrap_fold(SV("a\tb"), 20, 0, &lines), 0);
	assert_string_equal(lines.v[0], "a       b");
	assert_int_equal(wrap_style(SV("\033[0;1mx")), 6);
	assert_int_equal(wrap_style(SV("x\033[0m")), 0);
}

#define AT_TERMINAL(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		AT_TERMINAL(test_the_first_is_chosen),
		AT_TERMINAL(test_what_is_typed_is_listed),
		AT_TERMINAL(test_the_cursor_moves),
		AT_TERMINAL(test_the_preview_scrolls),
		AT_TERMINAL(test_it_is_left),
		AT_TERMINAL(test_a_key_in_pieces_is_no_escape),
		AT_TERMINAL(test_what_is_pasted_chooses_nothing),
		AT_TERMINAL(test_what_fits_at_a_glance_comes_first),
		AT_TERMINAL(test_a_choice_waits_for_the_search),
		AT_TERMINAL(test_moves_wait_for_the_search),
		AT_TERMINAL(test_what_waits_is_dropped_by_other_words),
		AT_TERMINAL(test_typing_does_not_wait_for_the_search),
		AT_TERMINAL(test_moving_does_not_wait_for_the_preview),
		AT_TERMINAL(test_what_is_no_longer_listed_is_not_shown),
		AT_TERMINAL(test_nothing_is_written_when_nothing_changed),
		AT_TERMINAL(test_what_is_said_goes_with_the_next_key),
		AT_TERMINAL(test_another_size),
		AT_TERMINAL(test_killed),
		cmocka_unit_test(test_fold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
