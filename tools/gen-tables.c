/*
 * gen-tables FOLDER: writes the tables of tables.h as C source on standard output, from the words
 * and the model in the folder. Runs while faden is built. Each file has one entry a line and is
 * sorted; one that is not, or has an entry twice, ends the build.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/attr.h"
#include "base/mem.h"
#include "base/vec.h"
#include "route/phrase.h"
#include "route/tables.h"

enum { LINE_MAX_BYTES = 4096 };

static NORETURN void fail(const char *file, unsigned line, const char *what)
{
	(void)fprintf(stderr, "gen-tables: %s:%u: %s\n", file, line, what);
	exit(1);
}

struct lines {
	FILE *f;
	const char *folder, *name;
	unsigned number;
	char text[LINE_MAX_BYTES], last[LINE_MAX_BYTES];
};

static void lines_open(struct lines *l, const char *folder, const char *name)
{
	AUTO_FREE char *path = xasprintf("%s/%s", folder, name);

	*l = (struct lines){ .f = fopen(path, "re"), .folder = folder, .name = name };
	if (!l->f)
		fail(path, 0, "cannot be read");
}

/* The next line's key; what stands behind a tab in it is *ret_rest. */
static bool lines_next(struct lines *l, struct sv *ret_key, char **ret_rest)
{
	if (!fgets(l->text, sizeof(l->text), l->f)) {
		(void)fclose(l->f);
		return false;
	}
	l->number++;
	size_t n = strlen(l->text);
	if (n == 0 || l->text[n - 1] != '\n')
		fail(l->name, l->number, "too long, or without its end");
	l->text[n - 1] = '\0';
	char *tab = strchr(l->text, '\t');
	if (tab)
		*tab = '\0';
	*ret_rest = tab ? tab + 1 : l->text + n - 1;
	if (!*l->text || strcmp(l->text, l->last) <= 0)
		fail(l->name, l->number, "empty, not sorted, or there twice");
	(void)snprintf(l->last, sizeof(l->last), "%s", l->text);
	*ret_key = sv_of(l->text);
	return true;
}

struct table {
	VEC(struct known_word) words;
	VEC(struct known_phrase) phrases;
	VEC(struct known_gram) grams;
};

static struct known_word *word(struct table *t, struct sv key)
{
	uint32_t h = table_hash(key);

	vec_each (&t->words, w)
		if (w->hash == h)
			return w;
	vec_push(&t->words, (struct known_word){ .hash = h });
	return &t->words.v[t->words.n - 1];
}

static void read_words(struct table *t, const char *folder)
{
	static const char *const stops[] = { "words/stop-en.txt", "words/stop-de.txt",
		"words/stop-fr.txt", "words/stop-es.txt", "words/stop-zh.txt" };
	struct lines l;
	struct sv key;
	char *rest;

	for (size_t i = 0; i < ARRAY_LEN(stops); i++) {
		lines_open(&l, folder, stops[i]);
		while (lines_next(&l, &key, &rest))
			word(t, key)->flags |= (uint8_t)(1U << i);
	}
	lines_open(&l, folder, "model/forms.txt");
	while (lines_next(&l, &key, &rest))
		word(t, key)->flags |= KNOWN_FORM;
	lines_open(&l, folder, "words/orders.txt");
	while (lines_next(&l, &key, &rest))
		word(t, key)->flags |= KNOWN_ORDER;
	lines_open(&l, folder, "model/rarity.txt");
	while (lines_next(&l, &key, &rest)) {
		struct known_word *w = word(t, key);
		w->flags |= KNOWN_RARITY;
		w->rarity = (uint8_t)strtoul(rest, NULL, 10);
	}
}

/* Characters of scripts without blanks are words each. */
static struct sv spaced(struct sv phrase, char out[static LINE_MAX_BYTES])
{
	size_t n = 0;

	for (size_t i = 0; i < phrase.n && n + 2 < LINE_MAX_BYTES; i++) {
		unsigned char c = (unsigned char)phrase.p[i];
		if (c >= 0xe3 && n > 0 && out[n - 1] != ' ')
			out[n++] = ' ';
		out[n++] = (char)c;
	}
	return sv_make(out, n);
}

/* One thing a line, all words for it with blanks between them. */
static void read_meanings(struct table *t, const char *folder)
{
	struct lines l;
	struct sv key, one;
	char *rest;

	lines_open(&l, folder, "words/alike.txt");
	while (lines_next(&l, &key, &rest))
		while (sv_split(&key, ' ', &one)) {
			struct known_word *w = word(t, one);
			if (!w->meaning)
				w->meaning = (uint16_t)l.number;
		}
}

static void read_phrases(struct table *t, const char *folder)
{
	static const char *const files[] = {
#define X(id, file) "words/" file ".txt",
		PHRASE_LISTS(X)
#undef X
	};
	struct lines l;
	struct sv key;
	char *rest, buf[LINE_MAX_BYTES];

	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		lines_open(&l, folder, files[i]);
		while (lines_next(&l, &key, &rest)) {
			uint32_t h = table_hash(spaced(key, buf));
			struct known_phrase *at = NULL;
			vec_each (&t->phrases, p)
				if (p->hash == h)
					at = p;
			if (!at) {
				vec_push(&t->phrases, (struct known_phrase){ .hash = h });
				at = &t->phrases.v[t->phrases.n - 1];
			}
			at->lists |= UINT64_C(1) << i;
		}
	}
}

