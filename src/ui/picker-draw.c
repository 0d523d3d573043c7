#include "ui/picker-impl.h"

#include <stdio.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "ui/wrap.h"

enum {
	GAP = 2, /* between columns */
	POINTER = 2, /* columns of the mark of the row under the cursor */
	MARK = STYLE_BOLD | STYLE_GREEN, /* words that were typed */
};
#define MARK_TEXT "\033[0;1;32m" /* the same */

/* ---- the parts of the screen ---- */

struct layout layout_of(const struct picker *p)
{
	enum { BESIDE_COLS = 120, BESIDE_ROWS = 6, BELOW_ROWS = 12, FOOT_ROWS = 4, HEAD_ROWS = 8 };
	size_t rows = p->opts.term->rows, cols = p->opts.term->cols;
	struct layout l = {
		.foot = rows >= FOOT_ROWS,
		.question = p->opts.question && rows >= HEAD_ROWS,
		.list_cols = cols,
	};

	l.list_row = 1 + l.question;
	size_t body = rows - (rows > l.list_row ? l.list_row : rows) - l.foot;
	l.list_rows = body;
	if (cols >= BESIDE_COLS && body >= BESIDE_ROWS) {
		l.list_cols = cols / 2;
		l.view_col = l.list_cols + 2; /* a line and a blank are between them */
		l.view_cols = cols - l.view_col;
		l.view_row = l.list_row;
		l.view_rows = body;
	} else if (body >= BELOW_ROWS) {
		l.view_rows = (body - 1) / 2;
		l.list_rows = body - 1 - l.view_rows;
		l.view_row = l.list_row + l.list_rows + 1;
		l.view_cols = cols;
	}
	return l;
}

/* ---- drawing ---- */

/* Signs with a meaning for the source are no part of a word, and what is not wanted is none. */
static void split_words(struct picker *p)
{
	AUTO_STR typed = STR_INIT;
	struct sv rest, word;

	strv_release(&p->words);
	utf8_normalise(&typed, str_sv(&p->typed.text), true);
	rest = str_sv(&typed);
	while (sv_split(&rest, ' ', &word)) {
		while (word.n && strchr("\"+*", word.p[0]))
			word = sv_from(word, 1);
		while (word.n && strchr("\"*", word.p[word.n - 1]))
			word.n--;
		if (word.n && word.p[0] != '-')
			strv_addsv(&p->words, word);
	}
}

/* Marks in text, a byte each, where a word stands; both folded. */
static void mark_word(struct sv text, struct sv word, char *marks)
{
	AUTO_STR folded = STR_INIT;
	VEC(size_t) from = VEC_INIT; /* the byte of text that each folded one comes from */
	size_t n, at, width;

	for (size_t i = 0; i < text.n; i += n) {
		n = utf8_cluster(sv_from(text, i), &width);
		utf8_normalise(&folded, sv_head(sv_from(text, i), n), true);
		while (from.n < folded.len)
			vec_push(&from, i);
	}
	vec_push(&from, text.n);
	for (size_t i = 0; sv_find(sv_from(str_sv(&folded), i), word, &at); i += at + word.n) {
		size_t end = i + at + word.n;
		/* All of a character is marked, also when only a part of it was meant. */
		while (end < from.n - 1 && end > 0 && from.v[end] == from.v[end - 1])
			end++;
		for (size_t k = from.v[i + at]; k < from.v[end]; k++)
			marks[k] = 1;
	}
	vec_release(&from);
}

/* A byte each: 1 where one of the words stands that were typed, of at least so many bytes. */
static char *marks_of(const struct picker *p, struct sv text, size_t least)
{
	char *marks = xcalloc(text.n + 1, 1);

	for (size_t i = 0; i < p->words.n; i++) {
		struct sv word = sv_of(p->words.v[i]);
		if (word.n >= least)
			mark_word(text, word, marks);
	}
	return marks;
}

static void put_marked(const struct picker *p, struct term *t, struct sv text, unsigned style)
{
	AUTO_FREE char *marks = marks_of(p, text, 1);

	for (size_t i = 0, end; i < text.n; i = end) {
		for (end = i + 1; end < text.n && marks[end] == marks[i]; end++) {
		}
		term_style(t, marks[i] ? MARK : style);
		term_put(t, sv_head(sv_from(text, i), end - i));
	}
}

/* Text of anybody's, at most so wide; `pad` fills it up. */
static void put_cell(
	struct picker *p, struct sv text, size_t width, unsigned style, bool marked, bool pad)
{
	struct term *t = &p->canvas;
	AUTO_STR clean = STR_INIT;
	AUTO_STR fit = STR_INIT;

