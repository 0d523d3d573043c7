/*
 * Neural networks by ONNX Runtime. Its library is opened when a network is needed and not before,
 * and without a header of its own: faden builds, starts and works where it is missing.
 *
 * A runtime and its sessions may be used from several threads, one run at a time for each session.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct onnx;
/* library: the path of libonnxruntime.so. ERR_NOTFOUND when it cannot be opened, ERR_INPUT when it
 * is something else or too old. It says nothing on any stream. */
int onnx_open(const char *library, struct onnx **ret, struct err *reterr) MUST_USE;
/* After all its sessions and tensors. NULL is fine. */
void onnx_free(struct onnx *o);

/* As the format numbers them. */
enum onnx_type {
	ONNX_F32 = 1,
	ONNX_U8 = 2,
	ONNX_I8 = 3,
	ONNX_I32 = 6,
	ONNX_I64 = 7,
	ONNX_BOOL = 9,
};
enum { ONNX_DIMS_MAX = 6 };

/* An array of numbers. What goes in is the caller's and only pointed at; what comes out is the
 * runtime's until onnx_tensor_release(), and may go in again as it is. */
struct onnx_tensor {
	enum onnx_type type;
	unsigned n_dims; /* 0: a single number */
	int64_t dims[ONNX_DIMS_MAX];
	void *data;
	void *value; /* the runtime's; NULL: the caller's */
};
/* How many numbers. */
size_t onnx_tensor_count(const struct onnx_tensor *t);
/* Of a result; it is zeroed. Harmless on a zeroed one. */
void onnx_tensor_release(const struct onnx *o, struct onnx_tensor *t);

struct onnx_session_opts {
	int threads; /* 0: 1 */
	/* Threads wait for the next piece of work by spinning: faster in bursts, never for what
	 * runs all day. */
	bool spin;
};

struct onnx_session;
/* A network as the bytes of an .onnx file, which are not needed afterwards. ERR_INPUT when the
 * runtime does not take it. */
int onnx_session_new(struct onnx *o, struct sv model, const struct onnx_session_opts *opts,
	struct onnx_session **ret, struct err *reterr) MUST_USE;
void onnx_session_free(struct onnx_session *s); /* NULL is fine */

/* The names of inputs and outputs in the network's own order, until NULL. */
const char *const *onnx_inputs(const struct onnx_session *s);
const char *const *onnx_outputs(const struct onnx_session *s);

struct onnx_arg {
	const char *name;
	const struct onnx_tensor *tensor;
};
enum { ONNX_ARGS_MAX = 128 };
/*
 * in: what goes in, by name; out: names of what is wanted, whose values are in ret (n_out of them)
 * on success. ERR_CANCELLED after onnx_stop().
 */
int onnx_run(struct onnx_session *s, const struct onnx_arg *in, size_t n_in, const char *const *out,
	size_t n_out, struct onnx_tensor *ret, struct err *reterr) MUST_USE;
/* From any thread: the run that goes on ends soon, and so does every later one until it is taken
 * back. */
void onnx_stop(struct onnx_session *s, bool stop);
