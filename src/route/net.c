#include "route/net.h"

#include <math.h>

#include "base/mem.h"
#include "route/tables.h"

/*
 * A table of weights: the average of each input, then the nets. A net has the weights of its hidden
 * units, input by input, their constants, what each unit adds, and what each input adds by itself:
 * first for a conversation, whose inputs are its features and the sentence's; then for a new one,
 * whose inputs are the sentence's, with half the units and a constant.
 */
enum {
	UNITS = 16,
	UNITS_NEW = UNITS / 2,
	INPUTS = CONV_FEATURE_COUNT + SENTENCE_FEATURE_COUNT,
	INPUTS_NEW = SENTENCE_FEATURE_COUNT,
	CONV_SIZE = UNITS * (INPUTS + 1) + UNITS + INPUTS,
	NEW_SIZE = UNITS_NEW * (INPUTS_NEW + 1) + UNITS_NEW + INPUTS_NEW + 1,
};

static const enum feature_group groups[INPUTS] = {
#define X(name, group) GROUP_##group,
	CONV_FEATURES(X) SENTENCE_FEATURES(X)
#undef X
};

/* Plain arithmetic in a fixed order: the same on every machine. `units` is known where it is
 * called, so that they are summed side by side. */
static inline double layer(const float *w, const size_t units, const double *x, size_t inputs)
{
	const float *shift = w + inputs * units, *adds = shift + units, *direct = adds + units;
	double z[UNITS], sum = 0;

	for (size_t k = 0; k < units; k++)
		z[k] = (double)shift[k];
	for (size_t i = 0; i < inputs; i++, w += units)
		for (size_t k = 0; k < units; k++)
			z[k] += (double)w[k] * x[i];
	for (size_t k = 0; k < units; k++)
		sum += (double)adds[k] * (z[k] / (1 + fabs(z[k])));
	for (size_t i = 0; i < inputs; i++)
		sum += (double)direct[i] * x[i];
	return sum;
}

/* Nets are surer of dialogues by other hands than they should be: by leaving sets out, what they
 * call 0.8 is right as often as it should be with this. */
static const double temperature = 1.2;

void net_weigh(const struct features *f, size_t nets, enum feature_group leave_out, double *ret)
{
	/* Those that have learned with what texts mean are others. */
	const float *table = f->meaning ? net_weights_meaning : net_weights;
	const float *average = table;
	double x[INPUTS];
	AUTO_FREE double *score = xcalloc(f->rows.n + 1, sizeof(*score));

	for (size_t i = 0; i <= f->rows.n; i++)
		ret[i] = 0;
	for (size_t k = 0; k < nets; k++) {
		const float *w = table + INPUTS + k * (CONV_SIZE + NEW_SIZE);
		double top, all = 0;
		for (size_t i = CONV_FEATURE_COUNT; i < INPUTS; i++)
			x[i] = groups[i] == leave_out ? (double)average[i]
						      : f->s[i - CONV_FEATURE_COUNT];
		score[0] = layer(w + CONV_SIZE, UNITS_NEW, x + CONV_FEATURE_COUNT, INPUTS_NEW) +
			(double)w[CONV_SIZE + NEW_SIZE - 1];
		top = score[0];
		for (size_t c = 0; c < f->rows.n; c++) {
			for (size_t i = 0; i < CONV_FEATURE_COUNT; i++)
				x[i] = groups[i] == leave_out ? (double)average[i]
							      : f->rows.v[c].x[i];
			score[c + 1] = layer(w, UNITS, x, INPUTS);
			top = fmax(top, score[c + 1]);
		}
		for (size_t i = 0; i <= f->rows.n; i++)
			all += exp((score[i] - top) / temperature);
		for (size_t i = 0; i <= f->rows.n; i++)
			ret[i] += exp((score[i] - top) / temperature) / all / (double)nets;
	}
}
