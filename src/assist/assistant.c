#include "assist/assistant.h"

#include <assert.h>
#include <signal.h>
#include <stdlib.h>

#include "assist/candidates.h"
#include "assist/correct.h"
#include "assist/learn.h"
#include "assist/record.h"
#include "assist/redirect.h"
#include "base/mem.h"
#include "os/path.h"
#include "store/said.h"
#include "store/topic.h"

enum { BUSY_PATIENCE_MS = 30000 }; /* a turn may be about to end; more is for the user to decide */

struct assistant {
	struct assistant_opts opts;
	struct turn_host *host;
	struct turn *turn; /* of the last sentence; NULL before the first */
	struct request req;
	bool began; /* the front end knows of its turn */
	assistant_done_fn done; /* NULL: nothing runs */
	void *done_data;
	struct decision decision;
	struct judge *judge; /* while it is asked */
	struct judgement judged;
	struct turn_outcome unsent; /* of a sentence that was cancelled meanwhile */
	enum text_language language; /* of what is said */
	struct assistant_outcome out;
	struct talk_place talk;
	VEC(int64_t) lost; /* turns in the journal that are known not to have arrived */
	/* … that have arrived, or may have, as was just told; also those whose explanation is
	 * waited for. */
	VEC(int64_t) reached;
};

int assistant_new(const struct assistant_opts *opts, struct assistant **ret, struct err *reterr)
{
	struct assistant *as = xcalloc(1, sizeof(*as));
	int r = turn_host_new(&opts->turns, &as->host, reterr);

	if (r < 0) {
		free(as);
		return r;
	}
	as->opts = *opts;
	as->opts.decide.talk = &as->talk;
	decision_init(&as->decision);
	as->unsent = (struct turn_outcome){
		.fail = AGENT_CANCELLED,
		.message = "cancelled",
		.deeds = STR_INIT,
		.begun = STR_INIT,
		.conv = CONV_INIT,
		.answer = STR_INIT,
		.usage = AGENT_USAGE_NONE,
	};
	*ret = as;
	return 0;
}

void assistant_free(struct assistant *as)
{
	if (!as)
		return;
	judge_free(as->judge);
	turn_free(as->turn);
	turn_host_free(as->host);
	decision_release(&as->decision);
	free(as->judged.place);
	free(as->talk.place);
	vec_release(&as->lost);
	vec_release(&as->reached);
	free(as);
}

/* ---- what is told ---- */

static void tell(const struct assistant *as, const char *line)
{
	if (as->opts.ui.notice && *line)
		as->opts.ui.notice(as->opts.ui.data, line);
}

static void tell_text(const struct assistant *as, enum text_id id, struct text_words words)
{
	AUTO_STR line = STR_INIT;

	text_fill(&line, id, as->language, words);
	tell(as, line.buf);
}

