#include "view/html.h"

#include "base/utf8.h"
#include "ui/markdown-span.h"
#include "ui/markdown.h"

enum {
	BLOCKS_MAX = 8, /* blocks within blocks; deeper ones are text */
	COLUMNS_MAX = 64,
	HEADING_MAX = 6,
	HEADING_TOP = 3, /* what "#" becomes */
	FENCE_MIN = 3,
	RULE_MIN = 3,
	DIGITS_MAX = 9,
};

void html_text(struct str *out, struct sv text)
{
	size_t from = 0;

	for (size_t i = 0; i < text.n; i++) {
		const char *ref;
		switch (text.p[i]) {
		case '&':
			ref = "&amp;";
			break;
		case '<':
			ref = "&lt;";
			break;
		case '>':
			ref = "&gt;";
			break;
		case '"':
			ref = "&quot;";
			break;
		case '\'':
			ref = "&#39;";
			break;
		default:
			continue;
		}
		str_add(out, sv_make(text.p + from, i - from));
		str_adds(out, ref);
		from = i + 1;
	}
	str_add(out, sv_from(text, from));
}

/* ---- within a line ---- */

static void add_spans(struct str *out, struct sv s, int depth);

static bool may_be_followed(struct sv url)
{
	static const char *const begins[] = { "https://", "http://", "mailto:" };

	for (size_t i = 0; i < ARRAY_LEN(begins); i++)
		if (sv_starts(url, sv_of(begins[i])))
			return true;
	return false;
}

static void add_link(struct str *out, const struct span *span, int depth)
{
	if (!may_be_followed(span->url)) {
		add_spans(out, span->inner, depth + 1);
		if (sv_eq(span->inner, span->url) || span->url.n == 0)
			return;
		str_adds(out, " (");
		html_text(out, span->url);
		str_addc(out, ')');
		return;
	}
	str_adds(out, "<a rel=\"noopener noreferrer\" href=\"");
	html_text(out, span->url);
	str_adds(out, "\">");
	/* A link within a link would end it. */
	html_text(out, span->inner.n > 0 ? span->inner : span->url);
	str_adds(out, "</a>");
}

static void add_span(struct str *out, const struct span *span, int depth)
{
	static const struct {
		const char *open, *close;
	} tags[] = {
		[SPAN_CODE] = { "<code>", "</code>" },
		[SPAN_EMPHASIS] = { "<em>", "</em>" },
		[SPAN_STRONG] = { "<strong>", "</strong>" },
		[SPAN_BOTH] = { "<strong><em>", "</em></strong>" },
	};

	switch (span->kind) {
	case SPAN_TEXT:
		html_text(out, span->inner);
		break;
	case SPAN_LINK:
		add_link(out, span, depth);
		break;
	case SPAN_CODE:
		str_adds(out, tags[SPAN_CODE].open);
		html_text(out, span->inner);
		str_adds(out, tags[SPAN_CODE].close);
		break;
	case SPAN_EMPHASIS:
	case SPAN_STRONG:
	case SPAN_BOTH:
		str_adds(out, tags[span->kind].open);
		add_spans(out, span->inner, depth + 1);
		str_adds(out, tags[span->kind].close);
		break;
	}
}

static void add_spans(struct str *out, struct sv s, int depth)
{
	uint32_t before = 0;

	while (s.n > 0 && depth <= MARKDOWN_DEPTH_MAX) {
		struct span span;
		size_t n = span_next(s, true, before, &span);
		add_span(out, &span, depth);
		before = (unsigned char)s.p[n - 1];
		s = sv_from(s, n);
	}
	html_text(out, s);
}

/* ---- what a line is ---- */

static size_t run_of(struct sv s, char c)
{
	size_t n = 0;

	while (n < s.n && s.p[n] == c)
		n++;
	return n;
}

