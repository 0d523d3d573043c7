/*
 * A small event loop over poll(): descriptors, timers, signals. One thread. Callbacks may add and
 * remove sources, also their own. Signals are taken through a signalfd; the mask is restored by
 * loop_free().
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

struct loop *loop_new(void);
void loop_free(struct loop *loop); /* NULL is fine; frees all sources */

/* events: POLLIN, POLLOUT. POLLERR and POLLHUP are always reported. */
struct loop_source *loop_add_fd(struct loop *loop, int fd, short events, loop_fd_fn fn, void *data);
void loop_set_events(struct loop_source *source, short events);
/* Once, after ms (0: at the next turn of the loop); the source is gone before fn is called. */
struct loop_source *loop_add_timer(struct loop *loop, int64_t ms, loop_timer_fn fn, void *data);
struct loop_source *loop_add_signal(
	struct loop *loop, int signo, loop_signal_fn fn, void *data, struct err *reterr);
/* Removes and frees; NULL is fine. */
void loop_remove(struct loop *loop, struct loop_source *source);

/* One round: waits for the first event (at most max_wait_ms, negative: for ever), runs what is
 * due. Returns 0, or a negative error. */
int loop_step(struct loop *loop, int64_t max_wait_ms, struct err *reterr) MUST_USE;
/* Rounds until *done is true. */
int loop_run(struct loop *loop, const bool *done, struct err *reterr) MUST_USE;
