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

struct run {
	struct app *app;
	const struct repair_cli *opts;
	struct resolved of;
	struct repair *repair;
	char backup[ARCHIVE_KEY_MAX]; /* "" when there is none */
	char *archived; /* a copy of the session in the archive; NULL: none */
	struct out_folder out;
	struct repair_result result; /* path NULL: nothing was written */
	struct made made;
};

/* ---- what is said ---- */

static void fill_made(struct run *run)
{
	bool written = run->result.path != NULL;
	const struct archive archive = app_archive(run->app);

	run->made.parent = &run->of.row;
	run->made.relation = SESSION_REPAIRED;
	run->made.agent = run->of.row.agent;
	run->made.id = written ? run->result.id : NULL;
	run->made.path = run->result.path;
	run->made.dry = !run->opts->apply && !run->opts->in_place;
	run->made.in_place = written && run->opts->in_place;
	if (run->backup[0])
		run->made.backup = archive_path(&archive, run->backup);
	if (!run->opts->out)
		made_find_next(run->app, run->of.row.info.format, &run->made);
}

/* Of a file in which nothing is left, the archive may have what it was. */
static void show_archived(struct term *t, const struct run *run)
{
	if (!repair_report(run->repair)->findings[REPAIR_EMPTY].count)
		return;
	if (!run->archived) {
		term_puts(t, "The archive has no copy of it.\n");
		return;
	}
	AUTO_STR line = STR_INIT;
	shell_cp(&line, run->archived, run->of.row.info.path);
	view_sentence(
		t, SV(""), "The archive has a copy of it; with no agent at it, get it back by");
	term_putf(t, "  %s\n", line.buf);
}

static void print_text(const struct run *run)
{
	const struct repair_report *report = repair_report(run->repair);
	char size[SIZE_TEXT_MAX], lines[SIZE_TEXT_MAX];
	struct term t;

	print_begin(run->app, &t);
	size_format(report->bytes, size);
	size_format_count((int64_t)report->lines, lines);
	term_text_line(&t, sv_of(run->of.row.info.id));
	term_putf(&t, ", %s: %s line%s, %s\n", run->of.row.agent, lines,
		report->lines == 1 ? "" : "s", size);
	view_diagnosis(&t, report);
	show_archived(&t, run);
	if (run->result.path) {
		term_newline(&t);
		view_made(&t, &run->made, run->app->paths.home, "It");
		view_diagnosis(&t, &run->result.report);
		if (!run->opts->out)
			view_next(&t, &run->made, run->app->cwd);
	} else if (!repair_healthy(report) && repair_possible(run->repair)) {
		term_puts(&t, "--apply writes a mended copy\n");
	}
	print_end(&t);
}

static void print_object(const struct run *run)
{
	AUTO_STR out = STR_INIT;
	struct jw w = JW_INIT(&out);

	jw_object(&w);
	view_put_made(&w, &run->made, NULL);
	jw_put_cstr(&w, "archive_path", run->archived);
	view_put_diagnosis(&w, "found", repair_report(run->repair));
	view_put_diagnosis(&w, "mended", run->result.path ? &run->result.report : NULL);
	jw_end(&w);
	print_doc(run->app, &out);
}

/* ---- the command ---- */

static void find_archived(struct run *run)
{
	const struct archive archive = app_archive(run->app);
	char key[ARCHIVE_KEY_MAX];
	if (archive.store && archive_find(&archive, run->of.row.info.path, key, NULL) >= 0)
		run->archived = archive_path(&archive, key);
}

static int diagnose(struct run *run, struct err *reterr)
{
	const struct repair_opts opts = {
		.path = run->of.row.info.path,
		.format = run->of.row.info.format,
		.in_use = sessions_in_use(run->app, run->of.row.info.id),
	};
	int rc = repair_open(&opts, &run->repair, reterr);
	if (rc >= 0)
		find_archived(run);
	return rc;
}

static int keep_original(struct run *run, struct err *reterr)
{
	const struct archive archive = app_archive(run->app);
	int rc = in_place_check(run->app, &run->of.row, "write a copy (--apply)", reterr);
	return rc < 0
		? rc
		: archive_keep(&archive, run->of.row.info.path, ARCHIVE_COPY, run->backup, reterr);
}

static int apply(struct run *run, struct err *reterr)
{
	const struct repair_cli *opts = run->opts;
	const struct repair_write how = {
		.out_dir = run->out.dir, .in_place = opts->in_place, .clock = &run->app->clock
	};
	int rc = 0;
	if (repair_healthy(repair_report(run->repair)) || !repair_possible(run->repair))
		return 0;
	if (opts->in_place)
		rc = keep_original(run, reterr);
	if (rc >= 0)
		rc = repair_apply(run->repair, &how, &run->result, reterr);
	return out_folder_done(run->app, &run->out, opts->in_place, rc, reterr);
}

/* 0 when the session is, or now is, as it should be. */
static int outcome(const struct run *run)
{
	const struct repair_report *report =
		run->result.path ? &run->result.report : repair_report(run->repair);
	return repair_healthy(report) ? 0 : 1;
}

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
	struct run run = {
		.app = app,
		.opts = options,
		.of = RESOLVED_INIT,
		.result = REPAIR_RESULT_INIT,
	};
	int rc = check_options(run.opts, argc, reterr);
	if (rc >= 0)
		rc = out_folder_find(run.opts->out, &run.out, reterr);
	if (rc >= 0)
		rc = sessions_open_to(app, !run.opts->in_place, reterr);
	if (rc >= 0)
		rc = sessions_find(app, argc > 0 ? argv[0] : NULL,
			RESOLVE_HERE | RESOLVE_FILE | RESOLVE_DAMAGED, &run.of, reterr);
	if (rc >= 0)
		rc = diagnose(&run, reterr);
	if (rc >= 0 && (run.opts->apply || run.opts->in_place))
		rc = apply(&run, reterr);
	if (rc >= 0) {
		fill_made(&run);
		if (run.opts->json)
			print_object(&run);
		else
			print_text(&run);
		rc = outcome(&run);
	}
	repair_free(run.repair);
	free(run.archived);
	out_folder_release(&run.out);
	made_release(&run.made);
	repair_result_release(&run.result);
	resolved_release(&run.of);
	return rc;
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
