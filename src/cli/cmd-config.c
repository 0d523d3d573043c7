#include <errno.h>

#include "assist/kit.h"
#include "assist/utterance.h"
#include "base/mem.h"
#include "base/suggest.h"
#include "cli/cmd.h"
#include "cli/env.h"
#include "cli/front.h"
#include "cli/print.h"
#include "config/yaml.h"
#include "os/file.h"
#include "os/path.h"
#include "json/write.h"

struct config_opts {
	bool json;
};

static const struct opt config_options[] = {
	OPT_FLAG(0, "json", struct config_opts, json, "JSON for programs"),
	OPT_END,
};

static const char *const config_verbs[] = { "check", "example", "get", "path", "set", NULL };

static void put_value(struct jw *w, const struct settings *s, enum setting_id id)
{
	const void *value = settings_value(s, id);

	switch (settings_row(id).kind) {
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
	case SETTING_SIZE:
		jw_i64(w, (int64_t) * (const uint64_t *)value);
		break;
	case SETTING_STRING:
	case SETTING_PATH:
	case SETTING_CHOICE:
	case SETTING_AGENT:
		jw_string(w, sv_of(*(char *const *)value));
		break;
	case SETTING_LIST:
	case SETTING_TABLE: {
		const struct strv *list = value;
		jw_array(w);
		for (size_t i = 0; i < list->n; i++)
			jw_string(w, sv_of(list->v[i]));
		jw_end(w);
		break;
	}
	case SETTING_WORDS: {
		const struct keywords *k = value;
		jw_array(w);
		for (size_t i = 0; i < k->texts.n; i++) {
			jw_object(w);
			jw_put_cstr(w, "language", *k->langs.v[i] ? k->langs.v[i] : NULL);
			jw_put_cstr(w, "text", k->texts.v[i]);
			jw_end(w);
		}
		jw_end(w);
		break;
	}
	}
}

/* Who answers where ai.agent leaves it open, in this folder, and why. The store is only looked at;
 * one that cannot be says nothing, since no setting depends on it. */
static const struct agent_def *who_answers(
	const struct app *app, enum setting_id id, const char **ret_why)
{
	AUTO_FREE char *path = path_join(app->paths.state_dir, "faden.db");
	AUTO_FREE char *dir = NULL;
	AUTO_STORE *store = NULL;

	if (id != SETTING_ID_ai_agent || strcmp(app->settings->ai_agent, "auto") != 0)
		return NULL;
	const struct agent_def *kind = NULL;
	bool folder = false;
	if (path_exists(path) && store_open(path, STORE_READONLY, &app->log, &store, NULL) == 0 &&
		kit_dir(app->settings, app->cwd, &dir, NULL) == 0) {
		struct kit_opts opts = front_kit_opts(app);
		opts.store = store;
		(void)!kit_auto(&opts, dir, &kind, &folder, NULL);
	}
	*ret_why = folder		  ? "it did in this folder last, and nobody was chosen"
		: kind && !kind->embedded ? "chosen at the first start"
					  : "no other was chosen";
	return kind ? kind : agent_embedded();
}

/* "ai.agent = auto  (default)" */
static void print_setting(const struct app *app, enum setting_id id)
{
	const char *why;
	const struct agent_def *kind = who_answers(app, id, &why);
	AUTO_STR line = STR_INIT;

	str_addf(&line, "%s = ", settings_row(id).name);
	settings_print(&line, app->settings, id);
	str_adds(&line, "  (");
	settings_print_origin(&line, app->settings, id, app->paths.config_file);
	if (kind)
		str_addf(&line, "; %s answers: %s", kind->name, why);
	str_addc(&line, ')');
	say_line(app->out, "%s", line.buf);
}

static int find_setting(const char *name, enum setting_id *ret, struct err *reterr)
{
	int id = settings_find(sv_of(name));
	const char *near = id < 0 ? settings_suggest(sv_of(name)) : NULL;

	if (id < 0)
		return err_set(reterr, ERR_NOTFOUND, "there is no setting '%s'%s%s%s", name,
			SUGGEST_ARG(near));
	*ret = (enum setting_id)id;
	return 0;
}

static int show_all(struct app *app, const struct config_opts *opts, struct err *reterr)
{
	static const char *const sources[] = {
		[SETTING_DEFAULT] = "default",
		[SETTING_FILE] = "file",
		[SETTING_ENVIRONMENT] = "environment",
	};
	const char *file = app->paths.config_file;
	AUTO_STR json = STR_INIT;
	struct jw w = JW_INIT(&json);
	int r = app_load_settings(app, reterr);

	if (r < 0)
		return r;
	if (!opts->json)
		app_pager_begin(app);
	jw_array(&w);
	settings_each (id) {
		const struct setting_origin *o = &app->settings->origins[id];

		/* What a file sets is shown, whatever comes of it. */
		if (!settings_shown(id) && o->source == SETTING_DEFAULT)
			continue;
		if (!opts->json) {
			print_setting(app, id);
			continue;
		}
		const char *ignored;
		const struct agent_def *kind = who_answers(app, id, &ignored);
		jw_object(&w);
		jw_put_cstr(&w, "name", settings_row(id).name);
		jw_key(&w, "value");
		put_value(&w, app->settings, id);
		jw_put_cstr(&w, "source", sources[o->source]);
		if (o->source == SETTING_FILE) {
			jw_put_cstr(&w, "path", file);
			jw_put_i64(&w, "line", o->line);
		}
		if (kind)
			jw_put_cstr(&w, "in_force", kind->name);
		jw_put_cstr(&w, "default", settings_row(id).fallback);
		jw_put_cstr(&w, "help", settings_row(id).help);
		jw_end(&w);
	}
	jw_end(&w);
	if (opts->json)
		print_doc(app, &json);
	return 0;
}

