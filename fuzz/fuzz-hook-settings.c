/*
 * An agent's settings file: refused, or with our hooks in it. What comes out is JSON again and has
 * them, a second time changes nothing, and after removing none is left.
 */
#include "fuzz.h"
#include "strategy/hook-settings.h"
#include "json/scan.h"

static const char program[] = "/opt/faden";

static bool all_are(struct sv text, enum hook_state want)
{
	enum hook_state states[8];

	REQUIRE(hook_settings_look(text, program, states, NULL) == 0);
	for (size_t i = 0; i < hook_events_n; i++)
		if (states[i] != want)
			return false;
	return true;
}

static struct sv body(const struct str *s)
{
	struct sv text = str_sv(s);

	return sv_starts(text, SV("\xef\xbb\xbf")) ? sv_from(text, 3) : text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sv text = sv_make((const char *)data, size);
	AUTO_STR with = STR_INIT;
	AUTO_STR again = STR_INIT;
	AUTO_STR without = STR_INIT;
	struct err err = ERR_INIT;

	if (hook_settings_install(text, program, &with, &err) < 0) {
		REQUIRE(err.code == ERR_INPUT && err.msg[0] && with.len == 0);
		return 0;
	}
	REQUIRE(scan_check(body(&with), NULL) == 0);
	REQUIRE(all_are(str_sv(&with), HOOK_INSTALLED));
	REQUIRE(hook_settings_install(str_sv(&with), program, &again, NULL) == 0);
	REQUIRE(sv_eq(str_sv(&with), str_sv(&again)));
	REQUIRE(hook_settings_remove(str_sv(&with), program, &without, NULL) >= 0);
	REQUIRE(scan_check(body(&without), NULL) == 0);
	REQUIRE(all_are(str_sv(&without), HOOK_ABSENT));
	return 0;
}
