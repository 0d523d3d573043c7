/*
 * After a crash: is the agent still at it; did the prompt arrive, was it answered? The process
 * table and the transcript know, or nobody does. Nothing is ever sent again from here.
 */
#include <stdlib.h>

#include "agent/child.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "os/path.h"
#include "transcript/transcript.h"
#include "turn/internal.h"

enum {
	SHOWN_PROMPT = 60, /* columns of a prompt in a notice */
	SHOWN_FAILED = 6, /* kinds of tools that failed */
	CLOCKS_APART_MS = 5000, /* what an agent says it is and we do, where only the time tells */
};

static const struct transcript_home *home_of(const struct turn_host *host, const char *agent)
{
	for (size_t i = 0; i < host->opts.n_homes; i++)
		if (strcmp(host->opts.homes[i].agent, agent) == 0)
			return &host->opts.homes[i];
	return NULL;
}

char *turn_transcript(const struct turn_host *host, const struct conv *c, const char *session)
{
	const struct transcript_home *home = home_of(host, c->agent);
	char *path = NULL;

	if (!session || !home)
		return NULL;
	/* Most lie where a new one would; the others are looked for. */
	path = transcript_new_path(home, c->dir, c->active_ms, session);
	if (path && path_exists(path))
		return path;
	free(path);
	path = NULL;
	return transcript_find(home, sv_of(session), &path, NULL) == 0 ? path : NULL;
}

/* ---- who is at it ---- */

static bool is_kept(const struct turn_host *host, const char *session)
{
	vec_each (&host->idle, a)
		if ((*a)->session && strcmp((*a)->session, session) == 0)
			return true;
	return false;
}

static bool is_ours(int64_t pid)
{
	return child_is_ours((pid_t)pid);
}

/*
 * By whose child it is, which holds from its first instruction on; by the agent's own notes, which
 * it makes when it has started; by the words it was started with.
 */
bool turn_writer(const struct turn_host *host, const struct conv *c, struct turn_writer *ret)
{
	const struct transcript_home *home = home_of(host, c->agent);
	const struct agent_def *kind = agent_named(sv_of(c->agent));
	AUTO_MAP ids = MAP_INIT;
	uint64_t noted = 0;
	int64_t pid = child_left_by(&c->owner);
	bool open = pid != 0;

	if (!pid && home && c->session) {
		/* Beside one that is kept there may be another. */
		writer_ours_fn ours = is_kept(host, c->session) ? is_ours : NULL;
		transcript_writers(home, ours, &ids);
		if (map_get(&ids, sv_of(c->session), &noted)) {
			pid = (int64_t)noted;
			open = true;
		} else if (kind && kind->program) {
			pid = transcript_loader(home, c->session, ours);
			open = pid != 0;
		}
	}
	*ret = (struct turn_writer){ .agent = kind ? kind->name : NULL,
		.open = open,
		.pid = pid,
		.orphan = pid && child_is_orphan((pid_t)pid),
		.keeper = pid ? child_keeper((pid_t)pid) : 0 };
	return open;
}

/* ---- what the transcript says ---- */

/* What became of a prompt, as far as one reading tells. */
struct finding {
	const struct turn_record *turn;
	const struct transcript_format *format;
	bool marked; /* all that is read came after it was sent */
	struct str words; /* as they can be compared */
	bool arrived;
	bool by_words; /* that it arrived: its id is still to come, and may be another's */
	bool answered;
	bool over; /* what follows belongs to another prompt */
	bool other; /* somebody said something else since it was sent */
	bool in_hand; /* the agent had noted it before it was said */
	struct str answer;
	struct str by_call; /* id of the call that answers by a schema, whose result is to come */
	struct strv calls, tools; /* ids, and what was called */
	struct strv failed; /* tools that said so, or were not allowed with nobody to ask */
};

/* One line, without what no two programs keep alike: controls, bad bytes, blanks. */
static void comparable(struct str *out, struct sv text)
{
	AUTO_STR line = STR_INIT;

	utf8_scrub_line(&line, text);
	str_add(out, sv_trim(str_sv(&line)));
}

static bool has_our_id(const struct finding *f, const struct item *item)
{
	return f->turn->prompt_id && item->prompt_id.n > 0 &&
		sv_is(item->prompt_id, f->turn->prompt_id);
}

static bool has_our_words(const struct finding *f, struct sv text)
{
	AUTO_STR typed = STR_INIT;
	AUTO_STR words = STR_INIT;

	if (f->words.len == 0)
		return false;
	transcript_typed(f->format, text, &typed);
	comparable(&words, str_sv(&typed));
	return sv_eq(str_sv(&words), str_sv(&f->words));
}

