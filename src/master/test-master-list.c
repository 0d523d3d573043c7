#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "master/list.h"
#include "os/test-temp.h"

/* A run of that name, whose last step was so many minutes after noon. */
static void make(const char *root, const char *name, int minutes, char id[static UUID_TEXT])
{
	const struct clock clock = { .fixed = true, .fixed_ms = 1750000000000 + minutes * 60000 };
	AUTO_MASTER_CONFIG c = MASTER_CONFIG_INIT;
	struct master_step say = MASTER_STEP_INIT(MASTER_STEP_SAY);
	struct master_run *run;

	c.dir = xstrdup("/work");
	say.text = SV("do it");
	assert_int_equal(master_create(root, &c, name, 0, &clock, &run, NULL), 0);
	assert_int_equal(master_step(run, &say, NULL), 0);
	(void)snprintf(id, UUID_TEXT, "%s", master_state(run)->id);
	assert_int_equal(master_close(run, NULL), 0);
}

static void test_list(void **state)
{
	AUTO_MASTER_LIST list = MASTER_LIST_INIT;
	char first[UUID_TEXT], second[UUID_TEXT];

	assert_int_equal(master_list(*state, &list, NULL), 0);
	assert_int_equal(list.rows.n + list.bad.n, 0);
	make(*state, "the second", 2, second);
	make(*state, NULL, 1, first);
	AUTO_FREE char *half = temp_write(*state, "sessions/session-x.json", "{\"version\":\"2.0");
	AUTO_FREE char *empty = temp_write(*state, "sessions/session-y.json", "");
	AUTO_FREE char *other = temp_write(*state, "sessions/notes.json", "[]");
	assert_int_equal(master_list(*state, &list, NULL), 0);
	assert_int_equal(list.rows.n, 2);
	assert_int_equal(list.bad.n, 2);
	assert_string_equal(list.rows.v[0].state.id, second);
	assert_string_equal(list.rows.v[0].state.name, "the second");
	assert_string_equal(list.rows.v[0].state.task.buf, "do it");
	assert_string_equal(list.rows.v[0].state.config.dir, "/work");
	assert_int_equal(list.rows.v[0].state.remaining, MASTER_UNLIMITED);
	assert_false(list.rows.v[0].open);
	assert_null(list.rows.v[1].state.name);
}

static void test_find(void **state)
{
	AUTO_MASTER_LIST list = MASTER_LIST_INIT;
	const struct master_row *row;
	struct err err = ERR_INIT;
	char a[UUID_TEXT], b[UUID_TEXT];

	make(*state, "alpha", 1, a);
	make(*state, "alphabet", 2, b);
	assert_int_equal(master_list(*state, &list, NULL), 0);
	const struct {
		const char *text, *id;
	} cases[] = { { a, a }, { "alpha", a }, { "ALPHAB", b }, { "bet", b } };
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		assert_int_equal(master_find(&list, cases[i].text, &row, NULL), 0);
		assert_string_equal(row->state.id, cases[i].id);
	}
	AUTO_FREE char *head = xasprintf("session-%.12s", b);
	assert_int_equal(master_find(&list, head, &row, NULL), 0);
	assert_string_equal(row->state.id, b);
	assert_int_equal(master_find(&list, "alph", &row, &err), ERR_AMBIGUOUS);
	assert_non_null(strstr(err.msg, a));
	assert_int_equal(master_find(&list, "", &row, NULL), ERR_NOTFOUND);
	assert_int_equal(master_find(&list, "Continue with part 2", &row, NULL), ERR_NOTFOUND);
}

static void test_delete(void **state)
{
	const struct clock clock = { .fixed = true, .fixed_ms = 1750000000000 };
	AUTO_FREE char *root = path_join(*state, "root"), *kept = path_join(*state, "kept");
	AUTO_MASTER_LIST list = MASTER_LIST_INIT;
	struct archive archive = { .dir = kept, .clock = &clock };
	struct master_run *run;
	AUTO_STR before = STR_INIT;
	char id[UUID_TEXT], other[UUID_TEXT], key[ARCHIVE_KEY_MAX];

	assert_int_equal(store_open(NULL, STORE_MEMORY, NULL, &archive.store, NULL), 0);
	make(root, "one", 1, id);
	make(root, "two", 2, other);
	AUTO_FREE char *path = xasprintf("%s/sessions/session-%s.json", root, id);
	assert_int_equal(file_read(path, 1 << 20, &before, NULL), 0);

	assert_int_equal(master_open(root, id, 0, &clock, &run, NULL), 0);
	assert_int_equal(master_list(root, &list, NULL), 0);
	assert_int_equal(list.rows.v[0].pid, 0);
	assert_int_equal(list.rows.v[1].pid, getpid());
	assert_true(list.rows.v[1].open);
	master_list_release(&list);
	assert_int_equal(master_delete(root, id, &archive, NULL), ERR_BUSY);
	assert_int_equal(master_close(run, NULL), 0);
	assert_int_equal(master_delete(root, "../x", &archive, NULL), ERR_INPUT);
	AUTO_FREE char *old = master_beside(path, "old", 0), *older = master_beside(path, "old", 1);
	assert_int_equal(file_replace(old, SV("{}"), 0600, NULL), 0);
	assert_int_equal(file_replace(older, SV("{}"), 0600, NULL), 0);
	assert_int_equal(master_delete(root, id, &archive, NULL), 0);
	assert_false(path_exists(old) || path_exists(older));
	assert_int_equal(master_list(root, &list, NULL), 0);
	assert_int_equal(list.rows.n, 1);
	assert_int_equal(archive_find(&archive, path, key, NULL), 0);
	AUTO_STR after = STR_INIT;
	assert_int_equal(archive_read(&archive, key, 0, before.len, &after, NULL), 0);
	assert_string_equal(before.buf, after.buf);

	/* The one that was run last is gone: the latest that is there comes. */
	assert_int_equal(master_open(root, NULL, 0, &clock, &run, NULL), 0);
	assert_string_equal(master_state(run)->id, other);
	assert_int_equal(master_close(run, NULL), 0);
	store_close(archive.store);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, temp_set_up, temp_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_list),
		CASE(test_find),
		CASE(test_delete),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
