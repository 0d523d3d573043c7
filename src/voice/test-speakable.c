#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "voice/speakable.h"

/* Sentences as "de:Hallo.|en:Hello." */
static void note(void *data, struct sv sentence, enum speakable_language language)
{
	struct str *out = data;

	assert_true(language != SPEAKABLE_UNKNOWN);
	str_addf(out, "%s%s:%.*s", out->len ? "|" : "", speakable_code(language), SV_ARG(sentence));
}

/* In pieces of a size: what comes out must be the same for all. */
static void say(struct str *out, const char *text, size_t step, enum speakable_language fallback)
{
	struct speakable *s = speakable_new(fallback, note, out);
	struct sv rest = sv_of(text);

	while (rest.n) {
		speakable_feed(s, sv_head(rest, step));
		rest = sv_from(rest, step);
	}
	speakable_flush(s);
	speakable_free(s);
}

static void check(const char *text, const char *want)
{
	static const size_t steps[] = { 1, 2, 3, 5, 7, 64, 100000 };

	for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
		AUTO_STR got = STR_INIT;
		say(&got, text, steps[i], SPEAKABLE_EN);
		assert_string_equal(got.buf, want);
	}
}

static void test_sentences(void **state)
{
	(void)state;
	check("Hello there. This is the second one! Is it?",
		"en:Hello there.|en:This is the second one!|en:Is it?");
	check("It costs 3.5 dollars, e.g. for Dr. Smith and J. Doe. The rest is free.",
		"en:It costs 3.5 dollars, for example for doctor Smith and J. Doe.|en:The rest is "
		"free.");
	check("Das geht z. B. mit ca. 3,5 Metern usw. und so ist es. Gut.",
		"de:Das geht zum Beispiel mit circa 3,5 Metern und so weiter und so ist "
		"es.|de:Gut.");
	check("Wir sehen uns am 3. Mai um 12:30 Uhr. Das ist die 2. Version.",
		"de:Wir sehen uns am 3. Mai um 12:30 Uhr.|de:Das ist die 2. Version.");
	check("Das dauert 15 Min. und dann 30 Sek. lang. Wir warten 2 Std. Dann geht es.",
		"de:Das dauert 15 Minuten und dann 30 Sekunden lang.|de:Wir warten 2 "
		"Stunden.|de:Dann geht es.");
	check("You wait 15 min. for it, then 2 hrs. more. It takes min. three of them, and 20 "
	      "mins.",
		"en:You wait 15 minutes for it, then 2 hours more.|en:It takes minimum three of "
		"them, "
		"and 20 minutes.");
	check("Es dauert 15 Min.", "de:Es dauert 15 Minuten.");
	check("Es sind genau 42. Das reicht.", "de:Es sind genau 42.|de:Das reicht.");
	check("There are 42. The rest is gone.", "en:There are 42.|en:The rest is gone.");
	check("He said \"stop.\" Then he left.", "en:He said stop.|en:Then he left.");
	check("Wait... what is this? Well... The end.",
		"en:Wait. what is this?|en:Well.|en:The end.");
	check("First line\nand the second. Third.", "en:First line and the second.|en:Third.");
	check("Apples, pears etc. are in player.c and not in v1.2.3 of it.",
		"en:Apples, pears et cetera are in player.c and not in v1.2.3 of it.");
	check("", "");
	check(" \n\n ... \n --- \n***\n", "");
	check("Eins\n\nZwei", "en:Eins.|en:Zwei.");
}

static void test_told_at_once(void **state)
{
	AUTO_STR got = STR_INIT;
	struct speakable *s = speakable_new(SPEAKABLE_EN, note, &got);

	(void)state;
	speakable_feed(s, SV("The tests"));
	assert_string_equal(got.buf, "");
	speakable_feed(s, SV(" pass."));
	assert_string_equal(got.buf, "");
	speakable_feed(s, SV(" "));
	assert_string_equal(got.buf, "en:The tests pass.");
	speakable_feed(s, SV("Now **all of them** are"));
	speakable_flush(s);
	assert_string_equal(got.buf, "en:The tests pass.|en:Now all of them are.");
	/* It may be used again. */
	str_clear(&got);
	speakable_feed(s, SV("# Title\n"));
	assert_string_equal(got.buf, "en:Title.");
	speakable_free(s);
	speakable_free(NULL);
}

