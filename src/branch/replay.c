#include "branch/replay.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "branch/fork.h"
#include "branch/port.h"
#include "strategy/rewrite.h"

struct replay {
	struct replay_opts opts;
	struct replay_sink sink;
	struct replay_report report;
	struct turn *turn; /* that runs */
	struct turn_opts turn_opts;
	struct turn_sink turn_sink;
	size_t at; /* of the turns */
	struct str prompt; /* of it */
	struct loop_source *next;
	char *begun; /* the session that the child was begun with; NULL: it begins anew */
	struct err err;
};

static bool is_said_again(const struct turn_view *turn, uint64_t from)
{
	return turn->number >= from && !turn->left;
}

uint64_t replay_count(const struct turn_views *turns, uint64_t from)
{
	uint64_t n = 0;

	vec_each (&turns->v, turn)
		n += is_said_again(turn, from);
	return n;
}

bool replay_has_calls(const struct turn_views *turns, uint64_t from)
{
	vec_each (&turns->v, turn)
		if (turn->number < from && turn->calls > 0)
			return true;
	return false;
}

/* ---- one turn ---- */

static int add_prompt(void *data, const struct item *item, struct err *reterr UNUSED)
{
	struct replay *r = data;
	AUTO_STR text = STR_INIT;

	if (!(item->flags & ITEM_PROMPT) || r->prompt.len > 0)
		return 0;
	transcript_text(item, &text);
	transcript_typed(r->opts.parent->info.format, str_sv(&text), &r->prompt);
	return 0;
}

/* A conversation of its own, which goes on beside what goes on in the folder. */
static int claim(void *data, struct turn_job *job, struct err *reterr)
{
	struct replay *r = data;
	const struct replay_opts *o = &r->opts;
	const struct proc_id *self = turn_host_self(o->host);
	const struct conv_new what = {
		.dir = o->dir, .project = o->project, .agent = o->agent, .aside = true
	};
	AUTO_CONV begun = CONV_INIT;
	int status = 0;

	str_add(&job->prompt, str_sv(&r->prompt));
	if (!r->report.conversation[0] && !r->begun)
		return conv_create(o->store, &what, self, o->clock, &job->conv, reterr);
	if (!r->report.conversation[0]) {
		status = conv_adopt(o->store, &what, r->begun, o->clock, &begun, reterr);
		if (status < 0)
			return status;
	}
	const char *id = r->report.conversation[0] ? r->report.conversation : begun.id;
	status = conv_get(o->store, id, o->clock, &job->conv, reterr);
	return status < 0 ? status : conv_take(o->store, id, self, o->clock, reterr);
}

static void end(struct replay *r)
{
	if (r->report.session)
		(void)!transcript_find(
			r->opts.home, sv_of(r->report.session), &r->report.path, NULL);
	r->sink.done(r->sink.data, &r->report, &r->err);
}

static void on_next(void *data);

static void on_begin(void *data, const struct conv *c)
{
	struct replay *r = data;

	memcpy(r->report.conversation, c->id, sizeof(r->report.conversation));
}

static void on_event(void *data, const struct agent_event *ev)
{
	struct replay *r = data;

	if (r->sink.event)
		r->sink.event(r->sink.data, ev);
}

static void add_usage(struct agent_usage *sum, const struct agent_usage *more)
{
	int64_t *to[] = { &sum->input, &sum->cache_read, &sum->cache_write, &sum->output };
	const int64_t from[] = { more->input, more->cache_read, more->cache_write, more->output };

	for (size_t i = 0; i < ARRAY_LEN(to); i++)
		if (from[i] >= 0)
			*to[i] = (*to[i] > 0 ? *to[i] : 0) + from[i];
	if (more->cost_usd >= 0)
		sum->cost_usd = (sum->cost_usd > 0 ? sum->cost_usd : 0) + more->cost_usd;
}

static void on_done(void *data, const struct turn_outcome *out)
{
	struct replay *r = data;

	if (out->conv.session) {
		free(r->report.session);
		r->report.session = xstrdup(out->conv.session);
	}
	r->report.said++;
	r->report.duration_ms += out->duration_ms;
	add_usage(&r->report.usage, &out->usage);
	r->err = out->err;
	r->report.fail = out->fail;
	r->report.cancelled |= out->fail == AGENT_CANCELLED;
	(void)snprintf(r->report.message, sizeof(r->report.message), "%s", out->message);
	r->report.answered += out->err.code >= 0 && out->fail == AGENT_OK;
	r->sink.answered(r->sink.data, out);
	r->next = loop_add_timer(r->opts.loop, 0, on_next, r);
}

