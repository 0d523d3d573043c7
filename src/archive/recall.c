/*
 * References: from a content hash to the places where the original stands.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive/archive.h"
#include "base/mem.h"
#include "os/file.h"
#include "os/unpack.h"
#include "store/sql.h"
#include "json/scan.h"

/* ---- as text ---- */

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

/* ---- many places in a row ---- */

/*
 * SQLite takes two microseconds for a row, which for the 50,000 texts of a session of a gigabyte is
 * a tenth of the time that all the rest takes. So that many are packed: what is looked for stands
 * apart, eight bytes each, and is looked through from end to end. Numbers have the low byte first;
 * most are small, and go as seven bits a byte with more to come where the eighth is set.
 */
enum { PACK_FROM = 256, LOW = sizeof(uint64_t), BITS = 7, MORE = 1 << BITS };

static void put_word(struct str *out, uint64_t n)
{
	n = htole64(n);
	str_add(out, sv_make((const char *)&n, sizeof(n)));
}

static uint64_t word_at(struct sv bytes, size_t index)
{
	uint64_t n;

	memcpy(&n, bytes.p + index * sizeof(n), sizeof(n));
	return le64toh(n);
}

static void put_number(struct str *out, uint64_t n)
{
	for (; n >= MORE; n >>= BITS)
		str_addc(out, (char)(n | MORE));
	str_addc(out, (char)n);
}

/* False at the end of the bytes. */
static bool get_number(struct sv *rest, uint64_t *ret)
{
	uint64_t n = 0;

	for (unsigned shift = 0; rest->n > 0 && shift < 64; shift += BITS) {
		unsigned char c = (unsigned char)rest->p[0];
		*rest = sv_from(*rest, 1);
		n |= (uint64_t)(c & (MORE - 1)) << shift;
		if (c < MORE) {
			*ret = n;
			return true;
		}
	}
	return false;
}

static void pack(const struct recall_place *places, size_t n, struct str *lows, struct str *rest)
{
	uint64_t before = 0;

	for (size_t i = 0; i < n; i++) {
		const struct recall_place *p = &places[i];
		put_word(lows, p->hash.low);
		put_word(rest, p->hash.high);
		put_number(rest, p->offset - before); /* backwards is a large number */
		put_number(rest, p->size);
		put_number(rest, p->inner_offset);
		put_number(rest, p->inner_size);
		put_number(rest, p->kind);
		before = p->offset;
	}
}

/* The place after *p; of the first one *p is zero. False where the bytes are not of a pack. */
static bool unpack_next(struct sv *rest, struct recall_place *p)
{
	uint64_t by, kind;

	if (rest->n < LOW)
		return false;
	p->hash.high = word_at(*rest, 0);
	*rest = sv_from(*rest, LOW);
	if (!get_number(rest, &by) || !get_number(rest, &p->size) ||
		!get_number(rest, &p->inner_offset) || !get_number(rest, &p->inner_size) ||
		!get_number(rest, &kind) || kind > RECALL_JSON)
		return false;
	p->offset += by;
	p->kind = (enum recall_kind)kind;
	return true;
}

/* What is there already is not put there again. */
static int add_pack(const struct archive *a, int64_t archive, const struct recall_place *places,
	size_t n, struct err *reterr)
{
	AUTO_STR lows = STR_INIT;
	AUTO_STR rest = STR_INIT;
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, a->store,
		"INSERT INTO recall_pack (archive, lows, places) SELECT ?1, ?2, ?3 WHERE NOT EXISTS"
		" (SELECT 1 FROM recall_pack WHERE archive = ?1 AND lows = ?2 AND places = ?3)",
		reterr);

	if (r < 0)
		return r;
	pack(places, n, &lows, &rest);
	sql_int(&q, archive);
	sql_blob(&q, str_sv(&lows));
	sql_blob(&q, str_sv(&rest));
	return sql_run(&q, reterr);
}

/* ---- remembering ---- */

