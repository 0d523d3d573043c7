/*
 * Functions over wide vectors that are compiled for processors with AVX2 too:
 *
 *	VECTOR_BODY int sum_any(const char *p) { … }
 *	VECTOR_CLONES(int, sum, (const char *p), (p))
 *
 * Which one runs is seen at each call, from what the C library found out when the program started:
 * to ask the processor once more at every start (target_clones does) takes longer than many a
 * command, where that is a virtual one.
 */
#pragma once

#define VECTOR_BODY static inline __attribute__((always_inline))

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__)
#include <sys/platform/x86.h>
#define HAVE_AVX2() CPU_FEATURE_ACTIVE(AVX2)
#define VECTOR_CLONES(type, name, params, args)                          \
	static __attribute__((target("avx2"))) type name##_avx2 params   \
	{                                                                \
		return name##_any args;                                  \
	}                                                                \
	static type name params                                          \
	{                                                                \
		return HAVE_AVX2() ? name##_avx2 args : name##_any args; \
	}
#else
#define VECTOR_CLONES(type, name, params, args) \
	static type name params                 \
	{                                       \
		return name##_any args;         \
	}
#endif
