#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "audio/audio.h"
#include "audio/sounds.h"
#include "base/clock.h"
#include "os/test-temp.h"

static void test_wav_there_and_back(void **state)
{
	struct err err = ERR_INIT;
	AUTO_FREE char *path = path_join(*state, "a.wav");
	AUTO_SAMPLES ding = { 0 };
	struct audio_opts opts = { .driver = "wav", .device = path, .fd = -1, .rate = 24000 };
	struct audio_out *out = NULL;
	struct audio_in *in = NULL;
	int16_t got[8192];

	sound_make(SOUND_DING, 24000, &ding);
	assert_int_equal(audio_out_open(&opts, &out, &err), 0);
	assert_false(audio_out_is_live(out));
	assert_non_null(strstr(audio_out_name(out), "a.wav"));
	for (size_t at = 0; at < ding.n; at += 480)
		assert_int_equal(audio_out_write(out, ding.v + at, 480, &err), 0);
	assert_int_equal(audio_out_drain(out, &err), 0);
	assert_int_equal(audio_out_close(out, &err), 0);

	assert_int_equal(audio_in_open(&opts, &in, &err), 0);
	assert_false(audio_in_is_live(in));
	assert_int_equal(audio_in_read(in, got, 1000, &err), 1000);
	assert_memory_equal(got, ding.v, 1000 * sizeof(*got));
	assert_int_equal(audio_in_read(in, got, ARRAY_LEN(got), &err), (int)ding.n - 1000);
	assert_memory_equal(got, ding.v + 1000, (ding.n - 1000) * sizeof(*got));
	assert_int_equal(audio_in_read(in, got, 1, &err), 0);
	audio_in_free(in);
	/* At another rate: as long, in samples of that rate. */
	opts.rate = 16000;
	assert_int_equal(audio_in_open(&opts, &in, &err), 0);
	assert_in_range(audio_in_read(in, got, ARRAY_LEN(got), &err), 3195, 3205);
	audio_in_free(in);
}

/* A file goes on where it ended, also behind a kill in the middle of a write. */
static void test_goes_on(void **state)
{
	static const char *const names[] = { "wav", "raw" };
	const int16_t two[] = { 1, 2 };

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		AUTO_FREE char *path = path_join(*state, names[i]);
		struct audio_opts opts = {
			.driver = names[i], .device = path, .fd = -1, .append = true
		};
		struct audio_out *out = NULL;
		struct audio_in *in = NULL;
		int16_t got[20];
		for (int turn = 0; turn < 3; turn++) {
			assert_int_equal(audio_out_open(&opts, &out, NULL), 0);
			assert_int_equal(audio_out_write(out, two, 2, NULL), 0);
			assert_int_equal(audio_out_close(out, NULL), 0);
			if (i == 0)
				assert_int_equal(file_append(path, SV("x"), false, NULL), 0);
		}
		assert_int_equal(audio_in_open(&opts, &in, NULL), 0);
		assert_int_equal(audio_in_read(in, got, 20, NULL), 6);
		for (int k = 0; k < 6; k++)
			assert_int_equal(got[k], two[k % 2]);
		audio_in_free(in);
	}
	/* Not into what is something else. */
	AUTO_FREE char *text =
		temp_write(*state, "text", "these words must stay as they are, all of them");
	struct audio_opts opts = { .driver = "wav", .device = text, .fd = -1, .append = true };
	struct audio_out *out = NULL;
	AUTO_STR left = STR_INIT;
	assert_int_equal(audio_out_open(&opts, &out, NULL), ERR_INPUT);
	assert_int_equal(file_read(text, 100, &left, NULL), 0);
	assert_int_equal(left.len, 46);
	AUTO_FREE char *other = path_join(*state, "wav");
	opts.device = other;
	opts.rate = 48000;
	assert_int_equal(audio_out_open(&opts, &out, NULL), ERR_INPUT);
}

