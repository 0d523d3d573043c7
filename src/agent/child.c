#include "agent/child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "os/file.h"

enum {
	INPUT_STEP = 64 * 1024,
	LAST_ERROR_MAX = 300,
	DISCARD_READS = 16, /* at once; a pipe holds less */
};

void child_init(struct child *c, struct loop *loop, const struct child_ops *ops, void *data)
{
	*c = (struct child){
		.loop = loop,
		.ops = ops,
		.data = data,
		.proc = PROC_INIT,
		.reader = -1,
		.input = STR_INIT,
		.errors = STR_INIT,
	};
}

static void drop(struct child *c, struct loop_source **source)
{
	loop_remove(c->loop, *source);
	*source = NULL;
}

static void drop_all(struct child *c)
{
	drop(c, &c->in_source);
	drop(c, &c->out_source);
	drop(c, &c->err_source);
	drop(c, &c->end_source);
	drop(c, &c->leave_timer);
}

static void release_proc(struct child *c)
{
	proc_release(&c->proc);
	if (c->reader >= 0)
		(void)close(c->reader);
	c->reader = -1;
}

void child_release(struct child *c)
{
	drop_all(c);
	release_proc(c);
	str_release(&c->input);
	str_release(&c->errors);
}

bool child_running(const struct child *c)
{
	return c->proc.pid > 0;
}

/* ---- input ---- */

static void forget_input(struct child *c)
{
	str_clear(&c->input);
	c->input_at = 0;
}

static void input_ready(void *data, short revents)
{
	struct child *c = data;
	struct sv rest = sv_from(str_sv(&c->input), c->input_at);

	(void)revents;
	ssize_t n = rest.n ? proc_write(&c->proc, sv_head(rest, INPUT_STEP)) : 0;
	if (n > 0) {
		c->input_at += (size_t)n;
		c->written += (uint64_t)n;
	}
	if (n >= 0 && c->input_at < c->input.len)
		return;
	forget_input(c);
	drop(c, &c->in_source);
	if (c->close_input || n < 0)
		proc_close_in(&c->proc);
}

void child_write(struct child *c, struct sv data, bool last)
{
	c->queued += data.n;
	if (c->proc.in < 0)
		return;
	str_add(&c->input, data);
	c->close_input = c->close_input || last;
	if (!c->in_source)
		c->in_source = loop_add_fd(c->loop, c->proc.in, POLLOUT, input_ready, c);
}

bool child_took(const struct child *c, uint64_t n)
{
	return c->written - c->unread >= n;
}

/* ---- output ---- */

static void keep_errors(struct child *c, struct sv bytes)
{
	str_add(&c->errors, bytes);
	if (c->errors.len > CHILD_ERRORS_KEPT)
		str_drop(&c->errors, c->errors.len - CHILD_ERRORS_KEPT);
}

/* Bytes read; 0: nothing there now, or the end (then the source is gone). */
static size_t take(struct child *c, int *fd, struct loop_source **source)
{
	char buf[CHILD_READ];
	ssize_t n;

	if (*fd < 0)
		return 0;
	do
		n = read(*fd, buf, sizeof(buf));
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n <= 0) {
		drop(c, source);
		(void)close(*fd);
		*fd = -1;
		return 0;
	}
	if (fd == &c->proc.err)
		keep_errors(c, sv_make(buf, (size_t)n));
	else if (!c->leaves)
		c->ops->out(c->data, sv_make(buf, (size_t)n));
	return (size_t)n;
}

static void out_ready(void *data, short revents)
{
	struct child *c = data;

	(void)revents;
	(void)take(c, &c->proc.out, &c->out_source);
}

static void err_ready(void *data, short revents)
{
	struct child *c = data;

	(void)revents;
	(void)take(c, &c->proc.err, &c->err_source);
}

static void drain(struct child *c, int *fd, struct loop_source **source)
{
	size_t total = 0, n;

	while (total < CHILD_DRAIN_MAX && (n = take(c, fd, source)) > 0)
		total += n;
}

/* Bytes that it left in the pipe. */
static uint64_t count_unread(const struct child *c)
{
	int n = 0;

	return ioctl(c->reader, FIONREAD, &n) == 0 && n > 0 ? (uint64_t)n : 0;
}

static void end_ready(void *data, short revents)
{
	struct child *c = data;
	int status = 0;

	(void)revents;
	if (!proc_reap(&c->proc, false, &status))
		return;
	c->unread = count_unread(c);
	drain(c, &c->proc.out, &c->out_source);
	drain(c, &c->proc.err, &c->err_source);
	drop_all(c);
	release_proc(c);
	if (c->forced)
		(void)child_sweep(c);
	c->ops->ended(c->data, status);
}

