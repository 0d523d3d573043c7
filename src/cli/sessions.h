/*
 * What the commands about sessions share: the catalogue, brought up to date or made for the moment
 * where none can be kept; which one is meant; and who writes.
 */
#pragma once

#include "assist/resolve.h"
#include "base/map.h"
#include "bundle/conversation.h"
#include "cli/app.h"
#include "store/catalogue.h"
#include "strategy/damage.h"
#include "view/session.h"

/*
 * app->store, opened, for a command that only looks: when it cannot be, one in memory and a
 * warning, since looking at sessions needs nothing of ours. So it is from then on whenever the
 * sessions are asked for and the store turns out not to be writable.
 */
int sessions_open(struct app *app, struct err *reterr) MUST_USE;
/* After a failure: true when it was the store's, and the command can go on with one in memory:
 * first with what can be read of it, then with nothing. */
bool sessions_go_on(struct app *app, int code, const struct err *why);
/* The same, or app_store() when something is to be written down (looks is false). */
int sessions_open_to(struct app *app, bool looks, struct err *reterr) MUST_USE;
/* Brings the catalogue up to date. Progress and folders that cannot be read go to app->err. */
int sessions_refresh(struct app *app, struct err *reterr) MUST_USE;
/* The same, and how many files and folders those are. */
int sessions_refresh_count(struct app *app, size_t *ret_troubles, struct err *reterr) MUST_USE;

/*
 * The SESSION that is meant, by the flags of resolve_session(); spec may be NULL. Which session was
 * taken when none was named, and those that fit when several do, are said on app->err (with --json
 * the latter on app->out too). After sessions_open() a store that cannot be written is no obstacle.
 */
int sessions_find(struct app *app, const char *spec, unsigned flags, struct resolved *ret,
	struct err *reterr) MUST_USE;
/* The conversation that a session belongs to, made for it when it has none yet. */
int sessions_adopt(struct app *app, const struct session_row *row, struct conv *ret,
	struct err *reterr) MUST_USE;

/* The folder of its work, resolved, or this one when `here` says so or it names none; where that is
 * gone, the one that its conversation has moved to. An error when there is none: it says by which
 * command, "resume", it goes on and where. Caller frees. */
int sessions_dir(struct app *app, const struct session_row *row, const char *command, bool here,
	char **ret, struct err *reterr) MUST_USE;
/* Whether the folder of a session is gone and its project lies here now: it goes on by --here.
 * *here, empty at first, becomes the project of this folder where that is asked. */
bool sessions_moved_here(struct app *app, struct project *here, const char *cwd);

/* The session opened for reading, from the archive when its file is gone; damage there is said. */
int sessions_read(struct app *app, const struct resolved *of, const struct conversation_opts *opts,
	struct conversation *ret, struct err *reterr) MUST_USE;

/* Session ids whose last turn was interrupted and not told of yet. */
void sessions_interrupted(struct app *app, struct map *ids);
/* Session ids that a live process has open now, the agents' and faden's own → its pid. */
void sessions_writers(struct app *app, struct map *ids);
bool sessions_in_use(struct app *app, const char *id);
/* One session with who has it open and whether it goes on here. For many, ask the two once. */
struct session_view sessions_view(struct app *app, const struct session_row *row);
/* What repair would find in it. */
struct damage sessions_damage(struct app *app, const struct session_row *row);
/* The same as a warning on standard error, if there is something. */
void sessions_warn_damage(struct app *app, const struct damage *d, const char *id);
/* Says how many lines were passed over, if any, and what becomes of each of them. */
void sessions_warn_passed(struct app *app, const struct passed *p, const char *so);
/* Who has one session open, or was started on it just now: "codex (process 7)" is appended. */
bool sessions_writer(struct app *app, const struct session_row *row, struct str *who);
/* The agent's session of the conversation that goes on in this folder; NULL: none. Caller frees. */
char *sessions_current(struct app *app);
/* Whether --agent names one that keeps sessions; NULL is fine. */
int sessions_check_agent(const char *name, struct err *reterr) MUST_USE;
/* Whether a session can be called so. */
int sessions_check_name(const char *name, struct err *reterr) MUST_USE;
/* Says so when another session than the one that has just got the name has it too. */
int sessions_tell_namesake(struct app *app, const char *agent, const char *id, const char *name,
	struct err *reterr) MUST_USE;
