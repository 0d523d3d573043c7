/*
 * What is installed, what works, what is wrong and what to do about it: one line each.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "cli/cmd.h"
#include "cli/env.h"
#include "cli/front.h"
#include "config/settings.h"
#include "os/path.h"
#include "ui/term.h"
#include "ui/wrap.h"
#include "json/write.h"

enum level { LEVEL_OK, LEVEL_NOTE, LEVEL_WARN, LEVEL_FAIL, LEVELS };
static const char *const level_names[LEVELS] = { "ok", "note", "warn", "fail" };

enum { LOW_SPACE_MB = 200 };

struct finding {
	enum level level;
	const char *what;
	char *text;
	char *remedy; /* NULL: nothing to do */
};

struct doctor {
	struct app *app;
	VEC(struct finding) findings;
};

struct doctor_opts {
	bool json;
};

static const struct opt doctor_options[] = {
	OPT_FLAG(0, "json", struct doctor_opts, json, "one JSON object for programs"),
	OPT_END,
};

static void add(struct doctor *d, enum level level, const char *what, char *text, char *remedy)
{
	vec_push(&d->findings, (struct finding){ level, what, text, remedy });
}

static void check_version(struct doctor *d)
{
	add(d, LEVEL_OK, "faden", xstrdup(FADEN_VERSION), NULL);
}

/* A broken configuration is a finding; the other checks then go by the defaults. */
static void check_config(struct doctor *d)
{
	struct app *app = d->app;
	struct err err = ERR_INIT;
	const char *path = app->paths.config_file;

	if (app_load_settings(app, &err) == 0) {
		add(d, LEVEL_OK, "config",
			path_exists(path) ? xstrdup(path)
					  : xasprintf("%s: none, defaults are used", path),
			NULL);
		return;
	}
	add(d, LEVEL_FAIL, "config", xstrdup(err.msg),
		xstrdup("correct that; 'faden config check' looks again"));
	settings_free(app->settings);
	app->settings = settings_new(app->paths.home);
}

static void check_space(struct doctor *d, const char *dir)
{
	struct statvfs fs;

	if (statvfs(dir, &fs) < 0)
		return;
	unsigned long long free_mb =
		(unsigned long long)fs.f_bavail * fs.f_frsize / (1024ull * 1024);
	if (free_mb < LOW_SPACE_MB)
		add(d, LEVEL_WARN, "disk", xasprintf("%llu MB left at %s", free_mb, dir),
			xstrdup("make room: agents and faden lose words on a full disk"));
}

static void check_state(struct doctor *d)
{
	struct app *app = d->app;
	struct store *store;
	struct err err = ERR_INIT;

	if (app_state(app, &err) < 0) {
		add(d, LEVEL_FAIL, "state", xstrdup(err.msg),
			xasprintf("make %s writable, or use --state DIR", app->paths.state_dir));
		return;
	}
	if (access(app->paths.state_dir, W_OK) < 0)
		add(d, LEVEL_FAIL, "state",
			xasprintf("%s: %s", app->paths.state_dir, strerror(errno)),
			xstrdup("make it writable, or use --state DIR; listing and showing work"));
	else
		add(d, LEVEL_OK, "state", xasprintf("%s is writable", app->paths.state_dir), NULL);
	check_space(d, app->paths.state_dir);
	if (app_store(app, &store, &err) < 0)
		add(d, LEVEL_FAIL, "store", xstrdup(err.msg),
			xstrdup("see above; the agents' transcripts are not touched by this"));
	else
		add(d, LEVEL_OK, "store", xstrdup("opens"), NULL);
}

static void check_agent(struct doctor *d, const struct agent_def *agent)
{
	const struct agent_driver *driver = agent->driver;
	const char *name = agent->name;
	const char *program = settings_program(d->app->settings, agent);
	AUTO_FREE char *path = path_find_program(program, d->app->paths.search);
	AUTO_STR version = STR_INIT;
	struct err err = ERR_INIT;
	struct agent_opts opts = { .program = path, .envp = env_all() };

	if (!path && strcmp(program, agent->program) != 0) {
		add(d, LEVEL_WARN, name, xasprintf("no program '%s'", program),
			xasprintf("set %s to where it is", agent->setting));
	} else if (!path) {
		add(d, LEVEL_NOTE, name, xstrdup("not installed"),
			agent->install ? xstrdup(agent->install) : NULL);
	} else if (!driver->version) {
		add(d, LEVEL_OK, name, xstrdup(path), NULL);
	} else if (driver->version(&opts, &version, &err) < 0) {
		add(d, LEVEL_WARN, name, xasprintf("%s does not run: %s", path, err.msg),
			xasprintf("run '%s --version' and see", path));
	} else {
		add(d, LEVEL_OK, name, xasprintf("%s (%s)", version.buf, path), NULL);
	}
}

static void check_agents(struct doctor *d)
{
	for (size_t i = 0; i < agent_count; i++)
		if (agent_table[i].program)
			check_agent(d, &agent_table[i]);
}

