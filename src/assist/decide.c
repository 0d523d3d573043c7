#include "assist/decide.h"

#include <stdlib.h>
#include <string.h>

#include "assist/candidates.h"
#include "assist/correct.h"
#include "assist/learn.h"
#include "assist/nowhere.h"
#include "assist/record.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "os/path.h"
#include "store/topic.h"

/* Two texts are one request when at least half of their words are the same. */
static const double same_request = 0.5;

void decision_init(struct decision *d)
{
	*d = (struct decision){
		.what = DECIDED_REPLY,
		.heard = UTTERANCE_AGENT,
		.prompt = STR_INIT,
		.notice = STR_INIT,
		.reply = STR_INIT,
		.misplaced = STR_INIT,
		.places = STRV_INIT,
		.confidence = 1,
		.next = ROUTE_NONE,
		.language = TEXT_ENGLISH,
	};
}

void decision_release(struct decision *d)
{
	vec_each (&d->convs, c)
		conv_release(c);
	vec_release(&d->convs);
	free(d->candidates);
	conv_release(&d->conv);
	conv_release(&d->heir_of);
	conv_release(&d->open);
	str_release(&d->prompt);
	str_release(&d->notice);
	str_release(&d->reply);
	str_release(&d->misplaced);
	strv_release(&d->places);
}

const char *decision_by_name(enum decision_by by)
{
	static const char *const names[] = {
		[BY_COMMAND] = "command",
		[BY_CORRECTION] = "correction",
		[BY_REQUEST] = "request",
		[BY_PIN] = "pin",
		[BY_ROUTER] = "router",
		[BY_JUDGE] = "judge",
		[BY_FOLDER] = "folder",
	};

	return names[by];
}

static void set_reason(struct decision *d, const char *reason)
{
	(void)snprintf(d->reason, sizeof(d->reason), "%s", reason);
}

bool decide_goes_on(const struct decide_opts *o, const struct conv *c)
{
	const char *rehearsal = agent_embedded()->name;

	if (o->agent)
		return strcmp(c->agent, o->agent) == 0;
	return !o->chosen || strcmp(c->agent, rehearsal) != 0 || strcmp(o->chosen, rehearsal) == 0;
}

static int find_current(const struct decide_opts *o, struct conv *ret, struct err *reterr)
{
	int r = conv_current(o->store, o->dir, o->clock, ret, reterr);

	return r == ERR_NOTFOUND ? 0 : r;
}

static int find_here(const struct decide_opts *o, struct conv *ret, struct err *reterr)
{
	AUTO_CONV open = CONV_INIT;
	int r = find_current(o, ret, reterr);

	return r == 0 && o->newest ? candidates_newest(o, ret, &open, reterr) : r;
}

/* ---- corrections ---- */

int decision_note(const struct decide_opts *opts, const struct decision *d,
	const char *conversation, unsigned flags, struct err *reterr)
{
	AUTO_RECORD before = { .text = NULL };
	AUTO_RECORD rec = { .places = STRV_INIT,
		.at = d->at,
		.said = d->said | (flags & NOTE_SAID ? 1U << d->at : 0),
		.told = d->elsewhere || (flags & NOTE_REFUSED),
		.acted = flags & NOTE_ACTED,
		.asked = flags & NOTE_ASKED };
	bool known = record_read(opts->store, opts->dir, &before);

	for (size_t i = 0; i < d->places.n; i++)
		strv_add(&rec.places, i == d->at ? conversation : d->places.v[i]);
	rec.text = xstrdup(d->prompt.len > 0 ? d->prompt.buf : known ? before.text : "");
	rec.open = xstrdup(d->open.session ? d->open.session : known ? before.open : "");
	return rec.text[0] && rec.places.n > 0 ? record_write(opts->store, opts->dir, &rec, reterr)
					       : 0;
}

static void add_place(struct decision *d, char *place)
{
	bool known = false;

	for (size_t i = 0; i < d->places.n; i++)
		known |= strcmp(d->places.v[i], place) == 0;
	if (known || d->places.n == RECORD_PLACES_MAX)
		free(place);
	else
		strv_take(&d->places, place);
}

/* From where it went, round to where it could go as well. */
static void add_round(struct decision *d, const struct record *rec)
{
	for (size_t i = 0; i < rec->places.n; i++)
		add_place(d, xstrdup(rec->places.v[(rec->at + i) % rec->places.n]));
}

/* Which of the decision's places the last sentence was said in. */
static unsigned said_in(const struct decision *d, const struct record *rec)
{
	unsigned said = 0;

	for (size_t i = 0; i < d->places.n; i++)
		for (size_t k = 0; k < rec->places.n; k++)
			if (strcmp(d->places.v[i], rec->places.v[k]) == 0)
				said |= (rec->said >> k & 1U) << i;
	return said;
}

