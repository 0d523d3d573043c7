#include "cli/master-manage.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/shell.h"
#include "base/utf8.h"
#include "cli/cmd.h"
#include "cli/print.h"
#include "cli/runs.h"
#include "master/sessions.h"
#include "os/path.h"
#include "view/json.h"
#include "view/runs.h"

static struct master_place place_of(struct app *app, const char *dir)
{
	return (struct master_place){ .store = app->store,
		.homes = app->homes,
		.n_homes = app->n_homes,
		.dir = dir,
		.clock = &app->clock };
}

/* ---- what it is called ---- */

static const struct master_row *find_name(const struct master_list *list, const char *name)
{
	vec_each (&list->rows, row)
		if (row->state.name && strcmp(row->state.name, name) == 0)
			return row;
	return NULL;
}

int manage_check_name(const char *dir, const char *name, const char *except, struct err *reterr)
{
	AUTO_FREE char *root = path_join(dir, MASTER_FOLDER);
	AUTO_MASTER_LIST list = MASTER_LIST_INIT;

	if (!name || !name[0] || master_list(root, &list, NULL) < 0)
		return 0;
	const struct master_row *row = find_name(&list, name);
	if (!row || (except && strcmp(row->state.id, except) == 0))
		return 0;
	return err_set(reterr, ERR_INPUT, "run %.8s of this folder is called \"%s\" already",
		row->state.id, name);
}

enum { TITLE_COLUMNS = 60 };

/* What it was given, or what its parent is called and how it came of that, with a number where that
 * is taken. Caller frees. */
static char *fork_name(
	const char *root, const struct master_state *s, const char *given, const char *how)
{
	AUTO_MASTER_LIST list = MASTER_LIST_INIT;
	AUTO_STR title = STR_INIT;

	if (given)
		return xstrdup(given);
	utf8_fit(&title, s->name ? sv_of(s->name) : str_sv(&s->task), TITLE_COLUMNS);
	str_addf(&title, " (%s", how);
	size_t len = title.len;
	(void)!master_list(root, &list, NULL);
	str_addc(&title, ')');
	for (int n = 2; find_name(&list, title.buf); n++) {
		str_cut(&title, len);
		str_addf(&title, ", %d)", n);
	}
	return str_detach(&title);
}

/* ---- which one ---- */

/* It is not here: it may be in another folder, and one that was cleaned away is in the archive. The
 * error stays ERR_NOTFOUND. */
static int say_where_it_is(struct app *app, const char *root, const char *text, struct err *reterr)
{
	const struct archive archive = app_archive(app);
	AUTO_FREE char *dir = path_folder(root);
	AUTO_MASTER_LIST kept = MASTER_LIST_INIT;
	AUTO_RUN_NAMED there = RUN_NAMED_INIT;
	const struct master_row *row = NULL;

	if (run_find_elsewhere(app, dir, text, &there)) {
		AUTO_STR again = STR_INIT;
		run_again(app, &there.row->state, there.row->path, true, &again);
		return err_set(reterr, ERR_NOTFOUND,
			"the run \"%s\" is one of another folder; go on with it there: %s", text,
			again.buf);
	}
	if (master_list_kept(&archive, &kept, NULL) < 0 ||
		master_find(&kept, text, &row, NULL) < 0 || !row)
		return ERR_NOTFOUND;
	return err_set(reterr, ERR_NOTFOUND,
		"run %s was deleted; this brings it back: faden archive restore %.8s",
		row->state.id, row->state.id);
}

static int open_named(struct app *app, const char *root, const char *text, unsigned flags,
	struct master_run **ret, struct err *reterr)
{
	AUTO_MASTER_LIST list = MASTER_LIST_INIT;
	const struct master_row *row = NULL;

	/* One that cannot be listed can still be opened by its id, and says what is wrong with it.
	 */
	if (strchr(text, '/') && path_exists(text))
		return master_open_file(text, flags, &app->clock, ret, reterr);
	if (uuid_valid(sv_of(text))) {
		int found = master_open(root, text, flags, &app->clock, ret, reterr);
		return found == ERR_NOTFOUND ? say_where_it_is(app, root, text, reterr) : found;
	}
	int r = master_list(root, &list, reterr);
	if (r == 0)
		r = master_find(&list, text, &row, reterr);
	return r == 0 ? master_open(root, row->state.id, flags, &app->clock, ret, reterr)
		: r == ERR_NOTFOUND ? say_where_it_is(app, root, text, reterr)
				    : r;
}

