#include "assist/decide.h"

#include <stdlib.h>
#include <string.h>

#include "assist/candidates.h"
#include "assist/correct.h"
#include "assist/learn.h"
#include "assist/nowhere.h"
#include "assist/record.h"
#include "assist/redirect.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "os/path.h"
#include "route/phrase.h"
#include "route/tables.h"

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
		.ahead = 1,
		.fresh = -1,
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

void decision_reason(struct decision *d, const char *reason)
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

int decide_current(const struct decide_opts *o, struct conv *ret, struct err *reterr)
{
	int r = conv_current(o->store, o->dir, o->clock, ret, reterr);

	return r == ERR_NOTFOUND ? 0 : r;
}

int decide_find_here(const struct decide_opts *o, struct conv *ret, struct err *reterr)
{
	AUTO_CONV open = CONV_INIT;
	int r = decide_current(o, ret, reterr);

	return r == 0 && o->newest ? candidates_newest(o, ret, &open, reterr) : r;
}

struct lost {
	const struct decide_opts *opts;
	struct conv *ret;
};

static int take_deleted(void *data, const struct session_row *row)
{
	const struct lost *lost = data;

	if (row->gone) {
		conv_release(lost->ret);
		member_of(row, lost->opts->clock, lost->ret);
		lost->ret->deleted = true;
	}
	return 1;
}

int decide_deleted(const struct decide_opts *o, struct conv *ret, struct err *reterr)
{
	AUTO_FREE char *session = NULL;
	AUTO_CONV last = CONV_INIT;
	struct lost lost = { o, &last };
	int64_t over_ms = conv_over(o->store, o->dir, &session);
	const struct catalogue_query query = { .id = session, .gone = true, .limit = 1 };
	int r = conv_last(o->store, o->dir, o->clock, &last, reterr);

	/* One that was begun in an agent was no conversation yet. */
	if ((r == 0 || r == ERR_NOTFOUND) && session && over_ms > last.active_ms &&
		over_ms > conv_reset_ms(o->store, o->dir))
		r = catalogue_query(o->store, &query, take_deleted, &lost, reterr);
	if (r < 0)
		return r;
	if (!last.deleted)
		return err_set(reterr, ERR_NOTFOUND, "nothing that went on here was deleted");
	*ret = last;
	last = (struct conv)CONV_INIT;
	return 0;
}

/* ---- which conversation ---- */

bool decision_goes_to(const struct decision *d, const struct conv *c)
{
	return is_member(c) ? d->conv.session && strcmp(d->conv.session, c->session) == 0
			    : strcmp(d->conv.id, c->id) == 0;
}

bool decision_has_next(const struct decision *d)
{
	return d->what == DECIDED_TURN && d->by == BY_ROUTER && d->ahead < 1 && !d->waits &&
		!(d->next != ROUTE_NONE && decision_goes_to(d, &d->convs.v[d->next]));
}

/* Where it goes, and for "no, the other one" where else: what was told as that before when it stays
 * where it was, else the second choice if that was nearly as likely, or if only one elsewhere went
 * before it; then the one that was left, then the others by how well they fit. */
static void note_places(const struct decide_opts *o, const struct conv *last, struct decision *d)
{
	AUTO_RECORD rec = { .text = NULL };
	bool told_before = record_read(o, false, &rec) && !d->elsewhere;
	AUTO_FREE bool *taken = xcalloc(d->convs.n + 1, sizeof(*taken));

	decision_add_place(d, place_of(&d->conv));
	if (told_before && strcmp(rec.places.v[rec.at], d->places.v[0]) == 0) {
		/* A correction has led here: from the one before it. */
		if (rec.at > 0)
			decision_add_place(d, xstrdup(rec.places.v[rec.at - 1]));
		decision_add_round(d, &rec);
	} else {
		const struct conv *next = d->next == ROUTE_NONE ? NULL : &d->convs.v[d->next];
		bool here = next && d->conv.dir && strcmp(d->conv.dir, o->dir) != 0 &&
			strcmp(next->dir, o->dir) == 0 && d->candidates[d->next].keyword > 0;
		bool near = next && (d->by == BY_JUDGE || (d->close && d->ahead < o->close));
		if (here || near)
			decision_add_place(d, place_of(next));
	}
	if (last->id[0])
		decision_add_place(d, xstrdup(last->id));
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
		decision_add_place(d, place_of(&d->convs.v[best]));
	}
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
		(record_read(o, false, &rec) && strcmp(rec.open, d->open.session) == 0)) {
		conv_release(&d->open);
		return;
	}
	writer_describe(d->open.agent, d->open.owner.pid, &who);
	d->open_alone = d->notice.len == 0;
	str_adds(&d->notice, d->notice.len ? " " : "");
	text_fill(&d->notice, TEXT_OPEN, o->language, TEXT_WORDS(conv_label(&d->open), who.buf));
}

