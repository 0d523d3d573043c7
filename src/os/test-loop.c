#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "os/loop.h"

/* What callbacks did, in order: one letter each. */
struct trace {
	struct loop *loop;
	struct loop_source *source, *other;
	char text[32];
	size_t n;
	bool done;
	int fd;
};

static void note(struct trace *t, char c)
{
	assert_true(t->n + 1 < sizeof(t->text));
	t->text[t->n++] = c;
	t->text[t->n] = '\0';
}

static void note_a(void *data)
{
	note(data, 'a');
}

static void note_b(void *data)
{
	note(data, 'b');
}

static void note_end(void *data)
{
	struct trace *t = data;

	note(t, '.');
	t->done = true;
}

static void test_timers_in_order(void **state)
{
	struct trace t = { .loop = loop_new() };

	(void)state;
	loop_add_timer(t.loop, 30, note_end, &t);
	loop_add_timer(t.loop, 15, note_b, &t);
	loop_add_timer(t.loop, 0, note_a, &t);
	loop_add_timer(t.loop, 0, note_b, &t);
	loop_add_timer(t.loop, -5, note_a, &t);
	assert_int_equal(loop_run(t.loop, &t.done, NULL), 0);
	assert_string_equal(t.text, "abab.");
	loop_free(t.loop);
}

static void add_again(void *data)
{
	struct trace *t = data;

	note(t, 'x');
	loop_add_timer(t->loop, 0, add_again, t);
}

/* A timer that renews itself must not keep the round from ending. */
static void test_timer_added_by_a_timer(void **state)
{
	struct trace t = { .loop = loop_new() };

	(void)state;
	loop_add_timer(t.loop, 0, add_again, &t);
	assert_int_equal(loop_step(t.loop, -1, NULL), 0);
	assert_string_equal(t.text, "x");
	assert_int_equal(loop_step(t.loop, -1, NULL), 0);
	assert_string_equal(t.text, "xx");
	loop_free(t.loop);
}

static void remove_other(void *data)
{
	struct trace *t = data;

	note(t, 'r');
	loop_remove(t->loop, t->other);
}

static void test_timer_removed_by_a_timer(void **state)
{
	struct trace t = { .loop = loop_new() };

	(void)state;
	loop_add_timer(t.loop, 0, remove_other, &t);
	t.other = loop_add_timer(t.loop, 0, note_b, &t);
	assert_int_equal(loop_step(t.loop, -1, NULL), 0);
	assert_string_equal(t.text, "r");
	loop_remove(t.loop, loop_add_timer(t.loop, 0, note_b, &t));
	assert_int_equal(loop_step(t.loop, 0, NULL), 0);
	assert_string_equal(t.text, "r");
	loop_free(t.loop);
}

static void test_nothing_to_wait_for(void **state)
{
	struct loop *loop = loop_new();
	struct err err = ERR_INIT;
	bool done = false;

	(void)state;
	assert_int_equal(loop_run(loop, &done, &err), ERR_BUG);
	assert_int_equal(loop_step(loop, 0, &err), 0);
	assert_int_equal(loop_step(loop, 5, &err), 0);
	loop_remove(loop, NULL);
	loop_free(loop);
	loop_free(NULL);
}

/* ---- descriptors ---- */

static void on_fd_remove_both(void *data, short revents)
{
	struct trace *t = data;

	note(t, revents & POLLIN ? 'i' : '?');
	loop_remove(t->loop, t->source);
	loop_remove(t->loop, t->other);
	loop_add_timer(t->loop, 0, note_end, t);
}

static void test_removed_inside_a_callback(void **state)
{
	int a[2], b[2];
	struct trace t = { .loop = loop_new() };

	(void)state;
	assert_int_equal(pipe2(a, O_CLOEXEC) + pipe2(b, O_CLOEXEC), 0);
	assert_int_equal(write(a[1], "x", 1) + write(b[1], "x", 1), 2);
	/* Both are readable in the same round; whoever comes first removes both. */
	t.source = loop_add_fd(t.loop, a[0], POLLIN, on_fd_remove_both, &t);
	t.other = loop_add_fd(t.loop, b[0], POLLIN, on_fd_remove_both, &t);
	assert_int_equal(loop_run(t.loop, &t.done, NULL), 0);
	assert_string_equal(t.text, "i.");
	loop_free(t.loop);
	for (int i = 0; i < 2; i++)
		(void)(close(a[i]) + close(b[i]));
}

static void on_fd(void *data, short revents)
{
	struct trace *t = data;

	if (revents & POLLIN) {
		char byte;
		note(t, read(t->fd, &byte, 1) == 1 ? byte : 'E');
	} else if (revents & POLLHUP) {
		note(t, 'H');
		loop_remove(t->loop, t->source);
		t->done = true;
	}
}

