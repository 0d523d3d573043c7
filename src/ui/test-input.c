#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ui/field.h"
#include "ui/input.h"

/* The whole text is one key. */
static uint32_t key_of(const char *text)
{
	uint32_t key = 0;
	size_t n = strlen(text);

	for (size_t i = 1; i < n; i++)
		if (input_key(sv_make(text, i), false, &key) != 0)
			fail_msg("%zu bytes of %zu are a key", i, n);
	assert_int_equal(input_key(sv_make(text, n), false, &key), n);
	return key;
}

static void test_keys(void **state)
{
	static const struct {
		const char *text;
		uint32_t key;
	} keys[] = {
		{ "a", 'a' },
		{ "ß", 0xDF },
		{ "日", 0x65E5 },
		{ "👩", 0x1F469 },
		{ "\r", KEY_ENTER },
		{ "\n", KEY_CTRL | 'j' },
		{ "\t", KEY_TAB },
		{ "\b", KEY_BACKSPACE },
		{ "\177", KEY_BACKSPACE },
		{ "\001", KEY_CTRL | 'a' },
		{ "\032", KEY_CTRL | 'z' },
		{ "\037", KEY_CTRL | '_' },
		{ "\033[A", KEY_UP },
		{ "\033OB", KEY_DOWN },
		{ "\033[1;2A", KEY_SHIFT | KEY_UP },
		{ "\033[1;3B", KEY_ALT | KEY_DOWN },
		{ "\033[1;5C", KEY_CTRL | KEY_RIGHT },
		{ "\033[5~", KEY_PAGE_UP },
		{ "\033[6;5~", KEY_CTRL | KEY_PAGE_DOWN },
		{ "\033[1~", KEY_HOME },
		{ "\033[F", KEY_END },
		{ "\033OP", KEY_F1 },
		{ "\033[11~", KEY_F1 },
		{ "\033[[A", KEY_F1 },
		{ "\033[Z", KEY_SHIFT | KEY_TAB },
		{ "\033[200~", KEY_PASTE },
		{ "\033[201~", KEY_PASTED },
		{ "\033t", KEY_ALT | 't' },
		{ "\033\177", KEY_ALT | KEY_BACKSPACE },
		{ "\033ü", KEY_ALT | 0xFC },
		{ "\033[99~", KEY_NONE },
		{ "\033[?1;2c", KEY_NONE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (key_of(keys[i].text) != keys[i].key)
			fail_msg("key %zu is %x", i, key_of(keys[i].text));
}

static void test_what_never_becomes_whole(void **state)
{
	uint32_t key;

	(void)state;
	assert_int_equal(input_key(SV("\033"), true, &key), 1);
	assert_int_equal(key, KEY_ESCAPE);
	assert_int_equal(input_key(SV("\033\033[A"), false, &key), 1);
	assert_int_equal(key, KEY_ESCAPE);
	assert_int_equal(input_key(SV("\033["), true, &key), 2);
	assert_int_equal(key, KEY_ALT | '[');
	assert_int_equal(input_key(SV("\033[1;"), true, &key), 4);
	assert_int_equal(key, KEY_NONE);
	assert_int_equal(input_key(SV("\xE6\x97"), true, &key), 1);
	assert_int_equal(key, KEY_NONE);
	/* Another key in between is not lost. */
	assert_int_equal(input_key(SV("\033[1\003"), false, &key), 3);
	assert_int_equal(key, KEY_NONE);
	assert_int_equal(input_key(SV("\xE6\003x"), false, &key), 1);
	assert_int_equal(key, KEY_NONE);
	/* A sequence at the limit, and one beyond. */
	char text[INPUT_SEQUENCE_MAX + 2];
	memset(text, '0', sizeof(text));
	text[0] = '\033';
	text[1] = '[';
	text[INPUT_SEQUENCE_MAX - 1] = 'A';
	assert_int_equal(
		input_key(sv_make(text, INPUT_SEQUENCE_MAX), false, &key), INPUT_SEQUENCE_MAX);
	assert_int_equal(key, KEY_UP);
	text[INPUT_SEQUENCE_MAX - 1] = '0';
	text[INPUT_SEQUENCE_MAX] = 'A';
	assert_int_equal(input_key(sv_make(text, sizeof(text)), false, &key), INPUT_SEQUENCE_MAX);
	assert_int_equal(key, KEY_NONE);
}

/* ---- the line that they change ---- */

static void type(struct field *l, const char *text)
{
	struct sv rest = sv_of(text);
	uint32_t key;

	while (rest.n) {
		rest = sv_from(rest, input_key(rest, true, &key));
		(void)field_key(l, key);
	}
}

static void check(const char *keys, const char *text, size_t at)
{
	struct field l;

	field_init(&l, SV("one"), 24);
	type(&l, keys);
	assert_string_equal(l.text.buf, text);
	assert_int_equal(l.at, at);
	field_release(&l);
}

static void test_line(void **state)
{
	(void)state;
	check("", "one", 3);
	check(" two", "one two", 7);
	check("\001x", "xone", 1);
	check("\033[Dx", "onxe", 3);
	check("\002\002\177", "ne", 0);
	check("\001\033[3~", "ne", 0);
	check(" two three\027", "one two ", 8);
	check(" two  \027", "one ", 4);
	check(" two\033b\025", "two", 0);
	check(" two\001\033fx", "onex two", 4);
	check(" two\033[1;5D\033[1;5Dx", "xone two", 1);
	/* One character as it is seen, of several code points. */
	check("e\xCC\x81\177", "one", 3);
	check("👩‍👩‍👧\033[Dx", "onex👩‍👩‍👧", 4);
	/* Nothing is typed beyond the limit, nor half a character. */
	check("\025123456789012345678901日本", "123456789012345678901日", 24);
	check("\177\177\177\177\177", "", 0);
	check("\033[C\033[C\005\006", "one", 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_what_never_becomes_whole),
		cmocka_unit_test(test_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
