#include "cli/sessions.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "assist/kit.h"
#include "base/mem.h"
#include "base/shell.h"
#include "base/utf8.h"
#include "cli/env.h"
#include "cli/keep.h"
#include "cli/pick.h"
#include "cli/print.h"
#include "cli/runs.h"
#include "keep/kept.h"
#include "os/path.h"
#include "store/project.h"
#include "ui/progress.h"

static void warn(struct app *app, const char *message, const char *consequence)
{
	say_note(app->err, "warning: %s%s", message, consequence);
}

/* ---- the catalogue ---- */

/* What the store holds is kept, as far as it can be read: names, and what goes on where. A copy
 * that turns out to be as damaged as what it is of makes room for an empty one. */
static int use_memory(struct app *app, const struct err *why, struct err *reterr)
{
	struct store *copy = NULL;

	if (!app->forgets)
		warn(app, why->msg, "; the sessions are read for this once");
	if (app->forgets || !app->store || store_copy(app->store, &app->log, &copy, NULL) < 0) {
		int r = store_open(NULL, STORE_MEMORY, &app->log, &copy, reterr);
		if (r < 0)
			return r;
		app->blank = true;
	}
	store_close(app->store);
	app->store = copy;
	app->forgets = true;
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
	return app->looks && !app->blank && err_exit_status(code) == err_exit_status(ERR_STORE) &&
		use_memory(app, why, NULL) >= 0;
}

/* Progress of reading the sessions, and folders that cannot be read, on standard error. */
struct reading {
	struct app *app;
	struct term term;
	struct progress progress;
	struct catalogue_opts opts;
};

static void on_progress(void *data, const struct catalogue_progress *p)
{
	struct reading *s = data;

	progress_update(&s->progress, p->bytes_done, p->bytes, clock_age_ms(NULL));
}

static void on_trouble(void *data, const struct err *err)
{
	struct reading *s = data;

	warn(s->app, err->msg, "; left out");
}

static void reading_begin(struct reading *s, struct app *app)
{
	const struct term_opts screen = { .fd = STDERR_FILENO, .term_name = env_get("TERM") };

	s->app = app;
	s->opts = (struct catalogue_opts){
		.progress = on_progress, .trouble = on_trouble, .data = s
	};
	term_init(&s->term, &screen);
	progress_init(
		&s->progress, &s->term, SV("Reading sessions"), PROGRESS_BYTES, clock_age_ms(NULL));
}

static void reading_end(struct reading *s)
{
	progress_release(&s->progress);
	term_release(&s->term);
}

static int refresh(struct app *app, size_t *ret_troubles, struct err *reterr)
{
	struct catalogue_stats stats = { .troubles = 0 };
	struct reading reading;

	reading_begin(&reading, app);
	int r = catalogue_refresh(
		app->store, app->homes, app->n_homes, &reading.opts, &stats, reterr);
	reading_end(&reading);
	*ret_troubles = stats.troubles;
	return r;
}

/* What only the archive has is listed and found as well, also after the store was lost. */
static void learn(struct app *app)
{
	struct err err = ERR_INIT;
	int r;

	do {
		const struct keeper keeper = app_keeper(app);
		r = app->store ? kept_learn(&keeper, &err) : 0;
	} while (r < 0 && sessions_go_on(app, r, &err));
	if (r < 0)
		warn(app, err.msg, "; what only the archive has may be missing here");
}

/* A full disk or a store that another process holds for ever must not hide the sessions. */
int sessions_refresh_count(struct app *app, size_t *ret_troubles, struct err *reterr)
{
	struct err err = ERR_INIT;
	int r = refresh(app, ret_troubles, &err);

	while (r < 0 && sessions_go_on(app, r, &err))
		r = refresh(app, ret_troubles, &err);
	if (r >= 0)
		learn(app);
	else if (reterr)
		*reterr = err;
	return r < 0 ? r : 0;
}

int sessions_refresh(struct app *app, struct err *reterr)
{
	size_t troubles;

	return sessions_refresh_count(app, &troubles, reterr);
}

/* ---- which one ---- */

/* Always for people: programs have the ids in the message. */
static void show_candidates(struct app *app, const struct catalogue_matches *matches)
{
	struct term_opts screen = app_screen(app, STDERR_FILENO);
	struct term t;

	screen.ascii = !env_use_locale();
	if (app->err_tty)
		term_init(&t, &screen);
	else
		term_init_capture(&t, TERM_PIPE_COLS, TERM_DEFAULT_ROWS, false);
	t.ascii = screen.ascii;
	view_candidates(&t, matches, clock_wall_ms(&app->clock), app->paths.home);
	say_bytes(app->err, str_sv(&t.buf));
	term_release(&t);
}

