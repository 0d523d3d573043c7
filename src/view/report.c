#include "view/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/shell.h"
#include "base/utf8.h"
#include "os/path.h"
#include "ui/format.h"
#include "ui/wrap.h"
#include "view/json.h"

/* ---- words ---- */

/* `first` in its style, then the rest. On a pipe a sentence is one line. */
static void put_words(struct term *t, struct sv indent, struct sv hang, const char *first,
	unsigned style, const char *rest)
{
	struct wrap w;
	size_t cols = t->cols;

	if (!t->tty)
		t->cols = TERM_MAX_COLS;
	wrap_init(&w, t);
	wrap_begin(&w, indent, hang, 0);
	wrap_add(&w, sv_of(first), style);
	wrap_add(&w, sv_of(rest), 0);
	wrap_end(&w);
	wrap_release(&w);
	t->cols = cols;
}

void view_sentence(struct term *t, struct sv indent, const char *text)
{
	put_words(t, indent, indent, "", 0, text);
}

void view_labelled(struct term *t, const char *label, const char *text)
{
	AUTO_STR indent = STR_INIT;

	str_addf(&indent, "  %-8s ", label);
	put_words(t, str_sv(&indent), SV("           "), "", 0, text);
}

/* ---- what all say ---- */

void made_release(struct made *m)
{
	free(m->backup);
	free(m->dir);
	free(m->place);
	free(m->conversation);
	free(m->name);
	strv_release(&m->resume);
}

static void put_row(struct term *t, const char *label, const char *text)
{
	term_putf(t, "  %-8s ", label);
	term_text_line(t, sv_of(text));
	term_newline(t);
}

static void put_path(struct term *t, const char *label, const char *path, const char *home)
{
	AUTO_FREE char *shown = path_show(path, home);

	put_row(t, label, shown);
}

static void put_saved(struct term *t, const struct made *m, const char *subject)
{
	char saved[SIZE_TEXT_MAX], before[SIZE_TEXT_MAX], left[SIZE_TEXT_MAX];
	AUTO_STR line = STR_INIT;

	if (!m->saved || !m->before)
		return;
	size_format_count(m->saved->tokens, saved);
	size_format_count(m->before->tokens, before);
	size_format_count(m->left ? m->left->tokens : m->before->tokens - m->saved->tokens, left);
	if (m->dry)
		str_addf(&line, "%s would save ", subject);
	if (m->saved->tokens > 0)
		str_addf(&line, "%s of %s tokens (%s), leaving %s", saved, before,
			sure_name(m->saved->sure), left);
	else
		str_addf(&line, "nothing: %s tokens (%s), was %s", left,
			sure_name(m->left ? m->left->sure : m->saved->sure), before);
	put_words(t, m->dry ? SV("") : SV("  saved    "), m->dry ? SV("") : SV("           "), "",
		0, line.buf);
}

static void put_late(struct term *t, const struct made *m)
{
	char size[SIZE_TEXT_MAX];
	AUTO_STR line = STR_INIT;

	if (m->late == 0)
		return;
	size_format(m->late, size);
	str_addf(&line,
		"%s that another program wrote meanwhile follow unchanged; the undo would lose "
		"them",
		size);
	put_words(t, SV("  late     "), SV("           "), "", 0, line.buf);
}

void view_made(struct term *t, const struct made *m, const char *home, const char *subject)
{
	if (m->dry) {
		put_saved(t, m, subject);
		return;
	}
	if (m->in_place) {
		AUTO_STR undo = STR_INIT;
		str_addf(&undo, "faden archive restore --replace %s", m->backup);
		term_puts(t,
			m->relation == SESSION_REPAIRED ? "Mended session " : "Trimmed session ");
		term_text_line(t, sv_of(m->id));
		term_newline(t);
		put_row(t, "backup", m->backup);
		put_row(t, "undo", undo.buf);
		put_late(t, m);
	} else {
		term_puts(t, "New session ");
		term_text_line(t, sv_of(m->id));
		term_newline(t);
		put_row(t, "from", m->parent->info.id);
		if (strcmp(m->agent, m->parent->agent) != 0)
			put_row(t, "agent", m->agent);
	}
	put_path(t, "file", m->path, home);
	put_saved(t, m, subject);
}

