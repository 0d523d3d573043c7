#include "ui/picker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "ui/field.h"
#include "ui/input.h"
#include "ui/screen.h"
#include "ui/wrap.h"

enum {
	ESCAPE_MS = 50, /* between the bytes of one key */
	READ_MAX = 4096,
	INPUT_MAX = 1 << 16, /* of keys that are half there */
	GAP = 2, /* between columns */
	POINTER = 2, /* columns of the mark of the row under the cursor */
};

/* What was found stays for as long as it is listed or a preview of it is made. */
struct listing {
	struct picker_found found;
	size_t refs;
};

/* Work on a thread: one question at a time, and the next one is the last that was asked. */
struct task {
	struct worker *worker;
	struct loop_source *timer; /* until it is late; NULL */
	bool busy, again, late;
};

struct picker {
	struct picker_opts opts;
	struct screen screen;
	struct term canvas; /* one line of the screen at a time */
	struct field typed;
	struct str input; /* bytes of keys that are not whole yet */
	struct loop_source *escape; /* until they are taken for what they are */
	bool pasting;

	struct task find;
	struct str asked; /* what is searched for now */
	struct picker_found answer; /* of the thread */
	struct listing *listing; /* NULL: nothing came yet */
	size_t cursor, top;

	struct task preview;
	struct listing *viewed; /* what the thread looks at */
	size_t viewed_row;
	size_t viewed_cols;
	struct strv made; /* by the thread */
	struct picker_view made_view;
	const struct listing *shown; /* of which the lines are; only compared */
	size_t shown_row, shown_cols;
	struct strv lines;
	size_t fixed; /* of them, which do not scroll */
	size_t scroll;

	struct str note;
	bool help;
	bool running, acted, ending;
	int failed; /* a negative error of drawing */
	struct err err;
};

/* ---- the parts of the screen ---- */

struct layout {
	bool foot, question;
	size_t list_row, list_rows, list_cols;
	size_t view_row, view_rows, view_col, view_cols; /* the preview; no rows: there is none */
};

static struct layout layout_of(const struct picker *p)
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

