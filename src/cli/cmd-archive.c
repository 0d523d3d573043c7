/*
 * The archive: a copy of every session of every agent, and the way back.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "cli/cmd.h"
#include "cli/keep.h"
#include "cli/pick.h"
#include "cli/print.h"
#include "cli/sessions.h"
#include "cli/since.h"
#include "config/settings.h"
#include "os/file.h"
#include "os/path.h"
#include "os/unpack.h"
#include "ui/format.h"
#include "ui/table.h"
#include "view/archive.h"

struct archive_cli {
	bool json;
	bool dry;
	bool yes;
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
		"export: the file or folder to write to, instead of this folder; -: standard "
		"output"),
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
	OPT_FLAG('y', "yes", struct archive_cli, yes, "prune: do not ask"),
	OPT_FLAG(0, "json", struct archive_cli, json, "JSON for programs"),
	OPT_END,
};

/* ---- what goes ---- */

/* What the catalogue knows of a session by the path that the archive has, which is that of a plain
 * file. */
static bool find_row(struct app *app, const char *path, struct session_row *ret)
{
	AUTO_FREE char *where = unpack_where(path);

	return catalogue_by_path(app->store, where ? where : path, ret, NULL) >= 0;
}

/* What goes, or went: there is no way back. */
static void name_old(struct app *app, FILE *to, const struct kept_pruned *plan, size_t most)
{
	static const struct table_column columns[] = {
		{ .title = "ID" },
		{ .title = "TAKEN" },
		{ .title = "SIZE", .right = true },
		{ .title = "" },
		{ .title = "NAME OR FIRST PROMPT", .shrink = true, .room = 20 },
	};
	int64_t now = clock_wall_ms(&app->clock);
	bool people = prose_width(to) > 0;
	struct table table;

	table_init(&table, columns, ARRAY_LEN(columns));
	for (size_t i = 0; i < plan->old.n && i < most; i++) {
		const struct kept_old *one = &plan->old.v[i];
		AUTO_SESSION_ROW row = SESSION_ROW_INIT;
		AUTO_FREE char *path = path_show(one->kept.path, app->paths.home);
		bool known = find_row(app, one->kept.path, &row);
		char size[SIZE_TEXT_MAX], when[CLOCK_TEXT_MAX];
		clock_format_ago(now - one->last_ms, when);
		size_format(one->kept.size, size);
		table_add(&table,
			people ? session_short_id(one->kept.session) : sv_of(one->kept.session));
		table_add(&table, sv_of(when));
		table_add(&table, sv_of(size));
		table_add(&table, sv_of(one->only ? "the only copy" : ""));
		table_add(&table, sv_of(known ? session_title(&row) : path));
	}
	keeping_table(to, &table);
	table_release(&table);
	if (plan->old.n > most)
		say_line(to, "… and %zu more ('--dry-run' names them all)", plan->old.n - most);
}

/* ---- taking everything ---- */

static struct kept_limits limits_of_settings(const struct settings *s)
{
	enum { DAY_MS = 24 * 60 * 60 * 1000 };

	return (struct kept_limits){ s->archive_keep_days * DAY_MS, s->archive_max_size };
}

static void archive_run_release(struct archive_run *run)
{
	kept_pruned_release(&run->pruned);
}

