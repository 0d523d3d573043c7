#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/path.h"
#include "os/proc.h"
#include "store/journal.h"
#include "store/sql.h"
#include "turn/turn.h"

struct rig {
	char top[64];
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
	struct rig *rig;
	struct turn *turn;
	const char *prompt;
	char id[UUID_TEXT]; /* the conversation; empty: a new one */
	const char *go_on; /* a limit is waited out */
	const struct turn_record *again; /* what is sent again */
	bool cancel_on_begin, cancel_on_text, cancel_on_news, cancel_on_waiting;
	bool keep; /* not freed in done */
	int begun, waited;
	int news[NEWS_COUNT];
	char words[3][256]; /* of the last news */
	int dones;
	bool done;
	struct err err;
	enum agent_fail fail;
	char *answer;
	struct talk *beside; /* runs at the same time */
	bool both_spoke; /* while the other one had begun and was not done */
};

static void write_script(struct rig *rig, const char *text)
{
	assert_int_equal(file_replace(rig->script, sv_of(text), 0600, NULL), 0);
	rig->agents[agent_index(agent_embedded())].script = rig->script;
}

static int set_up(void **state)
{
	struct rig *rig = xcalloc(1, sizeof(*rig));

	(void)snprintf(rig->top, sizeof(rig->top), "/tmp/faden-test-XXXXXX");
	assert_non_null(mkdtemp(rig->top));
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

static int tear_down(void **state)
{
	struct rig *rig = *state;
	const char *const argv[] = { "/bin/rm", "-rf", rig->top, NULL };
	int status;

	turn_host_free(rig->host);
	loop_free(rig->loop);
	store_close(rig->store);
	assert_int_equal(
		proc_run(&(struct proc_opts){ .argv = argv, .envp = (const char *const *)environ },
			SV(""), 10000, 1000, NULL, NULL, &status, NULL),
		0);
	free(rig->home);
	free(rig->script);
	free(rig);
	return 0;
}

/* ---- who hears of it ---- */

static int claim(void *data, struct turn_job *job, struct err *reterr)
{
	struct talk *talk = data;
	struct rig *rig = talk->rig;
	const struct proc_id *self = turn_host_self(rig->host);
	const struct conv_new what = { .dir = rig->top, .agent = "rehearsal" };
	int r;

	str_adds(&job->prompt, talk->prompt);
	if (talk->again) {
		job->again = talk->again->id;
		memcpy(job->prompt_id, talk->again->prompt_id, sizeof(job->prompt_id));
	}
	if (!talk->id[0])
		return conv_create(rig->store, &what, self, NULL, &job->conv, reterr);
	r = conv_take(rig->store, talk->id, self, NULL, reterr);
	if (r == 0)
		r = conv_set_current(rig->store, rig->top, talk->id, NULL, reterr);
	return r < 0 ? r : conv_get(rig->store, talk->id, NULL, &job->conv, reterr);
}

static void on_begin(void *data, const struct conv *c)
{
	struct talk *talk = data;

	memcpy(talk->id, c->id, sizeof(talk->id));
	talk->begun++;
	if (talk->cancel_on_begin)
		turn_cancel(talk->turn);
}

static void on_news(void *data, enum turn_news what, const char *const words[3])
{
	struct talk *talk = data;

	talk->news[what]++;
	for (size_t i = 0; i < 3; i++)
		(void)snprintf(
			talk->words[i], sizeof(talk->words[i]), "%s", words[i] ? words[i] : "");
	if (talk->cancel_on_news)
		turn_cancel(talk->turn);
}

static void on_waiting(void *data, int64_t seconds_left)
{
	struct talk *talk = data;

	(void)seconds_left;
	talk->waited++;
	if (talk->cancel_on_waiting)
		turn_cancel(talk->turn);
}

static void on_event(void *data, const struct agent_event *ev)
{
	struct talk *talk = data;

	if (ev->type != AGENT_EV_TEXT)
		return;
	talk->both_spoke |= talk->beside && talk->beside->begun && !talk->beside->done;
	if (talk->cancel_on_text)
		turn_cancel(talk->turn);
}

static void on_done(void *data, const struct turn_outcome *out)
{
	struct talk *talk = data;

	talk->dones++;
	talk->done = true;
	talk->err = out->err;
	talk->fail = out->fail;
	talk->answer = xstrdup(out->answer.buf);
	/* Allowed in here, and the outcome goes with it. */
	if (!talk->keep)
		turn_free(TAKE_PTR(talk->turn));
}

static void begin(struct talk *talk, struct rig *rig, int64_t busy_ms)
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

static void finish(struct talk *talk)
{
	assert_int_equal(loop_run(talk->rig->loop, &talk->done, NULL), 0);
	assert_int_equal(talk->dones, 1);
	free(TAKE_PTR(talk->answer));
}

static enum turn_state state_of(struct rig *rig, const char *conversation)
{
	AUTO_TURN_RECORD last = TURN_RECORD_INIT;

	assert_int_equal(journal_last(rig->store, conversation, &last, NULL), 0);
	return last.state;
}

static bool is_free(struct rig *rig, const char *conversation)
{
	AUTO_CONV c = CONV_INIT;

	assert_int_equal(conv_get(rig->store, conversation, NULL, &c, NULL), 0);
	return c.owner.pid == 0;
}

static void nothing(void *data)
{
	(void)data;
}

static void run_for(struct rig *rig, int64_t ms)
{
	int64_t until = clock_age_ms(NULL) + ms;

	(void)loop_add_timer(rig->loop, ms, nothing, NULL);
	while (clock_age_ms(NULL) < until)
		assert_int_equal(loop_step(rig->loop, ms, NULL), 0);
}

/* ---- tests ---- */

static void two_turns_at_once_on_one_loop(void **state)
{
	struct rig *rig = *state;
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
	assert_int_equal(state_of(rig, red.id), TURN_CANCELLED);
	assert_int_equal(state_of(rig, blue.id), TURN_ANSWERED);
	assert_true(is_free(rig, red.id) && is_free(rig, blue.id));
}

/* The lease is the process's; its turns do not share a conversation for all that. */
static void a_conversation_has_one_turn_at_a_time(void **state)
{
	struct rig *rig = *state;
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
	struct rig *rig = *state;
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
	struct rig *rig = *state;
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
}

/* Whoever is told something may cancel within that very call. */
static void a_turn_can_be_cancelled_by_who_hears_it_waits(void **state)
{
	struct rig *rig = *state;
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
	struct rig *rig = *state;
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

static void a_fresh_start_can_be_cancelled_by_who_hears_of_it(void **state)
{
	struct rig *rig = *state;
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
	struct rig *rig = *state;
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

static void a_turn_that_is_dropped_is_written_down(void **state)
{
	struct rig *rig = *state;
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
	struct rig *rig = *state;
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

/* ---- after a crash ---- */

/* What a faden that was killed leaves in the store. */
struct crash {
	const char *agent;
	const char *session; /* NULL: not told yet */
	const char *later; /* told after the intent; NULL: nothing */
	struct sv prompt;
	const char *prompt_id;
	const char *transcript; /* what is in it; NULL: there is none */
	size_t before; /* bytes of it that were there before the turn */
	bool was_there; /* there was one before the turn */
	char id[UUID_TEXT]; /* of the conversation, filled in */
};

static struct proc_id dead(const struct rig *rig)
{
	struct proc_id id = *turn_host_self(rig->host);

	id.start++; /* the number is ours, the process is not */
	return id;
}

static void crash(struct rig *rig, struct crash *crash)
{
	const struct conv_new what = { .dir = rig->top, .agent = crash->agent };
	const struct proc_id owner = dead(rig);
	const struct transcript_home *home = &rig->homes[strcmp(crash->agent, "codex") == 0];
	AUTO_FREE char *path = crash->session
		? transcript_new_path(home, rig->top, clock_wall_ms(NULL), crash->session)
		: NULL;
	AUTO_TURN_RECORD rec = {
		.agent = xstrdup(crash->agent),
		.session = crash->session ? xstrdup(crash->session) : NULL,
		.prompt = STR_INIT,
		.prompt_id = crash->prompt_id ? xstrdup(crash->prompt_id) : NULL,
		.transcript = crash->was_there ? xstrdup(path) : NULL,
		.before_size = (int64_t)crash->before,
	};
	AUTO_CONV c = CONV_INIT;
	int64_t step;

	str_add(&rec.prompt, crash->prompt);
	if (crash->transcript) {
		struct sv parent = path_parent(sv_of(path));
		AUTO_FREE char *dir = xmemdup0(parent.p, parent.n);
		assert_int_equal(file_mkdirs(dir, NULL), 0);
		assert_int_equal(file_replace(path, sv_of(crash->transcript), 0600, NULL), 0);
	}
	assert_int_equal(conv_create(rig->store, &what, &owner, NULL, &c, NULL), 0);
	if (crash->session)
		assert_int_equal(conv_set_session(rig->store, c.id, crash->agent, crash->session,
					 NULL, NULL),
			0);
	memcpy(rec.conversation, c.id, sizeof(rec.conversation));
	memcpy(crash->id, c.id, sizeof(crash->id));
	assert_int_equal(journal_turn(rig->store, &rec, NULL, &step, NULL), 0);
	if (crash->later)
		assert_int_equal(journal_session(rig->store, step, crash->later, NULL, NULL), 0);
}

/* Looks once, and once more to see that nothing is told twice. */
static void recover(struct rig *rig, struct talk *talk)
{
	const struct turn_sink sink = { .data = talk, .news = on_news };
	int before[NEWS_COUNT];

	assert_int_equal(turn_recover(rig->host, rig->top, NULL, true, &sink, NULL), 0);
	memcpy(before, talk->news, sizeof(before));
	assert_int_equal(turn_recover(rig->host, rig->top, NULL, true, &sink, NULL), 0);
	assert_memory_equal(before, talk->news, sizeof(before));
}

#define SESSION_ID "4a7c2a0e-0000-4000-8000-00000000000a"
#define PROMPT_ID "4a7c2a0e-0000-4000-8000-00000000000b"
#define OTHER_ID "4a7c2a0e-0000-4000-8000-00000000000c"
#define USER(id, content)                                                                        \
	"{\"type\":\"user\",\"uuid\":\"" id "\",\"parentUuid\":null,\"sessionId\":\"" SESSION_ID \
	"\",\"message\":{\"role\":\"user\",\"content\":\"" content "\"}}\n"
#define ANSWER(text)                                                                            \
	"{\"type\":\"assistant\",\"uuid\":\"" OTHER_ID "\",\"parentUuid\":\"" PROMPT_ID         \
	"\",\"sessionId\":\"" SESSION_ID "\",\"message\":{\"role\":\"assistant\",\"id\":\"m\"," \
	"\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}]}}\n"

/* "Did not arrive" is only said by a record that would hold it. */
static void what_arrived_is_not_known_without_a_record(void **state)
{
	static const struct {
		const char *agent, *session, *later, *prompt;
		bool was_there;
		enum turn_news news;
		enum turn_state state;
	} cases[] = {
		{ "rehearsal", "s", NULL, "x", false, NEWS_NOT_SENT, TURN_LOST },
		/* One that makes its ids was killed before it told this one, */
		{ "codex", NULL, NULL, "x", false, NEWS_UNKNOWN_SESSION, TURN_NOT_KNOWN },
		{ "codex", NULL, "s", "x", false, NEWS_NOT_SENT, TURN_LOST },
		/* or had lost the session and begun another. */
		{ "codex", "s", "", "x", false, NEWS_UNKNOWN_SESSION, TURN_NOT_KNOWN },
		{ "exec", "s", NULL, "x", false, NEWS_UNKNOWN_NO_RECORD, TURN_NOT_KNOWN },
		{ "rehearsal", "s", NULL, "x", true, NEWS_UNKNOWN_GONE, TURN_NOT_KNOWN },
		{ "rehearsal", "s", NULL, " /clear", false, NEWS_UNKNOWN_COMMAND, TURN_NOT_KNOWN },
	};
	struct rig *rig = *state;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct talk told = { .rig = rig };
		struct crash left = { .agent = cases[i].agent,
			.session = cases[i].session,
			.later = cases[i].later,
			.prompt = sv_of(cases[i].prompt),
			.was_there = cases[i].was_there };

		crash(rig, &left);
		recover(rig, &told);
		assert_int_equal(told.news[cases[i].news], 1);
		assert_string_equal(told.words[2], left.id);
		assert_int_equal(state_of(rig, left.id), cases[i].state);
		assert_true(is_free(rig, left.id));
	}
}

/* What agents make of a prompt: all of these have arrived, by the id and without one. */
static void a_prompt_is_found_in_whatever_form_it_is_kept(void **state)
{
#define TAGS(name, args)                                             \
	"<command-message>x</command-message>\\n<command-name>" name \
	"</command-name>\\n<command-args>" args "</command-args>"
	static const struct {
		const char *sent;
		size_t n; /* 0: up to its NUL */
		const char *kept;
	} shapes[] = {
		{ "paint it red", 0, "paint it red" },
		{ "  paint\n\n it\tred \n", 0, "  paint\\n\\n it\\tred" },
		{ "/init", 0, TAGS("/init", "") },
		{ "/init now and here", 0, TAGS("/init", "now and here") },
		{ "/init now", 0,
			"<command-name>/init</command-name><command-args>now</command-args>" },
		{ "/home/foo is broken", 0, "/home/foo is broken" },
		{ "bad \xff\xfe bytes", 0, "bad \xef\xbf\xbd\xef\xbf\xbd bytes" },
		{ "a\0b", 3, "a\\u0000b" },
		{ "<system-reminder>x</system-reminder>", 0,
			"<system-reminder>x</system-reminder>" },
		{ "<command-name>x", 0, "<command-name>x" },
		{ "<bash-input>ls</bash-input>", 0, "<bash-input>ls</bash-input>" },
		{ "Caveat: the words", 0, "Caveat: the words" },
		{ "one\r\ntwo", 0, "one\\r\\ntwo" },
		{ "[Request interrupted by user]", 0, "[Request interrupted by user]" },
	};
	struct rig *rig = *state;

	assert_int_equal(ARRAY_LEN(shapes), 14);
	for (size_t i = 0; i < ARRAY_LEN(shapes); i++)
		for (int by_id = 0; by_id < 2; by_id++) {
			struct talk told = { .rig = rig };
			AUTO_STR text = STR_INIT;
			struct crash left = { .agent = "rehearsal",
				.session = SESSION_ID,
				.prompt = shapes[i].n ? sv_make(shapes[i].sent, shapes[i].n)
						      : sv_of(shapes[i].sent),
				.prompt_id = by_id ? PROMPT_ID : NULL };

			str_addf(&text,
				"{\"type\":\"user\",\"uuid\":\"%s\",\"parentUuid\":null,"
				"\"sessionId\":\"" SESSION_ID "\",\"message\":{\"role\":\"user\","
				"\"content\":\"%s\"}}\n" ANSWER("done"),
				by_id ? PROMPT_ID : OTHER_ID,
				by_id ? "something else" : shapes[i].kept);
			left.transcript = text.buf;
			crash(rig, &left);
			recover(rig, &told);
			if (told.news[NEWS_ANSWERED] != 1)
				fail_msg("%s, %s", shapes[i].sent, by_id ? "by id" : "by words");
			assert_string_equal(told.words[1], "done");
			assert_int_equal(state_of(rig, left.id), TURN_ANSWERED);
		}
}

/* Neither side is claimed where words of another kind came since, or only before. */
static void other_words_leave_it_open(void **state)
{
	static const char before[] = USER(OTHER_ID, "paint it red") ANSWER("red");
	static const struct {
		const char *after;
		enum turn_news news;
	} cases[] = {
		{ "", NEWS_NOT_SENT },
		/* Ended as it was about to begin with it. */
		{ "{\"type\":\"last-prompt\",\"lastPrompt\":\"paint it red\",\"leafUuid\":\"x\"}\n",
			NEWS_UNKNOWN_IN_HAND },
		{ "{\"type\":\"queue-operation\",\"operation\":\"enqueue\",\"content\":\"paint it "
		  "red\"}\n",
			NEWS_UNKNOWN_IN_HAND },
		{ "{\"type\":\"last-prompt\",\"lastPrompt\":\"another\",\"leafUuid\":\"x\"}\n",
			NEWS_NOT_SENT },
		{ USER(OTHER_ID, "another thing"), NEWS_UNKNOWN_WORDS },
		/* The same, typed in the agent itself. */
		{ USER(OTHER_ID, "paint it red") ANSWER("red"), NEWS_UNKNOWN_WORDS },
		{ USER(OTHER_ID, "paint it red") ANSWER("red") USER(PROMPT_ID, "paint it red"),
			NEWS_UNANSWERED },
		{ USER(PROMPT_ID, "another thing"), NEWS_UNANSWERED },
		/* What was said to others is no answer to this one. */
		{ USER(PROMPT_ID, "x") USER(OTHER_ID, "another") ANSWER("no"), NEWS_UNANSWERED },
		{ USER(PROMPT_ID, "x") ANSWER("yes") USER(OTHER_ID, "more"), NEWS_ANSWERED },
	};
	struct rig *rig = *state;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct talk told = { .rig = rig };
		AUTO_STR text = STR_INIT;
		struct crash left = { .agent = "rehearsal",
			.session = SESSION_ID,
			.prompt = SV("paint it red"),
			.prompt_id = PROMPT_ID,
			.was_there = true,
			.before = sizeof(before) - 1 };

		str_addf(&text, "%s%s", before, cases[i].after);
		left.transcript = text.buf;
		crash(rig, &left);
		recover(rig, &told);
		if (told.news[cases[i].news] != 1)
			fail_msg("case %zu", i);
	}
}

/* Where the id follows the words, these hold until it says that they were another's. */
static void an_id_that_follows_decides(void **state)
{
#define LINE(type, payload)                                                                       \
	"{\"timestamp\":\"2999-01-01T00:00:00.000Z\",\"type\":\"" type "\",\"payload\":{" payload \
	"}}\n"
#define SAID(role, kind)                                                                    \
	LINE("response_item",                                                               \
		"\"type\":\"message\",\"role\":\"" role "\",\"content\":[{\"type\":\"" kind \
		"\",\"text\":\"paint it red\"}]")
#define ASKED SAID("user", "input_text")
#define REPLY SAID("assistant", "output_text")
#define NAMED(id)                                                                              \
	LINE("event_msg",                                                                      \
		"\"type\":\"item_completed\",\"item\":{\"type\":\"UserMessage\",\"id\":\"i\"," \
		"\"client_id\":\"" id "\",\"content\":[]}")
	static const struct {
		const char *kept;
		enum turn_news news;
	} cases[] = {
		{ ASKED REPLY, NEWS_ANSWERED },
		{ ASKED NAMED(PROMPT_ID) REPLY, NEWS_ANSWERED },
		{ ASKED NAMED(OTHER_ID) REPLY, NEWS_UNKNOWN_WORDS },
		{ ASKED NAMED(OTHER_ID) REPLY ASKED NAMED(PROMPT_ID), NEWS_UNANSWERED },
		{ ASKED REPLY ASKED NAMED(PROMPT_ID), NEWS_UNANSWERED },
		{ ASKED NAMED(PROMPT_ID) REPLY ASKED NAMED(OTHER_ID), NEWS_ANSWERED },
	};
	struct rig *rig = *state;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct talk told = { .rig = rig };
		char session[UUID_TEXT];
		struct crash left = { .agent = "codex",
			.session = session,
			.prompt = SV("paint it red"),
			.prompt_id = PROMPT_ID,
			.transcript = cases[i].kept };

		uuid_new(session);
		crash(rig, &left);
		recover(rig, &told);
		if (told.news[cases[i].news] != 1)
			fail_msg("case %zu", i);
	}
}

/* A program as faden starts it, of a faden that is gone. */
static void start_orphan(struct rig *rig, const char *script, struct proc *ret)
{
	const struct proc_id owner = dead(rig);
	AUTO_FREE char *mark =
		xasprintf("FADEN_RUN=%ld.%llu.x", (long)owner.pid, (unsigned long long)owner.start);
	const char *const argv[] = { "/bin/sh", "-c", script, NULL };
	const char *const envp[] = { "PATH=/usr/bin:/bin", mark, NULL };

	assert_int_equal(proc_spawn(ret,
				 &(struct proc_opts){ .argv = argv,
					 .envp = envp,
					 .in = PROC_NULL,
					 .out = PROC_NULL,
					 .err = PROC_NULL },
				 NULL),
		0);
}

static void reap(void *data)
{
	struct proc *p = data;

	(void)proc_reap(p, false, NULL);
}

/* Nobody else can: it is our own child here, which init would take care of. */
static void finish_reaping(struct talk *talk, struct proc *p)
{
	while (!talk->done) {
		(void)loop_add_timer(talk->rig->loop, 20, reap, p);
		assert_int_equal(loop_step(talk->rig->loop, 100, NULL), 0);
	}
	finish(talk);
	proc_release(p);
}

static void an_orphan_is_waited_for(void **state)
{
	struct rig *rig = *state;
	struct talk talk = { .prompt = "and now blue" };
	struct proc p = PROC_INIT;
	struct talk told = { .rig = rig };
	struct crash left = { .agent = "rehearsal",
		.session = SESSION_ID,
		.prompt = SV("paint it red"),
		.prompt_id = PROMPT_ID };

	crash(rig, &left);
	start_orphan(rig, "sleep 0.4", &p);
	/* Who only looks is told once that it works. */
	recover(rig, &told);
	assert_int_equal(told.news[NEWS_STILL_AT_IT], 1);
	assert_int_equal(state_of(rig, left.id), TURN_INTENT);
	memcpy(talk.id, left.id, sizeof(talk.id));
	begin(&talk, rig, 0);
	run_for(rig, 100);
	assert_int_equal(talk.news[NEWS_WAITS_FOR_IT], 1);
	assert_int_equal(talk.begun, 0);
	finish_reaping(&talk, &p);
	assert_int_equal(talk.news[NEWS_NOT_SENT], 1);
	assert_int_equal(talk.err.code, 0);
	assert_int_equal(talk.fail, AGENT_OK);
	/* The session that was named and never begun is begun now: nothing was lost. */
	assert_int_equal(talk.news[NEWS_GONE], 0);
}

static void an_orphan_that_takes_nothing_is_ended(void **state)
{
	struct rig *rig = *state;
	struct talk talk = { .prompt = "and now blue" };
	struct proc p = PROC_INIT;
	struct crash left = { .agent = "rehearsal",
		.session = SESSION_ID,
		.prompt = SV("paint it red"),
		.prompt_id = PROMPT_ID };

	crash(rig, &left);
	start_orphan(rig, "trap '' TERM; while :; do sleep 0.1; done", &p);
	memcpy(talk.id, left.id, sizeof(talk.id));
	begin(&talk, rig, 0);
	finish_reaping(&talk, &p);
	assert_int_equal(talk.news[NEWS_WAITS_FOR_IT], 1);
	assert_int_equal(talk.news[NEWS_ENDS_IT], 1);
	assert_int_equal(talk.news[NEWS_NOT_SENT], 1);
	assert_int_equal(talk.fail, AGENT_OK);
}

/* One that works is never ended: who does not want to wait is told how to. */
static void an_orphan_that_works_is_left_alone(void **state)
{
	struct rig *rig = *state;
	struct talk talk = { .prompt = "and now blue" };
	struct proc p = PROC_INIT;
	struct crash left = { .agent = "rehearsal",
		.session = SESSION_ID,
		.prompt = SV("paint it red"),
		.prompt_id = PROMPT_ID,
		.transcript = USER(PROMPT_ID, "paint it red") };

	crash(rig, &left);
	start_orphan(rig, "sleep 60", &p);
	memcpy(talk.id, left.id, sizeof(talk.id));
	begin(&talk, rig, 0);
	finish(&talk);
	assert_int_equal(talk.err.code, ERR_BUSY);
	assert_non_null(strstr(talk.err.msg, "kill "));
	assert_false(proc_reap(&p, false, NULL));
	assert_int_equal(state_of(rig, left.id), TURN_INTENT);
	/* A wait can be cancelled like any other. */
	begin(&talk, rig, 0);
	run_for(rig, 100);
	turn_cancel(talk.turn);
	finish(&talk);
	assert_int_equal(talk.fail, AGENT_CANCELLED);
	proc_release(&p);
}

/* One step of the story and the same id: whoever keeps ids cannot run it twice. */
static void what_was_lost_is_sent_again_under_its_id(void **state)
{
	struct rig *rig = *state;
	struct talk told = { .rig = rig };
	AUTO_TURN_RECORD lost = TURN_RECORD_INIT;
	AUTO_TURN_RECORD last = TURN_RECORD_INIT;
	struct talk talk = { .prompt = "paint it red" };
	struct crash left = { .agent = "rehearsal",
		.session = SESSION_ID,
		.prompt = SV("paint it red"),
		.prompt_id = PROMPT_ID };

	crash(rig, &left);
	recover(rig, &told);
	assert_int_equal(journal_lost(rig->store, NULL, rig->top, &lost, NULL), 0);
	assert_string_equal(lost.conversation, left.id);
	memcpy(talk.id, left.id, sizeof(talk.id));
	talk.again = &lost;
	begin(&talk, rig, 0);
	finish(&talk);
	assert_int_equal(talk.fail, AGENT_OK);
	assert_int_equal(journal_last(rig->store, left.id, &last, NULL), 0);
	assert_int_equal(last.parent, lost.id);
	assert_string_equal(last.prompt_id, PROMPT_ID);
	assert_int_equal(last.state, TURN_ANSWERED);
	turn_record_release(&lost);
	assert_int_equal(journal_lost(rig->store, left.id, NULL, &lost, NULL), ERR_NOTFOUND);
}

static void a_fresh_start_forgets_the_session_it_lost(void **state)
{
	struct rig *rig = *state;
	AUTO_FREE char *program = xasprintf("%s/codex", rig->top);
	AUTO_CONV lost = CONV_INIT;
	AUTO_TURN_RECORD last = TURN_RECORD_INIT;
	struct talk talk = { .prompt = "one" };
	const struct conv_new what = { .dir = rig->top, .agent = "codex" };

	assert_int_equal(file_replace(program,
				 SV("#!/bin/sh\ncase \"$*\" in *resume*) echo 'no rollout found' "
				    ">&2; exit 1 ;; esac\nexec sleep 60\n"),
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

static void a_question_is_journalled_and_leaves_nothing(void **state)
{
	struct rig *rig = *state;
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

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(two_turns_at_once_on_one_loop),
		CASE(a_conversation_has_one_turn_at_a_time),
		CASE(waiting_for_a_conversation_can_be_cancelled),
		CASE(a_turn_can_be_cancelled_before_it_is_sent),
		CASE(a_turn_can_be_cancelled_by_who_hears_it_waits),
		CASE(a_limit_can_be_cancelled_by_who_hears_of_it),
		CASE(a_fresh_start_can_be_cancelled_by_who_hears_of_it),
		CASE(an_end_that_is_not_written_is_tried_again),
		CASE(a_turn_that_is_dropped_is_written_down),
		CASE(a_turn_that_is_refused_leaves_nothing_behind),
		CASE(what_arrived_is_not_known_without_a_record),
		CASE(a_prompt_is_found_in_whatever_form_it_is_kept),
		CASE(other_words_leave_it_open),
		CASE(an_id_that_follows_decides),
		CASE(an_orphan_is_waited_for),
		CASE(an_orphan_that_takes_nothing_is_ended),
		CASE(an_orphan_that_works_is_left_alone),
		CASE(what_was_lost_is_sent_again_under_its_id),
		CASE(a_fresh_start_forgets_the_session_it_lost),
		CASE(a_question_is_journalled_and_leaves_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
