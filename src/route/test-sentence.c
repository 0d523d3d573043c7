/* What single sentences do: words, openings, leaning. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/utf8.h"
#include "route/sentence.h"
#include "route/stem.h"
#include "route/wordtable.h"

static int set_up(void **state)
{
	static struct lexicon lex;
	const struct lang_extra extra[] = { { SV("de"), SV("start"), SV("horch|Ei freilich") },
		{ SV("fr"), SV("adjective"), SV("très vite") },
		{ SV("xx"), SV("start"), SV("nothing") }, { SV("de"), SV("no class"), SV("y") } };

	lexicon_init(&lex, extra, ARRAY_LEN(extra));
	*state = &lex;
	return 0;
}

static int tear_down(void **state)
{
	lexicon_release(*state);
	return 0;
}

/* The words must be what utf8_normalise() makes of them, or they are never found. */
static void test_words_are_folded(void **state)
{
	size_t n = 0;

	(void)state;
	for (size_t at = 0; at < WORD_INDEX_SIZE; at++) {
		if (!word_index[at])
			continue;
		const struct word_row *row = &word_rows[word_index[at] - 1];
		struct sv word = sv_make((const char *)&word_pool[row->at], row->n);
		AUTO_STR folded = STR_INIT;
		utf8_normalise(&folded, word, true);
		if (!sv_eq(word, str_sv(&folded)) || !sv_eq(word, sv_trim(word)))
			fail_msg("not folded, or with a blank: '%.*s'", SV_ARG(word));
		assert_ptr_equal(wordtable_find(word), row);
		n++;
	}
	assert_true(n > 5000);
	assert_null(wordtable_find(SV("")));
	assert_null(wordtable_find(SV("gewitterzange")));
}

static void test_words_are_known(void **state)
{
	const struct lexicon *lex = *state;

	assert_true(lexicon_get(lex, LANG_EN, SV("the")) & LANG_BIT(ART));
	assert_true(lexicon_get(lex, LANG_DE, SV("heisst")) & LANG_BIT(AUX));
	assert_true(lexicon_goes_on(lex, LANG_EN, SV("back")));
	assert_false(lexicon_goes_on(lex, LANG_EN, SV("parser")));
	/* as hurried people write it; never over another word */
	assert_true(lexicon_get(lex, LANG_FR, SV("ecran")) & LANG_BIT(NOUN));
	assert_false(lexicon_get(lex, LANG_FR, SV("ou")) & LANG_BIT(WH));
	/* of the configuration */
	assert_true(lexicon_get(lex, LANG_DE, SV("ei freilich")) & LANG_BIT(START));
	assert_true(lexicon_goes_on(lex, LANG_DE, SV("ei")));
	assert_true(lexicon_get(lex, LANG_FR, SV("tres vite")) & LANG_BIT(ADJ));
	const struct lexicon none = { .own_words = false };
	assert_false(lexicon_get(&none, LANG_EN, SV("the")));
}

static void test_cutting(void **state)
{
	const struct lexicon *lex = *state;
	struct token_list t = TOKENS_INIT;

	tokens_read(&t,
		SV("L\u2019app AuthService.refresh(), \u201eweiter\u201c vas-y c++ 给登录页面"),
		lex);
	static const struct {
		const char *word;
		unsigned flags;
	} want[] = { { "l", 0 }, { "app", 0 }, { "authservice.refresh", TOKEN_IDENT },
		{ "weiter", TOKEN_QUOTED }, { "vas", 0 }, { "y", TOKEN_CLITIC }, { "c++", 0 },
		{ "给", TOKEN_HAN }, { "登录", TOKEN_HAN }, { "页面", TOKEN_HAN } };
	assert_int_equal(t.v.n, ARRAY_LEN(want));
	for (size_t i = 0; i < t.v.n; i++) {
		if (!sv_is(token_word(&t, &t.v.v[i]), want[i].word))
			fail_msg("%zu: %.*s", i, SV_ARG(token_word(&t, &t.v.v[i])));
		if (want[i].flags && !(t.v.v[i].flags & want[i].flags))
			fail_msg("%s: flags %x", want[i].word, (unsigned)t.v.v[i].flags);
	}
	tokens_release(&t);
}

static double lean_of(const struct lexicon *lex, const char *text)
{
	struct sentence s = SENTENCE_INIT;

	sentence_read(&s, sv_of(text), lex);
	double lean = s.fresh ? 0 : s.lean;
	sentence_release(&s);
	return lean;
}

static void test_german_verbs(void **state)
{
	static const char *const pairs[][2] = { { "abgesenkt", "absenkt" },
		{ "hochgeladen", "hochladen" }, { "abzuschalten", "abschalten" },
		{ "gerundet", "rundet" } };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		AUTO_STR out = STR_INIT;
		assert_true(german_present(&out, sv_of(pairs[i][0])));
		assert_string_equal(out.buf, pairs[i][1]);
	}
	AUTO_STR out = STR_INIT;
	assert_false(german_present(&out, SV("gegner")));
	assert_false(german_present(&out, SV("zutat")));
	assert_true(german_particle(SV("ab")));
	assert_false(german_particle(SV("gestern")));
}

