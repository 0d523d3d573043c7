/*
 * Results as JSON, in one vocabulary for all commands, pages and servers: faden-json(7)
 * (docs/man/json.mdoc) names every object with its keys, and tests/cmd/json.sh holds the commands
 * to it. The same thing has the same key everywhere; times end in _at and are UTC, spans in _ms,
 * sizes in _bytes, counts of tokens in _tokens; what is not known is null.
 *
 * A view_json_ function writes one value where the writer stands, a view_put_ function members of
 * the object that the caller has begun.
 */
#pragma once

#include "base/err.h"
#include "store/conv.h"
#include "store/store.h"
#include "strategy/damage.h"
#include "transcript/tokens.h"
#include "view/session.h"
#include "json/write.h"

struct agent_denials;
struct assistant_outcome;
struct decision;
struct judgement;
struct recall_found;

/* ---- members ---- */

/* "" and NULL are null. */
void view_put_text(struct jw *w, const char *key, const char *text);
/* Wall time in ms; 0 is null. */
void view_put_time(struct jw *w, const char *key, int64_t ms);
/* Null unless it is known. */
void view_put_count(struct jw *w, const char *key, int64_t n, bool known);
/* An array of texts. */
void view_put_strings(struct jw *w, const char *key, const struct strv *list);
/* A figure: {"tokens", "sure"}; NULL is null. */
void view_put_figure(struct jw *w, const char *key, const struct figure *f);
/* "parent": {"session_id", "path", "relation"}, null when nothing is known of one. */
void view_put_parent(struct jw *w, const char *id, const char *path, const char *relation);
/* "damage": {"level", "cause", "reachable", "entries"}, or null. */
void view_put_damage(struct jw *w, const struct damage *d);
/* "error": {"code", "message"}, with the candidates where several sessions fit; those may be NULL.
 * NULL as err is null. */
void view_put_error(struct jw *w, const struct err *err, const struct catalogue_matches *fit);
/* What names a conversation, or nulls for NULL: conversation_id, session_id, agent, title,
 * directory; dir stands for the last when there is none. */
void view_put_conversation_id(struct jw *w, const struct conv *c, const char *dir);

/* ---- values ---- */

/* {"error": …}: what every command prints when it fails. */
void view_json_failure(
	struct jw *w, const struct err *err, const struct catalogue_matches *candidates);
void view_json_session(struct jw *w, const struct session_view *view);
void view_json_recall(
	struct jw *w, const struct recall_found *found, struct sv raw, struct sv text);
/* What is done with the sentence, in a word: "resume", "new", "wait", "switch", "none". */
const char *view_action(const struct decision *d);
/* Where a sentence would go. */
void view_json_decision(struct jw *w, const struct decision *d, const struct judgement *judged);
/* What became of a sentence. */
void view_json_outcome(struct jw *w, const struct assistant_outcome *out);
/* "denied": what was not allowed; NULL: nothing is known of it. */
void view_put_denied(struct jw *w, const struct agent_denials *denied);
