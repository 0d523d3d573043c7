#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "assist/assistant.h"
#include "assist/tell.h"
#include "base/mem.h"
#include "os/file.h"
#include "os/proc.h"

struct rig {
	char top[64];
	char *home;
	char *db;
	char *script;
	struct store *store;
	struct loop *loop;
	struct settings *settings;
	struct utterances *rules;
	struct transcript_home homes[1];
	struct agent_opts agents[AGENTS_MAX];
	struct assistant *as;
	const struct assistant_outcome *out; /* of the last sentence */
	bool done;
	struct str notices;
	bool cancel_on_text;
	bool wait_on_limit;
	struct clock clock;
};

static void on_event(void *data, const struct agent_event *ev)
{
	struct rig *rig = data;

	if (ev->type == AGENT_EV_TEXT && rig->cancel_on_text)
		assistant_cancel(rig->as);
}

static void on_notice(void *data, const char *line)
{
	struct rig *rig = data;

	str_addf(&rig->notices, "%s\n", line);
}

static void start_talk(struct rig *rig)
{
	struct assistant_opts opts = {
		.turns = { .store = rig->store,
			.loop = rig->loop,
			.clock = &rig->clock,
			.agents = rig->agents,
			.homes = rig->homes,
			.n_homes = 1,
			.keep = 1 },
		.decide = { .store = rig->store,
			.clock = &rig->clock,
			.dir = rig->top,
			.project = rig->top,
			.rules = rig->rules,
			.language = TEXT_GERMAN,
			.expiry_ms = 3600000 },
		.ui = { .data = rig, .event = on_event, .notice = on_notice },
		.kind = agent_embedded(),
		.wait_on_limit = rig->wait_on_limit,
	};

	assert_int_equal(assistant_new(&opts, &rig->as, NULL), 0);
}

static void start(struct rig *rig)
{
	assert_int_equal(store_open(rig->db, 0, NULL, &rig->store, NULL), 0);
	rig->loop = loop_new();
	rig->settings = settings_new("/home/me");
	rig->rules = utterances_new(rig->settings);
	rig->homes[0] = (struct transcript_home){
		.agent = "rehearsal", .format = TRANSCRIPT_CLAUDE, .root = rig->home
	};
	rig->agents[agent_index(agent_embedded())] =
		(struct agent_opts){ .home = rig->home, .script = rig->script };
	start_talk(rig);
}

static void stop(struct rig *rig)
{
	assistant_free(rig->as);
	utterances_free(rig->rules);
	settings_free(rig->settings);
	loop_free(rig->loop);
	store_close(rig->store);
	rig->as = NULL;
	rig->rules = NULL;
	rig->loop = NULL;
	rig->store = NULL;
}

static int set_up(void **state)
{
	struct rig *rig = xcalloc(1, sizeof(*rig));

	(void)snprintf(rig->top, sizeof(rig->top), "/tmp/faden-test-XXXXXX");
	assert_non_null(mkdtemp(rig->top));
	rig->home = xasprintf("%s/home", rig->top);
	rig->db = xasprintf("%s/store.db", rig->top);
	rig->notices = (struct str)STR_INIT;
	start(rig);
	*state = rig;
	return 0;
}

static int tear_down(void **state)
{
	struct rig *rig = *state;
	const char *const argv[] = { "/bin/rm", "-rf", rig->top, NULL };
	int status;

	stop(rig);
	assert_int_equal(
		proc_run(&(struct proc_opts){ .argv = argv, .envp = (const char *const *)environ },
			SV(""), 10000, 1000, NULL, NULL, &status, NULL),
		0);
	str_release(&rig->notices);
	free(rig->home);
	free(rig->db);
	free(rig->script);
	free(rig);
	return 0;
}

static void restart(struct rig *rig)
{
	stop(rig);
	start(rig);
}

static void write_script(struct rig *rig, const char *text)
{
	free(rig->script);
	rig->script = xasprintf("%s/script", rig->top);
	assert_int_equal(file_replace(rig->script, sv_of(text), 0600, NULL), 0);
	restart(rig);
}

static void on_done(void *data, const struct assistant_outcome *out)
{
	struct rig *rig = data;

	rig->out = out;
	rig->done = true;
}

static int say_it(struct rig *rig, const struct request *req)
{
	str_clear(&rig->notices);
	rig->done = false;
	assistant_say(rig->as, req, on_done, rig);
	assert_int_equal(loop_run(rig->loop, &rig->done, NULL), 0);
	return rig->out->err.code;
}