static void test_what_cannot_be_opened(void **state)
{
	struct err err = ERR_INIT;
	AUTO_FREE char *text = temp_write(*state, "text.wav", "this is not sound");
	AUTO_FREE char *missing = path_join(*state, "missing.wav");
	AUTO_FREE char *below = path_join(text, "out.wav");
	struct audio_opts opts = { .driver = "wav", .device = text, .fd = -1 };
	struct audio_in *in = NULL;
	struct audio_out *out = NULL;

	assert_int_equal(audio_in_open(&opts, &in, &err), ERR_INPUT);
	assert_non_null(strstr(err.msg, "not a WAV"));
	AUTO_FREE char *little = temp_write(*state, "little.wav", "text");
	opts.device = little;
	assert_int_equal(audio_in_open(&opts, &in, &err), ERR_INPUT);
	assert_non_null(strstr(err.msg, "not a WAV"));
	opts.device = missing;
	assert_int_equal(audio_in_open(&opts, &in, &err), -ENOENT);
	opts.device = below;
	assert_int_equal(audio_out_open(&opts, &out, &err), -ENOTDIR);
	opts.device = NULL;
	assert_int_equal(audio_in_open(&opts, &in, &err), ERR_USAGE);
	opts.driver = "drum";
	assert_int_equal(audio_in_open(&opts, &in, &err), ERR_USAGE);
	assert_null(in);
	for (size_t i = 0; audio_drivers[i]; i++)
		assert_string_not_equal(audio_drivers[i], opts.driver);
	audio_in_free(NULL);
	audio_out_free(NULL);
}

static void test_raw_by_halves(void **state)
{
	struct err err = ERR_INIT;
	struct audio_in *in = NULL;
	int16_t got[4];
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	struct audio_opts opts = { .driver = "raw", .fd = fds[0] };
	assert_int_equal(audio_in_open(&opts, &in, &err), 0);
	/* One byte and a half sample at a time. */
	assert_int_equal(write(fds[1], "\x01", 1), 1);
	assert_int_equal(write(fds[1], "\x00\x02", 2), 2);
	assert_int_equal(audio_in_read(in, got, 1, &err), 1);
	assert_int_equal(got[0], 1);
	assert_int_equal(write(fds[1], "\x01\xff", 2), 2);
	close(fds[1]);
	assert_int_equal(audio_in_read(in, got, 4, &err), 1);
	assert_int_equal(got[0], 0x0102);
	assert_int_equal(audio_in_read(in, got, 4, &err), 0);
	audio_in_free(in);
	close(fds[0]);
}

/* Who takes other sizes than come in always leaves some: what was taken must not stay with it. */
static void test_what_was_taken_is_not_kept(void **state)
{
	enum { TAKEN = 256, TIMES = 40000 }; /* 20 MB in all */
	const int16_t first[TAKEN + 1] = { 0 };
	struct rusage before = { 0 }, after = { 0 };
	struct audio_in *in = NULL;
	int16_t got[TAKEN];
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	struct audio_opts opts = { .driver = "raw", .fd = fds[0] };
	assert_int_equal(audio_in_open(&opts, &in, NULL), 0);
	assert_int_equal(write(fds[1], first, sizeof(first)), sizeof(first));
	assert_int_equal(audio_in_read(in, got, TAKEN, NULL), TAKEN);
	(void)getrusage(RUSAGE_SELF, &before);
	for (int16_t i = 1; i <= TIMES / TAKEN; i++) {
		int16_t some[TAKEN];
		for (int k = 0; k < TAKEN; k++) {
			for (int j = 0; j < TAKEN; j++)
				some[j] = i;
			assert_int_equal(write(fds[1], some, sizeof(some)), sizeof(some));
			assert_int_equal(audio_in_read(in, got, TAKEN, NULL), TAKEN);
			/* One that was left comes first. */
			assert_int_equal(got[0], k ? i : i - 1);
			assert_int_equal(got[TAKEN - 1], i);
		}
	}
	(void)getrusage(RUSAGE_SELF, &after);
	assert_true(after.ru_maxrss - before.ru_maxrss < 8 * 1024);
	audio_in_free(in);
	close(fds[0]);
	close(fds[1]);
}

/* ---- stops, from another thread ---- */

struct stopper {
	struct audio_in *in;
	struct audio_out *out;
	int64_t after_ms;
};

static void *stop_it(void *data)
{
	struct stopper *s = data;

	(void)poll(NULL, 0, (int)s->after_ms);
	if (s->in)
		audio_in_stop(s->in);
	if (s->out)
		audio_out_stop(s->out);
	return NULL;
}

