/*
 * Bundles from elsewhere: their sessions are put where the agents find them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/shell.h"
#include "bundle/bring.h"
#include "bundle/seal.h"
#include "cli/cmd.h"
#include "cli/master-manage.h"
#include "cli/passphrase.h"
#include "cli/print.h"
#include "cli/runs.h"
#include "cli/sessions.h"
#include "os/file.h"
#include "os/path.h"
#include "os/repo.h"
#include "strategy/move.h"
#include "view/bundle.h"

struct import_opts {
	bool list;
	bool dry;
	bool here;
	bool json;
	const char *passphrase;
};

static const struct opt import_options[] = {
	OPT_FLAG(0, "list", struct import_opts, list, "only check it and say what is in it"),
	OPT_FLAG('n', "dry-run", struct import_opts, dry,
		"only say what would become of each session"),
	OPT_FLAG(0, "here", struct import_opts, here,
		"the conversations go on in this folder, not in the one they come from"),
	OPT_STRING(0, "passphrase-file", struct import_opts, passphrase, "FILE",
		"the passphrase of a sealed bundle is the first line of FILE"),
	OPT_FLAG(0, "json", struct import_opts, json, "JSON for programs"),
	OPT_END,
};

struct import_run {
	struct app *app;
	const struct import_opts *opts;
	const char *name; /* of the bundle, for messages */
	bool piped;
	int fd; /* a file, from its beginning */
	uint64_t at;
	struct seal_reader *seal; /* NULL: it is not sealed */
	char *stage;
	struct bring bring;
	struct strv moved; /* ids of copies in this folder, "" for none */
	struct strv begun; /* conversations that go on in their folders since */
};

static void import_release(struct import_run *x)
{
	bring_release(&x->bring);
	seal_reader_free(x->seal);
	strv_release(&x->moved);
	strv_release(&x->begun);
	if (x->stage)
		(void)rmdir(x->stage);
	free(x->stage);
	if (x->fd >= 0)
		(void)close(x->fd);
}

/* ---- the bundle ---- */

static int read_bundle(void *data, char *buf, size_t n, struct err *reterr)
{
	enum { MOST = 1 << 20 };
	struct import_run *x = data;
	ssize_t got;

	do
		got = pread(x->fd, buf, n < MOST ? n : MOST, (off_t)x->at);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return err_errno(reterr, errno, "read %s", x->name);
	x->at += (uint64_t)got;
	return (int)got;
}

static int rewind_bundle(void *data, struct pack_source *ret, struct err *reterr)
{
	struct import_run *x = data;

	x->at = 0;
	*ret = (struct pack_source){ read_bundle, x };
	if (!x->seal)
		return 0;
	*ret = (struct pack_source){ seal_read, x->seal };
	return seal_rewind(x->seal, reterr);
}

/* Asks again where somebody has mistyped. */
static int unseal(struct import_run *x, struct err *reterr)
{
	enum { TRIES = 3 };
	AUTO_FREE char *what = xasprintf("for %s", x->name);
	char head[SEAL_HEAD];
	int r = read_bundle(x, head, sizeof(head), reterr);

	if (r < 0 || !seal_is(sv_make(head, (size_t)r))) {
		if (r >= 0 && x->opts->passphrase)
			say_note(x->app->err, "%s is not sealed; no passphrase is needed", x->name);
		return r;
	}
	for (int i = 1; i <= TRIES; i++) {
		AUTO_PASSPHRASE passphrase = STR_INIT;
		x->at = 0;
		r = passphrase_get(x->app, x->opts->passphrase, what, false, &passphrase, reterr);
		if (r >= 0)
			r = seal_open(str_sv(&passphrase), (struct pack_source){ read_bundle, x },
				&x->seal, reterr);
		if (r != ERR_DENIED || x->opts->passphrase || i == TRIES)
			return r;
		seal_reader_free(x->seal);
		x->seal = NULL;
		say_note(x->app->err, "that is not the passphrase it was sealed with");
	}
	return r;
}

