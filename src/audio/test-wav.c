#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "audio/resample.h"
#include "audio/sounds.h"
#include "os/file.h"
#include "os/test-temp.h"

/* What a WAV consists of, to be made wrong in single places. */
struct shape {
	unsigned format, channels, rate, bits;
	uint32_t riff_length, data_length;
	const char *data;
	size_t data_n;
	bool extensible;
	struct sv before; /* a chunk that nobody knows */
};

static void add16(struct str *out, unsigned v)
{
	str_addc(out, (char)v);
	str_addc(out, (char)(v >> 8));
}

static void add32(struct str *out, uint32_t v)
{
	add16(out, v & 0xFFFF);
	add16(out, v >> 16);
}

static void build(struct str *out, const struct shape *s)
{
	unsigned block = s->channels * ((s->bits + 7) / 8);

	str_adds(out, "RIFF");
	add32(out, s->riff_length);
	str_adds(out, "WAVE");
	if (s->before.n) {
		str_adds(out, "LIST");
		add32(out, (uint32_t)s->before.n);
		str_add(out, s->before);
		if (s->before.n & 1)
			str_addc(out, '\0');
	}
	str_adds(out, "fmt ");
	add32(out, s->extensible ? 40 : 16);
	add16(out, s->extensible ? 0xFFFE : s->format);
	add16(out, s->channels);
	add32(out, s->rate);
	add32(out, s->rate * block);
	add16(out, block);
	add16(out, s->bits);
	if (s->extensible) {
		add16(out, 22);
		add16(out, s->bits);
		add32(out, 3);
		add16(out, s->format);
		str_add(out, SV("\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71"));
	}
	str_adds(out, "data");
	add32(out, s->data_length);
	str_add(out, sv_make(s->data, s->data_n));
}

/* Decoded in pieces of every size from one byte on, which must not matter. */
static int decode(struct sv bytes, struct samples *out, unsigned *ret_rate)
{
	int first = 0;

	for (size_t step = 1; step <= bytes.n + 1; step = step < 60 ? step + 1 : bytes.n + 1) {
		struct wav_decoder *d = wav_decoder_new();
		AUTO_SAMPLES now = { 0 };
		int r = 0;
		for (size_t at = 0; at < bytes.n && r == 0; at += step)
			r = wav_decode(d, sv_head(sv_from(bytes, at), step), &now, NULL);
		if (r == 0)
			r = wav_decode_end(d, NULL);
		*ret_rate = wav_decoder_rate(d);
		wav_decoder_free(d);
		if (step == 1) {
			first = r;
			samples_add(out, now.v, now.n);
			continue;
		}
		assert_int_equal(r, first);
		assert_int_equal(now.n, out->n);
		if (now.n)
			assert_memory_equal(now.v, out->v, now.n * sizeof(*now.v));
		if (step > bytes.n)
			break;
	}
	return first;
}

