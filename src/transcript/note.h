/*
 * Notes: objects that programs leave in the first lines of a session they made from another one.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "json/scan.h"

/*
 * Finds the first line that has one of the keys with an object behind it, in the line itself or in
 * its payload (Codex), and gives that of the key that comes first in `keys`. Only the head of the
 * file is read, into *text, which *ret points into; *ret_key is the index. False: there is none, or
 * the file cannot be read.
 */
bool session_note_find(const char *path, const char *const *keys, size_t n_keys, struct str *text,
	struct jval *ret, size_t *ret_key);
