/*
 * A file is cut into ranges of `chunk` bytes; a line belongs to the range that holds the newline
 * before it. Whoever takes a range first looks behind it for the end of its last line, which is
 * where the next range begins, and then reads what lies before: so one thread waits for another
 * only for the length of a line, and nothing is read twice but a few bytes behind that.
 *
 * Ranges lie in a ring of slots: range i in slot i modulo their number, and no range is begun
 * before its slot is free. That bounds the memory and keeps the order. All threads are alike, the
 * caller's among them: each takes the next task there is, be it a range of another, and sleeps only
 * when there is none. So no more threads than processors are needed, and few switches between them.
 */
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "json/jsonl-read.h"
#include "json/jsonl.h"

enum {
	SLOTS_PER_THREAD = 2,
	KEEP_CHUNKS = 4, /* a larger buffer is given back after use */
	/* Read at once behind a range for the end of its last line, more where that is a long one;
	 * what lies behind it is read again. */
	STEP = 16 * 1024,
	STEPS_MOST = 128 * 1024,
};

enum stage {
	STAGE_FREE,
	STAGE_BUSY, /* somebody works on it */
	STAGE_WORKED, /* waits for its turn to join */
	STAGE_READY, /* waits for its turn at the sink */
};

struct slot {
	char *buf;
	size_t cap;
	struct jsonl_chunk chunk;
	uint64_t end; /* of its lines in the file */
	struct str out;
	void *own;
	int result;
	struct err err;
	enum stage stage;
};

struct job {
	int fd;
	uint64_t offset, end;
	uint64_t low; /* where the first range would begin if it began at a cache line */
	size_t chunk, align, line_max;
	const struct jsonl_map_ops *ops;
	void *data;
	uint64_t ranges;

	struct slot *slots;
	size_t n_slots;
	pthread_mutex_t lock; /* for all below and slot.stage */
	pthread_cond_t more; /* a task for a thread that found none, or the end */
	unsigned idle; /* threads that wait for it */
	uint64_t next; /* range to be begun */
	uint64_t start; /* … and where its lines begin, unless cutting */
	bool cutting; /* somebody looks for that */
	uint64_t joined; /* ranges whose join is over */
	uint64_t sunk; /* ranges the sink has taken */
	bool joining, sinking; /* one at a time */
	int result; /* of the sink; negative ends the run */
	struct err *reterr;
};

/* ---- reading one range ---- */

/* Appends to the slot's buffer until it holds `want` bytes from `from` on, or the file ends. */
static int read_to(const struct job *job, struct slot *s, uint64_t from, size_t *have, size_t want)
{
	if (want > s->cap) {
		size_t more = s->cap + s->cap / 2;
		s->cap = want > more ? want : more;
		s->buf = jsonl_buffer(s->buf, *have, s->cap);
	}
	while (*have < want) {
		ssize_t got = jsonl_pread(job->fd, s->buf + *have, want - *have, from + *have);
		if (got < 0)
			return err_errno(&s->err, errno, "read");
		if (got == 0)
			break;
		*have += (size_t)got;
	}
	return 0;
}

/* Where the line that goes on at `from`, and is too long to be held, ends. It is read over what the
 * buffer has of it, from `line` on. */
static int find_end(
	const struct job *job, struct slot *s, size_t line, uint64_t from, uint64_t *ret_end)
{
	char *buf = s->buf + line;

	while (from < job->end) {
		uint64_t left = job->end - from;
		size_t want = left < s->cap - line ? (size_t)left : s->cap - line;
		ssize_t got = jsonl_pread(job->fd, buf, want, from);
		if (got < 0)
			return err_errno(&s->err, errno, "read");
		if (got == 0)
			break;
		const char *hit = memchr(buf, '\n', (size_t)got);
		if (hit) {
			*ret_end = from + (size_t)(hit - buf) + 1;
			return 0;
		}
		from += (size_t)got;
	}
	*ret_end = from;
	return 0;
}

/*
 * A range, [from, high) of the file to the beginning of the buffer, whose first line begins at
 * `start`: `from` but for the bytes to a cache line. Behind it in the buffer comes what the range's
 * last line has beyond it.
 */
struct range {
	uint64_t start, from, high;
	size_t stop; /* where that line ends in the buffer; 0: it is too long to be held */
};

static struct range range_at(const struct job *job, uint64_t index, uint64_t start)
{
	uint64_t low = job->low + index * job->chunk;

	return (struct range){
		.start = start,
		.from = start - start % job->align,
		.high = job->end - low > job->chunk ? low + job->chunk : job->end,
	};
}

