#include "route/seed.h"

#include <math.h>
#include <stdio.h>
#include <utf8proc.h>

#include "base/unicode.h"
#include "base/utf8.h"

/* ---- texts ---- */

/* Sorted for bsearch. */
static const char *const stop_words[] = { "a", "about", "also", "an", "and", "are", "at", "be",
	"been", "being", "but", "by", "can", "could", "did", "do", "does", "for", "from", "get",
	"go", "had", "has", "have", "he", "her", "him", "his", "i", "if", "in", "into", "is", "it",
	"its", "just", "make", "may", "me", "might", "my", "no", "not", "now", "of", "on", "or",
	"our", "please", "really", "same", "shall", "she", "should", "so", "that", "the", "their",
	"them", "then", "these", "they", "this", "those", "to", "too", "us", "very", "was", "we",
	"were", "will", "with", "would", "you", "your" };

/*
 * Continuation patterns: literal characters, '_' for a run of at least one white space, '*' for a
 * run that may be empty, "'" for an optional apostrophe. Word boundaries stand on both sides.
 */
static const char *const patterns[] = { "also", "and_then", "and_also", "continue", "keep_going",
	"follow*up", "going_back_to", "while_you're_at_it", "in_that_file", "in_that_same_file",
	"same_thing", "one_more_thing", "actually", "wait", "oh_and" };

enum { SHORTEST_KEYWORD = 3 };

static int compare_word(const void *key, const void *item)
{
	const struct sv *word = key;

	return sv_cmp(*word, sv_of(*(const char *const *)item));
}

/* How much white space, or how much else, there is at the front. */
static size_t run_of(struct sv s, bool space)
{
	size_t at = 0;

	while (at < s.n) {
		uint32_t cp;
		size_t step = utf8_decode(sv_from(s, at), &cp);
		if (unicode_space(cp) != space)
			break;
		at += step;
	}
	return at;
}

void seed_keywords(struct map *words, struct sv text)
{
	static const char marks[] = ".,!?;:'\"()-";
	AUTO_STR lower = STR_INIT;

	unicode_lower(&lower, text);
	for (struct sv rest = str_sv(&lower); rest.n > 0;) {
		rest = sv_from(rest, run_of(rest, true));
		struct sv word = sv_head(rest, run_of(rest, false));
		rest = sv_from(rest, word.n);
		while (word.n > 0 && memchr(marks, word.p[0], sizeof(marks) - 1))
			word = sv_from(word, 1);
		while (word.n > 0 && memchr(marks, word.p[word.n - 1], sizeof(marks) - 1))
			word.n--;
		if (utf8_length(word) >= SHORTEST_KEYWORD &&
			!bsearch(&word, stop_words, ARRAY_LEN(stop_words), sizeof(stop_words[0]),
				compare_word))
			map_put(words, word, 1);
	}
}

/* A literal of a case-insensitive pattern: the long s and the dotless i match too. */
static bool same_letter(uint32_t cp, char literal)
{
	enum { LONG_S = 0x17f, DOTLESS_I = 0x131 };

	return utf8proc_tolower((utf8proc_int32_t)cp) == literal ||
		(literal == 's' && cp == LONG_S) || (literal == 'i' && cp == DOTLESS_I);
}

static bool matches_here(struct sv s, const char *pattern)
{
	for (; *pattern; pattern++) {
		if (*pattern == '_' || *pattern == '*') {
			size_t n = run_of(s, true);
			if (n == 0 && *pattern == '_')
				return false;
			s = sv_from(s, n);
			continue;
		}
		uint32_t cp = 0;
		size_t step = s.n > 0 ? utf8_decode(s, &cp) : 0;
		if (*pattern == '\'') {
			s = sv_from(s, cp == '\'' ? step : 0);
			continue;
		}
		if (step == 0 || !same_letter(cp, *pattern))
			return false;
		s = sv_from(s, step);
	}
	uint32_t after = 0;
	if (s.n > 0)
		(void)utf8_decode(s, &after);
	return s.n == 0 || !unicode_word(after);
}

bool seed_continuation(struct sv text)
{
	bool in_word = false;

	while (text.n > 0) {
		uint32_t cp;
		size_t step = utf8_decode(text, &cp);
		bool word = unicode_word(cp);
		for (size_t i = 0; word && !in_word && i < ARRAY_LEN(patterns); i++)
			if (matches_here(text, patterns[i]))
				return true;
		in_word = word;
		text = sv_from(text, step);
	}
	return false;
}

/* ---- the decision ---- */

static const int64_t strong_recency_ms = 180000;
static const double half_life_s = 600.0;
static const double boost = 0.85;

