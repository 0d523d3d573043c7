/*
 * Hands the terminal to the agent's own program on a session, holding the lease meanwhile.
 */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "assist/kit.h"
#include "base/mem.h"
#include "base/shell.h"
#include "base/str.h"
#include "cli/cmd.h"
#include "cli/env.h"
#include "cli/make.h"
#include "cli/print.h"
#include "cli/sessions.h"
#include "cli/talk.h"
#include "config/settings.h"
#include "os/loop.h"
#include "os/path.h"
#include "os/proc.h"
#include "strategy/move.h"
#include "view/json.h"

struct resume_opts {
	bool here;
	bool print;
	bool json;
};

static const struct opt resume_options[] = {
	OPT_FLAG(0, "here", struct resume_opts, here,
		"in this folder, when the session's own was moved or removed"),
	OPT_FLAG(0, "print", struct resume_opts, print, "print the command instead of running it"),
	OPT_FLAG(
		0, "json", struct resume_opts, json, "the same as JSON: agent, directory, command"),
	OPT_END,
};

struct resume {
	struct app *app;
	const struct resume_opts *opts;
	struct resolved of;
	struct proc_id self;
	struct loop *loop;
	struct proc proc;
	const struct agent_def *agent;
	bool here; /* in `dir`, whichever it was begun in */
	char *dir;
	char *moved; /* a copy that was brought here before; NULL: none */
	bool unmade; /* it is only made when it goes on */
	bool twin; /* there is another session of that id where the agent would look for it */
	char *program;
	struct strv argv;
	int status;
	bool ended;
};

static int find_program(struct resume *s, struct err *reterr)
{
	AUTO_STR id = STR_INIT;

	shell_id(&id, s->of.row.info.id);
	s->agent = agent_named(sv_of(s->of.row.agent));
	if (!s->agent || !s->agent->resume)
		return err_set(reterr, ERR_INPUT,
			"agent %s has no program of its own; go on with: faden ask --in %s …",
			s->of.row.agent, id.buf);
	if (s->of.row.info.id[0] == '-')
		return err_set(reterr, ERR_INPUT,
			"%s would take the id %s for an option; go on with: faden ask --in %s …",
			s->agent->name, id.buf, id.buf);
	const char *name = settings_program(s->app->settings, s->agent);
	s->program = path_find_program(name, s->app->paths.search);
	if (!s->program)
		return err_set(reterr, ERR_AGENT, "no program '%s'; install it or set %s", name,
			s->agent->setting);
	return 0;
}

/* The agent asks where to go on when that is not the folder of the session, unless it is told. */
static void make_command(struct resume *s)
{
	struct sv words = sv_of(s->agent->resume), word;

	if (s->unmade) {
		strv_add(&s->argv, "faden");
		strv_add(&s->argv, "resume");
		if (s->here)
			strv_add(&s->argv, "--here");
		strv_add(&s->argv, s->twin ? s->of.row.info.path : s->of.row.info.id);
		return;
	}
	strv_add(&s->argv, s->program);
	(void)sv_split(&words, ' ', &word); /* its usual name */
	while (sv_split(&words, ' ', &word))
		strv_addsv(&s->argv, word);
	if (s->here && s->agent->resume_dir) {
		strv_add(&s->argv, s->agent->resume_dir);
		strv_add(&s->argv, s->dir);
	}
	strv_add(&s->argv, s->of.row.info.id);
}

/* ---- in another folder ---- */

static int take_moved(void *data, const struct session_row *row)
{
	struct resume *s = data;

	if (row->info.relation == SESSION_MOVED && !row->gone &&
		strcmp(row->info.cwd, s->dir) == 0) {
		free(s->moved);
		s->moved = xstrdup(row->info.path);
	}
	return 0;
}

/* The copy, or the last one that was made before; the thread goes on in it, with its name. */
static int go_on_in_copy(struct resume *s, const struct transcript_home *home, const char *folder,
	struct err *reterr)
{
	const struct move_opts how = { .session = &s->of.row.info,
		.dir = s->dir,
		.out_dir = folder,
		.clock = &s->app->clock };
	CLEANUP(rewrite_result_release) struct rewrite_result copy = REWRITE_RESULT_INIT;
	CLEANUP(made_release)
	struct made made = { .parent = &s->of.row,
		.relation = SESSION_MOVED,
		.agent = s->agent->name,
		.resume = STRV_INIT };
	struct session_row row = SESSION_ROW_INIT;
	int r = catalogue_children(s->app->store, &s->of.row.info, take_moved, s, reterr);