static int add_rows(const struct archive *a, int64_t archive, const struct recall_place *places,
	size_t n, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, a->store,
		"INSERT OR IGNORE INTO recall"
		" (low, high, archive, offset, size, inner_offset, inner_size, kind)"
		" VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
		reterr);

	for (const struct recall_place *p = places; p < places + n && r >= 0; p++) {
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

static int add_places(const struct archive *a, const char *key, const struct recall_place *places,
	size_t n, struct err *reterr)
{
	AUTO_SQL of = SQL_INIT;
	int r = SQL_PREPARE(
		&of, a->store, reterr, "SELECT seq FROM archive WHERE key = ?", SQL_T(key));

	if (r == 0)
		r = sql_step(&of, reterr);
	if (r <= 0)
		return r < 0 ? r : err_set(reterr, ERR_BUG, "%s is not in the archive", key);
	int64_t archive = sql_get_int(&of, 0);
	return n < PACK_FROM ? add_rows(a, archive, places, n, reterr)
			     : add_pack(a, archive, places, n, reterr);
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

/* The original, when it is the one that was meant. */
static bool take(struct sv raw, const struct recall_place *p, struct str *ret_raw)
{
	AUTO_STR text = STR_INIT;

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
	AUTO_CLOSE int fd = path ? unpack_open(path, NULL, NULL) : -1;
	AUTO_STR value = STR_INIT;

	return fd >= 0 && p->size <= RECALL_VALUE_MAX &&
		file_read_at(fd, p->offset, (size_t)p->size, &value, NULL) == 0 &&
		value.len == p->size && take(str_sv(&value), p, ret_raw);
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
	const struct recall_place *p = &found->place;
	AUTO_STR value = STR_INIT;

	if (archive_read(a, found->key, p->offset, p->size, &value, NULL) == 0 &&
		take(str_sv(&value), p, ret_raw))
		return true;
	return take_from_path(found->path, &found->place, ret_raw) ||
		take_from_catalogue(a, found, ret_raw);
}

/* What a reference leads to: one place after the other is tried until one has the original. */
struct search {
	const struct archive *archive;
	struct str *raw;
	struct recall_found row; /* tried last; its path is NULL when no place is known */
};

/* Columns from `of` on: key, session and path of what is kept. 1: found, 0: it is not there. */
static int try_place(struct search *s, const struct recall_place *place, struct sql *q, int of)
{
	recall_found_release(&s->row);
	s->row = (struct recall_found){
		.place = *place,
		.session = sql_dup_text(q, of + 1),
		.path = sql_dup_text(q, of + 2),
	};
	(void)snprintf(s->row.key, sizeof(s->row.key), "%s", sql_get_text(q, of));
	return take_anywhere(s->archive, &s->row, s->raw);
}

static int search_rows(struct search *s, uint64_t low, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = SQL_PREPARE(&q, s->archive->store, reterr,
		"SELECT high, offset, r.size, inner_offset, inner_size, kind, key, session, path"
		" FROM recall r JOIN archive a ON a.seq = r.archive WHERE low = ? ORDER BY a.seq",
		SQL_I(low));

	while (r >= 0 && (r = sql_step(&q, reterr)) > 0) {
		const struct recall_place place = {
			.hash = { low, (uint64_t)sql_get_int(&q, 0) },
			.offset = (uint64_t)sql_get_int(&q, 1),
			.size = (uint64_t)sql_get_int(&q, 2),
			.inner_offset = (uint64_t)sql_get_int(&q, 3),
			.inner_size = (uint64_t)sql_get_int(&q, 4),
			.kind = (enum recall_kind)sql_get_int(&q, 5),
		};
		if (try_place(s, &place, &q, 6))
			return 1;
	}
	return r;
}

/* The places of one pack whose index in it is that of a low that is looked for. */
static int search_pack(
	struct search *s, uint64_t low, int64_t id, struct sv lows, struct err *reterr)
{
	struct recall_place place = { .hash = { low, 0 } };
	AUTO_SQL q = SQL_INIT;
	int r = SQL_PREPARE(&q, s->archive->store, reterr,
		"SELECT places, key, session, path FROM recall_pack p"
		" JOIN archive a ON a.seq = p.archive WHERE p.rowid = ?",
		SQL_I(id));

	if (r == 0)
		r = sql_step(&q, reterr);
	struct sv rest = r > 0 ? sql_get_blob(&q, 0) : SV("");
	for (size_t i = 0; i < lows.n / LOW && unpack_next(&rest, &place); i++)
		if (word_at(lows, i) == low && try_place(s, &place, &q, 1))
			return 1;
	return r < 0 ? r : 0;
}

static int search_packs(struct search *s, uint64_t low, struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = sql_prepare(&q, s->archive->store,
		"SELECT rowid, lows FROM recall_pack ORDER BY rowid", reterr);

	while (r >= 0 && (r = sql_step(&q, reterr)) > 0) {
		struct sv lows = sql_get_blob(&q, 1);
		size_t i = 0;
		while (i < lows.n / LOW && word_at(lows, i) != low)
			i++;
		if (i < lows.n / LOW && (r = search_pack(s, low, sql_get_int(&q, 0), lows, reterr)))
			return r;
	}
	return r;
}

int recall_get(const struct archive *a, struct sv ref, struct str *ret_raw,
	struct recall_found *found, struct err *reterr)
{
	struct search s = { .archive = a, .raw = ret_raw, .row = RECALL_FOUND_INIT };
	uint64_t low;

	if (!recall_ref_parse(ref, &low))
		return err_set(reterr, ERR_USAGE,
			"a reference has 16 hexadecimal digits, as the placeholder says");
	int r = search_rows(&s, low, reterr);
	if (r == 0)
		r = search_packs(&s, low, reterr);
	if (r == 0)
		r = s.row.path
			? err_set(reterr, ERR_INPUT, "the original is gone: it stood in %s",
				  s.row.path)
			: err_set(reterr, ERR_NOTFOUND, "no such reference: %.*s", SV_ARG(ref));
	if (r > 0 && found) {
		*found = s.row;
		s.row = (struct recall_found)RECALL_FOUND_INIT;
	}
	recall_found_release(&s.row);
	return r < 0 ? r : 0;
}
