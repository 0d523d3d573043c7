/*
 * An original as people and programs want it: text, or the bytes of a picture.
 */
#pragma once

#include <stdbool.h>

#include "archive/archive.h"
#include "base/str.h"

/* Appends what the raw JSON of an original stands for: the text of a string, the texts of blocks,
 * the bytes behind base64. False when it is not of that kind; out is then as before. */
bool original_decode(enum recall_kind kind, struct sv raw, struct str *out);
