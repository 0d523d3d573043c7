/*
 * Where a sentence would go, and why. Nothing is run but the question to a judge, where the
 * settings name one; nothing is stored.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "assist/decide.h"
#include "assist/kit.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/front.h"
#include "cli/print.h"
#include "eval/stdio.h"
#include "os/file.h"
#include "ui/table.h"
#include "ui/term.h"
#include "view/json.h"
#include "json/jsonl.h"

struct route_cmd_opts {
	const char *profile;
	const char *replay;
	bool stdio;
	bool json;
};

static const struct opt route_options[] = {
	OPT_FLAG(0, "json", struct route_cmd_opts, json, "the decision as one JSON object"),
	OPT_STRING(0, "profile", struct route_cmd_opts, profile, "NAME", "decide as faden or seed"),
	OPT_STRING(0, "replay", struct route_cmd_opts, replay, "FILE",
		"decide the recorded histories of a JSON document; one answer a line"),
	OPT_FLAG(0, "stdio", struct route_cmd_opts, stdio,
		"route for another program: protocol routing-eval/1 on standard input and output"),
	OPT_END,
};

/* ---- other programs ---- */

static int print_answer(void *data, struct sv json, struct err *reterr)
{
	struct app *app = data;

	(void)reterr;
	say_json(app->out, json);
	say_bytes(app->out, SV("\n"));
	return 0;
}

static int replay(struct app *app, struct router *r, const char *path, struct err *reterr)
{
	AUTO_STR file = STR_INIT;
	int n = file_read(path, ROUTE_REPLAY_MAX, &file, reterr);

	return n < 0 ? n : route_replay(r, str_sv(&file), print_answer, app, reterr);
}

static int serve(struct app *app, struct router *r, struct err *reterr)
{
	struct route_stdio s;
	struct jsonl_opts opts = { .line_max = ROUTE_LINE_MAX };
	struct jsonl *in = jsonl_new(app->in, &opts);
	struct jsonl_line line;
	int n = 0;

	route_stdio_init(&s, r);
	while (n >= 0 && (n = jsonl_next(in, &line, reterr)) > 0) {
		AUTO_STR answer = STR_INIT;
		struct err bad = ERR_INIT;
		if (sv_trim(line.text).n == 0)
			continue;
		/* A line that is no order is told and passed over: the others still count. */
		if (route_stdio_line(&s, line.text, &answer, &bad) < 0)
			say_note(app->err, "route: %s", bad.msg);
		if (answer.len == 0)
			continue;
		print_doc(app, &answer);
		if (fflush(app->out) != 0)
			n = err_errno(reterr, errno, "standard output");
	}
	route_stdio_release(&s);
	jsonl_free(in);
	return n;
}

/* ---- people ---- */

static const char a_new_one[] = "a new conversation";

static void print_object(struct app *app, const struct decision *d, const struct judgement *judged)
{
	AUTO_STR json = STR_INIT;
	struct jw w = JW_INIT(&json);

	view_json_decision(&w, d, judged);
	print_doc(app, &json);
}

/* What it would be otherwise, and how much less likely. */
static void print_next(struct term *term, const struct decision *d)
{
	const struct conv *next = d->next == ROUTE_NONE ? NULL : &d->convs.v[d->next];

	if (!decision_has_next(d))
		return;
	term_puts(term, "Next: ");
	term_text_line(term, sv_of(next ? conv_label(next) : a_new_one));
	term_putf(term, " (%.3f), ", next ? d->candidates[d->next].score : d->fresh);
	if (d->ahead < 0)
		term_puts(term, "too little to go there");
	else
		term_putf(term, "%.3f behind%s", d->ahead, d->close ? ": that is close" : "");
	term_newline(term);
}

static void add_new(struct table *t, const struct decision *d)
{
	bool chosen = d->what == DECIDED_TURN && !d->conv.id[0] && !is_member(&d->conv);

	table_add(t, sv_of(chosen ? "*" : ""));
	table_addf(t, "%.3f", d->fresh);
	for (size_t i = 0; i < 4; i++)
		table_add(t, SV(""));
	table_add(t, sv_of(a_new_one));
	table_add(t, chosen && d->by == BY_ROUTER ? sv_of(d->reason) : SV(""));
}

static void add_row(
	struct table *t, const struct conv *c, const struct route_candidate *k, bool chosen)
{
	char ago[CLOCK_TEXT_MAX];

	clock_format_ago(c->age_ms, ago);
	table_add(t, sv_of(chosen ? "*" : k->routable ? "" : "-"));
	table_addf(t, "%.3f", k->score);
	table_addf(t, "%.2f", k->keyword);
	table_addf(t, "%.2f", k->recency);
	table_addf(t, "%.2f", k->continuation);
	table_add(t, sv_of(ago));
	table_add(t, sv_of(conv_label(c)));
	table_add(t, sv_of(k->reason));
}

