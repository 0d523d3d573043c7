/*
 * Our hooks in the agent's settings file: looked at, put in, taken out. All agents that have hooks
 * read the same form.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/hook.h"
#include "cli/print.h"
#include "os/file.h"
#include "os/path.h"
#include "strategy/hook-settings.h"
#include "json/write.h"

enum { EVENTS_MAX = 8 };

struct installing {
	struct app *app;
	const struct hook_options *opts;
	const struct agent_def *agent;
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

static const struct agent_def *first_with_hooks(void)
{
	size_t i = 0;

	while (!agent_table[i].hooks_file)
		i++;
	return &agent_table[i];
}

/* Whose file, and what stands in it. A change takes the lock in *ret_lock (NULL: nothing is
 * changed) before it reads, so that what is read is what is replaced. */
static int begin(struct installing *i, struct app *app, const struct hook_options *opts,
	int *ret_lock, struct err *reterr)
{
	AUTO_STR all = STR_INIT;

	*i = (struct installing){ .app = app, .opts = opts, .text = STR_INIT };
	i->agent = opts->agent ? agent_named(sv_of(opts->agent)) : first_with_hooks();
	if (!i->agent || !i->agent->hooks_file) {
		agents_list(&all, agent_has_hooks, " and ");
		return err_set(
			reterr, ERR_USAGE, "--agent %s: %s have hooks", opts->agent, all.buf);
	}
	if (opts->project && !i->agent->hooks_project_file)
		return err_set(reterr, ERR_USAGE, "%s has no hooks of a project: without --project",
			i->agent->title);
	if (opts->project && !app->cwd)
		return err_set(reterr, ERR_INPUT, "the current folder no longer exists");
	i->path = opts->project
		? path_join(app->cwd, i->agent->hooks_project_file)
		: path_join(app_home(app, i->agent->name)->root, i->agent->hooks_file);
	i->backup = xasprintf("%s.before-faden", i->path);
	int r = path_real("/proc/self/exe", &i->program, reterr);
	if (r == 0 && ret_lock)
		r = app_state(app, reterr);
	if (r == 0 && ret_lock) {
		AUTO_FREE char *lock = path_join(app->paths.state_dir, "hook.lock");
		r = file_lock(lock, true, ret_lock, reterr);
	}
	if (r < 0)
		return r;
	r = file_read(i->path, HOOK_SETTINGS_MAX, &i->text, reterr);
	i->existed = r >= 0;
	return r == -ENOENT ? 0 : r;
}

static void say(const struct installing *i, const char *what)
{
	say_line(i->app->out, "%s: %s", i->path, what);
}

static void tell_trust(const struct installing *i)
{
	if (i->agent->hooks_trust)
		say_line(i->app->out, "%s", i->agent->hooks_trust);
}

/* ---- in ---- */

static int write_settings(const struct installing *i, struct sv fresh, struct err *reterr)
{
	struct sv parent = path_parent(sv_of(i->path));
	AUTO_FREE char *folder = xmemdup0(parent.p, parent.n);
	AUTO_STR rest = STR_INIT;
	int r = file_mkdirs(folder, reterr);

	/* The first backup stays: a later one would hold hooks of ours, or what an earlier remove
	 * left. */
	if (r == 0 && i->existed && !path_exists(i->backup) &&
		hook_settings_remove(str_sv(&i->text), &rest, NULL) == 0)
		r = file_replace(i->backup, str_sv(&i->text), 0600, reterr);
	return r < 0 ? r : file_replace(i->path, fresh, 0, reterr);
}

