#include "search/index.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "os/file.h"
#include "os/unpack.h"
#include "search/index-text.h"
#include "search/manifest.h"
#include "store/catalogue.h"

struct index_view {
	struct manifest manifest;
};

int index_view_open(const char *dir, struct index_view **ret, struct err *reterr)
{
	struct index_view *view = xcalloc(1, sizeof(*view));

	view->manifest = (struct manifest)MANIFEST_INIT;
	int r = manifest_read(&view->manifest, dir, reterr);
	if (r < 0) {
		index_view_close(view);
		return r;
	}
	*ret = view;
	return 0;
}

void index_view_close(struct index_view *view)
{
	if (!view)
		return;
	manifest_release(&view->manifest);
	free(view);
}

size_t index_view_segments(const struct index_view *view)
{
	return view->manifest.segments.n;
}

const struct segment *index_view_segment(const struct index_view *view, size_t i)
{
	return view->manifest.segments.v[i].seg;
}

uint32_t index_view_sources(const struct index_view *view)
{
	uint32_t n = 0;

	vec_each (&view->manifest.segments, row)
		n = segment_sources(row->seg) > n ? segment_sources(row->seg) : n;
	return n;
}

int64_t index_view_checked_ms(const struct index_view *view)
{
	return view->manifest.checked_ms;
}

/* ---- sources ---- */

static int take_source(void *data, struct source_row *row)
{
	struct index_source *ret = data;

	*ret = row->source;
	row->source = (struct index_source){ .id = 0 };
	return 1;
}

int index_source(struct index_view *view, uint32_t id, struct index_source *ret, struct err *reterr)
{
	int r = manifest_sources(view->manifest.db, "WHERE id = ?",
		&(struct sql_value){ .number = id }, 1, take_source, ret, reterr);

	return r == 0 ? err_set(reterr, ERR_NOTFOUND, "index: no source %u", id) : r < 0 ? r : 0;
}

bool index_view_has(struct index_view *view, const char *path, const struct stat *st)
{
	AUTO_SQL q = SQL_INIT;

	/* What was read in part has no time. */
	return SQL_PREPARE(&q, view->manifest.db, NULL,
		       "SELECT 1 FROM source WHERE path = ? AND size = ? AND mtime_ns = ? AND"
		       " ctime_ns = ? AND NOT gone",
		       SQL_T(path), SQL_I(st->st_size), SQL_I(file_mtime_ns(st)),
		       SQL_I(file_ctime_ns(st))) >= 0 &&
		sql_step(&q, NULL) > 0;
}

bool index_view_has_names(struct index_view *view, const char *agent, const struct stat *st)
{
	int64_t mark = 0;

	return manifest_names(view->manifest.db, agent, &mark, NULL) >= 0 &&
		mark == manifest_names_mark(st);
}

bool index_view_moved(struct index_view *view, const struct transcript_home *homes, size_t n)
{
	CLEANUP(moved_rows_release) struct moved_rows moved = { .all = VEC_INIT };

	return moved_rows(view->manifest.db, "source", homes, n, &moved, NULL) >= 0 &&
		moved.all.n > 0;
}

bool index_view_old(struct index_view *view)
{
	return manifest_state(view->manifest.db) != view->manifest.state;
}

struct each {
	int (*fn)(void *data, const struct index_source *source);
	void *data;
};

static int on_source(void *data, struct source_row *row)
{
	const struct each *each = data;

	return each->fn(each->data, &row->source);
}

int index_sources(struct index_view *view, int (*fn)(void *data, const struct index_source *source),
	void *data, struct err *reterr)
{
	return manifest_sources(view->manifest.db, "ORDER BY id", NULL, 0, on_source,
		&(struct each){ fn, data }, reterr);
}

/* ---- the check ---- */

struct check {
	const struct manifest *m;
	struct index_stats *stats;
	VEC(struct source_row) sources; /* by id, without strings but the path */
	struct err *err;
};

static int add_source(void *data, struct source_row *row)
{
	struct check *c = data;

	if (row->source.offset > 0 && !row->source.gone) {
		uint64_t anchor = 0;
		int r = anchor_of_file(row->source.path, row->source.offset, &anchor);
		/* A file that has changed meanwhile is read again anyway. */
		struct stat st;
		if (r >= 0 && anchor != row->anchor && stat(row->source.path, &st) == 0 &&
			(uint64_t)st.st_size == row->source.size &&
			file_mtime_ns(&st) == row->mtime_ns && file_ctime_ns(&st) == row->ctime_ns)
			return err_set(c->err, SEGMENT_DAMAGED,
				"index %s: damaged (the mark in %s does not fit)", c->m->dir,
				row->source.path);
	}
	vec_push(&c->sources,
		(struct source_row){
			.source = { .id = row->source.id, .offset = row->source.offset },
			.generation = row->generation,
		});
	return 0;
}

