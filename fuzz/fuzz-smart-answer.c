/*
 * An agent's answer to smart-trim: refused as a whole with a message, or a list of choices that
 * name texts that may go, each once and in order, with a bounded summary free of control
 * characters.
 */
#include "fuzz.h"
#include "strategy/smart.h"

enum { ENTRIES = 12 };

static void check(const struct smart_digest *d, const struct smart_answer *a)
{
	for (size_t i = 0; i < a->choices.n; i++) {
		const struct smart_choice *c = &a->choices.v[i];
		REQUIRE(c->entry < d->entries.n && d->entries.v[c->entry].keep == SMART_FREE);
		REQUIRE(i == 0 || a->choices.v[i - 1].entry < c->entry);
		REQUIRE(c->summary[0] && strlen(c->summary) <= SMART_SUMMARY_MAX * 3);
		REQUIRE(!strchr(c->summary, '\033') && !strchr(c->reason, '\033'));
	}
	REQUIRE(a->refusals.n <= SMART_REFUSALS_MAX && a->refusals.n <= a->refused);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP(smart_digest_release) struct smart_digest d = SMART_DIGEST_INIT;
	CLEANUP(smart_answer_release) struct smart_answer a = SMART_ANSWER_INIT;
	struct err err = ERR_INIT;

	for (int i = 0; i < ENTRIES; i++)
		vec_push(&d.entries,
			(struct smart_entry){ .keep = i % 2 ? SMART_FREE : SMART_PROMPT });
	if (smart_read_answer(&d, sv_make((const char *)data, size), &a, &err) < 0) {
		REQUIRE((err.code == ERR_INPUT || err.code == ERR_LIMIT) && err.msg[0]);
		return 0;
	}
	check(&d, &a);
	return 0;
}
