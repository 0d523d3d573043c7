#include "cli/make.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "assist/kit.h"
#include "assist/learn.h"
#include "base/mem.h"
#include "cli/env.h"
#include "cli/print.h"
#include "cli/sessions.h"
#include "os/path.h"
#include "os/proc.h"
#include "os/unpack.h"

/* ---- where ---- */

void out_folder_release(struct out_folder *o)
{
	free(o->dir);
}

int out_folder_find(const char *given, struct out_folder *ret, struct err *reterr)
{
	struct stat st;

	if (!given)
		return 0;
	ret->missing = stat(given, &st) < 0;
	if (!ret->missing && !S_ISDIR(st.st_mode))
		return err_set(reterr, ERR_INPUT, "--out %s is no folder", given);
	if (!ret->missing)
		return path_real(given, &ret->dir, reterr);
	struct sv base = path_base(sv_of(given)), parent = path_parent(sv_of(given));
	AUTO_FREE char *above = parent.n ? xmemdup0(parent.p, parent.n) : xstrdup(".");
	AUTO_FREE char *real = NULL;
	if (stat(above, &st) < 0 || !S_ISDIR(st.st_mode) || base.n == 0)
		return err_set(reterr, ERR_INPUT, "--out %s: there is no such folder", given);
	int r = path_real(above, &real, reterr);
	if (r >= 0)
		ret->dir = xasprintf("%s/%.*s", strcmp(real, "/") == 0 ? "" : real, SV_ARG(base));
	return r;
}

int out_folder_done(
	struct app *app, const struct out_folder *o, bool in_place, int r, struct err *err)
{
	bool full = r == -EROFS || r == -EACCES || r == -EPERM || r == -ENOSPC || r == -EDQUOT;
	struct err before = *err;

	if (full && strstr(before.msg, app->paths.data_dir))
		(void)err_set(err, r,
			"%s (originals are kept there; XDG_DATA_HOME names another folder)",
			before.msg);
	else if (full && !o->dir && !in_place)
		(void)err_set(err, r, "%s (--out DIR writes a new session elsewhere)", before.msg);
	if (o->missing && r >= 0)
		say_note(app->err, "made the folder %s", o->dir);
	else if (o->missing)
		(void)rmdir(o->dir);
	return r;
}

static int is_fork(void *data, const struct session_row *row)
{
	*(bool *)data |= row->info.relation == SESSION_FORKED;
	return 0;
}

int in_place_check(
	struct app *app, const struct session_row *row, const char *instead, struct err *reterr)
{
	AUTO_STR who = STR_INIT;
	struct stat st;
	bool forks = false;

	/* Whoever leaves no note has the file open; who opens it for each line is met later. */
	if (sessions_writer(app, row, &who) ||
		(stat(row->info.path, &st) == 0 && proc_writer_of(&st, &who)))
		return err_set(reterr, ERR_BUSY,
			"the session is in use by %s: leave it first, or %s", who.buf, instead);
	if (unpack_is(sv_of(row->info.path)))
		return err_set(reterr, ERR_INPUT, "%s keeps the session compressed: %s", row->agent,
			instead);
	if (!transcript_forks_share(row->info.format))
		return 0;
	int r = sessions_refresh(app, reterr);
	if (r == 0)
		r = catalogue_children(app->store, &row->info, is_fork, &forks, reterr);
	if (r == 0 && forks)
		return err_set(reterr, ERR_BUSY,
			"sessions that were forked from this one are read from its file: %s",
			instead);
	return r;
}

/* ---- how to go on ---- */

static bool same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_ino == y.st_ino && x.st_dev == y.st_dev;
}

/* Whether this very file is what is found by the id. */
static bool is_found(
	const struct app *app, const struct transcript_format *format, const struct made *m)
{
	for (size_t i = 0; i < app->n_homes; i++) {
		AUTO_FREE char *found = NULL;
		if (app->homes[i].format == format &&
			transcript_find(&app->homes[i], sv_of(m->id), &found, NULL) >= 0 && found &&
			same_file(found, m->path))
			return true;
	}
	return false;
}