static int run_update(struct keeping *k, const struct archive_cli *opts, struct err *reterr)
{
	CLEANUP(archive_run_release)
	struct archive_run run = { .pruned = KEPT_PRUNED_INIT };
	CLEANUP(kept_vec_release) kept_vec torn = VEC_INIT;
	const struct kept_limits limits = limits_of_settings(k->app->settings);
	AUTO_VAULT *v = NULL;
	size_t unread = 0;
	int r = sessions_refresh_count(k->app, &unread, reterr);

	k->takes_all = true;
	if (r >= 0)
		r = keeping_vault(k, &v, reterr);
	if (r >= 0)
		r = keeper_archive_to(&k->keeper, v, NULL, &run.stats, reterr);
	if (r >= 0 && run.stats.left > 0)
		return err_set(reterr, ERR_CANCELLED,
			"interrupted: %zu files were taken and are kept, %zu left; 'faden archive' "
			"goes on there",
			run.stats.taken, run.stats.left);
	if (r >= 0 && (limits.older_ms || limits.max_bytes))
		r = kept_prune_plan(&k->keeper, v, &limits, &run.pruned, reterr);
	if (r >= 0 && run.pruned.files > 0)
		r = kept_prune(&k->keeper, v, &limits, &run.pruned, reterr);
	if (r >= 0)
		r = kept_torn(&k->keeper, NULL, &torn, reterr);
	if (r >= 0)
		r = vault_figures(v, &run.figures, reterr);
	if (r < 0)
		return r;
	run.stats.troubles += unread;
	run.torn = torn.n;
	keeping_say_torn(k->app, &torn);
	run.damaged = vault_damaged(v);
	if (!opts->json)
		name_old(k->app, k->app->out, &run.pruned, run.pruned.old.n);
	PRINT_RESULT(k->app, opts->json, archive_run, &run);
	return run.stats.troubles > 0 || run.damaged > 0 ? err_exit_status(ERR_INPUT) : 0;
}

/* ---- listing ---- */

struct listing {
	struct app *app;
	struct keeper keeper;
	const struct archive_cli *opts;
	struct table table;
	struct str json;
	size_t shown, older;
	struct strv words; /* folded: each is in key, title or path */
	struct map latest; /* path → its last version */
	struct strv keys; /* of these */
};

static int note_latest(void *data, const struct archive_file *file)
{
	struct listing *l = data;

	if (file->superseded)
		return 0;
	*map_ref(&l->latest, sv_of(file->path)) = l->keys.n;
	strv_add(&l->keys, file->key);
	return 0;
}

static bool is_latest(const struct listing *l, const struct archive_file *file)
{
	uint64_t at;

	return map_get(&l->latest, sv_of(file->path), &at) && strcmp(l->keys.v[at], file->key) == 0;
}

/* What it is called; what it was once may have been called otherwise. */
static void add_title(struct listing *l, const struct archive_file *file, struct str *out)
{
	const struct archive archive = app_archive(l->app);
	const struct transcript_home *home =
		transcript_home_of(l->app->homes, l->app->n_homes, file->path);
	AUTO_SESSION_ROW row = SESSION_ROW_INIT;
	AUTO_CLOSE int fd = -1;
	struct stat st;

	if (is_latest(l, file)) {
		if (find_row(l->app, file->path, &row))
			str_adds(out, session_title(&row));
	} else if (home && archive_open(&archive, file->key, &fd, NULL, NULL) >= 0 &&
		fstat(fd, &st) == 0) {
		session_info_init(&row.info, home->format, file->path);
		row.own_name = xstrdup("");
		row.agent = xstrdup(home->agent);
		if (transcript_scan(fd, (uint64_t)st.st_size, &row.info, NULL) >= 0)
			str_adds(out, session_title(&row));
	}
}

static bool is_meant(
	const struct listing *l, const struct archive_file *file, const struct str *title)
{
	AUTO_STR all = STR_INIT;
	AUTO_STR text = STR_INIT;
	size_t at;

	str_addf(&all, "%s\n%s\n%s\n%s", file->key, file->session, file->path, title->buf);
	utf8_normalise(&text, str_sv(&all), true);
	for (size_t i = 0; i < l->words.n; i++)
		if (!sv_find(str_sv(&text), sv_of(l->words.v[i]), &at))
			return false;
	return true;
}

