/*
 * One chunk of lines: read, joined to those before it, edited, written. The note comes last: its
 * figures are known only when all else is written.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "strategy/known.h"
#include "strategy/rewrite-run.h"

enum {
	LONG_STRETCH = 4 * 1024, /* what stays and is as long is not copied */
};

/* ---- reading ---- */

static void read_line(const struct run *run, struct part *part, struct rewrite_line *line, bool low)
{
	const struct rewrite_opts *o = run->opts;
	struct line_reader *reader = &part->reader;

	line->object = !(low && memchr(line->text.p, '\0', line->text.n)) &&
		line_reader_read(reader, line->text);
	if (!line->object) {
		line->records = chain_add_line(part->chain, line->text, line->size);
		return;
	}
	line->records = 1;
	if (o->live)
		chain_add(part->chain, &reader->line, line->size);
	if (o->note_key && part->note_line == SIZE_MAX &&
		line_note_place(&reader->line).type == J_OBJECT)
		part->note_line = part->lines.n;
	if (!o->dry || run->ops->edit) {
		part->swaps.neutral = false;
		line_swaps(&reader->line,
			o->in_place ? o->changes & ~(unsigned)LINE_ID : o->changes, run->parent_id,
			&part->swaps);
		line->neutral = part->swaps.neutral;
		for (size_t i = line->swaps; i < part->swaps.v.n; i++)
			if (part->swaps.v.v[i].what == SWAP_MODEL)
				part->swaps.v.v[i].json = part->last_model;
	}
	struct sv model = line_model(&reader->line);
	if (model.n > 0 && model.n < MODEL_MAX)
		part->last_model = model;
	if (run->ops->read)
		line->look = line_look(reader);
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
		.swaps = part->swaps.v.n,
	};
	int r = 0;

	if (line.oversize)
		line.records = chain_add_line(part->chain, SV("?"), line.size);
	else if (line.text.n > 0)
		read_line(run, part, &line, from->bytes & JSONL_LOW);
	if (run->ops->read)
		r = run->ops->read(run->data, part->own, &line, reterr);
	line.look = NULL;
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
	part->zeros = (struct str)STR_INIT;
	part->note_line = SIZE_MAX;
	part->chain = chain_new(run->opts->format);
	line_reader_init(&part->reader, run->opts->format);
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

int part_join(void *data, const struct jsonl_chunk *in, struct err *reterr)
{
	struct run *run = data;
	struct part *part = *in->own;

	memcpy(part->model, run->model, MODEL_MAX);
	if (part->last_model.n > 0) {
		memcpy(run->model, part->last_model.p, part->last_model.n);
		run->model[part->last_model.n] = '\0';
	}
	vec_each (&part->lines, line) {
		line->record = run->records;
		run->records += line->records;
	}
	/* The first line of the file that can take it gets the note. */
	if (run->note_placed)
		part->note_line = SIZE_MAX;
	run->note_placed = run->note_placed || part->note_line != SIZE_MAX;
	return run->ops->join ? run->ops->join(run->data, part->own, reterr) : 0;
}

/* ---- editing ---- */

static const char *const note_keys[] = { "trim_metadata", "continue_metadata", SESSION_NOTE_KEY,
	KNOWN_NOTE_KEY };

/* Takes all notes out of obj; with `mark` that of our key is put there. A session that stays the
 * same one keeps what tells where it comes from. */
static bool set_notes(const struct run *run, struct jval obj, bool mark, struct edit *e)
{
	struct edit_member changes[ARRAY_LEN(note_keys)];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(note_keys); i++) {
		bool same = strcmp(note_keys[i], run->opts->note_key) == 0, ours = mark && same;
		if (run->opts->in_place && !same)
			continue;
		changes[n++] = (struct edit_member){
			.key = sv_of(note_keys[i]),
			.json = ours ? sv_of(run->mark) : (struct sv){ NULL, 0 },
			.absent = ours ? EDIT_LAST : EDIT_SKIP,
		};
	}
	return edit_members(e, obj, changes, n) >= 0;
}

/* The mark of the note into the line, old notes out of it; false when the line cannot take it. */
static bool set_mark(const struct run *run, struct part *part, const struct rewrite_line *line)
{
	struct jval whole;

	if (scan_text(line->text, &whole) < 0 || !line_reader_read(&part->reader, line->text))
		return false;
	struct jval place = line_note_place(&part->reader.line);
	if (place.raw.p == whole.raw.p)
		return set_notes(run, whole, true, &part->edit);
	return set_notes(run, whole, false, &part->edit) &&
		set_notes(run, place, true, &part->edit);
}