static int show_one(
	struct app *app, const struct config_opts *opts, const char *name, struct err *reterr)
{
	enum setting_id id = 0;
	AUTO_STR text = STR_INIT;
	struct jw w = JW_INIT(&text);
	int r = find_setting(name, &id, reterr);

	if (r == 0)
		r = app_load_settings(app, reterr);
	if (r < 0)
		return r;
	if (opts->json)
		put_value(&w, app->settings, id);
	else
		settings_print(&text, app->settings, id);
	if (opts->json) {
		print_doc(app, &text);
		return 0;
	}
	str_addc(&text, '\n');
	say_text(app->out, str_sv(&text));
	const char *why;
	const struct agent_def *kind = who_answers(app, id, &why);
	if (kind) {
		(void)fflush(app->out);
		say_note(app->err,
			"%s answers: %s; 'faden config set ai.agent' with a name changes that",
			kind->name, why);
	}
	return 0;
}

/* Two that change the file at once take turns: each sees what the other wrote. */
static int edit_file(struct app *app, enum setting_id id, struct sv given, struct err *reterr)
{
	const char *file = app->paths.config_file;
	AUTO_FREE char *folder = path_folder(file);
	AUTO_FREE char *lock_path = path_join(app->paths.state_dir, "config.lock");
	const struct lock_wait wait = app_wait(app);
	AUTO_CLOSE int lock = -1;
	AUTO_STR text = STR_INIT;
	AUTO_STR changed = STR_INIT;
	int r = file_mkdirs(app->paths.state_dir, reterr);

	if (r == 0)
		r = file_mkdirs(folder, reterr);
	if (r == 0)
		r = file_lock(lock_path, &wait, &lock, reterr);
	if (r == 0)
		r = file_read(file, CONFIG_BYTES_MAX, &text, reterr);
	if (r == -ENOENT)
		r = 0;
	if (r == 0)
		r = config_edit(str_sv(&text), file, id, given, app->paths.home, &changed, reterr);
	if (r == 0 && changed.len > CONFIG_BYTES_MAX)
		r = err_set(reterr, ERR_LIMIT, "%s: larger than %d bytes", file, CONFIG_BYTES_MAX);
	return r < 0 ? r : file_replace(file, str_sv(&changed), 0, reterr);
}

/* The words behind the name: one as the environment would have it, several as the elements of a
 * list. */
static int set(
	struct app *app, const struct config_opts *opts, int argc, char **argv, struct err *reterr)
{
	enum setting_id id = 0;
	AUTO_STR given = STR_INIT;
	int r = find_setting(argv[0], &id, reterr);

	if (r < 0)
		return r;
	if (argc < 2) {
		AUTO_STR choices = STR_INIT;
		settings_choices(&choices, id);
		if (choices.len == 0)
			return err_set(reterr, ERR_USAGE,
				"which value? 'faden config get %s' shows the one it has", argv[0]);
		/* Of other spellings the first is the one that is shown. */
		AUTO_STR named = STR_INIT;
		struct sv rest = str_sv(&choices), spellings, first;
		while (sv_split(&rest, '|', &spellings))
			if (sv_split(&spellings, '=', &first))
				str_addf(&named, "%s%.*s", named.len ? ", " : "", SV_ARG(first));
		return err_set(
			reterr, ERR_USAGE, "which value? %s is one of %s", argv[0], named.buf);
	}
	if (argc > 2 && settings_row(id).kind != SETTING_LIST)
		return err_set(reterr, ERR_USAGE,
			"%s takes one value: put '%s …' into quotation marks", argv[0], argv[1]);
	if (settings_row(id).kind == SETTING_LIST && argc == 2 && argv[1][0] == '[')
		return err_set(reterr, ERR_USAGE,
			"elements are given one by one or with commas between them, without "
			"brackets: "
			"faden config set %s ONE TWO",
			argv[0]);
	for (int i = 1; argc > 2 && i < argc; i++)
		if (strchr(argv[i], ','))
			return err_set(reterr, ERR_USAGE,
				"'%s' has a comma, which separates elements: write it into the "
				"file "
				"('faden config path')",
				argv[i]);
	for (int i = 1; i < argc; i++)
		str_addf(&given, "%s%s", i > 1 ? "," : "", argv[i]);
	r = edit_file(app, id, str_sv(&given), reterr);
	if (r == 0)
		r = app_load_settings(app, reterr);
	if (r < 0)
		return r;
	if (app->settings->origins[id].source == SETTING_ENVIRONMENT)
		say_note(app->err, "the environment overrides it; it is in the file all the same");
	if (opts->json)
		return show_one(app, opts, argv[0], reterr);
	print_setting(app, id);
	return 0;
}

