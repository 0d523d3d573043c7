#include "route/wordtable.h"

const struct word_row *wordtable_find(struct sv key)
{
	for (size_t at = word_slot(key); word_index[at]; at = (at + 1) % WORD_INDEX_SIZE) {
		const struct word_row *row = &word_rows[word_index[at] - 1];
		if (row->n == key.n && memcmp(&word_pool[row->at], key.p, key.n) == 0)
			return row;
	}
	return NULL;
}