/* They share at least so many words, too. */
static bool same_subject(struct router *router, struct sv a, struct sv b, size_t least)
{
	AUTO_MAP stems = MAP_INIT;
	const struct sv texts[] = { a, b };
	size_t at = 0, shared = 0;
	struct sv key;
	uint64_t count;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		AUTO_STRV words = STRV_INIT;
		learn_stems(router, texts[i], &words);
		for (size_t w = 0; w < words.n; w++)
			*map_ref(&stems, sv_of(words.v[w])) += 1;
	}
	while (map_next(&stems, &at, &key, &count))
		shared += count > 1;
	return shared >= least && (double)shared >= same_request * (double)stems.n;
}

struct remembering {
	const struct decide_opts *opts;
	struct sv text;
	struct decision *d;
};

/* Was such a text corrected before? Then what the user said is right now as well: also another
 * conversation than the one that was wrong then, where the texts have more than a word in common.
 */
static int recall_correction(void *data, const struct correction *c)
{
	enum { CORRECTIONS_WORDS = 2 };
	const struct remembering *m = data;
	struct decision *d = m->d;
	bool again = strcmp(c->wrong, d->conv.id) == 0;
	const struct conv *right = NULL;

	if (!again && !c->right)
		return 0;
	for (size_t i = 0; c->right && i < d->convs.n; i++)
		if (d->candidates[i].routable && strcmp(d->convs.v[i].id, c->right) == 0)
			right = &d->convs.v[i];
	/* One that is gone since, or elsewhere, is no place to go. */
	if ((c->right && !right) ||
		!same_subject(
			m->opts->router, m->text, sv_of(c->text), again ? 1 : CORRECTIONS_WORDS))
		return 0;
	conv_release(&d->conv);
	d->conv = (struct conv)CONV_INIT;
	if (right)
		conv_copy(&d->conv, right);
	set_reason(d, "such a sentence was corrected before");
	d->close = false;
	return 1;
}

static int apply_memory(
	const struct decide_opts *o, struct sv text, struct decision *d, struct err *reterr)
{
	enum { CORRECTIONS_MAX = 30 };
	struct remembering m = { o, text, d };
	int r = correction_each(o->store, CORRECTIONS_MAX, recall_correction, &m, reterr);

	return r < 0 ? r : 0;
}

/* The conversation that the words name, also behind a reset: "back to" reaches there whatever the
 * correction's own words were. A name that was given goes before words in common. ERR_NOTFOUND when
 * there is none. */
static int find_named(
	const struct decide_opts *o, struct sv about, struct decision *d, struct err *reterr)
{
	AUTO_FREE char *back = xasprintf("back to %.*s", SV_ARG(about));
	const struct sv tries[] = { sv_of(back), about };
	struct conv *ret = &d->conv;
	AUTO_CONV current = CONV_INIT;
	int r = find_current(o, &current, reterr);

	for (size_t i = 0; r == 0 && !ret->id[0] && !is_member(ret) && i < ARRAY_LEN(tries); i++) {
		struct route_decision chosen;
		struct decision seen;
		double best = 0;
		decision_init(&seen);
		r = candidates_ask(o, tries[i], &current, &seen, &chosen, reterr);
		if (r == 0 && seen.called && chosen.action == ROUTE_RESUME) {
			conv_copy(ret, &seen.convs.v[chosen.index]);
			d->namesakes = seen.namesakes;
			memcpy(d->namesake, seen.namesake, sizeof(d->namesake));
			decision_release(&seen);
			break;
		}
		for (size_t k = 0; r == 0 && k < seen.convs.n; k++) {
			if (seen.candidates[k].keyword < CANDIDATE_NAMED ||
				seen.candidates[k].keyword <= best ||
				!decide_goes_on(o, &seen.convs.v[k]))
				continue;
			best = seen.candidates[k].keyword;
			conv_release(ret);
			conv_copy(ret, &seen.convs.v[k]);
		}
		decision_release(&seen);
	}
	if (r == 0 && !ret->id[0] && !is_member(ret)) {
		AUTO_STR line = STR_INIT;
		AUTO_FREE char *words = xmemdup0(about.p, about.n);
		text_fill(&line, TEXT_NONE_ABOUT, o->language, TEXT_WORDS(words));
		r = err_set(reterr, ERR_NOTFOUND, "%s", line.buf);
	}
	return r;
}

struct another {
	const struct decide_opts *opts;
	const struct record *rec;
	struct conv *ret;
};

