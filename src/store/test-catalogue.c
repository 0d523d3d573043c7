#include <sys/wait.h>

#include "base/mem.h"
#include "base/uuid.h"
#include "store/catalogue-row.h"
#include "store/conv.h"
#include "store/test-world.h"

#define ID_A "aaaaaaaa-0000-4000-8000-000000000001"
#define ID_B "aaaabbbb-0000-4000-8000-000000000002"
#define ID_C "cccccccc-0000-4000-8000-000000000003"
#define DEMO "claude/projects/-work-demo/"
#define ROLLOUT "codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-" ID_C ".jsonl"

static void write_claude(const struct world *w, const char *name, const char *prompt, int turns)
{
	AUTO_STR text = STR_INIT;

	claude_user(&text, "u0", NULL, prompt);
	for (int i = 1; i < turns; i++)
		claude_user(&text, "u1", "u0", "more");
	AUTO_FREE char *path = session_write(w->folder, name, str_sv(&text));
}

static void append(const struct world *w, const char *name, const char *line)
{
	AUTO_FREE char *path = path_join(w->folder, name);

	assert_int_equal(file_append(path, sv_of(line), false, NULL), 0);
}

static void write_codex(const struct world *w)
{
	AUTO_STR text = STR_INIT;

	codex_line(&text, "session_meta", "{\"id\":\"" ID_C "\",\"cwd\":\"/work/other\"}");
	codex_message(&text, "user", "<environment_context>x</environment_context>");
	codex_message(&text, "user", "codex words");
	AUTO_FREE char *path = session_write(w->folder, ROLLOUT, str_sv(&text));
}

static int setup(void **state)
{
	struct world *w = world_new("state/store.db");

	write_claude(w, DEMO ID_A ".jsonl", "alpha words", 1);
	write_claude(w, DEMO ID_B ".jsonl", "beta words", 3);
	write_codex(w);
	*state = w;
	return 0;
}

static void on_trouble(void *data, const struct err *err)
{
	struct world *w = data;

	assert_true(err->msg[0] != '\0');
	w->troubles++;
}

static struct catalogue_stats refresh(struct world *w)
{
	const struct catalogue_opts opts = { .trouble = on_trouble, .data = w };
	struct catalogue_stats stats;
	struct err err = ERR_INIT;
	int r = catalogue_refresh(w->store, w->homes, 2, &opts, &stats, &err);

	assert_string_equal(err.msg, "");
	assert_int_equal(r, 0);
	return stats;
}

static int count_row(void *data, const struct session_row *row)
{
	assert_non_null(row->info.id);
	++*(int *)data;
	return 0;
}

static int count(const struct world *w, struct catalogue_query query)
{
	int rows = 0;

	assert_int_equal(catalogue_query(w->store, &query, count_row, &rows, NULL), 0);
	return rows;
}

static struct session_row get(const struct world *w, const char *name)
{
	struct session_row row;
	AUTO_FREE char *path = path_join(w->folder, name);

	assert_int_equal(catalogue_by_path(w->store, path, &row, NULL), 0);
	return row;
}

static void test_reads_only_what_changed(void **state)
{
	struct world *w = *state;

	assert_int_equal(refresh(w).read, 3);
	struct catalogue_stats stats = refresh(w);
	assert_int_equal(stats.files, 3);
	assert_int_equal(stats.read, 0);
	append(w, DEMO ID_A ".jsonl",
		"{\"type\":\"user\",\"uuid\":\"u9\",\"message\":{\"content\":\"next\"}}\n");
	assert_int_equal(refresh(w).read, 1);
	AUTO_SESSION_ROW row = get(w, DEMO ID_A ".jsonl");
	assert_int_equal(row.info.turns, 2);
	assert_string_equal(row.info.prompt, "alpha words");
	assert_string_equal(row.agent, "claude");
	assert_string_equal(row.info.cwd, "/work/demo");
}

/* As large and as old as before, it may be another one. */
static void test_reads_what_has_the_time_of_before(void **state)
{
	struct world *w = *state;
	AUTO_FREE char *path = path_join(w->folder, DEMO ID_A ".jsonl");
	AUTO_STR bytes = STR_INIT;

	assert_int_equal(refresh(w).read, 3);
	assert_int_equal(file_read(path, 1 << 20, &bytes, NULL), 0);
	temp_overwrite(path, (size_t)(strstr(bytes.buf, "alpha") - bytes.buf), SV("omega"));
	assert_int_equal(refresh(w).read, 1);
	AUTO_SESSION_ROW row = get(w, DEMO ID_A ".jsonl");
	assert_string_equal(row.info.prompt, "omega words");
	assert_int_equal(refresh(w).read, 0);
}