static void put_move(struct term *t, const struct made *m)
{
	AUTO_STR line = STR_INIT;
	AUTO_FREE char *folder = path_folder(m->place);

	if (!path_exists(folder)) {
		str_adds(&line, "mkdir -p ");
		shell_word(&line, folder);
		str_adds(&line, " && ");
	}
	str_adds(&line, "mv ");
	shell_word(&line, m->path);
	str_addc(&line, ' ');
	shell_word(&line, m->place);
	term_putf(t, "To go on with it, move it first:\n  %s\n", line.buf);
}

void view_next(struct term *t, const struct made *m, const char *cwd)
{
	AUTO_STR line = STR_INIT;
	AUTO_STR id = STR_INIT;

	shell_operand(&id, m->id);
	if (m->current || m->name) {
		AUTO_STR name = STR_INIT;
		utf8_scrub_line(&name, sv_of(m->name));
		str_adds(&line, m->current ? "It is now what goes on in its folder" : "It is now");
		if (m->name)
			str_addf(&line, "%s called %s", m->current ? ", and" : "", name.buf);
		str_addc(&line, '.');
		view_sentence(t, SV(""), line.buf);
		str_clear(&line);
	}
	if (m->talking && m->current)
		return;
	if (m->unseen) {
		str_addf(&line, "%s does not look for sessions where this file lies.", m->agent);
		view_sentence(t, SV(""), line.buf);
		if (m->place)
			put_move(t, m);
		return;
	}
	if (m->dir && !path_exists(m->dir)) {
		AUTO_STR gone = STR_INIT;
		shell_shown(&gone, m->dir);
		str_addf(&line,
			"The folder of its work, %s, is gone: go to where that is now, and from "
			"there:",
			gone.buf);
		view_sentence(t, SV(""), line.buf);
		term_putf(t, "  faden rollover --here %s\n", id.buf);
		return;
	}
	shell_id(&line, m->id);
	term_putf(t, "Go on with:\n  faden ask --in %s TEXT\n", line.buf);
	str_clear(&line);
	if (m->resume.n == 0)
		return;
	AUTO_FREE char *real = NULL;
	bool here = cwd && m->dir && path_real(m->dir, &real, NULL) >= 0 && strcmp(real, cwd) == 0;
	if (m->by_dir && m->dir && !here) {
		str_adds(&line, "cd ");
		shell_word(&line, m->dir);
		str_adds(&line, " && ");
	}
	for (size_t i = 0; i < m->resume.n; i++) {
		str_adds(&line, i ? " " : "");
		shell_id(&line, m->resume.v[i]);
	}
	term_putf(t, "  faden resume %s\n  %s\n", id.buf, line.buf);
}

void view_put_made(struct jw *w, const struct made *m, const struct err *err)
{
	view_put_error(w, err, NULL);
	jw_put_cstr(w, "session_id", m->id);
	jw_put_cstr(w, "path", m->path);
	jw_put_cstr(w, "agent", m->agent);
	view_put_text(w, "directory", m->dir);
	jw_put_cstr(w, "conversation_id", m->conversation);
	jw_put_bool(w, "current", m->current);
	view_put_parent(
		w, m->parent->info.id, m->parent->info.path, session_relation_name(m->relation));
	jw_put_bool(w, "dry_run", m->dry);
	jw_put_bool(w, "in_place", m->in_place);
	jw_put_cstr(w, "backup_key", m->backup);
	jw_put_i64(w, "late_bytes", (int64_t)m->late);
	view_put_figure(w, "before", m->before);
	view_put_figure(w, "saved", m->saved);
	view_put_figure(w, "left", m->left);
	if (m->resume.n > 0) {
		view_put_strings(w, "resume", &m->resume);
	} else {
		jw_key(w, "resume");
		jw_null(w);
	}
	view_put_damage(w, m->damage);
}

/* ---- trim ---- */

static void put_count(struct term *t, const char *what, const struct trim_count *c)
{
	char size[SIZE_TEXT_MAX], count[SIZE_TEXT_MAX];

	if (c->n == 0)
		return;
	size_format(c->bytes, size);
	size_format_count(c->n, count);
	term_putf(t, "  %-8s %s, %s less\n", what, count, size);
}

