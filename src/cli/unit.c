#include "cli/unit.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/env.h"
#include "cli/print.h"
#include "os/file.h"
#include "os/path.h"
#include "os/proc.h"

enum { SYSTEMCTL_MS = 30000, SYSTEMCTL_BYTES = 64 * 1024 };

/* systemd reads %, quotes and backslashes in it, and those of `doubled`. */
static void add_escaped(struct str *out, const char *word, const char *doubled)
{
	for (const char *p = word; *p; p++) {
		if (*p == '%' || strchr(doubled, *p))
			str_addc(out, *p);
		else if (*p == '"' || *p == '\\')
			str_addc(out, '\\');
		str_addc(out, *p);
	}
}

/* A word of a command. */
static void add_quoted(struct str *out, const char *word)
{
	str_addc(out, '"');
	add_escaped(out, word, "$");
	str_addc(out, '"');
}

/* Services have a PATH of the system's, in which nothing is that lies in a folder of the user's. A
 * line break would end the setting; no folder of programs has one. */
static void add_path(struct str *out)
{
	const char *search = env_get("PATH");

	if (!search || !*search || strpbrk(search, "\r\n"))
		return;
	str_adds(out, "Environment=\"PATH=");
	add_escaped(out, search, "");
	str_adds(out, "\"\n");
}

static int make(const struct app *app, const struct unit *u, struct str *out, struct err *reterr)
{
	AUTO_FREE char *self = NULL;
	int r = path_real("/proc/self/exe", &self, reterr);

	if (r < 0)
		return r;
	str_addf(out, "[Unit]\nDescription=%s\n\n[Service]\n", u->description);
	if (u->runs_programs)
		add_path(out);
	str_adds(out, "ExecStart=");
	add_quoted(out, self);
	if (app->config_given) {
		str_adds(out, " --config ");
		add_quoted(out, app->paths.config_file);
	}
	if (app->state_given) {
		str_adds(out, " --state ");
		add_quoted(out, app->paths.state_dir);
	}
	if (app->verbose)
		str_adds(out, " --verbose");
	for (size_t i = 0; i < u->words.n; i++) {
		const char *word = u->words.v[i];
		str_addc(out, ' ');
		if (word[strspn(word, "abcdefghijklmnopqrstuvwxyz-")])
			add_quoted(out, word);
		else
			str_adds(out, word);
	}
	str_addf(out, "\nRestart=on-failure\n%s%s\n[Install]\nWantedBy=default.target\n",
		u->more ? u->more : "", u->more ? "\n" : "");
	return 0;
}

/* `systemctl --user VERB SERVICE`; what it says when it fails goes to *why. */
static bool systemctl(const struct app *app, const char *verb, const char *service, struct str *why)
{
	AUTO_FREE char *program = path_find_program("systemctl", app->paths.search);
	const char *argv[] = { program, "--user", verb, service, NULL };
	const struct proc_opts opts = { .argv = argv, .envp = env_all() };
	AUTO_STR said = STR_INIT;
	struct err err = ERR_INIT;
	int status = 0;

	if (!program) {
		str_adds(why, "there is no systemctl");
		return false;
	}
	int r = proc_run(&opts, SV(""), SYSTEMCTL_MS, SYSTEMCTL_BYTES, NULL, &said, &status, &err);
	if (r == 0 && status == 0)
		return true;
	struct sv first = sv_trim(str_sv(&said)), line;
	if (r < 0)
		str_adds(why, err.msg);
	else if (sv_split(&first, '\n', &line) && line.n)
		str_add(why, line);
	else
		str_addf(why, "systemctl %s failed", verb);
	return false;
}

/* Where systemd looks for the units of a user. */
static char *path_of(const struct app *app, const struct unit *u)
{
	const char *config = env_get("XDG_CONFIG_HOME");
	AUTO_FREE char *own = xasprintf("%s/.config", app->paths.home);

	return xasprintf(
		"%s/systemd/user/%s.service", config && config[0] == '/' ? config : own, u->name);
}

static int install(struct app *app, const struct unit *u, struct err *reterr)
{
	AUTO_FREE char *path = path_of(app, u);
	AUTO_FREE char *service = xasprintf("%s.service", u->name);
	AUTO_STR text = STR_INIT;
	AUTO_STR why = STR_INIT;
	AUTO_FREE char *dir = path_folder(path);
	int r = make(app, u, &text, reterr);

	if (r == 0)
		r = file_mkdirs(dir, reterr);
	if (r == 0)
		r = file_replace(path, str_sv(&text), 0644, reterr);
	if (r < 0)
		return r;
	AUTO_FREE char *shown = path_show(path, app->paths.home);
	say_line(app->out, "Installed: %s", shown);
	/* What runs already has the unit of before, so it is not enough to start it. */
	if (systemctl(app, "daemon-reload", NULL, &why) &&
		systemctl(app, "enable", service, &why) &&
		systemctl(app, "restart", service, &why)) {
		say_line(app->out, "It runs; 'journalctl --user -u %s' shows what it says.",
			u->name);
		return 0;
	}
	return err_set(reterr, ERR_NOTFOUND,
		"it was not started: %s. Run 'systemctl --user enable --now %s' where systemd is",
		why.buf, u->name);
}

static int take_away(struct app *app, const struct unit *u, struct err *reterr)
{
	AUTO_FREE char *path = path_of(app, u);
	AUTO_FREE char *service = xasprintf("%s.service", u->name);
	AUTO_FREE char *shown = path_show(path, app->paths.home);
	AUTO_STR why = STR_INIT;

	if (!path_exists(path))
		return err_set(reterr, ERR_NOTFOUND, "%s is not installed", shown);
	/* Where no systemd runs, no service does. */
	bool stopped =
		systemctl(app, "stop", service, &why) && systemctl(app, "disable", service, &why);
	if (unlink(path) < 0)
		return err_errno(reterr, errno, "remove %s", path);
	if (stopped)
		(void)systemctl(app, "daemon-reload", NULL, &why);
	say_line(app->out, "Removed: %s", shown);
	if (!stopped)
		say_note(app->err, "whether it still runs is not known: %s", why.buf);
	return 0;
}

bool unit_wanted(const struct unit_opts *opts)
{
	return opts->print || opts->install || opts->remove;
}

int unit_run(
	struct app *app, const struct unit_opts *opts, const struct unit *u, struct err *reterr)
{
	AUTO_STR text = STR_INIT;

	if (opts->print + opts->install + opts->remove > 1)
		return err_set(reterr, ERR_USAGE,
			"--unit, --install-unit and --remove-unit exclude each other");
	if (opts->install)
		return install(app, u, reterr);
	if (opts->remove)
		return take_away(app, u, reterr);
	int r = make(app, u, &text, reterr);
	if (r == 0)
		say_text(app->out, str_sv(&text));
	return r;
}
