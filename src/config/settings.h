/*
 * The settings: plain data that any room above may be given. One row each in settings.def, one
 * field each in struct settings. The table knows name, kind, default, range and help; the
 * configuration file, the environment, `faden config`, the example file and the man page all come
 * from it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "agent/agents.h"
#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"
#include "config/keywords.h"

enum setting_kind {
	SETTING_BOOL, /* bool */
	SETTING_INT, /* long long */
	SETTING_NUMBER, /* double */
	SETTING_SECONDS, /* int64_t milliseconds; "90", "1.5", "15m", "2h" */
	SETTING_SIZE, /* uint64_t bytes; "500M", "2G"; 0: empty */
	SETTING_STRING, /* char *, never NULL */
	SETTING_PATH, /* the same; "~" expanded */
	SETTING_CHOICE, /* the same; the first spelling of one of the choices */
	SETTING_AGENT, /* the same; "auto" or the name of an agent */
	SETTING_LIST, /* struct strv */
	SETTING_WORDS, /* struct keywords: a list, or lists by language */
	SETTING_TABLE, /* struct strv of "LANGUAGE.CLASS=WORD|WORD" */
};

#define SETTING_TYPE_BOOL bool
#define SETTING_TYPE_INT long long
#define SETTING_TYPE_NUMBER double
#define SETTING_TYPE_SECONDS int64_t
#define SETTING_TYPE_SIZE uint64_t
#define SETTING_TYPE_STRING char *
#define SETTING_TYPE_PATH char *
#define SETTING_TYPE_CHOICE char *
#define SETTING_TYPE_AGENT char *
#define SETTING_TYPE_LIST struct strv
#define SETTING_TYPE_WORDS struct keywords
#define SETTING_TYPE_TABLE struct strv

enum setting_id {
#define S(kind, field, name, fallback, low, high, choices, help) SETTING_ID_##field,
#define PROGRAMS(field, help) \
	SETTING_ID_##field, SETTING_ID_##field##_end = SETTING_ID_##field + AGENTS_MAX - 1,
#include "config/settings.def"
#undef S
#undef PROGRAMS
	SETTING_COUNT
};

enum setting_source { SETTING_DEFAULT, SETTING_FILE, SETTING_ENVIRONMENT };

struct setting_origin {
	enum setting_source source;
	unsigned line; /* SETTING_FILE: in the file, from 1 */
};

struct settings {
#define S(kind, field, name, fallback, low, high, choices, help) SETTING_TYPE_##kind field;
#define PROGRAMS(field, help) char *field[AGENTS_MAX]; /* by agent_index() */
#include "config/settings.def"
#undef S
#undef PROGRAMS
	struct setting_origin origins[SETTING_COUNT];
	char *home; /* for "~" */
};

struct setting {
	enum setting_kind kind;
	const char *name; /* "ai.timeout" */
	const char *fallback;
	double low, high; /* both 0: any */
	const char *choices; /* SETTING_CHOICE */
	const char *help;
	size_t offset;
};
struct setting settings_row(enum setting_id id);
/* The first setting there is from `id` on; SETTING_COUNT after the last. Not every number is one:
 * an agent may have no program. */
enum setting_id settings_from(enum setting_id id);
#define settings_each(id)                                                  \
	for (enum setting_id(id) = settings_from(0); (id) < SETTING_COUNT; \
		(id) = settings_from((id) + 1))
/* False for what nothing uses yet: it is read, so that a file may have it, and not shown. */
bool settings_shown(enum setting_id id);
/* Appends the choices as settings.def spells them; nothing when any value will do. */
void settings_choices(struct str *out, enum setting_id id);
/* What is called for an agent: the name or path of its program; NULL when it has none. */
const char *settings_program(const struct settings *s, const struct agent_def *agent);

/* All defaults. Never fails: a test parses every default. */
struct settings *settings_new(const char *home);
void settings_free(struct settings *s); /* NULL is fine */

/* The row of a name; -1 when there is none. */
int settings_find(struct sv name);
/* True when some setting's name begins with name and a dot. */
bool settings_is_section(struct sv name);
/* The nearest name to a mistyped one, NULL when nothing is near. */
const char *settings_suggest(struct sv name);

/* Sets from text. Lists are separated by commas, words as for keywords_parse(). ERR_INPUT with a
 * message that says what is wrong with the value, without the name. */
int settings_set(struct settings *s, enum setting_id id, struct sv text,
	struct setting_origin origin, struct err *reterr) MUST_USE;
/* For the loader: empties a list, words or table before its elements are added. */
void settings_clear(struct settings *s, enum setting_id id);
void *settings_field(struct settings *s, enum setting_id id);
const void *settings_value(const struct settings *s, enum setting_id id);

/* What is wrong with a configuration: one line each, with the place. */
struct config_finding {
	unsigned line; /* in the file, from 1; 0: not in it (the environment, the whole) */
	char *text; /* without the place */
};
struct findings {
	VEC(struct config_finding) all;
};
#define FINDINGS_INIT           \
	{                       \
		.all = VEC_INIT \
	}
void findings_add(struct findings *f, unsigned line, const char *fmt, ...) PRINTF(3, 4);
void findings_release(struct findings *f);
/* "FILE:LINE: text", scrubbed; what stands in no line has no place. */
void config_finding_print(struct str *out, const struct config_finding *f, const char *file);

/* FADEN_AI_TIMEOUT and so on among "NAME=value"s override the file; an empty value is none. Names
 * the variable on failure; where `wrong` is given, all mistakes are added to it and nothing
 * fails. */
int settings_from_environment(struct settings *s, const char *const *envp, struct findings *wrong,
	struct err *reterr) MUST_USE;

/* The value as text, as settings_set() takes it. */
void settings_print(struct str *out, const struct settings *s, enum setting_id id);
/* "default", "environment", "FILE:LINE". */
void settings_print_origin(
	struct str *out, const struct settings *s, enum setting_id id, const char *file);
