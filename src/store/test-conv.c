#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "os/file.h"
#include "store/catalogue.h"
#include "store/conv.h"
#include "store/journal.h"
#include "store/said.h"
#include "store/schema.h"
#include "store/sql.h"

static const struct clock noon = { .fixed = true, .fixed_ms = 1000000000000 };
static const struct clock later = { .fixed = true, .fixed_ms = 1000000060000 };
static const struct conv_new plain = { .dir = "/tmp/a", .agent = "rehearsal" };

struct fixture {
	char dir[64];
	char *path;
	struct store *store;
	struct proc_id self;
};

static int set_up(void **state)
{
	struct fixture *f = xcalloc(1, sizeof(*f));

	(void)snprintf(f->dir, sizeof(f->dir), "/tmp/faden-test-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	f->path = xasprintf("%s/sub/store.db", f->dir);
	assert_int_equal(store_open(f->path, 0, NULL, &f->store, NULL), 0);
	assert_int_equal(proc_id_self(&f->self, NULL), 0);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	static const char *const suffixes[] = { "", "-wal", "-shm" };

	store_close(f->store);
	for (size_t i = 0; i < ARRAY_LEN(suffixes); i++) {
		AUTO_FREE char *p = xasprintf("%s%s", f->path, suffixes[i]);
		(void)unlink(p);
	}
	AUTO_FREE char *sub = xasprintf("%s/sub", f->dir);
	(void)rmdir(sub);
	(void)rmdir(f->dir);
	free(f->path);
	free(f);
	return 0;
}

static void reopen(struct fixture *f)
{
	store_close(f->store);
	assert_int_equal(store_open(f->path, 0, NULL, &f->store, NULL), 0);
}

static void test_current_survives_reopening(void **state)
{
	struct fixture *f = *state;
	AUTO_CONV made = CONV_INIT;
	AUTO_CONV found = CONV_INIT;

	assert_int_equal(conv_current(f->store, "/tmp/a", &noon, &found, NULL), ERR_NOTFOUND);
	assert_int_equal(conv_create(f->store, &plain, &f->self, &noon, &made, NULL), 0);
	assert_int_equal(made.status, CONV_ACTIVE);
	reopen(f);
	assert_int_equal(conv_current(f->store, "/tmp/a", &later, &found, NULL), 0);
	assert_string_equal(found.id, made.id);
	assert_int_equal(found.age_ms, 60000);
}

static void test_reset_and_undo(void **state)
{
	struct fixture *f = *state;
	AUTO_CONV made = CONV_INIT;
	AUTO_CONV found = CONV_INIT;

	assert_int_equal(conv_reset(f->store, "/tmp/a", &noon, NULL), 0);
	assert_int_equal(conv_reset_ms(f->store, "/tmp/a"), noon.fixed_ms);
	assert_int_equal(conv_reset_undo(f->store, "/tmp/a", &noon, NULL), 0);
	assert_int_equal(conv_reset_ms(f->store, "/tmp/a"), 0);
	assert_int_equal(conv_reset_undo(f->store, "/tmp/a", &noon, NULL), ERR_NOTFOUND);
	assert_int_equal(conv_create(f->store, &plain, &f->self, &noon, &made, NULL), 0);
	assert_int_equal(conv_reset(f->store, "/tmp/a", &noon, NULL), 0);
	assert_int_equal(conv_reset(f->store, "/tmp/a", &later, NULL), 0);
	reopen(f);
	assert_int_equal(conv_reset_ms(f->store, "/tmp/a"), later.fixed_ms);
	/* One at a time: the first reset still holds, also for what agents did by themselves. */
	assert_int_equal(conv_reset_undo(f->store, "/tmp/a", &later, NULL), 0);
	assert_int_equal(conv_reset_ms(f->store, "/tmp/a"), noon.fixed_ms);
	assert_int_equal(conv_current(f->store, "/tmp/a", &noon, &found, NULL), ERR_NOTFOUND);
	assert_int_equal(conv_get(f->store, made.id, &noon, &found, NULL), 0);
	assert_true(found.before_reset);
	conv_release(&found);
	assert_int_equal(conv_reset_undo(f->store, "/tmp/a", &noon, NULL), 0);
	assert_int_equal(conv_current(f->store, "/tmp/a", &noon, &found, NULL), 0);
	assert_string_equal(found.id, made.id);
	assert_false(found.before_reset);
	assert_int_equal(conv_reset_ms(f->store, "/tmp/a"), 0);
	assert_int_equal(conv_reset_undo(f->store, "/tmp/a", &noon, NULL), ERR_NOTFOUND);
}

static void test_lease_has_one_holder(void **state)
{
	struct fixture *f = *state;
	AUTO_CONV made = CONV_INIT;
	struct proc_id parent = f->self;
	struct err err = ERR_INIT;

	parent.pid = getppid();
	parent.start = proc_start_time(parent.pid);
	assert_int_equal(conv_create(f->store, &plain, &f->self, &noon, &made, NULL), 0);
	assert_int_equal(conv_take(f->store, made.id, &f->self, &noon, NULL), 0);
	assert_int_equal(conv_take(f->store, made.id, &parent, &noon, &err), ERR_BUSY);
	assert_non_null(strstr(err.msg, "in use"));
	assert_int_equal(conv_give(f->store, made.id, &f->self, CONV_IDLE, &noon, NULL), 0);
	assert_int_equal(conv_take(f->store, made.id, &parent, &noon, NULL), 0);
	assert_int_equal(conv_beat(f->store, made.id, &f->self, &noon, NULL), ERR_BUSY);
}

static void test_lease_of_a_dead_process_is_taken(void **state)
{
	struct fixture *f = *state;
	AUTO_CONV made = CONV_INIT;
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	struct proc_id dead = f->self;
	dead.pid = child;
	dead.start = 1;
	assert_int_equal(conv_create(f->store, &plain, &dead, &noon, &made, NULL), 0);
	assert_int_equal(conv_take(f->store, made.id, &f->self, &noon, NULL), 0);
}

static void test_lease_of_another_host_ends_by_heartbeat(void **state)
{
	struct fixture *f = *state;
	AUTO_CONV made = CONV_INIT;
	struct proc_id far = f->self;
	const struct clock much_later = { .fixed = true,
		.fixed_ms = noon.fixed_ms + CONV_LEASE_MS + 1 };

	(void)snprintf(far.host, sizeof(far.host), "elsewhere.example");
	(void)snprintf(far.boot, sizeof(far.boot), "other-boot");
	assert_int_equal(conv_create(f->store, &plain, &far, &noon, &made, NULL), 0);
	assert_int_equal(conv_take(f->store, made.id, &f->self, &later, NULL), ERR_BUSY);
	assert_int_equal(conv_take(f->store, made.id, &f->self, &much_later, NULL), 0);
}

static void test_turns_are_journalled(void **state)
{
	struct fixture *f = *state;
	AUTO_CONV made = CONV_INIT;
	AUTO_TURN_RECORD last = TURN_RECORD_INIT;
	int64_t id;

	assert_int_equal(conv_create(f->store, &plain, &f->self, &noon, &made, NULL), 0);
	assert_int_equal(journal_last(f->store, made.id, &last, NULL), ERR_NOTFOUND);
	AUTO_TURN_RECORD t = { .prompt = STR_INIT, .before_size = 7 };
	str_add(&t.prompt, sv_make("hel\0lo", 6));
	memcpy(t.conversation, made.id, sizeof(t.conversation));
	assert_int_equal(journal_turn(f->store, &t, &noon, &id, NULL), 0);
	reopen(f);
	assert_int_equal(journal_last(f->store, made.id, &last, NULL), 0);
	assert_int_equal(last.state, TURN_INTENT);
	assert_true(sv_eq(str_sv(&last.prompt), sv_make("hel\0lo", 6)));
	assert_int_equal(last.before_size, 7);
	turn_record_release(&last);
	assert_int_equal(journal_end(f->store, id, TURN_FAILED, "timed out", &noon, NULL), 0);
	assert_int_equal(journal_last(f->store, made.id, &last, NULL), 0);
	assert_int_equal(last.state, TURN_FAILED);
	assert_string_equal(last.fail, "timed out");
}

static int64_t number(struct store *store, const char *query)
{
	AUTO_SQL q = SQL_INIT;

	assert_int_equal(sql_prepare(&q, store, query, NULL), 0);
	assert_int_equal(sql_step(&q, NULL), 1);
	return sql_get_int(&q, 0);
}

/* What a turn's later steps say is added to its intent, and the last word counts. */
static void test_the_journal_is_only_added_to(void **state)
{
	struct fixture *f = *state;
	AUTO_CONV made = CONV_INIT;
	AUTO_TURN_RECORD last = TURN_RECORD_INIT;
	AUTO_TURN_RECORD t = { .prompt = STR_INIT, .agent = xstrdup("rehearsal") };
	int64_t run, turn;

	str_adds(&t.prompt, "the story");
	assert_int_equal(conv_create(f->store, &plain, &f->self, &noon, &made, NULL), 0);
	assert_int_equal(journal_turn(f->store, &t, &noon, &run, NULL), 0);
	memcpy(t.conversation, made.id, sizeof(t.conversation));
	t.parent = run;
	assert_int_equal(journal_turn(f->store, &t, &noon, &turn, NULL), 0);
	assert_int_equal(journal_session(f->store, turn, "s-1", &noon, NULL), 0);
	assert_int_equal(journal_session(f->store, turn, "s-2", &noon, NULL), 0);
	assert_int_equal(journal_end(f->store, turn, TURN_LOST, "interrupted", &noon, NULL), 0);
	assert_int_equal(journal_end(f->store, turn, TURN_ANSWERED, NULL, &later, NULL), 0);
	assert_int_equal(journal_last(f->store, made.id, &last, NULL), 0);
	assert_int_equal(last.parent, run);
	assert_string_equal(last.session, "s-2");
	assert_int_equal(last.state, TURN_ANSWERED);
	assert_int_equal(last.ended_ms, later.fixed_ms);
	assert_null(last.fail);
	assert_int_equal(number(f->store, "SELECT count(*) FROM step"), 6);
	/* A question belongs to no conversation and counts in none. */
	assert_int_equal(
		number(f->store, "SELECT count(*) FROM turn WHERE conversation IS NULL"), 1);
	assert_int_equal(number(f->store, "SELECT turns FROM conversation"), 1);
}

static int64_t say(struct fixture *f, const char *conversation, const char *session,
	const char *prompt, enum turn_state state)
{
	AUTO_TURN_RECORD t = { .prompt = STR_INIT, .session = xstrdup(session) };
	int64_t id;

	str_adds(&t.prompt, prompt);
	(void)snprintf(t.conversation, sizeof(t.conversation), "%s", conversation);
	assert_int_equal(journal_turn(f->store, &t, &noon, &id, NULL), 0);
	if (state != TURN_INTENT)
		assert_int_equal(journal_end(f->store, id, state, "secret", &noon, NULL), 0);
	return id;
}

static void await(struct fixture *f, const char *dir, enum turn_state state)
{
	AUTO_TURN_RECORD t = { .prompt = STR_INIT };
	int64_t id;

	str_adds(&t.prompt, "a secret that waits");
	assert_int_equal(journal_wait(f->store, &t, dir, &f->self, &noon, &id, NULL), 0);
	if (state != TURN_INTENT)
		assert_int_equal(journal_end(f->store, id, state, NULL, &noon, NULL), 0);
}

static void forget(struct fixture *f, const char *session)
{
	size_t rows = 0;

	assert_int_equal(catalogue_forget(f->store, "claude", session, NULL, 0, &rows, NULL), 0);
}

/* Words of a session that is forgotten stand in its turns, in what they are about, in the last
 * sentence of its folder, and beside any conversation. */
static void test_forgotten_words(void **state)
{
	struct fixture *f = *state;
	AUTO_CONV made = CONV_INIT, found = CONV_INIT;
	AUTO_TURN_RECORD last = TURN_RECORD_INIT;

	assert_int_equal(conv_create(f->store, &plain, &f->self, &noon, &made, NULL), 0);
	assert_int_equal(conv_set_session(f->store, made.id, "claude", "s1", &noon, NULL), 0);
	int64_t later_known = say(f, made.id, "s0", "the first secret", TURN_FAILED);
	assert_int_equal(journal_session(f->store, later_known, "s1", &noon, NULL), 0);
	(void)say(f, made.id, "s1", "a secret", TURN_ANSWERED);
	assert_int_equal(conv_set_session(f->store, made.id, "claude", "s2", &noon, NULL), 0);
	(void)say(f, made.id, "s2", "plain words", TURN_ANSWERED);
	(void)say(f, "", "s9", "a question about a secret", TURN_ANSWERED);
	await(f, "/elsewhere", TURN_CANCELLED);
	await(f, "/tmp/a", TURN_LOST);
	await(f, "/tmp/b", TURN_LOST);
	await(f, "/tmp/a", TURN_INTENT);
	AUTO_FREE char *named = xasprintf("0 0\n%s\n\na secret", made.id);
	const struct {
		const char *dir, *note;
	} said[] = { { "/tmp/a", "a secret" }, { "/tmp/c", named }, { "/tmp/d", "another's" } };
	for (size_t i = 0; i < ARRAY_LEN(said); i++) {
		const struct said_query by = { .project = said[i].dir };
		int64_t id;
		assert_int_equal(said_add(f->store, &by, said[i].dir, said[i].note, &id, NULL), 0);
	}

	forget(f, "s1");
	assert_int_equal(number(f->store,
				 "SELECT count(*) FROM step WHERE prompt LIKE '%secret%' OR fail "
				 "LIKE '%secret%' AND parent IN (SELECT id FROM step WHERE"
				 " session = 's1')"),
		2); /* what waits, and what another folder has lost */
	assert_int_equal(number(f->store, "SELECT count(*) FROM said"), 1);
	assert_int_equal(number(f->store, "SELECT count(*) FROM said WHERE dir = '/tmp/d'"), 1);
	assert_int_equal(conv_get(f->store, made.id, &noon, &found, NULL), 0);
	assert_null(found.title);
	assert_int_equal(journal_last(f->store, made.id, &last, NULL), 0);
	assert_string_equal(last.prompt.buf, "plain words");
	turn_record_release(&last);
	/* Nothing is there to be sent again. */
	assert_int_equal(journal_lost(f->store, NULL, "/tmp/a", SV(""), &last, NULL), ERR_NOTFOUND);
	assert_int_equal(journal_lost(f->store, NULL, "/tmp/b", SV(""), &last, NULL), 0);

	forget(f, "s2");
	conv_release(&found);
	assert_int_equal(conv_get(f->store, made.id, &noon, &found, NULL), ERR_NOTFOUND);
}

/* A store as it was before its turns became steps. */
static void test_old_turns_become_steps(void **state)
{
	struct fixture *f = *state;
	AUTO_FREE char *path = xasprintf("%s/sub/old.db", f->dir);
	AUTO_TURN_RECORD last = TURN_RECORD_INIT;
	AUTO_STRV prompts = STRV_INIT;
	AUTO_STORE *old = NULL;

	assert_int_equal(store_open(path, 0, NULL, &old, NULL), 0);
	assert_int_equal(sql_exec(old,
				 "DROP VIEW attempt; DROP VIEW turn; DROP TABLE step; DROP TABLE "
				 "recall_pack;"
				 "DROP TABLE place_mark; DROP TABLE place; DROP TABLE folder;"
				 "DROP TABLE said; DROP INDEX session_stat; DROP INDEX "
				 "session_ctime;"
				 "ALTER TABLE session DROP COLUMN ctime_ns;"
				 "CREATE INDEX session_stat ON session(path)",
				 NULL),
		0);
	assert_int_equal(sql_exec(old,
				 "DROP TABLE correction; DROP TABLE term; DROP TABLE topic;"
				 "DROP TABLE current; DROP TABLE agent_session;"
				 "DROP TABLE conversation; DROP TABLE pref",
				 NULL),
		0);
	assert_int_equal(sql_exec(old, schema_steps[0], NULL), 0);
	assert_int_equal(
		sql_exec(old,
			"PRAGMA user_version = 3;"
			"INSERT INTO conversation (id, dir, project, agent, created_ms,"
			" active_ms, age_ms, boot) VALUES ('c', '/', '/', 'codex', 1, 1, 1, '');"
			"INSERT INTO pref VALUES ('route:/a', 'noted'), ('reset:/a', '1');"
			"INSERT INTO turn VALUES"
			" (3, 'c', 's', 2, 'first', '/t', 7, 100, 200, 'timed-out'),"
			" (5, 'c', 's', 0, 'second', '/t', 9, 300, NULL, NULL)",
			NULL),
		0);
	store_close(old);
	assert_int_equal(store_open(path, 0, NULL, &old, NULL), 0);
	assert_int_equal(number(old,
				 "SELECT (SELECT count(*) FROM said WHERE project = '/a' AND dir = "
				 "'/a' AND note = 'noted') * 10 + count(*) FROM pref"),
		11);
	assert_int_equal(journal_prompts(old, "c", 9, &prompts, NULL), 0);
	assert_int_equal(prompts.n, 2);
	assert_string_equal(prompts.v[0], "first");
	assert_int_equal(journal_last(old, "c", &last, NULL), 0);
	assert_int_equal(last.id, 5);
	assert_int_equal(last.state, TURN_INTENT);
	assert_string_equal(last.agent, "codex");
	assert_string_equal(last.transcript, "/t");
	assert_int_equal(last.before_size, 9);
	assert_int_equal(number(old,
				 "SELECT count(*) FROM turn WHERE id = 3 AND state = 2 AND"
				 " fail = 'timed-out' AND ended_ms = 200"),
		1);
	assert_int_equal(journal_end(old, 5, TURN_LOST, "interrupted", &noon, NULL), 0);
	turn_record_release(&last);
	assert_int_equal(journal_last(old, "c", &last, NULL), 0);
	assert_int_equal(last.state, TURN_LOST);
	(void)unlink(path);
	for (size_t i = 0; i < 2; i++) {
		AUTO_FREE char *p = xasprintf("%s-%s", path, i ? "wal" : "shm");
		(void)unlink(p);
	}
}

static void test_sessions_belong_to_a_conversation(void **state)
{
	struct fixture *f = *state;
	AUTO_CONV made = CONV_INIT;
	AUTO_CONV found = CONV_INIT;
	AUTO_CONV again = CONV_INIT;

	assert_int_equal(conv_create(f->store, &plain, &f->self, &noon, &made, NULL), 0);
	assert_int_equal(conv_set_session(f->store, made.id, "claude", "s1", &noon, NULL), 0);
	assert_int_equal(conv_set_session(f->store, made.id, "claude", "s2", &noon, NULL), 0);
	assert_int_equal(conv_by_session(f->store, "claude", "s1", &noon, &found, NULL), 0);
	assert_string_equal(found.id, made.id);
	assert_string_equal(found.session, "s2");
	const struct conv_new other = { .dir = "/tmp/b", .agent = "claude" };
	assert_int_equal(conv_adopt(f->store, &other, "s1", &noon, &again, NULL), 0);
	assert_string_equal(again.id, made.id);
}

static int adopt_many(const struct fixture *f, int sessions)
{
	const struct conv_new what = { .dir = "/tmp/b", .agent = "claude" };
	struct store *store = NULL;
	char session[32];
	int r = store_open(f->path, 0, NULL, &store, NULL);

	for (int i = 0; r == 0 && i < sessions; i++) {
		AUTO_CONV c = CONV_INIT;
		(void)snprintf(session, sizeof(session), "race-%d", i);
		r = conv_adopt(store, &what, session, &noon, &c, NULL);
	}
	store_close(store);
	return r;
}

static int64_t count_conversations(struct store *store)
{
	AUTO_SQL q = SQL_INIT;

	assert_int_equal(sql_prepare(&q, store, "SELECT count(*) FROM conversation", NULL), 0);
	assert_int_equal(sql_step(&q, NULL), 1);
	return sql_get_int(&q, 0);
}

static void test_a_session_is_adopted_once(void **state)
{
	enum { PROCESSES = 4, SESSIONS = 20 };
	struct fixture *f = *state;
	pid_t children[PROCESSES];
	int status;

	for (int i = 0; i < PROCESSES; i++) {
		children[i] = fork();
		if (children[i] == 0)
			_exit(adopt_many(f, SESSIONS) == 0 ? 0 : 1);
	}
	for (int i = 0; i < PROCESSES; i++) {
		assert_int_equal(waitpid(children[i], &status, 0), children[i]);
		assert_int_equal(status, 0);
	}
	assert_int_equal(count_conversations(f->store), SESSIONS);
}

static void test_a_log_that_has_grown_is_emptied(void **state)
{
	struct fixture *f = *state;
	AUTO_FREE char *log = xasprintf("%s-wal", f->path);
	AUTO_FREE char *many = xcalloc(1, 400001);
	struct stat st;

	memset(many, 'a', 400000);
	assert_int_equal(store_pref_set(f->store, "few", "words", NULL), 0);
	assert_int_equal(stat(log, &st), 0);
	assert_true(st.st_size > 0);
	assert_int_equal(store_pref_set(f->store, "many", many, NULL), 0);
	assert_int_equal(stat(log, &st), 0);
	assert_int_equal(st.st_size, 0);
}

/* By the same terminal, else by one that is gone, else by any; and not more than a few. */
static void test_what_was_said_last(void **state)
{
	struct fixture *f = *state;
	struct proc_id here, gone, other;
	int64_t id, first, newest;
	AUTO_SAID said = SAID_INIT;

	assert_int_equal(proc_id_self(&here, NULL), 0);
	gone = other = here;
	gone.start++;
	other.host[0] ^= 1;
	struct said_query q = { "/p", &here, 0 };
	assert_int_equal(said_newest(f->store, &newest, NULL), 0);
	assert_int_equal(newest, -1);
	assert_int_equal(said_last(f->store, &q, &said, NULL), ERR_NOTFOUND);
	q.terminal = &gone;
	assert_int_equal(said_add(f->store, &q, "/p/a", "gone", &first, NULL), 0);
	q.terminal = &other;
	assert_int_equal(said_add(f->store, &q, "/p", "other", &id, NULL), 0);
	q.terminal = &here;
	assert_int_equal(said_last(f->store, &q, &said, NULL), 0);
	assert_int_equal(said.by, SAID_GONE);
	assert_string_equal(said.note, "gone");
	assert_string_equal(said.dir, "/p/a");
	said_release(&said);
	assert_int_equal(said_add(f->store, &q, "/p", "here", &id, NULL), 0);
	assert_int_equal(said_note(f->store, id, "still here", NULL), 0);
	assert_int_equal(said_last(f->store, &q, &said, NULL), 0);
	assert_int_equal(said.by, SAID_HERE);
	assert_string_equal(said.note, "still here");
	said_release(&said);
	q.until = first;
	assert_int_equal(said_last(f->store, &q, &said, NULL), 0);
	assert_string_equal(said.note, "gone");
	said_release(&said);
	q.until = 0;
	q.terminal = &other;
	for (int i = 0; i < 100; i++)
		assert_int_equal(said_add(f->store, &q, "/p", "more", &id, NULL), 0);
	assert_int_equal(number(f->store, "SELECT count(*) FROM said"), 64);
	q.terminal = &here;
	assert_int_equal(said_last(f->store, &q, &said, NULL), 0);
	assert_int_equal(said.by, SAID_ELSEWHERE);
}

static void test_prefs(void **state)
{
	struct fixture *f = *state;
	char *value = NULL;

	assert_int_equal(store_pref_get(f->store, "agent", &value, NULL), ERR_NOTFOUND);
	assert_int_equal(store_pref_set(f->store, "agent", "claude", NULL), 0);
	assert_int_equal(store_pref_set(f->store, "agent", "codex", NULL), 0);
	assert_int_equal(store_pref_get(f->store, "agent", &value, NULL), 0);
	assert_string_equal(value, "codex");
	free(value);
}

static void test_newer_store_is_refused_untouched(void **state)
{
	struct fixture *f = *state;
	struct store *second = NULL;
	struct err err = ERR_INIT;

	assert_int_equal(sql_exec(f->store, "PRAGMA user_version = 999", NULL), 0);
	assert_int_equal(store_open(f->path, 0, NULL, &second, &err), ERR_NEWER);
	assert_non_null(strstr(err.msg, "newer faden"));
	assert_null(second);
}

static void test_damaged_store_is_named(void **state)
{
	struct fixture *f = *state;
	AUTO_FREE char *path = xasprintf("%s/sub/bad.db", f->dir);
	struct store *second = NULL;
	struct err err = ERR_INIT;
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	for (int i = 0; i < 1000; i++)
		(void)fputs("this is no database\n", out);
	(void)fclose(out);
	assert_int_equal(store_open(path, 0, NULL, &second, &err), ERR_STORE);
	assert_non_null(strstr(err.msg, "damaged"));
	(void)unlink(path);
}

static void test_statements_are_used_again(void **state)
{
	const struct fixture *f = *state;
	static const char text[] = "SELECT coalesce(?, 7)";
	struct sql one = SQL_INIT, two = SQL_INIT;

	assert_int_equal(sql_prepare(&one, f->store, text, NULL), 0);
	const void *first = one.stmt;
	sql_int(&one, 3);
	assert_int_equal(sql_step(&one, NULL), 1);
	/* in use: another gets one of its own */
	assert_int_equal(sql_prepare(&two, f->store, text, NULL), 0);
	assert_ptr_not_equal(two.stmt, first);
	assert_int_equal(sql_get_int(&one, 0), 3);
	sql_release(&one);
	assert_int_equal(sql_prepare(&one, f->store, text, NULL), 0);
	assert_ptr_equal(one.stmt, first);
	/* and nothing of the earlier values */
	assert_int_equal(sql_step(&one, NULL), 1);
	assert_int_equal(sql_get_int(&one, 0), 7);
	sql_release(&one);
	sql_release(&two);
}

static int count_conv(void *data, const struct conv *c)
{
	(void)c;
	++*(int *)data;
	return 0;
}

static void test_values_that_cannot_be_bound(void **state)
{
	struct fixture *f = *state;
	AUTO_SQL q = SQL_INIT;

	assert_int_equal(sql_prepare(&q, f->store, "SELECT ?", NULL), 0);
	sql_int(&q, 1);
	sql_int(&q, 2);
	assert_int_equal(sql_step(&q, NULL), ERR_STORE);
	sql_reset(&q);
	sql_sv(&q, sv_make("", (size_t)INT32_MAX + 1));
	assert_int_equal(sql_step(&q, NULL), ERR_LIMIT);
	sql_reset(&q);
	sql_int(&q, 1);
	assert_int_equal(sql_step(&q, NULL), 1);
}

/* Removed or replaced under us: what is written then is found by nobody. */
static void test_a_store_that_is_gone_takes_nothing(void **state)
{
	struct fixture *f = *state;
	AUTO_FREE char *path = xasprintf("%s/sub/gone.db", f->dir);
	AUTO_FREE char *away = xasprintf("%s/sub/away.db", f->dir);
	AUTO_STORE *store = NULL;
	struct err err = ERR_INIT;

	assert_int_equal(store_open(path, 0, NULL, &store, NULL), 0);
	assert_int_equal(store_pref_set(store, "a", "1", NULL), 0);
	assert_int_equal(store_begin(store, NULL), 0);
	assert_int_equal(rename(path, away), 0);
	assert_int_equal(store_end(store, 0, &err), ERR_STORE);
	assert_non_null(strstr(err.msg, "removed"));
	assert_int_equal(store_begin(store, &err), ERR_STORE);
	assert_int_equal(store_pref_set(store, "a", "2", &err), ERR_STORE);
	assert_int_equal(file_replace(path, SV(""), 0600, NULL), 0);
	assert_int_equal(store_pref_set(store, "a", "3", &err), ERR_STORE);
	assert_non_null(strstr(err.msg, "replaced"));
	assert_int_equal(rename(away, path), 0);
	assert_int_equal(store_pref_set(store, "a", "4", NULL), 0);
	(void)unlink(path);
	for (size_t i = 0; i < 2; i++) {
		AUTO_FREE char *p = xasprintf("%s-%s", path, i ? "wal" : "shm");
		(void)unlink(p);
	}
}

/* What is written into a log that nobody else has is lost with it, whatever SQLite says. */
static void test_a_store_without_its_log_takes_nothing(void **state)
{
	static const char *const parts[] = { "-wal", "-shm" };
	struct fixture *f = *state;
	AUTO_FREE char *away = xasprintf("%s/sub/away", f->dir);
	struct err err = ERR_INIT;

	for (int fresh = 1; fresh >= 0; fresh--) {
		for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
			AUTO_FREE char *part = xasprintf("%s%s", f->path, parts[i]);
			assert_int_equal(store_pref_set(f->store, "a", "1", NULL), 0);
			assert_int_equal(rename(part, away), 0);
			assert_int_equal(store_begin(f->store, &err), ERR_STORE);
			assert_non_null(strstr(err.msg, part));
			assert_non_null(strstr(err.msg, "removed"));
			assert_int_equal(file_replace(part, SV(""), 0600, NULL), 0);
			assert_int_equal(store_pref_set(f->store, "a", "2", &err), ERR_STORE);
			assert_non_null(strstr(err.msg, "replaced"));
			assert_int_equal(rename(away, part), 0);
		}
		reopen(f); /* one that was there is known, too */
	}
	assert_int_equal(store_pref_set(f->store, "a", "3", NULL), 0);
}

