#include "cli/pick.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "cli/cmd.h"
#include "cli/env.h"
#include "cli/print.h"
#include "cli/sessions.h"
#include "os/clip.h"
#include "os/path.h"
#include "os/unpack.h"
#include "ui/input.h"
#include "ui/picker.h"
#include "view/item.h"
#include "view/session.h"

struct candidate {
	struct session_row row; /* what is shown of it; the rest is empty */
	char *dir; /* as it is shown */
	char *text; /* all that words are looked for in, folded; the title first */
	size_t title_n; /* bytes of it that are the title */
};

struct pick {
	struct app *app;
	struct loop *loop;
	struct picker *picker;
	VEC(struct candidate) all; /* newest first; not changed while the picker runs */
	int64_t now_ms;
	const struct candidate *chosen;
	int signo; /* that ends the program */
};

/* ---- candidates ---- */

static void add_candidate(struct pick *p, const struct session_row *row)
{
	const struct session_info *i = &row->info;
	AUTO_STR text = STR_INIT;
	struct candidate c = {
		.row = { .agent = xstrdup(row->agent),
			.own_name = xstrdup(row->own_name),
			.active_ms = row->active_ms },
		.dir = path_show(i->cwd, p->app->paths.home),
	};

	session_info_init(&c.row.info, i->format, i->path);
	const struct {
		char **to;
		const char *from;
	} copied[] = { { &c.row.info.id, i->id }, { &c.row.info.name, i->name },
		{ &c.row.info.cwd, i->cwd }, { &c.row.info.branch, i->branch },
		{ &c.row.info.prompt, i->prompt } };
	for (size_t k = 0; k < ARRAY_LEN(copied); k++) {
		free(*copied[k].to);
		*copied[k].to = xstrdup(copied[k].from);
	}
	c.row.info.turns = i->turns;
	utf8_normalise(&text, sv_of(session_title(&c.row)), true);
	c.title_n = text.len;
	const char *const others[] = { i->name, i->prompt, c.dir, i->branch, i->id, row->agent };
	for (size_t k = 0; k < ARRAY_LEN(others); k++) {
		str_addc(&text, '\n');
		utf8_normalise(&text, sv_of(others[k]), true);
	}
	c.text = str_detach(&text);
	vec_push(&p->all, c);
}

static int on_row(void *data, const struct session_row *row)
{
	add_candidate(data, row);
	return 0;
}

static void pick_release(struct pick *p)
{
	picker_free(p->picker);
	loop_free(p->loop);
	vec_each (&p->all, c) {
		session_row_release(&c->row);
		free(c->dir);
		free(c->text);
	}
	vec_release(&p->all);
}

/* ---- for the picker ---- */

/* Each of the words is in it somewhere; *ret_title when all are in the title. */
static bool fits(const struct candidate *c, struct sv words, bool *ret_title)
{
	struct sv text = sv_of(c->text), word;
	size_t at;

	*ret_title = true;
	while (sv_split(&words, ' ', &word)) {
		if (!word.n)
			continue;
		if (!sv_find(text, word, &at))
			return false;
		if (at + word.n > c->title_n)
			*ret_title = false;
	}
	return true;
}

/* What has the words in its title goes before what has them elsewhere; the newest first. */
static int find(void *data, struct sv words, const struct worker *worker, struct picker_found *ret,
	struct err *reterr)
{
	const struct pick *p = data;
	AUTO_STR folded = STR_INIT;
	const struct candidate **rows = xcalloc(p->all.n + 1, sizeof(const struct candidate *));
	const struct candidate **others = xcalloc(p->all.n + 1, sizeof(const struct candidate *));
	size_t n = 0, n_others = 0;
	bool title;

	utf8_normalise(&folded, words, true);
	vec_each (&p->all, c) {
		if (!fits(c, str_sv(&folded), &title))
			continue;
		if (title)
			rows[n++] = c;
		else
			others[n_others++] = c;
	}
	memcpy(rows + n, others, n_others * sizeof(const struct candidate *));
	free(others);
	if (worker_cancelled(worker)) {
		free(rows);
		return err_set(reterr, ERR_CANCELLED, "overtaken");
	}
	*ret = (struct picker_found){ .rows = rows, .n = n + n_others, .total = p->all.n };
	return 0;
}

static void release(void *data UNUSED, struct picker_found *found)
{
	free(found->rows);
}

static const struct candidate *candidate_at(const struct picker_found *found, size_t row)
{
	return ((const struct candidate *const *)found->rows)[row];
}

enum { COL_TITLE, COL_AGE, COL_AGENT, COL_DIR, COLS };
enum { DIR_COLS = 20 };
static const struct picker_column columns[COLS] = {
	[COL_TITLE] = { .marked = true },
	[COL_AGE] = { .width = 12, .from = 36, .style = STYLE_DIM },
	[COL_AGENT] = { .width = 7, .from = 50, .style = STYLE_DIM },
	[COL_DIR] = { .width = DIR_COLS, .from = 64, .style = STYLE_DIM, .marked = true },
};

