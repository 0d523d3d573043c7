/*
 * What is typed for a search: whatever it is, it is taken or refused with a message, and every part
 * of it can stand in the index.
 */
#include "fuzz.h"

#include "search/query.h"
#include "search/when.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct query_context context = { .now_ms = 1800000000000, .home = "/h", .cwd = "/w" };
	struct query q = QUERY_INIT;
	struct err err = ERR_INIT;
	struct whens dates;
	struct sv typed = sv_make((const char *)data, size);
	int r = query_parse(typed, &context, &q, &err);

	when_find(typed, context.now_ms, &dates);
	for (size_t i = 0; i < dates.n; i++)
		REQUIRE(dates.v[i].from_ms < dates.v[i].to_ms);
	if (r < 0) {
		REQUIRE(r == ERR_USAGE && err.msg[0] != '\0');
		return 0;
	}
	REQUIRE(q.parts.n <= QUERY_PARTS_MAX);
	vec_each (&q.parts, part) {
		REQUIRE(part->terms.n > 0);
		REQUIRE(!part->group || part->demand == QUERY_MUST);
		vec_each (&part->terms, term)
			REQUIRE(term->text[0] != '\0' && strlen(term->text) <= TERM_MAX &&
				(term == part->terms.v || term->offset > term[-1].offset));
	}
	query_release(&q);
	return 0;
}
