#include <math.h>
#include <signal.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/shell.h"
#include "cli/cmd.h"
#include "cli/env.h"
#include "cli/front.h"
#include "cli/master-manage.h"
#include "cli/master-screen.h"
#include "cli/print.h"
#include "cli/runs.h"
#include "cli/sessions.h"
#include "config/settings.h"
#include "master/rounds.h"
#include "os/path.h"
#include "view/master.h"

/* Beside those of every command: why it ended before it was done. */
enum { EXIT_ROUNDS = 7, EXIT_GUARD = 8, EXIT_CORRECTIONS = 9 };

struct master_opts {
	const char *agent[MASTER_ROLES];
	const char *both;
	const char *model[MASTER_ROLES];
	const char *permission;
	const char *dir;
	const char *rounds;
	double budget;
	int64_t time_ms;
	long long stall;
	const char *check;
	long long check_max;
	int64_t worker_ms;
	enum opt_tri auto_save;
	struct master_manage runs;
};

static const struct master_opts master_defaults = { .budget = NAN,
	.time_ms = -1,
	.stall = -1,
	.check_max = -1,
	.worker_ms = -1,
	.runs.fork_at = -1 };

#define OPT_ROLE_AGENT(name, role, help)                                                           \
	{                                                                                          \
		0, name, OPT_KIND_AGENT, OPT_FIELD(struct master_opts, agent[role], const char *), \
			"NAME", help, NULL, 0, 0, NULL                                             \
	}

static const struct opt master_options[] = {
	OPT_FLAG(0, "resume", struct master_opts, runs.resume,
		"go on with the last run of this folder; TASK is what the instructor is told"),
	OPT_FLAG('c', "continue", struct master_opts, runs.resume, "the same"),
	OPT_STRING(0, "session", struct master_opts, runs.session, "ID", "go on with this run"),
	OPT_STRING(0, "session-file", struct master_opts, runs.session_file, "PATH",
		"go on with the run in this file, from whatever machine it comes"),
	OPT_INT(0, "fork-at-round", struct master_opts, runs.fork_at, "N", 0, ROUNDS_MAX,
		"make a run that goes its own way behind this round; with --resume go on with it"),
	OPT_STRING('r', "max-rounds", struct master_opts, rounds, "N",
		"instructions that the worker gets from now on: 0 is none; or unlimited"),
	OPT_AGENT(struct master_opts, both, NULL, "who instructs and works: @"),
	OPT_ROLE_AGENT("instructor-agent", MASTER_INSTRUCTOR, "who instructs: @"),
	OPT_ROLE_AGENT("worker-agent", MASTER_WORKER, "who works: @"),
	OPT_STRING('i', "instructor-model", struct master_opts, model[MASTER_INSTRUCTOR], "NAME",
		"the instructor's model"),
	OPT_STRING('w', "worker-model", struct master_opts, model[MASTER_WORKER], "NAME",
		"the worker's model, unless the instructor chooses one"),
	OPT_PERMISSION(struct master_opts, permission),
	OPT_STRING('d', "work-dir", struct master_opts, dir, "DIR", "the folder they work in"),
	OPT_STRING(0, "name", struct master_opts, runs.name, "NAME", "what the run is called"),
	OPT_DOUBLE(0, "max-budget-usd", struct master_opts, budget, "N",
		"most that the run may cost; 0: no limit"),
	OPT_SPAN(0, "max-time", struct master_opts, time_ms, "SPAN",
		"longest time for the run, over all its starts: 90s, 15m, 2h"),
	OPT_INT(0, "stall", struct master_opts, stall, "N", 0, 1000,
		"end when an instruction or an answer comes so many times in a row; 0: never"),
	OPT_STRING(0, "check", struct master_opts, check, "COMMAND",
		"look at the result with this when the instructor says DONE; empty: do not"),
	OPT_INT(0, "check-max", struct master_opts, check_max, "N", 0, 1000,
		"how often its failure goes back to the instructor"),
	OPT_SPAN(0, "worker-timeout", struct master_opts, worker_ms, "SPAN",
		"longest time for one answer of the worker"),
	OPT_NEGATABLE(0, "auto-save", struct master_opts, auto_save,
		"write each step down as it comes (the default), or only at the end"),
	OPT_FLAG(0, "force", struct master_opts, runs.force,
		"go on although something is not as it was"),
	OPT_FLAG(0, "json", struct master_opts, runs.json, "events as JSON, one object a line"),
	OPT_FLAG(0, "list-sessions", struct master_opts, runs.list, "the runs of this folder"),
	OPT_FLAG(0, "clean-sessions", struct master_opts, runs.clean,
		"delete old runs; the archive keeps a copy"),
	OPT_SPAN(0, "older-than", struct master_opts, runs.older_ms, "SPAN",
		"how old they must be: 90s, 15m, 2h, 7d, 3w"),
	OPT_FLAG('n', "dry-run", struct master_opts, runs.dry_run,
		"with --clean-sessions, --fork-at-round and --merge: only say what would become of "
		"it"),
	OPT_STRING(0, "import", struct master_opts, runs.import, "FILE",
		"make a run of a file in another form"),
	OPT_FLAG(0, "diff", struct master_opts, runs.diff,
		"two runs beside each other, instruction by instruction"),
	OPT_FLAG(0, "stat", struct master_opts, runs.stat,
		"with --diff: only how much differs, not what"),
	OPT_FLAG(0, "merge", struct master_opts, runs.merge,
		"a run that goes on from the first, with what the second came to"),
	OPT_FLAG(0, "unrelated", struct master_opts, runs.unrelated,
		"with --merge: also when the two have nothing in common"),
	OPT_STRING(0, "replay", struct master_opts, runs.replay, "ID",
		"give the worker's instructions of a run again, as 'faden replay' does"),
	OPT_STRING(0, "with-model", struct master_opts, runs.with_model, "NAME",
		"the model that answers them"),
	OPT_FLAG(0, "save-to-cloud", struct master_opts, runs.save_to_cloud, "not there yet"),
	OPT_FLAG(0, "from-cloud", struct master_opts, runs.from_cloud, "not there yet"),
	OPT_END,
};

