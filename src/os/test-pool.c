#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <stdatomic.h>

#include "os/pool.h"

enum { ITEMS = 1000 };

struct counts {
	atomic_int done[ITEMS];
	atomic_uint top_worker;
	size_t fail_from;
};

static int count(void *data, size_t i, unsigned worker, struct err *reterr)
{
	struct counts *c = data;

	atomic_fetch_add(&c->done[i], 1);
	unsigned top = atomic_load(&c->top_worker);
	while (worker > top && !atomic_compare_exchange_weak(&c->top_worker, &top, worker))
		;
	if (c->fail_from && i >= c->fail_from)
		return err_set(reterr, ERR_INPUT, "item %zu", i);
	return 0;
}

static void every_item_once(void **state)
{
	(void)state;
	assert_true(pool_cpus() >= 1);
	for (unsigned threads = 0; threads < 100; threads += 7) {
		struct counts c = { .fail_from = 0 };
		assert_int_equal(pool_each(threads, ITEMS, count, &c, NULL), 0);
		for (size_t i = 0; i < ITEMS; i++)
			assert_int_equal(c.done[i], 1);
		assert_true(c.top_worker < (threads ? threads : POOL_THREADS_MAX));
		assert_true(c.top_worker < POOL_THREADS_MAX);
	}
	assert_int_equal(pool_each(4, 0, NULL, NULL, NULL), 0);
}

static void lowest_failure_is_reported(void **state)
{
	struct err err = ERR_INIT;

	(void)state;
	for (unsigned threads = 1; threads <= 8; threads++) {
		struct counts c = { .fail_from = 300 };
		assert_int_equal(pool_each(threads, ITEMS, count, &c, &err), ERR_INPUT);
		assert_string_equal(err.msg, "item 300");
		for (size_t i = 0; i < 300; i++)
			assert_int_equal(c.done[i], 1);
		assert_int_equal(c.done[ITEMS - 1], 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_item_once),
		cmocka_unit_test(lowest_failure_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
