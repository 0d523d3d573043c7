/*
 * Bringing the index up to date: what differs is read by several threads. Each gathers documents in
 * memory of its own and commits them as one segment together with the marks of their sources, so
 * that a crash costs what was gathered since.
 */
#include <assert.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "os/file.h"
#include "os/path.h"
#include "os/pool.h"
#include "os/unpack.h"
#include "search/index-room.h"
#include "store/catalogue.h"
#include "json/jsonl.h"

enum {
	THREADS_MAX = 8,
	FEW_FILES = 8, /* looked up one by one; for more the catalogue is brought up to date */
	LOOK_EVERY = 256, /* items between two looks at the clock */
	LARGE = 64 * 1024 * 1024, /* a file that may have lines of the largest size … */
	LARGE_MAX = 2, /* … of which so many are read at once */
	MMAP_FROM = 128 * 1024, /* bytes that are taken from the system and given back */
	LOG_SOURCES = 100, /* after so many the log of the manifest is folded in */
	QUICK_MERGE = 4 * 1024 * 1024, /* what may be merged when there is little time */
};

static void pending_release(struct pending *p)
{
	source_row_release(&p->row);
	vec_each (&p->spilled, s)
		free(s->path);
	vec_release(&p->spilled);
}

static void update_release(struct update *u)
{
	for (unsigned i = 0; u->workers && i < u->threads; i++) {
		builder_free(u->workers[i].builder);
		vec_each (&u->workers[i].pending, p)
			pending_release(p);
		vec_release(&u->workers[i].pending);
		str_release(&u->workers[i].text);
	}
	free(u->workers);
	vec_each (&u->known, k)
		free(k->path);
	vec_release(&u->known);
	vec_release(&u->twice);
	vec_each (&u->todo, t) {
		free(t->path);
		free(t->kept);
		free(t->torn);
	}
	vec_release(&u->todo);
	vec_release(&u->old);
	vec_release(&u->errors);
	map_release(&u->paths);
	map_release(&u->met);
	manifest_release(&u->m);
	(void)sem_destroy(&u->large);
	(void)pthread_mutex_destroy(&u->lock);
}

static void tell_progress(struct update *u)
{
	struct index_progress p = {
		.files = u->todo.n,
		.done = atomic_load(&u->done),
		.bytes = u->stats.bytes_left, /* all of it, while it is going on */
		.bytes_done = atomic_load(&u->bytes_done),
	};

	if (u->opts.progress)
		u->opts.progress(u->opts.data, &p);
}

/* From any thread. */
static bool out_of_time(struct update *u)
{
	if ((u->deadline_ms && clock_age_ms(NULL) >= u->deadline_ms) ||
		(u->opts.budget_bytes && atomic_load(&u->bytes_done) >= u->opts.budget_bytes) ||
		(u->opts.cancelled && u->opts.cancelled(u->opts.data)))
		atomic_store(&u->stop, true);
	return atomic_load(&u->stop);
}

/* ---- committing ---- */

static int by_source(const void *a, const void *b)
{
	const struct old_run *x = a, *y = b;

	return (x->source > y->source) - (x->source < y->source);
}

static void list_old_runs(struct update *u)
{
	AUTO_FREE bool *wanted = xcalloc(u->m.next_source, sizeof(*wanted));

	vec_each (&u->todo, t)
		if (t->known)
			wanted[u->known.v[t->known - 1].id] = true;
	for (size_t s = 0; s < u->m.segments.n; s++) {
		const struct segment *seg = u->m.segments.v[s].seg;
		for (uint32_t i = 0; i < segment_runs(seg); i++)
			if (segment_run_at(seg, i)->source < u->m.next_source &&
				wanted[segment_run_at(seg, i)->source] && !segment_dead(seg, i))
				vec_push(&u->old,
					(struct old_run){
						segment_run_at(seg, i)->source, (uint32_t)s, i });
	}
	vec_sort(&u->old, by_source);
}

/* What of a source does not count any more once the new documents do. */
static void kill_old(struct update *u, const struct pending *p)
{
	size_t low = 0, high = u->old.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (u->old.v[middle].source < p->row.source.id)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < u->old.n && u->old.v[low].source == p->row.source.id; low++) {
		struct segment_row *row = &u->m.segments.v[u->old.v[low].segment];
		uint32_t flags = segment_run_at(row->seg, u->old.v[low].run)->flags;
		if (p->rewritten || (flags & RUN_TAIL) || ((flags & RUN_META) && p->described))
			segment_row_kill(row, u->old.v[low].run);
	}
}

