#include "json/scan.h"

#include <assert.h>

#include "base/err.h"
#include "json/block.h"
#include "json/text.h"

/* ---- passing over values ---- */

/* A quote ends its string unless an odd number of backslashes stands before it. Each run of
 * backslashes is looked at once, by the quote it touches, so this stays linear. */
static bool is_escaped(const char *start, const char *quote)
{
	const char *p = quote;

	while (p > start && p[-1] == '\\')
		p--;
	return (quote - p) & 1;
}

/* p is within a string that begins at `start`; returns one past its closing quote, or NULL. */
static const char *string_end(const char *start, const char *p, const char *end)
{
	for (; end - p >= BLOCK; p += BLOCK)
		for (uint64_t left = block_quote(p); left; left &= left - 1) {
			const char *quote = p + __builtin_ctzll(left);
			if (!is_escaped(start, quote))
				return quote + 1;
		}
	for (; p < end; p++)
		if (*p == '"' && !is_escaped(start, p))
			return p + 1;
	return NULL;
}

/* p is behind the opening quote. *ret_plain: surely no escape in it. */
static inline const char *skip_string(const char *p, const char *end, bool *ret_plain)
{
	const char *q = p;

	/* Keys, ids and times are short. */
	for (int i = 0; i < 3 && end - q >= BLOCK_SHORT; i++, q += BLOCK_SHORT) {
		int at = block_short(q);
		if (at == BLOCK_ESCAPE)
			break;
		if (at < BLOCK_SHORT) {
			*ret_plain = true;
			return q + at + 1;
		}
	}
	return string_end(p, q, end);
}

enum {
	BRACE = 0x20, /* the bit that tells braces from brackets */
	LEVELS = 64, /* whose kind is known */
};

/* Where a container that is passed over stands. */
struct depth {
	size_t n; /* brackets that are open */
	uint64_t objects; /* one bit a level, of the first ones: 1 object, 0 array */
	const char *string; /* the string that goes on behind the block; NULL: none does */
	bool bad; /* a bracket closes one of the other kind; or a backslash outside of strings: what
		   * is a quote would depend on the block */
};

/* One past the bracket that closes the container, of the `n` bytes of a block; NULL when it is not
 * among them. */
static const char *skip_block(const char *p, size_t n, struct depth *d)
{
	struct block b = block_at(p);
	uint64_t quotes = block_quotes(&b), inside = block_inside(quotes);

	for (uint64_t left = (b.open | b.close | b.backslash) & ~inside; left; left &= left - 1) {
		unsigned at = (unsigned)__builtin_ctzll(left);
		if (at >= n)
			break;
		uint64_t object = (p[at] & BRACE) != 0;
		if (b.open >> at & 1) {
			if (d->n < LEVELS)
				d->objects = (d->objects & ~(UINT64_C(1) << d->n)) | object << d->n;
			d->n++;
		} else if (b.close >> at & 1 && d->n > 0) {
			d->n--;
			d->bad = d->n < LEVELS && (d->objects >> d->n & 1) != object;
			if (d->bad || d->n == 0)
				return d->bad ? NULL : p + at + 1;
		} else {
			d->bad = true;
			return NULL;
		}
	}
	d->string = inside >> (BLOCK - 1) ? p + BLOCK - __builtin_clzll(quotes) : NULL;
	return NULL;
}

/* p is at the opening bracket. Which kind closes which is looked at in the first LEVELS levels, and
 * in all of them when somebody walks the container. */
static const char *skip_container(const char *p, const char *end)
{
	struct depth d = { .n = 0 };
	char rest[BLOCK];

	while (end - p >= BLOCK) {
		const char *q = skip_block(p, BLOCK, &d);
		if (q || d.bad)
			return q;
		p += BLOCK;
		if (d.string)
			p = string_end(d.string, p, end);
		if (!p)
			return NULL;
	}
	size_t n = (size_t)(end - p);
	memset(rest, ' ', sizeof(rest));
	memcpy(rest, p, n);
	const char *q = n ? skip_block(rest, n, &d) : NULL;
	return q ? p + (q - rest) : NULL;
}

static const char *skip_number(const char *p, const char *end)
{
	while (p < end &&
		((*p >= '0' && *p <= '9') || (*p | 0x20) == 'e' || *p == '.' || *p == '-' ||
			*p == '+'))
		p++;
	return p;
}

