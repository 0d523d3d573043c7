#include "master/run.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "master/foreign.h"
#include "master/list.h"
#include "master/snapshot.h"
#include "os/file.h"
#include "os/path.h"
#include "os/proc.h"

enum {
	FOLD_FROM = 1024 * 1024, /* a journal below this is not worth a new snapshot */
	LITTLE_FILE = 4096, /* lock and pointer */
};

struct master_run {
	char *path, *journal_path, *lock_path, *current_path;
	int lock, journal;
	int snapshot_fd;
	struct snapshot snapshot;
	struct snapshot_lists lists; /* of all steps */
	uint64_t journal_size; /* what counts in it */
	uint64_t fold_at; /* the journal is folded in when it has grown beyond */
	bool ragged; /* a step that failed may have left bytes behind what counts */
	struct str waiting; /* steps that are not written yet: MASTER_NO_AUTO_SAVE */
	struct str line;
	struct master_state state;
	const struct clock *clock;
	unsigned flags, found;
};

/* ---- places ---- */

static char *sessions_of(const char *root)
{
	return path_join(root, "sessions");
}

/* Folders of our own are ours alone, whatever the umask; nothing in them gets into a repository. */
static int make_folders(const char *root, struct err *reterr)
{
	AUTO_FREE char *sessions = sessions_of(root);
	AUTO_FREE char *ignore = path_join(root, ".gitignore");
	bool made = !path_exists(root);

	int r = file_mkdirs(root, reterr);
	if (r == 0 && made && chmod(root, 0700) < 0)
		r = err_errno(reterr, errno, "keep %s private", root);
	if (r == 0)
		r = file_mkdirs(sessions, reterr);
	if (r == 0 && chmod(sessions, 0700) < 0)
		r = err_errno(reterr, errno, "keep %s private", sessions);
	if (r == 0 && !path_exists(ignore))
		r = file_replace(ignore, SV("*\n"), 0600, reterr);
	return r;
}

/* The snapshot lies at path, which the run takes over; current (may be NULL) too. */
static struct master_run *run_new(
	char *path, char *current, unsigned flags, const struct clock *clock)
{
	struct master_run *run = xcalloc(1, sizeof(*run));
	struct sv stem = sv_of(path);

	if (sv_ends(stem, SV(".json")))
		stem.n -= strlen(".json");
	run->path = path;
	run->journal_path = xasprintf("%.*s.journal", SV_ARG(stem));
	run->lock_path = xasprintf("%.*s.lock", SV_ARG(stem));
	run->current_path = current;
	run->lock = run->journal = run->snapshot_fd = -1;
	run->waiting = run->line = (struct str)STR_INIT;
	master_state_init(&run->state);
	run->clock = clock;
	run->flags = flags;
	return run;
}

static struct master_run *run_in(
	const char *root, const char *id, unsigned flags, const struct clock *clock)
{
	AUTO_FREE char *sessions = sessions_of(root);
	struct master_run *run = run_new(xasprintf("%s/session-%s.json", sessions, id),
		path_join(sessions, "current.json"), flags, clock);

	(void)snprintf(run->state.id, sizeof(run->state.id), "%s", id);
	return run;
}

static void run_free(struct master_run *run)
{
	/* Removed while it is held: whoever waits for it finds that its name leads elsewhere. */
	if (run->lock >= 0)
		(void)unlink(run->lock_path);
	auto_close_(&run->lock);
	auto_close_(&run->journal);
	auto_close_(&run->snapshot_fd);
	free(run->path);
	free(run->journal_path);
	free(run->lock_path);
	free(run->current_path);
	str_release(&run->waiting);
	str_release(&run->line);
	master_state_release(&run->state);
	free(run);
}

/* The lock dies with its holder; what stands in it is for whoever finds it held. */
static int take_lock(struct master_run *run, struct err *reterr)
{
	struct proc_id self = { .pid = getpid() };
	AUTO_STR who = STR_INIT;

	int r = file_lock(run->lock_path, NULL, &run->lock, reterr);
	if (r == ERR_BUSY) {
		(void)!file_read(run->lock_path, LITTLE_FILE, &who, NULL);
		struct sv holder = sv_trim(str_sv(&who));
		return err_set(reterr, r, "%s is in use by %.*s", run->path,
			SV_ARG(holder.n ? holder : SV("another process")));
	}
	if (r < 0)
		return r;
	(void)!proc_id_self(&self, NULL);
	str_addf(&who, "process %d%s%s\n", (int)self.pid, self.host[0] ? " on " : "", self.host);
	if (fchmod(run->lock, 0600) < 0 || ftruncate(run->lock, 0) < 0)
		return err_errno(reterr, errno, "lock %s", run->lock_path);
	r = file_write_all(run->lock, str_sv(&who), reterr);
	if (r < 0)
		err_prefix(reterr, "lock %s", run->lock_path);
	return r;
}

