/*
 * Help from the tables: text for people, JSON for the generators of man pages and completions.
 */
#pragma once

#include <stdio.h>

#include "cli/cmd.h"

enum { HELP_WIDTH = 80 };

void help_program(FILE *out);
void help_command(FILE *out, const struct cmd *cmd);
const char *cmd_group_title(enum cmd_group group);
/* Everything there is to know about the command line as one JSON document and a newline. */
void help_json(FILE *out);
