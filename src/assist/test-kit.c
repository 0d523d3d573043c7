#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "assist/tell.h"
#include "base/mem.h"
#include "os/file.h"
#include "os/path.h"
#include "os/proc.h"

/* A home without a terminal, an environment or an installed agent. */
struct rig {
	char top[64];
	char *root;
	struct transcript_home home;
	struct store *store;
	struct clock clock;
	struct settings *settings;
	struct kit_opts opts;
	struct kit kit;
};

static int set_up(void **state)
{
	static const char *const envp[] = { "PATH=/bin:/usr/bin", NULL };
	struct rig *rig = xcalloc(1, sizeof(*rig));

	(void)snprintf(rig->top, sizeof(rig->top), "/tmp/faden-test-kit-XXXXXX");
	assert_non_null(mkdtemp(rig->top));
	AUTO_FREE char *db = path_join(rig->top, "faden.db");
	assert_int_equal(store_open(db, 0, NULL, &rig->store, NULL), 0);
	rig->root = path_join(rig->top, "rehearsal");
	rig->home = (struct transcript_home){
		.agent = "rehearsal", .format = TRANSCRIPT_CLAUDE, .root = rig->root
	};
	rig->settings = settings_new(rig->top);
	rig->opts = (struct kit_opts){
		.settings = rig->settings,
		.store = rig->store,
		.clock = &rig->clock,
		.homes = &rig->home,
		.n_homes = 1,
		.envp = envp,
		.search = rig->top, /* what a test installs */
		.cwd = rig->top,
		.locale = "de",
	};
	*state = rig;
	return 0;
}

static int tear_down(void **state)
{
	struct rig *rig = *state;
	const char *const argv[] = { "/bin/rm", "-rf", rig->top, NULL };
	int status;

	kit_close(&rig->kit);
	store_close(rig->store);
	settings_free(rig->settings);
	assert_int_equal(
		proc_run(&(struct proc_opts){ .argv = argv, .envp = (const char *const *)environ },
			SV(""), 10000, 1000, NULL, NULL, &status, NULL),
		0);
	free(rig->root);
	free(rig);
	return 0;
}

static void set(struct rig *rig, enum setting_id id, const char *value)
{
	const struct setting_origin origin = { .source = SETTING_ENVIRONMENT };

	assert_int_equal(settings_set(rig->settings, id, sv_of(value), origin, NULL), 0);
}

static void install(struct rig *rig, const char *name)
{
	AUTO_FREE char *path = path_join(rig->top, name);

	assert_int_equal(file_append(path, SV("#!/bin/sh\n"), false, NULL), 0);
	assert_int_equal(chmod(path, 0755), 0);
}

static void open_kit(struct rig *rig)
{
	struct err err = ERR_INIT;

	kit_close(&rig->kit);
	if (kit_open(&rig->opts, &rig->kit, &err) < 0)
		fail_msg("%s", err.msg);
}

static void on_text(void *data, const struct agent_event *ev)
{
	if (ev->type == AGENT_EV_TEXT)
		str_add(data, ev->text);
}

static void on_done(void *data, const struct assistant_outcome *out)
{
	assert_int_equal(out->err.code, 0);
	*(const struct turn_outcome **)data = out->turn;
}

static void a_kit_is_enough_for_a_turn(void **state)
{
	struct rig *rig = *state;
	struct loop *loop = loop_new();
	struct assistant *as = NULL;
	const struct turn_outcome *out = NULL;
	AUTO_STR heard = STR_INIT;
	AUTO_STR line = STR_INIT;
	AUTO_CONV here = CONV_INIT;

	open_kit(rig);
	assert_ptr_equal(rig->kit.kind, agent_embedded());
	assert_true(rig->kit.by_default);
	assert_false(tell_greeting(&rig->kit, false, &here, &line));
	assert_string_equal(line.buf, "A new conversation with rehearsal.");
	struct assistant_opts opts = kit_assistant_opts(&rig->kit, true);
	opts.turns.loop = loop;
	opts.ui = (struct assistant_ui){ .data = &heard, .event = on_text };
	assert_true(opts.decide.routes);
	assert_int_equal(assistant_new(&opts, &as, NULL), 0);
	assistant_say(as, &(struct request){ .text = SV("Say hello") }, on_done, &out);
	while (!out)
		assert_int_equal(loop_step(loop, -1, NULL), 0);
	assert_int_equal(out->fail, AGENT_OK);
	assert_true(heard.len > 0);
	assert_string_equal(out->answer.buf, heard.buf);
	assert_true(tell_answerer(&rig->kit, &out->conv, &line));
	assert_false(tell_answerer(&rig->kit, &out->conv, &line));
	str_clear(&line);
	assert_true(tell_greeting(&rig->kit, false, &here, &line));
	assistant_free(as);
	loop_free(loop);
	/* The transcript lies in the home that was given, and nowhere else. */
	assert_true(path_exists(rig->root));
}

