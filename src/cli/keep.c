#include "cli/keep.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/vec.h"
#include "cli/env.h"
#include "cli/print.h"
#include "cli/sessions.h"
#include "cli/since.h"
#include "config/settings.h"
#include "os/file.h"
#include "os/path.h"
#include "search/index.h"
#include "ui/progress.h"

/* ---- what is kept ---- */

void kept_release(struct kept *kept)
{
	free(kept->session);
	free(kept->path);
	*kept = (struct kept){ .key = "" };
}

struct looking {
	const char *spec;
	bool by_key; /* it is a key or its end, else the beginning of an id */
	struct kept *kept;
	bool several;
};

/* The end of a key tells it from others well enough: it is what lists show. */
static bool is_key(struct sv key, struct sv spec)
{
	return sv_eq(key, spec) ||
		(spec.n == ARCHIVE_KEY_END && key.n > spec.n && sv_ends(key, spec) &&
			key.p[key.n - spec.n - 1] == '.');
}

static int take_kept(void *data, const struct archive_file *file)
{
	struct looking *l = data;

	if (l->by_key ? !is_key(sv_of(file->key), sv_of(l->spec))
		      : !sv_starts(sv_of(file->session), sv_of(l->spec)))
		return 0;
	if (l->kept->session && strcmp(l->kept->session, file->session) != 0)
		l->several = true;
	kept_release(l->kept);
	(void)snprintf(l->kept->key, sizeof(l->kept->key), "%s", file->key);
	l->kept->session = xstrdup(file->session);
	l->kept->path = xstrdup(file->path);
	return 0;
}

/* Of a session that nobody but the archive knows any more. */
static int find_in_archive(
	const struct archive *a, const char *spec, struct kept *ret, struct err *reterr)
{
	struct looking l = { .spec = spec, .kept = ret };
	int r = strlen(spec) < CATALOGUE_FRAGMENT_MIN
		? 0
		: archive_each(a, &(struct archive_query){ .key = NULL }, take_kept, &l, reterr);

	if (r < 0)
		return r;
	if (l.several)
		return err_set(
			reterr, ERR_AMBIGUOUS, "the archive has several sessions '%s…'", spec);
	return ret->key[0] ? 0 : ERR_NOTFOUND;
}

int kept_find(struct app *app, const char *spec, struct kept *ret, struct err *reterr)
{
	const struct archive archive = app_archive(app);
	const struct archive_query all = { .key = NULL };
	struct looking l = { .spec = spec, .by_key = true, .kept = ret };
	AUTO_RESOLVED of = RESOLVED_INIT;
	char key[ARCHIVE_KEY_MAX];
	struct err err = ERR_INIT;
	int r = archive_each(&archive, &all, take_kept, &l, reterr);

	if (r < 0 || ret->key[0])
		return r;
	r = sessions_find(app, spec, RESOLVE_GONE, &of, &err);
	if (r == ERR_NOTFOUND) {
		int found = find_in_archive(&archive, spec, ret, reterr);
		if (found == 0 || found == ERR_AMBIGUOUS)
			return found;
	}
	if (r < 0) {
		if (reterr)
			*reterr = err;
		return r;
	}
	const struct session_info *info = &of.row.info;
	AUTO_FREE char *name = xasprintf("%s.jsonl", info->id);
	r = archive_find(&archive, info->path[0] ? info->path : name, key, reterr);
	l.spec = key;
	return r < 0 ? r : archive_each(&archive, &all, take_kept, &l, reterr);
}

/* ---- taking ---- */

int keep_open(struct app *app, struct vault **ret, struct err *reterr)
{
	int r = vault_open(app->paths.archive_dir, VAULT_WRITE | VAULT_WAIT | VAULT_CHECK,
		&app->clock, &app->log, ret, reterr);

	if (r == 0 && vault_made_anew(*ret))
		say_note(app->err,
			"the archive's database was lost or damaged, and has been made again from "
			"its packs");
	return r;
}

struct keeping {
	struct app *app;
	struct term term;
	struct progress progress;
};

static int64_t now_ms(void)
{
	return clock_age_ms(&(struct clock){ false, 0 });
}

