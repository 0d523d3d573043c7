#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "master/sessions.h"
#include "os/test-temp.h"
#include "store/conv.h"

enum { MAX = 1 << 20 };
static const struct clock noon = { .fixed = true, .fixed_ms = 1750000000000 };

struct world {
	char *folder, *root, *home;
	struct transcript_home homes[1];
	struct store *store;
	struct master_place place;
};

static int set_up(void **state)
{
	struct world *w = xcalloc(1, sizeof(*w));

	w->folder = temp_folder();
	w->root = path_join(w->folder, ".claude-master");
	w->home = path_join(w->folder, "claude");
	w->homes[0] = (struct transcript_home){
		.agent = "claude", .format = TRANSCRIPT_CLAUDE, .root = w->home
	};
	assert_int_equal(store_open(NULL, STORE_MEMORY, NULL, &w->store, NULL), 0);
	w->place = (struct master_place){
		.store = w->store, .homes = w->homes, .n_homes = 1, .dir = w->folder, .clock = &noon
	};
	*state = w;
	return 0;
}

static int tear_down(void **state)
{
	struct world *w = *state;

	store_close(w->store);
	free(w->root);
	free(w->home);
	temp_remove(w->folder);
	free(w);
	return 0;
}

static void step(
	struct master_run *run, enum master_step_kind kind, int64_t round, const char *text)
{
	struct master_step s = MASTER_STEP_INIT(kind);

	s.role = MASTER_WORKER;
	s.round = round;
	s.text = sv_of(text);
	s.agent = SV("claude");
	s.begin = MASTER_BEGIN_FRESH;
	s.session =
		kind == MASTER_STEP_SESSION ? SV("aaaaaaaa-0000-4000-8000-00000000000a") : SV("");
	assert_int_equal(master_step(run, &s, NULL), 0);
}

/* Two workers, the second with three rounds and an instruction that is not answered. */
static struct master_run *make(const struct world *w)
{
	AUTO_MASTER_CONFIG c = MASTER_CONFIG_INIT;
	struct master_run *run;

	c.dir = xstrdup(w->folder);
	c.agent[MASTER_WORKER] = xstrdup("claude");
	assert_int_equal(master_create(w->root, &c, NULL, 0, &noon, &run, NULL), 0);
	step(run, MASTER_STEP_SESSION, 0, "be quick");
	step(run, MASTER_STEP_ASK, 1, "of the first worker");
	step(run, MASTER_STEP_ANSWER, 1, "of the first worker");
	step(run, MASTER_STEP_SESSION, 0, "be thorough");
	for (int i = 2; i <= 4; i++) {
		char text[40];
		(void)snprintf(text, sizeof(text), "instruction %d", i);
		step(run, MASTER_STEP_ASK, i, text);
		(void)snprintf(text, sizeof(text), "answer %d", i);
		step(run, MASTER_STEP_ANSWER, i, text);
	}
	return run;
}

static void read_session(const struct world *w, const char *id, struct str *out)
{
	AUTO_FREE char *path = NULL;

	assert_int_equal(transcript_find(w->homes, sv_of(id), &path, NULL), 0);
	assert_non_null(path);
	assert_int_equal(file_read(path, MAX, out, NULL), 0);
}

static enum master_session look(
	const struct world *w, struct master_run *run, enum master_role role)
{
	enum master_session state;
	uint64_t more;

	assert_int_equal(master_session_look(run, role, &w->place, &state, &more, NULL), 0);
	assert_int_equal(more > 0, state == MASTER_SESSION_MOVED_ON);
	return state;
}

/* A prompt and its answer at the end of the worker's session; under the id of the run's last prompt
 * or of somebody else's. */
static void say_there(const struct world *w, const struct master_run *run, const char *prompt_id,
	const char *words)
{
	const struct master_side *side = &master_state(run)->side[MASTER_WORKER];
	AUTO_FREE char *path = NULL;
	AUTO_STR text = STR_INIT;

	assert_int_equal(transcript_find(w->homes, sv_of(side->session), &path, NULL), 0);
	assert_non_null(path);
	assert_int_equal(file_read(path, MAX, &text, NULL), 0);
	str_addf(&text,
		"{\"type\":\"user\",\"uuid\":\"%s\",\"sessionId\":\"%s\",\"message\":{\"role\":"
		"\"user\",\"content\":\"%s\"}}\n",
		prompt_id, side->session, words);
	assert_int_equal(file_replace(path, str_sv(&text), 0600, NULL), 0);
}

