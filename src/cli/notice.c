#include "cli/notice.h"

#include "base/utf8.h"
#include "cli/env.h"
#include "config/settings.h"
#include "os/path.h"
#include "os/proc.h"

enum { BODY_COLUMNS = 60, START_MS = 2000 };

static bool wanted(const struct app *app)
{
	if (!app->settings->notify_enabled)
		return false;
	AUTO_FREE char *bus = path_join(app->paths.runtime_dir, "bus");
	return env_get("DBUS_SESSION_BUS_ADDRESS") || path_exists(bus);
}

/* By way of a shell that ends at once: the notice belongs to nobody then, leaves no zombie in a
 * long conversation, and a service that hangs holds nothing up. */
static void send(const struct app *app, const char *title, struct sv text)
{
	AUTO_STR clean = STR_INIT;
	AUTO_STR body = STR_INIT;
	AUTO_FREE char *self = NULL;
	struct err err = ERR_INIT;
	int status;

	if (!wanted(app))
		return;
	utf8_scrub_line(&clean, sv_trim(text));
	utf8_fit(&body, str_sv(&clean), BODY_COLUMNS);
	int r = path_real("/proc/self/exe", &self, &err);
	const char *const argv[] = { "/bin/sh", "-c", "\"$@\" </dev/null >/dev/null 2>&1 &", "sh",
		self, "notify", "--", title, body.buf, NULL };
	if (r == 0)
		r = proc_run(&(struct proc_opts){ .argv = argv, .envp = env_all() }, SV(""),
			START_MS, 0, NULL, NULL, &status, &err);
	if (r < 0)
		log_write(&app->log, LOG_WARN, "notify: %s", err.msg);
}

void notice_begin(const struct app *app, const struct conv *c)
{
	send(app, c->turns > 0 ? "Resuming conversation" : "Task started",
		sv_of(c->turns > 0 ? conv_label(c) : c->agent));
}

void notice_end(const struct app *app, const struct assistant_outcome *out)
{
	const struct turn_outcome *turn = out->turn;

	if (out->kind != UTTERANCE_AGENT)
		return;
	if (turn->fail == AGENT_OK)
		send(app, "Task finished", str_sv(&turn->answer));
	else
		send(app, turn->fail == AGENT_CANCELLED ? "Task cancelled" : "Task failed",
			sv_of(turn->message));
}
