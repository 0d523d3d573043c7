/*
 * Conversations as documents, and as bundles for another machine.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/vec.h"
#include "bundle/seal.h"
#include "bundle/take.h"
#include "cli/cmd.h"
#include "cli/env.h"
#include "cli/passphrase.h"
#include "cli/print.h"
#include "cli/runs.h"
#include "cli/sessions.h"
#include "os/file.h"
#include "os/path.h"
#include "ui/progress.h"
#include "view/export.h"
#include "view/json.h"

struct export_opts {
	const char *out;
	const char *format;
	const char *at;
	bool tools;
	bool thinking;
	bool live;
	bool force;
	bool ancestors;
	bool seal;
	const char *passphrase;
	bool json;
	long long last;
};

/* By enum export_format, and behind those the bundle; then the short names of the first two. */
enum { FORMAT_BUNDLE = EXPORT_FORMATS, FORMATS };
static const char *const format_names[] = { "text", "markdown", "html", "json", "bundle", "txt",
	"md", NULL };

static const struct opt export_options[] = {
	OPT_STRING('o', "out", struct export_opts, out, "FILE",
		"the file to write, instead of standard output; in a folder it is called by the "
		"id"),
	OPT_WORD(0, "format", struct export_opts, format, "FORMAT", format_names,
		"what to write: text (txt), markdown (md), html, json, bundle; else by the ending "
		"of FILE"),
	OPT_FLAG('t', "tools", struct export_opts, tools,
		"everything: tools' input and output in full, thinking, what programs put in"),
	OPT_FLAG(0, "thinking", struct export_opts, thinking, "the agent's thinking too"),
	OPT_INT('n', "last", struct export_opts, last, "N", 1, 1000000, "only the last N turns"),
	OPT_STRING(0, "at", struct export_opts, at, "MESSAGE",
		"from this message on: the number that search gives, or its uuid"),
	OPT_FLAG(0, "live", struct export_opts, live,
		"only what the agent would send to the model when it resumes"),
	OPT_FLAG(0, "with-ancestors", struct export_opts, ancestors,
		"bundle: also the sessions that these were made from"),
	OPT_FLAG(0, "seal", struct export_opts, seal,
		"bundle: sealed with a passphrase, which is asked for"),
	OPT_STRING(0, "passphrase-file", struct export_opts, passphrase, "FILE",
		"bundle: sealed with the passphrase on the first line of FILE"),
	OPT_FLAG('f', "force", struct export_opts, force, "replace FILE when it is there"),
	OPT_FLAG(0, "json", struct export_opts, json, "what was written, as JSON; needs --out"),
	OPT_END,
};

struct export_run {
	struct app *app;
	const struct export_opts *opts;
	int format;
	VEC(struct resolved) sessions;
	struct strv runs; /* of the pair: their files */
	struct exporter *exporter;
	struct err *reterr; /* of the session that is read */
	const struct conversation *conversation; /* … as it is read */
	char *path; /* of the file; NULL: standard output */
	struct file_new file;
	int into; /* in place of the file: a device, a pipe; negative: none */
	uint64_t written;
	struct progress progress;
};

static void export_release(struct export_run *x)
{
	vec_each (&x->sessions, of)
		resolved_release(of);
	vec_release(&x->sessions);
	strv_release(&x->runs);
	exporter_free(x->exporter);
	file_new_release(&x->file);
	if (x->into >= 0)
		(void)close(x->into);
	free(x->path);
}

/* ---- what and where to ---- */

static const struct {
	const char *ending;
	int format;
} endings[] = {
	{ ".txt", EXPORT_TEXT },
	{ ".text", EXPORT_TEXT },
	{ ".md", EXPORT_MARKDOWN },
	{ ".markdown", EXPORT_MARKDOWN },
	{ ".html", EXPORT_HTML },
	{ ".htm", EXPORT_HTML },
	{ ".json", EXPORT_JSON },
	{ ".faden", FORMAT_BUNDLE },
};

