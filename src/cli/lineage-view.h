/*
 * The family of a session as a tree of lines.
 */
#pragma once

#include "lineage/lineage.h"
#include "ui/term.h"

/* Ids are short on a terminal, whole elsewhere. */
void lineage_view(struct term *t, const struct lineage *l);
