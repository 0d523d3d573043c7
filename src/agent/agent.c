#include "agent/agent.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "agent/driver.h"
#include "base/mem.h"
#include "base/utf8.h"

enum { LIMIT_SAID_MAX = 360 }; /* bytes of a message that leave room for when a limit ends */

static const char *const fail_names[] = {
#define X(name, text) [name] = (text),
	AGENT_FAIL_LIST(X)
#undef X
};

const char *agent_fail_name(enum agent_fail fail)
{
	return fail_names[fail];
}

bool agent_fail_parse(struct sv name, enum agent_fail *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(fail_names); i++) {
		if (!sv_is(name, fail_names[i]))
			continue;
		*ret = (enum agent_fail)i;
		return true;
	}
	return false;
}

const struct agent_def *agent_named(struct sv name)
{
	for (size_t i = 0; i < agent_count; i++)
		if (sv_is(name, agent_table[i].name))
			return &agent_table[i];
	return NULL;
}

const struct agent_def *agent_of_format(const struct transcript_format *format)
{
	for (size_t i = 0; format && i < agent_count; i++)
		if (agent_table[i].format == format)
			return &agent_table[i];
	return NULL;
}

const struct agent_def *agent_embedded(void)
{
	size_t i = 0;

	while (i + 1 < agent_count && !agent_table[i].embedded)
		i++;
	return &agent_table[i];
}

bool agent_keeps_sessions(const struct agent_def *def)
{
	return def->format != NULL;
}

bool agent_has_program(const struct agent_def *def)
{
	return def->program != NULL;
}

bool agent_has_hooks(const struct agent_def *def)
{
	return def->hooks_file != NULL;
}

void agents_list(struct str *out, bool (*which)(const struct agent_def *def), const char *last)
{
	const char *held = NULL;
	bool first = true;

	for (size_t i = 0; i < agent_count; i++) {
		if (which && !which(&agent_table[i]))
			continue;
		if (held)
			str_addf(out, "%s%s", first ? "" : ", ", held);
		first = first && !held;
		held = agent_table[i].name;
	}
	if (held)
		str_addf(out, "%s%s", first ? "" : last, held);
}

int agent_open(const struct agent_def *def, const struct agent_opts *opts, struct loop *loop,
	agent_sink_fn sink, void *sink_data, struct agent **ret, struct err *reterr)
{
	struct agent *a = xcalloc(1, sizeof(*a));

	a->def = def;
	a->driver = def->driver;
	a->opts = *opts;
	if (a->opts.stop_ms <= 0)
		a->opts.stop_ms = AGENT_STOP_STEP_MS;
	if (a->opts.step_ms <= 0)
		a->opts.step_ms = a->opts.stop_ms;
	a->loop = loop;
	a->sink = sink;
	a->sink_data = sink_data;
	str_init_max(&a->answer, AGENT_ANSWER_MAX);
	int r = a->driver->open(a, reterr);
	if (r < 0) {
		agent_free(a);
		return r;
	}
	*ret = a;
	return 0;
}

static void drop_timer(struct agent *a, struct loop_source **timer)
{
	loop_remove(a->loop, *timer);
	*timer = NULL;
}

static void drop_timers(struct agent *a)
{
	drop_timer(a, &a->stop_timer);
	drop_timer(a, &a->turn_timer);
	drop_timer(a, &a->idle_timer);
}

static void question_release(const struct agent *a, struct agent_question *q)
{
	free(q->id);
	free(q->call.tool);
	free(q->call.about);
	if (q->own)
		a->driver->forget(q->own);
}

static void forget_asked(struct agent *a)
{
	vec_each (&a->asked, q)
		question_release(a, q);
	a->asked.n = 0;
}

void agent_free(struct agent *a)
{
	if (!a)
		return;
	drop_timers(a);
	a->driver->close(a);
	str_release(&a->answer);
	forget_asked(a);
	vec_release(&a->asked);
	agent_denials_release(&a->denied);
	free(a);
}

bool agent_leave(struct agent *a, void (*gone)(void *data), void *data)
{
	assert(!a->busy);
	a->gone = gone;
	a->gone_data = data;
	return a->driver->leave && a->driver->leave(a);
}

void agent_left(struct agent *a)
{
	if (a->gone)
		a->gone(a->gone_data);
}

static void stop_harder(void *data)
{
	struct agent *a = data;

	a->stop_timer = NULL;
	if (!a->busy || a->stop_level > 2)
		return;
	log_write(a->opts.log, LOG_INFO, "%s: stop, level %d", a->def->name, a->stop_level);
	a->stop_timer = loop_add_timer(a->loop, a->opts.step_ms, stop_harder, a);
	a->driver->stop(a, a->stop_level++);
}