/* Locked. */
static int commit_rows(
	struct update *u, struct gatherer *w, uint32_t id, uint32_t docs, struct err *reterr)
{
	int r = manifest_begin(&u->m, reterr);

	if (r < 0)
		return r;
	if (docs > 0)
		r = manifest_add_segment(&u->m, id, reterr);
	vec_each (&w->pending, p) {
		if (p->was_known)
			kill_old(u, p);
		if (r >= 0)
			r = manifest_save_source(&u->m, &p->row, reterr);
		if (r >= 0)
			r = manifest_save_spilled(&u->m, p->row.source.id, p->rewritten,
				p->spilled.v, p->spilled.n, reterr);
	}
	if (r >= 0)
		r = manifest_save_dead(&u->m, reterr);
	return manifest_end(&u->m, r, reterr);
}

static int commit(struct update *u, struct gatherer *w, struct err *reterr)
{
	uint32_t docs = w->builder ? builder_docs(w->builder) : 0, id = 0;
	int r = 0;

	if (w->pending.n == 0)
		return 0;
	pthread_mutex_lock(&u->lock);
	if (docs > 0)
		id = u->m.next_segment++;
	pthread_mutex_unlock(&u->lock);
	AUTO_FREE char *path = manifest_path(&u->m, id);
	if (docs > 0)
		r = builder_write(w->builder, path, u->opts.budget_ms != 0, reterr);
	if (r < 0)
		return r;
	pthread_mutex_lock(&u->lock);
	r = commit_rows(u, w, id, docs, reterr);
	u->stats.documents += docs;
	pthread_mutex_unlock(&u->lock);
	vec_each (&w->pending, p)
		pending_release(p);
	w->pending.n = 0;
	return r;
}

/* ---- reading ---- */

static void set_text(char **text, const char *value)
{
	free(*text);
	*text = xstrdup(value);
}

/* The source as it will be known, from what is known of it and what the catalogue says. */
static void describe(struct source_row *row, const struct todo *t, const struct session_row *s)
{
	struct index_source *source = &row->source;
	struct sv parent = transcript_subagent_of(t->home->format, sv_of(t->path));

	source->format = t->home->format;
	source->subagent = t->subagent || (s->info.flags & SESSION_SUBAGENT);
	source->gone = t->kept && !t->torn;
	set_text(&source->path, t->path);
	set_text(&source->agent, t->home->agent);
	free(source->session);
	source->session = parent.n > 0
		? xmemdup0(parent.p, parent.n)
		: xstrdup((s->info.flags & SESSION_SUBAGENT) && s->info.parent_id[0]
				  ? s->info.parent_id
				  : s->info.id);
	set_text(&source->cwd, s->info.cwd);
	set_text(&source->branch, s->info.branch);
	set_text(&source->name, session_row_name(s));
	set_text(&row->own, s->own_name);
}

static struct source_row copy_row(const struct source_row *from)
{
	struct source_row row = *from;

	row.source.path = xstrdup(from->source.path);
	row.source.agent = xstrdup(from->source.agent);
	row.source.session = xstrdup(from->source.session);
	row.source.cwd = xstrdup(from->source.cwd);
	row.source.branch = xstrdup(from->source.branch);
	row.source.name = xstrdup(from->source.name);
	row.own = xstrdup(from->own);
	return row;
}

static struct source_row blank_row(uint32_t id)
{
	const struct source_row blank = {
		.source = { .id = id,
			.path = str_empty_buf,
			.agent = str_empty_buf,
			.session = str_empty_buf,
			.cwd = str_empty_buf,
			.branch = str_empty_buf,
			.name = str_empty_buf },
		.own = str_empty_buf,
	};

	return copy_row(&blank);
}

