/* Segments beside a plain model of what was put into them: written, read, merged, damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#include "base/vec.h"
#include "os/test-temp.h"
#include "search/segment-file.h"

/* ---- a model: the words of document d depend on d alone ---- */

enum { VOCABULARY = 600, DOCS = 900, DOC_WORDS = 40, RUN_DOCS = 10, BUDGET = 1 << 20 };

struct model_doc {
	uint32_t v[DOC_WORDS]; /* numbers of words */
	unsigned n;
};

static uint32_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*state >> 33);
}

/* Some words are in nearly every document, most in few. */
static struct model_doc model_doc(uint32_t d)
{
	struct model_doc m = { .n = 0 };
	uint64_t state = d + 1;
	unsigned n = next_random(&state) % DOC_WORDS;

	for (; m.n < n; m.n++) {
		uint32_t range = 1u << next_random(&state) % 11;
		m.v[m.n] = next_random(&state) % (range < VOCABULARY ? range : VOCABULARY);
	}
	return m;
}

static void word_text(struct str *out, uint32_t number)
{
	str_clear(out);
	str_addf(out, "w%uend", number * 7919 % 100003);
}

static void add_doc(struct builder *b, uint32_t d)
{
	struct model_doc m = model_doc(d);
	AUTO_STR text = STR_INIT;
	AUTO_STR word = STR_INIT;

	for (unsigned i = 0; i < m.n; i++) {
		word_text(&word, m.v[i]);
		str_addf(&text, "%s ", word.buf);
	}
	builder_doc(b,
		&(struct segment_doc){
			.offset = (uint64_t)d << 30 | 5,
			.part = d % 300,
			.kind = (enum doc_kind)(d % DOC_KINDS),
			.time_s = 1000 + d,
		});
	assert_int_equal(builder_text(b, str_sv(&text), 0), m.n);
}

/* Over what is there, without waiting for the disk. */
static void put_file(const char *path, struct sv bytes)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes.p, 1, bytes.n, file), bytes.n);
	assert_int_equal(fclose(file), 0);
}

static struct segment *open_segment(const char *path)
{
	struct segment *seg = NULL;
	struct err err = ERR_INIT;

	if (segment_open(path, &seg, &err) < 0 || segment_verify(seg, &err) < 0)
		fail_msg("%s", err.msg);
	return seg;
}

/* Documents from … to - 1, a source for each RUN_DOCS of them. */
static struct segment *make_segment(const char *path, uint32_t from, uint32_t to)
{
	struct builder *b = builder_new(BUDGET);

	for (uint32_t d = from; d < to; d++) {
		if (d % RUN_DOCS == 0)
			builder_run(b, d / RUN_DOCS, 1, 0);
		add_doc(b, d);
	}
	assert_int_equal(builder_write(b, path, false, NULL), 0);
	builder_free(b);
	return open_segment(path);
}

/* ---- comparing ---- */

/* Which document of the model each of the segment is. */
struct expected {
	uint32_t docs[DOCS];
	uint32_t n;
};

static void check_postings(const struct segment *seg, const struct expected *e, uint32_t number)
{
	AUTO_STR text = STR_INIT;
	struct segment_term term = { .docs = 0 };
	struct postings p;
	const uint32_t *positions = NULL;
	unsigned at = 0, docs = 0;

	word_text(&text, number);
	int found = segment_find(seg, str_sv(&text), &term, NULL);
	assert_true(found >= 0);
	if (found)
		postings_begin(&p, seg, &term);
	else
		p.n = 0;
	for (uint32_t d = 0; d < e->n; d++) {
		struct model_doc m = model_doc(e->docs[d]);
		unsigned count = 0;
		for (unsigned i = 0; i < m.n; i++)
			count += m.v[i] == number;
		if (count == 0)
			continue;
		assert_true(found);
		if (at == p.n) {
			assert_true(postings_next(&p, NULL) > 0);
			at = 0;
		}
		assert_int_equal(p.doc[at], d);
		assert_int_equal(p.count[at], count);
		assert_int_equal(postings_positions(&p, at, &positions, NULL), 0);
		for (unsigned i = 0, k = 0; i < m.n; i++)
			if (m.v[i] == number)
				assert_int_equal(positions[k++], i);
		at++;
		docs++;
	}
	assert_int_equal(docs, found ? term.docs : 0);
	if (found) {
		assert_int_equal(postings_next(&p, NULL), 0);
		postings_release(&p);
	}
}

