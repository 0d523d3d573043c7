#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "ui/markdown.h"

struct golden {
	size_t cols;
	bool colour;
	const char *text;
	const char *want;
};

/* clang-format off */
static const struct golden goldens[] = {
	{ 40, false, "plain words", "plain words\n" },
	{ 40, false, "a\n\n\n\nb\n\n", "a\n\nb\n" },
	{ 40, false, "\n\nfirst", "first\n" },
	{ 11, false, "one two three four", "one two\nthree four\n" },
	{ 20, false, "see https://example.org/a/long/path now",
	  "see\nhttps://example.org/a/long/path now\n" },
	{ 11, false, "日本語の文章です。長い。", "日本語の文\n章です。長\nい。\n" },

	{ 40, true, "# Head `x`\ntext", "\033[1mHead \033[0;1;36mx\033[0m\ntext\n" },
	{ 40, false, "## Head\n#no\n####### no", "## Head\n#no\n####### no\n" },

	{ 40, true, "a **b** c", "a \033[1mb\033[0m c\n" },
	{ 40, false, "a **b** `c` *d*", "a **b** `c` *d*\n" },
	{ 40, true, "***x*** _y_ z", "\033[1;3mx\033[0m \033[3my\033[0m z\n" },
	{ 40, true, "**a *b* c**", "\033[1ma \033[0;1;3mb\033[0;1m c\033[0m\n" },
	{ 40, true, "snake_case_name 2*3*4 a * b", "snake_case_name 2*3*4 a * b\n" },
	{ 40, true, "中**粗**文", "中\033[1m粗\033[0m文\n" },
	{ 40, true, "**D**ata", "\033[1mD\033[0mata\n" },
	{ 40, true, "open ** and *never closed\nnext", "open ** and *never closed\nnext\n" },
	{ 40, true, "\\*no\\* `\\*` \\q", "*no* \033[36m\\*\033[0m \\q\n" },
	{ 40, true, "``a ` b`` `c", "\033[36ma ` b\033[0m `c\n" },
	{ 40, true, "*a `*` b*", "\033[3ma \033[0;3;36m*\033[0;3m b\033[0m\n" },

	{ 60, false, "[text](http://x/y(z)) ![img](i.png \"t\") [u](u) [no] (x)",
	  "text (http://x/y(z)) img (i.png) u [no] (x)\n" },

	{ 60, false, "- one\n* two\n+ three\n10. ten\n2) b\n3.no\n-no",
	  "• one\n• two\n• three\n10. ten\n2) b\n3.no\n-no\n" },
	{ 14, false, "- one two three\n  - four five six\n1. seven eight",
	  "• one two\n  three\n  • four five\n    six\n1. seven\n   eight\n" },
	{ 30, false, "- [ ] todo\n- [x] done", "• [ ] todo\n• [x] done\n" },
	{ 8, false, "a\n\n---\n* * *\n- - b", "a\n\n───────\n───────\n• - b\n" },

	{ 20, false, "x\n```c\nint main(void) { return 0; }\n\n\ttab\n# no\n```\ny",
	  "x\n    int main(void) { return 0; }\n\n            tab\n    # no\ny\n" },
	{ 20, true, "~~~\na `b`\n```\n~~~~\nz", "\033[2m    a `b`\033[0m\n\033[2m    ```\033[0m\nz\n" },
	{ 40, false, "- a\n  ```\n  b\n    c\n  ```\n", "• a\n      b\n        c\n" },
	{ 40, false, "```\nnever closed", "    never closed\n" },
	{ 40, false, "```x``` is code", "```x``` is code\n" },

	{ 16, false, "> quoted words here\n> > deep\n>\nout",
	  "│ quoted words\n│ here\n│ │ deep\n│ \nout\n" },
	{ 10, false, "| a | b | long cell |\n|---|---|---|\n| `1` | **2** | 3 |",
	  "| a | b | long cell |\n|---|---|---|\n| `1` | **2** | 3 |\n" },
	{ 40, false, "a\n\n| Name | N |\n|:--|--:|\n| `one` | 1 |\n| two \\| 2 | 200\n\nb",
	  "a\n\nName       N\n───────  ───\n`one`      1\ntwo | 2  200\n\nb\n" },
	{ 40, true, "| *a* | b |\n|:-:|---|\n| [x](u) | **bold** and `c` | more |\nend",
	  "  \033[1ma\033[0m    \033[1mb\033[0m\n"
	  "\033[2m─────  ──────────  ────\033[0m\nx (u)  bold and c  more\nend\n" },
	{ 24, false, "| k | value |\n|---|---|\n| a | some words that are long |\n| b | averyveryverylongword12345 |",
	  "k  value\n─  ────────────────────\na  some words that are\n   long\nb  averyveryverylongwor\n   d12345\n" },
	{ 40, false, "|no table\n|at all", "|no table\n|at all\n" },
	{ 40, false, "- x\n  | a | b |\n  |---|---|\n  | 日本 | c |\n- y",
	  "• x\n  a     b\n  ────  ─\n  日本  c\n• y\n" },
	{ 40, false, "> | a | b |\n> |---|---|", "│ | a | b |\n│ |---|---|\n" },

	{ 40, false, "crlf\r\nline\rx\n", "crlf\nline\xef\xbf\xbdx\n" },
	{ 40, true, "a\033[31mb\033]0;t\ac\n\033[Jd\xc2\x9bx \xe2\x80\xae y",
	  "abc\nd\xef\xbf\xbdx \xef\xbf\xbd y\n" },
	{ 40, true, "bad \xff\xc3( \xe0\x80 end \xe2\x82",
	  "bad \xef\xbf\xbd\xef\xbf\xbd( \xef\xbf\xbd\xef\xbf\xbd end \xef\xbf\xbd\xef\xbf\xbd\n" },
	{ 0, false, "**as** it\033[31m is", "**as** it is\n" },
	{ 40, false, "", "" },
};
/* clang-format on */

