/*
 * The program: global options, dispatch, error report, exit status.
 */
#pragma once

#include "cli/cmd.h"

/* The options that every command takes. */
extern const struct opt cli_global_options[];

/* All of main(): returns the exit status. */
int cli_main(int argc, char **argv);
