#include "master/list.h"

#include <errno.h>
#include <limits.h>
#include <strings.h>
#include <sys/stat.h>

#include "master/snapshot.h"
#include "os/file.h"
#include "os/path.h"
#include "os/proc.h"
#include "os/tree.h"

enum {
	LOCK_TEXT = 4096,
	LEFT_OVER_MS = 24 * 3600 * 1000, /* a temporary file of somebody who died */
};

static void row_release(struct master_row *row)
{
	master_state_release(&row->state);
	free(row->path);
}

void master_list_release(struct master_list *list)
{
	vec_each (&list->rows, row)
		row_release(row);
	vec_each (&list->bad, bad)
		free(bad->path);
	vec_release(&list->rows);
	vec_release(&list->bad);
}

/* The process that the lock names, if it lives. The lock itself is not tried: whoever wants it in
 * that moment would be refused. */
static int64_t runner(const char *lock)
{
	AUTO_STR text = STR_INIT;
	struct proc_id self = { .pid = 0 };
	struct sv rest, pid, on;
	long long n = 0;

	if (file_read(lock, LOCK_TEXT, &text, NULL) < 0 || proc_id_self(&self, NULL) < 0)
		return 0;
	rest = sv_trim(str_sv(&text));
	if (!sv_split(&rest, ' ', &on) || !sv_split(&rest, ' ', &pid) || !sv_parse_i64(pid, &n) ||
		!sv_split(&rest, ' ', &on) || !sv_is(rest, self.host) || n <= 0 || n > INT_MAX)
		return 0;
	return proc_start_time((pid_t)n) ? n : 0;
}

static int add_step(void *data, const struct master_step *step, struct err *reterr)
{
	(void)reterr;
	master_fold(data, step);
	return 0;
}

static int read_row(struct master_row *row, struct err *reterr)
{
	AUTO_CLOSE int fd = file_open(row->path, NULL, reterr);
	int stem = (int)(strlen(row->path) - strlen("json"));
	AUTO_FREE char *journal = xasprintf("%.*sjournal", stem, row->path);
	AUTO_FREE char *lock = xasprintf("%.*slock", stem, row->path);
	struct snapshot s;
	struct journal_end end = { .good = 0 };

	if (fd < 0)
		return fd;
	int r = snapshot_look(fd, &s, &row->state, reterr);
	if (r < 0)
		return r;
	AUTO_FREE char *name = xasprintf("session-%s.json", row->state.id);
	if (!uuid_valid(sv_of(row->state.id)) || !sv_eq(path_base(sv_of(row->path)), sv_of(name)))
		return err_set(reterr, ERR_INPUT, "it does not have the name that its id gives it");
	row->bytes = s.size;
	row->state.steps = s.steps;
	row->pid = runner(lock);
	AUTO_CLOSE int steps = file_open(journal, NULL, NULL);
	row->open = steps >= 0;
	if (steps < 0)
		return 0;
	r = journal_steps(steps, s.steps, add_step, &row->state, &end, reterr);
	row->bytes += end.size;
	return r;
}

static int add_file(void *data, const struct tree_file *file)
{
	struct master_list *list = data;
	struct master_row row = { .path = xstrdup(file->path) };
	struct err why = ERR_INIT;

	if (!sv_starts(file->name, SV("session-"))) {
		free(row.path);
		return 0;
	}
	master_state_init(&row.state);
	if (read_row(&row, &why) < 0) {
		struct master_bad bad = { .path = row.path, .why = why };
		row.path = NULL;
		vec_push(&list->bad, bad);
		row_release(&row);
	} else {
		vec_push(&list->rows, row);
	}
	return 0;
}

static void add_unreadable(void *data, const char *path, int errnum)
{
	struct master_list *list = data;
	struct master_bad bad = { .path = xstrdup(path) };

	(void)err_errno(&bad.why, errnum, "read");
	vec_push(&list->bad, bad);
}

static int latest_first(const void *a, const void *b)
{
	const struct master_state *x = &((const struct master_row *)a)->state;
	const struct master_state *y = &((const struct master_row *)b)->state;

	if (x->updated_ms != y->updated_ms)
		return x->updated_ms < y->updated_ms ? 1 : -1;
	return strcmp(x->id, y->id);
}

int master_list(const char *root, struct master_list *ret, struct err *reterr)
{
	AUTO_FREE char *sessions = path_join(root, "sessions");
	struct master_list list = MASTER_LIST_INIT;
	const struct tree_opts opts = {
		.suffix = SV(".json"),
		.on_file = add_file,
		.on_error = add_unreadable,
		.data = &list,
	};

	int r = tree_walk(sessions, &opts, reterr);
	if (r < 0 && r != -ENOENT) {
		master_list_release(&list);
		return r;
	}
	vec_sort(&list.rows, latest_first);
	*ret = list;
	return 0;
}

struct keeping {
	const struct archive *archive;
	struct master_list *list;
};

