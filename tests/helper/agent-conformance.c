/*
 * One suite for every driver of the agent interface:
 *
 *	agent-conformance KIND [PROGRAM]
 *
 * runs in the current folder and environment and prints TAP. What the agent is told to do is
 * spelt for the model behind it (tests/helper/modelserver/script.py); the rehearsal agent gets
 * the same as a script.
 */
#include "agent-rig.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/uuid.h"
#include "os/file.h"
#include "transcript/home.h"

/* ---- conversations ---- */

/* Where the session is; NULL: nowhere yet. */
static char *session_file(void)
{
	const char *below = rig.kind->home_default;
	AUTO_FREE char *root =
		below ? xasprintf("%s/%s", getenv("HOME"), below) : xstrdup(rig.here);
	const struct transcript_home home = {
		.agent = rig.kind->name, .format = rig.kind->format, .root = root
	};
	char *path = NULL;

	assert_int_equal(transcript_find(&home, sv_of(rig.session), &path, NULL), 0);
	return path;
}

static void test_first_turn(void **state)
{
	char asked[128];

	(void)state;
	(void)snprintf(asked, sizeof(asked), "%s", rig.session);
	turn(order("[[say: good morning]]", "say good morning"), false);
	expect_ok();
	assert_string_equal(rig.answer.buf, "good morning");
	assert_string_equal(rig.streamed.buf, "good morning");
	assert_int_equal(rig.sessions, 1);
	if (!rig.kind->can.own_ids)
		assert_string_equal(rig.session, asked);
	if (!is_rehearsal())
		assert_true(rig.usage.output > 0 && rig.usage.output < 1000);
}

static void test_resume(void **state)
{
	char first[128];

	(void)state;
	turn(order("my cat is called Tom", ""), false);
	expect_ok();
	(void)snprintf(first, sizeof(first), "%s", rig.session);
	open_agent();
	turn("what did I say?", true);
	expect_ok();
	expect_has(&rig.answer, "my cat is called Tom");
	assert_string_equal(rig.session, first);
}

static void test_fresh_start(void **state)
{
	(void)state;
	turn(order("my dog is called Rex", ""), false);
	expect_ok();
	open_agent();
	uuid_new(rig.session);
	turn("what did I say?", false);
	expect_ok();
	assert_false(sv_find(str_sv(&rig.answer), SV("Rex"), NULL));
}

static void test_unknown_id(void **state)
{
	(void)state;
	(void)order("", "");
	turn("hello", true);
	expect_fail(AGENT_NO_SESSION, AGENT_NOT_DELIVERED);
	turn("hello", false);
	expect_ok();
}

/* Whatever becomes of the prompt, the id it was sent with leads to it. */
static void test_prompt_id(void **state)
{
	struct transcript_reader *reader = NULL;
	struct item item;
	char id[UUID_TEXT];
	int found = 0;

	(void)state;
	if (!rig.kind->can.prompt_ids)
		skip();
	uuid_new(id);
	rig.prompt_id = id;
	turn(order("[[say: one]]", "say one"), false);
	expect_ok();
	rig.prompt_id = NULL;
	turn(order("[[say: two]]", "say two"), true);
	expect_ok();
	agent_free(rig.agent); /* Claude Code writes some of it when it ends */
	rig.agent = NULL;
	AUTO_FREE char *path = session_file();
	assert_non_null(path);
	assert_int_equal(transcript_open(path, rig.kind->format, NULL, &reader, NULL), 0);
	while (transcript_next(reader, &item, NULL) > 0)
		found += sv_is(item.prompt_id, id);
	transcript_close(reader);
	assert_int_equal(found, 1);
}

/* An id that the agent makes is told before the prompt is sent: whoever is cut off there knows that
 * nothing has arrived. */
static void test_session_before_prompt(void **state)
{
	(void)state;
	if (!rig.kind->can.own_ids || !rig.kind->can.prompt_ids)
		skip();
	rig.cancel_on = AGENT_EV_SESSION;
	turn("[[say: never]]", false);
	expect_fail(AGENT_CANCELLED, AGENT_NOT_DELIVERED);
	assert_int_equal(rig.sessions, 1);
	assert_null(session_file());
}