struct master {
	struct app *app;
	const struct master_opts *opts;
	char *dir; /* resolved */
	struct master_run *run;
	bool resumed;
	struct kit kit;
	struct loop *loop;
	struct archive archive;
	struct pair *pair;
	struct master_screen screen;
	struct str again; /* the command that goes on with the run */
	bool done;
	int signals;
	int signo;
	enum master_stop stop;
	struct err err;
};

/* ---- what is wanted ---- */

static int parse_rounds(const char *text, const char *where, int64_t *ret, struct err *reterr)
{
	long long n;

	if (strcmp(text, "unlimited") == 0) {
		*ret = MASTER_UNLIMITED;
		return 0;
	}
	if (!sv_parse_i64(sv_of(text), &n) || n < 0 || n > ROUNDS_MAX)
		return err_set(reterr, ERR_USAGE,
			"%s: '%s' is neither a number of rounds (0 is none) nor \"unlimited\"",
			where, text);
	*ret = n;
	return 0;
}

static void set(char **to, const char *value)
{
	free(*to);
	*to = value && value[0] ? xstrdup(value) : NULL;
}

/* Only what was given: on a run that goes on, all else stays as it was. */
static void override(const struct master_opts *o, struct master_config *c)
{
	for (int i = 0; i < MASTER_ROLES; i++) {
		if (o->both || o->agent[i])
			set(&c->agent[i], o->agent[i] ? o->agent[i] : o->both);
		if (o->model[i])
			set(&c->model[i], o->model[i]);
	}
	if (o->permission)
		set(&c->permission, o->permission);
	if (o->check)
		set(&c->check, o->check);
	c->max_budget_usd = isnan(o->budget) ? c->max_budget_usd : o->budget;
	c->max_wall_ms = o->time_ms >= 0 ? o->time_ms : c->max_wall_ms;
	c->stall = o->stall >= 0 ? o->stall : c->stall;
	c->check_max = o->check_max >= 0 ? o->check_max : c->check_max;
	c->worker_timeout_ms = o->worker_ms >= 0 ? o->worker_ms : c->worker_timeout_ms;
}

