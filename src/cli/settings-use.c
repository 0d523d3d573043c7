#include "cli/settings-use.h"

#include "assist/prompt.h"
#include "cli/env.h"
#include "os/file.h"

const struct keywords *settings_keywords(const struct settings *s, enum utterance_kind kind)
{
	switch (kind) {
	case UTTERANCE_CANCEL:
		return &s->commands_cancel;
	case UTTERANCE_RESET:
		return &s->commands_reset;
	case UTTERANCE_RESTART:
		return &s->commands_restart;
	case UTTERANCE_UNDO:
		return &s->commands_undo;
	case UTTERANCE_AGENT:
	case UTTERANCE_IGNORED:
		break;
	}
	return NULL;
}

int settings_utterances(const struct settings *s, struct utterances **ret, struct err *reterr)
{
	struct utterance_opts opts = {
		.name = s->assistant_name,
		.also = &s->assistant_also_called,
		.filler = &s->commands_filler,
		.contains = sv_is(sv_of(s->commands_match), "contains"),
	};
	for (int kind = 0; kind < UTTERANCE_COMMANDS; kind++)
		opts.keywords[kind] = settings_keywords(s, (enum utterance_kind)kind);
	return utterances_new(&opts, ret, reterr);
}

int settings_system_prompt(
	const struct settings *s, bool voice, struct str *out, struct err *reterr)
{
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
	struct prompt_opts opts = {
		.name = s->assistant_name,
		.own = str_sv(&own),
		.source_dir = s->ai_source_directory,
		.voice = voice,
	};
	for (int kind = 0; kind < UTTERANCE_COMMANDS; kind++)
		opts.keywords[kind] = settings_keywords(s, (enum utterance_kind)kind);
	prompt_build(out, &opts);
	return 0;
}

const char *settings_language(const struct settings *s)
{
	char lang[3];
	if (!sv_is(sv_of(s->assistant_language), "auto"))
		return s->assistant_language;
	return sv_is(sv_of(env_language(lang)), "de") ? "de" : "en";
}