	/* Who only looks changes nothing. */
	s->unmade = !s->moved && (s->opts->print || s->opts->json);
	if (r >= 0 && s->unmade)
		return 0;
	if (r >= 0 && !s->moved) {
		r = move_session(&how, &copy, reterr);
		if (r < 0)
			return r;
		made.id = copy.id;
		made.path = copy.path;
		(void)made_take_over(s->app, &s->of, &made);
		say_note(s->app->err,
			"%s looks for sessions by their folder: %s goes on here as its copy %s",
			s->agent->title, s->of.row.info.id, copy.id);
	}
	if (r >= 0)
		r = catalogue_take(
			s->app->store, home, s->moved ? s->moved : copy.path, &row, reterr);
	if (r < 0)
		return r;
	session_row_release(&s->of.row);
	s->of.row = row;
	return 0;
}

/* Some agents look a session up below the name of the current folder only: it is taken along. */
static int bring_here(struct resume *s, struct err *reterr)
{
	const struct transcript_home *home = app_home(s->app, s->of.row.agent);

	if (!s->agent->resume_in_folder || !home)
		return 0;
	AUTO_FREE char *path =
		transcript_new_path(home, s->dir, clock_wall_ms(&s->app->clock), s->of.row.info.id);
	AUTO_FREE char *found = NULL, *meant = NULL;
	bool there = path_real(path, &found, NULL) >= 0;
	s->twin = there && path_real(s->of.row.info.path, &meant, NULL) >= 0 &&
		strcmp(found, meant) != 0;
	/* What it would find there is another session of that id. */
	if (!s->twin && (there || !s->here))
		return 0;
	AUTO_FREE char *folder = path_folder(path);
	return go_on_in_copy(s, home, folder, reterr);
}

static void on_child(void *data, short revents)
{
	struct resume *s = data;

	(void)revents;
	s->ended = proc_reap(&s->proc, false, &s->status);
}

/* The keys' signals are for the agent's program, which has the terminal. */
static void on_signal(void *data, int signo)
{
	const struct resume *s = data;

	if (signo == SIGTERM || signo == SIGHUP)
		proc_signal(&s->proc, signo);
}

static void on_beat(void *data)
{
	struct resume *s = data;
	struct err err = ERR_INIT;

	if (conv_beat(s->app->store, s->of.conv.id, &s->self, &s->app->clock, &err) < 0)
		log_write(&s->app->log, LOG_WARN, "resume: %s", err.msg);
	(void)loop_add_timer(s->loop, CONV_BEAT_MS, on_beat, s);
}

static int run_child(struct resume *s, struct err *reterr)
{
	static const int signals[] = { SIGINT, SIGQUIT, SIGTERM, SIGHUP };
	struct proc_opts opts = {
		.argv = (const char *const *)s->argv.v,
		.envp = env_all(),
		.cwd = s->dir,
		.in = PROC_INHERIT,
		.out = PROC_INHERIT,
		.err = PROC_INHERIT,
		.same_group = true,
	};

	s->loop = loop_new();
	int r = loop_add_signals(s->loop, signals, ARRAY_LEN(signals), on_signal, s, reterr);
	if (r < 0)
		return r;
	r = proc_spawn(&s->proc, &opts, reterr);
	if (r < 0)
		return r;
	(void)loop_add_fd(s->loop, s->proc.pidfd, POLLIN, on_child, s);
	(void)loop_add_timer(s->loop, CONV_BEAT_MS, on_beat, s);
	r = loop_run(s->loop, &s->ended, reterr);
	if (r < 0)
		return r;
	return WIFEXITED(s->status) ? WEXITSTATUS(s->status) ? 4 : 0 : 128 + WTERMSIG(s->status);
}

/* Whoever writes the session now must end first: the agents' own programs do not notice. */
static int refuse_writer(struct resume *s, struct err *reterr)
{
	AUTO_MAP ids = MAP_INIT;
	const struct transcript_home *home = app_home(s->app, s->of.row.agent);
	AUTO_STR who = STR_INIT;
	uint64_t pid;

	if (!home)
		return 0;
	transcript_writers(home, NULL, &ids);
	if (!map_get(&ids, sv_of(s->of.row.info.id), &pid))
		pid = (uint64_t)transcript_loader(home, s->of.row.info.id, NULL);
	else if (writer_is_server((int64_t)pid))
		return 0;
	if (pid == 0)
		return 0;
	/* Between its turns another faden only keeps it. */
	if (proc_id_check(&s->of.conv.owner) != PROC_ALIVE && turn_let_go((int64_t)pid))
		return 0;
	writer_describe(s->of.row.agent, (int64_t)pid, &who);
	return err_set(reterr, ERR_BUSY, "the session is open in %s already", who.buf);
}

