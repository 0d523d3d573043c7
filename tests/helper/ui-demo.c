/*
 * The interface without anything behind it, for tests that drive a terminal: a prompt, an answer
 * that streams in pieces with the status line below it, notices that come while the user types.
 *
 *	ui-demo [HISTORY-FILE]
 *
 * Inputs: "say TEXT" streams TEXT as Markdown; "slow TEXT" the same by single characters;
 * "notice MS TEXT" prints TEXT above the prompt after that time; "cancel MS" ends the prompt from
 * the loop; "run" waits with a status line until Ctrl-C; "quit". Anything else is shown quoted.
 */
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"
#include "os/loop.h"
#include "ui/editor.h"
#include "ui/markdown.h"
#include "ui/status.h"
#include "ui/term.h"

enum { TICK_MS = 50 };

struct demo {
	struct loop *loop;
	struct term term;
	struct term_mode mode;
	struct editor *editor;
	struct status status;
	struct markdown markdown;
	struct str text; /* what is streamed */
	struct str notice;
	size_t at, piece;
	int64_t elapsed;
	bool done;
	bool in_turn;
};

static void flush(struct demo *d)
{
	if (term_flush(&d->term, NULL) < 0)
		exit(1);
}

static void on_resize(void *data, int signo UNUSED)
{
	struct demo *d = data;

	if (d->in_turn)
		status_resize(&d->status);
	else
		editor_resize(d->editor);
	flush(d);
}

static void on_interrupt(void *data, int signo UNUSED)
{
	struct demo *d = data;

	d->done = true;
}

static void on_notice(void *data)
{
	struct demo *d = data;

	editor_hide(d->editor);
	term_styled(&d->term, STYLE_NOTICE, str_sv(&d->notice));
	term_newline(&d->term);
	editor_show(d->editor);
}

static void on_cancel(void *data)
{
	editor_cancel(((struct demo *)data)->editor);
}

static void on_tick(void *data)
{
	struct demo *d = data;

	if (d->done)
		return;
	d->elapsed += TICK_MS;
	if (d->piece && d->at == d->text.len) {
		d->done = true;
		return;
	}
	if (d->piece) {
		struct sv next = sv_head(sv_from(str_sv(&d->text), d->at), d->piece);
		d->at += next.n;
		status_hide(&d->status);
		markdown_feed(&d->markdown, next);
		status_show(&d->status);
	}
	status_tick(&d->status, d->elapsed);
	flush(d);
	(void)loop_add_timer(d->loop, TICK_MS, on_tick, d);
}

static void run_turn(struct demo *d, struct sv text, size_t piece)
{
	str_clear(&d->text);
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] == '|')
			str_addc(&d->text, '\n');
		else
			str_addc(&d->text, text.p[i]);
	}
	d->at = 0;
	d->piece = piece;
	d->elapsed = 0;
	d->done = false;
	d->in_turn = true;
	term_mode_quiet(&d->mode);
	status_set_state(&d->status, piece ? STATUS_ANSWERING : STATUS_THINKING, SV(""));
	status_show(&d->status);
	flush(d);
	(void)loop_add_timer(d->loop, TICK_MS, on_tick, d);
	if (loop_run(d->loop, &d->done, NULL) < 0)
		exit(1);
	status_hide(&d->status);
	markdown_end(&d->markdown);
	flush(d);
	term_mode_restore(&d->mode);
	d->in_turn = false;
}

static bool cut_word(struct sv *text, const char *word)
{
	struct sv w = sv_of(word);

	if (!sv_starts(*text, w))
		return false;
	*text = sv_trim(sv_from(*text, w.n));
	return true;
}

static void show_quoted(struct demo *d, struct sv text)
{
	AUTO_STR line = STR_INIT;

	/* Whole: a byte of a character alone is none, and is not shown. */
	for (size_t i = 0; i < text.n; i++)
		str_add(&line, text.p[i] == '\n' ? SV("\\n") : sv_make(text.p + i, 1));
	term_putf(&d->term, "got <%s>\n", line.buf);
}

/* "MS REST" */
static int64_t cut_time(struct sv *text)
{
	struct sv number;
	long long ms = 0;

	(void)(sv_split(text, ' ', &number) && sv_parse_i64(number, &ms));
	return ms;
}

static bool obey(struct demo *d, struct sv text)
{
	if (sv_is(text, "quit"))
		return false;
	if (cut_word(&text, "say ")) {
		run_turn(d, text, 7);
	} else if (cut_word(&text, "slow ")) {
		run_turn(d, text, 1);
	} else if (sv_is(text, "run")) {
		run_turn(d, SV(""), 0);
		term_puts(&d->term, "stopped\n");
	} else if (cut_word(&text, "notice ")) {
		int64_t ms = cut_time(&text);
		str_clear(&d->notice);
		str_add(&d->notice, text);
		(void)loop_add_timer(d->loop, ms, on_notice, d);
	} else if (cut_word(&text, "cancel ")) {
		(void)loop_add_timer(d->loop, cut_time(&text), on_cancel, d);
	} else {
		show_quoted(d, text);
	}
	flush(d);
	return true;
}

static void complete(void *data UNUSED, struct sv word, struct strv *ret_words)
{
	static const char *const known[] = { "notice", "nothing", "quit" };

	for (size_t i = 0; i < ARRAY_LEN(known); i++)
		if (sv_starts(sv_of(known[i]), word))
			strv_add(ret_words, known[i]);
}

static void converse(struct demo *d)
{
	AUTO_STR text = STR_INIT;
	struct err err = ERR_INIT;

	for (;;) {
		int r = editor_read(d->editor, "> ", STYLE_USER, &text, &err);
		if (r == EDITOR_INTERRUPTED || r == EDITOR_DROPPED)
			term_puts(&d->term, "interrupted\n");
		else if (r == EDITOR_CANCELLED)
			term_puts(&d->term, "cancelled\n");
		else if (r != EDITOR_LINE)
			break;
		if (r == EDITOR_LINE && editor_remember(d->editor, str_sv(&text), &err) < 0)
			term_putf(&d->term, "%s\n", err.msg);
		if (r == EDITOR_LINE && !obey(d, str_sv(&text)))
			break;
	}
	term_puts(&d->term, "bye\n");
	flush(d);
}

int main(int argc, char **argv)
{
	struct demo d = { .text = STR_INIT, .notice = STR_INIT };
	struct err err = ERR_INIT;
	const char *name = getenv("TERM");

	(void)setlocale(LC_CTYPE, "");
	d.loop = loop_new();
	(void)loop_add_signal(d.loop, SIGWINCH, on_resize, &d, &err);
	(void)loop_add_signal(d.loop, SIGINT, on_interrupt, &d, &err);
	term_init(&d.term, &(struct term_opts){ .fd = 1, .term_name = name });
	(void)term_mode_save(&d.mode, 0);
	status_init(&d.status, &d.term);
	status_set_names(&d.status, SV("demo"), SV("a talk"));
	markdown_init(&d.markdown, &d.term);
	struct editor_opts opts = { .in_fd = 0,
		.term = &d.term,
		.loop = d.loop,
		.term_name = name,
		.history_path = argc > 1 ? argv[1] : NULL,
		.complete = complete };
	if (editor_new(&opts, &d.editor, &err) < 0) {
		(void)fprintf(stderr, "%s\n", err.msg);
		return 1;
	}
	converse(&d);
	editor_free(d.editor);
	markdown_release(&d.markdown);
	status_release(&d.status);
	str_release(&d.text);
	str_release(&d.notice);
	term_release(&d.term);
	loop_free(d.loop);
	return 0;
}