static void on_news(void *data, enum turn_news what, const char *const words[3], int64_t turn)
{
	static const enum text_id texts[] = {
		[NEWS_GONE] = TEXT_GONE,
		[NEWS_LIMIT] = TEXT_LIMIT,
		[NEWS_CALLS_FAILED] = TEXT_CALLS_FAILED,
		[NEWS_STILL_AT_IT] = TEXT_STILL_AT_IT,
		[NEWS_WAITS_FOR_IT] = TEXT_WAITS_FOR_IT,
		[NEWS_ENDS_IT] = TEXT_ENDS_IT,
		[NEWS_ANSWERED] = TEXT_ANSWERED,
		[NEWS_UNANSWERED] = TEXT_UNANSWERED,
		[NEWS_NOT_SENT] = TEXT_NOT_SENT,
		[NEWS_UNKNOWN_SESSION] = TEXT_UNKNOWN_SESSION,
		[NEWS_UNKNOWN_NO_RECORD] = TEXT_UNKNOWN_NO_RECORD,
		[NEWS_UNKNOWN_GONE] = TEXT_UNKNOWN_GONE,
		[NEWS_UNKNOWN_IN_HAND] = TEXT_UNKNOWN_IN_HAND,
		[NEWS_UNKNOWN_WORDS] = TEXT_UNKNOWN_WORDS,
		[NEWS_UNKNOWN_COMMAND] = TEXT_UNKNOWN_COMMAND,
	};
	struct assistant *as = data;
	AUTO_STR line = STR_INIT;

	if (what == NEWS_ANSWERED) {
		text_fill(&line, TEXT_ENDED_ALONE, as->language, TEXT_WORDS(words[2]));
		tell(as, line.buf);
		str_clear(&line);
	}
	if (what == NEWS_WAITS_FOR_IT && as->opts.ui.waits_for)
		as->opts.ui.waits_for(as->opts.ui.data, words[0], words[1]);
	if (what == NEWS_NOT_SENT || what == NEWS_NOT_BEGUN)
		vec_push(&as->lost, turn);
	else if (what == NEWS_ANSWERED || what == NEWS_UNANSWERED || what >= NEWS_UNKNOWN_SESSION)
		vec_push(&as->reached, turn);
	AUTO_STR where = STR_INIT;
	if (what == NEWS_NOT_BEGUN && words[1][0])
		str_addf(&where, " --in %s", words[1]);
	if (what == NEWS_NOT_BEGUN)
		text_fill(&line, TEXT_NOT_BEGUN, as->language, TEXT_WORDS(words[0], where.buf));
	else if (what == NEWS_BUSY)
		str_addf(&line, "%s. Waiting.", words[0]);
	else if (what == NEWS_NOT_KEPT)
		str_adds(&line, words[0]);
	else if (what == NEWS_NO_COSTS)
		str_addf(&line, "ai.max_budget_usd has no effect here: %s does not tell its costs.",
			words[0]);
	else
		text_fill(
			&line, texts[what], as->language, TEXT_WORDS(words[0], words[1], words[2]));
	tell(as, line.buf);
}

static void on_begin(void *data, const struct conv *c)
{
	struct assistant *as = data;
	const struct decision *d = &as->decision;
	const struct agent_def *kind = agent_named(sv_of(c->agent));
	bool again = as->began; /* after a limit: all that is known */

	as->began = true;
	/* What else was interrupted in this folder would never be mentioned: this turn leaves it.
	 */
	if (!again) {
		as->reached.n = 0; /* who goes on has seen it */
		const struct turn_sink sink = { .data = as, .news = on_news };
		struct err err = ERR_INIT;
		if (turn_recover(as->host, as->opts.decide.dir, c->id, TURN_RUNNING_ONCE, &sink,
			    &err) < 0)
			log_write(as->opts.turns.log, LOG_WARN, "after a crash: %s", err.msg);
		tell(as, d->notice.buf);
		as->talk.rights_told |= d->own_rights;
	}
	if (as->opts.ui.begin)
		as->opts.ui.begin(as->opts.ui.data, c);
	if (!again && d->task == CONV_PLAN)
		tell_text(as,
			!kind || !kind->can.plan	   ? TEXT_CANNOT_PLAN
				: kind->can.plan_but_rules ? TEXT_PLANNING_BUT_RULES
							   : TEXT_PLANNING,
			TEXT_WORDS(kind ? kind->title : c->agent));
	else if (!again && c->task == CONV_PLAN && c->turns > 0)
		tell_text(as, TEXT_PLAN_TO_DOING, TEXT_WORDS(NULL));
}

static void on_waiting(void *data, int64_t seconds_left)
{
	const struct assistant *as = data;

	if (as->opts.ui.waiting)
		as->opts.ui.waiting(as->opts.ui.data, seconds_left);
}

/* ---- where the talk is ---- */

static void set_talk(struct assistant *as, char *place, const char *folder, bool apart)
{
	struct talk_place *t = &as->talk;
	bool same = t->place && strcmp(t->place, place) == 0;

	free(t->place);
	*t = (struct talk_place){ .place = place,
		.apart = apart,
		.named = same && t->named,
		.rights_told = same && t->rights_told };
	(void)snprintf(t->folder, sizeof(t->folder), "%s", folder);
}

void assistant_stay(struct assistant *as, const struct conv *c)
{
	const struct decide_opts *o = &as->opts.decide;
	AUTO_CONV current = CONV_INIT;

	(void)!conv_current(o->store, o->dir, o->clock, &current, NULL);
	set_talk(as, place_of(c), current.id, false);
}

void assistant_enter(struct assistant *as, const struct conv *c)
{
	assistant_stay(as, c);
	as->talk.named = true;
}