/* What cannot be read is not among them: it can be had by its id all the same. */
static int add_kept(void *data, const struct archive_file *file)
{
	struct keeping *k = data;
	struct master_row row = { .path = xstrdup(file->key) };
	AUTO_FREE char *ending =
		xasprintf("/" MASTER_FOLDER "/sessions/session-%s.json", file->session);
	struct snapshot s;
	int fd = -1;

	master_state_init(&row.state);
	bool ours = sv_ends(sv_of(file->path), sv_of(ending)) && !path_exists(file->path) &&
		archive_open(k->archive, file->key, &fd, NULL, NULL) == 0 &&
		snapshot_look(fd, &s, &row.state, NULL) == 0;
	auto_close_(&fd);
	vec_each (&k->list->rows, have)
		if (ours && strcmp(have->state.id, row.state.id) == 0 &&
			have->state.updated_ms <= row.state.updated_ms) {
			struct master_row older = *have;
			*have = row;
			row = older;
			ours = false;
		} else if (strcmp(have->state.id, row.state.id) == 0) {
			ours = false;
		}
	if (ours)
		vec_push(&k->list->rows, row);
	else
		row_release(&row);
	return 0;
}

int master_list_kept(const struct archive *archive, struct master_list *ret, struct err *reterr)
{
	struct master_list list = MASTER_LIST_INIT;
	struct keeping k = { archive, &list };
	int r = archive_each(archive, &(struct archive_query){ .key = NULL }, add_kept, &k, reterr);

	if (r < 0) {
		master_list_release(&list);
		return r;
	}
	vec_sort(&list.rows, latest_first);
	*ret = list;
	return 0;
}

/* ---- which one ---- */

enum fit { FIT_ID, FIT_NAME, FIT_ID_HEAD, FIT_NAME_PART, FITS };

static bool fits(const struct master_state *s, struct sv text, enum fit how)
{
	struct sv name = sv_of(s->name);
	struct sv id = sv_of(s->id);

	switch (how) {
	case FIT_ID:
		return id.n == text.n && strncasecmp(id.p, text.p, id.n) == 0;
	case FIT_NAME:
		return sv_eq(name, text);
	case FIT_ID_HEAD:
		return id.n > text.n && strncasecmp(id.p, text.p, text.n) == 0;
	case FIT_NAME_PART:
		return s->name && strcasestr(s->name, text.p) != NULL;
	case FITS:
		break;
	}
	return false;
}

int master_find(const struct master_list *list, const char *text, const struct master_row **ret,
	struct err *reterr)
{
	struct sv wanted = sv_of(text);
	const struct sv prefix = SV("session-");

	/* As the file is called. */
	if (sv_starts(wanted, prefix))
		wanted = sv_from(wanted, prefix.n);
	for (int how = 0; how < FITS && wanted.n > 0; how++) {
		const struct master_row *found = NULL;
		AUTO_STR others = STR_INIT;
		size_t n = 0;
		vec_each (&list->rows, row) {
			if (!fits(&row->state, wanted, (enum fit)how))
				continue;
			found = row;
			if (n++ < 3)
				str_addf(&others, "%s%s", n > 1 ? ", " : "", row->state.id);
		}
		if (n > 1)
			return err_set(reterr, ERR_AMBIGUOUS,
				"\"%s\" may be %zu runs: %s%s; say more of it", text, n, others.buf,
				n > 3 ? ", …" : "");
		if (n == 1) {
			*ret = found;
			return 0;
		}
	}
	return err_set(reterr, ERR_NOTFOUND,
		"no run here has the id or name \"%s\" (faden master --list-sessions shows them)",
		text);
}

/* ---- away ---- */

static void add_kept_beside(const char *path, const char *ending, struct strv *out)
{
	for (unsigned i = 0;; i++) {
		AUTO_FREE char *kept = master_beside(path, ending, i);
		if (!path_exists(kept))
			return;
		strv_add(out, kept);
	}
}

int master_delete(
	const char *root, const char *id, const struct archive *archive, struct err *reterr)
{
	AUTO_FREE char *sessions = path_join(root, "sessions");
	AUTO_FREE char *lock_path = xasprintf("%s/session-%s.lock", sessions, id);
	AUTO_FREE char *file = xasprintf("%s/session-%s.json", sessions, id);
	AUTO_FREE char *journal = xasprintf("%s/session-%s.journal", sessions, id);
	AUTO_STRV parts = STRV_INIT;
	struct master_run *whole = NULL;
	char key[ARCHIVE_KEY_MAX];
	AUTO_CLOSE int lock = -1;

	if (!uuid_valid(sv_of(id)))
		return err_set(reterr, ERR_INPUT, "\"%s\" is no id of a run", id);
	file_sweep_temps(sessions, LEFT_OVER_MS);
	/* One that was killed becomes one file before, so that it can be brought back as one. */
	if (path_exists(journal) && master_open_file(file, 0, archive->clock, &whole, NULL) == 0)
		(void)master_close(whole, NULL);
	int r = file_lock(lock_path, NULL, &lock, reterr);
	strv_add(&parts, file);
	strv_add(&parts, journal);
	add_kept_beside(file, "old", &parts);
	add_kept_beside(journal, "damaged", &parts);
	for (size_t i = 0; i < parts.n && r == 0; i++) {
		struct stat st;
		if (lstat(parts.v[i], &st) == 0 && st.st_size > 0)
			r = archive_keep(archive, parts.v[i], ARCHIVE_COPY, key, reterr);
	}
	/* What says that it is there goes last, so that it can be deleted again after a crash. */
	for (size_t i = parts.n; i-- > 0 && r == 0;)
		if (unlink(parts.v[i]) < 0 && errno != ENOENT)
			r = err_errno(reterr, errno, "delete %s", parts.v[i]);
	if (lock >= 0)
		(void)unlink(lock_path);
	return r;
}
