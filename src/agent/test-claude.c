/* The driver of Claude Code against programs that behave as no Claude Code should. */
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/test-driver.h"
#include "os/proc.h"

#define RESULT "{\"type\":\"result\",\"subtype\":\"success\",\"result\":\"fine\"}"
#define SAY(text) "echo '" text "'\n"

/* How long a loop was kept from its timers. */
struct ticks {
	struct loop *loop;
	struct loop_source *timer;
	int64_t last_ms, longest_ms;
};

static int set_up(void **state)
{
	struct driver_rig *rig = driver_rig_new("claude");

	rig->env[1] = "CLAUDECODE=1";
	rig->env[2] = "CLAUDE_CODE_ENTRYPOINT=cli";
	rig->env[3] = "KEPT=yes";
	*state = rig;
	return 0;
}

static void program(struct driver_rig *rig, const char *script)
{
	AUTO_STR text = STR_INIT;

	str_addf(&text, "#!/bin/sh\n%s", script);
	assert_int_equal(file_replace(rig->program, str_sv(&text), 0755, NULL), 0);
}

static void turn_of(struct driver_rig *rig, struct sv prompt, bool resume)
{
	driver_turn(rig,
		&(struct agent_turn){ .prompt = prompt,
			.prompt_id = PROMPT_ID,
			.session = SESSION,
			.resume = resume });
}

static void turn(struct driver_rig *rig, const char *script)
{
	program(rig, script);
	turn_of(rig, SV("the secret prompt"), false);
}

static void read_note(const struct driver_rig *rig, const char *name, struct str *out)
{
	AUTO_FREE char *path = path_join(rig->dir, name);

	assert_int_equal(file_read(path, 1 << 20, out, NULL), 0);
}

static int access_note(const struct driver_rig *rig, const char *name)
{
	AUTO_FREE char *path = xasprintf("%s/%s", rig->dir, name);

	return access(path, F_OK);
}

static void test_arguments_environment_and_input(void **state)
{
	struct driver_rig *rig = *state;
	AUTO_STR first = STR_INIT;
	AUTO_STR second = STR_INIT;
	AUTO_STR env = STR_INIT;
	AUTO_STR in = STR_INIT;
	static const char script[] =
		"printf '%s\\n' \"$@\" > args; env > env; read -r line; echo \"$line\" > in\n" SAY(
			RESULT);

	rig->opts.model = "some-model";
	turn(rig, script);
	expect(rig, AGENT_OK, AGENT_DELIVERED);
	assert_string_equal(rig->answer.buf, "fine");
	read_note(rig, "args", &first);
	read_note(rig, "env", &env);
	read_note(rig, "in", &in);
	assert_non_null(strstr(first.buf, "\n--session-id\n11111111-"));
	assert_non_null(strstr(first.buf, "\n--model\nsome-model\n"));
	assert_non_null(strstr(first.buf, "\n--append-system-prompt\n-be \"brief\"\nü\n"));
	assert_null(strstr(first.buf, "secret"));
	assert_non_null(strstr(in.buf, "\"content\":\"the secret prompt\""));
	assert_non_null(strstr(in.buf, "\"uuid\":\"22222222-2222-4222-8222-222222222222\""));
	assert_non_null(strstr(in.buf, "\"session_id\":\"11111111-1111-4111-8111-111111111111\""));
	assert_null(strstr(env.buf, "CLAUDECODE"));
	assert_null(strstr(env.buf, "CLAUDE_CODE_ENTRYPOINT"));
	assert_non_null(strstr(env.buf, "KEPT=yes"));
	turn_of(rig, SV("x"), true);
	expect(rig, AGENT_OK, AGENT_DELIVERED);
	read_note(rig, "args", &second);
	assert_non_null(strstr(second.buf, "\n--resume\n11111111-"));
	assert_null(strstr(second.buf, "--session-id"));
	assert_string_equal(
		strstr(first.buf, "--append-system"), strstr(second.buf, "--append-system"));
}