static int make_current(const struct master_run *run, struct err *reterr)
{
	AUTO_FREE char *text = xasprintf("{\"sessionId\":\"%s\"}\n", run->state.id);

	if (!run->current_path)
		return 0;
	return file_replace(run->current_path, sv_of(text), 0600, reterr);
}

/* ---- journal and snapshot ---- */

static int open_journal(struct master_run *run, struct err *reterr)
{
	const int flags = O_RDWR | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK;

	if (run->flags & MASTER_LOOK) {
		run->journal = file_open(run->journal_path, NULL, reterr);
		return run->journal == -ENOENT ? 0 : run->journal < 0 ? run->journal : 0;
	}
	run->journal = open(run->journal_path, flags);
	bool made = run->journal < 0 && errno == ENOENT;
	if (made)
		run->journal = open(run->journal_path, flags | O_CREAT | O_EXCL, 0600);
	if (run->journal < 0 || fchmod(run->journal, 0600) < 0)
		return err_errno(reterr, errno, "open %s", run->journal_path);
	/* The name must be on disk before the first step is said to be. */
	return made ? folder_sync_of(run->journal_path, reterr) : 0;
}

/* What a failed step left behind is taken away before another one follows. */
static int mend_journal(struct master_run *run, struct err *reterr)
{
	if (run->ragged && ftruncate(run->journal, (off_t)run->journal_size) < 0)
		return err_errno(reterr, errno, "cut %s back", run->journal_path);
	run->ragged = false;
	return 0;
}

static int append(struct master_run *run, struct sv lines, struct err *reterr)
{
	int r = mend_journal(run, reterr);

	if (r < 0)
		return r;
	run->ragged = true;
	r = file_write_all(run->journal, lines, reterr);
	if (r == 0 && fdatasync(run->journal) < 0)
		r = err_errno(reterr, errno, "sync");
	if (r < 0) {
		err_prefix(reterr, "%s", run->journal_path);
		(void)mend_journal(run, NULL);
		return r;
	}
	run->ragged = false;
	run->journal_size += lines.n;
	return 0;
}

static int open_snapshot(struct master_run *run, struct err *reterr)
{
	auto_close_(&run->snapshot_fd);
	run->snapshot_fd = file_open(run->path, NULL, reterr);
	if (run->snapshot_fd < 0)
		return run->snapshot_fd;
	int r = snapshot_look(run->snapshot_fd, &run->snapshot, NULL, reterr);
	if (r < 0)
		err_prefix(reterr, "%s", run->path);
	run->fold_at = run->snapshot.size > FOLD_FROM ? run->snapshot.size : FOLD_FROM;
	return r;
}

/* Whoever dies behind the new snapshot leaves a journal whose steps it has: they are passed over.
 */
static int fold_journal(struct master_run *run, struct err *reterr)
{
	const struct snapshot *old = run->snapshot_fd >= 0 ? &run->snapshot : NULL;

	if (old && old->steps == run->state.steps)
		return 0;
	int r = mend_journal(run, reterr);
	if (r == 0)
		r = snapshot_write(run->path, &run->state, &run->lists, old, run->journal, reterr);
	if (r == 0)
		r = open_snapshot(run, reterr);
	if (r == 0 && ftruncate(run->journal, 0) < 0)
		r = err_errno(reterr, errno, "empty %s", run->journal_path);
	if (r == 0)
		run->journal_size = 0;
	return r;
}

/* ---- steps ---- */

/* One that has its time already: it was made elsewhere. */
static int put_step(struct master_run *run, const struct master_step *step, struct err *reterr)
{
	struct master_step s = *step;
	int r = 0;

	assert(!(run->flags & MASTER_LOOK));
	s.n = run->state.steps + 1;
	if (s.at_ms < run->state.updated_ms) /* a clock that was set back does not turn the order */
		s.at_ms = run->state.updated_ms;
	str_clear(&run->line);
	master_step_write(&s, &run->line);
	size_t n = run->line.len;
	str_addc(&run->line, '\n');
	if (run->flags & MASTER_NO_AUTO_SAVE)
		str_add(&run->waiting, str_sv(&run->line));
	else
		r = append(run, str_sv(&run->line), reterr);
	if (r < 0)
		return r;
	master_fold(&run->state, &s);
	snapshot_count(&run->lists, snapshot_part_of(&s), n);
	/* The step is on disk; that the journal stays long for now is no failure of it. */
	if (run->journal_size > run->fold_at && run->waiting.len == 0 &&
		fold_journal(run, NULL) < 0)
		run->fold_at = run->journal_size * 2;
	return 0;
}

