/*
 * A command: one file cmd-NAME.c with one `const struct cmd cmd_NAME` and one line in commands.def.
 * Parsing, --help, the man page and the completions come from this struct.
 */
#pragma once

#include <stddef.h>

#include "cli/app.h"
#include "cli/opt.h"
#include "ui/format.h"

/* The order of the groups in --help. */
/* clang-format off */
#define CMD_GROUPS(X) \
	X(CMD_GROUP_TALK,     "Talking") \
	X(CMD_GROUP_SESSIONS, "Conversations") \
	X(CMD_GROUP_CONTEXT,  "When the context is full") \
	X(CMD_GROUP_BRANCH,   "Branches") \
	X(CMD_GROUP_SETUP,    "Set-up and help")
/* clang-format on */

enum cmd_group {
#define X(id, title) id,
	CMD_GROUPS(X)
#undef X
		CMD_GROUP_COUNT
};

enum {
	CMD_STORE = 1 << 0, /* app_store() before run; app->store is set */
	CMD_NO_SETTINGS = 1 << 1, /* run even when the configuration is broken; settings is NULL */
	CMD_HIDDEN = 1 << 2, /* for programs: not in help, man pages and completions */
	CMD_DASH_WORDS = 1 << 3, /* words may begin with a dash: see opt_parse() */
};

enum { CMD_ANY = -1 }; /* max_args: no limit */

/* What the words of a command are, for the completions. */
enum cmd_words { CMD_WORDS_TEXT, CMD_WORDS_SESSION, CMD_WORDS_FILE, CMD_WORDS_COMMAND };

/* How a word is written, for --help. */
struct cmd_syntax {
	const char *text, *help;
};

struct cmd {
	const char *name;
	const char *alias; /* NULL: none */
	enum cmd_group group;
	const char *summary; /* one line for the list, lower case, no full stop */
	const char *synopsis; /* the words: "SESSION", "[TEXT…]"; "" for none */
	int min_args, max_args;
	bool picks; /* what is missing of min_args are sessions: at a terminal they are chosen */
	unsigned needs;
	enum cmd_words words;
	const char *const *verbs; /* NULL, or the choices for the first word, NULL-terminated */
	const struct opt *opts; /* NULL: none */
	size_t opts_size; /* of the options struct */
	const struct cmd_syntax *syntax; /* of its words, until one without a text; NULL: none */
	const struct format_field *fields; /* of its -F, until one without a name; NULL: none */
	const void *defaults; /* an options struct to start from; NULL: all zero */
	/* opts is the filled options struct (NULL when opts_size is 0); argv holds the argc words
	 * without the command's name. Returns 0, an exit status, or a negative error. */
	int (*run)(struct app *app, const void *opts, int argc, char **argv, struct err *reterr);
};

#define CMD(name) extern const struct cmd cmd_##name;
#include "cli/commands.def"
#undef CMD

/* Runs a command within another one, as if it had been called with these words and options. */
int cmd_call(
	struct app *app, const struct cmd *cmd, int argc, char **argv, struct err *reterr) MUST_USE;

/* By name or alias, exactly; NULL when there is none. */
const struct cmd *cmd_find(struct sv name);
/* All, sorted by name. */
const struct cmd *const *cmd_table(size_t *ret_n);
/* The nearest name to a mistyped one; NULL when nothing is near. */
const char *cmd_suggest(struct sv name);
