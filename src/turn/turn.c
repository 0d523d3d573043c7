#include "turn/turn.h"

#include <assert.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/child.h"
#include "base/mem.h"
#include "base/shell.h"
#include "base/utf8.h"
#include "os/path.h"
#include "turn/internal.h"

enum {
	TICK_MS = 1000,
	BUSY_STEP_MS = 100,
	LEAVING_STEP_MS = 20,
	EBB_MS = 90000,
	QUESTION_KEPT = 4096, /* bytes of a question in the journal: it may hold a whole session */
};

static void outcome_init(struct turn_outcome *o)
{
	*o = (struct turn_outcome){
		.conv = CONV_INIT,
		.answer = STR_INIT,
		.deeds = STR_INIT,
		.begun = STR_INIT,
		.usage = AGENT_USAGE_NONE,
	};
}

static void outcome_release(struct turn_outcome *o)
{
	conv_release(&o->conv);
	str_release(&o->answer);
	str_release(&o->deeds);
	str_release(&o->begun);
	agent_denials_release(&o->denied);
}

void turn_tell(const struct turn_sink *sink, enum turn_news what, const char *a, const char *b,
	const char *c)
{
	if (sink->news)
		sink->news(sink->data, what, (const char *const[]){ a, b, c }, 0);
}

void turn_after(struct turn *t, int64_t ms, loop_timer_fn next)
{
	loop_remove(t->host->opts.loop, t->timer);
	t->timer = loop_add_timer(t->host->opts.loop, ms, next, t);
}

static void on_event(void *data, const struct agent_event *ev);

static int find_agent(struct turn *t, struct err *reterr)
{
	struct turn_host *host = t->host;
	const struct conv *c = &t->out.conv;

	t->agent = turn_agent_kept(host, t->kind, c, t->job.own_rights);
	if (t->agent)
		return 0;
	struct agent_opts opts = host->opts.agents[agent_index(t->kind)];
	opts.dir = c->dir;
	if (t->job.own_rights)
		opts.permission = host->opts.permission;
	opts.keep_alive = opts.keep_alive && t->kind->can.keep_alive;
	if (!t->kind->can.cost && opts.max_budget_usd > 0)
		turn_tell(&t->sink, NEWS_NO_COSTS, c->agent, NULL, NULL);
	int r = turn_agent_make(host, t->kind, &opts, on_event, &t->agent, reterr);
	if (r >= 0)
		t->agent->own_rights = t->job.own_rights;
	return r;
}

/* The agent goes back to the others, or is ended: not from within its events. */
static void leave(struct turn *t)
{
	struct turn_host *host = t->host;
	struct turn_agent *a = TAKE_PTR(t->agent);
	const struct turn_question *q = t->opts.question;

	if (a && q)
		turn_agent_dismiss(a);
	else if (a)
		turn_agent_keep(a, t);
	/* After done the question is no longer ours to look at; its place is gone by then. */
	if (t->place.dir)
		turn_place_remove(&t->place, q, &host->opts.agents[agent_index(q->kind)]);
}

bool turn_runs(const struct turn_host *host, const char *conversation)
{
	vec_each (&host->running, other)
		if ((*other)->held && strcmp((*other)->out.conv.id, conversation) == 0)
			return true;
	return false;
}

/* ---- the end ---- */

/* Lost is what can be sent again: its agent died before it had it, or it was lost already. */
static enum turn_state end_state(const struct turn *t, bool ours)
{
	const struct turn_outcome *out = &t->out;

	if (!ours && out->fail == AGENT_OK)
		return TURN_ANSWERED;
	if (!ours && out->fail == AGENT_CANCELLED)
		return TURN_CANCELLED;
	bool arrived = ours ? out->sent : out->delivery != AGENT_NOT_DELIVERED;
	bool offered = t->job.again || (!ours && out->fail == AGENT_DIED);
	return offered && !arrived ? TURN_LOST : TURN_FAILED;
}