static int by_id(const void *a, const void *b)
{
	const struct source_row *x = a, *y = b;

	return (x->source.id > y->source.id) - (x->source.id < y->source.id);
}

/* Every run that counts is of a source as it is known now. */
static int check_runs(struct check *c, const struct segment *seg, struct err *reterr)
{
	for (uint32_t i = 0; i < segment_runs(seg); i++) {
		const struct segment_run *run = segment_run_at(seg, i);
		struct source_row key = { .source = { .id = run->source } };
		struct segment_doc doc;
		if (segment_dead(seg, i))
			continue;
		c->stats->index_documents += run->n_docs;
		const struct source_row *source = c->sources.n
			? bsearch(&key, c->sources.v, c->sources.n, sizeof(key), by_id)
			: NULL;
		int r = segment_doc(seg, run->first_doc + run->n_docs - 1, &doc, reterr);
		if (r < 0)
			return r;
		bool within = (run->flags & (RUN_META | RUN_TAIL)) ||
			(source && doc.offset < source->source.offset);
		if (!source || !within ||
			(!(run->flags & RUN_META) && source->generation != run->generation))
			return err_set(reterr, SEGMENT_DAMAGED,
				"index %s: damaged (documents of a source that is not known so)",
				c->m->dir);
	}
	return 0;
}

static int check_all(const char *dir, struct index_stats *ret_stats, struct err *reterr)
{
	CLEANUP(manifest_release) struct manifest m = MANIFEST_INIT;
	struct index_stats stats = { .files = 0 };
	struct check c = { .m = &m, .stats = &stats, .err = reterr };
	int r = manifest_read(&m, dir, reterr);

	if (r >= 0)
		r = manifest_sources(m.db, "", NULL, 0, add_source, &c, reterr);
	vec_sort(&c.sources, by_id);
	vec_each (&m.segments, row) {
		stats.index_bytes += segment_size(row->seg);
		if (r >= 0)
			r = segment_verify(row->seg, reterr);
		if (r >= 0)
			r = check_runs(&c, row->seg, reterr);
	}
	stats.segments = m.segments.n;
	stats.sources = c.sources.n;
	vec_release(&c.sources);
	if (r >= 0 && ret_stats)
		*ret_stats = stats;
	return r;
}

int index_check(const char *dir, struct index_stats *ret_stats, struct err *reterr)
{
	struct err why = ERR_INIT;
	int r = check_all(dir, ret_stats, reterr);

	if ((r >= 0 || r == ERR_STORE) && index_is_bad(dir, &why)) {
		if (reterr)
			*reterr = why;
		return why.code;
	}
	return r;
}

/* ---- taking out ---- */

struct forgetting {
	VEC(uint32_t) ids;
};

static int add_id(void *data, struct source_row *row)
{
	struct forgetting *f = data;

	vec_push(&f->ids, row->source.id);
	return 0;
}

static int forget_all(const char *dir, const char *const *paths, size_t n,
	const struct lock_wait *wait, struct err *reterr)
{
	CLEANUP(manifest_release) struct manifest m = MANIFEST_INIT;
	struct forgetting f = { .ids = VEC_INIT };
	enum index_anew anew;
	char why[1];
	int r = manifest_write(&m, dir, wait, &anew, why, sizeof(why), reterr);

	for (size_t i = 0; r >= 0 && i < n; i++)
		r = manifest_sources(m.db, MANIFEST_OF_PATH, &SQL_S(unpack_plain(sv_of(paths[i]))),
			1, add_id, &f, reterr);
	if (r >= 0)
		r = manifest_forget(&m, f.ids.v, f.ids.n, reterr);
	vec_release(&f.ids);
	if (r >= 0)
		r = manifest_purge(&m, reterr);
	return r < 0 ? r : store_scrub(m.db, reterr);
}

int index_forget(const char *dir, const char *const *paths, size_t n, const struct lock_wait *wait,
	struct err *reterr)
{
	struct err why = ERR_INIT;
	int r = forget_all(dir, paths, n, wait, reterr);

	/* Made anew it has nothing of them. */
	if (r == ERR_STORE && index_is_bad(dir, &why)) {
		index_blame(dir, &why);
		r = forget_all(dir, paths, n, wait, reterr);
	}
	return r;
}
