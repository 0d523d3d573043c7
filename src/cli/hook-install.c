/*
 * Our hooks in the agent's settings file: looked at, put in, taken out. Claude Code and Codex read
 * the same form.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/hook.h"
#include "os/file.h"
#include "os/path.h"
#include "strategy/hook-settings.h"
#include "json/write.h"

enum { EVENTS_MAX = 8 };

struct installing {
	struct app *app;
	const struct hook_options *opts;
	bool codex; /* else Claude Code */
	char *path; /* of the settings */
	char *backup; /* of what was there before our first hook */
	char *program; /* this faden */
	struct str text; /* "" when there is no file */
	bool existed;
};

static void installing_release(struct installing *i)
{
	free(i->path);
	free(i->backup);
	free(i->program);
	str_release(&i->text);
}

static int find_path(struct installing *i, struct err *reterr)
{
	const struct hook_options *opts = i->opts;
	const struct app *app = i->app;
	i->codex = opts->agent && strcmp(opts->agent, "codex") == 0;
	if (opts->agent && !i->codex && strcmp(opts->agent, "claude") != 0)
		return err_set(
			reterr, ERR_USAGE, "--agent %s: claude and codex have hooks", opts->agent);
	if (opts->project && i->codex)
		return err_set(reterr, ERR_USAGE, "--project is for Claude Code");
	if (opts->project && !app->cwd)
		return err_set(reterr, ERR_INPUT, "the current folder no longer exists");
	if (i->codex)
		i->path = path_join(app_home(app, "codex")->root, "hooks.json");
	else if (opts->project)
		i->path = path_join(app->cwd, ".claude/settings.json");
	else
		i->path = path_join(app_home(app, "claude")->root, "settings.json");
	i->backup = xasprintf("%s.before-faden", i->path);
	return 0;
}

static int read_settings(struct installing *i, struct err *reterr)
{
	str_clear(&i->text);
	int rc = file_read(i->path, HOOK_SETTINGS_MAX, &i->text, reterr);
	i->existed = rc >= 0;
	return rc == -ENOENT ? 0 : rc;
}

static int begin(
	struct installing *i, struct app *app, const struct hook_options *opts, struct err *reterr)
{
	*i = (struct installing){ .app = app, .opts = opts, .text = STR_INIT };
	int rc = find_path(i, reterr);
	if (rc >= 0)
		rc = path_real("/proc/self/exe", &i->program, reterr);
	return rc < 0 ? rc : read_settings(i, reterr);
}

/* One faden at a time: what is read is what is replaced. */
static int lock(struct app *app, int *ret_fd, struct err *reterr)
{
	AUTO_FREE char *path = path_join(app->paths.state_dir, "hook.lock");
	int rc = app_state(app, reterr);
	return rc < 0 ? rc : file_lock(path, true, ret_fd, reterr);
}

/* begin() for a change: what is read under the lock counts. */
static int begin_change(struct installing *i, struct app *app, const struct hook_options *opts,
	int *ret_fd, struct err *reterr)
{
	int rc = begin(i, app, opts, reterr);
	if (rc >= 0)
		rc = lock(app, ret_fd, reterr);
	return rc < 0 ? rc : read_settings(i, reterr);
}

static void say(const struct installing *i, const char *what)
{
	(void)fprintf(i->app->out, "%s: %s\n", i->path, what);
}

/* ---- in ---- */

/* The first backup stays: a later one would hold hooks of ours, or what an earlier remove left. */
static int keep_backup(const struct installing *i, struct err *reterr)
{
	AUTO_STR rest = STR_INIT;
	if (!i->existed || path_exists(i->backup) ||
		hook_settings_remove(str_sv(&i->text), &rest, NULL) != 0)
		return 0;
	return file_replace(i->backup, str_sv(&i->text), 0600, reterr);
}

static int write_settings(const struct installing *i, struct sv fresh, struct err *reterr)
{
	struct sv parent = path_parent(sv_of(i->path));
	AUTO_FREE char *folder = xmemdup0(parent.p, parent.n);
	int rc = file_mkdirs(folder, reterr);
	if (rc >= 0)
		rc = keep_backup(i, reterr);
	return rc < 0 ? rc : file_replace(i->path, fresh, 0, reterr);
}

static void tell_trust(const struct installing *i)
{
	if (i->codex)
		(void)fputs("Codex runs a hook only after you trusted it: start codex and enter "
			    "/hooks\n",
			i->app->out);
}

int hook_install(struct app *app, const struct hook_options *opts, struct err *reterr)
{
	CLEANUP(installing_release) struct installing i = { .text = STR_INIT };
	AUTO_CLOSE int fd = -1;
	AUTO_STR fresh = STR_INIT;
	int rc = begin_change(&i, app, opts, &fd, reterr);
	if (rc < 0)
		return rc;
	rc = hook_settings_install(str_sv(&i.text), i.program, &fresh, reterr);
	if (rc < 0) {
		err_prefix(reterr, "%s", i.path);
		return rc;
	}
	if (rc > 0) {
		rc = write_settings(&i, str_sv(&fresh), reterr);
		if (rc < 0)
			return rc;
		say(&i, "hooks installed");
		if (path_exists(i.backup))
			(void)fprintf(app->out, "What was there before is in %s\n", i.backup);
	} else {
		say(&i, "nothing to change");
	}
	tell_trust(&i);
	return 0;
}

