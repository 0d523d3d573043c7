#include "cli/pick.h"

#include <signal.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/env.h"
#include "cli/fresh.h"
#include "cli/pick-rows.h"
#include "cli/print.h"
#include "cli/sessions.h"
#include "os/clip.h"
#include "ui/input.h"
#include "ui/picker.h"

struct pick {
	struct app *app;
	struct loop *loop;
	struct picker *picker;
	struct pick_rows rows;
	const struct candidate *chosen;
	const struct cmd *then; /* what is to be done with it; NULL: that is the caller's */
	int signo; /* that ends the program */
};

static void pick_release(struct pick *p)
{
	picker_free(p->picker);
	loop_free(p->loop);
	pick_rows_release(&p->rows);
}

/* ---- keys ---- */

static bool end_with(
	struct pick *p, const struct picker_found *found, size_t row, const struct cmd *then)
{
	p->chosen = pick_rows_at(found, row);
	p->then = then;
	return true;
}

static bool act_choose(
	void *data, struct picker *picker UNUSED, const struct picker_found *found, size_t row)
{
	return end_with(data, found, row, NULL);
}

static bool act_resume(
	void *data, struct picker *picker UNUSED, const struct picker_found *found, size_t row)
{
	return end_with(data, found, row, &cmd_resume);
}

static bool act_trim(
	void *data, struct picker *picker UNUSED, const struct picker_found *found, size_t row)
{
	return end_with(data, found, row, &cmd_trim);
}

static bool act_rollover(
	void *data, struct picker *picker UNUSED, const struct picker_found *found, size_t row)
{
	return end_with(data, found, row, &cmd_rollover);
}

/* Without a pager what was printed would be gone before it was read. */
static void wait_for_enter(const struct app *app)
{
	char c;

	say_note(app->err, "Enter goes back");
	while (read(app->in, &c, 1) == 1 && c != '\n') {
	}
}

static bool act_read(
	void *data, struct picker *picker, const struct picker_found *found, size_t row)
{
	struct pick *p = data;
	const struct session_row *of = &pick_rows_at(found, row)->row;
	const struct pick_place at = pick_rows_place(found, row);
	AUTO_STRV words = STRV_INIT;
	struct err err = ERR_INIT;

	strv_add(&words, of->gone ? of->info.id : at.path ? at.path : of->info.path);
	if (at.path)
		strv_addf(&words, "--at=%llu", (unsigned long long)at.offset);
	if (at.path && at.hidden)
		strv_add(&words, "--tools");
	picker_hide(picker);
	p->app->pager_stays = true;
	int r = cmd_call(p->app, &cmd_show, (int)words.n, words.v, &err);
	bool paged = p->app->pager.running;
	app_pager_end(p->app);
	p->app->pager_stays = false;
	(void)fflush(p->app->out);
	if (r >= 0 && !paged)
		wait_for_enter(p->app);
	if (r < 0)
		picker_say(picker, err.msg);
	if (picker_show(picker, NULL) < 0)
		picker_leave(picker);
	return false;
}

static bool act_copy(
	void *data, struct picker *picker, const struct picker_found *found, size_t row)
{
	const struct pick *p = data;
	const struct candidate *c = pick_rows_at(found, row);
	const struct clip_desktop desktop = {
		.search = p->app->paths.search,
		.wayland_display = env_get("WAYLAND_DISPLAY"),
		.display = env_get("DISPLAY"),
		.envp = env_all(),
	};
	AUTO_STR said = STR_INIT;
	struct err err = ERR_INIT;

	int r = clip_put(sv_of(c->row.info.id), &desktop, NULL, &err);
	if (r == ERR_NOTFOUND) /* over ssh, the terminal has one all the same */
		picker_clip(picker, sv_of(c->row.info.id));
	if (r >= 0)
		str_addf(&said, "on the clipboard: %s", c->row.info.id);
	else if (r == ERR_NOTFOUND)
		str_addf(&said, "given to the terminal's clipboard: %s", c->row.info.id);
	else
		str_addf(&said, "%s (%s)", c->row.info.id, err.msg);
	picker_say(picker, said.buf);
	return false;
}

#define KEY_READ                                                                              \
	{                                                                                     \
		KEY_CTRL | 'o', "^O", "read", "read it in the pager, and come back", act_read \
	}
#define KEY_COPY                                                                         \
	{                                                                                \
		KEY_CTRL | 'y', "^Y", "copy id", "put its id on the clipboard", act_copy \
	}

static const struct picker_key choosing[] = {
	{ KEY_ENTER, "Enter", "choose", "choose the session", act_choose },
	KEY_READ,
	KEY_COPY,
};
static const struct picker_key acting[] = {
	{ KEY_ENTER, "Enter", "resume", "go on in the agent's own program", act_resume },
	KEY_READ,
	KEY_COPY,
	{ KEY_ALT | 't', "M-t", "trim", "make a trimmed copy, as faden trim does", act_trim },
	{ KEY_ALT | 'r', "M-r", "rollover", "go on in a fresh session, as faden rollover does",
		act_rollover },
};

/* ---- from outside ---- */

bool pick_possible(const struct app *app)
{
	return app->in_tty && app->out_tty && app->err_tty && !app->json &&
		env_shows_lines(app->out_tty) && tcgetpgrp(app->in) == getpgrp();
}

static void on_signal(void *data, int signo)
{
	struct pick *p = data;

	p->signo = signo;
	picker_leave(p->picker);
}

