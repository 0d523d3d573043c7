#include <utf8proc.h>

#include "base/utf8.h"
#include "route/seed.h"
#include "route/unicode.h"

/* Sorted for bsearch. */
static const char *const stop_words[] = { "a", "about", "also", "an", "and", "are", "at", "be",
	"been", "being", "but", "by", "can", "could", "did", "do", "does", "for", "from", "get",
	"go", "had", "has", "have", "he", "her", "him", "his", "i", "if", "in", "into", "is", "it",
	"its", "just", "make", "may", "me", "might", "my", "no", "not", "now", "of", "on", "or",
	"our", "please", "really", "same", "shall", "she", "should", "so", "that", "the", "their",
	"them", "then", "these", "they", "this", "those", "to", "too", "us", "very", "was", "we",
	"were", "will", "with", "would", "you", "your" };

/*
 * Continuation patterns: literal characters, '_' for a run of at least one white space, '*' for a
 * run that may be empty, "'" for an optional apostrophe. Word boundaries stand on both sides.
 */
static const char *const patterns[] = { "also", "and_then", "and_also", "continue", "keep_going",
	"follow*up", "going_back_to", "while_you're_at_it", "in_that_file", "in_that_same_file",
	"same_thing", "one_more_thing", "actually", "wait", "oh_and" };

enum { SHORTEST_KEYWORD = 3 };

static int compare_word(const void *key, const void *item)
{
	const struct sv *word = key;
	return sv_cmp(*word, sv_of(*(const char *const *)item));
}

static bool is_stop_word(struct sv word)
{
	return bsearch(&word, stop_words, ARRAY_LEN(stop_words), sizeof(stop_words[0]),
		       compare_word) != NULL;
}

static struct sv strip(struct sv word)
{
	static const char marks[] = ".,!?;:'\"()-";
	while (word.n > 0 && memchr(marks, word.p[0], sizeof(marks) - 1))
		word = sv_from(word, 1);
	while (word.n > 0 && memchr(marks, word.p[word.n - 1], sizeof(marks) - 1))
		word.n--;
	return word;
}

/* Cuts the next run of non-white-space off *rest. */
static bool next_word(struct sv *rest, struct sv *ret_word)
{
	size_t start = 0, at = 0;
	bool inside = false;
	while (at < rest->n) {
		uint32_t cp;
		size_t step = utf8_decode(sv_from(*rest, at), &cp);
		bool space = unicode_space(cp);
		if (inside && space)
			break;
		if (!inside && !space) {
			inside = true;
			start = at;
		}
		at += step;
	}
	*ret_word = sv_make(rest->p + start, at - start);
	*rest = sv_from(*rest, at);
	return inside;
}

void seed_keywords(struct map *words, struct sv text)
{
	AUTO_STR lower = STR_INIT;
	unicode_lower(&lower, text);
	struct sv rest = str_sv(&lower), word;
	while (next_word(&rest, &word)) {
		word = strip(word);
		if (utf8_length(word) >= SHORTEST_KEYWORD && !is_stop_word(word))
			map_put(words, word, 1);
	}
}

/* A literal of a case-insensitive pattern: the long s and the dotless i match too. */
static bool same_letter(uint32_t cp, char literal)
{
	enum { LONG_S = 0x17f, DOTLESS_I = 0x131 };
	return utf8proc_tolower((utf8proc_int32_t)cp) == literal ||
		(literal == 's' && cp == LONG_S) || (literal == 'i' && cp == DOTLESS_I);
}

static size_t skip_spaces(struct sv s)
{
	size_t at = 0;
	while (at < s.n) {
		uint32_t cp;
		size_t step = utf8_decode(sv_from(s, at), &cp);
		if (!unicode_space(cp))
			break;
		at += step;
	}
	return at;
}

static bool matches_here(struct sv s, const char *pattern)
{
	for (; *pattern; pattern++) {
		if (*pattern == '_' || *pattern == '*') {
			size_t n = skip_spaces(s);
			if (n == 0 && *pattern == '_')
				return false;
			s = sv_from(s, n);
			continue;
		}
		uint32_t cp = 0;
		size_t step = s.n > 0 ? utf8_decode(s, &cp) : 0;
		if (*pattern == '\'') {
			s = sv_from(s, cp == '\'' ? step : 0);
			continue;
		}
		if (step == 0 || !same_letter(cp, *pattern))
			return false;
		s = sv_from(s, step);
	}
	uint32_t after = 0;
	if (s.n > 0)
		(void)utf8_decode(s, &after);
	return s.n == 0 || !unicode_word(after);
}

static bool any_pattern(struct sv s)
{
	for (size_t i = 0; i < ARRAY_LEN(patterns); i++)
		if (matches_here(s, patterns[i]))
			return true;
	return false;
}

bool seed_continuation(struct sv text)
{
	bool in_word = false;
	while (text.n > 0) {
		uint32_t cp;
		size_t step = utf8_decode(text, &cp);
		bool word = unicode_word(cp);
		if (word && !in_word && any_pattern(text))
			return true;
		in_word = word;
		text = sv_from(text, step);
	}
	return false;
}
