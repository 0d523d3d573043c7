/*
 * What the rehearsal agent does in a turn, from a script file. Private to the room.
 *
 *	# Blocks are separated by a line of dashes: block N is for message N of a conversation.
 *	say Let me look.
 *	tool Bash ls -l => total 0
 *	wait 200
 *	ask Write notes.txt => written
 *	say Nothing there.
 *	---
 *	fail rate-limited the limit ends soon
 *	---
 *	die
 *
 * say TEXT (\n in it is a new line), wait MS, retry MS [TEXT] (as an agent that tries again
 * after so long), tool NAME INPUT [=> OUTPUT], ask (the same with permission: without it, it
 * does not run), fail KIND [TEXT] (kinds are those of agent_fail_name(); a rate-limited one
 * whose text begins with a number ends after so many milliseconds), die (the process ends
 * without a word). A block "*" after the last dashes is for every message beyond. Messages
 * without a block get the usual answer; so does an empty block.
 */
#pragma once

#include "agent/agent.h"
#include "base/vec.h"

enum step_kind { STEP_SAY, STEP_WAIT, STEP_RETRY, STEP_TOOL, STEP_ASK, STEP_FAIL, STEP_DIE };

struct step {
	enum step_kind kind;
	char *text; /* say, tool input, fail message */
	char *tool;
	char *output;
	int64_t ms;
	enum agent_fail fail;
};

struct steps {
	VEC(struct step) list;
};
#define STEPS_INIT               \
	{                        \
		.list = VEC_INIT \
	}
void steps_release(struct steps *s);

enum {
	SCRIPT_BYTES_MAX = 1024 * 1024,
	SCRIPT_WAIT_MAX = 3600 * 1000, /* milliseconds of one wait */
};

/* The steps for message `number` (from 1); none when the script has no block for it. Errors name
 * the line. */
int script_steps(struct sv script, int64_t number, struct steps *out, struct err *reterr) MUST_USE;
void steps_say(struct steps *s, struct sv text);
void steps_wait(struct steps *s, int64_t ms);
void steps_ask(struct steps *s, const char *tool, const char *input, const char *output);

/* rehearsal-pair.c: its answer as one of a pair, which its system prompt tells; false: it is none.
 */
bool rehearsal_pair(const char *system_prompt, const struct strv *said, struct str *out);
