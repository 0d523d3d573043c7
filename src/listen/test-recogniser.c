#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "listen/recogniser.h"

struct rig {
	struct loop *loop;
	struct recogniser *r;
	const char *script; /* of the engine, a shell's; NULL: there is none */
	_Atomic int opened;
	struct str told; /* "1:text", "2!why" */
	bool over;
};

static int on_open(void *data, struct stt **ret, struct err *reterr)
{
	static const char *const environment[] = { "PATH=/usr/bin:/bin", NULL };
	struct rig *rig = data;
	const char *const command[] = { "/bin/sh", "-c", rig->script, NULL };
	const struct stt_opts opts = { .engine = "exec", .command = command, .envp = environment };

	rig->opened++;
	return rig->script ? stt_new(&opts, ret, reterr)
			   : err_set(reterr, ERR_NOTFOUND, "no model");
}

static void on_done(void *data, uint64_t id, size_t samples, int r, const struct stt_result *result,
	const struct err *err)
{
	struct rig *rig = data;

	assert_int_equal(samples, id ? 16000 : 0);
	str_addf(&rig->told, "%s%llu%s%s", rig->told.len ? " " : "", (unsigned long long)id,
		r < 0 ? "!" : ":",
		r == 0			     ? result->text.buf
			: r == ERR_CANCELLED ? ""
					     : err->msg);
	rig->over = true;
}

static const struct recogniser_ops ops = { on_open, on_done };

static int setup(void **state)
{
	struct rig *rig = xcalloc(1, sizeof(*rig));

	rig->loop = loop_new();
	rig->told = (struct str)STR_INIT;
	rig->r = recogniser_new(rig->loop, &ops, rig, NULL);
	assert_non_null(rig->r);
	*state = rig;
	return 0;
}

static int teardown(void **state)
{
	struct rig *rig = *state;

	recogniser_free(rig->r);
	loop_free(rig->loop);
	str_release(&rig->told);
	free(rig);
	return 0;
}

static void run(struct rig *rig, uint64_t id)
{
	struct endpoint_recording some = { .samples = xcalloc(16000, sizeof(int16_t)), .n = 16000 };

	/* Noise is speech to who judges by loudness, if there is silence around it. */
	for (unsigned i = 5000, x = 1; i < 11000; i++, x = x * 1103515245 + 12345)
		some.samples[i] = (int16_t)((int)(x >> 16 & 0x3fff) - 0x2000);
	recogniser_run(rig->r, id, &some);
	assert_null(some.samples);
}

static void wait(struct rig *rig)
{
	rig->over = false;
	assert_int_equal(loop_run(rig->loop, &rig->over, NULL), 0);
}

/* Loaded once, ahead where somebody says so; in order. */
static void test_in_order(void **state)
{
	struct rig *rig = *state;

	rig->script = "cat >/dev/null; echo hello";
	recogniser_warm(rig->r);
	run(rig, 1);
	run(rig, 2);
	wait(rig);
	if (!strchr(rig->told.buf, '2'))
		wait(rig);
	assert_string_equal(rig->told.buf, "1:hello 2:hello");
	assert_int_equal(rig->opened, 1);
}

/* One that died is begun anew, and one that is not there is told with what it was wanted for. */
static void test_failures(void **state)
{
	struct rig *rig = *state;

	recogniser_warm(rig->r);
	wait(rig);
	run(rig, 1);
	wait(rig);
	assert_string_equal(rig->told.buf, "0!no model 1!no model");
	rig->script = "cat >/dev/null; exit 3";
	run(rig, 2);
	wait(rig);
	rig->script = "cat >/dev/null; echo there";
	str_clear(&rig->told);
	run(rig, 3);
	wait(rig);
	assert_string_equal(rig->told.buf, "3:there");
	assert_int_equal(rig->opened, 4);
}

/* Who leaves does not wait for an engine that hangs; each is told. */
static void test_freed_at_work(void **state)
{
	struct rig *rig = *state;

	rig->script = "exec sleep 60";
	run(rig, 1);
	run(rig, 2);
	while (rig->opened == 0)
		assert_int_equal(loop_step(rig->loop, 1, NULL), 0);
	recogniser_free(TAKE_PTR(rig->r));
	assert_true(strstr(rig->told.buf, "1!") && strstr(rig->told.buf, "2!"));
	recogniser_free(NULL);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(test_in_order),
		T(test_failures),
		T(test_freed_at_work),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
