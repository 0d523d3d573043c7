/*
 * What a rewrite writes: chunk after chunk, and the note, whose last figures are known only when
 * all else is written.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "strategy/rewrite-run.h"

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
