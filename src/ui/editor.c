#include "ui/editor.h"

#include <errno.h>
#include <fcntl.h>
#include <histedit.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "os/file.h"

/* Between two of these, libedit takes the characters of a prompt to have no width. */
#define ESCAPE_MARK 1

enum {
	PASTE_LINES_MAX = 5, /* more show as a label */
	PASTE_SHOWN_MAX = 2000, /* bytes; more show as a label */
	TAB_STOP = 8,
	COMPLETIONS_SHOWN = 100,
	HISTORY_MODE = 0600,
	HISTORY_REWRITE_AT = 2, /* times the entries kept */
	ESCAPE_MS = 200, /* between the bytes of one key, on a slow line too */
};

struct paste {
	char *label; /* what stands in the line */
	char *text; /* what it stands for */
};

struct editor {
	struct editor_opts opts;
	char *history_path;
	struct term_mode mode;
	EditLine *el; /* both NULL when it was opened on a terminal that these are not for */
	HistoryW *history;
	struct str last; /* the newest entry of the history */
	FILE *in, *out, *err;
	wchar_t *prompt; /* with its style between escape markers */
	size_t prompt_width;
	struct str prefill;
	VEC(struct paste) pastes;
	char unread; /* a byte that was read too early */
	bool has_unread;
	struct str ahead; /* keys that come before those of the terminal */

	/* Only while editor_read() runs: */
	bool reading;
	bool edited; /* by libedit, not by the terminal */
	const char *plain_prompt; /* without libedit */
	bool ready; /* a key can be read */
	bool hidden;
	enum editor_result reason; /* why the line ends when libedit has none */
	int failed; /* a negative error from the loop */
	struct err *reterr;
};

/* ---- between libedit's characters and ours; invalid ones become U+FFFD ---- */

static struct editor *editor_of(EditLine *el)
{
	void *e = NULL;

	(void)el_wget(el, EL_CLIENTDATA, &e);
	return e;
}

static wchar_t *widen(struct sv text)
{
	wchar_t *wide = xreallocarray(NULL, text.n + 1, sizeof(*wide));
	size_t n = 0;

	while (text.n) {
		uint32_t cp;
		text = sv_from(text, utf8_decode(text, &cp));
		wide[n++] = (wchar_t)cp;
	}
	wide[n] = L'\0';
	return wide;
}

static void narrow(struct str *out, const wchar_t *from, const wchar_t *to)
{
	for (; from < to; from++)
		utf8_add(out, (uint32_t)*from);
}

static size_t count_newlines(struct sv text)
{
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++)
		n += text.p[i] == '\n';
	return n;
}

/* ---- the screen ---- */

struct place {
	size_t row, col; /* from the beginning of the prompt */
};

/* Where libedit puts the cursor, which it keeps to itself. */
static struct place place_of(const struct editor *e, const wchar_t *from, const wchar_t *to)
{
	size_t cols = e->opts.term->cols;
	struct place at = { e->prompt_width / cols, e->prompt_width % cols };

	for (; from < to; from++) {
		if (*from == L'\n') {
			at = (struct place){ at.row + 1, 0 };
			continue;
		}
		int columns = wcwidth(*from);
		size_t width = columns > 0 ? (size_t)columns : 0;
		if (*from == L'\t')
			width = TAB_STOP - at.col % TAB_STOP;
		else if (*from < 0x20 || *from == 0x7F)
			width = 2; /* "^X" */
		if (at.col + width > cols)
			at = (struct place){ at.row + 1, 0 };
		at.col += width;
		if (at.col >= cols)
			at = (struct place){ at.row + 1, 0 };
	}
	return at;
}

/* Leaves what was typed on the screen, `mark` behind it, and goes to the line below. */
static void leave_line(struct editor *e, const char *mark)
{
	struct term *t = e->opts.term;
	const LineInfoW *line = el_wline(e->el);
	size_t row = place_of(e, line->buffer, line->cursor).row;
	struct place end = place_of(e, line->buffer, line->lastchar);
	char move[64];

	if (end.row > row) {
		(void)snprintf(move, sizeof(move), "\033[%zuB", end.row - row);
		term_control(t, move);
	}
	(void)snprintf(move, sizeof(move), "\r\033[%zuC", end.col);
	term_control(t, end.col ? move : "\r");
	term_puts(t, mark);
	term_puts(t, "\n");
	e->hidden = true;
}

