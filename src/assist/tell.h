/*
 * What every front end tells about a turn, as one line each. Appended to a string: whether it is
 * shown, read aloud or sent is the front end's.
 */
#pragma once

#include "assist/kit.h"

/* What goes on here, and since when: nobody should be answered out of a context they forgot. *ret
 * is that, for assistant_stay(), or what was chosen already; empty: a new one begins. False when
 * that is all there is to say.
 */
bool tell_greeting(const struct kit *kit, bool fresh, struct conv *ret, struct str *out);
/* Who answers in c when nobody chose that: the folder's agent, where c begins; or the rehearsal
 * agent, once: what it is and how to get a real one. False: there is nothing to say. */
bool tell_answerer(const struct kit *kit, const struct conv *c, struct str *out);
/* Why a turn failed, with the agent's name in front unless the message begins with it. */
void tell_failure(const struct turn_outcome *out, struct str *ret);
/* Why the agent tries again and when, for the event AGENT_EV_RETRY. */
void tell_retry(const struct agent_event *ev, struct str *ret);
/* What the agent was not allowed, in one line; nothing when there was nothing. */
void tell_denied(const struct agent_denials *denied, struct str *ret);
/* That a turn was cancelled, and what was done by then. */
void tell_cancelled(const struct turn_outcome *out, enum text_language language, struct str *ret);
