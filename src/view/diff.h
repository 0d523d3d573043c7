/*
 * The difference of two sessions, turn by turn.
 */
#pragma once

#include "branch/diff.h"
#include "ui/term.h"
#include "json/write.h"

struct diff_view {
	const struct session_diff *diff;
	const struct session_row *rows[DIFF_SIDES];
	const struct lineage_node *ancestor; /* NULL: none is known */
	bool stat; /* the figures alone */
};
/* Lines of the first begin with "-", of the second with "+". */
int view_diff(struct term *t, const struct diff_view *view, struct err *reterr) MUST_USE;
/* One object. */
int view_json_diff(struct jw *w, const struct diff_view *view, struct err *reterr) MUST_USE;