/* ---- out ---- */

/* Whether `rest`, which has no hooks of ours any more, is what an install and a remove make of
 * `before`: then nothing else changed meanwhile. */
static bool is_unchanged(const struct installing *i, struct sv before, struct sv rest)
{
	AUTO_STR with = STR_INIT;
	AUTO_STR without = STR_INIT;
	return hook_settings_install(before, i->program, &with, NULL) > 0 &&
		hook_settings_remove(str_sv(&with), &without, NULL) > 0 &&
		sv_eq(str_sv(&without), rest);
}

static bool is_link(const char *path)
{
	struct stat st;
	return lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

/* A file that only we wrote to goes, and a project's folder that is empty then. */
static int remove_file(const struct installing *i, struct err *reterr)
{
	struct sv parent = path_parent(sv_of(i->path));
	AUTO_FREE char *folder = xmemdup0(parent.p, parent.n);
	if (unlink(i->path) < 0)
		return err_errno(reterr, errno, "%s", i->path);
	if (i->opts->project)
		(void)rmdir(folder);
	say(i, "removed, since nothing but the hooks was in it");
	return 0;
}

/* The bytes from before the install, when there is a backup and nothing else changed. */
static int restore(const struct installing *i, struct sv rest, struct err *reterr)
{
	AUTO_STR before = STR_INIT;
	if (file_read(i->backup, HOOK_SETTINGS_MAX, &before, NULL) < 0 ||
		!is_unchanged(i, str_sv(&before), rest))
		return 0;
	int rc = file_replace(i->path, str_sv(&before), 0, reterr);
	if (rc < 0)
		return rc;
	(void)unlink(i->backup);
	say(i, "hooks removed; it is as it was before they came");
	return 1;
}

static int take_out(const struct installing *i, struct sv rest, struct err *reterr)
{
	int rc = restore(i, rest, reterr);
	if (rc != 0)
		return rc < 0 ? rc : 0;
	if (!path_exists(i->backup) && !is_link(i->path) && is_unchanged(i, SV(""), rest))
		return remove_file(i, reterr);
	rc = file_replace(i->path, rest, 0, reterr);
	if (rc < 0)
		return rc;
	say(i, "hooks removed");
	if (path_exists(i->backup))
		(void)fprintf(i->app->out,
			"It changed since the install; what was there before is in %s\n",
			i->backup);
	return 0;
}

int hook_remove(struct app *app, const struct hook_options *opts, struct err *reterr)
{
	CLEANUP(installing_release) struct installing i = { .text = STR_INIT };
	AUTO_CLOSE int fd = -1;
	AUTO_STR rest = STR_INIT;
	int rc = begin_change(&i, app, opts, &fd, reterr);
	if (rc < 0)
		return rc;
	rc = hook_settings_remove(str_sv(&i.text), &rest, reterr);
	if (rc < 0) {
		err_prefix(reterr, "%s", i.path);
		return rc;
	}
	if (rc > 0)
		return take_out(&i, str_sv(&rest), reterr);
	say(&i, "nothing to change");
	return 0;
}

/* ---- status ---- */

static void print_json(const struct installing *i, const enum hook_state *states)
{
	AUTO_STR out = STR_INIT;
	struct jw w = JW_INIT(&out);
	jw_object(&w);
	jw_put_cstr(&w, "agent", i->codex ? "codex" : "claude");
	jw_put_cstr(&w, "path", i->path);
	jw_put_cstr(&w, "program", i->program);
	jw_key(&w, "hooks");
	jw_object(&w);
	for (size_t k = 0; k < hook_events_n; k++)
		jw_put_cstr(&w, hook_events[k].event, hook_state_name(states[k]));
	jw_end(&w);
	jw_end(&w);
	(void)fprintf(i->app->out, "%s\n", out.buf);
}

static void print_states(const struct installing *i, const enum hook_state *states)
{
	static const char *const words[] = { [HOOK_ABSENT] = "not installed",
		[HOOK_OTHER] = "runs another faden (faden hook install mends it)",
		[HOOK_INSTALLED] = "installed" };
	(void)fprintf(i->app->out, "%s\n", i->path);
	for (size_t k = 0; k < hook_events_n; k++)
		(void)fprintf(i->app->out, "  %-17s %s\n", hook_events[k].event, words[states[k]]);
	tell_trust(i);
}

int hook_status(struct app *app, const struct hook_options *opts, struct err *reterr)
{
	CLEANUP(installing_release) struct installing i = { .text = STR_INIT };
	enum hook_state states[EVENTS_MAX];
	int rc = begin(&i, app, opts, reterr);
	if (rc < 0)
		return rc;
	rc = hook_settings_look(str_sv(&i.text), i.program, states, reterr);
	if (rc < 0) {
		err_prefix(reterr, "%s", i.path);
		return rc;
	}
	if (opts->json)
		print_json(&i, states);
	else
		print_states(&i, states);
	for (size_t k = 0; k < hook_events_n; k++)
		if (states[k] != HOOK_INSTALLED)
			return 1;
	return 0;
}
