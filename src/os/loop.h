/*
 * A small event loop over poll(): descriptors, timers, signals, and what other threads post. All
 * callbacks run on one thread, the one that runs the rounds, and only loop_post() may be called
 * from another. Callbacks may add and remove sources, also their own, and may run a round
 * themselves. Signals are taken through a signalfd: they are blocked in the calling thread while a
 * source asks for them (threads started before must block them too), and a pending one is delivered
 * as usual after the source is gone.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct loop;
struct loop_source; /* owned by the loop */

typedef void (*loop_fd_fn)(void *data, short revents);
typedef void (*loop_timer_fn)(void *data);
typedef void (*loop_signal_fn)(void *data, int signo);
typedef void (*loop_post_fn)(void *data);

struct loop *loop_new(void);
void loop_free(struct loop *loop); /* NULL is fine; frees all sources */

/* events: POLLIN, POLLOUT. POLLERR, POLLHUP and POLLNVAL are always reported, also with no events
 * asked for: who does not want to hear of the end removes the source. Remove before closing fd. */
struct loop_source *loop_add_fd(struct loop *loop, int fd, short events, loop_fd_fn fn, void *data);
/* Once, after ms (0: at the next turn of the loop); the source is gone before fn is called. */
struct loop_source *loop_add_timer(struct loop *loop, int64_t ms, loop_timer_fn fn, void *data);
/* All sources of a signal are told. NULL with reterr set when it cannot be taken. */
struct loop_source *loop_add_signal(
	struct loop *loop, int signo, loop_signal_fn fn, void *data, struct err *reterr);
/* Each of them, or an error; what was added before that stays. */
int loop_add_signals(struct loop *loop, const int *signals, size_t n, loop_signal_fn fn, void *data,
	struct err *reterr) MUST_USE;
/* Says that posts are expected: until it is removed, the loop has something to wait for. NULL with
 * reterr set when it cannot be had, which only the first of a loop may meet. */
struct loop_source *loop_add_posts(struct loop *loop, struct err *reterr);
/* Removes and frees; NULL is fine. */
void loop_remove(struct loop *loop, struct loop_source *source);

/* One round: waits for the first event (at most max_wait_ms, negative: for ever), runs what is
 * due. Returns 0, or a negative error. */
int loop_step(struct loop *loop, int64_t max_wait_ms, struct err *reterr) MUST_USE;
/* Rounds until *done is true. With no source left, which nothing could ever end, ERR_BUG. */
int loop_run(struct loop *loop, const bool *done, struct err *reterr) MUST_USE;

/*
 * From any thread, after a first loop_add_posts(): fn(data) is called on the loop's thread in its
 * next round, which a sleeping one begins at once. What one thread posts runs in that order. A post
 * made by a callback waits for the round after. It never blocks, and the queue has no limit: who
 * posts faster than the loop works off counts what is under way (os/worker.h does). The loop must
 * live until the call has returned: threads are ended first.
 */
void loop_post(struct loop *loop, loop_post_fn fn, void *data);
/* Takes back the posts of fn and data that have not run; how many. On the loop's thread.
 * loop_free() takes back all, and nobody is told: what their data needs is for its owner to do. */
size_t loop_unpost(struct loop *loop, loop_post_fn fn, const void *data);
