/* Decisions of profile faden over small histories, and the two ways in from outside. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "eval/stdio.h"
#include "route/route.h"

enum { MINUTE = 60000 };

static int set_up(void **state)
{
	struct route_opts opts = route_opts_default(ROUTE_FADEN);

	*state = router_new(&opts);
	return 0;
}

static int tear_down(void **state)
{
	router_free(*state);
	return 0;
}

static struct route_decision decide(
	struct router *r, struct memstore *s, const char *text, const char *cwd, int64_t now)
{
	struct route_query q = { .text = sv_of(text), .now_ms = now, .cwd = sv_of(cwd) };
	struct route_decision d;
	size_t n;
	const struct route_conv *convs = memstore_view(s, &n);

	router_decide(r, &q, convs, n, NULL, &d);
	return d;
}

static const char *goes_to(
	struct router *r, struct memstore *s, const char *text, const char *cwd, int64_t now)
{
	struct route_decision d = decide(r, s, text, cwd, now);

	return d.index == ROUTE_NONE ? "new" : s->convs.v[d.index]->id;
}

static void run(struct memstore *s, const char *id, const char *text, const char *dir, int64_t t)
{
	memstore_started(s, sv_of(id), sv_of(text), sv_of(dir), t);
	memstore_ended(s, sv_of(id), ROUTE_IDLE, t + 20000);
}

static void open_store(struct memstore *s)
{
	struct route_opts opts = route_opts_default(ROUTE_FADEN);

	memstore_init(s, &opts);
	run(s, "bees", "count the bees in the video", "/home/a/hive", 0);
	run(s, "cake", "print labels for the cake boxes", "/home/a/hive", MINUTE);
	run(s, "mast", "paint the mast in the drawing", "/home/a/boat", 2 * MINUTE);
}

static void test_subject_and_directory(void **state)
{
	CLEANUP(memstore_release) struct memstore s;

	open_store(&s);
	int64_t now = 4 * MINUTE;
	assert_string_equal(goes_to(*state, &s, "undo that", "/home/a/hive", now), "cake");
	assert_string_equal(goes_to(*state, &s, "undo that", "/home/a/hive/src", now), "cake");
	assert_string_equal(goes_to(*state, &s, "undo that", "/home/a", now), "new");
	assert_string_equal(goes_to(*state, &s, "undo that", "/home/a/hives", now), "new");
	assert_string_equal(
		goes_to(*state, &s, "are the bees counted twice?", "/home/a/hive", now), "bees");
	assert_string_equal(
		goes_to(*state, &s, "set up a postgres backup with cron", "/home/a/hive", now),
		"new");
	assert_string_equal(
		goes_to(*state, &s, "back to the mast in the drawing", "/home/a/hive", now),
		"mast");
	assert_string_equal(goes_to(*state, &s, "new topic: the bees", "/home/a/hive", now), "new");
}

/* German shortens and joins its compounds; a report on what is half known is about that. */
static void test_compounds_and_reports(void **state)
{
	struct route_opts opts = route_opts_default(ROUTE_FADEN);
	CLEANUP(memstore_release) struct memstore s;

	memstore_init(&s, &opts);
	const char *dir = "/home/a/haus";
	run(&s, "zaun", "Zeichne einen Gartenzaun mit spitzen Latten", dir, 0);
	run(&s, "lack", "Die Lackfeuchte wird nicht angezeigt", dir, MINUTE);
	run(&s, "kite", "plan the route of the kite parade", dir, 2 * MINUTE);
	int64_t now = 4 * MINUTE;
	assert_string_equal(goes_to(*state, &s, "Der Zaun steht schief", dir, now), "zaun");
	assert_string_equal(
		goes_to(*state, &s, "die Feuchte kommt mir zu hoch vor", dir, now), "lack");
	assert_string_equal(
		goes_to(*state, &s, "does the parade cross a motorway", dir, now), "kite");
	assert_string_equal(
		goes_to(*state, &s, "weld the parade banners to the depot ceiling", dir, now),
		"new");
}

