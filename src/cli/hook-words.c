/*
 * What our words in a prompt do. Each answer is what the user reads in place of the agent's.
 */
#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "base/shell.h"
#include "base/str.h"
#include "base/utf8.h"
#include "cli/env.h"
#include "cli/hook.h"
#include "cli/make.h"
#include "lineage/lineage.h"
#include "os/clip.h"
#include "os/path.h"
#include "strategy/advise.h"
#include "strategy/handoff.h"
#include "strategy/trim.h"
#include "ui/format.h"
#include "view/advice.h"
#include "view/lineage.h"

enum { WORDS_SHOWN = 1000 }; /* bytes of the user's words that a command repeats */

struct answering {
	struct app *app;
	const struct hook_input *in;
	char *session;
	struct str transcript, cwd; /* "" when not known */
	struct str *out;
};

static void tell_failure(const struct answering *a, const char *what, const struct err *err)
{
	AUTO_STR line = STR_INIT;

	utf8_scrub_line(&line, sv_of(err->msg));
	str_addf(a->out, "%s: %s\n", what, line.buf);
	if (app_state(a->app, NULL) >= 0)
		/* Its words may be those of the prompt. */
		log_write(&a->app->log, LOG_ERROR, "hook: %s (%s)", what, err_name(err->code));
}

/* ---- going on elsewhere ---- */

static void put_on_clipboard(const struct answering *a)
{
	const struct clip_desktop desktop = {
		.search = a->app->paths.search,
		.wayland_display = env_get("WAYLAND_DISPLAY"),
		.display = env_get("DISPLAY"),
		.envp = env_all(),
	};
	struct err err = ERR_INIT;
	int r = clip_put(sv_of(a->session), &desktop, NULL, &err);

	if (r >= 0)
		str_addf(a->out, "Session id on the clipboard: %s\n", a->session);
	else
		str_addf(a->out, "Session id: %s\n", a->session);
	if (r < 0 && r != ERR_NOTFOUND)
		tell_failure(a, "the clipboard could not be used", &err);
}

static int save_note(
	const struct answering *a, struct sv words, char **ret_path, struct err *reterr)
{
	AUTO_FREE char *folder = path_join(a->app->paths.state_dir, "handoffs");
	AUTO_FREE char *text = xmemdup0(words.p ? words.p : "", words.n);
	const struct handoff note = {
		.folder = folder,
		.session = a->session,
		.transcript = a->transcript.len ? a->transcript.buf : NULL,
		.cwd = a->cwd.len ? a->cwd.buf : NULL,
		.words = text,
		.clock = &a->app->clock,
	};

	return handoff_write(&note, ret_path, reterr);
}

/* The command takes the words along; where they are many, it takes the note that holds them. */
static void add_rollover(const struct answering *a, struct sv words, const char *note)
{
	AUTO_STR clean = STR_INIT;

	str_addf(a->out, "  faden rollover %s", a->session);
	utf8_scrub(&clean, words);
	if (clean.len > WORDS_SHOWN && note) {
		str_clear(&clean);
		str_addf(&clean, "First read the note in %s", note);
	}
	if (clean.len > 0) {
		str_adds(a->out, " --prompt ");
		shell_text(a->out, clean.buf);
	}
	str_addc(a->out, '\n');
}

static void add_commands(
	const struct answering *a, enum hook_word word, struct sv rest, const char *note)
{
	put_on_clipboard(a);
	if (word == HOOK_RESUME)
		str_addf(a->out,
			"To go on with it as it is elsewhere, leave this one first (/exit), then:\n"
			"  faden resume %s\n",
			a->session);
	str_adds(a->out, "To go on in a fresh session that knows where this one stood:\n");
	add_rollover(a, rest, note);
}

static void go_on(const struct answering *a, enum hook_word word, struct sv rest)
{
	AUTO_FREE char *note = NULL;
	struct err err = ERR_INIT;
	bool nothing = a->transcript.len > 0 && handoff_nothing(a->transcript.buf);
	bool noted = !nothing || rest.n > 0;
	int r = noted ? save_note(a, rest, &note, &err) : 0;

	if (nothing)
		str_adds(a->out,
			"Nothing was said in this session yet: there is nothing to resume or to go "
			"on from.\n");
	else
		add_commands(a, word, rest, note);
	if (r < 0)
		tell_failure(a, "the handoff note could not be saved", &err);
	else if (noted)
		str_addf(a->out, "Handoff note: %s\n", note);
}

/* ---- trimming ---- */

static bool is_tools(struct sv word)
{
	for (size_t i = 0; i < word.n; i++)
		if (!isalnum((unsigned char)word.p[i]) && !memchr("_-,", word.p[i], 3))
			return false;
	return word.n > 0 && isalpha((unsigned char)word.p[0]);
}

/* Words behind ">trim": one length, and names of tools. False when one is neither. */
static bool trim_words(struct sv rest, struct trim_opts *opts, struct strv *tools)
{
	struct sv word, name;
	long long length;
	bool given = false;

	while (sv_split(&rest, ' ', &word)) {
		if (word.n == 0)
			continue;
		if (!given && sv_parse_i64(word, &length) && length > 0) {
			opts->threshold = length;
			given = true;
		} else if (is_tools(word)) {
			while (sv_split(&word, ',', &name))
				if (name.n > 0)
					strv_addsv(tools, name);
		} else {
			return false;
		}
	}
	return true;
}