/* The row that comes from the store must let a scan go on as if it had never stopped. */
static void test_row_keeps_everything(void **state)
{
	struct world *w = *state;

	append(w, DEMO ID_B ".jsonl",
		"{\"faden_metadata\":{\"relation\":\"trimmed\",\"parent_id\":\"" ID_A "\","
		"\"parent_file\":\"/p/"
		"x.jsonl\"}}\n{\"type\":\"custom-title\",\"customTitle\":\"N\"}\n"
		"{\"type\":\"user\",\"message\":{\"content\":\"torn\"}}");
	refresh(w);
	struct session_info direct;
	AUTO_SESSION_ROW row = get(w, DEMO ID_B ".jsonl");
	session_info_init(&direct, TRANSCRIPT_CLAUDE, row.info.path);
	session_scan(&direct);
	assert_same_info(&direct, &row.info);
	session_info_release(&direct);
}

static void test_vanished_and_back(void **state)
{
	struct world *w = *state;

	refresh(w);
	AUTO_FREE char *path = path_join(w->folder, DEMO ID_A ".jsonl");
	AUTO_FREE char *away = path_join(w->folder, "away");
	assert_int_equal(rename(path, away), 0);
	assert_int_equal(refresh(w).gone, 1);
	assert_int_equal(refresh(w).gone, 0);
	assert_int_equal(count(w, (struct catalogue_query){ .limit = 0 }), 2);
	assert_int_equal(count(w, (struct catalogue_query){ .gone = true }), 3);
	assert_int_equal(rename(away, path), 0);
	refresh(w);
	assert_int_equal(count(w, (struct catalogue_query){ .limit = 0 }), 3);
}

static void test_unreadable_home(void **state)
{
	struct world *w = *state;

	refresh(w);
	AUTO_FREE char *project = path_join(w->folder, "claude/projects/-work-demo");
	if (geteuid() == 0) {
		/* root reads everything: a folder that is a link to itself will do */
		AUTO_FREE char *away = path_join(w->folder, "moved");
		AUTO_FREE char *projects = path_join(w->folder, "claude/projects");
		assert_int_equal(rename(projects, away), 0);
		assert_int_equal(symlink("projects", projects), 0);
	} else {
		assert_int_equal(chmod(project, 0), 0);
	}
	struct catalogue_stats stats = refresh(w);
	assert_true(stats.troubles > 0 && w->troubles > 0);
	/* what cannot be seen has not vanished */
	assert_int_equal(stats.gone, 0);
	assert_int_equal(count(w, (struct catalogue_query){ .agent = "codex" }), 1);
	(void)chmod(project, 0700);
}

static void test_other_homes_are_left_alone(void **state)
{
	struct world *w = *state;

	refresh(w);
	struct catalogue_stats stats;
	assert_int_equal(catalogue_refresh(w->store, &w->homes[1], 1, NULL, &stats, NULL), 0);
	assert_int_equal(stats.files, 1);
	assert_int_equal(stats.gone, 0);
	assert_int_equal(count(w, (struct catalogue_query){ .agent = "claude" }), 2);
}

static void test_missing_homes(void **state)
{
	struct world *w = *state;
	const struct transcript_home none = {
		.agent = "claude", .format = TRANSCRIPT_CLAUDE, .root = "/nowhere/at/all"
	};
	struct catalogue_stats stats;

	assert_int_equal(catalogue_refresh(w->store, &none, 1, NULL, &stats, NULL), 0);
	assert_int_equal(stats.files + stats.troubles, 0);
}

