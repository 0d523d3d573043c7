#include "assist/kit.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "cli/cmd.h"
#include "json/write.h"

struct commands_opts {
	bool json;
};

static const struct opt commands_options[] = {
	OPT_FLAG(0, "json", struct commands_opts, json, "one JSON object for programs"),
	OPT_END,
};

/* ---- what a text is ---- */

static void print_text(FILE *out, const struct utterance *u)
{
	AUTO_STR reason = STR_INIT;
	utf8_scrub_line(&reason, sv_of(u->reason));
	(void)fprintf(out, "%s: %s\n", utterance_kind_name(u->kind), reason.buf);
}

static void print_json(FILE *out, const struct utterance *u)
{
	AUTO_STR json = STR_INIT;
	struct jw w = JW_INIT(&json);
	jw_object(&w);
	jw_put_cstr(&w, "command", utterance_kind_name(u->kind));
	jw_put_cstr(&w, "keyword", u->keyword);
	jw_put_cstr(&w, "language", u->lang && *u->lang ? u->lang : NULL);
	jw_put_cstr(&w, "reason", u->reason);
	jw_end(&w);
	(void)fprintf(out, "%s\n", json.buf);
}

static int judge(struct app *app, const struct commands_opts *opts, int argc, char **argv,
	struct err *reterr)
{
	AUTO_STR text = STR_INIT;
	for (int i = 0; i < argc; i++)
		str_addf(&text, "%s%s", i ? " " : "", argv[i]);
	struct utterances *rules = NULL;
	int r = kit_utterances(app->settings, &rules, reterr);
	if (r < 0)
		return r;
	struct utterance u;
	utterance_judge(rules, str_sv(&text), &u);
	if (opts->json)
		print_json(app->out, &u);
	else
		print_text(app->out, &u);
	utterances_free(rules);
	return 0;
}

/* ---- what there is ---- */

static void list_json(struct app *app)
{
	AUTO_STR json = STR_INIT;
	struct jw w = JW_INIT(&json);
	jw_object(&w);
	for (int kind = 0; kind < UTTERANCE_COMMANDS; kind++) {
		const struct keywords *k = kit_keywords(app->settings, (enum utterance_kind)kind);
		jw_key(&w, utterance_kind_name((enum utterance_kind)kind));
		jw_array(&w);
		for (size_t i = 0; i < k->texts.n; i++) {
			jw_object(&w);
			jw_put_cstr(&w, "keyword", k->texts.v[i]);
			jw_put_cstr(&w, "language", *k->langs.v[i] ? k->langs.v[i] : NULL);
			jw_end(&w);
		}
		jw_end(&w);
	}
	jw_end(&w);
	(void)fprintf(app->out, "%s\n", json.buf);
}

static void list_text(struct app *app)
{
	for (int kind = 0; kind < UTTERANCE_COMMANDS; kind++) {
		const struct keywords *k = kit_keywords(app->settings, (enum utterance_kind)kind);
		for (size_t i = 0; i < k->texts.n; i++) {
			AUTO_STR text = STR_INIT;
			utf8_scrub_line(&text, sv_of(k->texts.v[i]));
			(void)fprintf(app->out, "%-8s %-3s %s\n",
				utterance_kind_name((enum utterance_kind)kind),
				*k->langs.v[i] ? k->langs.v[i] : "-", text.buf);
		}
	}
}

static int run_commands(
	struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	const struct commands_opts *opts = options;
	if (argc > 0)
		return judge(app, opts, argc, argv, reterr);
	if (opts->json)
		list_json(app);
	else
		list_text(app);
	return 0;
}

const struct cmd cmd_commands = {
	.name = "commands",
	.group = CMD_GROUP_SETUP,
	.summary = "what an utterance is to the assistant, or the words it acts on",
	.synopsis = "[TEXT…]",
	.min_args = 0,
	.max_args = CMD_ANY,
	.opts = commands_options,
	.opts_size = sizeof(struct commands_opts),
	.run = run_commands,
};