static int say(struct rig *rig, const char *text)
{
	return say_it(rig, &(struct request){ .text = sv_of(text) });
}

static void check_recalls(struct rig *rig, const char *want)
{
	assert_int_equal(say(rig, "what did I say?"), 0);
	assert_int_equal(rig->out->turn->fail, AGENT_OK);
	assert_non_null(strstr(rig->out->turn->answer.buf, want));
}

static void test_goes_on_after_a_restart(void **state)
{
	struct rig *rig = *state;
	char id[UUID_TEXT];

	assert_int_equal(say(rig, "the blue door"), 0);
	assert_int_equal(rig->out->kind, UTTERANCE_AGENT);
	memcpy(id, rig->out->turn->conv.id, sizeof(id));
	restart(rig);
	check_recalls(rig, "1. the blue door");
	assert_string_equal(rig->out->turn->conv.id, id);
	assert_string_equal(rig->out->turn->conv.title, "the blue door");
}

static void test_reset_makes_the_next_turn_fresh(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(say(rig, "neue Konversation"), 0);
	assert_int_equal(say(rig, "the blue door"), 0);
	assert_int_equal(say(rig, "Jarvis, von vorne!"), 0);
	assert_int_equal(rig->out->kind, UTTERANCE_RESET);
	assert_string_equal(rig->out->reply, "Alles klar, ich starte eine neue Konversation.");
	restart(rig);
	check_recalls(rig, "Nothing yet");
	assert_int_equal(say(rig, "undo reset"), 0);
	check_recalls(rig, "1. the blue door");
}

/* An answer like any other, no failure. */
static void test_nothing_to_undo_is_said(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(say(rig, "undo reset"), 0);
	assert_int_equal(rig->out->kind, UTTERANCE_UNDO);
	assert_string_equal(rig->out->reply, text_get(TEXT_NOTHING_TO_UNDO, TEXT_GERMAN));
	assert_int_equal(say(rig, "the blue door"), 0);
	check_recalls(rig, "1. the blue door");
}

static void test_new_conversation_leaves_the_old_one(void **state)
{
	struct rig *rig = *state;
	const struct request fresh = { .text = SV("other"), .mode = REQUEST_NEW };
	char first[UUID_TEXT];

	assert_int_equal(say(rig, "first"), 0);
	memcpy(first, rig->out->turn->conv.id, sizeof(first));
	assert_int_equal(say_it(rig, &fresh), 0);
	assert_string_not_equal(rig->out->turn->conv.id, first);
	const struct request back = {
		.text = SV("what did I say?"), .mode = REQUEST_IN, .conversation = first
	};
	assert_int_equal(say_it(rig, &back), 0);
	assert_non_null(strstr(rig->out->turn->answer.buf, "1. first"));
}

static void test_failure_is_reported_and_not_repeated(void **state)
{
	struct rig *rig = *state;

	write_script(rig, "fail timed-out too slow\n---\n");
	assert_int_equal(say(rig, "rm the old notes"), 0);
	assert_int_equal(rig->out->turn->fail, AGENT_TIMED_OUT);
	check_recalls(rig, "1. rm the old notes");
	assert_null(strstr(rig->out->turn->answer.buf, "2."));
}

static void test_lost_session_starts_fresh_once(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(say(rig, "hello"), 0);
	AUTO_FREE char *path =
		claude_session_path(rig->home, rig->top, rig->out->turn->conv.session);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(say(rig, "are you there?"), 0);
	assert_int_equal(rig->out->turn->fail, AGENT_OK);
	assert_non_null(strstr(rig->notices.buf, "nicht mehr"));
	check_recalls(rig, "1. are you there?");
	/* It is called by what is in it. */
	assert_string_equal(rig->out->turn->conv.title, "are you there?");
	AUTO_FREE char *again =
		claude_session_path(rig->home, rig->top, rig->out->turn->conv.session);
	assert_int_equal(unlink(again), 0);
	/* An agent that knows nothing can only guess what is meant, however often it is asked. */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(say(rig, "continue"), ERR_NOTFOUND);
		assert_non_null(strstr(rig->out->err.msg, "rehearsal has nothing of \"are you"));
		assert_false(rig->out->turn->sent);
	}
	assert_int_equal(say(rig, "and now?"), 0);
	check_recalls(rig, "1. and now?");
	assert_string_equal(rig->out->turn->conv.title, "and now?");
}