static const char *skip_word(const char *p, const char *end, struct sv word)
{
	return sv_starts(sv_make(p, (size_t)(end - p)), word) ? p + word.n : NULL;
}

static enum jtype type_of(char c)
{
	switch (c) {
	case '"':
		return J_STRING;
	case '{':
		return J_OBJECT;
	case '[':
		return J_ARRAY;
	case 't':
	case 'f':
		return J_BOOL;
	case 'n':
		return J_NULL;
	default:
		return c == '-' || (c >= '0' && c <= '9') ? J_NUMBER : J_NONE;
	}
}

/* p is at the first byte of the value; returns one past it, or NULL. */
static const char *skip_value(const char *p, const char *end, enum jtype *ret_type)
{
	bool plain;

	if (p >= end)
		return NULL;
	*ret_type = type_of(*p);
	switch (*ret_type) {
	case J_STRING:
		return skip_string(p + 1, end, &plain);
	case J_OBJECT:
	case J_ARRAY:
		return skip_container(p, end);
	case J_BOOL:
		return skip_word(p, end, *p == 't' ? SV("true") : SV("false"));
	case J_NULL:
		return skip_word(p, end, SV("null"));
	case J_NUMBER:
		return skip_number(p, end);
	case J_NONE:
		break;
	}
	return NULL;
}

/* ---- the head of a text ---- */

/* Where a string that goes on to the end of the text has its last whole character or escape. */
static const char *last_whole(const char *start, const char *end)
{
	enum { ESCAPE = 6 }; /* bytes of the longest */
	const char *p = end;

	while (p > start && end - p < ESCAPE && p[-1] != '\\')
		p--;
	if (p == start || p[-1] != '\\' || is_escaped(start, p - 1))
		return end;
	ptrdiff_t size = p < end && *p == 'u' ? ESCAPE : 2;
	return end - (p - 1) < size ? p - 1 : end;
}

bool scan_close(struct str *text)
{
	const char *p = text->buf, *end = p + text->len, *last = NULL; /* that is no white space */
	char open[LEVELS];
	size_t n = 0;

	for (; p < end; p++) {
		const char *next;
		bool plain;
		if (*p == '"') {
			next = skip_string(p + 1, end, &plain);
			if (!next)
				break;
			p = next - 1;
		} else if (*p == '{' || *p == '[') {
			if (n == LEVELS)
				return false;
			open[n++] = *p == '{' ? '}' : ']';
		} else if ((*p == '}' || *p == ']') && (n == 0 || open[--n] != *p)) {
			return false;
		}
		last = (unsigned char)*p > ' ' ? p : last;
	}
	/* The string of a key would have no value. */
	if (p == end || n == 0 || (open[n - 1] == '}' && *last != ':'))
		return false;
	str_cut(text, (size_t)(last_whole(p + 1, end) - text->buf));
	str_addc(text, '"');
	while (n > 0)
		str_addc(text, open[--n]);
	return true;
}

static struct sv between(const char *from, const char *to)
{
	return (struct sv){ from, (size_t)(to - from) };
}

/* ---- walking one container ---- */

enum step { STEP_BAD, STEP_ITEM, STEP_DONE };

/* From behind the bracket or the last item to the next item, or behind the closing bracket. */
static enum step step_item(const char **p, const char *end, char close, bool started)
{
	const char *q = json_skip_space(*p, end);

	if (q == end)
		return STEP_BAD;
	if (*q == close) {
		*p = q + 1;
		return STEP_DONE;
	}
	if (started) {
		if (*q != ',')
			return STEP_BAD;
		q = json_skip_space(q + 1, end);
	}
	*p = q;
	return STEP_ITEM;
}

/* From the key's opening quote to the first byte of its value, or NULL. */
static const char *step_key(const char *p, const char *end, struct sv *ret_key, bool *ret_plain)
{
	if (p >= end || *p != '"')
		return NULL;
	*ret_plain = false;
	const char *q = skip_string(p + 1, end, ret_plain);
	if (!q)
		return NULL;
	*ret_key = between(p, q);
	if (!*ret_plain)
		*ret_plain = !memchr(p, '\\', ret_key->n);
	q = json_skip_space(q, end);
	if (q == end || *q != ':')
		return NULL;
	return json_skip_space(q + 1, end);
}

