#include <fcntl.h>
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

static const struct clock noon = { .fixed = true, .fixed_ms = 1750000000000 };

static struct master_run *create(const char *folder, unsigned flags)
{
	AUTO_MASTER_CONFIG c = MASTER_CONFIG_INIT;
	AUTO_FREE char *root = path_join(folder, ".claude-master");
	struct master_run *run = NULL;

	c.agent[MASTER_INSTRUCTOR] = xstrdup("claude");
	c.agent[MASTER_WORKER] = xstrdup("codex");
	c.model[MASTER_WORKER] = xstrdup("haiku");
	c.dir = xstrdup(folder);
	c.max_rounds = 5;
	assert_int_equal(master_create(root, &c, "a name", flags, &noon, &run, NULL), 0);
	return run;
}

static char *journal_of(const struct master_run *run)
{
	struct sv path = sv_of(master_path(run));

	return xasprintf("%.*sjournal", (int)(path.n - strlen("json")), path.p);
}

static int reopen(const char *folder, const char *id, unsigned flags, const struct clock *clock,
	struct master_run **ret, struct err *err)
{
	AUTO_FREE char *root = path_join(folder, ".claude-master");

	return master_open(root, id, flags, clock, ret, err);
}

static void step_text(struct master_run *run, enum master_step_kind kind, enum master_role role,
	int64_t round, const char *text)
{
	struct master_step s = MASTER_STEP_INIT(kind);

	s.role = role;
	s.round = round;
	s.text = sv_of(text);
	s.prompt_id = SV("aaaaaaaa-0000-4000-8000-000000000001");
	s.usage.output = 7;
	s.usage.cost_usd = 0.25;
	s.act = MASTER_ACT_GO_ON;
	assert_int_equal(master_step(run, &s, NULL), 0);
}

/* One instruction from the user's words to the worker's answer. */
static void play_round(struct master_run *run, int64_t round)
{
	char text[40];

	(void)snprintf(text, sizeof(text), "round %d \"\\\n\xc3\xa4", (int)round);
	step_text(run, MASTER_STEP_SAY, MASTER_INSTRUCTOR, 0, text);
	step_text(run, MASTER_STEP_ASK, MASTER_INSTRUCTOR, round, text);
	step_text(run, MASTER_STEP_ANSWER, MASTER_INSTRUCTOR, round, text);
	step_text(run, MASTER_STEP_DECIDED, MASTER_INSTRUCTOR, round, text);
	step_text(run, MASTER_STEP_ASK, MASTER_WORKER, round, text);
	step_text(run, MASTER_STEP_ANSWER, MASTER_WORKER, round, text);
}

/* What the state is made of, as text to compare. */
static int add_line(void *data, const struct master_step *step, struct err *reterr)
{
	(void)reterr;
	master_step_write(step, data);
	str_addc(data, '\n');
	return 0;
}

static char *all_steps(struct master_run *run)
{
	struct str lines = STR_INIT;

	assert_int_equal(master_steps(run, add_line, &lines, NULL), 0);
	return str_detach(&lines);
}

static void check_same(struct master_run *run, const struct master_state *want)
{
	const struct master_state *s = master_state(run);

	assert_int_equal(s->steps, want->steps);
	assert_int_equal(s->round, want->round);
	assert_int_equal(s->remaining, want->remaining);
	assert_int_equal(s->last, want->last);
	assert_int_equal(s->tokens_out, want->tokens_out);
	assert_true(s->cost_usd == want->cost_usd);
	assert_string_equal(s->name, "a name");
	assert_string_equal(s->config.model[MASTER_WORKER], "haiku");
	assert_null(s->config.model[MASTER_INSTRUCTOR]);
	assert_string_equal(s->task.buf, "round 1 \"\\\n\xc3\xa4");
	assert_string_equal(
		s->side[MASTER_WORKER].ask.prompt_id, "aaaaaaaa-0000-4000-8000-000000000001");
	assert_int_equal(master_is_open(&s->side[MASTER_WORKER]), want->last == MASTER_STEP_ASK);
}

