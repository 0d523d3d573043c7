#include "config/settings.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/mem.h"
#include "config/yaml.h"

/* ---- the table ---- */

static void table_is_whole(void **state)
{
	(void)state;
	settings_each (id) {
		const struct setting row = settings_row(id);
		assert_non_null(strchr(row.name, '.'));
		assert_int_equal(settings_find(sv_of(row.name)), id);
		assert_false(settings_is_section(sv_of(row.name)));
		assert_false(sv_ends(sv_of(row.help), SV(".")));
		if (row.kind != SETTING_AGENT)
			assert_true((row.kind == SETTING_CHOICE) == (row.choices != NULL));
	}
}

/* What is printed is what can be set. */
static void defaults_round_trip(void **state)
{
	(void)state;
	struct settings *s = settings_new("/home/me");
	settings_each (id) {
		AUTO_STR before = STR_INIT;
		AUTO_STR after = STR_INIT;
		struct err err = ERR_INIT;
		settings_print(&before, s, id);
		if (settings_set(s, id, str_sv(&before),
			    (struct setting_origin){ .source = SETTING_FILE }, &err) < 0)
			fail_msg("%s: %s", settings_row(id).name, err.msg);
		settings_print(&after, s, id);
		assert_string_equal(before.buf, after.buf);
	}
	settings_free(s);
}

static void sections_and_suggestions(void **state)
{
	(void)state;
	assert_true(settings_is_section(SV("ai")));
	assert_true(settings_is_section(SV("ai.claude")));
	assert_false(settings_is_section(SV("a")));
	assert_false(settings_is_section(SV("")));
	assert_string_equal(settings_suggest(SV("ai.tiemout")), "ai.timeout");
	assert_null(settings_suggest(SV("matrix.homeserver_of_mine")));
}

/* ---- the file ---- */

struct loaded {
	struct settings *s;
	struct findings notices;
	struct err err;
	int result;
};

static struct loaded load(const char *yaml)
{
	struct loaded l = { .s = settings_new("/home/me") };

	l.result = config_parse(l.s, sv_of(yaml), "c.yaml", &l.notices, NULL, &l.err);
	return l;
}

static void unload(struct loaded *l)
{
	settings_free(l->s);
	findings_release(&l->notices);
}

static void accepted(const struct loaded *l)
{
	if (l->result < 0)
		fail_msg("refused: %s", l->err.msg);
	assert_int_equal(l->notices.all.n, 0);
}

static void refused(const char *yaml, const char *message)
{
	struct loaded l = load(yaml);

	assert_true(l.result == ERR_INPUT || l.result == ERR_LIMIT);
	assert_string_equal(l.err.msg, message);
	unload(&l);
}

static void every_mistake_is_found(void **state)
{
	(void)state;
	static const struct {
		unsigned line;
		const char *text;
	} want[] = {
		{ 2, "ai.timeout: 'soon' is neither" },
		{ 3, "unknown key 'ai.modle'" },
		{ 4, "ai.exec.command: must be a list" },
		{ 7, "commands.cancel_keywords: empty keyword" },
		{ 8, "commands.cancel_keywords: must be a list of single values" },
		{ 10, "ui.pager: 'sometimes' is neither" },
		{ 11, "tts: must be a section" },
		{ 12, "not YAML: a '[' or '{' is not closed" },
	};
	const char *yaml = "ai:\n  timeout: soon\n  modle: x\n  exec: {command: {a: [b]}}\n"
			   "commands:\n  cancel_keywords:\n  - ''\n  - [x]\n"
			   "ui:\n  pager: sometimes\ntts: [\n";
	struct settings *s = settings_new("/home/me");
	struct findings all = FINDINGS_INIT;
	assert_int_equal(config_parse(s, sv_of(yaml), "c.yaml", &all, &all, NULL), 0);
	assert_int_equal(all.all.n, ARRAY_LEN(want));
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		assert_int_equal(all.all.v[i].line, want[i].line);
		assert_non_null(strstr(all.all.v[i].text, want[i].text));
	}
	findings_release(&all);
	settings_free(s);
}

