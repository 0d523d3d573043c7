#include <errno.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/uuid.h"
#include "os/proc.h"
#include "transcript/test-session.h"

#define ID "11111111-2222-4333-8444-555555555555"

static void check_name(const char *cwd, const char *want)
{
	AUTO_STR got = STR_INIT;

	claude_project_name(&got, sv_of(cwd));
	assert_string_equal(got.buf, want);
}

static void test_project_names(void **state UNUSED)
{
	check_name("/a.b/c_d", "-a-b-c-d");
	check_name("/", "-");
	check_name("/é", "--");
	check_name("/\xf0\x9f\x98\x80x", "---x");
	check_name("/Home/Z9", "-Home-Z9");
}

/* Worked out by hand in another language: h = h * 31 + unit, 32 bits, signed. */
static void test_long_project_names(void **state UNUSED)
{
	AUTO_STR cwd = STR_INIT;
	AUTO_STR got = STR_INIT;

	str_addc(&cwd, '/');
	for (int i = 0; i < 199; i++)
		str_addc(&cwd, 'a');
	claude_project_name(&got, str_sv(&cwd));
	assert_int_equal(got.len, 200);
	str_addc(&cwd, 'a');
	str_clear(&got);
	claude_project_name(&got, str_sv(&cwd));
	assert_int_equal(strncmp(got.buf, "-aaaa", 5), 0);
	assert_string_equal(got.buf + 200, "-b6ymvl");
	str_adds(&cwd, "/\xf0\x9f\x98\x80\xc3\xa9");
	str_clear(&got);
	claude_project_name(&got, str_sv(&cwd));
	assert_string_equal(got.buf + 200, "-9o7bt2");
}

static void test_paths_of_both_agents(void **state UNUSED)
{
	AUTO_FREE char *claude = claude_session_path("/h/.claude", "/w/x", ID);

	assert_string_equal(claude, "/h/.claude/projects/-w-x/" ID ".jsonl");
	(void)setenv("TZ", "UTC", 1);
	tzset();
	AUTO_FREE char *codex = codex_rollout_path("/h/.codex", (int64_t)T0_S * 1000, ID);
	assert_string_equal(
		codex, "/h/.codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-" ID ".jsonl");
	assert_true(sv_is(transcript_path_id(TRANSCRIPT_CODEX, sv_of(codex)), ID));
	assert_true(sv_is(transcript_path_id(TRANSCRIPT_CLAUDE, sv_of(claude)), ID));
	assert_int_equal(transcript_path_id(TRANSCRIPT_CODEX, SV("/x/rollout-short.jsonl")).n, 0);
	assert_int_equal(transcript_path_id(TRANSCRIPT_CLAUDE, SV("/x/" ID ".txt")).n, 0);
}

struct seen {
	int files, subagents;
};

static int see(void *data, const struct transcript_file *file)
{
	struct seen *seen = data;

	seen->files++;
	seen->subagents += file->subagent;
	assert_true(file->ino != 0 && file->mtime_ns > 0);
	return 0;
}

static void check_provider(const char *folder, const char *config, const char *want)
{
	AUTO_FREE char *file = temp_write(folder, "config.toml", config);
	AUTO_FREE char *session = xasprintf("%s/sessions/2026/03/01/x.jsonl", folder);
	AUTO_STR by_root = STR_INIT;
	AUTO_STR by_session = STR_INIT;

	codex_provider(folder, &by_root);
	codex_provider(session, &by_session);
	assert_string_equal(by_root.buf, want);
	assert_string_equal(by_session.buf, want);
}

static void test_provider_of_models(void **state)
{
	const char *folder = *state;

	check_provider(folder, "", "openai");
	check_provider(folder, "model = 'x'\n  model_provider=\"own\" # mine\n", "own");
	check_provider(folder, "model_provider = 'lit'", "lit");
	check_provider(folder, "model_providers = \"no\"\n[a]\nmodel_provider = \"b\"\n", "openai");
	check_provider(folder, "model_provider = \nmodel_provider = \"\n", "openai");
}

