/*
 * One chunk of lines: read, joined to those before it, edited.
 */
#include <string.h>

#include "base/mem.h"
#include "strategy/rewrite-run.h"

enum {
	VALS_LINES = 64,
	LONG_STRETCH = 16 * 1024, /* what stays and is as long is not copied */
};

/* ---- reading ---- */

static struct jval *next_vals(struct part *part, size_t keys)
{
	size_t in_block = part->n_vals % VALS_LINES;

	if (part->n_vals / VALS_LINES == part->vals.n)
		vec_push(&part->vals, xcalloc(VALS_LINES * keys, sizeof(struct jval)));
	return part->vals.v[part->n_vals / VALS_LINES] + in_block * keys;
}

/* One block is the rule. Taking what is between the brackets for one spares a pass over it. */
static bool read_only_block(struct jval content, struct line_block *ret)
{
	struct sv inner = sv_trim(sv_make(content.raw.p + 1, content.raw.n - 2));

	return sv_ends(content.raw, SV("]")) && sv_starts(inner, SV("{")) &&
		line_block_read((struct jval){ inner, J_OBJECT }, ret);
}

static void read_blocks(struct part *part, struct rewrite_line *line)
{
	struct jval content = line->vals[CLAUDE_MSG_CONTENT], item;
	struct scan_iter it = scan_iter(content);
	size_t first = part->blocks.n;

	if (content.type != J_ARRAY)
		return;
	vec_grow(&part->blocks);
	if (read_only_block(content, &part->blocks.v[first])) {
		part->blocks.n++;
	} else {
		while (scan_next(&it, NULL, &item) > 0) {
			vec_grow(&part->blocks);
			(void)line_block_read(item, &part->blocks.v[part->blocks.n++]);
		}
	}
	line->n_blocks = part->blocks.n - first;
	line->blocks = line->n_blocks ? part->blocks.v + first : NULL;
}

static void link_claude(struct part *part, const struct rewrite_line *line)
{
	const struct jval *vals = line->vals;
	const struct chain_claude record = {
		.type = vals[CLAUDE_TYPE],
		.subtype = vals[CLAUDE_SUBTYPE],
		.uuid = vals[CLAUDE_UUID],
		.parent = vals[CLAUDE_PARENT],
		.side = vals[CLAUDE_SIDE],
		.message_id = vals[CLAUDE_MSG_ID],
		.compact = vals[CLAUDE_COMPACT],
		.leaf = vals[CLAUDE_LEAF],
	};

	chain_add_claude(part->chain, &record, line->size);
	for (size_t i = 0; i < line->n_blocks; i++) {
		const struct line_block *b = &line->blocks[i];
		if (b->vals[BLOCK_USE_ID].type == J_STRING)
			chain_tool(part->chain, scan_inner(b->vals[BLOCK_USE_ID]), true);
		else if (b->type == BLOCK_IS_USE && b->vals[BLOCK_ID].type == J_STRING)
			chain_tool(part->chain, scan_inner(b->vals[BLOCK_ID]), false);
	}
}

static void link_codex(struct part *part, const struct rewrite_line *line)
{
	const struct chain_codex record = codex_chain_record(line->vals, codex_line_of(line->vals));

	chain_add_codex(part->chain, &record, line->size);
}

static void read_line(const struct run *run, struct part *part, struct rewrite_line *line, bool low)
{
	const struct transcript_format *format = run->opts->format;
	struct jval *vals = next_vals(part, line_key_count(format));

	line->object = !(low && memchr(line->text.p, '\0', line->text.n)) &&
		line_read(format, line->text, vals);
	if (!line->object) {
		line->records = chain_add_line(part->chain, line->text, line->size);
		return;
	}
	part->n_vals++;
	line->vals = vals;
	line->records = 1;
	if (format == TRANSCRIPT_CODEX) {
		link_codex(part, line);
	} else {
		read_blocks(part, line);
		link_claude(part, line);
	}
}

static int take_line(
	struct run *run, struct part *part, const struct jsonl_line *from, struct err *reterr)
{
	struct rewrite_line line = {
		.text = from->text,
		.offset = from->offset,
		.size = from->size,
		.terminated = from->terminated,
		.oversize = from->too_long,
	};

	vec_push(&part->first_block, part->blocks.n);
	if (line.oversize)
		line.records = chain_add_line(part->chain, SV("?"), line.size);
	else if (line.text.n > 0)
		read_line(run, part, &line, from->bytes & JSONL_LOW);
	int r = 0;
	if (run->ops->read)
		r = run->ops->read(run->data, part->own, &line, reterr);
	vec_push(&part->lines, line);
	return r;
}

