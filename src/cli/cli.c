#include "cli/cli.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "cli/help.h"
#include "cli/print.h"

static const char *const colour_choices[] = { "auto", "always", "never", NULL };

const struct opt cli_global_options[] = {
	OPT_FLAG('h', "help", struct cli_globals, help, "show this help"),
	OPT_FLAG('V', "version", struct cli_globals, version, "show the version"),
	OPT_FLAG('v', "verbose", struct cli_globals, verbose,
		"log everything, not only what matters"),
	OPT_CHOICE(0, "color", struct cli_globals, colour, "WHEN", colour_choices,
		"when to use colour: auto, always or never"),
	OPT_STRING(0, "config", struct cli_globals, config, "FILE", "read this configuration file"),
	OPT_STRING(0, "state", struct cli_globals, state, "DIR", "keep conversations and log here"),
	OPT_END,
};

/* A command line taken apart. */
struct call {
	const struct cmd *cmd; /* NULL: none named and no default */
	bool named;
	bool json; /* --json is among the words, well-formed or not */
	struct cli_globals globals;
	void *opts;
	char **words; /* the array is ours, the strings are argv's */
	int n_words;
};

static void call_release(struct call *c)
{
	if (c->cmd)
		opt_release(c->cmd->opts, c->opts);
	free(c->opts);
	free(c->words);
}

static int unknown_command(const char *word, struct err *reterr)
{
	const char *near = cmd_suggest(sv_of(word));
	if (near)
		return err_set(reterr, ERR_USAGE, "there is no command '%s' (did you mean '%s'?)",
			word, near);
	return err_set(reterr, ERR_USAGE,
		"there is no command '%s' (to say it to the agent: faden ask …)", word);
}

/* Finds the command's word in args and closes the gap it leaves. */
static int take_command(struct call *c, int *argc, char **args, struct err *reterr)
{
	const struct cmd *fallback = cmd_find(SV(CLI_DEFAULT_COMMAND));
	const struct opt_set sets[] = {
		{ cli_global_options, &c->globals },
		{ fallback ? fallback->opts : NULL, NULL },
	};
	int at = opt_first_word(sets, ARRAY_LEN(sets), *argc, args);
	if (at == *argc) {
		c->cmd = fallback;
		return 0;
	}
	c->cmd = cmd_find(sv_of(args[at]));
	if (!c->cmd)
		return unknown_command(args[at], reterr);
	c->named = true;
	memmove(args + at, args + at + 1, (size_t)(*argc - at - 1) * sizeof(*args));
	--*argc;
	return 0;
}

static void make_opts(struct call *c)
{
	if (!c->cmd || c->cmd->opts_size == 0)
		return;
	c->opts = xcalloc(1, c->cmd->opts_size);
	if (c->cmd->defaults)
		memcpy(c->opts, c->cmd->defaults, c->cmd->opts_size);
}

static int check_arity(const struct cmd *cmd, int n, char *const *words, struct err *reterr)
{
	if (n < cmd->min_args)
		return err_set(reterr, ERR_USAGE, "something is missing: faden %s %s", cmd->name,
			cmd->synopsis);
	if (cmd->max_args != CMD_ANY && n > cmd->max_args)
		return err_set(reterr, ERR_USAGE, "one word too many: '%s'", words[cmd->max_args]);
	return 0;
}

static int parse_call(struct call *c, int argc, char **argv, struct err *reterr)
{
	int n = argc > 0 ? argc - 1 : 0;
	char **args = xcalloc((size_t)n + 1, sizeof(*args));
	if (n > 0)
		memcpy(args, argv + 1, (size_t)n * sizeof(*args));
	int r = take_command(c, &n, args, reterr);
	if (r == 0) {
		make_opts(c);
		c->words = xcalloc((size_t)n + 1, sizeof(*c->words));
		const struct opt_set sets[] = {
			{ c->cmd ? c->cmd->opts : NULL, c->opts },
			{ cli_global_options, &c->globals },
		};
		r = opt_parse(sets, ARRAY_LEN(sets), n, args, c->words, reterr);
		c->n_words = r < 0 ? 0 : r;
	}
	free(args);
	return r < 0 ? r : 0;
}

/* Replaces an owned path by one from the command line, made absolute. */
static void override_path(const struct app *app, char **path, const char *given)
{
	if (!given)
		return;
	free(*path);
	*path = given[0] == '/' || !app->cwd ? xstrdup(given) : xasprintf("%s/%s", app->cwd, given);
}

static void apply_globals(struct app *app, const struct cli_globals *g)
{
	override_path(app, &app->paths.config_file, g->config);
	override_path(app, &app->paths.state_dir, g->state);
	app_use_paths(app);
	app->config_given = g->config != NULL;
	app->verbose = g->verbose;
	if (g->colour != CLI_COLOUR_AUTO)
		app->colour = g->colour == CLI_COLOUR_ALWAYS;
}

/* What the command's needs say, before it runs. */
static int prepare(struct app *app, const struct cmd *cmd, struct err *reterr)
{
	struct store *store;
	int r = 0;
	if ((cmd->needs & CMD_TTY) && !(app->in_tty && app->out_tty))
		return err_set(reterr, ERR_USAGE, "this needs a terminal");
	if (!(cmd->needs & CMD_NO_SETTINGS))
		r = app_load_settings(app, reterr);
	if (r == 0 && (cmd->needs & (CMD_STATE | CMD_STORE)))
		r = app_state(app, reterr);
	if (r == 0 && (cmd->needs & CMD_STORE))
		r = app_store(app, &store, reterr);
	if (r == 0 && (cmd->needs & CMD_PAGER))
		app_pager_begin(app);
	return r;
}

