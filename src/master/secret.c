#include <strings.h>

#include "master/snapshot.h"

/*
 * What agents and commands say when they fail may repeat what they were given: headers, settings,
 * variables. Two things give a secret away: how it begins, and what stands before it.
 */

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		memchr("_-.~+/=%", c, 8) != NULL;
}

static bool starts_like_one(struct sv word)
{
	static const char *const heads[] = { "sk-", "sk_", "sess-", "pk-", "rk_", "ghp_", "gho_",
		"ghs_", "github_pat_", "glpat-", "xox", "AKIA", "ASIA", "AIza", "eyJ", "ya29.",
		"npm_", "hf_" };

	for (size_t i = 0; i < ARRAY_LEN(heads); i++)
		if (word.n >= 12 && sv_starts(word, sv_of(heads[i])))
			return true;
	return false;
}

/* The end of a name, in any case: "api_key", "ANTHROPIC_AUTH_TOKEN", "x-api-key". */
static bool names_one(struct sv word)
{
	static const char *const ends[] = { "key", "token", "secret", "password", "passwd",
		"authorization", "bearer", "basic", "cookie", "credential", "credentials" };

	for (size_t i = 0; i < ARRAY_LEN(ends); i++) {
		struct sv end = sv_of(ends[i]);
		if (word.n >= end.n && strncasecmp(word.p + word.n - end.n, end.p, end.n) == 0)
			return true;
	}
	return false;
}

void master_redact(struct sv text, struct str *out)
{
	bool named = false; /* a name of one, and nothing but marks since */

	for (size_t i = 0; i < text.n;) {
		size_t from = i;
		while (i < text.n && is_word(text.p[i]))
			i++;
		struct sv word = sv_make(text.p + from, i - from);
		/* NAME=VALUE is one word: the name is told by its '='. */
		size_t eq;
		if (sv_find(word, SV("="), &eq) && eq > 0 && eq + 1 < word.n &&
			names_one(sv_head(word, eq))) {
			str_add(out, sv_head(word, eq + 1));
			str_adds(out, "[removed]");
			named = false;
			continue;
		}
		if (word.n == 0) {
			named &= memchr(" \t:=\"'\\", text.p[i], 8) != NULL;
			str_addc(out, text.p[i++]);
			continue;
		}
		struct sv bare = word.p[word.n - 1] == '=' ? sv_head(word, word.n - 1) : word;
		bool names = names_one(bare);
		if ((named && !names && word.n >= 8) || starts_like_one(word))
			str_adds(out, "[removed]");
		else
			str_add(out, word);
		named = names;
	}
}
