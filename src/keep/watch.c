#include "keep/watch.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "os/tree-watch.h"
#include "store/catalogue.h"

enum {
	SETTLE_MS = 300, /* what comes in a burst is taken in one go */
	ARCHIVE_MS = 5000, /* between two looks of the archive while a session grows */
	WHOLE_MS = 10 * 60 * 1000, /* everything is looked at, whatever was told */
	CHANGED_MAX = 1000, /* files; beyond that all are looked at */
};

/* Files that have changed, each once; too many, or something was missed: all. */
struct changes {
	struct strv paths;
	struct map seen;
	bool all;
};

struct watcher {
	const struct keeper *keeper;
	const struct watch_events *events;
	struct loop *loop;
	unsigned flags;
	struct tree_watch *tree;
	struct changes index, archive; /* what each of them does not have yet */
	struct loop_source *settle, *keep, *whole; /* timers; NULL: nothing is waited for */
	int64_t kept_ms; /* when the archive looked last, by the clock that goes on; 0: never */
};

static void changes_clear(struct changes *c)
{
	strv_release(&c->paths);
	map_release(&c->seen);
	*c = (struct changes){ .paths = STRV_INIT };
}

/* NULL: all. */
static void changes_add(struct changes *c, const char *path)
{
	if (!path || c->paths.n >= CHANGED_MAX)
		c->all = true;
	else if (map_put(&c->seen, sv_of(path), 1))
		strv_add(&c->paths, path);
}

/* ---- taking in ---- */

static void on_keep(void *data)
{
	struct watcher *w = data;
	const struct keeper *k = w->keeper;
	struct archive_update_stats stats = { .files = 0 };
	struct err err = ERR_INIT;
	int r = 0;

	w->keep = NULL;
	w->kept_ms = clock_age_ms(NULL);
	if (w->archive.all)
		r = catalogue_refresh(k->store, k->homes, k->n_homes,
			&(struct catalogue_opts){ .cancelled = k->cancelled, .data = k->data },
			NULL, &err);
	if (r >= 0)
		r = keeper_archive_files(
			k, w->archive.all ? NULL : &w->archive.paths, &stats, &err);
	if (r < 0) {
		w->events->failed(w->events->data, &err);
		return; /* what it does not have is remembered */
	}
	changes_clear(&w->archive);
	if (stats.taken > 0)
		w->events->updated(
			w->events->data, &(struct watch_update){ .archived = stats.taken });
}

static void on_settled(void *data)
{
	struct watcher *w = data;
	struct index_stats s = { .files = 0 };
	struct err err = ERR_INIT;

	w->settle = NULL;
	if (keeper_index_files(w->keeper, w->index.all ? NULL : &w->index.paths, 0, &s, &err) < 0) {
		w->events->failed(w->events->data, &err);
	} else {
		changes_clear(&w->index);
		if (s.read > 0 || s.gone > 0)
			w->events->updated(w->events->data,
				&(struct watch_update){ .read = s.read,
					.gone = s.gone,
					.bytes_read = s.bytes_read,
					.damage = s.anew == INDEX_WAS_DAMAGED ? s.why : NULL });
	}
	if (w->flags & WATCH_NO_ARCHIVE || w->keep)
		return;
	int64_t rest = w->kept_ms ? w->kept_ms + ARCHIVE_MS - clock_age_ms(NULL) : 0;
	w->keep = loop_add_timer(w->loop, rest > 0 ? rest : 0, on_keep, w);
}

/* ---- what happens ---- */

static bool is_session(const struct keeper *k, const char *path)
{
	struct sv sv = sv_of(path);

	if (keeper_beside(k, path) || transcript_format_of_name(sv, NULL))
		return true;
	for (size_t i = 0; i < k->n_homes && sv_ends(sv, SV(".jsonl")); i++)
		if (transcript_subagent_of(k->homes[i].format, sv).n > 0)
			return true;
	return false;
}

/* What sessions are called, where an agent keeps that beside them. */
static bool is_names(const struct keeper *k, const char *path)
{
	for (size_t i = 0; i < k->n_homes; i++) {
		AUTO_FREE char *names = transcript_names_file(&k->homes[i]);
		if (names && strcmp(names, path) == 0)
			return true;
	}
	return false;
}

static void on_change(void *data, const char *path)
{
	struct watcher *w = data;

	if (!path || is_session(w->keeper, path)) {
		changes_add(&w->index, path);
		changes_add(&w->archive, path);
	} else if (!is_names(w->keeper, path)) {
		return;
	}
	if (!w->settle)
		w->settle = loop_add_timer(w->loop, SETTLE_MS, on_settled, w);
}

/* Homes that were not there may be now, and what no event told of is found. */
static void look_at_all(void *data)
{
	struct watcher *w = data;

	for (size_t i = 0; i < w->keeper->n_homes; i++)
		(void)tree_watch_add(w->tree, w->keeper->homes[i].root);
	on_change(w, NULL);
	w->whole = loop_add_timer(w->loop, WHOLE_MS, look_at_all, w);
}

struct watcher *watcher_new(struct loop *loop, const struct keeper *keeper, unsigned flags,
	const struct watch_events *events, struct err *reterr)
{
	struct watcher *w = xcalloc(1, sizeof(*w));

	*w = (struct watcher){ .keeper = keeper, .events = events, .loop = loop, .flags = flags };
	changes_clear(&w->index);
	changes_clear(&w->archive);
	w->tree = tree_watch_new(loop, on_change, w, reterr);
	if (!w->tree) {
		watcher_free(w);
		return NULL;
	}
	look_at_all(w);
	return w;
}

void watcher_free(struct watcher *w)
{
	if (!w)
		return;
	loop_remove(w->loop, w->settle);
	loop_remove(w->loop, w->keep);
	loop_remove(w->loop, w->whole);
	tree_watch_free(w->tree);
	changes_clear(&w->index);
	changes_clear(&w->archive);
	free(w);
}
