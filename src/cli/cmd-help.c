#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "cli/cli.h"
#include "cli/help.h"
#include "cli/print.h"
#include "config/settings.h"
#include "os/path.h"
#include "json/write.h"

enum { INDENT = 2, TEXT_COLUMN = 28, NARROW_COLUMN = 8, INTRO_WIDTH = 74 };

struct help_opts {
	bool json;
};

static const struct opt help_options[] = {
	OPT_FLAG(0, "json", struct help_opts, json,
		"describe every command and option for programs"),
	OPT_END,
};

static const char *const group_titles[] = {
#define X(id, title) [id] = title,
	CMD_GROUPS(X)
#undef X
};

/* ---- for people ---- */

/* Where help goes, and how wide. */
struct page {
	FILE *out;
	size_t width;
	size_t column; /* of the texts beside their terms */
};

static struct page page_of(FILE *out)
{
	size_t width = prose_width(out);

	if (width == 0 || width > HELP_WIDTH)
		width = HELP_WIDTH;
	return (struct page){ out, width, width < 2 * TEXT_COLUMN ? NARROW_COLUMN : TEXT_COLUMN };
}

/* One row of a list: the term on the left, the text beside it or, when too long, below it. */
static void row(const struct page *p, const char *term, const char *text)
{
	size_t width = INDENT + utf8_width(sv_of(term));

	(void)fprintf(p->out, "%*s%s", INDENT, "", term);
	if (width + 2 > p->column) {
		(void)fputc('\n', p->out);
		width = 0;
	}
	(void)fprintf(p->out, "%*s", (int)(p->column - width), "");
	prose_wrap(p->out, p->width, sv_of(text), p->column, p->column);
}

static void option_rows(const struct page *p, const char *title, const struct opt *opts)
{
	if (!opts || !opts->name)
		return;
	(void)fprintf(p->out, "\n%s:\n", title);
	for (const struct opt *o = opts; o->name; o++) {
		AUTO_STR term = STR_INIT;
		AUTO_STR help = STR_INIT;
		if (o->brief)
			str_addf(&term, "-%c, ", o->brief);
		else
			str_adds(&term, "    ");
		str_addf(&term, "--%s%s", o->kind == OPT_KIND_NEGATABLE ? "[no-]" : "", o->name);
		if (opt_takes_value(o))
			str_addf(&term, " %s", o->arg);
		opt_help(&help, o);
		row(p, term.buf, help.buf);
	}
}

void help_program(FILE *out)
{
	const struct page p = page_of(out);
	size_t n;
	const struct cmd *const *all = cmd_table(&n);

	(void)fputs("usage: faden [OPTION…]\n"
		    "       faden COMMAND [OPTION…] [ARGUMENT…]\n"
		    "\n",
		out);
	prose_wrap(out, p.width < INTRO_WIDTH ? p.width : INTRO_WIDTH,
		SV("Keeps the thread of your conversations with AI coding agents. Without a "
		   "command you talk to your agent and the last conversation goes on."),
		0, 0);
	for (enum cmd_group group = 0; group < CMD_GROUP_COUNT; group++) {
		(void)fprintf(out, "\n%s:\n", group_titles[group]);
		for (size_t i = 0; i < n; i++) {
			AUTO_STR term = STR_INIT;
			if (all[i]->group != group || (all[i]->needs & CMD_HIDDEN))
				continue;
			str_addf(&term, "%s%s%s", all[i]->name, *all[i]->synopsis ? " " : "",
				all[i]->synopsis);
			row(&p, term.buf, all[i]->summary);
		}
	}
	option_rows(&p, "Options when talking", cmd_talk.opts);
	option_rows(&p, "Options of every command", cli_global_options);
	(void)fputc('\n', out);
	prose_wrap(out, p.width, SV("'faden COMMAND --help' says more about a command."), 0, 0);
}

