#include <unistd.h>

#include "store/sql.h"
#include "turn/test-rig.h"

static void two_turns_at_once_on_one_loop(void **state)
{
	struct turn_rig *rig = *state;
	struct talk red = { .prompt = "paint it red", .cancel_on_text = true };
	struct talk blue = { .prompt = "paint it blue" };

	write_script(rig, "wait 20\nsay I begin\nwait 50\nsay and I am done\n---\n");
	red.beside = &blue;
	blue.beside = &red;
	begin(&red, rig, 0);
	begin(&blue, rig, 0);
	finish(&red);
	finish(&blue);
	assert_true(red.both_spoke && blue.both_spoke);
	assert_int_equal(red.fail, AGENT_CANCELLED);
	assert_int_equal(blue.fail, AGENT_OK);
	assert_string_not_equal(red.id, blue.id);
	assert_string_equal(red.title, "paint it red"); /* of the first turn, though it failed */
	assert_int_equal(state_of(rig, red.id), TURN_CANCELLED);
	assert_int_equal(state_of(rig, blue.id), TURN_ANSWERED);
	assert_true(is_free(rig, red.id) && is_free(rig, blue.id));
}

/* The lease is the process's; its turns do not share a conversation for all that. */
static void a_conversation_has_one_turn_at_a_time(void **state)
{
	struct turn_rig *rig = *state;
	struct talk first = { .prompt = "one" };
	struct talk hasty = { .prompt = "two" };
	struct talk patient = { .prompt = "three" };

	write_script(rig, "wait 150\nsay done\n*\n");
	begin(&first, rig, 0);
	run_for(rig, 20);
	assert_int_equal(first.begun, 1);
	memcpy(hasty.id, first.id, sizeof(first.id));
	memcpy(patient.id, first.id, sizeof(first.id));
	begin(&hasty, rig, 0);
	begin(&patient, rig, 10000);
	finish(&hasty);
	assert_int_equal(hasty.err.code, ERR_BUSY);
	assert_false(first.done);
	finish(&patient);
	assert_true(first.done);
	assert_int_equal(patient.err.code, 0);
	assert_int_equal(patient.fail, AGENT_OK);
	assert_int_equal(patient.news[NEWS_BUSY], 1);
	assert_true(is_free(rig, first.id));
	free(first.answer);
}

static void waiting_for_a_conversation_can_be_cancelled(void **state)
{
	struct turn_rig *rig = *state;
	struct talk first = { .prompt = "one" };
	struct talk second = { .prompt = "two" };

	write_script(rig, "wait 60000\nsay done\n---\n");
	begin(&first, rig, 0);
	run_for(rig, 20);
	memcpy(second.id, first.id, sizeof(first.id));
	begin(&second, rig, 60000);
	run_for(rig, 150);
	assert_false(second.done);
	assert_int_equal(second.news[NEWS_BUSY], 1);
	turn_cancel(second.turn);
	assert_false(second.done); /* not from within the call */
	finish(&second);
	assert_int_equal(second.fail, AGENT_CANCELLED);
	assert_int_equal(second.begun, 0);
	assert_int_equal(state_of(rig, first.id), TURN_INTENT);
	turn_cancel(first.turn);
	finish(&first);
	assert_int_equal(state_of(rig, first.id), TURN_CANCELLED);
}

static void a_turn_can_be_cancelled_before_it_is_sent(void **state)
{
	struct turn_rig *rig = *state;
	struct talk talk = { .prompt = "one", .cancel_on_begin = true };

	begin(&talk, rig, 0);
	finish(&talk);
	assert_int_equal(talk.fail, AGENT_CANCELLED);
	assert_int_equal(state_of(rig, talk.id), TURN_CANCELLED);
	assert_true(is_free(rig, talk.id));
	assert_false(path_exists(rig->home)); /* the agent heard nothing */
	begin(&talk, rig, 0);
	turn_cancel(talk.turn);
	finish(&talk);
	assert_int_equal(talk.fail, AGENT_CANCELLED);
	/* Its session, which nobody has begun, is not one that is gone. */
	talk.cancel_on_begin = false;
	begin(&talk, rig, 0);
	finish(&talk);
	assert_int_equal(talk.fail, AGENT_OK);
	assert_int_equal(talk.news[NEWS_GONE], 0);
}

