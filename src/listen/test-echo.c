#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "listen/echo.h"

/* So many frames: whether somebody else was heard in them. */
static bool hears(struct echo *e, int frames, double heard, double ours, bool speech)
{
	bool any = false;

	for (int i = 0; i < frames; i++)
		any |= echo_hears(e, heard, ours, speech);
	return any;
}

static void test_headphones(void **state)
{
	struct echo e = { .most = 0 };

	(void)state;
	/* Nothing of us is heard; a breath is no speech. */
	assert_false(hears(&e, ECHO_QUIET + 8, 12, 4000, false));
	assert_false(hears(&e, 30, 900, 4000, false));
	assert_false(hears(&e, ECHO_RUN - 1, 2000, 4000, true));
	assert_true(hears(&e, 1, 2000, 4000, true));
	/* Once, however long it goes on. */
	assert_false(hears(&e, 100, 2000, 4000, true));
}

/* Who speaks before we are known is not taken for us, and is heard the next time. */
static void test_spoken_over_at_once(void **state)
{
	struct echo e = { .most = 0 };

	(void)state;
	assert_false(hears(&e, 10, 12, 4000, false));
	assert_false(hears(&e, 12, 2000, 4000, true));
	assert_false(hears(&e, 40, 12, 4000, false));
	assert_true(hears(&e, ECHO_RUN, 2000, 4000, true));
}

/* The onset of a word is none of ours. */
static void test_onset(void **state)
{
	struct echo e = { .most = 0 };

	(void)state;
	assert_false(hears(&e, ECHO_LEARN, 0, 4000, false));
	assert_false(hears(&e, 6, 3000, 4000, false));
	assert_true(hears(&e, ECHO_RUN, 4000, 4000, true));
	/* … but where no word follows, it was: a chair that is heard each time we speak. */
	assert_false(hears(&e, 3, 3000, 4000, false));
	assert_false(hears(&e, 10, 12, 4000, false));
	assert_false(hears(&e, ECHO_RUN, 4000, 4000, true));
}

static void test_loudspeaker(void **state)
{
	struct echo e = { .most = 0 };

	(void)state;
	/* Our own voice, which is speech, and louder and softer. */
	for (int i = 0; i < 1000; i++)
		assert_false(hears(&e, 1, 1000 + i % 7 * 150, 4000, true));
	/* As loud as we are, one cannot know. */
	assert_false(hears(&e, 10, 2200, 4000, true));
	assert_true(hears(&e, ECHO_RUN, 6000, 4000, true));
	/* It was a door: the next one is ours. */
	echo_mistaken(&e);
	assert_false(hears(&e, 10, 6000, 4000, true));
	/* … for a while */
	for (int i = 0; i < 6000; i++)
		assert_false(hears(&e, 1, 1000, 4000, true));
	assert_true(hears(&e, ECHO_RUN, 6000, 4000, true));
}

static void test_between_sentences(void **state)
{
	struct echo e = { .most = 0 };

	(void)state;
	assert_false(hears(&e, 20, 3000, 0, false));
	assert_true(hears(&e, ECHO_RUN, 3000, 0, true));
}

static void test_loudness(void **state)
{
	const int16_t square[] = { 300, -300, 300, -300 };

	(void)state;
	assert_true(echo_loudness(square, 4) > 299.9 && echo_loudness(square, 4) < 300.1);
	assert_true(echo_loudness(square, 0) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_headphones),
		cmocka_unit_test(test_spoken_over_at_once),
		cmocka_unit_test(test_onset),
		cmocka_unit_test(test_loudspeaker),
		cmocka_unit_test(test_between_sentences),
		cmocka_unit_test(test_loudness),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
