#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "listen/endpoint.h"

enum { S = ENDPOINT_RATE, F = ENDPOINT_FRAME };

/* A sample above 0 in the middle of the frame is speech: so a test draws what is said. */
static float judge(void *data, const int16_t *frame)
{
	(*(size_t *)data)++;
	return frame[F / 2] > 0 ? 0.9F : 0.1F;
}

struct rig {
	struct endpoint *e;
	size_t judged;
	size_t piece; /* samples fed at a time */
	enum endpoint_event event; /* the last that came */
	uint64_t at; /* when */
	int16_t value; /* of the next sample: every one can be told from its neighbours */
};

static void setup_pauses(struct rig *r, size_t piece, size_t pause)
{
	*r = (struct rig){ .piece = piece };
	const struct endpoint_opts opts = {
		.judge = judge,
		.data = &r->judged,
		.threshold = 0.5,
		.silence = 24000,
		.longest = 480000,
		.least = S / 5,
		.patience = 5 * (size_t)S,
		.pause = pause,
	};
	r->e = endpoint_new(&opts);
}

static void setup(struct rig *r, size_t piece)
{
	setup_pauses(r, piece, 0);
}

/* So much speech or silence; stops at an event, true. */
static bool feed(struct rig *r, size_t n, bool speech)
{
	AUTO_FREE int16_t *samples = xreallocarray(NULL, r->piece, sizeof(*samples));

	while (n > 0) {
		size_t some = n < r->piece ? n : r->piece;
		for (size_t i = 0; i < some; i++) {
			r->value = (int16_t)(r->value % 30000 + 1);
			samples[i] = (int16_t)(speech ? r->value : -r->value);
		}
		size_t used = endpoint_feed(r->e, samples, some, &r->event);
		r->value = (int16_t)(r->value - (int16_t)(some - used));
		n -= used;
		if (r->event != ENDPOINT_NONE) {
			r->at = endpoint_now(r->e);
			return true;
		}
		assert_int_equal(used, some);
	}
	return false;
}

static struct endpoint_recording take(struct rig *r)
{
	struct endpoint_recording got = endpoint_take(r->e);

	free(got.samples);
	return got;
}

/* Exactly 24,000 samples of silence end it: 46 frames and seven eighths of one, not 1.84 s. */
static void test_silence_is_exact(void **state)
{
	static const size_t pieces[] = { 1, 100, 256, 512, 1280, 16384 };

	(void)state;
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		struct rig r;
		setup(&r, pieces[i]);
		assert_false(feed(&r, 100 * F, false));
		endpoint_begin(r.e, true);
		assert_false(feed(&r, 50 * F, false));
		assert_false(feed(&r, 60 * F, true));
		assert_true(feed(&r, 10 * (size_t)S, false));
		assert_int_equal(r.event, ENDPOINT_SAID);
		assert_int_equal(r.at, (100 + 50 + 60) * F + 24000);
		struct endpoint_recording got = take(&r);
		assert_int_equal(got.n, ENDPOINT_BEFORE + 60 * F + 24000);
		assert_int_equal(got.speech, 60 * F);
		assert_false(got.with_call);
		endpoint_free(r.e);
	}
}

static void test_greatest_length_is_exact(void **state)
{
	struct rig r;

	(void)state;
	setup(&r, 256);
	endpoint_begin(r.e, true);
	assert_false(feed(&r, 20 * F, false));
	assert_true(feed(&r, 40 * (size_t)S, true));
	assert_int_equal(r.event, ENDPOINT_SAID);
	assert_int_equal(r.at, 20 * F - ENDPOINT_BEFORE + 480000);
	struct endpoint_recording got = take(&r);
	assert_int_equal(got.n, 480000);
	assert_true(got.cut);
	endpoint_free(r.e);
}

/* Who pauses at the greatest length may be at the end, or speak on. */
static void test_a_pause_at_the_greatest_length(void **state)
{
	(void)state;
	for (int goes_on = 0; goes_on < 2; goes_on++) {
		struct rig r;
		setup(&r, 256);
		endpoint_begin(r.e, false);
		assert_int_equal(endpoint_left(r.e), SIZE_MAX);
		assert_false(feed(&r, 930 * F, true));
		assert_int_equal(endpoint_left(r.e), 480000 - 930 * F);
		assert_false(feed(&r, 20 * F, false));
		assert_int_equal(endpoint_left(r.e), 0);
		assert_true(feed(&r, 2 * (size_t)S, goes_on));
		assert_int_equal(r.event, ENDPOINT_SAID);
		assert_int_equal(r.at, goes_on ? (930 + 20 + 1) * F : 930 * F + 24000);
		struct endpoint_recording got = take(&r);
		assert_int_equal(got.n, 480000);
		assert_int_equal(got.cut, goes_on);
		endpoint_free(r.e);
	}
}

