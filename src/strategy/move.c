#include "strategy/move.h"

#include <string.h>

#include "os/path.h"
#include "strategy/known.h"

/* Folders below the old one go along: they were moved with it. */
static int move_edit(void *data, void *chunk UNUSED, struct rewrite_line *line, struct edit *e,
	struct str *out UNUSED, struct err *reterr UNUSED)
{
	const struct move_opts *o = data;
	struct sv from = sv_of(o->session->cwd);
	AUTO_STR dir = STR_INIT;

	if (!line->vals)
		return REWRITE_EDITED;
	struct jval cwd = line_cwd(o->session->format, line->vals);
	if (from.n <= 1 || !scan_string(cwd, &dir) || !path_within(str_sv(&dir), from))
		return REWRITE_EDITED;
	AUTO_FREE char *now = xasprintf("%s%s", o->dir, dir.buf + from.n);
	edit_string(e, cwd, sv_of(now));
	return REWRITE_EDITED;
}

static void move_note(void *data, struct jw *w)
{
	const struct move_opts *o = data;
	char now[CLOCK_TEXT_MAX];

	clock_format_iso(clock_wall_ms(o->clock), now);
	jw_put_cstr(w, "relation", session_relation_name(SESSION_MOVED));
	jw_put_cstr(w, "parent_id", o->session->id);
	jw_put_cstr(w, "parent_file", o->session->path);
	jw_put_cstr(w, "moved_at", now);
	/* What a trim knew of the context holds for the copy, too. */
	known_carry(w, o->session->path);
}

int move_session(const struct move_opts *opts, struct rewrite_result *ret, struct err *reterr)
{
	static const struct rewrite_ops ops = { .edit = move_edit, .note = move_note };
	struct move_opts o = *opts;
	const struct rewrite_opts how = {
		.path = opts->session->path,
		.format = opts->session->format,
		.changes = REWRITE_ID,
		.note_key = SESSION_NOTE_KEY,
		.out_dir = opts->out_dir,
		.values = true,
		.clock = opts->clock,
	};
	int r = rewrite_session(&how, &ops, &o, ret, reterr);

	if (r < 0)
		err_prefix(reterr, "copy %s", opts->session->path);
	return r;
}
