#include "assist/correct.h"
#include "assist/decide.h"
#include "assist/kit.h"
#include "assist/learn.h"
#include "assist/record.h"
#include "transcript/test-session.h"

#define ID_A "aaaaaaaa-0000-4000-8000-000000000001"
#define ID_B "aaaabbbb-0000-4000-8000-000000000002"

struct world {
	char *folder, *claude, *dir, *other;
	struct transcript_home home;
	struct store *store;
	struct settings *settings;
	struct router *router;
	struct clock clock;
	struct decide_opts opts;
};

/* A session of two prompts, minutes before the clock of the world. */
static void write_session(
	const struct world *w, const char *dir, const char *id, int minutes, const char *prompt)
{
	AUTO_FREE char *path = claude_session_path(w->claude, dir, id);
	char when[CLOCK_TEXT_MAX];
	AUTO_STR text = STR_INIT;

	clock_format_iso(clock_wall_ms(&w->clock) - minutes * INT64_C(60000), when);
	str_addf(&text,
		"{\"parentUuid\":null,\"isSidechain\":false,\"type\":\"user\",\"uuid\":\"u0\","
		"\"timestamp\":\"%s\",\"cwd\":\"%s\",\"sessionId\":\"s\",\"message\":{\"role\":"
		"\"user\",\"content\":\"%s\"}}\n",
		when, dir, prompt);
	AUTO_FREE char *made =
		session_write(w->folder, path + strlen(w->folder) + 1, str_sv(&text));
}

static int setup(void **state)
{
	struct world *w = xcalloc(1, sizeof(*w));
	char *real = NULL;

	w->folder = temp_folder();
	assert_int_equal(path_real(w->folder, &real, NULL), 0);
	free(w->folder);
	w->folder = real;
	w->claude = path_join(w->folder, "claude");
	w->dir = path_join(w->folder, "here");
	w->other = path_join(w->folder, "there");
	assert_int_equal(mkdir(w->dir, 0700), 0);
	assert_int_equal(mkdir(w->other, 0700), 0);
	w->home = (struct transcript_home){
		.agent = "claude", .format = TRANSCRIPT_CLAUDE, .root = w->claude
	};
	w->clock = (struct clock){ true, 1772359200000 };
	assert_int_equal(store_open(NULL, STORE_MEMORY, NULL, &w->store, NULL), 0);
	w->settings = settings_new("/home/me");
	assert_int_equal(kit_router(w->settings, NULL, NULL, &w->router, NULL), 0);
	w->opts = (struct decide_opts){
		.store = w->store,
		.clock = &w->clock,
		.dir = w->dir,
		.project = w->dir,
		.router = w->router,
		.routes = true,
		.homes = &w->home,
		.n_homes = 1,
		.newest = true,
		.language = TEXT_ENGLISH,
	};
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	router_free(w->router);
	settings_free(w->settings);
	store_close(w->store);
	temp_remove(w->folder);
	free(w->claude);
	free(w->dir);
	free(w->other);
	free(w);
	return 0;
}

static struct decision ask(const struct world *w, const char *text)
{
	struct decision d;
	struct err err = ERR_INIT;

	decision_init(&d);
	assert_int_equal(decide_refresh(&w->opts, &err), 0);
	assert_int_equal(decide(&w->opts, &(struct request){ .text = sv_of(text) }, &d, &err), 0);
	return d;
}

static void test_the_newest_session_is_leant_on(void **state)
{
	struct world *w = *state;
	CLEANUP(decision_release) struct decision none = ask(w, "continue");

	assert_null(none.conv.session);
	write_session(w, w->dir, ID_A, 60, "write a parser");
	write_session(w, w->dir, ID_B, 5, "sort the invoices");
	CLEANUP(decision_release) struct decision newest = ask(w, "continue");
	assert_true(is_member(&newest.conv));
	assert_string_equal(newest.conv.session, ID_B);
	assert_non_null(strstr(newest.notice.buf, "begun in claude: sort the invoices, 5 min ago"));
	assert_string_equal(newest.other, ID_A);
	CLEANUP(decision_release) struct decision named = ask(w, "back to the parser");
	assert_string_equal(named.conv.session, ID_A);
	/* A decision has no effect. */
	AUTO_CONV made = CONV_INIT;
	assert_int_equal(
		conv_by_session(w->store, "claude", ID_A, &w->clock, &made, NULL), ERR_NOTFOUND);
	/* Who only stays is not moved. */
	w->opts.routes = false;
	w->opts.newest = false;
	CLEANUP(decision_release) struct decision stays = ask(w, "continue");
	assert_null(stays.conv.session);
	w->opts.newest = true;
	CLEANUP(decision_release) struct decision begins = ask(w, "whatever");
	assert_string_equal(begins.conv.session, ID_B);
	assert_int_equal(begins.by, BY_FOLDER);
}

