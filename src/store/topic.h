/*
 * What conversations are about, as bytes that the router made, and an index of their stems: among
 * ten thousand conversations only the recent ones and those that share a word are looked at.
 */
#pragma once

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "base/vec.h"
#include "store/store.h"

/* Replaces the topic of a conversation and adds its stems to the index. */
int topic_put(struct store *store, int64_t seq, struct sv data, const struct strv *stems,
	struct err *reterr) MUST_USE;
/* 1 and the bytes appended to *out, 0 when there are none, or negative. */
int topic_get(struct store *store, int64_t seq, struct str *out, struct err *reterr) MUST_USE;

enum { TOPIC_SEARCH_DEPTH = 40 /* newest conversations looked at for each stem */ };
struct topic_hits {
	VEC(int64_t) seqs; /* each once, newest first */
};
/* Conversations that share a stem. The caller frees with vec_release(&hits->seqs). */
int topic_search(struct store *store, const struct strv *stems, struct topic_hits *hits,
	struct err *reterr) MUST_USE;

/* The user's corrections, newest first. right is NULL for "a new one". */
struct correction {
	char *text;
	char *wrong;
	char *right;
};
int correction_add(struct store *store, const struct correction *c, int64_t now_ms,
	struct err *reterr) MUST_USE;
/* At most max of them, newest first. The callback's result other than 0 ends it and is returned. */
typedef int (*correction_each_fn)(void *data, const struct correction *c);
int correction_each(struct store *store, int64_t max, correction_each_fn fn, void *data,
	struct err *reterr) MUST_USE;
