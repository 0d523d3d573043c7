#include <errno.h>
#include <jansson.h>

#include "cli/cli.h"
#include "cli/help.h"

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
	{ 5, "storage or network failed" },
	{ 70, "a bug in faden" },
	{ 128, "plus the number of the signal that ended it" },
};

static const char *kind_name(enum opt_kind kind)
{
	static const char *const names[] = {
		[OPT_KIND_FLAG] = "flag",
		[OPT_KIND_NEGATABLE] = "negatable",
		[OPT_KIND_INT] = "int",
		[OPT_KIND_DOUBLE] = "number",
		[OPT_KIND_STRING] = "string",
		[OPT_KIND_LIST] = "list",
		[OPT_KIND_CHOICE] = "choice",
		[OPT_KIND_SPAN] = "span",
	};
	return names[kind];
}

static json_t *string_list(const char *const *list)
{
	json_t *array = json_array();
	for (size_t i = 0; list && list[i]; i++)
		(void)json_array_append_new(array, json_string(list[i]));
	return array;
}

static json_t *string_or_null(const char *s)
{
	return s ? json_string(s) : json_null();
}

static json_t *option_json(const struct opt *o)
{
	const char brief[2] = { o->brief, '\0' };
	json_t *object = json_object();
	(void)json_object_set_new(object, "short", string_or_null(o->brief ? brief : NULL));
	(void)json_object_set_new(object, "long", json_string(o->name));
	(void)json_object_set_new(object, "kind", json_string(kind_name(o->kind)));
	(void)json_object_set_new(object, "arg", string_or_null(o->arg));
	(void)json_object_set_new(object, "help", json_string(o->help));
	if (o->kind == OPT_KIND_CHOICE)
		(void)json_object_set_new(object, "choices", string_list(o->choices));
	return object;
}

static json_t *options_json(const struct opt *opts)
{
	json_t *array = json_array();
	for (const struct opt *o = opts; o && o->name; o++)
		(void)json_array_append_new(array, option_json(o));
	return array;
}

static const char *words_name(enum cmd_words words)
{
	static const char *const names[] = {
		[CMD_WORDS_TEXT] = "text",
		[CMD_WORDS_SESSION] = "session",
		[CMD_WORDS_FILE] = "file",
		[CMD_WORDS_COMMAND] = "command",
	};
	return names[words];
}

static json_t *command_json(const struct cmd *c)
{
	json_t *object = json_object();
	(void)json_object_set_new(object, "name", json_string(c->name));
	(void)json_object_set_new(object, "alias", string_or_null(c->alias));
	(void)json_object_set_new(object, "group", json_string(cmd_group_title(c->group)));
	(void)json_object_set_new(object, "summary", json_string(c->summary));
	(void)json_object_set_new(object, "synopsis", json_string(c->synopsis));
	(void)json_object_set_new(object, "min_args", json_integer(c->min_args));
	(void)json_object_set_new(object, "max_args", json_integer(c->max_args));
	(void)json_object_set_new(object, "words", json_string(words_name(c->words)));
	(void)json_object_set_new(object, "verbs", string_list(c->verbs));
	(void)json_object_set_new(object, "options", options_json(c->opts));
	return object;
}

static json_t *commands_json(void)
{
	size_t n;
	const struct cmd *const *all = cmd_table(&n);
	json_t *array = json_array();
	for (size_t i = 0; i < n; i++) {
		if (!(all[i]->needs & CMD_HIDDEN))
			(void)json_array_append_new(array, command_json(all[i]));
	}
	return array;
}

static json_t *exit_statuses_json(void)
{
	json_t *array = json_array();
	for (size_t i = 0; i < ARRAY_LEN(exit_statuses); i++)
		(void)json_array_append_new(array,
			json_pack("{s:i, s:s}", "status", exit_statuses[i].status, "meaning",
				exit_statuses[i].meaning));
	return array;
}

int help_json(FILE *out, struct err *reterr)
{
	json_t *doc = json_object();
	(void)json_object_set_new(doc, "name", json_string("faden"));
	(void)json_object_set_new(doc, "version", json_string(FADEN_VERSION));
	(void)json_object_set_new(doc, "default_command", json_string(CLI_DEFAULT_COMMAND));
	(void)json_object_set_new(doc, "commands", commands_json());
	(void)json_object_set_new(doc, "options", options_json(cli_global_options));
	(void)json_object_set_new(doc, "exit_status", exit_statuses_json());
	int r = json_dumpf(doc, out, JSON_INDENT(1));
	json_decref(doc);
	(void)fputc('\n', out);
	return r == 0 ? 0 : err_set(reterr, -EIO, "writing the description failed");
}