void editor_hide(struct editor *e)
{
	struct term *t = e->opts.term;

	if (!e->reading || e->hidden)
		return;
	e->hidden = true;
	if (!e->edited) {
		term_fresh_line(t);
		return;
	}
	const LineInfoW *line = el_wline(e->el);
	size_t row = place_of(e, line->buffer, line->cursor).row;
	term_control(t, "\r");
	if (row) {
		char up[32];
		(void)snprintf(up, sizeof(up), "\033[%zuA", row);
		term_control(t, up);
	}
	term_control(t, "\033[J");
	t->col = 0;
}

void editor_show(struct editor *e)
{
	if (!e->hidden)
		return;
	e->hidden = false;
	term_fresh_line(e->opts.term);
	if (e->reading && !e->edited)
		term_puts(e->opts.term, e->plain_prompt);
	(void)!term_flush(e->opts.term, NULL);
	if (e->reading && e->edited)
		(void)el_set(e->el, EL_REFRESH);
}

/* libedit asks the terminal itself and makes room for two screens of what that says. */
static bool is_too_large(const struct editor *e)
{
	struct winsize size;

	return ioctl(e->opts.in_fd, TIOCGWINSZ, &size) == 0 &&
		(size_t)size.ws_col * size.ws_row > EDITOR_CELLS_MAX;
}

static void resize(struct editor *e)
{
	(void)term_resize(e->opts.term);
	if (!is_too_large(e))
		el_resize(e->el);
}

void editor_resize(struct editor *e)
{
	/* Before each line libedit looks for itself. */
	if (!e->edited) {
		(void)term_resize(e->opts.term);
		return;
	}
	editor_hide(e);
	resize(e);
	editor_show(e);
}

void editor_cancel(struct editor *e)
{
	if (!e->reading)
		return;
	if (e->edited) {
		const LineInfoW *line = el_wline(e->el);
		str_clear(&e->prefill);
		narrow(&e->prefill, line->buffer, line->lastchar);
	}
	editor_hide(e);
	e->reason = EDITOR_CANCELLED;
	e->reading = false;
}

/* ---- the terminal's bytes, while the loop goes on ---- */

static void on_key(void *data, short revents UNUSED)
{
	struct editor *e = data;

	e->ready = true;
}

/* Waits for a key while the loop goes on. False when the line is to end. */
static bool wait_for_key(struct editor *e)
{
	e->ready = false;
	while (!e->ready && e->reading) {
		if (!e->opts.loop) {
			struct pollfd key = { .fd = e->opts.in_fd, .events = POLLIN };
			e->ready = poll(&key, 1, -1) > 0 || errno != EINTR;
			continue;
		}
		int r = loop_step(e->opts.loop, -1, e->reterr);
		if (r < 0) {
			e->failed = r;
			e->reading = false;
		}
	}
	return e->reading;
}

/* Escape begins the keys of several bytes; alone it must not wait for another and take that. */
static bool key_follows(const struct editor *e)
{
	struct pollfd key = { .fd = e->opts.in_fd, .events = POLLIN };

	return poll(&key, 1, ESCAPE_MS) > 0;
}

/* Somebody wants to leave the line. */
static bool leaves(const struct editor *e, char key)
{
	if (key == '\033')
		return !key_follows(e);
	if (!e->opts.leave || !e->edited || (key != '\177' && key != '\b'))
		return false;
	const LineInfoW *line = el_wline(e->el);
	return line->lastchar == line->buffer;
}

static bool read_byte(struct editor *e, char *ret)
{
	if (e->has_unread) {
		*ret = e->unread;
		e->has_unread = false;
		return true;
	}
	if (e->ahead.len && e->reading) {
		*ret = e->ahead.buf[0];
		str_drop(&e->ahead, 1);
		return true;
	}
	while (wait_for_key(e)) {
		ssize_t n = read(e->opts.in_fd, ret, 1);
		if (n == 1 && leaves(e, *ret)) {
			if (e->opts.leave)
				e->opts.leave(e->opts.leave_data);
			continue;
		}
		if (n == 1)
			return true;
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		e->reading = false; /* the terminal is gone */
	}
	return false;
}

