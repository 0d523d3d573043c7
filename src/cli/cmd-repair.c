/*
 * Why a session does not resume whole, and a copy that does.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/shell.h"
#include "cli/cmd.h"
#include "cli/make.h"
#include "cli/print.h"
#include "cli/sessions.h"
#include "ui/format.h"
#include "view/json.h"

struct repair_cli {
	const char *out;
	bool apply;
	bool in_place;
	bool dry_run;
	bool json;
};

static const struct opt repair_options[] = {
	OPT_FLAG(0, "apply", struct repair_cli, apply, "write a mended copy under a new id"),
	OPT_FLAG(0, "in-place", struct repair_cli, in_place,
		"mend the session itself; a copy goes to the archive first"),
	OPT_STRING('o', "out", struct repair_cli, out, "DIR",
		"write the copy there, not where the agent looks for it"),
	OPT_FLAG('n', "dry-run", struct repair_cli, dry_run,
		"show what is wrong and what would be done, write nothing (default)"),
	OPT_FLAG(0, "json", struct repair_cli, json, "one object for programs"),
	OPT_END,
};

struct repairing {
	struct app *app;
	const struct repair_cli *opts;
	struct resolved of;
	struct repair *repair;
	char *archived; /* the key of a copy in the archive; NULL: none */
	struct err unread; /* why that cannot be told; code 0: it can */
	struct out_folder out;
	struct repair_result result; /* path NULL: nothing was written */
	struct made made;
	bool misplaced; /* the copy is there, but could not take the session's place */
};

static void repairing_release(struct repairing *s)
{
	repair_free(s->repair);
	free(s->archived);
	out_folder_release(&s->out);
	made_release(&s->made);
	repair_result_release(&s->result);
	resolved_release(&s->of);
}

/* ---- the work ---- */

static int diagnose(struct repairing *s, struct err *reterr)
{
	const struct archive archive = app_archive(s->app);
	const struct session_info *info = &s->of.row.info;
	const struct repair_opts opts = {
		.path = info->path,
		.format = info->format,
		.in_use = sessions_in_use(s->app, info->id),
	};
	char key[ARCHIVE_KEY_MAX];
	int r = repair_open(&opts, &s->repair, reterr);

	struct err err = ERR_INIT;
	int found = r >= 0 && archive.store ? archive_find(&archive, info->path, key, &err)
					    : ERR_NOTFOUND;
	if (found >= 0)
		s->archived = xstrdup(key);
	else if (found != ERR_NOTFOUND)
		s->unread = err;
	return r;
}

static int apply(struct repairing *s, struct err *reterr)
{
	const struct archive archive = app_archive(s->app);
	const struct repair_write how = {
		.out_dir = s->out.dir, .in_place = s->opts->in_place, .clock = &s->app->clock
	};
	const struct repair_report *report = repair_report(s->repair);
	const char *path = s->of.row.info.path;
	char key[ARCHIVE_KEY_MAX];
	int r = 0;

	if (repair_healthy(report))
		return 0;
	if (report->findings[REPAIR_OVERSIZE].count > 0) /* says why not */
		return repair_apply(s->repair, &how, &s->result, reterr);
	if (!repair_possible(s->repair))
		return 0;
	if (how.in_place)
		r = in_place_check(s->app, &s->of.row, "write a copy (--apply)", reterr);
	if (r >= 0 && how.in_place)
		r = archive_keep(&archive, path, ARCHIVE_COPY, key, reterr);
	if (r >= 0 && how.in_place)
		s->made.backup = xstrdup(key);
	if (r >= 0)
		r = repair_apply(s->repair, &how, &s->result, reterr);
	return out_folder_done(s->app, &s->out, how.in_place, r, reterr);
}

/* ---- what is said ---- */

static void fill_made(struct repairing *s)
{
	bool written = s->result.path != NULL;

	s->made.parent = &s->of.row;
	s->made.relation = SESSION_REPAIRED;
	s->made.agent = s->of.row.agent;
	s->made.id = written ? s->result.id : NULL;
	s->made.path = s->result.path;
	s->made.dry = !s->opts->apply && !s->opts->in_place;
	s->made.in_place = written && s->opts->in_place;
	s->made.late = s->result.late;
	if (s->opts->out)
		return;
	made_find_next(s->app, s->of.row.info.format, &s->made);
	s->misplaced = !made_take_over(s->app, &s->of, &s->made);
}