static void test_cancel_keeps_the_conversation(void **state)
{
	struct rig *rig = *state;

	write_script(rig, "say one two three four five six seven\nwait 60000\n---\n");
	rig->cancel_on_text = true;
	assert_int_equal(say(rig, "count"), 0);
	assert_int_equal(rig->out->turn->fail, AGENT_CANCELLED);
	rig->cancel_on_text = false;
	check_recalls(rig, "1. count");
}

/* Nothing of the sentence before stands for one that was never looked at. */
static void test_cancel_at_once_is_only_that(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(say(rig, "the blue door"), 0);
	assert_int_equal(say(rig, "von vorne"), 0);
	assert_int_equal(rig->out->kind, UTTERANCE_RESET);
	rig->done = false;
	assistant_say(rig->as, &(struct request){ .text = SV("and now?") }, on_done, rig);
	assistant_cancel(rig->as);
	assert_int_equal(loop_run(rig->loop, &rig->done, NULL), 0);
	assert_int_equal(rig->out->err.code, 0);
	assert_int_equal(rig->out->kind, UTTERANCE_AGENT);
	assert_int_equal(rig->out->turn->fail, AGENT_CANCELLED);
	assert_string_equal(rig->out->reply, "");
	assert_int_equal(say(rig, "undo reset"), 0);
	check_recalls(rig, "1. the blue door");
}

static void test_what_was_dropped_leaves_the_next_alone(void **state)
{
	struct rig *rig = *state;

	write_script(rig, "wait 60000\n---\n");
	rig->done = false;
	assistant_say(rig->as, &(struct request){ .text = SV("count") }, on_done, rig);
	for (int i = 0; i < 3; i++)
		assert_int_equal(loop_step(rig->loop, 10, NULL), 0);
	assistant_drop(rig->as);
	assistant_cancel(rig->as); /* nothing runs */
	assert_int_equal(loop_step(rig->loop, 10, NULL), 0);
	assert_false(rig->done);
	check_recalls(rig, "1. count");
}

static void end_process(void *data)
{
	(void)data;
	_exit(0);
}

/* Ends in the middle of a turn without any clean-up, as kill -9 would have it. */
static void die_in_turn(struct rig *rig)
{
	stop(rig); /* no SQLite handle may cross a fork */
	pid_t child = fork();

	if (child == 0) {
		start(rig);
		(void)loop_add_timer(rig->loop, 50, end_process, NULL);
		_exit(say(rig, "paint it red") == 0 ? 8 : 9);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	start(rig);
}

static void test_crash_is_explained_and_nothing_sent_again(void **state)
{
	struct rig *rig = *state;

	write_script(rig, "wait 60000\n---\n");
	die_in_turn(rig);
	assert_int_equal(assistant_recover(rig->as, TURN_RUNNING_ONCE, SV(""), NULL), 0);
	assert_non_null(strstr(rig->notices.buf, "\"paint it red\" kam beim Agenten an"));
	str_clear(&rig->notices);
	assert_int_equal(assistant_recover(rig->as, TURN_RUNNING_ONCE, SV(""), NULL), 0);
	assert_string_equal(rig->notices.buf, "");
	check_recalls(rig, "1. paint it red");
	assert_null(strstr(rig->out->turn->answer.buf, "2."));
}

/* An intent is no delivery: faden may have been killed before it sent anything. */
static void test_what_is_not_known_claims_nothing(void **state)
{
	static const enum text_id texts[] = { TEXT_UNKNOWN_SESSION, TEXT_UNKNOWN_NO_RECORD,
		TEXT_UNKNOWN_GONE, TEXT_UNKNOWN_WORDS, TEXT_UNKNOWN_COMMAND };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		assert_non_null(strstr(text_get(texts[i], TEXT_ENGLISH), "is not known"));
		assert_null(strstr(text_get(texts[i], TEXT_ENGLISH), "handed over"));
		assert_non_null(strstr(text_get(texts[i], TEXT_GERMAN), "ist nicht bekannt"));
		assert_null(strstr(text_get(texts[i], TEXT_GERMAN), "übergeben"));
	}
}

