/*
 * Networks and the runtime that they need: what can be had, from where, under which licence, and
 * what of it lies in the user's data folder. Nothing of it comes with faden; model/install.h gets
 * it. Each file is known by size and check sums, so that one that is not what it was is an error
 * with the remedy and never a guess.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "onnx/onnx.h"

struct model_file {
	const char *name; /* in the model's folder */
	const char *from; /* in the package */
	uint64_t size;
	uint64_t xxh3; /* looked at whenever it is loaded */
	const char *sha256; /* looked at once, before it gets its name */
};

enum { MODEL_FILES_MAX = 5, MODEL_NEEDS_MAX = 4 };

struct model_def {
	const char *name;
	const char *title; /* for a person, lower case */
	const char *package; /* of npm; NULL: it is only what it needs */
	const char *version;
	uint64_t package_size; /* what is fetched */
	const char *package_sha256;
	const char *licence;
	const char *remark; /* on the licence; NULL: none */
	struct model_file files[MODEL_FILES_MAX]; /* until one without a name */
	const char *needs[MODEL_NEEDS_MAX]; /* other models */
};

/* All there are; those that others need come first. */
const struct model_def *model_table(size_t *ret_n);
const struct model_def *model_find(struct sv name); /* NULL: no such */
/* Bytes on the disk, without what it needs. */
uint64_t model_size(const struct model_def *def);

struct models;
/* dir: where they lie, there or not. Nothing is opened. It may be used from several threads. */
struct models *models_new(const char *dir);
void models_free(struct models *m); /* after all that was made with it; NULL is fine */
const char *models_dir(const struct models *m);
char *models_path(const struct models *m, const struct model_def *def, const char *file);

enum model_state { MODEL_MISSING, MODEL_DAMAGED, MODEL_WHOLE };
/* By the sizes of its files, or with `read` by all their bytes; what it needs is not looked at. */
enum model_state models_state(const struct models *m, const struct model_def *def, bool read);

/* Whether its files are there in their sizes, with `read` with all their bytes; errors as of
 * models_map(). */
int models_look(const struct models *m, const char *model, bool read, struct err *reterr) MUST_USE;

/* A file of a model in memory. */
struct model_bytes {
	struct sv bytes;
	void *mapped; /* NULL: nothing */
};
/* ERR_NOTFOUND when it is not installed, ERR_INPUT when it is damaged: both name the command that
 * mends it. */
int models_map(const struct models *m, const char *model, const char *file, struct model_bytes *ret,
	struct err *reterr) MUST_USE;
void model_bytes_release(struct model_bytes *b); /* harmless on a zeroed one */

/* The runtime, opened at the first call; it lives as long as m. */
int models_runtime(struct models *m, struct onnx **ret, struct err *reterr) MUST_USE;
/* A network of a model, ready to run. */
int models_session(struct models *m, const char *model, const char *file,
	const struct onnx_session_opts *opts, struct onnx_session **ret,
	struct err *reterr) MUST_USE;