/* ---- what it leaves behind ---- */

enum {
	ROUNDS = 8, /* what forks away while we look is found in the next round */
};

static bool has_pair(struct sv environment, struct sv pair)
{
	struct sv item;

	while (sv_split(&environment, '\0', &item))
		if (sv_eq(item, pair))
			return true;
	return false;
}

static bool is_marked(pid_t pid, struct sv pair)
{
	char path[64];
	AUTO_STR text = STR_INIT;

	(void)snprintf(path, sizeof(path), "/proc/%ld/environ", (long)pid);
	return file_read(path, PROC_WORDS_MAX, &text, NULL) == 0 && has_pair(str_sv(&text), pair);
}

/* The descriptor is opened before the second look, so the number cannot be another's by then. */
static bool kill_marked(pid_t pid, struct sv pair)
{
	if (pid == getpid() || !is_marked(pid, pair))
		return false;
	AUTO_CLOSE int fd = pidfd_open(pid, 0);
	return fd >= 0 && is_marked(pid, pair) && pidfd_send_signal(fd, SIGKILL, NULL, 0) == 0;
}

static size_t kill_round(struct sv pair)
{
	DIR *dir = opendir("/proc");
	const struct dirent *entry;
	long long pid;
	size_t n = 0;

	while (dir && (entry = readdir(dir)))
		if (sv_parse_i64(sv_of(entry->d_name), &pid) && kill_marked((pid_t)pid, pair))
			n++;
	if (dir)
		(void)closedir(dir);
	return n;
}

/* KILL to every process whose environment holds the mark, wherever it hangs in the tree, until none
 * is left; ourselves excepted. Returns how many were killed. Processes of others cannot be seen and
 * are left alone. */
static size_t kill_marked_all(const char *mark)
{
	AUTO_STR pair = STR_INIT;
	size_t total = 0, n;
	int rounds = 0;

	str_addf(&pair, "%s=%s", PROC_MARK, mark);
	do {
		n = kill_round(str_sv(&pair));
		total += n;
	} while (n > 0 && ++rounds < ROUNDS);
	return total;
}

/* ---- orphans ---- */

static int make_mark(char *ret, struct err *reterr)
{
	struct proc_id self;
	char id[UUID_TEXT];
	int r = proc_id_self(&self, reterr);

	if (r < 0)
		return r;
	uuid_new(id);
	(void)snprintf(ret, CHILD_MARK_MAX, "%ld.%llu.%s", (long)self.pid,
		(unsigned long long)self.start, id);
	return 0;
}

/* Who started a process of ours: 1. 0 for others' processes: only their own user and root can read
 * the environment, and root looks at who runs it. -1: it could not be read. */
static int read_owner(pid_t pid, long long *ret_pid, long long *ret_start)
{
	char path[64];
	AUTO_STR mark = STR_INIT;
	struct stat st;
	struct sv rest, piece;

	(void)snprintf(path, sizeof(path), "/proc/%ld", (long)pid);
	if (stat(path, &st) < 0 || st.st_uid != geteuid())
		return 0;
	int r = proc_variable(pid, PROC_MARK, &mark);
	if (r <= 0)
		return r;
	rest = str_sv(&mark);
	return sv_split(&rest, '.', &piece) && sv_parse_i64(piece, ret_pid) &&
		sv_split(&rest, '.', &piece) && sv_parse_i64(piece, ret_start);
}

bool child_is_orphan(pid_t pid)
{
	long long owner = 0, start = 0;

	return read_owner(pid, &owner, &start) > 0 &&
		proc_start_time((pid_t)owner) != (uint64_t)start;
}

bool child_is_ours(pid_t pid)
{
	long long owner = 0, start = 0;

	return read_owner(pid, &owner, &start) > 0 && owner == getpid() &&
		proc_start_time(getpid()) == (uint64_t)start;
}

pid_t child_keeper(pid_t pid)
{
	long long owner = 0, start = 0;

	return read_owner(pid, &owner, &start) > 0 && owner != getpid() &&
			proc_start_time((pid_t)owner) == (uint64_t)start
		? (pid_t)owner
		: 0;
}

void child_ask_keeper(pid_t pid)
{
	pid_t keeper = child_keeper(pid);
	AUTO_CLOSE int fd = keeper ? pidfd_open(keeper, 0) : -1;

	/* As in child_signal_orphan(). */
	if (fd >= 0 && child_keeper(pid) == keeper)
		(void)pidfd_send_signal(fd, CHILD_LET_GO, NULL, 0);
}

/*
 * Our child leads a group in the session of who started it; tools get a session of their own or
 * stay in a group. *ret_unsure: it is about to become another program, as one that is started by a
 * script does, and shows no environment for that instant.
 */
