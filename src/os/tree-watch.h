/*
 * What changes in a folder and in all below it, told on the loop as it happens (inotify). The
 * kernel may lose events, and has only so many watches: then the caller is told that something was
 * missed, and looks at everything itself.
 */
#pragma once

#include "base/err.h"
#include "os/loop.h"

struct tree_watch;

/* A file was made, written to, moved or removed. NULL: something was missed. */
typedef void (*tree_watch_fn)(void *data, const char *path);

/* The loop must outlive it. NULL with reterr set when the system has none. */
struct tree_watch *tree_watch_new(
	struct loop *loop, tree_watch_fn fn, void *data, struct err *reterr) MUST_USE;
void tree_watch_free(struct tree_watch *w); /* NULL is fine */

/*
 * Watches top and all folders below it, those that will be made there included; again does no harm.
 * Symbolic links are not followed, except that top may be one, and what lies in it or in a folder
 * of it, if that leads elsewhere. A top that is not there is waited for, also one that was moved
 * away or removed since: when it comes, something was missed. False when that is so or a folder
 * cannot be read; worth another try later.
 */
bool tree_watch_add(struct tree_watch *w, const char *top);
