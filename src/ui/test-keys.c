#include "test-pty.h"

#include <string.h>
#include <termios.h>
#include <time.h>

#include "base/mem.h"
#include "ui/keys.h"

struct rig {
	struct test_pty pty;
	struct loop *loop;
	struct keys keys;
	struct str got; /* what came as an answer */
};

/* In place of the C library's: time passes in pass() only, however slow the machine is. */
static int64_t now_ms = 1000000;
int clock_gettime(clockid_t clock, struct timespec *ret)
{
	(void)clock;
	*ret = (struct timespec){ .tv_sec = now_ms / 1000, .tv_nsec = now_ms % 1000 * 1000000 };
	return 0;
}

static void on_key(void *data, char key)
{
	struct rig *rig = data;

	str_addc(&rig->got, key == KEYS_ESCAPE ? '^' : key == KEYS_GONE ? '!' : key);
}

static int set_up(void **state)
{
	struct rig *rig = xcalloc(1, sizeof(*rig));
	struct termios raw;

	test_pty_open(&rig->pty);
	assert_int_equal(tcgetattr(rig->pty.slave, &raw), 0);
	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	assert_int_equal(tcsetattr(rig->pty.slave, TCSANOW, &raw), 0);
	rig->loop = loop_new();
	rig->got = (struct str)STR_INIT;
	keys_init(&rig->keys, rig->loop, rig->pty.slave);
	*state = rig;
	return 0;
}

static int tear_down(void **state)
{
	struct rig *rig = *state;

	keys_release(&rig->keys);
	loop_free(rig->loop);
	test_pty_close(&rig->pty);
	str_release(&rig->got);
	free(rig);
	return 0;
}

/* The kernel hands it over a moment later. */
static void await(struct rig *rig)
{
	struct pollfd ready = { .fd = rig->pty.slave, .events = POLLIN };

	assert_int_equal(poll(&ready, 1, -1), 1);
}

static void type(struct rig *rig, const char *text)
{
	assert_int_equal(write(rig->pty.master, text, strlen(text)), (ssize_t)strlen(text));
	await(rig);
}

static void pass(struct rig *rig, int64_t ms)
{
	assert_int_equal(loop_step(rig->loop, 0, NULL), 0);
	while (ms-- > 0) {
		now_ms++;
		assert_int_equal(loop_step(rig->loop, 0, NULL), 0);
	}
}

static void expect(struct rig *rig, const char *got, const char *ahead)
{
	assert_string_equal(rig->got.buf, got);
	assert_string_equal(rig->keys.ahead.buf, ahead);
	str_clear(&rig->got);
	str_clear(&rig->keys.ahead);
}

static void test_one_key_answers(void **state)
{
	struct rig *rig = *state;

	keys_ask(&rig->keys, "yn", on_key, rig);
	pass(rig, KEYS_LOOK_MS);
	expect(rig, "", "");
	type(rig, "N");
	pass(rig, KEYS_LOOK_MS);
	/* The Enter belongs to it, what follows does not. */
	type(rig, "\n");
	pass(rig, KEYS_LOOK_MS);
	type(rig, "yes\n");
	pass(rig, KEYS_LOOK_MS);
	expect(rig, "n", "yes\n");
	pass(rig, KEYS_ENTER_MS);
	type(rig, "y");
	pass(rig, KEYS_LOOK_MS);
	expect(rig, "", ""); /* nobody reads it now */
}

static void test_what_was_typed_before_is_no_answer(void **state)
{
	struct rig *rig = *state;

	type(rig, "yes, do y");
	keys_ask(&rig->keys, "yan", on_key, rig);
	pass(rig, 2 * KEYS_LOOK_MS);
	type(rig, "y"); /* somebody types on */
	pass(rig, KEYS_LOOK_MS);
	type(rig, "a");
	pass(rig, KEYS_PAUSE_MS + KEYS_LOOK_MS);
	expect(rig, "", "yes, do yya");
	type(rig, "a");
	pass(rig, KEYS_LOOK_MS);
	expect(rig, "a", "");
}