/* What is done to anything says nothing of the subject; a word for the subject does. */
static void test_everyday_words(void **state)
{
	static const char *const last[] = { "make it use decimal instead of float",
		"let it use decimal", "now use Decimal everywhere", "write that down as well",
		"also add the gross amount" };
	static const char *const back[] = { "the payment module is slow now",
		"is the new client thread-safe" };
	struct route_opts opts = route_opts_default(ROUTE_FADEN);
	CLEANUP(memstore_release) struct memstore s;

	memstore_init(&s, &opts);
	const char *dir = "/home/a/shop";
	run(&s, "pay", "refactor the payment module to use the new API client", dir, 0);
	run(&s, "tests", "write unit tests and add them to the nightly run", dir, MINUTE);
	run(&s, "pdf", "the PDF export of invoices has a wrong total", dir, 2 * MINUTE);
	for (size_t i = 0; i < ARRAY_LEN(last); i++)
		assert_string_equal(goes_to(*state, &s, last[i], dir, 3 * MINUTE), "pdf");
	for (size_t i = 0; i < ARRAY_LEN(back); i++)
		assert_string_equal(goes_to(*state, &s, back[i], dir, 3 * MINUTE), "pay");
}

static void test_running_failed_reset(void **state)
{
	CLEANUP(memstore_release) struct memstore s;

	open_store(&s);
	int64_t now = 4 * MINUTE;
	memstore_started(&s, SV("cake"), SV("make them square"), SV("/home/a/hive"), now);
	struct route_decision d = decide(*state, &s, "also in blue", "/home/a/hive", now + 1000);
	assert_int_equal(d.action, ROUTE_NEW);
	assert_string_equal(s.convs.v[d.blocked]->id, "cake");
	memstore_ended(&s, SV("cake"), ROUTE_ERRORED, now + 2000);
	assert_string_equal(
		goes_to(*state, &s, "try that again", "/home/a/hive", now + 3000), "new");
	memstore_reset(&s);
	assert_string_equal(
		goes_to(*state, &s, "how many bees are there", "/home/a/hive", now), "new");
	assert_string_equal(
		goes_to(*state, &s, "go back to the bees", "/home/a/hive", now), "bees");
}

/* That the newest one runs is no reason to mean another, nor a new one. */
static void test_another_runs(void **state)
{
	static const char *const logo[] = { "make the colors of the logo warmer",
		"back to the logo: darker", "the logo needs a border" };
	static const char *const csv[] = { "importer.py line 12 throws KeyError",
		"add a test for orders.csv", "the importer skips the first row" };
	static const char *const running[] = { "is the postgres migration done", "continue",
		"back to the migration" };
	struct route_opts opts = route_opts_default(ROUTE_FADEN);
	CLEANUP(memstore_release) struct memstore s;
	const char *dir = "/home/a/w";

	memstore_init(&s, &opts);
	run(&s, "logo", "design a logo for the shop, colors brown and gold", dir, 0);
	run(&s, "csv", "write importer.py that reads orders.csv", dir, MINUTE);
	memstore_started(
		&s, SV("pg"), SV("migrate the database to postgres 16"), sv_of(dir), 2 * MINUTE);
	for (int64_t now = 3 * MINUTE; now < 90 * MINUTE; now += 60 * MINUTE) {
		for (size_t i = 0; i < ARRAY_LEN(logo); i++)
			assert_string_equal(goes_to(*state, &s, logo[i], dir, now), "logo");
		for (size_t i = 0; i < ARRAY_LEN(csv); i++)
			assert_string_equal(goes_to(*state, &s, csv[i], dir, now), "csv");
		for (size_t i = 0; i < ARRAY_LEN(running); i++) {
			struct route_decision d = decide(*state, &s, running[i], dir, now);
			assert_int_equal(d.action, ROUTE_NEW);
			assert_int_not_equal(d.blocked, ROUTE_NONE);
			assert_string_equal(s.convs.v[d.blocked]->id, "pg");
		}
		struct route_decision d = decide(*state, &s, "write a haiku about rain", dir, now);
		assert_int_equal(d.action, ROUTE_NEW);
		assert_int_equal(d.blocked, ROUTE_NONE);
	}
}

