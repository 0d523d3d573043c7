#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "base/mem.h"
#include "ui/input.h"
#include "ui/picker-impl.h"
#include "ui/wrap.h"

enum {
	ESCAPE_MS = 50, /* between the bytes of one key */
	READ_MAX = 4096,
	INPUT_MAX = 1 << 16, /* of keys that are half there */
	HELD_MAX = 64, /* keys that wait for a list */
};

/* ---- work on threads ---- */

static void listing_drop(struct picker *p, struct listing *l)
{
	if (!l || --l->refs > 0)
		return;
	p->opts.source->release(p->opts.source_data, &l->found);
	free(l);
}

static void find_late(void *data)
{
	struct picker *p = data;

	p->find.timer = NULL;
	p->find.late = true;
	picker_draw(p);
}

static void preview_late(void *data)
{
	struct picker *p = data;

	p->preview.timer = NULL;
	p->preview.late = true;
	strv_release(&p->lines); /* of another row */
	p->shown = NULL;
	picker_draw(p);
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
	struct picker_view view = { .at = 0 };
	struct term t;

	/* Only what the loop's thread leaves alone while this one is busy. */
	term_init_capture(&t, p->viewed_cols, TERM_DEFAULT_ROWS, o->term->colour);
	t.ascii = o->term->ascii;
	t.as_written = o->term->as_written;
	int r = o->source->preview(
		o->data, &p->viewed->found, p->viewed_row, worker, &t, &view, reterr);
	if (r >= 0)
		p->made_line = wrap_fold(str_sv(&t.buf), p->viewed_cols, view.at, &p->made);
	p->made_fixed = view.fixed;
	term_release(&t);
	return r;
}

static void ask_preview(struct picker *p);

/* So that this line is in sight, and what comes before it as well. */
static void show_preview(struct picker *p, struct strv *lines, size_t line, size_t fixed)
{
	size_t rows = layout_of(p).view_rows;

	strv_release(&p->lines);
	p->lines = *lines;
	*lines = (struct strv)STRV_INIT;
	p->fixed = fixed < rows ? fixed : 0;
	size_t last = p->lines.n > rows ? p->lines.n - rows : 0;
	size_t lead = rows / 3;
	p->scroll = line > lead ? line - lead : 0;
	if (p->scroll > last)
		p->scroll = last;
}

static void on_preview(void *data, int r, const struct err *err)
{
	struct picker *p = data;
	AUTO_STRV told = STRV_INIT;
	/* Of what is no longer listed nothing is shown; of another row, until the right one comes.
	 */
	bool counts = r != ERR_CANCELLED && p->viewed == p->listing;

	if (counts && r >= 0) {
		show_preview(p, &p->made, p->made_line, p->made_fixed);
	} else if (counts) {
		(void)wrap_fold(sv_of(err->msg), p->viewed_cols, 0, &told);
		show_preview(p, &told, 0, 0);
	}
	strv_release(&p->made);
	p->shown = counts ? p->listing : NULL;
	p->shown_row = p->viewed_row;
	p->shown_cols = p->viewed_cols;
	listing_drop(p, TAKE_PTR(p->viewed));
	if (task_end(p, &p->preview))
		ask_preview(p);
	picker_draw(p);
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

	const struct picker_source *source = p->opts.source;

	p->answer = (struct picker_found){ .n = 0 };
	return (p->glancing ? source->glance : source->find)(
		p->opts.source_data, str_sv(&p->asked), worker, &p->answer, reterr);
}

static void ask(struct picker *p);
static void take_held(struct picker *p);

static void on_found(void *data, int r, const struct err *err)
{
	struct picker *p = data;

	/* Nothing at a glance may be something yet. */
	if (r >= 0 && p->glancing && p->answer.n == 0) {
		p->opts.source->release(p->opts.source_data, &p->answer);
	} else if (r >= 0) {
		/* Also what answers an earlier key: it is nearer than what is there. */
		struct listing *l = xcalloc(1, sizeof(*l));
		*l = (struct listing){ .found = p->answer, .refs = 1 };
		if (p->shown == p->listing)
			p->shown = NULL;
		listing_drop(p, p->listing);
		p->listing = l;
		p->cursor = p->top = 0;
		if (l->found.note)
			picker_say(p, l->found.note);
	} else if (r != ERR_CANCELLED) {
		picker_say(p, err->msg);
		p->held.n = 0;
	}
	bool glanced = p->glancing && !p->find.again && !p->ending;
	p->glancing = false;
	if (glanced)
		p->find.busy = worker_submit(p->find.worker, find, on_found, p, NULL) >= 0;
	if (!(glanced && p->find.busy) && task_end(p, &p->find))
		ask(p);
	if (!p->ending)
		ask_preview(p);
	if (!p->ending && !p->find.busy)
		take_held(p);
	picker_draw(p);
}

static void ask(struct picker *p)
{
	if (!task_begin(p, &p->find, find_late))
		return;
	str_clear(&p->asked);
	str_add(&p->asked, str_sv(&p->typed.text));
	p->glancing = p->opts.source->glance != NULL && p->typed.text.len > 0;
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

/* Moves about in what is listed, or does something with it. */
static bool is_about_rows(const struct picker *p, uint32_t key)
{
	static const uint32_t moves[] = { KEY_UP, KEY_CTRL | 'p', KEY_CTRL | 'k', KEY_DOWN,
		KEY_CTRL | 'n', KEY_CTRL | 'j', KEY_PAGE_UP, KEY_PAGE_DOWN, KEY_HOME, KEY_END };

	for (size_t i = 0; i < ARRAY_LEN(moves); i++)
		if (moves[i] == key)
			return true;
	for (size_t i = 0; i < p->opts.n_keys; i++)
		if (p->opts.keys[i].key == key)
			return true;
	return false;
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
	if (p->find.busy && is_about_rows(p, key)) {
		if (p->held.n < HELD_MAX)
			vec_push(&p->held, key);
		return;
	}
	p->held.n = 0;
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

static void take_held(struct picker *p)
{
	uint32_t keys[HELD_MAX];
	size_t n = p->held.n;

	for (size_t i = 0; i < n; i++)
		keys[i] = p->held.v[i];
	p->held.n = 0;
	for (size_t i = 0; i < n && p->running; i++)
		take_key(p, keys[i]);
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
	picker_draw(p);
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
	picker_draw(p);
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

void picker_clip(struct picker *p, struct sv text)
{
	screen_clip(&p->screen, text);
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
		picker_draw(p);
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
	strv_release(&p->words);
	str_release(&p->input);
	vec_release(&p->held);
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
