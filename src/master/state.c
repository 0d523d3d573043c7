#include "master/state.h"

#include <assert.h>

#include "base/mem.h"

const char *master_role_name(enum master_role role)
{
	return role == MASTER_INSTRUCTOR ? "instructor" : "worker";
}

#define X(name, text) [name] = (text),
const char *master_step_name(enum master_step_kind kind)
{
	static const char *const names[] = { MASTER_STEP_LIST(X) };

	return names[kind];
}

const char *master_begin_name(enum master_begin begin)
{
	static const char *const names[] = { MASTER_BEGIN_LIST(X) };

	return names[begin];
}

const char *master_act_name(enum master_act act)
{
	static const char *const names[] = { MASTER_ACT_LIST(X) };

	return names[act];
}

const char *master_stop_name(enum master_stop stop)
{
	static const char *const names[] = { MASTER_STOP_LIST(X) };

	return names[stop];
}
#undef X

/* ---- memory ---- */

static char *copy(const char *s)
{
	return s ? xstrdup(s) : NULL;
}

void master_config_release(struct master_config *c)
{
	for (int i = 0; i < MASTER_ROLES; i++) {
		free(c->agent[i]);
		free(c->model[i]);
	}
	free(c->dir);
	free(c->permission);
	free(c->check);
	*c = (struct master_config)MASTER_CONFIG_INIT;
}

void master_config_copy(struct master_config *to, const struct master_config *from)
{
	master_config_release(to);
	*to = *from;
	for (int i = 0; i < MASTER_ROLES; i++) {
		to->agent[i] = copy(from->agent[i]);
		to->model[i] = copy(from->model[i]);
	}
	to->dir = copy(from->dir);
	to->permission = copy(from->permission);
	to->check = copy(from->check);
}

void master_state_init(struct master_state *s)
{
	*s = (struct master_state){
		.config = MASTER_CONFIG_INIT,
		.remaining = MASTER_UNLIMITED,
		.task = STR_INIT,
		.instruction = STR_INIT,
		.said = STR_INIT,
		.decided = { .text = STR_INIT, .system_prompt = STR_INIT },
		.check.text = STR_INIT,
		.stopped.why = STR_INIT,
	};
	for (int i = 0; i < MASTER_ROLES; i++)
		s->side[i] = (struct master_side){
			.system_prompt = STR_INIT,
			.ask.text = STR_INIT,
			.answer = { .text = STR_INIT, .why = STR_INIT, .denied = STR_INIT },
		};
}

void master_state_release(struct master_state *s)
{
	for (int i = 0; i < MASTER_ROLES; i++) {
		struct master_side *side = &s->side[i];
		free(side->agent);
		free(side->conversation);
		free(side->session);
		free(side->ask.model);
		str_release(&side->system_prompt);
		str_release(&side->ask.text);
		str_release(&side->answer.text);
		str_release(&side->answer.why);
		str_release(&side->answer.denied);
	}
	free(s->name);
	free(s->origin);
	free(s->origin_other);
	free(s->decided.model);
	master_config_release(&s->config);
	str_release(&s->task);
	str_release(&s->instruction);
	str_release(&s->said);
	str_release(&s->decided.text);
	str_release(&s->decided.system_prompt);
	str_release(&s->check.text);
	str_release(&s->stopped.why);
	master_state_init(s);
}

/* ---- the fold ---- */

static void set_str(struct str *s, struct sv text)
{
	str_clear(s);
	str_add(s, text);
}

/* Empty is "not known". */
static void set_text(char **s, struct sv text)
{
	free(*s);
	*s = text.n ? xmemdup0(text.p, text.n) : NULL;
}

/* Figures come from files: what would not fit stays at the largest there is. */
static void count(int64_t *sum, int64_t more)
{
	if (more > 0 && __builtin_add_overflow(*sum, more, sum))
		*sum = INT64_MAX;
}

static void fold_say(struct master_state *s, const struct master_step *step)
{
	if (s->task.len == 0)
		set_str(&s->task, step->text);
	if (s->said.len)
		str_adds(&s->said, "\n\n");
	str_add(&s->said, step->text);
	s->said_n = step->n;
	s->check.failed = 0;
	s->corrections = 0;
}

static void fold_session(struct master_side *side, const struct master_step *step)
{
	set_text(&side->agent, step->agent);
	set_text(&side->conversation, step->conversation);
	set_text(&side->session, step->session);
	set_str(&side->system_prompt, step->text);
	side->begin = step->begin;
	side->session_n = step->n;
}

static void fold_ask(struct master_state *s, const struct master_step *step)
{
	struct master_side *side = &s->side[step->role];

	side->same_asks = sv_eq(str_sv(&side->ask.text), step->text) ? side->same_asks + 1 : 1;
	side->ask.n = step->n;
	side->ask.at_ms = step->at_ms;
	side->ask.round = step->round;
	struct sv id = sv_head(step->prompt_id, UUID_TEXT - 1);
	memcpy(side->ask.prompt_id, id.p ? id.p : "", id.n);
	side->ask.prompt_id[id.n] = '\0';
	set_text(&side->ask.model, step->model);
	set_str(&side->ask.text, step->text);
	side->messages++;
	if (step->role == MASTER_INSTRUCTOR) {
		str_clear(&s->said);
	} else if (step->round > s->round) {
		s->round = step->round;
		set_str(&s->instruction, step->text);
		if (s->remaining > 0)
			s->remaining--;
	}
}

