#include "cli/sessions.h"
#include "assist/kit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/utf8.h"
#include "cli/env.h"
#include "cli/find.h"
#include "store/conv.h"
#include "ui/progress.h"

static void warn(struct app *app, const char *message, const char *consequence)
{
	AUTO_STR line = STR_INIT;
	utf8_scrub_line(&line, sv_of(message));
	(void)fprintf(app->err, "faden: warning: %s%s\n", line.buf, consequence);
}

/* ---- the catalogue ---- */

/* What the store holds is kept, as far as it can be read: names, and what goes on where. */
static int use_memory(struct app *app, const struct err *why, struct err *reterr)
{
	struct store *copy = NULL;
	warn(app, why->msg, "; the sessions are read for this once");
	if (!app->store || store_copy(app->store, &app->log, &copy, NULL) < 0) {
		int rc = store_open(NULL, STORE_MEMORY, &app->log, &copy, reterr);
		if (rc < 0)
			return rc;
	}
	store_close(app->store);
	app->store = copy;
	return 0;
}

int sessions_open(struct app *app, struct err *reterr)
{
	struct store *store;
	struct err err = ERR_INIT;
	app->looks = true;
	if (app_store(app, &store, &err) >= 0)
		return 0;
	return use_memory(app, &err, reterr);
}

int sessions_open_to(struct app *app, bool looks, struct err *reterr)
{
	struct store *store;
	return looks ? sessions_open(app, reterr) : app_store(app, &store, reterr);
}

bool sessions_go_on(struct app *app, int code, const struct err *why)
{
	return app->looks && err_exit_status(code) == err_exit_status(ERR_STORE) &&
		use_memory(app, why, NULL) >= 0;
}

struct refreshing {
	struct app *app;
	struct term term;
	struct progress progress;
};

static void on_progress(void *data, const struct catalogue_progress *p)
{
	struct refreshing *r = data;
	progress_update(
		&r->progress, p->bytes_done, p->bytes, clock_age_ms(&(struct clock){ false, 0 }));
}

static void on_trouble(void *data, const struct err *err)
{
	struct refreshing *r = data;
	warn(r->app, err->msg, "; left out");
}

static int refresh(struct app *app, struct err *reterr)
{
	struct refreshing r = { .app = app };
	const struct catalogue_opts opts = {
		.progress = on_progress, .trouble = on_trouble, .data = &r
	};
	const struct term_opts screen = { .fd = STDERR_FILENO, .term_name = env_get("TERM") };
	term_init(&r.term, &screen);
	progress_init(&r.progress, &r.term, SV("Reading sessions"), PROGRESS_BYTES,
		clock_age_ms(&(struct clock){ false, 0 }));
	int rc = catalogue_refresh(app->store, app->homes, app->n_homes, &opts, NULL, reterr);
	progress_release(&r.progress);
	term_release(&r.term);
	return rc;
}

/* A full disk or a store that another process holds for ever must not hide the sessions. */
int sessions_refresh(struct app *app, struct err *reterr)
{
	struct err err = ERR_INIT;
	int rc = refresh(app, &err);
	if (rc < 0 && sessions_go_on(app, rc, &err))
		return refresh(app, reterr);
	if (rc < 0 && reterr)
		*reterr = err;
	return rc < 0 ? rc : 0;
}

/* ---- who writes, what goes on ---- */

enum { HOLDERS_SINCE_MS = 24 * 3600 * 1000, HOLDERS_MAX = 200 };

static int add_holder(void *data, const struct conv *c)
{
	if (c->session && c->owner.pid > 0 && proc_id_check(&c->owner) == PROC_ALIVE)
		(void)map_put(data, sv_of(c->session), (uint64_t)c->owner.pid);
	return 0;
}

void sessions_writers(struct app *app, struct map *ids)
{
	int64_t since = clock_wall_ms(&app->clock) - HOLDERS_SINCE_MS;
	/* Without our own holders the list is still worth something. */
	if (conv_each(app->store, since, HOLDERS_MAX, &app->clock, add_holder, ids, NULL) < 0)
		log_write(&app->log, LOG_WARN, "holders of conversations cannot be read");
	for (size_t i = 0; i < app->n_homes; i++)
		transcript_writers(&app->homes[i], ids);
}

bool sessions_in_use(struct app *app, const char *id)
{
	AUTO_MAP writers = MAP_INIT;
	uint64_t pid;

	sessions_writers(app, &writers);
	return map_get(&writers, sv_of(id), &pid);
}

struct session_view sessions_view(struct app *app, const struct session_row *row)
{
	AUTO_MAP writers = MAP_INIT;
	AUTO_FREE char *current = sessions_current(app);
	uint64_t pid = 0;

	sessions_writers(app, &writers);
	bool live = map_get(&writers, sv_of(row->info.id), &pid);
	return (struct session_view){
		.row = row,
		.live = live,
		.pid = (int64_t)pid,
		.current = current && strcmp(current, row->info.id) == 0,
	};
}

struct damage sessions_damage(struct app *app, const struct session_row *row)
{
	return damage_of(row->info.path, row->info.format, sessions_in_use(app, row->info.id));
}

void sessions_warn_damage(struct app *app, const struct damage *d, const char *id)
{
	AUTO_STR text = STR_INIT;

	damage_text(d, id, &text);
	if (text.len > 0)
		warn(app, text.buf, "");
}

bool sessions_writer(struct app *app, const struct session_row *row, struct str *who)
{
	const struct transcript_home *home = app_home(app, row->agent);
	AUTO_MAP writers = MAP_INIT;
	uint64_t pid = 0;

	sessions_writers(app, &writers);
	if (!map_get(&writers, sv_of(row->info.id), &pid)) {
		pid = home ? (uint64_t)transcript_loader(home, row->info.id) : 0;
		if (pid == 0)
			return false;
	}
	writer_describe(row->agent, (int64_t)pid, who);
	return true;
}

char *sessions_current(struct app *app)
{
	AUTO_CONV conv = CONV_INIT;
	AUTO_FREE char *dir = NULL;
	if (kit_dir(app->settings, app->cwd, &dir, NULL) < 0 ||
		conv_current(app->store, dir, &app->clock, &conv, NULL) < 0)
		return NULL;
	return TAKE_PTR(conv.session);
}

static int take_id(void *data, const struct session_row *row)
{
	char **id = data;
	*id = xstrdup(row->info.id);
	return 0;
}

/* Who uses the agents by themselves has no conversation with us, but sessions. */
static char *last_here(struct app *app)
{
	AUTO_FREE char *dir = NULL;
	char *id = NULL;
	if (kit_dir(app->settings, app->cwd, &dir, NULL) < 0 || sessions_refresh(app, NULL) < 0)
		return NULL;
	const struct catalogue_query query = { .dir = dir, .limit = 1 };
	if (catalogue_query(app->store, &query, take_id, &id, NULL) == 0 && id)
		(void)fprintf(app->err, "faden: the last session of this folder: %s\n", id);
	return id;
}

int sessions_given(struct app *app, int argc, char **argv, char **ret_spec, struct err *reterr)
{
	char *spec = argc > 0 ? xstrdup(argv[0]) : sessions_current(app);
	if (!spec)
		spec = last_here(app);
	*ret_spec = spec;
	return spec ? 0
		    : err_set(reterr, ERR_NOTFOUND,
			      "no session was begun in this folder: name one (faden list)");
}