static int run(struct pick *p, const struct pick_opts *opts, const struct picker_key *keys,
	size_t n_keys, struct err *reterr)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	const struct app *app = p->app;
	struct term_opts screen = app_screen(app, STDOUT_FILENO);
	struct term term;

	screen.ascii = !env_use_locale();
	(void)fflush(app->out);
	p->loop = loop_new();
	int r = loop_add_signals(p->loop, signals, ARRAY_LEN(signals), on_signal, p, reterr);
	if (r < 0)
		return r;
	term_init(&term, &screen);
	const struct picker_opts how = {
		.loop = p->loop,
		.term = &term,
		.in_fd = app->in,
		.question = opts->question,
		.words = opts->words,
		.columns = pick_rows_columns,
		.n_columns = pick_rows_columns_n,
		.source = &pick_rows_source,
		.source_data = &p->rows,
		.keys = keys,
		.n_keys = n_keys,
		.data = p,
	};
	p->picker = picker_new(&how, reterr);
	r = p->picker ? picker_run(p->picker, reterr) : reterr ? reterr->code : ERR_BUG;
	picker_free(TAKE_PTR(p->picker));
	loop_free(TAKE_PTR(p->loop));
	term_release(&term);
	if (p->signo) /* as it would have without us */
		(void)raise(p->signo);
	if (r == 0)
		return err_set(reterr, ERR_CANCELLED, "nothing was chosen");
	return r < 0 ? r : 0;
}

struct gathering {
	struct pick *p;
	const struct pick_opts *opts;
	struct map kept; /* sessions that the archive has */
	bool asked;
};

static int on_kept(void *data, const struct archive_file *file)
{
	struct gathering *g = data;

	(void)map_put(&g->kept, sv_of(file->session), 1);
	return 0;
}

static int on_row(void *data, const struct session_row *row)
{
	struct gathering *g = data;
	uint64_t at;

	if (g->opts->only_gone && !row->gone)
		return 0;
	if (row->gone || g->opts->only_kept) {
		const struct archive archive = app_archive(g->p->app);
		if (!g->asked &&
			archive_each(&archive, &(struct archive_query){ .key = NULL }, on_kept, g,
				NULL) < 0)
			map_release(&g->kept);
		g->asked = true;
		if (!map_get(&g->kept, sv_of(row->info.id), &at))
			return 0;
	}
	pick_rows_add(&g->p->rows, row);
	return 0;
}

static int gather(struct pick *p, const struct pick_opts *opts, struct err *reterr)
{
	const struct catalogue_query query = { .gone = opts->gone };
	struct gathering g = { .p = p, .opts = opts };
	int r = 0;

	pick_rows_init(&p->rows, p->app);
	p->rows.dirs = opts->dirs;
	p->rows.n_dirs = opts->n_dirs;
	p->rows.agent = opts->agent;
	if (opts->among) {
		vec_each (&opts->among->rows, row)
			pick_rows_add(&p->rows, row);
	} else {
		r = sessions_refresh(p->app, reterr);
		if (r >= 0)
			r = catalogue_query(p->app->store, &query, on_row, &g, reterr);
		map_release(&g.kept);
	}
	if (r >= 0 && p->rows.all.n == 0)
		return err_set(reterr, ERR_NOTFOUND,
			opts->only_gone ? "no session is gone that the archive has"
					: "there are no sessions to choose from");
	return r;
}

int pick_session(struct app *app, const struct pick_opts *opts, char **ret_path, struct err *reterr)
{
	CLEANUP(pick_release)
	struct pick p = { .app = app };
	int r = gather(&p, opts, reterr);

	if (r >= 0)
		r = run(&p, opts, choosing, ARRAY_LEN(choosing), reterr);
	if (r >= 0)
		*ret_path = xstrdup(p.chosen->row.info.path);
	return r;
}

int pick_and_act(struct app *app, const struct pick_opts *opts, struct err *reterr)
{
	CLEANUP(pick_release)
	struct pick p = { .app = app };
	int r = gather(&p, opts, reterr);

	/* Without an index there are still the titles. */
	struct fresh fresh = { .view = NULL };
	if (r >= 0) {
		p.rows.no_view = fresh_view_said(app, &fresh, NULL) < 0;
		if (!p.rows.no_view)
			(void)fresh_rest_said(app, &fresh, true);
		p.rows.view = TAKE_PTR(fresh.view);
		fresh_release(&fresh);
	}
	if (r >= 0)
		r = run(&p, opts, acting, ARRAY_LEN(acting), reterr);
	if (r < 0)
		return r;
	/* What is done from here on is written down. */
	app->looks = false;
	const struct session_row *row = &p.chosen->row;
	bool runs = p.then != &cmd_trim; /* an agent, in the session's folder */
	AUTO_PROJECT project = PROJECT_INIT;
	bool here = runs && sessions_moved_here(app, &project, row->info.cwd);
	char restore[] = "restore", option[] = "--here";
	char *back[] = { restore, row->info.path, NULL };
	char *words[] = { row->info.path, here ? option : NULL, NULL };
	/* One that is gone comes back first, if it can go on then. */
	if (row->gone && runs) {
		AUTO_FREE char *dir = NULL;
		r = sessions_dir(app, row, p.then->name, here, &dir, reterr);
	}
	if (r >= 0 && row->gone)
		r = cmd_call(app, &cmd_archive, 2, back, reterr);
	return r != 0 ? r : cmd_call(app, p.then, here ? 2 : 1, words, reterr);
}