void editor_type(struct editor *e, struct sv keys)
{
	str_add(&e->ahead, keys);
}

void editor_put(struct editor *e, struct sv text)
{
	str_clear(&e->prefill);
	str_add(&e->prefill, text);
}

bool editor_offer(struct editor *e, struct sv text)
{
	if (e->reading || e->prefill.len > 0)
		return false;
	editor_put(e, text);
	return true;
}

/* libedit's source of characters. */
static int get_char(EditLine *el, wchar_t *ret)
{
	struct editor *e = editor_of(el);
	char bytes[4];
	size_t n = 0;
	uint32_t cp;

	if (e->prefill.len) {
		AUTO_FREE wchar_t *wide = widen(str_sv(&e->prefill));
		str_clear(&e->prefill);
		editor_hide(e);
		(void)el_winsertstr(el, wide);
		editor_show(e);
	}
	do {
		if (!read_byte(e, &bytes[n]))
			return 0;
		/* A key after half a character is a key of its own: it may be Ctrl-C. */
		e->has_unread = n > 0 && ((unsigned char)bytes[n] & 0xC0) != 0x80;
		if (e->has_unread)
			e->unread = bytes[n];
		else
			n++;
	} while (!e->has_unread && n < utf8_expect((unsigned char)bytes[0]));
	(void)utf8_decode(sv_make(bytes, n), &cp);
	*ret = (wchar_t)cp;
	return 1;
}

/* ---- pasted blocks ---- */

static void drop_pastes(struct editor *e)
{
	vec_each (&e->pastes, p) {
		free(p->label);
		free(p->text);
	}
	vec_release(&e->pastes);
}

/* Labels of pasted blocks replaced by the blocks. */
static void expand_pastes(struct editor *e, struct sv line, struct str *out)
{
	while (line.n) {
		const struct paste *found = NULL;
		vec_each (&e->pastes, p) {
			if (sv_starts(line, sv_of(p->label)))
				found = p;
		}
		str_add(out, found ? sv_of(found->text) : sv_head(line, 1));
		line = sv_from(line, found ? strlen(found->label) : 1);
	}
}

/* Collects up to the end mark. False when the input ended or became too long. */
static bool read_paste(EditLine *el, struct str *raw)
{
	const struct sv end = SV(TERM_PASTE_END);
	wchar_t c;

	while (el_wgetc(el, &c) == 1) {
		utf8_add(raw, (uint32_t)c);
		if (!sv_ends(str_sv(raw), end))
			continue;
		str_cut(raw, raw->len - end.n);
		return !str_full(raw);
	}
	return false;
}

/* Terminals send line breaks of a paste as CR. */
static void clean_paste(struct str *out, struct sv raw)
{
	AUTO_STR lines = STR_INIT;

	for (size_t i = 0; i < raw.n; i++) {
		if (raw.p[i] != '\r')
			str_addc(&lines, raw.p[i]);
		else if (i + 1 == raw.n || raw.p[i + 1] != '\n')
			str_addc(&lines, '\n');
	}
	utf8_scrub(out, str_sv(&lines));
	while (sv_ends(str_sv(out), SV("\n")))
		str_cut(out, out->len - 1);
}

static void insert(EditLine *el, struct sv text)
{
	AUTO_FREE wchar_t *wide = widen(text);

	(void)el_winsertstr(el, wide);
}

static unsigned char key_paste(EditLine *el, wint_t key UNUSED)
{
	struct editor *e = editor_of(el);
	AUTO_STR raw = STR_INIT;
	AUTO_STR text = STR_INIT;

	str_init_max(&raw, EDITOR_INPUT_MAX);
	if (!read_paste(el, &raw))
		return e->reading ? CC_REFRESH_BEEP : CC_EOF;
	clean_paste(&text, str_sv(&raw));
	size_t lines = count_newlines(str_sv(&text)) + 1;
	if (lines <= PASTE_LINES_MAX && text.len <= PASTE_SHOWN_MAX) {
		insert(el, str_sv(&text));
		return CC_REFRESH;
	}
	char *label = xasprintf("[pasted %zu lines, %zu]", lines, e->pastes.n + 1);
	insert(el, sv_of(label));
	vec_push(&e->pastes, (struct paste){ label, str_detach(&text) });
	return CC_REFRESH;
}