/* Columns of the indent, and what is behind it. */
static size_t indent_of(struct sv line, struct sv *ret_rest)
{
	size_t i = 0, columns = 0;

	for (; i < line.n && markdown_is_blank(line.p[i]); i++)
		columns += line.p[i] == '\t' ? MARKDOWN_CODE_INDENT : 1;
	*ret_rest = sv_from(line, i);
	return columns;
}

static bool is_blank(struct sv line)
{
	return sv_trim(line).n == 0;
}

static size_t heading_level(struct sv rest)
{
	size_t n = run_of(rest, '#');

	return n > 0 && n <= HEADING_MAX && (n == rest.n || markdown_is_blank(rest.p[n])) ? n : 0;
}

static bool is_rule(struct sv rest)
{
	size_t marks = 0;

	if (rest.n == 0 || !strchr("-*_", rest.p[0]))
		return false;
	for (size_t i = 0; i < rest.n; i++) {
		if (rest.p[i] == rest.p[0])
			marks++;
		else if (!markdown_is_blank(rest.p[i]) && rest.p[i] != '\r')
			return false;
	}
	return marks >= RULE_MIN;
}

/* The length of the fence that opens a code block. */
static size_t fence_of(struct sv rest)
{
	size_t n =
		rest.n > 0 && (rest.p[0] == '`' || rest.p[0] == '~') ? run_of(rest, rest.p[0]) : 0;

	if (n < FENCE_MIN || (rest.p[0] == '`' && memchr(rest.p + n, '`', rest.n - n)))
		return 0;
	return n;
}

/* Bytes of the mark of a list's item with the blank behind it; *ret_number is -1 for a bullet. */
static size_t item_mark(struct sv rest, long long *ret_number)
{
	size_t n = 0;

	*ret_number = -1;
	if (rest.n > 1 && strchr("-*+", rest.p[0]) && markdown_is_blank(rest.p[1]))
		return is_rule(rest) ? 0 : 2;
	while (n < rest.n && n <= DIGITS_MAX && rest.p[n] >= '0' && rest.p[n] <= '9')
		n++;
	if (n == 0 || n > DIGITS_MAX || n + 1 >= rest.n || (rest.p[n] != '.' && rest.p[n] != ')') ||
		!markdown_is_blank(rest.p[n + 1]))
		return 0;
	(void)sv_parse_i64(sv_head(rest, n), ret_number);
	return n + 2;
}

static bool is_table_line(struct sv rest)
{
	return rest.n > 1 && rest.p[0] == '|';
}

static bool is_delimiter_line(struct sv line)
{
	struct sv rest = sv_trim(line);
	bool dash = false;

	if (!is_table_line(rest))
		return false;
	for (size_t i = 0; i < rest.n; i++) {
		if (!strchr("|:- ", rest.p[i]))
			return false;
		dash |= rest.p[i] == '-';
	}
	return dash;
}

static bool begins_block(struct sv line)
{
	struct sv rest;
	long long number;

	(void)indent_of(line, &rest);
	return heading_level(rest) || is_rule(rest) || fence_of(rest) || is_table_line(rest) ||
		item_mark(rest, &number) > 0 || sv_starts(rest, SV(">"));
}

/* ---- blocks ---- */

static void add_blocks(struct str *out, struct sv text, unsigned depth, bool tight);

static struct sv peek(struct sv text)
{
	struct sv line = SV("");

	(void)sv_split(&text, '\n', &line);
	return line;
}

static void add_fenced(
	struct str *out, struct sv *text, size_t indent, struct sv open, size_t ticks)
{
	struct sv line, rest;

	str_adds(out, "<pre><code>");
	while (sv_split(text, '\n', &line)) {
		size_t drop = 0;
		(void)indent_of(line, &rest);
		if (rest.n > 0 && rest.p[0] == open.p[0] && run_of(rest, open.p[0]) >= ticks &&
			is_blank(sv_from(rest, run_of(rest, open.p[0]))))
			break;
		while (drop < indent && drop < line.n && line.p[drop] == ' ')
			drop++;
		html_text(out, sv_from(line, drop));
		str_addc(out, '\n');
	}
	str_adds(out, "</code></pre>\n");
}