/* Whoever is told something may cancel within that very call. */
static void a_turn_can_be_cancelled_by_who_hears_it_waits(void **state)
{
	struct turn_rig *rig = *state;
	struct talk first = { .prompt = "one" };
	struct talk second = { .prompt = "two", .cancel_on_news = true };

	write_script(rig, "wait 60000\nsay done\n---\n");
	begin(&first, rig, 0);
	run_for(rig, 20);
	memcpy(second.id, first.id, sizeof(first.id));
	begin(&second, rig, 60000);
	finish(&second);
	assert_int_equal(second.news[NEWS_BUSY], 1);
	assert_int_equal(second.fail, AGENT_CANCELLED);
	assert_int_equal(second.begun, 0);
	run_for(rig, 150); /* nothing of it is left that would begin after all */
	assert_int_equal(second.begun, 0);
	turn_cancel(first.turn);
	finish(&first);
	assert_true(is_free(rig, first.id));
}

static void a_limit_can_be_cancelled_by_who_hears_of_it(void **state)
{
	struct turn_rig *rig = *state;
	struct talk told = { .prompt = "one", .go_on = "go on", .cancel_on_news = true };
	struct talk waits = { .prompt = "one", .go_on = "go on", .cancel_on_waiting = true };

	write_script(rig, "fail rate-limited 60000\n---\nsay went on\n---\n");
	begin(&told, rig, 0);
	finish(&told);
	assert_int_equal(told.news[NEWS_LIMIT], 1);
	assert_int_equal(told.waited, 0);
	assert_int_equal(told.fail, AGENT_RATE_LIMITED); /* what the agent said stands */
	assert_true(is_free(rig, told.id));
	begin(&waits, rig, 0);
	finish(&waits);
	assert_int_equal(waits.waited, 1);
	assert_int_equal(waits.fail, AGENT_RATE_LIMITED);
	assert_true(is_free(rig, waits.id));
}

/* Both waits end with their process; who comes next tells what was not said. */
static void what_waits_is_told_when_its_process_is_gone(void **state)
{
	static const char gone[] = "UPDATE step SET owner_start = owner_start + 1 WHERE kind = 4";
	struct turn_rig *rig = *state;
	struct talk limited = { .prompt = "one", .go_on = "go on" };
	struct talk runs = { .prompt = "two" };
	struct talk busy = { .prompt = "three" };
	struct talk next = { .rig = rig };
	const struct turn_sink sink = { .data = &next, .news = on_news };
	AUTO_TURN_RECORD lost = TURN_RECORD_INIT;

	write_script(rig, "fail rate-limited 60000\n---\n");
	begin(&limited, rig, 0);
	run_until(rig, &limited.news[NEWS_LIMIT]);
	assert_int_equal(limited.news[NEWS_LIMIT], 1);
	assert_int_equal(turn_recover(rig->host, rig->top, NULL, false, &sink, NULL), 0);
	assert_int_equal(next.news[NEWS_NOT_BEGUN], 0); /* it lives */
	assert_int_equal(sql_exec(rig->store, gone, NULL), 0);
	assert_int_equal(turn_recover(rig->host, rig->top, NULL, false, &sink, NULL), 0);
	assert_int_equal(next.news[NEWS_NOT_BEGUN], 1);
	assert_string_equal(next.words[0], "go on");
	assert_string_equal(next.words[1], limited.id);
	write_script(rig, "wait 60000\nsay done\n---\n");
	begin(&runs, rig, 0);
	run_until(rig, &runs.begun);
	memcpy(busy.id, runs.id, sizeof(busy.id));
	begin(&busy, rig, 60000);
	run_until(rig, &busy.news[NEWS_BUSY]);
	assert_int_equal(sql_exec(rig->store, gone, NULL), 0);
	assert_int_equal(turn_recover(rig->host, rig->top, NULL, false, &sink, NULL), 0);
	assert_int_equal(next.news[NEWS_NOT_BEGUN], 2);
	assert_string_equal(next.words[0], "three");
	assert_int_equal(journal_lost(rig->store, runs.id, NULL, SV(""), &lost, NULL), 0);
	assert_string_equal(lost.prompt.buf, "three");
	assert_int_equal(state_of(rig, runs.id), TURN_INTENT);
	turn_cancel(busy.turn);
	finish(&busy);
	turn_cancel(runs.turn);
	finish(&runs);
	turn_cancel(limited.turn);
	finish(&limited);
	assert_int_equal(turn_recover(rig->host, rig->top, NULL, false, &sink, NULL), 0);
	assert_int_equal(next.news[NEWS_NOT_BEGUN], 2);
}