/* A keyword that a list before its own takes away. */
static void find_shadowed(const struct settings *s, struct findings *findings)
{
	struct utterances *rules = utterances_new(s);

	for (enum utterance_kind kind = 0; kind < UTTERANCE_COMMANDS; kind++) {
		const struct keywords *k = utterance_keywords(s, kind);
		for (size_t i = 0; i < k->texts.n; i++) {
			struct utterance u;
			utterance_judge(rules, sv_of(k->texts.v[i]), &u);
			if (u.kind != kind)
				findings_add(findings, s->origins[utterance_setting(kind)].line,
					"the %s keyword '%s' is never reached: it is taken as %s",
					utterance_kind_name(kind), k->texts.v[i],
					utterance_kind_name(u.kind));
		}
	}
	utterances_free(rules);
}

static void print_findings(FILE *out, const struct findings *f, const char *file, bool missing)
{
	vec_each (&f->all, one) {
		AUTO_STR line = STR_INIT;
		config_finding_print(&line, one, file);
		say_line(out, "%s", line.buf);
	}
	if (f->all.n == 0)
		say_line(out, "%s: %s", file,
			missing ? "there is none, so the defaults hold" : "ok");
}

static void print_findings_json(FILE *out, const struct findings *f, const char *file, bool missing)
{
	AUTO_STR text = STR_INIT;
	struct jw w = JW_INIT(&text);

	jw_object(&w);
	jw_put_cstr(&w, "path", file);
	jw_put_bool(&w, "exists", !missing);
	jw_put_bool(&w, "ok", f->all.n == 0);
	jw_key(&w, "findings");
	jw_array(&w);
	vec_each (&f->all, one) {
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
	say_json(out, str_sv(&text));
	say_bytes(out, SV("\n"));
}

static int check(
	struct app *app, const struct config_opts *opts, const char *given, struct err *reterr)
{
	CLEANUP(findings_release) struct findings all = FINDINGS_INIT;
	const char *file = given ? given : app->paths.config_file;
	AUTO_STR text = STR_INIT;

	settings_free(app->settings);
	app->settings = settings_new(app->paths.home);
	int r = file_read(file, CONFIG_BYTES_MAX, &text, reterr);
	bool missing = r == -ENOENT && !given && !app->config_given;
	if (missing)
		r = 0;
	if (r == 0)
		r = config_parse(app->settings, str_sv(&text), file, &all, &all, reterr);
	if (r == 0)
		r = settings_from_environment(app->settings, env_all(), &all, reterr);
	if (r < 0)
		return r;
	find_shadowed(app->settings, &all);
	(opts->json ? print_findings_json : print_findings)(app->out, &all, file, missing);
	return all.all.n == 0 ? 0 : err_exit_status(ERR_INPUT);
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
	if (sv_is(verb, "set") && argc >= 2)
		return set(app, opts, argc - 1, argv + 1, reterr);
	if (sv_is(verb, "check") && argc <= 2)
		return check(app, opts, argc == 2 ? argv[1] : NULL, reterr);
	if (argc == 1 && sv_is(verb, "path")) {
		AUTO_STR json = STR_INIT;
		struct jw w = JW_INIT(&json);
		jw_string(&w, sv_of(app->paths.config_file));
		if (opts->json)
			print_doc(app, &json);
		else
			say_line(app->out, "%s", app->paths.config_file);
		return 0;
	}
	if (argc == 1 && sv_is(verb, "example") && opts->json)
		return err_set(reterr, ERR_USAGE,
			"'config example' is a file to be written, not JSON: 'faden config --json' "
			"has all settings");
	if (argc == 1 && sv_is(verb, "example")) {
		AUTO_STR text = STR_INIT;
		config_example(&text);
		say_text(app->out, str_sv(&text));
		return 0;
	}
	return err_set(reterr, ERR_USAGE,
		"give nothing, 'get NAME', 'set NAME VALUE', 'check [FILE]', 'path' or 'example'");
}

const struct cmd cmd_config = {
	.name = "config",
	.group = CMD_GROUP_SETUP,
	.summary = "every setting with its value and where it comes from",
	.synopsis = "[get | set | check | path | example] [WORD…]",
	.min_args = 0,
	.max_args = CMD_ANY,
	.needs = CMD_NO_SETTINGS,
	.words = CMD_WORDS_FILE,
	.verbs = config_verbs,
	.opts = config_options,
	.opts_size = sizeof(struct config_opts),
	.run = run_config,
};
