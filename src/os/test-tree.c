#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/map.h"
#include "base/mem.h"
#include "os/test-temp.h"
#include "os/tree.h"

struct seen {
	struct map files; /* path below top → depth + 1 */
	size_t n, errors;
	size_t top_n; /* length of top and '/' */
	int stop;
};

static int on_file(void *data, const struct tree_file *file)
{
	struct seen *seen = data;
	struct sv below = sv_from(sv_of(file->path), seen->top_n);

	assert_true(map_put(&seen->files, below, file->depth + 1));
	assert_true(sv_eq(file->name, path_base(below)));
	seen->n++;
	return seen->stop;
}

static void on_error(void *data, const char *path, int errnum)
{
	struct seen *seen = data;

	assert_non_null(path);
	assert_true(errnum > 0);
	seen->errors++;
}

static int walk(const char *top, unsigned depth, const char *suffix, struct seen *seen)
{
	const struct tree_opts opts = { .depth = depth,
		.suffix = sv_of(suffix),
		.on_file = on_file,
		.on_error = on_error,
		.data = seen };

	seen->top_n = strlen(top) + 1;
	seen->n = seen->errors = 0;
	map_release(&seen->files);
	return tree_walk(top, &opts, NULL);
}

static bool saw(const struct seen *seen, const char *path, unsigned depth)
{
	uint64_t value = 0;

	return map_get(&seen->files, sv_of(path), &value) && value == depth + 1;
}

static void make_tree(const char *dir)
{
	free(temp_write(dir, "a.jsonl", "1"));
	free(temp_write(dir, "b.txt", "2"));
	free(temp_write(dir, "p/c.jsonl", "3"));
	free(temp_write(dir, "p/.hidden.jsonl", "4"));
	free(temp_write(dir, "p/q/d.jsonl", "5"));
	free(temp_write(dir, "p/folder.jsonl/e.txt", "6"));
}

static void test_filter_and_depth(void **state)
{
	struct seen seen = { .files = MAP_INIT };

	make_tree(*state);
	assert_int_equal(walk(*state, TREE_DEPTH_MAX, ".jsonl", &seen), 0);
	assert_int_equal(seen.n, 4);
	assert_true(saw(&seen, "a.jsonl", 0) && saw(&seen, "p/c.jsonl", 1));
	assert_true(saw(&seen, "p/.hidden.jsonl", 1) && saw(&seen, "p/q/d.jsonl", 2));
	assert_int_equal(walk(*state, 1, ".jsonl", &seen), 0);
	assert_int_equal(seen.n, 3);
	assert_int_equal(walk(*state, 0, "", &seen), 0);
	assert_int_equal(seen.n, 2);
	assert_int_equal(walk(*state, 2, "", &seen), 0);
	assert_int_equal(seen.n, 6);
	assert_int_equal(seen.errors, 0);
	map_release(&seen.files);
}

static int on_one_file(void *data, const struct tree_file *file)
{
	*(struct tree_file *)data = *file;
	return 0;
}

static void test_size_time_and_inode_are_told(void **state)
{
	struct stat st;
	struct tree_file got = { .size = 0 };
	const struct tree_opts opts = { .on_file = on_one_file, .data = &got };
	AUTO_FREE char *path = temp_write(*state, "f", "12345");
	const struct timespec times[2] = { { .tv_sec = 5 }, { .tv_sec = 7, .tv_nsec = 123456789 } };

	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(tree_walk(*state, &opts, NULL), 0);
	assert_int_equal(got.size, 5);
	assert_int_equal(got.mtime_ns, 7123456789);
	assert_int_equal(got.inode, st.st_ino);
	assert_int_equal(got.device, st.st_dev);
}

/* Several threads may have a part of the folders each: nothing is missed, and nothing comes twice.
 */
