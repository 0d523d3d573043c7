/*
 * What a driver of sound gives. Rates and stops are common to all: a driver says at which rate it
 * reads or writes, and looks at `stop` whenever it waits.
 */
#pragma once

#include <dlfcn.h>
#include <stdatomic.h>

#include "audio/audio.h"
#include "base/str.h"

/* Asked for by another thread; the descriptor is readable from then on. */
struct audio_stop {
	atomic_bool asked;
	int fd;
	/* Wakes a wait that cannot look at fd; may be NULL. Called from any thread. */
	void (*wake)(void *end);
	void *end;
};
static inline bool audio_stopped(const struct audio_stop *s)
{
	return atomic_load(&s->asked);
}

struct audio_driver {
	const char *name;
	bool device; /* has the speed of time */
	/* *ret_rate is what was asked for and becomes what is had; appends to *name. */
	int (*in_open)(const struct audio_opts *opts, struct audio_stop *stop, unsigned *ret_rate,
		struct str *name, void **ret, struct err *reterr);
	/* At least one sample, 0 at the end of a file. */
	int (*in_read)(void *end, int16_t *out, size_t n, struct err *reterr);
	void (*in_free)(void *end);
	int (*out_open)(const struct audio_opts *opts, struct audio_stop *stop, unsigned *ret_rate,
		struct str *name, void **ret, struct err *reterr);
	int (*out_write)(void *end, const int16_t *samples, size_t n, struct err *reterr);
	int (*out_drain)(void *end, struct err *reterr);
	/* Throws away what was written and not heard, after a stop. */
	void (*out_silence)(void *end);
	/* The first failure that nobody has been told. */
	int (*out_free)(void *end, struct err *reterr);
};

extern const struct audio_driver audio_driver_alsa, audio_driver_pulse, audio_driver_raw,
	audio_driver_wav;

/* The functions of a library that is opened at run time: where each one goes, until name is NULL.
 * A pointer to a function cannot be cast from void * in ISO C; its bytes can be copied. */
struct audio_symbol {
	const char *name;
	size_t offset; /* in *table */
};
static inline bool audio_load(const char *library, const struct audio_symbol *symbols, void *table)
{
	/* Never closed: such libraries leave threads and exit handlers behind. */
	void *handle = dlopen(library, RTLD_NOW);

	for (; handle && symbols->name; symbols++) {
		void *symbol = dlsym(handle, symbols->name);
		if (!symbol)
			return false;
		memcpy((char *)table + symbols->offset, &symbol, sizeof(symbol));
	}
	return handle != NULL;
}