static int list_one(void *data, const struct archive_file *file)
{
	struct listing *l = data;
	AUTO_STR title = STR_INIT;
	char size[SIZE_TEXT_MAX], when[CLOCK_TEXT_MAX];
	bool people = l->app->out_tty;

	add_title(l, file, &title);
	if (!is_meant(l, file, &title))
		return 0;
	bool there = keeper_there(&l->keeper, file->path) &&
		!transcript_fell_silent(file->path, file->size);
	bool older = !is_latest(l, file);

	if (l->opts->json) {
		str_clear(&l->json);
		struct jw w = JW_INIT(&l->json);
		view_json_archive_file(&w, file, there, older, title.len > 0 ? title.buf : NULL);
		say_bytes(l->app->out, l->shown > 0 ? SV(",\n") : SV("[\n"));
		say_json(l->app->out, str_sv(&l->json));
		l->shown++;
		return 0;
	}
	AUTO_FREE char *path = path_show(file->path, l->app->paths.home);
	table_add(&l->table, older ? (there ? SV("o") : SV("xo")) : there ? SV("") : SV("x"));
	l->older += older;
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
	table_add(&l->table, sv_of(title.len > 0 ? title.buf : people ? path : file->path));
	l->shown++;
	return 0;
}

static int run_list(
	struct app *app, const struct archive_cli *opts, int argc, char **argv, struct err *reterr)
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
	const struct archive_query all = { .key = NULL };
	struct listing l = {
		.app = app, .keeper = app_keeper(app), .opts = opts, .json = STR_INIT
	};
	struct term t;

	for (int i = 0; i < argc; i++) {
		AUTO_STR folded = STR_INIT;
		utf8_normalise(&folded, sv_of(argv[i]), true);
		struct sv rest = str_sv(&folded), word;
		while (sv_split(&rest, ' ', &word))
			if (word.n > 0)
				strv_addsv(&l.words, word);
	}
	table_init(&l.table, columns, ARRAY_LEN(columns));
	int r = archive_each(&archive, &all, note_latest, &l, reterr);
	if (r >= 0)
		r = archive_each(&archive, &all, list_one, &l, reterr);
	if (r >= 0 && opts->json) {
		say_bytes(app->out, l.shown > 0 ? SV("\n]\n") : SV("[]\n"));
	} else if (r >= 0) {
		print_begin(app, &t);
		table_print(&l.table, &t);
		print_end(&t);
		if (l.older > 0 && app->out_tty)
			say_note(app->err,
				"o: an older version of its file; 'faden show KEY' shows it");
		if (l.shown == 0)
			say_note(app->err, "%s",
				argc > 0 ? "nothing in the archive matches"
					 : "nothing is in the archive yet; 'faden archive' "
					   "fills it");
	}
	table_release(&l.table);
	strv_release(&l.words);
	strv_release(&l.keys);
	map_release(&l.latest);
	str_release(&l.json);
	return r < 0 ? r : l.shown > 0 ? 0 : 1;
}

/* ---- back and out ---- */

/* What is said of those that were written somewhere: a line each, or one object in which those that
 * belong to the first stand in a list. */
struct telling {
	struct app *app;
	bool json;
	struct str out;
	struct jw w;
	size_t told;
};

static void say_back(struct app *app, const struct kept_back *b)
{
	if (b->lost > 0)
		say_note(app->err, "warning: %llu bytes are damaged and were left out",
			(unsigned long long)b->lost);
	if (b->aside)
		say_note(app->err,
			"what lay there has other bytes, and is in the archive: 'faden archive "
			"export %s'",
			b->aside);
}

static void tell_written(struct telling *t, const struct kept_back *b, const char *path)
{
	say_back(t->app, b);
	if (t->json) {
		jw_object(&t->w);
		jw_put_cstr(&t->w, "archive_key", b->kept->key);
		jw_put_cstr(&t->w, "session_id", b->kept->session);
		jw_put_cstr(&t->w, "path", path);
		jw_put_bool(&t->w, "written", b->written);
		jw_put_i64(&t->w, "lost_bytes", (int64_t)b->lost);
		jw_put_cstr(&t->w, "replaced_key", b->aside);
		jw_key(&t->w, "beside");
		jw_array(&t->w);
	} else {
		AUTO_FREE char *shown = path_show(path, t->app->paths.home);
		say_line(t->app->out, b->written ? "%s" : "%s is there already", shown);
	}
	if (t->json && t->told > 0) {
		jw_end(&t->w);
		jw_end(&t->w);
	}
	t->told++;
}

static void tell_end(struct telling *t)
{
	if (!t->json || t->told == 0)
		return;
	jw_end(&t->w);
	jw_end(&t->w);
	print_doc(t->app, &t->out);
}

