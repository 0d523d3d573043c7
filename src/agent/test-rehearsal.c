#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "agent/agents.h"
#include "agent/driver.h"
#include "agent/rehearsal-script.h"
#include "base/mem.h"
#include "os/file.h"

static const char session_a[] = "11111111-1111-4111-8111-111111111111";

struct rig {
	char home[64];
	char *script;
	struct loop *loop;
	bool allows; /* what is asked */
	const char *more; /* tools that begin behind it, a letter each */
	struct agent *agent;
	bool done;
	enum agent_fail fail;
	enum agent_delivery delivery;
	char message[ERR_MSG_MAX];
	struct str streamed;
	struct str answer;
	struct str tools;
	unsigned cancel_on; /* bits by enum agent_event_type */
	bool cancelled;
	int64_t idle_ms;
};

static void sink(void *data, const struct agent_event *ev)
{
	struct rig *rig = data;

	if (ev->type == AGENT_EV_TEXT)
		str_add(&rig->streamed, ev->text);
	if (ev->type == AGENT_EV_BREAK)
		str_adds(&rig->streamed, "\n\n");
	if (ev->type == AGENT_EV_TOOL_BEGIN)
		str_add(&rig->tools, ev->tool);
	if (rig->cancel_on & 1U << ev->type) {
		agent_cancel(rig->agent);
		rig->cancelled = true;
	}
	if (ev->type != AGENT_EV_DONE)
		return;
	assert_false(rig->done);
	rig->done = true;
	rig->fail = ev->result->fail;
	rig->delivery = ev->result->delivery;
	(void)snprintf(rig->message, sizeof(rig->message), "%s", ev->result->message);
	str_add(&rig->answer, ev->result->text);
}

static int set_up(void **state)
{
	struct rig *rig = xcalloc(1, sizeof(*rig));

	(void)snprintf(rig->home, sizeof(rig->home), "/tmp/faden-test-XXXXXX");
	assert_non_null(mkdtemp(rig->home));
	rig->streamed = rig->answer = rig->tools = (struct str)STR_INIT;
	rig->loop = loop_new();
	*state = rig;
	return 0;
}

static int tear_down(void **state)
{
	struct rig *rig = *state;
	AUTO_FREE char *path = xasprintf("%s/projects/-tmp/%s.jsonl", rig->home, session_a);

	agent_free(rig->agent);
	loop_free(rig->loop);
	(void)unlink(path);
	if (rig->script)
		(void)unlink(rig->script);
	AUTO_FREE char *sub = xasprintf("%s/projects/-tmp", rig->home);
	(void)rmdir(sub);
	AUTO_FREE char *projects = xasprintf("%s/projects", rig->home);
	(void)rmdir(projects);
	(void)rmdir(rig->home);
	str_release(&rig->streamed);
	str_release(&rig->answer);
	str_release(&rig->tools);
	free(rig->script);
	free(rig);
	return 0;
}

static void open_agent(struct rig *rig, const char *script)
{
	struct agent_opts opts = { .home = rig->home, .dir = "/tmp", .idle_ms = rig->idle_ms };

	if (script) {
		rig->script = xasprintf("%s/script", rig->home);
		assert_int_equal(file_replace(rig->script, sv_of(script), 0600, NULL), 0);
		opts.script = rig->script;
	}
	assert_int_equal(agent_open(agent_named(SV("rehearsal")), &opts, rig->loop, sink, rig,
				 &rig->agent, NULL),
		0);
}

static void turn_sv(struct rig *rig, struct sv prompt, bool resume)
{
	struct agent_turn t = { .prompt = prompt, .session = session_a, .resume = resume };

	rig->done = false;
	str_clear(&rig->streamed);
	str_clear(&rig->answer);
	assert_int_equal(agent_send(rig->agent, &t, NULL), 0);
	assert_int_equal(loop_run(rig->loop, &rig->done, NULL), 0);
}

