/*
 * A run of the pair: its events as JSON, one object each, and what is said about it in a line.
 */
#pragma once

#include "master/pair.h"
#include "json/write.h"

/* How many rounds are left: "3 rounds left", "no rounds left", "unlimited rounds". */
void view_rounds_left(struct str *out, int64_t remaining);
/* "12.3k tokens, $0.42", as far as the agents tell; nothing else. */
void view_spent(struct str *out, int64_t tokens, double cost_usd);
void view_master_spent(struct str *out, const struct master_state *s);
/* Why it stopped, in a line that ends with a colon where a command follows: the one that goes on
 * with it, made of `again`. */
void view_master_stop(
	struct str *line, struct str *command, const struct master_state *s, const char *again);

/* The run that begins or goes on. */
void view_json_master_run(
	struct jw *w, const struct master_state *s, const char *path, bool resumed);
/* False: nothing is said of it. */
bool view_json_master_event(
	struct jw *w, const struct master_state *s, const struct pair_event *ev);
