/*
 * What a command is given to work with: streams, settings, paths, clock, log, store. Made once by
 * the dispatcher from the environment and the global options, filled with fakes by tests. Only
 * cli/ sees it: the rooms below take plain values.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "agent/agents.h"
#include "archive/archive.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/log.h"
#include "keep/keeper.h"
#include "transcript/home.h"
#include "ui/pager.h"

struct settings; /* config/settings.h */
struct store; /* store/store.h */

/* All absolute and owned; the folders need not exist. */
struct app_paths {
	char *home;
	char *config_file; /* config.yaml, or what --config names */
	char *state_dir; /* conversations, log, the rehearsal agent's transcripts */
	char *data_dir; /* what is kept for ever */
	char *index_dir; /* … of all sessions, made or not */
	char *archive_dir; /* … below data_dir: the originals of sessions */
	char *models_dir; /* … networks for voice and routing, installed on request */
	char *cache_dir; /* what can be made again */
	char *runtime_dir; /* locks and sockets of this login */
	char *agent_homes[AGENTS_MAX]; /* by agent_index(); NULL: it keeps no sessions */
	char *search; /* the value of PATH, for path_find_program() */
};

struct app {
	FILE *out; /* answers; the dispatcher flushes it and checks it once for all */
	FILE *err; /* diagnostics */
	int in;
	bool in_tty, out_tty, err_tty;
	bool colour; /* decided: --color, NO_COLOR, TERM, terminal */
	bool verbose; /* -v */
	bool state_given; /* --state */
	bool config_given; /* --config: the file must exist */
	bool looks; /* nothing is written down: see sessions_open() */
	bool json; /* --json is among the words */
	bool told; /* a failure stands on out already, as the object that --json asks for */
	struct app_paths paths;
	struct clock clock; /* fixed when FADEN_CLOCK says so */
	struct log log; /* opened with the state folder, off before */
	char *cwd; /* NULL when the current folder is gone */
	char locale[3]; /* "de", "en" …: the language of the locale */
	struct transcript_home
		homes[AGENTS_MAX]; /* of those that keep sessions, pointing into paths */
	size_t n_homes;
	int argc; /* as started, for restart */
	char **argv;
	struct settings *settings; /* never NULL while a command runs, unless CMD_NO_SETTINGS */
	struct store *store; /* use app_store() */
	bool forgets; /* it is a copy in memory: what is written there is lost */
	bool blank; /* … or empty, since nothing could be copied */
	struct pager pager; /* while one shows app->out */
	bool pager_stays; /* also when all fits one screen: something else comes back after it */
};

/* Streams, terminals, paths, clock and folder of this process. Opens nothing. */
int app_init(struct app *app, int argc, char **argv, struct err *reterr) MUST_USE;
/* After paths were changed: what is made from them. */
void app_use_paths(struct app *app);
/* Where this agent keeps its sessions; NULL when it is unknown or keeps none. */
const struct transcript_home *app_home(const struct app *app, const char *agent);
/* Closes and frees everything; harmless on a zeroed struct. */
void app_release(struct app *app);

/*
 * The settings from defaults, file and environment. A missing file is fine unless --config named
 * it. Unknown keys are named on app->err.
 */
int app_load_settings(struct app *app, struct err *reterr) MUST_USE;

/* Makes the state folder (0700) when it is missing and opens the log. Idempotent. */
int app_state(struct app *app, struct err *reterr) MUST_USE;
/* The store in the state folder, opened at the first call and closed by app_release(). */
int app_store(struct app *app, struct store **ret_store, struct err *reterr) MUST_USE;

/* Starts this program with these words (NULL-terminated) and the same settings and state, in the
 * background: nobody hears of it or waits for it. Not with a fixed clock, which is a test's that
 * wants to know when what happens. */
void app_start(const struct app *app, const char *const *words);

/* A terminal on a descriptor, as the user wants to see it; `ascii` is left to who asks for the
 * locale. */
struct term_opts app_screen(const struct app *app, int fd);
/* The archive of this user, once the store is open. */
struct archive app_archive(const struct app *app);
/* For a lock: it is said who is waited for. */
struct lock_wait app_wait(const struct app *app);
/* The archive and the index, and where both come from. It tells nobody anything but that. */
struct keeper app_keeper(const struct app *app);

/*
 * Sends app->out through the user's pager when it is a terminal and ui.pager allows; otherwise
 * does nothing. app_pager_end() closes it and waits for the pager to be left.
 */
void app_pager_begin(struct app *app);
void app_pager_end(struct app *app);
