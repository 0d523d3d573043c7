#include "assist/prompt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct keywords parsed(const char *text)
{
	struct keywords k = KEYWORDS_INIT;
	struct err err = ERR_INIT;
	if (keywords_parse(&k, sv_of(text), &err) < 0)
		fail_msg("%s", err.msg);
	return k;
}

static void names_every_keyword(void **state)
{
	(void)state;
	static const char *const defaults[] = { KEYWORDS_CANCEL, KEYWORDS_RESET, KEYWORDS_RESTART,
		KEYWORDS_UNDO };
	struct prompt_opts opts = { .name = "Ada", .own = SV("Be kind.\n"), .voice = true };
	struct keywords lists[UTTERANCE_COMMANDS];
	for (int i = 0; i < UTTERANCE_COMMANDS; i++) {
		lists[i] = parsed(defaults[i]);
		opts.keywords[i] = &lists[i];
	}
	AUTO_STR out = STR_INIT;
	prompt_build(&out, &opts);
	assert_true(sv_starts(str_sv(&out), SV("Be kind.\n\nYou are called Ada.")));
	assert_non_null(strstr(out.buf, "Hey Ada"));
	for (int i = 0; i < UTTERANCE_COMMANDS; i++) {
		for (size_t j = 0; j < lists[i].texts.n; j++) {
			AUTO_STR quoted = STR_INIT;
			str_addf(&quoted, "\"%s\"", lists[i].texts.v[j]);
			if (!strstr(out.buf, quoted.buf))
				fail_msg("%s is not in the prompt", quoted.buf);
		}
		keywords_release(&lists[i]);
	}
}

static void same_bytes_each_time(void **state)
{
	(void)state;
	AUTO_KEYWORDS cancel = parsed("de: stopp, halt; en: stopp");
	struct prompt_opts opts = { .name = "Ada" };
	opts.keywords[UTTERANCE_CANCEL] = &cancel;
	AUTO_STR a = STR_INIT;
	AUTO_STR b = STR_INIT;
	prompt_build(&a, &opts);
	prompt_build(&b, &opts);
	assert_string_equal(a.buf, b.buf);
	assert_non_null(strstr(a.buf, ": \"stopp\", \"halt\"\n"));
}

static void typed_is_not_spoken(void **state)
{
	(void)state;
	struct prompt_opts opts = { .source_dir = "/src/me" };
	AUTO_STR out = STR_INIT;
	prompt_build(&out, &opts);
	assert_null(strstr(out.buf, "aloud"));
	assert_null(strstr(out.buf, "called"));
	assert_non_null(strstr(out.buf, "/src/me"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_every_keyword),
		cmocka_unit_test(same_bytes_each_time),
		cmocka_unit_test(typed_is_not_spoken),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