void help_command(FILE *out, const struct cmd *cmd, bool no_manual)
{
	const struct page p = page_of(out);
	AUTO_STR summary = STR_INIT;

	(void)fprintf(out, "usage: faden %s%s%s%s\n\n", cmd->name,
		cmd->opts && cmd->opts->name ? " [OPTION…]" : "", *cmd->synopsis ? " " : "",
		cmd->synopsis);
	str_addf(&summary, "%s: %s.", cmd->name, cmd->summary);
	prose_wrap(out, p.width, str_sv(&summary), 0, 0);
	if (cmd->alias)
		(void)fprintf(out, "Also: faden %s\n", cmd->alias);
	if (cmd->syntax)
		(void)fputs("\nWords:\n", out);
	for (const struct cmd_syntax *s = cmd->syntax; s && s->text; s++)
		row(&p, s->text, s->help);
	option_rows(&p, "Options", cmd->opts);
	if (cmd->fields)
		(void)fputs("\nFields of --format:\n", out);
	for (const struct format_field *f = cmd->fields; f && f->name; f++)
		row(&p, f->name, f->help);
	option_rows(&p, "Options of every command", cli_global_options);
	if (cmd->needs & CMD_HIDDEN)
		return;
	str_clear(&summary);
	str_addf(&summary,
		no_manual ? "The manual page faden-%s(1), which says it at length, is not beside "
			    "this program, or man(1) is not installed."
			  : "At a terminal 'faden help %s' says it at length.",
		cmd->name);
	(void)fputc('\n', out);
	prose_wrap(out, p.width, str_sv(&summary), 0, 0);
}

/* ---- for programs: man pages and completions are made from it ---- */

/* What the program's exit status means; the man pages print it. */
static const struct {
	int status;
	const char *meaning;
} exit_statuses[] = {
	{ 0, "done" },
	{ 1, "nothing found, or differences found" },
	{ 2, "wrong usage" },
	{ 3, "bad input" },
	{ 4, "the agent failed" },
	{ 5, "storage or network failed, or what is meant is in use" },
	{ 6,
		"not allowed: something the agent wanted to do, though it answered; or to write "
		"over a file that is in the way" },
	{ 70, "a bug in faden" },
	{ 128, "plus the number of the signal that ended it" },
};

static const char *const opt_kind_names[] = {
	[OPT_KIND_FLAG] = "flag",
	[OPT_KIND_NEGATABLE] = "negatable",
	[OPT_KIND_INT] = "int",
	[OPT_KIND_DOUBLE] = "number",
	[OPT_KIND_STRING] = "string",
	[OPT_KIND_LIST] = "list",
	[OPT_KIND_CHOICE] = "choice",
	[OPT_KIND_WORD] = "choice",
	[OPT_KIND_SPAN] = "span",
	[OPT_KIND_AGENT] = "string",
};

static const char *const word_names[] = {
	[CMD_WORDS_TEXT] = "text",
	[CMD_WORDS_SESSION] = "session",
	[CMD_WORDS_FILE] = "file",
	[CMD_WORDS_COMMAND] = "command",
};

static const char *const setting_kind_names[] = {
	[SETTING_BOOL] = "true or false",
	[SETTING_INT] = "whole number",
	[SETTING_NUMBER] = "number",
	[SETTING_SECONDS] = "seconds, or a span such as 15m",
	[SETTING_SIZE] = "bytes, or a size such as 500M",
	[SETTING_STRING] = "text",
	[SETTING_PATH] = "path",
	[SETTING_CHOICE] = "choice",
	[SETTING_AGENT] = "choice",
	[SETTING_LIST] = "list",
	[SETTING_WORDS] = "list, or lists by language",
	[SETTING_TABLE] = "lists by language and class",
};

static void put_strings(struct jw *w, const char *key, const char *const *list)
{
	jw_key(w, key);
	jw_array(w);
	for (size_t i = 0; list && list[i]; i++)
		jw_string(w, sv_of(list[i]));
	jw_end(w);
}

static void put_options(struct jw *w, const struct opt *opts)
{
	jw_key(w, "options");
	jw_array(w);
	for (const struct opt *o = opts; o && o->name; o++) {
		const char brief[2] = { o->brief, '\0' };
		const char *agents[AGENTS_MAX + 1] = { NULL };
		AUTO_STR help = STR_INIT;
		size_t n = 0;

		for (size_t i = 0; i < agent_count; i++)
			if (!o->agents || o->agents(&agent_table[i]))
				agents[n++] = agent_table[i].name;
		opt_help(&help, o);
		jw_object(w);
		jw_put_cstr(w, "short", o->brief ? brief : NULL);
		jw_put_cstr(w, "long", o->name);
		jw_put_cstr(w, "kind", opt_kind_names[o->kind]);
		jw_put_cstr(w, "arg", o->arg);
		jw_put_cstr(w, "help", help.buf);
		put_strings(w, "choices", o->kind == OPT_KIND_AGENT ? agents : o->choices);
		jw_end(w);
	}
	jw_end(w);
}