struct reading {
	struct update *u;
	struct gatherer *w;
	unsigned number; /* of the worker */
	const struct todo *t;
	int fd;
	uint64_t size; /* plain bytes */
	struct source_row before; /* as it is in the manifest */
	struct source_row row;
	bool was_known, rewritten, described;
	struct index_beside beside;
	struct calls calls; /* that have no result yet */
	const char *calls_path; /* where those before the start stand; NULL: there are none */
	spilled_vec spilled; /* met since the last commit */
	int64_t time_ms;
	uint32_t docs; /* of others in the builder, before it */
	struct err unread; /* why it cannot be read further; code 0: it can */
	bool stopped;
};

static void reading_release(struct reading *rd)
{
	if (rd->fd >= 0)
		(void)close(rd->fd);
	source_row_release(&rd->before);
	source_row_release(&rd->row);
	str_release(&rd->beside.spilled);
	calls_release(&rd->calls);
	vec_each (&rd->spilled, s)
		free(s->path);
	vec_release(&rd->spilled);
}

static void push_pending(struct reading *rd, struct source_row row, bool described)
{
	vec_push(&rd->w->pending,
		(struct pending){ row, rd->was_known, rd->rewritten, described, rd->spilled });
	rd->spilled = (spilled_vec)VEC_INIT;
}

/* The rest of its session is indexed. */
static void tell_passed(struct reading *rd, const struct item *item)
{
	struct err err = ERR_INIT;

	(void)err_set(&err, ERR_LIMIT, "%s: the line at byte %llu, which is longer than %d MB",
		rd->t->path, (unsigned long long)item->offset, JSONL_LINE_MAX / (1024 * 1024));
	pthread_mutex_lock(&rd->u->lock);
	vec_push(&rd->u->errors, err);
	pthread_mutex_unlock(&rd->u->lock);
}

/* What was read so far, up to the beginning of a line, waits to be committed. The source keeps its
 * old description until the new one is written, and is looked at again in any case. */
static void push_part(struct reading *rd, uint64_t offset)
{
	struct source_row part = copy_row(rd->rewritten || !rd->was_known ? &rd->row : &rd->before);

	/* One that has become shorter meanwhile is read from its start again. */
	if (anchor_of(rd->fd, offset, &part.anchor) < 0)
		part.anchor = 0;
	if (rd->rewritten || !rd->was_known) {
		set_text(&part.source.name, "");
		set_text(&part.source.cwd, "");
		set_text(&part.source.branch, "");
		set_text(&part.own, "");
	}
	part.generation = rd->row.generation;
	part.source.offset = offset;
	part.source.gone = rd->t->kept && !rd->t->torn;
	if (rd->t->torn)
		part.source.size = rd->size; /* the rest is in the copy, too */
	part.mtime_ns = 0;
	push_pending(rd, part, false);
}

static int commit_part(struct reading *rd, uint64_t offset, struct err *reterr)
{
	push_part(rd, offset);
	int r = commit(rd->u, rd->w, reterr);
	rd->rewritten = false; /* that is done */
	rd->docs = 0;
	builder_run(rd->w->builder, rd->row.source.id, rd->row.generation, 0);
	return r;
}

static int read_items(struct reading *rd, struct transcript_reader *reader, struct err *reterr)
{
	struct update *u = rd->u;
	uint64_t counted = rd->row.source.offset, end = counted;
	unsigned items = 0;
	bool tail = false;
	struct item item;
	int more, r = 0;

	while ((more = transcript_next(reader, &item, &rd->unread)) > 0) {
		bool line_begins = item.offset >= end && item.offset > rd->row.source.offset;
		if (item.offset >= counted + LARGE / 64 || ++items % LOOK_EVERY == 0) {
			atomic_fetch_add(&u->bytes_done, item.offset - counted);
			counted = item.offset;
			if (rd->number == 0)
				tell_progress(u);
			rd->stopped = out_of_time(u);
		}
		if (line_begins && (rd->stopped || builder_full(rd->w->builder))) {
			r = commit_part(rd, item.offset, reterr);
			if (r < 0 || rd->stopped)
				break;
			rd->row.source.offset = item.offset;
		}
		if (item.flags & ITEM_UNTERMINATED) {
			if (!tail)
				builder_run(rd->w->builder, rd->row.source.id, rd->row.generation,
					RUN_TAIL);
			tail = true;
		} else {
			end = item.offset + item.size;
		}
		if (item.flags & ITEM_OVERSIZE)
			tell_passed(rd, &item);
		(void)index_add_item(rd->w->builder, rd->t->home->format, &item, &rd->beside,
			&rd->calls, rd->calls_path, u->opts.result_max, &rd->time_ms, &rd->w->text);
		if (rd->beside.spilled.len > 0)
			vec_push(&rd->spilled,
				(struct spilled){ xstrdup(rd->beside.spilled.buf), rd->beside.size,
					rd->beside.mtime_ns });
	}
	atomic_fetch_add(&u->bytes_done, end > counted ? end - counted : 0);
	rd->row.source.offset = end;
	return r;
}