static void test_steps_add_up(void **state)
{
	struct master_run *run = create(*state, 0), *again;
	char id[UUID_TEXT];

	for (int i = 1; i <= 3; i++)
		play_round(run, i);
	const struct master_state *s = master_state(run);
	assert_int_equal(s->round, 3);
	assert_int_equal(s->remaining, 2);
	assert_int_equal(s->said.len, 0);
	assert_int_equal(s->tokens_out, 6 * 7);
	step_text(run, MASTER_STEP_ASK, MASTER_WORKER, 4, "one more");
	assert_true(master_is_open(&s->side[MASTER_WORKER]));
	assert_int_equal(s->remaining, 1);

	/* The same prompt in other words belongs to the same round. */
	step_text(run, MASTER_STEP_ASK, MASTER_WORKER, 4, "one more");
	assert_int_equal(s->remaining, 1);
	assert_int_equal(s->side[MASTER_WORKER].same_asks, 2);
	(void)snprintf(id, sizeof(id), "%s", s->id);
	struct master_state want = { .steps = s->steps,
		.round = 4,
		.remaining = 1,
		.last = MASTER_STEP_ASK,
		.tokens_out = s->tokens_out,
		.cost_usd = s->cost_usd };
	AUTO_FREE char *before = all_steps(run);
	assert_int_equal(master_close(run, NULL), 0);

	assert_int_equal(reopen(*state, NULL, 0, &noon, &again, NULL), 0);
	check_same(again, &want);
	assert_int_equal(master_found(again), 0);
	assert_string_equal(master_state(again)->id, id);
	AUTO_FREE char *after = all_steps(again);
	assert_string_equal(before, after);
	assert_int_equal(master_close(again, NULL), 0);
}

static void test_not_saved_by_itself(void **state)
{
	struct master_run *run = create(*state, MASTER_NO_AUTO_SAVE), *again;
	AUTO_FREE char *journal = journal_of(run);
	AUTO_MASTER_CONFIG other = MASTER_CONFIG_INIT;
	struct master_step changed = MASTER_STEP_INIT(MASTER_STEP_CONFIG);
	struct stat st;

	play_round(run, 1);
	assert_int_equal(stat(journal, &st), 0);
	assert_int_equal(st.st_size, 0);
	master_config_copy(&other, &master_state(run)->config);
	other.max_rounds = 9;
	changed.config = &other;
	assert_int_equal(master_step(run, &changed, NULL), 0);
	assert_int_equal(master_state(run)->remaining, 4); /* what is left does not follow */
	AUTO_FREE char *before = all_steps(run);
	assert_int_equal(master_save(run, NULL), 0);
	assert_int_equal(stat(journal, &st), 0);
	assert_true(st.st_size > 0);
	AUTO_FREE char *saved = all_steps(run);
	assert_string_equal(before, saved);
	play_round(run, 2);
	assert_int_equal(master_close(run, NULL), 0);
	assert_int_not_equal(stat(journal, &st), 0);
	assert_int_equal(reopen(*state, NULL, 0, &noon, &again, NULL), 0);
	assert_int_equal(master_state(again)->round, 2);
	assert_int_equal(master_state(again)->config.max_rounds, 9);
	assert_int_equal(master_close(again, NULL), 0);
}

/* Ends without a word to anybody, as a kill does: only what is on disk stays. */
static void abandon(struct master_run *run, char id[static UUID_TEXT])
{
	AUTO_FREE char *journal = journal_of(run);
	AUTO_STR bytes = STR_INIT, snapshot = STR_INIT;
	AUTO_FREE char *path = xstrdup(master_path(run));

	(void)snprintf(id, UUID_TEXT, "%s", master_state(run)->id);
	assert_int_equal(file_read(journal, MAX, &bytes, NULL), 0);
	assert_int_equal(file_read(path, MAX, &snapshot, NULL), 0);
	assert_int_equal(master_close(run, NULL), 0);
	assert_int_equal(file_replace(journal, str_sv(&bytes), 0600, NULL), 0);
	assert_int_equal(file_replace(path, str_sv(&snapshot), 0600, NULL), 0);
}

static void test_what_a_crash_leaves(void **state)
{
	static const char *const tails[] = { "", "{\"n\":14,\"at\":\"2025", "\0\0\0\0\n",
		"{\"n\":14}\n", "\n" };

	for (size_t i = 0; i < ARRAY_LEN(tails); i++) {
		struct master_run *run = create(*state, 0), *again;
		AUTO_FREE char *journal = journal_of(run);
		char id[UUID_TEXT];
		play_round(run, 1);
		play_round(run, 2);
		AUTO_FREE char *before = all_steps(run);
		abandon(run, id);
		size_t n = i == 2 ? 5 : strlen(tails[i]);
		assert_int_equal(file_append(journal, sv_make(tails[i], n), false, NULL), 0);

		assert_int_equal(reopen(*state, id, 0, &noon, &again, NULL), 0);
		assert_int_equal(
			master_found(again), MASTER_FOUND_CRASH | (i ? MASTER_FOUND_TORN : 0));
		AUTO_FREE char *after = all_steps(again);
		assert_string_equal(before, after);
		play_round(again, 3);
		AUTO_FREE char *more = all_steps(again);
		assert_int_equal(master_close(again, NULL), 0);
		assert_int_equal(reopen(*state, id, 0, &noon, &again, NULL), 0);
		assert_int_equal(master_found(again), 0);
		AUTO_FREE char *last = all_steps(again);
		assert_string_equal(more, last);
		assert_int_equal(master_close(again, NULL), 0);
	}
}

