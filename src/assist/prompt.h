/*
 * What the agent is told about the assistant it is: its name, the words that the assistant itself
 * acts on (so that "help" can be answered by the agent), and how to speak when it is heard. Made
 * from the configured keywords, so the two cannot drift apart. The same options give the same
 * bytes: agents compare the prompt of a resumed conversation.
 */
#pragma once

#include <stdbool.h>

#include "assist/utterance.h"
#include "base/str.h"

struct prompt_opts {
	const char *name; /* of the assistant; NULL or "": none */
	struct sv own; /* the user's own text, put first; may be empty */
	const struct keywords *keywords[UTTERANCE_COMMANDS]; /* an empty list is left out */
	const char *source_dir; /* folder with the assistant's own sources; NULL or "": none */
	bool voice; /* spoken to and read aloud */
};

void prompt_build(struct str *out, const struct prompt_opts *opts);
