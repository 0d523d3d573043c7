/*
 * Index and archive kept up to date while the agents write, on the caller's loop. The system tells
 * of changes, which may be lost, and so everything is looked at now and then.
 */
#pragma once

#include "keep/keeper.h"
#include "os/loop.h"

struct watch_update {
	size_t read, gone; /* files that the index took in, and that vanished */
	uint64_t bytes_read;
	size_t archived; /* files that the archive took in */
	const char *damage; /* of the index, which was made anew; NULL: there was none */
};
struct watch_events {
	/* Something was taken in; and something failed, which is tried again with the next change.
	 * From the loop. */
	void (*updated)(void *data, const struct watch_update *update);
	void (*failed)(void *data, const struct err *err);
	void *data;
};
enum { WATCH_NO_ARCHIVE = 1 << 0 };

struct watcher;
/* keeper, loop and events must outlive it. NULL with reterr set when folders cannot be watched. The
 * first look at everything begins with the loop. */
struct watcher *watcher_new(struct loop *loop, const struct keeper *keeper, unsigned flags,
	const struct watch_events *events, struct err *reterr);
void watcher_free(struct watcher *w); /* NULL is fine */
