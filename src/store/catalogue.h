/*
 * The catalogue: a summary of every session file of every agent, remembered with what stat() said
 * of it. Bringing it up to date costs one stat for an unchanged file and the reading of its new
 * end for a grown one.
 *
 * All of it can be made again from the files, save the names that the user gave here. A row whose
 * file has vanished stays, marked gone: lineage and archive need it.
 *
 * Where no store can be written, open one with STORE_MEMORY: everything works, and is made anew
 * each time. Several processes may refresh one store at once; each writes what it read.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"
#include "store/project.h"
#include "store/store.h"
#include "transcript/home.h"
#include "transcript/transcript.h"

/* Strings are owned and never NULL; "" when unknown. */
struct session_row {
	struct session_info info; /* mark included */
	char *agent; /* of the home: "claude", "codex", "rehearsal" */
	char *own_name; /* given here by the user; wins over info.name */
	int64_t active_ms; /* last activity: the last record's time, else the file's */
	bool gone;
};
#define SESSION_ROW_INIT                         \
	{                                        \
		.agent = NULL, .own_name = NULL, \
	}
#define AUTO_SESSION_ROW CLEANUP(session_row_release) struct session_row
void session_row_release(struct session_row *row);
/* Its name: own_name, else info.name; "" when it has none. */
const char *session_row_name(const struct session_row *row);
/* What a session is called, in lists, notices and errors alike: its name, else its first prompt,
 * else its id. One scrubbed line, valid as long as the row. conv_label() says the same of a
 * conversation.
 */
const char *session_title(const struct session_row *row);

/* ---- up to date ---- */

struct catalogue_progress {
	size_t files; /* to read */
	size_t done;
	uint64_t bytes; /* to read, and read */
	uint64_t bytes_done;
};
struct catalogue_opts {
	unsigned threads; /* for reading; 0: chosen here */
	/* From the calling thread; either may be NULL. trouble: a folder or file that cannot be
	 * read; the rest is done all the same. */
	void (*progress)(void *data, const struct catalogue_progress *p);
	void (*trouble)(void *data, const struct err *err);
	/* True ends it early, what was read is kept; may be NULL. */
	bool (*cancelled)(void *data);
	void *data;
};
struct catalogue_stats {
	size_t files; /* found */
	size_t read; /* new or changed */
	uint64_t bytes_read;
	size_t gone; /* vanished since the last time */
	size_t troubles;
};
/* A row whose session lies in a home that was moved (transcript_moved()). */
struct moved_row {
	int64_t id;
	char *was, *now; /* its path */
};
struct moved_rows {
	VEC(struct moved_row) all;
};
void moved_rows_release(struct moved_rows *moved);
/* Of a table, in any store, whose rows have an id, a path and an agent. What lies in the homes
 * costs nothing. Appends. */
int moved_rows(struct store *db, const char *table, const struct transcript_home *homes, size_t n,
	struct moved_rows *ret, struct err *reterr) MUST_USE;
/* Sessions whose home was moved are those of the place where it is now: what is there is known by
 * that row, what is not is gone there. catalogue_refresh() does so itself. */
int catalogue_follow(struct store *store, const struct transcript_home *homes, size_t n_homes,
	struct err *reterr) MUST_USE;
/* Rows of other homes are left alone. opts and ret_stats may be NULL. */
int catalogue_refresh(struct store *store, const struct transcript_home *homes, size_t n_homes,
	const struct catalogue_opts *opts, struct catalogue_stats *ret_stats,
	struct err *reterr) MUST_USE;
/*
 * The same as far as it concerns what goes on in dir (resolved), for who must not wait: the folders
 * where its sessions lie that were begun within CATALOGUE_NEAR_DAYS before wall_ms, and those of
 * its sessions that are known. Of what has changed the newest is read, and more up to
 * CATALOGUE_NEAR_BYTES.
 */
enum { CATALOGUE_NEAR_DAYS = 8, CATALOGUE_NEAR_BYTES = 64 * 1024 * 1024 };
int catalogue_refresh_near(struct store *store, const struct transcript_home *homes, size_t n_homes,
	const char *dir, int64_t wall_ms, struct catalogue_stats *ret_stats,
	struct err *reterr) MUST_USE;
/* The same of nothing but the names that agents keep in files beside the sessions. */
int catalogue_refresh_names(struct store *store, const struct transcript_home *homes,
	size_t n_homes, struct err *reterr) MUST_USE;
/* Takes one file in (or brings it up to date) without looking at the others. */
int catalogue_take(struct store *store, const struct transcript_home *home, const char *path,
	struct session_row *ret, struct err *reterr) MUST_USE;
/* The same of one that is gone, by a copy of it. */
int catalogue_take_gone(struct store *store, const struct transcript_home *home, const char *path,
	int copy, struct session_row *ret, struct err *reterr) MUST_USE;

/* ---- questions ---- */

enum catalogue_order { CATALOGUE_RECENT, CATALOGUE_SIZE, CATALOGUE_TURNS, CATALOGUE_NAME };
/* Where what is asked for was begun, with a dir. */
enum catalogue_where {
	CATALOGUE_HERE, /* in it */
	CATALOGUE_KIN, /* not there, but at another place of the project */
	CATALOGUE_ELSEWHERE, /* neither */
	CATALOGUE_PROJECT, /* one of the first two */
};
struct catalogue_query {
	const char *dir; /* NULL: any */
	bool below; /* … or below it, or them */
	enum catalogue_where where;
	const struct project *project; /* of dir; NULL: it has no other place */
	const char *agent; /* NULL: any */
	const char *id; /* exactly; NULL: any */
	const char *root; /* that begin with this record (see session_info); NULL: any */
	int64_t since_ms; /* active since; 0: ever */
	const char *text; /* in name, first prompt or id, any case; NULL: any */
	bool subagents; /* also the work of sub-agents and sessions marked as helpers */
	bool empty; /* also those without a single prompt */
	bool gone; /* also those whose file is gone */
	enum catalogue_order order;
	int64_t limit; /* 0: all */
};
/* Calls fn for each row; a result other than 0 ends it and is returned. */
typedef int (*catalogue_fn)(void *data, const struct session_row *row);
int catalogue_query(struct store *store, const struct catalogue_query *query, catalogue_fn fn,
	void *data, struct err *reterr) MUST_USE;
