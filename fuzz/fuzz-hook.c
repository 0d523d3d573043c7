/*
 * What an agent says to a hook: refused with a message, or read; a word of ours is found only in a
 * prompt that begins with '>'; the answer to it is one line of valid JSON.
 */
#include "fuzz.h"
#include "strategy/hook.h"
#include "json/scan.h"

static void check_answer(struct sv rest)
{
	AUTO_STR answer = STR_INIT;

	hook_block(&answer, rest);
	REQUIRE(answer.len > 0 && answer.buf[answer.len - 1] == '\n');
	REQUIRE(memchr(answer.buf, '\n', answer.len) == answer.buf + answer.len - 1);
	REQUIRE(scan_check(sv_trim(str_sv(&answer)), NULL) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hook_input in;
	struct err err = ERR_INIT;
	AUTO_STR rest = STR_INIT;
	AUTO_STR path = STR_INIT;

	if (hook_parse(sv_make((const char *)data, size), &in, &err) < 0) {
		REQUIRE(err.code == ERR_INPUT && err.msg[0]);
		return 0;
	}
	REQUIRE(in.session.n == 0 || in.session.n == 36);
	if (hook_transcript(&in, &path))
		REQUIRE(path.buf[0] == '/' && strlen(path.buf) == path.len);
	if (hook_word(&in, &rest) != HOOK_NONE)
		check_answer(str_sv(&rest));
	else
		REQUIRE(rest.len == 0);
	return 0;
}
