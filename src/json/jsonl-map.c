/*
 * A file is cut into ranges of `chunk` bytes; a line belongs to the range that holds the newline
 * before it. Whoever takes a range reads it from where the lines of the range before it end, or, as
 * long as that is still being read, finds its first line itself; then he reads on behind the range
 * to the end of the last. So no thread waits for another to read.
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
	STEP = 32 * 1024, /* read at once behind a range for the end of its last line; what lies
			   * behind that is read again */
};

#define UNKNOWN UINT64_MAX

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
	uint64_t end; /* of its lines in the file, or UNKNOWN */
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
	uint64_t known, known_end; /* so many ranges are known to end there */
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
		s->cap = want > 2 * s->cap ? want : 2 * s->cap;
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

/* Settles what becomes of the last line, [line, stop) of the buffer, now that its end is known. */
static size_t settle(const struct job *job, struct slot *s, size_t line, size_t stop)
{
	bool terminated = stop > line && s->buf[stop - 1] == '\n';

	if (stop - terminated - line <= job->line_max)
		return stop;
	s->chunk.skipped = stop - line;
	return line;
}

/*
 * The buffer has `have` bytes of the file from `from` on and its last line, which begins at
 * `line` (perhaps just behind them), has no newline among them: reads on to its end. *ret_stop is
 * then one past the last line that is held.
 */
static int finish_line(const struct job *job, struct slot *s, uint64_t from, size_t have,
	size_t line, size_t *ret_stop)
{
	while (have - line <= job->line_max) {
		uint64_t left = job->end - (from + have);
		size_t before = have;
		int r = read_to(job, s, from, &have, have + (left < STEP ? (size_t)left : STEP));
		if (r < 0)
			return r;
		const char *hit = memchr(s->buf + before, '\n', have - before);
		if (hit || have == before) {
			*ret_stop = settle(job, s, line, hit ? (size_t)(hit - s->buf) + 1 : have);
			return 0;
		}
	}
	uint64_t end = 0;
	int r = find_end(job, s, line, from + have, &end);
	s->chunk.skipped = end - (from + line);
	*ret_stop = line;
	return r;
}

/* One past the first newline; 0 when there is none. */
static size_t first_line(const struct slot *s, size_t have)
{
	const char *hit = have > 0 ? memchr(s->buf, '\n', have) : NULL;

	return hit ? (size_t)(hit - s->buf) + 1 : 0;
}

static size_t last_line(const struct slot *s, size_t first, size_t have)
{
	const char *hit = have > first ? memrchr(s->buf + first, '\n', have - first) : NULL;

	return hit ? (size_t)(hit - s->buf) + 1 : first;
}

/* Reads the lines of a range, the first of which begins at `start`, or is to be found. */
static int load(const struct job *job, struct slot *s, uint64_t range, uint64_t start)
{
	uint64_t low = job->low + range * job->chunk;
	uint64_t high = job->end - low > job->chunk ? low + job->chunk : job->end;
	uint64_t from = start == UNKNOWN ? low : start - start % job->align;
	size_t have = 0;

	s->chunk = (struct jsonl_chunk){ .offset = from, .own = &s->own };
	s->end = start;
	if (start != UNKNOWN && start > high)
		return 0;
	int r = read_to(job, s, from, &have, (size_t)(high - from));
	if (r < 0)
		return r;
	size_t first = start == UNKNOWN ? first_line(s, have) : (size_t)(start - from);
	if (have < first || (start == UNKNOWN && first == 0))
		return 0;
	size_t line = last_line(s, first, have), stop = have;
	if (line < have || high < job->end)
		r = finish_line(job, s, from, have, line, &stop);
	s->chunk.bytes = sv_make(s->buf + first, stop - first);
	s->chunk.offset = from + first;
	s->end = s->chunk.offset + s->chunk.bytes.n + s->chunk.skipped;
	return r;
}

/* ---- one range from file to sink ---- */

