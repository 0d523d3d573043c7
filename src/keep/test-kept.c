/* Sessions are kept, deleted, forgotten, and brought back with what belongs to them. */
#include "keep/test-rig.h"

#include <limits.h>

#include "keep/doomed.h"
#include "keep/kept.h"

static void archive(struct keep_rig *rig)
{
	struct archive_update_stats stats;

	assert_int_equal(catalogue_refresh(rig->store, &rig->home, 1, NULL, NULL, NULL), 0);
	if (keeper_archive_files(&rig->keeper, NULL, &stats, &rig->err) < 0)
		fail_msg("%s", rig->err.msg);
}

static void doom(struct keep_rig *rig, unsigned n, bool forget, struct doomed_stats *ret)
{
	CLEANUP(doomed_release) struct doomed d = DOOMED_INIT;
	AUTO_SESSION_ROW row = SESSION_ROW_INIT;
	AUTO_FREE char *path = rig_path(rig, n, NULL);
	AUTO_VAULT *v = NULL;

	d.forget = forget;
	assert_int_equal(catalogue_by_path(rig->store, path, &row, NULL), 0);
	assert_int_equal(doomed_add(&rig->keeper, &d, &row, true, NULL), 0);
	assert_int_equal(keeper_vault(&rig->keeper, 0, &v, NULL), 0);
	if (doomed_delete(&rig->keeper, v, &d, ret, &rig->err) < 0)
		fail_msg("%s", rig->err.msg);
}

static void count_written(void *data, const struct kept_back *back)
{
	assert_int_equal(back->lost, 0);
	*(unsigned *)data += back->written;
}

static void test_delete_and_restore(void **state UNUSED)
{
	RIG;
	CLEANUP(kept_release) struct kept kept = KEPT_INIT;
	AUTO_FREE char *path = rig_path(&rig, 1, NULL), *side = rig_path(&rig, 1, "agent-7");
	AUTO_FREE char *other = rig_path(&rig, 2, "agent-7");
	struct doomed_stats done;
	unsigned written = 0;

	rig_say(&rig, 1, NULL, "the kumquat tree");
	rig_say(&rig, 1, "agent-7", "a loquat beside it");
	rig_say(&rig, 2, NULL, "another session");
	rig_say(&rig, 2, "agent-7", "and what was done for it");
	archive(&rig);
	assert_int_equal(rig_kept(&rig), 4);
	rig_say(&rig, 1, NULL, "one line more than the archive has");
	doom(&rig, 1, false, &done);
	assert_int_equal(done.sessions, 1);
	assert_int_equal(done.files, 2);
	assert_false(path_exists(path) || path_exists(side));
	AUTO_FREE char *folder = xmemdup0(path, strlen(path) - strlen(".jsonl"));
	assert_false(path_exists(folder));
	assert_true(path_exists(other));

	assert_int_equal(kept_by_id(&rig.keeper, "aaaaaaaa", &kept, NULL), ERR_AMBIGUOUS);
	assert_int_equal(kept_by_id(&rig.keeper, "aaa", &kept, NULL), ERR_NOTFOUND);
	kept_release(&kept);
	assert_int_equal(
		kept_by_id(&rig.keeper, "aaaaaaaa-0000-4000-8000-000000000001", &kept, NULL), 0);
	assert_int_equal(kept_restore(&rig.keeper, &kept, 0, count_written, &written, NULL), 0);
	assert_int_equal(written, 2);
	AUTO_STR text = STR_INIT;
	assert_int_equal(file_read(path, 1 << 20, &text, NULL), 0);
	assert_non_null(strstr(text.buf, "one line more"));
	assert_true(path_exists(side));

	/* What is there has been written since: it stays, also beside the session. */
	assert_int_equal(file_replace(side, SV("mine\n"), 0, NULL), 0);
	written = 0;
	assert_int_equal(kept_restore(&rig.keeper, &kept, 0, count_written, &written, NULL), 0);
	assert_int_equal(written, 0);
	assert_int_equal(file_replace(path, SV("mine\n"), 0, NULL), 0);
	assert_int_equal(
		kept_restore(&rig.keeper, &kept, 0, count_written, &written, NULL), ERR_DENIED);
	assert_int_equal(
		kept_restore(&rig.keeper, &kept, KEPT_REPLACE, count_written, &written, NULL), 0);
	assert_int_equal(written, 1);
}

