#include "strategy/cut.h"

enum { INPUT_DEPTH = 8 };

struct walk {
	const char *text_type; /* what a block with text is called */
	size_t least;
	struct sv part;
	struct text_walk *inside;
	cut_fn *fn;
	void *data;
};

static void cut_string(struct walk *w, struct jval val)
{
	struct sv inner = scan_inner(val);
	struct cut cut = { CUT_TEXT, val, 0, w->part, val.raw, w->inside };

	if (val.type != J_STRING || inner.n < w->least || placeholder_is(inner))
		return;
	cut.chars = text_chars(inner);
	if (cut.chars < w->least)
		return;
	if (w->inside)
		cut.span = text_span(w->inside, (size_t)(val.raw.p - w->inside->text.p), val.raw.n);
	w->fn(w->data, &cut);
}

/* Every long string inside a value, down to a few levels. */
static void cut_strings(struct walk *w, struct jval val, int depth)
{
	struct scan_iter it = scan_iter(val);
	struct jval item;
	struct sv key;

	if ((val.type != J_OBJECT && val.type != J_ARRAY) || depth > INPUT_DEPTH ||
		val.raw.n < w->least)
		return;
	while (scan_next(&it, &key, &item) > 0) {
		if (key.n > 2)
			w->part = sv_make(key.p + 1, key.n - 2);
		if (item.type == J_STRING)
			cut_string(w, item);
		else
			cut_strings(w, item, depth + 1);
	}
}

/* The JSON object inside a string; false when it holds none. `shape` says what of it goes. */
static bool cut_inside(struct walk *w, struct jval string, enum piece_shape shape)
{
	AUTO_STR text = STR_INIT;
	struct jval inner, output = { .type = J_NONE };

	if (string.type != J_STRING || !sv_starts(scan_inner(string), SV("{")) ||
		!scan_string(string, &text) || scan_text(str_sv(&text), &inner) < 0 ||
		inner.type != J_OBJECT)
		return false;
	if (shape == SHAPE_WRAPPED)
		output = line_member(inner, "output");
	if (shape == SHAPE_WRAPPED && output.type != J_STRING)
		return false;
	struct text_walk inside = { .string = string, .text = str_sv(&text) };
	w->inside = &inside;
	if (shape == SHAPE_WRAPPED)
		cut_string(w, output);
	else
		cut_strings(w, inner, 0);
	w->inside = NULL;
	return true;
}

/* The text of a block that is one in this format, else J_NONE. */
static struct jval block_text(const struct walk *w, struct jval item)
{
	static const struct scan_key keys[] = { SCAN_KEY("type", SCAN_TOP),
		SCAN_KEY("text", SCAN_TOP) };
	struct jval vals[ARRAY_LEN(keys)];

	(void)scan_keys(item.raw, keys, ARRAY_LEN(keys), vals);
	return scan_string_eq(vals[0], sv_of(w->text_type)) ? vals[1]
							    : (struct jval){ .type = J_NONE };
}

/* Many small texts that are long together go together. */
static void cut_blocks(struct walk *w, struct jval list)
{
	struct cut cut = { CUT_BLOCKS, .val = list, .span = list.raw };
	struct scan_iter it = scan_iter(list);
	struct jval item;
	size_t blocks = 0;
	bool plain = true;

	for (; scan_next(&it, NULL, &item) > 0; blocks++) {
		struct jval text = block_text(w, item);
		if (text.type == J_STRING && !placeholder_is(scan_inner(text)))
			cut.chars += text_chars(scan_inner(text));
		else
			plain = false;
	}
	if (plain && blocks > 1) {
		if (cut.chars >= w->least)
			w->fn(w->data, &cut);
		return;
	}
	it = scan_iter(list);
	while (scan_next(&it, NULL, &item) > 0) {
		struct jval text = block_text(w, item);
		if (text.type != J_NONE)
			cut_string(w, text);
		else
			w->fn(w->data, &(struct cut){ CUT_PICTURE, .val = item, .span = item.raw });
	}
}

void cut_each(
	const struct line_piece *piece, const char *text_type, size_t least, cut_fn *fn, void *data)
{
	struct walk w = { .text_type = text_type, .least = least, .fn = fn, .data = data };

	if (piece->val.raw.n < least)
		return;
	switch (piece->shape) {
	case SHAPE_STRINGS:
		cut_strings(&w, piece->val, 0);
		break;
	case SHAPE_JSON:
		(void)cut_inside(&w, piece->val, SHAPE_JSON);
		break;
	case SHAPE_WRAPPED:
		if (!cut_inside(&w, piece->val, SHAPE_WRAPPED))
			cut_string(&w, piece->val);
		break;
	case SHAPE_TEXT:
		if (piece->kind == PIECE_RESULT && piece->val.type == J_ARRAY)
			cut_blocks(&w, piece->val);
		else
			cut_string(&w, piece->val);
		break;
	}
}