/* The turn's end, and the conversation back, with one wait for the disk. */
static int write_end(struct turn *t, struct err *reterr)
{
	const struct turn_host_opts *o = &t->host->opts;
	const struct turn_outcome *out = &t->out;
	bool ours = out->err.code < 0 && !t->unwritten;
	enum turn_state state = end_state(t, ours);
	const char *why = ours		? out->err.msg
		: out->fail != AGENT_OK ? agent_fail_name(out->fail)
					: NULL;
	/* Errored is a conversation that cannot go on as it is. A limit, a log-in, an outage, a
	 * time-out or a process that died say nothing against it: "try again" must find it. */
	enum conv_status status = out->fail == AGENT_CONTEXT_FULL ? CONV_ERRORED : CONV_IDLE;

	if ((!t->step && !t->held && !t->wait) || t->abandoned)
		return 0;
	int r = store_begin(o->store, reterr);
	if (r < 0)
		return r;
	if (t->wait)
		r = journal_end(o->store, t->wait, TURN_CANCELLED, NULL, o->clock, reterr);
	if (r == 0 && t->step)
		r = journal_end(o->store, t->step, state, why, o->clock, reterr);
	if (r == 0 && t->held)
		r = conv_give(o->store, out->conv.id, &t->host->self, status, o->clock, reterr);
	r = store_end(o->store, r, reterr);
	if (r == 0) {
		t->step = t->wait = 0;
		t->held = false;
	}
	return r;
}

static void release(struct turn *t)
{
	conv_release(&t->job.conv);
	str_release(&t->job.prompt);
	outcome_release(&t->out);
	free(t);
}

/* Of turns that are over, as far as the store takes them by now. */
static void write_ends(struct turn_host *host)
{
	size_t kept = 0;

	for (size_t i = 0; i < host->unwritten.n; i++) {
		struct turn *t = host->unwritten.v[i];
		if (write_end(t, NULL) == 0)
			release(t);
		else
			host->unwritten.v[kept++] = t;
	}
	host->unwritten.n = kept;
}

static void wait_out(void *data);

/* After a limit the same words are said again only when they surely did not arrive; otherwise they
 * stand in the transcript, and the agent is asked to go on. */
static struct sv after_limit(const struct turn *t)
{
	return t->out.delivery == AGENT_NOT_DELIVERED ? str_sv(&t->job.prompt)
						      : sv_of(t->opts.go_on);
}

static void end(void *data)
{
	struct turn *t = data;
	struct err err = ERR_INIT;

	t->timer = NULL;
	t->phase = PHASE_ENDING;
	loop_remove(t->host->opts.loop, t->beat);
	t->beat = NULL;
	if (t->step && t->out.err.code == 0 && t->out.fail == AGENT_DIED)
		turn_look_after_death(t);
	if (write_end(t, &err) < 0 && t->out.err.code == 0) {
		t->out.err = err;
		/* Why was said when it was seen. */
		if (t->told_lost)
			(void)err_set(&t->out.err, err.code,
				"what became of this turn is not written down");
		t->unwritten = true; /* turn_free() tries again, and the next turn */
	}
	leave(t);
	if (t->opts.go_on && t->out.err.code == 0 && t->out.fail == AGENT_RATE_LIMITED &&
		t->out.limit_ends_ms > 0) {
		char when[CLOCK_TEXT_MAX], seconds[32];
		clock_format_local(t->out.limit_ends_ms, when);
		(void)snprintf(seconds, sizeof(seconds), "%lld",
			(long long)((t->out.limit_ends_ms - clock_wall_ms(NULL) + 999) / 1000));
		t->phase = PHASE_LIMITED;
		turn_after(t, 0, wait_out);
		if (turn_note_wait(t, &t->out.conv, after_limit(t), &err) < 0)
			log_write(t->host->opts.log, LOG_WARN, "a wait is not written down: %s",
				err.msg);
		turn_tell(&t->sink, NEWS_LIMIT, t->out.conv.agent, seconds, when);
		return;
	}
	t->sink.done(t->sink.data, &t->out); /* which may have freed it */
}

void turn_end_soon(struct turn *t)
{
	t->phase = PHASE_ENDING;
	turn_after(t, 0, end);
}