static int take_another(void *data, const struct conv *c)
{
	const struct another *a = data;

	if (a->ret->id[0] || c->deleted || strcmp(c->id, a->rec->places.v[a->rec->at]) == 0 ||
		!decide_goes_on(a->opts, c))
		return 0;
	conv_copy(a->ret, c);
	return 0;
}

/* The next of the places that is still there; where only one was thought of, what else went on in
 * this project last. */
static int find_other(const struct decide_opts *o, const struct record *rec, struct decision *d,
	struct err *reterr)
{
	enum { RECENT = 5 };
	struct another another = { o, rec, &d->conv };
	size_t n = rec->places.n;

	for (size_t i = 1; i < n; i++) {
		size_t at = (rec->at + i) % n;
		if (strcmp(rec->places.v[at], rec->places.v[rec->at]) == 0)
			continue;
		int r = place_find(o->store, rec->places.v[at], o->clock, &d->conv, reterr);
		if (r == ERR_NOTFOUND)
			continue;
		if (r == 0 && (d->conv.deleted || !decide_goes_on(o, &d->conv))) {
			conv_release(&d->conv);
			continue;
		}
		for (size_t k = 0; k < n; k++)
			add_place(d, xstrdup(rec->places.v[k]));
		d->at = at;
		return r;
	}
	int r = conv_in_project(
		o->store, o->project, RECENT, o->clock, take_another, &another, reterr);
	if (r == 0 && !d->conv.id[0])
		return err_set(reterr, ERR_NOTFOUND, "%s", text_get(TEXT_NO_OTHER, o->language));
	add_place(d, xstrdup(rec->places.v[rec->at]));
	add_place(d, xstrdup(d->conv.id));
	d->at = 1;
	return r;
}

/* The conversation that is meant; empty: a new one. */
static int find_target(const struct decide_opts *o, enum route_correction kind, struct sv about,
	const struct record *rec, struct decision *d, struct err *reterr)
{
	if (kind == CORRECT_OTHER)
		return find_other(o, rec, d, reterr);
	int r = kind == CORRECT_ABOUT ? find_named(o, about, d, reterr) : 0;
	if (r == 0) {
		add_place(d, place_of(&d->conv));
		add_round(d, rec);
	}
	return r;
}

/* What was said goes to the right conversation, unless something was done with it already, it was
 * said there before, or it was not wrong: then only what comes next goes there. */
static int correct(const struct decide_opts *o, const struct record *rec, bool wrong,
	struct decision *d, struct err *reterr)
{
	static const enum text_id texts[2][2] = {
		{ TEXT_NEXT_THERE, TEXT_NEXT_NEW },
		{ TEXT_DONE_NEXT_THERE, TEXT_DONE_NEXT_NEW },
	};
	bool fresh = !d->conv.id[0] && !is_member(&d->conv);
	AUTO_STR label = STR_INIT;

	str_adds(&label, conv_label(&d->conv));
	if (!fresh && strcmp(d->conv.dir, o->dir) != 0)
		str_addf(&label, ", in %s", d->conv.dir);
	const struct text_words name = TEXT_WORDS(label.buf);
	d->by = BY_CORRECTION;
	d->said = said_in(d, rec);
	bool back = d->said >> d->at & 1U;
	if (wrong) {
		str_adds(&d->misplaced, rec->text);
		(void)snprintf(d->wrong, sizeof(d->wrong), "%s", rec->places.v[rec->at]);
	}
	if (wrong && !rec->acted && !back) {
		AUTO_TURN_RECORD said = TURN_RECORD_INIT;
		int r = journal_said(
			o->store, rec->places.v[rec->at], sv_of(rec->text), &said, reterr);
		if (r < 0 && r != ERR_NOTFOUND)
			return r;
		d->what = DECIDED_TURN;
		/* A turn that failed before it began is in no journal. */
		str_add(&d->prompt, r == 0 ? str_sv(&said.prompt) : sv_of(rec->text));
		text_fill(&d->notice, fresh ? TEXT_SAME_NEW : TEXT_SAME_THERE, o->language, name);
		set_reason(d, "a correction: what was said before is said there");
	} else {
		d->what = DECIDED_SWITCH;
		text_fill(&d->reply, texts[wrong && !back][fresh], o->language, name);
		set_reason(d, "a correction: what comes next goes there");
	}
	return 0;
}

static int reply_to_correction(struct decision *d, const char *reply)
{
	d->what = DECIDED_REPLY;
	d->by = BY_CORRECTION;
	str_adds(&d->reply, reply);
	set_reason(d, "a correction that names no conversation");
	return 1;
}

