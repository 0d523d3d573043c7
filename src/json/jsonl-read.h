/*
 * What the two readers of lines share.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* pread() that goes on after a signal; on what has no places (a pipe) it is read(). */
ssize_t jsonl_pread(int fd, char *buf, size_t n, uint64_t offset);
