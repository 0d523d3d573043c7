#include "os/worker.h"

#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/mem.h"
#include "os/pool.h"

struct job {
	struct job *next;
	worker_fn fn;
	worker_done_fn done;
	void *data;
	int r;
	struct err err;
};

struct queue {
	struct job *first, **end;
	size_t n;
};

struct worker {
	struct loop *loop;
	struct loop_source *expected; /* posts, as long as we live */
	pthread_t id;
	size_t queue_max;
	atomic_bool cancelled; /* the job that runs; written inside the lock */
	pthread_mutex_t lock; /* for all below */
	pthread_cond_t changed; /* there is a job, or no more will come */
	bool stopping;
	struct queue waiting;
	struct queue ended; /* one come_home() is posted for each */
};

static void push(struct queue *q, struct job *job)
{
	job->next = NULL;
	*q->end = job;
	q->end = &job->next;
	q->n++;
}

static struct job *pop(struct queue *q)
{
	struct job *job = q->first;

	if (!job)
		return NULL;
	q->first = job->next;
	if (!q->first)
		q->end = &q->first;
	q->n--;
	return job;
}

/* ---- the end of a job, on the loop's thread ---- */

static bool tell_end(struct worker *w)
{
	pthread_mutex_lock(&w->lock);
	struct job *job = pop(&w->ended);
	pthread_mutex_unlock(&w->lock);
	if (!job)
		return false;
	if (job->done)
		job->done(job->data, job->r, &job->err); /* may free the worker */
	free(job);
	return true;
}

static void come_home(void *data)
{
	(void)tell_end(data);
}

/* Inside the lock, so that ends and their posts have one order. */
static void send_home(struct worker *w, struct job *job)
{
	push(&w->ended, job);
	loop_post(w->loop, come_home, w);
}

/* ---- the thread ---- */

static void *work(void *arg)
{
	struct worker *w = arg;

	pthread_mutex_lock(&w->lock);
	for (;;) {
		struct job *job = pop(&w->waiting);
		if (!job && w->stopping)
			break;
		if (!job) {
			pthread_cond_wait(&w->changed, &w->lock);
			continue;
		}
		atomic_store(&w->cancelled, false);
		pthread_mutex_unlock(&w->lock);
		job->r = job->fn(job->data, w, &job->err);
		pthread_mutex_lock(&w->lock);
		send_home(w, job);
	}
	pthread_mutex_unlock(&w->lock);
	return NULL;
}

struct worker *worker_new(struct loop *loop, const char *name, size_t queue_max, struct err *reterr)
{
	struct loop_source *expected = loop_add_posts(loop, reterr);

	if (!expected)
		return NULL;
	struct worker *w = xcalloc(1, sizeof(*w));
	w->loop = loop;
	w->expected = expected;
	w->queue_max = queue_max;
	w->waiting.end = &w->waiting.first;
	w->ended.end = &w->ended.first;
	pthread_mutex_init(&w->lock, NULL);
	pthread_cond_init(&w->changed, NULL);
	int errnum = thread_start(&w->id, work, w);
	if (errnum == 0) {
		(void)pthread_setname_np(w->id, name);
		return w;
	}
	(void)err_errno(reterr, errnum, "thread %s", name);
	loop_remove(loop, expected);
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	free(w);
	return NULL;
}

int worker_submit(
	struct worker *w, worker_fn fn, worker_done_fn done, void *data, struct err *reterr)
{
	struct job *job = xcalloc(1, sizeof(*job));
	int r = 0;

	job->fn = fn;
	job->done = done;
	job->data = data;
	pthread_mutex_lock(&w->lock);
	if (w->stopping)
		r = err_set(reterr, ERR_CANCELLED, "the worker is at its end");
	else if (w->waiting.n >= w->queue_max)
		r = err_set(reterr, ERR_BUSY, "%zu jobs wait already", w->waiting.n);
	else
		push(&w->waiting, TAKE_PTR(job));
	pthread_cond_signal(&w->changed);
	pthread_mutex_unlock(&w->lock);
	free(job);
	return r;
}

/* ---- before the end ---- */

static void cancel_all(struct worker *w, bool stop)
{
	pthread_mutex_lock(&w->lock);
	atomic_store(&w->cancelled, true);
	for (struct job *job; (job = pop(&w->waiting));) {
		job->r = err_set(&job->err, ERR_CANCELLED, "cancelled before it began");
		send_home(w, job);
	}
	w->stopping = w->stopping || stop;
	pthread_cond_signal(&w->changed);
	pthread_mutex_unlock(&w->lock);
}

void worker_cancel(struct worker *w)
{
	cancel_all(w, false);
}

bool worker_cancelled(const struct worker *w)
{
	return atomic_load(&w->cancelled);
}

void worker_free(struct worker *w)
{
	if (!w)
		return;
	assert(!w->stopping);
	cancel_all(w, true);
	pthread_join(w->id, NULL);
	(void)loop_unpost(w->loop, come_home, w);
	while (tell_end(w))
		;
	loop_remove(w->loop, w->expected);
	pthread_cond_destroy(&w->changed);
	pthread_mutex_destroy(&w->lock);
	free(w);
}