struct scan_iter scan_iter(struct jval container)
{
	if ((container.type != J_OBJECT && container.type != J_ARRAY) || container.raw.n == 0)
		return (struct scan_iter){ .p = NULL };
	return (struct scan_iter){
		.p = container.raw.p + 1,
		.end = container.raw.p + container.raw.n,
		.object = container.type == J_OBJECT,
	};
}

int scan_next(struct scan_iter *it, struct sv *ret_key, struct jval *ret)
{
	struct sv key = { NULL, 0 };
	const char *p = it->p;
	bool plain;

	if (!p)
		return 0;
	switch (step_item(&p, it->end, it->object ? '}' : ']', it->started)) {
	case STEP_DONE:
		it->p = NULL;
		return 0;
	case STEP_BAD:
		return ERR_INPUT;
	case STEP_ITEM:
		break;
	}
	if (it->object)
		p = step_key(p, it->end, &key, &plain);
	enum jtype type;
	const char *q = p ? skip_value(p, it->end, &type) : NULL;
	if (!q)
		return ERR_INPUT;
	*ret = (struct jval){ between(p, q), type };
	if (ret_key)
		*ret_key = key;
	it->p = q;
	it->started = true;
	return 1;
}

static struct sv skip_mark(struct sv text)
{
	struct sv mark = SV("\xEF\xBB\xBF");

	return sv_starts(text, mark) ? sv_from(text, mark.n) : text;
}

int scan_value(struct sv *rest, struct jval *ret)
{
	if (rest->n == 0)
		return 0;
	const char *end = rest->p + rest->n;
	const char *p = json_skip_space(rest->p, end);
	if (p == end)
		return 0;
	enum jtype type;
	const char *q = skip_value(p, end, &type);
	if (!q)
		return ERR_INPUT;
	*ret = (struct jval){ between(p, q), type };
	*rest = between(q, end);
	return 1;
}

int scan_text(struct sv text, struct jval *ret)
{
	struct sv rest = skip_mark(text);
	struct jval val;

	if (scan_value(&rest, &val) <= 0)
		return ERR_INPUT;
	if (rest.n && json_skip_space(rest.p, rest.p + rest.n) != rest.p + rest.n)
		return ERR_INPUT;
	*ret = val;
	return 0;
}

/* ---- several keys in one pass ---- */

/* Length, ends and parent tell nearly all names apart. */
static size_t slot_of(struct sv name, int under)
{
	unsigned ends =
		name.n ? (unsigned char)name.p[0] + 5u * (unsigned char)name.p[name.n - 1] : 0;

	return (ends + 17 * name.n + 31 * (size_t)(under + 1)) % SCAN_SLOTS;
}

void scan_table_init(struct scan_table *t, const struct scan_key *keys, size_t n)
{
	assert(n <= SCAN_KEYS_MAX);
	*t = (struct scan_table){ .keys = keys, .n = n };
	for (size_t i = 0; i < n; i++) {
		size_t slot = slot_of(keys[i].name, keys[i].under);
		assert(keys[i].under < (int)i);
		while (t->slots[slot])
			slot = (slot + 1) % SCAN_SLOTS;
		t->slots[slot] = (uint8_t)(i + 1);
		if (keys[i].under >= 0)
			t->parents |= UINT64_C(1) << keys[i].under;
	}
}

struct pass {
	const struct scan_table *table;
	struct jval *vals;
	uint64_t found; /* keys that were met */
	const char *end;
	struct scan_rows *rows; /* NULL: lists are passed over */
	unsigned level;
};