static void test_events(void **state)
{
	int ends[2];
	struct trace t = { .loop = loop_new() };

	(void)state;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	t.fd = ends[0];
	t.source = loop_add_fd(t.loop, ends[0], 0, on_fd, &t);
	assert_int_equal(write(ends[1], "1", 1), 1);
	assert_int_equal(loop_step(t.loop, 0, NULL), 0);
	assert_string_equal(t.text, "");
	loop_remove(t.loop, t.source);
	t.source = loop_add_fd(t.loop, ends[0], POLLIN, on_fd, &t);
	assert_int_equal(loop_step(t.loop, -1, NULL), 0);
	assert_string_equal(t.text, "1");
	assert_int_equal(close(ends[1]), 0);
	assert_int_equal(loop_run(t.loop, &t.done, NULL), 0);
	assert_string_equal(t.text, "1H");
	loop_free(t.loop);
	(void)close(ends[0]);
}

static void on_timer_nest(void *data)
{
	struct trace *t = data;

	note(t, '(');
	assert_int_equal(loop_step(t->loop, 0, NULL), 0);
	note(t, ')');
}

static void test_round_inside_a_callback(void **state)
{
	struct trace t = { .loop = loop_new() };

	(void)state;
	loop_add_timer(t.loop, 0, on_timer_nest, &t);
	loop_add_timer(t.loop, 0, note_a, &t);
	assert_int_equal(loop_step(t.loop, -1, NULL), 0);
	assert_string_equal(t.text, "(a)");
	loop_free(t.loop);
}

/* ---- signals ---- */

static void on_signal(void *data, int signo)
{
	note(data, signo == SIGUSR1 ? '1' : signo == SIGUSR2 ? '2' : '?');
}

static void on_signal_once(void *data, int signo)
{
	struct trace *t = data;

	on_signal(t, signo);
	loop_remove(t->loop, t->source);
}

static bool is_blocked(int signo)
{
	sigset_t set;

	assert_int_equal(pthread_sigmask(SIG_BLOCK, NULL, &set), 0);
	return sigismember(&set, signo) == 1;
}

static void test_signals(void **state)
{
	struct err err = ERR_INIT;
	struct trace t = { .loop = loop_new() };

	(void)state;
	t.source = loop_add_signal(t.loop, SIGUSR1, on_signal_once, &t, &err);
	t.other = loop_add_signal(t.loop, SIGUSR1, on_signal, &t, &err);
	assert_non_null(t.source);
	assert_non_null(t.other);
	assert_non_null(loop_add_signal(t.loop, SIGUSR2, on_signal, &t, &err));
	assert_int_equal(raise(SIGUSR1) + raise(SIGUSR2), 0);
	assert_int_equal(loop_step(t.loop, -1, &err), 0);
	assert_string_equal(t.text, "112");
	assert_true(is_blocked(SIGUSR1));
	assert_int_equal(raise(SIGUSR1), 0);
	assert_int_equal(loop_step(t.loop, -1, &err), 0);
	assert_string_equal(t.text, "1121");
	loop_remove(t.loop, t.other);
	assert_false(is_blocked(SIGUSR1));
	assert_true(is_blocked(SIGUSR2));
	loop_free(t.loop);
	assert_false(is_blocked(SIGUSR2));
}

static void test_signal_blocked_before(void **state)
{
	sigset_t set, old;
	struct loop *loop = loop_new();

	(void)state;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	assert_int_equal(pthread_sigmask(SIG_BLOCK, &set, &old), 0);
	assert_non_null(loop_add_signal(loop, SIGUSR1, on_signal, NULL, NULL));
	loop_free(loop);
	assert_true(is_blocked(SIGUSR1));
	assert_int_equal(pthread_sigmask(SIG_SETMASK, &old, NULL), 0);
}

static void test_no_such_signal(void **state)
{
	struct err err = ERR_INIT;
	struct loop *loop = loop_new();

	(void)state;
	assert_null(loop_add_signal(loop, 9999, on_signal, NULL, &err));
	assert_true(err.code < 0);
	loop_free(loop);
}

/* ---- posts ---- */

static void post_again(void *data)
{
	struct trace *t = data;

	note(t, 'p');
	loop_post(t->loop, note_end, t);
}

static void test_posts_in_order(void **state)
{
	struct trace t = { .loop = loop_new() };

	(void)state;
	t.source = loop_add_posts(t.loop, NULL);
	assert_non_null(t.source);
	loop_post(t.loop, note_a, &t);
	loop_post(t.loop, post_again, &t);
	loop_post(t.loop, note_b, &t);
	assert_int_equal(loop_step(t.loop, -1, NULL), 0);
	assert_string_equal(t.text, "apb");
	assert_int_equal(loop_run(t.loop, &t.done, NULL), 0);
	assert_string_equal(t.text, "apb.");
	loop_free(t.loop);
}

/* Nobody expects more, but what is there runs before the loop says that it has nothing. */
static void test_posts_left_without_a_source(void **state)
{
	struct trace t = { .loop = loop_new() };

	(void)state;
	loop_remove(t.loop, loop_add_posts(t.loop, NULL));
	loop_post(t.loop, note_a, &t);
	assert_int_equal(loop_step(t.loop, -1, NULL), 0);
	assert_string_equal(t.text, "a");
	assert_int_equal(loop_step(t.loop, -1, NULL), ERR_BUG);
	loop_free(t.loop);
}

