/*
 * References: from a content hash to the places where the original stands.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/mem.h"
#include "os/file.h"
#include "store/archive.h"
#include "store/sql.h"
#include "json/scan.h"

/* ---- the hash ---- */

struct recall_hash recall_hash(struct sv raw)
{
	XXH128_hash_t h = XXH3_128bits(raw.p, raw.n);

	return (struct recall_hash){ h.low64, h.high64 };
}

void recall_ref_text(struct recall_hash hash, char out[static RECALL_REF])
{
	static const char digits[] = "0123456789abcdef";

	for (int i = 0; i < RECALL_REF - 1; i++)
		out[i] = digits[hash.low >> (60 - 4 * i) & 0xf];
	out[RECALL_REF - 1] = '\0';
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool recall_ref_parse(struct sv text, uint64_t *ret_low)
{
	struct sv rest = sv_trim(text), word = rest;
	uint64_t low = 0;

	while (sv_split(&rest, ' ', &word))
		;
	if (sv_ends(word, SV("]")))
		word = sv_head(word, word.n - 1);
	if (word.n != RECALL_REF - 1)
		return false;
	for (size_t i = 0; i < word.n; i++) {
		int digit = hex_digit(word.p[i]);
		if (digit < 0)
			return false;
		low = low << 4 | (uint64_t)digit;
	}
	*ret_low = low;
	return true;
}

/* ---- remembering ---- */

/* As the table has them: neighbours go into it at a fraction of the cost. */
static int by_hash(const void *a, const void *b)
{
	const struct recall_place *const *x = a, *const *y = b;
	int64_t low = (int64_t)(*x)->hash.low, other = (int64_t)(*y)->hash.low;

	return (low > other) - (low < other);
}

static int add_places(const struct archive *a, const char *key, const struct recall_place *places,
	size_t n, struct err *reterr)
{
	AUTO_FREE const struct recall_place **sorted = xcalloc(n, sizeof(*sorted));
	AUTO_SQL of = SQL_INIT;
	AUTO_SQL q = SQL_INIT;
	int r = SQL_PREPARE(
		&of, a->store, reterr, "SELECT seq FROM archive WHERE key = ?", SQL_T(key));

	if (r == 0)
		r = sql_step(&of, reterr);
	if (r <= 0)
		return r < 0 ? r : err_set(reterr, ERR_BUG, "%s is not in the archive", key);
	int64_t archive = sql_get_int(&of, 0);
	r = sql_prepare(&q, a->store,
		"INSERT OR IGNORE INTO recall"
		" (low, high, archive, offset, size, inner_offset, inner_size, kind)"
		" VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		reterr);
	for (size_t i = 0; i < n; i++)
		sorted[i] = &places[i];
	qsort(sorted, n, sizeof(*sorted), by_hash);
	for (size_t i = 0; i < n && r >= 0; i++) {
		const struct recall_place *p = sorted[i];
		sql_reset(&q);
		sql_int(&q, (int64_t)p->hash.low);
		sql_int(&q, (int64_t)p->hash.high);
		sql_int(&q, archive);
		sql_int(&q, (int64_t)p->offset);
		sql_int(&q, (int64_t)p->size);
		sql_int(&q, (int64_t)p->inner_offset);
		sql_int(&q, (int64_t)p->inner_size);
		sql_int(&q, p->kind);
		r = sql_run(&q, reterr);
	}
	return r;
}

int recall_add(const struct archive *a, const char *key, const struct recall_place *places,
	size_t n, struct err *reterr)
{
	if (n == 0)
		return 0;
	int r = store_begin(a->store, reterr);
	if (r < 0)
		return r;
	r = add_places(a, key, places, n, reterr);
	return store_end(a->store, r, reterr);
}

/* ---- reading ---- */

void recall_found_release(struct recall_found *found)
{
	free(TAKE_PTR(found->session));
	free(TAKE_PTR(found->path));
}

static bool read_at(int fd, uint64_t offset, uint64_t size, struct str *out)
{
	if (size > RECALL_VALUE_MAX || !str_reserve(out, (size_t)size))
		return false;
	size_t got = 0;
	while (got < size) {
		ssize_t n = pread(fd, out->buf + got, (size_t)size - got, (off_t)(offset + got));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		got += (size_t)n;
	}
	out->len = (size_t)size;
	out->buf[out->len] = '\0';
	return true;
}

/* The original from an open file, when it is there and is the one that was meant. */
static bool take(int fd, const struct recall_place *p, struct str *ret_raw)
{
	AUTO_STR value = STR_INIT;
	AUTO_STR text = STR_INIT;

	if (!read_at(fd, p->offset, p->size, &value))
		return false;
	struct sv raw = str_sv(&value);
	if (p->inner_size > 0) {
		if (!scan_string((struct jval){ raw, J_STRING }, &text) ||
			p->inner_offset > text.len || p->inner_size > text.len - p->inner_offset)
			return false;
		raw = sv_make(text.buf + p->inner_offset, (size_t)p->inner_size);
	}
	struct recall_hash hash = recall_hash(raw);
	if (hash.low != p->hash.low || hash.high != p->hash.high)
		return false;
	str_add(ret_raw, raw);
	return true;
}

static bool take_from_path(const char *path, const struct recall_place *p, struct str *ret_raw)
{
	AUTO_CLOSE int fd = path ? file_open(path, NULL, NULL) : -1;

	return fd >= 0 && take(fd, p, ret_raw);
}

/* Where the catalogue has seen the session since. */
static bool take_from_catalogue(
	const struct archive *a, const struct recall_found *found, struct str *ret_raw)
{
	AUTO_SQL q = SQL_INIT;

	if (!found->session ||
		sql_prepare(&q, a->store, "SELECT path FROM session WHERE id = ?", NULL) < 0)
		return false;
	sql_text(&q, found->session);
	while (sql_step(&q, NULL) > 0)
		if (take_from_path(sql_get_text(&q, 0), &found->place, ret_raw))
			return true;
	return false;
}

static bool take_anywhere(
	const struct archive *a, const struct recall_found *found, struct str *ret_raw)
{
	AUTO_CLOSE int fd = -1;

	if (archive_open(a, found->key, &fd, NULL) == 0 && take(fd, &found->place, ret_raw))
		return true;
	return take_from_path(found->path, &found->place, ret_raw) ||
		take_from_catalogue(a, found, ret_raw);
}

static void fill(struct sql *q, struct recall_found *found)
{
	recall_found_release(found);
	*found = (struct recall_found){
		.place = {
			.hash = { (uint64_t)sql_get_int(q, 0), (uint64_t)sql_get_int(q, 1) },
			.offset = (uint64_t)sql_get_int(q, 2),
			.size = (uint64_t)sql_get_int(q, 3),
			.inner_offset = (uint64_t)sql_get_int(q, 4),
			.inner_size = (uint64_t)sql_get_int(q, 5),
			.kind = (enum recall_kind)sql_get_int(q, 6),
		},
		.session = sql_dup_text(q, 8),
		.path = sql_dup_text(q, 9),
	};
	(void)snprintf(found->key, sizeof(found->key), "%s", sql_get_text(q, 7));
}

int recall_get(const struct archive *a, struct sv ref, struct str *ret_raw,
	struct recall_found *found, struct err *reterr)
{
	CLEANUP(recall_found_release) struct recall_found row = RECALL_FOUND_INIT;
	AUTO_SQL q = SQL_INIT;
	uint64_t low;
	bool known = false;

	if (!recall_ref_parse(ref, &low))
		return err_set(reterr, ERR_USAGE,
			"a reference has 16 hexadecimal digits, as the placeholder says");
	int r = sql_prepare(&q, a->store,
		"SELECT low, high, offset, r.size, inner_offset, inner_size, kind, key, session,"
		" path FROM recall r JOIN archive a ON a.seq = r.archive WHERE low = ?"
		" ORDER BY a.seq",
		reterr);
	if (r < 0)
		return r;
	sql_int(&q, (int64_t)low);
	while ((r = sql_step(&q, reterr)) > 0) {
		known = true;
		fill(&q, &row);
		if (!take_anywhere(a, &row, ret_raw))
			continue;
		if (found) {
			*found = row;
			row = (struct recall_found)RECALL_FOUND_INIT;
		}
		return 0;
	}
	if (r < 0)
		return r;
	return known ? err_set(reterr, ERR_INPUT, "the original is gone: it stood in %s", row.path)
		     : err_set(reterr, ERR_NOTFOUND, "no such reference: %.*s", SV_ARG(ref));
}
