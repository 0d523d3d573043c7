/*
 * What of a session goes into the index; private to the room.
 */
#pragma once

#include <sys/stat.h>

#include "search/calls.h"
#include "search/index.h"

/* A document: its words, and for a call and for what it gave back the tool and the files that its
 * input names. The builder stands in a run of its source. calls are those of the file so far; where
 * that was not read from its beginning, path is the file, in which they are looked for, else NULL.
 * `text` is for work of its own. False when the item is none. */
bool index_add_item(struct builder *b, const struct transcript_format *format,
	const struct item *item, struct index_beside *beside, struct calls *calls, const char *path,
	size_t result_max, int64_t *time_ms, struct str *text);
/* The file that has a result, below the session's folder: no link is on the way. -1: there is none.
 */
int spilled_open(const char *path, struct stat *st);
/* The document of the session itself. */
void index_add_session(struct builder *b, const struct index_source *source, int64_t time_ms);

/*
 * A number of the bytes before offset: when they are the same, so is, for us, all that was read.
 * The descriptor is of plain bytes.
 */
int anchor_of(int fd, uint64_t offset, uint64_t *ret);
int anchor_of_file(const char *path, uint64_t offset, uint64_t *ret);
