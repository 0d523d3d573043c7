/*
 * After a crash: did the prompt arrive, was it answered? The transcript knows. Nothing is ever
 * sent again from here.
 */
#include <stdlib.h>

#include "assist/internal.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "os/path.h"
#include "transcript/filler.h"

enum { SHOWN_PROMPT = 60 /* columns of a prompt in a notice */ };

static const struct transcript_home *home_of(const struct assist *as, const char *agent)
{
	for (size_t i = 0; i < as->opts.n_homes; i++)
		if (strcmp(as->opts.homes[i].agent, agent) == 0)
			return &as->opts.homes[i];
	return NULL;
}

char *assist_transcript(const struct assist *as, const struct conv *c)
{
	const struct transcript_home *home = home_of(as, c->agent);
	char *path = NULL;

	if (!c->session || !home)
		return NULL;
	if (home->format == TRANSCRIPT_CLAUDE) {
		path = claude_session_path(home->root, c->dir, c->session);
		if (path_exists(path))
			return path;
		free(path);
		path = NULL;
	}
	return transcript_find(home, sv_of(c->session), &path, NULL) == 0 ? path : NULL;
}

struct finding {
	bool looked; /* there is a record of what arrives */
	bool arrived;
	bool answered;
	struct str answer;
};

static bool same_text(const struct item *item, struct sv prompt)
{
	AUTO_STR text = STR_INIT;

	transcript_text(item, &text);
	return sv_eq(sv_trim(str_sv(&text)), sv_trim(prompt));
}

static void note_answer(struct finding *f, const struct item *item)
{
	AUTO_STR text = STR_INIT;

	transcript_text(item, &text);
	if (transcript_is_filler(str_sv(&text)))
		return;
	f->answered = true;
	str_clear(&f->answer);
	str_add(&f->answer, str_sv(&text));
}

static void note_item(struct finding *f, const struct item *item, struct sv prompt)
{
	if (item->kind == ITEM_USER && (item->flags & ITEM_PROMPT) && same_text(item, prompt)) {
		f->arrived = true;
		f->answered = false;
		str_clear(&f->answer);
	} else if (f->arrived && item->kind == ITEM_ASSISTANT && !(item->flags & ITEM_FAILED)) {
		note_answer(f, item);
	} else if (item->kind == ITEM_TOOL_CALL) {
		/* Words before a tool are no end of the answer. */
		f->answered = false;
	}
}

static int look_up(const struct assist *as, const struct conv *c, const struct turn_record *t,
	struct finding *f, struct err *reterr)
{
	const struct transcript_home *home = home_of(as, c->agent);
	AUTO_FREE char *path = assist_transcript(as, c);
	struct transcript_reader *reader = NULL;
	/* The turn's own mark only counts for the file it was taken from. */
	bool marked = path && t->transcript && strcmp(path, t->transcript) == 0;
	struct transcript_read_opts opts = { .offset = marked ? (uint64_t)t->before_size : 0 };
	struct item item;

	f->looked = home != NULL;
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

static enum text_id open_end(const struct finding *f)
{
	if (f->arrived)
		return TEXT_UNANSWERED;
	return f->looked ? TEXT_NOT_SENT : TEXT_NOT_KNOWN;
}

static void tell(const struct assist *as, const struct turn_record *t, const struct finding *f)
{
	AUTO_STR line = STR_INIT;
	AUTO_STR prompt = STR_INIT;

	utf8_scrub_line(&line, sv_of(t->prompt));
	utf8_fit(&prompt, str_sv(&line), SHOWN_PROMPT);
	if (f->answered) {
		assist_tell(as, TEXT_ENDED_ALONE, TEXT_WORDS(NULL));
		assist_tell(as, TEXT_ANSWERED, TEXT_WORDS(prompt.buf, f->answer.buf));
	} else {
		assist_tell(as, open_end(f), TEXT_WORDS(prompt.buf));
	}
}

bool assist_writer(const struct assist *as, const struct conv *c, int64_t *ret_pid)
{
	const struct transcript_home *home = home_of(as, c->agent);
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

int assist_settle(struct assist *as, struct conv *c, struct err *reterr)
{
	AUTO_TURN_RECORD t = TURN_RECORD_INIT;
	struct finding f = { .answer = STR_INIT };
	int64_t pid;
	int r = journal_last(as->opts.store, c->id, &t, reterr);

	if (r == ERR_NOTFOUND || (r == 0 && t.state != TURN_INTENT))
		return 0;
	/* The agent outlived us and is still at it: what it says later is told later. */
	if (r == 0 && assist_writer(as, c, &pid)) {
		char process[32];
		(void)snprintf(process, sizeof(process), "%lld", (long long)pid);
		assist_tell(as, TEXT_STILL_AT_IT, TEXT_WORDS(c->agent, process));
		return 0;
	}
	if (r == 0)
		r = look_up(as, c, &t, &f, reterr);
	if (r == 0)
		r = journal_end(as->opts.store, t.id,
			f.answered	    ? TURN_ANSWERED
				: f.arrived ? TURN_UNANSWERED
					    : TURN_LOST,
			"interrupted", as->opts.clock, reterr);
	if (r == 0)
		tell(as, &t, &f);
	str_release(&f.answer);
	return r;
}

int assist_recover(struct assist *as, struct err *reterr)
{
	AUTO_CONV c = CONV_INIT;
	AUTO_TURN_RECORD t = TURN_RECORD_INIT;
	int r = conv_current(as->opts.store, as->opts.dir, as->opts.clock, &c, reterr);

	if (r == ERR_NOTFOUND)
		return 0;
	if (r == 0)
		r = journal_last(as->opts.store, c.id, &t, reterr);
	if (r < 0 || t.state != TURN_INTENT)
		return r == ERR_NOTFOUND ? 0 : r;
	/* Somebody else's running turn is no crash: then there is nothing to explain. */
	if (conv_take(as->opts.store, c.id, &as->self, as->opts.clock, NULL) < 0)
		return 0;
	r = assist_settle(as, &c, reterr);
	int given = conv_give(
		as->opts.store, c.id, &as->self, CONV_IDLE, as->opts.clock, r == 0 ? reterr : NULL);
	return r < 0 ? r : given;
}
