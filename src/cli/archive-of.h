/*
 * The archive of this user, for commands that keep or read originals.
 */
#pragma once

#include "cli/app.h"
#include "store/archive.h"

/* app->store must be open. The folder's name is the caller's to free; it must outlive *ret. */
char *archive_of(struct app *app, struct archive *ret);