/* What of the command is the same for every candidate. */
struct seed_command {
	struct map words;
	bool continuation;
	int64_t now_ms;
};

static double jaccard(const struct map *a, const struct map *b)
{
	if (a->n == 0 || b->n == 0)
		return 0.0;
	size_t both = 0, at = 0;
	struct sv word;
	uint64_t unused;
	while (map_next(a, &at, &word, &unused))
		both += map_get(b, word, &unused);
	return (double)both / (double)(a->n + b->n - both);
}

static const char *between(const struct str *reasons)
{
	return reasons->len > 0 ? "; " : "";
}

static void score(const struct route_opts *opts, const struct seed_command *cmd,
	const struct route_conv *conv, struct route_candidate *c)
{
	AUTO_STR reasons = STR_INIT;
	AUTO_MAP topic = MAP_INIT;

	for (size_t i = 0; i < conv->n_commands; i++)
		seed_keywords(&topic, conv->commands[i]);
	c->keyword = jaccard(&cmd->words, &topic);
	if (c->keyword > 0)
		str_addf(&reasons, "keyword overlap=%.2f", c->keyword);

	int64_t age_ms = cmd->now_ms - conv->last_ms;
	bool recent = age_ms <= strong_recency_ms;
	if (recent) {
		c->recency = 1.0;
		str_addf(&reasons, "%svery recent", between(&reasons));
	} else {
		double beyond_s = (double)age_ms / 1000.0 - (double)strong_recency_ms / 1000.0;
		c->recency = pow(0.5, beyond_s / half_life_s);
		str_addf(&reasons, "%srecency=%.2f", between(&reasons), c->recency);
	}
	c->continuation = cmd->continuation ? 1.0 : 0.0;
	if (cmd->continuation)
		str_addf(&reasons, "%scontinuation signal", between(&reasons));

	/* In this order and in double: the threshold is met or missed by the last bit. */
	c->score = c->keyword * opts->weights.keyword + c->recency * opts->weights.recency +
		c->continuation * opts->weights.continuation;
	if (cmd->continuation && recent) {
		c->score = c->score > boost ? c->score : boost;
		str_addf(&reasons, "%sstrong continuation match", between(&reasons));
	}
	(void)snprintf(c->reason, sizeof(c->reason), "%s", reasons.buf);
}

/* The shortest spelling that reads back as the same number, as the threshold is shown. */
static void format_shortest(char *out, size_t size, double value)
{
	for (int digits = 1; digits <= 17; digits++) {
		(void)snprintf(out, size, "%.*g", digits, value);
		if (strtod(out, NULL) >= value && strtod(out, NULL) <= value)
			return;
	}
}

static void conclude(const struct route_opts *opts, const struct route_candidate *best,
	struct route_decision *ret)
{
	if (best->index == ROUTE_NONE) {
		ret->confidence = 1.0;
		(void)snprintf(
			ret->reason, sizeof(ret->reason), "No active conversations to resume");
	} else if (best->score >= opts->threshold) {
		ret->action = ROUTE_RESUME;
		ret->index = best->index;
		ret->confidence = best->score;
		(void)snprintf(ret->reason, sizeof(ret->reason), "%s", best->reason);
	} else {
		char threshold[32];
		format_shortest(threshold, sizeof(threshold), opts->threshold);
		ret->confidence = 1.0 - best->score;
		(void)snprintf(ret->reason, sizeof(ret->reason),
			"Best match score %.2f below threshold %s", best->score, threshold);
	}
}

void seed_decide(const struct route_opts *opts, const struct route_query *query,
	const struct route_conv *convs, size_t n, struct route_candidate *candidates,
	struct route_decision *ret)
{
	struct seed_command cmd = { .words = MAP_INIT, .now_ms = query->now_ms };

	seed_keywords(&cmd.words, query->text);
	cmd.continuation = seed_continuation(query->text);

	*ret = (struct route_decision){ .index = ROUTE_NONE,
		.blocked = ROUTE_NONE,
		.runner_up = ROUTE_NONE,
		.ahead = 1,
		.fresh = -1 };
	struct route_candidate best = { .index = ROUTE_NONE };
	for (size_t i = 0; i < n; i++) {
		struct route_candidate c = { .index = i,
			.routable = convs[i].status == ROUTE_IDLE &&
				convs[i].last_ms > query->now_ms - opts->expiry_ms };
		if (c.routable)
			score(opts, &cmd, &convs[i], &c);
		if (c.routable && (best.index == ROUTE_NONE || c.score > best.score))
			best = c;
		if (candidates)
			candidates[i] = c;
	}
	conclude(opts, &best, ret);
	map_release(&cmd.words);
}