/* A choice less likely than this is close, however little the others are. */
static const double close_chance = 0.5;
/* Less ahead of the next best than this is told also where it stayed, of which nothing is seen. */
static const double close_stay = 0.4;

/* Told when a turn goes elsewhere than the last one here did. */
static void tell_route(const struct decide_opts *o, const struct conv *last, struct decision *d)
{
	const struct conv *to = &d->conv;
	AUTO_STR when = STR_INIT;
	AUTO_RECORD rec = { .text = NULL };
	/* What another terminal has begun since then is seen only there. */
	bool strange = record_read(o, false, &rec) && rec.here &&
		!record_is_before_reset(o, &rec) && strcmp(rec.places.v[rec.at], to->id) != 0;

	/* Where the last one went is no news, unless that is long ago. */
	d->elsewhere = is_member(to) ||
		(to->id[0] ? strange || strcmp(last->id, to->id) != 0 ||
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
			(strcmp(to->dir, o->dir) == 0 && d->by != BY_JUDGE && !to->before_reset) ||
					d->close
				? TEXT_ROUTED_TO
				: d->places.n > 1 ? TEXT_ROUTED_AWAY
						  : TEXT_ROUTED_AWAY_ONLY,
			o->language, TEXT_WORDS(conv_label(to), when.buf));
}

/* Who answers is no secret when it is another one than was chosen; once is enough. A talk says it
 * when it begins, and with any other notice goes the conversation's name. */
static void tell_who_answers(const struct decide_opts *o, struct decision *d)
{
	AUTO_RECORD rec = { .text = NULL };

	if (!d->conv.id[0] || !o->chosen || strcmp(d->conv.agent, o->chosen) == 0)
		return;
	d->answers = record_read(o, false, &rec) && rec.answers &&
		strcmp(rec.places.v[rec.at], d->conv.id) == 0;
	if (d->answers || d->notice.len > 0)
		return;
	text_fill(&d->notice, TEXT_ANSWERS_HERE, o->language,
		TEXT_WORDS(d->conv.agent, conv_label(&d->conv)));
	d->answers = d->told = true;
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
	/* What the router would have had is the other one, where that is not the same. */
	size_t chosen = j->place[0] ? index : ROUTE_NONE;
	size_t routers = r->action == ROUTE_RESUME ? r->index : ROUTE_NONE;
	if (chosen != routers)
		d->next = routers;
	r->action = j->place[0] ? ROUTE_RESUME : ROUTE_NEW;
	r->index = index;
	d->by = BY_JUDGE;
	d->confidence = j->place[0] ? d->candidates[index].score : d->fresh;
	d->close = false;
	(void)snprintf(d->reason, sizeof(d->reason), "%s was asked and chose it", j->agent);
}

/* "back to the parser, …" */
static bool goes_back(struct sv text)
{
	struct sv part = text, to;

	(void)route_goes_back_first(text, &part);
	return route_goes_back(part, &to);
}

/* What would lean on something that was deleted, or follows it without a word of anything else,
 * leans on nothing older in its place. */
static void leave_older(const struct decide_opts *o, const struct conv *last,
	const struct decision *d, struct route_decision *r)
{
	if (r->action != ROUTE_RESUME || d->called || d->candidates[r->index].keyword > 0 ||
		(last->id[0] && !candidate_over(o, last)) ||
		!candidate_over(o, &d->convs.v[r->index]))
		return;
	*r = (struct route_decision){ .action = ROUTE_NEW,
		.index = ROUTE_NONE,
		.blocked = ROUTE_NONE,
		.runner_up = ROUTE_NONE,
		.confidence = 1,
		.ahead = 1,
		.fresh = r->fresh,
		.by_meaning = r->by_meaning,
		.reason = "what went on here was deleted" };
}

/* pinned: 1 and nothing is decided, unless it is by a name, or a conversation was brought back and
 * this goes back to something else: that goes before. */
static int decide_by_router(const struct decide_opts *o, struct sv text, bool pinned,
	struct decision *d, struct err *reterr)
{
	struct route_decision decision = { .blocked = ROUTE_NONE, .ahead = 1, .fresh = -1 };
	AUTO_CONV last = CONV_INIT;
	int r = decide_current(o, &last, reterr);

