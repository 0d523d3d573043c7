#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/install.h"
#include "os/test-temp.h"

/* Names, sums and needs are such that everything can be installed. */
static void test_table(void **state)
{
	size_t n;
	const struct model_def *table = model_table(&n);

	(void)state;
	for (size_t i = 0; i < n; i++) {
		const struct model_def *d = &table[i];
		assert_ptr_equal(model_find(sv_of(d->name)), d);
		assert_non_null(d->title);
		if (d->package) {
			assert_non_null(d->version);
			assert_non_null(d->licence);
			assert_int_equal(strlen(d->package_sha256), 64);
			assert_true(d->package_size > 0 && model_size(d) > 0);
		}
		for (size_t k = 0; k < MODEL_FILES_MAX && d->files[k].name; k++) {
			assert_null(strchr(d->files[k].name, '/'));
			assert_int_equal(strlen(d->files[k].sha256), 64);
		}
		/* What is needed stands before, so there are no circles. */
		for (size_t k = 0; k < MODEL_NEEDS_MAX && d->needs[k]; k++) {
			const struct model_def *need = model_find(sv_of(d->needs[k]));
			assert_non_null(need);
			assert_true(need < d);
		}
	}
	assert_null(model_find(SV("whisper")));
}

static void test_plan(void **state)
{
	struct models *m = models_new(*state);
	const struct model_def *wanted[] = { model_find(SV("whisper-base")),
		model_find(SV("voice")), model_find(SV("whisper-base")) };
	const struct model_def *plan[MODEL_PLAN_MAX];

	assert_int_equal(model_plan(m, wanted, 3, false, plan), 4);
	assert_string_equal(plan[0]->name, "runtime");
	assert_string_equal(plan[1]->name, "whisper-base");
	assert_string_equal(plan[2]->name, "wake");
	assert_string_equal(plan[3]->name, "speech");
	models_free(m);
}

/* A file that is not what it was is an error that says how to mend it. */
static void test_missing_and_damaged(void **state)
{
	struct models *m = models_new(*state);
	const struct model_def *def = model_find(SV("whisper-base"));
	struct model_bytes bytes = { .mapped = NULL };
	struct onnx_session *s;
	struct onnx *o;
	struct err err = ERR_INIT;

	assert_int_equal(models_state(m, def, false), MODEL_MISSING);
	assert_int_equal(models_map(m, "whisper-base", "vocab.json", &bytes, &err), ERR_NOTFOUND);
	assert_non_null(strstr(err.msg, "faden model install whisper-base"));
	assert_int_equal(models_look(m, "whisper-base", false, &err), ERR_NOTFOUND);
	assert_non_null(strstr(err.msg, "faden model install whisper-base"));

	AUTO_FREE char *empty = temp_write(*state, "whisper-base/vocab.json", "");
	assert_int_equal(models_state(m, def, false), MODEL_DAMAGED);
	assert_int_equal(models_map(m, "whisper-base", "vocab.json", &bytes, &err), ERR_INPUT);
	assert_non_null(strstr(err.msg, "0 bytes instead of 1036584"));
	assert_non_null(strstr(err.msg, "faden model install whisper-base"));

	/* As long as it should be. */
	AUTO_STR text = STR_INIT;
	while (text.len < 3776)
		str_addc(&text, 'x');
	AUTO_FREE char *other = temp_write(*state, "whisper-base/generation.json", text.buf);
	assert_int_equal(models_map(m, "whisper-base", "generation.json", &bytes, &err), ERR_INPUT);
	assert_non_null(strstr(err.msg, "check sum"));
	/* Of which a part is not there: damaged, too. */
	assert_int_equal(models_map(m, "whisper-base", "encoder.onnx", &bytes, &err), ERR_INPUT);
	assert_non_null(strstr(err.msg, "encoder.onnx is missing"));
	assert_non_null(strstr(err.msg, "'faden model install whisper-base' mends it"));

	AUTO_FREE char *library = temp_write(*state, "runtime/libonnxruntime.so",
		"\x7f"
		"ELF");
	assert_int_equal(models_look(m, "runtime", false, &err), ERR_INPUT);
	assert_non_null(strstr(err.msg, "4 bytes instead of"));
	assert_int_equal(models_session(m, "speech", "silero.onnx",
				 &(struct onnx_session_opts){ .threads = 1 }, &s, &err),
		ERR_INPUT);
	assert_int_equal(models_runtime(m, &o, &err), ERR_INPUT);
	assert_non_null(strstr(err.msg, "faden model install runtime"));
	model_bytes_release(&bytes);
	models_free(m);
}

/* What others need stays. */
static void test_remove(void **state)
{
	struct models *m = models_new(*state);
	const struct model_def *runtime = model_find(SV("runtime"));
	struct err err = ERR_INIT;
	AUTO_FREE char *a = temp_write(*state, "runtime/libonnxruntime.so", "x");
	AUTO_FREE char *b = temp_write(*state, "speech/silero.onnx", "x");
	AUTO_FREE char *c = temp_write(*state, "wake/mel.onnx", "x");

	assert_int_equal(model_remove(m, model_find(SV("wake")), &err), 1);
	assert_int_equal(models_state(m, runtime, false), MODEL_DAMAGED);
	assert_int_equal(model_remove(m, model_find(SV("wake")), &err), 0);
	assert_int_equal(model_remove(m, model_find(SV("voice")), &err), 2);
	assert_int_equal(models_state(m, runtime, false), MODEL_MISSING);
	models_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		WITH_FOLDER(test_plan),
		WITH_FOLDER(test_missing_and_damaged),
		WITH_FOLDER(test_remove),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