/* A journal that was folded in, and is still there. */
static void test_a_crash_behind_the_fold(void **state)
{
	struct master_run *run = create(*state, 0), *again;
	AUTO_FREE char *journal = journal_of(run);
	AUTO_STR bytes = STR_INIT;
	char id[UUID_TEXT];

	play_round(run, 1);
	(void)snprintf(id, sizeof(id), "%s", master_state(run)->id);
	AUTO_FREE char *before = all_steps(run);
	assert_int_equal(file_read(journal, MAX, &bytes, NULL), 0);
	assert_int_equal(master_close(run, NULL), 0);
	assert_int_equal(file_replace(journal, str_sv(&bytes), 0600, NULL), 0);
	assert_int_equal(reopen(*state, id, 0, &noon, &again, NULL), 0);
	assert_int_equal(master_found(again), MASTER_FOUND_CRASH);
	AUTO_FREE char *after = all_steps(again);
	assert_string_equal(before, after);
	play_round(again, 2);
	AUTO_FREE char *more = all_steps(again);
	assert_int_equal(master_close(again, NULL), 0);
	assert_int_equal(reopen(*state, id, 0, &noon, &again, NULL), 0);
	AUTO_FREE char *last = all_steps(again);
	assert_string_equal(more, last);
	assert_int_equal(master_close(again, NULL), 0);
}

static void test_damage(void **state)
{
	struct master_run *run = create(*state, 0), *again;
	AUTO_FREE char *journal = journal_of(run), *path = xstrdup(master_path(run));
	AUTO_FREE char *aside = xasprintf("%s.damaged", journal);
	AUTO_STR bytes = STR_INIT;
	struct err err = ERR_INIT;
	char id[UUID_TEXT];
	size_t at;

	play_round(run, 1);
	play_round(run, 2);
	abandon(run, id);
	assert_int_equal(file_read(journal, MAX, &bytes, NULL), 0);
	assert_true(sv_find(str_sv(&bytes), SV("round 2"), &at));
	bytes.buf[at] = 'R';
	assert_int_equal(file_replace(journal, str_sv(&bytes), 0600, NULL), 0);
	assert_int_equal(reopen(*state, id, 0, &noon, &again, &err), ERR_INPUT);
	assert_non_null(strstr(err.msg, "damaged behind step 8; --force"));
	assert_int_equal(reopen(*state, id, MASTER_FORCE, &noon, &again, NULL), 0);
	assert_int_equal(master_state(again)->steps, 8);
	assert_int_equal(master_found(again), MASTER_FOUND_CRASH | MASTER_FOUND_DAMAGED);
	assert_int_equal(master_close(again, NULL), 0);
	AUTO_STR kept = STR_INIT;
	assert_int_equal(file_read(aside, MAX, &kept, NULL), 0);
	assert_string_equal(kept.buf, bytes.buf);

	assert_int_equal(file_read(path, MAX, &bytes, NULL), 0);
	assert_true(sv_find(str_sv(&bytes), SV("\"content\":\"round 1"), &at));
	bytes.buf[at + 12] = 'R';
	assert_int_equal(file_replace(path, str_sv(&bytes), 0600, NULL), 0);
	assert_int_equal(reopen(*state, id, 0, &noon, &again, &err), ERR_INPUT);
	assert_non_null(strstr(err.msg, "check sum"));
}

static void test_versions(void **state)
{
	struct master_run *run = create(*state, 0), *again;
	AUTO_FREE char *path = xstrdup(master_path(run));
	AUTO_STR bytes = STR_INIT;
	struct err err = ERR_INIT;
	size_t at;

	play_round(run, 1);
	assert_int_equal(master_close(run, NULL), 0);
	assert_int_equal(file_read(path, MAX, &bytes, NULL), 0);
	assert_true(sv_find(str_sv(&bytes), SV("\"2.0.0\""), &at));
	bytes.buf[at + 1] = '3';
	assert_int_equal(file_replace(path, str_sv(&bytes), 0600, NULL), 0);
	assert_int_equal(reopen(*state, NULL, 0, &noon, &again, &err), ERR_NEWER);
	assert_non_null(strstr(err.msg, "--force"));
	assert_int_equal(reopen(*state, NULL, MASTER_FORCE, &noon, &again, NULL), 0);
	assert_int_equal(master_found(again), MASTER_FOUND_NEWER);
	assert_int_equal(master_close(again, NULL), 0);
}