static bool is_empty(const struct slot *s)
{
	return s->chunk.bytes.n == 0 && s->chunk.skipped == 0;
}

static void drop_own(const struct job *job, struct slot *s)
{
	if (s->own && job->ops->drop)
		job->ops->drop(job->data, s->own);
	s->own = NULL;
}

static void slot_clear(const struct job *job, struct slot *s)
{
	size_t keep = KEEP_CHUNKS * job->chunk;

	drop_own(job, s);
	str_clear(&s->out);
	if (s->out.cap > keep)
		str_release(&s->out);
	if (s->cap > keep) {
		free(s->buf);
		s->buf = NULL;
		s->cap = 0;
	}
}

/* ---- tasks ---- */

/* A range that is empty or has failed takes its turns too: others wait behind it. */
static bool goes_on(const struct slot *s)
{
	return s->result == 0 && !is_empty(s);
}

static void finish_range(const struct job *job, struct slot *s)
{
	if (job->ops->finish && goes_on(s))
		s->result = job->ops->finish(job->data, &s->chunk, &s->out, &s->err);
}

static void work_range(const struct job *job, struct slot *s)
{
	if (goes_on(s))
		s->result = job->ops->work(job->data, &s->chunk, &s->out, &s->err);
	if (!job->ops->join)
		finish_range(job, s);
}

static void join_range(const struct job *job, struct slot *s)
{
	if (goes_on(s))
		s->result = job->ops->join(job->data, &s->chunk, &s->err);
}

static int sink_range(const struct job *job, struct slot *s)
{
	int r = s->result;

	if (r < 0 && job->reterr)
		*job->reterr = s->err;
	if (job->ops->sink && goes_on(s))
		r = job->ops->sink(job->data, &s->chunk, str_sv(&s->out), job->reterr);
	slot_clear(job, s);
	return r < 0 ? r : 0;
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
	if (job->next < job->ranges && slot_of(job, job->next)->stage == STAGE_FREE)
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
	uint64_t range = job->next++;
	struct slot *s = slot_of(job, range);

	s->stage = STAGE_BUSY;
	uint64_t start = job->known == range ? job->known_end : UNKNOWN;
	unlock(job);
	s->result = load(job, s, range, start);
	pthread_mutex_lock(&job->lock);
	if (s->end != UNKNOWN && job->known <= range) {
		job->known = range + 1;
		job->known_end = s->end;
	}
	unlock(job);
	work_range(job, s);
	pthread_mutex_lock(&job->lock);
	s->stage = job->ops->join ? STAGE_WORKED : STAGE_READY;
}

static void do_join(struct job *job)
{
	struct slot *s = slot_of(job, job->joined);

	s->stage = STAGE_BUSY;
	job->joining = true;
	unlock(job);
	join_range(job, s);
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

	job->sinking = true;
	unlock(job);
	int r = sink_range(job, s);
	pthread_mutex_lock(&job->lock);
	job->sinking = false;
	job->sunk++;
	job->result = r;
	s->stage = STAGE_FREE;
}

static bool is_over(const struct job *job)
{
	return job->result < 0 || job->sunk == job->ranges;
}

static void do_tasks(struct job *job)
{
	while (!is_over(job)) {
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
}

static void *run_thread(void *arg)
{
	struct job *job = arg;

	pthread_mutex_lock(&job->lock);
	do_tasks(job);
	pthread_mutex_unlock(&job->lock);
	return NULL;
}

/* The caller's thread is one of them. */
static unsigned start_others(struct job *job, pthread_t *ids, unsigned threads)
{
	sigset_t all, old;
	unsigned n = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	while (n + 1 < threads && pthread_create(&ids[n], NULL, run_thread, job) == 0)
		n++;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return n;
}

static void run_threads(struct job *job, unsigned threads)
{
	pthread_t ids[JSONL_THREADS_MAX];
	unsigned n = start_others(job, ids, threads);

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
	job->known_end = job->offset;
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