/* The same words under another id were typed in the agent itself. They are not ours; but that ours
 * did not arrive is not said either. */
static void note_user(struct finding *f, const struct item *item)
{
	int64_t at = transcript_time(item);
	AUTO_STR text = STR_INIT;

	if (item->flags & ITEM_SIDECHAIN ||
		(!f->marked && at && at < f->turn->started_ms - CLOCKS_APART_MS))
		return;
	transcript_text(item, &text);
	if (f->arrived && !f->over && !(item->flags & ITEM_PROMPT) &&
		transcript_interrupts(f->format, str_sv(&text))) {
		f->answered = false;
		return;
	}
	bool by_id = has_our_id(f, item);
	bool by_words = !by_id && has_our_words(f, str_sv(&text));
	bool elses = f->turn->prompt_id && item->prompt_id.n > 0 && !by_id;
	if (!f->arrived && (by_id || (by_words && !elses))) {
		f->arrived = true;
		f->by_words = by_words && f->turn->prompt_id;
	} else if (item->flags & ITEM_PROMPT) {
		f->over |= f->arrived;
		f->other |= !f->arrived;
	} else {
		f->other |= by_words;
	}
}

/* Notes may hold the first words alone, with or without a sign that they do. */
static bool is_beginning(struct sv whole, struct sv words)
{
	enum { SURE = 40 };

	if (sv_ends(words, SV("…")))
		words = sv_trim(sv_head(words, words.n - strlen("…")));
	return words.n > 0 && sv_starts(whole, words) && (words.n == whole.n || words.n >= SURE);
}

static void note_failed(struct finding *f, struct sv id)
{
	for (size_t i = 0; i < f->calls.n; i++) {
		bool known = !sv_is(id, f->calls.v[i]);
		for (size_t k = 0; k < f->failed.n && !known; k++)
			known = strcmp(f->failed.v[k], f->tools.v[i]) == 0;
		if (!known)
			strv_add(&f->failed, f->tools.v[i]);
	}
}

static void show_failed(struct str *out, const struct strv *failed)
{
	for (size_t i = 0; i < failed->n && i < SHOWN_FAILED; i++) {
		str_adds(out, i ? ", " : "");
		utf8_scrub_line(out, sv_of(failed->v[i]));
	}
	if (failed->n > SHOWN_FAILED)
		str_addf(out, " +%zu", failed->n - SHOWN_FAILED);
}

/* What was done was done for another prompt. */
static void forget_work(struct finding *f)
{
	f->answered = false;
	str_clear(&f->answer);
	str_clear(&f->by_call);
	strv_release(&f->calls);
	strv_release(&f->tools);
	strv_release(&f->failed);
	f->calls = f->tools = f->failed = (struct strv)STRV_INIT;
}

static void note_item(struct finding *f, const struct item *item)
{
	AUTO_STR text = STR_INIT;

	if (item->kind == ITEM_USER) {
		note_user(f, item);
	} else if ((!f->arrived || f->by_words) && has_our_id(f, item)) {
		/* Some commands leave no words of the user at all. Where the same words came twice,
		 * these are the later ones. */
		f->arrived = true;
		if (f->over)
			forget_work(f);
		f->by_words = f->over = false;
	} else if (f->by_words && !f->over && item->kind == ITEM_META && item->prompt_id.n > 0) {
		f->arrived = f->by_words = false;
		forget_work(f);
		f->other = true;
	} else if (!f->arrived && transcript_in_hand(f->format, item, &text)) {
		AUTO_STR words = STR_INIT;
		comparable(&words, str_sv(&text));
		f->in_hand |= is_beginning(str_sv(&f->words), str_sv(&words));
	} else if (!f->arrived || f->over) {
		return;
	} else if (item->kind == ITEM_ASSISTANT && !(item->flags & ITEM_FAILED)) {
		transcript_text(item, &text);
		if (transcript_is_filler(str_sv(&text)))
			return;
		f->answered = true;
		str_clear(&f->answer);
		str_add(&f->answer, str_sv(&text));
	} else if (transcript_answers(f->format, item)) {
		transcript_text(item, &text);
		str_addf(&f->answer, "%s%.*s", f->answer.len ? "\n\n" : "", SV_ARG(str_sv(&text)));
		f->answered = false;
		str_clear(&f->by_call);
		str_add(&f->by_call, item->tool_id);
	} else if (item->kind == ITEM_TOOL_CALL) {
		/* Words before a tool are no end of the answer. */
		f->answered = false;
		str_clear(&f->answer);
		strv_addsv(&f->calls, item->tool_id);
		strv_addsv(&f->tools, item->tool);
	} else if (item->kind == ITEM_TOOL_RESULT && f->by_call.len > 0 &&
		sv_eq(item->tool_id, str_sv(&f->by_call))) {
		f->answered = !(item->flags & ITEM_FAILED);
		str_clear(&f->by_call);
	} else if (item->kind == ITEM_TOOL_RESULT && item->flags & ITEM_FAILED) {
		note_failed(f, item->tool_id);
	}
}

