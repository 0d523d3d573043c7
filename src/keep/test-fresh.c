/* What a search finds without an index of everything being made: grown, new, in new folders. */
#include "keep/test-rig.h"

#include <fcntl.h>
#include <pthread.h>
#include <time.h>

#include "keep/fresh.h"

/* Words in the view that a search would get now. */
static void look(struct keep_rig *rig, size_t want_left)
{
	struct fresh fresh;

	/* Time enough on any machine. */
	if (fresh_view(&rig->keeper, 600000, 600000, &fresh, &rig->err) < 0)
		fail_msg("%s", rig->err.msg);
	assert_int_equal(fresh.stats.left, want_left);
	fresh_release(&fresh);
}

static void set_age(const char *path, int seconds)
{
	struct timespec times[2];

	(void)clock_gettime(CLOCK_REALTIME, &times[0]);
	times[0].tv_sec -= seconds;
	times[1] = times[0];
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void test_new_sessions(void **state UNUSED)
{
	RIG;
	rig_say(&rig, 1, NULL, "the kumquat tree");
	look(&rig, 0);
	assert_int_equal(rig_found(&rig, "kumquat"), 1);
	rig_say(&rig, 1, NULL, "and a quince");
	rig_say(&rig, 2, NULL, "a new medlar");
	rig_say(&rig, 2, "agent-1", "a loquat of a helper");
	look(&rig, 0);
	assert_int_equal(rig_found(&rig, "quince"), 1);
	assert_int_equal(rig_found(&rig, "medlar"), 1);
	assert_int_equal(rig_found(&rig, "loquat"), 1);
	look(&rig, 0);
	assert_int_equal(rig_found(&rig, "medlar"), 1);
}

/* An old one that somebody goes on with. */
static void test_many_sessions(void **state UNUSED)
{
	RIG;
	struct fresh fresh;
	enum { MANY = 100 };

	for (unsigned i = 1; i <= MANY; i++)
		rig_say(&rig, i, NULL, "the kumquat tree");
	look(&rig, 0);
	rig_say(&rig, 1, NULL, "and a quince");
	rig_say(&rig, MANY, NULL, "and a quince");
	assert_int_equal(fresh_view(&rig.keeper, 600000, 600000, &fresh, &rig.err), 0);
	(void)fresh_rest(&rig.keeper, &fresh, true, 600000);
	assert_false(fresh.unseen);
	fresh_release(&fresh);
	assert_int_equal(rig_found(&rig, "quince"), 2);
}

/* After the store was lost it knows of none that was active: the index knows them. */
static void test_rest(void **state UNUSED)
{
	RIG;
	AUTO_FREE char *project = path_join(rig.root, "projects/-work");
	AUTO_STORE *empty = NULL;
	struct fresh fresh;

	rig_say(&rig, 1, NULL, "the kumquat tree");
	rig_say(&rig, 2, NULL, "the medlar tree");
	look(&rig, 0);
	rig_say(&rig, 1, NULL, "and a quince");
	set_age(project, 3600);
	assert_int_equal(store_open(NULL, STORE_MEMORY, NULL, &empty, NULL), 0);
	rig.keeper.store = empty;
	assert_int_equal(fresh_view(&rig.keeper, 600000, 600000, &fresh, &rig.err), 0);
	assert_true(fresh.checked_ms > 0);
	assert_true(fresh_rest(&rig.keeper, &fresh, false, 600000));
	assert_false(fresh.unseen);
	assert_int_equal(fresh.stats.left, 0);
	assert_false(fresh_rest(&rig.keeper, &fresh, true, 600000));
	fresh_release(&fresh);
	assert_int_equal(rig_found(&rig, "quince"), 1);
	/* Nobody has to wait for it. */
	rig_say(&rig, 2, NULL, "and a sloe");
	assert_int_equal(fresh_view(&rig.keeper, 600000, 600000, &fresh, &rig.err), 0);
	fresh_release(&fresh);
}

/* A project that there was not before. */
static void test_new_folder(void **state UNUSED)
{
	RIG;
	AUTO_FREE char *project = path_join(rig.root, "projects/-other");
	AUTO_FREE char *path = path_join(project, "bbbbbbbb-0000-4000-8000-000000000001.jsonl");

	rig_say(&rig, 1, NULL, "the kumquat tree");
	look(&rig, 0);
	rig_say(&rig, 2, NULL, "a new medlar");
	AUTO_FREE char *from = rig_path(&rig, 2, NULL);
	assert_int_equal(file_mkdirs(project, NULL), 0);
	assert_int_equal(rename(from, path), 0);
	look(&rig, 0);
	assert_int_equal(rig_found(&rig, "medlar"), 1);
}

/* Folders in which nothing has changed are not read: a file that hides there waits for the next
 * look at everything. */
static void test_old_folders(void **state UNUSED)
{
	RIG;
	AUTO_FREE char *project = path_join(rig.root, "projects/-work");

	rig_say(&rig, 1, NULL, "the kumquat tree");
	look(&rig, 0);
	rig_say(&rig, 2, NULL, "a new medlar");
	set_age(project, 3600);
	look(&rig, 0);
	assert_int_equal(rig_found(&rig, "medlar"), 0);
	struct index_stats stats;
	assert_int_equal(keeper_index_files(&rig.keeper, NULL, 0, &stats, NULL), 0);
	assert_int_equal(rig_found(&rig, "medlar"), 1);
}

/* An index that was never finished, and one that cannot be written, are not taken for whole. */
static void test_not_whole(void **state UNUSED)
{
	RIG;
	struct index_stats stats;
	struct fresh fresh;
	AUTO_FREE char *path = rig_path(&rig, 1, NULL), *db = path_join(rig.index, "lock");
	const struct strv one = { .v = (char *[]){ path, NULL }, .n = 1 };

	rig_say(&rig, 1, NULL, "the kumquat tree");
	rig_say(&rig, 2, NULL, "the medlar tree");
	assert_int_equal(keeper_index_files(&rig.keeper, &one, 0, &stats, NULL), 0);
	/* A folder in place of the lock: nobody can write. */
	assert_int_equal(unlink(db), 0);
	assert_int_equal(mkdir(db, 0700), 0);
	assert_int_equal(fresh_view(&rig.keeper, 600000, 600000, &fresh, NULL), 0);
	assert_true(fresh.never);
	assert_true(fresh.failed.code < 0);
	fresh_release(&fresh);
	assert_int_equal(rmdir(db), 0);
	assert_int_equal(keeper_index_files(&rig.keeper, NULL, 0, &stats, NULL), 0);
	assert_int_equal(fresh_view(&rig.keeper, 600000, 600000, &fresh, NULL), 0);
	assert_false(fresh.never);
	assert_int_equal(fresh.failed.code, 0);
	fresh_release(&fresh);
}

/* Who takes something in asks whether to go on. */
static bool count_asked(void *data)
{
	++*(unsigned *)data;
	return false;
}

/* What was taken in already is not taken in again, and nobody has to be waited for. */
static void test_had(void **state UNUSED)
{
	RIG;
	AUTO_FREE char *lock = path_join(rig.index, "lock");
	AUTO_FREE char *path = rig_path(&rig, 1, NULL);
	struct fresh fresh;
	unsigned asked = 0;
	int held = -1;

	rig.keeper.cancelled = count_asked;
	rig.keeper.data = &asked;
	rig_say(&rig, 1, NULL, "the kumquat tree");
	look(&rig, 0);
	rig_say(&rig, 1, NULL, "and a quince");
	asked = 0;
	look(&rig, 0);
	assert_true(asked > 0);
	asked = 0;
	look(&rig, 0);
	assert_int_equal(asked, 0);
	assert_int_equal(file_lock(lock, LOCK_QUIETLY, &held, NULL), 0);
	assert_int_equal(fresh_view(&rig.keeper, 1, 1, &fresh, NULL), 0);
	assert_false(fresh.busy);
	fresh_release(&fresh);
	/* Of the same size, but written anew. */
	set_age(path, -3);
	assert_int_equal(fresh_view(&rig.keeper, 1, 1, &fresh, NULL), 0);
	assert_true(fresh.busy);
	fresh_release(&fresh);
	assert_int_equal(close(held), 0);
}

static void *end_writing(void *data)
{
	(void)usleep(20000);
	(void)close(*(int *)data);
	return NULL;
}

/* A watch that writes at the same time has begun before the last word was there. */
static void test_busy(void **state UNUSED)
{
	RIG;
	AUTO_FREE char *lock = path_join(rig.index, "lock");
	struct fresh fresh;
	pthread_t thread;
	int held = -1;

	rig_say(&rig, 1, NULL, "the kumquat tree");
	look(&rig, 0);
	rig_say(&rig, 2, NULL, "a new medlar");
	assert_int_equal(file_lock(lock, LOCK_QUIETLY, &held, NULL), 0);
	/* One who does not come to an end is not waited for. */
	assert_int_equal(fresh_view(&rig.keeper, 10, 10, &fresh, NULL), 0);
	assert_true(fresh.busy);
	fresh_release(&fresh);
	assert_int_equal(pthread_create(&thread, NULL, end_writing, &held), 0);
	look(&rig, 0);
	assert_int_equal(rig_found(&rig, "medlar"), 1);
	assert_int_equal(pthread_join(thread, NULL), 0);
	/* Nor is one who has it already. */
	assert_int_equal(file_lock(lock, LOCK_QUIETLY, &held, NULL), 0);
	assert_int_equal(fresh_view(&rig.keeper, 600000, 600000, &fresh, NULL), 0);
	assert_false(fresh.busy);
	fresh_release(&fresh);
	assert_int_equal(close(held), 0);
}

/* Codex keeps what sessions are called beside them. */
static void test_names(void **state UNUSED)
{
	RIG;
	static const char id[] = "01a00000-0000-7000-8000-000000000003";
	AUTO_FREE char *path = codex_rollout_path(rig.root, 1772359200000, id);
	AUTO_FREE char *names = path_join(rig.root, "session_index.jsonl");
	AUTO_FREE char *folder = path_folder(path);
	AUTO_FREE char *meta = xasprintf("{\"timestamp\":\"2026-03-01T10:00:00.000Z\","
					 "\"type\":\"session_meta\",\"payload\":{\"id\":\"%s\","
					 "\"cwd\":\"/work\"}}\n",
		id);
	AUTO_FREE char *first = xasprintf("{\"id\":\"%s\",\"thread_name\":\"orchard\"}\n", id);
	AUTO_FREE char *second = xasprintf("{\"id\":\"%s\",\"thread_name\":\"vineyard\"}\n", id);

	rig.home.agent = "codex";
	rig.home.format = TRANSCRIPT_CODEX;
	assert_int_equal(file_mkdirs(folder, NULL), 0);
	assert_int_equal(file_append(path, sv_of(meta), false, NULL), 0);
	look(&rig, 0);
	assert_int_equal(rig_found(&rig, "orchard"), 0);
	assert_int_equal(file_append(names, sv_of(first), false, NULL), 0);
	look(&rig, 0);
	assert_int_equal(rig_found(&rig, "orchard"), 1);
	unsigned asked = 0;
	rig.keeper.cancelled = count_asked;
	rig.keeper.data = &asked;
	look(&rig, 0);
	assert_int_equal(asked, 0);
	struct index_stats stats;
	assert_int_equal(file_append(names, sv_of(second), false, NULL), 0);
	assert_int_equal(keeper_index_files(&rig.keeper, NULL, 0, &stats, NULL), 0);
	assert_int_equal(rig_found(&rig, "vineyard"), 1);
	assert_int_equal(rig_found(&rig, "orchard"), 0);
	assert_int_equal(stats.read, 1);
	assert_int_equal(keeper_index_files(&rig.keeper, NULL, 0, &stats, NULL), 0);
	assert_int_equal(stats.read, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_new_sessions),
		cmocka_unit_test(test_many_sessions),
		cmocka_unit_test(test_rest),
		cmocka_unit_test(test_new_folder),
		cmocka_unit_test(test_old_folders),
		cmocka_unit_test(test_not_whole),
		cmocka_unit_test(test_had),
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