static void check_segment(const struct segment *seg, const struct expected *e)
{
	assert_int_equal(segment_docs(seg), e->n);
	for (uint32_t d = 0; d < e->n; d++) {
		uint32_t m = e->docs[d];
		struct segment_doc doc;
		const struct segment_run *run = segment_run_at(seg, segment_run_of(seg, d));
		uint32_t at = d - run->first_doc;
		struct doc_columns columns;
		assert_int_equal(segment_columns(seg, run, true, true, &columns, NULL), 0);
		assert_int_equal(segment_doc(seg, d, &doc, NULL), 0);
		assert_true(doc.offset == ((uint64_t)m << 30 | 5));
		assert_int_equal(doc.part, m % 300 > 255 ? 255 : m % 300);
		assert_int_equal(doc.kind, m % DOC_KINDS);
		assert_int_equal(columns.kind[at], m % DOC_KINDS);
		assert_int_equal(columns.time_s[at], 1000 + m);
		assert_int_equal(doc_length(columns.length[at]), doc.length);
		assert_int_equal((columns.length[at] & DOC_ASIDE) != 0, doc.kind == DOC_THINKING);
		assert_int_equal(run->source, m / RUN_DOCS);
		assert_true(run->first_s <= doc.time_s && run->last_s >= doc.time_s);
	}
	for (uint32_t w = 0; w < VOCABULARY; w++)
		check_postings(seg, e, w);
}

/* ---- tests ---- */

static void test_written(void **state)
{
	(void)state;
	char *folder = temp_folder();
	AUTO_FREE char *path = path_join(folder, "a");
	struct segment *seg = make_segment(path, 0, DOCS);
	struct expected e = { .n = DOCS };
	struct segment_term term;

	for (uint32_t d = 0; d < DOCS; d++)
		e.docs[d] = d;
	check_segment(seg, &e);
	assert_int_equal(segment_runs(seg), DOCS / RUN_DOCS);
	uint64_t words = 0;
	for (uint32_t d = 0; d < DOCS; d++)
		words += model_doc(d).n;
	assert_true(segment_words(seg) == words && segment_terms(seg) <= VOCABULARY);
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	assert_true(segment_size(seg) == (uint64_t)st.st_size);
	assert_int_equal(segment_find(seg, SV("nowhere"), &term, NULL), 0);
	assert_int_equal(segment_find(seg, SV(""), &term, NULL), 0);
	assert_int_equal(segment_find(seg, SV("\xff\xff"), &term, NULL), 0);
	segment_close(seg);
	temp_remove(folder);
}

static void test_skip(void **state)
{
	(void)state;
	char *folder = temp_folder();
	AUTO_FREE char *path = path_join(folder, "a");
	struct segment *seg = make_segment(path, 0, DOCS);
	AUTO_STR text = STR_INIT;
	struct segment_term term;
	struct postings p;
	const uint32_t *positions;

	word_text(&text, 0);
	assert_int_equal(segment_find(seg, str_sv(&text), &term, NULL), 1);
	assert_true(term.docs > 3 * POSTINGS_BLOCK);
	for (uint32_t d = 0; d < DOCS; d += 37) {
		postings_begin(&p, seg, &term);
		int n = postings_skip(&p, d, NULL);
		assert_true(n >= 0);
		if (n > 0) {
			struct model_doc m = model_doc(p.doc[n - 1]);
			assert_true(p.doc[n - 1] >= d || n < POSTINGS_BLOCK);
			assert_int_equal(
				postings_positions(&p, (unsigned)n - 1, &positions, NULL), 0);
			for (uint32_t k = 0; k < p.count[n - 1]; k++)
				assert_true(positions[k] < m.n && m.v[positions[k]] == 0);
		}
		postings_release(&p);
	}
	segment_close(seg);
	temp_remove(folder);
}

