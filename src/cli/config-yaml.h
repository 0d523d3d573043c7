/*
 * The configuration file. YAML, one document: sections of settings. It comes from a person, but is
 * read as if it came from an enemy: the size has a limit, the depth has one, aliases are refused.
 */
#pragma once

#include "cli/settings.h"

enum {
	CONFIG_BYTES_MAX = 256 * 1024,
	CONFIG_DEPTH_MAX = 8,
	CONFIG_LIST_MAX = 1024, /* elements of a plain list */
};

/*
 * Reads text into s. Unknown keys are passed over and named in notices (one line each, with the
 * place and the key likely meant; may be NULL). Anything else that is wrong is ERR_INPUT or
 * ERR_LIMIT with "file:line: name: what"; s may then be half changed. `file` is for messages only.
 */
int config_parse(struct settings *s, struct sv text, const char *file, struct strv *notices,
	struct err *reterr) MUST_USE;

/* The same from a file. Missing: -ENOENT. */
int config_load(
	struct settings *s, const char *path, struct strv *notices, struct err *reterr) MUST_USE;
