#include "store/sums.h"

#include <sqlite3.h>
#include <stddef.h>
#include <string.h>
#include <xxhash.h>

#include "base/mem.h"

#define NAME "faden-sums"

enum {
	SUM = sizeof(XXH64_hash_t),
	RESERVED_AT = 20, /* in the header, which is the beginning of the first page */
	PAGE_MIN = 512, /* what is read of less is a part of the header */
};

/* A file of the system's with two of its methods in other hands. */
struct summed {
	sqlite3_io_methods methods; /* first: the file points at it */
	const sqlite3_io_methods *real;
	bool known; /* the header was seen */
	bool on;
};

static struct summed *summed_of(const sqlite3_file *file)
{
	union {
		const sqlite3_io_methods *methods;
		struct summed *summed;
	} it = { .methods = file->pMethods };

	return it.summed;
}

/* The header says whether there are sums. */
static void heed_header(struct summed *s, const unsigned char *bytes, int n, sqlite3_int64 at)
{
	if (at > 0 || n <= RESERVED_AT)
		return;
	s->on = bytes[RESERVED_AT] == SUM;
	s->known = true;
}

/* Who has opened a file before another one made a database of it has seen none. */
static bool has_sums(struct summed *s, sqlite3_file *file)
{
	unsigned char head[RESERVED_AT + 1];

	if (!s->known && s->real->xRead(file, head, sizeof(head), 0) == SQLITE_OK)
		heed_header(s, head, sizeof(head), 0);
	return s->on;
}

static XXH64_hash_t sum_of(const unsigned char *page, int n)
{
	return XXH3_64bits(page, (size_t)(n - SUM));
}

static int sums_read(sqlite3_file *file, void *bytes, int n, sqlite3_int64 at)
{
	struct summed *s = summed_of(file);
	const unsigned char *page = bytes;
	XXH64_hash_t sum;
	int code = s->real->xRead(file, bytes, n, at);

	if (code != SQLITE_OK)
		return code;
	heed_header(s, page, n, at);
	if (n < PAGE_MIN || !has_sums(s, file))
		return SQLITE_OK;
	memcpy(&sum, page + n - SUM, SUM);
	return sum == sum_of(page, n) ? SQLITE_OK : SQLITE_CORRUPT;
}

static int sums_write(sqlite3_file *file, const void *bytes, int n, sqlite3_int64 at)
{
	struct summed *s = summed_of(file);

	heed_header(s, bytes, n, at);
	if (n < PAGE_MIN || !has_sums(s, file))
		return s->real->xWrite(file, bytes, n, at);
	AUTO_FREE char *page = xmemdup0(bytes, (size_t)n);
	XXH64_hash_t sum = sum_of(bytes, n);
	memcpy(page + n - SUM, &sum, SUM);
	return s->real->xWrite(file, page, n, at);
}

static int sums_close(sqlite3_file *file)
{
	struct summed *s = summed_of(file);

	file->pMethods = s->real;
	free(s);
	return file->pMethods->xClose(file);
}

static int sums_open(
	sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *ret_flags)
{
	int code = sqlite3_vfs_find(NULL)->xOpen(vfs, name, file, flags, ret_flags);

	if (code != SQLITE_OK || !(flags & SQLITE_OPEN_MAIN_DB))
		return code;
	struct summed *s = xcalloc(1, sizeof(*s));
	s->real = file->pMethods;
	s->methods = *s->real;
	s->methods.iVersion = 2; /* pages are not mapped: nobody would compare them */
	s->methods.xRead = sums_read;
	s->methods.xWrite = sums_write;
	s->methods.xClose = sums_close;
	file->pMethods = &s->methods;
	return SQLITE_OK;
}

const char *sums_vfs(void)
{
	const sqlite3_vfs *real = sqlite3_vfs_find(NULL);
	sqlite3_mutex *once = sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_VFS1);

	sqlite3_mutex_enter(once);
	if (!sqlite3_vfs_find(NAME)) {
		/* All but the opening is the system's own. SQLite has it from here on. */
		sqlite3_vfs *vfs = xmalloc(sizeof(*vfs));
		*vfs = *real;
		vfs->pNext = NULL;
		vfs->zName = NAME;
		vfs->xOpen = sums_open;
		(void)sqlite3_vfs_register(vfs, 0);
	}
	sqlite3_mutex_leave(once);
	return NAME;
}

void sums_wanted(struct sqlite3 *db)
{
	int n = SUM;

	(void)sqlite3_file_control(db, "main", SQLITE_FCNTL_RESERVE_BYTES, &n);
}

bool sums_there(struct sqlite3 *db)
{
	sqlite3_file *file = NULL;

	return sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) == SQLITE_OK &&
		file && file->pMethods && file->pMethods->xRead == sums_read &&
		has_sums(summed_of(file), file);
}
