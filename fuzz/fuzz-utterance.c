/*
 * What an utterance is. Blanks and punctuation around it change nothing, and the words of a text
 * are the words of its words.
 */
#include "fuzz.h"

#include "assist/utterance.h"

static enum utterance_kind judge(const struct utterances *u, struct sv text)
{
	struct utterance got;

	utterance_judge(u, text, &got);
	REQUIRE(got.reason[0] != '\0');
	REQUIRE((got.keyword != NULL) == (got.kind < UTTERANCE_COMMANDS));
	return got.kind;
}

/* Compiled once: that costs a hundred times what judging does. */
static const struct utterances *rules(bool contains)
{
	static struct settings *settings[2];
	static struct utterances *made[2];

	if (!made[contains]) {
		struct settings *s = settings[contains] = settings_new("/home/me");
		const struct setting_origin origin = { .source = SETTING_FILE };
		REQUIRE(settings_set(s, SETTING_ID_commands_match,
				contains ? SV("contains") : SV("whole"), origin, NULL) == 0);
		made[contains] = utterances_new(s);
	}
	return made[contains];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sv text = sv_make((const char *)data, size);
	const struct utterances *whole = rules(false), *contains = rules(true);
	AUTO_STR framed = STR_INIT;

	str_adds(&framed, " ¡ ");
	str_add(&framed, text);
	str_adds(&framed, " …!\n");
	enum utterance_kind kind = judge(whole, text);
	if (framed.len <= UTTERANCE_BYTES_MAX)
		REQUIRE(judge(whole, str_sv(&framed)) == kind);
	/* The literal rule finds at least what the whole rule finds, or says why nothing is there.
	 */
	REQUIRE((judge(contains, text) == UTTERANCE_IGNORED) == (kind == UTTERANCE_IGNORED));
	AUTO_STR once = STR_INIT;
	AUTO_STR twice = STR_INIT;
	keywords_normalise(&once, text);
	keywords_normalise(&twice, str_sv(&once));
	REQUIRE(sv_eq(str_sv(&once), str_sv(&twice)));
	return 0;
}
