/*
 * Numbers for people.
 */
#pragma once

#include <stdint.h>

enum { SIZE_TEXT_MAX = 32 };

/* Powers of 1000: "0 B", "999 B", "1.2 kB", "15 MB", "3.4 GB". */
void size_format(uint64_t bytes, char out[static SIZE_TEXT_MAX]);
/* "1,234,567" */
void size_format_count(int64_t n, char out[static SIZE_TEXT_MAX]);