static void test_nobody_spoke(void **state)
{
	struct rig r;

	(void)state;
	setup(&r, 256);
	assert_false(feed(&r, 10 * F, true)); /* the call itself */
	endpoint_begin(r.e, true);
	assert_false(feed(&r, 2 * F, true)); /* … and its end */
	assert_true(feed(&r, 6 * (size_t)S, false));
	assert_int_equal(r.event, ENDPOINT_NOTHING);
	assert_int_equal(r.at, 10 * F + 5 * S);
	/* Nothing more comes of it. */
	assert_false(feed(&r, 10 * F, true));
	assert_false(feed(&r, 5 * (size_t)S, false));
	endpoint_free(r.e);
}

/* By measured speech, not by the length of what was recorded. */
static void test_a_click_is_no_speech(void **state)
{
	struct rig r;

	(void)state;
	setup(&r, 256);
	assert_false(feed(&r, 50 * F, false));
	endpoint_begin(r.e, true);
	assert_false(feed(&r, 10 * F, false));
	assert_false(feed(&r, 6 * F, true)); /* 0.19 s */
	assert_false(feed(&r, 60 * F, false)); /* and then a long silence */
	assert_false(feed(&r, 7 * F, true)); /* 0.22 s: a quick "stop" */
	assert_true(feed(&r, 4 * (size_t)S, false));
	assert_int_equal(r.event, ENDPOINT_SAID);
	struct endpoint_recording got = take(&r);
	assert_int_equal(got.speech, 7 * F);
	assert_int_equal(got.n, ENDPOINT_BEFORE + 7 * F + 24000);
	endpoint_free(r.e);
}

static void test_in_one_breath(void **state)
{
	struct rig r;

	(void)state;
	setup(&r, 256);
	assert_false(feed(&r, 200 * F, false));
	assert_false(feed(&r, 20 * F, true)); /* hey jarvis */
	endpoint_begin(r.e, true);
	assert_false(feed(&r, 50 * F, true)); /* what time is it */
	assert_true(feed(&r, 2 * (size_t)S, false));
	assert_int_equal(r.event, ENDPOINT_SAID);
	struct endpoint_recording got = take(&r);
	assert_true(got.with_call);
	assert_int_equal(got.n, ENDPOINT_BEFORE + 70 * F + 24000);
	assert_int_equal(got.speech, 50 * F);
	endpoint_free(r.e);
}

/* A comma is no pause; a moment of waiting for the sound is. */
static void test_a_pause_after_the_call(void **state)
{
	(void)state;
	for (int waits = 0; waits < 2; waits++) {
		struct rig r;
		setup(&r, 256);
		assert_false(feed(&r, 200 * F, false));
		assert_false(feed(&r, 20 * F, true));
		endpoint_begin(r.e, true);
		assert_false(feed(&r, 4 * F, true)); /* …vis */
		assert_false(feed(&r, waits ? 40 * F : 5 * F, false));
		assert_false(feed(&r, 50 * F, true));
		assert_true(feed(&r, 2 * (size_t)S, false));
		assert_int_equal(r.event, ENDPOINT_SAID);
		struct endpoint_recording got = take(&r);
		assert_int_equal(got.with_call, !waits);
		assert_int_equal(got.n, ENDPOINT_BEFORE + (waits ? 0 : 29 * F) + 50 * F + 24000);
		endpoint_free(r.e);
	}
}

/* Whoever speaks before the call is not recorded, and a call is not longer than it can be. */
static void test_speech_before_the_call(void **state)
{
	struct rig r;

	(void)state;
	setup(&r, 256);
	assert_false(feed(&r, 500 * F, true));
	endpoint_begin(r.e, true);
	assert_false(feed(&r, 50 * F, true));
	assert_true(feed(&r, 2 * (size_t)S, false));
	assert_int_equal(take(&r).n, ENDPOINT_BEFORE + ENDPOINT_CALL + 50 * F + 24000);
	endpoint_free(r.e);
}

static void test_open(void **state)
{
	struct rig r;

	(void)state;
	setup(&r, 256);
	endpoint_open(r.e, 8000, S / 5);
	assert_false(feed(&r, 500 * F, false));
	assert_false(feed(&r, 3 * F, true)); /* a click: nobody hears of it */
	assert_false(feed(&r, 100 * F, false));
	assert_true(feed(&r, 30 * F, true));
	assert_int_equal(r.event, ENDPOINT_BEGAN);
	assert_int_equal(r.at, (500 + 3 + 100 + 7) * F);
	assert_false(feed(&r, 23 * F, true));
	assert_true(feed(&r, (size_t)S, false));
	assert_int_equal(r.event, ENDPOINT_SAID);
	assert_int_equal(r.at, (500 + 3 + 100 + 30) * F + 8000);
	assert_int_equal(take(&r).n, ENDPOINT_BEFORE + 30 * F + 8000);
	/* The next one has to be asked for. */
	assert_false(feed(&r, 40 * F, true));
	endpoint_free(r.e);
}

