#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/proc.h"
#include "turn/test-rig.h"

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

static struct proc_id dead(const struct turn_rig *rig)
{
	struct proc_id id = *turn_host_self(rig->host);

	id.start++; /* the number is ours, the process is not */
	return id;
}

static void crash(struct turn_rig *rig, struct crash *crash)
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
static void recover(struct turn_rig *rig, struct talk *talk)
{
	const struct turn_sink sink = { .data = talk, .news = on_news };
	int before[NEWS_COUNT];

	assert_int_equal(
		turn_recover(rig->host, rig->top, NULL, TURN_RUNNING_ONCE, &sink, NULL), 0);
	memcpy(before, talk->news, sizeof(before));
	assert_int_equal(
		turn_recover(rig->host, rig->top, NULL, TURN_RUNNING_ONCE, &sink, NULL), 0);
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
		/* One that makes its ids gets no prompt before it has told this one, also when it
		 * had lost the session and began another, */
		{ "codex", NULL, NULL, "x", false, NEWS_NOT_SENT, TURN_LOST },
		{ "codex", NULL, "s", "x", false, NEWS_NOT_SENT, TURN_LOST },
		{ "codex", "s", "", "x", false, NEWS_NOT_SENT, TURN_LOST },
		/* unless it is an old one. */
		{ "codex", NULL, "?", "x", false, NEWS_UNKNOWN_SESSION, TURN_NOT_KNOWN },
		{ "exec", "s", NULL, "x", false, NEWS_UNKNOWN_NO_RECORD, TURN_NOT_KNOWN },
		{ "rehearsal", "s", NULL, "x", true, NEWS_UNKNOWN_GONE, TURN_NOT_KNOWN },
		{ "rehearsal", "s", NULL, " /clear", false, NEWS_UNKNOWN_COMMAND, TURN_NOT_KNOWN },
	};
	struct turn_rig *rig = *state;

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
	struct turn_rig *rig = *state;

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
		/* Half an answer is none. */
		{ USER(PROMPT_ID, "x") ANSWER("ye") USER(OTHER_ID, "[Request interrupted by user]"),
			NEWS_UNANSWERED },
		{ USER(PROMPT_ID, "x") ANSWER("yes") USER(OTHER_ID, "more")
				USER(OTHER_ID, "[Request interrupted by user]"),
			NEWS_ANSWERED },
	};
	struct turn_rig *rig = *state;

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
	struct turn_rig *rig = *state;

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
/* An answer by a schema is a call, once its result says that it was taken. */
static void an_answer_may_be_a_call(void **state)
{
#define CALL_OF(tool, id)                                                                       \
	"{\"type\":\"assistant\",\"uuid\":\"" OTHER_ID "\",\"parentUuid\":\"" PROMPT_ID         \
	"\",\"sessionId\":\"" SESSION_ID "\",\"message\":{\"role\":\"assistant\",\"id\":\"m\"," \
	"\"content\":[{\"type\":\"tool_use\",\"id\":\"" id "\",\"name\":\"" tool                \
	"\",\"input\":{\"act\":\"done\"}}]}}\n"
#define CALL(id) CALL_OF("StructuredOutput", id)
#define TAKEN(id, failed)                                                                 \
	"{\"type\":\"user\",\"uuid\":\"" OTHER_ID "\",\"parentUuid\":\"" PROMPT_ID        \
	"\",\"sessionId\":\"" SESSION_ID "\",\"message\":{\"role\":\"user\",\"content\":" \
	"[{\"type\":\"tool_result\",\"tool_use_id\":\"" id "\",\"is_error\":" failed      \
	",\"content\":\"x\"}]}}\n"
	static const struct {
		const char *transcript;
		enum turn_news news;
		const char *answer;
	} cases[] = {
		{ USER(PROMPT_ID, "go on") ANSWER("Well.") CALL("t1") TAKEN("t1", "false"),
			NEWS_ANSWERED, "Well.\n\n{\"act\":\"done\"}" },
		{ USER(PROMPT_ID, "go on") CALL("t1") TAKEN("t1", "false"), NEWS_ANSWERED,
			"{\"act\":\"done\"}" },
		{ USER(PROMPT_ID, "go on") ANSWER("Well.") CALL("t1"), NEWS_UNANSWERED, NULL },
		{ USER(PROMPT_ID, "go on") CALL("t1") TAKEN("t1", "true"), NEWS_UNANSWERED, NULL },
	};
	struct turn_rig *rig = *state;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct talk told = { .rig = rig };
		struct crash left = { .agent = "rehearsal",
			.session = SESSION_ID,
			.prompt = SV("go on"),
			.prompt_id = PROMPT_ID,
			.transcript = cases[i].transcript };

		crash(rig, &left);
		recover(rig, &told);
		assert_int_equal(told.news[cases[i].news], 1);
		if (cases[i].answer)
			assert_string_equal(told.words[1], cases[i].answer);
	}
}

