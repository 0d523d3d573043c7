#include "view/runs.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "os/path.h"
#include "ui/table.h"
#include "ui/wrap.h"
#include "view/branch.h"
#include "view/json.h"
#include "view/master.h"

/* ---- which there are ---- */

static const char *title_of(const struct master_state *s)
{
	return s->name ? s->name : s->task.len ? s->task.buf : "";
}

static void how_it_stands(const struct master_row *row, struct str *out)
{
	if (row->pid)
		str_addf(out, "runs (process %lld)", (long long)row->pid);
	else if (row->open)
		str_adds(out, "interrupted");
	else if (row->state.stopped.stop == MASTER_STOP_NONE)
		str_adds(out, "ready");
	else
		str_adds(out, master_stop_name(row->state.stopped.stop));
}

static void rounds_of(const struct master_state *s, struct str *out)
{
	str_addf(out, "%lld", (long long)s->round);
	if (s->remaining != MASTER_UNLIMITED)
		str_addf(out, " of %lld", (long long)s->round + (long long)s->remaining);
}

void view_runs(struct term *t, const struct master_list *list, int64_t now_ms)
{
	static const struct table_column columns[] = {
		{ .title = "ID" },
		{ .title = "LAST" },
		{ .title = "ROUND", .right = true },
		{ .title = "STATE", .shrink = true, .room = 12 },
		{ .title = "COST", .right = true, .spare = 1 },
		{ .title = "NAME OR TASK", .shrink = true, .room = 24 },
	};
	struct table table;

	table_init(&table, columns, ARRAY_LEN(columns));
	vec_each (&list->rows, row) {
		const struct master_state *s = &row->state;
		AUTO_STR state = STR_INIT, rounds = STR_INIT;
		char last[CLOCK_TEXT_MAX];
		clock_format_ago(now_ms - s->updated_ms, last);
		how_it_stands(row, &state);
		rounds_of(s, &rounds);
		table_add(&table, t->tty ? sv_head(sv_of(s->id), 8) : sv_of(s->id));
		table_add(&table, sv_of(last));
		table_add(&table, str_sv(&rounds));
		table_add(&table, str_sv(&state));
		if (s->cost_usd > 0)
			table_addf(&table, "$%.2f", s->cost_usd);
		else
			table_add(&table, SV(""));
		table_add(&table, sv_of(title_of(s)));
	}
	table_print(&table, t);
	table_release(&table);
}

static void put_rounds(struct jw *w, const struct master_state *s)
{
	jw_put_i64(w, "round", s->round);
	jw_put_bool(w, "unlimited", s->remaining == MASTER_UNLIMITED);
	view_put_count(w, "remaining_rounds", s->remaining, s->remaining != MASTER_UNLIMITED);
}

static void put_run(struct jw *w, const struct master_state *s, const char *path)
{
	jw_put_cstr(w, "run_id", s->id);
	view_put_text(w, "name", s->name);
	view_put_text(w, "task", s->task.buf);
	jw_put_cstr(w, "path", path);
	view_put_text(w, "directory", s->config.dir);
	view_put_text(w, "instructor_agent", s->config.agent[MASTER_INSTRUCTOR]);
	view_put_text(w, "worker_agent", s->config.agent[MASTER_WORKER]);
	view_put_time(w, "started_at", s->created_ms);
	view_put_time(w, "active_at", s->updated_ms);
	put_rounds(w, s);
	jw_put_cstr(w, "reason", master_stop_name(s->stopped.stop));
	jw_put_i64(w, "input_tokens", s->tokens_in);
	jw_put_i64(w, "output_tokens", s->tokens_out);
	jw_put_double(w, "cost_usd", s->cost_usd);
	view_put_text(w, "origin_id", s->origin);
	view_put_text(w, "other_id", s->origin_other);
}

