#include "ui/size.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/attr.h"

enum { STEP = 1000, GROUP = 3 };

void size_format(uint64_t bytes, char out[static SIZE_TEXT_MAX])
{
	static const char *const units[] = { "kB", "MB", "GB", "TB", "PB", "EB" };
	double value = (double)bytes / STEP;
	size_t unit = 0;

	if (bytes < STEP) {
		(void)snprintf(out, SIZE_TEXT_MAX, "%" PRIu64 " B", bytes);
		return;
	}
	/* What would be rounded to 1000 is 1.0 of the next unit. */
	while (value >= STEP - 0.5 && unit + 1 < ARRAY_LEN(units)) {
		value /= STEP;
		unit++;
	}
	(void)snprintf(
		out, SIZE_TEXT_MAX, value < 9.95 ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

void size_format_count(int64_t n, char out[static SIZE_TEXT_MAX])
{
	char digits[SIZE_TEXT_MAX];
	uint64_t magnitude = n < 0 ? -(uint64_t)n : (uint64_t)n;
	size_t len = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, magnitude);
	size_t at = 0;

	if (n < 0)
		out[at++] = '-';
	for (size_t i = 0; i < len; i++) {
		if (i && (len - i) % GROUP == 0)
			out[at++] = ',';
		out[at++] = digits[i];
	}
	out[at] = '\0';
}
