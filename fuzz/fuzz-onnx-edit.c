/*
 * A network's file, changed: whatever the bytes are, what is kept is part of them, and what was
 * changed once has no such constant any more.
 */
#include "fuzz.h"
#include "onnx/edit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct onnx_edit edit = { .drop_outputs = "att", .open = "places" };
	const struct sv model = { (const char *)data, size };
	struct onnx_constant places = { .rows = 0 };
	AUTO_STR out = STR_INIT;
	AUTO_STR again = STR_INIT;

	if (onnx_edit(model, &edit, &out, &places, NULL) < 0)
		return 0;
	REQUIRE(places.floats.p >= model.p && places.floats.p + places.floats.n <= model.p + size);
	REQUIRE(places.floats.n == (size_t)places.rows * (size_t)places.columns * 4);
	/* With the constant gone the rest is whole. */
	REQUIRE(onnx_edit(str_sv(&out), &(struct onnx_edit){ .drop_outputs = "att" }, &again, NULL,
			NULL) == 0);
	REQUIRE(sv_eq(str_sv(&out), str_sv(&again)));
	return 0;
}