static void values_of_every_kind(void **state)
{
	(void)state;
	struct loaded l = load("ai:\n"
			       "  backend: claude-code\n"
			       "  timeout: 2m\n"
			       "  max_budget_usd: 1.5\n"
			       "  keep_alive: no\n"
			       "  system_prompt_path: ~/prompt.md\n"
			       "  exec: {command: [gemini, \"-p\", \"a, b\"]}\n"
			       "audio:\n"
			       "  sample_rate: 48000\n"
			       "  silence_threshold_sec: 1.25\n");
	accepted(&l);
	assert_string_equal(l.s->ai_agent, "claude");
	assert_int_equal(l.s->ai_timeout, 120000);
	assert_true(l.s->ai_max_budget_usd > 1.49 && l.s->ai_max_budget_usd < 1.51);
	assert_false(l.s->ai_keep_alive);
	assert_string_equal(l.s->ai_system_prompt_path, "/home/me/prompt.md");
	assert_int_equal(l.s->ai_exec_command.n, 3);
	assert_string_equal(l.s->ai_exec_command.v[2], "a, b");
	assert_int_equal(l.s->audio_sample_rate, 48000);
	assert_int_equal(l.s->audio_silence_threshold, 1250);
	assert_int_equal(l.s->origins[SETTING_ID_ai_timeout].line, 3);
	assert_int_equal(l.s->origins[SETTING_ID_ai_model].source, SETTING_DEFAULT);
	unload(&l);
}

static void nothing_is_fine(void **state)
{
	(void)state;
	static const char *const empty[] = { "", "# only a comment\n", "---\n", "ai:\n",
		"ai:\n  model:\ncommands: ~\n", "{}", "---\n...\n" };
	for (size_t i = 0; i < ARRAY_LEN(empty); i++) {
		struct loaded l = load(empty[i]);
		accepted(&l);
		assert_string_equal(l.s->ai_model, "");
		unload(&l);
	}
}

static bool has_word(const struct keywords *k, const char *lang, const char *text)
{
	for (size_t i = 0; i < k->texts.n; i++) {
		if (sv_is(sv_of(text), k->texts.v[i]) && sv_is(sv_of(lang), k->langs.v[i]))
			return true;
	}
	return false;
}

static void keywords_from_the_file(void **state)
{
	(void)state;
	struct loaded l = load("commands:\n"
			       "  reset_keywords: [Neue Runde, reset]\n"
			       "  cancel_keywords:\n"
			       "    de: [Schluss jetzt]\n"
			       "    fr: [arrête]\n"
			       "  restart_keywords: []\n");
	accepted(&l);
	assert_int_equal(l.s->commands_reset.texts.n, 2);
	assert_true(has_word(&l.s->commands_reset, "", "Neue Runde"));
	assert_true(has_word(&l.s->commands_cancel, "de", "Schluss jetzt"));
	assert_false(has_word(&l.s->commands_cancel, "de", "stopp"));
	assert_true(has_word(&l.s->commands_cancel, "en", "never mind"));
	assert_true(has_word(&l.s->commands_cancel, "fr", "arrête"));
	assert_int_equal(l.s->commands_restart.texts.n, 0);
	unload(&l);
}

static void words_by_language_and_class(void **state)
{
	(void)state;
	struct loaded l =
		load("routing: {words: {it: {continuation: [anche, e poi], new: [altro]}}}");
	accepted(&l);
	assert_int_equal(l.s->routing_words.n, 2);
	assert_string_equal(l.s->routing_words.v[0], "it.continuation=anche|e poi");
	unload(&l);
}

static void unknown_keys_are_named(void **state)
{
	(void)state;
	struct loaded l = load("ai:\n  modle: x\n  timeout: 7\nmatrix:\n  room: {a: [1, {b: 2}]}\n"
			       "assistant: {name: Ada}\n");
	assert_int_equal(l.result, 0);
	assert_int_equal(l.notices.all.n, 2);
	assert_string_equal(
		l.notices.all.v[0].text, "unknown key 'ai.modle' (did you mean 'ai.model'?)");
	assert_string_equal(l.notices.all.v[1].text, "unknown key 'matrix'");
	assert_int_equal(l.notices.all.v[1].line, 4);
	assert_int_equal(l.s->ai_timeout, 7000);
	assert_string_equal(l.s->assistant_name, "Ada");
	unload(&l);
}

