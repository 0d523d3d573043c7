/*
 * For tests: a host in a folder of its own, with the agent that is built in, and turns as their
 * owner sees them.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "os/test-temp.h"
#include "store/journal.h"
#include "turn/turn.h"

struct turn_rig {
	char *top;
	char *home;
	char *script;
	struct store *store;
	struct loop *loop;
	struct transcript_home homes[2];
	struct agent_opts agents[AGENTS_MAX];
	struct turn_host *host;
};

/* One turn as its owner sees it. */
struct talk {
	struct turn_rig *rig;
	struct turn *turn;
	const char *prompt;
	const char *agent; /* of a new conversation; NULL: the one that is built in */
	char id[UUID_TEXT]; /* the conversation; empty: a new one */
	const char *go_on; /* a limit is waited out */
	const struct turn_record *again; /* what is sent again */
	bool cancel_on_begin, cancel_on_text, cancel_on_news, cancel_on_waiting;
	bool keep; /* not freed in done */
	int claims, begun, waited;
	int news[NEWS_COUNT];
	char words[3][256]; /* of the last news */
	int dones;
	bool done;
	struct err err;
	enum agent_fail fail;
	char *answer;
	char title[64]; /* of the conversation */
	struct talk *beside; /* runs at the same time */
	bool both_spoke; /* while the other one had begun and was not done */
};

static inline UNUSED void write_script(struct turn_rig *rig, const char *text)
{
	assert_int_equal(file_replace(rig->script, sv_of(text), 0600, NULL), 0);
	rig->agents[agent_index(agent_embedded())].script = rig->script;
}

static inline UNUSED int set_up(void **state)
{
	struct turn_rig *rig = xcalloc(1, sizeof(*rig));

	rig->top = temp_folder();
	rig->home = xasprintf("%s/home", rig->top);
	rig->script = xasprintf("%s/script", rig->top);
	AUTO_FREE char *db = xasprintf("%s/store.db", rig->top);
	assert_int_equal(store_open(db, 0, NULL, &rig->store, NULL), 0);
	rig->loop = loop_new();
	rig->homes[0] = (struct transcript_home){
		.agent = "rehearsal", .format = TRANSCRIPT_CLAUDE, .root = rig->home
	};
	rig->homes[1] = (struct transcript_home){
		.agent = "codex", .format = TRANSCRIPT_CODEX, .root = rig->home
	};
	rig->agents[agent_index(agent_embedded())] = (struct agent_opts){ .home = rig->home };
	const struct turn_host_opts opts = {
		.store = rig->store,
		.loop = rig->loop,
		.agents = rig->agents,
		.homes = rig->homes,
		.n_homes = ARRAY_LEN(rig->homes),
		.keep = 1,
		.orphan_ms = 1000,
	};
	assert_int_equal(turn_host_new(&opts, &rig->host, NULL), 0);
	*state = rig;
	return 0;
}

static inline UNUSED int tear_down(void **state)
{
	struct turn_rig *rig = *state;

	turn_host_free(rig->host);
	loop_free(rig->loop);
	store_close(rig->store);
	temp_remove(rig->top);
	free(rig->home);
	free(rig->script);
	free(rig);
	return 0;
}

/* ---- who hears of it ---- */

static inline UNUSED int claim(void *data, struct turn_job *job, struct err *reterr)
{
	struct talk *talk = data;
	struct turn_rig *rig = talk->rig;
	const struct proc_id *self = turn_host_self(rig->host);
	const struct conv_new what = { .dir = rig->top,
		.agent = talk->agent ? talk->agent : agent_embedded()->name };
	int r;

	talk->claims++;
	str_adds(&job->prompt, talk->prompt);
	if (talk->again) {
		job->again = talk->again->id;
		memcpy(job->prompt_id, talk->again->prompt_id, sizeof(job->prompt_id));
	}
	if (!talk->id[0])
		return conv_create(rig->store, &what, self, NULL, &job->conv, reterr);
	r = conv_get(rig->store, talk->id, NULL, &job->conv, reterr);
	if (r == 0)
		r = conv_take(rig->store, talk->id, self, NULL, reterr);
	return r < 0 ? r : conv_set_current(rig->store, rig->top, talk->id, NULL, reterr);
}

