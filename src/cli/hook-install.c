/*
 * Our hooks in the agent's settings file: looked at, put in, taken out.
 */
#include <errno.h>
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
	char *path; /* of the settings */
	char *program; /* this faden */
	struct str text; /* "" when there is no file */
};

static void installing_release(struct installing *i)
{
	free(i->path);
	free(i->program);
	str_release(&i->text);
}

static int begin(
	struct installing *i, struct app *app, const struct hook_options *opts, struct err *reterr)
{
	*i = (struct installing){ .app = app, .text = STR_INIT };
	if (opts->project && !app->cwd)
		return err_set(reterr, ERR_INPUT, "the current folder no longer exists");
	i->path = opts->project ? path_join(app->cwd, ".claude/settings.json")
				: path_join(app->paths.claude_home, "settings.json");
	int rc = path_real("/proc/self/exe", &i->program, reterr);
	if (rc < 0)
		return rc;
	rc = file_read(i->path, HOOK_SETTINGS_MAX, &i->text, reterr);
	return rc == -ENOENT ? 0 : rc;
}

/* One faden at a time: what is read is what is replaced. */
static int lock(struct app *app, int *ret_fd, struct err *reterr)
{
	AUTO_FREE char *path = path_join(app->paths.state_dir, "hook.lock");
	int rc = app_state(app, reterr);
	return rc < 0 ? rc : file_lock(path, true, ret_fd, reterr);
}

static int write_settings(const struct installing *i, struct sv fresh, struct err *reterr)
{
	struct sv parent = path_parent(sv_of(i->path));
	AUTO_FREE char *folder = xmemdup0(parent.p, parent.n);
	AUTO_FREE char *backup = xasprintf("%s.before-faden", i->path);
	int rc = file_mkdirs(folder, reterr);
	if (rc >= 0 && i->text.len > 0)
		rc = file_replace(backup, str_sv(&i->text), 0600, reterr);
	if (rc >= 0)
		rc = file_replace(i->path, fresh, 0, reterr);
	if (rc >= 0 && i->text.len > 0)
		(void)fprintf(i->app->out, "What was there is in %s\n", backup);
	return rc;
}

static int change(
	struct app *app, const struct hook_options *opts, bool install, struct err *reterr)
{
	CLEANUP(installing_release) struct installing i;
	AUTO_CLOSE int fd = -1;
	AUTO_STR fresh = STR_INIT;
	int rc = begin(&i, app, opts, reterr);
	if (rc >= 0)
		rc = lock(app, &fd, reterr);
	if (rc >= 0)
		rc = file_read(i.path, HOOK_SETTINGS_MAX, &i.text, reterr);
	if (rc == -ENOENT)
		rc = 0;
	if (rc < 0)
		return rc;
	rc = install ? hook_settings_install(str_sv(&i.text), i.program, &fresh, reterr)
		     : hook_settings_remove(str_sv(&i.text), &fresh, reterr);
	if (rc < 0) {
		err_prefix(reterr, "%s", i.path);
		return rc;
	}
	(void)fprintf(app->out, "%s: %s\n", i.path,
		rc == 0		  ? "nothing to change"
			: install ? "hooks installed"
				  : "hooks removed");
	return rc == 0 ? 0 : write_settings(&i, str_sv(&fresh), reterr);
}

int hook_install(struct app *app, const struct hook_options *opts, struct err *reterr)
{
	return change(app, opts, true, reterr);
}

int hook_remove(struct app *app, const struct hook_options *opts, struct err *reterr)
{
	return change(app, opts, false, reterr);
}

/* ---- status ---- */

static void print_json(const struct installing *i, const enum hook_state *states)
{
	AUTO_STR out = STR_INIT;
	struct jw w = JW_INIT(&out);
	jw_object(&w);
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
}

int hook_status(struct app *app, const struct hook_options *opts, struct err *reterr)
{
	CLEANUP(installing_release) struct installing i;
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