static void stop_for(struct agent *a, enum agent_fail why)
{
	if (!a->busy)
		return;
	if (a->stopped == AGENT_OK)
		a->stopped = why;
	drop_timer(a, &a->stop_timer);
	stop_harder(a);
}

void agent_cancel(struct agent *a)
{
	stop_for(a, AGENT_CANCELLED);
}

static void turn_took_too_long(void *data)
{
	struct agent *a = data;

	a->turn_timer = NULL;
	stop_for(a, AGENT_TIMED_OUT);
}

static void silence_took_too_long(void *data)
{
	struct agent *a = data;

	a->idle_timer = NULL;
	/* A tool may run as long as it likes, and a person may think; the whole turn has its own
	 * limit. */
	if (a->tools_running > 0 || a->asked.n > 0)
		return;
	a->silent = true;
	stop_for(a, AGENT_TIMED_OUT);
}

/* extra_ms: it has said that it will be silent so long. */
static void restart_idle_timer(struct agent *a, int64_t extra_ms)
{
	if (a->opts.idle_ms <= 0)
		return;
	drop_timer(a, &a->idle_timer);
	a->idle_timer =
		loop_add_timer(a->loop, a->opts.idle_ms + extra_ms, silence_took_too_long, a);
}

void agent_alive(struct agent *a, size_t bytes)
{
	if (!a->busy)
		return;
	a->heard += bytes;
	if (a->heard > (uint64_t)AGENT_STREAM_MAX && a->stopped == AGENT_OK)
		stop_for(a, AGENT_FAILED);
	restart_idle_timer(a, 0);
}

int agent_send(struct agent *a, const struct agent_turn *turn, struct err *reterr)
{
	if (a->busy)
		return err_set(reterr, ERR_BUG, "a turn is running already");
	if (sv_trim(turn->prompt).n == 0)
		return err_set(reterr, ERR_INPUT, "the prompt is empty");
	a->busy = true;
	a->stopped = AGENT_OK;
	a->stop_level = 0;
	a->silent = false;
	a->tools_running = 0;
	a->deeds = a->begun = a->behind = (struct deeds){ .kinds = 0 };
	agent_denials_release(&a->denied);
	forget_asked(a);
	a->heard = 0;
	a->started_ms = clock_age_ms(NULL);
	str_clear(&a->answer);
	if (a->opts.timeout_ms > 0)
		a->turn_timer = loop_add_timer(a->loop, a->opts.timeout_ms, turn_took_too_long, a);
	restart_idle_timer(a, 0);
	int r = a->driver->send(a, turn, reterr);
	if (r < 0) {
		a->busy = false;
		drop_timers(a);
	}
	return r;
}

/* ---- events ---- */

static unsigned deeds_find(const struct deeds *d, struct sv tool, char name[DEEDS_NAME_MAX])
{
	AUTO_STR line = STR_INIT;
	unsigned i = 0;

	utf8_scrub_line(&line, utf8_cut(tool, DEEDS_NAME_MAX - 1));
	(void)snprintf(
		name, DEEDS_NAME_MAX, "%.*s", SV_ARG(utf8_cut(str_sv(&line), DEEDS_NAME_MAX - 1)));
	while (i < d->kinds && strcmp(name, d->tool[i].name) != 0)
		i++;
	return i;
}

void deeds_add(struct deeds *d, struct sv tool)
{
	char name[DEEDS_NAME_MAX];
	unsigned i = deeds_find(d, tool, name);

	if (i == DEEDS_MAX) {
		d->others++;
		return;
	}
	if (i == d->kinds) {
		memcpy(d->tool[i].name, name, sizeof(name));
		d->tool[d->kinds++].times = 0;
	}
	d->tool[i].times++;
}

static bool deeds_have(const struct deeds *d, struct sv tool)
{
	char name[DEEDS_NAME_MAX];

	return deeds_find(d, tool, name) < d->kinds;
}

/* Where a call of it is counted; NULL: nowhere. One without a name there may be any. Of several
 * that one is meant which has ended, or which has not run. */
static struct deeds *deeds_with(struct agent *a, struct sv tool, bool ended)
{
	struct deeds *const of[] = { ended ? &a->begun : &a->behind, ended ? &a->behind : &a->begun,
		&a->deeds };

	for (size_t i = 0; i < ARRAY_LEN(of); i++)
		if (deeds_have(of[i], tool))
			return of[i];
	for (size_t i = 0; i < ARRAY_LEN(of); i++)
		if (of[i]->others > 0)
			return of[i];
	return NULL;
}

/* Takes one back that is counted there. */
static void deeds_drop(struct deeds *d, struct sv tool)
{
	char name[DEEDS_NAME_MAX];
	unsigned i = deeds_find(d, tool, name);

	if (i == d->kinds) {
		d->others--;
		return;
	}
	if (--d->tool[i].times > 0)
		return;
	d->kinds--;
	memmove(&d->tool[i], &d->tool[i + 1], (d->kinds - i) * sizeof(d->tool[0]));
}