static void faults_have_a_place(void **state)
{
	(void)state;
	refused("ai:\n  timeout: soon\n",
		"c.yaml:2: ai.timeout: 'soon' is neither a number of seconds nor a span such as "
		"90s, "
		"15m, 2h");
	refused("audio:\n  channels: 9\n", "c.yaml:2: audio.channels: 9 is not between 1 and 8");
	refused("audio: {channels: 0}", "c.yaml:1: audio.channels: 0 is not between 1 and 8");
	refused("audio: {channels: one}", "c.yaml:1: audio.channels: 'one' is not a whole number");
	refused("ai:\n\n  agent: clade\n",
		"c.yaml:3: ai.agent: 'clade' is none of auto, claude, codex, exec, rehearsal (did "
		"you "
		"mean 'claude'?)");
	refused("ui: {pager: maybe}", "c.yaml:1: ui.pager: 'maybe' is neither true nor false");
	refused("ai:\n  model: [a]\n", "c.yaml:2: ai.model: must be a single value");
	refused("ai: claude\n", "c.yaml:1: ai: must be a section with settings in it");
	refused("- a\n", "c.yaml:1: must be sections such as 'ai:'");
	refused("stt:\n  filter_phrases: x\n", "c.yaml:2: stt.filter_phrases: must be a list");
	refused("stt:\n  filter_phrases: [[x]]\n",
		"c.yaml:2: stt.filter_phrases: must be a list of single values");
	refused("ai:\n  model: a\n  model: b\n",
		"c.yaml:3: ai.model: given twice, first on line 2");
	refused("? [a]\n: b\n", "c.yaml:1: a key must be a single word");
	refused("ai: {}\n---\nai: {}\n", "c.yaml:2: a second document");
	refused("ai:\n  model: \"a\\0b\"\n", "c.yaml:2: ai.model: must not hold a NUL");
	refused("ai:\n\t- x\n",
		"c.yaml:2: not YAML: a tab or a special character; indent with blanks, and put a "
		"value with special characters into quotation marks");
}

static void empty_keywords_are_refused(void **state)
{
	(void)state;
	refused("commands:\n  cancel_keywords:\n    - stopp\n    - ''\n",
		"c.yaml:4: commands.cancel_keywords: empty keyword '' (it would never be said, or "
		"always)");
	refused("commands:\n  cancel_keywords:\n    de:\n      - stopp\n      -\n",
		"c.yaml:5: commands.cancel_keywords: empty keyword '' (it would never be said, or "
		"always)");
	refused("commands: {reset_keywords: ['...']}",
		"c.yaml:1: commands.reset_keywords: empty keyword '...' (it would never be said, "
		"or "
		"always)");
}

static void hostile_files(void **state)
{
	(void)state;
	refused("a: &a [x, x]\nb: &b [*a, *a]\n", "c.yaml:2: aliases (*name) are not taken here");
	AUTO_STR many = STR_INIT;
	str_adds(&many, "stt: {filter_phrases: [");
	for (int i = 0; i <= CONFIG_LIST_MAX; i++)
		str_adds(&many, "x,");
	str_adds(&many, "]}");
	refused(many.buf, "c.yaml:1: stt.filter_phrases: more than 1024 elements");
}

static void depth_has_a_limit(void **state)
{
	(void)state;
	AUTO_STR deep = STR_INIT;
	str_adds(&deep, "unknown: ");
	for (int i = 1; i < CONFIG_DEPTH_MAX; i++)
		str_addc(&deep, '[');
	for (int i = 1; i < CONFIG_DEPTH_MAX; i++)
		str_addc(&deep, ']');
	struct loaded l = load(deep.buf);
	assert_int_equal(l.result, 0);
	assert_int_equal(l.notices.all.n, 1);
	unload(&l);
	str_cut(&deep, sizeof("unknown: ") - 1);
	for (int i = 0; i < 100000; i++)
		str_addc(&deep, '[');
	refused(deep.buf, "c.yaml:1: nested too deeply");
}

static void size_has_a_limit(void **state)
{
	(void)state;
	struct settings *s = settings_new("/home/me");
	char *text = xmalloc(CONFIG_BYTES_MAX + 1);
	memset(text, '#', CONFIG_BYTES_MAX + 1);
	struct err err = ERR_INIT;
	assert_int_equal(
		config_parse(s, sv_make(text, CONFIG_BYTES_MAX), "c", NULL, NULL, &err), 0);
	assert_int_equal(
		config_parse(s, sv_make(text, CONFIG_BYTES_MAX + 1), "c", NULL, NULL, &err),
		ERR_LIMIT);
	free(text);
	settings_free(s);
}