static void render(const struct golden *g, size_t a, size_t b, struct str *out)
{
	struct term term;
	struct markdown m;
	struct sv text = sv_of(g->text);

	term_init_capture(&term, g->cols, 10, g->colour);
	markdown_init(&m, &term);
	markdown_feed(&m, sv_head(text, a));
	markdown_feed(&m, sv_make(text.p + a, b - a));
	markdown_feed(&m, sv_from(text, b));
	markdown_end(&m);
	str_clear(out);
	str_add(out, str_sv(&term.buf));
	markdown_release(&m);
	term_release(&term);
}

static void test_golden(void **state)
{
	(void)state;
	AUTO_STR got = STR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(goldens); i++) {
		render(&goldens[i], 0, 0, &got);
		assert_string_equal(got.buf, goldens[i].want);
	}
}

static void test_every_split(void **state)
{
	(void)state;
	AUTO_STR got = STR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(goldens); i++)
		for (size_t a = 0; a <= strlen(goldens[i].text); a++)
			for (size_t b = a; b <= strlen(goldens[i].text); b++) {
				render(&goldens[i], a, b, &got);
				assert_string_equal(got.buf, goldens[i].want);
			}
}

static void feed_by_bytes(struct markdown *m, struct sv text)
{
	for (size_t i = 0; i < text.n; i++)
		markdown_feed(m, sv_make(text.p + i, 1));
}

static void test_no_escape_without_colour(void **state)
{
	(void)state;
	AUTO_STR got = STR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(goldens); i++) {
		struct golden g = goldens[i];
		g.colour = false;
		if (!g.cols)
			continue;
		render(&g, 0, 0, &got);
		assert_null(strchr(got.buf, '\033'));
	}
}

/* Every ESC that comes out must begin one of our own style changes. */
static void check_only_styles(struct sv s)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];
		if (c == 0x1B) {
			size_t j = i + 2;
			assert_true(i + 1 < s.n && s.p[i + 1] == '[');
			while (j < s.n && (s.p[j] == ';' || (s.p[j] >= '0' && s.p[j] <= '9')))
				j++;
			assert_true(j < s.n && s.p[j] == 'm');
			i = j;
		} else {
			assert_true(c == '\n' || c >= 0x20);
			assert_int_not_equal(c, 0x7F);
		}
	}
	assert_true(utf8_valid(s));
}