static void test_filters_choose_rows(void **state)
{
	struct world *w = *state;

	write_claude(w, DEMO ID_A "/subagents/agent-0123.jsonl", "sub task", 1);
	AUTO_FREE char *empty =
		temp_write(w->folder, DEMO "dddddddd-0000-4000-8000-000000000004.jsonl", "");
	refresh(w);
	assert_int_equal(count(w, (struct catalogue_query){ .limit = 0 }), 3);
	assert_int_equal(count(w, (struct catalogue_query){ .limit = 2 }), 2);
	assert_int_equal(count(w, (struct catalogue_query){ .empty = true }), 4);
	assert_int_equal(count(w, (struct catalogue_query){ .subagents = true }), 4);
	assert_int_equal(count(w, (struct catalogue_query){ .dir = "/work/demo" }), 2);
	assert_int_equal(count(w, (struct catalogue_query){ .dir = "/work" }), 0);
	assert_int_equal(count(w, (struct catalogue_query){ .dir = "/work", .below = true }), 3);
	assert_int_equal(count(w, (struct catalogue_query){ .dir = "/", .below = true }), 3);
	assert_int_equal(count(w,
				 (struct catalogue_query){
					 .dir = "/work/demo", .where = CATALOGUE_ELSEWHERE }),
		1);
	assert_int_equal(
		count(w,
			(struct catalogue_query){
				.dir = "/work", .below = true, .where = CATALOGUE_ELSEWHERE }),
		0);
	assert_int_equal(count(w, (struct catalogue_query){ .text = "BETA" }), 1);
	assert_int_equal(count(w, (struct catalogue_query){ .text = "%" }), 0);
	assert_int_equal(count(w, (struct catalogue_query){ .since_ms = (int64_t)T0_S * 1000 }), 3);
	assert_int_equal(
		count(w, (struct catalogue_query){ .since_ms = (int64_t)T0_S * 1000 + 1 }), 0);
	AUTO_SESSION_ROW sub = get(w, DEMO ID_A "/subagents/agent-0123.jsonl");
	assert_true(sub.info.flags & SESSION_SUBAGENT);
	assert_string_equal(sub.info.parent_id, ID_A);
}

static int resolve(const struct world *w, const char *spec, char *ret_id, size_t *ret_matches)
{
	AUTO_SESSION_ROW row = SESSION_ROW_INIT;
	CLEANUP(catalogue_matches_release) struct catalogue_matches matches = { .more = false };
	struct err err = ERR_INIT;
	int r = catalogue_resolve(w->store, w->homes, 2, spec, &row, &matches, &err);

	if (r == 0)
		(void)snprintf(ret_id, UUID_TEXT, "%s", row.info.id);
	else
		assert_true(err.msg[0] != '\0');
	if (ret_matches)
		*ret_matches = matches.rows.n;
	return r;
}

/* Nothing is called so, and SQLite takes no pattern without end. */
static void test_resolve_takes_any_length(void **state)
{
	struct world *w = *state;
	char id[UUID_TEXT] = "";

	refresh(w);
	for (size_t n = LIKE_TEXT_MAX; n <= LIKE_TEXT_MAX + 1; n++) {
		AUTO_FREE char *spec = xmalloc(n + 1);
		memset(spec, '%', n);
		spec[n] = '\0';
		assert_int_equal(resolve(w, spec, id, NULL), ERR_NOTFOUND);
		assert_int_equal(count(w, (struct catalogue_query){ .text = spec }), 0);
	}
}

static void test_resolve_takes_path_id_and_fragment(void **state)
{
	struct world *w = *state;
	char id[UUID_TEXT] = "";
	size_t n;
	AUTO_FREE char *path = path_join(w->folder, DEMO ID_A ".jsonl");

	assert_int_equal(resolve(w, path, id, NULL), 0);
	assert_string_equal(id, ID_A);
	assert_int_equal(resolve(w, ID_C, id, NULL), 0);
	assert_string_equal(id, ID_C);
	/* looked up alone: the third one was never read */
	assert_int_equal(count(w, (struct catalogue_query){ .limit = 0 }), 2);
	assert_int_equal(resolve(w, "aaaaB", id, NULL), 0);
	assert_string_equal(id, ID_B);
	assert_int_equal(resolve(w, "aaaa", id, &n), ERR_AMBIGUOUS);
	assert_int_equal(n, 2);
	assert_int_equal(resolve(w, "000000003", id, NULL), 0);
	assert_string_equal(id, ID_C);
	assert_int_equal(resolve(w, "ccc", id, NULL), ERR_NOTFOUND);
	assert_int_equal(resolve(w, "", id, NULL), ERR_NOTFOUND);
	assert_int_equal(resolve(w, "/no/such.jsonl", id, NULL), ERR_NOTFOUND);
	assert_int_equal(
		resolve(w, "ffffffff-0000-4000-8000-000000000001", id, NULL), ERR_NOTFOUND);
}