void view_trimmed(struct term *t, const struct trim_report *r)
{
	char before[SIZE_TEXT_MAX], after[SIZE_TEXT_MAX], left[SIZE_TEXT_MAX];

	size_format(r->file.bytes_in, before);
	size_format(r->file.bytes_out, after);
	size_format_count(r->images_left, left);
	put_count(t, "results", &r->results);
	put_count(t, "inputs", &r->inputs);
	put_count(t, "answers", &r->answers);
	put_count(t, "images", &r->images);
	put_count(t, "copies", &r->copies);
	if (r->images_left > 0)
		term_putf(t, "  images   %s stay (--images)\n", left);
	term_putf(t, "  size     %s, was %s\n", after, before);
}

static void json_count(struct jw *w, const char *key, const struct trim_count *c)
{
	jw_key(w, key);
	jw_object(w);
	jw_put_i64(w, "count", c->n);
	jw_put_i64(w, "chars", c->chars);
	jw_put_i64(w, "size_bytes", (int64_t)c->bytes);
	jw_end(w);
}

void view_put_trimmed(struct jw *w, const struct trim_report *r)
{
	json_count(w, "results", &r->results);
	json_count(w, "inputs", &r->inputs);
	json_count(w, "answers", &r->answers);
	json_count(w, "images", &r->images);
	json_count(w, "copies", &r->copies);
	jw_put_i64(w, "live_images", r->live_images);
	jw_put_i64(w, "images_left", r->images_left);
	view_put_strings(w, "unknown_tools", &r->unknown);
	jw_put_i64(w, "before_bytes", (int64_t)r->file.bytes_in);
	jw_put_i64(w, "after_bytes", (int64_t)r->file.bytes_out);
	jw_put_i64(w, "lines", (int64_t)r->file.lines);
	jw_put_i64(w, "copied_lines", (int64_t)r->file.copied);
}

/* ---- smart-trim ---- */

void view_chosen(struct term *t, const struct smart_digest *d, const struct smart_answer *a)
{
	vec_each (&a->choices, c) {
		const struct smart_entry *e = &d->entries.v[c->entry];
		term_putf(t, "  line %" PRIu64 ", %s of %zu characters: ", e->place.line,
			item_kind_name(e->kind), e->chars);
		term_text_line(t, sv_of(c->reason));
		term_puts(t, "\n    ");
		term_text_line(t, sv_of(c->summary));
		term_newline(t);
	}
}

void view_put_chosen(struct jw *w, const struct smart_digest *d, const struct smart_answer *a)
{
	jw_key(w, "chosen");
	jw_array(w);
	vec_each (&a->choices, c) {
		const struct smart_entry *e = &d->entries.v[c->entry];
		char ref[RECALL_REF];
		recall_ref_text(e->hash, ref);
		jw_object(w);
		jw_put_i64(w, "number", (int64_t)c->entry + 1);
		jw_put_cstr(w, "kind", item_kind_name(e->kind));
		jw_put_i64(w, "line", (int64_t)e->place.line);
		jw_put_i64(w, "chars", (int64_t)e->chars);
		jw_put_cstr(w, "ref", ref);
		jw_put_cstr(w, "reason", c->reason);
		jw_put_cstr(w, "summary", c->summary);
		jw_end(w);
	}
	jw_end(w);
	jw_key(w, "refused");
	jw_array(w);
	vec_each (&a->refusals, r) {
		jw_object(w);
		jw_put_cstr(w, "what", r->what);
		jw_put_cstr(w, "reason", r->why);
		jw_end(w);
	}
	jw_end(w);
	jw_put_i64(w, "refused_count", (int64_t)a->refused);
}

/* ---- rollover ---- */

void view_put_brief(struct jw *w, const struct brief *b)
{
	jw_key(w, "facts");
	jw_array(w);
	vec_each (&b->facts, fact) {
		jw_object(w);
		jw_put_cstr(w, "kind", brief_kind_name(fact->kind));
		jw_put_cstr(w, "text", fact->text);
		jw_put_bool(w, "cut", fact->cut);
		jw_put_i64(w, "times", fact->times);
		jw_put_bool(w, "from_before", fact->before);
		if (fact->kind == BRIEF_ERROR)
			jw_put_bool(w, "succeeded_since", fact->past);
		if (fact->end == BRIEF_EXIT)
			jw_put_i64(w, "exit_status", fact->status);
		view_put_text(w, "ref", fact->ref);
		jw_put_i64(w, "line", (int64_t)fact->place.line);
		jw_end(w);
	}
	jw_end(w);
}

