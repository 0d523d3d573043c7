/*
 * Words in commands that are printed for the user to run.
 */
#pragma once

#include "base/str.h"

/* Appends the text in quotes, so that a shell reads it back as one word. */
void shell_word(struct str *out, const char *text);
/* "cp 'FROM' 'TO'" */
void shell_cp(struct str *out, const char *from, const char *to);
