/*
 * The router as a service, line by line, and the same bytes as a sentence: any text, any history.
 */
#include "assist/correct.h"
#include "assist/tasktype.h"
#include "base/utf8.h"
#include "eval/stdio.h"
#include "fuzz.h"
#include "route/memory.h"
#include "route/route.h"

enum { INPUT_MAX = 1 << 16 };

static void speak(struct router *r, struct sv text)
{
	struct route_stdio s;

	route_stdio_init(&s, r);
	struct sv line;
	while (sv_split(&text, '\n', &line)) {
		AUTO_STR out = STR_INIT;
		struct err err = ERR_INIT;
		if (route_stdio_line(&s, line, &out, &err) == 0)
			REQUIRE(utf8_valid(str_sv(&out)));
	}
	route_stdio_release(&s);
}

/* A text against a conversation that is about the same text; kept subjects survive a store. */
static void decide(struct router *r, struct sv text)
{
	struct route_topic *t = route_topic_new();

	router_learn(r, t, text, TOPIC_FIRST);
	router_learn(r, t, text, TOPIC_ANSWER);
	AUTO_STR kept = STR_INIT;
	route_topic_save(t, &kept);
	struct route_topic *again = route_topic_load(str_sv(&kept));
	REQUIRE(again && again->words.n == t->words.n);
	route_topic_free(again);
	route_topic_free(route_topic_load(text));
	struct route_conv conv = { .id = SV("a"), .dir = SV("/w"), .topic = t };
	struct route_query q = { .text = text, .now_ms = 1000, .cwd = SV("/w") };
	struct route_candidate c;
	struct route_decision d;
	router_decide(r, &q, &conv, 1, &c, &d);
	REQUIRE(d.index == (d.action == ROUTE_RESUME ? 0 : ROUTE_NONE));
	route_topic_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sv text = sv_make((const char *)data, size < INPUT_MAX ? size : INPUT_MAX);
	static struct router *routers[2]; /* kept: making one takes longer than using it */

	for (int profile = ROUTE_FADEN; profile <= ROUTE_SEED; profile++) {
		struct route_opts opts = route_opts_default((enum route_profile)profile);
		if (!routers[profile])
			routers[profile] = router_new(&opts);
		speak(routers[profile], text);
		decide(routers[profile], text);
	}
	struct route_correct_words words;
	(void)route_correct(text, &words);
	(void)route_only_goes_on(text);
	(void)route_goes_back(text, &words.about);
	(void)route_goes_back_first(text, &words.about);
	AUTO_STR subject = STR_INIT;
	route_subject(text, &subject);
	(void)route_task_of(text, NULL);
	return 0;
}
