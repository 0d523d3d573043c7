/*
 * gen-words: writes the table of wordtable.h as C source on standard output. Runs while faden is
 * built; see wordlist.h for what it reads.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/attr.h"
#include "route/hurried.h"
#include "route/wordlist.h"
#include "route/wordtable.h"

enum { KEY_MAX = 96, ENTRIES_MAX = 32768 };

/* What one list says about one key; entries of the same key are merged when written. */
struct entry {
	char key[KEY_MAX];
	uint8_t n;
	uint16_t meaning;
	lang_mask masks[LANG_COUNT];
};

struct table {
	struct entry *v;
	size_t n;
	lang_mask masks[LANG_COUNT][WORD_MASKS_MAX];
	size_t n_masks[LANG_COUNT];
};

static NORETURN void fail(const char *what, struct sv word)
{
	(void)fprintf(stderr, "gen-words: %s: %.*s\n", what, SV_ARG(word));
	exit(1);
}

static struct sv key_of(const struct entry *e)
{
	return sv_make(e->key, e->n);
}

static struct entry *add(struct table *t, struct sv key)
{
	if (key.n == 0 || key.n >= KEY_MAX || t->n == ENTRIES_MAX)
		fail("an empty or too long word, or too many", key);
	struct entry *e = &t->v[t->n++];
	*e = (struct entry){ .n = (uint8_t)key.n };
	memcpy(e->key, key.p, key.n);
	return e;
}

/* ß becomes ss, as folding does. */
static struct sv folded(struct sv word, char out[static KEY_MAX])
{
	static const char sharp[] = "ß";
	size_t n = 0;

	if (word.n >= KEY_MAX)
		fail("too long", word);
	for (size_t i = 0; i < word.n; i++)
		out[n++] = word.p[i];
	for (size_t i = 0; i + 1 < n; i++)
		if (memcmp(&out[i], sharp, sizeof(sharp) - 1) == 0)
			memcpy(&out[i], "ss", 2);
	return sv_make(out, n);
}

static void add_phrase(struct table *t, size_t lang, struct sv phrase, lang_mask mask)
{
	add(t, phrase)->masks[lang] = mask;
	for (size_t i = 1; i < phrase.n; i++)
		if (phrase.p[i] == ' ')
			add(t, sv_head(phrase, i))->masks[lang] = WORD_BEGINS_PHRASE;
}

static void add_lists(struct table *t)
{
	static const struct word_list *const lists[LANG_COUNT] = {
		[LANG_EN] = &words_en,
		[LANG_DE] = &words_de,
		[LANG_FR] = &words_fr,
		[LANG_ES] = &words_es,
		[LANG_ZH] = &words_zh,
	};

	for (size_t l = 0; l < LANG_COUNT; l++) {
		for (size_t c = 0; c < LANG_CLASS_COUNT; c++) {
			struct sv rest = sv_of(lists[l]->words[c]), word;
			char buf[KEY_MAX];
			while (sv_split(&rest, '|', &word))
				add_phrase(t, l, folded(word, buf), (lang_mask)1 << c);
		}
	}
}

static void add_concepts(struct table *t)
{
	for (size_t i = 0; i < n_concept_rows; i++) {
		struct sv rest = sv_of(concept_rows[i]), word;
		char buf[KEY_MAX];
		while (sv_split(&rest, '|', &word)) {
			struct sv key = folded(word, buf);
			const char *blank = memchr(key.p, ' ', key.n);
			add(t, key)->meaning = (uint16_t)(i + 1);
			if (blank)
				add(t, sv_head(key, (size_t)(blank - key.p)))->meaning =
					WORD_BEGINS_CONCEPT;
		}
	}
}

static int by_key(const void *a, const void *b)
{
	return sv_cmp(key_of(a), key_of(b));
}

/* Sorted by key, one entry each. */
static void merge(struct table *t)
{
	size_t n = 0;

	qsort(t->v, t->n, sizeof(*t->v), by_key);
	for (size_t i = 0; i < t->n; i++) {
		struct entry *from = &t->v[i];
		if (n == 0 || by_key(&t->v[n - 1], from) != 0) {
			t->v[n++] = *from;
			continue;
		}
		struct entry *to = &t->v[n - 1];
		unsigned one = to->meaning & ~(unsigned)WORD_BEGINS_CONCEPT;
		unsigned two = from->meaning & ~(unsigned)WORD_BEGINS_CONCEPT;
		if (one && two && one != two)
			fail("a word of two concepts", key_of(from));
		to->meaning |= from->meaning;
		for (size_t l = 0; l < LANG_COUNT; l++)
			to->masks[l] |= from->masks[l];
	}
	t->n = n;
}

