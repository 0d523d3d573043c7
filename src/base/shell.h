/*
 * Words in commands that are printed for the user to run, or written down for a shell.
 */
#pragma once

#include "base/str.h"

/* Appends the text in quotes, so that a shell reads it back as one word; as $'…' where it holds
 * what must not reach a terminal raw, line breaks included. */
void shell_word(struct str *out, const char *text);
/* The same for a text that is scrubbed and may have several lines, in any shell. */
void shell_text(struct str *out, const char *text);
/* The same for an id, without quotes where it needs none: an id is whatever a file is called. */
void shell_id(struct str *out, const char *id);
/* "cp 'FROM' 'TO'" */
void shell_cp(struct str *out, const char *from, const char *to);
