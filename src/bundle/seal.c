#include "bundle/seal.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/random.h>

#include <sodium.h>
#include <xxhash.h>

#include "base/mem.h"

/* The head, little-endian: magic, version, passes, kB of memory, salt, the stream's own head, a
 * check with the second key of all before it, and one without a key of all before that. */
enum {
	AT_VERSION = 8,
	AT_PASSES = 12,
	AT_MEMORY = 16,
	AT_SALT = 20,
	AT_STREAM = AT_SALT + crypto_pwhash_SALTBYTES,
	AT_KEY_CHECK = AT_STREAM + crypto_secretstream_xchacha20poly1305_HEADERBYTES,
	KEY_CHECK = 16,
	AT_CHECK = AT_KEY_CHECK + KEY_CHECK,
	KEY = crypto_secretstream_xchacha20poly1305_KEYBYTES,
	EXTRA = crypto_secretstream_xchacha20poly1305_ABYTES,
	/* libsodium's "moderate": most of a second and 256 MB for whoever tries one. */
	PASSES = 3,
	MEMORY = 256 * 1024,
};
_Static_assert(AT_CHECK + 8 == SEAL_HEAD, "the head ends with its check");
static const char magic[AT_VERSION + 1] = "\x93"
					  "fadenS\n";

bool seal_is(struct sv head)
{
	return head.n >= AT_VERSION && memcmp(head.p, magic, AT_VERSION) == 0;
}

static void put32(unsigned char *at, uint32_t value)
{
	for (int i = 0; i < 4; i++)
		at[i] = (unsigned char)(value >> (8 * i));
}

static uint32_t get32(const unsigned char *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
		(uint32_t)at[3] << 24;
}

static void put_check(const unsigned char *head, unsigned char out[static 8])
{
	uint64_t sum = XXH3_64bits(head, AT_CHECK);

	put32(out, (uint32_t)sum);
	put32(out + 4, (uint32_t)(sum >> 32));
}

/* keys: that of the stream, and that of the check. */
static int make_keys(struct sv passphrase, const unsigned char *head,
	unsigned char keys[static 2 * KEY], struct err *reterr)
{
	if (sodium_init() < 0)
		return err_set(reterr, ERR_BUG, "libsodium does not start");
	if (crypto_pwhash(keys, 2 * KEY, passphrase.p, passphrase.n, head + AT_SALT,
		    get32(head + AT_PASSES), (size_t)get32(head + AT_MEMORY) * 1024,
		    crypto_pwhash_ALG_ARGON2ID13) != 0)
		return err_errno(reterr, ENOMEM, "no %u MB of memory to make the key with",
			get32(head + AT_MEMORY) / 1024);
	return 0;
}

static void check_with(
	const unsigned char *head, const unsigned char *key, unsigned char out[static KEY_CHECK])
{
	int r = crypto_generichash(out, KEY_CHECK, head, AT_KEY_CHECK, key, KEY);

	assert(r == 0);
}

/* ---- writing ---- */

struct seal_writer {
	crypto_secretstream_xchacha20poly1305_state state;
	struct term_sink sink;
	size_t n;
	unsigned char piece[SEAL_PIECE];
	unsigned char sealed[SEAL_PIECE + EXTRA];
};

int seal_begin(
	struct sv passphrase, struct term_sink sink, struct seal_writer **ret, struct err *reterr)
{
	unsigned char head[SEAL_HEAD] = { 0 }, keys[2 * KEY];
	struct seal_writer *w = xcalloc(1, sizeof(*w));

	w->sink = sink;
	*ret = w;
	memcpy(head, magic, AT_VERSION);
	put32(head + AT_VERSION, SEAL_VERSION);
	put32(head + AT_PASSES, PASSES);
	put32(head + AT_MEMORY, MEMORY);
	if (sodium_init() < 0)
		return err_set(reterr, ERR_BUG, "libsodium does not start");
	randombytes_buf(head + AT_SALT, crypto_pwhash_SALTBYTES);
	int r = make_keys(passphrase, head, keys, reterr);
	if (r >= 0) {
		(void)crypto_secretstream_xchacha20poly1305_init_push(
			&w->state, head + AT_STREAM, keys);
		check_with(head, keys + KEY, head + AT_KEY_CHECK);
		put_check(head, head + AT_CHECK);
		r = sink.write(sink.data, sv_make((const char *)head, sizeof(head)), reterr);
	}
	sodium_memzero(keys, sizeof(keys));
	return r;
}

static int push(struct seal_writer *w, unsigned char tag, struct err *reterr)
{
	unsigned long long n = 0;

	(void)crypto_secretstream_xchacha20poly1305_push(
		&w->state, w->sealed, &n, w->piece, w->n, NULL, 0, tag);
	w->n = 0;
	return w->sink.write(w->sink.data, sv_make((const char *)w->sealed, (size_t)n), reterr);
}

int seal_write(void *writer, struct sv bytes, struct err *reterr)
{
	struct seal_writer *w = writer;
	int r = 0;

	while (r == 0 && bytes.n > 0) {
		size_t n = bytes.n < SEAL_PIECE - w->n ? bytes.n : SEAL_PIECE - w->n;
		memcpy(w->piece + w->n, bytes.p, n);
		w->n += n;
		bytes = sv_from(bytes, n);
		/* A full piece is kept until more comes: the last one is marked. */
		if (w->n == SEAL_PIECE && bytes.n > 0)
			r = push(w, 0, reterr);
	}
	return r;
}

int seal_end(struct seal_writer *w, struct err *reterr)
{
	return push(w, crypto_secretstream_xchacha20poly1305_TAG_FINAL, reterr);
}

void seal_writer_free(struct seal_writer *w)
{
	if (!w)
		return;
	sodium_memzero(w, sizeof(*w));
	free(w);
}