static int gather(void *data, struct sv text, const struct segment_term *term)
{
	struct str *out = data;

	(void)term;
	str_addf(out, "%.*s ", SV_ARG(text));
	return 0;
}

static int stop(void *data, struct sv text, const struct segment_term *term)
{
	(void)gather(data, text, term);
	return 7;
}

static size_t forms_seen(const struct segment *seg)
{
	uint64_t at = seg->foot->sections[SECTION_FORMS].at,
		 end = at + seg->foot->sections[SECTION_FORMS].n;
	size_t n = 0;

	for (uint64_t page = at / SEGMENT_PAGE; page <= (end - 1) / SEGMENT_PAGE; page++)
		n += seg->seen[page];
	return n;
}

/* The i-th of many words, each with an English stem of its own. Appends. */
static void add_plural(struct str *out, int i)
{
	static const char consonants[] = "bcdfghjklm";

	for (; i > 0; i /= 10)
		str_addc(out, consonants[i % 10]);
	str_adds(out, "ings");
}

/* Of many each is found, and by few pages: to look at one costs as much as to go through it. */
static void test_many_forms(void **state)
{
	(void)state;
	enum { WORDS = 30000, STEP = 97 };
	char *folder = temp_folder();
	AUTO_FREE char *path = path_join(folder, "a");
	struct builder *b = builder_new(BUDGET);
	CLEANUP(word_forms_release) struct word_forms forms = WORD_FORMS_INIT;
	AUTO_STR text = STR_INIT;
	size_t pages = 0, looks = 0;

	for (int i = 1; i <= WORDS; i++) {
		add_plural(&text, i);
		str_addc(&text, ' ');
	}
	builder_run(b, 1, 1, 0);
	builder_doc(b, &(struct segment_doc){ .kind = DOC_USER });
	(void)builder_text(b, str_sv(&text), 0);
	assert_int_equal(builder_write(b, path, false, NULL), 0);
	builder_free(b);
	for (int i = 1; i <= WORDS; i += STEP, looks++) {
		struct segment *seg = open_segment(path);
		AUTO_STR got = STR_INIT;
		str_clear(&text);
		add_plural(&text, i);
		struct sv stem = word_form(&forms, FORM_ENGLISH, str_sv(&text));
		AUTO_FREE char *key = xmemdup0(stem.p, stem.n);
		size_t before = forms_seen(seg);
		assert_int_equal(
			segment_forms(seg, &forms, FORM_ENGLISH, sv_of(key), gather, &got, NULL),
			0);
		str_addc(&text, ' ');
		assert_string_equal(got.buf, text.buf);
		pages += forms_seen(seg) - before;
		segment_close(seg);
	}
	assert_true(pages <= 2 * looks);
	temp_remove(folder);
}