/* NULL when the folder is gone. */
static char *find_here(const struct app *app)
{
	char *here = NULL;

	return kit_dir(app->settings, app->cwd, &here, NULL) < 0 ? NULL : here;
}

static struct resolve_opts resolve_opts(const struct app *app, const char *here)
{
	return (struct resolve_opts){
		.store = app->store,
		.homes = app->homes,
		.n_homes = app->n_homes,
		.clock = &app->clock,
		.archive_dir = app->paths.archive_dir,
		.here = here,
		.home = app->paths.home,
	};
}

static int resolve(
	struct app *app, const char *spec, unsigned flags, struct resolved *ret, struct err *reterr)
{
	AUTO_FREE char *here = find_here(app);
	struct resolve_opts opts = resolve_opts(app, here);
	struct reading reading;

	reading_begin(&reading, app);
	opts.reading = &reading.opts;
	int r = resolve_session(&opts, spec, flags, ret, reterr);
	reading_end(&reading);
	return r;
}

/* What could not be told from the words is chosen by the user, and then named without a doubt. */
static int choose(struct app *app, const char *spec, unsigned flags, int code, struct resolved *ret,
	struct err *reterr)
{
	AUTO_FREE char *question = spec && code == ERR_NOTFOUND
		? xasprintf("No session is called '%s': which one?", spec)
		: spec		       ? xasprintf("'%s' fits several sessions: which one?", spec)
		: code == ERR_NOTFOUND ? xstrdup("No session was begun in this folder: which one?")
				       : xstrdup("Which session?");
	AUTO_FREE char *path = NULL;
	const bool all = code != ERR_AMBIGUOUS || ret->candidates.more;
	const struct pick_opts opts = {
		.question = question,
		.words = all ? spec : NULL,
		.among = all ? NULL : &ret->candidates,
		.gone = flags & RESOLVE_GONE,
	};
	int r = pick_session(app, &opts, &path, reterr);

	resolved_release(ret);
	*ret = (struct resolved)RESOLVED_INIT;
	return r < 0 ? r : resolve(app, path, flags, ret, reterr);
}

struct word {
	const char *text;
	bool found;
};

static int on_fit(void *data, const struct session_row *row)
{
	struct word *word = data;

	word->found = !strstr(row->info.id, word->text);
	return word->found;
}

/* What is no name may be a word of a first prompt, or of a title. */
static bool is_word(struct app *app, const char *spec)
{
	const struct catalogue_query query = { .text = spec };
	struct word word = { .text = spec };
	AUTO_RUN_NAMED run = RUN_NAMED_INIT;

	return spec[0] && !strchr(spec, '/') &&
		catalogue_query(app->store, &query, on_fit, &word, NULL) >= 0 && word.found &&
		!run_find(app, ERR_NOTFOUND, spec, &run);
}

int sessions_find(
	struct app *app, const char *spec, unsigned flags, struct resolved *ret, struct err *reterr)
{
	struct err err = ERR_INIT;

	if (spec)
		learn(app);
	int r = resolve(app, spec, flags, ret, &err);

	while (r < 0 && sessions_go_on(app, r, &err)) {
		resolved_release(ret);
		learn(app);
		r = resolve(app, spec, flags, ret, &err);
	}
	bool word = r == ERR_NOTFOUND && spec && is_word(app, spec);
	bool asks = r == ERR_AMBIGUOUS || word || (!spec && (r == ERR_NOTFOUND || r == ERR_USAGE));
	if (asks && pick_possible(app))
		return choose(app, spec, flags, r, ret, reterr);
	if (word) {
		AUTO_STR shown = STR_INIT;
		shell_operand(&shown, spec);
		(void)err_set(&err, r,
			"no session is called '%s', but it stands in the title or first prompt of "
			"some: faden search %s",
			spec, shown.buf);
	}
	/* Who reads it says so where it matters. */
	if (r >= 0 && !(flags & RESOLVE_GONE) && !ret->row.gone)
		keeping_say_if_torn(app, ret->row.info.id, ret->row.info.path);
	if (!spec && ret->last_here)
		say_note(app->err, "the last session of this folder: %s", ret->row.info.id);
	if (r == ERR_AMBIGUOUS)
		show_candidates(app, &ret->candidates);
	if (r == ERR_AMBIGUOUS && app->json) {
		print_failure(app->out, &err, &ret->candidates);
		app->told = true;
	}
	if (r < 0 && reterr)
		*reterr = err;
	return r;
}

