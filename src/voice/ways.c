#include "voice/ways.h"

#include <math.h>
#include <string.h>

#include "voice/decoder.h"

#define GAP 1.0 /* logarithms: what is that much less likely is not followed */
#define LOOPED (-1.0)

void ways_begin(struct ways *w, size_t most, size_t echo)
{
	memset(w, 0, sizeof(*w));
	w->n = 1;
	w->most = most;
	w->echo = echo;
	w->ended = w->sure = -INFINITY;
}

void ways_offer(
	struct ways *w, size_t i, const float *likely, size_t n, const bool *never, size_t n_never)
{
	float top = likely[0];
	double sum = 1e-300; /* of none the logarithm is still a number */

	for (size_t p = 1; p < n; p++)
		top = fmaxf(top, likely[p]);
	for (size_t p = 0; p < n; p++)
		sum += (double)expf(likely[p] - top);
	const double before = w->of[i].sum - (double)top - log(sum);
	for (size_t p = 0; p < n && p < n_never; p++) {
		struct way_step s = { i, (int64_t)p, before + (double)likely[p] };
		size_t at = w->n_steps;
		if (never[p])
			continue;
		while (at > 0 && w->steps[at - 1].sum < s.sum)
			at--;
		if (at == w->most)
			continue;
		w->n_steps += w->n_steps < w->most;
		memmove(w->steps + at + 1, w->steps + at,
			(w->n_steps - at - 1) * sizeof(*w->steps));
		w->steps[at] = s;
	}
}

void ways_step(struct ways *w, int64_t end, size_t max)
{
	struct way before[WAYS_MAX];

	memcpy(before, w->of, sizeof(before));
	max = max < WAY_PIECES_MAX ? max : WAY_PIECES_MAX;
	w->n = 0;
	w->length++;
	for (size_t i = 0; i < w->n_steps; i++) {
		const struct way_step *s = &w->steps[i];
		struct way way = before[s->from];
		bool ends = s->piece == end || way.n >= max;
		if (s->sum < fmax(w->steps[0].sum, w->ended) - GAP)
			break;
		way.from = s->from;
		way.sum = s->sum;
		if (!ends)
			way.pieces[way.n++] = s->piece;
		size_t left = ends ? decoder_cut_echo(way.pieces, way.n, w->echo)
				   : decoder_cut_loop(way.pieces, way.n);
		double sure = way.sum / (double)w->length + (left < way.n ? LOOPED : 0);
		ends = ends || left < way.n;
		way.n = left;
		if (!ends) {
			w->of[w->n++] = way;
			continue;
		}
		w->ended = fmax(w->ended, way.sum);
		if (sure > w->sure) {
			w->best = way;
			w->sure = sure;
		}
	}
	w->n_steps = 0;
}
