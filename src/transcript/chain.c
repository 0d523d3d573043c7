/*
 * Which records a resume would send: a few numbers of each are kept, and the rules, which are the
 * adapters', then work on those.
 */
#include "transcript/chain.h"

#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "transcript/adapter.h"
#include "json/jsonl.h"

struct chain {
	const struct transcript_format *format;
	struct links links;
};

/* Two ids that were made to collide harm only the reading of their own file. It is written down as
 * well, so it has no seed. */
uint64_t link_hash(struct sv text)
{
	return text.n == 0 ? 0 : hash_bytes(0, text) | 1;
}

struct chain *chain_new(const struct transcript_format *format)
{
	struct chain *c = xcalloc(1, sizeof(*c));

	c->format = format;
	return c;
}

void chain_free(struct chain *c)
{
	if (!c)
		return;
	vec_release(&c->links.v);
	vec_release(&c->links.tools);
	vec_release(&c->links.kept);
	free(c->links.base_id);
	free(c);
}

void chain_add_entry(struct chain *c, const struct chain_entry *entry)
{
	vec_push(&c->links.v,
		(struct link){
			.id = entry->id,
			.parent = entry->parent,
			.message = entry->message,
			.size = link_size(entry->size),
			.flags = entry->flags,
		});
}

void chain_add_tool(struct chain *c, uint64_t tool, bool result)
{
	size_t record = c->links.v.n - 1;

	c->links.v.v[record].flags |= result ? LINK_RESULT : LINK_CALL;
	vec_push(&c->links.tools, (struct link_tool){ tool, (uint32_t)record, result });
}

void chain_add_kept(struct chain *c, uint64_t id)
{
	vec_push(&c->links.kept, (struct link_kept){ id, (uint32_t)c->links.v.n - 1 });
}

void chain_add_note(struct chain *c, uint64_t leaf)
{
	c->links.noted = leaf;
}

void chain_add(struct chain *c, const struct line *line, uint64_t size)
{
	c->format->link(&c->links, line);
	c->links.v.v[c->links.v.n - 1].size = link_size(size);
}

struct adding {
	struct chain *chain;
	struct line_reader reader;
};

static int take(void *data, struct sv text)
{
	struct adding *a = data;

	if (!line_reader_read(&a->reader, text))
		return ERR_INPUT;
	chain_add(a->chain, &a->reader.line, 0);
	return 0;
}

static void broken(void *data, struct sv text UNUSED)
{
	struct adding *a = data;

	vec_push(&a->chain->links.v, (struct link){ .size = 0 });
}

/* Of a line of several objects the agent does not see all. */
static void add_line(struct adding *a, struct sv text, uint64_t size)
{
	static const struct record_fns fns = { take, broken };
	const struct transcript_format *format = a->chain->format;
	struct links *links = &a->chain->links;
	size_t before = links->v.n;

	record_each(text, &fns, a);
	for (size_t i = before + format->glued_read; links->v.n > before + 1 && i < links->v.n; i++)
		links->v.v[i] = (struct link){ .size = 0 };
	if (links->v.n > before)
		links->v.v[before].size = link_size(size);
}

size_t chain_add_line(struct chain *c, struct sv text, uint64_t size)
{
	struct adding a = { .chain = c };
	size_t before = c->links.v.n;

	line_reader_init(&a.reader, c->format);
	add_line(&a, text, size);
	line_reader_release(&a.reader);
	return c->links.v.n - before;
}

void chain_join(struct chain *c, struct chain *part)
{
	struct links *to = &c->links, *from = &part->links;
	uint32_t base = (uint32_t)to->v.n;

	vec_each (&from->v, link)
		vec_push(&to->v, *link);
	vec_each (&from->tools, tool)
		vec_push(&to->tools,
			(struct link_tool){ tool->tool, tool->record + base, tool->result });
	vec_each (&from->kept, kept)
		vec_push(&to->kept, (struct link_kept){ kept->id, kept->record + base });
	if (from->noted)
		to->noted = from->noted;
	from->noted = 0;
	if (!to->base_id && from->base_id) {
		to->base_id = TAKE_PTR(from->base_id);
		to->base_offset = from->base_offset;
	}
	from->v.n = from->tools.n = from->kept.n = 0;
	free(TAKE_PTR(from->base_id));
}

int chain_live(struct chain *c, struct transcript_live *ret, struct err *reterr)
{
	struct links *links = &c->links;
	size_t n = links->v.n;

	if (n > UINT32_MAX / 2)
		return err_set(reterr, ERR_LIMIT, "too many lines");
	AUTO_FREE unsigned char *state = xcalloc(n + 1, 1);
	*ret = (struct transcript_live){
		.bits = xcalloc(n / 64 + 1, sizeof(uint64_t)),
		.records = n,
	};
	c->format->mark(links, state, ret);
	for (size_t i = 0; i < n; i++) {
		const struct link *link = &links->v.v[i];
		if (!state[i] || !(link->flags & LINK_SENT))
			continue;
		ret->bits[i / 64] |= UINT64_C(1) << (i % 64);
		ret->live++;
		ret->live_bytes += link->size;
	}
	if (ret->passes > 1)
		ret->pass = TAKE_PTR(state);
	ret->base_id = links->base_id && !ret->compacted ? TAKE_PTR(links->base_id) : xstrdup("");
	ret->base_offset = ret->base_id[0] ? links->base_offset : 0;
	return 0;
}

/* ---- of a whole file ---- */

static int read_file(struct adding *a, const char *path, uint64_t end, struct err *reterr)
{
	const struct jsonl_opts opts = { .end = end };
	CLEANUP(jsonl_freep) struct jsonl *lines = NULL;
	struct jsonl_line line;
	int r = jsonl_open(path, &opts, &lines, reterr);

	while (r >= 0 && (r = jsonl_next(lines, &line, reterr)) > 0)
		if (line.too_long)
			broken(a, line.text);
		else
			add_line(a, line.text, line.size);
	return r;
}

int transcript_live_until(const char *path, const struct transcript_format *format, uint64_t end,
	struct transcript_live *ret, struct err *reterr)
{
	struct adding a = { .chain = chain_new(format) };

	line_reader_init(&a.reader, format);
	int r = read_file(&a, path, end, reterr);
	if (r >= 0 && (r = chain_live(a.chain, ret, reterr)) < 0)
		err_prefix(reterr, "%s", path);
	line_reader_release(&a.reader);
	chain_free(a.chain);
	return r;
}

int transcript_live(const char *path, const struct transcript_format *format,
	struct transcript_live *ret, struct err *reterr)
{
	return transcript_live_until(path, format, 0, ret, reterr);
}

void transcript_live_release(struct transcript_live *live)
{
	free(live->bits);
	free(live->pass);
	free(live->base_id);
	*live = (struct transcript_live){ .bits = NULL };
}
