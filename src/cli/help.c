#include "cli/help.h"

#include "base/utf8.h"
#include "cli/cli.h"
#include "cli/print.h"

enum { INDENT = 2, TEXT_COLUMN = 28, NARROW_COLUMN = 8, INTRO_WIDTH = 74 };

static void pad(FILE *out, size_t n)
{
	while (n--)
		(void)fputc(' ', out);
}

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
	pad(p->out, INDENT);
	(void)fputs(term, p->out);
	if (width + 2 > p->column) {
		(void)fputc('\n', p->out);
		width = 0;
	}
	pad(p->out, p->column - width);
	prose_wrap(p->out, p->width, sv_of(text), p->column, p->column);
}

static void option_row(const struct page *p, const struct opt *o)
{
	AUTO_STR term = STR_INIT;
	if (o->brief)
		str_addf(&term, "-%c, ", o->brief);
	else
		str_adds(&term, "    ");
	str_addf(&term, "--%s%s", o->kind == OPT_KIND_NEGATABLE ? "[no-]" : "", o->name);
	if (opt_takes_value(o))
		str_addf(&term, " %s", o->arg);
	row(p, term.buf, o->help);
}

static void option_rows(const struct page *p, const char *title, const struct opt *opts)
{
	if (!opts || !opts->name)
		return;
	(void)fprintf(p->out, "\n%s:\n", title);
	for (const struct opt *o = opts; o->name; o++)
		option_row(p, o);
}

static void field_rows(const struct page *p, const struct format_field *fields)
{
	if (!fields)
		return;
	(void)fputs("\nFields of --format:\n", p->out);
	for (const struct format_field *f = fields; f->name; f++)
		row(p, f->name, f->help);
}

static void command_rows(const struct page *p, enum cmd_group group)
{
	size_t n;
	const struct cmd *const *all = cmd_table(&n);
	bool titled = false;
	for (size_t i = 0; i < n; i++) {
		if (all[i]->group != group || (all[i]->needs & CMD_HIDDEN))
			continue;
		if (!titled)
			(void)fprintf(p->out, "\n%s:\n", cmd_group_title(group));
		titled = true;
		AUTO_STR term = STR_INIT;
		str_addf(&term, "%s%s%s", all[i]->name, *all[i]->synopsis ? " " : "",
			all[i]->synopsis);
		row(p, term.buf, all[i]->summary);
	}
}

void help_program(FILE *out)
{
	const struct page p = page_of(out);
	(void)fputs("usage: faden [OPTION…]\n"
		    "       faden COMMAND [OPTION…] [ARGUMENT…]\n"
		    "\n",
		out);
	prose_wrap(out, p.width < INTRO_WIDTH ? p.width : INTRO_WIDTH,
		SV("Keeps the thread of your conversations with AI coding agents. Without a "
		   "command you "
		   "talk to your agent and the last conversation goes on."),
		0, 0);
	for (int group = 0; group < CMD_GROUP_COUNT; group++)
		command_rows(&p, (enum cmd_group)group);
	const struct cmd *talk = cmd_find(SV(CLI_DEFAULT_COMMAND));
	if (talk)
		option_rows(&p, "Options when talking", talk->opts);
	option_rows(&p, "Options of every command", cli_global_options);
	(void)fputc('\n', out);
	prose_wrap(out, p.width, SV("'faden COMMAND --help' says more about a command."), 0, 0);
}

void help_command(FILE *out, const struct cmd *cmd)
{
	const struct page p = page_of(out);
	AUTO_STR usage = STR_INIT;
	str_addf(&usage, "usage: faden %s", cmd->name);
	if (cmd->opts && cmd->opts->name)
		str_adds(&usage, " [OPTION…]");
	if (*cmd->synopsis)
		str_addf(&usage, " %s", cmd->synopsis);
	(void)fprintf(out, "%s\n\n", usage.buf);
	AUTO_STR summary = STR_INIT;
	str_addf(&summary, "%s: %s.", cmd->name, cmd->summary);
	prose_wrap(out, p.width, str_sv(&summary), 0, 0);
	if (cmd->alias)
		(void)fprintf(out, "Also: faden %s\n", cmd->alias);
	option_rows(&p, "Options", cmd->opts);
	field_rows(&p, cmd->fields);
	option_rows(&p, "Options of every command", cli_global_options);
	if (cmd->needs & CMD_HIDDEN)
		return;
	(void)fprintf(out, "\n'faden help %s' says it at length.\n", cmd->name);
}
