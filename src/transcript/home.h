/*
 * Where the agents keep their sessions, and who is writing one now. Homes are given by the
 * caller; nothing here looks at our own environment.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/map.h"
#include "base/str.h"
#include "transcript/transcript.h"

/* One agent's folder. Several may share a format: the rehearsal agent writes Claude's. */
struct transcript_home {
	const char *agent; /* its name */
	const struct transcript_format *format;
	const char *root;
	/* How its own program finds the folder: a variable, else below the user's home. NULL when
	 * it has none. */
	const char *variable, *below;
};

/* The home that a file lies in; NULL: none of them. */
const struct transcript_home *transcript_home_of(
	const struct transcript_home *homes, size_t n, const char *path);
/* The same also of a path in which the home's own folder is resolved. */
const struct transcript_home *transcript_home_with(
	const struct transcript_home *homes, size_t n, const char *path);

/*
 * The path by which a file that is there, given by any path, is known: where an agent finds it,
 * also when that is a link to elsewhere, or lies behind one. *ret_home is that agent's, and NULL
 * when it lies in none: then the path is resolved. Caller frees.
 */
int transcript_locate(const struct transcript_home *homes, size_t n, const char *given,
	char **ret_path, const struct transcript_home **ret_home, struct err *reterr) MUST_USE;
/*
 * Where in these homes a file of a session would lie now, whose own home is no more: the user's was
 * moved, or copied to another machine. agent: of that home, "" when it is not known. NULL: its home
 * is there, or that was no place of a session's file. Nothing need lie there. Caller frees.
 */
char *transcript_moved(const struct transcript_home *homes, size_t n, const char *agent,
	const char *path) MUST_USE;

/*
 * The folder of a project's sessions below a Claude home: <root>/projects/<name>. cwd must be
 * resolved (path_real()). Caller frees.
 */
char *claude_project_dir(const char *root, const char *cwd);
/* The name alone. Not one to one: "a.b" and "a_b" share a folder. */
void claude_project_name(struct str *out, struct sv cwd);
/* <root>/projects/<name>/<id>.jsonl */
char *claude_session_path(const char *root, const char *cwd, const char *id);
/* Where the session lies when that is not below the folder of cwd, as after a move; NULL: it is
 * there, or nowhere. Caller frees. */
char *claude_session_elsewhere(const char *root, const char *cwd, const char *id);
/* <root>/sessions/YYYY/MM/DD/rollout-YYYY-MM-DDThh-mm-ss-<id>.jsonl, in local time as Codex does.
 */
char *codex_rollout_path(const char *root, int64_t wall_ms, const char *id);

/* The provider of models that the user has set in a Codex home, else the one it comes with. `in`
 * is the home's folder or a file among its sessions. Appends. */
void codex_provider(const char *in, struct str *out);
/* Whether Codex still knows a provider of that name: one of its own, or one that is set up there.
 */
bool codex_has_provider(const char *in, struct sv name);

/* Where a new session of the home lies whose work is in cwd (resolved; "": not known) and that
 * begins now. NULL when the format needs to know the folder. Caller frees. */
char *transcript_new_path(
	const struct transcript_home *home, const char *cwd, int64_t wall_ms, const char *id);

/* The session id in a file's name, empty when the name is not one of a session. */
struct sv transcript_path_id(const struct transcript_format *format, struct sv path);
/* Where a new session belongs that is made from the one at parent: out_dir, else where the agent
 * looks for it. Caller frees. */
char *transcript_sibling_path(const struct transcript_format *format, const char *parent,
	const char *out_dir, const char *id, int64_t wall_ms);
/* The format whose files are named so, by a uuid; NULL when none is. ret_id may be NULL. */
const struct transcript_format *transcript_format_of_name(struct sv path, struct sv *ret_id);
/* The session that a sub-agent's file belongs to by where it lies; empty when that does not tell.
 */
struct sv transcript_subagent_of(const struct transcript_format *format, struct sv path);

/*
 * Agents keep more of a session than its file: big results of tools, what its sub-agents did. That
 * lies in a folder of the session's own, and belongs to it.
 */
enum {
	BESIDE_DEPTH = 32, /* of folders in it */
	BESIDE_FILES_MAX = 10000,
};
/* That folder, of a session or of a sub-agent of it; NULL: there never is one. Caller frees. */
char *transcript_folder(const struct transcript_format *format, const char *path);
/* The session beside which a file lies that is none itself; NULL: it is one, or lies elsewhere.
 * Neither need exist. Caller frees. */
char *transcript_beside_of(const struct transcript_home *home, const char *path);

