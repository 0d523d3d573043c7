/*
 * The family of a session: a tree of lines, or one object.
 */
#pragma once

#include "lineage/lineage.h"
#include "ui/term.h"
#include "json/write.h"

/* Ids are short on a terminal, whole elsewhere. */
void view_lineage(struct term *t, const struct lineage *l);
/* kept: the archive's key of a session that is gone; NULL when it has none. */
void view_json_lineage(struct jw *w, const struct lineage *l, const char *kept);
