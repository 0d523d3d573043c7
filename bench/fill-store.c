/*
 * fill-store FILE FOLDER N: a store with N conversations of four turns each, the odd ones begun in
 * FOLDER, the others in folders of their own.
 */
#include <stdio.h>

#include "assist/learn.h"
#include "base/mem.h"
#include "store/journal.h"

static const char *const things[] = { "calendar", "parser", "login page", "invoice export",
	"price list", "search index", "photo gallery", "weather chart", "timer", "mail queue" };
static const char *const verbs[] = { "fix", "rewrite", "speed up", "document", "extend" };

enum { TURNS = 4 };

struct filling {
	struct store *store;
	const struct clock *clock;
	struct router *router;
	const char *dir;
	struct proc_id self;
	struct err err;
};

static int add_turn(struct filling *f, const struct conv *c, int64_t i, int64_t turn)
{
	AUTO_FREE char *prompt = xasprintf("%s the %s of module%d, it is too slow on page %d",
		verbs[(i + turn) % 5], things[(i * 7 + turn) % 10], (int)i, (int)turn);
	AUTO_TURN_RECORD t = TURN_RECORD_INIT;
	int64_t id;

	str_adds(&t.prompt, prompt);
	(void)snprintf(t.conversation, sizeof(t.conversation), "%s", c->id);
	int r = journal_turn(f->store, &t, f->clock, &id, &f->err);
	if (r == 0)
		r = journal_end(f->store, id, TURN_ANSWERED, NULL, f->clock, &f->err);
	if (r == 0)
		r = learn_turn(f->store, f->router, c, sv_of(prompt),
			SV("I changed the loop in Reader.next() and ran the tests; all pass."),
			&f->err);
	return r;
}

static int add_conversation(struct filling *f, int64_t i)
{
	AUTO_CONV c = CONV_INIT;
	AUTO_FREE char *dir = i % 2 ? xstrdup(f->dir) : xasprintf("%s-%d", f->dir, (int)i / 20);
	const struct conv_new what = { .dir = dir, .agent = "rehearsal" };
	int r = conv_create(f->store, &what, &f->self, f->clock, &c, &f->err);

	for (int64_t turn = 0; r == 0 && turn < TURNS; turn++)
		r = add_turn(f, &c, i, turn);
	if (r == 0)
		r = conv_give(f->store, c.id, &f->self, CONV_IDLE, f->clock, &f->err);
	return r;
}

/* In transactions as small as they are in use: the store keeps its log short between them. */
static int fill(struct filling *f, const char *file, int64_t n)
{
	enum { TOGETHER = 20 };
	int r = store_open(file, 0, NULL, &f->store, &f->err);

	for (int64_t i = 0; r == 0 && i < n;) {
		r = store_begin(f->store, &f->err);
		for (int64_t end = i + TOGETHER; r == 0 && i < n && i < end; i++)
			r = add_conversation(f, i);
		if (r == 0)
			r = store_end(f->store, true, &f->err);
	}
	return r;
}

int main(int argc, char **argv)
{
	const struct clock clock = { .fixed = false };
	struct route_opts opts = route_opts_default(ROUTE_FADEN);
	struct filling f = { .err = ERR_INIT };
	long long n;

	if (argc != 4 || !sv_parse_i64(sv_of(argv[3]), &n))
		return 2;
	f.clock = &clock;
	f.router = router_new(&opts);
	f.dir = argv[2];
	int r = proc_id_self(&f.self, &f.err);
	if (r == 0)
		r = fill(&f, argv[1], n);
	if (r < 0)
		(void)fprintf(stderr, "fill-store: %s\n", f.err.msg);
	store_close(f.store);
	router_free(f.router);
	return r < 0;
}
