/*
 * What the files of the line editor share. Nobody else includes it.
 */
#pragma once

#include <histedit.h>
#include <stdio.h>
#include <wchar.h>

#include "base/vec.h"
#include "ui/editor.h"

struct editor_paste {
	char *label; /* what stands in the line */
	char *text; /* what it stands for */
};

struct editor {
	struct editor_opts opts;
	char *history_path;
	struct term_mode mode;
	EditLine *el; /* both NULL on a terminal without cursor movement */
	HistoryW *history;
	struct str last; /* the newest entry of the history */
	FILE *in, *out, *err;
	wchar_t *prompt; /* with its style between escape markers */
	size_t prompt_width;
	struct str prefill;
	VEC(struct editor_paste) pastes;
	char unread; /* a byte that was read too early */
	bool has_unread;

	/* Only while editor_read() runs: */
	bool reading;
	struct loop_source *keys;
	const char *plain_prompt; /* without libedit */
	bool ready; /* a key can be read */
	bool hidden;
	enum editor_result reason; /* why the line ends when libedit has none */
	int failed; /* a negative error from the loop */
	struct err *reterr;
};

/* editor-history.c: one line an entry, "\n" and "\\" escaped. */
void editor_history_load(struct editor *e);
size_t editor_count_newlines(struct sv text);

/* editor-input.c */
void editor_watch_keys(struct editor *e);
void editor_unwatch_keys(struct editor *e);
/* Waits for a byte while the loop goes on. False when the line is to end. */
bool editor_read_byte(struct editor *e, char *ret);
/* libedit's source of characters. */
int editor_get_char(EditLine *el, wchar_t *ret);

/* editor-keys.c */
void editor_bind_keys(struct editor *e);
/* Where the cursor is, in rows and columns from the beginning of the prompt. */
struct editor_place {
	size_t row, col;
};
struct editor_place editor_place(const struct editor *e, const wchar_t *from, const wchar_t *to);
/* Leaves what was typed on the screen, `mark` behind it, and goes to the line below. */
void editor_leave_line(struct editor *e, const char *mark);
/* Labels of pasted blocks replaced by the blocks. */
void editor_expand_pastes(struct editor *e, struct sv line, struct str *out);
void editor_drop_pastes(struct editor *e);

/* Between libedit's characters and ours. Invalid ones become U+FFFD. */
wchar_t *editor_widen(struct sv text); /* the caller frees */
void editor_narrow(struct str *out, const wchar_t *from, const wchar_t *to);
