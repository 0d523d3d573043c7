/*
 * Which records a resume would send. One pass over the file keeps a few numbers a record; the
 * rules of each agent then work on those.
 */
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "transcript/adapter.h"
#include "json/jsonl.h"

/* Two ids that were made to collide harm only the reading of their own file. It is written down as
 * well, so it has no seed. */
uint64_t link_hash(struct sv text)
{
	return text.n == 0 ? 0 : hash_bytes(0, text) | 1;
}

struct live_run {
	const struct transcript_format *format;
	struct links links;
	struct line_reader reader;
};

static int live_take(void *data, struct sv text)
{
	struct live_run *run = data;

	if (!line_reader_read(&run->reader, text))
		return ERR_INPUT;
	run->format->link(&run->links, &run->reader.line);
	return 0;
}

static void live_broken(void *data, struct sv text UNUSED)
{
	struct live_run *run = data;

	vec_push(&run->links.v, (struct link){ .size = 0 });
}

static void live_run_release(struct live_run *run)
{
	vec_release(&run->links.v);
	vec_release(&run->links.tools);
	vec_release(&run->links.kept);
	free(run->links.base_id);
	line_reader_release(&run->reader);
}

/* The line [before, now) of several objects: the agent does not see them all. */
static void forget_glued(struct live_run *run, size_t before)
{
	size_t n = run->links.v.n;

	for (size_t i = before + run->format->glued_read; n > before + 1 && i < n; i++)
		run->links.v.v[i] = (struct link){ .size = 0 };
}

static int live_read(struct live_run *run, const char *path, uint64_t end, struct err *reterr)
{
	static const struct record_fns fns = { live_take, live_broken };
	const struct jsonl_opts opts = { .end = end };
	CLEANUP(jsonl_freep) struct jsonl *lines = NULL;
	int r = jsonl_open(path, &opts, &lines, reterr);

	if (r < 0)
		return r;
	struct jsonl_line line;
	while ((r = jsonl_next(lines, &line, reterr)) > 0) {
		size_t before = run->links.v.n;
		if (line.too_long || memchr(line.text.p, '\0', line.text.n))
			live_broken(run, line.text);
		else
			record_each(line.text, &fns, run);
		forget_glued(run, before);
		if (run->links.v.n > before)
			run->links.v.v[before].size = link_size(line.size);
		if (run->links.v.n > UINT32_MAX / 2)
			return err_set(reterr, ERR_LIMIT, "%s: too many lines", path);
	}
	return r;
}

static void pick_sent(
	const struct links *links, const unsigned char *state, struct transcript_live *live)
{
	for (size_t i = 0; i < links->v.n; i++) {
		const struct link *link = &links->v.v[i];
		if (!state[i] || !(link->flags & LINK_SENT))
			continue;
		live->bits[i / 64] |= UINT64_C(1) << (i % 64);
		live->live++;
		live->live_bytes += link->size;
	}
}

void links_live(
	struct links *links, const struct transcript_format *format, struct transcript_live *ret)
{
	size_t n = links->v.n;
	AUTO_FREE unsigned char *state = xcalloc(n + 1, 1);

	*ret = (struct transcript_live){
		.bits = xcalloc(n / 64 + 1, sizeof(uint64_t)),
		.records = n,
	};
	format->mark(links, state, ret);
	pick_sent(links, state, ret);
	ret->base_id = links->base_id && !ret->compacted ? TAKE_PTR(links->base_id) : xstrdup("");
	ret->base_offset = ret->base_id[0] ? links->base_offset : 0;
}

int transcript_live(const char *path, const struct transcript_format *format,
	struct transcript_live *ret, struct err *reterr)
{
	return transcript_live_until(path, format, 0, ret, reterr);
}

int transcript_live_until(const char *path, const struct transcript_format *format, uint64_t end,
	struct transcript_live *ret, struct err *reterr)
{
	CLEANUP(live_run_release) struct live_run run = { .format = format };

	line_reader_init(&run.reader, format, true);
	int r = live_read(&run, path, end, reterr);
	if (r < 0)
		return r;
	links_live(&run.links, run.format, ret);
	return 0;
}

void transcript_live_release(struct transcript_live *live)
{
	free(live->bits);
	free(live->base_id);
	*live = (struct transcript_live){ .bits = NULL };
}
