#include "route/memory.h"

#include <math.h>
#include <stdio.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/utf8.h"

struct route_topic *route_topic_new(void)
{
	struct route_topic *m = xcalloc(1, sizeof(*m));

	m->pool = (struct str)STR_INIT;
	m->said = (struct str)STR_INIT;
	return m;
}

void route_topic_free(struct route_topic *m)
{
	if (!m)
		return;
	str_release(&m->pool);
	vec_release(&m->words);
	vec_release(&m->uses);
	vec_release(&m->texts);
	vec_release(&m->vectors);
	str_release(&m->said);
	free(m);
}

/* Index of the word; SIZE_MAX when there is no room for it. */
static size_t take_word(
	struct route_topic *m, const struct text_word *w, struct sv bytes, unsigned places)
{
	size_t most = places & IN_ANSWER ? ROUTE_TOPIC_ANSWER_TERMS_MAX : ROUTE_TOPIC_TERMS_MAX;

	for (size_t i = 0; i < m->words.n; i++) {
		struct memory_word *old = &m->words.v[i];
		if (old->w.hash == w->hash && old->w.n == w->n) {
			old->places |= (uint8_t)places;
			if (!(w->flags & WORD_JOINED))
				old->w.flags &= (uint8_t) ~(unsigned)WORD_JOINED;
			return i;
		}
	}
	if (m->words.n >= most)
		return SIZE_MAX;
	struct memory_word new = { .w = *w, .places = (uint8_t)places };
	new.w.at = (uint32_t)m->pool.len;
	str_add(&m->pool, bytes);
	vec_push(&m->words, new);
	return m->words.n - 1;
}

/* Of one kind only the latest stay, and the first command. What was said stays known. */
static void drop_text(struct route_topic *m, bool answers)
{
	size_t n = 0, at = SIZE_MAX;

	for (size_t i = 0; i < m->texts.n; i++) {
		if (m->texts.v[i].answer != answers)
			continue;
		n++;
		if (at == SIZE_MAX && (answers || n > 1))
			at = i;
	}
	if (n <= (answers ? MEMORY_ANSWERS_MAX : MEMORY_COMMANDS_MAX))
		return;
	struct memory_text gone = m->texts.v[at];
	vec_cut(&m->uses, gone.first, gone.n);
	vec_cut(&m->texts, at, 1);
	memmove(m->said.buf + gone.said, m->said.buf + gone.said + gone.said_n,
		m->said.len - gone.said - gone.said_n);
	str_cut(&m->said, m->said.len - gone.said_n);
	if (gone.vector)
		vec_cut(&m->vectors, gone.vector - 1, 1);
	for (size_t i = 0; i < m->texts.n; i++) {
		struct memory_text *t = &m->texts.v[i];
		t->first -= i >= at ? gone.n : 0;
		t->said -= i >= at ? gone.said_n : 0;
		t->vector -= gone.vector && t->vector > gone.vector;
	}
}

static void add_said(struct route_topic *m, struct memory_text *text, struct sv said)
{
	text->said = (uint32_t)m->said.len;
	text->said_n = (uint32_t)said.n;
	str_add(&m->said, said);
}

void memory_add(
	struct route_topic *m, const struct text *t, struct sv bytes, enum topic_source source)
{
	unsigned places = source == TOPIC_ANSWER ? IN_ANSWER
		: source == TOPIC_FIRST		 ? IN_COMMAND | IN_FIRST
						 : IN_COMMAND;
	struct memory_text text = { .first = (uint32_t)m->uses.n,
		.answer = source == TOPIC_ANSWER };

	memcpy(text.langs, t->langs, sizeof(text.langs));
	add_said(m, &text, utf8_cut(bytes, ROUTE_SAID_MAX));

	for (size_t i = 0; i < t->words.n; i++) {
		const struct text_word *w = &t->words.v[i];
		size_t at = take_word(m, w, text_word_sv(t, w), places);
		if (at != SIZE_MAX)
			vec_push(&m->uses, (uint16_t)at);
	}
	text.n = (uint32_t)m->uses.n - text.first;
	vec_push(&m->texts, text);
	drop_text(m, text.answer);
}

