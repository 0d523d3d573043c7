#include <errno.h>

#include "assist/kit.h"
#include "base/utf8.h"
#include "cli/cmd.h"
#include "cli/env.h"
#include "config/yaml.h"
#include "os/file.h"
#include "json/write.h"

struct config_opts {
	bool json;
};

static const struct opt config_options[] = {
	OPT_FLAG(0, "json", struct config_opts, json, "JSON for programs"),
	OPT_END,
};

static const char *const config_verbs[] = { "check", "example", "get", "path", NULL };

/* ---- values ---- */

static void print_list(FILE *out, const struct settings *s, const char *file)
{
	for (int id = 0; id < SETTING_COUNT; id++) {
		AUTO_STR value = STR_INIT;
		AUTO_STR origin = STR_INIT;
		AUTO_STR line = STR_INIT;
		AUTO_STR safe = STR_INIT;

		settings_print(&value, s, (enum setting_id)id);
		settings_print_origin(&origin, s, (enum setting_id)id, file);
		str_addf(&line, "%s = %s  (%s)", settings_table[id].name, value.buf, origin.buf);
		utf8_scrub_line(&safe, str_sv(&line));
		(void)fprintf(out, "%s\n", safe.buf);
	}
}

static void put_strings(struct jw *w, const struct strv *list)
{
	jw_array(w);
	for (size_t i = 0; i < list->n; i++)
		jw_string(w, sv_of(list->v[i]));
	jw_end(w);
}

static void put_words(struct jw *w, const struct keywords *k)
{
	jw_array(w);
	for (size_t i = 0; i < k->texts.n; i++) {
		jw_object(w);
		jw_put_cstr(w, "language", *k->langs.v[i] ? k->langs.v[i] : NULL);
		jw_put_cstr(w, "text", k->texts.v[i]);
		jw_end(w);
	}
	jw_end(w);
}

static void put_value(struct jw *w, const struct settings *s, enum setting_id id)
{
	const void *value = settings_value(s, id);
	switch (settings_table[id].kind) {
	case SETTING_BOOL:
		jw_bool(w, *(const bool *)value);
		break;
	case SETTING_INT:
		jw_i64(w, *(const long long *)value);
		break;
	case SETTING_NUMBER:
		jw_double(w, *(const double *)value);
		break;
	case SETTING_SECONDS:
		jw_double(w, (double)*(const int64_t *)value / 1000);
		break;
	case SETTING_STRING:
	case SETTING_PATH:
	case SETTING_CHOICE:
		jw_string(w, sv_of(*(char *const *)value));
		break;
	case SETTING_LIST:
	case SETTING_TABLE:
		put_strings(w, value);
		break;
	case SETTING_WORDS:
		put_words(w, value);
		break;
	}
}

static void put_setting(
	struct jw *w, const struct settings *s, enum setting_id id, const char *file)
{
	static const char *const sources[] = {
		[SETTING_DEFAULT] = "default",
		[SETTING_FILE] = "file",
		[SETTING_ENVIRONMENT] = "environment",
	};
	const struct setting_origin *o = &s->origins[id];

	jw_object(w);
	jw_put_cstr(w, "name", settings_table[id].name);
	jw_key(w, "value");
	put_value(w, s, id);
	jw_put_cstr(w, "source", sources[o->source]);
	if (o->source == SETTING_FILE) {
		jw_put_cstr(w, "file", file);
		jw_put_i64(w, "line", o->line);
	}
	jw_put_cstr(w, "default", settings_table[id].fallback);
	jw_put_cstr(w, "help", settings_table[id].help);
	jw_end(w);
}

static int show_all(struct app *app, const struct config_opts *opts, struct err *reterr)
{
	AUTO_STR json = STR_INIT;
	struct jw w = JW_INIT(&json);
	int r = app_load_settings(app, reterr);

	if (r < 0)
		return r;
	if (!opts->json) {
		print_list(app->out, app->settings, app->paths.config_file);
		return 0;
	}
	jw_array(&w);
	for (int id = 0; id < SETTING_COUNT; id++)
		put_setting(&w, app->settings, (enum setting_id)id, app->paths.config_file);
	jw_end(&w);
	(void)fprintf(app->out, "%s\n", json.buf);
	return 0;
}

