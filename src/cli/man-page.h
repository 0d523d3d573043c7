/*
 * The manual page of a command, where the program itself lies: in its build folder or installed.
 */
#pragma once

#include "cli/cmd.h"

/* Hands the terminal to man(1) with that page. Only returns when that is not to be had. */
void man_page_show(struct app *app, const char *name);
