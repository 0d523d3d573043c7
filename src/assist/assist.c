#include "assist/assist.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "assist/internal.h"
#include "base/mem.h"

void assist_outcome_init(struct assist_outcome *o)
{
	*o = (struct assist_outcome){
		.answer = STR_INIT,
		.deeds = STR_INIT,
		.conv = CONV_INIT,
		.usage = AGENT_USAGE_NONE,
	};
}

void assist_outcome_release(struct assist_outcome *o)
{
	conv_release(&o->conv);
	str_release(&o->answer);
	str_release(&o->deeds);
}

int assist_new(const struct assist_opts *opts, struct assist **ret, struct err *reterr)
{
	struct proc_id self;
	int r = proc_id_self(&self, reterr);

	if (r < 0)
		return r;
	struct assist *as = xcalloc(1, sizeof(*as));
	as->opts = *opts;
	as->self = self;
	as->prompt = (struct str)STR_INIT;
	*ret = as;
	return 0;
}

void assist_free(struct assist *as)
{
	if (!as)
		return;
	as->out = NULL;
	agent_free(as->agent);
	free(as->agent_dir);
	str_release(&as->prompt);
	free(as);
}

void assist_notice(const struct assist *as, const char *fmt, ...)
{
	AUTO_STR line = STR_INIT;
	va_list ap;

	if (!as->opts.ui.notice)
		return;
	va_start(ap, fmt);
	str_addvf(&line, fmt, ap);
	va_end(ap);
	as->opts.ui.notice(as->opts.ui.data, line.buf);
}

void assist_tell(const struct assist *as, enum text_id id, struct text_words words)
{
	AUTO_STR line = STR_INIT;

	text_fill(&line, id, as->opts.language, words);
	assist_notice(as, "%s", line.buf);
}

void assist_cancel(struct assist *as)
{
	as->gave_up = as->waiting;
	if (as->agent)
		agent_cancel(as->agent);
}

static void reply(struct assist *as, struct assist_outcome *out, enum text_id id)
{
	(void)snprintf(out->reply, sizeof(out->reply), "%s", text_get(id, as->opts.language));
}

static int do_reset(struct assist *as, struct assist_outcome *out, struct err *reterr)
{
	int r = conv_reset(as->opts.store, as->opts.dir, as->opts.clock, reterr);

	if (r == 0)
		reply(as, out, TEXT_RESET);
	return r;
}

static int do_undo(struct assist *as, struct assist_outcome *out, struct err *reterr)
{
	int r = conv_reset_undo(as->opts.store, as->opts.dir, as->opts.clock, reterr);

	if (r == 0)
		reply(as, out, TEXT_UNDONE);
	if (r == ERR_NOTFOUND)
		reply(as, out, TEXT_NOTHING_TO_UNDO);
	return r == ERR_NOTFOUND ? 0 : r;
}

static int talk(struct assist *as, const struct assist_request *req, struct assist_outcome *out,
	struct err *reterr)
{
	struct err failure = ERR_INIT;
	int r = assist_choose_patiently(as, req, &out->conv, reterr);

	if (r < 0)
		return r;
	as->conv = &out->conv;
	as->out = out;
	if (as->opts.ui.begin)
		as->opts.ui.begin(as->opts.ui.data, &out->conv);
	r = assist_settle(as, &out->conv, &failure);
	if (r == 0)
		r = assist_turn(as, req->text, &failure);
	int ended = assist_turn_end(as, r < 0 ? &failure : NULL, reterr);
	if (r < 0 && reterr)
		*reterr = failure;
	as->out = NULL;
	as->conv = NULL;
	return r < 0 ? r : ended;
}

/*
 * After a limit the same words are said again only when they surely did not arrive; otherwise they
 * stand in the transcript, and the agent is asked to go on.
 */
static int talk_through_limits(struct assist *as, const struct assist_request *req,
	struct assist_outcome *out, struct err *reterr)
{
	struct assist_request next = *req;
	char conversation[UUID_TEXT];
	bool over = true;
	int r = talk(as, req, out, reterr);

	while (r == 0 && over && assist_limit_waits(as, out)) {
		r = assist_limit_wait(as, out, &over, reterr);
		if (r < 0 || !over)
			break;
		if (out->delivery != AGENT_NOT_DELIVERED)
			next.text = sv_of(text_get(TEXT_GO_ON, as->opts.language));
		memcpy(conversation, out->conv.id, sizeof(conversation));
		next.mode = ASSIST_IN;
		next.conversation = conversation;
		assist_outcome_release(out);
		assist_outcome_init(out);
		out->kind = UTTERANCE_AGENT;
		r = talk(as, &next, out, reterr);
	}
	return r;
}

static int talk_or_correct(struct assist *as, const struct assist_request *req,
	struct assist_outcome *out, struct err *reterr)
{
	struct assist_request what = *req;
	bool done;
	int r = assist_correct(as, &what, out, &done, reterr);

	if (r == 0 && !done)
		r = talk_through_limits(as, &what, out, reterr);
	free(TAKE_PTR(as->corrected));
	return r;
}

int assist_say(struct assist *as, const struct assist_request *req, struct assist_outcome *out,
	struct err *reterr)
{
	struct utterance heard = { .kind = UTTERANCE_AGENT };

	if (as->opts.rules)
		utterance_judge(as->opts.rules, req->text, &heard);
	out->kind = heard.kind;
	switch (out->kind) {
	case UTTERANCE_IGNORED:
		return 0;
	case UTTERANCE_CANCEL:
		reply(as, out, TEXT_CANCELLED_NOTHING);
		return 0;
	case UTTERANCE_RESET:
		return do_reset(as, out, reterr);
	case UTTERANCE_UNDO:
		return do_undo(as, out, reterr);
	case UTTERANCE_RESTART:
		reply(as, out, TEXT_RESTART);
		return 0;
	case UTTERANCE_AGENT:
		return talk_or_correct(as, req, out, reterr);
	}
	return err_set(reterr, ERR_BUG, "unknown kind of utterance");
}
