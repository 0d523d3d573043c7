/*
 * A file is cut into ranges of `chunk` bytes; a line belongs to the range that holds the newline
 * before it. Whoever takes a range reads it, finds the first line that belongs to it, and reads on
 * behind the range to the end of the last. So ranges need no knowledge of each other, and workers
 * read in parallel.
 *
 * Results wait in a ring of slots: range i goes to slot i modulo their number, and no range is
 * begun before its slot is free. That bounds the memory and keeps the order.
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
	STEP = 32 * 1024, /* read at once behind a range for the end of its last line; the next
			   * range reads it too, so more would be for nothing */
};

struct slot {
	char *buf;
	size_t cap;
	struct jsonl_chunk chunk;
	struct str out;
	void *own;
	int result;
	struct err err;
	bool ready; /* filled by a worker, not yet taken by the sink */
};

struct job {
	int fd;
	uint64_t offset, end;
	uint64_t low; /* where the first range would begin if it began at a cache line */
	size_t chunk, line_max;
	const struct jsonl_map_ops *ops;
	void *data;
	uint64_t ranges;

	struct slot *slots;
	size_t n_slots;
	pthread_mutex_t lock; /* for all below and slot.ready */
	pthread_cond_t room, ready, turn;
	uint64_t next; /* range to be begun */
	uint64_t joined; /* ranges whose join is over, or that have none */
	uint64_t sunk; /* ranges the sink has taken */
	bool stop;
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

static int load(const struct job *job, struct slot *s, uint64_t range)
{
	uint64_t low = job->low + range * job->chunk;
	uint64_t high = job->end - low > job->chunk ? low + job->chunk : job->end;
	uint64_t from = range ? low : job->offset;
	size_t have = 0;

	s->chunk = (struct jsonl_chunk){ .offset = from, .own = &s->own };
	int r = read_to(job, s, from, &have, (size_t)(high - from));
	if (r < 0)
		return r;
	size_t first = range ? first_line(s, have) : 0;
	if (range && first == 0)
		return 0;
	size_t line = last_line(s, first, have), stop = have;
	if (line < have || high < job->end)
		r = finish_line(job, s, from, have, line, &stop);
	s->chunk.bytes = sv_make(s->buf + first, stop - first);
	s->chunk.offset = from + first;
	return r;
}

/* ---- one range from file to sink ---- */

static bool is_empty(const struct slot *s)
{
	return s->chunk.bytes.n == 0 && s->chunk.skipped == 0;
}

/* Every range takes its turn, also one that is empty or has failed: others wait behind it. */
static void join_in_order(struct job *job, struct slot *s, uint64_t range)
{
	pthread_mutex_lock(&job->lock);
	while (job->joined != range)
		pthread_cond_wait(&job->turn, &job->lock);
	pthread_mutex_unlock(&job->lock);
	if (s->result == 0 && !is_empty(s))
		s->result = job->ops->join(job->data, &s->chunk, &s->err);
	pthread_mutex_lock(&job->lock);
	job->joined++;
	pthread_cond_broadcast(&job->turn);
	pthread_mutex_unlock(&job->lock);
}

static void process(struct job *job, struct slot *s, uint64_t range)
{
	s->result = load(job, s, range);
	if (s->result == 0 && !is_empty(s))
		s->result = job->ops->work(job->data, &s->chunk, &s->out, &s->err);
	if (job->ops->join)
		join_in_order(job, s, range);
	if (job->ops->finish && s->result == 0 && !is_empty(s))
		s->result = job->ops->finish(job->data, &s->chunk, &s->out, &s->err);
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

static int deliver(const struct job *job, struct slot *s, struct err *reterr)
{
	int r = s->result;

	if (r < 0) {
		if (reterr)
			*reterr = s->err;
		return r;
	}
	if (job->ops->sink && !is_empty(s))
		r = job->ops->sink(job->data, &s->chunk, str_sv(&s->out), reterr);
	slot_clear(job, s);
	return r < 0 ? r : 0;
}

/* ---- threads ---- */

static bool take_range(struct job *job, uint64_t *ret_range)
{
	bool taken = false;

	pthread_mutex_lock(&job->lock);
	while (!job->stop && job->next < job->ranges && job->next >= job->sunk + job->n_slots)
		pthread_cond_wait(&job->room, &job->lock);
	if (!job->stop && job->next < job->ranges) {
		*ret_range = job->next++;
		taken = true;
	}
	pthread_mutex_unlock(&job->lock);
	return taken;
}

static void *worker(void *arg)
{
	struct job *job = arg;
	uint64_t range;

	while (take_range(job, &range)) {
		struct slot *s = &job->slots[range % job->n_slots];
		process(job, s, range);
		pthread_mutex_lock(&job->lock);
		s->ready = true;
		pthread_cond_signal(&job->ready);
		pthread_mutex_unlock(&job->lock);
	}
	return NULL;
}

static void wait_ready(struct job *job, const struct slot *s)
{
	pthread_mutex_lock(&job->lock);
	while (!s->ready)
		pthread_cond_wait(&job->ready, &job->lock);
	pthread_mutex_unlock(&job->lock);
}

static void hand_back(struct job *job, struct slot *s, bool stop)
{
	pthread_mutex_lock(&job->lock);
	s->ready = false;
	job->sunk++;
	job->stop = stop;
	pthread_cond_broadcast(&job->room);
	pthread_mutex_unlock(&job->lock);
}

static int sink_all(struct job *job, struct err *reterr)
{
	int r = 0;

	for (uint64_t range = 0; range < job->ranges && r == 0; range++) {
		struct slot *s = &job->slots[range % job->n_slots];
		wait_ready(job, s);
		r = deliver(job, s, reterr);
		hand_back(job, s, r < 0);
	}
	return r;
}

static int run_inline(struct job *job, struct err *reterr)
{
	int r = 0;

	for (uint64_t range = 0; range < job->ranges && r == 0; range++) {
		process(job, &job->slots[0], range);
		r = deliver(job, &job->slots[0], reterr);
	}
	return r;
}

static unsigned start_workers(struct job *job, pthread_t *ids, unsigned threads)
{
	sigset_t all, old;
	unsigned n = 0;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	while (n < threads && pthread_create(&ids[n], NULL, worker, job) == 0)
		n++;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return n;
}

static int run_threads(struct job *job, unsigned threads, struct err *reterr)
{
	pthread_t ids[JSONL_THREADS_MAX];
	unsigned n = start_workers(job, ids, threads);
	int r = n ? sink_all(job, reterr) : run_inline(job, reterr);

	for (unsigned i = 0; i < n; i++)
		pthread_join(ids[i], NULL);
	return r;
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
	job->low = job->offset - (job->chunk < JSONL_ALIGN ? 0 : job->offset % JSONL_ALIGN);
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
	pthread_cond_destroy(&job->room);
	pthread_cond_destroy(&job->ready);
	pthread_cond_destroy(&job->turn);
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
	struct job job = { .ops = ops, .data = data };
	int r = job_init(&job, fd, opts, reterr);

	if (r < 0 || job.ranges == 0)
		return r;
	unsigned threads = thread_count(&job, opts);
	job.n_slots = threads > 1 ? (size_t)threads * SLOTS_PER_THREAD : 1;
	job.slots = xcalloc(job.n_slots, sizeof(*job.slots));
	for (size_t i = 0; i < job.n_slots; i++)
		job.slots[i].out = (struct str)STR_INIT;
	pthread_mutex_init(&job.lock, NULL);
	pthread_cond_init(&job.room, NULL);
	pthread_cond_init(&job.ready, NULL);
	pthread_cond_init(&job.turn, NULL);
	r = threads > 1 ? run_threads(&job, threads, reterr) : run_inline(&job, reterr);
	job_release(&job);
	return r;
}
