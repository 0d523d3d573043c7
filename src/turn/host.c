/*
 * What the turns of a program share: agents that wait for their next turn, and those that are about
 * to go.
 */
#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/child.h"
#include "base/mem.h"
#include "turn/internal.h"

/* ---- agents ---- */

void turn_agent_drop(struct turn_agent *a)
{
	if (!a)
		return;
	agent_free(a->agent);
	free(a->dir);
	free(a->session);
	free(a);
}

static void agent_gone(void *data)
{
	struct turn_agent *a = data;
	struct turn_host *host = a->host;

	vec_each (&host->leaving, other)
		if (*other == a) {
			*other = host->leaving.v[--host->leaving.n];
			break;
		}
	turn_agent_drop(a);
}

void turn_agent_dismiss(struct turn_agent *a)
{
	if (agent_leave(a->agent, agent_gone, a))
		vec_push(&a->host->leaving, a);
	else
		turn_agent_drop(a);
}

int turn_agent_make(struct turn_host *host, const struct agent_def *kind,
	const struct agent_opts *opts, agent_sink_fn sink, struct turn_agent **ret,
	struct err *reterr)
{
	struct turn_agent *a = xcalloc(1, sizeof(*a));
	struct agent_opts own = *opts;

	a->host = host;
	a->kind = kind;
	own.dir = a->dir = xstrdup(opts->dir);
	int r = agent_open(kind, &own, host->opts.loop, sink, a, &a->agent, reterr);
	if (r < 0)
		turn_agent_drop(a);
	else
		*ret = a;
	return r;
}

static struct turn_agent *take_idle(struct turn_host *host, size_t at)
{
	struct turn_agent *a = host->idle.v[at];

	host->idle.n--;
	memmove(host->idle.v + at, host->idle.v + at + 1,
		(host->idle.n - at) * sizeof(*host->idle.v));
	return a;
}

struct turn_agent *turn_agent_kept(
	struct turn_host *host, const struct agent_def *kind, const struct conv *c)
{
	bool full = host->idle.n > 0 && host->idle.n >= host->opts.keep;
	size_t other = host->idle.n;

	for (size_t i = 0; i < host->idle.n; i++) {
		const struct turn_agent *a = host->idle.v[i];
		if (a->kind != kind || strcmp(a->dir, c->dir) != 0)
			continue;
		if (a->session && c->session && strcmp(a->session, c->session) == 0)
			return take_idle(host, i);
		other = i;
	}
	if (full && other < host->idle.n)
		return take_idle(host, other);
	if (full)
		turn_agent_dismiss(take_idle(host, 0));
	return NULL;
}

void turn_agent_keep(struct turn_agent *a, const char *session)
{
	struct turn_host *host = a->host;

	a->turn = NULL;
	free(a->session);
	a->session = session ? xstrdup(session) : NULL;
	vec_push(&host->idle, a);
	if (host->idle.n > host->opts.keep)
		turn_agent_dismiss(take_idle(host, 0));
}

bool turn_agent_leaving(const struct turn_host *host, const char *session)
{
	vec_each (&host->leaving, a)
		if (session && (*a)->session && strcmp((*a)->session, session) == 0)
			return true;
	return false;
}

/* ---- the host ---- */

/* Between turns nobody here needs them: the next turn starts another, which knows what was said
 * elsewhere by then. */
static void let_go(void *data, int signo)
{
	struct turn_host *host = data;

	(void)signo;
	while (host->idle.n > 0)
		turn_agent_dismiss(take_idle(host, host->idle.n - 1));
}

int64_t turn_keeper(int64_t pid)
{
	return pid > 0 ? child_keeper((pid_t)pid) : 0;
}

bool turn_left(int64_t pid)
{
	return pid > 0 && child_is_orphan((pid_t)pid);
}

bool turn_let_go(int64_t pid)
{
	enum { STEP_US = 50000 };
	int64_t until = clock_age_ms(NULL) + CHILD_LET_GO_MS;
	bool kept = turn_keeper(pid) != 0;

	if (!kept)
		return false;
	child_ask_keeper((pid_t)pid);
	while (kept && clock_age_ms(NULL) < until) {
		(void)usleep(STEP_US);
		kept = turn_keeper(pid) != 0;
	}
	return !kept;
}

int turn_host_new(const struct turn_host_opts *opts, struct turn_host **ret, struct err *reterr)
{
	struct turn_host *host = xcalloc(1, sizeof(*host));
	int r = proc_id_self(&host->self, reterr);

	host->opts = *opts;
	if (r == 0)
		host->wanted = loop_add_signal(opts->loop, CHILD_LET_GO, let_go, host, reterr);
	if (r == 0 && !host->wanted)
		r = reterr ? reterr->code : ERR_BUG;
	if (r < 0)
		free(host);
	else
		*ret = host;
	return r;
}

void turn_host_free(struct turn_host *host)
{
	if (!host)
		return;
	assert(host->running.n == 0);
	/* All at once: they end while the first is waited for. */
	let_go(host, CHILD_LET_GO);
	vec_each (&host->leaving, a)
		turn_agent_drop(*a);
	loop_remove(host->opts.loop, host->wanted);
	vec_release(&host->leaving);
	vec_release(&host->idle);
	vec_release(&host->running);
	free(host);
}

const struct proc_id *turn_host_self(const struct turn_host *host)
{
	return &host->self;
}
