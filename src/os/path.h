/*
 * Paths as text. Results are owned by the caller.
 */
#pragma once

#include <stdbool.h>

#include "base/err.h"
#include "base/str.h"

char *path_join(const char *dir, const char *name); /* "a" + "b" → "a/b"; absolute name wins */
struct sv path_base(struct sv path); /* last component; trailing '/' ignored */
struct sv path_parent(struct sv path); /* "/a/b" → "/a", "a" → "." , "/" → "/" */
char *path_folder(const char *path); /* path_parent(), owned */
/* Symbolic links resolved; the path must exist. */
int path_real(const char *path, char **ret, struct err *reterr) MUST_USE;
/* The path that a file which is gone had: links are resolved in what is left of the way to it. */
char *path_real_gone(const char *path);
char *path_cwd(struct err *reterr); /* getcwd(); NULL with reterr set when the folder is gone */
bool path_exists(const char *path);
/* True when `path` is `dir` or below it (textually; give both resolved). */
bool path_within(struct sv path, struct sv dir);
/* The first executable regular file `name` in search (a PATH value; entries that are not absolute
 * are passed over), or `name` itself when it holds a '/'. NULL when there is none. */
char *path_find_program(const char *name, const char *search);
/* "~" and "~/x" with the given home; anything else is copied, also without a home. */
char *path_expand_home(const char *path, const char *home);
/* For people: home shown as "~", and as $'…' when it holds what must not reach a terminal. home may
 * be NULL. */
char *path_show(const char *path, const char *home);