static void test_one_at_a_time(void **state)
{
	struct master_run *run = create(*state, 0), *again;
	struct err err = ERR_INIT;
	char pid[40];

	(void)snprintf(pid, sizeof(pid), "in use by process %d on ", (int)getpid());
	assert_int_equal(reopen(*state, NULL, 0, &noon, &again, &err), ERR_BUSY);
	assert_non_null(strstr(err.msg, pid));

	/* Somebody may look on; that changes nothing. */
	play_round(run, 1);
	assert_int_equal(reopen(*state, NULL, MASTER_LOOK, &noon, &again, NULL), 0);
	AUTO_FREE char *seen = all_steps(again), *there = all_steps(run);
	assert_string_equal(seen, there);
	assert_int_equal(master_close(again, NULL), 0);
	play_round(run, 2);
	assert_int_equal(master_close(run, NULL), 0);
	assert_int_equal(reopen(*state, NULL, 0, &noon, &again, NULL), 0);

	/* What a dead one left is no lock. */
	AUTO_FREE char *lock = xasprintf(
		"%.*slock", (int)(strlen(master_path(again)) - strlen("json")), master_path(again));
	assert_int_equal(master_close(again, NULL), 0);
	assert_int_equal(file_replace(lock, SV("process 1 on x\n"), 0600, NULL), 0);
	assert_int_equal(reopen(*state, NULL, 0, &noon, &again, NULL), 0);
	assert_int_equal(master_close(again, NULL), 0);
	assert_false(path_exists(lock));
}

static void test_clock_set_back(void **state)
{
	const struct clock before = { .fixed = true, .fixed_ms = noon.fixed_ms - 3600000 };
	struct master_run *run = create(*state, 0), *again;

	assert_int_equal(master_close(run, NULL), 0);
	assert_int_equal(reopen(*state, NULL, 0, &before, &again, NULL), 0);
	assert_int_equal(master_found(again), MASTER_FOUND_CLOCK_BACK);
	play_round(again, 1);
	assert_int_equal(master_state(again)->updated_ms, noon.fixed_ms);
	assert_int_equal(master_close(again, NULL), 0);
}

static void test_no_id_leads_elsewhere(void **state)
{
	static const char *const ids[] = { "", "..", "../../x", "session",
		"aaaaaaaa-0000-4000-8000-0000000000/1" };
	struct master_run *run;

	for (size_t i = 0; i < ARRAY_LEN(ids); i++)
		assert_int_equal(reopen(*state, ids[i], 0, &noon, &run, NULL), ERR_INPUT);
	assert_int_equal(
		reopen(*state, "aaaaaaaa-0000-4000-8000-000000000001", 0, &noon, &run, NULL),
		ERR_NOTFOUND);
	assert_int_equal(reopen(*state, NULL, 0, &noon, &run, NULL), ERR_NOTFOUND);
	AUTO_FREE char *current = temp_write(*state, ".claude-master/sessions/current.json",
		"{\"sessionId\":\"../../../etc/x\"}");
	assert_int_equal(reopen(*state, NULL, 0, &noon, &run, NULL), ERR_NOTFOUND);
}

static int look_at_mode(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)where;
	if (strstr(path, ".claude-master"))
		assert_int_equal(st->st_mode & 07777, kind == FTW_D ? 0700 : 0600);
	return 0;
}

static void test_private_whatever_the_umask(void **state)
{
	static const mode_t masks[] = { 0, 022, 0277 };

	for (size_t i = 0; i < ARRAY_LEN(masks); i++) {
		char *folder = temp_folder();
		mode_t old = umask(masks[i]);
		struct master_run *run = create(folder, 0);
		play_round(run, 1);
		assert_int_equal(nftw(folder, look_at_mode, 8, FTW_PHYS), 0);
		assert_int_equal(master_close(run, NULL), 0);
		assert_int_equal(nftw(folder, look_at_mode, 8, FTW_PHYS), 0);
		(void)umask(old);
		temp_remove(folder);
	}
	AUTO_STR text = STR_INIT;
	AUTO_FREE char *ignore = path_join(*state, ".claude-master/.gitignore");
	assert_int_equal(master_close(create(*state, 0), NULL), 0);
	assert_int_equal(file_read(ignore, MAX, &text, NULL), 0);
	assert_string_equal(text.buf, "*\n");
}

