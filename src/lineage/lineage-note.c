/*
 * What the note in a session's first lines says about how and when the session was made.
 */
#include "lineage/lineage-note.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/str.h"
#include "transcript/transcript.h"
#include "json/scan.h"

enum {
	PIECE = 64 * 1024,
	HEAD_MAX = 4 * 1024 * 1024, /* bytes in which the note must end */
	LINES_MAX = 8, /* the note is in the first one that is an object and not too long */
};

static const char *const keys[] = { SESSION_NOTE_KEY, "continue_metadata", "trim_metadata" };

static bool find_note(struct sv line, struct jval *ret)
{
	struct jval top, payload;
	if (scan_text(line, &top) < 0 || top.type != J_OBJECT)
		return false;
	bool inside = scan_get(top, SV("payload"), &payload) > 0;
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if ((scan_get(top, sv_of(keys[i]), ret) > 0 && ret->type == J_OBJECT) ||
			(inside && scan_get(payload, sv_of(keys[i]), ret) > 0 &&
				ret->type == J_OBJECT))
			return true;
	return false;
}

static void take_time(struct jval note, struct lineage_note *ret)
{
	static const char *const times[] = { "trimmed_at", "continued_at", "repaired_at",
		"created_at" };
	struct jval val;
	for (size_t i = 0; i < ARRAY_LEN(times) && ret->made_ms == 0; i++) {
		AUTO_STR text = STR_INIT;
		int64_t ms;
		if (scan_get(note, sv_of(times[i]), &val) > 0 && scan_string(val, &text) &&
			clock_parse_iso(str_sv(&text), &ms) && ms > 0)
			ret->made_ms = ms;
	}
}

static void take(struct jval note, struct lineage_note *ret)
{
	struct jval val;
	int64_t saved;
	take_time(note, ret);
	ret->smart = scan_path(note, "trim_params.method", &val) > 0 &&
		scan_string_eq(val, SV("smart-trim"));
	if (scan_path(note, "stats.tokens_saved", &val) > 0 && scan_i64(val, &saved) && saved >= 0)
		ret->saved = saved;
}

/* The text grows until it holds the note, or enough lines without one. */
static bool look(struct sv text, bool whole, bool *ret_enough, struct jval *note)
{
	struct sv line;
	size_t lines = 0;
	while (lines < LINES_MAX && text.n > 0) {
		bool ended = memchr(text.p, '\n', text.n) != NULL;
		if (!ended && !whole)
			return false;
		(void)sv_split(&text, '\n', &line);
		if (find_note(line, note))
			return true;
		lines++;
	}
	*ret_enough = lines == LINES_MAX;
	return false;
}

void lineage_note_read(const char *path, struct lineage_note *ret)
{
	AUTO_STR text = STR_INIT;
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	bool enough = fd < 0, whole = false;
	size_t piece = PIECE;
	struct jval note;
	*ret = (struct lineage_note)LINEAGE_NOTE_INIT;
	while (!enough && !whole && text.len < HEAD_MAX && str_reserve(&text, piece)) {
		ssize_t n = pread(fd, text.buf + text.len, piece, (off_t)text.len);
		whole = n <= 0;
		text.len += n > 0 ? (size_t)n : 0;
		text.buf[text.len] = '\0';
		piece = text.len; /* doubling, so that a long line is looked at few times */
		if (look(str_sv(&text), whole, &enough, &note)) {
			take(note, ret);
			return;
		}
	}
}