static int fresh_config(const struct master *m, struct master_config *c, struct err *reterr)
{
	const struct settings *s = m->app->settings;
	const char *agents[] = { s->master_instructor_agent, s->master_worker_agent };
	const char *models[] = { s->master_instructor_model, s->master_worker_model };

	for (int i = 0; i < MASTER_ROLES; i++) {
		if (strcmp(agents[i], "auto") != 0)
			set(&c->agent[i], agents[i]);
		set(&c->model[i], models[i]);
	}
	set(&c->dir, m->dir);
	set(&c->permission, s->ai_permission_mode);
	set(&c->check, s->master_check);
	c->thinking = true;
	c->max_budget_usd = s->master_max_budget_usd;
	c->max_wall_ms = s->master_max_time;
	c->stall = s->master_stall;
	c->check_max = s->master_check_max;
	c->worker_timeout_ms = s->master_worker_timeout;
	override(m->opts, c);
	return parse_rounds(m->opts->rounds ? m->opts->rounds : s->master_max_rounds,
		m->opts->rounds ? "--max-rounds" : "master.max_rounds", &c->max_rounds, reterr);
}

/* ---- who is there ---- */

/* The kit for the pair; where nobody is named, whoever was chosen. */
static int open_kit(struct master *m, struct master_config *c, struct err *reterr)
{
	struct kit_opts want = front_kit_opts(m->app);

	want.cwd = m->dir;
	want.aside = true;
	want.agent = c->agent[MASTER_WORKER];
	want.agent_by = "--worker-agent";
	want.permission = c->permission;
	want.ask = m->screen.keys;
	want.keep_alive = true;
	int r = kit_open(&want, &m->kit, reterr);
	if (r < 0)
		return r;
	for (int i = 0; i < MASTER_ROLES; i++) {
		if (!c->agent[i])
			set(&c->agent[i], m->kit.kind->name);
		const struct agent_def *kind = agent_named(sv_of(c->agent[i]));
		if (!kind || !kit_has(&m->kit, kind))
			return err_set(reterr, ERR_AGENT,
				"the %s is to be %s, which is %s; name another one with "
				"--%s-agent%s",
				master_role_name((enum master_role)i), c->agent[i],
				kind ? "not installed or not in PATH" : "no agent of this faden",
				master_role_name((enum master_role)i),
				m->resumed ? " and --force, which begins a session of its own"
					   : "");
	}
	return 0;
}

/* ---- the run ---- */

static int add_text(
	struct master *m, enum master_step_kind kind, const char *text, struct err *reterr)
{
	struct master_step step = MASTER_STEP_INIT(kind);

	step.text = sv_of(text);
	return master_step(m->run, &step, reterr);
}

static int begin_run(struct master *m, const char *task, struct err *reterr)
{
	AUTO_FREE char *root = path_join(m->dir, MASTER_FOLDER);
	AUTO_MASTER_CONFIG c = MASTER_CONFIG_INIT;
	unsigned flags = m->opts->auto_save == OPT_NO ? MASTER_NO_AUTO_SAVE : 0;
	int r = fresh_config(m, &c, reterr);

	if (r == 0)
		r = manage_check_name(m->dir, m->opts->runs.name, NULL, reterr);
	if (r == 0)
		r = open_kit(m, &c, reterr);
	if (r == 0)
		r = master_create(
			root, &c, m->opts->runs.name, flags, &m->app->clock, &m->run, reterr);
	return r < 0 ? r : add_text(m, MASTER_STEP_SAY, task, reterr);
}