static void test_no_secret_is_written(void **state)
{
	static const char *const said[] = {
		"401: invalid x-api-key: SECRET-1234567890",
		"Authorization: Bearer SECRET-1234567890",
		"{\"authorization\":\"Bearer SECRET-1234567890\"}",
		"{\"apiKey\": \"SECRET-1234567890\", \"x\": 1}",
		"env ANTHROPIC_API_KEY=SECRET-1234567890 was refused",
		"ANTHROPIC_AUTH_TOKEN='SECRET-1234567890'",
		"token=SECRET-1234567890&x=1",
		"password: SECRET-1234567890",
		"key sk-ant-api03-SECRET-1234567890 is disabled",
		"Set-Cookie: SECRET-1234567890",
		"eyJhbGciOiJSECRET-1234567890",
		"ghp_SECRET1234567890",
	};
	struct master_run *run = create(*state, 0);
	AUTO_FREE char *path = xstrdup(master_path(run)), *journal = journal_of(run);
	AUTO_STR bytes = STR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(said); i++) {
		struct master_step s = MASTER_STEP_INIT(MASTER_STEP_ANSWER);
		s.fail = AGENT_NOT_LOGGED_IN;
		s.why = sv_of(said[i]);
		assert_int_equal(master_step(run, &s, NULL), 0);
		s.kind = MASTER_STEP_CHECK;
		s.text = sv_of(said[i]);
		assert_int_equal(master_step(run, &s, NULL), 0);
		s.kind = MASTER_STEP_STOP;
		s.stop = MASTER_STOP_FAILED;
		assert_int_equal(master_step(run, &s, NULL), 0);
	}
	struct master_step plain = MASTER_STEP_INIT(MASTER_STEP_ANSWER);
	plain.why = SV("too many tokens: 200000; the key of it is, a token bucket; done");
	assert_int_equal(master_step(run, &plain, NULL), 0);
	assert_int_equal(file_read(journal, MAX, &bytes, NULL), 0);
	assert_null(strstr(bytes.buf, "SECRET"));
	assert_non_null(strstr(bytes.buf, plain.why.p));
	assert_int_equal(master_close(run, NULL), 0);
	assert_int_equal(file_read(path, MAX, &bytes, NULL), 0);
	assert_null(strstr(bytes.buf, "SECRET"));
}

/* The journal is folded in on the way, and again and again as it grows. */
static void test_a_long_run(void **state)
{
	struct master_run *run = create(*state, 0), *again;
	AUTO_FREE char *journal = journal_of(run), *path = xstrdup(master_path(run));
	AUTO_STR text = STR_INIT;
	struct stat st;
	int folds = 0;
	off_t last = 0;

	for (int i = 0; i < 20000; i++)
		str_adds(&text, "word ");
	for (int i = 1; i <= 60; i++) {
		step_text(run, MASTER_STEP_ASK, MASTER_WORKER, i, text.buf);
		step_text(run, MASTER_STEP_ANSWER, MASTER_WORKER, i, text.buf);
		assert_int_equal(stat(path, &st), 0);
		folds += st.st_size != last;
		last = st.st_size;
		assert_int_equal(stat(journal, &st), 0);
		assert_true(st.st_size <= 2 * last + 2 * MAX);
	}
	assert_true(folds > 3 && folds < 10);
	AUTO_FREE char *before = all_steps(run);
	assert_int_equal(master_close(run, NULL), 0);
	assert_int_equal(reopen(*state, NULL, 0, &noon, &again, NULL), 0);
	AUTO_FREE char *after = all_steps(again);
	assert_string_equal(before, after);
	assert_int_equal(master_state(again)->side[MASTER_WORKER].same_asks, 60);
	assert_int_equal(master_close(again, NULL), 0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, temp_set_up, temp_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_steps_add_up),
		CASE(test_not_saved_by_itself),
		CASE(test_what_a_crash_leaves),
		CASE(test_a_crash_behind_the_fold),
		CASE(test_damage),
		CASE(test_versions),
		CASE(test_one_at_a_time),
		CASE(test_clock_set_back),
		CASE(test_no_id_leads_elsewhere),
		CASE(test_private_whatever_the_umask),
		CASE(test_no_secret_is_written),
		CASE(test_a_long_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
