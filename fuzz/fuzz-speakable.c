/*
 * What is said: the first byte says where to cut. Whatever the text: the cuts do not show, and a
 * sentence is one line of valid UTF-8 that is not too long for an engine.
 */
#include "base/utf8.h"
#include "fuzz.h"
#include "voice/speakable.h"

static void note(void *data, struct sv sentence, enum speakable_language language)
{
	struct str *out = data;

	REQUIRE(utf8_valid(sentence));
	REQUIRE(sentence.n > 1 && sentence.n < (size_t)8 * SPEAKABLE_SENTENCE_MAX);
	for (size_t i = 0; i < sentence.n; i++)
		REQUIRE((unsigned char)sentence.p[i] >= ' ');
	str_addf(out, "%s:%.*s\n", speakable_code(language), SV_ARG(sentence));
}

static void run(struct str *out, struct sv text, size_t step)
{
	struct speakable *s = speakable_new(SPEAKABLE_DE, note, out);

	while (text.n) {
		speakable_feed(s, sv_head(text, step));
		text = sv_from(text, step);
	}
	speakable_flush(s);
	speakable_free(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_STR whole = STR_INIT;
	AUTO_STR pieces = STR_INIT;

	if (size < 1 || size > (size_t)32 * 1024)
		return 0;
	struct sv text = sv_make((const char *)data + 1, size - 1);
	run(&whole, text, SIZE_MAX);
	run(&pieces, text, 1 + data[0] % 40U);
	REQUIRE(sv_eq(str_sv(&whole), str_sv(&pieces)));
	return 0;
}
