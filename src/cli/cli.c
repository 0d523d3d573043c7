#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "cli/help.h"
#include "cli/pick.h"
#include "cli/print.h"
#include "cli/sessions.h"
#include "os/file.h"

/* ---- the commands there are ---- */

static const struct cmd *const commands[] = {
#define CMD(name) &cmd_##name,
#include "cli/commands.def"
#undef CMD
};

const struct cmd *const *cmd_table(size_t *ret_n)
{
	*ret_n = ARRAY_LEN(commands);
	return commands;
}

const struct cmd *cmd_find(struct sv name)
{
	for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
		const struct cmd *c = commands[i];
		if (sv_is(name, c->name) || (c->alias && sv_is(name, c->alias)))
			return c;
	}
	return NULL;
}

const char *cmd_suggest(struct sv name)
{
	struct suggest near = SUGGEST_INIT(name);

	for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
		if (commands[i]->needs & CMD_HIDDEN)
			continue;
		suggest_offer(&near, commands[i]->name);
		if (commands[i]->alias)
			suggest_offer(&near, commands[i]->alias);
	}
	return near.best;
}

/* ---- the command line ---- */

struct globals {
	bool help;
	bool version;
	bool verbose;
	int colour; /* index into colours */
	const char *config;
	const char *state;
};

enum { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };
static const char *const colours[] = { "auto", "always", "never", NULL };

const struct opt cli_global_options[] = {
	OPT_FLAG('h', "help", struct globals, help, "show this help"),
	OPT_FLAG('V', "version", struct globals, version, "show the version"),
	OPT_FLAG('v', "verbose", struct globals, verbose, "log everything, not only what matters"),
	OPT_CHOICE(0, "color", struct globals, colour, "WHEN", colours,
		"when to use colour: auto, always or never"),
	OPT_STRING(0, "config", struct globals, config, "FILE", "read this configuration file"),
	OPT_STRING(0, "state", struct globals, state, "DIR", "keep conversations and log here"),
	OPT_END,
};

/* A command line taken apart. */
struct call {
	const struct cmd *cmd; /* NULL: there is none of that name */
	bool named;
	bool json; /* --json is among the words, well-formed or not */
	struct globals globals;
	void *opts;
	char **words; /* the array is ours, the strings are argv's */
	int n_words;
};

/* NULL when the command has none. */
static void *opts_new(const struct cmd *cmd)
{
	void *opts = cmd->opts_size > 0 ? xcalloc(1, cmd->opts_size) : NULL;

	if (cmd->defaults)
		memcpy(opts, cmd->defaults, cmd->opts_size);
	return opts;
}

static int parse_call(struct call *c, int argc, char **argv, struct err *reterr)
{
	const struct opt_set known[] = { { cli_global_options, &c->globals },
		{ cmd_talk.opts, NULL } };
	int n = argc > 0 ? argc - 1 : 0;
	AUTO_FREE char **args = xcalloc((size_t)n + 1, sizeof(*args));

	for (int i = 0; i < n; i++)
		args[i] = argv[i + 1];
	/* The command is the first word; the gap it leaves is closed. */
	int at = opt_first_word(known, ARRAY_LEN(known), n, args);
	c->named = at < n;
	c->cmd = c->named ? cmd_find(sv_of(args[at])) : &cmd_talk;
	if (!c->cmd) {
		const char *near = cmd_suggest(sv_of(args[at]));
		if (near)
			return err_set(reterr, ERR_USAGE,
				"there is no command '%s' (did you mean '%s'?)", args[at], near);
		return err_set(reterr, ERR_USAGE,
			"there is no command '%s' (to say it to the agent: faden ask …)", args[at]);
	}
	if (c->named)
		memmove(args + at, args + at + 1, (size_t)(--n - at) * sizeof(*args));
	c->opts = opts_new(c->cmd);
	c->words = xcalloc((size_t)n + 1, sizeof(*c->words));
	const struct opt_set sets[] = { { c->cmd->opts, c->opts },
		{ cli_global_options, &c->globals } };
	int r = opt_parse(
		sets, ARRAY_LEN(sets), c->cmd->needs & CMD_DASH_WORDS, n, args, c->words, reterr);
	c->n_words = r < 0 ? 0 : r;
	return r < 0 ? r : 0;
}

