/* What the index has read the archive takes, whatever came between. */
#include "keep/test-rig.h"

#include <fcntl.h>

/* A session as a backup brings it back, from before all that is known. */
static void bring(const struct keep_rig *rig, unsigned n)
{
	AUTO_FREE char *path = rig_path(rig, n, NULL);
	const struct timespec old[2] = { { 1772359200, 0 }, { 1772359200, 0 } };

	rig_say(rig, n, NULL, "the kumquat tree");
	assert_int_equal(utimensat(AT_FDCWD, path, old, 0), 0);
	/* What came within the last moments is looked at once more. */
	(void)usleep(30000);
}

static void on_took(void *data, const char *path)
{
	strv_add(data, path);
}

/* As 'faden index' does; archived: to its end. Returns what became of the archive. */
static int index_all(struct keep_rig *rig, bool archived, size_t *ret_taken)
{
	AUTO_STRV taken = STRV_INIT;
	const struct index_opts opts = { .took = on_took, .data = &taken };
	struct archive_update_stats kept = { .files = 0 };
	struct index_stats stats;
	struct keeper_taking taking;
	int64_t begun_ms = clock_wall_ms(&(struct clock){ false, 0 });

	assert_int_equal(keeper_archive_begin(&rig->keeper, &taking, NULL), 0);
	assert_int_equal(
		index_update(rig->index, rig->store, &rig->home, 1, &opts, &stats, NULL), 0);
	int r = archived
		? keeper_archive_new(&rig->keeper, &taking, &taken, begun_ms, &kept, &rig->err)
		: 0;
	*ret_taken = kept.files;
	return r;
}

static void test_read_is_archived(void **state UNUSED)
{
	RIG;
	AUTO_VAULT *v = NULL;
	struct index_stats stats;
	size_t looked;

	bring(&rig, 1);
	assert_int_equal(index_all(&rig, true, &looked), 0);
	assert_int_equal(rig_kept(&rig), 1);
	assert_int_equal(index_all(&rig, true, &looked), 0);
	assert_int_equal(looked, 0);
	/* One that came to no end, and one that another writer kept from it. */
	bring(&rig, 2);
	assert_int_equal(index_all(&rig, false, &looked), 0);
	assert_int_equal(index_all(&rig, true, &looked), 0);
	assert_int_equal(rig_kept(&rig), 2);
	bring(&rig, 3);
	assert_int_equal(keeper_vault(&rig.keeper, 0, &v, NULL), 0);
	assert_int_equal(index_all(&rig, true, &looked), ERR_BUSY);
	vault_close(TAKE_PTR(v));
	assert_int_equal(index_all(&rig, true, &looked), 0);
	assert_int_equal(rig_kept(&rig), 3);
	/* One that a search has read. */
	bring(&rig, 4);
	assert_int_equal(keeper_index_files(&rig.keeper, NULL, 0, &stats, NULL), 0);
	assert_int_equal(stats.read, 1);
	assert_int_equal(index_all(&rig, true, &looked), 0);
	assert_int_equal(rig_kept(&rig), 4);
	assert_int_equal(index_all(&rig, true, &looked), 0);
	assert_int_equal(looked, 0);
}

/* The end of one says nothing of what another one has read meanwhile. */
static void test_two_at_once(void **state UNUSED)
{
	RIG;
	const struct strv none = STRV_INIT;
	struct archive_update_stats kept;
	struct keeper_taking first;
	size_t looked;

	bring(&rig, 1);
	assert_int_equal(index_all(&rig, true, &looked), 0);
	assert_int_equal(keeper_archive_begin(&rig.keeper, &first, NULL), 0);
	(void)usleep(2000); /* they are told apart by it, within one process */
	bring(&rig, 2);
	assert_int_equal(index_all(&rig, false, &looked), 0);
	assert_int_equal(keeper_archive_new(&rig.keeper, &first, &none,
				 clock_wall_ms(&(struct clock){ false, 0 }), &kept, NULL),
		0);
	assert_int_equal(index_all(&rig, true, &looked), 0);
	assert_int_equal(rig_kept(&rig), 2);
}

/* The store knows of no session any more, and the index has them all. */
static void test_store_lost(void **state UNUSED)
{
	RIG;
	AUTO_STORE *empty = NULL;
	size_t looked;

	bring(&rig, 1);
	assert_int_equal(index_all(&rig, false, &looked), 0);
	assert_int_equal(store_open(NULL, STORE_MEMORY, NULL, &empty, NULL), 0);
	struct store *lost = rig.store;
	rig.store = empty;
	rig.keeper.store = empty;
	assert_int_equal(index_all(&rig, true, &looked), 0);
	assert_int_equal(rig_kept(&rig), 1);
	rig.store = lost;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read_is_archived),
		cmocka_unit_test(test_two_at_once),
		cmocka_unit_test(test_store_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