int part_read(void *data, const struct jsonl_chunk *in, struct str *out UNUSED, struct err *reterr)
{
	struct run *run = data;
	struct part *part = xcalloc(1, sizeof(*part));
	struct jsonl_line line;
	size_t at = 0;
	int r = 0;

	part->edit = (struct edit)EDIT_INIT(SV(""));
	part->note_line = SIZE_MAX;
	part->chain = chain_new(run->opts->format);
	if (run->ops->chunk_new)
		part->own = run->ops->chunk_new(run->data);
	*in->own = part;
	while (r >= 0 && jsonl_chunk_next(in, &at, &line))
		r = take_line(run, part, &line, reterr);
	if (r >= 0 && in->skipped > 0) {
		line = (struct jsonl_line){
			.text = SV(""),
			.offset = in->offset + in->bytes.n,
			.size = in->skipped,
			.terminated = true,
			.too_long = true,
		};
		r = take_line(run, part, &line, reterr);
	}
	return r < 0 ? r : 0;
}

/* ---- joining ---- */

/* The line's model when one answered; NULL when none did. */
static const struct jval *line_model(const struct run *run, const struct rewrite_line *line)
{
	if (run->opts->format == TRANSCRIPT_CODEX || !line->object)
		return NULL;
	const struct jval *model = &line->vals[CLAUDE_MSG_MODEL];
	struct sv name = scan_inner(*model);
	if (model->type != J_STRING || name.n == 0 || name.n >= MODEL_MAX || name.p[0] == '<')
		return NULL;
	return memchr(name.p, '\\', name.n) ? NULL : model;
}

static void copy_model(char to[static MODEL_MAX], const struct jval *model)
{
	struct sv name = scan_inner(*model);

	memcpy(to, name.p, name.n);
	to[name.n] = '\0';
}

static void place_note(struct run *run, struct part *part)
{
	for (size_t i = 0; i < part->lines.n && !run->note_placed; i++)
		if (common_takes_note(run, &part->lines.v[i])) {
			part->note_line = i;
			run->note_placed = true;
		}
}

int part_join(void *data, const struct jsonl_chunk *in, struct err *reterr)
{
	struct run *run = data;
	struct part *part = *in->own;

	memcpy(part->model, run->model, MODEL_MAX);
	for (size_t i = part->lines.n; i-- > 0;) {
		const struct jval *model = line_model(run, &part->lines.v[i]);
		if (model) {
			copy_model(run->model, model);
			break;
		}
	}
	vec_each (&part->lines, line) {
		line->record = run->records;
		run->records += line->records;
	}
	if (run->opts->note_key && !run->note_placed)
		place_note(run, part);
	return run->ops->join ? run->ops->join(run->data, part->own, reterr) : 0;
}

/* ---- editing ---- */

struct output {
	struct part *part;
	struct str *out;
};

static void put_piece(void *data, struct sv piece, bool kept)
{
	const struct output *o = data;
	struct part *part = o->part;

	/* The chunk with the note waits for it, so it is whole. */
	if (kept && piece.n >= LONG_STRETCH && part->note_line == SIZE_MAX)
		vec_push(&part->kept, (struct long_stretch){ o->out->len, piece });
	else
		str_add(o->out, piece);
}

static void put_line(
	struct part *part, const struct rewrite_line *line, bool newline, struct str *out)
{
	struct output o = { part, out };

	/* Edits that overlap are a mistake of ours; the line is then better left as it was. */
	if (edit_empty(&part->edit) || edit_each(&part->edit, put_piece, &o) < 0)
		put_piece(&o, line->text, true);
	if (newline)
		str_addc(out, '\n');
}

static int edit_line(
	struct run *run, struct part *part, size_t index, struct str *out, struct err *reterr)
{
	struct rewrite_line *line = &part->lines.v[index];
	size_t from = out->len;
	bool marked = false;

	if (line->oversize)
		return 0;
	line->blocks = line->n_blocks ? part->blocks.v + part->first_block.v[index] : NULL;
	edit_reset(&part->edit, line->text);
	if (line->object)
		common_edit(run, line, part->model, &part->edit);
	if (index == part->note_line)
		marked = line->noted = common_mark(run, line, &part->edit);
	int what = REWRITE_EDITED;
	if (run->ops->edit)
		what = run->ops->edit(run->data, part->own, line, &part->edit, out, reterr);
	if (what == REWRITE_EDITED)
		put_line(part, line, line->terminated, out);
	if (marked && what == REWRITE_EDITED) {
		part->note_at = from;
		part->note_n = out->len - from;
	}
	return what;
}

int part_edit(void *data, const struct jsonl_chunk *in, struct str *out, struct err *reterr)
{
	struct run *run = data;
	struct part *part = *in->own;
	int r = 0;

	if (run->opts->dry && !run->ops->edit)
		return 0;
	for (size_t i = 0; i < part->lines.n && r >= 0; i++) {
		const struct jval *model = line_model(run, &part->lines.v[i]);
		if (model)
			copy_model(part->model, model);
		r = edit_line(run, part, i, out, reterr);
	}
	return r < 0 ? r : 0;
}

void part_drop(void *data, void *own)
{
	struct run *run = data;
	struct part *part = own;

	if (part->own && run->ops->chunk_free)
		run->ops->chunk_free(run->data, part->own);
	vec_each (&part->vals, block)
		free(*block);
	vec_release(&part->vals);
	vec_release(&part->lines);
	vec_release(&part->first_block);
	vec_release(&part->blocks);
	vec_release(&part->kept);
	chain_free(part->chain);
	edit_release(&part->edit);
	free(part);
}