static void test_too_soon_or_not_alone(void **state)
{
	struct rig *rig = *state;

	keys_ask(&rig->keys, "yn", on_key, rig);
	type(rig, "y");
	pass(rig, KEYS_PAUSE_MS - 1);
	expect(rig, "", "");
	type(rig, "y");
	pass(rig, KEYS_PAUSE_MS);
	expect(rig, "", "yy");
	type(rig, "yn");
	pass(rig, KEYS_LOOK_MS);
	expect(rig, "", "yn");
	pass(rig, KEYS_PAUSE_MS);
	type(rig, "x");
	pass(rig, KEYS_LOOK_MS);
	type(rig, "y");
	pass(rig, KEYS_PAUSE_MS);
	expect(rig, "", "xy");
}

/* A wrong key is nothing that whoever reads next would want. */
static void test_a_slip_is_dropped(void **state)
{
	struct rig *rig = *state;
	static const char *const slips[] = { "x", "ä", " " };

	for (size_t i = 0; i < ARRAY_LEN(slips); i++) {
		keys_ask(&rig->keys, "yn", on_key, rig);
		pass(rig, 2 * KEYS_LOOK_MS);
		type(rig, slips[i]);
		pass(rig, KEYS_PAUSE_MS);
		type(rig, "y");
		pass(rig, KEYS_LOOK_MS);
		expect(rig, "y", "");
	}
	/* Behind something else it is a part of that, and is not dropped with the question. */
	type(rig, "and");
	keys_ask(&rig->keys, "yn", on_key, rig);
	pass(rig, 2 * KEYS_PAUSE_MS);
	type(rig, "x");
	pass(rig, 2 * KEYS_PAUSE_MS);
	expect(rig, "", "andx");
	type(rig, "x");
	pass(rig, 1);
	keys_close(&rig->keys);
	pass(rig, 2 * KEYS_PAUSE_MS);
	expect(rig, "", "");
}

static void test_enter_says_nothing(void **state)
{
	struct rig *rig = *state;

	keys_ask(&rig->keys, "yn", on_key, rig);
	pass(rig, 2 * KEYS_LOOK_MS);
	type(rig, "\n");
	pass(rig, KEYS_LOOK_MS);
	type(rig, "y\n");
	pass(rig, KEYS_LOOK_MS);
	expect(rig, "y", "");
}

static void test_escape(void **state)
{
	struct rig *rig = *state;

	keys_ask(&rig->keys, "yn", on_key, rig);
	pass(rig, 2 * KEYS_LOOK_MS);
	type(rig, "\033[A"); /* an arrow */
	pass(rig, 2 * KEYS_SEQUENCE_MS);
	expect(rig, "", "");
	type(rig, "\033");
	pass(rig, 3 * KEYS_SEQUENCE_MS);
	expect(rig, "^", "");
	type(rig, "\004");
	pass(rig, KEYS_SEQUENCE_MS);
	expect(rig, "^", "");
}

static void test_the_next_question(void **state)
{
	struct rig *rig = *state;

	keys_ask(&rig->keys, "yn", on_key, rig);
	pass(rig, 2 * KEYS_LOOK_MS);
	keys_ask(&rig->keys, "b", on_key, rig);
	type(rig, "y");
	pass(rig, KEYS_LOOK_MS);
	expect(rig, "", "");
	keys_close(&rig->keys);
	assert_null(rig->keys.source);
}

static void test_the_terminal_goes(void **state)
{
	struct rig *rig = *state;

	keys_ask(&rig->keys, "yn", on_key, rig);
	assert_int_equal(close(rig->pty.master), 0);
	await(rig);
	pass(rig, KEYS_LOOK_MS);
	expect(rig, "!", "");
	rig->pty.master = dup(rig->pty.slave);
}

struct lines {
	struct keys *keys;
	struct str heard;
};

static bool on_line(void *data, struct sv line, bool ended)
{
	struct lines *l = data;

	if (ended)
		str_addf(&l->heard, "[%.*s]", SV_ARG(line));
	return ended && sv_is(line, "stop");
}

