#include "os/loop.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/vec.h"

enum source_kind { SOURCE_FD, SOURCE_TIMER, SOURCE_SIGNAL, SOURCE_POSTS };

struct loop_source {
	enum source_kind kind;
	bool dead; /* removed while a round runs; freed at its end */
	void *data;
	union {
		struct {
			int fd;
			short events;
			loop_fd_fn fn;
		} io;
		struct {
			int64_t due_ms;
			uint64_t order; /* equal times run in the order they were added */
			loop_timer_fn fn;
		} timer;
		struct {
			int signo;
			bool unblock; /* it was not blocked before we came */
			loop_signal_fn fn;
		} signal;
	};
};

struct post {
	struct post *next;
	uint64_t number;
	loop_post_fn fn;
	void *data;
};

struct loop {
	VEC(struct loop_source *) sources;
	struct pollfd *polls; /* reused from round to round; taken while one runs */
	size_t polls_cap;
	int signal_fd; /* -1 until the first signal source */
	unsigned depth; /* rounds running, one inside a callback of another */
	uint64_t next_order;
	int post_fd; /* wakes a poll that sleeps; -1 until the first that expects posts */
	pthread_mutex_t lock; /* for all below, which other threads write */
	struct post *posts, **posts_end;
	uint64_t next_post;
};

struct loop *loop_new(void)
{
	struct loop *loop = xcalloc(1, sizeof(*loop));

	loop->signal_fd = -1;
	loop->post_fd = -1;
	pthread_mutex_init(&loop->lock, NULL);
	loop->posts_end = &loop->posts;
	return loop;
}

/* ---- sources ---- */

static struct loop_source *add_source(struct loop *loop, enum source_kind kind, void *data)
{
	struct loop_source *source = xcalloc(1, sizeof(*source));

	source->kind = kind;
	source->data = data;
	vec_push(&loop->sources, source);
	return source;
}

/* While a round runs, it holds indices and pointers: the dead stay until it is over. */
static void bury(struct loop *loop)
{
	size_t kept = 0;

	if (loop->depth > 0)
		return;
	for (size_t i = 0; i < loop->sources.n; i++) {
		struct loop_source *source = loop->sources.v[i];
		if (source->dead)
			free(source);
		else
			loop->sources.v[kept++] = source;
	}
	loop->sources.n = kept;
}

struct loop_source *loop_add_fd(struct loop *loop, int fd, short events, loop_fd_fn fn, void *data)
{
	struct loop_source *source = add_source(loop, SOURCE_FD, data);

	source->io.fd = fd;
	source->io.events = events;
	source->io.fn = fn;
	return source;
}

struct loop_source *loop_add_timer(struct loop *loop, int64_t ms, loop_timer_fn fn, void *data)
{
	struct loop_source *source = add_source(loop, SOURCE_TIMER, data);

	source->timer.due_ms = clock_run_ms() + (ms > 0 ? ms : 0);
	source->timer.order = loop->next_order++;
	source->timer.fn = fn;
	return source;
}

/* ---- signals ---- */

static const struct loop_source *find_signal(const struct loop *loop, int signo)
{
	for (size_t i = 0; i < loop->sources.n; i++) {
		const struct loop_source *source = loop->sources.v[i];
		if (source->kind == SOURCE_SIGNAL && !source->dead && source->signal.signo == signo)
			return source;
	}
	return NULL;
}

/* Points the descriptor at exactly the signals that still have a source. */
static int update_signal_fd(struct loop *loop)
{
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < loop->sources.n; i++) {
		const struct loop_source *source = loop->sources.v[i];
		if (source->kind == SOURCE_SIGNAL && !source->dead)
			sigaddset(&set, source->signal.signo);
	}
	int fd = signalfd(loop->signal_fd, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return -errno;
	loop->signal_fd = fd;
	return 0;
}

struct loop_source *loop_add_signal(
	struct loop *loop, int signo, loop_signal_fn fn, void *data, struct err *reterr)
{
	const struct loop_source *same = find_signal(loop, signo);
	struct loop_source *source = NULL;
	sigset_t set, old;

	sigemptyset(&set);
	int errnum = sigaddset(&set, signo) < 0 ? errno : pthread_sigmask(SIG_BLOCK, &set, &old);
	if (errnum == 0) {
		source = add_source(loop, SOURCE_SIGNAL, data);
		source->signal.signo = signo;
		source->signal.unblock =
			same ? same->signal.unblock : sigismember(&old, signo) == 0;
		source->signal.fn = fn;
		errnum = -update_signal_fd(loop);
	}
	if (errnum == 0)
		return source;
	(void)err_errno(reterr, errnum, "signal %d", signo);
	loop_remove(loop, source);
	return NULL;
}

