/*
 * The configuration file: whatever is accepted gives settings that can be printed and used, and
 * whatever is refused has a message with a place.
 */
#include "fuzz.h"

#include "assist/utterance.h"
#include "config/yaml.h"

static void use(const struct settings *s)
{
	AUTO_STR out = STR_INIT;

	settings_each (id)
		settings_print(&out, s, id);
	utterances_free(utterances_new(s));
}

/* A change says what it should and nothing else, or it is refused with a message. */
static void edit(struct sv text)
{
	static const struct {
		enum setting_id id;
		const char *value;
	} changes[] = {
		{ SETTING_ID_ai_agent, "exec" },
		{ SETTING_ID_ai_exec_command, "a, b: c" },
		{ SETTING_ID_routing_weight_keyword, "0.5" },
		{ SETTING_ID_ui_pager, "no" },
	};

	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		AUTO_STR out = STR_INIT;
		struct err err = ERR_INIT;
		int r = config_edit(text, "file", changes[i].id, sv_of(changes[i].value),
			"/home/me", &out, &err);
		REQUIRE(r == 0 || (err.code == r && err.msg[0]));
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct settings *s = settings_new("/home/me");
	struct findings unknown = FINDINGS_INIT, all = FINDINGS_INIT;
	struct err err = ERR_INIT;
	struct sv text = sv_make((const char *)data, size);
	int r = config_parse(s, text, "file", &unknown, NULL, &err);

	if (r == 0)
		use(s);
	else
		REQUIRE(err.code == r && sv_starts(sv_of(err.msg), SV("file:")));
	edit(text);
	settings_free(s);
	/* Checking finds what reading stumbles over, and goes on to the end; only what is too large
	 * is not looked into. */
	s = settings_new("/home/me");
	bool large = size > CONFIG_BYTES_MAX;
	REQUIRE((config_parse(s, text, "file", &all, &all, NULL) < 0) == large);
	REQUIRE(r == 0 ? all.all.n == unknown.all.n : large || all.all.n > 0);
	settings_free(s);
	findings_release(&unknown);
	findings_release(&all);
	return 0;
}
