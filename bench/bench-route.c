/*
 * CPU time of one routing decision: over 20 conversations with their commands, over 20 with kept
 * subjects, over 10,000 with kept subjects; and of making a router.
 */
#include <stdio.h>
#include <time.h>

#include "base/mem.h"
#include "base/vec.h"
#include "route/learn.h"

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
	printf("%-32s %9.3f ms\n", name, (cpu_ms() - from) / rounds);
	router_free(r);
}

int main(void)
{
	enum { ROUNDS = 50 };
	struct route_opts opts = route_opts_default(ROUTE_FADEN);
	double from = cpu_ms();
	for (int i = 0; i < ROUNDS; i++)
		router_free(router_new(&opts));
	printf("%-32s %9.3f ms\n", "router_new", (cpu_ms() - from) / ROUNDS);
	measure("faden, 20, from commands", ROUTE_FADEN, 20, false, ROUNDS);
	measure("faden, 20, kept subjects", ROUTE_FADEN, 20, true, ROUNDS);
	measure("faden, 10000, kept subjects", ROUTE_FADEN, 10000, true, 2);
	measure("seed, 20", ROUTE_SEED, 20, false, ROUNDS);
	return 0;
}
