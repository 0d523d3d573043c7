/*
 * For fuzz targets: REQUIRE() ends the program where a property does not hold.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define REQUIRE(property)                                                              \
	do {                                                                           \
		if (!(property)) {                                                     \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #property); \
			abort();                                                       \
		}                                                                      \
	} while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