	utf8_scrub_line(&clean, text);
	utf8_fit(&fit, str_sv(&clean), width);
	size_t used = utf8_width(str_sv(&fit));
	if (marked && t->colour && p->words.n) {
		put_marked(p, t, str_sv(&fit), style);
	} else {
		term_style(t, style);
		term_put(t, str_sv(&fit));
	}
	if (pad && used < width)
		term_putf(t, "%*s", (int)(width - used), "");
	term_style(t, STYLE_PLAIN);
}

/* The columns that are shown share the row; the one without a width of its own gets the rest. */
static void put_row(struct picker *p, const struct layout *l, size_t row)
{
	const struct picker_opts *o = &p->opts;
	bool under = row == p->cursor;
	struct str cells[PICKER_COLUMNS_MAX];
	size_t taken = POINTER;

	if (row >= rows_found(p))
		return;
	for (size_t c = 0; c < o->n_columns; c++) {
		cells[c] = (struct str)STR_INIT;
		if (o->columns[c].from <= l->list_cols)
			taken += o->columns[c].width + (c > 0 ? GAP : 0);
	}
	o->source->row(o->source_data, &p->listing->found, row, cells);
	put_cell(p, under ? SV(">") : SV(""), POINTER, STYLE_BOLD | STYLE_MAGENTA, false, true);
	for (size_t c = 0; c < o->n_columns; c++) {
		const struct picker_column *column = &o->columns[c];
		size_t rest = l->list_cols > taken ? l->list_cols - taken : 1;
		unsigned style = under ? STYLE_BOLD : column->style;
		if (column->from <= l->list_cols) {
			term_puts(&p->canvas, c > 0 ? "  " : "");
			put_cell(p, str_sv(&cells[c]), column->width ? column->width : rest, style,
				column->marked, c + 1 < o->n_columns);
		}
		str_release(&cells[c]);
	}
}

/* What was typed, as far as there is room: the end of it, when the cursor is there. Returns the
 * column of the cursor. */
static size_t put_typed(struct picker *p)
{
	const struct picker_found *found = p->listing ? &p->listing->found : NULL;
	struct sv text = str_sv(&p->typed.text);
	size_t cols = p->opts.term->cols, width;
	AUTO_STR count = STR_INIT;

	if (found && found->total > 0)
		str_addf(&count, "%zu/%zu", found->n, found->total);
	else if (found)
		str_addf(&count, "%zu", found->n);
	if (p->find.late)
		str_adds(&count, p->canvas.ascii ? "..." : "…");
	size_t counted = utf8_width(str_sv(&count));
	size_t room = cols > POINTER + 1 + counted + GAP ? cols - POINTER - 1 - counted - GAP
							 : cols - POINTER - 1;
	size_t before = utf8_width(sv_head(text, p->typed.at));
	size_t at = p->typed.at;
	while (before > room) {
		size_t n = utf8_cluster(text, &width);
		text = sv_from(text, n);
		before -= width;
		at -= n;
	}
	size_t end = at;
	for (size_t used = before, n; end < text.n; end += n, used += width) {
		n = utf8_cluster(sv_from(text, end), &width);
		if (used + width > room)
			break;
	}
	put_cell(p, SV(">"), POINTER, STYLE_BOLD | STYLE_CYAN, false, true);
	put_cell(p, sv_head(text, end), room, STYLE_PLAIN, false, true);
	if (room + POINTER + 1 < cols) {
		term_puts(&p->canvas, " ");
		put_cell(p, str_sv(&count), counted, STYLE_DIM, false, false);
	}
	return POINTER + before;
}

static void put_foot(struct picker *p)
{
	const struct picker_opts *o = &p->opts;
	AUTO_STR text = STR_INIT;

	if (p->note.len) {
		put_cell(p, str_sv(&p->note), o->term->cols, STYLE_WARNING, false, false);
		return;
	}
	for (size_t i = 0; i < o->n_keys; i++) {
		str_addf(&text, "%s%s %s", i ? "  " : "", o->keys[i].name, o->keys[i].label);
		if (i == 0)
			str_adds(&text, "  F1 keys");
	}
	str_adds(&text, "  Esc leave");
	put_cell(p, str_sv(&text), o->term->cols, STYLE_DIM, false, false);
}