static void test_old_ones_and_those_before_a_reset_must_be_named(void **state)
{
	struct world *w = *state;

	write_session(w, w->dir, ID_A, 9 * 24 * 60, "write a parser for tax forms");
	CLEANUP(decision_release) struct decision old = ask(w, "continue");
	assert_false(is_member(&old.conv));
	write_session(w, w->dir, ID_B, 5, "sort the invoices");
	assert_int_equal(conv_reset(w->store, w->dir, &w->clock, NULL), 0);
	CLEANUP(decision_release) struct decision reset = ask(w, "continue");
	assert_false(is_member(&reset.conv));
	CLEANUP(decision_release)
	struct decision named = ask(w, "go back to the parser for tax forms");
	assert_string_equal(named.conv.session, ID_A);
}

/* What an undo brings back: the agents' own too, as of the reset that is undone. */
static void test_an_undo_is_exact(void **state)
{
	struct world *w = *state;
	AUTO_CONV here = CONV_INIT;
	const int64_t minute = 60000;

	assert_int_equal(decide_undo(&w->opts, &here, NULL), ERR_NOTFOUND);
	write_session(w, w->dir, ID_A, 60, "write a parser");
	assert_int_equal(decide_refresh(&w->opts, NULL), 0);
	assert_int_equal(conv_reset(w->store, w->dir, &w->clock, NULL), 0);
	w->clock.fixed_ms += minute;
	assert_int_equal(conv_reset(w->store, w->dir, &w->clock, NULL), 0);
	assert_int_equal(decide_undo(&w->opts, &here, NULL), 0);
	assert_string_equal(here.session, ID_A);
	CLEANUP(decision_release) struct decision d = ask(w, "what about the weather?");
	assert_string_equal(d.conv.session, ID_A);

	/* Only the last reset is undone when that brings something back. */
	assert_int_equal(conv_reset(w->store, w->dir, &w->clock, NULL), 0);
	w->clock.fixed_ms += 10 * minute;
	write_session(w, w->dir, ID_B, 5, "sort the invoices");
	assert_int_equal(decide_refresh(&w->opts, NULL), 0);
	assert_int_equal(conv_reset(w->store, w->dir, &w->clock, NULL), 0);
	CLEANUP(decision_release) struct decision none = ask(w, "continue");
	assert_false(is_member(&none.conv));
	conv_release(&here);
	assert_int_equal(decide_undo(&w->opts, &here, NULL), 0);
	assert_string_equal(here.session, ID_B);
	conv_release(&here);
	assert_int_equal(conv_by_session(w->store, "claude", ID_A, &w->clock, &here, NULL), 0);
	assert_true(here.before_reset);
}

