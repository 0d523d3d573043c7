#include "cli/help.h"

#include "base/utf8.h"
#include "cli/cli.h"

enum { INDENT = 2, TEXT_COLUMN = 28 };

static void pad(FILE *out, size_t n)
{
	while (n--)
		(void)fputc(' ', out);
}

/* Words of text from `column` on, broken before HELP_WIDTH and continued at `indent`. */
static void wrap(FILE *out, const char *text, size_t column, size_t indent)
{
	struct sv rest = sv_of(text), word;
	bool first = true;
	while (sv_split(&rest, ' ', &word)) {
		size_t width = utf8_width(word);
		if (!first && column + 1 + width > HELP_WIDTH) {
			(void)fputc('\n', out);
			pad(out, indent);
			column = indent;
			first = true;
		}
		if (!first) {
			(void)fputc(' ', out);
			column++;
		}
		(void)fprintf(out, "%.*s", SV_ARG(word));
		column += width;
		first = false;
	}
	(void)fputc('\n', out);
}

/* One row of a list: the term on the left, the text beside it or, when too long, below it. */
static void row(FILE *out, const char *term, const char *text)
{
	size_t width = INDENT + utf8_width(sv_of(term));
	pad(out, INDENT);
	(void)fputs(term, out);
	if (width + 2 > TEXT_COLUMN) {
		(void)fputc('\n', out);
		width = 0;
	}
	pad(out, TEXT_COLUMN - width);
	wrap(out, text, TEXT_COLUMN, TEXT_COLUMN);
}

static void option_row(FILE *out, const struct opt *o)
{
	AUTO_STR term = STR_INIT;
	if (o->brief)
		str_addf(&term, "-%c, ", o->brief);
	else
		str_adds(&term, "    ");
	str_addf(&term, "--%s%s", o->kind == OPT_KIND_NEGATABLE ? "[no-]" : "", o->name);
	if (opt_takes_value(o))
		str_addf(&term, " %s", o->arg);
	row(out, term.buf, o->help);
}

static void option_rows(FILE *out, const char *title, const struct opt *opts)
{
	if (!opts || !opts->name)
		return;
	(void)fprintf(out, "\n%s:\n", title);
	for (const struct opt *o = opts; o->name; o++)
		option_row(out, o);
}

static void field_rows(FILE *out, const struct format_field *fields)
{
	if (!fields)
		return;
	(void)fputs("\nFields of --format:\n", out);
	for (const struct format_field *f = fields; f->name; f++)
		row(out, f->name, f->help);
}

static void command_rows(FILE *out, enum cmd_group group)
{
	size_t n;
	const struct cmd *const *all = cmd_table(&n);
	bool titled = false;
	for (size_t i = 0; i < n; i++) {
		if (all[i]->group != group || (all[i]->needs & CMD_HIDDEN))
			continue;
		if (!titled)
			(void)fprintf(out, "\n%s:\n", cmd_group_title(group));
		titled = true;
		AUTO_STR term = STR_INIT;
		str_addf(&term, "%s%s%s", all[i]->name, *all[i]->synopsis ? " " : "",
			all[i]->synopsis);
		row(out, term.buf, all[i]->summary);
	}
}

void help_program(FILE *out)
{
	(void)fputs("usage: faden [OPTION…]\n"
		    "       faden COMMAND [OPTION…] [ARGUMENT…]\n"
		    "\n"
		    "Keeps the thread of your conversations with AI coding agents. Without a\n"
		    "command you talk to your agent and the last conversation goes on.\n",
		out);
	for (int group = 0; group < CMD_GROUP_COUNT; group++)
		command_rows(out, (enum cmd_group)group);
	const struct cmd *talk = cmd_find(SV(CLI_DEFAULT_COMMAND));
	if (talk)
		option_rows(out, "Options when talking", talk->opts);
	option_rows(out, "Options of every command", cli_global_options);
	(void)fputs("\n'faden COMMAND --help' says more about a command.\n", out);
}

void help_command(FILE *out, const struct cmd *cmd)
{
	AUTO_STR usage = STR_INIT;
	str_addf(&usage, "usage: faden %s", cmd->name);
	if (cmd->opts && cmd->opts->name)
		str_adds(&usage, " [OPTION…]");
	if (*cmd->synopsis)
		str_addf(&usage, " %s", cmd->synopsis);
	(void)fprintf(out, "%s\n\n", usage.buf);
	AUTO_STR summary = STR_INIT;
	str_addf(&summary, "%s: %s.", cmd->name, cmd->summary);
	wrap(out, summary.buf, 0, 0);
	if (cmd->alias)
		(void)fprintf(out, "Also: faden %s\n", cmd->alias);
	option_rows(out, "Options", cmd->opts);
	field_rows(out, cmd->fields);
	option_rows(out, "Options of every command", cli_global_options);
	if (cmd->needs & CMD_HIDDEN)
		return;
	(void)fprintf(out, "\n'faden help %s' says it at length.\n", cmd->name);
}
