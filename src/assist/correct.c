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

	if (!n->routed)
		return 0;
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

static size_t best_by_words(const struct routing_result *res)
{
	size_t best = ROUTE_NONE;

	for (size_t i = 0; i < res->convs.n; i++)
		if (res->candidates[i].keyword > 0 &&
			(best == ROUTE_NONE ||
				res->candidates[i].keyword > res->candidates[best].keyword))
			best = i;
	return best;
}

/* The conversation that the words name: as a whole sentence, which may reach behind a reset, else
 * by the subject alone. ERR_NOTFOUND when none does. */
static int find_named(
	struct assist *as, struct sv text, struct sv about, struct conv *ret, struct err *reterr)
{
	struct routing rt = assist_routing(as);
	const struct sv tries[] = { text, about };
	size_t found = ROUTE_NONE;
	int r = 0;

	for (size_t i = 0; r == 0 && found == ROUTE_NONE && i < ARRAY_LEN(tries); i++) {
		struct routing_result res = ROUTING_RESULT_INIT;
		r = routing_decide(&rt, tries[i], &res, reterr);
		if (r == 0)
			found = res.decision.action == ROUTE_RESUME ? res.decision.index
								    : best_by_words(&res);
		if (found != ROUTE_NONE)
			conv_copy(ret, &res.convs.v[found]);
		routing_result_release(&res);
	}
	if (r == 0 && found == ROUTE_NONE)
		r = err_set(reterr, ERR_NOTFOUND, "no conversation about %.*s", SV_ARG(about));
	return r;
}

static int find_other(
	struct assist *as, const struct record *rec, struct conv *ret, struct err *reterr)
{
	AUTO_FREE char *id = xmemdup0(rec->other.p, rec->other.n);

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

static int apply(struct assist *as, const struct record *rec, const struct conv *target,
	struct assist_request *req, struct assist_outcome *out, struct err *reterr)
{
	bool fresh = !target->id[0];
	const char *label = fresh ? "a new conversation" : conv_label(target);
	int r = remember(as, rec, target, reterr);

	if (r < 0)
		return r;
	if (!rec->acted) {
		assist_notice(as, "All right: the same in %s.", label);
		as->corrected = xmemdup0(rec->text.p, rec->text.n);
		memcpy(as->corrected_to, target->id, sizeof(as->corrected_to));
		*req = (struct assist_request){ .text = sv_of(as->corrected),
			.mode = fresh ? ASSIST_NEW : ASSIST_IN,
			.conversation = as->corrected_to };
		return 0;
	}
	r = fresh ? conv_reset(as->opts.store, as->opts.dir, as->opts.clock, reterr)
		  : conv_set_current(
			    as->opts.store, as->opts.dir, target->id, as->opts.clock, reterr);
	(void)snprintf(out->reply, sizeof(out->reply),
		"What was done stands. From now on: %s. Please say it again.", label);
	return r;
}

static int find_target(struct assist *as, enum route_correction kind, struct sv text,
	struct sv about, const struct record *rec, struct conv *ret, struct err *reterr)
{
	switch (kind) {
	case CORRECT_OTHER:
		return find_other(as, rec, ret, reterr);
	case CORRECT_ABOUT:
		return find_named(as, text, about, ret, reterr);
	case CORRECT_NEW:
	case CORRECT_NONE:
		break;
	}
	return 0; /* an empty conv: a new one */
}

int assist_correct(struct assist *as, struct assist_request *req, struct assist_outcome *out,
	bool *ret_done, struct err *reterr)
{
	struct record rec = { .value = NULL };
	AUTO_CONV target = CONV_INIT;
	struct sv about;
	enum route_correction kind = route_correct(req->text, &about);
	int r = 0;

	*ret_done = false;
	if (!as->opts.routes || req->mode != ASSIST_GO_ON || kind == CORRECT_NONE)
		return 0;
	/* "The other one" may as well answer a question of the agent. */
	bool known = read_record(as, &rec);
	if (known && (kind != CORRECT_OTHER || (rec.told && rec.other.n))) {
		r = find_target(as, kind, req->text, about, &rec, &target, reterr);
		if (r == 0)
			r = apply(as, &rec, &target, req, out, reterr);
		*ret_done = out->reply[0] != '\0';
	}
	free(rec.value);
	/* A name that fits nothing is for the agent to answer. */
	return r == ERR_NOTFOUND ? 0 : r;
}
