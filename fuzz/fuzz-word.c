/*
 * Words of any bytes: valid, within their limits and their text, positions that never go back, the
 * same words when they are folded again, and forms that hold no surprise.
 */
#include "base/utf8.h"
#include "fuzz.h"
#include "search/word.h"

static void check_again(const struct word_at *word)
{
	struct word_walk again;
	struct word_at same;

	if (word->kind != WORD_PLAIN && word->kind != WORD_PART)
		return;
	words_begin(&again, word->text);
	/* Folding may make a letter of what was none; it may not make another word of it. */
	if (words_next(&again, &same) && same.size == word->text.n)
		REQUIRE(sv_eq(same.text, word->text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(word_forms_release) struct word_forms forms = WORD_FORMS_INIT;
	struct word_walk w;
	struct word_at word;
	uint32_t before = 0;
	size_t from = 0;

	words_begin(&w, sv_make((const char *)data, size));
	while (words_next(&w, &word)) {
		REQUIRE(word.text.n > 0 && word.text.n <= WORD_MAX);
		REQUIRE(utf8_valid(word.text));
		REQUIRE((unsigned char)word.text.p[0] >= ' ');
		REQUIRE(word.position >= before && word.from >= from);
		REQUIRE(word.size > 0 && word.size <= size && word.from <= size - word.size);
		before = word.position;
		from = word.from;
		check_again(&word);
		for (enum word_form f = 0; f < FORMS; f++)
			REQUIRE(word_form(&forms, f, word.text).n <= WORD_MAX);
	}
	AUTO_STR term = STR_INIT;
	term_of_field(&term, TERM_FILE, sv_make((const char *)data, size));
	REQUIRE(term.len <= TERM_MAX && utf8_valid(str_sv(&term)));
	return 0;
}
