#include "cli/keep.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/uuid.h"
#include "cli/env.h"
#include "cli/print.h"
#include "cli/sessions.h"
#include "master/list.h"
#include "os/path.h"
#include "ui/format.h"
#include "view/archive.h"
#include "view/session.h"

static void on_progress(void *data, size_t done, size_t files)
{
	struct keeping *k = data;

	progress_update(&k->progress, done, files, clock_age_ms(NULL));
}

static void on_trouble(void *data, const struct err *err)
{
	struct keeping *k = data;

	say_note(k->app->err, "warning: %s; left out", err->msg);
}

static void on_held(void *data, const char *whom)
{
	const struct keeping *k = data;

	say_waiting(k->app->err, whom);
}

static bool is_cancelled(void *data)
{
	struct keeping *k = data;

	return interrupt_came(&k->interrupt) != 0;
}

int keeping_begin(struct app *app, struct sv label, struct keeping *ret, struct err *reterr)
{
	const struct term_opts screen = { .fd = STDERR_FILENO, .term_name = env_get("TERM") };
	int r = interrupt_begin(&ret->interrupt, reterr);

	if (r < 0)
		return r;
	ret->app = app;
	ret->keeper = app_keeper(app);
	ret->keeper.trouble = on_trouble;
	ret->keeper.progress = on_progress;
	ret->keeper.cancelled = is_cancelled;
	ret->keeper.data = ret;
	ret->keeper.wait =
		(struct lock_wait){ .held = on_held, .cancelled = is_cancelled, .data = ret };
	term_init(&ret->term, &screen);
	progress_init(&ret->progress, &ret->term, label, PROGRESS_ITEMS, clock_age_ms(NULL));
	return 0;
}

void keeping_end(struct keeping *k)
{
	if (!k->app)
		return;
	progress_release(&k->progress);
	term_release(&k->term);
	interrupt_end(&k->interrupt);
	k->app = NULL;
}

static void say_made_anew(struct keeping *k, const struct vault *v)
{
	if (vault_made_anew(v))
		say_note(k->app->err,
			"the archive's database was lost or damaged, and has been made again from "
			"its packs");
}

int keeping_check(struct keeping *k, struct err *reterr)
{
	AUTO_VAULT *v = NULL;
	int r = vault_open_after(k->keeper.archive_dir, VAULT_CHECK, &k->keeper.wait,
		k->keeper.clock, k->keeper.log, &v, reterr);

	if (r == 0)
		say_made_anew(k, v);
	return r == ERR_NOTFOUND ? 0 : r;
}

int keeping_vault(struct keeping *k, struct vault **ret, struct err *reterr)
{
	int r = keeper_vault(&k->keeper, VAULT_CHECK, ret, reterr);

	if (r == 0)
		say_made_anew(k, *ret);
	if (r == 0 && vault_cut(*ret) > 0)
		say_note(k->app->err,
			"warning: %u pack%s of the archive became shorter or vanished, %llu frames "
			"are damaged; %s",
			vault_cut(*ret), vault_cut(*ret) == 1 ? "" : "s",
			(unsigned long long)vault_damaged(*ret),
			k->takes_all ? "what the agents still have is taken again"
				     : "'faden archive' takes again what the agents still "
				       "have, 'faden archive verify' names the rest");
	return r;
}

/* A run of the pair, which has a name of its own. */
static int find_run(struct keeping *k, const char *spec, struct kept *ret, struct err *reterr)
{
	const struct archive archive = keeper_archive(&k->keeper);
	AUTO_MASTER_LIST list = MASTER_LIST_INIT;
	const struct master_row *row = NULL;
	int r = master_list_kept(&archive, &list, reterr);

	if (r == 0)
		r = master_find(&list, spec, &row, reterr);
	return r < 0 ? r : kept_by_key(&k->keeper, row->path, ret, reterr);
}

struct twins {
	struct app *app;
	const struct keeper *keeper;
	const struct kept *kept;
	struct str last; /* the path that was said */
};

static int say_twin(void *data, const struct archive_file *file)
{
	struct twins *t = data;

	if (!file->path[0] || strcmp(file->path, t->kept->path) == 0 ||
		keeper_there(t->keeper, file->path) || sv_is(str_sv(&t->last), file->path))
		return 0;
	str_clear(&t->last);
	str_adds(&t->last, file->path);
	AUTO_FREE char *shown = path_show(file->path, t->app->paths.home);
	say_note(t->app->err, "the archive has another session of that id, which lay at %s", shown);
	return 0;
}

/* Others that are gone: an id means the one that was active last. */
static void say_twins(struct keeping *k, const struct kept *kept)
{
	const struct archive archive = keeper_archive(&k->keeper);
	struct twins t = { .app = k->app, .keeper = &k->keeper, .kept = kept, .last = STR_INIT };

	(void)!archive_each(
		&archive, &(struct archive_query){ .session = kept->session }, say_twin, &t, NULL);
	str_release(&t.last);
}