static int print_text(struct app *app, const struct decision *d, const struct judgement *judged,
	struct err *reterr)
{
	static const struct table_column columns[] = { { .title = "" },
		{ .title = "SCORE", .right = true }, { .title = "WORDS", .right = true },
		{ .title = "RECENT", .right = true }, { .title = "LEANS", .right = true },
		{ .title = "AGE" }, { .title = "CONVERSATION", .shrink = true },
		{ .title = "WHY", .shrink = true } };
	const struct term_opts opts = app_screen(app, fileno(app->out));
	struct term term;
	struct table table;

	term_init(&term, &opts);
	table_init(&table, columns, ARRAY_LEN(columns));
	for (size_t i = 0; i < d->convs.n; i++)
		add_row(&table, &d->convs.v[i], &d->candidates[i],
			!d->waits && decision_goes_to(d, &d->convs.v[i]));
	if (d->fresh >= 0 && d->convs.n)
		add_new(&table, d);
	if (d->convs.n)
		table_print(&table, &term);
	term_puts(&term, view_action(d));
	if (d->conv.id[0] || is_member(&d->conv)) {
		term_puts(&term, " ");
		term_text_line(&term, sv_of(conv_label(&d->conv)));
	}
	if (d->by == BY_ROUTER || d->by == BY_JUDGE)
		term_putf(&term, d->by_meaning ? " (%.3f, by words and meaning)" : " (%.3f)",
			d->confidence);
	term_puts(&term, ": ");
	term_text_line(&term, sv_of(d->reason));
	term_newline(&term);
	print_next(&term, d);
	AUTO_STR asked = STR_INIT;
	judge_tell(judged, d->language, &asked);
	if (asked.len) {
		term_text_line(&term, str_sv(&asked));
		term_newline(&term);
	}
	if (d->by == BY_CORRECTION && d->prompt.len) {
		term_puts(&term, "It would say: ");
		term_text_line(&term, str_sv(&d->prompt));
		term_newline(&term);
	}
	if (d->task == CONV_PLAN)
		term_puts(&term, "It plans.\n");
	int r = term_flush(&term, reterr);
	table_release(&table);
	term_release(&term);
	return r;
}

/* Whoever has installed it believes that it counts. */
static void tell_failure_of(struct app *app, const struct meaning *m)
{
	const char *why = m ? meaning_failure(m) : NULL;

	if (why)
		say_note(app->err, "route: by words alone: %s", why);
}

/* What `faden ask` would do with these words. */
static int explain(struct app *app, const struct route_cmd_opts *opts, int argc, char **argv,
	struct err *reterr)
{
	CLEANUP(kit_close) struct kit kit = { .dir = NULL };
	struct kit_opts want = front_kit_opts(app);
	struct judgement judged = { .end = JUDGE_UNASKED };
	struct decision d;
	AUTO_STR text = STR_INIT;

	for (int i = 0; i < argc; i++)
		str_addf(&text, "%s%s", i ? " " : "", argv[i]);
	want.profile = opts->profile;
	int r = kit_open_deciding(&want, &kit, reterr);
	if (r < 0)
		return r;
	struct decide_opts how = kit_decide_opts(&kit, true);
	const struct request req = { .text = str_sv(&text) };
	decision_init(&d);
	struct err err = ERR_INIT;
	if (decide_refresh(&how, req.text, &err) < 0)
		log_write(&app->log, LOG_WARN, "sessions: %s", err.msg);
	r = decide(&how, &req, &d, reterr);
	if (r == 0)
		r = front_judge(&kit, &how, req.text, &d, &judged, reterr);
	if (r == 0 && judged.end != JUDGE_UNASKED) {
		decision_release(&d);
		decision_init(&d);
		how.judged = &judged;
		r = decide(&how, &req, &d, reterr);
	}
	if (r == 0 && opts->json)
		print_object(app, &d, &judged);
	else if (r == 0)
		r = print_text(app, &d, &judged, reterr);
	tell_failure_of(app, kit.meaning);
	decision_release(&d);
	free(judged.place);
	return r;
}

static int run_route(
	struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	const struct route_cmd_opts *opts = options;
	struct router *router = NULL;
	struct store *store;
	int r;

	if ((argc > 0) + opts->stdio + (opts->replay != NULL) != 1)
		return err_set(reterr, ERR_USAGE, "give a TEXT, or one of --replay and --stdio");
	if (argc > 0) {
		r = app_store(app, &store, reterr);
		return r < 0 ? r : explain(app, opts, argc, argv, reterr);
	}
	struct meaning *network = meaning_new(app->paths.models_dir);
	const struct route_meaning means = kit_meaning(network, true);
	bool meant = opts->stdio && meaning_installed(network) && meaning_open(network, NULL) == 0;
	tell_failure_of(app, network);
	r = kit_router(app->settings, opts->profile, meant ? &means : NULL, &router, reterr);
	if (r == 0)
		r = opts->replay ? replay(app, router, opts->replay, reterr)
				 : serve(app, router, reterr);
	router_free(router);
	meaning_free(network);
	return r < 0 ? r : 0;
}

const struct cmd cmd_route = {
	.name = "route",
	.group = CMD_GROUP_TALK,
	.summary = "where a sentence would go, and why",
	.synopsis = "[TEXT…]",
	.max_args = CMD_ANY,
	.opts = route_options,
	.opts_size = sizeof(struct route_cmd_opts),
	.run = run_route,
};
