#include "branch/fork.h"

#include "strategy/known.h"

void fork_report_release(struct fork_report *r)
{
	rewrite_result_release(&r->file);
	turn_cut_release(&r->cut);
}

void branch_note_put(const struct branch_note *note, struct jw *w)
{
	char now[CLOCK_TEXT_MAX];

	clock_format_iso(note->now_ms, now);
	jw_put_cstr(w, "relation", session_relation_name(note->relation));
	jw_put_cstr(w, "parent_id", note->id);
	jw_put_cstr(w, "parent_file", note->path);
	if (note->turn > 0)
		jw_put_i64(w, "turn", (int64_t)note->turn);
	if (note->other_id)
		jw_put_cstr(w, "other_id", note->other_id);
	if (note->other_path)
		jw_put_cstr(w, "other_file", note->other_path);
	if (note->from_agent)
		jw_put_cstr(w, "ported_from", note->from_agent);
	jw_put_cstr(w, "created_at", now);
}

static void put_note(void *data, struct jw *w)
{
	const struct branch_note *note = data;

	branch_note_put(note, w);
	/* What a trim knew of the context holds for a whole copy. */
	if (note->turn == 0)
		known_carry(w, note->path);
}

int fork_session(const struct fork_opts *opts, struct fork_report *ret, struct err *reterr)
{
	static const struct rewrite_ops ops = { .note = put_note };
	const struct session_info *parent = opts->parent;
	int r = turn_cut_find(
		parent->path, parent->format, opts->home, opts->at, &ret->cut, reterr);

	if (r < 0)
		return r;
	struct sv id = transcript_path_id(parent->format, sv_of(ret->cut.path));
	AUTO_FREE char *from = xmemdup0(id.n ? id.p : "", id.n);
	struct branch_note note = {
		.relation = opts->relation,
		.id = from,
		.path = ret->cut.path,
		.turn = ret->cut.turn,
		.now_ms = clock_wall_ms(opts->clock),
	};
	const struct rewrite_opts how = {
		.path = ret->cut.path,
		.format = parent->format,
		.changes = REWRITE_ID,
		.note_key = SESSION_NOTE_KEY,
		.out_dir = opts->out_dir,
		.end = ret->cut.end,
		.dry = opts->dry,
		.clock = opts->clock,
	};
	r = rewrite_session(&how, &ops, &note, &ret->file, reterr);
	/* The lines as they are; the note is to come. */
	if (r >= 0 && opts->dry)
		ret->file.bytes_out = ret->cut.end ? ret->cut.end : ret->file.bytes_in;
	return r;
}
