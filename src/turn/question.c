/*
 * Where a question to an agent is asked: nowhere that anything could be read from or be kept.
 */
#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/path.h"
#include "turn/internal.h"

int turn_place_make(struct turn_place *p, const struct turn_question *q, struct err *reterr)
{
	if (!q->kind->can.answer_only && !q->trusted)
		return err_set(reterr, ERR_INPUT,
			"%s cannot be kept from using tools, so no question is put to it; name "
			"another agent",
			q->kind->name);
	char *dir = path_join(q->scratch, "ask-XXXXXX");
	if (!mkdtemp(dir)) {
		int r = err_errno(reterr, errno, "%s", dir);
		free(dir);
		return r;
	}
	p->dir = dir;
	p->schema_file = path_join(dir, "schema.json");
	return q->schema && q->kind->can.schema
		? file_replace(p->schema_file, sv_of(q->schema), 0600, reterr)
		: 0;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *where)
{
	(void)st;
	(void)kind;
	(void)where;
	(void)remove(path);
	return 0;
}

void turn_place_remove(
	struct turn_place *p, const struct turn_question *q, const struct agent_opts *agent)
{
	enum { DESCRIPTORS = 8 };

	/* Of that name only ours can be, since ours is new. */
	if (q->kind->driver->forget_folder)
		q->kind->driver->forget_folder(agent, p->dir);
	(void)nftw(p->dir, remove_one, DESCRIPTORS, FTW_DEPTH | FTW_PHYS);
	free(TAKE_PTR(p->dir));
	free(TAKE_PTR(p->schema_file));
}

struct agent_opts turn_question_agent(
	const struct turn_place *p, const struct turn_question *q, const struct agent_opts *agent)
{
	enum { STEP_MS = 500 };
	struct agent_opts opts = *agent;

	opts.answer_only = true;
	opts.schema = q->kind->can.schema ? q->schema : NULL;
	opts.schema_file = opts.schema ? p->schema_file : NULL;
	opts.system_prompt = NULL;
	opts.permission = AGENT_PERM_DEFAULT;
	opts.ask = false;
	opts.keep_alive = false;
	opts.dir = p->dir;
	opts.timeout_ms = q->timeout_ms;
	/* Somebody waits for the answer, and what is stopped leaves nothing half done. */
	opts.step_ms = STEP_MS;
	return opts;
}
