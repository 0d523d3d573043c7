#include "meaning/gloss.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "os/file.h"

enum {
	DICTIONARY_MAX = 256 * 1024 * 1024,
	GERMAN_MAX = 60, /* bytes of a word */
	ENGLISH_MAX = 40, /* … of what it means: a longer one explains */
	SHORTEST_PART = 4, /* characters of a part of a compound, about */
};

/* ---- the dictionary ---- */

/* Cuts the next alternative off, at `mark` outside of brackets. */
static bool next_part(struct sv *rest, char mark, struct sv *ret)
{
	size_t depth = 0, i = 0;

	if (rest->n == 0)
		return false;
	for (; i < rest->n; i++) {
		char c = rest->p[i];
		depth += c == '(' || c == '[' || c == '{' || c == '<';
		if ((c == ')' || c == ']' || c == '}' || c == '>') && depth > 0)
			depth--;
		if (c == mark && depth == 0)
			break;
	}
	*ret = sv_head(*rest, i);
	*rest = sv_from(*rest, i < rest->n ? i + 1 : i);
	return true;
}

/* Without what stands in brackets, without abbreviations such as "sth." and "etw.", blanks singly.
 */
static void strip(struct sv part, struct str *out)
{
	size_t depth = 0;

	for (size_t i = 0; i < part.n; i++) {
		char c = part.p[i];
		bool opens = c == '(' || c == '[' || c == '{' || c == '<';
		bool closes = c == ')' || c == ']' || c == '}' || c == '>';
		depth += opens;
		if (closes && depth > 0)
			depth--;
		if (depth > 0 || opens || closes)
			continue;
		if (c == '.' && (i + 1 == part.n || part.p[i + 1] == ' ' || part.p[i + 1] == '/')) {
			while (out->len > 0 && out->buf[out->len - 1] != ' ')
				str_cut(out, out->len - 1);
			continue;
		}
		if (c != ' ' || (out->len > 0 && out->buf[out->len - 1] != ' '))
			str_addc(out, c);
	}
	while (out->len > 0 && out->buf[out->len - 1] == ' ')
		str_cut(out, out->len - 1);
}

void gloss_line(struct sv line,
	void (*take)(void *data, struct sv german, struct sv english, unsigned worse), void *data)
{
	static const char *const fillers[] = { "to ", "a ", "the " };
	size_t at;

	if (line.n == 0 || line.p[0] == '#' || !sv_find(line, SV(" :: "), &at))
		return;
	struct sv german = sv_head(line, at), english = sv_from(line, at + 4), g, e, one;
	/* Singular, plural and examples stand behind each other on both sides. */
	while (next_part(&german, '|', &g) && next_part(&english, '|', &e)) {
		AUTO_STR meant = STR_INIT;
		AUTO_STR folded = STR_INIT;
		if (!next_part(&e, ';', &one))
			continue;
		strip(one, &meant);
		struct sv means = sv_trim(str_sv(&meant));
		for (size_t i = 0; i < ARRAY_LEN(fillers); i++)
			if (sv_starts(means, sv_of(fillers[i])))
				means = sv_from(means, strlen(fillers[i]));
		if (means.n == 0 || means.n > ENGLISH_MAX || memchr(means.p, '.', means.n))
			continue;
		unsigned worse = memchr(means.p, ' ', means.n) ? 2 : 0;
		for (unsigned place = 0; next_part(&g, ';', &one); place++) {
			AUTO_STR word = STR_INIT;
			strip(one, &word);
			struct sv w = sv_trim(str_sv(&word));
			if (w.n == 0 || w.n > GERMAN_MAX || memchr(w.p, ' ', w.n))
				continue;
			str_clear(&folded);
			utf8_normalise(&folded, w, true);
			if (!memchr(folded.buf, '\t', folded.len))
				take(data, str_sv(&folded), means, worse + (place < 3 ? place : 3));
		}
	}
}

struct entry {
	char *german, *english;
	unsigned worse;
};

struct making {
	struct map index; /* word → entry */
	VEC(struct entry) entries;
};

static void take_entry(void *data, struct sv german, struct sv english, unsigned worse)
{
	struct making *m = data;
	uint64_t at;

	if (!map_get(&m->index, german, &at)) {
		(void)map_put(&m->index, german, m->entries.n);
		vec_push(&m->entries,
			(struct entry){ xmemdup0(german.p, german.n),
				xmemdup0(english.p, english.n), worse });
		return;
	}
	struct entry *old = &m->entries.v[at];
	if (worse >= old->worse)
		return;
	free(old->english);
	old->english = xmemdup0(english.p, english.n);
	old->worse = worse;
}

static int by_german(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->german, ((const struct entry *)b)->german);
}

int gloss_make(const char *dictionary, const char *table, struct err *reterr)
{
	struct making m = { .index = MAP_INIT, .entries = VEC_INIT };
	AUTO_STR text = STR_INIT;
	AUTO_STR out = STR_INIT;
	struct sv rest, line;
	int r = file_read(dictionary, DICTIONARY_MAX, &text, reterr);

	if (r < 0)
		return r;
	rest = str_sv(&text);
	while (sv_split(&rest, '\n', &line))
		gloss_line(line, take_entry, &m);
	vec_sort(&m.entries, by_german);
	vec_each (&m.entries, e)
		str_addf(&out, "%s\t%s\n", e->german, e->english);
	r = m.entries.n == 0 ? err_set(reterr, ERR_INPUT, "%s: no dictionary", dictionary)
			     : file_replace(table, str_sv(&out), 0600, reterr);
	if (r == 0)
		r = (int)m.entries.n;
	vec_each (&m.entries, e) {
		free(e->german);
		free(e->english);
	}
	vec_release(&m.entries);
	map_release(&m.index);
	return r;
}