static void test_hostile(void **state)
{
	(void)state;
	static const char *const sequences[] = { "\033]0;owned\a", "\033]8;;http://x\033\\",
		"\033[2J", "\033[10;10H", "\033[?1049h", "\033P+q\033\\", "\033c",
		"\xc2\x9b"
		"2J",
		"\xc2\x9d"
		"0;t\xc2\x9c",
		"\xe2\x80\xae", "\xe2\x81\xa6", "\b\b\b", "\r", "\x7f", "\033",
		"\x9b"
		"A",
		"\033[", "\033]", "\033\033[A" };
	static const char *const places[] = { "%s", "# %s x", "- **%s** `%s`", "```\n%s\n```",
		"| %s |", "> %s", "[%s](%s)", "**%s\n%s" };

	for (size_t i = 0; i < ARRAY_LEN(sequences); i++) {
		for (size_t j = 0; j < ARRAY_LEN(places); j++) {
			AUTO_STR text = STR_INIT;
			for (const char *p = places[j]; *p; p++) {
				if (*p == '%')
					str_adds(&text, sequences[i]);
				else if (*p != 's')
					str_addc(&text, *p);
			}
			struct term term;
			struct markdown m;
			term_init_capture(&term, 30, 10, true);
			markdown_init(&m, &term);
			feed_by_bytes(&m, str_sv(&text));
			markdown_end(&m);
			check_only_styles(str_sv(&term.buf));
			markdown_release(&m);
			term_release(&term);
		}
	}
}

static void check_long(const char *begin, const char *unit, size_t times)
{
	AUTO_STR text = STR_INIT;
	struct term whole_term, bytes_term;
	struct markdown whole, bytes;

	str_adds(&text, begin);
	for (size_t i = 0; i < times; i++)
		str_adds(&text, unit);
	str_adds(&text, "\nend *x*\n");
	term_init_capture(&whole_term, 30, 10, true);
	term_init_capture(&bytes_term, 30, 10, true);
	markdown_init(&whole, &whole_term);
	markdown_init(&bytes, &bytes_term);
	markdown_feed(&whole, str_sv(&text));
	feed_by_bytes(&bytes, str_sv(&text));
	markdown_end(&whole);
	markdown_end(&bytes);
	assert_string_equal(whole_term.buf.buf, bytes_term.buf.buf);
	markdown_release(&whole);
	markdown_release(&bytes);
	term_release(&whole_term);
	term_release(&bytes_term);
}

static void test_limits(void **state)
{
	(void)state;
	static const char *const units[] = { "*", "`", "#", "-", ">", "> ", "~", " ", "[", "é",
		"\t", "**a ", "x", "- ", "](", "9" };
	static const size_t sizes[] = { MARKDOWN_MARK_MAX - 1, MARKDOWN_MARK_MAX,
		MARKDOWN_MARK_MAX + 1, MARKDOWN_SPAN_MAX - 1, MARKDOWN_SPAN_MAX,
		MARKDOWN_SPAN_MAX + 1, MARKDOWN_RAW_MAX, MARKDOWN_RAW_MAX + 1 };

	for (size_t i = 0; i < ARRAY_LEN(units); i++)
		for (size_t j = 0; j < ARRAY_LEN(sizes); j++)
			check_long("", units[i], sizes[j]);
	check_long("```\n", "é", MARKDOWN_RAW_MAX);
	check_long("  ```\n  ", "\t", MARKDOWN_RAW_MAX);
	check_long("```\n", "`", MARKDOWN_RAW_MAX);
	check_long("**", "é", MARKDOWN_SPAN_MAX);
	check_long("\033]0;", "é", MARKDOWN_HOLD_MAX);
	check_long("[a](", "b", MARKDOWN_SPAN_MAX - 6);
	check_long("| ", "é\033", MARKDOWN_RAW_MAX);
}

