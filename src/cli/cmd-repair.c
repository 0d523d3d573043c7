/*
 * Why a session does not resume whole, and a copy that does.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/archive-of.h"
#include "cli/cmd.h"
#include "cli/find.h"
#include "cli/go-on.h"
#include "cli/in-place.h"
#include "cli/new-session.h"
#include "cli/print.h"
#include "cli/sessions.h"
#include "os/path.h"
#include "strategy/repair.h"
#include "ui/size.h"
#include "ui/wrap.h"
#include "json/write.h"

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
	struct session_row row;
	struct repair *repair;
	char backup[ARCHIVE_KEY_MAX]; /* "" when there is none */
	char *archived; /* a copy of the session in the archive; NULL: none */
	char *out; /* folder of --out, absolute */
	bool out_missing;
	struct repair_result result; /* path NULL: nothing was written */
};

/* ---- the session ---- */

static int find(struct run *run, int argc, char **argv, struct err *reterr)
{
	AUTO_FREE char *spec = NULL;
	int rc = sessions_given(run->app, argc, argv, &spec, reterr);
	if (rc < 0)
		return rc;
	return find_damaged(run->app, spec, &run->row, reterr);
}

/* ---- for people ---- */

static unsigned level_style(enum repair_level level)
{
	static const unsigned styles[] = {
		[REPAIR_NOTE] = STYLE_NOTICE,
		[REPAIR_MINOR] = STYLE_WARNING,
		[REPAIR_LOSS] = STYLE_WARNING | STYLE_BOLD,
		[REPAIR_BLOCK] = STYLE_ERROR,
	};
	return styles[level];
}

/* Words of ours: `first` in its style, then the rest, broken between words on a terminal. */
static void put_words(struct term *t, struct sv indent, struct sv hang, const char *first,
	unsigned style, const char *rest)
{
	struct wrap w;
	size_t cols = t->cols;
	if (!t->tty)
		t->cols = TERM_MAX_COLS;
	wrap_init(&w, t);
	wrap_begin(&w, indent, hang, 0);
	wrap_add(&w, sv_of(first), style);
	wrap_add(&w, sv_of(rest), 0);
	wrap_end(&w);
	wrap_release(&w);
	t->cols = cols;
}

static void put_sentence(struct term *t, struct sv indent, const char *text)
{
	put_words(t, indent, indent, "", 0, text);
}

static void add_lines(struct str *out, const struct repair_finding *finding, bool ascii)
{
	const char *before = finding->n_lines == 1 ? ", line " : ", lines ";
	for (size_t i = 0; i < finding->n_lines; i++, before = ", ") {
		char number[SIZE_TEXT_MAX];
		size_format_count(finding->lines[i], number);
		str_addf(out, "%s%s", before, number);
	}
	if (finding->n_lines > 0 && finding->count > finding->n_lines)
		str_adds(out, ascii ? ", ..." : ", …");
}

static void show_finding(
	struct term *t, enum repair_cause cause, const struct repair_finding *finding)
{
	const struct sv indent = SV("        ");
	const char *remedy = repair_cause_remedy(cause), *level = repair_level_name(finding->level);
	AUTO_STR what = STR_INIT;
	str_addf(&what, "%*s %s", (int)(5 - strlen(level)), "", repair_cause_name(cause));
	if (finding->count > 1)
		str_addf(&what, ", %zu times", finding->count);
	add_lines(&what, finding, t->ascii);
	put_words(t, SV("  "), indent, level, level_style(finding->level), what.buf);
	put_sentence(t, indent, repair_cause_effect(cause));
	if (finding->level > REPAIR_NOTE)
		put_sentence(t, indent, remedy[0] ? remedy : "nothing in the file can mend this");
}

static void show_report(struct term *t, const struct repair_report *report)
{
	AUTO_STR line = STR_INIT;
	str_addf(&line, "reachable %zu of %zu entries", report->reachable, report->entries);
	if (report->others > 0)
		str_addf(&line, "; %zu before a compaction or on branches that were left",
			report->others);
	if (report->side > 0)
		str_addf(&line, "; %zu of sub-agents", report->side);
	put_sentence(t, SV(""), line.buf);
	for (size_t i = 0; i < REPAIR_CAUSE_COUNT; i++)
		if (report->findings[i].count > 0)
			show_finding(t, (enum repair_cause)i, &report->findings[i]);
	if (repair_healthy(report))
		term_puts(t, "healthy\n");
}