bool gloss_sound(struct sv table)
{
	const char *tab = table.n > 0 ? memchr(table.p, '\t', table.n) : NULL;
	const char *end = tab ? memchr(table.p, '\n', table.n) : NULL;

	return end && tab < end && table.p[table.n - 1] == '\n';
}

/* ---- words ---- */

/* The English of one word; without any: nothing. */
static struct sv look_up(struct sv table, struct sv word)
{
	size_t low = 0, high = table.n;

	/* Between low and high, both at beginnings of lines, lies its line if there is one. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		while (middle > low && table.p[middle - 1] != '\n')
			middle--;
		const char *end = memchr(table.p + middle, '\n', table.n - middle);
		struct sv line = sv_make(table.p + middle,
			end ? (size_t)(end - table.p) - middle : table.n - middle);
		const char *tab = memchr(line.p, '\t', line.n);
		size_t n = tab ? (size_t)(tab - line.p) : line.n;
		int c = sv_cmp(word, sv_head(line, n));
		if (c == 0)
			return tab ? sv_from(line, n + 1) : SV("");
		if (c < 0)
			high = middle;
		else
			low = middle + line.n + (end != NULL);
	}
	return SV("");
}

static struct sv function_word(struct sv word)
{
	static const struct {
		const char *german, *english;
	} words[] = {
#define W(german, english) { german, english },
#include "meaning/function-words.def"
#undef W
	};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (sv_is(word, words[i].german))
			return sv_of(words[i].english);
	return SV("");
}

/* Other forms of a word, as far as endings and the ge- of participles make them. */
static struct sv look_up_form(struct sv table, struct sv word)
{
	static const char *const endings[] = { "", "en", "e", "n", "s", "es", "er", "em", "t", "te",
		"ten", "st", "et" };
	static const char *const instead[] = { "", "en", "e", "n" };
	struct sv found = SV("");

	for (unsigned ge = 0; ge < 2 && found.n == 0; ge++) {
		struct sv w = word;
		if (ge && (!sv_starts(w, SV("ge")) || w.n < 6))
			break;
		w = sv_from(w, ge ? 2 : 0);
		for (size_t i = 0; i < ARRAY_LEN(endings) && found.n == 0; i++) {
			size_t n = strlen(endings[i]);
			if (!sv_ends(w, sv_of(endings[i])) || w.n < n + 3)
				continue;
			for (size_t k = 0; k < ARRAY_LEN(instead) && found.n == 0; k++) {
				AUTO_STR form = STR_INIT;
				str_add(&form, sv_head(w, w.n - n));
				str_adds(&form, instead[k]);
				found = look_up(table, str_sv(&form));
			}
		}
	}
	return found;
}

/* The two parts of a compound, the last as long as can be. */
static bool add_compound(struct sv table, struct sv word, struct str *out)
{
	for (size_t i = SHORTEST_PART; i + SHORTEST_PART <= word.n; i++) {
		if (((unsigned char)word.p[i] & 0xc0) == 0x80)
			continue;
		struct sv first = sv_head(word, i), last = sv_from(word, i), a, b;
		b = look_up_form(table, last);
		if (b.n == 0)
			continue;
		a = look_up_form(table, first);
		/* Arbeits-, Sonnen- */
		if (a.n == 0 && first.n > SHORTEST_PART &&
			(first.p[first.n - 1] == 's' || first.p[first.n - 1] == 'n'))
			a = look_up(table, sv_head(first, first.n - 1));
		if (a.n == 0)
			continue;
		str_add(out, a);
		str_addc(out, ' ');
		str_add(out, b);
		return true;
	}
	return false;
}

static void gloss_word(struct sv table, struct sv word, struct str *out)
{
	AUTO_STR folded = STR_INIT;

	utf8_normalise(&folded, word, true);
	struct sv w = str_sv(&folded), found = function_word(sv_trim(word));
	if (found.n == 0)
		found = function_word(w);
	if (found.n == 0)
		found = look_up_form(table, w);
	if (found.n > 0)
		str_add(out, found);
	else if (w.n > GERMAN_MAX || !add_compound(table, w, out))
		str_add(out, word);
}

void gloss_text(struct sv table, struct sv text, struct str *out)
{
	size_t from = 0;

	for (size_t i = 0; i <= text.n; i++) {
		unsigned char c = i < text.n ? (unsigned char)text.p[i] : ' ';
		bool letter = c >= 0x80 || (c | 0x20U) - 'a' < 26 || (c >= '0' && c <= '9');
		if (letter)
			continue;
		if (i > from)
			gloss_word(table, sv_make(text.p + from, i - from), out);
		if (i < text.n)
			str_addc(out, text.p[i]);
		from = i + 1;
	}
}
