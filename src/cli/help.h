/*
 * Help for people, from the tables of commands and options.
 */
#pragma once

#include <stdio.h>

#include "cli/cmd.h"

enum { HELP_WIDTH = 80 };

void help_program(FILE *out);
void help_command(FILE *out, const struct cmd *cmd);
