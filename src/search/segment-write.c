/*
 * A segment as a file: terms come in order and go out as they come; what must stand behind them
 * waits. Every page is hashed as it leaves.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/mem.h"
#include "os/path.h"
#include "search/segment-file.h"

enum { SPILL_AT = 1024 * 1024, WRITE_AT = 16 * SEGMENT_PAGE };

/* ---- what waits ---- */

static int spill_out(struct spill *s, struct err *reterr)
{
	if (s->fd < 0) {
		AUTO_FREE char *name = xasprintf("%s/.faden-XXXXXX", s->folder);
		s->fd = mkostemp(name, O_CLOEXEC);
		if (s->fd < 0)
			return err_errno(reterr, errno, "make %s", name);
		(void)unlink(name);
	}
	int r = file_write_all(s->fd, str_sv(&s->buf), reterr);
	if (r < 0) {
		err_prefix(reterr, "a temporary file in %s", s->folder);
		return r;
	}
	s->n += s->buf.len;
	str_clear(&s->buf);
	return 0;
}

static int spill_add(struct spill *s, struct sv bytes, struct err *reterr)
{
	str_add(&s->buf, bytes);
	return s->buf.len < SPILL_AT ? 0 : spill_out(s, reterr);
}

/* All of it into the segment. */
static int spill_pour(struct spill *s, struct segment_writer *w, struct err *reterr)
{
	AUTO_FREE char *buf = s->n ? xmalloc(SPILL_AT) : NULL;
	int r = 0;

	for (uint64_t at = 0; r >= 0 && at < s->n;) {
		ssize_t n = pread(s->fd, buf, SPILL_AT, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_errno(reterr, n < 0 ? errno : EIO, "read a temporary file in %s",
				s->folder);
		r = writer_bytes(w, buf, (size_t)n, reterr);
		at += (uint64_t)n;
	}
	return r < 0 ? r : writer_bytes(w, s->buf.buf, s->buf.len, reterr);
}

static void spill_release(struct spill *s)
{
	if (s->fd >= 0)
		(void)close(s->fd);
	s->fd = -1;
	str_release(&s->buf);
}

/* ---- bytes ---- */

int segment_writer_open(struct segment_writer *w, const char *path, struct err *reterr)
{
	struct sv folder = path_parent(sv_of(path));

	*w = (struct segment_writer){
		.file = FILE_NEW_INIT,
		.page = STR_INIT,
		.block = STR_INIT,
		.positions = { .fd = -1, .buf = STR_INIT },
		.terms = { .fd = -1, .buf = STR_INIT },
		.word_forms = WORD_FORMS_INIT,
	};
	w->folder = xmemdup0(folder.p, folder.n);
	w->positions.folder = w->terms.folder = w->folder;
	return file_new_open(&w->file, path, 0600, reterr);
}

void segment_writer_release(struct segment_writer *w)
{
	file_new_release(&w->file);
	spill_release(&w->positions);
	spill_release(&w->terms);
	str_release(&w->page);
	str_release(&w->block);
	vec_release(&w->checks);
	vec_release(&w->blocks);
	vec_release(&w->forms);
	word_forms_release(&w->word_forms);
	free(w->folder);
}

static int pages_out(struct segment_writer *w, struct err *reterr)
{
	for (struct sv rest = str_sv(&w->page); rest.n > 0;) {
		struct sv page = sv_head(rest, SEGMENT_PAGE);
		vec_push(&w->checks, XXH3_64bits(page.p, page.n));
		rest = sv_from(rest, page.n);
	}
	int r = file_new_write(&w->file, str_sv(&w->page), reterr);
	str_clear(&w->page);
	return r;
}

int writer_bytes(struct segment_writer *w, const void *p, size_t n, struct err *reterr)
{
	struct sv rest = sv_make(p, n);

	w->at += n;
	while (rest.n > 0) {
		struct sv piece = sv_head(rest, WRITE_AT - w->page.len);
		str_add(&w->page, piece);
		rest = sv_from(rest, piece.n);
		if (w->page.len == WRITE_AT) {
			int r = pages_out(w, reterr);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

/* The section that is being written ends here. */
static int end_section(struct segment_writer *w, struct err *reterr)
{
	static const char zeros[SECTION_ALIGN];

	for (int i = 0; i < SECTIONS; i++)
		if (w->foot.sections[i].n == UINT64_MAX)
			w->foot.sections[i].n = w->at - w->foot.sections[i].at;
	return writer_bytes(
		w, zeros, (SECTION_ALIGN - w->at % SECTION_ALIGN) % SECTION_ALIGN, reterr);
}

int writer_section(struct segment_writer *w, enum section section, struct err *reterr)
{
	int r = end_section(w, reterr);

	w->foot.sections[section].at = w->at;
	w->foot.sections[section].n = UINT64_MAX;
	return r;
}

/* ---- postings ---- */

static unsigned bits_of(const uint32_t *values)
{
	uint32_t all = 0;

	for (unsigned i = 0; i < POSTINGS_BLOCK; i++)
		all |= values[i];
	return all ? 32 - (unsigned)__builtin_clz(all) : 0;
}

static void pack(struct str *out, const uint32_t *values, unsigned bits)
{
	char bytes[POSTINGS_BLOCK * sizeof(uint32_t)];
	uint64_t word = 0;
	unsigned held = 0;
	size_t n = 0;

	for (unsigned i = 0; i < POSTINGS_BLOCK; i++) {
		word |= (uint64_t)values[i] << held;
		for (held += bits; held >= 8; held -= 8, word >>= 8)
			bytes[n++] = (char)word;
	}
	str_add(out, sv_make(bytes, n));
}

static void add_varint(struct str *out, uint64_t value)
{
	char bytes[VARINT_MAX];

	str_add(out, sv_make(bytes, varint_put(bytes, value)));
}

/* Writes the postings that are held: a full block, or the last ones of a term. */
static int block_out(struct segment_writer *w, struct err *reterr)
{
	AUTO_STR out = STR_INIT;
	uint32_t steps[POSTINGS_BLOCK], counts[POSTINGS_BLOCK];
	uint64_t next = w->next_doc;
	unsigned n = w->held;

	for (unsigned i = 0; i < n; i++) {
		steps[i] = (uint32_t)(w->docs[i] - next);
		counts[i] = w->counts[i] - 1;
		next = (uint64_t)w->docs[i] + 1;
	}
	if (n == POSTINGS_BLOCK) {
		unsigned doc_bits = bits_of(steps), count_bits = bits_of(counts);
		add_varint(&out, next - w->next_doc);
		str_addc(&out, (char)doc_bits);
		str_addc(&out, (char)count_bits);
		add_varint(&out, w->held_positions);
		pack(&out, steps, doc_bits);
		pack(&out, counts, count_bits);
	}
	for (unsigned i = 0; n < POSTINGS_BLOCK && i < n; i++) {
		add_varint(&out, (uint64_t)steps[i] * 2 + (counts[i] == 0));
		if (counts[i] > 0)
			add_varint(&out, w->counts[i]);
	}
	w->next_doc = next;
	w->held = 0;
	w->held_positions = 0;
	w->term.postings_n += out.len;
	return writer_bytes(w, out.buf, out.len, reterr);
}

void writer_term(struct segment_writer *w, struct sv text)
{
	memcpy(w->text, text.p, text.n);
	w->n = text.n;
	w->term.docs = 0;
	w->term.postings_n = w->term.positions_n = 0;
	w->next_doc = 0;
}

int writer_posting(struct segment_writer *w, uint32_t doc, uint32_t count, struct sv positions,
	struct err *reterr)
{
	w->docs[w->held] = doc;
	w->counts[w->held] = count;
	w->held++;
	w->held_positions += positions.n;
	w->term.docs++;
	w->term.positions_n += positions.n;
	int r = spill_add(&w->positions, positions, reterr);
	return r < 0 || w->held < POSTINGS_BLOCK ? r : block_out(w, reterr);
}

/* ---- terms ---- */

static int terms_block_out(struct segment_writer *w, struct err *reterr)
{
	int r = spill_add(&w->terms, str_sv(&w->block), reterr);

	str_clear(&w->block);
	return r;
}

static void begin_terms_block(struct segment_writer *w, struct sv text)
{
	vec_push(
		&w->blocks, (struct block_key){ term_prefix(text), w->terms.n + w->terms.buf.len });
	add_varint(&w->block, w->postings_at);
	add_varint(&w->block, w->positions_at);
	w->before_n = 0;
}

static void add_forms(struct segment_writer *w, struct sv text, uint32_t ordinal)
{
	for (enum word_form f = 0; f < FORMS; f++) {
		struct sv form = word_form(&w->word_forms, f, text);
		if (form.n > 0 && !sv_eq(form, text))
			vec_push(&w->forms, (uint64_t)form_hash(f, form) << 32 | ordinal);
	}
}

int writer_term_end(struct segment_writer *w, struct err *reterr)
{
	struct sv text = sv_make(w->text, w->n);
	size_t shared = 0;
	int r = 0;

	if (w->term.docs == 0)
		return 0;
	if (w->held > 0)
		r = block_out(w, reterr);
	if (w->foot.terms % TERMS_BLOCK == 0)
		begin_terms_block(w, text);
	while (shared < w->before_n && shared < text.n && w->before[shared] == text.p[shared])
		shared++;
	add_varint(&w->block, shared);
	add_varint(&w->block, text.n - shared);
	str_add(&w->block, sv_from(text, shared));
	add_varint(&w->block, w->term.docs);
	add_varint(&w->block, w->term.postings_n);
	add_varint(&w->block, w->term.positions_n);
	memcpy(w->before, w->text, w->n);
	w->before_n = w->n;
	w->postings_at += w->term.postings_n;
	w->positions_at += w->term.positions_n;
	add_forms(w, text, w->foot.terms++);
	return r < 0 || w->foot.terms % TERMS_BLOCK ? r : terms_block_out(w, reterr);
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

int writer_terms_end(struct segment_writer *w, struct err *reterr)
{
	int r = terms_block_out(w, reterr);

	if (r >= 0)
		r = writer_section(w, SECTION_POSITIONS, reterr);
	if (r >= 0)
		r = spill_pour(&w->positions, w, reterr);
	if (r >= 0)
		r = writer_section(w, SECTION_TERMS, reterr);
	if (r >= 0)
		r = spill_pour(&w->terms, w, reterr);
	if (r >= 0)
		r = writer_section(w, SECTION_BLOCKS, reterr);
	if (r >= 0)
		r = writer_bytes(w, w->blocks.v, w->blocks.n * sizeof(*w->blocks.v), reterr);
	vec_sort(&w->forms, by_value);
	w->foot.forms = (uint32_t)w->forms.n;
	if (r >= 0)
		r = writer_section(w, SECTION_FORMS, reterr);
	if (r >= 0)
		r = writer_bytes(w, w->forms.v, w->forms.n * sizeof(*w->forms.v), reterr);
	return r;
}

int segment_writer_commit(struct segment_writer *w, struct err *reterr)
{
	int r = end_section(w, reterr);

	if (r >= 0 && w->page.len > 0)
		r = pages_out(w, reterr);
	struct sv checks = sv_make((const char *)w->checks.v, w->checks.n * sizeof(*w->checks.v));
	VEC(uint64_t) guards = VEC_INIT;
	for (struct sv rest = checks; rest.n > 0;) {
		struct sv page = sv_head(rest, SEGMENT_PAGE);
		vec_push(&guards, XXH3_64bits(page.p, page.n));
		rest = sv_from(rest, page.n);
	}
	struct sv guarding = sv_make((const char *)guards.v, guards.n * sizeof(*guards.v));
	w->foot.guards_hash = XXH3_64bits(guarding.p, guarding.n);
	w->foot.hash = XXH3_64bits(&w->foot, offsetof(struct segment_foot, hash));
	w->foot.magic = SEGMENT_MAGIC;
	if (r >= 0)
		r = file_new_write(&w->file, checks, reterr);
	if (r >= 0)
		r = file_new_write(&w->file, guarding, reterr);
	vec_release(&guards);
	if (r >= 0)
		r = file_new_write(
			&w->file, sv_make((const char *)&w->foot, sizeof(w->foot)), reterr);
	/* Long before the manifest's log is written out, which is not waited for either: only a
	 * loss of power in these seconds may cost the index. */
	if (r >= 0 && w->file.lazy)
		(void)sync_file_range(w->file.fd, 0, 0, SYNC_FILE_RANGE_WRITE);
	return r < 0 ? r : file_new_commit_excl(&w->file, reterr);
}