/* It is told, and tried again by the next one. */
static void leave_unread(struct reading *rd)
{
	struct update *u = rd->u;

	if (builder_docs(rd->w->builder) > rd->docs)
		push_part(rd, rd->row.source.offset);
	pthread_mutex_lock(&u->lock);
	vec_push(&u->errors, rd->unread);
	pthread_mutex_unlock(&u->lock);
}

/* Goes on where the mark stands when the bytes before it are the same, else from the start. */
static void find_start(struct reading *rd)
{
	uint64_t offset = rd->before.source.offset, anchor = 0;
	bool grown = rd->was_known && !rd->u->opts.rebuild &&
		!rd->u->known.v[rd->t->known - 1].anew && offset <= rd->size &&
		anchor_of(rd->fd, offset, &anchor) >= 0 &&
		(offset == 0 || anchor == rd->before.anchor);

	rd->row.source.offset = grown ? offset : 0;
	rd->row.generation = rd->before.generation + (grown ? 0 : 1);
	rd->rewritten = rd->was_known && !grown;
	const struct index_source *a = &rd->before.source, *b = &rd->row.source;
	rd->described = !grown || strcmp(a->cwd, b->cwd) != 0 || strcmp(a->name, b->name) != 0 ||
		strcmp(a->branch, b->branch) != 0 || strcmp(a->session, b->session) != 0;
}

static int read_source(struct reading *rd, bool helper, struct err *reterr)
{
	const struct transcript_read_opts opts = { .offset = rd->row.source.offset,
		.end = rd->size };
	struct transcript_reader *reader = NULL;
	struct builder *b = rd->w->builder;
	uint64_t start = rd->row.source.offset;
	int r = 0;

	rd->docs = builder_docs(b);
	builder_run(b, rd->row.source.id, rd->row.generation, 0);
	if (helper) {
		rd->row.source.offset = rd->size; /* nobody looks for it */
	} else if (opts.offset < rd->size) {
		/* The one that was looked at; what was compressed is unpacked already. */
		AUTO_FREE char *path = xasprintf("/proc/self/fd/%d", rd->fd);
		rd->calls_path = start > 0 ? path : NULL;
		if (transcript_open(path, rd->t->home->format, &opts, &reader, &rd->unread) >= 0)
			r = read_items(rd, reader, reterr);
		rd->calls_path = NULL;
		transcript_close(reader);
		if (rd->unread.code < 0)
			err_prefix(&rd->unread, "%s", rd->t->path);
	}
	if (r < 0 || rd->stopped)
		return r;
	if (rd->unread.code == 0 && anchor_of(rd->fd, rd->row.source.offset, &rd->row.anchor) < 0)
		(void)err_set(&rd->unread, ERR_INPUT, "%s changed while it was read", rd->t->path);
	if (rd->unread.code < 0) {
		leave_unread(rd);
		return 0;
	}
	if (rd->described && !helper) {
		builder_run(b, rd->row.source.id, rd->row.generation, RUN_META);
		index_add_session(b, &rd->row.source, rd->time_ms);
	}
	push_pending(rd, copy_row(&rd->row), rd->described);
	pthread_mutex_lock(&rd->u->lock);
	rd->u->stats.read++;
	if (rd->u->opts.took && !rd->t->kept)
		rd->u->opts.took(rd->u->opts.data, rd->t->path);
	rd->u->stats.rewritten += rd->rewritten;
	rd->u->stats.bytes_read +=
		rd->row.source.offset > start ? rd->row.source.offset - start : 0;
	pthread_mutex_unlock(&rd->u->lock);
	return builder_full(b) ? commit(rd->u, rd->w, reterr) : 0;
}

