/*
 * The rehearsal agent: embedded, needs no account and no network. It remembers its conversation in
 * a real transcript, answers "what did I say?", and follows a script when one is given. A newcomer
 * talks to it before an agent is installed; most tests run against it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/driver.h"
#include "agent/rehearsal-log.h"
#include "agent/rehearsal-script.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "os/file.h"

enum {
	PIECE = 24, /* bytes of answer an event, so that streaming is exercised */
	PAIR_STEP_MS = 300, /* that each answer takes as one of a pair */
};

struct rehearsal {
	struct rehearsal_log log;
	struct steps steps;
	size_t at;
	struct loop_source *timer;
	bool stopping; /* asked to, perhaps from within one of our own events */
	bool planning; /* this turn: nothing that needs permission is done */
	const struct step *asks; /* waits for permission; NULL: nothing does */
	struct strv always; /* tools that it need not ask for any more */
	struct str said; /* this turn's answer */
};

static int rehearsal_open(struct agent *a, struct err *reterr)
{
	(void)reterr;
	struct rehearsal *h = xcalloc(1, sizeof(*h));
	h->said = (struct str)STR_INIT;
	a->priv = h;
	return 0;
}

static void end_turn(struct agent *a)
{
	struct rehearsal *h = a->priv;

	loop_remove(a->loop, h->timer);
	h->timer = NULL;
	h->asks = NULL;
	steps_release(&h->steps);
	rehearsal_log_release(&h->log);
}

static void rehearsal_close(struct agent *a)
{
	struct rehearsal *h = a->priv;

	if (!h)
		return;
	end_turn(a);
	str_release(&h->said);
	strv_release(&h->always);
	free(h);
}

/* A limit ends after the milliseconds that its text begins with, if it does. */
static int64_t limit_end(const struct agent *a, enum agent_fail fail, const char *message)
{
	struct sv rest = sv_of(message);
	struct sv first;
	long long ms;

	if (fail != AGENT_RATE_LIMITED || !sv_split(&rest, ' ', &first) ||
		!sv_parse_i64(first, &ms) || ms < 0 || ms > SCRIPT_WAIT_MAX)
		return 0;
	return clock_wall_ms(a->opts.clock) + ms;
}

static void finish(struct agent *a, enum agent_fail fail, const char *message)
{
	struct rehearsal *h = a->priv;
	struct agent_result result = agent_result_init();
	char session[UUID_TEXT];

	memcpy(session, h->log.session, sizeof(session));
	result.session = session;
	result.delivery = AGENT_DELIVERED;
	result.limit_ends_ms = limit_end(a, fail, message);
	if (fail != AGENT_OK)
		agent_result_fail(&result, fail, "%s", message);
	end_turn(a);
	agent_finish(a, &result);
}

/* The answer is on disk before it counts as given. */
static void finish_answer(struct agent *a)
{
	struct rehearsal *h = a->priv;
	struct err err = ERR_INIT;

	if (rehearsal_log_answer(&h->log, str_sv(&h->said), &err) < 0)
		finish(a, AGENT_FAILED, err.msg);
	else
		finish(a, AGENT_OK, "");
}

static void say(struct agent *a, const char *text)
{
	struct rehearsal *h = a->priv;
	struct sv rest = sv_of(text);

	if (h->said.len) {
		agent_emit_text(a, AGENT_EV_BREAK, SV(""));
		str_adds(&h->said, "\n\n");
	}
	str_add(&h->said, rest);
	while (rest.n && !h->stopping) {
		struct sv piece = utf8_cut(rest, PIECE);
		if (piece.n == 0)
			piece = sv_head(rest, 1);
		agent_emit_text(a, AGENT_EV_TEXT, piece);
		rest = sv_from(rest, piece.n);
	}
}

static struct agent_event tool_event(enum agent_event_type type, const struct step *step)
{
	return (struct agent_event){
		.type = type, .tool = sv_of(step->tool), .text = sv_of(step->text)
	};
}

static int end_tool(
	struct agent *a, const struct step *step, const char *output, struct err *reterr)
{
	struct rehearsal *h = a->priv;
	struct agent_event ev = tool_event(AGENT_EV_TOOL_END, step);
	int r = rehearsal_log_tool(&h->log, step->tool, step->text, output, reterr);

	ev.failed = r < 0 || output != step->output;
	agent_emit(a, &ev);
	return r;
}

static const char refused[] = "not allowed";

enum may { MAY_NOT, MAY, MAY_PERHAPS };

static enum may may_use(const struct agent *a, const struct step *step)
{
	const struct rehearsal *h = a->priv;
	bool edits = strcmp(step->tool, "Write") == 0 || strcmp(step->tool, "Edit") == 0;

