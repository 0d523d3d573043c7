#include "view/branch.h"

#include <inttypes.h>
#include <string.h>

#include "base/shell.h"
#include "base/utf8.h"
#include "ui/format.h"
#include "view/json.h"
#include "view/report.h"
#include "view/session.h"

/* "3 turns", "1 turn"; appends, after a comma where something stands before. */
static void add_count(struct str *out, uint64_t n, const char *one, const char *many)
{
	char count[SIZE_TEXT_MAX];

	if (n == 0)
		return;
	size_format_count((int64_t)n, count);
	str_addf(out, "%s%s %s", out->len ? ", " : "", count, n == 1 ? one : many);
}

/* ---- fork ---- */

void view_forked(struct term *t, const struct fork_report *r, const char *agent)
{
	AUTO_STR line = STR_INIT;
	char size[SIZE_TEXT_MAX];

	size_format(r->file.bytes_out, size);
	if (r->cut.turn > 0)
		str_addf(&line, "turn %" PRIu64 ", %s", r->cut.turn, size);
	else
		str_addf(&line, "the end, %s", size);
	view_labelled(t, "up to", line.buf);
	if (r->cut.open == 0)
		return;
	str_clear(&line);
	add_count(&line, r->cut.open, "call has no result there, which",
		"calls have no result there, which");
	str_addf(&line, " %s makes up for when it goes on", agent);
	view_labelled(t, "open", line.buf);
}

void view_put_forked(struct jw *w, const struct fork_report *r)
{
	view_put_count(w, "turn", (int64_t)r->cut.turn, r->cut.turn > 0);
	jw_put_i64(w, "open_calls", r->cut.open);
	jw_put_i64(w, "size_bytes", (int64_t)r->file.bytes_out);
}

/* ---- port ---- */

void view_ported(struct term *t, const struct port_report *r, const char *from, const char *to)
{
	const struct native_report *f = &r->file;
	AUTO_STR line = STR_INIT;

	add_count(&line, f->prompts, "prompt", "prompts");
	add_count(&line, f->answers, "answer", "answers");
	add_count(&line, f->calls, "call of a tool", "calls of tools");
	view_labelled(t, "holds", line.buf);
	str_clear(&line);
	add_count(&line, r->commands, "command as a call of its own tool",
		"commands as calls of its own tool");
	if (r->commands > 0)
		view_labelled(t, to, line.buf);
	str_clear(&line);
	add_count(&line, r->thinking, "thought (with its signature)",
		"thoughts (with their signatures)");
	add_count(&line, r->notices, "text of the agent itself", "texts of the agent itself");
	add_count(&line, r->errors, "error that stood for an answer",
		"errors that stood for answers");
	add_count(&line, f->orphans, "result without a call", "results without calls");
	if (r->thinking > 0)
		str_addf(&line, "; only the models of %s take thoughts back", from);
	view_labelled(t, "left out", line.len ? line.buf : "nothing");
	str_clear(&line);
	add_count(&line, r->images, "picture", "pictures");
	if (r->images > 0) {
		str_adds(&line, ", for which a note stands");
		view_labelled(t, "pictures", line.buf);
	}
	str_clear(&line);
	add_count(&line, f->unanswered, "call without a result, which says so now",
		"calls without a result, which say so now");
	if (f->unanswered > 0)
		view_labelled(t, "open", line.buf);
	if (r->compacted)
		view_labelled(t, "begins", "with the summary that stands for what was compacted");
}

void view_put_ported(struct jw *w, const struct port_report *r)
{
	view_put_count(w, "turn", (int64_t)r->turn, r->turn > 0);
	jw_put_i64(w, "prompts", (int64_t)r->file.prompts);
	jw_put_i64(w, "answers", (int64_t)r->file.answers);
	jw_put_i64(w, "calls", (int64_t)r->file.calls);
	jw_put_i64(w, "own_commands", (int64_t)r->commands);
	jw_put_i64(w, "open_calls", (int64_t)r->file.unanswered);
	jw_put_bool(w, "compacted", r->compacted);
	jw_key(w, "left_out");
	jw_object(w);
	jw_put_i64(w, "thinking", (int64_t)r->thinking);
	jw_put_i64(w, "images", (int64_t)r->images);
	jw_put_i64(w, "notices", (int64_t)r->notices);
	jw_put_i64(w, "errors", (int64_t)r->errors);
	jw_put_i64(w, "results", (int64_t)r->file.orphans);
	jw_end(w);
}

/* ---- merge ---- */

void view_parting(const struct merge_view *v, struct str *out)
{
	const struct lineage_node *n = v->ancestor;

	if (v->diff->common > 0)
		str_addf(out, "Both begin with the same %zu turn%s.", v->diff->common,
			v->diff->common == 1 ? "" : "s");
	else
		str_adds(out, "They have no turn in common.");
	if (n && strcmp(n->id, v->rows[DIFF_A]->info.id) == 0)
		str_adds(out, " The second comes from the first.");
	else if (n && strcmp(n->id, v->rows[DIFF_B]->info.id) == 0)
		str_adds(out, " The first comes from the second.");
	else if (n)
		str_addf(out, " Both come from %.*s.", SV_ARG(session_short_id(n->id)));
}

