#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <sqlite3.h>

#include "os/test-temp.h"
#include "store/health.h"
#include "store/schema.h"

/* Another faden: it brings the store to a version while store_try() reads it all. */
struct other {
	sqlite3 *db;
	int version;
	unsigned came;
};
static struct other *other; /* an extension of SQLite is given nothing */

static void set_version(sqlite3 *db, int version)
{
	char text[64];

	(void)snprintf(text, sizeof(text), "PRAGMA user_version = %d", version);
	assert_int_equal(sqlite3_exec(db, text, NULL, NULL, NULL), SQLITE_OK);
}

static int get_version(sqlite3 *db)
{
	sqlite3_stmt *stmt = NULL;

	assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &stmt, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	int version = sqlite3_column_int(stmt, 0);
	(void)sqlite3_finalize(stmt);
	return version;
}

static int on_statement(unsigned what, void *data, void *stmt, void *text)
{
	(void)what;
	(void)data;
	(void)stmt;
	if (strcmp(text, "PRAGMA integrity_check") == 0) {
		set_version(other->db, other->version);
		other->came++;
	}
	return 0;
}

static int watch(sqlite3 *db, char **message, const void *api)
{
	(void)message;
	(void)api;
	return sqlite3_trace_v2(db, SQLITE_TRACE_STMT, on_statement, NULL);
}

static void check_overtaken(int by, enum store_health expected)
{
	char *dir = temp_folder();
	char *path = path_join(dir, "store.db");
	struct other o = { .version = by };
	AUTO_STR words = STR_INIT;

	assert_int_equal(sqlite3_open(path, &o.db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(o.db, "PRAGMA journal_mode = WAL; CREATE TABLE t (a)", NULL,
				 NULL, NULL),
		SQLITE_OK);
	set_version(o.db, (int)schema_version - 1);
	other = &o;
	assert_int_equal(sqlite3_auto_extension((void (*)(void))watch), SQLITE_OK);
	assert_int_equal(store_try(path, &words), expected);
	assert_int_equal(sqlite3_cancel_auto_extension((void (*)(void))watch), 1);
	assert_int_equal(o.came, 1);
	assert_int_equal(get_version(o.db), by);
	assert_int_equal(sqlite3_close(o.db), SQLITE_OK);
	temp_remove(dir);
	free(path);
}

static void a_version_that_came_meanwhile_stays(void **state)
{
	(void)state;
	check_overtaken((int)schema_version, STORE_SOUND);
	check_overtaken((int)schema_version + 1, STORE_NEWER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_version_that_came_meanwhile_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
