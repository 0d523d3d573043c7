#include "search/cursor.h"

#include <stdlib.h>
#include <string.h>

#include "base/attr.h"
#include "base/mem.h"

enum { BLOCK = 256 }; /* documents whose counts are cleared at once */

int cursor_go(struct cursor *c, uint32_t doc, struct err *reterr)
{
	if (c->match) {
		size_t left = (size_t)(c->matches_end - c->match), step = 1;
		while (step < left && c->match[step].doc < doc) {
			c->match += step;
			left -= step;
			step *= 2;
		}
		while (c->match < c->matches_end && c->match->doc < doc)
			c->match++;
		c->doc = c->match < c->matches_end ? c->match->doc : NO_DOC;
		return 0;
	}
	for (;;) {
		while (c->at < c->p.n && c->p.doc[c->at] < doc)
			c->at++;
		if (c->at < c->p.n) {
			c->doc = c->p.doc[c->at];
			return 0;
		}
		int r = postings_skip(&c->p, doc, reterr);
		if (r < 0)
			return r;
		c->at = 0;
		if (r == 0) {
			c->doc = NO_DOC;
			return 0;
		}
	}
}

int cursor_step(struct cursor *c, struct err *reterr)
{
	int r = 1;

	if (c->match) {
		c->match++;
		c->doc = c->match < c->matches_end ? c->match->doc : NO_DOC;
		return 0;
	}
	if (++c->at == c->p.n) {
		r = postings_next(&c->p, reterr);
		c->at = 0;
	}
	c->doc = r > 0 ? c->p.doc[c->at] : NO_DOC;
	return r < 0 ? r : 0;
}

uint32_t cursors_first(const struct cursor *cs, size_t n)
{
	uint32_t doc = NO_DOC;

	for (size_t i = 0; i < n; i++)
		doc = cs[i].doc < doc ? cs[i].doc : doc;
	return doc;
}

int list_spellings(const struct lane *l, struct found *f, struct err *reterr)
{
	uint32_t blocks = l->docs / BLOCK + 1;
	AUTO_FREE float *counts = xmalloc((size_t)blocks * BLOCK * sizeof(*counts));
	AUTO_FREE uint8_t *touched = xcalloc(blocks, 1);
	int r = 0;

	vec_each (&f->spellings, spelling) {
		struct postings p;
		postings_begin(&p, l->seg, &spelling->term);
		while ((r = postings_next(&p, reterr)) > 0)
			for (unsigned i = 0; i < p.n; i++) {
				uint32_t doc = p.doc[i], block = doc / BLOCK;
				if (!touched[block]) {
					touched[block] = 1;
					memset(counts + (size_t)block * BLOCK, 0,
						BLOCK * sizeof(*counts));
				}
				counts[doc] += (float)p.count[i] * spelling->weight;
			}
		postings_release(&p);
		if (r < 0)
			return r;
	}
	for (uint32_t block = 0; block < blocks; block++)
		for (uint32_t doc = block * BLOCK; touched[block] && doc < (block + 1) * BLOCK;
			doc++)
			if (counts[doc] > 0)
				vec_push(&f->matches, (struct doc_match){ doc, counts[doc] });
	f->listed = true;
	return 0;
}