int sessions_adopt(
	struct app *app, const struct session_row *row, struct conv *ret, struct err *reterr)
{
	const struct resolve_opts opts = resolve_opts(app, NULL);

	return resolve_conversation(&opts, row, ret, reterr);
}

bool sessions_moved_here(struct app *app, struct project *here, const char *cwd)
{
	if (!cwd[0] || path_exists(cwd))
		return false;
	/* Once: that reads git's files. */
	AUTO_FREE char *dir = here->top ? NULL : find_here(app);
	if (dir && project_find(app->store, dir, here, NULL) < 0)
		return false;
	return here->top && project_lay_at(app->store, here, cwd);
}

/* The whole command, with the place as far as it is known. */
static int explain_moved(
	struct app *app, const struct session_row *row, const char *command, struct err *reterr)
{
	AUTO_FREE char *was = path_show(row->info.cwd, app->paths.home);
	AUTO_PROJECT project = PROJECT_INIT;
	bool here = sessions_moved_here(app, &project, row->info.cwd);
	AUTO_FREE char *now = here ? NULL : project_now(app->store, row->info.cwd);
	AUTO_STR line = STR_INIT;

	if (now) {
		str_adds(&line, "cd ");
		shell_word(&line, now);
		str_adds(&line, " && ");
	}
	str_addf(&line, "faden %s --here ", command);
	shell_operand(&line, row->info.id);
	/* A command that is cut would be a wrong one. */
	if (strlen(was) + line.len > ERR_MSG_MAX - 100)
		return err_set(reterr, ERR_INPUT,
			"the session's folder is gone; say this again with --here where it lies "
			"now: %s",
			was);
	return err_set(reterr, ERR_INPUT, "the session's folder %s is gone; %s: %s", was,
		now	       ? "its project lies elsewhere now"
			: here ? "its project lies here now"
			       : "go to where it lies now, and",
		line.buf);
}

int sessions_dir(struct app *app, const struct session_row *row, const char *command, bool here,
	char **ret, struct err *reterr)
{
	const char *cwd = row->info.cwd;
	AUTO_CONV c = CONV_INIT;

	if (here || !cwd[0])
		return kit_dir(app->settings, app->cwd, ret, reterr);
	bool there = cwd[0] == '/' && path_exists(cwd);
	/* Its conversation has gone on where that folder lies now. */
	if (!there &&
		conv_by_session(app->store, row->agent, row->info.id, &app->clock, &c, NULL) == 0 &&
		path_exists(c.dir))
		return path_real(c.dir, ret, reterr);
	if (!there)
		return explain_moved(app, row, command, reterr);
	return path_real(cwd, ret, reterr);
}

char *sessions_current(struct app *app)
{
	AUTO_FREE char *here = find_here(app);
	const struct resolve_opts opts = resolve_opts(app, here);

	/* A folder that was moved has what went on in it: as the next sentence will say. */
	if (here)
		(void)!project_follow(app->store, here, NULL);
	return resolve_current(&opts);
}

/* ---- who writes ---- */

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
		transcript_writers(&app->homes[i], NULL, ids);
}

static int add_interrupted(void *data, const struct conv *c)
{
	if (c->session && (c->owner.pid == 0 || proc_id_check(&c->owner) == PROC_GONE))
		(void)map_put(data, sv_of(c->session), 1);
	return 0;
}

int sessions_read(struct app *app, const struct resolved *of, const struct conversation_opts *opts,
	struct conversation *ret, struct err *reterr)
{
	const struct archive archive = app_archive(app);
	const struct conversation_of where = { .row = &of->row,
		.kept = of->kept,
		.archive = &archive,
		.home = app_home(app, of->row.agent),
		.user_home = app->paths.home };
	int r = of->unread.code < 0 ? err_set(reterr, of->unread.code,
					      "the file of session %s is gone, and what the "
					      "archive has of it cannot be "
					      "told now: %s",
					      of->row.info.id, of->unread.msg)
				    : conversation_open(ret, &where, opts, reterr);

