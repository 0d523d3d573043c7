/*
 * Bytes sealed with a passphrase: Argon2id makes a key of it, and libsodium's secretstream keeps
 * what is written with that key from being read, changed, cut, or put in another order.
 *
 * The head has the parameters and a check of itself, so that damage to it is told from a wrong
 * passphrase, and a check made with a second key, so that a wrong passphrase is told from damage to
 * what follows. What is behind it comes in pieces of SEAL_PIECE bytes; nothing of a piece is given
 * before it is known to be whole.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"
#include "bundle/pack.h"
#include "ui/term.h"

enum {
	SEAL_VERSION = 1,
	SEAL_HEAD = 84,
	SEAL_PIECE = 64 * 1024,
	SEAL_PASSPHRASE_MAX = 4096, /* bytes */
	/* What a file may ask for: more than any sensible one does. */
	SEAL_MEMORY_MAX = 1024 * 1024, /* kB */
	SEAL_PASSES_MAX = 16,
};

/* Whether a file begins so; at least 8 bytes. */
bool seal_is(struct sv head);

/* ---- writing ---- */

struct seal_writer;
/* The head is written to the sink. */
int seal_begin(struct sv passphrase, struct term_sink sink, struct seal_writer **ret,
	struct err *reterr) MUST_USE;
/* Takes what is to be sealed; the writer is its data. */
int seal_write(void *writer, struct sv bytes, struct err *reterr) MUST_USE;
int seal_end(struct seal_writer *w, struct err *reterr) MUST_USE;
void seal_writer_free(struct seal_writer *w); /* NULL is fine */

/* ---- reading ---- */

struct seal_reader;
/*
 * Reads the head and makes the key, which takes a while and some memory. ERR_DENIED: the passphrase
 * is another one. ERR_INPUT: damaged or no such file; ERR_NEWER; ERR_LIMIT: it asks for too much.
 */
int seal_open(struct sv passphrase, struct pack_source source, struct seal_reader **ret,
	struct err *reterr) MUST_USE;
/* The same file again from its beginning, with the key that there is. */
int seal_rewind(struct seal_reader *r, struct err *reterr) MUST_USE;
/* For a pack_source; the reader is its data. */
int seal_read(void *reader, char *buf, size_t n, struct err *reterr) MUST_USE;
void seal_reader_free(struct seal_reader *r); /* NULL is fine */
