#include "search/calls.h"

#include <stdlib.h>

#include "base/mem.h"

static void call_release(struct open_call *call)
{
	free(call->id);
	strv_release(&call->terms);
}

void calls_release(struct calls *c)
{
	vec_each (&c->open, call)
		call_release(call);
	vec_release(&c->open);
}

static void forget(struct calls *c, size_t at)
{
	for (size_t i = at; i + 1 < c->open.n; i++)
		c->open.v[i] = c->open.v[i + 1];
	c->open.n--;
}

void calls_add(struct calls *c, struct sv id, struct strv *terms)
{
	if (c->open.n == CALLS_MAX) {
		call_release(&c->open.v[0]);
		forget(c, 0);
	}
	vec_push(&c->open, (struct open_call){ xmemdup0(id.p, id.n), *terms });
	*terms = (struct strv)STRV_INIT;
}

bool calls_take(struct calls *c, struct sv id, struct strv *ret)
{
	for (size_t i = c->open.n; i-- > 0;) {
		struct open_call *call = &c->open.v[i];
		if (!sv_eq(sv_of(call->id), id))
			continue;
		free(call->id);
		*ret = call->terms;
		forget(c, i);
		return true;
	}
	return false;
}

bool call_before(const char *path, const struct transcript_format *format, uint64_t before,
	struct sv id, void (*fn)(void *data, const struct item *item), void *data)
{
	enum { FIRST = 64 * 1024, MOST = 1024 * 1024, STEP = 16 };
	bool found = false;

	for (uint64_t most = FIRST; !found && id.n > 0 && before > 0 && most <= MOST;
		most *= STEP) {
		/* Where this is inside a line, the rest of it is no call. */
		const struct transcript_read_opts opts = {
			.offset = before > most ? before - most : 0, .end = before
		};
		struct transcript_reader *reader = NULL;
		struct item item;
		if (transcript_open(path, format, &opts, &reader, NULL) < 0)
			return false;
		while (!found && transcript_next(reader, &item, NULL) > 0) {
			found = item.kind == ITEM_TOOL_CALL && sv_eq(item.tool_id, id);
			if (found)
				fn(data, &item);
		}
		transcript_close(reader);
		if (opts.offset == 0)
			break;
	}
	return found;
}