static void test_the_sound_ends(void **state)
{
	struct rig r;

	(void)state;
	setup(&r, 256);
	endpoint_begin(r.e, false);
	assert_false(feed(&r, 10 * F, false));
	assert_false(feed(&r, 10 * F, true));
	assert_int_equal(endpoint_end(r.e), ENDPOINT_SAID);
	assert_int_equal(take(&r).n, ENDPOINT_BEFORE + 10 * F);
	endpoint_begin(r.e, false);
	assert_int_equal(endpoint_end(r.e), ENDPOINT_NOTHING);
	assert_int_equal(endpoint_end(r.e), ENDPOINT_NONE);
	endpoint_begin(r.e, false);
	endpoint_close(r.e);
	assert_false(feed(&r, 6 * (size_t)S, true));
	endpoint_free(r.e);
}

/* What is recorded is what was heard, sample for sample, however long it was idle before; and every
 * frame was judged once. */
static void test_samples(void **state)
{
	struct rig r;

	(void)state;
	setup(&r, 1280);
	assert_false(feed(&r, 20000 * F, false));
	endpoint_begin(r.e, true);
	assert_false(feed(&r, 20 * F, false));
	assert_false(feed(&r, 60 * F, true));
	assert_true(feed(&r, 2 * (size_t)S, false));
	assert_int_equal(r.judged, r.at / F);
	struct endpoint_recording got = endpoint_take(r.e);
	for (size_t i = 1; i < got.n; i++)
		assert_int_equal(abs(got.samples[i]), abs(got.samples[i - 1]) % 30000 + 1);
	free(got.samples);
	endpoint_free(r.e);
}

/* A pause is told once, at its sample; what it had is all if nobody speaks on. */
static void test_pauses(void **state)
{
	static const size_t pieces[] = { 1, 100, 1280, 16384 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(pieces); i++) {
		struct rig r;
		setup_pauses(&r, pieces[i], 6400);
		endpoint_begin(r.e, false);
		assert_false(feed(&r, 40 * F, true));
		assert_true(feed(&r, S, false));
		assert_int_equal(r.event, ENDPOINT_PAUSED);
		assert_int_equal(r.at, 40 * F + 6400);
		struct endpoint_recording so_far = endpoint_copy(r.e);
		assert_int_equal(so_far.n, 40 * F + 6400);
		assert_int_equal(so_far.samples[0], 1);
		free(so_far.samples);
		/* A little more, and the next one is told again. */
		uint64_t whole = (r.at / F + 1) * F;
		assert_false(feed(&r, (size_t)(whole - r.at), false));
		assert_false(feed(&r, 10 * F, true));
		assert_true(feed(&r, S, false));
		assert_int_equal(r.event, ENDPOINT_PAUSED);
		assert_int_equal(r.at, whole + 10 * F + 6400);
		assert_true(feed(&r, 2 * (size_t)S, false));
		assert_int_equal(r.event, ENDPOINT_SAID);
		assert_int_equal(r.at, whole + 10 * F + 24000);
		assert_true(take(&r).as_paused);
		endpoint_free(r.e);
	}
}

/* Somebody spoke since the pause; or so little silence ends it that there is none. */
static void test_no_pause(void **state)
{
	struct rig r;

	(void)state;
	setup_pauses(&r, F, 6400);
	endpoint_begin(r.e, false);
	assert_false(feed(&r, 40 * F, true));
	assert_true(feed(&r, S, false));
	assert_int_equal(r.event, ENDPOINT_PAUSED);
	assert_false(feed(&r, 10 * F, true));
	assert_int_equal(endpoint_end(r.e), ENDPOINT_SAID);
	assert_false(take(&r).as_paused);
	endpoint_open(r.e, 6400, S / 5);
	assert_true(feed(&r, 40 * F, true));
	assert_int_equal(r.event, ENDPOINT_BEGAN);
	assert_false(feed(&r, 30 * F, true));
	assert_true(feed(&r, S, false));
	assert_int_equal(r.event, ENDPOINT_SAID);
	assert_false(take(&r).as_paused);
	endpoint_free(r.e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_silence_is_exact),
		cmocka_unit_test(test_greatest_length_is_exact),
		cmocka_unit_test(test_a_pause_at_the_greatest_length),
		cmocka_unit_test(test_nobody_spoke),
		cmocka_unit_test(test_a_click_is_no_speech),
		cmocka_unit_test(test_in_one_breath),
		cmocka_unit_test(test_a_pause_after_the_call),
		cmocka_unit_test(test_speech_before_the_call),
		cmocka_unit_test(test_open),
		cmocka_unit_test(test_the_sound_ends),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_pauses),
		cmocka_unit_test(test_no_pause),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