/* Who goes on has seen what became of it, and the same words elsewhere are something else. */
static void test_only_what_was_interrupted_is_refused(void **state)
{
	struct rig *rig = *state;
	struct request other = { .text = SV("paint it red"), .mode = REQUEST_IN };
	char here[UUID_TEXT];

	assert_int_equal(say(rig, "hello"), 0);
	memcpy(here, rig->out->turn->conv.id, sizeof(here));
	write_script(rig, "wait 60000\n---\n");
	for (int i = 0; i < 3; i++) {
		assert_int_equal(conv_reset(rig->store, rig->top, &rig->clock, NULL), 0);
		die_in_turn(rig);
		assert_int_equal(assistant_recover(rig->as, TURN_RUNNING_ONCE, SV(""), NULL), 0);
		if (i == 0) {
			assert_int_equal(say(rig, "paint it red"), ERR_INPUT);
		} else if (i == 1) {
			assert_int_equal(say(rig, "weiter"), 0);
			assert_int_equal(say(rig, "weiter"), 0);
		} else {
			other.conversation = here;
			assert_int_equal(say_it(rig, &other), 0);
		}
		if (i < 2)
			assert_int_equal(say(rig, "paint it red"), 0);
	}
}

/* A turn in the journal that did not arrive. */
static int64_t lose(struct rig *rig, const char *conversation, const char *prompt)
{
	AUTO_TURN_RECORD t = { .agent = xstrdup("rehearsal"), .prompt = STR_INIT };
	int64_t id = 0;

	str_adds(&t.prompt, prompt);
	memcpy(t.conversation, conversation, sizeof(t.conversation));
	assert_int_equal(journal_turn(rig->store, &t, &rig->clock, &id, NULL), 0);
	assert_int_equal(
		journal_end(rig->store, id, TURN_LOST, "interrupted", &rig->clock, NULL), 0);
	return id;
}

/* What did not arrive and is typed again is sent once; elsewhere the words are others. */
static void test_typed_again(void **state)
{
	struct rig *rig = *state;
	struct request req = { .mode = REQUEST_IN };
	char a[UUID_TEXT], b[UUID_TEXT];

	assert_int_equal(say(rig, "hello"), 0);
	memcpy(a, rig->out->turn->conv.id, sizeof(a));
	assert_int_equal(conv_reset(rig->store, rig->top, &rig->clock, NULL), 0);
	restart(rig);
	assert_int_equal(say(rig, "good morning"), 0);
	memcpy(b, rig->out->turn->conv.id, sizeof(b));
	assert_string_not_equal(a, b);
	int64_t older = lose(rig, a, "weiter"), newer = lose(rig, a, "paint it red");
	req.conversation = b;
	req.text = SV("weiter");
	assert_int_equal(say_it(rig, &req), 0);
	assert_false(journal_was_sent_again(rig->store, older));
	req.conversation = a;
	req.text = SV(" weiter\n");
	assert_int_equal(say_it(rig, &req), 0);
	assert_true(journal_was_sent_again(rig->store, older));
	assert_false(journal_was_sent_again(rig->store, newer));
	/* A new conversation may be for what had one. */
	req = (struct request){ .text = SV("paint it red"), .mode = REQUEST_NEW };
	assert_int_equal(say_it(rig, &req), 0);
	assert_true(journal_was_sent_again(rig->store, newer));
}

/* Each of what was told, though all of it is one conversation's. */
static void test_each_that_was_lost_is_given_once(void **state)
{
	struct rig *rig = *state;
	struct proc_id gone;
	AUTO_TURN_RECORD begun = { .agent = xstrdup("rehearsal"),
		.session = xstrdup("4a7c2a0e-0000-4000-8000-00000000000a"),
		.prompt = STR_INIT };
	AUTO_TURN_RECORD waits = { .agent = xstrdup("rehearsal"), .prompt = STR_INIT };
	AUTO_TURN_RECORD lost = TURN_RECORD_INIT;
	int64_t turn, wait;

	assert_int_equal(say(rig, "hello"), 0);
	memcpy(begun.conversation, rig->out->turn->conv.id, sizeof(begun.conversation));
	memcpy(waits.conversation, begun.conversation, sizeof(waits.conversation));
	assert_int_equal(proc_id_self(&gone, NULL), 0);
	gone.start++;
	assert_int_equal(conv_take(rig->store, begun.conversation, &gone, NULL, NULL), 0);
	str_adds(&begun.prompt, "paint it red");
	str_adds(&waits.prompt, "paint it blue");
	assert_int_equal(journal_turn(rig->store, &begun, &rig->clock, &turn, NULL), 0);
	assert_int_equal(
		journal_wait(rig->store, &waits, rig->top, &gone, &rig->clock, &wait, NULL), 0);
	assert_int_equal(assistant_recover(rig->as, TURN_RUNNING_ONCE, SV(""), NULL), 0);
	assert_int_equal(assistant_next_lost(rig->as, &lost, NULL), 0);
	assert_int_equal(lost.id, wait);
	turn_record_release(&lost);
	assert_int_equal(assistant_next_lost(rig->as, &lost, NULL), 0);
	assert_int_equal(lost.id, turn);
	turn_record_release(&lost);
	assert_int_equal(assistant_next_lost(rig->as, &lost, NULL), ERR_NOTFOUND);
}