/* ---- reading ---- */

struct seal_reader {
	crypto_secretstream_xchacha20poly1305_state state;
	struct pack_source source;
	unsigned char key[KEY];
	unsigned char stream[crypto_secretstream_xchacha20poly1305_HEADERBYTES];
	uint64_t at; /* bytes read of the file */
	size_t from, to; /* of the piece */
	bool ended;
	unsigned char piece[SEAL_PIECE];
	unsigned char sealed[SEAL_PIECE + EXTRA];
};

static int read_full(
	struct seal_reader *r, unsigned char *buf, size_t n, size_t *ret_got, struct err *reterr)
{
	size_t got = 0;
	int k = 1;

	while (got < n && k > 0) {
		k = r->source.read(r->source.data, (char *)buf + got, n - got, reterr);
		if (k < 0)
			return k;
		got += (size_t)k;
	}
	r->at += got;
	*ret_got = got;
	return 0;
}

static int look_at_head(const unsigned char *head, size_t n, struct err *reterr)
{
	unsigned char check[8];

	if (n < SEAL_HEAD)
		return err_set(reterr, ERR_INPUT, "it ends within its head: it is torn");
	if (get32(head + AT_VERSION) > SEAL_VERSION)
		return err_set(reterr, ERR_NEWER, "it was sealed by a later faden");
	put_check(head, check);
	if (memcmp(check, head + AT_CHECK, sizeof(check)) != 0)
		return err_set(reterr, ERR_INPUT, "its head was changed or is damaged");
	uint32_t passes = get32(head + AT_PASSES), memory = get32(head + AT_MEMORY);
	if (passes == 0 || passes > SEAL_PASSES_MAX || memory > SEAL_MEMORY_MAX ||
		memory < crypto_pwhash_MEMLIMIT_MIN / 1024)
		return err_set(reterr, ERR_LIMIT,
			"its key would take %u passes over %u MB, which is too much or too little",
			passes, memory / 1024);
	return 0;
}

int seal_open(struct sv passphrase, struct pack_source source, struct seal_reader **ret,
	struct err *reterr)
{
	unsigned char head[SEAL_HEAD], keys[2 * KEY], check[KEY_CHECK];
	struct seal_reader *r = xcalloc(1, sizeof(*r));
	size_t n = 0;

	r->source = source;
	*ret = r;
	int done = read_full(r, head, sizeof(head), &n, reterr);
	if (done >= 0 && !seal_is(sv_make((const char *)head, n)))
		done = err_set(reterr, ERR_INPUT, "it is not sealed by faden");
	if (done >= 0)
		done = look_at_head(head, n, reterr);
	if (done >= 0)
		done = make_keys(passphrase, head, keys, reterr);
	if (done < 0)
		return done;
	check_with(head, keys + KEY, check);
	memcpy(r->key, keys, KEY);
	memcpy(r->stream, head + AT_STREAM, sizeof(r->stream));
	sodium_memzero(keys, sizeof(keys));
	if (sodium_memcmp(check, head + AT_KEY_CHECK, KEY_CHECK) != 0)
		return err_set(
			reterr, ERR_DENIED, "the passphrase is not the one it was sealed with");
	(void)crypto_secretstream_xchacha20poly1305_init_pull(&r->state, r->stream, r->key);
	return 0;
}

int seal_rewind(struct seal_reader *r, struct err *reterr)
{
	unsigned char head[SEAL_HEAD];
	size_t n = 0;

	r->at = 0;
	r->from = r->to = 0;
	r->ended = false;
	int done = read_full(r, head, sizeof(head), &n, reterr);
	if (done >= 0 &&
		(n < SEAL_HEAD || memcmp(head + AT_STREAM, r->stream, sizeof(r->stream)) != 0))
		done = err_set(reterr, ERR_INPUT, "it has changed meanwhile");
	(void)crypto_secretstream_xchacha20poly1305_init_pull(&r->state, r->stream, r->key);
	return done;
}

/* The next piece, once it is known to be whole. */
static int pull(struct seal_reader *r, struct err *reterr)
{
	unsigned long long n = 0;
	unsigned char tag = 0, more;
	uint64_t at = r->at;
	size_t got = 0;
	int done = read_full(r, r->sealed, sizeof(r->sealed), &got, reterr);

	if (done < 0)
		return done;
	if (got < EXTRA)
		return err_set(reterr, ERR_INPUT, "it ends early, after %llu bytes: it is torn",
			(unsigned long long)r->at);
	if (crypto_secretstream_xchacha20poly1305_pull(
		    &r->state, r->piece, &n, &tag, r->sealed, got, NULL, 0) != 0)
		return err_set(reterr, ERR_INPUT,
			got < sizeof(r->sealed) ? "it was cut off or changed behind %llu"
						: "it was changed or is damaged behind %llu",
			(unsigned long long)at);
	r->from = 0;
	r->to = (size_t)n;
	if (tag != crypto_secretstream_xchacha20poly1305_TAG_FINAL)
		return 0;
	r->ended = true;
	done = read_full(r, &more, 1, &got, reterr);
	return done >= 0 && got > 0
		? err_set(reterr, ERR_INPUT, "there is something behind its end")
		: done;
}

int seal_read(void *reader, char *buf, size_t n, struct err *reterr)
{
	struct seal_reader *r = reader;

	while (r->from == r->to && !r->ended) {
		int done = pull(r, reterr);
		if (done < 0)
			return done;
	}
	size_t have = r->to - r->from;
	n = n < have ? n : have;
	memcpy(buf, r->piece + r->from, n);
	r->from += n;
	return (int)n;
}

void seal_reader_free(struct seal_reader *r)
{
	if (!r)
		return;
	sodium_memzero(r, sizeof(*r));
	free(r);
}
