/* Text in, words with their positions out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "search/word.h"

/* "word@position" one after the other; kinds other than plain have a sign before them. */
static void check(const char *text, const char *want)
{
	static const char *const signs[] = { "", "=", "/", "", "." };
	AUTO_STR got = STR_INIT;
	struct word_walk w;
	struct word_at word;

	words_begin(&w, sv_of(text));
	while (words_next(&w, &word)) {
		str_addf(&got, "%s%s%.*s@%u", got.len ? " " : "", signs[word.kind],
			SV_ARG(word.text), word.position);
		assert_true(word.from + word.size <= w.text.n);
	}
	if (strcmp(got.buf, want) != 0)
		fail_msg("%s\n  gave %s\n  not  %s", text, got.buf, want);
}

static void test_words(void **state)
{
	(void)state;
	check("", "");
	check(" ,;!\n", "");
	check("Where did we change it?", "where@0 did@1 we@2 change@3 it@4");
	check("don't", "don@0 t@1");
	check("x = 3;", "x@0 3@1");
	check("end. Next", "end@0 next@1");
	check("sha256 of 7f3a", "sha256@0 of@1 7f3a@2");
}

static void test_identifiers(void **state)
{
	(void)state;
	check("parseRetryLimit", "=parseretrylimit@0 /parse@0 /retry@1 /limit@2");
	check("retry_limit now", "=retry_limit@0 /retry@0 /limit@1 now@2");
	check("src/cli/main.c", "src@0 cli@1 =main.c@2 /main@2 /c@3");
	check("kebab-case", "=kebab-case@0 /kebab@0 /case@1");
	check("HTTPServer IDs", "=httpserver@0 /http@0 /server@1 ids@2");
	check("utf8Decode A1B2C3", "=utf8decode@0 /utf8@0 /decode@1 a1b2c3@2");
	check("__init__ -x- ..", "init@0 x@1");
	check("größeÄndern", "=grösseändern@0 /grösse@0 /ändern@1");
}

static void test_folding(void **state)
{
	(void)state;
	check("Straße STRASSE", "strasse@0 strasse@1");
	check("ΣΊΣΥΦΟΣ", "σίσυφοσ@0");
	check("e\xcc\x81t\xc3\xa9", "\xc3\xa9t\xc3\xa9@0"); /* decomposed and composed */
	check("ÀÉÖØÞ ÷×ß ñ", "àéöøþ@0 ss@1 ñ@2");
	check("\xc3\x84\xcc\x81", "\xc3\xa4\xcc\x81@0"); /* nothing to compose with */
	check("soft\xc2\xadhyphen", "softhyphen@0");
	check("a\xff"
	      "b \xc3 c",
		"a@0 b@1 c@2");
}

static void test_pairs(void **state)
{
	(void)state;
	check("重试限制", "重试@0 试限@1 限制@2 .制@3");
	check("我 a", "我@0 a@1");
	check("用retry吧", "用@0 retry@1 吧@2");
	check("テスト", "テス@0 スト@1 .ト@2");
}

static void test_no_words(void **state)
{
	(void)state;
	AUTO_STR text = STR_INIT;
	AUTO_STR want = STR_INIT;

	for (int i = 0; i < WORD_MAX; i++)
		str_addc(&text, 'x');
	str_addf(&want, "%s@0 y@1", text.buf);
	str_adds(&text, " y");
	check(text.buf, want.buf);
	str_clear(&text);
	for (int i = 0; i <= WORD_MAX; i++)
		str_addc(&text, 'x');
	str_adds(&text, " y");
	check(text.buf, "y@1");
	check("see iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9 "
	      "end",
		"see@0 end@1");
	/* A path of the same length is one. */
	check("/Users/ada/Work/Project/Sources/Transcript/Reader/Lines/Blocks/main",
		"users@0 ada@1 work@2 project@3 sources@4 transcript@5 reader@6 lines@7 blocks@8 "
		"main@9");
}

static void test_fields(void **state)
{
	(void)state;
	AUTO_STR out = STR_INIT;
	AUTO_STR path = STR_INIT;

	term_of_field(&out, TERM_TOOL, SV("Bash"));
	assert_string_equal(out.buf, "\1bash");
	str_clear(&out);
	while (path.len < 4 * TERM_MAX)
		str_adds(&path, "/straße");
	term_of_field(&out, TERM_FILE, str_sv(&path));
	assert_true(out.len <= TERM_MAX && out.len > TERM_MAX - 4 && out.buf[0] == TERM_FILE);
	assert_true(utf8_valid(str_sv(&out)) && sv_ends(str_sv(&out), SV("/strasse")));
}

static void check_form(enum word_form form, const char *word, const char *want)
{
	CLEANUP(word_forms_release) struct word_forms f = WORD_FORMS_INIT;
	struct sv got = word_form(&f, form, sv_of(word));

	if (!sv_is(got, want))
		fail_msg("%s gave %.*s, not %s", word, SV_ARG(got), want);
}

static void test_forms(void **state)
{
	(void)state;
	check_form(FORM_ENGLISH, "running", "run");
	check_form(FORM_ENGLISH, "retries", "retri");
	check_form(FORM_ENGLISH, "retry", "retri");
	check_form(FORM_GERMAN, "häuser", "haus");
	check_form(FORM_UNMARKED, "café", "cafe");
	check_form(FORM_UNMARKED, "plain", "plain");
	check_form(FORM_ENGLISH, "it", "");
	check_form(FORM_ENGLISH, "main.c", "");
	check_form(FORM_ENGLISH, "7f3a", "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_identifiers),
		cmocka_unit_test(test_folding),
		cmocka_unit_test(test_pairs),
		cmocka_unit_test(test_no_words),
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_forms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
