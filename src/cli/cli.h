/*
 * The program: global options, dispatch, error report, exit status.
 */
#pragma once

#include "cli/cmd.h"

struct cli_globals {
	bool help;
	bool version;
	bool verbose;
	int colour; /* enum cli_colour */
	const char *config;
	const char *state;
};

enum cli_colour { CLI_COLOUR_AUTO, CLI_COLOUR_ALWAYS, CLI_COLOUR_NEVER };

/* The options that every command takes. */
extern const struct opt cli_global_options[];

/* The command that runs when none is named. */
#define CLI_DEFAULT_COMMAND "talk"

/* All of main(): returns the exit status. */
int cli_main(int argc, char **argv);
