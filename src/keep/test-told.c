/* What was told of is taken in once, by one, and nothing else is. */
#include "keep/test-rig.h"

#include "keep/told.h"

static void tell(struct keep_rig *rig, unsigned n, int want)
{
	AUTO_FREE char *path = rig_path(rig, n, NULL);

	assert_int_equal(told_add(rig->folder, path, NULL), want);
}

static struct told_stats take(struct keep_rig *rig)
{
	struct told_stats stats;

	if (told_take(&rig->keeper, 0, &stats, &rig->err) < 0)
		fail_msg("%s", rig->err.msg);
	return stats;
}

static void test_told(void **state UNUSED)
{
	RIG;
	rig_say(&rig, 1, NULL, "the kumquat tree");
	rig_say(&rig, 1, "agent-7", "a loquat beside it");
	rig_say(&rig, 2, NULL, "nobody told of the medlar");
	tell(&rig, 1, 1);
	tell(&rig, 1, 1); /* nobody came yet */
	struct told_stats stats = take(&rig);
	assert_int_equal(stats.read, 2);
	assert_int_equal(stats.archived, 2);
	assert_int_equal(rig_found(&rig, "kumquat"), 1);
	assert_int_equal(rig_found(&rig, "loquat"), 1);
	assert_int_equal(rig_found(&rig, "medlar"), 0);
	assert_int_equal(rig_kept(&rig), 2);
	stats = take(&rig);
	assert_int_equal(stats.read, 0);

	rig_say(&rig, 1, NULL, "and a quince");
	tell(&rig, 1, 1);
	stats = take(&rig);
	assert_int_equal(stats.read, 1);
	assert_int_equal(rig_found(&rig, "quince"), 1);
	assert_int_equal(rig_found(&rig, "kumquat"), 1);
}

/* Who takes in hears of what is told meanwhile, so that no second one is started. */
static void test_somebody_at_it(void **state UNUSED)
{
	RIG;
	AUTO_FREE char *lock = path_join(rig.folder, "told.taking");
	int fd = -1;

	rig_say(&rig, 1, NULL, "the kumquat tree");
	assert_int_equal(file_lock(lock, NULL, &fd, NULL), 0);
	tell(&rig, 1, 0);
	assert_int_equal(take(&rig).read, 0);
	(void)close(fd);
	assert_int_equal(take(&rig).read, 1);
}

/* Paths that are no sessions of these homes, or gone, are passed over. */
static void test_odd_paths(void **state UNUSED)
{
	RIG;
	AUTO_FREE char *stray = path_join(rig.root, "projects/-work/notes.txt");
	AUTO_FREE char *newline = path_join(rig.root, "projects/-work/a\nb.jsonl");

	rig_say(&rig, 1, NULL, "the kumquat tree");
	assert_int_equal(file_append(stray, SV("no session\n"), false, NULL), 0);
	assert_int_equal(told_add(rig.folder, stray, NULL), 1);
	assert_int_equal(told_add(rig.folder, newline, NULL), 1);
	assert_int_equal(told_add(rig.folder, "/etc/passwd", NULL), 1);
	assert_int_equal(told_add(rig.folder, "", NULL), 1);
	tell(&rig, 9, 1);
	tell(&rig, 1, 1);
	assert_int_equal(take(&rig).read, 1);
	assert_int_equal(rig_kept(&rig), 1);
}

/* A list that nobody reads does not grow for ever. */
static void test_long_list(void **state UNUSED)
{
	RIG;
	AUTO_FREE char *list = path_join(rig.folder, "told");
	AUTO_STR much = STR_INIT;

	while (much.len <= TOLD_MAX)
		str_adds(&much, "/no/such/path/of/a/session.jsonl");
	assert_int_equal(file_append(list, str_sv(&much), false, NULL), 0);
	rig_say(&rig, 1, NULL, "the kumquat tree");
	tell(&rig, 1, 1);
	assert_int_equal(take(&rig).read, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_told),
		cmocka_unit_test(test_somebody_at_it),
		cmocka_unit_test(test_odd_paths),
		cmocka_unit_test(test_long_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