int assistant_lead(struct assistant *as, struct err *reterr)
{
	const struct decide_opts *o = &as->opts.decide;
	struct talk_place *t = &as->talk;

	/* A session of an agent's own goes on there by itself until a turn goes to it. */
	if (!t->place || !uuid_valid(sv_of(t->place)))
		return 0;
	int r = conv_set_current(o->store, o->dir, t->place, o->clock, reterr);
	if (r == 0) {
		(void)snprintf(t->folder, sizeof(t->folder), "%s", t->place);
		t->apart = false;
	}
	return r;
}

void assistant_follow(struct assistant *as)
{
	const struct decide_opts *o = &as->opts.decide;
	AUTO_CONV current = CONV_INIT;

	(void)!conv_current(o->store, o->dir, o->clock, &current, NULL);
	if (strcmp(current.id, as->talk.folder) != 0)
		assistant_stay(as, &current);
}

int assistant_reset(struct assistant *as, struct err *reterr)
{
	static const struct conv fresh = CONV_INIT;
	const struct decide_opts *o = &as->opts.decide;
	int r = store_begin(o->store, reterr);

	if (r < 0)
		return r;
	r = assistant_lead(as, reterr);
	if (r == 0)
		r = conv_reset(o->store, o->dir, o->clock, reterr);
	r = store_end(o->store, r, reterr);
	if (r == 0)
		assistant_stay(as, &fresh);
	return r;
}

/* ---- acting on the decision ---- */

static int obey(struct assistant *as, struct decision *d, struct err *reterr)
{
	static const enum text_id replies[] = {
		[UTTERANCE_CANCEL] = TEXT_CANCELLED_NOTHING,
		[UTTERANCE_RESET] = TEXT_RESET,
		[UTTERANCE_RESTART] = TEXT_RESTART,
	};
	const struct decide_opts *o = &as->opts.decide;
	int r = 0;

	if (d->heard == UTTERANCE_IGNORED)
		return 0;
	if (d->heard == UTTERANCE_UNDO) {
		r = decide_undo(o, &d->conv, reterr);
		if (r >= 0) {
			text_undone(&d->reply, d->language, &d->conv, r > 0);
			assistant_stay(as, &d->conv);
		} else if (r == ERR_NOTFOUND) {
			str_adds(&d->reply, text_get(TEXT_NOTHING_TO_UNDO, d->language));
		}
		return r < 0 && r != ERR_NOTFOUND ? r : 0;
	}
	if (d->heard == UTTERANCE_RESET)
		r = assistant_reset(as, reterr);
	if (r >= 0)
		str_adds(&d->reply, text_get(replies[d->heard], d->language));
	return r;
}

static int create(struct assistant *as, struct conv *ret, struct err *reterr)
{
	const struct decide_opts *o = &as->opts.decide;
	const struct conv *heir_of = &as->decision.heir_of;
	const struct conv_new what = {
		.dir = o->dir,
		.project = o->project,
		.agent = as->opts.kind->name,
	};
	int r = conv_create(o->store, &what, turn_host_self(as->host), o->clock, ret, reterr);

	/* The folder may be moved before anybody reads the session that is made now. */
	if (r == 0)
		r = project_note(o->store, o->dir, reterr);
	/* About what failed, when the sentence leans on that. */
	return r < 0 || !heir_of->id[0] ? r : learn_heir(o->store, o->router, ret, heir_of, reterr);
}

/* Unless another process was quicker. */
static int claim_again(const struct assistant *as, struct turn_job *job, struct err *reterr)
{
	const struct turn_record *again = as->req.again;

	if (journal_was_sent_again(as->opts.decide.store, again->id))
		return err_set(reterr, ERR_NOTFOUND, "it was sent again meanwhile");
	job->again = again->id;
	(void)snprintf(job->prompt_id, sizeof(job->prompt_id), "%s",
		again->prompt_id ? again->prompt_id : "");
	return 0;
}

/* The very same as what did not arrive is that, sent again: it is done once, and nobody offers it
 * any more. In another conversation the same words mean something else. */