static void say_next(struct replay *r)
{
	const struct turn_view *turn = &r->opts.turns->v.v[r->at++];

	str_clear(&r->prompt);
	int status = turn_view_items(r->opts.turns, turn, add_prompt, r, &r->err);
	if (status < 0) {
		end(r);
		return;
	}
	r->sink.turn(r->sink.data, turn, r->report.said + 1, r->report.wanted);
	r->turn = turn_begin(r->opts.host, &r->turn_opts, &r->turn_sink);
}

static void on_next(void *data)
{
	struct replay *r = data;
	const struct turn_views *turns = r->opts.turns;

	r->next = NULL;
	turn_free(TAKE_PTR(r->turn));
	while (r->at < turns->v.n && !is_said_again(&turns->v.v[r->at], r->opts.from))
		r->at++;
	if (r->at == turns->v.n || r->report.cancelled || r->err.code < 0 ||
		r->report.fail != AGENT_OK)
		end(r);
	else
		say_next(r);
}

/* ---- the child's beginning ---- */

static int begin_child(struct replay *r, struct err *reterr)
{
	const struct replay_opts *o = &r->opts;
	int status;

	if (o->from <= 1)
		return 0;
	if (strcmp(o->agent, o->parent->agent) == 0) {
		const struct fork_opts how = {
			.parent = &o->parent->info,
			.home = o->from_home,
			.at = o->from - 1,
			.relation = SESSION_REPLAYED,
			.clock = o->clock,
		};
		CLEANUP(fork_report_release) struct fork_report made = FORK_REPORT_INIT;
		status = fork_session(&how, &made, reterr);
		r->begun = status < 0 ? NULL : xstrdup(made.file.id);
		return status;
	}
	const struct port_opts how = {
		.parent = &o->parent->info,
		.from = o->from_home,
		.to = o->home,
		.at = o->from - 1,
		.relation = SESSION_REPLAYED,
		.dir = o->dir,
		.clock = o->clock,
	};
	CLEANUP(port_report_release) struct port_report made = PORT_REPORT_INIT;
	status = port_session(&how, &made, reterr);
	r->begun = status < 0 ? NULL : xstrdup(made.file.id);
	return status;
}

int replay_begin(const struct replay_opts *opts, const struct replay_sink *sink,
	struct replay **ret, struct err *reterr)
{
	struct replay *r = xcalloc(1, sizeof(*r));

	r->opts = *opts;
	r->sink = *sink;
	r->report.usage = (struct agent_usage)AGENT_USAGE_NONE;
	r->report.wanted = replay_count(opts->turns, opts->from);
	r->turn_opts = (struct turn_opts){ .claim = claim, .claim_data = r };
	r->turn_sink = (struct turn_sink){
		.data = r, .begin = on_begin, .done = on_done, .event = on_event, .event_data = r
	};
	r->prompt = (struct str)STR_INIT;
	int status = begin_child(r, reterr);
	if (status < 0) {
		replay_free(r);
		return status;
	}
	if (r->begun)
		r->report.session = xstrdup(r->begun);
	r->next = loop_add_timer(opts->loop, 0, on_next, r);
	*ret = r;
	return 0;
}

void replay_cancel(struct replay *r)
{
	r->report.cancelled = true;
	if (r->turn)
		turn_cancel(r->turn);
}

void replay_free(struct replay *r)
{
	if (!r)
		return;
	if (r->next)
		loop_remove(r->opts.loop, r->next);
	turn_free(r->turn);
	str_release(&r->prompt);
	free(r->begun);
	free(r->report.session);
	free(r->report.path);
	free(r);
}

/* ---- where it comes from ---- */

static void put_note(void *data, struct jw *w)
{
	branch_note_put(data, w);
}

int replay_note(const struct replay_report *report, const struct session_info *parent,
	const struct transcript_format *format, const struct clock *clock, struct err *reterr)
{
	static const struct rewrite_ops ops = { .note = put_note };
	struct rewrite_result result = REWRITE_RESULT_INIT;
	struct branch_note note = {
		.relation = SESSION_REPLAYED,
		.id = parent->id,
		.path = parent->path,
		.now_ms = clock_wall_ms(clock),
	};
	const struct rewrite_opts how = {
		.path = report->path,
		.format = format,
		.note_key = SESSION_NOTE_KEY,
		.in_place = true,
		.clock = clock,
	};
	int r = rewrite_session(&how, &ops, &note, &result, reterr);

	rewrite_result_release(&result);
	return r;
}