static void test_conversation_in_use_is_refused(void **state)
{
	struct rig *rig = *state;
	struct proc_id parent;

	assert_int_equal(say(rig, "hello"), 0);
	assert_int_equal(proc_id_self(&parent, NULL), 0);
	parent.pid = getppid();
	parent.start = proc_start_time(parent.pid);
	assert_int_equal(conv_take(rig->store, rig->out->turn->conv.id, &parent, NULL, NULL), 0);
	assert_int_equal(say(rig, "again"), ERR_BUSY);
}

static void test_old_conversation_does_not_go_on(void **state)
{
	struct rig *rig = *state;

	rig->clock = (struct clock){ .fixed = true, .fixed_ms = 1000000000000 };
	assert_int_equal(say(rig, "yesterday"), 0);
	rig->clock.fixed_ms += 3600000;
	check_recalls(rig, "1. yesterday");
	rig->clock.fixed_ms += 3600001;
	check_recalls(rig, "Nothing yet");
	assert_non_null(strstr(rig->notices.buf, "\"yesterday\" war vor 1 h: eine neue"));
}

/* Another terminal of the same folder. */
static void elsewhere(struct rig *rig, const char *text)
{
	const struct request fresh = { .text = sv_of(text), .mode = REQUEST_NEW };
	struct assistant *own = rig->as;

	rig->as = NULL;
	start_talk(rig);
	assert_int_equal(say_it(rig, &fresh), 0);
	assistant_free(rig->as);
	rig->as = own;
}

static void check_current(struct rig *rig, const char *title)
{
	AUTO_CONV c = CONV_INIT;
	int r = conv_current(rig->store, rig->top, &rig->clock, &c, NULL);

	assert_int_equal(r, title ? 0 : ERR_NOTFOUND);
	if (title)
		assert_string_equal(c.title, title);
}

static void test_a_talk_stays_where_it_is(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(say(rig, "plan alpha"), 0);
	elsewhere(rig, "banana bread");
	check_recalls(rig, "1. plan alpha");
	assert_string_equal(rig->notices.buf,
		"Hier bleibt es bei \"plan alpha\"; in diesem Ordner geht inzwischen \"banana "
		"bread\" weiter.\n");
	check_current(rig, "banana bread");
	/* That is told once for each change of it. */
	check_recalls(rig, "1. plan alpha");
	assert_string_equal(rig->notices.buf, "");
	assert_int_equal(conv_reset(rig->store, rig->top, &rig->clock, NULL), 0);
	check_recalls(rig, "1. plan alpha");
	assert_non_null(strstr(rig->notices.buf, "der Ordner wurde anderswo zurückgesetzt"));
	check_current(rig, NULL);
}

static void test_a_reset_is_about_the_talk(void **state)
{
	struct rig *rig = *state;

	assert_int_equal(say(rig, "plan alpha"), 0);
	elsewhere(rig, "banana bread");
	assert_int_equal(say(rig, "von vorne"), 0);
	elsewhere(rig, "carrot cake");
	/* What was said to begin anew does so, whatever was begun elsewhere. */
	check_recalls(rig, "Nothing yet");
	assert_int_equal(say(rig, "undo reset"), 0);
	check_recalls(rig, "1. plan alpha");
	check_current(rig, "plan alpha");
}

