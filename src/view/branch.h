/*
 * What fork, port, merge and replay say besides what all say who make a session (view/report.h).
 */
#pragma once

#include "branch/fork.h"
#include "branch/merge.h"
#include "branch/port.h"
#include "branch/replay.h"
#include "ui/term.h"
#include "view/report.h"
#include "json/write.h"

void view_forked(struct term *t, const struct fork_report *r, const char *agent);
/* Members of the object that the caller has begun. */
void view_put_forked(struct jw *w, const struct fork_report *r);

/* from and to are agents. */
void view_ported(struct term *t, const struct port_report *r, const char *from, const char *to);
void view_put_ported(struct jw *w, const struct port_report *r);

struct merge_view {
	const struct merge_report *report;
	const struct session_diff *diff;
	const struct lineage_node *ancestor; /* NULL: none is known */
	const struct session_row *rows[DIFF_SIDES];
};
void view_merged(struct term *t, const struct merge_view *v);
void view_put_merged(struct jw *w, const struct merge_view *v);
/* Where two sessions part, in a sentence. Appends. */
void view_parting(const struct merge_view *v, struct str *out);

/* "3 shell commands in A, 2 in B; which files they change is not known"; nothing for none. The two
 * are told by the words behind their number, as "in A". Appends. */
void view_commands(struct str *out, const uint64_t commands[static DIFF_SIDES],
	const char *const where[static DIFF_SIDES]);

/* How far it came, and how to compare. */
void view_replayed(struct term *t, const struct replay_report *r, const struct made *m);
void view_put_replayed(struct jw *w, const struct replay_report *r);
