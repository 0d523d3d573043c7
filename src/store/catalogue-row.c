#include "store/catalogue-row.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "os/path.h"

void session_row_release(struct session_row *row)
{
	session_info_release(&row->info);
	free(row->agent);
	free(row->own_name);
	*row = (struct session_row)SESSION_ROW_INIT;
}

const char *session_row_name(const struct session_row *row)
{
	return row->own_name[0] ? row->own_name : row->info.name;
}

const char *session_title(const struct session_row *row)
{
	const char *name = session_row_name(row);

	return name[0] ? name : row->info.prompt[0] ? row->info.prompt : row->info.id;
}

void row_init(struct session_row *row, const struct transcript_home *home, const char *path)
{
	*row = (struct session_row){ .agent = xstrdup(home->agent), .own_name = xstrdup("") };
	session_info_init(&row->info, home->format, path);
}

/* ---- to and from SQL; both orders are those of ROW_SELECT ---- */

static const struct transcript_format *format_of(int64_t n)
{
	const struct transcript_format *format = transcript_format_numbered(n);

	return format ? format : transcript_format_unknown();
}

static enum session_relation relation_of(int64_t n)
{
	return n >= 0 && n <= SESSION_REPAIRED ? (enum session_relation)n : SESSION_ROOT;
}

static void load_numbers(struct sql *q, struct session_info *info, int c)
{
	info->mark.offset = (uint64_t)sql_get_int(q, c++);
	info->mark.anchor = (uint64_t)sql_get_int(q, c++);
	info->mark.tail_turns = (uint32_t)sql_get_int(q, c++);
	info->mark.flags = (uint32_t)sql_get_int(q, c++);
	info->format = format_of(sql_get_int(q, c++));
	info->flags = (uint32_t)sql_get_int(q, c++);
	info->relation = relation_of(sql_get_int(q, c++));
	info->turns = sql_get_int(q, c++);
	info->first_ms = sql_get_int(q, c++);
	info->last_ms = sql_get_int(q, c++);
	c++; /* active_ms */
	info->window = sql_get_int(q, c++);
	info->usage.input = sql_get_int(q, c++);
	info->usage.cache_read = sql_get_int(q, c++);
	info->usage.cache_write = sql_get_int(q, c++);
	info->usage.output = sql_get_int(q, c);
}

void row_load(struct sql *q, struct session_row *row)
{
	*row = (struct session_row)SESSION_ROW_INIT;
	struct session_info *info = &row->info;
	char **texts[] = { &info->name, &info->cwd, &info->branch, &info->model, &info->root,
		&info->parent_id, &info->parent_path, &info->prompt };
	info->path = sql_dup_text(q, 0);
	row->agent = sql_dup_text(q, 1);
	info->id = sql_dup_text(q, 2);
	load_numbers(q, info, 3);
	row->active_ms = sql_get_int(q, 13);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		*texts[i] = sql_dup_text(q, 19 + (int)i);
	info->size = sql_get_int(q, 27);
	row->gone = sql_get_int(q, 28) != 0;
	row->own_name = sql_dup_text(q, 29);
}

int row_save_prepare(struct sql *save, struct store *store, struct err *reterr)
{
	return sql_prepare(save, store,
		"INSERT OR REPLACE INTO session (path, agent, id, offset, anchor, tail_turns,"
		" mark_flags, format, flags, relation, turns, first_ms, last_ms, active_ms,"
		" context_window, tokens_in, tokens_cache_read, tokens_cache_write, tokens_out,"
		" name, cwd, branch, model, root, parent_id, parent_path, prompt, size, gone, dev,"
		" ino, mtime_ns) VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,"
		"?,?,?,?)",
		reterr);
}

int row_save(struct sql *save, const struct session_row *row, const struct file_stat *stat,
	struct err *reterr)
{
	const struct session_info *info = &row->info;
	const int64_t numbers[] = { (int64_t)info->mark.offset, (int64_t)info->mark.anchor,
		info->mark.tail_turns, info->mark.flags, transcript_format_number(info->format),
		info->flags, info->relation, info->turns, info->first_ms, info->last_ms,
		row->active_ms, info->window, info->usage.input, info->usage.cache_read,
		info->usage.cache_write, info->usage.output };
	const char *const texts[] = { info->name, info->cwd, info->branch, info->model, info->root,
		info->parent_id, info->parent_path, info->prompt };
	const int64_t last[] = { (int64_t)stat->size, row->gone, (int64_t)stat->dev,
		(int64_t)stat->ino, stat->mtime_ns };

	sql_reset(save);
	sql_text(save, info->path);
	sql_text(save, row->agent);
	sql_text(save, info->id);
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		sql_int(save, numbers[i]);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		sql_text(save, texts[i]);
	for (size_t i = 0; i < ARRAY_LEN(last); i++)
		sql_int(save, last[i]);
	return sql_run(save, reterr);
}

/* ---- reading the file ---- */

static struct file_stat stat_of(const struct stat *st)
{
	return (struct file_stat){
		.dev = st->st_dev,
		.ino = st->st_ino,
		.size = (uint64_t)st->st_size,
		.mtime_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec,
	};
}

static void mark_subagent(struct session_info *info)
{
	struct sv id = transcript_subagent_of(info->format, sv_of(info->path));

	info->flags |= SESSION_SUBAGENT;
	if (info->parent_id[0] || id.n == 0)
		return;
	free(info->parent_id);
	info->parent_id = xmemdup0(id.p, id.n);
}

int row_scan(struct session_row *row, bool subagent, struct file_stat *ret_stat, struct err *reterr)
{
	struct stat st;
	const char *path = row->info.path;
	/* O_NONBLOCK: a pipe in place of the file must not hold us. */
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0 || fstat(fd, &st) < 0)
		return err_errno(reterr, errno, "%s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(reterr, ERR_INPUT, "%s: not a file", path);
	(void)posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	int r = transcript_scan(fd, (uint64_t)st.st_size, &row->info, reterr);
	if (r < 0) {
		err_prefix(reterr, "%s", path);
		return r;
	}
	if (subagent)
		mark_subagent(&row->info);
	*ret_stat = stat_of(&st);
	row->gone = false;
	row->active_ms = row->info.last_ms > 0 ? row->info.last_ms : ret_stat->mtime_ns / 1000000;
	return 0;
}
