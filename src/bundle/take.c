#include "bundle/take.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "bundle/pack.h"
#include "lineage/lineage.h"
#include "master/run.h"
#include "os/file.h"
#include "os/path.h"
#include "os/repo.h"
#include "os/tree.h"
#include "os/unpack.h"

void take_init(struct take *t, const struct take_opts *opts)
{
	*t = (struct take){ .opts = *opts, .manifest = BUNDLE_MANIFEST_INIT };
	t->manifest.made_by = xstrdup("faden " FADEN_VERSION);
	t->manifest.made_ms = clock_wall_ms(opts->clock);
}

void take_release(struct take *t)
{
	bundle_manifest_release(&t->manifest);
	vec_each (&t->sources, s) {
		free(s->path);
		free(s->kept);
	}
	vec_release(&t->sources);
}

static void say(const struct take *t, const struct err *err)
{
	if (t->opts.trouble)
		t->opts.trouble(t->opts.data, err);
}

static const struct transcript_home *home_of(const struct take *t, const char *agent)
{
	for (size_t i = 0; i < t->opts.n_homes; i++)
		if (strcmp(t->opts.homes[i].agent, agent) == 0)
			return &t->opts.homes[i];
	return NULL;
}

/* ---- the files of one session ---- */

static int add_file(
	struct take *t, const char *path, const char *kept, const char *place, struct err *reterr)
{
	AUTO_CLOSE int fd = -1;
	struct stat st;
	uint64_t lost = 0;
	int r = kept ? archive_open(t->opts.archive, kept, &fd, &lost, reterr)
		     : file_open(path, &st, reterr);

	if (r < 0)
		return r;
	fd = kept ? fd : r;
	if (kept && fstat(fd, &st) < 0)
		return err_set(reterr, ERR_INPUT, "%s: what is kept of it cannot be read", path);
	if (lost > 0)
		return err_set(reterr, ERR_INPUT,
			"%s: %llu bytes of what is kept of it are damaged; 'faden archive restore "
			"--partial' writes the rest",
			path, (unsigned long long)lost);
	const struct take_source source = { xstrdup(path), kept ? xstrdup(kept) : NULL };
	const struct bundle_file file = { xstrdup(place), (uint64_t)st.st_size };
	vec_push(&t->sources, source);
	vec_push(&t->manifest.files, file);
	t->manifest.sessions.v[t->manifest.sessions.n - 1].files++;
	return 0;
}

