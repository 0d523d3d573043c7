#include "agent/launch.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/child.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "os/path.h"
#include "os/proc.h"

enum { VERSION_WAIT_MS = 20 * 1000, VERSION_OUT_MAX = 64 * 1024, VERSION_TEXT_MAX = 120 };

static const char default_path[] = "/usr/local/bin:/usr/bin:/bin";

static bool is_name(const char *pair, const char *name)
{
	size_t n = strlen(name);

	return strncmp(pair, name, n) == 0 && pair[n] == '=';
}

static bool is_one_of(const char *pair, const char *const *names)
{
	for (; *names; names++)
		if (is_name(pair, *names))
			return true;
	return false;
}

const char *launch_env_get(const char *const *envp, const char *name)
{
	for (const char *const *e = envp; e && *e; e++)
		if (is_name(*e, name))
			return *e + strlen(name) + 1;
	return NULL;
}

void launch_env(struct strv *out, const char *const *envp, const char *const *drop)
{
	for (const char *const *e = envp; e && *e; e++)
		if (!is_one_of(*e, drop) && !is_name(*e, PROC_MARK))
			strv_add(out, *e);
}

void launch_env_set(struct strv *env, const char *name, const char *value)
{
	for (size_t i = 0; i < env->n; i++) {
		if (!is_name(env->v[i], name))
			continue;
		free(env->v[i]);
		env->v[i] = xasprintf("%s=%s", name, value);
		return;
	}
	strv_addf(env, "%s=%s", name, value);
}

void launch_home(struct strv *env, const struct agent_def *def, const struct agent_opts *opts)
{
	const char *user = launch_env_get(opts->envp, "HOME");
	AUTO_FREE char *usual = user ? path_join(user, def->home_default) : NULL;
	bool is_usual = usual && opts->home && strcmp(usual, opts->home) == 0;

	if (opts->home && !(is_usual && !launch_env_get(opts->envp, def->home_variable)))
		launch_env_set(env, def->home_variable, opts->home);
}

char *launch_program(const struct agent_def *def, const struct agent_opts *opts)
{
	return launch_find(opts, opts->program ? opts->program : def->program);
}

void launch_missing(const struct agent *a, struct agent_result *result)
{
	const char *program = a->opts.program ? a->opts.program : a->def->program;

	agent_result_fail(result, AGENT_MISSING, "%s is not installed: no program \"%s\" (%s)",
		a->def->title, program, a->def->install);
	result->delivery = AGENT_NOT_DELIVERED;
}

char *launch_find(const struct agent_opts *opts, const char *name)
{
	const char *search = launch_env_get(opts->envp, "PATH");
	char *found = path_find_program(name, search ? search : default_path);

	if (!found || found[0] == '/')
		return found;
	/* The child starts elsewhere; a relative path is meant from here. */
	AUTO_FREE char *relative = found;
	AUTO_FREE char *here = path_cwd(NULL);
	return here ? path_join(here, relative) : NULL;
}

int agent_version(const struct agent_def *def, const struct agent_opts *opts, struct str *out,
	struct err *reterr)
{
	AUTO_FREE char *program = launch_program(def, opts);
	AUTO_STR said = STR_INIT;
	AUTO_STR errors = STR_INIT;
	const char *argv[] = { program, "--version", NULL };
	static const char *const none[] = { NULL };
	struct proc_opts run = { .argv = argv, .envp = opts->envp ? opts->envp : none };
	int status = 0;

	if (!program)
		return err_set(reterr, ERR_NOTFOUND, "%s is not installed", def->title);
	int r = proc_run(
		&run, SV(""), VERSION_WAIT_MS, VERSION_OUT_MAX, &said, &errors, &status, reterr);
	if (r < 0)
		return r;
	struct sv rest = str_sv(&said), line = SV("");
	(void)sv_split(&rest, '\n', &line);
	if (status != 0 || sv_trim(line).n == 0) {
		char how[64];
		proc_describe_status(status, how, sizeof(how));
		return err_set(reterr, ERR_AGENT, "%s --version: %s", program, how);
	}
	utf8_scrub_line(out, utf8_cut(sv_trim(line), VERSION_TEXT_MAX));
	return 0;
}