/* It did not run. */
static void undo_deed(struct agent *a, struct sv tool)
{
	struct deeds *d = deeds_with(a, tool, false);

	if (d)
		deeds_drop(d, tool);
}

/* What only reads may run beside a question; what fails behind one was not let through. One that
 * fails after we stopped the turn was broken off by that. */
static void end_deed(struct agent *a, struct sv tool, bool failed)
{
	struct deeds *d = deeds_with(a, tool, true);

	if (!d || d == &a->deeds || (failed && (d == &a->behind || a->stopped != AGENT_OK)))
		return;
	deeds_drop(d, tool);
	deeds_add(&a->deeds, tool);
}

/* Calls of one answer run one after another: behind the last question they all may run. */
static void let_through(struct agent *a)
{
	if (a->asked.n > 0 || a->stopped != AGENT_OK)
		return;
	for (unsigned i = 0; i < a->behind.kinds; i++)
		for (unsigned n = 0; n < a->behind.tool[i].times; n++)
			deeds_add(&a->begun, sv_of(a->behind.tool[i].name));
	a->begun.others += a->behind.others;
	a->behind = (struct deeds){ .kinds = 0 };
}

void deeds_print(struct str *out, const struct deeds *d)
{
	for (unsigned i = 0; i < d->kinds; i++) {
		str_addf(out, "%s%s", i ? ", " : "", d->tool[i].name);
		if (d->tool[i].times > 1)
			str_addf(out, " ×%u", d->tool[i].times);
	}
	if (d->others)
		str_addf(out, " +%u", d->others);
}

void agent_denials_add(struct agent_denials *d, struct sv tool, struct sv about, bool asked)
{
	AUTO_STR name = STR_INIT;
	AUTO_STR line = STR_INIT;

	if (d->list.n == AGENT_DENIALS_MAX)
		return;
	utf8_scrub_line(&name, tool);
	utf8_scrub_line(&line, about);
	vec_push(&d->list,
		(struct agent_denial){
			.tool = str_detach(&name), .about = str_detach(&line), .asked = asked });
}

void agent_denials_release(struct agent_denials *d)
{
	vec_each (&d->list, denial) {
		free(denial->tool);
		free(denial->about);
	}
	vec_release(&d->list);
}

void agent_denied(struct agent *a, struct sv tool, struct sv about)
{
	undo_deed(a, tool);
	agent_denials_add(&a->denied, tool, about, false);
}

void agent_emit(struct agent *a, const struct agent_event *ev)
{
	switch (ev->type) {
	case AGENT_EV_TEXT:
		str_add(&a->answer, ev->text);
		break;
	case AGENT_EV_BREAK:
		str_adds(&a->answer, "\n\n");
		break;
	case AGENT_EV_TOOL_BEGIN:
		a->tools_running++;
		deeds_add(a->asked.n > 0 ? &a->behind : &a->begun, ev->tool);
		break;
	case AGENT_EV_TOOL_END:
		end_deed(a, ev->tool, ev->failed);
		if (a->tools_running > 0)
			a->tools_running--;
		break;
	case AGENT_EV_ASK:
	case AGENT_EV_ASK_OVER:
	case AGENT_EV_SESSION:
	case AGENT_EV_THINKING:
	case AGENT_EV_RETRY:
	case AGENT_EV_NOTICE:
	case AGENT_EV_DONE:
		break;
	}
	restart_idle_timer(a, ev->type == AGENT_EV_RETRY ? ev->delay_ms : 0);
	a->sink(a->sink_data, ev);
}

/* ---- questions ---- */

const struct agent_question *agent_asked(const struct agent *a, struct sv id)
{
	vec_each (&a->asked, q)
		if (sv_is(id, q->id))
			return q;
	return NULL;
}

/* Takes it out of those that are open; false when it is none. The caller releases it. */
static bool take_question(struct agent *a, struct sv id, struct agent_question *ret)
{
	const struct agent_question *found = agent_asked(a, id);

	if (!found)
		return false;
	*ret = *found;
	a->asked.v[found - a->asked.v] = a->asked.v[a->asked.n - 1];
	a->asked.n--;
	return true;
}

void agent_answer(struct agent *a, const char *ask, enum agent_answer answer)
{
	struct agent_question q;

	if (!take_question(a, sv_of(ask), &q))
		return;
	if (answer != AGENT_DENY)
		deeds_add(&a->begun, sv_of(q.call.tool));
	else if (a->stopped == AGENT_OK)
		agent_denials_add(&a->denied, sv_of(q.call.tool), sv_of(q.call.about), true);
	let_through(a);
	restart_idle_timer(a, 0);
	a->driver->answer(a, &q, answer);
	question_release(a, &q);
}