static int take_row(void *data, struct source_row *row)
{
	struct source_row *ret = data;

	*ret = *row;
	*row = (struct source_row){ .own = NULL };
	return 1;
}

/* What the catalogue knows of the file, with the lock; of one that only the archive knows it learns
 * that now. */
static int describe_by_catalogue(struct reading *rd, struct session_row *ret, struct err *reterr)
{
	struct update *u = rd->u;
	const struct todo *t = rd->t;

	if (!t->kept || t->torn) {
		int r = u->take ? catalogue_take(u->store, t->home, t->path, ret, reterr)
				: catalogue_by_path(u->store, t->path, ret, reterr);
		/* What is known of it is of what it was. */
		return r == ERR_NOTFOUND && u->take && t->torn
			? catalogue_by_path(u->store, t->path, ret, reterr)
			: r;
	}
	AUTO_FREE char *packed = xasprintf("%s%s", t->path, UNPACK_SUFFIX);
	if (catalogue_by_path(u->store, t->path, ret, NULL) >= 0 ||
		catalogue_by_path(u->store, packed, ret, NULL) >= 0) {
		/* One that never read more than what is left of it knows nothing of it. */
		if (ret->gone || ret->info.turns > 0)
			return 0;
		session_row_release(ret);
		*ret = (struct session_row)SESSION_ROW_INIT;
	}
	return catalogue_take_gone(u->store, t->home, t->path, rd->fd, ret, reterr);
}

/* What the catalogue knows of the file, and the file itself, or the archive's copy of it. */
static int open_source(struct reading *rd, bool *ret_helper, struct err *reterr)
{
	struct update *u = rd->u;
	const struct todo *t = rd->t;
	AUTO_SESSION_ROW s = SESSION_ROW_INIT;
	struct stat st, plain;
	uint64_t lost; /* what is damaged costs that only; whoever shows the session says so */
	int r = t->kept
		? archive_open_part(u->opts.archive, t->kept, 0, UINT64_MAX, &rd->fd, &lost, reterr)
		: 0;

	if (r < 0) {
		err_prefix(reterr, "%s", t->path);
		return r;
	}
	pthread_mutex_lock(&u->lock);
	r = describe_by_catalogue(rd, &s, reterr);
	rd->was_known = t->known > 0;
	if (rd->was_known && r >= 0)
		r = manifest_sources(u->m.db, "WHERE id = ?", &SQL_I(u->known.v[t->known - 1].id),
			1, take_row, &rd->before, reterr);
	else
		rd->before = blank_row(r >= 0 ? u->m.next_source++ : 0);
	pthread_mutex_unlock(&u->lock);
	/* The catalogue is of what is there; here it is about all that was. */
	if (r >= 0 && t->torn)
		r = transcript_scan(rd->fd, t->size, &s.info, reterr);
	if (r < 0)
		return r;
	rd->row = copy_row(&rd->before);
	describe(&rd->row, t, &s);
	rd->time_ms = s.info.first_ms;
	*ret_helper = (s.info.flags & SESSION_HELPER) != 0;
	if (!t->kept)
		rd->fd = unpack_open(t->path, &st, reterr);
	if (rd->fd < 0)
		return rd->fd;
	if (fstat(rd->fd, &plain) < 0)
		return err_errno(reterr, errno, "%s", t->path);
	if (t->kept)
		st = t->torn ? *t->torn : plain;
	rd->size = (uint64_t)plain.st_size;
	rd->row.dev = st.st_dev;
	rd->row.ino = st.st_ino;
	rd->row.source.size = (uint64_t)st.st_size;
	rd->row.mtime_ns = file_mtime_ns(&st);
	rd->row.ctime_ns = file_ctime_ns(&st);
	find_start(rd);
	return 0;
}