static void test_used_again(void **state)
{
	(void)state;
	struct term term;
	struct markdown m;

	term_init_capture(&term, 30, 10, false);
	markdown_init(&m, &term);
	markdown_feed(&m, SV("```\ncode"));
	markdown_end(&m);
	markdown_feed(&m, SV("> quote\n\n"));
	markdown_end(&m);
	markdown_feed(&m, SV("text"));
	markdown_end(&m);
	assert_string_equal(term.buf.buf, "    code\n│ quote\ntext\n");
	markdown_release(&m);
	term_release(&term);
}

static void test_wrapped_line(void **state)
{
	(void)state;
	struct term term;

	term_init_capture(&term, 12, 10, true);
	wrap_line(&term, STYLE_DIM, SV("one two\nthree \033[2Jfour"));
	assert_string_equal(term.buf.buf, "\033[2mone two\033[0m\n\033[2mthree four\033[0m\n");
	term_release(&term);
	term_init_capture(&term, 0, 0, false);
	wrap_line(&term, STYLE_DIM, SV("one two\nthree four five six"));
	assert_string_equal(term.buf.buf, "one two three four five six\n");
	term_release(&term);
}

static void test_an_error_is_a_sentence(void **state)
{
	static const char *const cases[][2] = {
		{ "nothing was sent: no", "Nothing was sent: no\n" },
		{ "No session is called x", "No session is called x\n" },
		{ "ai.agent is no such thing", "ai.agent is no such thing\n" },
		{ "codex: not logged in", "codex: not logged in\n" },
		{ "/tmp/x is gone", "/tmp/x is gone\n" },
		{ "äh", "äh\n" },
		{ "gone", "gone\n" },
		{ "", "\n" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct term term;
		term_init_capture(&term, 60, 10, false);
		wrap_error(&term, sv_of(cases[i][0]));
		assert_string_equal(term.buf.buf, cases[i][1]);
		term_release(&term);
	}
}

static void test_words_come_at_once(void **state)
{
	(void)state;
	struct term term;
	struct markdown m;

	term_init_capture(&term, 30, 10, false);
	markdown_init(&m, &term);
	markdown_feed(&m, SV("Hello wor"));
	assert_string_equal(term.buf.buf, "Hello");
	markdown_feed(&m, SV("ld, "));
	assert_string_equal(term.buf.buf, "Hello world,");
	markdown_end(&m);
	assert_string_equal(term.buf.buf, "Hello world,\n");
	markdown_release(&m);
	term_release(&term);
}

static void test_a_pause_shows_the_word(void **state)
{
	(void)state;
	struct term term;
	struct markdown m;

	term_init_capture(&term, 15, 10, false);
	markdown_init(&m, &term);
	markdown_feed(&m, SV("Hello wor"));
	markdown_pause(&m);
	assert_string_equal(term.buf.buf, "Hello wor");
	markdown_feed(&m, SV("ld and **bo"));
	markdown_pause(&m);
	assert_string_equal(term.buf.buf, "Hello world\nand");
	markdown_feed(&m, SV("ld** x"));
	markdown_end(&m);
	assert_string_equal(term.buf.buf, "Hello world\nand **bold** x\n");
	markdown_release(&m);
	term_release(&term);
}

/* The settings may say so. */
static void stays_as_written(void **state)
{
	const struct sv text = SV("# A **b**\n\n\n- c\033[2J d e f g h\n");
	struct term term;

	(void)state;
	term_init_capture(&term, 10, 24, true);
	term.as_written = true;
	markdown_print(&term, text);
	assert_string_equal(term.buf.buf, "# A **b**\n\n\n- c d e f g h\n");
	term_release(&term);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),
		cmocka_unit_test(stays_as_written),
		cmocka_unit_test(test_every_split),
		cmocka_unit_test(test_no_escape_without_colour),
		cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_used_again),
		cmocka_unit_test(test_wrapped_line),
		cmocka_unit_test(test_an_error_is_a_sentence),
		cmocka_unit_test(test_words_come_at_once),
		cmocka_unit_test(test_a_pause_shows_the_word),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