int keeping_find(struct keeping *k, const char *spec, struct kept *ret, struct err *reterr)
{
	AUTO_RESOLVED of = RESOLVED_INIT;
	struct err err = ERR_INIT;
	int r = kept_by_key(&k->keeper, spec, ret, reterr);

	if (r != ERR_NOTFOUND)
		return r;
	r = sessions_find(k->app, spec, RESOLVE_GONE, &of, &err);
	k->keeper.store = k->app->store; /* it may be another one now */
	if (r == ERR_NOTFOUND) {
		int found = kept_by_id(&k->keeper, spec, ret, reterr);
		if (found == ERR_NOTFOUND)
			found = find_run(k, spec, ret, reterr);
		if (found != ERR_NOTFOUND)
			return found;
	}
	if (r < 0 && reterr)
		*reterr = err;
	if (r >= 0)
		r = kept_of_session(&k->keeper, &of.row.info, ret, reterr);
	/* Who named it by its path knows which one is meant. */
	if (r >= 0 && !strchr(spec, '/'))
		say_twins(k, ret);
	return r;
}

void keeping_say_torn(struct app *app, const kept_vec *torn)
{
	enum { NAMED_MAX = 8 };

	for (size_t i = 0; i < torn->n && i < NAMED_MAX; i++) {
		const struct kept *one = &torn->v[i];
		char there[SIZE_TEXT_MAX], kept[SIZE_TEXT_MAX];
		struct stat st;
		if (stat(one->path, &st) < 0) {
			say_note(app->err,
				"the file of session %s is damaged: 'faden archive restore %s "
				"--replace' brings back its copy in the archive",
				one->session, one->session);
			continue;
		}
		size_format((uint64_t)st.st_size, there);
		size_format(one->size, kept);
		/* The file of a sub-agent has a name that others have as well. */
		say_note(app->err,
			"session %s is shorter (%s) than its copy in the archive (%s): 'faden "
			"archive restore %s --replace' brings that back",
			one->session, there, kept,
			uuid_valid(sv_of(one->session)) ? one->session : one->key);
	}
	if (torn->n > NAMED_MAX)
		say_note(app->err,
			"… and %zu more: 'faden archive restore --all --replace' brings all back",
			torn->n - NAMED_MAX);
}

void keeping_say_if_torn(struct app *app, const char *session, const char *path)
{
	const struct keeper keeper = app_keeper(app);
	CLEANUP(kept_vec_release) kept_vec torn = VEC_INIT;

	if (kept_torn(&keeper, session, &torn, NULL) < 0)
		return;
	vec_each (&torn, one)
		if (strcmp(one->path, path) == 0)
			keeping_say_torn(app, &(const kept_vec){ .v = one, .n = 1 });
}

/* ---- deleting ---- */

int delete_finish(struct app *app, struct err *reterr)
{
	const struct keeper keeper = app_keeper(app);
	size_t lines;

	return doomed_finish(&keeper, &lines, reterr);
}

int delete_add(struct app *app, struct doomed *d, const struct session_row *row, const char *spec,
	struct err *reterr)
{
	const struct keeper keeper = app_keeper(app);
	AUTO_STR who = STR_INIT;

	/* A path names one file; an id, all that ever had it. */
	bool everywhere = spec && !sv_eq(path_base(sv_of(spec)), path_base(sv_of(row->info.path)));

	if (!row->gone && !d->forget &&
		!transcript_home_with(app->homes, app->n_homes, row->info.path))
		return err_set(reterr, ERR_INPUT,
			"%s lies where no agent looks for sessions, so the archive does not take "
			"it; nothing was deleted",
			row->info.path);
	if (row->gone || !sessions_writer(app, row, &who)) {
		struct err err = ERR_INIT;
		int r = doomed_add(&keeper, d, row, everywhere, &err);
		if (r == ERR_LIMIT && !spec) {
			say_note(app->err, "%s; session %s stays", err.msg, row->info.id);
			return 0;
		}
		if (r < 0 && reterr)
			*reterr = err;
		return r;
	}
	if (spec)
		return err_set(reterr, ERR_BUSY, "session %s is open in %s; nothing was deleted",
			row->info.id, who.buf);
	say_note(app->err, "session %s is open in %s; it stays", row->info.id, who.buf);
	return 0;
}

void keeping_table(FILE *to, const struct table *table)
{
	enum { PIPE_COLUMNS = 160 };
	size_t cols = prose_width(to);
	struct term t;

	term_init_capture(&t, cols ? cols : PIPE_COLUMNS, TERM_DEFAULT_ROWS, false);
	t.tty = cols > 0;
	t.ascii = !env_use_locale();
	table_print(table, &t);
	say_text(to, str_sv(&t.buf));
	term_release(&t);
}