static void claim_retyped(const struct assistant *as, struct turn_job *job)
{
	const struct decide_opts *o = &as->opts.decide;
	const struct conv *c = &as->decision.conv;
	/* A new one may be for what had one before. */
	const char *in = c->id[0] || is_member(c) ? c->id : NULL;
	AUTO_TURN_RECORD lost = TURN_RECORD_INIT;

	if (journal_lost(
		    o->store, in, c->dir ? c->dir : o->dir, str_sv(&job->prompt), &lost, NULL) < 0)
		return;
	job->again = lost.id;
	(void)snprintf(
		job->prompt_id, sizeof(job->prompt_id), "%s", lost.prompt_id ? lost.prompt_id : "");
}

/* Whether a turn of this folder that was interrupted is what is said now. Where it would go now
 * tells nothing, unless the user has named that: there the same words mean something else. */
static bool is_repeated(const struct assistant *as, const struct turn_record *t)
{
	const struct decision *d = &as->decision;
	const struct conv *c = &d->conv;
	bool stays = d->by == BY_FOLDER && as->talk.place && as->talk.place[0];
	bool named = (as->req.mode == REQUEST_IN || d->by == BY_PIN || stays) &&
		(c->id[0] || is_member(c));

	return (!named || strcmp(c->id, t->conversation) == 0) &&
		sv_eq(sv_trim(str_sv(&t->prompt)), sv_trim(str_sv(&d->prompt)));
}

struct unexplained {
	struct assistant *as;
	char *ret; /* a conversation */
};

static int take_unexplained(void *data, const struct conv *c)
{
	const struct unexplained *u = data;
	AUTO_TURN_RECORD t = TURN_RECORD_INIT;
	bool left = !c->owner.pid || proc_id_check(&c->owner) == PROC_GONE;

	if (!left || u->ret[0] || journal_last(u->as->opts.decide.store, c->id, &t, NULL) < 0 ||
		!is_repeated(u->as, &t))
		return 0;
	memcpy(u->ret, c->id, sizeof(c->id));
	/* Another process may be the one that finds out. */
	vec_push(&u->as->reached, t.id);
	return 0;
}

/* Who says the very same once more may not have seen yet what became of it: it is not done twice by
 * mistake, wherever it would go. While an agent is still at it nobody knows that. Said once more
 * after it is known it is meant so. */
static int refuse_repeated(struct assistant *as, struct turn_job *job, struct err *reterr)
{
	const struct decide_opts *o = &as->opts.decide;
	struct unexplained u = { .as = as, .ret = job->first };
	bool same = false;
	int r = conv_unfinished(o->store, o->dir, o->clock, take_unexplained, &u, reterr);

	if (r < 0)
		return r;
	if (job->first[0])
		return err_set(reterr, ERR_BUSY,
			"what became of the very same, which was interrupted here, is not known");
	vec_each (&as->reached, turn) {
		AUTO_TURN_RECORD t = TURN_RECORD_INIT;
		same |= journal_get(o->store, *turn, &t, NULL) == 0 && t.state != TURN_LOST &&
			is_repeated(as, &t);
	}
	if (!same)
		return 0;
	as->reached.n = 0;
	return err_set(reterr, ERR_INPUT, "%s", text_get(TEXT_REPEATED, as->language));
}

/* What was refused is what a correction is about, not the sentence before it. */
static int note_refused(struct assistant *as, struct err *reterr)
{
	const struct decide_opts *o = &as->opts.decide;
	struct decision *d = &as->decision;
	AUTO_FREE char *place = place_of(&d->conv);
	bool whole = d->prompt.len <= ROUTE_TEXT_MAX; /* there is nowhere else to read it */

	return decision_note(
		o, d, place, NOTE_REFUSED | (o->routes && whole ? 0 : NOTE_ACTED), reterr);
}

/* It is open in its agent. */
static int refuse_open(struct assistant *as, struct turn_job *job, struct err *reterr)
{
	const struct decide_opts *o = &as->opts.decide;
	const struct conv *c = &as->decision.conv;
	AUTO_STR who = STR_INIT;

	writer_describe(c->agent, c->owner.pid, &who);
	conv_copy(&job->conv, c);
	job->lasts = candidate_attended(o, c);
	job->ebbs = writer_is_server(c->owner.pid);
	return err_set(reterr, ERR_BUSY, "\"%s\" is open in %s right now%s%s", conv_label(c),
		who.buf, job->lasts ? "; end it there, or begin another conversation with " : "",
		!job->lasts	    ? ""
			: o->greets ? "/new"
				    : "--new");
}

