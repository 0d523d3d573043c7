#include "meaning/meaning.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "meaning/gloss.h"
#include "meaning/wordpiece.h"
#include "os/file.h"

/* ---- pieces ---- */

static const char vocabulary[] =
	"{\"version\":\"1.0\",\"model\":{\"type\":\"WordPiece\",\"vocab\":{\"[PAD]\":0,\"[UNK]\":1,"
	"\"[CLS]\":2,\"[SEP]\":3,\"the\":4,\"par\":5,\"##ser\":6,\"parse\":7,\"##r\":8,\"!\":9,"
	"\"\\u4e2d\":10,\"uber\":11,\"\\\"\":12}}}";

static void assert_pieces(const char *text, const int64_t *want, size_t n)
{
	enum { MOST = 16 };
	struct wordpiece *w = NULL;
	struct err err = ERR_INIT;
	int64_t ids[MOST];

	assert_int_equal(wordpiece_new(sv_of(vocabulary), &w, &err), 0);
	assert_int_equal(wordpiece_split(w, sv_of(text), ids, MOST), n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(ids[i], want[i]);
	wordpiece_free(w);
}
#define assert_split(text, ...)                                     \
	assert_pieces(text, (const int64_t[]){ 2, __VA_ARGS__, 3 }, \
		sizeof((const int64_t[]){ 2, __VA_ARGS__, 3 }) / sizeof(int64_t))

static void longest_pieces_win(void **state)
{
	(void)state;
	assert_split("the parser", 4, 7, 8);
	assert_split("The PARSER!", 4, 7, 8, 9);
	assert_split("parxer", 1);
	assert_split("\"the\"", 12, 4, 12);
	assert_split("\xc3\xbc"
		     "ber",
		11);
	assert_split("the\xe4\xb8\xad\xe4\xb8\xad", 4, 10, 10);
	assert_split("the\x01\xff the", 4, 4);
}

static void room_is_kept_for_the_end(void **state)
{
	struct wordpiece *w = NULL;
	struct err err = ERR_INIT;
	int64_t ids[4];

	(void)state;
	assert_int_equal(wordpiece_new(sv_of(vocabulary), &w, &err), 0);
	assert_int_equal(wordpiece_split(w, SV("the the the the"), ids, 4), 4);
	assert_int_equal(ids[3], 3);
	assert_int_equal(wordpiece_split(w, SV("the"), ids, 2), 2);
	assert_int_equal(ids[1], 3);
	assert_int_equal(wordpiece_split(w, SV(""), ids, 4), 2);
	wordpiece_free(w);
}

static void no_vocabulary_is_told(void **state)
{
	static const char *const bad[] = { "", "[]", "{\"model\":{\"vocab\":[]}}",
		"{\"model\":", "{\"model\":{\"vocab\":{\"the\":4}}}" };
	struct wordpiece *w = NULL;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct err err = ERR_INIT;
		assert_int_equal(wordpiece_new(sv_of(bad[i]), &w, &err), ERR_INPUT);
	}
}

/* ---- glosses ---- */

static const char dictionary[] =
	"# comment :: comment\n"
	"Haus {n} [arch.]; Geb\xc3\xa4ude {n} | H\xc3\xa4user {pl} :: house; building | houses\n"
	"T\xc3\xbcr {f} (eines Autos; Raums) :: door <doors>\n"
	"reparieren {vt}; instandsetzen :: to repair; to fix\n"
	"Arbeit {f} :: work\n"
	"Zimmer {n} | zwei Zimmer :: room | two rooms\n"
	"schnell {adj} :: fast\n"
	"nur deutsch\n"
	"etw. tun :: to do sth.\n";

static void assert_gloss(const char *german, const char *english)
{
	char dir[] = "/tmp/faden-gloss-XXXXXX";
	AUTO_STR table = STR_INIT;
	AUTO_STR out = STR_INIT;
	struct err err = ERR_INIT;

	assert_non_null(mkdtemp(dir));
	AUTO_FREE char *from = xasprintf("%s/de-en", dir);
	AUTO_FREE char *to = xasprintf("%s/table", dir);
	assert_int_equal(file_replace(from, sv_of(dictionary), 0600, &err), 0);
	assert_true(gloss_make(from, to, &err) > 0);
	assert_true(file_read(to, 1 << 20, &table, &err) >= 0);
	gloss_text(str_sv(&table), sv_of(german), &out);
	assert_string_equal(out.buf, english);
	(void)unlink(from);
	(void)unlink(to);
	(void)rmdir(dir);
}

static void german_is_said_in_english(void **state)
{
	(void)state;
	assert_gloss("das Haus, die H\xc3\xa4user!", "the house, the houses!");
	assert_gloss("repariere die T\xc3\xbcr", "repair the door");
	assert_gloss("Arbeitszimmer", "work room");
	assert_gloss("die schnelle Geb\xc3\xa4ude", "the fast house");
	assert_gloss("parser.c kaputt", "parser.c kaputt");
	assert_gloss("", "");
}

static void a_dictionary_that_is_none_is_told(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	assert_true(gloss_make("/nowhere/de-en", "/nowhere/table", &err) < 0);
	assert_true(gloss_make("/dev/null", "/nowhere/table", &err) < 0);
}

/* A table that is torn or no table at all finds nothing, and no more. */
static void any_table_is_safe(void **state)
{
	static const char *const tables[] = { "", "\n", "haus", "haus\t", "\t\n\t\n", "a\nb\nc",
		"zz\thouse", "haus\thouse\nhaus\thome" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
		AUTO_STR out = STR_INIT;
		gloss_text(sv_of(tables[i]), SV("Haus Baumhaus geflogen"), &out);
		assert_true(out.len > 0);
	}
}

static void nothing_is_there(void **state)
{
	struct meaning *m = meaning_new("/nowhere");
	int8_t v[MEANING_SIZE];
	struct err err = ERR_INIT;

	(void)state;
	assert_false(meaning_installed(m));
	assert_false(meaning_has_german(m));
	assert_int_equal(meaning_of(m, SV("the door"), "en", v, &err), ERR_NOTFOUND);
	assert_int_equal(meaning_of(m, SV("la porte"), "fr", v, &err), ERR_INPUT);
	assert_int_equal(meaning_make_german(m, "/nowhere/de-en", &err), ERR_NOTFOUND);
	assert_false(meaning_ready(m));
	meaning_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(longest_pieces_win),
		cmocka_unit_test(room_is_kept_for_the_end),
		cmocka_unit_test(no_vocabulary_is_told),
		cmocka_unit_test(german_is_said_in_english),
		cmocka_unit_test(a_dictionary_that_is_none_is_told),
		cmocka_unit_test(any_table_is_safe),
		cmocka_unit_test(nothing_is_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