static void test_a_store_that_is_overwritten_takes_nothing(void **state)
{
	struct fixture *f = *state;
	struct err err = ERR_INIT;
	char first[16];

	AUTO_CLOSE int fd = open(f->path, O_RDWR | O_CLOEXEC);
	assert_int_equal(pread(fd, first, sizeof(first), 0), sizeof(first));
	assert_int_equal(pwrite(fd, "nothing that is known", sizeof(first), 0), sizeof(first));
	assert_int_equal(store_begin(f->store, &err), ERR_STORE);
	assert_non_null(strstr(err.msg, "overwritten"));
	assert_int_equal(pwrite(fd, first, sizeof(first), 0), sizeof(first));
	assert_int_equal(store_pref_set(f->store, "a", "1", NULL), 0);
}

static void test_numbers_that_are_gone_are_passed_over(void **state)
{
	const struct fixture *f = *state;
	AUTO_CONV c = CONV_INIT;
	int found = 0;

	assert_int_equal(conv_create(f->store, &plain, &f->self, &noon, &c, NULL), 0);
	const int64_t seqs[] = { c.seq + 5, c.seq };
	assert_int_equal(conv_by_seqs(f->store, seqs, 2, &noon, count_conv, &found, NULL), 0);
	assert_int_equal(found, 1);
}

