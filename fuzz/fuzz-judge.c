/*
 * What a judge's answer chooses: one of the choices, or nothing.
 */
#include "fuzz.h"

#include "assist/judge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct judge_question q = { .places = STRV_INIT };

	strv_add(&q.places, "");
	strv_add(&q.places, "a");
	strv_add(&q.places, "b");
	int choice = judge_read(&q, sv_make((const char *)data, size));
	REQUIRE(choice >= -1 && choice < (int)q.places.n);
	judge_question_release(&q);
	return 0;
}
