#include "assist/redirect.h"

#include <stdlib.h>
#include <string.h>

#include "assist/candidates.h"
#include "assist/correct.h"
#include "assist/learn.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "store/topic.h"

/* Two texts are one request when at least half of their words are the same. */
static const double same_request = 0.5;
/* So much of what is said again is quoted, that nobody takes it for another sentence. */
enum { QUOTE_COLUMNS = 40 };

int decision_note(const struct decide_opts *opts, struct decision *d, const char *conversation,
	unsigned flags, struct err *reterr)
{
	AUTO_RECORD before = { .text = NULL };
	AUTO_RECORD rec = { .places = STRV_INIT,
		.at = d->at,
		.said = d->said | (flags & NOTE_SAID ? 1U << d->at : 0),
		.when_ms = d->noted ? d->noted_ms : clock_wall_ms(opts->clock),
		.told = d->elsewhere || d->told || (flags & NOTE_REFUSED),
		.corrected = d->by == BY_CORRECTION,
		.acted = flags & NOTE_ACTED,
		.done = flags & NOTE_DONE,
		.answers = d->answers,
		/* What was just offered is not said to the agent, whatever that asks. */
		.asked = flags & NOTE_ASKED && !d->offered };
	bool known = record_read(opts, false, &before);

	if (d->doubtful && known)
		return 0;

	d->noted_ms = rec.when_ms;
	for (size_t i = 0; i < d->places.n; i++)
		strv_add(&rec.places, i == d->at ? conversation : d->places.v[i]);
	rec.text = xstrdup(d->prompt.len > 0 ? d->prompt.buf : known ? before.text : "");
	rec.open = xstrdup(d->open.session ? d->open.session : known ? before.open : "");
	return rec.text[0] && rec.places.n > 0 ? record_write(opts, &rec, &d->noted, reterr) : 0;
}

void decision_add_place(struct decision *d, char *place)
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
void decision_add_round(struct decision *d, const struct record *rec)
{
	for (size_t i = 0; i < rec->places.n; i++)
		decision_add_place(d, xstrdup(rec->places.v[(rec->at + i) % rec->places.n]));
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

/* They share at least so many words, and so much of all of them. */
static bool same_subject(
	struct router *router, struct sv a, struct sv b, size_t least, double share)
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
	return shared >= least && (double)shared >= share * (double)stems.n;
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
		!same_subject(m->opts->router, m->text, sv_of(c->text),
			again ? 1 : CORRECTIONS_WORDS, same_request))
		return 0;
	conv_release(&d->conv);
	d->conv = (struct conv)CONV_INIT;
	if (right)
		conv_copy(&d->conv, right);
	decision_reason(d, "such a sentence was corrected before");
	d->close = false;
	return 1;
}

int redirect_recall(
	const struct decide_opts *o, struct sv text, struct decision *d, struct err *reterr)
{
	enum { CORRECTIONS_MAX = 30 };
	struct remembering m = { o, text, d };
	int r = correction_each(o->store, CORRECTIONS_MAX, recall_correction, &m, reterr);

	return r < 0 ? r : 0;
}

/* Who knows most of the words that were said; of two that know as much the one that is called so,
 * then one where the sentence was not just said, then the likelier. ROUTE_NONE: nobody. */
static size_t best_named(const struct decide_opts *o, struct sv about, const struct record *rec,
	const struct decision *seen)
{
	double best = 0;
	size_t found = ROUTE_NONE;

	for (size_t i = 0; i < seen->convs.n; i++) {
		const struct route_candidate *c = &seen->candidates[i];
		const struct conv *conv = &seen->convs.v[i];
		AUTO_FREE char *place = place_of(conv);
		bool other = strcmp(place, rec->places.v[rec->at]) != 0;
		/* The score is below one. */
		double worth = c->keyword * 1000 +
			4 * same_subject(o->router, about, sv_of(conv_label(conv)), 1, 0) +
			2 * other + c->score;
		if (c->keyword < CANDIDATE_NAMED || !decide_goes_on(o, conv) || worth <= best)
			continue;
		best = worth;
		found = i;
	}
	return found;
}

/* The conversation that the words name, also behind a reset: "back to" reaches there whatever the
 * correction's own words were. A name that was given goes before words in common. ERR_NOTFOUND when
 * there is none. */
static int find_named(const struct decide_opts *o, struct sv about, const struct record *rec,
	struct decision *d, struct err *reterr)
{
	AUTO_FREE char *back = xasprintf("back to %.*s", SV_ARG(about));
	const struct sv tries[] = { sv_of(back), about };
	struct conv *ret = &d->conv;
	AUTO_CONV current = CONV_INIT;
	int r = decide_current(o, &current, reterr);