static unsigned count_gone(struct keep_rig *rig, unsigned n)
{
	unsigned gone = 0;

	for (unsigned i = 1; i <= n; i++) {
		AUTO_SESSION_ROW row = SESSION_ROW_INIT;
		AUTO_FREE char *path = rig_path(rig, i, NULL);
		gone += catalogue_by_path(rig->store, path, &row, NULL) >= 0 && row.gone;
	}
	return gone;
}

/* An older version that was put back is what the file was last, before anybody has looked; what it
 * took the place of is no more than a version. */
static void test_what_came_back_is_the_last(void **state UNUSED)
{
	RIG;
	CLEANUP(kept_release) struct kept older = KEPT_INIT, last = KEPT_INIT;
	AUTO_FREE char *path = rig_path(&rig, 1, NULL);
	AUTO_SESSION_ROW row = SESSION_ROW_INIT;
	AUTO_STR was = STR_INIT, is = STR_INIT;
	unsigned written = 0;

	rig_say(&rig, 1, NULL, "the kumquat tree");
	rig_say(&rig, 1, NULL, "bears fruit");
	assert_int_equal(file_read(path, 1 << 20, &was, NULL), 0);
	archive(&rig);
	assert_int_equal(unlink(path), 0);
	rig_say(&rig, 1, NULL, "something else");
	archive(&rig);
	assert_int_equal(rig_kept(&rig), 2);
	assert_int_equal(catalogue_by_path(rig.store, path, &row, NULL), 0);
	for (unsigned flags = 0; flags <= KEPT_REPLACE; flags += KEPT_REPLACE) {
		kept_release(&older);
		assert_int_equal(kept_of_session(&rig.keeper, &row.info, &older, NULL), 0);
		assert_int_equal(older.size, was.len);
		if (!flags)
			assert_int_equal(unlink(path), 0);
		assert_int_equal(
			kept_restore(&rig.keeper, &older, flags, count_written, &written, NULL), 0);
		assert_int_equal(unlink(path), 0);
		kept_release(&last);
		assert_int_equal(kept_of_session(&rig.keeper, &row.info, &last, NULL), 0);
		assert_string_equal(last.key, older.key);
		if (!flags)
			rig_say(&rig, 1, NULL, "something else");
	}
	assert_int_equal(written, 2);
	assert_int_equal(rig_kept(&rig), 2);
	assert_int_equal(kept_restore(&rig.keeper, &last, 0, count_written, &written, NULL), 0);
	assert_int_equal(file_read(path, 1 << 20, &is, NULL), 0);
	assert_string_equal(is.buf, was.buf);
}

/* The catalogue has seen it there, so that it is missed when it is emptied before anybody looks. */
static void test_what_came_back_is_known(void **state UNUSED)
{
	RIG;
	CLEANUP(kept_release) struct kept kept = KEPT_INIT;
	AUTO_FREE char *path = rig_path(&rig, 1, NULL);
	unsigned written = 0;

	rig_say(&rig, 1, NULL, "the kumquat tree");
	archive(&rig);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(catalogue_refresh(rig.store, &rig.home, 1, NULL, NULL, NULL), 0);
	assert_int_equal(count_gone(&rig, 1), 1);
	assert_int_equal(
		kept_by_id(&rig.keeper, "aaaaaaaa-0000-4000-8000-000000000001", &kept, NULL), 0);
	assert_int_equal(kept_restore(&rig.keeper, &kept, 0, count_written, &written, NULL), 0);
	assert_int_equal(count_gone(&rig, 1), 0);
}

