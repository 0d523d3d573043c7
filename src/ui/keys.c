#include "ui/keys.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

void keys_init(struct keys *k, struct loop *loop, int fd)
{
	*k = (struct keys){ .loop = loop, .fd = fd };
	str_init_max(&k->ahead, KEYS_AHEAD_MAX);
}

void keys_release(struct keys *k)
{
	keys_close(k);
	str_release(&k->ahead);
}

static void drop_timer(struct keys *k)
{
	if (k->timer)
		loop_remove(k->loop, k->timer);
	k->timer = NULL;
}

void keys_close(struct keys *k)
{
	drop_timer(k);
	if (k->source)
		loop_remove(k->loop, k->source);
	k->source = NULL;
	k->wanted = NULL;
}

static void keep(struct keys *k, struct sv typed)
{
	str_add(&k->ahead, typed);
	k->pause_ms = KEYS_PAUSE_MS;
	k->last_ms = clock_age_ms(NULL);
}

static void on_timer(void *data)
{
	struct keys *k = data;

	k->timer = NULL;
	if (!k->wanted)
		keys_close(k);
	else
		k->fn(k->data, KEYS_ESCAPE); /* nothing followed it: it is the key itself */
}

/* The question is answered; reading goes on for an Enter that belongs to the answer. */
static void answer(struct keys *k, char key)
{
	keys_fn fn = k->fn;

	k->wanted = NULL;
	drop_timer(k);
	k->timer = loop_add_timer(k->loop, KEYS_ENTER_MS, on_timer, k);
	fn(k->data, key);
}

static struct sv without_enter(struct sv typed)
{
	while (typed.n && (typed.p[0] == '\r' || typed.p[0] == '\n'))
		typed = sv_from(typed, 1);
	return typed;
}

static void take(struct keys *k, struct sv typed)
{
	bool paused = clock_age_ms(NULL) - k->last_ms >= k->pause_ms;
	bool escaped = k->wanted && k->timer;
	char first = typed.p[0];

	if (!k->wanted) {
		str_add(&k->ahead, without_enter(typed));
		return;
	}
	drop_timer(k);
	/* A key of several bytes is none of ours: an arrow, say. */
	if (escaped || (first == KEYS_ESCAPE && typed.n > 1))
		return;
	if (first == KEYS_ESCAPE && paused) {
		k->timer = loop_add_timer(k->loop, KEYS_SEQUENCE_MS, on_timer, k);
		return;
	}
	if (first >= 'A' && first <= 'Z')
		first = (char)(first - 'A' + 'a');
	bool alone = without_enter(sv_from(typed, 1)).n == 0;
	bool enter = without_enter(typed).n == 0;
	if (first == '\004' && alone && paused)
		k->fn(k->data, KEYS_ESCAPE);
	else if (first && strchr(k->wanted, first) && alone && paused)
		answer(k, first);
	else if (!enter || k->ahead.len) /* Enter alone says nothing */
		keep(k, typed);
}

static void on_readable(void *data, short revents)
{
	struct keys *k = data;
	char typed[4096];
	ssize_t n = read(k->fd, typed, sizeof(typed));

	(void)revents;
	if (n > 0) {
		take(k, sv_make(typed, (size_t)n));
		return;
	}
	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	bool asked = k->wanted != NULL;
	keys_close(k);
	if (asked)
		k->fn(k->data, KEYS_GONE);
}

void keys_ask(struct keys *k, const char *wanted, keys_fn fn, void *data)
{
	struct pollfd before = { .fd = k->fd, .events = POLLIN };
	char typed[4096];

	drop_timer(k);
	k->wanted = wanted;
	k->fn = fn;
	k->data = data;
	k->last_ms = clock_age_ms(NULL);
	k->pause_ms = KEYS_LOOK_MS;
	while (poll(&before, 1, 0) > 0 && (before.revents & POLLIN)) {
		ssize_t n = read(k->fd, typed, sizeof(typed));
		if (n <= 0)
			break;
		keep(k, sv_make(typed, (size_t)n));
	}
	if (!k->source)
		k->source = loop_add_fd(k->loop, k->fd, POLLIN, on_readable, k);
}