/* Of a file in which nothing is left, the archive may have what it was. */
static void show_archived(struct term *t, const struct repairing *s)
{
	if (!repair_report(s->repair)->findings[REPAIR_EMPTY].count)
		return;
	if (s->unread.code < 0) {
		term_putf(t, "Whether the archive has a copy cannot be told: %s.\n", s->unread.msg);
		return;
	}
	if (!s->archived) {
		term_puts(t, "The archive has no copy of it.\n");
		return;
	}
	view_sentence(
		t, SV(""), "The archive has a copy of it; with no agent at it, get it back by");
	term_putf(t, "  faden archive restore --replace %s\n", s->archived);
}

static void print_text(const struct repairing *s)
{
	const struct repair_report *report = repair_report(s->repair);
	char size[SIZE_TEXT_MAX], lines[SIZE_TEXT_MAX];
	struct term t;

	print_begin(s->app, &t);
	size_format(report->bytes, size);
	size_format_count((int64_t)report->lines, lines);
	term_text_line(&t, sv_of(s->of.row.info.id));
	term_putf(&t, ", %s: %s line%s, %s\n", s->of.row.agent, lines,
		report->lines == 1 ? "" : "s", size);
	view_diagnosis(&t, report);
	show_archived(&t, s);
	if (s->result.path) {
		term_newline(&t);
		view_made(&t, &s->made, s->app->paths.home, "It");
		view_diagnosis(&t, &s->result.report);
		if (!s->opts->out)
			view_next(&t, &s->made, s->app->cwd);
	} else if (!repair_healthy(report) && repair_possible(s->repair)) {
		term_puts(&t, "--apply writes a mended copy\n");
	}
	print_end(&t);
}

static void print_object(const struct repairing *s)
{
	AUTO_STR out = STR_INIT;
	struct jw w = JW_INIT(&out);

	jw_object(&w);
	view_put_made(&w, &s->made, NULL);
	jw_put_cstr(&w, "archive_key", s->archived);
	view_put_diagnosis(&w, "found", repair_report(s->repair));
	view_put_diagnosis(&w, "mended", s->result.path ? &s->result.report : NULL);
	jw_end(&w);
	print_doc(s->app, &out);
}

/* ---- the command ---- */

static int check_options(const struct repair_cli *opts, int argc, struct err *reterr)
{
	bool writes = opts->apply || opts->in_place;

	if (opts->dry_run && writes)
		return err_set(reterr, ERR_USAGE, "--dry-run writes nothing: leave out --apply");
	if (opts->in_place && argc == 0)
		return err_set(reterr, ERR_USAGE, "--in-place needs the name of the session");
	if (opts->in_place && opts->out)
		return err_set(reterr, ERR_USAGE, "--in-place and --out exclude each other");
	if (opts->out && !writes)
		return err_set(reterr, ERR_USAGE, "--out needs --apply");
	return 0;
}

static int run_repair(
	struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	CLEANUP(repairing_release)
	struct repairing s = {
		.app = app,
		.opts = options,
		.of = RESOLVED_INIT,
		.result = REPAIR_RESULT_INIT,
	};
	int r = check_options(s.opts, argc, reterr);

	if (r >= 0)
		r = out_folder_find(s.opts->out, &s.out, reterr);
	if (r >= 0)
		r = sessions_open_to(app, !s.opts->in_place, reterr);
	if (r >= 0)
		r = sessions_find(app, argc > 0 ? argv[0] : NULL,
			RESOLVE_HERE | RESOLVE_FILE | RESOLVE_DAMAGED, &s.of, reterr);
	if (r >= 0)
		r = diagnose(&s, reterr);
	if (r >= 0 && (s.opts->apply || s.opts->in_place))
		r = apply(&s, reterr);
	if (r < 0)
		return r;
	fill_made(&s);
	(s.opts->json ? print_object : print_text)(&s);
	if (s.misplaced)
		return err_exit_status(ERR_STORE);
	/* 0 when the session is, or now is, as it should be. */
	return repair_healthy(s.result.path ? &s.result.report : repair_report(s.repair)) ? 0 : 1;
}

const struct cmd cmd_repair = {
	.name = "repair",
	.group = CMD_GROUP_CONTEXT,
	.summary = "why a session does not resume whole, and a copy that does",
	.synopsis = "[SESSION]",
	.max_args = 1,
	.words = CMD_WORDS_SESSION,
	.opts = repair_options,
	.opts_size = sizeof(struct repair_cli),
	.run = run_repair,
};