/* 1 when the sentence is a correction, 0 when it is for the agent. */
static int decide_correction(
	const struct decide_opts *o, struct sv text, struct decision *d, struct err *reterr)
{
	AUTO_RECORD rec = { .text = NULL };
	struct route_correct_words words;
	struct err err = ERR_INIT;
	enum route_correction kind = route_correct(text, &words);

	if (kind == CORRECT_NONE)
		return 0;
	if (!record_read(o->store, o->dir, &rec)) {
		/* Where nothing was begun there is no other one, and nobody to answer. */
		AUTO_CONV here = CONV_INIT;
		bool denied = kind == CORRECT_OTHER && (words.denies || words.sure);
		int found = denied ? find_here(o, &here, reterr) : 1;
		if (found == 0 && !here.id[0] && !is_member(&here))
			return reply_to_correction(d, text_get(TEXT_NO_OTHER, o->language));
		return found < 0 ? found : 0;
	}
	/* "No, the other one" may as well answer a question of the agent, and "the other one" is
	 * no correction where nothing was told. */
	if (kind == CORRECT_OTHER && !words.sure && !rec.told && (!words.denies || rec.asked))
		return 0;
	/* "Go back to the one about X" need not mean that the last turn went astray, and "new
	 * conversation" alone does not. */
	bool wrong = kind == CORRECT_OTHER || words.denies || (kind == CORRECT_ABOUT && rec.told);
	int r = find_target(o, kind, words.about, &rec, d, &err);
	if (r == 0) {
		r = correct(o, &rec, wrong, d, reterr);
		return r < 0 ? r : 1;
	}
	/* That one is another than the only one is no order for an agent that asked nothing. */
	if (r == ERR_NOTFOUND && (words.sure || rec.told || kind == CORRECT_OTHER))
		return reply_to_correction(d, err.msg);
	if (r < 0 && r != ERR_NOTFOUND && reterr)
		*reterr = err;
	return r == ERR_NOTFOUND ? 0 : r;
}

/* ---- which conversation ---- */

bool decision_goes_to(const struct decision *d, const struct conv *c)
{
	return is_member(c) ? d->conv.session && strcmp(d->conv.session, c->session) == 0
			    : strcmp(d->conv.id, c->id) == 0;
}

/* Where it goes, and for "no, the other one" where else: what was told as that before when it stays
 * where it was, else the second choice if only one elsewhere went before it, then the one that was
 * left, unless another was nearly as likely; then the others by how well they fit. */
static void note_places(const struct decide_opts *o, const struct conv *last, struct decision *d)
{
	AUTO_RECORD rec = { .text = NULL };
	bool told_before = record_read(o->store, o->dir, &rec) && !d->elsewhere;
	AUTO_FREE bool *taken = xcalloc(d->convs.n + 1, sizeof(*taken));

	add_place(d, place_of(&d->conv));
	if (told_before && strcmp(rec.places.v[rec.at], d->places.v[0]) == 0) {
		/* A correction has led here: from the one before it. */
		if (rec.at > 0)
			add_place(d, xstrdup(rec.places.v[rec.at - 1]));
		add_round(d, &rec);
	} else {
		const struct conv *next = d->next == ROUTE_NONE ? NULL : &d->convs.v[d->next];
		if (next && d->conv.dir && strcmp(d->conv.dir, o->dir) != 0 &&
			strcmp(next->dir, o->dir) == 0 && d->candidates[d->next].keyword > 0)
			add_place(d, place_of(next));
		if (last->id[0] && !d->close)
			add_place(d, xstrdup(last->id));
	}
	for (size_t n = 0; n < d->convs.n; n++) {
		size_t best = ROUTE_NONE;
		for (size_t i = 0; i < d->convs.n; i++)
			if (!taken[i] && d->candidates[i].routable &&
				(best == ROUTE_NONE ||
					d->candidates[i].score > d->candidates[best].score))
				best = i;
		if (best == ROUTE_NONE)
			break;
		taken[best] = true;
		add_place(d, place_of(&d->convs.v[best]));
	}
	if (last->id[0])
		add_place(d, xstrdup(last->id));
}

/* A session that is open in its agent is left alone, which is told once. */
static void tell_open(const struct decide_opts *o, struct decision *d)
{
	AUTO_RECORD rec = { .text = NULL };
	AUTO_STR who = STR_INIT;
	bool goes_on = d->conv.id[0] || is_member(&d->conv);

	if (!d->open.session)
		return;
	if ((goes_on && d->conv.active_ms >= d->open.active_ms) ||
		(record_read(o->store, o->dir, &rec) && strcmp(rec.open, d->open.session) == 0)) {
		conv_release(&d->open);
		return;
	}
	writer_describe(d->open.agent, d->open.owner.pid, &who);
	str_adds(&d->notice, d->notice.len ? " " : "");
	text_fill(&d->notice, TEXT_OPEN, o->language, TEXT_WORDS(conv_label(&d->open), who.buf));
}