static void test_prefix_and_forms(void **state)
{
	(void)state;
	char *folder = temp_folder();
	AUTO_FREE char *path = path_join(folder, "a");
	struct builder *b = builder_new(BUDGET);
	CLEANUP(word_forms_release) struct word_forms forms = WORD_FORMS_INIT;
	AUTO_STR got = STR_INIT;

	builder_run(b, 1, 1, 0);
	builder_doc(b, &(struct segment_doc){ .kind = DOC_USER });
	(void)builder_text(b, SV("run runs running runner retry retries Häuser Haus café cafe"), 0);
	builder_add(b, SV("\1bash"), 0);
	assert_int_equal(builder_write(b, path, false, NULL), 0);
	builder_free(b);
	struct segment *seg = open_segment(path);

	assert_int_equal(segment_prefix(seg, SV("run"), gather, &got, NULL), 0);
	assert_string_equal(got.buf, "run runner running runs ");
	str_clear(&got);
	assert_int_equal(segment_prefix(seg, SV("runs"), gather, &got, NULL), 0);
	assert_int_equal(segment_prefix(seg, SV("x"), gather, &got, NULL), 0);
	assert_int_equal(segment_prefix(seg, SV("\1"), gather, &got, NULL), 0);
	assert_string_equal(got.buf, "runs \1bash ");
	str_clear(&got);
	assert_int_equal(segment_prefix(seg, SV(""), stop, &got, NULL), 7);
	assert_string_equal(got.buf, "\1bash ");
	str_clear(&got);
	assert_int_equal(
		segment_forms(seg, &forms, FORM_ENGLISH, SV("run"), gather, &got, NULL), 0);
	assert_string_equal(got.buf, "running runs ");
	str_clear(&got);
	assert_int_equal(
		segment_forms(seg, &forms, FORM_ENGLISH, SV("retri"), gather, &got, NULL), 0);
	assert_string_equal(got.buf, "retries retry ");
	str_clear(&got);
	assert_int_equal(
		segment_forms(seg, &forms, FORM_GERMAN, SV("haus"), gather, &got, NULL), 0);
	assert_int_equal(
		segment_forms(seg, &forms, FORM_UNMARKED, SV("cafe"), gather, &got, NULL), 0);
	assert_int_equal(
		segment_forms(seg, &forms, FORM_GERMAN, SV("nowhere"), gather, &got, NULL), 0);
	assert_string_equal(got.buf, "häuser café ");
	segment_close(seg);
	temp_remove(folder);
}

static void test_merged(void **state)
{
	(void)state;
	char *folder = temp_folder();
	AUTO_FREE char *out = path_join(folder, "merged");
	const uint32_t from[] = { 0, 300, 310, DOCS };
	struct segment *segs[3];
	struct expected e = { .n = 0 };
	uint32_t docs = 0;

	for (int i = 0; i < 3; i++) {
		AUTO_FREE char *path = xasprintf("%s/%d", folder, i);
		segs[i] = make_segment(path, from[i], from[i + 1]);
	}
	/* Of the first every third run counts no more, of the second all. */
	char bits[DOCS / RUN_DOCS / 8 + 1] = { 0 };
	for (unsigned run = 0; run < 30; run += 3)
		bits[run / 8] = (char)(bits[run / 8] | 1 << run % 8);
	segment_set_dead(segs[0], sv_make(bits, sizeof(bits)));
	segment_set_dead(segs[1], SV("\xff"));
	for (uint32_t d = 0; d < DOCS; d++)
		if (!(d < 300 && d / RUN_DOCS % 3 == 0) && !(d >= 300 && d < 310))
			e.docs[e.n++] = d;
	assert_int_equal(segment_merge(segs, 3, out, &docs, NULL), 0);
	assert_int_equal(docs, e.n);
	struct segment *merged = open_segment(out);
	check_segment(merged, &e);
	segment_close(merged);

	/* All dead: nothing is written. */
	AUTO_FREE char *none = path_join(folder, "none");
	assert_int_equal(segment_merge(&segs[1], 1, none, &docs, NULL), 0);
	assert_int_equal(docs, 0);
	assert_false(path_exists(none));
	for (int i = 0; i < 3; i++)
		segment_close(segs[i]);
	temp_remove(folder);
}

/* Any byte that is not what was written is noticed, and so is any end that is not the end. */
static void test_damaged(void **state)
{
	(void)state;
	char *folder = temp_folder();
	AUTO_FREE char *path = path_join(folder, "a");
	AUTO_FREE char *bad = path_join(folder, "bad");
	AUTO_STR bytes = STR_INIT;
	struct err err = ERR_INIT;

	segment_close(make_segment(path, 0, 60));
	assert_int_equal(file_read(path, 1 << 20, &bytes, NULL), 0);
	for (size_t at = 0; at < bytes.len; at += at < bytes.len - 400 ? 11 : 1) {
		struct segment *seg = NULL;
		bytes.buf[at] ^= 0x10;
		put_file(bad, str_sv(&bytes));
		int r = segment_open(bad, &seg, &err);
		if (r == 0)
			r = segment_verify(seg, &err);
		assert_int_equal(r, SEGMENT_DAMAGED);
		segment_close(seg);
		bytes.buf[at] ^= 0x10;
	}
	for (size_t n = 0; n < bytes.len; n += 97) {
		struct segment *seg = NULL;
		put_file(bad, sv_head(str_sv(&bytes), n));
		assert_int_equal(segment_open(bad, &seg, &err), SEGMENT_DAMAGED);
	}
	temp_remove(folder);
}

