/*
 * The archive: a copy of every session of every agent, and the way back.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/vec.h"
#include "cli/cmd.h"
#include "cli/keep.h"
#include "cli/print.h"
#include "cli/sessions.h"
#include "cli/since.h"
#include "os/path.h"
#include "ui/format.h"
#include "ui/table.h"

struct archive_cli {
	bool json;
	bool dry;
	bool partial;
	bool replace;
	bool all;
	int64_t older_ms;
	const char *max_size;
	const char *out;
};

static const char *const archive_verbs[] = { "list", "restore", "verify", "prune", "export", NULL };

static const struct opt archive_options[] = {
	OPT_STRING('o', "out", struct archive_cli, out, "PATH",
		"export: the file or folder to write to, instead of this folder"),
	OPT_FLAG('a', "all", struct archive_cli, all,
		"restore: every session that is gone; export: every file, by its key"),
	OPT_FLAG(0, "partial", struct archive_cli, partial,
		"export, restore: leave damaged lines out instead of failing"),
	OPT_FLAG(0, "replace", struct archive_cli, replace,
		"restore: in place of the file that is there, which goes to the archive first"),
	OPT_SPAN(0, "older-than", struct archive_cli, older_ms, "SPAN",
		"prune: what was taken last before this span (90d, 8w)"),
	OPT_STRING(0, "max-size", struct archive_cli, max_size, "SIZE",
		"prune: the oldest, until the archive has at most so many bytes (500M, 2G)"),
	OPT_FLAG('n', "dry-run", struct archive_cli, dry, "prune: only say what would go"),
	OPT_FLAG(0, "json", struct archive_cli, json, "JSON for programs"),
	OPT_END,
};

/* ---- taking everything ---- */

static int run_update(struct app *app, const struct archive_cli *opts, struct err *reterr)
{
	struct archive_run run = { .stats.files = 0 };
	struct kept_limits limits;
	AUTO_VAULT *v = NULL;
	int r = keep_limits_of_settings(app, &limits, reterr);

	if (r >= 0)
		r = sessions_refresh(app, reterr);
	if (r >= 0)
		r = keep_open(app, &v, reterr);
	if (r >= 0)
		r = keep_sessions(app, v, NULL, &run.stats, reterr);
	if (r >= 0 && (limits.older_ms || limits.max_bytes))
		r = keep_prune(app, v, &limits, false, &run.pruned, reterr);
	if (r >= 0)
		r = vault_figures(v, &run.figures, reterr);
	if (r < 0)
		return r;
	if (opts->json) {
		AUTO_STR out = STR_INIT;
		struct jw w = JW_INIT(&out);
		view_json_archive_run(&w, &run);
		print_doc(app, &out);
	} else {
		struct term t;
		print_begin(app, &t);
		view_archive_run(&t, &run);
		print_end(&t);
	}
	return run.stats.troubles > 0 ? err_exit_status(ERR_INPUT) : 0;
}

/* ---- listing ---- */

struct listing {
	struct app *app;
	const struct archive_cli *opts;
	struct table table;
	struct str json;
	size_t shown;
	const char *text; /* that key, session or path hold; NULL: all */
};

static int list_one(void *data, const struct archive_file *file)
{
	struct listing *l = data;
	AUTO_SESSION_ROW row = SESSION_ROW_INIT;
	char size[SIZE_TEXT_MAX], when[CLOCK_TEXT_MAX];
	bool people = l->app->out_tty;

	if (l->text && !strstr(file->key, l->text) && !strstr(file->path, l->text))
		return 0;
	bool known = catalogue_by_path(l->app->store, file->path, &row, NULL) >= 0;
	bool there = path_exists(file->path);
	if (l->opts->json) {
		str_clear(&l->json);
		struct jw w = JW_INIT(&l->json);
		view_json_archive_file(&w, file, there, known ? session_title(&row) : NULL);
		say_bytes(l->app->out, l->shown > 0 ? SV(",\n") : SV("[\n"));
		say_json(l->app->out, str_sv(&l->json));
		l->shown++;
		return 0;
	}
	AUTO_FREE char *path = path_show(file->path, l->app->paths.home);
	table_add(&l->table, sv_of(there ? "" : "x"));
	struct sv key = sv_of(file->key);
	table_add(&l->table,
		people && key.n > ARCHIVE_KEY_END ? sv_from(key, key.n - ARCHIVE_KEY_END) : key);
	table_add(&l->table, people ? session_short_id(file->session) : sv_of(file->session));
	table_add(&l->table, sv_of(file->agent));
	if (people)
		clock_format_ago(clock_wall_ms(&l->app->clock) - file->kept_ms, when);
	else
		clock_format_iso(file->kept_ms, when);
	table_add(&l->table, sv_of(when));
	size_format(file->size, size);
	if (people)
		table_add(&l->table, sv_of(size));
	else
		table_addf(&l->table, "%llu", (unsigned long long)file->size);
	table_add(&l->table, sv_of(known ? session_title(&row) : people ? path : file->path));
	l->shown++;
	return 0;
}

