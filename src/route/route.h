/*
 * Which conversation a sentence belongs to. A pure decision: the candidates come in as plain
 * structs, time is given, nothing is read and nothing is kept.
 *
 * Two profiles. `seed` is the published algorithm to the last digit: Jaccard overlap, recency and
 * signal words, the first registered wins a tie. `faden` has learned from labelled dialogues: how
 * the sentence is said (manner.h) and what it shares with each conversation become numbers
 * (feature.h), and what they weigh was trained (net.h, tools/train-router).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/lang.h"
#include "base/str.h"

enum route_profile { ROUTE_FADEN, ROUTE_SEED };
enum route_status { ROUTE_IDLE, ROUTE_ACTIVE, ROUTE_ERRORED };
enum route_action { ROUTE_NEW, ROUTE_RESUME };

enum {
	ROUTE_REASON_MAX = 240,
	/* A sentence is judged by its first bytes: what a pasted megabyte says later on does not
	 * change which conversation it belongs to. */
	ROUTE_TEXT_MAX = 4096,
};

#define ROUTE_NONE ((size_t)-1)

struct route_topic;

/* What texts mean, told by somebody who knows (meaning/meaning.h): places whose directions can be
 * compared. */
enum { ROUTE_MEANING_SIZE = 384 };
struct route_meaning {
	void *data;
	/* False: it cannot be told. language: "en", "de". */
	bool (*of)(void *data, struct sv text, const char *language,
		int8_t ret[static ROUTE_MEANING_SIZE]);
	/* Asked for every decision, not only where the others leave it open: for a process that
	 * stays. */
	bool always;
};

/*
 * A conversation as the router sees it. All slices are the caller's and need to live only for
 * the call. Times are on the age clock (base/clock.h), never wall time.
 */
struct route_conv {
	struct sv id;
	enum route_status status;
	int64_t last_ms; /* idle: end of the last run; active: its start; errored: the failure */
	struct sv dir; /* where it was begun; absolute, without a trailing slash */
	struct sv last_dir; /* where its last command came from; empty: dir */
	struct sv project; /* common git folder of repository and worktrees; empty: unknown */
	bool before_reset; /* the user has asked for a fresh start since; not yet named again */
	const struct sv *commands; /* oldest first */
	size_t n_commands;
	const struct sv *answers; /* what the agent said, in any order; may be empty */
	size_t n_answers;
	/* What it is about, for profile faden; NULL: made from commands and answers for this call.
	 * A decision may add what its texts mean: route_topic_grew(). */
	struct route_topic *topic;
};

struct route_query {
	struct sv text;
	int64_t now_ms;
	struct sv cwd;
	struct sv project; /* as in route_conv; empty: unknown */
};

struct route_weights {
	double keyword; /* the subject */
	double recency;
	double continuation; /* leaning on what was said before */
};

struct route_opts {
	enum route_profile profile;
	struct route_weights weights;
	double threshold; /* resume at or above */
	int64_t expiry_ms; /* seed: not routable beyond; faden: only what is leant on or named
			      clearly */
	size_t max; /* conversations kept routable (memstore, store) */
	const struct route_meaning *meaning; /* borrowed for the router's life; NULL: none */
	const struct lang_extra *extra; /* words of the configuration; may be NULL */
	size_t n_extra;
};

/* How one candidate fared; parts are before weighting, 0 to 1. */
struct route_candidate {
	size_t index; /* into convs */
	bool routable;
	double keyword, recency, continuation;
	double score;
	char reason[ROUTE_REASON_MAX];
};

struct route_decision {
	enum route_action action;
	size_t index; /* into convs; ROUTE_NONE when new */
	/* New because what the sentence leans on cannot be resumed: that one, else ROUTE_NONE. If
	 * it failed, the new one is about the same: route_topic_inherit(). */
	size_t blocked;
	double confidence; /* the chance that it is right; seed: its score, or 1 less the best */
	size_t runner_up; /* what it would have been otherwise; ROUTE_NONE: new, or nothing */
	double ahead; /* of that, in chance; below 0: too little to go there; 1: of nothing */
	double fresh; /* the chance of a new one; below 0: none is known */
	bool by_meaning; /* what the texts mean has been weighed */
	char reason[ROUTE_REASON_MAX];
};

/* Defaults of a profile. */
struct route_opts route_opts_default(enum route_profile profile);
bool route_profile_parse(struct sv name, enum route_profile *ret);

/*
 * A router holds compiled word tables and stemmers: make one a process (or thread), use it for
 * many decisions. opts is copied; its `extra` words are used only during the call.
 */
struct router;
struct router *router_new(const struct route_opts *opts);
void router_free(struct router *r);
const struct route_opts *router_opts(const struct router *r);

/*
 * Decides. `candidates` has room for n entries and is filled in the order of convs, or is NULL.
 * Empty text is the caller's to drop; here it is new. Texts may hold any bytes.
 */
void router_decide(struct router *r, const struct route_query *query,
	const struct route_conv *convs, size_t n, struct route_candidate *candidates,
	struct route_decision *ret);

/* The text says that it goes back to or on with something: "back to the parser". Never with profile
 * seed. */
bool router_returns(struct router *r, struct sv text);

/*
 * What a conversation is about, for who wants to keep it between decisions instead of giving all
 * commands each time: it grows with every turn, is kept as bytes by the caller, and can be found
 * again by its stems.
 */
struct route_topic *route_topic_new(void);
void route_topic_free(struct route_topic *m); /* takes NULL */
/* A conversation that begins where another failed is about the same. */
void route_topic_inherit(struct route_topic *heir, const struct route_topic *from);

enum topic_source {
	TOPIC_FIRST, /* the command that began a conversation */
	TOPIC_LATER, /* one that went on with it */
	TOPIC_ANSWER, /* what the agent said */
};

enum {
	/* A topic that grew this far is not made clearer by more: answers stop first. */
	ROUTE_TOPIC_TERMS_MAX = 600,
	ROUTE_TOPIC_ANSWER_TERMS_MAX = 300,
	ROUTE_SAID_MAX = 300, /* bytes of a text that are kept as they are, for what they mean */
	ROUTE_ANSWER_MAX = 1500, /* bytes of an answer that are looked at */
};

/* Adds what was said to a topic. Profile seed has none: then nothing happens. */
void router_learn(
	struct router *r, struct route_topic *m, struct sv text, enum topic_source source);

/* As bytes for this machine and version; a cache, not a document. */
void route_topic_save(const struct route_topic *m, struct str *out);
/* Whether more is known of it since it was loaded: worth being kept. */
bool route_topic_grew(const struct route_topic *m);
/* NULL when the bytes are damaged or of another version: learn it again. */
struct route_topic *route_topic_load(struct sv bytes);

/* Each stem of a whole word once, in no order. */
void route_topic_stems(
	const struct route_topic *m, void (*fn)(void *data, struct sv stem), void *data);
