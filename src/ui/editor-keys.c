#include <signal.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "ui/editor-impl.h"

enum {
	PASTE_LINES_MAX = 5, /* more show as a label */
	PASTE_SHOWN_MAX = 2000, /* bytes; more show as a label */
	TAB_STOP = 8,
	COMPLETIONS_SHOWN = 100,
};

static struct editor *editor_of(EditLine *el)
{
	void *e = NULL;

	(void)el_wget(el, EL_CLIENTDATA, &e);
	return e;
}

wchar_t *editor_widen(struct sv text)
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

void editor_narrow(struct str *out, const wchar_t *from, const wchar_t *to)
{
	for (; from < to; from++)
		utf8_add(out, (uint32_t)*from);
}

/* ---- where things are on the screen: libedit's own layout, which it keeps to itself ---- */

static size_t shown_width(wchar_t c)
{
	int width = wcwidth(c);

	if (c < 0x20 || c == 0x7F)
		return 2; /* "^X" */
	return width > 0 ? (size_t)width : 0;
}

struct editor_place editor_place(const struct editor *e, const wchar_t *from, const wchar_t *to)
{
	size_t cols = e->opts.term->cols;
	struct editor_place at = { e->prompt_width / cols, e->prompt_width % cols };

	for (; from < to; from++) {
		if (*from == L'\n') {
			at = (struct editor_place){ at.row + 1, 0 };
			continue;
		}
		size_t width = *from == L'\t' ? TAB_STOP - at.col % TAB_STOP : shown_width(*from);
		if (at.col + width > cols)
			at = (struct editor_place){ at.row + 1, 0 };
		at.col += width;
		if (at.col >= cols)
			at = (struct editor_place){ at.row + 1, 0 };
	}
	return at;
}

void editor_leave_line(struct editor *e, const char *mark)
{
	struct term *t = e->opts.term;
	const LineInfoW *line = el_wline(e->el);
	size_t row = editor_place(e, line->buffer, line->cursor).row;
	struct editor_place end = editor_place(e, line->buffer, line->lastchar);
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

/* ---- pasted blocks ---- */

static void drop_paste(struct editor_paste *p)
{
	free(p->label);
	free(p->text);
}

void editor_drop_pastes(struct editor *e)
{
	vec_each (&e->pastes, p)
		drop_paste(p);
	vec_release(&e->pastes);
}

void editor_expand_pastes(struct editor *e, struct sv line, struct str *out)
{
	while (line.n) {
		const struct editor_paste *found = NULL;
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
	const struct sv end = SV("\033[201~");
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
	AUTO_FREE wchar_t *wide = editor_widen(text);

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
	size_t lines = editor_count_newlines(str_sv(&text)) + 1;
	if (lines <= PASTE_LINES_MAX && text.len <= PASTE_SHOWN_MAX) {
		insert(el, str_sv(&text));
		return CC_REFRESH;
	}
	char *label = xasprintf("[pasted %zu lines, %zu]", lines, e->pastes.n + 1);
	insert(el, sv_of(label));
	vec_push(&e->pastes, (struct editor_paste){ label, str_detach(&text) });
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

	/* Here, because libedit forgets where the cursor is when the line ends. */
	editor_leave_line(e, "^C");
	e->reason = EDITOR_INTERRUPTED;
	return CC_EOF;
}

static unsigned char key_suspend(EditLine *el, wint_t key UNUSED)
{
	struct editor *e = editor_of(el);

	editor_hide(e);
	term_control(e->opts.term, "\033[?2004l");
	(void)!term_flush(e->opts.term, NULL);
	(void)el_set(el, EL_PREP_TERM, 0);
	(void)kill(0, SIGTSTP);
	(void)el_set(el, EL_PREP_TERM, 1);
	term_control(e->opts.term, "\033[?2004h");
	(void)term_resize(e->opts.term);
	el_resize(el);
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
	editor_narrow(&word, from, line->cursor);
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

struct binding {
	const char *key, *command;
};

void editor_bind_keys(struct editor *e)
{
	static const struct binding bindings[] = {
		{ "\033[200~", "faden-paste" },
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