/* Before anything was sent. */
static void end_unsent(struct turn *t)
{
	t->out.fail = AGENT_CANCELLED;
	t->out.delivery = AGENT_NOT_DELIVERED;
	(void)snprintf(t->out.message, sizeof(t->out.message), "cancelled");
	turn_end_soon(t);
}

static void wait_out(void *data)
{
	struct turn *t = data;
	int64_t left = t->out.limit_ends_ms - clock_wall_ms(NULL);

	t->timer = NULL;
	if (left > 0) {
		turn_after(t, left < TICK_MS ? left : TICK_MS, wait_out);
		if (t->sink.waiting)
			t->sink.waiting(t->sink.data, (left + 999) / 1000);
		return;
	}
	if (t->out.delivery != AGENT_NOT_DELIVERED) {
		str_clear(&t->job.prompt);
		str_adds(&t->job.prompt, t->opts.go_on);
		t->job.again = 0;
		t->job.prompt_id[0] = '\0';
	}
	bool acted = t->out.acted, sent = t->out.sent;
	memcpy(t->again, t->out.conv.id, sizeof(t->again));
	outcome_release(&t->out);
	outcome_init(&t->out);
	t->out.acted = acted;
	t->out.sent = sent;
	t->told_busy = false;
	t->fresh = false;
	t->phase = PHASE_WAITING;
	turn_start(t);
}

/* ---- at work ---- */

static void on_beat(void *data)
{
	struct turn *t = data;
	const struct turn_host_opts *o = &t->host->opts;
	struct err err = ERR_INIT;
	bool kept = store_check(o->store, &err) == 0;
	int64_t now = clock_age_ms(NULL);

	t->beat = loop_add_timer(o->loop, TICK_MS, on_beat, t);
	if (kept && now - t->beaten_ms < CONV_BEAT_MS)
		return;
	t->beaten_ms = now;
	if (kept && conv_beat(o->store, t->out.conv.id, &t->host->self, o->clock, &err) < 0)
		log_write(o->log, LOG_WARN, "heartbeat: %s", err.msg);
	if (!kept && !t->told_lost) {
		t->told_lost = true;
		turn_tell(&t->sink, NEWS_NOT_KEPT, err.msg, NULL, NULL);
	}
}

/* Stored before the agent's next word: after a crash the id leads to what arrived. */
static int remember_session(struct turn *t, const char *session, struct err *reterr)
{
	const struct turn_host_opts *o = &t->host->opts;
	struct conv *c = &t->out.conv;

	if (!t->held || (c->session && strcmp(c->session, session) == 0))
		return 0;
	if (!session[0])
		return journal_session(o->store, t->step, JOURNAL_BLIND, o->clock, reterr);
	int r = store_begin(o->store, reterr);
	if (r < 0)
		return r;
	r = conv_set_session(o->store, c->id, c->agent, session, o->clock, reterr);
	if (r == 0 && t->step)
		r = journal_session(o->store, t->step, session, o->clock, reterr);
	r = store_end(o->store, r, reterr);
	if (r < 0)
		return r;
	free(c->session);
	c->session = xstrdup(session);
	return 0;
}

static void take_result(struct turn *t, const struct agent_result *result)
{
	struct turn_outcome *out = &t->out;

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
	str_clear(&out->begun);
	str_add(&out->begun, result->begun);
	agent_denials_release(&out->denied);
	vec_each (&result->denied->list, denial)
		agent_denials_add(
			&out->denied, sv_of(denial->tool), sv_of(denial->about), denial->asked);
	out->acted |= out->deeds.len > 0 || out->begun.len > 0;
}

static void start_fresh(void *data);

