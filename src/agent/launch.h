/*
 * Which program to start, and with what environment. Private to the room.
 */
#pragma once

#include "agent/driver.h"

/* A variable of an environment, or NULL. */
const char *launch_env_get(const char *const *envp, const char *name);
/* Copies the environment without the variables named in drop (NULL-terminated) and
 * without the mark of a child. */
void launch_env(struct strv *out, const char *const *envp, const char *const *drop);
/* Sets or replaces. */
void launch_env_set(struct strv *env, const char *name, const char *value);
/* Where it keeps its sessions goes with its environment. The variable is left alone where it is not
 * set and the folder is the usual one: it moves more than the sessions (settings, login), and what
 * it names has to be there. */
void launch_home(struct strv *env, const struct agent_def *def, const struct agent_opts *opts);
/* The file to execute for a name: looked for in the PATH of the child, or a path from here. NULL
 * when there is none. Caller frees. */
char *launch_find(const struct agent_opts *opts, const char *name);
/* The same for opts->program, or else for the program of its row. */
char *launch_program(const struct agent_def *def, const struct agent_opts *opts);
/* That there is no such program, and how to get it. */
void launch_missing(const struct agent *a, struct agent_result *result);