/* To name what ran last is no reason to mean another, though one could have done without. */
static void test_last_is_named(void **state)
{
	static const struct {
		const char *begins, *names;
	} said[] = {
		{ "draft a reference letter for Thomas",
			"shorten the reference letter to half a page" },
		{ "terraform plan wants to destroy the redis cluster, why",
			"back to the redis cluster: what about the subnet group" },
		{ "terraform plan wants to destroy the redis cluster, why",
			"zurück zum redis cluster: was ist mit der subnet group" },
		{ "écris un script qui trie mes photos par date",
			"reviens au script des photos, ajoute un mode simulation" },
	};
	struct route_opts opts = route_opts_default(ROUTE_FADEN);

	for (size_t i = 0; i < ARRAY_LEN(said); i++) {
		CLEANUP(memstore_release) struct memstore s;
		memstore_init(&s, &opts);
		run(&s, "one", said[i].begins, "/w", 0);
		assert_string_equal(goes_to(*state, &s, said[i].names, "/w", 2 * MINUTE), "one");
		assert_string_equal(
			goes_to(*state, &s, "write a birthday card for Anna", "/w", 2 * MINUTE),
			"new");
	}
}

/* A word for it in the middle of a sentence is no way to another project. */
static void test_way_to_another_project(void **state)
{
	static const char *const here[] = { "write an article about the payment fees",
		"write a post about the payment fees" };
	struct route_opts opts = route_opts_default(ROUTE_FADEN);
	CLEANUP(memstore_release) struct memstore s;

	memstore_init(&s, &opts);
	run(&s, "hugo", "set up hugo with the ananke theme", "/home/a/blog", 0);
	run(&s, "fees", "compare the payment fees of Stripe and Mollie", "/home/a/shop", MINUTE);
	for (size_t i = 0; i < ARRAY_LEN(here); i++)
		assert_string_equal(
			goes_to(*state, &s, here[i], "/home/a/blog", 3 * MINUTE), "new");
	assert_string_equal(goes_to(*state, &s, "done, now back to the payment fees",
				    "/home/a/blog", 3 * MINUTE),
		"fees");
}

static void test_project_and_ties(void **state)
{
	struct sv commands[] = { SV("draw the harbour map") };
	struct route_conv convs[] = {
		{ .id = SV("old"),
			.last_ms = 1,
			.dir = SV("/x/a"),
			.project = SV("/x/.git"),
			.commands = commands,
			.n_commands = 1 },
		{ .id = SV("young"),
			.last_ms = 2,
			.dir = SV("/y/b"),
			.project = SV("/x/.git"),
			.commands = commands,
			.n_commands = 1 },
	};
	struct route_query q = { .text = SV("the harbour map is upside down"),
		.now_ms = 3,
		.cwd = SV("/z"),
		.project = SV("/x/.git") };
	struct route_candidate c[2];
	struct route_decision d;

	router_decide(*state, &q, convs, 2, c, &d); /* worktrees of one repository */
	assert_int_equal(d.action, ROUTE_RESUME);
	assert_true(c[0].routable && c[1].routable);
	assert_int_equal(d.runner_up, 1 - d.index);
	q.text = SV("rotate it");
	router_decide(*state, &q, convs, 2, c, &d);
	assert_int_equal(d.index, 1);
	q.project = SV("");
	router_decide(*state, &q, convs, 2, c, &d);
	assert_int_equal(d.action, ROUTE_NEW);
}

static void test_answers_count(void **state)
{
	struct sv commands[] = { SV("why is the start so slow") };
	struct sv answers[] = { SV("The FontCache is rebuilt on every start.") };
	struct route_conv conv = { .id = SV("a"),
		.dir = SV("/w"),
		.commands = commands,
		.n_commands = 1,
		.answers = answers,
		.n_answers = 1 };
	struct route_query q = {
		.text = SV("back to the font cache"), .now_ms = 9, .cwd = SV("/w")
	};
	struct route_decision with, without;

	router_decide(*state, &q, &conv, 1, NULL, &with);
	assert_int_equal(with.action, ROUTE_RESUME);
	conv.n_answers = 0;
	router_decide(*state, &q, &conv, 1, NULL, &without);
	assert_true(without.action == ROUTE_NEW || without.confidence < with.confidence);
}

