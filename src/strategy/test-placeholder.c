#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "strategy/placeholder.h"
#include "json/write.h"

/* Characters by decoding. */
static size_t slow_chars(struct sv inner)
{
	AUTO_STR quoted = STR_INIT;
	AUTO_STR text = STR_INIT;

	str_addc(&quoted, '"');
	str_add(&quoted, inner);
	str_addc(&quoted, '"');
	assert_true(scan_string((struct jval){ str_sv(&quoted), J_STRING }, &text));
	return utf8_length(str_sv(&text));
}

static const char *const atoms[] = { "a", "\\n", "\\\"", "\xc3\xa9", "\xe2\x86\x92",
	"\xf0\x9f\x98\x80", " ", "plain text of some length ", "\\\\", "\\u00e9", "\\ud83d\\ude00",
	"\\ud800" };
enum { SHORT_ATOMS = 8 }; /* the first ones, with escapes of two bytes alone */

static void fill(struct str *out, unsigned *seed, int n)
{
	for (int i = 0; i < n; i++) {
		*seed = *seed * 1103515245 + 12345;
		str_adds(out, atoms[(*seed >> 16) % ARRAY_LEN(atoms)]);
	}
}

/* Long stretches without a long escape, then one. */
static void fill_long(struct str *out, unsigned *seed, int n)
{
	for (int i = 0; i < n; i++) {
		*seed = *seed * 1103515245 + 12345;
		bool any = (*seed >> 16) % 128 == 0;
		*seed = *seed * 1103515245 + 12345;
		str_adds(out, atoms[(*seed >> 16) % (any ? ARRAY_LEN(atoms) : SHORT_ATOMS)]);
	}
}

static void counts_as_a_decoder_does(void **state)
{
	unsigned seed = 7;

	(void)state;
	for (int n = 0; n < 600; n++) {
		AUTO_STR text = STR_INIT;
		fill(&text, &seed, n % 97);
		assert_int_equal(text_chars(str_sv(&text)), slow_chars(str_sv(&text)));
		fill_long(&text, &seed, n);
		assert_int_equal(text_chars(str_sv(&text)), slow_chars(str_sv(&text)));
	}
	assert_int_equal(text_chars(SV("")), 0);
}

static void cuts_between_characters(void **state)
{
	unsigned seed = 11;

	(void)state;
	for (int n = 1; n < 200; n++) {
		AUTO_STR text = STR_INIT;
		fill(&text, &seed, n % 40);
		size_t all = slow_chars(str_sv(&text)), want = (size_t)n % (all + 2);
		struct sv head = text_head(str_sv(&text), want);
		assert_int_equal(slow_chars(head), want < all ? want : all);
	}
}

static void spans_lead_back(void **state)
{
	unsigned seed = 3;

	(void)state;
	for (int n = 1; n < 300; n++) {
		AUTO_STR raw = STR_INIT;
		AUTO_STR text = STR_INIT;
		AUTO_STR part = STR_INIT;
		str_addc(&raw, '"');
		fill(&raw, &seed, n % 30);
		str_addc(&raw, '"');
		struct jval val = { str_sv(&raw), J_STRING };
		assert_true(scan_string(val, &text));
		struct sv from = utf8_cut(str_sv(&text), text.len / 3);
		struct text_walk walk = { .string = val, .text = str_sv(&text) };
		struct sv head = text_span(&walk, 0, from.n);
		struct sv span = text_span(&walk, from.n, text.len - from.n);
		if (span.n == 0) /* a lone surrogate beside another cannot be told apart */
			continue;
		str_addc(&part, '"');
		str_add(&part, span);
		str_addc(&part, '"');
		assert_true(scan_string_eq(
			(struct jval){ str_sv(&part), J_STRING }, sv_from(str_sv(&text), from.n)));
		if (head.p)
			assert_ptr_equal(head.p + head.n, span.p);
		assert_null(text_span(&walk, 0, 1).p);
	}
	struct text_walk odd = {
		.string = { SV("\"a\xff\xff\x62\""), J_STRING },
		.text = SV("a\xef\xbf\xbd\xef\xbf\xbd\x62"),
	};
	assert_null(text_span(&odd, 7, 1).p);
	assert_null(text_span(&odd, 8, 1).p);
}

/* Each piece costs its own bytes, not those of all before it: a text of megabytes in thousands of
 * pieces would take minutes. */
static void spans_of_many_pieces(void **state)
{
	enum { PIECES = 50000, PIECE = 200 };
	AUTO_STR raw = STR_INIT;
	AUTO_STR text = STR_INIT;

	(void)state;
	str_addc(&raw, '"');
	for (int i = 0; i < PIECES; i++)
		str_addf(&raw, "\\n%0*d", PIECE - 1, i);
	str_addc(&raw, '"');
	struct jval val = { str_sv(&raw), J_STRING };
	assert_true(scan_string(val, &text));
	assert_int_equal(text.len, (size_t)PIECES * PIECE);
	struct text_walk walk = { .string = val, .text = str_sv(&text) };
	for (size_t i = 0; i < PIECES; i++)
		assert_int_equal(text_span(&walk, i * PIECE, PIECE).n, PIECE + 1);
}

static void words(void **state)
{
	const struct placeholder p = {
		.kind = PLACEHOLDER_RESULT,
		.name = SV("Read\x1b[31m\n"),
		.length = 4000,
		.hash = { 0x0123456789abcdef, 1 },
	};
	AUTO_STR out = STR_INIT;

	(void)state;
	placeholder_text(&p, &out);
	assert_true(sv_starts(str_sv(&out), SV("[Results from Read")));
	assert_true(sv_ends(str_sv(&out),
		SV(" tool suppressed - original content was 4000 characters] Original: faden "
		   "recall "
		   "0123456789abcdef")));
	assert_null(memchr(out.buf, '\x1b', out.len));
	assert_true(placeholder_is(str_sv(&out)));
}

static void knows_placeholders(void **state)
{
	static const char *const yes[] = {
		"head\\n\\n[Input x of y tool suppressed - original was 1 characters, the first 4 "
		"are "
		"shown] Original: faden recall 0123456789abcdef",
		"[Results from Read tool suppressed - original content was 4000 characters]",
		"[Assistant message trimmed - original content was 4,000 characters. See line 3 of "
		"/x]",
		"abc\\n\\n[...truncated - original content was 9,000 characters, showing first "
		"500. See "
		"line 7 of /home/ada/x.jsonl for full content]",
	};
	static const char *const no[] = {
		"",
		"faden recall",
		"faden recall 0123456789abcdeg",
		"faden recall 0123456789abcdef and more",
		"[...truncated",
		"text]",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(yes); i++)
		assert_true(placeholder_is(sv_of(yes[i])));
	for (size_t i = 0; i < ARRAY_LEN(no); i++)
		assert_false(placeholder_is(sv_of(no[i])));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_as_a_decoder_does),
		cmocka_unit_test(cuts_between_characters),
		cmocka_unit_test(spans_lead_back),
		cmocka_unit_test(spans_of_many_pieces),
		cmocka_unit_test(words),
		cmocka_unit_test(knows_placeholders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
