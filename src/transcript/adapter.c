/*
 * What adapters share: lines to records, small readings of values, and user messages that no user
 * wrote.
 */
#include "transcript/adapter.h"

#include <string.h>

#include "base/err.h"

/* ---- records ---- */

/* A writer that died in mid-line leaves a line without its newline, and the next one goes on behind
 * it: so one line may hold several objects, or half of one and a whole. */

static struct sv skip_mark(struct sv text)
{
	return sv_starts(text, SV("\xef\xbb\xbf")) ? sv_from(text, 3) : text;
}

int record_keys(struct sv text, const struct scan_key *keys, size_t n, struct jval *vals)
{
	if (text.n == 0 || text.p[0] != '{' || scan_keys(text, keys, n, vals) < 0)
		return ERR_INPUT;
	return 0;
}

/* The object that *rest begins with. */
static bool split(struct sv *rest, struct sv *ret)
{
	if (rest->n == 0 || rest->p[0] != '{')
		return false;
	struct scan_iter it = scan_iter((struct jval){ *rest, J_OBJECT });
	const char *end = it.p;
	struct jval val;
	int r;
	while ((r = scan_next(&it, NULL, &val)) > 0)
		end = it.p;
	if (r < 0)
		return false;
	/* Only blanks stand between the last member and the bracket. */
	end = memchr(end, '}', rest->n - (size_t)(end - rest->p));
	size_t n = (size_t)(end - rest->p) + 1;
	*ret = sv_head(*rest, n);
	*rest = sv_trim(sv_from(*rest, n));
	return true;
}

void record_each(struct sv line, const struct record_fns *fns, void *data)
{
	struct sv rest = sv_trim(skip_mark(line));

	if (line.n > 0 && memchr(line.p, '\0', line.n)) {
		if (fns->broken)
			fns->broken(data, line);
		return;
	}
	if (rest.n == 0 || fns->take(data, rest) == 0)
		return;
	struct sv object;
	while (split(&rest, &object))
		if (fns->take(data, object) < 0 && fns->broken)
			fns->broken(data, object);
	if (rest.n > 0 && fns->broken)
		fns->broken(data, rest);
}

/* ---- values ---- */

/* How many raw bytes the character or escape at p takes; a surrogate pair counts as one. */
static size_t step(const char *p, size_t n)
{
	if (p[0] != '\\')
		return 1;
	if (n < 2 || p[1] != 'u')
		return 2;
	bool high = n >= 12 && (p[2] | 0x20) == 'd' &&
		(p[3] == '8' || p[3] == '9' || (p[3] | 0x20) == 'a' || (p[3] | 0x20) == 'b');
	return high && p[6] == '\\' ? 12 : 6;
}

void value_head(struct jval val, size_t max_raw, struct str *out)
{
	struct sv inner = scan_inner(val);

	if (inner.n <= max_raw) {
		(void)scan_string(val, out);
		return;
	}
	size_t n = 0;
	for (;;) {
		size_t more = step(inner.p + n, inner.n - n);
		if (n + more > max_raw)
			break;
		n += more;
	}
	/* A character of several bytes may be cut: its first bytes would become U+FFFD. */
	while (n > 0 && ((unsigned char)inner.p[n] & 0xc0) == 0x80)
		n--;
	AUTO_STR cut = STR_INIT;
	str_addc(&cut, '"');
	str_add(&cut, sv_head(inner, n));
	str_addc(&cut, '"');
	(void)scan_string((struct jval){ str_sv(&cut), J_STRING }, out);
}

bool value_is_type(struct jval block, const char *name)
{
	return scan_string_eq(line_member(block, "type"), sv_of(name));
}

int64_t value_tokens(struct jval val)
{
	int64_t n;

	if (!scan_i64(val, &n) || n < 0)
		return 0;
	/* Sums of three must not overflow. */
	return n > INT64_MAX / 4 ? INT64_MAX / 4 : n;
}

/* ---- texts that programs put in ---- */

/* A tag matches when '>' or a blank follows it. */
static bool has_tag(struct sv text, const char *tag)
{
	if (text.n == 0 || text.p[0] != '<')
		return false;
	text = sv_from(text, 1);
	struct sv name = sv_of(tag);
	if (!sv_starts(text, name) || text.n == name.n)
		return false;
	char next = text.p[name.n];
	return next == '>' || next == ' ' || next == '\n';
}

bool transcript_injected(const struct transcript_format *format, struct sv text)
{
	text = sv_trim(text);
	for (const char *const *t = format->injected_tags; *t; t++)
		if (has_tag(text, *t))
			return true;
	for (const char *const *w = format->injected_words; *w; w++)
		if (sv_starts(text, sv_of(*w)))
			return true;
	return false;
}

bool transcript_interrupts(const struct transcript_format *format, struct sv text)
{
	return format->interrupted && sv_starts(sv_trim(text), sv_of(format->interrupted));
}

bool transcript_answers(const struct transcript_format *format, const struct item *item)
{
	return item->kind == ITEM_TOOL_CALL && format->answer_tool &&
		sv_is(item->tool, format->answer_tool);
}

enum { WRAPPER_RAW_MAX = 512 }; /* blanks, and the longest beginning, escaped */

bool transcript_spilled(
	const struct transcript_format *format, const struct item *item, struct str *out)
{
	return format->spilled && item->kind == ITEM_TOOL_RESULT && format->spilled(item, out);
}

bool transcript_in_hand(
	const struct transcript_format *format, const struct item *item, struct str *out)
{
	struct jval words = { .type = J_NONE };

	if (format->in_hand && item->kind == ITEM_META)
		words = format->in_hand(item);
	return words.type == J_STRING && scan_string(words, out);
}

void transcript_typed(const struct transcript_format *format, struct sv text, struct str *out)
{
	if (!format->typed || !format->typed(text, out))
		str_add(out, text);
}

bool value_injected(const struct transcript_format *format, struct jval text, struct str *tmp)
{
	str_clear(tmp);
	value_head(text, WRAPPER_RAW_MAX, tmp);
	return transcript_injected(format, str_sv(tmp));
}