static void test_resolve_stray_file(void **state)
{
	struct world *w = *state;
	char id[UUID_TEXT] = "";

	write_claude(w, "elsewhere/stray.jsonl", "stray", 1);
	AUTO_FREE char *path = path_join(w->folder, "elsewhere/stray.jsonl");
	assert_int_equal(resolve(w, path, id, NULL), 0);
	assert_string_equal(id, "stray");
	refresh(w);
	assert_int_equal(count(w, (struct catalogue_query){ .limit = 0 }), 3);
}

static void test_resolve_after_the_file_went(void **state)
{
	struct world *w = *state;
	char id[UUID_TEXT] = "";

	refresh(w);
	AUTO_FREE char *path = path_join(w->folder, DEMO ID_A ".jsonl");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(resolve(w, ID_A, id, NULL), ERR_NOTFOUND);
}

static void test_names_find_sessions(void **state)
{
	struct world *w = *state;
	char id[UUID_TEXT] = "";

	append(w, DEMO ID_A ".jsonl",
		"{\"type\":\"custom-title\",\"customTitle\":\"Blue door\"}\n");
	append(w, "codex/session_index.jsonl",
		"{\"id\":\"" ID_C "\",\"thread_name\":\"first\"}\n"
		"{\"id\":\"" ID_C "\",\"thread_name\":\"Green door\"}\n");
	assert_int_equal(resolve(w, "blue DOOR", id, NULL), 0);
	assert_string_equal(id, ID_A);
	assert_int_equal(resolve(w, "green", id, NULL), 0);
	assert_string_equal(id, ID_C);
	assert_int_equal(resolve(w, "door", id, NULL), ERR_AMBIGUOUS);
	/* a new name of the agent's, the session itself unchanged */
	append(w, "codex/session_index.jsonl",
		"{\"id\":\"" ID_C "\",\"thread_name\":\"Red door\"}\n");
	assert_int_equal(resolve(w, "red door", id, NULL), 0);
	/* ours wins */
	assert_int_equal(catalogue_rename(w->store, "codex", ID_C, "Mine", NULL), 0);
	assert_int_equal(resolve(w, "mine", id, NULL), 0);
	assert_string_equal(id, ID_C);
	assert_int_equal(resolve(w, "red door", id, NULL), ERR_NOTFOUND);
	assert_int_equal(catalogue_rename(w->store, "codex", ID_C, "", NULL), 0);
	assert_int_equal(resolve(w, "red door", id, NULL), 0);
}

static void name_anew(void *data, const struct catalogue_progress *p)
{
	(void)p;
	append(data, "codex/session_index.jsonl",
		"{\"id\":\"" ID_C "\",\"thread_name\":\"Red door\"}\n");
}

/* A name that is given between the reading of the names and the end of the refresh. */
static void test_names_given_meanwhile(void **state)
{
	struct world *w = *state;
	const struct catalogue_opts opts = { .progress = name_anew, .data = w };

	append(w, "codex/session_index.jsonl",
		"{\"id\":\"" ID_C "\",\"thread_name\":\"Green door\"}\n");
	assert_int_equal(catalogue_refresh(w->store, w->homes, 2, &opts, NULL, NULL), 0);
	char id[UUID_TEXT] = "";
	assert_int_equal(resolve(w, "red door", id, NULL), 0);
	assert_string_equal(id, ID_C);
}

static void test_children_of_a_session(void **state)
{
	struct world *w = *state;

	append(w, DEMO ID_B ".jsonl",
		"{\"continue_metadata\":{\"parent_session_id\":\"" ID_A "\"}}\n");
	refresh(w);
	int rows = 0;
	AUTO_SESSION_ROW parent = get(w, DEMO ID_A ".jsonl");
	assert_int_equal(catalogue_children(w->store, &parent.info, count_row, &rows, NULL), 0);
	assert_int_equal(rows, 1);
	/* One of which no more is known than its id, or nothing. */
	char none[] = "", id[] = ID_A;
	struct session_info bare = { .path = none, .id = id };
	rows = 0;
	assert_int_equal(catalogue_children(w->store, &bare, count_row, &rows, NULL), 0);
	assert_int_equal(rows, 1);
	bare.id = none;
	assert_int_equal(catalogue_children(w->store, &bare, count_row, &rows, NULL), 0);
	assert_int_equal(rows, 1);
}

