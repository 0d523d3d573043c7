/*
 * Taking one piece out: measure, hash, placeholder, splice, and where the original is.
 */
#include "strategy/trim-run.h"
#include "json/write.h"

enum {
	INPUT_DEPTH = 8,
	REPEATED_MIN = 120, /* bytes: about those of a placeholder */
};

static size_t keep_of(const struct trim_opts *o)
{
	if (o->keep_head > 0)
		return (size_t)o->keep_head;
	return o->style == TRIM_HEAD ? (size_t)o->threshold : 0;
}

bool trim_may_repeat(struct jval val)
{
	struct sv inner = scan_inner(val);

	return inner.n >= REPEATED_MIN && !placeholder_is(inner);
}

void trim_lower(struct sv name, struct str *out)
{
	for (size_t i = 0; i < name.n; i++)
		str_addc(out,
			name.p[i] >= 'A' && name.p[i] <= 'Z' ? (char)(name.p[i] | 0x20)
							     : name.p[i]);
}

bool trim_selected(const struct trim_run *run, struct sv name)
{
	AUTO_STR lower = STR_INIT;
	uint64_t index;

	if (run->wanted.n == 0)
		return true;
	trim_lower(name, &lower);
	return map_get(&run->wanted, str_sv(&lower), &index);
}

bool trim_is_long(const struct trim_run *run, struct jval text)
{
	struct sv inner = scan_inner(text);
	size_t threshold = (size_t)run->opts->threshold;

	return inner.n >= threshold && !placeholder_is(inner) && text_chars(inner) >= threshold;
}

/* A line in hand. */
struct trim_at {
	const struct trim_run *run;
	struct trim_part *part;
	const struct rewrite_line *line;
	struct edit *edit;
	const char *text_type; /* what a block with text is called */
};

struct trim_piece {
	struct placeholder holder; /* kind, name, part; the rest is filled in */
	struct trim_count *count;
	bool sent; /* counts for tokens */
	bool repeated; /* goes at any length */
	/* It lies in this text of a string of the line; NULL: in the line. */
	struct text_walk *inside;
};

/* ---- one piece ---- */

/* Where in the line the value stands, and what is to stand there instead. */
struct swap {
	struct sv span;
	struct sv json;
	struct recall_place place;
};

static void note_swap(struct trim_at *at, const struct trim_piece *piece, const struct swap *swap,
	int64_t chars_gone)
{
	uint64_t bytes = swap->span.n - swap->json.n;
	bool image = swap->place.kind == RECALL_IMAGE;

	edit_replace(at->edit, swap->span, swap->json);
	vec_push(&at->part->places, swap->place);
	piece->count->n++;
	piece->count->chars += chars_gone;
	piece->count->bytes += bytes;
	if (piece->sent)
		vec_push(&at->part->saved,
			(struct trim_saved){ at->line->record, image ? 0 : bytes, image });
}

/* Replaces val by JSON when that is shorter. */
static void replace(struct trim_at *at, const struct trim_piece *piece, struct jval val,
	struct sv json, enum recall_kind kind, struct recall_hash hash, int64_t chars_gone)
{
	const struct rewrite_line *line = at->line;
	struct text_walk *inside = piece->inside;
	struct jval place = inside ? inside->string : val;
	AUTO_STR escaped = STR_INIT;
	struct swap swap = {
		.span = val.raw,
		.json = json,
		.place = {
			.hash = hash,
			.offset = line->offset + (uint64_t)(place.raw.p - line->text.p),
			.size = place.raw.n,
			.kind = kind,
		},
	};

	if (inside) {
		swap.place.inner_offset = (uint64_t)(val.raw.p - inside->text.p);
		swap.place.inner_size = val.raw.n;
		swap.span = text_span(inside, (size_t)swap.place.inner_offset, val.raw.n);
		json_escape(&escaped, json);
		swap.json = str_sv(&escaped);
	}
	if (swap.json.n < swap.span.n)
		note_swap(at, piece, &swap, chars_gone);
}

/* A JSON string: the head of the text as it stands, then the placeholder. */
static void string_json(
	struct trim_part *part, const struct placeholder *p, struct sv head, struct str *out)
{
	str_clear(&part->text);
	placeholder_text(p, &part->text);
	str_addc(out, '"');
	if (head.n > 0) {
		str_add(out, head);
		str_adds(out, "\\n\\n");
	}
	json_escape(out, str_sv(&part->text));
	str_addc(out, '"');
}

