/*
 * One turn with the agent: intent on disk, prompt out, events through, end on disk.
 */
#include <stdlib.h>
#include <sys/stat.h>

#include "assist/internal.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/uuid.h"
#include "os/path.h"

static void on_event(void *data, const struct agent_event *ev);

static int open_agent(struct assist *as, enum agent_kind kind, struct err *reterr)
{
	if (as->agent && as->agent_kind == kind && strcmp(as->agent_dir, as->conv->dir) == 0)
		return 0;
	agent_free(as->agent);
	as->agent = NULL;
	free(as->agent_dir);
	as->agent_dir = xstrdup(as->conv->dir);
	struct agent_opts opts = as->opts.agents[kind];
	if (kind != AGENT_CLAUDE && opts.max_budget_usd > 0)
		assist_notice(as,
			"ai.max_budget_usd has no effect here: %s does not tell its costs.",
			as->conv->agent);
	opts.dir = as->agent_dir;
	as->agent_kind = kind;
	return agent_open(kind, &opts, as->opts.loop, on_event, as, &as->agent, reterr);
}

/* A writer that is no process of ours: the agent's own program has the session open, or an agent
 * whose faden was killed is still at work. */
static int refuse_other_writer(const struct assist *as, struct err *reterr)
{
	AUTO_STR who = STR_INIT;
	int64_t pid;

	if (as->agent || !assist_writer(as, as->conv, &pid))
		return 0;
	writer_describe(as->conv->agent, pid, &who);
	return err_set(reterr, ERR_BUSY,
		"\"%s\" is open in %s right now; wait until it ends, or start another conversation",
		conv_label(as->conv), who.buf);
}

static int refuse_lost_folder(const struct assist *as, struct err *reterr)
{
	if (path_exists(as->conv->dir))
		return 0;
	return err_set(reterr, ERR_INPUT,
		"the folder of \"%s\", %s, is gone; go to where it is now and use: faden resume "
		"--here %s",
		conv_label(as->conv), as->conv->dir,
		as->conv->session ? as->conv->session : as->conv->id);
}

static int64_t file_size(const char *path)
{
	struct stat st;

	return path && stat(path, &st) == 0 ? (int64_t)st.st_size : 0;
}

static int write_intent(struct assist *as, struct sv text, struct err *reterr)
{
	struct turn_record t = TURN_RECORD_INIT;

	t.agent = xstrdup(as->conv->agent);
	t.session = as->conv->session ? xstrdup(as->conv->session) : NULL;
	t.prompt = xmemdup0(text.p, text.n);
	t.transcript = assist_transcript(as, as->conv);
	t.before_size = file_size(t.transcript);
	memcpy(t.conversation, as->conv->id, sizeof(t.conversation));
	int r = journal_turn(as->opts.store, &t, as->opts.clock, &as->turn_id, reterr);
	turn_record_release(&t);
	return r;
}

static int remember_session(struct assist *as, const char *session, struct err *reterr)
{
	if (as->conv->session && strcmp(as->conv->session, session) == 0)
		return 0;
	int r = store_begin(as->opts.store, reterr);
	if (r < 0)
		return r;
	r = conv_set_session(as->opts.store, as->conv->id, agent_driver(as->agent_kind)->name,
		session, as->opts.clock, reterr);
	if (r == 0 && as->turn_id)
		r = journal_session(as->opts.store, as->turn_id, session, as->opts.clock, reterr);
	r = store_end(as->opts.store, r, reterr);
	if (r < 0)
		return r;
	free(as->conv->session);
	as->conv->session = xstrdup(session);
	return 0;
}

/* Only "no such conversation" allows a second try: then the prompt has surely not arrived. */
static bool may_start_fresh(const struct assist_outcome *out)
{
	return out->fail == AGENT_NO_SESSION && out->delivery == AGENT_NOT_DELIVERED;
}

static void take_result(struct assist *as, const struct agent_result *result)
{
	struct assist_outcome *out = as->out;

	out->fail = result->fail;
	out->delivery = result->delivery;
	out->usage = result->usage;
	out->duration_ms = result->duration_ms;
	out->limit_ends_ms = result->limit_ends_ms;
	memcpy(out->message, result->message, sizeof(out->message));
	str_clear(&out->answer);
	str_add(&out->answer, result->text);
	str_clear(&out->deeds);
	str_add(&out->deeds, result->deeds);
	as->done = true;
}