static void test_memory_store(void **state)
{
	struct world *w = *state;

	store_close(w->store);
	assert_int_equal(store_open(NULL, STORE_MEMORY, NULL, &w->store, NULL), 0);
	assert_int_equal(refresh(w).read, 3);
	assert_int_equal(count(w, (struct catalogue_query){ .limit = 0 }), 3);
}

/* Several processes refresh one store that does not exist yet. */
static void test_two_processes(void **state)
{
	enum { PROCESSES = 4, FILES = 60 };
	struct world *w = *state;
	pid_t pids[PROCESSES];

	for (int i = 0; i < FILES; i++) {
		AUTO_FREE char *name = xasprintf(DEMO "eeeeeeee-0000-4000-8000-%012d.jsonl", i);
		write_claude(w, name, "many", 2);
	}
	AUTO_FREE char *path = path_join(w->folder, "state/shared.db");
	/* a handle must not cross a fork */
	store_close(w->store);
	w->store = NULL;
	for (int i = 0; i < PROCESSES; i++) {
		pids[i] = fork();
		if (pids[i] != 0)
			continue;
		struct store *store = NULL;
		int r = store_open(path, 0, NULL, &store, NULL);
		if (r >= 0)
			r = catalogue_refresh(store, w->homes, 2, NULL, NULL, NULL);
		store_close(store);
		_exit(r < 0);
	}
	for (int i = 0; i < PROCESSES; i++) {
		int status = -1;
		assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
		assert_int_equal(status, 0);
	}
	assert_int_equal(store_open(path, 0, NULL, &w->store, NULL), 0);
	assert_int_equal(count(w, (struct catalogue_query){ .limit = 0 }), FILES + 3);
	assert_int_equal(refresh(w).read, 0);
}

static struct catalogue_stats refresh_near(struct world *w, const char *dir)
{
	static const int64_t now_ms = (T0_S + 3600) * INT64_C(1000);
	struct catalogue_stats stats;

	assert_int_equal(
		catalogue_refresh_near(w->store, w->homes, 2, dir, now_ms, &stats, NULL), 0);
	return stats;
}

static void test_near_is_only_what_the_folder_needs(void **state)
{
	struct world *w = *state;
	AUTO_FREE char *gone = path_join(w->folder, DEMO ID_B ".jsonl");
	const struct catalogue_query all = { .limit = 0 };

	write_claude(w, "claude/projects/-work-far/" ID_A ".jsonl", "far words", 1);
	write_claude(w, DEMO ID_A "/subagents/agent-x.jsonl", "for somebody else", 1);
	assert_int_equal(refresh_near(w, "/work/demo").read, 3); /* Codex's of the day as well */
	assert_int_equal(count(w, all), 3);
	assert_int_equal(refresh_near(w, "/work/demo").read, 0);
	assert_int_equal(refresh(w).read, 2);
	append(w, DEMO ID_A ".jsonl", "{}\n");
	assert_int_equal(unlink(gone), 0);
	struct catalogue_stats stats = refresh_near(w, "/work/demo");
	assert_int_equal(stats.read, 1);
	assert_int_equal(stats.gone, 1);
	/* What lies deeper, and elsewhere, is not taken for gone. */
	assert_int_equal(count(w, (struct catalogue_query){ .subagents = true }), 4);
	/* Codex's of another day is looked at because it is known. */
	append(w, ROLLOUT, "{}\n");
	static const int64_t later_ms = (T0_S + 90 * 86400) * INT64_C(1000);
	assert_int_equal(catalogue_refresh_near(
				 w->store, w->homes, 2, "/work/other", later_ms, &stats, NULL),
		0);
	assert_int_equal(stats.read, 1);
}

/* A power loss may leave size and time as they were. */
static void test_near_sees_what_was_blanked(void **state)
{
	struct world *w = *state;
	AUTO_FREE char *path = path_join(w->folder, DEMO ID_B ".jsonl");
	const struct timespec long_ago[2] = { { .tv_sec = T0_S }, { .tv_sec = T0_S } };
	AUTO_STR text = STR_INIT;

	assert_int_equal(utimensat(AT_FDCWD, path, long_ago, 0), 0);
	assert_int_equal(refresh_near(w, "/work/demo").gone, 0);
	assert_int_equal(file_read(path, 1 << 20, &text, NULL), 0);
	memset(text.buf, 0, text.len);
	AUTO_CLOSE int fd = open(path, O_WRONLY | O_CLOEXEC);
	assert_int_equal(file_write_all(fd, str_sv(&text), NULL), 0);
	assert_int_equal(utimensat(AT_FDCWD, path, long_ago, 0), 0);
	assert_int_equal(refresh_near(w, "/work/demo").gone, 1);
}