static void on_restored(void *data, const struct kept_back *b)
{
	tell_written(data, b, b->kept->path);
}

/* What is damaged can be had without that. */
static int name_partial(int r, const struct archive_cli *opts, struct err *reterr)
{
	char said[ERR_MSG_MAX];

	if (r != ERR_INPUT || opts->partial)
		return r;
	(void)snprintf(said, sizeof(said), "%s", reterr->msg);
	return err_set(reterr, r, "%s; with --partial what is left is written", said);
}

static unsigned kept_flags(const struct archive_cli *opts)
{
	return (opts->partial ? KEPT_PARTIAL : 0u) | (opts->replace ? KEPT_REPLACE : 0u);
}

struct others {
	const struct kept *kept;
	size_t n;
};

static int count_others(void *data, const struct archive_file *file)
{
	struct others *o = data;

	o->n += strcmp(file->path, o->kept->path) == 0 && strcmp(file->key, o->kept->key) != 0;
	return 0;
}

/* Which of several versions came back is not what everybody takes for granted. */
static void name_others(const struct keeping *k, const struct kept *kept)
{
	const struct archive archive = app_archive(k->app);
	struct others o = { .kept = kept };

	if (archive_each(&archive, &(struct archive_query){ .session = kept->session },
		    count_others, &o, NULL) >= 0 &&
		o.n > 0)
		say_note(k->app->err,
			"%zu other %s of it %s kept, too: 'faden archive list %.8s' names %s", o.n,
			o.n == 1 ? "version" : "versions", o.n == 1 ? "is" : "are", kept->session,
			o.n == 1 ? "it" : "them");
}

static int run_restore(
	struct keeping *k, const struct archive_cli *opts, const char *spec, struct err *reterr)
{
	CLEANUP(kept_release) struct kept kept = KEPT_INIT;
	struct telling t = { .app = k->app, .json = opts->json, .out = STR_INIT };
	int r = keeping_find(k, spec, &kept, reterr);

	if (r < 0)
		return r;
	bool replaces = opts->replace || !keeper_there(&k->keeper, kept.path);
	if (replaces && path_exists(kept.path) && sessions_in_use(k->app, kept.session))
		return err_set(reterr, ERR_BUSY, "session %s is open; end it first", kept.session);
	t.w = (struct jw)JW_INIT(&t.out);
	r = kept_restore(&k->keeper, &kept, kept_flags(opts), on_restored, &t, reterr);
	tell_end(&t);
	str_release(&t.out);
	if (r >= 0)
		name_others(k, &kept);
	return kept.path[0] ? name_partial(r, opts, reterr) : r;
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

/* The bytes as they are, and nothing else: to a descriptor or, where there is none, to standard
 * output. */
static int export_bytes(struct keeping *k, const struct archive_cli *opts, const struct kept *kept,
	int into, struct err *reterr)
{
	enum { STEP = 256 * 1024 };
	const struct archive archive = keeper_archive(&k->keeper);
	AUTO_FREE char *buf = xmalloc(STEP);
	AUTO_CLOSE int fd = -1;
	uint64_t lost = 0;
	off_t at = 0;
	ssize_t n;

	int r = archive_open(&archive, kept->key, &fd, opts->partial ? &lost : NULL, reterr);
	if (r < 0)
		return name_partial(r, opts, reterr);
	while ((n = pread(fd, buf, STEP, at)) > 0 && !ferror(k->app->out)) {
		if (into < 0)
			say_bytes(k->app->out, sv_make(buf, (size_t)n));
		else if ((r = file_write_all(into, sv_make(buf, (size_t)n), reterr)) < 0)
			return r;
		at += n;
	}
	if (n < 0)
		return err_errno(reterr, errno, "read from the archive");
	say_back(k->app, &(struct kept_back){ .lost = lost });
	return 0;
}

static int run_export(
	struct keeping *k, const struct archive_cli *opts, const char *spec, struct err *reterr)
{
	const struct archive archive = keeper_archive(&k->keeper);
	CLEANUP(kept_release) struct kept kept = KEPT_INIT;
	struct telling t = { .app = k->app, .json = opts->json, .out = STR_INIT };
	struct kept_back back = { .kept = &kept };
	AUTO_CLOSE int into = -1;
	bool standard = opts->out && strcmp(opts->out, "-") == 0;
	int r = keeping_find(k, spec, &kept, reterr);