static void test_id_in_use(void **state)
{
	(void)state;
	if (rig.kind->can.own_ids)
		skip();
	(void)order("", "");
	turn("hello", false);
	expect_ok();
	open_agent();
	turn("hello again", false);
	expect_fail(AGENT_IN_USE, AGENT_NOT_DELIVERED);
}

/* Codex keeps a lock; Claude Code does not. */
static void test_second_writer(void **state)
{
	struct rig other = { .message = STR_INIT,
		.answer = STR_INIT,
		.streamed = STR_INIT,
		.tools = STR_INIT,
		.notices = STR_INIT,
		.asks = STR_INIT,
		.deeds = STR_INIT,
		.denied = STR_INIT,
		.cancel_on = AGENT_EV_DONE };
	struct agent_turn again = {
		.prompt = SV("me too"), .session = rig.session, .resume = true
	};

	(void)state;
	if (strcmp(rig.kind->name, "codex") != 0)
		skip();
	rig.cancel_on = AGENT_EV_DONE;
	begin(SV("[[say: one]][[slow: 300, 20]]"), false, false);
	step_until(has_spoken, TURN_WAIT_MS);
	assert_int_equal(
		agent_open(rig.kind, &rig.opts, rig.loop, rig_sink, &other, &other.agent, NULL), 0);
	assert_int_equal(agent_send(other.agent, &again, NULL), 0);
	step_until(is_done, TURN_WAIT_MS);
	expect_ok();
	assert_true(other.done);
	assert_int_equal(other.fail, AGENT_IN_USE);
	assert_int_equal(other.delivery, AGENT_NOT_DELIVERED);
	agent_free(other.agent);
	str_release(&other.message);
}

static void test_tools(void **state)
{
	(void)state;
	turn(order("[[say: let me see]][[bash: echo one-two]][[say: there it is]]",
		     "say let me see\ntool Bash echo one-two => one-two\nsay there it is"),
		false);
	expect_ok();
	assert_string_equal(rig.answer.buf, "let me see\n\nthere it is");
	assert_string_equal(rig.streamed.buf, rig.answer.buf);
	assert_int_equal(rig.begun, 1);
	assert_int_equal(rig.ended, 1);
	expect_has(&rig.tools, "echo one-two");
}

/* ---- prompts ---- */

static void test_prompt_dash(void **state)
{
	(void)state;
	(void)order("", "");
	turn("--help me", false);
	expect_ok();
	expect_has(&rig.answer, "--help me");
}

static void test_prompt_empty(void **state)
{
	struct agent_turn empty = { .prompt = SV(" \n"), .session = rig.session };
	struct err err = ERR_INIT;

	(void)state;
	open_agent();
	assert_int_equal(agent_send(rig.agent, &empty, &err), ERR_INPUT);
	/* Nothing runs now that would be in the way. */
	(void)order("", "");
	turn("hello", false);
	expect_ok();
}

static void test_prompt_unicode(void **state)
{
	static const char odd[] = "grüße 😀 e\xcc\x81 \x01 nul:\0 bad:\xff end";

	(void)state;
	(void)order("", "");
	/* The rehearsal agent keeps what was said up to a NUL. */
	size_t nul = strlen(odd);
	begin(sv_make(odd, is_rehearsal() ? nul : sizeof(odd) - 1), false, false);
	step_until(is_done, TURN_WAIT_MS);
	expect_ok();
	expect_has(&rig.answer, "grüße 😀 e\xcc\x81");
	if (!is_rehearsal())
		assert_true(sv_find(str_sv(&rig.answer), SV(" end"), NULL));
}

static void test_prompt_million(void **state)
{
	AUTO_STR prompt = STR_INIT;

	(void)state;
	(void)order("", "");
	while (prompt.len < MILLION)
		str_addf(&prompt, "line %zu of a long prompt\n", prompt.len);
	str_adds(&prompt, "the very last words");
	begin(str_sv(&prompt), false, false);
	step_until(is_done, TURN_WAIT_MS);
	expect_ok();
	expect_has(&rig.answer, "the very last words");
}

/* ---- failures ---- */

