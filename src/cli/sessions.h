/*
 * What the commands about sessions share: the catalogue, brought up to date or made for the moment
 * where none can be kept; and who writes.
 */
#pragma once

#include "base/map.h"
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
/* The same, or app_store() when something is to be written down (looks is false). */
int sessions_open_to(struct app *app, bool looks, struct err *reterr) MUST_USE;
/* Brings the catalogue up to date. Progress and folders that cannot be read go to app->err. */
int sessions_refresh(struct app *app, struct err *reterr) MUST_USE;
/* After a failure of the store: true when the command only looks and can go on from memory, which
 * is then app->store; a warning was said. */
bool sessions_go_on(struct app *app, int code, const struct err *why);

/* Session ids that a live process has open now, the agents' and faden's own → its pid. */
void sessions_writers(struct app *app, struct map *ids);
bool sessions_in_use(struct app *app, const char *id);
/* One session with who has it open and whether it goes on here. For many, ask the two once. */
struct session_view sessions_view(struct app *app, const struct session_row *row);
/* What repair would find in it. */
struct damage sessions_damage(struct app *app, const struct session_row *row);
/* The same as a warning on standard error, if there is something. */
void sessions_warn_damage(struct app *app, const struct damage *d, const char *id);
/* Who has one session open, or was started on it just now: "codex (process 7)" is appended. */
bool sessions_writer(struct app *app, const struct session_row *row, struct str *who);
/* The agent's session of the conversation that goes on in this folder; NULL: none. Caller frees. */
char *sessions_current(struct app *app);
/*
 * What a command with an optional SESSION is about, to be resolved: the first word, else what goes
 * on in this folder, else the last session that any agent had here, which is said on standard
 * error.
 */
int sessions_given(
	struct app *app, int argc, char **argv, char **ret_spec, struct err *reterr) MUST_USE;
