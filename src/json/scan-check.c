#include "base/err.h"
#include "json/scan.h"
#include "json/text.h"

enum { WORD = 64 };

struct check {
	const char *p, *end;
	size_t depth;
	uint64_t objects[SCAN_DEPTH_MAX / WORD]; /* one bit a level: 1 object, 0 array */
};

enum state { STATE_VALUE, STATE_KEY, STATE_AFTER, STATE_DONE, STATE_BAD, STATE_DEEP };

/* p is behind the backslash. */
static bool check_escape(struct check *c)
{
	unsigned cp;

	if (c->p == c->end)
		return false;
	if (*c->p == 'u') {
		if (!json_hex4(c->p + 1, c->end, &cp))
			return false;
		c->p += 5;
		return true;
	}
	if (!memchr("\"\\/bfnrt", *c->p, 8))
		return false;
	c->p++;
	return true;
}

static bool check_wide(struct check *c)
{
	size_t n = json_utf8_sequence(c->p, c->end);

	c->p += n;
	return n > 0;
}

/* One character that is not the closing quote. */
static bool check_character(struct check *c)
{
	unsigned char ch = (unsigned char)*c->p;

	if (ch >= 0x80)
		return check_wide(c);
	if (ch < 0x20)
		return false;
	c->p++;
	return ch != '\\' || check_escape(c);
}

static bool check_string(struct check *c)
{
	if (c->p == c->end || *c->p != '"')
		return false;
	for (c->p++; c->p < c->end;) {
		if (c->end - c->p >= JSON_WORD) {
			size_t plain = json_plain_bytes(c->p);
			c->p += plain;
			if (plain == JSON_WORD)
				continue;
		}
		if (*c->p == '"') {
			c->p++;
			return true;
		}
		if (!check_character(c))
			return false;
	}
	return false;
}

static bool check_word(struct check *c, struct sv word)
{
	if (!sv_starts(sv_make(c->p, (size_t)(c->end - c->p)), word))
		return false;
	c->p += word.n;
	return true;
}

static bool check_number(struct check *c)
{
	const char *end = json_number_end(c->p, c->end);

	if (!end)
		return false;
	c->p = end;
	return true;
}

static bool in_object(const struct check *c)
{
	size_t top = c->depth - 1;

	return c->objects[top / WORD] >> (top % WORD) & 1;
}

static enum state close_container(struct check *c)
{
	c->p++;
	c->depth--;
	return STATE_AFTER;
}

static enum state open_container(struct check *c, bool object)
{
	if (c->depth == SCAN_DEPTH_MAX)
		return STATE_DEEP;
	uint64_t bit = UINT64_C(1) << (c->depth % WORD);
	uint64_t *word = &c->objects[c->depth / WORD];
	if (c->depth % WORD == 0)
		*word = 0; /* so that the stack need not be cleared as a whole */
	*word = object ? *word | bit : *word & ~bit;
	c->depth++;
	c->p = json_skip_space(c->p + 1, c->end);
	if (c->p < c->end && *c->p == (object ? '}' : ']'))
		return close_container(c);
	return object ? STATE_KEY : STATE_VALUE;
}

static enum state check_value(struct check *c)
{
	bool ok;

	c->p = json_skip_space(c->p, c->end);
	if (c->p == c->end)
		return STATE_BAD;
	switch (*c->p) {
	case '{':
		return open_container(c, true);
	case '[':
		return open_container(c, false);
	case '"':
		ok = check_string(c);
		break;
	case 't':
		ok = check_word(c, SV("true"));
		break;
	case 'f':
		ok = check_word(c, SV("false"));
		break;
	case 'n':
		ok = check_word(c, SV("null"));
		break;
	default:
		ok = check_number(c);
		break;
	}
	return ok ? STATE_AFTER : STATE_BAD;
}

static enum state check_key(struct check *c)
{
	c->p = json_skip_space(c->p, c->end);
	if (!check_string(c))
		return STATE_BAD;
	c->p = json_skip_space(c->p, c->end);
	if (c->p == c->end || *c->p != ':')
		return STATE_BAD;
	c->p++;
	return STATE_VALUE;
}

static enum state check_after(struct check *c)
{
	c->p = json_skip_space(c->p, c->end);
	if (c->depth == 0)
		return c->p == c->end ? STATE_DONE : STATE_BAD;
	if (c->p == c->end)
		return STATE_BAD;
	bool object = in_object(c);
	if (*c->p == (object ? '}' : ']'))
		return close_container(c);
	if (*c->p != ',')
		return STATE_BAD;
	c->p++;
	return object ? STATE_KEY : STATE_VALUE;
}

int scan_check(struct sv text, size_t *ret_at)
{
	struct check c;
	enum state state = STATE_VALUE;

	c.p = text.n ? text.p : "";
	c.end = c.p + text.n;
	c.depth = 0;
	const char *start = c.p;
	while (state < STATE_DONE) {
		if (state == STATE_VALUE)
			state = check_value(&c);
		else if (state == STATE_KEY)
			state = check_key(&c);
		else
			state = check_after(&c);
	}
	if (state == STATE_DONE)
		return 0;
	if (ret_at)
		*ret_at = (size_t)(c.p - start);
	return state == STATE_DEEP ? ERR_LIMIT : ERR_INPUT;
}