/* Another agent cannot go on in the old one's session: it begins its own. */
static int change_agents(struct master *m, const struct master_config *c, struct err *reterr)
{
	const struct master_state *s = master_state(m->run);

	for (int i = 0; i < MASTER_ROLES; i++) {
		const struct master_side *side = &s->side[i];
		const char *name = master_role_name((enum master_role)i);
		if (!side->agent || strcmp(side->agent, c->agent[i]) == 0)
			continue;
		if (!m->opts->runs.force)
			return err_set(reterr, ERR_INPUT,
				"the %s was %s so far; --force begins a session of %s that knows "
				"nothing of the old one",
				name, side->agent, c->agent[i]);
		say_note(m->app->err, "the %s is %s from here on, in a session of its own", name,
			c->agent[i]);
		struct master_step step = MASTER_STEP_INIT(MASTER_STEP_SESSION);
		AUTO_STR prompt = STR_INIT;
		str_add(&prompt, str_sv(&side->system_prompt));
		step.role = (enum master_role)i;
		step.begin = MASTER_BEGIN_FRESH;
		step.agent = sv_of(c->agent[i]);
		step.text = str_sv(&prompt);
		int r = master_step(m->run, &step, reterr);
		if (r < 0)
			return r;
	}
	return 0;
}

static void tell_changes(
	const struct master *m, const struct master_config *was, const struct master_config *is)
{
	for (int i = 0; i < MASTER_ROLES; i++)
		if (strcmp(was->model[i] ? was->model[i] : "", is->model[i] ? is->model[i] : "") !=
			0)
			say_note(m->app->err, "the %s's model is %s from here on; it was %s",
				master_role_name((enum master_role)i),
				is->model[i] ? is->model[i] : "the agent's choice",
				was->model[i] ? was->model[i] : "the agent's choice");
	if (was->dir && strcmp(was->dir, is->dir) != 0)
		say_note(m->app->err, "they work in %s from here on; it was %s", is->dir, was->dir);
	const char *rights[] = { was->permission ? was->permission : "default",
		is->permission ? is->permission : "default" };
	if (strcmp(rights[0], rights[1]) != 0)
		say_note(m->app->err, "the worker's permission mode is %s from here on; it was %s",
			rights[1], rights[0]);
}

/* What was stopped for a reason that is still there would stop again at once. */
static const char *words_to_go_on(const struct master_state *s, const char *text)
{
	bool stuck = s->stopped.stop == MASTER_STOP_CORRECTIONS ||
		s->stopped.stop == MASTER_STOP_STALLED || s->stopped.stop == MASTER_STOP_CHECK;

	return text[0] ? text : stuck ? "Try again." : NULL;
}

/* The run was worked on in another folder so far. Where a file is named, -d says which folder is
 * meant; else it is only where the run was looked for. */
static int check_folder(const struct master *m, const struct master_state *s, struct err *reterr)
{
	const struct master_manage *runs = &m->opts->runs;
	bool by_file = runs->session_file || (runs->session && strchr(runs->session, '/'));
	AUTO_STR there = STR_INIT;

	if (runs->force || (by_file && m->opts->dir))
		return 0;
	if (!by_file && !run_works_elsewhere(s, master_path(m->run)))
		return err_set(reterr, ERR_INPUT,
			"this run worked in %s and lies in %s now; --force goes on here",
			s->config.dir ? s->config.dir : "another folder", m->dir);
	if (!s->config.dir || !path_exists(s->config.dir))
		return err_set(reterr, ERR_INPUT,
			"this run worked in %s, which is not here; --force goes on in %s",
			s->config.dir ? s->config.dir : "another folder", m->dir);
	if (by_file) {
		str_adds(&there, "-d ");
		shell_id(&there, s->config.dir);
	} else {
		run_again(m->app, s, master_path(m->run), true, &there);
	}
	return err_set(reterr, ERR_INPUT,
		"this run works in %s: %s goes on there, --force goes on here, in %s",
		s->config.dir, there.buf, m->dir);
}