static void test_leaning(void **state)
{
	static const char *const leaning[] = { "now run it", "mach das rückgängig", "also a chart",
		"corrige ça", "hazlo", "pruébala en el móvil", "现在运行它", "yes please",
		"nein, die andere", "shorter please", "versuch\u2019s nochmal",
		"for the admins too", "add a test for that", "und für die Schweiz?", "why not",
		"fais-le aussi en anglais", "the two failing ones, fix them",
		"while you\u2019re at it, sort the names", "eine französische wäre auch gut",
		"verify the checksum", "horch, der Zoll fehlt", "ei freilich mit Anhang",
		"in one sentence please", "继续", "Lässt sich der nachher abschalten?",
		"turn the sprite round then", "nach Größe ordnen",
		"the third paragraph sounds clumsy", "achso und sonntags zählt mehr",
		"Es müsste nur ganze Tage annehmen", "mention the ferry first", "add a grid line",
		"beschrifte die Pfeile links", "färbe den längsten Balken grün",
		"make the arrival time optional", "phase three lacks the rollback rehearsal",
		"write the patch and a proof", "which package drags that in",
		"would a wider moat fix that?", "is there an upper bound?",
		"give me an example in Perl", "lässt sich das bremsen?",
		"it would be nicer with commas", "remove the two slowest from the ranking",
		"Ungarisch bräuchten wir auch noch", "ring buffer it is", "would more dikes help",
		"welche Farbe hast du genommen?", "stell die alte Mauer wieder her",
		"fang mit dem Keller an", "exFAT", "maybe the valve sticks in winter",
		"how does the hull look now", "was passiert bei leeren Fässern",
		"die schnellste darfst du behalten", "ein Beispiel in Fortran wäre nett",
		"ignore the planks", "write down the options first", "Redis sounds good",
		"die soll um sieben uhr abends starten" };

	for (size_t i = 0; i < ARRAY_LEN(leaning); i++)
		if (lean_of(*state, leaning[i]) < 0.66)
			fail_msg("stands: %s (%.2f)", leaning[i], lean_of(*state, leaning[i]));
}

static void test_standing(void **state)
{
	static const char *const standing[] = { "write a parser for INI files",
		"Also wie installiert man Arch Linux auf einem Tablet?",
		"put \"keep going\" on the green banner of the lobby",
		"skip links are missing in the harbour guide",
		"Teile der Takelage fehlen im Modell", "label the lever 'sounds good'",
		"it would be better to move our mail to Postfix",
		"make the ferry timetable refresh every ten minutes",
		"Die Waage von Mettler meldet 456, was bedeutet das?",
		"is it possible to sign PDFs offline",
		"debug the crawler, it stops after a hundred seeds",
		"neues Thema: mach das Tor blau",
		"write a script that waits for the gateway before it mounts the share",
		"Der Schalter \"Weiter\" soll im Formularassistenten rechts stehen",
		"find all invoices larger than one megabyte and list them",
		"add an undo button to the toolbar of the editor",
		"Ergänze im Kassenbuch die Steuernummer",
		"implement undo and redo for the seating planner",
		"is there a library for reading tide tables", "génère un rapport des ventes de sel",
		"Also ich hätte da noch eine Frage zu Perl: wie sortiert man Hashes?",
		"Der Hinweis soll in der ganzen Werkstatt hängen",
		"Läuft der Nachtabgleich der Zähler schneller?", "", "\xff\xfe\xfd",
		"the player forgets its position when the tunnel closes",
		"c'est quoi la différence entre un tuple et une liste chaînée",
		"wie heißt nochmal diese Taste zum Abschalten der Feststelltaste",
		"Es soll eine Seite für Gutscheine geben" };

	for (size_t i = 0; i < ARRAY_LEN(standing); i++)
		if (lean_of(*state, standing[i]) > 0.6)
			fail_msg("leans: %s (%.2f)", standing[i], lean_of(*state, standing[i]));
}

static void test_openings(void **state)
{
	static const struct {
		const char *text;
		bool fresh, returning;
	} want[] = { { "new topic: bread", true, false },
		{ "anderes Thema, wie backt man Brot", true, false },
		{ "add a new topic page to the forum", false, false },
		{ "switching topics: bread", true, false }, { "换个话题：面包", true, false },
		{ "back to the oven, it is cold", false, true }, { "Zurück zum Ofen", false, true },
		{ "revenons au four", false, true }, { "the back button is gone", false, false } };

	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		struct sentence s = SENTENCE_INIT;
		sentence_read(&s, sv_of(want[i].text), *state);
		if (s.fresh != want[i].fresh || s.returning != want[i].returning)
			fail_msg("%s: new %d, return %d", want[i].text, s.fresh, s.returning);
		sentence_release(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words_are_folded),
		cmocka_unit_test(test_words_are_known),
		cmocka_unit_test(test_cutting),
		cmocka_unit_test(test_german_verbs),
		cmocka_unit_test(test_leaning),
		cmocka_unit_test(test_standing),
		cmocka_unit_test(test_openings),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
