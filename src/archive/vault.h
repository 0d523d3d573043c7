/*
 * The vault: every session that the archive has, in chunks.
 *
 *	DIR/packs/N.pack   frames, one after the other; only added to
 *	DIR/archive.db     what is where: made again from the packs when it is lost or damaged
 *	DIR/lock           held by the one who writes
 *
 * A kept file has a key and grows as the session does; one that was rewritten is another file of
 * the same path. Lines are stored once: copies, forks and trimmed sessions share them, since the
 * session's own id is taken out of each. What a file is made of is said by recipes, one for each
 * time that something was taken, and a recipe counts when it is on disk and in the database.
 *
 * One writer at a time; readers never wait for it. A vault that is open for writing may be used by
 * several threads, each with a taker of its own.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "base/str.h"

struct vault;

enum {
	VAULT_KEY_MAX = 64,
	VAULT_KEY_END = 8, /* characters of chance, behind the last dot */
};
/* A new one: a session's name as far as it is harmless, and some chance. */
void vault_key_make(struct sv name, char key[static VAULT_KEY_MAX]);

enum {
	VAULT_WRITE = 1 << 0, /* made when it is missing */
	/* The database is compared with the packs first, and made again where it says something
	 * else; so it is written by one who reads, too, if it can be. */
	VAULT_CHECK = 1 << 1,
};
/* ERR_NOTFOUND: nothing is there, for one who reads. ERR_BUSY: with VAULT_WRITE, and another one
 * writes. log may be NULL; it and the clock must outlive the vault. */
int vault_open(const char *dir, unsigned flags, const struct clock *clock, const struct log *log,
	struct vault **ret, struct err *reterr) MUST_USE;
/* The same, after whoever writes now: see file_lock(). */
struct lock_wait;
int vault_open_after(const char *dir, unsigned flags, const struct lock_wait *wait,
	const struct clock *clock, const struct log *log, struct vault **ret,
	struct err *reterr) MUST_USE;
/* What was not committed is gone. NULL is fine. */
void vault_close(struct vault *v);
static inline void vault_closep(struct vault **v)
{
	vault_close(*v);
}
#define AUTO_VAULT CLEANUP(vault_closep) struct vault
/* The database was damaged or lost and has been made again from the packs. */
bool vault_made_anew(const struct vault *v);
/* How many packs were shorter than they should be, or gone, when it was opened for writing; and how
 * many frames are known to be damaged: by that, by vault_verify(), or since a writer met them. */
unsigned vault_cut(const struct vault *v);
uint64_t vault_damaged(const struct vault *v);
/* All that was taken is on disk, and counts. */
int vault_commit(struct vault *v, struct err *reterr) MUST_USE;

/* ---- taking files ---- */

struct vault_source {
	const char *path; /* where it lies, and lay: resolved */
	/* Where to read it instead; NULL: there. What is compressed is unpacked, unless path ends
	 * with UNPACK_DAMAGED. */
	const char *from;
	const char *key; /* the key that it must have; NULL: one is found or made */
	const char *agent; /* "": not known */
	const char *session; /* the id in lists */
	const char *own; /* the id that stands in its lines: 36 bytes, else none is taken out */
	bool frozen; /* it stays as it is now, whatever the file at its path becomes */
	uint64_t most; /* bytes that may be read of it; 0: any */
};
enum vault_took {
	VAULT_SAME, /* not touched since it was taken last */
	VAULT_HELD, /* changed, but there is nothing that the archive does not have */
	VAULT_GREW,
	VAULT_NEW,
	VAULT_VERSION, /* another file of a path that has one: it was rewritten */
	VAULT_REFUSED, /* nothing was taken: more than `most`, or the key is that of another */
};
struct vault_taken {
	enum vault_took took;
	char key[VAULT_KEY_MAX]; /* "": an empty file, of which nothing is kept */
	uint64_t size; /* of the file */
	uint64_t read; /* bytes of it that had to be read */
	bool mended; /* what was damaged of it in the archive was taken again */
};
struct taker;
struct taker *taker_new(struct vault *v);
void taker_free(struct taker *t); /* what was not finished is not taken; NULL is fine */
/* Takes what the archive does not have of the file yet. It counts after taker_finish() and
 * vault_commit(). A failure that is one of the file leaves the taker usable. */
int taker_take(struct taker *t, const struct vault_source *given, struct vault_taken *ret,
	struct err *reterr) MUST_USE;
int taker_finish(struct taker *t, struct err *reterr) MUST_USE;
/* After taking, when frames are damaged: recipes are written again, and frames that nobody needs
 * any more are let go. Counts with vault_commit(). */
int vault_mend(struct vault *v, struct err *reterr) MUST_USE;