static inline UNUSED void on_begin(void *data, const struct conv *c)
{
	struct talk *talk = data;

	memcpy(talk->id, c->id, sizeof(talk->id));
	talk->begun++;
	if (talk->cancel_on_begin)
		turn_cancel(talk->turn);
}

static inline UNUSED void on_news(
	void *data, enum turn_news what, const char *const words[3], int64_t turn)
{
	struct talk *talk = data;

	assert_int_equal(turn != 0, what >= NEWS_ANSWERED); /* what became of which */
	talk->news[what]++;
	for (size_t i = 0; i < 3; i++)
		(void)snprintf(
			talk->words[i], sizeof(talk->words[i]), "%s", words[i] ? words[i] : "");
	if (talk->cancel_on_news)
		turn_cancel(talk->turn);
}

static inline UNUSED void on_waiting(void *data, int64_t seconds_left)
{
	struct talk *talk = data;

	(void)seconds_left;
	talk->waited++;
	if (talk->cancel_on_waiting)
		turn_cancel(talk->turn);
}

static inline UNUSED void on_event(void *data, const struct agent_event *ev)
{
	struct talk *talk = data;

	if (ev->type != AGENT_EV_TEXT)
		return;
	talk->both_spoke |= talk->beside && talk->beside->begun && !talk->beside->done;
	if (talk->cancel_on_text)
		turn_cancel(talk->turn);
}

static inline UNUSED void on_done(void *data, const struct turn_outcome *out)
{
	struct talk *talk = data;

	talk->dones++;
	talk->done = true;
	talk->err = out->err;
	talk->fail = out->fail;
	talk->answer = xstrdup(out->answer.buf);
	(void)snprintf(talk->title, sizeof(talk->title), "%s", conv_label(&out->conv));
	/* Allowed in here, and the outcome goes with it. */
	if (!talk->keep)
		turn_free(TAKE_PTR(talk->turn));
}

static inline UNUSED void begin(struct talk *talk, struct turn_rig *rig, int64_t busy_ms)
{
	const struct turn_opts opts = {
		.claim = claim, .claim_data = talk, .busy_ms = busy_ms, .go_on = talk->go_on
	};
	const struct turn_sink sink = {
		.data = talk,
		.begin = on_begin,
		.news = on_news,
		.waiting = on_waiting,
		.done = on_done,
		.event = on_event,
		.event_data = talk,
	};

	talk->rig = rig;
	talk->done = false;
	talk->dones = 0;
	talk->turn = turn_begin(rig->host, &opts, &sink);
	assert_false(talk->done);
}

static inline UNUSED void finish(struct talk *talk)
{
	assert_int_equal(loop_run(talk->rig->loop, &talk->done, NULL), 0);
	assert_int_equal(talk->dones, 1);
	free(TAKE_PTR(talk->answer));
}

static inline UNUSED enum turn_state state_of(struct turn_rig *rig, const char *conversation)
{
	AUTO_TURN_RECORD last = TURN_RECORD_INIT;

	assert_int_equal(journal_last(rig->store, conversation, &last, NULL), 0);
	return last.state;
}

static inline UNUSED bool is_free(struct turn_rig *rig, const char *conversation)
{
	AUTO_CONV c = CONV_INIT;

	assert_int_equal(conv_get(rig->store, conversation, NULL, &c, NULL), 0);
	return c.owner.pid == 0;
}

static inline UNUSED void nothing(void *data)
{
	(void)data;
}

static inline UNUSED void run_for(struct turn_rig *rig, int64_t ms)
{
	int64_t until = clock_age_ms(NULL) + ms;

	(void)loop_add_timer(rig->loop, ms, nothing, NULL);
	while (clock_age_ms(NULL) < until)
		assert_int_equal(loop_step(rig->loop, ms, NULL), 0);
}

/* Until the count is no longer 0, however slow the machine is. */
static inline UNUSED void run_until(struct turn_rig *rig, const int *count)
{
	enum { TRIES = 1000 };

	for (int i = 0; i < TRIES && *count == 0; i++)
		run_for(rig, 10);
	assert_int_not_equal(*count, 0);
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)
