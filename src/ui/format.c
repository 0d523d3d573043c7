#include "ui/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "ui/size.h"

enum { MS_PER_S = 1000, NAME_MAX_SHOWN = 40 };

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

/* ---- reading ---- */

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

/* "\t", "\n", "\\" at the front of *rest. */
static int parse_escape(struct sv *rest, struct str *literal, struct err *reterr)
{
	char c = rest->n > 1 ? rest->p[1] : '\0';

	switch (c) {
	case 't':
		str_addc(literal, '\t');
		break;
	case 'n':
		str_addc(literal, '\n');
		break;
	case '\\':
		str_addc(literal, '\\');
		break;
	default:
		return err_set(reterr, ERR_USAGE,
			"format: a backslash is followed by t, n or another one");
	}
	*rest = sv_from(*rest, 2);
	return 0;
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
		switch (text.p[0]) {
		case '\\':
			r = parse_escape(&text, &literal, reterr);
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

static void add_time(struct str *out, enum format_style style, int64_t ms, int64_t now_ms)
{
	char text[CLOCK_TEXT_MAX];

	if (!ms)
		return;
	if (style == FORMAT_UNIX) {
		str_addf(out, "%" PRId64, ms / MS_PER_S);
		return;
	}
	if (style == FORMAT_ISO)
		clock_format_iso(ms, text);
	else if (style == FORMAT_AGO)
		clock_format_ago(now_ms - ms, text);
	else
		clock_format_local(ms, text);
	str_adds(out, text);
}

static void add_number(struct str *out, enum format_kind kind, enum format_style style, int64_t n)
{
	char text[SIZE_TEXT_MAX];

	if (style != FORMAT_HUMAN)
		(void)snprintf(text, sizeof(text), "%" PRId64, n);
	else if (kind == FORMAT_SIZE)
		size_format(n < 0 ? 0 : (uint64_t)n, text);
	else
		size_format_count(n, text);
	str_adds(out, text);
}

static void add_value(struct str *out, const struct format *f, const struct format_part *part,
	const union format_value *value, int64_t now_ms)
{
	enum format_kind kind = f->fields[part->field].kind;

	switch (kind) {
	case FORMAT_TEXT:
		utf8_scrub_line(out, value->text);
		break;
	case FORMAT_TIME:
		add_time(out, part->style, value->number, now_ms);
		break;
	case FORMAT_NUMBER:
	case FORMAT_SIZE:
		add_number(out, kind, part->style, value->number);
		break;
	}
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
		add_value(&text, f, part, &values[part->field], now_ms);
		add_padded(out, part, str_sv(&text));
	}
	str_addc(out, '\n');
}
