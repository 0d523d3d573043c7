/*
 * A close choice is put to an agent (routing.judge): one question with the sentence, what the
 * conversations that it may belong to are called and what was said in them last. It has no tools
 * and a few seconds.
 *
 * The answer is untrusted, and so is what stands in the conversations: it can only choose among the
 * candidates. Anything else leaves the router's choice.
 */
#pragma once

#include "assist/decide.h"
#include "turn/turn.h"

struct judge_opts {
	const struct agent_def *kind; /* NULL: nobody is asked */
	const char *scratch; /* an existing folder (turn_question) */
	int64_t timeout_ms;
};

enum {
	JUDGE_CHOICES_MAX = 4, /* conversations that it may choose among */
	JUDGE_LINE_MAX = 400, /* bytes of what was said, each */
};

const char *judge_end_name(enum judge_end end); /* "chose", "else" … */
/* Whether the decision is one to ask about. */
bool judge_wanted(const struct judge_opts *opts, const struct decision *d);

/* The question: its words, its schema, and the place (assist/record.h) behind each choice; the
 * first is a new conversation. */
struct judge_question {
	struct str prompt, schema;
	struct strv places;
};
void judge_question_release(struct judge_question *q);
/* Which choice an answer makes: its index, or -1. */
int judge_read(const struct judge_question *q, struct sv answer);

/* The question while it is put, on the host's loop. done comes once, from the loop; the judge may
 * be freed in it. The judgement is the judge's. Text and opts are borrowed until then. */
typedef void (*judge_done_fn)(void *data, const struct judgement *j);
struct judge;
int judge_begin(struct turn_host *host, const struct judge_opts *opts, const struct decide_opts *o,
	struct sv text, const struct decision *d, judge_done_fn done, void *data,
	struct judge **ret, struct err *reterr) MUST_USE;
void judge_cancel(struct judge *j);
void judge_free(struct judge *j); /* NULL is fine; not from within another callback than done */

/* What the user is told of it: who was asked, how long it took, what it cost. */
void judge_tell(const struct judgement *j, enum text_language language, struct str *out);