/* Also what was done for it by sub-agents whose files are gone. */
static void test_forget(void **state UNUSED)
{
	RIG;
	AUTO_FREE char *path = rig_path(&rig, 1, NULL), *side = rig_path(&rig, 1, "agent-7");
	struct index_stats stats;
	struct doomed_stats done;

	rig_say(&rig, 1, NULL, "the kumquat tree");
	rig_say(&rig, 1, "agent-7", "a loquat beside it");
	rig_say(&rig, 2, NULL, "the medlar tree");
	archive(&rig);
	assert_int_equal(keeper_index_files(&rig.keeper, NULL, 0, &stats, NULL), 0);
	assert_int_equal(unlink(side), 0);
	assert_int_equal(catalogue_refresh(rig.store, &rig.home, 1, NULL, NULL, NULL), 0);
	doom(&rig, 1, true, &done);
	assert_int_equal(done.files, 1);
	assert_int_equal(done.kept, 2);
	assert_false(path_exists(path));
	assert_int_equal(rig_kept(&rig), 1);
	assert_int_equal(rig_found(&rig, "kumquat"), 0);
	assert_int_equal(rig_found(&rig, "loquat"), 0);
	assert_int_equal(rig_found(&rig, "medlar"), 1);
}

static void test_prune(void **state UNUSED)
{
	RIG;
	AUTO_FREE char *path = rig_path(&rig, 1, NULL);
	const struct kept_limits limits = { .older_ms = 1000 };
	CLEANUP(kept_pruned_release) struct kept_pruned pruned = KEPT_PRUNED_INIT;
	AUTO_VAULT *v = NULL;

	rig_say(&rig, 1, NULL, "the kumquat tree");
	rig_say(&rig, 2, NULL, "the medlar tree");
	archive(&rig);
	assert_int_equal(unlink(path), 0);
	rig.clock = (struct clock){ true, clock_wall_ms(&rig.clock) + 60 * 1000 };
	assert_int_equal(keeper_vault(&rig.keeper, 0, &v, NULL), 0);
	assert_int_equal(kept_prune_plan(&rig.keeper, v, &limits, &pruned, NULL), 0);
	assert_int_equal(pruned.files, 1);
	assert_int_equal(pruned.there, 1);
	assert_true(pruned.old.v[0].only);
	assert_int_equal(rig_kept(&rig), 2);
	assert_int_equal(kept_prune(&rig.keeper, v, &limits, &pruned, NULL), 0);
	assert_int_equal(rig_kept(&rig), 1);
}

static bool is_over(void *data)
{
	(void)data;
	return true;
}

static void count_progress(void *data, size_t done, size_t packs)
{
	assert_true(done < packs);
	++*(unsigned *)data;
}

/* Whoever ends it early is told so, and the same again does the rest. */
static void test_forgetting_goes_on(void **state UNUSED)
{
	RIG;
	CLEANUP(doomed_release) struct doomed d = DOOMED_INIT;
	AUTO_FREE char *path = rig_path(&rig, 1, NULL);
	AUTO_SESSION_ROW row = SESSION_ROW_INIT;
	AUTO_VAULT *v = NULL;
	struct doomed_stats done;
	unsigned told = 0;

	rig_say(&rig, 1, NULL, "the kumquat tree");
	rig_say(&rig, 2, NULL, "another session");
	archive(&rig);
	d.forget = true;
	assert_int_equal(catalogue_by_path(rig.store, path, &row, NULL), 0);
	assert_int_equal(doomed_add(&rig.keeper, &d, &row, true, NULL), 0);
	assert_int_equal(keeper_vault(&rig.keeper, 0, &v, NULL), 0);
	rig.keeper.cancelled = is_over;
	rig.keeper.progress = count_progress;
	rig.keeper.data = &told;
	assert_int_equal(doomed_delete(&rig.keeper, v, &d, &done, &rig.err), ERR_CANCELLED);
	assert_non_null(strstr(rig.err.msg, "the same again"));
	assert_int_equal(told, 1);
	vault_close(TAKE_PTR(v));
	rig.keeper.cancelled = NULL;
	doom(&rig, 1, true, &done);
	assert_true(told > 1);
	assert_true(done.freed > 0);
	assert_int_equal(rig_kept(&rig), 1);
	session_row_release(&row);
	row = (struct session_row)SESSION_ROW_INIT;
	assert_int_equal(catalogue_by_path(rig.store, path, &row, NULL), ERR_NOTFOUND);
}

