/*
 * Frames: the pieces that packs are made of. A frame is a head of FRAME_HEAD bytes and what it
 * holds, compressed. The head has a check of itself, so that frames can be found again behind
 * damaged bytes, and one of what follows it. Nothing of a frame whose checks fail is ever given.
 *
 * A frame of lines holds lines of sessions. A recipe says which lines make up a file, or what was
 * added to it. Whatever comes out of a pack is taken for hostile: sizes have limits, and every
 * place is checked.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"

/* Stored: the numbers stay. */
enum frame_kind {
	FRAME_LINES = 1,
	FRAME_RECIPE = 2,
	FRAME_INSTEAD = 3, /* the pack that begins with it takes the place of another: its number */
	/* of bundles (bundle/pack.h), never in a pack */
	FRAME_MANIFEST = 4,
	FRAME_MEMBER = 5,
	FRAME_CLOSE = 6,
};

enum {
	FRAME_HEAD = 40,
	FRAME_RAW_MAX = 16 * 1024 * 1024, /* bytes in one frame */
	FRAME_FILL = 256 * 1024, /* lines gather until there are so many */
};

struct frame {
	uint64_t id; /* never used twice in one archive */
	uint64_t check; /* of the stored bytes */
	uint32_t raw, stored; /* bytes before and after compression; stored without the head */
	enum frame_kind kind;
};

/* Compressing and decompressing needs tables that are worth keeping; one a thread. */
struct codec;
struct codec *codec_new(void);
void codec_free(struct codec *codec); /* NULL is fine */

/* Appends the frame, head and all, to *out. raw has at most FRAME_RAW_MAX bytes. */
void frame_encode(
	struct codec *codec, enum frame_kind kind, uint64_t id, struct sv raw, struct str *out);
/* Whether the bytes begin with the head of a frame. */
bool frame_head(struct sv bytes, struct frame *ret);
/* What a frame holds, from the bytes behind its head; *ret_raw is cleared first. ERR_INPUT: they
 * are not the ones that were written. */
int frame_decode(struct codec *codec, const struct frame *frame, struct sv stored,
	struct str *ret_raw, struct err *reterr) MUST_USE;

/* ---- recipes ---- */

enum {
	OWN_ID = 36, /* bytes of the id that is taken out of lines */
	RECIPE_TEXT_MAX = 8192, /* bytes of each of its texts */
	RECIPE_EXTENTS_MAX = 512 * 1024, /* so that it fits a frame */
};

/* Bytes that stand in a frame of lines. */
struct extent {
	uint64_t frame;
	uint32_t offset, size;
	bool own; /* OWN_ID bytes of 0 in it are where the session's own id stands */
};

/* Stored: the numbers stay. */
enum { RECIPE_FROZEN = 1 << 0 }; /* the file as it was once: nothing is added any more */

/* A part of a file. Texts are borrowed. */
struct recipe {
	struct sv key; /* of the kept file; the same in all its parts */
	struct sv agent; /* "": not known */
	struct sv session;
	struct sv path; /* where it lay */
	struct sv own; /* the id that was taken out: "" or OWN_ID bytes */
	unsigned flags;
	uint64_t start, size; /* in the file */
	int64_t mtime_ns; /* of the file */
	int64_t taken_ms;
	uint64_t hash[2]; /* of the part's bytes: XXH3, 128 bits */
	VEC(struct extent) extents; /* their sizes add up to size */
};
#define RECIPE_INIT               \
	{                         \
		.extents.v = NULL \
	}
void recipe_release(struct recipe *recipe);
void recipe_encode(const struct recipe *recipe, struct str *out);
/* Texts point into raw. ERR_INPUT; release it after a failure too. */
int recipe_decode(struct sv raw, struct recipe *ret, struct err *reterr) MUST_USE;
/* One extent more, or a longer last one where it goes on. */
void recipe_add(struct recipe *recipe, struct extent extent);

/* Takes the id out of one line (or a piece of one): false when that cannot be undone, since it has
 * bytes of 0; then the line is as it was and its extent is not `own`. id: "" or OWN_ID bytes. */
bool own_take_out(char *line, size_t n, struct sv id);
/* Puts it back into the bytes of an extent that is `own`. */
void own_put_back(char *bytes, size_t n, struct sv id);
