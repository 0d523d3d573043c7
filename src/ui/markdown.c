#include "ui/markdown.h"

#include "base/utf8.h"
#include "ui/markdown-span.h"
#include "ui/markdown-table.h"

enum {
	TAB_STOP = 8,
	FENCE_MIN = 3,
	HEADING_MAX = 6,
	QUOTE_MAX = 32, /* bytes of marks; deeper quotes are text */
	RULE_MIN = 3,
	RULE_WIDTH = 40,
};

void markdown_init(struct markdown *m, struct term *term)
{
	*m = (struct markdown){
		.term = term,
		.shapes = term->tty && !term->as_written,
		.hold = STR_INIT,
		.line = STR_INIT,
		.prefix = STR_INIT,
	};
	wrap_init(&m->wrap, term);
}

void markdown_release(struct markdown *m)
{
	wrap_release(&m->wrap);
	str_release(&m->hold);
	str_release(&m->line);
	str_release(&m->prefix);
	strv_release(&m->table);
}

/* ---- text with spans ---- */

static void show_spans(struct markdown *m, struct sv s, unsigned style, int depth);

static void show_inner(struct markdown *m, const struct span *span, unsigned style, int depth)
{
	if (!m->term->colour)
		wrap_add(&m->wrap, span->mark, style);
	if (span->kind == SPAN_CODE)
		wrap_add(&m->wrap, span->inner, style);
	else
		show_spans(m, span->inner, style, depth + 1);
	if (!m->term->colour)
		wrap_add(&m->wrap, span->mark, style);
}

static void show_span(struct markdown *m, const struct span *span, unsigned style, int depth)
{
	bool named;

	switch (span->kind) {
	case SPAN_TEXT:
		wrap_add(&m->wrap, span->inner, style);
		break;
	case SPAN_CODE:
		show_inner(m, span, style | STYLE_CODE, depth);
		break;
	case SPAN_EMPHASIS:
		show_inner(m, span, style | STYLE_ITALIC, depth);
		break;
	case SPAN_STRONG:
		show_inner(m, span, style | STYLE_BOLD, depth);
		break;
	case SPAN_BOTH:
		show_inner(m, span, style | STYLE_BOLD | STYLE_ITALIC, depth);
		break;
	case SPAN_LINK:
		named = !sv_eq(span->inner, span->url) && span->inner.n;
		if (named) {
			show_spans(m, span->inner, style, depth + 1);
			wrap_add(&m->wrap, SV(" ("), style);
		}
		wrap_add(&m->wrap, span->url, style | STYLE_DIM);
		if (named)
			wrap_add(&m->wrap, SV(")"), style);
		break;
	}
}

static uint32_t last_char(struct sv s)
{
	uint32_t cp = 0;
	size_t at = s.n;

	while (at > 0 && s.n - at < 4 && ((unsigned char)s.p[at - 1] & 0xC0) == 0x80)
		at--;
	if (at > 0)
		(void)utf8_decode(sv_from(s, at - 1), &cp);
	return cp;
}

static void show_spans(struct markdown *m, struct sv s, unsigned style, int depth)
{
	uint32_t before = 0;

	while (s.n && depth <= MARKDOWN_DEPTH_MAX) {
		struct span span;
		size_t n = span_next(s, true, before, &span);
		show_span(m, &span, style, depth);
		before = last_char(sv_head(s, n));
		s = sv_from(s, n);
	}
	wrap_add(&m->wrap, s, style);
}

/* Shows what can be decided of a line of text. */
static void show_text(struct markdown *m, bool whole)
{
	struct sv s = str_sv(&m->line);

	while (s.n) {
		struct span span;
		size_t n = span_next(s, whole, m->before, &span);
		if (!n)
			break;
		show_span(m, &span, m->line_style, 0);
		m->before = last_char(sv_head(s, n));
		s = sv_from(s, n);
	}
	str_drop(&m->line, m->line.len - s.n);
	if (whole)
		wrap_end(&m->wrap);
}

/* ---- lines shown as they are ---- */

static void expand_tabs(struct str *out, struct sv s)
{
	for (size_t i = 0, column = 0; i < s.n; i++) {
		if (s.p[i] != '\t') {
			str_addc(out, s.p[i]);
			column += ((unsigned char)s.p[i] & 0xC0) != 0x80;
			continue;
		}
		do
			str_addc(out, ' ');
		while (++column % TAB_STOP);
	}
}