static void test_a_read_that_waits_is_stopped(void **state)
{
	struct err err = ERR_INIT;
	struct stopper s = { .after_ms = 50 };
	int16_t got[4];
	pthread_t id;
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	struct audio_opts opts = { .driver = "raw", .fd = fds[0] };
	assert_int_equal(audio_in_open(&opts, &s.in, &err), 0);
	assert_int_equal(pthread_create(&id, NULL, stop_it, &s), 0);
	assert_int_equal(audio_in_read(s.in, got, 4, &err), ERR_CANCELLED);
	pthread_join(id, NULL);
	assert_int_equal(audio_in_read(s.in, got, 4, &err), ERR_CANCELLED);
	audio_in_free(s.in);
	close(fds[0]);
	close(fds[1]);
}

static void test_a_write_that_waits_is_stopped(void **state)
{
	struct err err = ERR_INIT;
	struct stopper s = { .after_ms = 50 };
	AUTO_FREE int16_t *much = xcalloc(1000000, sizeof(*much));
	pthread_t id;
	int fds[2];

	(void)state;
	/* A pipe that nobody reads. */
	assert_int_equal(pipe(fds), 0);
	struct audio_opts opts = { .driver = "raw", .fd = fds[1] };
	assert_int_equal(audio_out_open(&opts, &s.out, &err), 0);
	assert_int_equal(pthread_create(&id, NULL, stop_it, &s), 0);
	assert_int_equal(audio_out_write(s.out, much, 1000000, &err), ERR_CANCELLED);
	pthread_join(id, NULL);
	assert_int_equal(audio_out_drain(s.out, &err), ERR_CANCELLED);
	assert_int_equal(audio_out_write(s.out, much, 1, &err), ERR_CANCELLED);
	/* Taken back, it goes on. */
	char drained[65536];
	assert_true(read(fds[0], drained, sizeof(drained)) > 0);
	audio_out_start(s.out);
	assert_int_equal(audio_out_write(s.out, much, 100, &err), 0);
	assert_int_equal(audio_out_drain(s.out, &err), 0);
	audio_out_free(s.out);
	close(fds[0]);
	close(fds[1]);
}

/* A file with the speed of time keeps at most 100 ms ahead, and stops. */
static void test_paced(void **state)
{
	struct err err = ERR_INIT;
	AUTO_FREE char *path = path_join(*state, "a.wav");
	AUTO_FREE int16_t *second = xcalloc(16000, sizeof(*second));
	struct audio_opts opts = { .driver = "wav", .device = path, .fd = -1, .paced = true };
	struct stopper s = { .after_ms = 200 };
	AUTO_SAMPLES got = { 0 };
	pthread_t id;

	assert_int_equal(audio_out_open(&opts, &s.out, &err), 0);
	int64_t begun = clock_run_ms();
	assert_int_equal(audio_out_write(s.out, second, 4800, &err), 0);
	assert_int_equal(audio_out_drain(s.out, &err), 0);
	assert_true(clock_run_ms() - begun >= 298);
	assert_int_equal(pthread_create(&id, NULL, stop_it, &s), 0);
	begun = clock_run_ms();
	assert_int_equal(audio_out_write(s.out, second, 16000, &err), ERR_CANCELLED);
	int64_t took = clock_run_ms() - begun;
	pthread_join(id, NULL);
	assert_int_equal(audio_out_close(s.out, &err), 0);
	assert_int_equal(wav_load(path, 0, 10, &got, NULL, &err), 0);
	assert_true((int64_t)got.n - 4800 <= (took + 100) * 16);
}

static void test_a_full_disk_is_told(void **state)
{
	struct err err = ERR_INIT;
	struct audio_opts opts = { .driver = "wav", .device = "/dev/full", .fd = -1 };
	struct audio_out *out = NULL;

	(void)state;
	assert_int_equal(audio_out_open(&opts, &out, &err), -ENOSPC);
	opts.driver = "raw";
	assert_int_equal(audio_out_open(&opts, &out, &err), 0);
	const int16_t one = 1;
	assert_int_equal(audio_out_write(out, &one, 1, &err), -ENOSPC);
	audio_out_free(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FOLDER(test_wav_there_and_back),
		WITH_FOLDER(test_goes_on),
		WITH_FOLDER(test_what_cannot_be_opened),
		cmocka_unit_test(test_raw_by_halves),
		cmocka_unit_test(test_what_was_taken_is_not_kept),
		cmocka_unit_test(test_a_read_that_waits_is_stopped),
		cmocka_unit_test(test_a_write_that_waits_is_stopped),
		WITH_FOLDER(test_paced),
		cmocka_unit_test(test_a_full_disk_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