/* A path as it is shown elsewhere, under its label. */
static void show_path(struct term *t, const struct run *run, const char *label, const char *path)
{
	AUTO_FREE char *shown = path_show(path, run->app->paths.home);
	term_putf(t, "  %-8s %s\n", label, shown);
}

static void show_undo(struct term *t, const char *copy, const char *path)
{
	AUTO_STR line = STR_INIT;
	shell_cp(&line, copy, path);
	term_putf(t, "  undo     %s\n", line.buf);
}

static void show_result(struct term *t, const struct run *run)
{
	const struct repair_result *result = &run->result;
	struct archive archive;
	AUTO_FREE char *dir = archive_of(run->app, &archive);
	term_newline(t);
	if (run->opts->in_place) {
		AUTO_FREE char *copy = archive_path(&archive, run->backup);
		term_putf(t, "Mended session %s\n", result->id);
		show_path(t, run, "backup", copy);
		show_undo(t, copy, result->path);
	} else {
		term_putf(t, "New session %s\n  from     %s\n", result->id, run->row.info.id);
	}
	show_path(t, run, "file", result->path);
	show_report(t, &result->report);
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
	shell_cp(&line, run->archived, run->row.info.path);
	put_sentence(
		t, SV(""), "The archive has a copy of it; with no agent at it, get it back by");
	term_putf(t, "  %s\n", line.buf);
}

static void show(struct run *run, struct term *t)
{
	const struct repair_report *report = repair_report(run->repair);
	char size[SIZE_TEXT_MAX], lines[SIZE_TEXT_MAX];
	size_format(report->bytes, size);
	size_format_count((int64_t)report->lines, lines);
	term_text_line(t, sv_of(run->row.info.id));
	term_putf(t, ", %s: %s line%s, %s\n", run->row.agent, lines, report->lines == 1 ? "" : "s",
		size);
	show_report(t, report);
	show_archived(t, run);
	if (run->result.path)
		show_result(t, run);
	else if (!repair_healthy(report) && repair_possible(run->repair))
		term_puts(t, "--apply writes a mended copy\n");
}

/* ---- for programs ---- */

static void put_finding(struct jw *w, enum repair_cause cause, const struct repair_finding *finding)
{
	jw_object(w);
	jw_put_cstr(w, "cause", repair_cause_name(cause));
	jw_put_cstr(w, "level", repair_level_name(finding->level));
	jw_put_i64(w, "count", (int64_t)finding->count);
	jw_key(w, "lines");
	jw_array(w);
	for (size_t i = 0; i < finding->n_lines; i++)
		jw_i64(w, finding->lines[i]);
	jw_end(w);
	jw_put_cstr(w, "effect", repair_cause_effect(cause));
	jw_put_cstr(w, "remedy", repair_cause_remedy(cause));
	jw_end(w);
}

static void put_report(struct jw *w, const struct repair_report *report)
{
	jw_put_bool(w, "healthy", repair_healthy(report));
	jw_put_i64(w, "reachable", (int64_t)report->reachable);
	jw_put_i64(w, "entries", (int64_t)report->entries);
	jw_put_i64(w, "left_out", (int64_t)report->others);
	jw_put_i64(w, "side_chain", (int64_t)report->side);
	jw_put_i64(w, "lines", (int64_t)report->lines);
	jw_put_i64(w, "bytes", (int64_t)report->bytes);
	jw_key(w, "findings");
	jw_array(w);
	for (size_t i = 0; i < REPAIR_CAUSE_COUNT; i++)
		if (report->findings[i].count > 0)
			put_finding(w, (enum repair_cause)i, &report->findings[i]);
	jw_end(w);
}