static void test_parts_are_everything(void **state)
{
	enum { PARTS = 3, FOLDERS = 20 };
	struct seen seen = { .files = MAP_INIT };
	unsigned least = FOLDERS, all = 0;

	free(temp_write(*state, "top", "x"));
	for (int i = 0; i < FOLDERS; i++) {
		AUTO_FREE char *name = xasprintf("project-%d/below/f", i);
		free(temp_write(*state, name, "x"));
	}
	seen.top_n = strlen(*state) + 1;
	for (unsigned part = 0; part < PARTS; part++) {
		const struct tree_opts opts = { .depth = 2,
			.part = part,
			.parts = PARTS,
			.on_file = on_file,
			.on_error = on_error,
			.data = &seen };
		seen.n = 0;
		assert_int_equal(tree_walk(*state, &opts, NULL), 0);
		least = seen.n < least ? (unsigned)seen.n : least;
		all += (unsigned)seen.n;
	}
	assert_int_equal(all, FOLDERS + 1);
	assert_int_equal(seen.files.n, FOLDERS + 1);
	assert_true(least > 0);
	map_release(&seen.files);
}

static void test_only_the_top_may_be_a_link(void **state)
{
	struct seen seen = { .files = MAP_INIT };
	AUTO_FREE char *top = path_join(*state, "top");
	AUTO_FREE char *link_to_folder = path_join(*state, "real/to-folder");
	AUTO_FREE char *link_to_file = path_join(*state, "real/to-file");

	free(temp_write(*state, "real/f", "x"));
	free(temp_write(*state, "other/g", "x"));
	assert_int_equal(symlink("real", top), 0);
	assert_int_equal(symlink("../other", link_to_folder), 0);
	assert_int_equal(symlink("f", link_to_file), 0);
	assert_int_equal(walk(top, 5, "", &seen), 0);
	assert_int_equal(seen.n, 1);
	assert_true(saw(&seen, "f", 0));
	assert_int_equal(seen.errors, 0);
	map_release(&seen.files);
}

/* A folder that somebody has put elsewhere; nothing comes twice, and nothing goes round. */
static void test_links_that_lie_in_top(void **state)
{
	struct seen seen = { .files = MAP_INIT };
	const struct tree_opts opts = {
		.depth = 3, .links = true, .on_file = on_file, .on_error = on_error, .data = &seen
	};
	AUTO_FREE char *top = path_join(*state, "top");
	AUTO_FREE char *other = path_join(*state, "other");
	AUTO_FREE char *in = path_join(top, "in");
	AUTO_FREE char *deep = path_join(other, "deep");

	assert_int_equal(mkdir(top, 0700), 0);
	assert_int_equal(mkdir(other, 0700), 0);
	assert_int_equal(mkdir(in, 0700), 0);
	assert_int_equal(mkdir(deep, 0700), 0);
	AUTO_FREE char *a = temp_write(in, "a", "x");
	AUTO_FREE char *b = temp_write(deep, "b", "x");
	const struct {
		const char *to, *folder, *name;
	} links[] = { { other, top, "out" }, { other, top, "again" }, { top, top, "round" },
		{ in, top, "same" }, { "/", top, "above" }, { "nowhere", top, "dead" },
		{ other, in, "deeper" }, { other, other, "loop" } };
	for (size_t i = 0; i < ARRAY_LEN(links); i++) {
		AUTO_FREE char *path = path_join(links[i].folder, links[i].name);
		assert_int_equal(symlink(links[i].to, path), 0);
	}
	seen.top_n = strlen(top) + 1;
	seen.n = seen.errors = 0;
	assert_int_equal(tree_walk(top, &opts, NULL), 0);
	assert_int_equal(seen.errors, 0);
	assert_int_equal(seen.n, 2);
	assert_true(saw(&seen, "in/a", 1));
	assert_true(saw(&seen, "out/deep/b", 2) || saw(&seen, "again/deep/b", 2));
	map_release(&seen.files);
}