/* What the user has deleted goes on nowhere until it is back. */
static void test_deleted_until_it_is_back(void **state)
{
	const struct fixture *f = *state;
	AUTO_CONV made = CONV_INIT;
	AUTO_CONV c = CONV_INIT;

	assert_int_equal(conv_create(f->store, &plain, &f->self, &noon, &made, NULL), 0);
	assert_int_equal(conv_set_session(f->store, made.id, plain.agent, "s1", &noon, NULL), 0);
	assert_int_equal(conv_deleted(f->store, plain.agent, "other", "", &noon, NULL), 0);
	assert_int_equal(conv_current(f->store, plain.dir, &noon, &c, NULL), 0);
	assert_false(c.deleted);
	conv_release(&c);
	assert_int_equal(conv_deleted(f->store, plain.agent, "s1", "", &noon, NULL), 0);
	assert_int_equal(conv_current(f->store, plain.dir, &noon, &c, NULL), ERR_NOTFOUND);
	assert_int_equal(conv_last(f->store, plain.dir, &noon, &c, NULL), 0);
	assert_true(c.deleted);
	conv_release(&c);
	assert_int_equal(conv_restored(f->store, "s1", NULL), 0);
	assert_int_equal(conv_current(f->store, plain.dir, &noon, &c, NULL), 0);
	conv_release(&c);
	/* Whoever uses it again takes that back, too. */
	assert_int_equal(conv_deleted(f->store, plain.agent, "s1", "", &noon, NULL), 0);
	assert_int_equal(conv_take(f->store, made.id, &f->self, &noon, NULL), 0);
	assert_int_equal(conv_current(f->store, plain.dir, &noon, &c, NULL), 0);
}

