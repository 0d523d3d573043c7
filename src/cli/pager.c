#include "ui/pager.h"

#include <unistd.h>

#include "cli/app.h"
#include "cli/env.h"
#include "config/settings.h"

void app_pager_begin(struct app *app)
{
	struct pager_opts opts = {
		.command = env_pager(),
		.path = env_get("PATH"),
		.envp = env_all(),
		.out_fd = fileno(app->out),
	};
	int fd;

	if (!app->out_tty || (app->settings && !app->settings->ui_pager))
		return;
	(void)fflush(app->out);
	if (!pager_open(&app->pager, &opts, &fd))
		return;
	FILE *to_pager = fdopen(fd, "w");
	if (to_pager) {
		app->out = to_pager;
		return;
	}
	(void)close(fd);
	pager_close(&app->pager);
}

void app_pager_end(struct app *app)
{
	if (!app->pager.running)
		return;
	/* A pager that was left early does not want the rest: no error. */
	(void)fclose(app->out);
	app->out = stdout;
	pager_close(&app->pager);
}