	if (r < 0)
		return r;
	if (standard && (opts->json || k->app->out_tty))
		return err_set(reterr, ERR_USAGE, "'-o -' is for a pipe or a file, without --json");
	AUTO_FREE char *path = export_path(opts, &kept);
	r = standard ? 1 : file_open_into(path, &into, reterr);
	if (r > 0 && opts->json)
		r = err_set(reterr, ERR_USAGE, "%s is no file: without --json", path);
	if (r > 0)
		return export_bytes(k, opts, &kept, into, reterr);
	if (r == 0)
		r = archive_restore(
			&archive, kept.key, path, opts->partial ? &back.lost : NULL, reterr);
	if (r == -EEXIST)
		return err_set(reterr, ERR_DENIED, "%s is there and stays; -o names another", path);
	if (r < 0)
		return name_partial(r, opts, reterr);
	t.w = (struct jw)JW_INIT(&t.out);
	back.written = r == 0;
	tell_written(&t, &back, path);
	tell_end(&t);
	str_release(&t.out);
	return 0;
}

struct replacing {
	struct app *app;
	struct kept_written *all;
};

static void on_replaced(void *data, const struct kept_back *b)
{
	struct replacing *rep = data;

	say_back(rep->app, b);
	rep->all->written += b->written;
}

/* Those that are shorter than their copies make room for these. One that fails stays. */
static void replace_torn(struct keeping *k, const struct archive_cli *opts, const kept_vec *torn,
	struct kept_written *all)
{
	struct replacing rep = { k->app, all };