int keeping_confirm(struct app *app, const char *what, const char *question, struct err *reterr)
{
	char answer[16];

	if (!app->in_tty || !app->err_tty)
		return err_set(reterr, ERR_USAGE,
			"%s would go, and nobody can be asked here: give -y", what);
	AUTO_FREE char *text = xasprintf("%s [y/N] ", question);
	say_bytes(app->err, sv_of(text));
	(void)fflush(app->err);
	ssize_t n = read(app->in, answer, sizeof(answer));
	return n > 0 && (answer[0] == 'y' || answer[0] == 'Y');
}

/* Which ones, so that nobody agrees to others than they mean. */
static void name_them(struct app *app, FILE *to, const struct doomed *d, size_t most)
{
	static const struct table_column columns[] = {
		{ .title = "ID" },
		{ .title = "AGENT" },
		{ .title = "ACTIVE" },
		{ .title = "NAME OR FIRST PROMPT", .shrink = true, .room = 20 },
	};
	int64_t now = clock_wall_ms(&app->clock);
	bool people = prose_width(to) > 0;
	struct table table;

	table_init(&table, columns, ARRAY_LEN(columns));
	for (size_t i = 0; i < d->rows.n && i < most; i++) {
		const struct doomed_session *one = &d->rows.v[i];
		char age[CLOCK_TEXT_MAX];
		clock_format_ago(now - one->active_ms, age);
		if (!people) {
			say_line(to, "%s  %s  %s  %s", one->id, one->agent, age, one->title);
			continue;
		}
		table_add(&table, session_short_id(one->id));
		table_add(&table, sv_of(one->agent));
		table_add(&table, sv_of(age));
		table_add(&table, sv_of(one->title));
	}
	if (people)
		keeping_table(to, &table);
	table_release(&table);
	if (d->rows.n > most)
		say_line(to, "… and %zu more ('--dry-run' names them all)", d->rows.n - most);
}

static int confirm(struct app *app, const struct doomed *d, struct err *reterr)
{
	enum { NAMED_MAX = 12 };
	const struct doomed_stats all = doomed_count(d);
	bool one = all.sessions == 1;
	AUTO_FREE char *what = xasprintf("%zu session%s", all.sessions, one ? "" : "s");
	AUTO_FREE char *question = xasprintf("%s %s (%zu file%s)%s?",
		d->forget ? "Forget" : "Delete", what, all.files, all.files == 1 ? "" : "s",
		d->forget     ? " for ever, what the archive has too"
			: one ? "; the archive keeps it"
			      : "; the archive keeps them");

	if (app->in_tty && app->err_tty)
		name_them(app, app->err, d, NAMED_MAX);
	return keeping_confirm(app, what, question, reterr);
}

static int delete_now(
	struct app *app, const struct doomed *d, struct doomed_stats *ret, struct err *reterr)
{
	AUTO_KEEPING k = { .app = NULL };
	AUTO_VAULT *v = NULL;
	int r = keeping_begin(app, d->forget ? SV("Forgetting") : SV("Archiving"), &k, reterr);

	if (r == 0)
		r = keeping_vault(&k, &v, reterr);
	/* Half of it done is no help: it is not asked whether to end. What is forgotten takes
	 * longer, and can go on later. */
	if (!d->forget)
		k.keeper.cancelled = NULL;
	return r < 0 ? r : doomed_delete(&k.keeper, v, d, ret, reterr);
}

int delete_all(struct app *app, const struct doomed *d, const struct delete_flags *flags,
	struct err *reterr)
{
	struct doomed_stats done = doomed_count(d);
	int r = flags->dry || flags->yes || d->rows.n == 0 ? 1 : confirm(app, d, reterr);

	if (r < 0)
		return r;
	if (r == 0) {
		say_note(app->err, "nothing was deleted");
		return 1;
	}
	if (!flags->dry && d->rows.n > 0) {
		r = delete_now(app, d, &done, reterr);
		if (r < 0)
			return r;
	}
	/* Whoever was not asked has not seen yet what there is no way back to. */
	if (!flags->json && (flags->dry || (flags->yes && d->forget)))
		name_them(app, app->out, d, d->rows.n);
	for (size_t i = 0; i < d->led.n; i++) {
		AUTO_FREE char *shown = path_show(d->led.v[i], app->paths.home);
		say_note(app->err, "a link to it goes, %s itself stays", shown);
	}
	done.dry = flags->dry;
	PRINT_RESULT(app, flags->json, archive_deleted, &done);
	if (done.stayed > 0)
		return err_exit_status(ERR_INPUT);
	return d->rows.n > 0 ? 0 : 1;
}