static void note_failed(void *data, enum turn_news what, const char *const words[3], int64_t turn)
{
	(void)turn;
	if (what == NEWS_CALLS_FAILED)
		str_adds(data, words[0]);
}

/* That it was answered does not say that all was done which was asked for. */
static void failed_calls_are_told(void **state)
{
#define FAILS(tool, id) CALL_OF(tool, id) TAKEN(id, "true")
	static const struct {
		const char *transcript, *told;
	} cases[] = {
		{ FAILS("Bash", "t1"), "Bash" },
		{ CALL_OF("Bash", "t1") TAKEN("t1", "false"), "" },
		{ FAILS("NotebookEdit", "t1") FAILS("Edit", "t2"), "NotebookEdit, Edit" },
		{ FAILS("Bash", "t1") FAILS("Read", "t2") FAILS("Bash", "t3"), "Bash, Read" },
		{ FAILS("A", "1") FAILS("B", "2") FAILS("C", "3") FAILS("D", "4") FAILS("E", "5")
				FAILS("F", "6") FAILS("G", "7"),
			"A, B, C, D, E, F +1" },
	};
	struct turn_rig *rig = *state;

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_STR transcript = STR_INIT;
		AUTO_STR told = STR_INIT;
		const struct turn_sink sink = { .data = &told, .news = note_failed };
		struct crash left = { .agent = "rehearsal",
			.session = SESSION_ID,
			.prompt = SV("go on"),
			.prompt_id = PROMPT_ID };

		str_addf(&transcript, "%s%s%s", USER(PROMPT_ID, "go on"), cases[i].transcript,
			ANSWER("Well."));
		left.transcript = transcript.buf;
		crash(rig, &left);
		assert_int_equal(
			turn_recover(rig->host, rig->top, NULL, TURN_RUNNING_ONCE, &sink, NULL), 0);
		assert_string_equal(told.buf, cases[i].told);
		assert_int_equal(state_of(rig, left.id), TURN_ANSWERED);
	}
}

