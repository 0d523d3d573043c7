#include "cli/opt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct sample {
	bool all;
	enum opt_tri markdown;
	long long last;
	double threshold;
	const char *agent;
	struct strv tools;
	int colour;
	int64_t since;
};

static const char *const colours[] = { "auto", "always", "never", NULL };
static const struct opt sample_options[] = {
	OPT_FLAG('a', "all", struct sample, all, "all"),
	OPT_NEGATABLE(0, "markdown", struct sample, markdown, "markdown"),
	OPT_INT('n', "last", struct sample, last, "N", 1, 100, "last"),
	OPT_DOUBLE(0, "threshold", struct sample, threshold, "X", "threshold"),
	OPT_STRING('g', "agent", struct sample, agent, "NAME", "agent"),
	OPT_LIST('t', "tool", struct sample, tools, "NAME", "tool"),
	OPT_CHOICE(0, "color", struct sample, colour, "WHEN", colours, "colour"),
	OPT_SPAN(0, "since", struct sample, since, "SPAN", "since"),
	OPT_END,
};

enum { MAX_ARGS = 16 };

struct parsed {
	struct sample opts;
	char *words[MAX_ARGS];
	int n;
	struct err err;
};

/* argv as words separated by blanks */
static void parse(struct parsed *p, bool dash_words, char *line)
{
	char *argv[MAX_ARGS];
	int argc = 0;

	for (char *save, *w = strtok_r(line, " ", &save); w; w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	*p = (struct parsed){ .n = 0 };
	const struct opt_set set = { sample_options, &p->opts };
	p->n = opt_parse(&set, 1, dash_words, argc, argv, p->words, &p->err);
}

#define PARSE(p, text) PARSE_AS(p, false, text)
#define PARSE_AS(p, dash_words, text) \
	char line_##p[] = text;       \
	struct parsed p;              \
	parse(&p, dash_words, line_##p);

static void release(struct parsed *p)
{
	opt_release(sample_options, &p->opts);
}

static void kinds(void **state)
{
	(void)state;
	PARSE(p,
		"--all --no-markdown --last 7 --threshold=0.5 --agent codex -t Read --tool=Bash "
		"--color never --since 2h");
	assert_int_equal(p.n, 0);
	assert_true(p.opts.all);
	assert_int_equal(p.opts.markdown, OPT_NO);
	assert_int_equal(p.opts.last, 7);
	assert_true(p.opts.threshold > 0.49 && p.opts.threshold < 0.51);
	assert_string_equal(p.opts.agent, "codex");
	assert_int_equal(p.opts.tools.n, 2);
	assert_string_equal(p.opts.tools.v[1], "Bash");
	assert_int_equal(p.opts.colour, 2);
	assert_int_equal(p.opts.since, 2 * 3600 * 1000);
	release(&p);
}

static void words_and_order(void **state)
{
	(void)state;
	PARSE(p, "one -a two - -n5 three -- --last -x");
	assert_int_equal(p.n, 6);
	assert_string_equal(p.words[0], "one");
	assert_string_equal(p.words[2], "-");
	assert_string_equal(p.words[3], "three");
	assert_string_equal(p.words[4], "--last");
	assert_string_equal(p.words[5], "-x");
	assert_int_equal(p.opts.last, 5);
	release(&p);
}

static void negative_numbers(void **state)
{
	(void)state;
	PARSE(p, "set -1 -a -0.5 -n5 -t -7");
	assert_int_equal(p.n, 3);
	assert_string_equal(p.words[1], "-1");
	assert_string_equal(p.words[2], "-0.5");
	assert_true(p.opts.all);
	assert_int_equal(p.opts.last, 5);
	assert_string_equal(p.opts.tools.v[0], "-7");
	release(&p);
	PARSE(first, "-1 set");
	assert_int_equal(first.n, ERR_USAGE);
	PARSE(half, "set -1x");
	assert_int_equal(half.n, ERR_USAGE);
	PARSE_AS(words, true, "set -1");
	assert_int_equal(words.n, ERR_USAGE);
}

static void clusters(void **state)
{
	(void)state;
	PARSE(p, "-agcodex");
	assert_int_equal(p.n, 0);
	assert_true(p.opts.all);
	assert_string_equal(p.opts.agent, "codex");
	PARSE(q, "-ag codex");
	assert_string_equal(q.opts.agent, "codex");
	PARSE(bad, "-az");
	assert_int_equal(bad.n, ERR_USAGE);
	assert_non_null(strstr(bad.err.msg, "'-az'"));
}

static void later_wins(void **state)
{
	(void)state;
	PARSE(p, "--markdown --no-markdown --last 1 --last 2");
	assert_int_equal(p.opts.markdown, OPT_NO);
	assert_int_equal(p.opts.last, 2);
}

static void refused(bool dash_words, char *line, const char *message)
{
	struct parsed p;

	parse(&p, dash_words, line);
	assert_int_equal(p.n, ERR_USAGE);
	assert_string_equal(p.err.msg, message);
	release(&p);
}

#define REFUSED(text, message) REFUSED_AS(false, text, message)
#define REFUSED_AS(dash_words, text, message)        \
	do {                                         \
		char line_[] = text;                 \
		refused(dash_words, line_, message); \
	} while (0)

static void errors(void **state)
{
	(void)state;
	REFUSED("--lst 3", "unknown option '--lst' (did you mean '--last'?)");
	REFUSED("--zzzzzz", "unknown option '--zzzzzz'");
	REFUSED("--no-all", "unknown option '--no-all'");
	REFUSED("--last", "option '--last' needs a value (N)");
	REFUSED("-n", "option '-n' needs a value (N)");
	REFUSED("--last 0", "option '--last': '0' is not a whole number from 1 to 100");
	REFUSED("--last 101", "option '--last': '101' is not a whole number from 1 to 100");
	REFUSED("--last 5x", "option '--last': '5x' is not a whole number from 1 to 100");
	REFUSED("--threshold many", "option '--threshold': 'many' is not a number");
	REFUSED("--color blue", "option '--color': 'blue' is none of auto, always, never");
	REFUSED("--all=yes", "option '--all' takes no value");
	REFUSED("--since soon",
		"option '--since': 'soon' is not a span of time such as 90s, 15m, 2h, 7d, 3w");
}

static void dash_words(void **state)
{
	(void)state;
	PARSE_AS(p, true,
		"-n 3 one -nginx -all -dir:src -\"a -\303\274ber -a -n5 -t Read --agent -codex -- "
		"-n7");
	const char *const want[] = { "one", "-nginx", "-all", "-dir:src", "-\"a", "-\303\274ber",
		"-n7" };
	assert_int_equal(p.n, ARRAY_LEN(want));
	for (size_t i = 0; i < ARRAY_LEN(want); i++)
		assert_string_equal(p.words[i], want[i]);
	assert_true(p.opts.all);
	assert_int_equal(p.opts.last, 5);
	assert_string_equal(p.opts.tools.v[0], "Read");
	assert_string_equal(p.opts.agent, "-codex");
	release(&p);
	/* Before the first word, and for other commands, they are options. */
	PARSE_AS(first, true, "-agcodex one");
	assert_int_equal(first.n, 1);
	assert_string_equal(first.opts.agent, "codex");
	REFUSED_AS(true, "-mutex one",
		"unknown option '-mutex' (put -- before words that begin with a dash)");
	REFUSED_AS(true, "-nginx one",
		"option '-n': 'ginx' is not a whole number (put -- before words that begin with a "
		"dash)");
	REFUSED_AS(true, "-n0", "option '-n': '0' is not a whole number from 1 to 100");
	REFUSED_AS(true, "one -x8",
		"unknown option '-x8' (put -- before words that begin with a dash)");
	REFUSED("one -mutex",
		"unknown option '-mutex' (put -- before words that begin with a dash)");
	REFUSED("one -nginx", "option '-n': 'ginx' is not a whole number from 1 to 100");
}

static int first_word(char *line)
{
	char *argv[MAX_ARGS];
	int argc = 0;

	for (char *save, *w = strtok_r(line, " ", &save); w; w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	const struct opt_set set = { sample_options, NULL };
	int at = opt_first_word(&set, 1, argc, argv);
	return at == argc ? -1 : at;
}

static void finds_first_word(void **state)
{
	(void)state;
	assert_int_equal(first_word((char[]){ "list -a" }), 0);
	assert_int_equal(first_word((char[]){ "--last 3 list" }), 2);
	assert_int_equal(first_word((char[]){ "--last=3 -an4 list" }), 2);
	assert_int_equal(first_word((char[]){ "-g codex list" }), 2);
	assert_int_equal(first_word((char[]){ "-a --color never" }), -1);
	assert_int_equal(first_word((char[]){ "--unknown list" }), -1);
	assert_int_equal(first_word((char[]){ "-- list" }), -1);
	assert_int_equal(first_word((char[]){ "--last" }), -1);
}

static void first_set_wins(void **state)
{
	(void)state;
	struct sample first = { .all = false }, second = { .all = false };
	const struct opt_set sets[] = { { sample_options, &first }, { sample_options, &second } };
	char *argv[] = { (char[]){ "-a" } };
	char *words[1];
	assert_int_equal(opt_parse(sets, 2, false, 1, argv, words, NULL), 0);
	assert_true(first.all);
	assert_false(second.all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds),
		cmocka_unit_test(words_and_order),
		cmocka_unit_test(negative_numbers),
		cmocka_unit_test(clusters),
		cmocka_unit_test(later_wins),
		cmocka_unit_test(errors),
		cmocka_unit_test(dash_words),
		cmocka_unit_test(finds_first_word),
		cmocka_unit_test(first_set_wins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
