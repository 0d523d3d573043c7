/*
 * Allocation that cannot fail: these abort when memory is gone, which for small sizes of our own
 * is the only sensible answer. Sizes that come from files, agents or the network must be checked
 * against a named limit first (see str_init_max()).
 */
#pragma once

#include <stddef.h>

#include "base/attr.h"

void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull));
void *xcalloc(size_t n, size_t size) __attribute__((malloc, returns_nonnull));
void *xrealloc(void *p, size_t size) __attribute__((returns_nonnull));
/* n * size with an overflow check. */
void *xreallocarray(void *p, size_t n, size_t size) __attribute__((returns_nonnull));
char *xstrdup(const char *s) __attribute__((malloc, returns_nonnull));
/* Exactly n bytes plus a NUL. */
char *xmemdup0(const void *p, size_t n) __attribute__((malloc, returns_nonnull));
char *xasprintf(const char *fmt, ...) PRINTF(1, 2) __attribute__((malloc, returns_nonnull));