static void tell_trimmed(const struct answering *a, const struct transcript_format *format,
	const struct trim_report *r)
{
	char less[SIZE_TEXT_MAX], of[SIZE_TEXT_MAX];

	const char *resume = agent_of_format(format)->resume;
	size_format_count(r->saved.tokens, less);
	size_format_count(r->before.tokens, of);
	str_addf(a->out,
		"A trimmed copy, %s of %s tokens less (%s); this session stays as it is.\n"
		"Go on with it:\n  %s %s\n",
		less, of, sure_name(r->saved.sure), resume ? resume : "faden resume", r->file.id);
}

/* is_tools() lets no more than plain names through. */
static void tell_unknown(const struct answering *a, const struct strv *unknown)
{
	for (size_t i = 0; i < unknown->n; i++)
		str_addf(a->out, "%s%s",
			i ? ", " : "No tool of this name was used in the session: ", unknown->v[i]);
	if (unknown->n > 0)
		str_addc(a->out, '\n');
}

static int make_trimmed(const struct answering *a, struct trim_opts *opts,
	struct trim_report *report, struct err *reterr)
{
	struct store *store;
	int r = app_store(a->app, &store, reterr);

	if (r >= 0)
		r = transcript_probe(opts->path, &opts->format, reterr);
	if (r < 0)
		return r;
	const struct archive archive = app_archive(a->app);
	return trim_session(opts, &archive, report, reterr);
}

static void trim(const struct answering *a, struct sv rest)
{
	AUTO_STRV tools = STRV_INIT;
	CLEANUP(trim_report_release) struct trim_report report = TRIM_REPORT_INIT;
	struct trim_opts opts = TRIM_OPTS_INIT;
	struct err err = ERR_INIT;

	if (!trim_words(rest, &opts, &tools)) {
		str_adds(a->out,
			">trim [LENGTH] [TOOL,TOOL]: texts of LENGTH characters or more (500), of "
			"these tools only\n");
		return;
	}
	opts.path = a->transcript.buf;
	opts.tools = &tools;
	if (make_trimmed(a, &opts, &report, &err) < 0)
		tell_failure(a, "no trimmed copy was made", &err);
	else
		tell_trimmed(a, opts.format, &report);
	/* none at all is what the failure says */
	if (report.unknown.n < tools.n)
		tell_unknown(a, &report.unknown);
}

/* ---- looking ---- */

static int trace(const struct answering *a, struct lineage *ret, struct err *reterr)
{
	AUTO_SESSION_ROW row = SESSION_ROW_INIT;
	struct store *store;
	const char *spec = a->transcript.len ? a->transcript.buf : a->session;
	int r = app_store(a->app, &store, reterr);

	if (r >= 0)
		r = catalogue_refresh(store, a->app->homes, a->app->n_homes, NULL, NULL, reterr);
	if (r >= 0)
		r = catalogue_resolve(
			store, a->app->homes, a->app->n_homes, spec, &row, NULL, reterr);
	return r < 0 ? r : lineage_trace(store, a->app->homes, a->app->n_homes, &row, ret, reterr);
}

static void show_lineage(const struct answering *a)
{
	AUTO_LINEAGE l = LINEAGE_INIT;
	struct err err = ERR_INIT;
	struct term t;

	if (trace(a, &l, &err) < 0) {
		tell_failure(a, "the lineage cannot be told", &err);
		return;
	}
	term_init_capture(&t, 0, 0, false);
	view_lineage(&t, &l);
	utf8_scrub(a->out, str_sv(&t.buf));
	term_release(&t);
}

static int take_advice(
	const struct answering *a, struct advice *ret, const char **ret_agent, struct err *reterr)
{
	struct advise_opts opts = { .path = a->transcript.buf, .clock = &a->app->clock };
	int r = transcript_probe(opts.path, &opts.format, reterr);

	if (r < 0)
		return r;
	*ret_agent = agent_of_format(opts.format)->name;
	return advise_session(&opts, ret, reterr);
}

static void show_advice(const struct answering *a)
{
	AUTO_ADVICE advice = ADVICE_INIT;
	struct advise_subject subject = { a->session, a->transcript.buf, "", NULL };
	struct err err = ERR_INIT;
	struct term t;

	str_addf(a->out, "How full the context is, and what would help:\n  faden advise %s\n",
		a->session);
	if (take_advice(a, &advice, &subject.agent, &err) < 0) {
		tell_failure(a, "no advice can be given here", &err);
		return;
	}
	term_init_capture(&t, 0, 0, false);
	view_advice(&t, &subject, &advice);
	utf8_scrub(a->out, str_sv(&t.buf));
	term_release(&t);
}

void hook_answer(struct app *app, const struct hook_input *input, enum hook_word word,
	struct sv rest, struct str *out)
{
	struct answering a = {
		.app = app, .in = input, .transcript = STR_INIT, .cwd = STR_INIT, .out = out
	};

	a.session = xmemdup0(input->session.p, input->session.n);
	(void)hook_transcript(input, &a.transcript);
	(void)hook_cwd(input, &a.cwd);
	if (word == HOOK_LINEAGE)
		show_lineage(&a);
	else if (word == HOOK_TRIM)
		trim(&a, rest);
	else if (word == HOOK_ADVISE)
		show_advice(&a);
	else
		go_on(&a, word, rest);
	str_cut(out, sv_trim(str_sv(out)).n);
	free(a.session);
	str_release(&a.transcript);
	str_release(&a.cwd);
}