static const struct entry *find(const struct entry *v, size_t n, struct sv key)
{
	struct entry wanted = { .n = (uint8_t)key.n };

	memcpy(wanted.key, key.p, key.n);
	return bsearch(&wanted, v, n, sizeof(*v), by_key);
}

/* Never over a word of its own: si is not sí. The table is merged. */
static void add_hurried(struct table *t, size_t lang)
{
	size_t known = t->n;

	for (size_t i = 0; i < HURRY_COUNT * known; i++) {
		const struct entry e = t->v[i / HURRY_COUNT];
		lang_mask mask = e.masks[lang] & ~WORD_BEGINS_PHRASE;
		char buf[KEY_MAX];
		size_t n;
		if (!mask ||
			!hurried((enum hurry)(i % HURRY_COUNT), key_of(&e), buf, sizeof(buf), &n))
			continue;
		const struct entry *own = find(t->v, known, sv_make(buf, n));
		if (!own || !own->masks[lang])
			add_phrase(t, lang, sv_make(buf, n), mask);
	}
	merge(t);
}

/* ---- writing ---- */

/* The first is that of words which are unknown in the language. */
static unsigned mask_number(struct table *t, size_t lang, lang_mask mask)
{
	lang_mask *masks = t->masks[lang];
	size_t *n = &t->n_masks[lang];

	for (size_t i = 0; i <= *n; i++)
		if (masks[i] == mask)
			return (unsigned)i;
	if (++*n == WORD_MASKS_MAX)
		fail("too many different masks", SV(""));
	masks[*n] = mask;
	return (unsigned)*n;
}

static void write_rows(struct table *t)
{
	size_t at = 0;

	(void)printf("const struct word_row word_rows[] = {\n");
	for (size_t i = 0; i < t->n; i++) {
		const struct entry *e = &t->v[i];
		(void)printf("\t{ %zuU, %uU, %uU, {", at, (unsigned)e->meaning, (unsigned)e->n);
		for (size_t l = 0; l < LANG_COUNT; l++)
			(void)printf(" %uU,", mask_number(t, l, e->masks[l]));
		(void)printf(" } },\n");
		at += e->n;
	}
	(void)printf("};\n\nconst uint8_t word_pool[] = {\n");
	for (size_t i = 0; i < t->n; i++) {
		(void)printf("\t");
		for (size_t c = 0; c < t->v[i].n; c++)
			(void)printf("%u,", (unsigned)(unsigned char)t->v[i].key[c]);
		(void)printf("\n");
	}
	(void)printf("};\n\n");
}

/* A third empty at least, so that a miss is found soon. */
static void write_index(const struct table *t)
{
	static uint16_t slots[WORD_INDEX_SIZE];

	if (3 * t->n > 2 * WORD_INDEX_SIZE)
		fail("WORD_INDEX_SIZE is too small", SV(""));
	for (size_t i = 0; i < t->n; i++) {
		size_t at = word_slot(key_of(&t->v[i]));
		while (slots[at])
			at = (at + 1) % WORD_INDEX_SIZE;
		slots[at] = (uint16_t)(i + 1);
	}
	(void)printf("const uint16_t word_index[WORD_INDEX_SIZE] = {");
	for (size_t i = 0; i < WORD_INDEX_SIZE; i++)
		(void)printf("%s%u,", i % 16 ? "" : "\n\t", (unsigned)slots[i]);
	(void)printf("\n};\n\n");
}

static void write_masks(const struct table *t)
{
	(void)printf("const lang_mask word_masks[LANG_COUNT][WORD_MASKS_MAX] = {\n");
	for (size_t l = 0; l < LANG_COUNT; l++) {
		(void)printf("\t{\n");
		for (size_t i = 0; i <= t->n_masks[l]; i++)
			(void)printf("\t\t0x%llxU,\n", (unsigned long long)t->masks[l][i]);
		(void)printf("\t},\n");
	}
	(void)printf("};\n");
}

int main(void)
{
	struct table t = { .v = calloc(ENTRIES_MAX, sizeof(*t.v)) };

	if (!t.v)
		fail("out of memory", SV(""));
	add_lists(&t);
	add_concepts(&t);
	merge(&t);
	add_hurried(&t, LANG_FR);
	add_hurried(&t, LANG_ES);
	(void)printf("/* Made by gen-words. */\n#include \"route/wordtable.h\"\n\n");
	write_rows(&t);
	write_index(&t);
	write_masks(&t);
	free(t.v);
	if (ferror(stdout) || fflush(stdout) != 0)
		fail("cannot write", SV(""));
	return 0;
}
