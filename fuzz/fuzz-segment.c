/*
 * Segments whose check sums are right and whose bytes are anything: opened, searched, walked,
 * merged. Nothing is read beyond the file, and nothing takes more memory than it.
 */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xxhash.h>

#include "base/mem.h"
#include "fuzz.h"
#include "search/segment-file.h"

/* Whether it went well is another question than whether it did harm. */
static void tried(int r)
{
	(void)r;
}

/* As if these bytes had been written on purpose. */
static void make_right(uint8_t *data, size_t size)
{
	struct segment_foot foot;

	if (size < sizeof(foot))
		return;
	size_t room = size - sizeof(foot);
	size_t pages = 0, guards = 0;
	while (pages * SEGMENT_PAGE + (pages + guards) * 8 < room) {
		pages++;
		guards = (pages * 8 + SEGMENT_PAGE - 1) / SEGMENT_PAGE;
	}
	if (room < (pages + guards) * 8)
		return;
	size_t body = room - (pages + guards) * 8;
	for (size_t i = 0; i < pages; i++) {
		size_t at = i * SEGMENT_PAGE,
		       n = body - at < SEGMENT_PAGE ? body - at : SEGMENT_PAGE;
		uint64_t hash = XXH3_64bits(data + at, n);
		memcpy(data + body + i * 8, &hash, 8);
	}
	memcpy(&foot, data + room, sizeof(foot));
	for (size_t i = 0; i < guards; i++) {
		size_t at = body + i * SEGMENT_PAGE, end = body + pages * 8;
		uint64_t hash =
			XXH3_64bits(data + at, end - at < SEGMENT_PAGE ? end - at : SEGMENT_PAGE);
		memcpy(data + end + i * 8, &hash, 8);
	}
	foot.guards_hash = XXH3_64bits(data + body + pages * 8, guards * 8);
	foot.hash = XXH3_64bits(&foot, offsetof(struct segment_foot, hash));
	foot.magic = SEGMENT_MAGIC;
	memcpy(data + room, &foot, sizeof(foot));
}

static int on_term(void *data, struct sv text, const struct segment_term *term)
{
	const struct segment *seg = data;
	struct postings p;
	const uint32_t *positions;
	struct segment_doc doc;

	REQUIRE(text.n > 0 && text.n <= TERM_MAX && term->docs > 0);
	postings_begin(&p, seg, term);
	while (postings_next(&p, NULL) > 0)
		for (unsigned i = 0; i < p.n; i++) {
			REQUIRE(p.doc[i] < segment_docs(seg) &&
				(i == 0 || p.doc[i] > p.doc[i - 1]));
			tried(postings_positions(&p, i, &positions, NULL));
			tried(segment_doc(seg, p.doc[i], &doc, NULL));
			REQUIRE(segment_run_of(seg, p.doc[i]) < segment_runs(seg));
		}
	postings_release(&p);
	postings_begin(&p, seg, term);
	while (postings_skip(&p, segment_docs(seg) / 2, NULL) > 0)
		;
	postings_release(&p);
	return 0;
}

static void use(struct segment *seg)
{
	CLEANUP(word_forms_release) struct word_forms forms = WORD_FORMS_INIT;
	struct segment_term term;
	struct doc_columns columns;

	tried(segment_prefix(seg, SV(""), on_term, seg, NULL));
	tried(segment_prefix(seg, SV("r"), on_term, seg, NULL));
	if (segment_find(seg, SV("retry"), &term, NULL) > 0)
		(void)on_term(seg, SV("retry"), &term);
	tried(segment_forms(seg, &forms, FORM_ENGLISH, SV("run"), on_term, seg, NULL));
	for (uint32_t i = 0; i < segment_runs(seg); i++)
		tried(segment_columns(seg, segment_run_at(seg, i), true, true, &columns, NULL));
	AUTO_FREE char *out = xasprintf("/tmp/faden-fuzz-%d", (int)getpid());
	struct segment *both[] = { seg, seg }, *merged = NULL;
	uint32_t docs = 0;
	if (segment_verify(seg, NULL) == 0 && segment_docs(seg) < 1000 &&
		segment_merge(both, 2, out, &docs, NULL) == 0 && docs > 0) {
		REQUIRE(docs == 2 * segment_docs(seg));
		REQUIRE(segment_open(out, &merged, NULL) == 0);
		REQUIRE(segment_verify(merged, NULL) == 0);
	}
	segment_close(merged);
	(void)unlink(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_FREE uint8_t *copy = xmalloc(size + 1);
	struct segment *seg = NULL;

	memcpy(copy, data, size);
	make_right(copy, size);
	AUTO_CLOSE int fd = memfd_create("fuzz", MFD_CLOEXEC);
	REQUIRE(fd >= 0 && write(fd, copy, size) == (ssize_t)size);
	AUTO_FREE char *path = xasprintf("/proc/self/fd/%d", fd);
	if (segment_open(path, &seg, NULL) == 0)
		use(seg);
	segment_close(seg);
	return 0;
}
