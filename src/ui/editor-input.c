/*
 * Where the editor's characters come from: the terminal, while the loop goes on.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/utf8.h"
#include "ui/editor-impl.h"

static void on_key(void *data, short revents UNUSED)
{
	struct editor *e = data;

	e->ready = true;
}

void editor_watch_keys(struct editor *e)
{
	if (e->opts.loop)
		e->keys = loop_add_fd(e->opts.loop, e->opts.in_fd, POLLIN, on_key, e);
}

void editor_unwatch_keys(struct editor *e)
{
	if (e->opts.loop)
		loop_remove(e->opts.loop, e->keys);
	e->keys = NULL;
}

/* Waits for a key while the loop goes on. False when the line is to end. */
static bool wait_for_key(struct editor *e)
{
	e->ready = false;
	while (!e->ready && e->reading) {
		if (!e->opts.loop) {
			struct pollfd key = { .fd = e->opts.in_fd, .events = POLLIN };
			e->ready = poll(&key, 1, -1) > 0 || errno != EINTR;
			continue;
		}
		int r = loop_step(e->opts.loop, -1, e->reterr);
		if (r < 0) {
			e->failed = r;
			e->reading = false;
		}
	}
	return e->reading;
}

bool editor_read_byte(struct editor *e, char *ret)
{
	if (e->has_unread) {
		*ret = e->unread;
		e->has_unread = false;
		return true;
	}
	while (wait_for_key(e)) {
		ssize_t n = read(e->opts.in_fd, ret, 1);
		if (n == 1)
			return true;
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		e->reading = false; /* the terminal is gone */
	}
	return false;
}

static void show_prefill(struct editor *e)
{
	AUTO_FREE wchar_t *wide = editor_widen(str_sv(&e->prefill));

	str_clear(&e->prefill);
	editor_hide(e);
	(void)el_winsertstr(e->el, wide);
	editor_show(e);
}

int editor_get_char(EditLine *el, wchar_t *ret)
{
	void *data = NULL;
	char bytes[4];
	size_t n = 0;
	uint32_t cp;

	(void)el_wget(el, EL_CLIENTDATA, &data);
	struct editor *e = data;
	if (e->prefill.len)
		show_prefill(e);
	do {
		if (!editor_read_byte(e, &bytes[n]))
			return 0;
		/* A key after half a character is a key of its own: it may be Ctrl-C. */
		e->has_unread = n > 0 && ((unsigned char)bytes[n] & 0xC0) != 0x80;
		if (e->has_unread)
			e->unread = bytes[n];
		else
			n++;
	} while (!e->has_unread && n < utf8_expect((unsigned char)bytes[0]));
	(void)utf8_decode(sv_make(bytes, n), &cp);
	*ret = (wchar_t)cp;
	return 1;
}