int hook_install(struct app *app, const struct hook_options *opts, struct err *reterr)
{
	CLEANUP(installing_release) struct installing i = { .text = STR_INIT };
	AUTO_CLOSE int fd = -1;
	AUTO_STR fresh = STR_INIT;
	int r = begin(&i, app, opts, &fd, reterr);

	if (r < 0)
		return r;
	r = hook_settings_install(str_sv(&i.text), i.program, &fresh, reterr);
	if (r < 0) {
		err_prefix(reterr, "%s", i.path);
		return r;
	}
	if (r > 0) {
		r = write_settings(&i, str_sv(&fresh), reterr);
		if (r < 0)
			return r;
		say(&i, "hooks installed");
		if (path_exists(i.backup))
			say_line(app->out, "What was there before is in %s", i.backup);
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

/* The bytes from before the install when there is a backup and nothing else changed; a file that
 * only we wrote to goes, and a project's folder that is empty then. */
static int take_out(const struct installing *i, struct sv rest, struct err *reterr)
{
	struct sv parent = path_parent(sv_of(i->path));
	AUTO_FREE char *folder = xmemdup0(parent.p, parent.n);
	AUTO_STR before = STR_INIT;
	struct stat st;
	bool link = lstat(i->path, &st) == 0 && S_ISLNK(st.st_mode);

	if (file_read(i->backup, HOOK_SETTINGS_MAX, &before, NULL) == 0 &&
		is_unchanged(i, str_sv(&before), rest)) {
		int r = file_replace(i->path, str_sv(&before), 0, reterr);
		if (r < 0)
			return r;
		(void)unlink(i->backup);
		say(i, "hooks removed; it is as it was before they came");
		return 0;
	}
	if (!path_exists(i->backup) && !link && is_unchanged(i, SV(""), rest)) {
		if (unlink(i->path) < 0)
			return err_errno(reterr, errno, "%s", i->path);
		if (i->opts->project)
			(void)rmdir(folder);
		say(i, "removed, since nothing but the hooks was in it");
		return 0;
	}
	int r = file_replace(i->path, rest, 0, reterr);
	if (r < 0)
		return r;
	say(i, "hooks removed");
	if (path_exists(i->backup))
		say_line(i->app->out,
			"It changed since the install; what was there before is in %s", i->backup);
	return 0;
}

int hook_remove(struct app *app, const struct hook_options *opts, struct err *reterr)
{
	CLEANUP(installing_release) struct installing i = { .text = STR_INIT };
	AUTO_CLOSE int fd = -1;
	AUTO_STR rest = STR_INIT;
	int r = begin(&i, app, opts, &fd, reterr);

	if (r < 0)
		return r;
	r = hook_settings_remove(str_sv(&i.text), &rest, reterr);
	if (r < 0) {
		err_prefix(reterr, "%s", i.path);
		return r;
	}
	if (r > 0)
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
	jw_put_cstr(&w, "agent", i->agent->name);
	jw_put_cstr(&w, "path", i->path);
	jw_put_cstr(&w, "program", i->program);
	jw_key(&w, "hooks");
	jw_object(&w);
	for (size_t k = 0; k < hook_events_n; k++)
		jw_put_cstr(&w, hook_events[k].event, hook_state_name(states[k]));
	jw_end(&w);
	jw_end(&w);
	print_doc(i->app, &out);
}

static void print_states(const struct installing *i, const enum hook_state *states)
{
	static const char *const words[] = { [HOOK_ABSENT] = "not installed",
		[HOOK_OTHER] = "runs another faden (faden hook install mends it)",
		[HOOK_INSTALLED] = "installed" };

	say_line(i->app->out, "%s", i->path);
	for (size_t k = 0; k < hook_events_n; k++)
		say_line(i->app->out, "  %-17s %s", hook_events[k].event, words[states[k]]);
	tell_trust(i);
}

int hook_status(struct app *app, const struct hook_options *opts, struct err *reterr)
{
	CLEANUP(installing_release) struct installing i = { .text = STR_INIT };
	enum hook_state states[EVENTS_MAX];
	int r = begin(&i, app, opts, NULL, reterr);

	if (r < 0)
		return r;
	r = hook_settings_look(str_sv(&i.text), i.program, states, reterr);
	if (r < 0) {
		err_prefix(reterr, "%s", i.path);
		return r;
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