static void on_event(void *data, const struct agent_event *ev)
{
	struct assist *as = data;
	const char *session = ev->type == AGENT_EV_SESSION ? ev->session
		: ev->type == AGENT_EV_DONE		   ? ev->result->session
							   : NULL;

	/* An answer that comes when nobody asked (a process that ended between turns). */
	if (!as->out)
		return;
	as->acted |= ev->type == AGENT_EV_TOOL_BEGIN;
	if (session && as->err.code == 0)
		(void)remember_session(as, session, &as->err);
	if (ev->type == AGENT_EV_DONE)
		take_result(as, ev->result);
	/* An agent that lost the session is asked once more: that is no end yet. */
	if (as->opts.ui.event && !(ev->type == AGENT_EV_DONE && may_start_fresh(as->out)))
		as->opts.ui.event(as->opts.ui.data, ev);
}

static void on_beat(void *data)
{
	struct assist *as = data;
	struct err err = ERR_INIT;

	if (conv_beat(as->opts.store, as->conv->id, &as->self, as->opts.clock, &err) < 0)
		log_write(as->opts.log, LOG_WARN, "heartbeat: %s", err.msg);
	as->beat = loop_add_timer(as->opts.loop, CONV_BEAT_MS, on_beat, as);
}

static int send_and_wait(
	struct assist *as, struct sv text, const char *session, bool resume, struct err *reterr)
{
	struct agent_turn turn = {
		.prompt = text,
		.session = session,
		.resume = resume,
		.plan = as->conv->task == CONV_PLAN,
	};

	as->done = false;
	as->err = (struct err)ERR_INIT;
	int r = agent_send(as->agent, &turn, reterr);
	if (r < 0)
		return r;
	as->beat = loop_add_timer(as->opts.loop, CONV_BEAT_MS, on_beat, as);
	r = loop_run(as->opts.loop, &as->done, reterr);
	loop_remove(as->opts.loop, as->beat);
	as->beat = NULL;
	if (r == 0 && as->err.code < 0) {
		*reterr = as->err;
		r = as->err.code;
	}
	return r;
}

/* Stored before the agent knows it: after a crash the id leads to what arrived. */
static int make_session(struct assist *as, struct err *reterr)
{
	char session[UUID_TEXT];

	if (agent_driver(as->agent_kind)->chooses_session)
		return 0;
	uuid_new(session);
	return remember_session(as, session, reterr);
}

static int begin_session(struct assist *as, struct sv text, struct err *reterr)
{
	bool ours = !agent_driver(as->agent_kind)->chooses_session;
	AUTO_FREE char *session = ours ? xstrdup(as->conv->session) : NULL;

	return send_and_wait(as, text, session, false, reterr);
}

static enum turn_state state_of(const struct assist_outcome *out)
{
	switch (out->fail) {
	case AGENT_OK:
		return TURN_ANSWERED;
	case AGENT_CANCELLED:
		return TURN_CANCELLED;
	case AGENT_NO_SESSION:
	case AGENT_NOT_LOGGED_IN:
	case AGENT_RATE_LIMITED:
	case AGENT_CONTEXT_FULL:
	case AGENT_REFUSED:
	case AGENT_MISSING:
	case AGENT_TOO_OLD:
	case AGENT_IN_USE:
	case AGENT_OVER_BUDGET:
	case AGENT_TIMED_OUT:
	case AGENT_DIED:
	case AGENT_FAILED:
		break;
	}
	return TURN_FAILED;
}

static int run(struct assist *as, struct sv text, bool fresh, struct err *reterr)
{
	if (fresh)
		return begin_session(as, text, reterr);
	AUTO_FREE char *session = xstrdup(as->conv->session);
	int r = send_and_wait(as, text, session, true, reterr);
	if (r < 0 || !may_start_fresh(as->out))
		return r;
	log_write(as->opts.log, LOG_WARN, "%s does not know session %s: starting fresh",
		as->conv->agent, session);
	assist_tell(as, TEXT_GONE, TEXT_WORDS(as->conv->agent, session));
	r = make_session(as, reterr);
	return r < 0 ? r : begin_session(as, text, reterr);
}

