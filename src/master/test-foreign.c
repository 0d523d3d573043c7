#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "master/run.h"
#include "os/test-temp.h"

enum { MAX = 1 << 20 };
#define ID "aaaaaaaa-0000-4000-8000-000000000001"

static const struct clock noon = { .fixed = true, .fixed_ms = 1750000000000 };

static int add_line(void *data, const struct master_step *step, struct err *reterr)
{
	(void)reterr;
	str_addf(data, "%s: %.*s\n", master_step_name(step->kind), SV_ARG(step->text));
	return 0;
}

static char *all_steps(struct master_run *run)
{
	struct str lines = STR_INIT;

	assert_int_equal(master_steps(run, add_line, &lines, NULL), 0);
	return str_detach(&lines);
}

static void test_first_design(void **state)
{
	AUTO_FREE char *path = temp_write(*state, "shared/session.json",
		"{\n \"sessionId\": \"2025-11-08-15-30-00\",\n \"createdAt\": "
		"\"2025-05-08T15:30:00Z\","
		"\n \"lastUpdatedAt\": \"2025-05-08T16:00:00Z\",\n \"version\": \"1.0.0\",\n"
		" \"config\": {\"instructorModel\": \"opus\", \"workerModel\": \"haiku\", "
		"\"maxRounds\": null, \"useThinking\": true, \"workDir\": \"/work\", "
		"\"apiKey\": \"sk-SECRET\"},\n"
		" \"currentRound\": 2, \"remainingRounds\": null,\n"
		" \"instructor\": {\"systemPrompt\": \"You instruct.\", \"conversationHistory\": "
		"[\n"
		"  {\"role\": \"user\", \"content\": \"build it\"},\n"
		"  {\"role\": \"assistant\", \"content\": [{\"type\": \"text\", \"text\": "
		"\"first part\"}]},\n"
		"  {\"role\": \"user\", \"content\": \"Worker's response:\\ndone\"},\n"
		"  {\"role\": \"assistant\", \"content\": \"second part\"}]},\n"
		" \"worker\": {\"conversationHistory\": [\n"
		"  {\"role\": \"user\", \"content\": \"first part\"},\n"
		"  {\"role\": \"assistant\", \"content\": \"done\"}]},\n"
		" \"lastInstruction\": \"second part\",\n"
		" \"lastInstructorResponse\": {\"thinking\": \"\", \"instruction\": \"second "
		"part\", "
		"\"workerModel\": \"haiku\", \"shouldContinue\": true, \"needsCorrection\": "
		"false}\n}\n");
	AUTO_FREE char *old = xasprintf("%s.old", path);
	AUTO_STR bytes = STR_INIT;
	struct master_run *run;

	for (int i = 0; i < 2; i++) {
		assert_int_equal(master_open_file(path, 0, &noon, &run, NULL), 0);
		assert_int_equal(master_found(run), i ? 0 : MASTER_FOUND_OLDER | MASTER_FOUND_KEYS);
		const struct master_state *s = master_state(run);
		assert_true(uuid_valid(sv_of(s->id)));
		assert_int_equal(s->round, 2);
		assert_int_equal(s->remaining, MASTER_UNLIMITED);
		assert_string_equal(s->config.model[MASTER_INSTRUCTOR], "opus");
		assert_string_equal(s->config.dir, "/work");
		assert_string_equal(s->task.buf, "build it");
		assert_string_equal(s->side[MASTER_INSTRUCTOR].system_prompt.buf, "You instruct.");
		assert_string_equal(s->side[MASTER_WORKER].answer.text.buf, "done");
		assert_int_equal(s->decided.act, MASTER_ACT_GO_ON);
		assert_string_equal(s->decided.text.buf, "second part");
		AUTO_FREE char *steps = all_steps(run);
		assert_string_equal(steps,
			"config: \nsay: build it\nsession: You instruct.\nsession: \n"
			"ask: build it\nanswer: first part\nask: first part\nanswer: done\n"
			"ask: Worker's response:\ndone\nanswer: second part\nrounds: \n"
			"decided: second part\n");
		assert_int_equal(master_close(run, NULL), 0);
		assert_int_equal(file_read(path, MAX, &bytes, NULL), 0);
		assert_null(strstr(bytes.buf, "SECRET"));
	}
	AUTO_STR first = STR_INIT;
	assert_int_equal(file_read(old, MAX, &first, NULL), 0);
	assert_non_null(strstr(first.buf, "SECRET"));
	/* Written in another form once more, it stays as well. */
	AUTO_FREE char *next = xasprintf("%s.old.2", path);
	assert_int_equal(file_replace(path, str_sv(&first), 0600, NULL), 0);
	assert_int_equal(master_open_file(path, 0, &noon, &run, NULL), 0);
	assert_int_equal(master_close(run, NULL), 0);
	assert_true(path_exists(next));
}

