#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "os/test-temp.h"
#include "store/health.h"
#include "store/sql.h"

static const char *const steps[] = { "CREATE TABLE fruit (id INTEGER PRIMARY KEY, name TEXT, "
				     "more BLOB); CREATE INDEX fruit_name ON fruit (name)" };
static const struct schema summed = { 0x66727569, 1, steps, true };

static struct store *opened(const char *path)
{
	struct store *store = NULL;

	assert_int_equal(store_open_as(&summed, path, 0, NULL, &store, NULL), 0);
	return store;
}

/* Rows on pages of their own, and one that goes on on several; all of it in the file. */
static void fill(const char *path)
{
	AUTO_STORE *store = opened(path);

	for (int i = 0; i < 200; i++)
		assert_int_equal(SQL_RUN(store, NULL,
					 "INSERT INTO fruit (name, more) VALUES ('lemon' || ?, "
					 "zeroblob(?))",
					 SQL_I(i), SQL_I(i == 100 ? 20000 : 10)),
			0);
	assert_true(store_is_summed(store));
	assert_int_equal(sql_exec(store, "PRAGMA wal_checkpoint(TRUNCATE)", NULL), 0);
}

/* 0, or the error of who reads every row. */
static int read_all(const char *path)
{
	AUTO_STORE *store = NULL;
	AUTO_SQL q = SQL_INIT;
	int r = store_open_as(&summed, path, STORE_READONLY, NULL, &store, NULL);

	if (r < 0)
		return r;
	if (!store_is_summed(store))
		return ERR_STORE;
	r = sql_prepare(&q, store, "SELECT name, more FROM fruit NOT INDEXED", NULL);
	while (r >= 0 && (r = sql_step(&q, NULL)) > 0)
		(void)sql_get_blob(&q, 1);
	return r;
}

static void flip(const char *path, size_t at)
{
	FILE *file = fopen(path, "r+");

	assert_non_null(file);
	assert_int_equal(fseek(file, (long)at, SEEK_SET), 0);
	int byte = fgetc(file);
	assert_int_equal(fseek(file, (long)at, SEEK_SET), 0);
	assert_int_equal(fputc(byte ^ 8, file), byte ^ 8);
	assert_int_equal(fclose(file), 0);
}

/* Wherever a bit flips, whoever looks at all of it finds that; no row is another one than was
 * written. */
static void a_bit_that_flips_is_found(void **state)
{
	char *dir = temp_folder();
	AUTO_FREE char *path = path_join(dir, "fruit.db");
	struct stat st;

	(void)state;
	fill(path);
	assert_int_equal(read_all(path), 0);
	assert_int_equal(stat(path, &st), 0);
	size_t step = 397, found = 0, tried = 0;
	for (size_t at = 0; at < (size_t)st.st_size; at += at < 112 ? 1 : step, tried++) {
		AUTO_STR words = STR_INIT;
		flip(path, at);
		found += read_all(path) == ERR_STORE;
		/* The one byte that says that there are sums is looked at by who opens it. */
		assert_true(store_try(path, &words) == STORE_DAMAGED || at == 20);
		flip(path, at);
	}
	/* The pages of the key are none of those rows'. */
	assert_true(found > tried / 2);
	assert_int_equal(read_all(path), 0);
	temp_remove(dir);
}

/* … also when it was written anew, and has become larger and smaller since. */
static void sums_stay(void **state)
{
	char *dir = temp_folder();
	AUTO_FREE char *path = path_join(dir, "fruit.db");
	AUTO_STR words = STR_INIT;

	(void)state;
	fill(path);
	struct store *store = opened(path);
	assert_int_equal(sql_exec(store, "DELETE FROM fruit WHERE id % 3 > 0", NULL), 0);
	assert_int_equal(store_scrub(store, NULL), 0);
	assert_int_equal(
		sql_exec(store, "INSERT INTO fruit (name) SELECT name || 'x' FROM fruit", NULL), 0);
	store_close(store);
	assert_int_equal(store_try(path, &words), STORE_SOUND);
	assert_int_equal(read_all(path), 0);
	AUTO_FREE char *log = path_join(dir, "fruit.db-wal"); /* which has been folded in */
	assert_int_equal(unlink(log), 0);
	assert_int_equal(store_try(path, &words), STORE_SOUND);
	flip(path, 4096 + 4000);
	assert_int_equal(store_try(path, &words), STORE_DAMAGED);
	temp_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bit_that_flips_is_found),
		cmocka_unit_test(sums_stay),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
