/*
 * A question that one key answers, while the loop goes on with everything else. The terminal is in
 * its quiet mode (term_mode_quiet()) or another one that gives single keys without showing them.
 *
 * What was typed before the question came, or is typed on without looking at it, is no answer: it
 * is kept in `ahead`, for whoever reads next. So a key counts alone, and after a pause: a short one
 * when nothing else was typed, longer than any between two keys of a sentence when something was.
 * A single key that is no answer and that nothing follows was meant as one: it is dropped.
 *
 * A pasted block, where the terminal marks it (term_paste()), is never an answer, and nothing in it
 * is a key: it is kept with its marks, its line breaks as '\r', so that it is a part of one line.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "os/loop.h"

enum {
	KEYS_ESCAPE = '\033', /* Escape or Ctrl-D */
	KEYS_GONE = 0, /* the terminal is */
	KEYS_LOOK_MS = 150, /* nobody answers faster */
	KEYS_PAUSE_MS = 1000,
	KEYS_ENTER_MS = 500, /* an Enter so soon after the answer belongs to it */
	KEYS_SEQUENCE_MS = 50, /* between the bytes of one key */
	KEYS_AHEAD_MAX = 1 << 20, /* bytes; more is lost, of a pasted block all */
};

/* One of the wanted keys, in small letters, or one of those above. May open the next question. */
typedef void (*keys_fn)(void *data, char key);

/* What was typed ahead has changed: `line` is the one that is being typed, or with `ended` has just
 * been; keys_plain() is what it says. Not within a pasted block. True: an ended line was meant for
 * now, and is no longer ahead. KEYS_LONE_ESCAPE, ended: the key itself, which no other followed and
 * which is not kept. */
#define KEYS_LONE_ESCAPE "\033"
typedef bool (*keys_line_fn)(void *data, struct sv line, bool ended);

struct keys {
	struct loop *loop;
	int fd;
	const char *wanted; /* NULL: no question is open */
	keys_fn fn;
	void *data;
	struct loop_source *source, *timer;
	struct loop_source
		*escape; /* it came while nothing was asked: the rest of a key may follow */
	int64_t last_ms; /* age clock: of the question, or of what was typed since */
	int64_t pause_ms; /* that an answer comes after */
	struct loop_source *stray; /* while a key that is no answer may yet be the first of more */
	struct str strayed; /* … that key */
	bool typing; /* something was typed since the last question */
	keys_line_fn line; /* NULL: nothing is read but answers */
	void *line_data;
	struct str ahead;
	bool pasting; /* ahead ends within a pasted block */
	size_t mark; /* bytes of the next mark of one that it ends with */
	size_t pasted_at; /* … where in ahead the block begins */
	bool lost; /* something did not fit into ahead */
};

void keys_init(struct keys *k, struct loop *loop, int fd);
void keys_release(struct keys *k);
/* Asks, in place of what was asked before. `wanted` are small letters. */
void keys_ask(struct keys *k, const char *wanted, keys_fn fn, void *data);
/* No longer asks. */
void keys_close(struct keys *k);
/* Reads whatever is typed, also when nothing is asked, until it is called with NULL. Rubbing out
 * works on the line, and takes a pasted block as a whole; all other keys are kept as they are. */
void keys_listen(struct keys *k, keys_line_fn line, void *data);
/* Adds what is typed in a line, or in all of `ahead`, as text: pasted blocks without their marks
 * and with their line breaks, keys that are no characters left out. */
void keys_plain(struct str *out, struct sv typed);
