#include "view/hit.h"

#include <stdlib.h>

#include "agent/agents.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/shell.h"
#include "base/utf8.h"
#include "os/path.h"
#include "view/json.h"

enum { INDENT = 3, SECOND_MS = 1000 };

/* As role: of a query has them. */
static const char *role_name(enum doc_kind kind)
{
	static const char *const roles[DOC_KINDS] = {
		[DOC_USER] = "user",
		[DOC_ASSISTANT] = "assistant",
		[DOC_THINKING] = "thinking",
		[DOC_CALL] = "call",
		[DOC_RESULT] = "result",
		[DOC_SESSION] = "title",
	};

	return roles[kind];
}

bool view_hit_hidden(enum doc_kind kind)
{
	return kind == DOC_CALL || kind == DOC_RESULT || kind == DOC_THINKING;
}

/* Of the message; where it has no time of its own, of its session. */
static int64_t time_ms(const struct hit_view *v)
{
	if (v->found->hit.at.time_s)
		return (int64_t)v->found->hit.at.time_s * SECOND_MS;
	return v->active_ms;
}

/* One that is gone has to come back first; one whose agent has no program of its own, or whose id
 * that would take for an option, goes on here. */
static void add_resume(const struct hit_view *v, struct str *out)
{
	const struct index_source *s = &v->found->source;
	const struct agent_def *agent = agent_named(sv_of(s->agent));

	if (!s->gone && (!agent || !agent->resume || s->session[0] == '-')) {
		str_adds(out, "faden talk --in=");
		shell_id(out, s->session);
		return;
	}
	str_adds(out,
		v->silent		? "faden archive restore --replace "
			: s->gone	? "faden archive restore "
			: v->moved_here ? "faden resume --here "
					: "faden resume ");
	if (v->path)
		shell_word(out, v->path);
	else
		shell_operand(out, s->session);
}

/* What a sub-agent did stands in a file of its own. */
static void add_show(const struct hit_view *v, struct str *out)
{
	str_adds(out, "faden show ");
	if (v->found->hit.at.kind != DOC_SESSION)
		str_addf(out, "--at %llu ", (unsigned long long)v->found->hit.at.offset);
	if (view_hit_hidden(v->found->hit.at.kind))
		str_adds(out, "--tools ");
	if (v->found->source.subagent)
		shell_word(out, v->found->source.path);
	else if (v->path)
		shell_word(out, v->path);
	else
		shell_operand(out, v->found->source.session);
}

/* ---- text ---- */

static void put_heading(struct term *t, const struct hit_view *v)
{
	const struct index_source *s = &v->found->source;
	AUTO_FREE char *dir = s->cwd[0] ? path_show(s->cwd, v->home) : NULL;
	AUTO_STR rest = STR_INIT;
	AUTO_STR fit = STR_INIT;
	char ago[CLOCK_TEXT_MAX] = "";

	if (time_ms(v) > 0)
		clock_format_ago(v->now_ms - time_ms(v), ago);
	str_addf(&rest, "  %s%s%s%s%s%s", ago, ago[0] ? "  " : "", s->agent, dir ? "  " : "",
		dir ? dir : "",
		v->lost		  ? "  (file is gone, not in the archive)"
			: s->gone ? "  (file is gone)"
				  : "");
	size_t width = utf8_width(str_sv(&rest)), least = 20;
	size_t cols = t->tty ? t->cols : TERM_PIPE_COLS;
	utf8_fit(&fit, sv_of(v->title), cols > width + least ? cols - width : least);
	term_styled(t, STYLE_BOLD, str_sv(&fit));
	term_styled(t, STYLE_NOTICE, str_sv(&rest));
	term_newline(t);
}

static void put_snippet(struct term *t, const struct hit_view *v)
{
	const struct hit *hit = &v->found->hit;
	struct sv line = str_sv(&v->snippet->line);
	size_t at = 0;

	term_putf(t, "%*s", INDENT, "");
	term_style(t, hit->at.kind == DOC_USER ? STYLE_USER : STYLE_NOTICE);
	bool tool = v->tool[0] && (hit->at.kind == DOC_CALL || hit->at.kind == DOC_RESULT);
	term_putf(t, "%s%s%s: ", v->found->source.subagent ? "sub-agent, " : "",
		hit->at.kind == DOC_USER ? "you"
			: tool		 ? v->tool
					 : role_name(hit->at.kind),
		tool && hit->at.kind == DOC_RESULT ? " gave" : "");
	term_style(t, STYLE_PLAIN);
	vec_each (&v->snippet->marks, mark) {
		term_text_line(t, sv_make(line.p + at, mark->from - at));
		term_styled(t, STYLE_BOLD | STYLE_YELLOW, sv_make(line.p + mark->from, mark->size));
		at = mark->from + mark->size;
	}
	term_text_line(t, sv_from(line, at));
	term_newline(t);
}

/* A line of its own, so that it can be pasted. */
static void put_command(struct term *t, const struct str *command)
{
	term_putf(t, "%*s", INDENT, "");
	term_styled(t, STYLE_NOTICE, str_sv(command));
	term_newline(t);
}

void view_hit(struct term *t, const struct hit_view *v)
{
	const struct hit *hit = &v->found->hit;
	AUTO_STR resume = STR_INIT;
	AUTO_STR show = STR_INIT;

	put_heading(t, v);
	put_snippet(t, v);
	add_resume(v, &resume);
	add_show(v, &show);
	if (hit->copies > 0)
		str_addf(&show, "   # also in %u %s", hit->copies,
			hit->copies == 1 ? "copy" : "copies");
	if (v->lost)
		return;
	put_command(t, &resume);
	put_command(t, &show);
}

/* ---- JSON ---- */

void view_json_hit(struct jw *w, const struct hit_view *v)
{
	const struct index_source *s = &v->found->source;
	const struct hit *hit = &v->found->hit;
	AUTO_STR resume = STR_INIT;
	AUTO_STR show = STR_INIT;

	add_resume(v, &resume);
	add_show(v, &show);
	jw_object(w);
	jw_put_cstr(w, "session_id", s->session);
	jw_put_cstr(w, "agent", s->agent);
	jw_put_cstr(w, "title", v->title);
	view_put_text(w, "directory", s->cwd);
	view_put_text(w, "branch", s->branch);
	view_put_time(w, "active_at", v->active_ms);
	jw_put_cstr(w, "role", role_name(hit->at.kind));
	view_put_text(w, "tool", v->tool);
	view_put_time(w, "recorded_at", (int64_t)hit->at.time_s * SECOND_MS);
	view_put_count(w, "offset_bytes", (int64_t)hit->at.offset, hit->at.kind != DOC_SESSION);
	jw_put_string(w, "text", str_sv(&v->snippet->line));
	jw_key(w, "marked");
	jw_array(w);
	vec_each (&v->snippet->marks, mark)
		jw_string(w, sv_make(v->snippet->line.buf + mark->from, mark->size));
	jw_end(w);
	jw_put_double(w, "score", hit->score);
	jw_put_i64(w, "messages", hit->messages);
	jw_put_i64(w, "copies", hit->copies);
	jw_put_bool(w, "subagent", s->subagent);
	jw_put_bool(w, "gone", s->gone);
	view_put_text(w, "path", s->path);
	view_put_text(w, "resume_command", v->lost ? "" : resume.buf);
	view_put_text(w, "show_command", v->lost ? "" : show.buf);
	jw_end(w);
}
