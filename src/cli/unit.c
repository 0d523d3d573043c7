#include "cli/unit.h"

#include "base/mem.h"
#include "cli/print.h"
#include "os/path.h"

int unit_print(struct app *app, const char *description, const char *words, const char *more,
	struct err *reterr)
{
	AUTO_FREE char *self = NULL;
	AUTO_STR quoted = STR_INIT;
	int r = path_real("/proc/self/exe", &self, reterr);

	if (r < 0)
		return r;
	/* systemd reads % and quotes in it. */
	for (const char *p = self; *p; p++) {
		if (*p == '%')
			str_addc(&quoted, '%');
		else if (*p == '"' || *p == '\\')
			str_addc(&quoted, '\\');
		str_addc(&quoted, *p);
	}
	say_line(app->out, "[Unit]");
	say_line(app->out, "Description=%s", description);
	say_line(app->out, "%s", "");
	say_line(app->out, "[Service]");
	say_line(app->out, "ExecStart=\"%s\" %s", quoted.buf, words);
	say_line(app->out, "Restart=on-failure");
	if (more)
		say_line(app->out, "%s", more);
	say_line(app->out, "%s", "");
	say_line(app->out, "[Install]");
	say_line(app->out, "WantedBy=default.target");
	return 0;
}