/* Less ahead of the next best than this is told also where it stayed, of which nothing is seen. */
static const double close_stay = 0.4;

/* Told when a turn goes elsewhere than the last one here did. */
static void tell_route(const struct decide_opts *o, const struct conv *last, struct decision *d)
{
	const struct conv *to = &d->conv;
	AUTO_STR when = STR_INIT;

	/* Where the last one went is no news, unless that is long ago. */
	d->elsewhere = is_member(to) ||
		(to->id[0] ? strcmp(last->id, to->id) != 0 ||
					to->age_ms > router_opts(o->router)->expiry_ms
			   : last->turns > 0 || last->session);
	note_places(o, last, d);
	if (!d->elsewhere)
		return;
	if (!to->id[0] && !is_member(to)) {
		str_adds(&d->notice, text_get(TEXT_ROUTED_NEW, o->language));
		return;
	}
	text_ago(&when, o->language, to->age_ms);
	if (strcmp(to->dir, o->dir) != 0)
		str_addf(&when, ", in %s", to->dir);
	if (is_member(to))
		text_fill(&d->notice, d->places.n > 1 ? TEXT_ROUTED_OWN : TEXT_ROUTED_OWN_ONLY,
			o->language, TEXT_WORDS(to->agent, conv_label(to), when.buf));
	else
		text_fill(&d->notice,
			strcmp(to->dir, o->dir) == 0 || d->close ? TEXT_ROUTED_TO
				: d->places.n > 1		 ? TEXT_ROUTED_AWAY
								 : TEXT_ROUTED_AWAY_ONLY,
			o->language, TEXT_WORDS(conv_label(to), when.buf));
}

/* Which of several was meant nobody knows: the others can be had too. */
static void tell_namesakes(const struct decide_opts *o, struct decision *d)
{
	struct str *to = d->what == DECIDED_TURN ? &d->notice : &d->reply;
	char n[32];

	if (d->namesakes == 0 || d->waits)
		return;
	(void)snprintf(n, sizeof(n), "%zu", d->namesakes + 1);
	str_adds(to, to->len ? " " : "");
	text_fill(to, TEXT_NAMESAKES, o->language, TEXT_WORDS(n, d->namesake));
}

/* A close choice is the judge's, if it chose one of those that there still are. */
static void apply_judgement(const struct judgement *j, struct decision *d, struct route_decision *r)
{
	size_t index = ROUTE_NONE;
	bool found = false;

	if (!j || j->end != JUDGE_CHOSE || !d->close)
		return;
	found = !j->place[0];
	for (size_t i = 0; i < d->convs.n && !found; i++) {
		AUTO_FREE char *place = place_of(&d->convs.v[i]);
		found = d->candidates[i].routable && strcmp(place, j->place) == 0;
		index = i;
	}
	if (!found)
		return;
	r->action = j->place[0] ? ROUTE_RESUME : ROUTE_NEW;
	r->index = index;
	d->by = BY_JUDGE;
	d->close = false;
	(void)snprintf(d->reason, sizeof(d->reason), "%s was asked and chose it", j->agent);
}

/* pinned: 1 and nothing is decided, unless it is by a name: that goes before. */
static int decide_by_router(const struct decide_opts *o, struct sv text, bool pinned,
	struct decision *d, struct err *reterr)
{
	struct route_decision decision = { .blocked = ROUTE_NONE, .ahead = 1 };
	AUTO_CONV last = CONV_INIT;
	int r = find_current(o, &last, reterr);

