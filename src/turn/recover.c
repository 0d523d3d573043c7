/*
 * After a crash: did the prompt arrive, was it answered? The transcript knows. Nothing is ever
 * sent again from here.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "os/path.h"
#include "transcript/transcript.h"
#include "turn/internal.h"

enum { SHOWN_PROMPT = 60 /* columns of a prompt in a notice */ };

static const struct transcript_home *home_of(const struct turn_host *host, const char *agent)
{
	for (size_t i = 0; i < host->opts.n_homes; i++)
		if (strcmp(host->opts.homes[i].agent, agent) == 0)
			return &host->opts.homes[i];
	return NULL;
}

char *turn_transcript(const struct turn_host *host, const struct conv *c)
{
	const struct transcript_home *home = home_of(host, c->agent);
	char *path = NULL;

	if (!c->session || !home)
		return NULL;
	/* Most lie where a new one would; the others are looked for. */
	path = transcript_new_path(home, c->dir, c->active_ms, c->session);
	if (path && path_exists(path))
		return path;
	free(path);
	path = NULL;
	return transcript_find(home, sv_of(c->session), &path, NULL) == 0 ? path : NULL;
}

bool turn_writer(const struct turn_host *host, const struct conv *c, int64_t *ret_pid)
{
	const struct transcript_home *home = home_of(host, c->agent);
	AUTO_MAP ids = MAP_INIT;
	uint64_t pid;

	if (!home || !c->session)
		return false;
	transcript_writers(home, &ids);
	if (!map_get(&ids, sv_of(c->session), &pid))
		return false;
	*ret_pid = (int64_t)pid;
	return true;
}

struct finding {
	bool looked; /* at the record of all that arrives: what is not there did not */
	bool arrived;
	bool answered;
	struct str answer;
};

static void note_item(struct finding *f, const struct item *item, struct sv prompt)
{
	AUTO_STR text = STR_INIT;

	if (item->kind == ITEM_USER && (item->flags & ITEM_PROMPT)) {
		transcript_text(item, &text);
		if (!sv_eq(sv_trim(str_sv(&text)), sv_trim(prompt)))
			return;
		f->arrived = true;
		f->answered = false;
		str_clear(&f->answer);
	} else if (f->arrived && item->kind == ITEM_ASSISTANT && !(item->flags & ITEM_FAILED)) {
		transcript_text(item, &text);
		if (transcript_is_filler(str_sv(&text)))
			return;
		f->answered = true;
		str_clear(&f->answer);
		str_add(&f->answer, str_sv(&text));
	} else if (item->kind == ITEM_TOOL_CALL) {
		/* Words before a tool are no end of the answer. */
		f->answered = false;
	}
}

static int look_up(const struct turn_host *host, const struct conv *c, const struct turn_record *t,
	struct finding *f, struct err *reterr)
{
	const struct transcript_home *home = home_of(host, c->agent);
	AUTO_FREE char *path = turn_transcript(host, c);
	struct transcript_reader *reader = NULL;
	/* The turn's own mark only counts for the file it was taken from. */
	bool marked = path && t->transcript && strcmp(path, t->transcript) == 0;
	struct transcript_read_opts opts = { .offset = marked ? (uint64_t)t->before_size : 0 };
	struct item item;

	/* An agent that makes its ids may have begun a session it had no time to tell of; and a
	 * transcript that is gone says nothing. */
	f->looked = home && t->session && (path || !t->transcript);
	if (!path)
		return 0;
	int r = transcript_open(path, home->format, &opts, &reader, reterr);
	if (r < 0)
		return r;
	while ((r = transcript_next(reader, &item, reterr)) > 0)
		note_item(f, &item, sv_of(t->prompt));
	transcript_close(reader);
	return r;
}

void turn_left_release(struct turn_left *left)
{
	str_release(&left->words[0]);
	str_release(&left->words[1]);
}

int turn_settle(
	struct turn_host *host, const struct conv *c, struct turn_left *ret, struct err *reterr)
{
	AUTO_TURN_RECORD t = TURN_RECORD_INIT;
	AUTO_STR line = STR_INIT;
	struct finding f = { .answer = STR_INIT };
	int64_t pid;
	int r = journal_last(host->opts.store, c->id, &t, reterr);

	if (r < 0 || t.state != TURN_INTENT)
		return r == ERR_NOTFOUND ? 0 : r;
	/* The agent outlived us and is still at it: what it says later is told later. */
	if (turn_writer(host, c, &pid)) {
		ret->any = true;
		ret->what = NEWS_STILL_AT_IT;
		str_adds(&ret->words[0], c->agent);
		str_addf(&ret->words[1], "%lld", (long long)pid);
		return 0;
	}
	r = look_up(host, c, &t, &f, reterr);
	if (r == 0)
		r = journal_end(host->opts.store, t.id,
			f.answered	    ? TURN_ANSWERED
				: f.arrived ? TURN_UNANSWERED
				: f.looked  ? TURN_LOST
					    : TURN_NOT_KNOWN,
			"interrupted", host->opts.clock, reterr);
	if (r == 0) {
		ret->any = true;
		ret->what = f.answered ? NEWS_ANSWERED
			: f.arrived    ? NEWS_UNANSWERED
			: f.looked     ? NEWS_NOT_SENT
				       : NEWS_NOT_KNOWN;
		utf8_scrub_line(&line, sv_of(t.prompt));
		utf8_fit(&ret->words[0], str_sv(&line), SHOWN_PROMPT);
		str_add(&ret->words[1], str_sv(&f.answer));
	}
	str_release(&f.answer);
	return r;
}

int turn_recover(struct turn_host *host, const struct conv *c, const struct turn_sink *sink,
	struct err *reterr)
{
	const struct turn_host_opts *o = &host->opts;
	struct turn_left left = TURN_LEFT_INIT;
	AUTO_TURN_RECORD t = TURN_RECORD_INIT;
	int r = journal_last(o->store, c->id, &t, reterr);

	if (r < 0 || t.state != TURN_INTENT)
		return r == ERR_NOTFOUND ? 0 : r;
	/* A running turn, of ours or of another process, is no crash: there is nothing to explain.
	 */
	if (turn_runs(host, c->id) || conv_take(o->store, c->id, &host->self, o->clock, NULL) < 0)
		return 0;
	r = turn_settle(host, c, &left, reterr);
	int given = conv_give(
		o->store, c->id, &host->self, CONV_IDLE, o->clock, r == 0 ? reterr : NULL);
	if (r == 0 && left.any)
		turn_tell(sink, left.what, left.words[0].buf, left.words[1].buf, NULL);
	turn_left_release(&left);
	return r < 0 ? r : given;
}
