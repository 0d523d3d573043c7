#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "voice/ways.h"

/* A language of few pieces: how likely which comes after which, in hundredths; the rest is shared
 * by pieces that are never written. */
enum { START, A, B, C, END, JUNK, N };
typedef const unsigned char grammar[N][N];

static void run(grammar g, size_t ways, size_t max, struct ways *w, size_t *ret_most)
{
	static const bool never[N] = { [START] = true, [JUNK] = true };

	ways_begin(w, ways, 3);
	*ret_most = 0;
	for (size_t steps = 0; w->n > 0; steps++) {
		assert_in_range(steps, 0, 2 * WAY_PIECES_MAX);
		*ret_most = w->n > *ret_most ? w->n : *ret_most;
		for (size_t i = 0; i < w->n; i++) {
			int64_t last = w->of[i].n ? w->of[i].pieces[w->of[i].n - 1] : START;
			float likely[N];
			int left = 100;
			for (size_t p = 0; p < JUNK; p++) {
				left -= g[last][p];
				/* Up to a constant: as a network says it. */
				likely[p] = logf(fmaxf(g[last][p], 1e-6F)) + 7;
			}
			likely[JUNK] = logf(fmaxf((float)left, 1e-6F)) + 7;
			ways_offer(w, i, likely, N, never, N);
		}
		ways_step(w, END, max);
	}
}

static void test_second_thought(void **state)
{
	/* A is likelier than B, but nothing sure comes behind it. */
	grammar g = { [START] = { [A] = 55, [B] = 45 },
		[A] = { [C] = 30, [A] = 20, [END] = 10 },
		[B] = { [C] = 98, [END] = 2 },
		[C] = { [END] = 99, [A] = 1 } };
	struct ways w;
	size_t most;

	(void)state;
	run(g, WAYS_MAX, 20, &w, &most);
	assert_int_equal(w.best.n, 2);
	assert_int_equal(w.best.pieces[0], B);
	assert_int_equal(w.best.pieces[1], C);
	assert_int_equal(most, 2);
	assert_true(fabs(w.sure - log(0.45 * 0.98 * 0.99) / 3) < 0.001);
	/* One way alone never comes to it. */
	run(g, 1, 20, &w, &most);
	assert_int_equal(most, 1);
	assert_int_equal(w.best.pieces[0], A);
}

static void test_no_doubt(void **state)
{
	/* What is much less likely is not followed, whatever comes behind it. */
	grammar g = { [START] = { [A] = 85, [B] = 15 },
		[A] = { [C] = 30, [END] = 5 },
		[B] = { [C] = 99, [END] = 1 },
		[C] = { [END] = 90, [A] = 10 } };
	struct ways w;
	size_t most;

	(void)state;
	run(g, WAYS_MAX, 20, &w, &most);
	assert_int_equal(most, 1);
	assert_int_equal(w.best.n, 2);
	assert_int_equal(w.best.pieces[0], A);
}

static void test_ends(void **state)
{
	/* Nobody says the same for ever, and nobody says more than max. */
	grammar loop = { [START] = { [A] = 99 }, [A] = { [A] = 99 } };
	grammar round = {
		[START] = { [A] = 99 }, [A] = { [B] = 99 }, [B] = { [C] = 99 }, [C] = { [A] = 99 }
	};
	struct ways w;
	size_t most;

	(void)state;
	run(loop, WAYS_MAX, 20, &w, &most);
	assert_int_equal(w.best.n, 1);
	assert_true(w.sure < -0.9);
	run(round, WAYS_MAX, 5, &w, &most);
	assert_int_equal(w.best.n, 5);
	assert_true(w.sure > -0.1);
	run(round, WAYS_MAX, 1000, &w, &most);
	assert_int_equal(w.best.n, 3);
	run(round, WAYS_MAX, 0, &w, &most);
	assert_int_equal(w.best.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_second_thought),
		cmocka_unit_test(test_no_doubt),
		cmocka_unit_test(test_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
