/*
 * A thin, typed way to run SQL, for the rooms that keep tables.
 *
 *	struct sql q = SQL_INIT;
 *	r = sql_prepare(&q, store, "SELECT id FROM conversation WHERE dir = ?", reterr);
 *	sql_text(&q, dir);
 *	while ((r = sql_step(&q, reterr)) > 0)
 *		use(sql_get_text(&q, 0));
 *	sql_release(&q);
 *
 * Values are bound in order; binding errors show at the first step.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "store/store.h"

struct sqlite3_stmt;

struct sql {
	struct store *store;
	struct sqlite3_stmt *stmt;
	int bound; /* values so far */
	int failed; /* the first of them that could not be bound: SQLite's code */
};
#define SQL_INIT             \
	{                    \
		.stmt = NULL \
	}
#define AUTO_SQL CLEANUP(sql_release) struct sql

/* Statements that were released last, ready for the same text again: compiling one costs more than
 * running it, and a routing decision runs some dozens of times. */
struct sql_kept {
	struct sqlite3_stmt *v[16];
	size_t next;
};
struct sql_kept *store_kept(struct store *store);
/* What boot of the machine this is (proc_boot()): a file is read for it, once. */
const char *store_boot(struct store *store);
void sql_kept_release(struct sql_kept *kept);

int sql_prepare(struct sql *q, struct store *store, const char *text, struct err *reterr) MUST_USE;
void sql_release(struct sql *q);
void sql_text(struct sql *q, const char *value); /* NULL binds NULL; copied */
void sql_sv(struct sql *q, struct sv value); /* text; borrowed until the next reset */
void sql_blob(struct sql *q, struct sv value); /* bytes; copied */
void sql_int(struct sql *q, int64_t value);
/* 1 a row, 0 done, negative an error. */
int sql_step(struct sql *q, struct err *reterr) MUST_USE;
/* For a statement without rows: step to the end. */
int sql_run(struct sql *q, struct err *reterr) MUST_USE;
/* Ready for other values. */
void sql_reset(struct sql *q);

const char *sql_get_text(struct sql *q, int column); /* NULL for NULL; valid until the next step */
char *sql_dup_text(struct sql *q, int column); /* owned; NULL for NULL */
struct sv sql_get_blob(struct sql *q, int column); /* valid until the next step */
int64_t sql_get_int(struct sql *q, int column);

/*
 * The same with the values beside the text, so that their order can be seen:
 *
 *	r = SQL_RUN(store, reterr, "DELETE FROM pref WHERE key = ?", SQL_T(key));
 *	r = SQL_PREPARE(&q, store, reterr, "SELECT …", SQL_T(dir), SQL_I(max));
 */
struct sql_value {
	bool is_text, is_bytes;
	const char *text; /* NULL binds NULL */
	struct sv bytes; /* text that may hold NULs */
	int64_t number;
};
#define SQL_T(value) ((struct sql_value){ .is_text = true, .text = (value) })
#define SQL_S(value) ((struct sql_value){ .is_bytes = true, .bytes = (value) })
#define SQL_I(value) ((struct sql_value){ .number = (int64_t)(value) })
#define SQL_VALUES(...)                            \
	(const struct sql_value[]){ __VA_ARGS__ }, \
		sizeof((const struct sql_value[]){ __VA_ARGS__ }) / sizeof(struct sql_value)
#define SQL_PREPARE(q, store, reterr, query, ...) \
	sql_prepare_values(q, store, query, SQL_VALUES(__VA_ARGS__), reterr)
#define SQL_RUN(store, reterr, query, ...) \
	sql_run_values(store, query, SQL_VALUES(__VA_ARGS__), reterr)
int sql_prepare_values(struct sql *q, struct store *store, const char *text,
	const struct sql_value *values, size_t n, struct err *reterr) MUST_USE;
int sql_run_values(struct store *store, const char *text, const struct sql_value *values, size_t n,
	struct err *reterr) MUST_USE;

/* Prepares and runs a statement without values. */
int sql_exec(struct store *store, const char *text, struct err *reterr) MUST_USE;
/* Rows changed by the last statement of this handle. */
int64_t sql_changes(struct store *store);
/* Turns an SQLite result code into our error with the message of the handle. */
int sql_error(struct store *store, int code, struct err *reterr);
