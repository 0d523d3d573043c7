#include "listen/echo.h"

#include <math.h>
#include <string.h>

#include "base/attr.h"

/* As much louder than we ever were must be who is not us. */
static const double clearly = 2;
/* What was louder once, by a knock or another room, is forgotten: half of it in 40 s of ours. */
static const double forget = 0.99945;

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/* What is heard of us is so loud. */
static void learn(struct echo *e, double part, bool speech)
{
	if (e->known) {
		e->most = larger(part, e->most * forget);
		return;
	}
	double *most = speech ? &e->most_speech : &e->most;
	*most = larger(*most, part);
	e->learned += !speech;
	e->spoken += speech;
	if (e->learned >= ECHO_QUIET && e->spoken * 2 <= e->learned) {
		e->known = true;
	} else if (e->learned + e->spoken >= ECHO_LEARN) {
		e->most = larger(e->most, e->most_speech);
		e->known = true;
	}
}

/* The first n frames of those in front of this one were ours. */
static void learn_fresh(struct echo *e, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		learn(e, e->fresh[i], false);
	e->n_fresh -= n;
	memmove(e->fresh, e->fresh + n, e->n_fresh * sizeof(*e->fresh));
}

bool echo_hears(struct echo *e, double heard, double ours, bool speech)
{
	double part = ours > 0 ? heard / ours : 0;
	bool other = speech && (ours <= 0 || (e->known && part > e->most * clearly));

	if (!other) {
		e->run -= e->run > 0;
		if (ours <= 0)
			return false;
		if (speech) {
			if (e->known)
				learn_fresh(e, e->n_fresh);
			e->n_fresh = 0;
			learn(e, part, true);
		} else {
			learn_fresh(e, e->n_fresh == ARRAY_LEN(e->fresh));
			e->fresh[e->n_fresh++] = part;
		}
		return false;
	}
	e->n_fresh = 0;
	e->other = e->run == 0 || part > e->other ? part : e->other;
	return ++e->run == ECHO_RUN;
}

void echo_mistaken(struct echo *e)
{
	e->most = larger(e->most, e->other);
	e->run = 0;
}

double echo_loudness(const int16_t *samples, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (double)samples[i] * samples[i];
	return n ? sqrt(sum / (double)n) : 0;
}
