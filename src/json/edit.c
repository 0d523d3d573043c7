#include "json/edit.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/err.h"
#include "json/write.h"

void edit_reset(struct edit *e, struct sv text)
{
	e->text = text;
	e->splices.n = 0;
	str_clear(&e->pool);
}

void edit_release(struct edit *e)
{
	vec_release(&e->splices);
	str_release(&e->pool);
	e->text = (struct sv){ NULL, 0 };
}

/* ---- recording ---- */

/* The replacement is what the pool has got since `at`. */
static void record(struct edit *e, struct sv span, size_t at)
{
	assert(span.p >= e->text.p && span.p + span.n <= e->text.p + e->text.n);
	size_t from = (size_t)(span.p - e->text.p);
	vec_push(&e->splices, (struct edit_splice){ from, from + span.n, at, e->pool.len - at });
}

void edit_replace(struct edit *e, struct sv span, struct sv replacement)
{
	size_t at = e->pool.len;

	str_add(&e->pool, replacement);
	record(e, span, at);
}

void edit_value(struct edit *e, struct jval val, struct sv json)
{
	edit_replace(e, val.raw, json);
}

void edit_string(struct edit *e, struct jval val, struct sv text)
{
	size_t at = e->pool.len;

	json_quote(&e->pool, text);
	record(e, val.raw, at);
}

/* ---- members of one object ---- */

enum { CHANGES_MAX = 64 };

struct walk {
	struct edit *e;
	const struct edit_member *changes;
	size_t n;
	uint64_t met; /* changes whose key is in the object */
	const char *kept_end; /* behind the last member that stays; NULL: none yet */
	const char *last_end; /* behind the member before this one */
	const char *gone; /* key of a removed member whose end is not known yet */
	int places;
};

static const char *end_of(struct sv s)
{
	return s.p + s.n;
}

static void cut(struct walk *w, const char *from, const char *to)
{
	edit_replace(w->e, sv_make(from, (size_t)(to - from)), (struct sv){ NULL, 0 });
}

static const struct edit_member *change_for(struct walk *w, struct sv key)
{
	for (size_t i = 0; i < w->n; i++) {
		if (scan_string_eq((struct jval){ key, J_STRING }, w->changes[i].key)) {
			w->met |= UINT64_C(1) << i;
			return &w->changes[i];
		}
	}
	return NULL;
}

/*
 * A member goes with the comma before it when a member before it stays, else with the comma after
 * it, which ends where the next key begins.
 */
static void walk_member(struct walk *w, struct sv key, struct jval val)
{
	const struct edit_member *change = change_for(w, key);

	if (w->gone)
		cut(w, w->gone, key.p);
	w->gone = NULL;
	w->places += change != NULL;
	if (change && !change->json.p) {
		if (w->kept_end)
			cut(w, w->last_end, end_of(val.raw));
		else
			w->gone = key.p;
	} else {
		w->kept_end = end_of(val.raw);
		if (change)
			edit_value(w->e, val, change->json);
	}
	w->last_end = end_of(val.raw);
}

static int walk_object(struct walk *w, struct jval obj)
{
	struct scan_iter it = scan_iter(obj);
	struct sv key;
	struct jval val;
	int r;

	if (obj.type != J_OBJECT)
		return ERR_INPUT;
	while ((r = scan_next(&it, &key, &val)) > 0)
		walk_member(w, key, val);
	if (r == 0 && w->gone)
		cut(w, w->gone, w->last_end);
	return r;
}

/* Appends "key":value for each change that is to be inserted at `where`; how many there were. */
static int add_absent(struct walk *w, enum edit_absent where, bool comma)
{
	int added = 0;

	for (size_t i = 0; i < w->n; i++) {
		const struct edit_member *c = &w->changes[i];
		if (c->absent != where || !c->json.p || (w->met >> i & 1))
			continue;
		if (comma)
			str_addc(&w->e->pool, ',');
		json_quote(&w->e->pool, c->key);
		str_addc(&w->e->pool, ':');
		str_add(&w->e->pool, c->json);
		comma = true;
		added++;
	}
	w->places += added;
	return added;
}

static void insert_absent(struct walk *w, struct jval obj)
{
	size_t at = w->e->pool.len;
	struct sv top = { obj.raw.p + 1, 0 };
	int first = add_absent(w, EDIT_FIRST, false);

	if (!w->kept_end) {
		if (first + add_absent(w, EDIT_LAST, first > 0) > 0)
			record(w->e, top, at);
		return;
	}
	if (first) {
		str_addc(&w->e->pool, ',');
		record(w->e, top, at);
	}
	at = w->e->pool.len;
	if (add_absent(w, EDIT_LAST, true))
		record(w->e, sv_make(w->kept_end, 0), at);
}

int edit_members(struct edit *e, struct jval obj, const struct edit_member *changes, size_t n)
{
	struct walk w = { .e = e, .changes = changes, .n = n };
	size_t splices = e->splices.n, pool = e->pool.len;

	assert(n <= CHANGES_MAX);
	int r = walk_object(&w, obj);
	if (r < 0) {
		e->splices.n = splices;
		str_cut(&e->pool, pool);
		return r;
	}
	insert_absent(&w, obj);
	return w.places;
}

int edit_remove(struct edit *e, struct jval obj, struct sv key)
{
	const struct edit_member change = { .key = key };

	return edit_members(e, obj, &change, 1);
}

/* ---- applying ---- */

/* By place; at one place insertions come before the span that begins there. The pool grows with
 * each edit, so its offsets tell the order in which insertions were given. */
static int by_place(const void *a, const void *b)
{
	const struct edit_splice *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

/* A few splices as a rule, and mostly in order. */
static void sort_splices(struct edit *e)
{
	enum { FEW = 32 };
	struct edit_splice *v = e->splices.v;

	if (e->splices.n > FEW) {
		vec_sort(&e->splices, by_place);
		return;
	}
	for (size_t i = 1; i < e->splices.n; i++) {
		struct edit_splice s = v[i];
		size_t at = i;
		for (; at > 0 && by_place(&v[at - 1], &s) > 0; at--)
			v[at] = v[at - 1];
		v[at] = s;
	}
}

static bool in_order(const struct edit *e)
{
	size_t end = 0;

	for (size_t i = 0; i < e->splices.n; i++) {
		if (e->splices.v[i].from < end)
			return false;
		end = e->splices.v[i].to;
	}
	return true;
}

int edit_each(struct edit *e, void (*fn)(void *data, struct sv piece, bool kept), void *data)
{
	size_t at = 0;

	sort_splices(e);
	if (!in_order(e))
		return ERR_INPUT;
	vec_each (&e->splices, s) {
		fn(data, sv_make(e->text.p + at, s->from - at), true);
		fn(data, sv_make(e->pool.buf + s->at, s->n), false);
		at = s->to;
	}
	fn(data, sv_from(e->text, at), true);
	return 0;
}

static void add_piece(void *data, struct sv piece, bool kept UNUSED)
{
	str_add(data, piece);
}

int edit_apply(struct edit *e, struct str *out)
{
	return edit_each(e, add_piece, out);
}
