#include "assist/decide.h"

#include <stdlib.h>
#include <string.h>

#include "assist/learn.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "route/correct.h"
#include "store/topic.h"

enum { NAMED_MAX = 30 }; /* conversations found by a shared word alone */

/* Two texts are one request when at least half of their words are the same. */
static const double same_request = 0.5;
/* Less than this is a word in common, no name. */
static const double names_it = 0.5;

void decision_init(struct decision *d)
{
	*d = (struct decision){
		.what = DECIDED_REPLY,
		.heard = UTTERANCE_AGENT,
		.prompt = STR_INIT,
		.notice = STR_INIT,
		.reply = STR_INIT,
		.misplaced = STR_INIT,
		.confidence = 1,
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
	str_release(&d->prompt);
	str_release(&d->notice);
	str_release(&d->reply);
	str_release(&d->misplaced);
}

const char *decision_by_name(enum decision_by by)
{
	static const char *const names[] = {
		[BY_COMMAND] = "command",
		[BY_CORRECTION] = "correction",
		[BY_REQUEST] = "request",
		[BY_PIN] = "pin",
		[BY_ROUTER] = "router",
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

/* ---- what the router looks at ---- */

/* Besides struct conv; same index as decision.convs. */
struct material {
	struct route_topic *topic;
	struct strv prompts;
	struct sv *slices;
};

struct gathering {
	const struct decide_opts *opts;
	struct decision *d;
	VEC(struct material) materials;
	struct map seen;
	struct err *reterr;
};

static int gather(void *data, const struct conv *c)
{
	struct gathering *g = data;
	const struct decide_opts *o = g->opts;
	struct material m = { .prompts = STRV_INIT };
	struct conv copy = CONV_INIT;

	if (!decide_goes_on(o, c) || !map_put(&g->seen, sv_of(c->id), 1))
		return 0;
	int r = learn_topic(o->store, o->router, c->seq, &m.topic, g->reterr);
	if (r == 0 && !m.topic) {
		r = learn_prompts(o->store, c->id, &m.prompts, g->reterr);
		m.slices = xcalloc(m.prompts.n + 1, sizeof(*m.slices));
		for (size_t i = 0; i < m.prompts.n; i++)
			m.slices[i] = sv_of(m.prompts.v[i]);
	}
	conv_copy(&copy, c);
	vec_push(&g->d->convs, copy);
	vec_push(&g->materials, m);
	return r;
}

/* Conversations of any folder and age that share a word with the text: it may name them. */
static int gather_named(struct gathering *g, struct sv text)
{
	const struct decide_opts *o = g->opts;
	AUTO_STRV stems = STRV_INIT;
	struct topic_hits hits = { .seqs = VEC_INIT };
	size_t n = 0;

	learn_stems(o->router, text, &stems);
	int r = topic_search(o->store, &stems, &hits, g->reterr);
	for (size_t i = 0; i < hits.seqs.n && n < NAMED_MAX; i++) {
		bool known = false;
		vec_each (&g->d->convs, c)
			known |= c->seq == hits.seqs.v[i];
		if (!known)
			hits.seqs.v[n++] = hits.seqs.v[i];
	}
	if (r == 0)
		r = conv_by_seqs(o->store, hits.seqs.v, n, o->clock, gather, g, g->reterr);
	vec_release(&hits.seqs);
	return r;
}

/* A turn of it runs in a process that lives: one whose process is gone is over, whatever it left in
 * the store. */
static bool runs(const struct conv *c)
{
	return c->status == CONV_ACTIVE && proc_id_check(&c->owner) != PROC_GONE;
}

/* Fills convs and candidates; current may be empty. */
static int ask_router(const struct decide_opts *o, struct sv text, const struct conv *current,
	struct decision *d, struct route_decision *ret, struct err *reterr)
{
	struct gathering g = { .opts = o, .d = d, .seen = MAP_INIT, .reterr = reterr };
	int64_t now_ms = clock_age_ms(o->clock);
	const struct route_query query = {
		.text = text, .now_ms = now_ms, .cwd = sv_of(o->dir), .project = sv_of(o->project)
	};
	VEC(struct route_conv) view = VEC_INIT;

	/* What leans on something leans on what ran in this project, or goes on in this folder,
	 * also when that was fetched from another project by its name. */
	int r = current->id[0] ? gather(&g, current) : 0;
	if (r == 0)
		r = conv_in_project(o->store, o->project, (int64_t)router_opts(o->router)->max,
			o->clock, gather, &g, reterr);
	if (r == 0 && router_opts(o->router)->profile != ROUTE_SEED)
		r = gather_named(&g, text);
	for (size_t i = 0; r == 0 && i < d->convs.n; i++) {
		const struct conv *c = &d->convs.v[i];
		const struct material *m = &g.materials.v[i];
		vec_push(&view,
			(struct route_conv){
				.id = sv_of(c->id),
				.status = runs(c)		    ? ROUTE_ACTIVE
					: c->status == CONV_ERRORED ? ROUTE_ERRORED
								    : ROUTE_IDLE,
				.created_ms = now_ms - c->age_ms - (c->active_ms - c->created_ms),
				.last_ms = now_ms - c->age_ms,
				.dir = sv_of(c->dir),
				.last_dir =
					strcmp(c->id, current->id) == 0 ? sv_of(o->dir) : SV(""),
				.project = sv_of(c->project),
				.turns = (unsigned)c->turns,
				.before_reset = c->before_reset,
				.commands = m->slices,
				.n_commands = m->prompts.n,
				.topic = m->topic,
			});
	}
	if (r == 0) {
		d->candidates = xcalloc(view.n + 1, sizeof(*d->candidates));
		router_decide(o->router, &query, view.v, view.n, d->candidates, ret);
	}
	vec_each (&g.materials, m) {
		route_topic_free(m->topic);
		strv_release(&m->prompts);
		free(m->slices);
	}
	vec_release(&g.materials);
	vec_release(&view);
	map_release(&g.seen);
	return r;
}

static int find_current(const struct decide_opts *o, struct conv *ret, struct err *reterr)
{
	int r = conv_current(o->store, o->dir, o->clock, ret, reterr);

	return r == ERR_NOTFOUND ? 0 : r;
}

/* ---- corrections ---- */

/* What was done last in this folder. */
struct record {
	char *value; /* what the slices point into */
	struct sv chosen, other, text;
	bool told, acted;
};

static char *record_key(const struct decide_opts *o)
{
	return xasprintf("route:%s", o->dir);
}

int decision_note(const struct decide_opts *opts, const struct decision *d,
	const char *conversation, bool acted, struct err *reterr)
{
	struct sv said = utf8_cut(str_sv(&d->prompt), ROUTE_TEXT_MAX);
	/* A turn that was not routed, because the user had said where, can be corrected as well. */
	bool routed = d->by == BY_ROUTER;
	AUTO_FREE char *key = record_key(opts);
	AUTO_FREE char *value = xasprintf("%s\n%s\n%d\n%d\n%.*s", conversation,
		routed ? d->other : "", routed && d->elsewhere, acted, SV_ARG(said));

	return store_pref_set(opts->store, key, value, reterr);
}

static bool read_record(const struct decide_opts *o, struct record *rec)
{
	AUTO_FREE char *key = record_key(o);
	struct sv told, acted;

	if (store_pref_get(o->store, key, &rec->value, NULL) < 0)
		return false;
	rec->text = sv_of(rec->value);
	if (!sv_split(&rec->text, '\n', &rec->chosen) || !sv_split(&rec->text, '\n', &rec->other) ||
		!sv_split(&rec->text, '\n', &told) || !sv_split(&rec->text, '\n', &acted))
		return false;
	rec->told = sv_is(told, "1");
	rec->acted = sv_is(acted, "1");
	return rec->text.n > 0;
}

static bool same_subject(struct router *router, struct sv a, struct sv b)
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
	return stems.n > 0 && (double)shared >= same_request * (double)stems.n;
}

/* Was such a text sent into d->conv before and corrected? Then d->conv is the right one now. */
static int apply_memory(
	const struct decide_opts *o, struct sv text, struct decision *d, struct err *reterr)
{
	struct correction c = { .text = NULL };
	struct conv right = CONV_INIT;
	int r = correction_find(o->store, d->conv.id, &c, reterr);

	if (r > 0 && same_subject(o->router, text, sv_of(c.text))) {
		r = c.right ? conv_get(o->store, c.right, o->clock, &right, reterr) : 0;
		if (r == 0) {
			conv_release(&d->conv);
			d->conv = right;
			set_reason(d, "such a sentence was corrected before");
		}
	}
	correction_release(&c);
	/* One that is gone since is no place to go. */
	return r < 0 && r != ERR_NOTFOUND ? r : 0;
}

/* The conversation that the words name, also behind a reset: "back to" reaches there whatever the
 * correction's own words were. ERR_NOTFOUND when none does. */
static int find_named(
	const struct decide_opts *o, struct sv about, struct conv *ret, struct err *reterr)
{
	AUTO_FREE char *back = xasprintf("back to %.*s", SV_ARG(about));
	const struct sv tries[] = { sv_of(back), about };
	AUTO_CONV current = CONV_INIT;
	int r = find_current(o, &current, reterr);

	for (size_t i = 0; r == 0 && !ret->id[0] && i < ARRAY_LEN(tries); i++) {
		struct route_decision ignored;
		struct decision seen;
		double best = 0;
		decision_init(&seen);
		r = ask_router(o, tries[i], &current, &seen, &ignored, reterr);
		for (size_t k = 0; r == 0 && k < seen.convs.n; k++) {
			if (seen.candidates[k].keyword < names_it ||
				seen.candidates[k].keyword <= best)
				continue;
			best = seen.candidates[k].keyword;
			conv_release(ret);
			conv_copy(ret, &seen.convs.v[k]);
		}
		decision_release(&seen);
	}
	if (r == 0 && !ret->id[0]) {
		AUTO_STR line = STR_INIT;
		AUTO_FREE char *words = xmemdup0(about.p, about.n);
		text_fill(&line, TEXT_NONE_ABOUT, o->language, TEXT_WORDS(words));
		r = err_set(reterr, ERR_NOTFOUND, "%s", line.buf);
	}
	return r;
}

/* The conversation that is meant; empty: a new one. */
static int find_target(const struct decide_opts *o, enum route_correction kind, struct sv about,
	const struct record *rec, struct conv *ret, struct err *reterr)
{
	AUTO_FREE char *other = xmemdup0(rec->other.p, rec->other.n);

	switch (kind) {
	case CORRECT_OTHER:
		return *other
			? conv_get(o->store, other, o->clock, ret, reterr)
			: err_set(reterr, ERR_NOTFOUND, "%s", text_get(TEXT_NO_OTHER, o->language));
	case CORRECT_ABOUT:
		return find_named(o, about, ret, reterr);
	case CORRECT_NEW:
	case CORRECT_NONE:
		break;
	}
	return 0;
}

/* What was said goes to the right conversation, unless something was done with it already, or it
 * was not wrong: then only what comes next goes there. */
static void correct(
	const struct decide_opts *o, const struct record *rec, bool wrong, struct decision *d)
{
	static const enum text_id texts[2][2] = {
		{ TEXT_NEXT_THERE, TEXT_NEXT_NEW },
		{ TEXT_DONE_NEXT_THERE, TEXT_DONE_NEXT_NEW },
	};
	bool fresh = !d->conv.id[0];
	const struct text_words name = TEXT_WORDS(conv_label(&d->conv));

	d->by = BY_CORRECTION;
	if (wrong) {
		str_add(&d->misplaced, rec->text);
		(void)snprintf(d->wrong, sizeof(d->wrong), "%.*s", SV_ARG(rec->chosen));
	}
	if (wrong && !rec->acted) {
		d->what = DECIDED_TURN;
		str_add(&d->prompt, rec->text);
		text_fill(&d->notice, fresh ? TEXT_SAME_NEW : TEXT_SAME_THERE, o->language, name);
		set_reason(d, "a correction: what was said before is said there");
	} else {
		d->what = DECIDED_SWITCH;
		text_fill(&d->reply, texts[wrong][fresh], o->language, name);
		set_reason(d, "a correction: what comes next goes there");
	}
}

/* 1 when the sentence is a correction, 0 when it is for the agent. */
static int decide_correction(
	const struct decide_opts *o, struct sv text, struct decision *d, struct err *reterr)
{
	struct record rec = { .value = NULL };
	struct route_correct_words words;
	struct err err = ERR_INIT;
	enum route_correction kind = route_correct(text, &words);
	int r = 0;

	if (kind == CORRECT_NONE)
		return 0;
	/* "The other one" may as well answer a question of the agent. */
	if (read_record(o, &rec) && (kind != CORRECT_OTHER || words.sure || rec.told)) {
		/* "Go back to the one about X" need not mean that the last turn went astray, and
		 * "new conversation" alone does not. */
		bool wrong = kind == CORRECT_OTHER || words.denies ||
			(kind == CORRECT_ABOUT && rec.told);
		r = find_target(o, kind, words.about, &rec, &d->conv, &err);
		if (r == 0) {
			correct(o, &rec, wrong, d);
			r = 1;
		} else if (r == ERR_NOTFOUND && words.sure) {
			d->what = DECIDED_REPLY;
			d->by = BY_CORRECTION;
			str_adds(&d->reply, err.msg);
			set_reason(d, "a correction that names no conversation");
			r = 1;
		} else if (r == ERR_NOTFOUND) {
			r = 0;
		}
	}
	free(rec.value);
	if (r < 0 && reterr)
		*reterr = err;
	return r;
}

/* ---- which conversation ---- */

/* Told when a turn goes elsewhere than the last one here did. */
static void tell_route(const struct decide_opts *o, const struct conv *last, struct decision *d)
{
	const struct conv *to = &d->conv;
	AUTO_STR when = STR_INIT;

	/* Where the last one went is no news, unless that is long ago. */
	if (to->id[0] ? strcmp(last->id, to->id) == 0 &&
				to->age_ms <= router_opts(o->router)->expiry_ms
		      : last->turns == 0)
		return;
	d->elsewhere = true;
	if (!to->id[0]) {
		str_adds(&d->notice, text_get(TEXT_ROUTED_NEW, o->language));
		return;
	}
	text_ago(&when, o->language, to->age_ms);
	if (strcmp(to->dir, o->dir) != 0)
		str_addf(&when, ", in %s", to->dir);
	text_fill(&d->notice, TEXT_ROUTED_TO, o->language, TEXT_WORDS(conv_label(to), when.buf));
}

/* For "no, the other one": the best of the others, else the one that was left. */
static void note_other(const struct conv *last, struct decision *d)
{
	const char *other = strcmp(last->id, d->conv.id) != 0 ? last->id : "";
	size_t best = ROUTE_NONE;

	for (size_t i = 0; i < d->convs.n; i++)
		if (d->candidates[i].routable && strcmp(d->convs.v[i].id, d->conv.id) != 0 &&
			(best == ROUTE_NONE || d->candidates[i].score > d->candidates[best].score))
			best = i;
	(void)snprintf(
		d->other, sizeof(d->other), "%s", best != ROUTE_NONE ? d->convs.v[best].id : other);
}

static int decide_by_router(
	const struct decide_opts *o, struct sv text, struct decision *d, struct err *reterr)
{
	struct route_decision decision = { .blocked = ROUTE_NONE };
	AUTO_CONV last = CONV_INIT;
	int r = find_current(o, &last, reterr);

	if (r == 0)
		r = ask_router(o, text, &last, d, &decision, reterr);
	if (r < 0)
		return r;
	d->by = BY_ROUTER;
	d->confidence = decision.confidence;
	set_reason(d, decision.reason);
	const struct conv *blocked =
		decision.blocked == ROUTE_NONE ? NULL : &d->convs.v[decision.blocked];
	/* A sentence that leans on what runs right now means nothing anywhere else. */
	d->waits = blocked && runs(blocked);
	if (d->waits) {
		conv_copy(&d->conv, blocked);
		return 0;
	}
	if (blocked)
		conv_copy(&d->heir_of, blocked);
	if (decision.action == ROUTE_RESUME) {
		conv_copy(&d->conv, &d->convs.v[decision.index]);
		r = apply_memory(o, text, d, reterr);
	}
	if (r < 0)
		return r;
	note_other(&last, d);
	tell_route(o, &last, d);
	return 0;
}

/* The folder's last conversation goes on, unless it is another agent's or too old: that is said. */
static int decide_by_folder(const struct decide_opts *o, struct decision *d, struct err *reterr)
{
	struct conv *c = &d->conv;
	AUTO_STR ago = STR_INIT;
	int r = find_current(o, c, reterr);

	if (r < 0)
		return r;
	if (c->id[0] && !decide_goes_on(o, c)) {
		text_fill(&d->notice, TEXT_OTHER_AGENT, o->language,
			TEXT_WORDS(conv_label(c), c->agent, o->agent ? o->agent : o->chosen));
		set_reason(d, "what goes on in this folder is another agent's");
		conv_release(c);
	} else if (c->id[0] && o->expiry_ms > 0 && c->age_ms > o->expiry_ms) {
		text_ago(&ago, o->language, c->age_ms);
		text_fill(
			&d->notice, TEXT_TOO_OLD, o->language, TEXT_WORDS(conv_label(c), ago.buf));
		set_reason(d, "what went on in this folder is too old");
		conv_release(c);
	} else {
		set_reason(d,
			!c->id[0]		  ? "nothing goes on in this folder"
				: d->by == BY_PIN ? "named for what comes next"
						  : "it goes on in this folder");
	}
	return 0;
}

struct request request_again(const struct turn_record *lost)
{
	return (struct request){ .text = str_sv(&lost->prompt),
		.mode = REQUEST_IN,
		.conversation = lost->conversation,
		.again = lost };
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
		if (req->mode == REQUEST_GO_ON && o->routes && !conv_pinned(o->store, o->dir)) {
			r = decide_by_router(o, req->text, d, reterr);
		} else if (req->mode == REQUEST_GO_ON) {
			d->by = o->routes ? BY_PIN : BY_FOLDER;
			r = decide_by_folder(o, d, reterr);
		} else {
			d->by = BY_REQUEST;
			if (req->mode == REQUEST_IN && req->conversation[0])
				r = conv_get(
					o->store, req->conversation, o->clock, &d->conv, reterr);
			else if (req->mode == REQUEST_IN)
				member_of(req->session, o->clock, &d->conv);
		}
	}
	/* Who answers is no secret when it is another one than was chosen. */
	if (r >= 0 && req->mode == REQUEST_GO_ON && d->conv.id[0] && o->chosen &&
		strcmp(d->conv.agent, o->chosen) != 0 && d->notice.len == 0)
		text_fill(&d->notice, TEXT_ANSWERS_HERE, o->language,
			TEXT_WORDS(d->conv.agent, conv_label(&d->conv)));
	if (o->tasks && route_task_of(str_sv(&d->prompt), o->task_words) == ROUTE_TASK_PLAN)
		d->task = CONV_PLAN;
	return r < 0 ? r : 0;
}
