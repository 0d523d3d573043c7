/* Task type and corrections: small texts in, a class out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "route/correct.h"
#include "route/tasktype.h"

static void check_task(const char *text, enum route_task want)
{
	enum route_task got = route_task_of(sv_of(text), NULL);

	if (got != want)
		fail_msg("%s: %s", text, got == ROUTE_TASK_PLAN ? "plan" : "edit");
}

static void test_plans(void **state)
{
	(void)state;
	static const char *const plans[] = { "plan a tournament mode", "design the cache layer",
		"make a plan for the migration", "think about caching, no code yet",
		"Mach mir einen Plan, wie wir das einbauen", "please propose two ways to do it",
		"write a proposal for the new API", "Entwirf eine Mahnung",
		"how could we speed up the build?", "add sync, but don't change anything yet",
		"设计一个缓存方案", "planifie la migration", "strategy for the release",
		"please plan the migration", "let's design it", "could you draft a schema?",
		"look at the parser and plan the rewrite", "I need a plan for the move",
		"plan migration to v2", "a concept for the import",
		"first sketch how it would work" };
	for (size_t i = 0; i < ARRAY_LEN(plans); i++)
		check_task(plans[i], ROUTE_TASK_PLAN);
}

static void test_edits(void **state)
{
	(void)state;
	static const char *const edits[] = { "fix the plan page", "implement the design",
		"follow the plan", "add a plan page to the menu", "setz den Plan um",
		"change the design of the header", "the plan page is broken", "", "run the tests",
		"rename \"plan\" to \"idea\"", "make the planner faster", "Lösch den alten Entwurf",
		"la page du plan est cassée", "our data plan is wrong, change it",
		"the floor plan viewer crashes", "the power plant is on fire, repair it",
		"the subscription plan page is broken, please repair it", "plan page is broken",
		"the tariff and plan tables are wrong",
		"we plan to release on Friday, update the date",
		"the page shows a plan that has expired", "unser Bauplan und Plan B stimmen nicht",
		"new design system tokens are missing", "the draft view is empty" };
	for (size_t i = 0; i < ARRAY_LEN(edits); i++)
		check_task(edits[i], ROUTE_TASK_EDIT);
}

static void test_configured_words(void **state)
{
	(void)state;
	struct route_task_words more = { .plan_verbs = "ponder|grübel", .plan_phrases = "dry run" };
	assert_int_equal(route_task_of(SV("ponder the cache"), NULL), ROUTE_TASK_EDIT);
	assert_int_equal(route_task_of(SV("ponder the cache"), &more), ROUTE_TASK_PLAN);
	assert_int_equal(route_task_of(SV("Grübel mal"), &more), ROUTE_TASK_PLAN);
	assert_int_equal(route_task_of(SV("delete it, dry run"), &more), ROUTE_TASK_PLAN);
}

static void check_correction(const char *text, enum route_correction want, const char *about)
{
	struct route_correct_words words = { .about = SV("") };
	enum route_correction kind = route_correct(sv_of(text), &words);

	if (kind != want)
		fail_msg("%s: kind %d", text, (int)kind);
	if (about && !sv_is(words.about, about))
		fail_msg("%s: about '%.*s'", text, SV_ARG(words.about));
}

static void test_corrections(void **state)
{
	(void)state;
	check_correction("no, new conversation", CORRECT_NEW, NULL);
	check_correction("No \u2014 new conversation, please!", CORRECT_NEW, NULL);
	check_correction("Nein, neues Gespräch", CORRECT_NEW, NULL);
	check_correction("non, nouvelle conversation", CORRECT_NEW, NULL);
	check_correction("nein, die andere", CORRECT_OTHER, NULL);
	check_correction("wrong conversation", CORRECT_OTHER, NULL);
	check_correction("not that one", CORRECT_OTHER, NULL);
	check_correction("non, l\u2019autre", CORRECT_OTHER, NULL);
	check_correction("go back to the one about the login page.", CORRECT_ABOUT, "login page");
	check_correction("nein, ich meinte das mit dem CSV-Export", CORRECT_ABOUT, "CSV-Export");
	check_correction("no, I meant the one about tiles", CORRECT_ABOUT, "tiles");
}

static void test_for_whom_corrections_are(void **state)
{
	(void)state;
	struct route_correct_words words;
	(void)route_correct(SV("nein, die andere"), &words);
	assert_true(words.denies && !words.sure);
	(void)route_correct(SV("falsches Gespräch"), &words);
	assert_true(!words.denies && words.sure);
	(void)route_correct(SV("go back to the one about tiles"), &words);
	assert_true(!words.denies && words.sure);
	(void)route_correct(SV("das mit den Kacheln"), &words);
	assert_false(words.sure);
}

static void test_commands_are_no_corrections(void **state)
{
	(void)state;
	static const char *const commands[] = { "no, the other button", "nein, die andere Variante",
		"start a new conversation view in the chat app", "", "undo that", "no",
		"the one about", "add the other conversation list", "back to the login page" };
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		check_correction(commands[i], CORRECT_NONE, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plans),
		cmocka_unit_test(test_edits),
		cmocka_unit_test(test_configured_words),
		cmocka_unit_test(test_corrections),
		cmocka_unit_test(test_for_whom_corrections_are),
		cmocka_unit_test(test_commands_are_no_corrections),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
