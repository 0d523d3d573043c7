#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "onnx/onnx.h"
#include "os/test-temp.h"

/* y = x + x, over a list of any length. */
static const unsigned char doubling[] = { 0x08, 0x07, 0x3a, 0x32, 0x0a, 0x0e, 0x0a, 0x01, 0x78,
	0x0a, 0x01, 0x78, 0x12, 0x01, 0x79, 0x22, 0x03, 0x41, 0x64, 0x64, 0x12, 0x02, 0x74, 0x77,
	0x5a, 0x0d, 0x0a, 0x01, 0x78, 0x12, 0x08, 0x0a, 0x06, 0x08, 0x01, 0x12, 0x02, 0x0a, 0x00,
	0x62, 0x0d, 0x0a, 0x01, 0x79, 0x12, 0x08, 0x0a, 0x06, 0x08, 0x01, 0x12, 0x02, 0x0a, 0x00,
	0x42, 0x04, 0x0a, 0x00, 0x10, 0x0d };

static struct sv network(size_t n)
{
	return sv_make((const char *)doubling, n);
}

/* The library is a download: the tests that have it name it. */
static struct onnx *runtime(void)
{
	const char *library = getenv("FADEN_TEST_ONNX");
	struct onnx *o = NULL;
	struct err err = ERR_INIT;

	if (onnx_open(library, &o, &err) < 0)
		fail_msg("%s", err.msg);
	return o;
}

static void test_missing_library(void **state)
{
	struct onnx *o = NULL;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(onnx_open("/nowhere/libonnxruntime.so", &o, &err), ERR_NOTFOUND);
	assert_non_null(strstr(err.msg, "/nowhere/libonnxruntime.so"));
	assert_null(o);
}

static void test_other_library(void **state)
{
	struct onnx *o = NULL;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(onnx_open("libm.so.6", &o, &err), ERR_INPUT);
	assert_non_null(strstr(err.msg, "not ONNX Runtime"));
}

static void test_no_library_but_text(void **state)
{
	AUTO_FREE char *path = temp_write(*state, "libonnxruntime.so", "<html>not found</html>");
	struct onnx *o = NULL;
	struct err err = ERR_INIT;

	assert_int_equal(onnx_open(path, &o, &err), ERR_NOTFOUND);
	assert_non_null(strstr(err.msg, path));
}

static void test_run(void **state)
{
	struct onnx *o = runtime();
	const struct onnx_session_opts opts = { .threads = 1 };
	struct onnx_session *s = NULL;
	struct err err = ERR_INIT;
	float x[] = { 1.5F, -2.0F, 0.0F };
	struct onnx_tensor in = { .type = ONNX_F32, .n_dims = 1, .dims = { 3 }, .data = x };
	struct onnx_tensor y[2];
	const char *const out[] = { "y" };

	(void)state;
	if (onnx_session_new(o, network(sizeof(doubling)), &opts, &s, &err) < 0)
		fail_msg("%s", err.msg);
	assert_string_equal(onnx_inputs(s)[0], "x");
	assert_null(onnx_inputs(s)[1]);
	assert_string_equal(onnx_outputs(s)[0], "y");

	if (onnx_run(s, &(struct onnx_arg){ "x", &in }, 1, out, 1, &y[0], &err) < 0)
		fail_msg("%s", err.msg);
	assert_int_equal(onnx_tensor_count(&y[0]), 3);
	assert_float_equal(((const float *)y[0].data)[1], -4.0F, 0.0F);
	/* A result goes in again. */
	assert_int_equal(onnx_run(s, &(struct onnx_arg){ "x", &y[0] }, 1, out, 1, &y[1], &err), 0);
	assert_float_equal(((const float *)y[1].data)[0], 6.0F, 0.0F);
	onnx_tensor_release(o, &y[0]);
	onnx_tensor_release(o, &y[1]);
	onnx_tensor_release(o, &y[1]);

	/* What it does not know is an error with its name, and leaves nothing behind. */
	assert_int_equal(
		onnx_run(s, &(struct onnx_arg){ "z", &in }, 1, out, 1, y, &err), ERR_INPUT);
	assert_non_null(strstr(err.msg, "z"));
	assert_null(y[0].value);

	onnx_stop(s, true);
	assert_int_equal(
		onnx_run(s, &(struct onnx_arg){ "x", &in }, 1, out, 1, y, &err), ERR_CANCELLED);
	onnx_stop(s, false);
	assert_int_equal(onnx_run(s, &(struct onnx_arg){ "x", &in }, 1, out, 1, y, &err), 0);
	onnx_tensor_release(o, &y[0]);
	onnx_session_free(s);
	onnx_free(o);
}

static void test_no_numbers(void **state)
{
	struct onnx *o = runtime();
	struct onnx_session *s = NULL;
	struct err err = ERR_INIT;
	const struct onnx_tensor in = { .type = ONNX_F32, .n_dims = 1, .dims = { 0 } };
	struct onnx_tensor y;

	(void)state;
	assert_int_equal(onnx_session_new(o, network(sizeof(doubling)),
				 &(struct onnx_session_opts){ .threads = 2 }, &s, &err),
		0);
	assert_int_equal(onnx_run(s, &(struct onnx_arg){ "x", &in }, 1,
				 (const char *const[]){ "y" }, 1, &y, &err),
		0);
	assert_int_equal(onnx_tensor_count(&y), 0);
	onnx_tensor_release(o, &y);
	onnx_session_free(s);
	onnx_free(o);
}

static void test_damaged_network(void **state)
{
	struct onnx *o = runtime();
	struct onnx_session *s = NULL;
	struct err err = ERR_INIT;

	(void)state;
	for (size_t n = 0; n < sizeof(doubling); n++) {
		int r = onnx_session_new(
			o, network(n), &(struct onnx_session_opts){ .threads = 1 }, &s, &err);
		/* A beginning may be whole by chance; never is it a crash. */
		if (r == 0)
			onnx_session_free(s);
		else
			assert_int_equal(r, ERR_INPUT);
	}
	onnx_free(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_missing_library),
		cmocka_unit_test(test_other_library),
		WITH_FOLDER(test_no_library_but_text),
	};
	const struct CMUnitTest with_runtime[] = {
		cmocka_unit_test(test_run),
		cmocka_unit_test(test_no_numbers),
		cmocka_unit_test(test_damaged_network),
	};

	return getenv("FADEN_TEST_ONNX") ? cmocka_run_group_tests(with_runtime, NULL, NULL)
					 : cmocka_run_group_tests(tests, NULL, NULL);
}