static void test_errors(void **state)
{
	static const struct {
		const char *model, *rehearsal;
		enum agent_fail fail;
	} cases[] = {
		{ "[[error: 400 no such luck]]", "fail failed no such luck", AGENT_FAILED },
		{ "[[error: 401 who are you]]", "fail not-logged-in who", AGENT_NOT_LOGGED_IN },
		{ "[[error: 429 retry-after=1 slow down]]", "fail rate-limited slow",
			AGENT_RATE_LIMITED },
		{ "[[error: 529 busy]]", "fail failed busy", AGENT_FAILED },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		uuid_new(rig.session);
		turn(order(cases[i].model, cases[i].rehearsal), false);
		expect_fail(cases[i].fail, AGENT_DELIVERED);
		assert_int_equal(rig.answer.len, 0);
	}
	turn(order("still there?", ""), true);
	expect_ok();
}

static void test_limit_end(void **state)
{
	(void)state;
	if (strcmp(rig.kind->name, "claude") != 0)
		skip();
	turn("[[error: 429 retry-after=2 slow down]]", false);
	expect_fail(AGENT_RATE_LIMITED, AGENT_DELIVERED);
	int64_t left = rig.limit_ends_ms - clock_wall_ms(NULL);
	assert_true(left > 0 && left <= 2000);
	assert_true(rig.retries > 0);
}

static void test_context_full(void **state)
{
	(void)state;
	turn(order("[[error: 400 prompt is too long: 210000 tokens > 200000 maximum]]",
		     "fail context-full full"),
		false);
	expect_fail(AGENT_CONTEXT_FULL, AGENT_DELIVERED);
}

static void test_missing(void **state)
{
	(void)state;
	if (is_rehearsal())
		skip();
	rig.opts.program = "/nowhere/agent";
	turn("hello", false);
	expect_fail(AGENT_MISSING, AGENT_NOT_DELIVERED);
}

/* ---- cancel, time, death ---- */

static void test_cancel_in_text(void **state)
{
	(void)state;
	rig.cancel_on = AGENT_EV_TEXT;
	turn(order("[[say: one]][[slow: 200, 60]]", "say one\nwait 60000\nsay two"), false);
	expect_fail(AGENT_CANCELLED, AGENT_DELIVERED);
	assert_true(rig.took_ms < SOON_MS);
	rig.cancel_on = AGENT_EV_DONE;
	turn(order("still there?", ""), true);
	expect_ok();
}

/* One that stays for the next turn is stopped in no time. */
static void test_cancel_quickly(void **state)
{
	(void)state;
	if (!rig.kind->can.keep_alive)
		skip();
	rig.opts.keep_alive = true;
	begin(SV("[[say: one]][[slow: 200, 60]]"), false, false);
	step_until(has_spoken, TURN_WAIT_MS);
	int64_t from = clock_age_ms(NULL);
	agent_cancel(rig.agent);
	step_until(is_done, SOON_MS);
	expect_fail(AGENT_CANCELLED, AGENT_DELIVERED);
	assert_in_range(clock_age_ms(NULL) - from, 0, QUICK_MS);
}

static void test_cancel_at_once(void **state)
{
	(void)state;
	begin(sv_of(order("[[slow: 200, 60]]", "wait 60000")), false, false);
	agent_cancel(rig.agent);
	step_until(is_done, SOON_MS);
	assert_int_equal(rig.fail, AGENT_CANCELLED);
	/* The next turn may begin. */
	uuid_new(rig.session);
	turn(order("hello", ""), false);
	expect_ok();
}

static void test_cancel_in_tool(void **state)
{
	(void)state;
	begin_tool();
	agent_cancel(rig.agent);
	step_until(is_done, TURN_WAIT_MS);
	expect_fail(AGENT_CANCELLED, AGENT_DELIVERED);
	step_until(tool_gone, SOON_MS);
	turn("still there?", true);
	expect_ok();
}

static void test_cancel_hard(void **state)
{
	(void)state;
	begin_tool();
	agent_cancel(rig.agent);
	agent_cancel(rig.agent);
	agent_cancel(rig.agent);
	step_until(is_done, SOON_MS);
	expect_fail(AGENT_CANCELLED, AGENT_DELIVERED);
	step_until(tool_gone, SOON_MS);
}

static void test_free_in_tool(void **state)
{
	(void)state;
	begin_tool();
	agent_free(rig.agent);
	rig.agent = NULL;
	step_until(tool_gone, SOON_MS);
}

