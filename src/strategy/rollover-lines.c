/*
 * A session of two messages: the one with the brief, and a short answer, so that the next prompt
 * follows an answer as the agents expect.
 */
#include <string.h>

#include "strategy/known.h"
#include "strategy/rollover.h"
#include "transcript/native.h"

struct lines {
	const struct rollover_opts *opts;
	const struct rollover *plan;
	int64_t now_ms;
};

/* The agent counts its own prompt anew; until then this is the best that is known. */
static void put_stats(const struct lines *l, struct jw *w)
{
	const struct rollover *plan = l->plan;
	const struct known known = {
		.left = plan->left,
		.bytes_per_token = plan->bytes_per_token,
		.base = plan->base,
		.most = plan->most,
		.window = plan->window,
		.lines = native_count(l->opts->target->format, 2),
	};

	/* Without either, what the file itself shows is as good. */
	if (plan->base == 0 && plan->bytes_per_token <= 0)
		return;
	jw_key(w, "stats");
	jw_object(w);
	jw_put_i64(w, "original_tokens", plan->before.tokens);
	if (plan->counted)
		jw_put_i64(w, "tokens_saved", plan->saved.tokens);
	known_put(w, &known);
	jw_end(w);
}

static void put_note(void *data, struct jw *w)
{
	const struct lines *l = data;
	const struct session_info *parent = &l->opts->parent->info;
	char now[CLOCK_TEXT_MAX];

	clock_format_iso(l->now_ms, now);
	jw_put_cstr(w, "parent_file", parent->path);
	jw_put_cstr(w, "parent_session_file", parent->path);
	jw_put_cstr(w, "parent_session_id", parent->id);
	jw_put_cstr(w, "continued_at", now);
	jw_put_cstr(w, "continuation_type", "rollover");
	if (strcmp(l->opts->parent->agent, l->opts->target->agent) != 0)
		jw_put_cstr(w, "ported_from", l->opts->parent->agent);
	jw_put_bool(w, "summary_included", l->opts->summary && l->opts->summary[0]);
	put_stats(l, w);
}

void rollover_lines(const struct rollover_opts *opts, const struct rollover *plan, struct str *out)
{
	const struct session_info *parent = &opts->parent->info;
	bool same = parent->format == opts->target->format;
	struct lines l = { opts, plan, clock_wall_ms(opts->clock) };
	struct native_lines native = NATIVE_LINES_INIT;

	native.format = opts->target->format;
	native.out = out;
	native.id = plan->id;
	native.dir = opts->dir;
	native.branch = parent->branch;
	/* Who answered in the parent goes on. */
	native.model = same ? parent->model : NULL;
	native.like = same ? parent->path : NULL;
	native.root = opts->target->root;
	native.note_key = "continue_metadata";
	native.note = put_note;
	native.data = &l;
	native.time_ms = l.now_ms;
	native_put(&native,
		&(struct native_item){ .kind = ITEM_USER, .text = str_sv(&plan->message) });
	native_put(&native,
		&(struct native_item){ .kind = ITEM_ASSISTANT, .text = SV(BRIEF_OWN_ANSWER) });
}