static void put_row(void *data, const struct picker_found *found, size_t row, struct str *cells)
{
	const struct pick *p = data;
	const struct candidate *c = candidate_at(found, row);
	char age[CLOCK_TEXT_MAX];
	size_t at;

	clock_format_ago(p->now_ms - c->row.active_ms, age);
	str_adds(&cells[COL_TITLE], session_title(&c->row));
	str_adds(&cells[COL_AGE], age);
	str_adds(&cells[COL_AGENT], c->row.agent);
	/* The end of a long path tells more than its beginning. */
	struct sv dir = sv_of(c->dir);
	while (utf8_width(dir) >= DIR_COLS && sv_find(sv_from(dir, 1), SV("/"), &at))
		dir = sv_from(dir, at + 1);
	str_adds(&cells[COL_DIR], dir.n < strlen(c->dir) ? "…" : "");
	str_add(&cells[COL_DIR], dir);
}

/* The beginning of the first line within the last `most` bytes of the file. */
static int tail_offset(const char *path, uint64_t most, uint64_t *ret, struct err *reterr)
{
	struct stat st;
	AUTO_CLOSE int fd = unpack_open(path, NULL, reterr);
	char piece[4096];
	ssize_t n = 1;

	*ret = 0;
	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0 || (uint64_t)st.st_size <= most)
		return 0;
	for (uint64_t at = (uint64_t)st.st_size - most; n > 0; at += (uint64_t)n) {
		n = pread(fd, piece, sizeof(piece), (off_t)at);
		const char *end = n > 0 ? memchr(piece, '\n', (size_t)n) : NULL;
		if (end) {
			*ret = at + (uint64_t)(end - piece) + 1;
			return 0;
		}
	}
	return 0;
}

static int show_from(const struct candidate *c, uint64_t offset, const struct worker *worker,
	struct term *t, struct err *reterr)
{
	const struct transcript_read_opts opts = { .offset = offset };
	const struct show_style style = { .agent = c->row.agent };
	struct show_state state = SHOW_STATE_INIT;
	struct transcript_reader *reader = NULL;
	struct item item;
	int r = transcript_open(c->row.info.path, c->row.info.format, &opts, &reader, reterr);

	while (r >= 0 && (r = transcript_next(reader, &item, reterr)) > 0) {
		view_item(&state, &style, t, &item);
		if (worker_cancelled(worker))
			r = err_set(reterr, ERR_CANCELLED, "overtaken");
	}
	transcript_close(reader);
	show_state_release(&state);
	return r;
}

/* What it is, and the last words; of a file that ends with much that is not shown, more is read. */
static int preview(void *data UNUSED, const struct picker_found *found, size_t row,
	const struct worker *worker, struct term *t, struct picker_view *ret, struct err *reterr)
{
	enum { FIRST = 64 * 1024, MOST = 16 * 1024 * 1024, STEP = 8 };
	const struct candidate *c = candidate_at(found, row);
	AUTO_STR line = STR_INIT;
	uint64_t offset = 1;
	int r = 0;

	str_addf(&line, "%s  %lld %s  %s%s%s", c->row.info.id, (long long)c->row.info.turns,
		c->row.info.turns == 1 ? "turn" : "turns", c->dir,
		c->row.info.branch[0] ? "  " : "", c->row.info.branch);
	term_styled(t, STYLE_NOTICE, str_sv(&line));
	term_newline(t);
	size_t head = t->buf.len;
	for (uint64_t most = FIRST; r >= 0 && offset > 0 && most <= MOST; most *= STEP) {
		str_cut(&t->buf, head);
		t->col = 0;
		r = tail_offset(c->row.info.path, most, &offset, reterr);
		if (r >= 0)
			r = show_from(c, offset, worker, t, reterr);
		if (t->buf.len > head)
			break;
	}
	*ret = (struct picker_view){ .fixed = 1, .at = PICKER_END };
	return r;
}

static const struct picker_source source = {
	.find = find,
	.release = release,
	.row = put_row,
	.preview = preview,
};

/* ---- keys ---- */

static bool act_choose(
	void *data, struct picker *picker UNUSED, const struct picker_found *found, size_t row)
{
	struct pick *p = data;

	p->chosen = candidate_at(found, row);
	return true;
}

/* Without a pager what was printed would be gone before it was read. */
static void wait_for_enter(const struct app *app)
{
	char c;

	say_note(app->err, "Enter goes back");
	while (read(app->in, &c, 1) == 1 && c != '\n') {
	}
}

