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

static const struct transcript_ops *const table[TRANSCRIPT_FORMATS] = {
	[TRANSCRIPT_CLAUDE] = &transcript_claude,
	[TRANSCRIPT_CODEX] = &transcript_codex,
};

const struct transcript_ops *transcript_ops(enum transcript_format format)
{
	return table[format];
}

const char *transcript_format_name(enum transcript_format format)
{
	return table[format]->name;
}

struct sv transcript_path_id(enum transcript_format format, struct sv path)
{
	return table[format]->path_id(path_base(path));
}

struct sv transcript_path_uuid(struct sv path)
{
	for (int f = 0; f < TRANSCRIPT_FORMATS; f++) {
		struct sv id = transcript_path_id((enum transcript_format)f, path);
		if (uuid_valid(id))
			return id;
	}
	return SV("");
}

/* ---- which agent's file is it ---- */

enum { PROBE_LINES = 50, PROBE_LINE_MAX = 16 * 1024 * 1024 };

struct probe {
	bool found;
	enum transcript_format format;
};

static int probe_take(void *data, struct sv text)
{
	enum { P_TYPE, P_PAYLOAD, P_SESSION, P_UUID, P_ID, P_TIME, P_COUNT };
	static const struct scan_key keys[] = {
		[P_TYPE] = SCAN_KEY("type", SCAN_TOP),
		[P_PAYLOAD] = SCAN_KEY("payload", SCAN_TOP),
		[P_SESSION] = SCAN_KEY("sessionId", SCAN_TOP),
		[P_UUID] = SCAN_KEY("uuid", SCAN_TOP),
		[P_ID] = SCAN_KEY("id", SCAN_TOP),
		[P_TIME] = SCAN_KEY("timestamp", SCAN_TOP),
	};
	struct jval v[P_COUNT];
	struct probe *p = data;
	if (record_keys(text, keys, P_COUNT, v) < 0)
		return ERR_INPUT;
	bool codex = v[P_PAYLOAD].type == J_OBJECT && v[P_TYPE].type == J_STRING;
	bool legacy =
		v[P_TYPE].type == J_NONE && v[P_ID].type == J_STRING && v[P_TIME].type == J_STRING;
	bool claude = v[P_TYPE].type == J_STRING &&
		(v[P_SESSION].type == J_STRING || v[P_UUID].type == J_STRING);
	if (p->found || (!codex && !legacy && !claude))
		return 0;
	*p = (struct probe){ true, codex || legacy ? TRANSCRIPT_CODEX : TRANSCRIPT_CLAUDE };
	return 0;
}

int transcript_probe(const char *path, enum transcript_format *ret_format, struct err *reterr)
{
	static const struct record_fns fns = { .take = probe_take };
	const struct jsonl_opts opts = { .line_max = PROBE_LINE_MAX };
	CLEANUP(jsonl_freep) struct jsonl *r = NULL;
	int rc = jsonl_open(path, &opts, &r, reterr);
	if (rc < 0)
		return rc;
	struct probe probe = { .found = false };
	struct jsonl_line line;
	int i = 0;
	for (; i < PROBE_LINES && !probe.found; i++) {
		rc = jsonl_next(r, &line, reterr);
		if (rc < 0)
			return rc;
		if (rc == 0)
			break;
		record_each(line.text, &fns, &probe);
	}
	if (!probe.found && i == 0)
		return err_set(reterr, ERR_INPUT,
			"%s is empty: it was overwritten, or nothing was said yet", path);
	if (!probe.found)
		return err_set(reterr, ERR_INPUT, "%s: not a session of a known agent", path);
	*ret_format = probe.format;
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
	const struct transcript_ops *ops;
	struct summary summary;
};

static int run_take(void *data, struct sv text)
{
	struct scan_run *run = data;
	return run->ops->scan(&run->summary, text);
}

static void run_release(struct scan_run *run)
{
	str_release(&run->summary.usage);
	str_release(&run->summary.model);
	str_release(&run->summary.branch);
	str_release(&run->summary.cwd);
	str_release(&run->summary.tmp);
}

/* What was only remembered while lines went by. */
static void run_finish(struct scan_run *run)
{
	struct session_info *info = run->summary.info;
	struct jval usage = { str_sv(&run->summary.usage), J_OBJECT };
	if (usage.raw.n > 0)
		info->usage =
			info->format == TRANSCRIPT_CODEX ? usage_codex(usage) : usage_claude(usage);
}

static int run_lines(struct scan_run *run, struct jsonl *lines, struct err *reterr)
{
	static const struct record_fns fns = { .take = run_take };
	struct session_info *info = run->summary.info;
	struct jsonl_line line;
	int rc;
	info->flags &= ~(uint32_t)SESSION_TORN;
	while ((rc = jsonl_next(lines, &line, reterr)) > 0) {
		int64_t turns = info->turns;
		record_each(line.text, &fns, run);
		if (line.terminated) {
			info->mark.offset = line.offset + line.size;
		} else {
			info->mark.tail_turns = (uint32_t)(info->turns - turns);
			if (sv_trim(line.text).n > 0)
				info->flags |= SESSION_TORN;
		}
	}
	return rc;
}

int transcript_scan(int fd, uint64_t size, struct session_info *info, struct err *reterr)
{
	if (!mark_holds(fd, size, &info->mark))
		start_over(info);
	info->turns -= info->mark.tail_turns;
	info->mark.tail_turns = 0;
	info->size = (int64_t)size;
	if (size == info->mark.offset) {
		info->flags &= ~(uint32_t)SESSION_TORN;
		return 0;
	}
	CLEANUP(run_release)
	struct scan_run run = {
		.ops = table[info->format],
		.summary = { .info = info,
			.usage = STR_INIT,
			.model = STR_INIT,
			.branch = STR_INIT,
			.cwd = STR_INIT,
			.tmp = STR_INIT },
	};
	const struct jsonl_opts opts = { .offset = info->mark.offset, .end = size };
	CLEANUP(jsonl_freep) struct jsonl *lines = jsonl_new(fd, &opts);
	int rc = run_lines(&run, lines, reterr);
	if (rc < 0)
		return rc;
	run_finish(&run);
	info->mark.anchor = anchor_at(fd, info->mark.offset);
	return 0;
}