/* An old question of the agent is not what a short sentence answers: what ran last is. */
static void test_old_question(void **state)
{
	static const char *const bare[] = { "do it", "yes", "and the tests too", "make it shorter",
		"undo that", "mach das", "ja, bitte", "und jetzt kleiner", "why?", "show me" };
	struct sv bees[] = { SV("count the bees in the video") };
	struct sv cake[] = { SV("print labels for the cake boxes") };
	struct sv asks[] = { SV("There are 412. Would you like a chart of them by minute?") };
	struct sv tells[] = { SV("Done. The labels are in labels.pdf.") };
	struct route_conv convs[] = {
		{ .id = SV("bees"),
			.dir = SV("/w"),
			.commands = bees,
			.n_commands = 1,
			.answers = asks,
			.n_answers = 1 },
		{ .id = SV("cake"),
			.last_ms = 5 * MINUTE,
			.dir = SV("/w"),
			.commands = cake,
			.n_commands = 1,
			.answers = tells,
			.n_answers = 1 },
	};
	struct route_decision d;

	for (size_t i = 0; i < ARRAY_LEN(bare); i++) {
		struct route_query q = {
			.text = sv_of(bare[i]), .now_ms = 6 * MINUTE, .cwd = SV("/w")
		};
		router_decide(*state, &q, convs, 2, NULL, &d);
		if (d.index != 1)
			print_error("%s\n", bare[i]);
		assert_int_equal(d.index, 1);
	}
}

/* Nothing but that it goes on: with what ran last here, whenever that was. */
static void test_only_goes_on(void **state)
{
	static const char *const said[] = { "continue", "ok continue", "continue please", "weiter",
		"mach bitte weiter", "continue s'il te plaît", "sigue", "继续" };
	CLEANUP(memstore_release) struct memstore s;

	open_store(&s);
	for (size_t i = 0; i < ARRAY_LEN(said); i++) {
		struct route_decision d =
			decide(*state, &s, said[i], "/home/a/hive", 3000 * MINUTE);
		assert_int_not_equal(d.index, ROUTE_NONE);
		assert_string_equal(s.convs.v[d.index]->id, "cake");
		assert_string_equal(d.reason, "says to go on, ran last here");
	}
	assert_string_equal(goes_to(*state, &s, "continue", "/home/a/other", MINUTE), "new");
	int64_t now = 4 * MINUTE;
	memstore_started(&s, SV("cake"), SV("make them square"), SV("/home/a/hive"), now);
	struct route_decision d = decide(*state, &s, "continue", "/home/a/hive", now + 1000);
	assert_int_equal(d.action, ROUTE_NEW);
	assert_string_equal(s.convs.v[d.blocked]->id, "cake");
}

/* A folder may be called like anything that is spoken of. */
static void test_folder_named(void **state)
{
	static const char *const here[] = { "write a parser for dates", "add a shop page",
		"rename the parser", "der Shop braucht eine neue Farbe" };
	static const char *const there[] = { "back to the tokens in parser",
		"the tokens in the parser, count them again" };
	struct route_opts opts = route_opts_default(ROUTE_FADEN);
	CLEANUP(memstore_release) struct memstore s;

	memstore_init(&s, &opts);
	run(&s, "tokens", "count the tokens of a file", "/home/a/parser", 0);
	run(&s, "till", "the till rounds up", "/home/a/shop", MINUTE);
	for (size_t i = 0; i < ARRAY_LEN(here); i++)
		assert_string_equal(
			goes_to(*state, &s, here[i], "/home/a/blog", 2 * MINUTE), "new");
	for (size_t i = 0; i < ARRAY_LEN(there); i++)
		assert_string_equal(
			goes_to(*state, &s, there[i], "/home/a/blog", 2 * MINUTE), "tokens");
}

/* What texts mean is no reason where nobody knows what they mean. */
static void test_reason_without_meaning(void **state)
{
	static const char *const said[] = { "set up a postgres backup with cron", "undo that",
		"are the bees counted twice?", "water the plants", "boxes", "hm" };
	CLEANUP(memstore_release) struct memstore s;

	open_store(&s);
	for (size_t i = 0; i < ARRAY_LEN(said); i++)
		assert_null(strstr(
			decide(*state, &s, said[i], "/home/a/hive", 4 * MINUTE).reason, "means"));
}