static void test_providers_that_are_known(void **state)
{
	const char *folder = *state;
	AUTO_FREE char *file = temp_write(folder, "config.toml",
		"model_provider = \"default\"\n[model_providers.plain]\nname = \"x\"\n"
		" [model_providers.\"quoted name\"]\n[model_providers.]\n[other.gone]\n"
		"[model_providers.open\n");
	static const struct {
		const char *name;
		bool known;
	} cases[] = { { "openai", true }, { "plain", true }, { "quoted name", true },
		{ "default", false }, { "gone", false }, { "open", false }, { "pl", false } };

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_int_equal(codex_has_provider(folder, sv_of(cases[i].name)), cases[i].known);
}

static int add_path(void *data, const struct transcript_file *file)
{
	str_addf(data, "%s%s\n", file->subagent ? "+" : "", file->path);
	return 0;
}

static void test_beside(void **state)
{
	static const struct {
		const char *place, *of;
	} cases[] = {
		{ "projects/-w/" ID "/tool-results/x.txt", "projects/-w/" ID ".jsonl" },
		{ "projects/-w/" ID "/x", "projects/-w/" ID ".jsonl" },
		{ "projects/-w/" ID "/a/b/c/x.jsonl", "projects/-w/" ID ".jsonl" },
		{ "projects/-w/" ID "/subagents/agent-0.meta.json", "projects/-w/" ID ".jsonl" },
		{ "projects/-w/" ID "/subagents/agent-0.jsonl", NULL },
		{ "projects/-w/" ID ".jsonl", NULL },
		{ "projects/-w/" ID "/", NULL },
		{ "projects/-w/memory/notes.md", NULL },
		{ "projects/" ID "/x/y", NULL },
		{ "todos/-w/" ID "/x", NULL },
	};
	const struct transcript_home home = {
		.agent = "claude", .format = TRANSCRIPT_CLAUDE, .root = *state
	};
	AUTO_STR found = STR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_FREE char *path = path_join(*state, cases[i].place);
		AUTO_FREE char *want = cases[i].of ? path_join(*state, cases[i].of) : NULL;
		AUTO_FREE char *of = transcript_beside_of(&home, path);
		if ((of == NULL) != (want == NULL) || (of && strcmp(of, want) != 0))
			fail_msg("%s: %s", cases[i].place, of ? of : "none");
	}
	AUTO_FREE char *a = temp_write(*state, "projects/-b/" ID "/subagents/agent-0.jsonl", "{}");
	AUTO_FREE char *b = temp_write(*state, "projects/-b/memory/x", "{}");
	AUTO_FREE char *link = path_join(*state, "projects/-b/" ID "/link");
	AUTO_FREE char *session = path_join(*state, "projects/-b/" ID ".jsonl");
	AUTO_FREE char *other = path_join(*state, "projects/-b/memory.jsonl");
	AUTO_FREE char *folder = transcript_folder(TRANSCRIPT_CLAUDE, a);
	assert_int_equal(symlink(b, link), 0);
	assert_int_equal(
		transcript_walk_beside(TRANSCRIPT_CLAUDE, session, add_path, &found, NULL), 0);
	assert_int_equal(
		transcript_walk_beside(TRANSCRIPT_CLAUDE, other, add_path, &found, NULL), 0);
	assert_int_equal(
		transcript_walk_beside(TRANSCRIPT_CODEX, session, add_path, &found, NULL), 0);
	AUTO_FREE char *want = xasprintf("+%s\n", a);
	assert_string_equal(found.buf, want);
	assert_true(sv_eq(sv_of(folder), sv_head(sv_of(session), strlen(session) - 6)));

	/* Nor is the folder itself one that a link leads to. */
	AUTO_FREE char *led = path_join(*state, "projects/-c");
	AUTO_FREE char *to = path_join(*state, "projects/-c/" ID);
	AUTO_FREE char *linked = path_join(*state, "projects/-c/" ID ".jsonl");
	assert_int_equal(mkdir(led, 0700), 0);
	assert_int_equal(symlink(folder, to), 0);
	str_clear(&found);
	assert_int_equal(
		transcript_walk_beside(TRANSCRIPT_CLAUDE, linked, add_path, &found, NULL), 0);
	assert_int_equal(found.len, 0);
}