/* ---- keys that end or interrupt the line ---- */

/* Enter. libedit's own command does the rest under a key that nobody can type. */
static unsigned char key_enter(EditLine *el, wint_t key UNUSED)
{
	const LineInfoW *line = el_wline(el);

	if (line->lastchar > line->buffer && line->lastchar[-1] == L'\\' &&
		line->cursor == line->lastchar) {
		el_wdeletestr(el, 1);
		(void)el_winsertstr(el, L"\n");
		return CC_REFRESH;
	}
	el_wpush(el, L"\036");
	return CC_NORM;
}

static unsigned char key_interrupt(EditLine *el, wint_t key UNUSED)
{
	struct editor *e = editor_of(el);
	const LineInfoW *line = el_wline(el);

	e->reason = line->lastchar > line->buffer ? EDITOR_DROPPED : EDITOR_INTERRUPTED;
	/* Here, because libedit forgets where the cursor is when the line ends. */
	leave_line(e, "^C");
	return CC_EOF;
}

static unsigned char key_suspend(EditLine *el, wint_t key UNUSED)
{
	struct editor *e = editor_of(el);

	editor_hide(e);
	term_paste(e->opts.term, false);
	(void)!term_flush(e->opts.term, NULL);
	(void)el_set(el, EL_PREP_TERM, 0);
	(void)kill(0, SIGTSTP);
	(void)el_set(el, EL_PREP_TERM, 1);
	term_paste(e->opts.term, true);
	resize(e);
	editor_show(e);
	return CC_NORM;
}

/* ---- completion ---- */

static size_t common_prefix(const struct strv *words)
{
	size_t n = strlen(words->v[0]);

	for (size_t i = 1; i < words->n; i++) {
		size_t k = 0;
		while (k < n && words->v[i][k] == words->v[0][k])
			k++;
		n = k;
	}
	return utf8_cut(sv_of(words->v[0]), n).n;
}

static void show_words(struct editor *e, const struct strv *words)
{
	struct term *t = e->opts.term;

	editor_hide(e);
	for (size_t i = 0; i < words->n && i < COMPLETIONS_SHOWN; i++) {
		size_t width = utf8_width(sv_of(words->v[i]));
		if (t->col && t->col + 2 + width >= t->cols)
			term_newline(t);
		term_puts(t, t->col ? "  " : "");
		term_text_line(t, sv_of(words->v[i]));
	}
	term_fresh_line(t);
	editor_show(e);
}

static unsigned char key_complete(EditLine *el, wint_t key UNUSED)
{
	struct editor *e = editor_of(el);
	const LineInfoW *line = el_wline(el);
	const wchar_t *from = line->cursor;
	AUTO_STR word = STR_INIT;
	AUTO_STRV words = STRV_INIT;

	if (!e->opts.complete)
		return CC_NORM;
	while (from > line->buffer && from[-1] != L' ' && from[-1] != L'\n')
		from--;
	narrow(&word, from, line->cursor);
	e->opts.complete(e->opts.complete_data, str_sv(&word), &words);
	if (!words.n)
		return CC_REFRESH_BEEP;
	size_t common = common_prefix(&words);
	if (words.n > 1 && common <= word.len) {
		show_words(e, &words);
		return CC_NORM;
	}
	el_wdeletestr(el, (int)(line->cursor - from));
	insert(el, sv_make(words.v[0], common));
	if (words.n == 1)
		insert(el, SV(" "));
	return CC_REFRESH;
}

/* ---- bindings ---- */

