/*
 * Command-line options by table. A command has an options struct of its own; each row of its table
 * names a field of it by offset, so that parsing, --help, the man page and the completions come
 * from one place.
 *
 *	struct list_opts { bool all; const char *agent; };
 *	static const struct opt list_options[] = {
 *		OPT_FLAG('a', "all", struct list_opts, all, "every directory, not only this one"),
 *		OPT_AGENT(struct list_opts, agent, NULL, "only sessions of one agent: @"),
 *		OPT_END,
 *	};
 *
 * Strings are borrowed from argv. A field of the wrong type does not compile.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "agent/agents.h"
#include "base/err.h"
#include "base/str.h"

enum opt_kind {
	OPT_KIND_FLAG, /* bool: true when given */
	OPT_KIND_NEGATABLE, /* enum opt_tri: --x, --no-x */
	OPT_KIND_INT, /* long long, min..max */
	OPT_KIND_DOUBLE, /* double */
	OPT_KIND_STRING, /* const char *: NULL when not given, never empty unless given so */
	OPT_KIND_LIST, /* struct strv: one element each time it is given */
	OPT_KIND_CHOICE, /* int: index into choices */
	OPT_KIND_WORD, /* const char *: one of choices; NULL when not given */
	OPT_KIND_SPAN, /* int64_t: milliseconds, from "90s", "15m", "2h", "7d", "3w" */
	OPT_KIND_AGENT, /* const char *: an agent's name, not looked up yet */
};

/* The value of a negatable option: whatever the settings say unless one of the two was given. */
enum opt_tri { OPT_NO = -1, OPT_UNSET = 0, OPT_YES = 1 };

struct opt {
	char brief; /* the short form's letter; 0: none */
	const char *name; /* the long form without dashes; NULL ends the table */
	enum opt_kind kind;
	size_t offset;
	const char *arg; /* what help calls the value */
	const char *help; /* begins in lower case, no full stop */
	const char *const *choices; /* OPT_KIND_CHOICE and _WORD: NULL-terminated */
	long long min, max; /* OPT_KIND_INT; both 0: any */
	bool (*agents)(const struct agent_def *def); /* OPT_KIND_AGENT: which; NULL: all */
};

#define OPT_FIELD(type, field, want)                                                               \
	(offsetof(type, field) +                                                                   \
		(sizeof(char[__builtin_types_compatible_p(__typeof__(((type *)NULL)->field), want) \
				 ? 1                                                               \
				 : -1]) -                                                          \
			1))

/* clang-format off */
#define OPT_FLAG(brief, name, type, field, help) \
	{ brief, name, OPT_KIND_FLAG, OPT_FIELD(type, field, bool), NULL, help, NULL, 0, 0, NULL }
#define OPT_NEGATABLE(brief, name, type, field, help) \
	{ brief, name, OPT_KIND_NEGATABLE, OPT_FIELD(type, field, enum opt_tri), NULL, help, NULL, 0, 0, NULL }
#define OPT_INT(brief, name, type, field, arg, min, max, help) \
	{ brief, name, OPT_KIND_INT, OPT_FIELD(type, field, long long), arg, help, NULL, min, max, NULL }
#define OPT_DOUBLE(brief, name, type, field, arg, help) \
	{ brief, name, OPT_KIND_DOUBLE, OPT_FIELD(type, field, double), arg, help, NULL, 0, 0, NULL }
#define OPT_STRING(brief, name, type, field, arg, help) \
	{ brief, name, OPT_KIND_STRING, OPT_FIELD(type, field, const char *), arg, help, NULL, 0, 0, NULL }
#define OPT_LIST(brief, name, type, field, arg, help) \
	{ brief, name, OPT_KIND_LIST, OPT_FIELD(type, field, struct strv), arg, help, NULL, 0, 0, NULL }
#define OPT_CHOICE(brief, name, type, field, arg, choices, help) \
	{ brief, name, OPT_KIND_CHOICE, OPT_FIELD(type, field, int), arg, help, choices, 0, 0, NULL }
#define OPT_WORD(brief, name, type, field, arg, choices, help) \
	{ brief, name, OPT_KIND_WORD, OPT_FIELD(type, field, const char *), arg, help, choices, 0, 0, NULL }
#define OPT_SPAN(brief, name, type, field, arg, help) \
	{ brief, name, OPT_KIND_SPAN, OPT_FIELD(type, field, int64_t), arg, help, NULL, 0, 0, NULL }
/* @ in the help becomes the names of those agents that `agents` (NULL: all) is true for. */
#define OPT_AGENT(type, field, agents, help) OPT_AGENT_AS("agent", type, field, agents, help)
#define OPT_AGENT_AS(name, type, field, agents, help) \
	{ 0, name, OPT_KIND_AGENT, OPT_FIELD(type, field, const char *), "NAME", help, NULL, 0, 0, agents }
#define OPT_END \
	{ 0, NULL, OPT_KIND_FLAG, 0, NULL, NULL, NULL, 0, 0, NULL }
/* clang-format on */

/* A table and the struct it fills. Of several, the first that knows an option takes it. */
struct opt_set {
	const struct opt *opts; /* NULL: empty */
	void *dest;
};

/*
 * Parses argv[0..argc): options in any place, words into rest (room for argc pointers) in their
 * order, everything after "--" a word. "-" alone is a word. Short options may be clustered ("-ab",
 * "-n5"), long ones take "--x=value" or the next argument. Behind the first word a negative number
 * is a word too; with dash_words a dash and two letters, or a dash and a quote, are the beginning
 * of one instead ("-mutex", "-dir:src"), so that no short options are clustered there. Returns the
 * number of words; otherwise ERR_USAGE with a message that names the option and, for a typing
 * error, the one likely meant.
 */
int opt_parse(const struct opt_set *sets, size_t n_sets, bool dash_words, int argc,
	char *const *argv, char **rest, struct err *reterr) MUST_USE;

/*
 * Index of the first word in argv[0..argc) that is no option and no option's value; argc when there
 * is none or when an option comes before it that the sets do not know.
 */
int opt_first_word(const struct opt_set *sets, size_t n_sets, int argc, char *const *argv);

/* Appends the help of an option, with the names of agents in it. */
void opt_help(struct str *out, const struct opt *o);

/* Frees what parsing put into dest (lists). */
void opt_release(const struct opt *opts, void *dest);

static inline bool opt_takes_value(const struct opt *o)
{
	return o->kind != OPT_KIND_FLAG && o->kind != OPT_KIND_NEGATABLE;
}
