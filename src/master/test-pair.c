#include "master/pair.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/mem.h"
#include "os/test-temp.h"
#include "store/journal.h"

static const struct clock noon = { .fixed = true, .fixed_ms = 1750000000000 };

struct rig {
	char *top, *root, *home, *script;
	struct store *store;
	struct loop *loop;
	struct transcript_home homes[1];
	struct agent_opts agents[AGENTS_MAX];
	struct master_run *run;
	struct pair *pair;
	/* As it was told. */
	bool done, paused;
	int asked[MASTER_ROLES], goes_on[MASTER_ROLES], found, waited, checked;
	enum master_stop stop;
	char why[ERR_MSG_MAX];
	struct err err;
	struct str shown; /* the instructor's words */
	struct str order; /* i and w: who was sent something */
	size_t denied;
	/* What is done meanwhile. */
	int leave_at; /* at the Nth prompt of the worker, once */
	int leave_i; /* … of the instructor */
	int interrupt_at;
	const char *say;
};

static void on_event(void *data, const struct pair_event *ev)
{
	struct rig *rig = data;

	if (ev->type == PAIR_BEGINS) {
		rig->asked[ev->role]++;
		rig->goes_on[ev->role] += ev->go_on;
		str_addc(&rig->order, ev->role == MASTER_WORKER ? 'w' : 'i');
		if (ev->role == MASTER_INSTRUCTOR && rig->asked[ev->role] == rig->leave_i)
			pair_leave(rig->pair);
		if (ev->role == MASTER_WORKER && rig->asked[ev->role] == rig->leave_at)
			pair_leave(rig->pair);
	}
	if (ev->type == PAIR_AGENT && ev->role == MASTER_WORKER &&
		ev->event->type == AGENT_EV_TEXT &&
		rig->asked[MASTER_WORKER] == rig->interrupt_at) {
		rig->interrupt_at = 0;
		pair_interrupt(rig->pair);
	}
	if (ev->type == PAIR_AGENT && ev->role == MASTER_INSTRUCTOR &&
		ev->event->type == AGENT_EV_TEXT)
		str_add(&rig->shown, ev->event->text);
	rig->found += ev->type == PAIR_ENDS && ev->found;
	rig->denied += ev->type == PAIR_ENDS && ev->role == MASTER_WORKER && ev->denied
		? ev->denied->list.n
		: 0;
	rig->waited += ev->type == PAIR_WAITING;
	rig->checked += ev->type == PAIR_CHECKED;
	if (ev->type == PAIR_PAUSED) {
		rig->paused = true;
		assert_int_equal(pair_say(rig->pair, sv_of(rig->say), NULL), 0);
	}
	if (ev->type == PAIR_STOPPED) {
		rig->done = true;
		rig->stop = ev->stop;
		(void)snprintf(rig->why, sizeof(rig->why), "%.*s", SV_ARG(ev->text));
		rig->err = ev->err ? *ev->err : (struct err)ERR_INIT;
	}
}

static struct master_config config(const struct rig *rig)
{
	struct master_config c = MASTER_CONFIG_INIT;

	c.agent[0] = xstrdup("rehearsal");
	c.agent[1] = xstrdup("rehearsal");
	c.dir = xstrdup(rig->top);
	return c;
}

static int set_up(void **state)
{
	struct rig *rig = xcalloc(1, sizeof(*rig));

	rig->shown = rig->order = (struct str)STR_INIT;
	rig->top = temp_folder();
	rig->root = xasprintf("%s/.claude-master", rig->top);
	rig->home = xasprintf("%s/home", rig->top);
	rig->script = xasprintf("%s/script", rig->top);
	AUTO_FREE char *db = xasprintf("%s/store.db", rig->top);
	assert_int_equal(store_open(db, 0, NULL, &rig->store, NULL), 0);
	rig->loop = loop_new();
	rig->homes[0] = (struct transcript_home){
		.agent = "rehearsal", .format = TRANSCRIPT_CLAUDE, .root = rig->home
	};
	rig->agents[agent_index(agent_embedded())] =
		(struct agent_opts){ .home = rig->home, .clock = &noon };
	*state = rig;
	return 0;
}

