#include "agent/retry.h"

#include "base/utf8.h"

enum { WHY_MAX = 200 }; /* bytes of the agent's own words */

static const struct {
	const char *name;
	int64_t status;
	const char *words;
} causes[] = {
	{ "rate_limit", 429, "the limit of requests is reached" },
	{ "overloaded", 529, "the model is overloaded" },
	{ "authentication_failed", 401, "the log-in was refused" },
	{ "authentication_failed", 403, "the log-in was refused" },
	{ "billing_error", 402, "the account cannot pay for it" },
	{ "server_error", 500, "the model's server has an error" },
	{ "server_error", 502, "the model's server cannot be reached" },
	{ "server_error", 503, "the model's server is not available" },
	{ "server_error", 504, "the model's server does not answer in time" },
};

static const char *known_cause(struct sv name, int64_t status)
{
	for (size_t i = 0; i < ARRAY_LEN(causes); i++)
		if (status ? causes[i].status == status : sv_is(name, causes[i].name))
			return causes[i].words;
	return NULL;
}

void retry_words_claude(struct str *out, struct sv name, int64_t status)
{
	const char *words = known_cause(name, status);

	if (words)
		str_adds(out, words);
	else if (status)
		str_adds(out, "the model's server refused");
	else if (name.n == 0 || sv_is(name, "unknown"))
		str_adds(out, "the model cannot be reached");
	else
		utf8_scrub_line(out, utf8_cut(name, WHY_MAX));
	if (status)
		str_addf(out, " (%lld)", (long long)status);
}

void retry_words_codex(struct str *out, struct sv line)
{
	size_t open;

	str_adds(out, "the connection to the model broke");
	if (sv_find(line, SV("("), &open) && sv_ends(line, SV(")"))) {
		struct sv why = sv_head(sv_from(line, open + 1), line.n - open - 2);
		str_adds(out, ": ");
		utf8_scrub_line(out, utf8_cut(sv_trim(why), WHY_MAX));
	}
}