static int read_one(void *data, size_t i, unsigned number, struct err *reterr)
{
	struct update *u = data;
	struct gatherer *w = &u->workers[number];
	const struct todo *t = &u->todo.v[i];
	CLEANUP(reading_release)
	struct reading rd = { .u = u,
		.w = w,
		.number = number,
		.t = t,
		.fd = -1,
		.beside = { .path = t->path, .archive = u->opts.archive, .spilled = STR_INIT } };
	bool helper = false, large = t->size >= LARGE;
	struct err err = ERR_INIT;

	if ((i > 0 || (u->opts.cancelled && u->opts.cancelled(u->opts.data))) && out_of_time(u)) {
		pthread_mutex_lock(&u->lock);
		u->stats.left++;
		pthread_mutex_unlock(&u->lock);
		return 0;
	}
	if (!w->builder)
		w->builder =
			builder_new((u->opts.memory ? u->opts.memory : INDEX_MEMORY) / u->threads);
	while (large && sem_wait(&u->large) < 0)
		;
	int r = open_source(&rd, &helper, &err);
	bool opened = r >= 0;
	if (r >= 0)
		r = read_source(&rd, helper, &err);
	if (large)
		(void)sem_post(&u->large);
	atomic_fetch_add(&u->done, 1);
	if (number == 0)
		tell_progress(u);
	pthread_mutex_lock(&u->lock);
	u->stats.left += rd.stopped;
	if (r < 0 && !opened && r != -ENOENT && r != ERR_NOTFOUND)
		vec_push(&u->errors, err);
	pthread_mutex_unlock(&u->lock);
	/* A file that cannot be read is told; an index that cannot be written ends it. */
	if (r >= 0 || !opened)
		return 0;
	if (reterr)
		*reterr = err;
	return r;
}

static int flush_one(void *data, size_t i, unsigned number UNUSED, struct err *reterr)
{
	struct update *u = data;
	struct gatherer *w = &u->workers[i];
	int r = commit(u, w, reterr);

	builder_free(w->builder); /* a merge has the room for itself */
	w->builder = NULL;
	return r;
}

static int by_size(const void *a, const void *b)
{
	const struct todo *x = a, *y = b;

	return (x->size < y->size) - (x->size > y->size);
}

static int by_time(const void *a, const void *b)
{
	const struct todo *x = a, *y = b;

	return (x->mtime_ns < y->mtime_ns) - (x->mtime_ns > y->mtime_ns);
}

static int read_changed(struct update *u, struct err *reterr)
{
	bool hurry = u->opts.budget_bytes || u->opts.budget_ms;
	int r = 0;

	if (u->todo.n == 0)
		return 0;
	/* The largest first, so that the threads end together; in a hurry the newest. */
	if (hurry)
		vec_sort(&u->todo, by_time);
	else
		vec_sort(&u->todo, by_size);
	vec_each (&u->todo, t) {
		const struct known_source *k = t->known ? &u->known.v[t->known - 1] : NULL;
		u->stats.bytes_left += k && t->size > k->size ? t->size - k->size : t->size;
	}
	u->threads = u->opts.threads ? u->opts.threads : pool_cpus();
	if (u->threads > THREADS_MAX)
		u->threads = THREADS_MAX;
	if (u->threads > u->todo.n)
		u->threads = (unsigned)u->todo.n;
	u->workers = xcalloc(u->threads, sizeof(*u->workers));
	for (unsigned i = 0; i < u->threads; i++)
		u->workers[i].text = (struct str)STR_INIT;
	u->take = hurry || u->todo.n <= FEW_FILES;
	const struct catalogue_opts reading = { .cancelled = u->opts.cancelled,
		.data = u->opts.data };
	if (!u->take)
		r = catalogue_refresh(u->store, u->homes, u->n_homes, &reading, NULL, reterr);
	list_old_runs(u);
	if (r >= 0)
		r = pool_each(u->threads, u->todo.n, read_one, u, reterr);
	if (r >= 0)
		r = pool_each(u->threads, u->threads, flush_one, u, reterr);
	u->stats.bytes_left = u->stats.bytes_left > atomic_load(&u->bytes_done) && u->stats.left
		? u->stats.bytes_left - atomic_load(&u->bytes_done)
		: 0;
	u->stats.troubles += u->errors.n;
	vec_each (&u->errors, err)
		if (u->opts.trouble)
			u->opts.trouble(u->opts.data, err);
	return r;
}

/* Made anew it has what was read now: not what is neither there nor kept, if that is known. */
static int forget_unread(struct update *u, struct err *reterr)
{
	VEC(uint32_t) ids = VEC_INIT;

	vec_each (&u->known, k)
		if (!k->queued)
			vec_push(&ids, k->id);
	u->stats.forgotten += ids.n;
	int r = manifest_forget(&u->m, ids.v, ids.n, reterr);
	vec_release(&ids);
	return r;
}