/* One to a file elsewhere is a session where it lies, by whichever path that is given. */
static void test_links(void **state)
{
	AUTO_FREE char *root = path_join(*state, "home");
	AUTO_FREE char *real = path_join(*state, "real");
	const struct transcript_home home = {
		.agent = "claude", .format = TRANSCRIPT_CLAUDE, .root = root
	};
	const struct transcript_home *found;
	struct seen seen = { 0, 0 };

	assert_int_equal(symlink("real", root), 0);
	free(temp_write(*state, "real/projects/-w/" ID ".jsonl", "{}\n"));
	free(temp_write(*state, "real/projects/-v/other.jsonl", "{}\n"));
	free(temp_write(*state, "else/away", "{}\n"));
	free(temp_write(*state, "far/" ID ".jsonl", "{}\n"));
	static const struct {
		const char *to, *path;
	} links[] = {
		{ "../../../else/away", "real/projects/-v/" ID ".jsonl" },
		{ "../-w/" ID ".jsonl", "real/projects/-v/" ID "0.jsonl" },
		{ "../../../../../else/away", "real/projects/-w/" ID "/subagents/agent-0.jsonl" },
		{ "../../far", "real/projects/-far" },
		{ "real/projects/-w/" ID ".jsonl", "outside.jsonl" },
	};
	free(temp_write(*state, "real/projects/-w/" ID "/subagents/agent-1.jsonl", "{}\n"));
	for (size_t i = 0; i < ARRAY_LEN(links); i++) {
		AUTO_FREE char *path = path_join(*state, links[i].path);
		assert_int_equal(symlink(links[i].to, path), 0);
	}
	assert_int_equal(transcript_walk(&home, see, NULL, &seen, NULL), 0);
	assert_int_equal(seen.files, 5);
	assert_int_equal(seen.subagents, 1);

	static const struct {
		const char *given, *path;
		bool in;
	} cases[] = {
		{ "home/projects/-w/" ID ".jsonl", "real/projects/-w/" ID ".jsonl", true },
		{ "outside.jsonl", "real/projects/-w/" ID ".jsonl", true },
		{ "home/projects/-v/" ID ".jsonl", "real/projects/-v/" ID ".jsonl", true },
		{ "else/../home/projects/./-v//" ID ".jsonl", "real/projects/-v/" ID ".jsonl",
			true },
		{ "home/projects/-v/" ID "0.jsonl", "real/projects/-w/" ID ".jsonl", true },
		{ "home/projects/-far/./" ID ".jsonl", "real/projects/-far/" ID ".jsonl", true },
		{ "home/projects/-far/../else/away", "else/away", false },
		{ "else/away", "else/away", false },
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_FREE char *given = path_join(*state, cases[i].given);
		AUTO_FREE char *want = path_join(*state, cases[i].path);
		AUTO_FREE char *path = NULL;
		assert_int_equal(transcript_locate(&home, 1, given, &path, &found, NULL), 0);
		assert_string_equal(path, want);
		assert_ptr_equal(found, cases[i].in ? &home : NULL);
	}
	AUTO_FREE char *none = path_join(real, "none");
	AUTO_FREE char *path = NULL;
	assert_int_equal(transcript_locate(&home, 1, none, &path, &found, NULL), -ENOENT);
}

static void test_walk_and_find(void **state)
{
	static const char *const names[] = {
		"projects/-w/" ID ".jsonl",
		"projects/-w/notes.txt",
		"projects/-w/" ID "/subagents/agent-0.jsonl",
		"projects/-w/" ID "/tool-results/data.jsonl",
		"projects/-w/memory/log.jsonl",
		"projects/-v/other.jsonl",
		"projects/stray.jsonl",
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		AUTO_FREE char *path = temp_write(*state, names[i], "{}\n");
		assert_non_null(path);
	}
	const struct transcript_home home = { .agent = "claude",
		.format = TRANSCRIPT_CLAUDE,
		.root = *state,
		.variable = "CLAUDE_CONFIG_DIR",
		.below = ".claude" };
	struct seen seen = { 0, 0 };
	assert_int_equal(transcript_walk(&home, see, NULL, &seen, NULL), 0);
	assert_int_equal(seen.files, 3);
	assert_int_equal(seen.subagents, 1);
	AUTO_FREE char *found = NULL;
	AUTO_FREE char *none = NULL;
	assert_int_equal(transcript_find(&home, SV(ID), &found, NULL), 0);
	assert_non_null(found);
	assert_true(sv_ends(sv_of(found), SV("/-w/" ID ".jsonl")));
	assert_int_equal(transcript_find(&home, SV("555555555555"), &none, NULL), 0);
	assert_null(none);
}