	vec_each (torn, one) {
		size_t before = all->written;
		struct err err = ERR_INIT;
		if (sessions_in_use(k->app, one->session)) {
			say_note(k->app->err, "session %s is open; it stays", one->session);
			continue;
		}
		if (kept_restore(&k->keeper, one, kept_flags(opts), on_replaced, &rep, &err) < 0) {
			err_prefix(&err, "%s", one->key);
			k->keeper.trouble(k->keeper.data, &err);
			all->failed++;
		}
		all->there -= all->written > before;
		all->torn -= all->written > before;
	}
}

/* Back to where they lay, or as KEY.jsonl into a folder. What is there stays. */
static int run_all(struct keeping *k, const struct archive_cli *opts, bool back, struct err *reterr)
{
	CLEANUP(kept_vec_release) kept_vec torn = VEC_INIT;
	struct kept_written all;

	if (!back && !opts->out)
		return err_set(reterr, ERR_USAGE, "say where to: -o FOLDER");
	int r = kept_write_all(&k->keeper, back ? NULL : opts->out, kept_flags(opts), &all, reterr);
	if (r >= 0 && back)
		r = kept_torn(&k->keeper, NULL, &torn, reterr);
	all.torn = torn.n;
	if (r < 0)
		return r;
	if (opts->replace)
		replace_torn(k, opts, &torn, &all);
	else
		keeping_say_torn(k->app, &torn);
	PRINT_RESULT(k->app, opts->json, archive_written, &all);
	return all.failed > 0  ? err_exit_status(ERR_INPUT)
		: all.torn > 0 ? err_exit_status(ERR_DENIED)
			       : 0;
}

/* ---- checking ---- */

static int say_damaged(void *data, const struct vault_file *file)
{
	struct app *app = data;

	say_note(app->err, "damaged: %s (%s)", file->key, file->path);
	return 0;
}

static int run_verify(struct keeping *k, const struct archive_cli *opts, struct err *reterr)
{
	struct vault_verdict verdict;
	AUTO_VAULT *v = NULL;
	AUTO_FREE char *packs = path_join(k->keeper.archive_dir, "packs");

	int r = path_exists(packs) ? keeping_vault(k, &v, reterr) : -ENOENT;
	/* To look at it, it need not be writable: a full or write-protected disk is when one wants
	 * to know. */
	if (r < 0)
		r = vault_open(
			k->keeper.archive_dir, 0, k->keeper.clock, k->keeper.log, &v, reterr);
	if (r == ERR_NOTFOUND)
		return err_set(
			reterr, r, "nothing is in the archive yet; 'faden archive' fills it");
	if (r >= 0)
		r = vault_verify(v, say_damaged, k->app, &verdict, reterr);
	if (r < 0)
		return r;
	PRINT_RESULT(k->app, opts->json, archive_verdict, &verdict);
	return verdict.damaged_frames == 0 && verdict.damaged_files == 0
		? 0
		: err_exit_status(ERR_INPUT);
}

/* ---- pruning ---- */

static int confirm_prune(struct app *app, const struct kept_pruned *plan, struct err *reterr)
{
	enum { NAMED_MAX = 12 };
	AUTO_FREE char *what = xasprintf("%zu file%s", plan->files, plan->files == 1 ? "" : "s");
	AUTO_STR question = STR_INIT;
	size_t only = 0;

	vec_each (&plan->old, old)
		only += old->only;
	str_addf(&question, "Let go of %s of the archive", what);
	if (only > 0)
		str_addf(&question, ", of %s of which this is the only copy",
			only == plan->files ? "all"
				: only == 1 ? "one"
					    : "some");
	str_adds(&question, "?");
	name_old(app, app->err, plan, NAMED_MAX);
	return keeping_confirm(app, what, question.buf, reterr);
}

static int run_prune(struct keeping *k, const struct archive_cli *opts, struct err *reterr)
{
	struct kept_limits limits = { .older_ms = opts->older_ms };
	CLEANUP(kept_pruned_release) struct kept_pruned plan = KEPT_PRUNED_INIT;
	AUTO_VAULT *v = NULL;
	int r = 0;

	if (opts->max_size &&
		(!sv_parse_bytes(sv_of(opts->max_size), &limits.max_bytes) || !limits.max_bytes))
		return err_set(reterr, ERR_USAGE, "no size: '%s' (500M, 2G)", opts->max_size);
	if (!opts->older_ms && !opts->max_size)
		limits = limits_of_settings(k->app->settings);
	if (!limits.older_ms && !limits.max_bytes)
		r = err_set(reterr, ERR_USAGE,
			"nothing leaves the archive by itself: say what goes, --older-than SPAN or "
			"--max-size SIZE (or set archive.keep_days or archive.max_size); with "
			"--dry-run it is only named");
	if (r == 0)
		r = keeping_vault(k, &v, reterr);
	if (r == 0)
		r = kept_prune_plan(&k->keeper, v, &limits, &plan, reterr);
	if (r < 0)
		return r;
	plan.dry = opts->dry;
	r = opts->dry || opts->yes || plan.files == 0 ? 1 : confirm_prune(k->app, &plan, reterr);
	if (r < 0)
		return r;
	if (r == 0) {
		say_note(k->app->err, "nothing was let go");
		return 1;
	}
	if (!opts->dry)
		r = kept_prune(&k->keeper, v, &limits, &plan, reterr);
	if (r < 0)
		return r;
	if (!opts->json && (opts->dry || opts->yes))
		name_old(k->app, k->app->out, &plan, plan.old.n);
	PRINT_RESULT(k->app, opts->json, archive_pruned, &plan);
	return 0;
}

/* ---- the command ---- */

/* An option that does nothing would be taken for one that did: what only looks must not prune. */
static int check_options(const struct archive_cli *opts, struct sv verb, struct err *reterr)
{
	bool prune = sv_is(verb, "prune"), back = sv_is(verb, "restore"),
	     out = sv_is(verb, "export");
	const struct {
		bool given, fits;
		const char *name, *of;
	} some[] = {
		{ opts->dry, prune, "dry-run", "prune" },
		{ opts->yes, prune, "yes", "prune" },
		{ opts->older_ms != 0, prune, "older-than", "prune" },
		{ opts->max_size != NULL, prune, "max-size", "prune" },
		{ opts->replace, back, "replace", "restore" },
		{ opts->partial, back || out, "partial", "restore' and 'archive export" },
		{ opts->all, back || out, "all", "restore' and 'archive export" },
		{ opts->out != NULL, out, "out", "export" },
	};

	for (size_t i = 0; i < ARRAY_LEN(some); i++)
		if (some[i].given && !some[i].fits)
			return err_set(reterr, ERR_USAGE, "--%s is for 'archive %s'", some[i].name,
				some[i].of);
	return 0;
}

static int run_verb(
	struct app *app, const struct archive_cli *opts, int argc, char **argv, struct err *reterr)
{
	struct sv verb = sv_of(argc > 0 ? argv[0] : "");
	bool back = sv_is(verb, "restore"), out = sv_is(verb, "export");

