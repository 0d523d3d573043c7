/*
 * A network changed before it is loaded, in its file's own form: outputs that nobody wants are
 * dropped, since the runtime would keep room for them, and a constant becomes an input, so that
 * less of it can be given. Everything else is kept byte for byte.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct onnx_edit {
	const char *drop_outputs; /* those whose names begin so; NULL: none */
	/* A constant of floats, with rows: it becomes an input of that name with any number of
	 * rows. NULL: none. */
	const char *open;
};
/* What the constant was: numbers that lie within the model. */
struct onnx_constant {
	struct sv floats; /* 4 bytes each, not aligned */
	int64_t rows, columns;
};
/* *out gets the changed network (cleared first). ERR_INPUT when model is damaged or has no such
 * constant. ret_open may be NULL when nothing is opened. */
int onnx_edit(struct sv model, const struct onnx_edit *edit, struct str *out,
	struct onnx_constant *ret_open, struct err *reterr) MUST_USE;