static void test_old_version(void **state)
{
	struct driver_rig *rig = *state;

	turn(rig, "echo \"error: unknown option '--verbose'\" >&2; exit 1\n");
	expect(rig, AGENT_TOO_OLD, AGENT_NOT_DELIVERED);
	assert_non_null(strstr(rig->message.buf, "update"));
}

static void test_ends_without_a_word(void **state)
{
	struct driver_rig *rig = *state;

	turn(rig, "read -r line; echo noise; echo 'last words' >&2; exit 0\n");
	expect(rig, AGENT_DIED, AGENT_MAYBE_DELIVERED);
	assert_non_null(strstr(rig->message.buf, "last words"));
	assert_non_null(strstr(rig->message.buf, "exit status 0"));
}

static void test_prompt_that_is_never_read(void **state)
{
	struct driver_rig *rig = *state;
	AUTO_STR prompt = STR_INIT;

	while (prompt.len < 500000)
		str_adds(&prompt, "0123456789abcdef");
	program(rig, "exit 1\n");
	turn_of(rig, str_sv(&prompt), false);
	expect(rig, AGENT_DIED, AGENT_NOT_DELIVERED);
	turn(rig, "exit 1\n");
	expect(rig, AGENT_DIED, AGENT_NOT_DELIVERED);
}

static void test_garbage_before_the_result_is_passed_over(void **state)
{
	struct driver_rig *rig = *state;

	turn(rig,
		"read -r line; printf '\\000\\377{\\n'; head -c 70000000 /dev/zero; echo\n"
		"head -c 300000 /dev/zero >&2\n" SAY(RESULT));
	expect(rig, AGENT_OK, AGENT_DELIVERED);
	assert_string_equal(rig->answer.buf, "fine");
}

static void test_a_process_that_lingers_is_ended(void **state)
{
	struct driver_rig *rig = *state;

	turn(rig, "trap '' INT TERM; read -r line\n" SAY(RESULT) "while :; do sleep 0.1; done\n");
	expect(rig, AGENT_OK, AGENT_DELIVERED);
	assert_true(rig->took_ms < 2 * AGENT_STOP_STEP_MS);
}

static void test_does_not_listen_to_a_cancel(void **state)
{
	struct driver_rig *rig = *state;

	rig->opts.timeout_ms = 300;
	turn(rig, "trap '' INT TERM; echo $$ > pid; while :; do sleep 0.1; done\n");
	expect(rig, AGENT_TIMED_OUT, AGENT_NOT_DELIVERED); /* it is still in the pipe */
	AUTO_STR pid = STR_INIT;
	long long number = 0;
	read_note(rig, "pid", &pid);
	assert_true(sv_parse_i64(sv_trim(str_sv(&pid)), &number));
	assert_int_equal(proc_start_time((pid_t)number), 0);
}

/* What was written after the prompt does not make it unread. */
static void test_cancelled_after_reading(void **state)
{
	struct driver_rig *rig = *state;

	rig->opts.timeout_ms = 500;
	turn(rig, "trap '' INT TERM; head -n 1 > line; while :; do sleep 0.1; done\n");
	expect(rig, AGENT_TIMED_OUT, AGENT_MAYBE_DELIVERED);
}

static void test_two_results(void **state)
{
	struct driver_rig *rig = *state;

	turn(rig, "read -r line\n" SAY(RESULT) SAY(RESULT) SAY(RESULT));
	expect(rig, AGENT_OK, AGENT_DELIVERED);
	assert_string_equal(rig->answer.buf, "fine");
}

/* One that dies with a turn in its pipe is replaced; one that has read the turn is not. */
static void test_kept_process_dies(void **state)
{
	struct driver_rig *rig = *state;

	rig->opts.keep_alive = true;
	turn(rig, "read -r line\n" SAY(RESULT) "sleep 0.3; exit 7\n");
	expect(rig, AGENT_OK, AGENT_DELIVERED);
	program(rig, "read -r line\n" SAY(RESULT) "read -r line; exit 8\n");
	turn_of(rig, SV("again"), true);
	expect(rig, AGENT_OK, AGENT_DELIVERED);
	assert_non_null(strstr(rig->notices.buf, "exit status 7"));
	turn_of(rig, SV("and again"), true);
	expect(rig, AGENT_DIED, AGENT_MAYBE_DELIVERED);
	assert_non_null(strstr(rig->message.buf, "exit status 8"));
}

