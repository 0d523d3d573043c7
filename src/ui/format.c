#include "ui/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/utf8.h"

enum { MS_PER_S = 1000, NAME_MAX_SHOWN = 40, SIZE_STEP = 1000, DIGITS_GROUP = 3 };

/* ---- numbers ---- */

void size_format(uint64_t bytes, char out[static SIZE_TEXT_MAX])
{
	static const char *const units[] = { "kB", "MB", "GB", "TB", "PB", "EB" };
	double value = (double)bytes / SIZE_STEP;
	size_t unit = 0;

	if (bytes < SIZE_STEP) {
		(void)snprintf(out, SIZE_TEXT_MAX, "%" PRIu64 " B", bytes);
		return;
	}
	/* What would be rounded to 1000 is 1.0 of the next unit. */
	while (value >= SIZE_STEP - 0.5 && unit + 1 < ARRAY_LEN(units)) {
		value /= SIZE_STEP;
		unit++;
	}
	(void)snprintf(
		out, SIZE_TEXT_MAX, value < 9.95 ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

void size_format_count(int64_t n, char out[static SIZE_TEXT_MAX])
{
	char digits[SIZE_TEXT_MAX];
	uint64_t magnitude = n < 0 ? -(uint64_t)n : (uint64_t)n;
	size_t len = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, magnitude);
	size_t at = 0;

	if (n < 0)
		out[at++] = '-';
	for (size_t i = 0; i < len; i++) {
		if (i && (len - i) % DIGITS_GROUP == 0)
			out[at++] = ',';
		out[at++] = digits[i];
	}
	out[at] = '\0';
}

/* ---- the user's format ---- */

struct style_name {
	const char *name;
	enum format_style style;
	enum format_kind kind;
};

static const struct style_name styles[] = {
	{ "local", FORMAT_LOCAL, FORMAT_TIME },
	{ "iso", FORMAT_ISO, FORMAT_TIME },
	{ "ago", FORMAT_AGO, FORMAT_TIME },
	{ "unix", FORMAT_UNIX, FORMAT_TIME },
	{ "raw", FORMAT_PLAIN, FORMAT_SIZE },
	{ "human", FORMAT_HUMAN, FORMAT_SIZE },
	{ "raw", FORMAT_PLAIN, FORMAT_NUMBER },
	{ "human", FORMAT_HUMAN, FORMAT_NUMBER },
};

static struct sv shown(struct sv s)
{
	return utf8_cut(s, NAME_MAX_SHOWN);
}

static int unknown_field(const struct format *f, struct sv name, struct err *reterr)
{
	AUTO_STR known = STR_INIT;
	AUTO_STR clean = STR_INIT;

	for (size_t i = 0; i < f->n; i++)
		str_addf(&known, "%s%s", i ? ", " : "", f->fields[i].name);
	utf8_scrub_line(&clean, shown(name));
	return err_set(
		reterr, ERR_USAGE, "format: no field \"%s\"; there are: %s", clean.buf, known.buf);
}

static int unknown_option(enum format_kind kind, struct sv option, struct err *reterr)
{
	AUTO_STR known = STR_INIT;
	AUTO_STR clean = STR_INIT;

	for (size_t i = 0; i < ARRAY_LEN(styles); i++)
		if (styles[i].kind == kind)
			str_addf(&known, "%s, ", styles[i].name);
	utf8_scrub_line(&clean, shown(option));
	return err_set(reterr, ERR_USAGE,
		"format: \"%s\" is not one of: %sor a width such as 20, >20 or .20", clean.buf,
		known.buf);
}

/* Digits at the front of *s, at most FORMAT_WIDTH_MAX. */
static bool cut_number(struct sv *s, size_t *ret)
{
	size_t n = 0;

	for (; s->n && s->p[0] >= '0' && s->p[0] <= '9'; *s = sv_from(*s, 1)) {
		n = n * 10 + (size_t)(s->p[0] - '0');
		if (n > FORMAT_WIDTH_MAX)
			return false;
	}
	*ret = n;
	return true;
}

/* "[<>][width][.most]" */
static bool parse_width(struct format_part *part, struct sv s)
{
	bool aligned = s.n && (s.p[0] == '<' || s.p[0] == '>');

	if (aligned)
		part->right = s.p[0] == '>';
	s = sv_from(s, aligned);
	size_t before = s.n;
	if (!cut_number(&s, &part->width))
		return false;
	bool any = s.n < before;
	if (s.n && s.p[0] == '.') {
		s = sv_from(s, 1);
		any = s.n > 0;
		if (!cut_number(&s, &part->most) || !part->most)
			return false;
	}
	return any && !s.n;
}

static bool parse_style(struct format_part *part, enum format_kind kind, struct sv s)
{
	for (size_t i = 0; i < ARRAY_LEN(styles); i++) {
		if (styles[i].kind == kind && sv_is(s, styles[i].name)) {
			part->style = styles[i].style;
			return true;
		}
	}
	return false;
}

static int parse_field(struct format *f, struct sv inside, struct err *reterr)
{
	struct sv name = SV("");
	struct sv option;
	struct format_part part = { .field = f->n };

	(void)sv_split(&inside, ':', &name);
	for (size_t i = 0; i < f->n; i++)
		if (sv_is(name, f->fields[i].name))
			part.field = i;
	if (part.field == f->n)
		return unknown_field(f, name, reterr);
	enum format_kind kind = f->fields[part.field].kind;
	part.right = kind == FORMAT_NUMBER || kind == FORMAT_SIZE;
	part.style = kind == FORMAT_TIME ? FORMAT_LOCAL : FORMAT_PLAIN;
	while (sv_split(&inside, ':', &option))
		if (!parse_style(&part, kind, option) && !parse_width(&part, option))
			return unknown_option(kind, option, reterr);
	vec_push(&f->parts, part);
	return 0;
}

static void end_literal(struct format *f, struct str *literal)
{
	if (literal->len)
		vec_push(&f->parts, (struct format_part){ .literal = str_detach(literal) });
}

static int parse_brace(struct format *f, struct sv *rest, struct str *literal, struct err *reterr)
{
	char brace = rest->p[0];

	if (rest->n > 1 && rest->p[1] == brace) {
		str_addc(literal, brace);
		*rest = sv_from(*rest, 2);
		return 0;
	}
	if (brace == '}')
		return err_set(reterr, ERR_USAGE, "format: a '}' alone is written '}}'");
	const char *close = memchr(rest->p, '}', rest->n);
	if (!close)
		return err_set(
			reterr, ERR_USAGE, "format: '{' without '}'; a '{' alone is written '{{'");
	end_literal(f, literal);
	size_t n = (size_t)(close - rest->p);
	int r = parse_field(f, sv_make(rest->p + 1, n - 1), reterr);
	*rest = sv_from(*rest, n + 1);
	return r;
}

int format_parse(struct format *f, struct sv text, const struct format_field *fields, size_t n,
	struct err *reterr)
{
	AUTO_STR literal = STR_INIT;
	int r = 0;

	*f = (struct format){ .fields = fields, .n = n, .parts = VEC_INIT };
	if (text.n > FORMAT_MAX)
		return err_set(reterr, ERR_USAGE, "format: longer than %d bytes", FORMAT_MAX);
	while (text.n && r == 0) {
		char c = text.n > 1 ? text.p[1] : '\0';
		switch (text.p[0]) {
		case '\\':
			if (c != 't' && c != 'n' && c != '\\')
				r = err_set(reterr, ERR_USAGE,
					"format: a backslash is followed by t, n or another one");
			str_addc(&literal, c == 't' ? '\t' : c == 'n' ? '\n' : '\\');
			text = sv_from(text, 2);
			break;
		case '{':
		case '}':
			r = parse_brace(f, &text, &literal, reterr);
			break;
		default:
			str_addc(&literal, text.p[0]);
			text = sv_from(text, 1);
		}
	}
	end_literal(f, &literal);
	if (r < 0)
		format_release(f);
	return r;
}

void format_release(struct format *f)
{
	vec_each (&f->parts, part)
		free(part->literal);
	vec_release(&f->parts);
}

/* ---- writing ---- */

static void add_value(struct str *out, enum format_kind kind, enum format_style style,
	const union format_value *value, int64_t now_ms)
{
	_Static_assert((int)CLOCK_TEXT_MAX >= (int)SIZE_TEXT_MAX, "one buffer for both");
	char text[CLOCK_TEXT_MAX] = "";
	int64_t n = kind == FORMAT_TEXT ? 0 : value->number;

	if (kind == FORMAT_TEXT)
		utf8_scrub_line(out, value->text);
	else if (kind == FORMAT_TIME && n == 0)
		return;
	else if (style == FORMAT_ISO)
		clock_format_iso(n, text);
	else if (style == FORMAT_AGO)
		clock_format_ago(now_ms - n, text);
	else if (style == FORMAT_LOCAL)
		clock_format_local(n, text);
	else if (style == FORMAT_HUMAN && kind == FORMAT_SIZE)
		size_format(n < 0 ? 0 : (uint64_t)n, text);
	else if (style == FORMAT_HUMAN)
		size_format_count(n, text);
	else
		(void)snprintf(
			text, sizeof(text), "%" PRId64, style == FORMAT_UNIX ? n / MS_PER_S : n);
	str_adds(out, text);
}

static void add_padded(struct str *out, const struct format_part *part, struct sv text)
{
	AUTO_STR cut = STR_INIT;

	if (part->most)
		utf8_fit(&cut, text, part->most);
	else
		str_add(&cut, text);
	size_t width = utf8_width(str_sv(&cut));
	size_t pad = part->width > width ? part->width - width : 0;
	if (!part->right)
		str_add(out, str_sv(&cut));
	for (size_t i = 0; i < pad; i++)
		str_addc(out, ' ');
	if (part->right)
		str_add(out, str_sv(&cut));
}

void format_row(
	const struct format *f, const union format_value *values, int64_t now_ms, struct str *out)
{
	for (size_t i = 0; i < f->parts.n; i++) {
		const struct format_part *part = &f->parts.v[i];
		AUTO_STR text = STR_INIT;
		if (part->literal) {
			str_adds(out, part->literal);
			continue;
		}
		add_value(&text, f->fields[part->field].kind, part->style, &values[part->field],
			now_ms);
		add_padded(out, part, str_sv(&text));
	}
	str_addc(out, '\n');
}
