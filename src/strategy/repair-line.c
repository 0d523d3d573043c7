#include "strategy/repair-line.h"

#include <string.h>

#include "strategy/line.h"
#include "json/scan.h"

/* Places where an entry may begin again behind a torn one. More than a few cannot be honest. */
enum { BURIED_TRIES = 64 };

void mended_release(struct mended *m)
{
	str_release(&m->buf);
	vec_release(&m->parts);
}

bool line_is_low(struct sv text)
{
	for (size_t i = 0; i < text.n; i++)
		if ((unsigned char)text.p[i] < ' ')
			return true;
	return false;
}

/* ---- control characters ---- */

static struct sv strip(struct sv s)
{
	while (s.n > 0 && (s.p[0] == '\0' || s.p[0] == ' ' || s.p[0] == '\t' || s.p[0] == '\r'))
		s = sv_from(s, 1);
	while (s.n > 0 && (s.p[s.n - 1] == '\0' || strchr(" \t\r", s.p[s.n - 1])))
		s.n--;
	return s;
}

/* Copies text: control characters inside strings escaped, NULs elsewhere left out. Returns the
 * damage that was seen. */
static unsigned escape_controls(struct str *out, struct sv text)
{
	unsigned damage = 0;
	bool string = false;
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];
		if (c == '\\' && string && i + 1 < text.n) {
			/* A block that was lost may begin in mid-escape. */
			if ((unsigned char)text.p[i + 1] >= ' ')
				str_add(out, sv_make(text.p + i++, 2));
			continue;
		}
		if (c == '"')
			string = !string;
		if ((unsigned char)c >= ' ' || (!string && c != '\0')) {
			str_addc(out, c);
			continue;
		}
		damage |= c == '\0' ? LINE_NUL : LINE_CONTROL;
		if (string)
			str_addf(out, "\\u%04x", (unsigned)c);
	}
	return damage;
}

static void drop_nuls(struct str *out, struct sv text)
{
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] != '\0')
			str_addc(out, text.p[i]);
}

static bool is_whole(struct sv text)
{
	struct jval val;
	return scan_text(text, &val) == 0;
}

/* A NUL in a string may be a character of it, or part of a block that the disk never got. */
static struct sv clean(struct mended *m, struct sv text)
{
	bool padded = memchr(text.p, '\0', text.n) != NULL;
	m->damage |= escape_controls(&m->buf, strip(text));
	if (padded)
		m->damage |= LINE_NUL;
	if (padded && !is_whole(str_sv(&m->buf))) {
		AUTO_STR rest = STR_INIT;
		drop_nuls(&rest, text);
		str_clear(&m->buf);
		m->damage |= escape_controls(&m->buf, str_sv(&rest));
	}
	return m->damage ? str_sv(&m->buf) : text;
}

/* ---- values ---- */

/* Entries have a type at the top, and a mark of their own: nested objects do not. */
static bool is_entry(struct sv text)
{
	static const struct scan_key keys[] = {
		SCAN_KEY("type", SCAN_TOP),
		SCAN_KEY("uuid", SCAN_TOP),
		SCAN_KEY("sessionId", SCAN_TOP),
		SCAN_KEY("payload", SCAN_TOP),
	};
	struct jval vals[ARRAY_LEN(keys)];
	return scan_keys(text, keys, ARRAY_LEN(keys), vals) > 0 && vals[0].type == J_STRING &&
		(vals[1].type == J_STRING || vals[2].type == J_STRING || vals[3].type == J_OBJECT);
}

/* Brackets that fit do not make an object: what stands between them must be members. */
static bool has_members(const struct transcript_format *format, struct jval val)
{
	struct jval vals[LINE_KEYS_MAX];
	return val.type != J_OBJECT || line_read(format, val.raw, vals);
}

/* The first place behind the start of text where a whole entry begins. */
static bool find_buried(struct sv text, size_t *ret_at)
{
	struct sv rest = sv_from(text, 1);
	size_t at;
	for (int tries = 0; tries < BURIED_TRIES && sv_find(rest, SV("{\""), &at); tries++) {
		struct sv from = sv_from(rest, at), after = from;
		struct jval val;
		if (scan_value(&after, &val) > 0 && is_entry(val.raw)) {
			*ret_at = (size_t)(from.p - text.p);
			return true;
		}
		rest = sv_from(from, 1);
	}
	return false;
}

static void take_value(struct mended *m, struct jval val)
{
	bool seen = m->parts.n == 0 && m->damage == 0;
	if (val.type == J_OBJECT)
		vec_push(&m->parts, (struct line_part){ val.raw, seen });
	else
		m->damage |= val.type == J_NULL ? LINE_NULL : LINE_OTHER;
}

static void take_broken(struct mended *m, struct sv *rest)
{
	size_t at = rest->n;
	bool buried = find_buried(*rest, &at);
	m->damage |= rest->p[0] == '{' || buried ? LINE_TORN : LINE_OTHER;
	m->torn = sv_head(*rest, at);
	if (buried)
		m->damage |= LINE_BURIED;
	*rest = sv_from(*rest, at);
}

static struct sv skip_mark(struct sv text)
{
	return sv_starts(text, SV("\xef\xbb\xbf")) ? sv_from(text, 3) : text;
}

void line_mend(struct mended *m, const struct transcript_format *format, struct sv text)
{
	m->damage = 0;
	m->parts.n = 0;
	m->torn = (struct sv){ NULL, 0 };
	str_clear(&m->buf);
	struct sv rest = skip_mark(text);
	if (line_is_low(rest))
		rest = clean(m, rest);
	rest = sv_trim(rest);
	if (rest.n == 0 && sv_starts(text, SV("\xef\xbb\xbf")))
		m->damage |= LINE_OTHER; /* a mark alone */
	while (rest.n > 0) {
		struct jval val;
		struct sv before = rest;
		int r = scan_value(&rest, &val);
		if (r > 0 && has_members(format, val)) {
			take_value(m, val);
		} else if (r != 0) {
			rest = before;
			take_broken(m, &rest);
		}
		rest = sv_trim(rest);
	}
	if (m->parts.n > 1)
		m->damage |= LINE_GLUED;
}
