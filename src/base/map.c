#include "base/map.h"

#include <stdlib.h>
#include <sys/random.h>
#include <xxhash.h>

#include "base/mem.h"

uint64_t hash_seed(void)
{
	static const char here = 0;
	uint64_t seed;

	/* Where the system gives none, an address is better than nothing. */
	if (getrandom(&seed, sizeof(seed), 0) != (ssize_t)sizeof(seed))
		seed = (uintptr_t)&here;
	return seed;
}

uint64_t hash_bytes(uint64_t seed, struct sv bytes)
{
	return XXH3_64bits_withSeed(bytes.p, bytes.n, seed);
}

static struct map_slot *find_slot(const struct map *m, struct sv key, uint32_t hash)
{
	size_t mask = m->cap - 1;
	size_t i = hash & mask;

	for (;;) {
		struct map_slot *s = &m->slots[i];
		if (!s->key)
			return s;
		if (s->hash == hash && s->key_n == key.n && memcmp(s->key, key.p, key.n) == 0)
			return s;
		i = (i + 1) & mask;
	}
}

static void grow(struct map *m)
{
	struct map old = *m;

	if (!old.cap)
		m->seed = hash_seed();
	m->cap = old.cap ? old.cap * 2 : 16;
	m->slots = xcalloc(m->cap, sizeof(*m->slots));
	for (size_t i = 0; i < old.cap; i++) {
		const struct map_slot *s = &old.slots[i];
		if (s->key)
			*find_slot(m, sv_make(s->key, s->key_n), s->hash) = *s;
	}
	free(old.slots);
}

void map_release(struct map *m)
{
	for (size_t i = 0; i < m->cap; i++)
		free(m->slots[i].key);
	free(m->slots);
	*m = (struct map)MAP_INIT;
}

bool map_get(const struct map *m, struct sv key, uint64_t *ret_value)
{
	if (!m->cap)
		return false;
	const struct map_slot *s = find_slot(m, key, (uint32_t)hash_bytes(m->seed, key));
	if (!s->key)
		return false;
	if (ret_value)
		*ret_value = s->value;
	return true;
}

static struct map_slot *slot_for(struct map *m, struct sv key, bool *ret_new)
{
	if (key.n > UINT32_MAX)
		abort();
	if (m->n * 4 >= m->cap * 3)
		grow(m);
	uint32_t hash = (uint32_t)hash_bytes(m->seed, key);
	struct map_slot *s = find_slot(m, key, hash);
	*ret_new = !s->key;
	if (!s->key) {
		*s = (struct map_slot){
			.key = xmemdup0(key.p, key.n), .key_n = (uint32_t)key.n, .hash = hash
		};
		m->n++;
	}
	return s;
}

bool map_put(struct map *m, struct sv key, uint64_t value)
{
	bool is_new;

	slot_for(m, key, &is_new)->value = value;
	return is_new;
}

uint64_t *map_ref(struct map *m, struct sv key)
{
	bool is_new;

	return &slot_for(m, key, &is_new)->value;
}

bool map_next(const struct map *m, size_t *at, struct sv *ret_key, uint64_t *ret_value)
{
	while (*at < m->cap) {
		const struct map_slot *s = &m->slots[(*at)++];
		if (!s->key)
			continue;
		*ret_key = sv_make(s->key, s->key_n);
		if (ret_value)
			*ret_value = s->value;
		return true;
	}
	return false;
}

/* ---- ids by their hash alone ---- */

static uint64_t id_hash(uint64_t seed, struct sv id)
{
	uint64_t h = hash_bytes(seed, id);

	return h ? h : 1;
}

static uint64_t slot_hash(const struct idmap_slot *s)
{
	return (uint64_t)s->hash[1] << 32 | s->hash[0];
}

/* Where the hash is, or would be. */
static struct idmap_slot *find_id(const struct idmap *m, uint64_t hash)
{
	size_t i = (size_t)hash & (m->cap - 1);

	while (slot_hash(&m->slots[i]) && slot_hash(&m->slots[i]) != hash)
		i = (i + 1) & (m->cap - 1);
	return &m->slots[i];
}

static void grow_ids(struct idmap *m)
{
	struct idmap old = *m;

	if (!old.cap)
		m->seed = hash_seed();
	m->cap = old.cap ? old.cap * 2 : 16;
	m->slots = xcalloc(m->cap, sizeof(*m->slots));
	for (size_t i = 0; i < old.cap; i++)
		if (slot_hash(&old.slots[i]))
			*find_id(m, slot_hash(&old.slots[i])) = old.slots[i];
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
	const struct idmap_slot *s = find_id(m, id_hash(m->seed, id));
	if (!slot_hash(s))
		return false;
	*ret_value = s->value;
	return true;
}

void idmap_put(struct idmap *m, struct sv id, uint32_t value)
{
	if (m->n >= m->cap / 4 * 3)
		grow_ids(m);
	uint64_t hash = id_hash(m->seed, id);
	struct idmap_slot *s = find_id(m, hash);
	m->n += slot_hash(s) == 0;
	*s = (struct idmap_slot){ { (uint32_t)hash, (uint32_t)(hash >> 32) }, value };
}