/* Returns how many bytes of the line's own indent are gone. */
static size_t begin_raw(struct markdown *m)
{
	struct sv line = str_sv(&m->line);
	size_t indent = 0;

	term_style(m->term, STYLE_DIM);
	term_put(m->term, str_sv(&m->prefix));
	if (!m->fence) {
		term_style(m->term, STYLE_PLAIN);
		return 0;
	}
	while (indent < m->fence_indent && indent < line.n && markdown_is_blank(line.p[indent]))
		indent++;
	str_drop(&m->line, indent);
	if (m->line.len)
		for (size_t i = 0; i < m->fence_indent + MARKDOWN_CODE_INDENT; i++)
			term_put(m->term, SV(" "));
	return indent;
}

static void show_raw_part(struct markdown *m, size_t n)
{
	AUTO_STR wide = STR_INIT;

	if (!m->raw_begun)
		n -= begin_raw(m);
	m->raw_begun = true;
	expand_tabs(&wide, sv_head(str_sv(&m->line), n));
	term_put(m->term, str_sv(&wide));
	str_drop(&m->line, n);
}

/* ---- tables ---- */

static void end_table(struct markdown *m)
{
	if (m->table.n == 0)
		return;
	bool shown = markdown_table_print(m->term, &m->table);
	for (size_t i = 0; !shown && i < m->table.n; i++) {
		AUTO_STR wide = STR_INIT;
		expand_tabs(&wide, sv_of(m->table.v[i]));
		term_put(m->term, str_sv(&wide));
		term_newline(m->term);
	}
	strv_release(&m->table);
}

static void show_raw(struct markdown *m, bool whole);

/* A line that is too long for a cell of any table is shown as it comes. */
static void keep_table_line(struct markdown *m, bool whole)
{
	if (m->line.len >= MARKDOWN_RAW_MAX) {
		end_table(m);
		m->kind = MARKDOWN_RAW;
		show_raw(m, whole);
	} else if (whole) {
		strv_addsv(&m->table, str_sv(&m->line));
		str_clear(&m->line);
		if (m->table.n >= MARKDOWN_TABLE_ROWS)
			end_table(m);
	}
}

static void show_raw(struct markdown *m, bool whole)
{
	while (m->line.len >= MARKDOWN_RAW_MAX)
		show_raw_part(m, utf8_cut(str_sv(&m->line), MARKDOWN_RAW_MAX).n);
	if (!whole)
		return;
	show_raw_part(m, m->line.len);
	term_style(m->term, STYLE_PLAIN);
	term_newline(m->term);
	m->raw_begun = false;
}

/* ---- what kind of line a line is, by its beginning ---- */

static size_t run_length(struct sv s)
{
	size_t n = 0;

	while (n < s.n && s.p[n] == s.p[0])
		n++;
	return n;
}

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
	if (i == s.n && h->ends && marks >= RULE_MIN && s.p[0] != '+') {
		show_gap(m);
		term_style(m->term, STYLE_DIM);
		for (i = 0; i < RULE_WIDTH && i < m->term->cols - 1; i++)
			term_puts(m->term, m->term->ascii ? "-" : "─");
		term_style(m->term, STYLE_PLAIN);
		term_newline(m->term);
		str_clear(&m->line);
		return VERDICT_DONE;
	}
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

static enum verdict judge(struct markdown *m, const struct head *h)
{
	if (!h->rest.n) {
		if (!h->whole)
			return VERDICT_MORE;
		if (m->prefix.len || !h->ends)
			return begin_paragraph(m, h);
		m->blank = true;
		str_clear(&m->line);
		return VERDICT_DONE;
	}
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
		show_gap(m);
		/* In a quotation there is little room: there it stays as it is. */
		m->kind = m->prefix.len ? MARKDOWN_RAW : MARKDOWN_TABLE;
		return VERDICT_DONE;
	default:
		return h->rest.p[0] >= '0' && h->rest.p[0] <= '9' ? judge_number(m, h)
								  : begin_paragraph(m, h);
	}
}

/*
 * Looks at m->line, at the beginning of a line; `whole` when its end is there. Once the kind is
 * clear, takes the mark away, shows what stands for it and sets m->kind; what is complete with
 * that (a rule, a blank line, an opening fence) leaves it undecided and m->line empty.
 */
static void judge_line(struct markdown *m, bool whole)
{
	enum verdict verdict = VERDICT_AGAIN;

	if (m->fence) {
		m->kind = MARKDOWN_RAW;
		return;
	}
	while (verdict == VERDICT_AGAIN) {
		/* By the first bytes alone, so that no line waits for ever. */
		bool full = m->line.len >= MARKDOWN_MARK_MAX;
		struct sv seen = sv_head(str_sv(&m->line), MARKDOWN_MARK_MAX);
		struct head h = { .ends = whole && !full, .whole = whole || full };
		for (; h.at < seen.n && markdown_is_blank(seen.p[h.at]); h.at++)
			h.indent += seen.p[h.at] == '\t' ? MARKDOWN_CODE_INDENT : 1;
		h.rest = sv_from(seen, h.at);
		if ((h.rest.n || h.whole) && !sv_starts(h.rest, SV("|")))
			end_table(m);
		verdict = judge(m, &h);
	}
}