static void close_run(struct rig *rig)
{
	pair_free(TAKE_PTR(rig->pair));
	struct master_run *run = TAKE_PTR(rig->run);
	if (run)
		assert_int_equal(master_close(run, NULL), 0);
}

static int tear_down(void **state)
{
	struct rig *rig = *state;

	close_run(rig);
	loop_free(rig->loop);
	store_close(rig->store);
	temp_remove(rig->top);
	str_release(&rig->shown);
	str_release(&rig->order);
	free(rig->root);
	free(rig->home);
	free(rig->script);
	free(rig);
	return 0;
}

static void add(struct rig *rig, enum master_step_kind kind, const char *text, int64_t rounds)
{
	struct master_step step = MASTER_STEP_INIT(kind);

	step.text = sv_of(text);
	step.rounds = rounds;
	assert_int_equal(master_step(rig->run, &step, NULL), 0);
}

static void create(struct rig *rig, struct master_config *c, const char *task)
{
	assert_int_equal(master_create(rig->root, c, NULL, 0, NULL, &rig->run, NULL), 0);
	master_config_release(c);
	add(rig, MASTER_STEP_SAY, task, 0);
}

static void reopen(struct rig *rig)
{
	close_run(rig);
	assert_int_equal(master_open(rig->root, NULL, 0, NULL, &rig->run, NULL), 0);
}

static void play(struct rig *rig)
{
	const struct pair_opts opts = { .run = rig->run,
		.turns = { .store = rig->store,
			.loop = rig->loop,
			.agents = rig->agents,
			.homes = rig->homes,
			.n_homes = ARRAY_LEN(rig->homes),
			.orphan_ms = 1000 } };

	rig->done = false;
	rig->pair = pair_new(&opts, on_event, rig);
	pair_begin(rig->pair);
	assert_int_equal(loop_run(rig->loop, &rig->done, NULL), 0);
	pair_free(TAKE_PTR(rig->pair));
	if (rig->err.code)
		fail_msg("%s", rig->err.msg);
}

static void script(struct rig *rig, const char *text)
{
	assert_int_equal(file_replace(rig->script, sv_of(text), 0600, NULL), 0);
	rig->agents[agent_index(agent_embedded())].script = rig->script;
}

static const struct master_state *st(const struct rig *rig)
{
	return master_state(rig->run);
}

/* ---- */

static void a_run_from_the_task_to_its_end(void **state)
{
	struct rig *rig = *state;
	struct master_config c = config(rig);

	create(rig, &c, "count to three");
	play(rig);
	assert_int_equal(rig->stop, MASTER_STOP_DONE);
	assert_int_equal(st(rig)->round, 3);
	assert_int_equal(rig->asked[MASTER_WORKER], 3);
	assert_int_equal(rig->asked[MASTER_INSTRUCTOR], 4);
	assert_string_equal(st(rig)->side[MASTER_WORKER].answer.text.buf, "3, three.");
	assert_non_null(st(rig)->side[MASTER_WORKER].session);
	/* People see what is meant for them. */
	assert_null(strstr(rig->shown.buf, "{"));
	assert_non_null(strstr(rig->shown.buf, "DONE"));
}

static void rounds_run_out_and_the_instruction_is_kept(void **state)
{
	struct rig *rig = *state;
	struct master_config c = config(rig);

	c.max_rounds = 2;
	create(rig, &c, "count to 5");
	play(rig);
	assert_int_equal(rig->stop, MASTER_STOP_ROUNDS);
	assert_int_equal(rig->asked[MASTER_WORKER], 2);
	assert_int_equal(rig->asked[MASTER_INSTRUCTOR], 3);
	reopen(rig);
	add(rig, MASTER_STEP_ROUNDS, "", 5);
	play(rig);
	assert_int_equal(rig->stop, MASTER_STOP_DONE);
	assert_int_equal(rig->asked[MASTER_WORKER], 5);
	assert_int_equal(rig->asked[MASTER_INSTRUCTOR], 6);
	assert_int_equal(st(rig)->remaining, 2);
}

static void no_rounds_are_none(void **state)
{
	struct rig *rig = *state;
	struct master_config c = config(rig);

	c.max_rounds = 0;
	create(rig, &c, "count to 5");
	play(rig);
	assert_int_equal(rig->stop, MASTER_STOP_ROUNDS);
	assert_int_equal(rig->asked[MASTER_INSTRUCTOR], 0);
}