static void take_string(struct trim_at *at, const struct trim_piece *piece, struct jval val)
{
	const struct trim_opts *o = at->run->opts;
	struct sv inner = scan_inner(val), head = { NULL, 0 };
	size_t keep = piece->repeated ? 0 : keep_of(o);
	size_t least = piece->repeated ? 0 : (size_t)o->threshold;

	if (val.type != J_STRING || inner.n < least || placeholder_is(inner))
		return;
	struct placeholder p = piece->holder;
	p.length = text_chars(inner);
	if (p.length < least || p.length <= keep)
		return;
	if (keep > 0) {
		head = text_head(inner, keep);
		p.shown = keep;
	}
	p.hash = recall_hash(val.raw);
	str_clear(&at->part->json);
	string_json(at->part, &p, head, &at->part->json);
	int64_t gone = (int64_t)p.length - (int64_t)(p.shown + at->part->text.len);
	replace(at, piece, val, str_sv(&at->part->json), RECALL_TEXT, p.hash, gone);
}

/* Every long string inside a value, down to a few levels. */
static void take_strings(struct trim_at *at, struct trim_piece *piece, struct jval val, int depth)
{
	struct scan_iter it = scan_iter(val);
	struct jval item;
	struct sv key;

	if ((val.type != J_OBJECT && val.type != J_ARRAY) || depth > INPUT_DEPTH)
		return;
	while (scan_next(&it, &key, &item) > 0) {
		if (key.n > 2)
			piece->holder.part = sv_make(key.p + 1, key.n - 2);
		if (item.type == J_STRING)
			take_string(at, piece, item);
		else
			take_strings(at, piece, item, depth + 1);
	}
}

/* The JSON object inside a string; false when it holds none. `shape` says what of it goes. */
static bool take_inside(
	struct trim_at *at, struct trim_piece *piece, struct jval string, enum piece_shape shape)
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
	struct text_walk walk = { .string = string, .text = str_sv(&text) };
	piece->inside = &walk;
	if (shape == SHAPE_WRAPPED)
		take_string(at, piece, output);
	else
		take_strings(at, piece, inner, 0);
	piece->inside = NULL;
	return true;
}

/* ---- lists of blocks ---- */

/* A block of a list: what is a text block in this format has a text. */
struct block {
	struct jval item, text;
	bool plain; /* nothing but text, and no placeholder */
};

static struct block block_of(const struct trim_at *at, struct jval item)
{
	static const struct scan_key keys[] = { SCAN_KEY("type", SCAN_TOP),
		SCAN_KEY("text", SCAN_TOP) };
	struct jval vals[ARRAY_LEN(keys)];

	(void)scan_keys(item.raw, keys, ARRAY_LEN(keys), vals);
	bool is_text = scan_string_eq(vals[0], sv_of(at->text_type));
	return (struct block){
		.item = item,
		.text = is_text ? vals[1] : (struct jval){ .type = J_NONE },
		.plain =
			is_text && vals[1].type == J_STRING && !placeholder_is(scan_inner(vals[1])),
	};
}

/* A block with base64 data becomes a text block. source: an object with the data in it, or the
 * address that holds them. */
static void take_picture(struct trim_at *at, struct jval block, struct jval source)
{
	const struct trim_piece piece = { .count = &at->part->images, .sent = true };
	struct jval data = source.type == J_STRING ? source : line_member(source, "data");
	struct sv media = scan_inner(line_member(source, "media_type"));
	struct placeholder p = {
		.kind = PLACEHOLDER_IMAGE,
		.name = media.n ? media : SV("image"),
		.length = scan_inner(data).n / 4 * 3,
	};
	struct str *json = &at->part->json;

	if (data.type != J_STRING)
		return;
	if (!at->run->opts->images) {
		at->part->images_left++;
		return;
	}
	p.hash = recall_hash(block.raw);
	str_clear(json);
	str_addf(json, "{\"type\":\"%s\",\"text\":", at->text_type);
	string_json(at->part, &p, (struct sv){ NULL, 0 }, json);
	str_addc(json, '}');
	replace(at, &piece, block, str_sv(json), RECALL_IMAGE, p.hash, 0);
}

/* A result that is a list of blocks. Many small texts that are long together get one placeholder
 * for all. */