/* It is read twice, so what comes from a pipe is kept in a file without a name meanwhile. */
static int spool(struct import_run *x, struct err *reterr)
{
	enum { PIECE = 1 << 20 };
	AUTO_FREE char *buf = xmalloc(PIECE);
	ssize_t n = 1;
	int r = 0;

	x->fd = file_open_temp(x->app->paths.state_dir, reterr);
	if (x->fd < 0)
		return x->fd;
	while (r >= 0 && n > 0) {
		n = read(x->app->in, buf, PIECE);
		if (n < 0 && errno == EINTR) {
			n = 1;
			continue;
		}
		if (n < 0)
			return err_errno(reterr, errno, "read standard input");
		r = file_write_all(x->fd, sv_make(buf, (size_t)n), reterr);
	}
	return r;
}

static int open_bundle(struct import_run *x, const char *path, struct err *reterr)
{
	if (strcmp(path, "-") == 0) {
		x->name = "standard input";
		x->piped = true;
		if (x->app->in_tty)
			return err_set(reterr, ERR_USAGE, "a bundle does not come from a terminal");
		return spool(x, reterr);
	}
	if (!path[0])
		return err_set(reterr, ERR_USAGE, "'': an empty name is no bundle");
	x->name = path;
	x->fd = file_open(path, NULL, reterr);
	return x->fd < 0 ? x->fd : 0;
}

/* ---- what is said ---- */

static void tell(struct import_run *x, const struct bundle_manifest *m, const struct bring *b)
{
	const struct bundle_told told = { .path = x->piped ? NULL : x->name,
		.manifest = m,
		.bring = b,
		.moved = x->moved.n > 0 ? &x->moved : NULL,
		.dry = x->opts->dry || x->opts->list };

	if (x->opts->json) {
		AUTO_STR out = STR_INIT;
		struct jw w = JW_INIT(&out);
		view_json_bundle(&w, &told);
		print_doc(x->app, &out);
		return;
	}
	struct term t;
	print_begin(x->app, &t);
	view_bundle(&t, m, b);
	print_end(&t);
}

static bool same_project(const struct import_run *x, const struct bundle_session *s)
{
	AUTO_REPO repo = REPO_INIT;

	if (!x->app->cwd || !repo_read(x->app->cwd, &repo))
		return false;
	for (size_t i = 0; i < s->marks.n; i++)
		for (size_t k = 0; k < repo.marks.n; k++)
			if (strcmp(s->marks.v[i], repo.marks.v[k]) == 0)
				return true;
	return false;
}

static void tell_run(const struct import_run *x, const char *path)
{
	AUTO_STR again = STR_INIT;
	struct master_run *run = NULL;

	if (master_open_file(path, MASTER_LOOK, &x->app->clock, &run, NULL) < 0)
		return;
	run_again(x->app, master_state(run), path, true, &again);
	say_note(x->app->err, "go on with it: %s", again.buf);
	(void)master_close(run, NULL);
}

/* What is not plain: another id, and a folder that is not here. */
static void tell_more(const struct import_run *x)
{
	const struct bundle_manifest *m = bring_manifest(&x->bring);
	FILE *to = x->app->err;

	for (size_t i = 0; i < m->sessions.n; i++) {
		const struct bundle_session *s = &m->sessions.v[i];
		const struct bring_session *now = &x->bring.sessions.v[i];
		if (now->state == BRING_OTHER)
			say_note(to,
				"session %s is here with other contents, which stay; this one %s%s",
				s->id, now->written ? "is " : "would get an id of its own",
				now->written ? now->id : "");
		if (s->run && now->written)
			tell_run(x, now->path);
		if (x->opts->dry || s->ancestor || s->run || x->opts->here || !s->dir[0] ||
			path_exists(s->dir))
			continue;
		AUTO_STR id = STR_INIT;
		shell_id(&id, now->id);
		say_note(to, "its folder %s is not here; %s: faden resume --here %s", s->dir,
			same_project(x, s) ? "this folder is of the same project, go on in it with"
					   : "go on in another one with",
			id.buf);
	}
}

/* ---- in this folder ---- */

struct copies {
	const char *dir;
	char *found;
};

