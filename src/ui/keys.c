#include "ui/keys.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/utf8.h"

void keys_init(struct keys *k, struct loop *loop, int fd)
{
	*k = (struct keys){ .loop = loop, .fd = fd };
	str_init_max(&k->ahead, KEYS_AHEAD_MAX);
	k->strayed = (struct str)STR_INIT;
}

void keys_release(struct keys *k)
{
	keys_close(k);
	str_release(&k->ahead);
	str_release(&k->strayed);
}

static void forget_stray(struct keys *k)
{
	if (k->stray)
		loop_remove(k->loop, k->stray);
	k->stray = NULL;
	str_clear(&k->strayed);
}

static void drop_timer(struct keys *k)
{
	if (k->timer)
		loop_remove(k->loop, k->timer);
	k->timer = NULL;
}

static void stop_reading(struct keys *k)
{
	if (k->source)
		loop_remove(k->loop, k->source);
	k->source = NULL;
}

static bool drop_escape(struct keys *k)
{
	bool had = k->escape != NULL;

	if (had)
		loop_remove(k->loop, k->escape);
	k->escape = NULL;
	return had;
}

void keys_close(struct keys *k)
{
	drop_timer(k);
	forget_stray(k);
	k->wanted = NULL;
	/* Whoever listens gets the key that was pressed right before. */
	if (k->line)
		return;
	(void)drop_escape(k);
	stop_reading(k);
}

static size_t line_start(const struct keys *k)
{
	const char *end = k->ahead.len ? memrchr(k->ahead.buf, '\n', k->ahead.len) : NULL;

	return end ? (size_t)(end - k->ahead.buf) + 1 : 0;
}

static void add_ahead(struct keys *k, struct sv typed)
{
	enum { BACKSPACE = '\b', DELETE = '\177', KILL = '\025' };

	if (!k->line) {
		str_add(&k->ahead, typed);
		return;
	}
	for (size_t i = 0; i < typed.n; i++) {
		size_t start = line_start(k), n = k->ahead.len;
		char c = typed.p[i] == '\r' ? '\n' : typed.p[i];
		if (c == KILL) {
			str_cut(&k->ahead, start);
		} else if (c == BACKSPACE || c == DELETE) {
			while (n > start && ((unsigned char)k->ahead.buf[--n] & 0xC0) == 0x80)
				;
			str_cut(&k->ahead, n);
		} else if (c != '\n' ||
			!k->line(k->line_data, sv_from(str_sv(&k->ahead), start), true)) {
			str_addc(&k->ahead, c);
		} else {
			str_cut(&k->ahead, start);
		}
	}
	(void)k->line(k->line_data, sv_from(str_sv(&k->ahead), line_start(k)), false);
}

static void on_stray(void *data)
{
	struct keys *k = data;

	k->stray = NULL;
	forget_stray(k);
}

/* One key, with nothing before it, that is no answer or came too soon for one: a slip, unless more
 * follows. */
static bool is_stray(const struct keys *k, struct sv typed)
{
	uint32_t cp;

	return !k->stray && k->ahead.len == line_start(k) && utf8_decode(typed, &cp) == typed.n;
}

static void keep(struct keys *k, struct sv typed)
{
	if (k->stray)
		add_ahead(k, str_sv(&k->strayed));
	forget_stray(k);
	add_ahead(k, typed);
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
	forget_stray(k);
	k->timer = loop_add_timer(k->loop, KEYS_ENTER_MS, on_timer, k);
	fn(k->data, key);
}

static struct sv without_enter(struct sv typed)
{
	while (typed.n && (typed.p[0] == '\r' || typed.p[0] == '\n'))
		typed = sv_from(typed, 1);
	return typed;
}

static void on_lone_escape(void *data)
{
	struct keys *k = data;

	k->escape = NULL;
	if (k->line)
		(void)k->line(k->line_data, SV(KEYS_LONE_ESCAPE), true);
}

static void take(struct keys *k, struct sv typed)
{
	bool paused = clock_age_ms(NULL) - k->last_ms >= k->pause_ms;
	bool escaped = k->wanted && k->timer;
	char first = typed.p[0];

	if (!k->wanted) {
		/* Within the time of the timer an Enter belongs to the answer. */
		typed = k->timer ? without_enter(typed) : typed;
		if (drop_escape(k))
			add_ahead(k, SV(KEYS_LONE_ESCAPE));
		if (k->line && sv_is(typed, KEYS_LONE_ESCAPE)) {
			k->escape = loop_add_timer(k->loop, KEYS_SEQUENCE_MS, on_lone_escape, k);
			return;
		}
		k->typing |= typed.n > 0;
		if (typed.n)
			add_ahead(k, typed);
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
	else if (!enter && is_stray(k, typed)) {
		str_add(&k->strayed, typed);
		k->pause_ms = KEYS_PAUSE_MS;
		k->last_ms = clock_age_ms(NULL);
		k->stray = loop_add_timer(k->loop, KEYS_PAUSE_MS, on_stray, k);
	} else if (!enter || k->ahead.len || k->stray) /* Enter alone says nothing */
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
	(void)drop_escape(k);
	stop_reading(k);
	if (asked)
		k->fn(k->data, KEYS_GONE);
}

void keys_ask(struct keys *k, const char *wanted, keys_fn fn, void *data)
{
	struct pollfd before = { .fd = k->fd, .events = POLLIN };
	char typed[4096];

	drop_timer(k);
	forget_stray(k);
	(void)drop_escape(k);
	k->wanted = wanted;
	k->fn = fn;
	k->data = data;
	k->last_ms = clock_age_ms(NULL);
	/* Whoever was typing may not have looked up. */
	k->pause_ms = k->typing ? KEYS_PAUSE_MS : KEYS_LOOK_MS;
	k->typing = false;
	while (poll(&before, 1, 0) > 0 && (before.revents & POLLIN)) {
		ssize_t n = read(k->fd, typed, sizeof(typed));
		if (n <= 0)
			break;
		keep(k, sv_make(typed, (size_t)n));
	}
	if (!k->source)
		k->source = loop_add_fd(k->loop, k->fd, POLLIN, on_readable, k);
}

void keys_listen(struct keys *k, keys_line_fn line, void *data)
{
	k->line = line;
	k->line_data = data;
	if (line && !k->source)
		k->source = loop_add_fd(k->loop, k->fd, POLLIN, on_readable, k);
	else if (!line && !k->wanted)
		keys_close(k);
}