int loop_add_signals(struct loop *loop, const int *signals, size_t n, loop_signal_fn fn, void *data,
	struct err *reterr)
{
	struct err err = ERR_INIT;

	for (size_t i = 0; i < n; i++)
		if (!loop_add_signal(loop, signals[i], fn, data, &err)) {
			if (reterr)
				*reterr = err;
			return err.code;
		}
	return 0;
}

/* ---- posts ---- */

struct loop_source *loop_add_posts(struct loop *loop, struct err *reterr)
{
	if (loop->post_fd < 0) {
		loop->post_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (loop->post_fd < 0) {
			(void)err_errno(reterr, errno, "eventfd");
			return NULL;
		}
	}
	return add_source(loop, SOURCE_POSTS, NULL);
}

void loop_post(struct loop *loop, loop_post_fn fn, void *data)
{
	struct post *post = xcalloc(1, sizeof(*post));

	assert(loop->post_fd >= 0);
	post->fn = fn;
	post->data = data;
	pthread_mutex_lock(&loop->lock);
	bool first = !loop->posts;
	post->number = loop->next_post++;
	*loop->posts_end = post;
	loop->posts_end = &post->next;
	/* A round with posts waiting does not sleep: only the first of them has somebody to wake.
	 */
	if (first)
		(void)eventfd_write(loop->post_fd, 1);
	pthread_mutex_unlock(&loop->lock);
}

size_t loop_unpost(struct loop *loop, loop_post_fn fn, const void *data)
{
	size_t n = 0;

	pthread_mutex_lock(&loop->lock);
	for (struct post **at = &loop->posts; *at;) {
		struct post *post = *at;
		if (post->fn != fn || post->data != data) {
			at = &post->next;
			continue;
		}
		*at = post->next;
		if (!*at)
			loop->posts_end = at;
		free(post);
		n++;
	}
	pthread_mutex_unlock(&loop->lock);
	return n;
}

static bool has_posts(struct loop *loop)
{
	if (loop->post_fd < 0)
		return false;
	pthread_mutex_lock(&loop->lock);
	bool any = loop->posts != NULL;
	pthread_mutex_unlock(&loop->lock);
	return any;
}

/* The first of those numbered below `end`, taken out; NULL when there is none. */
static struct post *take_post(struct loop *loop, uint64_t end)
{
	pthread_mutex_lock(&loop->lock);
	struct post *post = loop->posts;
	if (post && post->number >= end)
		post = NULL;
	if (post) {
		loop->posts = post->next;
		if (!loop->posts)
			loop->posts_end = &loop->posts;
	}
	pthread_mutex_unlock(&loop->lock);
	return post;
}

/* One by one, so that a round inside a callback goes on with the next and the order stays. */
static void run_posts(struct loop *loop)
{
	struct post *post;
	eventfd_t woken;

	if (loop->post_fd < 0)
		return;
	(void)eventfd_read(loop->post_fd, &woken);
	pthread_mutex_lock(&loop->lock);
	uint64_t end = loop->next_post;
	pthread_mutex_unlock(&loop->lock);
	while ((post = take_post(loop, end))) {
		struct post run = *post;
		free(post);
		run.fn(run.data);
	}
}

/* ---- the end of sources ---- */

void loop_remove(struct loop *loop, struct loop_source *source)
{
	if (!source || source->dead)
		return;
	source->dead = true;
	if (source->kind == SOURCE_SIGNAL && !find_signal(loop, source->signal.signo)) {
		(void)update_signal_fd(loop);
		if (source->signal.unblock) {
			sigset_t set;
			sigemptyset(&set);
			sigaddset(&set, source->signal.signo);
			(void)pthread_sigmask(SIG_UNBLOCK, &set, NULL);
		}
	}
	bury(loop);
}

void loop_free(struct loop *loop)
{
	if (!loop)
		return;
	assert(loop->depth == 0);
	while (loop->sources.n > 0)
		loop_remove(loop, loop->sources.v[loop->sources.n - 1]);
	vec_release(&loop->sources);
	if (loop->signal_fd >= 0)
		(void)close(loop->signal_fd);
	for (struct post *post; (post = take_post(loop, UINT64_MAX));)
		free(post);
	if (loop->post_fd >= 0)
		(void)close(loop->post_fd);
	pthread_mutex_destroy(&loop->lock);
	free(loop->polls);
	free(loop);
}