static void turn(struct rig *rig, const char *prompt, bool resume)
{
	turn_sv(rig, sv_of(prompt), resume);
}

static void test_remembers_over_a_restart(void **state)
{
	struct rig *rig = *state;

	open_agent(rig, NULL);
	turn(rig, "my cat is called Mia", false);
	assert_int_equal(rig->fail, AGENT_OK);
	assert_string_equal(rig->streamed.buf, rig->answer.buf);
	agent_free(rig->agent);
	rig->agent = NULL;
	open_agent(rig, NULL);
	turn(rig, "What did I say?", true);
	assert_non_null(strstr(rig->answer.buf, "1. my cat is called Mia"));
	turn(rig, "Was habe ich gesagt?", true);
	assert_non_null(strstr(rig->answer.buf, "2. What did I say?"));
}

static void test_unknown_session_is_not_delivered(void **state)
{
	struct rig *rig = *state;

	open_agent(rig, NULL);
	turn(rig, "hello", true);
	assert_int_equal(rig->fail, AGENT_NO_SESSION);
	assert_int_equal(rig->delivery, AGENT_NOT_DELIVERED);
}

static void test_session_id_is_not_taken_twice(void **state)
{
	struct rig *rig = *state;

	open_agent(rig, NULL);
	turn(rig, "hello", false);
	turn(rig, "hello", false);
	assert_int_equal(rig->fail, AGENT_IN_USE);
	assert_int_equal(rig->delivery, AGENT_NOT_DELIVERED);
}

static void test_script_speaks_uses_tools_fails_and_dies(void **state)
{
	struct rig *rig = *state;

	open_agent(rig,
		"# first message\nsay Let me look.\ntool Bash ls => a b\nsay Two\\nfiles.\n"
		"---\nfail rate-limited try later\n---\ndie\n");
	turn(rig, "one", false);
	assert_int_equal(rig->fail, AGENT_OK);
	assert_string_equal(rig->answer.buf, "Let me look.\n\nTwo\nfiles.");
	assert_string_equal(rig->tools.buf, "Bash");
	turn(rig, "two", true);
	assert_int_equal(rig->fail, AGENT_RATE_LIMITED);
	turn(rig, "three", true);
	assert_int_equal(rig->fail, AGENT_DIED);
	turn(rig, "four", true);
	assert_int_equal(rig->fail, AGENT_OK);
	assert_non_null(strstr(rig->answer.buf, "You said: four"));
}

static void test_cancel_keeps_the_conversation(void **state)
{
	struct rig *rig = *state;

	open_agent(rig, "say some words that come in pieces\nwait 60000\nsay never\n---\n");
	rig->cancel_on = 1U << AGENT_EV_TEXT;
	turn(rig, "one", false);
	assert_int_equal(rig->fail, AGENT_CANCELLED);
	rig->cancel_on = 0;
	turn(rig, "what did I say?", true);
	assert_non_null(strstr(rig->answer.buf, "1. one"));
	assert_null(strstr(rig->answer.buf, "interrupted"));
}

/* Nothing of a turn runs once its agent is gone. */
static void cancel_in_an_event_and_free(struct rig *rig, enum agent_event_type type)
{
	const struct agent_turn t = { .prompt = SV("one"), .session = session_a };

	open_agent(rig, "retry 20 busy\nsay never\n---\n");
	rig->cancel_on = 1U << type;
	assert_int_equal(agent_send(rig->agent, &t, NULL), 0);
	while (!rig->cancelled)
		assert_int_equal(loop_step(rig->loop, 1000, NULL), 0);
	agent_free(TAKE_PTR(rig->agent));
	assert_int_equal(loop_step(rig->loop, 100, NULL), 0);
	assert_false(rig->done);
}

static void test_cancel_as_the_session_is_told(void **state)
{
	cancel_in_an_event_and_free(*state, AGENT_EV_SESSION);
}