/* The files of sessions that were written to since then, as far as it is known. */
int catalogue_changed(
	struct store *store, int64_t since_ns, struct strv *paths, struct err *reterr) MUST_USE;
/* The files of the sessions that are there, of sub-agents too, those first that were active last:
 * no more is read of them than that. A result other than 0 ends it and is returned. */
int catalogue_recent(struct store *store, int (*fn)(void *data, const char *path), void *data,
	struct err *reterr) MUST_USE;
/*
 * Sessions that people made in the agents themselves and that no conversation has, newest first:
 * none of sub-agents, helpers or programs, none that goes on in a copy (trimmed, rolled over,
 * repaired, moved), and no copy of a conversation's that was not used since. One of the three is
 * given.
 */
struct catalogue_unclaimed {
	const char *dir; /* begun in this folder */
	const char *below; /* in it or below it, among the newest of all */
	const char *text; /* anywhere, whose name is in the text (any case, ASCII) */
	int64_t limit;
};
int catalogue_unclaimed(struct store *store, const struct catalogue_unclaimed *query,
	catalogue_fn fn, void *data, struct err *reterr) MUST_USE;
/* The names that the user gave here, in no order. */
int catalogue_names(struct store *store,
	int (*fn)(void *data, const char *agent, const char *id, const char *name), void *data,
	struct err *reterr) MUST_USE;
/* Rows that name this session as their parent, by id or path, oldest first; "" is nobody's. */
int catalogue_children(struct store *store, const struct session_info *parent, catalogue_fn fn,
	void *data, struct err *reterr) MUST_USE;
/* By the path of the file. ERR_NOTFOUND. */
int catalogue_by_path(struct store *store, const char *path, struct session_row *ret,
	struct err *reterr) MUST_USE;

/* ---- one session ---- */

enum { CATALOGUE_FRAGMENT_MIN = 4, CATALOGUE_CANDIDATES_MAX = 25 };
struct catalogue_matches {
	VEC(struct session_row) rows;
	bool more; /* beyond CATALOGUE_CANDIDATES_MAX */
};
void catalogue_matches_release(struct catalogue_matches *matches);
/*
 * What a person calls a session: a path (anything with a '/', or ending in .jsonl, that is not a
 * name), a full id, a name, a fragment of an id (CATALOGUE_FRAGMENT_MIN characters or more; the
 * beginning goes before the middle), a part of a name; the first of these that fits anything
 * decides. Letters count in any case. A path or full id is looked up alone; for the rest the
 * catalogue is refreshed first.
 *
 * ERR_NOTFOUND, or ERR_AMBIGUOUS with the candidates in *matches (may be NULL), newest first; the
 * message names some of them. Never asks.
 */
int catalogue_resolve(struct store *store, const struct transcript_home *homes, size_t n_homes,
	const char *spec, struct session_row *ret, struct catalogue_matches *matches,
	struct err *reterr) MUST_USE;

/* The session of exactly this name, in any case of letters, as the catalogue knows it now.
 * ERR_NOTFOUND, or ERR_AMBIGUOUS as above. */
int catalogue_by_name(struct store *store, const char *name, struct session_row *ret,
	struct catalogue_matches *matches, struct err *reterr) MUST_USE;

/*
 * The same of sessions whose file is gone and that are nowhere else, as the catalogue knew them
 * last; by a full id also one that only its children know: of it no more than id and path, and ""
 * as its agent. The catalogue should be up to date.
 */
int catalogue_resolve_gone(struct store *store, const char *spec, struct session_row *ret,
	struct err *reterr) MUST_USE;

/* A thread goes on under a new id when it is trimmed, rolled over, repaired or taken elsewhere, and
 * its name goes along. Positive when two sessions are of one thread and the first is what goes on:
 * the one that was used last, the later copy where that is the same time; negative when the second
 * is; 0 when they are two threads. */
struct catalogue_used {
	const char *id;
	int64_t active_ms;
};
int catalogue_thread(struct store *store, struct catalogue_used a, struct catalogue_used b);

/* A conversation goes on with a session that was made of this one, which was not used since. */
bool catalogue_superseded(struct store *store, const char *agent, const char *id);

/* The ids of the sessions that it was made of, however: its parent's, the parent's parent's … */
int catalogue_ancestors(
	struct store *store, const char *id, struct strv *out, struct err *reterr) MUST_USE;

/* Removes all that the store has of a session: the rows of these files, the last sentence of its
 * folders and, unless another has that id, names and what was said in its conversation with it, all
 * of that where it has no other session. *rows is added to. In the file they stand until
 * store_scrub(). */
int catalogue_forget(struct store *store, const char *agent, const char *id,
	const char *const *paths, size_t n, size_t *rows, struct err *reterr) MUST_USE;

/* The user's own name for a session; "" takes it away. */
int catalogue_rename(struct store *store, const char *agent, const char *id, const char *name,
	struct err *reterr) MUST_USE;