static void a_choice_is_remembered(void **state)
{
	struct rig *rig = *state;

	open_kit(rig);
	assert_false(kit_has(&rig->kit, agent_named(SV("claude"))));
	install(rig, "claude");
	open_kit(rig);
	assert_true(kit_has(&rig->kit, agent_named(SV("claude"))) &&
		kit_has(&rig->kit, agent_embedded()));
	/* Installed is not chosen: a turn may cost money. */
	assert_true(rig->kit.by_default && rig->kit.kind == agent_embedded());
	assert_int_equal(kit_choose(&rig->kit, agent_named(SV("claude")), NULL), 0);
	open_kit(rig);
	assert_true(!rig->kit.by_default && !rig->kit.forced &&
		rig->kit.kind == agent_named(SV("claude")));
	rig->opts.agent = "rehearsal";
	open_kit(rig);
	assert_true(rig->kit.forced && rig->kit.kind == agent_embedded());
	/* One that was uninstalled since is as if never chosen. */
	rig->opts.agent = NULL;
	rig->opts.search = "/nonexistent";
	open_kit(rig);
	assert_true(rig->kit.by_default && rig->kit.kind == agent_embedded());
}

/* Where nobody was chosen, who answered in the folder last does in a new conversation too. */
static void a_folder_keeps_its_agent(void **state)
{
	struct rig *rig = *state;
	AUTO_CONV real = CONV_INIT;
	AUTO_CONV fresh = CONV_INIT;
	AUTO_CONV rehearsed = CONV_INIT;
	AUTO_CONV here = CONV_INIT;
	AUTO_STR line = STR_INIT;
	struct conv_new what = { .dir = rig->top, .agent = "claude" };
	struct proc_id self;

	install(rig, "claude");
	assert_int_equal(proc_id_self(&self, NULL), 0);
	assert_int_equal(conv_create(rig->store, &what, &self, rig->opts.clock, &real, NULL), 0);
	assert_int_equal(conv_reset(rig->store, rig->top, rig->opts.clock, NULL), 0);
	open_kit(rig);
	assert_true(rig->kit.by_folder && !rig->kit.by_default && !rig->kit.chosen &&
		!rig->kit.forced && rig->kit.kind == agent_named(SV("claude")));
	assert_ptr_equal(kit_assistant_opts(&rig->kit, true).kind, rig->kit.kind);
	assert_false(tell_greeting(&rig->kit, false, &here, &line));
	assert_string_equal(line.buf, "A new conversation with claude.");
	str_clear(&line);
	what.agent = rig->kit.kind->name;
	assert_int_equal(conv_create(rig->store, &what, &self, rig->opts.clock, &fresh, NULL), 0);
	assert_true(tell_answerer(&rig->kit, &fresh, &line));
	assert_non_null(strstr(line.buf, "claude answers, as it did here last"));
	/* By the user's word another does, and that is who is told. */
	rig->opts.agent = "rehearsal";
	open_kit(rig);
	assert_true(!rig->kit.by_folder && rig->kit.kind == agent_embedded());
	rig->opts.agent = NULL;
	/* Who only rehearses was no choice: an installed agent is still to be offered. */
	what.agent = "rehearsal";
	assert_int_equal(
		conv_create(rig->store, &what, &self, rig->opts.clock, &rehearsed, NULL), 0);
	open_kit(rig);
	assert_true(rig->kit.by_default && !rig->kit.by_folder);
}

