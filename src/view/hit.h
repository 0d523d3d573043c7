/*
 * What a search has found, a result at a time.
 */
#pragma once

#include "search/find.h"
#include "search/snippet.h"
#include "ui/term.h"
#include "json/write.h"

struct hit_view {
	const struct found_hit *found;
	const char *title; /* of its session */
	int64_t active_ms; /* when that was active last; 0: not known */
	const struct snippet *snippet;
	const char *tool; /* that was called, or gave this back; "": none */
	int64_t now_ms;
	const char *home; /* of the user, for folders */
	const char *path; /* names its session where several have the id; NULL: that will do */
	bool lost; /* its file is gone, and the archive has no copy */
	bool silent; /* it counts as gone, but there is a file without its words */
	bool moved_here; /* its folder is gone, and its project lies here now */
};

/* Whether a message of this kind is read in full only with `show --tools`. */
bool view_hit_hidden(enum doc_kind kind);

/* Three lines: what the session is called, with age, agent and folder; the message with the hits
 * marked; how to go on there. */
void view_hit(struct term *t, const struct hit_view *v);
void view_json_hit(struct jw *w, const struct hit_view *v);
