#include "ui/markdown.h"

#include "base/utf8.h"
#include "ui/markdown-line.h"
#include "ui/markdown-span.h"
#include "ui/markdown-table.h"

enum { TAB_STOP = 8 };

void markdown_init(struct markdown *m, struct term *term)
{
	*m = (struct markdown){
		.term = term, .hold = STR_INIT, .line = STR_INIT, .prefix = STR_INIT
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

static void show_link(struct markdown *m, const struct span *span, unsigned style, int depth)
{
	if (!sv_eq(span->inner, span->url) && span->inner.n) {
		show_spans(m, span->inner, style, depth + 1);
		wrap_add(&m->wrap, SV(" ("), style);
	}
	wrap_add(&m->wrap, span->url, style | STYLE_DIM);
	if (!sv_eq(span->inner, span->url) && span->inner.n)
		wrap_add(&m->wrap, SV(")"), style);
}

static void show_span(struct markdown *m, const struct span *span, unsigned style, int depth)
{
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
		show_link(m, span, style, depth);
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

void markdown_end_table(struct markdown *m)
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
		markdown_end_table(m);
		m->kind = MARKDOWN_RAW;
		show_raw(m, whole);
	} else if (whole) {
		strv_addsv(&m->table, str_sv(&m->line));
		str_clear(&m->line);
		if (m->table.n >= MARKDOWN_TABLE_ROWS)
			markdown_end_table(m);
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

/* ---- lines ---- */

static void show_line(struct markdown *m, bool whole)
{
	if (m->kind == MARKDOWN_UNDECIDED)
		markdown_judge_line(m, whole);
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
		if (whole && m->fence && !m->raw_begun && markdown_closes_fence(m)) {
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

static bool is_plain(char c)
{
	return ((unsigned char)c >= 0x20 && (unsigned char)c < 0x7F) || c == '\n' || c == '\t';
}

void markdown_feed(struct markdown *m, struct sv piece)
{
	if (!m->term->tty) {
		term_put(m->term, piece);
		return;
	}
	for (size_t i = 0; i < piece.n;) {
		size_t from = i;
		while (!m->hold.len && i < piece.n && is_plain(piece.p[i]))
			i++;
		if (i > from)
			add_clean(m, sv_make(piece.p + from, i - from));
		else
			feed_byte(m, piece.p[i++]);
	}
	show_line(m, false);
}

void markdown_pause(struct markdown *m)
{
	if (m->term->tty && m->kind == MARKDOWN_TEXT)
		wrap_pause(&m->wrap);
}

void markdown_end(struct markdown *m)
{
	if (m->term->tty) {
		release_hold(m);
		if (m->line.len || m->kind != MARKDOWN_UNDECIDED || (m->prefix.len && !m->fence))
			end_line(m);
		markdown_end_table(m);
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
