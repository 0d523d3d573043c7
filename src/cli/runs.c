#include "cli/runs.h"

#include <stdlib.h>
#include <strings.h>
#include <sys/stat.h>

#include "assist/kit.h"
#include "base/mem.h"
#include "base/shell.h"
#include "cli/cmd.h"
#include "cli/print.h"
#include "cli/sessions.h"
#include "os/path.h"
#include "store/conv.h"

void run_named_release(struct run_named *run)
{
	master_list_release(&run->list);
}

static bool same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* The folder of the work whose runs a file lies among; NULL: it lies elsewhere. Caller frees. */
static char *run_folder_of(const char *path)
{
	AUTO_FREE char *real = NULL;

	if (path_real(path, &real, NULL) < 0)
		return NULL;
	struct sv root = path_parent(path_parent(sv_of(real)));
	struct sv dir = path_parent(root);
	return sv_is(path_base(root), MASTER_FOLDER) ? xmemdup0(dir.p, dir.n) : NULL;
}

static bool list_folder(const char *dir, struct master_list *ret)
{
	AUTO_FREE char *root = path_join(dir, MASTER_FOLDER);

	return master_list(root, ret, NULL) == 0;
}

/* ---- elsewhere ---- */

struct folders {
	const char *except;
	struct strv *out;
};

/* The pair's conversations are a project of their own. */
static int add_folder(void *data, const struct conv *c)
{
	struct folders *f = data;
	struct sv project = sv_of(c->project);

	if (!sv_is(path_base(project), MASTER_FOLDER))
		return 0;
	struct sv dir = path_parent(project);
	AUTO_FREE char *name = xmemdup0(dir.p, dir.n);
	bool known = f->except && strcmp(name, f->except) == 0;
	for (size_t i = 0; i < f->out->n && !known; i++)
		known = strcmp(f->out->v[i], name) == 0;
	if (!known && path_exists(c->project))
		strv_add(f->out, name);
	return 0;
}

void run_folders(struct app *app, const char *except, struct strv *out)
{
	enum { MOST = 100000 };
	struct folders f = { except, out };

	if (app->store)
		(void)!conv_each(app->store, 0, MOST, &app->clock, add_folder, &f, NULL);
}

bool run_find_elsewhere(struct app *app, const char *here, const char *spec, struct run_named *ret)
{
	enum { LEAST = 4 }; /* of an id: less may be anything */
	AUTO_STRV dirs = STRV_INIT;

	run_folders(app, here, &dirs);
	for (size_t i = 0; i < dirs.n; i++) {
		AUTO_RUN_NAMED run = RUN_NAMED_INIT;
		if (!list_folder(dirs.v[i], &run.list) ||
			master_find(&run.list, spec, &run.row, NULL) < 0)
			continue;
		const struct master_state *s = &run.row->state;
		bool named = s->name && strcmp(s->name, spec) == 0;
		if (!named && (strlen(spec) < LEAST || strncasecmp(s->id, spec, strlen(spec)) != 0))
			continue;
		if (ret->row) {
			run_named_release(ret);
			*ret = (struct run_named)RUN_NAMED_INIT;
			return false;
		}
		*ret = run;
		run = (struct run_named)RUN_NAMED_INIT;
	}
	return ret->row != NULL;
}

/* ---- which one ---- */

bool run_find(struct app *app, int r, const char *spec, struct run_named *ret)
{
	AUTO_FREE char *dir = NULL;

	if ((r != ERR_NOTFOUND && r != ERR_INPUT) || !spec || !spec[0])
		return false;
	AUTO_FREE char *of = run_folder_of(spec);
	if (of) {
		if (!list_folder(of, &ret->list))
			return false;
		vec_each (&ret->list.rows, row)
			if (same_file(row->path, spec))
				ret->row = row;
		return ret->row != NULL;
	}
	if (r != ERR_NOTFOUND || kit_dir(app->settings, app->cwd, &dir, NULL) < 0)
		return false;
	int found = list_folder(dir, &ret->list) ? master_find(&ret->list, spec, &ret->row, NULL)
						 : ERR_NOTFOUND;
	if (found == ERR_NOTFOUND) {
		run_named_release(ret);
		*ret = (struct run_named)RUN_NAMED_INIT;
		return run_find_elsewhere(app, dir, spec, ret);
	}
	return found == 0;
}

int run_find_two(struct app *app, int r, char **specs, struct strv *paths, struct err *reterr)
{
	AUTO_RESOLVED session = RESOLVED_INIT;
	bool is[2];

	for (int i = 0; i < 2; i++) {
		AUTO_RUN_NAMED run = RUN_NAMED_INIT;
		is[i] = run_find(app, r, specs[i], &run);
		if (is[i])
			strv_add(paths, run.row->path);
	}
	if (is[0] == is[1])
		return is[0];
	const char *other = specs[is[0] ? 1 : 0];
	r = sessions_find(app, other, 0, &session, reterr);
	if (r == ERR_NOTFOUND)
		return err_set(reterr, ERR_NOTFOUND,
			"no run and no session has the id or name \"%s\" (faden master "
			"--list-sessions and faden list show them)",
			other);
	return r < 0 ? r
		     : err_set(reterr, ERR_INPUT,
			       "'%s' is a run of the pair and '%s' is a session; a run goes with a "
			       "run, a session with a session",
			       specs[is[0] ? 0 : 1], other);
}

/* ---- what is done with it ---- */

/* A folder that has a run of this id itself has the one that this is a copy of, and one that is
 * gone was moved: then it is this folder that it goes on in. */
bool run_works_elsewhere(const struct master_state *s, const char *path)
{
	AUTO_FREE char *folder = run_folder_of(path);

	if (!s->config.dir || !path_exists(s->config.dir))
		return false;
	if (!folder)
		return true;
	AUTO_FREE char *own =
		xasprintf("%s/%s/sessions/session-%s.json", s->config.dir, MASTER_FOLDER, s->id);
	return strcmp(folder, s->config.dir) != 0 && !path_exists(own);
}

void run_again(
	struct app *app, const struct master_state *s, const char *path, bool id, struct str *out)
{
	AUTO_FREE char *here = NULL;
	AUTO_FREE char *folder = run_folder_of(path);
	bool by_file = !folder || run_works_elsewhere(s, path);
	const char *dir = by_file ? s->config.dir : folder;

	str_adds(out, "faden master ");
	if (!by_file && !id) {
		str_adds(out, "--resume");
	} else if (!by_file) {
		str_addf(out, "--resume --session %s", s->id);
	} else {
		AUTO_FREE char *real = NULL;
		str_adds(out, "--session-file ");
		shell_id(out, path_real(path, &real, NULL) < 0 ? path : real);
	}
	if (dir && (kit_dir(app->settings, app->cwd, &here, NULL) < 0 || strcmp(dir, here) != 0)) {
		str_adds(out, " -d ");
		shell_id(out, dir);
	}
	if (dir && s->config.dir && strcmp(dir, s->config.dir) != 0)
		str_adds(out, " --force");
}

int run_master_words(struct app *app, const char *path, const char *const *words, const char *name,
	bool json, struct err *reterr)
{
	const struct cmd *master = cmd_find(SV("master"));
	AUTO_FREE char *dir = run_folder_of(path);
	AUTO_STRV argv = STRV_INIT;

	if (!master)
		return err_set(reterr, ERR_USAGE, "this faden has no runs");
	for (; *words; words++)
		strv_add(&argv, *words);
	if (dir) {
		strv_add(&argv, "--work-dir");
		strv_add(&argv, dir);
	}
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
