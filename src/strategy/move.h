/*
 * A session taken along to another folder: a copy under a new id that says where it comes from, and
 * whose lines name the new folder where they named the old one. For agents that look for sessions
 * by the folder of their work. The session itself stays as it is.
 */
#pragma once

#include "base/clock.h"
#include "base/err.h"
#include "strategy/rewrite.h"
#include "transcript/transcript.h"

struct move_opts {
	const struct session_info *session;
	const char *dir; /* resolved */
	const char *out_dir; /* where the agent looks for sessions of dir */
	const struct clock *clock;
};
/* *ret is released by rewrite_result_release(). */
int move_session(
	const struct move_opts *opts, struct rewrite_result *ret, struct err *reterr) MUST_USE;