/* Claude Code writes lines down a moment after it acts on them. */
static bool tool_is_kept(void)
{
	AUTO_FREE char *path = session_file();
	AUTO_STR text = STR_INIT;

	return path && file_read(path, 1 << 20, &text, NULL) == 0 &&
		sv_find(str_sv(&text), SV("tool.pid"), NULL);
}

static void test_killed(void **state)
{
	(void)state;
	begin_tool();
	step_until(tool_is_kept, TURN_WAIT_MS);
	assert_int_equal(kill(agent_pid(), SIGKILL), 0);
	step_until(is_done, SOON_MS);
	expect_fail(AGENT_DIED, AGENT_DELIVERED);
	expect_has(&rig.message, "signal 9");
	step_until(tool_gone, SOON_MS);
	turn("still there?", true);
	expect_ok();
}

static void test_turn_time(void **state)
{
	(void)state;
	rig.opts.timeout_ms = is_rehearsal() ? 500 : HANG_MS;
	turn(order("[[hang]]", "wait 60000"), false);
	expect_fail(AGENT_TIMED_OUT, AGENT_DELIVERED);
}

static void test_silence(void **state)
{
	(void)state;
	rig.opts.idle_ms = is_rehearsal() ? 500 : HANG_MS;
	turn(order("[[hang]]", "wait 60000"), false);
	expect_fail(AGENT_TIMED_OUT, AGENT_DELIVERED);
	if (is_rehearsal())
		return;
	uuid_new(rig.session);
	rig.opts.permission = AGENT_PERM_BYPASS;
	open_agent();
	turn("[[bash: for i in $(seq 20); do sleep 0.5; done; echo]][[say: done]]", false);
	expect_ok();
}

/* ---- one process, many turns ---- */

static void test_keep_alive(void **state)
{
	(void)state;
	rig.opts.keep_alive = true;
	turn(order("my hen is called Ada", ""), false);
	expect_ok();
	struct agent_usage first = rig.usage;
	pid_t pid = agent_pid();
	turn("what did I say?", true);
	expect_ok();
	expect_has(&rig.answer, "Ada");
	assert_int_equal(rig.notices.len, 0);
	if (!is_rehearsal())
		assert_true(rig.usage.input > 0 && rig.usage.output > 0);
	if (!rig.kind->can.keep_alive)
		return;
	assert_int_equal(agent_pid(), pid);
	if (rig.kind->can.cost)
		assert_true(rig.usage.cost_usd < first.cost_usd);
	assert_true(rig.usage.input > 0 && rig.usage.input < 2 * first.input);
}

static void test_keep_alive_cancel(void **state)
{
	(void)state;
	rig.opts.keep_alive = true;
	begin_tool();
	pid_t pid = agent_pid();
	agent_cancel(rig.agent);
	step_until(is_done, TURN_WAIT_MS);
	expect_fail(AGENT_CANCELLED, AGENT_DELIVERED);
	step_until(tool_gone, SOON_MS);
	turn("still there?", true);
	expect_ok();
	if (rig.kind->can.keep_alive)
		assert_int_equal(agent_pid(), pid);
}

/* How many answers the session's file holds. */
static int answers_on_disk(void)
{
	const struct sv mark = SV("\"role\":\"assistant\"");
	AUTO_FREE char *path = session_file();
	AUTO_STR text = STR_INIT;
	int count = 0;

	if (!path || file_read(path, MILLION, &text, NULL) < 0)
		return 0;
	struct sv rest = str_sv(&text);
	for (size_t at = 0; sv_find(rest, mark, &at); count++)
		rest = sv_from(rest, at + mark.n);
	return count;
}

static bool has_one_answer(void)
{
	return answers_on_disk() >= 1;
}

static bool has_two_answers(void)
{
	return answers_on_disk() >= 2;
}