static int run_call(struct app *app, const struct call *c, struct err *reterr)
{
	apply_globals(app, &c->globals);
	int r = prepare(app, c->cmd, reterr);
	if (r == 0)
		r = c->cmd->run(app, c->opts, c->n_words, c->words, reterr);
	if (r < 0 && c->json && !app->told)
		print_failure(app->out, reterr, NULL);
	app_pager_end(app);
	return r;
}

/* What a person can do about an error of this kind; NULL when the message says it all. */
static const char *hint_of(int code)
{
	switch (code) {
	case ERR_BUG:
		return "this is a mistake in faden: please report it";
	default:
		return NULL;
	}
}

static void report(const struct call *c, const struct err *e)
{
	AUTO_STR line = STR_INIT;
	str_adds(&line, "faden: ");
	if (c->named && c->cmd)
		str_addf(&line, "%s: ", c->cmd->name);
	utf8_scrub_line(&line, sv_of(e->msg));
	(void)fflush(stdout);
	prose_put(stderr, 0, line.buf);
	const char *hint = hint_of(e->code);
	str_clear(&line);
	if (hint)
		str_addf(&line, "faden: %s", hint);
	else if (e->code == ERR_USAGE)
		str_addf(&line, "faden: 'faden %s%s--help' shows how",
			c->named && c->cmd ? c->cmd->name : "", c->named && c->cmd ? " " : "");
	if (line.len > 0)
		prose_put(stderr, 0, line.buf);
}

static int exit_status(const struct call *c, int r, const struct err *e)
{
	if (r >= 0)
		return r;
	report(c, e);
	return err_exit_status(r);
}

/* The reader of our output has gone: end as quietly as any filter does. */
static void die_of_sigpipe(void)
{
	(void)signal(SIGPIPE, SIG_DFL);
	(void)raise(SIGPIPE);
}

static bool reader_gone(FILE *f)
{
	struct pollfd p = { .fd = fileno(f), .events = POLLOUT };
	return poll(&p, 1, 0) == 1 && (p.revents & POLLERR);
}

/* One check for all output: a full disk must not look like success. */
static int finish_output(int status)
{
	errno = 0;
	bool failed = fflush(stdout) != 0;
	int errnum = errno;
	if (!failed && ferror(stdout)) {
		failed = true;
		errnum = reader_gone(stdout) ? EPIPE : 0; /* the reason is long gone */
	}
	if (!failed)
		return status;
	if (errnum == EPIPE)
		die_of_sigpipe();
	(void)fprintf(stderr, "faden: standard output: %s\n",
		errnum ? strerror(errnum) : "not all could be written; is the disk full?");
	return status == 0 ? err_exit_status(errnum ? -errnum : -EIO) : status;
}

static int run_app(const struct call *c, int argc, char **argv)
{
	struct err e = ERR_INIT;
	struct app app;
	int r = app_init(&app, argc, argv, &e);
	if (r == 0)
		r = run_call(&app, c, &e);
	else if (c->json)
		print_failure(stdout, &e, NULL);
	int status = exit_status(c, r, &e);
	app_release(&app);
	return status;
}

/* A command line that cannot be followed: programs are told in the form they asked for. */
static int refuse(const struct call *c, int r, const struct err *e)
{
	if (c->json)
		print_failure(stdout, e, NULL);
	return exit_status(c, r, e);
}

static int perform(const struct call *c, int argc, char **argv)
{
	if (c->globals.version) {
		(void)puts("faden " FADEN_VERSION);
		return 0;
	}
	if (c->globals.help || !c->cmd) {
		if (c->cmd && c->named)
			help_command(stdout, c->cmd);
		else
			help_program(stdout);
		return 0;
	}
	struct err e = ERR_INIT;
	int r = check_arity(c->cmd, c->n_words, c->words, &e);
	return r < 0 ? refuse(c, r, &e) : run_app(c, argc, argv);
}

/* Whether an option is given, also on a command line that could not be parsed. */
static bool asks_for(int argc, char *const *argv, const char *option)
{
	for (int i = 1; i < argc && !sv_is(sv_of(argv[i]), "--"); i++)
		if (sv_is(sv_of(argv[i]), option))
			return true;
	return false;
}

int cli_main(int argc, char **argv)
{
	/* Agents and pagers may close their end at any time: that is an error, not our death. */
	(void)signal(SIGPIPE, SIG_IGN);
	/* Whoever ignores it hands that on to us, and then nobody learns how our children end. */
	(void)signal(SIGCHLD, SIG_DFL);
	struct call c = { .cmd = NULL };
	struct err e = ERR_INIT;
	int r = parse_call(&c, argc, argv, &e);
	/* A usage error does not stop somebody who asks for help in the same breath. */
	if (r < 0 && c.cmd && (asks_for(argc, argv, "--help") || asks_for(argc, argv, "-h"))) {
		c.globals.help = true;
		r = 0;
	}
	c.json = asks_for(argc, argv, "--json");
	int status = finish_output(r < 0 ? refuse(&c, r, &e) : perform(&c, argc, argv));
	call_release(&c);
	return status;
}
