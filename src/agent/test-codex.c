/* The driver of Codex against servers that behave as no app server should. */
#include "agent/test-driver.h"

static int set_up(void **state)
{
	struct driver_rig *rig = driver_rig_new("codex");

	rig->env[1] = "CODEX_THREAD_ID=x";
	rig->opts.home = rig->dir;
	*state = rig;
	return 0;
}

/* A server that knows its part, in words that the cases use too: what comes is kept in "in", its
 * method or "answer …" is matched. Any other call than the server's is that of exec. */
static const char server[] =
	"#!/bin/sh\n"
	"thread='{\"thread\":{\"id\":\"" SESSION "\"},\"approvalPolicy\":\"never\"}'\n"
	"turn='{\"turn\":{\"id\":\"U\"}}'\n"
	"here='\"threadId\":\"" SESSION "\",\"turnId\":\"U\"'\n"
	"ok() { echo \"{\\\"id\\\":$n,\\\"result\\\":$1}\"; }\n"
	"refuse() { echo \"{\\\"id\\\":$n,\\\"error\\\":{\\\"message\\\":\\\"$1\\\"}}\"; }\n"
	"tell() { echo \"{\\\"method\\\":\\\"$1\\\",\\\"params\\\":{$here,$2}}\"; }\n"
	"says() { tell item/agentMessage/delta "
	"\"\\\"itemId\\\":\\\"m\\\",\\\"delta\\\":\\\"$1\\\"\"; }\n"
	"ends() { tell turn/completed "
	"\"\\\"turn\\\":{\\\"id\\\":\\\"U\\\",\\\"status\\\":\\\"$1\\\"}\"; }\n"
	"printf '%s ' \"$@\" >>args\n"
	"[ \"$1\" = app-server ] || {\n"
	"	cat >stdin\n"
	"	echo '{\"type\":\"item.completed\",\"item\":{\"id\":\"1\","
	"\"type\":\"agent_message\",\"text\":\"by exec\"}}'\n"
	"	echo '{\"type\":\"turn.completed\",\"usage\":{}}'\n"
	"	exit 0\n"
	"}\n"
	"n=0\n"
	"while read -r line; do\n"
	"	printf '%s\\n' \"$line\" >>in\n"
	"	method=\"answer $line\"\n"
	"	case $line in *'\"method\":\"'*) method=${line#*'\"method\":\"'} "
	"method=${method%%'\"'*} ;; esac\n"
	"	case $line in '{\"id\":'*'\"method\"'*) n=$((n + 1)) ;; esac\n"
	"	case $method in\n";
static const char server_end[] = "\n"
				 "	initialize) ok '{}' ;;\n"
				 "	thread/*) ok \"$thread\" ;;\n"
				 "	turn/start) ok \"$turn\"; says fine; ends completed ;;\n"
				 "	esac\n"
				 "done\n";

static void serve(struct driver_rig *rig, const char *cases)
{
	AUTO_STR text = STR_INIT;

	str_adds(&text, server);
	str_adds(&text, cases);
	str_adds(&text, server_end);
	assert_int_equal(file_replace(rig->program, str_sv(&text), 0755, NULL), 0);
}

static void turn(struct driver_rig *rig, const char *prompt, bool resume)
{
	driver_turn(rig,
		&(struct agent_turn){ .prompt = sv_of(prompt),
			.prompt_id = PROMPT_ID,
			.session = resume ? SESSION : NULL,
			.resume = resume });
}

static void expect_in(const struct driver_rig *rig, const char *name, const char *words, bool there)
{
	AUTO_FREE char *path = path_join(rig->dir, name);
	AUTO_STR text = STR_INIT;

	if (file_read(path, 1 << 20, &text, NULL) < 0)
		str_clear(&text);
	if (sv_find(str_sv(&text), sv_of(words), NULL) != there)
		fail_msg("%s%s: %s", there ? "no " : "", words, text.buf);
}

static void test_messages(void **state)
{
	struct driver_rig *rig = *state;

	serve(rig, "");
	turn(rig, "the secret\nprompt", false);
	expect(rig, AGENT_OK, AGENT_DELIVERED);
	assert_string_equal(rig->answer.buf, "fine");
	assert_string_equal(rig->session.buf, SESSION);
	expect_in(rig, "args", "app-server ", true);
	expect_in(rig, "args", "secret", false);
	expect_in(rig, "in", "{\"method\":\"initialized\"}\n", true);
	expect_in(rig, "in", "\"developerInstructions\":\"-be \\\"brief\\\"\\nü\"", true);
	expect_in(rig, "in", "\"text\":\"the secret\\nprompt\"", true);
	expect_in(rig, "in", "\"clientUserMessageId\":\"22222222-2222-4222-8222-222222222222\"",
		true);
	/* Rights are not said with the thread; a new one has those of the configuration. */
	expect_in(rig, "in", "\"sandbox\"", false);
	expect_in(rig, "in", "sandboxPolicy", false);
	expect_in(rig, "in", "thread/resume", false);
}