static void test_loader_of_a_thread_is_a_writer(void **state)
{
	char id[UUID_TEXT]; /* this test may run elsewhere at the same time */

	uuid_new(id);
	AUTO_FREE char *program = temp_write(*state, "codex-test", "read line\n");
	AUTO_FREE char *set = xasprintf("CODEX_HOME=%s", (const char *)*state);
	const char *const argv[] = { "/bin/sh", program, "resume", id, "app-server", NULL };
	const char *const envp[] = { "HOME=/", set, NULL };
	const struct proc_opts opts = {
		.argv = argv, .envp = envp, .in = PROC_PIPE, .out = PROC_NULL, .err = PROC_NULL
	};
	const struct transcript_home codex = { .agent = "codex",
		.format = TRANSCRIPT_CODEX,
		.root = *state,
		.variable = "CODEX_HOME",
		.below = ".codex" };
	const struct transcript_home claude = { .agent = "claude",
		.format = TRANSCRIPT_CLAUDE,
		.root = *state,
		.variable = "CLAUDE_CONFIG_DIR",
		.below = ".claude" };
	const struct transcript_home other = { .agent = "codex",
		.format = TRANSCRIPT_CODEX,
		.root = "/",
		.variable = "CODEX_HOME",
		.below = ".codex" };
	const struct transcript_home gone = { .agent = "codex",
		.format = TRANSCRIPT_CODEX,
		.root = "/no/such/folder",
		.variable = "CODEX_HOME",
		.below = ".codex" };
	struct proc p = PROC_INIT;
	AUTO_STR who = STR_INIT;

	assert_int_equal(transcript_loader(&codex, id, NULL), 0);
	assert_int_equal(proc_spawn(&p, &opts, NULL), 0);
	/* The kernel shows the arguments a moment after the program runs. */
	while (!proc_arguments(p.pid, &who))
		(void)usleep(1000);
	str_clear(&who);
	assert_int_equal(transcript_loader(&codex, id, NULL), p.pid);
	assert_int_equal(transcript_loader(&other, id, NULL), 0);
	assert_int_equal(transcript_loader(&gone, id, NULL), p.pid);
	assert_int_equal(transcript_loader(&claude, id, NULL), 0);
	assert_int_equal(transcript_loader(&codex, "no-such-id", NULL), 0);
	assert_true(writer_is_server(p.pid));
	assert_false(writer_is_server(getpid()));
	writer_describe("codex", p.pid, &who);
	assert_true(sv_find(str_sv(&who), SV("background server"), NULL));
	proc_release(&p);
	assert_int_equal(transcript_loader(&codex, id, NULL), 0);
}

/* A server that works for a faden is no server in the background. */
static void test_server_of_ours(void **state)
{
	AUTO_FREE char *program = temp_write(*state, "codex-test", "read line\n");
	const char *const argv[] = { "/bin/sh", program, "app-server", NULL };
	const char *const envp[] = { "HOME=/", PROC_MARK "=1.2.x", NULL };
	const struct proc_opts opts = {
		.argv = argv, .envp = envp, .in = PROC_PIPE, .out = PROC_NULL, .err = PROC_NULL
	};
	struct proc p = PROC_INIT;
	AUTO_STR words = STR_INIT;

	assert_int_equal(proc_spawn(&p, &opts, NULL), 0);
	while (!proc_arguments(p.pid, &words))
		(void)usleep(1000);
	assert_false(writer_is_server(p.pid));
	proc_release(&p);
}