static int note_copy(void *data, const struct session_row *row)
{
	struct copies *c = data;

	if (row->info.relation != SESSION_MOVED || row->gone || strcmp(row->info.cwd, c->dir) != 0)
		return 0;
	c->found = xstrdup(row->info.id);
	return 1;
}

/* As resume does: for agents that look a session up by the folder it is continued as a copy, which
 * row is then. */
static int bring_here(struct import_run *x, struct session_row *row, struct err *reterr)
{
	const struct agent_def *agent = agent_named(sv_of(row->agent));
	const struct transcript_home *home = app_home(x->app, row->agent);
	struct copies copies = { .dir = x->app->cwd };

	if (!agent || !agent->resume_in_folder || !home ||
		strcmp(row->info.cwd, x->app->cwd) == 0) {
		strv_add(&x->moved, "");
		return 0;
	}
	int r = catalogue_children(x->app->store, &row->info, note_copy, &copies, reterr);
	if (copies.found) {
		strv_take(&x->moved, copies.found);
		return 0;
	}
	AUTO_FREE char *path =
		transcript_new_path(home, x->app->cwd, clock_wall_ms(&x->app->clock), row->info.id);
	AUTO_FREE char *folder = path_folder(path);
	const struct move_opts how = { .session = &row->info,
		.dir = x->app->cwd,
		.out_dir = folder,
		.clock = &x->app->clock };
	CLEANUP(rewrite_result_release) struct rewrite_result copy = REWRITE_RESULT_INIT;
	AUTO_SESSION_ROW made = SESSION_ROW_INIT;
	if (r >= 0)
		r = move_session(&how, &copy, reterr);
	if (r >= 0)
		r = catalogue_take(x->app->store, home, copy.path, &made, reterr);
	if (r >= 0 && session_row_name(row)[0] && !session_row_name(&made)[0])
		r = catalogue_rename(
			x->app->store, row->agent, copy.id, session_row_name(row), reterr);
	if (r < 0)
		return r;
	strv_add(&x->moved, copy.id);
	if (strcmp(made.info.cwd, x->app->cwd) == 0)
		say_note(x->app->err,
			"%s looks for sessions by their folder: %s goes on here as its copy %s",
			agent->title, row->info.id, copy.id);
	else
		say_note(x->app->err,
			"%s names no folder that could be this one: its copy %s goes on only where "
			"you name it",
			row->info.id, copy.id);
	session_row_release(row);
	*row = made;
	made = (struct session_row)SESSION_ROW_INIT;
	return 0;
}

/* What a conversation came for: where nothing goes on in its folder, it does. Those of programs do
 * only when they came alone. */
static int go_on(struct import_run *x, const struct session_row *row, struct err *reterr)
{
	const struct bundle_manifest *m = bring_manifest(&x->bring);
	const struct clock *clock = &x->app->clock;
	const char *dir = x->opts->here ? x->app->cwd : row->info.cwd;
	AUTO_CONV current = CONV_INIT;
	AUTO_PROJECT project = PROJECT_INIT;
	AUTO_CONV c = CONV_INIT;
	size_t people = 0;

	vec_each (&m->sessions, s)
		people += !s->ancestor && !s->run;
	if (row->info.flags & (SESSION_SUBAGENT | SESSION_HELPER) || !path_exists(dir) ||
		(row->info.flags & SESSION_EXEC && people > 1))
		return 0;
	int r = conv_current(x->app->store, dir, clock, &current, reterr);
	bool older = false;
	for (size_t i = 0; r == 0 && i < x->begun.n; i++)
		older |= strcmp(x->begun.v[i], current.id) == 0 &&
			current.active_ms < row->active_ms;
	if (r != ERR_NOTFOUND && !older)
		return r;
	r = sessions_adopt(x->app, row, &c, reterr);
	/* Agents that look for a session by its id alone have no copy of it here. */
	if (r >= 0 && strcmp(c.dir, dir) != 0)
		r = project_find(x->app->store, dir, &project, reterr);
	if (r >= 0 && project.main)
		r = conv_move(x->app->store, c.id, dir, project.main, reterr);
	if (r >= 0)
		r = conv_set_current(x->app->store, dir, c.id, clock, reterr);
	if (r >= 0)
		strv_add(&x->begun, c.id);
	return r;
}