/* ---- a round ---- */

/* The timer that is to run first, among those added before order_end. */
static struct loop_source *first_timer(const struct loop *loop, uint64_t order_end)
{
	struct loop_source *first = NULL;

	for (size_t i = 0; i < loop->sources.n; i++) {
		struct loop_source *s = loop->sources.v[i];
		if (s->kind != SOURCE_TIMER || s->dead || s->timer.order >= order_end)
			continue;
		if (!first || s->timer.due_ms < first->timer.due_ms ||
			(s->timer.due_ms == first->timer.due_ms &&
				s->timer.order < first->timer.order))
			first = s;
	}
	return first;
}

static void run_signals(struct loop *loop)
{
	struct signalfd_siginfo info;

	while (loop->signal_fd >= 0 && read(loop->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		size_t n = loop->sources.n; /* those added by a callback did not ask for this one */
		for (size_t i = 0; i < n; i++) {
			struct loop_source *s = loop->sources.v[i];
			if (s->kind == SOURCE_SIGNAL && !s->dead &&
				s->signal.signo == (int)info.ssi_signo)
				s->signal.fn(s->data, s->signal.signo);
		}
	}
}

static void run_timers(struct loop *loop, uint64_t order_end)
{
	int64_t now = clock_run_ms();
	struct loop_source *s;

	while ((s = first_timer(loop, order_end)) && s->timer.due_ms <= now) {
		loop_timer_fn fn = s->timer.fn;
		void *data = s->data;
		loop_remove(loop, s);
		fn(data);
	}
}

/* What one round polls: first what signals and posts come through, then source i at FIRST + i. */
enum { POLL_SIGNALS, POLL_POSTS, POLL_FIRST };

int loop_step(struct loop *loop, int64_t max_wait_ms, struct err *reterr)
{
	size_t n = loop->sources.n;
	uint64_t order_end = loop->next_order; /* timers added from here on wait for the next */
	int64_t wait = max_wait_ms < 0 ? -1 : max_wait_ms;
	bool posted = has_posts(loop);

	if (n == 0 && wait < 0 && !posted)
		return err_set(reterr, ERR_BUG, "the event loop has nothing to wait for");
	const struct loop_source *timer = first_timer(loop, UINT64_MAX);
	if (timer) {
		int64_t left = timer->timer.due_ms - clock_run_ms();
		left = left > 0 ? left : 0;
		wait = wait < 0 || left < wait ? left : wait;
	}
	if (posted)
		wait = 0;

	if (loop->polls_cap < n + POLL_FIRST || !loop->polls)
		loop->polls = xreallocarray(loop->polls, n + POLL_FIRST, sizeof(*loop->polls));
	struct pollfd *polls = TAKE_PTR(loop->polls);
	polls[POLL_SIGNALS] = (struct pollfd){ .fd = loop->signal_fd, .events = POLLIN };
	polls[POLL_POSTS] = (struct pollfd){ .fd = loop->post_fd, .events = POLLIN };
	for (size_t i = 0; i < n; i++) {
		const struct loop_source *s = loop->sources.v[i];
		polls[POLL_FIRST + i] = (struct pollfd){ .fd = -1 };
		if (s->kind == SOURCE_FD && !s->dead)
			polls[POLL_FIRST + i] =
				(struct pollfd){ .fd = s->io.fd, .events = s->io.events };
	}
	loop->depth++;

	int ready = poll(polls, n + POLL_FIRST, wait > INT_MAX ? INT_MAX : (int)wait);
	int failed = ready < 0 && errno != EINTR ? errno : 0;
	if (ready > 0 && polls[POLL_SIGNALS].revents)
		run_signals(loop);
	for (size_t i = 0; i < n && ready > 0; i++) {
		struct loop_source *s = loop->sources.v[i];
		short revents = polls[POLL_FIRST + i].revents;
		if (revents != 0 && s->kind == SOURCE_FD && !s->dead)
			s->io.fn(s->data, revents);
	}
	if (!failed) {
		run_posts(loop);
		run_timers(loop, order_end);
	}

	loop->depth--;
	/* A round inside a callback has made its own array meanwhile; one is enough. */
	free(loop->polls);
	loop->polls = polls;
	loop->polls_cap = n + POLL_FIRST;
	bury(loop);
	return failed ? err_errno(reterr, failed, "poll") : 0;
}

int loop_run(struct loop *loop, const bool *done, struct err *reterr)
{
	while (!*done) {
		int r = loop_step(loop, -1, reterr);
		if (r < 0)
			return r;
	}
	return 0;
}