static void test_a_name_is_the_strongest_match(void **state)
{
	struct world *w = *state;
	static const char *const words[] = { "back to kumquat", "Kumquat", "zurück zu Kumquat!" };
	static const char *const others[] = { "grow a kumquat tree", "back to kumquats" };

	write_session(w, w->dir, ID_A, 5, "a kumquat a day");
	write_session(w, w->other, ID_B, 500, "sort the invoices");
	assert_int_equal(catalogue_refresh(w->store, &w->home, 1, NULL, NULL, NULL), 0);
	assert_int_equal(catalogue_rename(w->store, "claude", ID_B, "kumquat", NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		CLEANUP(decision_release) struct decision d = ask(w, words[i]);
		assert_non_null(d.conv.session);
		assert_string_equal(d.conv.session, ID_B);
		assert_string_equal(d.conv.dir, w->other);
		assert_non_null(strstr(d.notice.buf, w->other));
	}
	for (size_t i = 0; i < ARRAY_LEN(others); i++) {
		CLEANUP(decision_release) struct decision d = ask(w, others[i]);
		assert_true(!d.conv.session || strcmp(d.conv.session, ID_B) != 0);
	}
	/* And it stays one when it is a conversation. */
	CLEANUP(decision_release) struct decision d = ask(w, "back to kumquat");
	assert_int_equal(member_adopt(w->store, &d.conv, &w->clock, NULL), 0);
	assert_true(d.conv.id[0] != '\0');
	CLEANUP(decision_release) struct decision again = ask(w, "back to kumquat");
	assert_string_equal(again.conv.id, d.conv.id);
}

/* What an assistant does with a sentence: *ret is what was decided. */
static void act(const struct world *w, struct sv text, struct decision *ret)
{
	int64_t step;

	decision_init(ret);
	assert_int_equal(decide_refresh(&w->opts, NULL), 0);
	assert_int_equal(decide(&w->opts, &(struct request){ .text = text }, ret, NULL), 0);
	if (is_member(&ret->conv)) {
		assert_int_equal(member_adopt(w->store, &ret->conv, &w->clock, NULL), 0);
		assert_int_equal(learn_adopted(w->store, w->router, &ret->conv, NULL), 0);
	}
	assert_true(ret->conv.id[0] != '\0');
	assert_int_equal(conv_set_current(w->store, w->dir, ret->conv.id, &w->clock, NULL), 0);
	if (ret->what == DECIDED_TURN) {
		AUTO_TURN_RECORD turn = { .agent = xstrdup("claude"), .prompt = STR_INIT };
		str_add(&turn.prompt, str_sv(&ret->prompt));
		memcpy(turn.conversation, ret->conv.id, sizeof(turn.conversation));
		assert_int_equal(journal_turn(w->store, &turn, &w->clock, &step, NULL), 0);
	}
	assert_int_equal(decision_note(&w->opts, ret, ret->conv.id,
				 ret->what == DECIDED_TURN ? NOTE_SAID : NOTE_ACTED, NULL),
		0);
}

static void test_a_correction_says_all_of_it_again(void **state)
{
	const struct world *w = *state;
	AUTO_STR text = STR_INIT;

	write_session(w, w->dir, ID_A, 60, "write a parser");
	write_session(w, w->dir, ID_B, 5, "sort the invoices");
	str_adds(&text, "sort the invoices by date too");
	while (text.len < 8451)
		str_adds(&text, "\nand the invoices");
	str_add(&text, (struct sv){ "\0end", 4 });
	CLEANUP(decision_release) struct decision first, again;
	act(w, str_sv(&text), &first);
	act(w, SV("no, the other one"), &again);
	assert_int_equal(again.by, BY_CORRECTION);
	assert_string_not_equal(again.conv.id, first.conv.id);
	assert_int_equal(again.prompt.len, text.len);
	assert_memory_equal(again.prompt.buf, text.buf, text.len);
}

static void test_a_correction_finds_a_session_by_its_words(void **state)
{
	const struct world *w = *state;

	write_session(w, w->dir, ID_A, 60, "write a parser for tax forms");
	write_session(w, w->dir, ID_B, 5, "sort the invoices");
	CLEANUP(decision_release) struct decision first, again;
	act(w, SV("continue"), &first);
	assert_string_equal(first.conv.session, ID_B);
	act(w, SV("no, the one about the parser"), &again);
	assert_int_equal(again.by, BY_CORRECTION);
	assert_int_equal(again.what, DECIDED_TURN);
	assert_string_equal(again.conv.session, ID_A);
	assert_string_equal(again.prompt.buf, "continue");
}

/* However one comes back to a conversation: what was said there is not said there again. */
static void test_a_correction_says_nothing_twice(void **state)
{
	const struct world *w = *state;

	write_session(w, w->dir, ID_A, 60, "write a parser for tax forms");
	write_session(w, w->dir, ID_B, 5, "sort the invoices");
	CLEANUP(decision_release) struct decision first, about, back;
	act(w, SV("continue"), &first);
	assert_string_equal(first.conv.session, ID_B);
	act(w, SV("no, the one about the parser"), &about);
	assert_int_equal(about.what, DECIDED_TURN);
	act(w, SV("no, the other one"), &back);
	assert_int_equal(back.by, BY_CORRECTION);
	assert_string_equal(back.conv.session, ID_B);
	assert_int_equal(back.what, DECIDED_SWITCH);
	assert_string_equal(back.reply.buf, "From now on: sort the invoices.");
}

/* Who asked for an agent is not sent to another's conversation. */
static void test_a_correction_keeps_to_the_agent(void **state)
{
	struct world *w = *state;

	write_session(w, w->dir, ID_A, 60, "write a parser for tax forms");
	write_session(w, w->dir, ID_B, 5, "sort the invoices");
	CLEANUP(decision_release) struct decision first;
	act(w, SV("continue"), &first);
	w->opts.agent = "codex";
	CLEANUP(decision_release) struct decision other = ask(w, "no, the other one");
	assert_null(other.conv.session);
	CLEANUP(decision_release) struct decision about = ask(w, "no, the one about the parser");
	assert_null(about.conv.session);
	w->opts.agent = "claude";
	CLEANUP(decision_release) struct decision same = ask(w, "no, the other one");
	assert_string_equal(same.conv.session, ID_A);
}

static void test_words_that_only_go_on_or_back(void **state)
{
	static const char *const on[] = { "continue", "Please continue.", "ok, go on", "weiter!",
		"mach bitte weiter", "continue please", "let's continue", "继续" };
	static const char *const more[] = { "", "continue with the parser", "now run it",
		"continue the list", "weiter unten steht mehr", "don't continue" };
	static const struct {
		const char *text, *to;
	} back[] = {
		{ "back to kumquat", "kumquat" },
		{ "OK, back to the kumquat tree!", "kumquat tree" },
		{ "go back to kumquat", "kumquat" },
		{ "zurück zum Kumquat", "Kumquat" },
		{ "go back to the old colour", NULL },
		{ "back to what we had before the last commit", NULL },
		{ "back to", NULL },
		{ "my back to the wall", NULL },
	};
	struct sv to;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(on); i++)
		assert_true(route_only_goes_on(sv_of(on[i])));
	for (size_t i = 0; i < ARRAY_LEN(more); i++)
		assert_false(route_only_goes_on(sv_of(more[i])));
	for (size_t i = 0; i < ARRAY_LEN(back); i++) {
		assert_int_equal(route_goes_back(sv_of(back[i].text), &to), back[i].to != NULL);
		if (back[i].to)
			assert_true(sv_is(to, back[i].to));
	}
	AUTO_STR subject = STR_INIT;
	route_subject(SV("continue with the harbour wall"), &subject);
	assert_string_equal(subject.buf, "the harbour wall");
}

