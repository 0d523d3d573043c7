/*
 * Corrections of the router by words. What was said goes to the right conversation, unless
 * something was done with it already: then only what comes next goes there.
 */
#include <stdlib.h>

#include "assist/internal.h"
#include "base/map.h"
#include "base/mem.h"
#include "route/correct.h"
#include "route/learn.h"
#include "store/topic.h"

/* Two texts are one request when at least half of their words are the same. */
static const double same_request = 0.5;

/* ---- what was routed last in this folder ---- */

static char *record_key(const struct assist *as)
{
	return xasprintf("route:%s", as->opts.dir);
}

int assist_route_note(struct assist *as, struct err *reterr)
{
	struct route_note *n = &as->note;
	AUTO_FREE char *key = record_key(as);

	if (!as->opts.routes)
		return 0;
	/* A turn that was not routed, because the user had said where, can be corrected as well. */
	if (!n->routed)
		*n = (struct route_note){ .routed = false };
	n->routed = false;
	AUTO_FREE char *value = xasprintf(
		"%s\n%s\n%d\n%d\n%s", as->conv->id, n->other, n->told, as->acted, as->prompt.buf);
	return store_pref_set(as->opts.store, key, value, reterr);
}

struct record {
	char *value; /* what the slices point into */
	struct sv chosen, other, text;
	bool told, acted;
};

static bool read_record(const struct assist *as, struct record *rec)
{
	AUTO_FREE char *key = record_key(as);
	struct sv told;
	struct sv acted;

	if (store_pref_get(as->opts.store, key, &rec->value, NULL) < 0)
		return false;
	rec->text = sv_of(rec->value);
	if (!sv_split(&rec->text, '\n', &rec->chosen) || !sv_split(&rec->text, '\n', &rec->other) ||
		!sv_split(&rec->text, '\n', &told) || !sv_split(&rec->text, '\n', &acted))
		return false;
	rec->told = sv_is(told, "1");
	rec->acted = sv_is(acted, "1");
	return rec->text.n > 0;
}

/* ---- the memory of corrections ---- */

static void count_stem(void *data, struct sv stem)
{
	*map_ref(data, stem) += 1;
}

static bool same_subject(struct assist *as, struct sv a, struct sv b)
{
	AUTO_MAP stems = MAP_INIT;
	const struct sv texts[] = { a, b };
	size_t at = 0;
	size_t shared = 0;
	struct sv key;
	uint64_t count;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct route_topic *topic = route_topic_new();
		router_learn(as->opts.router, topic, texts[i], TOPIC_QUERY);
		route_topic_stems(topic, count_stem, &stems);
		route_topic_free(topic);
	}
	while (map_next(&stems, &at, &key, &count))
		shared += count > 1;
	return stems.n > 0 && (double)shared >= same_request * (double)stems.n;
}

int assist_corrected(
	struct assist *as, struct sv text, const char *wrong, struct conv *ret, struct err *reterr)
{
	struct correction c = { .text = NULL };
	int r = correction_find(as->opts.store, wrong, &c, reterr);

	if (r > 0 && !same_subject(as, text, sv_of(c.text)))
		r = 0;
	if (r > 0 && c.right) {
		r = conv_get(as->opts.store, c.right, as->opts.clock, ret, reterr);
		r = r == 0 ? 1 : r;
	}
	correction_release(&c);
	return r;
}

/* ---- the correction itself ---- */

/* Less than this is a word in common, no name. */
static const double names_it = 0.5;

static size_t best_by_words(const struct routing_result *res)
{
	size_t best = ROUTE_NONE;

	for (size_t i = 0; i < res->convs.n; i++)
		if (res->candidates[i].keyword >= names_it &&
			(best == ROUTE_NONE ||
				res->candidates[i].keyword > res->candidates[best].keyword))
			best = i;
	return best;
}

/* The conversation that the words name, also behind a reset: "back to" reaches there whatever the
 * correction's own words were. ERR_NOTFOUND when none does. */
static int find_named(struct assist *as, struct sv about, struct conv *ret, struct err *reterr)
{
	struct routing rt = assist_routing(as);
	AUTO_FREE char *back = xasprintf("back to %.*s", SV_ARG(about));
	const struct sv tries[] = { sv_of(back), about };
	size_t found = ROUTE_NONE;
	int r = 0;

	for (size_t i = 0; r == 0 && found == ROUTE_NONE && i < ARRAY_LEN(tries); i++) {
		struct routing_result res = ROUTING_RESULT_INIT;
		r = routing_decide(&rt, tries[i], &res, reterr);
		if (r == 0)
			found = best_by_words(&res);
		if (found != ROUTE_NONE)
			conv_copy(ret, &res.convs.v[found]);
		routing_result_release(&res);
	}
	if (r == 0 && found == ROUTE_NONE) {
		AUTO_STR line = STR_INIT;
		AUTO_FREE char *words = xmemdup0(about.p, about.n);
		text_fill(&line, TEXT_NONE_ABOUT, as->opts.language, TEXT_WORDS(words));
		r = err_set(reterr, ERR_NOTFOUND, "%s", line.buf);
	}
	return r;
}