static void test_cancel_as_a_retry_is_told(void **state)
{
	cancel_in_an_event_and_free(*state, AGENT_EV_RETRY);
}

static void test_cancel_says_what_was_done(void **state)
{
	struct rig *rig = *state;

	open_agent(rig, "tool Bash ls\ntool Write a\ntool Bash pwd\nsay and so on\nwait 60000\n");
	rig->cancel_on = 1U << AGENT_EV_TEXT;
	turn(rig, "one", false);
	assert_int_equal(rig->fail, AGENT_CANCELLED);
	assert_string_equal(rig->message, "cancelled; what was done stands: Bash ×2, Write");
}

/* As an agent does that is told to stop: one call comes to its end all the same, one is ended, of
 * one nothing more is heard. */
static void stop_among_calls(void *data)
{
	struct rig *rig = data;
	static const struct {
		const char *tool;
		bool ends, failed;
	} calls[] = { { "Grep", true, false }, { "Bash", true, true }, { "Write", false, false } };

	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		agent_emit(rig->agent,
			&(struct agent_event){
				.type = AGENT_EV_TOOL_BEGIN, .tool = sv_of(calls[i].tool) });
	agent_cancel(rig->agent);
	for (size_t i = 0; i < ARRAY_LEN(calls); i++)
		if (calls[i].ends)
			agent_emit(rig->agent,
				&(struct agent_event){ .type = AGENT_EV_TOOL_END,
					.tool = sv_of(calls[i].tool),
					.failed = calls[i].failed });
}

static void test_cancel_says_what_was_broken_off(void **state)
{
	struct rig *rig = *state;

	open_agent(rig, "tool Read a\nwait 60000\n");
	(void)loop_add_timer(rig->loop, 50, stop_among_calls, rig);
	turn(rig, "one", false);
	assert_string_equal(rig->message,
		"cancelled; what was done stands: Read, Grep; begun and broken off: Bash, Write");
}

static void test_limit_says_when_it_ends(void **state)
{
	struct rig *rig = *state;

	open_agent(rig, "fail rate-limited 60000 too much\n---\nfail rate-limited enough\n");
	turn(rig, "one", false);
	assert_non_null(strstr(rig->message, "60000 too much (the limit ends at 20"));
	turn(rig, "two", true);
	assert_string_equal(rig->message, "enough (wait until the limit ends)");
}

/* An agent that announced its silence is not silent. */
static void test_retry_is_no_silence(void **state)
{
	struct rig *rig = *state;

	rig->idle_ms = 200;
	open_agent(rig, "retry 400 the model is overloaded\nsay there\n");
	turn(rig, "one", false);
	assert_int_equal(rig->fail, AGENT_OK);
	assert_string_equal(rig->answer.buf, "there");
}

static void test_keeps_the_id_of_a_prompt(void **state)
{
	struct rig *rig = *state;
	static const char id[] = "22222222-2222-4222-8222-222222222222";
	struct agent_turn t = { .prompt = SV("hello"), .prompt_id = id, .session = session_a };
	AUTO_FREE char *path = xasprintf("%s/projects/-tmp/%s.jsonl", rig->home, session_a);
	struct transcript_reader *reader = NULL;
	struct item item;

	open_agent(rig, NULL);
	assert_int_equal(agent_send(rig->agent, &t, NULL), 0);
	assert_int_equal(loop_run(rig->loop, &rig->done, NULL), 0);
	assert_int_equal(transcript_open(path, TRANSCRIPT_CLAUDE, NULL, &reader, NULL), 0);
	assert_int_equal(transcript_next(reader, &item, NULL), 1);
	assert_true(item.flags & ITEM_PROMPT);
	assert_true(sv_is(item.prompt_id, id));
	transcript_close(reader);
}

