#include "strategy/rewrite.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/path.h"
#include "os/pool.h"
#include "os/swap.h"
#include "os/unpack.h"
#include "strategy/rewrite-run.h"
#include "transcript/home.h"

enum {
	ROUNDS_MAX = 8, /* a parent that still grows after so many is refused */
	THREADS_MAX = 4, /* more of them only wait for the disk */
	CHUNK = 1024 * 1024, /* the end of its last line is read twice, which must not count */
	SWEEP_AGE_MS = 60 * 60 * 1000,
	FRESH_S = 2, /* a file not written to for longer is at rest */
	PAUSE_MS = 20,
	PAUSES_MAX = 25, /* for the other half of a line */
	STEP_BACK = 64 * 1024, /* bytes looked at at once for the last newline */
};

void rewrite_result_release(struct rewrite_result *result)
{
	free(TAKE_PTR(result->path));
}

static int put_piece(void *data, struct sv piece, struct err *reterr)
{
	return out_bytes(data, piece, reterr);
}

static void count_lines(struct run *run, const struct part *part)
{
	vec_each (&part->lines, line) {
		run->result->lines++;
		run->result->copied += !line->object;
		if (line->oversize)
			passed_add(&run->result->passed, run->result->lines);
	}
}

static int sink(void *data, const struct jsonl_chunk *in, struct sv out, struct err *reterr)
{
	struct run *run = data;
	struct part *part = *in->own;

	count_lines(run, part);
	if (run->opts->live)
		chain_join(run->chain, part->chain);
	int r = out_part(run, part, out, reterr);
	if (r == 0 && in->skipped > 0)
		r = jsonl_copy(
			run->fd, in->offset + in->bytes.n, in->skipped, put_piece, run, reterr);
	if (r == 0 && run->ops->fold)
		r = run->ops->fold(run->data, part->own, reterr);
	return r;
}

/* ---- input ---- */

static int map_range(struct run *run, uint64_t end, struct err *reterr)
{
	static const struct jsonl_map_ops ops = {
		.work = part_read,
		.join = part_join,
		.finish = part_edit,
		.sink = sink,
		.drop = part_drop,
	};
	unsigned threads = run->opts->threads ? run->opts->threads : pool_cpus();
	const struct jsonl_opts opts = {
		.offset = run->at,
		.end = end,
		.chunk = CHUNK,
		.threads = threads < THREADS_MAX ? threads : THREADS_MAX,
	};

	if (end <= run->at)
		return 0;
	int r = jsonl_map(run->fd, &opts, &ops, run, reterr);
	run->at = end;
	return r;
}

/* One past the last newline before `end`, not before `low`. */
static int last_line_end(int fd, uint64_t low, uint64_t end, uint64_t *ret, struct err *reterr)
{
	AUTO_FREE char *buf = xmalloc(STEP_BACK);

	while (end > low) {
		size_t n = end - low < STEP_BACK ? (size_t)(end - low) : STEP_BACK;
		ssize_t got = pread(fd, buf, n, (off_t)(end - n));
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return err_errno(reterr, errno, "read");
		if (got != (ssize_t)n)
			return err_set(reterr, ERR_BUSY, "it became shorter while it was read");
		const char *hit = memrchr(buf, '\n', n);
		if (hit) {
			*ret = end - n + (uint64_t)(hit - buf) + 1;
			return 0;
		}
		end -= n;
	}
	*ret = low;
	return 0;
}

/* Whether somebody wrote so lately that more may come at once. */
static bool is_fresh(const struct stat *st)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec - file_mtime_ns(st) / 1000000000 <= FRESH_S;
}

static void wait_a_little(void)
{
	const struct timespec pause = { .tv_nsec = PAUSE_MS * 1000000L };

	(void)nanosleep(&pause, NULL);
}

