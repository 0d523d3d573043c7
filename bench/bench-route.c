/*
 * CPU time of one routing decision: over 20 conversations with their commands, over 20 with kept
 * subjects, over 10,000 with kept subjects; and of making a router. One JSON line each.
 */
#include <stdio.h>
#include <time.h>

#include "base/mem.h"
#include "base/vec.h"
#include "route/route.h"

static double cpu_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static const char *const things[] = { "calendar", "parser", "login page", "invoice export",
	"price list", "search index", "photo gallery", "weather chart", "timer", "mail queue" };
static const char *const verbs[] = { "fix", "rewrite", "speed up", "document", "extend" };

struct history {
	VEC(struct route_conv) convs;
	VEC(char *) texts;
	struct sv *commands;
};

enum { COMMANDS = 4 };

static void fill(struct router *r, struct history *h, size_t n, bool topics)
{
	h->commands = xcalloc(n * COMMANDS, sizeof(*h->commands));
	for (size_t i = 0; i < n; i++) {
		struct route_topic *t = topics ? route_topic_new() : NULL;
		for (size_t c = 0; c < COMMANDS; c++) {
			char *text = xasprintf("%s the %s of module%zu, it is too slow on page %zu",
				verbs[(i + c) % 5], things[(i * 7 + c) % 10], i, c);
			vec_push(&h->texts, text);
			h->commands[i * COMMANDS + c] = sv_of(text);
			if (t)
				router_learn(r, t, sv_of(text), c ? TOPIC_LATER : TOPIC_FIRST);
		}
		vec_push(&h->convs,
			(struct route_conv){ .id = SV("c"),
				.last_ms = (int64_t)i * 1000,
				.dir = SV("/home/a/shop"),
				.commands = &h->commands[i * COMMANDS],
				.n_commands = COMMANDS,
				.topic = t });
	}
}

/* limit 0: none is set. */
static void say(const char *name, double ms, double limit)
{
	printf("{\"bench\": \"%s\", \"cpu_ms\": %.4f", name, ms);
	if (limit > 0)
		printf(", \"limit_ms\": %g", limit);
	printf("}\n");
}

static void measure(const char *name, enum route_profile profile, size_t n, bool topics, int rounds)
{
	struct route_opts opts = route_opts_default(profile);
	struct router *r = router_new(&opts);
	struct history h = { .commands = NULL };

	fill(r, &h, n, topics);
	struct route_query q = { .text = SV("back to the invoice export, the totals of March are "
					    "still wrong and the file is not sorted"),
		.now_ms = (int64_t)n * 1000,
		.cwd = SV("/home/a/shop") };
	struct route_decision d;
	double from = cpu_ms();
	for (int i = 0; i < rounds; i++)
		router_decide(r, &q, h.convs.v, h.convs.n, NULL, &d);
	say(name, (cpu_ms() - from) / rounds, n == 20 ? 1 : 0);
	router_free(r);
}

int main(void)
{
	enum { ROUNDS = 50 };
	struct route_opts opts = route_opts_default(ROUTE_FADEN);
	double from = cpu_ms();

	for (int i = 0; i < ROUNDS; i++)
		router_free(router_new(&opts));
	say("route-router-new", (cpu_ms() - from) / ROUNDS, 0);
	measure("route-decide-20-commands", ROUTE_FADEN, 20, false, ROUNDS);
	measure("route-decide-20", ROUTE_FADEN, 20, true, ROUNDS);
	measure("route-decide-10000-all", ROUTE_FADEN, 10000, true, 2);
	measure("route-decide-20-seed", ROUTE_SEED, 20, false, ROUNDS);
	return 0;
}