/* What they lead to, by the links' own names. */
static void test_links_to_files(void **state)
{
	struct seen seen = { .files = MAP_INIT };
	const struct tree_opts opts = { .depth = 3,
		.file_links = true,
		.suffix = SV(".x"),
		.on_file = on_file,
		.on_error = on_error,
		.data = &seen };
	AUTO_FREE char *top = path_join(*state, "top");

	free(temp_write(*state, "top/a.x", "x"));
	free(temp_write(*state, "top/in/b", "x"));
	free(temp_write(*state, "other/c", "x"));
	static const struct {
		const char *to, *path;
	} links[] = { { "../../other/c", "top/in/out.x" }, { "a.x", "top/again.x" },
		{ "../other", "top/folder.x" }, { "nowhere", "top/dead.x" },
		{ "round.x", "top/round.x" }, { "in/b", "top/other-name" },
		{ "/dev/null", "top/device.x" } };
	for (size_t i = 0; i < ARRAY_LEN(links); i++) {
		AUTO_FREE char *path = path_join(*state, links[i].path);
		assert_int_equal(symlink(links[i].to, path), 0);
	}
	seen.top_n = strlen(top) + 1;
	seen.n = seen.errors = 0;
	assert_int_equal(tree_walk(top, &opts, NULL), 0);
	assert_int_equal(seen.errors, 0);
	assert_int_equal(seen.n, 3);
	assert_true(saw(&seen, "a.x", 0));
	assert_true(saw(&seen, "again.x", 0));
	assert_true(saw(&seen, "in/out.x", 1));
	map_release(&seen.files);
}

static void test_callback_stops_the_walk(void **state)
{
	struct seen seen = { .files = MAP_INIT, .stop = 42 };

	make_tree(*state);
	assert_int_equal(walk(*state, 5, "", &seen), 42);
	assert_int_equal(seen.n, 1);
	map_release(&seen.files);
}

static void test_top_is_missing(void **state)
{
	struct err err = ERR_INIT;
	struct seen seen = { .files = MAP_INIT };
	const struct tree_opts opts = { .on_file = on_file, .data = &seen };
	AUTO_FREE char *none = path_join(*state, "none");

	assert_int_equal(tree_walk(none, &opts, &err), -ENOENT);
	assert_non_null(strstr(err.msg, none));
}

/* To root nothing is unreadable: it looks as nobody. */
static void test_unreadable_folder(void **state)
{
	enum { NOBODY = 65534 };
	struct seen seen = { .files = MAP_INIT };
	AUTO_FREE char *open_one = path_join(*state, "p");
	AUTO_FREE char *deeper = path_join(*state, "p/folder.jsonl");
	AUTO_FREE char *closed = path_join(*state, "p/q");
	uid_t self = geteuid();

	make_tree(*state);
	assert_int_equal(chmod(*state, 0755) + chmod(open_one, 0755) + chmod(deeper, 0755), 0);
	assert_int_equal(chmod(closed, 0), 0);
	if (self == 0)
		assert_int_equal(seteuid(NOBODY), 0);
	int r = walk(*state, 5, "", &seen);
	assert_int_equal(seteuid(self), 0);
	assert_int_equal(r, 0);
	assert_int_equal(seen.n, 5);
	assert_int_equal(seen.errors, 1);
	assert_int_equal(chmod(closed, 0700), 0);
	map_release(&seen.files);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FOLDER(test_filter_and_depth),
		WITH_FOLDER(test_size_time_and_inode_are_told),
		WITH_FOLDER(test_parts_are_everything),
		WITH_FOLDER(test_only_the_top_may_be_a_link),
		WITH_FOLDER(test_links_that_lie_in_top),
		WITH_FOLDER(test_links_to_files),
		WITH_FOLDER(test_callback_stops_the_walk),
		WITH_FOLDER(test_top_is_missing),
		WITH_FOLDER(test_unreadable_folder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