int master_step(struct master_run *run, const struct master_step *step, struct err *reterr)
{
	struct master_step s = *step;

	s.at_ms = clock_wall_ms(run->clock);
	return put_step(run, &s, reterr);
}

int master_save(struct master_run *run, struct err *reterr)
{
	if (run->waiting.len == 0)
		return 0;
	int r = append(run, str_sv(&run->waiting), reterr);
	if (r == 0)
		str_clear(&run->waiting);
	return r;
}

int master_close(struct master_run *run, struct err *reterr)
{
	if (!run)
		return 0;
	if (run->flags & MASTER_LOOK) {
		run_free(run);
		return 0;
	}
	int r = master_save(run, reterr);
	if (r == 0)
		r = fold_journal(run, reterr);
	if (r == 0 && unlink(run->journal_path) < 0)
		r = err_errno(reterr, errno, "remove %s", run->journal_path);
	run_free(run);
	return r;
}

/* ---- making one ---- */

typedef int (*fill_fn)(struct master_run *run, const void *data, struct err *reterr);

/* The steps it begins with are written at once, and the run is there when all of them are. */
static int make_run(const char *root, const char *id, unsigned flags, const struct clock *clock,
	fill_fn fill, const void *data, struct master_run **ret, struct err *reterr)
{
	struct master_run *run = run_in(root, id, MASTER_NO_AUTO_SAVE, clock);

	int r = make_folders(root, reterr);
	if (r == 0)
		r = take_lock(run, reterr);
	if (r == 0)
		r = open_journal(run, reterr);
	if (r == 0)
		r = fill(run, data, reterr);
	if (r == 0)
		r = master_save(run, reterr);
	if (r == 0)
		r = fold_journal(run, reterr);
	if (r == 0)
		r = make_current(run, reterr);
	if (r < 0) {
		if (run->journal >= 0) {
			(void)unlink(run->journal_path);
			(void)unlink(run->path);
		}
		run_free(run);
		return r;
	}
	run->flags = flags;
	*ret = run;
	return 0;
}

struct first_steps {
	const struct master_config *config;
	const char *name;
};

static int fill_first(struct master_run *run, const void *data, struct err *reterr)
{
	const struct first_steps *first = data;
	struct master_step config = MASTER_STEP_INIT(MASTER_STEP_CONFIG);
	struct master_step name = MASTER_STEP_INIT(MASTER_STEP_NAME);

	config.config = first->config;
	name.text = sv_of(first->name);
	int r = master_step(run, &config, reterr);
	return r < 0 || name.text.n == 0 ? r : master_step(run, &name, reterr);
}

int master_create(const char *root, const struct master_config *config, const char *name,
	unsigned flags, const struct clock *clock, struct master_run **ret, struct err *reterr)
{
	const struct first_steps first = { config, name };
	char id[UUID_TEXT];

	uuid_new(id);
	return make_run(root, id, flags, clock, fill_first, &first, ret, reterr);
}

static int import_step(void *data, const struct master_step *step, struct err *reterr)
{
	return put_step(data, step, reterr);
}

static int take_foreign(struct master_run *run, struct sv text, struct err *reterr)
{
	struct foreign_report report = { .bad = 0 };

	int r = foreign_steps(text, import_step, run, &report, reterr);
	if (r == 0 && report.newer && !(run->flags & MASTER_FORCE))
		return err_set(reterr, ERR_NEWER,
			"a newer faden wrote it; update this one, or take it with --force");
	run->found |= report.newer ? MASTER_FOUND_NEWER : 0;
	run->found |= report.form == MASTER_FORM_EDITED ? MASTER_FOUND_EDITED : MASTER_FOUND_OLDER;
	run->found |= report.bad ? MASTER_FOUND_LOST : 0;
	run->found |= report.keys ? MASTER_FOUND_KEYS : 0;
	if (run->state.id[0] == '\0' && r == 0) {
		if (report.id[0])
			(void)snprintf(run->state.id, sizeof(run->state.id), "%s", report.id);
		else
			uuid_new(run->state.id);
	}
	return r;
}

