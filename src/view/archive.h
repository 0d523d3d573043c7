/*
 * What the commands about the archive say.
 */
#pragma once

#include <stdbool.h>

#include "archive/archive.h"
#include "archive/vault.h"
#include "ui/term.h"
#include "json/write.h"

struct archive_pruned {
	size_t files; /* that went, or would go */
	uint64_t bytes; /* of them when they were whole */
	size_t referred; /* that would have gone, but references lead there */
	uint64_t freed; /* on the disk */
};

/* A run over all sessions. */
struct archive_run {
	struct archive_update_stats stats;
	struct vault_figures figures; /* afterwards */
	struct archive_pruned pruned; /* as the settings say */
};

struct archive_forgotten {
	size_t sessions;
	size_t files; /* of the agents */
	uint64_t bytes;
	size_t kept; /* of the archive */
	uint64_t kept_bytes;
	size_t rows; /* of the store */
	uint64_t freed; /* of the archive on the disk */
};

/* Sessions that were deleted, or would be. */
struct archive_deleted {
	bool dry, forget;
	size_t sessions, files;
	uint64_t bytes;
	struct archive_forgotten forgotten;
};

void view_archive_run(struct term *t, const struct archive_run *run);
void view_json_archive_run(struct jw *w, const struct archive_run *run);
/* title NULL: not known. */
void view_json_archive_file(
	struct jw *w, const struct archive_file *file, bool there, const char *title);
void view_archive_verdict(struct term *t, const struct vault_verdict *v);
void view_json_archive_verdict(struct jw *w, const struct vault_verdict *v);
void view_archive_pruned(struct term *t, const struct archive_pruned *p, bool dry);
void view_json_archive_pruned(struct jw *w, const struct archive_pruned *p, bool dry);
void view_archive_deleted(struct term *t, const struct archive_deleted *d);
void view_json_archive_deleted(struct jw *w, const struct archive_deleted *d);