/* ---- lines ---- */

/* Inside a code block: m->line is whole and is its closing fence. */
static bool closes_fence(const struct markdown *m)
{
	struct sv s = sv_trim(str_sv(&m->line));

	return m->line.len < MARKDOWN_RAW_MAX && s.n >= m->fence_len && s.p[0] == m->fence &&
		run_length(s) == s.n;
}

static void show_line(struct markdown *m, bool whole)
{
	if (m->kind == MARKDOWN_UNDECIDED)
		judge_line(m, whole);
	switch (m->kind) {
	case MARKDOWN_UNDECIDED: /* not decided yet, or shown already: a rule, a blank line */
		break;
	case MARKDOWN_TEXT:
		show_text(m, whole);
		break;
	case MARKDOWN_TABLE:
		keep_table_line(m, whole);
		break;
	case MARKDOWN_RAW:
		if (whole && m->fence && !m->raw_begun && closes_fence(m)) {
			m->fence = 0;
			str_clear(&m->line);
		} else {
			show_raw(m, whole);
		}
		break;
	}
}

static void end_line(struct markdown *m)
{
	show_line(m, true);
	m->kind = MARKDOWN_UNDECIDED;
	str_clear(&m->line);
	if (!m->fence)
		str_clear(&m->prefix);
}

/* ---- bytes ---- */

static void add_clean(struct markdown *m, struct sv clean)
{
	struct sv rest = clean;

	if (!m->shapes) {
		term_put(m->term, clean);
		return;
	}
	while (rest.n) {
		const char *newline = memchr(rest.p, '\n', rest.n);
		size_t n = newline ? (size_t)(newline - rest.p) : rest.n;
		str_add(&m->line, sv_head(rest, n));
		rest = sv_from(rest, n + (newline ? 1 : 0));
		if (newline)
			end_line(m);
	}
}

static void release_hold(struct markdown *m)
{
	AUTO_STR clean = STR_INIT;

	utf8_scrub(&clean, str_sv(&m->hold));
	str_clear(&m->hold);
	add_clean(m, str_sv(&clean));
}

/*
 * What is held back: an unfinished character, or everything from an ESC or CR to the end of its
 * line, because how much an escape sequence swallows shows only then.
 */
static void feed_byte(struct markdown *m, char c)
{
	bool in_sequence = m->hold.len && (m->hold.buf[0] == '\033' || m->hold.buf[0] == '\r');
	unsigned char u = (unsigned char)c;

	if (!in_sequence && m->hold.len && (u & 0xC0) != 0x80)
		release_hold(m);
	str_addc(&m->hold, c);
	if (m->hold.buf[0] == '\033' || m->hold.buf[0] == '\r') {
		if (c == '\n' || m->hold.len >= MARKDOWN_HOLD_MAX)
			release_hold(m);
	} else if (m->hold.len >= utf8_expect((unsigned char)m->hold.buf[0])) {
		release_hold(m);
	}
}

void markdown_feed(struct markdown *m, struct sv piece)
{
	for (size_t i = 0; i < piece.n;) {
		size_t from = i;
		while (!m->hold.len && i < piece.n &&
			((piece.p[i] >= 0x20 && piece.p[i] < 0x7F) || piece.p[i] == '\n' ||
				piece.p[i] == '\t'))
			i++; /* plain ASCII needs no look */
		if (i > from)
			add_clean(m, sv_make(piece.p + from, i - from));
		else
			feed_byte(m, piece.p[i++]);
	}
	if (m->shapes)
		show_line(m, false);
}

void markdown_pause(struct markdown *m)
{
	if (m->shapes && m->kind == MARKDOWN_TEXT)
		wrap_pause(&m->wrap);
}

void markdown_end(struct markdown *m)
{
	release_hold(m);
	if (m->shapes) {
		if (m->line.len || m->kind != MARKDOWN_UNDECIDED || (m->prefix.len && !m->fence))
			end_line(m);
		end_table(m);
	}
	term_fresh_line(m->term);
	str_clear(&m->prefix);
	m->fence = 0;
	m->shown = m->blank = false;
}

void markdown_print(struct term *term, struct sv text)
{
	struct markdown m;

	markdown_init(&m, term);
	markdown_feed(&m, text);
	markdown_end(&m);
	markdown_release(&m);
}
