/*
 * What a terminal sends: every byte belongs to a key, a key is the same whether its bytes come at
 * once or one after the other, and the line that keys change is whole characters with the cursor
 * between two of them.
 */
#include "fuzz.h"

#include "base/utf8.h"
#include "ui/field.h"
#include "ui/input.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sv rest = sv_make((const char *)data, size);
	struct field line;
	uint32_t key, early;

	field_init(&line, SV("some wörds"), 64);
	while (rest.n) {
		size_t n = input_key(rest, true, &key);
		REQUIRE(n > 0 && n <= rest.n && (key & KEY_BARE) <= KEY_PASTED);
		/* Nothing is taken for a key that more bytes make another one of. */
		for (size_t i = 1; i < n; i++)
			REQUIRE(input_key(sv_head(rest, i), false, &early) == 0);
		REQUIRE(n <= INPUT_SEQUENCE_MAX);
		(void)field_key(&line, key);
		REQUIRE(line.text.len <= 64 && line.at <= line.text.len);
		REQUIRE(utf8_valid(str_sv(&line.text)) && !str_full(&line.text));
		REQUIRE(utf8_valid(sv_head(str_sv(&line.text), line.at)));
		rest = sv_from(rest, n);
	}
	field_release(&line);
	return 0;
}