static void bind_keys(struct editor *e)
{
	static const struct {
		const char *key, *command;
	} bindings[] = {
		{ TERM_PASTE_BEGIN, "faden-paste" },
		{ "^M", "faden-enter" },
		{ "^J", "faden-enter" },
		{ "\036", "ed-newline" },
		{ "^C", "faden-interrupt" },
		{ "^Z", "faden-suspend" },
		{ "^I", "faden-complete" },
		{ "^R", "em-inc-search-prev" },
		{ "\033[1~", "ed-move-to-beg" },
		{ "\033[H", "ed-move-to-beg" },
		{ "\033[4~", "ed-move-to-end" },
		{ "\033[F", "ed-move-to-end" },
		{ "\033[3~", "ed-delete-next-char" },
		{ "\033[1;5C", "em-next-word" },
		{ "\033[1;5D", "ed-prev-word" },
		{ "\033[1;3C", "em-next-word" },
		{ "\033[1;3D", "ed-prev-word" },
	};
	EditLine *el = e->el;

	/* The wide call: the narrow one copies the names and loses the copies. */
	(void)el_wset(el, EL_ADDFN, L"faden-paste", L"insert a pasted block", key_paste);
	(void)el_wset(el, EL_ADDFN, L"faden-enter", L"end the input or the line", key_enter);
	(void)el_wset(el, EL_ADDFN, L"faden-interrupt", L"drop the input", key_interrupt);
	(void)el_wset(el, EL_ADDFN, L"faden-suspend", L"stop the program", key_suspend);
	(void)el_wset(el, EL_ADDFN, L"faden-complete", L"complete the word", key_complete);
	for (size_t i = 0; i < ARRAY_LEN(bindings); i++)
		(void)el_set(el, EL_BIND, bindings[i].key, bindings[i].command, (char *)NULL);
}

/* ---- history: a file with one line an entry, "\n" and "\\" escaped ---- */

/* Into the running history only. */
static void enter(struct editor *e, struct sv entry)
{
	AUTO_STR clean = STR_INIT;
	HistEventW event;

	str_clear(&e->last);
	str_add(&e->last, entry);
	if (!e->history)
		return;
	utf8_scrub(&clean, entry);
	AUTO_FREE wchar_t *wide = widen(str_sv(&clean));
	(void)history_w(e->history, &event, H_ENTER, wide);
}

static void unescape(struct sv line, struct str *entry)
{
	str_clear(entry);
	for (size_t i = 0; i < line.n; i++) {
		bool escaped = line.p[i] == '\\' && i + 1 < line.n;
		i += escaped;
		str_addc(entry, escaped && line.p[i] == 'n' ? '\n' : line.p[i]);
	}
}

static void load_history(struct editor *e)
{
	AUTO_STR text = STR_INIT;
	AUTO_STR entry = STR_INIT;
	struct sv line;
	struct stat st;
	AUTO_CLOSE int fd = e->history_path ? file_open(e->history_path, &st, NULL) : -1;

	if (fd < 0)
		return;
	uint64_t size = (uint64_t)st.st_size;
	uint64_t from = size > EDITOR_HISTORY_FILE_MAX ? size - EDITOR_HISTORY_FILE_MAX : 0;
	if (file_read_at(fd, from, (size_t)(size - from), &text, NULL) < 0)
		return;
	struct sv all = str_sv(&text);
	if (from > 0) /* within a line */
		(void)sv_split(&all, '\n', &line);
	size_t lines = count_newlines(all);
	size_t at = all.n;
	for (size_t n = e->opts.history_max; at > 0; at--) /* the last lines that are kept */
		if (all.p[at - 1] == '\n' && n-- == 0)
			break;
	struct sv rest = sv_from(all, at);
	if (from > 0 || lines > HISTORY_REWRITE_AT * e->opts.history_max)
		(void)!file_replace(e->history_path, rest, HISTORY_MODE, NULL);
	while (sv_split(&rest, '\n', &line)) {
		if (!line.n)
			continue;
		unescape(line, &entry);
		enter(e, str_sv(&entry));
	}
}

