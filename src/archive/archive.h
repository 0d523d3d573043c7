/*
 * The archive: sessions that outlive the agents' own clean-up, and the references into them.
 *
 * What must be kept at once, because somebody is about to change it or to refer to it, is set aside
 * in the archive's folder: a copy, which grows when the file is kept again, or a link to a huge
 * one, which costs nothing and survives the unlinking of the original, but not that its bytes are
 * overwritten. archive_update() takes what was set aside, and every session of every agent, into
 * the vault (archive/vault.h). A key leads to either; nothing leaves the archive but on request.
 *
 * A reference is the beginning of a content hash. It leads to a place in a kept file, and what is
 * found there is checked against the whole hash: a reference gives the original bytes or an error,
 * never other bytes.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "archive/vault.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "store/store.h"
#include "transcript/home.h"

enum { ARCHIVE_KEY_MAX = VAULT_KEY_MAX, ARCHIVE_KEY_END = VAULT_KEY_END };

struct archive {
	struct store *store;
	const char *dir; /* made (0700) when it is missing */
	const struct clock *clock;
	/* What was taken in a home that is no more counts as of these: see transcript_moved(). None
	 * where nobody asks for paths. */
	const struct transcript_home *homes;
	size_t n_homes;
};

/* Stored: the numbers stay. */
enum archive_how {
	ARCHIVE_LINK = 0, /* a hard link */
	ARCHIVE_COPY = 1, /* the file as it is now */
	ARCHIVE_GROWING = 2, /* a copy that grows with the file */
	ARCHIVE_VAULT = 3, /* nothing is set aside: the vault has it */
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
/* The kept file, open for reading: from the vault it is a file without a name. ERR_NOTFOUND: no
 * such key, or the file is gone. Bytes that are damaged are an error, or, with ret_lost, left out
 * whole lines at a time and counted there, as long as something is left. */
int archive_open(const struct archive *a, const char *key, int *ret_fd, uint64_t *ret_lost,
	struct err *reterr) MUST_USE;
/* The same for one who needs these bytes only, from < 0 counted from the end: they, and perhaps
 * others, stand at their places. In place of damaged ones are newlines, counted in *ret_lost: every
 * line stays where it was. ERR_INPUT: all of them are damaged. */
int archive_open_part(const struct archive *a, const char *key, int64_t from, uint64_t size,
	int *ret_fd, uint64_t *ret_lost, struct err *reterr) MUST_USE;
/* Bytes of it, appended to *out. ERR_INPUT: they are not there, or damaged. */
int archive_read(const struct archive *a, const char *key, uint64_t offset, uint64_t size,
	struct str *out, struct err *reterr) MUST_USE;
/* The largest file kept of the session that lies (or lay) at path, by its place, or else by its
 * name, that is there and is not that very file; of the same size the latest. A blank one only
 * where there is no other. Without a store, of what the vault has. ERR_NOTFOUND: none.
 */
int archive_find(const struct archive *a, const char *path, char ret_key[static ARCHIVE_KEY_MAX],
	struct err *reterr) MUST_USE;
/* Whether somebody says something in it, as far as its beginning tells: an agent that overwrites a
 * session may leave a few lines in which nobody does. v: the vault, which who asks about many has
 * open; NULL: it is opened. */
bool archive_has_words(const struct archive *a, struct vault *v, const char *key);
/* Whether what is kept begins with NULs, as no session does: of a file that a power loss blanked.
 */
bool archive_is_blank(const struct archive *a, struct vault *v, const char *key);
/* Where a file lies that is set aside; owned by the caller. It need not exist. */
char *archive_path(const struct archive *a, const char *key);

/* Held by whoever changes what is set aside, for moments. Closing it unlocks. */
int archive_lock(const struct archive *a, int *ret_fd, struct err *reterr) MUST_USE;

/* ---- all sessions ---- */

struct archive_update_stats {
	size_t files; /* looked at */
	size_t taken; /* new or grown */
	size_t versions; /* … of which were rewritten since */
	size_t mended; /* damaged in the vault, and taken again */
	size_t settled; /* files that were set aside, and are no more */
	uint64_t bytes; /* of all files */
	uint64_t bytes_read;
	size_t troubles;
	size_t left; /* not looked at: cancelled */
};
struct archive_update_opts {
	/* From any thread, one at a time; each may be NULL. trouble: a file that cannot be taken;
	 * the rest is done all the same. */
	void (*progress)(void *data, size_t done, size_t files);
	void (*trouble)(void *data, const struct err *err);
	/* From any thread; true: no further file is begun, those taken count. May be NULL. */
	bool (*cancelled)(void *data);
	void *data;
	/* Only the files at these paths; NULL: all. */
	const char *const *paths;
	size_t n_paths;
};
/* Bytes of a file that lies beside a session; a larger one is trouble, and left out. */
enum { ARCHIVE_BESIDE_MAX = 1 << 30 };
/* Takes what is new of every session that the catalogue knows, what lies beside them (named by its
 * file name, where sessions have their ids), and what was set aside, into the
 * vault, which is open for writing. All of it is on disk when this returns 0. */
struct vault;
int archive_update(const struct archive *a, struct vault *v, const struct archive_update_opts *opts,
	struct archive_update_stats *ret, struct err *reterr) MUST_USE;

/* ---- what there is ---- */

/* Texts are valid during the call. */
struct archive_file {
	const char *key, *agent, *session; /* agent "": not known */
	const char *path; /* where it lay; with homes, where that would be now */
	uint64_t size;
	int64_t first_ms, kept_ms; /* taken first and last */
	bool frozen; /* as it was before it was replaced */
	/* Another version was at its path when that was looked at last, and has something in it. */
	bool superseded;
	bool aside; /* not in the vault yet */
	bool damaged; /* some of it is known to be; only where that is asked for */
};
struct archive_query {
	const char *key, *session; /* NULL: any */
	const char *below; /* what lay in this folder, and in those in it; NULL: anywhere */
	int64_t since_ms; /* what was taken then or later; 0: whenever */
	bool damage; /* it is to be said which are damaged */
};
typedef int (*archive_fn)(void *data, const struct archive_file *file);
/* Every kept file, by path and age. Not 0 ends it and is returned. */
int archive_each(const struct archive *a, const struct archive_query *query, archive_fn fn,
	void *data, struct err *reterr) MUST_USE;
/* A number that is another one when more is kept than before; it may change without a reason. */
int64_t archive_mark(const struct archive *a);
/* Tells one archive from another that was put in its place; 0: there is none. */
int64_t archive_identity(const struct archive *a);
/*
 * Writes the kept file to path, whose folders are made: 0, or 1 when it is there already with the
 * same bytes. A file without any but NULs makes room. -EEXIST: something else is there; it stays.
 * Damaged bytes are an error, or, with ret_lost, left out.
 */
int archive_restore(const struct archive *a, const char *key, const char *path, uint64_t *ret_lost,
	struct err *reterr) MUST_USE;
/* Lets go of a kept file and of the references into it. Its bytes leave the vault, which is open
 * for writing, with vault_sweep(). */
int archive_forget(
	const struct archive *a, struct vault *v, const char *key, struct err *reterr) MUST_USE;
/* Whether references lead into it: 1 or 0. */
int archive_is_referred(const struct archive *a, const char *key, struct err *reterr) MUST_USE;

/* Whether the vault, open for writing, has every byte of the file at path: 1 or 0. Where it has
 * not, all of the file is compared when it is taken next. */
int archive_holds(struct vault *v, const char *path, struct err *reterr) MUST_USE;

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
