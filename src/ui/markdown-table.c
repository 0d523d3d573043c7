#include "ui/markdown-table.h"

#include <stdlib.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "ui/markdown-span.h"
#include "ui/markdown.h"

enum { GAP = 2 /* blanks between columns */ };

enum align { ALIGN_LEFT, ALIGN_RIGHT, ALIGN_CENTRE };

struct grid {
	struct term *term;
	size_t rows, columns; /* without the line below the header */
	size_t indent;
	struct strv cells; /* row by row */
	enum align align[MARKDOWN_TABLE_COLUMNS];
	size_t width[MARKDOWN_TABLE_COLUMNS];
};

/* ---- rows into cells ---- */

static struct sv without_bars(struct sv line)
{
	struct sv row = sv_from(sv_trim(line), 1);

	if (sv_ends(row, SV("|")) && !sv_ends(row, SV("\\|")))
		row = sv_head(row, row.n - 1);
	return row;
}

/* Cuts the next cell off; a bar behind a backslash is text. */
static bool next_cell(struct sv *row, struct sv *ret)
{
	size_t n = 0;

	if (!row->p)
		return false;
	while (n < row->n && (row->p[n] != '|' || (n > 0 && row->p[n - 1] == '\\')))
		n++;
	*ret = sv_trim(sv_head(*row, n));
	*row = n < row->n ? sv_from(*row, n + 1) : (struct sv){ NULL, 0 };
	return true;
}

/* The text of a cell; where styles can be shown the marks for them are taken out. */
static void flatten(struct str *out, struct sv s, bool marks, int depth)
{
	uint32_t before = 0;

	while (s.n && depth <= MARKDOWN_DEPTH_MAX) {
		struct span span;
		size_t n = span_next(s, true, before, &span);
		bool inner = span.kind != SPAN_TEXT && span.kind != SPAN_CODE;
		before = (unsigned char)s.p[n - 1];
		if (marks)
			str_add(out, sv_head(s, n));
		else if (inner)
			flatten(out, span.inner, marks, depth + 1);
		else
			str_add(out, span.inner);
		if (!marks && span.kind == SPAN_LINK && !sv_eq(span.inner, span.url))
			str_addf(out, " (%.*s)", SV_ARG(span.url));
		s = sv_from(s, n);
	}
	str_add(out, s);
}

static void add_cell(struct grid *g, struct sv raw)
{
	AUTO_STR unbarred = STR_INIT;
	AUTO_STR text = STR_INIT;

	for (size_t i = 0; i < raw.n; i++)
		if (raw.p[i] != '\\' || i + 1 == raw.n || raw.p[i + 1] != '|')
			str_addc(&unbarred, raw.p[i] == '\t' ? ' ' : raw.p[i]);
	flatten(&text, str_sv(&unbarred), !g->term->colour, 0);
	strv_addsv(&g->cells, str_sv(&text));
}

/* ":---", "---:", ":---:" */
static bool read_align(struct sv cell, enum align *ret)
{
	bool left = sv_starts(cell, SV(":")), right = sv_ends(cell, SV(":"));

	if (cell.n < (size_t)left + (size_t)right + 1)
		return false;
	for (size_t i = left; i < cell.n - (size_t)right; i++)
		if (cell.p[i] != '-')
			return false;
	*ret = right ? left ? ALIGN_CENTRE : ALIGN_RIGHT : ALIGN_LEFT;
	return true;
}

static bool read_grid(struct grid *g, const struct strv *lines)
{
	struct sv cell;

	if (lines->n < 2)
		return false;
	struct sv row = without_bars(sv_of(lines->v[1]));
	for (size_t i = 0; next_cell(&row, &cell); i++)
		if (i >= MARKDOWN_TABLE_COLUMNS || !read_align(cell, &g->align[i]))
			return false;
	for (size_t i = 0; i < lines->n; i++) {
		size_t n = 0;
		row = without_bars(sv_of(lines->v[i]));
		while (next_cell(&row, &cell))
			n++;
		g->columns = n > g->columns ? n : g->columns;
	}
	if (g->columns > MARKDOWN_TABLE_COLUMNS)
		return false;
	for (const char *p = lines->v[0]; markdown_is_blank(*p); p++)
		g->indent += *p == '\t' ? MARKDOWN_CODE_INDENT : 1;
	for (size_t i = 0; i < lines->n; i++) {
		if (i == 1)
			continue;
		row = without_bars(sv_of(lines->v[i]));
		for (size_t column = 0; column < g->columns; column++)
			add_cell(g, next_cell(&row, &cell) ? cell : SV(""));
		g->rows++;
	}
	return true;
}