static int fill_imported(struct master_run *run, const void *data, struct err *reterr)
{
	const char *path = data;
	AUTO_CLOSE int fd = file_open(path, NULL, reterr);
	struct snapshot ours;
	AUTO_STR text = STR_INIT;

	if (fd < 0)
		return fd;
	int r = snapshot_look(fd, &ours, NULL, NULL);
	if (r == 0) {
		r = snapshot_steps(&ours, import_step, run, reterr);
	} else {
		r = file_read(path, FOREIGN_MAX, &text, reterr);
		if (r == 0)
			r = take_foreign(run, str_sv(&text), reterr);
	}
	if (r < 0)
		err_prefix(reterr, "%s", path);
	return r;
}

/* The id it has there, when it is one, and free here. */
static bool imported_id(const char *root, const char *path, char id[static UUID_TEXT])
{
	AUTO_CLOSE int fd = file_open(path, NULL, NULL);
	struct foreign_report report = { .bad = 0 };
	struct master_state state;
	struct snapshot ours;
	AUTO_STR text = STR_INIT;

	master_state_init(&state);
	id[0] = '\0';
	if (fd >= 0 && snapshot_look(fd, &ours, &state, NULL) == 0)
		(void)snprintf(id, UUID_TEXT, "%s", state.id);
	else if (file_read(path, FOREIGN_MAX, &text, NULL) == 0 &&
		foreign_id(str_sv(&text), report.id))
		(void)snprintf(id, UUID_TEXT, "%s", report.id);
	master_state_release(&state);
	AUTO_FREE char *there = xasprintf("%s/sessions/session-%s.json", root, id);
	return id[0] && !path_exists(there);
}

int master_import(const char *root, const char *path, const struct clock *clock,
	struct master_run **ret, struct err *reterr)
{
	char id[UUID_TEXT];
	bool own = imported_id(root, path, id);
	bool had = id[0] != '\0';

	if (!own)
		uuid_new(id);
	int r = make_run(root, id, 0, clock, fill_imported, path, ret, reterr);
	if (r == 0 && had && !own)
		(*ret)->found |= MASTER_FOUND_OTHER_ID;
	return r;
}

struct forking {
	struct master_run *from, *to;
	int64_t round;
	const char *name;
};

/* A round ends where the worker gets the next instruction. */
static int fork_step(void *data, const struct master_step *step, struct err *reterr)
{
	const struct forking *f = data;

	if (step->kind == MASTER_STEP_ASK && step->role == MASTER_WORKER && step->round > f->round)
		return 1;
	return put_step(f->to, step, reterr);
}

static int fill_forked(struct master_run *run, const void *data, struct err *reterr)
{
	struct forking f = *(const struct forking *)data;
	struct master_step origin = MASTER_STEP_INIT(MASTER_STEP_ORIGIN);
	struct master_step name = MASTER_STEP_INIT(MASTER_STEP_NAME);

	f.to = run;
	int r = master_steps(f.from, fork_step, &f, reterr);
	origin.text = sv_of(f.from->state.id);
	origin.begin = MASTER_BEGIN_FORKED;
	origin.round = f.round;
	if (r >= 0)
		r = master_step(run, &origin, reterr);
	name.text = sv_of(f.name);
	return r < 0 ? r : master_step(run, &name, reterr);
}

int master_fork(struct master_run *from, const char *root, int64_t round, const char *name,
	struct master_run **ret, struct err *reterr)
{
	const struct forking f = { .from = from, .round = round, .name = name };
	char id[UUID_TEXT];

	if (round < 0 || round > from->state.round)
		return err_set(reterr, ERR_NOTFOUND, "there is no round %lld: it had %lld",
			(long long)round, (long long)from->state.round);
	uuid_new(id);
	return make_run(root, id, 0, from->clock, fill_forked, &f, ret, reterr);
}

/* ---- going on with one ---- */

static int take_step(void *data, const struct master_step *step, struct err *reterr)
{
	struct master_run *run = data;

	(void)reterr;
	master_fold(&run->state, step);
	snapshot_count(&run->lists, snapshot_part_of(step), step->line.n);
	return 0;
}

char *master_beside(const char *path, const char *ending, unsigned i)
{
	return i == 0 ? xasprintf("%s.%s", path, ending)
		      : xasprintf("%s.%s.%u", path, ending, i + 1);
}

/* What will be written anew is not thrown away: the file as it is gets another name, that no other
 * has. */
