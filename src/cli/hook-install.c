/*
 * Our hooks in the agent's settings file: looked at, put in, taken out. All agents that have hooks
 * read the same form.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "cli/hook.h"
#include "cli/print.h"
#include "os/file.h"
#include "os/path.h"
#include "strategy/hook-settings.h"
#include "json/write.h"

enum {
	EVENTS_MAX = 8,
	OWN_COLUMNS = 60, /* of a command of the user's own */
};

struct installing {
	struct app *app;
	const struct hook_options *opts;
	const struct agent_def *agent;
	char *path; /* of the settings */
	char *program; /* this faden */
	struct str text; /* "" when there is no file */
	bool existed;
};

static void installing_release(struct installing *i)
{
	free(i->path);
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
	int r = path_real("/proc/self/exe", &i->program, reterr);
	if (r == 0 && ret_lock)
		r = app_state(app, reterr);
	if (r == 0 && ret_lock) {
		AUTO_FREE char *lock = path_join(app->paths.state_dir, "hook.lock");
		const struct lock_wait wait = app_wait(app);
		r = file_lock(lock, &wait, ret_lock, reterr);
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

/* Commands of the user's own that run a faden, too: none of our business, but worth a word. */
static void tell_own(const struct installing *i)
{
	for (size_t k = 0; k < hook_events_n; k++) {
		AUTO_STRV own = STRV_INIT;
		hook_settings_own(str_sv(&i->text), &hook_events[k], i->program, &own);
		for (size_t n = 0; n < own.n; n++) {
			AUTO_STR shown = STR_INIT;
			utf8_fit(&shown, sv_of(own.v[n]), OWN_COLUMNS);
			say_line(i->app->out,
				"%s has a command of your own, which stays as it is: %s",
				hook_events[k].event, shown.buf);
		}
	}
}

/* ---- a change ---- */

/* What makes a change impossible is found before anything is done. */
static int check_target(const struct installing *i, struct err *reterr)
{
	char target[PATH_MAX];
	ssize_t n = i->existed ? -1 : readlink(i->path, target, sizeof(target));

	if (i->existed && access(i->path, W_OK) < 0)
		return err_errno(reterr, errno, "%s", i->path);
	if (n < 0 || (size_t)n >= sizeof(target))
		return 0;
	/* A link that leads to nothing: the file is made there, but not a world for it. */
	target[n] = '\0';
	AUTO_FREE char *folder = path_folder(i->path);
	AUTO_FREE char *file = path_join(folder, target);
	AUTO_FREE char *needed = path_folder(file);
	if (path_exists(needed))
		return 0;
	return err_set(reterr, ERR_INPUT,
		"%s is a link to %s, and there is no folder %s; make that, or remove the link",
		i->path, target, needed);
}

/* Another program may have written to the file since it was read. */
static int check_unchanged(const struct installing *i, struct err *reterr)
{
	AUTO_STR now = STR_INIT;
	int r = file_read(i->path, HOOK_SETTINGS_MAX, &now, NULL);

	if (r == (i->existed ? 0 : -ENOENT) && sv_eq(str_sv(&now), str_sv(&i->text)))
		return 0;
	return err_set(reterr, ERR_BUSY, "%s was changed meanwhile by another program; try again",
		i->path);
}

/* The file becomes `text`, or goes (NULL). What it was is kept first. */
static int change(
	const struct installing *i, const struct sv *text, const char *done, struct err *reterr)
{
	AUTO_FREE char *folder = path_folder(i->path);
	AUTO_FREE char *kept = NULL;
	AUTO_FREE char *real = NULL;
	bool made = !path_exists(folder);
	struct stat was = { .st_nlink = 0 };
	int r = check_target(i, reterr);

	(void)stat(i->path, &was);

	if (r == 0)
		r = file_mkdirs(folder, reterr);
	if (r == 0 && i->existed)
		r = hook_backup_keep(i->app, i->path, str_sv(&i->text), &kept, reterr);
	if (r == 0)
		r = check_unchanged(i, reterr);
	if (r == 0 && text)
		r = file_replace(i->path, *text, 0, reterr);
	/* A link stays, and leads to nothing as before. */
	if (r == 0 && !text)
		r = path_real(i->path, &real, reterr);
	if (real && unlink(real) < 0)
		r = err_errno(reterr, errno, "%s", real);
	if (r < 0)
		return r;
	if (!text && i->opts->project)
		(void)rmdir(folder);
	say(i, done);
	/* A new file takes its place, so that it is never half of one. */
	if (text && was.st_nlink > 1)
		say(i, "it had other names (hard links), which lead to what it was");
	if (made && text && !i->opts->project)
		say_line(i->app->out, "There was no %s: it was made. Is the agent installed?",
			folder);
	if (kept)
		say_line(i->app->out, "As it was before: %s", kept);
	return 0;
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
	struct sv text = str_sv(&fresh);
	if (r > 0)
		r = change(&i, &text, "hooks installed", reterr);
	else
		say(&i, "nothing to change");
	if (r < 0)
		return r;
	tell_own(&i);
	tell_trust(&i);
	return 0;
}

/* ---- out ---- */

struct restoring {
	const struct installing *i;
	struct sv rest; /* the file without hooks of ours */
};

/* Whether `rest` is what an install and a remove make of `before`: then nothing else changed
 * meanwhile. */
static bool is_before(void *data, struct sv before)
{
	const struct restoring *r = data;
	const char *program = r->i->program;
	AUTO_STR same = STR_INIT;
	AUTO_STR with = STR_INIT;
	AUTO_STR without = STR_INIT;

	return hook_settings_remove(before, program, &same, NULL) == 0 &&
		hook_settings_install(before, program, &with, NULL) > 0 &&
		hook_settings_remove(str_sv(&with), program, &without, NULL) > 0 &&
		sv_eq(str_sv(&without), r->rest);
}

int hook_remove(struct app *app, const struct hook_options *opts, struct err *reterr)
{
	CLEANUP(installing_release) struct installing i = { .text = STR_INIT };
	AUTO_CLOSE int fd = -1;
	AUTO_STR rest = STR_INIT;
	AUTO_STR before = STR_INIT;
	int r = begin(&i, app, opts, &fd, reterr);

	if (r < 0)
		return r;
	r = hook_settings_remove(str_sv(&i.text), i.program, &rest, reterr);
	if (r < 0) {
		err_prefix(reterr, "%s", i.path);
		return r;
	}
	struct restoring restoring = { &i, str_sv(&rest) };
	struct sv text = str_sv(&rest);
	if (r == 0) {
		say(&i, "nothing to change");
	} else if (hook_backup_find(app, i.path, is_before, &restoring, &before)) {
		text = str_sv(&before);
		r = change(&i, &text, "hooks removed; it is as it was before they came", reterr);
	} else if (is_before(&restoring, SV(""))) {
		r = change(&i, NULL, "removed, since nothing but the hooks was in it", reterr);
	} else {
		r = change(&i, &text, "hooks removed", reterr);
	}
	if (r < 0)
		return r;
	tell_own(&i);
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
	tell_own(i);
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
