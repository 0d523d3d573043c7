/*
 * Everything that can be found in an index, a line a document in the order of its files: two
 * indexes of the same sessions have the same lines, however they came to be.
 *
 *	index-dump FOLDER
 *
 * A line has the source's path, the document's place, part, kind, time and length, and a sum over
 * its terms with their positions. Ends with 3 when the index is damaged, 1 when there is none.
 */
#include <inttypes.h>
#include <stdio.h>
#include <xxhash.h>

#include "base/mem.h"
#include "search/index.h"

struct dump {
	const struct segment *seg;
	uint64_t *sums; /* a document */
};

static int add_term(void *data, struct sv text, const struct segment_term *term)
{
	const struct dump *d = data;
	const uint32_t *positions;
	struct postings p;
	int r;

	postings_begin(&p, d->seg, term);
	while ((r = postings_next(&p, NULL)) > 0)
		for (unsigned i = 0; i < p.n; i++) {
			r = postings_positions(&p, i, &positions, NULL);
			if (r < 0)
				return r;
			uint64_t seed = XXH3_64bits(positions, p.count[i] * sizeof(*positions));
			d->sums[p.doc[i]] += XXH3_64bits_withSeed(text.p, text.n, seed);
		}
	postings_release(&p);
	return r;
}

static int dump_segment(struct index_view *view, const struct segment *seg, struct err *reterr)
{
	AUTO_FREE uint64_t *sums = xcalloc((size_t)segment_docs(seg) + 1, sizeof(*sums));
	int r = segment_prefix(seg, SV(""), add_term, &(struct dump){ seg, sums }, reterr);

	for (uint32_t i = 0; r >= 0 && i < segment_runs(seg); i++) {
		const struct segment_run *run = segment_run_at(seg, i);
		AUTO_INDEX_SOURCE source = { .id = 0 };
		if (segment_dead(seg, i))
			continue;
		r = index_source(view, run->source, &source, reterr);
		for (uint32_t k = 0; r >= 0 && k < run->n_docs; k++) {
			struct segment_doc doc;
			r = segment_doc(seg, run->first_doc + k, &doc, reterr);
			if (r >= 0)
				printf("%s %" PRIu64 " %u %d %u %u %d %016" PRIx64 "\n",
					source.path, doc.offset, doc.part, (int)doc.kind,
					doc.time_s, doc.length, (int)source.gone,
					sums[run->first_doc + k]);
		}
	}
	return r;
}

int main(int argc, char **argv)
{
	struct index_view *view = NULL;
	struct err err = ERR_INIT;

	if (argc != 2) {
		fputs("usage: index-dump FOLDER\n", stderr);
		return 2;
	}
	int r = index_view_open(argv[1], &view, &err);
	for (size_t i = 0; r >= 0 && i < index_view_segments(view); i++)
		r = dump_segment(view, index_view_segment(view, i), &err);
	index_view_close(view);
	if (r < 0)
		fprintf(stderr, "index-dump: %s\n", err.msg);
	return r < 0 ? err_exit_status(r) : 0;
}
