/*
 * The settings for people and programs: list, JSON, a commented example file.
 */
#pragma once

#include <stdio.h>

#include "cli/settings.h"
#include "json/write.h"

/* "name = value  (source)", one line each. */
void config_print_list(FILE *out, const struct settings *s, const char *file);
/* An array of objects: name, value, source, file, line, default, help. */
void config_print_json(FILE *out, const struct settings *s, const char *file);
/* One value with its JSON type. */
void config_put_value(struct jw *w, const struct settings *s, enum setting_id id);
/*
 * A file that changes nothing: every setting with its default, each behind a '#' in the first
 * column. Taking those away gives a file with the same meaning.
 */
void config_print_example(FILE *out);
