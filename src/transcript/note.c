#include "transcript/note.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/unpack.h"

enum {
	PIECE = 64 * 1024,
	HEAD_MAX = 4 * 1024 * 1024, /* bytes in which the note must end */
	LINES_MAX = 8, /* the note is in the first one that is an object and not too long */
};

struct finding {
	const char *const *keys;
	size_t n_keys;
	struct jval note;
	size_t key;
};

static bool has_object(struct jval obj, const char *key, struct jval *ret)
{
	return scan_get(obj, sv_of(key), ret) > 0 && ret->type == J_OBJECT;
}

static bool in_line(struct finding *f, struct sv line)
{
	struct jval top, payload;

	if (scan_text(line, &top) < 0 || top.type != J_OBJECT)
		return false;
	bool inside = scan_get(top, SV("payload"), &payload) > 0;
	for (f->key = 0; f->key < f->n_keys; f->key++) {
		const char *key = f->keys[f->key];
		if (has_object(top, key, &f->note) ||
			(inside && has_object(payload, key, &f->note)))
			return true;
	}
	return false;
}

/* The text grows until it holds the note, or enough lines without one. */
static bool in_text(struct finding *f, struct sv text, bool whole, bool *ret_enough)
{
	struct sv line;
	size_t lines = 0;

	while (lines < LINES_MAX && text.n > 0) {
		bool ended = memchr(text.p, '\n', text.n) != NULL;
		if (!ended && !whole)
			return false;
		(void)sv_split(&text, '\n', &line);
		if (in_line(f, line))
			return true;
		lines++;
	}
	*ret_enough = lines == LINES_MAX;
	return false;
}

bool session_note_find(const char *path, const char *const *keys, size_t n_keys, struct str *text,
	struct jval *ret, size_t *ret_key)
{
	AUTO_CLOSE int fd = unpack_open(path, NULL, NULL);
	struct finding f = { .keys = keys, .n_keys = n_keys };
	bool enough = fd < 0, whole = false;
	size_t piece = PIECE;

	str_clear(text);
	while (!enough && !whole && text->len < HEAD_MAX && str_reserve(text, piece)) {
		ssize_t n = pread(fd, text->buf + text->len, piece, (off_t)text->len);
		whole = n <= 0;
		text->len += n > 0 ? (size_t)n : 0;
		text->buf[text->len] = '\0';
		piece = text->len; /* doubling, so that a long line is looked at few times */
		if (in_text(&f, str_sv(text), whole, &enough)) {
			*ret = f.note;
			*ret_key = f.key;
			return true;
		}
	}
	return false;
}
