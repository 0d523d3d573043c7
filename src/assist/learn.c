#include "assist/learn.h"

#include <string.h>

#include "assist/correct.h"
#include "base/utf8.h"
#include "store/journal.h"
#include "store/topic.h"

enum { PROMPTS_MAX = 200 }; /* of one conversation that are read when its topic is not kept */

static bool has_topics(const struct router *router)
{
	return router_opts(router)->profile != ROUTE_SEED;
}

int learn_topic(struct store *store, const struct router *router, int64_t seq,
	struct route_topic **ret, struct err *reterr)
{
	AUTO_STR bytes = STR_INIT;
	int r = has_topics(router) ? topic_get(store, seq, &bytes, reterr) : 0;

	*ret = r > 0 ? route_topic_load(str_sv(&bytes)) : NULL;
	return r < 0 ? r : 0;
}

int learn_prompts(struct store *store, const char *id, struct strv *out, struct err *reterr)
{
	return journal_prompts(store, id, PROMPTS_MAX, out, reterr);
}

/* That it goes on says of no conversation what it is about. */
static void learn_prompt(
	struct router *router, struct route_topic *topic, const char *prompt, bool first)
{
	if (!route_only_goes_on(sv_of(prompt)))
		router_learn(router, topic, sv_of(prompt), first ? TOPIC_FIRST : TOPIC_LATER);
}

static void add_stem(void *data, struct sv stem)
{
	strv_addsv(data, stem);
}

void learn_stems(struct router *router, struct sv text, struct strv *out)
{
	struct route_topic *topic = route_topic_new();

	router_learn(router, topic, text, TOPIC_LATER);
	route_topic_stems(topic, add_stem, out);
	route_topic_free(topic);
}

int learn_keep(
	struct store *store, int64_t seq, const struct route_topic *topic, struct err *reterr)
{
	AUTO_STRV stems = STRV_INIT;
	AUTO_STR bytes = STR_INIT;

	route_topic_save(topic, &bytes);
	route_topic_stems(topic, add_stem, &stems);
	return topic_put(store, seq, str_sv(&bytes), &stems, reterr);
}

/* Also what was said in turns that failed, or that nobody saw the end of. */
static int learn_said(struct store *store, struct router *router, const char *id,
	struct route_topic *topic, struct err *reterr)
{
	AUTO_STRV prompts = STRV_INIT;
	int r = learn_prompts(store, id, &prompts, reterr);

	for (size_t i = 0; r == 0 && i < prompts.n; i++)
		learn_prompt(router, topic, prompts.v[i], i == 0);
	return r;
}

/* The first words of a long session may say little of it. */
static void learn_tail(const struct session_info *info, struct strv *out)
{
	enum { TAIL_BYTES = 64 * 1024, LAST = 3 };
	const struct transcript_read_opts opts = {
		.offset = info->size > TAIL_BYTES ? (uint64_t)info->size - TAIL_BYTES : 0,
		.end = (uint64_t)info->size,
	};
	struct transcript_reader *reader = NULL;
	AUTO_STRV said = STRV_INIT;
	struct item item;

	/* A file that cannot be read tells nothing; a line that is cut is none. */
	if (info->turns < 2 || transcript_open(info->path, info->format, &opts, &reader, NULL) < 0)
		return;
	while (transcript_next(reader, &item, NULL) > 0) {
		AUTO_STR text = STR_INIT;
		if (item.kind != ITEM_USER || !(item.flags & ITEM_PROMPT) ||
			item.flags & (ITEM_INJECTED | ITEM_SIDECHAIN))
			continue;
		transcript_text(&item, &text);
		strv_addsv(&said, utf8_cut(str_sv(&text), SESSION_PROMPT_MAX));
	}
	transcript_close(reader);
	for (size_t i = said.n > LAST ? said.n - LAST : 0; i < said.n; i++)
		strv_add(out, said.v[i]);
}

void learn_session(const struct session_row *row, bool tail, struct strv *out)
{
	static const char *const everywhere[] = { "main", "master", "trunk", "HEAD" };
	const char *name = session_row_name(row);
	bool says_something = row->info.branch[0] != '\0';

	if (!route_only_goes_on(sv_of(row->info.prompt)))
		strv_add(out, row->info.prompt);
	if (name[0])
		strv_add(out, name);
	for (size_t i = 0; i < ARRAY_LEN(everywhere); i++)
		says_something &= strcmp(row->info.branch, everywhere[i]) != 0;
	if (says_something)
		strv_add(out, row->info.branch);
	if (tail)
		learn_tail(&row->info, out);
}

static int take_texts(void *data, const struct session_row *row)
{
	learn_session(row, true, data);
	return 0;
}

int learn_adopted(
	struct store *store, struct router *router, const struct conv *c, struct err *reterr)
{
	const struct catalogue_query query = { .id = c->session, .agent = c->agent, .limit = 1 };
	AUTO_STRV texts = STRV_INIT;

	if (!router || !has_topics(router))
		return 0;
	int r = catalogue_query(store, &query, take_texts, &texts, reterr);
	struct route_topic *topic = route_topic_new();
	for (size_t i = 0; i < texts.n; i++)
		learn_prompt(router, topic, texts.v[i], i == 0);
	if (r >= 0 && texts.n > 0)
		r = learn_keep(store, c->seq, topic, reterr);
	route_topic_free(topic);
	return r;
}

int learn_turn(struct store *store, struct router *router, const struct conv *c, struct sv prompt,
	struct sv answer, struct err *reterr)
{
	struct route_topic *topic = NULL;
	int r = learn_topic(store, router, c->seq, &topic, reterr);

	if (r < 0 || !has_topics(router))
		return r;
	if (topic && !route_only_goes_on(prompt)) {
		router_learn(router, topic, prompt, TOPIC_LATER);
	} else if (!topic) {
		topic = route_topic_new();
		r = learn_said(store, router, c->id, topic, reterr);
	}
	router_learn(router, topic, answer, TOPIC_ANSWER);
	if (r == 0)
		r = learn_keep(store, c->seq, topic, reterr);
	route_topic_free(topic);
	return r;
}

int learn_heir(struct store *store, struct router *router, const struct conv *heir,
	const struct conv *from, struct err *reterr)
{
	struct route_topic *kept = NULL;

	if (!has_topics(router))
		return 0;
	int r = learn_topic(store, router, from->seq, &kept, reterr);
	if (r < 0)
		return r;
	/* What the turn that failed was about is not in the kept topic. */
	struct route_topic *topic = route_topic_new();
	r = learn_said(store, router, from->id, topic, reterr);
	if (r == 0 && kept)
		route_topic_inherit(topic, kept);
	if (r == 0)
		r = learn_keep(store, heir->seq, topic, reterr);
	route_topic_free(kept);
	route_topic_free(topic);
	return r;
}
