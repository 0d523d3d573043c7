#include "assist/nowhere.h"

#include <stdlib.h>
#include <string.h>

#include "assist/candidates.h"
#include "assist/correct.h"
#include "assist/learn.h"
#include "assist/record.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "os/path.h"
#include "store/topic.h"

static void reply_instead(struct decision *d, const char *reason)
{
	d->what = DECIDED_REPLY;
	conv_release(&d->conv);
	conv_release(&d->open);
	str_clear(&d->notice);
	(void)snprintf(d->reason, sizeof(d->reason), "%s", reason);
}

/* ---- what there is ---- */

struct there {
	const struct decide_opts *opts;
	int64_t reset_ms;
	struct conv newest;
};

static int take_conv(void *data, const struct conv *c)
{
	struct there *t = data;

	if (c->deleted || !c->session || c->active_ms <= t->newest.active_ms)
		return 0;
	conv_release(&t->newest);
	conv_copy(&t->newest, c);
	return 0;
}

static int take_member(void *data, const struct session_row *row)
{
	struct there *t = data;

	if (row->active_ms <= t->newest.active_ms)
		return 1;
	conv_release(&t->newest);
	member_of(row, t->opts->clock, &t->newest);
	t->newest.before_reset = row->active_ms <= t->reset_ms;
	return 1;
}

/* The last one of this project that anybody had, whyever it does not go on by itself; empty: none.
 */
static int find_last(struct there *t, struct err *reterr)
{
	enum { RECENT = 20 };
	const struct decide_opts *o = t->opts;
	const struct catalogue_unclaimed queries[] = {
		{ .dir = o->dir, .limit = 1 },
		{ .below = o->project, .limit = 1 },
	};
	int r = conv_in_project(o->store, o->project, RECENT, o->clock, take_conv, t, reterr);

	for (size_t i = 0; r >= 0 && i < ARRAY_LEN(queries); i++)
		r = catalogue_unclaimed(o->store, &queries[i], take_member, t, reterr);
	return r < 0 ? r : 0;
}

/* ---- going on ---- */

static int tell_last(const struct decide_opts *o, struct decision *d, struct err *reterr)
{
	struct there there = { .opts = o, .reset_ms = conv_reset_ms(o->store, o->dir) };
	const struct conv *c = &there.newest;
	AUTO_STR how = STR_INIT;
	AUTO_STR ago = STR_INIT;
	AUTO_CONV before = CONV_INIT;
	int r = find_last(&there, reterr);

	if (r == 0 && decide_deleted(o, &before, NULL) == 0 && before.active_ms >= c->active_ms) {
		text_fill(&d->reply, TEXT_NOTHING_DELETED, o->language,
			TEXT_WORDS(conv_label(&before), before.session));
	} else if (r == 0 && c->session) {
		bool undo = c->before_reset && strcmp(c->dir, o->dir) == 0;
		AUTO_CONV back = CONV_INIT;
		if (undo && conv_before_reset(o->store, o->dir, o->clock, &back, NULL) == 0 &&
			!back.deleted)
			c = &back;
		text_ago(&ago, o->language, c->age_ms);
		if (undo)
			str_adds(&how, o->greets ? "/undo" : "faden reset --undo");
		else
			str_addf(&how, "%s %s", o->greets ? "/resume" : "faden ask --in",
				c->session);
		text_fill(&d->reply, undo ? TEXT_NOTHING_SINCE_RESET : TEXT_NOTHING_BUT,
			o->language, TEXT_WORDS(conv_label(c), ago.buf, how.buf));
	} else if (r == 0) {
		str_adds(&d->reply, text_get(TEXT_NOTHING_HERE, o->language));
	}
	conv_release(&there.newest);
	if (r == 0)
		reply_instead(d, "it only says to go on, and nothing goes on here");
	return r;
}

int nowhere_to_go_on(const struct decide_opts *o, struct decision *d, struct err *reterr)
{
	bool goes_on = d->conv.id[0] || is_member(&d->conv);
	bool named = d->by == BY_PIN || d->by == BY_CORRECTION || (o->talk && o->talk->place);
	AUTO_CONV here = CONV_INIT;
	AUTO_CONV open = CONV_INIT;

	if (goes_on && named)
		return 0;
	if (goes_on)
		conv_copy(&here, &d->conv);
	int r = candidates_newest(o, &here, &open, reterr);
	if (r < 0)
		return r;
	if (!open.session)
		return goes_on ? 0 : tell_last(o, d, reterr);
	conv_release(&d->conv);
	conv_release(&d->open);
	conv_copy(&d->conv, &open);
	str_clear(&d->notice);
	d->waits = d->held = true;
	(void)snprintf(d->reason, sizeof(d->reason), "what goes on here is open in its agent");
	return 0;
}