/* Whether an option is given, also on a command line that could not be parsed. */
static bool asks_for(int argc, char *const *argv, const char *option)
{
	for (int i = 1; i < argc && !sv_is(sv_of(argv[i]), "--"); i++)
		if (sv_is(sv_of(argv[i]), option))
			return true;
	return false;
}

/* ---- running it ---- */

/* Replaces an owned path by one from the command line, made absolute. */
static void override_path(const struct app *app, char **path, const char *given)
{
	if (!given)
		return;
	free(*path);
	*path = given[0] == '/' || !app->cwd ? xstrdup(given) : xasprintf("%s/%s", app->cwd, given);
}

static int missing(const struct cmd *cmd, struct err *reterr)
{
	return err_set(
		reterr, ERR_USAGE, "something is missing: faden %s %s", cmd->name, cmd->synopsis);
}

/* Sessions that were not named are chosen; the words with them, of which *chosen has those. */
static int choose_words(struct app *app, const struct call *c, struct strv *chosen, char **words,
	struct err *reterr)
{
	int r = pick_possible(app) ? sessions_open(app, reterr) : missing(c->cmd, reterr);

	for (int i = 0; i < c->n_words; i++)
		words[i] = c->words[i];
	for (int i = c->n_words; r >= 0 && i < c->cmd->min_args; i++) {
		const struct pick_opts opts = {
			.question = i > 0	       ? "Which other session?"
				: c->cmd->min_args > 1 ? "Which session is the first of the two?"
						       : "Which session?",
		};
		char *path = NULL;
		r = pick_session(app, &opts, &path, reterr);
		if (r >= 0)
			strv_take(chosen, path);
		words[i] = path;
	}
	/* Whether it writes something down is for the command to say. */
	app->looks = false;
	return r;
}

static int run_words(struct app *app, const struct call *c, struct err *reterr)
{
	AUTO_STRV chosen = STRV_INIT;
	AUTO_FREE char **words = NULL;

	if (c->n_words >= c->cmd->min_args)
		return c->cmd->run(app, c->opts, c->n_words, c->words, reterr);
	words = xcalloc((size_t)c->cmd->min_args + 1, sizeof(*words));
	int r = choose_words(app, c, &chosen, words, reterr);
	return r < 0 ? r : c->cmd->run(app, c->opts, c->cmd->min_args, words, reterr);
}

/* Made absolute, an empty one would be the folder where somebody happens to be. */
static int check_paths(const struct globals *g, struct err *reterr)
{
	if (g->config && !g->config[0])
		return err_set(reterr, ERR_USAGE, "--config '': an empty name is no file");
	if (g->state && !g->state[0])
		return err_set(reterr, ERR_USAGE, "--state '': an empty name is no folder");
	return 0;
}

static int run(struct app *app, const struct call *c, struct err *reterr)
{
	const struct globals *g = &c->globals;
	unsigned needs = c->cmd->needs;
	struct store *store;
	int r = check_paths(g, reterr);

	if (r < 0)
		return r;
	override_path(app, &app->paths.config_file, g->config);
	override_path(app, &app->paths.state_dir, g->state);
	app_use_paths(app);
	app->config_given = g->config != NULL;
	app->state_given = g->state != NULL;
	app->verbose = g->verbose;
	app->json = c->json;
	if (g->colour != COLOUR_AUTO)
		app->colour = g->colour == COLOUR_ALWAYS;
	if (!(needs & CMD_NO_SETTINGS))
		r = app_load_settings(app, reterr);
	if (r == 0 && (needs & CMD_STORE))
		r = app_store(app, &store, reterr);
	return r < 0 ? r : run_words(app, c, reterr);
}

int cmd_call(struct app *app, const struct cmd *cmd, int argc, char **argv, struct err *reterr)
{
	AUTO_FREE void *opts = opts_new(cmd);
	AUTO_FREE char **words = xcalloc((size_t)argc + 1, sizeof(*words));
	const struct opt_set set = { cmd->opts, opts };
	struct store *store;
	int r = opt_parse(&set, 1, cmd->needs & CMD_DASH_WORDS, argc, argv, words, reterr);
	int n = r;

	if (r >= 0 && (cmd->needs & CMD_STORE))
		r = app_store(app, &store, reterr);
	if (r >= 0)
		r = cmd->run(app, opts, n, words, reterr);
	opt_release(cmd->opts, opts);
	return r;
}