/* ---- what is kept ---- */

/* Texts are valid during the call. */
struct vault_file {
	const char *key, *agent, *session, *path;
	uint64_t size;
	int64_t mtime_ns; /* of the file when something was taken of it last */
	int64_t first_ms, last_ms; /* taken */
	bool frozen;
	const char *
		later; /* the version that was at its path when that was looked at last; NULL: it */
};
struct vault_query {
	const char *key; /* NULL: any; so with the others */
	const char *session;
	const char *path; /* … or lies at this path, when both are given */
	const char *below; /* in this folder, and in those in it */
	const struct strv *or_outside; /* … or, with below, in none of these folders */
	int64_t since_ms; /* taken then or later */
};
/* Each file, those of one path by age, the oldest first. Not 0 ends it and is returned. */
typedef int (*vault_fn)(void *data, const struct vault_file *file);
int vault_each(struct vault *v, const struct vault_query *query, vault_fn fn, void *data,
	struct err *reterr) MUST_USE;
/* Whether nothing of it is known to be damaged: 1 or 0. */
int vault_whole(struct vault *v, const char *key, struct err *reterr) MUST_USE;
/* The size of a kept file. ERR_NOTFOUND. */
int vault_size(struct vault *v, const char *key, uint64_t *ret, struct err *reterr) MUST_USE;

/* Reads bytes of a kept file into *out (appended); what lies behind its end is left out.
 * ERR_NOTFOUND; ERR_INPUT: some of them are damaged. */
int vault_read(struct vault *v, const char *key, uint64_t offset, uint64_t size, struct str *out,
	struct err *reterr) MUST_USE;
/* Writes all of it to a descriptor. Damaged bytes are an error, or, with ret_lost, left out whole
 * lines at a time and counted there. */
int vault_write_out(
	struct vault *v, const char *key, int fd, uint64_t *ret_lost, struct err *reterr) MUST_USE;
/* Writes these bytes of it to their places in the descriptor's file; from < 0 is counted from its
 * end. In place of damaged ones are newlines, counted in *ret_lost: every line stays where it was.
 * ERR_INPUT: all of them are damaged. */
int vault_write_part(struct vault *v, const char *key, int64_t from, uint64_t size, int fd,
	uint64_t *ret_lost, struct err *reterr) MUST_USE;
/* Whether the file begins with the first `size` bytes of the kept one: 1 or 0. */
int vault_begins(
	struct vault *v, const char *key, uint64_t size, int fd, struct err *reterr) MUST_USE;

struct vault_figures {
	uint64_t files, bytes; /* kept, and their bytes when they are whole */
	uint64_t packs, stored; /* and the bytes of these */
};
int vault_figures(struct vault *v, struct vault_figures *ret, struct err *reterr) MUST_USE;

/* ---- checking ---- */

struct vault_verdict {
	uint64_t files, bytes, frames; /* looked at */
	uint64_t damaged_frames; /* whose bytes have changed or are missing */
	uint64_t damaged_files; /* that need one of those */
	uint64_t lost; /* bytes of files */
	uint64_t unused; /* bytes of packs that nobody needs: left by one who was killed */
};
/* Reads everything. fn gets every file that is not whole, and may be NULL. Where the vault is open
 * for writing, what is damaged is noted, so that it is taken again where the agents still have it.
 */
int vault_verify(struct vault *v, vault_fn fn, void *data, struct vault_verdict *ret,
	struct err *reterr) MUST_USE;

/* ---- leaving ---- */

/* Lets go of a kept file; its bytes are there until vault_sweep(). ERR_NOTFOUND. */
int vault_forget(struct vault *v, const char *key, struct err *reterr) MUST_USE;
/* Lets go of what is known of the file at a path, of which nothing is kept. */
int vault_forget_path(struct vault *v, const char *path, struct err *reterr) MUST_USE;
/*
 * Writes the packs anew that have bytes which nobody needs any more, also beside others in one
 * frame: afterwards the packs have none of them. The names are in the database's file until
 * vault_scrub(), which writes that anew; ERR_BUSY: others read there. It takes some seconds a
 * gigabyte at most, and memory for one frame and where lines lie. ERR_CANCELLED: the packs that
 * were written are, the next sweep does the others.
 */
struct vault_sweep_opts { /* both may be NULL */
	void (*progress)(void *data, size_t done, size_t packs);
	bool (*cancelled)(void *data);
	void *data;
};
int vault_sweep(struct vault *v, const struct vault_sweep_opts *opts, uint64_t *ret_freed,
	struct err *reterr) MUST_USE;
int vault_scrub(struct vault *v, struct err *reterr) MUST_USE;