/* One that keeps its sessions below HOME, in a folder that it has not made yet. */
static void test_loader_elsewhere(void **state)
{
	char id[UUID_TEXT];

	uuid_new(id);
	AUTO_FREE char *program = temp_write(*state, "codex-test", "read line\n");
	AUTO_FREE char *set = xasprintf("HOME=%s", (const char *)*state);
	const char *const argv[] = { "/bin/sh", program, "resume", id, NULL };
	const char *const envp[] = { set, NULL };
	const struct proc_opts opts = {
		.argv = argv, .envp = envp, .in = PROC_PIPE, .out = PROC_NULL, .err = PROC_NULL
	};
	AUTO_FREE char *usual = path_join(*state, ".codex");
	const struct transcript_home other = { .agent = "codex",
		.format = TRANSCRIPT_CODEX,
		.root = *state,
		.variable = "CODEX_HOME",
		.below = ".codex" };
	const struct transcript_home home = { .agent = "codex",
		.format = TRANSCRIPT_CODEX,
		.root = usual,
		.variable = "CODEX_HOME",
		.below = ".codex" };
	struct proc p = PROC_INIT;
	AUTO_STR words = STR_INIT;

	assert_int_equal(proc_spawn(&p, &opts, NULL), 0);
	while (!proc_arguments(p.pid, &words))
		(void)usleep(1000);
	assert_int_equal(transcript_loader(&other, id, NULL), 0);
	assert_int_equal(file_mkdirs(usual, NULL), 0);
	assert_int_equal(transcript_loader(&other, id, NULL), 0);
	assert_int_equal(transcript_loader(&home, id, NULL), p.pid);
	proc_release(&p);
}

static void test_claude_writers(void **state)
{
	const struct transcript_home home = { .agent = "claude",
		.format = TRANSCRIPT_CLAUDE,
		.root = *state,
		.variable = "CLAUDE_CONFIG_DIR",
		.below = ".claude" };
	AUTO_MAP ids = MAP_INIT;
	AUTO_STR note = STR_INIT;
	uint64_t pid;
	unsigned long long start = proc_start_time(getpid());

	str_addf(&note, "{\"pid\":%d,\"sessionId\":\"alive\",\"procStart\":\"%llu\"}", getpid(),
		start);
	AUTO_FREE char *a = temp_write(*state, "sessions/1.json", note.buf);
	str_clear(&note);
	str_addf(&note, "{\"pid\":%d,\"sessionId\":\"reused\",\"procStart\":\"%llu\"}", getpid(),
		start + 1);
	AUTO_FREE char *b = temp_write(*state, "sessions/2.json", note.buf);
	AUTO_FREE char *c = temp_write(
		*state, "sessions/3.json", "{\"pid\":2147483647,\"sessionId\":\"dead\"}");
	AUTO_FREE char *d = temp_write(*state, "sessions/4.json", "half of a no");
	/* Without a start time the name has to do, and ours is another. */
	str_clear(&note);
	str_addf(&note, "{\"pid\":%d,\"sessionId\":\"another\"}", getpid());
	AUTO_FREE char *e = temp_write(*state, "sessions/5.json", note.buf);
	str_clear(&note);
	str_addf(&note, "{\"pid\":%d,\"sessionId\":\"odd\",\"procStart\":\"Tue Mar 3\"}", getpid());
	AUTO_FREE char *f = temp_write(*state, "sessions/6.json", note.buf);
	transcript_writers(&home, NULL, &ids);
	assert_int_equal(ids.n, 1);
	assert_true(map_get(&ids, SV("alive"), &pid));
	assert_int_equal(pid, getpid());
}

static void test_codex_writers(void **state)
{
	const struct transcript_home home = { .agent = "codex",
		.format = TRANSCRIPT_CODEX,
		.root = *state,
		.variable = "CODEX_HOME",
		.below = ".codex" };
	AUTO_FREE char *held = temp_write(*state, "thread-writer-locks/held.lock", "");
	AUTO_FREE char *left = temp_write(*state, "thread-writer-locks/left.lock", "");
	AUTO_MAP ids = MAP_INIT;
	AUTO_CLOSE int fd = open(held, O_RDWR | O_CLOEXEC);
	uint64_t pid;

	assert_int_equal(flock(fd, LOCK_EX), 0);
	transcript_writers(&home, NULL, &ids);
	assert_int_equal(ids.n, 1);
	assert_true(map_get(&ids, SV("held"), &pid));
}

static void test_nobody_writes(void **state)
{
	const struct transcript_home homes[] = {
		{ .agent = "claude", .format = TRANSCRIPT_CLAUDE, .root = *state },
		{ .agent = "codex", .format = TRANSCRIPT_CODEX, .root = "/nowhere" }
	};
	AUTO_MAP ids = MAP_INIT;

	transcript_writers(&homes[0], NULL, &ids);
	transcript_writers(&homes[1], NULL, &ids);
	assert_int_equal(ids.n, 0);
}