	if (r == 0)
		r = candidates_ask(o, text, &last, d, &decision, reterr);
	if (r == 0)
		r = candidates_here_first(o, text, &last, d, &decision, reterr);
	if (r < 0 || (pinned && !d->called))
		return r < 0 ? r : 1;
	d->by = BY_ROUTER;
	d->confidence = decision.confidence;
	d->by_meaning = decision.by_meaning;
	d->next = decision.runner_up;
	d->close = !d->called && decision.ahead < o->close;
	set_reason(d, decision.reason);
	const struct conv *blocked =
		decision.blocked == ROUTE_NONE ? NULL : &d->convs.v[decision.blocked];
	/* A sentence that leans on what runs right now means nothing anywhere else. */
	d->waits = blocked && candidate_runs(blocked);
	if (d->waits) {
		conv_copy(&d->conv, blocked);
		note_places(o, &last, d);
		return 0;
	}
	if (blocked)
		conv_copy(&d->heir_of, blocked);
	else
		apply_judgement(o->judged, d, &decision);
	if (decision.action == ROUTE_RESUME)
		conv_copy(&d->conv, &d->convs.v[decision.index]);
	/* What texts mean may lead there without a word in common. */
	if (!d->called && (!d->by_meaning || strcmp(d->conv.id, last.id) == 0))
		r = nowhere_to_go_back(o, text, d, reterr);
	if (r != 0)
		return r < 0 ? r : 0;
	if (!d->called)
		r = apply_memory(o, text, d, reterr);
	if (r < 0)
		return r;
	tell_route(o, &last, d);
	if (d->close && d->elsewhere && d->conv.id[0]) {
		str_addc(&d->notice, ' ');
		str_adds(&d->notice, text_get(TEXT_ROUTED_CLOSE, o->language));
	}
	bool judged = o->judged && o->judged->end == JUDGE_CHOSE;
	if (!d->elsewhere && d->conv.id[0] && !d->called && !judged && decision.ahead < close_stay)
		text_fill(&d->notice,
			decision.runner_up == ROUTE_NONE ? TEXT_STAYED_NEW : TEXT_STAYED_OTHER,
			o->language, TEXT_WORDS(conv_label(&d->conv)));
	vec_each (&d->convs, c)
		if (is_member(c) && candidate_runs(c) && !c->before_reset &&
			strcmp(c->dir, o->dir) == 0 &&
			(!d->open.session || c->age_ms < d->open.age_ms)) {
			conv_release(&d->open);
			conv_copy(&d->open, c);
		}
	tell_open(o, d);
	return 0;
}

/* The conversation that the talk is in. One that was taken from it by another terminal's command is
 * its own all the same; what that changed for the folder is left to it, and told once. */
static int find_talk(const struct decide_opts *o, const struct conv *current, struct decision *d,
	struct err *reterr)
{
	const struct talk_place *t = o->talk;
	struct conv *c = &d->conv;
	int r = t->place[0] ? place_find(o->store, t->place, o->clock, c, reterr) : ERR_NOTFOUND;

	if (r < 0)
		return r == ERR_NOTFOUND ? 0 : r;
	bool moved = strcmp(current->id, t->folder) != 0;
	d->apart = strcmp(current->id, c->id) != 0 && (moved || t->apart);
	if (d->apart && moved)
		text_fill(&d->notice, current->id[0] ? TEXT_STAYS : TEXT_STAYS_RESET, o->language,
			TEXT_WORDS(conv_label(c), current->id[0] ? conv_label(current) : NULL));
	return 0;
}

struct own {
	const struct decide_opts *opts;
	struct conv *ret;
};

static int take_own(void *data, const struct conv *c)
{
	const struct own *own = data;
	const struct decide_opts *o = own->opts;

	if (own->ret->id[0] || !c->session || c->before_reset || c->deleted ||
		strcmp(c->dir, o->dir) != 0 || !decide_goes_on(o, c) ||
		(o->expiry_ms > 0 && c->age_ms > o->expiry_ms))
		return 0;
	conv_copy(own->ret, c);
	return 0;
}

/* Another agent's conversation does not go on, nor does one that is too old: that is said, and *c
 * is the last one here of the agent that is wanted, or empty. */
static int leave_out(const struct decide_opts *o, struct conv *c, struct str *notice,
	const char **ret_reason, struct err *reterr)
{
	enum { RECENT = 20 };
	AUTO_CONV left = CONV_INIT;
	AUTO_STR ago = STR_INIT;
	struct own own = { o, c };
	bool others = c->id[0] && !decide_goes_on(o, c);
	bool old = c->id[0] && !others && o->expiry_ms > 0 && c->age_ms > o->expiry_ms;

	if (!others && !old)
		return 0;
	left = *c;
	*c = (struct conv)CONV_INIT;
	text_ago(&ago, o->language, left.age_ms);
	if (old) {
		text_fill(
			notice, TEXT_TOO_OLD, o->language, TEXT_WORDS(conv_label(&left), ago.buf));
		*ret_reason = "what went on in this folder is too old";
		return 0;
	}
	int r = conv_in_project(o->store, o->project, RECENT, o->clock, take_own, &own, reterr);
	const struct text_words words = TEXT_WORDS(conv_label(&left), left.agent,
		c->id[0]	   ? conv_label(c)
			: o->agent ? o->agent
				   : o->chosen);
	text_fill(notice,
		!c->id[0]	    ? TEXT_OTHER_AGENT
			: o->greets ? TEXT_BELONGS
				    : TEXT_OTHER_AGENT_OWN,
		o->language, words);
	*ret_reason = "what goes on in this folder is another agent's";
	return r;
}