static void read_grams(struct table *t, const char *folder)
{
	struct lines l;
	struct sv key;
	char *rest;

	lines_open(&l, folder, "model/manner.txt");
	while (lines_next(&l, &key, &rest)) {
		struct known_gram g = { .hash = table_hash(key) };
		for (size_t i = 0; i < LEAN_KINDS; i++)
			g.weight[i] = (int16_t)strtol(rest, &rest, 10);
		vec_each (&t->grams, other)
			if (other->hash == g.hash)
				fail(l.name, l.number, "has the hash of another; leave one out");
		vec_push(&t->grams, g);
	}
}

/* Puts the n entries v, each of which begins with its hash, into an open table that is three
 * quarters full, and says how long it is. Whoever looks for one goes on until nothing is there, so
 * that nothing is behind the last. */
static void *place(const void *v, size_t n, size_t size, uint32_t slots, uint32_t *ret_n)
{
	unsigned char *out = xcalloc(slots + n + 1, size);

	*ret_n = slots;
	for (size_t i = 0; i < n; i++) {
		const unsigned char *entry = (const unsigned char *)v + i * size;
		uint32_t hash, there, at;
		memcpy(&hash, entry, sizeof(hash));
		for (at = table_place(hash, slots);; at++) {
			memcpy(&there, out + at * size, sizeof(there));
			if (there == 0)
				break;
		}
		memcpy(out + at * size, entry, size);
		*ret_n = at >= *ret_n ? at + 1 : *ret_n;
	}
	++*ret_n;
	return out;
}

static void write_words(const struct table *t)
{
	uint32_t slots = (uint32_t)(t->words.n * 4 / 3 + 1), n;
	AUTO_FREE struct known_word *v = place(t->words.v, t->words.n, sizeof(*v), slots, &n);

	printf("const uint32_t known_words_slots = %u;\nconst struct known_word known_words[] = "
	       "{\n",
		slots);
	for (uint32_t i = 0; i < n; i++)
		printf("{%uU,%u,%u,%u},%s", v[i].hash, v[i].flags, v[i].rarity, v[i].meaning,
			i % 8 == 7 ? "\n" : "");
	puts("};");
}

static void write_phrases(const struct table *t)
{
	uint32_t slots = (uint32_t)(t->phrases.n * 4 / 3 + 1), n;
	AUTO_FREE struct known_phrase *v = place(t->phrases.v, t->phrases.n, sizeof(*v), slots, &n);

	printf("const uint32_t known_phrases_slots = %u;\n"
	       "const struct known_phrase known_phrases[] = {\n",
		slots);
	for (uint32_t i = 0; i < n; i++)
		printf("{%uU,%" PRIu64 "U},%s", v[i].hash, v[i].lists, i % 8 == 7 ? "\n" : "");
	puts("};");
}

static void write_grams(const struct table *t)
{
	uint32_t slots = (uint32_t)(t->grams.n * 4 / 3 + 1), n;
	AUTO_FREE struct known_gram *v = place(t->grams.v, t->grams.n, sizeof(*v), slots, &n);

	printf("const uint32_t known_grams_slots = %u;\nconst struct known_gram known_grams[] = "
	       "{\n",
		slots);
	for (uint32_t i = 0; i < n; i++)
		printf("{%uU,{%d,%d,%d}},%s", v[i].hash, v[i].weight[0], v[i].weight[1],
			v[i].weight[2], i % 8 == 7 ? "\n" : "");
	puts("};");
}

/* Numbers, any number of them a line. */
static void write_net(const char *folder, const char *file, const char *name)
{
	AUTO_FREE char *path = xasprintf("%s/model/%s", folder, file);
	FILE *f = fopen(path, "re");
	float v;

	if (!f)
		fail(path, 0, "cannot be read");
	printf("const float %s[] = {\n", name);
	while (fscanf(f, "%f", &v) == 1) /* NOLINT(cert-err34-c): made by the training */
		printf("%#.9gF,\n", (double)v);
	puts("0};");
	(void)fclose(f);
}

int main(int argc, char **argv)
{
	struct table t = { .words = VEC_INIT };

	if (argc != 2)
		return 2;
	read_words(&t, argv[1]);
	read_meanings(&t, argv[1]);
	read_phrases(&t, argv[1]);
	read_grams(&t, argv[1]);
	puts("#include \"route/tables.h\"");
	write_words(&t);
	write_phrases(&t);
	write_grams(&t);
	write_net(argv[1], "net.txt", "net_weights");
	write_net(argv[1], "net-meaning.txt", "net_weights_meaning");
	vec_release(&t.words);
	vec_release(&t.phrases);
	vec_release(&t.grams);
	return 0;
}
