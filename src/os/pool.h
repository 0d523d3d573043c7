/*
 * Work on several threads. Threads take no signals: those stay with the thread that called.
 */
#pragma once

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "base/attr.h"
#include "base/err.h"

enum { POOL_THREADS_MAX = 64 };

/* Processors this process may run on, at least 1. */
unsigned pool_cpus(void);

/*
 * Calls fn(data, i, worker, …) once for every i below n, each i on some thread, low ones first;
 * `worker` (below `threads`) names the thread, for state of its own. threads 0: pool_cpus();
 * reading cold files gains from 16 to 32. Returns when all are done. After a failure no new item is
 * begun, and the failure with the lowest i is returned. A system that refuses threads gets the
 * work done on fewer. The caller's thread works too.
 */
typedef int (*pool_fn)(void *data, size_t i, unsigned worker, struct err *reterr);
int pool_each(unsigned threads, size_t n, pool_fn fn, void *data, struct err *reterr) MUST_USE;

/* A condition that thread_wait_ms() waits for: that is not longer when somebody sets the clock. */
void thread_cond_init(pthread_cond_t *cond);
/* pthread_cond_wait(), but no longer than this. */
void thread_wait_ms(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t ms);

/* As pthread_create(), for a thread that takes no signals but SIGBUS, which is its own. Returns 0
 * or an errno number. */
int thread_start(pthread_t *ret_id, void *(*fn)(void *), void *data) MUST_USE;
