#include "listen/recogniser.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/mem.h"
#include "os/worker.h"

enum { QUEUE_MAX = 16, KEEP_MS = 60000 };

struct recogniser {
	struct loop *loop;
	const struct recogniser_ops *ops;
	void *data;
	struct worker *worker;
	struct loop_source *unload;
	pthread_mutex_t lock; /* for stt, which the worker makes and frees */
	struct stt *stt;
	bool leaving; /* for stt, too, that is just being made */
};

struct job {
	struct recogniser *r;
	uint64_t id;
	struct endpoint_recording recording; /* none: only the models are wanted */
	struct stt_result result;
};

/* On the worker's thread; NULL lets go of it. */
static void set_stt(struct recogniser *r, struct stt *stt)
{
	pthread_mutex_lock(&r->lock);
	struct stt *before = r->stt;
	r->stt = stt;
	if (stt && r->leaving)
		stt_cancel(stt);
	pthread_mutex_unlock(&r->lock);
	stt_free(before);
}

static int recognise(void *data, const struct worker *worker, struct err *reterr)
{
	struct job *job = data;
	struct stt *stt = NULL;
	int r = job->r->stt ? 0 : job->r->ops->open(job->r->data, &stt, reterr);

	(void)worker;
	if (stt)
		set_stt(job->r, stt);
	if (r < 0 || !job->recording.samples)
		return r;
	r = stt_run(job->r->stt, job->recording.samples, job->recording.n, &job->result, reterr);
	/* An engine that died is begun anew with the next sentence. */
	if (r < 0 && r != ERR_CANCELLED)
		set_stt(job->r, NULL);
	return r;
}

static int let_go(void *data, const struct worker *worker, struct err *reterr)
{
	(void)worker;
	(void)reterr;
	set_stt(data, NULL);
	(void)malloc_trim(0);
	return 0;
}

static void on_idle(void *data)
{
	struct recogniser *r = data;

	r->unload = NULL;
	(void)!worker_submit(r->worker, let_go, NULL, r, NULL);
}

static void on_done(void *data, int result, const struct err *err)
{
	struct job *job = data;
	struct recogniser *r = job->r;

	loop_remove(r->loop, r->unload);
	r->unload = loop_add_timer(r->loop, KEEP_MS, on_idle, r);
	if (job->id || (result < 0 && result != ERR_CANCELLED))
		r->ops->done(r->data, job->id, job->recording.n, result, &job->result, err);
	free(job->recording.samples);
	stt_result_release(&job->result);
	free(job);
}

static void submit(struct recogniser *r, uint64_t id, struct endpoint_recording recording)
{
	struct job *job = xcalloc(1, sizeof(*job));
	struct err err = ERR_INIT;

	*job = (struct job){ .r = r, .id = id, .recording = recording, .result.text = STR_INIT };
	loop_remove(r->loop, TAKE_PTR(r->unload));
	int result = worker_submit(r->worker, recognise, on_done, job, &err);
	if (result < 0)
		on_done(job, result, &err);
}

void recogniser_warm(struct recogniser *r)
{
	submit(r, 0, (struct endpoint_recording){ .samples = NULL });
}

void recogniser_run(struct recogniser *r, uint64_t id, struct endpoint_recording *recording)
{
	submit(r, id, *recording);
	recording->samples = NULL;
}

struct recogniser *recogniser_new(
	struct loop *loop, const struct recogniser_ops *ops, void *data, struct err *reterr)
{
	struct recogniser *r = xcalloc(1, sizeof(*r));

	r->loop = loop;
	r->ops = ops;
	r->data = data;
	r->worker = worker_new(loop, "recogniser", QUEUE_MAX, reterr);
	if (!r->worker) {
		free(r);
		return NULL;
	}
	pthread_mutex_init(&r->lock, NULL);
	return r;
}

void recogniser_free(struct recogniser *r)
{
	if (!r)
		return;
	pthread_mutex_lock(&r->lock);
	r->leaving = true;
	if (r->stt)
		stt_cancel(r->stt);
	pthread_mutex_unlock(&r->lock);
	worker_free(r->worker);
	loop_remove(r->loop, r->unload);
	stt_free(r->stt);
	pthread_mutex_destroy(&r->lock);
	free(r);
}
