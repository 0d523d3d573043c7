#include "ui/markdown-line.h"

#include "base/utf8.h"

enum {
	FENCE_MIN = 3,
	HEADING_MAX = 6,
	QUOTE_MAX = 32, /* bytes of marks; deeper quotes are text */
	RULE_MIN = 3,
	RULE_WIDTH = 40,
};

/* The marks at the beginning of a line that is being judged. */
struct head {
	struct sv rest; /* after the indent, at most what is looked at */
	size_t at; /* where rest begins in the line */
	size_t indent;
	bool ends; /* rest is all that is left of the line */
	bool whole; /* that, or more will not be waited for */
};

enum verdict {
	VERDICT_MORE,
	VERDICT_DONE,
	VERDICT_AGAIN /* a mark is taken off: judge the rest */
};

static size_t run_length(struct sv s)
{
	size_t n = 0;

	while (n < s.n && s.p[n] == s.p[0])
		n++;
	return n;
}

/* Before anything is shown: the blank line that was held back. */
static void show_gap(struct markdown *m)
{
	if (m->blank && m->shown)
		term_newline(m->term);
	m->blank = false;
	m->shown = true;
}

/* Takes `skip` bytes of mark away and begins a text line with `mark` in front of it. */
static enum verdict begin_text(
	struct markdown *m, const struct head *h, size_t skip, struct sv mark, unsigned style)
{
	AUTO_STR first = STR_INIT;
	AUTO_STR hang = STR_INIT;

	str_add(&first, str_sv(&m->prefix));
	str_add(&hang, str_sv(&m->prefix));
	for (size_t i = 0; i < h->indent; i++) {
		str_addc(&first, ' ');
		str_addc(&hang, ' ');
	}
	str_add(&first, mark);
	for (size_t i = utf8_width(mark); i > 0; i--)
		str_addc(&hang, ' ');
	show_gap(m);
	str_drop(&m->line, h->at + skip);
	wrap_begin(&m->wrap, str_sv(&first), str_sv(&hang), m->prefix.len ? STYLE_DIM : style);
	m->line_style = style;
	m->before = 0;
	m->kind = MARKDOWN_TEXT;
	return VERDICT_DONE;
}

static enum verdict begin_paragraph(struct markdown *m, const struct head *h)
{
	return begin_text(m, h, 0, SV(""), STYLE_PLAIN);
}

static enum verdict judge_heading(struct markdown *m, const struct head *h)
{
	size_t n = run_length(h->rest);

	if (n == h->rest.n && !h->whole && n <= HEADING_MAX)
		return VERDICT_MORE;
	if (n > HEADING_MAX || (n < h->rest.n && !markdown_is_blank(h->rest.p[n])))
		return begin_paragraph(m, h);
	/* Bold is the sign; without it the "#" stays. */
	size_t skip = n;
	while (m->term->colour && skip < h->rest.n && markdown_is_blank(h->rest.p[skip]))
		skip++;
	if (skip == h->rest.n && !h->whole)
		return VERDICT_MORE;
	return begin_text(m, h, m->term->colour ? skip : 0, SV(""), STYLE_BOLD);
}

static enum verdict judge_fence(struct markdown *m, const struct head *h)
{
	size_t n = run_length(h->rest);
	char mark = h->rest.p[0];

	if (n < FENCE_MIN && n < h->rest.n)
		return begin_paragraph(m, h);
	if (!h->whole)
		return VERDICT_MORE;
	if (!h->ends || n < FENCE_MIN || (mark == '`' && memchr(h->rest.p + n, '`', h->rest.n - n)))
		return begin_paragraph(m, h);
	show_gap(m);
	m->fence = mark;
	m->fence_len = n;
	m->fence_indent = h->indent;
	str_clear(&m->line);
	return VERDICT_DONE;
}

static enum verdict show_rule(struct markdown *m)
{
	size_t room = m->term->cols - 1;

	show_gap(m);
	term_style(m->term, STYLE_DIM);
	for (size_t i = 0; i < RULE_WIDTH && i < room; i++)
		term_puts(m->term, m->term->ascii ? "-" : "─");
	term_style(m->term, STYLE_PLAIN);
	term_newline(m->term);
	str_clear(&m->line);
	return VERDICT_DONE;
}

/* "- item", "* item", "+ item", or a rule of three and more of the mark. */
static enum verdict judge_bullet(struct markdown *m, const struct head *h)
{
	struct sv s = h->rest;
	size_t marks = 0;
	size_t i = 0;

