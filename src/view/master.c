#include "view/master.h"

#include "agent/agents.h"
#include "view/json.h"

void view_rounds_left(struct str *out, int64_t remaining)
{
	if (remaining == MASTER_UNLIMITED)
		str_adds(out, "unlimited rounds");
	else if (remaining == 0)
		str_adds(out, "no rounds left");
	else
		str_addf(out, "%lld %s left", (long long)remaining,
			remaining == 1 ? "round" : "rounds");
}

void view_spent(struct str *out, int64_t tokens, double cost_usd)
{
	if (tokens >= 1000000)
		str_addf(out, "%.1fM tokens", (double)tokens / 1e6);
	else if (tokens >= 1000)
		str_addf(out, "%.1fk tokens", (double)tokens / 1e3);
	else if (tokens > 0)
		str_addf(out, "%lld tokens", (long long)tokens);
	if (cost_usd > 0)
		str_addf(out, "%s$%.*f", tokens > 0 ? ", " : "", cost_usd < 0.1 ? 4 : 2, cost_usd);
}

void view_master_spent(struct str *out, const struct master_state *s)
{
	view_spent(out, s->tokens_in + s->tokens_out, s->cost_usd);
}

void view_master_stop(
	struct str *line, struct str *command, const struct master_state *s, const char *again)
{
	static const char *const options[MASTER_STOP_COUNT] = { [MASTER_STOP_ROUNDS] = " -r N",
		[MASTER_STOP_BUDGET] = " --max-budget-usd N",
		[MASTER_STOP_TIME] = " --max-time SPAN",
		[MASTER_STOP_STALLED] = " \"TEXT\"",
		[MASTER_STOP_CORRECTIONS] = " \"TEXT\"",
		[MASTER_STOP_CHECK] = " \"TEXT\"" };
	AUTO_STR spent = STR_INIT;
	const char *why = s->stopped.why.buf, *option = options[s->stopped.stop];
	const long long round = (long long)s->round;
	bool kept = s->decided.act == MASTER_ACT_FRESH || s->decided.act == MASTER_ACT_GO_ON;

	view_master_spent(&spent, s);
	switch (s->stopped.stop) {
	case MASTER_STOP_DONE:
		str_addf(line, "Done after %lld %s%s%s.", round, round == 1 ? "round" : "rounds",
			spent.len ? ", " : "", spent.buf);
		return;
	case MASTER_STOP_ROUNDS:
		str_addf(line, "Stopped after round %lld: %s. Go on for N rounds more%s:", round,
			why, kept ? ", beginning with the instruction that is ready" : "");
		break;
	case MASTER_STOP_USER:
		str_addf(line, "Saved in round %lld. Go on with:", round);
		break;
	case MASTER_STOP_CORRECTIONS:
	case MASTER_STOP_STALLED:
	case MASTER_STOP_CHECK:
		str_addf(line, "Not done, stopped in round %lld: %s. Say what to do with:", round,
			why);
		break;
	case MASTER_STOP_BUDGET:
	case MASTER_STOP_TIME:
	case MASTER_STOP_FAILED:
		str_addf(line, "Stopped in round %lld: %s. Go on with:", round, why);
		break;
	case MASTER_STOP_NONE:
	case MASTER_STOP_COUNT:
		str_addf(line, "Saved in round %lld.", round);
		return;
	}
	str_addf(command, "%s%s", again, option ? option : "");
}

/* ---- JSON ---- */

static void put_rounds(struct jw *w, const struct master_state *s)
{
	jw_put_i64(w, "round", s->round);
	jw_put_bool(w, "unlimited", s->remaining == MASTER_UNLIMITED);
	view_put_count(w, "remaining_rounds", s->remaining, s->remaining != MASTER_UNLIMITED);
}

void view_json_master_run(
	struct jw *w, const struct master_state *s, const char *path, bool resumed)
{
	jw_object(w);
	jw_put_cstr(w, "event", "run");
	jw_put_cstr(w, "run_id", s->id);
	view_put_text(w, "name", s->name);
	view_put_text(w, "task", s->task.buf);
	jw_put_cstr(w, "path", path);
	jw_put_cstr(w, "directory", s->config.dir);
	jw_put_bool(w, "resumed", resumed);
	put_rounds(w, s);
	jw_end(w);
}