static bool same_time(const struct stat *a, const struct stat *b)
{
	return a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* What the parent is now; refused when it is another file or shorter than what was read. */
static int look(const struct run *run, struct stat *st, struct err *reterr)
{
	struct stat named;

	if (fstat(run->fd, st) < 0 || stat(run->opts->path, &named) < 0)
		return err_errno(reterr, errno, "stat");
	const struct stat *opened = run->packed ? &run->opened : st;
	if (named.st_dev != opened->st_dev || named.st_ino != opened->st_ino)
		return err_set(reterr, ERR_BUSY, "it was replaced while it was read");
	if ((uint64_t)st->st_size < run->at)
		return err_set(reterr, ERR_BUSY, "it became shorter while it was read");
	return 0;
}

/* All whole lines there are now; *ret is what the file was before. */
static int read_lines(struct run *run, struct stat *ret, struct err *reterr)
{
	uint64_t end = 0;
	int r = look(run, ret, reterr);

	if (r == 0)
		r = last_line_end(run->fd, run->at, (uint64_t)ret->st_size, &end, reterr);
	return r < 0 ? r : map_range(run, end, reterr);
}

/* A last line without its newline, in a file that was just written to, may be half of one whose
 * other half is on its way. Waits for that as long as it may take. */
static int await_newline(const struct run *run, struct stat *st, struct err *reterr)
{
	off_t size = st->st_size;
	int r = 0;

	for (int i = 0; i < PAUSES_MAX && r == 0 && st->st_size == size; i++) {
		if ((uint64_t)size == run->at || !is_fresh(st))
			break;
		wait_a_little();
		r = look(run, st, reterr);
	}
	return r;
}

/* Reads until the parent is at rest; a last line without newline is taken when it is. */
static int read_all(struct run *run, struct err *reterr)
{
	struct stat st;

	/* What comes behind it is nothing to us, and may go on growing. */
	if (run->opts->end > 0) {
		int r = look(run, &st, reterr);
		if (r == 0 && (uint64_t)st.st_size < run->opts->end)
			return err_set(reterr, ERR_BUSY, "it became shorter while it was read");
		return r < 0 ? r : map_range(run, run->opts->end, reterr);
	}
	for (int round = 0; round < ROUNDS_MAX; round++) {
		struct stat before = { .st_size = 0 }, after = { .st_size = 0 };
		int r = read_lines(run, &before, reterr);
		if (r == 0)
			r = look(run, &after, reterr);
		if (r == 0)
			r = await_newline(run, &after, reterr);
		if (r < 0)
			return r;
		if (after.st_size != before.st_size)
			continue;
		if (!same_time(&before, &after))
			return err_set(reterr, ERR_BUSY, "it was changed while it was read");
		r = map_range(run, (uint64_t)after.st_size, reterr);
		if (r == 0)
			r = look(run, &before, reterr);
		if (r < 0 || before.st_size == after.st_size)
			return r;
		if (run->ends_open)
			break;
	}
	return err_set(reterr, ERR_BUSY, "it is being written to");
}

/* ---- the new file ---- */

/* What a kill just before a replacement left behind. */
static void sweep_folder(const char *path)
{
	AUTO_FREE char *dir = path_folder(path);

	file_sweep_temps(dir, SWEEP_AGE_MS);
}

static int open_new(struct run *run, struct err *reterr)
{
	const struct rewrite_opts *o = run->opts;

	if (o->dry)
		return 0;
	if (o->in_place) {
		sweep_folder(o->path);
		return file_new_open_unnamed(&run->file, o->path, 0, reterr);
	}
	run->result->path = transcript_sibling_path(
		o->format, o->path, o->out_dir, run->result->id, clock_wall_ms(o->clock));
	AUTO_FREE char *dir = path_folder(run->result->path);
	int r = file_mkdirs(dir, reterr);
	if (r == 0)
		r = file_new_open_unnamed(
			&run->file, run->result->path, run->opened.st_mode & 0777, reterr);
	run->file.lazy = true; /* the parent stays */
	return r;
}

static int commit(struct run *run, struct err *reterr)
{
	if (run->opts->dry)
		return 0;
	if (!run->opts->in_place)
		return file_new_commit_excl(&run->file, reterr);
	run->result->path = xstrdup(run->opts->path);
	return file_new_swap(&run->file, run->fd, run->at, &run->result->late, reterr);
}

/* ---- the whole ---- */

static int tell_done(struct run *run, struct err *reterr)
{
	struct transcript_live live = { .bits = NULL };
	int r = 0;

	if (run->opts->live)
		r = chain_live(run->chain, &live, reterr);
	if (r == 0 && run->ops->done)
		r = run->ops->done(run->data, run->opts->live ? &live : NULL, reterr);
	transcript_live_release(&live);
	return r;
}

static int finish(struct run *run, struct err *reterr)
{
	struct stat st = { .st_size = 0 };
	AUTO_STR tail = STR_INIT;
	int r = tell_done(run, reterr);

	/* What done() kept of the parent by its name must be what was read. */
	if (r == 0 && !run->opts->dry)
		r = look(run, &st, reterr);
	/* The agent's next line must not be glued to the last one. */
	if (r == 0 && run->ends_open)
		r = out_bytes(run, SV("\n"), reterr);
	if (r == 0 && run->ops->tail)
		r = run->ops->tail(run->data, &tail, reterr);
	if (r == 0 && tail.len > 0)
		r = out_bytes(run, str_sv(&tail), reterr);
	if (r == 0)
		r = out_note(run, reterr);
	return r < 0 ? r : commit(run, reterr);
}

static int open_parent(struct run *run, struct err *reterr)
{
	run->fd = unpack_open(run->opts->path, &run->opened, reterr);
	if (run->fd < 0)
		return run->fd;
	run->packed = unpack_is(sv_of(run->opts->path));
	run->result->bytes_in = 0;
	run->parent_id = transcript_path_id(run->opts->format, sv_of(run->opts->path));
	return 0;
}

static void run_init(struct run *run)
{
	const struct rewrite_opts *o = run->opts;
	char mark[UUID_TEXT];

	uuid_new(mark);
	(void)snprintf(run->mark, sizeof(run->mark), "\"%s\"", mark);
	if (o->id)
		(void)snprintf(run->result->id, sizeof(run->result->id), "%s", o->id);
	else
		uuid_new(run->result->id);
	if (o->in_place && run->parent_id.n < UUID_TEXT && run->parent_id.n > 0) {
		memcpy(run->result->id, run->parent_id.p, run->parent_id.n);
		run->result->id[run->parent_id.n] = '\0';
	}
	run->chain = chain_new(o->format);
}

static void run_release(struct run *run)
{
	if (run->fd >= 0)
		(void)close(run->fd);
	file_new_release(&run->file);
	chain_free(run->chain);
	str_release(&run->held);
	str_release(&run->head);
	str_release(&run->tail);
}

int rewrite_session(const struct rewrite_opts *opts, const struct rewrite_ops *ops, void *data,
	struct rewrite_result *ret, struct err *reterr)
{
	struct rewrite_result result = REWRITE_RESULT_INIT;
	CLEANUP(run_release)
	struct run run = {
		.opts = opts,
		.ops = ops,
		.data = data,
		.result = &result,
		.fd = -1,
		.file = FILE_NEW_INIT,
		.held = STR_INIT,
		.head = STR_INIT,
		.tail = STR_INIT,
	};

	assert(opts->in_place || opts->dry || opts->changes & REWRITE_ID);
	int r = open_parent(&run, reterr);
	if (r == 0) {
		run_init(&run);
		r = open_new(&run, reterr);
	}
	if (r == 0) {
		r = read_all(&run, reterr);
		result.bytes_in = run.at;
		if (r < 0)
			err_prefix(reterr, "%s", opts->path);
	}
	if (r == 0)
		r = finish(&run, reterr);
	if (r < 0) {
		ret->passed = result.passed;
		rewrite_result_release(&result);
		return r;
	}
	*ret = result;
	return 0;
}
