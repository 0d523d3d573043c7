/*
 * What the commands about the archive say.
 */
#pragma once

#include <stdbool.h>

#include "keep/doomed.h"
#include "keep/kept.h"
#include "ui/term.h"
#include "json/write.h"

/* A run over all sessions. */
struct archive_run {
	struct archive_update_stats stats;
	struct vault_figures figures; /* afterwards */
	struct kept_pruned pruned; /* as the settings say */
	size_t torn; /* files that are shorter than their copy */
	uint64_t damaged; /* frames that cannot be read, and could not be made good */
};

void view_archive_run(struct term *t, const struct archive_run *run);
void view_json_archive_run(struct jw *w, const struct archive_run *run);
/* older: not the newest of its path; title NULL: not known. */
void view_json_archive_file(
	struct jw *w, const struct archive_file *file, bool there, bool older, const char *title);
void view_archive_verdict(struct term *t, const struct vault_verdict *v);
void view_json_archive_verdict(struct jw *w, const struct vault_verdict *v);
void view_archive_pruned(struct term *t, const struct kept_pruned *p);
void view_json_archive_pruned(struct jw *w, const struct kept_pruned *p);
void view_archive_written(struct term *t, const struct kept_written *all);
void view_json_archive_written(struct jw *w, const struct kept_written *all);
void view_archive_deleted(struct term *t, const struct doomed_stats *d);
void view_json_archive_deleted(struct jw *w, const struct doomed_stats *d);