static void a_fresh_start_can_be_cancelled_by_who_hears_of_it(void **state)
{
	struct turn_rig *rig = *state;
	AUTO_CONV lost = CONV_INIT;
	struct talk talk = { .prompt = "one", .cancel_on_news = true };
	const struct conv_new what = { .dir = rig->top, .agent = "rehearsal" };

	assert_int_equal(conv_adopt(rig->store, &what, "4a7c2a0e-0000-4000-8000-000000000001", NULL,
				 &lost, NULL),
		0);
	memcpy(talk.id, lost.id, sizeof(talk.id));
	begin(&talk, rig, 0);
	finish(&talk);
	assert_int_equal(talk.news[NEWS_GONE], 1);
	assert_int_equal(talk.fail, AGENT_CANCELLED);
	assert_int_equal(state_of(rig, talk.id), TURN_CANCELLED);
	assert_true(is_free(rig, talk.id));
	assert_false(path_exists(rig->home)); /* the agent heard nothing */
}

/* As on a full disk, which has room again later. */
static void an_end_that_is_not_written_is_tried_again(void **state)
{
	struct turn_rig *rig = *state;
	struct talk talk = { .prompt = "one", .keep = true };

	assert_int_equal(sql_exec(rig->store,
				 "CREATE TEMP TRIGGER full BEFORE UPDATE ON main.conversation"
				 " WHEN NEW.owner_pid IS NULL"
				 " BEGIN SELECT RAISE(ABORT, 'full'); END",
				 NULL),
		0);
	begin(&talk, rig, 0);
	finish(&talk);
	assert_true(talk.err.code < 0);
	assert_int_equal(state_of(rig, talk.id), TURN_INTENT);
	assert_false(is_free(rig, talk.id));
	assert_int_equal(sql_exec(rig->store, "DROP TRIGGER full", NULL), 0);
	turn_free(TAKE_PTR(talk.turn));
	assert_int_equal(state_of(rig, talk.id), TURN_ANSWERED);
	assert_true(is_free(rig, talk.id));
}

/* Or by the next turn, which finds nothing in its way. */
static void an_end_that_is_not_written_is_no_crash(void **state)
{
	struct turn_rig *rig = *state;
	struct talk talk = { .prompt = "one" };
	AUTO_FREE char *db = xasprintf("%s/store.db", rig->top);
	AUTO_FREE char *away = xasprintf("%s/away.db", rig->top);

	write_script(rig, "wait 50\nsay done\n*\n");
	begin(&talk, rig, 0);
	while (!talk.begun)
		assert_int_equal(loop_step(rig->loop, -1, NULL), 0);
	assert_int_equal(rename(db, away), 0);
	finish(&talk);
	assert_int_equal(talk.err.code, ERR_STORE);
	assert_int_equal(rename(away, db), 0);
	struct talk next = { .prompt = "two" };
	memcpy(next.id, talk.id, sizeof(next.id));
	begin(&next, rig, 0);
	finish(&next);
	assert_int_equal(next.err.code, 0);
	assert_int_equal(next.fail, AGENT_OK);
	assert_int_equal(next.news[NEWS_ANSWERED] + next.news[NEWS_BUSY], 0);
	assert_true(is_free(rig, talk.id));
}

