/*
 * The configuration file. YAML, one document: sections of settings. It comes from a person, but is
 * read as if it came from an enemy: the size has a limit, the depth has one, aliases are refused.
 */
#pragma once

#include "config/settings.h"

enum {
	CONFIG_BYTES_MAX = 256 * 1024,
	CONFIG_DEPTH_MAX = 8,
	CONFIG_LIST_MAX = 1024, /* elements of a plain list */
};

/*
 * Reads text into s. Unknown keys are passed over and added to `unknown` (with the key likely
 * meant; may be NULL). Anything else that is wrong is ERR_INPUT or ERR_LIMIT with
 * "file:line: name: what"; s may then be half changed. Where `wrong` is given, it does not stop at
 * the first mistake: all are added, in their order, and only a text that is too large fails. The
 * two may be the same. `file` is for messages only.
 */
int config_parse(struct settings *s, struct sv text, const char *file, struct findings *unknown,
	struct findings *wrong, struct err *reterr) MUST_USE;

/* The same from a file, to its first mistake. Missing: -ENOENT. */
int config_load(struct settings *s, const char *path, struct findings *unknown,
	struct err *reterr) MUST_USE;

/*
 * The text with one setting changed, appended to out: comments, order and spelling of all others
 * stay. `given` is as for settings_set(). ERR_INPUT when the text is wrong already, the value is,
 * or the setting cannot be told from the rest as it is written; ERR_USAGE for lists by language.
 * What is appended reads as the text did but for this setting; nothing is promised of it after a
 * failure.
 */
int config_edit(struct sv text, const char *file, enum setting_id id, struct sv given,
	const char *home, struct str *out, struct err *reterr) MUST_USE;

/*
 * A file that changes nothing, appended to out: every setting with its default, each behind a '#'
 * in the first column. Taking those away gives a file with the same meaning.
 */
void config_example(struct str *out);
