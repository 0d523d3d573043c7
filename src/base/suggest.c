#include "base/suggest.h"

#include <ctype.h>
#include <stdint.h>

static size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

static int lower_at(struct sv s, size_t i)
{
	return tolower((unsigned char)s.p[i]);
}

size_t suggest_distance(struct sv a, struct sv b)
{
	if (a.n > SUGGEST_MAX_WORD || b.n > SUGGEST_MAX_WORD)
		return SIZE_MAX;
	/* Three rows of the matrix: a swap of neighbours looks two rows back. */
	size_t rows[3][SUGGEST_MAX_WORD + 1];
	for (size_t j = 0; j <= b.n; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= a.n; i++) {
		const size_t *above = rows[(i - 1) % 3];
		const size_t *above2 = rows[(i + 1) % 3];
		size_t *row = rows[i % 3];
		row[0] = i;
		for (size_t j = 1; j <= b.n; j++) {
			int x = lower_at(a, i - 1), y = lower_at(b, j - 1);
			row[j] = min_size(
				min_size(above[j], row[j - 1]) + 1, above[j - 1] + (x != y));
			if (i > 1 && j > 1 && x == lower_at(b, j - 2) && lower_at(a, i - 2) == y)
				row[j] = min_size(row[j], above2[j - 2] + 1);
		}
	}
	return rows[a.n % 3][b.n];
}

void suggest_offer(struct suggest *s, const char *candidate)
{
	struct sv c = sv_of(candidate);
	size_t longer = s->word.n > c.n ? s->word.n : c.n;
	size_t allowed = longer <= 3 ? 1 : longer / 3;
	size_t d = suggest_distance(s->word, c);

	/* A word of which nothing is left is no typing error of it. */
	if (d > allowed || d >= longer || (s->best && d >= s->distance))
		return;
	s->best = candidate;
	s->distance = d;
}
