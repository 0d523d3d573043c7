#include "onnx/edit.h"

#include <stdbool.h>

/* The parts of the format that are touched: message.field numbers. */
enum {
	MODEL_GRAPH = 7,
	GRAPH_INITIALIZER = 5,
	GRAPH_INPUT = 11,
	GRAPH_OUTPUT = 12,
	VALUE_NAME = 1,
	VALUE_TYPE = 2,
	TENSOR_DIMS = 1,
	TENSOR_TYPE = 2,
	TENSOR_NAME = 8,
	TENSOR_RAW = 9,
	TYPE_FLOAT = 1,
};

enum wire { WIRE_VARINT = 0, WIRE_64 = 1, WIRE_BYTES = 2, WIRE_32 = 5 };

struct field {
	uint64_t number;
	enum wire wire;
	uint64_t value; /* of a varint */
	struct sv bytes; /* of WIRE_BYTES */
	struct sv raw; /* all of it */
};

static bool varint(struct sv *rest, uint64_t *ret)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64 && rest->n > 0; shift += 7) {
		unsigned char c = (unsigned char)*rest->p;
		*rest = sv_from(*rest, 1);
		v |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80)) {
			*ret = v;
			return true;
		}
	}
	return false;
}

/* The next field: 1, 0 at the end, or ERR_INPUT. */
static int next(struct sv *rest, struct field *ret)
{
	struct sv start = *rest;
	uint64_t tag, n = 0;

	if (rest->n == 0)
		return 0;
	if (!varint(rest, &tag))
		return ERR_INPUT;
	*ret = (struct field){ .number = tag >> 3, .wire = (enum wire)(tag & 7) };
	switch (ret->wire) {
	case WIRE_VARINT:
		if (!varint(rest, &ret->value))
			return ERR_INPUT;
		break;
	case WIRE_BYTES:
		if (!varint(rest, &n))
			return ERR_INPUT;
		break;
	case WIRE_64:
		n = 8;
		break;
	case WIRE_32:
		n = 4;
		break;
	default:
		return ERR_INPUT;
	}
	if (n > rest->n)
		return ERR_INPUT;
	ret->bytes = sv_head(*rest, (size_t)n);
	*rest = sv_from(*rest, (size_t)n);
	ret->raw = sv_make(start.p, (size_t)(rest->p - start.p));
	return 1;
}

static void put_varint(struct str *out, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		str_addc(out, (char)(unsigned char)(v | 0x80));
	str_addc(out, (char)(unsigned char)v);
}

static void put_bytes(struct str *out, unsigned number, struct sv bytes)
{
	put_varint(out, (uint64_t)number << 3 | WIRE_BYTES);
	put_varint(out, bytes.n);
	str_add(out, bytes);
}

/* The text of a field in a message; empty when it has none. */
static int text_of(struct sv message, uint64_t number, struct sv *ret)
{
	struct field f;
	int r;

	*ret = sv_make(NULL, 0);
	while ((r = next(&message, &f)) > 0) {
		if (f.number == number && f.wire == WIRE_BYTES)
			*ret = f.bytes;
	}
	return r;
}

/* A constant that is a table of floats. */
static int constant(struct sv tensor, struct onnx_constant *ret)
{
	struct field f;
	int64_t dims[2] = { 0, 0 };
	unsigned n = 0;
	uint64_t type = 0;
	struct sv raw = { NULL, 0 };
	int r;

	while ((r = next(&tensor, &f)) > 0) {
		if (f.number == TENSOR_DIMS && f.wire == WIRE_VARINT) {
			if (n == 2)
				return ERR_INPUT;
			dims[n++] = (int64_t)f.value;
		} else if (f.number == TENSOR_TYPE && f.wire == WIRE_VARINT) {
			type = f.value;
		} else if (f.number == TENSOR_RAW && f.wire == WIRE_BYTES) {
			raw = f.bytes;
		}
	}
	if (r < 0 || n != 2 || type != TYPE_FLOAT || dims[0] <= 0 || dims[1] <= 0 ||
		dims[0] > INT32_MAX || dims[1] > INT32_MAX ||
		raw.n != (uint64_t)dims[0] * (uint64_t)dims[1] * 4)
		return ERR_INPUT;
	*ret = (struct onnx_constant){ raw, dims[0], dims[1] };
	return 0;
}

/* An input of floats with any number of rows. */
static void put_input(struct str *out, const char *name, int64_t columns)
{
	AUTO_STR dim = STR_INIT, shape = STR_INIT, tensor = STR_INIT, type = STR_INIT,
		 value = STR_INIT;

	put_bytes(&dim, 2, SV("rows"));
	put_bytes(&shape, 1, str_sv(&dim));
	str_clear(&dim);
	put_varint(&dim, 1 << 3 | WIRE_VARINT);
	put_varint(&dim, (uint64_t)columns);
	put_bytes(&shape, 1, str_sv(&dim));
	put_varint(&tensor, 1 << 3 | WIRE_VARINT);
	put_varint(&tensor, TYPE_FLOAT);
	put_bytes(&tensor, 2, str_sv(&shape));
	put_bytes(&type, 1, str_sv(&tensor));
	put_bytes(&value, VALUE_NAME, sv_of(name));
	put_bytes(&value, VALUE_TYPE, str_sv(&type));
	put_bytes(out, GRAPH_INPUT, str_sv(&value));
}

/* 1 when the constant was found. */
static int edit_graph(struct sv graph, const struct onnx_edit *edit, struct str *out,
	struct onnx_constant *ret_open)
{
	struct field f;
	bool found = false;
	int r;

	while ((r = next(&graph, &f)) > 0) {
		struct sv name;
		if (edit->drop_outputs && f.number == GRAPH_OUTPUT && f.wire == WIRE_BYTES) {
			if (text_of(f.bytes, VALUE_NAME, &name) < 0)
				return ERR_INPUT;
			if (sv_starts(name, sv_of(edit->drop_outputs)))
				continue;
		}
		if (edit->open && f.number == GRAPH_INITIALIZER && f.wire == WIRE_BYTES) {
			if (text_of(f.bytes, TENSOR_NAME, &name) < 0)
				return ERR_INPUT;
			if (sv_is(name, edit->open)) {
				if (found || constant(f.bytes, ret_open) < 0)
					return ERR_INPUT;
				put_input(out, edit->open, ret_open->columns);
				found = true;
				continue;
			}
		}
		str_add(out, f.raw);
	}
	return r < 0 ? r : found;
}

int onnx_edit(struct sv model, const struct onnx_edit *edit, struct str *out,
	struct onnx_constant *ret_open, struct err *reterr)
{
	AUTO_STR graph = STR_INIT;
	struct field f;
	bool found = !edit->open;
	int r;

	str_clear(out);
	(void)str_reserve(out, model.n);
	while ((r = next(&model, &f)) > 0) {
		if (f.number != MODEL_GRAPH || f.wire != WIRE_BYTES) {
			str_add(out, f.raw);
			continue;
		}
		str_clear(&graph);
		(void)str_reserve(&graph, f.bytes.n);
		r = edit_graph(f.bytes, edit, &graph, ret_open);
		if (r < 0)
			break;
		found = found || r > 0;
		put_bytes(out, MODEL_GRAPH, str_sv(&graph));
	}
	if (r < 0)
		return err_set(reterr, ERR_INPUT, "the network's file is damaged");
	if (!found)
		return err_set(reterr, ERR_INPUT, "the network has no '%s'", edit->open);
	return 0;
}