/* A conversation of ours that somebody has gone on with in the agent, and has open there now. */
static void test_what_is_open_is_not_begun_anew(void **state)
{
	struct world *w = *state;
	CLEANUP(decision_release) struct decision first;

	write_session(w, w->dir, ID_A, 60, "write a parser");
	act(w, SV("continue"), &first);
	AUTO_FREE char *notes = path_join(w->claude, "sessions");
	AUTO_FREE char *note = path_join(notes, "note.json");
	AUTO_STR text = STR_INIT;
	str_addf(&text, "{\"pid\":%d,\"sessionId\":\"" ID_A "\",\"procStart\":\"%llu\"}", getpid(),
		(unsigned long long)proc_start_time(getpid()));
	assert_int_equal(mkdir(notes, 0700), 0);
	assert_int_equal(file_replace(note, str_sv(&text), 0, NULL), 0);
	w->clock.fixed_ms += 10 * 60000;
	write_session(w, w->dir, ID_A, 5, "write a parser");
	CLEANUP(decision_release) struct decision open = ask(w, "continue");
	assert_true(open.waits && open.held);
	assert_string_equal(open.conv.id, first.conv.id);
	assert_int_equal(open.conv.owner.pid, getpid());
	CLEANUP(decision_release) struct decision other = ask(w, "sort the invoices");
	assert_false(other.waits);
	assert_false(other.conv.id[0]);
	assert_non_null(strstr(other.notice.buf, "\"write a parser\" is open in claude"));
}

static void test_a_record_comes_back(void **state)
{
	const struct world *w = *state;
	AUTO_RECORD rec = {
		.at = 1, .said = 3, .told = true, .asked = true, .text = xstrdup("a\n\nb ")
	};
	AUTO_RECORD back = { .text = NULL };

	assert_false(record_read(w->store, w->dir, &back));
	strv_add(&rec.places, ID_A);
	strv_add(&rec.places, "claude:" ID_B);
	assert_int_equal(record_write(w->store, w->dir, &rec, NULL), 0);
	assert_true(record_read(w->store, w->dir, &back));
	assert_int_equal(back.at, 1);
	assert_int_equal(back.said, 3);
	assert_true(back.told && back.asked && !back.acted);
	assert_string_equal(back.text, "a\n\nb ");
	assert_string_equal(back.open, "");
	assert_string_equal(place_id(back.places.v[1]), ID_B);
	/* What another version has written is none. */
	AUTO_FREE char *key = xasprintf("route:%s", w->dir);
	assert_int_equal(store_pref_set(w->store, key, ID_A "\n\n0\n0\ntext", NULL), 0);
	record_release(&back);
	assert_false(record_read(w->store, w->dir, &back));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_the_newest_session_is_leant_on, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_old_ones_and_those_before_a_reset_must_be_named, setup, teardown),
		cmocka_unit_test_setup_teardown(test_an_undo_is_exact, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_a_name_is_the_strongest_match, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_a_correction_says_all_of_it_again, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_a_correction_finds_a_session_by_its_words, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_a_correction_says_nothing_twice, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_a_correction_keeps_to_the_agent, setup, teardown),
		cmocka_unit_test(test_words_that_only_go_on_or_back),
		cmocka_unit_test_setup_teardown(
			test_what_is_open_is_not_begun_anew, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_record_comes_back, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