/* Session id and intent are on disk together, with one wait for it. */
static int prepare(struct assist *as, struct sv text, bool fresh, struct err *reterr)
{
	int r = store_begin(as->opts.store, reterr);

	if (r < 0)
		return r;
	if (fresh)
		r = make_session(as, reterr);
	if (r == 0)
		r = write_intent(as, text, reterr);
	return store_end(as->opts.store, r, reterr);
}

/* Decided for each turn: planning and doing may follow each other in one conversation. */
static int decide_task(struct assist *as, struct sv text, struct err *reterr)
{
	enum conv_task task =
		as->opts.tasks && route_task_of(text, as->opts.task_words) == ROUTE_TASK_PLAN
		? CONV_PLAN
		: CONV_EDIT;

	if (task == CONV_PLAN)
		assist_tell(as, TEXT_PLANNING, TEXT_WORDS(NULL));
	else if (as->conv->task == CONV_PLAN && as->conv->turns > 0)
		assist_tell(as, TEXT_PLAN_TO_DOING, TEXT_WORDS(NULL));
	if (task == as->conv->task)
		return 0;
	as->conv->task = task;
	return conv_set_task(as->opts.store, as->conv->id, task, reterr);
}

int assist_turn(struct assist *as, struct sv text, struct err *reterr)
{
	enum agent_kind kind;
	bool fresh = !as->conv->session;

	as->acted = false;
	str_clear(&as->prompt);
	str_add(&as->prompt, utf8_cut(text, ROUTE_TEXT_MAX));
	if (!agent_kind_parse(sv_of(as->conv->agent), &kind))
		return err_set(
			reterr, ERR_INPUT, "this faden knows no agent '%s'", as->conv->agent);
	int r = refuse_lost_folder(as, reterr);
	if (r == 0)
		r = refuse_other_writer(as, reterr);
	if (r == 0)
		r = open_agent(as, kind, reterr);
	if (r == 0)
		r = decide_task(as, text, reterr);
	if (r == 0)
		r = prepare(as, text, fresh, reterr);
	return r < 0 ? r : run(as, text, fresh, reterr);
}

static const char *failure_text(const struct assist *as, const struct err *failure)
{
	if (failure)
		return failure->msg;
	return as->out->fail == AGENT_OK ? NULL : agent_fail_name(as->out->fail);
}

/* Errored is a conversation that cannot go on as it is. A limit, a log-in, an outage, a time-out or
 * a process that died say nothing against it: "try again" must find it. */
static enum conv_status status_after(const struct assist *as)
{
	return as->out->fail == AGENT_CONTEXT_FULL ? CONV_ERRORED : CONV_IDLE;
}

/* What the router learns of a turn must not cost the turn's own end: it comes after that. */
static void learn(struct assist *as)
{
	struct routing rt = assist_routing(as);
	struct err err = ERR_INIT;

	if (!rt.router || as->out->delivery == AGENT_NOT_DELIVERED)
		return;
	int r = store_begin(as->opts.store, &err);
	if (r == 0) {
		r = routing_learn(
			&rt, as->conv, str_sv(&as->prompt), str_sv(&as->out->answer), &err);
		r = store_end(as->opts.store, r, &err);
	}
	if (r < 0)
		log_write(as->opts.log, LOG_WARN, "the router learns nothing: %s", err.msg);
}

int assist_turn_end(struct assist *as, const struct err *failure, struct err *reterr)
{
	struct store *store = as->opts.store;
	int r = store_begin(store, reterr);

	if (r < 0)
		return r;
	if (as->turn_id)
		r = journal_end(store, as->turn_id, failure ? TURN_FAILED : state_of(as->out),
			failure_text(as, failure), as->opts.clock, reterr);
	as->turn_id = 0;
	if (r == 0)
		r = assist_route_note(as, reterr);
	if (r == 0)
		r = conv_give(
			store, as->conv->id, &as->self, status_after(as), as->opts.clock, reterr);
	r = store_end(store, r, reterr);
	if (r == 0 && !failure)
		learn(as);
	return r;
}
