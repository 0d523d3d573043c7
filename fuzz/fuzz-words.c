/*
 * The words of recognisers, in both forms: whatever the bytes are, they are refused or give pieces,
 * and a text that is split and put together again is the same but for what no piece begins with.
 */
#include "fuzz.h"
#include "voice/words.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct sv text = { (const char *)data, size };
	struct words w = WORDS_INIT;
	int64_t numbers[64];
	AUTO_STR out = STR_INIT;

	int r = size > 0 && data[0] == '{' ? words_from_json(&w, text, NULL)
					   : words_from_script(&w, text, NULL);
	if (r >= 0) {
		size_t n = words_split(&w, sv_head(text, 64), numbers, 64);
		for (size_t i = 0; i < n; i++)
			words_add(&w, numbers[i], &out);
		REQUIRE(n <= 64 && out.len <= 64);
	}
	words_release(&w);
	return 0;
}