static void test_nul_is_not_the_end(void **state)
{
	struct rig *rig = *state;

	open_agent(rig, NULL);
	turn_sv(rig, SV("a\0b"), false);
	assert_non_null(strstr(rig->answer.buf,
		"You said: a\xEF\xBF\xBD"
		"b"));
	turn(rig, "what did I say?", true);
	assert_non_null(strstr(rig->answer.buf,
		"1. a\xEF\xBF\xBD"
		"b"));
}

static void test_silence_ends_a_turn(void **state)
{
	struct rig *rig = *state;

	open_agent(rig, "wait 60000\nsay never\n");
	agent_free(rig->agent);
	struct agent_opts opts = {
		.home = rig->home, .dir = "/tmp", .script = rig->script, .idle_ms = 20
	};
	assert_int_equal(agent_open(agent_named(SV("rehearsal")), &opts, rig->loop, sink, rig,
				 &rig->agent, NULL),
		0);
	turn(rig, "one", false);
	assert_int_equal(rig->fail, AGENT_TIMED_OUT);
}

static void answer_late(void *data)
{
	struct rig *rig = data;

	assert_false(rig->done);
	agent_answer(rig->agent, "no such question", AGENT_ALLOW);
	agent_answer(rig->agent, "1", AGENT_DENY);
	agent_answer(rig->agent, "1", AGENT_ALLOW); /* it is answered */
}

/* A person may think as long as they like; afterwards silence counts again. */
static void test_a_question_is_no_silence(void **state)
{
	struct rig *rig = *state;

	open_agent(rig, "ask Bash make\nsay so\n---\nask Bash make\nwait 60000\n");
	agent_free(rig->agent);
	struct agent_opts opts = {
		.home = rig->home, .dir = "/tmp", .script = rig->script, .ask = true, .idle_ms = 50
	};
	assert_int_equal(agent_open(agent_named(SV("rehearsal")), &opts, rig->loop, sink, rig,
				 &rig->agent, NULL),
		0);
	(void)loop_add_timer(rig->loop, 300, answer_late, rig);
	turn(rig, "one", false);
	assert_int_equal(rig->fail, AGENT_OK);
	assert_string_equal(rig->answer.buf, "so");
	(void)loop_add_timer(rig->loop, 300, answer_late, rig);
	turn(rig, "two", true);
	assert_int_equal(rig->fail, AGENT_TIMED_OUT);
}

/* Whoever cancels from within the question gets the turn's end, and no other question. */
static void test_cancel_within_a_question(void **state)
{
	struct rig *rig = *state;

	open_agent(rig, "ask Bash make\nask Bash make\nsay so\n");
	agent_free(rig->agent);
	struct agent_opts opts = {
		.home = rig->home, .dir = "/tmp", .script = rig->script, .ask = true
	};
	assert_int_equal(agent_open(agent_named(SV("rehearsal")), &opts, rig->loop, sink, rig,
				 &rig->agent, NULL),
		0);
	rig->cancel_on = 1U << AGENT_EV_ASK;
	turn(rig, "one", false);
	assert_int_equal(rig->fail, AGENT_CANCELLED);
	assert_string_equal(rig->message, "cancelled");
	assert_string_equal(rig->tools.buf, "Bash");
}

static void begin_behind_a_question(void *data)
{
	struct rig *rig = data;
	const struct agent_event begin = { .type = AGENT_EV_TOOL_BEGIN, .tool = SV("Write") };
	const struct agent_event end = { .type = AGENT_EV_TOOL_END, .tool = SV("Read") };
	const struct agent_event read = { .type = AGENT_EV_TOOL_BEGIN, .tool = SV("Read") };

	if (!agent_asked(rig->agent, SV("1"))) {
		(void)loop_add_timer(rig->loop, 10, begin_behind_a_question, rig);
		return;
	}
	agent_emit(rig->agent, &begin);
	for (const char *tool = rig->more; tool && *tool; tool++)
		agent_emit(rig->agent,
			&(struct agent_event){
				.type = AGENT_EV_TOOL_BEGIN, .tool = sv_make(tool, 1) });
	if (rig->more)
		agent_emit(rig->agent, &end);
	if (rig->allows) {
		agent_emit(rig->agent, &read);
		agent_emit(rig->agent, &end);
		agent_answer(rig->agent, "1", AGENT_ALLOW);
	}
	agent_cancel(rig->agent);
}

