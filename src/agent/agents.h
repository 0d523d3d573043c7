/*
 * The table of agents, one row each (agents.def). Whoever wants something of an agent asks its row
 * what it can or calls through it; nobody asks for its name. A new agent is a driver, a format of
 * transcripts and a row.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "agent/agent.h"
#include "base/str.h"
#include "transcript/transcript.h"

enum { AGENTS_MAX = 16 }; /* rows; for arrays with one place an agent, see agent_index() */

/* What it can through its driver. */
struct agent_can {
	bool own_ids; /* makes its session ids: agent_turn.session is NULL on a first turn */
	bool names_first; /* … and gets no prompt before it has told its id by AGENT_EV_SESSION;
			     where it cannot tell it yet, an empty one */
	bool plan; /* agent_turn.plan holds: nothing is changed. Without it, it is only a wish */
	bool plan_but_rules; /* … but by what the user's own rules for it allow */
	bool ask; /* agent_opts.ask holds: it asks for permission */
	bool prompt_ids; /* keeps agent_turn.prompt_id beside the prompt in its transcript */
	bool once; /* … and does not run a prompt again whose id it has */
	bool answer_only; /* agent_opts.answer_only holds: no tools, nothing kept. Without it, no
			     questions are put to it */
	bool no_tools; /* agent_opts.no_tools holds */
	bool schema; /* agent_opts.schema holds */
	bool schema_whole; /* … and the answer is the object alone, without words before it */
	bool cost; /* tells what a turn cost, and ends at agent_opts.max_budget_usd */
	bool keep_alive; /* one process serves turn after turn */
};

struct agent_def {
	const char *name; /* in options, settings and the store: "claude" */
	const char *also; /* further names in settings, with '=' between them; NULL: none */
	const char *title; /* as people call it: "Claude Code" */
	const char *hint; /* what it is, for who chooses one */
	const struct agent_driver *driver;
	const struct transcript_format *format; /* of its sessions; NULL: it keeps none */
	/* Where they are: the folder that the variable names, else one below the user's home. Both
	 * NULL: a folder of faden's own. */
	const char *home_variable, *home_default;
	/* What is called: the program of this name in PATH, unless the setting says otherwise.
	 * Without a program the setting is a command of the user's own; embedded, there is neither.
	 */
	const char *program;
	const char *setting; /* "ai.claude.program" */
	bool embedded; /* always there */
	const char *install; /* the command that gets it; NULL: none */
	/* How its own program goes on with a session, the id behind it: "claude --resume". NULL
	 * when it has no program for a terminal. */
	const char *resume;
	bool resume_in_folder; /* … which finds it only from the folder of its work */
	const char
		*resume_dir; /* … and the option, before the id, that names another; NULL: none */
	/* Its hooks: the file of its own that names them, the one in the folder of a project (NULL:
	 * none), what is to be done before they run (NULL: nothing). Without a file it has none. */
	const char *hooks_file, *hooks_project_file, *hooks_trust;
	/* Prompts that begin with one of these words, with blanks between them, leave the session
	 * for an empty one without a word. NULL: none. */
	const char *forgets;
	/* … and those that put a summary in its place. */
	const char *summarises;
	struct agent_can can;
};

extern const struct agent_def agent_table[];
extern const size_t agent_count;

/* NULL when there is none of that name. */
const struct agent_def *agent_named(struct sv name);
/* Whose own format it is: the first row that has it. NULL for NULL. */
const struct agent_def *agent_of_format(const struct transcript_format *format);
/* The one that is always there and costs nothing. */
const struct agent_def *agent_embedded(void);
/* Its place in the table, below AGENTS_MAX. */
static inline size_t agent_index(const struct agent_def *def)
{
	return (size_t)(def - agent_table);
}

/* What "PROGRAM --version" says in its first line, scrubbed; ERR_NOTFOUND when there is no program.
 */
int agent_version(const struct agent_def *def, const struct agent_opts *opts, struct str *out,
	struct err *reterr) MUST_USE;

/* Appends "claude, codex and rehearsal", of those that `which` (NULL: all) is true for; `last`
 * stands before the last of several: " and ". */
void agents_list(struct str *out, bool (*which)(const struct agent_def *def), const char *last);
bool agent_keeps_sessions(const struct agent_def *def);
bool agent_has_program(const struct agent_def *def);
bool agent_has_hooks(const struct agent_def *def);
