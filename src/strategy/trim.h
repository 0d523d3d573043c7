/*
 * Trim: texts above a size become a placeholder that says how to get them back.
 *
 * Nothing is lost: the parent is kept in the archive, and every placeholder holds a reference into
 * it. Lines, chain, pairs of calls and results, thinking, and everything not named here stay.
 * A text that is a placeholder already, of ours or of others, is left alone, so that it goes on
 * pointing at the first original.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "archive/archive.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "strategy/rewrite.h"
#include "transcript/tokens.h"
#include "transcript/transcript.h"

enum trim_style {
	TRIM_SEED, /* the placeholder alone */
	TRIM_HEAD, /* the beginning of the text, then the placeholder */
};

struct trim_opts {
	const char *path;
	const struct transcript_format *format;
	const struct strv *tools; /* only these, in any case; NULL or empty: all */
	int64_t threshold; /* characters from which on a text is trimmed */
	int64_t assistant; /* N: the first N long answers; -N: all but the last N; 0: none */
	int64_t min_savings; /* tokens; less is not worth a new session */
	int64_t keep_head; /* characters kept of a text; 0: none, or the threshold in TRIM_HEAD */
	enum trim_style style;
	bool keep_inputs; /* leave what tools were given alone */
	/* Results that an earlier one since the last compaction holds word for word go at any
	 * length that makes it worth while. */
	bool duplicates;
	bool images; /* pictures and documents too */
	bool display; /* drop the copies of results that the agent keeps for its screen (Claude) */
	bool in_place; /* same session; the caller has made sure that nobody writes */
	bool dry;
	const char *out_dir;
	unsigned threads; /* 0: chosen here */
};
#define TRIM_OPTS_INIT                               \
	{                                            \
		.threshold = 500, .min_savings = 300 \
	}

struct trim_count {
	int64_t n;
	int64_t chars; /* what is gone, in characters */
	uint64_t bytes; /* … and in bytes of the file */
};

struct trim_report {
	struct rewrite_result file; /* path NULL when dry */
	struct trim_count results, inputs, answers, images, copies;
	uint64_t live_bytes; /* of all that, what a resume would have sent */
	int64_t live_images;
	int64_t images_left; /* pictures and documents that would go with opts.images */
	struct strv unknown; /* of opts.tools, those that nothing here was done with */
	struct figure saved; /* tokens of live_bytes and live_images */
	int64_t worth; /* … were all of it sent, which decides whether it is enough */
	struct figure before; /* the context now */
	struct figure left; /* … and then */
	char backup[ARCHIVE_KEY_MAX]; /* in place: the copy in the archive */
	bool base; /* Codex: the history before this file is in another one, and was not looked at
		    */
};
#define TRIM_REPORT_INIT                                           \
	{                                                          \
		.file = REWRITE_RESULT_INIT, .unknown = STRV_INIT, \
	}
void trim_report_release(struct trim_report *report);

/*
 * Plans, and unless dry writes. ERR_NOTFOUND: nothing to trim, less than min_savings, or no tool of
 * those names; *ret is then set all the same (without a file) for showing what there was.
 */
int trim_session(const struct trim_opts *opts, const struct archive *archive,
	struct trim_report *ret, struct err *reterr) MUST_USE;
