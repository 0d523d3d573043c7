#include "strategy/known.h"

#include "base/mem.h"
#include "strategy/line.h"
#include "transcript/note.h"

enum { TOKENS_MAX = 1000000000 };

struct figure known_left(struct figure before, struct figure saved)
{
	int64_t left = before.tokens > saved.tokens ? before.tokens - saved.tokens : 0;
	enum sure sure = before.sure > saved.sure ? before.sure : saved.sure;

	return (struct figure){ left, sure > SURE_FITTED ? sure : SURE_FITTED };
}

void known_put(struct jw *w, const struct known *known)
{
	jw_put_i64(w, "tokens_left", known->left.tokens);
	jw_put_cstr(w, "tokens_left_sure", sure_name(known->left.sure));
	if (known->bytes_per_token > 0)
		jw_put_double(w, "bytes_per_token", known->bytes_per_token);
	jw_put_i64(w, "lines", (int64_t)known->lines);
}

void known_read(const char *path, struct known *ret)
{
	static const char *const keys[] = { KNOWN_NOTE_KEY, "trim_metadata", "continue_metadata" };
	AUTO_STR text = STR_INIT;
	struct jval note;
	size_t key;
	int64_t left, lines;

	*ret = (struct known){ .taken = true };
	if (!session_note_find(path, keys, ARRAY_LEN(keys), &text, &note, &key))
		return;
	if (key > 0)
		note = line_member(note, "stats");
	if (!scan_i64(line_member(note, "tokens_left"), &left) || left < 0 || left > TOKENS_MAX ||
		!scan_i64(line_member(note, "lines"), &lines) || lines < 0)
		return;
	bool fitted = scan_string_eq(
		line_member(note, "tokens_left_sure"), sv_of(sure_name(SURE_FITTED)));
	ret->left = (struct figure){ left, fitted ? SURE_FITTED : SURE_ASSUMED };
	ret->lines = (uint64_t)lines;
	ret->taken = false;
	(void)scan_double(line_member(note, "bytes_per_token"), &ret->bytes_per_token);
}

void known_tell(struct known *known, struct tokens *t, uint64_t line)
{
	if (known->taken || line < known->lines)
		return;
	known->taken = true;
	/* What was recorded in those lines is newer than the note. */
	if (t->context == 0)
		tokens_known(t, known->left, known->bytes_per_token);
}