static void check(const struct shape *s, const int16_t *want, size_t n)
{
	AUTO_STR bytes = STR_INIT;
	AUTO_SAMPLES got = { 0 };
	unsigned rate = 0;

	build(&bytes, s);
	assert_int_equal(decode(str_sv(&bytes), &got, &rate), 0);
	assert_int_equal(rate, s->rate);
	assert_int_equal(got.n, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(got.v[i], want[i]);
}

static void test_kinds(void **state)
{
	const int16_t two[] = { 256, -512 };
	const float floats[] = { 0.0078125F, -0.015625F };
	const double doubles[] = { 0.0078125, -0.015625 };
	const float odd[] = { NAN, INFINITY, -INFINITY, 2.0F, -2.0F };

	(void)state;
#define DATA(text) .data = (text), .data_n = sizeof(text) - 1, .data_length = sizeof(text) - 1
#define PLAIN .format = 1, .channels = 1, .rate = 16000, .riff_length = 1000
	check(&(struct shape){ PLAIN, .bits = 8, DATA("\x81\x7e") }, two, 2);
	check(&(struct shape){ PLAIN, .bits = 16, DATA("\x00\x01\x00\xfe") }, two, 2);
	check(&(struct shape){ PLAIN, .bits = 24, DATA("\x00\x00\x01\x00\x00\xfe") }, two, 2);
	check(&(struct shape){ PLAIN, .bits = 32, DATA("\x00\x00\x00\x01\x00\x00\x00\xfe") }, two,
		2);
	check(&(struct shape){ PLAIN, .bits = 24, .extensible = true,
		      DATA("\x00\x00\x01\x00\x00\xfe") },
		two, 2);
	struct shape f = { PLAIN, .bits = 32, .data = (const char *)floats, .data_n = 8,
		.data_length = 8 };
	f.format = 3;
	check(&f, two, 2);
	f.extensible = true;
	check(&f, two, 2);
	f.bits = 64;
	f.data = (const char *)doubles;
	f.data_n = f.data_length = 16;
	check(&f, two, 2);
	f.bits = 32;
	f.data = (const char *)odd;
	f.data_n = f.data_length = 20;
	const int16_t tame[] = { 0, 32767, -32768, 32767, -32768 };
	check(&f, tame, 5);
	/* Two channels become one; the last half frame is no sound. */
	struct shape stereo = { PLAIN, .bits = 16, DATA("\x00\x01\x00\x03\x00\xf0\x00\x10\x01") };
	stereo.channels = 2;
	const int16_t folded[] = { 512, 0 };
	check(&stereo, folded, 2);
}

static void test_lengths_that_lie(void **state)
{
	const int16_t two[] = { 256, -512 };
	struct shape s = { PLAIN, .bits = 16, DATA("\x00\x01\x00\xfe") };

	(void)state;
	const uint32_t to_the_end[] = { UINT32_MAX, 0x7ffff000, 4, 5 };
	for (size_t i = 0; i < ARRAY_LEN(to_the_end); i++) {
		s.data_length = to_the_end[i];
		check(&s, two, 2);
	}
	/* Shorter than what follows: that is another chunk. */
	s.data_length = 2;
	check(&s, two, 1);
	s.data_length = 0;
	check(&s, two, 0);
	/* Never finished. */
	s.riff_length = 0;
	check(&s, two, 2);
	s.riff_length = UINT32_MAX;
	check(&s, two, 2);
	s.riff_length = 36;
	check(&s, two, 2);
	s.riff_length = 1000;
	s.data_length = 4;
	s.before = SV("INFOodd");
	check(&s, two, 2);
}

static void test_refused(void **state)
{
	static const struct {
		const char *why;
		unsigned format, channels, rate, bits;
	} rows[] = {
		{ "compressed", 7, 1, 16000, 8 },
		{ "no channel", 1, 0, 16000, 16 },
		{ "too many channels", 1, WAV_CHANNELS_MAX + 1, 16000, 16 },
		{ "no rate", 1, 1, 0, 16 },
		{ "slow", 1, 1, WAV_RATE_MIN - 1, 16 },
		{ "fast", 1, 1, WAV_RATE_MAX + 1, 16 },
		{ "no bits", 1, 1, 16000, 0 },
		{ "40 bits", 1, 1, 16000, 40 },
		{ "half a float", 3, 1, 16000, 16 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_STR bytes = STR_INIT;
		AUTO_SAMPLES got = { 0 };
		unsigned rate = 0;
		build(&bytes,
			&(struct shape){ .format = rows[i].format,
				.channels = rows[i].channels,
				.rate = rows[i].rate,
				.bits = rows[i].bits,
				.riff_length = 100,
				DATA("abcd") });
		if (decode(str_sv(&bytes), &got, &rate) != ERR_INPUT)
			fail_msg("%s", rows[i].why);
	}
	const struct sv texts[] = { SV(""), SV("RIF"), SV("RIFF....WAVX"), SV("RIFF\0\0\0\0WAVE"),
		SV("{\"error\": \"no such voice\"}"), SV("RIFF\0\0\0\0WAVEdata\0\0\0\0"),
		SV("RIFF\0\0\0\0WAVEfmt \x02\0\0\0abdata\0\0\0\0") };
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		AUTO_SAMPLES got = { 0 };
		unsigned rate = 0;
		assert_int_equal(decode(texts[i], &got, &rate), ERR_INPUT);
	}
	/* A chunk before the sound that never ends is not read for ever. */
	struct wav_decoder *d = wav_decoder_new();
	AUTO_SAMPLES got = { 0 };
	AUTO_FREE char *zeros = xcalloc(1, 1024 * 1024);
	assert_int_equal(wav_decode(d, SV("RIFF\0\0\0\0WAVEjunk\xff\xff\xff\xff"), &got, NULL), 0);
	int r = 0;
	for (int i = 0; i < 64; i++)
		assert_int_equal(wav_decode(d, sv_make(zeros, 1024 * 1024), &got, NULL), 0);
	r = wav_decode(d, sv_make(zeros, 1), &got, NULL);
	assert_int_equal(r, ERR_LIMIT);
	wav_decoder_free(d);
}

static void test_written_and_read(void **state)
{
	struct err err = ERR_INIT;
	char *folder = temp_folder();
	AUTO_FREE char *path = xasprintf("%s/a.wav", folder);
	AUTO_SAMPLES tone = { 0 };
	AUTO_SAMPLES got = { 0 };
	AUTO_STR encoded = STR_INIT;
	AUTO_STR file = STR_INIT;
	struct wav_writer *w = NULL;
	unsigned rate = 0;

	(void)state;
	sound_make(SOUND_DING, 24000, &tone);
	assert_int_equal(wav_writer_open(path, 24000, &w, &err), 0);
	for (size_t at = 0; at < tone.n; at += 1000) {
		size_t n = tone.n - at < 1000 ? tone.n - at : 1000;
		assert_int_equal(wav_write(w, tone.v + at, n, &err), 0);
		/* At any time it can be read as far as it goes. */
		got.n = 0;
		AUTO_SAMPLES now = { 0 };
		assert_int_equal(wav_load(path, 0, 10, &now, &rate, &err), 0);
		assert_int_equal(now.n, at + n);
		assert_int_equal(rate, 24000);
	}
	assert_int_equal(wav_writer_close(w, &err), 0);
	wav_encode(&encoded, tone.v, tone.n, 24000);
	assert_int_equal(file_read(path, 1 << 20, &file, &err), 0);
	assert_true(sv_eq(str_sv(&encoded), str_sv(&file)));

	AUTO_SAMPLES half = { 0 };
	assert_int_equal(wav_load(path, 16000, 10, &half, &rate, &err), 0);
	assert_int_equal(rate, 16000);
	assert_in_range(half.n, tone.n * 2 / 3 - 2, tone.n * 2 / 3 + 2);
	AUTO_SAMPLES none = { 0 };
	assert_int_equal(wav_load(path, 16000, 0.1, &none, &rate, &err), ERR_LIMIT);
	AUTO_FREE char *missing = xasprintf("%s/b.wav", folder);
	assert_int_equal(wav_load(missing, 16000, 1, &none, &rate, &err), -ENOENT);
	/* A WAV is begun anew; what is none is somebody's. */
	assert_int_equal(wav_writer_open(path, 24000, &w, &err), 0);
	assert_int_equal(wav_writer_close(w, &err), 0);
	assert_int_equal(wav_load(path, 0, 10, &none, &rate, &err), 0);
	assert_int_equal(none.n, 0);
	assert_int_equal(file_replace(path, SV("RIFF, they said"), 0600, &err), 0);
	assert_int_equal(wav_writer_open(path, 24000, &w, &err), ERR_USAGE);
	assert_int_equal(file_read(path, 1 << 20, &file, &err), 0);
	assert_string_equal(file.buf, "RIFF, they said");
	assert_int_equal(file_replace(path, SV(""), 0600, &err), 0);
	assert_int_equal(wav_writer_open(path, 24000, &w, &err), 0);
	assert_int_equal(wav_writer_close(w, &err), 0);
	temp_remove(folder);
}

static void test_to_a_pipe(void **state)
{
	struct err err = ERR_INIT;
	AUTO_SAMPLES tone = { 0 };
	AUTO_SAMPLES got = { 0 };
	struct wav_writer *w = NULL;
	char bytes[8192];
	int fds[2];
	unsigned rate = 0;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	sound_make(SOUND_THINKING, 16000, &tone);
	assert_int_equal(wav_writer_fd(fds[1], "a pipe", 16000, false, &w, &err), 0);
	assert_int_equal(wav_write(w, tone.v, tone.n, &err), 0);
	assert_int_equal(wav_writer_close(w, &err), 0);
	close(fds[1]);
	ssize_t n = read(fds[0], bytes, sizeof(bytes));
	assert_true(n > 0);
	close(fds[0]);
	assert_int_equal(decode(sv_make(bytes, (size_t)n), &got, &rate), 0);
	assert_int_equal(got.n, tone.n);
	assert_memory_equal(got.v, tone.v, tone.n * sizeof(*tone.v));
	/* A file that can only be added to is a pipe too. */
	char *folder = temp_folder();
	AUTO_FREE char *path = xasprintf("%s/a.wav", folder);
	AUTO_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(wav_writer_fd(fd, "a file", 16000, true, &w, &err), 0);
	assert_int_equal(wav_write(w, tone.v, tone.n, &err), 0);
	assert_int_equal(wav_writer_close(w, &err), 0);
	AUTO_SAMPLES again = { 0 };
	assert_int_equal(wav_load(path, 0, 10, &again, &rate, &err), 0);
	assert_int_equal(again.n, tone.n);
	temp_remove(folder);
}

/* How much of a frequency is in n samples: the share of the power, 0 to 1. */
static double share_of(const int16_t *v, size_t n, double hertz, unsigned rate)
{
	double re = 0, im = 0, all = 0;

	for (size_t i = 0; i < n; i++) {
		double at = 2 * M_PI * hertz * (double)i / rate;
		re += v[i] * cos(at);
		im += v[i] * sin(at);
		all += (double)v[i] * v[i];
	}
	return all > 0 ? 2 * (re * re + im * im) / (all * (double)n) : 0;
}

static void test_sounds(void **state)
{
	static const struct {
		enum sound sound;
		struct {
			double hertz;
			unsigned from_ms, ms;
		} tones[2];
		unsigned ms;
	} rows[] = {
		{ SOUND_DING, { { 880, 0, 200 } }, 200 },
		{ SOUND_PROCESSING, { { 880, 0, 100 }, { 660, 150, 150 } }, 300 },
		{ SOUND_READY, { { 660, 0, 150 }, { 880, 200, 100 } }, 300 },
		{ SOUND_THINKING, { { 440, 0, 100 } }, 100 },
		{ SOUND_ERROR, { { 330, 0, 150 }, { 220, 150, 200 } }, 350 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (unsigned rate = 16000; rate <= 48000; rate += 8000) {
			AUTO_SAMPLES s = { 0 };
			sound_make(rows[i].sound, rate, &s);
			assert_int_equal(s.n, rows[i].ms * rate / 1000);
			/* Nothing clicks: no step is larger than the tone's own. */
			assert_int_equal(s.v[0], 0);
			assert_in_range(abs(s.v[s.n - 1]), 0, 200);
			for (size_t t = 0; t < 2 && rows[i].tones[t].ms; t++) {
				double most = 2 * M_PI * rows[i].tones[t].hertz / rate * 32767;
				size_t from = rows[i].tones[t].from_ms * rate / 1000;
				size_t n = rows[i].tones[t].ms * rate / 1000;
				double hertz = rows[i].tones[t].hertz;
				assert_true(share_of(s.v + from, n, hertz, rate) > 0.7);
				for (size_t k = from + 1; k < from + n; k++)
					assert_true(abs(s.v[k] - s.v[k - 1]) <= most);
			}
			assert_string_not_equal(sound_name(rows[i].sound), "");
		}
	AUTO_SAMPLES quiet = { 0 };
	sound_make(SOUND_THINKING, 16000, &quiet);
	for (size_t i = 0; i < quiet.n; i++)
		assert_in_range(abs(quiet.v[i]), 0, 32767 / 4 + 1);
}

static void test_resampled(void **state)
{
	static const unsigned rates[] = { 8000, 16000, 22050, 24000, 44100, 48000 };

	(void)state;
	for (size_t a = 0; a < ARRAY_LEN(rates); a++)
		for (size_t b = 0; b < ARRAY_LEN(rates); b++) {
			AUTO_SAMPLES in = { 0 };
			AUTO_SAMPLES out = { 0 };
			struct resampler *r = resampler_new(rates[a], rates[b]);
			sound_make(SOUND_THINKING, rates[a], &in);
			for (int turn = 0; turn < 2; turn++) {
				out.n = 0;
				for (size_t at = 0; at < in.n; at += 77)
					resampler_feed(r, in.v + at,
						in.n - at < 77 ? in.n - at : 77, &out);
				resampler_flush(r, &out);
				size_t want = in.n * rates[b] / rates[a];
				assert_in_range(out.n, want - 8, want + 8);
				assert_true(share_of(out.v, want, 440, rates[b]) > 0.9);
			}
			resampler_free(r);
		}
	/* What the lower rate cannot have is gone, not folded. */
	AUTO_SAMPLES high = { 0 };
	AUTO_SAMPLES low = { 0 };
	for (size_t i = 0; i < 48000; i++) {
		int16_t v = (int16_t)lrint(10000 * sin(2 * M_PI * 15000 * (double)i / 48000));
		samples_add(&high, &v, 1);
	}
	struct resampler *r = resampler_new(48000, 16000);
	resampler_feed(r, high.v, high.n, &low);
	resampler_free(r);
	for (size_t i = 200; i < low.n; i++)
		assert_in_range(abs(low.v[i]), 0, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_lengths_that_lie),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_written_and_read),
		cmocka_unit_test(test_to_a_pipe),
		cmocka_unit_test(test_sounds),
		cmocka_unit_test(test_resampled),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
