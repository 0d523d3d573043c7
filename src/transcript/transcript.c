#include "transcript/transcript.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/uuid.h"
#include "os/path.h"
#include "transcript/adapter.h"
#include "transcript/home.h"
#include "json/jsonl.h"

int64_t transcript_format_number(const struct transcript_format *format)
{
	return format->number;
}

const struct transcript_format *transcript_format_numbered(int64_t number)
{
	for (size_t i = 0; i < transcript_format_count; i++)
		if (transcript_formats[i] && transcript_formats[i]->number == number)
			return transcript_formats[i];
	return NULL;
}

const struct transcript_format *transcript_format_unknown(void)
{
	size_t i = 0;

	while (i + 1 < transcript_format_count && !transcript_formats[i])
		i++;
	return transcript_formats[i];
}

char *transcript_sibling_path(const struct transcript_format *format, const char *parent,
	const char *out_dir, const char *id, int64_t wall_ms)
{
	return format->sibling_path(parent, out_dir, id, wall_ms);
}

bool transcript_forks_silently(const struct transcript_format *format)
{
	return format->forks_silently;
}

bool transcript_forks_share(const struct transcript_format *format)
{
	return format->forks_share;
}

/* ---- which agent's file is it ---- */

enum { PROBE_LINES = 50, PROBE_LINE_MAX = 16 * 1024 * 1024 };

static int probe_take(void *data, struct sv text)
{
	const struct transcript_format **found = data;
	int r = 0;

	for (size_t i = 0; i < transcript_format_count && r == 0; i++) {
		const struct transcript_format *format = transcript_formats[i];

		if (format && (r = format->recognises(text)) > 0 && !*found)
			*found = format;
	}
	return r < 0 ? r : 0;
}

int transcript_probe(
	const char *path, const struct transcript_format **ret_format, struct err *reterr)
{
	static const struct record_fns fns = { .take = probe_take };
	const struct jsonl_opts opts = { .line_max = PROBE_LINE_MAX };
	CLEANUP(jsonl_freep) struct jsonl *lines = NULL;
	int r = jsonl_open(path, &opts, &lines, reterr);

	if (r < 0)
		return r;
	const struct transcript_format *found = NULL;
	struct jsonl_line line;
	int i = 0;
	for (; i < PROBE_LINES && !found; i++) {
		r = jsonl_next(lines, &line, reterr);
		if (r < 0)
			return r;
		if (r == 0)
			break;
		record_each(line.text, &fns, &found);
	}
	if (!found && i == 0)
		return err_set(reterr, ERR_INPUT,
			"%s is empty: it was overwritten, or nothing was said yet", path);
	if (!found)
		return err_set(reterr, ERR_INPUT, "%s: not a session of a known agent", path);
	*ret_format = found;
	return 0;
}

/* ---- summary ---- */

enum { ANCHOR_BYTES = 64 };

/* What stands before the mark tells whether this is still the file that was read. 0: no such. */
static uint64_t anchor_at(int fd, uint64_t offset)
{
	char buf[ANCHOR_BYTES];
	size_t n = offset < sizeof(buf) ? (size_t)offset : sizeof(buf);

	if (n == 0 || pread(fd, buf, n, (off_t)(offset - n)) != (ssize_t)n || buf[n - 1] != '\n')
		return 0;
	return link_hash(sv_make(buf, n));
}

static bool mark_holds(int fd, uint64_t size, const struct session_mark *mark)
{
	if (mark->offset == 0)
		return true;
	return mark->offset <= size && anchor_at(fd, mark->offset) == mark->anchor &&
		mark->anchor != 0;
}

static void start_over(struct session_info *info)
{
	struct session_info old = *info;

	session_info_init(info, old.format, old.path);
	session_info_release(&old);
}

struct scan_run {
	const struct transcript_format *format;
	struct summary summary;
	struct line_reader reader;
	uint32_t taken; /* records of the line */
};

static int run_take(void *data, struct sv text)
{
	struct scan_run *run = data;

	if (!line_reader_read(&run->reader, text))
		return ERR_INPUT;
	run->format->scan(&run->summary, &run->reader.line);
	run->taken++;
	return 0;
}

static void run_release(struct scan_run *run)
{
	str_release(&run->summary.usage);
	str_release(&run->summary.model);
	str_release(&run->summary.branch);
	str_release(&run->summary.cwd);
	str_release(&run->summary.tmp);
	line_reader_release(&run->reader);
}

/* What was only remembered while lines went by. */
static void run_finish(struct scan_run *run)
{
	struct session_info *info = run->summary.info;
	struct jval usage = { str_sv(&run->summary.usage), J_OBJECT };

	if (usage.raw.n > 0)
		info->usage = info->format->usage(usage);
}

static int run_lines(struct scan_run *run, struct jsonl *lines, struct err *reterr)
{
	static const struct record_fns fns = { .take = run_take };
	struct session_info *info = run->summary.info;
	struct jsonl_line line;
	int r;

	info->flags &= ~(uint32_t)SESSION_TORN;
	while ((r = jsonl_next(lines, &line, reterr)) > 0) {
		run->taken = 0;
		if (!line.too_long)
			record_each(line.text, &fns, run);
		if (line.terminated) {
			info->mark.offset = line.offset + line.size;
		} else {
			info->mark.tail = run->taken;
			if (sv_trim(line.text).n > 0)
				info->flags |= SESSION_TORN;
		}
	}
	return r;
}

int transcript_scan(int fd, uint64_t size, struct session_info *info, struct err *reterr)
{
	/* What was taken from a line that was not at its end cannot be given back: the whole line
	 * may be no record at all. */
	if (info->mark.tail > 0 || !mark_holds(fd, size, &info->mark))
		start_over(info);
	info->size = (int64_t)size;
	if (size == info->mark.offset) {
		info->flags &= ~(uint32_t)SESSION_TORN;
		return 0;
	}
	CLEANUP(run_release)
	struct scan_run run = {
		.format = info->format,
		.summary = { .info = info,
			.usage = STR_INIT,
			.model = STR_INIT,
			.branch = STR_INIT,
			.cwd = STR_INIT,
			.tmp = STR_INIT },
	};
	line_reader_init(&run.reader, info->format);
	const struct jsonl_opts opts = { .offset = info->mark.offset, .end = size };
	CLEANUP(jsonl_freep) struct jsonl *lines = jsonl_new(fd, &opts);
	int r = run_lines(&run, lines, reterr);
	if (r < 0)
		return r;
	run_finish(&run);
	info->mark.anchor = anchor_at(fd, info->mark.offset);
	return 0;
}
