/*
 * What a recogniser made of speech: whatever it is, what was meant is one line of valid text with
 * something in it, and never more of a command than the text itself; blanks around it, and how the
 * sound was cut, change nothing. The first byte says whether the recording began with the call.
 */
#include "fuzz.h"

#include "base/utf8.h"
#include "listen/heard.h"

struct world {
	struct settings *settings;
	struct utterances *rules;
	struct heard_rules *heard;
};

/* Compiled once: that costs a hundred times what judging does. */
static const struct world *world(void)
{
	static struct world w;

	if (!w.heard) {
		const struct setting_origin origin = { .source = SETTING_FILE };
		w.settings = settings_new("/home/me");
		REQUIRE(settings_set(w.settings, SETTING_ID_stt_corrections,
				SV("cloud code = Claude Code, git = Git"), origin, NULL) == 0);
		w.rules = utterances_new(w.settings);
		w.heard = heard_new(w.settings, w.rules);
	}
	return &w;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct world *w = world();
	AUTO_STR meant = STR_INIT;
	AUTO_STR framed = STR_INIT;
	AUTO_STR again = STR_INIT;
	struct utterance u;

	if (size < 1 || size > (size_t)8 * 1024)
		return 0;
	bool with_call = data[0] & 1;
	struct sv text = sv_make((const char *)data + 1, size - 1);
	bool said = heard_meant(w->heard, text, with_call, &meant);
	str_adds(&framed, " \n");
	str_add(&framed, text);
	str_adds(&framed, "\t ");
	REQUIRE(heard_meant(w->heard, str_sv(&framed), with_call, &again) == said);
	REQUIRE(sv_eq(str_sv(&meant), str_sv(&again)));
	(void)heard_names_us(w->heard, text);
	if (!said) {
		REQUIRE(meant.len == 0);
		return 0;
	}
	REQUIRE(utf8_valid(str_sv(&meant)));
	REQUIRE(meant.len > 0 && meant.buf[0] != ' ');
	for (size_t i = 0; i < meant.len; i++)
		REQUIRE((unsigned char)meant.buf[i] >= ' ');
	utterance_judge(w->rules, str_sv(&meant), &u);
	REQUIRE(u.kind != UTTERANCE_IGNORED);
	/* Nobody allows what they deny. */
	AUTO_STR no = STR_INIT;
	str_addf(&no, "nein, %s", meant.buf);
	REQUIRE(heard_answer(w->heard, str_sv(&no)) != HEARD_YES);
	return 0;
}