/* The talk's conversation or the folder's last one goes on. */
static int decide_by_folder(const struct decide_opts *o, struct decision *d, struct err *reterr)
{
	struct conv *c = &d->conv;
	AUTO_CONV last = CONV_INIT;
	int r = find_current(o, &last, reterr);
	bool stays = o->talk && o->talk->place && d->by == BY_FOLDER;

	memcpy(d->folder, last.id, sizeof(d->folder));
	if (r == 0 && stays)
		r = find_talk(o, &last, d, reterr);
	else if (r == 0)
		conv_copy(c, &last);
	if (r == 0 && o->newest && d->by == BY_FOLDER && !stays)
		r = candidates_newest(o, c, &d->open, reterr);
	if (r < 0)
		return r;
	if (is_member(c) || (c->id[0] && c->used_elsewhere && strcmp(c->id, last.id) != 0)) {
		AUTO_STR ago = STR_INIT;
		d->elsewhere = true;
		text_ago(&ago, o->language, c->age_ms);
		if (!o->greets)
			text_fill(&d->notice, TEXT_FOLDER_OWN, o->language,
				TEXT_WORDS(c->agent, conv_label(c), ago.buf));
		set_reason(d, "it went on in this folder last, in the agent itself");
	} else {
		const char *reason = !c->id[0] ? "nothing goes on in this folder"
			: d->by == BY_PIN      ? "named for what comes next"
					       : "it goes on in this folder";
		r = leave_out(o, c, &d->notice, &reason, reterr);
		set_reason(d, reason);
	}
	note_places(o, &last, d);
	tell_open(o, d);
	return r;
}

struct request request_again(const struct turn_record *lost)
{
	return (struct request){ .text = str_sv(&lost->prompt),
		.mode = lost->conversation[0] ? REQUEST_IN : REQUEST_GO_ON,
		.conversation = lost->conversation,
		.again = lost };
}

int decide_here(
	const struct decide_opts *o, struct conv *ret, struct str *notice, struct err *reterr)
{
	const char *ignored;
	int r = find_here(o, ret, reterr);

	return r == 0 ? leave_out(o, ret, notice, &ignored, reterr) : r;
}

int decide_undo(const struct decide_opts *o, struct conv *ret, struct err *reterr)
{
	int r = store_begin(o->store, reterr);
	int kept;

	if (r < 0)
		return r;
	while (r == 0 && !ret->id[0] && !is_member(ret)) {
		r = conv_reset_undo(o->store, o->dir, o->clock, reterr);
		if (r == 0)
			r = find_here(o, ret, reterr);
	}
	/* The user has been told that it goes on. */
	if (r == 0 && is_member(ret)) {
		r = member_adopt(o->store, ret, o->clock, reterr);
		if (r == 0)
			r = learn_adopted(o->store, o->router, ret, reterr);
		if (r == 0)
			r = conv_set_current(o->store, o->dir, ret->id, o->clock, reterr);
		if (r == 0)
			r = conv_pin(o->store, o->dir, reterr);
	}
	/* That there is nothing to undo undoes nothing else: a caller's transaction goes on. */
	kept = store_end(o->store, r == ERR_NOTFOUND ? 0 : r, reterr);
	return kept < 0 ? kept : r;
}

int decide_refresh(const struct decide_opts *o, struct err *reterr)
{
	int64_t now_ms = clock_wall_ms(o->clock);
	int r = 0;

	if (o->n_homes == 0 || !(o->newest || o->routes))
		return 0;
	r = catalogue_refresh_near(o->store, o->homes, o->n_homes, o->dir, now_ms, NULL, reterr);
	if (r == 0 && strcmp(o->project, o->dir) != 0)
		r = catalogue_refresh_near(
			o->store, o->homes, o->n_homes, o->project, now_ms, NULL, reterr);
	return r;
}

/* Who speaks to us is answered in the same language, as far as we have words in it. */
static enum text_language language_of(
	const struct decide_opts *o, struct sv text, const struct utterance *heard)
{
	const char *spoken = NULL;

	if (!o->language_open)
		return o->language;
	if (heard->kind != UTTERANCE_AGENT)
		spoken = heard->lang;
	else if (o->router)
		spoken = router_language(o->router, text);
	return spoken && strcmp(spoken, "de") == 0    ? TEXT_GERMAN
		: spoken && strcmp(spoken, "en") == 0 ? TEXT_ENGLISH
						      : o->language;
}

enum text_language decide_language(const struct decide_opts *o, struct sv text)
{
	struct utterance heard = { .kind = UTTERANCE_AGENT };

	if (sv_trim(text).n == 0)
		return o->language;
	if (o->rules)
		utterance_judge(o->rules, text, &heard);
	return language_of(o, text, &heard);
}

