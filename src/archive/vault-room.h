/*
 * The vault from inside; private to its files.
 */
#pragma once

#include <pthread.h>

#include "archive/frame.h"
#include "archive/vault.h"
#include "store/sql.h"

enum {
	PACK_FULL = 64 * 1024 * 1024, /* then the next one is begun */
	START_BYTES = 4 * 1024 * 1024, /* the disk gets to do after so many */
	COMMIT_BYTES = 64 * 1024 * 1024, /* what is written between two waits for the disk */
};

/* The one who writes. Frames and rows go out as they come, rows in one long transaction: whoever
 * reads sees the state of the last commit. */
struct vault {
	char *dir, *packs;
	struct store *db;
	const struct clock *clock;
	const struct log *log;
	pthread_mutex_t mutex; /* of everything below, and of db while several threads take */
	int lock; /* -1: for reading */
	bool began; /* a transaction is open */
	bool failed; /* something was not written: nothing more is committed */
	struct err why; /* … for a frame; code 0: another reason */
	bool anew;
	unsigned cut; /* packs that were shorter than recorded, or gone, when it was opened */
	uint64_t damaged; /* frames that are known to be */
	int fd; /* of the pack that is written, -1: none yet */
	int64_t pack;
	uint64_t end; /* of it */
	uint64_t unsynced;
	uint64_t next_id;
	VEC(int64_t)
	let_go; /* frames of recipes that do not count, of the database that
		   vault_agrees() has looked at */
};

extern const struct schema vault_schema;

char *pack_path(const struct vault *v, int64_t n);
long long pack_number(const char *file); /* 0: it is none */
/* What the database knows of a pack: how far it has been taken in, where a frame lies. */
int known_size(struct vault *v, int64_t n, uint64_t *ret, struct err *reterr) MUST_USE;
int note_pack(struct vault *v, int64_t n, uint64_t size, struct err *reterr) MUST_USE;
int put_frame_row(struct vault *v, const struct frame *f, int64_t pack, uint64_t offset,
	struct err *reterr) MUST_USE;

/* Bytes of an encoded frame at the end of the packs, and its row. With the mutex. */
int vault_put(
	struct vault *v, const struct frame *frame, struct sv bytes, struct err *reterr) MUST_USE;
/* The rows of a recipe: the kept file, the part. */
int vault_put_recipe(struct vault *v, const struct recipe *recipe, struct sv raw, uint64_t frame,
	struct err *reterr) MUST_USE;
/* Remembers that a frame of lines has this one. */
int vault_put_hook(struct vault *v, uint64_t hash, uint64_t frame, struct err *reterr) MUST_USE;
/* Opens the long transaction. */
int vault_begin(struct vault *v, struct err *reterr) MUST_USE;
/* vault_commit() with the mutex. */
int vault_commit_held(struct vault *v, struct err *reterr) MUST_USE;
/* Takes in what packs have that the database does not know, and notes what they have lost. */
int vault_absorb(struct vault *v, struct err *reterr) MUST_USE;
/* Whether the database says what the packs do, as far as they are whole: places of frames, recipes,
 * whose they are. Reads the recipes, and of lines where they are. */
bool vault_agrees(struct vault *v);
/* What was forgotten does not come back with a database that is made again. */
int vault_put_let_go(struct vault *v, struct err *reterr) MUST_USE;
/* Notes that the frame is damaged: what it had is taken again where it comes by. Nothing is done
 * where the vault is open for reading. With the mutex. */
int vault_mark(struct vault *v, uint64_t frame, struct err *reterr) MUST_USE;
/* Whether lines of it stand in a frame that is known to be damaged: 1 or 0. With the mutex. */
int recipe_damaged(struct vault *v, const struct recipe *recipe, struct err *reterr) MUST_USE;
/* Fills the temporary table `needed` with the frames that recipes need, their own among them. */
int vault_gather_needed(struct vault *v, struct err *reterr) MUST_USE;

/* ---- packs ---- */

struct pack_range {
	uint64_t from, to;
	bool heads; /* of a frame of lines only its head, where the frame before has led there */
};
/* Every frame that is whole; stored is NULL where it was not read. What is damaged is passed over:
 * vault_verify() tells of it, and what it held is written anew when it comes again. Not 0 ends the
 * walk and is returned. */
typedef int (*pack_fn)(void *data, uint64_t offset, const struct frame *frame,
	const struct str *stored, struct err *reterr);
int pack_walk(int fd, struct pack_range range, pack_fn fn, void *data, struct err *reterr) MUST_USE;

/* ---- lines that a later session may share ---- */

enum {
	LINE_MIN = 128, /* shorter ones are not looked for by themselves */
	HOOK_ALWAYS = 4096, /* one so long is remembered in any case */
	HOOK_EVERY = 8, /* of the others one in so many */
};
/* Calls fn for each line (or piece of a long one) of a frame that can be looked for. */
typedef int (*line_fn)(void *data, uint64_t hash, size_t offset, size_t n);
int lines_each(struct sv raw, line_fn fn, void *data);
uint64_t line_hash(struct sv line);
bool line_is_hook(uint64_t hash, size_t n);

/* ---- frames that are looked at ---- */

enum { SHELF_SLOTS = 64 };

struct shelf_slot {
	uint64_t id;
	uint64_t used; /* 0: empty */
	struct str raw;
};
/* The frames that a thread has read last. */
struct shelf {
	struct vault *v;
	struct codec *codec;
	struct shelf_slot slots[SHELF_SLOTS];
	uint64_t clock;
	struct str stored;
	int fd; /* of the pack read last */
	int64_t pack;
};
void shelf_init(struct shelf *s, struct vault *v);
void shelf_release(struct shelf *s);
/* The slot that has the frame, read and checked; NULL when it is not on the shelf. */
struct shelf_slot *shelf_find(struct shelf *s, uint64_t id);
/* … read when it is not. ERR_NOTFOUND: no such frame, ERR_INPUT: it is damaged. */
int shelf_get(struct shelf *s, uint64_t id, struct shelf_slot **ret, struct err *reterr) MUST_USE;
