/*
 * Compiler attributes and cleanup helpers that every file may use.
 */
#pragma once

#include <stdlib.h>
#include <unistd.h>

#define PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#define MUST_USE __attribute__((warn_unused_result))
#define NORETURN __attribute__((noreturn))
#define UNUSED __attribute__((unused))

/* Runs fn(&variable) when the variable leaves its scope, which is a use of it. */
#define CLEANUP(fn) __attribute__((cleanup(fn), unused))

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

static inline void auto_free_(void *p)
{
	free(*(void **)p);
}

static inline void auto_close_(const int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

/* free() at the end of the scope; the variable must be initialised. */
#define AUTO_FREE CLEANUP(auto_free_)
/* close() at the end of the scope unless negative. */
#define AUTO_CLOSE CLEANUP(auto_close_)

/* Hands an owned pointer (or fd) over: the value moves out, the variable is emptied. */
#define TAKE_PTR(p)                            \
	__extension__({                        \
		__typeof__(p) *take_ = &(p);   \
		__typeof__(p) moved_ = *take_; \
		*take_ = NULL;                 \
		moved_;                        \
	})
#define TAKE_FD(fd)                \
	__extension__({            \
		int moved_ = (fd); \
		(fd) = -1;         \
		moved_;            \
	})