/* Who has just chosen an agent is answered by it, whatever was rehearsed here before. */
static void what_was_chosen_answers(void **state)
{
	static const struct {
		const char *agent; /* of the conversation that goes on */
		bool goes_on;
	} cases[] = { { "rehearsal", false }, { "codex", true }, { "claude", true } };
	struct rig *rig = *state;
	struct proc_id self;

	install(rig, "claude");
	assert_int_equal(proc_id_self(&self, NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		AUTO_CONV c = CONV_INIT;
		AUTO_CONV here = CONV_INIT;
		AUTO_STR line = STR_INIT;
		open_kit(rig);
		const struct conv_new what = { .dir = rig->kit.dir, .agent = cases[i].agent };
		assert_int_equal(
			conv_create(rig->store, &what, &self, rig->opts.clock, &c, NULL), 0);
		assert_int_equal(kit_choose(&rig->kit, agent_named(SV("claude")), NULL), 0);
		assert_true(tell_greeting(&rig->kit, false, &here, &line));
		assert_int_equal(here.agent != NULL, i == 2);
		assert_non_null(strstr(line.buf, cases[i].agent));
		conv_release(&here);
		str_clear(&line);
		/* Chosen earlier: another real agent's conversation is not lost by that. */
		open_kit(rig);
		(void)tell_greeting(&rig->kit, false, &here, &line);
		assert_int_equal(here.agent != NULL, cases[i].goes_on);
	}
}

static void refuses(struct rig *rig, int code, const char *message)
{
	struct err err = ERR_INIT;

	kit_close(&rig->kit);
	assert_int_equal(kit_open(&rig->opts, &rig->kit, &err), code);
	assert_string_equal(err.msg, message);
}

static void a_named_agent_must_be_there(void **state)
{
	struct rig *rig = *state;

	rig->opts.agent = "gpt";
	refuses(rig, ERR_USAGE,
		"--agent: no agent 'gpt'; there are claude, codex, exec and rehearsal");
	rig->opts.agent = "codex";
	rig->opts.agent_by = "the pair";
	refuses(rig, ERR_AGENT,
		"the pair: the program of agent codex, 'codex', is not installed or not in PATH");
	rig->opts.agent = NULL;
	set(rig, SETTING_ID_ai_agent, "exec");
	refuses(rig, ERR_AGENT, "ai.agent: agent exec has no program; set ai.exec.command");
	set(rig, SETTING_ID_ai_exec_command, "nosuch, -x");
	refuses(rig, ERR_AGENT, "ai.agent: ai.exec.command: no program 'nosuch'");
	set(rig, SETTING_ID_ai_agent, "claude");
	set(rig, (enum setting_id)settings_find(SV("ai.claude.program")), "/opt/none/claude");
	refuses(rig, ERR_AGENT, "ai.agent: ai.claude.program: no program '/opt/none/claude'");
	set(rig, SETTING_ID_ai_agent, "auto");
	rig->opts.cwd = NULL;
	refuses(rig, ERR_INPUT, "the current folder no longer exists; change to one that does");
}

static void settings_reach_the_agents(void **state)
{
	struct rig *rig = *state;

	set(rig, SETTING_ID_ai_permission_mode, "bypassPermissions");
	set(rig, SETTING_ID_ai_model, "small");
	set(rig, SETTING_ID_ai_timeout, "90");
	set(rig, SETTING_ID_routing_enabled, "false");
	set(rig, SETTING_ID_routing_plan_words, "Erst Denken, sketch");
	rig->opts.keep_alive = true;
	open_kit(rig);
	const struct agent_opts *agent = &rig->kit.agents[agent_index(agent_embedded())];
	assert_int_equal(agent->permission, AGENT_PERM_BYPASS);
	assert_string_equal(agent->model, "small");
	assert_string_equal(agent->home, rig->root);
	assert_int_equal(agent->timeout_ms, 90000);
	assert_true(agent->keep_alive);
	assert_ptr_equal(agent->envp, rig->opts.envp);
	assert_null(rig->kit.router);
	assert_false(kit_assistant_opts(&rig->kit, true).decide.routes);
	assert_string_equal(rig->kit.task_words.plan_phrases, "erst denken|sketch");
	assert_int_equal(rig->kit.language, TEXT_GERMAN);
	assert_null(agent->system_prompt);
	rig->opts.voice = true;
	rig->opts.model = "large";
	open_kit(rig);
	assert_non_null(
		strstr(rig->kit.agents[agent_index(agent_embedded())].system_prompt, "read aloud"));
	assert_string_equal(rig->kit.agents[agent_index(agent_embedded())].model, "large");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_kit_is_enough_for_a_turn, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_choice_is_remembered, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_folder_keeps_its_agent, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_was_chosen_answers, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_named_agent_must_be_there, set_up, tear_down),
		cmocka_unit_test_setup_teardown(settings_reach_the_agents, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