static void test_posts_taken_back(void **state)
{
	struct trace t = { .loop = loop_new() }, other = { .loop = t.loop };

	(void)state;
	assert_non_null(loop_add_posts(t.loop, NULL));
	assert_int_equal(loop_unpost(t.loop, note_a, &t), 0);
	loop_post(t.loop, note_a, &t);
	loop_post(t.loop, note_b, &t);
	loop_post(t.loop, note_a, &other);
	loop_post(t.loop, note_a, &t);
	assert_int_equal(loop_unpost(t.loop, note_a, &t), 2);
	loop_post(t.loop, note_end, &t);
	assert_int_equal(loop_run(t.loop, &t.done, NULL), 0);
	assert_string_equal(t.text, "b.");
	assert_string_equal(other.text, "a");
	/* The loop takes back what is left: neither called nor lost. */
	loop_post(t.loop, note_a, &t);
	loop_free(t.loop);
	assert_string_equal(t.text, "b.");
}

/* The next post is not lost in a round that a post runs, and their order stays. */
static void test_round_inside_a_post(void **state)
{
	struct trace t = { .loop = loop_new() };

	(void)state;
	assert_non_null(loop_add_posts(t.loop, NULL));
	loop_post(t.loop, on_timer_nest, &t);
	loop_post(t.loop, note_a, &t);
	loop_post(t.loop, note_b, &t);
	assert_int_equal(loop_step(t.loop, -1, NULL), 0);
	assert_string_equal(t.text, "(ab)");
	loop_free(t.loop);
}

static void *post_later(void *data)
{
	struct trace *t = data;

	(void)poll(NULL, 0, 30);
	loop_post(t->loop, note_end, t);
	return NULL;
}

static void test_post_wakes_a_sleeping_loop(void **state)
{
	struct trace t = { .loop = loop_new() };
	pthread_t id;

	(void)state;
	assert_non_null(loop_add_posts(t.loop, NULL));
	assert_int_equal(pthread_create(&id, NULL, post_later, &t), 0);
	assert_int_equal(loop_run(t.loop, &t.done, NULL), 0);
	assert_string_equal(t.text, ".");
	assert_int_equal(pthread_join(id, NULL), 0);
	loop_free(t.loop);
}

enum { POSTERS = 4, POSTS_EACH = 20000 };

struct poster {
	struct loop *loop;
	unsigned *left;
	bool *done;
	unsigned seen; /* on the loop's thread */
	pthread_t id;
};

struct letter {
	struct poster *from;
	unsigned number;
};

static void on_letter(void *data)
{
	struct letter *l = data;

	assert_int_equal(l->number, l->from->seen++);
	if (--*l->from->left == 0)
		*l->from->done = true;
	free(l);
}

static void *post_many(void *data)
{
	struct poster *p = data;

	for (unsigned i = 0; i < POSTS_EACH; i++) {
		struct letter *l = malloc(sizeof(*l));
		*l = (struct letter){ p, i };
		loop_post(p->loop, on_letter, l);
		if (i % 512 == 0) /* lets the loop fall asleep now and then */
			(void)poll(NULL, 0, 1);
	}
	return NULL;
}

static void test_posts_of_many_threads(void **state)
{
	struct loop *loop = loop_new();
	struct poster posters[POSTERS];
	unsigned left = POSTERS * POSTS_EACH;
	bool done = false;

	(void)state;
	assert_non_null(loop_add_posts(loop, NULL));
	for (int i = 0; i < POSTERS; i++) {
		posters[i] = (struct poster){ .loop = loop, .left = &left, .done = &done };
		assert_int_equal(pthread_create(&posters[i].id, NULL, post_many, &posters[i]), 0);
	}
	assert_int_equal(loop_run(loop, &done, NULL), 0);
	for (int i = 0; i < POSTERS; i++) {
		assert_int_equal(pthread_join(posters[i].id, NULL), 0);
		assert_int_equal(posters[i].seen, POSTS_EACH);
	}
	loop_free(loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_timers_in_order),
		cmocka_unit_test(test_timer_added_by_a_timer),
		cmocka_unit_test(test_timer_removed_by_a_timer),
		cmocka_unit_test(test_nothing_to_wait_for),
		cmocka_unit_test(test_removed_inside_a_callback),
		cmocka_unit_test(test_events),
		cmocka_unit_test(test_round_inside_a_callback),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_signal_blocked_before),
		cmocka_unit_test(test_no_such_signal),
		cmocka_unit_test(test_posts_in_order),
		cmocka_unit_test(test_posts_left_without_a_source),
		cmocka_unit_test(test_posts_taken_back),
		cmocka_unit_test(test_round_inside_a_post),
		cmocka_unit_test(test_post_wakes_a_sleeping_loop),
		cmocka_unit_test(test_posts_of_many_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