/* Whether a file at this place below the home, "projects/x/id.jsonl", is one of its sessions. */
bool transcript_is_place(const struct transcript_home *home, const char *place);

struct transcript_file {
	const char *path; /* valid during the call */
	uint64_t dev, ino, size;
	int64_t mtime_ns, ctime_ns;
	bool subagent; /* in a session's own folder of sub-agents */
};
/*
 * Calls fn for every session file of the home, in no order, from this thread; a negative result
 * ends the walk. A link to a file outside of the home is a session where it lies. A home that does
 * not exist has none. A folder that cannot be read is passed to `trouble` (may be NULL) and left
 * out.
 */
int transcript_walk(const struct transcript_home *home,
	int (*fn)(void *data, const struct transcript_file *file),
	void (*trouble)(void *data, const struct err *err), void *data,
	struct err *reterr) MUST_USE;
/* The same of one part of so many of its folders, so that several threads may do it. */
int transcript_walk_part(const struct transcript_home *home, unsigned part, unsigned parts,
	int (*fn)(void *data, const struct transcript_file *file),
	void (*trouble)(void *data, const struct err *err), void *data,
	struct err *reterr) MUST_USE;

/* The same only of the folders where sessions lie that were begun in cwd (resolved) within the last
 * days before wall_ms. */
int transcript_walk_near(const struct transcript_home *home, const char *cwd, int64_t wall_ms,
	unsigned days, int (*fn)(void *data, const struct transcript_file *file), void *data,
	struct err *reterr) MUST_USE;

/* The same of what was done for one session by sub-agents, where that lies in a folder of its own.
 */
int transcript_walk_session(const struct transcript_home *home, const char *path,
	int (*fn)(void *data, const struct transcript_file *file), void *data,
	struct err *reterr) MUST_USE;

/* The same of all that lies beside it. No link is followed, not even that which the folder may be.
 * ERR_LIMIT: there are more than BESIDE_FILES_MAX, or folders deeper than
 * BESIDE_DEPTH, which is told after all others. */
int transcript_walk_beside(const struct transcript_format *format, const char *path,
	int (*fn)(void *data, const struct transcript_file *file), void *data,
	struct err *reterr) MUST_USE;

/*
 * The same of files that are new since then, as far as it can be told cheaply: in the folders that
 * these known sessions of the home lie in, in those above them, and in what is new in these. A file
 * may come twice.
 */
int transcript_walk_new(const struct transcript_home *home, const struct strv *known,
	int64_t since_ns, int (*fn)(void *data, const struct transcript_file *file), void *data,
	struct err *reterr) MUST_USE;

/* The file of one id by names alone: *ret is NULL when there is none. */
int transcript_find(
	const struct transcript_home *home, struct sv id, char **ret, struct err *reterr) MUST_USE;
/* The same, and NULL when there are several: the folder of a project may have been copied. */
int transcript_find_only(const struct transcript_home *home, struct sv id, char **ret,
	bool *ret_several, struct err *reterr) MUST_USE;

/* Names of sessions that the agent keeps in a file beside them: id → index into *names. A missing
 * file is empty. */
int transcript_names(const struct transcript_home *home, struct map *ids, struct strv *names,
	struct err *reterr) MUST_USE;
/* That file; NULL when the agent has none. Caller frees. */
char *transcript_names_file(const struct transcript_home *home);

/* Whether a process is to be passed over, where somebody looks for others. */
typedef bool (*writer_ours_fn)(int64_t pid);
/*
 * Adds the ids of all sessions of the home that a live process has open to `ids` (value: the pid,
 * 0 when unknown). What cannot be read counts as nobody. ours: NULL for none.
 */
void transcript_writers(const struct transcript_home *home, writer_ours_fn ours, struct map *ids);

/*
 * A process of the agent that was started on a session of this home, by its arguments and its
 * environment; 0 for none. For a short time such a process is not among the writers yet.
 */
int64_t transcript_loader(const struct transcript_home *home, const char *id, writer_ours_fn ours);
/* Whether a writer is an agent's server in the background, which keeps sessions open after the
 * program that used them has ended; the agent's own programs go on with them. */
bool writer_is_server(int64_t pid);
/* Whether a program of the agent that is no such server runs in dir (resolved), as far as its
 * processes tell: then somebody may sit before a session there. */
bool writer_attended(const struct transcript_home *home, const char *dir);
/* "codex (process 7)", for the server with how to end it; 0: its number is not known. Appends. */
void writer_describe(const char *agent, int64_t pid, struct str *out);