void route_topic_inherit(struct route_topic *heir, const struct route_topic *from)
{
	for (size_t i = 0; i < from->texts.n; i++) {
		const struct memory_text *old = &from->texts.v[i];
		struct memory_text text = *old;
		text.first = (uint32_t)heir->uses.n;
		add_said(heir, &text, sv_make(from->said.buf + old->said, old->said_n));
		if (old->vector) {
			vec_push(&heir->vectors, from->vectors.v[old->vector - 1]);
			text.vector = (uint32_t)heir->vectors.n;
		}
		for (size_t k = 0; k < old->n; k++) {
			const struct memory_word *w = &from->words.v[from->uses.v[old->first + k]];
			size_t at = take_word(heir, &w->w, memory_word_sv(from, w), w->places);
			if (at != SIZE_MAX)
				vec_push(&heir->uses, (uint16_t)at);
		}
		text.n = (uint32_t)heir->uses.n - text.first;
		vec_push(&heir->texts, text);
		drop_text(heir, text.answer);
	}
}

/* ---- what is meant ---- */

/* By its fillers; without any, what is plain is English, and what has umlauts German. */
static const char *language_of(struct sv text, const uint8_t langs[static LANG_COUNT])
{
	size_t best = 0, at;
	bool plain = true;

	for (size_t l = 1; l < LANG_COUNT; l++)
		best = langs[l] > langs[best] ? l : best;
	if (langs[best] > 0)
		return best == LANG_EN || best == LANG_DE ? lang_name((enum lang_id)best) : NULL;
	for (size_t i = 0; i < text.n; i++)
		plain &= (unsigned char)text.p[i] < 0x80;
	static const char *const umlauts[] = { "ä", "ö", "ü", "ß", "Ä", "Ö", "Ü" };
	for (size_t i = 0; i < ARRAY_LEN(umlauts) && !plain; i++)
		if (sv_find(text, sv_of(umlauts[i]), &at))
			return lang_name(LANG_DE);
	return plain ? lang_name(LANG_EN) : NULL;
}

bool memory_meaning(const struct route_meaning *meaning, struct sv text,
	const uint8_t langs[static LANG_COUNT], int8_t ret[static ROUTE_MEANING_SIZE])
{
	struct sv said = utf8_cut(text, ROUTE_SAID_MAX);
	const char *language = language_of(said, langs);

	return language && meaning->of(meaning->data, said, language, ret);
}

void memory_understand(struct route_topic *m, const struct route_meaning *meaning)
{
	vec_each (&m->texts, t) {
		struct memory_vector v = { { 0 } };
		if (t->vector ||
			!memory_meaning(
				meaning, sv_make(m->said.buf + t->said, t->said_n), t->langs, v.v))
			continue;
		vec_push(&m->vectors, v);
		t->vector = (uint32_t)m->vectors.n;
		m->grew = true;
	}
}

double memory_alike(
	const int8_t a[static ROUTE_MEANING_SIZE], const int8_t b[static ROUTE_MEANING_SIZE])
{
	int32_t both = 0, of_a = 0, of_b = 0;

	for (size_t i = 0; i < ROUTE_MEANING_SIZE; i++) {
		both += a[i] * b[i];
		of_a += a[i] * a[i];
		of_b += b[i] * b[i];
	}
	return of_a > 0 && of_b > 0 ? both / sqrt((double)of_a * of_b) : 0;
}

bool route_topic_grew(const struct route_topic *m)
{
	return m->grew;
}

/* ---- as bytes ---- */

/* Changes when what is kept, or what the numbers in it mean, does. */
static const char magic[] = "faden topic 8 " FADEN_VERSION;

struct head {
	char magic[32];
	uint32_t word_size, words, uses, texts, vectors;
	uint64_t pool, said;
};

