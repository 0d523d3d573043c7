/*
 * Items one by one, and their text.
 */
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "transcript/adapter.h"

struct transcript_reader {
	const struct transcript_format *format;
	struct jsonl *lines; /* NULL: there is but one, or it was read */
	struct jsonl_line only;
	bool cut, subagent;
	struct line_reader reader;
	struct item_list list; /* of the current line */
	struct item base; /* place of the current line */
	uint64_t records;
};

const char *item_kind_name(enum item_kind kind)
{
	static const char *const names[ITEM_KINDS] = {
		[ITEM_USER] = "user",
		[ITEM_ASSISTANT] = "assistant",
		[ITEM_THINKING] = "thinking",
		[ITEM_TOOL_CALL] = "tool_call",
		[ITEM_TOOL_RESULT] = "tool_result",
		[ITEM_SYSTEM] = "system",
		[ITEM_COMPACTION] = "compaction",
		[ITEM_META] = "meta",
	};

	return names[kind];
}

int transcript_open(const char *path, const struct transcript_format *format,
	const struct transcript_read_opts *opts, struct transcript_reader **ret, struct err *reterr)
{
	const struct jsonl_opts lines = {
		.offset = opts ? opts->offset : 0,
		.end = opts ? opts->end : 0,
	};
	struct transcript_reader *reader = xcalloc(1, sizeof(*reader));

	*reader = (struct transcript_reader){
		.format = format,
		.list = { .expand = opts && opts->expand, .tmp = STR_INIT },
	};
	line_reader_init(&reader->reader, format);
	int r = 0;
	reader->cut = opts && opts->cut;
	reader->subagent = opts && opts->subagent;
	if (opts && opts->line.n > 0)
		reader->only = (struct jsonl_line){ .text = opts->line,
			.offset = opts->offset,
			.size = opts->line.n,
			.terminated = true };
	else
		r = jsonl_open(path, &lines, &reader->lines, reterr);
	if (r < 0) {
		transcript_close(reader);
		return r;
	}
	*ret = reader;
	return 0;
}

void transcript_close(struct transcript_reader *r)
{
	if (!r)
		return;
	jsonl_free(r->lines);
	line_reader_release(&r->reader);
	vec_release(&r->list.items);
	str_release(&r->list.tmp);
	free(r);
}

/* Parts are counted within their record. */
static void number_parts(struct transcript_reader *r, size_t from)
{
	for (size_t i = from; i < r->list.items.n; i++) {
		r->list.items.v[i].record = r->records;
		r->list.items.v[i].part = (uint32_t)(i - from);
		if (from > 0)
			r->list.items.v[i].flags |= ITEM_GLUED;
		if (r->subagent)
			r->list.items.v[i].flags &= ~(uint32_t)ITEM_SIDECHAIN;
	}
	r->records++;
}

static int reader_take(void *data, struct sv text)
{
	struct transcript_reader *r = data;
	size_t from = r->list.items.n;

	if (!line_reader_read(&r->reader, text))
		return ERR_INPUT;
	if (r->cut && r->format->complete)
		r->format->complete(&r->reader.line);
	r->format->items(&r->list, &r->base, &r->reader.line);
	number_parts(r, from);
	return 0;
}

static void reader_broken(void *data, struct sv text)
{
	struct transcript_reader *r = data;
	struct item item = r->base;

	item.kind = ITEM_META;
	item.flags |= ITEM_BROKEN;
	item.object = item.body = (struct jval){ text, J_NONE };
	size_t from = r->list.items.n;
	vec_push(&r->list.items, item);
	number_parts(r, from);
}

static void read_line(struct transcript_reader *r, const struct jsonl_line *line)
{
	static const struct record_fns fns = { reader_take, reader_broken };

	r->list.items.n = r->list.at = 0;
	r->base = (struct item){
		.line = r->base.line + 1,
		.offset = line->offset,
		.size = line->size,
		.flags = line->terminated ? 0 : ITEM_UNTERMINATED,
	};
	if (line->too_long) {
		r->base.flags |= ITEM_OVERSIZE;
		reader_broken(r, line->text);
	} else {
		record_each(line->text, &fns, r);
	}
}

int transcript_next(struct transcript_reader *reader, struct item *ret, struct err *reterr)
{
	while (reader->list.at == reader->list.items.n) {
		struct jsonl_line line = reader->only;
		reader->only.text.n = 0;
		int r = reader->lines ? jsonl_next(reader->lines, &line, reterr) : line.text.n > 0;
		if (r <= 0)
			return r;
		read_line(reader, &line);
	}
	*ret = reader->list.items.v[reader->list.at++];
	return 1;
}

/* ---- text ---- */

static void add_note(struct str *out, struct sv type)
{
	str_addc(out, '[');
	str_add(out, type.n > 0 ? type : SV("data"));
	str_addc(out, ']');
}

static void add_block(struct str *out, struct jval block)
{
	if (block.type == J_STRING) {
		(void)scan_string(block, out);
		return;
	}
	struct jval text = line_member(block, "text");
	if (text.type == J_STRING)
		(void)scan_string(text, out);
	else if (block.type == J_OBJECT)
		add_note(out, scan_inner(line_member(block, "type")));
}

static void add_blocks(struct str *out, struct jval list)
{
	struct jval block;
	struct scan_iter it = scan_iter(list);
	size_t start = out->len;

	while (scan_next(&it, NULL, &block) > 0) {
		if (out->len > start)
			str_addc(out, '\n');
		add_block(out, block);
	}
}

/* Codex before its second year put {"output":…,"metadata":…} as text into the output. */
static bool add_wrapped_output(struct str *out, struct jval text)
{
	AUTO_STR inner = STR_INIT;
	struct jval obj, output;

	if (!sv_starts(scan_inner(text), SV("{\\\"output\\\":")) || !scan_string(text, &inner) ||
		scan_text(str_sv(&inner), &obj) < 0 || scan_get(obj, SV("output"), &output) <= 0 ||
		output.type != J_STRING)
		return false;
	return scan_string(output, out);
}

void transcript_text(const struct item *item, struct str *out)
{
	if (item->flags & ITEM_IMAGE) {
		add_note(out, scan_inner(line_member(item->body, "type")));
	} else if (item->text.type == J_STRING) {
		if (item->kind != ITEM_TOOL_RESULT || !add_wrapped_output(out, item->text))
			(void)scan_string(item->text, out);
	} else if (item->text.type == J_ARRAY) {
		add_blocks(out, item->text);
	} else if (item->text.type == J_OBJECT) {
		str_add(out, item->text.raw);
	}
}

int64_t transcript_time(const struct item *item)
{
	int64_t ms;

	return clock_parse_iso(item->time, &ms) ? ms : 0;
}