/* ---- the command ---- */

static int import_all(struct import_run *x, struct err *reterr)
{
	const struct bundle_manifest *m = bring_manifest(&x->bring);
	int r = bring_write(&x->bring, reterr);

	if (r < 0) {
		size_t written = 0;
		vec_each (&x->bring.sessions, s)
			written += s->written;
		if (written > 0)
			say_note(x->app->err,
				"%zu of %zu sessions are imported; the next import does the rest",
				written, m->sessions.n);
		return r;
	}
	for (size_t i = 0; r >= 0 && i < m->sessions.n; i++) {
		AUTO_SESSION_ROW row = SESSION_ROW_INIT;
		r = bring_register(&x->bring, i, &row, reterr);
		if (r >= 0 && x->opts->here && !m->sessions.v[i].ancestor && !m->sessions.v[i].run)
			r = bring_here(x, &row, reterr);
		else
			strv_add(&x->moved, "");
		if (r >= 0 && !m->sessions.v[i].ancestor && !m->sessions.v[i].run)
			r = go_on(x, &row, reterr);
	}
	/* When the sessions are there that they may have. */
	for (size_t i = 0; r >= 0 && x->opts->here && i < m->sessions.n; i++)
		if (m->sessions.v[i].run && x->bring.sessions.v[i].written)
			r = manage_here(x->app, x->app->cwd, x->bring.sessions.v[i].path, reterr);
	return r;
}

static int ignore(void *data, size_t file, uint64_t offset, struct sv bytes, struct err *reterr)
{
	(void)data;
	(void)file;
	(void)offset;
	(void)bytes;
	(void)reterr;
	return 0;
}

static int list_bundle(struct import_run *x, struct err *reterr)
{
	struct pack_source source;
	struct pack_reader *reader = NULL;
	int r = rewind_bundle(x, &source, reterr);

	if (r >= 0)
		r = pack_open(source, &reader, reterr);
	if (r >= 0)
		r = pack_read(reader, NULL, ignore, NULL, NULL, reterr);
	if (r >= 0)
		tell(x, pack_manifest(reader), NULL);
	pack_reader_free(reader);
	return r;
}

static int run_import(
	struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	CLEANUP(import_release)
	struct import_run x = {
		.app = app, .opts = options, .fd = -1, .moved = STRV_INIT, .begun = STRV_INIT
	};

	(void)argc;
	if (x.opts->here && !app->cwd)
		return err_set(reterr, ERR_INPUT, "--here: this folder is gone");
	int r = open_bundle(&x, argv[0], reterr);
	if (r < 0)
		return r;
	x.stage = path_join(app->paths.state_dir, "import");
	const struct bring_opts opts = { .store = app->store,
		.homes = app->homes,
		.n_homes = app->n_homes,
		.here = x.opts->here ? app->cwd : NULL,
		.stage = x.stage,
		.clock = &app->clock,
		.open = rewind_bundle,
		.data = &x };
	bring_init(&x.bring, &opts);
	r = unseal(&x, reterr);
	if (r >= 0)
		r = x.opts->list ? list_bundle(&x, reterr) : bring_look(&x.bring, reterr);
	if (r < 0)
		err_prefix(reterr, "%s", x.name);
	if (r < 0 || x.opts->list)
		return r;
	if (!x.opts->dry)
		r = import_all(&x, reterr);
	if (r < 0)
		return r;
	tell(&x, bring_manifest(&x.bring), &x.bring);
	if (!x.opts->json)
		tell_more(&x);
	return 0;
}

const struct cmd cmd_import = {
	.name = "import",
	.group = CMD_GROUP_SESSIONS,
	.summary = "bring in the conversations of a bundle",
	.synopsis = "FILE",
	.min_args = 1,
	.max_args = 1,
	.needs = CMD_STORE,
	.words = CMD_WORDS_FILE,
	.opts = import_options,
	.opts_size = sizeof(struct import_opts),
	.run = run_import,
};