/* What somebody was greeted with is where the first sentence goes. */
static void test_a_talk_stays_from_its_beginning(void **state)
{
	struct rig *rig = *state;
	AUTO_CONV alpha = CONV_INIT;

	elsewhere(rig, "plan alpha");
	assert_int_equal(conv_current(rig->store, rig->top, &rig->clock, &alpha, NULL), 0);
	assistant_stay(rig->as, &alpha);
	elsewhere(rig, "banana bread");
	check_recalls(rig, "1. plan alpha");
	/* A command about it finds it, and what that made goes on. */
	assert_int_equal(assistant_lead(rig->as, NULL), 0);
	check_current(rig, "plan alpha");
	elsewhere(rig, "carrot cake");
	assistant_follow(rig->as);
	check_recalls(rig, "1. carrot cake");
	assert_string_equal(rig->notices.buf, "");
}

/* The script's limit ends some milliseconds from now. */
static void test_limit_is_waited_out(void **state)
{
	struct rig *rig = *state;

	rig->wait_on_limit = true;
	write_script(rig, "fail rate-limited 50\n---\nsay now it works\n---\n");
	assert_int_equal(say(rig, "paint it red"), 0);
	assert_int_equal(rig->out->turn->fail, AGENT_OK);
	assert_string_equal(rig->out->turn->answer.buf, "now it works");
	assert_non_null(strstr(rig->notices.buf, "Limit von rehearsal ist erreicht"));
	check_recalls(rig, "2. Bitte mach dort weiter");
}

static void test_after_a_limit_what_acted_is_not_sent_again(void **state)
{
	struct rig *rig = *state;

	rig->wait_on_limit = true;
	write_script(rig, "tool Bash rm x => gone\nfail rate-limited 50\n---\nsay went on\n---\n");
	assert_int_equal(say(rig, "rm x"), 0);
	assert_string_equal(rig->out->turn->answer.buf, "went on");
	check_recalls(rig, "2. Bitte mach dort weiter");
}

static void test_a_cancel_tells_what_ended_and_what_did_not(void **state)
{
	static const struct {
		const char *deeds, *begun, *english, *german;
	} cases[] = {
		{ "", "", "Cancelled.", "Abgebrochen." },
		{ "Read", "", "Cancelled. What was done stands: Read.",
			"Abgebrochen. Was schon getan ist, bleibt: Read." },
		{ "", "Bash", "Cancelled. Begun and broken off: Bash.",
			"Abgebrochen. Begonnen und abgebrochen: Bash." },
		{ "Read", "Bash",
			"Cancelled. What was done stands: Read. Begun and broken off: Bash.",
			"Abgebrochen. Was schon getan ist, bleibt: Read. Begonnen und "
			"abgebrochen: Bash." },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct turn_outcome out = { .deeds = STR_INIT, .begun = STR_INIT };
		AUTO_STR english = STR_INIT;
		AUTO_STR german = STR_INIT;
		str_adds(&out.deeds, cases[i].deeds);
		str_adds(&out.begun, cases[i].begun);
		tell_cancelled(&out, TEXT_ENGLISH, &english);
		tell_cancelled(&out, TEXT_GERMAN, &german);
		assert_string_equal(english.buf, cases[i].english);
		assert_string_equal(german.buf, cases[i].german);
		str_release(&out.deeds);
		str_release(&out.begun);
	}
}

#define CASE(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_goes_on_after_a_restart),
		CASE(test_reset_makes_the_next_turn_fresh),
		CASE(test_nothing_to_undo_is_said),
		CASE(test_new_conversation_leaves_the_old_one),
		CASE(test_failure_is_reported_and_not_repeated),
		CASE(test_lost_session_starts_fresh_once),
		CASE(test_cancel_keeps_the_conversation),
		CASE(test_cancel_at_once_is_only_that),
		CASE(test_what_was_dropped_leaves_the_next_alone),
		CASE(test_crash_is_explained_and_nothing_sent_again),
		CASE(test_what_is_not_known_claims_nothing),
		CASE(test_only_what_was_interrupted_is_refused),
		CASE(test_typed_again),
		CASE(test_each_that_was_lost_is_given_once),
		CASE(test_conversation_in_use_is_refused),
		CASE(test_old_conversation_does_not_go_on),
		CASE(test_a_talk_stays_where_it_is),
		CASE(test_a_reset_is_about_the_talk),
		CASE(test_a_talk_stays_from_its_beginning),
		CASE(test_limit_is_waited_out),
		CASE(test_after_a_limit_what_acted_is_not_sent_again),
		cmocka_unit_test(test_a_cancel_tells_what_ended_and_what_did_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
