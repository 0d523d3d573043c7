#include "assist/prompt.h"

#include <string.h>

#include "assist/utterance.h"
#include "os/file.h"

/* One line: what it does, then every keyword once. */
static void add_keywords(struct str *out, const struct keywords *k, const char *effect)
{
	if (k->texts.n == 0)
		return;
	str_addf(out, "- %s: ", effect);
	for (size_t i = 0; i < k->texts.n; i++) {
		size_t first = 0;
		while (strcmp(k->texts.v[first], k->texts.v[i]) != 0)
			first++;
		if (first == i)
			str_addf(out, "%s\"%s\"", i ? ", " : "", k->texts.v[i]);
	}
	str_addc(out, '\n');
}

int prompt_build(const struct settings *s, bool voice, struct str *out, struct err *reterr)
{
	static const char *const effects[UTTERANCE_COMMANDS] = {
		[UTTERANCE_CANCEL] = "stops what is running",
		[UTTERANCE_RESET] = "begins a new conversation",
		[UTTERANCE_RESTART] = "starts the assistant program anew; the conversation goes on",
		[UTTERANCE_UNDO] = "brings the conversation before the last reset back",
	};
	AUTO_STR own = STR_INIT;

	if (*s->ai_system_prompt) {
		str_adds(&own, s->ai_system_prompt);
	} else if (*s->ai_system_prompt_path) {
		int r = file_read(s->ai_system_prompt_path, SYSTEM_PROMPT_MAX, &own, reterr);
		if (r < 0) {
			err_prefix(reterr, "ai.system_prompt_path");
			return r;
		}
	}
	struct sv text = sv_trim(str_sv(&own));
	str_add(out, text);
	if (*s->ai_source_directory)
		str_addf(out, "%sThe assistant's own source code is in %s.\n",
			text.n > 0 ? "\n\n" : "", s->ai_source_directory);
	if (!voice)
		return 0;
	str_adds(out, out->len > 0 ? "\n\n" : "");
	if (*s->assistant_name)
		str_addf(out, "You are called %s. ", s->assistant_name);
	str_adds(out,
		"The user reaches you through faden, a program that keeps the conversation "
		"across restarts. Answer in the user's language.\n"
		"\nThe program acts by itself on an utterance that is nothing but one of these; "
		"you never see it:\n");
	for (enum utterance_kind kind = 0; kind < UTTERANCE_COMMANDS; kind++)
		add_keywords(out, utterance_keywords(s, kind), effects[kind]);
	str_adds(out,
		"Asked for help or what you can do, mention these commands with an example of "
		"each beside your own abilities.\n");
	str_adds(out, "\nThe user speaks to you ");
	if (*s->assistant_name)
		str_addf(out, "after the wake word \"Hey %s\" ", s->assistant_name);
	str_adds(out,
		"and hears your answer read aloud. Answer in one to three short sentences that are "
		"easy to listen to: no lists, no tables, no Markdown, no code, no addresses "
		"spelled "
		"out. What was said may have been misheard: ask when a dangerous thing is not "
		"clear.\n");
	return 0;
}
