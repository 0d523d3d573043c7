/*
 * The store looked at as a whole and tried out, for those who want to know whether it works.
 */
#pragma once

#include "base/str.h"
#include "store/store.h"

enum store_health {
	STORE_SOUND, /* every page was read and a record was written */
	STORE_NONE, /* not made yet */
	STORE_EMPTY, /* a file without anything in it: the next turn begins anew */
	STORE_DAMAGED,
	STORE_UNREADABLE, /* a file of it may not be read and written */
	STORE_UNWRITABLE, /* what is written does not arrive: read-only, disk full, an error of it
			   */
	STORE_HELD, /* another process holds it for longer than is usual */
	STORE_NEWER, /* of a newer faden */
};

/*
 * Tries the store at path: reads all of it, folds its log in, writes a record that changes nothing.
 * Nothing is made and nothing migrated, and one that is damaged is not written to. What was found
 * is appended in words, without the path where that is clear. The path must not be open in this
 * process.
 */
enum store_health store_try(const char *path, struct str *words);

/* Whether a table or an index is missing that this version has, as nothing but a hand at it brings
 * about; the first of them is named in words. */
bool store_lacks(struct store *store, struct str *words);