/* The folder that the session says at its beginning it belongs to; NULL when it does not. */
static char *folder_of(const struct transcript_format *format, const char *path)
{
	enum { HEAD = 1024 * 1024 }; /* enough to tell where its work is */
	struct session_info info;
	struct stat st;
	AUTO_CLOSE int fd = unpack_open(path, NULL, NULL);
	char *cwd = NULL;

	session_info_init(&info, format, path);
	if (fd >= 0 && fstat(fd, &st) == 0 &&
		transcript_scan(fd, st.st_size < HEAD ? (uint64_t)st.st_size : HEAD, &info, NULL) >=
			0 &&
		info.cwd[0] == '/')
		cwd = xstrdup(info.cwd);
	session_info_release(&info);
	return cwd;
}

/* Where the agent would look for it; NULL when that is not known or taken. */
static char *place_of(struct app *app, const struct transcript_format *format, const struct made *m)
{
	const struct transcript_home *home = app_home(app, m->parent->agent);
	char *place = NULL;

	if (!home || home->format != format || !uuid_valid(sv_of(m->id)))
		return NULL;
	place = transcript_new_path(home, m->dir ? m->dir : "", clock_wall_ms(&app->clock), m->id);
	if (!place || !path_exists(place))
		return place;
	free(place);
	return NULL;
}

void made_find_next(struct app *app, const struct transcript_format *format, struct made *m)
{
	const struct agent_def *agent = agent_named(sv_of(m->agent));
	struct sv words = sv_of(agent ? agent->resume : NULL), word;

	if (!m->path)
		return;
	m->talking = env_get(ENV_TALKING) != NULL;
	if (!m->dir)
		m->dir = folder_of(format, m->path);
	m->unseen = !is_found(app, format, m);
	if (m->unseen) {
		m->place = place_of(app, format, m);
		return;
	}
	if (m->id[0] == '-')
		return; /* no agent takes it for an id */
	m->by_dir = agent && agent->resume_in_folder;
	while (sv_split(&words, ' ', &word))
		strv_addsv(&m->resume, word);
	if (m->resume.n > 0)
		strv_add(&m->resume, m->id);
}

/* ---- whose place it takes ---- */

/* In which folder it goes on from now on; NULL: the parent does not go on anywhere. */
static char *place_to_take(struct app *app, const struct resolved *of, const struct conv *old)
{
	AUTO_CONV current = CONV_INIT;
	char *here = NULL;

	if (old->id[0] && conv_current(app->store, old->dir, &app->clock, &current, NULL) >= 0 &&
		strcmp(current.id, old->id) == 0)
		return xstrdup(old->dir);
	return of->last_here && kit_dir(app->settings, app->cwd, &here, NULL) >= 0 ? here : NULL;
}

/* The name that was given to the parent here, "" for none. Caller frees. */
static char *name_to_move(struct app *app, const struct made *m)
{
	AUTO_SESSION_ROW parent = SESSION_ROW_INIT;

	return catalogue_by_path(app->store, m->parent->info.path, &parent, NULL) < 0
		? xstrdup("")
		: TAKE_PTR(parent.own_name);
}

/* It stays unique, so that it leads to where the thread goes on. */
static int move_name(struct app *app, const char *name, const struct conv *old, struct made *m,
	struct err *reterr)
{
	int r = catalogue_rename(app->store, m->parent->agent, m->parent->info.id, "", reterr);

	if (r >= 0 && old->id[0] && old->session && strcmp(old->session, m->parent->info.id) == 0)
		r = conv_rename(app->store, old->id, NULL, reterr);
	if (r >= 0)
		r = catalogue_rename(app->store, m->agent, m->id, name, reterr);
	if (r >= 0)
		m->name = xstrdup(name);
	return r;
}