static void tell_found(struct app *app, const struct master_run *run)
{
	AUTO_STRV lines = STRV_INIT;

	view_run_found(master_found(run), &lines);
	for (size_t i = 0; i < lines.n; i++)
		say_note(app->err, "this run: %s", lines.v[i]);
}

int manage_open(struct app *app, const char *dir, const struct master_manage *m, unsigned flags,
	struct master_run **ret, struct err *reterr)
{
	AUTO_FREE char *root = path_join(dir, MASTER_FOLDER);
	int r;

	if (m->session_file && m->session)
		return err_set(reterr, ERR_USAGE, "--session or --session-file, not both");
	if (m->session_file)
		r = master_open_file(m->session_file, flags, &app->clock, ret, reterr);
	else if (m->session)
		r = open_named(app, root, m->session, flags, ret, reterr);
	else
		r = master_open(root, NULL, flags, &app->clock, ret, reterr);
	if (r == 0)
		tell_found(app, *ret);
	return r;
}

/* ---- the agents' sessions ---- */

/* The run that this one was copied from, if it is still where it was. */
static struct master_run *open_origin(
	struct app *app, const struct master_run *run, const char *was)
{
	AUTO_FREE char *path = xasprintf(
		"%s/%s/sessions/session-%s.json", was, MASTER_FOLDER, master_state(run)->id);
	struct master_run *origin = NULL;
	struct stat there, here;

	if (stat(path, &there) < 0 || stat(master_path(run), &here) < 0 ||
		(there.st_dev == here.st_dev && there.st_ino == here.st_ino))
		return NULL;
	return master_open_file(path, MASTER_LOOK | MASTER_FORCE, &app->clock, &origin, NULL) < 0
		? NULL
		: origin;
}