static void fold_spent(struct master_state *s, const struct master_step *step)
{
	const struct agent_usage *u = &step->usage;
	const int64_t read[] = { u->input, u->cache_read, u->cache_write };

	for (size_t i = 0; i < ARRAY_LEN(read); i++)
		count(&s->tokens_in, read[i]);
	count(&s->tokens_out, u->output);
	s->cost_usd += u->cost_usd > 0 ? u->cost_usd : 0;
	count(&s->worked_ms, step->duration_ms);
}

static void fold_answer(struct master_state *s, const struct master_step *step)
{
	struct master_side *side = &s->side[step->role];

	side->same_answers =
		sv_eq(str_sv(&side->answer.text), step->text) ? side->same_answers + 1 : 1;
	side->answer.n = step->n;
	side->answer.fail = step->fail;
	set_str(&side->answer.text, step->text);
	set_str(&side->answer.why, step->why);
	set_str(&side->answer.denied, step->denied);
	side->messages++;
	fold_spent(s, step);
}

static void fold_decided(struct master_state *s, const struct master_step *step)
{
	s->decided.n = step->n;
	s->decided.act = step->act;
	set_str(&s->decided.text, step->text);
	set_str(&s->decided.system_prompt, step->system_prompt);
	set_text(&s->decided.model, step->model);
	if (step->timeout_ms > 0)
		s->worker_timeout_ms = step->timeout_ms;
	s->corrections = step->act == MASTER_ACT_CORRECT ? s->corrections + 1 : 0;
}

/* Whether the run was at work until this step. The others begin it, or go on with one that was
 * killed or copied: what lies before them is nobody's time. */
static bool goes_by(const struct master_step *step)
{
	switch (step->kind) {
	case MASTER_STEP_SAY:
	case MASTER_STEP_ROUNDS:
	case MASTER_STEP_ASK:
	case MASTER_STEP_ANSWER:
	case MASTER_STEP_SPENT:
	case MASTER_STEP_DECIDED:
	case MASTER_STEP_CHECK:
	case MASTER_STEP_STOP:
		return true;
	case MASTER_STEP_SESSION:
		return step->begin == MASTER_BEGIN_TOLD || step->begin == MASTER_BEGIN_TRIMMED ||
			step->begin == MASTER_BEGIN_ROLLED;
	case MASTER_STEP_CONFIG:
	case MASTER_STEP_ORIGIN:
	case MASTER_STEP_NAME:
	case MASTER_STEP_COUNT:
		break;
	}
	return false;
}

void master_fold(struct master_state *s, const struct master_step *step)
{
	assert(step->n == s->steps + 1);
	if (step->n == 1)
		s->created_ms = step->at_ms;
	s->steps = step->n;
	if (s->stopped.stop == MASTER_STOP_NONE && goes_by(step))
		count(&s->ran_ms, step->at_ms - s->updated_ms);
	s->updated_ms = step->at_ms;
	s->last = step->kind;
	s->stopped.stop = MASTER_STOP_NONE;
	switch (step->kind) {
	case MASTER_STEP_CONFIG:
		master_config_copy(&s->config, step->config);
		s->worker_timeout_ms = step->config->worker_timeout_ms;
		if (step->n == 1)
			s->remaining = step->config->max_rounds;
		break;
	case MASTER_STEP_ORIGIN:
		s->origin_how = step->begin;
		if (step->begin == MASTER_BEGIN_MERGED && s->origin) {
			set_text(&s->origin_other, step->text);
			break;
		}
		set_text(&s->origin, step->text);
		set_text(&s->origin_other, SV(""));
		s->origin_round = step->round;
		break;
	case MASTER_STEP_NAME:
		set_text(&s->name, step->text);
		break;
	case MASTER_STEP_SAY:
		fold_say(s, step);
		break;
	case MASTER_STEP_ROUNDS:
		s->remaining = step->rounds;
		s->round = step->round > s->round ? step->round : s->round;
		break;
	case MASTER_STEP_SESSION:
		fold_session(&s->side[step->role], step);
		break;
	case MASTER_STEP_ASK:
		fold_ask(s, step);
		break;
	case MASTER_STEP_ANSWER:
		fold_answer(s, step);
		break;
	case MASTER_STEP_SPENT:
		fold_spent(s, step);
		break;
	case MASTER_STEP_DECIDED:
		fold_decided(s, step);
		break;
	case MASTER_STEP_CHECK:
		s->check.n = step->n;
		s->check.status = step->status;
		s->check.failed += step->status != 0;
		set_str(&s->check.text, step->text);
		break;
	case MASTER_STEP_STOP:
		s->stopped.n = step->n;
		s->stopped.stop = step->stop;
		set_str(&s->stopped.why, step->why);
		break;
	case MASTER_STEP_COUNT:
		assert(false);
	}
}