/* ---- in a talk ---- */

bool nowhere_to_be_led(const struct decide_opts *o, struct sv text, struct decision *d)
{
	AUTO_RECORD rec = { .text = NULL };
	struct route_correct_words words = { .sure = false };
	enum route_correction kind = route_correct(text, &words);
	bool asked = record_read(o, false, &rec) && rec.asked;

	/* "The one about the crawler" is spoken of with an agent, too. */
	bool answers = asked && (!words.sure || kind == CORRECT_ABOUT);
	bool meant = words.sure || (words.denies && kind != CORRECT_ABOUT);
	if (kind == CORRECT_NONE || answers || !meant)
		return false;
	d->by = BY_CORRECTION;
	str_adds(&d->reply, text_get(TEXT_TALK_STAYS, o->language));
	reply_instead(d, "a correction, and a talk stays where it is");
	return true;
}

/* ---- going back ---- */

/* A folder may be named as well: "back to the shop". */
static bool lies_in(const struct conv *c, struct sv name)
{
	AUTO_STR folder = STR_INIT;
	AUTO_STR wanted = STR_INIT;

	utf8_normalise(&folder, path_base(sv_of(c->dir)), true);
	utf8_normalise(&wanted, name, true);
	return sv_eq(str_sv(&folder), str_sv(&wanted));
}

/* Whether any conversation shares a word with that; *ret_named: the one that is called so or is
 * about it most, empty when there is none. */
static int look_for(const struct decide_opts *o, struct sv text, bool *ret_known,
	struct conv *ret_named, struct err *reterr)
{
	struct route_decision choice;
	AUTO_CONV current = CONV_INIT;
	struct decision seen;
	double most = CANDIDATE_NAMED;
	size_t named = ROUTE_NONE;
	int r = decide_current(o, &current, reterr);

	decision_init(&seen);
	if (r == 0)
		r = candidates_ask(o, text, &current, false, &seen, &choice, reterr);
	for (size_t i = 0; r == 0 && i < seen.convs.n; i++) {
		double keyword = seen.candidates[i].keyword;
		*ret_known |= keyword > 0;
		named = keyword >= most ? i : named;
		most = keyword >= most ? keyword : most;
	}
	if (r == 0 && seen.called)
		named = choice.action == ROUTE_RESUME ? choice.index : choice.blocked;
	if (named != ROUTE_NONE)
		conv_copy(ret_named, &seen.convs.v[named]);
	decision_release(&seen);
	return r;
}

/* The agent that was asked for has nothing of that, and another one has: 1, and told. */
static int belongs_to_another(
	const struct decide_opts *o, struct sv text, struct decision *d, struct err *reterr)
{
	struct decide_opts any = *o;
	AUTO_CONV c = CONV_INIT;
	bool known = false;

	if (!o->agent)
		return 0;
	any.agent = any.chosen = NULL;
	int r = look_for(&any, text, &known, &c, reterr);
	if (r < 0 || !c.agent || strcmp(c.agent, o->agent) == 0)
		return r;
	text_fill(&d->reply, TEXT_ANOTHERS, o->language,
		TEXT_WORDS(conv_label(&c), c.agent, o->agent));
	reply_instead(d, "it goes back to a conversation of another agent");
	return 1;
}

int nowhere_to_go_back(
	const struct decide_opts *o, struct sv text, struct decision *d, struct err *reterr)
{
	AUTO_STRV stems = STRV_INIT;
	struct topic_hits hits = { .seqs = VEC_INIT };
	struct sv part = text, to;
	bool first = route_goes_back_first(text, &part);
	AUTO_CONV ignored = CONV_INIT;
	bool known = false;
	int r = 0;

	if (!route_goes_back(part, &to))
		return 0;
	learn_stems(o->router, to, &stems);
	if (stems.n == 0)
		return 0;
	/* What comes behind a comma is for who is meant: it says nothing of who that is. */
	if (first)
		r = look_for(o, part, &known, &ignored, reterr);
	for (size_t i = 0; !first && i < d->convs.n; i++)
		known |= d->candidates[i].keyword > 0;
	for (size_t i = 0; i < d->convs.n; i++)
		known |= lies_in(&d->convs.v[i], to);
	if (r == 0 && !known)
		r = belongs_to_another(o, part, d, reterr);
	if (r == 0 && !known)
		r = topic_search(o->store, &stems, &hits, reterr);
	known |= hits.seqs.n > 0;
	vec_release(&hits.seqs);
	if (r != 0 || known)
		return r;
	AUTO_FREE char *words = xmemdup0(to.p, to.n);
	text_fill(&d->reply, TEXT_NONE_CALLED, o->language, TEXT_WORDS(words));
	reply_instead(d, "it goes back to something that nobody has spoken of");
	return 1;
}
