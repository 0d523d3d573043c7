/*
 * A file that other programs append to is replaced, and nothing that they append is lost.
 *
 * Where the system has leases (local file systems, for the owner of the file), that is certain:
 * nobody has the file open for writing when it is replaced, whoever opens it just then is waited
 * for and its bytes are brought over, and whoever opens the new file waits until that is done.
 * Elsewhere /proc tells who has it open, which is not seen of other users' processes and of other
 * machines; and of two who append at that moment, the later may come first.
 */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "os/file.h"

/*
 * Puts `f`, which was written and not committed, in the place of the file that `old` is (open for
 * reading) and whose first `at` bytes it stands for. What that has beyond them follows in the new
 * one; *ret_late is how many bytes. f is released in any case.
 *
 * ERR_BUSY names a program that has the file open for writing. After a failure the old file has its
 * name, also when it shows only after the exchange; but for file systems that cannot exchange two
 * files.
 */
int file_new_swap(
	struct file_new *f, int old, uint64_t at, uint64_t *ret_late, struct err *reterr) MUST_USE;