/* ---- widths ---- */

static const char *cell_at(const struct grid *g, size_t row, size_t column)
{
	return g->cells.v[row * g->columns + column];
}

static size_t sum_capped(const struct grid *g, size_t cap)
{
	size_t sum = 0;

	for (size_t i = 0; i < g->columns; i++)
		sum += g->width[i] < cap ? g->width[i] : cap;
	return sum;
}

/* The widest columns give way until the row fits. */
static bool fit(struct grid *g)
{
	size_t taken = g->indent + GAP * (g->columns - 1) + 1;
	size_t room = g->term->cols > taken ? g->term->cols - taken : 0;
	size_t cap = room;

	for (size_t row = 0; row < g->rows; row++)
		for (size_t i = 0; i < g->columns; i++) {
			size_t width = utf8_width(sv_of(cell_at(g, row, i)));
			g->width[i] = width > g->width[i] ? width : g->width[i];
		}
	while (cap >= MARKDOWN_TABLE_NARROW && sum_capped(g, cap) > room)
		cap--;
	if (cap < MARKDOWN_TABLE_NARROW && sum_capped(g, SIZE_MAX) > room)
		return false;
	size_t left = room - sum_capped(g, cap);
	for (size_t i = 0; i < g->columns; i++) {
		size_t over = g->width[i] > cap ? g->width[i] - cap : 0;
		size_t more = over < left ? over : left;
		g->width[i] -= over - more;
		left -= more;
	}
	return true;
}

/* ---- output ---- */

/* Cuts what fits `width` off the front, at a blank if there is one. */
static struct sv take_line(struct sv *rest, size_t width)
{
	size_t at = 0, columns = 0, blank = 0;

	while (at < rest->n) {
		uint32_t cp;
		size_t n = utf8_decode(sv_from(*rest, at), &cp);
		columns += utf8_width(sv_make(rest->p + at, n));
		if (columns > width && at > 0)
			break;
		if (cp == ' ')
			blank = at;
		at += n;
	}
	size_t end = at < rest->n && rest->p[at] != ' ' && blank > 0 ? blank : at;
	struct sv line = sv_trim(sv_head(*rest, end));
	*rest = sv_trim(sv_from(*rest, end));
	return line;
}

static void put_blanks(const struct grid *g, size_t n)
{
	while (n--)
		term_put(g->term, SV(" "));
}

/* *owed: blanks that stand before the next text; none end a line. */
static void put_cell(
	const struct grid *g, size_t column, struct sv text, unsigned style, size_t *owed)
{
	size_t width = utf8_width(text);
	size_t pad = g->width[column] > width ? g->width[column] - width : 0;
	size_t before = g->align[column] == ALIGN_RIGHT ? pad
		: g->align[column] == ALIGN_CENTRE	? pad / 2
							: 0;

	if (text.n) {
		put_blanks(g, *owed + before);
		term_style(g->term, style);
		term_put(g->term, text);
		term_style(g->term, STYLE_PLAIN);
		*owed = pad - before + GAP;
	} else {
		*owed += pad + GAP;
	}
}

static void put_row(const struct grid *g, size_t row, unsigned style)
{
	struct sv rest[MARKDOWN_TABLE_COLUMNS];
	bool more = true;

	for (size_t i = 0; i < g->columns; i++)
		rest[i] = sv_of(cell_at(g, row, i));
	while (more) {
		size_t owed = g->indent;
		more = false;
		for (size_t i = 0; i < g->columns; i++) {
			put_cell(g, i, take_line(&rest[i], g->width[i]), style, &owed);
			more |= rest[i].n > 0;
		}
		term_newline(g->term);
	}
}

static void put_rule(const struct grid *g)
{
	put_blanks(g, g->indent);
	term_style(g->term, STYLE_DIM);
	for (size_t i = 0; i < g->columns; i++) {
		for (size_t n = 0; n < g->width[i]; n++)
			term_puts(g->term, g->term->ascii ? "-" : "─");
		if (i + 1 < g->columns)
			put_blanks(g, GAP);
	}
	term_style(g->term, STYLE_PLAIN);
	term_newline(g->term);
}

bool markdown_table_print(struct term *term, const struct strv *lines)
{
	struct grid g = { .term = term, .cells = STRV_INIT };
	bool fits = read_grid(&g, lines) && fit(&g);

	for (size_t row = 0; fits && row < g.rows; row++) {
		put_row(&g, row, row == 0 ? STYLE_BOLD : STYLE_PLAIN);
		if (row == 0)
			put_rule(&g);
	}
	strv_release(&g.cells);
	return fits;
}
