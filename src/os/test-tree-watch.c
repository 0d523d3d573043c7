#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/str.h"
#include "os/path.h"
#include "os/test-temp.h"
#include "os/tree-watch.h"

struct heard {
	struct strv paths;
	unsigned missed;
};

static void hear(void *data, const char *path)
{
	struct heard *h = data;

	if (path)
		strv_add(&h->paths, path);
	else
		h->missed++;
}

/* All that the kernel has to tell by now. */
static void listen(struct loop *loop)
{
	for (int i = 0; i < 20; i++)
		assert_int_equal(loop_step(loop, 5, NULL), 0);
}

static bool heard_of(struct heard *h, const char *end)
{
	bool found = false;

	for (size_t i = 0; i < h->paths.n; i++)
		found |= sv_ends(sv_of(h->paths.v[i]), sv_of(end));
	return found;
}

static void what_changes_is_told(void **state UNUSED)
{
	char *top = temp_folder();
	AUTO_FREE char *sub = path_join(top, "sub");
	AUTO_FREE char *deep = path_join(sub, "deep");
	struct heard h = { .paths = STRV_INIT };
	struct loop *loop = loop_new();
	struct tree_watch *w = tree_watch_new(loop, hear, &h, NULL);

	assert_non_null(w);
	assert_int_equal(mkdir(sub, 0700), 0);
	assert_true(tree_watch_add(w, top));
	assert_true(tree_watch_add(w, top));
	assert_false(tree_watch_add(w, "/no/such/folder"));

	AUTO_FREE char *a = temp_write(top, "a", "x");
	AUTO_FREE char *b = temp_write(sub, "b", "x");
	listen(loop);
	assert_true(heard_of(&h, "/a"));
	assert_true(heard_of(&h, "/sub/b"));
	assert_int_equal(h.missed, 0);

	/* In a folder that is new, too; what was there before it was watched is looked for. */
	assert_int_equal(mkdir(deep, 0700), 0);
	AUTO_FREE char *c = temp_write(deep, "c", "x");
	listen(loop);
	assert_int_equal(h.missed, 1);
	AUTO_FREE char *d = temp_write(deep, "d", "x");
	listen(loop);
	assert_true(heard_of(&h, "/sub/deep/d"));

	assert_int_equal(unlink(b), 0);
	strv_release(&h.paths);
	h.paths = (struct strv)STRV_INIT;
	listen(loop);
	assert_true(heard_of(&h, "/sub/b"));

	tree_watch_free(w);
	tree_watch_free(NULL);
	loop_free(loop);
	strv_release(&h.paths);
	temp_remove(top);
}

/* A top that is not there yet, nor what it lies in. */
static void what_comes_later_is_told(void **state UNUSED)
{
	char *home = temp_folder(), *other = temp_folder();
	AUTO_FREE char *above = path_join(home, "above");
	AUTO_FREE char *top = path_join(above, "top");
	AUTO_FREE char *sub = path_join(top, "sub");
	AUTO_FREE char *link = path_join(sub, "link");
	struct heard h = { .paths = STRV_INIT };
	struct loop *loop = loop_new();
	struct tree_watch *w = tree_watch_new(loop, hear, &h, NULL);

	assert_non_null(w);
	assert_false(tree_watch_add(w, top));
	AUTO_FREE char *n = temp_write(home, "n", "x");
	listen(loop);
	assert_int_equal(h.missed, 0);
	assert_int_equal(h.paths.n, 0);
	assert_int_equal(mkdir(above, 0700), 0);
	listen(loop);
	assert_int_equal(h.missed, 0);
	assert_int_equal(mkdir(top, 0700), 0);
	listen(loop);
	assert_int_equal(h.missed, 1);
	assert_int_equal(mkdir(sub, 0700), 0);
	listen(loop);
	AUTO_FREE char *a = temp_write(sub, "a", "x");
	listen(loop);
	assert_true(heard_of(&h, "/above/top/sub/a"));

	/* A link to another folder that lies there. */
	assert_int_equal(symlink(other, link), 0);
	assert_true(tree_watch_add(w, top));
	AUTO_FREE char *b = temp_write(other, "b", "x");
	listen(loop);
	assert_true(heard_of(&h, "/above/top/sub/link/b"));
	strv_release(&h.paths);
	tree_watch_free(w);
	loop_free(loop);
	temp_remove(home);
	temp_remove(other);
}

/* A top that was moved away or removed, and another in its place. */
static void what_takes_its_place_is_told(void **state UNUSED)
{
	char *home = temp_folder();
	AUTO_FREE char *top = path_join(home, "top");
	AUTO_FREE char *sub = path_join(top, "sub");
	AUTO_FREE char *away = path_join(home, "away");
	AUTO_FREE char *there = path_join(away, "sub");
	struct heard h = { .paths = STRV_INIT };
	struct loop *loop = loop_new();
	struct tree_watch *w = tree_watch_new(loop, hear, &h, NULL);

	assert_non_null(w);
	assert_int_equal(mkdir(top, 0700), 0);
	assert_int_equal(mkdir(sub, 0700), 0);
	assert_true(tree_watch_add(w, top));
	assert_int_equal(rename(top, away), 0);
	listen(loop);
	AUTO_FREE char *a = temp_write(there, "a", "x");
	listen(loop);
	assert_false(heard_of(&h, "/a"));
	for (int i = 0; i < 2; i++) {
		h.missed = 0;
		assert_int_equal(mkdir(top, 0700), 0);
		listen(loop);
		assert_true(h.missed > 0);
		AUTO_FREE char *b = temp_write(top, i ? "b1" : "b0", "x");
		listen(loop);
		assert_true(heard_of(&h, i ? "/top/b1" : "/top/b0"));
		assert_int_equal(unlink(b), 0);
		assert_int_equal(rmdir(top), 0);
		listen(loop);
	}
	strv_release(&h.paths);
	tree_watch_free(w);
	loop_free(loop);
	temp_remove(home);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(what_changes_is_told),
		cmocka_unit_test(what_takes_its_place_is_told),
		cmocka_unit_test(what_comes_later_is_told) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
