#include "ui/keys.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "ui/term.h"

static const struct sv paste_begin = { TERM_PASTE_BEGIN, sizeof(TERM_PASTE_BEGIN) - 1 };
static const struct sv paste_end = { TERM_PASTE_END, sizeof(TERM_PASTE_END) - 1 };

void keys_init(struct keys *k, struct loop *loop, int fd)
{
	*k = (struct keys){ .loop = loop, .fd = fd };
	k->ahead = (struct str)STR_INIT;
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

/* What was typed up to a pasted block, and that block, which may be open. */
struct piece {
	struct sv typed, pasted;
	bool is_paste, open;
};

static bool next_piece(struct sv *rest, struct piece *ret)
{
	size_t at, n;

	*ret = (struct piece){ .typed = *rest, .pasted = SV("") };
	if (rest->n == 0)
		return false;
	ret->is_paste = sv_find(*rest, paste_begin, &at);
	if (!ret->is_paste) {
		*rest = SV("");
		return true;
	}
	ret->typed = sv_head(*rest, at);
	ret->pasted = sv_from(*rest, at + paste_begin.n);
	ret->open = !sv_find(ret->pasted, paste_end, &n);
	if (ret->open)
		n = ret->pasted.n;
	*rest = sv_from(ret->pasted, n + paste_end.n);
	ret->pasted = sv_head(ret->pasted, n);
	return true;
}

void keys_plain(struct str *out, struct sv typed)
{
	struct piece piece;

	while (next_piece(&typed, &piece)) {
		AUTO_STR lines = STR_INIT;
		utf8_scrub(out, piece.typed);
		for (size_t i = 0; i < piece.pasted.n; i++)
			str_addc(&lines, piece.pasted.p[i] == '\r' ? '\n' : piece.pasted.p[i]);
		while (sv_ends(str_sv(&lines), SV("\n")))
			str_cut(&lines, lines.len - 1);
		utf8_scrub(out, str_sv(&lines));
	}
}

static size_t line_start(const struct keys *k)
{
	const char *end = k->ahead.len ? memrchr(k->ahead.buf, '\n', k->ahead.len) : NULL;

	return end ? (size_t)(end - k->ahead.buf) + 1 : 0;
}

static void add_byte(struct keys *k, char c)
{
	if (k->ahead.len < KEYS_AHEAD_MAX)
		str_addc(&k->ahead, c);
	else
		k->lost = true;
}

/* The last character of the line goes, or a pasted block, half of which nobody could end. */
static void rub_out(struct keys *k)
{
	size_t start = line_start(k), n = k->ahead.len;
	struct sv rest = sv_from(str_sv(&k->ahead), start);
	struct piece piece = { .is_paste = false };

	if (sv_ends(rest, paste_end)) {
		while (rest.n && next_piece(&rest, &piece))
			;
	}
	if (piece.is_paste)
		n = (size_t)(piece.pasted.p - k->ahead.buf) - paste_begin.n;
	while (!piece.is_paste && n > start && ((unsigned char)k->ahead.buf[--n] & 0xC0) == 0x80)
		;
	str_cut(&k->ahead, n);
}

/* What a key does to the line that is being typed. */
static void press(struct keys *k, char c)
{
	enum { BACKSPACE = '\b', DELETE = '\177', KILL = '\025' };
	size_t start = line_start(k);

	if (c == KILL)
		str_cut(&k->ahead, start);
	else if (c == BACKSPACE || c == DELETE)
		rub_out(k);
	else if (c != '\n' || !k->line(k->line_data, sv_from(str_sv(&k->ahead), start), true))
		add_byte(k, c);
	else
		str_cut(&k->ahead, start);
}

static void add_ahead(struct keys *k, struct sv typed)
{
	for (size_t i = 0; i < typed.n; i++) {
		struct sv mark = k->pasting ? paste_end : paste_begin;
		char c = typed.p[i];
		k->mark = c == mark.p[k->mark] ? k->mark + 1 : c == mark.p[0];
		if (k->mark == 1 && !k->pasting)
			k->pasted_at = k->ahead.len;
		if (!k->line)
			add_byte(k, c);
		else if (k->pasting)
			add_byte(k, c == '\n' ? '\r' : c);
		else
			press(k, c == '\r' ? '\n' : c);
		if (k->mark < mark.n)
			continue;
		k->mark = 0;
		if (k->pasting && k->lost)
			str_cut(&k->ahead, k->pasted_at);
		k->pasting = !k->pasting;
		k->lost = false;
	}
	if (k->line && !k->pasting)
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

/* A pasted block, or what may become its mark, during a question. */
static bool take_paste(struct keys *k, struct sv typed, bool escaped)
{
	AUTO_STR all = STR_INIT;
	size_t at;

	if (k->pasting) {
		keep(k, typed);
		return true;
	}
	if (escaped)
		str_addc(&all, KEYS_ESCAPE);
	str_add(&all, str_sv(&k->strayed));
	str_add(&all, typed);
	bool half = all.len > 1 && sv_starts(paste_begin, str_sv(&all));
	bool whole = sv_find(str_sv(&all), paste_begin, &at);
	if (!half && !whole) {
		bool other = k->strayed.len > 1 && k->strayed.buf[0] == KEYS_ESCAPE;
		if (other)
			forget_stray(k);
		return other;
	}
	drop_timer(k);
	forget_stray(k);
	if (half) {
		str_add(&k->strayed, str_sv(&all));
		k->stray = loop_add_timer(k->loop, KEYS_PAUSE_MS, on_stray, k);
	} else {
		/* A key of several bytes before it is dropped as ever. */
		keep(k, all.buf[0] == KEYS_ESCAPE ? sv_from(str_sv(&all), at) : str_sv(&all));
	}
	return true;
}

static void take(struct keys *k, struct sv typed)
{
	bool paused = clock_age_ms(NULL) - k->last_ms >= k->pause_ms;
	bool escaped = k->wanted && k->timer;
	char first = typed.p[0];

	if (!k->wanted) {
		/* Within the time of the timer an Enter belongs to the answer. */
		typed = k->timer && !k->pasting ? without_enter(typed) : typed;
		if (drop_escape(k))
			add_ahead(k, SV(KEYS_LONE_ESCAPE));
		if (k->line && !k->pasting && sv_is(typed, KEYS_LONE_ESCAPE)) {
			k->escape = loop_add_timer(k->loop, KEYS_SEQUENCE_MS, on_lone_escape, k);
			return;
		}
		k->typing |= typed.n > 0;
		if (typed.n)
			add_ahead(k, typed);
		return;
	}
	if (take_paste(k, typed, escaped))
		return;
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
	struct sv rest = str_sv(&k->ahead);
	struct piece last = { .open = false };

	k->line = line;
	k->line_data = data;
	/* Whoever took what was typed ahead has the rest of an open block. */
	while (rest.n && next_piece(&rest, &last))
		;
	k->pasting = last.open;
	k->pasted_at = last.open ? k->ahead.len - last.pasted.n - paste_begin.n : 0;
	k->mark = 0;
	if (line && !k->source)
		k->source = loop_add_fd(k->loop, k->fd, POLLIN, on_readable, k);
	else if (!line && !k->wanted)
		keys_close(k);
}