static void who_leaves_finds_it_as_it_was(void **state)
{
	struct rig *rig = *state;
	struct master_config c = config(rig);

	create(rig, &c, "count to 4");
	rig->leave_at = 2;
	play(rig);
	assert_int_equal(rig->stop, MASTER_STOP_USER);
	assert_true(master_is_open(&st(rig)->side[MASTER_WORKER]));
	reopen(rig);
	add(rig, MASTER_STEP_ROUNDS, "", MASTER_UNLIMITED);
	play(rig);
	assert_int_equal(rig->stop, MASTER_STOP_DONE);
	assert_int_equal(st(rig)->round, 4);
	assert_string_equal(st(rig)->side[MASTER_WORKER].answer.text.buf, "4, four.");
}

static void an_interruption_asks_what_next(void **state)
{
	struct rig *rig = *state;
	struct master_config c = config(rig);

	create(rig, &c, "count to 3");
	rig->interrupt_at = 2;
	rig->say = "[r=9] faster";
	play(rig);
	assert_true(rig->paused);
	assert_int_equal(rig->stop, MASTER_STOP_DONE);
	assert_int_equal(st(rig)->round, 4); /* the one that was interrupted comes again */
	assert_int_equal(st(rig)->remaining, 7);
}

static void corrections_come_to_an_end(void **state)
{
	struct rig *rig = *state;
	struct master_config c = config(rig);

	script(rig, "*\nsay I think about it.\n");
	create(rig, &c, "count to 3");
	play(rig);
	assert_int_equal(rig->stop, MASTER_STOP_CORRECTIONS);
	assert_int_equal(rig->asked[MASTER_INSTRUCTOR], 4);
	assert_int_equal(rig->asked[MASTER_WORKER], 0);
}

static void a_correction_helps(void **state)
{
	struct rig *rig = *state;
	struct master_config c = config(rig);

	script(rig, "say Hm.\n---\nsay Well.\n---\nsay DONE\n");
	create(rig, &c, "count to 3");
	play(rig);
	assert_int_equal(rig->stop, MASTER_STOP_DONE);
	assert_int_equal(rig->asked[MASTER_INSTRUCTOR], 3);
	assert_int_equal(st(rig)->corrections, 0);
}

static void no_progress_is_seen(void **state)
{
	struct rig *rig = *state;
	struct master_config c = config(rig);

	c.stall = 3;
	script(rig, "*\nsay {\"act\":\"tell\",\"message\":\"again\"}\n");
	create(rig, &c, "count to 3");
	play(rig);
	assert_int_equal(rig->stop, MASTER_STOP_STALLED);
	assert_int_equal(rig->asked[MASTER_WORKER], 3);
	/* Words of the user are a reason to try again. */
	reopen(rig);
	add(rig, MASTER_STEP_SAY, "try something else", 0);
	script(rig, "*\nsay DONE\n");
	play(rig);
	assert_int_equal(rig->stop, MASTER_STOP_DONE);
}

static void a_check_has_the_last_word(void **state)
{
	struct rig *rig = *state;
	struct master_config c = config(rig);

	c.check = xstrdup("echo seen >>seen; test $(wc -l <seen) -ge 3");
	c.check_max = 1;
	create(rig, &c, "count to 1");
	play(rig);
	assert_int_equal(rig->stop, MASTER_STOP_CHECK);
	assert_int_equal(rig->checked, 2);
	reopen(rig);
	add(rig, MASTER_STEP_SAY, "it should work now", 0);
	play(rig);
	assert_int_equal(rig->stop, MASTER_STOP_DONE);
	assert_int_equal(rig->checked, 3);
}

static void a_limit_is_waited_out(void **state)
{
	struct rig *rig = *state;
	struct master_config c = config(rig);

	rig->agents[agent_index(agent_embedded())].clock = NULL;
	script(rig, "fail rate-limited 1200 come back\n---\nsay DONE\n");
	create(rig, &c, "x");
	play(rig);
	assert_int_equal(rig->stop, MASTER_STOP_DONE);
	assert_true(rig->waited >= 1);
	assert_int_equal(rig->goes_on[MASTER_INSTRUCTOR], 1);
}