/* A reason that is not so is worse than none. */
static void test_reasons_are_true(void **state)
{
	static const char *const leans[] = { "and how long will the labels take to print",
		"and what about the cake boxes over there" };
	struct route_opts opts = route_opts_default(ROUTE_FADEN);
	CLEANUP(memstore_release) struct memstore s;

	open_store(&s);
	opts.threshold = 0.999;
	struct router *strict = router_new(&opts);
	struct route_decision d =
		decide(strict, &s, "are the bees counted twice?", "/home/a/hive", 4 * MINUTE);
	assert_int_equal(d.action, ROUTE_NEW);
	assert_true(d.ahead < 0);
	assert_string_equal(d.reason, "nothing is likely enough");
	router_free(strict);
	for (size_t i = 0; i < ARRAY_LEN(leans); i++) {
		d = decide(*state, &s, leans[i], "/home/a/hive", 4 * MINUTE);
		assert_null(strstr(d.reason, "leans on nothing"));
		assert_null(strstr(d.reason, "shares no word"));
	}
}

static void count_stem(void *data, struct sv stem UNUSED)
{
	++*(size_t *)data;
}

/* Texts without one word that says anything leave a topic with nothing to take words out of. */
static void test_nothing_said(void **state)
{
	struct route_topic *topic = route_topic_new(), *again;
	AUTO_STR before = STR_INIT, after = STR_INIT, loaded = STR_INIT;
	size_t stems = 0;

	for (int i = 0; i < 40; i++) {
		router_learn(*state, topic, SV("ok"), i > 0 ? TOPIC_LATER : TOPIC_FIRST);
		router_learn(*state, topic, SV(""), TOPIC_ANSWER);
		if (i == 20)
			route_topic_save(topic, &before);
	}
	route_topic_stems(topic, count_stem, &stems);
	assert_int_equal(stems, 0);
	route_topic_save(topic, &after);
	assert_int_equal(after.len, before.len);
	again = route_topic_load(str_sv(&after));
	assert_non_null(again);
	/* What says something among them still comes and goes. */
	for (int i = 0; i < 40; i++)
		router_learn(*state, again, i == 20 ? SV("tune the harp") : SV("ok"), TOPIC_LATER);
	route_topic_stems(again, count_stem, &stems);
	assert_true(stems > 0);
	route_topic_save(again, &loaded);
	route_topic_free(topic);
	topic = route_topic_load(str_sv(&loaded));
	assert_non_null(topic);
	route_topic_free(topic);
	route_topic_free(again);
}

static void test_any_bytes(void **state)
{
	CLEANUP(memstore_release) struct memstore s;

	open_store(&s);
	AUTO_STR big = STR_INIT;
	while (big.len < 1 << 20)
		str_adds(&big, "bees \xff \u05d3\u05d1\u05d5\u05e8\u05d4 \u202e ");
	struct route_query q = { .text = str_sv(&big), .now_ms = 1, .cwd = SV("/home/a/hive") };
	struct route_decision d;
	size_t n;
	const struct route_conv *convs = memstore_view(&s, &n);
	router_decide(*state, &q, convs, n, NULL, &d);
	q.text = sv_make("a\0b", 3);
	router_decide(*state, &q, convs, n, NULL, &d);
	q.text = SV("");
	router_decide(*state, &q, convs, 0, NULL, &d);
	assert_int_equal(d.action, ROUTE_NEW);
}

static void say(struct route_stdio *s, const char *line, const char *want)
{
	AUTO_STR out = STR_INIT;
	struct err err = ERR_INIT;

	assert_int_equal(route_stdio_line(s, sv_of(line), &out, &err), 0);
	if (!want)
		assert_int_equal(out.len, 0);
	else if (!strstr(out.buf, want))
		fail_msg("%s -> %s", line, out.buf);
}

