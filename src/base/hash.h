/*
 * A hash of bytes for tables in memory. With a seed that nobody outside knows, keys that meet
 * cannot be prepared; so a hash is never written down and never compared with one of another seed.
 */
#pragma once

#include <stdint.h>

#include "base/str.h"

uint64_t hash_seed(void); /* another one each time */
uint64_t hash_bytes(uint64_t seed, struct sv bytes);
