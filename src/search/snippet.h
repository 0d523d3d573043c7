/*
 * The message of a hit, read from its session, and the line of it that shows why it is one.
 */
#pragma once

#include "base/err.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "search/index.h"
#include "search/query.h"
#include "search/rank.h"
#include "search/segment.h"
#include "transcript/transcript.h"

struct snippet_mark {
	size_t from, size; /* bytes of the line */
};
struct snippet {
	struct str line; /* harmless for a terminal, with … where something is left out */
	VEC(struct snippet_mark) marks; /* the hits in it, in order */
};
#define SNIPPET_INIT             \
	{                        \
		.line = STR_INIT \
	}
void snippet_release(struct snippet *s);

/*
 * The part of the text with most of the words, in at most `columns`. marks are those of the ranking
 * of the query; hit (may be NULL) says how much of the query there is to be found, so that a long
 * text need not be read to its end. Without a hit it is the beginning. True when the text might go
 * on and this would still be the line: all there is to be found was, and the text is longer than
 * it.
 */
bool snippet_make(struct sv text, const struct query *query, const struct map *marks,
	const struct hit *hit, size_t columns, struct snippet *ret);

/* The same of a hit, from its file (and from where its results lie, which may be NULL), of which a
 * result has at most result_max bytes; ret_tool (may be NULL) gets the tool of a call, and
 * of what it gave back. ERR_NOTFOUND when the
 * message does not stand there any more: the file has become another one. Safe on several threads.
 */
int snippet_read(const char *path, const struct transcript_format *format, const struct hit *hit,
	struct index_beside *beside, const struct query *query, const struct map *marks,
	size_t result_max, size_t columns, struct snippet *ret, struct str *ret_tool,
	struct err *reterr) MUST_USE;