static void on_event(void *data, const struct agent_event *ev)
{
	struct turn_agent *a = data;
	struct turn *t = a->turn;
	const char *session = ev->type == AGENT_EV_SESSION ? ev->session
		: ev->type == AGENT_EV_DONE		   ? ev->result->session
							   : NULL;

	/* An answer that comes when nobody asked (a process that ended between turns). */
	if (!t)
		return;
	/* What is sent to a session that nobody can find again is lost with the first crash. */
	if (session && t->out.err.code == 0 && remember_session(t, session, &t->out.err) < 0 &&
		ev->type == AGENT_EV_SESSION)
		agent_cancel(a->agent);
	if (ev->type == AGENT_EV_DONE) {
		take_result(t, ev->result);
		/* Only "no such conversation" allows a second try: then the prompt has surely not
		 * arrived, and this is no end yet. */
		if (t->out.fail == AGENT_NO_SESSION && t->out.delivery == AGENT_NOT_DELIVERED &&
			t->held && t->out.err.code == 0 && !t->fresh) {
			t->phase = PHASE_LOST;
			turn_after(t, 0, start_fresh);
			return;
		}
		turn_end_soon(t);
	}
	if (t->sink.event)
		t->sink.event(t->sink.event_data, ev);
}

/* The first of a session has an id of ours, unless the agent makes its own. */
static int send(struct turn *t, const char *session, struct err *reterr)
{
	/* The agent may tell another id while it still uses this one. */
	AUTO_FREE char *own =
		session && (t->resumes || !t->kind->can.own_ids) ? xstrdup(session) : NULL;
	const struct agent_turn what = {
		.prompt = t->opts.question ? t->opts.question->prompt : str_sv(&t->job.prompt),
		.prompt_id = t->prompt_id[0] ? t->prompt_id : NULL,
		.again = t->job.again && t->job.prompt_id[0], /* a wait had no id */
		.session = own,
		.resume = t->resumes,
		.plan = t->job.task == CONV_PLAN,
	};

	t->agent->turn = t;
	int r = agent_send(t->agent->agent, &what, reterr);
	t->out.sent |= r == 0;
	return r;
}

static int make_session(struct turn *t, struct err *reterr)
{
	char session[UUID_TEXT];

	if (t->kind->can.own_ids)
		return 0;
	uuid_new(session);
	return remember_session(t, session, reterr);
}

/* An agent that knows nothing of it can only guess what is meant. */
static int refuse_to_guess(const struct turn *t, struct err *reterr)
{
	const struct conv *c = &t->out.conv;

	return !t->job.leans || !agent_keeps_sessions(t->kind)
		? 0
		: err_set(reterr, ERR_NOTFOUND,
			  "%s has nothing of \"%s\"%s%s%s, so there is nothing to go on with; say "
			  "what it is about, and it begins anew",
			  c->agent, conv_label(c), c->session ? " (" : "",
			  c->session ? c->session : "", c->session ? ")" : "");
}

/* The agent knows no such session: once more, with a new one. */
static void start_fresh(void *data)
{
	struct turn *t = data;
	const struct turn_host_opts *o = &t->host->opts;
	struct conv *c = &t->out.conv;
	struct err err = ERR_INIT;

	t->timer = NULL;
	log_write(o->log, LOG_WARN, "%s does not know session %s: %s", c->agent, c->session,
		t->job.leans ? "nothing is sent" : "starting fresh");
	if (refuse_to_guess(t, &t->out.err) < 0) {
		t->out.sent = false;
		turn_end_soon(t);
		return;
	}
	turn_tell(&t->sink, NEWS_GONE, c->agent, c->session, NULL);
	if (t->phase != PHASE_LOST)
		return;
	t->phase = PHASE_RUNNING;
	t->fresh = true;
	t->resumes = false;
	/* Until the agent tells its new id, nobody knows where the prompt would be found. */
	int r = t->kind->can.own_ids ? journal_session(o->store, t->step, "", o->clock, &err)
				     : make_session(t, &err);
	if (r == 0)
		r = conv_retitle(o->store, c, str_sv(&t->job.prompt), &err);
	if (r == 0)
		r = send(t, c->session, &err);
	if (r < 0) {
		t->out.err = err;
		turn_end_soon(t);
	}
}

/* ---- the beginning ---- */