static int run_list(
	struct app *app, const struct archive_cli *opts, const char *text, struct err *reterr)
{
	static const struct table_column columns[] = {
		{ .title = "" },
		{ .title = "KEY" },
		{ .title = "ID" },
		{ .title = "AGENT" },
		{ .title = "TAKEN" },
		{ .title = "SIZE", .right = true },
		{ .title = "NAME OR FIRST PROMPT", .shrink = true, .room = 24 },
	};
	const struct archive archive = app_archive(app);
	struct listing l = { .app = app, .opts = opts, .json = STR_INIT, .text = text };
	struct term t;

	table_init(&l.table, columns, ARRAY_LEN(columns));
	int r = archive_each(
		&archive, &(struct archive_query){ .key = NULL }, list_one, &l, reterr);
	if (r >= 0 && opts->json) {
		say_bytes(app->out, l.shown > 0 ? SV("\n]\n") : SV("[]\n"));
	} else if (r >= 0) {
		print_begin(app, &t);
		table_print(&l.table, &t);
		print_end(&t);
		if (l.shown == 0)
			say_note(app->err, "%s",
				text ? "nothing in the archive matches"
				     : "nothing is in the archive yet; 'faden archive' fills it");
	}
	table_release(&l.table);
	str_release(&l.json);
	return r < 0 ? r : l.shown > 0 ? 0 : 1;
}

/* ---- back and out ---- */

/* What is said of one that was written somewhere. */
static int tell_written(struct app *app, const struct archive_cli *opts, const struct kept *kept,
	const char *path, int r, uint64_t lost)
{
	if (opts->json) {
		AUTO_STR out = STR_INIT;
		struct jw w = JW_INIT(&out);
		jw_object(&w);
		jw_put_cstr(&w, "archive_key", kept->key);
		jw_put_cstr(&w, "session_id", kept->session);
		jw_put_cstr(&w, "path", path);
		jw_put_bool(&w, "written", r == 0);
		jw_put_i64(&w, "lost_bytes", (int64_t)lost);
		jw_end(&w);
		print_doc(app, &out);
	} else {
		AUTO_FREE char *shown = path_show(path, app->paths.home);
		say_line(app->out, r == 0 ? "%s" : "%s is there already", shown);
	}
	if (lost > 0)
		say_note(app->err, "warning: %llu bytes are damaged and were left out",
			(unsigned long long)lost);
	return 0;
}

/* What lies where it was goes to the archive, and from there. */
static int set_aside(struct app *app, const struct kept *kept, struct err *reterr)
{
	const struct vault_source source = {
		.path = kept->path, .agent = "", .session = kept->session, .own = kept->session
	};
	struct vault_taken taken;
	AUTO_VAULT *v = NULL;

	if (sessions_in_use(app, kept->session))
		return err_set(reterr, ERR_BUSY, "session %s is open; end it first", kept->session);
	int r = keep_open(app, &v, reterr);
	if (r < 0)
		return r;
	struct taker *taker = taker_new(v);
	r = taker_take(taker, &source, &taken, reterr);
	if (r >= 0)
		r = taker_finish(taker, reterr);
	if (r >= 0)
		r = vault_commit(v, reterr);
	taker_free(taker);
	return r < 0 ? r : keep_remove(v, kept->path, reterr);
}

static int run_restore(
	struct app *app, const struct archive_cli *opts, const char *spec, struct err *reterr)
{
	const struct archive archive = app_archive(app);
	CLEANUP(kept_release) struct kept kept = { .key = "" };
	uint64_t lost = 0;
	int r = kept_find(app, spec, &kept, reterr);

	if (r < 0)
		return r;
	if (!kept.path[0])
		return err_set(reterr, ERR_INPUT,
			"where the session lay is not known: 'faden archive export %s'", kept.key);
	uint64_t *may_lose = opts->partial ? &lost : NULL;
	r = archive_restore(&archive, kept.key, kept.path, may_lose, reterr);
	if (r == -EEXIST && opts->replace) {
		r = set_aside(app, &kept, reterr);
		if (r >= 0)
			r = archive_restore(&archive, kept.key, kept.path, may_lose, reterr);
	} else if (r == -EEXIST) {
		return err_set(reterr, ERR_DENIED,
			"%s is there and has other bytes; it stays (--replace takes it to the "
			"archive first, export writes elsewhere)",
			kept.path);
	}
	if (r < 0)
		return r;
	return tell_written(app, opts, &kept, kept.path, r, lost);
}