/* Several calls in one answer: those behind the one that is asked about have not run. */
static void test_what_waits_behind_a_question_was_not_done(void **state)
{
	struct rig *rig = *state;

	open_agent(rig,
		"ask Bash make\nwait 60000\n---\nask Bash make\nwait 60000\n"
		"---\ntool Read\nask Bash make\nwait 60000\n");
	agent_free(rig->agent);
	struct agent_opts opts = {
		.home = rig->home, .dir = "/tmp", .script = rig->script, .ask = true
	};
	assert_int_equal(agent_open(agent_named(SV("rehearsal")), &opts, rig->loop, sink, rig,
				 &rig->agent, NULL),
		0);
	(void)loop_add_timer(rig->loop, 10, begin_behind_a_question, rig);
	turn(rig, "one", false);
	assert_int_equal(rig->fail, AGENT_CANCELLED);
	assert_string_equal(rig->message, "cancelled");
	rig->allows = true;
	(void)loop_add_timer(rig->loop, 10, begin_behind_a_question, rig);
	turn(rig, "two", true);
	assert_string_equal(rig->message,
		"cancelled; what was done stands: Read, Bash; begun and broken off: Write");
	/* What ran before is not taken for one of those behind it that have no name. */
	rig->allows = false;
	rig->more = "ABCDEFG";
	(void)loop_add_timer(rig->loop, 10, begin_behind_a_question, rig);
	turn(rig, "three", true);
	assert_string_equal(rig->message, "cancelled; what was done stands: Read");
}

static void test_bad_scripts_are_named_by_line(void **state)
{
	(void)state;
	struct steps steps = STEPS_INIT;
	struct err err = ERR_INIT;

	assert_int_equal(script_steps(SV("say hi\nshout\n"), 1, &steps, &err), ERR_INPUT);
	assert_non_null(strstr(err.msg, "line 2"));
	assert_int_equal(script_steps(SV("fail nonsense"), 1, &steps, &err), ERR_INPUT);
	assert_int_equal(script_steps(SV("wait -1"), 1, &steps, &err), ERR_INPUT);
	assert_int_equal(script_steps(SV("ask"), 1, &steps, &err), ERR_INPUT);
	steps_release(&steps);
	assert_int_equal(script_steps(SV("say a\n---\n*\nsay b"), 7, &steps, &err), 0);
	assert_int_equal(steps.list.n, 1);
	assert_string_equal(steps.list.v[0].text, "b");
	steps_release(&steps);
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_remembers_over_a_restart),
		CASE(test_unknown_session_is_not_delivered),
		CASE(test_session_id_is_not_taken_twice),
		CASE(test_script_speaks_uses_tools_fails_and_dies),
		CASE(test_cancel_keeps_the_conversation),
		CASE(test_cancel_as_the_session_is_told),
		CASE(test_cancel_as_a_retry_is_told),
		CASE(test_cancel_says_what_was_done),
		CASE(test_cancel_says_what_was_broken_off),
		CASE(test_limit_says_when_it_ends),
		CASE(test_retry_is_no_silence),
		CASE(test_keeps_the_id_of_a_prompt),
		CASE(test_nul_is_not_the_end),
		CASE(test_silence_ends_a_turn),
		CASE(test_a_question_is_no_silence),
		CASE(test_cancel_within_a_question),
		CASE(test_what_waits_behind_a_question_was_not_done),
		cmocka_unit_test(test_bad_scripts_are_named_by_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
