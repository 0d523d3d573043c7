/*
 * Sessions as the commands show them: a heading, a table to choose from, and the fields of -F.
 */
#pragma once

#include "store/catalogue.h"
#include "ui/format.h"
#include "ui/term.h"

/* What the archive has of a session that is gone; not asked of one that is there, or where the
 * archive cannot be read. */
enum session_kept { SESSION_NOT_ASKED, SESSION_WHOLE, SESSION_DAMAGED, SESSION_LOST };

struct session_view {
	const struct session_row *row;
	int64_t pid; /* of the process that has it open; 0: nobody known */
	bool live; /* somebody has it open */
	bool current; /* the conversation that goes on in this folder */
	enum session_kept kept;
	bool interrupted; /* its last turn has no end, and nobody runs it; told at the next turn */
};

/* The fields of -F, in the order of their values; one without a name ends them. */
extern const struct format_field session_fields[];
extern const size_t session_fields_n;
enum { SESSION_FIELDS_MAX = 32 };
/* values[i] belongs to session_fields[i]; slices are the row's. */
void session_values(const struct session_view *view, union format_value *values);

/* Two lines: what it is called; agent, id, folder, turns and when it was active last. */
void view_session(struct term *t, const struct session_row *row);
/* A table of the sessions that fit, the first ten, for one to be chosen; home is the user's. */
void view_candidates(
	struct term *t, const struct catalogue_matches *matches, int64_t now_ms, const char *home);
/* How much of the id tells it from others as a rule: ids that begin with the time need more. */
struct sv session_short_id(const char *id);
