#include "json/scan.h"

#include <assert.h>

#include "base/err.h"
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

/* p is behind the opening quote; returns one past the closing one, or NULL. */
static const char *find_quote(const char *p, const char *end)
{
	const char *start = p;

	for (;;) {
		const char *quote = memchr(p, '"', (size_t)(end - p));
		if (!quote)
			return NULL;
		if (!is_escaped(start, quote))
			return quote + 1;
		p = quote + 1;
	}
}

enum { LONG = 256 }; /* bytes of a string that is worth knowing */

/* What a tool gave often stands twice on a line, and to compare is quicker than to search. */
static const char *skip_string(const char *p, const char *end, struct scan_longest *longest)
{
	if (!longest)
		return find_quote(p, end);
	if (longest->n >= LONG && longest->n <= (size_t)(end - p) &&
		(p == longest->p || memcmp(p, longest->p, longest->n) == 0))
		return p + longest->n;
	const char *q = find_quote(p, end);
	if (q && (size_t)(q - p) > longest->n)
		*longest = (struct scan_longest){ p, (size_t)(q - p) };
	return q;
}

/* Keys are short: a loop beats the call of memchr(). *ret_plain: no escape in it. */
static const char *skip_key(const char *p, const char *end, bool *ret_plain)
{
	for (const char *q = p; q < end; q++) {
		if (*q == '"') {
			*ret_plain = true;
			return q + 1;
		}
		if (*q == '\\')
			break;
	}
	*ret_plain = false;
	return find_quote(p, end);
}

enum { OTHER = 0, QUOTE, OPEN, CLOSE };
static const unsigned char structure[256] = {
	['"'] = QUOTE,
	['{'] = OPEN,
	['['] = OPEN,
	['}'] = CLOSE,
	[']'] = CLOSE,
};

/* p is at the opening bracket. Brackets are only counted; which kind closes which is looked at
 * when somebody walks the container. */
static const char *skip_container(const char *p, const char *end, struct scan_longest *longest)
{
	size_t depth = 0;

	while (p < end) {
		unsigned char kind = structure[(unsigned char)*p++];
		if (kind == OTHER)
			continue;
		if (kind == QUOTE) {
			p = skip_string(p, end, longest);
			if (!p)
				return NULL;
		} else if (kind == OPEN) {
			depth++;
		} else if (--depth == 0) {
			return p;
		}
	}
	return NULL;
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
static const char *skip_value(
	const char *p, const char *end, enum jtype *ret_type, struct scan_longest *longest)
{
	if (p >= end)
		return NULL;
	*ret_type = type_of(*p);
	switch (*ret_type) {
	case J_STRING:
		return skip_string(p + 1, end, longest);
	case J_OBJECT:
	case J_ARRAY:
		return skip_container(p, end, longest);
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
	const char *q = skip_key(p + 1, end, ret_plain);
	if (!q)
		return NULL;
	*ret_key = between(p, q);
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
	const char *q = p ? skip_value(p, it->end, &type, NULL) : NULL;
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
	const char *q = skip_value(p, end, &type, NULL);
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

struct pass {
	const struct scan_key *keys;
	struct jval *vals;
	size_t n;
	const char *end;
	struct scan_longest *longest;
	uint64_t parents; /* keys that others lie under */
	uint64_t lengths; /* lengths of names modulo 64: most members are told by it alone */
};

static void pass_init(struct pass *ps, const struct scan_key *keys, size_t n, struct jval *vals)
{
	assert(n <= SCAN_KEYS_MAX);
	*ps = (struct pass){ .keys = keys, .vals = vals, .n = n };
	for (size_t i = 0; i < n; i++) {
		assert(keys[i].under < (int)i);
		vals[i] = (struct jval){ .type = J_NONE };
		ps->lengths |= UINT64_C(1) << (keys[i].name.n % 64);
		if (keys[i].under >= 0)
			ps->parents |= UINT64_C(1) << keys[i].under;
	}
}

/* key is raw, with quotes. Returns the index in the table, or -1. */
static int pass_find(const struct pass *ps, int under, struct sv key, bool plain)
{
	struct sv name = { key.p + 1, key.n - 2 };

	if (plain && !(ps->lengths >> (name.n % 64) & 1))
		return -1;
	for (size_t i = 0; i < ps->n; i++) {
		const struct scan_key *k = &ps->keys[i];
		if (k->under != under)
			continue;
		if (plain ? sv_eq(name, k->name)
			  : scan_string_eq((struct jval){ key, J_STRING }, k->name))
			return (int)i;
	}
	return -1;
}

/* Forgets a value and all that was found under it: its key has come again. */
static void pass_forget(const struct pass *ps, int found)
{
	uint64_t gone = UINT64_C(1) << found;

	ps->vals[found] = (struct jval){ .type = J_NONE };
	for (size_t i = (size_t)found + 1; i < ps->n; i++) {
		int under = ps->keys[i].under;
		if (under >= 0 && (gone >> under & 1)) {
			gone |= UINT64_C(1) << i;
			ps->vals[i] = (struct jval){ .type = J_NONE };
		}
	}
}

static const char *pass_object(const struct pass *ps, const char *p, int under);

/* p is at the value of a key. Descends only where the table has keys below it, so the depth of
 * this recursion is that of the table, not of the input. */
static const char *pass_value(const struct pass *ps, const char *p, int found)
{
	enum jtype type;
	const char *q;

	if (found < 0)
		return skip_value(p, ps->end, &type, ps->longest);
	pass_forget(ps, found);
	if (p < ps->end && *p == '{' && (ps->parents >> found & 1)) {
		type = J_OBJECT;
		q = pass_object(ps, p, found);
	} else {
		q = skip_value(p, ps->end, &type, ps->longest);
	}
	if (q)
		ps->vals[found] = (struct jval){ between(p, q), type };
	return q;
}

/* p is at the opening brace; returns one past the closing one, or NULL. */
static const char *pass_object(const struct pass *ps, const char *p, int under)
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

static int pass_count(const struct pass *ps)
{
	int found = 0;

	for (size_t i = 0; i < ps->n; i++)
		found += ps->vals[i].type != J_NONE;
	return found;
}

int scan_keys(struct sv text, const struct scan_key *keys, size_t n, struct jval *vals)
{
	return scan_keys_longest(text, keys, n, vals, NULL);
}

int scan_keys_longest(struct sv text, const struct scan_key *keys, size_t n, struct jval *vals,
	struct scan_longest *longest)
{
	struct pass ps;
	struct sv rest = skip_mark(text);

	pass_init(&ps, keys, n, vals);
	ps.longest = longest;
	if (rest.n == 0)
		return ERR_INPUT;
	ps.end = rest.p + rest.n;
	const char *p = json_skip_space(rest.p, ps.end);
	if (p == ps.end || *p != '{') {
		struct jval other;
		return scan_text(text, &other);
	}
	p = pass_object(&ps, p, SCAN_TOP);
	if (!p || json_skip_space(p, ps.end) != ps.end)
		return ERR_INPUT;
	return pass_count(&ps);
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