static int resume_run(struct master *m, const char *text, struct err *reterr)
{
	AUTO_MASTER_CONFIG c = MASTER_CONFIG_INIT;
	unsigned flags = (m->opts->auto_save == OPT_NO ? MASTER_NO_AUTO_SAVE : 0) |
		(m->opts->runs.force ? MASTER_FORCE : 0);
	int64_t rounds = 0;

	m->resumed = true;
	int r = m->opts->rounds ? parse_rounds(m->opts->rounds, "--max-rounds", &rounds, reterr)
				: 0;
	if (r == 0)
		r = manage_open(m->app, m->dir, &m->opts->runs, flags, &m->run, reterr);
	if (r < 0)
		return r;
	const struct master_state *s = master_state(m->run);
	r = manage_check_name(
		m->dir, m->opts->runs.name, m->opts->runs.fork_at >= 0 ? NULL : s->id, reterr);
	if (r < 0)
		return r;
	master_config_copy(&c, &s->config);
	AUTO_FREE char *was = c.dir ? xstrdup(c.dir) : NULL;
	if (!c.dir || strcmp(c.dir, m->dir) != 0) {
		r = check_folder(m, s, reterr);
		if (r < 0)
			return r;
		set(&c.dir, m->dir);
	}
	r = manage_fork(m->app, m->dir, &m->opts->runs, &m->run, reterr);
	if (r < 0)
		return r;
	s = master_state(m->run);
	override(m->opts, &c);
	r = open_kit(m, &c, reterr);
	if (r == 0)
		r = change_agents(m, &c, reterr);
	if (r < 0)
		return r;
	tell_changes(m, &s->config, &c);
	const char *said = words_to_go_on(s, text);
	bool named = m->opts->runs.session != NULL;
	if (s->stopped.stop == MASTER_STOP_DONE && !said) {
		run_again(m->app, s, master_path(m->run), named, &m->again);
		return err_set(reterr, ERR_NOTFOUND,
			"this run is done; say what comes next: %s \"TEXT\"", m->again.buf);
	}
	if (s->task.len == 0 && !said) {
		run_again(m->app, s, master_path(m->run), named, &m->again);
		return err_set(reterr, ERR_NOTFOUND,
			"this run was interrupted before its task was written down; say it again: "
			"%s \"TASK\"",
			m->again.buf);
	}
	/* The end is over with the first step that follows it. */
	struct master_step step = MASTER_STEP_INIT(MASTER_STEP_CONFIG);
	step.config = &c;
	r = master_step(m->run, &step, reterr);
	if (r == 0)
		r = manage_sessions(m->app, m->dir, was, m->run, reterr);
	if (r == 0 && m->opts->runs.name)
		r = add_text(m, MASTER_STEP_NAME, m->opts->runs.name, reterr);
	if (r == 0 && m->opts->rounds) {
		struct master_step more = MASTER_STEP_INIT(MASTER_STEP_ROUNDS);
		more.rounds = rounds;
		r = master_step(m->run, &more, reterr);
	}
	return r == 0 && said ? add_text(m, MASTER_STEP_SAY, said, reterr) : r;
}

/* ---- while it runs ---- */

static void print_event(struct master *m, const struct pair_event *ev)
{
	AUTO_STR json = STR_INIT;
	struct jw w = JW_INIT(&json);

	if (!view_json_master_event(&w, master_state(m->run), ev))
		return;
	print_doc(m->app, &json);
	(void)fflush(m->app->out);
}

static void on_event(void *data, const struct pair_event *ev)
{
	struct master *m = data;

	if (m->opts->runs.json)
		print_event(m, ev);
	else
		master_screen_event(&m->screen, ev);
	if (ev->type == PAIR_STOPPED) {
		m->done = true;
		m->stop = ev->stop;
		if (ev->err)
			m->err = *ev->err;
	} else if (ev->type == PAIR_PAUSED && !m->screen.keys) {
		pair_leave(m->pair);
	}
}