static void on_progress(void *data, size_t done, size_t files, uint64_t bytes_read)
{
	struct keeping *k = data;

	(void)bytes_read;
	progress_update(&k->progress, done, files, now_ms());
}

static void on_trouble(void *data, const struct err *err)
{
	struct keeping *k = data;

	say_note(k->app->err, "warning: %s; left out", err->msg);
}

int keep_sessions(struct app *app, struct vault *v, const char *session,
	struct archive_update_stats *ret, struct err *reterr)
{
	const struct term_opts screen = { .fd = STDERR_FILENO, .term_name = env_get("TERM") };
	const struct archive archive = app_archive(app);
	struct keeping k = { .app = app };
	const struct archive_update_opts opts = {
		.progress = on_progress, .trouble = on_trouble, .data = &k, .session = session
	};

	term_init(&k.term, &screen);
	progress_init(&k.progress, &k.term, SV("Archiving"), PROGRESS_ITEMS, now_ms());
	int r = archive_update(&archive, v, &opts, ret, reterr);
	progress_release(&k.progress);
	term_release(&k.term);
	return r;
}

/* ---- letting go of the oldest ---- */

int keep_limits_of_settings(struct app *app, struct kept_limits *ret, struct err *reterr)
{
	enum { DAY_MS = 24 * 60 * 60 * 1000 };
	const struct settings *s = app->settings;

	*ret = (struct kept_limits){ .older_ms = s->archive_keep_days * DAY_MS };
	if (!s->archive_max_size[0])
		return 0;
	int r = bytes_parse(sv_of(s->archive_max_size), &ret->max_bytes, reterr);
	if (r < 0)
		err_prefix(reterr, "archive.max_size");
	return r;
}

struct old {
	char key[ARCHIVE_KEY_MAX];
	uint64_t size;
	int64_t last_ms;
};
typedef VEC(struct old) old_vec;

/* What is there in the agent's folder is a mirror of it: it would be taken again at once. */
static int add_old(void *data, const struct vault_file *file)
{
	old_vec *all = data;
	struct old old = { .size = file->size, .last_ms = file->last_ms };

	(void)snprintf(old.key, sizeof(old.key), "%s", file->key);
	if (!path_exists(file->path) || file->frozen)
		vec_push(all, old);
	return 0;
}

static int by_age(const void *a, const void *b)
{
	const struct old *x = a, *y = b;

	return (x->last_ms > y->last_ms) - (x->last_ms < y->last_ms);
}

int keep_prune(struct app *app, struct vault *v, const struct kept_limits *limits, bool dry,
	struct archive_pruned *ret, struct err *reterr)
{
	const struct archive archive = app_archive(app);
	int64_t before = clock_wall_ms(&app->clock) - limits->older_ms;
	struct vault_figures figures;
	old_vec all = VEC_INIT;
	int r = vault_figures(v, &figures, reterr);

	*ret = (struct archive_pruned){ .files = 0 };
	if (r == 0)
		r = vault_each(v, &(struct vault_query){ .key = NULL }, add_old, &all, reterr);
	vec_sort(&all, by_age);
	/* What a file takes in packs that it shares with others is its share of them. */
	double share = figures.bytes ? (double)figures.stored / (double)figures.bytes : 0;
	double left = (double)figures.stored;
	vec_each (&all, old) {
		bool goes = (limits->older_ms > 0 && old->last_ms < before) ||
			(limits->max_bytes > 0 && left > (double)limits->max_bytes);
		if (r < 0 || !goes)
			continue;
		r = archive_is_referred(&archive, old->key, reterr);
		if (r > 0) {
			ret->referred++;
			r = 0;
			continue;
		}
		ret->files++;
		ret->bytes += old->size;
		left -= share * (double)old->size;
		if (r == 0 && !dry)
			r = archive_forget(&archive, v, old->key, reterr);
	}
	vec_release(&all);
	if (r == 0 && !dry && ret->files > 0)
		r = vault_sweep(v, 0, &ret->freed, reterr);
	return r;
}

/* ---- removing ---- */

/* The folder of a session's sub-agents, and the one it is in, as far as nothing else is there. */
static void remove_empty_folders(const char *path)
{
	enum { LEVELS = 2 };
	struct sv folder = path_parent(sv_of(path));

	if (!sv_is(path_base(folder), "subagents"))
		return;
	for (int i = 0; i < LEVELS; i++) {
		AUTO_FREE char *name = xmemdup0(folder.p, folder.n);
		if (rmdir(name) < 0)
			return;
		folder = path_parent(folder);
	}
}

