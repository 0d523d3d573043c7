/*
 * Pieces of the live chain. The rules are the adapters'; this keeps their input.
 */
#include "transcript/chain.h"

#include <string.h>

#include "base/mem.h"
#include "transcript/adapter.h"

struct chain {
	const struct transcript_format *format;
	struct links links;
};

struct chain *chain_new(const struct transcript_format *format)
{
	struct chain *c = xcalloc(1, sizeof(*c));

	c->format = format;
	return c;
}

static void clear(struct links *links)
{
	vec_release(&links->v);
	vec_release(&links->tools);
	vec_release(&links->kept);
	free(TAKE_PTR(links->base_id));
}

void chain_free(struct chain *c)
{
	if (!c)
		return;
	clear(&c->links);
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

size_t chain_add_line(struct chain *c, struct sv text, uint64_t size)
{
	static const struct record_fns fns = { take, broken };
	struct adding a = { .chain = c };
	size_t before = c->links.v.n;

	line_reader_init(&a.reader, c->format, true);
	if (text.n > 0 && memchr(text.p, '\0', text.n))
		broken(&a, text);
	else
		record_each(text, &fns, &a);
	line_reader_release(&a.reader);
	if (c->links.v.n > before)
		c->links.v.v[before].size = link_size(size);
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
	if (c->links.v.n > UINT32_MAX / 2)
		return err_set(reterr, ERR_LIMIT, "too many lines");
	links_live(&c->links, c->format, ret);
	return 0;
}