static int choose_format(struct export_run *x, struct err *reterr)
{
	const struct export_opts *o = x->opts;
	size_t found = ARRAY_LEN(endings);

	for (size_t i = 0; o->format && format_names[i]; i++)
		if (strcmp(o->format, format_names[i]) == 0) {
			x->format = (int)i < FORMATS ? (int)i : (int)i - FORMATS;
			return 0;
		}
	if (!o->out)
		return 0; /* as text */
	for (size_t i = 0; i < ARRAY_LEN(endings); i++)
		if (sv_ends(sv_of(o->out), sv_of(endings[i].ending)))
			found = i;
	if (found == ARRAY_LEN(endings))
		return err_set(reterr, ERR_USAGE,
			"%s: what to write is not clear from its ending (.txt, .md, .html, .json, "
			".faden); say it with --format",
			o->out);
	x->format = endings[found].format;
	return 0;
}

static int open_file(struct export_run *x, struct err *reterr)
{
	static const char *const usual[] = { "txt", "md", "html", "json", "faden" };
	struct stat st;

	if (!x->opts->out)
		return 0;
	x->path = path_expand_home(x->opts->out, x->app->paths.home);
	if (stat(x->path, &st) == 0 && S_ISDIR(st.st_mode)) {
		AUTO_FREE char *folder = x->path;
		struct sv run = x->runs.n ? path_base(sv_of(x->runs.v[0])) : SV("");
		if (sv_ends(run, SV(".json")))
			run.n -= strlen(".json");
		AUTO_FREE char *called = xmemdup0(run.n ? run.p : "", run.n);
		AUTO_FREE char *name = xasprintf("%s.%s",
			(x->sessions.n > 0 ? x->sessions.v[0].row.info.id : called),
			usual[x->format]);
		struct sv base = path_base(sv_of(name));
		AUTO_FREE char *plain = xmemdup0(base.p, base.n);
		x->path = path_join(folder, plain);
	}
	int r = file_open_into(x->path, &x->into, reterr);
	if (r != 0)
		return r;
	if (!x->opts->force && path_exists(x->path))
		return err_set(
			reterr, ERR_DENIED, "%s is there already; --force replaces it", x->path);
	return file_new_open_unnamed(&x->file, x->path, 0600, reterr);
}

static int put(void *data, struct sv bytes, struct err *reterr)
{
	struct export_run *x = data;

	if (x->path) {
		x->written += bytes.n;
		if (x->into < 0)
			return file_new_write(&x->file, bytes, reterr);
		int r = file_write_all(x->into, bytes, reterr);
		if (r < 0)
			err_prefix(reterr, "%s", x->path);
		return r;
	}
	say_bytes(x->app->out, bytes);
	/* Who does not listen any more ends it; why is looked at with the rest of the output. */
	return ferror(x->app->out) ? 1 : 0;
}

static int name_file(struct export_run *x, struct err *reterr)
{
	if (x->into >= 0)
		return close(TAKE_FD(x->into)) < 0 ? err_errno(reterr, errno, "close %s", x->path)
						   : 0;
	return x->opts->force ? file_new_commit(&x->file, reterr)
			      : file_new_commit_excl(&x->file, reterr);
}

static int close_file(struct export_run *x, struct err *reterr)
{
	if (!x->path)
		return 0;
	int r = name_file(x, reterr);
	if (r < 0 || !x->opts->json)
		return r;
	AUTO_STR out = STR_INIT;
	struct jw w = JW_INIT(&out);
	jw_object(&w);
	jw_put_cstr(&w, "path", x->path);
	jw_put_cstr(&w, "format", format_names[x->format]);
	jw_put_i64(&w, "size_bytes", (int64_t)x->written);
	jw_key(&w, "sessions");
	jw_array(&w);
	vec_each (&x->sessions, of) {
		const struct session_view view = sessions_view(x->app, &of->row);
		view_json_session(&w, &view);
	}
	jw_end(&w);
	jw_end(&w);
	print_doc(x->app, &out);
	return 0;
}