/* Once: save and leave. Again: at once. */
static void on_signal(void *data, int signo)
{
	struct master *m = data;

	m->signo = signo;
	if (m->signals++ > 0) {
		m->done = true;
		return;
	}
	if (!m->opts->runs.json)
		master_screen_leaves(&m->screen);
	pair_leave(m->pair);
}

static void introduce(struct master *m)
{
	const struct master_state *s = master_state(m->run);
	AUTO_STR line = STR_INIT;

	if (m->opts->runs.json) {
		struct jw w = JW_INIT(&line);
		view_json_master_run(&w, s, master_path(m->run), m->resumed);
		print_doc(m->app, &line);
		return;
	}
	str_addf(&line, "%s %.8s: ", m->resumed ? "Going on with run" : "Run", s->id);
	if (m->resumed)
		str_addf(&line, "round %lld, ", (long long)s->round);
	view_rounds_left(&line, s->remaining);
	str_addf(&line, ", %s instructs, %s works.", s->config.agent[MASTER_INSTRUCTOR],
		s->config.agent[MASTER_WORKER]);
	master_screen_say(&m->screen, line.buf);
	const struct agent_def *instructor = agent_named(sv_of(s->config.agent[MASTER_INSTRUCTOR]));
	if (instructor && !instructor->can.plan)
		master_screen_say(&m->screen,
			"This instructor cannot be kept from changing files: it is only asked to.");
	if (m->kit.by_default && !m->resumed)
		master_screen_say(&m->screen,
			"The rehearsal agents only count; --agent names those that work.");
	if (m->screen.keys)
		master_screen_say(&m->screen,
			"Type what the instructor should know, [r+5] or [r=9] for more rounds; Esc "
			"interrupts, Ctrl-C saves and leaves.");
}

static int run_pair(struct master *m, struct err *reterr)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct pair_opts opts = { .run = m->run,
		.turns = kit_turn_opts(&m->kit),
		.archive = &m->archive,
		.envp = env_all(),
		.ask = m->screen.keys };
	int r = 0;

	opts.turns.loop = m->loop;
	m->archive = app_archive(m->app);
	run_again(m->app, master_state(m->run), master_path(m->run), false, &m->again);
	m->screen.again = m->again.buf;
	m->screen.run = m->run;
	m->screen.pair = m->pair = pair_new(&opts, on_event, m);
	if (r == 0)
		r = loop_add_signals(m->loop, signals, ARRAY_LEN(signals), on_signal, m, reterr);
	if (r < 0)
		return r;
	introduce(m);
	pair_begin(m->pair);
	return loop_run(m->loop, &m->done, reterr);
}

static int exit_status(const struct master *m)
{
	switch (m->stop) {
	case MASTER_STOP_DONE:
		return 0;
	case MASTER_STOP_ROUNDS:
		return EXIT_ROUNDS;
	case MASTER_STOP_BUDGET:
	case MASTER_STOP_TIME:
	case MASTER_STOP_STALLED:
	case MASTER_STOP_CHECK:
		return EXIT_GUARD;
	case MASTER_STOP_CORRECTIONS:
		return EXIT_CORRECTIONS;
	case MASTER_STOP_FAILED:
		return err_exit_status(ERR_AGENT);
	case MASTER_STOP_USER:
	case MASTER_STOP_NONE:
	case MASTER_STOP_COUNT:
		break;
	}
	return 128 + (m->signo ? m->signo : SIGINT);
}

static int find_dir(struct master *m, struct err *reterr)
{
	if (m->opts->dir) {
		int r = path_real(m->opts->dir, &m->dir, reterr);
		if (r < 0)
			err_prefix(reterr, "--work-dir");
		return r;
	}
	return kit_dir(m->app->settings, m->app->cwd, &m->dir, reterr);
}

static bool goes_on(const struct master_manage *runs)
{
	return runs->resume || runs->session || runs->session_file || runs->fork_at >= 0;
}

