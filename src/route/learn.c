#include "route/learn.h"

#include "base/map.h"

/* Changes when struct term or what the numbers in it mean does. */
static const char magic[] = "faden topic 4 " FADEN_VERSION;

struct head {
	char magic[32];
	uint32_t term_size;
	uint32_t terms;
	uint64_t text;
};

static struct head head_of(const struct route_topic *t)
{
	struct head h = {
		.term_size = sizeof(struct term), .terms = (uint32_t)t->terms.n, .text = t->text.len
	};

	memcpy(h.magic, magic, sizeof(magic) < sizeof(h.magic) ? sizeof(magic) : sizeof(h.magic));
	return h;
}

void route_topic_save(const struct route_topic *t, struct str *out)
{
	struct head h = head_of(t);

	str_add(out, sv_make((const char *)&h, sizeof(h)));
	str_add(out, sv_make((const char *)t->terms.v, t->terms.n * sizeof(struct term)));
	str_add(out, str_sv(&t->text));
}

static bool within(uint32_t at, uint32_t n, size_t len)
{
	return at <= len && n <= len - at;
}

struct route_topic *route_topic_load(struct sv bytes)
{
	struct route_topic *t = route_topic_new();
	struct head expected = head_of(t);
	struct head h;

	if (bytes.n < sizeof(h))
		goto bad;
	memcpy(&h, bytes.p, sizeof(h));
	if (memcmp(h.magic, expected.magic, sizeof(h.magic)) != 0 ||
		h.term_size != sizeof(struct term) || h.terms > bytes.n / sizeof(struct term) ||
		h.text != bytes.n - sizeof(h) - h.terms * sizeof(struct term))
		goto bad;
	for (uint32_t i = 0; i < h.terms; i++) {
		struct term term;
		memcpy(&term, bytes.p + sizeof(h) + i * sizeof(term), sizeof(term));
		if (!within(term.key_at, term.key_n, h.text) ||
			!within(term.stem_at, term.stem_n, h.text))
			goto bad;
		vec_push(&t->terms, term);
	}
	str_add(&t->text, sv_from(bytes, bytes.n - h.text));
	return t;
bad:
	route_topic_free(t);
	return NULL;
}

void route_topic_stems(
	const struct route_topic *t, void (*fn)(void *data, struct sv stem), void *data)
{
	AUTO_MAP seen = MAP_INIT;

	vec_each (&t->terms, term) {
		struct sv stem = term_stem(t, term);
		bool whole = (term->flags & TERM_WHOLE) && !(term->flags & TERM_PAIR);
		if (whole && stem.n > 1 && map_put(&seen, stem, 1))
			fn(data, stem);
	}
}