int editor_forget(const char *history_path, bool (*stays)(void *data, struct sv entry), void *data,
	size_t *ret_gone, struct err *reterr)
{
	AUTO_STR text = STR_INIT, left = STR_INIT, entry = STR_INIT;
	struct sv line;
	size_t gone = 0;
	int r = file_read(history_path, SIZE_MAX, &text, reterr);
	struct sv all = str_sv(&text);

	while (r == 0 && sv_split(&all, '\n', &line)) {
		if (line.n == 0)
			continue;
		unescape(line, &entry);
		if (!stays(data, str_sv(&entry))) {
			gone++;
			continue;
		}
		str_add(&left, line);
		str_addc(&left, '\n');
	}
	if (r == 0 && gone > 0)
		r = file_replace(history_path, str_sv(&left), HISTORY_MODE, reterr);
	if (r < 0 && r != -ENOENT)
		return r;
	*ret_gone = gone;
	return 0;
}

int editor_remember(struct editor *e, struct sv text, struct err *reterr)
{
	AUTO_STR line = STR_INIT;

	if (!text.n || text.p[0] == ' ' || sv_eq(text, str_sv(&e->last)))
		return 0;
	enter(e, text);
	if (!e->history_path)
		return 0;
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '\n')
			str_adds(&line, "\\n");
		else if (text.p[i] == '\\')
			str_adds(&line, "\\\\");
		else if (text.p[i])
			str_addc(&line, text.p[i]);
	}
	str_addc(&line, '\n');
	return file_append(e->history_path, str_sv(&line), false, reterr);
}

/* ---- reading ---- */

static wchar_t *get_prompt(EditLine *el)
{
	return editor_of(el)->prompt;
}

static void set_prompt(struct editor *e, const char *prompt, unsigned style)
{
	struct term t;

	term_init_capture(&t, e->opts.term->cols, 1, e->opts.term->colour);
	str_addc(&t.buf, ESCAPE_MARK);
	term_style(&t, style);
	str_addc(&t.buf, ESCAPE_MARK);
	term_text_line(&t, sv_of(prompt));
	str_addc(&t.buf, ESCAPE_MARK);
	term_style(&t, STYLE_PLAIN);
	str_addc(&t.buf, ESCAPE_MARK);
	free(e->prompt);
	e->prompt = widen(str_sv(&t.buf));
	e->prompt_width = utf8_width(sv_of(prompt));
	term_release(&t);
}

static bool read_edited(struct editor *e, const char *prompt, unsigned style, struct str *ret_text)
{
	AUTO_STR text = STR_INIT;
	int n = 0;

	drop_pastes(e);
	set_prompt(e, prompt, style);
	const wchar_t *line = el_wgets(e->el, &n);
	if (!line || n <= 0) {
		if (!e->hidden)
			leave_line(e, "");
		return false;
	}
	e->opts.term->col = 0;
	while (n > 0 && line[n - 1] == L'\n')
		n--;
	narrow(&text, line, line + n);
	expand_pastes(e, str_sv(&text), ret_text);
	return true;
}

/* The terminal edits lines by itself; we only ask. */
static bool read_plain(struct editor *e, const char *prompt, struct str *ret_text)
{
	struct term *t = e->opts.term;
	char c;

	e->plain_prompt = prompt;
	term_puts(t, prompt);
	term_put(t, str_sv(&e->ahead)); /* the terminal shows only what is typed now */
	(void)!term_flush(t, NULL);
	while (read_byte(e, &c)) {
		if (c != '\n') {
			if (ret_text->len < EDITOR_INPUT_MAX)
				str_addc(ret_text, c);
			continue;
		}
		t->col = 0; /* the terminal showed it */
		if (!sv_ends(str_sv(ret_text), SV("\\")))
			return true;
		str_cut(ret_text, ret_text->len - 1);
		str_addc(ret_text, '\n');
	}
	term_fresh_line(t);
	return false;
}

int editor_read(struct editor *e, const char *prompt, unsigned style, struct str *ret_text,
	struct err *reterr)
{
	struct loop *loop = e->opts.loop;