static void test_stdio(void **state)
{
	struct route_stdio s;

	route_stdio_init(&s, *state);
	say(&s, "{\"op\":\"begin\",\"protocol\":\"routing-eval/1\"}", NULL);
	say(&s, "{\"op\":\"step\",\"t_ms\":1,\"text\":\"tune the harp\",\"cwd\":\"/w\"}",
		"\"new\"");
	say(&s,
		"{\"op\":\"started\",\"t_ms\":1,\"conversation_ref\":\"s1\",\"new\":true,"
		"\"text\":\"tune the harp\",\"cwd\":\"/w\"}",
		NULL);
	say(&s, "{\"op\":\"error\",\"t_ms\":5,\"conversation_ref\":\"s1\"}", NULL);
	say(&s, "{\"op\":\"step\",\"t_ms\":6,\"text\":\"try that again\",\"cwd\":\"/w\"}",
		"\"new\"");
	say(&s,
		"{\"op\":\"started\",\"t_ms\":6,\"conversation_ref\":\"s2\",\"new\":true,"
		"\"text\":\"try that again\",\"cwd\":\"/w\"}",
		NULL);
	say(&s, "{\"op\":\"finished\",\"t_ms\":9,\"conversation_ref\":\"s2\"}", NULL);
	say(&s, "{\"op\":\"what\",\"more\":[1]}", NULL);
	/* s2 took over what the failed s1 was about */
	say(&s,
		"{\"op\":\"step\",\"t_ms\":99,\"text\":\"the harp is still flat, tune it "
		"again\",\"cwd\":\"/w\"}",
		"\"s2\"");
	AUTO_STR out = STR_INIT;
	struct err err = ERR_INIT;
	assert_int_equal(route_stdio_line(&s, SV("[]"), &out, &err), ERR_INPUT);
	assert_int_equal(route_stdio_line(&s, SV("{"), &out, &err), ERR_INPUT);
	route_stdio_release(&s);
}

static int collect(void *data, struct sv json, struct err *reterr)
{
	(void)reterr;
	str_add(data, json);
	str_addc(data, '\n');
	return 0;
}

static void test_replay(void **state)
{
	(void)state;
	struct route_opts opts = route_opts_default(ROUTE_SEED);
	struct router *seed = router_new(&opts);
	AUTO_STR out = STR_INIT;
	struct err err = ERR_INIT;
	struct sv file = SV("{\"vectors\":[{\"id\":\"v\",\"ops\":[{\"op\":\"register\",\"t_ms\":0,"
			    "\"session_id\":\"A\",\"command\":\"oil the hinge\"}],"
			    "\"route\":{\"t_ms\":1000,\"command\":\"oil the hinge\"}}]}");
	assert_int_equal(route_replay(seed, file, collect, &out, &err), 0);
	assert_string_equal(out.buf,
		"{\"id\":\"v\",\"action\":\"resume\",\"session_id\":\"A\","
		"\"confidence\":0.7,\"reason\":\"keyword overlap=1.00; very recent\"}\n");
	assert_int_equal(
		route_replay(seed, SV("{\"vectors\":[{}]}"), collect, &out, &err), ERR_INPUT);
	assert_int_equal(route_replay(seed, SV("{}"), collect, &out, &err), ERR_INPUT);
	assert_int_equal(route_replay(seed, SV("x"), collect, &out, &err), ERR_INPUT);
	router_free(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_subject_and_directory),
		cmocka_unit_test(test_compounds_and_reports),
		cmocka_unit_test(test_everyday_words),
		cmocka_unit_test(test_running_failed_reset),
		cmocka_unit_test(test_another_runs),
		cmocka_unit_test(test_last_is_named),
		cmocka_unit_test(test_way_to_another_project),
		cmocka_unit_test(test_project_and_ties),
		cmocka_unit_test(test_answers_count),
		cmocka_unit_test(test_old_question),
		cmocka_unit_test(test_only_goes_on),
		cmocka_unit_test(test_folder_named),
		cmocka_unit_test(test_reason_without_meaning),
		cmocka_unit_test(test_reasons_are_true),
		cmocka_unit_test(test_nothing_said),
		cmocka_unit_test(test_any_bytes),
		cmocka_unit_test(test_stdio),
		cmocka_unit_test(test_replay),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