void view_json_runs(struct jw *w, const struct master_list *list)
{
	jw_array(w);
	vec_each (&list->rows, row) {
		jw_object(w);
		put_run(w, &row->state, row->path);
		jw_put_i64(w, "size_bytes", (int64_t)row->bytes);
		jw_put_bool(w, "interrupted", row->open && row->pid == 0);
		view_put_count(w, "pid", row->pid, row->pid != 0);
		view_put_error(w, NULL, NULL);
		jw_end(w);
	}
	vec_each (&list->bad, bad) {
		jw_object(w);
		jw_put_cstr(w, "path", bad->path);
		view_put_error(w, &bad->why, NULL);
		jw_end(w);
	}
	jw_end(w);
}

/* ---- away ---- */

static void put_bytes(struct str *out, uint64_t bytes)
{
	if (bytes >= 1024 * 1024)
		str_addf(out, "%.1f MB", (double)bytes / (1024.0 * 1024.0));
	else
		str_addf(out, "%.1f kB", (double)bytes / 1024.0);
}

void view_runs_cleaned(struct term *t, const struct runs_cleaned *c)
{
	AUTO_STR line = STR_INIT;

	if (c->runs == 0) {
		str_adds(&line, c->dry ? "No run would be deleted." : "No run was deleted.");
	} else {
		str_addf(&line, "%zu run%s (", c->runs, c->runs == 1 ? "" : "s");
		put_bytes(&line, c->bytes);
		str_adds(&line,
			c->dry ? ") would be deleted." : ") deleted; the archive keeps a copy.");
	}
	if (c->in_use)
		str_addf(&line, " %zu in use %s left.", c->in_use,
			c->dry			 ? "would be"
				: c->in_use == 1 ? "was"
						 : "were");
	wrap_line(t, 0, str_sv(&line));
}

void view_json_runs_cleaned(struct jw *w, const struct runs_cleaned *c)
{
	jw_object(w);
	jw_put_bool(w, "dry_run", c->dry);
	jw_put_i64(w, "runs", (int64_t)c->runs);
	jw_put_i64(w, "in_use", (int64_t)c->in_use);
	jw_put_i64(w, "size_bytes", (int64_t)c->bytes);
	jw_end(w);
}

/* ---- made ---- */

void view_run_found(unsigned found, struct strv *lines)
{
	static const struct {
		unsigned flag;
		const char *text;
	} all[] = {
		{ MASTER_FOUND_TORN, "its last step was cut off by a crash and is dropped" },
		{ MASTER_FOUND_CLOCK_BACK, "the clock is behind its last step" },
		{ MASTER_FOUND_NEWER,
			"a newer faden wrote it: what that has more is not seen here" },
		{ MASTER_FOUND_DAMAGED, "steps are missing in it; the damaged file is set aside" },
		{ MASTER_FOUND_OLDER,
			"it was written in an older form and is brought up to this one" },
		{ MASTER_FOUND_EDITED, "its file was changed by hand; what stands there counts" },
		{ MASTER_FOUND_LOST, "some of it could not be understood and is left out" },
		{ MASTER_FOUND_KEYS, "it held keys or tokens, which are not taken over" },
		{ MASTER_FOUND_OTHER_ID, "its id is taken here already: it has a new one" },
	};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (found & all[i].flag)
			strv_add(lines, all[i].text);
}

/* What is not known of the files that two runs have changed. */
static void view_unknown(struct term *t, const struct master_changes changes[static 2],
	const char *const where[static 2])
{
	AUTO_STR line = STR_INIT;
	size_t missing = changes[0].missing + changes[1].missing;

	view_commands(&line, (uint64_t[]){ changes[0].commands, changes[1].commands }, where);
	if (line.len > 0) {
		str_addc(&line, '.');
		wrap_line(t, STYLE_NOTICE, str_sv(&line));
	}
	str_clear(&line);
	str_addf(&line,
		"%zu session%s of the workers %s not on this machine: what was changed in %s is "
		"not known.",
		missing, missing == 1 ? "" : "s", missing == 1 ? "is" : "are",
		missing == 1 ? "it" : "them");
	if (missing > 0)
		wrap_line(t, STYLE_NOTICE, str_sv(&line));
}

