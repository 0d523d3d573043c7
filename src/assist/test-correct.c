#include "assist/correct.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static void test_words_that_correct(void **state)
{
	static const struct {
		const char *text;
		enum route_correction kind;
		const char *about;
		bool bare, name;
	} said[] = {
		{ "no, the other one", CORRECT_OTHER, NULL, false, false },
		{ "the other one please", CORRECT_OTHER, NULL, false, false },
		{ "not that one", CORRECT_OTHER, NULL, false, false },
		{ "no, el otro", CORRECT_OTHER, NULL, false, false },
		{ "不对,是另一个", CORRECT_OTHER, NULL, false, false },
		{ "no, new", CORRECT_NEW, NULL, false, false },
		{ "nein, neu", CORRECT_NEW, NULL, false, false },
		{ "new", CORRECT_NONE, NULL, false, false },
		{ "neue", CORRECT_NONE, NULL, false, false },
		{ "no, the one about the crawler", CORRECT_ABOUT, "crawler", false, false },
		{ "no, the crawler", CORRECT_ABOUT, "crawler", true, false },
		{ "nein, mach eine neue Unterhaltung", CORRECT_NEW, NULL, false, false },
		{ "nein, mach bitte ein frisches Gespräch auf", CORRECT_NEW, NULL, false, false },
		{ "create a separate thread", CORRECT_NONE, NULL, false, false },
		{ "no, fresh conversation", CORRECT_NEW, NULL, false, false },
		{ "no, that should be a separate conversation", CORRECT_NEW, NULL, false, false },
		{ "no, conversación nueva", CORRECT_NEW, NULL, false, false },
		{ "no, a separate button", CORRECT_ABOUT, "a separate button", true, true },
		{ "no, a separate function please", CORRECT_ABOUT, "a separate function", true,
			true },
		{ "ne, die andere", CORRECT_OTHER, NULL, false, false },
		{ "nein, andere", CORRECT_OTHER, NULL, true, false },
		{ "nein, die davor", CORRECT_OTHER, NULL, true, false },
		{ "nein, die letzte", CORRECT_OTHER, NULL, true, false },
		{ "other one", CORRECT_OTHER, NULL, true, false },
		{ "no, I meant the earlier conversation", CORRECT_OTHER, NULL, false, false },
		{ "nein, die andere Funktion ist falsch", CORRECT_NONE, NULL, false, false },
		{ "andere", CORRECT_NONE, NULL, false, false },
		{ "no, I meant the logo", CORRECT_ABOUT, "logo", true, false },
		{ "no, that was for the logo", CORRECT_ABOUT, "logo", true, false },
		{ "nein, das war für das Logo", CORRECT_ABOUT, "Logo", true, false },
		{ "no, the logo conversation", CORRECT_ABOUT, "logo", true, false },
		{ "no, not the logo, the parser", CORRECT_ABOUT, "parser", true, false },
		{ "nein, nicht das Logo, sondern den Parser", CORRECT_ABOUT, "Parser", true,
			false },
		{ "no, not the logo", CORRECT_ABOUT, "not the logo", true, true },
		{ "no, the button should be blue", CORRECT_NONE, NULL, false, false },
		{ "no, the button is blue", CORRECT_NONE, NULL, false, false },
		{ "no, the crawler one please", CORRECT_ABOUT, "crawler", true, false },
		{ "nein, der Crawler", CORRECT_ABOUT, "Crawler", true, false },
		{ "the crawler", CORRECT_NONE, NULL, false, false },
		{ "no, crawl it", CORRECT_ABOUT, "crawl it", true, true },
		{ "no, wrong conversation", CORRECT_OTHER, NULL, false, false },
		{ "no, wrong one", CORRECT_OTHER, NULL, false, false },
		{ "wrong", CORRECT_NONE, NULL, false, false },
		{ "no, wrong colour", CORRECT_ABOUT, "colour", true, true },
		{ "das war die falsche Unterhaltung", CORRECT_OTHER, NULL, false, false },
		{ "das war die falsche Farbe", CORRECT_NONE, NULL, false, false },
		{ "nein, in eine neue", CORRECT_NEW, NULL, true, false },
		{ "nein, in eine neue Datei", CORRECT_NONE, NULL, false, false },
		{ "in eine neue", CORRECT_NONE, NULL, false, false },
		{ "no, to the parser", CORRECT_ABOUT, "parser", true, false },
		{ "nein, zum Parser", CORRECT_ABOUT, "Parser", true, false },
		{ "zum Parser", CORRECT_NONE, NULL, false, false },
		{ "no, in the parser conversation", CORRECT_ABOUT, "parser", true, false },
		{ "that was meant for the parser", CORRECT_ABOUT, "parser", true, false },
		{ "das war für den Parser", CORRECT_ABOUT, "Parser", true, false },
		{ "ich meinte den Parser", CORRECT_ABOUT, "Parser", true, false },
		{ "put it in the footer", CORRECT_NONE, NULL, false, false },
		{ "no, that was for the logo, not for the parser", CORRECT_ABOUT, "logo", true,
			false },
		{ "no, kumquat", CORRECT_ABOUT, "kumquat", true, true },
		{ "no, crawl it without the links", CORRECT_NONE, NULL, false, false },
		{ "no, the crawler must not follow links", CORRECT_NONE, NULL, false, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(said); i++) {
		struct route_correct_words words = { .bare = false };
		assert_int_equal(route_correct(sv_of(said[i].text), &words), said[i].kind);
		assert_int_equal(words.bare, said[i].bare);
		assert_int_equal(words.name, said[i].name);
		if (said[i].about)
			assert_true(sv_is(words.about, said[i].about));
	}
}

static void test_words_that_only_go_on_or_back(void **state)
{
	static const char *const on[] = { "continue", "Please continue.", "ok, go on", "weiter!",
		"mach bitte weiter", "continue please", "let's continue", "继续" };
	static const char *const more[] = { "", "continue with the parser", "now run it",
		"continue the list", "weiter unten steht mehr", "don't continue" };
	static const struct {
		const char *text, *to;
	} back[] = {
		{ "back to kumquat", "kumquat" },
		{ "OK, back to the kumquat tree!", "kumquat tree" },
		{ "go back to kumquat", "kumquat" },
		{ "zurück zum Kumquat", "Kumquat" },
		{ "go back to the old colour", NULL },
		{ "back to what we had before the last commit", NULL },
		{ "back to", NULL },
		{ "my back to the wall", NULL },
	};
	struct sv to;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(on); i++)
		assert_true(route_only_goes_on(sv_of(on[i])));
	for (size_t i = 0; i < ARRAY_LEN(more); i++)
		assert_false(route_only_goes_on(sv_of(more[i])));
	for (size_t i = 0; i < ARRAY_LEN(back); i++) {
		assert_int_equal(route_goes_back(sv_of(back[i].text), &to), back[i].to != NULL);
		if (back[i].to)
			assert_true(sv_is(to, back[i].to));
	}
	AUTO_STR subject = STR_INIT;
	route_subject(SV("continue with the harbour wall"), &subject);
	assert_string_equal(subject.buf, "the harbour wall");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words_that_correct),
		cmocka_unit_test(test_words_that_only_go_on_or_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