static struct sv next_cell(struct sv *row)
{
	size_t n = 0;

	while (n < row->n && (row->p[n] != '|' || (n > 0 && row->p[n - 1] == '\\')))
		n++;
	struct sv cell = sv_trim(sv_head(*row, n));
	*row = sv_from(*row, n + 1);
	return cell;
}

static void add_row(struct str *out, struct sv line, const char *tag, const char *align)
{
	struct sv row = sv_from(sv_trim(line), 1);
	AUTO_STR plain = STR_INIT;

	if (sv_ends(row, SV("|")) && !sv_ends(row, SV("\\|")))
		row.n--;
	str_adds(out, "<tr>");
	for (size_t i = 0; row.n > 0 && i < COLUMNS_MAX; i++) {
		struct sv cell = next_cell(&row);
		str_clear(&plain);
		for (size_t k = 0; k < cell.n; k++)
			if (cell.p[k] != '\\' || k + 1 == cell.n || cell.p[k + 1] != '|')
				str_addc(&plain, cell.p[k]);
		str_addf(out, "<%s%s>", tag,
			align[i] == 'r'		  ? " class=\"r\""
				: align[i] == 'c' ? " class=\"c\""
						  : "");
		add_spans(out, str_sv(&plain), 0);
		str_addf(out, "</%s>", tag);
	}
	str_adds(out, "</tr>\n");
}

static void add_table(struct str *out, struct sv head, struct sv *text)
{
	char align[COLUMNS_MAX + 1] = "";
	struct sv line, rest;

	(void)sv_split(text, '\n', &line);
	struct sv row = sv_from(sv_trim(line), 1);
	for (size_t i = 0; row.n > 0 && i < COLUMNS_MAX; i++) {
		struct sv cell = next_cell(&row);
		bool right = sv_ends(cell, SV(":")), left = sv_starts(cell, SV(":"));
		align[i] = right ? left ? 'c' : 'r' : 'l';
	}
	str_adds(out, "<div class=\"wide\"><table>\n<thead>");
	add_row(out, head, "th", align);
	str_adds(out, "</thead>\n<tbody>\n");
	while (text->n > 0) {
		(void)indent_of(peek(*text), &rest);
		if (!is_table_line(rest))
			break;
		(void)sv_split(text, '\n', &line);
		add_row(out, line, "td", align);
	}
	str_adds(out, "</tbody></table></div>\n");
}

static void add_quote(struct str *out, struct sv first, struct sv *text, unsigned depth)
{
	AUTO_STR inner = STR_INIT;
	struct sv line = first, rest;

	for (;;) {
		(void)indent_of(line, &rest);
		rest = sv_from(rest, rest.n > 1 && rest.p[1] == ' ' ? 2 : 1);
		str_add(&inner, rest);
		str_addc(&inner, '\n');
		(void)indent_of(peek(*text), &rest);
		if (text->n == 0 || !sv_starts(rest, SV(">")))
			break;
		(void)sv_split(text, '\n', &line);
	}
	str_adds(out, "<blockquote>");
	add_blocks(out, str_sv(&inner), depth + 1, false);
	str_adds(out, "</blockquote>\n");
}

/* The lines of one item: those that are further in, blank ones between them, and text that goes on
 * at the margin. */
static bool take_item(
	struct str *inner, struct sv first, size_t content, struct sv *text, bool *ret_gap)
{
	struct sv line, rest;
	bool gap = false;

