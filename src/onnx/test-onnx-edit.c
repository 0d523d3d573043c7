#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "onnx/edit.h"

/* The format's own way: a field with a length. Short ones only. */
static void put(struct str *out, unsigned number, struct sv bytes)
{
	assert_true(bytes.n < 128);
	str_addc(out, (char)(number << 3 | 2));
	str_addc(out, (char)bytes.n);
	str_add(out, bytes);
}

/* A network with outputs "y", "attention.0" and a constant "places" of 2 × 3 floats. */
static void make(struct str *model, unsigned type)
{
	AUTO_STR graph = STR_INIT, value = STR_INIT;
	static const float places[6] = { 1, 2, 3, 4, 5, 6 };
	static const char *const outputs[] = { "y", "attention.0" };

	put(&graph, 1, SV("some node"));
	for (size_t i = 0; i < 2; i++) {
		str_clear(&value);
		put(&value, 1, sv_of(outputs[i]));
		put(&graph, 12, str_sv(&value));
	}
	str_clear(&value);
	str_addf(&value, "\x08\x02\x08\x03\x10%c", (char)type);
	put(&value, 8, SV("places"));
	put(&value, 9, sv_make((const char *)places, sizeof(places)));
	put(&graph, 5, str_sv(&value));
	str_addf(model, "\x08\x07");
	put(model, 7, str_sv(&graph));
	put(model, 8, SV("\x10\x0d"));
}

static void test_edit(void **state)
{
	const struct onnx_edit edit = { .drop_outputs = "attention.", .open = "places" };
	struct onnx_constant places = { .rows = 0 };
	struct err err = ERR_INIT;
	AUTO_STR model = STR_INIT, out = STR_INIT;
	size_t at;

	(void)state;
	make(&model, 1);
	assert_int_equal(onnx_edit(str_sv(&model), &edit, &out, &places, &err), 0);
	assert_int_equal(places.rows, 2);
	assert_int_equal(places.columns, 3);
	assert_int_equal(places.floats.n, 24);
	assert_true(sv_find(str_sv(&out), SV("some node"), &at));
	assert_true(sv_find(str_sv(&out), SV("\x0a\x01y"), &at));
	assert_false(sv_find(str_sv(&out), SV("attention"), &at));
	/* It is an input of floats with 3 columns now. */
	assert_true(sv_find(str_sv(&out), SV("\x5a\x1c\x0a\x06places"), &at));
	assert_true(sv_find(str_sv(&out), SV("rows"), &at));
	assert_true(sv_find(str_sv(&out), SV("\x0a\x02\x08\x03"), &at));
	assert_true(sv_ends(str_sv(&out), SV("\x42\x02\x10\x0d")));
}

static void test_nothing_to_edit(void **state)
{
	struct err err = ERR_INIT;
	AUTO_STR model = STR_INIT, out = STR_INIT;

	(void)state;
	make(&model, 1);
	assert_int_equal(
		onnx_edit(str_sv(&model), &(struct onnx_edit){ .open = NULL }, &out, NULL, &err),
		0);
	assert_true(sv_eq(str_sv(&model), str_sv(&out)));
}

static void test_refused(void **state)
{
	const struct onnx_edit edit = { .open = "places" };
	struct onnx_constant places = { .rows = 0 };
	struct err err = ERR_INIT;
	AUTO_STR model = STR_INIT, out = STR_INIT;

	(void)state;
	/* Not floats. */
	make(&model, 7);
	assert_int_equal(onnx_edit(str_sv(&model), &edit, &out, &places, &err), ERR_INPUT);
	assert_int_equal(onnx_edit(SV(""), &edit, &out, &places, &err), ERR_INPUT);
	assert_non_null(strstr(err.msg, "no 'places'"));
	/* Cut anywhere: an error, or no constant; never a crash. */
	str_clear(&model);
	make(&model, 1);
	for (size_t n = 0; n < model.len - 4; n++)
		assert_int_equal(onnx_edit(sv_head(str_sv(&model), n), &edit, &out, &places, &err),
			ERR_INPUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_edit),
		cmocka_unit_test(test_nothing_to_edit),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