static void a_turn_that_is_dropped_is_written_down(void **state)
{
	struct turn_rig *rig = *state;
	struct talk talk = { .prompt = "one" };

	write_script(rig, "wait 60000\nsay done\n---\n");
	begin(&talk, rig, 0);
	turn_answer(talk.turn, "nobody asked yet", AGENT_ALLOW);
	run_for(rig, 20);
	turn_answer(talk.turn, "nobody asked this", AGENT_ALLOW);
	turn_free(TAKE_PTR(talk.turn));
	run_for(rig, 20);
	assert_int_equal(talk.dones, 0);
	assert_int_equal(state_of(rig, talk.id), TURN_CANCELLED);
	assert_true(is_free(rig, talk.id));
	/* Before its first step there is nothing to write down. */
	begin(&talk, rig, 0);
	turn_free(TAKE_PTR(talk.turn));
	assert_int_equal(talk.dones, 0);
}

static void a_turn_that_is_refused_leaves_nothing_behind(void **state)
{
	struct turn_rig *rig = *state;
	AUTO_CONV lost = CONV_INIT;
	AUTO_CONV current = CONV_INIT;
	AUTO_TURN_RECORD none = TURN_RECORD_INIT;
	struct talk good = { .prompt = "one" };
	struct talk bad = { .prompt = "two" };
	const struct conv_new gone = { .dir = "/nonexistent/faden", .agent = "rehearsal" };

	begin(&good, rig, 0);
	finish(&good);
	assert_int_equal(conv_adopt(rig->store, &gone, "s", NULL, &lost, NULL), 0);
	memcpy(bad.id, lost.id, sizeof(bad.id));
	begin(&bad, rig, 1000);
	finish(&bad);
	assert_int_equal(bad.err.code, ERR_INPUT);
	assert_int_equal(bad.begun, 0);
	assert_true(is_free(rig, lost.id));
	assert_int_equal(journal_last(rig->store, lost.id, &none, NULL), ERR_NOTFOUND);
	assert_int_equal(conv_current(rig->store, rig->top, NULL, &current, NULL), 0);
	assert_string_equal(current.id, good.id);
}

static void a_fresh_start_forgets_the_session_it_lost(void **state)
{
	struct turn_rig *rig = *state;
	AUTO_FREE char *program = xasprintf("%s/codex", rig->top);
	AUTO_CONV lost = CONV_INIT;
	AUTO_TURN_RECORD last = TURN_RECORD_INIT;
	struct talk talk = { .prompt = "one" };
	const struct conv_new what = { .dir = rig->top, .agent = "codex" };

	assert_int_equal(file_replace(program,
				 SV("#!/bin/sh\ncase \"$*\" in *app-server*) exit 2 ;; *resume*) "
				    "echo 'no rollout found' >&2; exit 1 ;; esac\n"
				    "exec sleep 60\n"),
				 0700, NULL),
		0);
	rig->agents[agent_index(agent_named(SV("codex")))] = (struct agent_opts){ .home = rig->home,
		.program = program,
		.envp = (const char *const *)environ,
		.stop_ms = 100 };
	assert_int_equal(conv_adopt(rig->store, &what, "4a7c2a0e-0000-4000-8000-000000000001", NULL,
				 &lost, NULL),
		0);
	memcpy(talk.id, lost.id, sizeof(talk.id));
	begin(&talk, rig, 0);
	while (!talk.done && !talk.news[NEWS_GONE])
		assert_int_equal(loop_step(rig->loop, 1000, NULL), 0);
	assert_int_equal(journal_last(rig->store, talk.id, &last, NULL), 0);
	assert_null(last.session);
	turn_cancel(talk.turn);
	finish(&talk);
	assert_int_equal(talk.fail, AGENT_CANCELLED);
}

