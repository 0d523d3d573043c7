/*
 * What a terminal sends, as keys. A key is one number: a character, or one of those below, with
 * what was held down beside it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"

enum {
	KEY_SHIFT = 1 << 24, /* only of keys that are no characters */
	KEY_ALT = 1 << 25,
	KEY_CTRL = 1 << 26, /* with a small letter, or with what is no character */
	KEY_BARE = KEY_SHIFT - 1, /* without those */
};

enum {
	KEY_NONE = 0x110000, /* nothing that is known here: to be passed over */
	KEY_ESCAPE,
	KEY_ENTER,
	KEY_TAB,
	KEY_BACKSPACE,
	KEY_DELETE,
	KEY_INSERT,
	KEY_UP,
	KEY_DOWN,
	KEY_LEFT,
	KEY_RIGHT,
	KEY_HOME,
	KEY_END,
	KEY_PAGE_UP,
	KEY_PAGE_DOWN,
	KEY_F1,
	KEY_PASTE, /* what follows was pasted (bracketed paste), up to … */
	KEY_PASTED,
};

/* A sequence that is longer is taken to be none. */
enum { INPUT_SEQUENCE_MAX = 32 };

/*
 * The key at the beginning of `bytes`, which are not empty; returns how many of them it took. 0:
 * what is there may be the beginning of a longer one. With `ended`, when nothing followed for a
 * while, it is taken for what it is, an Escape for the key of that name, and 0 is never returned.
 */
size_t input_key(struct sv bytes, bool ended, uint32_t *ret_key);