#define RECORD(kind, rest) \
	"{\"type\":\"" kind "\",\"timestamp\":\"2025-05-08T15:30:00.000Z\"," rest "}\n"
#define META                                                                             \
	RECORD("session-metadata",                                                       \
		"\"sessionId\":\"" ID "\",\"createdAt\":\"2025-05-08T15:30:00.000Z\","   \
		"\"lastUpdatedAt\":\"2025-05-08T15:40:00.000Z\",\"currentRound\":3,"     \
		"\"remainingRounds\":null,\"workDir\":\"/work\",\"config\":{"            \
		"\"instructorModel\":\"claude-sonnet\",\"workerModel\":\"haiku\","       \
		"\"maxRounds\":null,\"apiKey\":\"SECRET-1\",\"authToken\":\"SECRET-2\"," \
		"\"baseURL\":\"https://user:SECRET-3@x\"}")

static void test_records(void **state)
{
	AUTO_FREE char *root = path_join(*state, "root");
	AUTO_FREE char *path = temp_write(*state, "session-" ID ".jsonl",
		RECORD("instructor-message",
			"\"message\":{\"role\":\"user\",\"content\":\"build it\"}") META
		"{\"type\":\"instructor-message\",\"mess\n"
		"\xff\xfe{}\n" RECORD("instructor-message",
			"\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"text\","
			"\"text\":\"I look.\"},{\"type\":\"tool_use\",\"id\":\"t\",\"name\":"
			"\"read_file\",\"input\":{\"path\":\"a\"}}]}") RECORD("instructor-message",
			"\"message\":{\"role\":\"user\",\"content\":[{\"type\":\"tool_result\","
			"\"tool_use_id\":\"t\",\"content\":\"text\"}]}") RECORD("instructor-"
										"message",
			"\"message\":{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\","
			"\"id\":\"u\",\"name\":\"call_worker\",\"input\":{\"system_prompt\":\"S\","
			"\"instruction\":\"do this\",\"model\":\"opus\"}}]}") "[]\n\n" META);
	struct master_run *run;
	AUTO_STR bytes = STR_INIT;

	assert_int_equal(master_import(root, path, &noon, &run, NULL), 0);
	assert_int_equal(
		master_found(run), MASTER_FOUND_OLDER | MASTER_FOUND_KEYS | MASTER_FOUND_LOST);
	const struct master_state *s = master_state(run);
	assert_string_equal(s->id, ID);
	assert_int_equal(s->round, 3);
	assert_int_equal(s->remaining, MASTER_UNLIMITED);
	assert_string_equal(s->config.dir, "/work");
	assert_string_equal(s->config.model[MASTER_WORKER], "haiku");
	assert_int_equal(s->decided.act, MASTER_ACT_FRESH);
	assert_string_equal(s->decided.text.buf, "do this");
	assert_string_equal(s->decided.system_prompt.buf, "S");
	assert_string_equal(s->decided.model, "opus");
	assert_string_equal(s->side[MASTER_INSTRUCTOR].answer.text.buf,
		"I look.\n[read_file] {\"path\":\"a\"}\ndo this");
	AUTO_FREE char *there = xstrdup(master_path(run));
	assert_int_equal(master_close(run, NULL), 0);
	assert_int_equal(file_read(there, MAX, &bytes, NULL), 0);
	assert_null(strstr(bytes.buf, "SECRET"));

	/* Once more: it gets another id, and nothing is overwritten. */
	assert_int_equal(master_import(root, path, &noon, &run, NULL), 0);
	assert_true(master_found(run) & MASTER_FOUND_OTHER_ID);
	assert_string_not_equal(master_state(run)->id, ID);
	assert_int_equal(master_close(run, NULL), 0);

	struct err err = ERR_INIT;
	assert_int_equal(master_open_file(path, 0, &noon, &run, &err), ERR_INPUT);
	assert_non_null(strstr(err.msg, "--import"));
}

static struct master_run *play(const char *root, int rounds)
{
	AUTO_MASTER_CONFIG c = MASTER_CONFIG_INIT;
	struct master_run *run;

