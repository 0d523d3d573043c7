#include "route/wordmap.h"

#include "base/mem.h"

/* FNV-1a: the keys are ours, nobody prepares collisions. */
static uint64_t hash(struct sv key)
{
	uint64_t h = 14695981039346656037U;
	for (size_t i = 0; i < key.n; i++)
		h = (h ^ (unsigned char)key.p[i]) * 1099511628211U;
	return h ^ h >> 32;
}

void wordmap_init(struct wordmap *m, size_t expected)
{
	size_t cap = 16;
	while (3 * cap < 4 * expected)
		cap *= 2;
	*m = (struct wordmap){ .slots = xcalloc(cap, sizeof(*m->slots)), .cap = cap };
}

void wordmap_release(struct wordmap *m)
{
	free(m->slots);
	*m = (struct wordmap){ .slots = NULL };
}

static struct wordmap_slot *find(const struct wordmap *m, struct sv key)
{
	size_t at = hash(key) & (m->cap - 1);
	while (m->slots[at].key.p && !sv_eq(m->slots[at].key, key))
		at = (at + 1) & (m->cap - 1);
	return &m->slots[at];
}

uint64_t wordmap_get(const struct wordmap *m, struct sv key)
{
	return m->cap > 0 ? find(m, key)->value : 0;
}

static void grow(struct wordmap *m)
{
	struct wordmap bigger;
	wordmap_init(&bigger, 2 * m->cap);
	for (size_t i = 0; i < m->cap; i++)
		if (m->slots[i].key.p)
			*wordmap_ref(&bigger, m->slots[i].key) = m->slots[i].value;
	wordmap_release(m);
	*m = bigger;
}

uint64_t *wordmap_ref(struct wordmap *m, struct sv key)
{
	if (4 * (m->n + 1) > 3 * m->cap)
		grow(m);
	struct wordmap_slot *slot = find(m, key);
	if (!slot->key.p) {
		slot->key = key;
		m->n++;
	}
	return &slot->value;
}
