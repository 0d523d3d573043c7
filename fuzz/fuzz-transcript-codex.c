#include "transcript.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	return check_transcript(TRANSCRIPT_CODEX, data, size);
}
