/*
 * What an instructor's answer means, and round control. What is typed before a line of control
 * changes nothing else; a decision is one of its kinds, whole.
 */
#include "fuzz.h"

#include "master/decision.h"
#include "master/rounds.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sv text = sv_make((const char *)data, size);
	AUTO_PAIR_DECISION d = PAIR_DECISION_INIT;

	pair_decision_read(text, &d);
	REQUIRE(d.begins <= size);
	REQUIRE((d.act == DECISION_NONE) == (d.wrong[0] != '\0'));
	REQUIRE((d.act != DECISION_START && d.act != DECISION_TELL) || (d.text && d.text[0]));
	REQUIRE(d.act != DECISION_NONE || (!d.text && !d.model && d.timeout_ms == 0));
	struct rounds_line line = rounds_read(text, 3);
	REQUIRE(line.remaining >= 0 && line.remaining <= ROUNDS_MAX);
	REQUIRE(line.changed || line.remaining == 3);
	/* What is left is no marker any more. */
	struct rounds_line again = rounds_read(line.text, line.remaining);
	REQUIRE(!again.changed && !again.compact && sv_eq(again.text, line.text));
	return 0;
}