/* Finds the end of the range's lines. */
static int cut_range(const struct job *job, struct slot *s, struct range *range)
{
	s->chunk = (struct jsonl_chunk){ .offset = range->start, .own = &s->own };
	s->end = range->start;
	if (range->start > range->high) /* the line before it goes beyond it */
		return 0;
	size_t inner = (size_t)(range->high - range->from), have = inner;
	if (s->cap < inner + STEP) {
		s->cap = inner + STEP;
		s->buf = jsonl_buffer(s->buf, 0, s->cap);
	}
	while (have - inner <= job->line_max) {
		uint64_t left = job->end - (range->from + have);
		size_t before = have, step = have - inner < STEPS_MOST ? have - inner : STEPS_MOST;
		step = step > STEP ? step : STEP;
		int r = read_to(
			job, s, range->from, &have, have + (left < step ? (size_t)left : step));
		if (r < 0)
			return r;
		const char *hit = memchr(s->buf + before, '\n', have - before);
		if (hit || have == before) {
			range->stop = hit ? (size_t)(hit - s->buf) + 1 : have;
			s->end = range->from + range->stop;
			return 0;
		}
	}
	return find_end(job, s, inner, range->from + have, &s->end);
}

/* Reads the range itself. A last line that is too long is left out. */
static int load_range(const struct job *job, struct slot *s, const struct range *range)
{
	if (s->end == range->start)
		return 0;
	size_t first = (size_t)(range->start - range->from), have = 0, stop = range->stop;
	size_t inner = (size_t)(range->high - range->from);
	int r = read_to(job, s, range->from, &have, inner);
	if (r < 0)
		return r;
	if (have < inner) /* the file has become shorter */
		stop = have;
	if (have < first)
		return 0;
	const char *hit = have > first ? memrchr(s->buf + first, '\n', have - first) : NULL;
	size_t line = hit ? (size_t)(hit - s->buf) + 1 : first;
	bool terminated = stop > line && s->buf[stop - 1] == '\n';
	if (stop == 0 || stop - terminated - line > job->line_max) {
		s->chunk.skipped = s->end - (range->from + line);
		stop = line;
	}
	s->chunk.bytes = sv_make(s->buf + first, stop - first);
	return 0;
}

/* ---- one range from file to sink ---- */

static void drop_own(const struct job *job, struct slot *s)
{
	if (s->own && job->ops->drop)
		job->ops->drop(job->data, s->own);
	s->own = NULL;
}

/* A range that is empty or has failed takes its turns too: others wait behind it. */
static bool goes_on(const struct slot *s)
{
	return s->result == 0 && (s->chunk.bytes.n > 0 || s->chunk.skipped > 0);
}

static void finish_range(const struct job *job, struct slot *s)
{
	if (job->ops->finish && goes_on(s))
		s->result = job->ops->finish(job->data, &s->chunk, &s->out, &s->err);
}

/* ---- who does what ---- */

enum task { TASK_NONE, TASK_JOIN, TASK_SINK, TASK_BEGIN };

static struct slot *slot_of(const struct job *job, uint64_t range)
{
	return &job->slots[range % job->n_slots];
}

/* What was begun goes before what is new; a join before all: its lines are still at hand. */
static enum task find_task(const struct job *job)
{
	if (!job->joining && slot_of(job, job->joined)->stage == STAGE_WORKED)
		return TASK_JOIN;
	if (!job->sinking && slot_of(job, job->sunk)->stage == STAGE_READY)
		return TASK_SINK;
	if (!job->cutting && job->next < job->ranges &&
		slot_of(job, job->next)->stage == STAGE_FREE)
		return TASK_BEGIN;
	return TASK_NONE;
}

/* Another thread is woken only for a task that is left over: what a thread makes possible it
 * mostly does itself. */
static void unlock(struct job *job)
{
	if (job->idle > 0 && find_task(job) != TASK_NONE)
		pthread_cond_signal(&job->more);
	pthread_mutex_unlock(&job->lock);
}

/* Each of these begins and ends with the lock, and works without. */

static void do_begin(struct job *job)
{
	struct slot *s = slot_of(job, job->next);
	struct range range = range_at(job, job->next, job->start);

	s->stage = STAGE_BUSY;
	job->cutting = true;
	unlock(job);
	s->result = cut_range(job, s, &range);
	pthread_mutex_lock(&job->lock);
	job->cutting = false;
	job->next++;
	job->start = s->result < 0 ? job->end : s->end;
	unlock(job);
	if (s->result == 0)
		s->result = load_range(job, s, &range);
	if (goes_on(s))
		s->result = job->ops->work(job->data, &s->chunk, &s->out, &s->err);
	if (!job->ops->join)
		finish_range(job, s);
	pthread_mutex_lock(&job->lock);
	s->stage = job->ops->join ? STAGE_WORKED : STAGE_READY;
}

static void do_join(struct job *job)
{
	struct slot *s = slot_of(job, job->joined);

	s->stage = STAGE_BUSY;
	job->joining = true;
	unlock(job);
	if (goes_on(s))
		s->result = job->ops->join(job->data, &s->chunk, &s->err);
	pthread_mutex_lock(&job->lock);
	job->joining = false;
	job->joined++;
	unlock(job);
	finish_range(job, s);
	pthread_mutex_lock(&job->lock);
	s->stage = STAGE_READY;
}