static int write_intent(struct turn *t, struct err *reterr)
{
	const struct turn_host_opts *o = &t->host->opts;
	struct conv *c = &t->out.conv;
	AUTO_TURN_RECORD rec = { .parent = t->job.again ? t->job.again : t->opts.parent,
		.agent = xstrdup(c->agent),
		.prompt = STR_INIT };
	int r = t->resumes || c->session ? 0 : make_session(t, reterr);

	/* What it was called by is not in it, or not any more. */
	if (r == 0 && !t->resumes && c->title && agent_keeps_sessions(t->kind))
		r = conv_retitle(o->store, c, str_sv(&t->job.prompt), reterr);
	if (r == 0 && t->job.task != c->task)
		r = conv_set_task(o->store, c->id, t->job.task, reterr);
	rec.session = c->session ? xstrdup(c->session) : NULL;
	str_add(&rec.prompt, str_sv(&t->job.prompt));
	memcpy(t->prompt_id, t->job.prompt_id, sizeof(t->prompt_id));
	if (t->kind->can.prompt_ids && !t->prompt_id[0])
		uuid_new(t->prompt_id);
	rec.prompt_id = t->prompt_id[0] ? xstrdup(t->prompt_id) : NULL;
	rec.transcript = turn_transcript(t->host, c, c->session);
	rec.before_size = turn_size_of(rec.transcript);
	memcpy(rec.conversation, c->id, sizeof(rec.conversation));
	if (r == 0)
		r = journal_turn(o->store, &rec, o->clock, &t->step, reterr);
	if (r == 0 && t->wait)
		r = journal_end(o->store, t->wait, TURN_CANCELLED, NULL, o->clock, reterr);
	/* The first words are its title from here on, whatever comes of them. */
	if (r == 0 && !c->title) {
		AUTO_CONV now = CONV_INIT;
		r = conv_get(o->store, c->id, o->clock, &now, reterr);
		c->title = TAKE_PTR(now.title);
	}
	return r;
}

/* A process that is none of our own has the session: the agent's own program, or an agent whose
 * faden was killed, which is waited for. */
static int refuse_other_writer(const struct turn *t, struct turn_writer *ret, struct err *reterr)
{
	const struct conv *c = &t->out.conv;
	AUTO_STR who = STR_INIT;

	if (!turn_writer(t->host, c, ret))
		return 0;
	if (ret->keeper)
		str_addf(&who, "another faden, process %lld,", (long long)ret->keeper);
	else
		writer_describe(c->agent, ret->pid, &who);
	return err_set(reterr, ERR_BUSY,
		"\"%s\" is open in %s right now; wait until it ends, or start another conversation",
		conv_label(c), who.buf);
}

/* What stands in the way of a turn in its conversation. */
struct obstacle {
	bool busy; /* somebody has it, and may give it back soon */
	bool leaving; /* an agent of ours has not quite ended with it */
	bool unfinished; /* a last turn has to be explained first: its own, or one elsewhere */
	struct turn_writer writer;
	char id[UUID_TEXT]; /* the conversation of that turn */
};

/* A session that was named but never begun is begun by the first turn that comes to it. */
static int look_back(struct turn *t, struct obstacle *in_way, struct err *reterr)
{
	const struct turn_host_opts *o = &t->host->opts;
	const struct conv *c = &t->out.conv;
	AUTO_TURN_RECORD last = TURN_RECORD_INIT;
	int r = journal_last(o->store, c->id, &last, reterr);

	if (r < 0)
		return r == ERR_NOTFOUND ? 0 : r;
	if (last.state == TURN_INTENT) {
		in_way->unfinished = true;
		return err_set(reterr, ERR_BUSY, "\"%s\" was interrupted", conv_label(c));
	}
	/* Cancelled or ended before the agent had begun it, too. */
	bool begun = last.transcript || last.state == TURN_ANSWERED;
	if (t->resumes && !t->kind->can.own_ids && !begun && agent_keeps_sessions(t->kind)) {
		AUTO_FREE char *path = turn_transcript(t->host, c, c->session);
		t->resumes = path != NULL;
	}
	return 0;
}

