/*
 * What the agent calls at every prompt. A prompt that is none of ours must cost next to nothing:
 * no settings, no store, no state folder are looked at before it is one.
 *
 * An agent takes a failing hook for a veto or shows it to the user; whatever goes wrong here ends
 * with status 0 and a line in the log.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/suggest.h"
#include "cli/cmd.h"
#include "cli/hook.h"
#include "cli/make.h"
#include "cli/print.h"
#include "config/settings.h"
#include "keep/told.h"
#include "os/file.h"
#include "strategy/rollover.h"

static const struct opt hook_options[] = {
	OPT_AGENT(struct hook_options, agent, agent_has_hooks,
		"install, status, remove: whose settings, @; without it the first of them"),
	OPT_FLAG(0, "project", struct hook_options, project,
		"install, status, remove: the settings of this folder, not the user's"),
	OPT_FLAG(0, "json", struct hook_options, json, "status: one object for programs"),
	OPT_END,
};

enum { HOOK_EVENTS = 5 }; /* of the verbs, the first, are the agent's */

static const char *const hook_verbs[] = { "user-prompt-submit", "session-start", "pre-compact",
	"stop", "session-end", "install", "status", "remove", NULL };

/* ---- input ---- */

/* All of it is read, so that the agent's write does not fail; what is too much is let go. */
static bool read_input(int fd, struct str *out)
{
	enum { PIECE = 64 * 1024 };
	char buf[PIECE];
	ssize_t n;

	str_init_max(out, HOOK_INPUT_MAX);
	while ((n = read(fd, buf, sizeof(buf))) > 0 || (n < 0 && errno == EINTR))
		if (n > 0)
			str_add(out, sv_make(buf, (size_t)n));
	return n == 0 && !str_full(out);
}

static void log_failure(struct app *app, const char *what, const char *why)
{
	if (app_state(app, NULL) >= 0)
		log_write(&app->log, LOG_ERROR, "hook: %s: %s", what, why);
}

static bool parse_input(struct app *app, const char *event, struct str *text, struct hook_input *in)
{
	struct err err = ERR_INIT;

	if (!read_input(app->in, text)) {
		log_failure(app, event, "the input cannot be read, or is too long");
		return false;
	}
	if (hook_parse(str_sv(text), in, &err) < 0) {
		log_failure(app, event, err.msg);
		return false;
	}
	return true;
}

/* What is wrong with the settings stops nothing here, but must not stay unseen. */
static bool load_settings(struct app *app, const char *event)
{
	struct err err = ERR_INIT;

	if (app_load_settings(app, &err) >= 0)
		return true;
	log_failure(app, event, err.msg);
	return false;
}

/* ---- a prompt ---- */

static void on_prompt(struct app *app, const struct hook_input *in)
{
	AUTO_STR rest = STR_INIT;
	AUTO_STR reason = STR_INIT;
	AUTO_STR answer = STR_INIT;
	enum hook_word word = hook_word(in, &rest);

	if (word == HOOK_NONE)
		return;
	if (in->session.n == 0) {
		log_failure(app, hook_word_name(word), "the input names no session");
		return;
	}
	(void)load_settings(app, hook_word_name(word));
	hook_answer(app, in, word, str_sv(&rest), &reason);
	hook_block(&answer, str_sv(&reason));
	say_json(app->out, str_sv(&answer));
}

/* ---- a session starts ---- */

enum { TOLD_WITHIN = 256 * 1024 }; /* bytes at either end where the block may stand already */

static bool holds_block(int fd, off_t at)
{
	AUTO_FREE char *buf = xmalloc(TOLD_WITHIN);
	ssize_t n = pread(fd, buf, TOLD_WITHIN, at);

	return n > 0 && sv_find(sv_make(buf, (size_t)n), SV(BRIEF_LINEAGE_BEGIN), NULL);
}

/* What was given once is in the session file and is sent again with it, until a compaction. */
static bool told_already(const char *path, const struct hook_input *in)
{
	AUTO_CLOSE int fd = file_open(path, NULL, NULL);
	off_t size = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);

	if (size <= 0 || sv_is(in->source, "compact"))
		return false;
	return holds_block(fd, 0) || (size > TOLD_WITHIN && holds_block(fd, size - TOLD_WITHIN));
}

static int tell_lineage(struct app *app, const struct hook_input *in, struct err *reterr)
{
	AUTO_STR path = STR_INIT;
	AUTO_STR block = STR_INIT;
	AUTO_STR answer = STR_INIT;
	AUTO_SESSION_ROW row = SESSION_ROW_INIT;
	AUTO_LINEAGE chain = LINEAGE_INIT;
	struct store *store;
	int r = app_store(app, &store, reterr);

	if (r >= 0 && (!hook_transcript(in, &path) || access(path.buf, R_OK) != 0))
		return 0; /* a new session has no file yet, and no parent */
	if (r >= 0)
		r = catalogue_resolve(
			store, app->homes, app->n_homes, path.buf, &row, NULL, reterr);
	if (r >= 0)
		r = lineage_chain(store, app->homes, app->n_homes, &row, &chain, reterr);
	if (r < 0 || chain.nodes.n < 2 || told_already(path.buf, in))
		return r;
	chain.nodes.n--; /* the block names the session itself at its end */
	rollover_lineage_block(&chain, path.buf, &block);
	chain.nodes.n++;
	hook_context(&answer, "SessionStart", str_sv(&block));
	say_json(app->out, str_sv(&answer));
	return 0;
}

