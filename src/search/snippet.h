/*
 * The message of a hit, read from its session, and the line of it that shows why it is one.
 */
#pragma once

#include "base/err.h"
#include "base/map.h"
#include "base/str.h"
#include "base/vec.h"
#include "search/query.h"
#include "search/segment.h"
#include "transcript/transcript.h"

/* Appends the text that was indexed of a document, as it was. ERR_NOTFOUND when that does not stand
 * there any more: the file has become another one. ret_tool (may be NULL) gets the tool of a call.
 */
int snippet_text(const char *path, const struct transcript_format *format,
	const struct segment_doc *doc, size_t result_max, struct str *out, struct str *ret_tool,
	struct err *reterr) MUST_USE;

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

/* The part of the text with most of the words, in at most `columns`. marks are those of the
 * ranking of the query. Without a hit it is the beginning. */
void snippet_make(struct sv text, const struct query *query, const struct map *marks,
	size_t columns, struct snippet *ret);