	if (a->opts.permission == AGENT_PERM_PLAN || h->planning)
		return MAY_NOT;
	if (a->opts.permission == AGENT_PERM_BYPASS ||
		(a->opts.permission == AGENT_PERM_ACCEPT_EDITS && edits))
		return MAY;
	for (size_t i = 0; i < h->always.n; i++)
		if (strcmp(h->always.v[i], step->tool) == 0)
			return MAY;
	return a->opts.ask ? MAY_PERHAPS : MAY_NOT;
}

/* A tool that needs permission: true when it waits for it. */
static bool ask_for(struct agent *a, const struct step *step, struct err *reterr, int *ret_r)
{
	struct rehearsal *h = a->priv;
	struct agent_event ev = tool_event(AGENT_EV_ASK, step);
	enum may may = may_use(a, step);

	*ret_r = 0;
	if (may == MAY_PERHAPS) {
		h->asks = step;
		ev.ask = &(struct agent_ask){ .id = "1", .always = true };
		agent_ask(a, &ev, NULL);
		return true;
	}
	if (may == MAY_NOT)
		agent_denied(a, sv_of(step->tool), sv_of(step->text));
	*ret_r = end_tool(a, step, may == MAY ? step->output : refused, reterr);
	return false;
}

/* Runs steps until one has to wait or the turn ends. */
static void run_steps(void *data)
{
	struct agent *a = data;
	struct rehearsal *h = a->priv;
	struct agent_event begin;
	struct err err = ERR_INIT;
	int r = 0;

	h->timer = NULL;
	while (h->at < h->steps.list.n && !h->stopping) {
		const struct step *step = &h->steps.list.v[h->at++];
		switch (step->kind) {
		case STEP_SAY:
			say(a, step->text);
			break;
		case STEP_RETRY:
		case STEP_WAIT:
			/* Before the event: who hears it may stop us. */
			h->timer = loop_add_timer(a->loop, step->ms, run_steps, a);
			if (step->kind == STEP_RETRY)
				agent_emit(a,
					&(struct agent_event){ .type = AGENT_EV_RETRY,
						.text = sv_of(step->text),
						.delay_ms = step->ms });
			return;
		case STEP_TOOL:
		case STEP_ASK:
			if (a->opts.answer_only)
				break;
			begin = tool_event(AGENT_EV_TOOL_BEGIN, step);
			agent_emit(a, &begin);
			if (step->kind == STEP_TOOL)
				r = end_tool(a, step, step->output, &err);
			else if (ask_for(a, step, &err, &r))
				return;
			if (r < 0) {
				finish(a, AGENT_FAILED, err.msg);
				return;
			}
			break;
		case STEP_FAIL:
			finish(a, step->fail,
				step->text[0] ? step->text : agent_fail_name(step->fail));
			return;
		case STEP_DIE:
			finish(a, AGENT_DIED,
				"the rehearsal agent died in mid-turn, as its script says");
			return;
		}
	}
	if (!h->stopping)
		finish_answer(a);
}

/* Not from within the answer: whoever gives it may be called by us. */
static void rehearsal_answer(
	struct agent *a, const struct agent_question *q, enum agent_answer answer)
{
	struct rehearsal *h = a->priv;
	const struct step *step = h->asks;
	struct err err = ERR_INIT;

	(void)q;
	if (!step || h->stopping)
		return;
	h->asks = NULL;
	if (answer == AGENT_ALLOW_ALWAYS)
		strv_add(&h->always, step->tool);
	if (end_tool(a, step, answer == AGENT_DENY ? refused : step->output, &err) < 0)
		log_write(a->opts.log, LOG_WARN, "rehearsal: %s", err.msg);
	if (!h->stopping)
		h->timer = loop_add_timer(a->loop, 0, run_steps, a);
}

/* Letters only, folded, single blanks: how a question is recognised. */
static void fold_question(struct str *out, struct sv text)
{
	AUTO_STR folded = STR_INIT;

	utf8_normalise(&folded, sv_head(text, 200), true);
	for (size_t i = 0; i < folded.len; i++) {
		char c = folded.buf[i];
		bool letter = (c >= 'a' && c <= 'z') || (unsigned char)c >= 0x80;
		if (letter)
			str_addc(out, c);
		else if (out->len && out->buf[out->len - 1] != ' ')
			str_addc(out, ' ');
	}
	if (out->len && out->buf[out->len - 1] == ' ')
		str_cut(out, out->len - 1);
}

static void list_said(struct str *out, const struct strv *said, bool german)
{
	/* The last one is the question itself. */
	size_t n = said->n ? said->n - 1 : 0;

	if (n == 0) {
		str_adds(out,
			german ? "Noch nichts: das ist unsere erste Nachricht."
			       : "Nothing yet: this is our first message.");
		return;
	}
	str_adds(out, german ? "Bisher hast du gesagt:\n" : "So far you said:\n");
	for (size_t i = 0; i < n; i++)
		str_addf(out, "\n%zu. %s", i + 1, said->v[i]);
}