static void put_stopped(struct jw *w, const struct master_state *s, const struct pair_event *ev)
{
	put_rounds(w, s);
	jw_put_cstr(w, "reason", ev->err ? "error" : master_stop_name(ev->stop));
	jw_put_string(w, "text", ev->text);
	jw_put_i64(w, "input_tokens", s->tokens_in);
	jw_put_i64(w, "output_tokens", s->tokens_out);
	jw_put_double(w, "cost_usd", s->cost_usd);
	jw_put_i64(w, "duration_ms", s->worked_ms);
	view_put_error(w, ev->err, NULL);
}

static bool put_agent(struct jw *w, const struct agent_event *ev)
{
	switch (ev->type) {
	case AGENT_EV_TEXT:
		jw_put_cstr(w, "event", "text");
		jw_put_string(w, "text", ev->text);
		return true;
	case AGENT_EV_TOOL_BEGIN:
		jw_put_cstr(w, "event", "tool");
		jw_put_string(w, "tool", ev->tool);
		jw_put_string(w, "what", ev->text);
		return true;
	case AGENT_EV_NOTICE:
	case AGENT_EV_RETRY:
		jw_put_cstr(w, "event", "note");
		jw_put_string(w, "text", ev->text);
		return true;
	case AGENT_EV_SESSION:
		jw_put_cstr(w, "event", "session");
		jw_put_cstr(w, "session_id", ev->session);
		return true;
	case AGENT_EV_BREAK:
	case AGENT_EV_THINKING:
	case AGENT_EV_TOOL_END:
	case AGENT_EV_ASK:
	case AGENT_EV_ASK_OVER:
	case AGENT_EV_DONE:
		break;
	}
	return false;
}

bool view_json_master_event(struct jw *w, const struct master_state *s, const struct pair_event *ev)
{
	static const char *const names[] = { [PAIR_BEGINS] = "begins",
		[PAIR_AGENT] = "",
		[PAIR_ENDS] = "ends",
		[PAIR_DECIDED] = "decided",
		[PAIR_NEWS] = "",
		[PAIR_NOTE] = "note",
		[PAIR_WAITING] = "waiting",
		[PAIR_CHECKS] = "checks",
		[PAIR_CHECKED] = "checked",
		[PAIR_PAUSED] = "paused",
		[PAIR_STOPPED] = "stopped" };
	bool of_role = ev->type == PAIR_BEGINS || ev->type == PAIR_AGENT || ev->type == PAIR_ENDS ||
		ev->type == PAIR_WAITING;
	bool said = ev->type != PAIR_NEWS;

	jw_object(w);
	if (names[ev->type][0])
		jw_put_cstr(w, "event", names[ev->type]);
	if (ev->type == PAIR_AGENT)
		said = put_agent(w, ev->event);
	if (of_role)
		jw_put_cstr(w, "role", master_role_name(ev->role));
	if (ev->type == PAIR_BEGINS) {
		jw_put_cstr(w, "agent", s->side[ev->role].agent);
		put_rounds(w, s);
		jw_put_bool(w, "again", ev->go_on);
	}
	if (ev->type == PAIR_ENDS) {
		jw_put_cstr(w, "status", agent_fail_name(ev->fail));
		jw_put_bool(w, "found", ev->found);
		view_put_denied(w, ev->denied);
	}
	if (ev->type == PAIR_DECIDED) {
		jw_put_cstr(w, "action", master_act_name(ev->act));
		view_put_text(w, "model", ev->model.n ? s->decided.model : NULL);
	}
	if (ev->type == PAIR_WAITING)
		jw_put_i64(w, "seconds", ev->seconds);
	if (ev->type == PAIR_CHECKED)
		jw_put_i64(w, "exit_status", ev->status);
	if (ev->type == PAIR_STOPPED)
		put_stopped(w, s, ev);
	else if (ev->type != PAIR_AGENT && ev->type != PAIR_PAUSED)
		jw_put_string(w, "text", ev->text);
	jw_end(w);
	return said;
}