static char *export_path(const struct archive_cli *opts, const struct kept *kept)
{
	struct sv base = kept->path[0] ? path_base(sv_of(kept->path)) : SV("");
	AUTO_FREE char *name =
		base.n > 0 ? xmemdup0(base.p, base.n) : xasprintf("%s.jsonl", kept->key);

	if (!opts->out)
		return path_join(".", name);
	struct stat st;
	bool folder = sv_ends(sv_of(opts->out), SV("/")) ||
		(stat(opts->out, &st) == 0 && S_ISDIR(st.st_mode));
	return folder ? path_join(opts->out, name) : xstrdup(opts->out);
}

static int run_export(
	struct app *app, const struct archive_cli *opts, const char *spec, struct err *reterr)
{
	const struct archive archive = app_archive(app);
	CLEANUP(kept_release) struct kept kept = { .key = "" };
	uint64_t lost = 0;
	int r = kept_find(app, spec, &kept, reterr);

	if (r < 0)
		return r;
	AUTO_FREE char *path = export_path(opts, &kept);
	r = archive_restore(&archive, kept.key, path, opts->partial ? &lost : NULL, reterr);
	if (r == -EEXIST)
		return err_set(reterr, ERR_DENIED, "%s is there and stays; -o names another", path);
	return r < 0 ? r : tell_written(app, opts, &kept, path, r, lost);
}

/* ---- all of it ---- */

struct one_of_all {
	char *key, *path;
	uint64_t size;
};
struct everything {
	VEC(struct one_of_all) files;
	bool versions; /* every file, else the largest of each path */
};

static void everything_release(struct everything *e)
{
	vec_each (&e->files, one) {
		free(one->key);
		free(one->path);
	}
	vec_release(&e->files);
}

/* Files of one path come together. What was kept before a session was changed in place is not what
 * it was last. */
static int add_to_all(void *data, const struct archive_file *file)
{
	struct everything *e = data;
	struct one_of_all *last = e->files.n ? &e->files.v[e->files.n - 1] : NULL;

	if (!e->versions && file->frozen)
		return 0;
	if (!e->versions && last && strcmp(last->path, file->path) == 0) {
		if (file->size < last->size)
			return 0;
		free(last->key);
		last->key = xstrdup(file->key);
		last->size = file->size;
		return 0;
	}
	vec_push(&e->files,
		(struct one_of_all){ xstrdup(file->key), xstrdup(file->path), file->size });
	return 0;
}

/* Back to where they lay, or as KEY.jsonl into a folder. What is there stays. */
static int run_all(struct app *app, const struct archive_cli *opts, bool back, struct err *reterr)
{
	const struct archive archive = app_archive(app);
	CLEANUP(everything_release) struct everything e = { .versions = !back };
	size_t written = 0, there = 0, failed = 0;

	if (!back && !opts->out)
		return err_set(reterr, ERR_USAGE, "say where to: -o FOLDER");
	int r = archive_each(
		&archive, &(struct archive_query){ .key = NULL }, add_to_all, &e, reterr);
	if (r < 0)
		return r;
	vec_each (&e.files, one) {
		AUTO_FREE char *name = xasprintf("%s.jsonl", one->key);
		AUTO_FREE char *path = back ? xstrdup(one->path) : path_join(opts->out, name);
		uint64_t lost = 0;
		struct err err = ERR_INIT;
		r = path_exists(path) ? 1
				      : archive_restore(&archive, one->key, path,
						opts->partial ? &lost : NULL, &err);
		written += r == 0;
		there += r > 0;
		failed += r < 0;
		if (r < 0)
			say_note(app->err, "warning: %s: %s", one->key, err.msg);
	}
	if (opts->json) {
		AUTO_STR out = STR_INIT;
		struct jw w = JW_INIT(&out);
		jw_object(&w);
		jw_put_i64(&w, "written_files", (int64_t)written);
		jw_put_i64(&w, "present_files", (int64_t)there);
		jw_put_i64(&w, "failed_files", (int64_t)failed);
		jw_end(&w);
		print_doc(app, &out);
	} else {
		say_line(app->out, "%zu file%s written, %zu there already%s", written,
			written == 1 ? "" : "s", there,
			failed ? ", some could not be written" : "");
	}
	return failed > 0 ? err_exit_status(ERR_INPUT) : 0;
}