static bool is_left_by(pid_t pid, const struct proc_id *owner, bool *ret_unsure)
{
	long long by = 0, start = 0;

	if (getpgid(pid) != pid || getsid(pid) == pid)
		return false;
	int r = read_owner(pid, &by, &start);
	*ret_unsure |= r < 0 && proc_start_time(pid) != 0;
	return r > 0 && by == owner->pid && (uint64_t)start == owner->start;
}

pid_t child_left_by(const struct proc_id *owner)
{
	enum { LOOKS = 20, PAUSE_US = 1000 };
	bool unsure = owner->pid > 0 && proc_id_check(owner) == PROC_GONE;
	pid_t found = 0;

	for (int i = 0; i < LOOKS && unsure && !found; i++) {
		DIR *dir = opendir("/proc");
		const struct dirent *entry;
		long long pid;

		if (i > 0)
			(void)usleep(PAUSE_US);
		unsure = false;
		while (dir && !found && (entry = readdir(dir)))
			if (sv_parse_i64(sv_of(entry->d_name), &pid) &&
				is_left_by((pid_t)pid, owner, &unsure))
				found = (pid_t)pid;
		if (dir)
			(void)closedir(dir);
	}
	return found;
}

void child_signal_orphan(pid_t pid, int sig)
{
	AUTO_CLOSE int fd = pidfd_open(pid, 0);

	/* The descriptor is opened first: the number cannot be another's when it is looked at. */
	if (fd < 0 || !child_is_orphan(pid) || pidfd_send_signal(fd, 0, NULL, 0) < 0)
		return;
	if (getpgid(pid) == pid)
		(void)kill(-pid, sig);
	else
		(void)pidfd_send_signal(fd, sig, NULL, 0);
}

/* ---- start and end ---- */

/* What is written to a pipe is lost with its last end: ours to read stays, so that it can be told
 * what of the input was never taken, also when all of it was written and our end to write closed.
 */
static int start(struct child *c, const struct proc_opts *opts, struct err *reterr)
{
	struct proc_opts piped = *opts;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return err_errno(reterr, errno, "pipe");
	AUTO_CLOSE int theirs = ends[0];
	AUTO_CLOSE int ours = ends[1];
	piped.in = theirs;
	if (fcntl(ours, F_SETFL, O_NONBLOCK) < 0)
		return err_errno(reterr, errno, "pipe");
	int r = proc_spawn(&c->proc, &piped, reterr);
	if (r < 0)
		return r;
	c->proc.in = TAKE_FD(ours);
	c->reader = TAKE_FD(theirs);
	return 0;
}

int child_start(struct child *c, const char *const *argv, const struct strv *env, const char *cwd,
	struct err *reterr)
{
	AUTO_STRV marked = STRV_INIT;

	for (size_t i = 0; i < env->n; i++)
		strv_add(&marked, env->v[i]);
	int r = make_mark(c->mark, reterr);
	if (r < 0)
		return r;
	strv_addf(&marked, "%s=%s", PROC_MARK, c->mark);
	forget_input(c);
	str_clear(&c->errors);
	c->close_input = c->leaves = c->forced = false;
	c->queued = c->written = c->unread = 0;
	struct proc_opts opts = {
		.argv = argv,
		.envp = (const char *const *)marked.v,
		.cwd = cwd,
		.out = PROC_PIPE,
		.err = PROC_PIPE,
	};
	r = start(c, &opts, reterr);
	if (r < 0)
		return r;
	c->out_source = loop_add_fd(c->loop, c->proc.out, POLLIN, out_ready, c);
	c->err_source = loop_add_fd(c->loop, c->proc.err, POLLIN, err_ready, c);
	c->end_source = loop_add_fd(c->loop, c->proc.pidfd, POLLIN, end_ready, c);
	return 0;
}

void child_signal(const struct child *c, int sig)
{
	proc_signal(&c->proc, sig);
}

void child_kill(struct child *c)
{
	proc_kill_tree(&c->proc);
	(void)kill_marked_all(c->mark);
}

size_t child_sweep(const struct child *c)
{
	return c->mark[0] ? kill_marked_all(c->mark) : 0;
}

static void leave_harder(void *data)
{
	struct child *c = data;

	c->leave_timer = NULL;
	if (c->forced) {
		child_kill(c);
		return;
	}
	c->forced = true;
	c->leave_timer = loop_add_timer(c->loop, c->leave_ms / 2, leave_harder, c);
	child_signal(c, SIGTERM);
}

