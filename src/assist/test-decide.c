#include "assist/correct.h"
#include "assist/decide.h"
#include "assist/kit.h"
#include "assist/learn.h"
#include "assist/record.h"
#include "assist/redirect.h"
#include "store/said.h"
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
	assert_int_equal(decide_refresh(&w->opts, SV(""), &err), 0);
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
	assert_int_equal(decide_refresh(&w->opts, SV(""), NULL), 0);
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
	assert_int_equal(decide_refresh(&w->opts, SV(""), NULL), 0);
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
	assert_int_equal(decide_refresh(&w->opts, SV(""), NULL), 0);
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
		turn.before_size = 1; /* nothing here is begun by a sentence */
		memcpy(turn.conversation, ret->conv.id, sizeof(turn.conversation));
		assert_int_equal(journal_turn(w->store, &turn, &w->clock, &step, NULL), 0);
	}
	assert_int_equal(decision_note(&w->opts, ret, ret->conv.id,
				 ret->what == DECIDED_TURN ? NOTE_SAID : NOTE_ACTED, NULL),
		0);
}

/* What was gone back to behind a reset is no news to who takes that back. */
static void test_an_undo_tells_what_went_on_already(void **state)
{
	struct world *w = *state;
	AUTO_CONV here = CONV_INIT;

	write_session(w, w->dir, ID_A, 60, "write a parser");
	for (int i = 0; i < 3; i++) {
		CLEANUP(decision_release) struct decision back;
		act(w, SV("back to the parser"), &back);
		assert_string_equal(back.conv.session, ID_A);
		if (i < 2)
			assert_int_equal(conv_reset(w->store, w->dir, &w->clock, NULL), 0);
	}
	for (int i = 0; i < 2; i++) {
		conv_release(&here);
		assert_int_equal(decide_undo(&w->opts, &here, NULL), 1);
		assert_string_equal(here.session, ID_A);
	}
	conv_release(&here);
	assert_int_equal(decide_undo(&w->opts, &here, NULL), ERR_NOTFOUND);
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

/* "Continue" is no first prompt of a correction either: what comes next begins anew. */
static void test_continue_is_not_said_anew(void **state)
{
	const struct world *w = *state;
	CLEANUP(decision_release) struct decision on;

	write_session(w, w->dir, ID_B, 5, "sort the invoices");
	act(w, SV("continue"), &on);
	assert_string_equal(on.conv.session, ID_B);
	CLEANUP(decision_release) struct decision anew = ask(w, "no, new conversation");
	assert_int_equal(anew.by, BY_CORRECTION);
	assert_int_equal(anew.what, DECIDED_SWITCH);
	assert_string_equal(anew.reply.buf, "From now on: a new conversation.");
}

/* A correction is of what was told last in its terminal, whatever was said or ended elsewhere. */
static void test_a_correction_is_of_what_was_told_here(void **state)
{
	struct world *w = *state;
	struct proc_id here, there, third, gone;

	assert_int_equal(proc_id_self(&here, NULL), 0);
	there = third = gone = here;
	there.host[0] ^= 1;
	third.host[0] ^= 2;
	gone.start += 1;
	write_session(w, w->dir, ID_A, 60, "write a parser for tax forms");
	write_session(w, w->dir, ID_B, 5, "sort the invoices");
	CLEANUP(decision_release) struct decision first, other, more, closed;
	w->opts.terminal = &here;
	act(w, SV("continue"), &first);
	w->opts.terminal = &there;
	act(w, SV("and the invoices of May"), &other);
	w->opts.terminal = &here;
	CLEANUP(decision_release) struct decision mine = ask(w, "no, the other one");
	assert_string_equal(mine.prompt.buf, "continue");
	assert_string_equal(mine.conv.session, ID_A);

	/* What ends later was not said later. */
	act(w, SV("back to the parser, the forms of June"), &more);
	assert_int_equal(decision_note(&w->opts, &first, first.conv.id, NOTE_SAID, NULL), 0);
	CLEANUP(decision_release) struct decision last = ask(w, "no, new conversation");
	assert_string_equal(last.prompt.buf, "back to the parser, the forms of June");
	/* Nor is it of what is told while it waits. */
	w->opts.until = first.noted;
	CLEANUP(decision_release) struct decision waited = ask(w, "no, the other one");
	assert_string_equal(waited.prompt.buf, "continue");
	w->opts.until = 0;

	/* Where nothing was said yet, nothing is said again. */
	w->opts.terminal = &third;
	CLEANUP(decision_release) struct decision fresh = ask(w, "no, new conversation");
	assert_int_equal(fresh.what, DECIDED_SWITCH);
	assert_string_equal(fresh.wrong, "");
	/* What a terminal has said that is gone is anybody's. */
	w->opts.terminal = &gone;
	act(w, SV("and the invoices of July"), &closed);
	w->opts.terminal = &third;
	CLEANUP(decision_release) struct decision heir = ask(w, "no, new conversation");
	assert_int_equal(heir.what, DECIDED_TURN);
	assert_string_equal(heir.prompt.buf, "and the invoices of July");
}

/* What leans on something leans on what was told last in its terminal. */
static void test_it_goes_on_with_what_was_told_here(void **state)
{
	struct world *w = *state;
	struct proc_id here, there;

	assert_int_equal(proc_id_self(&here, NULL), 0);
	there = here;
	there.host[0] ^= 1;
	write_session(w, w->dir, ID_A, 60, "write a parser for tax forms");
	write_session(w, w->dir, ID_B, 5, "sort the invoices");
	CLEANUP(decision_release) struct decision first, other, parser, mine, later;
	w->opts.terminal = &here;
	act(w, SV("continue"), &first);
	w->opts.terminal = &there;
	act(w, SV("back to the parser"), &other);
	assert_string_equal(other.conv.session, ID_A);
	w->opts.terminal = &here;
	/* Also where it is no longer what goes on in the folder, which is told then. */
	mine = ask(w, "continue");
	assert_string_equal(mine.conv.id, first.conv.id);
	assert_non_null(strstr(mine.notice.buf, "Resuming: sort the invoices"));
	parser = ask(w, "the parser for tax forms is slow");
	assert_string_equal(parser.conv.id, other.conv.id);
	assert_non_null(strstr(parser.notice.buf, "Resuming: write a parser"));
	/* Long ago is as if it were not. */
	w->clock.fixed_ms += 24 * INT64_C(3600000);
	w->opts.terminal = &there;
	act(w, SV("back to the parser"), &later);
	w->opts.terminal = &here;
	CLEANUP(decision_release) struct decision old = ask(w, "continue");
	assert_string_equal(old.conv.id, later.conv.id);
}

/* What is said in a project is said in its folders. */
static void test_a_correction_in_a_folder_below(void **state)
{
	struct world *w = *state;
	AUTO_FREE char *sub = path_join(w->dir, "sub");
	struct clock later = w->clock;

	assert_int_equal(mkdir(sub, 0700), 0);
	write_session(w, w->dir, ID_A, 60, "write a parser for tax forms");
	write_session(w, w->dir, ID_B, 5, "sort the invoices");
	CLEANUP(decision_release) struct decision first;
	act(w, SV("continue"), &first);
	w->opts.dir = sub;
	CLEANUP(decision_release) struct decision below = ask(w, "no, the other one");
	assert_int_equal(below.by, BY_CORRECTION);
	assert_string_equal(below.prompt.buf, "continue");
	/* Behind a reset of the one or the other it is not said again. */
	later.fixed_ms += 1000;
	assert_int_equal(conv_reset(w->store, w->dir, &later, NULL), 0);
	CLEANUP(decision_release) struct decision reset = ask(w, "no, new conversation");
	assert_int_not_equal(reset.by, BY_CORRECTION);
}

/* Whatever line says where a sentence goes: what comes next may correct it. */
static void test_a_correction_of_what_goes_on_in_another_folder(void **state)
{
	struct world *w = *state;
	AUTO_FREE char *sub = path_join(w->dir, "sub");

	write_session(w, w->dir, ID_A, 60, "write a crawler for tax forms");
	write_session(w, w->dir, ID_B, 5, "sort the invoices");
	CLEANUP(decision_release) struct decision first, more;
	act(w, SV("continue"), &first);
	assert_int_equal(mkdir(sub, 0700), 0);
	w->opts.dir = sub;
	assert_int_equal(conv_set_current(w->store, sub, first.conv.id, &w->clock, NULL), 0);
	act(w, SV("and now by date"), &more);
	assert_false(more.elsewhere);
	assert_non_null(strstr(more.notice.buf, "Going on with \"sort the invoices\", in "));
	CLEANUP(decision_release) struct decision again = ask(w, "no, the crawler");
	assert_int_equal(again.by, BY_CORRECTION);
	assert_string_equal(again.conv.session, ID_A);
	assert_string_equal(again.prompt.buf, "and now by date");
}

/* However many fit better: the one that was left is among the first. */
static void test_the_one_that_was_left_is_near(void **state)
{
	struct world *w = *state;

	write_session(w, w->dir, ID_A, 5, "sort the invoices of May");
	for (int i = 0; i < 9; i++) {
		AUTO_FREE char *id = xasprintf("bbbbbbbb-0000-4000-8000-00000000000%d", i);
		AUTO_FREE char *prompt = xasprintf("a parser for the tax forms, part %d", i);
		write_session(w, w->dir, id, 60 + i, prompt);
	}
	CLEANUP(decision_release) struct decision left;
	act(w, SV("continue"), &left);
	assert_string_equal(left.conv.session, ID_A);
	w->opts.close = 1; /* whatever is chosen, another is nearly as likely */
	CLEANUP(decision_release)
	struct decision d = ask(w, "write a generator for the tax forms");
	assert_true(d.close);
	assert_true(d.places.n > 3);
	AUTO_FREE char *place = place_of(&left.conv);
	assert_true(strcmp(d.places.v[1], place) == 0 || strcmp(d.places.v[2], place) == 0);
}

/* As long as it runs, nobody knows what the agent does with it. */
static void test_what_runs_is_not_said_again(void **state)
{
	const struct world *w = *state;

	write_session(w, w->dir, ID_A, 60, "write a parser for tax forms");
	write_session(w, w->dir, ID_B, 5, "sort the invoices");
	CLEANUP(decision_release) struct decision first;
	act(w, SV("continue"), &first);
	assert_int_equal(decision_note(&w->opts, &first, first.conv.id,
				 NOTE_SAID | NOTE_ACTED | NOTE_DONE, NULL),
		0);
	CLEANUP(decision_release) struct decision runs = ask(w, "no, the other one");
	assert_int_equal(runs.what, DECIDED_SWITCH);
	assert_non_null(strstr(runs.reply.buf, "What was done stands."));
	assert_int_equal(decision_note(&w->opts, &first, first.conv.id, NOTE_SAID, NULL), 0);
	CLEANUP(decision_release) struct decision ended = ask(w, "no, the other one");
	assert_int_equal(ended.what, DECIDED_TURN);
	assert_string_equal(ended.prompt.buf, "continue");
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

/* A name alone is a correction right after it was told where a sentence went, and only then. */
static void test_a_bare_name_corrects(void **state)
{
	const struct world *w = *state;

	write_session(w, w->dir, ID_A, 60, "write a crawler for tax forms");
	write_session(w, w->dir, ID_B, 5, "sort the invoices");
	CLEANUP(decision_release) struct decision first, again, third, more, answer;
	act(w, SV("continue"), &first);
	assert_string_equal(first.conv.session, ID_B);
	assert_true(first.elsewhere);
	act(w, SV("no, the crawler one"), &again);
	assert_int_equal(again.by, BY_CORRECTION);
	assert_string_equal(again.conv.session, ID_A);
	assert_string_equal(again.prompt.buf, "continue");
	/* Where it was said first is the other one now. */
	act(w, SV("no, the invoices"), &third);
	assert_int_equal(third.by, BY_CORRECTION);
	assert_int_equal(third.what, DECIDED_SWITCH);
	assert_string_equal(third.conv.session, ID_B);
	act(w, SV("and now by date"), &more);
	assert_string_equal(more.conv.session, ID_B);
	act(w, SV("no, the crawler"), &answer);
	assert_int_not_equal(answer.by, BY_CORRECTION);
	/* Which is told, and what it may have been about can be corrected. */
	assert_non_null(strstr(answer.notice.buf, "say: \"no, the other one\""));
	CLEANUP(decision_release) struct decision other = ask(w, "no, the other one");
	assert_string_equal(other.prompt.buf, "and now by date");
	/* What nobody else knows of is an order like any other. */
	CLEANUP(decision_release) struct decision order = ask(w, "no, the letterhead");
	assert_string_equal(order.notice.buf, "");
	/* Nor is what is spoken of where it was told that it went. */
	CLEANUP(decision_release) struct decision here, thing;
	act(w, SV("back to the crawler"), &here);
	assert_true(here.elsewhere);
	thing = ask(w, "no, the crawler file");
	assert_int_not_equal(thing.by, BY_CORRECTION);
	CLEANUP(decision_release) struct decision there;
	act(w, SV("back to the invoices"), &there);
	/* Right after something was told it may be meant for that. */
	CLEANUP(decision_release) struct decision told, unknown;
	act(w, SV("back to the crawler"), &told);
	assert_true(told.elsewhere);
	act(w, SV("no, the first one"), &unknown);
	assert_non_null(strstr(unknown.notice.buf, "If that was a correction"));
}

/* What was kept without a word is not corrected by what may be meant for the agent. */
static void test_what_is_meant_may_be_a_thing(void **state)
{
	static const char *const orders[] = { "no, the button should be blue",
		"no, I meant line 14", "no, the parser file", "no, that was for Windows" };
	const struct world *w = *state;

	write_session(w, w->dir, ID_A, 60, "the parser chokes on nested comments");
	write_session(w, w->dir, ID_B, 5, "draw a logo for the download page");
	CLEANUP(decision_release) struct decision first, kept;
	act(w, SV("continue"), &first);
	act(w, SV("make it larger"), &kept);
	assert_string_equal(kept.notice.buf, "");
	for (size_t i = 0; i < ARRAY_LEN(orders); i++) {
		CLEANUP(decision_release) struct decision d = ask(w, orders[i]);
		assert_int_not_equal(d.by, BY_CORRECTION);
		assert_string_equal(d.prompt.buf, orders[i]);
	}
}

/* What was just offered, or said as a correction, is not for the agent, whatever that asked. */
static void test_a_second_correction_after_a_question(void **state)
{
	const struct world *w = *state;

	write_session(w, w->dir, ID_A, 60, "write a parser for tax forms");
	write_session(w, w->dir, ID_B, 5, "sort the invoices");
	CLEANUP(decision_release) struct decision first, again, third;
	act(w, SV("continue"), &first);
	act(w, SV("no, the other one"), &again);
	assert_int_equal(again.by, BY_CORRECTION);
	assert_int_equal(
		decision_note(&w->opts, &again, again.conv.id, NOTE_SAID | NOTE_ASKED, NULL), 0);
	act(w, SV("no, the other one"), &third);
	assert_int_equal(third.by, BY_CORRECTION);
	assert_string_equal(third.conv.id, first.conv.id);
}

/* A talk is not led elsewhere by a correction: it is told what does that. An answer to the agent is
 * for the agent. */
static void test_a_talk_is_not_corrected(void **state)
{
	static const struct {
		const char *text;
		bool reply, to_question;
	} said[] = {
		{ "no, the other one", true, false },
		{ "nein, die andere", true, false },
		{ "no, new conversation", true, true },
		{ "no, the other conversation", true, true },
		{ "the other one please", false, false },
		{ "no, the crawler", false, false },
		{ "no, the one about the crawler", true, false },
		{ "no, the other button", false, false },
	};
	struct world *w = *state;

	write_session(w, w->dir, ID_A, 60, "write a crawler for tax forms");
	w->opts.routes = false;
	w->opts.greets = true;
	for (int asked = 0; asked < 2; asked++) {
		CLEANUP(decision_release) struct decision first;
		act(w, SV("sort them by date"), &first);
		assert_int_equal(decision_note(&w->opts, &first, first.conv.id,
					 NOTE_SAID | (asked ? NOTE_ASKED : 0), NULL),
			0);
		for (size_t i = 0; i < ARRAY_LEN(said); i++) {
			CLEANUP(decision_release) struct decision d = ask(w, said[i].text);
			bool reply = asked ? said[i].to_question : said[i].reply;
			assert_int_equal(d.what, reply ? DECIDED_REPLY : DECIDED_TURN);
			assert_true(!reply || strstr(d.reply.buf, "/resume NAME"));
		}
	}
}

static void delete_session(const struct world *w, const char *id, bool forget)
{
	AUTO_FREE char *path = claude_session_path(w->claude, w->dir, id);
	size_t rows = 0;

	if (forget) {
		assert_int_equal(conv_forgotten(w->store, id, path, NULL), 0);
		assert_int_equal(catalogue_forget(w->store, "claude", id,
					 (const char *const[]){ path }, 1, &rows, NULL),
			0);
	} else {
		assert_int_equal(conv_deleted(w->store, "claude", id, path, &w->clock, NULL), 0);
	}
	assert_int_equal(unlink(path), 0);
}

/* What is older than what was deleted does not go on in its place. */
static void test_nothing_older_goes_on_instead(void **state)
{
	struct world *w = *state;
	const struct conv_new ours = { .dir = w->dir, .agent = "claude" };
	AUTO_CONV c = CONV_INIT;
	AUTO_CONV made = CONV_INIT;

	w->opts.routes = false;
	w->clock.fixed_ms -= 60 * INT64_C(60000);
	assert_int_equal(conv_create(w->store, &ours, NULL, &w->clock, &made, NULL), 0);
	w->clock.fixed_ms += 60 * INT64_C(60000);
	write_session(w, w->dir, ID_A, 30, "write a parser");
	write_session(w, w->dir, ID_B, 5, "sort the invoices");
	CLEANUP(decision_release) struct decision before = ask(w, "paint the fence");
	assert_string_equal(before.conv.session, ID_B);

	delete_session(w, ID_B, false);
	CLEANUP(decision_release) struct decision deleted = ask(w, "paint the fence");
	assert_null(deleted.conv.session);
	assert_string_equal(deleted.conv.id, "");
	assert_non_null(strstr(deleted.notice.buf, "\"sort the invoices\" was deleted"));
	CLEANUP(decision_release) struct decision refused = ask(w, "continue");
	assert_int_equal(refused.what, DECIDED_REPLY);
	assert_non_null(strstr(refused.reply.buf, "\"sort the invoices\" was deleted"));
	/* Nor by what leans on it; what is named is found. */
	w->opts.routes = true;
	CLEANUP(decision_release) struct decision leans = ask(w, "and now run it again");
	assert_null(leans.conv.session);
	assert_non_null(strstr(leans.notice.buf, "\"sort the invoices\" was deleted"));
	CLEANUP(decision_release) struct decision named = ask(w, "add comments to the parser");
	assert_string_equal(named.conv.session, ID_A);
	w->opts.routes = false;

	/* It is back. */
	write_session(w, w->dir, ID_B, 5, "sort the invoices");
	CLEANUP(decision_release) struct decision back = ask(w, "paint the fence");
	assert_string_equal(back.conv.session, ID_B);

	/* Also as a conversation, and forgotten; nothing of it is told then. */
	const struct conv_new what = { .dir = w->dir, .agent = "claude" };
	assert_int_equal(conv_adopt(w->store, &what, ID_B, &w->clock, &c, NULL), 0);
	assert_int_equal(conv_set_current(w->store, w->dir, c.id, &w->clock, NULL), 0);
	delete_session(w, ID_B, true);
	CLEANUP(decision_release) struct decision forgotten = ask(w, "paint the fence");
	assert_null(forgotten.conv.session);
	assert_string_equal(forgotten.conv.id, "");
	assert_null(strstr(forgotten.notice.buf, "invoices"));

	/* What is newer goes on. */
	write_session(w, w->dir, ID_B, 1, "water the plants");
	CLEANUP(decision_release) struct decision newer = ask(w, "paint the fence");
	assert_string_equal(newer.conv.session, ID_B);
	/* And what was never what went on changes nothing. */
	delete_session(w, ID_A, false);
	CLEANUP(decision_release) struct decision same = ask(w, "paint the fence");
	assert_string_equal(same.conv.session, ID_B);
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

	int64_t id = 0;

	assert_false(record_read(&w->opts, true, &back));
	strv_add(&rec.places, ID_A);
	strv_add(&rec.places, "claude:" ID_B);
	assert_int_equal(record_write(&w->opts, &rec, &id, NULL), 0);
	assert_true(record_read(&w->opts, false, &back));
	assert_int_equal(back.at, 1);
	assert_int_equal(back.said, 3);
	assert_true(back.told && back.asked && !back.acted);
	assert_string_equal(back.text, "a\n\nb ");
	assert_string_equal(back.open, "");
	assert_string_equal(back.dir, w->dir);
	assert_string_equal(place_id(back.places.v[1]), ID_B);
	rec.acted = true;
	assert_int_equal(record_write(&w->opts, &rec, &id, NULL), 0);
	record_release(&back);
	assert_true(record_read(&w->opts, false, &back));
	assert_true(back.acted);
	/* What another version has written is none. */
	assert_int_equal(said_note(w->store, id, ID_A "\n\n0\n0\ntext", NULL), 0);
	record_release(&back);
	assert_false(record_read(&w->opts, true, &back));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_the_newest_session_is_leant_on, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_nothing_older_goes_on_instead, setup, teardown),
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
		cmocka_unit_test_setup_teardown(test_continue_is_not_said_anew, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_a_correction_keeps_to_the_agent, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_a_correction_is_of_what_was_told_here, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_runs_is_not_said_again, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_it_goes_on_with_what_was_told_here, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_a_correction_in_a_folder_below, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_the_one_that_was_left_is_near, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_a_correction_of_what_goes_on_in_another_folder, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_bare_name_corrects, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_is_meant_may_be_a_thing, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_a_second_correction_after_a_question, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_talk_is_not_corrected, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_an_undo_tells_what_went_on_already, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_what_is_open_is_not_begun_anew, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_record_comes_back, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
