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
/* The file to execute for a name: looked for in the PATH of the child, or a path from here. NULL
 * when there is none. Caller frees. */
char *launch_find(const struct agent_opts *opts, const char *name);
/* The same for opts->program, or else for the name. */
char *launch_program(const struct agent_opts *opts, const char *name);
/* What "PROGRAM --version" says in its first line, scrubbed. */
int launch_version(const struct agent_opts *opts, const char *program, struct str *out,
	struct err *reterr) MUST_USE;