/* ---- documents ---- */

static int export_item(void *data, const struct item *item)
{
	struct export_run *x = data;

	return exporter_item(x->exporter, item, x->conversation->turn, x->reterr);
}

static int export_session(struct export_run *x, const struct resolved *of, struct err *reterr)
{
	const struct conversation_opts opts = {
		.live = x->opts->live, .last = x->opts->last, .at = x->opts->at
	};
	const struct session_view view = sessions_view(x->app, &of->row);
	AUTO_CONVERSATION c = CONVERSATION_INIT;
	int r = sessions_read(x->app, of, &opts, &c, reterr);

	x->reterr = reterr;
	x->conversation = &c;
	if (r >= 0)
		r = exporter_session(x->exporter, &view, reterr);
	if (r == 0)
		r = conversation_each(&c, export_item, x, reterr);
	x->conversation = NULL;
	sessions_warn_passed(x->app, &c.passed, "is left out");
	return r;
}

/* A run. */
static int export_pair(struct export_run *x, const char *path, struct err *reterr)
{
	struct master_run *run = NULL;
	int r = master_open_file(path, MASTER_LOOK, &x->app->clock, &run, reterr);

	if (r < 0)
		return r;
	r = exporter_run(x->exporter, run, reterr);
	int closed = master_close(run, r < 0 ? NULL : reterr);
	return r != 0 ? r : closed;
}

static int export_documents(struct export_run *x, struct err *reterr)
{
	const struct export_style style = { .tools = x->opts->tools,
		.thinking = x->opts->thinking,
		.live = x->opts->live,
		.sessions = x->sessions.n + x->runs.n };
	int r = 0;

	x->exporter =
		exporter_new((enum export_format)x->format, &style, (struct term_sink){ put, x });
	vec_each (&x->sessions, of)
		if (r == 0)
			r = export_session(x, of, reterr);
	for (size_t i = 0; r == 0 && i < x->runs.n; i++)
		r = export_pair(x, x->runs.v[i], reterr);
	if (r == 0)
		r = exporter_end(x->exporter, reterr);
	return r < 0 ? r : 0;
}

/* ---- bundles ---- */

static void on_trouble(void *data, const struct err *err)
{
	const struct export_run *x = data;

	say_note(x->app->err, "warning: %s", err->msg);
}

static void on_progress(void *data, uint64_t done, uint64_t total)
{
	struct export_run *x = data;

	progress_update(&x->progress, done, total, clock_run_ms());
}

static int write_sealed(struct export_run *x, struct take *take, struct err *reterr)
{
	AUTO_PASSPHRASE passphrase = STR_INIT;
	struct seal_writer *seal = NULL;
	AUTO_FREE char *what = x->path ? xasprintf("for %s", x->path) : xstrdup("for the bundle");
	int r = passphrase_get(x->app, x->opts->passphrase, what, true, &passphrase, reterr);

	if (r >= 0)
		r = seal_begin(str_sv(&passphrase), (struct term_sink){ put, x }, &seal, reterr);
	if (r == 0)
		r = take_write(take, (struct term_sink){ seal_write, seal }, reterr);
	if (r == 0)
		r = seal_end(seal, reterr);
	seal_writer_free(seal);
	return r;
}