static const char may_touch[] =
	"{\"type\":\"control_request\",\"request_id\":\"r2\",\"request\":{\"subtype\":"
	"\"can_use_tool\",\"tool_name\":\"Bash\",\"input\":{\"command\":\"touch x\"},"
	"\"tool_use_id\":\"t1\"}}";

/* Whatever it asks gets an answer: it would wait for ever. */
static void test_requests_are_answered(void **state)
{
	static const char other[] = "{\"type\":\"control_request\",\"request_id\":\"r1\","
				    "\"request\":{\"subtype\":\"hook_callback\"}}";
	struct driver_rig *rig = *state;
	AUTO_STR script = STR_INIT;
	AUTO_STR first = STR_INIT;
	AUTO_STR second = STR_INIT;

	str_adds(&script, "note() { read -r line; echo \"$line\" > $1; }\nread -r line\n");
	str_addf(&script, "echo '%s'; note first\necho '%s'; note second\n", other, may_touch);
	str_addf(&script, "echo '%s'\n", RESULT);
	turn(rig, script.buf);
	expect(rig, AGENT_OK, AGENT_DELIVERED);
	read_note(rig, "first", &first);
	read_note(rig, "second", &second);
	assert_string_equal(first.buf,
		"{\"type\":\"control_response\",\"response\":{\"subtype\":\"error\","
		"\"request_id\":\"r1\",\"error\":\"faden does not do this\"}}\n");
	assert_string_equal(second.buf,
		"{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\","
		"\"request_id\":\"r2\",\"response\":{\"behavior\":\"deny\","
		"\"message\":\"The user did not allow this.\"}}}\n");
}

/* Between two turns nobody is there to decide. */
static void test_a_question_between_turns_is_denied(void **state)
{
	struct driver_rig *rig = *state;
	AUTO_STR script = STR_INIT;
	AUTO_STR late = STR_INIT;

	rig->opts.keep_alive = rig->opts.ask = true;
	str_addf(&script, "read -r line; echo '%s'; sleep 0.2; echo '%s'\n", RESULT, may_touch);
	str_addf(&script, "read -r line; echo \"$line\" > late; read -r line; echo '%s'\n", RESULT);
	str_adds(&script, "read -r line\n");
	turn(rig, script.buf);
	expect(rig, AGENT_OK, AGENT_DELIVERED);
	for (int i = 0; i < 100 && access_note(rig, "late") != 0; i++)
		assert_int_equal(loop_step(rig->loop, 20, NULL), 0);
	turn_of(rig, SV("again"), true);
	expect(rig, AGENT_OK, AGENT_DELIVERED);
	read_note(rig, "late", &late);
	assert_non_null(strstr(late.buf, "\"behavior\":\"deny\""));
}

static void tick(void *data)
{
	struct ticks *t = data;
	int64_t now = clock_age_ms(NULL);

	if (now - t->last_ms > t->longest_ms)
		t->longest_ms = now - t->last_ms;
	t->last_ms = now;
	t->timer = loop_add_timer(t->loop, 10, tick, t);
}

/* A process that does not want to go keeps nobody but its successor waiting. */
static void test_the_loop_goes_on_while_a_process_ends(void **state)
{
	static const char stubborn[] =
		"trap '' TERM; read -r line\n" SAY(RESULT) "while :; do sleep 0.1; done\n";
	struct driver_rig *rig = *state;
	struct ticks t = { .loop = rig->loop, .last_ms = clock_age_ms(NULL) };

	rig->opts.keep_alive = true;
	rig->opts.stop_ms = 2000;
	turn(rig, stubborn);
	expect(rig, AGENT_OK, AGENT_DELIVERED);
	program(rig, "read -r line\n" SAY(RESULT) "read -r line\n");
	tick(&t);
	driver_turn(rig, &(struct agent_turn){ .prompt = SV("elsewhere"), .session = PROMPT_ID });
	expect(rig, AGENT_OK, AGENT_DELIVERED);
	assert_true(rig->took_ms >= 2000);
	assert_true(t.longest_ms < 1000);
	assert_int_equal(rig->notices.len, 0);

	/* Who does not want to wait for it need not. */
	program(rig, stubborn);
	turn_of(rig, SV("back"), true);
	rig->cancels = 1;
	driver_turn(rig, &(struct agent_turn){ .prompt = SV("elsewhere"), .session = PROMPT_ID });
	expect(rig, AGENT_CANCELLED, AGENT_NOT_DELIVERED);
	assert_true(rig->took_ms < 1000);
	loop_remove(rig->loop, t.timer);
}