	if (r >= 0 && of->damaged)
		say_note(app->err,
			"the file of session %s is damaged, this is what the archive has of it: "
			"'faden archive restore --replace %s' puts that in its place",
			of->row.info.id, of->row.info.id);
	if (r >= 0 && ret->lost > 0)
		say_note(app->err,
			"warning: %llu bytes are damaged in the archive and left out; 'faden "
			"archive restore --partial %s' brings back what is left",
			(unsigned long long)ret->lost, of->row.info.id);
	return r;
}

void sessions_interrupted(struct app *app, struct map *ids)
{
	if (conv_unfinished(app->store, NULL, &app->clock, add_interrupted, ids, NULL) < 0)
		log_write(&app->log, LOG_WARN, "what was interrupted cannot be read");
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
	AUTO_MAP interrupted = MAP_INIT;
	AUTO_FREE char *current = sessions_current(app);
	uint64_t pid = 0, since;

	sessions_writers(app, &writers);
	sessions_interrupted(app, &interrupted);
	bool live = map_get(&writers, sv_of(row->info.id), &pid);
	return (struct session_view){
		.row = row,
		.live = live,
		.pid = (int64_t)pid,
		.current = current && strcmp(current, row->info.id) == 0,
		.interrupted = map_get(&interrupted, sv_of(row->info.id), &since),
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

void sessions_warn_passed(struct app *app, const struct passed *p, const char *so)
{
	if (p->n == 1)
		say_note(app->err,
			"warning: the session has a line that is too long to look into, %llu; it "
			"%s",
			(unsigned long long)p->first, so);
	else if (p->n > 1)
		say_note(app->err,
			"warning: the session has %llu lines that are too long to look into, the "
			"first of "
			"them %llu; each %s",
			(unsigned long long)p->n, (unsigned long long)p->first, so);
}

bool sessions_writer(struct app *app, const struct session_row *row, struct str *who)
{
	const struct transcript_home *home = app_home(app, row->agent);
	AUTO_MAP writers = MAP_INIT;
	uint64_t pid = 0;

	sessions_writers(app, &writers);
	if (!map_get(&writers, sv_of(row->info.id), &pid)) {
		pid = home ? (uint64_t)transcript_loader(home, row->info.id, NULL) : 0;
		if (pid == 0)
			return false;
	}
	writer_describe(row->agent, (int64_t)pid, who);
	return true;
}

int sessions_check_name(const char *name, struct err *reterr)
{
	struct sv text = sv_of(name);
	AUTO_STR clean = STR_INIT;

	utf8_scrub_line(&clean, text);
	if (sv_trim(text).n == 0)
		return err_set(reterr, ERR_USAGE,
			"the name is empty ('faden rename --remove' takes one away)");
	if (text.n > CONV_NAME_MAX)
		return err_set(
			reterr, ERR_LIMIT, "the name is longer than %d bytes", CONV_NAME_MAX);
	if (!sv_eq(text, str_sv(&clean)) || sv_trim(text).n != text.n)
		return err_set(reterr, ERR_INPUT,
			"a name is one line of plain text without blanks around it");
	return 0;
}

int sessions_tell_namesake(
	struct app *app, const char *agent, const char *id, const char *name, struct err *reterr)
{
	AUTO_SESSION_ROW only = SESSION_ROW_INIT;
	CLEANUP(catalogue_matches_release) struct catalogue_matches found = { .more = false };
	const char *other = NULL;
	int r = catalogue_by_name(app->store, name, &only, &found, reterr);

	vec_each (&found.rows, row)
		if (strcmp(row->info.id, id) != 0 || strcmp(row->agent, agent) != 0)
			other = row->info.id;
	if (r == ERR_AMBIGUOUS && other)
		say_note(app->err,
			"another session is called that too: %s; the name alone is neither of them",
			other);
	return r == ERR_AMBIGUOUS || r == ERR_NOTFOUND ? 0 : r;
}

int sessions_check_agent(const char *name, struct err *reterr)
{
	const struct agent_def *agent = name ? agent_named(sv_of(name)) : NULL;
	AUTO_STR all = STR_INIT;

	if (!name || (agent && agent_keeps_sessions(agent)))
		return 0;
	agents_list(&all, agent_keeps_sessions, " and ");
	return err_set(reterr, ERR_USAGE,
		agent ? "--agent: agent %s keeps no session; there are those of %s"
		      : "--agent: no agent '%s'; there are %s",
		name, all.buf);
}
