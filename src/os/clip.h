/*
 * The clipboard, through whichever program the desktop has.
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

struct clip_desktop {
	const char *search; /* a PATH value; NULL: nothing is found */
	const char *wayland_display; /* the variable of that name; NULL or "": no Wayland */
	const char *display; /* likewise: no X11 */
	const char *const *envp; /* environment of the program, never NULL */
};

/*
 * Puts text on the clipboard by the first of wl-copy (Wayland), xclip, xsel (X11) and pbcopy that
 * is there and succeeds. *ret_used (may be NULL) is its name, a constant. None there:
 * ERR_NOTFOUND; all that are there fail: the last one's error.
 */
int clip_put(struct sv text, const struct clip_desktop *desktop, const char **ret_used,
	struct err *reterr) MUST_USE;