static void test_keep_alive_lost(void **state)
{
	(void)state;
	if (!rig.kind->can.keep_alive)
		skip();
	rig.opts.keep_alive = true;
	turn("my hen is called Ada", false);
	for (int seen = 0; seen < 2; seen++) {
		pid_t pid = agent_pid();
		/* Claude Code writes the session some time after it has answered. */
		step_until(seen == 0 ? has_one_answer : has_two_answers, SOON_MS);
		assert_int_equal(kill(pid, SIGKILL), 0);
		/* Once the loop sees it between the turns, once only the next turn does. It is gone
		 * when the last of its threads is. */
		siginfo_t ended;
		assert_int_equal(waitid(P_PID, (id_t)pid, &ended, WEXITED | WNOWAIT), 0);
		if (seen == 0)
			assert_int_equal(loop_step(rig.loop, 50, NULL), 0);
		turn("what did I say?", true);
		expect_ok();
		expect_has(&rig.answer, "Ada");
		expect_has(&rig.notices, "signal 9");
	}
}

static void test_plan(void **state)
{
	(void)state;
	rig.opts.keep_alive = true;
	if (is_rehearsal())
		skip();
	turn("hello", false);
	begin(SV("[[bash: touch planned]][[say: ok]]"), true, true);
	step_until(is_done, TURN_WAIT_MS);
	expect_ok();
	assert_int_equal(access("planned", F_OK), -1);
	turn("what did I say?", true);
	expect_ok();
	expect_has(&rig.answer, "hello");
	assert_int_equal(rig.notices.len, 0);
}

/* What a turn was allowed is not what the next one is. */
static void test_rights_do_not_stay(void **state)
{
	(void)state;
	if (is_rehearsal())
		skip();
	rig.opts.permission = AGENT_PERM_BYPASS;
	turn("[[bash: touch allowed]][[say: ok]]", false);
	expect_ok();
	assert_int_equal(access("allowed", F_OK), 0);
	rig.opts.permission = AGENT_PERM_DEFAULT;
	open_agent();
	turn("[[bash: touch not-allowed]][[say: ok]]", true);
	expect_ok();
	assert_int_equal(access("not-allowed", F_OK), -1);
	rig.opts.permission = AGENT_PERM_BYPASS;
	open_agent();
	turn("[[bash: touch again]][[say: ok]]", true);
	expect_ok();
	assert_int_equal(access("again", F_OK), 0);
}

/* A version that has no server does it by itself, with the same sessions. */
static void test_without_server(void **state)
{
	AUTO_STR text = STR_INIT;

	(void)state;
	if (strcmp(rig.kind->name, "codex") != 0)
		skip();
	str_addf(&text,
		"#!/bin/sh\ncase $1 in app-server) echo \"error: unrecognized subcommand\" >&2; "
		"exit 2 ;; esac\necho \"$*\" >>%s/calls\nexec %s \"$@\"\n",
		rig.here, rig.program);
	AUTO_FREE char *old = xasprintf("%s/codex-old", rig.here);
	assert_int_equal(file_replace(old, str_sv(&text), 0755, NULL), 0);
	turn("my cow is called Zoe", false);
	expect_ok();
	rig.opts.program = old;
	rig.opts.outside_git = true;
	open_agent();
	turn("what did I say?", true);
	expect_ok();
	expect_has(&rig.answer, "Zoe");
	turn("my pig is called Max", true);
	expect_ok();
	rig.opts.program = rig.program;
	open_agent();
	turn("what did I say?", true);
	expect_ok();
	expect_has(&rig.answer, "Max");
	str_clear(&text);
	assert_int_equal(file_read("calls", MILLION, &text, NULL), 0);
	expect_has(&text, "exec --json");
}

static void test_two_sessions(void **state)
{
	char first[128];

	(void)state;
	rig.opts.keep_alive = true;
	turn(order("my cat is called Tom", ""), false);
	expect_ok();
	(void)snprintf(first, sizeof(first), "%s", rig.session);
	uuid_new(rig.session);
	turn("what did I say?", false);
	expect_ok();
	assert_false(sv_find(str_sv(&rig.answer), SV("Tom"), NULL));
	(void)snprintf(rig.session, sizeof(rig.session), "%s", first);
	turn("what did I say?", true);
	expect_ok();
	expect_has(&rig.answer, "Tom");
}

static void test_budget(void **state)
{
	(void)state;
	if (!rig.kind->can.cost)
		skip();
	rig.opts.max_budget_usd = 0.001;
	turn("[[bash: echo 1]][[bash: echo 2]][[say: rich]]", false);
	expect_fail(AGENT_OVER_BUDGET, AGENT_DELIVERED);
	turn("again", true);
	expect_fail(AGENT_OVER_BUDGET, AGENT_NOT_DELIVERED);
}