static void who_hangs_is_interrupted_and_the_instructor_told(void **state)
{
	struct rig *rig = *state;
	struct master_config c = config(rig);

	c.worker_timeout_ms = 200;
	/* Message 1 of the instructor, and 1 of the worker: a call, and a hang. */
	script(rig,
		"say {\"act\":\"start\",\"instruction\":\"sleep\"}\nwait 1000\n---\nsay DONE\n");
	create(rig, &c, "x");
	play(rig);
	assert_int_equal(rig->stop, MASTER_STOP_DONE);
	assert_int_equal(st(rig)->side[MASTER_WORKER].answer.fail, AGENT_TIMED_OUT);
	assert_non_null(strstr(st(rig)->side[MASTER_INSTRUCTOR].ask.text.buf, "took longer"));
}

static void a_budget_ends_it(void **state)
{
	struct rig *rig = *state;
	struct master_config c = config(rig);

	c.max_budget_usd = 0.5;
	create(rig, &c, "count to 3");
	struct master_step step = MASTER_STEP_INIT(MASTER_STEP_ANSWER);
	step.usage.cost_usd = 0.75;
	step.fail = AGENT_CANCELLED;
	assert_int_equal(master_step(rig->run, &step, NULL), 0);
	play(rig);
	assert_int_equal(rig->stop, MASTER_STOP_BUDGET);
	assert_int_equal(rig->asked[MASTER_INSTRUCTOR], 0);
}

static int count_words(void *data, const struct master_step *step, struct err *reterr)
{
	int *n = data;

	(void)reterr;
	*n += step->kind == MASTER_STEP_ASK && step->role == MASTER_INSTRUCTOR &&
		sv_find(step->text, SV("to 2 only"), NULL);
	return 0;
}

/* How often the instructor was sent the words. */
static int heard(struct rig *rig)
{
	int n = 0;

	assert_int_equal(master_steps(rig->run, count_words, &n, NULL), 0);
	return n;
}

static void words_come_before_the_instruction_that_was_kept(void **state)
{
	struct rig *rig = *state;
	struct master_config c = config(rig);

	c.max_rounds = 2;
	create(rig, &c, "count to 5");
	play(rig);
	reopen(rig);
	add(rig, MASTER_STEP_ROUNDS, "", 9);
	add(rig, MASTER_STEP_SAY, "count to 2 only", 0);
	str_clear(&rig->order);
	play(rig);
	assert_int_equal(rig->stop, MASTER_STOP_DONE);
	assert_string_equal(rig->order.buf, "iwiwi");
	assert_int_equal(heard(rig), 1);
}

static void words_come_before_what_was_interrupted(void **state)
{
	struct rig *rig = *state;
	struct master_config c = config(rig);

	create(rig, &c, "count to 4");
	rig->leave_at = 2;
	play(rig);
	reopen(rig);
	add(rig, MASTER_STEP_SAY, "count to 2 only", 0);
	rig->leave_at = 0;
	str_clear(&rig->order);
	play(rig);
	assert_int_equal(rig->stop, MASTER_STOP_DONE);
	assert_string_equal(rig->order.buf, "iwiwi");
	assert_int_equal(heard(rig), 1);
	assert_int_equal(rig->found, 0);
}

static void words_are_not_lost_behind_an_instructor_that_was_interrupted(void **state)
{
	struct rig *rig = *state;
	struct master_config c = config(rig);

	script(rig, "wait 300\nsay {\"act\":\"start\",\"instruction\":\"x\"}\n---\nsay DONE\n");
	create(rig, &c, "count to 4");
	rig->leave_i = 1;
	play(rig);
	assert_true(master_is_open(&st(rig)->side[MASTER_INSTRUCTOR]));
	reopen(rig);
	add(rig, MASTER_STEP_SAY, "count to 2 only", 0);
	rig->leave_i = 0;
	str_clear(&rig->order);
	play(rig);
	assert_int_equal(rig->stop, MASTER_STOP_DONE);
	assert_int_equal(rig->order.buf[0], 'i');
	assert_int_equal(heard(rig), 1);
}