/* One that there is becomes ours for a turn. */
static int take_conversation(struct assistant *as, struct turn_job *job, struct err *reterr)
{
	const struct decide_opts *o = &as->opts.decide;
	struct decision *d = &as->decision;
	const struct conv *c = &d->conv;
	const char *back = NULL;
	bool lost = resolve_lost(o->where, c, &back);

	if (lost && back)
		return err_set(reterr, ERR_NOTFOUND,
			"%s no longer has \"%s\", but the archive does. Get it back: %s %s; or "
			"begin another one: faden ask --new",
			c->agent, conv_label(c), back, c->session);
	/* That it begins anew is told instead. */
	if (lost)
		str_clear(&d->notice);
	int r = d->waits ? conv_busy(c, reterr)
			 : conv_take(o->store, c->id, turn_host_self(as->host), o->clock, reterr);
	if (r == ERR_BUSY)
		conv_copy(&job->conv, c);
	if (r < 0)
		err_prefix(reterr, "\"%s\"", conv_label(c));
	/* What another terminal made of the folder stays, and so does the talk when something that
	 * was lost elsewhere is sent again. */
	else if (!d->apart && !(as->req.again && as->talk.place))
		r = conv_set_current(o->store, o->dir, c->id, o->clock, reterr);
	if (r == 0)
		conv_copy(&job->conv, c);
	/* A work tree that was removed, say: its work goes on where the others' does. */
	if (r == 0 && !path_exists(c->dir) && member_bring(o->kin, o->project, &job->conv))
		r = conv_move(o->store, c->id, job->conv.dir, job->conv.project, reterr);
	return r;
}

/* In one transaction with the decision. */
static int claim(void *data, struct turn_job *job, struct err *reterr)
{
	struct assistant *as = data;
	const struct decide_opts *o = &as->opts.decide;
	struct decision *d = &as->decision;
	const struct conv *c = &d->conv;

	decision_release(d);
	decision_init(d);
	int r = decide(o, &as->req, d, reterr);
	if (r == 0 && d->what == DECIDED_COMMAND)
		r = obey(as, d, reterr);
	if (r < 0)
		return r;
	if ((d->by == BY_ROUTER || d->by == BY_JUDGE) && !d->waits)
		/* Not the reason: it quotes what was said. */
		log_write(as->opts.turns.log, LOG_INFO, "route: %s %.4f by %s",
			c->id[0] ? c->id : "new", d->confidence, decision_by_name(d->by));
	/* A session of an agent's own becomes a conversation with the turn that goes there. */
	if (is_member(c) && !d->waits && (d->what == DECIDED_TURN || d->what == DECIDED_SWITCH)) {
		r = member_adopt(o->store, &d->conv, o->clock, reterr);
		if (r == 0)
			r = learn_adopted(o->store, o->router, c, reterr);
	}
	if (r == 0 && d->wrong[0] && uuid_valid(sv_of(d->wrong))) {
		const struct correction fix = {
			.text = d->misplaced.buf,
			.wrong = d->wrong,
			.right = c->id[0] ? d->conv.id : NULL,
		};
		r = correction_add(o->store, &fix, clock_wall_ms(o->clock), reterr);
	}
	if (r == 0 && d->what == DECIDED_SWITCH) {
		r = c->id[0] ? conv_set_current(o->store, o->dir, c->id, o->clock, reterr)
			     : conv_reset(o->store, o->dir, o->clock, reterr);
		if (r == 0)
			r = conv_pin(o->store, o->dir, reterr);
		if (r == 0)
			r = decision_note(o, d, c->id, NOTE_ACTED, reterr);
	}
	if (r == 0 && d->what == DECIDED_REPLY && d->by != BY_CORRECTION)
		r = note_refused(as, reterr);
	if (r < 0 || d->what != DECIDED_TURN)
		return r < 0 ? r : TURN_NONE;
	str_add(&job->prompt, str_sv(&d->prompt));
	job->task = d->task;
	job->own_rights = d->own_rights;
	job->leans = as->req.mode != REQUEST_NEW && route_only_goes_on(str_sv(&d->prompt));
	r = as->req.again ? claim_again(as, job, reterr) : refuse_repeated(as, job, reterr);
	if (r < 0)
		return r;
	if (!as->req.again)
		claim_retyped(as, job);
	/* Which waits as what it is: nothing is noted a second time. */
	if (is_member(c) || d->held)
		return refuse_open(as, job, reterr);
	r = c->id[0] ? take_conversation(as, job, reterr) : create(as, &job->conv, reterr);
	/* It is told now, so this is what a correction is of, however long the turn runs. What the
	 * agent does meanwhile nobody knows yet. */
	if (r == 0 && o->router)
		r = decision_note(o, d, job->conv.id, NOTE_SAID | NOTE_ACTED | NOTE_DONE, reterr);
	return r;
}