static int hold_and_run(struct resume *s, struct err *reterr)
{
	const struct app *app = s->app;
	int r = proc_id_self(&s->self, reterr);

	if (r == 0)
		r = sessions_adopt(s->app, &s->of.row, &s->of.conv, reterr);
	if (r == 0)
		r = conv_take(app->store, s->of.conv.id, &s->self, &app->clock, reterr);
	if (r < 0)
		return r;
	(void)fflush(app->out);
	r = run_child(s, reterr);
	int given = conv_give(app->store, s->of.conv.id, &s->self, CONV_IDLE, &app->clock, NULL);
	if (given == 0)
		given = conv_set_current(app->store, s->dir, s->of.conv.id, &app->clock, NULL);
	return r < 0 || given == 0 ? r : given;
}

static void print_command(const struct resume *s)
{
	AUTO_STR line = STR_INIT;

	str_adds(&line, "cd ");
	shell_word(&line, s->dir);
	str_adds(&line, " &&");
	for (size_t i = 0; i < s->argv.n; i++) {
		str_addc(&line, ' ');
		shell_word(&line, s->argv.v[i]);
	}
	say_line(s->app->out, "%s", line.buf);
}

static void print_object(const struct resume *s)
{
	AUTO_STR out = STR_INIT;
	struct jw w = JW_INIT(&out);

	jw_object(&w);
	jw_put_cstr(&w, "session_id", s->of.row.info.id);
	jw_put_cstr(&w, "agent", s->of.row.agent);
	jw_put_cstr(&w, "title", session_title(&s->of.row));
	jw_put_cstr(&w, "directory", s->dir);
	view_put_strings(&w, "command", &s->argv);
	jw_end(&w);
	print_doc(s->app, &out);
}

/* Without one the agent's program takes itself for a part of a script, and says something else. */
static int need_terminal(const struct resume *s, struct err *reterr)
{
	const struct app *app = s->app;

	if (s->opts->json || s->opts->print || (app->in_tty && app->out_tty))
		return 0;
	return err_set(reterr, ERR_INPUT, "it needs a terminal; --print shows the command");
}

static int prepare(struct resume *s, const char *spec, struct err *reterr)
{
	int r = sessions_find(s->app, spec, RESOLVE_HERE, &s->of, reterr);

	if (r == 0)
		r = find_program(s, reterr);
	/* What was found because this folder is where that one lies now goes on here. */
	s->here = s->opts->here || (r == 0 && s->of.last_here && !path_exists(s->of.row.info.cwd));
	if (r == 0)
		r = sessions_dir(s->app, &s->of.row, "resume", s->here, &s->dir, reterr);
	/* Or where its conversation went on since. */
	s->here |= r == 0 && !path_exists(s->of.row.info.cwd);
	if (r == 0)
		r = refuse_writer(s, reterr);
	if (r == 0)
		r = need_terminal(s, reterr);
	if (r == 0)
		r = bring_here(s, reterr);
	if (r == 0)
		make_command(s);
	return r;
}

static void resume_release(struct resume *s)
{
	proc_release(&s->proc);
	loop_free(s->loop);
	resolved_release(&s->of);
	strv_release(&s->argv);
	free(s->program);
	free(s->moved);
	free(s->dir);
}

static int run_resume(
	struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	CLEANUP(resume_release)
	struct resume s = { .app = app, .opts = options, .proc = PROC_INIT, .argv = STRV_INIT };
	int r = prepare(&s, argc > 0 ? argv[0] : NULL, reterr);

	if (r < 0)
		return r;
	if (s.opts->json || s.opts->print) {
		(s.opts->json ? print_object : print_command)(&s);
		return 0;
	}
	return hold_and_run(&s, reterr);
}

const struct cmd cmd_resume = {
	.name = "resume",
	.group = CMD_GROUP_SESSIONS,
	.summary = "go on in the agent's own program",
	.synopsis = "[SESSION]",
	.max_args = 1,
	.needs = CMD_STORE,
	.words = CMD_WORDS_SESSION,
	.opts = resume_options,
	.opts_size = sizeof(struct resume_opts),
	.run = run_resume,
};