static void test_what_is_typed_ahead_is_heard(void **state)
{
	struct rig *rig = *state;
	struct lines lines = { .keys = &rig->keys, .heard = STR_INIT };

	keys_listen(&rig->keys, on_line, &lines);
	type(rig, "x\bfix ä\177it\r");
	pass(rig, 1);
	type(rig, "sto");
	pass(rig, 1);
	type(rig, "p\nnot this\025and");
	pass(rig, 1);
	assert_string_equal(lines.heard.buf, "[fix it][stop]");
	/* Only what was meant for now is gone. */
	expect(rig, "", "fix it\nand");
	/* During a question too, and a question ends no listening. Who types on has not seen it. */
	type(rig, "so");
	pass(rig, 1);
	keys_ask(&rig->keys, "yn", on_key, rig);
	pass(rig, 2 * KEYS_LOOK_MS);
	type(rig, "y");
	pass(rig, 1);
	expect(rig, "", "soy");
	type(rig, "stop");
	pass(rig, 1);
	type(rig, "\n");
	pass(rig, KEYS_PAUSE_MS);
	type(rig, "n");
	pass(rig, KEYS_ENTER_MS + 1);
	type(rig, "\n");
	pass(rig, 1);
	assert_string_equal(lines.heard.buf, "[fix it][stop][stop][]");
	expect(rig, "n", "\n");
	keys_listen(&rig->keys, NULL, NULL);
	type(rig, "later");
	pass(rig, 1);
	expect(rig, "", "");
	str_release(&lines.heard);
}

/* A question that ends, or a turn, does not swallow the key that was pressed right before. */
static void test_an_escape_outlives_a_question(void **state)
{
	struct rig *rig = *state;
	struct lines lines = { .keys = &rig->keys, .heard = STR_INIT };

	keys_listen(&rig->keys, on_line, &lines);
	type(rig, "\033");
	pass(rig, 1);
	keys_close(&rig->keys);
	pass(rig, 3 * KEYS_SEQUENCE_MS);
	assert_string_equal(lines.heard.buf, "[\033]");
	type(rig, "\033");
	pass(rig, 1);
	keys_listen(&rig->keys, NULL, NULL);
	pass(rig, 3 * KEYS_SEQUENCE_MS);
	assert_string_equal(lines.heard.buf, "[\033]");
	str_release(&lines.heard);
}

#define BLOCK "\033[200~one\rtwo\r\tthree\033[201~"

/* The terminal is told to give a line feed for a return, so that both are typed alike. */
static void test_a_pasted_block_is_one_line(void **state)
{
	struct rig *rig = *state;
	struct lines lines = { .keys = &rig->keys, .heard = STR_INIT };
	AUTO_STR plain = STR_INIT;

	keys_listen(&rig->keys, on_line, &lines);
	type(rig, "see \033[200~one\ntwo\n\tthree\033[201~ now\r");
	pass(rig, 1);
	assert_string_equal(lines.heard.buf, "[see " BLOCK " now]");
	keys_plain(&plain, str_sv(&rig->keys.ahead));
	assert_string_equal(plain.buf, "see one\ntwo\n\tthree now\n");
	expect(rig, "", "see " BLOCK " now\n");
	/* Nothing in it is a key, and what says "stop" is heard without its marks. */
	type(rig, "\033[200~a\bb\177c\025d\033e\033[200~stop\r\r\033[201~\r");
	pass(rig, 2 * KEYS_SEQUENCE_MS);
	str_clear(&plain);
	keys_plain(&plain, str_sv(&rig->keys.ahead));
	expect(rig, "", "\033[200~a\bb\177c\025d\033e\033[200~stop\r\r\033[201~\n");
	/* It is rubbed out as a whole, and what stands before it is not. */
	type(rig, "ü" BLOCK "!\177\177");
	pass(rig, 1);
	expect(rig, "", "ü");
	type(rig, BLOCK "\033[200~x\033[200~y\033[201~\177\177\177z");
	pass(rig, 1);
	expect(rig, "", "z");
	type(rig, "x" BLOCK "\025y");
	pass(rig, 1);
	expect(rig, "", "y");
	str_release(&lines.heard);
}

static void test_a_pasted_block_in_pieces(void **state)
{
	struct rig *rig = *state;
	struct lines lines = { .keys = &rig->keys, .heard = STR_INIT };

	keys_listen(&rig->keys, on_line, &lines);
	for (size_t cut = 1; cut < strlen(BLOCK); cut++) {
		char head[sizeof(BLOCK)] = BLOCK;
		head[cut] = '\0';
		type(rig, head);
		pass(rig, 2);
		type(rig, &BLOCK[cut]);
		pass(rig, 2 * KEYS_SEQUENCE_MS);
		assert_string_equal(lines.heard.buf, "");
		expect(rig, "", BLOCK);
	}
	/* Who reads on has the rest of it, and the next line ends again. */
	type(rig, "\033[200~one\r");
	pass(rig, 1);
	keys_listen(&rig->keys, NULL, NULL);
	keys_listen(&rig->keys, on_line, &lines);
	type(rig, "two\r");
	pass(rig, 1);
	keys_listen(&rig->keys, NULL, NULL);
	expect(rig, "", "\033[200~one\rtwo\r");
	keys_listen(&rig->keys, on_line, &lines);
	type(rig, "three\r");
	pass(rig, 1);
	assert_string_equal(lines.heard.buf, "[three]");
	expect(rig, "", "three\n");
	str_release(&lines.heard);
}

