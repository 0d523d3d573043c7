/*
 * The status line while a turn runs: drawn below the answer, erased before the answer goes on,
 * drawn again after it. It is not part of the output: scrolling back shows the answer alone.
 *
 *	status_hide(&s); markdown_feed(&m, piece); status_show(&s); term_flush(t, reterr);
 *
 * All three write into the term's buffer, so they arrive together and nothing flickers. Nothing
 * is written when the output has no cursor movement (a pipe, a dumb terminal). There is no clock
 * in here: the caller's timer calls status_tick(), which turns the spinner and sets the time.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "ui/term.h"

enum status_state {
	STATUS_READY,
	STATUS_THINKING,
	STATUS_ANSWERING,
	STATUS_TOOL, /* shown with the tool's name */
	STATUS_ASKING, /* for permission */
	STATUS_CANCELLING,
	STATUS_WORDS, /* words of the caller's: nothing works, and nothing turns */
	STATUS_STATES
};

struct status {
	struct term *term;
	struct str agent, conversation, tool, typed;
	enum status_state state;
	int64_t elapsed_ms;
	unsigned turn; /* of the spinner */
	bool bypass; /* the agent runs without asking for permission */
	bool visible;
};

void status_init(struct status *s, struct term *term);
void status_release(struct status *s); /* hide it first */
/* Foreign names: scrubbed when shown, shortened to the width. Both may be empty. */
void status_set_names(struct status *s, struct sv agent, struct sv conversation);
/* `tool` only counts with STATUS_TOOL and STATUS_WORDS. */
void status_set_state(struct status *s, enum status_state state, struct sv tool);
/* What was typed meanwhile and waits: its end is shown. */
void status_set_typed(struct status *s, struct sv typed);
void status_set_bypass(struct status *s, bool bypass);

/* "ready", "thinking" … */
const char *status_state_name(enum status_state state);

void status_show(struct status *s);
/* Erases it; the cursor is where the answer goes on. */
void status_hide(struct status *s);
/* The spinner's next step, the elapsed time, and a redraw if it is visible. */
void status_tick(struct status *s, int64_t elapsed_ms);
/* After SIGWINCH: takes the new size and draws again if it was visible. */
void status_resize(struct status *s);
