/* What is written while it runs is taken in, and what fails is tried again. */
#include "keep/test-rig.h"

#include "keep/watch.h"

struct heard {
	size_t read, archived, failed;
};

static void on_updated(void *data, const struct watch_update *u)
{
	struct heard *h = data;

	h->read += u->read;
	h->archived += u->archived;
}

static void on_failed(void *data, const struct err *err UNUSED)
{
	((struct heard *)data)->failed++;
}

/* Rounds of the loop until so much was heard of. */
static void wait_for(struct loop *loop, const size_t *n, size_t want)
{
	for (int i = 0; i < 600 && *n < want; i++)
		assert_int_equal(loop_step(loop, 100, NULL), 0);
	assert_true(*n >= want);
}

static void test_taken_in(void **state UNUSED)
{
	RIG;
	struct heard heard = { .read = 0 };
	const struct watch_events events = { on_updated, on_failed, &heard };
	struct loop *loop = loop_new();

	rig_say(&rig, 1, NULL, "the kumquat tree");
	struct watcher *w = watcher_new(loop, &rig.keeper, 0, &events, NULL);
	assert_non_null(w);
	wait_for(loop, &heard.read, 1);
	rig_say(&rig, 1, "agent-7", "a loquat beside it");
	wait_for(loop, &heard.read, 2);
	assert_int_equal(rig_found(&rig, "kumquat"), 1);
	assert_int_equal(rig_found(&rig, "loquat"), 1);
	wait_for(loop, &heard.archived, 2);
	assert_int_equal(rig_kept(&rig), 2);
	assert_int_equal(heard.failed, 0);
	watcher_free(w);
	watcher_free(NULL);
	loop_free(loop);
}

static void test_tried_again(void **state UNUSED)
{
	RIG;
	struct heard heard = { .read = 0 };
	const struct watch_events events = { on_updated, on_failed, &heard };
	struct loop *loop = loop_new();

	/* A file where the folder should be. */
	assert_int_equal(file_append(rig.index, SV("x"), false, NULL), 0);
	rig_say(&rig, 1, NULL, "the kumquat tree");
	struct watcher *w = watcher_new(loop, &rig.keeper, WATCH_NO_ARCHIVE, &events, NULL);
	assert_non_null(w);
	wait_for(loop, &heard.failed, 1);
	assert_int_equal(unlink(rig.index), 0);
	rig_say(&rig, 2, NULL, "the medlar tree");
	wait_for(loop, &heard.read, 2);
	assert_int_equal(rig_found(&rig, "kumquat"), 1);
	assert_int_equal(rig_found(&rig, "medlar"), 1);
	assert_int_equal(rig_kept(&rig), 0);
	watcher_free(w);
	loop_free(loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_taken_in),
		cmocka_unit_test(test_tried_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