static void usual_answer(const struct agent *a)
{
	struct rehearsal *h = a->priv;
	const struct strv *said = &h->log.said;
	struct sv last = sv_of(said->v[said->n - 1]);
	AUTO_STR question = STR_INIT;
	AUTO_STR answer = STR_INIT;

	fold_question(&question, last);
	if (rehearsal_pair(a->opts.system_prompt, said, &answer)) {
		/* Long enough for somebody to see it, interrupt it, or kill it. */
		if (!a->opts.clock || !a->opts.clock->fixed)
			steps_wait(&h->steps, PAIR_STEP_MS);
	} else if (strcmp(question.buf, "what did i say") == 0) {
		list_said(&answer, said, false);
	} else if (strcmp(question.buf, "was habe ich gesagt") == 0) {
		list_said(&answer, said, true);
	} else if (strcmp(question.buf, "ask me") == 0) {
		steps_ask(&h->steps, "Note", "one more line in this conversation", "noted");
		str_adds(&answer, "That was a question for permission: real agents ask so too.");
	} else {
		str_addf(&answer, "You said: %.*s", SV_ARG(last));
		if (said->n == 1)
			str_adds(&answer,
				"\n\nI am only rehearsing, but I remember: ask me \"what did I "
				"say?\", now or after a restart.");
	}
	steps_say(&h->steps, str_sv(&answer));
}

static int plan_turn(struct agent *a, struct err *reterr)
{
	struct rehearsal *h = a->priv;
	AUTO_STR script = STR_INIT;

	h->at = 0;
	str_clear(&h->said);
	if (a->opts.script) {
		int r = file_read(a->opts.script, SCRIPT_BYTES_MAX, &script, reterr);
		if (r == 0)
			r = script_steps(
				str_sv(&script), (int64_t)h->log.said.n, &h->steps, reterr);
		if (r < 0)
			return r;
	}
	bool speaks = false;
	vec_each (&h->steps.list, step)
		speaks |=
			step->kind == STEP_SAY || step->kind == STEP_FAIL || step->kind == STEP_DIE;
	if (!speaks)
		usual_answer(a);
	return 0;
}

/* A session that should exist and does not, or the other way round, is the agent's answer, not a
 * failure of sending: it comes as an event like from any agent. */
static void wrong_session(void *data)
{
	struct agent *a = data;
	struct rehearsal *h = a->priv;
	struct agent_result result = agent_result_init();
	char session[UUID_TEXT];

	h->timer = NULL;
	memcpy(session, h->log.session, sizeof(session));
	result.delivery = AGENT_NOT_DELIVERED;
	if (h->log.said.n)
		agent_result_fail(
			&result, AGENT_IN_USE, "session id %s is already in use", session);
	else
		agent_result_fail(
			&result, AGENT_NO_SESSION, "no conversation with session id %s", session);
	end_turn(a);
	agent_finish(a, &result);
}

static int rehearsal_send(struct agent *a, const struct agent_turn *turn, struct err *reterr)
{
	struct rehearsal *h = a->priv;
	const char *home = a->opts.answer_only ? NULL : a->opts.home;
	bool exists;

	h->stopping = false;
	h->planning = turn->plan;
	int r = rehearsal_log_open(
		&h->log, home, a->opts.dir, turn->session, a->opts.clock, &exists, reterr);

	if (r == 0 && turn->resume != exists) {
		h->timer = loop_add_timer(a->loop, 0, wrong_session, a);
		return 0;
	}
	if (r == 0)
		r = rehearsal_log_user(&h->log, turn->prompt, turn->prompt_id, reterr);
	if (r == 0)
		r = plan_turn(a, reterr);
	if (r < 0) {
		end_turn(a);
		return r;
	}
	h->timer = loop_add_timer(a->loop, 0, run_steps, a);
	agent_emit(a, &(struct agent_event){ .type = AGENT_EV_SESSION, .session = h->log.session });
	return 0;
}

static void finish_stopped(void *data)
{
	struct agent *a = data;
	struct rehearsal *h = a->priv;
	struct err err = ERR_INIT;

	h->timer = NULL;
	if (rehearsal_log_interrupt(&h->log, &err) < 0)
		log_write(a->opts.log, LOG_WARN, "rehearsal: %s", err.msg);
	finish(a, AGENT_CANCELLED, "cancelled");
}

/* Not at once: the one who asks may be called by us. */
static void rehearsal_stop(struct agent *a, int level)
{
	struct rehearsal *h = a->priv;

	(void)level;
	if (h->stopping)
		return;
	h->stopping = true;
	loop_remove(a->loop, h->timer);
	h->timer = loop_add_timer(a->loop, 0, finish_stopped, a);
}

const struct agent_driver agent_rehearsal = {
	.open = rehearsal_open,
	.send = rehearsal_send,
	.stop = rehearsal_stop,
	.answer = rehearsal_answer,
	.close = rehearsal_close,
};