/* ---- the environment, as it is handed in ---- */

static void variables_override(void **state)
{
	static const char *const envp[] = { "PATH=/bin", "FADEN_AI_TIMEOUT=2m",
		"FADEN_AI_MODEL=", "FADEN_AI_MODELX=x", "FADEN_ASSISTANT_NAME=Ada=Eva", NULL };
	struct settings *s = settings_new("/home/me");

	(void)state;
	assert_int_equal(settings_from_environment(s, NULL, NULL, NULL), 0);
	assert_int_equal(settings_from_environment(s, envp, NULL, NULL), 0);
	assert_int_equal(s->ai_timeout, 120000);
	assert_string_equal(s->ai_model, "");
	assert_string_equal(s->assistant_name, "Ada=Eva");
	assert_int_equal(s->origins[SETTING_ID_ai_timeout].source, SETTING_ENVIRONMENT);
	assert_int_equal(s->origins[SETTING_ID_ai_model].source, SETTING_DEFAULT);
	settings_free(s);
}

static void wrong_variables_are_named(void **state)
{
	static const char *const envp[] = { "FADEN_UI_PAGER=perhaps", "FADEN_AI_TIMEOUT=soon",
		"FADEN_AI_MODEL=m", NULL };
	struct settings *s = settings_new("/home/me");
	struct findings all = FINDINGS_INIT;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(settings_from_environment(s, envp, NULL, &err), ERR_INPUT);
	assert_non_null(strstr(err.msg, "FADEN_AI_TIMEOUT: 'soon'"));
	assert_int_equal(settings_from_environment(s, envp, &all, NULL), 0);
	assert_int_equal(all.all.n, 2);
	assert_non_null(strstr(all.all.v[1].text, "FADEN_UI_PAGER: 'perhaps'"));
	assert_string_equal(s->ai_model, "m");
	findings_release(&all);
	settings_free(s);
}

/* ---- the example ---- */

/* Every line's '#' in the first column taken away. */
static void uncomment(struct str *out, struct sv text)
{
	struct sv line;
	bool header = true;

	while (sv_split(&text, '\n', &line)) {
		header = header && sv_starts(line, SV("# "));
		if (!header && sv_starts(line, SV("#")))
			line = sv_from(line, 1);
		str_add(out, line);
		str_addc(out, '\n');
	}
}

static void example_says_the_defaults(void **state)
{
	(void)state;
	AUTO_STR text = STR_INIT;
	AUTO_STR active = STR_INIT;
	config_example(&text);
	uncomment(&active, str_sv(&text));
	struct loaded as_it_is = load(text.buf), changed = load(active.buf);
	accepted(&as_it_is);
	accepted(&changed);
	struct settings *s = settings_new("/home/me");
	settings_each (id) {
		AUTO_STR want = STR_INIT;
		AUTO_STR got = STR_INIT;
		settings_print(&want, s, id);
		settings_print(&got, changed.s, id);
		assert_string_equal(got.buf, want.buf);
		assert_int_equal(as_it_is.s->origins[id].source, SETTING_DEFAULT);
		/* What nothing uses yet is not among them, and all else is. */
		assert_int_equal(changed.s->origins[id].source,
			settings_shown(id) ? SETTING_FILE : SETTING_DEFAULT);
	}
	settings_free(s);
	unload(&as_it_is);
	unload(&changed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table_is_whole),
		cmocka_unit_test(defaults_round_trip),
		cmocka_unit_test(sections_and_suggestions),
		cmocka_unit_test(every_mistake_is_found),
		cmocka_unit_test(values_of_every_kind),
		cmocka_unit_test(nothing_is_fine),
		cmocka_unit_test(keywords_from_the_file),
		cmocka_unit_test(words_by_language_and_class),
		cmocka_unit_test(unknown_keys_are_named),
		cmocka_unit_test(faults_have_a_place),
		cmocka_unit_test(empty_keywords_are_refused),
		cmocka_unit_test(hostile_files),
		cmocka_unit_test(depth_has_a_limit),
		cmocka_unit_test(size_has_a_limit),
		cmocka_unit_test(variables_override),
		cmocka_unit_test(wrong_variables_are_named),
		cmocka_unit_test(example_says_the_defaults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
