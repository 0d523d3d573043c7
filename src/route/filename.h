/*
 * What the name of a file says.
 */
#pragma once

#include "base/str.h"

/* What a path is about: its last component, without an extension that is known as one. A slice of
 * raw. */
struct sv file_subject(struct sv raw);
