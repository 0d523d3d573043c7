#include "strategy/ask.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/uuid.h"
#include "os/file.h"
#include "os/loop.h"
#include "os/path.h"
#include "transcript/home.h"

struct asking {
	const struct ask_opts *opts;
	struct agent *agent;
	struct str *answer;
	struct err err;
	int rc;
	bool done;
};

static void on_event(void *data, const struct agent_event *ev)
{
	struct asking *a = data;
	if (a->opts->progress)
		a->opts->progress(a->opts->data, ev);
	if (ev->type != AGENT_EV_DONE)
		return;
	const struct agent_result *r = ev->result;
	if (r->fail == AGENT_OK)
		str_add(a->answer, r->text);
	else
		a->rc = err_set(&a->err, r->fail == AGENT_CANCELLED ? ERR_CANCELLED : ERR_AGENT,
			"%s", r->message);
	a->done = true;
}

static void on_signal(void *data, int signo)
{
	struct asking *a = data;
	(void)signo;
	agent_cancel(a->agent);
}

/* ---- a folder of its own ---- */

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)st;
	(void)kind;
	(void)where;
	(void)remove(path);
	return 0;
}

static void remove_folder(char **folder)
{
	enum { DESCRIPTORS = 8 };
	if (*folder)
		(void)nftw(*folder, remove_one, DESCRIPTORS, FTW_DEPTH | FTW_PHYS);
	free(*folder);
}

static int make_folder(const struct ask_opts *opts, char **ret, struct err *reterr)
{
	char *folder = path_join(opts->scratch, "ask-XXXXXX");
	if (!mkdtemp(folder)) {
		int rc = err_errno(reterr, errno, "%s", folder);
		free(folder);
		return rc;
	}
	*ret = folder;
	return 0;
}

/* Claude Code makes a folder for each folder it runs in, even when it keeps no session. Of that
 * name only ours can be, since ours is new; and only empty folders go. */
static void remove_traces(const struct ask_opts *opts, const char *folder)
{
	AUTO_FREE char *real = NULL;
	if (opts->kind != AGENT_CLAUDE || !opts->agent->home || path_real(folder, &real, NULL) < 0)
		return;
	AUTO_FREE char *project = claude_project_dir(opts->agent->home, real);
	AUTO_FREE char *memory = path_join(project, "memory");
	(void)rmdir(memory);
	(void)rmdir(project);
}

/* ---- the question ---- */

static struct agent_opts agent_of(
	const struct ask_opts *opts, const char *folder, const char *schema_file)
{
	struct agent_opts agent = *opts->agent;
	agent.answer_only = true;
	agent.schema = opts->schema;
	agent.schema_file = opts->schema ? schema_file : NULL;
	agent.system_prompt = NULL;
	agent.permission = AGENT_PERM_DEFAULT;
	agent.keep_alive = false;
	agent.dir = folder; /* neither instructions nor settings of a project */
	agent.timeout_ms = opts->timeout_ms;
	/* The embedded agent always keeps a transcript: here it is not to be found again. */
	if (opts->kind == AGENT_REHEARSAL)
		agent.home = folder;
	return agent;
}

static int run(struct asking *a, struct loop *loop, struct sv prompt, struct err *reterr)
{
	char session[UUID_TEXT];
	const struct agent_driver *driver = agent_driver(a->opts->kind);
	const struct agent_turn turn = { .prompt = prompt,
		.session = driver->chooses_session ? NULL : session };
	static const int signals[] = { SIGINT, SIGTERM };
	uuid_new(session);
	for (size_t i = 0; i < ARRAY_LEN(signals); i++)
		if (!loop_add_signal(loop, signals[i], on_signal, a, reterr))
			return reterr ? reterr->code : ERR_BUG;
	int rc = agent_send(a->agent, &turn, reterr);
	return rc < 0 ? rc : loop_run(loop, &a->done, reterr);
}

int ask_agent(const struct ask_opts *opts, struct sv prompt, struct str *answer, struct err *reterr)
{
	CLEANUP(remove_folder) char *folder = NULL;
	struct asking a = { .opts = opts, .answer = answer };
	if (!agent_driver(opts->kind))
		return err_set(reterr, ERR_AGENT, "this faden has no driver for that agent");
	int rc = make_folder(opts, &folder, reterr);
	if (rc < 0)
		return rc;
	AUTO_FREE char *schema_file = path_join(folder, "schema.json");
	if (opts->schema)
		rc = file_replace(schema_file, sv_of(opts->schema), 0600, reterr);
	const struct agent_opts agent = agent_of(opts, folder, schema_file);
	struct loop *loop = loop_new();
	if (rc >= 0)
		rc = agent_open(opts->kind, &agent, loop, on_event, &a, &a.agent, reterr);
	if (rc >= 0)
		rc = run(&a, loop, prompt, reterr);
	agent_free(a.agent);
	loop_free(loop);
	remove_traces(opts, folder);
	if (rc >= 0 && a.rc < 0 && reterr)
		*reterr = a.err;
	return rc < 0 ? rc : a.rc;
}
