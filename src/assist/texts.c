#include "assist/texts.h"

#include "base/clock.h"

static const char *const texts[TEXT_COUNT][2] = {
	[TEXT_RESET] = { [TEXT_GERMAN] = "Alles klar, ich starte eine neue Konversation.",
		[TEXT_ENGLISH] = "All right, I am starting a new conversation." },
	[TEXT_UNDONE] = { [TEXT_GERMAN] = "Die vorige Konversation geht weiter.",
		[TEXT_ENGLISH] = "The previous conversation goes on." },
	[TEXT_NOTHING_TO_UNDO] = { [TEXT_GERMAN] = "Es gibt nichts zurückzuholen.",
		[TEXT_ENGLISH] = "There is nothing to bring back." },
	[TEXT_CANCELLED_NOTHING] = { [TEXT_GERMAN] = "Alles klar.", [TEXT_ENGLISH] = "All right." },
	[TEXT_CANCELLED] = { [TEXT_GERMAN] = "Abgebrochen.", [TEXT_ENGLISH] = "Cancelled." },
	[TEXT_CANCELLED_DONE] = { [TEXT_GERMAN] = "Abgebrochen. Was schon getan ist, bleibt: %s.",
		[TEXT_ENGLISH] = "Cancelled. What was done stands: %s." },
	[TEXT_ROUTED_NEW] = { [TEXT_GERMAN] =
				      "Neue Konversation (sonst sag: \"nein, die andere\").",
		[TEXT_ENGLISH] = "New conversation (if not, say: \"no, the other one\")." },
	[TEXT_ROUTED_TO] = { [TEXT_GERMAN] = "Weiter mit: %s, %s.",
		[TEXT_ENGLISH] = "Resuming: %s, %s." },
	[TEXT_SAME_THERE] = { [TEXT_GERMAN] = "Alles klar, dasselbe in: %s.",
		[TEXT_ENGLISH] = "All right, the same in: %s." },
	[TEXT_SAME_NEW] = { [TEXT_GERMAN] = "Alles klar, dasselbe in einer neuen Konversation.",
		[TEXT_ENGLISH] = "All right, the same in a new conversation." },
	[TEXT_NEXT_THERE] = { [TEXT_GERMAN] = "Ab jetzt: %s.",
		[TEXT_ENGLISH] = "From now on: %s." },
	[TEXT_NEXT_NEW] = { [TEXT_GERMAN] = "Ab jetzt: eine neue Konversation.",
		[TEXT_ENGLISH] = "From now on: a new conversation." },
	[TEXT_DONE_NEXT_THERE] = { [TEXT_GERMAN] = "Was getan ist, bleibt. Ab jetzt: %s. Bitte sag "
						   "es noch einmal.",
		[TEXT_ENGLISH] = "What was done stands. From now on: %s. Please say it again." },
	[TEXT_DONE_NEXT_NEW] = { [TEXT_GERMAN] = "Was getan ist, bleibt. Ab jetzt: eine neue "
						 "Konversation. Bitte sag es noch einmal.",
		[TEXT_ENGLISH] =
			"What was done stands. From now on: a new conversation. Please say "
			"it again." },
	[TEXT_NONE_ABOUT] = { [TEXT_GERMAN] = "Hier gibt es keine Konversation über %s.",
		[TEXT_ENGLISH] = "There is no conversation about %s here." },
	[TEXT_NO_OTHER] = { [TEXT_GERMAN] = "Hier gibt es keine andere Konversation.",
		[TEXT_ENGLISH] = "There is no other conversation here." },
	[TEXT_PLANNING] = { [TEXT_GERMAN] = "Es wird nur geplant; nichts wird geändert.",
		[TEXT_ENGLISH] = "This turn plans; nothing is changed." },
	[TEXT_PLAN_TO_DOING] = { [TEXT_GERMAN] = "Vom Planen zum Tun, in derselben Konversation.",
		[TEXT_ENGLISH] = "From planning to doing, in the same conversation." },
	[TEXT_GO_ON] = { [TEXT_GERMAN] = "Bitte mach dort weiter, wo du unterbrochen wurdest.",
		[TEXT_ENGLISH] = "Please go on where you were interrupted." },
	[TEXT_RESTART] = { [TEXT_GERMAN] = "Alles klar, ich starte jetzt neu.",
		[TEXT_ENGLISH] = "All right, restarting now." },
};

const char *text_get(enum text_id id, enum text_language language)
{
	return texts[id][language];
}

void text_fill(struct str *out, enum text_id id, enum text_language language, const char *first,
	const char *second)
{
	const char *const words[] = { first, second };
	struct sv rest = sv_of(text_get(id, language));
	size_t at;

	for (size_t i = 0; i < ARRAY_LEN(words) && words[i] && sv_find(rest, SV("%s"), &at); i++) {
		str_add(out, sv_head(rest, at));
		str_adds(out, words[i]);
		rest = sv_from(rest, at + 2);
	}
	str_add(out, rest);
}

void text_ago(struct str *out, enum text_language language, int64_t age_ms)
{
	char english[CLOCK_TEXT_MAX];
	long long min = age_ms / 60000, hours = min / 60, days = hours / 24;

	if (language == TEXT_ENGLISH) {
		clock_format_ago(age_ms, english);
		str_adds(out, english);
	} else if (min < 1) {
		str_adds(out, "gerade eben");
	} else if (hours < 1) {
		str_addf(out, "vor %lld min", min);
	} else if (days < 2) {
		str_addf(out, "vor %lld h", hours);
	} else {
		str_addf(out, "vor %lld Tagen", days);
	}
}