void view_run_made(struct term *t, const struct run_made *made)
{
	const struct master_state *s = made->state;
	AUTO_STR line = STR_INIT;
	AUTO_STRV found = STRV_INIT;

	if (!made->again) {
		str_addf(&line, "A run would be %s from %.8s at round %lld", made->how, s->id,
			(long long)made->round);
		if (made->other)
			str_addf(&line, " with %.8s", made->other->id);
		str_addf(&line, ": \"%s\".", title_of(s));
	} else {
		str_addf(&line, "Run %s was %s", s->id, made->how);
		if (s->origin)
			str_addf(&line, " from %.8s at round %lld", s->origin,
				(long long)s->origin_round);
		if (s->origin_other)
			str_addf(&line, " with %.8s", s->origin_other);
		str_addf(&line, ": \"%s\", round %lld, ", title_of(s), (long long)s->round);
		view_rounds_left(&line, s->remaining);
		str_addc(&line, '.');
	}
	wrap_line(t, 0, str_sv(&line));
	view_run_found(made->found, &found);
	for (size_t i = 0; i < found.n; i++) {
		str_clear(&line);
		str_addf(&line, "Note: %s.", found.v[i]);
		wrap_line(t, STYLE_NOTICE, str_sv(&line));
	}
	for (int i = 0; i < MASTER_ROLES; i++) {
		if (!(made->written & (1U << i)))
			continue;
		str_clear(&line);
		str_addf(&line,
			"The %s's session was written anew from what was said; its calls of "
			"tools are not in it.",
			master_role_name((enum master_role)i));
		wrap_line(t, STYLE_NOTICE, str_sv(&line));
	}
	for (size_t i = 0; made->conflicts && i < made->conflicts->n; i++) {
		str_clear(&line);
		str_addf(&line, "Changed on both sides: %s", made->conflicts->v[i]);
		wrap_line(t, STYLE_WARNING, str_sv(&line));
	}
	if (made->changes)
		view_unknown(t, made->changes, (const char *[]){ "here", "there" });
	/* To be pasted: never broken. */
	if (made->again)
		term_putf(t, "  %s\n", made->again);
}

void view_json_run_made(struct jw *w, const struct run_made *made)
{
	AUTO_STRV found = STRV_INIT;
	const struct strv none = STRV_INIT;

	view_run_found(made->found, &found);
	jw_object(w);
	put_run(w, made->state, made->path);
	jw_put_cstr(w, "how", made->how);
	jw_put_bool(w, "dry_run", !made->again);
	view_put_strings(w, "notes", &found);
	jw_put_bool(w, "instructor_written", made->written & (1U << MASTER_INSTRUCTOR));
	jw_put_bool(w, "worker_written", made->written & (1U << MASTER_WORKER));
	view_put_strings(w, "conflicts", made->conflicts ? made->conflicts : &none);
	const struct master_changes *c = made->changes;
	view_put_count(w, "shell_commands", c ? (int64_t)c[0].commands : 0, c != NULL);
	view_put_count(w, "other_shell_commands", c ? (int64_t)c[1].commands : 0, c != NULL);
	jw_end(w);
}

/* ---- two of them ---- */

static void view_round(
	struct term *t, const struct master_round *r, const char *mark, unsigned style)
{
	AUTO_STR line = STR_INIT, spent = STR_INIT;

	str_addf(&line, "%s %lld  %s", mark, (long long)r->round, r->instruction);
	wrap_line(t, style, str_sv(&line));
	str_clear(&line);
	str_addf(&line, "     %s%s%s", r->fail == AGENT_OK ? "" : agent_fail_name(r->fail),
		r->fail == AGENT_OK ? "" : ": ", r->answer ? r->answer : "(no answer)");
	view_spent(&spent, r->tokens_in + r->tokens_out, r->cost_usd);
	if (spent.len > 0)
		str_addf(&line, "  [%s]", spent.buf);
	wrap_line(t, STYLE_NOTICE, str_sv(&line));
}

