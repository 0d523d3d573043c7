#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "json/jsonl-read.h"
#include "json/jsonl.h"

static size_t slow_end(struct sv text, unsigned *ret_bytes)
{
	size_t i = 0;

	*ret_bytes = 0;
	for (; i < text.n && text.p[i] != '\n'; i++) {
		unsigned char c = (unsigned char)text.p[i];
		*ret_bytes |= (c < ' ' ? JSONL_LOW : 0) | (c >= 0x80 ? JSONL_HIGH : 0);
	}
	return i;
}

static void compare(struct sv text)
{
	unsigned bytes, want;
	size_t end = jsonl_line_end(text, &bytes);

	assert_int_equal(end, slow_end(text, &want));
	assert_int_equal(bytes, want);
}

/* One odd byte at each place of texts of each length, before and behind the newline. */
static void every_place(void **state)
{
	static const char odd[] = { '\0', '\t', '\x1f', ' ', '\x7f', '\x80', '\xff', '\n' };

	(void)state;
	for (size_t n = 0; n < 200; n++) {
		AUTO_STR text = STR_INIT;
		for (size_t i = 0; i < n; i++)
			str_addc(&text, 'x');
		compare(str_sv(&text));
		for (size_t i = 0; i < n; i++) {
			text.buf[(i * 7 + n) % n] = '\n';
			for (size_t k = 0; k < ARRAY_LEN(odd); k++) {
				char was = text.buf[i];
				text.buf[i] = odd[k];
				compare(str_sv(&text));
				text.buf[i] = was;
			}
			text.buf[(i * 7 + n) % n] = 'x';
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