static void check_choice(struct doctor *d)
{
	CLEANUP(kit_close) struct kit kit = { .dir = NULL };
	struct err err = ERR_INIT;

	if (!d->app->store)
		return;
	const struct kit_opts opts = front_kit_opts(d->app);
	int r = kit_open(&opts, &kit, &err);
	if (r < 0)
		add(d, LEVEL_FAIL, "answers", xstrdup(err.msg), NULL);
	else if (kit.by_default)
		add(d, LEVEL_NOTE, "answers", xstrdup("the embedded rehearsal agent"),
			xstrdup("choose one at the first 'faden' on a terminal, or set ai.agent"));
	else
		add(d, LEVEL_OK, "answers", xstrdup(kit.kind->name), NULL);
	if (r == 0 && kit.agents[agent_index(kit.kind)].permission == AGENT_PERM_BYPASS)
		add(d, LEVEL_WARN, "permissions",
			xstrdup("bypassPermissions: the agent acts without asking"),
			xstrdup("set ai.permission_mode unless that is what you want"));
}

static void check_home(struct doctor *d, const struct transcript_home *home)
{
	AUTO_FREE char *what = xasprintf("%s sessions", home->agent);
	const char *dir = home->root;

	if (!path_exists(dir))
		add(d, LEVEL_OK, what, xasprintf("%s: none yet", dir), NULL);
	else if (access(dir, R_OK | X_OK) < 0)
		add(d, LEVEL_WARN, what, xasprintf("%s: %s", dir, strerror(errno)),
			xstrdup("its sessions are not listed until it can be read"));
	else
		add(d, LEVEL_OK, what, xstrdup(dir), NULL);
}

static void check_homes(struct doctor *d)
{
	for (size_t i = 0; i < d->app->n_homes; i++)
		if (d->app->homes[i].below)
			check_home(d, &d->app->homes[i]);
}

static void check_locale(struct doctor *d)
{
	if (env_use_locale())
		add(d, LEVEL_OK, "locale", xstrdup("UTF-8"), NULL);
	else
		add(d, LEVEL_NOTE, "locale", xstrdup("not UTF-8"),
			xstrdup("set LANG to a UTF-8 locale to type other scripts than ASCII"));
}

static void (*const checks[])(struct doctor *) = { check_version, check_config, check_state,
	check_agents, check_choice, check_homes, check_locale };

/* Long lines go on below their beginning; on a pipe a finding is one line. */
static void print_words(struct term *term, const struct finding *f)
{
	AUTO_STR words = STR_INIT;
	AUTO_STR clean = STR_INIT;
	struct wrap wrap;

	str_adds(&words, f->text);
	if (f->remedy)
		str_addf(&words, " — %s", f->remedy);
	utf8_scrub_line(&clean, str_sv(&words));
	if (!term->tty) {
		term_put(term, str_sv(&clean));
		term_newline(term);
		return;
	}
	wrap_init(&wrap, term);
	wrap_begin(&wrap, SV(""), SV("                       "), STYLE_PLAIN);
	wrap_add(&wrap, str_sv(&clean), STYLE_PLAIN);
	wrap_end(&wrap);
	wrap_release(&wrap);
}

static int print_text(const struct doctor *d, struct err *reterr)
{
	static const unsigned styles[LEVELS] = { STYLE_GREEN, STYLE_DIM, STYLE_YELLOW,
		STYLE_BOLD | STYLE_RED };
	struct term_opts opts = { .fd = fileno(d->app->out),
		.colour = d->app->colour ? TERM_COLOUR_ALWAYS : TERM_COLOUR_NEVER,
		.term_name = env_get("TERM") };
	struct term term;

	term_init(&term, &opts);
	vec_each (&d->findings, f) {
		term_style(&term, styles[f->level]);
		term_putf(&term, "%-4s", level_names[f->level]);
		term_style(&term, STYLE_PLAIN);
		term_putf(&term, "  %-16s ", f->what);
		print_words(&term, f);
	}
	int r = term_flush(&term, reterr);
	term_release(&term);
	return r;
}

static void print_json(const struct doctor *d)
{
	AUTO_STR text = STR_INIT;
	struct jw w = JW_INIT(&text);

	jw_object(&w);
	jw_key(&w, "checks");
	jw_array(&w);
	vec_each (&d->findings, f) {
		jw_object(&w);
		jw_put_cstr(&w, "name", f->what);
		jw_put_cstr(&w, "status", level_names[f->level]);
		jw_put_cstr(&w, "message", f->text);
		jw_put_cstr(&w, "remedy", f->remedy);
		jw_end(&w);
	}
	jw_end(&w);
	jw_end(&w);
	(void)fprintf(d->app->out, "%s\n", text.buf);
}

static int run_doctor(
	struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	const struct doctor_opts *opts = options;
	struct doctor d = { .app = app };
	bool failed = false;

	(void)argc;
	(void)argv;
	for (size_t i = 0; i < ARRAY_LEN(checks); i++)
		checks[i](&d);
	int r = 0;
	if (opts->json)
		print_json(&d);
	else
		r = print_text(&d, reterr);
	vec_each (&d.findings, f) {
		failed |= f->level == LEVEL_FAIL;
		free(f->text);
		free(f->remedy);
	}
	vec_release(&d.findings);
	return r < 0 ? r : failed ? 1 : 0;
}

const struct cmd cmd_doctor = {
	.name = "doctor",
	.group = CMD_GROUP_SETUP,
	.summary = "what is installed, what works, what to do about the rest",
	.synopsis = "",
	.max_args = 0,
	.needs = CMD_NO_SETTINGS,
	.opts = doctor_options,
	.opts_size = sizeof(struct doctor_opts),
	.run = run_doctor,
};
