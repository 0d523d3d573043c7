#include <unistd.h>

#include "agent/codex-stream.h"
#include "agent/launch.h"
#include "agent/test-stream.h"
#include "os/file.h"
#include "os/proc.h"

struct heard {
	struct codex_stream stream;
	struct str text; /* one word an event */
	struct codex_result result;
	char said[200];
	int results, working;
};

static void on_event(void *data, const struct agent_event *ev)
{
	struct heard *h = data;

	put_event(&h->text, ev);
}

static void on_working(void *data)
{
	struct heard *h = data;

	h->working++;
}

static void on_result(void *data, const struct codex_result *result)
{
	struct heard *h = data;

	h->results++;
	h->result = *result;
	(void)snprintf(h->said, sizeof(h->said), "%.*s", SV_ARG(result->said));
}

static const struct codex_stream_ops ops = {
	.event = on_event, .working = on_working, .result = on_result
};

static int set_up(void **state)
{
	struct heard *h = xcalloc(1, sizeof(*h));

	h->text = (struct str)STR_INIT;
	codex_stream_init(&h->stream, &ops, h);
	*state = h;
	return 0;
}

static int tear_down(void **state)
{
	struct heard *h = *state;

	codex_stream_release(&h->stream);
	str_release(&h->text);
	free(h);
	return 0;
}

static void feed(struct heard *h, const char *text)
{
	codex_stream_feed(&h->stream, sv_of(text));
}

static void expect(struct heard *h, const char *text)
{
	assert_string_equal(h->text.buf, text);
	str_clear(&h->text);
}

static void test_turn(void **state)
{
	struct heard *h = *state;

	feed(h, "{\"type\":\"thread.started\",\"thread_id\":\"t-1\"}\n");
	assert_int_equal(h->working, 0);
	feed(h, "{\"type\":\"turn.started\"}\n");
	assert_int_equal(h->working, 1);
	feed(h,
		"{\"type\":\"item.completed\",\"item\":{\"id\":\"0\",\"type\":\"reasoning\","
		"\"text\":\"hm\"}}\n"
		"{\"type\":\"item.completed\",\"item\":{\"id\":\"1\",\"type\":\"agent_message\","
		"\"text\":\"one\"}}\n"
		"{\"type\":\"item.completed\",\"item\":{\"id\":\"2\",\"type\":\"agent_message\","
		"\"text\":\"two\"}}\n");
	expect(h, "<session t-1><think hm><one><|><two>");
	feed(h,
		"{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":100,"
		"\"cached_input_tokens\":60,\"output_tokens\":7}}\n");
	assert_int_equal(h->results, 1);
	assert_false(h->result.failed);
	assert_int_equal(h->result.total.input, 40);
	assert_int_equal(h->result.total.cache_read, 60);
	assert_int_equal(h->result.total.output, 7);
}

static void test_tools(void **state)
{
	struct heard *h = *state;

	feed(h,
		"{\"type\":\"item.started\",\"item\":{\"id\":\"1\",\"type\":\"command_execution\","
		"\"command\":\"bash -lc 'false'\",\"status\":\"in_progress\"}}\n"
		"{\"type\":\"item.completed\",\"item\":{\"id\":\"1\",\"type\":"
		"\"command_execution\",\"command\":\"bash -lc 'false'\",\"status\":\"failed\"}}\n");
	expect(h, "<begin Shell: bash -lc 'false'><end Shell failed>");
	feed(h,
		"{\"type\":\"item.completed\",\"item\":{\"id\":\"2\",\"type\":\"file_change\","
		"\"changes\":[{\"path\":\"/a\"},{\"path\":\"/b\"}],\"status\":\"completed\"}}\n");
	expect(h, "<begin Edit: /a, /b><end Edit>");
}

static void test_errors(void **state)
{
	struct heard *h = *state;

	feed(h,
		"{\"type\":\"error\",\"message\":\"Reconnecting... 1/5 (x)\"}\n"
		"{\"type\":\"error\",\"message\":\"the end\"}\n"
		"{\"type\":\"turn.failed\",\"error\":{\"message\":\"{\\\"error\\\":{"
		"\\\"message\\\":"
		"\\\"nope\\\"}}\"}}\n");
	expect(h, "<retry the connection to the model broke: x>");
	assert_true(h->result.failed);
	assert_string_equal(h->said, "nope");
	assert_int_equal(h->result.total.input, -1);
	feed(h, "{\"type\":\"turn.failed\",\"error\":{\"message\":\"plain\"}}\n");
	assert_string_equal(h->said, "plain");
}