/* A prompt in a session that nothing leads to would be lost with the next crash. */
static void nothing_is_sent_to_a_session_that_cannot_be_kept(void **state)
{
	struct turn_rig *rig = *state;
	struct talk talk = { .prompt = "one", .agent = "codex" };
	AUTO_FREE char *text =
		xasprintf("#!/bin/sh\nwhile read -r line; do case $line in\n"
			  "*'\"initialize\"'*) echo '{\"id\":1,\"result\":{}}' ;;\n"
			  "*thread/start*) echo '{\"id\":2,\"result\":{\"thread\":{\"id\":"
			  "\"4a7c2a0e-0000-4000-8000-00000000000a\"}}}' ;;\n"
			  "*turn/start*) touch %s/sent ;;\nesac; done\n",
			rig->top);
	AUTO_FREE char *program = temp_write(rig->top, "codex", text);
	AUTO_FREE char *sent = path_join(rig->top, "sent");

	assert_int_equal(chmod(program, 0700), 0);
	rig->agents[agent_index(agent_named(SV("codex")))] = (struct agent_opts){ .home = rig->home,
		.program = program,
		.envp = (const char *const *)environ,
		.stop_ms = 300,
		.timeout_ms = 20000 };
	assert_int_equal(sql_exec(rig->store,
				 "CREATE TEMP TRIGGER full BEFORE INSERT ON main.agent_session"
				 " BEGIN SELECT RAISE(ABORT, 'full'); END",
				 NULL),
		0);
	begin(&talk, rig, 0);
	finish(&talk);
	assert_true(talk.err.code < 0);
	assert_non_null(strstr(talk.err.msg, "full"));
	assert_int_equal(talk.fail, AGENT_CANCELLED);
	assert_false(path_exists(sent));
	assert_true(is_free(rig, talk.id));
}

/* Its successor in another folder does not wait for it, the next turn of its session does. */
static void an_agent_that_goes_is_waited_for_by_its_session_alone(void **state)
{
	static const char *const sessions[] = { "4a7c2a0e-0000-4000-8000-00000000000a",
		"4a7c2a0e-0000-4000-8000-00000000000b" };
	struct turn_rig *rig = *state;
	AUTO_FREE char *text = xasprintf(
		"#!/bin/sh\ncd %s\ncase \"$*\" in *%s*) n=a ;; *) n=b ;; esac\n"
		"[ ! -f $n ] || ! kill -0 $(cat $n) 2>/dev/null || touch twice\necho $$ >$n\n"
		"trap '' TERM\nread -r line\n"
		"echo '{\"type\":\"result\",\"subtype\":\"success\",\"result\":\"fine\"}'\n"
		"while :; do sleep 0.1; done\n",
		rig->top, sessions[0]);
	AUTO_FREE char *program = temp_write(rig->top, "claude", text);
	AUTO_FREE char *twice = path_join(rig->top, "twice");
	struct talk talks[] = { { .prompt = "one" }, { .prompt = "two" } };
	int64_t begun;

	assert_int_equal(chmod(program, 0700), 0);
	assert_int_equal(file_mkdirs(rig->home, NULL), 0);
	rig->agents[agent_index(agent_named(SV("claude")))] =
		(struct agent_opts){ .home = rig->home,
			.program = program,
			.envp = (const char *const *)environ,
			.keep_alive = true,
			.stop_ms = 1000 };
	for (size_t i = 0; i < ARRAY_LEN(talks); i++) {
		const struct conv_new what = { .dir = i ? rig->home : rig->top, .agent = "claude" };
		AUTO_CONV c = CONV_INIT;
		assert_int_equal(conv_adopt(rig->store, &what, sessions[i], NULL, &c, NULL), 0);
		memcpy(talks[i].id, c.id, sizeof(c.id));
	}
	begin(&talks[0], rig, 0);
	finish(&talks[0]);
	assert_int_equal(talks[0].fail, AGENT_OK);
	begun = clock_age_ms(NULL);
	begin(&talks[1], rig, 0);
	finish(&talks[1]);
	assert_int_equal(talks[1].fail, AGENT_OK);
	assert_true(clock_age_ms(NULL) - begun < 1000);
	begin(&talks[0], rig, 0);
	finish(&talks[0]);
	assert_int_equal(talks[0].fail, AGENT_OK);
	assert_true(clock_age_ms(NULL) - begun >= 1000);
	assert_false(path_exists(twice));
}

