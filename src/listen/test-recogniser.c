#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "listen/recogniser.h"

struct rig {
	struct loop *loop;
	struct recogniser *r;
	const char *script; /* of the engine, a shell's; NULL: there is none */
	_Atomic int opened;
	_Atomic bool loads; /* it takes as long as this holds */
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
	while (rig->loads)
		(void)usleep(1000);
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

static struct endpoint_recording speech(void)
{
	struct endpoint_recording some = { .samples = xcalloc(16000, sizeof(int16_t)), .n = 16000 };

	/* Noise is speech to who judges by loudness, if there is silence around it. */
	for (unsigned i = 5000, x = 1; i < 11000; i++, x = x * 1103515245 + 12345)
		some.samples[i] = (int16_t)((int)(x >> 16 & 0x3fff) - 0x2000);
	return some;
}

static void run(struct rig *rig, uint64_t id)
{
	struct endpoint_recording some = speech();

	recogniser_run(rig->r, id, &some);
	assert_null(some.samples);
}

static void run_paused(struct rig *rig, uint64_t id)
{
	struct endpoint_recording some = speech();

	some.as_paused = true;
	recogniser_run(rig->r, id, &some);
}

static void ahead(struct rig *rig)
{
	struct endpoint_recording some = speech();

	recogniser_ahead(rig->r, &some);
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

/* What was recognised in a pause is the text if nobody spoke on, and nothing if somebody did. */
static void test_ahead(void **state)
{
	struct rig *rig = *state;
	char path[] = "/tmp/test-recogniser-XXXXXX", script[200];
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	/* Each run has a number: that of the runs so far. */
	(void)snprintf(script, sizeof(script), "cat >/dev/null; echo >>%s; echo $(($(wc -l <%s)))",
		path, path);
	rig->script = script;
	ahead(rig);
	/* Until it is at work, something that is newer would keep it from that. */
	while (lseek(fd, 0, SEEK_END) == 0)
		assert_int_equal(loop_step(rig->loop, 1, NULL), 0);
	run_paused(rig, 1);
	wait(rig);
	assert_string_equal(rig->told.buf, "1:1");
	run_paused(rig, 2); /* it had that one already */
	wait(rig);
	assert_string_equal(rig->told.buf, "1:1 2:2");
	ahead(rig);
	while (lseek(fd, 0, SEEK_END) == 2)
		assert_int_equal(loop_step(rig->loop, 1, NULL), 0);
	run(rig, 3);
	wait(rig);
	assert_string_equal(rig->told.buf, "1:1 2:2 3:4");
	/* It cannot: that is told when it is wanted. */
	rig->script = NULL;
	str_clear(&rig->told);
	assert_int_equal(unlink(path), 0);
	(void)close(fd);
	recogniser_free(rig->r);
	rig->r = recogniser_new(rig->loop, &ops, rig, NULL);
	ahead(rig);
	run_paused(rig, 4);
	wait(rig);
	assert_string_equal(rig->told.buf, "4!no model");
}

/* Somebody who pauses often while the models are loaded does not fill the queue; and the last pause
 * is the one that counts. */
static void test_many_pauses(void **state)
{
	enum { MANY = 40 };
	struct rig *rig = *state;
	char path[] = "/tmp/test-recogniser-XXXXXX", script[200];
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	(void)snprintf(script, sizeof(script), "cat >/dev/null; echo >>%s; echo $(($(wc -l <%s)))",
		path, path);
	rig->script = script;
	rig->loads = true;
	recogniser_warm(rig->r);
	for (int i = 0; i < MANY; i++)
		ahead(rig);
	run_paused(rig, 1);
	rig->loads = false;
	assert_string_equal(rig->told.buf, "");
	wait(rig);
	assert_string_equal(rig->told.buf, "1:1");
	ahead(rig);
	while (lseek(fd, 0, SEEK_END) == 1)
		assert_int_equal(loop_step(rig->loop, 1, NULL), 0);
	ahead(rig);
	ahead(rig);
	while (lseek(fd, 0, SEEK_END) == 2)
		assert_int_equal(loop_step(rig->loop, 1, NULL), 0);
	run_paused(rig, 2);
	wait(rig);
	assert_string_equal(rig->told.buf, "1:1 2:3");
	assert_int_equal(unlink(path), 0);
	(void)close(fd);
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
		T(test_ahead),
		T(test_many_pauses),
		T(test_freed_at_work),
	};
#undef T

	return cmocka_run_group_tests(tests, NULL, NULL);
}
