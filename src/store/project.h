/*
 * Projects, wherever they lie. While a folder is there, the store notes by what it is known (the
 * marks of os/repo.h), so that what was begun in it is found when it has been moved or renamed, in
 * another work tree or clone, and when the work tree is gone.
 *
 * A place is a top (of a work tree, or a folder outside git) for as long as the same project lay
 * there. Two places that share a mark are of one project; the first commit alone will not do where
 * each has a remote, and another one: forks and what was made of a template are projects of their
 * own. Places are only added and closed: one is closed when something lies there that shares no
 * mark with it and was made later.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"
#include "store/store.h"

struct project_place {
	char *top;
	char *dir; /* the same folder below it as the one that was asked about */
	int64_t since_ms, until_ms; /* what was begun there within these times is the project's */
};
struct project {
	char *top; /* of the work tree here; the folder itself outside git */
	char *main; /* of the repository's first work tree: what conversations are kept under */
	/* Elsewhere, there or not, in the order in which they were seen first. */
	VEC(struct project_place) places;
};
#define PROJECT_INIT               \
	{                          \
		.places = VEC_INIT \
	}
#define AUTO_PROJECT CLEANUP(project_release) struct project
void project_release(struct project *p);

/* Where else the project of dir (resolved) is or was. Nothing is written. */
int project_find(
	struct store *store, const char *dir, struct project *ret, struct err *reterr) MUST_USE;

/* Leaves of the places those that are no longer there: what was begun in them has no other place
 * to go on than here. */
void project_keep_gone(struct project *p);

/* Whether dir, which is gone, was a folder of the project, and nothing is left of the work tree
 * that it was in but this one: what was begun there goes on here. */
bool project_lay_at(struct store *store, const struct project *p, const char *dir);
/* The folder of the project here that dir was, at that time, in a place of it that is gone. NULL
 * when it was none, or there is no such folder here. Caller frees. */
char *project_brought(const struct project *p, const char *dir, int64_t when_ms);
/* Where the project of a folder that is gone lies now, as far as that was seen: the same folder in
 * it, else its top. NULL when it is not known. Caller frees. */
char *project_now(struct store *store, const char *dir);

/*
 * When dir lies in a top that was moved or renamed (the very same folder, and nothing is left where
 * it was): our conversations of there, what goes on in their folders and what was reset there, are
 * here from now on.
 */
int project_follow(struct store *store, const char *dir, struct err *reterr) MUST_USE;

/* Notes what is known of the folder now. One that is gone stays as it was known. */
int project_note(struct store *store, const char *dir, struct err *reterr) MUST_USE;
/* The same for one that nothing is known of yet. */
int project_note_first(struct store *store, const char *dir, struct err *reterr) MUST_USE;
/* The same for the places whose repository has got other settings since: a remote, for one. It
 * looks at the time of one file each. */
int project_note_changed(struct store *store, struct err *reterr) MUST_USE;
/* The same for the folders of sessions that nobody has looked at yet, PROJECT_NOTE_MAX at most. */
enum { PROJECT_NOTE_MAX = 1000 };
int project_note_sessions(struct store *store, struct err *reterr) MUST_USE;
/* False where there are such folders and none was ever noted. */
bool project_noted(struct store *store);
