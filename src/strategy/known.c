#include "strategy/known.h"

#include "base/mem.h"
#include "transcript/line.h"
#include "transcript/note.h"

enum { TOKENS_MAX = 1000000000 };

struct figure known_left(struct figure before, struct figure saved)
{
	int64_t left = before.tokens > saved.tokens ? before.tokens - saved.tokens : 0;
	enum sure sure = before.sure > saved.sure ? before.sure : saved.sure;

	return (struct figure){ left, sure > SURE_FITTED ? sure : SURE_FITTED };
}

struct known known_of(const struct tokens *t, struct figure left, uint64_t lines)
{
	const struct token_ratio ratio = tokens_ratio(t);

	return (struct known){
		.left = left,
		.bytes_per_token = ratio.sure == SURE_FITTED ? ratio.bytes : 0,
		.base = tokens_base(t),
		.most = t->most,
		.lines = lines,
	};
}

void known_put(struct jw *w, const struct known *known)
{
	jw_put_i64(w, "tokens_left", known->left.tokens);
	jw_put_cstr(w, "tokens_left_sure", sure_name(known->left.sure));
	if (known->bytes_per_token > 0)
		jw_put_double(w, "bytes_per_token", known->bytes_per_token);
	if (known->base > 0)
		jw_put_i64(w, "tokens_base", known->base);
	if (known->most > 0)
		jw_put_i64(w, "tokens_most", known->most);
	if (known->window > 0)
		jw_put_i64(w, "context_window", known->window);
	jw_put_i64(w, "lines", (int64_t)known->lines);
}

/* A number of tokens, as a foreign hand may have written it; 0: none. */
static int64_t tokens_in(struct jval note, const char *key)
{
	int64_t n = 0;

	return scan_i64(line_member(note, key), &n) && n > 0 && n <= TOKENS_MAX ? n : 0;
}

void known_read(const char *path, struct known *ret)
{
	static const char *const keys[] = { KNOWN_NOTE_KEY, "trim_metadata", "continue_metadata",
		SESSION_NOTE_KEY };
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
	ret->base = tokens_in(note, "tokens_base");
	ret->most = tokens_in(note, "tokens_most");
	ret->window = tokens_in(note, "context_window");
}

void known_carry(struct jw *w, const char *path)
{
	struct known known;

	known_read(path, &known);
	if (known.taken)
		return;
	jw_key(w, "stats");
	jw_object(w);
	known_put(w, &known);
	jw_end(w);
}

void known_tell(struct known *known, struct tokens *t, uint64_t line)
{
	if (known->taken || line < known->lines)
		return;
	known->taken = true;
	/* What was recorded in those lines is newer than the note. */
	if (t->context == 0)
		tokens_known(t,
			&(struct tokens_told){
				known->left, known->bytes_per_token, known->base, known->most });
}