static void take_blocks(struct trim_at *at, const struct trim_piece *piece, struct jval list)
{
	size_t threshold = (size_t)at->run->opts->threshold, blocks = 0, chars = 0;
	struct placeholder p = piece->holder;
	struct str *json = &at->part->json;
	struct scan_iter it = scan_iter(list);
	struct jval item;
	bool plain = true;

	if (list.raw.n < threshold)
		return;
	for (; scan_next(&it, NULL, &item) > 0; blocks++) {
		struct block b = block_of(at, item);
		plain = plain && b.plain;
		chars += b.plain ? text_chars(scan_inner(b.text)) : 0;
	}
	if (plain && blocks > 1) {
		if (chars < threshold)
			return;
		p.length = chars;
		p.hash = recall_hash(list.raw);
		str_clear(json);
		str_addf(json, "[{\"type\":\"%s\",\"text\":", at->text_type);
		string_json(at->part, &p, (struct sv){ NULL, 0 }, json);
		str_adds(json, "}]");
		replace(at, piece, list, str_sv(json), RECALL_BLOCKS, p.hash,
			(int64_t)chars - (int64_t)at->part->text.len);
		return;
	}
	it = scan_iter(list);
	while (scan_next(&it, NULL, &item) > 0) {
		struct block b = block_of(at, item);
		struct jval source = line_member(item, "source");
		if (b.text.type != J_NONE)
			take_string(at, piece, b.text);
		else
			take_picture(at, item,
				source.type != J_NONE ? source : line_member(item, "image_url"));
	}
}

/* ---- any piece ---- */

/* What the agent shows on its screen is a member of the line and goes as one, once. */
static void drop_display(struct trim_at *at, struct jval copy)
{
	struct jval whole;

	if (at->line->noted || scan_text(at->line->text, &whole) < 0 ||
		edit_remove(at->edit, whole, SV("toolUseResult")) <= 0)
		return;
	at->part->copies.n++;
	at->part->copies.bytes += copy.raw.n;
}

static bool takes_answer(const struct trim_run *run, size_t index)
{
	int64_t n = run->opts->assistant;
	size_t last = n < 0 ? (size_t)-n : 0, total = run->answers_total;

	return n >= 0 ? index < (size_t)n : total > last && index < total - last;
}

void trim_take(const struct trim_run *run, struct trim_part *part, const struct rewrite_line *line,
	struct edit *e, const struct trim_job *job)
{
	const struct transcript_format *format = run->opts->format;
	struct trim_at at = { run, part, line, e, line_text_type(format) };
	struct jval val = job->piece.val;
	struct trim_piece piece = {
		.holder = { .kind = PLACEHOLDER_RESULT, .name = sv_of(job->name) },
		.count = &part->results,
		.sent = true,
		.repeated = job->repeated,
	};

	switch (job->piece.kind) {
	case PIECE_RESULT:
		if (val.type == J_ARRAY)
			take_blocks(&at, &piece, val);
		else if (job->piece.shape != SHAPE_WRAPPED ||
			!take_inside(&at, &piece, val, SHAPE_WRAPPED))
			take_string(&at, &piece, val);
		break;
	case PIECE_COPY:
		piece.count = &part->copies;
		piece.sent = false;
		take_string(&at, &piece, val);
		break;
	case PIECE_DISPLAY:
		drop_display(&at, val);
		break;
	case PIECE_CALL:
		piece.holder =
			(struct placeholder){ .kind = PLACEHOLDER_INPUT, .name = job->piece.name };
		piece.count = &part->inputs;
		if (job->piece.shape == SHAPE_JSON)
			(void)take_inside(&at, &piece, val, SHAPE_JSON);
		else if (job->piece.shape == SHAPE_STRINGS)
			take_strings(&at, &piece, val, 0);
		else
			take_string(&at, &piece, val);
		break;
	case PIECE_ANSWER:
		piece.holder = (struct placeholder){ .kind = PLACEHOLDER_ANSWER,
			.name = sv_of(line_agent_title(format)) };
		piece.count = &part->answers;
		if (takes_answer(run, part->candidates_before + job->candidate))
			take_string(&at, &piece, val);
		break;
	case PIECE_PICTURE:
		take_picture(&at, job->piece.block, val);
		break;
	case PIECE_PROMPT:
	case PIECE_NOTICE:
	case PIECE_SUMMARY:
	case PIECE_THINKING:
		break;
	}
}
