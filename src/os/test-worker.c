#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "os/worker.h"

/* What came home, in order: one letter each. */
struct home {
	struct loop *loop;
	struct worker *worker;
	char text[64];
	size_t n;
	bool done;
	pthread_t loop_thread;
};

struct task {
	struct home *home;
	char name;
	atomic_bool begun, go_on; /* for hold() */
	bool last;
};

static void note(struct home *h, char c)
{
	assert_true(h->n + 1 < sizeof(h->text));
	h->text[h->n++] = c;
	h->text[h->n] = '\0';
}

static void open_home(struct home *h, size_t queue_max)
{
	struct err err = ERR_INIT;

	*h = (struct home){ .loop = loop_new(), .loop_thread = pthread_self() };
	h->worker = worker_new(h->loop, "test", queue_max, &err);
	assert_non_null(h->worker);
}

static void close_home(struct home *h)
{
	worker_free(h->worker);
	loop_free(h->loop);
}

/* ---- jobs, on the worker's thread ---- */

static int quick(void *data, const struct worker *w, struct err *reterr)
{
	const struct task *t = data;
	sigset_t mask;

	(void)reterr;
	/* assert_…() would jump out of the thread. */
	if (pthread_equal(pthread_self(), t->home->loop_thread) || worker_cancelled(w))
		return ERR_BUG;
	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	return sigismember(&mask, SIGINT) == 1 && sigismember(&mask, SIGWINCH) == 1 ? 0 : ERR_BUG;
}

static int failing(void *data, const struct worker *w, struct err *reterr)
{
	(void)w;
	return err_set(reterr, ERR_INPUT, "%c is wrong", ((const struct task *)data)->name);
}

static int hold(void *data, const struct worker *w, struct err *reterr)
{
	struct task *t = data;

	atomic_store(&t->begun, true);
	while (!atomic_load(&t->go_on)) {
		if (worker_cancelled(w))
			return err_set(reterr, ERR_CANCELLED, "asked to");
		(void)poll(NULL, 0, 1);
	}
	return 0;
}

/* ---- ends, on the loop's thread ---- */

static void on_part(void *data)
{
	note(((const struct task *)data)->home, '-');
}

static int in_parts(void *data, const struct worker *w, struct err *reterr)
{
	const struct task *t = data;

	(void)w, (void)reterr;
	for (int i = 0; i < 3; i++)
		loop_post(t->home->loop, on_part, data);
	return 0;
}

/* Small letters are those that failed; '!' follows one that was cancelled. */
static void on_end(void *data, int r, const struct err *err)
{
	const struct task *t = data;

	assert_true(pthread_equal(pthread_self(), t->home->loop_thread));
	note(t->home, (char)(r < 0 ? t->name + 'a' - 'A' : t->name));
	if (r == ERR_CANCELLED)
		note(t->home, '!');
	if (r < 0) {
		assert_int_equal(err->code, r);
		assert_string_not_equal(err->msg, "");
	}
	if (t->last)
		t->home->done = true;
}

static void submit(struct home *h, worker_fn fn, struct task *t)
{
	assert_int_equal(worker_submit(h->worker, fn, on_end, t, NULL), 0);
}

static void wait_begun(struct task *t)
{
	while (!atomic_load(&t->begun))
		(void)poll(NULL, 0, 1);
}

static void test_jobs_come_home_in_order(void **state)
{
	struct home h;

	(void)state;
	open_home(&h, 8);
	struct task a = { .home = &h, .name = 'A' }, b = { .home = &h, .name = 'B' };
	struct task c = { .home = &h, .name = 'C', .last = true };
	submit(&h, quick, &a);
	submit(&h, failing, &b);
	assert_int_equal(worker_submit(h.worker, quick, NULL, &a, NULL), 0);
	submit(&h, in_parts, &c);
	assert_int_equal(loop_run(h.loop, &h.done, NULL), 0);
	assert_string_equal(h.text, "Ab---C");
	close_home(&h);
	assert_string_equal(h.text, "Ab---C");
}

static void test_full_queue(void **state)
{
	struct err err = ERR_INIT;
	struct home h;

	(void)state;
	open_home(&h, 2);
	struct task a = { .home = &h, .name = 'A' }, b = { .home = &h, .name = 'B' };
	struct task c = { .home = &h, .name = 'C', .last = true };
	submit(&h, hold, &a);
	wait_begun(&a);
	submit(&h, quick, &b);
	submit(&h, quick, &c);
	assert_int_equal(worker_submit(h.worker, quick, on_end, &c, &err), ERR_BUSY);
	atomic_store(&a.go_on, true);
	assert_int_equal(loop_run(h.loop, &h.done, NULL), 0);
	assert_string_equal(h.text, "ABC");
	close_home(&h);
}

