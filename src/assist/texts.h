/*
 * What the assistant itself says, in the user's language.
 */
#pragma once

#include <stdint.h>

#include "base/str.h"
#include "store/conv.h"

enum text_language { TEXT_GERMAN, TEXT_ENGLISH };

enum text_id {
	TEXT_RESET, /* a new conversation begins */
	TEXT_REPEATED, /* what was interrupted is said again, right after that was told */
	TEXT_RESET_BACK, /* … and how to get the old one back, where one types */
	TEXT_COMPACT, /* what there is in place of /compact */
	TEXT_UNDONE, /* the old one is back: its name, when it was */
	TEXT_UNDONE_SAME, /* … and went on already */
	TEXT_NOTHING_TO_UNDO,
	TEXT_CANCELLED_NOTHING, /* cancel when nothing runs */
	TEXT_CANCELLED,
	TEXT_CANCELLED_DONE, /* with what was done already: one %s */
	TEXT_CANCELLED_BEGUN, /* … behind either, what had not come to its end: one %s */
	TEXT_RESTART,
	TEXT_STAYED_NEW,
	TEXT_STAYED_OTHER,
	TEXT_NOT_CORRECTED, /* the conversation */
	TEXT_ROUTED_NEW, /* the router says: a new conversation */
	TEXT_ROUTED_CLOSE, /* behind the others: another was nearly as likely */
	TEXT_JUDGE_CHOSE, /* an agent was asked where it belongs: the agent, time and cost */
	TEXT_JUDGE_ELSE, /* … and said something else */
	TEXT_JUDGE_FAILED, /* … and did not answer */
	TEXT_ROUTED_TO, /* … another one: its name, when and where it was */
	TEXT_ROUTED_AWAY, /* … in another folder */
	TEXT_ROUTED_AWAY_ONLY, /* … and there is no other */
	TEXT_ROUTED_OWN, /* … an agent's own session: the agent, its name, when and where it was */
	TEXT_ROUTED_OWN_ONLY, /* … and there is no other */
	TEXT_FOLDER_OWN, /* … and nothing is routed */
	TEXT_STAYS, /* a talk stays in: its name, what goes on in the folder now */
	TEXT_STAYS_RESET, /* … where nothing does */
	TEXT_OPEN, /* left alone: its name, who has it open */
	TEXT_SAME_THERE, /* what was said, again: the words; its name */
	TEXT_SAME_NEW, /* … in a new one: the words */
	TEXT_NEXT_THERE, /* what comes next goes to: its name */
	TEXT_NEXT_NEW,
	TEXT_DONE_NEXT_THERE, /* … and what was done stands */
	TEXT_DONE_NEXT_NEW,
	TEXT_NONE_ABOUT, /* no conversation about: the words */
	TEXT_NO_OTHER,
	TEXT_TALK_STAYS, /* a correction was said, and a talk is not led elsewhere by one */
	TEXT_NOTHING_HERE, /* that it goes on was said, and nothing does */
	TEXT_NOTHING_BUT, /* … the last one: its name, when it was, the command that goes there */
	TEXT_NOTHING_SINCE_RESET, /* … the same, of one that a reset has left */
	TEXT_NOTHING_DELETED, /* … of one that the user has deleted: its name, its session */
	TEXT_ANOTHERS, /* is gone back to, but belongs to: its title, agent, the one asked for */
	TEXT_NONE_CALLED, /* nobody has spoken of: the words */
	TEXT_RIGHTS_STAY, /* what was given here does not hold there: the mode */
	TEXT_PLANNING,
	TEXT_PLANNING_BUT_RULES,
	TEXT_CANNOT_PLAN, /* … with one that cannot be held to it: the agent */
	TEXT_PLAN_TO_DOING,
	TEXT_GO_ON, /* to the agent, after an interruption */
	TEXT_OTHER_AGENT, /* not gone on with: its name, its agent, the agent that is wanted */
	TEXT_OTHER_AGENT_OWN, /* … the one of that agent which goes on */
	TEXT_BELONGS, /* … where that is told besides */
	TEXT_ANSWERS_HERE, /* gone on with all the same: its agent, its name */
	TEXT_DELETED,
	TEXT_TOO_OLD, /* … its name, when it was */
	TEXT_GONE, /* the agent, its session id */
	TEXT_LIMIT, /* the agent, seconds, the time it ends */
	TEXT_CALLS_FAILED, /* … of an interrupted turn: tools */
	TEXT_ENDED_ALONE, /* an interrupted turn that the agent finished: its conversation */
	TEXT_ANSWERED, /* … the prompt, the answer */
	TEXT_UNANSWERED, /* … reached the agent: the prompt, its conversation */
	TEXT_NOT_SENT, /* … did not */
	TEXT_NOT_BEGUN, /* … was not sent yet: the prompt, " --in ID" or nothing */
	TEXT_ELSEWHERE, /* it goes on in another folder than this: its title, that folder */
	TEXT_NAMESAKES, /* several have the name that was said: how many, another one */
	TEXT_UNKNOWN_SESSION, /* … whether it did is not known, for each reason */
	TEXT_UNKNOWN_NO_RECORD,
	TEXT_UNKNOWN_GONE,
	TEXT_UNKNOWN_IN_HAND,
	TEXT_UNKNOWN_WORDS,
	TEXT_UNKNOWN_COMMAND,
	TEXT_STILL_AT_IT, /* … the agent, its process, the conversation */
	TEXT_WAITS_FOR_IT,
	TEXT_ENDS_IT,
	TEXT_SENT_AGAIN, /* … is sent again now */
	TEXT_COUNT
};

const char *text_get(enum text_id id, enum text_language language);
/* What a text has its %s for, in their order. */
struct text_words {
	const char *word[3];
};
#define TEXT_WORDS(...)                 \
	(struct text_words)             \
	{                               \
		.word = { __VA_ARGS__ } \
	}
/* The text with its words filled in; there may be more than it has places. Appends. */
void text_fill(
	struct str *out, enum text_id id, enum text_language language, struct text_words words);
/* "just now", "12 min ago". Appends. */
void text_ago(struct str *out, enum text_language language, int64_t age_ms);
/* What decide_undo() did: the conversation goes on again, or went on already. Appends. */
void text_undone(struct str *out, enum text_language language, const struct conv *c, bool went_on);