/* ---- the end ---- */

/* What is kept of a turn for later decisions must not cost the turn's own end: it comes after. */
static void learn(struct assistant *as, const struct turn_outcome *out)
{
	const struct decide_opts *o = &as->opts.decide;
	struct decision *d = &as->decision;
	bool said = out->delivery != AGENT_NOT_DELIVERED;
	bool asked = sv_ends(sv_trim(str_sv(&out->answer)), SV("?"));
	struct err err = ERR_INIT;

	/* What was undone was not noted either. */
	if (!as->began)
		d->noted = 0;
	bool refused = !out->conv.id[0] && !out->sent && d->what == DECIDED_TURN && !as->req.again;
	if (!o->router || (!out->conv.id[0] && !refused))
		return;
	int r = store_begin(o->store, &err);
	if (r == 0 && refused) {
		r = note_refused(as, &err);
		r = store_end(o->store, r, &err);
	} else if (r == 0) {
		/* What is said in a talk was said where it should be: a correction may lead
		 * elsewhere, but says nothing again, least of all what came before the talk. */
		r = decision_note(o, d, out->conv.id,
			(said ? NOTE_SAID : 0) | (out->acted || !o->routes ? NOTE_ACTED : 0) |
				(out->acted ? NOTE_DONE : 0) | (asked ? NOTE_ASKED : 0),
			&err);
		if (r == 0 && out->err.code == 0 && said)
			r = learn_turn(o->store, o->router, &out->conv, str_sv(&d->prompt),
				str_sv(&out->answer), &err);
		r = store_end(o->store, r, &err);
	}
	if (r < 0)
		log_write(as->opts.turns.log, LOG_WARN, "the router learns nothing: %s", err.msg);
}

static void on_done(void *data, const struct turn_outcome *out)
{
	struct assistant *as = data;
	const struct decision *d = &as->decision;
	assistant_done_fn done = as->done;

	as->out = (struct assistant_outcome){
		.err = out->err,
		.kind = d->heard,
		.reply = out->err.code < 0 ? "" : d->reply.buf,
		.language = as->language,
		.by = d->by,
		.judged = &as->judged,
		.unplaced = d->what == DECIDED_REPLY && d->reply.len > 0,
		.turn = out,
	};
	learn(as, out);
	/* Whoever has begun to talk is in this conversation, whatever goes on elsewhere. */
	if (out->conv.id[0] && !as->req.again) {
		as->opts.decide.newest = false;
		set_talk(as, xstrdup(out->conv.id), d->apart ? d->folder : out->conv.id, d->apart);
	}
	as->done = NULL;
	done(as->done_data, &as->out);
}

static struct turn_sink sink_of(struct assistant *as)
{
	return (struct turn_sink){
		.data = as,
		.begin = on_begin,
		.news = on_news,
		.waiting = on_waiting,
		.done = on_done,
		.event = as->opts.ui.event,
		.event_data = as->opts.ui.data,
	};
}

/* ---- the beginning ---- */

static void begin_turn(struct assistant *as)
{
	const struct turn_opts opts = {
		.claim = claim,
		.claim_data = as,
		.busy_ms = as->opts.decide.routes || as->opts.waits ? BUSY_PATIENCE_MS : 0,
		.go_on = as->opts.wait_on_limit ? text_get(TEXT_GO_ON, as->language) : NULL,
	};
	const struct turn_sink sink = sink_of(as);

	as->turn = turn_begin(as->host, &opts, &sink);
}

