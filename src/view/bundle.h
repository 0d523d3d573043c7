/*
 * What a bundle holds, and what becomes of it here.
 */
#pragma once

#include "bundle/bring.h"
#include "ui/term.h"
#include "json/write.h"

/* One line a session of the manifest; with b what becomes of each. b may be NULL. */
void view_bundle(struct term *t, const struct bundle_manifest *m, const struct bring *b);
/* The same as an object. moved: a copy of each session that was brought to this folder, or NULL. */
struct bundle_told {
	const char *path; /* NULL: standard input */
	const struct bundle_manifest *manifest;
	const struct bring *bring; /* NULL: it was only listed */
	const struct strv *moved; /* ids, "" for none; NULL: no session was */
	bool dry;
};
void view_json_bundle(struct jw *w, const struct bundle_told *told);
