#include "base/idmap.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"

static uint64_t hash_of(uint64_t seed, struct sv id)
{
	uint64_t h = hash_bytes(seed, id);

	return h ? h : 1;
}

static uint64_t slot_hash(const struct idmap_slot *s)
{
	return (uint64_t)s->hash[1] << 32 | s->hash[0];
}

/* Where the hash is, or would be. */
static struct idmap_slot *find_slot(const struct idmap *m, uint64_t hash)
{
	size_t i = (size_t)hash & (m->cap - 1);

	while (slot_hash(&m->slots[i]) && slot_hash(&m->slots[i]) != hash)
		i = (i + 1) & (m->cap - 1);
	return &m->slots[i];
}

static void grow(struct idmap *m)
{
	struct idmap old = *m;

	if (!old.cap)
		m->seed = hash_seed();
	m->cap = old.cap ? old.cap * 2 : 16;
	m->slots = xcalloc(m->cap, sizeof(*m->slots));
	for (size_t i = 0; i < old.cap; i++)
		if (slot_hash(&old.slots[i]))
			*find_slot(m, slot_hash(&old.slots[i])) = old.slots[i];
	free(old.slots);
}

void idmap_release(struct idmap *m)
{
	free(m->slots);
	*m = (struct idmap)IDMAP_INIT;
}

bool idmap_get(const struct idmap *m, struct sv id, uint32_t *ret_value)
{
	if (m->n == 0)
		return false;
	const struct idmap_slot *s = find_slot(m, hash_of(m->seed, id));
	if (!slot_hash(s))
		return false;
	*ret_value = s->value;
	return true;
}

void idmap_put(struct idmap *m, struct sv id, uint32_t value)
{
	if (m->n >= m->cap / 4 * 3)
		grow(m);
	uint64_t hash = hash_of(m->seed, id);
	struct idmap_slot *s = find_slot(m, hash);
	m->n += slot_hash(s) == 0;
	*s = (struct idmap_slot){ { (uint32_t)hash, (uint32_t)(hash >> 32) }, value };
}