static void make_swaps(const struct run *run, struct part *part, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		const struct line_swap *swap = &part->swaps.v.v[i];
		struct sv model = swap->json.n > 0 ? swap->json : sv_of(part->model);
		switch (swap->what) {
		case SWAP_ID:
			edit_string(&part->edit, swap->val, sv_of(run->result->id));
			break;
		case SWAP_JSON:
			edit_value(&part->edit, swap->val, swap->json);
			break;
		case SWAP_MODEL:
			if (model.n > 0)
				edit_string(&part->edit, swap->val, model);
			break;
		case SWAP_ZEROS:
			str_clear(&part->zeros);
			line_zeros(swap->val, &part->zeros);
			edit_value(&part->edit, swap->val, str_sv(&part->zeros));
			break;
		}
	}
}

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

static int edit_line(
	struct run *run, struct part *part, size_t index, struct str *out, struct err *reterr)
{
	struct rewrite_line *line = &part->lines.v[index];
	size_t from = out->len, last = index + 1 < part->lines.n ? line[1].swaps : part->swaps.v.n;
	struct output o = { part, out };
	int what = REWRITE_EDITED;
	bool marked = false;

	if (line->oversize)
		return 0;
	edit_reset(&part->edit, line->text);
	make_swaps(run, part, line->swaps, last);
	if (index == part->note_line)
		marked = line->noted = set_mark(run, part, line);
	if (run->opts->values && line->object && line_reader_read(&part->reader, line->text))
		line->vals = part->reader.line.vals;
	if (run->ops->edit)
		what = run->ops->edit(run->data, part->own, line, &part->edit, out, reterr);
	line->vals = NULL;
	if (what != REWRITE_EDITED)
		return what;
	/* Edits that overlap are a mistake of ours; the line is then better left as it was. */
	if (edit_empty(&part->edit) || edit_each(&part->edit, put_piece, &o) < 0)
		put_piece(&o, line->text, true);
	if (line->terminated)
		str_addc(out, '\n');
	if (marked) {
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
	(void)str_reserve(out, in->bytes.n);
	for (size_t i = 0; i < part->lines.n && r >= 0; i++)
		r = edit_line(run, part, i, out, reterr);
	return r < 0 ? r : 0;
}

void part_drop(void *data, void *own)
{
	struct run *run = data;
	struct part *part = own;

	if (part->own && run->ops->chunk_free)
		run->ops->chunk_free(run->data, part->own);
	line_reader_release(&part->reader);
	vec_release(&part->lines);
	vec_release(&part->swaps.v);
	str_release(&part->zeros);
	vec_release(&part->kept);
	chain_free(part->chain);
	edit_release(&part->edit);
	free(part);
}

/* ---- writing ---- */

enum { HOLD_MAX = 1024 * 1024 }; /* output up to this size waits for the last figures of the note */

static int write_out(struct run *run, struct sv bytes, struct err *reterr)
{
	run->result->bytes_out += bytes.n;
	return run->opts->dry ? 0 : file_new_write(&run->file, bytes, reterr);
}

static void note_text(const struct run *run, struct str *out)
{
	struct jw w = JW_INIT(out);

	jw_object(&w);
	if (run->ops->note)
		run->ops->note(run->data, &w);
	jw_end(&w);
}

/* The line of the note with `room` bytes for it; blanks before the newline fill it up. */
static void noted_line(const struct run *run, struct sv note, size_t room, struct str *out)
{
	bool newline = sv_ends(str_sv(&run->tail), SV("\n"));

	str_add(out, str_sv(&run->head));
	str_add(out, note);
	str_add(out, sv_head(str_sv(&run->tail), run->tail.len - newline));
	for (size_t i = note.n; i < room; i++)
		str_addc(out, ' ');
	if (newline)
		str_addc(out, '\n');
}

/* Writes what was held back, with room for the note to grow. */
static int put_held(struct run *run, size_t grow, struct err *reterr)
{
	AUTO_STR note = STR_INIT;
	AUTO_STR line = STR_INIT;
	struct sv held = str_sv(&run->held);
	size_t at = (size_t)run->note_offset;

	run->holding = false;
	note_text(run, &note);
	run->note_room = note.len + grow;
	noted_line(run, str_sv(&note), run->note_room, &line);
	int r = write_out(run, sv_head(held, at), reterr);
	run->note_offset = run->result->bytes_out;
	if (r == 0)
		r = write_out(run, str_sv(&line), reterr);
	if (r == 0)
		r = write_out(run, sv_from(held, at), reterr);
	str_release(&run->held);
	return r;
}

int out_bytes(struct run *run, struct sv bytes, struct err *reterr)
{
	int r = 0;

	if (bytes.n == 0)
		return 0;
	run->ends_open = bytes.p[bytes.n - 1] != '\n';
	if (run->holding && run->held.len + bytes.n <= HOLD_MAX) {
		str_add(&run->held, bytes);
		return 0;
	}
	if (run->holding)
		r = put_held(run, REWRITE_NOTE_GROW, reterr);
	return r < 0 ? r : write_out(run, bytes, reterr);
}

static int pwrite_all(int fd, struct sv bytes, uint64_t at)
{
	while (bytes.n > 0) {
		ssize_t n = pwrite(fd, bytes.p, bytes.n, (off_t)at);
		if (n < 0 && errno != EINTR)
			return -errno;
		bytes = sv_from(bytes, n > 0 ? (size_t)n : 0);
		at += n > 0 ? (uint64_t)n : 0;
	}
	return 0;
}

int out_note(struct run *run, struct err *reterr)
{
	AUTO_STR note = STR_INIT;
	AUTO_STR line = STR_INIT;

	if (run->holding)
		return put_held(run, 0, reterr);
	if (run->note_room == 0 || run->opts->dry)
		return 0;
	note_text(run, &note);
	if (note.len > run->note_room)
		return err_set(reterr, ERR_BUG, "the note grew by more than it may");
	noted_line(run, str_sv(&note), run->note_room, &line);
	int r = pwrite_all(run->file.fd, str_sv(&line), run->note_offset);
	return r < 0 ? err_errno(reterr, -r, "write %s", run->file.path) : 0;
}

/* Keeps the output that holds the note's line back, and that line apart. */
static bool hold(struct run *run, const struct part *part, struct sv out)
{
	size_t at;
	struct sv mark = sv_of(run->mark), line = sv_make(out.p + part->note_at, part->note_n);

	if (part->note_n == 0 || !sv_find(line, mark, &at))
		return false;
	str_add(&run->head, sv_head(line, at));
	str_add(&run->tail, sv_from(line, at + mark.n));
	/* What came before has no object and is written already. */
	str_add(&run->held, sv_head(out, part->note_at));
	str_add(&run->held, sv_from(out, part->note_at + part->note_n));
	run->note_offset = part->note_at;
	run->holding = true;
	run->ends_open = !sv_ends(out, SV("\n"));
	return true;
}

/* The pieces of a chunk in their order, those that were copied and those that were not. */
static void join_pieces(const struct part *part, struct sv out, struct sv *pieces)
{
	size_t at = 0;

	vec_each (&part->kept, long_one) {
		*pieces++ = sv_make(out.p + at, long_one->at - at);
		*pieces++ = long_one->text;
		at = long_one->at;
	}
	*pieces = sv_from(out, at);
}

static int write_pieces(struct run *run, const struct sv *pieces, size_t n, struct err *reterr)
{
	for (size_t i = 0; i < n; i++) {
		run->result->bytes_out += pieces[i].n;
		if (pieces[i].n > 0)
			run->ends_open = pieces[i].p[pieces[i].n - 1] != '\n';
	}
	return run->opts->dry ? 0 : file_new_writev(&run->file, pieces, n, reterr);
}

int out_part(struct run *run, const struct part *part, struct sv out, struct err *reterr)
{
	size_t n = 2 * part->kept.n + 1;
	int r = 0;

	if (hold(run, part, out))
		return 0;
	if (n == 1)
		return out_bytes(run, out, reterr);
	AUTO_FREE struct sv *pieces = xcalloc(n, sizeof(*pieces));
	join_pieces(part, out, pieces);
	if (!run->holding)
		return write_pieces(run, pieces, n, reterr);
	for (size_t i = 0; i < n && r == 0; i++)
		r = out_bytes(run, pieces[i], reterr);
	return r;
}
