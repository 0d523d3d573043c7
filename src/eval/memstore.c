#include "eval/memstore.h"

static void conv_free(struct memstore_conv *c)
{
	free(c->id);
	free(c->dir);
	free(c->last_dir);
	strv_release(&c->commands);
	vec_release(&c->slices);
	route_topic_free(c->topic);
	free(c);
}

void memstore_init(struct memstore *s, const struct route_opts *opts)
{
	*s = (struct memstore){ .max = opts->max, .expiry_ms = opts->expiry_ms };
}

void memstore_clear(struct memstore *s)
{
	vec_each (&s->convs, c)
		conv_free(*c);
	s->convs.n = 0;
}

void memstore_release(struct memstore *s)
{
	memstore_clear(s);
	vec_release(&s->convs);
	vec_release(&s->view);
}

struct memstore_conv *memstore_get(const struct memstore *s, struct sv id)
{
	for (size_t i = 0; i < s->convs.n; i++)
		if (sv_is(id, s->convs.v[i]->id))
			return s->convs.v[i];
	return NULL;
}

/* Slices keep NULs that a command may hold; the owned copies are NUL-terminated besides. */
static void add_command(struct memstore_conv *c, struct sv command)
{
	strv_take(&c->commands, xmemdup0(command.n ? command.p : "", command.n));
	vec_push(&c->slices, sv_make(c->commands.v[c->commands.n - 1], command.n));
}

static struct memstore_conv *conv_new(struct sv id, struct sv dir, int64_t now_ms)
{
	struct memstore_conv *c = xcalloc(1, sizeof(*c));

	c->id = xmemdup0(id.p, id.n);
	c->dir = xmemdup0(dir.n ? dir.p : "", dir.n);
	c->last_dir = xstrdup(c->dir);
	c->last_ms = now_ms;
	return c;
}

static void remove_at(struct memstore *s, size_t at)
{
	conv_free(s->convs.v[at]);
	memmove(&s->convs.v[at], &s->convs.v[at + 1],
		(s->convs.n - at - 1) * sizeof(s->convs.v[0]));
	s->convs.n--;
}

/* Index of the one longest unused; the first registered of several. */
static size_t oldest(const struct memstore *s, bool spare_active)
{
	size_t found = ROUTE_NONE;

	for (size_t i = 0; i < s->convs.n; i++) {
		const struct memstore_conv *c = s->convs.v[i];
		if (spare_active && c->status == ROUTE_ACTIVE)
			continue;
		if (found == ROUTE_NONE || c->last_ms < s->convs.v[found]->last_ms)
			found = i;
	}
	return found;
}

static void evict(struct memstore *s, bool spare_active)
{
	while (s->convs.n > s->max) {
		size_t at = oldest(s, spare_active);
		if (at == ROUTE_NONE)
			return;
		remove_at(s, at);
	}
}

void memstore_seed_register(
	struct memstore *s, struct sv id, struct sv command, struct sv dir, int64_t now_ms)
{
	struct memstore_conv *c = conv_new(id, dir, now_ms);

	c->turns = 1;
	add_command(c, command);
	size_t at = 0;
	while (at < s->convs.n && !sv_is(id, s->convs.v[at]->id))
		at++;
	if (at < s->convs.n) {
		conv_free(s->convs.v[at]);
		s->convs.v[at] = c;
	} else {
		vec_push(&s->convs, c);
	}
	for (size_t i = s->convs.n; i-- > 0;)
		if (s->convs.v[i]->last_ms < now_ms - s->expiry_ms)
			remove_at(s, i);
	evict(s, false);
}

void memstore_seed_update(struct memstore *s, struct sv id, struct sv command, int64_t now_ms)
{
	struct memstore_conv *c = memstore_get(s, id);

	if (!c)
		return;
	add_command(c, command);
	c->last_ms = now_ms;
	c->turns++;
	c->status = ROUTE_IDLE;
}

void memstore_mark(struct memstore *s, struct sv id, enum route_status status)
{
	struct memstore_conv *c = memstore_get(s, id);

	if (c)
		c->status = status;
}

void memstore_started(
	struct memstore *s, struct sv id, struct sv command, struct sv dir, int64_t now_ms)
{
	struct memstore_conv *c = memstore_get(s, id);

	if (!c) {
		c = conv_new(id, dir, now_ms);
		vec_push(&s->convs, c);
	}
	free(c->last_dir);
	c->last_dir = xmemdup0(dir.n ? dir.p : "", dir.n);
	add_command(c, command);
	c->status = ROUTE_ACTIVE;
	c->last_ms = now_ms;
	c->turns++;
	c->before_reset = false;
	evict(s, true);
}

void memstore_ended(struct memstore *s, struct sv id, enum route_status status, int64_t now_ms)
{
	struct memstore_conv *c = memstore_get(s, id);

	if (!c)
		return;
	c->status = status;
	c->last_ms = now_ms;
}

void memstore_reset(struct memstore *s)
{
	vec_each (&s->convs, c)
		(*c)->before_reset = true;
}

const struct route_conv *memstore_view(struct memstore *s, size_t *ret_n)
{
	s->view.n = 0;
	vec_each (&s->convs, at) {
		const struct memstore_conv *c = *at;
		vec_push(&s->view,
			(struct route_conv){ .id = sv_of(c->id),
				.status = c->status,
				.last_ms = c->last_ms,
				.dir = sv_of(c->dir),
				.last_dir = sv_of(c->last_dir),
				.before_reset = c->before_reset,
				.commands = c->slices.v,
				.n_commands = c->slices.n,
				.topic = c->topic });
	}
	*ret_n = s->view.n;
	return s->view.v;
}
