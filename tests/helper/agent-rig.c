#include "agent-rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/uuid.h"
#include "os/file.h"
#include "os/proc.h"

const char system_prompt[] = "-Answer briefly.\nKeep \"quotes\" and ümläuts.";

struct rig rig;

void rig_sink(void *data, const struct agent_event *ev)
{
	struct rig *r = data;

	assert_false(r->done);
	if (ev->type == AGENT_EV_TEXT)
		str_add(&r->streamed, ev->text);
	if (ev->type == AGENT_EV_BREAK)
		str_adds(&r->streamed, "\n\n");
	if (ev->type == AGENT_EV_TOOL_BEGIN) {
		str_addf(&r->tools, "%.*s: %.*s\n", SV_ARG(ev->tool), SV_ARG(ev->text));
		r->begun++;
	}
	r->ended += ev->type == AGENT_EV_TOOL_END;
	r->retries += ev->type == AGENT_EV_RETRY;
	if (ev->type == AGENT_EV_NOTICE)
		str_addf(&r->notices, "%.*s\n", SV_ARG(ev->text));
	if (ev->type == AGENT_EV_SESSION) {
		r->sessions++;
		(void)snprintf(r->session, sizeof(r->session), "%s", ev->session);
	}
	if (ev->type == AGENT_EV_ASK) {
		str_addf(&r->asks, "%.*s: %.*s\n", SV_ARG(ev->tool), SV_ARG(ev->text));
		if (r->reply != NO_REPLY)
			agent_answer(r->agent, ev->ask->id, (enum agent_answer)r->reply);
	}
	if (ev->type == r->cancel_on && r->cancel_on != AGENT_EV_DONE)
		agent_cancel(r->agent);
	if (ev->type != AGENT_EV_DONE)
		return;
	r->done = true;
	r->fail = ev->result->fail;
	r->delivery = ev->result->delivery;
	r->usage = ev->result->usage;
	r->limit_ends_ms = ev->result->limit_ends_ms;
	r->took_ms = ev->result->duration_ms;
	str_adds(&r->message, ev->result->message);
	str_add(&r->answer, ev->result->text);
	str_add(&r->deeds, ev->result->deeds);
	vec_each (&ev->result->denied->list, denial)
		str_addf(&r->denied, "%s: %s\n", denial->tool, denial->about);
}

int set_up(void **state)
{
	(void)state;
	rig.loop = loop_new();
	rig.cancel_on = AGENT_EV_DONE;
	rig.reply = NO_REPLY;
	rig.prompt_id = NULL;
	rig.opts = (struct agent_opts){
		.program = rig.program,
		.envp = (const char *const *)environ,
		.dir = rig.here,
		.system_prompt = system_prompt,
		.permission = AGENT_PERM_DEFAULT,
	};
	if (is_rehearsal()) {
		rig.opts.home = rig.here;
		rig.opts.script = rig.script;
	}
	uuid_new(rig.session);
	return 0;
}

int tear_down(void **state)
{
	(void)state;
	agent_free(rig.agent);
	rig.agent = NULL;
	loop_free(rig.loop);
	struct str *strings[] = { &rig.message, &rig.answer, &rig.streamed, &rig.tools,
		&rig.notices, &rig.asks, &rig.deeds, &rig.denied };
	for (size_t i = 0; i < ARRAY_LEN(strings); i++)
		str_release(strings[i]);
	return 0;
}

void open_agent(void)
{
	struct err err = ERR_INIT;

	agent_free(rig.agent);
	rig.agent = NULL;
	if (agent_open(rig.kind, &rig.opts, rig.loop, rig_sink, &rig, &rig.agent, &err) < 0)
		fail_msg("open: %s", err.msg);
}