static int read_transcript(const char *path, struct finding *f, struct err *reterr)
{
	const struct turn_record *t = f->turn;
	struct transcript_reader *reader = NULL;
	struct item item;

	/* The turn's own mark only counts for the file it was taken from. */
	bool same = t->transcript && strcmp(path, t->transcript) == 0;
	f->marked = same || !t->transcript;
	struct transcript_read_opts opts = { .offset = same ? (uint64_t)t->before_size : 0 };
	int r = transcript_open(path, f->format, &opts, &reader, reterr);
	if (r < 0)
		return r;
	while ((r = transcript_next(reader, &item, reterr)) > 0)
		note_item(f, &item);
	transcript_close(reader);
	return r;
}

/* A command of the agent may go where nobody looks for it: to a new session, or nowhere. */
static bool is_command(struct sv prompt)
{
	prompt = sv_trim(prompt);
	return prompt.n > 1 && prompt.p[0] == '/';
}

/* What became of the turn, and why nobody can tell where that is so. Only when the agent is gone:
 * what it has not taken yet it may still take. */
static enum turn_news look_up(const struct turn_host *host, const struct conv *c,
	const struct turn_record *t, struct str *answer, struct str *failed)
{
	const struct transcript_home *home = home_of(host, c->agent);
	const struct agent_def *kind = agent_named(sv_of(c->agent));
	struct finding f = { .turn = t,
		.words = STR_INIT,
		.answer = STR_INIT,
		.by_call = STR_INIT,
		.calls = STRV_INIT,
		.tools = STRV_INIT,
		.failed = STRV_INIT };
	enum turn_news news;
	struct err err = ERR_INIT;
	int r = 0;

	if (!home)
		return NEWS_UNKNOWN_NO_RECORD;
	if (!t->session)
		return kind && kind->can.names_first && !t->blind ? NEWS_NOT_SENT
								  : NEWS_UNKNOWN_SESSION;
	AUTO_FREE char *path = turn_transcript(host, c, t->session);
	if (!path && t->transcript)
		return NEWS_UNKNOWN_GONE;
	f.format = home->format;
	comparable(&f.words, str_sv(&t->prompt));
	if (path)
		r = read_transcript(path, &f, &err);
	if (r < 0)
		log_write(host->opts.log, LOG_WARN, "after a crash: %s", err.msg);
	if (f.arrived)
		news = f.answered ? NEWS_ANSWERED : NEWS_UNANSWERED;
	else if (r < 0)
		news = NEWS_UNKNOWN_GONE;
	else if (f.in_hand)
		news = NEWS_UNKNOWN_IN_HAND;
	else if (f.other)
		news = NEWS_UNKNOWN_WORDS;
	else if (is_command(str_sv(&t->prompt)))
		news = NEWS_UNKNOWN_COMMAND;
	else
		news = NEWS_NOT_SENT;
	str_add(answer, str_sv(&f.answer));
	if (failed)
		show_failed(failed, &f.failed);
	strv_release(&f.calls);
	strv_release(&f.tools);
	strv_release(&f.failed);
	str_release(&f.words);
	str_release(&f.answer);
	str_release(&f.by_call);
	return news;
}

static enum turn_state state_of(enum turn_news news)
{
	return news == NEWS_ANSWERED	  ? TURN_ANSWERED
		: news == NEWS_UNANSWERED ? TURN_UNANSWERED
		: news == NEWS_NOT_SENT	  ? TURN_LOST
					  : TURN_NOT_KNOWN;
}

/* ---- settling ---- */

/* The last turn of a conversation that nobody is at. 0: it has no end. 1: nothing to settle. */
static int find_unfinished(struct turn_host *host, const char *id, struct conv *c,
	struct turn_record *t, struct err *reterr)
{
	const struct turn_host_opts *o = &host->opts;
	int r = turn_runs(host, id) ? 1 : conv_get(o->store, id, o->clock, c, reterr);

	if (r == 0)
		r = journal_last(o->store, id, t, reterr);
	if (r == 0 && t->state != TURN_INTENT)
		r = 1;
	return r == ERR_NOTFOUND ? 1 : r;
}

