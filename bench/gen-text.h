/*
 * Chance and text for generated sessions, the same for the same seed.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "base/uuid.h"

struct rng {
	uint64_t state;
	bool zipf; /* words of the large vocabulary, common and rare as in real text */
};
uint64_t rng_next(struct rng *r);
size_t rng_below(struct rng *r, size_t n);
/* Small sizes are as common as large ones on a scale of doublings. */
size_t rng_size(struct rng *r, size_t low, size_t high);
void rng_uuid(struct rng *r, char out[static UUID_TEXT]);

const char *common_word(struct rng *r);
void add_words(struct str *out, struct rng *r, size_t n);
/* One line as programs print them: code, a log, a path, colours, prose. */
void add_output_line(struct str *out, struct rng *r);