static void test_injected_words_are_known(void **state UNUSED)
{
	static const struct {
		const struct transcript_format *format;
		const char *text;
		bool injected;
	} cases[] = {
		{ TRANSCRIPT_CLAUDE, "\n <system-reminder>x", true },
		{ TRANSCRIPT_CLAUDE, "<teammate-message from=\"a\">", true },
		{ TRANSCRIPT_CLAUDE, "<system-reminders> are odd", false },
		{ TRANSCRIPT_CLAUDE, "why <system-reminder>?", false },
		{ TRANSCRIPT_CLAUDE, "<environment_context>", false },
		{ TRANSCRIPT_CLAUDE, "[Request interrupted by user for tool use]", true },
		{ TRANSCRIPT_CLAUDE, "", false },
		{ TRANSCRIPT_CODEX, "<environment_context>", true },
		{ TRANSCRIPT_CODEX, "# AGENTS.md instructions for /x", true },
		{ TRANSCRIPT_CODEX, "<permissions instructions>", true },
		{ TRANSCRIPT_CODEX, "# a heading", false },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_int_equal(transcript_injected(cases[i].format, sv_of(cases[i].text)),
			cases[i].injected);
}

static void check_moved(
	const struct transcript_home homes[2], const char *agent, const char *was, const char *want)
{
	AUTO_FREE char *got = transcript_moved(homes, 2, agent, was);

	if (want)
		assert_string_equal(got, want);
	else
		assert_null(got);
}

/* The tail of a path tells where it would lie, once its home is no more. */
static void test_a_home_that_was_moved(void **state)
{
	AUTO_FREE char *alive = xasprintf("%s/projects/-p/" ID ".jsonl", (char *)*state);
	const struct transcript_home homes[] = {
		{ .agent = "claude", .format = TRANSCRIPT_CLAUDE, .root = "/new/.claude" },
		{ .agent = "codex", .format = TRANSCRIPT_CODEX, .root = "/new/.codex" },
	};
	static const char own[] = "/old/.claude/projects/-p/" ID ".jsonl";

	check_moved(homes, "claude", own, "/new/.claude/projects/-p/" ID ".jsonl");
	check_moved(homes, "", own, "/new/.claude/projects/-p/" ID ".jsonl");
	check_moved(homes, "codex", own, NULL);
	check_moved(homes, "", "/old/other/projects/-p/" ID ".jsonl", NULL);
	check_moved(homes, "claude", "/old/other/projects/-p/" ID ".jsonl",
		"/new/.claude/projects/-p/" ID ".jsonl");
	check_moved(homes, "claude", "/old/.claude/projects/-p/" ID "/subagents/agent-7.jsonl",
		"/new/.claude/projects/-p/" ID "/subagents/agent-7.jsonl");
	check_moved(homes, "claude", "/old/.claude/projects/-p/" ID "/tool-results/7.txt",
		"/new/.claude/projects/-p/" ID "/tool-results/7.txt");
	check_moved(homes, "codex",
		"/old/.codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-" ID ".jsonl",
		"/new/.codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-" ID ".jsonl");
	check_moved(homes, "claude", "/old/.claude/history.jsonl", NULL);
	check_moved(homes, "claude", "/new/.claude/projects/-p/" ID ".jsonl", NULL);
	check_moved(homes, "claude", "", NULL);
	/* One that is there is another home. */
	check_moved(homes, "claude", alive, NULL);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, folder_setup, folder_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_project_names),
		CASE(test_long_project_names),
		CASE(test_paths_of_both_agents),
		CASE(test_provider_of_models),
		CASE(test_providers_that_are_known),
		CASE(test_walk_and_find),
		CASE(test_links),
		CASE(test_beside),
		CASE(test_a_home_that_was_moved),
		CASE(test_loader_of_a_thread_is_a_writer),
		CASE(test_server_of_ours),
		CASE(test_loader_elsewhere),
		CASE(test_claude_writers),
		CASE(test_codex_writers),
		CASE(test_nobody_writes),
		CASE(test_injected_words_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