	str_add(inner, first);
	str_addc(inner, '\n');
	while (text->n > 0) {
		line = peek(*text);
		size_t indent = indent_of(line, &rest), drop = 0;
		bool blank = rest.n == 0 || is_blank(rest);
		if (!blank && indent < content && (gap || begins_block(line)))
			break;
		(void)sv_split(text, '\n', &line);
		if (blank) {
			gap = true;
			continue;
		}
		if (gap)
			str_addc(inner, '\n');
		*ret_gap |= gap;
		gap = false;
		while (drop < content && drop < line.n && line.p[drop] == ' ')
			drop++;
		str_add(inner, drop < line.n && line.p[drop] == '\t' ? rest : sv_from(line, drop));
		str_addc(inner, '\n');
	}
	return gap;
}

static void add_list(struct str *out, struct sv first, struct sv *text, unsigned depth)
{
	struct sv line = first, rest;
	long long number = -1, begin = -1;
	size_t base = indent_of(line, &rest);

	(void)item_mark(rest, &begin);
	if (begin >= 0 && begin != 1)
		str_addf(out, "<ol start=\"%lld\">\n", begin);
	else
		str_adds(out, begin >= 0 ? "<ol>\n" : "<ul>\n");
	for (;;) {
		AUTO_STR inner = STR_INIT;
		bool loose = false;
		size_t mark = item_mark(rest, &number);
		(void)take_item(&inner, sv_from(rest, mark), base + mark, text, &loose);
		str_adds(out, "<li>");
		add_blocks(out, str_sv(&inner), depth + 1, !loose);
		str_adds(out, "</li>\n");
		size_t indent = indent_of(peek(*text), &rest);
		if (text->n == 0 || item_mark(rest, &number) == 0 ||
			(number >= 0) != (begin >= 0) || indent + 1 < base)
			break;
		(void)sv_split(text, '\n', &line);
		(void)indent_of(line, &rest);
	}
	str_adds(out, begin >= 0 ? "</ol>\n" : "</ul>\n");
}

static void add_paragraph(struct str *out, struct sv first, struct sv *text, bool tight)
{
	struct sv line = first, rest;
	bool more;

	str_adds(out, tight ? "" : "<p>");
	do {
		(void)indent_of(line, &rest);
		add_spans(out, sv_trim(rest), 0);
		more = text->n > 0 && !is_blank(peek(*text)) && !begins_block(peek(*text));
		if (more) {
			str_adds(out, "<br>\n");
			(void)sv_split(text, '\n', &line);
		}
	} while (more);
	str_adds(out, tight ? "\n" : "</p>\n");
}

static void add_heading(struct str *out, struct sv rest, size_t level)
{
	struct sv text = sv_trim(sv_from(rest, level));
	size_t tag = level + HEADING_TOP - 1 < HEADING_MAX ? level + HEADING_TOP - 1 : HEADING_MAX;

	while (text.n > 0 && text.p[text.n - 1] == '#')
		text.n--;
	str_addf(out, "<h%zu>", tag);
	add_spans(out, sv_trim(text), 0);
	str_addf(out, "</h%zu>\n", tag);
}

static void add_blocks(struct str *out, struct sv text, unsigned depth, bool tight)
{
	struct sv line, rest;
	long long number;

	if (depth > BLOCKS_MAX) {
		html_text(out, text);
		return;
	}
	while (sv_split(&text, '\n', &line)) {
		size_t indent = indent_of(line, &rest), level = heading_level(rest);
		if (is_blank(rest))
			continue;
		if (level > 0)
			add_heading(out, rest, level);
		else if (fence_of(rest))
			add_fenced(out, &text, indent, rest, fence_of(rest));
		else if (is_rule(rest))
			str_adds(out, "<hr>\n");
		else if (rest.p[0] == '>')
			add_quote(out, line, &text, depth);
		else if (item_mark(rest, &number) > 0)
			add_list(out, line, &text, depth);
		else if (is_table_line(rest) && is_delimiter_line(peek(text)))
			add_table(out, line, &text);
		else
			add_paragraph(out, line, &text, tight);
	}
}

void html_markdown(struct str *out, struct sv text)
{
	add_blocks(out, text, 0, false);
}
