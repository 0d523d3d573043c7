/*
 * A session of one agent as a native one of another: what a resume would send goes along, words as
 * words, calls of tools as calls, those that run a command by the other agent's own tool.
 * What only its own model can read stays behind, and is counted.
 */
#pragma once

#include "branch/native.h"
#include "branch/turns.h"
#include "transcript/transcript.h"

/* All borrowed. */
struct port_opts {
	const struct session_info *parent;
	const struct transcript_home *from, *to;
	uint64_t at; /* the last turn that is taken; 0: all there is */
	enum session_relation relation; /* SESSION_PORTED or SESSION_REPLAYED */
	const char *dir; /* of its work, resolved */
	bool dry; /* all but writing */
	const struct clock *clock;
};

struct port_report {
	struct native_report file; /* path NULL when dry */
	uint64_t turn; /* as of turn_cut */
	/* What stays behind. */
	uint64_t thinking; /* with its signatures, which only the agent's own model takes */
	uint64_t images; /* a note in brackets stands for each */
	uint64_t notices; /* texts that the agent itself put in: it is another one now */
	uint64_t errors; /* answers that no model gave */
	uint64_t commands; /* of the calls, those that became calls of the other's own tool */
	bool compacted; /* it begins with the summary that its history was replaced by */
};
#define PORT_REPORT_INIT                   \
	{                                  \
		.file = NATIVE_REPORT_INIT \
	}
void port_report_release(struct port_report *r);

/* ERR_NOTFOUND: nothing was said in it. ERR_INPUT: sessions of the other agent cannot be written,
 * or there are fewer turns. */
int port_session(
	const struct port_opts *opts, struct port_report *ret, struct err *reterr) MUST_USE;
