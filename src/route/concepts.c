#include "route/concepts.h"

#include "base/attr.h"
#include "route/wordtable.h"

unsigned concept_of(struct sv word)
{
	static const char *const endings[] = { "", "s", "n", "en", "e", "es" };
	for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
		struct sv end = sv_of(endings[i]);
		if (word.n <= end.n + 2 || !sv_ends(word, end))
			continue;
		const struct word_row *row = wordtable_find(sv_head(word, word.n - end.n));
		unsigned number = row ? row->meaning & ~(unsigned)WORD_BEGINS_CONCEPT : 0;
		if (number)
			return number;
	}
	return 0;
}

bool concept_begins(struct sv word)
{
	const struct word_row *row = wordtable_find(word);
	return row && (row->meaning & WORD_BEGINS_CONCEPT);
}

/* Einstellungs+seite: both parts must be known, the first may carry a joint (s, n, en, es). */
bool concept_split(struct sv word, unsigned *ret_first, unsigned *ret_second)
{
	enum { SHORTEST = 3 };
	for (size_t at = word.n; at-- > SHORTEST;) {
		if (((unsigned char)word.p[at] & 0xc0) == 0x80 || word.n - at < SHORTEST)
			continue;
		*ret_first = concept_of(sv_head(word, at));
		*ret_second = *ret_first ? concept_of(sv_from(word, at)) : 0;
		if (*ret_second)
			return true;
	}
	return false;
}
