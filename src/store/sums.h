/*
 * A check sum on every page of a database, which SQLite has not: a bit that flips in a row would be
 * served as it is. It stands in bytes that SQLite leaves free at the end of a page, is written when
 * a page goes to the file, and compared when one is read from it: a page that does not fit is
 * SQLITE_CORRUPT. Pages in the log go without: SQLite compares the log's own sums when it is
 * opened. Private to the room.
 */
#pragma once

#include <stdbool.h>

struct sqlite3;

/* For sqlite3_open_v2(): databases are opened by way of this one. Those without sums stay so. */
const char *sums_vfs(void);
/* A database that is made by this handle has them. Before the first statement. */
void sums_wanted(struct sqlite3 *db);
bool sums_there(struct sqlite3 *db);