	c.max_rounds = 9;
	assert_int_equal(master_create(root, &c, "first", 0, &noon, &run, NULL), 0);
	for (int i = 1; i <= rounds; i++)
		for (int k = 0; k < 4; k++) {
			struct master_step s =
				MASTER_STEP_INIT(k % 2 ? MASTER_STEP_ANSWER : MASTER_STEP_ASK);
			char text[40];
			(void)snprintf(text, sizeof(text), "%d of round %d", k, i);
			s.role = k < 2 ? MASTER_INSTRUCTOR : MASTER_WORKER;
			s.round = k < 2 ? i - 1 : i;
			s.text = sv_of(text);
			assert_int_equal(master_step(run, &s, NULL), 0);
		}
	return run;
}

static void test_edited_by_hand(void **state)
{
	struct master_run *run = play(*state, 2);
	AUTO_FREE char *path = xstrdup(master_path(run));
	AUTO_FREE char *before = all_steps(run);
	AUTO_STR bytes = STR_INIT, changed = STR_INIT;

	assert_int_equal(master_close(run, NULL), 0);
	assert_int_equal(file_read(path, MAX, &bytes, NULL), 0);
	for (size_t i = 0; i < bytes.len; i++) {
		str_addc(&changed, bytes.buf[i]);
		if (bytes.buf[i] == '\n')
			str_adds(&changed, "  ");
	}
	assert_int_equal(file_replace(path, str_sv(&changed), 0600, NULL), 0);
	assert_int_equal(master_open(*state, NULL, 0, &noon, &run, NULL), 0);
	assert_int_equal(master_found(run), MASTER_FOUND_EDITED);
	AUTO_FREE char *after = all_steps(run);
	assert_string_equal(before, after);
	assert_string_equal(master_state(run)->name, "first");
	assert_int_equal(master_close(run, NULL), 0);
}

static void test_no_run(void **state)
{
	static const char *const texts[] = { "", "[]", "{}", "null", "{\"version\":\"1.0.0\"}",
		"{\"instructor\":{\"conversationHistory\":[{}]}}", "text\nmore text\n",
		"{\"log\":[]}", "{\"log\":[{\"n\":1}]}" };
	AUTO_FREE char *root = path_join(*state, "root");
	struct master_run *run;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		AUTO_FREE char *path = temp_write(*state, "x.json", texts[i]);
		assert_int_equal(master_open_file(path, 0, &noon, &run, NULL), ERR_INPUT);
		assert_int_equal(master_import(root, path, &noon, &run, NULL), ERR_INPUT);
		AUTO_STR still = STR_INIT;
		assert_int_equal(file_read(path, MAX, &still, NULL), 0);
		assert_string_equal(still.buf, texts[i]);
	}
	AUTO_FREE char *newer = temp_write(*state, "y.json",
		"{\n\"version\":\"7.0\",\n\"worker\":{\"conversationHistory\":[{\"role\":\"user\","
		"\"content\":\"x\"}]}}");
	assert_int_equal(master_open_file(newer, 0, &noon, &run, NULL), ERR_NEWER);
	assert_int_equal(master_open_file(newer, MASTER_FORCE, &noon, &run, NULL), 0);
	assert_int_equal(master_found(run), MASTER_FOUND_NEWER | MASTER_FOUND_OLDER);
	assert_int_equal(master_close(run, NULL), 0);
}

static void test_fork(void **state)
{
	struct master_run *run = play(*state, 3), *child;

	assert_int_equal(master_fork(run, *state, 4, "x", &child, NULL), ERR_NOTFOUND);
	assert_int_equal(master_fork(run, *state, 2, "second", &child, NULL), 0);
	const struct master_state *s = master_state(child);
	assert_string_not_equal(s->id, master_state(run)->id);
	assert_string_equal(s->name, "second");
	assert_string_equal(s->origin, master_state(run)->id);
	assert_int_equal(s->origin_round, 2);
	assert_int_equal(s->round, 2);
	assert_int_equal(s->remaining, 7);
	/* The instructor has seen what came of it. */
	assert_string_equal(s->side[MASTER_WORKER].answer.text.buf, "3 of round 2");
	assert_string_equal(s->side[MASTER_INSTRUCTOR].answer.text.buf, "1 of round 3");
	assert_int_equal(master_close(child, NULL), 0);
	assert_int_equal(master_close(run, NULL), 0);
	assert_int_equal(master_open(*state, NULL, 0, &noon, &run, NULL), 0);
	assert_string_equal(master_state(run)->name, "second");
	assert_int_equal(master_close(run, NULL), 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, temp_set_up, temp_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_first_design),
		CASE(test_records),
		CASE(test_edited_by_hand),
		CASE(test_no_run),
		CASE(test_fork),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
