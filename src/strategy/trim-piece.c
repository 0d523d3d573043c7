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

void trim_push_want(
	const struct trim_run *run, struct trim_part *part, struct jval id, struct jval content)
{
	struct trim_want want = { .id = scan_inner(id), .breaks = part->breaks };
	struct sv inner = scan_inner(content);

	if (run->opts->duplicates && inner.n >= REPEATED_MIN && !placeholder_is(inner))
		want.hash = recall_hash(content.raw).low | 1;
	vec_push(&part->wants, want);
}

void trim_push_fact(struct trim_part *part, struct trim_fact fact)
{
	fact.line = part->lines;
	fact.record = part->records;
	vec_push(&part->facts, fact);
}

void trim_push_content(struct trim_part *part, enum trim_feed what, struct jval content)
{
	struct scan_iter it = scan_iter(content);
	struct jval block;
	uint64_t bytes = 0;

	if (content.type != J_ARRAY) {
		trim_push_text(part, what, content.raw.n);
		return;
	}
	while (scan_next(&it, NULL, &block) > 0) {
		struct jval text = line_member(block, "text");
		if (text.type == J_STRING)
			bytes += text.raw.n;
		else
			trim_push_text(part, FEED_ODD, 0);
	}
	trim_push_text(part, what, bytes);
}

void trim_push_break(struct trim_part *part)
{
	trim_push_fact(part, (struct trim_fact){ .what = FEED_BREAK });
	part->breaks++;
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

const struct trim_want *trim_next_want(struct trim_at *at)
{
	return &at->part->wants.v[at->want++];
}

bool trim_is_long(const struct trim_run *run, struct jval text)
{
	struct sv inner = scan_inner(text);
	size_t threshold = (size_t)run->opts->threshold;

	return inner.n >= threshold && !placeholder_is(inner) && text_chars(inner) >= threshold;
}

bool trim_takes_answer(struct trim_at *at)
{
	int64_t n = at->run->opts->assistant;
	size_t index = at->part->candidates_before + at->part->candidates_seen++;

	if (n >= 0)
		return index < (size_t)n;
	size_t last = (size_t)-n, total = at->run->answers_total;
	return total > last && index < total - last;
}

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
static bool replace(struct trim_at *at, const struct trim_piece *piece, struct jval val,
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
	if (swap.json.n >= swap.span.n)
		return false;
	note_swap(at, piece, &swap, chars_gone);
	return true;
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

bool trim_string(struct trim_at *at, const struct trim_piece *piece, struct jval val)
{
	const struct trim_opts *o = at->run->opts;
	struct sv inner = scan_inner(val), head = { NULL, 0 };
	size_t keep = piece->repeated ? 0 : keep_of(o);
	size_t least = piece->repeated ? 0 : (size_t)o->threshold;

	if (val.type != J_STRING || inner.n < least || placeholder_is(inner))
		return false;
	struct placeholder p = piece->holder;
	p.length = text_chars(inner);
	if (p.length < least || p.length <= keep)
		return false;
	if (keep > 0) {
		head = text_head(inner, keep);
		p.shown = keep;
	}
	p.hash = recall_hash(val.raw);
	str_clear(&at->part->json);
	string_json(at->part, &p, head, &at->part->json);
	int64_t gone = (int64_t)p.length - (int64_t)(p.shown + at->part->text.len);
	return replace(at, piece, val, str_sv(&at->part->json), RECALL_TEXT, p.hash, gone);
}

void trim_strings_in(struct trim_at *at, struct trim_piece *piece, struct jval val, int depth)
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
			(void)trim_string(at, piece, item);
		else
			trim_strings_in(at, piece, item, depth + 1);
	}
}

bool trim_inside(struct trim_at *at, struct trim_piece *piece, struct jval string,
	void (*fn)(struct trim_at *at, struct trim_piece *piece, struct jval inner))
{
	AUTO_STR text = STR_INIT;
	struct jval inner;

	if (string.type != J_STRING || !sv_starts(scan_inner(string), SV("{")) ||
		!scan_string(string, &text) || scan_text(str_sv(&text), &inner) < 0 ||
		inner.type != J_OBJECT)
		return false;
	struct text_walk walk = { .string = string, .text = str_sv(&text) };
	piece->inside = &walk;
	fn(at, piece, inner);
	piece->inside = NULL;
	return true;
}

/* ---- lists of blocks ---- */

struct list_sum {
	size_t blocks, chars;
	bool plain; /* nothing but text, and none of it a placeholder */
	struct jval first; /* text of the first block */
};

static struct list_sum sum_list(struct jval list, const char *text_type)
{
	struct list_sum sum = { .plain = true };
	struct scan_iter it = scan_iter(list);
	struct jval item;

	while (scan_next(&it, NULL, &item) > 0) {
		struct line_block b;
		(void)line_block_read(item, &b);
		struct jval text = b.vals[BLOCK_TEXT];
		if (!scan_string_eq(b.vals[BLOCK_TYPE], sv_of(text_type)) ||
			text.type != J_STRING || placeholder_is(scan_inner(text)))
			sum.plain = false;
		else
			sum.chars += text_chars(scan_inner(text));
		if (sum.blocks++ == 0)
			sum.first = text;
	}
	return sum;
}

/* Many small texts that are long together: one placeholder for all. */
static void trim_list(struct trim_at *at, const struct trim_piece *piece, struct jval list,
	const struct list_sum *sum, const char *text_type)
{
	struct placeholder p = piece->holder;
	struct str *json = &at->part->json;

	p.length = sum->chars;
	p.hash = recall_hash(list.raw);
	str_clear(json);
	str_addf(json, "[{\"type\":\"%s\",\"text\":", text_type);
	string_json(at->part, &p, (struct sv){ NULL, 0 }, json);
	str_adds(json, "}]");
	(void)replace(at, piece, list, str_sv(json), RECALL_BLOCKS, p.hash,
		(int64_t)sum->chars - (int64_t)at->part->text.len);
}

static void trim_block(
	struct trim_at *at, const struct trim_piece *piece, struct jval item, const char *text_type)
{
	struct line_block b;

	(void)line_block_read(item, &b);
	if (scan_string_eq(b.vals[BLOCK_TYPE], sv_of(text_type)))
		(void)trim_string(at, piece, b.vals[BLOCK_TEXT]);
	else if (b.type == BLOCK_IS_IMAGE)
		trim_image(at, item, b.vals[BLOCK_SOURCE], text_type);
	else
		trim_image(at, item, line_member(item, "image_url"), text_type);
}

void trim_blocks(
	struct trim_at *at, const struct trim_piece *piece, struct jval list, const char *text_type)
{
	if (list.raw.n < (size_t)at->run->opts->threshold)
		return;
	struct list_sum sum = sum_list(list, text_type);
	if (sum.plain && sum.blocks > 1) {
		if (sum.chars >= (size_t)at->run->opts->threshold)
			trim_list(at, piece, list, &sum, text_type);
		return;
	}
	struct scan_iter it = scan_iter(list);
	struct jval item;
	while (scan_next(&it, NULL, &item) > 0)
		trim_block(at, piece, item, text_type);
}

/* ---- images ---- */

void trim_image(struct trim_at *at, struct jval block, struct jval source, const char *text_type)
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
	str_addf(json, "{\"type\":\"%s\",\"text\":", text_type);
	string_json(at->part, &p, (struct sv){ NULL, 0 }, json);
	str_addc(json, '}');
	(void)replace(at, &piece, block, str_sv(json), RECALL_IMAGE, p.hash, 0);
}
