#include "assist/utterance.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "cli/cmd.h"
#include "cli/print.h"
#include "json/write.h"

struct commands_opts {
	bool json;
};

static const struct opt commands_options[] = {
	OPT_FLAG(0, "json", struct commands_opts, json, "one JSON object for programs"),
	OPT_END,
};

/* What an utterance is. */
static void judge(struct app *app, const struct commands_opts *opts, int argc, char **argv)
{
	struct utterances *rules = utterances_new(app->settings);
	struct utterance u;
	AUTO_STR text = STR_INIT;
	AUTO_STR out = STR_INIT;
	struct jw w = JW_INIT(&out);

	for (int i = 0; i < argc; i++)
		str_addf(&text, "%s%s", i ? " " : "", argv[i]);
	utterance_judge(rules, str_sv(&text), &u);
	if (opts->json) {
		jw_object(&w);
		jw_put_cstr(&w, "command", utterance_kind_name(u.kind));
		jw_put_cstr(&w, "keyword", u.keyword);
		jw_put_cstr(&w, "language", u.lang && *u.lang ? u.lang : NULL);
		jw_put_cstr(&w, "reason", u.reason);
		jw_end(&w);
		print_doc(app, &out);
	} else {
		say_line(app->out, "%s: %s", utterance_kind_name(u.kind), u.reason);
	}
	utterances_free(rules);
}

/* The words there are. */
static void list(struct app *app, const struct commands_opts *opts)
{
	AUTO_STR json = STR_INIT;
	struct jw w = JW_INIT(&json);

	jw_object(&w);
	for (enum utterance_kind kind = 0; kind < UTTERANCE_COMMANDS; kind++) {
		const struct keywords *k = utterance_keywords(app->settings, kind);
		jw_key(&w, utterance_kind_name(kind));
		jw_array(&w);
		for (size_t i = 0; i < k->texts.n; i++) {
			const char *lang = k->langs.v[i];
			AUTO_STR text = STR_INIT;
			jw_object(&w);
			jw_put_cstr(&w, "keyword", k->texts.v[i]);
			jw_put_cstr(&w, "language", *lang ? lang : NULL);
			jw_end(&w);
			utf8_scrub_line(&text, sv_of(k->texts.v[i]));
			if (!opts->json)
				say_line(app->out, "%-8s %-3s %s", utterance_kind_name(kind),
					*lang ? lang : "-", text.buf);
		}
		jw_end(&w);
	}
	jw_end(&w);
	if (opts->json)
		print_doc(app, &json);
}

static int run_commands(
	struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	(void)reterr;
	if (argc > 0)
		judge(app, options, argc, argv);
	else
		list(app, options);
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