/* What failed, and what a person can do about it unless the message says it all. */
static void report(const struct call *c, const struct err *e)
{
	const char *name = c->named && c->cmd ? c->cmd->name : "";
	AUTO_STR line = STR_INIT;

	str_addf(&line, "faden: %s%s", name, *name ? ": " : "");
	utf8_scrub_line(&line, sv_of(e->msg));
	(void)fflush(stdout);
	prose_put(stderr, 0, line.buf);
	str_clear(&line);
	if (e->code == ERR_BUG)
		str_adds(&line, "faden: this is a mistake in faden: please report it");
	else if (e->code == ERR_USAGE)
		str_addf(&line, "faden: 'faden %s%s--help' shows how", name, *name ? " " : "");
	if (line.len > 0)
		prose_put(stderr, 0, line.buf);
}

/* Runs the command or refuses it; the exit status. */
static int perform(const struct call *c, int r, struct err *e, int argc, char **argv)
{
	struct app app = { .out = stdout };
	const struct cmd *cmd = c->cmd;

	if (r == 0 && c->n_words < cmd->min_args && !cmd->picks)
		r = missing(cmd, e);
	else if (r == 0 && cmd->max_args != CMD_ANY && c->n_words > cmd->max_args)
		r = err_set(e, ERR_USAGE, "one word too many: '%s'", c->words[cmd->max_args]);
	if (r == 0)
		r = app_init(&app, argc, argv, e);
	if (r == 0)
		r = run(&app, c, e);
	/* Programs are told in the form they asked for. */
	if (r < 0 && c->json && !app.told)
		print_failure(app.out, e, NULL);
	app_pager_end(&app);
	if (r < 0)
		report(c, e);
	app_release(&app);
	return r < 0 ? err_exit_status(r) : r;
}

/* One check for all output: a full disk must not look like success. */
static int finish_output(int status)
{
	struct pollfd p = { .fd = fileno(stdout), .events = POLLOUT };
	int errnum = 0;

	errno = 0;
	if (fflush(stdout) != 0)
		errnum = errno;
	else if (!ferror(stdout))
		return status;
	else if (poll(&p, 1, 0) == 1 && (p.revents & POLLERR))
		errnum = EPIPE; /* the reason is long gone, but so is the reader */
	if (errnum == EPIPE) {
		/* The reader of our output has gone: end as quietly as any filter does. */
		(void)signal(SIGPIPE, SIG_DFL);
		(void)raise(SIGPIPE);
	}
	(void)fprintf(stderr, "faden: standard output: %s\n",
		errnum ? strerror(errnum) : "not all could be written; is the disk full?");
	return status == 0 ? err_exit_status(errnum ? -errnum : -EIO) : status;
}

int cli_main(int argc, char **argv)
{
	struct call c = { .cmd = NULL };
	struct err e = ERR_INIT;
	int status = 0;

	/* A file of ours that got the number of a closed standard stream would be taken for it.
	 * What is written there fails, as it should: nobody gets it. */
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0)
			(void)!file_open("/dev/null", NULL, NULL);
	/* Agents and pagers may close their end at any time: that is an error, not our death. */
	(void)signal(SIGPIPE, SIG_IGN);
	/* So is a file that may not grow any more. */
	(void)signal(SIGXFSZ, SIG_IGN);
	/* Whoever ignores it hands that on to us, and then nobody learns how our children end. */
	(void)signal(SIGCHLD, SIG_DFL);
	int r = parse_call(&c, argc, argv, &e);
	c.json = asks_for(argc, argv, "--json");
	/* A usage error does not stop somebody who asks for help in the same breath. */
	bool help = r == 0
		? c.globals.help
		: c.cmd && (asks_for(argc, argv, "--help") || asks_for(argc, argv, "-h"));
	if (r == 0 && c.globals.version)
		(void)puts("faden " FADEN_VERSION);
	else if (help && c.named)
		help_command(stdout, c.cmd, false);
	else if (help)
		help_program(stdout);
	else
		status = perform(&c, r, &e, argc, argv);
	status = finish_output(status);
	if (c.cmd)
		opt_release(c.cmd->opts, c.opts);
	free(c.opts);
	free(c.words);
	return status;
}