static int remove_file(const char *path, struct err *reterr)
{
	if (unlink(path) < 0 && errno != ENOENT)
		return err_errno(reterr, errno, "remove %s", path);
	remove_empty_folders(path);
	return 0;
}

int keep_remove(struct vault *v, const char *path, struct err *reterr)
{
	int r = archive_holds(v, path, reterr);

	if (r == 0)
		return err_set(reterr, ERR_INPUT,
			"%s has changed while it was archived; it stays, try again", path);
	return r < 0 ? r : remove_file(path, reterr);
}

/* ---- sessions that are to be deleted ---- */

void doomed_release(struct doomed *d)
{
	vec_each (&d->rows, row) {
		free(row->agent);
		free(row->id);
		free(row->path);
		strv_release(&row->files);
	}
	vec_release(&d->rows);
}

static int add_subagent(void *data, const struct session_row *row)
{
	if (row->info.flags & SESSION_SUBAGENT && !row->gone)
		strv_add(data, row->info.path);
	return 0;
}

int doomed_add(struct app *app, struct doomed *d, const struct session_row *row, bool named,
	struct err *reterr)
{
	AUTO_STR who = STR_INIT;
	struct doomed_session one = { .files = STRV_INIT };

	if (!row->gone && sessions_writer(app, row, &who)) {
		if (named)
			return err_set(reterr, ERR_BUSY,
				"session %s is open in %s; nothing was deleted", row->info.id,
				who.buf);
		say_note(app->err, "session %s is open in %s; it stays", row->info.id, who.buf);
		return 0;
	}
	if (!row->gone)
		strv_add(&one.files, row->info.path);
	int r = catalogue_children(app->store, &row->info, add_subagent, &one.files, reterr);
	if (r < 0) {
		strv_release(&one.files);
		return r;
	}
	for (size_t i = 0; i < one.files.n; i++) {
		struct stat st;
		if (stat(one.files.v[i], &st) == 0)
			one.bytes += (uint64_t)st.st_size;
	}
	one.agent = xstrdup(row->agent);
	one.id = xstrdup(row->info.id);
	one.path = xstrdup(row->info.path);
	vec_push(&d->rows, one);
	return 0;
}

struct forgetting {
	struct archive_forgotten *ret;
	struct strv keys;
};

static int add_key(void *data, const struct archive_file *file)
{
	struct forgetting *f = data;

	strv_add(&f->keys, file->key);
	f->ret->kept++;
	f->ret->kept_bytes += file->size;
	return 0;
}

static int forget_kept(struct app *app, struct vault *v, const char *session,
	struct archive_forgotten *ret, struct err *reterr)
{
	const struct archive archive = app_archive(app);
	const struct archive_query query = { .session = session };
	struct forgetting f = { .ret = ret, .keys = STRV_INIT };
	int r = archive_each(&archive, &query, add_key, &f, reterr);

	for (size_t i = 0; i < f.keys.n && r == 0; i++)
		r = archive_forget(&archive, v, f.keys.v[i], reterr);
	strv_release(&f.keys);
	return r;
}

static int forget_bytes(struct app *app, struct vault *v, const struct doomed_session *one,
	struct archive_forgotten *ret, struct err *reterr)
{
	int r = forget_kept(app, v, one->id, ret, reterr);

	for (size_t i = 0; i < one->files.n && r == 0; i++) {
		AUTO_SESSION_ROW row = SESSION_ROW_INIT;
		const char *path = one->files.v[i];
		bool known = catalogue_by_path(app->store, path, &row, NULL) >= 0;
		r = remove_file(path, reterr);
		if (r == 0 && known && strcmp(row.info.id, one->id) != 0)
			r = forget_kept(app, v, row.info.id, ret, reterr);
	}
	return r;
}

static int forget_rows(struct app *app, const struct doomed_session *one,
	struct archive_forgotten *ret, struct err *reterr)
{
	AUTO_FREE char *index = app_index_dir(app);
	AUTO_STRV paths = STRV_INIT;
	int r = 0;