static void test_refused_as_root(void **state)
{
	(void)state;
	if (strcmp(rig.kind->name, "claude") != 0 || geteuid() != 0)
		skip();
	rig.opts.permission = AGENT_PERM_BYPASS;
	(void)unsetenv("IS_SANDBOX");
	turn("hello", false);
	(void)setenv("IS_SANDBOX", "1", 1);
	expect_fail(AGENT_REFUSED, AGENT_NOT_DELIVERED);
}

/* ---- permission ---- */

/* A turn with one call that nothing allows yet; what it would make is not there before. */
static void begin_asking(const char *more_for_model, const char *more_for_rehearsal)
{
	AUTO_STR prompt = STR_INIT;
	AUTO_STR script = STR_INIT;

	if (!rig.kind->can.ask)
		skip();
	(void)unlink("made");
	str_addf(&prompt, "[[ask: touch made]]%s[[say: end]]", more_for_model);
	str_addf(&script, "ask Bash touch made => done\n%s\nsay end", more_for_rehearsal);
	begin(sv_of(order(prompt.buf, script.buf)), false, false);
}

static void expect_made(bool made)
{
	if (!is_rehearsal())
		assert_int_equal(access("made", F_OK) == 0, made);
}

/* What the agent calls its shell. */
static const char *shell(void)
{
	return strcmp(rig.kind->name, "codex") == 0 ? "Shell" : "Bash";
}

/* The call as it is told of; some agents say why they want it. */
static void expect_call(const struct str *told)
{
	AUTO_STR want = STR_INIT;

	str_addf(&want, "%s: touch made", shell());
	if (!sv_starts(str_sv(told), str_sv(&want)))
		fail_msg("not %s: %s", want.buf, told->buf);
	assert_ptr_equal(strchr(told->buf, '\n'), told->buf + told->len - 1);
}

static void expect_deeds(const char *times)
{
	AUTO_STR want = STR_INIT;

	str_addf(&want, "%s%s", shell(), times);
	assert_string_equal(rig.deeds.buf, want.buf);
}

static bool has_asked(void)
{
	return rig.asks.len > 0;
}

static void test_ask_allowed(void **state)
{
	(void)state;
	rig.opts.ask = true;
	rig.reply = AGENT_ALLOW;
	begin_asking("", "");
	step_until(is_done, TURN_WAIT_MS);
	expect_ok();
	expect_call(&rig.asks);
	expect_deeds("");
	assert_string_equal(rig.denied.buf, "");
	assert_string_equal(rig.answer.buf, "end");
	expect_made(true);
}

static void test_ask_denied(void **state)
{
	(void)state;
	rig.opts.ask = true;
	rig.reply = AGENT_DENY;
	begin_asking("", "");
	step_until(is_done, TURN_WAIT_MS);
	expect_ok();
	assert_string_equal(rig.deeds.buf, "");
	expect_call(&rig.denied);
	assert_string_equal(rig.answer.buf, "end");
	assert_int_equal(rig.begun, rig.ended);
	expect_made(false);
}

/* For this session: the next turn of the same process does not ask either. */
static void test_ask_always(void **state)
{
	(void)state;
	rig.opts.ask = rig.opts.keep_alive = true;
	rig.reply = AGENT_ALLOW_ALWAYS;
	begin_asking("[[ask: touch made]]", "ask Bash touch made => done");
	step_until(is_done, TURN_WAIT_MS);
	expect_ok();
	expect_call(&rig.asks);
	expect_deeds(" ×2");
	expect_made(true);
	if (rig.kind->can.keep_alive || is_rehearsal()) {
		turn("[[ask: touch made]][[say: end]]", true);
		expect_ok();
		assert_string_equal(rig.asks.buf, "");
	}
	/* Nothing of it is written into the user's folder. */
	assert_int_not_equal(access(".claude", F_OK), 0);
}

