#include "listen/recogniser.h"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/mem.h"
#include "os/worker.h"

enum { QUEUE_MAX = 16, KEEP_MS = 30000 };

struct recogniser {
	struct loop *loop;
	const struct recogniser_ops *ops;
	void *data;
	struct worker *worker;
	struct loop_source *unload;
	pthread_mutex_t lock; /* for stt, which the worker makes and frees */
	struct stt *stt;
	bool leaving; /* for stt, too, that is just being made */
	_Atomic uint64_t newest; /* of the jobs: its number */
	uint64_t last_ahead; /* of those that are ahead */
	bool is_ahead; /* one of them has not come back: the next waits for it */
	struct endpoint_recording paused; /* … the last of them; no samples: none */
	/* The worker's: what came of one ahead, and of which; 0: none. */
	struct stt_result ahead;
	uint64_t ahead_number;
};

struct job {
	struct recogniser *r;
	uint64_t id; /* 0: nobody is told */
	uint64_t number;
	uint64_t ahead; /* the job that has its text already; its own: it is ahead; 0: none */
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
	struct recogniser *of = job->r;
	struct stt *stt = NULL;
	bool ahead = job->ahead == job->number;

	(void)worker;
	if (!ahead && job->ahead && job->ahead == of->ahead_number) {
		job->result = of->ahead;
		of->ahead = (struct stt_result){ .text = STR_INIT };
		of->ahead_number = 0;
		return 0;
	}
	if (ahead && atomic_load(&of->newest) != job->number)
		return 0; /* somebody spoke on since */
	int r = of->stt ? 0 : of->ops->open(of->data, &stt, reterr);
	if (stt)
		set_stt(of, stt);
	if (r < 0 || !job->recording.samples)
		return r;
	of->ahead_number = 0;
	r = stt_run(of->stt, job->recording.samples, job->recording.n,
		ahead ? &of->ahead : &job->result, reterr);
	of->ahead_number = ahead && r >= 0 ? job->number : 0;
	/* An engine that died is begun anew with the next sentence. */
	if (r < 0 && r != ERR_CANCELLED)
		set_stt(of, NULL);
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
	bool untold = result >= 0 || result == ERR_CANCELLED || job->ahead;
	if (job->id || !untold)
		r->ops->done(r->data, job->id, job->recording.n, result, &job->result, err);
	if (job->ahead == job->number) {
		r->is_ahead = false;
		if (r->paused.samples)
			recogniser_ahead(r, &r->paused);
	}
	free(job->recording.samples);
	stt_result_release(&job->result);
	free(job);
}

static void submit(
	struct recogniser *r, uint64_t id, struct endpoint_recording recording, bool ahead)
{
	struct job *job = xcalloc(1, sizeof(*job));
	struct err err = ERR_INIT;

	*job = (struct job){ .r = r,
		.id = id,
		.number = ++r->newest,
		.ahead = recording.as_paused ? r->last_ahead : 0,
		.recording = recording,
		.result.text = STR_INIT };
	if (ahead)
		job->ahead = r->last_ahead = job->number;
	loop_remove(r->loop, TAKE_PTR(r->unload));
	int result = worker_submit(r->worker, recognise, on_done, job, &err);
	if (result < 0)
		on_done(job, result, &err);
}

void recogniser_warm(struct recogniser *r)
{
	submit(r, 0, (struct endpoint_recording){ .samples = NULL }, false);
}

void recogniser_ahead(struct recogniser *r, struct endpoint_recording *recording)
{
	struct endpoint_recording taken = *recording;

	recording->samples = NULL;
	if (r->is_ahead) {
		/* What is ahead of it is of no use any more, and its text none of the recording's.
		 */
		free(r->paused.samples);
		r->paused = taken;
		r->newest++;
		r->last_ahead = 0;
		return;
	}
	r->is_ahead = true;
	submit(r, 0, taken, true);
}

void recogniser_run(struct recogniser *r, uint64_t id, struct endpoint_recording *recording)
{
	free(TAKE_PTR(r->paused.samples));
	submit(r, id, *recording, false);
	recording->samples = NULL;
}

struct recogniser *recogniser_new(
	struct loop *loop, const struct recogniser_ops *ops, void *data, struct err *reterr)
{
	struct recogniser *r = xcalloc(1, sizeof(*r));

	r->loop = loop;
	r->ahead.text = (struct str)STR_INIT;
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
	free(TAKE_PTR(r->paused.samples));
	pthread_mutex_lock(&r->lock);
	r->leaving = true;
	if (r->stt)
		stt_cancel(r->stt);
	pthread_mutex_unlock(&r->lock);
	worker_free(r->worker);
	loop_remove(r->loop, r->unload);
	stt_free(r->stt);
	stt_result_release(&r->ahead);
	pthread_mutex_destroy(&r->lock);
	free(r);
}