static int claim(struct turn *t, struct err *reterr)
{
	const struct turn_host_opts *o = &t->host->opts;
	struct conv *c = &t->job.conv;
	int r;

	conv_release(c);
	if (t->again[0]) {
		r = conv_take(o->store, t->again, &t->host->self, o->clock, reterr);
		if (r == 0)
			r = conv_get(o->store, t->again, o->clock, c, reterr);
	} else {
		str_clear(&t->job.prompt);
		t->job.again = 0;
		t->job.prompt_id[0] = '\0';
		t->job.lasts = t->job.ebbs = false;
		t->job.first[0] = '\0';
		r = t->opts.claim(t->opts.claim_data, &t->job, reterr);
	}
	if (r == 0 && turn_runs(t->host, c->id))
		r = err_set(reterr, ERR_BUSY, "\"%s\" is in use by another turn of this program",
			conv_label(c));
	return r;
}

static int folder_gone(const struct conv *c, struct err *reterr)
{
	AUTO_STR dir = STR_INIT;
	AUTO_STR id = STR_INIT;

	shell_shown(&dir, c->dir);
	shell_operand(&id, c->session ? c->session : c->id);
	return err_set(reterr, ERR_INPUT,
		"the folder of \"%s\", %s, is gone; go to where it is now and use: faden resume "
		"--here %s",
		conv_label(c), dir.buf, id.buf);
}

/* The text begins with one of the words, which is *ret then. */
static bool begins_with(struct sv said, const char *words, struct sv *ret)
{
	struct sv rest = sv_of(words ? words : "");

	while (sv_split(&rest, ' ', ret))
		if (ret->n > 0 && sv_starts(said, *ret) &&
			(said.n == ret->n || (unsigned char)said.p[ret->n] <= ' '))
			return true;
	return false;
}

/* Some commands of an agent's own would empty the conversation, or leave a summary of it, and
 * nobody could take it back. */
static int refuse_to_forget(const struct turn *t, struct err *reterr)
{
	struct sv said = sv_trim(str_sv(&t->job.prompt)), word;

	if (begins_with(said, t->kind->forgets, &word))
		return err_set(reterr, ERR_INPUT,
			"%s would forget the conversation by \"%.*s\"; 'faden reset' begins "
			"another, "
			"and 'faden reset --undo' takes that back",
			t->kind->name, SV_ARG(word));
	if (begins_with(said, t->kind->summarises, &word))
		return err_set(reterr, ERR_INPUT,
			"the summary that %s makes by \"%.*s\" loses what is not in it; 'faden "
			"trim' "
			"makes room too, and 'faden advise' tells what helps",
			t->kind->name, SV_ARG(word));
	return 0;
}

/*
 * All that is on disk before anything is sent: the conversation taken, the session's id, the
 * intent. With one wait for the disk; and a turn that is refused leaves nothing behind.
 */
static int prepare(struct turn *t, struct obstacle *in_way, struct err *reterr)
{
	const struct turn_host_opts *o = &t->host->opts;
	struct conv *c = &t->out.conv;

	*in_way = (struct obstacle){ .busy = false };
	write_ends(t->host);
	int r = store_begin(o->store, reterr);
	if (r < 0)
		return r;
	r = claim(t, reterr);
	in_way->unfinished = r == ERR_BUSY && t->job.first[0];
	in_way->busy = r == ERR_BUSY && !t->job.lasts && !in_way->unfinished;
	if (in_way->unfinished)
		memcpy(in_way->id, t->job.first, sizeof(in_way->id));
	if (r == 0) {
		*c = t->job.conv;
		memcpy(in_way->id, c->id, sizeof(in_way->id));
		t->job.conv = (struct conv)CONV_INIT;
		t->held = true;
		t->resumes = c->session != NULL;
		t->kind = agent_named(sv_of(c->agent));
		if (!t->kind)
			r = err_set(reterr, ERR_INPUT, "this faden knows no agent '%s'", c->agent);
		else if (!path_exists(c->dir))
			r = folder_gone(c, reterr);
		if (r == 0)
			r = refuse_to_forget(t, reterr);
		if (r == 0)
			r = look_back(t, in_way, reterr);
		if (r == 0 && !t->resumes)
			r = refuse_to_guess(t, reterr);
		if (r == 0)
			turn_agent_refresh(t->host, c->session, t->job.own_rights);
		in_way->leaving = r == 0 && turn_agent_leaving(t->host, c->session);
		if (in_way->leaving)
			r = err_set(reterr, ERR_BUSY, "its last agent is about to end");
		if (r == 0)
			r = refuse_other_writer(t, &in_way->writer, reterr);
		if (r == 0)
			r = write_intent(t, reterr);
	}
	int kept = store_end(o->store, r, reterr);
	if (r >= 0)
		r = kept < 0 ? kept : r;
	if (r == 0)
		t->wait = 0;
	if (r != 0 && c->dir) {
		t->job.conv = *c; /* where it would go */
		*c = (struct conv)CONV_INIT;
	}
	if (r != 0) {
		t->held = false;
		t->step = 0;
	}
	return r;
}

