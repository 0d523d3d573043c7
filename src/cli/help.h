/*
 * Help for people, from the tables of commands and options.
 */
#pragma once

#include <stdio.h>

#include "cli/cmd.h"

enum { HELP_WIDTH = 80 };

void help_program(FILE *out);
/* no_manual: the page that says more was looked for and is not there. */
void help_command(FILE *out, const struct cmd *cmd, bool no_manual);