static void start_orphan(struct turn_rig *rig, const char *script, struct proc *ret)
{
	const struct proc_id owner = dead(rig);
	AUTO_FREE char *mark =
		xasprintf("FADEN_RUN=%ld.%llu.x", (long)owner.pid, (unsigned long long)owner.start);
	/* More than the quarter of a megabyte that a shell may hand on. */
	AUTO_FREE char *large = xasprintf("LARGE=%0100000d", 0);
	const char *const argv[] = { "/bin/sh", "-c", script, NULL };
	const char *const envp[] = { "PATH=/usr/bin:/bin", large, large, large, mark, NULL };

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

/* A crash that left its agent at work with "paint it red", and the next turn there. */
struct beside {
	struct crash left;
	struct proc orphan;
	struct talk talk;
};

static void leave_orphan(
	struct turn_rig *rig, const char *script, const char *transcript, struct beside *b)
{
	*b = (struct beside){
		.left = { .agent = "rehearsal",
			.session = SESSION_ID,
			.prompt = SV("paint it red"),
			.prompt_id = PROMPT_ID,
			.transcript = transcript },
		.orphan = PROC_INIT,
		.talk = { .prompt = "and now blue" },
	};
	crash(rig, &b->left);
	start_orphan(rig, script, &b->orphan);
	memcpy(b->talk.id, b->left.id, sizeof(b->talk.id));
}

static void an_orphan_is_waited_for(void **state)
{
	struct turn_rig *rig = *state;
	struct talk told = { .rig = rig };
	struct beside b;

	leave_orphan(rig, "sleep 0.4", NULL, &b);
	/* Who only looks is told once that it works. */
	recover(rig, &told);
	assert_int_equal(told.news[NEWS_STILL_AT_IT], 1);
	assert_int_equal(state_of(rig, b.left.id), TURN_INTENT);
	begin(&b.talk, rig, 0);
	run_for(rig, 100);
	assert_int_equal(b.talk.news[NEWS_WAITS_FOR_IT], 1);
	assert_int_equal(b.talk.begun, 0);
	assert_int_equal(b.talk.claims, 1);
	finish_reaping(&b.talk, &b.orphan);
	/* Nothing is decided anew while it runs: when it is gone, and when that is settled. */
	assert_int_equal(b.talk.claims, 3);
	assert_int_equal(b.talk.news[NEWS_NOT_SENT], 1);
	assert_int_equal(b.talk.err.code, 0);
	assert_int_equal(b.talk.fail, AGENT_OK);
	/* The session that was named and never begun is begun now: nothing was lost. */
	assert_int_equal(b.talk.news[NEWS_GONE], 0);
}

static void an_orphan_that_takes_nothing_is_ended(void **state)
{
	struct turn_rig *rig = *state;
	struct beside b;

	leave_orphan(rig, "trap '' TERM; while :; do sleep 0.1; done", NULL, &b);
	begin(&b.talk, rig, 0);
	finish_reaping(&b.talk, &b.orphan);
	assert_int_equal(b.talk.news[NEWS_WAITS_FOR_IT], 1);
	assert_int_equal(b.talk.news[NEWS_ENDS_IT], 1);
	assert_int_equal(b.talk.news[NEWS_NOT_SENT], 1);
	assert_int_equal(b.talk.fail, AGENT_OK);
}

/* As one that hangs in the kernel. */
static pid_t deaf;
int kill(pid_t pid, int sig)
{
	return deaf && pid == -deaf ? 0 : (int)syscall(SYS_kill, pid, sig);
}

static void an_orphan_that_cannot_be_killed_is_given_up(void **state)
{
	struct turn_rig *rig = *state;
	struct beside b;

	leave_orphan(rig, "sleep 60", NULL, &b);
	deaf = b.orphan.pid;
	begin(&b.talk, rig, 0);
	finish(&b.talk);
	deaf = 0;
	assert_int_equal(b.talk.news[NEWS_ENDS_IT], 1);
	assert_int_equal(b.talk.err.code, ERR_BUSY);
	assert_non_null(strstr(b.talk.err.msg, "was killed and does not end"));
	assert_int_equal(state_of(rig, b.left.id), TURN_INTENT);
	proc_release(&b.orphan);
}

/* One that works is never ended: who does not want to wait is told how to. */
static void an_orphan_that_works_is_left_alone(void **state)
{
	struct turn_rig *rig = *state;
	struct beside b;

	leave_orphan(rig, "sleep 60", USER(PROMPT_ID, "paint it red"), &b);
	begin(&b.talk, rig, 0);
	finish(&b.talk);
	assert_int_equal(b.talk.err.code, ERR_BUSY);
	assert_non_null(strstr(b.talk.err.msg, "kill "));
	assert_false(proc_reap(&b.orphan, false, NULL));
	assert_int_equal(state_of(rig, b.left.id), TURN_INTENT);
	/* A wait can be cancelled like any other. */
	begin(&b.talk, rig, 0);
	run_for(rig, 100);
	turn_cancel(b.talk.turn);
	finish(&b.talk);
	assert_int_equal(b.talk.fail, AGENT_CANCELLED);
	proc_release(&b.orphan);
}

/* Not every lock has a process, as on a network's file system. */
static void a_writer_without_a_number_is_told(void **state)
{
	struct turn_rig *rig = *state;
	struct talk talk = { .prompt = "and blue", .agent = "codex" };
	struct crash left = {
		.agent = "codex", .session = SESSION_ID, .prompt = SV("paint it red")
	};
	AUTO_FREE char *dir = path_join(rig->home, "thread-writer-locks");
	AUTO_FREE char *lock = path_join(dir, SESSION_ID ".lock");

	assert_int_equal(file_mkdirs(dir, NULL), 0);
	AUTO_CLOSE int fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(fcntl(fd, F_OFD_SETLK, &(struct flock){ .l_type = F_WRLCK }), 0);
	crash(rig, &left);
	memcpy(talk.id, left.id, sizeof(talk.id));
	begin(&talk, rig, 0);
	finish(&talk);
	assert_int_equal(talk.err.code, ERR_BUSY);
	assert_non_null(strstr(talk.err.msg, "is open in codex"));
	assert_int_equal(state_of(rig, left.id), TURN_INTENT);
}

/* One step of the story and the same id: whoever keeps ids cannot run it twice. */
static void what_was_lost_is_sent_again_under_its_id(void **state)
{
	struct turn_rig *rig = *state;
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
	assert_int_equal(journal_lost(rig->store, NULL, rig->top, SV(""), &lost, NULL), 0);
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
	assert_int_equal(
		journal_lost(rig->store, left.id, NULL, SV(""), &lost, NULL), ERR_NOTFOUND);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(what_arrived_is_not_known_without_a_record),
		CASE(a_prompt_is_found_in_whatever_form_it_is_kept),
		CASE(other_words_leave_it_open),
		CASE(an_id_that_follows_decides),
		CASE(an_answer_may_be_a_call),
		CASE(failed_calls_are_told),
		CASE(an_orphan_is_waited_for),
		CASE(an_orphan_that_takes_nothing_is_ended),
		CASE(an_orphan_that_cannot_be_killed_is_given_up),
		CASE(an_orphan_that_works_is_left_alone),
		CASE(a_writer_without_a_number_is_told),
		CASE(what_was_lost_is_sent_again_under_its_id),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