static void put_result(struct jw *w, const struct run *run)
{
	jw_key(w, "mended");
	jw_object(w);
	put_report(w, &run->result.report);
	jw_end(w);
	jw_put_cstr(w, "backup", run->backup[0] ? run->backup : NULL);
}

static void print_object(const struct run *run)
{
	AUTO_STR out = STR_INIT;
	struct jw w = JW_INIT(&out);
	bool written = run->result.path != NULL;
	jw_object(&w);
	jw_put_cstr(&w, "session_id", written ? run->result.id : NULL);
	jw_put_cstr(&w, "path", run->result.path);
	jw_put_cstr(&w, "parent_id", run->row.info.id);
	jw_put_cstr(&w, "parent_path", run->row.info.path);
	jw_put_cstr(&w, "agent", run->row.agent);
	jw_put_bool(&w, "in_place", written && run->opts->in_place);
	jw_put_cstr(&w, "archived", run->archived);
	put_report(&w, repair_report(run->repair));
	if (written)
		put_result(&w, run);
	jw_end(&w);
	(void)fprintf(run->app->out, "%s\n", out.buf);
}

static void print_text(struct run *run)
{
	struct term t;
	print_begin(run->app, &t);
	show(run, &t);
	print_end(&t);
	if (run->result.path && !run->opts->out)
		go_on_print(run->app, &run->row, run->result.id, run->result.path);
}

/* ---- the command ---- */

static void find_archived(struct run *run)
{
	struct archive archive;
	AUTO_FREE char *dir = archive_of(run->app, &archive);
	char key[ARCHIVE_KEY_MAX];
	if (archive.store && archive_find(&archive, run->row.info.path, key, NULL) >= 0)
		run->archived = archive_path(&archive, key);
}

static int diagnose(struct run *run, struct err *reterr)
{
	const struct repair_opts opts = {
		.path = run->row.info.path,
		.format = run->row.info.format,
		.in_use = sessions_in_use(run->app, run->row.info.id),
	};
	int rc = repair_open(&opts, &run->repair, reterr);
	if (rc >= 0)
		find_archived(run);
	return rc;
}

static int keep_original(struct run *run, struct err *reterr)
{
	struct archive archive;
	AUTO_FREE char *dir = archive_of(run->app, &archive);
	int rc = in_place_check(run->app, &run->row, "write a copy (--apply)", reterr);
	return rc < 0
		? rc
		: archive_keep(&archive, run->row.info.path, ARCHIVE_COPY, run->backup, reterr);
}

static int apply(struct run *run, struct err *reterr)
{
	const struct repair_cli *opts = run->opts;
	const struct repair_write how = {
		.out_dir = run->out, .in_place = opts->in_place, .clock = &run->app->clock
	};
	int rc = 0;
	if (repair_healthy(repair_report(run->repair)) || !repair_possible(run->repair))
		return 0;
	if (opts->in_place)
		rc = keep_original(run, reterr);
	if (rc >= 0)
		rc = repair_apply(run->repair, &how, &run->result, reterr);
	if (rc < 0)
		out_hint(run->app, opts->out, opts->in_place, reterr);
	if (run->out_missing)
		out_folder_made(run->app, run->out, rc >= 0);
	return rc;
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
		.row = SESSION_ROW_INIT,
		.result = REPAIR_RESULT_INIT,
	};
	int rc = check_options(run.opts, argc, reterr);
	if (rc >= 0 && run.opts->out)
		rc = out_folder(run.opts->out, &run.out, &run.out_missing, reterr);
	if (rc >= 0)
		rc = sessions_open_to(app, !run.opts->in_place, reterr);
	if (rc >= 0)
		rc = find(&run, argc, argv, reterr);
	if (rc >= 0)
		rc = diagnose(&run, reterr);
	if (rc >= 0 && (run.opts->apply || run.opts->in_place))
		rc = apply(&run, reterr);
	if (rc >= 0) {
		if (run.opts->json)
			print_object(&run);
		else
			print_text(&run);
		rc = outcome(&run);
	}
	repair_free(run.repair);
	free(run.archived);
	free(run.out);
	repair_result_release(&run.result);
	session_row_release(&run.row);
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
