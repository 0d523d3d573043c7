/*
 * Folders as things that must survive a power cut: a new name is durable only when the folder
 * that holds it has been synced.
 */
#pragma once

#include "base/err.h"

/* Syncs the folder that holds `path`. Folders that cannot be opened for reading, and file systems
 * that cannot sync a folder, are passed over: nothing more can be done there. */
int folder_sync_of(const char *path, struct err *reterr) MUST_USE;
