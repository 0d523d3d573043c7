#include "json/write.h"

#include <assert.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "json/text.h"

/* ---- escaping ---- */

static char short_escape(unsigned char c)
{
	switch (c) {
	case '"':
	case '\\':
		return (char)c;
	case '\b':
		return 'b';
	case '\f':
		return 'f';
	case '\n':
		return 'n';
	case '\r':
		return 'r';
	case '\t':
		return 't';
	default:
		return '\0';
	}
}

/* A character that cannot stand for itself, or a byte that is none. */
static void add_changed(struct str *out, unsigned char c)
{
	static const char digits[] = "0123456789abcdef";
	char brief = short_escape(c);

	if (c >= 0x80) {
		str_add(out, SV("\xEF\xBF\xBD"));
	} else if (brief) {
		const char pair[2] = { '\\', brief };
		str_add(out, sv_make(pair, sizeof(pair)));
	} else {
		const char full[6] = { '\\', 'u', '0', '0', digits[c >> 4], digits[c & 15] };
		str_add(out, sv_make(full, sizeof(full)));
	}
}

/* Length of the character at p when it can stand for itself, else 0. */
static size_t plain_character(const char *p, const char *end)
{
	unsigned char c = (unsigned char)*p;

	if (c >= 0x80)
		return json_utf8_sequence(p, end);
	return c >= 0x20 && c != '"' && c != '\\';
}

static const char *skip_plain(const char *p, const char *end)
{
	while (p < end) {
		size_t n = end - p >= JSON_WORD ? json_plain_bytes(p) : 0;
		if (n == 0)
			n = plain_character(p, end);
		if (n == 0)
			break;
		p += n;
	}
	return p;
}

void json_escape(struct str *out, struct sv s)
{
	if (s.n == 0)
		return;
	const char *p = s.p, *end = s.p + s.n;
	while (p < end) {
		const char *run = p;
		p = skip_plain(p, end);
		str_add(out, sv_make(run, (size_t)(p - run)));
		if (p < end)
			add_changed(out, (unsigned char)*p++);
	}
}

void json_quote(struct str *out, struct sv s)
{
	str_addc(out, '"');
	json_escape(out, s);
	str_addc(out, '"');
}

/* ---- structure ---- */

static bool in_object(const struct jw *w)
{
	return w->depth && (w->objects >> (w->depth - 1) & 1);
}

/* Before every value: its comma, unless a key has brought it. */
static void begin(struct jw *w)
{
	assert(w->keyed || !in_object(w));
	if (w->comma && !w->keyed)
		str_addc(w->out, ',');
	w->keyed = false;
	w->comma = true;
}

static void open_container(struct jw *w, bool object)
{
	begin(w);
	assert(w->depth < JW_DEPTH_MAX);
	uint64_t bit = UINT64_C(1) << w->depth++;
	w->objects = object ? w->objects | bit : w->objects & ~bit;
	w->comma = false;
	str_addc(w->out, object ? '{' : '[');
}

void jw_object(struct jw *w)
{
	open_container(w, true);
}

void jw_array(struct jw *w)
{
	open_container(w, false);
}

void jw_end(struct jw *w)
{
	assert(w->depth > 0 && !w->keyed);
	str_addc(w->out, in_object(w) ? '}' : ']');
	w->depth--;
	w->comma = true;
}

void jw_key(struct jw *w, const char *key)
{
	assert(in_object(w) && !w->keyed);
	if (w->comma)
		str_addc(w->out, ',');
	json_quote(w->out, sv_of(key));
	str_addc(w->out, ':');
	w->keyed = true;
}

/* ---- values ---- */

void jw_string(struct jw *w, struct sv s)
{
	begin(w);
	json_quote(w->out, s);
}

void jw_i64(struct jw *w, int64_t v)
{
	begin(w);
	str_addf(w->out, "%" PRId64, v);
}

/* The C locale needs no memory, so it is not freed; the thread's own is put back. */
static void shortest(double v, char *out, size_t size)
{
	locale_t old = uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));

	/* Whole numbers are read by people too: 300, not 3e+02. */
	bool whole = v == trunc(v) && fabs(v) < 1e15;
	for (int digits = whole ? 15 : 1; digits <= 17; digits++) {
		(void)snprintf(out, size, "%.*g", digits, v);
		if (strtod(out, NULL) == v)
			break;
	}
	(void)uselocale(old);
}

void jw_double(struct jw *w, double v)
{
	char text[40];

	if (!isfinite(v)) {
		jw_null(w);
		return;
	}
	begin(w);
	shortest(v, text, sizeof(text));
	str_adds(w->out, text);
}

void jw_bool(struct jw *w, bool v)
{
	jw_raw(w, v ? SV("true") : SV("false"));
}

void jw_null(struct jw *w)
{
	jw_raw(w, SV("null"));
}

void jw_raw(struct jw *w, struct sv json)
{
	begin(w);
	str_add(w->out, json);
}

/* ---- members ---- */

void jw_put_string(struct jw *w, const char *key, struct sv s)
{
	jw_key(w, key);
	jw_string(w, s);
}

void jw_put_cstr(struct jw *w, const char *key, const char *s)
{
	jw_key(w, key);
	if (s)
		jw_string(w, sv_of(s));
	else
		jw_null(w);
}

void jw_put_i64(struct jw *w, const char *key, int64_t v)
{
	jw_key(w, key);
	jw_i64(w, v);
}

void jw_put_double(struct jw *w, const char *key, double v)
{
	jw_key(w, key);
	jw_double(w, v);
}

void jw_put_bool(struct jw *w, const char *key, bool v)
{
	jw_key(w, key);
	jw_bool(w, v);
}

void jw_put_raw(struct jw *w, const char *key, struct sv json)
{
	jw_key(w, key);
	jw_raw(w, json);
}