static struct head head_of(const struct route_topic *m)
{
	struct head h = { .word_size = sizeof(struct memory_word),
		.words = (uint32_t)m->words.n,
		.uses = (uint32_t)m->uses.n,
		.texts = (uint32_t)m->texts.n,
		.vectors = (uint32_t)m->vectors.n,
		.pool = m->pool.len,
		.said = m->said.len };

	memcpy(h.magic, magic, sizeof(magic) < sizeof(h.magic) ? sizeof(magic) : sizeof(h.magic));
	return h;
}

#define add_array(out, vec) \
	str_add(out, sv_make((const char *)(vec)->v, (vec)->n * sizeof((vec)->v[0])))

void route_topic_save(const struct route_topic *m, struct str *out)
{
	struct head h = head_of(m);

	str_add(out, sv_make((const char *)&h, sizeof(h)));
	add_array(out, &m->words);
	add_array(out, &m->uses);
	add_array(out, &m->texts);
	add_array(out, &m->vectors);
	str_add(out, str_sv(&m->pool));
	str_add(out, str_sv(&m->said));
}

/* Takes n elements off the front; false when there are not as many bytes. */
#define take_array(from, vec, count)                                   \
	__extension__({                                                \
		size_t bytes_ = (size_t)(count) * sizeof((vec)->v[0]); \
		bool there_ = bytes_ <= (from)->n;                     \
		if (there_ && bytes_ > 0) {                            \
			(vec)->v = xmalloc(bytes_);                    \
			memcpy((vec)->v, (from)->p, bytes_);           \
			(vec)->n = (vec)->cap = (count);               \
			*(from) = sv_from(*(from), bytes_);            \
		}                                                      \
		there_;                                                \
	})

static bool sound(const struct route_topic *m)
{
	for (size_t i = 0; i < m->words.n; i++)
		if (m->words.v[i].w.at > m->pool.len ||
			m->words.v[i].w.n > m->pool.len - m->words.v[i].w.at)
			return false;
	for (size_t i = 0; i < m->uses.n; i++)
		if (m->uses.v[i] >= m->words.n)
			return false;
	for (size_t i = 0; i < m->texts.n; i++)
		if (m->texts.v[i].first > m->uses.n ||
			m->texts.v[i].n > m->uses.n - m->texts.v[i].first ||
			m->texts.v[i].said > m->said.len ||
			m->texts.v[i].said_n > m->said.len - m->texts.v[i].said ||
			m->texts.v[i].vector > m->vectors.n)
			return false;
	return true;
}

struct route_topic *route_topic_load(struct sv bytes)
{
	struct route_topic *m = route_topic_new();
	struct head h, expected = head_of(m);

	if (bytes.n < sizeof(h))
		goto bad;
	memcpy(&h, bytes.p, sizeof(h));
	bytes = sv_from(bytes, sizeof(h));
	if (memcmp(h.magic, expected.magic, sizeof(h.magic)) != 0 ||
		h.word_size != expected.word_size || !take_array(&bytes, &m->words, h.words) ||
		!take_array(&bytes, &m->uses, h.uses) || !take_array(&bytes, &m->texts, h.texts) ||
		!take_array(&bytes, &m->vectors, h.vectors) || h.pool > bytes.n ||
		bytes.n - h.pool != h.said)
		goto bad;
	str_add(&m->pool, sv_head(bytes, h.pool));
	str_add(&m->said, sv_from(bytes, h.pool));
	if (sound(m))
		return m;
bad:
	route_topic_free(m);
	return NULL;
}

void route_topic_stems(
	const struct route_topic *m, void (*fn)(void *data, struct sv stem), void *data)
{
	AUTO_MAP seen = MAP_INIT;

	for (size_t i = 0; i < m->words.n; i++) {
		const struct text_word *w = &m->words.v[i].w;
		for (size_t k = 0; k < TEXT_STEMS && !(w->flags & WORD_JOINED); k++) {
			char key[16];
			uint32_t h = w->stems[k] ? w->stems[k] : w->hash;
			(void)snprintf(key, sizeof(key), "%08x", h);
			if (map_put(&seen, sv_of(key), 1))
				fn(data, sv_of(key));
		}
	}
}