	for (size_t i = 0; r == 0 && !ret->id[0] && !is_member(ret) && i < ARRAY_LEN(tries); i++) {
		struct route_decision chosen;
		struct decision seen;
		decision_init(&seen);
		r = candidates_ask(o, tries[i], &current, true, &seen, &chosen, reterr);
		if (r == 0 && seen.called && chosen.action == ROUTE_RESUME) {
			conv_copy(ret, &seen.convs.v[chosen.index]);
			d->namesakes = seen.namesakes;
			memcpy(d->namesake, seen.namesake, sizeof(d->namesake));
			decision_release(&seen);
			break;
		}
		size_t named = r == 0 ? best_named(o, about, rec, &seen) : ROUTE_NONE;
		if (named != ROUTE_NONE)
			conv_copy(ret, &seen.convs.v[named]);
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
			decision_add_place(d, xstrdup(rec->places.v[k]));
		d->at = at;
		return r;
	}
	int r = conv_in_project(
		o->store, o->project, RECENT, o->clock, take_another, &another, reterr);
	if (r == 0 && !d->conv.id[0])
		return err_set(reterr, ERR_NOTFOUND, "%s", text_get(TEXT_NO_OTHER, o->language));
	decision_add_place(d, xstrdup(rec->places.v[rec->at]));
	decision_add_place(d, xstrdup(d->conv.id));
	d->at = 1;
	return r;
}

/* The conversation that was begun with what was said, if there is one. */
static int find_begun(
	const struct decide_opts *o, const struct record *rec, struct conv *ret, struct err *reterr)
{
	for (size_t i = 0; i < rec->places.n; i++) {
		AUTO_TURN_RECORD said = TURN_RECORD_INIT;
		AUTO_CONV c = CONV_INIT;
		if (!(rec->said >> i & 1U))
			continue;
		int r = place_find(o->store, rec->places.v[i], o->clock, &c, reterr);
		if (r == 0 && !c.deleted && c.turns <= 1 && decide_goes_on(o, &c))
			r = journal_said(o->store, c.id, sv_of(rec->text), &said, reterr);
		if (r == 0 && said.conversation[0] && said.before_size == 0) {
			conv_copy(ret, &c);
			return 0;
		}
		if (r < 0 && r != ERR_NOTFOUND)
			return r;
	}
	return 0;
}

/* The conversation that is meant; empty: a new one. What was wrong where it was said, and has a new
 * one already, needs no second one. */