	if (one->path[0])
		strv_add(&paths, one->path);
	for (size_t i = 0; i < one->files.n; i++)
		if (strcmp(one->files.v[i], one->path) != 0)
			strv_add(&paths, one->files.v[i]);
	if (paths.n > 0 && path_exists(index))
		r = index_forget(index, (const char *const *)paths.v, paths.n, reterr);
	return r < 0 ? r
		     : catalogue_forget(app->store, one->agent, one->id,
			       (const char *const *)paths.v, paths.n, &ret->rows, reterr);
}

static int delete_all(
	struct app *app, const struct doomed *d, struct archive_deleted *ret, struct err *reterr)
{
	struct archive_update_stats stats;
	AUTO_VAULT *v = NULL;
	int r = keep_open(app, &v, reterr);

	/* One is taken by itself, many with all the others. */
	if (r == 0 && !d->forget)
		r = keep_sessions(app, v,
			d->rows.n == 1 && d->rows.v[0].files.n == 1 ? d->rows.v[0].id : NULL,
			&stats, reterr);
	vec_each (&d->rows, one) {
		if (r == 0 && d->forget)
			r = forget_bytes(app, v, one, &ret->forgotten, reterr);
		for (size_t i = 0; i < one->files.n && r == 0 && !d->forget; i++)
			r = keep_remove(v, one->files.v[i], reterr);
		if (r < 0)
			break;
		ret->sessions++;
		ret->files += one->files.n;
		ret->bytes += one->bytes;
	}
	/* The store goes last: as long as it knows them, what was cut short can be done again. */
	if (r == 0 && d->forget)
		r = vault_sweep(v, 0, &ret->forgotten.freed, reterr);
	for (size_t i = 0; i < d->rows.n && r == 0 && d->forget; i++)
		r = forget_rows(app, &d->rows.v[i], &ret->forgotten, reterr);
	return r;
}

/* Asks at a terminal: 1 yes, 0 no. */
static int confirm(struct app *app, const struct doomed *d, struct err *reterr)
{
	char answer[16];
	size_t files = 0;

	vec_each (&d->rows, one)
		files += one->files.n;
	if (!app->in_tty || !app->err_tty)
		return err_set(reterr, ERR_USAGE,
			"%zu session%s would go, and nobody can be asked here: give -y", d->rows.n,
			d->rows.n == 1 ? "" : "s");
	AUTO_FREE char *text = xasprintf("%s %zu session%s (%zu file%s)%s? [y/N] ",
		d->forget ? "Forget" : "Delete", d->rows.n, d->rows.n == 1 ? "" : "s", files,
		files == 1 ? "" : "s",
		d->forget ? " for ever, the archive's copies too" : "; the archive keeps them");
	say_bytes(app->err, sv_of(text));
	(void)fflush(app->err);
	ssize_t n = read(app->in, answer, sizeof(answer));
	return n > 0 && (answer[0] == 'y' || answer[0] == 'Y');
}

int doomed_delete(struct app *app, struct doomed *d, struct err *reterr)
{
	struct archive_deleted done = { .dry = d->dry, .forget = d->forget };
	int r = d->dry || d->yes || d->rows.n == 0 ? 1 : confirm(app, d, reterr);

	if (r < 0)
		return r;
	if (r == 0) {
		say_note(app->err, "nothing was deleted");
		return 1;
	}
	if (d->dry) {
		vec_each (&d->rows, one) {
			done.sessions++;
			done.files += one->files.n;
			done.bytes += one->bytes;
			if (!d->json)
				say_line(app->out, "%s  %s", one->id, one->agent);
		}
	} else if (d->rows.n > 0) {
		r = delete_all(app, d, &done, reterr);
		if (r < 0)
			return r;
	}
	if (d->json) {
		AUTO_STR out = STR_INIT;
		struct jw w = JW_INIT(&out);
		view_json_archive_deleted(&w, &done);
		print_doc(app, &out);
	} else if (d->rows.n == 0) {
		say_note(app->err, "no session is that old");
	} else {
		struct term t;
		print_begin(app, &t);
		view_archive_deleted(&t, &done);
		print_end(&t);
	}
	return d->rows.n > 0 ? 0 : 1;
}
