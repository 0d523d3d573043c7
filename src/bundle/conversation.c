#include "bundle/conversation.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/path.h"

void conversation_release(struct conversation *c)
{
	if (c->kept >= 0)
		(void)close(c->kept);
	vec_each (&c->parts, part) {
		transcript_live_release(&part->live);
		free(part->path);
	}
	vec_release(&c->parts);
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
	int r = archive_open(of->archive, of->kept, &c->kept, &c->lost, reterr);
	if (r < 0)
		return r;
	*ret_path = xasprintf("/proc/self/fd/%d", c->kept);
	return transcript_probe(*ret_path, &c->format, reterr);
}

/* The session's file, and for forks those of its ancestors up to where they were left. */
static int find_parts(struct conversation *c, const struct transcript_home *home, const char *path,
	struct err *reterr)
{
	bool several = transcript_forks_share(c->format);

	vec_push(&c->parts, (struct conversation_part){ .path = xstrdup(path) });
	for (size_t i = 0; (several || c->opts.live) && i < c->parts.n; i++) {
		struct conversation_part *part = &c->parts.v[i];
		int r = transcript_live_until(
			part->path, c->format, part->end, &part->live, reterr);
		if (r < 0)
			return r;
		/* A base that is not there any more is left out. */
		struct conversation_part base = { .end = part->live.base_offset };
		if (part->live.base_id[0] && i + 1 < CONVERSATION_PARTS_MAX && home &&
			transcript_find(home, sv_of(part->live.base_id), &base.path, NULL) >= 0 &&
			base.path)
			vec_push(&c->parts, base);
	}
	c->first = c->parts.n - 1;
	return 0;
}

/* A line that begins a turn. */
struct start {
	uint64_t offset, record;
};
typedef VEC(struct start) starts_vec;

static bool begins_turn(const struct item *item)
{
	return item->flags & ITEM_PROMPT && !(item->flags & (ITEM_SIDECHAIN | ITEM_REPLACEMENT));
}

static int find_starts(const struct conversation *c, const struct conversation_part *part,
	starts_vec *starts, struct err *reterr)
{
	const struct transcript_read_opts opts = { .end = part->end };
	struct transcript_reader *reader = NULL;
	struct item item;
	struct start line = { 0, 0 };
	int r = transcript_open(part->path, c->format, &opts, &reader, reterr);

	while (r >= 0 && (r = transcript_next(reader, &item, reterr)) > 0) {
		if (item.offset != line.offset)
			line = (struct start){ item.offset, item.record };
		if (begins_turn(&item))
			vec_push(starts, line);
	}
	transcript_close(reader);
	return r;
}

/* Turns are counted through all files. */
static int count_turns_before(struct conversation *c, size_t part, struct err *reterr)
{
	int r = 0;

	for (size_t i = part + 1; r >= 0 && i < c->parts.n; i++) {
		starts_vec starts = VEC_INIT;
		r = find_starts(c, &c->parts.v[i], &starts, reterr);
		c->turn += starts.n;
		vec_release(&starts);
	}
	return r < 0 ? r : 0;
}

/* Begins with the N-th prompt from the end. */
static int skip_to_last(struct conversation *c, struct err *reterr)
{
	size_t left = (size_t)c->opts.last;

	for (size_t i = 0; i < c->parts.n; i++) {
		struct conversation_part *part = &c->parts.v[i];
		starts_vec starts = VEC_INIT;
		int r = find_starts(c, part, &starts, reterr);
		bool done = starts.n >= left;
		if (r >= 0 && done) {
			part->offset = starts.v[starts.n - left].offset;
			part->skipped = starts.v[starts.n - left].record;
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
	struct conversation_part *part = &c->parts.v[0];
	const struct transcript_read_opts opts = { .end = part->end };
	struct transcript_reader *reader = NULL;
	struct sv at = sv_of(c->opts.at);
	long long offset = -1;
	struct item item;
	bool found = false, number = sv_parse_i64(at, &offset);
	int r = transcript_open(part->path, c->format, &opts, &reader, reterr);

	while (r >= 0 && !found && (r = transcript_next(reader, &item, reterr)) > 0) {
		found = number ? item.offset == (uint64_t)offset
			       : at.n > 0 && sv_starts(item.uuid, at);
		c->turn += !found && begins_turn(&item);
	}
	if (found) {
		part->offset = item.offset;
		part->skipped = item.record;
		c->first = 0;
	}
	transcript_close(reader);
	if (r < 0)
		return r;
	if (found)
		return count_turns_before(c, 0, reterr);
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
	if (of->row->gone)
		r = open_kept(c, of, &kept, reterr);
	if (r >= 0)
		r = find_parts(c, of->home, kept ? kept : of->row->info.path, reterr);
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

	for (size_t i = c->first + 1; r >= 0 && i-- > 0;) {
		const struct conversation_part *part = &c->parts.v[i];
		const struct transcript_read_opts opts = {
			.offset = part->offset, .end = part->end, .expand = c->opts.live
		};
		struct transcript_reader *reader = NULL;
		struct item item;
		int ended = 0;
		r = transcript_open(part->path, c->format, &opts, &reader, reterr);
		while (r >= 0 && ended == 0 && (r = transcript_next(reader, &item, reterr)) > 0) {
			if (item.flags & ITEM_OVERSIZE)
				passed_add(&c->passed, item.line);
			c->turn += begins_turn(&item);
			if (!c->opts.live ||
				transcript_is_live(&part->live, item.record + part->skipped))
				ended = fn(data, &item);
		}
		transcript_close(reader);
		if (ended != 0)
			return ended;
	}
	return r < 0 ? r : 0;
}
