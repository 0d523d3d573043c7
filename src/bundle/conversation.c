#include "bundle/conversation.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/path.h"

void conversation_release(struct conversation *c)
{
	if (c->kept >= 0)
		(void)close(c->kept);
	session_parts_release(&c->parts);
	*c = (struct conversation)CONVERSATION_INIT;
}

/* One that is gone is read from the archive, by the name that an open file has. */
static int open_kept(struct conversation *c, const struct conversation_of *of, char **ret_path,
	struct err *reterr)
{
	const struct session_info *info = &of->row->info;
	AUTO_FREE char *path = path_show(info->path, of->user_home);

	if (!of->kept)
		return err_set(reterr, ERR_NOTFOUND,
			"the file of session %s is gone%s%s%s; the archive has no copy of it",
			info->id, path[0] ? " (" : "", path, path[0] ? ")" : "");
	int r = archive_open_part(of->archive, of->kept, 0, UINT64_MAX, &c->kept, &c->lost, reterr);
	if (r < 0)
		return r;
	*ret_path = xasprintf("/proc/self/fd/%d", c->kept);
	/* The lines that tell it may be among those that are lost. */
	c->format = info->format;
	return c->lost > 0 ? 0 : transcript_probe(*ret_path, &c->format, reterr);
}

/* A line that begins a turn. */
struct start {
	uint64_t offset, record, line;
};
typedef VEC(struct start) starts_vec;

static int find_starts(const struct conversation *c, const struct session_part *part,
	starts_vec *starts, struct err *reterr)
{
	const struct transcript_read_opts opts = { .end = part->end, .subagent = c->subagent };
	struct transcript_reader *reader = NULL;
	struct item item;
	struct start line = { 0, 0, 1 };
	int r = transcript_open(part->path, c->format, &opts, &reader, reterr);

	while (r >= 0 && (r = transcript_next(reader, &item, reterr)) > 0) {
		if (item.offset != line.offset)
			line = (struct start){ item.offset, item.record, item.line };
		if (item_begins_turn(&item))
			vec_push(starts, line);
	}
	transcript_close(reader);
	return r;
}

/* Turns are counted through all files. */
static int count_turns_before(struct conversation *c, size_t part, struct err *reterr)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && i < part; i++) {
		starts_vec starts = VEC_INIT;
		r = find_starts(c, &c->parts.v.v[i], &starts, reterr);
		c->turn += starts.n;
		vec_release(&starts);
	}
	return r < 0 ? r : 0;
}

/* Begins with the N-th prompt from the end. */
static int skip_to_last(struct conversation *c, struct err *reterr)
{
	size_t left = (size_t)c->opts.last;

	for (size_t i = c->parts.v.n; i-- > 0;) {
		const struct session_part *part = &c->parts.v.v[i];
		starts_vec starts = VEC_INIT;
		int r = find_starts(c, part, &starts, reterr);
		bool done = starts.n >= left;
		if (r >= 0 && done) {
			c->offset = starts.v[starts.n - left].offset;
			c->skipped = starts.v[starts.n - left].record;
			c->lines = starts.v[starts.n - left].line - 1;
			c->first = i;
			c->turn = starts.n - left;
		}
		left -= done ? 0 : starts.n;
		vec_release(&starts);
		if (r < 0)
			return r;
		if (done)
			return count_turns_before(c, i, reterr);
	}
	return 0;
}

/* Begins with the message that is named: where its line begins, or what its uuid begins with. */
static int skip_to(struct conversation *c, struct err *reterr)
{
	const size_t own = c->parts.v.n - 1;
	const struct session_part *part = &c->parts.v.v[own];
	const struct transcript_read_opts opts = { .end = part->end, .subagent = c->subagent };
	struct transcript_reader *reader = NULL;
	struct sv at = sv_of(c->opts.at);
	long long offset = -1;
	struct item item;
	bool found = false, number = sv_parse_i64(at, &offset);
	int r = transcript_open(part->path, c->format, &opts, &reader, reterr);

	while (r >= 0 && !found && (r = transcript_next(reader, &item, reterr)) > 0) {
		found = number ? item.offset == (uint64_t)offset
			       : at.n > 0 && sv_starts(item.uuid, at);
		c->turn += !found && item_begins_turn(&item);
	}
	if (found) {
		c->offset = item.offset;
		c->skipped = item.record;
		c->lines = item.line - 1;
		c->first = own;
	}
	transcript_close(reader);
	if (r < 0)
		return r;
	if (found)
		return count_turns_before(c, own, reterr);
	return err_set(reterr, ERR_NOTFOUND,
		"--at %s: no message of this session; 'faden search' and 'faden show --json' "
		"name them",
		c->opts.at);
}

int conversation_open(struct conversation *c, const struct conversation_of *of,
	const struct conversation_opts *opts, struct err *reterr)
{
	AUTO_FREE char *kept = NULL;
	int r = 0;

	c->opts = *opts;
	c->format = of->row->info.format;
	c->subagent = of->row->info.flags & SESSION_SUBAGENT;
	if (of->row->gone)
		r = open_kept(c, of, &kept, reterr);
	if (r >= 0)
		r = session_parts_find(kept ? kept : of->row->info.path, c->format, of->home, 0,
			opts->live, &c->parts, reterr);
	if (r >= 0 && opts->last > 0)
		r = skip_to_last(c, reterr);
	if (r >= 0 && opts->at)
		r = skip_to(c, reterr);
	return r < 0 ? r : 0;
}

int conversation_each(struct conversation *c, int (*fn)(void *data, const struct item *item),
	void *data, struct err *reterr)
{
	int r = 0;

	for (size_t i = c->first; r >= 0 && i < c->parts.v.n; i++) {
		const struct session_part *part = &c->parts.v.v[i];
		const uint64_t skipped = i == c->first ? c->skipped : 0;
		const struct transcript_read_opts opts = { .offset = i == c->first ? c->offset : 0,
			.end = part->end,
			.subagent = c->subagent,
			.expand = c->opts.live };
		struct transcript_reader *reader = NULL;
		struct item item;
		int ended = 0;
		r = transcript_open(part->path, c->format, &opts, &reader, reterr);
		while (r >= 0 && ended == 0 && (r = transcript_next(reader, &item, reterr)) > 0) {
			item.line += i == c->first ? c->lines : 0;
			if (item.flags & ITEM_OVERSIZE)
				passed_add(&c->passed, item.line);
			c->turn += item_begins_turn(&item);
			if (!c->opts.live || transcript_is_live(&part->live, item.record + skipped))
				ended = fn(data, &item);
		}
		transcript_close(reader);
		if (ended != 0)
			return ended;
	}
	return r < 0 ? r : 0;
}
