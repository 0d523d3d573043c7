/*
 * The original behind a placeholder.
 */
#include "base/utf8.h"
#include "cli/cmd.h"
#include "cli/make.h"
#include "cli/print.h"
#include "strategy/original.h"
#include "view/json.h"

struct recall_opts {
	bool raw;
	bool json;
};

static const struct opt recall_options[] = {
	OPT_FLAG(0, "raw", struct recall_opts, raw, "as it stands in the file: JSON"),
	OPT_FLAG(0, "json", struct recall_opts, json, "an object for programs"),
	OPT_END,
};

static int print_text(struct app *app, enum recall_kind kind, struct sv text, struct err *reterr)
{
	AUTO_STR clean = STR_INIT;

	if (app->out_tty && kind == RECALL_IMAGE)
		return err_set(reterr, ERR_USAGE,
			"the original is a picture or document: send it to a file");
	if (app->out_tty) {
		utf8_scrub(&clean, text);
		text = str_sv(&clean);
	}
	say_bytes(app->out, text);
	if (app->out_tty && !sv_ends(text, SV("\n")))
		say_bytes(app->out, SV("\n"));
	return 0;
}

static int run_recall(
	struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	const struct recall_opts *opts = options;
	CLEANUP(recall_found_release) struct recall_found found = RECALL_FOUND_INIT;
	AUTO_STR raw = STR_INIT;
	AUTO_STR text = STR_INIT;
	const struct archive archive = app_archive(app);

	(void)argc;
	int r = recall_get(&archive, sv_of(argv[0]), &raw, &found, reterr);
	if (r < 0)
		return r;
	enum recall_kind kind = opts->raw ? RECALL_JSON : found.place.kind;
	if (!original_decode(kind, str_sv(&raw), &text))
		return err_set(
			reterr, ERR_INPUT, "the original is damaged JSON; --raw shows it as it is");
	if (!opts->json)
		return print_text(app, kind, str_sv(&text), reterr);
	AUTO_STR out = STR_INIT;
	struct jw w = JW_INIT(&out);
	view_json_recall(&w, &found, str_sv(&raw), str_sv(&text));
	print_doc(app, &out);
	return 0;
}

const struct cmd cmd_recall = {
	.name = "recall",
	.group = CMD_GROUP_CONTEXT,
	.summary = "print the original behind a placeholder",
	.synopsis = "REF",
	.min_args = 1,
	.max_args = 1,
	.needs = CMD_STORE,
	.words = CMD_WORDS_TEXT,
	.opts = recall_options,
	.opts_size = sizeof(struct recall_opts),
	.run = run_recall,
};
