#include "cli/runs.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "assist/kit.h"
#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/print.h"
#include "os/path.h"

void run_named_release(struct run_named *run)
{
	master_list_release(&run->list);
}

static bool same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* The folder of the runs that a file lies among: "…/.claude-master" of …/.claude-master/sessions/x.
 */
static char *root_of(const char *path)
{
	AUTO_FREE char *real = NULL;

	if (path_real(path, &real, NULL) < 0)
		return NULL;
	struct sv root = path_parent(path_parent(sv_of(real)));
	return sv_is(path_base(root), MASTER_FOLDER) ? xmemdup0(root.p, root.n) : NULL;
}

bool run_find(struct app *app, int r, const char *spec, struct run_named *ret)
{
	AUTO_FREE char *dir = NULL;

	if ((r != ERR_NOTFOUND && r != ERR_INPUT) || !spec || !spec[0])
		return false;
	AUTO_FREE char *root = root_of(spec);
	if (root) {
		if (master_list(root, &ret->list, NULL) < 0)
			return false;
		vec_each (&ret->list.rows, row)
			if (same_file(row->path, spec))
				ret->row = row;
		return ret->row != NULL;
	}
	if (r != ERR_NOTFOUND || kit_dir(app->settings, app->cwd, &dir, NULL) < 0)
		return false;
	root = path_join(dir, MASTER_FOLDER);
	return master_list(root, &ret->list, NULL) == 0 &&
		master_find(&ret->list, spec, &ret->row, NULL) == 0;
}

int run_find_two(struct app *app, int r, char **specs, struct err *reterr)
{
	bool is[2];

	for (int i = 0; i < 2; i++) {
		AUTO_RUN_NAMED run = RUN_NAMED_INIT;
		is[i] = run_find(app, r, specs[i], &run);
	}
	if (is[0] == is[1])
		return is[0];
	return err_set(reterr, ERR_INPUT,
		"'%s' is a run of the pair and '%s' is none; a run goes with a run, a session with "
		"a "
		"session",
		specs[is[0] ? 0 : 1], specs[is[0] ? 1 : 0]);
}

int run_master_words(
	struct app *app, const char *const *words, const char *name, bool json, struct err *reterr)
{
	const struct cmd *master = cmd_find(SV("master"));
	AUTO_STRV argv = STRV_INIT;

	if (!master)
		return err_set(reterr, ERR_USAGE, "this faden has no runs");
	for (; *words; words++)
		strv_add(&argv, *words);
	if (name) {
		strv_add(&argv, "--name");
		strv_add(&argv, name);
	}
	if (json)
		strv_add(&argv, "--json");
	return cmd_call(app, master, (int)argv.n, argv.v, reterr);
}

int run_worker_session(struct app *app, const struct run_named *run, char **ret, struct err *reterr)
{
	struct master_run *open = NULL;
	int r = master_open_file(run->row->path, MASTER_LOOK, &app->clock, &open, reterr);

	if (r < 0)
		return r;
	const char *session = master_state(open)->side[MASTER_WORKER].session;
	if (session)
		*ret = xstrdup(session);
	else
		r = err_set(reterr, ERR_NOTFOUND, "nothing was said to its worker yet");
	(void)master_close(open, NULL);
	return r;
}