static bool act_read(
	void *data, struct picker *picker, const struct picker_found *found, size_t row)
{
	struct pick *p = data;
	char *words[] = { candidate_at(found, row)->row.info.path, NULL };
	struct err err = ERR_INIT;

	picker_hide(picker);
	p->app->pager_stays = true;
	int r = cmd_call(p->app, &cmd_show, 1, words, &err);
	bool paged = p->app->pager.running;
	app_pager_end(p->app);
	p->app->pager_stays = false;
	(void)fflush(p->app->out);
	if (r >= 0 && !paged)
		wait_for_enter(p->app);
	if (r < 0)
		picker_say(picker, err.msg);
	if (picker_show(picker, NULL) < 0)
		picker_leave(picker);
	return false;
}

static bool act_copy(
	void *data, struct picker *picker, const struct picker_found *found, size_t row)
{
	const struct pick *p = data;
	const struct candidate *c = candidate_at(found, row);
	const struct clip_desktop desktop = {
		.search = p->app->paths.search,
		.wayland_display = env_get("WAYLAND_DISPLAY"),
		.display = env_get("DISPLAY"),
		.envp = env_all(),
	};
	AUTO_STR said = STR_INIT;
	struct err err = ERR_INIT;

	if (clip_put(sv_of(c->row.info.id), &desktop, NULL, &err) >= 0)
		str_addf(&said, "on the clipboard: %s", c->row.info.id);
	else
		str_addf(&said, "%s (%s)", c->row.info.id, err.msg);
	picker_say(picker, said.buf);
	return false;
}

static const struct picker_key choosing[] = {
	{ KEY_ENTER, "Enter", "choose", "choose the session", act_choose },
	{ KEY_CTRL | 'o', "^O", "read", "read it in the pager, and come back", act_read },
	{ KEY_CTRL | 'y', "^Y", "copy id", "put its id on the clipboard", act_copy },
};

/* ---- from outside ---- */

bool pick_possible(const struct app *app)
{
	return app->in_tty && app->out_tty && app->err_tty && !app->json &&
		env_shows_lines(app->out_tty) && tcgetpgrp(app->in) == getpgrp();
}

static void on_signal(void *data, int signo)
{
	struct pick *p = data;

	p->signo = signo;
	picker_leave(p->picker);
}

static int run(struct pick *p, const struct pick_opts *opts, struct err *reterr)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	const struct app *app = p->app;
	const struct term_opts screen = {
		.fd = STDOUT_FILENO,
		.colour = app->colour ? TERM_COLOUR_ALWAYS : TERM_COLOUR_NEVER,
		.term_name = env_get("TERM"),
		.ascii = !env_use_locale(),
	};
	struct term term;

	(void)fflush(app->out);
	p->loop = loop_new();
	for (size_t i = 0; i < ARRAY_LEN(signals); i++)
		if (!loop_add_signal(p->loop, signals[i], on_signal, p, reterr))
			return reterr ? reterr->code : ERR_BUG;
	term_init(&term, &screen);
	const struct picker_opts how = {
		.loop = p->loop,
		.term = &term,
		.in_fd = app->in,
		.question = opts->question,
		.words = opts->words,
		.columns = columns,
		.n_columns = ARRAY_LEN(columns),
		.source = &source,
		.keys = choosing,
		.n_keys = ARRAY_LEN(choosing),
		.data = p,
	};
	p->picker = picker_new(&how, reterr);
	int r = p->picker ? picker_run(p->picker, reterr) : reterr ? reterr->code : ERR_BUG;
	picker_free(TAKE_PTR(p->picker));
	loop_free(TAKE_PTR(p->loop));
	term_release(&term);
	if (p->signo) /* as it would have without us */
		(void)raise(p->signo);
	if (r == 0)
		return err_set(reterr, ERR_CANCELLED, "nothing was chosen");
	return r < 0 ? r : 0;
}

static int gather(struct pick *p, const struct pick_opts *opts, struct err *reterr)
{
	const struct catalogue_query query = { .gone = opts->gone };
	int r = 0;

	p->now_ms = clock_wall_ms(&p->app->clock);
	if (opts->among) {
		vec_each (&opts->among->rows, row)
			add_candidate(p, row);
	} else {
		r = sessions_refresh(p->app, reterr);
		if (r >= 0)
			r = catalogue_query(p->app->store, &query, on_row, p, reterr);
	}
	if (r >= 0 && p->all.n == 0)
		return err_set(reterr, ERR_NOTFOUND, "there are no sessions of any agent");
	return r;
}

int pick_session(struct app *app, const struct pick_opts *opts, char **ret_path, struct err *reterr)
{
	CLEANUP(pick_release)
	struct pick p = { .app = app, .all = VEC_INIT };
	int r = gather(&p, opts, reterr);

	if (r >= 0)
		r = run(&p, opts, reterr);
	if (r >= 0)
		*ret_path = xstrdup(p.chosen->row.info.path);
	return r;
}
