#include "ui/field.h"

#include "base/utf8.h"
#include "ui/input.h"

void field_init(struct field *f, struct sv text, size_t max)
{
	*f = (struct field){ .at = 0 };
	str_init_max(&f->text, max);
	utf8_scrub_line(&f->text, utf8_cut(text, max));
	f->at = f->text.len;
}

void field_release(struct field *f)
{
	str_release(&f->text);
}

/* ---- places ---- */

static size_t next(const struct field *f, size_t at)
{
	size_t width;

	return at < f->text.len ? at + utf8_cluster(sv_from(str_sv(&f->text), at), &width) : at;
}

static size_t before(const struct field *f, size_t at)
{
	size_t from = 0;

	for (size_t to; from < at && (to = next(f, from)) < at;)
		from = to;
	return from;
}

static size_t word_before(const struct field *f, size_t at)
{
	while (at > 0 && f->text.buf[at - 1] == ' ')
		at--;
	while (at > 0 && f->text.buf[at - 1] != ' ')
		at--;
	return at;
}

static size_t word_after(const struct field *f, size_t at)
{
	while (at < f->text.len && f->text.buf[at] == ' ')
		at++;
	while (at < f->text.len && f->text.buf[at] != ' ')
		at++;
	return at;
}

/* ---- changes ---- */

static bool move(struct field *f, size_t to)
{
	f->at = to;
	return false;
}

/* The text between two places becomes another; the cursor is behind it. */
static bool put(struct field *f, size_t from, size_t to, struct sv with)
{
	AUTO_STR rest = STR_INIT;

	if ((from == to && !with.n) || f->text.len - (to - from) + with.n > f->text.max)
		return false;
	str_add(&rest, sv_from(str_sv(&f->text), to));
	str_cut(&f->text, from);
	str_add(&f->text, with);
	f->at = f->text.len;
	str_add(&f->text, str_sv(&rest));
	return true;
}

bool field_key(struct field *f, uint32_t key)
{
	AUTO_STR typed = STR_INIT;

	switch (key) {
	case KEY_LEFT:
	case KEY_CTRL | 'b':
		return move(f, before(f, f->at));
	case KEY_RIGHT:
	case KEY_CTRL | 'f':
		return move(f, next(f, f->at));
	case KEY_CTRL | 'a':
		return move(f, 0);
	case KEY_CTRL | 'e':
		return move(f, f->text.len);
	case KEY_ALT | 'b':
	case KEY_ALT | KEY_LEFT:
	case KEY_CTRL | KEY_LEFT:
		return move(f, word_before(f, f->at));
	case KEY_ALT | 'f':
	case KEY_ALT | KEY_RIGHT:
	case KEY_CTRL | KEY_RIGHT:
		return move(f, word_after(f, f->at));
	case KEY_BACKSPACE:
		return put(f, before(f, f->at), f->at, SV(""));
	case KEY_DELETE:
	case KEY_CTRL | 'd':
		return put(f, f->at, next(f, f->at), SV(""));
	case KEY_CTRL | 'w':
	case KEY_ALT | KEY_BACKSPACE:
		return put(f, word_before(f, f->at), f->at, SV(""));
	case KEY_CTRL | 'u':
		return put(f, 0, f->at, SV(""));
	default:
		if (key < ' ' || key >= KEY_NONE)
			return false;
		utf8_add(&typed, key);
		return put(f, f->at, f->at, str_sv(&typed));
	}
}
