/*
 * A passphrase: asked at the terminal without showing it, or read from a file. Never an argument,
 * which every process can see.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"
#include "cli/app.h"

#define AUTO_PASSPHRASE CLEANUP(passphrase_wipe) struct str
void passphrase_wipe(struct str *text);

/*
 * From the first line of the file, or from the terminal when that is NULL, whatever the standard
 * streams are; twice, when nothing would tell of a typing error later. `what` is asked for: "for
 * x.faden". ERR_USAGE: there is no terminal, the two differ, it is empty or too long;
 * ERR_CANCELLED.
 */
int passphrase_get(struct app *app, const char *file, const char *what, bool twice, struct str *ret,
	struct err *reterr) MUST_USE;
