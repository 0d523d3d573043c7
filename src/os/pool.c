#include "os/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>

struct pool {
	pool_fn fn;
	void *data;
	size_t n;
	pthread_mutex_t lock; /* for all below */
	size_t next;
	size_t failed; /* item of the failure that is kept */
	int result;
	struct err err;
};

struct member {
	struct pool *pool;
	unsigned number;
	pthread_t id;
};

unsigned pool_cpus(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return 1;
	int n = CPU_COUNT(&set);
	return n > 0 ? (unsigned)n : 1;
}

int thread_start(pthread_t *ret_id, void *(*fn)(void *), void *data)
{
	sigset_t all, old;

	/* A thread inherits the mask. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int errnum = pthread_create(ret_id, NULL, fn, data);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return errnum;
}

static bool take_item(struct pool *p, size_t *ret)
{
	pthread_mutex_lock(&p->lock);
	bool taken = p->result == 0 && p->next < p->n;
	if (taken)
		*ret = p->next++;
	pthread_mutex_unlock(&p->lock);
	return taken;
}

/* Items are begun in order, so the lowest failure is among those under way at the first one. */
static void keep_failure(struct pool *p, size_t item, int result, const struct err *err)
{
	pthread_mutex_lock(&p->lock);
	if (p->result == 0 || item < p->failed) {
		p->result = result;
		p->failed = item;
		p->err = *err;
	}
	pthread_mutex_unlock(&p->lock);
}

static void *work(void *arg)
{
	const struct member *m = arg;
	size_t item;

	while (take_item(m->pool, &item)) {
		struct err err = ERR_INIT;
		int r = m->pool->fn(m->pool->data, item, m->number, &err);
		if (r < 0)
			keep_failure(m->pool, item, r, &err);
	}
	return NULL;
}

int pool_each(unsigned threads, size_t n, pool_fn fn, void *data, struct err *reterr)
{
	struct pool p = { .fn = fn, .data = data, .n = n };
	struct member members[POOL_THREADS_MAX];
	unsigned started = 1; /* members[0] is the caller's thread */

	if (n == 0)
		return 0;
	if (threads == 0)
		threads = pool_cpus();
	if (threads > POOL_THREADS_MAX)
		threads = POOL_THREADS_MAX;
	if (threads > n)
		threads = (unsigned)n;
	pthread_mutex_init(&p.lock, NULL);
	for (; started < threads; started++) {
		struct member *m = &members[started];
		*m = (struct member){ .pool = &p, .number = started };
		if (thread_start(&m->id, work, m) != 0)
			break;
	}
	members[0] = (struct member){ .pool = &p, .number = 0 };
	(void)work(&members[0]);
	for (unsigned i = 1; i < started; i++)
		pthread_join(members[i].id, NULL);
	pthread_mutex_destroy(&p.lock);
	if (p.result < 0 && reterr)
		*reterr = p.err;
	return p.result;
}