	str_clear(ret_text);
	e->reading = true;
	e->edited = e->el && !is_too_large(e);
	e->hidden = false;
	e->reason = EDITOR_EOF;
	e->failed = 0;
	e->reterr = reterr;
	(void)term_mode_save(&e->mode, e->opts.in_fd);
	term_fresh_line(e->opts.term);
	term_paste(e->opts.term, e->edited);
	(void)!term_flush(e->opts.term, NULL);
	struct loop_source *keys =
		loop ? loop_add_fd(loop, e->opts.in_fd, POLLIN, on_key, e) : NULL;

	bool typed = e->edited ? read_edited(e, prompt, style, ret_text)
			       : read_plain(e, prompt, ret_text);

	if (keys)
		loop_remove(loop, keys);
	e->reading = e->edited = e->hidden = false;
	e->reterr = NULL;
	term_paste(e->opts.term, false);
	(void)!term_flush(e->opts.term, NULL);
	term_mode_restore(&e->mode);
	if (!typed)
		str_clear(ret_text);
	if (e->failed < 0)
		return e->failed;
	return typed ? EDITOR_LINE : (int)e->reason;
}

/* ---- life ---- */

static FILE *open_stream(int fd, const char *mode)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	FILE *stream = copy >= 0 ? fdopen(copy, mode) : NULL;

	if (!stream && copy >= 0)
		(void)close(copy);
	return stream;
}

static int open_libedit(struct editor *e, struct err *reterr)
{
	HistEventW event;

	e->in = open_stream(e->opts.in_fd, "r");
	e->out = open_stream(e->opts.term->fd, "w");
	e->err = fopen("/dev/null", "we");
	if (!e->in || !e->out || !e->err)
		return err_errno(reterr, errno, "open the terminal");
	e->el = el_init("faden", e->in, e->out, e->err);
	e->history = history_winit();
	if (!e->el || !e->history)
		return err_set(reterr, ERR_BUG, "the line editor does not start");
	(void)history_w(e->history, &event, H_SETSIZE, (int)e->opts.history_max);
	(void)el_set(e->el, EL_CLIENTDATA, e);
	(void)el_set(e->el, EL_TERMINAL, e->opts.term_name);
	(void)el_set(e->el, EL_SIGNAL, 0);
	(void)el_set(e->el, EL_EDITOR, "emacs");
	(void)el_set(e->el, EL_GETCFN, get_char);
	(void)el_wset(e->el, EL_PROMPT_ESC, get_prompt, (wchar_t)ESCAPE_MARK);
	(void)el_wset(e->el, EL_HIST, history_w, e->history);
	(void)el_set(e->el, EL_SETTY, "-d", "-isig", "-icrnl", "-inlcr", (char *)NULL);
	if (e->opts.editrc)
		(void)el_source(e->el, e->opts.editrc);
	bind_keys(e);
	return 0;
}

int editor_new(const struct editor_opts *opts, struct editor **ret, struct err *reterr)
{
	if (!opts->term->tty || !isatty(opts->in_fd))
		return err_set(reterr, ERR_USAGE, "the line editor needs a terminal");
	struct editor *e = xcalloc(1, sizeof(*e));
	e->opts = *opts;
	e->last = (struct str)STR_INIT;
	e->prefill = (struct str)STR_INIT;
	str_init_max(&e->ahead, EDITOR_INPUT_MAX);
	e->mode = (struct term_mode)TERM_MODE_INIT;
	if (!e->opts.history_max)
		e->opts.history_max = EDITOR_HISTORY_DEFAULT;
	if (opts->history_path)
		e->history_path = xstrdup(opts->history_path);
	int r = e->opts.term->cursor && !is_too_large(e) ? open_libedit(e, reterr) : 0;
	if (r < 0) {
		editor_free(e);
		return r;
	}
	load_history(e);
	*ret = e;
	return 0;
}

static void close_stream(FILE *stream)
{
	if (stream)
		(void)fclose(stream);
}

void editor_free(struct editor *e)
{
	if (!e)
		return;
	if (e->el)
		el_end(e->el);
	if (e->history)
		history_wend(e->history);
	close_stream(e->in);
	close_stream(e->out);
	close_stream(e->err);
	drop_pastes(e);
	str_release(&e->last);
	str_release(&e->prefill);
	str_release(&e->ahead);
	free(e->prompt);
	free(e->history_path);
	free(e);
}