/* A page that is not touched costs nothing and says nothing. */
static void test_touched_only(void **state)
{
	(void)state;
	char *folder = temp_folder();
	AUTO_FREE char *path = path_join(folder, "a");
	AUTO_STR bytes = STR_INIT;
	struct builder *b = builder_new((size_t)64 << 20);
	struct segment *seg = NULL;
	struct segment_term term;
	struct segment_doc doc;
	struct err err = ERR_INIT;

	builder_run(b, 1, 1, 0);
	for (uint32_t d = 0; d < 40000; d++) {
		builder_doc(b, &(struct segment_doc){ .offset = d });
		builder_add(b, d % 2 ? SV("odd") : SV("even"), d);
	}
	assert_int_equal(builder_write(b, path, false, NULL), 0);
	builder_free(b);
	assert_int_equal(file_read(path, 1 << 24, &bytes, NULL), 0);
	bytes.buf[100] ^= 1; /* in the postings */
	put_file(path, str_sv(&bytes));
	assert_int_equal(segment_open(path, &seg, &err), 0);
	assert_int_equal(segment_doc(seg, 39999, &doc, &err), 0);
	assert_int_equal(segment_find(seg, SV("odd"), &term, &err), 1);
	assert_int_equal(term.docs, 20000);
	struct postings p;
	postings_begin(&p, seg, &term);
	assert_int_equal(postings_next(&p, &err), SEGMENT_DAMAGED);
	postings_release(&p);
	segment_close(seg);
	temp_remove(folder);
}

/* It says when it has reached its limit, and is as new after writing. */
static void test_builder_full(void **state)
{
	(void)state;
	char *folder = temp_folder();
	AUTO_FREE char *path = path_join(folder, "a");
	struct builder *b = builder_new(BUDGET);

	builder_run(b, 3, 1, 0);
	for (uint32_t d = 0; !builder_full(b); d++)
		add_doc(b, d);
	uint32_t docs = builder_docs(b);
	assert_true(docs > 100);
	assert_int_equal(builder_write(b, path, false, NULL), 0);
	assert_int_equal(builder_docs(b), 0);
	add_doc(b, 1);
	assert_int_equal(builder_write(b, path, false, NULL), -EEXIST); /* none is ever replaced */
	AUTO_FREE char *second = path_join(folder, "b");
	add_doc(b, 1);
	assert_int_equal(builder_write(b, second, false, NULL), 0);
	struct segment *seg = open_segment(second);
	assert_int_equal(segment_docs(seg), 1);
	assert_int_equal(segment_run_at(seg, 0)->source, 3); /* the run goes on */
	segment_close(seg);
	builder_free(b);
	temp_remove(folder);
}

static void test_lengths(void **state)
{
	(void)state;
	uint32_t before = 0;

	for (uint32_t n = 0; n < DOC_LENGTH_MAX; n += n / 50 + 1) {
		uint32_t kept = doc_length(doc_length_byte(n));
		assert_true(kept <= n && kept >= before && n - kept <= n / 8);
		before = kept;
	}
	assert_int_equal(doc_length(doc_length_byte(DOC_LENGTH_MAX)), DOC_LENGTH_MAX);
	assert_int_equal(doc_length(doc_length_byte(UINT32_MAX)), DOC_LENGTH_MAX);
	assert_int_equal(doc_length_byte(UINT32_MAX) & DOC_ASIDE, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_written),
		cmocka_unit_test(test_skip),
		cmocka_unit_test(test_prefix_and_forms),
		cmocka_unit_test(test_many_forms),
		cmocka_unit_test(test_merged),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_touched_only),
		cmocka_unit_test(test_builder_full),
		cmocka_unit_test(test_lengths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
