#include "listen/echo.h"

#include <math.h>

/* As much louder than we ever were must be who is not us. */
static const double clearly = 2;
/* What was louder once, by a knock or another room, is forgotten: half of it in 40 s of ours. */
static const double forget = 0.99945;

bool echo_hears(struct echo *e, double heard, double ours, bool speech)
{
	double part = ours > 0 ? heard / ours : 0;
	bool known = ours <= 0 || e->learned >= ECHO_LEARN;
	bool other = speech && known && (ours <= 0 || part > e->most * clearly);

	if (!other) {
		e->run -= e->run > 0;
		if (ours > 0) {
			e->most = part > e->most ? part : e->most * forget;
			e->learned += !known;
		}
		return false;
	}
	e->other = e->run == 0 || part > e->other ? part : e->other;
	return ++e->run == ECHO_RUN;
}

void echo_mistaken(struct echo *e)
{
	e->most = e->other > e->most ? e->other : e->most;
	e->run = 0;
}

double echo_loudness(const int16_t *samples, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (double)samples[i] * samples[i];
	return n ? sqrt(sum / (double)n) : 0;
}