static void test_cancel(void **state)
{
	struct home h;

	(void)state;
	open_home(&h, 8);
	struct task a = { .home = &h, .name = 'A' }, b = { .home = &h, .name = 'B' };
	struct task c = { .home = &h, .name = 'C', .last = true };
	worker_cancel(h.worker); /* nothing to cancel; the next job is not meant */
	submit(&h, hold, &a);
	wait_begun(&a);
	submit(&h, quick, &b);
	worker_cancel(h.worker);
	submit(&h, quick, &c);
	assert_int_equal(loop_run(h.loop, &h.done, NULL), 0);
	assert_string_equal(h.text, "b!a!C");
	close_home(&h);
}

static void test_free_tells_every_end(void **state)
{
	struct home h;

	(void)state;
	open_home(&h, 8);
	struct task a = { .home = &h, .name = 'A' }, b = { .home = &h, .name = 'B' };
	struct task c = { .home = &h, .name = 'C' };
	submit(&h, quick, &a);
	submit(&h, hold, &b);
	wait_begun(&b); /* A has ended and waits to be told */
	submit(&h, quick, &c);
	worker_free(h.worker);
	assert_string_equal(h.text, "Ac!b!");
	/* Nothing of it is left in the loop, nor does that wait for more. */
	assert_int_equal(loop_step(h.loop, -1, NULL), ERR_BUG);
	loop_free(h.loop);
	assert_string_equal(h.text, "Ac!b!");
	worker_free(NULL);
}

static void end_it(void *data, int r, const struct err *err)
{
	struct task *t = data;

	on_end(data, r, err);
	worker_free(t->home->worker);
	t->home->done = true;
}

static void test_freed_by_the_end_of_a_job(void **state)
{
	struct home h;

	(void)state;
	open_home(&h, 8);
	struct task a = { .home = &h, .name = 'A' }, b = { .home = &h, .name = 'B' };
	assert_int_equal(worker_submit(h.worker, quick, end_it, &a, NULL), 0);
	submit(&h, hold, &b);
	assert_int_equal(loop_run(h.loop, &h.done, NULL), 0);
	assert_int_equal(h.text[0], 'A');
	assert_int_equal(h.text[1], 'b');
	loop_free(h.loop);
}

/* ---- stress: many threads submit to several workers of one loop, some is cancelled ---- */

enum { WORKERS = 3, SUBMITTERS = 3, JOBS_EACH = 3000 };

struct stress {
	struct worker *workers[WORKERS];
	atomic_uint ran, refused, submitters_left;
	unsigned told, cancelled; /* on the loop's thread */
	bool done;
	struct loop *loop;
};

static int count_run(void *data, const struct worker *w, struct err *reterr)
{
	struct stress *s = data;

	(void)w, (void)reterr;
	atomic_fetch_add(&s->ran, 1);
	return 0;
}

static void count_end(void *data, int r, const struct err *err)
{
	struct stress *s = data;

	(void)err;
	s->told++;
	s->cancelled += r == ERR_CANCELLED;
	/* When all are submitted, the workers go one by one, each with ends to tell. */
	if (s->told % 1000 == 0 && !s->done)
		worker_cancel(s->workers[s->told / 1000 % WORKERS]);
}

static void on_submitted(void *data)
{
	struct stress *s = data;

	if (atomic_fetch_sub(&s->submitters_left, 1) == 1)
		s->done = true;
}

static void *submit_many(void *data)
{
	struct stress *s = data;

	for (unsigned i = 0; i < JOBS_EACH; i++) {
		struct worker *w = s->workers[i % WORKERS];
		if (worker_submit(w, count_run, count_end, s, NULL) == ERR_BUSY)
			atomic_fetch_add(&s->refused, 1);
	}
	loop_post(s->loop, on_submitted, s);
	return NULL;
}

static void test_many_threads(void **state)
{
	struct stress s = { .loop = loop_new(), .submitters_left = SUBMITTERS };
	pthread_t ids[SUBMITTERS];

	(void)state;
	for (int i = 0; i < WORKERS; i++)
		assert_non_null(s.workers[i] = worker_new(s.loop, "stress", 50, NULL));
	for (int i = 0; i < SUBMITTERS; i++)
		assert_int_equal(pthread_create(&ids[i], NULL, submit_many, &s), 0);
	assert_int_equal(loop_run(s.loop, &s.done, NULL), 0);
	for (int i = 0; i < SUBMITTERS; i++)
		assert_int_equal(pthread_join(ids[i], NULL), 0);
	for (int i = 0; i < WORKERS; i++)
		worker_free(s.workers[i]);
	/* Each job that was taken came home once, run or cancelled before. */
	assert_int_equal(s.told + s.refused, SUBMITTERS * JOBS_EACH);
	assert_int_equal(s.ran + s.cancelled, s.told);
	loop_free(s.loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_jobs_come_home_in_order),
		cmocka_unit_test(test_full_queue),
		cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_free_tells_every_end),
		cmocka_unit_test(test_freed_by_the_end_of_a_job),
		cmocka_unit_test(test_many_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
