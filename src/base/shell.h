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
/* The same as the last word of a command, which must not take it for an option: "-- -x". */
void shell_operand(struct str *out, const char *id);
/* For people to read: as it is, and as a word where it holds what must not reach a terminal. */
void shell_shown(struct str *out, const char *text);