static void on_judged(void *data, const struct judgement *j)
{
	struct assistant *as = data;
	AUTO_STR line = STR_INIT;

	as->judged = *j;
	as->judged.place = j->place ? xstrdup(j->place) : NULL;
	judge_free(TAKE_PTR(as->judge));
	if (as->judged.end == JUDGE_CANCELLED) {
		on_done(as, &as->unsent);
		return;
	}
	judge_tell(&as->judged, as->language, &line);
	tell(as, line.buf);
	begin_turn(as);
}

/* Whether somebody is asked first. What is decided then may be something else than it looks now;
 * but what takes time to find out for it is found out here, while nobody waits for the store. */
static bool put_to_judge(struct assistant *as)
{
	const struct decide_opts *o = &as->opts.decide;
	struct decision d;
	struct err err = ERR_INIT;

	if (!o->routes || as->req.mode != REQUEST_GO_ON ||
		(!as->opts.judge.kind && !router_opts(o->router)->meaning))
		return false;
	decision_init(&d);
	int r = decide(o, &as->req, &d, &err);
	if (r == 0 && judge_wanted(&as->opts.judge, &d))
		r = judge_begin(as->host, &as->opts.judge, o, as->req.text, &d, on_judged, as,
			&as->judge, &err);
	if (r < 0)
		log_write(as->opts.turns.log, LOG_WARN, "nobody is asked: %s", err.msg);
	decision_release(&d);
	return as->judge != NULL;
}

void assistant_say(
	struct assistant *as, const struct request *req, assistant_done_fn done, void *data)
{
	struct err err = ERR_INIT;

	as->language = decide_language(&as->opts.decide, req->text);
	/* What another one is told while this one waits is not what this one is about. */
	(void)!said_newest(as->opts.decide.store, &as->opts.decide.until, NULL);
	/* What is not known of the agents' own sessions does not keep anybody from talking. */
	if (decide_refresh(&as->opts.decide, req->text, &err) < 0)
		log_write(as->opts.turns.log, LOG_WARN, "sessions: %s", err.msg);
	assert(!as->done);
	as->done = done;
	as->done_data = data;
	as->req = *req;
	as->began = false;
	decision_release(&as->decision);
	decision_init(&as->decision);
	free(as->judged.place);
	as->judged = (struct judgement){ .end = JUDGE_UNASKED };
	as->opts.decide.judged = &as->judged;
	turn_free(TAKE_PTR(as->turn));
	if (!put_to_judge(as))
		begin_turn(as);
}

void assistant_cancel(struct assistant *as)
{
	if (as && as->judge)
		judge_cancel(as->judge);
	else if (as && as->done)
		turn_cancel(as->turn);
}

void assistant_stop(struct assistant *as, int signo)
{
	if (signo == SIGHUP && as && as->done && !as->judge)
		turn_abandon(as->turn);
	else
		assistant_cancel(as);
}

bool assistant_plans(const struct assistant *as)
{
	return as->decision.task == CONV_PLAN;
}

void assistant_answer(struct assistant *as, const char *ask, enum agent_answer answer)
{
	if (as->done && !as->judge)
		turn_answer(as->turn, ask, answer);
}

void assistant_drop(struct assistant *as)
{
	judge_free(TAKE_PTR(as->judge));
	turn_free(TAKE_PTR(as->turn));
	as->done = NULL;
}

int assistant_recover(
	struct assistant *as, enum turn_running running, struct sv next, struct err *reterr)
{
	const struct turn_sink sink = sink_of(as);

	as->language = decide_language(&as->opts.decide, next);
	return turn_recover(as->host, as->opts.decide.dir, NULL, running, &sink, reterr);
}

int assistant_next_lost(struct assistant *as, struct turn_record *ret, struct err *reterr)
{
	struct store *store = as->opts.decide.store;

	while (as->lost.n > 0) {
		int64_t turn = as->lost.v[--as->lost.n];
		AUTO_TURN_RECORD lost = TURN_RECORD_INIT;
		int r = journal_get(store, turn, &lost, reterr);
		if (r == ERR_NOTFOUND ||
			(r == 0 &&
				(lost.state != TURN_LOST || journal_was_sent_again(store, turn) ||
					journal_said_since(store, as->opts.decide.dir, &lost))))
			continue;
		if (r < 0)
			return r;
		*ret = lost;
		lost = (struct turn_record)TURN_RECORD_INIT;
		return 0;
	}
	return err_set(reterr, ERR_NOTFOUND, "nothing was lost");
}
