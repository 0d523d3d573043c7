#include "assist/prompt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "assist/utterance.h"

static void set(struct settings *s, enum setting_id id, const char *text)
{
	struct err err = ERR_INIT;

	if (settings_set(s, id, sv_of(text), (struct setting_origin){ .source = SETTING_FILE },
		    &err) < 0)
		fail_msg("%s", err.msg);
}

static void names_every_keyword(void **state)
{
	struct settings *s = settings_new("/home/me");
	AUTO_STR out = STR_INIT;

	(void)state;
	set(s, SETTING_ID_assistant_name, "Ada");
	set(s, SETTING_ID_ai_system_prompt, "Be kind.\n");
	assert_int_equal(prompt_build(s, true, &out, NULL), 0);
	assert_true(sv_starts(str_sv(&out), SV("Be kind.\n\nYou are called Ada.")));
	assert_non_null(strstr(out.buf, "Hey Ada"));
	for (enum utterance_kind kind = 0; kind < UTTERANCE_COMMANDS; kind++) {
		const struct keywords *k = utterance_keywords(s, kind);
		assert_true(k->texts.n > 0);
		for (size_t j = 0; j < k->texts.n; j++) {
			AUTO_STR quoted = STR_INIT;
			str_addf(&quoted, "\"%s\"", k->texts.v[j]);
			if (!strstr(out.buf, quoted.buf))
				fail_msg("%s is not in the prompt", quoted.buf);
		}
	}
	settings_free(s);
}

static void same_bytes_each_time(void **state)
{
	struct settings *s = settings_new("/home/me");
	AUTO_STR a = STR_INIT;
	AUTO_STR b = STR_INIT;

	(void)state;
	set(s, SETTING_ID_commands_cancel, "de: stopp, halt; en: stopp");
	set(s, SETTING_ID_commands_undo, "");
	assert_int_equal(prompt_build(s, true, &a, NULL), 0);
	assert_int_equal(prompt_build(s, true, &b, NULL), 0);
	assert_string_equal(a.buf, b.buf);
	assert_non_null(strstr(a.buf, ": \"stopp\", \"halt\"\n"));
	assert_null(strstr(a.buf, "last reset back")); /* an empty list is left out */
	settings_free(s);
}

static void typed_is_not_spoken(void **state)
{
	struct settings *s = settings_new("/home/me");
	AUTO_STR out = STR_INIT;

	(void)state;
	assert_int_equal(prompt_build(s, false, &out, NULL), 0);
	assert_string_equal(out.buf, ""); /* neither a name nor keywords */
	set(s, SETTING_ID_ai_source_directory, "/src/me");
	set(s, SETTING_ID_ai_system_prompt, "Be kind.");
	assert_int_equal(prompt_build(s, false, &out, NULL), 0);
	assert_string_equal(
		out.buf, "Be kind.\n\nThe assistant's own source code is in /src/me.\n");
	str_clear(&out);
	set(s, SETTING_ID_assistant_name, "");
	assert_int_equal(prompt_build(s, true, &out, NULL), 0);
	assert_null(strstr(out.buf, "called"));
	settings_free(s);
}

static void a_missing_file_is_named(void **state)
{
	struct settings *s = settings_new("/home/me");
	AUTO_STR out = STR_INIT;
	struct err err = ERR_INIT;

	(void)state;
	set(s, SETTING_ID_ai_system_prompt_path, "/nonexistent/prompt.md");
	assert_true(prompt_build(s, false, &out, &err) < 0);
	assert_true(sv_starts(sv_of(err.msg), SV("ai.system_prompt_path: ")));
	settings_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_every_keyword),
		cmocka_unit_test(same_bytes_each_time),
		cmocka_unit_test(typed_is_not_spoken),
		cmocka_unit_test(a_missing_file_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