static void on_start(struct app *app, const struct hook_input *in)
{
	struct err err = ERR_INIT;

	if (!load_settings(app, "session-start") || !app->settings->hook_lineage)
		return;
	if (tell_lineage(app, in, &err) < 0)
		log_failure(app, "session-start", err.msg);
}

/* ---- a context is compacted ---- */

/* The agent keeps the whole in its file, but deletes old files one day. */
static void on_compact(struct app *app, const struct hook_input *in)
{
	AUTO_STR path = STR_INIT;
	struct err err = ERR_INIT;
	char key[ARCHIVE_KEY_MAX];

	(void)load_settings(app, "pre-compact");
	if (!hook_transcript(in, &path)) {
		log_failure(app, "pre-compact", "the input names no session file");
		return;
	}
	struct store *store;
	int r = app_store(app, &store, &err);
	if (r >= 0) {
		const struct archive archive = app_archive(app);
		r = archive_keep(&archive, path.buf, ARCHIVE_GROWING, key, &err);
	}
	if (r < 0)
		log_failure(app, "pre-compact", err.msg);
}

/* ---- an answer is there, or a session ends ---- */

/* Only noted: the agent waits for us, and the user for the agent. */
static void on_end(struct app *app, const char *event, const struct hook_input *in)
{
	static const char *const words[] = { "watch", "--told", NULL };
	AUTO_STR path = STR_INIT;
	struct err err = ERR_INIT;

	if (!load_settings(app, event) || !app->settings->hook_keep ||
		!hook_transcript(in, &path) || access(path.buf, R_OK) != 0)
		return;
	int r = app_state(app, &err);
	if (r >= 0)
		r = told_add(app->paths.state_dir, path.buf, &err);
	if (r > 0)
		app_start(app, words);
	else if (r < 0)
		log_failure(app, event, err.msg);
}

/* ---- the command ---- */

static int on_event(struct app *app, const char *event)
{
	AUTO_STR text = STR_INIT;
	struct hook_input in;

	if (!parse_input(app, event, &text, &in))
		return 0;
	if (strcmp(event, "user-prompt-submit") == 0)
		on_prompt(app, &in);
	else if (strcmp(event, "session-start") == 0)
		on_start(app, &in);
	else if (strcmp(event, "pre-compact") == 0)
		on_compact(app, &in);
	else
		on_end(app, event, &in);
	return 0;
}

/* A name that an agent may run some day: its events are words joined by hyphens or capitals, but
 * for a few. What people mistype is one plain word. */
static bool may_be_event(const char *verb)
{
	static const char *const single[] = { "notification", "setup", "interrupt" };

	for (size_t i = 0; i < ARRAY_LEN(single); i++)
		if (strcmp(verb, single[i]) == 0)
			return true;
	for (const char *p = verb; *p; p++)
		if (*p == '-' || *p == '_' || (*p >= 'A' && *p <= 'Z'))
			return true;
	return false;
}

static int unknown(struct app *app, const char *verb, struct err *reterr)
{
	struct suggest near = SUGGEST_INIT(sv_of(verb));

	for (size_t i = HOOK_EVENTS; hook_verbs[i]; i++)
		suggest_offer(&near, hook_verbs[i]);
	if (app->in_tty || near.best || !may_be_event(verb))
		return err_set(reterr, ERR_USAGE,
			"there is no 'hook %s'%s%s%s; known are user-prompt-submit, session-start, "
			"pre-compact, stop, session-end, install, status and remove",
			verb, SUGGEST_ARG(near.best));
	/* An agent would take the status of a usage error for a veto. */
	log_failure(app, verb, "there is no such hook");
	return 0;
}

static int run_hook(struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	const struct hook_options *opts = options;
	const char *verb = argv[0];
	bool changes = strcmp(verb, "install") == 0 || strcmp(verb, "remove") == 0;

	(void)argc;
	if (changes && opts->json)
		return err_set(reterr, ERR_USAGE,
			"'hook %s' has no JSON: 'faden hook status --json' says what is installed",
			verb);
	if (strcmp(verb, "install") == 0)
		return hook_install(app, options, reterr);
	if (strcmp(verb, "remove") == 0)
		return hook_remove(app, options, reterr);
	if (strcmp(verb, "status") == 0)
		return hook_status(app, options, reterr);
	for (size_t i = 0; i < HOOK_EVENTS; i++)
		if (strcmp(verb, hook_verbs[i]) == 0)
			return on_event(app, verb);
	return unknown(app, verb, reterr);
}

const struct cmd cmd_hook = {
	.name = "hook",
	.group = CMD_GROUP_CONTEXT,
	.summary = "the agent's hooks: >resume, >continue, >handoff and others in a prompt",
	.synopsis = "install | status | remove | EVENT",
	.min_args = 1,
	.max_args = 1,
	.needs = CMD_NO_SETTINGS,
	.verbs = hook_verbs,
	.opts = hook_options,
	.opts_size = sizeof(struct hook_options),
	.run = run_hook,
};