/* ---- checking ---- */

static int say_damaged(void *data, const struct vault_file *file)
{
	struct app *app = data;

	say_note(app->err, "damaged: %s (%s)", file->key, file->path);
	return 0;
}

static int run_verify(struct app *app, const struct archive_cli *opts, struct err *reterr)
{
	struct vault_verdict verdict;
	AUTO_VAULT *v = NULL;
	AUTO_FREE char *packs = path_join(app->paths.archive_dir, "packs");

	if (!path_exists(packs))
		return err_set(reterr, ERR_NOTFOUND,
			"nothing is in the archive yet; 'faden archive' fills it");
	int r = keep_open(app, &v, reterr);
	if (r >= 0)
		r = vault_verify(v, say_damaged, app, &verdict, reterr);
	if (r < 0)
		return r;
	bool sound = verdict.damaged_frames == 0 && verdict.damaged_files == 0;
	if (opts->json) {
		AUTO_STR out = STR_INIT;
		struct jw w = JW_INIT(&out);
		view_json_archive_verdict(&w, &verdict);
		print_doc(app, &out);
	} else {
		struct term t;
		print_begin(app, &t);
		view_archive_verdict(&t, &verdict);
		print_end(&t);
	}
	return sound ? 0 : err_exit_status(ERR_INPUT);
}

/* ---- pruning ---- */

static int run_prune(struct app *app, const struct archive_cli *opts, struct err *reterr)
{
	struct kept_limits limits = { .older_ms = opts->older_ms };
	struct archive_pruned pruned;
	AUTO_VAULT *v = NULL;
	int r = opts->max_size ? bytes_parse(sv_of(opts->max_size), &limits.max_bytes, reterr) : 0;

	if (r == 0 && !opts->older_ms && !opts->max_size)
		r = keep_limits_of_settings(app, &limits, reterr);
	if (r == 0 && !limits.older_ms && !limits.max_bytes)
		r = err_set(reterr, ERR_USAGE,
			"say what goes: --older-than SPAN or --max-size SIZE (or set "
			"archive.keep_days or archive.max_size)");
	if (r == 0)
		r = keep_open(app, &v, reterr);
	if (r == 0)
		r = keep_prune(app, v, &limits, opts->dry, &pruned, reterr);
	if (r < 0)
		return r;
	if (opts->json) {
		AUTO_STR out = STR_INIT;
		struct jw w = JW_INIT(&out);
		view_json_archive_pruned(&w, &pruned, opts->dry);
		print_doc(app, &out);
	} else {
		struct term t;
		print_begin(app, &t);
		view_archive_pruned(&t, &pruned, opts->dry);
		print_end(&t);
	}
	return 0;
}

/* ---- the command ---- */

static int run_archive(
	struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	const struct archive_cli *opts = options;
	struct sv verb = sv_of(argc > 0 ? argv[0] : "");

	if (argc == 0)
		return run_update(app, opts, reterr);
	if (sv_is(verb, "list") && argc <= 2)
		return run_list(app, opts, argc == 2 ? argv[1] : NULL, reterr);
	if ((sv_is(verb, "restore") || sv_is(verb, "export")) && argc == 1 && opts->all)
		return run_all(app, opts, sv_is(verb, "restore"), reterr);
	if (sv_is(verb, "restore") && argc == 2)
		return run_restore(app, opts, argv[1], reterr);
	if (sv_is(verb, "export") && argc == 2)
		return run_export(app, opts, argv[1], reterr);
	if (sv_is(verb, "verify") && argc == 1)
		return run_verify(app, opts, reterr);
	if (sv_is(verb, "prune") && argc == 1)
		return run_prune(app, opts, reterr);
	return err_set(reterr, ERR_USAGE,
		"give nothing, 'list [TEXT]', 'restore SESSION', 'export SESSION' (or --all of "
		"them), 'verify' or 'prune'");
}

const struct cmd cmd_archive = {
	.name = "archive",
	.group = CMD_GROUP_SESSIONS,
	.summary = "keep a copy of every session, and get one back",
	.synopsis = "[WHAT] [SESSION]",
	.max_args = 2,
	.needs = CMD_STORE,
	.words = CMD_WORDS_SESSION,
	.verbs = archive_verbs,
	.opts = archive_options,
	.opts_size = sizeof(struct archive_cli),
	.run = run_archive,
};
