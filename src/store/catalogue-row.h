/*
 * A session's row in the store; private to the catalogue's files.
 */
#pragma once

#include "store/catalogue.h"
#include "store/sql.h"

/* What stat() says of a file: when all of it is as remembered, the file is not opened. */
struct file_stat {
	uint64_t dev, ino, size;
	int64_t mtime_ns, ctime_ns;
};

/* Selects all columns that row_load() reads; conditions go behind it. */
#define ROW_SELECT                                                                                \
	"SELECT s.path, s.agent, s.id, s.offset, s.anchor, s.tail_turns, s.mark_flags, s.format," \
	" s.flags, s.relation, s.turns, s.first_ms, s.last_ms, s.active_ms, s.context_window,"    \
	" s.tokens_in, s.tokens_cache_read, s.tokens_cache_write, s.tokens_out, s.name, s.cwd,"   \
	" s.branch, s.model, s.root, s.parent_id, s.parent_path, s.prompt, s.size, s.gone,"       \
	" IFNULL(n.name, '')"                                                                     \
	" FROM session s LEFT JOIN session_name n ON n.agent = s.agent AND n.id = s.id "

/* As a pattern still less than the 50,000 bytes that SQLite takes, and more than anything is
 * called. */
enum { LIKE_TEXT_MAX = 20000 };
/* LIKE pattern (ESCAPE '\\') for text anywhere, or at the start, its own wildcards made plain.
 * NULL, which is like nothing, of a longer text. Caller frees. */
char *like_pattern(const char *text, bool at_start);

/* The current row of a ROW_SELECT; *row is overwritten and must be released. */
void row_load(struct sql *q, struct session_row *row);

/* Inserts or replaces by path; `save` is prepared by row_save_prepare() and can be used again. */
int row_save_prepare(struct sql *save, struct store *store, struct err *reterr) MUST_USE;
int row_save(struct sql *save, const struct session_row *row, const struct file_stat *stat,
	struct err *reterr) MUST_USE;

/*
 * Reads the file from where row->info.mark stands and brings row and *ret_stat up to date. For any
 * thread. -ENOENT when it has vanished.
 */
int row_scan(struct session_row *row, bool subagent, struct file_stat *ret_stat,
	struct err *reterr) MUST_USE;
/* A row that knows nothing but whose it is. */
void row_init(struct session_row *row, const struct transcript_home *home, const char *path);