static void test_ask_cancelled(void **state)
{
	(void)state;
	rig.opts.ask = rig.opts.keep_alive = true;
	begin_asking("", "");
	step_until(has_asked, TURN_WAIT_MS);
	agent_cancel(rig.agent);
	step_until(is_done, TURN_WAIT_MS);
	expect_fail(AGENT_CANCELLED, AGENT_DELIVERED);
	assert_string_equal(rig.message.buf, "cancelled");
	assert_string_equal(rig.deeds.buf, "");
	assert_string_equal(rig.denied.buf, "");
	expect_made(false);
	turn(order("[[say: still here]]", "say still here"), true);
	expect_ok();
	assert_string_equal(rig.answer.buf, "still here");
}

/* Nobody to ask: it is denied, and known what. */
static void test_ask_nobody(void **state)
{
	(void)state;
	begin_asking("", "");
	step_until(is_done, TURN_WAIT_MS);
	expect_ok();
	assert_string_equal(rig.asks.buf, "");
	assert_string_equal(rig.deeds.buf, "");
	expect_call(&rig.denied);
	expect_made(false);
}

/* A plan changes nothing, whoever would allow it. */
static void test_ask_plan(void **state)
{
	(void)state;
	if (!rig.kind->can.ask)
		skip();
	rig.opts.ask = true;
	rig.reply = AGENT_ALLOW_ALWAYS;
	(void)unlink("made");
	begin(sv_of(order("[[ask: touch made]][[say: end]]", "ask Bash touch made\nsay end")),
		false, true);
	step_until(is_done, TURN_WAIT_MS);
	expect_ok();
	assert_string_equal(rig.deeds.buf, "");
	expect_made(false);
}

static void test_version(void **state)
{
	AUTO_STR text = STR_INIT;

	(void)state;
	if (is_rehearsal())
		skip();
	assert_int_equal(agent_version(rig.kind, &rig.opts, &text, NULL), 0);
	assert_non_null(strpbrk(text.buf, "0123456789"));
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)
static const struct CMUnitTest cases[] = {
	CASE(test_first_turn),
	CASE(test_resume),
	CASE(test_fresh_start),
	CASE(test_unknown_id),
	CASE(test_prompt_id),
	CASE(test_session_before_prompt),
	CASE(test_id_in_use),
	CASE(test_second_writer),
	CASE(test_tools),
	CASE(test_prompt_dash),
	CASE(test_prompt_empty),
	CASE(test_prompt_unicode),
	CASE(test_prompt_million),
	CASE(test_errors),
	CASE(test_limit_end),
	CASE(test_context_full),
	CASE(test_missing),
	CASE(test_cancel_in_text),
	CASE(test_cancel_quickly),
	CASE(test_cancel_at_once),
	CASE(test_cancel_in_tool),
	CASE(test_cancel_hard),
	CASE(test_free_in_tool),
	CASE(test_killed),
	CASE(test_turn_time),
	CASE(test_silence),
	CASE(test_keep_alive),
	CASE(test_keep_alive_cancel),
	CASE(test_keep_alive_lost),
	CASE(test_plan),
	CASE(test_rights_do_not_stay),
	CASE(test_without_server),
	CASE(test_two_sessions),
	CASE(test_budget),
	CASE(test_refused_as_root),
	CASE(test_ask_allowed),
	CASE(test_ask_denied),
	CASE(test_ask_always),
	CASE(test_ask_cancelled),
	CASE(test_ask_nobody),
	CASE(test_ask_plan),
	CASE(test_version),
};

int main(int argc, char **argv)
{
	struct str empty = STR_INIT;

	rig.kind = argc < 2 ? NULL : agent_named(sv_of(argv[1]));
	if (!rig.kind) {
		(void)fprintf(stderr, "usage: agent-conformance KIND [PROGRAM]\n");
		return 2;
	}
	rig.program = argc > 2 ? argv[2] : NULL;
	/* Tools that change something run in these tests, also for root. */
	(void)setenv("IS_SANDBOX", "1", 1);
	rig.here = getcwd(NULL, 0);
	rig.script = xasprintf("%s/script", rig.here);
	rig.message = rig.answer = rig.streamed = rig.tools = rig.notices = empty;
	rig.asks = rig.deeds = rig.denied = empty;
	cmocka_set_message_output(CM_OUTPUT_TAP);
	int failed = cmocka_run_group_tests_name(argv[1], cases, NULL, NULL);
	free(rig.here);
	free(rig.script);
	return failed ? 1 : 0;
}