/* Two words that overlap cover most names, and cost less than a call. */
static inline bool same_name(const char *a, const char *b, size_t n)
{
	uint64_t head[2], tail[2];
	uint32_t first[2], last[2];

	if (n >= sizeof(head[0]) && n <= 2 * sizeof(head[0])) {
		memcpy(&head[0], a, sizeof(head[0]));
		memcpy(&head[1], b, sizeof(head[0]));
		memcpy(&tail[0], a + n - sizeof(tail[0]), sizeof(tail[0]));
		memcpy(&tail[1], b + n - sizeof(tail[0]), sizeof(tail[0]));
		return head[0] == head[1] && tail[0] == tail[1];
	}
	if (n >= sizeof(first[0]) && n < sizeof(head[0])) {
		memcpy(&first[0], a, sizeof(first[0]));
		memcpy(&first[1], b, sizeof(first[0]));
		memcpy(&last[0], a + n - sizeof(last[0]), sizeof(last[0]));
		memcpy(&last[1], b + n - sizeof(last[0]), sizeof(last[0]));
		return first[0] == first[1] && last[0] == last[1];
	}
	return memcmp(a, b, n) == 0;
}

/* key is raw, with quotes. Returns the index in the table, or -1. */
static int pass_find(const struct pass *ps, int under, struct sv key, bool plain)
{
	const struct scan_table *t = ps->table;
	struct sv name = { key.p + 1, key.n - 2 };

	if (plain) {
		for (size_t at = slot_of(name, under); t->slots[at]; at = (at + 1) % SCAN_SLOTS) {
			const struct scan_key *k = &t->keys[t->slots[at] - 1];
			if (k->under == under && k->name.n == name.n &&
				same_name(k->name.p, name.p, name.n))
				return t->slots[at] - 1;
		}
		return -1;
	}
	for (size_t i = 0; i < t->n; i++)
		if (t->keys[i].under == under &&
			scan_string_eq((struct jval){ key, J_STRING }, t->keys[i].name))
			return (int)i;
	return -1;
}

/* Forgets a value and all that was found under it: its key has come again. */
static void pass_forget(struct pass *ps, int found)
{
	uint64_t gone = UINT64_C(1) << found;

	ps->vals[found] = (struct jval){ .type = J_NONE };
	for (size_t i = (size_t)found + 1; i < ps->table->n; i++) {
		int under = ps->table->keys[i].under;
		if (under >= 0 && (gone >> under & 1)) {
			gone |= UINT64_C(1) << i;
			ps->vals[i] = (struct jval){ .type = J_NONE };
		}
	}
	ps->found &= ~gone;
	if (ps->rows && ps->table->lists & gone)
		ps->rows->repeated = true;
}

/* Takes out the rows of lists that were forgotten: those that do not lie within their list as it
 * came last. Once for the text, for a key may come as often as the text has room for it. */
static void rows_settle(struct scan_rows *rows, const struct jval *vals)
{
	const struct jval *of[SCAN_LEVELS] = { vals }; /* whose lists those of a level are */
	unsigned gone = SCAN_LEVELS; /* the level of the row that went, while below it */
	size_t to = 0;

	for (size_t i = 0; i < rows->v.n; i++) {
		const struct scan_row *row = &rows->v.v[i];
		if (row->level > gone)
			continue;
		struct sv list = of[row->level][row->under].raw;
		bool stays =
			list.n && row->item.raw.p > list.p && row->item.raw.p < list.p + list.n;
		gone = stays ? SCAN_LEVELS : row->level;
		if (!stays)
			continue;
		rows->v.v[to] = *row;
		if (row->level + 1 < SCAN_LEVELS)
			of[row->level + 1] = rows->v.v[to].vals;
		to++;
	}
	rows->v.n = to;
}

static const char *pass_object(struct pass *ps, const char *p, int under);

/* p is at an element of the list that `found` is. */
static const char *pass_row(struct pass *ps, const char *p, int found)
{
	struct scan_row row = { .under = (uint8_t)found, .level = (uint8_t)ps->level };
	size_t at = ps->rows->v.n;
	enum jtype type = J_OBJECT;
	const char *q;

	vec_push(&ps->rows->v, row);
	if (p < ps->end && *p == '{') {
		struct pass inner = {
			.table = ps->table->rows,
			.vals = row.vals,
			.end = ps->end,
			.rows = ps->level + 1 < SCAN_LEVELS ? ps->rows : NULL,
			.level = ps->level + 1,
		};
		q = pass_object(&inner, p, SCAN_TOP);
	} else {
		q = skip_value(p, ps->end, &type);
	}
	if (q) {
		row.item = (struct jval){ between(p, q), type };
		ps->rows->v.v[at] = row;
	}
	return q;
}