static void test_rights_go_with_the_turn(void **state)
{
	struct driver_rig *rig = *state;

	serve(rig, "");
	rig->opts.permission = AGENT_PERM_ACCEPT_EDITS;
	turn(rig, "go", true);
	expect(rig, AGENT_OK, AGENT_DELIVERED);
	expect_in(rig, "in", "\"threadId\":\"" SESSION "\",\"excludeTurns\":true", true);
	expect_in(rig, "in",
		"\"approvalPolicy\":\"on-request\",\"sandboxPolicy\":{\"type\":\"workspaceWrite\"}",
		true);
	expect_in(rig, "in", "ephemeral", false);
}

/* A resumed thread has the rights of its last turn: those of the configuration are asked for. */
static void test_rights_of_the_configuration(void **state)
{
	struct driver_rig *rig = *state;

	serve(rig,
		"config/read) ok '{\"config\":{\"mcp_servers\":{\"a\":{},\"b.c\":{}}}}' ;;\n"
		"thread/start) ok '{\"thread\":{\"id\":\"x\"},\"approvalPolicy\":\"untrusted\","
		"\"sandbox\":{\"type\":\"readOnly\"}}' ;;");
	turn(rig, "go", true);
	expect(rig, AGENT_OK, AGENT_DELIVERED);
	expect_in(
		rig, "in", "\"ephemeral\":true,\"config\":{\"mcp_servers.a.enabled\":false}", true);
	expect_in(rig, "in",
		"\"approvalPolicy\":\"untrusted\",\"sandboxPolicy\":{\"type\":\"readOnly\"}", true);
	assert_string_equal(rig->session.buf, SESSION);
}

static void test_requests_nobody_knows_are_refused(void **state)
{
	struct driver_rig *rig = *state;

	serve(rig,
		"turn/start) ok \"$turn\"\n"
		"	echo '{\"id\":\"z\",\"method\":\"item/tool/call\",\"params\":{}}' ;;\n"
		"answer*'\"z\"'*'\"error\"'*) says 'went on'; ends completed ;;");
	turn(rig, "go", false);
	expect(rig, AGENT_OK, AGENT_DELIVERED);
	assert_string_equal(rig->answer.buf, "went on");
}

static void test_a_server_of_another_time(void **state)
{
	struct driver_rig *rig = *state;

	serve(rig, "thread/start) refuse 'Invalid request: unknown variant' ;;");
	turn(rig, "the prompt", false);
	expect(rig, AGENT_OK, AGENT_DELIVERED);
	assert_string_equal(rig->answer.buf, "by exec");
	expect_in(rig, "in", "the prompt", false);
	expect_in(rig, "stdin", "the prompt", true);
	/* Known from then on. */
	turn(rig, "again", true);
	expect(rig, AGENT_OK, AGENT_DELIVERED);
	expect_in(rig, "args", "app-server exec --json", true);
	expect_in(rig, "args", "- exec --json", true);
}

static void test_refusals(void **state)
{
	static const struct {
		const char *said;
		enum agent_fail fail;
	} cases[] = {
		{ "no rollout found for thread id x", AGENT_NO_SESSION },
		{ "thread x already has an active writer", AGENT_IN_USE },
		{ "something else", AGENT_FAILED },
	};
	struct driver_rig *rig = *state;

	rig->opts.permission = AGENT_PERM_PLAN;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_STR text = STR_INIT;
		str_addf(&text, "thread/resume) refuse '%s' ;;", cases[i].said);
		serve(rig, text.buf);
		turn(rig, "the prompt", true);
		expect(rig, cases[i].fail, AGENT_NOT_DELIVERED);
		expect_in(rig, "in", "the prompt", false);
	}
	serve(rig, "thread/*) ok '{\"thread\":{\"id\":\"none\"}}' ;;");
	turn(rig, "the prompt", false);
	expect(rig, AGENT_FAILED, AGENT_NOT_DELIVERED);
}

