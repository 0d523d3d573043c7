/*
 * A list to choose from: one types, what fits is listed while one types, and the row under the
 * cursor is shown at length. It knows nothing of what it lists: a source finds and shows, the
 * caller's keys act.
 *
 * The source works on threads of its own, so that typing never waits. A search that is overtaken by
 * another key is cancelled; what it found is not shown.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "os/loop.h"
#include "os/worker.h"
#include "ui/term.h"

enum {
	PICKER_COLUMNS_MAX = 8,
	PICKER_WORDS_MAX = 1024, /* bytes that can be typed */
	PICKER_LATE_MS = 100, /* what takes longer is shown to take long */
};
#define PICKER_END SIZE_MAX /* see struct picker_view */

/* What was found, in order. */
struct picker_found {
	void *rows; /* the source's own */
	size_t n;
	size_t total; /* of which they are the ones that fit; 0: not known */
	char *note; /* said to the user; the source's own, NULL: nothing */
};

/* What of a preview is in sight. */
struct picker_view {
	size_t fixed; /* so many lines at the beginning always are */
	size_t at; /* the byte of the term's buffer that should be; PICKER_END: the last */
};

struct picker_source {
	/* What fits at a glance, shown until find() has all, which is called next; NULL: there is
	 * no such. As find() otherwise. */
	int (*glance)(void *data, struct sv words, const struct worker *worker,
		struct picker_found *ret, struct err *reterr);
	/* What fits the words; "" asks for all. On a thread, one call at a time. */
	int (*find)(void *data, struct sv words, const struct worker *worker,
		struct picker_found *ret, struct err *reterr);
	void (*release)(void *data, struct picker_found *found);
	/* Appends to a cell a column, which are empty. On the loop's thread. */
	void (*row)(void *data, const struct picker_found *found, size_t row, struct str *cells);
	/* Writes what it is about to t, which is as wide as it will be shown. *ret is all zero
	 * before. On another thread, one call at a time. */
	int (*preview)(void *data, const struct picker_found *found, size_t row,
		const struct worker *worker, struct term *t, struct picker_view *ret,
		struct err *reterr);
};

struct picker_column {
	size_t width; /* 0: what the others leave; one column has that */
	size_t from; /* shown when the list has this many columns */
	bool marked; /* where the words stand in it is marked */
	unsigned style;
};

struct picker;

/* A key with which something is done about the row under the cursor. */
struct picker_key {
	uint32_t key; /* ui/input.h */
	const char *name; /* "^O" */
	const char *label; /* one or two words, for the last line of the screen */
	const char *help; /* a sentence without full stop, for F1 */
	/* On the loop's thread. True: the picker ends. */
	bool (*act)(void *data, struct picker *p, const struct picker_found *found, size_t row);
};

struct picker_opts {
	struct loop *loop;
	struct term *term; /* a terminal with cursor movement */
	int in_fd; /* the same, for keys */
	const char *question; /* what is to be chosen; NULL: that goes without saying */
	const char *words; /* typed to begin with; NULL: none */
	const struct picker_column *columns;
	size_t n_columns;
	const struct picker_source *source;
	void *source_data;
	const struct picker_key *keys;
	size_t n_keys;
	void *data; /* for keys */
};

/* NULL with reterr set when the system gives no thread. What opts points to must outlive it. */
struct picker *picker_new(const struct picker_opts *opts, struct err *reterr) MUST_USE;
void picker_free(struct picker *p); /* NULL is fine */
/*
 * Runs the loop until a key's act() ends it (1), or until it is left by Escape, Ctrl-C, Ctrl-G or
 * picker_leave() (0). The terminal is as before then. Signals that end the program are the caller's
 * to take through the loop; those about the terminal are taken here.
 */
int picker_run(struct picker *p, struct err *reterr) MUST_USE;

/* For callbacks of the loop and of keys. */
void picker_leave(struct picker *p);
/* A line for the user that stays until the next key. */
void picker_say(struct picker *p, const char *text);
/* The terminal is asked to put it on its clipboard. */
void picker_clip(struct picker *p, struct sv text);
/* Gives the terminal to somebody else, and takes it back. */
void picker_hide(struct picker *p);
int picker_show(struct picker *p, struct err *reterr) MUST_USE;
