/*
 * Runs in another form than ours: the session state of the first design (one JSON object, version
 * 1), our own file when somebody has changed it by hand, and the session files of claude-master
 * (a record a line). Private to the room.
 *
 * Only what a step has a field for is taken over. Keys and tokens, which claude-master wrote down
 * with its configuration, are not.
 */
#pragma once

#include "master/run.h"

enum {
	FOREIGN_MAX = 512 * 1024 * 1024, /* bytes of a file */
};

struct foreign_report {
	enum master_form form;
	char id[UUID_TEXT]; /* empty: it has none that can be kept */
	size_t bad; /* lines and messages that were passed over */
	bool keys; /* it held keys, which were left there */
	bool newer; /* a newer version wrote it */
};

/*
 * Tells its steps in order, the first of which is the configuration; they have times and no
 * numbers. ERR_INPUT when it is no run.
 */
int foreign_steps(struct sv text, master_step_fn fn, void *data, struct foreign_report *ret,
	struct err *reterr) MUST_USE;
/* The id that it says it has. */
bool foreign_id(struct sv text, char ret_id[static UUID_TEXT]);
