#include "store/sql.h"

#include <errno.h>
#include <sqlite3.h>

#include "base/mem.h"

static bool has_no_room(int errnum)
{
	return errnum == ENOSPC || errnum == EDQUOT || errnum == EFBIG;
}

/* SQLite has a code for ENOSPC alone; what else there was only the file at hand knows, which may be
 * the database's own or its log. For the log's index it asks for nothing but room. */
static bool is_full(struct sqlite3 *db, int code)
{
	static const int files[] = { SQLITE_FCNTL_FILE_POINTER, SQLITE_FCNTL_JOURNAL_POINTER };
	bool full = (code & 0xff) == SQLITE_FULL;

	if ((code & 0xff) != SQLITE_IOERR)
		return full;
	full = has_no_room(sqlite3_system_errno(db)) ||
		sqlite3_extended_errcode(db) == SQLITE_IOERR_SHMSIZE;
	for (size_t i = 0; i < ARRAY_LEN(files) && !full; i++) {
		sqlite3_file *file = NULL;
		int errnum = 0;
		if (sqlite3_file_control(db, "main", files[i], &file) == SQLITE_OK && file &&
			file->pMethods &&
			file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &errnum) ==
				SQLITE_OK)
			full = has_no_room(errnum);
	}
	return full;
}

int sql_error(struct store *store, int code, struct err *reterr)
{
	const char *text = sqlite3_errmsg(store_db(store));
	const char *name = sqlite3_db_filename(store_db(store), "main");
	const char *file = name && name[0] ? name : "in memory";

	if (is_full(store_db(store), code))
		return err_set(reterr, ERR_STORE,
			"store %s: the disk is full; faden cannot write this down", file);
	switch (code & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
		return err_set(reterr, ERR_BUSY,
			"store %s: another faden process holds it for too long; try again", file);
	case SQLITE_READONLY:
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
		return err_set(reterr, ERR_STORE, "store %s: cannot be written (%s)", file, text);
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return err_set(reterr, ERR_STORE,
			"store %s: the file is damaged (%s); 'faden doctor' says what to do, "
			"agents' "
			"transcripts are not touched",
			file, text);
	case SQLITE_TOOBIG:
		return err_set(reterr, ERR_LIMIT, "store %s: a text is too long to be kept", file);
	default:
		return err_set(reterr, ERR_STORE, "store %s: %s", file, text);
	}
}

/* A kept statement is out of its place while it is in use: a second user gets one of its own. */
static struct sqlite3_stmt *take_kept(struct sql_kept *kept, const char *text)
{
	for (size_t i = 0; i < ARRAY_LEN(kept->v); i++)
		if (kept->v[i] && strcmp(sqlite3_sql(kept->v[i]), text) == 0)
			return TAKE_PTR(kept->v[i]);
	return NULL;
}

int sql_prepare(struct sql *q, struct store *store, const char *text, struct err *reterr)
{
	*q = (struct sql){ .store = store, .stmt = take_kept(store_kept(store), text) };
	if (q->stmt)
		return 0;
	int code = sqlite3_prepare_v2(store_db(store), text, -1, &q->stmt, NULL);

	return code == SQLITE_OK ? 0 : sql_error(store, code, reterr);
}

void sql_release(struct sql *q)
{
	if (q->stmt) {
		struct sql_kept *kept = store_kept(q->store);
		struct sqlite3_stmt **place = &kept->v[kept->next++ % ARRAY_LEN(kept->v)];

		sql_reset(q);
		(void)sqlite3_finalize(*place);
		*place = q->stmt;
	}
	*q = (struct sql)SQL_INIT;
}

void sql_kept_release(struct sql_kept *kept)
{
	for (size_t i = 0; i < ARRAY_LEN(kept->v); i++)
		(void)sqlite3_finalize(kept->v[i]);
	*kept = (struct sql_kept){ .next = 0 };
}

/* SQLite takes a value that could not be bound for NULL and says nothing at the step. */
static void bound(struct sql *q, int code)
{
	if (q->failed == SQLITE_OK)
		q->failed = code;
}

void sql_text(struct sql *q, const char *value)
{
	bound(q, sqlite3_bind_text(q->stmt, ++q->bound, value, -1, SQLITE_TRANSIENT));
}

void sql_sv(struct sql *q, struct sv value)
{
	bound(q,
		sqlite3_bind_text64(q->stmt, ++q->bound, value.p ? value.p : "", value.n,
			SQLITE_STATIC, SQLITE_UTF8));
}

void sql_blob(struct sql *q, struct sv value)
{
	bound(q,
		sqlite3_bind_blob64(
			q->stmt, ++q->bound, value.p ? value.p : "", value.n, SQLITE_TRANSIENT));
}

void sql_int(struct sql *q, int64_t value)
{
	bound(q, sqlite3_bind_int64(q->stmt, ++q->bound, value));
}

int sql_step(struct sql *q, struct err *reterr)
{
	int code = q->failed != SQLITE_OK ? q->failed : sqlite3_step(q->stmt);

	if (code == SQLITE_ROW)
		return 1;
	return code == SQLITE_DONE ? 0 : sql_error(q->store, code, reterr);
}

int sql_run(struct sql *q, struct err *reterr)
{
	int r;

	while ((r = sql_step(q, reterr)) > 0)
		;
	return r;
}

void sql_reset(struct sql *q)
{
	(void)sqlite3_reset(q->stmt);
	(void)sqlite3_clear_bindings(q->stmt);
	q->bound = 0;
	q->failed = SQLITE_OK;
}

const char *sql_get_text(struct sql *q, int column)
{
	return (const char *)sqlite3_column_text(q->stmt, column);
}

char *sql_dup_text(struct sql *q, int column)
{
	const char *text = sql_get_text(q, column);

	return text ? xstrdup(text) : NULL;
}

struct sv sql_get_blob(struct sql *q, int column)
{
	const void *data = sqlite3_column_blob(q->stmt, column);

	return sv_make(data, (size_t)sqlite3_column_bytes(q->stmt, column));
}

int64_t sql_get_int(struct sql *q, int column)
{
	return sqlite3_column_int64(q->stmt, column);
}

int sql_prepare_values(struct sql *q, struct store *store, const char *text,
	const struct sql_value *values, size_t n, struct err *reterr)
{
	int r = sql_prepare(q, store, text, reterr);

	for (size_t i = 0; r == 0 && i < n; i++) {
		if (values[i].is_text)
			sql_text(q, values[i].text);
		else if (values[i].is_bytes)
			sql_sv(q, values[i].bytes);
		else
			sql_int(q, values[i].number);
	}
	return r;
}

int sql_run_values(struct store *store, const char *text, const struct sql_value *values, size_t n,
	struct err *reterr)
{
	AUTO_SQL q = SQL_INIT;
	int r = store_check_alone(store, reterr);

	if (r == 0)
		r = sql_prepare_values(&q, store, text, values, n, reterr);
	if (r == 0)
		r = sql_run(&q, reterr);
	return r < 0 ? r : store_check_alone(store, reterr);
}

int sql_exec(struct store *store, const char *text, struct err *reterr)
{
	int code = sqlite3_exec(store_db(store), text, NULL, NULL, NULL);

	return code == SQLITE_OK ? 0 : sql_error(store, code, reterr);
}

int64_t sql_changes(struct store *store)
{
	return sqlite3_changes64(store_db(store));
}