/* What one of them has that the other has not. */
static void view_side(struct term *t, const struct runs_diff *d, int side, const char *mark)
{
	const struct master_rounds *rounds = d->rounds[side];
	const struct strv *files = &d->changes[side].files;
	AUTO_STR line = STR_INIT, spent = STR_INIT;
	size_t n = rounds->v.n - d->common;
	int64_t tokens = 0;
	double cost = 0;

	for (size_t i = d->common; i < rounds->v.n; i++) {
		tokens += rounds->v.v[i].tokens_in + rounds->v.v[i].tokens_out;
		cost += rounds->v.v[i].cost_usd;
	}
	view_spent(&spent, tokens, cost);
	str_addf(&line, "%s %zu instruction%s%s%s", mark, n, n == 1 ? "" : "s",
		spent.len ? ", " : "", spent.buf);
	for (size_t i = 0; i < files->n; i++)
		str_addf(&line, "%s%s", i ? ", " : "; files changed: ", files->v[i]);
	wrap_line(t, 0, str_sv(&line));
}

void view_runs_diff(struct term *t, const struct runs_diff *d)
{
	static const char *const marks[] = { "-", "+" };
	AUTO_STR line = STR_INIT;

	for (int i = 0; i < 2; i++) {
		str_clear(&line);
		str_addf(&line, "%s %.8s  %s", marks[i], d->state[i]->id, title_of(d->state[i]));
		wrap_line(t, STYLE_BOLD, str_sv(&line));
	}
	str_clear(&line);
	str_addf(&line, "%zu instruction%s in common", d->common, d->common == 1 ? "" : "s");
	bool same = d->rounds[0]->v.n == d->common && d->rounds[1]->v.n == d->common;
	str_adds(&line, same ? ", and no other." : ".");
	wrap_line(t, 0, str_sv(&line));
	for (int i = 0; i < 2 && !d->stat; i++)
		for (size_t k = d->common; k < d->rounds[i]->v.n; k++)
			view_round(t, &d->rounds[i]->v.v[k], marks[i], 0);
	if (same)
		return;
	term_newline(t);
	for (int i = 0; i < 2; i++)
		view_side(t, d, i, marks[i]);
	for (size_t i = 0; i < d->conflicts->n; i++) {
		str_clear(&line);
		str_addf(&line, "! Changed on both sides: %s", d->conflicts->v[i]);
		wrap_line(t, STYLE_WARNING, str_sv(&line));
	}
	view_unknown(t, d->changes, (const char *[]){ "in the first", "in the second" });
}

static void put_round(struct jw *w, const struct master_round *r)
{
	jw_object(w);
	jw_put_i64(w, "round", r->round);
	jw_put_cstr(w, "instruction", r->instruction);
	view_put_text(w, "answer", r->answer);
	view_put_text(w, "status", r->answer ? agent_fail_name(r->fail) : NULL);
	view_put_text(w, "model", r->model);
	jw_put_i64(w, "input_tokens", r->tokens_in);
	jw_put_i64(w, "output_tokens", r->tokens_out);
	jw_put_double(w, "cost_usd", r->cost_usd);
	jw_put_i64(w, "duration_ms", r->duration_ms);
	jw_end(w);
}

void view_json_runs_diff(struct jw *w, const struct runs_diff *d)
{
	static const char *const ids[] = { "left_id", "right_id" };
	static const char *const lists[] = { "left", "right" };
	static const char *const files[] = { "left_files", "right_files" };
	static const char *const commands[] = { "left_shell_commands", "right_shell_commands" };

	jw_object(w);
	jw_put_i64(w, "common", (int64_t)d->common);
	for (int i = 0; i < 2; i++) {
		jw_put_cstr(w, ids[i], d->state[i]->id);
		jw_key(w, lists[i]);
		jw_array(w);
		for (size_t k = d->common; k < d->rounds[i]->v.n && !d->stat; k++)
			put_round(w, &d->rounds[i]->v.v[k]);
		jw_end(w);
		view_put_strings(w, files[i], &d->changes[i].files);
		jw_put_i64(w, commands[i], (int64_t)d->changes[i].commands);
	}
	view_put_strings(w, "files_of_both", d->conflicts);
	jw_end(w);
}