/* Where the store cannot be written, nothing is deleted and nothing forgotten. */
static void test_what_cannot_be_noted_stays(void **state UNUSED)
{
	RIG;
	AUTO_FREE char *path = rig_path(&rig, 1, NULL), *file = path_join(rig.folder, "store.db");
	AUTO_SESSION_ROW row = SESSION_ROW_INIT;
	struct doomed_stats done;

	store_close(rig.store);
	assert_int_equal(store_open(file, 0, NULL, &rig.store, NULL), 0);
	rig.keeper.store = rig.store;
	rig_say(&rig, 1, NULL, "the kumquat tree");
	archive(&rig);
	store_close(TAKE_PTR(rig.store));
	assert_int_equal(store_open(file, STORE_READONLY, NULL, &rig.store, NULL), 0);
	rig.keeper.store = rig.store;
	assert_int_equal(catalogue_by_path(rig.store, path, &row, NULL), 0);
	for (int forget = 0; forget < 2; forget++) {
		CLEANUP(doomed_release) struct doomed d = DOOMED_INIT;
		AUTO_VAULT *v = NULL;
		d.forget = forget;
		assert_int_equal(doomed_add(&rig.keeper, &d, &row, true, NULL), 0);
		assert_int_equal(keeper_vault(&rig.keeper, 0, &v, NULL), 0);
		assert_true(doomed_delete(&rig.keeper, v, &d, &done, &rig.err) < 0);
		assert_non_null(strstr(rig.err.msg, "nothing was deleted"));
		assert_true(path_exists(path));
	}
	assert_int_equal(rig_kept(&rig), 1);
}

struct pupil {
	struct store *other;
	unsigned asked, until;
};

/* Nobody waits for the store while copies are read. */
static bool is_enough(void *data)
{
	struct pupil *p = data;

	assert_int_equal(store_pref_set(p->other, "other", "was here", NULL), 0);
	return ++p->asked > p->until;
}

/* A store that was lost learns what only the archive has, in steps that stay. */
static void test_learning_goes_on(void **state UNUSED)
{
	RIG;
	enum { N = 40, UNTIL = 20 };
	AUTO_FREE char *file = path_join(rig.folder, "faden.db");
	struct pupil pupil = { .until = UNTIL };

	for (unsigned i = 1; i <= N; i++)
		rig_say(&rig, i, NULL, "the kumquat tree");
	archive(&rig);
	for (unsigned i = 1; i <= N; i++) {
		AUTO_FREE char *path = rig_path(&rig, i, NULL);
		assert_int_equal(unlink(path), 0);
	}
	store_close(rig.store);
	assert_int_equal(store_open(file, 0, NULL, &rig.store, NULL), 0);
	assert_int_equal(store_open(file, 0, NULL, &pupil.other, NULL), 0);
	rig.keeper.store = rig.store;
	rig.keeper.cancelled = is_enough;
	rig.keeper.data = &pupil;
	assert_int_equal(kept_learn(&rig.keeper, NULL), 0);
	assert_int_equal(count_gone(&rig, N), UNTIL);
	pupil.until = UINT_MAX;
	assert_int_equal(kept_learn(&rig.keeper, NULL), 0);
	assert_int_equal(count_gone(&rig, N), N);
	pupil.asked = 0;
	assert_int_equal(kept_learn(&rig.keeper, NULL), 0);
	assert_int_equal(pupil.asked, 0);
	store_close(pupil.other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_delete_and_restore),
		cmocka_unit_test(test_what_came_back_is_the_last),
		cmocka_unit_test(test_what_came_back_is_known),
		cmocka_unit_test(test_forget),
		cmocka_unit_test(test_forgetting_goes_on),
		cmocka_unit_test(test_prune),
		cmocka_unit_test(test_what_cannot_be_noted_stays),
		cmocka_unit_test(test_learning_goes_on),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
