#include "os/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>

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
	cpu_set_t cpus; /* that it may go on on; none: those it was started with */
};

unsigned pool_cpus(void)
{
	cpu_set_t set;

	if (sched_getaffinity(0, sizeof(set), &set) < 0)
		return 1;
	int n = CPU_COUNT(&set);
	return n > 0 ? (unsigned)n : 1;
}

static int thread_start_as(
	pthread_t *ret_id, const pthread_attr_t *attr, void *(*fn)(void *), void *data)
{
	sigset_t all, old;

	/* A thread inherits the mask. What it is to blame for itself would kill us if it were
	 * blocked, whatever handler there is. */
	sigfillset(&all);
	sigdelset(&all, SIGBUS);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	int errnum = pthread_create(ret_id, attr, fn, data);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return errnum;
}

int thread_start(pthread_t *ret_id, void *(*fn)(void *), void *data)
{
	return thread_start_as(ret_id, NULL, fn, data);
}

void thread_cond_init(pthread_cond_t *cond)
{
	pthread_condattr_t clock;

	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(cond, &clock);
	pthread_condattr_destroy(&clock);
}

void thread_wait_ms(pthread_cond_t *cond, pthread_mutex_t *lock, int64_t ms)
{
	struct timespec until;

	(void)clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += ms % 1000 * 1000000;
	if (until.tv_nsec >= 1000000000) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000;
	}
	(void)pthread_cond_timedwait(cond, lock, &until);
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

	if (CPU_COUNT(&m->cpus) > 0)
		(void)sched_setaffinity(0, sizeof(m->cpus), &m->cpus);
	while (take_item(m->pool, &item)) {
		struct err err = ERR_INIT;
		int r = m->pool->fn(m->pool->data, item, m->number, &err);
		if (r < 0)
			keep_failure(m->pool, item, r, &err);
	}
	return NULL;
}

/* On another processor than this one: left alone, the system often starts a thread on the one of
 * who starts it, where it waits for some milliseconds until it is moved, and many a pool is done by
 * then. Once it runs it goes where the system likes. */
static int start_member(struct member *m)
{
	cpu_set_t others;
	int here = sched_getcpu();

	CPU_ZERO(&m->cpus);
	if (here < 0 || here >= CPU_SETSIZE || sched_getaffinity(0, sizeof(others), &others) < 0)
		return thread_start(&m->id, work, m);
	m->cpus = others;
	CPU_CLR((size_t)here, &others);
	pthread_attr_t attr;
	if (CPU_COUNT(&others) == 0 || pthread_attr_init(&attr) != 0)
		return thread_start(&m->id, work, m);
	int r = pthread_attr_setaffinity_np(&attr, sizeof(others), &others);
	if (r == 0)
		r = thread_start_as(&m->id, &attr, work, m);
	(void)pthread_attr_destroy(&attr);
	return r == 0 ? 0 : thread_start(&m->id, work, m);
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
		if (start_member(m) != 0)
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