static void what_the_worker_may_not_is_told(void **state)
{
	struct rig *rig = *state;
	struct master_config c = config(rig);

	script(rig,
		"ask Bash touch made => ok\nsay "
		"{\"act\":\"start\",\"instruction\":\"x\"}\n---\nsay "
		"DONE\n");
	create(rig, &c, "make it");
	play(rig);
	assert_int_equal(rig->stop, MASTER_STOP_DONE);
	assert_int_equal(rig->denied, 1);
	assert_non_null(strstr(st(rig)->side[MASTER_INSTRUCTOR].ask.text.buf,
		"not allowed to do this, which was therefore not done:\n\n- Bash: touch made\n"));
	reopen(rig);
	assert_string_equal(st(rig)->side[MASTER_WORKER].answer.denied.buf, "- Bash: touch made");
}

/* A turn that the budget stopped has no answer, but it was paid for; it is not paid for twice. */
static void what_a_stopped_turn_took_counts(void **state)
{
	struct rig *rig = *state;
	struct master_config c = config(rig);

	c.max_budget_usd = 0.5;
	create(rig, &c, "count to 4");
	rig->leave_at = 2;
	play(rig);
	struct master_step step = MASTER_STEP_INIT(MASTER_STEP_SPENT);
	step.role = MASTER_WORKER;
	step.usage.cost_usd = 0.75;
	step.usage.output = 5;
	assert_int_equal(master_step(rig->run, &step, NULL), 0);
	reopen(rig);
	assert_true(st(rig)->cost_usd > 0.7);
	assert_true(master_is_open(&st(rig)->side[MASTER_WORKER]));
	str_clear(&rig->order);
	play(rig);
	assert_int_equal(rig->stop, MASTER_STOP_BUDGET);
	assert_string_equal(rig->order.buf ? rig->order.buf : "", "");
}

static void time_is_counted_over_all_starts(void **state)
{
	struct rig *rig = *state;
	struct master_config c = config(rig);
	struct clock now = noon;
	struct master_step step = MASTER_STEP_INIT(MASTER_STEP_STOP);

	c.max_wall_ms = 60000;
	assert_int_equal(master_create(rig->root, &c, NULL, 0, &now, &rig->run, NULL), 0);
	now.fixed_ms += 500;
	add(rig, MASTER_STEP_SAY, "count to 4", 0);
	now.fixed_ms += 59000;
	step.stop = MASTER_STOP_USER;
	assert_int_equal(master_step(rig->run, &step, NULL), 0);
	now.fixed_ms += 3600000; /* while nobody was at it */
	step.kind = MASTER_STEP_CONFIG;
	step.config = &c;
	assert_int_equal(master_step(rig->run, &step, NULL), 0);
	assert_int_equal(st(rig)->ran_ms, 59500);
	now.fixed_ms += 3600000; /* killed, and found later */
	assert_int_equal(master_step(rig->run, &step, NULL), 0);
	assert_int_equal(st(rig)->ran_ms, 59500);
	now.fixed_ms += 600;
	add(rig, MASTER_STEP_SAY, "go on", 0);
	assert_int_equal(st(rig)->ran_ms, 60100);
	play(rig);
	assert_int_equal(rig->stop, MASTER_STOP_TIME);
	assert_int_equal(rig->asked[MASTER_INSTRUCTOR], 0);
	master_config_release(&c);
	close_run(rig);
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(a_run_from_the_task_to_its_end),
		CASE(rounds_run_out_and_the_instruction_is_kept),
		CASE(no_rounds_are_none),
		CASE(who_leaves_finds_it_as_it_was),
		CASE(an_interruption_asks_what_next),
		CASE(corrections_come_to_an_end),
		CASE(a_correction_helps),
		CASE(no_progress_is_seen),
		CASE(a_check_has_the_last_word),
		CASE(a_limit_is_waited_out),
		CASE(who_hangs_is_interrupted_and_the_instructor_told),
		CASE(a_budget_ends_it),
		CASE(words_come_before_the_instruction_that_was_kept),
		CASE(words_come_before_what_was_interrupted),
		CASE(words_are_not_lost_behind_an_instructor_that_was_interrupted),
		CASE(what_the_worker_may_not_is_told),
		CASE(what_a_stopped_turn_took_counts),
		CASE(time_is_counted_over_all_starts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