static size_t rows_found(const struct picker *p)
{
	return p->listing ? p->listing->found.n : 0;
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

static void put_marked(const struct picker *p, struct term *t, struct sv text, unsigned style)
{
	AUTO_FREE char *marks = xcalloc(text.n + 1, 1);
	AUTO_STR typed = STR_INIT;
	struct sv rest, word;

	utf8_normalise(&typed, str_sv(&p->typed.text), true);
	rest = str_sv(&typed);
	while (sv_split(&rest, ' ', &word)) {
		while (word.n && strchr("\"+*", word.p[0]))
			word = sv_from(word, 1);
		while (word.n && strchr("\"*", word.p[word.n - 1]))
			word.n--;
		if (word.n && word.p[0] != '-')
			mark_word(text, word, marks);
	}
	for (size_t i = 0, end; i < text.n; i = end) {
		for (end = i + 1; end < text.n && marks[end] == marks[i]; end++) {
		}
		term_style(
			t, marks[i] ? STYLE_GREEN | STYLE_BOLD | (style & STYLE_REVERSE) : style);
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
	if (marked && t->colour && p->typed.text.len) {
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
	o->source->row(o->data, &p->listing->found, row, cells);
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
		term_control(&p->canvas, p->lines.v[line]);
}

static void draw(struct picker *p)
{
	size_t rows = p->opts.term->rows, cursor = 0;
	const struct layout l = layout_of(p);

	if (!p->screen.on || p->ending)
		return;
	if (p->cursor < p->top)
		p->top = p->cursor;
	if (l.list_rows > 0 && p->cursor >= p->top + l.list_rows)
		p->top = p->cursor - l.list_rows + 1;
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

/* ---- work on threads ---- */

static void listing_drop(struct picker *p, struct listing *l)
{
	if (!l || --l->refs > 0)
		return;
	p->opts.source->release(p->opts.data, &l->found);
	free(l);
}

static void find_late(void *data)
{
	struct picker *p = data;

	p->find.timer = NULL;
	p->find.late = true;
	draw(p);
}

static void preview_late(void *data)
{
	struct picker *p = data;

	p->preview.timer = NULL;
	p->preview.late = true;
	strv_release(&p->lines); /* of another row */
	p->shown = NULL;
	draw(p);
}

/* True when the question is to be asked now, else it is when the thread comes home. */
static bool task_begin(struct picker *p, struct task *task, loop_timer_fn late)
{
	if (!task->timer && !task->late)
		task->timer = loop_add_timer(p->opts.loop, PICKER_LATE_MS, late, p);
	task->again = task->busy;
	if (task->busy)
		worker_cancel(task->worker);
	return !task->busy;
}

/* True when it has to be asked again. */
static bool task_end(struct picker *p, struct task *task)
{
	bool again = task->again && !p->ending;

	task->busy = task->again = false;
	if (again)
		return true;
	loop_remove(p->opts.loop, task->timer);
	task->timer = NULL;
	task->late = false;
	return false;
}

static int make_preview(void *data, const struct worker *worker, struct err *reterr)
{
	struct picker *p = data;
	const struct picker_opts *o = &p->opts;
	struct term t;

	/* Only what the loop's thread leaves alone while this one is busy. */
	term_init_capture(&t, p->viewed_cols, TERM_DEFAULT_ROWS, o->term->colour);
	t.ascii = o->term->ascii;
	p->made_view = (struct picker_view){ .line = 0 };
	int r = o->source->preview(
		o->data, &p->viewed->found, p->viewed_row, worker, &t, &p->made_view, reterr);
	if (r >= 0)
		wrap_fold(str_sv(&t.buf), p->viewed_cols, &p->made);
	term_release(&t);
	return r;
}

static void ask_preview(struct picker *p);

static void show_preview(struct picker *p, struct strv *lines, struct picker_view view)
{
	size_t rows = layout_of(p).view_rows;

	strv_release(&p->lines);
	p->lines = *lines;
	*lines = (struct strv)STRV_INIT;
	p->fixed = view.fixed < rows ? view.fixed : 0;
	size_t last = p->lines.n > rows ? p->lines.n - rows : 0;
	size_t lead = rows / 3; /* what comes before the line is seen as well */
	p->scroll = view.line > lead ? view.line - lead : 0;
	if (p->scroll > last)
		p->scroll = last;
}

static void on_preview(void *data, int r, const struct err *err)
{
	struct picker *p = data;

	if (r >= 0) {
		show_preview(p, &p->made, p->made_view);
	} else if (r != ERR_CANCELLED) {
		AUTO_STRV told = STRV_INIT;
		wrap_fold(sv_of(err->msg), p->viewed_cols, &told);
		show_preview(p, &told, (struct picker_view){ .line = 0 });
	}
	p->shown = r != ERR_CANCELLED && p->viewed == p->listing ? p->listing : NULL;
	p->shown_row = p->viewed_row;
	p->shown_cols = p->viewed_cols;
	listing_drop(p, TAKE_PTR(p->viewed));
	if (task_end(p, &p->preview))
		ask_preview(p);
	draw(p);
}

/* Of the row under the cursor, when it is to be seen and is not yet. */
static void ask_preview(struct picker *p)
{
	const struct layout l = layout_of(p);

	if (l.view_rows == 0 || rows_found(p) == 0) {
		strv_release(&p->lines);
		p->shown = NULL;
		return;
	}
	bool same = p->preview.busy ? p->viewed == p->listing && p->viewed_row == p->cursor &&
			p->viewed_cols == l.view_cols
				    : p->shown == p->listing && p->shown_row == p->cursor &&
			p->shown_cols == l.view_cols;
	if (same || !task_begin(p, &p->preview, preview_late))
		return;
	p->viewed = p->listing;
	p->viewed->refs++;
	p->viewed_row = p->cursor;
	p->viewed_cols = l.view_cols;
	p->preview.busy = worker_submit(p->preview.worker, make_preview, on_preview, p, NULL) >= 0;
	if (!p->preview.busy)
		listing_drop(p, TAKE_PTR(p->viewed));
}

static int find(void *data, const struct worker *worker, struct err *reterr)
{
	struct picker *p = data;

	p->answer = (struct picker_found){ .n = 0 };
	return p->opts.source->find(p->opts.data, str_sv(&p->asked), worker, &p->answer, reterr);
}

static void ask(struct picker *p);

static void on_found(void *data, int r, const struct err *err)
{
	struct picker *p = data;

	/* Also what answers an earlier key: it is nearer than what is there. */
	if (r >= 0) {
		struct listing *l = xcalloc(1, sizeof(*l));
		*l = (struct listing){ .found = p->answer, .refs = 1 };
		if (p->shown == p->listing)
			p->shown = NULL;
		listing_drop(p, p->listing);
		p->listing = l;
		p->cursor = p->top = 0;
	} else if (r != ERR_CANCELLED) {
		picker_say(p, err->msg);
	}
	if (task_end(p, &p->find))
		ask(p);
	if (!p->ending)
		ask_preview(p);
	draw(p);
}

static void ask(struct picker *p)
{
	if (!task_begin(p, &p->find, find_late))
		return;
	str_clear(&p->asked);
	str_add(&p->asked, str_sv(&p->typed.text));
	p->find.busy = worker_submit(p->find.worker, find, on_found, p, NULL) >= 0;
}

/* ---- keys ---- */

static void go(struct picker *p, size_t row)
{
	size_t n = rows_found(p);

	p->cursor = row < n ? row : n > 0 ? n - 1 : 0;
	ask_preview(p);
}

static void scroll(struct picker *p, int by)
{
	size_t rows = layout_of(p).view_rows;
	size_t last = p->lines.n > rows ? p->lines.n - rows : 0;

	if (by > 0 && p->scroll < last)
		p->scroll++;
	else if (by < 0 && p->scroll > 0)
		p->scroll--;
}

static void stop(struct picker *p)
{
	screen_leave(&p->screen);
	(void)kill(0, SIGTSTP);
	int r = picker_show(p, &p->err);
	if (r < 0) {
		p->failed = r;
		p->running = false;
	}
}

/* True when the key is one of those that every picker has. */
static bool own_key(struct picker *p, uint32_t key)
{
	size_t page = layout_of(p).list_rows;

	page = page > 1 ? page - 1 : 1;
	switch (key) {
	case KEY_ESCAPE:
	case KEY_CTRL | 'c':
	case KEY_CTRL | 'g':
		p->running = false;
		return true;
	case KEY_UP:
	case KEY_CTRL | 'p':
	case KEY_CTRL | 'k':
		go(p, p->cursor > 0 ? p->cursor - 1 : 0);
		return true;
	case KEY_DOWN:
	case KEY_CTRL | 'n':
	case KEY_CTRL | 'j':
		go(p, p->cursor + 1);
		return true;
	case KEY_PAGE_UP:
		go(p, p->cursor > page ? p->cursor - page : 0);
		return true;
	case KEY_PAGE_DOWN:
		go(p, p->cursor + page);
		return true;
	case KEY_HOME:
		go(p, 0);
		return true;
	case KEY_END:
		go(p, SIZE_MAX);
		return true;
	case KEY_SHIFT | KEY_UP:
	case KEY_ALT | KEY_UP:
		scroll(p, -1);
		return true;
	case KEY_SHIFT | KEY_DOWN:
	case KEY_ALT | KEY_DOWN:
		scroll(p, 1);
		return true;
	case KEY_F1:
		p->help = true;
		return true;
	case KEY_CTRL | 'l':
		screen_forget(&p->screen);
		return true;
	case KEY_CTRL | 'z':
		stop(p);
		return true;
	default:
		return false;
	}
}

static void take_key(struct picker *p, uint32_t key)
{
	const struct picker_opts *o = &p->opts;

	if (key == KEY_PASTE || key == KEY_PASTED) {
		p->pasting = key == KEY_PASTE;
		return;
	}
	if (p->pasting) { /* what was pasted is text, whatever is in it */
		if (key >= KEY_NONE)
			key = ' ';
		if (field_key(&p->typed, key))
			ask(p);
		return;
	}
	str_clear(&p->note);
	if (p->help) {
		p->help = false;
		return;
	}
	for (size_t i = 0; i < o->n_keys; i++) {
		if (o->keys[i].key != key)
			continue;
		if (rows_found(p) > 0 &&
			o->keys[i].act(o->data, p, &p->listing->found, p->cursor)) {
			p->acted = true;
			p->running = false;
		}
		return;
	}
	if (key == '?' && p->typed.text.len == 0)
		p->help = true;
	else if (key == (KEY_CTRL | 'd') && p->typed.text.len == 0)
		p->running = false;
	else if (!own_key(p, key) && field_key(&p->typed, key))
		ask(p);
}

static void take_input(struct picker *p, bool ended);

static void on_escape(void *data)
{
	struct picker *p = data;

	p->escape = NULL;
	take_input(p, true);
}

static void take_input(struct picker *p, bool ended)
{
	uint32_t key;
	size_t n;

	loop_remove(p->opts.loop, p->escape);
	p->escape = NULL;
	while (p->running && p->input.len && (n = input_key(str_sv(&p->input), ended, &key)) > 0) {
		str_drop(&p->input, n);
		take_key(p, key);
	}
	if (p->running && p->input.len)
		p->escape = loop_add_timer(p->opts.loop, ESCAPE_MS, on_escape, p);
	draw(p);
}

static void on_readable(void *data, short revents UNUSED)
{
	struct picker *p = data;
	char bytes[READ_MAX];
	ssize_t n = read(p->opts.in_fd, bytes, sizeof(bytes));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return;
	if (n <= 0) { /* the terminal is gone */
		p->running = false;
		return;
	}
	str_add(&p->input, sv_make(bytes, (size_t)n));
	take_input(p, false);
}

/* ---- the terminal's signals ---- */

static void on_resize(void *data, int signo UNUSED)
{
	struct picker *p = data;

	(void)term_resize(p->opts.term);
	screen_forget(&p->screen);
	ask_preview(p);
	draw(p);
}

/* Whoever stopped us may have left anything on it. */
static void on_continue(void *data, int signo UNUSED)
{
	struct picker *p = data;

	if (!p->screen.on)
		return;
	term_mode_raw(&p->screen.mode);
	on_resize(data, signo);
}

/* ---- from outside ---- */

void picker_leave(struct picker *p)
{
	p->running = false;
}

void picker_say(struct picker *p, const char *text)
{
	str_clear(&p->note);
	str_adds(&p->note, text);
}

void picker_hide(struct picker *p)
{
	screen_leave(&p->screen);
}

int picker_show(struct picker *p, struct err *reterr)
{
	int r = screen_enter(&p->screen, reterr);

	if (r >= 0) {
		ask_preview(p); /* the size may be another */
		draw(p);
	}
	return r;
}

struct picker *picker_new(const struct picker_opts *opts, struct err *reterr)
{
	struct picker *p = xcalloc(1, sizeof(*p));

	p->opts = *opts;
	screen_init(&p->screen, opts->term, opts->in_fd);
	term_init_capture(&p->canvas, opts->term->cols, opts->term->rows, opts->term->colour);
	p->canvas.ascii = opts->term->ascii;
	field_init(&p->typed, sv_of(opts->words ? opts->words : ""), PICKER_WORDS_MAX);
	str_init_max(&p->input, INPUT_MAX);
	p->asked = (struct str)STR_INIT;
	p->note = (struct str)STR_INIT;
	p->find.worker = worker_new(opts->loop, "find", 1, reterr);
	if (p->find.worker)
		p->preview.worker = worker_new(opts->loop, "preview", 1, reterr);
	if (!p->preview.worker) {
		picker_free(p);
		return NULL;
	}
	return p;
}

void picker_free(struct picker *p)
{
	if (!p)
		return;
	p->ending = true;
	screen_release(&p->screen);
	worker_free(p->find.worker); /* tells the end of what they do: see on_found() */
	worker_free(p->preview.worker);
	loop_remove(p->opts.loop, p->find.timer);
	loop_remove(p->opts.loop, p->preview.timer);
	loop_remove(p->opts.loop, p->escape);
	listing_drop(p, p->listing);
	strv_release(&p->lines);
	strv_release(&p->made);
	term_release(&p->canvas);
	field_release(&p->typed);
	str_release(&p->input);
	str_release(&p->asked);
	str_release(&p->note);
	free(p);
}

int picker_run(struct picker *p, struct err *reterr)
{
	struct loop *loop = p->opts.loop;
	int r = 0;

	p->running = true;
	p->acted = false;
	struct loop_source *resized = loop_add_signal(loop, SIGWINCH, on_resize, p, reterr);
	struct loop_source *continued = loop_add_signal(loop, SIGCONT, on_continue, p, reterr);
	if (!resized || !continued)
		r = reterr ? reterr->code : ERR_BUG;
	if (r >= 0)
		r = picker_show(p, reterr);
	struct loop_source *keys = loop_add_fd(loop, p->opts.in_fd, POLLIN, on_readable, p);
	if (r >= 0)
		ask(p);
	while (r >= 0 && p->running)
		r = loop_step(loop, -1, reterr);
	screen_leave(&p->screen);
	loop_remove(loop, keys);
	loop_remove(loop, resized);
	loop_remove(loop, continued);
	if (r >= 0 && p->failed < 0) {
		r = p->failed;
		if (reterr)
			*reterr = p->err;
	}
	return r < 0 ? r : p->acted;
}