void view_commands(struct str *out, const uint64_t commands[static DIFF_SIDES],
	const char *const where[static DIFF_SIDES])
{
	bool one = commands[DIFF_A] + commands[DIFF_B] == 1;

	if (commands[DIFF_A] + commands[DIFF_B] == 0)
		return;
	str_addf(out, "%" PRIu64 " shell command%s %s, %" PRIu64 " %s; which files %s is not known",
		commands[DIFF_A], commands[DIFF_A] == 1 ? "" : "s", where[DIFF_A], commands[DIFF_B],
		where[DIFF_B], one ? "it changes" : "they change");
}

void view_merged(struct term *t, const struct merge_view *v)
{
	AUTO_STR line = STR_INIT;
	AUTO_STR clean = STR_INIT;

	view_labelled(t, "with", v->rows[DIFF_B]->info.id);
	add_count(&line, v->report->turns, "turn", "turns");
	str_addf(&line, " brought home");
	add_count(
		&line, v->report->calls, "call of a tool left there", "calls of tools left there");
	view_labelled(t, "holds", line.buf);
	str_clear(&line);
	view_parting(v, &line);
	view_labelled(t, "parted", line.buf);
	str_clear(&line);
	for (size_t i = 0; i < v->diff->both.n; i++)
		str_addf(&line, "%s%s", i ? ", " : "", v->diff->both.v[i]);
	utf8_scrub_line(&clean, str_sv(&line));
	str_adds(&clean, " (changed on both sides: see what they hold now)");
	if (v->diff->both.n > 0)
		view_labelled(t, "conflict", clean.buf);
	str_clear(&line);
	view_commands(&line,
		(uint64_t[]){ v->diff->side[DIFF_A].commands, v->diff->side[DIFF_B].commands },
		(const char *[]){ "here", "there" });
	if (line.len > 0)
		view_labelled(t, "shell", line.buf);
}

void view_put_merged(struct jw *w, const struct merge_view *v)
{
	const struct session_row *other = v->rows[DIFF_B];

	view_put_text(w, "ancestor_id", v->ancestor ? v->ancestor->id : NULL);
	jw_put_i64(w, "common_turns", (int64_t)v->diff->common);
	jw_put_cstr(w, "other_id", other->info.id);
	jw_put_cstr(w, "other_path", other->info.path);
	jw_put_cstr(w, "other_agent", other->agent);
	jw_put_i64(w, "turns", (int64_t)v->report->turns);
	jw_put_i64(w, "calls", (int64_t)v->report->calls);
	jw_put_i64(w, "added_bytes", (int64_t)v->report->bytes);
	view_put_strings(w, "files_of_both", &v->diff->both);
	jw_put_i64(w, "shell_commands", (int64_t)v->diff->side[DIFF_A].commands);
	jw_put_i64(w, "other_shell_commands", (int64_t)v->diff->side[DIFF_B].commands);
}

/* ---- replay ---- */

void view_replayed(struct term *t, const struct replay_report *r, const struct made *m)
{
	AUTO_STR line = STR_INIT;
	AUTO_STR ids = STR_INIT;
	char in[SIZE_TEXT_MAX], out[SIZE_TEXT_MAX];

	if (m->dry) {
		add_count(
			&line, r->wanted, "turn would be said again", "turns would be said again");
		str_addf(&line, " to %s.", m->agent);
		view_sentence(t, SV(""), line.buf);
		return;
	}
	str_addf(&line, "%" PRIu64 " of %" PRIu64 " turn%s", r->answered, r->wanted,
		r->wanted == 1 ? "" : "s");
	if (r->usage.output >= 0) {
		size_format_count(r->usage.input > 0 ? r->usage.input : 0, in);
		size_format_count(r->usage.output, out);
		str_addf(&line, "; %s tokens in (not cached), %s out", in, out);
	}
	if (r->usage.cost_usd >= 0)
		str_addf(&line, "; $%.4f", r->usage.cost_usd);
	view_labelled(t, "answered", line.buf);
	if (!m->path)
		return;
	shell_operand(&ids, m->parent->info.id);
	str_addc(&ids, ' ');
	shell_operand(&ids, m->id);
	term_putf(t, "Compare them:\n  faden diff %s\n", ids.buf);
}

void view_put_replayed(struct jw *w, const struct replay_report *r)
{
	jw_put_i64(w, "wanted", (int64_t)r->wanted);
	jw_put_i64(w, "said", (int64_t)r->said);
	jw_put_i64(w, "answered", (int64_t)r->answered);
	jw_put_bool(w, "cancelled", r->cancelled);
	view_put_text(w, "failure", r->fail == AGENT_OK ? NULL : r->message);
	view_put_count(w, "input_tokens", r->usage.input, r->usage.input >= 0);
	view_put_count(w, "cache_read_tokens", r->usage.cache_read, r->usage.cache_read >= 0);
	view_put_count(w, "cache_write_tokens", r->usage.cache_write, r->usage.cache_write >= 0);
	view_put_count(w, "output_tokens", r->usage.output, r->usage.output >= 0);
	jw_key(w, "cost_usd");
	if (r->usage.cost_usd >= 0)
		jw_double(w, r->usage.cost_usd);
	else
		jw_null(w);
	jw_put_i64(w, "duration_ms", r->duration_ms);
}