void child_leave(struct child *c, int64_t ms)
{
	if (!child_running(c) || c->leaves)
		return;
	c->leaves = true;
	c->leave_ms = ms;
	forget_input(c);
	drop(c, &c->in_source);
	proc_close_in(&c->proc);
	c->leave_timer = loop_add_timer(c->loop, ms / 2, leave_harder, c);
}

/* Reads and forgets, so that a child that has something to say can come to its end; one that never
 * stops talking must not keep us from looking at the clock. */
static void discard(int fd)
{
	char buf[CHILD_READ];

	for (int i = 0; i < DISCARD_READS && fd >= 0 && read(fd, buf, sizeof(buf)) > 0; i++)
		;
}

static bool ends_within(struct child *c, int64_t ms)
{
	int64_t deadline = clock_age_ms(NULL) + ms;

	for (;;) {
		int64_t left = deadline - clock_age_ms(NULL);
		struct pollfd polls[] = {
			{ .fd = c->proc.pidfd, .events = POLLIN },
			{ .fd = c->proc.out, .events = POLLIN },
			{ .fd = c->proc.err, .events = POLLIN },
		};
		if (proc_reap(&c->proc, false, NULL))
			return true;
		if (left <= 0)
			return false;
		/* A pipe at its end is ready for ever: look at the clock a little later. */
		if (poll(polls, ARRAY_LEN(polls), (int)left) > 0 && !polls[0].revents) {
			discard(c->proc.out);
			discard(c->proc.err);
			(void)poll(polls, 1, left < 10 ? (int)left : 10);
		}
	}
}

/* Until the process, which is not ours to reap, has ended. */
static bool is_gone_within(struct pollfd polls[static 3], int64_t ms)
{
	int64_t deadline = clock_age_ms(NULL) + ms, left = ms;

	for (; left > 0; left = deadline - clock_age_ms(NULL)) {
		if (poll(polls, 3, (int)left) <= 0)
			continue;
		if (polls[0].revents)
			return true;
		for (size_t i = 1; i < 3; i++) {
			discard(polls[i].revents & POLLIN ? polls[i].fd : -1);
			if (polls[i].revents & ~POLLIN)
				polls[i].fd = -1;
		}
	}
	return false;
}

/* In a process of its own that has nothing of ours but what the agent says, which it reads so that
 * the agent can come to its end. */
static _Noreturn void wait_for_end(struct child *c)
{
	enum { PATIENCE_MS = 10000, OURS = 3, ABOVE = 64 };
	int fds[] = { c->proc.pidfd, c->proc.out, c->proc.err };
	struct pollfd polls[ARRAY_LEN(fds)];
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)setsid();
	(void)!chdir("/");
	for (int fd = 0; fd < OURS; fd++)
		(void)dup2(null, fd);
	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		fds[i] = fds[i] < 0 ? -1 : fcntl(fds[i], F_DUPFD, ABOVE);
	for (size_t i = 0; i < ARRAY_LEN(fds); i++)
		polls[i] = (struct pollfd){ .fd = fds[i] < 0 ? -1 : dup2(fds[i], OURS + (int)i),
			.events = POLLIN };
	(void)close_range(OURS + ARRAY_LEN(fds), ~0U, 0);
	if (!is_gone_within(polls, PATIENCE_MS)) {
		child_signal(c, SIGTERM);
		if (!is_gone_within(polls, PATIENCE_MS))
			child_kill(c);
	}
	_exit(0);
}

static bool leave_to_another(struct child *c)
{
	pid_t other = fork();

	if (other == 0)
		wait_for_end(c);
	if (other > 0)
		c->proc.pid = 0; /* no longer ours to end */
	return other > 0;
}

void child_end(struct child *c, bool busy, int64_t ms, bool see_off)
{
	enum { FELT_MS = 250 };

	if (!child_running(c))
		return;
	drop_all(c);
	proc_close_in(&c->proc);
	if (busy)
		child_signal(c, SIGINT);
	bool ended = ends_within(c, see_off && !busy ? FELT_MS : ms / 2);
	if (!ended && see_off && !busy)
		ended = leave_to_another(c) || ends_within(c, ms / 2);
	if (!ended) {
		child_signal(c, SIGTERM);
		ended = ends_within(c, ms / 2);
	}
	if (!ended)
		child_kill(c);
	release_proc(c);
	if (busy || !ended)
		(void)child_sweep(c);
	forget_input(c);
}

void child_last_error(const struct child *c, struct str *out)
{
	struct sv rest = str_sv(&c->errors), line, last = SV("");

	while (sv_split(&rest, '\n', &line)) {
		line = sv_trim(line);
		if (line.n)
			last = line;
	}
	AUTO_STR clean = STR_INIT;
	utf8_scrub_line(&clean, last);
	str_add(out, utf8_cut(str_sv(&clean), LAST_ERROR_MAX));
}