static void do_sink(struct job *job)
{
	struct slot *s = slot_of(job, job->sunk);
	size_t keep = KEEP_CHUNKS * job->chunk;
	int r = s->result;

	job->sinking = true;
	unlock(job);
	if (r < 0 && job->reterr)
		*job->reterr = s->err;
	if (job->ops->sink && goes_on(s))
		r = job->ops->sink(job->data, &s->chunk, str_sv(&s->out), job->reterr);
	drop_own(job, s);
	str_clear(&s->out);
	if (s->out.cap > keep)
		str_release(&s->out);
	if (s->cap > keep) {
		free(s->buf);
		s->buf = NULL;
		s->cap = 0;
	}
	pthread_mutex_lock(&job->lock);
	job->sinking = false;
	job->sunk++;
	job->result = r < 0 ? r : 0;
	s->stage = STAGE_FREE;
}

static void *run_thread(void *arg)
{
	struct job *job = arg;

	pthread_mutex_lock(&job->lock);
	while (job->result >= 0 && job->sunk < job->ranges) {
		switch (find_task(job)) {
		case TASK_JOIN:
			do_join(job);
			break;
		case TASK_SINK:
			do_sink(job);
			break;
		case TASK_BEGIN:
			do_begin(job);
			break;
		case TASK_NONE:
			job->idle++;
			pthread_cond_wait(&job->more, &job->lock);
			job->idle--;
			break;
		}
	}
	pthread_cond_broadcast(&job->more);
	pthread_mutex_unlock(&job->lock);
	return NULL;
}

/* The caller's thread is one of them. */
static void run_threads(struct job *job, unsigned threads)
{
	pthread_t ids[JSONL_THREADS_MAX];
	sigset_t all, old;
	unsigned n = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	while (n + 1 < threads && pthread_create(&ids[n], NULL, run_thread, job) == 0)
		n++;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	(void)run_thread(job);
	for (unsigned i = 0; i < n; i++)
		pthread_join(ids[i], NULL);
}

/* ---- the whole ---- */

static int job_init(struct job *job, int fd, const struct jsonl_opts *opts, struct err *reterr)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return err_errno(reterr, errno, "stat");
	if (!S_ISREG(st.st_mode))
		return err_set(reterr, ERR_INPUT, "not a regular file");
	job->fd = fd;
	job->end = (uint64_t)st.st_size;
	job->chunk = JSONL_CHUNK;
	job->line_max = JSONL_LINE_MAX;
	if (opts) {
		job->offset = opts->offset;
		job->end = opts->end && opts->end < job->end ? opts->end : job->end;
		job->chunk = opts->chunk ? opts->chunk : job->chunk;
		job->line_max = opts->line_max ? opts->line_max : job->line_max;
	}
	if (job->line_max < job->chunk)
		job->line_max = job->chunk;
	job->align = job->chunk < JSONL_ALIGN ? 1 : JSONL_ALIGN;
	job->low = job->offset - job->offset % job->align;
	job->start = job->offset;
	if (job->offset < job->end)
		job->ranges = (job->end - job->low - 1) / job->chunk + 1;
	return 0;
}

static void job_release(struct job *job)
{
	for (size_t i = 0; i < job->n_slots; i++) {
		drop_own(job, &job->slots[i]);
		free(job->slots[i].buf);
		str_release(&job->slots[i].out);
	}
	free(job->slots);
	pthread_mutex_destroy(&job->lock);
	pthread_cond_destroy(&job->more);
}

static unsigned thread_count(const struct job *job, const struct jsonl_opts *opts)
{
	unsigned threads = opts && opts->threads ? opts->threads : 1;

	if (threads > JSONL_THREADS_MAX)
		threads = JSONL_THREADS_MAX;
	return job->ranges < threads ? (unsigned)job->ranges : threads;
}

int jsonl_map(int fd, const struct jsonl_opts *opts, const struct jsonl_map_ops *ops, void *data,
	struct err *reterr)
{
	struct job job = { .ops = ops, .data = data, .reterr = reterr };
	int r = job_init(&job, fd, opts, reterr);

	if (r < 0 || job.ranges == 0)
		return r;
	unsigned threads = thread_count(&job, opts);
	job.n_slots = threads > 1 ? (size_t)threads * SLOTS_PER_THREAD : 1;
	job.slots = xcalloc(job.n_slots, sizeof(*job.slots));
	for (size_t i = 0; i < job.n_slots; i++)
		job.slots[i].out = (struct str)STR_INIT;
	pthread_mutex_init(&job.lock, NULL);
	pthread_cond_init(&job.more, NULL);
	run_threads(&job, threads);
	job_release(&job);
	return job.result;
}