	for (; i < s.n && (s.p[i] == s.p[0] || markdown_is_blank(s.p[i])); i++)
		marks += s.p[i] == s.p[0];
	if (i == s.n && !h->whole)
		return VERDICT_MORE;
	if (i == s.n && h->ends && marks >= RULE_MIN && s.p[0] != '+')
		return show_rule(m);
	if (s.n < 2 || !markdown_is_blank(s.p[1]))
		return begin_paragraph(m, h);
	return begin_text(m, h, 2, m->term->ascii ? SV("- ") : SV("• "), STYLE_PLAIN);
}

/* "1. item" or "1) item" */
static enum verdict judge_number(struct markdown *m, const struct head *h)
{
	enum { DIGITS_MAX = 9 };
	struct sv s = h->rest;
	size_t n = 0;

	while (n < s.n && n <= DIGITS_MAX && s.p[n] >= '0' && s.p[n] <= '9')
		n++;
	if (n + 2 > s.n && !h->whole && n <= DIGITS_MAX &&
		(n == s.n || s.p[n] == '.' || s.p[n] == ')'))
		return VERDICT_MORE;
	if (n > DIGITS_MAX || n + 2 > s.n || (s.p[n] != '.' && s.p[n] != ')') ||
		!markdown_is_blank(s.p[n + 1]))
		return begin_paragraph(m, h);
	char mark[DIGITS_MAX + 2];
	memcpy(mark, s.p, n + 1);
	mark[n + 1] = ' ';
	return begin_text(m, h, n + 2, sv_make(mark, n + 2), STYLE_PLAIN);
}

static enum verdict judge_quote(struct markdown *m, const struct head *h)
{
	if (h->rest.n < 2 && !h->whole)
		return VERDICT_MORE;
	if (m->prefix.len >= QUOTE_MAX)
		return begin_paragraph(m, h);
	size_t skip = h->rest.n > 1 && markdown_is_blank(h->rest.p[1]) ? 2 : 1;
	str_drop(&m->line, h->at + skip);
	str_adds(&m->prefix, m->term->ascii ? "> " : "│ ");
	return VERDICT_AGAIN;
}

static enum verdict judge_empty(struct markdown *m, const struct head *h)
{
	if (!h->whole)
		return VERDICT_MORE;
	if (m->prefix.len || !h->ends)
		return begin_paragraph(m, h);
	m->blank = true;
	str_clear(&m->line);
	return VERDICT_DONE;
}

/* In a quotation there is little room: there it stays as it is. */
static enum verdict begin_table(struct markdown *m)
{
	show_gap(m);
	m->kind = m->prefix.len ? MARKDOWN_RAW : MARKDOWN_TABLE;
	return VERDICT_DONE;
}

static enum verdict judge(struct markdown *m, const struct head *h)
{
	if (!h->rest.n)
		return judge_empty(m, h);
	switch (h->rest.p[0]) {
	case '#':
		return judge_heading(m, h);
	case '`':
	case '~':
		return judge_fence(m, h);
	case '-':
	case '*':
	case '+':
		return judge_bullet(m, h);
	case '>':
		return judge_quote(m, h);
	case '|':
		return begin_table(m);
	default:
		return h->rest.p[0] >= '0' && h->rest.p[0] <= '9' ? judge_number(m, h)
								  : begin_paragraph(m, h);
	}
}

/* Judged by the first MARKDOWN_MARK_MAX bytes alone, so that no line waits for ever. */
static struct head head_of(struct sv line, bool whole)
{
	bool full = line.n >= MARKDOWN_MARK_MAX;
	struct sv seen = sv_head(line, MARKDOWN_MARK_MAX);
	struct head h = { .ends = whole && !full, .whole = whole || full };

	for (; h.at < seen.n && markdown_is_blank(seen.p[h.at]); h.at++)
		h.indent += seen.p[h.at] == '\t' ? MARKDOWN_CODE_INDENT : 1;
	h.rest = sv_from(seen, h.at);
	return h;
}

bool markdown_closes_fence(const struct markdown *m)
{
	struct sv s = sv_trim(str_sv(&m->line));

	return m->line.len < MARKDOWN_RAW_MAX && s.n >= m->fence_len && s.p[0] == m->fence &&
		run_length(s) == s.n;
}

void markdown_judge_line(struct markdown *m, bool whole)
{
	enum verdict verdict = VERDICT_AGAIN;

	if (m->fence) {
		m->kind = MARKDOWN_RAW;
		return;
	}
	while (verdict == VERDICT_AGAIN) {
		struct head h = head_of(str_sv(&m->line), whole);
		if ((h.rest.n || h.whole) && !sv_starts(h.rest, SV("|")))
			markdown_end_table(m);
		verdict = judge(m, &h);
	}
}
