/*
 * The archive of this user, for the commands.
 */
#pragma once

#include "cli/app.h"
#include "store/archive.h"

/* Opens the store. *ret borrows from app and from *ret_dir, which the caller frees. */
int app_archive(struct app *app, struct archive *ret, char **ret_dir, struct err *reterr) MUST_USE;
