#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "cli/talk.h"

/* Options that are for one start only: a restart goes on with the conversation. */
static bool one_shot(const char *arg)
{
	return strcmp(arg, "--new-session") == 0;
}

int talk_restart(struct app *app, struct err *reterr)
{
	AUTO_STRV argv = STRV_INIT;
	bool words_only = false;

	for (int i = 0; i < app->argc; i++) {
		words_only |= strcmp(app->argv[i], "--") == 0;
		if (words_only || !one_shot(app->argv[i]))
			strv_add(&argv, app->argv[i]);
	}
	if (argv.n == 0)
		return err_set(reterr, ERR_INPUT, "cannot restart: started without a name");
	(void)fflush(app->out);
	(void)fflush(app->err);
	/* The file we run may have been replaced by an upgrade: then the new one is wanted, and
	 * the link says " (deleted)", so the name we were called by is the second try. */
	(void)execv("/proc/self/exe", argv.v);
	int error = errno;
	(void)execvp(argv.v[0], argv.v);
	return err_errno(reterr, error, "cannot restart %s", app->argv[0]);
}
