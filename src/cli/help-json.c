#include "cli/cli.h"
#include "cli/help.h"
#include "config/settings.h"
#include "json/write.h"

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
	[OPT_KIND_SPAN] = "span",
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
		jw_object(w);
		jw_put_cstr(w, "short", o->brief ? brief : NULL);
		jw_put_cstr(w, "long", o->name);
		jw_put_cstr(w, "kind", opt_kind_names[o->kind]);
		jw_put_cstr(w, "arg", o->arg);
		jw_put_cstr(w, "help", o->help);
		put_strings(w, "choices", o->kind == OPT_KIND_CHOICE ? o->choices : NULL);
		jw_end(w);
	}
	jw_end(w);
}

static void put_command(struct jw *w, const struct cmd *c)
{
	jw_object(w);
	jw_put_cstr(w, "name", c->name);
	jw_put_cstr(w, "alias", c->alias);
	jw_put_cstr(w, "group", cmd_group_title(c->group));
	jw_put_cstr(w, "summary", c->summary);
	jw_put_cstr(w, "synopsis", c->synopsis);
	jw_put_i64(w, "min_args", c->min_args);
	jw_put_i64(w, "max_args", c->max_args);
	jw_put_cstr(w, "words", word_names[c->words]);
	put_strings(w, "verbs", c->verbs);
	put_options(w, c->opts);
	jw_end(w);
}

static void put_commands(struct jw *w)
{
	size_t n;
	const struct cmd *const *all = cmd_table(&n);
	jw_key(w, "commands");
	jw_array(w);
	for (size_t i = 0; i < n; i++) {
		if (!(all[i]->needs & CMD_HIDDEN))
			put_command(w, all[i]);
	}
	jw_end(w);
}

static void put_exit_statuses(struct jw *w)
{
	jw_key(w, "exit_status");
	jw_array(w);
	for (size_t i = 0; i < ARRAY_LEN(exit_statuses); i++) {
		jw_object(w);
		jw_put_i64(w, "status", exit_statuses[i].status);
		jw_put_cstr(w, "meaning", exit_statuses[i].meaning);
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

void help_json(FILE *out)
{
	AUTO_STR json = STR_INIT;
	struct jw w = JW_INIT(&json);
	jw_object(&w);
	jw_put_cstr(&w, "name", "faden");
	jw_put_cstr(&w, "version", FADEN_VERSION);
	jw_put_cstr(&w, "default_command", cmd_talk.name);
	put_commands(&w);
	put_options(&w, cli_global_options);
	put_exit_statuses(&w);
	put_settings(&w);
	jw_end(&w);
	(void)fprintf(out, "%s\n", json.buf);
}
