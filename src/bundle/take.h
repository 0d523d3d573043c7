/*
 * Putting a bundle together: conversations with all files that belong to them, as they are now.
 * Who writes to one meanwhile is not waited for: the bytes are those that it had when it was added.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "archive/archive.h"
#include "base/clock.h"
#include "base/err.h"
#include "bundle/manifest.h"
#include "store/catalogue.h"
#include "transcript/home.h"
#include "ui/term.h"

/* Borrowed until the end. */
struct take_opts {
	const struct archive *archive; /* with the store */
	const struct transcript_home *homes;
	size_t n_homes;
	const struct clock *clock;
	bool ancestors; /* those that a session was made from, too */
	/* Something could not be taken along and is not needed; may be NULL. */
	void (*trouble)(void *data, const struct err *err);
	void (*progress)(void *data, uint64_t done, uint64_t total); /* may be NULL */
	void *data;
};

/* Where the bytes of each file of the manifest are. */
struct take_source {
	char *path;
	char *kept; /* the archive's key; NULL: at the path */
};
struct take {
	struct take_opts opts;
	struct bundle_manifest manifest;
	VEC(struct take_source) sources;
};
void take_init(struct take *t, const struct take_opts *opts);
void take_release(struct take *t);
#define AUTO_TAKE CLEANUP(take_release) struct take

/*
 * Adds a session with what lies beside it (the work of its sub-agents, the outputs of its tools),
 * the sessions whose files its history begins in, and with opts.ancestors its line. One that is
 * there already is not added twice. kept: the archive's key when the file is gone, else NULL.
 */
int take_session(struct take *t, const struct session_row *row, const char *kept,
	struct err *reterr) MUST_USE;
/* Adds a run of the pair with the sessions of its agents, as far as they are here. Its journal is
 * folded in first: ERR_BUSY when somebody runs it. */
int take_run(struct take *t, const char *path, struct err *reterr) MUST_USE;
/* 0, or what the sink returned when that was not 0. */
int take_write(struct take *t, struct term_sink sink, struct err *reterr) MUST_USE;