static void test_written_back(void **state)
{
	struct world *w = *state;
	struct master_run *run = make(w);
	CLEANUP(native_report_release) struct native_report report = NATIVE_REPORT_INIT;
	const struct master_side *side = &master_state(run)->side[MASTER_WORKER];
	AUTO_STR text = STR_INIT;
	AUTO_CONV conv = CONV_INIT;

	assert_int_equal(look(w, run, MASTER_INSTRUCTOR), MASTER_SESSION_NONE);
	assert_int_equal(look(w, run, MASTER_WORKER), MASTER_SESSION_GONE);
	step(run, MASTER_STEP_ASK, 5, "nobody answered");
	assert_int_equal(master_session_write(run, MASTER_WORKER, &w->place, &report, NULL), 0);
	assert_int_equal(report.prompts, 3);
	assert_int_equal(report.answers, 3);
	assert_int_equal(side->begin, MASTER_BEGIN_WRITTEN);
	assert_string_equal(side->session, report.id);
	assert_string_equal(side->system_prompt.buf, "be thorough");
	assert_false(master_is_open(side));
	assert_int_equal(side->answer.fail, AGENT_DIED);
	read_session(w, side->session, &text);
	assert_non_null(strstr(text.buf, "instruction 2"));
	assert_non_null(strstr(text.buf, "answer 4"));
	assert_null(strstr(text.buf, "of the first worker"));
	assert_null(strstr(text.buf, "nobody answered"));
	assert_int_equal(conv_get(w->store, side->conversation, &noon, &conv, NULL), 0);
	assert_string_equal(conv.session, report.id);
	step(run, MASTER_STEP_ASK, 6, "more");
	step(run, MASTER_STEP_ANSWER, 6, "of it");
	assert_int_equal(look(w, run, MASTER_WORKER), MASTER_SESSION_HERE);
	assert_int_equal(master_close(run, NULL), 0);
}

static void test_forked(void **state)
{
	struct world *w = *state;
	struct master_run *run = make(w), *child;
	CLEANUP(native_report_release) struct native_report report = NATIVE_REPORT_INIT;
	const struct master_side *side;
	bool written;

	/* Its session is there, with all its turns. */
	assert_int_equal(master_session_write(run, MASTER_WORKER, &w->place, &report, NULL), 0);
	assert_int_equal(master_fork(run, w->root, 3, "child", &child, NULL), 0);
	side = &master_state(child)->side[MASTER_WORKER];
	assert_int_equal(master_session_fork(child, MASTER_WORKER, &w->place, &written, NULL), 0);
	/* The child was forked before the session was written, and knows only of the one that is
	 * not there. */
	assert_true(written);
	assert_int_equal(master_close(child, NULL), 0);

	step(run, MASTER_STEP_ASK, 5, "instruction 5");
	step(run, MASTER_STEP_ANSWER, 5, "answer 5");
	assert_int_equal(master_fork(run, w->root, 4, "child", &child, NULL), 0);
	side = &master_state(child)->side[MASTER_WORKER];
	assert_int_equal(master_session_fork(child, MASTER_WORKER, &w->place, &written, NULL), 0);
	assert_false(written);
	assert_int_equal(side->begin, MASTER_BEGIN_FORKED);
	AUTO_STR text = STR_INIT;
	read_session(w, side->session, &text);
	assert_string_not_equal(side->session, report.id);
	assert_non_null(strstr(text.buf, "answer 4"));
	assert_null(strstr(text.buf, "instruction 5"));
	assert_int_equal(master_close(child, NULL), 0);
	assert_int_equal(master_close(run, NULL), 0);
}

/* What was interrupted is a turn there as well; what somebody else said is none of the run's. */
static void test_moved_on(void **state)
{
	static const char *const ids[] = { "bbbbbbbb-0000-4000-8000-000000000001",
		"bbbbbbbb-0000-4000-8000-000000000002", "cccccccc-0000-4000-8000-000000000003" };
	struct world *w = *state;
	struct master_run *run = make(w);
	CLEANUP(native_report_release) struct native_report report = NATIVE_REPORT_INIT;
	const struct master_side *side = &master_state(run)->side[MASTER_WORKER];
	struct master_step ask = MASTER_STEP_INIT(MASTER_STEP_ASK);
	bool written;

	assert_int_equal(master_session_write(run, MASTER_WORKER, &w->place, &report, NULL), 0);
	assert_int_equal(look(w, run, MASTER_WORKER), MASTER_SESSION_HERE);
	ask.role = MASTER_WORKER;
	for (int i = 0; i < 2; i++) {
		ask.round = 5;
		ask.prompt_id = sv_of(ids[i]);
		ask.text = SV("instruction 5");
		assert_int_equal(master_step(run, &ask, NULL), 0);
		say_there(w, run, ids[i], "instruction 5");
	}
	step(run, MASTER_STEP_ANSWER, 5, "answer 5");
	assert_int_equal(look(w, run, MASTER_WORKER), MASTER_SESSION_HERE);
	say_there(w, run, ids[2], "of somebody else");
	assert_int_equal(look(w, run, MASTER_WORKER), MASTER_SESSION_MOVED_ON);
	assert_int_equal(master_session_fork(run, MASTER_WORKER, &w->place, &written, NULL), 0);
	assert_false(written);
	assert_int_equal(side->begin, MASTER_BEGIN_FORKED);
	AUTO_STR text = STR_INIT;
	read_session(w, side->session, &text);
	assert_non_null(strstr(text.buf, ids[1]));
	assert_null(strstr(text.buf, "of somebody else"));
	assert_int_equal(look(w, run, MASTER_WORKER), MASTER_SESSION_HERE);
	assert_int_equal(master_close(run, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_written_back, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_forked, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_moved_on, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
