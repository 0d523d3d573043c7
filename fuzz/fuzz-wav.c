/*
 * WAV: the first byte says where to cut. Whatever the bytes: the cuts do not show, and no more
 * samples come out than bytes went in.
 */
#include "audio/wav.h"
#include "fuzz.h"

static int run(struct sv bytes, size_t step, struct samples *out)
{
	struct wav_decoder *d = wav_decoder_new();
	int r = 0;

	while (bytes.n && r == 0) {
		r = wav_decode(d, sv_head(bytes, step), out, NULL);
		bytes = sv_from(bytes, step);
	}
	if (r == 0)
		r = wav_decode_end(d, NULL);
	if (r == 0)
		REQUIRE(wav_decoder_rate(d) >= WAV_RATE_MIN);
	wav_decoder_free(d);
	return r;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_SAMPLES whole = { 0 };
	AUTO_SAMPLES pieces = { 0 };

	if (size < 1)
		return 0;
	struct sv bytes = sv_make((const char *)data + 1, size - 1);
	int r = run(bytes, SIZE_MAX, &whole);
	REQUIRE(run(bytes, 1 + data[0] % 64U, &pieces) == r);
	REQUIRE(whole.n == pieces.n && whole.n <= size);
	if (whole.n)
		REQUIRE(memcmp(whole.v, pieces.v, whole.n * sizeof(*whole.v)) == 0);
	return 0;
}
