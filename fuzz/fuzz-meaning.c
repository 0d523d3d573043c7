/*
 * A vocabulary of word pieces, texts taken apart by one, lines of a dictionary, and texts said in
 * its words. The input is up to the first NUL a vocabulary or dictionary, then a text.
 */
#include "fuzz.h"

#include "meaning/gloss.h"
#include "meaning/wordpiece.h"

static void take(void *data, struct sv german, struct sv english, unsigned worse)
{
	REQUIRE(german.n > 0 && english.n > 0);
	REQUIRE(!memchr(german.p, '\t', german.n) && !memchr(german.p, '\n', german.n));
	*(size_t *)data += worse;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	enum { MOST = 32 };
	static const char vocabulary[] =
		"{\"model\":{\"vocab\":{\"[UNK]\":1,\"[CLS]\":2,\"[SEP]\":3,\"a\":4,\"##b\":5}}}";
	const uint8_t *nul = memchr(data, 0, size);
	size_t n = nul ? (size_t)(nul - data) : size;
	struct sv table = sv_make((const char *)data, n);
	struct sv text = nul ? sv_make((const char *)nul + 1, size - n - 1) : table;
	const struct sv vocabularies[] = { table, sv_of(vocabulary) };
	AUTO_STR out = STR_INIT;
	struct sv rest = table, line;
	size_t worse = 0;

	for (size_t i = 0; i < ARRAY_LEN(vocabularies); i++) {
		struct wordpiece *w = NULL;
		struct err err = ERR_INIT;
		int64_t ids[MOST];
		if (wordpiece_new(vocabularies[i], &w, &err) < 0)
			continue;
		size_t pieces = wordpiece_split(w, text, ids, MOST);
		REQUIRE(pieces >= 2 && pieces <= MOST);
		wordpiece_free(w);
	}
	while (sv_split(&rest, '\n', &line))
		gloss_line(line, take, &worse);
	gloss_text(table, text, &out);
	return 0;
}