static void put_help(struct picker *p, size_t line)
{
	static const struct {
		const char *name, *help;
	} own[] = {
		{ "Up Down ^P ^N", "go to another row" },
		{ "PgUp PgDn Home End", "by pages, to the first and to the last row" },
		{ "Shift-Up Shift-Down", "scroll what is shown of the row" },
		{ "Left Right ^A ^E", "move in what was typed" },
		{ "^W ^U", "delete the word, or all, before the cursor" },
		{ "^L ^Z", "draw all again; stop, until fg" },
		{ "F1, or ? first", "these keys" },
		{ "Esc ^C ^G", "leave, with nothing done" },
	};
	enum { NAME_COLS = 21 };
	const struct picker_opts *o = &p->opts;

	if (line < o->n_keys) {
		put_cell(p, sv_of(o->keys[line].name), NAME_COLS, STYLE_BOLD, false, true);
		put_cell(p, sv_of(o->keys[line].help), o->term->cols, STYLE_PLAIN, false, false);
	} else if (line - o->n_keys < ARRAY_LEN(own)) {
		line -= o->n_keys;
		put_cell(p, sv_of(own[line].name), NAME_COLS, STYLE_BOLD, false, true);
		put_cell(p, sv_of(own[line].help), o->term->cols, STYLE_PLAIN, false, false);
	}
}

static void put_rule(struct picker *p)
{
	term_style(&p->canvas, STYLE_DIM);
	for (size_t i = 0; i < p->opts.term->cols; i++)
		term_puts(&p->canvas, p->canvas.ascii ? "-" : "─");
	term_style(&p->canvas, STYLE_PLAIN);
}

/* A line of the preview, which has styles of its own around the marks. */
static void put_view(struct picker *p, struct sv line)
{
	enum { LEAST = 3 }; /* bytes of a word: a single letter is everywhere */
	AUTO_STR plain = STR_INIT;
	AUTO_STR style = STR_INIT; /* in force where no mark is */
	AUTO_STR out = STR_INIT;
	size_t n, at = 0;
	bool on = false;

	for (struct sv rest = line; rest.n; rest = sv_from(rest, n)) {
		n = wrap_style(rest);
		if (n == 0)
			str_add(&plain, sv_head(rest, n = 1));
	}
	AUTO_FREE char *marks = marks_of(p, str_sv(&plain), p->canvas.colour ? LEAST : SIZE_MAX);
	for (struct sv rest = line; rest.n; rest = sv_from(rest, n)) {
		n = wrap_style(rest);
		if (n > 0) {
			str_clear(&style);
			str_add(&style, sv_head(rest, n));
			str_adds(&out, on ? "" : style.buf);
			continue;
		}
		n = 1;
		if (marks[at] != on)
			str_addf(&out, "%s%s", marks[at] ? MARK_TEXT : "\033[m",
				marks[at] ? "" : style.buf);
		on = marks[at++];
		str_addc(&out, rest.p[0]);
	}
	term_control(&p->canvas, out.buf);
}

static void put_body(struct picker *p, const struct layout *l, size_t row)
{
	bool beside = l->view_col > 0;
	size_t line = row - l->view_row;
	char go[32];

	if (p->help) {
		put_help(p, row - l->list_row);
		return;
	}
	if (row < l->list_row + l->list_rows) {
		size_t at = row - l->list_row + p->top;
		if (at == 0 && p->listing && p->listing->found.n == 0)
			put_cell(p, SV("  nothing fits"), l->list_cols, STYLE_DIM, false, false);
		put_row(p, l, at);
	} else if (row < l->view_row) {
		put_rule(p);
	}
	if (beside) {
		/* By its number: a character may be wider for the terminal than for us. */
		(void)snprintf(go, sizeof(go), "\033[%zuG", l->list_cols + 1);
		term_control(&p->canvas, go);
		put_cell(p, p->canvas.ascii ? SV("| ") : SV("│ "), 2, STYLE_DIM, false, false);
	}
	if (line >= p->fixed)
		line += p->scroll;
	if (l->view_rows > 0 && row >= l->view_row && line < p->lines.n)
		put_view(p, sv_of(p->lines.v[line]));
}

void picker_draw(struct picker *p)
{
	size_t rows = p->opts.term->rows, cursor = 0;
	const struct layout l = layout_of(p);

	if (!p->screen.on || p->ending)
		return;
	if (p->cursor < p->top)
		p->top = p->cursor;
	if (l.list_rows > 0 && p->cursor >= p->top + l.list_rows)
		p->top = p->cursor - l.list_rows + 1;
	split_words(p);
	for (size_t row = 0; row < rows; row++) {
		str_clear(&p->canvas.buf);
		p->canvas.col = 0;
		p->canvas.cols = p->opts.term->cols;
		if (row == 0)
			cursor = put_typed(p);
		else if (l.question && row == 1)
			put_cell(p, sv_of(p->opts.question), p->opts.term->cols, STYLE_NOTICE,
				false, false);
		else if (l.foot && row == rows - 1)
			put_foot(p);
		else
			put_body(p, &l, row);
		screen_line(&p->screen, row, str_sv(&p->canvas.buf));
	}
	int r = screen_show(&p->screen, 0, cursor, &p->err);
	if (r < 0) {
		p->failed = r;
		p->running = false;
	}
}