/* Takes it, if it is still as it was. 1: it is not. */
static int take(struct turn_host *host, const struct conv *c, const struct turn_record *t,
	struct err *reterr)
{
	const struct turn_host_opts *o = &host->opts;
	AUTO_TURN_RECORD now = TURN_RECORD_INIT;
	int r = store_begin(o->store, reterr);

	if (r < 0)
		return r;
	r = conv_take(o->store, c->id, &host->self, o->clock, reterr);
	if (r == 0)
		r = journal_last(o->store, c->id, &now, reterr);
	if (r == 0 && (now.id != t->id || now.state != TURN_INTENT))
		r = err_set(reterr, ERR_BUSY, "settled by another process");
	r = store_end(o->store, r, reterr);
	return r == ERR_BUSY ? 1 : r;
}

static int write_settled(struct turn_host *host, const struct conv *c, int64_t turn,
	enum turn_state state, struct err *reterr)
{
	const struct turn_host_opts *o = &host->opts;
	int r = store_begin(o->store, reterr);

	if (r < 0)
		return r;
	r = journal_end(o->store, turn, state, "interrupted", o->clock, reterr);
	if (r == 0)
		r = conv_untake(o->store, c->id, &host->self, reterr);
	return store_end(o->store, r, reterr);
}

static void tell_fate(const struct turn_sink *sink, enum turn_news what,
	const struct turn_record *t, const struct str *answer)
{
	AUTO_STR line = STR_INIT;
	AUTO_STR shown = STR_INIT;

	utf8_scrub_line(&line, str_sv(&t->prompt));
	utf8_fit(&shown, str_sv(&line), SHOWN_PROMPT);
	const char *const words[3] = { shown.buf,
		what == NEWS_ANSWERED ? answer->buf : t->conversation, t->conversation };
	if (sink->news)
		sink->news(sink->data, what, words, t->id);
}

/*
 * The transcript is read while nothing is locked: it may be long. What it says is told before it is
 * written down, so that a crash in between tells it twice rather than never; the lease keeps others
 * from telling it too.
 */
int turn_settle(struct turn_host *host, const char *id, const struct turn_sink *sink,
	struct turn_writer *ret, struct err *reterr)
{
	AUTO_CONV c = CONV_INIT;
	AUTO_TURN_RECORD t = TURN_RECORD_INIT;
	AUTO_STR answer = STR_INIT;
	AUTO_STR failed = STR_INIT;

	*ret = (struct turn_writer){ .pid = 0 };
	int r = find_unfinished(host, id, &c, &t, reterr);
	if (r != 0)
		return r < 0 ? r : 0;
	/* One that runs somewhere is no crash. */
	if (c.owner.pid && proc_id_check(&c.owner) == PROC_ALIVE)
		return 0;
	if (turn_writer(host, &c, ret))
		return 0;
	enum turn_news news = look_up(host, &c, &t, &answer, &failed);
	r = take(host, &c, &t, reterr);
	if (r != 0)
		return r < 0 ? r : 0;
	if (news == NEWS_ANSWERED && failed.len)
		turn_tell(sink, NEWS_CALLS_FAILED, failed.buf, NULL, NULL);
	tell_fate(sink, news, &t, &answer);
	return write_settled(host, &c, t.id, state_of(news), reterr);
}

bool turn_took(struct turn_host *host, const char *id)
{
	AUTO_CONV c = CONV_INIT;
	AUTO_TURN_RECORD t = TURN_RECORD_INIT;
	AUTO_STR answer = STR_INIT;

	return find_unfinished(host, id, &c, &t, NULL) != 0 ||
		look_up(host, &c, &t, &answer, NULL) != NEWS_NOT_SENT;
}

int turn_fate(struct turn_host *host, const char *conversation, const char *prompt_id,
	enum turn_news *ret, struct str *answer, struct err *reterr)
{
	const struct turn_host_opts *o = &host->opts;
	AUTO_CONV c = CONV_INIT;
	AUTO_TURN_RECORD t = TURN_RECORD_INIT;
	int r = conv_get(o->store, conversation, o->clock, &c, reterr);

	if (r < 0)
		return r;
	r = journal_last(o->store, conversation, &t, reterr);
	if (r < 0 && r != ERR_NOTFOUND)
		return r;
	bool begun = r == 0 && t.prompt_id && strcmp(t.prompt_id, prompt_id) == 0;
	*ret = !begun			 ? NEWS_NOT_SENT
		: t.state == TURN_INTENT ? NEWS_COUNT
					 : look_up(host, &c, &t, answer, NULL);
	return 0;
}

/*
 * An agent that dies under us leaves the question that a crash of ours leaves, and the same look
 * answers it: that it said it was at work is no sign that anything of the prompt is on its disk.
 * Where it keeps no record, what its driver knows is all there is.
 */