static int keep_beside(const char *path, const char *ending, struct err *reterr)
{
	CLEANUP(file_new_release) struct file_new file = FILE_NEW_INIT;
	AUTO_CLOSE int from = file_open(path, NULL, reterr);
	AUTO_FREE char *to = master_beside(path, ending, 0);

	if (from < 0)
		return from;
	for (unsigned i = 1; path_exists(to); i++) {
		free(to);
		to = master_beside(path, ending, i);
	}
	int r = file_new_open(&file, to, 0600, reterr);
	if (r == 0)
		r = file_new_copy(&file, from, reterr);
	return r < 0 ? r : file_new_commit_excl(&file, reterr);
}

/*
 * A file in another form becomes one of ours; it stays beside it as it was. A journal of ours can
 * only be of an earlier try, unless somebody changed the file of a run that was not closed.
 */
static int load_foreign(struct master_run *run, struct err *reterr)
{
	AUTO_STR text = STR_INIT;
	struct journal_end end = { .good = 0 };

	auto_close_(&run->snapshot_fd);
	run->snapshot_fd = -1;
	unsigned flags = run->flags;
	int r = file_read(run->path, FOREIGN_MAX, &text, reterr);
	/* Before anything is made beside it: it may be no run at all. */
	run->flags |= MASTER_NO_AUTO_SAVE;
	if (r == 0)
		r = take_foreign(run, str_sv(&text), reterr);
	if (r == 0)
		r = open_journal(run, reterr);
	if (r == 0)
		r = journal_steps(run->journal, 0, NULL, NULL, &end, reterr);
	if (r == 0 && end.damaged)
		r = err_set(reterr, ERR_INPUT,
			"it was changed while it was not closed: %s does not fit to it any more",
			run->journal_path);
	if (r == 0 && ftruncate(run->journal, 0) < 0)
		r = err_errno(reterr, errno, "empty %s", run->journal_path);
	if (r == 0)
		r = keep_beside(run->path, "old", reterr);
	if (r == 0)
		r = master_save(run, reterr);
	if (r == 0)
		r = fold_journal(run, reterr);
	run->flags = flags;
	if (r < 0)
		err_prefix(reterr, "%s", run->path);
	return r;
}

static int load(struct master_run *run, struct err *reterr)
{
	struct journal_end end = { .good = 0 };

	int r = open_snapshot(run, reterr);
	if (r == ERR_INPUT && !run->snapshot.newer && !(run->flags & MASTER_LOOK))
		return load_foreign(run, reterr);
	if (r < 0)
		return r;
	if (run->snapshot.newer && !(run->flags & MASTER_FORCE))
		return err_set(reterr, ERR_NEWER,
			"%s was written by a newer faden; update this one, or take it with --force",
			run->path);
	run->found |= run->snapshot.newer ? MASTER_FOUND_NEWER : 0;
	r = snapshot_steps(&run->snapshot, take_step, run, reterr);
	if (r < 0) {
		err_prefix(reterr, "%s", run->path);
		return r;
	}
	run->found |= path_exists(run->journal_path) ? MASTER_FOUND_CRASH : 0;
	r = open_journal(run, reterr);
	if (r == 0 && run->journal >= 0)
		r = journal_steps(run->journal, run->snapshot.steps, take_step, run, &end, reterr);
	if (r < 0) {
		err_prefix(reterr, "%s", run->journal_path);
		return r;
	}
	if (end.damaged && !(run->flags & MASTER_FORCE))
		return err_set(reterr, ERR_INPUT,
			"%s is damaged behind step %lld; --force goes on from there and sets the "
			"rest aside",
			run->journal_path, (long long)end.steps);
	if (run->flags & MASTER_LOOK)
		return 0;
	if (end.damaged)
		r = keep_beside(run->journal_path, "damaged", reterr);
	run->found |= end.damaged     ? MASTER_FOUND_DAMAGED
		: end.good < end.size ? MASTER_FOUND_TORN
				      : 0;
	run->journal_size = end.good;
	run->ragged = end.good < end.size;
	if (clock_wall_ms(run->clock) < run->state.updated_ms)
		run->found |= MASTER_FOUND_CLOCK_BACK;
	return r < 0 ? r : mend_journal(run, reterr);
}

/* What the pointer names, or the latest there is: it may be missing, or lead to what was deleted.
 */