static void test_copy_is_private(void **state)
{
	const struct fixture *f = *state;
	AUTO_FREE char *value = NULL;
	struct store *copy = NULL;

	assert_int_equal(store_pref_set(f->store, "who", "one", NULL), 0);
	assert_int_equal(store_copy(f->store, NULL, &copy, NULL), 0);
	assert_int_equal(store_pref_get(copy, "who", &value, NULL), 0);
	assert_string_equal(value, "one");
	free(TAKE_PTR(value));
	assert_int_equal(store_pref_set(copy, "who", "two", NULL), 0);
	store_close(copy);
	assert_int_equal(store_pref_get(f->store, "who", &value, NULL), 0);
	assert_string_equal(value, "one");
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_current_survives_reopening),
		CASE(test_reset_and_undo),
		CASE(test_lease_has_one_holder),
		CASE(test_lease_of_a_dead_process_is_taken),
		CASE(test_lease_of_another_host_ends_by_heartbeat),
		CASE(test_turns_are_journalled),
		CASE(test_the_journal_is_only_added_to),
		CASE(test_forgotten_words),
		CASE(test_old_turns_become_steps),
		CASE(test_sessions_belong_to_a_conversation),
		CASE(test_a_session_is_adopted_once),
		CASE(test_a_log_that_has_grown_is_emptied),
		CASE(test_what_was_said_last),
		CASE(test_prefs),
		CASE(test_copy_is_private),
		CASE(test_newer_store_is_refused_untouched),
		CASE(test_damaged_store_is_named),
		CASE(test_statements_are_used_again),
		CASE(test_values_that_cannot_be_bound),
		CASE(test_a_store_that_is_gone_takes_nothing),
		CASE(test_a_store_without_its_log_takes_nothing),
		CASE(test_a_store_that_is_overwritten_takes_nothing),
		CASE(test_numbers_that_are_gone_are_passed_over),
		CASE(test_deleted_until_it_is_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