	bool list = sv_is(verb, "list");
	int r = list ? run_list(app, opts, argc - 1, argv + 1, reterr) : 0;

	if (list && r != ERR_STORE)
		return r;
	AUTO_KEEPING k = { .app = NULL };
	r = keeping_begin(app, sv_is(verb, "prune") ? SV("Pruning") : SV("Archiving"), &k, reterr);
	if (r == 0 && (list || back || out))
		r = keeping_check(&k, reterr);
	if (r < 0)
		return r;
	if (list)
		return run_list(app, opts, argc - 1, argv + 1, reterr);
	/* Only what takes long and can go on later is ended by the first Ctrl-C. */
	if (argc == 0)
		return run_update(&k, opts, reterr);
	interrupt_end(&k.interrupt);
	k.keeper.cancelled = NULL;
	k.keeper.wait.cancelled = NULL;
	if ((back || out) && argc == 1 && opts->all)
		return run_all(&k, opts, back, reterr);
	AUTO_FREE char *chosen = NULL;
	if ((back || out) && argc == 1 && pick_possible(app)) {
		const struct pick_opts which = { .question = "Which session?",
			.gone = true,
			.only_gone = back && !opts->replace,
			.only_kept = true };
		r = pick_session(app, &which, &chosen, reterr);
		k.keeper.store = app->store;
		if (r < 0)
			return r;
	}
	const char *spec = argc == 2 ? argv[1] : chosen;
	if (back && spec)
		return run_restore(&k, opts, spec, reterr);
	if (out && spec)
		return run_export(&k, opts, spec, reterr);
	if (sv_is(verb, "verify") && argc == 1)
		return run_verify(&k, opts, reterr);
	if (sv_is(verb, "prune") && argc == 1)
		return run_prune(&k, opts, reterr);
	return err_set(reterr, ERR_USAGE,
		"give nothing, 'list [WORDS…]', 'restore SESSION', 'export SESSION' (or --all of "
		"them), 'verify' or 'prune'");
}

static int run_archive(
	struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	const struct archive_cli *opts = options;
	struct sv verb = sv_of(argc > 0 ? argv[0] : "");
	bool writes = argc == 0 || sv_is(verb, "prune"), looked = app->looks;
	struct err err = ERR_INIT;
	int r = check_options(opts, verb, reterr);

	if (r < 0)
		return r;
	/* What is in the packs is to be had without a sound store, too. */
	r = sessions_open_to(app, !writes, reterr);
	if (r < 0)
		return r;
	do
		r = run_verb(app, opts, argc, argv, &err);
	while (r < 0 && !writes && sessions_go_on(app, r, &err));
	app->looks = looked;
	if (r < 0 && reterr)
		*reterr = err;
	return r;
}

const struct cmd cmd_archive = {
	.name = "archive",
	.group = CMD_GROUP_SESSIONS,
	.summary = "keep a copy of every session, and get one back",
	.synopsis = "[WHAT] [SESSION]",
	.max_args = CMD_ANY,
	.words = CMD_WORDS_SESSION,
	.verbs = archive_verbs,
	.opts = archive_options,
	.opts_size = sizeof(struct archive_cli),
	.run = run_archive,
};