static int latest(const char *root, char id[static UUID_TEXT], struct err *reterr)
{
	AUTO_FREE char *sessions = sessions_of(root);
	AUTO_FREE char *pointer = path_join(sessions, "current.json");
	AUTO_MASTER_LIST list = MASTER_LIST_INIT;
	AUTO_STR text = STR_INIT, tmp = STR_INIT;
	struct jval top, val = { .type = J_NONE };

	if (file_read(pointer, LITTLE_FILE, &text, NULL) == 0 &&
		scan_text(str_sv(&text), &top) == 0)
		(void)!scan_get(top, SV("sessionId"), &val);
	struct sv found = scan_string_view(val, &tmp);
	if (uuid_valid(found)) {
		AUTO_FREE char *path = xasprintf("%s/session-%.*s.json", sessions, SV_ARG(found));
		if (path_exists(path)) {
			(void)snprintf(id, UUID_TEXT, "%.*s", SV_ARG(found));
			return 0;
		}
	}
	int r = master_list(root, &list, reterr);
	if (r < 0)
		return r;
	if (list.rows.n == 0)
		return err_set(reterr, ERR_NOTFOUND, "there is no run in %s", root);
	(void)snprintf(id, UUID_TEXT, "%s", list.rows.v[0].state.id);
	return 0;
}

/* Takes the run, or frees it. */
static int go_on(struct master_run *run, struct master_run **ret, struct err *reterr)
{
	bool looks = run->flags & MASTER_LOOK;
	int r = looks ? 0 : take_lock(run, reterr);

	if (r == 0)
		r = load(run, reterr);
	if (r == 0 && !looks)
		r = make_current(run, reterr);
	if (r < 0) {
		run_free(run);
		return r;
	}
	*ret = run;
	return 0;
}

int master_open(const char *root, const char *id, unsigned flags, const struct clock *clock,
	struct master_run **ret, struct err *reterr)
{
	char last[UUID_TEXT];
	int r = 0;

	if (id && !uuid_valid(sv_of(id)))
		return err_set(reterr, ERR_INPUT, "\"%s\" is no id of a run", id);
	if (!id) {
		r = latest(root, last, reterr);
		if (r < 0)
			return r;
	}
	struct master_run *run = run_in(root, id ? id : last, flags, clock);
	if (!path_exists(run->path)) {
		r = err_set(reterr, ERR_NOTFOUND, "there is no run %s in %s", run->state.id, root);
		run_free(run);
		return r;
	}
	return go_on(run, ret, reterr);
}

int master_open_file(const char *path, unsigned flags, const struct clock *clock,
	struct master_run **ret, struct err *reterr)
{
	struct master_state head;
	struct snapshot ours;
	AUTO_CLOSE int fd = file_open(path, NULL, reterr);

	if (fd < 0)
		return fd == -ENOENT ? err_set(reterr, ERR_NOTFOUND, "there is no file %s", path)
				     : fd;
	if (sv_ends(sv_of(path), SV(".jsonl")))
		return err_set(reterr, ERR_INPUT,
			"%s has a record a line, as another program writes runs: take it in with "
			"--import",
			path);
	/* Journal and lock lie beside the file itself, whatever name leads there. */
	AUTO_FREE char *real = NULL;
	int r = path_real(path, &real, reterr);
	if (r < 0)
		return r;
	struct master_run *run = run_new(TAKE_PTR(real), NULL, flags, clock);
	master_state_init(&head);
	if (snapshot_look(fd, &ours, &head, NULL) == 0 && head.id[0])
		(void)snprintf(run->state.id, sizeof(run->state.id), "%s", head.id);
	master_state_release(&head);
	return go_on(run, ret, reterr);
}

/* ---- looking ---- */

const struct master_state *master_state(const struct master_run *run)
{
	return &run->state;
}

unsigned master_found(const struct master_run *run)
{
	return run->found;
}

const char *master_path(const struct master_run *run)
{
	return run->path;
}

int master_steps(struct master_run *run, master_step_fn fn, void *data, struct err *reterr)
{
	struct sv rest = str_sv(&run->waiting), line;
	struct master_step_hold hold;
	struct master_step step;
	struct journal_end end = { .good = 0 };

	int r = snapshot_steps(&run->snapshot, fn, data, reterr);
	if (r == 0 && run->journal >= 0)
		r = journal_steps(run->journal, run->snapshot.steps, fn, data, &end, reterr);
	master_step_hold_init(&hold);
	while (r == 0 && sv_split(&rest, '\n', &line) && line.n > 0) {
		r = master_step_read(line, true, &hold, &step, reterr);
		if (r == 0)
			r = fn(data, &step, reterr);
	}
	master_step_hold_release(&hold);
	return r;
}
