/*
 * The archive: originals that outlive the agents' own clean-up, and the references into them.
 *
 * A session that is kept is copied into the archive's folder. When it is kept again, only what the
 * agent has appended since is added: the places in it stay. A huge one is linked instead, which
 * costs nothing and survives the unlinking of the original, but not that its bytes are
 * overwritten. Nothing is ever deleted here.
 *
 * A reference is the beginning of a content hash. It leads to a place in a kept file, and what is
 * found there is checked against the whole hash: a reference gives the original bytes or an error,
 * never other bytes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "store/store.h"

enum { ARCHIVE_KEY_MAX = 64 };

struct archive {
	struct store *store;
	const char *dir; /* made (0700) when it is missing */
	const struct clock *clock;
};

/* Stored: the numbers stay. */
enum archive_how {
	ARCHIVE_LINK = 0, /* a hard link */
	ARCHIVE_COPY = 1, /* the file as it is now */
	ARCHIVE_GROWING = 2, /* a copy that grows with the file */
};

/* Larger files are linked where they would be copied to grow. */
enum { ARCHIVE_LINK_FROM = 64 * 1024 * 1024 };

/*
 * Keeps the file and gives its key: a file name's worth of [0-9a-z.-]. ARCHIVE_COPY is for a file
 * that is about to be replaced; a copy that has the same bytes serves, and grows no more.
 * ARCHIVE_GROWING is for one that goes on, and becomes ARCHIVE_LINK
 * for a huge file; either becomes a copy where links cannot be. What is kept already is not kept
 * twice. A copy is on disk when this returns.
 */
int archive_keep(const struct archive *a, const char *path, enum archive_how how,
	char ret_key[static ARCHIVE_KEY_MAX], struct err *reterr) MUST_USE;
/* The kept file, open for reading. ERR_NOTFOUND: no such key, or the file is gone. */
int archive_open(
	const struct archive *a, const char *key, int *ret_fd, struct err *reterr) MUST_USE;
/* The largest file kept of the session that lies (or lay) at path, by its place or its name, that
 * is there and is not that very file. ERR_NOTFOUND: none. */
int archive_find(const struct archive *a, const char *path, char ret_key[static ARCHIVE_KEY_MAX],
	struct err *reterr) MUST_USE;
/* Where the kept file lies; owned by the caller. It need not exist. */
char *archive_path(const struct archive *a, const char *key);

/* ---- references ---- */

enum {
	RECALL_REF = 17, /* 16 hexadecimal digits and a NUL */
	RECALL_VALUE_MAX = 1 << 30, /* bytes of one original */
};

/* Content hash of the original as it stands in the file: raw JSON. */
struct recall_hash {
	uint64_t low, high;
};
struct recall_hash recall_hash(struct sv raw);
void recall_ref_text(struct recall_hash hash, char out[static RECALL_REF]);
/* 16 hexadecimal digits, either case; anything before the last word ("faden recall …") is let go.
 */
bool recall_ref_parse(struct sv text, uint64_t *ret_low);

/* What kind of value the place holds: how it is turned into text. */
enum recall_kind {
	RECALL_TEXT, /* a JSON string */
	RECALL_BLOCKS, /* a list of content blocks: their texts */
	RECALL_IMAGE, /* a block with base64 data: the bytes */
	RECALL_JSON, /* anything else, as it is */
};

struct recall_place {
	struct recall_hash hash;
	uint64_t offset; /* of the value in the kept file */
	uint64_t size; /* its bytes, quotes included */
	/* The original is a part of the JSON text that the value, a string, holds: its place in
	 * the decoded text. inner_size 0: it is the value itself. */
	uint64_t inner_offset, inner_size;
	enum recall_kind kind;
};

/* Remembers where originals are, all or none. One original may have several places: the first
 * that still holds it is taken. */
int recall_add(const struct archive *a, const char *key, const struct recall_place *places,
	size_t n, struct err *reterr) MUST_USE;

struct recall_found {
	struct recall_place place;
	char key[ARCHIVE_KEY_MAX];
	char *session; /* id and path of the session it was taken from; owned */
	char *path;
};
#define RECALL_FOUND_INIT       \
	{                       \
		.session = NULL \
	}
void recall_found_release(struct recall_found *found);
/*
 * Reads the original behind a reference into *ret_raw (appended), as it stands in the file, and
 * checks it. From the archive; when that is gone or changed, from where the session lay. found may
 * be NULL. ERR_NOTFOUND: the reference is not known; ERR_INPUT: known, but the original is gone.
 */
int recall_get(const struct archive *a, struct sv ref, struct str *ret_raw,
	struct recall_found *found, struct err *reterr) MUST_USE;