void begin(struct sv prompt, bool resume, bool plan)
{
	struct err err = ERR_INIT;
	bool choose = rig.kind->can.own_ids && !resume;
	struct agent_turn turn = { .prompt = prompt,
		.prompt_id = rig.prompt_id,
		.session = choose ? NULL : rig.session,
		.resume = resume,
		.plan = plan };

	rig.done = false;
	rig.begun = rig.ended = rig.sessions = rig.retries = 0;
	str_clear(&rig.message);
	str_clear(&rig.answer);
	str_clear(&rig.streamed);
	str_clear(&rig.tools);
	str_clear(&rig.notices);
	str_clear(&rig.asks);
	str_clear(&rig.deeds);
	str_clear(&rig.denied);
	if (!rig.agent)
		open_agent();
	if (agent_send(rig.agent, &turn, &err) < 0)
		fail_msg("send: %s", err.msg);
}

void step_until(bool (*fn)(void), int64_t ms)
{
	int64_t deadline = clock_age_ms(NULL) + ms;

	while (!fn()) {
		if (clock_age_ms(NULL) > deadline)
			fail_msg("not within %lld ms", (long long)ms);
		assert_int_equal(loop_step(rig.loop, 20, NULL), 0);
	}
}

bool is_done(void)
{
	return rig.done;
}

bool has_spoken(void)
{
	return rig.streamed.len > 0;
}

void turn(const char *prompt, bool resume)
{
	begin(sv_of(prompt), resume, false);
	step_until(is_done, TURN_WAIT_MS);
}

bool is_rehearsal(void)
{
	return rig.kind->embedded;
}

const char *order(const char *for_model, const char *for_rehearsal)
{
	AUTO_STR text = STR_INIT;

	if (!is_rehearsal())
		return for_model;
	str_addf(&text, "*\n%s\n", for_rehearsal);
	assert_int_equal(file_replace(rig.script, str_sv(&text), 0600, NULL), 0);
	return for_model;
}

static pid_t tool_pid(void)
{
	AUTO_STR text = STR_INIT;
	long long pid = 0;

	if (file_read("tool.pid", 64, &text, NULL) == 0)
		(void)sv_parse_i64(sv_trim(str_sv(&text)), &pid);
	return (pid_t)pid;
}

static bool tool_runs(void)
{
	return tool_pid() > 0;
}

bool tool_gone(void)
{
	return proc_start_time(tool_pid()) == 0;
}

void begin_tool(void)
{
	if (is_rehearsal())
		skip();
	(void)unlink("tool.pid");
	rig.opts.permission = AGENT_PERM_BYPASS;
	begin(SV("[[bash: echo $$ > tool.pid; while true; do sleep 0.5; done]]"), false, false);
	step_until(tool_runs, TURN_WAIT_MS);
	assert_false(rig.done);
}

pid_t agent_pid(void)
{
	pid_t *pids = NULL;
	size_t n = 0;
	char path[64];
	AUTO_STR text = STR_INIT;

	proc_descendants(getpid(), &pids, &n);
	AUTO_FREE void *owned = pids;
	for (size_t i = 0; i < n; i++) {
		(void)snprintf(path, sizeof(path), "/proc/%ld/status", (long)pids[i]);
		AUTO_STR ours = STR_INIT;
		str_addf(&ours, "\nPPid:\t%ld\n", (long)getpid());
		if (file_read(path, 64 * 1024, &text, NULL) == 0 &&
			sv_find(str_sv(&text), str_sv(&ours), NULL))
			return pids[i];
	}
	return 0;
}

void expect_ok(void)
{
	if (rig.fail != AGENT_OK)
		fail_msg("%s: %s", agent_fail_name(rig.fail), rig.message.buf);
	assert_int_equal(rig.delivery, AGENT_DELIVERED);
}

void expect_fail(enum agent_fail fail, enum agent_delivery delivery)
{
	if (rig.fail != fail)
		fail_msg("%s: %s", agent_fail_name(rig.fail), rig.message.buf);
	assert_int_not_equal(rig.message.len, 0);
	assert_int_equal(rig.delivery, delivery);
}

void expect_has(const struct str *text, const char *words)
{
	if (!sv_find(str_sv(text), sv_of(words), NULL))
		fail_msg("no '%s' in: %.2000s", words, text->buf);
}
