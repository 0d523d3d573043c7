/*
 * One thread that lives beside an event loop, does one job after another in the order they came,
 * and sends each home: its end is told on the loop's thread. For what is too slow for the loop and
 * keeps something between two jobs, a model or a database; work that is to be done at once on all
 * processors is pool_each()'s. The thread takes no signals.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "os/loop.h"

struct worker;

/* The job, on the worker's thread. It may loop_post() what it has so far: that arrives before its
 * end does. One that takes long asks worker_cancelled() now and then and returns ERR_CANCELLED. */
typedef int (*worker_fn)(void *data, const struct worker *worker, struct err *reterr);
/* Its end, on the loop's thread: what worker_fn returned, or ERR_CANCELLED without having been
 * run. err is set when r is negative. It may submit, cancel and free the worker. */
typedef void (*worker_done_fn)(void *data, int r, const struct err *err);

/*
 * `name` (up to 15 bytes) is what the system calls the thread; at most queue_max jobs wait beside
 * the one that runs. The loop has something to wait for as long as the worker lives, and must
 * outlive it. NULL with reterr set when the system gives no thread.
 */
struct worker *worker_new(
	struct loop *loop, const char *name, size_t queue_max, struct err *reterr) MUST_USE;

/*
 * Cancels everything, waits for the job that runs to return, and tells the end of each that has not
 * been told yet, before it returns; nothing is called afterwards. On the loop's thread; NULL is
 * fine.
 */
void worker_free(struct worker *worker);

/*
 * Queues a job, from any thread. `done` (which may be NULL) is called exactly once for each that
 * was taken. It does not block: ERR_BUSY when the queue is full, for the caller to drop the job or
 * to try again at the end of another.
 */
int worker_submit(struct worker *worker, worker_fn fn, worker_done_fn done, void *data,
	struct err *reterr) MUST_USE;

/* Jobs that wait come home with ERR_CANCELLED; the one that runs is asked to end. Those submitted
 * afterwards are not meant. On the loop's thread. */
void worker_cancel(struct worker *worker);

/* For the job that runs: whether it has been cancelled. */
bool worker_cancelled(const struct worker *worker);