static int count_unclaimed(const struct world *w, struct catalogue_unclaimed query)
{
	int rows = 0;

	query.limit = 9;
	assert_int_equal(catalogue_unclaimed(w->store, &query, count_row, &rows, NULL), 0);
	return rows;
}

static void test_unclaimed_is_what_people_began(void **state)
{
	struct world *w = *state;
	const struct catalogue_unclaimed here = { .dir = "/work/demo" };
	const struct conv_new what = { .dir = "/work/demo", .agent = "claude" };
	static const char *const copies[] = { "trimmed", "smart-trimmed" };
	AUTO_STR exec = STR_INIT;
	AUTO_CONV conv = CONV_INIT;

	(void)refresh(w);
	assert_int_equal(count_unclaimed(w, here), 2);
	assert_int_equal(count_unclaimed(w, (struct catalogue_unclaimed){ .below = "/work" }), 3);
	assert_int_equal(count_unclaimed(w, (struct catalogue_unclaimed){ .below = "/wor" }), 0);
	claude_user(&exec, "u0", NULL, "a program says this");
	str_cut(&exec, exec.len - 2);
	str_adds(&exec, ",\"entrypoint\":\"sdk-cli\"}\n");
	AUTO_FREE char *first = session_write(w->folder, DEMO ID_C ".jsonl", str_sv(&exec));
	(void)refresh(w);
	assert_int_equal(count_unclaimed(w, here), 2);
	/* A copy goes on in place of what it was made from, unless that is a conversation. */
	for (size_t i = 0; i < ARRAY_LEN(copies); i++) {
		AUTO_STR copy = STR_INIT;
		claude_user(&copy, "u0", NULL, "alpha words");
		str_cut(&copy, copy.len - 2);
		str_addf(&copy,
			",\"faden_metadata\":{\"relation\":\"%s\",\"parent_id\":\"" ID_A "\"}}\n",
			copies[i]);
		AUTO_FREE char *second =
			session_write(w->folder, DEMO ID_C ".jsonl", str_sv(&copy));
		(void)refresh(w);
		assert_int_equal(count_unclaimed(w, here), 2);
	}
	const struct clock before = { true, (T0_S - 3600) * INT64_C(1000) };
	const struct clock after = { true, (T0_S + 600) * INT64_C(1000) };
	assert_int_equal(conv_adopt(w->store, &what, ID_A, &before, &conv, NULL), 0);
	assert_int_equal(count_unclaimed(w, here), 1);
	/* What the agent itself has done since the last turn is activity as well. */
	conv_release(&conv);
	assert_int_equal(conv_by_session(w->store, "claude", ID_A, &after, &conv, NULL), 0);
	assert_true(conv.used_elsewhere);
	assert_int_equal(conv.age_ms, 600000);
	assert_int_equal(catalogue_rename(w->store, "claude", ID_B, "kumquat", NULL), 0);
	assert_int_equal(count_unclaimed(w, (struct catalogue_unclaimed){ .text = "x" }), 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_reads_only_what_changed),
		CASE(test_reads_what_has_the_time_of_before),
		CASE(test_row_keeps_everything),
		CASE(test_vanished_and_back),
		CASE(test_unreadable_home),
		CASE(test_other_homes_are_left_alone),
		CASE(test_missing_homes),
		CASE(test_filters_choose_rows),
		CASE(test_resolve_takes_path_id_and_fragment),
		CASE(test_resolve_takes_any_length),
		CASE(test_resolve_stray_file),
		CASE(test_resolve_after_the_file_went),
		CASE(test_names_find_sessions),
		CASE(test_names_given_meanwhile),
		CASE(test_children_of_a_session),
		CASE(test_memory_store),
		CASE(test_two_processes),
		CASE(test_near_is_only_what_the_folder_needs),
		CASE(test_near_sees_what_was_blanked),
		CASE(test_unclaimed_is_what_people_began),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