static void test_a_pasted_block_is_no_answer(void **state)
{
	struct rig *rig = *state;
	struct lines lines = { .keys = &rig->keys, .heard = STR_INIT };

	keys_listen(&rig->keys, on_line, &lines);
	keys_ask(&rig->keys, "yn", on_key, rig);
	for (size_t cut = 1; cut <= strlen(BLOCK); cut++) {
		char head[sizeof(BLOCK)] = BLOCK;
		head[cut] = '\0';
		pass(rig, KEYS_PAUSE_MS);
		type(rig, head);
		pass(rig, 2);
		if (BLOCK[cut])
			type(rig, &BLOCK[cut]);
		pass(rig, KEYS_PAUSE_MS);
		expect(rig, "", BLOCK);
	}
	/* One that goes on when the question comes, too; the key behind it answers. */
	type(rig, "\033[200~one\r");
	pass(rig, 1);
	keys_ask(&rig->keys, "yn", on_key, rig);
	pass(rig, KEYS_PAUSE_MS);
	type(rig, "y");
	pass(rig, KEYS_PAUSE_MS);
	type(rig, "\033");
	pass(rig, 1);
	type(rig, "[201~");
	pass(rig, KEYS_PAUSE_MS);
	type(rig, "y");
	pass(rig, KEYS_ENTER_MS);
	expect(rig, "y", "\033[200~one\ry\033[201~");
	/* Half of another key is still none. */
	keys_ask(&rig->keys, "yn", on_key, rig);
	pass(rig, KEYS_PAUSE_MS);
	type(rig, "\033[");
	pass(rig, 1);
	type(rig, "A");
	pass(rig, KEYS_PAUSE_MS);
	expect(rig, "", "");
	type(rig, "n");
	pass(rig, KEYS_ENTER_MS);
	expect(rig, "n", "");
	str_release(&lines.heard);
}

/* All of it or nothing: half a block would be another text. */
static void test_a_pasted_block_that_is_too_long(void **state)
{
	struct rig *rig = *state;
	struct lines lines = { .keys = &rig->keys, .heard = STR_INIT };
	const size_t room = KEYS_AHEAD_MAX - strlen("a\033[200~\033[201~");
	AUTO_STR block = STR_INIT;

	for (size_t beyond = 0; beyond < 2; beyond++) {
		keys_listen(&rig->keys, on_line, &lines);
		type(rig, "a\033[200~");
		pass(rig, 1);
		for (size_t sent = 0; sent < room + beyond;) {
			str_clear(&block);
			for (; block.len < 2000 && sent < room + beyond; sent++)
				str_addc(&block, 'x');
			type(rig, block.buf);
			assert_int_equal(loop_step(rig->loop, 0, NULL), 0);
		}
		type(rig, "\033[201~");
		pass(rig, 1);
		assert_int_equal(rig->keys.ahead.len, beyond ? 1 : KEYS_AHEAD_MAX);
		assert_false(rig->keys.pasting);
		str_clear(&rig->keys.ahead);
	}
	str_release(&lines.heard);
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_one_key_answers),
		CASE(test_what_was_typed_before_is_no_answer),
		CASE(test_too_soon_or_not_alone),
		CASE(test_a_slip_is_dropped),
		CASE(test_enter_says_nothing),
		CASE(test_escape),
		CASE(test_an_escape_outlives_a_question),
		CASE(test_the_next_question),
		CASE(test_the_terminal_goes),
		CASE(test_what_is_typed_ahead_is_heard),
		CASE(test_a_pasted_block_is_one_line),
		CASE(test_a_pasted_block_in_pieces),
		CASE(test_a_pasted_block_is_no_answer),
		CASE(test_a_pasted_block_that_is_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
