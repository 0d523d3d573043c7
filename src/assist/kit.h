/*
 * The kit: what a front end works with, put together from settings and surroundings. Who answers
 * and with which options, in which folder, with which words as commands, where sentences belong.
 * No streams, no terminal, no environment: a prompt, a voice loop and a page open the same kit,
 * make an assistant from it (kit_assistant_opts()) and run that on a loop of their own.
 */
#pragma once

#include <stdbool.h>

#include "assist/assistant.h"
#include "config/settings.h"
#include "meaning/meaning.h"
#include "store/project.h"

/* Borrowed for the kit's life. */
struct kit_opts {
	const struct settings *settings;
	struct store *store;
	const struct clock *clock;
	const struct log *log;
	const struct transcript_home *homes; /* of all agents that keep sessions */
	size_t n_homes;
	const char *const *envp; /* for the agents' processes */
	const char *search; /* folders of programs, as PATH has them */
	const char *archive_dir; /* NULL: there is none */
	const char *models_dir; /* where networks lie, there or not; NULL: nowhere */
	const char *scratch; /* a folder for files of questions to agents; NULL: none are asked */
	const char *cwd; /* where conversations belong unless the settings say; NULL: gone */
	const char *locale; /* "de", "en" …: the language where the settings leave it open */

	const char *agent; /* asked for by name; NULL: by settings, else kit_auto() */
	const char *agent_by; /* what named it, for messages; NULL: --agent */
	bool aside; /* none of the folder's conversations: who answered there has no say */
	const char *model; /* NULL: by settings */
	const char *profile; /* routes by this one, also where that is turned off; NULL: by settings
			      */
	const char *permission; /* a value of ai.permission_mode; NULL: by settings */
	bool ask; /* somebody answers questions for permission: AGENT_EV_ASK */
	bool see_off; /* it ends with its only turn (agent_opts.see_off) */
	bool keep_alive; /* many turns are to come */
	bool voice; /* spoken to and read aloud */
};

struct kit {
	struct kit_opts opts;
	const struct agent_def *kind; /* who answers in a new conversation */
	bool forced; /* asked for by name, or chosen just now */
	const struct agent_def
		*chosen; /* by name, by settings or at an earlier start; NULL: nobody */
	bool by_folder; /* nobody was configured or chosen: who answered in the folder last */
	bool by_default; /* nor was there one: rehearsal. See kit_choose() */
	enum text_language language;
	char *dir; /* resolved */
	char *project; /* git root, or dir */
	struct proc_id terminal; /* that it is used from */
	struct project kin; /* where it lay before, and work trees of it, that are gone */
	char *programs[AGENTS_MAX]; /* NULL: embedded or not installed */
	struct transcript_home homes[AGENTS_MAX]; /* of those that are installed */
	size_t n_homes;
	struct agent_opts agents[AGENTS_MAX];
	struct resolve_opts where;
	char *system_prompt; /* NULL: none */
	struct utterances *rules; /* what is a command and what is not */
	struct meaning *meaning; /* NULL: not installed */
	struct route_meaning means; /* the same for the router */
	struct router *router; /* NULL: routing is turned off */
	char *plan_words, *edit_words;
	struct route_task_words task_words; /* points to them */
};

/* An agent asked for by name or settings must be there: ERR_AGENT else, since another one would
 * surprise. */
int kit_open(const struct kit_opts *opts, struct kit *ret, struct err *reterr) MUST_USE;
/* Only what kit_decide_opts() needs: nobody is there to answer. */
int kit_open_deciding(const struct kit_opts *opts, struct kit *ret, struct err *reterr) MUST_USE;
void kit_close(struct kit *kit); /* harmless on a zeroed one and after a failed opening */

/* Embedded, or its program was found. */
bool kit_has(const struct kit *kit, const struct agent_def *kind);
/*
 * A turn may cost money, so an installed agent is never taken unasked. Where by_default is set, a
 * front end that can ask offers those that kit_has(); the answer is remembered for other kits.
 */
int kit_choose(struct kit *kit, const struct agent_def *kind, struct err *reterr) MUST_USE;

/* Single sentences are routed unless that is turned off; whoever stays in a conversation, only when
 * it is turned on. */
struct decide_opts kit_decide_opts(const struct kit *kit, bool single);
/* Who is asked about close choices, by the settings. */
struct judge_opts kit_judge_opts(const struct kit *kit);
/* What turns share, but for the loop. */
struct turn_host_opts kit_turn_opts(const struct kit *kit);
/* The assistant's options but for loop and ui. */
struct assistant_opts kit_assistant_opts(const struct kit *kit, bool single);

/* ---- parts of it, for who needs no more ---- */

/* Who answers in new conversations where the settings leave it open: the agent that was chosen at
 * an earlier start (kit_choose()), else that of the last conversation in dir (NULL: nowhere), a
 * real one; it is still there. *ret is NULL: none, so rehearsal does. Of the options only settings,
 * store, clock and search are looked at. */
int kit_auto(const struct kit_opts *o, const char *dir, const struct agent_def **ret,
	bool *ret_folder, struct err *reterr) MUST_USE;

/* The folder that conversations belong to: ai.working_directory, else cwd. Resolved; caller frees.
 */
int kit_dir(const struct settings *s, const char *cwd, char **ret, struct err *reterr) MUST_USE;
/* The language of faden's own texts. */
enum text_language kit_language(const struct settings *s, const char *locale);

/* By the settings, with another profile where one is named; meaning is borrowed, NULL: none.
 * ERR_USAGE for an unknown one. Caller frees with router_free(). */
int kit_router(const struct settings *s, const char *profile, const struct route_meaning *meaning,
	struct router **ret, struct err *reterr) MUST_USE;
/* What a router is told by a network that is installed; without one nothing. */
struct route_meaning kit_meaning(struct meaning *m, bool always);