static bool same_text(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

static bool shares(const struct master_run *run, const struct master_run *other, int role)
{
	const struct master_side *a = &master_state(run)->side[role];
	const struct master_side *b = other ? &master_state(other)->side[role] : NULL;

	return b &&
		(same_text(a->session, b->session) || same_text(a->conversation, b->conversation));
}

int manage_sessions(struct app *app, const char *dir, const char *was, struct master_run *run,
	struct err *reterr)
{
	const struct master_place place = place_of(app, dir);
	struct master_run *origin = was ? open_origin(app, run, was) : NULL;
	int r = 0;

	for (int i = 0; i < MASTER_ROLES && r == 0; i++) {
		enum master_role role = (enum master_role)i;
		const char *name = master_role_name(role);
		CLEANUP(native_report_release) struct native_report report = NATIVE_REPORT_INIT;
		enum master_session state = MASTER_SESSION_NONE;
		bool written;
		uint64_t more = 0;
		r = master_session_look(run, role, &place, &state, &more, reterr);
		bool copied = state != MASTER_SESSION_GONE && shares(run, origin, i);
		const char *agent = master_state(run)->side[i].agent;
		const struct agent_def *kind = agent ? agent_named(sv_of(agent)) : NULL;
		/* It could not find its session from here. */
		bool moved = was && strcmp(was, dir) != 0 && state == MASTER_SESSION_HERE && kind &&
			kind->resume_in_folder;
		if (r < 0)
			break;
		if (copied)
			say_note(app->err,
				"the run that this is a copy of has the %s's session too: the copy "
				"goes on in one of its own",
				name);
		else if (state == MASTER_SESSION_MOVED_ON)
			say_note(app->err,
				"somebody else has gone on in the %s's session (%llu turn%s): the "
				"run goes on in a copy that ends where it was",
				name, (unsigned long long)more, more == 1 ? "" : "s");
		else if (moved)
			say_note(app->err,
				"%s looks for sessions by their folder: the %s's goes on here in a "
				"copy",
				kind->title, name);
		if (copied || moved || state == MASTER_SESSION_MOVED_ON)
			r = master_session_fork(run, role, &place, &written, reterr);
		if (state != MASTER_SESSION_GONE)
			continue;
		bool open = master_is_open(&master_state(run)->side[i]);
		r = master_session_write(run, role, &place, &report, reterr);
		/* Nothing was answered in it yet: it begins anew by itself. */
		if (r == ERR_NOTFOUND)
			r = 0;
		else if (r == 0)
			say_note(app->err,
				"the %s's session is not on this machine: it was written back from "
				"the run with %llu prompts and their answers, without calls of "
				"tools%s",
				name, (unsigned long long)report.prompts,
				open ? "; what was under way there is told as failed" : "");
	}
	(void)master_close(origin, NULL);
	return r;
}

static int fork_sessions(struct app *app, const char *dir, struct master_run *run,
	unsigned *ret_written, struct err *reterr)
{
	const struct master_place place = place_of(app, dir);
	int r = 0;

	*ret_written = 0;
	for (int i = 0; i < MASTER_ROLES && r == 0; i++) {
		bool written;
		r = master_session_fork(run, (enum master_role)i, &place, &written, reterr);
		*ret_written |= r == 0 && written ? 1U << i : 0;
	}
	return r;
}

int manage_fork(struct app *app, const char *dir, const struct master_manage *m,
	struct master_run **run, struct err *reterr)
{
	AUTO_FREE char *root = path_join(dir, MASTER_FOLDER);
	AUTO_FREE char *how = xasprintf("from round %lld on", m->fork_at);
	AUTO_FREE char *name = fork_name(root, master_state(*run), m->name, how);
	struct master_run *child = NULL;
	unsigned written = 0;

	if (m->fork_at < 0)
		return 0;
	int r = master_fork(*run, root, m->fork_at, name, &child, reterr);
	if (r < 0)
		return r;
	struct err closing = ERR_INIT;
	if (master_close(*run, &closing) < 0)
		say_note(app->err, "%s", closing.msg);
	*run = child;
	return fork_sessions(app, dir, child, &written, reterr);
}

/* ---- what was made ---- */

/* With m->dry_run none was made, and run is the one that it would have been made of. */
static void print_made(struct app *app, const struct master_manage *m, const struct master_run *run,
	struct run_made *made)
{
	AUTO_STR out = STR_INIT, again = STR_INIT;
	struct jw w = JW_INIT(&out);
	struct term t;

	run_again(app, master_state(run), master_path(run), true, &again);
	made->state = master_state(run);
	made->path = master_path(run);
	made->found = master_found(run);
	made->again = m->dry_run ? NULL : again.buf;
	if (m->json) {
		view_json_run_made(&w, made);
		print_doc(app, &out);
		return;
	}
	print_begin(app, &t);
	view_run_made(&t, made);
	print_end(&t);
}

static int do_import(
	struct app *app, const char *dir, const struct master_manage *m, struct err *reterr)
{
	AUTO_FREE char *root = path_join(dir, MASTER_FOLDER);
	struct master_run *run = NULL;

	int r = master_import(root, m->import, &app->clock, &run, reterr);
	if (r < 0)
		return r;
	if (m->name) {
		struct master_step name = MASTER_STEP_INIT(MASTER_STEP_NAME);
		name.text = sv_of(m->name);
		r = master_step(run, &name, reterr);
	}
	if (r == 0)
		print_made(app, m, run, &(struct run_made){ .how = "imported" });
	int closed = master_close(run, r < 0 ? NULL : reterr);
	return r < 0 ? r : closed;
}

static int do_fork(
	struct app *app, const char *dir, const struct master_manage *m, struct err *reterr)
{
	struct master_run *run = NULL;

	int r = manage_open(app, dir, m, MASTER_LOOK | (m->force ? MASTER_FORCE : 0), &run, reterr);
	if (r < 0)
		return r;
	if (!m->dry_run)
		r = manage_fork(app, dir, m, &run, reterr);
	else if (m->fork_at > master_state(run)->round)
		r = err_set(reterr, ERR_NOTFOUND, "there is no round %lld: it had %lld", m->fork_at,
			(long long)master_state(run)->round);
	if (r == 0)
		print_made(app, m, run, &(struct run_made){ .how = "forked", .round = m->fork_at });
	int closed = master_close(run, r < 0 ? NULL : reterr);
	return r < 0 ? r : closed;
}

/* ---- list and clean ---- */

static void say_none(struct app *app, const char *dir)
{
	enum { SHOWN = 3 };
	AUTO_STRV others = STRV_INIT;
	AUTO_STR names = STR_INIT;

	run_folders(app, dir, &others);
	for (size_t i = 0; i < others.n && i < SHOWN; i++) {
		str_adds(&names, i ? ", " : "; others have some: ");
		shell_shown(&names, others.v[i]);
	}
	say_note(app->err, "there is no run in this folder%s%s%s", names.len ? names.buf : "",
		others.n > SHOWN ? ", …" : "", others.n ? " (-d DIR)" : "");
}

static int do_list(
	struct app *app, const char *dir, const struct master_manage *m, struct err *reterr)
{
	AUTO_FREE char *root = path_join(dir, MASTER_FOLDER);
	AUTO_MASTER_LIST list = MASTER_LIST_INIT;
	AUTO_STR out = STR_INIT;
	struct jw w = JW_INIT(&out);
	struct term t;

	int r = master_list(root, &list, reterr);
	if (r < 0)
		return r;
	if (m->json) {
		view_json_runs(&w, &list);
		print_doc(app, &out);
		return list.rows.n ? 0 : 1;
	}
	print_begin(app, &t);
	view_runs(&t, &list, clock_wall_ms(&app->clock));
	print_end(&t);
	vec_each (&list.bad, bad)
		say_note(app->err, "%s is left out: %s", bad->path, bad->why.msg);
	if (list.rows.n == 0)
		say_none(app, dir);
	return list.rows.n ? 0 : 1;
}

static int do_clean(
	struct app *app, const char *dir, const struct master_manage *m, struct err *reterr)
{
	AUTO_FREE char *root = path_join(dir, MASTER_FOLDER);
	const struct archive archive = app_archive(app);
	const int64_t before = clock_wall_ms(&app->clock) - m->older_ms;
	AUTO_MASTER_LIST list = MASTER_LIST_INIT;
	struct runs_cleaned done = { .dry = m->dry_run };
	AUTO_STR out = STR_INIT;
	struct jw w = JW_INIT(&out);
	struct term t;

	if (m->older_ms <= 0)
		return err_set(reterr, ERR_USAGE, "say how old: --clean-sessions --older-than 7d");
	int r = master_list(root, &list, reterr);
	if (r < 0)
		return r;
	vec_each (&list.rows, row) {
		if (row->state.updated_ms >= before)
			continue;
		if (!m->dry_run)
			r = master_delete(root, row->state.id, &archive, reterr);
		if (r == ERR_BUSY || (m->dry_run && row->pid)) {
			done.in_use++;
			r = 0;
			continue;
		}
		if (r < 0)
			return r;
		done.runs++;
		done.bytes += row->bytes;
	}
	if (m->json) {
		view_json_runs_cleaned(&w, &done);
		print_doc(app, &out);
	} else if (done.runs + done.in_use == 0) {
		say_note(app->err, "no run is that old");
	} else {
		print_begin(app, &t);
		view_runs_cleaned(&t, &done);
		print_end(&t);
	}
	return done.runs ? 0 : 1;
}

/* ---- two of them ---- */

struct two {
	struct master_run *run[2];
	struct master_rounds rounds[2];
	size_t common;
	struct master_changes changes[2]; /* since they parted */
	struct strv conflicts; /* files that both have changed */
};
#define TWO_INIT                                                                                 \
	{                                                                                        \
		.changes = { MASTER_CHANGES_INIT, MASTER_CHANGES_INIT }, .conflicts = STRV_INIT, \
	}

static void two_close(struct two *t)
{
	for (int i = 0; i < 2; i++) {
		master_rounds_release(&t->rounds[i]);
		master_changes_release(&t->changes[i]);
		(void)master_close(t->run[i], NULL);
	}
	strv_release(&t->conflicts);
}

static int two_open(
	struct app *app, const char *root, char **names, struct two *ret, struct err *reterr)
{
	int r = 0;

	for (int i = 0; i < 2 && r == 0; i++) {
		r = open_named(app, root, names[i], MASTER_LOOK, &ret->run[i], reterr);
		if (r == 0)
			r = master_rounds_read(ret->run[i], &ret->rounds[i], reterr);
	}
	if (r < 0)
		return r;
	ret->common = master_rounds_common(&ret->rounds[0], &ret->rounds[1]);
	for (int i = 0; i < 2 && r == 0; i++)
		r = master_changes_read(ret->run[i], ret->common, app->homes, app->n_homes,
			&ret->changes[i], reterr);
	master_changes_both(&ret->changes[0], &ret->changes[1], &ret->conflicts);
	return r;
}

static int do_diff(struct app *app, const char *dir, const struct master_manage *m, char **argv,
	struct err *reterr)
{
	AUTO_FREE char *root = path_join(dir, MASTER_FOLDER);
	CLEANUP(two_close) struct two two = TWO_INIT;
	AUTO_STR out = STR_INIT;
	struct jw w = JW_INIT(&out);
	struct term t;

	int r = two_open(app, root, argv, &two, reterr);
	if (r < 0)
		return r;
	const struct runs_diff d = {
		.state = { master_state(two.run[0]), master_state(two.run[1]) },
		.rounds = { &two.rounds[0], &two.rounds[1] },
		.changes = two.changes,
		.conflicts = &two.conflicts,
		.common = two.common,
		.stat = m->stat,
	};
	if (m->json) {
		view_json_runs_diff(&w, &d);
		print_doc(app, &out);
	} else {
		app_pager_begin(app);
		print_begin(app, &t);
		view_runs_diff(&t, &d);
		print_end(&t);
	}
	return two.rounds[0].v.n == two.common && two.rounds[1].v.n == two.common ? 0 : 1;
}

/* What the instructor gets of the other one. */
static int bring_words(const struct two *two, struct str *out, struct err *reterr)
{
	const struct strv *conflicts = &two->conflicts;
	int r = master_conclusions(two->run[0], two->run[1], two->common, out, reterr);

	for (size_t i = 0; i < conflicts->n; i++)
		str_addf(out, "%s%s", i ? ", " : "\n\nChanged there and here: ", conflicts->v[i]);
	if (two->changes[1].commands > 0)
		str_addf(out,
			"\n\nIts worker ran commands in a shell (%llu; the one here %llu): which "
			"files those changed is not known.",
			(unsigned long long)two->changes[1].commands,
			(unsigned long long)two->changes[0].commands);
	return r;
}

static int make_merge(struct app *app, const char *dir, const struct master_manage *m,
	const struct two *two, struct run_made *made, struct err *reterr)
{
	AUTO_FREE char *root = path_join(dir, MASTER_FOLDER);
	const struct master_state *home = master_state(two->run[0]);
	const struct master_state *other = master_state(two->run[1]);
	AUTO_FREE char *how = xasprintf("with %.8s", other->id);
	AUTO_FREE char *name = fork_name(root, home, m->name, how);
	struct master_step origin = MASTER_STEP_INIT(MASTER_STEP_ORIGIN);
	struct master_step say = MASTER_STEP_INIT(MASTER_STEP_SAY);
	struct master_run *child = NULL;
	AUTO_STR brought = STR_INIT;

	int r = bring_words(two, &brought, reterr);
	if (r < 0)
		return r;
	if (m->dry_run) {
		print_made(app, m, two->run[0], made);
		return 0;
	}
	r = master_fork(two->run[0], root, home->round, name, &child, reterr);
	if (r == 0)
		r = fork_sessions(app, dir, child, &made->written, reterr);
	origin.text = sv_of(other->id);
	origin.begin = MASTER_BEGIN_MERGED;
	origin.round = other->round;
	if (r == 0)
		r = master_step(child, &origin, reterr);
	say.text = str_sv(&brought);
	if (r == 0)
		r = master_step(child, &say, reterr);
	if (r == 0)
		print_made(app, m, child, made);
	int closed = master_close(child, r < 0 ? NULL : reterr);
	return r < 0 ? r : closed;
}

static int do_merge(struct app *app, const char *dir, const struct master_manage *m, char **argv,
	struct err *reterr)
{
	AUTO_FREE char *root = path_join(dir, MASTER_FOLDER);
	CLEANUP(two_close) struct two two = TWO_INIT;
	AUTO_MASTER_LIST list = MASTER_LIST_INIT;
	struct run_made made = { .how = "merged" };

	int r = two_open(app, root, argv, &two, reterr);
	if (r == 0)
		r = master_list(root, &list, reterr);
	if (r < 0)
		return r;
	made.round = master_state(two.run[0])->round;
	made.other = master_state(two.run[1]);
	made.changes = two.changes;
	made.conflicts = &two.conflicts;
	if (!m->unrelated &&
		!master_related(&list, master_state(two.run[0]), made.other, two.common))
		return err_set(reterr, ERR_INPUT,
			"the runs have no instruction in common, and neither comes from the other; "
			"--unrelated merges them all the same");
	return make_merge(app, dir, m, &two, &made, reterr);
}

int manage_here(struct app *app, const char *dir, const char *path, struct err *reterr)
{
	struct master_step step = MASTER_STEP_INIT(MASTER_STEP_CONFIG);
	AUTO_MASTER_CONFIG c = MASTER_CONFIG_INIT;
	struct master_run *run = NULL;

	int r = master_open_file(path, 0, &app->clock, &run, reterr);
	if (r < 0)
		return r;
	master_config_copy(&c, &master_state(run)->config);
	AUTO_FREE char *was = c.dir;
	c.dir = xstrdup(dir);
	step.config = &c;
	if (!was || strcmp(was, dir) != 0) {
		r = master_step(run, &step, reterr);
		if (r == 0)
			r = manage_sessions(app, dir, was, run, reterr);
	}
	int closed = master_close(run, r < 0 ? NULL : reterr);
	return r < 0 ? r : closed;
}

int manage_port(struct app *app, const char *path, const char *to, const char *name, bool json,
	struct err *reterr)
{
	const struct master_manage how = { .json = json };
	struct master_run *from = NULL, *child = NULL;
	struct master_step step = MASTER_STEP_INIT(MASTER_STEP_CONFIG);
	AUTO_MASTER_CONFIG c = MASTER_CONFIG_INIT;
	AUTO_FREE char *words = xasprintf("with %s", to);

	int r = master_open_file(path, MASTER_LOOK, &app->clock, &from, reterr);
	if (r < 0)
		return r;
	const struct master_state *s = master_state(from);
	AUTO_FREE char *dir = xstrdup(s->config.dir ? s->config.dir : app->cwd);
	AUTO_FREE char *root = path_join(dir, MASTER_FOLDER);
	AUTO_FREE char *title = fork_name(root, s, name, words);
	const struct master_place place = place_of(app, dir);
	if (same_text(s->config.agent[MASTER_INSTRUCTOR], to) &&
		same_text(s->config.agent[MASTER_WORKER], to))
		r = err_set(reterr, ERR_USAGE,
			"both are %s already; a copy of it is made by: faden fork %.8s", to, s->id);
	if (r == 0)
		r = manage_check_name(dir, name, NULL, reterr);
	if (r == 0)
		r = master_fork(from, root, s->round, title, &child, reterr);
	for (int i = 0; i < MASTER_ROLES && r == 0; i++) {
		enum master_role role = (enum master_role)i;
		struct port_report report = PORT_REPORT_INIT;
		bool written;
		r = same_text(s->config.agent[i], to)
			? master_session_fork(child, role, &place, &written, reterr)
			: master_session_port(child, role, &place, to, &report, reterr);
		port_report_release(&report);
	}
	/* Models are of an agent. */
	master_config_copy(&c, &s->config);
	for (int i = 0; i < MASTER_ROLES; i++) {
		if (!same_text(c.agent[i], to))
			free(TAKE_PTR(c.model[i]));
		free(c.agent[i]);
		c.agent[i] = xstrdup(to);
	}
	step.config = &c;
	if (r == 0)
		r = master_step(child, &step, reterr);
	if (r == 0) {
		struct master_step origin = MASTER_STEP_INIT(MASTER_STEP_ORIGIN);
		origin.text = sv_of(s->id);
		origin.begin = MASTER_BEGIN_PORTED;
		origin.round = s->round;
		r = master_step(child, &origin, reterr);
	}
	if (r == 0)
		print_made(app, &how, child, &(struct run_made){ .how = "ported" });
	AUTO_FREE char *half = r < 0 && child ? xstrdup(master_path(child)) : NULL;
	int closed = master_close(child, r < 0 ? NULL : reterr);
	/* Half a port is nothing to go on with; the sessions that it made stay. */
	if (half)
		(void)unlink(half);
	(void)master_close(from, NULL);
	return r < 0 ? r : closed;
}

/* What the instructor said to the worker, said again to another model: the worker's session is
 * replayed. */
static int do_replay(
	struct app *app, const char *dir, const struct master_manage *m, struct err *reterr)
{
	AUTO_FREE char *root = path_join(dir, MASTER_FOLDER);
	const struct cmd *replay = cmd_find(SV("replay"));
	struct master_run *run = NULL;
	AUTO_STRV words = STRV_INIT;

	if (!replay)
		return err_set(reterr, ERR_USAGE, "this faden cannot replay sessions");
	int r = open_named(app, root, m->replay, MASTER_LOOK, &run, reterr);
	if (r < 0)
		return r;
	const struct master_side *worker = &master_state(run)->side[MASTER_WORKER];
	if (worker->session) {
		strv_add(&words, worker->session);
		if (m->with_model) {
			strv_add(&words, "--model");
			strv_add(&words, m->with_model);
		}
		if (m->json)
			strv_add(&words, "--json");
	} else {
		r = err_set(reterr, ERR_NOTFOUND, "nothing was said to its worker yet");
	}
	int closed = master_close(run, r < 0 ? NULL : reterr);
	r = r < 0 ? r : closed;
	return r < 0 ? r : cmd_call(app, replay, (int)words.n, words.v, reterr);
}

bool manages_only(const struct master_manage *m, int argc)
{
	return m->list || m->clean || m->diff || m->merge || m->import || m->replay ||
		m->save_to_cloud || m->from_cloud || (m->fork_at >= 0 && !m->resume && argc == 0);
}

int manage_runs(struct app *app, const char *dir, const struct master_manage *m, int argc,
	char **argv, struct err *reterr)
{
	if (m->list + m->clean + m->diff + m->merge + (m->import != NULL) + (m->replay != NULL) +
			m->save_to_cloud + m->from_cloud >
		1)
		return err_set(reterr, ERR_USAGE,
			"one of --list-sessions, --clean-sessions, --diff, --merge, --import, "
			"--replay at a time");
	if (m->save_to_cloud || m->from_cloud)
		return err_set(reterr, ERR_USAGE,
			"faden does not share runs by a server yet; 'faden export' makes one file "
			"of a run, and --session-file goes on with a run in any folder that both "
			"machines see");
	int r = manage_check_name(dir, m->name, NULL, reterr);
	if (r < 0)
		return r;
	if (m->diff || m->merge) {
		if (argc != 2)
			return err_set(reterr, ERR_USAGE, "%s needs two runs: faden master %s A B",
				m->diff ? "--diff" : "--merge", m->diff ? "--diff" : "--merge");
		return m->diff ? do_diff(app, dir, m, argv, reterr)
			       : do_merge(app, dir, m, argv, reterr);
	}
	if (argc > 0)
		return err_set(reterr, ERR_USAGE, "'%s' is one word too many", argv[0]);
	if (m->list)
		return do_list(app, dir, m, reterr);
	if (m->clean)
		return do_clean(app, dir, m, reterr);
	if (m->import)
		return do_import(app, dir, m, reterr);
	return m->replay ? do_replay(app, dir, m, reterr) : do_fork(app, dir, m, reterr);
}
