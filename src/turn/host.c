/*
 * What the turns of a program share: agents that wait for their next turn, and those that are about
 * to go.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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
	free(a->transcript);
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
	struct turn_host *host, const struct agent_def *kind, const struct conv *c, bool own_rights)
{
	bool full = host->idle.n > 0 && host->idle.n >= host->opts.keep;
	size_t other = host->idle.n;

	for (size_t i = 0; i < host->idle.n; i++) {
		const struct turn_agent *a = host->idle.v[i];
		if (a->kind != kind || strcmp(a->dir, c->dir) != 0 || a->own_rights != own_rights)
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

int64_t turn_size_of(const char *path)
{
	struct stat st;

	return path && stat(path, &st) == 0 ? (int64_t)st.st_size : 0;
}

void turn_agent_keep(struct turn_agent *a, const struct turn *t)
{
	struct turn_host *host = a->host;
	const struct conv *c = &t->out.conv;

	a->turn = NULL;
	free(a->session);
	a->session = c->session ? xstrdup(c->session) : NULL;
	free(a->transcript);
	a->transcript = c->session ? turn_transcript(host, c, c->session) : NULL;
	a->size = turn_size_of(a->transcript);
	memcpy(a->prompt_id, t->prompt_id, sizeof(a->prompt_id));
	vec_push(&host->idle, a);
	if (host->idle.n > host->opts.keep)
		turn_agent_dismiss(take_idle(host, 0));
}

/* The agent writes a little more after its answer; what somebody says has an id of its own. */
static bool is_overtaken(const struct turn_agent *a)
{
	const struct transcript_read_opts opts = { .offset = (uint64_t)a->size };
	struct transcript_reader *reader = NULL;
	bool overtaken = false;
	struct item item;

	int64_t size = turn_size_of(a->transcript);
	if (!a->transcript || size <= a->size)
		return a->transcript && size < a->size;
	if (transcript_open(a->transcript, a->kind->format, &opts, &reader, NULL) < 0)
		return false;
	while (!overtaken && transcript_next(reader, &item, NULL) > 0)
		overtaken = item.kind == ITEM_USER && item.flags & ITEM_PROMPT &&
			!(item.flags & ITEM_SIDECHAIN) && !sv_is(item.prompt_id, a->prompt_id);
	transcript_close(reader);
	return overtaken;
}

void turn_agent_refresh(struct turn_host *host, const char *session, bool own_rights)
{
	for (size_t i = host->idle.n; session && i-- > 0;) {
		const struct turn_agent *a = host->idle.v[i];
		if (a->session && strcmp(a->session, session) == 0 &&
			(a->own_rights != own_rights || is_overtaken(a)))
			turn_agent_dismiss(take_idle(host, i));
	}
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
	turn_drop_ends(host);
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
