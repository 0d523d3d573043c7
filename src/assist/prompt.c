#include "assist/prompt.h"

#include "base/utf8.h"

static bool seen_before(const struct keywords *k, size_t i)
{
	for (size_t j = 0; j < i; j++) {
		if (sv_is(sv_of(k->texts.v[j]), k->texts.v[i]))
			return true;
	}
	return false;
}

/* One line: what it does, then every keyword once. */
static void add_keywords(struct str *out, const struct keywords *k, const char *effect)
{
	if (!k || k->texts.n == 0)
		return;
	str_addf(out, "- %s: ", effect);
	for (size_t i = 0; i < k->texts.n; i++) {
		if (!seen_before(k, i))
			str_addf(out, "%s\"%s\"", i ? ", " : "", k->texts.v[i]);
	}
	str_addc(out, '\n');
}

static void add_commands(struct str *out, const struct prompt_opts *opts)
{
	static const char *const effects[UTTERANCE_COMMANDS] = {
		[UTTERANCE_CANCEL] = "stops what is running",
		[UTTERANCE_RESET] = "begins a new conversation",
		[UTTERANCE_RESTART] = "starts the assistant program anew; the conversation goes on",
		[UTTERANCE_UNDO] = "brings the conversation before the last reset back",
	};
	str_adds(out,
		"\nThe program acts by itself on an utterance that is nothing but one of these; "
		"you never see it:\n");
	for (int kind = 0; kind < UTTERANCE_COMMANDS; kind++)
		add_keywords(out, opts->keywords[kind], effects[kind]);
	str_adds(out,
		"Asked for help or what you can do, mention these commands with an example of "
		"each beside your own abilities.\n");
}

static void add_voice(struct str *out, const struct prompt_opts *opts)
{
	if (opts->name && *opts->name)
		str_addf(out,
			"\nThe user speaks to you after the wake word \"Hey %s\" and hears your "
			"answer "
			"read aloud.",
			opts->name);
	else
		str_adds(out, "\nThe user speaks to you and hears your answer read aloud.");
	str_adds(out,
		" Answer in one to three short sentences that are easy to listen to: no lists, "
		"no tables, no Markdown, no code, no addresses spelled out. What was said may "
		"have been misheard: ask when a dangerous thing is not clear.\n");
}

void prompt_build(struct str *out, const struct prompt_opts *opts)
{
	struct sv own = sv_trim(opts->own);
	if (own.n > 0) {
		str_add(out, own);
		str_adds(out, "\n\n");
	}
	if (opts->name && *opts->name)
		str_addf(out, "You are called %s. ", opts->name);
	str_adds(out,
		"The user reaches you through faden, a program that keeps the conversation "
		"across restarts. Answer in the user's language.\n");
	add_commands(out, opts);
	if (opts->source_dir && *opts->source_dir)
		str_addf(out, "\nThe assistant's own source code is in %s.\n", opts->source_dir);
	if (opts->voice)
		add_voice(out, opts);
}