static int show_one(
	struct app *app, const struct config_opts *opts, const char *name, struct err *reterr)
{
	int id = settings_find(sv_of(name));
	if (id < 0) {
		const char *near = settings_suggest(sv_of(name));
		return err_set(reterr, ERR_NOTFOUND, "there is no setting '%s'%s%s%s", name,
			near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
	}
	int r = app_load_settings(app, reterr);
	if (r < 0)
		return r;
	AUTO_STR text = STR_INIT;
	AUTO_STR safe = STR_INIT;
	struct jw w = JW_INIT(&text);
	if (opts->json)
		put_value(&w, app->settings, (enum setting_id)id);
	else
		settings_print(&text, app->settings, (enum setting_id)id);
	utf8_scrub(&safe, str_sv(&text));
	(void)fprintf(app->out, "%s\n", safe.buf);
	return 0;
}

static enum setting_id keyword_setting(enum utterance_kind kind)
{
	static const enum setting_id ids[UTTERANCE_COMMANDS] = {
		[UTTERANCE_CANCEL] = SETTING_ID_commands_cancel,
		[UTTERANCE_RESET] = SETTING_ID_commands_reset,
		[UTTERANCE_RESTART] = SETTING_ID_commands_restart,
		[UTTERANCE_UNDO] = SETTING_ID_commands_undo,
	};
	return ids[kind];
}

/* A keyword that a list before its own takes away. */
static int find_shadowed(const struct settings *s, struct findings *findings, struct err *reterr)
{
	struct utterances *rules = NULL;
	int r = kit_utterances(s, &rules, reterr);
	if (r < 0)
		return r;
	for (int kind = 0; kind < UTTERANCE_COMMANDS; kind++) {
		const struct keywords *k = kit_keywords(s, (enum utterance_kind)kind);
		for (size_t i = 0; i < k->texts.n; i++) {
			struct utterance u;
			utterance_judge(rules, sv_of(k->texts.v[i]), &u);
			if ((int)u.kind != kind)
				findings_add(findings,
					s->origins[keyword_setting((enum utterance_kind)kind)].line,
					"the %s keyword '%s' is never reached: it is taken as %s",
					utterance_kind_name((enum utterance_kind)kind),
					k->texts.v[i], utterance_kind_name(u.kind));
		}
	}
	utterances_free(rules);
	return 0;
}

struct checked {
	const char *file;
	bool missing;
	struct findings findings;
};

static void print_checked(FILE *out, const struct checked *c)
{
	vec_each (&c->findings.all, one) {
		AUTO_STR line = STR_INIT;
		config_finding_print(&line, one, c->file);
		(void)fprintf(out, "%s\n", line.buf);
	}
	if (c->findings.all.n == 0)
		(void)fprintf(out, "%s: %s\n", c->file,
			c->missing ? "there is none, so the defaults hold" : "ok");
}

static void print_checked_json(FILE *out, const struct checked *c)
{
	AUTO_STR text = STR_INIT;
	struct jw w = JW_INIT(&text);
	jw_object(&w);
	jw_put_cstr(&w, "file", c->file);
	jw_put_bool(&w, "exists", !c->missing);
	jw_put_bool(&w, "ok", c->findings.all.n == 0);
	jw_key(&w, "findings");
	jw_array(&w);
	vec_each (&c->findings.all, one) {
		jw_object(&w);
		jw_key(&w, "line");
		if (one->line > 0)
			jw_i64(&w, one->line);
		else
			jw_null(&w);
		jw_put_cstr(&w, "message", one->text);
		jw_end(&w);
	}
	jw_end(&w);
	jw_end(&w);
	(void)fprintf(out, "%s\n", text.buf);
}

static void checked_release(struct checked *c)
{
	findings_release(&c->findings);
}

static int check(
	struct app *app, const struct config_opts *opts, const char *given, struct err *reterr)
{
	CLEANUP(checked_release)
	struct checked c = { .file = given ? given : app->paths.config_file };
	AUTO_STR text = STR_INIT;
	settings_free(app->settings);
	app->settings = settings_new(app->paths.home);
	int r = file_read(c.file, CONFIG_BYTES_MAX, &text, reterr);
	c.missing = r == -ENOENT && !given && !app->config_given;
	if (c.missing)
		r = 0;
	if (r == 0)
		r = config_parse(
			app->settings, str_sv(&text), c.file, &c.findings, &c.findings, reterr);
	if (r == 0)
		r = settings_from_environment(app->settings, env_all(), &c.findings, reterr);
	if (r == 0)
		r = find_shadowed(app->settings, &c.findings, reterr);
	if (r < 0)
		return r;
	if (opts->json)
		print_checked_json(app->out, &c);
	else
		print_checked(app->out, &c);
	return c.findings.all.n == 0 ? 0 : err_exit_status(ERR_INPUT);
}

static int run_config(
	struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	const struct config_opts *opts = options;
	struct sv verb = sv_of(argc > 0 ? argv[0] : "");
	if (argc == 0)
		return show_all(app, opts, reterr);
	if (sv_is(verb, "get") && argc == 2)
		return show_one(app, opts, argv[1], reterr);
	if (sv_is(verb, "check"))
		return check(app, opts, argc == 2 ? argv[1] : NULL, reterr);
	if (argc == 1 && sv_is(verb, "path")) {
		(void)fprintf(app->out, "%s\n", app->paths.config_file);
		return 0;
	}
	if (argc == 1 && sv_is(verb, "example")) {
		AUTO_STR text = STR_INIT;
		config_example(&text);
		(void)fputs(text.buf, app->out);
		return 0;
	}
	return err_set(
		reterr, ERR_USAGE, "give nothing, 'get NAME', 'check [FILE]', 'path' or 'example'");
}

const struct cmd cmd_config = {
	.name = "config",
	.group = CMD_GROUP_SETUP,
	.summary = "every setting with its value and where it comes from",
	.synopsis = "[get NAME | check [FILE] | path | example]",
	.min_args = 0,
	.max_args = 2,
	.needs = CMD_NO_SETTINGS,
	.words = CMD_WORDS_FILE,
	.verbs = config_verbs,
	.opts = config_options,
	.opts_size = sizeof(struct config_opts),
	.run = run_config,
};