static int gather(void *data, const struct tree_file *file)
{
	strv_add(data, file->path);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* What lies in the folder that is called as the session is. */
static int add_beside(struct take *t, const char *path, const char *place, struct err *reterr)
{
	enum { DEPTH = 16 };
	static const struct sv end = { ".jsonl", 6 };
	struct sv plain = unpack_plain(sv_of(path));
	AUTO_STRV found = STRV_INIT;
	const struct tree_opts opts = { .depth = DEPTH, .on_file = gather, .data = &found };
	int r = 0;

	if (!sv_ends(plain, end))
		return 0;
	AUTO_FREE char *folder = xmemdup0(plain.p, plain.n - end.n);
	if (tree_walk(folder, &opts, NULL) < 0)
		return 0;
	if (found.n > 0)
		qsort(found.v, found.n, sizeof(*found.v), by_name);
	for (size_t i = 0; r >= 0 && i < found.n; i++) {
		struct sv rest = sv_from(sv_of(found.v[i]), plain.n - end.n);
		AUTO_FREE char *where = xasprintf("%.*s%.*s",
			SV_ARG(sv_head(sv_of(place), unpack_plain(sv_of(place)).n - end.n)),
			SV_ARG(rest));
		if (bundle_place_valid(sv_of(where))) {
			r = add_file(t, found.v[i], NULL, where, reterr);
			continue;
		}
		struct err err = ERR_INIT;
		(void)err_set(&err, ERR_INPUT, "%s cannot be taken along by its name", found.v[i]);
		say(t, &err);
	}
	return r;
}

/* Below the home, where it lies or would lie. */
static char *place_of(const struct transcript_home *home, const struct session_info *info)
{
	struct sv root = sv_of(home->root);
	AUTO_FREE char *usual = NULL;
	const char *path = info->path;

	if (!path_within(sv_of(path), root) || sv_eq(sv_of(path), root)) {
		usual = transcript_new_path(home, info->cwd, info->first_ms, info->id);
		path = usual;
	}
	if (!path)
		return NULL;
	struct sv place = sv_from(sv_of(path), root.n);
	while (place.n > 0 && place.p[0] == '/')
		place = sv_from(place, 1);
	return xmemdup0(place.p, place.n);
}

/* Only those that mean something on another machine. */
static void add_marks(struct bundle_session *s)
{
	AUTO_REPO repo = REPO_INIT;
	AUTO_FREE char *real = NULL;

	if (!s->dir[0] || path_real(s->dir, &real, NULL) < 0 || !repo_read(real, &repo))
		return;
	for (size_t i = 0; i < repo.marks.n && s->marks.n < BUNDLE_MARKS_MAX; i++)
		if (!sv_starts(sv_of(repo.marks.v[i]), SV("node:")))
			strv_add(&s->marks, repo.marks.v[i]);
}

/* ---- what belongs to it ---- */

static int add_session(struct take *t, const struct session_row *row, const char *kept,
	bool ancestor, struct err *reterr);

/* Codex: the history of a fork begins in another session's file. */
static int add_base(
	struct take *t, const struct transcript_home *home, const char *path, struct err *reterr)
{
	struct transcript_live live = { .bits = NULL };
	AUTO_SESSION_ROW base = SESSION_ROW_INIT;
	AUTO_FREE char *where = NULL;
	struct err err = ERR_INIT;

	if (!transcript_forks_share(home->format))
		return 0;
	int r = transcript_live(path, home->format, &live, reterr);
	if (r >= 0 && live.base_id[0]) {
		if (transcript_find(home, sv_of(live.base_id), &where, NULL) >= 0 && where &&
			catalogue_take(t->opts.archive->store, home, where, &base, &err) >= 0) {
			r = add_session(t, &base, NULL, true, reterr);
		} else {
			(void)err_set(&err, ERR_NOTFOUND,
				"the session %s, in whose file its history begins, is gone",
				live.base_id);
			say(t, &err);
		}
	}
	transcript_live_release(&live);
	return r;
}

struct children {
	struct take *t;
	struct err *reterr;
};

static int add_child(void *data, const struct session_row *row)
{
	struct children *c = data;

	if (!(row->info.flags & SESSION_SUBAGENT) || row->gone ||
		transcript_subagent_of(row->info.format, sv_of(row->info.path)).n > 0)
		return 0;
	return add_session(c->t, row, NULL, true, c->reterr);
}

/* The line that leads to it. One that is gone may be in the archive. */
static int add_line(struct take *t, const struct session_row *row, struct err *reterr)
{
	AUTO_LINEAGE line = LINEAGE_INIT;
	const struct archive *archive = t->opts.archive;
	int r = lineage_chain(archive->store, t->opts.homes, t->opts.n_homes, row, &line, reterr);

	for (size_t i = 0; r >= 0 && i + 1 < line.nodes.n; i++) {
		const struct lineage_node *n = &line.nodes.v[i];
		const struct transcript_home *home = home_of(t, n->agent);
		AUTO_SESSION_ROW one = SESSION_ROW_INIT;
		char key[ARCHIVE_KEY_MAX];
		struct err err = ERR_INIT;
		bool here = n->state == LINEAGE_HERE || n->state == LINEAGE_MOVED;
		if (here && home && catalogue_take(archive->store, home, n->path, &one, &err) >= 0)
			r = add_session(t, &one, NULL, true, reterr);
		else if (catalogue_by_path(archive->store, n->path, &one, &err) >= 0 &&
			archive_find(archive, n->path, key, &err) >= 0)
			r = add_session(t, &one, key, true, reterr);
		else if (err_set(&err, ERR_NOTFOUND, "its ancestor %s is gone", n->id) < 0)
			say(t, &err);
	}
	return r;
}

static int add_session(struct take *t, const struct session_row *row, const char *kept,
	bool ancestor, struct err *reterr)
{
	const struct session_info *info = &row->info;
	const struct transcript_home *home = home_of(t, row->agent);
	struct children children = { t, reterr };

	vec_each (&t->manifest.sessions, s)
		if (strcmp(s->id, info->id) == 0 && strcmp(s->agent, row->agent) == 0) {
			s->ancestor &= ancestor;
			return 0;
		}
	AUTO_FREE char *place = home ? place_of(home, info) : NULL;
	if (!place || !bundle_place_valid(sv_of(place)) || !transcript_is_place(home, place))
		return err_set(reterr, ERR_INPUT,
			"session %s lies where no agent looks for one, and cannot be bundled: %s",
			info->id, info->path);
	struct bundle_session now = {
		.agent = xstrdup(row->agent),
		.id = xstrdup(info->id),
		.title = xstrdup(session_title(row)),
		.name = xstrdup(session_row_name(row)),
		.dir = xstrdup(info->cwd),
		.branch = xstrdup(info->branch),
		.parent_id = xstrdup(info->parent_id),
		.relation = xstrdup(session_relation_name(info->relation)),
		.first_ms = info->first_ms,
		.active_ms = row->active_ms,
		.turns = info->turns,
		.ancestor = ancestor,
		.first = t->manifest.files.n,
	};
	add_marks(&now);
	vec_push(&t->manifest.sessions, now);
	int r = add_file(t, info->path, kept, place, reterr);
	if (r >= 0)
		r = add_beside(t, info->path, place, reterr);
	if (r >= 0 && !kept)
		r = add_base(t, home, info->path, reterr);
	if (r >= 0)
		r = catalogue_children(t->opts.archive->store, info, add_child, &children, reterr);
	return r;
}

int take_session(
	struct take *t, const struct session_row *row, const char *kept, struct err *reterr)
{
	int r = add_session(t, row, row->gone ? kept : NULL, false, reterr);

	return r >= 0 && t->opts.ancestors ? add_line(t, row, reterr) : r;
}

/* ---- runs ---- */

static int note_session(void *data, const struct master_step *step, struct err *reterr)
{
	struct strv *pairs = data;

	(void)reterr;
	if (step->kind == MASTER_STEP_SESSION && step->session.n > 0) {
		strv_addsv(pairs, step->agent);
		strv_addsv(pairs, step->session);
	}
	return 0;
}

/* One that is not here is made anew from the run where it goes on. */
static int add_agents_session(struct take *t, const char *agent, const char *id, struct err *reterr)
{
	const struct transcript_home *home = home_of(t, agent);
	AUTO_SESSION_ROW row = SESSION_ROW_INIT;
	AUTO_FREE char *path = NULL;

	if (!home || transcript_find(home, sv_of(id), &path, NULL) < 0 || !path ||
		catalogue_take(t->opts.archive->store, home, path, &row, NULL) < 0)
		return 0;
	return add_session(t, &row, NULL, true, reterr);
}

int take_run(struct take *t, const char *path, struct err *reterr)
{
	AUTO_STRV pairs = STRV_INIT;
	struct master_run *run = NULL;
	int r = master_open_file(path, 0, t->opts.clock, &run, reterr);

	if (r < 0)
		return r;
	const struct master_state *s = master_state(run);
	struct bundle_session now = {
		.agent = xstrdup(""),
		.id = xstrdup(s->id),
		.title = xmemdup0(s->name ? s->name : s->task.buf,
			s->name ? strlen(s->name)
				: utf8_cut(str_sv(&s->task), SESSION_PROMPT_MAX).n),
		.name = xstrdup(s->name ? s->name : ""),
		.dir = xstrdup(s->config.dir ? s->config.dir : ""),
		.branch = xstrdup(""),
		.parent_id = xstrdup(""),
		.relation = xstrdup(""),
		.first_ms = s->created_ms,
		.active_ms = s->updated_ms,
		.turns = s->round,
		.run = true,
		.first = t->manifest.files.n,
	};
	add_marks(&now);
	vec_push(&t->manifest.sessions, now);
	r = master_steps(run, note_session, &pairs, reterr);
	int closed = master_close(run, r < 0 ? NULL : reterr);
	r = r < 0 ? r : closed;
	AUTO_FREE char *place = xasprintf(MASTER_FOLDER "/sessions/session-%s.json", now.id);
	if (r >= 0)
		r = add_file(t, path, NULL, place, reterr);
	for (size_t i = 0; r >= 0 && i + 1 < pairs.n; i += 2)
		r = add_agents_session(t, pairs.v[i], pairs.v[i + 1], reterr);
	return r;
}

/* ---- writing ---- */

static int write_file(
	struct take *t, struct pack_writer *w, const struct take_source *source, struct err *reterr)
{
	AUTO_CLOSE int fd = -1;
	int r = source->kept ? archive_open(t->opts.archive, source->kept, &fd, NULL, reterr)
			     : file_open(source->path, NULL, reterr);

	if (r < 0)
		return r;
	if (!source->kept)
		fd = r;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return err_errno(reterr, errno, "%s", source->path);
	return pack_file(w, fd, source->path, reterr);
}

static void free_writer(struct pack_writer **w)
{
	pack_writer_free(*w);
}

int take_write(struct take *t, struct term_sink sink, struct err *reterr)
{
	CLEANUP(free_writer) struct pack_writer *w = NULL;
	uint64_t total = 0, done = 0;
	int r = pack_begin(&t->manifest, sink, &w, reterr);

	vec_each (&t->manifest.files, f)
		total += f->size;
	for (size_t i = 0; r == 0 && i < t->sources.n; i++) {
		if (t->opts.progress)
			t->opts.progress(t->opts.data, done, total);
		r = write_file(t, w, &t->sources.v[i], reterr);
		done += t->manifest.files.v[i].size;
	}
	return r == 0 ? pack_end(w, reterr) : r;
}
