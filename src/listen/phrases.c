#include "listen/phrases.h"

#include <string.h>

#include "base/utf8.h"
#include "listen/listener.h"

enum { ABOUT_MAX = 160 /* characters of what permission is asked for that are said */ };

const char *listener_state_name(enum listener_state state)
{
	static const char *const names[] = {
#define X(id, name) [id] = name,
		LISTENER_STATES(X)
#undef X
	};

	return names[state];
}

const char *phrase(enum phrase which, enum text_language language)
{
	static const char *const texts[][2] = {
		[PHRASE_NOT_UNDERSTOOD] = { "Entschuldigung, ich konnte dich nicht verstehen. "
					    "Bitte versuche es nochmal.",
			"Sorry, I could not understand you. Please try again." },
		[PHRASE_DEAF] = { "Die Spracherkennung funktioniert nicht. Mehr dazu steht auf dem "
				  "Bildschirm.",
			"The speech recognition does not work. The screen says more." },
		[PHRASE_TOO_LONG] = { "Die Verarbeitung hat zu lange gedauert. Bitte versuche es "
				      "nochmal.",
			"That took too long. Please try again." },
		[PHRASE_FAILED] = { "Entschuldigung, bei der Verarbeitung ist ein Fehler "
				    "aufgetreten.",
			"Sorry, something went wrong while I was working on it." },
		[PHRASE_CUT] = { "Das war zu lang. Ich habe nichts davon abgeschickt.",
			"That was too long. I have sent nothing of it." },
		[PHRASE_CUT_NOTICE] = { "Die Aufnahme endete nach %s s (audio.max_recording_sec); "
					"was danach gesagt wurde, ist nicht darin.",
			"The recording ended after %s s (audio.max_recording_sec); what was said "
			"after that is not in it." },
		[PHRASE_MAY_I] = { "Darf ich %s benutzen?", "May I use %s?" },
		[PHRASE_YES_OR_NO] = { "Ja oder nein?", "Yes or no?" },
		[PHRASE_ANSWER_YES_OR_NO] = { "Bitte antworte mit ja oder nein.",
			"Please answer with yes or no." },
		[PHRASE_ANSWER_BY_CALL] = { "Sag \"Hey %s, ja\" oder \"Hey %s, nein\".",
			"Say \"Hey %s, yes\" or \"Hey %s, no\"." },
		[PHRASE_ANSWER_BY_KEY] = { "Drücke die Leertaste und sag ja oder nein.",
			"Press Space and say yes or no." },
		[PHRASE_ALLOWED] = { "Erlaubt.", "Allowed." },
		[PHRASE_DENIED] = { "Nicht erlaubt.", "Not allowed." },
		[PHRASE_NOBODY] = { "Nicht erlaubt: niemand kann mehr antworten.",
			"Not allowed: nobody can answer any more." },
	};

	return texts[which][language == TEXT_ENGLISH];
}

void phrase_add(struct str *out, enum phrase which, enum text_language language, const char *what)
{
	const char *form = phrase(which, language);

	for (const char *at; (at = strstr(form, "%s")); form = at + 2)
		str_addf(out, "%.*s%s", (int)(at - form), form, what);
	str_adds(out, form);
}

void phrase_question(
	struct str *out, enum text_language language, const char *tool, const char *about)
{
	AUTO_STR shown = STR_INIT;

	phrase_add(out, PHRASE_MAY_I, language, tool);
	utf8_fit(&shown, sv_of(about), ABOUT_MAX);
	str_addf(out, " %s", shown.buf);
}

void phrase_cut(struct str *out, enum text_language language, int64_t longest_ms)
{
	AUTO_STR seconds = STR_INIT;

	str_addf(&seconds, "%g", (double)longest_ms / 1000);
	phrase_add(out, PHRASE_CUT_NOTICE, language, seconds.buf);
}
