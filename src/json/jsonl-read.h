/*
 * What the two readers of lines share.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/str.h"

/*
 * Copies from the page cache are several times slower where the two addresses differ by a few bytes
 * within a cache line: on many processors, and only a read that ends up in one place of many shows
 * it. So buffers begin at a cache line, and so does what of a file is read to their beginning.
 */
enum { JSONL_ALIGN = 64 };
/* A larger buffer with the first `used` bytes of `old`, which is freed; NULL is fine for it. */
char *jsonl_buffer(char *old, size_t used, size_t cap);

/* pread() that goes on after a signal; on what has no places (a pipe) it is read(). */
ssize_t jsonl_pread(int fd, char *buf, size_t n, uint64_t offset);

/* Where the first newline is, or text.n; *ret_bytes are the JSONL_LOW and JSONL_HIGH before it. */
size_t jsonl_line_end(struct sv text, unsigned *ret_bytes);
