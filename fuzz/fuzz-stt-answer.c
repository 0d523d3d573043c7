/*
 * What a server answers to a recording: any bytes are a text or refused.
 */
#include <errno.h>

#include "fuzz.h"
#include "voice/stt-driver.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct stt_result result = { .text = STR_INIT };
	struct err err = ERR_INIT;

	int r = stt_answer(sv_make((const char *)data, size), &result, &err);
	REQUIRE(r == 0 || (r == -EBADMSG && err.msg[0] && result.text.len == 0));
	REQUIRE(strlen(result.language) <= 2);
	stt_result_release(&result);
	return 0;
}
