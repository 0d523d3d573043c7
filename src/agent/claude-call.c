#include "agent/claude-call.h"

#include <string.h>

#include "agent/launch.h"
#include "base/mem.h"
#include "os/path.h"

static const char *mode_name(enum agent_permission mode)
{
	switch (mode) {
	case AGENT_PERM_DEFAULT:
		return "default";
	case AGENT_PERM_ACCEPT_EDITS:
		return "acceptEdits";
	case AGENT_PERM_PLAN:
		return "plan";
	case AGENT_PERM_BYPASS:
		return "bypassPermissions";
	}
	return "default";
}

static void add_option(struct strv *argv, const char *name, const char *value)
{
	if (!value)
		return;
	strv_add(argv, name);
	strv_add(argv, value);
}

static void add_answer_only(struct strv *argv, const struct agent_opts *opts)
{
	add_option(argv, "--tools", "");
	strv_add(argv, "--strict-mcp-config");
	strv_add(argv, "--disable-slash-commands");
	strv_add(argv, "--no-session-persistence");
	add_option(argv, "--settings", "{\"disableAllHooks\":true}");
	add_option(argv, "--json-schema", opts->schema);
}

void claude_argv(struct strv *argv, const struct agent_opts *opts, const char *program,
	const struct claude_call *call)
{
	strv_add(argv, program);
	strv_add(argv, "-p");
	strv_add(argv, "--verbose");
	add_option(argv, "--input-format", "stream-json");
	add_option(argv, "--output-format", "stream-json");
	strv_add(argv, "--include-partial-messages");
	if (opts->answer_only)
		add_answer_only(argv, opts);
	add_option(argv, call->resume ? "--resume" : "--session-id", call->session);
	add_option(argv, "--permission-mode", mode_name(call->mode));
	add_option(argv, "--model", opts->model);
	add_option(argv, "--append-system-prompt", opts->system_prompt);
	if (call->budget_usd > 0) {
		strv_add(argv, "--max-budget-usd");
		strv_addf(argv, "%.6f", call->budget_usd);
	}
}

/* What an outer Claude Code tells its own children. */
static const char *const foreign[] = { "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT",
	"CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_SSE_PORT", "CLAUDE_CODE_CHILD_SESSION",
	"CLAUDE_CODE_REMOTE_SESSION_ID", "CLAUDE_AGENT_SDK_VERSION", "CLAUDE_PROJECT_DIR",
	"CLAUDE_ENV_FILE", NULL };

/* The variable moves more than the sessions (settings, login), so it is left unset for the folder
 * that is the default. */
static void set_home(struct strv *env, const struct agent_opts *opts)
{
	const char *user = launch_env_get(opts->envp, "HOME");
	AUTO_FREE char *usual = user ? path_join(user, ".claude") : NULL;
	bool is_usual = usual && opts->home && strcmp(usual, opts->home) == 0;

	if (opts->home && !(is_usual && !launch_env_get(opts->envp, "CLAUDE_CONFIG_DIR")))
		launch_env_set(env, "CLAUDE_CONFIG_DIR", opts->home);
}

void claude_env(struct strv *env, const struct agent_opts *opts)
{
	launch_env(env, opts->envp, foreign);
	set_home(env, opts);
}