/* ---- repair ---- */

static void put_finding(
	struct term *t, enum repair_cause cause, const struct repair_finding *finding, bool mends)
{
	static const unsigned styles[] = {
		[REPAIR_NOTE] = STYLE_NOTICE,
		[REPAIR_MINOR] = STYLE_WARNING,
		[REPAIR_LOSS] = STYLE_WARNING | STYLE_BOLD,
		[REPAIR_BLOCK] = STYLE_ERROR,
	};
	const struct sv indent = SV("        ");
	const char *remedy = repair_cause_remedy(cause), *level = repair_level_name(finding->level);
	const char *before = finding->n_lines == 1 ? ", line " : ", lines ";
	AUTO_STR what = STR_INIT;

	str_addf(&what, "%*s %s", (int)(5 - strlen(level)), "", repair_cause_name(cause));
	if (finding->count > 1)
		str_addf(&what, ", %zu times", finding->count);
	for (size_t i = 0; i < finding->n_lines; i++, before = ", ") {
		char number[SIZE_TEXT_MAX];
		size_format_count(finding->lines[i], number);
		str_addf(&what, "%s%s", before, number);
	}
	if (finding->n_lines > 0 && finding->count > finding->n_lines)
		str_adds(&what, t->ascii ? ", ..." : ", …");
	put_words(t, SV("  "), indent, level, styles[finding->level], what.buf);
	view_sentence(t, indent, repair_cause_effect(cause));
	if (finding->level > REPAIR_NOTE)
		view_sentence(t, indent,
			!mends		    ? "it stays, since a line cannot be looked into"
				: remedy[0] ? remedy
					    : "nothing in the file can mend this");
}

void view_diagnosis(struct term *t, const struct repair_report *report)
{
	AUTO_STR line = STR_INIT;

	str_addf(&line, "reachable %zu of %zu entries", report->reachable, report->entries);
	if (report->others > 0)
		str_addf(&line, "; %zu before a compaction or on branches that were left",
			report->others);
	if (report->side > 0)
		str_addf(&line, "; %zu of sub-agents", report->side);
	view_sentence(t, SV(""), line.buf);
	for (size_t i = 0; i < REPAIR_CAUSE_COUNT; i++)
		if (report->findings[i].count > 0)
			put_finding(t, (enum repair_cause)i, &report->findings[i],
				report->findings[REPAIR_OVERSIZE].count == 0);
	if (repair_healthy(report))
		term_puts(t,
			report->findings[REPAIR_OVERSIZE].count > 0
				? "healthy, as far as it can be looked into\n"
				: "healthy\n");
}

static void json_finding(
	struct jw *w, enum repair_cause cause, const struct repair_finding *finding)
{
	jw_object(w);
	jw_put_cstr(w, "cause", repair_cause_name(cause));
	jw_put_cstr(w, "level", repair_level_name(finding->level));
	jw_put_i64(w, "count", (int64_t)finding->count);
	jw_key(w, "at_lines");
	jw_array(w);
	for (size_t i = 0; i < finding->n_lines; i++)
		jw_i64(w, finding->lines[i]);
	jw_end(w);
	jw_put_cstr(w, "effect", repair_cause_effect(cause));
	view_put_text(w, "remedy", repair_cause_remedy(cause));
	jw_end(w);
}

void view_put_diagnosis(struct jw *w, const char *key, const struct repair_report *report)
{
	jw_key(w, key);
	if (!report) {
		jw_null(w);
		return;
	}
	jw_object(w);
	jw_put_bool(w, "healthy", repair_healthy(report));
	jw_put_i64(w, "reachable", (int64_t)report->reachable);
	jw_put_i64(w, "entries", (int64_t)report->entries);
	jw_put_i64(w, "left_out", (int64_t)report->others);
	jw_put_i64(w, "side_chain", (int64_t)report->side);
	jw_put_i64(w, "lines", (int64_t)report->lines);
	jw_put_i64(w, "size_bytes", (int64_t)report->bytes);
	jw_key(w, "findings");
	jw_array(w);
	for (size_t i = 0; i < REPAIR_CAUSE_COUNT; i++)
		if (report->findings[i].count > 0)
			json_finding(w, (enum repair_cause)i, &report->findings[i]);
	jw_end(w);
	jw_end(w);
}
