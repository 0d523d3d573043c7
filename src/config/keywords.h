/*
 * Keywords: the words and phrases that are commands when spoken or typed, each with the language
 * it belongs to ("" for any).
 */
#pragma once

#include "base/err.h"
#include "base/str.h"

struct keywords {
	struct strv texts; /* as configured */
	struct strv langs; /* same length */
};
#define KEYWORDS_INIT               \
	{                           \
		.texts = STRV_INIT, \
	}
#define AUTO_KEYWORDS CLEANUP(keywords_release) struct keywords

enum {
	KEYWORDS_MAX = 512, /* in one list */
	KEYWORD_BYTES_MAX = 200, /* one keyword */
	KEYWORD_LANG_MAX = 12, /* "de", "pt-br" */
};

void keywords_release(struct keywords *k);
/* Checks and adds one: it must have at least one letter or digit, and keep the limits. lang may be
 * "". ERR_INPUT or ERR_LIMIT with a message that names the keyword, not the place. */
int keywords_add(struct keywords *k, struct sv lang, struct sv text, struct err *reterr) MUST_USE;
/* Removes every keyword of one language. */
void keywords_drop_lang(struct keywords *k, struct sv lang);
/* "de: stopp, vergiss es; en: stop" or "stopp, halt" (any language). Adds to k. */
int keywords_parse(struct keywords *k, struct sv text, struct err *reterr) MUST_USE;

/*
 * The words of a text as they are compared: composed form, case folded, one blank between words.
 * A word is a run of letters, digits and marks with apostrophes inside; everything else separates,
 * and invisible format characters are as if they were not there. Appends to out.
 */
void keywords_normalise(struct str *out, struct sv text);

/* The lists that hold when nothing is configured. */
/* clang-format off */
#define KEYWORDS_CANCEL \
	"de: stopp, stop, stoppen, halt, abbrechen, abbruch, brich ab, brich das ab, " \
	    "brich es ab, hör auf, aufhören, vergiss es, lass gut sein, sei still, stoppe, " \
	    "stopp das, nein stopp, halt stopp, stopp stopp; " \
	"en: stop, stop it, stop that, cancel, cancel that, cancel it, cancel this, abort, " \
	    "abort that, never mind, nevermind, forget it, forget about it, be quiet, no stop, " \
	    "stop stop"
#define KEYWORDS_RESET \
	"de: neue konversation, eine neue konversation, starte eine neue konversation, " \
	    "starte neue konversation, neue konversation starten, beginne eine neue konversation, " \
	    "neue konversation beginnen, konversation zurücksetzen, neues gespräch, " \
	    "ein neues gespräch, starte ein neues gespräch, neues gespräch starten, " \
	    "beginne ein neues gespräch, gespräch zurücksetzen, neue unterhaltung, " \
	    "starte eine neue unterhaltung, neue unterhaltung starten, neue sitzung, " \
	    "starte eine neue sitzung, neuer chat, starte einen neuen chat, reset, zurücksetzen, " \
	    "von vorne, von vorn, von vorne anfangen, von vorn anfangen, fang von vorne an, " \
	    "fange von vorne an, fang von vorn an, lass uns von vorne anfangen, " \
	    "von vorne beginnen, beginne von vorne, vergiss alles, " \
	    "vergiss das alles, alles vergessen; " \
	"en: new conversation, a new conversation, start a new conversation, " \
	    "start new conversation, begin a new conversation, new chat, start a new chat, " \
	    "new session, start a new session, reset, reset conversation, reset the conversation, " \
	    "reset this conversation, start a fresh conversation, start over, let's start over, " \
	    "let us start over, start afresh, start fresh, begin a new chat, " \
	    "forget everything, forget all of it, clear conversation, clear the conversation"
#define KEYWORDS_RESTART \
	"de: neustart, neustarten, neu starten, starte neu, starte dich neu, neustart machen, " \
	    "mach einen neustart, mache einen neustart, programm neu starten, " \
	    "starte das programm neu, starte den assistenten neu, starte faden neu, restart; " \
	"en: restart, restart yourself, restart the assistant, restart the program, restart faden"
#define KEYWORDS_UNDO \
	"de: reset rückgängig, reset rückgängig machen, mach den reset rückgängig, " \
	    "mache den reset rückgängig, zurück zur alten konversation, " \
	    "zurück zur vorherigen konversation, zurück zum alten gespräch, " \
	    "zurück zum vorherigen gespräch, vorherige konversation, vorheriges gespräch; " \
	"en: undo reset, undo the reset, undo that reset, previous conversation, " \
	    "back to the previous conversation, go back to the previous conversation, " \
	    "back to the old conversation, go back to the old conversation, " \
	    "resume the previous conversation, restore the conversation"
/* What may stand around and inside a command without changing it. */
#define KEYWORDS_FILLER \
	"de: bitte, bitte mal, mal, jetzt, nun, doch, einfach, sofort, so, also, na, gut, okay, ok, " \
	    "hey, hallo, ach, oh, äh, ähm, öhm, hm, hmm, danke, vielen dank, kannst du, könntest du, " \
	    "würdest du; " \
	"en: please, now, just, right now, okay, ok, well, so, hey, hello, hi, oh, uh, um, uhm, er, " \
	    "erm, hmm, thanks, thank you, kindly, can you, could you, would you, will you"
/* Answers to a question for permission. */
#define KEYWORDS_YES \
	"de: ja, ja bitte, jawohl, jep, jo, klar, na klar, gerne, sicher, okay, ok, in ordnung, erlaubt, " \
	    "erlauben, erlaube es, erlaube das, mach das, mach es, mach mal, tu das, tu es, darfst du, " \
	    "das darfst du, du darfst, einverstanden, einmal, ja einmal; " \
	"en: yes, yes please, yeah, yep, yup, sure, of course, okay, ok, allow, allow it, allow that, " \
	    "allowed, go ahead, do it, do that, you may, fine, once, yes once"
#define KEYWORDS_ALWAYS \
	"de: immer, ja immer, immer erlauben, immer erlaubt, jedes mal; " \
	"en: always, yes always, always allow, allow always, every time"
#define KEYWORDS_NO \
	"de: nein, nein danke, nee, nö, nicht, lieber nicht, auf keinen fall, nicht erlaubt, " \
	    "nicht erlauben, das nicht, mach das nicht, tu das nicht, ablehnen, verboten; " \
	"en: no, no thanks, nope, nah, don't, do not, don't do it, don't do that, not allowed, deny, " \
	    "deny it, refuse, no way, rather not"
/* What recognisers of speech write where there is none. */
#define HEARD_NOISE \
	"Thanks for watching,Thank you for watching,Thanks for listening,Vielen Dank fürs Zuschauen," \
	"Vielen Dank für die Aufmerksamkeit,Danke fürs Zuschauen,Bis zum nächsten Mal," \
	"Untertitel,Untertitel von,Untertitelung,Untertitelung des ZDF,Untertitel im Auftrag des ZDF," \
	"Untertitel im Auftrag des ZDF für funk,Subtitles by the Amara.org community," \
	"Copyright WDR,Amara.org,you,Musik,music,Applaus,applause,Stille,silence"
/* clang-format on */