static void test_what_is_not_read_out(void **state)
{
	(void)state;
	check("Here it is:\n\n```c\nint main(void) { return 0; }\n// It ends. Here.\n```\n\nThat "
	      "is all.",
		"en:Here it is.|en:code on screen.|en:That is all.");
	check("Das ist der Code:\n```\na\n```\n```\nb\n```\nUnd das war er.",
		"de:Das ist der Code.|de:Code auf dem Bildschirm.|de:Und das war er.");
	check("~~~\n```\nnot. an end\n~~~\nDone with that.",
		"en:code on screen.|en:Done with that.");
	check("```\nnever ends. Really.\n", "en:code on screen.");
	check("The values:\n\n| a | b |\n|---|---|\n| 1. x | 2 |\n\nThey are good.",
		"en:The values.|en:table on screen.|en:They are good.");
	check("The values are here. See:\na | b\n--- | :-:\nx. y | 2\nalone\n| 3 | 4 |\n5 | "
	      "6\n\nThey "
	      "are good.",
		"en:The values are here.|en:See.|en:table on screen.|en:They are good.");
	check("a | b\n:--|--:\n1 | 2\n# Then\nIt is over.",
		"en:table on screen.|en:Then.|en:It is over.");
	/* No columns: no table. */
	check("One line\n---\nand another.", "en:One line.|en:and another.");
	check("See https://example.org/a.b?c=d&e and www.example.org. It is there.",
		"en:See link on screen and.|en:It is there.");
	check("Siehe [die Seite](https://example.org/x_y_z). Danke.",
		"de:Siehe die Seite.|de:Danke.");
	check("I changed `src/voice/player.c` and /usr/share/doc/faden/README.md for you.",
		"en:I changed player.c and README.md for you.");
	check("Run `make test` and then `for i in *; do x; done` for it.",
		"en:Run make test and then code on screen for it.");
	check("Call `tts_say()` or `audio_out_stop` here.",
		"en:Call tts say or audio out stop here.");
	check("The commit is 3f786850e387550fdab836ed7e6dc881de23001b, and that is it.",
		"en:The commit is code on screen, and that is it.");
	check("Text first.\n\n    indented = code;\n    more();\n\nAnd the end.",
		"en:Text first.|en:code on screen.|en:And the end.");
	check("It is in `/home/anna/projects/of/a/long/name/faden/src/voice/player.c` and (see "
	      "line 212) at "
	      "https://example.org/x#y (or so). Some file(s) of C# too (at the end).",
		"en:It is in player.c and, see line 212, at link on screen, or so.|en:Some files "
		"of C# "
		"too, at the end.");
	check("either/or and and/or are words, 1/2 is a half.",
		"en:either/or and and/or are words, 1/2 is a half.");
}

static void test_marks(void **state)
{
	(void)state;
	check("# The title\nSome **bold** and *soft* words with `code`.",
		"en:The title.|en:Some bold and soft words with code.");
	check("- first item\n- [x] the second one.\n* and a third\n  that goes on\n1. with a "
	      "number\n2) and "
	      "another",
		"en:first item.|en:the second one.|en:and a third that goes on.|en:1: with a "
		"number.|en:2: and another.");
	check("> quoted words\n> and more of them", "en:quoted words and more of them.");
	check("All good ✅ 🎉 → we are done — really.", "en:All good, we are done, really.");
	check("One<br>two <b>three</b> and a < b of them.", "en:One two three and a b of them.");
	check("a \x01 b \x1b and the rest \xff\xfe.", "en:a b and the rest.");
}

static void test_numbers(void **state)
{
	(void)state;
	check("The file has 10 MB and took 250ms, which is 5%.",
		"en:The file has 10 megabytes and took 250 milliseconds, which is 5 percent.");
	check("Die Datei hat 10 MB, das sind ~5 % oder 10–20 Stück.",
		"de:Die Datei hat 10 Megabyte, das sind etwa 5 Prozent oder 10 bis 20 Stück.");
	check("It was made on 2024-05-17 by me.", "en:It was made on May 17, 2024 by me.");
	check("Es war am 2024-05-17 fertig.", "de:Es war am 17. Mai 2024 fertig.");
	check("Das dauert 5 min. Danach ist es fertig.",
		"de:Das dauert 5 Minuten.|de:Danach ist es fertig.");
}

static void test_language(void **state)
{
	AUTO_STR got = STR_INIT;

	(void)state;
	/* What has no words of either goes with what came before. */
	check("Das ist der Anfang. OK. This is the other one. OK.",
		"de:Das ist der Anfang.|de:OK.|en:This is the other one.|en:OK.");
	say(&got, "OK.", 1, SPEAKABLE_DE);
	assert_string_equal(got.buf, "de:OK.");
	str_clear(&got);
	say(&got, "```\nx\n```", 1, SPEAKABLE_DE);
	assert_string_equal(got.buf, "de:Code auf dem Bildschirm.");
}

static void test_long(void **state)
{
	AUTO_STR text = STR_INIT;
	AUTO_STR one = STR_INIT;
	AUTO_STR all = STR_INIT;
	AUTO_STR solid = STR_INIT;

	(void)state;
	/* Words without an end are said in parts. */
	for (int i = 0; i < 400; i++)
		str_adds(&text, "wörter ");
	say(&one, text.buf, 1, SPEAKABLE_DE);
	say(&all, text.buf, 100000, SPEAKABLE_DE);
	assert_string_equal(one.buf, all.buf);
	struct sv rest = str_sv(&one), piece;
	size_t pieces = 0;
	while (sv_split(&rest, '|', &piece)) {
		assert_true(piece.n <= SPEAKABLE_SENTENCE_MAX + 8);
		pieces++;
	}
	assert_in_range(pieces, 7, 12);
	/* One word without an end is no word. */
	for (int i = 0; i < 3000; i++)
		str_adds(&solid, "x");
	str_clear(&one);
	say(&one, solid.buf, 17, SPEAKABLE_EN);
	assert_string_equal(one.buf, "en:code on screen.");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sentences),
		cmocka_unit_test(test_told_at_once),
		cmocka_unit_test(test_what_is_not_read_out),
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_language),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