static void test_deaths(void **state)
{
	struct driver_rig *rig = *state;

	serve(rig, "thread/start) echo 'last words' >&2; exit 3 ;;");
	turn(rig, "go", false);
	expect(rig, AGENT_DIED, AGENT_NOT_DELIVERED);
	assert_non_null(strstr(rig->message.buf, "last words"));
	serve(rig, "turn/start) exit 3 ;;");
	turn(rig, "go", false);
	expect(rig, AGENT_DIED, AGENT_MAYBE_DELIVERED);
	/* One that is killed has not shown that there is no server. */
	serve(rig, "initialize) kill -9 $$ ;;");
	turn(rig, "go", false);
	expect(rig, AGENT_DIED, AGENT_NOT_DELIVERED);
}

/* Neither as a server nor by "exec", whose input is written and closed before it is read. */
static void test_ends_at_once(void **state)
{
	struct driver_rig *rig = *state;

	assert_int_equal(file_replace(rig->program,
				 SV("#!/bin/sh\n[ \"$1\" = app-server ] || sleep 0.2\n"
				    "echo 'no home' >&2\nexit 1\n"),
				 0755, NULL),
		0);
	turn(rig, "the prompt", false);
	expect(rig, AGENT_DIED, AGENT_NOT_DELIVERED);
	assert_non_null(strstr(rig->message.buf, "no home"));
	/* One that has read it may have done anything. */
	assert_int_equal(file_replace(rig->program,
				 SV("#!/bin/sh\n[ \"$1\" = app-server ] || cat >stdin\nexit 1\n"),
				 0755, NULL),
		0);
	turn(rig, "the prompt", false);
	expect(rig, AGENT_DIED, AGENT_MAYBE_DELIVERED);
	expect_in(rig, "stdin", "the prompt", true);
}

/* A folder that is named has to be there, and the usual one is made when it is not. */
static void test_the_usual_home_is_not_named(void **state)
{
	struct driver_rig *rig = *state;
	AUTO_FREE char *user = xasprintf("HOME=%s", rig->dir);
	AUTO_FREE char *usual = path_join(rig->dir, ".codex");
	AUTO_FREE char *named = xasprintf("CODEX_HOME=%s", usual);

	rig->env[2] = user;
	rig->opts.home = usual;
	serve(rig, "initialize) echo \"${CODEX_HOME-none}\" >>home; ok '{}' ;;");
	turn(rig, "go", false);
	expect(rig, AGENT_OK, AGENT_DELIVERED);
	expect_in(rig, "home", "none\n", true);
	rig->env[3] = named;
	agent_free(TAKE_PTR(rig->agent));
	turn(rig, "go", false);
	expect_in(rig, "home", "/.codex\n", true);
	rig->env[3] = NULL;
	rig->opts.home = rig->dir;
	agent_free(TAKE_PTR(rig->agent));
	turn(rig, "go", false);
	AUTO_FREE char *other = xasprintf("/.codex\n%s\n", rig->dir);
	expect_in(rig, "home", other, true);
}

static void test_cancel_before_the_prompt(void **state)
{
	struct driver_rig *rig = *state;

	rig->cancels = 1;
	serve(rig, "thread/start) ;;");
	turn(rig, "the prompt", false);
	expect(rig, AGENT_CANCELLED, AGENT_NOT_DELIVERED);
	expect_in(rig, "in", "the prompt", false);
	rig->cancels = 1;
	serve(rig, "initialize) while :; do sleep 1; done ;;");
	turn(rig, "the prompt", false);
	expect(rig, AGENT_CANCELLED, AGENT_NOT_DELIVERED);
}

/* A turn whose id is not told yet is interrupted as soon as it is. */
static void test_cancel_before_the_id(void **state)
{
	struct driver_rig *rig = *state;

	rig->cancels = 1;
	rig->opts.stop_ms = 5000;
	serve(rig,
		"turn/start) sleep 0.5; ok \"$turn\" ;;\n"
		"turn/interrupt) ends interrupted ;;");
	turn(rig, "go", false);
	/* The first round may be before the prompt was sent. */
	assert_int_equal(rig->fail, AGENT_CANCELLED);
}

static void test_lingers(void **state)
{
	struct driver_rig *rig = *state;

	serve(rig, "turn/start) ok \"$turn\"; ends completed; exec sleep 60 </dev/null ;;");
	turn(rig, "go", false);
	expect(rig, AGENT_OK, AGENT_DELIVERED);
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, set_up, driver_rig_free)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_messages),
		CASE(test_rights_go_with_the_turn),
		CASE(test_rights_of_the_configuration),
		CASE(test_requests_nobody_knows_are_refused),
		CASE(test_a_server_of_another_time),
		CASE(test_refusals),
		CASE(test_deaths),
		CASE(test_ends_at_once),
		CASE(test_the_usual_home_is_not_named),
		CASE(test_cancel_before_the_prompt),
		CASE(test_cancel_before_the_id),
		CASE(test_lingers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