void agent_ask(struct agent *a, const struct agent_event *ev, void *own)
{
	undo_deed(a, ev->tool);
	vec_push(&a->asked,
		(struct agent_question){ .id = xstrdup(ev->ask->id),
			.call = { .tool = xmemdup0(ev->tool.p, ev->tool.n),
				.about = xmemdup0(ev->text.p, ev->text.n) },
			.own = own });
	/* Nobody is there to decide, or nobody wants to any more. */
	if (!a->opts.ask || a->stopped != AGENT_OK)
		agent_answer(a, ev->ask->id, AGENT_DENY);
	else
		agent_emit(a, ev);
}

void agent_ask_over(struct agent *a, struct sv id)
{
	struct agent_question q;

	if (!take_question(a, id, &q))
		return;
	/* Unless we stop it, somebody else has decided; a denial is told apart. */
	if (a->stopped == AGENT_OK)
		deeds_add(&a->begun, sv_of(q.call.tool));
	let_through(a);
	agent_emit(a,
		&(struct agent_event){
			.type = AGENT_EV_ASK_OVER, .ask = &(struct agent_ask){ .id = q.id } });
	question_release(a, &q);
}

void agent_emit_text(struct agent *a, enum agent_event_type type, struct sv text)
{
	agent_emit(a, &(struct agent_event){ .type = type, .text = text });
}

struct agent_result agent_result_init(void)
{
	return (struct agent_result){ .delivery = AGENT_MAYBE_DELIVERED,
		.usage = AGENT_USAGE_NONE };
}

void agent_result_fail(struct agent_result *result, enum agent_fail fail, const char *fmt, ...)
{
	AUTO_STR text = STR_INIT;
	AUTO_STR line = STR_INIT;
	va_list ap;

	result->fail = fail;
	va_start(ap, fmt);
	str_addvf(&text, fmt, ap);
	va_end(ap);
	utf8_scrub_line(&line, str_sv(&text));
	struct sv cut = utf8_cut(str_sv(&line), sizeof(result->message) - 1);
	(void)snprintf(result->message, sizeof(result->message), "%.*s", SV_ARG(cut));
}

/* However the agent ended: when we stopped it, that is the reason. */
static void explain_stop(const struct agent *a, struct agent_result *result)
{
	if (a->stopped == AGENT_CANCELLED)
		agent_result_fail(result, AGENT_CANCELLED, "cancelled%s%.*s%s%.*s",
			result->deeds.n ? "; what was done stands: " : "", SV_ARG(result->deeds),
			result->begun.n ? "; begun and broken off: " : "", SV_ARG(result->begun));
	else if (a->stopped == AGENT_FAILED)
		agent_result_fail(result, AGENT_FAILED,
			"stopped: more than %lld bytes of output in one turn",
			(long long)AGENT_STREAM_MAX);
	else if (a->stopped == AGENT_TIMED_OUT)
		agent_result_fail(result, AGENT_TIMED_OUT,
			"%s (%s); what it did until then stands, the conversation is kept",
			a->silent ? "silent for too long" : "no end within the time given",
			a->silent ? "ai.idle_timeout" : "ai.timeout");
}

/* When it may be tried again, or what helps to find out. */
static void explain_limit(struct agent_result *result)
{
	char when[CLOCK_TEXT_MAX];
	AUTO_STR text = STR_INIT;

	str_add(&text, utf8_cut(sv_of(result->message), LIMIT_SAID_MAX));
	if (result->limit_ends_ms > 0) {
		clock_format_local(result->limit_ends_ms, when);
		str_addf(&text, " (the limit ends at %s; ai.on_limit: wait waits for that)", when);
	} else {
		str_adds(&text, " (wait until the limit ends)");
	}
	agent_result_fail(result, AGENT_RATE_LIMITED, "%s", text.buf);
}

void agent_finish(struct agent *a, struct agent_result *result)
{
	AUTO_STR deeds = STR_INIT;
	AUTO_STR begun = STR_INIT;

	if (!a->busy)
		return;
	drop_timers(a);
	forget_asked(a);
	result->denied = &a->denied;
	deeds_print(&deeds, &a->deeds);
	result->deeds = str_sv(&deeds);
	deeds_print(&begun, &a->begun);
	result->begun = str_sv(&begun);
	/* A turn that was complete before our stop reached it is complete. */
	if (result->fail != AGENT_OK)
		explain_stop(a, result);
	if (result->fail == AGENT_RATE_LIMITED)
		explain_limit(result);
	result->duration_ms = clock_age_ms(NULL) - a->started_ms;
	if (!result->text.p)
		result->text = str_sv(&a->answer);
	a->busy = false;
	a->sink(a->sink_data, &(struct agent_event){ .type = AGENT_EV_DONE, .result = result });
}