void turn_look_after_death(struct turn *t)
{
	struct turn_outcome *out = &t->out;
	AUTO_TURN_RECORD record = TURN_RECORD_INIT;
	AUTO_STR answer = STR_INIT;
	char said[ERR_MSG_MAX];
	const char *how;

	if (!t->held || journal_last(t->host->opts.store, out->conv.id, &record, NULL) < 0)
		return;
	enum turn_news news = look_up(t->host, &out->conv, &record, &answer, NULL);
	bool kept = news == NEWS_ANSWERED || news == NEWS_UNANSWERED;
	bool heard = out->answer.len > 0 || out->acted;
	if (kept)
		out->delivery = AGENT_DELIVERED;
	else if (news == NEWS_NOT_SENT && !heard)
		out->delivery = AGENT_NOT_DELIVERED;
	else if (news != NEWS_UNKNOWN_NO_RECORD && out->delivery == AGENT_DELIVERED)
		out->delivery = AGENT_MAYBE_DELIVERED;
	if (kept)
		how = "it had the prompt, and \"continue\" goes on";
	else if (news == NEWS_NOT_SENT && heard)
		how = "it had begun, but the session has nothing of it";
	else if (out->delivery == AGENT_NOT_DELIVERED)
		how = "it had not got the prompt; 'faden ask --again' sends it";
	else if (out->delivery == AGENT_DELIVERED)
		return;
	else
		how = "whether it had the prompt is not known";
	memcpy(said, out->message, sizeof(said));
	struct sv began = utf8_cut(sv_of(said), sizeof(said) - strlen(how) - 3);
	(void)snprintf(out->message, sizeof(out->message), "%.*s; %s", SV_ARG(began), how);
}

/* ---- a folder ---- */

struct ids {
	VEC(struct id { char text[UUID_TEXT]; }) v;
};

static int add_id(void *data, const struct conv *c)
{
	struct ids *ids = data;
	struct id id;

	memcpy(id.text, c->id, sizeof(id.text));
	vec_push(&ids->v, id);
	return 0;
}

/* Once for each turn, unless it is what was asked for: who hears it every time stops listening. */
static int tell_running(struct turn_host *host, const char *id, const struct turn_writer *writer,
	enum turn_running running, const struct turn_sink *sink, struct err *reterr)
{
	const struct turn_host_opts *o = &host->opts;
	AUTO_CONV c = CONV_INIT;
	AUTO_TURN_RECORD t = TURN_RECORD_INIT;
	char pid[32];
	int r = find_unfinished(host, id, &c, &t, reterr);

	if (r != 0)
		return r < 0 ? r : 0;
	bool told = journal_was_told(o->store, t.id);
	if (told && running != TURN_RUNNING_ALWAYS)
		return 0;
	(void)snprintf(pid, sizeof(pid), "%lld", (long long)writer->pid);
	turn_tell(sink, NEWS_STILL_AT_IT, c.agent, pid, c.id);
	return told ? 0 : journal_told(o->store, t.id, o->clock, reterr);
}

/* Prompts that waited for their turn in a faden that is gone. */
static int settle_waits(
	struct turn_host *host, const char *dir, const struct turn_sink *sink, struct err *reterr)
{
	const struct turn_host_opts *o = &host->opts;
	int r = 0;

	while (r == 0) {
		AUTO_TURN_RECORD t = TURN_RECORD_INIT;
		r = journal_take_wait(o->store, dir, &host->self, &t, reterr);
		if (r < 0)
			break;
		tell_fate(sink, NEWS_NOT_BEGUN, &t, NULL);
		r = journal_end(o->store, t.id, TURN_LOST, "interrupted", o->clock, reterr);
	}
	return r == ERR_NOTFOUND ? 0 : r;
}

int turn_recover(struct turn_host *host, const char *dir, const char *except,
	enum turn_running running, const struct turn_sink *sink, struct err *reterr)
{
	struct ids ids = { .v = VEC_INIT };
	int r = conv_unfinished(host->opts.store, dir, host->opts.clock, add_id, &ids, reterr);

	vec_each (&ids.v, id) {
		struct turn_writer writer;
		if (r < 0 || (except && strcmp(except, id->text) == 0))
			continue;
		r = turn_settle(host, id->text, sink, &writer, reterr);
		if (r == 0 && writer.pid && running != TURN_RUNNING_PASS)
			r = tell_running(host, id->text, &writer, running, sink, reterr);
	}
	vec_release(&ids.v);
	return r < 0 ? r : settle_waits(host, dir, sink, reterr);
}