static int find_target(const struct decide_opts *o, enum route_correction kind, struct sv about,
	bool wrong, const struct record *rec, struct decision *d, struct err *reterr)
{
	int r = 0;

	if (kind == CORRECT_OTHER)
		return find_other(o, rec, d, reterr);
	if (kind == CORRECT_ABOUT)
		r = find_named(o, about, rec, d, reterr);
	else if (wrong)
		r = find_begun(o, rec, &d->conv, reterr);
	if (r == 0) {
		decision_add_place(d, place_of(&d->conv));
		decision_add_round(d, rec);
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
	d->offered = true;
	d->said = said_in(d, rec);
	bool back = d->said >> d->at & 1U;
	if (wrong && strcmp(rec->places.v[rec->at], d->places.v[d->at]) != 0) {
		str_adds(&d->misplaced, rec->text);
		(void)snprintf(d->wrong, sizeof(d->wrong), "%s", rec->places.v[rec->at]);
	}
	/* "Continue" means nothing to one that begins. */
	bool empty = fresh && route_only_goes_on(sv_of(rec->text));
	if (wrong && !rec->acted && !back && !empty) {
		AUTO_TURN_RECORD said = TURN_RECORD_INIT;
		int r = journal_said(
			o->store, rec->places.v[rec->at], sv_of(rec->text), &said, reterr);
		if (r < 0 && r != ERR_NOTFOUND)
			return r;
		d->what = DECIDED_TURN;
		/* A turn that failed before it began is in no journal. */
		str_add(&d->prompt, r == 0 ? str_sv(&said.prompt) : sv_of(rec->text));
		AUTO_STR quoted = STR_INIT;
		utf8_fit(&quoted, str_sv(&d->prompt), QUOTE_COLUMNS);
		text_fill(&d->notice, fresh ? TEXT_SAME_NEW : TEXT_SAME_THERE, o->language,
			TEXT_WORDS(quoted.buf, label.buf));
		decision_reason(d, "a correction: what was said before is said there");
	} else {
		bool done = wrong && !back && rec->done;
		d->what = DECIDED_SWITCH;
		text_fill(&d->reply, texts[done][fresh], o->language, name);
		decision_reason(d, "a correction: what comes next goes there");
	}
	return 0;
}

/* Whether something was given this very name. */
static int is_given(const struct decide_opts *o, struct sv name, struct err *reterr)
{
	AUTO_FREE char *back = xasprintf("back to %.*s", SV_ARG(name));
	struct route_decision chosen;
	AUTO_CONV current = CONV_INIT;
	struct decision seen;
	int r = decide_current(o, &current, reterr);

	decision_init(&seen);
	if (r == 0)
		r = candidates_ask(o, sv_of(back), &current, true, &seen, &chosen, reterr);
	if (r == 0)
		r = seen.called && chosen.action == ROUTE_RESUME;
	decision_release(&seen);
	return r;
}

static int reply_to_correction(struct decision *d, const char *reply)
{
	d->what = DECIDED_REPLY;
	d->by = BY_CORRECTION;
	str_adds(&d->reply, reply);
	decision_reason(d, "a correction that names no conversation");
	return 1;
}

/* Whether the router would go there by itself with all that was said. */
static int router_goes_to(
	const struct decide_opts *o, struct sv text, const char *place, struct err *reterr)
{
	struct route_decision chosen;
	AUTO_CONV current = CONV_INIT;
	struct decision seen;
	int r = decide_current(o, &current, reterr);

	decision_init(&seen);
	if (r == 0)
		r = candidates_ask(o, text, &current, false, &seen, &chosen, reterr);
	if (r == 0 && chosen.action == ROUTE_RESUME) {
		AUTO_FREE char *there = place_of(&seen.convs.v[chosen.index]);
		r = strcmp(there, place) == 0;
	}
	decision_release(&seen);
	return r;
}

/* Where nothing was told, a name alone may be a correction only if it is another one's. It is one
 * (1) where it leads there anyway, and is either said to have been meant or a single word: two may
 * be a thing of that name, "no, the logo file". */
static int doubt(const struct decide_opts *o, struct sv text, enum route_correction kind,
	const struct route_correct_words *words, const struct record *rec, struct decision *d,
	struct err *reterr)
{
	struct decision seen;

	if (kind != CORRECT_ABOUT)
		return 0;
	decision_init(&seen);
	int r = find_named(o, words->about, rec, &seen, reterr);
	AUTO_FREE char *place = place_of(&seen.conv);
	bool others = r == 0 && strcmp(place, rec->places.v[rec->at]) != 0;
	d->doubtful &= others;
	decision_release(&seen);
	if (others && (words->meant || (words->word && !rec->asked)))
		r = router_goes_to(o, text, place, reterr);
	return r == ERR_NOTFOUND ? 0 : r;
}

int redirect_decide(
	const struct decide_opts *o, struct sv text, struct decision *d, struct err *reterr)
{
	AUTO_RECORD rec = { .text = NULL };
	struct route_correct_words words;
	struct err err = ERR_INIT;
	enum route_correction kind = route_correct(text, &words);

	if (kind == CORRECT_NONE)
		return 0;
	/* What was said before a reset is not said again behind it. */
	if (!record_read(o, true, &rec) || record_is_before_reset(o, &rec)) {
		/* Where nothing was begun there is no other one, and nobody to answer. */
		AUTO_CONV here = CONV_INIT;
		bool denied = kind == CORRECT_OTHER && (words.denies || words.sure);
		int found = denied ? decide_find_here(o, &here, reterr) : 1;
		if (found == 0 && !here.id[0] && !is_member(&here))
			return reply_to_correction(d, text_get(TEXT_NO_OTHER, o->language));
		return found < 0 ? found : 0;
	}
	/* "No, the other one" may as well answer a question of the agent, and "the other one" is
	 * no correction where nothing was told. */
	if (kind == CORRECT_OTHER && !words.sure && !rec.told && (!words.denies || rec.asked))
		return 0;
	/* So may "it's about the parser". */
	if (kind == CORRECT_ABOUT && words.bare && !words.denies && rec.asked)
		return 0;
	/* A name alone is one right after something was told, or corrected; one that was given is
	 * one whenever nobody asked for it. */
	d->doubtful = words.bare && !words.name && !rec.asked && !rec.others;
	if (words.bare && !words.name && !rec.told && !rec.corrected) {
		int sure = rec.others ? 0 : doubt(o, text, kind, &words, &rec, d, reterr);
		if (sure <= 0)
			return sure;
	}
	int given = !words.name ? 1 : rec.asked ? 0 : is_given(o, words.about, reterr);
	if (given <= 0)
		return given;
	/* "Go back to the one about X" need not mean that the last turn went astray, and "new
	 * conversation" alone does not. Nobody corrects here what was told elsewhere. */
	bool wrong = !rec.others &&
		(kind == CORRECT_OTHER || words.denies ||
			(kind == CORRECT_ABOUT && (rec.told || words.bare)));
	int r = find_target(o, kind, words.about, wrong, &rec, d, &err);
	/* What is spoken of where it was said is no other one, unless a correction led there. */
	bool stays = r == 0 && words.bare && kind == CORRECT_ABOUT && !rec.corrected &&
		strcmp(d->places.v[d->at], rec.places.v[rec.at]) == 0;
	if (r == 0 && words.bare && (stays || d->places.n == 1)) {
		d->doubtful = false;
		conv_release(&d->conv);
		d->conv = (struct conv)CONV_INIT;
		strv_release(&d->places);
		d->places = (struct strv)STRV_INIT;
		return 0;
	}
	if (r == 0) {
		d->doubtful = false;
		r = correct(o, &rec, wrong, d, reterr);
		return r < 0 ? r : 1;
	}
	/* That one is another than the only one is no order for an agent that asked nothing. */
	if (r == ERR_NOTFOUND && !words.bare && (words.sure || rec.told || kind == CORRECT_OTHER))
		return reply_to_correction(d, err.msg);
	if (r < 0 && r != ERR_NOTFOUND && reterr)
		*reterr = err;
	return r == ERR_NOTFOUND ? 0 : r;
}
