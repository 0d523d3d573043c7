#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/agents.h"
#include "base/mem.h"
#include "os/file.h"
#include "os/proc.h"

static const char session[] = "11111111-1111-4111-8111-111111111111";

struct rig {
	struct loop *loop;
	struct agent *agent;
	const char *command[4];
	bool done, cancel_on_text;
	enum agent_fail fail;
	enum agent_delivery delivery;
	struct str answer, message;
	int pieces;
};

static void sink(void *data, const struct agent_event *ev)
{
	struct rig *rig = data;

	if (ev->type == AGENT_EV_TEXT) {
		rig->pieces++;
		if (rig->cancel_on_text)
			agent_cancel(rig->agent);
	}
	if (ev->type != AGENT_EV_DONE)
		return;
	rig->done = true;
	rig->fail = ev->result->fail;
	rig->delivery = ev->result->delivery;
	str_add(&rig->answer, ev->result->text);
	str_adds(&rig->message, ev->result->message);
}

static int set_up(void **state)
{
	struct rig *rig = xcalloc(1, sizeof(*rig));

	rig->answer = rig->message = (struct str)STR_INIT;
	rig->loop = loop_new();
	*state = rig;
	return 0;
}

static int tear_down(void **state)
{
	struct rig *rig = *state;

	agent_free(rig->agent);
	loop_free(rig->loop);
	str_release(&rig->answer);
	str_release(&rig->message);
	free(rig);
	return 0;
}

static void run(struct rig *rig, const char *script, struct sv prompt, bool resume)
{
	struct agent_turn turn = { .prompt = prompt, .session = session, .resume = resume };
	struct agent_opts opts = {
		.command = rig->command, .dir = "/", .system_prompt = "be brief"
	};

	if (!rig->command[0]) {
		rig->command[0] = "sh";
		rig->command[1] = "-c";
		rig->command[2] = script;
	}
	assert_int_equal(
		agent_open(agent_named(SV("exec")), &opts, rig->loop, sink, rig, &rig->agent, NULL),
		0);
	assert_int_equal(agent_send(rig->agent, &turn, NULL), 0);
	while (!rig->done)
		assert_int_equal(loop_step(rig->loop, 1000, NULL), 0);
}

static void test_answer_is_standard_output(void **state)
{
	struct rig *rig = *state;

	run(rig, "echo \"$FADEN_SESSION $FADEN_RESUME $FADEN_SYSTEM_PROMPT\"; cat; echo; echo",
		SV("-what?"), true);
	assert_int_equal(rig->fail, AGENT_OK);
	assert_int_equal(rig->delivery, AGENT_DELIVERED);
	assert_string_equal(
		rig->answer.buf, "11111111-1111-4111-8111-111111111111 1 be brief\n-what?");
}

static void test_pieces_hold_whole_characters(void **state)
{
	struct rig *rig = *state;

	run(rig, "printf 'a\\303'; sleep 0.2; printf '\\274\\n\\n'; sleep 0.2; printf 'b\\377'",
		SV("x"), false);
	assert_int_equal(rig->fail, AGENT_OK);
	assert_int_equal(rig->pieces, 3);
	assert_memory_equal(rig->answer.buf, "a\303\274\n\nb", 6);
}

static void test_failure_quotes_standard_error(void **state)
{
	struct rig *rig = *state;

	run(rig, "echo noise >&2; echo 'no key' >&2; exit 3", SV("x"), false);
	assert_int_equal(rig->fail, AGENT_FAILED);
	assert_int_equal(rig->delivery, AGENT_MAYBE_DELIVERED);
	assert_string_equal(rig->message.buf, "sh: no key (exit status 3)");
}

static void test_killed_program_has_died(void **state)
{
	struct rig *rig = *state;

	run(rig, "kill -9 $$", SV("x"), false);
	assert_int_equal(rig->fail, AGENT_DIED);
}

static void test_missing_program_is_named(void **state)
{
	struct rig *rig = *state;

	rig->command[0] = "/nowhere/program";
	run(rig, NULL, SV("x"), false);
	assert_int_equal(rig->fail, AGENT_MISSING);
	assert_int_equal(rig->delivery, AGENT_NOT_DELIVERED);
}

static void test_large_prompt_and_answer(void **state)
{
	struct rig *rig = *state;
	AUTO_STR prompt = STR_INIT;

	while (prompt.len < 3000000)
		str_adds(&prompt, "0123456789abcdef");
	run(rig, "cat", str_sv(&prompt), false);
	assert_int_equal(rig->fail, AGENT_OK);
	assert_true(sv_eq(str_sv(&rig->answer), str_sv(&prompt)));
}

static void test_input_that_nobody_reads(void **state)
{
	struct rig *rig = *state;
	AUTO_STR prompt = STR_INIT;

	while (prompt.len < 300000)
		str_adds(&prompt, "0123456789abcdef");
	run(rig, "exec <&-; echo done", str_sv(&prompt), false);
	assert_int_equal(rig->fail, AGENT_OK);
	assert_string_equal(rig->answer.buf, "done");
}

/* Its child ignores signals and has left the group. */
static void test_cancel_takes_all(void **state)
{
	struct rig *rig = *state;
	AUTO_STR text = STR_INIT;
	char path[] = "/tmp/faden-exec-XXXXXX";
	long long pid = 0;

	(void)close(mkstemp(path));
	AUTO_FREE char *script = xasprintf(
		"setsid sh -c 'trap \"\" INT TERM; echo $$ > %s; while :; do sleep 0.2; done' & "
		"while [ ! -s %s ]; do sleep 0.05; done; echo ready; wait",
		path, path);
	rig->cancel_on_text = true;
	run(rig, script, SV("x"), false);
	assert_int_equal(rig->fail, AGENT_CANCELLED);
	assert_int_equal(file_read(path, 64, &text, NULL), 0);
	assert_true(sv_parse_i64(sv_trim(str_sv(&text)), &pid));
	for (int i = 0; i < 100 && proc_start_time((pid_t)pid); i++)
		(void)usleep(20000);
	assert_int_equal(proc_start_time((pid_t)pid), 0);
	(void)unlink(path);
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_answer_is_standard_output),
		CASE(test_pieces_hold_whole_characters),
		CASE(test_failure_quotes_standard_error),
		CASE(test_killed_program_has_died),
		CASE(test_missing_program_is_named),
		CASE(test_large_prompt_and_answer),
		CASE(test_input_that_nobody_reads),
		CASE(test_cancel_takes_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