static int run_question(struct turn *t, struct err *reterr)
{
	const struct turn_question *q = t->opts.question;
	const struct turn_host_opts *o = &t->host->opts;
	struct sv kept = utf8_cut(q->prompt, QUESTION_KEPT);
	char session[UUID_TEXT];
	int r = turn_place_make(&t->place, q, reterr);

	if (r < 0)
		return r;
	t->kind = q->kind;
	const struct agent_opts agent =
		turn_question_agent(&t->place, q, &o->agents[agent_index(q->kind)]);
	r = turn_agent_make(t->host, q->kind, &agent, on_event, &t->agent, reterr);
	if (r < 0)
		return r;
	t->phase = PHASE_RUNNING;
	AUTO_TURN_RECORD rec = {
		.parent = t->opts.parent,
		.agent = xstrdup(q->kind->name),
		.prompt = STR_INIT,
	};
	str_add(&rec.prompt, kept);
	r = journal_turn(o->store, &rec, o->clock, &t->step, reterr);
	uuid_new(session);
	return r < 0 ? r : send(t, session, reterr);
}

/* Takes the conversation and explains what a crash left in it, and before that where the very same
 * was said, which can be once for each: the transcript is read between two tries, not while others
 * wait for the store. */
static int take_conversation(struct turn *t, struct obstacle *in_way, struct err *reterr)
{
	enum { TRIES = 4 };
	int r = ERR_BUSY;

	for (int i = 0; i < TRIES; i++) {
		r = prepare(t, in_way, reterr);
		if (!in_way->unfinished)
			return r;
		int settled = turn_settle(t->host, in_way->id, &t->sink, &in_way->writer, reterr);
		if (settled < 0)
			return settled;
		if (in_way->writer.open)
			break;
	}
	if (in_way->writer.open && !in_way->writer.orphan) {
		AUTO_STR who = STR_INIT;
		writer_describe(in_way->writer.agent, in_way->writer.pid, &who);
		return err_set(reterr, ERR_BUSY,
			t->job.first[0] ? "the very same was interrupted in a conversation that is "
					  "open in %s right now; wait until it ends"
					: "the conversation is open in %s right now; wait until it "
					  "ends, or start another one",
			who.buf);
	}
	return r;
}

