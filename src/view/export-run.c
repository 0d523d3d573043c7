/*
 * Runs of the pair as documents: what the user said, the instructions and what came back.
 */
#include "agent/agents.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "master/decision.h"
#include "view/export-impl.h"
#include "json/write.h"

struct telling {
	struct exporter *x;
	const struct master_state *state;
	int64_t round;
	struct str json; /* the text in hand, as an item has it */
};

/* Words as an item of a session, by whom it says. */
static int tell(struct telling *t, const struct master_step *step, enum item_kind kind,
	const char *type, struct sv text, struct err *reterr)
{
	char when[CLOCK_TEXT_MAX];

	str_clear(&t->json);
	json_quote(&t->json, text);
	clock_format_iso(step->at_ms, when);
	const struct item item = { .kind = kind,
		.flags = kind == ITEM_USER ? ITEM_PROMPT : 0,
		.line = (uint64_t)step->n,
		.type = sv_of(type),
		.time = sv_of(when),
		.model = step->model,
		.text = { .type = J_STRING, .raw = str_sv(&t->json) } };
	return exporter_item(t->x, &item, (uint64_t)t->round, reterr);
}

static int tell_as(struct telling *t, const struct master_step *step, const char *type,
	const char *who, struct sv text, struct err *reterr)
{
	export_speaker(t->x, who);
	return tell(t, step, ITEM_ASSISTANT, type, text, reterr);
}

static int tell_answer(struct telling *t, const struct master_step *step, struct err *reterr)
{
	const char *agent = t->state->config.agent[step->role];
	const struct agent_def *def = agent ? agent_named(sv_of(agent)) : NULL;
	AUTO_PAIR_DECISION decision = PAIR_DECISION_INIT;
	AUTO_STR text = STR_INIT;

	/* The object behind the words of an instructor is the next instruction. */
	if (step->role == MASTER_INSTRUCTOR) {
		pair_decision_read(step->text, &decision);
		pair_decision_words(step->text, &decision, &text);
	} else {
		str_add(&text, step->text);
	}
	if (step->fail != AGENT_OK)
		str_addf(&text, "%s*failed: %.*s*", text.len > 0 ? "\n\n" : "", SV_ARG(step->why));
	if (step->denied.n > 0)
		str_addf(&text, "%sIt was not allowed:\n\n%.*s", text.len > 0 ? "\n\n" : "",
			SV_ARG(step->denied));
	if (text.len == 0)
		return 0;
	AUTO_FREE char *who =
		xasprintf("%s, %s", step->role == MASTER_INSTRUCTOR ? "Instructor" : "Worker",
			def		? def->title
				: agent ? agent
					: "unknown");
	return tell_as(t, step, master_role_name(step->role), who, str_sv(&text), reterr);
}

static int tell_step(void *data, const struct master_step *step, struct err *reterr)
{
	struct telling *t = data;
	AUTO_STR text = STR_INIT;

	switch (step->kind) {
	case MASTER_STEP_SAY:
		return tell(t, step, ITEM_USER, "say", step->text, reterr);
	case MASTER_STEP_ASK:
		if (step->role != MASTER_WORKER)
			return 0;
		t->round = step->round;
		str_addf(&text, "Instruction, round %lld", (long long)step->round);
		return tell_as(t, step, "instruction", text.buf, step->text, reterr);
	case MASTER_STEP_ANSWER:
		return tell_answer(t, step, reterr);
	case MASTER_STEP_CHECK:
		str_addf(&text, "Exit status %lld.\n\n```\n%.*s\n```", (long long)step->status,
			SV_ARG(step->text));
		return tell_as(t, step, "check", "Check", str_sv(&text), reterr);
	case MASTER_STEP_STOP:
		str_addf(&text, "%s%s%.*s", master_stop_name(step->stop),
			step->why.n > 0 ? ": " : "", SV_ARG(step->why));
		return tell_as(t, step, "stop", "Stopped", str_sv(&text), reterr);
	case MASTER_STEP_CONFIG:
	case MASTER_STEP_NAME:
	case MASTER_STEP_ROUNDS:
	case MASTER_STEP_SESSION:
	case MASTER_STEP_SPENT:
	case MASTER_STEP_DECIDED:
	case MASTER_STEP_ORIGIN:
	case MASTER_STEP_COUNT:
		break;
	}
	return 0;
}

int exporter_run(struct exporter *x, struct master_run *run, struct err *reterr)
{
	const struct master_state *s = master_state(run);
	struct telling t = { .x = x, .state = s, .json = STR_INIT };
	AUTO_SESSION_ROW row = { .agent = xstrdup("master"),
		.own_name = xstrdup(s->name ? s->name : ""),
		.active_ms = s->updated_ms };
	const struct session_view view = { .row = &row };
	struct session_info *info = &row.info;

	session_info_init(info, transcript_format_unknown(), master_path(run));
	free(info->id);
	free(info->prompt);
	free(info->cwd);
	info->id = xstrdup(s->id);
	struct sv task = utf8_cut(str_sv(&s->task), SESSION_PROMPT_MAX);
	info->prompt = xmemdup0(task.p, task.n);
	info->cwd = xstrdup(s->config.dir ? s->config.dir : "");
	info->first_ms = s->created_ms;
	info->last_ms = s->updated_ms;
	info->turns = s->round;
	int r = exporter_session(x, &view, reterr);
	if (r == 0)
		r = master_steps(run, tell_step, &t, reterr);
	str_release(&t.json);
	/* The row ends with this call. */
	return r == 0 ? export_end_session(x, reterr) : r;
}
