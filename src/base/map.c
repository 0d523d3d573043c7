#include "base/map.h"

#include <stdlib.h>

#include "base/hash.h"
#include "base/mem.h"

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