static void test_bad_input(void **state)
{
	struct driver_rig *rig = *state;
	struct agent_turn bad = { .prompt = SV("x"), .session = "--help", .resume = true };
	struct err err = ERR_INIT;
	AUTO_STR prompt = STR_INIT;

	program(rig, "exit 0\n");
	assert_int_equal(agent_open(agent_named(SV("claude")), &rig->opts, rig->loop, driver_heard,
				 rig, &rig->agent, NULL),
		0);
	assert_int_equal(agent_send(rig->agent, &bad, &err), ERR_INPUT);
	while (prompt.len <= 128 * 1024)
		str_adds(&prompt, "too long ");
	rig->opts.system_prompt = prompt.buf;
	struct agent *none = NULL;
	assert_int_equal(agent_open(agent_named(SV("claude")), &rig->opts, rig->loop, driver_heard,
				 rig, &none, &err),
		ERR_LIMIT);
}

/* Who ends with its agent does not wait for it, and does not leave it behind either. */
static void test_one_that_takes_its_time_is_seen_off(void **state)
{
	struct driver_rig *rig = *state;
	AUTO_FREE char *go = xasprintf("%s/go", rig->dir);
	AUTO_STR pid = STR_INIT;

	rig->opts.keep_alive = rig->opts.see_off = true;
	/* Were it waited for, it would be killed for want of the word to go. */
	turn(rig,
		"echo $$ > pid; read -r line\n" SAY(RESULT) "cat > rest\n"
							    "until [ -e go ]; do sleep 0.02; done; "
							    "echo a last word; echo > went\n");
	expect(rig, AGENT_OK, AGENT_DELIVERED);
	agent_free(TAKE_PTR(rig->agent));
	assert_int_not_equal(access_note(rig, "went"), 0);
	read_note(rig, "pid", &pid);
	assert_int_equal(kill((pid_t)strtol(pid.buf, NULL, 10), 0), 0);
	assert_int_equal(file_replace(go, SV(""), 0644, NULL), 0);
	for (int i = 0; i < 1000 && access_note(rig, "went") != 0; i++)
		(void)usleep(20000);
	assert_int_equal(access_note(rig, "went"), 0);
}

static void test_folder_is_gone(void **state)
{
	struct driver_rig *rig = *state;

	rig->opts.dir = "/nowhere/at/all";
	turn(rig, "exit 0\n");
	expect(rig, AGENT_FAILED, AGENT_NOT_DELIVERED);
	assert_non_null(strstr(rig->message.buf, "/nowhere/at/all"));
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, set_up, driver_rig_free)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_arguments_environment_and_input),
		CASE(test_old_version),
		CASE(test_ends_without_a_word),
		CASE(test_prompt_that_is_never_read),
		CASE(test_garbage_before_the_result_is_passed_over),
		CASE(test_a_process_that_lingers_is_ended),
		CASE(test_does_not_listen_to_a_cancel),
		CASE(test_cancelled_after_reading),
		CASE(test_two_results),
		CASE(test_kept_process_dies),
		CASE(test_requests_are_answered),
		CASE(test_a_question_between_turns_is_denied),
		CASE(test_the_loop_goes_on_while_a_process_ends),
		CASE(test_bad_input),
		CASE(test_one_that_takes_its_time_is_seen_off),
		CASE(test_folder_is_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