static void put_settings(struct jw *w)
{
	jw_key(w, "settings");
	jw_array(w);
	settings_each (id) {
		const struct setting row = settings_row(id);
		AUTO_STR choices = STR_INIT;

		if (!settings_shown(id))
			continue;
		settings_choices(&choices, id);
		jw_object(w);
		jw_put_cstr(w, "name", row.name);
		jw_put_cstr(w, "kind", setting_kind_names[row.kind]);
		jw_put_cstr(w, "default", row.fallback);
		jw_put_cstr(w, "choices", choices.len ? choices.buf : NULL);
		if (row.low < row.high) {
			jw_put_double(w, "low", row.low);
			jw_put_double(w, "high", row.high);
		}
		jw_put_cstr(w, "help", row.help);
		jw_end(w);
	}
	jw_end(w);
}

/* Everything there is to know about the command line as one JSON document. */
static void print_json(struct app *app)
{
	AUTO_STR json = STR_INIT;
	struct jw w = JW_INIT(&json);
	size_t n;
	const struct cmd *const *all = cmd_table(&n);

	jw_object(&w);
	jw_put_cstr(&w, "name", "faden");
	jw_put_cstr(&w, "version", FADEN_VERSION);
	jw_put_cstr(&w, "default_command", cmd_talk.name);
	jw_key(&w, "commands");
	jw_array(&w);
	/* By groups, as --help has them: the manual follows this order. */
	for (size_t i = 0; i < n * CMD_GROUP_COUNT; i++) {
		const struct cmd *c = all[i % n];
		if (c->group != i / n || c->needs & CMD_HIDDEN)
			continue;
		jw_object(&w);
		jw_put_cstr(&w, "name", c->name);
		jw_put_cstr(&w, "alias", c->alias);
		jw_put_cstr(&w, "group", group_titles[c->group]);
		jw_put_cstr(&w, "summary", c->summary);
		jw_put_cstr(&w, "synopsis", c->synopsis);
		jw_put_i64(&w, "min_args", c->min_args);
		jw_put_i64(&w, "max_args", c->max_args);
		jw_put_cstr(&w, "words", word_names[c->words]);
		put_strings(&w, "verbs", c->verbs);
		put_options(&w, c->opts);
		jw_end(&w);
	}
	jw_end(&w);
	put_options(&w, cli_global_options);
	jw_key(&w, "exit_status");
	jw_array(&w);
	for (size_t i = 0; i < ARRAY_LEN(exit_statuses); i++) {
		jw_object(&w);
		jw_put_i64(&w, "status", exit_statuses[i].status);
		jw_put_cstr(&w, "meaning", exit_statuses[i].meaning);
		jw_end(&w);
	}
	jw_end(&w);
	put_settings(&w);
	jw_end(&w);
	print_doc(app, &json);
}

/* ---- the command ---- */

/* Hands the terminal to man(1) with the command's page, where the program itself lies: in its
 * build folder or installed. Only returns when that is not to be had. */
static void show_man_page(struct app *app, const char *name)
{
	/* As built; as installed: PREFIX/bin/faden and PREFIX/share/man. */
	static const char *const places[] = { "docs", "../share/man/man1" };
	AUTO_FREE char *man = path_find_program("man", app->paths.search);
	AUTO_FREE char *self = NULL;

	if (!man || path_real("/proc/self/exe", &self, NULL) < 0)
		return;
	struct sv dir = path_parent(sv_of(self));
	(void)fflush(app->out);
	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		AUTO_FREE char *page =
			xasprintf("%.*s/%s/faden-%s.1", SV_ARG(dir), places[i], name);
		char *argv[] = { man, page, NULL };
		if (path_exists(page))
			(void)execv(man, argv);
	}
}

static int run_help(struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	const struct help_opts *opts = options;
	const struct cmd *cmd = argc > 0 ? cmd_find(sv_of(argv[0])) : NULL;

	if (opts->json) {
		print_json(app);
		return 0;
	}
	if (argc == 0) {
		help_program(app->out);
		return 0;
	}
	if (!cmd) {
		const char *near = cmd_suggest(sv_of(argv[0]));
		return err_set(reterr, ERR_USAGE, "there is no command '%s'%s%s%s", argv[0],
			SUGGEST_ARG(near));
	}
	if (app->out_tty)
		show_man_page(app, cmd->name);
	help_command(app->out, cmd, app->out_tty);
	return 0;
}

const struct cmd cmd_help = {
	.name = "help",
	.group = CMD_GROUP_SETUP,
	.summary = "what there is, or the manual page of a command",
	.synopsis = "[COMMAND]",
	.min_args = 0,
	.max_args = 1,
	.needs = CMD_NO_SETTINGS,
	.words = CMD_WORDS_COMMAND,
	.opts = help_options,
	.opts_size = sizeof(struct help_opts),
	.run = run_help,
};