static int export_bundle(struct export_run *x, struct err *reterr)
{
	bool sealed = x->opts->seal || x->opts->passphrase;
	const struct archive archive = app_archive(x->app);
	const struct term_opts screen = { .fd = STDERR_FILENO, .term_name = env_get("TERM") };
	const struct take_opts opts = { .archive = &archive,
		.homes = x->app->homes,
		.n_homes = x->app->n_homes,
		.clock = &x->app->clock,
		.ancestors = x->opts->ancestors,
		.trouble = on_trouble,
		.progress = on_progress,
		.data = x };
	AUTO_TAKE take = { .manifest = BUNDLE_MANIFEST_INIT };
	struct term term;

	take_init(&take, &opts);
	term_init(&term, &screen);
	progress_init(&x->progress, &term, SV("Bundling"), PROGRESS_BYTES, clock_run_ms());
	int r = 0;
	vec_each (&x->sessions, of)
		if (r >= 0)
			r = take_session(&take, &of->row, of->kept, reterr);
	for (size_t i = 0; r >= 0 && i < x->runs.n; i++)
		r = take_run(&take, x->runs.v[i], reterr);
	if (r >= 0)
		r = sealed ? write_sealed(x, &take, reterr)
			   : take_write(&take, (struct term_sink){ put, x }, reterr);
	progress_release(&x->progress);
	term_release(&term);
	return r < 0 ? r : 0;
}

static int check_options(const struct export_run *x, struct err *reterr)
{
	const struct export_opts *o = x->opts;
	bool bundle = x->format == FORMAT_BUNDLE;

	if (o->at && o->last > 0)
		return err_set(reterr, ERR_USAGE, "--at and --last: one of them");
	if (o->json && !o->out)
		return err_set(reterr, ERR_USAGE,
			"--json tells of the file that --out names; the conversation itself as "
			"JSON "
			"is --format json");
	if (bundle && (o->tools || o->thinking || o->live || o->last > 0 || o->at))
		return err_set(reterr, ERR_USAGE, "a bundle has all of a session");
	if (bundle && !o->out && x->app->out_tty)
		return err_set(reterr, ERR_USAGE,
			"a bundle is nothing for a terminal; --out names a file for it");
	if (!bundle && (o->ancestors || o->seal || o->passphrase))
		return err_set(reterr, ERR_USAGE, "%s is for bundles (--format bundle)",
			o->ancestors	  ? "--with-ancestors"
				: o->seal ? "--seal"
					  : "--passphrase-file");
	return 0;
}

static int find_one(struct export_run *x, const char *spec, struct err *reterr)
{
	struct resolved of = RESOLVED_INIT;
	int r = sessions_find(x->app, spec, RESOLVE_HERE | RESOLVE_GONE, &of, reterr);

	if (r >= 0) {
		vec_push(&x->sessions, of);
		return 0;
	}
	resolved_release(&of);
	AUTO_RUN_NAMED run = RUN_NAMED_INIT;
	if (!run_find(x->app, r, spec, &run))
		return r;
	strv_add(&x->runs, run.row->path);
	return 0;
}

static int run_export(
	struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	CLEANUP(export_release)
	struct export_run x = {
		.app = app, .opts = options, .runs = STRV_INIT, .file = FILE_NEW_INIT, .into = -1
	};
	int r = choose_format(&x, reterr);

	if (r >= 0)
		r = check_options(&x, reterr);
	if (r >= 0)
		r = sessions_open(app, reterr);
	/* Names and children are found by the catalogue. */
	if (r >= 0 && x.format == FORMAT_BUNDLE)
		r = sessions_refresh(app, reterr);
	for (int i = 0; r >= 0 && i < (argc > 0 ? argc : 1); i++)
		r = find_one(&x, argc > 0 ? argv[i] : NULL, reterr);
	if (r >= 0)
		r = open_file(&x, reterr);
	if (r >= 0)
		r = x.format == FORMAT_BUNDLE ? export_bundle(&x, reterr)
					      : export_documents(&x, reterr);
	return r < 0 ? r : close_file(&x, reterr);
}

const struct cmd cmd_export = {
	.name = "export",
	.group = CMD_GROUP_SESSIONS,
	.summary = "write conversations as a document, or a bundle for elsewhere",
	.synopsis = "[SESSION…]",
	.max_args = CMD_ANY,
	.words = CMD_WORDS_SESSION,
	.opts = export_options,
	.opts_size = sizeof(struct export_opts),
	.run = run_export,
};
