#include "search/cursor.h"

#include <assert.h>
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

/* In tenths, which all weights are: half the bytes of a float, so that more of them stay where the
 * processor has them. */
int list_spellings(const struct lane *l, struct found *f, struct err *reterr)
{
	uint32_t blocks = l->docs / BLOCK + 1;
	AUTO_FREE uint16_t *tenths = xmalloc((size_t)blocks * BLOCK * sizeof(*tenths));
	AUTO_FREE uint8_t *touched = xcalloc(blocks, 1);
	uint64_t most = 0;
	int r = 0;

	vec_each (&f->spellings, spelling) {
		uint32_t weight = (uint32_t)(spelling->weight * 10 + 0.5F);
		struct postings p;
		most += spelling->term.docs;
		postings_begin(&p, l->seg, &spelling->term);
		while ((r = postings_next(&p, reterr)) > 0)
			for (unsigned i = 0; i < p.n; i++) {
				uint32_t doc = p.doc[i], block = doc / BLOCK;
				if (!touched[block]) {
					touched[block] = 1;
					memset(tenths + (size_t)block * BLOCK, 0,
						BLOCK * sizeof(*tenths));
				}
				uint32_t sum = p.count[i] < UINT16_MAX / 10
					? tenths[doc] + p.count[i] * weight
					: UINT16_MAX;
				tenths[doc] = (uint16_t)(sum < UINT16_MAX ? sum : UINT16_MAX);
			}
		postings_release(&p);
		if (r < 0)
			return r;
	}
	/* There is room for all at once: it is not moved while it grows. */
	most = most < l->docs ? most : l->docs;
	assert(f->matches.n == 0);
	f->matches.v = xreallocarray(f->matches.v, most + 1, sizeof(*f->matches.v));
	f->matches.cap = most + 1;
	for (uint32_t block = 0; block < blocks; block++)
		for (uint32_t doc = block * BLOCK; touched[block] && doc < (block + 1) * BLOCK;
			doc++) {
			/* Written in any case, and kept when it is one: no branch to guess. */
			f->matches.v[f->matches.n] =
				(struct doc_match){ doc, (float)tenths[doc] / 10 };
			f->matches.n += tenths[doc] > 0;
		}
	f->listed = true;
	return 0;
}
