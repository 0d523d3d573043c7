/*
 * What a turn waits for before it can begin: an agent that a crash left behind, one that another
 * faden only keeps. Nothing is held meanwhile; what was to be said is on disk.
 */
#include <signal.h>
#include <stdio.h>

#include "agent/child.h"
#include "base/mem.h"
#include "turn/internal.h"

enum {
	ORPHAN_STEP_MS = 50,
	ORPHAN_LOOKS = 30, /* into the transcript, in the time that it has to take its prompt */
	ORPHAN_KILLED = 5, /* … after which one that was killed is gone, or hangs in the kernel */
};

/* Who waits may be killed too: what was to be said is on disk before. One that is sent again is
 * there already. */
int turn_note_wait(struct turn *t, const struct conv *c, struct sv prompt, struct err *reterr)
{
	const struct turn_host_opts *o = &t->host->opts;

	if (t->wait || t->job.again || !c->dir)
		return 0;
	AUTO_TURN_RECORD rec = { .agent = xstrdup(c->agent), .prompt = STR_INIT };
	str_add(&rec.prompt, prompt);
	memcpy(rec.conversation, c->id, sizeof(rec.conversation));
	return journal_wait(o->store, &rec, c->dir, &t->host->self, o->clock, &t->wait, reterr);
}

static void look_at_orphan(void *data);

/*
 * An agent that a killed faden left behind has the conversation. It ends by itself once it has
 * answered: nothing is decided before. One that has not even taken its prompt by then is ended,
 * politely at first, and what it left is looked up like any other.
 */
int turn_wait_for_orphan(struct turn *t, bool first, struct err *reterr)
{
	const struct turn_host_opts *o = &t->host->opts;
	const char *agent = t->orphan.agent ? t->orphan.agent : "the agent";
	const char *instead = t->job.first[0] ? "" : ", or start another conversation";
	int64_t patience = o->orphan_ms ? o->orphan_ms : TURN_ORPHAN_MS;
	int64_t look_ms = patience / ORPHAN_LOOKS;
	int64_t now = clock_age_ms(NULL);
	char pid[32];

	(void)snprintf(pid, sizeof(pid), "%lld", (long long)t->orphan.pid);
	if (first) {
		t->orphan_since_ms = t->orphan_looked_ms = now;
		t->orphan_signals = 0;
	}
	int64_t waited = now - t->orphan_since_ms;
	bool ends = false;
	if (waited >= patience && t->orphan_signals < 2 &&
		now - t->orphan_looked_ms >= look_ms * (1 + 2 * t->orphan_signals)) {
		t->orphan_looked_ms = now;
		if (t->orphan_signals > 0 || !turn_took(t->host, t->orphan_at)) {
			ends = t->orphan_signals == 0;
			child_signal_orphan(
				(pid_t)t->orphan.pid, t->orphan_signals++ ? SIGKILL : SIGTERM);
		}
	}
	if (waited >= 2 * patience && t->orphan_signals == 0)
		return err_set(reterr, ERR_BUSY,
			"%s (process %s) still works on what was interrupted; wait until it ends, "
			"or end it with \"kill %s\"%s",
			agent, pid, pid, instead);
	if (t->orphan_signals == 2 && now - t->orphan_looked_ms >= ORPHAN_KILLED * look_ms)
		return err_set(reterr, ERR_BUSY,
			"%s (process %s) was killed and does not end; wait until it does%s", agent,
			pid, instead);
	turn_after(t, ORPHAN_STEP_MS, look_at_orphan);
	/* One whose turn is over only takes its time to end. */
	if ((first && !t->orphan_idle) || ends)
		turn_tell(&t->sink, first ? NEWS_WAITS_FOR_IT : NEWS_ENDS_IT, agent, pid,
			t->orphan_at);
	return 0;
}

/* While it is there nothing else changes: only its end is a reason to decide anew. */
static void look_at_orphan(void *data)
{
	struct turn *t = data;
	struct err err = ERR_INIT;

	t->timer = NULL;
	if (!child_is_orphan((pid_t)t->orphan.pid)) {
		turn_start(t);
	} else if (turn_wait_for_orphan(t, false, &err) < 0) {
		t->out.err = err;
		turn_end_soon(t);
	}
}

/* Another faden has an agent that waits for its next turn. That one is not at it: we have had the
 * conversation, and it would have to take it first. It is asked to end its agent. */
static void look_at_kept(void *data)
{
	struct turn *t = data;

	t->timer = NULL;
	if (child_keeper((pid_t)t->kept.pid) && clock_age_ms(NULL) < t->kept_until_ms)
		turn_after(t, ORPHAN_STEP_MS, look_at_kept);
	else
		turn_start(t);
}

bool turn_wait_for_keeper(struct turn *t, const struct turn_writer *writer)
{
	int64_t now = clock_age_ms(NULL);

	if (t->kept.pid != writer->pid) {
		t->kept = *writer;
		t->kept_until_ms = now + CHILD_LET_GO_MS;
		child_ask_keeper((pid_t)writer->pid);
	}
	if (now >= t->kept_until_ms)
		return false;
	turn_after(t, ORPHAN_STEP_MS, look_at_kept);
	return true;
}