/* p is at the opening bracket. Where the rows are too many, what is left is passed over. */
static const char *pass_list(struct pass *ps, const char *p, int found)
{
	const char *start = p;
	bool started = false;
	enum jtype type;

	for (p++;; started = true) {
		switch (step_item(&p, ps->end, ']', started)) {
		case STEP_BAD:
			return NULL;
		case STEP_DONE:
			return p;
		case STEP_ITEM:
			break;
		}
		if (ps->rows->v.n == SCAN_ROWS_MAX) {
			ps->rows->cut = true;
			return skip_value(start, ps->end, &type);
		}
		p = pass_row(ps, p, found);
		if (!p)
			return NULL;
	}
}

/* p is at the value of a key. Descends only where the table has keys below it, so the depth of
 * this recursion is that of the table, not of the input. */
static const char *pass_value(struct pass *ps, const char *p, int found)
{
	enum jtype type;
	const char *q;

	if (found < 0)
		return skip_value(p, ps->end, &type);
	if (ps->found >> found & 1)
		pass_forget(ps, found);
	if (p < ps->end && *p == '{' && (ps->table->parents >> found & 1)) {
		type = J_OBJECT;
		q = pass_object(ps, p, found);
	} else if (p < ps->end && *p == '[' && ps->rows && (ps->table->lists >> found & 1)) {
		type = J_ARRAY;
		q = pass_list(ps, p, found);
	} else {
		q = skip_value(p, ps->end, &type);
	}
	if (q) {
		ps->vals[found] = (struct jval){ between(p, q), type };
		ps->found |= UINT64_C(1) << found;
	}
	return q;
}

/* p is at the opening brace; returns one past the closing one, or NULL. */
static const char *pass_object(struct pass *ps, const char *p, int under)
{
	bool started = false;

	for (p++;; started = true) {
		struct sv key;
		bool plain;
		switch (step_item(&p, ps->end, '}', started)) {
		case STEP_BAD:
			return NULL;
		case STEP_DONE:
			return p;
		case STEP_ITEM:
			break;
		}
		p = step_key(p, ps->end, &key, &plain);
		if (!p)
			return NULL;
		p = pass_value(ps, p, pass_find(ps, under, key, plain));
		if (!p)
			return NULL;
	}
}

int scan_table_read(
	const struct scan_table *t, struct sv text, struct jval *vals, struct scan_rows *rows)
{
	struct pass ps = { .table = t, .vals = vals, .rows = t->rows ? rows : NULL };
	struct sv rest = skip_mark(text);
	struct jval other;
	int r = ERR_INPUT;

	memset(vals, 0, t->n * sizeof(*vals)); /* J_NONE */
	if (rows) {
		rows->v.n = 0;
		rows->cut = rows->repeated = false;
	}
	ps.end = rest.n ? rest.p + rest.n : rest.p;
	const char *p = rest.n ? json_skip_space(rest.p, ps.end) : ps.end;
	if (p != ps.end && *p == '{') {
		p = pass_object(&ps, p, SCAN_TOP);
		if (p && json_skip_space(p, ps.end) == ps.end)
			r = __builtin_popcountll(ps.found);
	} else if (p != ps.end) {
		r = scan_text(text, &other);
	}
	if (rows && (r < 0 || rows->cut))
		rows->v.n = 0;
	else if (rows && rows->repeated)
		rows_settle(rows, vals);
	return r;
}

int scan_keys(struct sv text, const struct scan_key *keys, size_t n, struct jval *vals)
{
	struct scan_table t;

	scan_table_init(&t, keys, n);
	return scan_table_read(&t, text, vals, NULL);
}

int scan_get(struct jval obj, struct sv key, struct jval *ret)
{
	const struct scan_key wanted = { .name = key, .under = SCAN_TOP };
	struct jval val;

	if (obj.type != J_OBJECT)
		return 0;
	int r = scan_keys(obj.raw, &wanted, 1, &val);
	if (r > 0)
		*ret = val;
	return r;
}

int scan_path(struct jval obj, const char *path, struct jval *ret)
{
	struct sv rest = sv_of(path), key;

	while (sv_split(&rest, '.', &key)) {
		int r = scan_get(obj, key, &obj);
		if (r <= 0)
			return r;
	}
	*ret = obj;
	return 1;
}