	if (r == 0)
		r = candidates_ask(o, text, &last, false, d, &decision, reterr);
	if (r == 0)
		r = candidates_here_first(o, text, &last, d, &decision, reterr);
	if (r == 0)
		leave_older(o, &last, d, &decision);
	if (r < 0 || (pinned && !d->called && !(last.id[0] && goes_back(text))))
		return r < 0 ? r : 1;
	d->by = BY_ROUTER;
	d->confidence = decision.confidence;
	d->by_meaning = decision.by_meaning;
	d->next = decision.runner_up;
	d->ahead = decision.ahead;
	d->fresh = decision.fresh;
	decision_reason(d, decision.reason);
	const struct conv *blocked =
		decision.blocked == ROUTE_NONE ? NULL : &d->convs.v[decision.blocked];
	/* A sentence that leans on what runs right now means nothing anywhere else. */
	d->waits = blocked && candidate_runs(blocked);
	if (d->waits) {
		conv_copy(&d->conv, blocked);
		note_places(o, &last, d);
		return 0;
	}
	d->close = !d->called && o->close > 0 && decision.ahead < 1 &&
		(decision.ahead < o->close || decision.confidence < close_chance);
	if (blocked)
		conv_copy(&d->heir_of, blocked);
	else
		apply_judgement(o->judged, d, &decision);
	if (decision.action == ROUTE_RESUME)
		conv_copy(&d->conv, &d->convs.v[decision.index]);
	/* What texts mean may lead there without a word in common. */
	if (!d->called && (!d->by_meaning || strcmp(d->conv.id, last.id) == 0))
		r = nowhere_to_go_back(o, text, d, reterr);
	if (r == 1)
		note_places(o, &last, d);
	if (r != 0)
		return r < 0 ? r : 0;
	if (!d->called)
		r = redirect_recall(o, text, d, reterr);
	if (r < 0)
		return r;
	tell_route(o, &last, d);
	if (d->close && d->elsewhere && d->conv.id[0]) {
		str_addc(&d->notice, ' ');
		str_adds(&d->notice, text_get(TEXT_ROUTED_CLOSE, o->language));
	}
	/* Who hears that somebody was asked wants to know what came of it. */
	bool asked = o->judged && o->judged->end != JUDGE_UNASKED;
	d->offered = !d->elsewhere && d->conv.id[0] && !d->called &&
		(asked || decision.ahead < close_stay);
	d->told = d->offered;
	if (d->offered)
		text_fill(&d->notice, d->next == ROUTE_NONE ? TEXT_STAYED_NEW : TEXT_STAYED_OTHER,
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

/* Another agent's conversation does not go on, unless the talk was led there (stays), nor does one
 * that is too old: that is said, and *c is the last one here of the agent that is wanted, or empty.
 */
static int leave_out(const struct decide_opts *o, bool stays, struct conv *c, struct str *notice,
	const char **ret_reason, struct err *reterr)
{
	enum { RECENT = 20 };
	AUTO_CONV left = CONV_INIT;
	AUTO_STR ago = STR_INIT;
	struct own own = { o, c };
	bool others = c->id[0] && !stays && !decide_goes_on(o, c);
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
	int r = decide_current(o, &last, reterr);
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
		decision_reason(d, "it went on in this folder last, in the agent itself");
	} else {
		const char *reason = !c->id[0] ? "nothing goes on in this folder"
			: d->by == BY_PIN      ? "named for what comes next"
					       : "it goes on in this folder";
		r = leave_out(o, stays, c, &d->notice, &reason, reterr);
		decision_reason(d, reason);
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
	int r = decide_find_here(o, ret, reterr);

	return r == 0 ? leave_out(o, false, ret, notice, &ignored, reterr) : r;
}

int decide_undo(const struct decide_opts *o, struct conv *ret, struct err *reterr)
{
	AUTO_CONV before = CONV_INIT;
	int r = store_begin(o->store, reterr);
	int kept;

	if (r < 0)
		return r;
	r = decide_find_here(o, &before, reterr);
	while (r == 0 && !ret->id[0] && !is_member(ret)) {
		r = conv_reset_undo(o->store, o->dir, o->clock, reterr);
		if (r == 0)
			r = decide_find_here(o, ret, reterr);
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
	if (kept < 0 || r < 0)
		return kept < 0 ? kept : r;
	return before.id[0] && strcmp(before.id, ret->id) == 0;
}

int decide_refresh(const struct decide_opts *o, struct sv text, struct err *reterr)
{
	int64_t now_ms = clock_wall_ms(o->clock);
	struct sv to;
	int r = 0;

	if (o->n_homes == 0 || !(o->newest || o->routes))
		return 0;
	if (route_goes_back(text, &to) || route_goes_back_first(text, &to))
		return catalogue_refresh(o->store, o->homes, o->n_homes, NULL, NULL, reterr);
	r = catalogue_refresh_near(o->store, o->homes, o->n_homes, o->dir, now_ms, NULL, reterr);
	if (r == 0 && strcmp(o->project, o->dir) != 0)
		r = catalogue_refresh_near(
			o->store, o->homes, o->n_homes, o->project, now_ms, NULL, reterr);
	return r;
}

/* The language of a sentence, "en", "de" …; NULL when its words do not show it, and always with
 * profile seed. */
static const char *language_said(const struct router *router, struct sv text)
{
	struct text t = TEXT_INIT;
	unsigned alone[LANG_COUNT] = { 0 }, best = 0, top = 0;

	if (router_opts(router)->profile != ROUTE_FADEN)
		return NULL;
	phrase_read(&t, utf8_cut(text, ROUTE_TEXT_MAX));
	for (size_t i = 0; i < t.tokens.n; i++) {
		const struct known_word *w = known_find(text_token_sv(&t, &t.tokens.v[i]));
		for (unsigned l = 0; w && l < LANG_COUNT; l++)
			alone[l] += (w->flags & KNOWN_STOP) == 1U << l;
	}
	for (unsigned l = 0; l < LANG_COUNT; l++) {
		unsigned score = ((unsigned)t.langs[l] << 16) + alone[l];
		best = score > top ? l : score == top ? LANG_COUNT : best;
		top = score > top ? score : top;
	}
	text_release(&t);
	return best < LANG_COUNT && alone[best] > 0 ? lang_name((enum lang_id)best) : NULL;
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
		spoken = language_said(o->router, text);
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
	d->heard = o->no_commands ? UTTERANCE_AGENT : heard.kind;
	spoken.language = d->language = language_of(opts, req->text, &heard);
	if (d->heard != UTTERANCE_AGENT) {
		d->what = DECIDED_COMMAND;
		return 0;
	}
	if (sv_trim(req->text).n == 0)
		return err_set(reterr, ERR_USAGE, "nothing to route: the text is empty");
	d->what = DECIDED_TURN;
	if (o->greets && o->router && !o->routes && !req->again &&
		nowhere_to_be_led(o, req->text, d))
		return 0;
	if (req->mode == REQUEST_GO_ON && o->routes) {
		r = redirect_decide(o, req->text, d, reterr);
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
				r = decide_current(o, &last, reterr);
			note_places(o, &last, d);
		}
	}
	if (r >= 0 && req->mode == REQUEST_GO_ON && d->what == DECIDED_TURN && !d->waits &&
		d->by != BY_CORRECTION && route_only_goes_on(req->text))
		r = nowhere_to_go_on(o, d, reterr);
	d->doubtful &= d->what == DECIDED_TURN && d->conv.id[0] && !d->elsewhere && !d->waits;
	if (d->doubtful && r >= 0 && d->notice.len == 0)
		text_fill(&d->notice, TEXT_NOT_CORRECTED, o->language,
			TEXT_WORDS(conv_label(&d->conv)));
	/* Where the work is done is told with every sentence that is said outside of a talk. */
	if (r >= 0 && req->mode == REQUEST_GO_ON && d->conv.id[0] &&
		(d->notice.len == 0 || d->open_alone) && d->what == DECIDED_TURN &&
		!(o->talk && o->talk->place) && path_exists(d->conv.dir) &&
		strcmp(d->conv.dir, o->dir) != 0) {
		str_adds(&d->notice, d->notice.len ? " " : "");
		text_fill(&d->notice, TEXT_ELSEWHERE, o->language,
			TEXT_WORDS(conv_label(&d->conv), d->conv.dir));
		d->told = true;
	}
	if (r >= 0 && req->mode == REQUEST_GO_ON && d->what == DECIDED_TURN && !d->conv.id[0] &&
		!is_member(&d->conv) && d->notice.len == 0) {
		AUTO_CONV before = CONV_INIT;
		if (decide_deleted(o, &before, NULL) == 0)
			text_fill(&d->notice, TEXT_DELETED, o->language,
				TEXT_WORDS(conv_label(&before), before.session));
	}
	/* More than the settings allow was allowed here, not wherever a sentence may lead, or one
	 * led before this talk. */
	bool named = o->talk && o->talk->place && o->talk->named && d->by == BY_FOLDER;
	d->own_rights = r >= 0 && o->rights && req->mode == REQUEST_GO_ON &&
		d->what == DECIDED_TURN && d->conv.dir && strcmp(d->conv.dir, o->dir) != 0 &&
		path_exists(d->conv.dir) && !named;
	if (d->own_rights && !(o->talk && o->talk->rights_told)) {
		str_adds(&d->notice, d->notice.len ? " " : "");
		text_fill(&d->notice, TEXT_RIGHTS_STAY, o->language, TEXT_WORDS(o->rights));
	}
	if (r >= 0 && req->mode == REQUEST_GO_ON && !o->greets)
		tell_who_answers(o, d);
	if (r >= 0)
		tell_namesakes(o, d);
	if (o->tasks && route_task_of(str_sv(&d->prompt), o->task_words) == ROUTE_TASK_PLAN)
		d->task = CONV_PLAN;
	if (d->places.n > 1)
		(void)snprintf(d->other, sizeof(d->other), "%s",
			place_id(d->places.v[(d->at + 1) % d->places.n]));
	return r < 0 ? r : 0;
}