static void test_hostile_lines(void **state)
{
	struct heard *h = *state;
	static const char nul[] = "\0{\"type\"\0}\n";

	feed(h, "x\n\n[]\n{}\n{\"type\":[]}\n{\"type\":\"item.completed\"}\n");
	feed(h, "{\"type\":\"item.started\",\"item\":{\"type\":\"command_execution\"}}\n");
	feed(h, "{\"type\":\"item.completed\",\"item\":[1]}\n{\"type\":\"error\",\"message\":7}\n");
	feed(h, "{\"type\":\"thread.started\",\"thread_id\":null}\n");
	codex_stream_feed(&h->stream, sv_make(nul, sizeof(nul) - 1));
	expect(h, "");
	feed(h, "{\"type\":\"turn.completed\",\"usage\":{\"input_tokens\":-3}}");
	codex_stream_end(&h->stream);
	assert_int_equal(h->results, 1);
	assert_int_equal(h->result.total.input, 0);
}

static void test_usage_of_a_thread(void **state)
{
	char path[] = "/tmp/faden-rollout-XXXXXX";
	int fd = mkstemp(path);
	static const char text[] =
		"{\"type\":\"event_msg\",\"payload\":{\"info\":{\"total_token_usage\":{"
		"\"input_tokens\":10,\"output_tokens\":1}}}}\n"
		"garbage \"total_token_usage\"\n"
		"{\"type\":\"event_msg\",\"payload\":{\"info\":{\"total_token_usage\":{"
		"\"input_tokens\":30,\"cached_input_tokens\":5,\"output_tokens\":4}}}}\n"
		"{\"type\":\"event_msg\",\"payload\":{\"info\":null}}\n";

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(file_write_all(fd, sv_of(text), NULL), 0);
	(void)close(fd);
	struct agent_usage before = codex_usage_of_file(path);
	(void)unlink(path);
	assert_int_equal(before.input, 25);
	struct agent_usage total = { .input = 30, .cache_read = 9, .output = 6 };
	struct agent_usage turn = codex_usage_since(&total, &before);
	assert_int_equal(turn.input, 5);
	assert_int_equal(turn.cache_read, 4);
	assert_int_equal(turn.output, 2);
	before = codex_usage_of_file(NULL);
	assert_int_equal(codex_usage_since(&total, &before).input, -1);
}

static void test_toml(void **state)
{
	AUTO_STR out = STR_INIT;

	(void)state;
	codex_toml_string(&out, SV("-a \"b\"\n\\ ü\x7f"));
	assert_string_equal(out.buf, "\"-a \\\"b\\\"\\n\\\\ ü\\u007f\"");
}

static void make_program(const char *dir, const char *name)
{
	AUTO_FREE char *path = xasprintf("%s/%s", dir, name);
	AUTO_FREE char *folder = xstrdup(path);

	*strrchr(folder, '/') = '\0';
	assert_int_equal(file_mkdirs(folder, NULL), 0);
	assert_int_equal(file_replace(path, SV("#!/bin/sh\n"), 0755, NULL), 0);
}

static void test_native_program(void **state)
{
	char dir[] = "/tmp/faden-codex-XXXXXX";
	static const char *const made[] = { "bin/codex", "n/@openai/codex/bin/codex.js",
		"n/@openai/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
		"n/@openai/codex-linux-x64/vendor/aarch64-unknown-linux-musl/bin/codex" };

	(void)state;
	assert_non_null(mkdtemp(dir));
	for (size_t i = 0; i < ARRAY_LEN(made); i++)
		make_program(dir, made[i]);
	AUTO_FREE char *link = xasprintf("%s/bin/codex", dir);
	assert_null(codex_native_program(link));
	assert_int_equal(unlink(link), 0);
	assert_int_equal(symlink("../n/@openai/codex/bin/codex.js", link), 0);
	AUTO_FREE char *found = codex_native_program(link);
	assert_non_null(found);
	assert_true(sv_ends(sv_of(found), SV("-unknown-linux-musl/bin/codex")));
	const char *argv[] = { "/bin/rm", "-r", dir, NULL };
	assert_int_equal(
		proc_run(&(struct proc_opts){ .argv = argv, .envp = (const char *const *)environ },
			SV(""), 0, 0, NULL, NULL, &(int){ 0 }, NULL),
		0);
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_turn),
		CASE(test_tools),
		CASE(test_errors),
		CASE(test_hostile_lines),
		CASE(test_usage_of_a_thread),
		CASE(test_toml),
		CASE(test_native_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
