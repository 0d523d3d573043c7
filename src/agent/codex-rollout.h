/*
 * What the driver needs to know of Codex's files and spellings. Private to the room.
 */
#pragma once

#include "agent/driver.h"

/* The folder of its sessions for these options; NULL when there is no home. Caller frees. */
char *codex_root(const struct agent_opts *opts);
/* What a thread has used so far, from the end of its file. All -1 when that is not to be found;
 * path may be NULL. */
struct agent_usage codex_usage_of_file(const char *path);
/* The part of `total` since `before`; -1 where either is not known. */
struct agent_usage codex_usage_since(
	const struct agent_usage *total, const struct agent_usage *before);
/* A basic string of TOML, with its quotes. */
void codex_toml_string(struct str *out, struct sv text);