static int work(struct master *m, const char *text, struct err *reterr)
{
	int r = find_dir(m, reterr);

	if (r < 0)
		return r;
	m->loop = loop_new();
	if (!m->opts->runs.json)
		r = master_screen_open(&m->screen, m->app, m->loop, NULL, reterr);
	if (r == 0)
		r = goes_on(&m->opts->runs) ? resume_run(m, text, reterr)
					    : begin_run(m, text, reterr);
	return r < 0 ? r : run_pair(m, reterr);
}

/* Whoever wants only to look must not be surprised by a run. */
static int check_options(const struct master_opts *o, int argc, struct err *reterr)
{
	const struct master_manage *runs = &o->runs;
	bool forks = runs->fork_at >= 0 && manages_only(runs, argc);

	if (runs->name && runs->name[0]) {
		int r = sessions_check_name(runs->name, reterr);
		if (r < 0)
			return r;
	}
	if (runs->dry_run && !runs->clean && !runs->merge && !forks)
		return err_set(reterr, ERR_USAGE,
			"--dry-run goes with --clean-sessions, --merge and --fork-at-round");
	if (runs->older_ms && !runs->clean)
		return err_set(reterr, ERR_USAGE, "--older-than goes with --clean-sessions");
	if ((runs->stat && !runs->diff) || (runs->unrelated && !runs->merge))
		return err_set(reterr, ERR_USAGE, "%s",
			runs->diff || !runs->stat ? "--unrelated goes with --merge"
						  : "--stat goes with --diff");
	if (o->budget < 0)
		return err_set(reterr, ERR_USAGE, "--max-budget-usd: %g is no sum; 0 is no limit",
			o->budget);
	if (o->stall == 1)
		return err_set(reterr, ERR_USAGE,
			"--stall: once is not again and again; from 2 on, or 0 for never");
	return 0;
}

static int run_master(
	struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	struct master m = { .app = app, .opts = options };
	CLEANUP(str_release) struct str text;
	struct err closing = ERR_INIT;
	int r = check_options(m.opts, argc, reterr);

	str_init_max(&text, FRONT_TEXT_MAX);
	if (r < 0)
		return r;
	if (manages_only(&m.opts->runs, argc)) {
		r = find_dir(&m, reterr);
		if (r == 0)
			r = manage_runs(app, m.dir, &m.opts->runs, argc, argv, reterr);
		free(m.dir);
		return r;
	}
	r = front_read_text(app, argc, argv, false, &text, reterr);
	if (r < 0)
		return r;
	struct sv said = sv_trim(str_sv(&text));
	if (said.n == 0 && !goes_on(&m.opts->runs))
		return err_set(reterr, ERR_USAGE,
			"what is to be done? faden master \"TASK\", or --resume to go on with the "
			"last run");
	if (uuid_valid(said))
		return err_set(reterr, ERR_USAGE,
			"that is an id, not words for the instructor: use --session %.*s",
			SV_ARG(said));
	r = work(&m, said.n ? text.buf : "", reterr);
	pair_free(m.pair);
	master_screen_close(&m.screen);
	if (master_close(m.run, &closing) < 0 && r >= 0 && m.err.code == 0)
		m.err = closing;
	kit_close(&m.kit);
	loop_free(m.loop);
	free(m.dir);
	str_release(&m.again);
	if (r < 0)
		return r;
	/* A signal says by itself why it was left. */
	if (m.err.code == 0 && !m.signo)
		m.err = m.screen.lost;
	if (m.err.code < 0) {
		*reterr = m.err;
		return m.err.code;
	}
	return exit_status(&m);
}

const struct cmd cmd_master = {
	.name = "master",
	.group = CMD_GROUP_TALK,
	.summary = "an instructor and a worker finish a long task",
	.synopsis = "[TASK…]",
	.max_args = CMD_ANY,
	.needs = CMD_STORE,
	.opts = master_options,
	.opts_size = sizeof(struct master_opts),
	.defaults = &master_defaults,
	.run = run_master,
};
