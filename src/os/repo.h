/*
 * What a folder is part of, and by what it is known again when it lies somewhere else: read from
 * the files of git, without running it. Nothing here fails; what cannot be read is not known.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

/* The top of the git work tree that holds dir, worktrees resolved to their common repository's
 * main folder when it is known from the .git file (else their own top); NULL outside git. A
 * folder that is gone is looked for by its text. Caller frees. */
char *repo_root(const char *dir);

/*
 * Marks are texts; two folders that share one are of one project:
 *	root:COMMIT		the first commit, where the log of git begins with it, or that of
 *				what it is a clone of, as long as that is on this machine
 *	remote:HOST/PATH	where it is fetched from, "origin" before others, however it is
 *				spelt; without user and password; without one, where it was
 *				cloned from
 *	node:…			the folder itself (of git, or of the work tree): it keeps that when
 *				it is renamed, and nothing else on the machine ever has it
 */
struct repo {
	char *top; /* of the work tree; dir itself outside git */
	char *main; /* what repo_root() says; else top */
	struct strv marks; /* of the repository: all its work trees have them */
	struct strv own; /* of this work tree alone */
	/* The tops of its other work trees as git remembers them, whether they are there or not. */
	struct strv trees;
	int64_t config_ns; /* when the settings of the repository were changed last; 0: there are
			      none */
	int64_t born_ms; /* when the newer of top and repository was made */
};
#define REPO_INIT                                                         \
	{                                                                 \
		.marks = STRV_INIT, .own = STRV_INIT, .trees = STRV_INIT, \
	}
#define AUTO_REPO CLEANUP(repo_release) struct repo
void repo_release(struct repo *r);
/* As struct repo has it, of the repository whose first work tree top is; 0 when it is none. */
int64_t repo_config_ns(const char *top);
/* dir is resolved. False when it is no folder. */
bool repo_read(const char *dir, struct repo *ret);
