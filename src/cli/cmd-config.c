#include <errno.h>

#include "base/utf8.h"
#include "cli/cmd.h"
#include "cli/config-print.h"
#include "cli/config-yaml.h"
#include "cli/settings-use.h"
#include "os/file.h"

struct config_opts {
	bool json;
};

static const struct opt config_options[] = {
	OPT_FLAG(0, "json", struct config_opts, json, "JSON for programs"),
	OPT_END,
};

static const char *const config_verbs[] = { "check", "example", "get", "path", NULL };

static int show_all(struct app *app, const struct config_opts *opts, struct err *reterr)
{
	int r = app_load_settings(app, reterr);
	if (r < 0)
		return r;
	if (opts->json)
		config_print_json(app->out, app->settings, app->paths.config_file);
	else
		config_print_list(app->out, app->settings, app->paths.config_file);
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
		config_put_value(&w, app->settings, (enum setting_id)id);
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
	int r = settings_utterances(s, &rules, reterr);
	if (r < 0)
		return r;
	for (int kind = 0; kind < UTTERANCE_COMMANDS; kind++) {
		const struct keywords *k = settings_keywords(s, (enum utterance_kind)kind);
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
	findings_json(&w, &c->findings);
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
		r = config_check(app->settings, str_sv(&text), c.file, &c.findings, reterr);
	if (r == 0)
		r = settings_from_environment(app->settings, &c.findings, reterr);
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
		config_print_example(app->out);
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
