#include "search/zeros.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/mem.h"

enum { ALIGN = 64, LARGE = 2 * 1024 * 1024, WORTH = LARGE / 4 };

/* At a border of large pages, in a mapping of one more that goes again where it is not needed. */
static char *map_large(size_t size)
{
	char *p = mmap(
		NULL, size + LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	size_t before = (LARGE - (uintptr_t)p % LARGE) % LARGE;
	if (before > 0)
		(void)munmap(p, before);
	(void)munmap(p + before + size, LARGE - before);
	(void)madvise(p + before, size, MADV_HUGEPAGE);
	return p + before;
}

void *zeros_take(struct zeros *z, size_t n, size_t size)
{
	size_t bytes = (n * size + ALIGN - 1) / ALIGN * ALIGN;
	struct zeros_piece *last = z->pieces.n ? &z->pieces.v[z->pieces.n - 1] : NULL;

	if (!last || last->size - last->used < bytes) {
		struct zeros_piece piece = { .size = (bytes + LARGE - 1) / LARGE * LARGE };
		/* The first that is asked for tells how much will be. */
		piece.p = bytes >= WORTH || (last && last->mapped) ? map_large(piece.size) : NULL;
		piece.mapped = piece.p != NULL;
		if (!piece.mapped) {
			piece.size = bytes;
			piece.p = xcalloc(bytes + 1, 1);
		}
		vec_push(&z->pieces, piece);
		last = &z->pieces.v[z->pieces.n - 1];
	}
	last->used += bytes;
	return last->p + last->used - bytes;
}

void zeros_release(struct zeros *z)
{
	vec_each (&z->pieces, piece)
		if (piece->mapped)
			(void)munmap(piece->p, piece->size);
		else
			free(piece->p);
	vec_release(&z->pieces);
}