int decide(const struct decide_opts *opts, const struct request *req, struct decision *d,
	struct err *reterr)
{
	struct utterance heard = { .kind = UTTERANCE_AGENT };
	struct decide_opts spoken = *opts;
	const struct decide_opts *o = &spoken;
	int r = 0;

	if (o->rules && !req->again)
		utterance_judge(o->rules, req->text, &heard);
	d->heard = heard.kind;
	spoken.language = d->language = language_of(opts, req->text, &heard);
	if (d->heard != UTTERANCE_AGENT) {
		d->what = DECIDED_COMMAND;
		return 0;
	}
	if (sv_trim(req->text).n == 0)
		return err_set(reterr, ERR_USAGE, "nothing to route: the text is empty");
	d->what = DECIDED_TURN;
	if (req->mode == REQUEST_GO_ON && o->routes) {
		r = decide_correction(o, req->text, d, reterr);
		if (r < 0)
			return r;
	}
	if (r == 0) {
		str_add(&d->prompt, req->text);
		bool pinned = conv_pinned(o->store, o->dir);
		if (req->mode == REQUEST_GO_ON) {
			r = o->routes ? decide_by_router(o, req->text, pinned, d, reterr) : 1;
			if (r == 1) {
				d->by = o->routes ? BY_PIN : BY_FOLDER;
				r = decide_by_folder(o, d, reterr);
			}
		} else {
			AUTO_CONV last = CONV_INIT;
			d->by = BY_REQUEST;
			if (req->mode == REQUEST_IN && req->conversation[0])
				r = conv_get(
					o->store, req->conversation, o->clock, &d->conv, reterr);
			else if (req->mode == REQUEST_IN)
				member_of(req->session, o->clock, &d->conv);
			if (r == 0)
				r = find_current(o, &last, reterr);
			note_places(o, &last, d);
		}
	}
	if (r >= 0 && req->mode == REQUEST_GO_ON && d->what == DECIDED_TURN && !d->waits &&
		d->by != BY_CORRECTION && route_only_goes_on(req->text))
		r = nowhere_to_go_on(o, d, reterr);
	/* Where the work is done is told with every sentence that is said outside of a talk. */
	if (r >= 0 && req->mode == REQUEST_GO_ON && d->conv.id[0] && d->notice.len == 0 &&
		d->what == DECIDED_TURN && !(o->talk && o->talk->place) &&
		path_exists(d->conv.dir) && strcmp(d->conv.dir, o->dir) != 0)
		text_fill(&d->notice, TEXT_ELSEWHERE, o->language,
			TEXT_WORDS(conv_label(&d->conv), d->conv.dir));
	if (r >= 0 && req->mode == REQUEST_GO_ON && d->what == DECIDED_TURN && !d->conv.id[0] &&
		!is_member(&d->conv) && d->notice.len == 0) {
		AUTO_CONV before = CONV_INIT;
		if (conv_last(o->store, o->dir, o->clock, &before, NULL) == 0 && before.deleted)
			text_fill(&d->notice, TEXT_DELETED, o->language,
				TEXT_WORDS(conv_label(&before), before.session));
	}
	/* More than the settings allow was allowed here, not wherever a sentence may lead. */
	d->own_rights = r >= 0 && o->rights && req->mode == REQUEST_GO_ON &&
		d->what == DECIDED_TURN && d->conv.dir && strcmp(d->conv.dir, o->dir) != 0 &&
		path_exists(d->conv.dir) && !(o->talk && o->talk->place && d->by == BY_FOLDER);
	if (d->own_rights) {
		str_adds(&d->notice, d->notice.len ? " " : "");
		text_fill(&d->notice, TEXT_RIGHTS_STAY, o->language, TEXT_WORDS(o->rights));
	}
	/* Who answers is no secret when it is another one than was chosen. */
	if (r >= 0 && req->mode == REQUEST_GO_ON && d->conv.id[0] && o->chosen &&
		strcmp(d->conv.agent, o->chosen) != 0 && d->notice.len == 0)
		text_fill(&d->notice, TEXT_ANSWERS_HERE, o->language,
			TEXT_WORDS(d->conv.agent, conv_label(&d->conv)));
	if (r >= 0)
		tell_namesakes(o, d);
	if (o->tasks && route_task_of(str_sv(&d->prompt), o->task_words) == ROUTE_TASK_PLAN)
		d->task = CONV_PLAN;
	if (d->places.n > 1)
		(void)snprintf(d->other, sizeof(d->other), "%s",
			place_id(d->places.v[(d->at + 1) % d->places.n]));
	return r < 0 ? r : 0;
}