static void a_question_is_journalled_and_leaves_nothing(void **state)
{
	struct turn_rig *rig = *state;
	struct talk talk = { .rig = rig };
	AUTO_FREE char *scratch = xasprintf("%s/scratch", rig->top);
	const struct turn_question question = {
		.kind = agent_embedded(), .prompt = SV("what is it about?"), .scratch = scratch
	};
	const struct turn_opts opts = { .question = &question };
	const struct turn_sink sink = { .data = &talk,
		.begin = on_begin,
		.done = on_done,
		.event = on_event,
		.event_data = &talk };

	assert_int_equal(file_mkdirs(scratch, NULL), 0);
	write_script(rig, "say about paint\n---\n");
	talk.turn = turn_begin(rig->host, &opts, &sink);
	assert_int_equal(loop_run(rig->loop, &talk.done, NULL), 0);
	assert_string_equal(talk.answer, "about paint");
	assert_int_equal(talk.begun, 0); /* no conversation */
	free(talk.answer);
	/* Only an empty folder can be removed so. */
	assert_int_equal(rmdir(scratch), 0);
	assert_false(path_exists(rig->home));

	/* Cancelled too, and a folder that is missing is our failure. */
	assert_int_equal(file_mkdirs(scratch, NULL), 0);
	write_script(rig, "say about\nwait 60000\n---\n");
	talk = (struct talk){ .rig = rig, .cancel_on_text = true };
	talk.turn = turn_begin(rig->host, &opts, &sink);
	finish(&talk);
	assert_int_equal(talk.fail, AGENT_CANCELLED);
	assert_int_equal(rmdir(scratch), 0);
	talk = (struct talk){ .rig = rig };
	talk.turn = turn_begin(rig->host, &opts, &sink);
	finish(&talk);
	assert_true(talk.err.code < 0);

	/* Both that reached the agent stand in the journal, of no conversation. */
	AUTO_SQL q = SQL_INIT;
	assert_int_equal(sql_prepare(&q, rig->store,
				 "SELECT group_concat(state) FROM turn WHERE conversation IS NULL"
				 " AND agent = 'rehearsal' AND prompt = 'what is it about?'",
				 NULL),
		0);
	assert_int_equal(sql_step(&q, NULL), 1);
	assert_string_equal(sql_get_text(&q, 0), "1,3");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(two_turns_at_once_on_one_loop),
		CASE(a_conversation_has_one_turn_at_a_time),
		CASE(waiting_for_a_conversation_can_be_cancelled),
		CASE(a_turn_can_be_cancelled_before_it_is_sent),
		CASE(a_turn_can_be_cancelled_by_who_hears_it_waits),
		CASE(a_limit_can_be_cancelled_by_who_hears_of_it),
		CASE(what_waits_is_told_when_its_process_is_gone),
		CASE(a_fresh_start_can_be_cancelled_by_who_hears_of_it),
		CASE(an_end_that_is_not_written_is_tried_again),
		CASE(an_end_that_is_not_written_is_no_crash),
		CASE(a_turn_that_is_dropped_is_written_down),
		CASE(a_turn_that_is_refused_leaves_nothing_behind),
		CASE(a_fresh_start_forgets_the_session_it_lost),
		CASE(nothing_is_sent_to_a_session_that_cannot_be_kept),
		CASE(an_agent_that_goes_is_waited_for_by_its_session_alone),
		CASE(a_question_is_journalled_and_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