static int find_other(
	struct assist *as, const struct record *rec, struct conv *ret, struct err *reterr)
{
	AUTO_FREE char *id = xmemdup0(rec->other.p, rec->other.n);

	if (!*id)
		return err_set(
			reterr, ERR_NOTFOUND, "%s", text_get(TEXT_NO_OTHER, as->opts.language));
	return conv_get(as->opts.store, id, as->opts.clock, ret, reterr);
}

static int remember(
	struct assist *as, const struct record *rec, const struct conv *right, struct err *reterr)
{
	AUTO_FREE char *text = xmemdup0(rec->text.p, rec->text.n);
	AUTO_FREE char *wrong = xmemdup0(rec->chosen.p, rec->chosen.n);
	AUTO_FREE char *id = right->id[0] ? xstrdup(right->id) : NULL;
	const struct correction c = { .text = text, .wrong = wrong, .right = id };

	return correction_add(as->opts.store, &c, clock_wall_ms(as->opts.clock), reterr);
}

/* What was said is said again in the right place. */
static int say_again(struct assist *as, const struct record *rec, const struct conv *target,
	struct assist_request *req, struct err *reterr)
{
	bool fresh = !target->id[0];

	assist_tell(as, fresh ? TEXT_SAME_NEW : TEXT_SAME_THERE, TEXT_WORDS(conv_label(target)));
	as->corrected = xmemdup0(rec->text.p, rec->text.n);
	memcpy(as->corrected_to, target->id, sizeof(as->corrected_to));
	*req = (struct assist_request){ .text = sv_of(as->corrected),
		.mode = fresh ? ASSIST_NEW : ASSIST_IN,
		.conversation = as->corrected_to };
	return remember(as, rec, target, reterr);
}

/* Only what comes next goes there. */
static int go_there(struct assist *as, const struct conv *target, bool acted,
	struct assist_outcome *out, struct err *reterr)
{
	static const enum text_id texts[2][2] = {
		{ TEXT_NEXT_THERE, TEXT_NEXT_NEW },
		{ TEXT_DONE_NEXT_THERE, TEXT_DONE_NEXT_NEW },
	};
	struct store *store = as->opts.store;
	bool fresh = !target->id[0];
	AUTO_STR line = STR_INIT;
	int r = fresh ? conv_reset(store, as->opts.dir, as->opts.clock, reterr)
		      : conv_set_current(store, as->opts.dir, target->id, as->opts.clock, reterr);

	if (r == 0 && !fresh)
		r = conv_pin(store, as->opts.dir, reterr);
	text_fill(&line, texts[acted][fresh], as->opts.language, TEXT_WORDS(conv_label(target)));
	(void)snprintf(out->reply, sizeof(out->reply), "%s", line.buf);
	return r;
}

static int apply(struct assist *as, const struct record *rec, const struct conv *target, bool wrong,
	struct assist_request *req, struct assist_outcome *out, struct err *reterr)
{
	if (!wrong)
		return go_there(as, target, false, out, reterr);
	if (!rec->acted)
		return say_again(as, rec, target, req, reterr);
	int r = remember(as, rec, target, reterr);

	return r < 0 ? r : go_there(as, target, true, out, reterr);
}

static int find_target(struct assist *as, enum route_correction kind, struct sv about,
	const struct record *rec, struct conv *ret, struct err *reterr)
{
	switch (kind) {
	case CORRECT_OTHER:
		return find_other(as, rec, ret, reterr);
	case CORRECT_ABOUT:
		return find_named(as, about, ret, reterr);
	case CORRECT_NEW:
	case CORRECT_NONE:
		break;
	}
	return 0; /* an empty conv: a new one */
}

/* Not found: for the agent to answer, unless the words speak of conversations. */
static int not_found(
	const struct route_correct_words *words, const struct err *err, struct assist_outcome *out)
{
	if (words->sure)
		(void)snprintf(out->reply, sizeof(out->reply), "%s", err->msg);
	return 0;
}

int assist_correct(struct assist *as, struct assist_request *req, struct assist_outcome *out,
	bool *ret_done, struct err *reterr)
{
	struct record rec = { .value = NULL };
	AUTO_CONV target = CONV_INIT;
	struct route_correct_words words;
	struct err err = ERR_INIT;
	int r = 0;

	*ret_done = false;
	if (!as->opts.routes || req->mode != ASSIST_GO_ON)
		return 0;
	enum route_correction kind = route_correct(req->text, &words);
	if (kind == CORRECT_NONE)
		return 0;
	/* "The other one" may as well answer a question of the agent. */
	bool known = read_record(as, &rec);
	if (known && (kind != CORRECT_OTHER || words.sure || rec.told)) {
		/* "Go back to the one about X" need not mean that the last turn went astray, and
		 * "new conversation" alone does not. */
		bool wrong = kind == CORRECT_OTHER || words.denies ||
			(kind == CORRECT_ABOUT && rec.told);
		r = find_target(as, kind, words.about, &rec, &target, &err);
		if (r == ERR_NOTFOUND)
			r = not_found(&words, &err, out);
		else if (r == 0)
			r = apply(as, &rec, &target, wrong, req, out, &err);
		*ret_done = out->reply[0] != '\0';
	}
	free(rec.value);
	if (r < 0 && reterr)
		*reterr = err;
	return r;
}