/* What is said in the new one is about the same. */
static int inherit(
	struct app *app, const struct conv *old, const struct conv *heir, struct err *reterr)
{
	struct router *router = NULL;

	if (!old->id[0] || strcmp(app->settings->routing_enabled, "false") == 0)
		return 0;
	int r = kit_router(app->settings, NULL, NULL, &router, reterr);
	if (r >= 0)
		r = learn_heir(app->store, router, heir, old, reterr);
	router_free(router);
	return r;
}

static int take_over(struct app *app, const struct session_row *row, const struct conv *old,
	const char *place, struct made *m, struct err *reterr)
{
	AUTO_CONV heir = CONV_INIT;
	int r = sessions_adopt(app, row, &heir, reterr);

	if (r >= 0)
		r = inherit(app, old, &heir, reterr);
	if (r >= 0 && place)
		r = conv_place(app->store, place, heir.id, &app->clock, reterr);
	if (r >= 0)
		m->conversation = xstrdup(heir.id);
	return r;
}

bool made_take_over(struct app *app, const struct resolved *of, struct made *m)
{
	const struct transcript_home *home = app_home(app, m->agent);
	AUTO_SESSION_ROW row = SESSION_ROW_INIT;
	AUTO_CONV old = CONV_INIT;
	struct err err = ERR_INIT;

	if (!m->path || m->in_place || m->unseen || !home)
		return true;
	int r = conv_by_session(
		app->store, m->parent->agent, m->parent->info.id, &app->clock, &old, &err);
	AUTO_FREE char *place = place_to_take(app, of, &old);
	AUTO_FREE char *name = name_to_move(app, m);
	/* What goes on in another session is a conversation of ours at once; a copy when used. */
	bool ours = place || m->relation == SESSION_CONTINUED || m->relation == SESSION_MOVED;
	if (!ours && !name[0])
		return true;
	if (app->forgets)
		r = err_set(&err, ERR_STORE, "the store cannot be written");
	/* Read before the store is held: it may be long. */
	if (r >= 0 || r == ERR_NOTFOUND)
		r = catalogue_take(app->store, home, m->path, &row, &err);
	if (r >= 0)
		r = store_begin(app->store, &err);
	if (r >= 0) {
		r = ours ? take_over(app, &row, &old, place, m, &err) : 0;
		if (r >= 0 && name[0])
			r = move_name(app, name, &old, m, &err);
		r = store_end(app->store, r, &err);
	}
	m->current = r >= 0 && place;
	if (r >= 0)
		return true;
	free(TAKE_PTR(m->conversation));
	free(TAKE_PTR(m->name));
	say_note(app->err, "warning: the new session does not take the old one's place: %s",
		err.msg);
	return false;
}

int made_place(struct app *app, const char *name, bool current, struct made *m, struct err *reterr)
{
	const struct transcript_home *home = app_home(app, m->agent);
	AUTO_SESSION_ROW row = SESSION_ROW_INIT;
	AUTO_CONV heir = CONV_INIT;

	if (!m->path || !home || (!name && !current))
		return 0;
	if (m->unseen)
		return err_set(reterr, ERR_INPUT,
			"%s does not find the session there: it gets no %s", m->agent,
			name ? "name" : "place");
	int r = catalogue_take(app->store, home, m->path, &row, reterr);
	if (r >= 0)
		r = store_begin(app->store, reterr);
	if (r < 0)
		return r;
	if (name)
		r = catalogue_rename(app->store, m->agent, m->id, name, reterr);
	if (r >= 0 && current)
		r = sessions_adopt(app, &row, &heir, reterr);
	if (r >= 0 && current)
		r = conv_place(app->store, heir.dir, heir.id, &app->clock, reterr);
	r = store_end(app->store, r, reterr);
	if (r < 0)
		return r;
	m->name = name ? xstrdup(name) : NULL;
	m->conversation = current ? xstrdup(heir.id) : NULL;
	m->current = current;
	return name ? sessions_tell_namesake(app, m->agent, m->id, name, reterr) : 0;
}
