#include "cli/cmd.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/suggest.h"
#include "base/utf8.h"
#include "cli/cli.h"

static void sorted(void **state)
{
	(void)state;
	size_t n;
	const struct cmd *const *all = cmd_table(&n);
	for (size_t i = 1; i < n; i++) {
		if (strcmp(all[i - 1]->name, all[i]->name) >= 0)
			fail_msg("commands.def: %s must come before %s", all[i]->name,
				all[i - 1]->name);
	}
}

static void names_are_unique(void **state)
{
	(void)state;
	size_t n;
	const struct cmd *const *all = cmd_table(&n);
	for (size_t i = 0; i < n; i++) {
		assert_ptr_equal(cmd_find(sv_of(all[i]->name)), all[i]);
		if (all[i]->alias)
			assert_ptr_equal(cmd_find(sv_of(all[i]->alias)), all[i]);
	}
}

static void entries_are_whole(void **state)
{
	(void)state;
	size_t n;
	const struct cmd *const *all = cmd_table(&n);
	for (size_t i = 0; i < n; i++) {
		const struct cmd *c = all[i];
		assert_non_null(c->run);
		assert_non_null(c->synopsis);
		assert_true(c->group < CMD_GROUP_COUNT);
		assert_true(c->max_args == CMD_ANY || c->max_args >= c->min_args);
		assert_true((c->opts == NULL) == (c->opts_size == 0));
		assert_true(utf8_valid(sv_of(c->summary)));
		assert_false(isupper((unsigned char)c->summary[0]));
		assert_false(sv_ends(sv_of(c->summary), SV(".")));
	}
}

/* Two options of one command must not share a name or a letter, the global ones included. */
static void check_clash(const struct cmd *c, const struct opt *a, const struct opt *b)
{
	if (a == b)
		return;
	if (sv_is(sv_of(a->name), b->name))
		fail_msg("%s: --%s twice", c->name, a->name);
	if (a->brief && a->brief == b->brief)
		fail_msg("%s: -%c twice", c->name, a->brief);
}

static void options_are_unique(void **state)
{
	(void)state;
	size_t n;
	const struct cmd *const *all = cmd_table(&n);
	for (size_t i = 0; i < n; i++) {
		for (const struct opt *a = all[i]->opts; a && a->name; a++) {
			assert_true(a->help != NULL && (!opt_takes_value(a) || a->arg));
			assert_true(a->kind != OPT_KIND_AGENT || strchr(a->help, '@'));
			for (const struct opt *b = all[i]->opts; b->name; b++)
				check_clash(all[i], a, b);
			for (const struct opt *b = cli_global_options; b->name; b++)
				check_clash(all[i], a, b);
		}
	}
}

static void suggestions(void **state)
{
	(void)state;
	assert_string_equal(cmd_suggest(SV("hlep")), "help");
	assert_string_equal(cmd_suggest(SV("HELP")), "help");
	assert_null(cmd_suggest(SV("qqqqqqqq")));
	assert_null(cmd_suggest(SV("")));
	assert_int_equal(suggest_distance(SV("ab"), SV("ba")), 1);
	assert_int_equal(suggest_distance(SV("kitten"), SV("sitting")), 3);
	assert_int_equal(suggest_distance(SV(""), SV("abc")), 3);
}

static void long_words_are_far(void **state)
{
	(void)state;
	char word[SUGGEST_MAX_WORD + 1];
	memset(word, 'a', sizeof(word));
	struct sv at = sv_make(word, SUGGEST_MAX_WORD), beyond = sv_make(word, sizeof(word));
	assert_int_equal(suggest_distance(at, at), 0);
	assert_true(suggest_distance(beyond, beyond) > sizeof(word));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sorted),
		cmocka_unit_test(names_are_unique),
		cmocka_unit_test(entries_are_whole),
		cmocka_unit_test(options_are_unique),
		cmocka_unit_test(suggestions),
		cmocka_unit_test(long_words_are_far),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