/* ---- all of it ---- */

static int sum_up(struct update *u, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, u->m.db, "SELECT count(*) FROM source", reterr);

	if (r >= 0)
		r = sql_step(&q, reterr);
	if (r < 0)
		return r;
	u->stats.sources = (size_t)sql_get_int(&q, 0);
	u->stats.segments = u->m.segments.n;
	vec_each (&u->m.segments, row) {
		u->stats.index_bytes += segment_size(row->seg);
		for (uint32_t i = 0; i < segment_runs(row->seg); i++)
			if (!segment_dead(row->seg, i))
				u->stats.index_documents += segment_run_at(row->seg, i)->n_docs;
	}
	return 0;
}

static int update_once(const char *dir, struct store *store, const struct transcript_home *homes,
	size_t n_homes, const struct index_opts *opts, struct index_stats *ret_stats,
	struct err *reterr)
{
	CLEANUP(update_release)
	struct update u = {
		.m = MANIFEST_INIT,
		.store = store,
		.homes = homes,
		.n_homes = n_homes,
	};

	if (opts)
		u.opts = *opts;
	assert(n_homes <= ARRAY_LEN(u.home_trouble));
	/* Buffers of readers come and go between small things that stay: taken from one heap they
	 * left a hole for each of 20,000 files, 300 MB in all. In a hurry there are few, and the
	 * rest of the process is for others. */
	if (!u.opts.budget_ms)
		(void)mallopt(M_MMAP_THRESHOLD, MMAP_FROM);
	unpack_doubt_init(&u.doubt);
	(void)pthread_mutex_init(&u.lock, NULL);
	(void)sem_init(&u.large, 0, LARGE_MAX);
	if (u.opts.budget_ms)
		u.deadline_ms = clock_age_ms(NULL) + u.opts.budget_ms;
	/* What is written from here on may be missed. */
	int64_t started_ms = clock_wall_ms(&(struct clock){ false, 0 });
	int r = manifest_write(
		&u.m, dir, u.opts.wait, &u.stats.anew, u.stats.why, sizeof(u.stats.why), reterr);
	if (r >= 0 && u.opts.rebuild && u.stats.anew == INDEX_KEPT)
		u.stats.anew = INDEX_ASKED;
	if (r >= 0)
		r = index_look(&u, reterr);
	if (r >= 0)
		r = read_changed(&u, reterr);
	bool cancelled = u.opts.cancelled && u.opts.cancelled(u.opts.data);
	if (r >= 0 && !cancelled && u.opts.rebuild && !u.opts.paths && u.stats.left == 0 &&
		!u.blind)
		r = forget_unread(&u, reterr);
	if (r >= 0 && !cancelled)
		r = manifest_merge(
			&u.m, u.opts.budget_ms || u.opts.budget_bytes ? QUICK_MERGE : 0, reterr);
	/* Who opens it next reads its log. */
	if (r >= 0 && u.stats.read >= LOG_SOURCES)
		r = sql_exec(u.m.db, "PRAGMA wal_checkpoint(TRUNCATE)", reterr);
	if (r >= 0 && u.stats.left == 0)
		r = index_mark_named(&u, reterr);
	/* A file that cannot be read is tried again by every run, and told: more nobody can do. */
	if (r >= 0 && !u.opts.paths && u.stats.left == 0 && !u.blind)
		r = index_mark_checked(&u, started_ms, reterr);
	if (r >= 0 && !u.opts.budget_ms)
		r = sum_up(&u, reterr);
	if (r >= 0 && ret_stats)
		*ret_stats = u.stats;
	return r < 0 ? r : 0;
}

int index_update(const char *dir, struct store *store, const struct transcript_home *homes,
	size_t n_homes, const struct index_opts *opts, struct index_stats *ret_stats,
	struct err *reterr)
{
	struct err why = ERR_INIT;
	int r = update_once(dir, store, homes, n_homes, opts, ret_stats, reterr);

	/* It holds nothing that cannot be made again. */
	if (r == ERR_STORE && index_is_bad(dir, &why)) {
		index_blame(dir, &why);
		r = update_once(dir, store, homes, n_homes, opts, ret_stats, reterr);
	}
	return r;
}