/* TURN_NONE when there is nothing to run. */
static int run(struct turn *t, struct err *reterr)
{
	struct obstacle in_way = { .busy = false };

	if (!t->told_busy)
		t->busy_since_ms = clock_age_ms(NULL);
	int r = take_conversation(t, &in_way, reterr);
	int64_t patience = t->job.ebbs && t->opts.busy_ms ? EBB_MS : t->opts.busy_ms;
	bool patient = in_way.busy && clock_age_ms(NULL) - t->busy_since_ms < patience;
	if (r < 0 && (patient || in_way.leaving || in_way.writer.orphan || in_way.writer.keeper)) {
		struct err err = ERR_INIT;
		if (turn_note_wait(t, &t->job.conv, str_sv(&t->job.prompt), &err) < 0) {
			*reterr = err;
			return err.code;
		}
	}
	if (patient) {
		turn_after(t, BUSY_STEP_MS, turn_start);
		if (!t->told_busy)
			turn_tell(&t->sink, NEWS_BUSY, reterr->msg, NULL, NULL);
		t->told_busy = true;
		return 0;
	}
	if (in_way.leaving) {
		turn_after(t, LEAVING_STEP_MS, turn_start);
		return 0;
	}
	if (r < 0 && in_way.writer.keeper && turn_wait_for_keeper(t, &in_way.writer))
		return 0;
	if (r < 0 && in_way.writer.pid && in_way.writer.orphan) {
		bool first = t->orphan.pid != in_way.writer.pid;
		t->orphan = in_way.writer;
		t->orphan_idle = !in_way.unfinished;
		memcpy(t->orphan_at, in_way.id, sizeof(t->orphan_at));
		return turn_wait_for_orphan(t, first, reterr);
	}
	if (r == 0) {
		t->beat = loop_add_timer(t->host->opts.loop, TICK_MS, on_beat, t);
		t->beaten_ms = clock_age_ms(NULL);
		if (t->sink.begin)
			t->sink.begin(t->sink.data, &t->out.conv);
		t->out.conv.task = t->job.task;
	}
	if (r == 0 && t->phase == PHASE_WAITING)
		r = find_agent(t, reterr);
	if (r != 0 || t->phase != PHASE_WAITING)
		return r;
	t->phase = PHASE_RUNNING;
	return send(t, t->out.conv.session, reterr);
}

void turn_start(void *data)
{
	struct turn *t = data;
	struct err err = ERR_INIT;

	t->timer = NULL;
	int r = t->opts.question ? run_question(t, &err) : run(t, &err);
	if (r < 0)
		t->out.err = err;
	if (r != 0)
		turn_end_soon(t);
}

struct turn *turn_begin(
	struct turn_host *host, const struct turn_opts *opts, const struct turn_sink *sink)
{
	struct turn *t = xcalloc(1, sizeof(*t));

	t->host = host;
	t->opts = *opts;
	t->sink = *sink;
	t->job.prompt = (struct str)STR_INIT;
	outcome_init(&t->out);
	vec_push(&host->running, t);
	turn_after(t, 0, turn_start);
	return t;
}

void turn_cancel(struct turn *t)
{
	switch (t->phase) {
	case PHASE_WAITING:
	case PHASE_LOST:
		end_unsent(t);
		break;
	case PHASE_RUNNING:
		agent_cancel(t->agent->agent);
		break;
	case PHASE_LIMITED:
		/* What the agent said stands: its limit is reached. */
		t->opts.go_on = NULL;
		turn_after(t, 0, end);
		break;
	case PHASE_ENDING:
		break;
	}
}

void turn_abandon(struct turn *t)
{
	t->abandoned = true;
	turn_cancel(t);
}

void turn_answer(struct turn *t, const char *ask, enum agent_answer answer)
{
	if (t->phase == PHASE_RUNNING && t->agent)
		agent_answer(t->agent->agent, ask, answer);
}

void turn_drop_ends(struct turn_host *host)
{
	write_ends(host);
	vec_each (&host->unwritten, t) {
		log_write(host->opts.log, LOG_WARN, "the end of a turn is not written down");
		release(*t);
	}
	vec_release(&host->unwritten);
}

void turn_free(struct turn *t)
{
	if (!t)
		return;
	loop_remove(t->host->opts.loop, t->timer);
	loop_remove(t->host->opts.loop, t->beat);
	if (t->agent && t->phase != PHASE_ENDING) {
		turn_agent_drop(TAKE_PTR(t->agent));
		t->out.fail = AGENT_CANCELLED;
	}
	bool written = write_end(t, NULL) == 0;
	leave(t);
	vec_each (&t->host->running, other)
		if (*other == t) {
			*other = t->host->running.v[--t->host->running.n];
			break;
		}
	if (written)
		release(t);
	else
		vec_push(&t->host->unwritten, t);
}
